//! Whole numbers around a forecast.
//!
//! A number, the middle and the spread of its distribution go in; decisions come out, and back: on
//! which side of the middle it lies, about how many spreads away, and which of the numbers there it
//! is. The probabilities are those of a trained [`Curve`].
//!
//! Cost: 3 to 6 decisions, each some 15 ns.

use super::coder::{Coder, TOTAL};
use super::shape::Curve;
use super::space::floor;

/// Steps away from the middle, in spreads; beyond the last they double.
const STEPS: [f32; 3] = [0.75, 1.5, 3.0];
/// As many numbers are told apart at once.
const MOST: i64 = 32;
/// How wide a share is, as a part of all that lies farther out, if its parts are told apart by more
/// than rounding.
const WIDE: f32 = 0.02;
/// SentDatagrams lie nearer to the middle than this.
const FARTHEST: i64 = 1 << 30;

/// A probability for the coder: rounded by adding 128, whose last bit counts 65536ths, since this
/// is asked often and a cast takes several times as long. What is no number is as good as one.
#[inline]
fn chance(p: f32) -> u16 {
    const ROUNDER: f32 = 128.0;
    (p + ROUNDER)
        .to_bits()
        .wrapping_sub(ROUNDER.to_bits())
        .clamp(16, 65_520) as u16
}

/// Reads or writes `value`, of which the middle and the spread are foretold.
pub(super) fn number<C: Coder>(
    coder: &mut C,
    value: i32,
    middle: f32,
    spread: f32,
    curve: &Curve,
) -> i32 {
    let inverse = 1.0 / spread;
    let beyond = |distance: f32| curve.beyond(distance * inverse);
    let nearest = floor(middle + 0.5);
    let base = i64::from(nearest);
    // Half a step below the nearest number: everything is up or down from there, each way counted
    // from zero.
    let border = (nearest as f32 - middle) - 0.5;
    let value = i64::from(value) - base;
    let is_up = coder.bit(value >= 0, chance(beyond(border)));
    let border = if is_up { border } else { -border };
    let steps = distance(
        coder,
        if is_up { value } else { -1 - value },
        spread,
        |steps| beyond(border + steps as f32),
    );
    let value = if is_up { steps } else { -1 - steps };
    (base + value).clamp(-FARTHEST, FARTHEST) as i32
}

/// Reads or writes a number from zero on, of which `beyond` tells how much lies above.
fn distance<C: Coder>(coder: &mut C, value: i64, spread: f32, beyond: impl Fn(i64) -> f32) -> i64 {
    let (mut low, mut low_share) = (0, beyond(0));
    let mut reach = 0.0;
    let mut steps = STEPS.iter();
    let (mut high, mut high_share) = loop {
        reach = steps.next().copied().unwrap_or(reach * 2.0);
        let next = ((reach * spread) as i64 + 1).max(low + 1);
        if next >= FARTHEST {
            break (FARTHEST, 0.0);
        }
        let share = beyond(next);
        if !coder.bit(value >= next, chance(share / low_share)) {
            break (next, share);
        }
        (low, low_share) = (next, share);
    };
    while high - low > MOST {
        let middle = low + (high - low) / 2;
        let share = beyond(middle);
        let width = low_share - high_share;
        let p = if width > 0.0 {
            (share - high_share) / width
        } else {
            0.5
        };
        if coder.bit(value >= middle, chance(p)) {
            (low, low_share) = (middle, share);
        } else {
            (high, high_share) = (middle, share);
        }
    }
    let count = (high - low) as u32;
    let width = low_share - high_share;
    // Where shares are known well enough, each number has its own of what is left when all have got
    // two parts: one that rounding may take away again. Else all are alike.
    let is_confirmed = width > low_share * WIDE;
    let rest = TOTAL - 2 * count;
    let scale = if is_confirmed {
        rest as f32 / width
    } else {
        0.0
    };
    let below = |index: u32| match index {
        0 => 0,
        _ if index == count => TOTAL,
        _ if is_confirmed => {
            2 * index + (((low_share - beyond(low + i64::from(index))) * scale) as u32).min(rest)
        }
        _ => index * TOTAL / count,
    };
    low + i64::from(coder.among(
        (value - low).clamp(0, i64::from(count) - 1) as u32,
        count,
        below,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::{Decoder, Encoder};
    use crate::pose::fine::coder::Writer;
    use crate::pose::fine::model::PRIORS;
    use crate::pose::fine::shape::Curves;

    #[test]
    fn any_number_comes_back_whatever_was_foretold() {
        let mut rng = fastrand::Rng::with_seed(1);
        let curves = Curves::new(&PRIORS.shapes);
        for round in 0..20_000 {
            let width = rng.u32(1..30);
            let value = rng.i32(-(1 << width)..1 << width) >> rng.u32(0..4);
            let spread = 0.2 * (1.0 + rng.f32() * 2.0).powi(rng.i32(0..16));
            let off = spread * rng.f32() * if rng.bool() { 3.0 } else { 3_000.0 };
            let middle = (value as f32 + off).clamp(-1e8, 1e8);
            let curve = curves.of(rng.usize(0..4), rng.f32() * 12.0 - 2.0);
            let mut bytes = Vec::new();
            let mut writer = Writer::new(Encoder::new(&mut bytes));
            number(&mut writer, value, middle, spread, curve);
            writer.encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            let read = number(&mut decoder, 0, middle, spread, curve);
            assert_eq!(
                read, value,
                "round {round}, middle {middle}, spread {spread}"
            );
            assert_eq!(decoder.finish(), Ok(()));
        }
    }

    /// Takes note of what each number would have got.
    struct Shares(bool);

    impl Coder for Shares {
        fn bit(&mut self, bit: bool, _chance: u16) -> bool {
            bit
        }

        fn among(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
            self.0 &= below(0) == 0
                && below(count) == TOTAL
                && (0..count).all(|index| below(index) < below(index + 1));
            number
        }
    }

    #[test]
    fn every_number_has_a_share_however_far_out_it_lies() {
        let mut rng = fastrand::Rng::with_seed(2);
        let curves = Curves::new(&PRIORS.shapes);
        for round in 0..30_000 {
            let spread = 0.2 * (1.0 + rng.f32() * 2.0).powi(rng.i32(0..16));
            let off = spread
                * (1.0 + rng.f32()).powi(rng.i32(0..30))
                * if rng.bool() { 1.0 } else { -1.0 };
            let curve = curves.of(rng.usize(0..4), rng.f32() * 12.0 - 2.0);
            let mut shares = Shares(true);
            number(
                &mut shares,
                off.clamp(-1e9, 1e9) as i32,
                rng.f32(),
                spread,
                curve,
            );
            assert!(shares.0, "round {round}, spread {spread}, {off} off");
        }
    }
}
