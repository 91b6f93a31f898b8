//! The number of children, and hosts that fall silent.

use std::time::Duration;

use ambit_host::protocol::messages::{Beat, host_to_world, world_to_host};
use ambit_proto::codes::ErrorCode;

use super::harness::{LobbyHarness, seconds, start};
use crate::lobby::{ChildPoolConfig, HostId, LobbyConfig, Origin};

#[test]
fn the_pool_keeps_the_children_in_use_and_one_spare() {
    let mut scene = elastic(1, 4);
    let first = scene.child(1, 1);
    assert_eq!(scene.children, None, "one is kept from the start");
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.running_room_of(first, &[&ann]);
    assert_eq!(scene.children, Some(2), "one in use, one to spare");
    let second = scene.child(2, 1);
    scene.running_room_of(second, &[&bob]);
    assert_eq!(scene.children, Some(3));
    let third = scene.child(3, 1);

    // A room ends: after a while the youngest idle child is surplus.
    scene.send(ann.conn, super::harness::leave());
    scene.orders();
    scene.pass(seconds(29));
    assert_eq!((scene.children, scene.orders()), (Some(3), vec![]));
    scene.pass(seconds(2));
    assert_eq!(scene.children, Some(2));
    assert!(
        matches!(&scene.orders()[..], [(host, world_to_host::Body::Drain(_))] if *host == third)
    );
    // It gets no more rooms, though it is connected.
    scene.room_of(&[&ann]);
    scene.send(ann.conn, start());
    assert_eq!(scene.opens()[0].0, first);
}

#[test]
fn a_surplus_child_is_kept_if_it_is_needed_in_time() {
    let mut scene = elastic(1, 4);
    let first = scene.child(1, 8);
    let ann = scene.enter("ann");
    scene.running_room_of(first, &[&ann]);
    scene.child(2, 8);
    scene.send(ann.conn, super::harness::leave());
    scene.pass(seconds(20));
    scene.running_room_of(first, &[&ann]);
    scene.orders();
    scene.pass(seconds(60));
    assert_eq!((scene.children, scene.orders()), (Some(2), vec![]));
}

#[test]
fn a_fixed_number_of_children_stays_that_number() {
    let mut scene = elastic(2, 2);
    let (first, second) = (scene.child(1, 8), scene.child(2, 8));
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.running_room_of(first, &[&ann]);
    scene.running_room_of(second, &[&bob]);
    scene.pass(seconds(120));
    assert_eq!(scene.children, None);
}

#[test]
fn a_silent_host_is_given_up_and_its_players_are_notified() {
    let mut scene = LobbyHarness::new();
    let host = scene.child(1, 8);
    let ann = scene.enter("ann");
    scene.running_room_of(host, &[&ann]);
    for _ in 0..20 {
        scene.pass(Duration::from_millis(250));
        send_heartbeat(&mut scene, host);
    }
    assert_eq!(scene.given_up(), []);
    for _ in 0..8 {
        scene.pass(Duration::from_millis(250));
    }
    assert_eq!(scene.given_up(), [host]);
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.contains("no sign of life for 2000 ms"), "{message}");
    // It gets no orders, and its late messages have no effect.
    scene.room_of(&[&ann]);
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::NoHostAvailable);
    send_heartbeat(&mut scene, host);
    scene.pass(seconds(10));
    assert_eq!(scene.given_up(), [], "once");
    scene.lose_host(host, "killed");
}

#[test]
fn a_lobby_that_was_stopped_itself_gives_up_no_host() {
    let mut scene = LobbyHarness::new();
    let host = scene.child(1, 8);
    // The lobby was not called for a minute: its process did not run.
    scene.now += seconds(60);
    scene.lobby.handle_timeout(scene.now);
    scene.carry();
    assert_eq!(scene.given_up(), []);
    send_heartbeat(&mut scene, host);
    scene.pass(Duration::from_millis(1_900));
    assert_eq!(scene.given_up(), []);
    scene.pass(Duration::from_millis(200));
    assert_eq!(scene.given_up(), [host]);
}

#[test]
fn an_embedded_host_is_never_given_up() {
    let mut scene = LobbyHarness::new();
    scene
        .lobby
        .handle_host_start(scene.now, HostId(1), Origin::Embedded);
    scene.host(1, 8);
    for _ in 0..40 {
        scene.pass(Duration::from_millis(250));
    }
    assert_eq!(scene.given_up(), []);
}

fn elastic(min: u32, max: u32) -> LobbyHarness {
    let children = ChildPoolConfig {
        min,
        max,
        ..ChildPoolConfig::default()
    };
    // No host sends heartbeats here.
    LobbyHarness::with(LobbyConfig {
        children,
        host_silence: Duration::from_hours(1),
        ..LobbyConfig::default()
    })
}

fn send_heartbeat(scene: &mut LobbyHarness, host: HostId) {
    scene.host_says(host, host_to_world::Body::Beat(Beat { number: 1 }));
}
