//! When a body may fall asleep.
//!
//! Rapier measures how still a body is, but restarts that whenever a pose is written, which happens
//! here in each step. So this module decides: a body that has hardly moved for half a second is
//! *still*, and a group of touching bodies that are all still may sleep. Rapier then puts it to
//! sleep in its next step, at its current poses.
//!
//! Invariant: no body falls asleep that touched a moving body in the step before, directly or
//! through others. So a body that loses its support has time to fall. Units: grid units, steps.
//! Cost: proportional to the awake bodies and those that touch them.

use super::{BodyId, Physics, handle_of};
use crate::POSE_FORMAT;
use ambit_proto::pose::Pose;

/// Half a second.
const STILL_STEPS: u16 = 30;
/// How far a body may move in that time, along each axis: a millimetre. Less than the first step of
/// a fall (2.7 mm), and more than the noise of the grid.
const STILL_UNITS: i32 = 4;
/// How far it may turn, as the distance of two unit quaternions: a fifth of a degree.
const STILL_TURN: f32 = 0.002;

/// How long a body has been still.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepState {
    /// Its position when the count began.
    at: [i32; 3],
    turn: [f32; 4],
    still_steps: u16,
    /// Whether it moves, or touches a body that does.
    must_stay_awake: bool,
    may_sleep: bool,
}

impl SleepState {
    /// The state of a new body: one at rest counts as still for long enough.
    pub(super) fn new(pose: &Pose) -> Self {
        let steps = if pose.flag { STILL_STEPS } else { 0 };
        Self {
            at: pose.at,
            turn: POSE_FORMAT.quaternion(pose),
            still_steps: steps,
            must_stay_awake: !pose.flag,
            may_sleep: pose.flag,
        }
    }

    /// Counts a step in which the body moved to `pose`.
    pub(super) fn observe(&mut self, pose: &Pose) {
        let near =
            self.at.iter().zip(pose.at).all(|(here, there)| (here - there).abs() <= STILL_UNITS);
        let turn = POSE_FORMAT.quaternion(pose);
        if near && distance(self.turn, turn) <= STILL_TURN {
            self.still_steps = (self.still_steps + 1).min(STILL_STEPS);
        } else {
            (self.at, self.turn, self.still_steps) = (pose.at, turn, 0);
        }
    }

    pub(super) fn reset(&mut self) {
        self.still_steps = 0;
    }

    fn is_still(&self) -> bool {
        self.still_steps >= STILL_STEPS
    }
}

impl Physics {
    /// Wakes a body; it must be still for half a second again before it may sleep.
    pub(super) fn wake(&mut self, body: BodyId) {
        self.state_mut(body).sleep.reset();
        self.allow_sleep(body, false);
        self.world.bodies[handle_of(body)].wake_up(true);
    }

    /// Sets whether rapier may put a body to sleep, with all bodies that it touches.
    pub(super) fn allow_sleep(&mut self, body: BodyId, may_sleep: bool) {
        self.is_disturbed = true;
        self.state_mut(body).sleep.may_sleep = may_sleep;
        let activation = self.world.bodies[handle_of(body)].activation_mut();
        activation.time_until_sleep = if may_sleep { 0.0 } else { f32::MAX };
    }

    /// Decides which bodies may sleep in the next step: those that are still and touch only still
    /// ones.
    pub(super) fn update_sleep(&mut self) {
        let active = std::mem::take(&mut self.active);
        let mut spreading: Vec<BodyId> = Vec::new();
        for &body in &active {
            let cube = self.state_mut(body);
            cube.sleep.must_stay_awake = !cube.sleep.is_still() || cube.keys.current.0 != 0;
            if cube.sleep.must_stay_awake {
                spreading.push(body);
            }
        }
        let any_still = spreading.len() < active.len();
        let mut touched = std::mem::take(&mut self.scratch);
        while let Some(body) = spreading.pop().filter(|_| any_still) {
            self.find_touching(body, &mut touched);
            for &other in &touched {
                let rest = &mut self.state_mut(other).sleep;
                if !std::mem::replace(&mut rest.must_stay_awake, true) {
                    spreading.push(other);
                }
            }
        }
        for &body in &active {
            let rest = self.state(body).sleep;
            if rest.may_sleep == rest.must_stay_awake {
                self.allow_sleep(body, !rest.must_stay_awake);
            }
        }
        (self.active, self.scratch) = (active, touched);
    }
}

/// The distance of two unit quaternions, where `q` and `-q` are the same orientation.
fn distance(a: [f32; 4], b: [f32; 4]) -> f32 {
    let apart =
        |sign: f32| a.iter().zip(b).map(|(a, b)| (a - sign * b) * (a - sign * b)).sum::<f32>();
    apart(1.0).min(apart(-1.0)).sqrt()
}
