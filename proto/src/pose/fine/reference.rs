//! The object that others move with.
//!
//! Often many objects move with one of them, the one that the player steers. It is coded first; the
//! others are predicted as if they moved rigidly with it.

use super::AgedPose;
use super::vector::{Vector, add, rotate, scale, sub};
use crate::pose::quaternion::{Quaternion, compose, inverse, unit};

/// Position and orientation, relative to the section's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatPose {
    pub(super) at: Vector,
    pub(super) turn: Quaternion,
}

/// The reference, now and before.
#[derive(Debug, Default)]
pub(super) struct ReferenceObject {
    /// By age, the newest first, each with the rotation since.
    then: Vec<(u32, FloatPose, Quaternion)>,
    now: Option<FloatPose>,
}

impl ReferenceObject {
    pub(super) fn clear(&mut self) {
        self.then.clear();
        self.now = None;
    }

    /// Sets where it is now, and its history.
    pub(super) fn set(
        &mut self,
        now: FloatPose,
        history: &[AgedPose],
        to_float_pose: impl Fn(&AgedPose) -> FloatPose,
    ) {
        self.now = Some(now);
        self.then.clear();
        self.then.extend(history.iter().map(|aged| {
            let then = to_float_pose(aged);
            (aged.age_us, then, compose(now.turn, inverse(then.turn)))
        }));
    }

    pub(super) fn now(&self) -> Option<FloatPose> {
        self.now
    }

    /// Where it was at that age, interpolated between two poses.
    pub(super) fn then(&self, age_us: u32) -> Option<FloatPose> {
        let index = self.then.partition_point(|(age, ..)| *age < age_us);
        let Some((age, older, _)) = self.then.get(index) else {
            return self.then.last().map(|(_, older, _)| *older);
        };
        if *age == age_us || index == 0 {
            return Some(*older);
        }
        let (newer_age, newer, _) = &self.then[index - 1];
        let part = (age_us - newer_age) as f32 / (age - newer_age) as f32;
        let at = add(newer.at, scale(sub(older.at, newer.at), part));
        let along: f32 = (0..4).map(|i| newer.turn[i] * older.turn[i]).sum();
        let sign = if along < 0.0 { -part } else { part };
        let turn =
            unit(std::array::from_fn(|i| newer.turn[i] * (1.0 - part) + older.turn[i] * sign));
        Some(FloatPose { at, turn })
    }

    /// Where an object is now that was `there` at that age and moved rigidly with the reference
    /// since.
    pub(super) fn carry(&self, age_us: u32, there: FloatPose) -> Option<FloatPose> {
        let now = self.now?;
        let exact = self.then.iter().find(|(age, ..)| *age == age_us);
        let (then, since) = match exact {
            Some((_, then, since)) => (*then, *since),
            None => self.then(age_us).map(|then| (then, compose(now.turn, inverse(then.turn))))?,
        };
        Some(FloatPose {
            at: add(now.at, rotate(since, sub(there.at, then.at))),
            turn: compose(since, there.turn),
        })
    }
}
