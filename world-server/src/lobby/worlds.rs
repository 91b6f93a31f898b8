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
//! (`resend_transfer_orders`).
//!
//! Invariants:
//! 1. A member is on one map; during a transfer it has a seat on both. No map has more players than
//!    seats. Seats are counted here: on the first map all members who are not elsewhere, on each
//!    further map its `Seats`.
//! 2. An avatar's state is in one room, or here; never in two rooms, and never lost: if the target
//!    map is lost meanwhile, the avatar returns to where it came from.
//! 3. An order of a transfer has a higher number than any before, and may be sent twice.
//!
//! Bound: one transfer for each member, with `MAX_CARRIED_BYTES`; [`MAX_MAPS`] maps. Source:
//! "Architectures de développement adaptées aux MMOGs" (Project Deus), section 2.1 (static
//! zones).

use std::collections::BTreeMap;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use ambit_room::logic::game::MAX_CARRIED_BYTES;
use ambit_room::room::TransferId;

use crate::lobby::fleet::placement::PlacementRequest;
use crate::lobby::output::HostId;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::parameters::{LASTING, MAP, MAP_SEATS, parameters_of_game};
use crate::lobby::rooms::room::{LobbyRoom, RoomPhase};
use crate::lobby::{Lobby, output};

mod arrivals;
mod places;
mod records;
mod shares;
pub(super) mod state;
mod transfers;

use state::{MapTransfer, MemberPlace, RecentArrival, TransferStep, WorldState};

/// Maximum number of maps of a world; a host that names a higher map is in error.
const MAX_MAPS: u32 = 64;

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
        let given = self.parameters.get(MAP_SEATS).and_then(|value| value.parse().ok());
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
        let mut parameters = parameters_of_game(&self.parameters);
        self.replace_seed(&mut parameters);
        parameters.extend(map);
        if self.is_lasting() {
            parameters.insert(LASTING.to_owned(), "yes".to_owned());
        }
        parameters
    }
}

/// Messages of hosts about gates.
impl Lobby {
    /// Handles a player in a gate: reserves a seat on the target map, or notifies the player why
    /// not. `ways` are the places on the target map and here.
    pub(super) fn handle_gate_request(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        map: u32,
        ways: (Position, Position),
    ) {
        let Some(room) =
            self.rooms.get(id).filter(|room| room.phase == RoomPhase::Running { host })
        else {
            return;
        };
        let world = room.world_id();
        if !self.rooms.is_on_map(player, id) {
            // The room does not know that the player has left it.
            return self.remove_from_game(player, id, ErrorCode::NotInRoom);
        }
        if let Some(transfer) = self.rooms.at(world).world.transfers.get(&player) {
            if transfer.step == TransferStep::Leaving && transfer.from == id {
                self.send_release(world, player);
            }
            return;
        }
        match self.reserve_map_seat(now, world, player, id, map) {
            Ok(to) => self.start_transfer(world, player, id, to, ways),
            Err(refusal) => {
                self.effects.counters.count_refused(refusal.code);
                self.send_stay(id, player);
                self.notify(player, output::error_body(refusal));
            }
        }
    }

    /// Handles a player who has left through a gate, or could not.
    pub(super) fn handle_departed(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        (number, carried): (TransferId, Option<Vec<u8>>),
    ) {
        let Some(room) = self.rooms.get(id).filter(|room| room.game_host() == Some(host)) else {
            return;
        };
        let world = room.world_id();
        let Some(transfer) = self.rooms.at(world).world.transfers.get(&player) else {
            return;
        };
        if (transfer.number, transfer.from, &transfer.step)
            != (number.0, id, &TransferStep::Leaving)
        {
            return;
        }
        let Some(carried) = carried else {
            self.cancel_transfer(world, player);
            if self.fleet.waits_for_members(id) {
                // What was kept of the room may not have the player.
                self.repeat_arrivals(id);
                self.resend_transfer_orders(id);
            }
            return;
        };
        if carried.len() > MAX_CARRIED_BYTES {
            let message = format!(
                "a player carries {} bytes, at most {MAX_CARRIED_BYTES} are possible",
                carried.len()
            );
            return self.remove_player(
                now,
                player,
                LobbyRefusal::new(ErrorCode::ServerError, message),
            );
        }
        let incarnation =
            self.rooms.avatar_place(world, player).map_or(0, |(_, incarnation)| incarnation);
        self.transfer_mut(world, player).step = TransferStep::Arriving { carried, incarnation };
        self.rooms.at_mut(world).world.arrivals.remove(&player);
        self.renumber_if_reversed(world, player);
        // Revokes the player's tickets for that map.
        self.remove_from_game(player, id, ErrorCode::NotInRoom);
        self.send_admit(world, player);
    }

