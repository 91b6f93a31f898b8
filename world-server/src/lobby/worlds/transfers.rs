//! The steps of a transfer through a gate (see [`worlds`](super)): the seat and the map that it
//! needs, its orders to hosts, and what follows when one of its maps is lost.

use std::collections::BTreeSet;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use ambit_room::room::{TransferArrival, TransferId};

use super::MAX_MAPS;
use super::state::{MapTransfer, MemberPlace, TransferStep, WorldState};
use crate::lobby::output::HostId;
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::rooms::room::{LobbyRoom, RoomPhase};
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, LobbyAction, output};

impl Lobby {
    /// Reserves a seat on the map that a gate of `from` leads to, and opens that map if needed.
    pub(super) fn reserve_map_seat(
        &mut self,
        now: LocalTime,
        world: RoomId,
        player: PlayerId,
        from: RoomId,
        map: u32,
    ) -> Result<RoomId, LobbyRefusal> {
        let closed =
            |code, why: &str| LobbyRefusal::new(code, format!("this gate is closed: {why}"));
        if self.draining {
            return Err(closed(ErrorCode::Draining, "the server is shutting down"));
        }
        if map >= MAX_MAPS || self.rooms.at(from).map() == map {
            let why = format!("it leads to map {map}, where no gate of this map can lead");
            return Err(closed(ErrorCode::ServerError, &why));
        }
        let to = match map {
            0 => world,
            _ => match self.rooms.at(world).world.maps.get(&map) {
                Some(to) => *to,
                None => self.open_map(now, world, map)?,
            },
        };
        let room = self.rooms.at_mut(to);
        if room.player_count() >= room.map_seats() {
            let message = format!(
                "all {} seats of map {map} are taken; step out of the gate and try again",
                room.map_seats()
            );
            return Err(LobbyRefusal::new(ErrorCode::RoomFull, message));
        }
        if room.map_identity.is_some() {
            room.seats.take(player).expect("the map has a free seat");
        }
        Ok(to)
    }

    fn open_map(
        &mut self,
        now: LocalTime,
        world: RoomId,
        map: u32,
    ) -> Result<RoomId, LobbyRefusal> {
        if self.rooms.all().len() >= self.config.max_rooms {
            let message =
                format!("this gate is closed: the server has its {} rooms", self.config.max_rooms);
            return Err(LobbyRefusal::new(ErrorCode::TooManyRooms, message));
        }
        self.check_directory()?;
        let id = self.rooms.add_map(world, map);
        let Some(host) = self.fleet.place_new_room(self.rooms.all(), id) else {
            self.rooms.remove(id);
            let message = "this gate is closed: no game server takes another map at the moment; \
                try again later";
            return Err(LobbyRefusal::new(ErrorCode::NoHostAvailable, message));
        };
        self.rooms.at_mut(world).world.maps.insert(map, id);
        self.rooms.at_mut(id).phase = RoomPhase::Opening { host, starter: None };
        self.send_open_room(now, id, host, None);
        Ok(id)
    }

    pub(super) fn start_transfer(
        &mut self,
        world: RoomId,
        player: PlayerId,
        from: RoomId,
        to: RoomId,
        (target, place): (Position, Position),
    ) {
        self.effects.counters.last_transfer += 1;
        let transfer = MapTransfer {
            number: self.effects.counters.last_transfer,
            from,
            to,
            target_position: (target.x, target.y),
            return_position: (place.x, place.y),
            step: TransferStep::Opening,
        };
        let known = &mut self.rooms.at_mut(world).world;
        known.places.entry(player).or_insert(MemberPlace { room: world, incarnation_offset: 0 });
        known.transfers.insert(player, transfer);
        if matches!(self.rooms.at(to).phase, RoomPhase::Running { .. }) {
            self.send_release(world, player);
        }
    }

