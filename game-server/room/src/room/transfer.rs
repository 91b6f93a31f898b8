//! Players who transfer to another map of the world, or come from one: the room's part of that.
//!
//! The lobby decides (`lobby::worlds`). The room reports who is at a gate, releases players, and
//! admits them. Departure and arrival are inputs like all others, so a room that goes on at another
//! host has executed them too.

use crate::logic::game::{Left, MAX_TRANSFER_STATE_BYTES};
use ambit_proto::ids::PlayerId;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;

use super::gates::Departure;
use super::profiles::CarriedProfile;
use super::{Presence, Room, RoomOutput, Seat, TransferArrival, TransferId};
use crate::saved;

impl Room {
    /// Reports the players who have entered a gate.
    pub(super) fn watch_gates(&mut self, now: GameTime) {
        for (&player, seat) in &self.seats {
            let from = self.world.position(seat.avatar);
            let sent_to = self.game.departs(&self.world, player);
            if let Some((map, at)) = self.gates.watch(now, player, from, sent_to) {
                self.gate_outputs.push(RoomOutput::AtGate { player, map, at, from });
            }
        }
    }

    /// The player may transfer, and does so if the avatar still stands in the gate and the game
    /// allows it.
    pub(super) fn release_for_transfer(&mut self, player: PlayerId, transfer: TransferId) {
        let carried = match (self.seats.get(&player), self.gates.departure(player)) {
            // The player has come back by a newer transfer: a repeated order.
            (Some(seat), _) if seat.arrived_by >= Some(transfer) => return,
            (Some(_), _) => self.depart(player, transfer),
            (None, Some(departure)) if departure.transfer == transfer => {
                Some(departure.carried.clone())
            }
            (None, _) => None,
        };
        if carried.is_none() {
            self.gates.refuse(player);
        }
        self.gate_outputs.push(RoomOutput::Departed { player, transfer, carried });
    }

    fn depart(&mut self, player: PlayerId, transfer: TransferId) -> Option<Vec<u8>> {
        if !self.gates.has(player) {
            return None;
        }
        let carried = self.game.carry(&self.world, player)?;
        if carried.len() > MAX_TRANSFER_STATE_BYTES {
            tracing::error!(
                player = player.0,
                "the game carries {} bytes through a gate, the limit is \
                 {MAX_TRANSFER_STATE_BYTES}: the player stays",
                carried.len()
            );
            return None;
        }
        if let Some(Seat { presence: Presence::Here(client), .. }) = self.seats.get(&player) {
            let client = *client;
            self.remove_viewer(client);
            self.gate_outputs.push(RoomOutput::MovedAway { client });
        }
        let profile = self.vacate(player, Left::ToMap)?;
        let carried = saved::section(&(carried, profile));
        let departure = Departure { transfer, carried: carried.clone() };
        self.gates.depart(player, departure);
        Some(carried)
    }

    /// A player comes from another map. The client is not connected yet.
    pub(super) fn admit_transfer(&mut self, now: GameTime, arrival: &TransferArrival) {
        let &TransferArrival { player, transfer, ref name, account, standing, at, ref carried } =
            arrival;
        let is_here = |seat: &Seat| seat.arrived_by >= Some(transfer);
        if self.seats.get(&player).is_some_and(is_here) {
            let arrived = RoomOutput::Arrived { player, transfer };
            return self.gate_outputs.push(arrived);
        }
        let has_left = |departure: &Departure| departure.transfer >= transfer;
        if self.gates.departure(player).is_some_and(has_left) {
            return; // A repeated order: the player has been here since, and has left again.
        }
        // The lobby knows better: what is left of an earlier stay goes. The player has been on
        // another map since, with all that was carried there.
        self.vacate(player, Left::ToMap);
        let at = if self.world.grid().contains(at) { at } else { self.world.middle() };
        self.world.set_account(player, account);
        self.world.set_standing(player, standing);
        let (carried, profile): (Vec<u8>, CarriedProfile) = saved::only_section(carried)
            .unwrap_or_else(|error| {
                tracing::error!(player = player.0, "what a player carries is lost: {error}");
                Default::default()
            });
        self.profiles.stop_waiting(player);
        self.open_carried(player, profile);
        let avatar = self.game.arrive(&mut self.world, player, name, at, &carried);
        // Without an avatar there is no seat: the client that follows joins as a new player.
        if let Some(avatar) = self.take_avatar(player, avatar, name) {
            self.gates.arrive(player, self.world.position(avatar));
            let seat = Seat {
                presence: Presence::Away(now),
                arrived_by: Some(transfer),
                account,
                ..Seat::new(avatar, name.clone())
            };
            self.seats.insert(player, seat);
        } else {
            self.world.set_account(player, None);
            self.world.set_standing(player, Standing::default());
            self.close_profile(player, Left::Removed);
        }
        self.gate_outputs.push(RoomOutput::Arrived { player, transfer });
    }
}
