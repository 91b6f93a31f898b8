//! The lobby's invariants, which hold after each step of a random run.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_ROOMS_PER_ADDRESS, MAX_RUNNING_PER_ADDRESS, RandomRun};
use crate::rooms::room::RoomPhase;
use crate::sessions::connections::Stage;
use crate::sessions::parties::MAX_PARTY;
use crate::sessions::players::LobbyPlayer;

impl RandomRun {
    /// Checks the invariants of the lobby, and that clients know their state.
    pub(super) fn check(&self, context: &str) {
        let lobby = &self.lobby;
        let mut seated = BTreeMap::new();
        for room in lobby.rooms.iter() {
            if let Some(map) = room.map_identity {
                let world = lobby.rooms.get(map.world).expect("the world of a map exists");
                assert!(
                    room.seats.taken() <= room.map_seats(),
                    "{context}: a map with more players than seats"
                );
                assert!(
                    room.seats.players().all(|player| world.seats.contains(player)),
                    "{context}: a player on a map is no member of its world"
                );
                continue;
            }
            lobby.rooms.check_world(room, context);
            assert!(
                room.seats.taken() <= room.seats.capacity(),
                "{context}: more players than seats"
            );
            assert!(room.seats.contains(room.host), "{context}: the room's host is no member");
            for player in room.seats.players() {
                assert_eq!(
                    seated.insert(player, room.id),
                    None,
                    "{context}: a player in two rooms"
                );
            }
            match room.run.phase {
                RoomPhase::Waiting | RoomPhase::Moving { host: None } => {}
                RoomPhase::Opening { host, .. }
                | RoomPhase::Running { host }
                | RoomPhase::Moving { host: Some(host) } => {
                    assert!(lobby.fleet.host(host).is_some(), "{context}: a room on a lost host");
                    let of_host = &lobby.fleet.host(host).expect("a known host").build;
                    let is_tried = room.run.phase == RoomPhase::Moving { host: Some(host) }
                        && room.run.release.may_try(of_host);
                    assert!(
                        of_host == &room.run.build || is_tried,
                        "{context}: a room on a host of another build"
                    );
                }
            }
        }
        self.check_makers(context);
        for player in lobby.sessions.players().iter() {
            assert_eq!(
                seated.remove(&player.id),
                player.room,
                "{context}: rooms and players disagree"
            );
            let connection = player
                .conn
                .and_then(|conn| lobby.sessions.connections().iter().find(|(id, _)| *id == conn));
            let stage = connection.map(|(_, connection)| connection.stage);
            assert_eq!(
                stage,
                player.conn.map(|_| Stage::Player(player.id)),
                "{context}: a player with the connection of another one"
            );
            if let Some(known) = player.conn.and_then(|conn| self.open.get(&conn)) {
                assert_eq!(
                    known.player,
                    Some(player.id.0),
                    "{context}: a client that does not know its player"
                );
                assert_eq!(
                    known.room,
                    player.room.map(|room| room.0),
                    "{context}: a client that does not know its room"
                );
            }
        }
        assert!(seated.is_empty(), "{context}: seats without players");
        self.check_sessions(context);
        self.check_names(context);
        assert!(
            lobby.sessions.connections().len() <= 12
                && lobby.rooms.all().len() <= 5
                && lobby.sessions.players().len() <= 24,
            "{context}"
        );
        assert!(
            lobby.next_deadline().is_none_or(|deadline| deadline > self.now),
            "{context}: a deadline is overdue"
        );
    }

    /// Checks that no address has too many sessions, connected or not, and that seats know who is
    /// away.
    fn check_sessions(&self, context: &str) {
        let lobby = &self.lobby;
        for player in lobby.sessions.players().iter() {
            let network = player.counted_at().expect("no address is trusted");
            let there: Vec<_> = lobby.sessions.players().counted_at(network).collect();
            assert!(there.contains(&player.id), "{context}: a session that does not count");
            assert!(
                there.len() <= lobby.config.max_sessions_per_address(),
                "{context}: {there:?} are too many sessions of {network:?}"
            );
        }
        for player in lobby.sessions.players().iter() {
            if let Some(party) = player.party {
                let members = lobby.sessions.parties().members(party);
                assert!(members.contains(&player.id), "{context}: not in its own party");
                assert!(members.len() <= MAX_PARTY, "{context}: {members:?} are too many");
                for member in members {
                    let of_member = lobby.sessions.player(member).party;
                    assert_eq!(of_member, Some(party), "{context}: a member without the party");
                }
            }
        }
        for room in lobby.rooms.iter().filter(|room| room.map_identity.is_none()) {
            let away = lobby.sessions.players().iter().filter(|player| player.conn.is_none());
            let away: BTreeSet<_> = away
                .filter(|player| player.room == Some(room.id))
                .map(|player| player.id)
                .collect();
            let waiting: BTreeSet<_> = room.seats.waiting().collect();
            assert_eq!(waiting, away, "{context}: seats and players disagree");
        }
    }

    /// The number of sessions of the address that has the most.
    pub(super) fn most_sessions_of_an_address(&self) -> usize {
        let players = self.lobby.sessions.players();
        let networks = players.iter().filter_map(LobbyPlayer::counted_at);
        networks.map(|network| players.counted_at(network).count()).max().unwrap_or_default()
    }

    /// Checks that no player can be taken for another one.
    fn check_names(&self, context: &str) {
        let mut names = BTreeSet::new();
        let mut looks = BTreeSet::new();
        for player in self.lobby.sessions.players().iter() {
            let keys = player.name().keys();
            assert!(
                names.insert(keys.folded) && looks.insert(keys.skeleton),
                "{context}: two players with names that people confuse"
            );
        }
    }

    /// Checks the limits of rooms that players have made at one address.
    fn check_makers(&self, context: &str) {
        let rooms = self.lobby.rooms.all();
        let mut made: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for room in rooms.iter() {
            assert_eq!(
                room.settings.maker.is_none(),
                room.map_identity.is_some(),
                "{context}: a room without a maker"
            );
            if let Some(maker) = room.settings.maker {
                let network = maker.network.expect("all players have a network");
                made.entry(network).or_default().insert(room.id);
            }
        }
        for (network, expected) in made {
            let counted: BTreeSet<_> = rooms.made_from(network).map(|room| room.id).collect();
            assert_eq!(counted, expected, "{context}: rooms made from {network:?}");
            let running = rooms.made_from(network).filter(|room| room.has_started());
            assert!(
                counted.len() <= MAX_ROOMS_PER_ADDRESS
                    && running.count() <= MAX_RUNNING_PER_ADDRESS,
                "{context}: too many rooms made from {network:?}"
            );
        }
    }
}
