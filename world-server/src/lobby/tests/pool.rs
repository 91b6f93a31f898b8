//! How many children are kept, and hosts that fall silent.

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::host::{Beat, host_to_world, world_to_host};

use super::harness::{LobbyHarness, seconds, start};
use crate::lobby::{ChildPoolConfig, HostId, LobbyConfig, Origin};

#[test]
fn as_many_children_are_kept_as_rooms_need_and_one_more() {
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

    // A room ends: after a while the youngest idle child is one too many.
    scene.send(ann.conn, super::harness::leave());
    scene.orders();
    scene.pass(seconds(29));
    assert_eq!((scene.children, scene.orders()), (Some(3), vec![]));
    scene.pass(seconds(2));
    assert_eq!(scene.children, Some(2));
    assert!(
        matches!(&scene.orders()[..], [(host, world_to_host::Body::Drain(_))] if *host == third)
    );
    // It gets no room any more, though it is there.
    scene.room_of(&[&ann]);
    scene.send(ann.conn, start());
    assert_eq!(scene.opens()[0].0, first);
}

#[test]
fn a_child_too_many_is_kept_if_it_is_needed_in_time() {
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
fn a_host_that_falls_silent_is_given_up_and_its_players_are_told() {
    let mut scene = LobbyHarness::new();
    let host = scene.child(1, 8);
    let ann = scene.enter("ann");
    scene.running_room_of(host, &[&ann]);
    for _ in 0..20 {
        scene.pass(Duration::from_millis(250));
        beat(&mut scene, host);
    }
    assert_eq!(scene.forsaken(), []);
    for _ in 0..8 {
        scene.pass(Duration::from_millis(250));
    }
    assert_eq!(scene.forsaken(), [host]);
    let (code, message) = scene.left(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.contains("no sign of life for 2000 ms"), "{message}");
    // Nothing is given to it, and what it says late meets nobody.
    scene.room_of(&[&ann]);
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::NoHostAvailable);
    beat(&mut scene, host);
    scene.pass(seconds(10));
    assert_eq!(scene.forsaken(), [], "once");
    scene.lose_host(host, "killed");
}

#[test]
fn a_lobby_that_was_stopped_itself_gives_nobody_up() {
    let mut scene = LobbyHarness::new();
    let host = scene.child(1, 8);
    // Nothing was asked of it for a minute: it did not run.
    scene.now += seconds(60);
    scene.lobby.handle_timeout(scene.now);
    scene.carry();
    assert_eq!(scene.forsaken(), []);
    beat(&mut scene, host);
    scene.pass(Duration::from_millis(1_900));
    assert_eq!(scene.forsaken(), []);
    scene.pass(Duration::from_millis(200));
    assert_eq!(scene.forsaken(), [host]);
}

#[test]
fn an_embedded_host_is_as_alive_as_the_lobby() {
    let mut scene = LobbyHarness::new();
    scene
        .lobby
        .handle_host_start(scene.now, HostId(1), Origin::Embedded);
    scene.host(1, 8);
    for _ in 0..40 {
        scene.pass(Duration::from_millis(250));
    }
    assert_eq!(scene.forsaken(), []);
}

fn elastic(min: u32, max: u32) -> LobbyHarness {
    let children = ChildPoolConfig {
        min,
        max,
        ..ChildPoolConfig::default()
    };
    // Nobody beats here.
    LobbyHarness::with(LobbyConfig {
        children,
        host_silence: Duration::from_hours(1),
        ..LobbyConfig::default()
    })
}

fn beat(scene: &mut LobbyHarness, host: HostId) {
    scene.host_says(host, host_to_world::Body::Beat(Beat { number: 1 }));
}
