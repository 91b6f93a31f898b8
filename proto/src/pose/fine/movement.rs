//! How an object moved before its new pose is coded.
//!
//! The acknowledged poses of an object and those of the reference go in; its movements over four
//! spans of time come out, by itself and relative to the reference. Each is scaled to the time
//! since the newest acknowledged pose: where the object would be now if it went on like this.

use super::reference::{FloatPose, ReferenceObject};
use super::vector::{Vector, add, length, scale, sub, support, turn_between};
use super::{AgedPose, KnownObject, TURN_UNITS, UNITS_PER_METRE, conversion};
use crate::pose::Turning;
use crate::pose::trained::fine::{CLOSE_SUPPORTED, REFERENCE, SINGLE_POSE};

/// The spans of time, in parts of the age of the newest pose.
const SPANS: [f32; 4] = [1.0 / 6.0, 1.0 / 3.0, 0.5, 1.0];
/// How much the height of a supported object above its support may seem to change over each span:
/// rounding of position and turn.
const LEVEL: [f32; 4] = [2.5, 2.5, 3.0, 5.0];

/// A displacement and a rotation, in [`UNITS_PER_METRE`] and [`TURN_UNITS`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentMovement {
    pub(super) displacement: Vector,
    pub(super) turn: Vector,
}

impl RecentMovement {
    fn between(from: FloatPose, to: FloatPose, by: f32) -> Self {
        Self {
            displacement: scale(sub(to.at, from.at), by),
            turn: scale(turn_between(from.turn, to.turn), by * TURN_UNITS),
        }
    }
}

/// How an object moved, by its acknowledged poses.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovementHistory {
    /// Its newest acknowledged pose.
    pub(super) baseline: FloatPose,
    /// Its movement over each span.
    pub(super) own: [RecentMovement; 4],
    /// Its movement relative to the reference over each span, as seen from the reference now.
    pub(super) slip: [RecentMovement; 4],
    /// Its movement until now if it moves rigidly with the reference.
    pub(super) rigid: RecentMovement,
    /// The reference's movement until now, and before over the shortest and the longest span.
    pub(super) reference: [RecentMovement; 3],
    /// From where it would then be to the reference, and this distance in metres.
    pub(super) inwards: Vector,
    pub(super) metres: f32,
    /// Half its edge, and the height of its centre above what it stands on, in half edges, when it
    /// is turned like its baseline.
    pub(super) half_edge: f32,
    pub(super) support: f32,
    /// Whether it stands or rolls on something level.
    pub(super) is_supported: bool,
    /// Squared age of its newest pose, in units of 100 ms: the effect of an acceleration grows with
    /// it.
    pub(super) age2: f32,
    /// Which of the trained weights apply.
    pub(super) class: usize,
}

/// For each span, the pose that is nearest to a span older than the newest; 0 if there is none.
pub(super) fn pick_spans(history: &[AgedPose]) -> [usize; 4] {
    let age = history[0].age_us.max(1) as f32;
    let mut picks = [0; 4];
    for (pick, wanted) in picks.iter_mut().zip(SPANS) {
        let mut best = f32::MAX;
        for (index, aged) in history.iter().enumerate().skip(1) {
            let off = ((aged.age_us - history[0].age_us) as f32 / age - wanted).abs();
            if off < best {
                (best, *pick) = (off, index);
            }
        }
    }
    picks
}

