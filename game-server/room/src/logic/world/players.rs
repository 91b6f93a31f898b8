//! The players of a room, as its game sees them: their names and avatars.
//!
//! The room keeps this list: it adds a player when the game has created the avatar, and removes the
//! player after the game's `leave`. It is not saved; a restored room fills it in again from its
//! seats. Cost: logarithmic in the number of players.

use std::collections::BTreeMap;
use std::sync::Arc;

use ambit_proto::ids::{AccountId, ObjectId, PlayerId};
use ambit_proto::standing::Standing;
use ambit_proto::wishes::Wishes;

use super::{World, WorldChange};

/// Names of what a game counts.
pub const MAX_COUNTS: usize = 32;
/// Bytes of such a name.
pub const MAX_COUNT_NAME_BYTES: usize = 32;

/// A player with an avatar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorldPlayer {
    /// The object through which the player sees the world.
    pub avatar: ObjectId,
    /// The player's name; cheap to clone.
    pub name: Arc<str>,
    /// The round trip to the player's client, in milliseconds, as of the last second; `None` before
    /// it is known.
    pub ping_ms: Option<u16>,
}

impl World {
    /// A player who has joined; `None` before the end of `join` and after `leave`.
    pub fn player(&self, player: PlayerId) -> Option<&WorldPlayer> {
        self.players.get(&player)
    }

    /// All players, in the order of their ids.
    pub fn players(&self) -> impl ExactSizeIterator<Item = (PlayerId, &WorldPlayer)> {
        self.players.iter().map(|(&id, player)| (id, player))
    }

    /// The account of a player who joins or has joined; `None` without one. Another player may have
    /// the same: an account can be in a room more than once.
    pub fn account(&self, player: PlayerId) -> Option<AccountId> {
        self.accounts.get(&player).copied()
    }

    /// Notes the account of a player, before the game's `join`. Called by the room, and by tests of
    /// games.
    pub fn set_account(&mut self, player: PlayerId, account: Option<AccountId>) {
        match account {
            Some(account) => self.accounts.insert(player, account),
            None => self.accounts.remove(&player),
        };
    }

    /// What a player who joins or has joined is beyond a player.
    pub fn standing(&self, player: PlayerId) -> Standing {
        self.standings.get(&player).copied().unwrap_or_default()
    }

    /// Notes what a player is beyond a player, before the game's `join`. Called by the room, and by
    /// tests of games.
    pub fn set_standing(&mut self, player: PlayerId, standing: Standing) {
        if standing == Standing::default() {
            self.standings.remove(&player);
        } else {
            self.standings.insert(player, standing);
        }
    }

    /// What a player wishes who joins now.
    pub fn wishes(&self, player: PlayerId) -> Wishes {
        self.wishes.get(&player).cloned().unwrap_or_default()
    }

    /// Notes what a player wishes, before the game's `join`. Called by the room, and by tests of
    /// games.
    pub fn set_wishes(&mut self, player: PlayerId, wishes: Wishes) {
        if wishes.is_empty() {
            self.wishes.remove(&player);
        } else {
            self.wishes.insert(player, wishes);
        }
    }

    /// Puts a player out of the room at the end of this tick, for this reason. `false` if there is
    /// no such player.
    pub fn put_out(&mut self, player: PlayerId, why: &str) -> bool {
        let is_here = self.players.contains_key(&player);
        if is_here && self.put_out.iter().all(|(known, _)| *known != player) {
            self.put_out.push((player, why.to_owned()));
        }
        is_here
    }

    /// Whom the game has put out since the last call. Taken by the room.
    pub fn take_put_out(&mut self) -> Vec<(PlayerId, String)> {
        std::mem::take(&mut self.put_out)
    }

    /// Counts something for the operator. `false` if the name is no word of lower case, or there
    /// are [`MAX_COUNTS`] names.
    pub fn count(&mut self, name: &'static str, number: u64) -> bool {
        let is_letter =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_word =
            (1..=MAX_COUNT_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_letter);
        if !is_word || self.counts.len() >= MAX_COUNTS && !self.counts.contains_key(name) {
            return false;
        }
        let count = self.counts.entry(name).or_default();
        *count = count.saturating_add(number);
        true
    }

    /// What the game has counted here, since the room came to this host.
    pub fn operator_counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Whether an object is the avatar of a player.
    pub fn is_avatar(&self, object: ObjectId) -> bool {
        let owner = self.objects.get(object).and_then(|stored| stored.owner);
        owner.and_then(|player| self.player(player)).is_some_and(|player| player.avatar == object)
    }

    /// Whether an object exists and is the avatar of no player, so that a new player can have it.
    pub(crate) fn is_free_avatar(&self, object: ObjectId) -> bool {
        self.contains(object) && !self.is_avatar(object)
    }

    /// Makes an object the avatar of a player, who owns it from now on. Called by the room, and by
    /// tests of games.
    pub fn add_player(&mut self, player: PlayerId, avatar: ObjectId, name: &str) {
        self.set_owner(avatar, player);
        let name = name.into();
        self.players.insert(player, WorldPlayer { avatar, name, ping_ms: None });
    }

    /// Gives a player another avatar: an object with a place and no owner. The one before
    /// stays, without an owner. `false`, and nothing changes, if that can't be.
    pub fn change_avatar(&mut self, player: PlayerId, to: ObjectId) -> bool {
        let is_free = self.contains(to) && self.owner(to).is_none() && !self.is_room_wide(to);
        let Some(known) = self.players.get_mut(&player).filter(|_| is_free) else {
            return false;
        };
        let from = std::mem::replace(&mut known.avatar, to);
        self.clear_owner(from);
        self.set_owner(to, player);
        self.changes.push(WorldChange::Avatar { from, to });
        self.new_avatars.push((player, to));
        true
    }

    /// The avatars that players were given since the last call.
    pub(crate) fn take_new_avatars(&mut self) -> Vec<(PlayerId, ObjectId)> {
        std::mem::take(&mut self.new_avatars)
    }

    fn clear_owner(&mut self, object: ObjectId) {
        if self.contains(object) && self.object_mut(object).owner.take().is_some() {
            self.changes.push(WorldChange::Team { object });
        }
    }

    /// Notes the round trip to a player's client. Called by the room.
    pub(crate) fn set_ping(&mut self, player: PlayerId, ping_ms: u16) {
        if let Some(player) = self.players.get_mut(&player) {
            player.ping_ms = Some(ping_ms);
        }
    }

    /// Gives a player another name. Called by the room.
    pub fn rename_player(&mut self, player: PlayerId, name: &str) {
        if let Some(player) = self.players.get_mut(&player) {
            player.name = name.into();
        }
    }

    /// Removes a player who has left, and the player's rows. Called by the room, and by tests of
    /// games.
    pub fn remove_player(&mut self, player: PlayerId) {
        self.players.remove(&player);
        self.accounts.remove(&player);
        self.standings.remove(&player);
        self.despawn_rows(player);
    }

    /// Replaces the list of players after a restore.
    pub(crate) fn restore_players<'n>(
        &mut self,
        players: impl Iterator<Item = (PlayerId, ObjectId, &'n str, Option<u16>)>,
    ) {
        let entry = |(player, avatar, name, ping_ms): (PlayerId, ObjectId, &str, Option<u16>)| {
            (player, WorldPlayer { avatar, name: name.into(), ping_ms })
        };
        self.players = players.map(entry).collect();
    }
}
