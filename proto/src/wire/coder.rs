//! The building blocks of formats.
//!
//! One required function moves bits; all others are built on it, in place, for all three coders at
//! once. Each function reads its value argument with a writer or a measure, and overwrites it with
//! a reader.

use super::quantise::{QuantisationSteps, SmallestThree, last_step};
use super::{Wire, WireError};
use crate::time::GameTime;

/// A reader, a writer or a measure, for which a [`Wire`] format is written.
pub trait Coder: Sized {
    /// Whether this is a reader. A format asks only where reading differs from writing.
    const READS: bool;

    /// The lowest `width` bits, 0 to 64. All other functions end here.
    ///
    /// # Panics
    /// With a writer or a measure, if `value` does not fit. The same holds for every function
    /// below.
    fn bits(&mut self, value: &mut u64, width: u32) -> Result<(), WireError>;

    /// 1 bit.
    fn flag(&mut self, value: &mut bool) -> Result<(), WireError> {
        let mut bit = u64::from(*value);
        self.bits(&mut bit, 1)?;
        *value = bit == 1;
        Ok(())
    }

    fn u8(&mut self, value: &mut u8) -> Result<(), WireError> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 8)?;
        *value = bits as u8;
        Ok(())
    }

    fn u16(&mut self, value: &mut u16) -> Result<(), WireError> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 16)?;
        *value = bits as u16;
        Ok(())
    }

    fn u32(&mut self, value: &mut u32) -> Result<(), WireError> {
        let mut bits = u64::from(*value);
        self.bits(&mut bits, 32)?;
        *value = bits as u32;
        Ok(())
    }

    fn u64(&mut self, value: &mut u64) -> Result<(), WireError> {
        self.bits(value, 64)
    }

    /// An integer from `min` to `max`, both included, in as many bits as their difference takes.
    fn bounded(&mut self, value: &mut i64, min: i64, max: i64) -> Result<(), WireError> {
        let what = "bounded integer";
        if min > max {
            assert!(Self::READS, "no integer from {min} to {max}");
            return Err(WireError::OutOfRange { what });
        }
        assert!(Self::READS || (min..=max).contains(value), "{value} is not within {min} to {max}");
        let span = max.wrapping_sub(min).cast_unsigned();
        let mut offset = value.wrapping_sub(min).cast_unsigned();
        self.bits(&mut offset, width_of(span))?;
        if offset > span {
            return Err(WireError::OutOfRange { what });
        }
        *value = min.wrapping_add(offset.cast_signed());
        Ok(())
    }

    /// A length or an index from 0 to `max`, both included, in as many bits as `max` takes.
    fn count(&mut self, value: &mut usize, max: usize) -> Result<(), WireError> {
        let mut length = *value as u64;
        assert!(Self::READS || *value <= max, "a length of {value} is more than {max}");
        self.bits(&mut length, width_of(max as u64))?;
        if length > max as u64 {
            return Err(WireError::TooLong { length, max: max as u64 });
        }
        *value = length as usize;
        Ok(())
    }

    /// An unsigned integer that is mostly small: groups of 5 bits, 1 to 16 of them. The lowest bit
    /// of a group, the first in the stream, is 1 if another group follows. The 4 bits above it are
    /// bits of the number, its lowest 4 in the first group. So a group is `(number & 15) << 1 |
    /// more`, written as [`Coder::bits`] does, from the lowest bit up. A number below 16 takes 5
    /// bits, one below 256 takes 10, the largest 80: 5 is the group 10 (bits 0, 1, 0, 1, 0 in the
    /// order of the stream), 300 the groups 25, 5, 2. A writer writes no more groups than the
    /// number needs; a reader accepts groups of zero after them, 16 groups in all.
    fn varint(&mut self, value: &mut u64) -> Result<(), WireError> {
        let mut rest = *value;
        let mut read = 0;
        for group in 0..16 {
            let mut bits = (rest & 15) << 1 | u64::from(rest > 15);
            rest >>= 4;
            self.bits(&mut bits, 5)?;
            read |= (bits >> 1) << (4 * group);
            let more = bits & 1 == 1;
            if !more {
                *value = read;
                return Ok(());
            }
        }
        Err(WireError::OutOfRange { what: "varint" })
    }

    /// A signed integer that is mostly near zero: a varint of 0, -1, 1, -2, 2, ...
    fn signed_varint(&mut self, value: &mut i64) -> Result<(), WireError> {
        let mut zigzag = ((*value << 1) ^ (*value >> 63)).cast_unsigned();
        self.varint(&mut zigzag)?;
        *value = (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed());
        Ok(())
    }

    /// A float from `min` to `max` at the nearest of its steps, `per_unit` of them a unit;
    /// [`super::quantise`] returns what the other end reads. A writer asserts that the value is
    /// within the range.
    #[inline]
    fn quantised(
        &mut self,
        value: &mut f32,
        min: f32,
        max: f32,
        per_unit: f32,
    ) -> Result<(), WireError> {
        let what = "quantised number";
        let Some(steps) = QuantisationSteps::new(min, max, per_unit) else {
            assert!(Self::READS, "no range from {min} to {max}, {per_unit} a unit");
            return Err(WireError::OutOfRange { what });
        };
        if Self::READS {
            let mut step = 0;
            self.bits(&mut step, width_of(steps.last))?;
            if step > steps.last {
                return Err(WireError::OutOfRange { what });
            }
            *value = steps.value_of(step);
            return Ok(());
        }
        assert!((min..=max).contains(value), "{value} is not within {min} to {max}");
        self.bits(&mut steps.step_of(*value), width_of(steps.last))
    }

    /// An orientation, a unit quaternion: 2 bits for which component is the largest, `bits` (2 to
    /// 20) for each of the others. The result of a read is of unit length and its largest component
    /// positive.
    fn smallest_three(&mut self, value: &mut [f32; 4], bits: u32) -> Result<(), WireError> {
        assert!((2..=20).contains(&bits), "{bits} bits a component");
        let mut three = if Self::READS {
            SmallestThree { largest: 0, steps: [0; 3] }
        } else {
            SmallestThree::of(*value, bits)
        };
        let mut largest = three.largest as u64;
        self.bits(&mut largest, 2)?;
        three.largest = largest as usize;
        for step in &mut three.steps {
            self.bits(step, bits)?;
        }
        if Self::READS {
            let in_range = three.steps.iter().all(|&step| step <= last_step(bits));
            let quaternion = if in_range { three.quaternion(bits) } else { None };
            *value = quaternion.ok_or(WireError::OutOfRange { what: "orientation" })?;
        }
        Ok(())
    }

    /// A moment in whole milliseconds (rounded down), as a signed varint relative to `base`, which
    /// is rounded down as well.
    fn time(&mut self, value: &mut GameTime, base: GameTime) -> Result<(), WireError> {
        let base = base.millis().cast_signed(); // Below 2^54, as the clock counts microseconds.
        let mut offset = value.millis().cast_signed() - base;
        self.signed_varint(&mut offset)?;
        if Self::READS {
            let millis = base.checked_add(offset).and_then(|millis| u64::try_from(millis).ok());
            let in_range = millis.filter(|&millis| millis <= GameTime::MAX.millis());
            *value = in_range
                .map(GameTime::from_millis)
                .ok_or(WireError::OutOfRange { what: "time" })?;
        }
        Ok(())
    }

    /// A byte string of at most `max_len` bytes: its length, in the bits that `max_len` takes, then
    /// the bytes.
    fn bytes(&mut self, value: &mut Vec<u8>, max_len: usize) -> Result<(), WireError> {
        let mut length = value.len();
        self.count(&mut length, max_len)?;
        if Self::READS { read_bytes(self, value, length) } else { write_bytes(self, value) }
    }

    /// Text in UTF-8, of at most `max_len` bytes, as [`Coder::bytes`].
    fn text(&mut self, value: &mut String, max_len: usize) -> Result<(), WireError> {
        let mut length = value.len();
        self.count(&mut length, max_len)?;
        if !Self::READS {
            return write_bytes(self, value.as_bytes());
        }
        let mut bytes = std::mem::take(value).into_bytes();
        read_bytes(self, &mut bytes, length)?;
        *value = String::from_utf8(bytes).map_err(|_| WireError::BadText)?;
        Ok(())
    }

    /// [`Coder::text`] for writers and measures, without a copy.
    fn write_text(&mut self, value: &str, max_len: usize) -> Result<(), WireError> {
        self.write_byte_string(value.as_bytes(), max_len)
    }

    /// [`Coder::bytes`] for writers and measures, without a copy.
    fn write_byte_string(&mut self, value: &[u8], max_len: usize) -> Result<(), WireError> {
        self.count(&mut value.len(), max_len)?;
        write_bytes(self, value)
    }

    /// At most `max` values: their number, in the bits that `max` takes, then each.
    fn list<T: Wire + Default>(
        &mut self,
        values: &mut Vec<T>,
        max: usize,
    ) -> Result<(), WireError> {
        self.list_with(values, max, |coder, value| value.wire(coder))
    }

    /// [`Coder::list`] for values that need context to be read or written.
    fn list_with<T: Default>(
        &mut self,
        values: &mut Vec<T>,
        max: usize,
        mut each: impl FnMut(&mut Self, &mut T) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        let mut length = values.len();
        self.count(&mut length, max)?;
        if !Self::READS {
            return values.iter_mut().try_for_each(|value| each(self, value));
        }
        values.clear();
        for _ in 0..length {
            let mut value = T::default();
            each(self, &mut value)?;
            values.push(value);
        }
        Ok(())
    }

    /// A flag, then the value if there is one.
    fn option<T: Wire + Default>(&mut self, value: &mut Option<T>) -> Result<(), WireError> {
        let mut there = value.is_some();
        self.flag(&mut there)?;
        if Self::READS {
            *value = there.then(T::default);
        }
        value.as_mut().map_or(Ok(()), |value| value.wire(self))
    }
}

/// How many bits hold the numbers from 0 to `max`.
const fn width_of(max: u64) -> u32 {
    64 - max.leading_zeros()
}

/// `length` bytes, eight at a time. Memory grows with the bytes present, not with the announced
/// length.
fn read_bytes(coder: &mut impl Coder, bytes: &mut Vec<u8>, length: usize) -> Result<(), WireError> {
    bytes.clear();
    while bytes.len() < length {
        let chunk = (length - bytes.len()).min(8);
        let mut word = 0;
        coder.bits(&mut word, 8 * chunk as u32)?;
        bytes.extend_from_slice(&word.to_le_bytes()[..chunk]);
    }
    Ok(())
}

fn write_bytes(coder: &mut impl Coder, bytes: &[u8]) -> Result<(), WireError> {
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        coder.bits(&mut u64::from_le_bytes(word), 8 * chunk.len() as u32)?;
    }
    Ok(())
}
