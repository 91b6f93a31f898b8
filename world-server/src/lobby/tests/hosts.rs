//! Hosts: which host gets a room, and the loss of hosts.

use ambit_host::protocol::messages::{self, host_to_world, world_to_host};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;

use super::harness::{Client, LobbyHarness, start};
use crate::lobby::{HostId, Origin};

#[test]
fn a_host_is_configured_before_anything_else() {
    let mut scene = LobbyHarness::new();
    scene
        .lobby
        .handle_host_start(scene.now, HostId(1), Origin::Remote);
    scene.carry();
    let orders = scene.orders();
    let [(HostId(1), world_to_host::Body::Configure(configure))] = &orders[..] else {
        panic!("{orders:?}")
    };
    assert_eq!(
        (
            configure.version,
            configure.ticket_key.len(),
            configure.grace_ms
        ),
        (ambit_host::protocol::VERSION, 32, 30_000)
    );
}

#[test]
fn a_room_goes_to_the_host_with_the_fewest_players_then_rooms() {
    let mut scene = LobbyHarness::unlimited();
    let clients: Vec<_> = (0..9)
        .map(|number| scene.enter(&format!("p{number}")))
        .collect();
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    assert_eq!(placed(&mut scene, &clients[0..3]), first); // 3 players against 0.
    assert_eq!(placed(&mut scene, &clients[3..5]), second); // 3 against 2.
    assert_eq!(placed(&mut scene, &clients[5..6]), second); // 3 against 3, 1 room against 2.
    assert_eq!(placed(&mut scene, &clients[6..7]), first); // 4 against 3.
    assert_eq!(placed(&mut scene, &clients[7..8]), second); // 4 against 4, 2 rooms against 3.
    assert_eq!(placed(&mut scene, &clients[8..9]), first);
}

#[test]
fn a_full_host_gets_no_room() {
    let mut scene = LobbyHarness::new();
    let clients: Vec<_> = (0..3)
        .map(|number| scene.enter(&format!("p{number}")))
        .collect();
    let small = scene.host(1, 1);
    assert_eq!(placed(&mut scene, &clients[0..1]), small);
    let large = scene.host(2, 2);
    assert_eq!(placed(&mut scene, &clients[1..2]), large);
    assert_eq!(placed(&mut scene, &clients[2..3]), large);
}

#[test]
fn players_of_a_lost_host_return_to_the_lobby_and_others_are_unaffected() {
    let mut scene = LobbyHarness::new();
    let clients = ["ann", "bob", "cid"].map(|name| scene.enter(name));
    let [ann, bob, cid] = &clients;
    let (first, second) = (scene.host(1, 8), scene.host(2, 8));
    let lost = scene.running_room_of(first, &[ann, bob]);
    let kept = scene.running_room_of(second, &[cid]);
    scene.lose_host(first, "killed by signal 9");
    for client in [ann, bob] {
        let (code, message) = scene.left(client);
        assert_eq!(code, ErrorCode::HostDied);
        assert!(
            message.contains(&lost.to_string()) && message.contains("killed by signal 9"),
            "{message}"
        );
    }
    assert_eq!(scene.events(cid), []);
    assert_eq!(
        scene
            .listed(ann)
            .iter()
            .map(|room| room.id)
            .collect::<Vec<_>>(),
        [kept]
    );
    assert_eq!(scene.orders(), []);
    // They can start a room again.
    assert_eq!(placed(&mut scene, &clients[0..2]), second);
}

#[test]
fn a_start_on_a_host_that_dies_is_answered() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let ann = scene.enter("ann");
    scene.room_of(&[&ann]);
    let number = scene.send(ann.conn, start());
    scene.lose_host(host, "killed");
    let answers = scene.answers_to(ann.conn, number);
    assert!(
        matches!(&answers[..], [Body::Error(error)] if error.code == ErrorCode::HostDied as i32),
        "{answers:?}"
    );
    assert_eq!(scene.left(&ann).0, ErrorCode::HostDied);
}

#[test]
fn host_messages_about_other_hosts_rooms_are_ignored() {
    let mut scene = LobbyHarness::new();
    let (owner, other) = (scene.host(1, 8), scene.host(2, 8));
    let ann = scene.enter("ann");
    let room = scene.running_room_of(owner, &[&ann]);
    let closed = messages::RoomClosed {
        room,
        ..messages::RoomClosed::default()
    };
    let out = messages::PlayerOut {
        room,
        player: ann.id,
        reason: 0,
    };
    scene.host_says(other, host_to_world::Body::RoomClosed(closed));
    scene.host_says(other, host_to_world::Body::PlayerOut(out));
    scene.opened(other, room, None);
    scene.opened(owner, 999, None);
    scene.host_says(
        owner,
        host_to_world::Body::PlayerOut(messages::PlayerOut {
            room,
            player: 999,
            reason: 0,
        }),
    );
    scene.host_says(
        owner,
        host_to_world::Body::RoomClosed(messages::RoomClosed {
            room: 999,
            ..Default::default()
        }),
    );
    assert_eq!(scene.events(&ann), []);
    assert_eq!(scene.members(&ann), "ann*");
}

#[test]
fn a_host_of_another_version_is_told_to_end() {
    let mut scene = LobbyHarness::new();
    let ready = messages::HostReady {
        version: 2,
        ..messages::HostReady::default()
    };
    scene.host_says(HostId(1), host_to_world::Body::Ready(ready));
    assert!(matches!(
        &scene.orders()[..],
        [(HostId(1), world_to_host::Body::Drain(_))]
    ));
    assert_eq!(
        (scene.lobby.stats().hosts, scene.lobby.stats().hosts_refused),
        (0, 1)
    );
}

#[test]
fn host_reports_are_stored_for_the_metrics() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let stats = messages::HostStats {
        rooms: 3,
        datagrams_in: 7,
        ..messages::HostStats::default()
    };
    scene.host_says(host, host_to_world::Body::Stats(stats.clone()));
    scene.host_says(HostId(9), host_to_world::Body::Stats(stats.clone()));
    let hosts: Vec<_> = scene.lobby.hosts().collect();
    assert_eq!(hosts.len(), 1);
    assert_eq!(
        (hosts[0].0, hosts[0].1.label.as_str(), &hosts[0].1.stats),
        (host, "host 1", &stats)
    );
}

/// Lets these players start a room. Returns its host.
fn placed(scene: &mut LobbyHarness, clients: &[Client]) -> HostId {
    let clients: Vec<_> = clients.iter().collect();
    let room = scene.room_of(&clients);
    scene.orders();
    scene.send(clients[0].conn, start());
    let opens = scene.opens();
    assert_eq!((opens.len(), opens[0].1.room), (1, room));
    scene.opened(opens[0].0, room, None);
    opens[0].0
}
