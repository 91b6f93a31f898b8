//! How the parts of a presentation are read and written: lenient words, and colours.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

/// A hint with a word that this build does not know is as by default.
pub(super) fn known_or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Hint<T> {
        Known(T),
        Unknown(IgnoredAny),
    }
    Ok(match Hint::deserialize(deserializer)? {
        Hint::Known(value) => value,
        Hint::Unknown(IgnoredAny) => T::default(),
    })
}

/// Colours as `#rrggbb`.
pub(super) mod colour {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(in super::super) fn serialize<S: Serializer>(
        colour: &u32,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("#{colour:06x}"))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<u32, D::Error> {
        let text = String::deserialize(from)?;
        let is_hex = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6).filter(is_hex);
        let colour = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        colour.ok_or_else(|| D::Error::custom("a colour is like #3080ff"))
    }
}

/// Colours as `#rrggbb`, or null.
pub(super) mod optional_colour {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    #[derive(Deserialize, serde::Serialize)]
    struct Colour(#[serde(with = "super::colour")] u32);

    #[expect(
        clippy::ref_option,
        clippy::trivially_copy_pass_by_ref,
        reason = "serde gives a reference"
    )]
    pub(in super::super) fn serialize<S: Serializer>(
        colour: &Option<u32>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        colour.map(Colour).serialize(to)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<u32>, D::Error> {
        Ok(Option::<Colour>::deserialize(from)?.map(|Colour(colour)| colour))
    }
}
