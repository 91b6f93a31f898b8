//! When something is offered, and what texts mean.

use serde::{Deserialize, Serialize};

use super::hints;

/// A component has a value: something is offered only as long as that is so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Condition {
    /// The name of a flag of the avatar, or of a text of the avatar, of the player's own row or of
    /// the only object of a room-wide kind.
    pub of: String,
    /// What the text is; empty for a flag, which is set.
    pub is: String,
}

impl Condition {
    /// A flag is set.
    pub fn set(flag: impl Into<String>) -> Self {
        Self { of: flag.into(), is: String::new() }
    }

    /// A text has this value, such as a class or a phase.
    pub fn text(of: impl Into<String>, is: impl Into<String>) -> Self {
        Self { of: of.into(), is: is.into() }
    }
}

/// What a text is about, where viewers do more than show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum TextRole {
    /// The name of a player, as the player writes it.
    Player,
    /// Who has won, such as a player's name; empty as long as that is open.
    Winner,
    /// Why the game has ended.
    Reason,
}

/// How a game ends for its players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// All who play have won.
    Won,
    /// All who play have lost.
    Lost,
    /// It is over; a text with the role [`TextRole::Winner`] may say who has won.
    Over,
}

/// A value that a text may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Word {
    /// The value.
    pub is: String,
    /// What players read instead; may be empty.
    pub label: String,
    /// How the game has ended for its players when the text has this value; null while it runs.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub outcome: Option<Outcome>,
}
