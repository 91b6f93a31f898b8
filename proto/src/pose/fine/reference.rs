//! The object that others move with.
//!
//! Often much of what moves hangs together with one object, the one that the player steers: it is
//! coded first, and the others are foretold as if they had moved rigidly with it.

use super::Seen;
use super::space::{Quaternion, Vector, add, back, compose, rotate, scale, sub, unit};

/// A place and an attitude, relative to the scene's origin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) at: Vector,
    pub(super) turn: Quaternion,
}

/// The reference, then and now.
#[derive(Debug, Default)]
pub(super) struct Reference {
    /// By age, the newest first, with the rotation from then to now.
    then: Vec<(u32, Frame, Quaternion)>,
    now: Option<Frame>,
}

impl Reference {
    pub(super) fn clear(&mut self) {
        self.then.clear();
        self.now = None;
    }

    /// Takes it to be here now, after the given past.
    pub(super) fn set(&mut self, now: Frame, history: &[Seen], frame: impl Fn(&Seen) -> Frame) {
        self.now = Some(now);
        self.then.clear();
        self.then.extend(history.iter().map(|seen| {
            let then = frame(seen);
            (seen.age_us, then, compose(now.turn, back(then.turn)))
        }));
    }

    pub(super) fn now(&self) -> Option<Frame> {
        self.now
    }

    /// Where it was at that age: between two poses on the straight line between them.
    pub(super) fn then(&self, age_us: u32) -> Option<Frame> {
        let index = self.then.partition_point(|(age, ..)| *age < age_us);
        let Some((age, frame, _)) = self.then.get(index) else {
            return self.then.last().map(|(_, frame, _)| *frame);
        };
        if *age == age_us || index == 0 {
            return Some(*frame);
        }
        let (newer_age, newer, _) = &self.then[index - 1];
        let part = (age_us - newer_age) as f32 / (age - newer_age) as f32;
        let at = add(newer.at, scale(sub(frame.at, newer.at), part));
        let along: f32 = (0..4).map(|i| newer.turn[i] * frame.turn[i]).sum();
        let sign = if along < 0.0 { -part } else { part };
        let turn = unit(std::array::from_fn(|i| {
            newer.turn[i] * (1.0 - part) + frame.turn[i] * sign
        }));
        Some(Frame { at, turn })
    }

    /// Where something would be now that was there at that age and has moved with the reference
    /// since.
    pub(super) fn carry(&self, age_us: u32, there: Frame) -> Option<Frame> {
        let now = self.now?;
        let exact = self.then.iter().find(|(age, ..)| *age == age_us);
        let (then, since) = match exact {
            Some((_, then, since)) => (*then, *since),
            None => self
                .then(age_us)
                .map(|then| (then, compose(now.turn, back(then.turn))))?,
        };
        Some(Frame {
            at: add(now.at, rotate(since, sub(there.at, then.at))),
            turn: compose(since, there.turn),
        })
    }
}
