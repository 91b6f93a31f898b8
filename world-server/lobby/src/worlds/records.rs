//! Worlds of several maps in the directory (see `lobby_records`).
//!
//! The record of a world, that is of its first map, contains the places of all members. The records
//! of further maps contain only where they run. Their seats are derived from the first record, so a
//! server that dies between two records leaves nothing inconsistent.

use std::collections::{BTreeMap, BTreeSet};

use crate::directory as pb;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_room::logic::game::MAX_CARRIED_BYTES;

use crate::rooms::Rooms;
use crate::rooms::room::{LobbyRoom, RoomPhase};
use crate::rooms::seats::Seats;
use crate::worlds::state::{
    MapIdentity, MapTransfer, MemberPlace, RecentArrival, TransferStep, WorldState,
};

impl MapIdentity {
    pub(crate) fn to_record(self) -> pb::MapIdentity {
        pb::MapIdentity { world: self.world.0, map: self.map }
    }
}

impl WorldState {
    /// The record of the members' places and transfers; `None` if all are on the first map.
    pub(crate) fn to_record(&self) -> Option<pb::World> {
        let places = self.places.iter();
        let places = places.map(|(player, place)| pb::Place {
            player: player.0,
            room: place.room.0,
            ahead: place.incarnation_offset,
        });
        let transfers =
            self.transfers.iter().filter_map(|(player, transfer)| transfer.to_record(*player));
        let arrivals = self.arrivals.iter();
        let arrivals = arrivals.filter_map(|(player, arrival)| arrival.transfer.to_record(*player));
        let record = pb::World {
            places: places.collect(),
            transfers: transfers.collect(),
            arrivals: arrivals.collect(),
        };
        (record != pb::World::default()).then_some(record)
    }

    /// Restores the world of a first map with these members; [`Rooms::restore_map`] adds its
    /// further maps.
    pub(crate) fn from_record(record: pb::World, members: &Seats) -> Self {
        let place = |place: pb::Place| {
            (
                PlayerId(place.player),
                MemberPlace { room: RoomId(place.room), incarnation_offset: place.ahead },
            )
        };
        let of_members = |records: Vec<pb::Transfer>| {
            let transfers = records.into_iter().filter_map(MapTransfer::from_record);
            transfers.filter(|(player, _)| members.contains(*player))
        };
        let arrivals = of_members(record.arrivals);
        let arrivals = arrivals.filter(|(_, transfer)| transfer.has_carried_state());
        Self {
            maps: BTreeMap::new(),
            places: record
                .places
                .into_iter()
                .map(place)
                .filter(|(player, _)| members.contains(*player))
                .collect(),
            transfers: of_members(record.transfers).collect(),
            arrivals: arrivals
                .map(|(player, transfer)| (player, RecentArrival::new(transfer)))
                .collect(),
        }
    }

    /// The players who are on that map, come from it, or are in transfer to it.
    fn players_of_map(&self, map: RoomId) -> impl Iterator<Item = PlayerId> + '_ {
        let there = self
            .places
            .iter()
            .filter(move |(_, place)| place.room == map)
            .map(|(player, _)| *player);
        let on_the_way = self
            .transfers
            .iter()
            .filter(move |(_, transfer)| [transfer.from, transfer.to].contains(&map));
        there.chain(on_the_way.map(|(player, _)| *player)).collect::<BTreeSet<_>>().into_iter()
    }
}

impl MapTransfer {
    fn has_carried_state(&self) -> bool {
        matches!(self.step, TransferStep::Arriving { .. })
    }

    fn to_record(&self, player: PlayerId) -> Option<pb::Transfer> {
        let carried = match &self.step {
            TransferStep::Opening => return None,
            TransferStep::Leaving => None,
            TransferStep::Arriving { carried, incarnation } => {
                Some(pb::CarriedState { state: carried.clone(), incarnation: *incarnation })
            }
        };
        let ((x, y), (back_x, back_y)) = (self.target_position, self.return_position);
        let from = self.from.0;
        let to = self.to.0;
        Some(pb::Transfer {
            player: player.0,
            number: self.number,
            from,
            to,
            x,
            y,
            back_x,
            back_y,
            carried,
        })
    }

    fn from_record(record: pb::Transfer) -> Option<(PlayerId, Self)> {
        let step = match record.carried {
            None => TransferStep::Leaving,
            Some(pb::CarriedState { state, .. }) if state.len() > MAX_CARRIED_BYTES => {
                return None;
            }
            Some(pb::CarriedState { state: carried, incarnation }) => {
                TransferStep::Arriving { carried, incarnation }
            }
        };
        let transfer = Self {
            number: record.number,
            from: RoomId(record.from),
            to: RoomId(record.to),
            target_position: (record.x, record.y),
            return_position: (record.back_x, record.back_y),
            step,
        };
        Some((PlayerId(record.player), transfer))
    }
}

impl Rooms {
    /// Restores a further map of a world that is restored already.
    pub(crate) fn restore_map(
        &mut self,
        id: RoomId,
        identity: &pb::MapIdentity,
        record: &pb::Room,
        phase: RoomPhase,
        has_checkpoint: bool,
    ) -> Option<()> {
        let world = self
            .get(RoomId(identity.world))
            .filter(|room| room.map_identity.is_none() && room.is_running())?;
        let mut room = LobbyRoom::map_of(world, id, identity.map);
        for player in world.world.players_of_map(id) {
            room.seats.take(player).ok()?;
        }
        (room.run.phase, room.run.incarnation) = (phase, record.incarnation);
        room.run.build.clone_from(&record.build);
        room.run.has_checkpoint = has_checkpoint;
        let maps = &mut self.at_mut(RoomId(identity.world)).world.maps;
        if identity.map == 0 || maps.contains_key(&identity.map) {
            return None;
        }
        maps.insert(identity.map, id);
        self.restore(room);
        Some(())
    }

    /// Reverses transfers to maps that were not restored. Returns the members whose maps are gone.
    pub(super) fn reverse_lost_transfers(&mut self, world: RoomId) -> Vec<PlayerId> {
        if self.get(world).is_none() {
            return Vec::new();
        }
        self.reverse_arrivals(world);
        let transfers = self.at(world).world.transfers.iter();
        let lost = transfers.filter(|(_, transfer)| self.get(transfer.to).is_none());
        for player in lost.map(|(player, _)| *player).collect::<Vec<_>>() {
            self.reverse_transfer(world, player);
        }
        self.members_without_room(world)
    }
}
