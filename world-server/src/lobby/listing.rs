//! Lists of rooms and players, and the news that keep them up to date.
//!
//! RecordChanges are gathered: the first one is told at once, the next ones together when the
//! interval is over. Only what differs from what was told before is told, so a room that was full
//! for a moment between two times causes nothing.
//!
//! OffsetBounds: a list of rooms has at most [`MAX_LISTED_ROOMS`] and [`MAX_LIST_BYTES`], the
//! newest ones, since those are the ones that wait for players; a list of players at most
//! [`MAX_LISTED_PLAYERS`]. A room of n members costs n messages at a change, each with what has
//! changed; the interval grows with n, so that it costs a second a bounded number of messages.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::control::world::{self, room_change::Change, world_to_client::Body};
use ambit_proto::frame::MAX_FROM_WORLD;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message;

use super::output::ConnId;
use super::players::LobbyPlayer;
use super::refusal::LobbyRefusal;
use super::room::LobbyRoom;
use super::timers::Timer;
use super::{Lobby, RequestOutcome};

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
pub(super) struct ListingFeed {
    subscribers: BTreeSet<ConnId>,
    changed: BTreeSet<RoomId>,
    /// Every room as it was last told; whether or not anybody watched.
    published: BTreeMap<RoomId, world::Room>,
    /// When the next news may be told.
    next_publish_at: LocalTime,
}

impl ListingFeed {
    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.subscribers.remove(&conn);
    }
}

impl Lobby {
    /// The rooms as they are now. Who subscribes gets the changes from here on.
    pub(super) fn list_rooms(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        subscribe: bool,
    ) -> RequestOutcome {
        self.listing.unsubscribe(conn);
        if subscribe {
            // What the list shows already would else be told again as a change.
            self.publish_listing(now);
            self.listing.subscribers.insert(conn);
        }
        RequestOutcome::Immediate(Body::RoomList(world::RoomList {
            rooms: self.newest_rooms(),
        }))
    }

    /// The players of the lobby, or of the room that the player is in.
    pub(super) fn list_players(
        &mut self,
        player: PlayerId,
        everybody: bool,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let list = if everybody {
            let players = self
                .players
                .iter()
                .take(MAX_LISTED_PLAYERS)
                .map(player_entry);
            world::PlayerList {
                room: 0,
                players: players.collect(),
            }
        } else {
            let room = self.room_of(player)?;
            world::PlayerList {
                room: room.0,
                players: self.roster_for_member(room),
            }
        };
        Ok(RequestOutcome::Immediate(Body::PlayerList(list)))
    }

    /// What a player who comes in is told about the room.
    pub(super) fn room_joined(&mut self, room: RoomId) -> world::RoomJoined {
        world::RoomJoined {
            room: Some(self.rooms.at(room).listing()),
            players: self.roster_for_member(room),
        }
    }

    /// The room may look different in the list, or be gone.
    pub(super) fn mark_room_changed(&mut self, now: LocalTime, room: RoomId) {
        self.listing.changed.insert(room);
        self.timers
            .set_if_unset(Timer::ListingFeed, self.listing.next_publish_at.max(now));
    }

    /// The room's members may look different to each other.
    pub(super) fn mark_roster_changed(&mut self, now: LocalTime, room: RoomId) {
        let after = self.rooms.at(room).next_roster_at;
        self.timers
            .set_if_unset(Timer::Roster(room), after.max(now));
    }

    /// Tells those who watch what has changed.
    pub(super) fn publish_listing(&mut self, now: LocalTime) {
        self.timers.cancel(Timer::ListingFeed);
        if self.listing.changed.is_empty() {
            return;
        }
        self.listing.next_publish_at = now + LISTING_INTERVAL;
        for id in std::mem::take(&mut self.listing.changed) {
            let room = self.rooms.get(id).map(LobbyRoom::listing);
            let told = match &room {
                Some(room) => self.listing.published.insert(id, room.clone()),
                None => self.listing.published.remove(&id),
            };
            if room != told {
                let change = room.map_or(Change::Gone(id.0), Change::Room);
                let watching = self.listing.subscribers.iter().copied().collect();
                self.outbox.broadcast(
                    watching,
                    Body::RoomChange(world::RoomChange {
                        change: Some(change),
                    }),
                );
            }
        }
    }

    /// Tells the members of a room what has changed among them.
    pub(super) fn publish_roster(&mut self, now: LocalTime, id: RoomId) {
        if self.rooms.get(id).is_none() {
            return;
        }
        let roster = self.roster(id);
        let room = self.rooms.at_mut(id);
        room.next_roster_at = now + ROSTER_INTERVAL_PER_MEMBER * room.seats.taken();
        let present: BTreeSet<u64> = roster.iter().map(|player| player.id).collect();
        let gone: Vec<u64> = room
            .published_roster
            .keys()
            .copied()
            .filter(|id| !present.contains(id))
            .collect();
        let is_news =
            |player: &world::Player| room.published_roster.get(&player.id) != Some(player);
        let players: Vec<_> = roster.into_iter().filter(is_news).collect();
        for id in &gone {
            room.published_roster.remove(id);
        }
        room.published_roster
            .extend(players.iter().map(|player| (player.id, player.clone())));
        if !players.is_empty() || !gone.is_empty() {
            let members = self.member_conns(id, None);
            self.outbox.broadcast(
                members,
                Body::PlayerChange(world::PlayerChange {
                    room: id.0,
                    players,
                    gone,
                }),
            );
        }
    }

    /// The newest rooms, in order of their ids.
    pub(super) fn newest_rooms(&self) -> Vec<world::Room> {
        let mut bytes = 0;
        let worlds = self
            .rooms
            .iter()
            .rev()
            .filter(|room| room.map_identity.is_none());
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

    /// The members, for one of them. What the others do not know yet, all are told again at the
    /// next news, since it may be as it was by then for the others, and not for this one.
    fn roster_for_member(&mut self, id: RoomId) -> Vec<world::Player> {
        let roster = self.roster(id);
        let told = &mut self.rooms.at_mut(id).published_roster;
        for player in &roster {
            if told.get(&player.id) != Some(player) {
                told.insert(player.id, world::Player::default());
            }
        }
        let present: BTreeSet<u64> = roster.iter().map(|player| player.id).collect();
        for (_, gone) in told.iter_mut().filter(|(id, _)| !present.contains(id)) {
            *gone = world::Player::default();
        }
        roster
    }

    fn roster(&self, id: RoomId) -> Vec<world::Player> {
        let room = self.rooms.at(id);
        let players = room.seats.iter().map(|seat| world::Player {
            ready: seat.ready,
            host: seat.player == room.host,
            ..player_entry(self.players.at(seat.player))
        });
        players.collect()
    }
}

fn player_entry(player: &LobbyPlayer) -> world::Player {
    world::Player {
        id: player.id.0,
        name: player.name().as_str().to_owned(),
        ready: false,
        host: false,
        connected: player.conn.is_some(),
    }
}
