//! Where the members of a world are.

use std::collections::BTreeSet;

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::rooms::Rooms;
use crate::rooms::room::LobbyRoom;
use crate::worlds::state::{MapTransfer, MemberPlace, TransferStep, WorldState};

impl Rooms {
    /// The room of a member's avatar, and the incarnation for its tickets; `None` while it arrives.
    pub(crate) fn avatar_place(&self, world: RoomId, player: PlayerId) -> Option<(RoomId, u32)> {
        let known = &self.at(world).world;
        if known
            .transfers
            .get(&player)
            .is_some_and(|transfer| matches!(transfer.step, TransferStep::Arriving { .. }))
        {
            return None;
        }
        let place = known
            .places
            .get(&player)
            .copied()
            .unwrap_or(MemberPlace { room: world, incarnation_offset: 0 });
        Some((place.room, self.at(place.room).run.incarnation + place.incarnation_offset))
    }

    /// Whether a host may report about the player in that room: the player is in it, or was
    /// admitted to it.
    pub(crate) fn is_on_map(&self, player: PlayerId, id: RoomId) -> bool {
        let Some(world) = self.get(id).map(LobbyRoom::world_id) else {
            return false;
        };
        if !self.at(world).seats.contains(player) {
            return false;
        }
        match self.avatar_place(world, player) {
            Some((place, _)) => place == id,
            None => self
                .at(world)
                .world
                .transfers
                .get(&player)
                .is_some_and(|transfer| transfer.to == id),
        }
    }

    /// The members whose avatars are on that map.
    pub(crate) fn players_on_map(&self, id: RoomId) -> Vec<PlayerId> {
        self.at(id).seats.players().filter(|player| self.is_on_map(*player, id)).collect()
    }

    /// The rooms that a member is in, comes from, or is in transfer to.
    pub(super) fn rooms_of_member(&self, world: RoomId, player: PlayerId) -> BTreeSet<RoomId> {
        let WorldState { places, transfers, .. } = &self.at(world).world;
        let place = places.get(&player).map_or(world, |place| place.room);
        let transfer = transfers.get(&player).map(|transfer| [transfer.from, transfer.to]);
        transfer.into_iter().flatten().chain([place]).collect()
    }

    /// Members whose avatar is in no existing room, and in transfer to none.
    pub(super) fn members_without_room(&self, world: RoomId) -> Vec<PlayerId> {
        let places = self.at(world).world.places.keys().copied();
        places.filter(|player| !self.has_existing_room(world, *player)).collect()
    }

    pub(super) fn has_existing_room(&self, world: RoomId, player: PlayerId) -> bool {
        let WorldState { places, transfers, .. } = &self.at(world).world;
        let room = match transfers.get(&player) {
            Some(MapTransfer { to, step: TransferStep::Arriving { .. }, .. }) => *to,
            _ => places.get(&player).map_or(world, |place| place.room),
        };
        self.get(room).is_some()
    }

    /// The player leaves a world. Returns the further maps that it was on, and is on no longer.
    pub(super) fn leave_maps(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        world: RoomId,
    ) -> Vec<RoomId> {
        let rooms = self.rooms_of_member(world, player).into_iter();
        let maps: Vec<RoomId> =
            rooms.filter(|id| *id != world && self.get(*id).is_some()).collect();
        for &id in &maps {
            self.at_mut(id).note_departure(now, player);
            self.free_map_seat(id, player);
        }
        self.at_mut(world).world.forget(player);
        maps
    }

    /// Frees a seat on a further map. (The first map counts the members who are elsewhere.)
    pub(super) fn free_map_seat(&mut self, id: RoomId, player: PlayerId) {
        if let Some(room) = self.get_mut(id).filter(|room| room.map_identity.is_some()) {
            room.seats.free(player);
        }
    }
}

/// Checks for tests.
#[cfg(test)]
impl Rooms {
    /// Checks that each member of a world is where its seats say, and that no map has too many
    /// players.
    pub(crate) fn check_world(&self, world: &LobbyRoom, context: &str) {
        assert!(world.player_count() <= world.map_seats(), "{context}: an oversold first map");
        for player in world.seats.players() {
            assert!(self.has_existing_room(world.id, player), "{context}: {player} is nowhere");
            let rooms = self.rooms_of_member(world.id, player);
            for (map, id) in &world.world.maps {
                let room = self.get(*id).expect("a world lists only existing maps");
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
