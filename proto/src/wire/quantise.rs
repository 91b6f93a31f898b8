//! Floats to integers and back.
//!
//! A range from `min` to `max` is divided into steps of `1 / per_unit`. The computation is in
//! `f64`, hence the same on every machine, and exact on the grid as long as `max * per_unit` is
//! below 2^24.
//!
//! An orientation is a unit quaternion. Its largest component follows from the other three and from
//! its sign, which is chosen to be positive, since `q` and `-q` are the same orientation; the other
//! three lie within 1/sqrt(2) of zero. Source: G. Fiedler, "State Synchronization", for the method.
//! In addition, a reader refuses three components from which another component than the named one
//! would be the largest, so that each orientation has one encoding.

use std::f64::consts::FRAC_1_SQRT_2;

/// A range of floats, divided into steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantisationSteps {
    min: f64,
    per_unit: f64,
    /// The highest step; the lowest is 0.
    pub(super) last: u64,
}

impl QuantisationSteps {
    /// `None` when the range is not finite, empty or of more than 2^32 steps.
    #[inline]
    pub(super) fn new(min: f32, max: f32, per_unit: f32) -> Option<Self> {
        let min = f64::from(min);
        let max = f64::from(max);
        let per_unit = f64::from(per_unit);
        let last = (max - min) * per_unit;
        let fits = per_unit > 0.0 && (0.0..=f64::from(u32::MAX)).contains(&last);
        fits.then_some(Self { min, per_unit, last: u64::from(last as u32) })
    }

    /// The step nearest to `value`, clamped to the range.
    #[inline]
    pub(super) fn step_of(self, value: f32) -> u64 {
        // The cast rounds down, turns values below zero to zero, and costs a tenth of `round`.
        let step = (f64::from(value) - self.min) * self.per_unit + 0.5;
        u64::from(step as u32).min(self.last)
    }

    #[inline]
    pub(super) fn value_of(self, step: u64) -> f32 {
        (self.min + step as f64 / self.per_unit) as f32
    }
}

/// What the other end will read when `value` is sent by
/// [`Coder::quantised`](super::Coder::quantised) with the same range: the nearest step, or the end
/// of the range.
///
/// # Panics
/// If `value` is not finite, or the range is invalid.
pub fn quantise(value: f32, min: f32, max: f32, per_unit: f32) -> f32 {
    assert!(value.is_finite(), "{value} is not finite");
    let steps =
        QuantisationSteps::new(min, max, per_unit).expect("the range must be finite and not empty");
    steps.value_of(steps.step_of(value))
}

/// The index of the largest component of a unit quaternion, and the other three in steps of `bits`
/// (2 to 20), as [`Coder::smallest_three`](super::Coder::smallest_three) writes them.
///
/// # Panics
/// If it is not of unit length.
pub fn smallest_three(quaternion: [f32; 4], bits: u32) -> (usize, [u64; 3]) {
    let SmallestThree { largest, steps } = SmallestThree::of(quaternion, bits);
    (largest, steps)
}

/// The smaller three components of a unit quaternion, in steps, and the index of the largest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SmallestThree {
    pub(super) largest: usize,
    /// In the order of the quaternion, the largest left out. From 0; zero is at `centre(bits)`.
    pub(super) steps: [u64; 3],
}

/// The step of zero. One less than half of what `bits` can hold, so that zero is exact and both
/// sides are symmetric.
fn centre(bits: u32) -> u64 {
    (1 << (bits - 1)) - 1
}

pub(super) fn last_step(bits: u32) -> u64 {
    2 * centre(bits)
}

impl SmallestThree {
    /// Nearest steps; where rounding up would make another component the largest, that one is
    /// rounded down.
    pub(super) fn of(quaternion: [f32; 4], bits: u32) -> Self {
        let scale = centre(bits) as f64 / FRAC_1_SQRT_2;
        let norm = quaternion.iter().map(|&part| f64::from(part).powi(2)).sum::<f64>().sqrt();
        assert!((norm - 1.0).abs() < 0.01, "{quaternion:?} is not a unit quaternion");
        let largest = index_of_largest(quaternion);
        let sign = f64::from(quaternion[largest].signum());
        let offsets = remove_component(quaternion, largest)
            .map(|part| (f64::from(part) * sign * scale / norm).round() as i64)
            .map(|offset| offset.clamp(-(centre(bits) as i64), centre(bits) as i64));
        Self::with_largest_kept(largest, offsets, bits)
    }

    fn with_largest_kept(largest: usize, mut offsets: [i64; 3], bits: u32) -> Self {
        loop {
            let three = Self {
                largest,
                steps: offsets.map(|offset| (centre(bits) as i64 + offset) as u64),
            };
            if three.quaternion(bits).is_some() {
                return three;
            }
            // Towards zero, where there is a solution at the latest.
            let greatest =
                offsets.iter_mut().max_by_key(|offset| offset.abs()).expect("there are three");
            *greatest -= greatest.signum();
        }
    }

    /// The unit quaternion, or `None` when another component than `largest` would be the largest.
    pub(super) fn quaternion(self, bits: u32) -> Option<[f32; 4]> {
        let scale = FRAC_1_SQRT_2 / centre(bits) as f64;
        let parts = self.steps.map(|step| (step as i64 - centre(bits) as i64) as f64 * scale);
        let rest = 1.0 - parts.iter().map(|part| part * part).sum::<f64>();
        let mut quaternion = [rest.max(0.0).sqrt() as f32; 4];
        let others = (0..4).filter(|&index| index != self.largest);
        for (index, part) in others.zip(parts) {
            quaternion[index] = part as f32;
        }
        (index_of_largest(quaternion) == self.largest).then_some(quaternion)
    }
}

/// The index of the component with the greatest magnitude; the first of equals.
fn index_of_largest(quaternion: [f32; 4]) -> usize {
    (1..4).fold(
        0,
        |best, index| {
            if quaternion[index].abs() > quaternion[best].abs() { index } else { best }
        },
    )
}

fn remove_component(quaternion: [f32; 4], index: usize) -> [f32; 3] {
    let [a, b, c, d] = quaternion;
    match index {
        0 => [b, c, d],
        1 => [a, c, d],
        2 => [a, b, d],
        _ => [a, b, c],
    }
}
