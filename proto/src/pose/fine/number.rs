//! Whole numbers around a prediction.
//!
//! A number, and the middle and the spread of its distribution, become decisions, and back: on
//! which side of the middle the number lies, about how many spreads away, and which of the numbers
//! there it is. The probabilities are those of a trained curve ([`super::tail_curve`]).
//!
//! # Bits
//! B(d) is the share of the curve beyond d spreads: `beyond(d * (1 / spread))`. A bit of p is one
//! with a probability of round(65,536 p), within 16 to 65,520, in 65,536 (rounded to even at
//! halves: p + 128 in `f32`, whose lowest bit is 1/65,536).
//! 1. nearest = floor(middle + 0.5); border = (nearest - middle) - 0.5. A bit of B(border): whether
//!    value >= nearest. If it is 1, n = value - nearest; if it is 0, n = nearest - 1 - value, and
//!    border changes its sign. From here on S(n) = B(border + n), the share at or above n.
//! 2. low = 0. For r = 0.75, 1.5, 3, 6, 12 and so on: high = floor(r spread) + 1, at least low + 1.
//!    If high is 2^30 or more, it is 2^30 and S(high) counts as 0; go on with 3. Otherwise a bit of
//!    S(high) / S(low): whether n >= high. If it is 1, low = high; if it is 0, go on with 3.
//! 3. While high - low > 32: half = low + floor((high - low) / 2); a bit of (S(half) - S(high)) /
//!    (S(low) - S(high)), or of 0.5 if the divisor is not above 0: whether n >= half. If it is 1,
//!    low = half; if it is 0, high = half.
//! 4. count = high - low. If it is above 1, n - low is a symbol of 2^15 parts. Symbol i begins at 0
//!    for i = 0 and ends at 2^15 for the last one. In between, if S(low) - S(high) > 0.02 S(low),
//!    it begins at 2 i + min(rest, floor((S(low) - S(low + i)) (rest / (S(low) - S(high))))), where
//!    rest = 2^15 - 2 count; if not, at floor(i 2^15 / count).
//!
//! The result is clamped to 2^30 on either side.
//!
//! Cost: 3 to 6 decisions, each some 15 ns.

use super::decision_coder::{DecisionCoder, TOTAL};
use super::tail_curve::TailCurve;
use super::vector::floor;

/// Steps away from the middle, in spreads; beyond the last they double.
const STEPS: [f32; 3] = [0.75, 1.5, 3.0];
/// Numbers that one symbol tells apart, at most.
const MOST: i64 = 32;
/// A range of numbers has separate probabilities only if its share of all that lies farther out is
/// larger than this: below, rounding would decide.
const WIDE: f32 = 0.02;
/// Numbers lie nearer to the middle than this.
const FARTHEST: i64 = 1 << 30;

/// A probability for the coder. It is rounded by adding 128, in whose neighbourhood the last bit of
/// an `f32` is 1/65,536: this is called often, and a cast takes several times as long. NaN becomes
/// some probability as well.
#[inline]
fn probability(p: f32) -> u16 {
    const ROUNDER: f32 = 128.0;
    (p + ROUNDER).to_bits().wrapping_sub(ROUNDER.to_bits()).clamp(16, 65_520) as u16
}

/// Reads or writes `value`, whose distribution has this middle, spread and curve.
pub(super) fn code_number<C: DecisionCoder>(
    coder: &mut C,
    value: i32,
    middle: f32,
    spread: f32,
    curve: &TailCurve,
) -> i32 {
    let inverse = 1.0 / spread;
    let beyond = |distance: f32| curve.beyond(distance * inverse);
    let nearest = floor(middle + 0.5);
    let nearest_wide = i64::from(nearest);
    // Half a step below the nearest number: every number lies up or down from there, and is counted
    // from zero on either side.
    let border = (nearest as f32 - middle) - 0.5;
    let value = i64::from(value) - nearest_wide;
    let is_up = coder.bit(value >= 0, probability(beyond(border)));
    let border = if is_up { border } else { -border };
    let steps = code_distance(coder, if is_up { value } else { -1 - value }, spread, |steps| {
        beyond(border + steps as f32)
    });
    let value = if is_up { steps } else { -1 - steps };
    (nearest_wide + value).clamp(-FARTHEST, FARTHEST) as i32
}

