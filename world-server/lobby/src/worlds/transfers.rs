//! The steps of a transfer through a gate (see [`worlds`](super)): the seat that it needs, its
//! orders for maps, and what follows when one of its maps is lost.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_room::logic::game::MAX_CARRIED_BYTES;
use ambit_room::room::{TransferArrival, TransferId};

use crate::config::LobbyConfig;
use crate::output::HostId;
use crate::refusal::LobbyRefusal;
use crate::rooms::Rooms;
use crate::rooms::room::RoomPhase;
use crate::sessions::Sessions;
use crate::worlds::state::{MapTransfer, MemberPlace, RecentArrival, TransferStep};

/// Maximum number of maps of a world; a host that names a higher map is in error.
const MAX_MAPS: u32 = 64;

/// What a player in a gate causes.
#[derive(Debug)]
pub(super) enum AtGate {
    /// The room does not know that the player has left it.
    NotThere,
    /// It goes there already; the order is sent again, if there is one.
    OnTheWay(Option<(RoomId, RoomOrder)>),
    /// It wants to this map of the world.
    Asks { world: RoomId },
}

/// What follows when a player has left through a gate, or could not.
#[derive(Debug)]
pub(super) enum GateDeparture {
    /// It stays where it is.
    Stays,
    /// It cannot go, nor stay: it carries this number of bytes.
    CarriesTooMuch(usize),
    /// It has left the map of this world.
    Left { world: RoomId },
}

impl Rooms {
    /// A player stands in a gate of a map; `None` if it is not the host's.
    pub(super) fn at_gate(&mut self, host: HostId, id: RoomId, player: PlayerId) -> Option<AtGate> {
        let room = self.get(id).filter(|room| room.run.phase == RoomPhase::Running { host })?;
        let world = room.world_id();
        if !self.is_on_map(player, id) {
            return Some(AtGate::NotThere);
        }
        let Some(transfer) = self.at(world).world.transfers.get(&player) else {
            return Some(AtGate::Asks { world });
        };
        let is_leaving = transfer.step == TransferStep::Leaving && transfer.from == id;
        Some(AtGate::OnTheWay(is_leaving.then(|| self.release_order(world, player))))
    }

    /// The room of the map that a gate of `from` leads to; `None` if it is not open.
    pub(super) fn map_behind(
        &self,
        world: RoomId,
        from: RoomId,
        map: u32,
    ) -> Result<Option<RoomId>, LobbyRefusal> {
        if map >= MAX_MAPS || self.at(from).map() == map {
            let why = format!("it leads to map {map}, where no gate of this map can lead");
            return Err(gate_closed(ErrorCode::ServerError, &why));
        }
        Ok(if map == 0 { Some(world) } else { self.at(world).world.maps.get(&map).copied() })
    }

    /// Adds a further map, which a host is about to open.
    pub(super) fn open_map(&mut self, world: RoomId, map: u32, id: RoomId, host: HostId) {
        self.at_mut(world).world.maps.insert(map, id);
        self.at_mut(id).run.phase = RoomPhase::Opening { host, starter: None };
    }

    /// Reserves a seat on a map.
    pub(super) fn reserve_map_seat(
        &mut self,
        to: RoomId,
        player: PlayerId,
    ) -> Result<(), LobbyRefusal> {
        let room = self.at_mut(to);
        if room.player_count() >= room.map_seats() {
            let message = format!(
                "all {} seats of map {} are taken; step out of the gate and try again",
                room.map_seats(),
                room.map()
            );
            return Err(LobbyRefusal::new(ErrorCode::RoomFull, message));
        }
        if room.map_identity.is_some() {
            room.seats.take(player).expect("the map has a free seat");
        }
        Ok(())
    }

    /// Begins a transfer. Returns its first order, if the target map runs.
    pub(super) fn start_transfer(
        &mut self,
        world: RoomId,
        player: PlayerId,
        (from, to): (RoomId, RoomId),
        (target, place): (Position, Position),
    ) -> Option<(RoomId, RoomOrder)> {
        let number = self.next_transfer();
        let transfer = MapTransfer {
            number,
            from,
            to,
            target_position: (target.x, target.y),
            return_position: (place.x, place.y),
            step: TransferStep::Opening,
        };
        let known = &mut self.at_mut(world).world;
        known.places.entry(player).or_insert(MemberPlace { room: world, incarnation_offset: 0 });
        known.transfers.insert(player, transfer);
        let is_open = matches!(self.at(to).run.phase, RoomPhase::Running { .. });
        is_open.then(|| self.release_order(world, player))
    }

    /// A player has left a map through a gate, with what it carries, or could not. `None` if no
    /// such transfer is known.
    pub(super) fn depart(
        &mut self,
        host: HostId,
        id: RoomId,
        player: PlayerId,
        number: TransferId,
        carried: Option<Vec<u8>>,
    ) -> Option<GateDeparture> {
        let world = self.get(id).filter(|room| room.game_host() == Some(host))?.world_id();
        let transfer = self.at(world).world.transfers.get(&player)?;
        let known = (transfer.number, transfer.from, &transfer.step);
        if known != (number.0, id, &TransferStep::Leaving) {
            return None;
        }
        let Some(carried) = carried else {
            self.cancel_transfer(world, player);
            return Some(GateDeparture::Stays);
        };
        if carried.len() > MAX_CARRIED_BYTES {
            return Some(GateDeparture::CarriesTooMuch(carried.len()));
        }
        let place = self.avatar_place(world, player);
        let incarnation = place.map_or(0, |(_, incarnation)| incarnation);
        self.transfer_mut(world, player).step = TransferStep::Arriving { carried, incarnation };
        self.at_mut(world).world.arrivals.remove(&player);
        self.renumber_if_reversed(world, player);
        Some(GateDeparture::Left { world })
    }

