//! Worlds of several maps: which map a member is on, and transfers through gates.
//!
//! Players create, join, list, chat in and leave one room: the world, which is also its first map.
//! Each further map is a room too (`LobbyRoom::map_identity`) with an id and a host of its own. It
//! is opened when a player first goes there, and closed with the world. Messages of hosts go in
//! (`AtGate`, `Departed`, `Arrived`); orders (`OpenRoom`, `ReleaseForTransfer`, `Admit`,
//! `RefuseTransfer`) and tickets come out.
//!
//! A transfer has three steps. `Opening`: a seat on the target map is reserved, and the map is
//! opened if it is not; the avatar plays on. `Leaving`: the source room has the order to let the
//! avatar go. `Arriving`: it has done so, and the avatar's state is held here until the target room
//! has it. Hosts send `Departed` and `Arrived` after the tick's checkpoint, so a room that is
//! resumed elsewhere has let go, or admitted. Orders without an answer are sent again
//! (`orders_again`).
//!
//! What a world is stands in the room that is its first map ([`state`]), since seats are counted
//! with it. So the rules are methods of `Rooms`, which return the orders for maps. `gates` carries
//! out what needs hosts, tickets and players, as a part of the lobby.
//!
//! Invariants:
//! 1. A member is on one map; during a transfer it has a seat on both. No map has more players than
//!    seats. Seats are counted here: on the first map all members who are not elsewhere, on each
//!    further map its `Seats`.
//! 2. An avatar's state is in one room, or here; never in two rooms, and never lost: if the target
//!    map is lost meanwhile, the avatar returns to where it came from.
//! 3. An order of a transfer has a higher number than any before, and may be sent twice.
//!
//! Bound: one transfer for each member, with `MAX_CARRIED_BYTES`; `MAX_MAPS` maps. Source:
//! "Architectures de développement adaptées aux MMOGs" (Project Deus), section 2.1 (static
//! zones).

mod arrivals;
mod gates;
mod places;
mod records;
mod shares;
pub(super) mod state;
mod transfers;

use std::collections::BTreeMap;

use ambit_proto::ids::{PlayerId, RoomId};

use crate::fleet::placement::PlacementRequest;
use crate::rooms::parameters::{LASTING, MAP, MAP_SEATS, parameters_of_game};
use crate::rooms::room::LobbyRoom;
use crate::worlds::state::WorldState;

impl LobbyRoom {
    /// The id of the world: its first map.
    pub(super) fn world_id(&self) -> RoomId {
        self.map_identity.map_or(self.id, |identity| identity.world)
    }

    /// The number of the map in its world, from 0.
    pub(super) fn map(&self) -> u32 {
        self.map_identity.map_or(0, |identity| identity.map)
    }

    /// The rooms of the world of which this is the first map, this one included.
    pub(super) fn all_maps(&self) -> impl Iterator<Item = RoomId> + '_ {
        std::iter::once(self.id).chain(self.world.maps.values().copied())
    }

    /// Whether players are in transfer between maps of the world of which this is the first map.
    pub(super) fn has_transfers(&self) -> bool {
        !self.world.transfers.is_empty()
    }

    /// Maximum number of players on one map.
    pub(super) fn map_seats(&self) -> u32 {
        let given = self.settings.parameters.get(MAP_SEATS).and_then(|value| value.parse().ok());
        given.unwrap_or(u32::MAX).min(self.seats.capacity())
    }

    /// Number of players on this map, including those in transfer from it or to it.
    pub(super) fn player_count(&self) -> u32 {
        let WorldState { places, transfers, .. } = &self.world;
        let elsewhere = places.iter().filter(|(player, place)| {
            let passes = transfers
                .get(player)
                .is_some_and(|transfer| [transfer.from, transfer.to].contains(&self.id));
            place.room != self.id && !passes
        });
        self.seats.taken() - elsewhere.count() as u32
    }

    /// Whether a member is on this map, and not on a further one.
    pub(super) fn is_on_first_map(&self, player: PlayerId) -> bool {
        !self.world.places.contains_key(&player)
    }

    /// The request to place this room.
    pub(super) fn placement_request(&self) -> PlacementRequest<'_> {
        PlacementRequest {
            game: &self.game,
            players: self.player_count(),
            world: self.world_id(),
            map: self.map(),
        }
    }

    /// The parameters for the game: those of the world with its seed, and the number of the map.
    pub(super) fn parameters_of_map(&self) -> BTreeMap<String, String> {
        let map = self.map_identity.map(|identity| (MAP.to_owned(), identity.map.to_string()));
        let mut parameters = parameters_of_game(&self.settings.parameters);
        self.replace_seed(&mut parameters);
        parameters.extend(map);
        if self.is_lasting() {
            parameters.insert(LASTING.to_owned(), "yes".to_owned());
        }
        parameters
    }
}
