//! The prediction of one object's pose: middles and spreads of its numbers.
//!
//! How the object moved and what its neighbours did go in; for each number of its pose a middle, a
//! spread and a distribution come out. The parts of the pose that are already coded improve the
//! prediction of the others: the error of x that of y, the error of the position that of the turn,
//! and the turn that of the height of a cube that rolls.
//!
//! Units: 1/512 m, and 1/180.7 of a radian, about a step of 9 bits of a quaternion's part; spreads
//! as logarithms to base 2.

pub mod features;
pub mod orientation;

use self::features::{along, directions, position_features, spread_features};
use super::decision_coder::DecisionCoder;
use super::movement::MovementHistory;
use super::neighbours::{Neighbour, NeighbourMeans};
use super::state::FineState;
use super::tail_curve::TailCurve;
use super::vector::{Vector, exp2, length, log2, sub};
use super::weights::{PreparedWeights, weighted_sum};
use crate::pose::quaternion::Quaternion;
use crate::pose::trained::fine::{POSITION_FEATURES, SPREAD_FEATURES, TURN_FEATURES};

const SPREAD_LIMITS: (f32, f32) = (-2.5, 14.0);
/// Added to errors before their logarithm is taken: the effect of rounding.
const ROUNDING: f32 = 0.35;
/// The part of an error's length along one axis, on average.
const AXIS: f32 = 0.577;
/// The index of the spread feature that holds the errors of the parts already coded.
const KNOWN_ERRORS: usize = 12;

/// Of x, y and z.
type PositionFeatures = [[f32; POSITION_FEATURES]; 3];

/// The prediction of a pose while its parts are coded one after the other.
pub(super) struct PosePrediction<'a> {
    weights: &'static PreparedWeights,
    movement: &'a MovementHistory,
    around: &'a NeighbourMeans,
    position_features: PositionFeatures,
    position_spread: [f32; SPREAD_FEATURES],
    turn_spread: [f32; SPREAD_FEATURES],
    /// Directions of movement and towards the reference; shorter than 1 for short distances.
    directions: [Vector; 2],
    /// Of the coordinate that is coded next.
    middle: f32,
    log_spread: f32,
    /// Of the coordinates that are coded.
    displacement: Vector,
    error: Vector,
    predicted_turn: Quaternion,
    /// The rotation since the baseline, once it is coded.
    turned: Vector,
    turn_error: f32,
    turn_features: [[f32; TURN_FEATURES]; 3],
    is_position_known: bool,
    is_turn_known: bool,
    /// How much larger than the spreads the errors were on average, as a power of two: position and
    /// turn.
    pub(super) excess: [f32; 2],
}

impl<'a> PosePrediction<'a> {
    pub(super) fn new(
        state: &FineState,
        movement: &'a MovementHistory,
        around: &'a NeighbourMeans,
        flag: bool,
    ) -> Self {
        Self {
            weights: state.weights,
            movement,
            around,
            position_features: position_features(movement, around),
            position_spread: spread_features(state, movement, around, flag, 0, |span| {
                span.displacement
            }),
            turn_spread: spread_features(state, movement, around, flag, 1, |span| span.turn),
            directions: directions(movement),
            middle: 0.0,
            log_spread: 0.0,
            displacement: [0.0; 3],
            error: [0.0; 3],
            predicted_turn: movement.baseline.turn,
            turned: [0.0; 3],
            turn_error: 0.0,
            turn_features: [[0.0; TURN_FEATURES]; 3],
            is_position_known: false,
            is_turn_known: false,
            excess: [0.0; 2],
        }
    }

    /// What the predictions of its neighbours use.
    pub(super) fn to_neighbour(&self) -> Neighbour {
        Neighbour {
            at: self.movement.baseline.at,
            slip: sub(self.displacement, self.movement.rigid.displacement),
            error: self.error,
            turn: sub(self.turned, self.movement.reference[0].turn),
            sizes: [
                log2(length(self.error) * AXIS + ROUNDING),
                log2(self.turn_error * AXIS + ROUNDING),
            ],
        }
    }

