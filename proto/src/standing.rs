//! What a player is beyond a player: whether it has made its room, and what the operator trusts it
//! with. The lobby says it to the room, and the game may use it; clients are not told.

#![warn(missing_docs, reason = "authors of games import it")]

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::PartyId;

/// What a player is in a room, as of the join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The player has made the room. A room of the operator's list has no maker.
    pub is_maker: bool,
    /// What the operator trusts the player's account with, on this server and in all of its games.
    pub role: Option<OperatorRole>,
    /// The party that the player is in: those with the same one want to play together.
    pub party: Option<PartyId>,
}

/// What the operator trusts an account with. Each role contains those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OperatorRole {
    /// May see what other players may not.
    Look,
    /// May act against players: warn, mute, put out.
    Moderate,
    /// May do all that the operator may.
    Operate,
}

impl OperatorRole {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Look, Self::Moderate, Self::Operate];

    /// As an operator writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Moderate => "moderate",
            Self::Operate => "operate",
        }
    }

    /// 1 to 3, for records and messages.
    pub const fn number(self) -> u32 {
        match self {
            Self::Look => 1,
            Self::Moderate => 2,
            Self::Operate => 3,
        }
    }

    /// The role with this number; `None` for a number that this build does not know.
    pub fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.number() == number)
    }
}

impl fmt::Display for OperatorRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for OperatorRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let role = Self::ALL.into_iter().find(|role| role.name() == text);
        role.ok_or_else(|| "expected `look`, `moderate` or `operate`".to_owned())
    }
}

impl Standing {
    /// For messages: 1 for the maker, and twice the role's number. The party is beside it.
    pub fn bits(self) -> u32 {
        u32::from(self.is_maker) + 2 * self.role.map_or(0, OperatorRole::number)
    }

    /// The same with a party's number from a message; 0 for none.
    #[must_use]
    pub fn in_party(self, party: u64) -> Self {
        Self { party: Some(PartyId(party)).filter(|party| party.0 != 0), ..self }
    }

    /// The standing in a message. Of what this build does not know nothing follows.
    pub fn from_bits(bits: u32) -> Self {
        Self { is_maker: bits & 1 == 1, role: OperatorRole::from_number(bits / 2), party: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_is_the_same_after_a_message_and_unknown_bits_are_nothing() {
        for is_maker in [false, true] {
            for role in OperatorRole::ALL.into_iter().map(Some).chain([None]) {
                let standing = Standing { is_maker, role, party: None };
                assert_eq!(Standing::from_bits(standing.bits()), standing);
            }
        }
        assert_eq!(Standing::from_bits(8), Standing::default());
        assert_eq!(Standing::from_bits(u32::MAX).role, None);
    }

    #[test]
    fn roles_are_read_as_they_are_shown_and_grow() {
        for role in OperatorRole::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert!("admin".parse::<OperatorRole>().is_err());
        assert!(OperatorRole::ALL.is_sorted());
    }
}
