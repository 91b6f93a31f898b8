//! What maps tell each other is passed on to those that run, and to no others.

use ambit_host_protocol::generated::{MapShare, host_to_world, world_to_host as order};
use ambit_room::logic::share::MAX_SHARE_BYTES;

use super::{FIRST, LobbyHarness, SECOND, two_hosts};
use crate::HostId;

#[test]
fn what_a_map_tells_goes_to_the_other_maps_that_run() {
    let (mut harness, ann, world) = two_hosts();
    harness.tell(FIRST, world, 9);
    assert_eq!(harness.told(), [], "there is no other map");
    let map = harness.move_player(&ann, world, 1);
    harness.tell(FIRST, world, 3);
    harness.tell(SECOND, map, 4);
    assert_eq!(harness.told(), [(SECOND, map, 0, 3), (FIRST, world, 1, 4)]);
    // Of another host than the room's, of no room, of none of a sensible length.
    harness.tell(SECOND, world, 5);
    harness.tell(FIRST, 77, 5);
    harness.tell(FIRST, world, 0);
    harness.tell(FIRST, world, MAX_SHARE_BYTES + 1);
    assert_eq!(harness.told(), []);
}

#[test]
fn a_map_that_is_lost_is_forgotten_by_the_others() {
    let (mut harness, ann, world) = two_hosts();
    let bob = harness.connect_as("bob");
    harness.join(&bob, world);
    let map = harness.move_player(&ann, world, 1);
    let closed = super::RoomClosed { room: map, ..super::RoomClosed::default() };
    harness.send_from_host(SECOND, host_to_world::Body::RoomClosed(closed));
    assert_eq!(harness.told(), [(FIRST, world, 1, 0)]);
}

impl LobbyHarness {
    fn tell(&mut self, host: HostId, room: u64, bytes: usize) {
        let share = MapShare { room, share: vec![1; bytes], map: 0 };
        self.send_from_host(host, host_to_world::Body::Share(share));
    }

    /// To which hosts and rooms, of which map, and how many bytes.
    fn told(&mut self) -> Vec<(HostId, u64, u32, usize)> {
        let orders = self.take_orders().into_iter();
        let told = orders.filter_map(|(host, body)| match body {
            order::Body::MapShare(told) => Some((host, told.room, told.map, told.share.len())),
            _ => None,
        });
        told.collect()
    }
}
