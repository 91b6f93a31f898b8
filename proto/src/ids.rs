//! Identifiers, each its own type.
//!
//! Invariants: a [`ClientId`] is never reused within its room. An [`ObjectId`] is never sent,
//! because an id that counts objects reveals how many are hidden. Clients know objects by their
//! [`Alias`] only, and give each a [`ClientObjectId`]. [`Seq`] and an alias' epoch wrap around;
//! this module alone defines their order.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::fmt;
use std::str::FromStr;

use crate::wire::{Coder, Wire, WireError};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($number:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        #[derive(derive_more::Display, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub $number);
    };
}

id!(
    /// A player, for as long as the session exists; unique in a lobby.
    PlayerId(u64)
);
id!(
    /// A room; unique in a lobby.
    RoomId(u64)
);
id!(
    /// Players who join rooms together; unique in a lobby, and gone with its last two members.
    PartyId(u64)
);
id!(
    /// One game connection of a room. A player who reconnects gets a new one.
    ClientId(u32)
);
id!(
    /// An object of a room, on the server's side. Types that server and client share have it at
    /// both ends: at a client it holds that client's [`ClientObjectId`] (`message::TypedId`).
    ObjectId(u64)
);
id!(
    /// The number by which one client knows an object: ascending, never reused. Another client
    /// knows the same object by another number.
    ClientObjectId(u32)
);

/// An account: the same in all sessions of a player who has proved to own it.
///
/// It is derived from the proof: two servers, or two ways of proving, never share one. As text it
/// is 32 hexadecimal digits.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize,
)]
pub struct AccountId(pub [u8; 16]);

impl AccountId {
    /// From a message or a record: of any other length than 16 bytes it is none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// For a message or a record; nothing stands for no account.
    pub fn to_bytes(account: Option<Self>) -> Vec<u8> {
        account.map_or_else(Vec::new, |account| account.0.to_vec())
    }
}

/// 32 hexadecimal digits.
impl FromStr for AccountId {
    type Err = InvalidAccountId;

    fn from_str(text: &str) -> Result<Self, InvalidAccountId> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = is_hex.then(|| u128::from_str_radix(text, 16));
        number.and_then(Result::ok).map(|id| Self(id.to_be_bytes())).ok_or(InvalidAccountId)
    }
}

/// Not an account's id.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("an account is 32 hexadecimal digits")]
pub struct InvalidAccountId;

impl fmt::Display for AccountId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl ObjectId {
    /// At a client, in an event: an object that this client does not see. No object has this id.
    pub const UNSEEN: Self = Self(u64::MAX);

    /// At a client, in a command or an event: the object that it knows by this number.
    pub const fn at_client(id: ClientObjectId) -> Self {
        Self(id.0 as u64)
    }
}

/// One client's identifier for an object. Slots are reused; each use of a slot has the next epoch,
/// so that a late datagram is never taken for the slot's next object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Alias {
    /// The server assigns the lowest free slots first: they are shorter on the wire.
    pub slot: u16,
    /// Which use of the slot this is, wrapping.
    pub epoch: u8,
}

impl Alias {
    /// Whether `epoch` comes after `other`, in wrapping order: by 1 to 127 steps.
    pub const fn newer_than(epoch: u8, other: u8) -> bool {
        epoch.wrapping_sub(other).cast_signed() > 0
    }
}

/// Slot as a varint (5 bits below 16, 10 below 256, ...), epoch in 8 bits.
impl Wire for Alias {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut slot = u64::from(self.slot);
        coder.varint(&mut slot)?;
        self.slot =
            u16::try_from(slot).map_err(|_| WireError::OutOfRange { what: "slot of an alias" })?;
        coder.u8(&mut self.epoch)
    }
}

/// Number of a datagram. It wraps around, so it has no total order; newer and older are defined
/// within 32,767 steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Seq(pub u16);

impl Seq {
    /// The number after this one.
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Whether this comes after `other`: by 1 to 32,767 steps.
    pub const fn newer_than(self, other: Self) -> bool {
        other.distance_to(self) > 0
    }

    /// Steps from this to `other` in the shorter direction: positive when `other` is newer,
    /// negative when it is older.
    pub const fn distance_to(self, other: Self) -> i16 {
        other.0.wrapping_sub(self.0).cast_signed()
    }
}

/// 16 bits.
impl Wire for Seq {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        coder.u16(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_wraps_past_its_highest_number() {
        let last = Seq(u16::MAX);
        assert_eq!(last.next(), Seq(0));
        assert!(Seq(0).newer_than(last));
        assert!(!last.newer_than(Seq(0)));
        assert!(!last.newer_than(last));
        assert_eq!(last.distance_to(Seq(2)), 3);
        assert_eq!(Seq(2).distance_to(last), -3);
    }

    #[test]
    fn an_epoch_wraps_past_its_highest_number() {
        assert!(Alias::newer_than(0, 255));
        assert!(!Alias::newer_than(255, 0));
        assert!(!Alias::newer_than(7, 7));
        assert!(Alias::newer_than(127, 0));
        assert!(!Alias::newer_than(128, 0));
    }
}
