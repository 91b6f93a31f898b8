//! Gates and maps of worlds (see [`worlds`](super)), as far as they need more than rooms: hosts
//! that open maps, orders that reach them, players who read why a gate is closed, and their
//! tickets.

use std::collections::BTreeSet;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use ambit_room::logic::game::MAX_CARRIED_BYTES;
use ambit_room::room::TransferId;

use crate::Lobby;
use crate::output::{HostId, LobbyAction, error_body};
use crate::refusal::LobbyRefusal;
use crate::rooms::room::{LobbyRoom, RoomPhase};
use crate::timers::Timer;
use crate::worlds::state::TransferStep;
use crate::worlds::transfers::{AtGate, GateDeparture, gate_closed};

/// Messages of hosts about gates.
impl Lobby {
    /// Handles a player in a gate: reserves a seat on the target map, or notifies the player why
    /// not. `ways` are the places on the target map and here.
    pub(crate) fn handle_gate_request(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        map: u32,
        ways: (Position, Position),
    ) {
        let world = match self.rooms.at_gate(host, id, player) {
            None => return,
            Some(AtGate::NotThere) => {
                return self.remove_from_game(player, id, ErrorCode::NotInRoom);
            }
            Some(AtGate::OnTheWay(order)) => return self.send_to_maps(order),
            Some(AtGate::Asks { world }) => world,
        };
        match self.reserve_map_seat(now, world, player, id, map) {
            Ok(to) => {
                let order = self.rooms.start_transfer(world, player, (id, to), ways);
                self.send_to_maps(order);
            }
            Err(refusal) => {
                self.effects.counters.count_refused(refusal.code);
                self.send_to_maps([(id, RoomOrder::RefuseTransfer(player))]);
                self.notify(player, error_body(refusal));
            }
        }
    }

    /// Handles a player who has left through a gate, or could not.
    pub(crate) fn handle_departed(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        (number, carried): (TransferId, Option<Vec<u8>>),
    ) {
        match self.rooms.depart(host, id, player, number, carried) {
            Some(GateDeparture::Stays) if self.fleet.waits_for_members(id) => {
                // What was kept of the room may not have the player.
                self.rooms.repeat_arrivals(id);
                self.resend_transfer_orders(id);
            }
            None | Some(GateDeparture::Stays) => {}
            Some(GateDeparture::CarriesTooMuch(bytes)) => {
                let message = format!(
                    "a player carries {bytes} bytes, at most {MAX_CARRIED_BYTES} are possible"
                );
                let why = LobbyRefusal::new(ErrorCode::ServerError, message);
                self.remove_player(now, player, why);
            }
            Some(GateDeparture::Left { world }) => {
                // Revokes the player's tickets for that map.
                self.remove_from_game(player, id, ErrorCode::NotInRoom);
                self.send_admit(world, player);
            }
        }
    }

    /// Handles a player who has arrived on the target map.
    pub(crate) fn handle_arrived(
        &mut self,
        now: LocalTime,
        host: HostId,
        (id, player): (RoomId, PlayerId),
        arrived: TransferId,
    ) {
        let moved = self.rooms.arrive(host, id, player, arrived, &self.config);
        if let Some(has_moved) = moved {
            self.effects.counters.transfers_completed += u64::from(has_moved);
            self.send_ticket(now, player);
        }
    }

    /// Reserves a seat on the map that a gate of `from` leads to, and opens that map if needed.
    fn reserve_map_seat(
        &mut self,
        now: LocalTime,
        world: RoomId,
        player: PlayerId,
        from: RoomId,
        map: u32,
    ) -> Result<RoomId, LobbyRefusal> {
        if self.end.is_draining() {
            return Err(gate_closed(ErrorCode::Draining, "the server is shutting down"));
        }
        let to = match self.rooms.map_behind(world, from, map)? {
            Some(to) => to,
            None => self.open_map(now, world, map)?,
        };
        self.rooms.reserve_map_seat(to, player)?;
        Ok(to)
    }

    fn open_map(
        &mut self,
        now: LocalTime,
        world: RoomId,
        map: u32,
    ) -> Result<RoomId, LobbyRefusal> {
        if self.rooms.all().len() >= self.config.max_rooms {
            let why = format!("the server has its {} rooms", self.config.max_rooms);
            return Err(gate_closed(ErrorCode::TooManyRooms, &why));
        }
        self.check_directory()?;
        let id = self.rooms.add_map(world, map);
        let Some(host) = self.fleet.place_new_room(self.rooms.all(), id) else {
            self.rooms.remove(id);
            let why = "no game server takes another map at the moment; try again later";
            return Err(gate_closed(ErrorCode::NoHostAvailable, why));
        };
        self.rooms.open_map(world, map, id, host);
        self.send_open_room(now, id, host, None);
        Ok(id)
    }

    /// A room runs, perhaps on another host than before: sends the orders of its transfers (again).
    pub(crate) fn resend_transfer_orders(&mut self, id: RoomId) {
        let orders = self.rooms.orders_again(id, &self.sessions);
        self.send_to_maps(orders);
    }