    /// Handles a player who has arrived on the target map.
    pub(super) fn handle_arrived(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        arrived: TransferId,
    ) {
        let Some(room) = self.rooms.get(id).filter(|room| room.game_host() == Some(host)) else {
            return;
        };
        let world = room.world_id();
        let here = room.incarnation;
        let may_lack_arrivals = self.may_lack_arrivals(id);
        let known = &mut self.rooms.at_mut(world).world;
        let Some(MapTransfer {
            number,
            from,
            to,
            step: TransferStep::Arriving { incarnation, .. },
            ..
        }) = known.transfers.get(&player)
        else {
            return;
        };
        if (*number, *to) != (arrived.0, id) {
            return;
        }
        let from = *from;
        let ahead = (incarnation + 1).saturating_sub(here);
        let transfer = known.transfers.remove(&player).expect("it was there");
        if may_lack_arrivals {
            let arrival = RecentArrival::new(transfer);
            known.arrivals.insert(player, arrival);
        }
        known.places.insert(player, MemberPlace { room: id, incarnation_offset: ahead });
        if from != id {
            self.effects.counters.transfers_completed += 1;
            self.free_map_seat(from, player);
        }
        self.send_ticket(now, player);
    }
}

/// Members who go.
impl Lobby {
    /// The hosts that know a member, and in which room.
    pub(super) fn hosts_of_member(&self, world: RoomId, player: PlayerId) -> Vec<(RoomId, HostId)> {
        let rooms = self.rooms.rooms_of_member(world, player).into_iter();
        rooms.filter_map(|id| self.reachable_host(id).map(|host| (id, host))).collect()
    }

    /// Removes a member who leaves the world from all further maps.
    pub(super) fn leave_maps(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        world: RoomId,
        reason: ErrorCode,
    ) {
        for id in self.rooms.rooms_of_member(world, player) {
            if id != world && self.rooms.get(id).is_some() {
                self.rooms.at_mut(id).note_departure(now, player);
                self.remove_from_game(player, id, reason);
                self.free_map_seat(id, player);
            }
        }
        let known = &mut self.rooms.at_mut(world).world;
        known.places.remove(&player);
        known.transfers.remove(&player);
        known.arrivals.remove(&player);
    }
}

/// Checks for tests.
#[cfg(test)]
impl Lobby {
    /// Checks that each member of a world is where its seats say, and that no map has too many
    /// players.
    pub(super) fn check_world(&self, world: &LobbyRoom, context: &str) {
        assert!(world.player_count() <= world.map_seats(), "{context}: an oversold first map");
        for player in world.seats.players() {
            assert!(self.has_existing_room(world.id, player), "{context}: {player} is nowhere");
            let rooms = self.rooms.rooms_of_member(world.id, player);
            for (map, id) in &world.world.maps {
                let room = self.rooms.get(*id).expect("a world lists only existing maps");
                assert_eq!((room.map(), room.world_id()), (*map, world.id), "{context}");
                assert_eq!(
                    room.seats.contains(player),
                    rooms.contains(id),
                    "{context}: a seat of {player} on {map}"
                );
            }
        }
        let WorldState { places, transfers, arrivals, .. } = &world.world;
        assert!(
            places
                .keys()
                .chain(transfers.keys())
                .chain(arrivals.keys())
                .all(|player| world.seats.contains(*player)),
            "{context}"
        );
    }
}
