//! Reading and writing by one description.
//!
//! What walks through a section asks a [`Coder`] for each binary decision: a writer is told it and
//! returns it, a reader ignores what it is told and returns what was written. A trainer also takes
//! notes.

use crate::entropy;

/// What bits are spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Category {
    /// Who is in.
    Membership,
    /// Where.
    Place,
    /// Turned how; for a yaw, also how fast.
    Turn,
    /// The game's own flag, and whether place or turn have stayed.
    Flags,
    /// Objects without a shared past: their slots and poses.
    Newcomers,
    /// Velocities.
    Motion,
}

/// How many there are.
pub const CATEGORIES: usize = 6;

/// Parts that the numbers of [`Coder::among`] share.
pub const TOTAL: u32 = 1 << TOTAL_BITS;
const TOTAL_BITS: u32 = 15;

/// A stream of decisions, in one direction or the other.
pub trait Coder {
    /// Whether somebody wants the [`Note`]s.
    const TAKES_NOTES: bool = false;

    /// Writes `bit`, or ignores it and reads; it is true with a probability of `chance` / 65536.
    fn bit(&mut self, bit: bool, chance: u16) -> bool;

    /// Writes a number below `count`, or ignores it and reads: `below` says how many of [`TOTAL`]
    /// parts belong to lower ones; each number has at least one.
    fn among(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32;

    /// What follows is of this category.
    fn category(&mut self, _category: Category) {}

    /// What there was to learn from.
    fn note(&mut self, _note: &Note<'_>) {}

    /// Whether more was read than there was.
    fn is_overrun(&self) -> bool {
        false
    }
}

/// One forecast and what came.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A coordinate or a part of a rotation is the weighted sum of features. By table and class.
    Middle {
        /// 0 x or y, 1 z, 2 a rotation.
        table: usize,
        /// Of the object.
        class: usize,
        /// What is known.
        features: &'a [f32],
        /// What came.
        outcome: f32,
        /// The spread it was coded with.
        spread: f32,
    },
    /// The logarithm of a spread is the weighted sum of features.
    Spread {
        /// 0 to 2 x, y, z; 3 to 5 the parts of an orientation.
        part: usize,
        /// Of the object.
        class: usize,
        /// What is known.
        features: &'a [f32],
        /// How far the outcome lay from the middle.
        error: f32,
        /// How wide the step of the outcome is.
        step: f32,
    },
    /// A decision with a probability by context.
    Context {
        /// Which of [`super::training::Model`]'s tables of probabilities, in their order.
        table: usize,
        /// The place in it.
        context: usize,
        /// What came.
        outcome: bool,
    },
}

impl Coder for entropy::Decoder<'_> {
    #[inline]
    fn bit(&mut self, _bit: bool, chance: u16) -> bool {
        Self::bit(self, chance)
    }

    #[inline]
    fn among(&mut self, _number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
        if count <= 1 {
            return 0;
        }
        let slot = self.slot(TOTAL_BITS);
        // Shares are much alike: nearly there.
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

/// Writes, and counts by category.
pub(super) struct Writer<'o> {
    pub(super) encoder: entropy::Encoder<'o>,
    spent: [f32; CATEGORIES],
    category: Category,
    counted: f32,
}

impl<'o> Writer<'o> {
    pub(super) fn new(encoder: entropy::Encoder<'o>) -> Self {
        let counted = encoder.bits();
        Self {
            encoder,
            spent: [0.0; CATEGORIES],
            category: Category::Membership,
            counted,
        }
    }

    /// Bits so far, by category.
    pub(super) fn spent(&mut self) -> [f32; CATEGORIES] {
        let last = self.category;
        self.category(if last == Category::Newcomers {
            Category::Membership
        } else {
            Category::Newcomers
        });
        self.spent
    }
}

impl Coder for Writer<'_> {
    #[inline]
    fn bit(&mut self, bit: bool, chance: u16) -> bool {
        self.encoder.bit(bit, chance);
        bit
    }

    #[inline]
    fn among(&mut self, number: u32, count: u32, below: impl Fn(u32) -> u32) -> u32 {
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

    fn category(&mut self, category: Category) {
        if category == self.category {
            return;
        }
        let bits = self.encoder.bits();
        self.spent[self.category as usize] += bits - self.counted;
        self.counted = bits;
        self.category = category;
    }
}
