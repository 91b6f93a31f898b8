//! What a game keeps of each player beside the objects: the profile, which lasts as long as the
//! player's account, and the seat, which lasts as long as the player is in the room.
//!
//! The room knows bytes, the game types. The room opens the values of a player before the game's
//! `join`, and closes them after its `leave`; in between it takes the profiles that have changed.

use std::any::Any;
use std::fmt::Debug;

use ambit_proto::ids::PlayerId;

use crate::saved::BadState;

/// The values of all players of a room.
pub trait PlayerValues: Debug + Send + Any {
    /// Whether there are profiles, so that a player with an account waits for the store.
    fn has_profiles(&self) -> bool;

    /// A player is about to join, with the stored profile; a new one without. An error if it is of
    /// no type that this game can read: then nothing is opened.
    fn open(&mut self, player: PlayerId, profile: Option<&[u8]>) -> Result<(), UnreadableProfile>;

    /// The player has left.
    fn close(&mut self, player: PlayerId);

    /// Whether the profile of a player has changed since it was last taken.
    fn has_changed(&self, player: PlayerId) -> bool;

    /// The profile of a player as the store keeps it. It counts as unchanged from now on.
    fn take_profile(&mut self, player: PlayerId) -> Option<Vec<u8>>;

    /// All values, for the next host.
    fn save(&self) -> Vec<u8>;

    /// Replaces all values by those that were saved.
    fn restore(&mut self, saved: &[u8]) -> Result<(), BadState>;
}

/// Why a stored profile cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored profile cannot be read as this game's type: {0}")]
pub struct UnreadableProfile(pub String);

/// Of a game that keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoValues;

impl PlayerValues for NoValues {
    fn has_profiles(&self) -> bool {
        false
    }

    fn open(&mut self, _: PlayerId, _: Option<&[u8]>) -> Result<(), UnreadableProfile> {
        Ok(())
    }

    fn close(&mut self, _: PlayerId) {}

    fn has_changed(&self, _: PlayerId) -> bool {
        false
    }

    fn take_profile(&mut self, _: PlayerId) -> Option<Vec<u8>> {
        None
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<(), BadState> {
        if saved.is_empty() { Ok(()) } else { Err(BadState::Malformed) }
    }
}
