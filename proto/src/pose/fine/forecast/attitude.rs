//! The part of a forecast that turns.
//!
//! A rotation since the base is foretold, as axis times angle; what is coded are the smallest three
//! parts of the attitude that it leads to, each with what the errors of those before it say.

use super::{AXIS, Forecast, ROUNDING};
use crate::pose::fine::TURN_UNITS;
use crate::pose::fine::coder::{Coder, Note};
use crate::pose::fine::lattice;
use crate::pose::fine::model::weigh;
use crate::pose::fine::number::number;
use crate::pose::fine::space::{
    Quaternion, Vector, compose, cross, exp2, length, log2, rotation, scale, sub, support,
    turn_between,
};
use crate::wire::WireError;

impl Forecast<'_> {
    /// Makes the forecast of the attitude.
    pub(in crate::pose::fine) fn foretell_turn(&mut self) {
        let past = self.past;
        let features = &mut self.turn_features;
        let mut set = |index: usize, turn: Vector| {
            for axis in 0..3 {
                features[axis][index] = turn[axis];
            }
        };
        for span in 0..4 {
            set(span, past.own[span].turn);
        }
        set(4, past.reference[0].turn);
        set(5, past.slip[0].turn);
        set(6, past.slip[2].turn);
        set(7, past.slip[3].turn);
        set(8, self.around.mean.turn);
        // What rolls on the ground, or around the reference.
        let roll = TURN_UNITS / past.half_edge.max(50.0);
        let inwards = scale(past.inwards, -roll / length(past.inwards).max(1.0));
        let on_ground = |way: Vector| [-way[1] * roll, way[0] * roll, 0.0];
        if self.is_place_known {
            set(9, on_ground(self.error));
            set(10, cross(inwards, self.error));
            set(11, cross(inwards, sub(self.way, past.rigid.way)));
            set(12, on_ground(self.way));
        }
        set(13, past.reference[1].turn);
        set(14, past.reference[2].turn);
        set(15, on_ground(past.own[0].way));
        let weights = &self.trained.turn[past.class];
        let [x, y, z] = &self.turn_features;
        let turn = scale(
            [weigh(weights, x), weigh(weights, y), weigh(weights, z)],
            1.0 / TURN_UNITS,
        );
        self.foretold = compose(rotation(turn), past.base.turn);
    }

    /// Reads or writes an orientation.
    pub(in crate::pose::fine) fn free_turn<C: Coder>(
        &mut self,
        bits: u8,
        turn: &mut [u16; 4],
        coder: &mut C,
    ) -> Result<(), WireError> {
        let (centre, step) = lattice::steps(bits);
        let fine = 1.0 / (step * 2.0 * TURN_UNITS); // Steps a unit.
        let first = self.spread(3, &self.turn_spread);
        let largest = self.largest(usize::from(turn[0]), exp2(first) + 0.5, coder);
        turn[0] = largest as u16;
        let sign = if self.foretold[largest] < 0.0 {
            -1.0
        } else {
            1.0
        };
        let mut others = (0..4)
            .filter(|index| *index != largest)
            .map(|index| self.foretold[index] * sign);
        let small: [f32; 3] = std::array::from_fn(|_| others.next().unwrap_or(0.0));
        let rest = Rest::new(small, self.foretold[largest]);
        let before = self.turn_spread[12];
        let mut errors = [0.0; 3];
        let mut excess = 0.0;
        for part in 0..3 {
            let log_spread = if part == 0 {
                first
            } else {
                self.spread(3 + part, &self.turn_spread)
            };
            let (spread, share) = (exp2(log_spread), rest.shares[part]);
            let middle = small[part] / step + centre + rest.shift(part, &errors);
            let curve = self
                .trained
                .curves
                .of(2 + usize::from(part == 2), log_spread);
            let steps = (spread * spread * share + 0.05).sqrt() * fine;
            let value = number(coder, i32::from(turn[1 + part]), middle, steps, curve);
            let fits = u16::try_from(value).ok().filter(|value| value >> bits == 0);
            turn[1 + part] = fits.ok_or(WireError::OutOfRange {
                what: "turn of a pose",
            })?;
            errors[part] = value as f32 - (small[part] / step + centre);
            let step = 1.0 / (fine * share.sqrt());
            let error = (value as f32 - middle) * step;
            if C::TAKES_NOTES {
                let (class, features) = (self.past.class, &self.turn_spread);
                coder.note(&Note::Spread {
                    part: 3 + part,
                    class,
                    features,
                    error,
                    step,
                });
            }
            excess += log2(error.abs() + ROUNDING) - log_spread;
            self.turn_spread[12] = before + excess / (part + 1) as f32;
        }
        self.turn_spread[12] = before;
        Ok(())
    }

    /// The attitude came to this.
    pub(in crate::pose::fine) fn turn_is<C: Coder>(&mut self, turn: Quaternion, coder: &mut C) {
        let log_spread = self.spread(3, &self.turn_spread);
        self.turned = scale(turn_between(self.past.base.turn, turn), TURN_UNITS);
        self.turn_error = length(turn_between(self.foretold, turn)) * TURN_UNITS;
        self.excess[1] = log2(self.turn_error * AXIS + 0.5) - log_spread;
        self.place_spread[12] = self.excess[1];
        if C::TAKES_NOTES {
            let (class, spread) = (self.past.class, exp2(log_spread));
            for (features, outcome) in self.turn_features.iter().zip(self.turned) {
                coder.note(&Note::Middle {
                    table: 2,
                    class,
                    features,
                    outcome,
                    spread,
                });
            }
        }
        self.is_turn_known = true;
        let roll = self.past.half_edge * self.past.support * (1.0 / TURN_UNITS);
        let rise = self.past.half_edge * (support(turn) - self.past.support);
        for (axis, rolled) in [self.turned[1] * roll, -self.turned[0] * roll, rise]
            .into_iter()
            .enumerate()
        {
            self.place[axis][18] = rolled;
        }
    }

    /// Which part is the largest: first the one that is foretold, then the second, then the third.
    fn largest<C: Coder>(&self, largest: usize, spread: f32, coder: &mut C) -> usize {
        let [x, y, z, w] = self.foretold;
        let sizes = [x.abs(), y.abs(), z.abs(), w.abs()];
        let mut order = [0, 1, 2, 3];
        order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
        for (rank, pair) in order.windows(2).enumerate() {
            let margin = (sizes[pair[0]] - sizes[pair[1]]) * (2.0 * TURN_UNITS) / spread;
            let context = 16 * rank + ((margin * 6.0) as usize).min(15);
            let outcome = coder.bit(largest == pair[0], self.trained.model.largest[context]);
            if C::TAKES_NOTES {
                coder.note(&Note::Context {
                    table: 4,
                    context,
                    outcome,
                });
            }
            if outcome {
                return pair[0];
            }
        }
        order[3]
    }
}

/// How errors of the smaller parts of a quaternion hang together if the rotation's error is the
/// same about all axes: it lies across the quaternion, so its covariance is one minus the
/// quaternion's square.
struct Rest {
    small: Vector,
    /// Of the variance that is left to each part when those before it are known.
    shares: Vector,
    /// One minus the squares of the first part, and of the first two.
    left: [f32; 2],
}

impl Rest {
    fn new(small: Vector, largest: f32) -> Self {
        let largest = largest.abs().max(0.3);
        let [a, b, c] = [
            small[0] * small[0],
            small[1] * small[1],
            small[2] * small[2],
        ];
        let left = [(1.0 - a).max(0.2), (1.0 - a - b).max(0.15)];
        let shares = [
            left[0],
            left[1] / left[0],
            largest * largest / (largest * largest + c),
        ];
        Self {
            small,
            shares,
            left,
        }
    }

    /// What the errors so far say of the next one.
    fn shift(&self, part: usize, errors: &Vector) -> f32 {
        let [a, b, c] = self.small;
        match part {
            0 => 0.0,
            1 => -b * a / self.left[0] * errors[0],
            _ => -c * (a * errors[0] + b * errors[1]) / self.left[1],
        }
    }
}