    /// A room runs, perhaps on another host than before: sends the orders of its transfers (again).
    pub(in crate::lobby) fn resend_transfer_orders(&mut self, id: RoomId) {
        let world = self.rooms.at(id).world_id();
        let transfers = self.rooms.at(world).world.transfers.iter();
        let concerned = transfers.filter(|(_, transfer)| transfer.from == id || transfer.to == id);
        for player in concerned.map(|(player, _)| *player).collect::<Vec<_>>() {
            let transfer = self.transfer_mut(world, player);
            match transfer.step {
                TransferStep::Opening if transfer.to == id => self.send_release(world, player),
                TransferStep::Leaving if transfer.from == id => self.send_release(world, player),
                TransferStep::Arriving { .. } if transfer.to == id => {
                    self.send_admit(world, player);
                }
                _ => {}
            }
        }
    }

    /// Cancels a transfer: the player stays where it is.
    pub(super) fn cancel_transfer(&mut self, world: RoomId, player: PlayerId) {
        let Some(transfer) = self.rooms.at_mut(world).world.transfers.remove(&player) else {
            return;
        };
        if transfer.to != transfer.from {
            self.free_map_seat(transfer.to, player);
        }
    }

    /// Handles the loss of a further map. Its players return to the lobby with the reason; players
    /// in transfer to it stay, or turn back.
    pub(in crate::lobby) fn handle_map_lost(
        &mut self,
        now: LocalTime,
        id: RoomId,
        why: &LobbyRefusal,
    ) {
        let on_it = self.rooms.players_on_map(id);
        let Some(room) = self.rooms.at(id).map_identity else {
            return;
        };
        let has_run = !matches!(self.rooms.at(id).phase, RoomPhase::Opening { .. });
        let lost = self.remove_map(id, why);
        self.rooms.at_mut(room.world).world.maps.remove(&room.map);
        for player in lost.seats.players() {
            let Some(transfer) = self.rooms.at_mut(room.world).world.transfers.get_mut(&player)
            else {
                continue;
            };
            if transfer.to != id {
                continue;
            }
            match transfer.step {
                TransferStep::Opening => {
                    let from = transfer.from;
                    self.cancel_transfer(room.world, player);
                    // If the host was lost before the map was open, the player is not refused: the
                    // game asks again, and another host opens the map.
                    if why.code != ErrorCode::HostDied {
                        self.send_stay(from, player);
                        self.notify(player, output::error_body(why.clone()));
                    }
                }
                TransferStep::Leaving => self.reverse_transfer(room.world, player),
                TransferStep::Arriving { .. } => {
                    self.reverse_transfer(room.world, player);
                    self.send_admit(room.world, player);
                }
            }
        }
        for player in self.reverse_arrivals(room.world) {
            self.send_admit(room.world, player);
        }
        for player in
            on_it.into_iter().chain(self.members_without_room(room.world)).collect::<BTreeSet<_>>()
        {
            let still_there =
                self.rooms.get(room.world).is_some_and(|world| world.seats.contains(player));
            let has_existing_room = still_there && self.has_existing_room(room.world, player);
            if still_there && !has_existing_room {
                self.remove_player(now, player, why.clone());
            }
        }
        if has_run {
            self.forget_share(room.world, (id, room.map));
        }
    }

    /// Reverses a transfer whose target map was lost.
    pub(super) fn reverse_transfer(&mut self, world: RoomId, player: PlayerId) {
        let transfer = self.transfer_mut(world, player);
        (transfer.to, transfer.target_position) = (transfer.from, transfer.return_position);
        if matches!(transfer.step, TransferStep::Arriving { .. }) {
            self.renumber_if_reversed(world, player);
        }
    }

    /// A reversed transfer gets a new number, since it must differ from the one by which the player
    /// left.
    pub(super) fn renumber_if_reversed(&mut self, world: RoomId, player: PlayerId) {
        let next = self.effects.counters.last_transfer + 1;
        let transfer = self.transfer_mut(world, player);
        if transfer.to == transfer.from {
            transfer.number = next;
            self.effects.counters.last_transfer = next;
        }
    }

    /// Members whose avatar is in no existing room, and in transfer to none.
    pub(super) fn members_without_room(&self, world: RoomId) -> Vec<PlayerId> {
        let places = self.rooms.at(world).world.places.keys().copied();
        places.filter(|player| !self.has_existing_room(world, *player)).collect()
    }

