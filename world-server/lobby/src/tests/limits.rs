//! Limits, and peers that violate the protocol.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use prost::Message;

use super::harness::{LobbyHarness, create, list_all_players, read_error, room, seconds};
use crate::{ConnId, LobbyConfig};

mod costs;
mod rooms;

#[test]
fn requests_over_the_rate_are_refused_without_effect_on_others() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    // The hello counts for the burst of 40.
    for _ in 0..39 {
        assert!(matches!(harness.ask(ann.conn, list_all_players()), Body::PlayerList(_)));
    }
    assert_eq!(harness.refusal_code(ann.conn, list_all_players()), ErrorCode::RateLimited);
    assert!(matches!(harness.ask(bob.conn, list_all_players()), Body::PlayerList(_)));
    harness.advance(seconds(1));
    for _ in 0..20 {
        assert!(matches!(harness.ask(ann.conn, list_all_players()), Body::PlayerList(_)));
    }
    assert_eq!(harness.refusal_code(ann.conn, list_all_players()), ErrorCode::RateLimited);
}

#[test]
fn two_hundred_refusals_in_a_row_close_the_connection() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    for _ in 0..39 + 199 {
        harness.ask(ann.conn, list_all_players());
    }
    assert_eq!(harness.close_code(ann.conn), None);
    assert_eq!(harness.refusal_code(ann.conn, list_all_players()), ErrorCode::RateLimited);
    assert_eq!(harness.goodbye_code(ann.conn), Some(ErrorCode::RateLimited));
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::RateLimited));
    // The session has its grace period like any other.
    harness.resume(&ann);
}

#[test]
fn a_client_that_asks_again_after_each_refusal_is_slowed_down() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    for _ in 0..1_000 {
        // A third of these are refused.
        harness.advance(Duration::from_millis(33));
        harness.ask(ann.conn, list_all_players());
        assert_eq!(harness.lobby.read_pause(ann.conn), Duration::ZERO);
    }
    let mut asked = 0;
    while harness.lobby.read_pause(bob.conn) == Duration::ZERO {
        harness.advance(Duration::from_millis(2));
        harness.ask(bob.conn, list_all_players());
        asked += 1;
    }
    assert!((200..300).contains(&asked), "{asked} requests");
    // After the pause the next one is in time.
    harness.advance(harness.lobby.read_pause(bob.conn));
    harness.ask(bob.conn, list_all_players());
    assert_eq!(harness.lobby.read_pause(bob.conn), Duration::ZERO);
    assert_eq!(harness.close_code(bob.conn), None);
}

#[test]
fn the_number_of_connections_is_limited() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { max_connections: 3, ..LobbyConfig::default() });
    let ann = harness.connect_as("ann");
    harness.connect_as("bob");
    harness.connect();
    let late = harness.connect();
    assert_eq!(harness.close_code(late), Some(ErrorCode::TooManyConnections));
    assert_eq!(harness.events_on(late), [], "nothing is sent on a refused connection");
    harness.disconnect(&ann);
    let next = harness.connect();
    assert_eq!(harness.close_code(next), None);
}

#[test]
fn connections_of_one_address_are_limited() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { max_per_address: 2, ..LobbyConfig::default() });
    let address = |last| IpAddr::from(Ipv4Addr::new(10, 0, 0, last));
    let first = harness.connect_from(address(1));
    harness.connect_from(address(1));
    let third = harness.connect_from(address(1));
    assert_eq!(harness.close_code(third), Some(ErrorCode::TooManyFromAddress));
    let other = harness.connect_from(address(2));
    assert_eq!(harness.close_code(other), None);
    harness.lobby.handle_disconnect(harness.now, first);
    let next = harness.connect_from(address(1));
    assert_eq!(harness.close_code(next), None);
}

#[test]
fn a_connection_counts_until_it_is_really_closed() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { max_connections: 1, ..LobbyConfig::default() });
    let address = IpAddr::from(Ipv4Addr::LOCALHOST);
    harness.lobby.handle_connect(harness.now, ConnId(1), address);
    harness.lobby.handle_malformed(harness.now, ConnId(1), ErrorCode::Malformed);
    while harness.lobby.poll_output().is_some() {}
    harness.lobby.handle_connect(harness.now, ConnId(2), address);
    assert!(matches!(
        harness.lobby.poll_output(),
        Some(crate::LobbyAction::Close { conn: ConnId(2), .. })
    ));
    while harness.lobby.poll_output().is_some() {}
    harness.lobby.handle_disconnect(harness.now, ConnId(1));
    harness.lobby.handle_connect(harness.now, ConnId(3), address);
    assert_eq!(harness.lobby.poll_output(), None);
}

