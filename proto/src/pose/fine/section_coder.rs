//! The order of a section: what of each object has changed, and the parts of its pose.
//!
//! One description for both directions: a reader and a writer differ in their `DecisionCoder` only.
//!
//! # Bits
//! `bit p` is 1 with a probability of p in 65,536; an `even` bit has p = 32,768. An `adaptive` bit
//! has the p of its context, limited to 24 to 65,512. After a 1 that p grows by (65,535 - p) >> 5,
//! after a 0 it falls by p >> 5; each section begins with the trained ones. A `number` (m, s) is
//! coded as in [`super::number`], with the middle m, the spread s and, unless the prediction names
//! another, the curve of `shapes[0][6]`. The baseline is the object's newest acknowledged pose.
//! Ages are from stamp to stamp, in whole milliseconds; of poses of one age the newest counts.
//! Tables are those of [`FineWeights`](crate::pose::trained::FineWeights).
//!
//! The reference's slot comes first: an even bit, whether there is one; if so a number (0, 8). Then
//! the reference as a candidate. Positions in a section are relative to the reference's baseline,
//! or to 0 without a reference.
//!
//! A candidate is
//! 1. The flag: adaptive, `flag`, context 16 flag + 4 min(zone, 3) + 2 last + (1 if near > 0).
//!    flag is the baseline's. zone is how many of the distances 512, 700, 1,000 and 1,500 units the
//!    baseline reaches from the reference; 4 without one. last is the flag of the candidate before,
//!    0 at first. near is how many coded objects are near ([`super::neighbours`]).
//! 2. Position and turn, as below. The turn comes first if the object is supported; that is never
//!    so in a datagram, where no half edges are known.
//! 3. Motion, if the format has it and the flag is 0: six numbers, with the middles and spreads
//!    that [`crate::pose::motion`] predicts.
//!
//! Only in snapshots that are no datagrams, where every known object is a candidate and some have
//! not changed, the decision comes first whether it is in: adaptive, `membership`, context
//! ((activity 5 + zone) 3 + near) 2 + flag, near at most 2. activity is 0 if all acknowledged poses
//! have the position and turn of the newest; otherwise 1, and 3 more if the pose of the shortest
//! span differs from it, 1 more each if that of half an age and that of a whole age does
//! ([`super::movement`]).
//!
//! The position begins with a bit of `same_position`: whether it is the baseline's. If not: x, y
//! and z minus the baseline's, numbers by [`super::prediction`]; middle and spread are divided by
//! the units of a step of the grid (512 / `per_metre`), and the spread is at least 0.2.
//!
//! The turn has no bits if it is fixed. If it is free: a bit of `same_turn`; if not the same, the
//! largest part and the other three, by [`super::prediction::orientation`]. If it is a yaw: yaw
//! minus the baseline's, the shorter way, a number (m, 1 + |m| / 2) with m = 0.7 rate age, where
//! rate is what the yaw turned from the acknowledged pose before to the baseline, a microsecond;
//! then the speed minus the baseline's, a number (0, 1 + |c| / 2), where c is the change of speed
//! between these two poses.
//!
//! An unacknowledged object is described in [`unacknowledged`]. The section ends with bit 512,
//! which is 0.

pub mod unacknowledged;

use super::conversion;
use super::decision_coder::{BitCategory, DecisionCoder};
use super::movement::{MovementHistory, pick_spans};
use super::neighbours::Neighbour;
use super::number::code_number;
use super::prediction::PosePrediction;
use super::state::FineState;
use super::vector::{Vector, dot, sub};
use super::{KnownObject, MAX_DIFFERENCE};
use crate::pose::{MAX_AT, Motion, Pose, Turning, motion};
use crate::wire::WireError;

/// Probabilities by context adapt by a share of the error: one half to this power, plus one.
const ADAPTATION_SHIFT: u32 = 5;
/// A probability of one half.
const EVEN: u16 = 1 << 15;
/// The logarithm of a spread whose curve is close to Student's distribution: for numbers whose
/// distribution was not trained.
const UNTRAINED_LOG_SPREAD: f32 = 4.0;

