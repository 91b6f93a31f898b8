//! Reading and writing by one description.
//!
//! The section coder asks a [`DecisionCoder`] for each decision: a writer writes and returns the
//! given one, a reader ignores the given one and returns the one that was written. A trainer also
//! takes samples.

use crate::entropy;

/// What bits are spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::pose) enum BitCategory {
    /// Which candidates are in the section.
    Membership,
    Position,
    /// Turns; for a yaw also speeds.
    Turn,
    /// The game's flags, and whether position or turn are unchanged.
    Flags,
    /// Objects without an acknowledged pose in the window.
    Unacknowledged,
    Motion,
}

/// How many categories there are.
pub(in crate::pose) const CATEGORIES: usize = 6;

/// Parts that the numbers of [`DecisionCoder::choose`] share.
pub(in crate::pose) const TOTAL: u32 = 1 << TOTAL_BITS;
const TOTAL_BITS: u32 = 15;

/// A stream of decisions, in one direction or the other.
pub(in crate::pose) trait DecisionCoder {
    /// Whether it takes [`TrainingSample`]s.
    const TRAINS: bool = false;

    /// Writes `bit`, or ignores it and reads; it is true with a probability of `probability` /
    /// 65,536.
    fn bit(&mut self, bit: bool, probability: u16) -> bool;

    /// Writes a number below `count`, or ignores it and reads. `below` gives how many of [`TOTAL`]
    /// parts belong to lower numbers; each number has at least one part.
    fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32;

    /// The next decisions are of this category.
    fn category(&mut self, _category: BitCategory) {}

    /// Takes a sample for training.
    fn sample(&mut self, _sample: &TrainingSample<'_>) {}

    /// Whether more was read than the bytes hold.
    fn is_overrun(&self) -> bool {
        false
    }
}

/// One prediction and its outcome.
#[derive(Clone, Copy, Debug)]
pub(in crate::pose) enum TrainingSample<'a> {
    /// A coordinate or a part of a rotation, predicted as a weighted sum of features.
    Middle {
        /// 0: x or y, 1: z, 2: a rotation.
        table: usize,
        class: usize,
        features: &'a [f32],
        outcome: f32,
        /// The spread that it was coded with.
        spread: f32,
    },
    /// The logarithm of a spread, predicted as a weighted sum of features.
    Spread {
        /// 0 to 2: x, y, z; 3 to 5: the parts of an orientation.
        part: usize,
        class: usize,
        features: &'a [f32],
        /// How far the outcome lay from the middle.
        error: f32,
        /// The width of a step of the outcome.
        step: f32,
    },
    /// A decision with a probability by context.
    Context {
        /// Which of the tables of probabilities in `FineWeights`, in their order.
        table: usize,
        context: usize,
        outcome: bool,
    },
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
        let (mut start, mut end) = (below(number), below(number + 1));
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

    fn is_overrun(&self) -> bool {
        Self::is_overrun(self)
    }
}

/// Writes, and counts the bits by category.
pub(super) struct DecisionWriter<'o> {
    pub(super) encoder: entropy::RangeEncoder<'o>,
    spent: [f32; CATEGORIES],
    category: BitCategory,
    counted: f32,
}

impl<'o> DecisionWriter<'o> {
    pub(super) fn new(encoder: entropy::RangeEncoder<'o>) -> Self {
        let counted = encoder.bits();
        Self {
            encoder,
            spent: [0.0; CATEGORIES],
            category: BitCategory::Membership,
            counted,
        }
    }

    /// Bits so far, by category.
    pub(super) fn spent(&mut self) -> [f32; CATEGORIES] {
        let last = self.category;
        // A change of the category counts what was written since the last one.
        self.category(if last == BitCategory::Unacknowledged {
            BitCategory::Membership
        } else {
            BitCategory::Unacknowledged
        });
        self.spent
    }
}

impl DecisionCoder for DecisionWriter<'_> {
    #[inline]
    fn bit(&mut self, bit: bool, probability: u16) -> bool {
        self.encoder.bit(bit, probability);
        bit
    }

    #[inline]
    fn choose(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count > 1 {
            let start = below(number);
            let end = below(number + 1);
            debug_assert!(
                start < end && end <= TOTAL,
                "{number} of {count} has {start}..{end}"
            );
            self.encoder.symbol(start, end - start, TOTAL_BITS);
        }
        number
    }

    fn category(&mut self, category: BitCategory) {
        if category == self.category {
            return;
        }
        let bits = self.encoder.bits();
        self.spent[self.category as usize] += bits - self.counted;
        self.counted = bits;
        self.category = category;
    }
}
