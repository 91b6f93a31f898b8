//! Rooms that stay without players, and the worlds of the operator's list.

use std::time::Duration;

use ambit_host_protocol::generated::{HostStats, host_to_world, world_to_host};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask};

use super::harness::{Client, LobbyHarness, parameters, recording, seconds};
use crate::{HostId, LobbyConfig, OperatedWorld};

#[test]
fn a_room_of_a_lasting_game_stays_and_the_next_player_is_its_host() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let host = harness.host(1, 10);
    let room = lasting_room(&mut harness, host, &ann);
    let told = opened_with(&mut harness, room);
    assert_eq!(told, parameters(&[("lasting", "yes")]));
    leave(&mut harness, &ann);
    let listed = harness.listed(&ann);
    assert_eq!((listed[0].id, listed[0].players, listed[0].running), (room, 0, true));
    let bob = harness.connect_as("bob");
    harness.join(&bob, room);
    assert_eq!(harness.listed(&bob)[0].host, bob.id);
    assert_eq!(harness.ticket(&bob).room, room);
    // Before its start, a room is like any other.
    let waiting = harness.create(&ann, lasting());
    leave(&mut harness, &ann);
    assert!(harness.listed(&ann).iter().all(|listed| listed.id != waiting.id));
}

#[test]
fn players_may_not_say_that_a_room_lasts() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let asked = world::CreateRoom { parameters: parameters(&[("lasting", "yes")]), ..lasting() };
    let code = harness.refusal_code(ann.conn, ask::Body::CreateRoom(asked));
    assert_eq!(code, ErrorCode::BadParameter);
}

#[test]
fn a_lasting_room_ends_once_it_is_unplayed_and_a_listed_world_never() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        unplayed: Some(Duration::from_hours(1)),
        ..with_village()
    });
    let host = harness.host(1, 10);
    let village = open_village(&mut harness, host);
    let ann = harness.connect_as("ann");
    let room = lasting_room(&mut harness, host, &ann);
    leave(&mut harness, &ann);
    let report = |harness: &mut LobbyHarness, times: u64| {
        for _ in 0..times {
            harness.advance(seconds(60));
            let stats = HostStats { unplayed_rooms: vec![room, village], ..HostStats::default() };
            harness.send_from_host(host, host_to_world::Body::Stats(stats));
        }
        let bob = harness.connect_as("bob");
        let listed = harness.listed(&bob).iter().map(|listed| listed.id).collect::<Vec<_>>();
        harness.quit(&bob);
        listed
    };
    assert_eq!(report(&mut harness, 60), [village, room]);
    assert_eq!(report(&mut harness, 3), [village]);
    assert_eq!(report(&mut harness, 1_500), [village]);
}

#[test]
fn a_world_of_the_list_opens_with_the_first_host_and_again_after_a_crash() {
    let mut harness = LobbyHarness::with(with_village());
    let ann = harness.connect_as("ann");
    harness.advance(seconds(30));
    // Its players wait for a host, and none of them may start or close it.
    let waiting = harness.listed(&ann);
    assert_eq!((waiting.len(), waiting[0].running, waiting[0].host), (1, false, 0));
    harness.join(&ann, waiting[0].id);
    let code = harness.refusal_code(ann.conn, ask::Body::StartRoom(world::StartRoom {}));
    assert_eq!(code, ErrorCode::NotHost);
    let host = harness.host(1, 10);
    let village = open_village(&mut harness, host);
    assert_eq!(village, waiting[0].id);
    assert_eq!(harness.ticket(&ann).room, village);
    leave(&mut harness, &ann);
    assert_eq!(harness.listed(&ann)[0].host, 0);
    let closed = ambit_host_protocol::generated::RoomClosed {
        room: village,
        reason: ErrorCode::RoomCrashed.into(),
        message: String::new(),
    };
    harness.send_from_host(host, host_to_world::Body::RoomClosed(closed));
    assert_eq!(harness.listed(&ann), []);
    harness.advance(seconds(6));
    let again = open_village(&mut harness, host);
    assert_ne!(again, village);
    assert!(harness.listed(&ann)[0].running);
}

#[test]
fn the_next_server_goes_on_with_worlds_and_lasting_rooms_without_players() {
    let mut first = LobbyHarness::with(LobbyConfig { worlds: village(), ..recording() });
    let host = first.host(1, 10);
    let village = open_village(&mut first, host);
    let ann = first.connect_as("ann");
    let room = lasting_room(&mut first, host, &ann);
    leave(&mut first, &ann);
    first.quit(&ann);
    first.advance(seconds(60));
    let mut next = first.start_successor_with(seconds(5), &[room, village]);
    next.advance(seconds(1));
    let bob = next.connect_as("bob");
    let ids: Vec<_> = next.listed(&bob).iter().map(|listed| listed.id).collect();
    assert_eq!(ids, [village, room]);
    next.host(2, 10);
    next.advance(seconds(6));
    let orders = next.take_orders();
    let resumed: Vec<_> = orders
        .iter()
        .filter_map(|(_, order)| match order {
            world_to_host::Body::OpenRoom(open) => Some(open.room),
            _ => None,
        })
        .collect();
    assert_eq!(resumed, [village, room]);
}