    pub(super) fn same_position_context(&self) -> usize {
        let other = self.is_turn_known.then_some(self.turned == [0.0; 3]);
        unchanged_context(
            self.movement.own[0].displacement,
            self.movement.own[2].displacement,
            other,
        )
    }

    pub(super) fn same_turn_context(&self) -> usize {
        let other = self.is_position_known.then_some(self.displacement == [0.0; 3]);
        unchanged_context(self.movement.own[0].turn, self.movement.own[2].turn, other)
    }

    /// Middle, spread and distribution of x, y or z, relative to the baseline; the coordinates
    /// before it are known.
    pub(super) fn predict_coordinate(&mut self, axis: usize) -> (f32, f32, &'static TailCurve) {
        let known = &self.error[..axis];
        for (feature, direction) in [16, 17].into_iter().zip(self.directions) {
            self.position_features[axis][feature] = along(direction, known) * direction[axis];
        }
        let class = self.movement.class;
        let table = usize::from(axis == 2);
        self.middle =
            weighted_sum(&self.weights.position[table][class], &self.position_features[axis])
                .clamp(-1e7, 1e7);
        self.log_spread = self.spread(axis, &self.position_spread);
        (self.middle, exp2(self.log_spread), self.weights.curves.of(table, self.log_spread))
    }

    /// Takes a coordinate that was coded, relative to the baseline.
    pub(super) fn set_coordinate<C: DecisionCoder>(
        &mut self,
        axis: usize,
        displacement: f32,
        coder: &mut C,
        step: f32,
    ) {
        self.displacement[axis] = displacement;
        self.error[axis] = displacement - self.middle;
        if C::TRAINS {
            let class = self.movement.class;
            let spread = exp2(self.log_spread);
            let table = usize::from(axis == 2);
            let error = self.error[axis];
            let features = &self.position_features[axis];
            coder.sample_middle(table, class, features, displacement, spread);
            coder.sample_spread(axis, class, &self.position_spread, error, step);
        }
        self.excess[0] += log2(self.error[axis].abs() + ROUNDING) - self.log_spread;
        self.position_spread[KNOWN_ERRORS] =
            self.excess[0] / (axis + 1) as f32 + 0.5 * self.excess[1];
    }

    /// All coordinates were coded.
    pub(super) fn finish_position(&mut self) {
        self.excess[0] *= 1.0 / 3.0;
        self.turn_spread[KNOWN_ERRORS] = self.excess[0];
        self.is_position_known = true;
    }

    /// The position is that of the baseline.
    pub(super) fn set_position_unchanged(&mut self) {
        for axis in 0..3 {
            let (middle, ..) = self.predict_coordinate(axis);
            self.error[axis] = -middle;
            self.excess[0] += log2(middle.abs() + ROUNDING) - self.log_spread;
        }
        self.finish_position();
    }

    fn spread(&self, part: usize, features: &[f32; SPREAD_FEATURES]) -> f32 {
        weighted_sum(&self.weights.spread[part][self.movement.class], features)
            .clamp(SPREAD_LIMITS.0, SPREAD_LIMITS.1)
    }
}

/// The context of "is it unchanged?": the size of the movements over the shortest span and over
/// half of the longest, and whether the other one of position and turn is unchanged, if it is
/// known.
fn unchanged_context(shortest: Vector, half: Vector, other_is_unchanged: Option<bool>) -> usize {
    let size = |movement: Vector| {
        let length = length(movement);
        usize::from(length > 0.0) + usize::from(length > 6.1) + usize::from(length > 20.0)
    };
    (size(half) * 4 + size(shortest)) * 3
        + other_is_unchanged.map_or(0, |is_unchanged| 1 + usize::from(is_unchanged))
}
