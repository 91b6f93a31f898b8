//! Rooms as the lobby knows them: members, seats, phases, listings, and the way into a game.
//!
//! [`Rooms`] decides and remembers: which rooms there are, who may join, make and start one, which
//! list and which members clients know, what the games of rooms ask of the store, and which rooms
//! no player plays. It gets the sessions as an argument, for the names and accounts of members. It
//! knows no hosts but by their ids, no tickets and no records. `membership` and `running` carry out
//! what concerns more than rooms, as parts of the lobby: none of them touches a field of the rooms.

mod access;
pub(super) mod bans;
mod limits;
pub(super) mod listing;
pub(super) mod membership;
pub(super) mod parameters;
pub(super) mod password_guesses;
mod quick_join;
pub(super) mod release;
pub(super) mod room;
mod rosters;
pub(super) mod running;
pub(super) mod seats;
pub(super) mod seed;
pub(super) mod store_jobs;
pub(super) mod stored;
pub(super) mod stored_password;
mod unplayed;
mod waiting_members;

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::config::LobbyConfig;
use crate::effects::LobbyEffects;
use crate::output::{ConnId, HostId};
use crate::request::CreateRoomRequest;
use crate::rooms::listing::ListingFeed;
use crate::rooms::room::{LobbyRoom, LobbyRooms, RoomLife, RoomMaker};
use crate::rooms::store_jobs::StoreJobs;
use crate::rooms::unplayed::UnplayedRooms;
use crate::sessions::Sessions;
use crate::timers::LobbyTimers;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    all: LobbyRooms,
    listing: ListingFeed,
    unplayed: UnplayedRooms,
    store_jobs: StoreJobs,
    /// The number of the last transfer between maps.
    last_transfer: u64,
}

/// Which rooms there are.
impl Rooms {
    /// For those who only look.
    pub(super) fn all(&self) -> &LobbyRooms {
        &self.all
    }

    pub(super) fn get(&self, id: RoomId) -> Option<&LobbyRoom> {
        self.all.get(id)
    }

    pub(super) fn get_mut(&mut self, id: RoomId) -> Option<&mut LobbyRoom> {
        self.all.get_mut(id)
    }

    /// A room that must exist: a player is in it.
    pub(super) fn at(&self, id: RoomId) -> &LobbyRoom {
        self.all.at(id)
    }

    /// The same, to be changed.
    pub(super) fn at_mut(&mut self, id: RoomId) -> &mut LobbyRoom {
        self.all.at_mut(id)
    }

    /// In order of their ids.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &LobbyRoom> {
        self.all.iter()
    }

    pub(super) fn ids(&self) -> Vec<RoomId> {
        self.all.ids()
    }

    /// The rooms that run on a host, or are about to.
    pub(super) fn on_host(&self, host: HostId) -> impl Iterator<Item = RoomId> {
        let there = self.all.iter().filter(move |room| room.game_host() == Some(host));
        there.map(|room| room.id)
    }

    /// Adds a room with its maker as the first member.
    pub(super) fn add(&mut self, maker: RoomMaker, create: CreateRoomRequest) -> &mut LobbyRoom {
        self.all.add(maker, create)
    }

    /// Adds a further map of a world.
    pub(super) fn add_map(&mut self, world: RoomId, map: u32) -> RoomId {
        self.all.add_map(world, map)
    }

    /// The room of a world of the operator's list, if it is there.
    pub(super) fn operated(&self, create: &CreateRoomRequest) -> Option<RoomId> {
        let is_it = |room: &&LobbyRoom| {
            room.settings.life == RoomLife::Operated
                && room.map_identity.is_none()
                && room.name() == &create.name
        };
        self.all.iter().find(is_it).map(|room| room.id)
    }

    /// Adds it.
    pub(super) fn add_operated(&mut self, create: CreateRoomRequest) -> RoomId {
        self.all.add_operated(create)
    }

    /// Adds a room of another lobby. The ids of new rooms come after [`Self::skip_to`].
    pub(super) fn restore(&mut self, room: LobbyRoom) {
        self.all.restore(room);
    }

    /// Removes a room. What is known of it beside its state is forgotten elsewhere.
    pub(super) fn remove(&mut self, id: RoomId) -> Option<LobbyRoom> {
        self.all.remove(id)
    }

    /// Rooms up to this id may have existed.
    pub(super) fn skip_to(&mut self, last_id: u64) {
        self.all.skip_to(last_id);
    }

    /// Rooms that may have changed since the last call, removed ones included.
    pub(super) fn take_changed(&mut self) -> BTreeSet<RoomId> {
        self.all.take_changed()
    }

    /// The highest number of a transfer that may be in use.
    pub(super) fn last_transfer(&self) -> u64 {
        self.last_transfer
    }

    /// Transfers up to this number may have existed.
    pub(super) fn skip_transfers_to(&mut self, last: u64) {
        self.last_transfer = self.last_transfer.max(last);
    }

    /// The number of a new transfer.
    pub(super) fn next_transfer(&mut self) -> u64 {
        self.last_transfer += 1;
        self.last_transfer
    }

    /// Whether the player has made this room.
    pub(super) fn is_maker(&self, room: RoomId, player: PlayerId) -> bool {
        let maker = self.all.get(room).and_then(|room| room.settings.maker);
        maker.is_some_and(|maker| maker.player == player)
    }
}

/// The list of rooms, and rooms that no player plays.
impl Rooms {
    /// The room's entry in the list may have changed, or it is removed.
    pub(super) fn mark_changed(&mut self, now: LocalTime, room: RoomId, timers: &mut LobbyTimers) {
        self.listing.mark_changed(now, room, timers);
    }

    /// Publishes changes of rooms to the subscribers of the list.
    pub(super) fn publish_listing(&mut self, now: LocalTime, effects: &mut LobbyEffects) {
        self.listing.publish(now, &self.all, effects);
    }

    /// The connection gets the changes of the list from here on.
    pub(super) fn subscribe(&mut self, now: LocalTime, conn: ConnId, effects: &mut LobbyEffects) {
        // Otherwise changes that the list contains already would be sent again.
        self.listing.publish(now, &self.all, effects);
        self.listing.subscribe(conn);
    }

    pub(super) fn unsubscribe(&mut self, conn: ConnId) {
        self.listing.unsubscribe(conn);
    }

    pub(super) fn is_subscribed(&self, conn: ConnId) -> bool {
        self.listing.is_subscribed(conn)
    }

    /// A player has joined the room: its time without players begins again.
    pub(super) fn note_joined(&mut self, room: RoomId) {
        self.unplayed.forget(room);
    }

    /// A host reports its rooms without a client. Returns those that are abandoned, and for how
    /// long each may be.
    pub(super) fn note_unplayed(
        &mut self,
        now: LocalTime,
        host: HostId,
        reported: &[RoomId],
        config: &LobbyConfig,
    ) -> Vec<(RoomId, Duration)> {
        self.unplayed.note_report(now, host, reported, &self.all, config)
    }

    /// The connections of the connected members, in the order of their joins.
    pub(super) fn member_conns(&self, room: RoomId, sessions: &Sessions) -> Vec<ConnId> {
        sessions.conns_of(self.all.at(room).seats.players())
    }
}
