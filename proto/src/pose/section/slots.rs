//! Which slots a section speaks of: gaps in ascending order, and an end.
//!
//! A bit says whether the next slot follows, with a probability that adapts: a viewer that is told
//! of all around it has hardly any gaps, one with a tight budget has many. The bits stand in
//! [`super`].

use super::super::shared::symbols::{Symbols, TOTAL_BITS, starts};
use super::Mode;
use crate::entropy::{Decoder, Encoder};
use crate::wire::WireError;

/// The end, and the lengths 1 to 16 of a gap.
const LENGTHS: [u16; 17] = starts(&[12, 16, 12, 8, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
/// DatagramWindow, old, absolute, by the mode of the pose before: what is new to a viewer comes in
/// crowds.
const MODES: [[u16; 3]; 3] = [
    starts(&[250, 3, 3]),
    starts(&[40, 208, 8]),
    starts(&[24, 4, 228]),
];
/// What the end takes, at most: less than 8 bits.
pub(super) const END_BYTES: usize = 1;

const LIKELIEST: u16 = 64_000;
const UNLIKELIEST: u16 = 2_048;

/// Where a section is, at both ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    /// Of the next slot in a row; beyond the last one at the end.
    next: u32,
    /// That it follows, of 65,536.
    chance: u16,
    /// Of the last pose.
    mode: Mode,
}

impl Default for Slots {
    fn default() -> Self {
        Self {
            next: 0,
            chance: 49_152,
            mode: Mode::DatagramWindow,
        }
    }
}

impl Slots {
    /// Writes the place of a pose.
    ///
    /// # Panics
    /// When the slots do not ascend: our bug.
    pub(super) fn write(&mut self, slot: u16, mode: Mode, encoder: &mut Encoder<'_>) {
        let gap = u32::from(slot)
            .checked_sub(self.next)
            .expect("slots of a section ascend");
        encoder.bit(gap == 0, self.chance);
        if gap > 0 {
            let length = 32 - gap.leading_zeros();
            write_one_of(length, &LENGTHS, encoder);
            encoder.raw(gap & ((1 << (length - 1)) - 1), length - 1);
        }
        self.pass(gap);
        write_one_of(mode as u32, &MODES[self.mode as usize], encoder);
        self.mode = mode;
    }

    /// What a place takes at most, in bits: no probability is so low that its symbol takes more
    /// than is counted here.
    pub(super) fn bits_at_most(self, slot: u16, mode: Mode) -> usize {
        let gap = u32::from(slot).saturating_sub(self.next);
        let gap_bits = gap
            .checked_ilog2()
            .map_or(0, |below_highest| 7 + below_highest as usize);
        6 + gap_bits + if mode == self.mode { 1 } else { 7 }
    }

    /// Writes that there are no more.
    pub(super) fn write_end(self, encoder: &mut Encoder<'_>) {
        encoder.bit(false, self.chance);
        write_one_of(0, &LENGTHS, encoder);
    }

    /// The place of the next pose; `Unchanged` at the end.
    pub(super) fn read(
        &mut self,
        decoder: &mut Decoder<'_>,
    ) -> Result<Option<(u16, Mode)>, WireError> {
        let mut gap = 0;
        if !decoder.bit(self.chance) {
            let mut length = 0;
            decoder.one_of(&mut length, &LENGTHS);
            if length == 0 {
                return Ok(None);
            }
            gap = 1 << (length - 1) | decoder.raw(length - 1);
        }
        let slot = u16::try_from(self.next + gap).map_err(|_| WireError::OutOfRange {
            what: "slot of a pose",
        })?;
        self.pass(gap);
        let mut mode = 0;
        decoder.one_of(&mut mode, &MODES[self.mode as usize]);
        self.mode = [Mode::DatagramWindow, Mode::Old, Mode::Absolute][mode as usize];
        Ok(Some((slot, self.mode)))
    }

    fn pass(&mut self, gap: u32) {
        self.next += gap + 1;
        let chance = u32::from(self.chance);
        let chance = if gap == 0 {
            chance + ((65_536 - chance) >> 4)
        } else {
            chance - (chance >> 4)
        };
        self.chance = (chance as u16).clamp(UNLIKELIEST, LIKELIEST);
    }
}

fn write_one_of<const N: usize>(index: u32, starts: &[u16; N], encoder: &mut Encoder<'_>) {
    let start = u32::from(starts[index as usize]);
    let end = starts
        .get(index as usize + 1)
        .map_or(1 << TOTAL_BITS, |end| u32::from(*end));
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
            let (mut places, mut next) = (Vec::new(), 0_u32);
            while places.len() < 200 {
                next += if rng.bool() {
                    0
                } else {
                    rng.u32(..1 << sparse)
                };
                let Ok(slot) = u16::try_from(next) else { break };
                places.push((
                    slot,
                    [Mode::DatagramWindow, Mode::Old, Mode::Absolute][rng.usize(..3)],
                ));
                next += 1;
            }
            let bytes = bytes_of(&places);
            let (mut decoder, mut slots) = (Decoder::new(&bytes), Slots::default());
            for place in places {
                assert_eq!(slots.read(&mut decoder), Ok(Some(place)), "seed {seed}");
            }
            assert_eq!(slots.read(&mut decoder), Ok(None));
            assert_eq!(decoder.finish(), Ok(()));
        }
    }

    #[test]
    fn no_place_takes_more_than_is_foretold() {
        for seed in 0..300 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut places, mut slots, mut most_bits) = (Vec::new(), Slots::default(), 0);
            while places.len() < 60 {
                let length = rng.u32(..17);
                let gap = if rng.bool() {
                    0
                } else {
                    rng.u32(..1 << length)
                };
                let Ok(slot) = u16::try_from(slots.next + gap) else {
                    break;
                };
                let mode = [Mode::DatagramWindow, Mode::Old, Mode::Absolute][rng.usize(..3)];
                let before = bytes_of(&places).len() * 8;
                most_bits += slots.bits_at_most(slot, mode);
                places.push((slot, mode));
                slots.pass(gap);
                slots.mode = mode;
                let bits = bytes_of(&places).len() * 8;
                assert!(
                    bits <= most_bits + 8 * END_BYTES + 16,
                    "seed {seed}: {bits} after {before}, {most_bits} foretold"
                );
            }
        }
    }

    #[test]
    fn who_is_told_of_all_pays_little_for_slots() {
        let all: Vec<_> = (0..30).map(|slot| (slot, Mode::DatagramWindow)).collect();
        assert!(bytes_of(&all).len() <= 2, "{} bytes", bytes_of(&all).len());
        let half: Vec<_> = (0..30)
            .map(|slot| (2 * slot + slot % 2, Mode::DatagramWindow))
            .collect();
        assert!(
            bytes_of(&half).len() <= 13,
            "{} bytes",
            bytes_of(&half).len()
        );
    }

    #[test]
    fn a_slot_beyond_the_last_one_is_refused() {
        let mut slots = Slots {
            next: 65_536,
            ..Slots::default()
        };
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        encoder.bit(true, slots.chance);
        encoder.finish();
        let refused = Err(WireError::OutOfRange {
            what: "slot of a pose",
        });
        assert_eq!(slots.read(&mut Decoder::new(&bytes)), refused);
    }

    fn bytes_of(places: &[(u16, Mode)]) -> Vec<u8> {
        let (mut bytes, mut slots) = (Vec::new(), Slots::default());
        let mut encoder = Encoder::new(&mut bytes);
        for (slot, mode) in places {
            slots.write(*slot, *mode, &mut encoder);
        }
        slots.write_end(&mut encoder);
        encoder.finish();
        bytes
    }
}