    /// A player has arrived on a map. Returns whether it came from another one; `None` if no such
    /// transfer is known.
    pub(super) fn arrive(
        &mut self,
        host: HostId,
        id: RoomId,
        player: PlayerId,
        arrived: TransferId,
        config: &LobbyConfig,
    ) -> Option<bool> {
        let room = self.get(id).filter(|room| room.game_host() == Some(host))?;
        let world = room.world_id();
        let here = room.run.incarnation;
        let may_lack_arrivals = self.may_lack_arrivals(id, config);
        let known = &mut self.at_mut(world).world;
        let transfer = known.transfers.get(&player)?;
        let TransferStep::Arriving { incarnation, .. } = transfer.step else {
            return None;
        };
        if (transfer.number, transfer.to) != (arrived.0, id) {
            return None;
        }
        let from = transfer.from;
        let ahead = (incarnation + 1).saturating_sub(here);
        let transfer = known.transfers.remove(&player).expect("it was there");
        if may_lack_arrivals {
            known.arrivals.insert(player, RecentArrival::new(transfer));
        }
        known.places.insert(player, MemberPlace { room: id, incarnation_offset: ahead });
        if from != id {
            self.free_map_seat(from, player);
        }
        Some(from != id)
    }

    /// A room runs, perhaps on another host than before: the orders of its transfers, (again).
    pub(crate) fn orders_again(
        &mut self,
        id: RoomId,
        sessions: &Sessions,
    ) -> Vec<(RoomId, RoomOrder)> {
        let world = self.at(id).world_id();
        let transfers = self.at(world).world.transfers.iter();
        let concerned = transfers.filter(|(_, transfer)| transfer.from == id || transfer.to == id);
        let concerned: Vec<PlayerId> = concerned.map(|(player, _)| *player).collect();
        let orders = concerned.into_iter().filter_map(|player| {
            let transfer = self.transfer_mut(world, player);
            match transfer.step {
                TransferStep::Opening if transfer.to == id => {
                    Some(self.release_order(world, player))
                }
                TransferStep::Leaving if transfer.from == id => {
                    Some(self.release_order(world, player))
                }
                TransferStep::Arriving { .. } if transfer.to == id => {
                    self.admit_order(world, player, sessions)
                }
                _ => None,
            }
        });
        orders.collect()
    }

    /// Cancels a transfer: the player stays where it is.
    pub(super) fn cancel_transfer(&mut self, world: RoomId, player: PlayerId) {
        let Some(transfer) = self.at_mut(world).world.transfers.remove(&player) else {
            return;
        };
        if transfer.to != transfer.from {
            self.free_map_seat(transfer.to, player);
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
    fn renumber_if_reversed(&mut self, world: RoomId, player: PlayerId) {
        let transfer = self.transfer_mut(world, player);
        if transfer.to == transfer.from {
            let number = self.next_transfer();
            self.transfer_mut(world, player).number = number;
        }
    }

    pub(super) fn transfer_mut(&mut self, world: RoomId, player: PlayerId) -> &mut MapTransfer {
        let transfers = &mut self.at_mut(world).world.transfers;
        transfers.get_mut(&player).expect("the player is in transfer")
    }

    /// Lets the avatar go.
    pub(super) fn release_order(&mut self, world: RoomId, player: PlayerId) -> (RoomId, RoomOrder) {
        let transfer = self.transfer_mut(world, player);
        transfer.step = TransferStep::Leaving;
        let number = TransferId(transfer.number);
        (transfer.from, RoomOrder::ReleaseForTransfer { player, transfer: number })
    }

    /// Lets the avatar in, once it has been let go.
    pub(super) fn admit_order(
        &mut self,
        world: RoomId,
        player: PlayerId,
        sessions: &Sessions,
    ) -> Option<(RoomId, RoomOrder)> {
        let standing = sessions.standing_of(player, self.is_maker(world, player));
        let transfer = self.transfer_mut(world, player);
        let TransferStep::Arriving { carried, .. } = &transfer.step else {
            return None;
        };
        let (to, (x, y)) = (transfer.to, transfer.target_position);
        let arrival = TransferArrival {
            player,
            transfer: TransferId(transfer.number),
            name: sessions.name_of(player),
            account: sessions.player(player).account,
            standing,
            at: Position::on_ground(x, y),
            carried: carried.clone(),
        };
        Some((to, RoomOrder::AdmitTransfer(arrival)))
    }
}

/// A gate leads nowhere.
pub(super) fn gate_closed(code: ErrorCode, why: &str) -> LobbyRefusal {
    LobbyRefusal::new(code, format!("this gate is closed: {why}"))
}
