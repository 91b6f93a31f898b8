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
//!    know; in a datagram, ascending slots. Each has its flag, position, turn and velocities. In a
//!    snapshot that is no datagram each begins with the decision whether its pose is in the
//!    section; one that is not and has not moved lately costs a few hundredths of a bit.
//! 3. *Unacknowledged* objects, which have no acknowledged pose in the window: coded relative to
//!    one older pose, or absolute. The caller codes which objects these are; a datagram's section
//!    ([`super::section`]) mixes them with the candidates, all of which are in.
//! 4. The end: one bit.
//!
//! # The prediction
//! A pose is coded as decisions, most of them binary ([`crate::entropy`]); [`section_coder`] gives
//! their order. Each number has a distribution with a predicted middle and spread ([`mod@number`]).
//! Both are weighted sums of what is known ([`prediction`]): how the object moved over four spans
//! of its past, by itself and relative to the reference ([`movement`], [`mod@reference`]); where it
//! would be had it moved rigidly with the reference; the prediction errors of the neighbours that
//! are already coded ([`neighbours`]); the parts of the pose that are already known (an error along
//! the direction of movement, a roll on the ground, the height of a turned cube that stands on
//! something). The weights are constants, trained on a recording ([`super::trained`]). Nothing is
//! carried from one section to the next, so a lost datagram makes no other one unreadable. Fewer
//! acknowledged poses only make the prediction worse.
//!
//! # In another language
//! The modules below are public for their descriptions; they have no interface. The order of the
//! decisions and the coding of numbers are described there completely. The predictions are defined
//! by the sources of [`movement`], [`mod@reference`], [`neighbours`], [`prediction`], [`vector`],
//! [`weights`], [`tail_curve`], [`conversion`] and [`super::motion`], to be translated line by
//! line: every sum, product, quotient and root of `f32` is rounded to `f32` before it is used, in
//! the order of the source, without fused operations; a cast to a whole number truncates towards
//! zero and saturates. One wrong bit makes the rest of a section unreadable. A client that avoids
//! this plays in rooms with `coding=shared`.
//!
//! Invariants:
//! 1. A decoder with the same acknowledged poses, in the same order, reads what was written, on
//!    every machine: predictions use additions, multiplications, divisions and roots of `f32` only,
//!    each rounded separately (`vector`).
//! 2. Whatever the bytes are, a decoder returns an error or a pose that fits its format. The work
//!    for a section is bounded by the number of candidates and by its length.
//!
//! Units: ages in microseconds, half edges in metres; inside, 1/512 m and 1/361 in a quaternion's
//! part, for which the weights were trained. Cost: 1 to 3 microseconds for an object whose pose is
//! in the section, more the more there are; 50 ns for any other candidate.

pub mod conversion;
pub(super) mod decision_coder;
pub mod movement;
pub mod neighbours;
pub mod number;
pub mod prediction;
pub mod reference;
pub mod section_coder;
mod state;
pub mod tail_curve;
pub mod vector;
pub mod weights;

pub use self::state::FineState;

use self::section_coder::{FineSectionCoder, Membership};
use super::{Pose, PoseFormat};
use crate::entropy;
use crate::wire::{WRITE_CANNOT_FAIL, WireError};

/// Units of a position, inside.
const UNITS_PER_METRE: f32 = 512.0;
/// Units of a rotation by a radian, inside: a step of a quaternion's part in 9 bits is one unit.
const TURN_UNITS: f32 = 180.7;
/// Maximum difference between a coordinate and its baseline, in grid units.
const MAX_DIFFERENCE: i32 = (1 << 29) - 1;

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

/// Writes a section.
pub struct FineEncoder<'o, 's> {
    section: FineSectionCoder<'s, entropy::RangeEncoder<'o>>,
}

impl<'o, 's> FineEncoder<'o, 's> {
    /// A snapshot that goes on in `encoder`: each candidate says whether it is in.
    pub fn new(encoder: entropy::RangeEncoder<'o>, state: &'s mut FineState) -> Self {
        Self { section: FineSectionCoder::new(encoder, state, Membership::Coded) }
    }