    /// Handles what a map tells the others.
    pub(crate) fn handle_share(&mut self, host: HostId, id: RoomId, share: &[u8]) {
        let orders = self.rooms.share_orders(host, id, share);
        self.send_shares(orders);
    }

    /// To maps that are about to run, too.
    fn send_shares(&mut self, orders: Vec<(RoomId, RoomOrder)>) {
        for (id, order) in orders {
            if let Some(host) = self.reachable_host(id) {
                self.effects.outbox.send_to_room(host, id, order);
            }
        }
    }

    /// Sends orders to the hosts of running rooms; for a room that does not run yet, an order is
    /// sent when it does.
    fn send_to_maps(&mut self, orders: impl IntoIterator<Item = (RoomId, RoomOrder)>) {
        for (id, order) in orders {
            let runs = matches!(
                self.rooms.get(id).map(|room| room.run.phase),
                Some(RoomPhase::Running { .. })
            );
            if let Some(host) = self.reachable_host(id).filter(|_| runs) {
                self.effects.outbox.send_to_room(host, id, order);
            }
        }
    }

    /// The host of a room, unless it was lost, or has not reconnected yet.
    pub(crate) fn reachable_host(&self, id: RoomId) -> Option<HostId> {
        let host = self.rooms.get(id)?.game_host()?;
        self.fleet.is_reachable(host).then_some(host)
    }

    /// The hosts that know a member, and in which room.
    pub(crate) fn hosts_of_member(&self, world: RoomId, player: PlayerId) -> Vec<(RoomId, HostId)> {
        let rooms = self.rooms.rooms_of_member(world, player).into_iter();
        rooms.filter_map(|id| self.reachable_host(id).map(|host| (id, host))).collect()
    }

    /// These rooms were stored. The next store begins after this call.
    pub fn handle_rooms_stored(&mut self, now: LocalTime, rooms: &[RoomId]) {
        self.advance(now);
        self.rooms.note_stored(rooms);
        self.advance(now);
    }
}

/// The ends of maps, and members who go.
impl Lobby {
    /// Removes a member who leaves the world from all further maps.
    pub(crate) fn leave_maps(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        world: RoomId,
        reason: ErrorCode,
    ) {
        for map in self.rooms.leave_maps(now, player, world) {
            self.remove_from_game(player, map, reason);
        }
    }

    /// Handles the loss of a further map. Its players return to the lobby with the reason; players
    /// in transfer to it stay, or turn back.
    pub(crate) fn handle_map_lost(&mut self, now: LocalTime, id: RoomId, why: &LobbyRefusal) {
        let on_it = self.rooms.players_on_map(id);
        let Some(room) = self.rooms.at(id).map_identity else {
            return;
        };
        let has_run = !matches!(self.rooms.at(id).run.phase, RoomPhase::Opening { .. });
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
                    self.rooms.cancel_transfer(room.world, player);
                    // If the host was lost before the map was open, the player is not refused: the
                    // game asks again, and another host opens the map.
                    if why.code != ErrorCode::HostDied {
                        self.send_to_maps([(from, RoomOrder::RefuseTransfer(player))]);
                        self.notify(player, error_body(why.clone()));
                    }
                }
                TransferStep::Leaving => self.rooms.reverse_transfer(room.world, player),
                TransferStep::Arriving { .. } => {
                    self.rooms.reverse_transfer(room.world, player);
                    self.send_admit(room.world, player);
                }
            }
        }
        for player in self.rooms.reverse_arrivals(room.world) {
            self.send_admit(room.world, player);
        }
        for player in on_it
            .into_iter()
            .chain(self.rooms.members_without_room(room.world))
            .collect::<BTreeSet<_>>()
        {
            let still_there =
                self.rooms.get(room.world).is_some_and(|world| world.seats.contains(player));
            let has_existing_room = still_there && self.rooms.has_existing_room(room.world, player);
            if still_there && !has_existing_room {
                self.remove_player(now, player, why.clone());
            }
        }
        if has_run {
            let orders = self.rooms.forget_share_orders(room.world, (id, room.map));
            self.send_shares(orders);
        }
    }

    fn send_admit(&mut self, world: RoomId, player: PlayerId) {
        let order = self.rooms.admit_order(world, player, &self.sessions);
        self.send_to_maps(order);
    }

    /// Closes the further maps of a closed world.
    pub(crate) fn close_maps(&mut self, world: &LobbyRoom, why: &LobbyRefusal) {
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

    /// Reverses transfers to maps that were not restored, and returns the players of these maps to
    /// the lobby.
    pub(crate) fn repair_worlds(&mut self, now: LocalTime) {
        for world in self.rooms.ids() {
            for player in self.rooms.reverse_lost_transfers(world) {
                let why = LobbyRefusal::new(
                    ErrorCode::HostDied,
                    "the game server that ran your part of the world is gone",
                );
                self.remove_player(now, player, why);
            }
        }
    }
}