/// Codes a section, in either direction.
pub(in crate::pose) struct FineSectionCoder<'s, C> {
    pub(super) coder: C,
    state: &'s mut FineState,
    /// Which candidates are in.
    membership: Membership,
}

/// Which candidates are in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pose) enum Membership {
    /// All: nothing says so.
    All,
    /// Each says so.
    Coded,
}

impl<'s, C: DecisionCoder> FineSectionCoder<'s, C> {
    /// Starts a section with a clear state.
    pub(in crate::pose) fn new(coder: C, state: &'s mut FineState, membership: Membership) -> Self {
        state.clear();
        Self { coder, state, membership }
    }

    /// Whether candidates may be absent.
    pub(super) fn codes_membership(&self) -> bool {
        self.membership == Membership::Coded
    }

    /// The object that others move with: it comes first.
    pub(in crate::pose) fn code_reference(
        &mut self,
        known: &KnownObject<'_>,
        pose: Option<&Pose>,
    ) -> Result<Option<Pose>, WireError> {
        let Some(newest) = known.history.first() else {
            return Ok(None);
        };
        self.state.origin = newest.pose.at;
        let pose = self.code_candidate(known, pose, true)?;
        let format = known.format;
        let origin = self.state.origin;
        let now = conversion::float_pose(format, origin, &pose.unwrap_or(newest.pose));
        self.state
            .reference
            .set(now, known.history, |aged| conversion::float_pose(format, origin, &aged.pose));
        Ok(pose)
    }

    /// Whether a reference follows, and its slot.
    pub(super) fn code_reference_slot(
        &mut self,
        slot: Option<u16>,
    ) -> Result<Option<u16>, WireError> {
        self.coder.category(BitCategory::Membership);
        if !self.coder.bit(slot.is_some(), EVEN) {
            return Ok(None);
        }
        let curve = self.state.weights.curves.of(0, UNTRAINED_LOG_SPREAD);
        let slot = slot.map_or(0, i32::from);
        let slot = code_number(&mut self.coder, slot, 0.0, 8.0, curve);
        u16::try_from(slot).map(Some).map_err(|_| WireError::OutOfRange { what: "slot of a pose" })
    }

    /// A candidate: whether it is in, unless all are, and then its pose.
    pub(in crate::pose) fn code_object(
        &mut self,
        known: &KnownObject<'_>,
        pose: Option<&Pose>,
    ) -> Result<Option<Pose>, WireError> {
        self.code_candidate(known, pose, false)
    }

    fn code_candidate(
        &mut self,
        known: &KnownObject<'_>,
        pose: Option<&Pose>,
        is_reference: bool,
    ) -> Result<Option<Pose>, WireError> {
        let Some(newest) = known.history.first() else {
            assert!(pose.is_none(), "a candidate has an acknowledged pose");
            return Ok(None);
        };
        let baseline = conversion::position(known.format, self.state.origin, &newest.pose);
        let zone = self.distance_zone(baseline);
        let near = self.state.neighbours.count_near(baseline).min(2);
        let flag = usize::from(newest.pose.flag);
        if self.membership == Membership::Coded {
            self.coder.category(BitCategory::Membership);
            let activity = recent_activity(known);
            let context = ((activity * 5 + zone) * 3 + usize::from(near)) * 2 + flag;
            if !code_adaptive(
                &mut self.coder,
                pose.is_some(),
                &mut self.state.membership,
                (0, context),
            ) {
                return Ok(None);
            }
        }
        let context = flag * 16
            + zone.min(3) * 4
            + usize::from(self.state.last_flag) * 2
            + usize::from(near > 0);
        let mut pose = pose.copied().unwrap_or_default();
        self.coder.category(BitCategory::Flags);
        pose.flag = code_adaptive(&mut self.coder, pose.flag, &mut self.state.flag, (1, context));
        self.state.last_flag = pose.flag;
        let movement = MovementHistory::new(known, self.state.origin, &self.state.reference);
        let movement = if is_reference { movement.into_reference() } else { movement };
        self.code_position_and_turn(known, &movement, &mut pose)?;
        self.code_velocities(known, &mut pose)?;
        self.check_complete(pose).map(Some)
    }

