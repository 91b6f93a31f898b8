//! Limits, and peers that violate the protocol.

use std::net::{IpAddr, Ipv4Addr};

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};
use prost::Message;

use super::harness::{LobbyHarness, create, everybody, read_error, room, seconds};
use crate::lobby::{ConnId, LobbyConfig};

#[test]
fn requests_over_the_rate_are_refused_without_effect_on_others() {
    let mut scene = LobbyHarness::new();
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    // The hello was one of the burst of 40.
    for _ in 0..39 {
        assert!(matches!(
            scene.ask(ann.conn, everybody()),
            Body::PlayerList(_)
        ));
    }
    assert_eq!(scene.refusal(ann.conn, everybody()), ErrorCode::RateLimited);
    assert!(matches!(
        scene.ask(bob.conn, everybody()),
        Body::PlayerList(_)
    ));
    scene.pass(seconds(1));
    for _ in 0..20 {
        assert!(matches!(
            scene.ask(ann.conn, everybody()),
            Body::PlayerList(_)
        ));
    }
    assert_eq!(scene.refusal(ann.conn, everybody()), ErrorCode::RateLimited);
}

#[test]
fn two_hundred_refusals_in_a_row_close_the_connection() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    for _ in 0..39 + 199 {
        scene.ask(ann.conn, everybody());
    }
    assert_eq!(scene.closed(ann.conn), None);
    assert_eq!(scene.refusal(ann.conn, everybody()), ErrorCode::RateLimited);
    assert_eq!(scene.goodbye(ann.conn), Some(ErrorCode::RateLimited));
    assert_eq!(scene.closed(ann.conn), Some(ErrorCode::RateLimited));
    // The session has its grace period like any other.
    scene.resume(&ann);
}

#[test]
fn the_number_of_connections_is_limited() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        max_connections: 3,
        ..LobbyConfig::default()
    });
    let ann = scene.enter("ann");
    scene.enter("bob");
    scene.connect();
    let late = scene.connect();
    assert_eq!(scene.closed(late), Some(ErrorCode::TooManyConnections));
    assert_eq!(
        scene.events_on(late),
        [],
        "nothing was sent on a connection that was not taken"
    );
    scene.lose(&ann);
    let next = scene.connect();
    assert_eq!(scene.closed(next), None);
}

#[test]
fn connections_of_one_address_are_limited() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        max_per_address: 2,
        ..LobbyConfig::default()
    });
    let address = |last| IpAddr::from(Ipv4Addr::new(10, 0, 0, last));
    let first = scene.connect_from(address(1));
    scene.connect_from(address(1));
    let third = scene.connect_from(address(1));
    assert_eq!(scene.closed(third), Some(ErrorCode::TooManyFromAddress));
    let other = scene.connect_from(address(2));
    assert_eq!(scene.closed(other), None);
    scene.lobby.handle_disconnect(scene.now, first);
    let next = scene.connect_from(address(1));
    assert_eq!(scene.closed(next), None);
}

#[test]
fn a_connection_counts_until_it_is_really_closed() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        max_connections: 1,
        ..LobbyConfig::default()
    });
    let address = IpAddr::from(Ipv4Addr::LOCALHOST);
    scene.lobby.handle_connect(scene.now, ConnId(1), address);
    scene
        .lobby
        .handle_malformed(scene.now, ConnId(1), ErrorCode::Malformed);
    while scene.lobby.poll_output().is_some() {}
    scene.lobby.handle_connect(scene.now, ConnId(2), address);
    assert!(matches!(
        scene.lobby.poll_output(),
        Some(crate::lobby::LobbyAction::Close {
            conn: ConnId(2),
            ..
        })
    ));
    scene.lobby.handle_disconnect(scene.now, ConnId(1));
    scene.lobby.handle_connect(scene.now, ConnId(3), address);
    assert_eq!(scene.lobby.poll_output(), None);
}

#[test]
fn players_who_are_away_do_not_keep_others_out() {
    let mut scene = LobbyHarness::with(LobbyConfig {
        max_connections: 2,
        ..LobbyConfig::default()
    });
    let mut gone = Vec::new();
    for number in 0..10 {
        let client = scene.enter(&format!("p{number}"));
        scene.lose(&client);
        gone.push(client);
        assert!(scene.lobby.stats().players <= 4);
    }
    // The players who left last are still known.
    scene.resume(&gone[9]);
    let conn = scene.connect();
    assert!(!scene.welcome(conn, "", &gone[0].token).resumed);
}

