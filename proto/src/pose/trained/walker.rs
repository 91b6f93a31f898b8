//! Tables of the coder for objects with a heading, [`crate::pose::shared::walker`].
//!
//! They say how far a steered walker turns in 1 to 8 steps of 50 ms, and how far it is from its
//! predicted position. `training::walker` computes the numbers from a simulated walk; a test checks
//! that they are what it computes.

mod numbers;

/// Rows of the tables: one for each number of steps.
pub(in crate::pose) const ROWS: usize = 8;
/// Columns of [`WalkerTables::lateral`].
pub(in crate::pose) const COLUMNS: usize = 4;

/// Distributions of a walker's pose relative to its baseline: a row for each age in steps.
///
/// - `turn`, 65 entries a row: entry i is the share of turns by at most i/512 of a turn to either
///   side, in units of 1/2^14. The last entry is an eighth of a turn (64/512).
/// - `turn_beyond`: the share of turns by more than an eighth of a turn, in units of 1/2^15.
/// - `lateral`, 4 columns: the variance across the direction of movement, without what rounding
///   adds, in 1/2^24 of the square of the distance walked in a step of 50 ms. Column: how far the
///   walker turned, in quarters of the most that it can turn (10 degrees a step).
/// - `along`: the same along the direction of movement.
/// - `first`, 49 entries a row, of the coordinate that is coded first: the one more across the
///   direction of movement. Entry i is the share of those that are at most i/8 standard deviations
///   from the mean, to either side, in units of 1/2^14. The last entry is 6 deviations (48/8).
/// - `second`: the same for the second coordinate, when the first is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkerTables {
    pub(crate) turn: [[u16; 65]; ROWS],
    pub(crate) turn_beyond: [u32; ROWS],
    pub(crate) lateral: [[u32; COLUMNS]; ROWS],
    pub(crate) along: [u32; ROWS],
    pub(crate) first: [[u16; 49]; ROWS],
    pub(crate) second: [[u16; 49]; ROWS],
}

/// The tables that both ends use.
pub(crate) static WALKER_TABLES: WalkerTables = numbers::NUMBERS;
