//! Symbols in and out: one description of a pose serves the cache of the server and the decoder of
//! the client.
//!
//! Each symbol takes a part of 0 .. 2^15. Invariant: a [`CodedPose`] holds at most [`MAX_SYMBOLS`],
//! more than the longest pose takes (far from its baseline, turned, in motion: 35).

use crate::entropy::{RangeDecoder, RangeEncoder};
use crate::pose::trained::symbol_weights;
pub(crate) use crate::pose::trained::symbol_weights::TOTAL_BITS;

/// All symbols' parts add up to this.
pub(crate) const TOTAL: u32 = 1 << TOTAL_BITS;
/// Symbols of a pose, at most.
pub(crate) const MAX_SYMBOLS: usize = 36;

/// The symbols of a pose relative to a baseline, ready to be written any number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodedPose {
    /// Start and size of each.
    symbols: [(u16, u16); MAX_SYMBOLS],
    count: u8,
    /// Their length in 1/256 bit.
    cost: u32,
}

impl Default for CodedPose {
    fn default() -> Self {
        Self { symbols: [(0, 0); MAX_SYMBOLS], count: 0, cost: 0 }
    }
}

impl CodedPose {
    /// Their length, in 1/256 bit.
    pub const fn bits_x256(&self) -> u32 {
        self.cost
    }

    /// Their length in whole bits, rounded up.
    pub const fn bits(&self) -> u32 {
        self.cost.div_ceil(256)
    }

    pub(crate) fn write(&self, encoder: &mut RangeEncoder<'_>) {
        for &(start, size) in &self.symbols[..usize::from(self.count)] {
            encoder.symbol(start.into(), size.into(), TOTAL_BITS);
        }
    }

    fn push(&mut self, start: u32, size: u32) {
        debug_assert!(size > 0 && start + size <= TOTAL, "{size} from {start}");
        self.symbols[usize::from(self.count)] = (start as u16, size as u16);
        self.count += 1;
        self.cost += cost(size);
    }
}

/// Writes or reads symbols.
pub(crate) trait SymbolCoder: Sized {
    const READS: bool;

    /// One of `low ..= high`; `start` says where each but the lowest begins, rising strictly. The
    /// lowest begins at 0.
    fn pick(&mut self, index: &mut i32, low: i32, high: i32, start: impl Fn(i32) -> u32);

    /// The lowest `bits`, 0 to 15; all values weigh the same.
    fn raw(&mut self, value: &mut u32, bits: u32);

    /// [`SymbolCoder::raw`] of up to 16 bits.
    fn raw16(&mut self, value: &mut u16, bits: u32) {
        let mut wide = u32::from(*value);
        self.raw(&mut wide, bits);
        *value = wide as u16;
    }

    /// One of a table, which holds where each begins.
    fn one_of<const N: usize>(&mut self, index: &mut u32, starts: &[u16; N]) {
        let mut wide = *index as i32;
        self.pick(&mut wide, 0, N as i32 - 1, |index| starts[index as usize].into());
        *index = wide as u32;
    }

    /// A whole number, mostly near zero.
    fn number(&mut self, value: &mut i32) {
        self.number_by(value, &symbol_weights::NUMBER_LENGTHS);
    }

    /// Any number of 16 bits in two symbols; the table is that of its length in bits.
    fn short_number(&mut self, value: &mut i16, lengths: &[u16; 17]) {
        let magnitude = value.unsigned_abs();
        let mut length = 16 - magnitude.leading_zeros();
        self.one_of(&mut length, lengths);
        if length == 0 || length == 16 {
            // Only one number has 16 bits.
            *value = if length == 0 { 0 } else { i16::MIN };
            return;
        }
        let below = length - 1;
        let mut bits = u32::from(*value < 0) << below | u32::from(magnitude) & ((1 << below) - 1);
        self.raw(&mut bits, length);
        let magnitude = (1 << below | bits & ((1 << below) - 1)) as i16;
        *value = if bits >> below == 1 { -magnitude } else { magnitude };
    }

    /// A whole number; the table is that of its length in bits.
    fn number_by(&mut self, value: &mut i32, lengths: &[u16; 32]) {
        let magnitude = value.unsigned_abs();
        let mut length = 32 - magnitude.leading_zeros();
        self.one_of(&mut length, lengths);
        if length == 0 {
            *value = 0;
            return;
        }
        let below = length - 1;
        let mut negative = u32::from(*value < 0);
        self.raw(&mut negative, 1);
        let (mut low, mut high) =
            (magnitude & 0x7fff & ((1 << below) - 1), (magnitude & ((1 << below) - 1)) >> 15);
        if below > 15 {
            self.raw(&mut high, below - 15);
        }
        self.raw(&mut low, below.min(15));
        let magnitude = (1 << below | high << 15 | low) as i32;
        *value = if negative == 1 { -magnitude } else { magnitude };
    }
}

impl SymbolCoder for CodedPose {
    const READS: bool = false;

    #[inline]
    fn pick(&mut self, index: &mut i32, low: i32, high: i32, start: impl Fn(i32) -> u32) {
        debug_assert!((low..=high).contains(index), "{index} is not within {low} to {high}");
        let begin = if *index == low { 0 } else { start(*index) };
        let end = if *index == high { TOTAL } else { start(*index + 1) };
        self.push(begin, end - begin);
    }

    fn raw(&mut self, value: &mut u32, bits: u32) {
        self.push(*value << (TOTAL_BITS - bits), 1 << (TOTAL_BITS - bits));
    }
}

impl SymbolCoder for RangeDecoder<'_> {
    const READS: bool = true;

    fn pick(&mut self, index: &mut i32, low: i32, high: i32, start: impl Fn(i32) -> u32) {
        let slot = self.slot(TOTAL_BITS);
        let mut first = low;
        let mut last = high;
        while first < last {
            let middle = first + (last - first + 1) / 2;
            if start(middle) <= slot {
                first = middle;
            } else {
                last = middle - 1;
            }
        }
        let begin = if first == low { 0 } else { start(first) };
        let end = if first == high { TOTAL } else { start(first + 1) };
        self.consume(begin, end - begin);
        *index = first;
    }

    fn raw(&mut self, value: &mut u32, bits: u32) {
        let unit = TOTAL_BITS - bits;
        *value = self.slot(TOTAL_BITS) >> unit;
        self.consume(*value << unit, 1 << unit);
    }
}

/// The length of a symbol of this size, in 1/256 bit, rounded up.
fn cost(size: u32) -> u32 {
    let whole = size.ilog2();
    // The eight bits below the highest one choose the fraction.
    let fraction = LOG2[((size << (TOTAL_BITS - whole)) >> (TOTAL_BITS - 8)) as usize - 256];
    (TOTAL_BITS - whole) * 256 - u32::from(fraction)
}

/// 256 log2(1 + i / 256), rounded down.
static LOG2: [u8; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        // Each squaring yields one binary digit of the logarithm.
        let mut x = 1.0 + index as f64 / 256.0;
        let mut log = 0;
        let mut digit = 0;
        while digit < 8 {
            x *= x;
            log <<= 1;
            if x >= 2.0 {
                x /= 2.0;
                log |= 1;
            }
            digit += 1;
        }
        table[index] = log;
        index += 1;
    }
    table
};
