//! The profiles of players: a player with an account joins once the store has answered, and what
//! the game changes is written at intervals, when any player leaves, and at the end.
//!
//! A profile is one room's at a time. The store gives it to the room that claims it first, with a
//! number ([`ProfileClaim`]) that goes along through gates, and to the next one after the last
//! write. A room that has lost it writes nothing, and its player is out.
//!
//! All profiles that have changed are written together, as they are at the end of one tick: what a
//! player has given to another is in both profiles or in none, whatever dies. One such write is
//! open at a time; meanwhile the newest values wait here.
//!
//! Bound: one entry for each player who waits, is here, or has left since the last write; and who
//! waits needs an answer of the store to come in.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::ids::{AccountId, ClientId, PlayerId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use serde::{Deserialize, Serialize};

use super::input::REPLAY_CLIENT;
use super::seat::Presence;
use crate::logic::store::{ProfileClaim, ProfileSave, StoreNumber};

/// The profiles of players who play on are written after this time.
pub const PROFILE_INTERVAL: Duration = Duration::from_secs(10);

/// The profiles of a room, without their values: these are the game's
/// ([`PlayerValues`](crate::logic::player_values::PlayerValues)).
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Profiles {
    pub(super) waiting: BTreeMap<PlayerId, WaitingPlayer>,
    pub(super) held: BTreeMap<PlayerId, HeldProfile>,
    /// Claims without an answer. Of a player who is gone, the profile goes back at once.
    pub(super) claims: BTreeMap<StoreNumber, (PlayerId, AccountId)>,
    /// The last values of players who have left, for the next write.
    pub(super) leaving: Vec<ProfileSave>,
    /// Accounts that the open write releases.
    pub(super) released: BTreeSet<AccountId>,
    /// The open write.
    pub(super) open_save: Option<StoreNumber>,
    pub(super) saved_at: GameTime,
    /// The next write is due as soon as none is open.
    pub(super) is_due: bool,
}

/// A player who joins once the profile is here.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WaitingPlayer {
    pub(super) name: String,
    pub(super) account: AccountId,
    pub(super) presence: Presence,
    /// Of the present client.
    #[serde(skip)]
    pub(super) coding: PoseCoding,
}

/// The profile of a player who is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldProfile {
    pub(super) account: AccountId,
    pub(super) claim: ProfileClaim,
    /// Of the last write.
    pub(super) version: u64,
    /// It came from another map, whose last write of it may be under way still: only one from here
    /// comes surely before the profile is given back.
    #[serde(default)]
    pub(super) is_unwritten: bool,
}

/// A profile on the way to another map.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CarriedProfile {
    /// `None` for a player without an account.
    pub(super) held: Option<HeldProfile>,
    pub(super) value: Vec<u8>,
}

impl Profiles {
    pub(super) fn is_waiting(&self, player: PlayerId) -> bool {
        self.waiting.contains_key(&player)
    }

    pub(super) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// The player who has the account's profile.
    pub(super) fn holder(&self, account: AccountId) -> Option<PlayerId> {
        let mut held = self.held.iter();
        held.find_map(|(player, held)| (held.account == account).then_some(*player))
    }

    /// Whether the room still needs the profile of this account, or has asked for it.
    pub(super) fn is_in_use(&self, account: AccountId) -> bool {
        self.holder(account).is_some()
            || self.claims.values().any(|(_, claimed)| *claimed == account)
            || self.leaving.iter().any(|save| save.account == account && save.is_last)
            || self.released.contains(&account)
    }

    /// A restored room has no connections.
    pub(super) fn forget_clients(&mut self) {
        for waiting in self.waiting.values_mut() {
            if let Presence::Here(client) = &mut waiting.presence {
                *client = REPLAY_CLIENT;
            }
        }
    }

    /// The journal ends here.
    pub(super) fn disconnect_all(&mut self, now: GameTime) {
        for waiting in self.waiting.values_mut() {
            if let Presence::Here(_) = waiting.presence {
                waiting.presence = Presence::Away(now);
            }
        }
    }

    /// Whether that was the connection of a player who waits.
    pub(super) fn disconnect(&mut self, now: GameTime, client: ClientId, player: PlayerId) -> bool {
        let is_present = |waiting: &&mut WaitingPlayer| waiting.presence == Presence::Here(client);
        let Some(waiting) = self.waiting.get_mut(&player).filter(is_present) else {
            return false;
        };
        waiting.presence = Presence::Away(now);
        true
    }

    /// The player is out.
    pub(super) fn stop_waiting(&mut self, player: PlayerId) {
        self.waiting.remove(&player);
    }

    /// Removes players who are not back within the grace period.
    pub(super) fn expire(&mut self, now: GameTime, grace: Duration) -> Vec<PlayerId> {
        let is_over = |_: &PlayerId, waiting: &mut WaitingPlayer| match waiting.presence {
            Presence::Away(since) => now.since(since) >= grace,
            Presence::Here(_) => false,
        };
        self.waiting.extract_if(.., is_over).map(|(player, _)| player).collect()
    }

    pub(super) fn rename(&mut self, player: PlayerId, name: &str) {
        if let Some(waiting) = self.waiting.get_mut(&player) {
            name.clone_into(&mut waiting.name);
        }
    }

    /// Whether no player waits, and the store has everything.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.claims.is_empty() && self.are_all_written()
    }

    /// Whether the store has everything, so that the room may end.
    pub(super) fn are_all_written(&self) -> bool {
        self.open_save.is_none() && self.leaving.is_empty() && self.held.is_empty()
    }
}
