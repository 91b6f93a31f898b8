//! The fine level: prediction from several acknowledged poses, and probabilities that adapt within
//! the section.
//!
//! For few busy clients and for physics, where bytes are worth one to three microseconds an object;
//! crowds have the [`super::shared`] level. The shared past of each object (its poses that are
//! known to have arrived, and when they were) and its new pose go in, bytes come out; back: the
//! same past and the bytes go in, the poses come out.
//!
//! # A section
//! 1. The *reference*, if there is one: the object that others move with, such as the one that the
//!    player steers.
//! 2. The *candidates*: all objects with a shared past, in an order that both ends know ([`Order`]
//!    is a good one). Of each it is told whether it is in, then its flag, place and turn. A
//!    candidate that is not in costs a few hundredths of a bit if it has not moved lately.
//!    [`Encoder::close`] ends them when the bytes are used up.
//! 3. The *newcomers*, whose slots are told in ascending order: what has no shared past (told as it
//!    is), or only one from before the acknowledged window (told as a candidate with one pose).
//!
//! # The model
//! All is told in decisions, most of them binary ([`crate::entropy`]). A number is foretold by the
//! middle and the spread of its distribution (`number`). Both are weighted sums of what is known
//! (`forecast`): how the object moved over four spans of its past, by itself and relative to the
//! reference (`past`, `reference`); where it would be had it moved rigidly with the reference; what
//! surprised the neighbours that are already coded (`neighbours`); what of the pose itself is
//! already known (an error along the way, the roll on the ground, the height of a turned cube that
//! stands on something). The weights are constants, trained on recordings (`model`). Nothing is
//! kept from one section to the next, so it does not matter which datagrams are lost: only fewer
//! acknowledged poses are there to foretell from.
//!
//! Invariants:
//! 1. A decoder that is given the same past, in the same order, reads what was written, on every
//!    machine: forecasts are made with additions, multiplications, divisions and roots of `f32`,
//!    each rounded by itself (`space`).
//! 2. Whatever the bytes are, a decoder returns an error or a pose that fits its format; the work
//!    for a section is bounded by the number of candidates and by what its bytes hold.
//! 3. The bits by category add up to the length.
//!
//! Units: ages in microseconds, half edges in metres; inside, 1/512 m and 1/361 of a quaternion's
//! part, on which the model was trained. Cost: 1 to 3 microseconds for an object that is in,
//! growing with the number of those; 50 ns for another.

mod coder;
mod forecast;
mod lattice;
mod model;
mod neighbours;
mod number;
mod past;
mod priors;
mod reference;
mod scene;
mod shape;
pub(super) mod space;
mod walk;

/// What the trainer of the model needs: `cargo bench --bench cubes-trace -- --train FILE`.
pub mod training {
    pub use super::coder::{Category, Coder, Note, TOTAL};
    pub use super::model::*;
    pub use super::shape::{PIECES, Shape, piece, shape_of, tail};
    pub use super::walk::Walk;
}

pub use self::coder::CATEGORIES;
pub use self::scene::Scene;

use self::coder::Writer;
use self::walk::Walk;
use super::{Pose, PoseFormat};
use crate::entropy;
use crate::wire::WireError;

/// Of a place, inside.
const UNITS_PER_METRE: f32 = 512.0;
/// A radian of a rotation, inside: a step of a quaternion's part in 9 bits is half a unit's angle.
const TURN_UNITS: f32 = 180.7;
/// Grid units that a pose can be from its base.
const MAX_STEP: i32 = (1 << 29) - 1;

/// A pose that both ends know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// How long before the new pose it was, in microseconds.
    pub age_us: u32,
    /// The pose.
    pub pose: Pose,
}

/// What both ends know of an object.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Of its kind.
    pub format: PoseFormat,
    /// Half the edge of the cube that it is, in metres; 0 if it is no cube, or if that is not
    /// known. With it the height of what rolls follows from how it is turned.
    pub half_edge_m: f32,
    /// Its poses, the newest first, with rising ages. More than a fifth of the newest one's age
    /// need not be there.
    pub history: &'a [Seen],
}

/// Bits by category.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spent {
    /// Who is in.
    pub membership: f32,
    /// Where.
    pub place: f32,
    /// Turned how; for a yaw also how fast.
    pub turn: f32,
    /// Flags, and whether place or turn have stayed.
    pub flags: f32,
    /// Objects without a shared past.
    pub newcomers: f32,
    /// Velocities.
    pub motion: f32,
    /// Up to whole bytes.
    pub end: f32,
}

impl Spent {
    /// All of it: eight times the bytes.
    pub fn total(&self) -> f32 {
        self.membership
            + self.place
            + self.turn
            + self.flags
            + self.newcomers
            + self.motion
            + self.end
    }
}

/// An order in which to code candidates: by the distance of their bases from the reference's, so
/// that each follows what it hangs on; those at the same distance, or all if there is no reference,
/// as they come. Both ends sort the same.
#[derive(Debug, Default)]
pub struct Order {
    /// Squared distance, then index: in one number, since comparing it is most of the work.
    keys: Vec<u64>,
}

impl Order {
    /// Of the lower bits of a key, which hold the index.
    const INDEX_BITS: u32 = 20;

