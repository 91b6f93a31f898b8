//! Declared parameters and given values.
//!
//! Tables of [`Parameter`]s and the player's input go in; checked [`Parameters`] come out, or a
//! [`BadParameter`] that states what is allowed. Nothing here knows what the parameters mean.

use std::collections::BTreeMap;
use std::fmt;

/// The declaration of a parameter: name, default, and allowed values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// As in `key=value`.
    pub key: &'static str,
    /// What players read instead of the key; empty for none.
    pub label: &'static str,
    /// In the form of the player's input; empty if the server chooses the value.
    pub default: &'static str,
    /// The values that may be given.
    pub allowed: Allowed,
    /// What it is, its unit, and what raising it costs.
    pub about: &'static str,
}

/// The values that a parameter may take; all bounds are included.
#[expect(missing_docs, reason = "`min` and `max`: above")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// A whole number.
    Whole { min: u64, max: u64 },
    /// A number, perhaps with a fraction: `2.5`.
    Decimal { min: f32, max: f32 },
    /// Two numbers, `WIDTHxHEIGHT`: digits and a point, nothing else.
    Size { min: f32, max: f32 },
    /// One of some words.
    Word(&'static [&'static str]),
}

/// Keys that only the lobby sets: the index of the room's map in its world, and whether the room
/// stays without players.
const LOBBY_ONLY_KEYS: [&str; 2] = ["map", "lasting"];

/// Why a room cannot be created with these parameters.
#[expect(missing_docs, reason = "the messages explain the other fields")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadParameter {
    /// No table declares the key.
    #[error("there is no parameter {key:?}; the known ones are {known}")]
    Unknown {
        /// The given key, shortened.
        key: String,
        /// All keys.
        known: String,
    },
    /// The value is out of range or of another type.
    #[error("{key}={value} is not possible: it must be {allowed}")]
    Value {
        key: &'static str,
        /// The given value, shortened.
        value: String,
        allowed: String,
    },
    /// The server allows less.
    #[error("{what} is too much for this server, which allows {max}: {hint}")]
    OverLimit {
        /// The value, or what follows from the parameters.
        what: String,
        max: String,
        /// What to do.
        hint: String,
    },
    /// The value conflicts with another one.
    #[error("{key} does not fit: {problem}")]
    Conflict {
        /// The key to change.
        key: &'static str,
        /// What is wrong, and what is allowed.
        problem: String,
    },
}

impl BadParameter {
    /// Checks that a world of `maps` maps has a map of this index: for the parameters `map` and
    /// `maps` of a game with several maps.
    pub fn check_map(map: u64, maps: u32) -> Result<(), Self> {
        if map < maps.into() {
            return Ok(());
        }
        let problem = format!("maps={maps} has no map {map}: they are counted from 0");
        Err(Self::Conflict { key: "map", problem })
    }
}

