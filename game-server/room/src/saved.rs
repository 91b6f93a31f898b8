//! State as bytes. Values go in, bytes come out, and the values again, bit for bit.
//!
//! - What a game declares is saved **with names** ([`of`], [`all`]; MessagePack): a build whose
//!   type has another field, fewer of them or another order reads it. A field that was added needs
//!   `#[serde(default)]`. A missing field or an unknown variant is an error that names it.
//! - What a room itself keeps is saved in **sections**, one behind the other, without names
//!   ([`put`], [`take`]; postcard): smaller, and for the same version of these types alone.
//!
//! Bytes that were not written by this module are an error. A length in them is trusted only if at
//! least that many bytes follow.

#![warn(missing_docs, reason = "authors of games import this module")]

use rmp_serde::decode;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize as _, Serialize};

/// Why saved bytes can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadState {
    /// They do not decode.
    #[error("the saved state makes no sense: it is damaged, or of another build")]
    Malformed,
    /// They are of a build with other types, and do not fit those of this one: why.
    #[error("the saved state does not fit this build: {0}")]
    Misfit(String),
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

/// Encodes one value with the names of its fields and variants.
///
/// # Panics
/// If the value cannot be saved: its own `Serialize` fails.
pub fn of<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    try_of(value).unwrap_or_else(|error| panic!("a value cannot be saved: {error}"))
}

/// As [`of`]; an error in words if the value's own `Serialize` fails.
pub fn try_of<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, String> {
    rmp_serde::to_vec_named(value).map_err(|error| error.to_string())
}

/// Decodes a value that [`of`] has encoded, perhaps one of another type with some of its names.
pub fn all<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, BadState> {
    let mut decoder = rmp_serde::Deserializer::from_read_ref(bytes);
    let value =
        T::deserialize(&mut decoder).map_err(|error| BadState::Misfit(error.to_string()))?;
    // Nothing follows.
    match IgnoredAny::deserialize(&mut decoder) {
        Err(decode::Error::InvalidMarkerRead(_)) => Ok(value),
        _ => Err(BadState::Malformed),
    }
}

/// Encodes one section.
pub fn section<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, value);
    out
}

/// Decodes a section that has nothing behind it.
pub fn only_section<T: DeserializeOwned>(mut bytes: &[u8]) -> Result<T, BadState> {
    let value = take(&mut bytes)?;
    if bytes.is_empty() { Ok(value) } else { Err(BadState::Malformed) }
}

/// What a game has saved, of this build or another one.
#[derive(Clone, Copy, Debug)]
pub struct Saved<'a> {
    version: u32,
    bytes: &'a [u8],
}

impl<'a> Saved<'a> {
    /// Of a build in which the game had this version.
    pub fn new(version: u32, bytes: &'a [u8]) -> Self {
        Self { version, bytes }
    }

    /// The version of the game that has saved it: what `#[declare(version = ...)]` said there, 0
    /// without it.
    pub fn version(self) -> u32 {
        self.version
    }

    /// What the game's `save` returned.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Reads it as this type: the game's own, or one that the game had in an earlier build.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, BadState> {
        all(self.bytes)
    }
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
    use std::collections::BTreeMap;

    use serde::Deserialize;

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
        assert_eq!(only_section::<u8>(&section(&300_u16)), Err(BadState::Malformed));
        // A claimed length of 2^60 allocates nothing.
        assert_eq!(only_section::<Vec<u64>>(&[0xFF; 9]), Err(BadState::Malformed));
    }

    #[test]
    fn a_named_value_is_read_as_a_type_with_other_fields() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Hero {
            gold: u32,
            at: (f32, f32),
            mood: Mood,
        }
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        enum Mood {
            Glad,
            Sad { since: u8 },
        }
        /// A field added, one gone, the others in another order.
        #[derive(Debug, PartialEq, Deserialize)]
        struct LaterHero {
            mood: LaterMood,
            #[serde(default)]
            title: String,
            gold: u64,
        }
        #[derive(Debug, PartialEq, Deserialize)]
        enum LaterMood {
            Sad { since: u8 },
            Angry,
        }
        let hero = |mood| Hero { gold: 7, at: (f32::NAN, -0.0), mood };
        let sad = of(&hero(Mood::Sad { since: 3 }));
        let read: Hero = all(&sad).expect("its own type");
        assert_eq!(read.at.0.to_bits(), f32::NAN.to_bits(), "bit for bit");
        let later = LaterHero { mood: LaterMood::Sad { since: 3 }, title: String::new(), gold: 7 };
        assert_eq!(all::<LaterHero>(&sad), Ok(later));
        let misfit = |saved: &[u8]| all::<LaterHero>(saved).expect_err("it misses").to_string();
        let glad = misfit(&of(&hero(Mood::Glad)));
        assert!(glad.contains("does not fit this build") && glad.contains("Glad"), "{glad}");
        let poor = misfit(&of(&[("mood", "Angry")].into_iter().collect::<BTreeMap<_, _>>()));
        assert!(poor.contains("missing field `gold`"), "{poor}");
    }

    #[test]
    fn damaged_named_bytes_are_an_error_and_cost_no_memory() {
        let bytes = of(&(7_u32, "ann", vec![1_u16, 2]));
        for length in 0..bytes.len() {
            assert!(all::<(u32, String, Vec<u16>)>(&bytes[..length]).is_err(), "{length}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(all::<(u32, String, Vec<u16>)>(&longer), Err(BadState::Malformed));
        // A list, a map and a text that claim 2^32 elements.
        for marker in [0xDD, 0xDF, 0xDB] {
            let claim = [marker, 0xFF, 0xFF, 0xFF, 0xFF, 1];
            assert!(all::<Vec<u64>>(&claim).is_err() && all::<String>(&claim).is_err());
        }
        // Lists in lists, deeper than any stack.
        assert!(all::<IgnoredAny>(&vec![0x91; 100_000]).is_err());
    }
}
