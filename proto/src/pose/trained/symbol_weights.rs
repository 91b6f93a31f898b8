//! Symbol probabilities that were chosen by hand, for what games usually do.
//!
//! Each table holds where its symbols begin in 0 .. 2^15. They follow from the weights in the
//! documentation of the table, as [`crate::pose::shared`] describes. They are part of the wire
//! format.

/// The parts of a table's symbols add up to two to this power.
pub const TOTAL_BITS: u32 = 15;

/// Tables of symbols; the documentation of each gives its weights, so that the two agree.
macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: [$($weight:literal),* $(,)?];)*) => { $(
        $(#[$doc])*
        ///
        #[doc = concat!("Weights: `", stringify!($($weight),*), "`.")]
        pub const $name: [u16; [$($weight),*].len()] = starts(&[$($weight),*]);
    )* };
}

tables! {
    /// Which parts of a pose with a heading changed, if its baseline moves.
    MOVING: [32_000, 120, 80, 20, 160, 20, 20, 20, 100];
    /// The same if its baseline stands still.
    RESTING: [4_000, 8_000, 500, 500, 300, 300, 100, 100, 16_000];
    /// Which parts of a pose without a heading changed.
    CHANGES: [8_000, 8_000, 1_000, 12_000, 500, 500, 200, 500];
    /// Whether another component of the quaternion is the largest.
    TIPPED: [15, 1];
    /// Length in bits of a coordinate without a baseline: most lie some metres to a kilometre from
    /// 0.
    COORDINATES: [
        60, 10, 10, 10, 20, 20, 40, 60, 100, 150, 250, 400, 700, 1_200, 1_600, 1_000, 500, 250, 120,
        60, 30, 15, 8, 4, 4, 4, 4, 4, 1, 1, 1, 1,
    ];
    /// Length in bits of a speed: zero, or some metres a second.
    SPEEDS: [
        1_000, 20, 20, 30, 50, 80, 150, 300, 500, 700, 400, 200, 100, 50, 20, 10, 1, 1, 1, 1, 1, 1,
        1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    ];
    /// Length in bits of a velocity's distance from its prediction.
    VELOCITIES: [60, 80, 110, 140, 150, 140, 110, 70, 40, 20, 10, 5, 3, 2, 1, 1, 1];
    /// The end of a section, and the lengths in bits, 1 to 16, of a gap between slots.
    SLOT_GAP_LENGTHS: [12, 16, 12, 8, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1];
}

/// Length in bits of any other whole number: the longer, the less likely.
///
/// Weights: 4000 >> (length / 3), for lengths from 0 to 31; the division rounds down.
pub const NUMBER_LENGTHS: [u16; 32] = starts(&{
    let mut weights = [1; 32];
    let mut length = 0;
    while length < 32 {
        weights[length] = 4_000 >> (length / 3);
        length += 1;
    }
    weights
});

/// Baseline modes window, old and absolute; a row for each mode of the pose before, since objects
/// that are new to a viewer come in groups.
///
/// Weights: `250, 3, 3` after window, `40, 208, 8` after old, `24, 4, 228` after absolute.
pub const BASELINE_MODES: [[u16; 3]; 3] =
    [starts(&[250, 3, 3]), starts(&[40, 208, 8]), starts(&[24, 4, 228])];

/// Where each part begins when these weights share the total; each gets one at least.
const fn starts<const N: usize>(weights: &[u32; N]) -> [u16; N] {
    let mut sum = 0;
    let mut index = 0;
    while index < N {
        sum += weights[index] as u64;
        index += 1;
    }
    let mut starts = [0; N];
    let mut before = 0;
    index = 0;
    while index < N {
        starts[index] = (before * ((1 << TOTAL_BITS) - N as u64) / sum) as u16 + index as u16;
        before += weights[index] as u64;
        index += 1;
    }
    starts
}
