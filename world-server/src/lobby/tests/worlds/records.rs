//! Worlds of several maps: the leader dies, and another one restores their records.

use ambit_host::protocol::messages::{
    Admit, Heartbeat, ReleaseForTransfer, host_to_world, world_to_host as order,
};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world;

use ambit_proto::ids::RoomId;

use super::super::harness::{Client, LobbyHarness, recording, room, seconds};
use super::admit;
use crate::lobby::{HostId, LobbyConfig};

#[test]
fn the_next_leader_knows_players_on_further_maps() {
    let (mut first, hosts, ann, world) = two_hosts();
    let bob = first.connect_as("bob");
    first.join(&bob, world);
    let map = move_to_second_map(&mut first, hosts, &ann, world);
    let before = first.request_new_ticket(&ann);

    let mut second = first.start_successor(seconds(5));
    let (ann, bob) = (second.resume(&ann), second.resume(&bob));
    let [_, there] = reconnect_hosts(&mut second, world, map);
    let after = second.request_new_ticket(&ann);
    assert_eq!(
        (after.map, &after.address, after.incarnation),
        (1, &before.address, before.incarnation)
    );
    assert_eq!(second.request_new_ticket(&bob).map, 0);
    assert_eq!(
        (second.members(&ann).as_str(), second.listed(&ann).len()),
        ("ann* bob", 1)
    );
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
    let order::Body::Admit(Admit {
        room,
        number,
        carried,
        ..
    }) = next_gate_order_for(&mut second, here)
    else {
        panic!("expected an order to admit the player on the first map")
    };
    assert_eq!((room, &carried[..]), (world, &b"7 apples"[..]));
    assert!(number > 1, "the transfer back has a new number");
    second.arrived(here, world, &ann, number);
    assert_eq!(second.request_new_ticket(&ann).map, 0);
}

#[test]
fn luggage_comes_again_to_a_map_that_was_kept_before_the_arrival() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    // The leader and all hosts die.
    let mut second = first.start_successor_with(seconds(5), &[world, map]);
    let ann = second.resume(&ann);
    second.advance(seconds(6));
    let host = second.reconnecting_host(20_000, 3, &[]);
    second.opened(host, world, None);
    second.opened(host, map, None);
    assert_eq!(
        next_gate_order_for(&mut second, host),
        order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
    );
    second.discard_events();
    second.arrived(host, map, &ann, 1);
    let ticket = second.ticket(&ann);
    assert_eq!((ticket.room, ticket.map), (world, 1));
}

#[test]
fn luggage_returns_if_nothing_of_its_new_map_was_kept() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    let mut second = first.start_successor_with(seconds(5), &[world]);
    let ann = second.resume(&ann);
    second.advance(seconds(6));
    assert_eq!(second.removed_checkpoints, [map]);
    let host = second.reconnecting_host(20_000, 3, &[]);
    second.opened(host, world, None);
    let order::Body::Admit(Admit {
        room,
        number,
        carried,
        ..
    }) = next_gate_order_for(&mut second, host)
    else {
        panic!("expected an order to admit the player on the first map")
    };
    assert_eq!((room, &carried[..]), (world, &b"7 apples"[..]));
    second.arrived(host, world, &ann, number);
    assert_eq!(second.request_new_ticket(&ann).map, 0);
}

#[test]
fn luggage_is_forgotten_once_its_new_map_was_stored() {
    let (mut first, _, [_, map]) = arrived_where_rooms_are_stored();
    let store = |harness: &mut LobbyHarness| {
        let rooms = [RoomId(map)];
        harness.lobby.handle_rooms_stored(harness.now, &rooms);
        harness.handle_outputs();
        has_luggage(harness)
    };
    assert!(store(&mut first), "this store may have begun before");
    assert!(!store(&mut first));
    // A log that has everything in order needs the first checkpoint only.
    let (mut first, hosts, ann, world) = two_hosts_with(LobbyConfig {
        keeps_rooms: true,
        ..recording()
    });
    let map = arrive(&mut first, hosts, &ann, world);
    assert!(has_luggage(&first));
    first.save_checkpoint(hosts[1], map);
    assert!(!has_luggage(&first));
}

#[test]
fn a_map_that_lives_on_does_not_get_luggage_again() {
    let (first, ann, [world, map]) = arrived_where_rooms_are_stored();
    let mut second = first.start_successor_with(seconds(5), &[world, map]);
    let ann = second.resume(&ann);
    reconnect_hosts(&mut second, world, map);
    let orders = second.take_orders();
    let is_admit = |order: &order::Body| matches!(order, order::Body::Admit(_));
    assert!(!orders.iter().any(|(_, order)| is_admit(order)));
    assert_eq!(second.request_new_ticket(&ann).map, 1);
}

/// A cluster that stores rooms at intervals; ann has just arrived on the second map of a world.
fn arrived_where_rooms_are_stored() -> (LobbyHarness, Client, [u64; 2]) {
    let (mut first, hosts, ann, world) = two_hosts_with(LobbyConfig {
        stores_rooms: true,
        ..recording()
    });
    let map = arrive(&mut first, hosts, &ann, world);
    assert!(has_luggage(&first));
    (first, ann, [world, map])
}

fn arrive(harness: &mut LobbyHarness, hosts: [HostId; 2], client: &Client, world: u64) -> u64 {
    harness.at_gate(hosts[0], world, client, 1);
    let map = harness.open_map(hosts[1], world, 1);
    harness.departed(hosts[0], world, client, 1, b"7 apples");
    harness.arrived(hosts[1], map, client, 1);
    map
}

/// Whether the luggage of [`arrive`] is in the directory.
fn has_luggage(harness: &LobbyHarness) -> bool {
    let is_luggage = |record: &Vec<u8>| record.windows(8).any(|bytes| bytes == b"7 apples");
    harness.records.values().any(is_luggage)
}

/// Two hosts that can reconnect, and ann in a world that runs on the first of them.
fn two_hosts() -> (LobbyHarness, [HostId; 2], Client, u64) {
    two_hosts_with(recording())
}

fn two_hosts_with(config: LobbyConfig) -> (LobbyHarness, [HostId; 2], Client, u64) {
    let mut harness = LobbyHarness::with(config);
    let hosts = [
        harness.reconnecting_host(1, 1, &[]),
        harness.reconnecting_host(2, 2, &[]),
    ];
    let ann = harness.connect_as("ann");
    let world = harness
        .create(
            &ann,
            world::CreateRoom {
                capacity: 8,
                ..room("den")
            },
        )
        .id;
    harness.send(ann.conn, super::super::harness::start());
    harness.opened(hosts[0], world, None);
    (harness, hosts, ann, world)
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

/// The first order about gates for that host.
fn next_gate_order_for(harness: &mut LobbyHarness, wanted: HostId) -> order::Body {
    let orders = harness.take_orders();
    let is_it = |body: &order::Body| {
        matches!(
            body,
            order::Body::ReleaseForTransfer(_) | order::Body::Admit(_)
        )
    };
    let found = orders
        .iter()
        .find(|(host, body)| *host == wanted && is_it(body))
        .cloned();
    harness.put_back(orders);
    found.expect("an order about gates").1
}
