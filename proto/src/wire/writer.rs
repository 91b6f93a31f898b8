//! Bits into bytes, and the number of bits.
//!
//! The writer packs into a word of 64 bits and appends it when it is full. The caller owns the
//! buffer.

use super::{Coder, WireError};

/// The [`Coder`] that writes, after the existing contents of the buffer.
///
/// The last byte is padded with zeros when the writer is dropped or finished.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Length of `out` at the start.
    start: usize,
    /// Bits that were not appended yet, from the lowest bit up; the bits above `filled` are zero.
    word: u64,
    /// How many bits `word` holds. Invariant: less than 64.
    filled: u32,
}

impl<'a> Writer<'a> {
    /// Writes after the end of `out`.
    pub const fn new(out: &'a mut Vec<u8>) -> Self {
        let start = out.len();
        Self { out, start, word: 0, filled: 0 }
    }

    /// How many bits this writer has written.
    pub const fn bits_written(&self) -> usize {
        (self.out.len() - self.start) * 8 + self.filled as usize
    }

    /// Copies the first `bits` bits of already encoded `bytes`: data for many clients is encoded
    /// once.
    pub fn append(&mut self, bytes: &[u8], bits: usize) {
        assert!(bits <= bytes.len() * 8, "{bits} bits of {} bytes", bytes.len());
        let mut source = super::Reader::new(bytes);
        let mut left = bits;
        while left > 0 {
            let width = left.min(64);
            let mut word = 0;
            source.bits(&mut word, width as u32).expect("checked above");
            self.put(word, width as u32);
            left -= width;
        }
    }

    /// Zeros up to a whole byte of the buffer.
    pub fn align(&mut self) {
        self.flush();
    }

    /// Appends whole bytes: fast after [`Writer::align`].
    pub fn append_bytes(&mut self, bytes: &[u8]) {
        if self.filled == 0 {
            self.out.extend_from_slice(bytes);
        } else {
            self.append(bytes, 8 * bytes.len());
        }
    }

    /// Pads the last byte and returns how many bytes were written.
    pub fn finish(mut self) -> usize {
        self.flush();
        self.out.len() - self.start
    }

    /// `value` has no bit set beyond `width`, which is at most 64.
    #[inline]
    fn put(&mut self, value: u64, width: u32) {
        self.word |= value.checked_shl(self.filled).unwrap_or(0);
        let filled = self.filled + width;
        if filled < 64 {
            self.filled = filled;
            return;
        }
        self.out.extend_from_slice(&self.word.to_le_bytes());
        self.word = value.checked_shr(64 - self.filled).unwrap_or(0);
        self.filled = filled - 64;
    }

    fn flush(&mut self) {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.word.to_le_bytes()[..bytes]);
        (self.word, self.filled) = (0, 0);
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Coder for Writer<'_> {
    const READS: bool = false;

    #[inline]
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), WireError> {
        assert_fits(*value, width);
        self.put(*value, width);
        Ok(())
    }
}

/// The [`Coder`] that counts the bits a [`Writer`] would write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Measure {
    bits: usize,
}

impl Measure {
    /// Counts from zero.
    pub const fn new() -> Self {
        Self { bits: 0 }
    }

    /// How many bits were counted.
    pub const fn bits(self) -> usize {
        self.bits
    }
}

impl Coder for Measure {
    const READS: bool = false;

    #[inline]
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), WireError> {
        assert_fits(*value, width);
        self.bits += width as usize;
        Ok(())
    }
}

#[inline]
fn assert_fits(value: u64, width: u32) {
    assert!(width <= 64, "a field of {width} bits");
    assert!(value.checked_shr(width).is_none_or(|rest| rest == 0), "{value} in {width} bits");
}
