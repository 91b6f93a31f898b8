//! Worlds of several maps: the leader dies, and another one restores their records.

use ambit_host_protocol::generated::{
    Admit, Heartbeat, ReleaseForTransfer, host_to_world, world_to_host as order,
};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world;
use ambit_proto::ids::RoomId;
use ambit_room::logic::game::MAX_CARRIED_BYTES;
use prost::Message as _;

use super::super::harness::{
    Client, LobbyHarness, parameters, recording, request_ticket, room, seconds,
};
use super::{admit, stay_message};
use crate::directory as pb;
use crate::{HostId, LobbyConfig, RecordKey};

#[test]
fn the_next_leader_knows_players_on_further_maps() {
    let (mut first, hosts, ann, world) = two_hosts();
    let bob = first.connect_as("bob");
    first.join(&bob, world);
    let map = move_to_second_map(&mut first, hosts, &ann, world);
    let before = first.request_new_ticket(&ann);

    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    let bob = second.resume(&bob);
    let [_, there] = reconnect_hosts(&mut second, world, map);
    let after = second.request_new_ticket(&ann);
    assert_eq!(
        (after.map, &after.address, after.incarnation),
        (1, &before.address, before.incarnation)
    );
    assert_eq!(second.request_new_ticket(&bob).map, 0);
    assert_eq!((second.members(&ann).as_str(), second.listed(&ann).len()), ("ann* bob", 1));
    // The new leader has no checkpoint of that map, so it is lost with its host. The world
    // continues.
    second.lose_host(there, "killed");
    assert_eq!(second.leave_reason(&ann).0, ErrorCode::HostDied);
    assert_eq!(second.members(&bob), "bob*");
}

