//! Sine and cosine in whole numbers, the same on every machine.
//!
//! Units: angles are in 1/4,096 of a turn, counted from x towards y; components of a unit vector in
//! 1/16,384, rounded to the nearest.

/// Angles in a turn.
pub(super) const ANGLES: i32 = 4_096;
/// A component of a unit vector is in 1/2^14.
pub(super) const BITS: u32 = 14;

const QUARTER: usize = ANGLES as usize / 4;

/// The first quarter of the wave, both ends included.
static WAVE: [i16; QUARTER + 1] = wave();

/// Cosine and sine of an angle; whole turns do not count.
pub(super) fn direction(angle: i32) -> (i32, i32) {
    (sine(angle + ANGLES / 4), sine(angle))
}

fn sine(angle: i32) -> i32 {
    let angle = angle.rem_euclid(ANGLES) as usize;
    let half = angle / (2 * QUARTER);
    let rest = angle % (2 * QUARTER);
    let part = i32::from(WAVE[if rest <= QUARTER { rest } else { 2 * QUARTER - rest }]);
    if half == 0 { part } else { -part }
}

/// Computed from the series at compile time, with IEEE arithmetic and no library.
const fn wave() -> [i16; QUARTER + 1] {
    let mut wave = [0; QUARTER + 1];
    let mut index = 0;
    while index <= QUARTER {
        let x = index as f64 / QUARTER as f64 * std::f64::consts::FRAC_PI_2;
        let mut term = x;
        let mut sum = x;
        let mut n = 1.0;
        while n < 12.0 {
            term *= -x * x / ((2.0 * n) * (2.0 * n + 1.0));
            sum += term;
            n += 1.0;
        }
        wave[index] = (sum * (1 << BITS) as f64 + 0.5) as i16;
        index += 1;
    }
    wave
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_agree_with_the_standard_library() {
        for angle in -5_000..5_000 {
            let radians = f64::from(angle) / f64::from(ANGLES) * std::f64::consts::TAU;
            let (cos, sin) = direction(angle);
            for (computed, exact) in [(cos, radians.cos()), (sin, radians.sin())] {
                assert!((f64::from(computed) / 16_384.0 - exact).abs() < 4e-5, "{angle}");
            }
        }
        assert_eq!(direction(0), (16_384, 0));
        assert_eq!(direction(1_024), (0, 16_384));
        assert_eq!(direction(-1_024), (0, -16_384));
    }
}
