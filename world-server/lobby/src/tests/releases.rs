//! Rooms that move to hosts of a newer build.

use std::time::Duration;

use ambit_host_protocol::generated::{
    Departed, HandingOver, OpenRoom, RoomHandedOver, host_to_world, world_to_host,
};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::RoomId;

use super::harness::{Client, LobbyHarness, leave, recording, request_ticket, seconds};
use crate::{HostId, LobbyConfig};

#[test]
fn a_running_room_moves_to_the_build_that_came_last() {
    let (mut harness, [blue, green], ann, room) = release(8);
    assert_eq!(moved(&mut harness), [(blue, room)]);
    hand_over(&mut harness, blue, room);
    let orders = harness.take_orders();
    let taken = orders.iter().any(|(host, body)| {
        matches!(body, world_to_host::Body::RoomTaken(taken) if taken.room == room) && *host == blue
    });
    assert!(taken, "{orders:?}");
    harness.put_back(orders);
    assert_eq!(resumed(&mut harness), [(green, room)]);
    harness.opened(green, room, None);
    let ticket = harness.ticket(&ann);
    assert_eq!((ticket.address.as_str(), ticket.incarnation), ("127.0.0.1:8002", 2));
    let stats = harness.lobby.stats();
    assert_eq!((stats.rooms_moved, stats.rooms_misfit, stats.rooms_waiting), (1, 0, 0));
    // It is of that build now: with its host lost, only that build goes on with it.
    harness.save_checkpoint(green, room);
    harness.advance(seconds(4));
    harness.lose_host(green, "killed");
    assert_eq!(resumed(&mut harness), []);
    let next = harness.host_with_build("green", 3, 8);
    assert_eq!(resumed(&mut harness), [(next, room)]);
}

#[test]
fn rooms_are_asked_a_few_at_a_time_and_no_more_than_fit() {
    let mut harness = LobbyHarness::unlimited();
    let blue = harness.host_with_build("blue", 1, 20);
    let clients: Vec<Client> =
        (0..12).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    let rooms: Vec<u64> =
        clients.iter().map(|client| saved_room(&mut harness, blue, client)).collect();
    let green = harness.host_with_build("green", 2, 10);
    let mut asked = Vec::new();
    for expected in [4, 4, 2, 0, 0] {
        let now = moved(&mut harness);
        assert_eq!(now.len(), expected);
        asked.extend(now.into_iter().map(|(_, room)| room));
    }
    assert_eq!(asked, rooms[..10]);
    for &room in &asked {
        hand_over(&mut harness, blue, room);
        harness.opened(green, room, None);
    }
    assert_eq!(resumed(&mut harness).len(), 10);
    harness.advance(seconds(30));
    assert_eq!(moved(&mut harness), [], "there is no place for the others");
    harness.ask(clients[0].conn, leave());
    harness.advance(seconds(1));
    assert_eq!(moved(&mut harness), [(blue, rooms[10])]);
}

#[test]
fn a_room_that_the_new_build_cannot_read_goes_back_and_is_not_asked_again() {
    let (mut harness, [blue, green], ann, room) = release(8);
    moved(&mut harness);
    hand_over(&mut harness, blue, room);
    assert_eq!(resumed(&mut harness), [(green, room)]);
    harness.opened(green, room, Some(codes::error(ErrorCode::ServerError, "it does not fit")));
    assert_eq!(resumed(&mut harness), [(blue, room)]);
    harness.opened(blue, room, None);
    assert_eq!(harness.ticket(&ann).incarnation, 3);
    assert_eq!(harness.lobby.stats().rooms_misfit, 1);
    harness.advance(seconds(60));
    assert_eq!(moved(&mut harness), []);
    // The next build may read it.
    harness.host_with_build("red", 3, 8);
    harness.advance(seconds(1));
    assert_eq!(moved(&mut harness), [(blue, room)]);
}

