//! The number of children, and hosts that fall silent.

use std::time::Duration;

use ambit_host_protocol::generated::{Heartbeat, host_to_world, world_to_host};
use ambit_proto::codes::ErrorCode;

use super::harness::{LobbyHarness, seconds, start};
use crate::{ChildPoolConfig, HostId, LobbyConfig, Origin};

#[test]
fn the_pool_keeps_the_children_in_use_and_one_spare() {
    let mut harness = elastic(1, 4);
    let first = harness.child(1, 1);
    assert_eq!(harness.children, None, "the pool starts with one child");
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.running_room_of(first, &[&ann]);
    assert_eq!(harness.children, Some(2), "one child is in use, one is spare");
    let second = harness.child(2, 1);
    harness.running_room_of(second, &[&bob]);
    assert_eq!(harness.children, Some(3));
    let third = harness.child(3, 1);

    // A room ends: after a while the youngest idle child is surplus.
    harness.send(ann.conn, super::harness::leave());
    harness.take_orders();
    harness.advance(seconds(29));
    assert_eq!((harness.children, harness.take_orders()), (Some(3), vec![]));
    harness.advance(seconds(2));
    assert_eq!(harness.children, Some(2));
    let orders = harness.take_orders();
    assert!(matches!(&orders[..], [(host, world_to_host::Body::Drain(_))] if *host == third));
    // It gets no more rooms, though it is connected.
    harness.room_of(&[&ann]);
    harness.send(ann.conn, start());
    assert_eq!(harness.take_open_orders()[0].0, first);
}

#[test]
fn a_surplus_child_is_kept_if_it_is_needed_in_time() {
    let mut harness = elastic(1, 4);
    let first = harness.child(1, 8);
    let ann = harness.connect_as("ann");
    harness.running_room_of(first, &[&ann]);
    harness.child(2, 8);
    harness.send(ann.conn, super::harness::leave());
    harness.advance(seconds(20));
    harness.running_room_of(first, &[&ann]);
    harness.take_orders();
    harness.advance(seconds(60));
    assert_eq!((harness.children, harness.take_orders()), (Some(2), vec![]));
}

#[test]
fn a_fixed_number_of_children_stays_that_number() {
    let mut harness = elastic(2, 2);
    let first = harness.child(1, 8);
    let second = harness.child(2, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.running_room_of(first, &[&ann]);
    harness.running_room_of(second, &[&bob]);
    harness.advance(seconds(120));
    assert_eq!(harness.children, None);
}

#[test]
fn a_silent_host_is_disconnected_and_its_players_are_notified() {
    let mut harness = LobbyHarness::new();
    let host = harness.child(1, 8);
    let ann = harness.connect_as("ann");
    harness.running_room_of(host, &[&ann]);
    for _ in 0..20 {
        harness.advance(Duration::from_millis(250));
        send_heartbeat(&mut harness, host);
    }
    assert_eq!(harness.take_disconnected_hosts(), []);
    for _ in 0..8 {
        harness.advance(Duration::from_millis(250));
    }
    assert_eq!(harness.take_disconnected_hosts(), [host]);
    let (code, message) = harness.leave_reason(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.contains("sent nothing for 2000 ms"), "{message}");
    // It gets no orders, and its late messages have no effect.
    harness.room_of(&[&ann]);
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::NoHostAvailable);
    send_heartbeat(&mut harness, host);
    harness.advance(seconds(10));
    assert_eq!(harness.take_disconnected_hosts(), [], "once");
    harness.lose_host(host, "killed");
}

#[test]
fn a_host_whose_messages_wait_for_the_lobby_is_not_silent() {
    let mut harness = LobbyHarness::new();
    let host = harness.child(1, 8);
    let mut silence = harness.lobby.new_silence(harness.now, Origin::Child, &[]);
    for _ in 0..20 {
        harness.advance(Duration::from_millis(1_900));
        // Its heartbeat has arrived, but is not handled.
        silence.note_heard(harness.now);
        harness.lobby.set_host_silence(host, silence);
    }
    assert_eq!(harness.take_disconnected_hosts(), []);
    harness.advance(Duration::from_millis(1_900));
    assert_eq!(harness.take_disconnected_hosts(), []);
    harness.advance(Duration::from_millis(200));
    assert_eq!(harness.take_disconnected_hosts(), [host]);
}

