//! The slots of a section: gaps in ascending order, and an end.
//!
//! A bit with an adaptive probability says whether the next slot follows: a viewer that gets all
//! objects around it has hardly any gaps, one with a small budget has many. [`super`] describes the
//! bits.

use super::{BaselineMode, MAX_JUMP_AGE_MS};
use crate::entropy::{RangeDecoder, RangeEncoder};
use crate::pose::shared::symbol_coder::{SymbolCoder, TOTAL_BITS};
use crate::pose::trained::symbol_weights::{BASELINE_MODES, SLOT_GAP_LENGTHS};
use crate::wire::WireError;

/// Length of the end, at most: less than 8 bits.
pub(super) const END_BYTES: usize = 1;

/// Width of the age of a jump in milliseconds.
pub(super) const JUMP_AGE_BITS: u32 = 12;

const MAX_PROBABILITY: u16 = 64_000;
const MIN_PROBABILITY: u16 = 2_048;

/// Codes slots and baseline modes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotCoder {
    /// The slot behind the last one; above the largest slot at the end.
    next: u32,
    /// The probability that it follows, in 1/65,536.
    probability: u16,
    /// Mode of the last pose: its symbol.
    mode: usize,
}

impl Default for SlotCoder {
    fn default() -> Self {
        Self { next: 0, probability: 49_152, mode: WINDOW }
    }
}

impl SlotCoder {
    /// Writes slot and mode of a pose.
    ///
    /// # Panics
    /// When the slots do not ascend: a bug.
    pub(super) fn write(&mut self, slot: u16, mode: BaselineMode, encoder: &mut RangeEncoder<'_>) {
        let gap = u32::from(slot).checked_sub(self.next).expect("slots of a section ascend");
        encoder.bit(gap == 0, self.probability);
        if gap > 0 {
            let length = 32 - gap.leading_zeros();
            write_one_of(length, &SLOT_GAP_LENGTHS, encoder);
            encoder.raw(gap & ((1 << (length - 1)) - 1), length - 1);
        }
        self.advance(gap);
        let symbol = symbol_of(mode);
        write_one_of(symbol as u32, &BASELINE_MODES[self.mode], encoder);
        self.mode = symbol;
        match mode {
            BaselineMode::Window | BaselineMode::Old => {}
            BaselineMode::Absolute => encoder.raw(0, 1),
            BaselineMode::Jumped(age_ms) => {
                assert!(age_ms <= MAX_JUMP_AGE_MS, "a jump {age_ms} ms ago");
                encoder.raw(1, 1);
                encoder.raw(age_ms.into(), JUMP_AGE_BITS);
            }
        }
    }

    /// The length of slot and mode in bits, at most: no probability is so low that its symbol takes
    /// more than is counted here.
    pub(super) fn max_bits(self, slot: u16, mode: BaselineMode) -> usize {
        let gap = u32::from(slot).saturating_sub(self.next);
        let gap_bits = gap.checked_ilog2().map_or(0, |below_highest| 7 + below_highest as usize);
        let jump_bits = match mode {
            BaselineMode::Window | BaselineMode::Old => 0,
            BaselineMode::Absolute => 1,
            BaselineMode::Jumped(_) => 1 + JUMP_AGE_BITS as usize,
        };
        6 + gap_bits + jump_bits + if symbol_of(mode) == self.mode { 1 } else { 7 }
    }

    pub(super) fn write_end(self, encoder: &mut RangeEncoder<'_>) {
        encoder.bit(false, self.probability);
        write_one_of(0, &SLOT_GAP_LENGTHS, encoder);
    }

    /// Slot and mode of the next pose; `None` at the end.
    pub(super) fn read(
        &mut self,
        decoder: &mut RangeDecoder<'_>,
    ) -> Result<Option<(u16, BaselineMode)>, WireError> {
        #[cfg(test)]
        crate::entropy::tests::trace::label("slot");
        let mut gap = 0;
        if !decoder.bit(self.probability) {
            let mut length = 0;
            decoder.one_of(&mut length, &SLOT_GAP_LENGTHS);
            if length == 0 {
                return Ok(None);
            }
            gap = 1 << (length - 1) | decoder.raw(length - 1);
        }
        let slot = u16::try_from(self.next + gap)
            .map_err(|_| WireError::OutOfRange { what: "slot of a pose" })?;
        self.advance(gap);
        let mut mode = 0;
        decoder.one_of(&mut mode, &BASELINE_MODES[self.mode]);
        self.mode = mode as usize;
        let mode = match self.mode {
            WINDOW => BaselineMode::Window,
            OLD => BaselineMode::Old,
            _ if decoder.raw(1) == 0 => BaselineMode::Absolute,
            _ => BaselineMode::Jumped(decoder.raw(JUMP_AGE_BITS) as u16),
        };
        #[cfg(test)]
        crate::entropy::tests::trace::label("pose");
        Ok(Some((slot, mode)))
    }

