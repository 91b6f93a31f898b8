//! Parameters: what may be given, and what was given.
//!
//! Tables of [`Parameter`]s and what a player wrote go in, checked [`Parameters`] come out, or a
//! [`BadParameter`] that says what would be possible. Nothing here knows what the parameters mean.

use std::collections::BTreeMap;
use std::fmt;

/// A knob: its name, what it is if nobody turns it, how far it may be turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// As in `key=value`.
    pub key: &'static str,
    /// As a player would write it; empty for a value that somebody else chooses.
    pub default: &'static str,
    /// What may be given.
    pub allowed: Allowed,
    /// What it is, its unit, and what raising it costs.
    pub about: &'static str,
}

/// The values that a parameter may take; all bounds are included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// A whole number.
    Whole {
        /// The lowest.
        min: u64,
        /// The highest.
        max: u64,
    },
    /// A number.
    Decimal {
        /// The lowest.
        min: f32,
        /// The highest.
        max: f32,
    },
    /// Two numbers, `WIDTHxHEIGHT`: digits and a point, nothing else.
    Size {
        /// The lowest of each.
        min: f32,
        /// The highest of each.
        max: f32,
    },
    /// One of some words.
    Word(&'static [&'static str]),
}

/// A key that no player gives: which map of its world a room is.
const LOBBY_ONLY_KEY: &str = "map";

/// Why a room can't be made with these parameters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadParameter {
    /// Nobody knows the key.
    #[error("there is no parameter {key:?}; the known ones are {known}")]
    Unknown {
        /// As given, shortened.
        key: String,
        /// All keys.
        known: String,
    },
    /// The value is out of range, or of another type.
    #[error("{key}={value} is not possible: it must be {allowed}")]
    Value {
        /// The key.
        key: &'static str,
        /// As given, shortened.
        value: String,
        /// What is possible.
        allowed: String,
    },
    /// The value does not go with another one.
    #[error("{key} does not fit: {problem}")]
    Conflict {
        /// The key to change.
        key: &'static str,
        /// What is wrong, and what would be right.
        problem: String,
    },
}

