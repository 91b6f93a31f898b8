//! Players who have arrived on a map, until what is kept of that map has them.
//!
//! The directory says at once that a player is on the new map. What is kept of the map may be
//! older, and then it does not have the avatar. So the carried state stays in the record until it
//! is kept there: with `--keep DIR`, whose log has everything in order, until the map's first
//! checkpoint; with rooms that are stored at intervals, until the map was stored after the arrival.
//! If the map goes on from what was kept, the player is admitted again; a room that has the avatar
//! only answers that. If nothing of the map was kept, the player returns to where it came from, if
//! a seat is free there.
//!
//! Bound: one for each member.

use ambit_proto::ids::{PlayerId, RoomId};

use crate::config::LobbyConfig;
use crate::rooms::Rooms;
use crate::rooms::room::LobbyRoom;
use crate::worlds::state::{MapTransfer, RecentArrival};

/// The first report that a room was stored may be about a store that began before the arrival. The
/// next one began after the first was handled.
const STORES: u8 = 2;

impl RecentArrival {
    pub(super) fn new(transfer: MapTransfer) -> Self {
        Self { transfer, stores_left: STORES }
    }
}

impl Rooms {
    /// These rooms were stored. The next store begins after this call.
    pub(crate) fn note_stored(&mut self, rooms: &[RoomId]) {
        for &id in rooms {
            self.note_kept(id, 1);
        }
    }

    /// What is kept of the room has everything up to now.
    pub(crate) fn note_first_checkpoint_kept(&mut self, id: RoomId) {
        self.note_kept(id, STORES);
    }

    fn note_kept(&mut self, id: RoomId, stores: u8) {
        let Some(world) = self.get(id).map(LobbyRoom::world_id) else {
            return;
        };
        let is_there = |arrival: &RecentArrival| arrival.transfer.to == id;
        if !self.at(world).world.arrivals.values().any(is_there) {
            return;
        }
        let arrivals = &mut self.at_mut(world).world.arrivals;
        arrivals.retain(|_, arrival| {
            if is_there(arrival) {
                arrival.stores_left = arrival.stores_left.saturating_sub(stores);
            }
            arrival.stores_left > 0
        });
    }

    /// Whether what is kept of the room may lack a player who has just arrived.
    pub(super) fn may_lack_arrivals(&self, id: RoomId, config: &LobbyConfig) -> bool {
        config.stores_rooms || config.keeps_rooms && !self.at(id).run.has_checkpoint
    }

    /// A room goes on from what was kept: admits the players again who had arrived there.
    pub(crate) fn repeat_arrivals(&mut self, id: RoomId) {
        let world = self.at(id).world_id();
        for player in self.arrivals_at(world, |to| to == id) {
            let known = &mut self.at_mut(world).world;
            if !known.transfers.contains_key(&player)
                && let Some(mut arrival) = known.arrivals.remove(&player)
            {
                // It has no seat elsewhere.
                arrival.transfer.from = id;
                known.transfers.insert(player, arrival.transfer);
            }
        }
    }

    /// Players whose new map is gone turn back to where they came from, if they get a seat there.
    /// Returns them.
    pub(super) fn reverse_arrivals(&mut self, world: RoomId) -> Vec<PlayerId> {
        let is_gone = |to: RoomId| self.get(to).is_none();
        let mut reversed = Vec::new();
        for player in self.arrivals_at(world, is_gone) {
            let known = &mut self.at_mut(world).world;
            let Some(arrival) = known.arrivals.remove(&player) else {
                continue;
            };
            if known.transfers.contains_key(&player) {
                continue;
            }
            let from = arrival.transfer.from;
            let has_free_seat =
                self.get(from).is_some_and(|room| room.player_count() < room.map_seats());
            if !has_free_seat {
                continue;
            }
            // The first map counts the members who are not elsewhere.
            if from != world {
                let seat = self.at_mut(from).seats.take(player);
                seat.expect("the map has a free seat");
            }
            let known = &mut self.at_mut(world).world;
            known.transfers.insert(player, arrival.transfer);
            self.reverse_transfer(world, player);
            reversed.push(player);
        }
        reversed
    }

    fn arrivals_at(&self, world: RoomId, is_it: impl Fn(RoomId) -> bool) -> Vec<PlayerId> {
        let arrivals = self.at(world).world.arrivals.iter();
        arrivals
            .filter(|(_, arrival)| is_it(arrival.transfer.to))
            .map(|(player, _)| *player)
            .collect()
    }
}
