//! Each operation of the range coder in a section of the shared level.
//!
//! The slots are coded here a second time, word by word as [`crate::pose::section`] describes them;
//! the symbols of a pose are those that the encoder made. A plain decoder, as
//! [`crate::message`] describes it, then reads the section's bytes. So the operations also check
//! these pages.

use crate::pose::{BaselineMode, CodedPose, SectionHeader};
use crate::vectors::json::Json;
use crate::wire::Measure;

/// What the decoder does next, and what comes out.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Bit { probability: u32, bit: bool },
    Symbol { start: u32, size: u32 },
    Raw { bits: u32, value: u32 },
}

/// The operations of a section.
pub(super) struct SharedTrace {
    header_bytes: usize,
    operations: Vec<(&'static str, Operation)>,
    next_slot: u32,
    probability: u32,
    mode: BaselineMode,
}

impl SharedTrace {
    pub(super) fn new(header: &SectionHeader) -> Self {
        let mut measure = Measure::new();
        { *header }
            .wire(&mut measure)
            .expect("measuring cannot fail");
        Self {
            header_bytes: measure.bits().div_ceil(8),
            operations: Vec::new(),
            next_slot: 0,
            probability: 49_152,
            mode: BaselineMode::Window,
        }
    }

    /// The operations of the next object.
    pub(super) fn add(&mut self, slot: u16, mode: BaselineMode, coded: &CodedPose) {
        let left_out = u32::from(slot) - self.next_slot;
        self.next_slot = u32::from(slot) + 1;
        self.code_whether_next(left_out == 0);
        if left_out > 0 {
            let length = 32 - left_out.leading_zeros();
            self.code_length(length);
            let (bits, value) = (length - 1, left_out - (1 << (length - 1)));
            self.push("left out", Operation::Raw { bits, value });
        }
        let weights = match self.mode {
            BaselineMode::Window => [250, 3, 3],
            BaselineMode::Old => [40, 208, 8],
            BaselineMode::Absolute => [24, 4, 228],
        };
        self.push("mode", one_of(mode as usize, &weights));
        self.mode = mode;
        for &(start, size) in coded.symbols() {
            let (start, size) = (start.into(), size.into());
            self.push("pose", Operation::Symbol { start, size });
        }
    }

    /// All operations with the decoder's state after each, including those of the end.
    pub(super) fn operations(mut self, section: &[u8]) -> Json {
        self.code_whether_next(false);
        self.code_length(0);
        let mut decoder = PlainDecoder::new(&section[self.header_bytes..]);
        let traced = self.operations.iter().map(|(what, operation)| {
            decoder.check(*operation);
            let (kind, first, second) = match *operation {
                Operation::Bit { probability, bit } => ("bit", probability, bit.into()),
                Operation::Symbol { start, size } => ("symbol", start, size),
                Operation::Raw { bits, value } => ("raw", bits, value),
            };
            let numbers = [first, second, decoder.range, decoder.code].map(Json::from);
            let words = [Json::from(*what), Json::from(kind)];
            words.into_iter().chain(numbers).collect::<Json>()
        });
        traced.collect()
    }

    fn code_whether_next(&mut self, bit: bool) {
        let probability = self.probability;
        self.push("next", Operation::Bit { probability, bit });
        let grown = if bit {
            probability + (65_536 - probability) / 16
        } else {
            probability - probability / 16
        };
        self.probability = grown.clamp(2_048, 64_000);
    }

    fn code_length(&mut self, length: u32) {
        let weights = [12, 16, 12, 8, 6, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        self.push("length", one_of(length as usize, &weights));
    }

    fn push(&mut self, what: &'static str, operation: Operation) {
        self.operations.push((what, operation));
    }
}

/// A symbol by weights, as [`crate::pose::shared`] defines it.
fn one_of(index: usize, weights: &[u32]) -> Operation {
    let (count, all) = (weights.len() as u32, weights.iter().sum::<u32>());
    let start = |index: usize| {
        let before: u32 = weights[..index].iter().sum();
        index as u32 + (32_768 - count) * before / all
    };
    let end = if index + 1 == weights.len() {
        32_768
    } else {
        start(index + 1)
    };
    Operation::Symbol {
        start: start(index),
        size: end - start(index),
    }
}

/// The decoder of the page: 32 bits of range and code.
struct PlainDecoder<'b> {
    bytes: std::slice::Iter<'b, u8>,
    range: u32,
    code: u32,
}

impl<'b> PlainDecoder<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let mut decoder = Self {
            bytes: bytes.iter(),
            range: u32::MAX,
            code: 0,
        };
        (0..4).for_each(|_| decoder.take_byte());
        decoder
    }

    /// Reads the operation's result, which must be this one.
    fn check(&mut self, operation: Operation) {
        match operation {
            Operation::Bit { probability, bit } => {
                let bound = ((u64::from(self.range) * u64::from(probability)) >> 16) as u32;
                assert_eq!(self.code < bound, bit, "{operation:?}");
                if bit {
                    self.range = bound;
                } else {
                    self.code -= bound;
                    self.range -= bound;
                }
            }
            Operation::Symbol { start, size } => {
                let unit = self.range >> 15;
                let part = self.code / unit;
                assert!(
                    (start..start + size).contains(&part),
                    "{operation:?}, {part}"
                );
                self.code -= unit * start;
                self.range = unit * size;
            }
            Operation::Raw { bits, value } => {
                self.range >>= bits;
                assert_eq!(self.code / self.range, value, "{operation:?}");
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
