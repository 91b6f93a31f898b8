//! Round trips, lengths, and arbitrary bytes.

pub(crate) mod trace;

use super::{RangeDecoder, RangeEncoder};
use crate::wire::WireError;

/// One decision with the arguments of a coder.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    Bit(bool, u16),
    Symbol { start: u32, size: u32, total_bits: u32 },
    Raw(u32, u32),
}

impl Decision {
    fn random(rng: &mut fastrand::Rng) -> Self {
        match rng.u32(0..3) {
            0 => {
                let chance = match rng.u32(0..4) {
                    0 => 1,
                    1 => u16::MAX,
                    _ => rng.u16(1..),
                };
                Self::Bit(rng.u16(..) < chance, chance)
            }
            1 => {
                let total_bits = rng.u32(0..=15);
                let start = rng.u32(0..1 << total_bits);
                Self::Symbol { start, size: rng.u32(1..=(1 << total_bits) - start), total_bits }
            }
            _ => {
                let bits = rng.u32(0..=16);
                Self::Raw(rng.u32(0..1 << bits), bits)
            }
        }
    }

    fn encode(self, encoder: &mut RangeEncoder) {
        match self {
            Self::Bit(bit, chance) => encoder.bit(bit, chance),
            Self::Symbol { start, size, total_bits } => encoder.symbol(start, size, total_bits),
            Self::Raw(value, bits) => encoder.raw(value, bits),
        }
    }

    /// Decodes the decision that `self` was: a slot within the symbol counts as the symbol.
    fn decode(self, decoder: &mut RangeDecoder) -> Self {
        match self {
            Self::Bit(_, chance) => Self::Bit(decoder.bit(chance), chance),
            Self::Symbol { start, size, total_bits } => {
                let slot = decoder.slot(total_bits);
                if (start..start + size).contains(&slot) {
                    decoder.consume(start, size);
                    self
                } else {
                    decoder.consume(slot, 1);
                    Self::Symbol { start: slot, size: 1, total_bits }
                }
            }
            Self::Raw(_, bits) => Self::Raw(decoder.raw(bits), bits),
        }
    }

    fn bits(self) -> f64 {
        match self {
            Self::Bit(bit, chance) => {
                let chance = f64::from(chance) / 65_536.0;
                -(if bit { chance } else { 1.0 - chance }).log2()
            }
            Self::Symbol { size, total_bits, .. } => f64::from(total_bits) - f64::from(size).log2(),
            Self::Raw(_, bits) => f64::from(bits),
        }
    }
}

fn encode(decisions: &[Decision]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = RangeEncoder::new(&mut out);
    for decision in decisions {
        decision.encode(&mut encoder);
    }
    encoder.finish();
    out
}

#[test]
fn decoding_returns_the_encoded_decisions() {
    let mut rng = fastrand::Rng::with_seed(1);
    for round in 0..2_000 {
        let decisions: Vec<_> =
            (0..rng.usize(0..300)).map(|_| Decision::random(&mut rng)).collect();
        let bytes = encode(&decisions);
        let mut decoder = RangeDecoder::new(&bytes);
        for (index, &decision) in decisions.iter().enumerate() {
            assert_eq!(decision.decode(&mut decoder), decision, "round {round}, decision {index}");
            assert!(!decoder.is_overrun(), "round {round}, decision {index}");
        }
        assert_eq!(decoder.finish(), Ok(()), "round {round}");
    }
}

#[test]
fn the_length_is_close_to_the_entropy_of_the_decisions() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..200 {
        let decisions: Vec<_> = (0..1_000).map(|_| Decision::random(&mut rng)).collect();
        let bits: f64 = decisions.iter().map(|decision| decision.bits()).sum();
        let length = encode(&decisions).len() as f64 * 8.0;
        assert!(length < bits * 1.001 + 16.0, "{length} bits for {bits:.1}");
        assert!(length > bits - 16.0, "{length} bits for {bits:.1}");
    }
}

#[test]
fn a_stream_is_appended_and_its_length_known_beforehand() {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..500 {
        let decisions: Vec<_> = (0..rng.usize(0..40)).map(|_| Decision::random(&mut rng)).collect();
        let mut out = vec![0xff; 3];
        let mut encoder = RangeEncoder::new(&mut out);
        for decision in &decisions {
            decision.encode(&mut encoder);
        }
        let max = encoder.bytes_if_finished();
        encoder.finish();
        assert_eq!(out[..3], [0xff; 3]);
        assert_eq!(out[3..], encode(&decisions)[..]);
        assert!(
            (max - 1..=max).contains(&(out.len() - 3)),
            "{max} promised, {} written",
            out.len() - 3
        );
    }
}

#[test]
fn a_carry_runs_through_written_bytes() {
    // Each decision takes the top of the interval, so that the sum exceeds one and carries.
    let decisions: Vec<_> =
        (0..64).map(|_| Decision::Symbol { start: 32_767, size: 1, total_bits: 15 }).collect();
    let bytes = encode(&decisions);
    let mut decoder = RangeDecoder::new(&bytes);
    for &decision in &decisions {
        assert_eq!(decision.decode(&mut decoder), decision);
    }
}

#[test]
fn an_empty_stream_takes_no_byte() {
    assert_eq!(encode(&[]), [0_u8; 0]);
    assert_eq!(RangeDecoder::new(&[]).finish(), Ok(()));
}

#[test]
fn arbitrary_bytes_are_read_without_a_panic() {
    let mut rng = fastrand::Rng::with_seed(4);
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..rng.usize(0..40))
            .map(|_| if rng.bool() { rng.u8(..) } else { 0xff * rng.u8(0..2) })
            .collect();
        let mut decoder = RangeDecoder::new(&bytes);
        for _ in 0..200 {
            Decision::random(&mut rng).decode(&mut decoder);
        }
    }
}

#[test]
fn a_decoder_detects_reading_past_the_end() {
    let mut rng = fastrand::Rng::with_seed(5);
    let decisions: Vec<_> = (0..200).map(|_| Decision::Raw(rng.u32(0..65_536), 16)).collect();
    let bytes = encode(&decisions);
    for length in 0..bytes.len() - 1 {
        let mut decoder = RangeDecoder::new(&bytes[..length]);
        for &decision in &decisions {
            decision.decode(&mut decoder);
        }
        assert_eq!(
            decoder.finish(),
            Err(WireError::Truncated),
            "{length} bytes of {}",
            bytes.len()
        );
    }
    let mut longer = bytes.clone();
    longer.extend([1, 2]);
    let mut decoder = RangeDecoder::new(&longer);
    for &decision in &decisions {
        decision.decode(&mut decoder);
    }
    assert_eq!(decoder.finish(), Err(WireError::TrailingBits));
}