#[test]
fn the_next_leader_repeats_the_order_to_leave_and_the_player_arrives() {
    let (mut first, hosts, ann, world) = two_hosts();
    first.at_gate(hosts[0], world, &ann, 1);
    let map = first.open_map(hosts[1], world, 1);

    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    let [here, there] = reconnect_hosts(&mut second, world, map);
    assert_eq!(
        next_gate_order_for(&mut second, here),
        order::Body::ReleaseForTransfer(ReleaseForTransfer {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    second.departed(here, world, &ann, 1, b"7 apples");
    assert_eq!(
        next_gate_order_for(&mut second, there),
        order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
    );
    second.arrived(there, map, &ann, 1);
    assert_eq!(second.request_new_ticket(&ann).map, 1);
}

#[test]
fn an_avatars_state_survives_the_leader_that_held_it() {
    let (mut first, hosts, ann, world) = two_hosts();
    first.at_gate(hosts[0], world, &ann, 1);
    let map = first.open_map(hosts[1], world, 1);
    first.departed(hosts[0], world, &ann, 1, b"7 apples");

    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    let [_, there] = reconnect_hosts(&mut second, world, map);
    assert_eq!(
        next_gate_order_for(&mut second, there),
        order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
    );
    second.arrived(there, map, &ann, 1);
    assert_eq!(second.request_new_ticket(&ann).map, 1);
}

#[test]
fn a_transfer_to_a_host_that_does_not_reconnect_is_reversed() {
    let (mut first, hosts, ann, world) = two_hosts();
    first.at_gate(hosts[0], world, &ann, 1);
    first.open_map(hosts[1], world, 1);
    first.departed(hosts[0], world, &ann, 1, b"7 apples");

    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    let here = second.reconnecting_host(20_000, 1, &[(world, 1)]);
    second.take_orders();
    second.advance(seconds(4));
    second.send_from_host(here, host_to_world::Body::Heartbeat(Heartbeat::default()));
    second.advance(seconds(2));
    let order::Body::Admit(Admit { room, number, carried, .. }) =
        next_gate_order_for(&mut second, here)
    else {
        panic!("expected an order to admit the player on the first map")
    };
    assert_eq!((room, &carried[..]), (world, &b"7 apples"[..]));
    assert!(number > 1, "the transfer back has a new number");
    second.arrived(here, world, &ann, number);
    assert_eq!(second.request_new_ticket(&ann).map, 0);
}

#[test]
fn carried_state_comes_again_to_a_map_that_was_kept_before_the_arrival() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    for order_of_answers in [[world, map], [map, world]] {
        // The leader and all hosts die.
        let mut second = first.start_successor_with(seconds(5), &[world, map]);
        let ann = second.resume(&ann);
        second.advance(seconds(6));
        let host = second.reconnecting_host(20_000, 3, &[]);
        for room in order_of_answers {
            second.opened(host, room, None);
        }
        assert_eq!(
            next_gate_order_for(&mut second, host),
            order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
        );
        second.discard_events();
        second.arrived(host, map, &ann, 1);
        let ticket = second.ticket(&ann);
        assert_eq!((ticket.room, ticket.map), (world, 1));
    }
}

#[test]
fn carried_state_returns_if_nothing_of_its_new_map_was_kept() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    let mut second = first.start_successor_with(seconds(5), &[world]);
    let ann = second.resume(&ann);
    second.advance(seconds(6));
    assert_eq!(second.removed_checkpoints, [map]);
    let host = second.reconnecting_host(20_000, 3, &[]);
    second.opened(host, world, None);
    let order::Body::Admit(Admit { room, number, carried, .. }) =
        next_gate_order_for(&mut second, host)
    else {
        panic!("expected an order to admit the player on the first map")
    };
    assert_eq!((room, &carried[..]), (world, &b"7 apples"[..]));
    second.arrived(host, world, &ann, number);
    assert_eq!(second.request_new_ticket(&ann).map, 0);
}

#[test]
fn carried_state_is_forgotten_once_its_new_map_was_stored() {
    let (mut first, _, [_, map]) = arrived_where_rooms_are_stored();
    let store = |harness: &mut LobbyHarness| {
        let rooms = [RoomId(map)];
        harness.lobby.handle_rooms_stored(harness.now, &rooms);
        harness.handle_outputs();
        has_carried_state(harness)
    };
    assert!(store(&mut first), "this store may have begun before");
    assert!(!store(&mut first));
    // A log that has everything in order needs the first checkpoint only.
    let (mut first, hosts, ann, world) =
        two_hosts_with(LobbyConfig { keeps_rooms: true, ..recording() });
    let map = arrive(&mut first, hosts, &ann, world);
    assert!(has_carried_state(&first));
    first.save_checkpoint(hosts[1], map);
    assert!(!has_carried_state(&first));
}

#[test]
fn a_map_that_lives_on_does_not_get_carried_state_again() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    let mut second = first.start_successor_with(seconds(5), &[world, map]);
    let ann = second.resume(&ann);
    reconnect_hosts(&mut second, world, map);
    assert_eq!(take_gate_orders(&mut second), []);
    assert_eq!(second.request_new_ticket(&ann).map, 1);
}

#[test]
fn carried_state_returns_to_a_further_map_only_if_a_seat_is_free_there() {
    for is_full in [false, true] {
        let (mut first, host, ann, world) = stored_world_with_one_seat_per_map();
        let near = arrive(&mut first, [host; 2], &ann, world);
        first.at_gate(host, near, &ann, 2);
        let far = first.open_map(host, world, 2);
        first.departed(host, near, &ann, 2, b"8 apples");
        first.arrived(host, far, &ann, 2);
        let bob = first.connect_as("bob");
        first.join(&bob, world);
        if is_full {
            first.at_gate(host, world, &bob, 1);
            first.departed(host, world, &bob, 3, b"x");
            first.arrived(host, near, &bob, 3);
        }
        // Nothing of the far map was kept.
        let mut second = first.start_successor_with(seconds(5), &[world, near]);
        let ann = second.resume(&ann);
        let bob = second.resume(&bob);
        let host = second.host(20_000, 8);
        second.opened(host, world, None);
        second.opened(host, near, None);
        if is_full {
            assert_is_only_member(&mut second, &bob, &ann);
            continue;
        }
        let order::Body::Admit(back) = next_gate_order_for(&mut second, host) else {
            panic!("expected an order to admit the player on the near map")
        };
        assert_eq!((back.room, &back.carried[..]), (near, &b"8 apples"[..]));
        // The seat is taken from then on.
        second.at_gate(host, world, &bob, 1);
        assert_eq!(second.error(&bob).0, ErrorCode::RoomFull);
        second.arrived(host, near, &ann, back.number);
        assert_eq!(second.request_new_ticket(&ann).map, 1);
    }
}

