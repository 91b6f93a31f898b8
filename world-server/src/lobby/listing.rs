//! Lists of rooms and players, and the news that keep them up to date.
//!
//! Changes are gathered: the first one is told at once, the next ones together when the interval is over. Only what differs
//! from what was told before is told, so a room that was full for a moment between two times causes nothing.
//!
//! Bounds: a list of rooms has at most [`MAX_LISTED_ROOMS`] and [`MAX_LIST_BYTES`], the newest ones, since those are
//! the ones that wait for players; a list of players at most [`MAX_LISTED_PLAYERS`]. A room of n members costs n lists of n
//! players at a change; the interval grows with n, so that it costs a second a bounded number of bytes for each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::control::world::{self, room_change::Change, world_to_client::Body};
use ambit_proto::frame::MAX_FROM_WORLD;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message;

use super::output::ConnId;
use super::players::Player;
use super::refusal::Refusal;
use super::room::Room;
use super::timers::Timer;
use super::{Answer, Lobby};

/// Between two news of the list of rooms.
const LISTING_INTERVAL: Duration = Duration::from_millis(100);
/// Between two news of who is in a room, for each of its members.
const ROSTER_INTERVAL_PER_MEMBER: Duration = Duration::from_millis(5);
const MAX_LISTED_ROOMS: usize = 1_000;
/// Leaves room in a frame for what is around the list.
const MAX_LIST_BYTES: usize = MAX_FROM_WORLD - 1_024;
/// At up to 115 bytes each they fit into a frame; as many as the largest room has.
const MAX_LISTED_PLAYERS: usize = 4_096;

/// Who watches the list of rooms, and what they know.
#[derive(Debug, Default)]
pub(super) struct Listing {
    subscribers: BTreeSet<ConnId>,
    changed: BTreeSet<RoomId>,
    /// Every room as it was last told; whether or not anybody watched.
    told: BTreeMap<RoomId, world::Room>,
    /// When the next news may be told.
    after: LocalTime,
}

impl Listing {
    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.subscribers.remove(&conn);
    }
}

impl Lobby {
    /// The rooms as they are now. Who subscribes gets the changes from here on.
    pub(super) fn list_rooms(&mut self, now: LocalTime, conn: ConnId, subscribe: bool) -> Answer {
        self.listing.unsubscribe(conn);
        if subscribe {
            // What the list shows already would else be told again as a change.
            self.publish_listing(now);
            self.listing.subscribers.insert(conn);
        }
        Answer::Now(Body::RoomList(world::RoomList { rooms: self.listed_rooms() }))
    }

    /// The players of the lobby, or of the room that the player is in.
    pub(super) fn list_players(&self, player: PlayerId, everybody: bool) -> Result<Answer, Refusal> {
        let list = if everybody {
            let players = self.players.iter().take(MAX_LISTED_PLAYERS).map(described);
            world::PlayerList { room: 0, players: players.collect() }
        } else {
            self.roster(self.rooms.at(self.room_of(player)?))
        };
        Ok(Answer::Now(Body::PlayerList(list)))
    }

    /// What a player who comes in is told about the room.
    pub(super) fn room_joined(&self, room: RoomId) -> world::RoomJoined {
        let room = self.rooms.at(room);
        world::RoomJoined { room: Some(room.listing()), players: self.roster(room).players }
    }

    /// The room may look different in the list, or be gone.
    pub(super) fn mark_listing(&mut self, now: LocalTime, room: RoomId) {
        self.listing.changed.insert(room);
        self.timers.set_if_unset(Timer::Listing, self.listing.after.max(now));
    }

    /// The room's members may look different to each other.
    pub(super) fn mark_roster(&mut self, now: LocalTime, room: RoomId) {
        let after = self.rooms.at(room).roster_after;
        self.timers.set_if_unset(Timer::Roster(room), after.max(now));
    }

    /// Tells those who watch what has changed.
    pub(super) fn publish_listing(&mut self, now: LocalTime) {
        self.timers.cancel(Timer::Listing);
        if self.listing.changed.is_empty() {
            return;
        }
        self.listing.after = now + LISTING_INTERVAL;
        for id in std::mem::take(&mut self.listing.changed) {
            let room = self.rooms.get(id).map(Room::listing);
            let told = match &room {
                Some(room) => self.listing.told.insert(id, room.clone()),
                None => self.listing.told.remove(&id),
            };
            if room != told {
                let change = room.map_or(Change::Gone(id.0), Change::Room);
                let watching = self.listing.subscribers.iter().copied().collect();
                self.outbox.broadcast(watching, Body::RoomChange(world::RoomChange { change: Some(change) }));
            }
        }
    }

    /// Tells the members of a room who is in it.
    pub(super) fn publish_roster(&mut self, now: LocalTime, id: RoomId) {
        let Some(room) = self.rooms.get_mut(id) else { return };
        room.roster_after = now + ROSTER_INTERVAL_PER_MEMBER * room.seats.taken();
        let roster = self.roster(self.rooms.at(id));
        let members = self.member_conns(id, None);
        self.outbox.broadcast(members, Body::PlayerList(roster));
    }

    /// The newest rooms, in order of their ids.
    pub(super) fn listed_rooms(&self) -> Vec<world::Room> {
        let mut bytes = 0;
        let newest = self.rooms.iter().rev().take(MAX_LISTED_ROOMS).map(Room::listing);
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

    fn roster(&self, room: &Room) -> world::PlayerList {
        let players = room.seats.iter().map(|seat| world::Player {
            ready: seat.ready,
            host: seat.player == room.host,
            ..described(self.players.at(seat.player))
        });
        world::PlayerList { room: room.id.0, players: players.collect() }
    }
}

fn described(player: &Player) -> world::Player {
    world::Player {
        id: player.id.0,
        name: player.name().as_str().to_owned(),
        ready: false,
        host: false,
        connected: player.conn.is_some(),
    }
}
