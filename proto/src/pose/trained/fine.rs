//! The weights of the fine level.
//!
//! The middle of each predicted number is a weighted sum of features, and so is the logarithm of
//! its spread; each class of objects (where it is and how it moves relative to the reference) has
//! its own weights. The rest are the shapes of the distributions and the probabilities of decisions
//! by context. `training::fine` fits all of it to a recording.
//!
//! Units: weights in 1/2,048; probabilities in 1/65,536, shapes in 1/65,535.

mod numbers;

/// The integer that stands for a weight of 1.
pub(in crate::pose) const WEIGHT_ONE: f32 = 2_048.0;
/// Features of a coordinate's middle.
pub(in crate::pose) const POSITION_FEATURES: usize = 20;
/// Features of a rotation's middle.
pub(in crate::pose) const TURN_FEATURES: usize = 16;
pub(in crate::pose) const SPREAD_FEATURES: usize = 16;
/// Numbers with a spread: x, y, z and the three parts of an orientation.
pub(in crate::pose) const SPREADS: usize = 6;
/// Shapes by spread, from small to large.
pub(in crate::pose) const SHAPES: usize = 8;
/// Pieces of a shape.
pub(in crate::pose) const PIECES: usize = 24;
/// Contexts of "is the object in the section?".
pub(in crate::pose) const MEMBERSHIP_CONTEXTS: usize = 210;
/// Contexts of the game's flag.
pub(in crate::pose) const FLAG_CONTEXTS: usize = 32;
/// Contexts of "is the position, or the turn, that of the baseline?".
pub(in crate::pose) const UNCHANGED_CONTEXTS: usize = 48;
/// Contexts of "is this the largest component of the quaternion?".
pub(in crate::pose) const LARGEST_CONTEXTS: usize = 48;

/// Classes of objects: see `MovementHistory::class`.
pub(in crate::pose) const CLASSES: usize = 13;
/// Objects close to the reference that rest on something that does not move with it.
pub(in crate::pose) const CLOSE_SUPPORTED: usize = 10;
/// The reference itself.
pub(in crate::pose) const REFERENCE: usize = 11;
/// Objects with only one acknowledged pose.
pub(in crate::pose) const SINGLE_POSE: usize = 12;
const _: () = assert!(SINGLE_POSE < CLASSES);

/// Entry i is the share of a distribution, in 1/65,535, that lies beyond the point beyond which
/// (i / [`PIECES`])^2 of Student's distribution lie; rising.
pub(in crate::pose) type TailShape = [u16; PIECES + 1];

/// All trained numbers of the fine level. Weights are in 1/2,048, probabilities in 1/65,536; a
/// class says where the object is and how it moves relative to the reference
/// ([`crate::pose::fine::movement`]).
///
/// - `position`, 2 x 13 classes x 20 features: middles of x and y, and of z.
/// - `turn`, 13 classes x 16 features: middles of rotations, about each axis.
/// - `spread`, 6 x 13 classes x 16 features: logarithms of the spreads of x, y, z and of the three
///   parts of an orientation.
/// - `shapes`, 4 x 8 shapes of 25 entries (`TailShape`): of x and y, of z, of the first two parts
///   and of the last part of an orientation; in each the shape for small spreads comes first.
/// - `membership`, 210 contexts: that the object is in the section.
/// - `flag`, 32 contexts: that the game's flag is set.
/// - `same_position`, `same_turn`, 48 contexts each: that it is that of the baseline.
/// - `largest`, 48 contexts: that the component predicted to be the largest is (then: the second,
///   the third).
#[derive(Clone, PartialEq, Debug)]
pub struct FineWeights {
    pub(in crate::pose) position: [[[i16; POSITION_FEATURES]; CLASSES]; 2],
    pub(in crate::pose) turn: [[i16; TURN_FEATURES]; CLASSES],
    pub(in crate::pose) spread: [[[i16; SPREAD_FEATURES]; CLASSES]; SPREADS],
    pub(in crate::pose) shapes: [[TailShape; SHAPES]; 4],
    pub(in crate::pose) membership: [u16; MEMBERSHIP_CONTEXTS],
    pub(in crate::pose) flag: [u16; FLAG_CONTEXTS],
    pub(in crate::pose) same_position: [u16; UNCHANGED_CONTEXTS],
    pub(in crate::pose) same_turn: [u16; UNCHANGED_CONTEXTS],
    pub(in crate::pose) largest: [u16; LARGEST_CONTEXTS],
}

/// The weights that both ends use.
pub(in crate::pose) static FINE_WEIGHTS: FineWeights = numbers::NUMBERS;
