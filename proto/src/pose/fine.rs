//! The fine level: prediction from several acknowledged poses, and probabilities that adapt within
//! the section.
//!
//! For few clients and for physics, where saved bytes are worth one to three microseconds an object
//! and client; crowds use the [`super::shared`] level. An object's acknowledged poses with their
//! ages and its new pose go in, bytes come out; back, the same poses and the bytes go in, the new
//! pose comes out.
//!
//! # A section
//! 1. The *reference*, if there is one: the object that others move with, such as the one that the
//!    player steers.
//! 2. The *candidates*: objects with an acknowledged pose in the window, in an order that both ends
//!    know ([`CandidateOrder`] is a good one). Each begins with whether it is in the section; then
//!    come its flag, position, turn and velocities. A candidate that is not in and has not moved
//!    lately costs a few hundredths of a bit.
//! 3. *Unacknowledged* objects, which have no acknowledged pose in the window: coded relative to
//!    one older pose, or absolute. The caller codes which objects these are; a datagram's section
//!    ([`super::section`]) mixes them with the candidates, all of which are in.
//! 4. The end: one bit.
//!
//! # The prediction
//! A pose is coded as decisions, most of them binary ([`crate::entropy`]). Each number has a
//! distribution with a predicted middle and spread (`number`). Both are weighted sums of what is
//! known (`prediction`): how the object moved over four spans of its past, by itself and relative
//! to the reference (`movement`, `reference`); where it would be had it moved rigidly with the
//! reference; the prediction errors of the neighbours that are already coded (`neighbours`); the
//! parts of the pose that are already known (an error along the direction of movement, a roll on
//! the ground, the height of a turned cube that stands on something). The weights are constants,
//! trained on a recording ([`super::trained`]). Nothing is carried from one section to the next, so
//! it does not matter which datagrams are lost: fewer acknowledged poses only make the prediction
//! worse.
//!
//! Invariants:
//! 1. A decoder with the same acknowledged poses, in the same order, reads what was written, on
//!    every machine: predictions use additions, multiplications, divisions and roots of `f32` only,
//!    each rounded separately (`vector`).
//! 2. Whatever the bytes are, a decoder returns an error or a pose that fits its format. The work
//!    for a section is bounded by the number of candidates and by its length.
//! 3. The bits by category add up to the length.
//!
//! Units: ages in microseconds, half edges in metres; inside, 1/512 m and 1/361 of a quaternion's
//! part, for which the weights were trained. Cost: 1 to 3 microseconds for an object that is in,
//! growing with the number of those; 50 ns for another one.

mod conversion;
pub(super) mod decision_coder;
mod movement;
mod neighbours;
mod number;
mod prediction;
mod reference;
pub(super) mod section_coder;
mod state;
pub(super) mod tail_curve;
pub(super) mod vector;
mod weights;

pub use self::state::FineState;

use self::decision_coder::DecisionWriter;
use self::section_coder::FineSectionCoder;
use super::{Pose, PoseFormat};
use crate::entropy;
use crate::wire::WireError;

/// Units of a position, inside.
const UNITS_PER_METRE: f32 = 512.0;
/// Units of a rotation by a radian, inside: a step of a quaternion's part in 9 bits is half a unit.
const TURN_UNITS: f32 = 180.7;
/// Grid units between a pose and its baseline, at most.
const MAX_STEP: i32 = (1 << 29) - 1;

/// A pose that both ends know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AgedPose {
    /// How much older it is than the new pose, in microseconds.
    pub age_us: u32,
    /// On the grid of the object's kind.
    pub pose: Pose,
}

/// What both ends know of an object.
#[derive(Clone, Copy, Debug)]
pub struct KnownObject<'a> {
    /// The format of its kind.
    pub format: PoseFormat,
    /// Half the edge of a cube, in metres; 0 if the object is no cube, or if that is not known, as
    /// in a datagram's section. With it, the height of a cube that rolls follows from its turn.
    pub half_edge_m: f32,
    /// Its acknowledged poses, the newest first, with rising ages. Those that are more than twice
    /// as old as the newest one are not needed.
    pub history: &'a [AgedPose],
}

/// Bits of a section by category.
#[expect(missing_docs, reason = "each field is one category")]
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SpentBits {
    /// Which candidates are in.
    pub membership: f32,
    pub position: f32,
    /// Turns; for a yaw also speeds.
    pub turn: f32,
    /// Flags, and whether position or turn are unchanged.
    pub flags: f32,
    /// Unacknowledged objects.
    pub unacknowledged: f32,
    pub motion: f32,
    /// Padding to whole bytes.
    pub end: f32,
}

impl SpentBits {
    /// The sum: eight times the bytes.
    pub fn total(&self) -> f32 {
        self.membership
            + self.position
            + self.turn
            + self.flags
            + self.unacknowledged
            + self.motion
            + self.end
    }
}

/// An order in which to code candidates: by the distance of their baselines from the reference's,
/// so that an object follows those that push it. Candidates at the same distance, or all if there
/// is no reference, keep their order. Both ends sort the same.
#[derive(Debug, Default)]
pub struct CandidateOrder {
    /// Squared distance and index in one number, since comparing is most of the work.
    keys: Vec<u64>,
}

impl CandidateOrder {
    /// The lower bits of a key, which hold the index.
    const INDEX_BITS: u32 = 20;

