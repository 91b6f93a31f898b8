//! Symbol probabilities that were chosen by hand, for what games usually do.
//!
//! Each table holds where its symbols begin in 0 .. 2^15, made by [`starts`] from weights. They are
//! part of the wire format.

use crate::pose::shared::symbol_coder::starts;

/// Which parts of a pose with a heading changed, if its baseline moves.
pub(in crate::pose) const MOVING: [u16; 9] = starts(&[32_000, 120, 80, 20, 160, 20, 20, 20, 100]);
/// The same if its baseline stands still.
pub(in crate::pose) const RESTING: [u16; 9] =
    starts(&[4_000, 8_000, 500, 500, 300, 300, 100, 100, 16_000]);
/// Which parts of a pose without a heading changed.
pub(in crate::pose) const CHANGES: [u16; 8] =
    starts(&[8_000, 8_000, 1_000, 12_000, 500, 500, 200, 500]);
/// Whether another component of the quaternion is the largest.
pub(in crate::pose) const TIPPED: [u16; 2] = starts(&[15, 1]);
/// Length in bits of a coordinate without a baseline: most lie some metres to a kilometre from 0.
pub(in crate::pose) const COORDINATES: [u16; 32] = starts(&[
    60, 10, 10, 10, 20, 20, 40, 60, 100, 150, 250, 400, 700, 1_200, 1_600, 1_000, 500, 250, 120,
    60, 30, 15, 8, 4, 4, 4, 4, 4, 1, 1, 1, 1,
]);
/// Length in bits of a speed: zero, or some metres a second.
pub(in crate::pose) const SPEEDS: [u16; 32] = starts(&[
    1_000, 20, 20, 30, 50, 80, 150, 300, 500, 700, 400, 200, 100, 50, 20, 10, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1,
]);

/// Length in bits of a velocity's distance from its prediction.
pub(in crate::pose) const VELOCITIES: [u16; 17] = starts(&[
    60, 80, 110, 140, 150, 140, 110, 70, 40, 20, 10, 5, 3, 2, 1, 1, 1,
]);

/// Length in bits of any other whole number: the longer, the less likely.
pub(in crate::pose) const NUMBER_LENGTHS: [u16; 32] = starts(&{
    let mut weights = [1; 32];
    let mut length = 0;
    while length < 32 {
        weights[length] = 4_000 >> (length / 3);
        length += 1;
    }
    weights
});

/// The end of a section, and the lengths in bits, 1 to 16, of a gap between slots.
pub(in crate::pose) const SLOT_GAP_LENGTHS: [u16; 17] =
    starts(&[12, 16, 12, 8, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
/// Baseline modes window, old and absolute; a row for each mode of the pose before, since objects
/// that are new to a viewer come in groups.
pub(in crate::pose) const BASELINE_MODES: [[u16; 3]; 3] = [
    starts(&[250, 3, 3]),
    starts(&[40, 208, 8]),
    starts(&[24, 4, 228]),
];
