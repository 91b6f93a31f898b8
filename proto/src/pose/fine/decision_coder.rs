//! Reading and writing by one description.
//!
//! The section coder asks a [`DecisionCoder`] for each decision: a writer writes and returns the
//! given one, a reader ignores the given one and returns the one that was written. A trainer also
//! takes samples.

use crate::entropy;

/// What bits are spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BitCategory {
    /// Which candidates are in the section.
    Membership,
    /// Coordinates.
    Position,
    /// Turns; for a yaw also speeds.
    Turn,
    /// The game's flags, and whether position or turn are unchanged.
    Flags,
    /// Objects without an acknowledged pose in the window.
    Unacknowledged,
    /// Velocities.
    Motion,
}

/// Parts that the numbers of [`DecisionCoder::choose`] share.
pub const TOTAL: u32 = 1 << TOTAL_BITS;
const TOTAL_BITS: u32 = 15;

/// A stream of decisions, in one direction or the other.
pub trait DecisionCoder {
    /// Whether it takes samples for training.
    const TRAINS: bool = false;

    /// Writes `bit`, or ignores it and reads; it is true with a probability of `probability` /
    /// 65,536.
    fn bit(&mut self, bit: bool, probability: u16) -> bool;

    /// Writes a number below `count`, or ignores it and reads. `below` gives how many of [`TOTAL`]
    /// parts belong to lower numbers; each number has at least one part.
    fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32;

    /// The next decisions are of this category.
    fn category(&mut self, _category: BitCategory) {}

    /// Takes a coordinate or a part of a rotation that was predicted as a weighted sum of features,
    /// and the spread that it was coded with. Table 0: x or y, 1: z, 2: a rotation.
    fn sample_middle(
        &mut self,
        _table: usize,
        _class: usize,
        _features: &[f32],
        _outcome: f32,
        _spread: f32,
    ) {
    }

    /// Takes how far an outcome was from its middle, and the width of a step of the outcome: the
    /// logarithm of its spread was predicted as a weighted sum of features. Parts 0 to 2: x, y, z;
    /// 3 to 5: the parts of an orientation.
    fn sample_spread(
        &mut self,
        _part: usize,
        _class: usize,
        _features: &[f32],
        _error: f32,
        _step: f32,
    ) {
    }

    /// Takes a decision with a probability by context. Tables are those of `FineWeights`, in their
    /// order.
    fn sample_context(&mut self, _table: usize, _context: usize, _outcome: bool) {}

    /// Whether more was read than the bytes hold.
    fn is_overrun(&self) -> bool {
        false
    }
}

impl DecisionCoder for entropy::RangeDecoder<'_> {
    #[inline]
    fn bit(&mut self, _bit: bool, probability: u16) -> bool {
        Self::bit(self, probability)
    }

    #[inline]
    fn choose(&mut self, _number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let slot = self.slot(TOTAL_BITS);
        // Shares are nearly equal: this is close to the right number.
        let mut number = (slot * count) >> TOTAL_BITS;
        let mut start = below(number);
        let mut end = below(number + 1);
        while slot >= end {
            number += 1;
            (start, end) = (end, below(number + 1));
        }
        while slot < start {
            number -= 1;
            (start, end) = (below(number), start);
        }
        self.consume(start, end - start);
        number
    }

    #[cfg(test)]
    fn category(&mut self, category: BitCategory) {
        entropy::tests::trace::label(match category {
            BitCategory::Membership => "membership",
            BitCategory::Position => "position",
            BitCategory::Turn => "turn",
            BitCategory::Flags => "flags",
            BitCategory::Unacknowledged => "unacknowledged",
            BitCategory::Motion => "motion",
        });
    }

    fn is_overrun(&self) -> bool {
        Self::is_overrun(self)
    }
}

impl DecisionCoder for entropy::RangeEncoder<'_> {
    #[inline]
    fn bit(&mut self, bit: bool, probability: u16) -> bool {
        Self::bit(self, bit, probability);
        bit
    }

    #[inline]
    fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count > 1 {
            let start = below(number);
            let end = below(number + 1);
            debug_assert!(start < end && end <= TOTAL, "{number} of {count} has {start}..{end}");
            self.symbol(start, end - start, TOTAL_BITS);
        }
        number
    }
}