    /// Sorts candidates, at most a million, by their baselines.
    pub fn sort<'p>(
        &mut self,
        reference: Option<&Pose>,
        baselines: impl Iterator<Item = &'p Pose>,
    ) {
        let farthest = (1 << (u64::BITS - Self::INDEX_BITS)) - 1;
        let distance2 = |baseline: &Pose| {
            let Some(reference) = reference else { return 0 };
            let offsets =
                [0, 1, 2].map(|axis| u64::from(baseline.at[axis].abs_diff(reference.at[axis])));
            offsets
                .iter()
                .map(|offset| offset * offset)
                .sum::<u64>()
                .min(farthest)
        };
        self.keys.clear();
        self.keys.extend(
            baselines
                .zip(0..1 << Self::INDEX_BITS)
                .map(|(baseline, index)| distance2(baseline) << Self::INDEX_BITS | index),
        );
        self.keys.sort_unstable();
    }

    /// The indices of the candidates, in their order.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.keys
            .iter()
            .map(|key| (key & ((1 << Self::INDEX_BITS) - 1)) as usize)
    }
}

/// Writes a section.
pub struct FineEncoder<'o, 's> {
    section: FineSectionCoder<'s, DecisionWriter<'o>>,
}

const NEVER: &str = "a writer refuses nothing";

impl<'o, 's> FineEncoder<'o, 's> {
    /// A section that goes on in `encoder`.
    pub fn new(encoder: entropy::RangeEncoder<'o>, state: &'s mut FineState) -> Self {
        Self {
            section: FineSectionCoder::new(DecisionWriter::new(encoder), state),
        }
    }

    /// The object that others move with, before all others, and its pose if it is in. Without an
    /// acknowledged pose it is no reference.
    pub fn write_reference(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        self.section.code_reference(known, pose).expect(NEVER);
    }

    /// The slot of the reference that follows, if there is one.
    pub(super) fn write_reference_slot(&mut self, slot: Option<u16>) {
        self.section.code_reference_slot(slot).expect(NEVER);
    }

    /// The next candidate, and its pose if it is in.
    ///
    /// # Panics
    /// When there is a pose but no acknowledged one.
    pub fn write_object(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        debug_assert!(
            pose.is_none_or(|pose| known.format.fits(pose)),
            "{pose:?} is not of {:?}",
            known.format
        );
        self.section.code_object(known, pose).expect(NEVER);
    }

    /// An object without an acknowledged pose in the window: `known` has one older pose, or none.
    pub(super) fn write_unacknowledged(&mut self, known: &KnownObject<'_>, pose: &Pose) {
        self.section.code_unacknowledged(known, pose).expect(NEVER);
    }

    /// The stream, for what is written between the objects.
    pub(super) fn stream(&mut self) -> &mut entropy::RangeEncoder<'o> {
        &mut self.section.coder.encoder
    }

    /// The length of the section if it is finished now, at most; at most one byte less. The end may
    /// take one more.
    pub fn bytes_so_far(&self) -> usize {
        self.section.coder.encoder.bytes_if_finished()
    }

    /// Writes the end.
    pub fn finish(mut self) -> SpentBits {
        self.section.code_end().expect(NEVER);
        let [membership, position, turn, flags, unacknowledged, motion] =
            self.section.coder.spent();
        let bytes = self.section.coder.encoder.finish();
        let coded = membership + position + turn + flags + unacknowledged + motion;
        SpentBits {
            membership,
            position,
            turn,
            flags,
            unacknowledged,
            motion,
            end: bytes as f32 * 8.0 - coded,
        }
    }
}

/// Reads a section: the same calls in the same order.
pub struct FineDecoder<'d, 's> {
    section: FineSectionCoder<'s, entropy::RangeDecoder<'d>>,
}

impl<'d, 's> FineDecoder<'d, 's> {
    /// A section that goes on in `decoder`.
    pub fn new(decoder: entropy::RangeDecoder<'d>, state: &'s mut FineState) -> Self {
        Self {
            section: FineSectionCoder::new(decoder, state),
        }
    }

    /// The pose of the reference if it is in.
    pub fn read_reference(&mut self, known: &KnownObject<'_>) -> Result<Option<Pose>, WireError> {
        self.section.code_reference(known, None)
    }

    /// The slot of the reference that follows, if there is one.
    pub(super) fn read_reference_slot(&mut self) -> Result<Option<u16>, WireError> {
        self.section.code_reference_slot(None)
    }

    /// The pose of the next candidate if it is in.
    pub fn read_object(&mut self, known: &KnownObject<'_>) -> Result<Option<Pose>, WireError> {
        self.section.code_object(known, None)
    }

    /// The pose of an object without an acknowledged pose in the window.
    pub(super) fn read_unacknowledged(
        &mut self,
        known: &KnownObject<'_>,
    ) -> Result<Pose, WireError> {
        self.section.code_unacknowledged(known, &Pose::default())
    }

    /// The stream, for what is read between the objects.
    pub(super) fn stream(&mut self) -> &mut entropy::RangeDecoder<'d> {
        &mut self.section.coder
    }

    /// Reads the end; an error if there are bytes behind it.
    pub fn finish(mut self) -> Result<(), WireError> {
        self.section.code_end()?;
        self.section.coder.finish()
    }
}

#[cfg(test)]
mod tests;
