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

use super::{Body, Physics};
use crate::games::cubes::FORMAT;
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
pub(super) struct Rest {
    /// Where it was when the count began.
    at: [i32; 3],
    turn: [f32; 4],
    steps: u16,
    /// Whether it moves, or touches what does.
    restless: bool,
    may_sleep: bool,
}

impl Rest {
    /// Of a body that was put there: one at rest has been there for long.
    pub(super) fn new(pose: &Pose) -> Self {
        let steps = if pose.flag { STILL_STEPS } else { 0 };
        Self {
            at: pose.at,
            turn: FORMAT.quaternion(pose),
            steps,
            restless: !pose.flag,
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
        let turn = FORMAT.quaternion(pose);
        if near && distance(self.turn, turn) <= STILL_TURN {
            self.steps = (self.steps + 1).min(STILL_STEPS);
        } else {
            (self.at, self.turn, self.steps) = (pose.at, turn, 0);
        }
    }

    pub(super) fn begin_anew(&mut self) {
        self.steps = 0;
    }

    fn is_still(&self) -> bool {
        self.steps >= STILL_STEPS
    }
}

impl Physics {
    /// Wakes a body, which then moves, or has to be still for a while again.
    pub(super) fn wake(&mut self, body: Body) {
        self.cube_mut(body).rest.begin_anew();
        self.allow_sleep(body, false);
        self.world.bodies[body.handle()].wake_up(true);
    }

    /// Whether rapier may put a body to sleep, with all that it touches.
    pub(super) fn allow_sleep(&mut self, body: Body, may_sleep: bool) {
        self.disturbed = true;
        self.cube_mut(body).rest.may_sleep = may_sleep;
        let activation = self.world.bodies[body.handle()].activation_mut();
        activation.time_until_sleep = if may_sleep { 0.0 } else { f32::MAX };
    }

    /// Says who may sleep in the next step: who is still, and touches only such as may sleep.
    pub(super) fn let_sleep(&mut self) {
        let active = std::mem::take(&mut self.active);
        let mut spreading: Vec<Body> = Vec::new();
        for &body in &active {
            let cube = self.cube_mut(body);
            cube.rest.restless = !cube.rest.is_still() || cube.keys.current.0 != 0;
            if cube.rest.restless {
                spreading.push(body);
            }
        }
        let any_still = spreading.len() < active.len();
        let mut touched = std::mem::take(&mut self.found);
        while let Some(body) = spreading.pop().filter(|_| any_still) {
            self.touching(body, &mut touched);
            for &other in &touched {
                let rest = &mut self.cube_mut(other).rest;
                if !std::mem::replace(&mut rest.restless, true) {
                    spreading.push(other);
                }
            }
        }
        for &body in &active {
            let rest = self.cube(body).rest;
            if rest.may_sleep == rest.restless {
                self.allow_sleep(body, !rest.restless);
            }
        }
        (self.active, self.found) = (active, touched);
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
