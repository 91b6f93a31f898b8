//! Lists of rooms and players, and the events that keep them up to date.
//!
//! Changes are collected: the first one is published at once, further ones together when the
//! interval is over. Only differences from the last published state are sent, so a room that was
//! full only between two events causes no message.
//!
//! Bounds: a list of rooms has at most [`MAX_LISTED_ROOMS`] and [`MAX_LIST_BYTES`], the newest
//! ones, since these wait for players; a list of players at most [`MAX_LISTED_PLAYERS`]. A change
//! in a room of n members costs n messages, each with what has changed. The interval grows with n,
//! so the number of messages a second is bounded; likewise for the list of rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::control::world::{self, room_change::Change, world_to_client::Body};
use ambit_proto::frame::MAX_FROM_WORLD;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message;

use crate::lobby::Lobby;
use crate::lobby::output::{ConnId, RequestOutcome};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::LobbyRoom;
use crate::lobby::sessions::players::LobbyPlayer;
use crate::lobby::timers::Timer;

/// Interval between two events for the list of rooms, at least.
const LISTING_INTERVAL: Duration = Duration::from_millis(100);
/// Additional interval for each change and each subscriber: 20,000 messages a second at most.
const LISTING_INTERVAL_PER_DELIVERY: Duration = Duration::from_micros(50);
/// Interval between two events for the members of a room, for each member.
const ROSTER_INTERVAL_PER_MEMBER: Duration = Duration::from_millis(5);
const MAX_LISTED_ROOMS: usize = 1_000;
/// Leaves space in a frame for the rest of the message.
const MAX_LIST_BYTES: usize = MAX_FROM_WORLD - 1_024;
/// They fit into a frame at up to 115 bytes each; as many as the largest room has.
const MAX_LISTED_PLAYERS: usize = 4_096;

/// The subscribers of the list of rooms, and the state that they know.
#[derive(Debug, Default)]
pub(in crate::lobby) struct ListingFeed {
    subscribers: BTreeSet<ConnId>,
    changed: BTreeSet<RoomId>,
    /// Every room as it was last published, also without subscribers.
    published: BTreeMap<RoomId, world::Room>,
    /// When the next event may be sent.
    next_publish_at: LocalTime,
}

impl ListingFeed {
    pub(in crate::lobby) fn is_subscribed(&self, conn: ConnId) -> bool {
        self.subscribers.contains(&conn)
    }

    pub(in crate::lobby) fn unsubscribe(&mut self, conn: ConnId) {
        self.subscribers.remove(&conn);
    }
}

impl Lobby {
    /// Answers with the current rooms. A subscriber gets the changes from here on.
    pub(in crate::lobby) fn list_rooms(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        subscribe: bool,
    ) -> RequestOutcome {
        self.listing.unsubscribe(conn);
        if subscribe {
            // Otherwise changes that the list contains already would be sent again.
            self.publish_listing(now);
            self.listing.subscribers.insert(conn);
        }
        RequestOutcome::Immediate(Body::RoomList(world::RoomList { rooms: self.newest_rooms() }))
    }

    /// Answers with the players of the lobby, or of the player's room.
    pub(in crate::lobby) fn list_players(
        &mut self,
        player: PlayerId,
        everybody: bool,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let list = if everybody {
            let players =
                self.sessions.players().iter().take(MAX_LISTED_PLAYERS).map(LobbyPlayer::entry);
            world::PlayerList { room: 0, players: players.collect() }
        } else {
            self.member_list(self.room_of(player)?)
        };
        Ok(RequestOutcome::Immediate(Body::PlayerList(list)))
    }

    /// The members of a room, for one of them.
    pub(in crate::lobby) fn member_list(&mut self, room: RoomId) -> world::PlayerList {
        world::PlayerList { room: room.0, players: self.roster_for_member(room) }
    }

    /// The message for a player who joins the room.
    pub(in crate::lobby) fn room_joined(&mut self, room: RoomId) -> world::RoomJoined {
        world::RoomJoined {
            room: Some(self.rooms.at(room).listing()),
            players: self.roster_for_member(room),
        }
    }

