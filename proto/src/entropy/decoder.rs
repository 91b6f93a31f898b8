//! From bytes to decisions.

#[cfg(test)]
use super::tests::trace::{self, TracedDecision};
use super::{MAX_RAW_BITS, MAX_TOTAL_BITS, NARROWEST};
use crate::wire::WireError;

/// The bytes of the interval.
const STATE_BYTES: usize = 4;

/// Reads one stream, which takes all of the bytes.
pub struct RangeDecoder<'a> {
    bytes: &'a [u8],
    /// Bytes that were read, zeros past the end included.
    taken: usize,
    /// Where in the interval the stream's number lies; below `range` unless the bytes are invalid.
    code: u32,
    range: u32,
    /// The width of one part of the total in the last [`RangeDecoder::slot`].
    unit: u32,
}

impl<'a> RangeDecoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { bytes, taken: 0, code: 0, range: u32::MAX, unit: 1 };
        for _ in 0..STATE_BYTES {
            decoder.take();
        }
        decoder
    }

    /// The decision that was encoded with this probability of being true.
    #[inline]
    pub fn bit(&mut self, one_in_65536: u16) -> bool {
        let bound = ((u64::from(self.range) * u64::from(one_in_65536)) >> 16) as u32;
        let bit = self.code < bound;
        if bit {
            self.range = bound;
        } else {
            self.code -= bound;
            self.range -= bound;
        }
        self.widen();
        #[cfg(test)]
        trace::push(TracedDecision::Bit { probability: one_in_65536.into(), bit });
        bit
    }

    /// Which part of `0 .. 2^total_bits` comes: the symbol is the one that holds it, and
    /// [`RangeDecoder::consume`] follows.
    #[inline]
    pub fn slot(&mut self, total_bits: u32) -> u32 {
        debug_assert!(total_bits <= MAX_TOTAL_BITS);
        self.unit = self.range >> total_bits;
        // Rounding leaves a rest behind the last part: no encoder uses it, arbitrary bytes may.
        (self.code / self.unit).min((1 << total_bits) - 1)
    }

    /// Takes the symbol at `start .. start + size` that the last [`RangeDecoder::slot`] lies in.
    #[inline]
    pub fn consume(&mut self, start: u32, size: u32) {
        debug_assert!(size > 0);
        self.code = (self.code - self.unit * start).min(self.unit * size - 1);
        self.range = self.unit * size;
        self.widen();
        #[cfg(test)]
        trace::push(TracedDecision::Symbol { start, size });
    }

    /// As many bits as were encoded by `raw`.
    #[inline]
    pub fn raw(&mut self, bits: u32) -> u32 {
        debug_assert!(bits <= MAX_RAW_BITS);
        self.range >>= bits;
        let value = (self.code / self.range).min((1 << bits) - 1);
        self.code = (self.code - self.range * value).min(self.range - 1);
        self.widen();
        #[cfg(test)]
        trace::push(TracedDecision::Raw { bits, value });
        value
    }

    /// Whether more was decoded than the bytes hold.
    pub fn is_overrun(&self) -> bool {
        self.taken > self.bytes.len() + STATE_BYTES
    }

    /// Checks that the stream ends here: an error if it ended before, or if there are more bytes.
    pub fn finish(&self) -> Result<(), WireError> {
        if self.is_overrun() {
            return Err(WireError::Truncated);
        }
        // The end takes at most one byte of the interval.
        if self.bytes.len() > self.taken - STATE_BYTES + 1 {
            Err(WireError::TrailingBits)
        } else {
            Ok(())
        }
    }

    #[inline]
    fn take(&mut self) {
        let byte = self.bytes.get(self.taken).copied().unwrap_or(0);
        self.code = self.code << 8 | u32::from(byte);
        self.taken += 1;
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < NARROWEST {
            self.take();
            self.range <<= 8;
        }
    }
}
