//! What the maps of a world tell each other: passed on, and not looked into.
//!
//! Nothing is kept of it: each map tells all again from time to time.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::ids::RoomId;
use ambit_room::logic::share::MAX_SHARE_BYTES;

use crate::output::HostId;
use crate::rooms::Rooms;

impl Rooms {
    /// What a map tells the others, as orders for them.
    pub(crate) fn share_orders(
        &self,
        host: HostId,
        id: RoomId,
        share: &[u8],
    ) -> Vec<(RoomId, RoomOrder)> {
        let room = self.get(id).filter(|room| room.game_host() == Some(host));
        match room.filter(|_| (1..=MAX_SHARE_BYTES).contains(&share.len())) {
            Some(room) => self.orders_for_others(room.world_id(), (id, room.map()), share),
            None => Vec::new(),
        }
    }

    /// A further map is no more: the others forget what it told.
    pub(super) fn forget_share_orders(
        &self,
        world: RoomId,
        map: (RoomId, u32),
    ) -> Vec<(RoomId, RoomOrder)> {
        self.orders_for_others(world, map, &[])
    }

    fn orders_for_others(
        &self,
        world: RoomId,
        (from, map): (RoomId, u32),
        share: &[u8],
    ) -> Vec<(RoomId, RoomOrder)> {
        let Some(known) = self.get(world) else { return Vec::new() };
        let others = known.all_maps().filter(|id| *id != from);
        let told = |id| (id, RoomOrder::MapShare { map, share: share.to_vec() });
        others.map(told).collect()
    }
}