#[test]
fn a_lobby_that_was_suspended_disconnects_no_host() {
    let mut harness = LobbyHarness::new();
    let host = harness.child(1, 8);
    // The lobby was not called for a minute: its process did not run.
    harness.now += seconds(60);
    harness.lobby.handle_timeout(harness.now);
    harness.handle_outputs();
    assert_eq!(harness.take_disconnected_hosts(), []);
    send_heartbeat(&mut harness, host);
    harness.advance(Duration::from_millis(1_900));
    assert_eq!(harness.take_disconnected_hosts(), []);
    harness.advance(Duration::from_millis(200));
    assert_eq!(harness.take_disconnected_hosts(), [host]);
}

#[test]
fn hosts_that_fall_silent_together_get_the_whole_time() {
    for together in [true, false] {
        let mut harness = LobbyHarness::new();
        let hosts = [1, 2].map(|number| harness.reconnecting_host(number, number as u8, &[]));
        for _ in 0..100 {
            harness.advance(Duration::from_millis(250));
            for host in hosts {
                send_heartbeat(&mut harness, host);
            }
        }
        for _ in 0..6 {
            harness.advance(Duration::from_millis(250));
            if !together {
                send_heartbeat(&mut harness, hosts[1]);
            }
        }
        let given_up = harness.take_disconnected_hosts();
        assert_eq!(given_up, if together { vec![] } else { vec![hosts[0]] });
        harness.advance(Duration::from_millis(600));
        let given_up = harness.take_disconnected_hosts();
        assert_eq!(given_up, if together { hosts.to_vec() } else { vec![] });
    }
}

#[test]
fn a_host_that_comes_back_from_a_pause_is_known_for_it() {
    let mut harness = LobbyHarness::new();
    harness.reconnecting_host(1, 1, &[]);
    let known = |harness: &LobbyHarness| {
        let instance = [9; 16];
        harness.lobby.new_silence(harness.now, Origin::Remote, &instance)
    };
    let host = harness.reconnecting_host(2, 9, &[]);
    for _ in 0..100 {
        harness.advance(Duration::from_millis(250));
        send_heartbeat(&mut harness, HostId(1));
        send_heartbeat(&mut harness, host);
    }
    assert_eq!(known(&harness).limit(), Duration::from_secs(1));
    for _ in 0..5 {
        harness.advance(Duration::from_millis(250));
        send_heartbeat(&mut harness, HostId(1));
    }
    assert_eq!(harness.take_disconnected_hosts(), [host]);
    harness.lose_host(host, "given up");
    assert!(known(&harness).limit() > Duration::from_millis(1_800));
}

#[test]
fn an_embedded_host_is_never_disconnected() {
    let mut harness = LobbyHarness::new();
    harness.lobby.handle_host_start(harness.now, HostId(1), Origin::Embedded);
    harness.host(1, 8);
    for _ in 0..40 {
        harness.advance(Duration::from_millis(250));
    }
    assert_eq!(harness.take_disconnected_hosts(), []);
}

fn elastic(min: u32, max: u32) -> LobbyHarness {
    let children = ChildPoolConfig { min, max, ..ChildPoolConfig::default() };
    // No host sends heartbeats here.
    LobbyHarness::with(LobbyConfig {
        children,
        host_silence: Duration::from_hours(1),
        ..LobbyConfig::default()
    })
}

fn send_heartbeat(harness: &mut LobbyHarness, host: HostId) {
    harness.send_from_host(host, host_to_world::Body::Heartbeat(Heartbeat { number: 1 }));
}
