//! Random numbers of the distributions that impairments have. A generator goes in; it is advanced
//! by one number for each drawn value.

use std::f64::consts::LN_2;
use std::time::Duration;

pub(super) fn draw_chance(rng: &mut fastrand::Rng, per_cent: f32) -> bool {
    rng.f64() * 100.0 < f64::from(per_cent)
}

/// A random duration from zero to `most`, in whole microseconds.
pub(super) fn draw_duration(rng: &mut fastrand::Rng, most: Duration) -> Duration {
    Duration::from_micros((rng.f64() * (most.as_micros() as f64 + 1.0)) as u64).min(most)
}

/// An exponentially distributed number with the mean 1.
pub(super) fn draw_exponential(rng: &mut fastrand::Rng) -> f64 {
    // From 1 to 2^53, so that the logarithm is finite.
    minus_ln((rng.u64(..) >> 11) + 1)
}

/// -ln(`numerator` / 2^53), to within 1e-10. `f64::ln` may differ between platforms; additions,
/// multiplications and divisions do not.
fn minus_ln(numerator: u64) -> f64 {
    let exponent = numerator.ilog2();
    let mantissa = numerator as f64 / (1_u64 << exponent) as f64;
    // ln m = 2 artanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1), at most 1/3.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..10).rev().fold(0.0, |sum, term| sum * s * s + 1.0 / f64::from(2 * term + 1));
    (53.0 - f64::from(exponent)) * LN_2 - 2.0 * s * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_ln_is_the_logarithm() {
        let mut rng = fastrand::Rng::with_seed(1);
        let random = (0..10_000).map(|_| rng.u64(1..=1 << 53) >> rng.u32(0..50));
        for numerator in random.filter(|it| *it > 0).chain([1, 2, 3, (1 << 53) - 1, 1 << 53]) {
            let expected = -(numerator as f64 / (1_u64 << 53) as f64).ln();
            let difference = minus_ln(numerator) - expected;
            assert!(difference.abs() < 1e-10, "{numerator}: off by {difference}");
        }
        assert_eq!(minus_ln(1 << 53), 0.0);
    }
}
