//! The checks of all formats, and of the building blocks of a [`Coder`] beyond them.

use std::collections::BTreeSet;

use super::*;
use crate::examples::{formats, unit_quaternion};
use crate::ids::Alias;
use crate::time::GameTime;

const SEEDS: std::ops::Range<u64> = 0..300;

#[test]
fn each_format_is_listed_once() {
    let names: BTreeSet<_> = formats().iter().map(|format| format.name).collect();
    assert_eq!(names.len(), formats().len());
}

#[test]
fn every_format_is_read_as_it_was_written_and_measured() {
    for format in formats() {
        SEEDS.for_each(|seed| format.check_round_trip(seed));
    }
}

#[test]
fn every_format_refuses_truncation_at_any_byte() {
    for format in formats() {
        SEEDS.for_each(|seed| format.check_truncation(seed));
    }
}

#[test]
fn every_format_survives_random_bytes() {
    for format in formats() {
        for seed in SEEDS {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut bytes = vec![0; rng.usize(..200)];
            rng.fill(&mut bytes);
            format.check_bytes(&bytes);
            bytes.fill(if rng.bool() { 0 } else { 0xff });
            format.check_bytes(&bytes);
        }
    }
}

#[test]
fn every_format_survives_flipped_bits() {
    for format in formats() {
        for seed in SEEDS {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut bytes = format.encode_example(seed);
            for _ in 0..rng.u8(1..4) {
                if let Some(byte) = rng.choice(&mut bytes) {
                    *byte ^= 1 << rng.u8(..8);
                }
            }
            format.check_bytes(&bytes);
        }
    }
}

/// The bytes that `format` writes.
fn written(format: impl FnOnce(&mut Writer) -> Result<(), WireError>) -> Vec<u8> {
    let mut bytes = Vec::new();
    format(&mut Writer::new(&mut bytes)).expect("writing cannot fail");
    bytes
}

/// How many bits `format` takes.
fn bits_of(format: impl FnOnce(&mut Measure) -> Result<(), WireError>) -> usize {
    let mut measure = Measure::new();
    format(&mut measure).expect("measuring cannot fail");
    measure.bits()
}

#[test]
fn bits_go_from_the_lowest_up_and_the_rest_of_the_last_byte_is_zero() {
    let bytes = written(|writer| {
        writer.bits(&mut 0b101, 3)?;
        writer.bits(&mut 0x1ff, 9)
    });
    assert_eq!(bytes, [0b1111_1101, 0b0000_1111]);
}

#[test]
fn a_writer_keeps_earlier_bytes() {
    let mut bytes = vec![1, 2];
    let mut writer = Writer::new(&mut bytes);
    writer.u16(&mut 0x0403).expect("writing cannot fail");
    assert_eq!(writer.bits_written(), 16);
    assert_eq!(writer.finish(), 2);
    assert_eq!(bytes, [1, 2, 3, 4]);
}

#[test]
fn bits_encoded_before_are_copied_to_any_offset() {
    for seed in SEEDS {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut source = [0; 40];
        rng.fill(&mut source);
        let offset = rng.u32(..64);
        let length = rng.usize(..=320);
        let bytes = written(|writer| {
            writer.bits(&mut 0, offset)?;
            writer.append(&source, length);
            writer.bits(&mut 1, 1)
        });
        let mut copied = Reader::new(&bytes);
        let mut original = Reader::new(&source);
        copied.skip(offset as usize).expect("the encoding is valid");
        for bit in 0..length {
            let mut ours = false;
            let mut theirs = false;
            copied.flag(&mut ours).expect("the encoding is valid");
            original.flag(&mut theirs).expect("the bits exist");
            assert_eq!(ours, theirs, "bit {bit}, seed {seed}");
        }
        let mut behind = false;
        copied.flag(&mut behind).expect("the encoding is valid");
        assert!(behind && copied.finish().is_ok(), "seed {seed}");
    }
}

#[test]
fn reading_beyond_the_end_does_not_move_the_reader() {
    let mut reader = Reader::new(&[0xab, 0xcd]);
    let mut value = 0;
    reader.bits(&mut value, 4).expect("the source has 16 bits");
    assert_eq!(reader.bits(&mut value, 13), Err(WireError::Truncated));
    assert_eq!(reader.skip(13), Err(WireError::Truncated));
    assert_eq!((reader.position(), reader.remaining_bits()), (4, 12));
    assert_eq!(reader.bits(&mut value, 12), Ok(()));
    assert_eq!(value, 0xcda);
}

