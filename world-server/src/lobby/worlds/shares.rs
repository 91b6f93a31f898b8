//! What the maps of a world tell each other: passed on, and not looked into.
//!
//! Nothing is kept of it: each map tells all again from time to time.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::ids::RoomId;
use ambit_room::logic::share::MAX_SHARE_BYTES;

use crate::lobby::Lobby;
use crate::lobby::output::HostId;

impl Lobby {
    /// Handles what a map tells the others.
    pub(in crate::lobby) fn handle_share(&mut self, host: HostId, id: RoomId, share: &[u8]) {
        let room = self.rooms.get(id).filter(|room| room.game_host() == Some(host));
        let Some(room) = room.filter(|_| (1..=MAX_SHARE_BYTES).contains(&share.len())) else {
            return;
        };
        let (world, map) = (room.world_id(), room.map());
        self.tell_other_maps(world, (id, map), share);
    }

    /// A further map is no more: the others forget what it told.
    pub(super) fn forget_share(&mut self, world: RoomId, map: (RoomId, u32)) {
        self.tell_other_maps(world, map, &[]);
    }

    fn tell_other_maps(&mut self, world: RoomId, (from, map): (RoomId, u32), share: &[u8]) {
        let Some(known) = self.rooms.get(world) else { return };
        let others: Vec<RoomId> = known.all_maps().filter(|id| *id != from).collect();
        for id in others {
            let runs = self.rooms.get(id).is_some_and(|room| room.game_host().is_some());
            let Some(host) = self.reachable_host(id).filter(|_| runs) else { continue };
            let told = RoomOrder::MapShare { map, share: share.to_vec() };
            self.effects.outbox.send_to_room(host, id, told);
        }
    }
}
