//! Lists of the players of a room, and the events that keep them up to date.
//!
//! Changes are collected: the first one is published at once, further ones together when the
//! interval is over. Only differences from the last published state are sent.
//!
//! Bound: a change in a room of n members costs n messages, each with what has changed. The
//! interval grows with n, so the number of messages a second is bounded.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;

use crate::effects::LobbyEffects;
use crate::rooms::Rooms;
use crate::sessions::Sessions;
use crate::timers::{LobbyTimers, Timer};

/// Interval between two events for the members of a room, for each member.
const ROSTER_INTERVAL_PER_MEMBER: Duration = Duration::from_millis(5);

impl Rooms {
    /// The members of a room, for one of them.
    pub(crate) fn member_list(&mut self, room: RoomId, sessions: &Sessions) -> world::PlayerList {
        world::PlayerList { room: room.0, players: self.roster_for_member(room, sessions) }
    }

    /// The message for a player who joins the room.
    pub(crate) fn joined(&mut self, room: RoomId, sessions: &Sessions) -> Body {
        Body::RoomJoined(world::RoomJoined {
            room: Some(self.at(room).listing()),
            players: self.roster_for_member(room, sessions),
        })
    }

    /// Marks a room whose list of members may have changed.
    pub(crate) fn mark_roster_changed(
        &self,
        now: LocalTime,
        room: RoomId,
        timers: &mut LobbyTimers,
    ) {
        let after = self.at(room).roster.next_at;
        timers.set_if_unset(Timer::Roster(room), after.max(now));
    }

    /// Publishes changes of a room's members to its members.
    pub(crate) fn publish_roster(
        &mut self,
        now: LocalTime,
        id: RoomId,
        sessions: &Sessions,
        effects: &mut LobbyEffects,
    ) {
        if self.get(id).is_none() {
            return;
        }
        let roster = self.roster(id, sessions);
        let room = self.at_mut(id);
        room.roster.next_at = now + ROSTER_INTERVAL_PER_MEMBER * room.seats.taken();
        let present: BTreeSet<u64> = roster.iter().map(|player| player.id).collect();
        let removed: Vec<u64> =
            room.roster.players.keys().copied().filter(|id| !present.contains(id)).collect();
        let is_news = |player: &world::Player| room.roster.players.get(&player.id) != Some(player);
        let players: Vec<_> = roster.into_iter().filter(is_news).collect();
        for id in &removed {
            room.roster.players.remove(id);
        }
        room.roster.players.extend(players.iter().map(|player| (player.id, player.clone())));
        if !players.is_empty() || !removed.is_empty() {
            let change = world::PlayerChange { room: id.0, players, gone: removed };
            let members = self.member_conns(id, sessions);
            effects.outbox.broadcast(members, Body::PlayerChange(change));
        }
    }

    /// The list of members for one of them. What the others do not know yet is sent again to all
    /// with the next event: by then it may have changed back for the others, but not for this one.
    fn roster_for_member(&mut self, id: RoomId, sessions: &Sessions) -> Vec<world::Player> {
        let roster = self.roster(id, sessions);
        let published = &mut self.at_mut(id).roster.players;
        for player in &roster {
            if published.get(&player.id) != Some(player) {
                published.insert(player.id, world::Player::default());
            }
        }
        let present: BTreeSet<u64> = roster.iter().map(|player| player.id).collect();
        for (_, entry) in published.iter_mut().filter(|(id, _)| !present.contains(id)) {
            *entry = world::Player::default();
        }
        roster
    }

    fn roster(&self, id: RoomId, sessions: &Sessions) -> Vec<world::Player> {
        let room = self.at(id);
        let players = room.seats.iter().map(|seat| world::Player {
            ready: seat.ready,
            host: seat.player == room.host,
            ..sessions.player(seat.player).entry()
        });
        players.collect()
    }
}
