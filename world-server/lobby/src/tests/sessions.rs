//! Hello, names, resume, takeover, idle players, drain.

use ambit_host_protocol::generated::world_to_host;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{
    LobbyHarness, create, hello, join, list_all_players, request_ticket, room, seconds, set_name,
    start, ticket_in, verify_ticket,
};
use crate::{ConnId, HostId, LobbyConfig};

#[test]
fn a_hello_is_welcomed_with_a_name_a_token_and_the_games() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    let welcome = harness.welcome(conn, " Zoe\u{308} ", &[]);
    assert_eq!((welcome.version, welcome.player, welcome.name.as_str()), (2, 1, "Zoë"));
    assert_eq!((welcome.resumed, welcome.room, welcome.grace_ms), (false, None, 30_000));
    assert_eq!(welcome.resume_token.len(), 16);
    let games: Vec<_> =
        welcome.games.iter().map(|game| (game.name.as_str(), game.min_players)).collect();
    assert_eq!(games, [("field", 1), ("duel", 2), ("lasting", 1)]);
    assert_eq!(welcome.games[1].quick_start["size"], "duel");
}

#[test]
fn clients_are_told_at_which_servers_they_can_resume() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    assert_eq!(harness.welcome(conn, "ann", &[]).servers, None);
    harness.connect_as("bob");
    harness.discard_events();
    let servers =
        world::Servers { servers: vec![world::Server::default()], ..world::Servers::default() };
    // Setting the same ones again is no news.
    for _ in 0..2 {
        harness.lobby.set_servers(servers.clone());
        harness.handle_outputs();
    }
    assert_eq!(harness.events_on(conn), [Body::Servers(servers.clone())]);
    let late = harness.connect();
    assert_eq!(harness.welcome(late, "cid", &[]).servers, Some(servers));
}

#[test]
fn a_client_of_another_version_gets_both_versions_and_is_closed() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    let other = ask::Body::Hello(world::Hello { version: 1, ..world::Hello::default() });
    let (code, message) = harness.expect_refusal(conn, other);
    assert_eq!(code, ErrorCode::VersionMismatch);
    assert!(message.contains("version 1") && message.contains("version 2"), "{message}");
    assert_eq!(harness.goodbye_code(conn), Some(ErrorCode::VersionMismatch));
    assert_eq!(harness.close_code(conn), Some(ErrorCode::VersionMismatch));
}

#[test]
fn a_bad_name_is_refused_and_another_hello_may_follow() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    for name in ["a\u{202e}b", "a\nb", "   ", &"x".repeat(25)] {
        assert_eq!(harness.refusal_code(conn, hello(name, &[])), ErrorCode::BadName, "{name:?}");
    }
    assert_eq!(harness.hello(conn, "ann", &[]).name, "ann");
}

#[test]
fn a_taken_name_gets_a_number_and_an_empty_one_a_guest_name() {
    let mut harness = LobbyHarness::new();
    let names = ["ann", "ANN", "Ａnn", "", ""].map(|name| harness.connect_as(name).name);
    assert_eq!(names, ["ann", "ANN-2", "Ａnn-3", "guest-4", "guest-5"]);
}

#[test]
fn anything_before_hello_and_a_second_hello_are_out_of_state() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    let (code, message) = harness.expect_refusal(conn, start());
    assert_eq!(code, ErrorCode::OutOfState);
    assert!(message.contains("start_room"), "{message}");
    // The state is checked before the content.
    assert_eq!(harness.refusal_code(conn, set_name("\n")), ErrorCode::OutOfState);
    harness.hello(conn, "ann", &[]);
    let (code, message) = harness.expect_refusal(conn, hello("ann", &[]));
    assert_eq!(code, ErrorCode::OutOfState);
    assert!(message.contains("hello"), "{message}");
}

#[test]
fn a_connection_without_hello_is_closed_as_idle() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect();
    harness.advance(seconds(4));
    assert_eq!(harness.close_code(conn), None);
    // Other requests do not replace the hello.
    harness.refusal_code(conn, start());
    harness.advance(seconds(2));
    assert_eq!(harness.goodbye_code(conn), Some(ErrorCode::Idle));
    assert_eq!(harness.close_code(conn), Some(ErrorCode::Idle));
}

#[test]
fn a_lost_connection_keeps_seat_and_name_for_the_grace_period() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    harness.disconnect(&bob);
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann* bob-"));
    harness.advance(seconds(29));
    assert_eq!(harness.members(&ann), "ann* bob-");
    assert_eq!(harness.connect_as("bob").name, "bob-2");
    harness.advance(seconds(2));
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann*"));
    assert_eq!(harness.connect_as("bob").name, "bob");
}

