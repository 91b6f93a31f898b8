//! How the poses for a client are coded: what it asks for, and what a room prefers.

use derive_more::{Display, FromStr};
use serde::{Deserialize, Serialize};

use super::Level;
use crate::control::game as pb;

/// A coding of poses. A client asks for one at the join (`Join.coding`); a room prefers one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, FromStr, Serialize, Deserialize)]
#[display(rename_all = "lowercase")]
#[from_str(rename_all = "lowercase")]
#[from_str(error(UnknownCoding, |_| UnknownCoding))]
pub enum PoseCoding {
    /// Of a client: what the room prefers. Of a room: [`PoseCoding::Shared`] or
    /// [`PoseCoding::Fine`], by the kinds of the game and the number of clients.
    #[default]
    Auto,
    /// Without baselines and entropy coder, for clients that are to be simple: several times the
    /// bytes of [`PoseCoding::Shared`]. See [`crate::message::PlainPose`].
    Plain,
    /// Coded once for all clients ([`Level::Shared`]).
    Shared,
    /// Coded for each client separately, relative to all that the client is known to have: fewer
    /// bytes where objects turn freely, more processor time ([`Level::Fine`]).
    Fine,
}

/// A word that is no coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected auto, plain, shared or fine")]
pub struct UnknownCoding;

impl PoseCoding {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Plain, Self::Shared, Self::Fine];

    /// This one; `preference` if it is [`PoseCoding::Auto`].
    #[must_use]
    pub const fn or(self, preference: Self) -> Self {
        match self {
            Self::Auto => preference,
            asked => asked,
        }
    }

    /// The level of its sections; `None` for [`PoseCoding::Plain`]. `auto` chooses one.
    pub fn level(self, auto: impl FnOnce() -> Level) -> Option<Level> {
        match self {
            Self::Auto => Some(auto()),
            Self::Plain => None,
            Self::Shared => Some(Level::Shared),
            Self::Fine => Some(Level::Fine),
        }
    }

    /// The number of a message's field; `None` if this build does not know it.
    pub fn from_number(number: i32) -> Option<Self> {
        pb::PoseCoding::try_from(number).ok().map(Self::from)
    }
}

impl From<pb::PoseCoding> for PoseCoding {
    fn from(coding: pb::PoseCoding) -> Self {
        match coding {
            pb::PoseCoding::Auto => Self::Auto,
            pb::PoseCoding::Plain => Self::Plain,
            pb::PoseCoding::Shared => Self::Shared,
            pb::PoseCoding::Fine => Self::Fine,
        }
    }
}

impl From<PoseCoding> for pb::PoseCoding {
    fn from(coding: PoseCoding) -> Self {
        match coding {
            PoseCoding::Auto => Self::Auto,
            PoseCoding::Plain => Self::Plain,
            PoseCoding::Shared => Self::Shared,
            PoseCoding::Fine => Self::Fine,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read_as_they_are_written() {
        for coding in PoseCoding::ALL {
            assert_eq!(coding.to_string().parse(), Ok(coding));
            let number = pb::PoseCoding::from(coding).into();
            assert_eq!(PoseCoding::from_number(number), Some(coding));
        }
        assert_eq!("Plain".parse::<PoseCoding>(), Err(UnknownCoding));
        assert_eq!(PoseCoding::from_number(4), None);
    }

    #[test]
    fn a_client_that_asks_for_nothing_gets_what_the_room_prefers() {
        assert_eq!(PoseCoding::Auto.or(PoseCoding::Fine), PoseCoding::Fine);
        assert_eq!(PoseCoding::Plain.or(PoseCoding::Fine), PoseCoding::Plain);
    }
}