    pub(super) fn has_existing_room(&self, world: RoomId, player: PlayerId) -> bool {
        let WorldState { places, transfers, .. } = &self.rooms.at(world).world;
        let room = match transfers.get(&player) {
            Some(MapTransfer { to, step: TransferStep::Arriving { .. }, .. }) => *to,
            _ => places.get(&player).map_or(world, |place| place.room),
        };
        self.rooms.get(room).is_some()
    }

    /// Closes the further maps of a closed world.
    pub(in crate::lobby) fn close_maps(&mut self, world: &LobbyRoom, why: &LobbyRefusal) {
        for &id in world.world.maps.values() {
            if let Some(host) = self.reachable_host(id) {
                let close = WorldOrder::CloseRoom { room: id, reason: why.code };
                self.effects.outbox.send_to_host(host, close);
                self.rooms.note_closed_map(id, host, world.game.clone());
            }
            self.remove_map(id, why);
        }
    }

    fn remove_map(&mut self, id: RoomId, why: &LobbyRefusal) -> LobbyRoom {
        self.set_aside_unrestored(id, why);
        self.fleet.note_change();
        self.effects.timers.cancel(Timer::Opening(id));
        self.clear_restored(id);
        self.effects.outbox.push(LobbyAction::ForgetRoom { room: id });
        self.forget_stored(id);
        self.rooms.remove(id).expect("a world lists only existing maps")
    }

    /// Frees a seat on a further map. (The first map counts the members who are elsewhere.)
    pub(super) fn free_map_seat(&mut self, id: RoomId, player: PlayerId) {
        if let Some(room) = self.rooms.get_mut(id).filter(|room| room.map_identity.is_some()) {
            room.seats.free(player);
        }
    }

    pub(super) fn transfer_mut(&mut self, world: RoomId, player: PlayerId) -> &mut MapTransfer {
        self.rooms
            .at_mut(world)
            .world
            .transfers
            .get_mut(&player)
            .expect("the player is in transfer")
    }

    pub(super) fn send_release(&mut self, world: RoomId, player: PlayerId) {
        let transfer = self.transfer_mut(world, player);
        transfer.step = TransferStep::Leaving;
        let from = transfer.from;
        let transfer = TransferId(transfer.number);
        self.send_to_room_host(from, RoomOrder::ReleaseForTransfer { player, transfer });
    }

    pub(super) fn send_admit(&mut self, world: RoomId, player: PlayerId) {
        let known = self.sessions.player(player);
        let name = known.name().as_str().to_owned();
        let account = known.account;
        let standing = self.sessions.standing_of(player, self.rooms.is_maker(world, player));
        let transfer = self.transfer_mut(world, player);
        let TransferStep::Arriving { carried, .. } = &transfer.step else {
            return;
        };
        let (to, (x, y)) = (transfer.to, transfer.target_position);
        let arrival = TransferArrival {
            player,
            transfer: TransferId(transfer.number),
            name,
            account,
            standing,
            at: Position::on_ground(x, y),
            carried: carried.clone(),
        };
        self.send_to_room_host(to, RoomOrder::AdmitTransfer(arrival));
    }

    pub(super) fn send_stay(&mut self, id: RoomId, player: PlayerId) {
        self.send_to_room_host(id, RoomOrder::RefuseTransfer(player));
    }

    /// Sends an order to the host of a running room; for a room that does not run yet, the order is
    /// sent when it does.
    fn send_to_room_host(&mut self, id: RoomId, order: RoomOrder) {
        let runs =
            matches!(self.rooms.get(id).map(|room| room.phase), Some(RoomPhase::Running { .. }));
        if let Some(host) = self.reachable_host(id).filter(|_| runs) {
            self.effects.outbox.send_to_room(host, id, order);
        }
    }

    /// The host of a room, unless it was lost, or has not reconnected yet.
    pub(in crate::lobby) fn reachable_host(&self, id: RoomId) -> Option<HostId> {
        let host = self.rooms.get(id)?.game_host()?;
        self.fleet.is_reachable(host).then_some(host)
    }
}