#[test]
fn a_client_that_comes_back_is_the_same_player_in_the_same_room() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    harness.disconnect(&bob);
    harness.advance(seconds(29));
    harness.discard_events();
    let conn = harness.connect();
    let welcome = harness.welcome(conn, "other", &bob.token);
    assert_eq!((welcome.player, welcome.name.as_str(), welcome.resumed), (bob.id, "bob", true));
    assert_eq!(welcome.room, Some(room));
    assert_ne!(welcome.resume_token, bob.token);
    let events = harness.events_on(conn);
    assert!(matches!(
        &events[0],
        Body::RoomJoined(joined) if joined.room.as_ref().map(|room| room.id) == Some(room)
    ));
    assert_eq!(events.into_iter().filter_map(ticket_in).count(), 0);
    assert_eq!(harness.updated_roster(&ann).as_deref(), Some("ann* bob"));
    // The grace period was cancelled.
    harness.advance(seconds(60));
    assert_eq!(harness.members(&ann), "ann* bob");
}

#[test]
fn a_resume_into_a_running_room_brings_a_fresh_ticket() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let room = harness.running_room_of(host, &[&ann]);
    harness.disconnect(&ann);
    let ann = harness.resume(&ann);
    let ticket = harness.ticket(&ann);
    assert_eq!(verify_ticket(&ticket, harness.now).expect("a good ticket").room.0, room);
}

#[test]
fn unknown_expired_and_malformed_tokens_start_new_sessions() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.disconnect(&ann);
    harness.advance(seconds(31));
    for token in [ann.token.clone(), vec![0; 16], vec![1; 3], vec![2; 4_000]] {
        let conn = harness.connect();
        let welcome = harness.welcome(conn, "bob", &token);
        assert!(!welcome.resumed && welcome.player != ann.id);
    }
}

#[test]
fn a_token_used_while_the_older_connection_lives_takes_the_session_over() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    let new = harness.resume(&bob);
    assert_eq!(harness.goodbye_code(bob.conn), Some(ErrorCode::TakenOver));
    assert_eq!(harness.close_code(bob.conn), Some(ErrorCode::TakenOver));
    assert_eq!(harness.members(&new), "ann* bob");
    // The others were not notified, and the end of the older connection has no effect.
    harness.advance(seconds(60));
    assert_eq!(harness.events(&ann), []);
    assert_eq!(harness.members(&ann), "ann* bob");
}

#[test]
fn the_previous_token_is_revoked_by_a_request_on_the_new_connection() {
    let mut harness = LobbyHarness::new();
    let first = harness.connect_as("ann");
    // The welcome to the second connection may have been lost with it.
    let second = harness.resume(&first);
    harness.disconnect(&second);
    let third = harness.resume(&first);
    harness.ask(third.conn, list_all_players());
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &first.token).resumed);
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &second.token).resumed);
    harness.resume(&third);
}

#[test]
fn a_client_that_quits_frees_its_name_and_loses_its_token() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    harness.lobby.handle_quit(harness.now, bob.conn);
    harness.handle_outputs();
    assert_eq!(harness.members(&ann), "ann*");
    assert_eq!(harness.connect_as("bob").name, "bob");
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &bob.token).resumed);
}

#[test]
fn idle_players_are_removed_from_the_lobby_but_not_from_rooms() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann]);
    harness.advance(seconds(598));
    assert_eq!(harness.close_code(bob.conn), None);
    harness.advance(seconds(2));
    assert_eq!(harness.goodbye_code(bob.conn), Some(ErrorCode::Idle));
    assert_eq!(harness.close_code(bob.conn), Some(ErrorCode::Idle));
    assert_eq!(harness.connect_as("bob").name, "bob");
    harness.advance(seconds(10_000));
    assert_eq!(harness.close_code(ann.conn), None);
}

#[test]
fn idle_time_restarts_with_each_request_and_return_to_the_lobby() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.running_room_of(host, &[&ann]);
    harness.advance(seconds(590));
    harness.ask(bob.conn, list_all_players());
    harness.advance(seconds(100));
    assert_eq!(harness.close_code(bob.conn), None);
    harness.advance(seconds(5_000));
    harness.lose_host(host, "killed");
    harness.advance(seconds(590));
    assert_eq!(harness.close_code(ann.conn), None);
    harness.advance(seconds(20));
    assert_eq!(harness.close_code(ann.conn), Some(ErrorCode::Idle));
}

#[test]
fn the_idle_limit_can_be_off() {
    let mut harness = LobbyHarness::with(LobbyConfig { idle: None, ..LobbyConfig::default() });
    let ann = harness.connect_as("ann");
    harness.advance(seconds(1_000_000));
    assert_eq!(harness.close_code(ann.conn), None);
}

#[test]
fn a_player_may_change_its_name_and_the_room_is_notified() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    harness.room_of(&[&ann, &bob]);
    let renamed = Body::Renamed(world::Renamed { player: ann.id, name: "Anna".to_owned() });
    assert_eq!(harness.ask(ann.conn, set_name("Anna")), renamed);
    assert_eq!(harness.events(&bob), [renamed]);
    assert_eq!(harness.events(&ann), []);
    assert_eq!(harness.members(&bob), "Anna* bob");
}

