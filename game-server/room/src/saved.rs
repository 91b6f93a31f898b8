//! State as bytes, for the same build to read: sections, one behind the other.
//!
//! Values go in, bytes come out, and the values again, bit for bit. Bytes that were not written by
//! this module are an error. A length in them is trusted only if at least that many bytes follow.

#![warn(missing_docs, reason = "authors of games import this module")]

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why saved bytes can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadState {
    /// They do not decode.
    #[error("the saved state makes no sense: it is damaged, or of another build")]
    Malformed,
    /// The game can't go on from a saved state.
    #[error("this game can't go on from a saved state: it does not implement `Game::restore`")]
    Unsupported,
}

/// Appends a section.
///
/// # Panics
/// If the value cannot be saved: its number of fields or elements is not known beforehand.
pub fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    // Memory is never full, so this is about the value.
    *out = postcard::to_extend(value, std::mem::take(out)).unwrap_or_else(|error| {
        panic!("a value cannot be saved ({error}): serde's `flatten` is not supported")
    });
}

/// Takes the first section off.
pub fn take<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, BadState> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|_| BadState::Malformed)?;
    *bytes = rest;
    Ok(value)
}

/// Encodes one value.
pub fn of<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, value);
    out
}

/// Decodes the value that [`of`] has encoded.
pub fn all<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, BadState> {
    let value = take(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err(BadState::Malformed) }
}

/// The bytes of a datagram, as part of what is saved.
pub mod datagram {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes their number and the bytes.
    pub fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    /// Reads them back.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        Vec::deserialize(deserializer).map(Bytes::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_are_read_back_in_order_and_invalid_ones_refused() {
        let mut bytes = Vec::new();
        put(&mut bytes, &(7_u32, "ann"));
        put(&mut bytes, &[1.5_f32, -0.0][..]);
        let mut rest = &bytes[..];
        assert_eq!(take::<(u32, String)>(&mut rest), Ok((7, "ann".to_owned())));
        assert_eq!(take::<Vec<f32>>(&mut rest), Ok(vec![1.5, -0.0]));
        assert_eq!((take::<u8>(&mut rest), rest.len()), (Err(BadState::Malformed), 0));
        assert_eq!(all::<u8>(&of(&300_u16)), Err(BadState::Malformed), "a byte is left");
        // A claimed length of 2^60 allocates nothing.
        assert_eq!(all::<Vec<u64>>(&[0xFF; 9]), Err(BadState::Malformed));
    }
}