    /// The pose, unless the bytes ended before it.
    fn check_complete(&self, pose: Pose) -> Result<Pose, WireError> {
        if self.coder.is_overrun() { Err(WireError::Truncated) } else { Ok(pose) }
    }

    /// How near to the reference, 0 (nearest) to 4.
    fn distance_zone(&self, baseline: Vector) -> usize {
        let Some(now) = self.state.reference.now() else {
            return 4;
        };
        let offset = sub(baseline, now.at);
        let edges: [f32; 4] = [512.0, 700.0, 1_000.0, 1_500.0];
        edges.iter().filter(|edge| dot(offset, offset) >= *edge * *edge).count()
    }

    /// Velocities, predicted from the baseline and from what is known of the pose by now.
    fn code_velocities(
        &mut self,
        known: &KnownObject<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        let Some(grid) = known.format.motion.filter(|_| !pose.flag) else {
            pose.motion = Motion::default();
            return Ok(());
        };
        let baseline = &known.history[0];
        let age_us = baseline.age_us;
        self.code_motion(
            motion::predict_velocities(known.format, grid, &baseline.pose, age_us, pose),
            pose,
        )
    }

    fn code_motion(
        &mut self,
        predictions: [motion::VelocityPrediction; 6],
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        self.coder.category(BitCategory::Motion);
        let curve = self.state.weights.curves.of(0, UNTRAINED_LOG_SPREAD);
        let mut parts = pose.motion.parts();
        for (part, prediction) in parts.iter_mut().zip(predictions) {
            let middle = prediction.middle;
            let spread = prediction.spread;
            let coded = code_number(&mut self.coder, (*part).into(), middle, spread, curve);
            *part = motion::narrow(coded.into())?;
        }
        pose.motion = Motion::from_parts(parts);
        Ok(())
    }

    /// Position and turn. The turn of a supported object comes first: it predicts how the object
    /// has rolled and how high its centre is.
    fn code_position_and_turn(
        &mut self,
        known: &KnownObject<'_>,
        movement: &MovementHistory,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        let around = self.state.neighbours.means_around(movement.baseline.at);
        let mut prediction = PosePrediction::new(self.state, movement, &around, pose.flag);
        if movement.is_supported {
            self.code_turn(known, &mut prediction, pose)?;
            self.code_position(known, &mut prediction, pose)?;
        } else {
            self.code_position(known, &mut prediction, pose)?;
            self.code_turn(known, &mut prediction, pose)?;
        }
        for (excess, new) in self.state.excess.iter_mut().zip(prediction.excess) {
            *excess += (new - *excess) * 0.1;
        }
        self.state
            .neighbours
            .push(Neighbour { at: movement.baseline.at, ..prediction.to_neighbour() });
        Ok(())
    }

    fn code_position(
        &mut self,
        known: &KnownObject<'_>,
        prediction: &mut PosePrediction<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        self.coder.category(BitCategory::Flags);
        let baseline = &known.history[0].pose;
        let context = prediction.same_position_context();
        if self.code_unchanged(pose.at == baseline.at, 0, context) {
            pose.at = baseline.at;
            prediction.set_position_unchanged();
            return Ok(());
        }
        self.coder.category(BitCategory::Position);
        let units = conversion::units_per_step(known.format);
        for axis in 0..3 {
            let (middle, spread, curve) = prediction.predict_coordinate(axis);
            let step = pose.at[axis].wrapping_sub(baseline.at[axis]);
            let spread = (spread / units).max(0.2);
            let step = code_number(&mut self.coder, step, middle / units, spread, curve);
            pose.at[axis] = checked_coordinate(baseline.at[axis], step)?;
            prediction.set_coordinate(axis, step as f32 * units, &mut self.coder, units);
        }
        prediction.finish_position();
        Ok(())
    }

    fn code_turn(
        &mut self,
        known: &KnownObject<'_>,
        prediction: &mut PosePrediction<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        let baseline = &known.history[0].pose;
        match known.format.turn {
            Turning::Fixed => Ok(()),
            Turning::Yaw { bits } => {
                self.coder.category(BitCategory::Turn);
                self.code_yaw(bits, known, pose)
            }
            Turning::Free { bits } => {
                self.coder.category(BitCategory::Flags);
                let context = prediction.same_turn_context();
                if self.code_unchanged(pose.turn == baseline.turn, 1, context) {
                    pose.turn = baseline.turn;
                } else {
                    self.coder.category(BitCategory::Turn);
                    prediction.predict_turn();
                    prediction.code_free_turn(bits, &mut pose.turn, &mut self.coder)?;
                }
                prediction.set_turn(conversion::quaternion(known.format, pose), &mut self.coder);
                Ok(())
            }
        }
    }

