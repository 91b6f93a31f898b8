//! When a body may fall asleep.
//!
//! Rapier measures how still a body is by itself, but starts anew whenever a pose is written, which
//! happens here in each step. So it is told: a body that has hardly moved for half a second is
//! *still*, and a heap in which all are still may sleep. Rapier then puts it to sleep in its next
//! step, at the poses that it has.
//!
//! Invariant: nobody falls asleep who touched, in the step before, a body that moves, directly or
//! through others: what is in the air when its support goes has time to fall. Units: grid units,
//! steps. Cost: what is awake, and what touches it.

use super::{BodyId, Physics};
use crate::games::cubes::POSE_FORMAT;
use crate::pose::Pose;

/// Half a second.
const STILL_STEPS: u16 = 30;
/// What a body may wander in that time, along each axis: a millimetre. Less than what a fall begins
/// with (2.7 mm), and more than the grid's noise.
const STILL_UNITS: i32 = 4;
/// What it may turn, as the distance of two unit quaternions: a fifth of a degree.
const STILL_TURN: f32 = 0.002;

/// How long a body has been where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepState {
    /// Where it was when the count began.
    at: [i32; 3],
    turn: [f32; 4],
    still_steps: u16,
    /// Whether it moves, or touches what does.
    must_stay_awake: bool,
    may_sleep: bool,
}

impl SleepState {
    /// Of a body that was put there: one at rest has been there for long.
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

    /// A step later it is here.
    pub(super) fn observe(&mut self, pose: &Pose) {
        let near = self
            .at
            .iter()
            .zip(pose.at)
            .all(|(here, there)| (here - there).abs() <= STILL_UNITS);
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
    /// Wakes a body, which then moves, or has to be still for a while again.
    pub(super) fn wake(&mut self, body: BodyId) {
        self.state_mut(body).sleep.reset();
        self.allow_sleep(body, false);
        self.world.bodies[body.to_handle()].wake_up(true);
    }

    /// Whether rapier may put a body to sleep, with all that it touches.
    pub(super) fn allow_sleep(&mut self, body: BodyId, may_sleep: bool) {
        self.is_disturbed = true;
        self.state_mut(body).sleep.may_sleep = may_sleep;
        let activation = self.world.bodies[body.to_handle()].activation_mut();
        activation.time_until_sleep = if may_sleep { 0.0 } else { f32::MAX };
    }

    /// Says who may sleep in the next step: who is still, and touches only such as may sleep.
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

/// Of two unit quaternions, either of which may have the other sign.
fn distance(a: [f32; 4], b: [f32; 4]) -> f32 {
    let apart = |sign: f32| {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - sign * b) * (a - sign * b))
            .sum::<f32>()
    };
    apart(1.0).min(apart(-1.0)).sqrt()
}