#[test]
fn only_zero_padding_to_a_byte_may_follow_the_end() {
    let alias = encode(&mut Alias { slot: 3, epoch: 9 });
    assert_eq!(decode(&alias), Ok(Alias { slot: 3, epoch: 9 }));
    let with_a_byte = [alias.as_slice(), &[0]].concat();
    assert_eq!(decode::<Alias>(&with_a_byte), Err(WireError::TrailingBits));
    let with_a_bit = [alias[0], alias[1] | 0x80];
    assert_eq!(decode::<Alias>(&with_a_bit), Err(WireError::TrailingBits));
}

#[test]
fn small_numbers_take_few_bits() {
    for (value, bits) in [(0, 5), (15, 5), (16, 10), (255, 10), (256, 15), (u64::MAX, 80)] {
        assert_eq!(bits_of(|coder| coder.varint(&mut { value })), bits, "{value}");
    }
    for (value, bits) in
        [(0, 5), (-8, 5), (7, 5), (8, 10), (-9, 10), (i64::MIN, 80), (i64::MAX, 80)]
    {
        assert_eq!(bits_of(|coder| coder.signed_varint(&mut { value })), bits, "{value}");
    }
    for (min, max, bits) in
        [(3, 3, 0), (0, 1, 1), (0, 7, 3), (0, 8, 4), (-4, 3, 3), (i64::MIN, i64::MAX, 64)]
    {
        assert_eq!(bits_of(|coder| coder.bounded(&mut { min }, min, max)), bits, "{min} to {max}");
    }
}

#[test]
fn a_varint_has_the_bits_that_its_documentation_gives() {
    for (value, bytes) in [(0, vec![0]), (5, vec![10]), (300, vec![0xb9, 0x08])] {
        assert_eq!(written(|coder| coder.varint(&mut { value })), bytes, "{value}");
    }
}

#[test]
fn a_number_in_more_groups_than_it_needs_is_read_up_to_16_groups() {
    let mut value = 7;
    for groups in 1..=16 {
        for number in [0, 13] {
            let bytes = written(|writer| {
                for group in 0..groups {
                    let bits = if group == 0 { number } else { 0 };
                    writer.flag(&mut (group + 1 < groups))?;
                    writer.bits(&mut { bits }, 4)?;
                }
                Ok(())
            });
            assert_eq!(Reader::new(&bytes).varint(&mut value), Ok(()), "{groups}");
            assert_eq!(value, number);
        }
    }
    let seventeen_groups = Reader::new(&[0xff; 11]).varint(&mut value);
    assert_eq!(seventeen_groups, Err(WireError::OutOfRange { what: "varint" }));
}

#[test]
fn a_reader_refuses_values_out_of_range() {
    let ones = || Reader::new(&[0xff; 16]);
    let refused = |what| Err(WireError::OutOfRange { what });
    assert_eq!(ones().bounded(&mut 0, 0, 4), refused("bounded integer"));
    assert_eq!(ones().quantised(&mut 0.0, 0.0, 10.0, 10.0), refused("quantised number"));
    assert_eq!(ones().smallest_three(&mut [0.0; 4], 9), refused("orientation"));
    assert_eq!(ones().count(&mut 0, 4), Err(WireError::TooLong { length: 7, max: 4 }));
    assert_eq!(ones().bytes(&mut Vec::new(), 4), Err(WireError::TooLong { length: 7, max: 4 }));
    assert_eq!(
        ones().list(&mut Vec::<Alias>::new(), 4),
        Err(WireError::TooLong { length: 7, max: 4 })
    );
    assert_eq!(ones().text(&mut String::new(), 7), Err(WireError::BadText));
}