#[test]
fn a_lasting_room_waits_for_a_host_as_long_as_it_takes() {
    let mut harness = LobbyHarness::with(with_village());
    let host = harness.host(1, 10);
    let village = open_village(&mut harness, host);
    harness.save_checkpoint(host, village);
    harness.advance(seconds(10));
    harness.lose_host(host, "its machine is gone");
    harness.advance(Duration::from_hours(30));
    let bob = harness.connect_as("bob");
    let listed = harness.listed(&bob);
    assert_eq!((listed.len(), listed[0].id), (1, village), "it is the same one");
    assert_eq!(harness.lobby.stats().rooms_waiting, 1);
    harness.join(&bob, village);
    let told = harness.events(&bob).into_iter().find_map(|body| match body {
        world::world_to_client::Body::Error(error) => Some(error),
        _ => None,
    });
    let told = told.expect("why there is no game");
    assert_eq!(told.code(), ErrorCode::TryAgain);
    assert!(told.message.contains("waits for a game server"), "{told:?}");
    let next = harness.host(2, 10);
    let opened = opened_with(&mut harness, village);
    assert_eq!(opened, parameters(&[("lasting", "yes")]));
    harness.opened(next, village, None);
    assert_eq!(harness.lobby.stats().rooms_waiting, 0);
    assert_eq!(harness.ticket(&bob).room, village);
}

#[test]
fn a_lasting_room_that_fails_is_set_aside_and_a_new_one_opens() {
    let mut harness = LobbyHarness::with(LobbyConfig { keeps_rooms: true, ..with_village() });
    let host = harness.host(1, 10);
    let village = open_village(&mut harness, host);
    harness.save_checkpoint(host, village);
    let crashed = ambit_host_protocol::generated::RoomClosed {
        room: village,
        reason: ErrorCode::RoomCrashed.into(),
        message: String::new(),
    };
    harness.send_from_host(host, host_to_world::Body::RoomClosed(crashed));
    let [(aside, _)] = &harness.set_aside[..] else { panic!("{:?}", harness.set_aside) };
    assert_eq!(*aside, village);
    harness.advance(seconds(6));
    assert_ne!(open_village(&mut harness, host), village);
}

#[test]
fn a_world_of_the_list_is_named_as_at_the_console() {
    let parsed: OperatedWorld =
        "village game=field capacity=9 size=60x60".parse().expect("a world");
    assert_eq!((parsed.game(), parsed.create.capacity), ("field", 9));
    assert_eq!(parsed.parameters(), &parameters(&[("size", "60x60")]));
    for wrong in ["", "village", "village field", "v game=f game=f", "v game=f capacity=x"] {
        let error = wrong.parse::<OperatedWorld>().expect_err(wrong).to_string();
        assert!(error.contains("--world \"village"), "{error}");
    }
}

fn village() -> Vec<OperatedWorld> {
    vec!["village game=field".parse().expect("a world")]
}

fn with_village() -> LobbyConfig {
    LobbyConfig { worlds: village(), idle: None, ..LobbyConfig::default() }
}

/// The host opens the world of the list. Returns its room.
fn open_village(harness: &mut LobbyHarness, host: HostId) -> u64 {
    harness.advance(seconds(2));
    let opened = harness.take_orders().into_iter().find_map(|(to, order)| match order {
        world_to_host::Body::OpenRoom(open) if to == host => Some(open),
        _ => None,
    });
    let open = opened.expect("the order to open it");
    assert_eq!(open.parameters, parameters(&[("lasting", "yes")]));
    harness.opened(host, open.room, None);
    open.room
}

/// The parameters with which a host is told to open a room.
fn opened_with(
    harness: &mut LobbyHarness,
    room: u64,
) -> std::collections::BTreeMap<String, String> {
    let opened = harness.take_orders().into_iter().find_map(|(_, order)| match order {
        world_to_host::Body::OpenRoom(open) if open.room == room => Some(open.parameters),
        _ => None,
    });
    opened.expect("the order to open it")
}

fn lasting() -> world::CreateRoom {
    world::CreateRoom { name: "garden".into(), game: "lasting".into(), ..Default::default() }
}

fn lasting_room(harness: &mut LobbyHarness, host: HostId, client: &Client) -> u64 {
    let room = harness.create(client, lasting()).id;
    harness.send(client.conn, ask::Body::StartRoom(world::StartRoom {}));
    harness.opened(host, room, None);
    harness.advance(seconds(1));
    harness.discard_events();
    room
}

fn leave(harness: &mut LobbyHarness, client: &Client) {
    harness.ask(client.conn, ask::Body::LeaveRoom(world::LeaveRoom {}));
}
