//! The forecast of one object's pose: features, middles and spreads.
//!
//! The past of an object and what its neighbours did go in; for each number of its pose a middle, a
//! spread and a shape come out. What is already known of the pose counts for the rest: an error of
//! x for y, of the place for the turn, the turn for the height of what rolls.
//!
//! Units: [`super::UNITS_PER_METRE`], [`super::TURN_UNITS`]; spreads as logarithms to base 2.

mod attitude;
mod features;

use self::features::{along, directions, place_features, spread_features};
use super::coder::{Coder, Note};
use super::model::{PLACE_FEATURES, SPREAD_FEATURES, TURN_FEATURES, Trained, weigh};
use super::neighbours::{Around, Neighbour};
use super::past::Past;
use super::scene::Scene;
use super::shape::Curve;
use super::space::{Quaternion, Vector, exp2, length, log2, sub};
use super::walk::same_context;

/// Spreads are taken to be within these.
const SPREADS: (f32, f32) = (-2.5, 14.0);
/// Added to errors before their logarithm is taken: what rounding does.
const ROUNDING: f32 = 0.35;
/// From the length of an error to its part along an axis.
const AXIS: f32 = 0.577;

type Features = [[f32; PLACE_FEATURES]; 3];

/// The forecast of a pose, as it becomes known.
pub(super) struct Forecast<'a> {
    trained: &'static Trained,
    past: &'a Past,
    around: &'a Around,
    /// Features of x, y and z.
    place: Features,
    place_spread: [f32; SPREAD_FEATURES],
    turn_spread: [f32; SPREAD_FEATURES],
    /// Directions of movement and towards the reference, not quite of length 1 if short.
    directions: [Vector; 2],
    /// What the weights said for the coordinate that comes, and the logarithm of its spread.
    middle: f32,
    log_spread: f32,
    /// Of the place, as far as it is known: way and error.
    way: Vector,
    error: Vector,
    /// The foretold attitude, and the rotation that came about, with its features for training.
    foretold: Quaternion,
    turned: Vector,
    turn_error: f32,
    turn_features: [[f32; TURN_FEATURES]; 3],
    is_place_known: bool,
    is_turn_known: bool,
    /// Mean excess of errors over spreads, as logarithms: place and turn.
    pub(super) excess: [f32; 2],
}

impl<'a> Forecast<'a> {
    pub(super) fn new(scene: &Scene, past: &'a Past, around: &'a Around, flag: bool) -> Self {
        Self {
            trained: scene.trained,
            past,
            around,
            place: place_features(past, around),
            place_spread: spread_features(scene, past, around, flag, 0, |movement| movement.way),
            turn_spread: spread_features(scene, past, around, flag, 1, |movement| movement.turn),
            directions: directions(past),
            middle: 0.0,
            log_spread: 0.0,
            way: [0.0; 3],
            error: [0.0; 3],
            foretold: past.base.turn,
            turned: [0.0; 3],
            turn_error: 0.0,
            turn_features: [[0.0; TURN_FEATURES]; 3],
            is_place_known: false,
            is_turn_known: false,
            excess: [0.0; 2],
        }
    }

    /// What this leaves to its neighbours.
    pub(super) fn neighbour(&self) -> Neighbour {
        Neighbour {
            at: self.past.base.at,
            slip: sub(self.way, self.past.rigid.way),
            error: self.error,
            turn: sub(self.turned, self.past.reference[0].turn),
            sizes: [
                log2(length(self.error) * AXIS + ROUNDING),
                log2(self.turn_error * AXIS + ROUNDING),
            ],
        }
    }

    pub(super) fn same_place_context(&self) -> usize {
        let other = self.is_turn_known.then_some(self.turned == [0.0; 3]);
        same_context(self.past.own[0].way, self.past.own[2].way, other)
    }

    pub(super) fn same_turn_context(&self) -> usize {
        let other = self.is_place_known.then_some(self.way == [0.0; 3]);
        same_context(self.past.own[0].turn, self.past.own[2].turn, other)
    }

    /// Middle, spread and shape of x, y or z, relative to the base; those before it are known.
    pub(super) fn coordinate(&mut self, axis: usize) -> (f32, f32, &'static Curve) {
        let known = &self.error[..axis];
        for (feature, direction) in [16, 17].into_iter().zip(self.directions) {
            self.place[axis][feature] = along(direction, known) * direction[axis];
        }
        let class = self.past.class;
        let table = usize::from(axis == 2);
        self.middle = weigh(&self.trained.place[table][class], &self.place[axis]).clamp(-1e7, 1e7);
        self.log_spread = self.spread(axis, &self.place_spread);
        (
            self.middle,
            exp2(self.log_spread),
            self.trained.curves.of(table, self.log_spread),
        )
    }

    /// The coordinate came to this.
    pub(super) fn coordinate_is<C: Coder>(
        &mut self,
        axis: usize,
        way: f32,
        coder: &mut C,
        step: f32,
    ) {
        self.way[axis] = way;
        self.error[axis] = way - self.middle;
        if C::TAKES_NOTES {
            let (class, spread) = (self.past.class, exp2(self.log_spread));
            let (table, error) = (usize::from(axis == 2), self.error[axis]);
            coder.note(&Note::Middle {
                table,
                class,
                features: &self.place[axis],
                outcome: way,
                spread,
            });
            coder.note(&Note::Spread {
                part: axis,
                class,
                features: &self.place_spread,
                error,
                step,
            });
        }
        self.excess[0] += log2(self.error[axis].abs() + ROUNDING) - self.log_spread;
        self.place_spread[12] = self.excess[0] / (axis + 1) as f32 + 0.5 * self.excess[1];
    }

    pub(super) fn place_is_known(&mut self) {
        self.excess[0] *= 1.0 / 3.0;
        self.turn_spread[12] = self.excess[0];
        self.is_place_known = true;
    }

    /// It is where its base was.
    pub(super) fn place_stays(&mut self) {
        for axis in 0..3 {
            let (middle, ..) = self.coordinate(axis);
            self.error[axis] = -middle;
            self.excess[0] += log2(middle.abs() + ROUNDING) - self.log_spread;
        }
        self.place_is_known();
    }

    fn spread(&self, part: usize, features: &[f32; SPREAD_FEATURES]) -> f32 {
        weigh(&self.trained.spread[part][self.past.class], features).clamp(SPREADS.0, SPREADS.1)
    }
}