#[test]
fn an_empty_range_is_an_error_for_the_reader_too() {
    let ones = || Reader::new(&[0xff; 16]);
    assert!(ones().bounded(&mut 0, 4, 0).is_err());
    for (min, max, per_unit) in
        [(0.0, -1.0, 1.0), (0.0, f32::NAN, 1.0), (0.0, f32::INFINITY, 1.0), (0.0, 1.0, 0.0)]
    {
        assert!(
            ones().quantised(&mut 0.0, min, max, per_unit).is_err(),
            "{min} to {max}, {per_unit} a unit"
        );
    }
    assert!(ones().quantised(&mut 0.0, 0.0, 1e9, 1e9).is_err());
}

#[test]
fn a_time_is_sent_in_whole_milliseconds() {
    let base = GameTime::from_micros(5_000_900);
    for (sent, received) in
        [(5_000_900, 5_000_000), (4_999_999, 4_999_000), (7_123_456, 7_123_000), (0, 0)]
    {
        let bytes = written(|writer| writer.time(&mut GameTime::from_micros(sent), base));
        let mut time = GameTime::ZERO;
        assert_eq!(Reader::new(&bytes).time(&mut time, base), Ok(()));
        assert_eq!(time, GameTime::from_micros(received));
        assert_eq!(time, GameTime::from_micros(sent).whole_millis());
    }
}

#[test]
fn a_time_before_zero_or_beyond_the_maximum_is_refused() {
    for offset in [-11, i64::MIN, i64::MAX, GameTime::MAX.millis().cast_signed()] {
        let bytes = written(|writer| writer.signed_varint(&mut { offset }));
        let mut time = GameTime::ZERO;
        let refused = Reader::new(&bytes).time(&mut time, GameTime::from_millis(10));
        assert_eq!(refused, Err(WireError::OutOfRange { what: "time" }), "{offset}");
    }
}

#[test]
fn a_quantised_number_is_off_by_half_a_step_at_most() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..10_000 {
        let value = rng.f32() * 10.5 - 3.0;
        let near = quantise(value, -3.0, 7.5, 10.0);
        assert!((near - value).abs() < 0.050_001, "{value}");
        assert_eq!(quantise(near, -3.0, 7.5, 10.0), near);
    }
    assert_eq!(quantise(-9.0, -3.0, 7.5, 10.0), -3.0);
    assert_eq!(quantise(9.0, -3.0, 7.5, 10.0), 7.5);
}

/// 15 bits, as for physics: step 1/23,169.
fn oriented(quaternion: [f32; 4]) -> [f32; 4] {
    let bytes = written(|writer| writer.smallest_three(&mut { quaternion }, 15));
    let mut read = [0.0; 4];
    Reader::new(&bytes).smallest_three(&mut read, 15).expect("the encoding is valid");
    read
}

#[test]
fn an_orientation_is_exact_to_a_ten_thousandth_and_stays_stable() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..10_000 {
        let sent = unit_quaternion(&mut rng);
        let received = oriented(sent);
        let cosine: f32 = sent.iter().zip(received).map(|(ours, theirs)| ours * theirs).sum();
        let sign = cosine.signum();
        for (ours, theirs) in sent.iter().zip(received) {
            assert!((ours - theirs * sign).abs() < 1e-4, "{sent:?} became {received:?}");
        }
        let again = oriented(received);
        assert_eq!(again.map(f32::to_bits), received.map(f32::to_bits), "{sent:?}");
        assert_eq!(oriented(received.map(|part| -part)), received, "{sent:?}");
    }
}

#[test]
fn the_identity_orientation_is_exact() {
    for at_rest in [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]] {
        assert_eq!(oriented(at_rest).map(f32::to_bits), at_rest.map(f32::to_bits));
    }
}

#[test]
#[should_panic(expected = "not within")]
fn writing_an_integer_out_of_range_panics() {
    let _ = Measure::new().bounded(&mut 9, 0, 8);
}

#[test]
#[should_panic(expected = "not within")]
fn writing_a_number_that_is_not_finite_panics() {
    let _ = Measure::new().quantised(&mut f32::NAN.clone(), 0.0, 8.0, 1.0);
}

#[test]
#[should_panic(expected = "in 3 bits")]
fn writing_more_bits_than_the_field_has_panics() {
    let _ = Writer::new(&mut Vec::new()).bits(&mut 8, 3);
}

#[test]
#[should_panic(expected = "not a unit quaternion")]
fn writing_a_quaternion_of_zero_length_panics() {
    let _ = Measure::new().smallest_three(&mut [0.0; 4], 9);
}