impl MovementHistory {
    /// From a history that is not empty.
    pub(super) fn new(
        known: &KnownObject<'_>,
        origin: [i32; 3],
        reference: &ReferenceObject,
    ) -> Self {
        let newest = &known.history[0];
        let picks = pick_spans(known.history);
        let to_float_pose =
            |aged: &AgedPose| conversion::float_pose(known.format, origin, &aged.pose);
        let baseline = to_float_pose(newest);
        let carried = reference.carry(newest.age_us, baseline);
        let half_edge = known.half_edge_m * UNITS_PER_METRE;
        let support_now = support(baseline.turn);
        let mut movement = Self {
            baseline,
            own: [RecentMovement::default(); 4],
            slip: [RecentMovement::default(); 4],
            rigid: carried.map_or_else(RecentMovement::default, |carried| {
                RecentMovement::between(baseline, carried, 1.0)
            }),
            reference: [RecentMovement::default(); 3],
            inwards: [0.0; 3],
            metres: 9.0,
            half_edge,
            support: support_now,
            is_supported: half_edge > 0.0 && known.history.len() > 1,
            age2: (newest.age_us as f32 * 1e-5) * (newest.age_us as f32 * 1e-5),
            class: SINGLE_POSE,
        };
        for (span, pick) in picks.into_iter().enumerate().filter(|(_, pick)| *pick > 0) {
            let aged = &known.history[pick];
            let there = to_float_pose(aged);
            let by = newest.age_us as f32 / (aged.age_us - newest.age_us).max(1) as f32;
            movement.own[span] = RecentMovement::between(there, baseline, by);
            if let (Some(carried), Some(there)) = (carried, reference.carry(aged.age_us, there)) {
                movement.slip[span] = RecentMovement::between(there, carried, by);
            }
            if movement.is_supported {
                let rise =
                    baseline.at[2] - there.at[2] - half_edge * (support_now - support(there.turn));
                movement.is_supported = rise.abs() <= LEVEL[span];
            }
        }
        if let Turning::Yaw { .. } = known.format.turn {
            movement.own = [RecentMovement {
                displacement: conversion::heading_displacement(known, newest),
                ..movement.own[0]
            }; 4];
        }
        movement.add_reference_movement(reference, known.history, picks);
        movement.class = movement.class(known.history.len(), reference.now().is_some());
        movement
    }

    /// Adds how the reference moved.
    fn add_reference_movement(
        &mut self,
        reference: &ReferenceObject,
        history: &[AgedPose],
        picks: [usize; 4],
    ) {
        let (Some(now), Some(then)) = (reference.now(), reference.then(history[0].age_us)) else {
            return;
        };
        self.inwards = sub(now.at, add(self.baseline.at, self.rigid.displacement));
        self.metres = length(self.inwards) * (1.0 / UNITS_PER_METRE);
        self.reference[0] = RecentMovement::between(then, now, 1.0);
        for (movement, pick) in
            self.reference[1..].iter_mut().zip([picks[0], picks[3]]).filter(|(_, pick)| *pick > 0)
        {
            let span = (history[pick].age_us - history[0].age_us).max(1);
            if let Some(before) = reference.then(history[pick].age_us) {
                *movement =
                    RecentMovement::between(before, then, history[0].age_us as f32 / span as f32);
            }
        }
    }

    /// By nearness to the reference, and by whether it moves with it or is supported.
    fn class(&self, poses: usize, has_reference: bool) -> usize {
        if poses < 2 {
            return SINGLE_POSE;
        }
        let (slip, displacement) =
            (length(self.slip[2].displacement), length(self.own[2].displacement));
        let against = if slip < 0.25 * displacement {
            0
        } else {
            1 + usize::from(slip >= 0.8 * displacement)
        };
        match self.metres {
            _ if !has_reference => 8 + usize::from(self.is_supported),
            ..1.4 if against == 2 && self.is_supported => CLOSE_SUPPORTED,
            ..1.4 => against,
            ..2.0 if against == 2 && self.is_supported => CLOSE_SUPPORTED,
            ..2.0 => 3 + against,
            ..4.0 => 6 + usize::from(self.is_supported),
            _ => 8 + usize::from(self.is_supported),
        }
    }

    /// The same, in the class of the reference itself.
    pub(super) fn into_reference(self) -> Self {
        Self { class: if self.class == SINGLE_POSE { SINGLE_POSE } else { REFERENCE }, ..self }
    }
}
