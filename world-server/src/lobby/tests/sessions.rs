//! Hello, names, resume, takeover, idle players, drain.

use ambit_host::protocol::messages::world_to_host;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{
    LobbyHarness, create, everybody, hello, join, request_ticket, room, seconds, set_name, show,
    start, ticket_in,
};
use crate::lobby::{ConnId, HostId, LobbyConfig};

#[test]
fn a_hello_is_welcomed_with_a_name_a_token_and_the_games() {
    let mut scene = LobbyHarness::new();
    let conn = scene.connect();
    let welcome = scene.welcome(conn, " Zoe\u{308} ", &[]);
    assert_eq!(
        (welcome.version, welcome.player, welcome.name.as_str()),
        (2, 1, "Zoë")
    );
    assert_eq!(
        (welcome.resumed, welcome.room, welcome.grace_ms),
        (false, None, 30_000)
    );
    assert_eq!(welcome.resume_token.len(), 16);
    let games: Vec<_> = welcome
        .games
        .iter()
        .map(|game| (game.name.as_str(), game.min_players))
        .collect();
    assert_eq!(games, [("field", 1), ("duel", 2)]);
}

#[test]
fn a_client_of_another_version_gets_both_versions_and_is_closed() {
    let mut scene = LobbyHarness::new();
    let conn = scene.connect();
    let other = ask::Body::Hello(world::Hello {
        version: 1,
        ..world::Hello::default()
    });
    let (code, message) = scene.refused(conn, other);
    assert_eq!(code, ErrorCode::VersionMismatch);
    assert!(
        message.contains("version 1") && message.contains("version 2"),
        "{message}"
    );
    assert_eq!(scene.goodbye(conn), Some(ErrorCode::VersionMismatch));
    assert_eq!(scene.closed(conn), Some(ErrorCode::VersionMismatch));
}

#[test]
fn a_bad_name_is_refused_and_another_hello_may_follow() {
    let mut scene = LobbyHarness::new();
    let conn = scene.connect();
    for name in ["a\u{202e}b", "a\nb", "   ", &"x".repeat(25)] {
        assert_eq!(
            scene.refusal(conn, hello(name, &[])),
            ErrorCode::BadName,
            "{name:?}"
        );
    }
    assert_eq!(scene.hello(conn, "ann", &[]).name, "ann");
}

#[test]
fn a_taken_name_gets_a_number_and_no_name_a_guests() {
    let mut scene = LobbyHarness::new();
    let names = ["ann", "ANN", "Ａnn", "", ""].map(|name| scene.enter(name).name);
    assert_eq!(names, ["ann", "ANN-2", "Ａnn-3", "guest-4", "guest-5"]);
}

#[test]
fn anything_before_hello_and_a_second_hello_are_out_of_state() {
    let mut scene = LobbyHarness::new();
    let conn = scene.connect();
    let (code, message) = scene.refused(conn, start());
    assert_eq!(code, ErrorCode::OutOfState);
    assert!(message.contains("start_room"), "{message}");
    // The state comes before the content.
    assert_eq!(scene.refusal(conn, set_name("\n")), ErrorCode::OutOfState);
    scene.hello(conn, "ann", &[]);
    let (code, message) = scene.refused(conn, hello("ann", &[]));
    assert_eq!(code, ErrorCode::OutOfState);
    assert!(message.contains("hello"), "{message}");
}

#[test]
fn a_connection_without_hello_is_closed_as_idle() {
    let mut scene = LobbyHarness::new();
    let conn = scene.connect();
    scene.pass(seconds(4));
    assert_eq!(scene.closed(conn), None);
    // Other requests do not replace the hello.
    scene.refusal(conn, start());
    scene.pass(seconds(2));
    assert_eq!(scene.goodbye(conn), Some(ErrorCode::Idle));
    assert_eq!(scene.closed(conn), Some(ErrorCode::Idle));
}

#[test]
fn a_lost_connection_keeps_seat_and_name_for_the_grace_period() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    scene.lose(&bob);
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann* bob-"));
    scene.pass(seconds(29));
    assert_eq!(scene.members(&ann), "ann* bob-");
    assert_eq!(scene.enter("bob").name, "bob-2");
    scene.pass(seconds(2));
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann*"));
    assert_eq!(scene.enter("bob").name, "bob");
}

