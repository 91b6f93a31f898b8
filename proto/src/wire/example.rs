//! Random values of formats: test support.

use std::fmt::Debug;

use super::Wire;

/// A format that can generate examples.
pub trait Example: Wire + Default + PartialEq + Debug {
    /// Any valid value that is exact on the wire (on the grid, in whole milliseconds). Extremes
    /// should be likely.
    fn example(rng: &mut fastrand::Rng) -> Self;
}
