//! The trained numbers of the fine level.
//!
//! A forecast's middle is a weighted sum of features, and so is the logarithm of its spread: one
//! set of weights for each class of objects (where it is and how it moves relative to the
//! reference). What is left is a shape and probabilities by context. [`PRIORS`] is what both ends
//! use; `cargo bench --bench cubes-trace -- --train FILE` makes it.
//!
//! Units: weights in 1/[`ONE`]; probabilities and shapes in 1/65536.

use std::sync::LazyLock;

use super::shape::{Curves, PIECES, Shape};

/// Of a weight.
pub const ONE: f32 = 2_048.0;
/// Classes of objects: see `Past::class`.
pub const CLASSES: usize = 13;
/// What a coordinate is foretold from.
pub const PLACE_FEATURES: usize = 20;
/// What a rotation is foretold from.
pub const TURN_FEATURES: usize = 16;
/// What a spread is foretold from.
pub const SPREAD_FEATURES: usize = 16;
/// x, y, z and the three parts of an orientation.
pub const PARTS: usize = 6;
/// Shapes for small spreads to large ones.
pub const SHAPES: usize = 8;
/// Contexts of "is it in?".
pub const MEMBER_CONTEXTS: usize = 210;
/// Contexts of the game's flag.
pub const FLAG_CONTEXTS: usize = 32;
/// Contexts of "has it stayed?".
pub const SAME_CONTEXTS: usize = 48;
/// Contexts of "is this the largest part?".
pub const LARGEST_CONTEXTS: usize = 48;

/// All trained numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// For x and y, and for z.
    pub place: [[[i16; PLACE_FEATURES]; CLASSES]; 2],
    /// For all axes.
    pub turn: [[i16; TURN_FEATURES]; CLASSES],
    /// For each part.
    pub spread: [[[i16; SPREAD_FEATURES]; CLASSES]; PARTS],
    /// For x and y, z, the first two and the last part of an orientation.
    pub shapes: [[Shape; SHAPES]; 4],
    /// Is the object in?
    pub member: [u16; MEMBER_CONTEXTS],
    /// Is the game's flag set?
    pub flag: [u16; FLAG_CONTEXTS],
    /// Has the place stayed?
    pub same_place: [u16; SAME_CONTEXTS],
    /// Has the turn stayed?
    pub same_turn: [u16; SAME_CONTEXTS],
    /// Is it the part that is foretold to be the largest (the second, the third)?
    pub largest: [u16; LARGEST_CONTEXTS],
}

/// What both ends use.
pub static PRIORS: Model = super::priors::PRIORS;

/// Rows of weights, one for each class.
type Rows<const N: usize> = [[f32; N]; CLASSES];

/// A model made ready for use.
#[derive(Debug)]
pub(super) struct Trained {
    /// What else there is.
    pub(super) model: Model,
    pub(super) place: [Rows<PLACE_FEATURES>; 2],
    pub(super) turn: Rows<TURN_FEATURES>,
    pub(super) spread: [Rows<SPREAD_FEATURES>; PARTS],
    pub(super) curves: Curves,
}

impl Trained {
    /// Of [`PRIORS`].
    pub(super) fn priors() -> &'static Self {
        static TRAINED: LazyLock<Trained> = LazyLock::new(|| Trained::new(PRIORS.clone()));
        &TRAINED
    }

    pub(super) fn new(model: Model) -> Self {
        Self {
            place: model.place.each_ref().map(plain),
            turn: plain(&model.turn),
            spread: model.spread.each_ref().map(plain),
            curves: Curves::new(&model.shapes),
            model,
        }
    }
}

fn plain<const N: usize>(rows: &[[i16; N]; CLASSES]) -> Rows<N> {
    rows.map(|row| row.map(|weight| f32::from(weight) / ONE))
}

/// Sums that run side by side.
const LANES: usize = 4;

/// The weighted sum: in four lanes, which are added up at the end, whatever the machine.
#[inline]
pub(super) fn weigh<const N: usize>(weights: &[f32; N], features: &[f32; N]) -> f32 {
    const { assert!(N.is_multiple_of(LANES)) };
    let mut lanes = [0.0; LANES];
    for (weights, features) in weights
        .chunks_exact(LANES)
        .zip(features.chunks_exact(LANES))
    {
        for lane in 0..LANES {
            lanes[lane] += weights[lane] * features[lane];
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

impl Model {
    /// What training starts from: everything goes on as it did, near the reference with it.
    pub fn untrained() -> Self {
        let one = ONE as i16;
        let student: Shape = std::array::from_fn(|i| (i * i * 65_535 / (PIECES * PIECES)) as u16);
        let mut model = Self {
            place: [[[0; PLACE_FEATURES]; CLASSES]; 2],
            turn: [[0; TURN_FEATURES]; CLASSES],
            spread: [[[0; SPREAD_FEATURES]; CLASSES]; PARTS],
            shapes: [[student; SHAPES]; 4],
            member: [1 << 15; MEMBER_CONTEXTS],
            flag: [1 << 15; FLAG_CONTEXTS],
            same_place: [1 << 12; SAME_CONTEXTS],
            same_turn: [1 << 12; SAME_CONTEXTS],
            largest: [50_000; LARGEST_CONTEXTS],
        };
        for class in 0..CLASSES {
            let is_near = class < 6 || class == super::past::NEAR_SUPPORTED;
            let feature = if is_near { 4 } else { 2 };
            model.place[0][class][feature] = one;
            model.place[1][class][feature] = one;
            model.turn[class][feature] = one;
            for part in &mut model.spread {
                part[class][0] = 4 * one;
            }
        }
        model
    }
}