/// Checked parameters, read by name and type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// One entry for each declared key; `Unchanged` where the default is empty and nothing was
    /// given.
    values: BTreeMap<&'static str, ParameterEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct ParameterEntry {
    value: Option<ParameterValue>,
    given: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ParameterValue {
    Whole(u64),
    Decimal(f32),
    Size(f32, f32),
    Word(&'static str),
}

impl Parameters {
    /// Checks what was given against the tables. Where two declare the same key, the later one
    /// counts.
    pub fn parse(
        given: &BTreeMap<String, String>,
        tables: &[&'static [Parameter]],
    ) -> Result<Self, BadParameter> {
        let declared = || tables.iter().copied().flatten();
        if let Some(key) = given
            .keys()
            .find(|key| declared().all(|parameter| parameter.key != key.as_str()))
        {
            let keys = declared().map(|parameter| parameter.key);
            let mut known: Vec<_> = keys.filter(|key| *key != LOBBY_ONLY_KEY).collect();
            known.sort_unstable();
            known.dedup();
            return Err(BadParameter::Unknown {
                key: shortened(key),
                known: known.join(", "),
            });
        }
        let mut values = BTreeMap::new();
        for parameter in declared() {
            let text = given.get(parameter.key).map(String::as_str);
            values.insert(
                parameter.key,
                ParameterEntry {
                    value: parameter.parse(text)?,
                    given: text.is_some(),
                },
            );
        }
        Ok(Self { values })
    }

    /// A declared whole number.
    ///
    /// # Panics
    /// When `key` is not declared as one with a default, as for the other readers: a mistake of the
    /// game's.
    pub fn whole(&self, key: &str) -> u64 {
        self.whole_if_given(key)
            .unwrap_or_else(|| panic!("the parameter {key} has no default"))
    }

    /// A declared whole number that has no default.
    pub fn whole_if_given(&self, key: &str) -> Option<u64> {
        self.value(key).map(|value| match value {
            ParameterValue::Whole(number) => number,
            other => panic!("the parameter {key} is not a whole number: {other:?}"),
        })
    }

    /// A declared number.
    pub fn decimal(&self, key: &str) -> f32 {
        match self.value(key) {
            Some(ParameterValue::Decimal(number)) => number,
            other => panic!("the parameter {key} is not a number with a default: {other:?}"),
        }
    }

    /// A declared width and height.
    pub fn size(&self, key: &str) -> (f32, f32) {
        match self.value(key) {
            Some(ParameterValue::Size(width, height)) => (width, height),
            other => panic!("the parameter {key} is not a size with a default: {other:?}"),
        }
    }

    /// A declared word, one of those that its table lists.
    pub fn word(&self, key: &str) -> &'static str {
        match self.value(key) {
            Some(ParameterValue::Word(word)) => word,
            other => panic!("the parameter {key} is not a word with a default: {other:?}"),
        }
    }

    /// Whether a player has set this.
    pub fn is_given(&self, key: &str) -> bool {
        self.entry(key).given
    }

    fn value(&self, key: &str) -> Option<ParameterValue> {
        self.entry(key).value
    }

    fn entry(&self, key: &str) -> &ParameterEntry {
        self.values
            .get(key)
            .unwrap_or_else(|| panic!("no table declares the parameter {key}"))
    }
}

impl Parameter {
    fn parse(&self, given: Option<&str>) -> Result<Option<ParameterValue>, BadParameter> {
        let text = given.unwrap_or(self.default);
        if given.is_none() && text.is_empty() {
            return Ok(None);
        }
        let bad = || BadParameter::Value {
            key: self.key,
            value: shortened(text),
            allowed: self.allowed.to_string(),
        };
        self.allowed.parse(text.trim()).map(Some).ok_or_else(bad)
    }
}

impl Allowed {
    fn parse(self, text: &str) -> Option<ParameterValue> {
        match self {
            Self::Whole { min, max } => {
                let number = text.parse().ok()?;
                (min..=max)
                    .contains(&number)
                    .then_some(ParameterValue::Whole(number))
            }
            Self::Decimal { min, max } => {
                let number = text.parse().ok()?;
                (min..=max)
                    .contains(&number)
                    .then_some(ParameterValue::Decimal(number))
            }
            Self::Size { min, max } => {
                let (width, height) = text.split_once(['x', 'X'])?;
                let (width, height) = (plain_number(width)?, plain_number(height)?);
                let fits = (min..=max).contains(&width) && (min..=max).contains(&height);
                fits.then_some(ParameterValue::Size(width, height))
            }
            Self::Word(words) => words
                .iter()
                .find(|&&word| word == text)
                .map(|&word| ParameterValue::Word(word)),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { min, max: u64::MAX } => write!(f, "a whole number from {min} up"),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Decimal { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Size { min, max } => write!(f, "WIDTHxHEIGHT, each a number from {min} to {max}"),
            Self::Word(words) => write!(f, "{}", alternatives(words)),
        }
    }
}

/// A number as one writes a length: `57.5`, but neither `1e3` nor `inf`.
fn plain_number(text: &str) -> Option<f32> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

/// `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// What somebody else wrote, short enough for a message.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut shown: String = text.chars().take(MAX_CHARS).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_joined_like_in_a_sentence() {
        assert_eq!(Allowed::Word(&["one"]).to_string(), "one");
        assert_eq!(Allowed::Word(&["one", "two"]).to_string(), "one or two");
        assert_eq!(
            Allowed::Word(&["one", "two", "three"]).to_string(),
            "one, two or three"
        );
    }

    #[test]
    fn a_length_is_written_with_digits_and_a_point() {
        assert_eq!(
            ["57.5", "10", ".5", "1e3", "inf", "", "-1", "1.2.3"].map(plain_number),
            [
                Some(57.5),
                Some(10.0),
                Some(0.5),
                None,
                None,
                None,
                None,
                None
            ]
        );
    }
}
