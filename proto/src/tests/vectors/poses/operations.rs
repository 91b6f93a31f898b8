//! Each operation of the range coder in a section.
//!
//! The decoder of this crate says which operations it has done. They are checked against the format
//! pages: a plain decoder, as [`crate::message`] describes it, must read the same from the bytes,
//! and slots must be coded as [`crate::pose::section`] describes it.

use crate::entropy::tests::trace::{DecisionTrace, TracedDecision};
use crate::pose::{BaselineMode, SectionHeader};
use crate::tests::vectors::json::Json;
use crate::wire::Measure;

/// All operations of a section that was read, with the decoder's state after each.
pub(super) fn operations(
    header: &SectionHeader,
    section: &[u8],
    slots: impl IntoIterator<Item = (u16, BaselineMode)>,
    traced: &DecisionTrace,
) -> Json {
    let mut measure = Measure::new();
    { *header }.wire(&mut measure).expect("measuring cannot fail");
    let mut decoder = PlainDecoder::new(&section[measure.bits().div_ceil(8)..]);
    let mut slots = documented_slots(slots).into_iter();
    let mut all = Vec::new();
    for &(what, decision) in traced {
        decoder.check(decision);
        let what = if what == "slot" {
            let (what, documented) = slots.next().expect("no more slots than objects");
            assert_eq!(decision, documented, "{what}");
            what
        } else {
            what
        };
        let (kind, first, second) = match decision {
            TracedDecision::Bit { probability, bit } => ("bit", probability, bit.into()),
            TracedDecision::Symbol { start, size } => ("symbol", start, size),
            TracedDecision::Raw { bits, value } => ("uncoded", bits, value),
        };
        let numbers = [first, second, decoder.range, decoder.code].map(Json::from);
        let words = [what, kind].map(Json::from);
        all.push(words.into_iter().chain(numbers).collect::<Json>());
    }
    assert_eq!(slots.next(), None, "all slots were read");
    all.into()
}

/// The operations for slots and modes, those of the end included.
fn documented_slots(slots: impl IntoIterator<Item = (u16, BaselineMode)>) -> DecisionTrace {
    const LENGTHS: [u32; 17] = [12, 16, 12, 8, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1];
    let mut all = Vec::new();
    let mut next = 0;
    let mut probability = 49_152;
    let mut mode_before = BaselineMode::Window;
    for (slot, mode) in slots {
        let left_out = u32::from(slot) - next;
        let bit = left_out == 0;
        all.push(("next", TracedDecision::Bit { probability, bit }));
        let grown = if bit {
            probability + (65_536 - probability) / 16
        } else {
            probability - probability / 16
        };
        probability = grown.clamp(2_048, 64_000);
        if left_out > 0 {
            let length = 32 - left_out.leading_zeros();
            all.push(("length", one_of(length as usize, &LENGTHS)));
            let bits = length - 1;
            let value = left_out - (1 << (length - 1));
            all.push(("left out", TracedDecision::Raw { bits, value }));
        }
        let weights = match mode_before {
            BaselineMode::Window => [250, 3, 3],
            BaselineMode::Old => [40, 208, 8],
            BaselineMode::Absolute | BaselineMode::Jumped(_) => [24, 4, 228],
        };
        let symbol = match mode {
            BaselineMode::Window => 0,
            BaselineMode::Old => 1,
            BaselineMode::Absolute | BaselineMode::Jumped(_) => 2,
        };
        all.push(("mode", one_of(symbol, &weights)));
        if symbol == 2 {
            let value = u32::from(mode != BaselineMode::Absolute);
            all.push(("jumped", TracedDecision::Raw { bits: 1, value }));
        }
        if let BaselineMode::Jumped(age_ms) = mode {
            all.push(("jump's age", TracedDecision::Raw { bits: 12, value: age_ms.into() }));
        }
        (next, mode_before) = (u32::from(slot) + 1, mode);
    }
    let bit = false;
    all.push(("next", TracedDecision::Bit { probability, bit }));
    all.push(("length", one_of(0, &LENGTHS)));
    all
}

/// A symbol by weights, as [`crate::pose::shared`] defines it.
fn one_of(index: usize, weights: &[u32]) -> TracedDecision {
    let count = weights.len() as u32;
    let all = weights.iter().sum::<u32>();
    let start = |index: usize| {
        let before: u32 = weights[..index].iter().sum();
        index as u32 + (32_768 - count) * before / all
    };
    let end = if index + 1 == weights.len() { 32_768 } else { start(index + 1) };
    TracedDecision::Symbol { start: start(index), size: end - start(index) }
}

/// The decoder of the page: 32 bits of range and code.
struct PlainDecoder<'b> {
    bytes: std::slice::Iter<'b, u8>,
    range: u32,
    code: u32,
}

impl<'b> PlainDecoder<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let mut decoder = Self { bytes: bytes.iter(), range: u32::MAX, code: 0 };
        (0..4).for_each(|_| decoder.take_byte());
        decoder
    }

    /// Reads the operation's result, which must be this one.
    fn check(&mut self, decision: TracedDecision) {
        match decision {
            TracedDecision::Bit { probability, bit } => {
                let bound = ((u64::from(self.range) * u64::from(probability)) >> 16) as u32;
                assert_eq!(self.code < bound, bit, "{decision:?}");
                if bit {
                    self.range = bound;
                } else {
                    self.code -= bound;
                    self.range -= bound;
                }
            }
            TracedDecision::Symbol { start, size } => {
                let unit = self.range >> 15;
                let part = self.code / unit;
                assert!((start..start + size).contains(&part), "{decision:?}, {part}");
                self.code -= unit * start;
                self.range = unit * size;
            }
            TracedDecision::Raw { bits, value } => {
                self.range >>= bits;
                assert_eq!(self.code / self.range, value, "{decision:?}");
                self.code -= self.range * value;
            }
        }
        while self.range < 1 << 24 {
            self.take_byte();
            self.range <<= 8;
        }
    }

    /// After the end there are zeros.
    fn take_byte(&mut self) {
        self.code = self.code << 8 | u32::from(self.bytes.next().copied().unwrap_or(0));
    }
}