#[test]
fn a_misfit_without_a_host_of_its_build_waits_for_one() {
    let (mut harness, [blue, green], ann, room) = release(8);
    moved(&mut harness);
    hand_over(&mut harness, blue, room);
    harness.lose_host(blue, "ended");
    harness.opened(green, room, Some(codes::error(ErrorCode::ServerError, "it does not fit")));
    resumed(&mut harness);
    harness.advance(seconds(600));
    let (code, message) = harness.expect_refusal(ann.conn, request_ticket());
    assert_eq!(code, ErrorCode::TryAgain);
    assert!(message.contains("build `blue`"), "{message}");
    assert_eq!(harness.lobby.stats().rooms_waiting, 1);
    let next = harness.host_with_build("blue", 3, 8);
    assert_eq!(resumed(&mut harness), [(next, room)]);
    harness.opened(next, room, None);
    assert_eq!(harness.lobby.stats().rooms_waiting, 0);
    assert!(harness.listed(&ann)[0].running);
}

#[test]
fn a_kept_misfit_is_set_aside_when_its_players_leave() {
    let config = LobbyConfig { keeps_rooms: true, ..recording() };
    let (mut harness, [blue, green], ann, room) = release_with(config, 8);
    moved(&mut harness);
    hand_over(&mut harness, blue, room);
    harness.lose_host(blue, "ended");
    harness.opened(green, room, Some(codes::error(ErrorCode::ServerError, "it does not fit")));
    assert!(harness.set_aside.is_empty());
    harness.ask(ann.conn, leave());
    let [(aside, _)] = &harness.set_aside[..] else { panic!("{:?}", harness.set_aside) };
    assert_eq!(*aside, room);
}

#[test]
fn a_room_with_a_journal_is_for_its_own_build() {
    let (mut harness, [blue, _], _, room) = release(8);
    moved(&mut harness);
    // It was asked, and its host dies before it has handed it over.
    harness.lose_host(blue, "killed");
    assert_eq!(resumed(&mut harness), []);
    let next = harness.host_with_build("blue", 3, 8);
    assert_eq!(resumed(&mut harness), [(next, room)]);
}

#[test]
fn rooms_of_a_host_that_is_asked_to_end_go_to_the_new_build() {
    let (mut harness, [blue, green], ann, room) = release(1);
    harness.send_from_host(blue, host_to_world::Body::HandingOver(HandingOver {}));
    hand_over(&mut harness, blue, room);
    assert_eq!(resumed(&mut harness), [], "its process has not ended");
    harness.lose_host(blue, "exit status: 0");
    assert_eq!(resumed(&mut harness), [(green, room)]);
    harness.opened(green, room, None);
    assert_eq!(harness.ticket(&ann).incarnation, 2);
}

#[test]
fn a_new_build_that_does_not_answer_costs_a_room_no_player() {
    let (mut harness, [blue, green], ann, room) = release(8);
    moved(&mut harness);
    hand_over(&mut harness, blue, room);
    assert_eq!(resumed(&mut harness), [(green, room)]);
    harness.advance(seconds(11));
    let orders = harness.take_orders();
    let closes = |(host, body): &(HostId, world_to_host::Body)| {
        *host == green && matches!(body, world_to_host::Body::CloseRoom(_))
    };
    assert!(orders.iter().any(closes), "{orders:?}");
    harness.put_back(orders);
    assert_eq!(resumed(&mut harness), [(blue, room)]);
    harness.opened(blue, room, None);
    // What it says later does not count.
    harness.opened(green, room, None);
    assert_eq!(harness.ticket(&ann).address, "127.0.0.1:8001");
}

#[test]
fn a_room_that_crashes_two_hosts_of_the_new_build_goes_back() {
    let (mut harness, [blue, green], ann, room) = release(8);
    let other = harness.host_with_build("green", 3, 8);
    moved(&mut harness);
    hand_over(&mut harness, blue, room);
    assert_eq!(resumed(&mut harness), [(green, room)]);
    harness.lose_host(green, "killed");
    assert_eq!(resumed(&mut harness), [(other, room)], "the first one may have had other faults");
    harness.lose_host(other, "killed");
    assert_eq!(resumed(&mut harness), [(blue, room)]);
    harness.opened(blue, room, None);
    assert_eq!(harness.ticket(&ann).address, "127.0.0.1:8001");
    assert!(harness.condemned.is_empty());
}

