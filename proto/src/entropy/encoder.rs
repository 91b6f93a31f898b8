//! From decisions to bytes.

use super::{MAX_RAW_BITS, MAX_TOTAL_BITS, NARROWEST};

/// Appends one stream to a buffer of the caller; [`RangeEncoder::finish`] writes its end.
pub struct RangeEncoder<'o> {
    out: &'o mut Vec<u8>,
    /// Where this stream starts in `out`: no carry goes beyond.
    start: usize,
    /// The interval's lower end: the 32 bits behind those in `out`.
    low: u32,
    /// The interval's width.
    range: u32,
}

impl<'o> RangeEncoder<'o> {
    /// A stream that starts behind what is in `out`.
    pub fn new(out: &'o mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, low: 0, range: u32::MAX }
    }

    /// A decision that is true with a probability of `one_in_65536` / 65536, which is not zero.
    #[inline]
    pub fn bit(&mut self, bit: bool, one_in_65536: u16) {
        debug_assert!(one_in_65536 > 0, "what cannot happen has no code");
        let bound = ((u64::from(self.range) * u64::from(one_in_65536)) >> 16) as u32;
        // Bits are hard to guess: no branch depends on them.
        self.raise(if bit { 0 } else { bound });
        self.range = if bit { bound } else { self.range - bound };
        self.widen();
    }

    /// A symbol that takes `start .. start + size` of `0 .. 2^total_bits`.
    #[inline]
    pub fn symbol(&mut self, start: u32, size: u32, total_bits: u32) {
        debug_assert!(total_bits <= MAX_TOTAL_BITS && size > 0 && start + size <= 1 << total_bits);
        let unit = self.range >> total_bits;
        self.raise(unit * start);
        self.range = unit * size;
        self.widen();
    }

    /// The lowest `bits` of `value`, which has no others; all values weigh the same.
    #[inline]
    pub fn raw(&mut self, value: u32, bits: u32) {
        debug_assert!(bits <= MAX_RAW_BITS && value < 1 << bits);
        self.range >>= bits;
        self.raise(self.range * value);
        self.widen();
    }

    /// An upper bound of the stream's length if it ends here: exact, or one byte too high.
    pub fn bytes_if_finished(&self) -> usize {
        self.out.len() - self.start + 1
    }

    /// Writes the end: as many bytes of the one number in the interval that ends in the most zeros
    /// as are not zero.
    pub fn finish(mut self) {
        let highest = u64::from(self.low) + u64::from(self.range) - 1;
        if highest >> 32 > 0 {
            self.carry();
        } else if self.low > 0 {
            // The interval is at least 2^24 wide: a number with three zero bytes lies within.
            self.out.push((highest >> 24) as u8);
        }
    }

    #[inline]
    fn raise(&mut self, by: u32) {
        let (low, carry) = self.low.overflowing_add(by);
        self.low = low;
        if carry {
            self.carry();
        }
    }

    fn carry(&mut self) {
        for byte in self.out[self.start..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                return;
            }
        }
        unreachable!("the whole stream is a fraction below one");
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < NARROWEST {
            self.out.push((self.low >> 24) as u8);
            self.low <<= 8;
            self.range <<= 8;
        }
    }
}
