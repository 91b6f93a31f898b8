//! What both ends know of one object before its new pose is coded.
//!
//! The acknowledged poses of an object and the scene go in; how it has moved by itself and relative
//! to the reference, over four spans of time, comes out, scaled to the time since the newest of
//! them: what would happen if it went on like this.

use super::model::CLASSES;
use super::reference::{Frame, Reference};
use super::space::{Vector, add, length, scale, sub, support, turn_between};
use super::{Known, Seen, TURN_UNITS, UNITS_PER_METRE, lattice};
use crate::pose::Turning;

/// The spans that are looked back over, in parts of the age of the newest pose.
const SPANS: [f32; 4] = [1.0 / 6.0, 1.0 / 3.0, 0.5, 1.0];
/// How far the height above what supports it may seem to change over each span: rounding of place
/// and turn.
const LEVEL: [f32; 4] = [2.5, 2.5, 3.0, 5.0];

/// Class of what is near the reference and rests on something that does not move with it.
pub(super) const NEAR_SUPPORTED: usize = 10;
/// Class of the reference itself.
const REFERENCE: usize = 11;
/// Class of what has only one pose.
const SINGLE: usize = 12;
const _: () = assert!(SINGLE < CLASSES);

/// A movement: a way and a rotation, in [`UNITS_PER_METRE`] and [`TURN_UNITS`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Movement {
    pub(super) way: Vector,
    pub(super) turn: Vector,
}

impl Movement {
    fn between(from: Frame, to: Frame, by: f32) -> Self {
        Self {
            way: scale(sub(to.at, from.at), by),
            turn: scale(turn_between(from.turn, to.turn), by * TURN_UNITS),
        }
    }
}

/// What is known of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// Its newest pose.
    pub(super) base: Frame,
    /// What it has done, over each span.
    pub(super) own: [Movement; 4],
    /// What it has done relative to the reference, over each span, as seen from the reference now.
    pub(super) slip: [Movement; 4],
    /// What it would do if it moved rigidly with the reference.
    pub(super) rigid: Movement,
    /// What the reference does, and what it did over the shortest and the longest span.
    pub(super) reference: [Movement; 3],
    /// From where it would be then to the reference, and the metres.
    pub(super) inwards: Vector,
    pub(super) metres: f32,
    /// Half its edge, and how many of those its centre is above what it stands on, turned like its
    /// base.
    pub(super) half_edge: f32,
    pub(super) support: f32,
    /// Whether it stands or rolls on something level.
    pub(super) is_supported: bool,
    /// Squared age of its newest pose, in units of 100 ms: what an acceleration has done since.
    pub(super) age2: f32,
    pub(super) class: usize,
}

/// Which poses are a span older than the newest: the nearest to each span; 0 if there is none.
pub(super) fn picks(history: &[Seen]) -> [usize; 4] {
    let age = history[0].age_us.max(1) as f32;
    let mut picks = [0; 4];
    for (pick, wanted) in picks.iter_mut().zip(SPANS) {
        let mut best = f32::MAX;
        for (index, seen) in history.iter().enumerate().skip(1) {
            let off = ((seen.age_us - history[0].age_us) as f32 / age - wanted).abs();
            if off < best {
                (best, *pick) = (off, index);
            }
        }
    }
    picks
}

impl Past {
    /// What the history says, which is not empty.
    pub(super) fn new(known: &Known<'_>, origin: [i32; 3], reference: &Reference) -> Self {
        let newest = &known.history[0];
        let picks = picks(known.history);
        let frame = |seen: &Seen| lattice::frame(known.format, origin, &seen.pose);
        let base = frame(newest);
        let carried = reference.carry(newest.age_us, base);
        let half_edge = known.half_edge_m * UNITS_PER_METRE;
        let support_now = support(base.turn);
        let mut past = Self {
            base,
            own: [Movement::default(); 4],
            slip: [Movement::default(); 4],
            rigid: carried.map_or_else(Movement::default, |carried| {
                Movement::between(base, carried, 1.0)
            }),
            reference: [Movement::default(); 3],
            inwards: [0.0; 3],
            metres: 9.0,
            half_edge,
            support: support_now,
            is_supported: half_edge > 0.0 && known.history.len() > 1,
            age2: (newest.age_us as f32 * 1e-5) * (newest.age_us as f32 * 1e-5),
            class: SINGLE,
        };
        for (span, pick) in picks.into_iter().enumerate().filter(|(_, pick)| *pick > 0) {
            let seen = &known.history[pick];
            let there = frame(seen);
            let by = newest.age_us as f32 / (seen.age_us - newest.age_us).max(1) as f32;
            past.own[span] = Movement::between(there, base, by);
            if let (Some(carried), Some(there)) = (carried, reference.carry(seen.age_us, there)) {
                past.slip[span] = Movement::between(there, carried, by);
            }
            if past.is_supported {
                let rise =
                    base.at[2] - there.at[2] - half_edge * (support_now - support(there.turn));
                past.is_supported = rise.abs() <= LEVEL[span];
            }
        }
        if let Turning::Yaw { .. } = known.format.turn {
            past.own = [Movement {
                way: lattice::heading(known, newest),
                ..past.own[0]
            }; 4];
        }
        past.follow(reference, known.history, picks);
        past.class = past.class(known.history.len(), reference.now().is_some());
        past
    }

    /// Adds what the reference does.
    fn follow(&mut self, reference: &Reference, history: &[Seen], picks: [usize; 4]) {
        let (Some(now), Some(then)) = (reference.now(), reference.then(history[0].age_us)) else {
            return;
        };
        self.inwards = sub(now.at, add(self.base.at, self.rigid.way));
        self.metres = length(self.inwards) * (1.0 / UNITS_PER_METRE);
        self.reference[0] = Movement::between(then, now, 1.0);
        for (movement, pick) in self.reference[1..]
            .iter_mut()
            .zip([picks[0], picks[3]])
            .filter(|(_, pick)| *pick > 0)
        {
            let span = (history[pick].age_us - history[0].age_us).max(1);
            if let Some(before) = reference.then(history[pick].age_us) {
                *movement = Movement::between(before, then, history[0].age_us as f32 / span as f32);
            }
        }
    }

    /// By nearness to the reference, and by whether it moves with it or is supported.
    fn class(&self, poses: usize, has_reference: bool) -> usize {
        if poses < 2 {
            return SINGLE;
        }
        let (slip, way) = (length(self.slip[2].way), length(self.own[2].way));
        let against = if slip < 0.25 * way {
            0
        } else {
            1 + usize::from(slip >= 0.8 * way)
        };
        match self.metres {
            _ if !has_reference => 8 + usize::from(self.is_supported),
            ..1.4 if against == 2 && self.is_supported => NEAR_SUPPORTED,
            ..1.4 => against,
            ..2.0 if against == 2 && self.is_supported => NEAR_SUPPORTED,
            ..2.0 => 3 + against,
            ..4.0 => 6 + usize::from(self.is_supported),
            _ => 8 + usize::from(self.is_supported),
        }
    }

    /// The same for the reference itself.
    pub(super) fn of_reference(self) -> Self {
        Self {
            class: if self.class == SINGLE {
                SINGLE
            } else {
                REFERENCE
            },
            ..self
        }
    }
}
