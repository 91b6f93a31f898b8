//! Bits, from the lowest up.

use anyhow::{Result, ensure};

/// Reads bits from bytes.
#[derive(Clone)]
pub(super) struct BitReader<'b> {
    bytes: &'b [u8],
    /// The next bit.
    at: usize,
}

impl<'b> BitReader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        BitReader { bytes, at: 0 }
    }

    pub(super) fn left(&self) -> usize {
        8 * self.bytes.len() - self.at
    }

    pub(super) fn bits(&mut self, width: usize) -> Result<u64> {
        ensure!(width <= self.left(), "the bytes end");
        let mut value = 0;
        for index in 0..width {
            let bit = self.bytes[self.at / 8] >> (self.at % 8) & 1;
            value |= u64::from(bit) << index;
            self.at += 1;
        }
        Ok(value)
    }

    pub(super) fn flag(&mut self) -> Result<bool> {
        Ok(self.bits(1)? == 1)
    }

    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for group in 0..16 {
            let more = self.flag()?;
            value |= self.bits(4)? << (4 * group);
            if !more {
                break;
            }
        }
        Ok(value)
    }

    /// Zigzag.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// An integer in as many bits as `most` takes.
    pub(super) fn up_to(&mut self, most: u64) -> Result<u64> {
        let value = self.bits(64 - most.leading_zeros() as usize)?;
        ensure!(value <= most, "{value} is above {most}");
        Ok(value)
    }

    /// Skips the padding up to a whole byte.
    pub(super) fn align(&mut self) -> Result<()> {
        let padding = self.bits(self.left() % 8)?;
        ensure!(padding == 0, "padding of {padding:b}");
        Ok(())
    }
}

/// Writes bits into bytes.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    at: usize,
}

impl BitWriter {
    pub(super) fn bits(&mut self, value: u64, width: usize) {
        for index in 0..width {
            if self.at.is_multiple_of(8) {
                self.bytes.push(0);
            }
            let bit = (value >> index & 1) as u8;
            self.bytes[self.at / 8] |= bit << (self.at % 8);
            self.at += 1;
        }
    }

    pub(super) fn flag(&mut self, flag: bool) {
        self.bits(flag.into(), 1);
    }

    pub(super) fn varint(&mut self, mut value: u64) {
        loop {
            let rest = value >> 4;
            self.flag(rest > 0);
            self.bits(value & 15, 4);
            if rest == 0 {
                return;
            }
            value = rest;
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