/// Reads or writes a number from zero on; `beyond` gives the share that lies at or above a number.
fn code_distance<C: DecisionCoder>(
    coder: &mut C,
    value: i64,
    spread: f32,
    beyond: impl Fn(i64) -> f32,
) -> i64 {
    let mut low = 0;
    let mut low_share = beyond(0);
    let mut reach = 0.0;
    let mut steps = STEPS.iter();
    let (mut high, mut high_share) = loop {
        reach = steps.next().copied().unwrap_or(reach * 2.0);
        let next = ((reach * spread) as i64 + 1).max(low + 1);
        if next >= FARTHEST {
            break (FARTHEST, 0.0);
        }
        let share = beyond(next);
        if !coder.bit(value >= next, probability(share / low_share)) {
            break (next, share);
        }
        (low, low_share) = (next, share);
    };
    while high - low > MOST {
        let middle = low + (high - low) / 2;
        let share = beyond(middle);
        let width = low_share - high_share;
        let p = if width > 0.0 { (share - high_share) / width } else { 0.5 };
        if coder.bit(value >= middle, probability(p)) {
            (low, low_share) = (middle, share);
        } else {
            (high, high_share) = (middle, share);
        }
    }
    let count = (high - low) as u32;
    let width = low_share - high_share;
    // Every number gets two parts, one of which rounding may take away again. The rest is divided
    // by the curve if it is precise enough there, else evenly.
    let is_known = width > low_share * WIDE;
    let rest = TOTAL - 2 * count;
    let scale = if is_known { rest as f32 / width } else { 0.0 };
    let below = |index: u32| match index {
        0 => 0,
        _ if index == count => TOTAL,
        _ if is_known => {
            2 * index + (((low_share - beyond(low + i64::from(index))) * scale) as u32).min(rest)
        }
        _ => index * TOTAL / count,
    };
    low + i64::from(coder.choose((value - low).clamp(0, i64::from(count) - 1) as u32, count, below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::{RangeDecoder, RangeEncoder};
    use crate::pose::fine::tail_curve::TailCurves;
    use crate::pose::trained::fine::FINE_WEIGHTS;

    #[test]
    fn any_number_is_read_back_whatever_was_predicted() {
        let mut rng = fastrand::Rng::with_seed(1);
        let curves = TailCurves::new(&FINE_WEIGHTS.shapes);
        for round in 0..20_000 {
            let width = rng.u32(1..30);
            let value = rng.i32(-(1 << width)..1 << width) >> rng.u32(0..4);
            let spread = 0.2 * (1.0 + rng.f32() * 2.0).powi(rng.i32(0..16));
            let off = spread * rng.f32() * if rng.bool() { 3.0 } else { 3_000.0 };
            let middle = (value as f32 + off).clamp(-1e8, 1e8);
            let curve = curves.of(rng.usize(0..4), rng.f32() * 12.0 - 2.0);
            let mut bytes = Vec::new();
            let mut writer = RangeEncoder::new(&mut bytes);
            code_number(&mut writer, value, middle, spread, curve);
            writer.finish();
            let mut decoder = RangeDecoder::new(&bytes);
            let read = code_number(&mut decoder, 0, middle, spread, curve);
            assert_eq!(read, value, "round {round}, middle {middle}, spread {spread}");
            assert_eq!(decoder.finish(), Ok(()));
        }
    }

    /// A coder that only checks that every number has a nonzero probability.
    struct ShareCheck(bool);

    impl DecisionCoder for ShareCheck {
        fn bit(&mut self, bit: bool, _probability: u16) -> bool {
            bit
        }

        fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
            self.0 &= below(0) == 0
                && below(count) == TOTAL
                && (0..count).all(|index| below(index) < below(index + 1));
            number
        }
    }

    #[test]
    fn every_number_has_a_nonzero_probability() {
        let mut rng = fastrand::Rng::with_seed(2);
        let curves = TailCurves::new(&FINE_WEIGHTS.shapes);
        for round in 0..30_000 {
            let spread = 0.2 * (1.0 + rng.f32() * 2.0).powi(rng.i32(0..16));
            let off = spread
                * (1.0 + rng.f32()).powi(rng.i32(0..30))
                * if rng.bool() { 1.0 } else { -1.0 };
            let curve = curves.of(rng.usize(0..4), rng.f32() * 12.0 - 2.0);
            let mut check = ShareCheck(true);
            code_number(&mut check, off.clamp(-1e9, 1e9) as i32, rng.f32(), spread, curve);
            assert!(check.0, "round {round}, spread {spread}, {off} off");
        }
    }
}
