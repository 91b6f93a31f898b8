//! The block that a host sends: JSON without what is null, empty or false.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use super::Presentation;

impl Presentation {
    /// The block.
    pub fn to_block(&self) -> String {
        // By way of a text, in which a number has the digits of an `f32`.
        let whole = serde_json::to_string(self).expect("all keys are texts");
        let mut json = serde_json::from_str(&whole).expect("it was just written");
        leave_out_empty(&mut json);
        json.to_string()
    }

    /// Reads a block; an empty one is that of a game that says nothing. The error is for people.
    pub fn from_block(block: &str) -> Result<Self, serde_json::Error> {
        if block.is_empty() { Ok(Self::default()) } else { serde_json::from_str(block) }
    }
}

/// Defaults of the structs are empty where a value is left out. Numbers stay: 0 is an index, too.
fn leave_out_empty(json: &mut Json) {
    match json {
        Json::Array(items) => items.iter_mut().for_each(leave_out_empty),
        Json::Object(fields) => {
            fields.values_mut().for_each(leave_out_empty);
            fields.retain(|_, value| !is_empty(value));
        }
        _ => {}
    }
}

fn is_empty(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.iter().all(is_empty),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(true) | Json::Number(_) => false,
    }
}

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
