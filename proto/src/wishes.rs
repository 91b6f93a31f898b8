//! What a player wishes in the rooms that it joins: a class, a team, a skin. The lobby passes it on
//! with the player, and the game decides what follows from it.

#![warn(missing_docs, reason = "authors of games import it")]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Names and values, as the player's client has set them: claims, not facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes(BTreeMap<String, String>);

/// More wishes than one player has, or longer ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a player has at most {} wishes of together {} bytes, without control characters",
    Wishes::MAX,
    Wishes::MAX_BYTES
)]
pub struct TooManyWishes;

impl Wishes {
    /// The most wishes of a player.
    pub const MAX: usize = 8;
    /// The bytes of all their names and values together.
    pub const MAX_BYTES: usize = 256;

    /// The wishes of a player, checked.
    pub fn new(wishes: BTreeMap<String, String>) -> Result<Self, TooManyWishes> {
        let bytes: usize = wishes.iter().map(|(name, value)| name.len() + value.len()).sum();
        let has_control = |text: &String| text.contains(char::is_control);
        let is_odd = wishes.iter().any(|(name, value)| has_control(name) || has_control(value));
        if wishes.len() > Self::MAX || bytes > Self::MAX_BYTES || is_odd {
            return Err(TooManyWishes);
        }
        Ok(Self(wishes))
    }

    /// What is wished of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&name[..], &value[..]))
    }

    /// Whether nothing is wished.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For messages.
    pub fn into_map(self) -> BTreeMap<String, String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_few_short_and_readable() {
        let of = |name: &str, value: &str| Wishes::new([(name.into(), value.into())].into());
        assert_eq!(of("class", "mage").expect("a wish").get("class"), Some("mage"));
        assert_eq!(of("class", &"m".repeat(251)).map(|_| ()), Ok(()));
        assert_eq!(of("class", &"m".repeat(252)), Err(TooManyWishes));
        assert_eq!(of("cla\nss", "mage"), Err(TooManyWishes));
        let many =
            |count: u8| Wishes::new((0..count).map(|n| (n.to_string(), String::new())).collect());
        assert_eq!(many(8).map(|wishes| wishes.iter().count()), Ok(8));
        assert_eq!(many(9), Err(TooManyWishes));
    }
}