    /// A heading, predicted to go on turning as it did, and a speed, predicted to stay.
    fn code_yaw(
        &mut self,
        bits: u8,
        known: &KnownObject<'_>,
        pose: &mut Pose,
    ) -> Result<(), WireError> {
        let newest = &known.history[0];
        let before = known.history.get(1).unwrap_or(newest);
        let half = 1 << (bits - 1);
        let mask = (1 << bits) - 1;
        let turned = |from: u16, to: u16| ((i32::from(to) - i32::from(from) + half) & mask) - half;
        let span = (before.age_us - newest.age_us).max(1) as f32;
        let rate = turned(before.pose.turn[0], newest.pose.turn[0]) as f32 / span;
        let middle = 0.7 * rate * newest.age_us as f32;
        let curve = self.state.weights.curves.of(0, UNTRAINED_LOG_SPREAD);
        let step = code_number(
            &mut self.coder,
            turned(newest.pose.turn[0], pose.turn[0]),
            middle,
            1.0 + 0.5 * middle.abs(),
            curve,
        );
        pose.turn[0] = ((i32::from(newest.pose.turn[0]) + step) & mask) as u16;
        let change = i32::from(newest.pose.speed) - i32::from(before.pose.speed);
        let faster = i32::from(pose.speed) - i32::from(newest.pose.speed);
        let spread = 1.0 + 0.5 * change.abs() as f32;
        let faster = code_number(&mut self.coder, faster, 0.0, spread, curve);
        pose.speed = checked_speed(i32::from(newest.pose.speed) + faster)?;
        Ok(())
    }

    /// Whether the position (table 0) or the turn (table 1) is that of the baseline.
    fn code_unchanged(&mut self, is_unchanged: bool, table: usize, context: usize) -> bool {
        let trained = &self.state.weights.trained;
        let probabilities = if table == 0 { &trained.same_position } else { &trained.same_turn };
        let is_unchanged = self.coder.bit(is_unchanged, probabilities[context]);
        self.coder.sample_context(2 + table, context, is_unchanged);
        is_unchanged
    }
}

fn checked_coordinate(baseline: i32, step: i32) -> Result<i32, WireError> {
    let at =
        baseline.checked_add(step).filter(|at| step.abs() <= MAX_DIFFERENCE && at.abs() <= MAX_AT);
    at.ok_or(WireError::OutOfRange { what: "coordinate of a pose" })
}

fn checked_speed(speed: i32) -> Result<i16, WireError> {
    i16::try_from(speed).map_err(|_| WireError::OutOfRange { what: "speed of a pose" })
}

/// Whether it moved lately: 0 not at all, 1 to 6 by the spans in which it did.
fn recent_activity(known: &KnownObject<'_>) -> usize {
    let newest = &known.history[0].pose;
    let differs = |index: usize| {
        let before = &known.history[index].pose;
        before.at != newest.at || before.turn != newest.turn
    };
    if !(1..known.history.len()).any(differs) {
        return 0;
    }
    let [shortest, _, half, longest] =
        pick_spans(known.history).map(|pick| usize::from(differs(pick)));
    1 + shortest * 3 + half + longest
}

/// Codes a decision by a probability that then adapts to it.
fn code_adaptive<C: DecisionCoder>(
    coder: &mut C,
    bit: bool,
    probabilities: &mut [u16],
    (table, context): (usize, usize),
) -> bool {
    let probability = &mut probabilities[context];
    let bit = coder.bit(bit, (*probability).clamp(24, 65_512));
    coder.sample_context(table, context, bit);
    if bit {
        *probability += (u16::MAX - *probability) >> ADAPTATION_SHIFT;
    } else {
        *probability -= *probability >> ADAPTATION_SHIFT;
    }
    bit
}
