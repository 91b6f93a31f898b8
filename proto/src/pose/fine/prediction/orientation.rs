//! The prediction of an orientation.
//!
//! The rotation since the baseline is predicted as axis times angle. The smallest three parts of
//! the orientation are coded relative to the resulting quaternion; the errors of the parts before
//! improve the prediction of the next one.

use super::super::weights::weighted_sum;
use super::{AXIS, KNOWN_ERRORS, PosePrediction, ROUNDING};
use crate::pose::fine::TURN_UNITS;
use crate::pose::fine::conversion;
use crate::pose::fine::decision_coder::DecisionCoder;
use crate::pose::fine::number::code_number;
use crate::pose::fine::vector::{
    Vector, cross, exp2, length, log2, rotation, scale, sub, support, turn_between,
};
use crate::pose::quaternion::{Quaternion, compose};
use crate::wire::WireError;

impl PosePrediction<'_> {
    pub(in crate::pose::fine) fn predict_turn(&mut self) {
        let movement = self.movement;
        let features = &mut self.turn_features;
        let mut set = |index: usize, turn: Vector| {
            for axis in 0..3 {
                features[axis][index] = turn[axis];
            }
        };
        for span in 0..4 {
            set(span, movement.own[span].turn);
        }
        set(4, movement.reference[0].turn);
        set(5, movement.slip[0].turn);
        set(6, movement.slip[2].turn);
        set(7, movement.slip[3].turn);
        set(8, self.around.mean.turn);
        // The turn of what rolls on the ground, or around the reference.
        let roll = TURN_UNITS / movement.half_edge.max(50.0);
        let inwards = scale(movement.inwards, -roll / length(movement.inwards).max(1.0));
        let on_ground =
            |displacement: Vector| [-displacement[1] * roll, displacement[0] * roll, 0.0];
        if self.is_position_known {
            set(9, on_ground(self.error));
            set(10, cross(inwards, self.error));
            set(11, cross(inwards, sub(self.displacement, movement.rigid.displacement)));
            set(12, on_ground(self.displacement));
        }
        set(13, movement.reference[1].turn);
        set(14, movement.reference[2].turn);
        set(15, on_ground(movement.own[0].displacement));
        let weights = &self.weights.turn[movement.class];
        let [x, y, z] = &self.turn_features;
        let turn = scale(
            [weighted_sum(weights, x), weighted_sum(weights, y), weighted_sum(weights, z)],
            1.0 / TURN_UNITS,
        );
        self.predicted_turn = compose(rotation(turn), movement.baseline.turn);
    }

    /// Reads or writes an orientation.
    pub(in crate::pose::fine) fn code_free_turn<C: DecisionCoder>(
        &mut self,
        bits: u8,
        turn: &mut [u16; 4],
        coder: &mut C,
    ) -> Result<(), WireError> {
        let (centre, step) = conversion::quaternion_steps(bits);
        let fine = 1.0 / (step * 2.0 * TURN_UNITS); // Steps a unit: 1 for 9 bits.
        let first = self.spread(3, &self.turn_spread);
        let largest = self.code_largest(usize::from(turn[0]), exp2(first) + 0.5, coder);
        turn[0] = largest as u16;
        let sign = if self.predicted_turn[largest] < 0.0 { -1.0 } else { 1.0 };
        let mut others =
            (0..4).filter(|index| *index != largest).map(|index| self.predicted_turn[index] * sign);
        let small: [f32; 3] = std::array::from_fn(|_| others.next().unwrap_or(0.0));
        let correlation = ErrorCorrelation::new(small, self.predicted_turn[largest]);
        let before = self.turn_spread[KNOWN_ERRORS];
        let mut errors = [0.0; 3];
        let mut excess = 0.0;
        for part in 0..3 {
            let log_spread =
                if part == 0 { first } else { self.spread(3 + part, &self.turn_spread) };
            let spread = exp2(log_spread);
            let share = correlation.shares[part];
            let middle = small[part] / step + centre + correlation.expected_error(part, &errors);
            let curve = self.weights.curves.of(2 + usize::from(part == 2), log_spread);
            let steps = (spread * spread * share + 0.05).sqrt() * fine;
            let value = code_number(coder, i32::from(turn[1 + part]), middle, steps, curve);
            let fits = u16::try_from(value).ok().filter(|value| value >> bits == 0);
            turn[1 + part] = fits.ok_or(WireError::OutOfRange { what: "turn of a pose" })?;
            errors[part] = value as f32 - (small[part] / step + centre);
            let step = 1.0 / (fine * share.sqrt());
            let error = (value as f32 - middle) * step;
            if C::TRAINS {
                let class = self.movement.class;
                let features = &self.turn_spread;
                coder.sample_spread(3 + part, class, features, error, step);
            }
            excess += log2(error.abs() + ROUNDING) - log_spread;
            self.turn_spread[KNOWN_ERRORS] = before + excess / (part + 1) as f32;
        }
        self.turn_spread[KNOWN_ERRORS] = before;
        Ok(())
    }

    /// Takes the orientation that was coded.
    pub(in crate::pose::fine) fn set_turn<C: DecisionCoder>(
        &mut self,
        turn: Quaternion,
        coder: &mut C,
    ) {
        let log_spread = self.spread(3, &self.turn_spread);
        self.turned = scale(turn_between(self.movement.baseline.turn, turn), TURN_UNITS);
        self.turn_error = length(turn_between(self.predicted_turn, turn)) * TURN_UNITS;
        self.excess[1] = log2(self.turn_error * AXIS + 0.5) - log_spread;
        self.position_spread[KNOWN_ERRORS] = self.excess[1];
        if C::TRAINS {
            let class = self.movement.class;
            let spread = exp2(log_spread);
            for (features, outcome) in self.turn_features.iter().zip(self.turned) {
                coder.sample_middle(2, class, features, outcome, spread);
            }
        }
        self.is_turn_known = true;
        let roll = self.movement.half_edge * self.movement.support * (1.0 / TURN_UNITS);
        let rise = self.movement.half_edge * (support(turn) - self.movement.support);
        for (axis, rolled) in
            [self.turned[1] * roll, -self.turned[0] * roll, rise].into_iter().enumerate()
        {
            self.position_features[axis][18] = rolled;
        }
    }

    /// Which part is the largest: first whether it is the one predicted to be, then whether it is
    /// the second, then the third.
    fn code_largest<C: DecisionCoder>(&self, largest: usize, spread: f32, coder: &mut C) -> usize {
        let [x, y, z, w] = self.predicted_turn;
        let sizes = [x.abs(), y.abs(), z.abs(), w.abs()];
        let mut by_size = [0, 1, 2, 3];
        by_size.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
        for (rank, pair) in by_size.windows(2).enumerate() {
            let margin = (sizes[pair[0]] - sizes[pair[1]]) * (2.0 * TURN_UNITS) / spread;
            let context = 16 * rank + ((margin * 6.0) as usize).min(15);
            let outcome = coder.bit(largest == pair[0], self.weights.trained.largest[context]);
            coder.sample_context(4, context, outcome);
            if outcome {
                return pair[0];
            }
        }
        by_size[3]
    }
}

/// How errors of the smaller parts of a quaternion correlate if the rotation's error is the same
/// about all axes: the error is orthogonal to the quaternion, so its covariance is one minus the
/// quaternion's outer square.
struct ErrorCorrelation {
    small: Vector,
    /// The share of the variance that is left to each part when those before it are known.
    shares: Vector,
    /// One minus the squares of the first part, and of the first two.
    left: [f32; 2],
}

impl ErrorCorrelation {
    fn new(small: Vector, largest: f32) -> Self {
        let largest = largest.abs().max(0.3);
        let [a, b, c] = [small[0] * small[0], small[1] * small[1], small[2] * small[2]];
        let left = [(1.0 - a).max(0.2), (1.0 - a - b).max(0.15)];
        let shares = [left[0], left[1] / left[0], largest * largest / (largest * largest + c)];
        Self { small, shares, left }
    }

    /// The expected error of a part, given those of the parts before it.
    fn expected_error(&self, part: usize, errors: &Vector) -> f32 {
        let [a, b, c] = self.small;
        match part {
            0 => 0.0,
            1 => -b * a / self.left[0] * errors[0],
            _ => -c * (a * errors[0] + b * errors[1]) / self.left[1],
        }
    }
}
