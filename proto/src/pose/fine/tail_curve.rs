//! The distributions of prediction errors.
//!
//! Each is Student's distribution with four degrees of freedom, whose tail has a closed form,
//! deformed by a trained shape ([`TailShape`]). Both are tabulated once
//! in a `TailCurve`, at points that are dense near the middle; a share is interpolated between two
//! of them. The table is part of the format, since its rounding is. Cost of a look-up: 2 ns.

use crate::pose::trained::fine::{PIECES, SHAPES, TailShape};

/// Points of a curve between 1 + t and twice that, as a power of two.
const POINT_BITS: u32 = 4;
/// The curve ends at 1 + t = 2^10.
const POINTS: usize = 10 << POINT_BITS;
/// Bits of an `f32` below those that count points.
const PART_BITS: u32 = f32::MANTISSA_DIGITS - 1 - POINT_BITS;

/// The share of Student's distribution with four degrees of freedom that lies more than `t` spreads
/// above the middle; `t` is at least zero.
pub(in crate::pose) fn student_tail(t: f32) -> f32 {
    let root = (4.0 + t * t).sqrt();
    let v = 4.0 / (root * (root + t));
    0.75 * v * v * (1.0 - v * (1.0 / 3.0))
}

/// The piece of a shape in which such a tail ends, and how far into it.
pub(in crate::pose) fn shape_piece(tail: f32) -> (usize, f32) {
    let scaled = 2.0 * tail * (PIECES * PIECES) as f32;
    let index = (scaled.sqrt() as usize).min(PIECES - 1);
    let start = (index * index) as f32;
    let end = ((index + 1) * (index + 1)) as f32;
    (index, (scaled - start) / (end - start))
}

/// The share of a distribution that lies beyond a point: from a half at the middle down to zero.
#[derive(Clone, Debug)]
pub(super) struct TailCurve([f32; POINTS + 1]);

impl TailCurve {
    fn new(shape: &TailShape) -> Self {
        Self(std::array::from_fn(|point| {
            if point == POINTS {
                return 0.0;
            }
            let t = f32::from_bits(1.0_f32.to_bits() + ((point as u32) << PART_BITS)) - 1.0;
            let (index, part) = shape_piece(student_tail(t));
            let low = f32::from(shape[index]);
            let high = f32::from(shape[index + 1]);
            (low + (high - low) * part) * (0.5 / 65_535.0)
        }))
    }

    /// The share above `t` spreads, which may be below zero.
    #[inline]
    pub(super) fn beyond(&self, t: f32) -> f32 {
        // The exponent and the first bits of the mantissa count the points, the other bits are the
        // fraction towards the next point.
        let bits =
            ((1.0 + t.abs()).to_bits() - 1.0_f32.to_bits()).min(((POINTS as u32) << PART_BITS) - 1);
        let index = (bits >> PART_BITS) as usize;
        let part = (bits & ((1 << PART_BITS) - 1)) as f32 * (1.0 / (1 << PART_BITS) as f32);
        let high = self.0[index];
        let low = self.0[index + 1];
        let share = high + (low - high) * part;
        if t < 0.0 { 1.0 - share } else { share }
    }
}

#[derive(Clone, Debug)]
pub(super) struct TailCurves(Vec<TailCurve>);

impl TailCurves {
    pub(super) fn new(shapes: &[[TailShape; SHAPES]; 4]) -> Self {
        Self(shapes.as_flattened().iter().map(TailCurve::new).collect())
    }

    /// The curve of a table for a spread of this logarithm.
    #[inline]
    pub(super) fn of(&self, table: usize, log_spread: f32) -> &TailCurve {
        &self.0[table * SHAPES + shape_index(log_spread)]
    }
}

/// The shape for a spread, by its logarithm.
pub(in crate::pose) fn shape_index(log_spread: f32) -> usize {
    ((log_spread + 1.0) * 1.2).clamp(0.0, (SHAPES - 1) as f32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::trained::fine::FINE_WEIGHTS;

    #[test]
    fn the_tail_is_half_at_the_middle_and_falls() {
        assert!((student_tail(0.0) - 0.5).abs() < 1e-6);
        let tails: Vec<f32> = (0..1_000).map(|t| student_tail(t as f32 * 0.1)).collect();
        assert!(tails.windows(2).all(|pair| pair[1] < pair[0] && pair[1] > 0.0));
        // Student's 97.5 % quantile, for a scale of one.
        assert!((student_tail(2.776_445) - 0.025).abs() < 1e-5);
    }

    #[test]
    fn curves_fall_from_a_half_and_are_symmetric() {
        for curve in TailCurves::new(&FINE_WEIGHTS.shapes).0 {
            assert!((curve.beyond(0.0) - 0.5).abs() < 1e-5);
            let shares: Vec<f32> = (0..40_000).map(|t| curve.beyond(t as f32 * 0.05)).collect();
            assert!(shares.windows(2).all(|pair| pair[1] <= pair[0] && pair[1] > 0.0), "{curve:?}");
            assert!((curve.beyond(1.5) + curve.beyond(-1.5) - 1.0).abs() < 1e-6);
        }
    }
}