#[test]
fn carried_state_returns_to_the_first_map_only_if_a_seat_is_free_there() {
    for is_full in [false, true] {
        let (mut first, host, ann, world) = stored_world_with_one_seat_per_map();
        arrive(&mut first, [host; 2], &ann, world);
        let bob = first.connect_as("bob");
        if is_full {
            first.join(&bob, world);
        }
        let mut second = first.start_successor_with(seconds(5), &[world]);
        let ann = second.resume(&ann);
        let bob = second.resume(&bob);
        let host = second.host(20_000, 8);
        second.opened(host, world, None);
        if is_full {
            assert_is_only_member(&mut second, &bob, &ann);
            assert_eq!(take_gate_orders(&mut second), []);
        } else {
            let back = next_gate_order_for(&mut second, host);
            assert!(matches!(back, order::Body::Admit(back) if back.room == world));
        }
    }
}

#[test]
fn an_arrival_without_carried_state_is_not_repeated() {
    let (mut first, _, [world, map]) = arrived_where_rooms_are_stored();
    change_room(&mut first, world, |record| {
        let world = record.world.as_mut().expect("a world of several maps");
        world.arrivals[0].carried = None;
    });
    let mut second = first.start_successor_with(seconds(5), &[world, map]);
    second.advance(seconds(6));
    let host = second.reconnecting_host(20_000, 3, &[]);
    second.opened(host, world, None);
    second.opened(host, map, None);
    assert_eq!(take_gate_orders(&mut second), []);
}

#[test]
fn carried_state_is_restored_up_to_its_limit() {
    for (bytes, is_restored) in [(MAX_CARRIED_BYTES, true), (MAX_CARRIED_BYTES + 1, false)] {
        let (mut first, hosts, ann, world) = two_hosts();
        first.at_gate(hosts[0], world, &ann, 1);
        let map = first.open_map(hosts[1], world, 1);
        first.departed(hosts[0], world, &ann, 1, b"7 apples");
        change_room(&mut first, world, |record| {
            let world = record.world.as_mut().expect("a world of several maps");
            let carried = world.transfers[0].carried.as_mut();
            carried.expect("the player has left").state = vec![1; bytes];
        });
        let mut second = first.start_successor(seconds(5));
        reconnect_hosts(&mut second, world, map);
        assert_eq!(!take_gate_orders(&mut second).is_empty(), is_restored);
    }
}

#[test]
fn maps_without_a_valid_identity_are_not_restored() {
    let (mut first, hosts, ann, world) = two_hosts();
    first.at_gate(hosts[0], world, &ann, 1);
    let map = first.open_map(hosts[1], world, 1);
    first.send_from_host(hosts[0], stay_message(world, &ann, 1));
    let records = first.records.clone();
    let key = |room| RecordKey::Room(RoomId(room));
    // Whether the map is restored, and another one of that world with that number.
    let mut restored = |is_world_running: bool, world_of_other: u64, number: u32| {
        let other = map + 1;
        first.records.clone_from(&records);
        first.records.insert(key(other), records[&key(map)].clone());
        change_room(&mut first, other, |record| {
            record.map_identity = Some(pb::MapIdentity { world: world_of_other, map: number });
        });
        if !is_world_running {
            change_room(&mut first, world, |record| record.runs_on = None);
        }
        let second = first.start_successor(seconds(5));
        [map, other].map(|room| second.records.contains_key(&key(room)))
    };
    assert_eq!(restored(true, world, 2), [true, true]);
    assert_eq!(restored(true, world, 0), [true, false], "the first map");
    assert_eq!(restored(true, world, 1), [true, false], "a number twice");
    assert_eq!(restored(true, map, 2), [true, false], "a map is no world");
    assert_eq!(restored(true, 999, 2), [true, false], "there is no world");
    assert_eq!(restored(false, world, 2), [false, false], "the world waits");
}

