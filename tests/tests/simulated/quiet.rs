//! A room in which nothing happens: what it costs, and how soon a dead line is noticed in it.

use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_proto::ids::RoomId;
use ambit_tests::sim::System;

use crate::script::room_of;

/// What QUIC adds to a datagram to the client: flags, connection id, packet number, the frame's
/// head, and the tag. It acknowledges with these packets.
const QUIC_DOWN_BYTES: u64 = 1 + 1 + 2 + 2 + 16 + 6;
/// The same of one from the client: the host's connection ids have 8 bytes.
const QUIC_UP_BYTES: u64 = 1 + 8 + 2 + 2 + 16 + 6;
/// A packet of the client that only acknowledges: it has nothing else to send within the 25 ms
/// that it may wait.
const QUIC_ACK_BYTES: u64 = 1 + 8 + 2 + 6 + 16;

const MEASURED: Duration = Duration::from_mins(1);

#[test]
fn a_quiet_room_costs_a_client_at_most_40_bytes_a_second_each_way() {
    let (mut system, _) = quiet_room(1, "delay=20ms");
    let before = counts(&system);
    system.run_for(MEASURED);
    let after = counts(&system);
    let [datagrams_down, bytes_down, datagrams_up, bytes_up] =
        std::array::from_fn(|index| after[index] - before[index]);
    let down = bytes_down + QUIC_DOWN_BYTES * datagrams_down;
    let up = bytes_up + QUIC_UP_BYTES * datagrams_up + QUIC_ACK_BYTES * datagrams_down;
    let per_s = |bytes: u64| bytes as f64 / MEASURED.as_secs_f64();
    println!(
        "{datagrams_down} datagrams of {bytes_down} bytes down, {datagrams_up} of {bytes_up} up; \
         with QUIC {:.1} and {:.1} B/s",
        per_s(down),
        per_s(up)
    );
    // Of 5 s: a ping and its answer, and a word at 1.5, 3 and 4.5 s after it.
    assert_eq!((datagrams_down, datagrams_up), (48, 12));
    assert!(per_s(down) <= 40.0 && per_s(up) <= 40.0, "{} and {}", per_s(down), per_s(up));
}

#[test]
fn a_dead_line_in_a_quiet_room_is_told_within_2_5_s() {
    for phase in 0..12 {
        let (mut system, room) = quiet_room(phase, "delay=50ms");
        system.run_for(Duration::from_millis(460 * phase));
        assert!(!system.user(0).events.iter().any(is_silent), "phase {phase}: it lives");
        let since = system.now();
        system.cut(0, Duration::from_secs(5));
        system.run_until("the mark", |system| system.user(0).events.iter().any(is_silent));
        let after = system.now().since(since);
        assert!(after <= Duration::from_millis(2_500), "phase {phase}: {after:?}");
        assert!(system.room(room).is_some());
    }
}

#[test]
fn a_quiet_line_that_loses_a_word_now_and_then_is_not_taken_for_dead() {
    let (mut system, _) = quiet_room(5, "delay=50ms,jitter=20ms,loss=5");
    system.run_for(Duration::from_mins(3));
    let user = system.user(0);
    assert!(user.client.stats().datagrams_lost > 3 && user.client.is_playing());
    assert!(!user.events.iter().any(is_silent));
}

fn is_silent(event: &ViewEvent) -> bool {
    matches!(event, ViewEvent::Game(GameEvent::Silent { .. }))
}

/// Two players in a room in which nothing has moved for ten seconds.
fn quiet_room(seed: u64, network: &str) -> (System, RoomId) {
    let network = network.parse().expect("a valid impairment");
    let (mut system, room) = room_of(
        seed,
        2,
        &network,
        &[("size", "50x50"), ("npcs", "0"), ("wolves", "0"), ("obstacles", "0")],
    );
    system.run_for(Duration::from_secs(10));
    (system, room)
}

/// Datagrams to a client and their bytes, and those from it.
fn counts(system: &System) -> [u64; 4] {
    let user = system.user(0);
    let stats = user.client.stats();
    [stats.datagrams_down, user.bytes.0, stats.datagrams_up, user.bytes.1]
}