#[test]
fn a_late_report_of_a_handover_changes_nothing() {
    let (mut harness, [blue, green], ann, room) = release(8);
    moved(&mut harness);
    hand_over(&mut harness, green, room);
    assert_eq!(resumed(&mut harness), [], "it is not that host's");
    hand_over(&mut harness, blue, room);
    harness.opened(green, room, None);
    assert_eq!(resumed(&mut harness), [(green, room)]);
    hand_over(&mut harness, blue, room);
    let late = Departed { room, player: ann.id, number: 1, carried: None };
    harness.send_from_host(blue, host_to_world::Body::Departed(late));
    assert_eq!(resumed(&mut harness), []);
    harness.ask(ann.conn, leave());
    hand_over(&mut harness, green, room);
    assert_eq!(harness.lobby.stats().rooms, 0);
}

#[test]
fn a_kept_room_without_a_journal_may_go_on_in_another_build() {
    let mut first = LobbyHarness::recorded();
    let blue = first.host_with_build("blue", 1, 8);
    let clients = ["ann", "bob", "cid"].map(|name| first.connect_as(name));
    let [whole, misfit, other] =
        [0, 1, 2].map(|index| saved_room(&mut first, blue, &clients[index]));
    let mut next = first.start_successor_with(seconds(5), &[whole, misfit, other]);
    next.lobby.mark_whole([whole, misfit].map(RoomId));
    let [ann, ..] = [0, 1, 2].map(|index| next.resume(&clients[index]));
    let green = next.host_with_build("green", next.lobby.last_host().0 + 1, 8);
    assert_eq!(resumed(&mut next), [(green, whole), (green, misfit)]);
    next.opened(green, whole, None);
    assert_eq!(next.request_new_ticket(&ann).incarnation, 2);
    next.opened(green, misfit, Some(codes::error(ErrorCode::ServerError, "it does not fit")));
    next.advance(seconds(60));
    assert_eq!(next.lobby.stats().rooms_waiting, 2);
    assert!(next.set_aside.is_empty() && resumed(&mut next).is_empty());
    let blue = next.host_with_build("blue", green.0 + 1, 8);
    assert_eq!(resumed(&mut next), [(blue, misfit), (blue, other)]);
}

/// A host of the build `blue` with a room of one player, and one of `green` that has come later.
fn release(capacity: u32) -> (LobbyHarness, [HostId; 2], Client, u64) {
    release_with(LobbyConfig::default(), capacity)
}

fn release_with(config: LobbyConfig, capacity: u32) -> (LobbyHarness, [HostId; 2], Client, u64) {
    let mut harness = LobbyHarness::with(config);
    let blue = harness.host_with_build("blue", 1, 8);
    let ann = harness.connect_as("ann");
    let room = saved_room(&mut harness, blue, &ann);
    let green = harness.host_with_build("green", 2, capacity);
    (harness, [blue, green], ann, room)
}

/// A running room with a checkpoint.
fn saved_room(harness: &mut LobbyHarness, host: HostId, client: &Client) -> u64 {
    let room = harness.running_room_of(host, &[client]);
    harness.save_checkpoint(host, room);
    room
}

/// The rooms whose hosts were asked to hand them over since the last call, and in the next 250 ms.
fn moved(harness: &mut LobbyHarness) -> Vec<(HostId, u64)> {
    harness.advance(Duration::from_millis(250));
    let order = |(host, body): (HostId, world_to_host::Body)| match body {
        world_to_host::Body::MoveRoom(order) => Some((host, order.room)),
        _ => None,
    };
    harness.take_orders().into_iter().filter_map(order).collect()
}

fn hand_over(harness: &mut LobbyHarness, host: HostId, room: u64) {
    let handed_over = RoomHandedOver { room };
    harness.send_from_host(host, host_to_world::Body::RoomHandedOver(handed_over));
}

/// The orders to resume rooms since the last call, with their hosts.
fn resumed(harness: &mut LobbyHarness) -> Vec<(HostId, u64)> {
    let order = |(host, order): (HostId, OpenRoom)| {
        assert!(order.resume.is_some(), "{order:?}");
        (host, order.room)
    };
    harness.take_open_orders().into_iter().map(order).collect()
}