#[test]
fn a_player_on_a_restored_map_keeps_its_seat_there() {
    let (mut first, host, ann, world) = stored_world_with_one_seat_per_map();
    let map = move_to_second_map(&mut first, [host; 2], &ann, world);
    let bob = first.connect_as("bob");
    first.join(&bob, world);
    let mut second = first.start_successor_with(seconds(5), &[world, map]);
    let bob = second.resume(&bob);
    let host = second.host(20_000, 8);
    second.opened(host, world, None);
    second.opened(host, map, None);
    second.at_gate(host, world, &bob, 1);
    assert_eq!(second.error(&bob).0, ErrorCode::RoomFull);
}

#[test]
fn a_kept_world_goes_on_without_a_map_that_was_not_kept() {
    let mut first = LobbyHarness::with(recording());
    let host = first.host(1, 8);
    let (ann, world) = start_world(&mut first, host, &[]);
    let [bob, cat] = ["bob", "cat"].map(|name| first.connect_as(name));
    first.join(&bob, world);
    first.join(&cat, world);
    // Ann is on the second map, bob is between the maps, and cat is ordered to leave the first one.
    move_to_second_map(&mut first, [host; 2], &ann, world);
    first.at_gate(host, world, &bob, 1);
    first.at_gate(host, world, &cat, 1);
    first.departed(host, world, &bob, 2, b"7 apples");

    let mut second = first.start_successor_with(seconds(5), &[world]);
    let [ann, bob, cat] = [ann, bob, cat].map(|client| second.resume(&client));
    assert_eq!(second.refusal_code(ann.conn, request_ticket()), ErrorCode::NotInRoom);
    assert_eq!(second.members(&bob), "bob* cat");
    let host = second.host(20_000, 8);
    second.opened(host, world, None);
    let orders = take_gate_orders(&mut second);
    let [order::Body::Admit(back), order::Body::ReleaseForTransfer(release)] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!((back.room, back.player), (world, bob.id));
    assert_eq!(back.carried, b"7 apples");
    assert_eq!((release.player, release.number), (cat.id, 3));
    second.arrived(host, world, &bob, back.number);
    assert_eq!(second.request_new_ticket(&bob).map, 0);
    // The first map has the order that the player leaves: it lets the player go, and has it back.
    second.departed(host, world, &cat, 3, b"x");
    let order::Body::Admit(back) = next_gate_order_for(&mut second, host) else {
        panic!("expected an order to admit the player on the first map")
    };
    assert_eq!((back.room, back.player), (world, cat.id));
    second.arrived(host, world, &cat, back.number);
    assert_eq!(second.request_new_ticket(&cat).map, 0);
}

/// A cluster that stores rooms at intervals; ann has just arrived on the second map of a world.
fn arrived_where_rooms_are_stored() -> (LobbyHarness, Client, [u64; 2]) {
    let (mut first, hosts, ann, world) =
        two_hosts_with(LobbyConfig { stores_rooms: true, ..recording() });
    let map = arrive(&mut first, hosts, &ann, world);
    assert!(has_carried_state(&first));
    (first, ann, [world, map])
}

fn arrive(harness: &mut LobbyHarness, hosts: [HostId; 2], client: &Client, world: u64) -> u64 {
    harness.at_gate(hosts[0], world, client, 1);
    let map = harness.open_map(hosts[1], world, 1);
    harness.departed(hosts[0], world, client, 1, b"7 apples");
    harness.arrived(hosts[1], map, client, 1);
    map
}