    /// A datagram's section: all candidates are in.
    pub(super) fn of_datagram(
        encoder: entropy::RangeEncoder<'o>,
        state: &'s mut FineState,
    ) -> Self {
        Self { section: FineSectionCoder::new(encoder, state, Membership::All) }
    }

    /// The object that others move with, before all others, and its pose if that is in the
    /// section. Without an acknowledged pose it is no reference.
    pub fn write_reference(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        self.section.code_reference(known, pose).expect(WRITE_CANNOT_FAIL);
    }

    /// The slot of the reference that follows, if there is one.
    pub(super) fn write_reference_slot(&mut self, slot: Option<u16>) {
        self.section.code_reference_slot(slot).expect(WRITE_CANNOT_FAIL);
    }

    /// The next candidate, and its pose if that is in the section.
    ///
    /// # Panics
    /// When there is a pose but no acknowledged one, or in a datagram no pose.
    pub fn write_object(&mut self, known: &KnownObject<'_>, pose: Option<&Pose>) {
        debug_assert!(
            pose.is_none_or(|pose| known.format.fits(pose)),
            "{pose:?} is not of {:?}",
            known.format
        );
        assert!(
            pose.is_some() || self.section.codes_membership(),
            "all candidates of a datagram are in"
        );
        self.section.code_object(known, pose).expect(WRITE_CANNOT_FAIL);
    }

    /// An object without an acknowledged pose in the window: `known` has one older pose, or none.
    pub(super) fn write_unacknowledged(&mut self, known: &KnownObject<'_>, pose: &Pose) {
        self.section.code_unacknowledged(known, Some(pose)).expect(WRITE_CANNOT_FAIL);
    }

    /// The stream, for what is written between the objects.
    pub(super) fn stream(&mut self) -> &mut entropy::RangeEncoder<'o> {
        &mut self.section.coder
    }

    /// An upper bound of the section's length without its end: exact, or one byte too high. The end
    /// adds at most one byte.
    pub fn bytes_so_far(&self) -> usize {
        self.section.coder.bytes_if_finished()
    }

    /// Writes the end.
    pub fn finish(mut self) {
        self.section.code_end().expect(WRITE_CANNOT_FAIL);
        self.section.coder.finish();
    }
}

/// Reads a section: the same calls in the same order.
pub struct FineDecoder<'d, 's> {
    section: FineSectionCoder<'s, entropy::RangeDecoder<'d>>,
}

impl<'d, 's> FineDecoder<'d, 's> {
    /// A snapshot that goes on in `decoder`.
    pub fn new(decoder: entropy::RangeDecoder<'d>, state: &'s mut FineState) -> Self {
        Self { section: FineSectionCoder::new(decoder, state, Membership::Coded) }
    }

    /// A datagram's section.
    pub(super) fn of_datagram(
        decoder: entropy::RangeDecoder<'d>,
        state: &'s mut FineState,
    ) -> Self {
        Self { section: FineSectionCoder::new(decoder, state, Membership::All) }
    }

    /// The pose of the reference if that is in the section.
    pub fn read_reference(&mut self, known: &KnownObject<'_>) -> Result<Option<Pose>, WireError> {
        self.section.code_reference(known, None)
    }

    /// The slot of the reference that follows, if there is one.
    pub(super) fn read_reference_slot(&mut self) -> Result<Option<u16>, WireError> {
        self.section.code_reference_slot(None)
    }

    /// The pose of the next candidate if that is in the section.
    pub fn read_object(&mut self, known: &KnownObject<'_>) -> Result<Option<Pose>, WireError> {
        self.section.code_object(known, None)
    }

    /// The pose of an object without an acknowledged pose in the window.
    pub(super) fn read_unacknowledged(
        &mut self,
        known: &KnownObject<'_>,
    ) -> Result<Pose, WireError> {
        self.section.code_unacknowledged(known, None)
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