    /// Puts candidates, at most a million, into order by their bases.
    pub fn sort<'p>(&mut self, reference: Option<&Pose>, bases: impl Iterator<Item = &'p Pose>) {
        let farthest = (1 << (u64::BITS - Self::INDEX_BITS)) - 1;
        let distance2 = |base: &Pose| {
            let Some(reference) = reference else { return 0 };
            let ways = [0, 1, 2].map(|axis| u64::from(base.at[axis].abs_diff(reference.at[axis])));
            ways.iter().map(|way| way * way).sum::<u64>().min(farthest)
        };
        self.keys.clear();
        self.keys.extend(
            bases
                .zip(0..1 << Self::INDEX_BITS)
                .map(|(base, index)| distance2(base) << Self::INDEX_BITS | index),
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
pub struct Encoder<'o, 's> {
    walk: Walk<'s, Writer<'o>>,
}

impl<'o, 's> Encoder<'o, 's> {
    /// A section that goes on in `encoder`.
    pub fn new(encoder: entropy::Encoder<'o>, scene: &'s mut Scene) -> Self {
        Self {
            walk: Walk::new(Writer::new(encoder), scene),
        }
    }

    /// The object that others move with, before all others. It is a candidate; one without a past
    /// is no reference.
    pub fn reference(&mut self, known: &Known<'_>, pose: Option<&Pose>) {
        self.walk
            .reference(known, pose)
            .expect("a writer refuses nothing");
    }

    /// Which slot the reference has that follows, if there is one.
    pub(super) fn names_reference(&mut self, slot: Option<u16>) {
        self.walk
            .reference_slot(slot)
            .expect("a writer refuses nothing");
    }

    /// The next candidate, and its pose if it is in.
    ///
    /// # Panics
    /// When there is a pose but no past, or after [`Encoder::close`].
    pub fn object(&mut self, known: &Known<'_>, pose: Option<&Pose>) {
        debug_assert!(
            pose.is_none_or(|pose| known.format.fits(pose)),
            "{pose:?} is not of {:?}",
            known.format
        );
        self.walk
            .object(known, pose)
            .expect("a writer refuses nothing");
    }

    /// From here on no candidate is in: when the bytes are used up. They still have to be given;
    /// the first one that moves tells it, in about two bytes, the others cost nothing.
    pub fn close(&mut self) {
        self.walk.close();
    }

    /// After the candidates: an object without a shared past, or with one pose that is older than
    /// the window. Slots ascend.
    pub fn newcomer(&mut self, slot: u16, known: &Known<'_>, pose: &Pose) {
        self.walk.newcomer(Some(slot)).expect("slots ascend");
        self.walk
            .newcomer_pose(known, pose)
            .expect("a writer refuses nothing");
    }

    /// An object whose slot is told otherwise: without a shared past, or with one pose that is
    /// older than the window.
    pub(super) fn stranger(&mut self, known: &Known<'_>, pose: &Pose) {
        self.walk
            .newcomer_pose(known, pose)
            .expect("a writer refuses nothing");
    }

    /// The stream, for what is told between the objects.
    pub(super) fn stream(&mut self) -> &mut entropy::Encoder<'o> {
        &mut self.walk.coder.encoder
    }

    /// How many bytes the section has if it is finished now, at most; at most one less. The end of
    /// the newcomers may take one more.
    pub fn bytes_so_far(&self) -> usize {
        self.walk.coder.encoder.bytes_if_finished()
    }

    /// Writes the end.
    pub fn finish(mut self) -> Spent {
        self.walk.newcomer(None).expect("a writer refuses nothing");
        let [membership, place, turn, flags, newcomers, motion] = self.walk.coder.spent();
        let bytes = self.walk.coder.encoder.finish();
        let coded = membership + place + turn + flags + newcomers + motion;
        Spent {
            membership,
            place,
            turn,
            flags,
            newcomers,
            motion,
            end: bytes as f32 * 8.0 - coded,
        }
    }
}

/// Reads a section: the same calls in the same order.
pub struct Decoder<'d, 's> {
    walk: Walk<'s, entropy::Decoder<'d>>,
}

impl<'d, 's> Decoder<'d, 's> {
    /// A section that goes on in `decoder`.
    pub fn new(decoder: entropy::Decoder<'d>, scene: &'s mut Scene) -> Self {
        Self {
            walk: Walk::new(decoder, scene),
        }
    }

    /// The pose of the reference if it is in.
    pub fn reference(&mut self, known: &Known<'_>) -> Result<Option<Pose>, WireError> {
        self.walk.reference(known, None)
    }

    /// The slot of the reference that follows, if there is one.
    pub(super) fn reference_named(&mut self) -> Result<Option<u16>, WireError> {
        self.walk.reference_slot(None)
    }

    /// The pose of the next candidate if it is in.
    pub fn object(&mut self, known: &Known<'_>) -> Result<Option<Pose>, WireError> {
        self.walk.object(known, None)
    }

    /// The slot of the next newcomer; [`Decoder::newcomer_pose`] follows. None: that was all.
    pub fn newcomer(&mut self) -> Result<Option<u16>, WireError> {
        self.walk.newcomer(None)
    }

    /// The pose of the newcomer whose slot was told last, of which this was known.
    pub fn newcomer_pose(&mut self, known: &Known<'_>) -> Result<Pose, WireError> {
        self.walk.newcomer_pose(known, &Pose::default())
    }

    /// The stream, for what is told between the objects.
    pub(super) fn stream(&mut self) -> &mut entropy::Decoder<'d> {
        &mut self.walk.coder
    }

    /// Whether the section ended here.
    pub fn finish(self) -> Result<(), WireError> {
        self.walk.coder.finish()
    }
}

#[cfg(test)]
mod tests;
