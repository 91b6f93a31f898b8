//! The bit stream: each format is written once, and that one description reads, writes and
//! measures.
//!
//! A type that travels implements [`Wire`]; its `wire` function gets a [`Coder`], which is a
//! [`Reader`], a [`Writer`] or a [`Measure`]. Bits go from the lowest up, bytes in the order of the
//! stream; the rest of the last byte is zero. A read starts from `Default`: what is not sent is
//! zero.
//!
//! Invariants:
//! 1. A reader returns an error on any invalid input: it never panics, and never allocates more
//!    than a small multiple of the bytes that it was given (and, for a list, of the stated greatest
//!    length).
//! 2. A writer can write any value that a reader returned. It writes the shortest encoding of a
//!    value; a reader accepts longer ones, too.
//! 3. A writer asserts that values are in range, since anything else is our bug; so does a measure.
//! 4. Floats are quantised, and finite.
//!
//! Every format is in the one list of `crate::examples`, which the round-trip, truncation and
//! random-bytes tests walk through. Cost: a few nanoseconds a field; allocation only for byte
//! strings, texts and lists that are read.

mod coder;
mod quantise;
mod reader;
mod writer;

pub use coder::Coder;
pub use quantise::{quantise, smallest_three};
pub use reader::Reader;
pub use writer::{Measure, Writer};

/// A type that one description reads, writes and measures.
///
/// To read, call `wire` on a `Default` value with a reader.
pub trait Wire {
    /// Codes the fields in the order of the stream. Fails only with a reader.
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError>;
}

/// Why bytes were refused. The peer caused it: drop them, count them, continue.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum WireError {
    /// The bytes end before the format does.
    #[error("the bytes end before the format does")]
    Truncated,
    /// A number that its field does not allow.
    #[error("{what} is out of range")]
    OutOfRange { what: &'static str },
    /// Text that is not UTF-8.
    #[error("text is not UTF-8")]
    BadText,
    /// A byte string, a text or a list that is longer than allowed.
    #[error("a length of {length} exceeds the limit of {max}")]
    TooLong { length: u64, max: u64 },
    /// A kind, a variant or a name whose number is unknown.
    #[error("unknown {what}: {value}")]
    Unknown {
        /// What the number should identify.
        what: &'static str,
        value: u64,
    },
    /// Bits follow the end of the format.
    #[error("there are bits after the end of the format")]
    TrailingBits,
}

/// Panic message of a refused write. A writer refuses only values that its caller built wrongly.
pub(crate) const WRITE_CANNOT_FAIL: &str = "writing cannot fail";

/// The bytes of `value`, padded to a whole byte.
pub fn encode(value: &mut impl Wire) -> Vec<u8> {
    let mut out = Vec::new();
    value.wire(&mut Writer::new(&mut out)).expect(WRITE_CANNOT_FAIL);
    out
}

/// How many bits `value` takes.
pub fn measure(value: &mut impl Wire) -> usize {
    let mut measure = Measure::new();
    value.wire(&mut measure).expect("measuring cannot fail");
    measure.bits()
}

/// The value in these bytes, which must contain nothing else.
pub fn decode<T: Wire + Default>(bytes: &[u8]) -> Result<T, WireError> {
    let mut reader = Reader::new(bytes);
    let mut value = T::default();
    value.wire(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

#[cfg(test)]
mod tests;