/// Whether the state that is carried in [`arrive`] is in the directory.
fn has_carried_state(harness: &LobbyHarness) -> bool {
    let is_carried = |record: &Vec<u8>| record.windows(8).any(|bytes| bytes == b"7 apples");
    harness.records.values().any(is_carried)
}

/// Two hosts that can reconnect, and ann in a world that runs on the first of them.
fn two_hosts() -> (LobbyHarness, [HostId; 2], Client, u64) {
    two_hosts_with(recording())
}

fn two_hosts_with(config: LobbyConfig) -> (LobbyHarness, [HostId; 2], Client, u64) {
    let mut harness = LobbyHarness::with(config);
    let hosts = [harness.reconnecting_host(1, 1, &[]), harness.reconnecting_host(2, 2, &[])];
    let (ann, world) = start_world(&mut harness, hosts[0], &[]);
    (harness, hosts, ann, world)
}

/// A cluster that stores rooms at intervals, its only host, which does not survive the leader, and
/// ann in a world there.
fn stored_world_with_one_seat_per_map() -> (LobbyHarness, HostId, Client, u64) {
    let mut harness = LobbyHarness::with(LobbyConfig { stores_rooms: true, ..recording() });
    let host = harness.host(1, 8);
    let (ann, world) = start_world(&mut harness, host, &[("map-seats", "1")]);
    (harness, host, ann, world)
}

/// Ann starts a world on that host.
fn start_world(harness: &mut LobbyHarness, host: HostId, given: &[(&str, &str)]) -> (Client, u64) {
    let ann = harness.connect_as("ann");
    let world = harness
        .create(
            &ann,
            world::CreateRoom { capacity: 8, parameters: parameters(given), ..room("den") },
        )
        .id;
    harness.send(ann.conn, super::super::harness::start());
    harness.opened(host, world, None);
    (ann, world)
}

fn move_to_second_map(
    harness: &mut LobbyHarness,
    hosts: [HostId; 2],
    client: &Client,
    world: u64,
) -> u64 {
    harness.at_gate(hosts[0], world, client, 1);
    let map = harness.open_map(hosts[1], world, 1);
    harness.departed(hosts[0], world, client, 1, b"x");
    harness.arrived(hosts[1], map, client, 1);
    map
}

/// The hosts connect to the next leader.
fn reconnect_hosts(harness: &mut LobbyHarness, world: u64, map: u64) -> [HostId; 2] {
    [
        harness.reconnecting_host(20_000, 1, &[(world, 1)]),
        harness.reconnecting_host(20_001, 2, &[(map, 1)]),
    ]
}

/// Changes the record of a room.
fn change_room(harness: &mut LobbyHarness, room: u64, change: impl FnOnce(&mut pb::Room)) {
    let key = RecordKey::Room(RoomId(room));
    let mut record = pb::Room::decode(&harness.records[&key][..]).expect("a room");
    change(&mut record);
    harness.records.insert(key, record.encode_to_vec());
}

/// One player is in the room alone, and the other one has left it.
fn assert_is_only_member(harness: &mut LobbyHarness, inside: &Client, outside: &Client) {
    assert_eq!(harness.members(inside), format!("{}*", inside.name));
    assert_eq!(harness.refusal_code(outside.conn, request_ticket()), ErrorCode::NotInRoom);
}

/// The first order about gates for that host.
fn next_gate_order_for(harness: &mut LobbyHarness, wanted: HostId) -> order::Body {
    let orders = harness.take_orders();
    let found = orders.iter().find(|(host, body)| *host == wanted && is_about_gates(body)).cloned();
    harness.put_back(orders);
    found.expect("an order about gates").1
}

/// All orders about gates since the last call.
fn take_gate_orders(harness: &mut LobbyHarness) -> Vec<order::Body> {
    let orders = harness.take_orders().into_iter().map(|(_, body)| body);
    orders.filter(is_about_gates).collect()
}

fn is_about_gates(body: &order::Body) -> bool {
    matches!(body, order::Body::ReleaseForTransfer(_) | order::Body::Admit(_))
}
