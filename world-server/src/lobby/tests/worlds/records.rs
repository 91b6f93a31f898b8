//! Worlds of several maps whose leader dies, and whose records another one restores.

use ambit_host::protocol::messages::{Admit, Beat, LetGo, host_to_world, world_to_host as order};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world;

use super::super::harness::{Client, LobbyHarness, room, seconds};
use super::admit;
use crate::lobby::HostId;

#[test]
fn the_next_leader_knows_players_on_further_maps() {
    let (mut first, hosts, ann, world) = scene();
    let bob = first.enter("bob");
    first.join(&bob, world);
    let map = beyond(&mut first, hosts, &ann, world);
    let before = first.ticket_of(&ann);

    let mut second = first.succeed(seconds(5));
    let (ann, bob) = (second.resume(&ann), second.resume(&bob));
    let [_, there] = both_back(&mut second, world, map);
    let after = second.ticket_of(&ann);
    assert_eq!(
        (after.map, &after.address, after.incarnation),
        (1, &before.address, before.incarnation)
    );
    assert_eq!(second.ticket_of(&bob).map, 0);
    assert_eq!(
        (second.members(&ann).as_str(), second.listed(&ann).len()),
        ("ann* bob", 1)
    );
    // There is no checkpoint of that map since, so it is lost with its host, and the world
    // continues.
    second.lose_host(there, "killed");
    assert_eq!(second.left(&ann).0, ErrorCode::HostDied);
    assert_eq!(second.members(&bob), "bob*");
}

#[test]
fn the_next_leader_repeats_the_order_to_leave_and_the_player_arrives() {
    let (mut first, hosts, ann, world) = scene();
    first.at_gate(hosts[0], world, &ann, 1);
    let map = first.map_opened(hosts[1], world, 1);

    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    let [here, there] = both_back(&mut second, world, map);
    assert_eq!(
        of_gates(&mut second, here),
        order::Body::LetGo(LetGo {
            room: world,
            player: ann.id,
            number: 1
        })
    );
    second.departed(here, world, &ann, 1, b"7 apples");
    assert_eq!(
        of_gates(&mut second, there),
        order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
    );
    second.arrived(there, map, &ann, 1);
    assert_eq!(second.ticket_of(&ann).map, 1);
}

#[test]
fn an_avatars_state_survives_the_leader_that_held_it() {
    let (mut first, hosts, ann, world) = scene();
    first.at_gate(hosts[0], world, &ann, 1);
    let map = first.map_opened(hosts[1], world, 1);
    first.departed(hosts[0], world, &ann, 1, b"7 apples");

    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    let [_, there] = both_back(&mut second, world, map);
    assert_eq!(
        of_gates(&mut second, there),
        order::Body::Admit(admit(map, &ann, 1, b"7 apples"))
    );
    second.arrived(there, map, &ann, 1);
    assert_eq!(second.ticket_of(&ann).map, 1);
}

#[test]
fn a_transfer_to_a_host_that_does_not_reconnect_is_reversed() {
    let (mut first, hosts, ann, world) = scene();
    first.at_gate(hosts[0], world, &ann, 1);
    first.map_opened(hosts[1], world, 1);
    first.departed(hosts[0], world, &ann, 1, b"7 apples");

    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    let here = second.lasting_host(20_000, 1, &[(world, 1)]);
    second.orders();
    second.pass(seconds(4));
    second.host_says(here, host_to_world::Body::Beat(Beat::default()));
    second.pass(seconds(2));
    let order::Body::Admit(Admit {
        room,
        number,
        carried,
        ..
    }) = of_gates(&mut second, here)
    else {
        panic!("it is to be admitted where it set out")
    };
    assert_eq!((room, &carried[..]), (world, &b"7 apples"[..]));
    assert!(number > 1, "by a number of its own");
    second.arrived(here, world, &ann, number);
    assert_eq!(second.ticket_of(&ann).map, 0);
}

/// Two hosts that can reconnect, and ann in a world that runs on the first of them.
fn scene() -> (LobbyHarness, [HostId; 2], Client, u64) {
    let mut scene = LobbyHarness::recorded();
    let hosts = [scene.lasting_host(1, 1, &[]), scene.lasting_host(2, 2, &[])];
    let ann = scene.enter("ann");
    let world = scene
        .create(
            &ann,
            world::CreateRoom {
                capacity: 8,
                ..room("den")
            },
        )
        .id;
    scene.send(ann.conn, super::super::harness::start());
    scene.opened(hosts[0], world, None);
    (scene, hosts, ann, world)
}

fn beyond(scene: &mut LobbyHarness, hosts: [HostId; 2], client: &Client, world: u64) -> u64 {
    scene.at_gate(hosts[0], world, client, 1);
    let map = scene.map_opened(hosts[1], world, 1);
    scene.departed(hosts[0], world, client, 1, b"x");
    scene.arrived(hosts[1], map, client, 1);
    map
}

/// The hosts connect to the next leader.
fn both_back(scene: &mut LobbyHarness, world: u64, map: u64) -> [HostId; 2] {
    [
        scene.lasting_host(20_000, 1, &[(world, 1)]),
        scene.lasting_host(20_001, 2, &[(map, 1)]),
    ]
}

/// The first order about gates for that host.
fn of_gates(scene: &mut LobbyHarness, wanted: HostId) -> order::Body {
    let orders = scene.orders();
    let is_it = |body: &order::Body| matches!(body, order::Body::LetGo(_) | order::Body::Admit(_));
    let found = orders
        .iter()
        .find(|(host, body)| *host == wanted && is_it(body))
        .cloned();
    scene.put_back(orders);
    found.expect("an order about gates").1
}
