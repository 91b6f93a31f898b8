//! Bits from bytes.
//!
//! The position is a bit index; a field is extracted from one unaligned word of 64 bits and at most
//! one byte more. Reading beyond the end is [`WireError::Truncated`] and does not move the
//! position.

use super::{Coder, WireError};

/// The [`Coder`] that reads. Cheap to copy: a copy continues from the same position.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// Bits that were read. Invariant: at most `8 * bytes.len()`.
    position: usize,
}

impl<'a> Reader<'a> {
    /// Reads from the first bit of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    /// How many bits have been read.
    pub const fn position(&self) -> usize {
        self.position
    }

    /// How many bits are left, the padding of the last byte included.
    pub const fn remaining_bits(&self) -> usize {
        self.bytes.len() * 8 - self.position
    }

    /// Skips some bits without reading them.
    pub fn skip(&mut self, bits: usize) -> Result<(), WireError> {
        if bits > self.remaining_bits() {
            return Err(WireError::Truncated);
        }
        self.position += bits;
        Ok(())
    }

    /// Skips the zeros up to a whole byte, and returns the bytes after them, which count as read.
    pub fn rest(&mut self) -> Result<&'a [u8], WireError> {
        let mut padding = 0;
        self.bits(&mut padding, (self.remaining_bits() % 8) as u32)?;
        if padding != 0 {
            return Err(WireError::TrailingBits);
        }
        let rest = &self.bytes[self.position / 8..];
        self.position = 8 * self.bytes.len();
        Ok(rest)
    }

    /// Ends the format: the rest must be the padding of the last byte, in zeros.
    pub fn finish(mut self) -> Result<(), WireError> {
        let mut padding = 0;
        match self.remaining_bits() {
            left @ 0..8 => self.bits(&mut padding, left as u32)?,
            _ => return Err(WireError::TrailingBits),
        }
        if padding == 0 { Ok(()) } else { Err(WireError::TrailingBits) }
    }

    /// The eight bytes from `start` on, little-endian; zeros after the end.
    #[inline]
    fn word(&self, start: usize) -> u64 {
        let tail = self.bytes.get(start..).unwrap_or_default();
        if let Some(whole) = tail.first_chunk::<8>() {
            return u64::from_le_bytes(*whole);
        }
        let mut padded = [0; 8];
        padded[..tail.len()].copy_from_slice(tail);
        u64::from_le_bytes(padded)
    }
}

impl Coder for Reader<'_> {
    const READS: bool = true;

    #[inline]
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), WireError> {
        assert!(width <= 64, "a field of {width} bits");
        if width as usize > self.remaining_bits() {
            return Err(WireError::Truncated);
        }
        *value = 0;
        if width > 0 {
            let start = self.position / 8;
            let shift = (self.position % 8) as u32;
            let mut bits = self.word(start) >> shift;
            if width > 64 - shift {
                bits |= u64::from(self.bytes[start + 8]) << (64 - shift);
            }
            *value = bits & (u64::MAX >> (64 - width));
            self.position += width as usize;
        }
        Ok(())
    }
}
