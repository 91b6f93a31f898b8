//! Where the members of a world are.

use std::collections::BTreeSet;

use ambit_proto::ids::{PlayerId, RoomId};

use crate::lobby::rooms::Rooms;
use crate::lobby::rooms::room::LobbyRoom;
use crate::lobby::worlds::state::{MemberPlace, TransferStep, WorldState};

impl Rooms {
    /// The room of a member's avatar, and the incarnation for its tickets; `None` while it arrives.
    pub(in crate::lobby) fn avatar_place(
        &self,
        world: RoomId,
        player: PlayerId,
    ) -> Option<(RoomId, u32)> {
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
        Some((place.room, self.at(place.room).incarnation + place.incarnation_offset))
    }

    /// Whether a host may report about the player in that room: the player is in it, or was
    /// admitted to it.
    pub(in crate::lobby) fn is_on_map(&self, player: PlayerId, id: RoomId) -> bool {
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
    pub(in crate::lobby) fn players_on_map(&self, id: RoomId) -> Vec<PlayerId> {
        self.at(id).seats.players().filter(|player| self.is_on_map(*player, id)).collect()
    }

    /// The rooms that a member is in, comes from, or is in transfer to.
    pub(super) fn rooms_of_member(&self, world: RoomId, player: PlayerId) -> BTreeSet<RoomId> {
        let WorldState { places, transfers, .. } = &self.at(world).world;
        let place = places.get(&player).map_or(world, |place| place.room);
        let transfer = transfers.get(&player).map(|transfer| [transfer.from, transfer.to]);
        transfer.into_iter().flatten().chain([place]).collect()
    }
}