#[test]
fn an_unknown_request_is_named_in_its_answer() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    // Request 5, field 99 with 2 bytes in it.
    scene.send_raw(ann.conn, &[0x08, 0x05, 0x9a, 0x06, 0x02, 0xab, 0xcd]);
    let answers = scene.answers_to(ann.conn, 5);
    let [Body::Error(error)] = &answers[..] else {
        panic!("{answers:?}")
    };
    let (code, message) = read_error(error);
    assert_eq!(code, ErrorCode::UnknownMessage);
    assert!(message.contains("field 99"), "{message}");

    scene.lobby.handle_request(
        scene.now,
        ann.conn,
        world::ClientToWorld {
            request: 6,
            body: None,
        },
    );
    scene.carry();
    assert!(matches!(&scene.answers_to(ann.conn, 6)[..], [Body::Error(error)] if error.code == 2));
    assert_eq!(scene.closed(ann.conn), None);
}

#[test]
fn an_unknown_field_of_a_known_request_is_skipped() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let mut frame = world::ClientToWorld {
        request: 5,
        body: Some(everybody()),
    }
    .encode_to_vec();
    frame.extend([0x9a, 0x06, 0x02, 0xab, 0xcd]);
    scene.send_raw(ann.conn, &frame);
    assert!(matches!(
        &scene.answers_to(ann.conn, 5)[..],
        [Body::PlayerList(_)]
    ));
}

#[test]
fn a_request_with_number_0_is_malformed() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let message = world::ClientToWorld {
        request: 0,
        body: Some(create(room("den"))),
    };
    scene.lobby.handle_request(scene.now, ann.conn, message);
    scene.carry();
    let news = scene.events(&ann);
    assert!(
        matches!(&news[..], [Body::Error(error)] if error.code == 3),
        "{news:?}"
    );
    assert_eq!(scene.listed(&ann), []);
}

#[test]
fn an_invalid_message_closes_the_connection_and_keeps_the_session() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    scene.send_raw(ann.conn, &[0xff; 20]);
    assert_eq!(scene.goodbye(ann.conn), Some(ErrorCode::Malformed));
    assert_eq!(scene.closed(ann.conn), Some(ErrorCode::Malformed));
    let ann = scene.resume(&ann);
    scene
        .lobby
        .handle_malformed(scene.now, ann.conn, ErrorCode::MessageTooLarge);
    scene.carry();
    assert_eq!(scene.goodbye(ann.conn), Some(ErrorCode::MessageTooLarge));
    assert_eq!(scene.closed(ann.conn), Some(ErrorCode::MessageTooLarge));
}

#[test]
fn nothing_that_follows_a_goodbye_is_answered() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    scene
        .lobby
        .handle_malformed(scene.now, ann.conn, ErrorCode::Malformed);
    while scene.lobby.poll_output().is_some() {}
    let message = world::ClientToWorld {
        request: 7,
        body: Some(everybody()),
    };
    scene.lobby.handle_request(scene.now, ann.conn, message);
    scene
        .lobby
        .handle_malformed(scene.now, ann.conn, ErrorCode::Malformed);
    assert_eq!(scene.lobby.poll_output(), None);
}

#[test]
fn an_invalid_channel_or_key_is_answered_as_malformed() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    let say = world::Say {
        channel: 9,
        text: "hello".into(),
        ..world::Say::default()
    };
    assert_eq!(
        scene.refusal(ann.conn, ask::Body::Say(say)),
        ErrorCode::Malformed
    );
    let key = world::CreateRoom {
        key: vec![1; 15],
        ..room("den")
    };
    assert_eq!(scene.refusal(ann.conn, create(key)), ErrorCode::Malformed);
}

#[test]
fn refusals_and_successes_are_counted() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    scene.running_room_of(host, &[&ann]);
    scene.refusal(ann.conn, create(room("second")));
    scene.lose(&bob);
    let closed = scene.connect();
    scene.send_raw(closed, &[0xff]);
    let stats = scene.lobby.stats();
    assert_eq!(
        (
            stats.connections,
            stats.connections_total,
            stats.players,
            stats.players_away
        ),
        (1, 3, 2, 1)
    );
    assert_eq!(
        (
            stats.rooms,
            stats.rooms_running,
            stats.rooms_made,
            stats.rooms_started
        ),
        (1, 1, 1, 1)
    );
    assert_eq!((stats.hosts, stats.tickets), (1, 1));
    assert_eq!(
        stats.refused.into_iter().collect::<Vec<_>>(),
        [(ErrorCode::AlreadyInRoom, 1)]
    );
    assert_eq!(
        stats.closed.into_iter().collect::<Vec<_>>(),
        [(ErrorCode::Malformed, 1)]
    );
}