#[test]
fn a_client_that_comes_back_is_the_same_player_in_the_same_room() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    scene.lose(&bob);
    scene.pass(seconds(29));
    scene.forget_news();
    let conn = scene.connect();
    let welcome = scene.welcome(conn, "other", &bob.token);
    assert_eq!(
        (welcome.player, welcome.name.as_str(), welcome.resumed),
        (bob.id, "bob", true)
    );
    assert_eq!(welcome.room, Some(room));
    assert_ne!(welcome.resume_token, bob.token);
    let news = scene.events_on(conn);
    assert!(matches!(
        &news[0],
        Body::RoomJoined(joined) if joined.room.as_ref().map(|room| room.id) == Some(room)
    ));
    assert_eq!(news.into_iter().filter_map(ticket_in).count(), 0);
    assert_eq!(scene.roster_news(&ann).as_deref(), Some("ann* bob"));
    // The grace period that had begun is over.
    scene.pass(seconds(60));
    assert_eq!(scene.members(&ann), "ann* bob");
}

#[test]
fn a_resume_into_a_running_room_brings_a_fresh_ticket() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let ann = scene.enter("ann");
    let room = scene.running_room_of(host, &[&ann]);
    scene.lose(&ann);
    let ann = scene.resume(&ann);
    let ticket = scene.ticket(&ann);
    assert_eq!(
        show(&ticket, scene.now).expect("a good ticket").room.0,
        room
    );
}

#[test]
fn an_unknown_an_expired_and_a_misshapen_token_start_new_sessions() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    scene.lose(&ann);
    scene.pass(seconds(31));
    for token in [ann.token.clone(), vec![0; 16], vec![1; 3], vec![2; 4_000]] {
        let conn = scene.connect();
        let welcome = scene.welcome(conn, "bob", &token);
        assert!(!welcome.resumed && welcome.player != ann.id);
    }
}

#[test]
fn a_token_used_while_the_older_connection_lives_takes_the_session_over() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    let new = scene.resume(&bob);
    assert_eq!(scene.goodbye(bob.conn), Some(ErrorCode::TakenOver));
    assert_eq!(scene.closed(bob.conn), Some(ErrorCode::TakenOver));
    assert_eq!(scene.members(&new), "ann* bob");
    // The others were not notified, and the end of the older connection ends nothing.
    scene.pass(seconds(60));
    assert_eq!(scene.events(&ann), []);
    assert_eq!(scene.members(&ann), "ann* bob");
}

#[test]
fn the_previous_token_is_revoked_by_a_request_on_the_new_connection() {
    let mut scene = LobbyHarness::new();
    let first = scene.enter("ann");
    // The welcome to the second connection may have been lost with it.
    let second = scene.resume(&first);
    scene.lose(&second);
    let third = scene.resume(&first);
    scene.ask(third.conn, everybody());
    let conn = scene.connect();
    assert!(!scene.welcome(conn, "", &first.token).resumed);
    let conn = scene.connect();
    assert!(!scene.welcome(conn, "", &second.token).resumed);
    scene.resume(&third);
}

#[test]
fn a_client_that_quits_leaves_nothing_behind() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    scene.lobby.handle_quit(scene.now, bob.conn);
    scene.carry();
    assert_eq!(scene.members(&ann), "ann*");
    assert_eq!(scene.enter("bob").name, "bob");
    let conn = scene.connect();
    assert!(!scene.welcome(conn, "", &bob.token).resumed);
}

#[test]
fn idle_players_are_removed_from_the_lobby_but_not_from_rooms() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann]);
    scene.pass(seconds(598));
    assert_eq!(scene.closed(bob.conn), None);
    scene.pass(seconds(2));
    assert_eq!(scene.goodbye(bob.conn), Some(ErrorCode::Idle));
    assert_eq!(scene.closed(bob.conn), Some(ErrorCode::Idle));
    assert_eq!(scene.enter("bob").name, "bob");
    scene.pass(seconds(10_000));
    assert_eq!(scene.closed(ann.conn), None);
}

#[test]
fn idle_time_restarts_with_each_request_and_return_to_the_lobby() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.running_room_of(host, &[&ann]);
    scene.pass(seconds(590));
    scene.ask(bob.conn, everybody());
    scene.pass(seconds(100));
    assert_eq!(scene.closed(bob.conn), None);
    scene.pass(seconds(5_000));
    scene.lose_host(host, "killed");
    scene.pass(seconds(590));
    assert_eq!(scene.closed(ann.conn), None);
    scene.pass(seconds(20));
    assert_eq!(scene.closed(ann.conn), Some(ErrorCode::Idle));
}

#[test]
fn the_idle_limit_can_be_off() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        idle: None,
        ..LobbyConfig::default()
    });
    let ann = scene.enter("ann");
    scene.pass(seconds(1_000_000));
    assert_eq!(scene.closed(ann.conn), None);
}