    /// Marks a room whose entry may have changed, or which is removed.
    pub(in crate::lobby) fn mark_room_changed(&mut self, now: LocalTime, room: RoomId) {
        self.listing.changed.insert(room);
        self.effects.timers.set_if_unset(Timer::Listing, self.listing.next_publish_at.max(now));
    }

    /// Marks a room whose list of members may have changed.
    pub(in crate::lobby) fn mark_roster_changed(&mut self, now: LocalTime, room: RoomId) {
        let after = self.rooms.at(room).next_roster_at;
        self.effects.timers.set_if_unset(Timer::Roster(room), after.max(now));
    }

    /// Publishes changes of rooms to the subscribers.
    pub(in crate::lobby) fn publish_listing(&mut self, now: LocalTime) {
        self.effects.timers.cancel(Timer::Listing);
        if self.listing.changed.is_empty() {
            return;
        }
        let deliveries = self.listing.changed.len() * self.listing.subscribers.len();
        let interval = LISTING_INTERVAL_PER_DELIVERY.saturating_mul(deliveries as u32);
        self.listing.next_publish_at = now + LISTING_INTERVAL.max(interval);
        for id in std::mem::take(&mut self.listing.changed) {
            let room = self.rooms.get(id).map(LobbyRoom::listing);
            let published = match &room {
                Some(room) => self.listing.published.insert(id, room.clone()),
                None => self.listing.published.remove(&id),
            };
            if room != published {
                let change = room.map_or(Change::Gone(id.0), Change::Room);
                let watching = self.listing.subscribers.iter().copied().collect();
                self.effects.outbox.broadcast(
                    watching,
                    Body::RoomChange(world::RoomChange { change: Some(change) }),
                );
            }
        }
    }

    /// Publishes changes of a room's members to its members.
    pub(in crate::lobby) fn publish_roster(&mut self, now: LocalTime, id: RoomId) {
        if self.rooms.get(id).is_none() {
            return;
        }
        let roster = self.roster(id);
        let room = self.rooms.at_mut(id);
        room.next_roster_at = now + ROSTER_INTERVAL_PER_MEMBER * room.seats.taken();
        let present: BTreeSet<u64> = roster.iter().map(|player| player.id).collect();
        let removed: Vec<u64> =
            room.published_roster.keys().copied().filter(|id| !present.contains(id)).collect();
        let is_news =
            |player: &world::Player| room.published_roster.get(&player.id) != Some(player);
        let players: Vec<_> = roster.into_iter().filter(is_news).collect();
        for id in &removed {
            room.published_roster.remove(id);
        }
        room.published_roster.extend(players.iter().map(|player| (player.id, player.clone())));
        if !players.is_empty() || !removed.is_empty() {
            let members = self.member_conns(id, None);
            self.effects.outbox.broadcast(
                members,
                Body::PlayerChange(world::PlayerChange { room: id.0, players, gone: removed }),
            );
        }
    }

    /// The newest rooms, in order of their ids.
    pub(in crate::lobby) fn newest_rooms(&self) -> Vec<world::Room> {
        let mut bytes = 0;
        let worlds = self.rooms.iter().rev().filter(|room| room.map_identity.is_none());
        let newest = worlds.take(MAX_LISTED_ROOMS).map(LobbyRoom::listing);
        let mut rooms: Vec<_> = newest
            .take_while(|room| {
                // Tag and length take up to 6 bytes more.
                bytes += room.encoded_len() + 6;
                bytes <= MAX_LIST_BYTES
            })
            .collect();
        rooms.reverse();
        rooms
    }

    /// The list of members for one of them. What the others do not know yet is sent again to all
    /// with the next event: by then it may have changed back for the others, but not for this one.
    fn roster_for_member(&mut self, id: RoomId) -> Vec<world::Player> {
        let roster = self.roster(id);
        let published = &mut self.rooms.at_mut(id).published_roster;
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

    fn roster(&self, id: RoomId) -> Vec<world::Player> {
        let room = self.rooms.at(id);
        let players = room.seats.iter().map(|seat| world::Player {
            ready: seat.ready,
            host: seat.player == room.host,
            ..self.sessions.player(seat.player).entry()
        });
        players.collect()
    }
}
