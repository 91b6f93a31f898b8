//! What the lobby knows of a world of several maps: where its members are, and who is in transfer.
//!
//! Values only, which rooms contain; the modules beside this one decide what happens to them.

use std::collections::BTreeMap;

use ambit_proto::ids::{PlayerId, RoomId};

/// Identifies a room as a further map of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapIdentity {
    pub(crate) world: RoomId,
    pub(crate) map: u32,
}

/// The state of a world, kept by its first map.
#[derive(Debug, Default)]
pub(crate) struct WorldState {
    /// The further maps that are open, or being opened.
    pub(super) maps: BTreeMap<u32, RoomId>,
    /// The places of members who have used a gate; all others are on the first map.
    pub(super) places: BTreeMap<PlayerId, MemberPlace>,
    pub(super) transfers: BTreeMap<PlayerId, MapTransfer>,
    /// Members whose carried state is still needed, although they have arrived.
    pub(super) arrivals: BTreeMap<PlayerId, RecentArrival>,
}

impl WorldState {
    /// The player is a member no longer.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.places.remove(&player);
        self.transfers.remove(&player);
        self.arrivals.remove(&player);
    }

    /// Whether a player is on the way to this map, or from it.
    pub(crate) fn has_transfer_of(&self, map: RoomId) -> bool {
        self.transfers.values().any(|transfer| [transfer.from, transfer.to].contains(&map))
    }
}

/// The map that a member is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemberPlace {
    pub(super) room: RoomId,
    /// Added to the room's incarnation in tickets, so that it grows with each change of place.
    pub(super) incarnation_offset: u32,
}

/// A member's transfer to another map.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MapTransfer {
    pub(super) number: u64,
    pub(super) from: RoomId,
    pub(super) to: RoomId,
    /// The position on the target map.
    pub(super) target_position: (f32, f32),
    /// The position on the source map.
    pub(super) return_position: (f32, f32),
    pub(super) step: TransferStep,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TransferStep {
    Opening,
    Leaving,
    Arriving {
        carried: Vec<u8>,
        /// The incarnation of the last ticket for the source map.
        incarnation: u32,
    },
}

/// A player who has arrived, until what is kept of the map has it; see `arrivals`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecentArrival {
    /// As it was when the player arrived.
    pub(super) transfer: MapTransfer,
    /// Reports that the map was stored, until it was surely stored with the player.
    pub(super) stores_left: u8,
}