#[test]
fn a_player_may_change_its_name_and_the_room_is_notified() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.room_of(&[&ann, &bob]);
    let renamed = Body::Renamed(world::Renamed {
        player: ann.id,
        name: "Anna".to_owned(),
    });
    assert_eq!(scene.ask(ann.conn, set_name("Anna")), renamed);
    assert_eq!(scene.events(&bob), [renamed]);
    assert_eq!(scene.events(&ann), []);
    assert_eq!(scene.members(&bob), "Anna* bob");
}

#[test]
fn a_name_equal_or_similar_to_another_players_is_refused() {
    let mut scene = LobbyHarness::new();
    let (ann, _bob) = (scene.enter("ann"), scene.enter("bob"));
    assert_eq!(
        scene.refusal(ann.conn, set_name("BOB")),
        ErrorCode::NameTaken
    );
    assert_eq!(
        scene.refusal(ann.conn, set_name("\u{200b}")),
        ErrorCode::BadName
    );
    assert_eq!(scene.refusal(ann.conn, set_name("")), ErrorCode::BadName);
    assert!(matches!(
        scene.ask(ann.conn, set_name("ANN")),
        Body::Renamed(_)
    ));
}

#[test]
fn all_players_can_be_listed_and_so_can_the_own_room() {
    let mut scene = LobbyHarness::new();
    let (ann, bob, _cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    scene.room_of(&[&ann, &bob]);
    let Body::PlayerList(list) = scene.ask(ann.conn, everybody()) else {
        panic!("no list")
    };
    assert_eq!(list.room, 0);
    assert_eq!(
        list.players
            .iter()
            .map(|player| player.name.as_str())
            .collect::<Vec<_>>(),
        ["ann", "bob", "cid"]
    );
    assert_eq!(scene.members(&bob), "ann* bob");
}

#[test]
fn messages_of_a_closed_connection_are_ignored() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    scene.lose(&ann);
    let number = scene.send(ann.conn, everybody());
    assert_eq!(scene.answers_to(ann.conn, number), []);
    let number = scene.send(ConnId(999), everybody());
    assert_eq!(scene.answers_to(ConnId(999), number), []);
    scene.lobby.handle_disconnect(scene.now, ConnId(999));
    scene
        .lobby
        .handle_malformed(scene.now, ConnId(999), ErrorCode::Malformed);
    scene.carry();
}

#[test]
fn a_drain_closes_rooms_then_connections_and_notifies_hosts() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let greeting = scene.connect();
    let room = scene.running_room_of(host, &[&ann]);
    assert!(!scene.lobby.is_drained());
    scene.lobby.drain(scene.now);
    assert!(!scene.lobby.is_drained());
    scene.carry();
    assert!(scene.lobby.is_drained());

    let news = scene.events(&ann);
    assert!(
        matches!(&news[0], Body::RoomLeft(left) if left.room == room && left.reason == 35),
        "{news:?}"
    );
    assert!(
        matches!(&news[1], Body::Goodbye(goodbye) if goodbye.code == 26),
        "{news:?}"
    );
    assert_eq!(scene.goodbye(bob.conn), Some(ErrorCode::Draining));
    assert_eq!(scene.closed(greeting), Some(ErrorCode::Draining));
    let orders = scene.orders();
    assert!(
        matches!(&orders[0], (_, world_to_host::Body::CloseRoom(close)) if close.room == room),
        "{orders:?}"
    );
    assert!(
        matches!(&orders[1], (at, world_to_host::Body::Drain(_)) if *at == host),
        "{orders:?}"
    );

    let late = scene.connect();
    assert_eq!(scene.closed(late), Some(ErrorCode::Draining));
    scene.host(2, 8);
    let orders = scene.orders();
    assert!(
        matches!(&orders[..], [(HostId(2), world_to_host::Body::Drain(_))]),
        "{orders:?}"
    );
}

#[test]
fn room_requests_without_a_room_are_refused() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let own_room = ask::Body::ListPlayers(world::ListPlayers { everybody: false });
    let requests = [
        start(),
        request_ticket(),
        own_room,
        super::harness::leave(),
        super::harness::ready(true),
    ];
    for request in requests {
        assert_eq!(scene.refusal(ann.conn, request), ErrorCode::NotInRoom);
    }
    assert_eq!(scene.refusal(ann.conn, join(77)), ErrorCode::NoSuchRoom);
    assert!(matches!(
        scene.ask(ann.conn, create(room("den"))),
        Body::RoomCreated(_)
    ));
}