/// Checked parameters, read by name and type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    /// One entry for each declared key; `None` if the default is empty and no value was given.
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
    /// Checks the given values against the tables. If two tables declare a key, the later one
    /// counts.
    pub fn parse(
        given: &BTreeMap<String, String>,
        tables: &[&'static [Parameter]],
    ) -> Result<Self, BadParameter> {
        let declared = || tables.iter().copied().flatten();
        if let Some(key) =
            given.keys().find(|key| declared().all(|parameter| parameter.key != key.as_str()))
        {
            let keys = declared().map(|parameter| parameter.key);
            let mut known: Vec<_> = keys.filter(|key| !LOBBY_ONLY_KEYS.contains(key)).collect();
            known.sort_unstable();
            known.dedup();
            return Err(BadParameter::Unknown { key: shortened(key), known: known.join(", ") });
        }
        let mut values = BTreeMap::new();
        for (parameter, later) in tables.iter().enumerate().flat_map(|(index, table)| {
            table.iter().map(move |parameter| (parameter, &tables[index + 1..]))
        }) {
            if later.iter().copied().flatten().any(|it| it.key == parameter.key) {
                continue;
            }
            let text = given.get(parameter.key).map(String::as_str);
            values.insert(
                parameter.key,
                ParameterEntry { value: parameter.parse(text)?, given: text.is_some() },
            );
        }
        Ok(Self { values })
    }

    /// A declared whole number.
    ///
    /// # Panics
    /// If `key` is not declared as a whole number with a default, like the other readers: a bug of
    /// the game.
    pub fn whole(&self, key: &str) -> u64 {
        self.whole_if_given(key).unwrap_or_else(|| panic!("the parameter {key} has no default"))
    }

    /// A declared whole number without a default.
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

    /// A number, or the longer side of a size. `None` if the key is not declared, has no value or
    /// is no number.
    pub fn largest(&self, key: &str) -> Option<f64> {
        match self.values.get(key)?.value? {
            ParameterValue::Whole(number) => Some(number as f64),
            ParameterValue::Decimal(number) => Some(number.into()),
            ParameterValue::Size(width, height) => Some(width.max(height).into()),
            ParameterValue::Word(_) => None,
        }
    }

    /// Whether a table declares this parameter.
    pub fn is_declared(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Whether it was given or has a default.
    pub fn has_value(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether the player has set this parameter.
    pub fn is_given(&self, key: &str) -> bool {
        self.entry(key).given
    }

    fn value(&self, key: &str) -> Option<ParameterValue> {
        self.entry(key).value
    }

    fn entry(&self, key: &str) -> &ParameterEntry {
        self.values.get(key).unwrap_or_else(|| panic!("no table declares the parameter {key}"))
    }
}

impl Parameter {
    /// Whether players may give it.
    pub fn is_for_players(&self) -> bool {
        !LOBBY_ONLY_KEYS.contains(&self.key)
    }

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
    /// Of these values those up to the largest one.
    #[must_use]
    pub fn up_to(self, largest: f64) -> Self {
        match self {
            // Saturates.
            Self::Whole { min, max } => Self::Whole { min, max: max.min(largest as u64) },
            Self::Decimal { min, max } => Self::Decimal { min, max: max.min(largest as f32) },
            Self::Size { min, max } => Self::Size { min, max: max.min(largest as f32) },
            Self::Word(words) => Self::Word(words),
        }
    }

    /// Whether all these values are among the others.
    pub(crate) fn is_within(self, others: Self) -> bool {
        match (self, others) {
            (Self::Whole { min, max }, Self::Whole { min: least, max: most }) => {
                least <= min && min <= max && max <= most
            }
            (Self::Decimal { min, max }, Self::Decimal { min: least, max: most })
            | (Self::Size { min, max }, Self::Size { min: least, max: most }) => {
                least <= min && min <= max && max <= most
            }
            (Self::Word(_), Self::Word(_)) => self == others,
            _ => false,
        }
    }

    pub(crate) fn is_number(self) -> bool {
        !matches!(self, Self::Word(_))
    }

    fn parse(self, text: &str) -> Option<ParameterValue> {
        match self {
            Self::Whole { min, max } => {
                let number = plain(text)?.parse().ok()?;
                (min..=max).contains(&number).then_some(ParameterValue::Whole(number))
            }
            Self::Decimal { min, max } => {
                let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |it| (-1.0, it));
                let number = sign * plain_number(digits)?;
                (min..=max).contains(&number).then_some(ParameterValue::Decimal(number))
            }
            Self::Size { min, max } => {
                let (width, height) = text.split_once(['x', 'X'])?;
                let width = plain_number(width)?;
                let height = plain_number(height)?;
                let fits = (min..=max).contains(&width) && (min..=max).contains(&height);
                fits.then_some(ParameterValue::Size(width, height))
            }
            Self::Word(words) => {
                words.iter().find(|&&word| word == text).map(|&word| ParameterValue::Word(word))
            }
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

/// A number as people write a length: `57.5`, but neither `+5`, `1e3` nor `inf`.
fn plain_number(text: &str) -> Option<f32> {
    plain(text)?.parse().ok()
}

/// The text, if it has digits and points alone.
fn plain(text: &str) -> Option<&str> {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(text)
}

/// `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        words => words.concat(),
    }
}

/// A player's input, short enough for a message.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut shortened: String = text.chars().take(MAX_CHARS).collect();
    if shortened.len() < text.len() {
        shortened.push_str("...");
    }
    shortened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_counted_from_0() {
        assert_eq!(BadParameter::check_map(2, 3), Ok(()));
        let error = BadParameter::check_map(3, 3).expect_err("the last one is 2");
        let text = "map does not fit: maps=3 has no map 3: they are counted from 0";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn alternatives_are_joined_like_in_a_sentence() {
        assert_eq!(Allowed::Word(&["one"]).to_string(), "one");
        assert_eq!(Allowed::Word(&["one", "two"]).to_string(), "one or two");
        assert_eq!(Allowed::Word(&["one", "two", "three"]).to_string(), "one, two or three");
    }

    #[test]
    fn a_length_is_written_with_digits_and_a_point() {
        assert_eq!(
            ["57.5", "10", ".5", "1e3", "inf", "", "-1", "1.2.3"].map(plain_number),
            [Some(57.5), Some(10.0), Some(0.5), None, None, None, None, None]
        );
    }

    #[test]
    fn numbers_have_no_sign_but_minus() {
        let whole = Allowed::Whole { min: 0, max: 99 };
        assert_eq!(whole.parse("20"), Some(ParameterValue::Whole(20)));
        let decimal = Allowed::Decimal { min: -2.0, max: 99.0 };
        assert_eq!(decimal.parse("-1.5"), Some(ParameterValue::Decimal(-1.5)));
        for text in ["+20", "-+2", "2e1", "--1", "- 1"] {
            assert_eq!((whole.parse(text), decimal.parse(text)), (None, None), "{text}");
        }
    }
}