#[test]
fn players_who_are_away_do_not_block_new_ones() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { max_connections: 2, ..LobbyConfig::default() });
    let mut away = Vec::new();
    for number in 0..10 {
        let client = harness.connect_as(&format!("p{number}"));
        harness.disconnect(&client);
        away.push(client);
        assert!(harness.lobby.stats().players <= 4);
    }
    // The players who left last are still known.
    harness.resume(&away[9]);
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &away[0].token).resumed);
}

#[test]
fn an_unknown_request_is_named_in_its_answer() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    // Request 5, field 99 with 2 bytes in it.
    harness.send_raw(ann.conn, &[0x08, 0x05, 0x9a, 0x06, 0x02, 0xab, 0xcd]);
    let answers = harness.answers_to(ann.conn, 5);
    let [Body::Error(error)] = &answers[..] else { panic!("{answers:?}") };
    let (code, message) = read_error(error);
    assert_eq!(code, ErrorCode::UnknownMessage);
    assert!(message.contains("field 99"), "{message}");

    harness.lobby.handle_request(
        harness.now,
        ann.conn,
        world::ClientToWorld { request: 6, body: None },
    );
    harness.handle_outputs();
    assert!(
        matches!(&harness.answers_to(ann.conn, 6)[..], [Body::Error(error)] if error.code == 2)
    );
    assert_eq!(harness.close_code(ann.conn), None);
}

#[test]
fn an_unknown_field_of_a_known_request_is_skipped() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let mut frame =
        world::ClientToWorld { request: 5, body: Some(list_all_players()) }.encode_to_vec();
    frame.extend([0x9a, 0x06, 0x02, 0xab, 0xcd]);
    harness.send_raw(ann.conn, &frame);
    assert!(matches!(&harness.answers_to(ann.conn, 5)[..], [Body::PlayerList(_)]));
}

#[test]
fn a_request_with_number_0_is_malformed() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let message = world::ClientToWorld { request: 0, body: Some(create(room("den"))) };
    harness.lobby.handle_request(harness.now, ann.conn, message);
    harness.handle_outputs();
    let events = harness.events(&ann);
    assert!(matches!(&events[..], [Body::Error(error)] if error.code == 3), "{events:?}");
    assert_eq!(harness.listed(&ann), []);
}

#[test]
fn an_invalid_message_closes_the_connection_and_keeps_the_session() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.send_raw(ann.conn, &[0xff; 20]);
    assert_eq!(harness.goodbye_code(ann.conn), Some(ErrorCode::Malformed));
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::Malformed));
    let ann = harness.resume(&ann);
    harness.lobby.handle_malformed(harness.now, ann.conn, ErrorCode::MessageTooLarge);
    harness.handle_outputs();
    assert_eq!(harness.goodbye_code(ann.conn), Some(ErrorCode::MessageTooLarge));
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::MessageTooLarge));
}

#[test]
fn requests_after_a_goodbye_are_not_answered() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.lobby.handle_malformed(harness.now, ann.conn, ErrorCode::Malformed);
    while harness.lobby.poll_output().is_some() {}
    let message = world::ClientToWorld { request: 7, body: Some(list_all_players()) };
    harness.lobby.handle_request(harness.now, ann.conn, message);
    harness.lobby.handle_malformed(harness.now, ann.conn, ErrorCode::Malformed);
    assert_eq!(harness.lobby.poll_output(), None);
}

#[test]
fn an_invalid_channel_or_key_is_answered_as_malformed() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let say = world::Say { channel: 9, text: "hello".into(), ..world::Say::default() };
    assert_eq!(harness.refusal_code(ann.conn, ask::Body::Say(say)), ErrorCode::Malformed);
    let key = world::CreateRoom { key: vec![1; 15], ..room("den") };
    assert_eq!(harness.refusal_code(ann.conn, create(key)), ErrorCode::Malformed);
}

#[test]
fn refusals_and_successes_are_counted() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.running_room_of(host, &[&ann]);
    harness.refusal_code(ann.conn, create(room("second")));
    harness.disconnect(&bob);
    let closed = harness.connect();
    harness.send_raw(closed, &[0xff]);
    let stats = harness.lobby.stats();
    assert_eq!(
        (stats.connections, stats.connections_total, stats.players, stats.players_away),
        (1, 3, 2, 1)
    );
    assert_eq!(
        (stats.rooms, stats.rooms_running, stats.rooms_made, stats.rooms_started),
        (1, 1, 1, 1)
    );
    assert_eq!((stats.hosts, stats.tickets), (1, 1));
    assert_eq!(stats.refused.into_iter().collect::<Vec<_>>(), [(ErrorCode::AlreadyInRoom, 1)]);
    assert_eq!(stats.closed.into_iter().collect::<Vec<_>>(), [(ErrorCode::Malformed, 1)]);
}
