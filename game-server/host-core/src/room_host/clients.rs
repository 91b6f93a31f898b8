//! Who is connected to a room, who was, and whose tickets are revoked.
//!
//! Bounds: the room's seats and the connections that a host accepts; revoked tickets for
//! [`REVOKED_FOR`]; clients that have moved away for [`MOVE_WITHIN`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::time::GameTime;

/// How long a client whose player has moved to another map may stay connected. Its ticket there may
/// take as long as the lobby needs for another host.
pub(super) const MOVE_WITHIN: Duration = Duration::from_secs(20);

/// For how long revoked tickets are remembered: longer than a checked ticket can wait for its room.
const REVOKED_FOR: Duration = Duration::from_mins(1);

/// The clients of a room.
#[derive(Debug, Default)]
pub(super) struct RoomClients {
    connected: BTreeMap<ClientId, ConnectedPlayer>,
    /// Clients of players who have moved to another map, and since when: they close by themselves.
    moved_away: BTreeMap<ClientId, GameTime>,
    revoked: RevokedTickets,
}

#[derive(Debug)]
struct ConnectedPlayer {
    player: PlayerId,
    /// The serial of the ticket that the player came with.
    serial: u64,
}

/// Tickets of this room that were revoked and may have been checked before that.
#[derive(Debug, Default)]
struct RevokedTickets {
    /// By player the newest serial, and when it was revoked.
    players: BTreeMap<PlayerId, (u64, GameTime)>,
    /// Players whose tickets are valid, and the newest serial of all others that is revoked.
    others: Option<(BTreeSet<PlayerId>, u64)>,
}

impl RoomClients {
    /// A client has come with a ticket of this serial.
    pub(super) fn add(&mut self, client: ClientId, player: PlayerId, serial: u64) {
        self.connected.insert(client, ConnectedPlayer { player, serial });
    }

    /// A client is sent nothing more. Returns its player, unless it was out already.
    pub(super) fn remove(&mut self, client: ClientId) -> Option<PlayerId> {
        self.connected.remove(&client).map(|connected| connected.player)
    }

    /// A client's connection is gone. Returns its player, unless it was out already.
    pub(super) fn close(&mut self, client: ClientId) -> Option<PlayerId> {
        self.moved_away.remove(&client);
        self.remove(client)
    }

    /// The client's player has moved to another map. It closes by itself.
    pub(super) fn move_away(&mut self, now: GameTime, client: ClientId) {
        if self.remove(client).is_some() {
            self.moved_away.insert(client, now);
        }
    }

    /// Clients that have come since their player left for another map, with a ticket up to this
    /// serial: their next one leads there. They were not removed from the game.
    pub(super) fn let_follow(&mut self, now: GameTime, player: PlayerId, revoked_until: u64) {
        let stays_behind = |_: &ClientId, client: &mut ConnectedPlayer| {
            client.player == player && client.serial <= revoked_until
        };
        let behind = self.connected.extract_if(.., stays_behind);
        self.moved_away.extend(behind.map(|(client, _)| (client, now)));
    }

    /// Those who have moved away and have not closed in time; they are forgotten.
    pub(super) fn take_late(&mut self, now: GameTime) -> Vec<ClientId> {
        let is_late = |_: &ClientId, since: &mut GameTime| now.since(*since) >= MOVE_WITHIN;
        self.moved_away.extract_if(.., is_late).map(|(client, _)| client).collect()
    }

    /// The room ends: those who have moved away wait for a ticket to the other map, and close by
    /// themselves.
    pub(super) fn forget_moved_away(&mut self) {
        self.moved_away.clear();
    }

    /// Those who are sent something, in the order of their numbers.
    pub(super) fn ids(&self) -> impl Iterator<Item = ClientId> + '_ {
        self.connected.keys().copied()
    }

    /// Their players.
    pub(super) fn players(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.connected.values().map(|client| client.player)
    }

    pub(super) fn contains(&self, client: ClientId) -> bool {
        self.connected.contains_key(&client)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.connected.is_empty()
    }

    pub(super) fn player_of(&self, client: ClientId) -> Option<PlayerId> {
        Some(self.connected.get(&client)?.player)
    }

    /// A client of this player.
    pub(super) fn client_of(&self, player: PlayerId) -> Option<ClientId> {
        let mut clients = self.connected.iter();
        clients.find(|(_, client)| client.player == player).map(|(&client, _)| client)
    }

    /// Whether the player has come with a ticket that is newer than the revoked ones.
    pub(super) fn is_back(&self, player: PlayerId, revoked_until: u64) -> bool {
        let is_newer =
            |client: &ConnectedPlayer| client.player == player && client.serial > revoked_until;
        self.connected.values().any(is_newer)
    }

    /// The player's tickets up to this serial are revoked.
    pub(super) fn revoke(&mut self, now: GameTime, player: PlayerId, serial: u64) {
        self.revoked.players.retain(|_, (_, since)| now.since(*since) < REVOKED_FOR);
        self.revoked.players.insert(player, (serial, now));
    }

    /// Those of all other players up to this serial are revoked.
    pub(super) fn revoke_all_but(&mut self, members: BTreeSet<PlayerId>, serial: u64) {
        self.revoked.others = Some((members, serial));
    }

    /// Whether a ticket was revoked since it was checked.
    pub(super) fn is_revoked(&self, player: PlayerId, serial: u64) -> bool {
        let RevokedTickets { players, others } = &self.revoked;
        let own = players.get(&player).map(|(revoked, _)| *revoked);
        let others = others
            .as_ref()
            .filter(|(members, _)| !members.contains(&player))
            .map(|(_, revoked)| *revoked);
        own.max(others).is_some_and(|revoked| serial <= revoked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoked_tickets_are_forgotten_after_a_minute() {
        let mut clients = RoomClients::default();
        let [first, second] = [PlayerId(1), PlayerId(2)];
        let at = |s: u64| GameTime::from_millis(1_000 * s);
        clients.revoke(at(10), first, 7);
        clients.revoke(at(69), second, 1);
        assert!(clients.is_revoked(first, 7) && !clients.is_revoked(first, 8));
        clients.revoke(at(70), second, 2);
        assert!(!clients.is_revoked(first, 7));
        assert_eq!(clients.revoked.players.len(), 1);
    }
}