#[test]
fn a_name_equal_or_similar_to_another_players_is_refused() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let _bob = harness.connect_as("bob");
    assert_eq!(harness.refusal_code(ann.conn, set_name("BOB")), ErrorCode::NameTaken);
    assert_eq!(harness.refusal_code(ann.conn, set_name("\u{200b}")), ErrorCode::BadName);
    assert_eq!(harness.refusal_code(ann.conn, set_name("")), ErrorCode::BadName);
    assert!(matches!(harness.ask(ann.conn, set_name("ANN")), Body::Renamed(_)));
}

#[test]
fn all_players_can_be_listed_and_so_can_the_own_room() {
    let mut harness = LobbyHarness::new();
    let (ann, bob, _cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    harness.room_of(&[&ann, &bob]);
    let Body::PlayerList(list) = harness.ask(ann.conn, list_all_players()) else {
        panic!("expected a list")
    };
    assert_eq!(list.room, 0);
    assert_eq!(
        list.players.iter().map(|player| player.name.as_str()).collect::<Vec<_>>(),
        ["ann", "bob", "cid"]
    );
    assert_eq!(harness.members(&bob), "ann* bob");
}

#[test]
fn messages_of_a_closed_connection_are_ignored() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.disconnect(&ann);
    let number = harness.send(ann.conn, list_all_players());
    assert_eq!(harness.answers_to(ann.conn, number), []);
    let number = harness.send(ConnId(999), list_all_players());
    assert_eq!(harness.answers_to(ConnId(999), number), []);
    harness.lobby.handle_disconnect(harness.now, ConnId(999));
    harness.lobby.handle_malformed(harness.now, ConnId(999), ErrorCode::Malformed);
    harness.handle_outputs();
}

#[test]
fn a_drain_closes_rooms_then_connections_and_notifies_hosts() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let greeting = harness.connect();
    let room = harness.running_room_of(host, &[&ann]);
    assert!(!harness.lobby.is_drained());
    harness.lobby.drain(harness.now);
    assert!(!harness.lobby.is_drained());
    harness.handle_outputs();
    assert!(harness.lobby.is_drained());

    let events = harness.events(&ann);
    assert!(
        matches!(&events[0], Body::RoomLeft(left) if left.room == room && left.reason == 35),
        "{events:?}"
    );
    assert!(matches!(&events[1], Body::Goodbye(goodbye) if goodbye.code == 26), "{events:?}");
    assert_eq!(harness.goodbye_code(bob.conn), Some(ErrorCode::Draining));
    assert_eq!(harness.close_code(greeting), Some(ErrorCode::Draining));
    let orders = harness.take_orders();
    assert!(
        matches!(&orders[0], (_, world_to_host::Body::CloseRoom(close)) if close.room == room),
        "{orders:?}"
    );
    assert!(matches!(&orders[1], (at, world_to_host::Body::Drain(_)) if *at == host), "{orders:?}");

    let late = harness.connect();
    assert_eq!(harness.close_code(late), Some(ErrorCode::Draining));
    harness.host(2, 8);
    let orders = harness.take_orders();
    assert!(matches!(&orders[..], [(HostId(2), world_to_host::Body::Drain(_))]), "{orders:?}");
}

#[test]
fn room_requests_without_a_room_are_refused() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let own_room = ask::Body::ListPlayers(world::ListPlayers { everybody: false });
    let requests =
        [start(), request_ticket(), own_room, super::harness::leave(), super::harness::ready(true)];
    for request in requests {
        assert_eq!(harness.refusal_code(ann.conn, request), ErrorCode::NotInRoom);
    }
    assert_eq!(harness.refusal_code(ann.conn, join(77)), ErrorCode::NoSuchRoom);
    assert!(matches!(harness.ask(ann.conn, create(room("den"))), Body::RoomCreated(_)));
}

#[test]
fn a_game_is_described_with_the_seats_that_the_operator_allows() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let describe = |game: &str| ask::Body::DescribeGame(world::DescribeGame { game: game.into() });
    assert_eq!(harness.refusal_code(ann.conn, describe("chess")), ErrorCode::UnknownGame);
    let Body::GameDescription(field) = harness.ask(ann.conn, describe("field")) else {
        panic!("expected a description")
    };
    assert_eq!((&field.game[..], field.default_capacity, field.max_capacity), ("field", 64, 100));
    // The last one is the lobby's own.
    let keys: Vec<_> = field.parameters.iter().map(|parameter| &parameter.key[..]).collect();
    assert_eq!(keys, ["size", "ready"]);
    assert_eq!(field.parameters[1].label, "Players must be ready");
    assert_eq!(field.presentation, "{\"of\":\"field\"}");
    assert_eq!(field.schema, b"field");
}