    fn advance(&mut self, gap: u32) {
        self.next += gap + 1;
        let probability = u32::from(self.probability);
        let probability = if gap == 0 {
            probability + ((65_536 - probability) >> 4)
        } else {
            probability - (probability >> 4)
        };
        self.probability = (probability as u16).clamp(MIN_PROBABILITY, MAX_PROBABILITY);
    }
}

const WINDOW: usize = 0;
const OLD: usize = 1;
const ABSOLUTE: usize = 2;

/// The symbol of a mode: a pose after a jump is an absolute one.
const fn symbol_of(mode: BaselineMode) -> usize {
    match mode {
        BaselineMode::Window => WINDOW,
        BaselineMode::Old => OLD,
        BaselineMode::Absolute | BaselineMode::Jumped(_) => ABSOLUTE,
    }
}

fn write_one_of<const N: usize>(index: u32, starts: &[u16; N], encoder: &mut RangeEncoder<'_>) {
    let start = u32::from(starts[index as usize]);
    let end = starts.get(index as usize + 1).map_or(1 << TOTAL_BITS, |end| u32::from(*end));
    encoder.symbol(start, end - start, TOTAL_BITS);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_modes_are_read_as_they_were_written() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let sparse = rng.u32(..17);
            let mut coded = Vec::new();
            let mut next = 0_u32;
            while coded.len() < 200 {
                next += if rng.bool() { 0 } else { rng.u32(..1 << sparse) };
                let Ok(slot) = u16::try_from(next) else { break };
                coded.push((slot, any_mode(&mut rng)));
                next += 1;
            }
            let bytes = bytes_of(&coded);
            let mut decoder = RangeDecoder::new(&bytes);
            let mut slots = SlotCoder::default();
            for expected in coded {
                assert_eq!(slots.read(&mut decoder), Ok(Some(expected)), "seed {seed}");
            }
            assert_eq!(slots.read(&mut decoder), Ok(None));
            assert_eq!(decoder.finish(), Ok(()));
        }
    }

    #[test]
    fn no_slot_takes_more_than_the_announced_bits() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut coded = Vec::new();
            let mut slots = SlotCoder::default();
            let mut max_bits_so_far = 0;
            while coded.len() < 60 {
                let length = rng.u32(..17);
                let gap = if rng.bool() { 0 } else { rng.u32(..1 << length) };
                let Ok(slot) = u16::try_from(slots.next + gap) else {
                    break;
                };
                let mode = any_mode(&mut rng);
                let before = bytes_of(&coded).len() * 8;
                max_bits_so_far += slots.max_bits(slot, mode);
                coded.push((slot, mode));
                slots.advance(gap);
                slots.mode = symbol_of(mode);
                let bits = bytes_of(&coded).len() * 8;
                assert!(
                    bits <= max_bits_so_far + 8 * END_BYTES + 16,
                    "seed {seed}: {bits} after {before}, {max_bits_so_far} announced"
                );
            }
        }
    }

    #[test]
    fn slots_cost_little_when_all_are_present() {
        let all: Vec<_> = (0..30).map(|slot| (slot, BaselineMode::Window)).collect();
        assert!(bytes_of(&all).len() <= 2, "{} bytes", bytes_of(&all).len());
        let half: Vec<_> =
            (0..30).map(|slot| (2 * slot + slot % 2, BaselineMode::Window)).collect();
        assert!(bytes_of(&half).len() <= 13, "{} bytes", bytes_of(&half).len());
    }

    #[test]
    fn a_slot_beyond_the_last_one_is_refused() {
        let mut slots = SlotCoder { next: 65_536, ..SlotCoder::default() };
        let mut bytes = Vec::new();
        let mut encoder = RangeEncoder::new(&mut bytes);
        encoder.bit(true, slots.probability);
        encoder.finish();
        let refused = Err(WireError::OutOfRange { what: "slot of a pose" });
        assert_eq!(slots.read(&mut RangeDecoder::new(&bytes)), refused);
    }

    fn any_mode(rng: &mut fastrand::Rng) -> BaselineMode {
        let jumped = BaselineMode::Jumped(rng.u16(..=MAX_JUMP_AGE_MS));
        [BaselineMode::Window, BaselineMode::Old, BaselineMode::Absolute, jumped][rng.usize(..4)]
    }

    fn bytes_of(coded: &[(u16, BaselineMode)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut slots = SlotCoder::default();
        let mut encoder = RangeEncoder::new(&mut bytes);
        for (slot, mode) in coded {
            slots.write(*slot, *mode, &mut encoder);
        }
        slots.write_end(&mut encoder);
        encoder.finish();
        bytes
    }
}
