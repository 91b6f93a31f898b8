//! The range coder: decisions and their probabilities go in, bytes come out, and back.
//!
//! One stream may mix three sorts of decisions: a [`RangeEncoder::bit`] with a 16-bit probability,
//! a [`RangeEncoder::symbol`] out of a table of frequencies that add up to a power of two, and
//! [`RangeEncoder::raw`] bits that all weigh the same. Models live with the callers: encoder and
//! decoder must use the same probabilities in the same order.
//!
//! Invariants:
//! 1. What was encoded is decoded, for every sequence of decisions and all probabilities that the
//!    arguments allow.
//! 2. The length is the sum of `-log2 p` of the decisions plus at most two bytes (a symbol's
//!    probability may be rounded by one part in 512).
//! 3. A decoder reads any bytes without panicking. Past the end it reads zeros, and
//!    [`RangeDecoder::is_overrun`] is true once these zeros have decided something, which a valid
//!    stream never does.
//! 4. Integers only, so that all machines agree.
//!
//! The state is an interval of 32 bits, at least 2^24 wide before each decision; a carry runs back
//! through the bytes that were already written. The stream ends as early as zeros behind it allow.
//! Cost: about 2 ns a decision, and nothing is allocated but the output. Source: G. N. N. Martin,
//! "Range encoding: an algorithm for removing redundancy from a digitised message", 1979.

mod decoder;
mod encoder;

pub use decoder::RangeDecoder;
pub use encoder::RangeEncoder;

/// The interval is kept at least this wide: below it, a byte is shifted out.
const NARROWEST: u32 = 1 << 24;
/// A symbol's frequencies add up to at most two to this power.
pub const MAX_TOTAL_BITS: u32 = 15;
/// As many raw bits at once.
pub const MAX_RAW_BITS: u32 = 16;

#[cfg(test)]
pub(crate) mod tests;
