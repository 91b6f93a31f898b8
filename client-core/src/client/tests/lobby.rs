//! Sessions, requests, reconnects.

use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as Ask;
use ambit_proto::control::world::world_to_client::Body as Told;

use super::super::event::{ErrorSubject, Failure};
use super::super::model::ChatAudience;
use super::super::request::NewRoom;
use super::super::*;
use super::scene::*;

#[test]
fn hello_is_the_first_message_and_requests_wait_for_the_welcome() {
    let mut scene = Scene::new();
    let number = scene
        .client
        .request(scene.now, LobbyRequest::ListRooms { subscribe: true })
        .expect("room");
    assert_eq!(scene.outputs, [ClientOutput::ConnectWorld]);
    let hello = scene.connect_world();
    assert_eq!(
        (hello.version, hello.name.as_str(), hello.resume_token.len()),
        (ambit_proto::control::WORLD_VERSION, "ann", 0)
    );
    assert_eq!(scene.take(), None);
    scene.welcome(false, None);
    assert!(matches!(scene.ask(), Some((asked, Ask::ListRooms(_))) if asked == number));
    assert_eq!(scene.client.player(), Some(PlayerId(PLAYER)));
    scene.tell(number, Told::RoomList(pb::RoomList::default()));
    assert_eq!(
        scene.events().last(),
        Some(&ViewEvent::Rooms {
            request: number,
            rooms: Vec::new()
        })
    );
}

#[test]
fn an_answer_carries_its_request_and_an_error_too() {
    let mut scene = Scene::welcomed();
    let ready = scene
        .client
        .request(scene.now, LobbyRequest::SetReady(true))
        .expect("room");
    let start = scene
        .client
        .request(scene.now, LobbyRequest::StartRoom)
        .expect("room");
    scene.tell_error(start, pb::ErrorCode::NotHost);
    scene.tell(ready, Told::Done(pb::Done {}));
    let failure = Failure {
        subject: ErrorSubject::Request(start),
        code: "not_host".into(),
        message: "no".into(),
    };
    assert_eq!(
        scene.events(),
        [
            ViewEvent::Error(failure),
            ViewEvent::Done { request: ready }
        ]
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_at_once() {
    let mut scene = Scene::new();
    scene.lose_world();
    assert_eq!(closed(&mut scene).0, "could_not_connect");
    assert!(scene.client.is_closed());
    assert_eq!(scene.client.next_deadline(), None);
    assert_eq!(
        scene.client.request(scene.now, LobbyRequest::LeaveRoom),
        Err(RequestError::Closed)
    );
}

#[test]
fn a_refused_hello_ends_the_session_with_the_server_s_code() {
    let mut scene = Scene::new();
    scene.connect_world();
    scene.tell_error(1, pb::ErrorCode::VersionMismatch);
    assert_eq!(
        closed(&mut scene),
        ("version_mismatch".to_owned(), "no".to_owned())
    );
    assert_eq!(scene.take(), Some(ClientOutput::CloseWorld));
}

#[test]
fn a_server_that_is_full_ends_a_first_attempt_with_its_code() {
    let mut scene = Scene::new();
    let ending = CloseReason::Busy {
        code: "too_many_connections".into(),
        message: "full".into(),
    };
    scene.client.handle_world_closed(scene.now, ending);
    assert_eq!(closed(&mut scene).0, "too_many_connections");
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let mut scene = Scene::new();
    scene.connect_world();
    scene.pass(ms(60_000));
    assert_eq!(closed(&mut scene).0, "no_answer");
}

#[test]
fn a_broken_connection_is_redialled_with_the_token() {
    let mut scene = Scene::welcomed();
    scene.lose_world();
    assert!(matches!(
        scene.events()[..],
        [ViewEvent::Connection(ConnectionStatus::Broken { .. })]
    ));
    scene.pass(ms(200));
    let hello = scene.connect_world();
    assert_eq!(hello.resume_token, [9; 16]);
    scene.welcome(true, None);
    assert!(scene.client.is_connected());
    let events = scene.events();
    assert_eq!(
        events[0],
        ViewEvent::Connection(ConnectionStatus::Connecting { attempt: 2 })
    );
    assert!(matches!(&events[1], ViewEvent::Welcome(welcome) if welcome.resumed));
}

#[test]
fn attempts_go_on_with_growing_pauses_until_the_time_is_over() {
    let mut scene = Scene::welcomed();
    scene.lose_world();
    let began = scene.now;
    let mut calls = 0;
    while !scene.client.is_closed() {
        scene.pass(ms(50));
        if scene.take() == Some(ClientOutput::ConnectWorld) {
            calls += 1;
            scene.lose_world();
        }
    }
    let seconds = scene.now.since(began).as_secs();
    assert!((50..=60).contains(&seconds), "{seconds} s");
    assert!((10..=40).contains(&calls), "{calls} calls");
    assert_eq!(closed(&mut scene).0, "connection_lost");
}

#[test]
fn in_a_cluster_the_next_server_is_dialled() {
    let mut scene = Scene::welcomed();
    assert_eq!(
        (scene.client.server(), scene.client.probe_every()),
        (None, None)
    );
    scene.client.note_dialled_address("a:1");
    let server = |address: &str| pb::Server {
        address: address.to_owned(),
        certificate_sha256: vec![7; 32],
    };
    let bad = pb::Server {
        certificate_sha256: vec![7],
        ..server("x:1")
    };
    let servers = pb::Servers {
        servers: vec![bad, server("a:1"), server("b:1")],
        probe_ms: 400,
    };
    scene.tell(0, Told::Servers(servers));
    assert_eq!(scene.client.probe_every(), Some(ms(400)));
    let called = |scene: &mut Scene| {
        scene.pass(ms(5_000));
        assert_eq!(scene.take(), Some(ClientOutput::ConnectWorld));
        let address = scene
            .client
            .server()
            .expect("one of the cluster")
            .address
            .clone();
        scene.client.note_dialled_address(&address);
        address
    };
    scene.lose_world();
    assert_eq!(scene.client.probe_every(), None, "there is nobody to ask");
    assert_eq!(called(&mut scene), "b:1");
    scene.lose_world();
    assert_eq!(called(&mut scene), "a:1");
    let busy = CloseReason::Busy {
        code: "try_again".to_owned(),
        message: "no leader yet".to_owned(),
    };
    scene.client.handle_world_closed(scene.now, busy);
    assert_eq!(called(&mut scene), "a:1", "it lives, and says so");
}

#[test]
fn a_goodbye_is_final() {
    let mut scene = Scene::welcomed();
    let goodbye = pb::Goodbye {
        code: pb::ErrorCode::TakenOver.into(),
        message: "elsewhere".into(),
    };
    scene.tell(0, Told::Goodbye(goodbye));
    scene.lose_world();
    scene.pass(ms(60_000));
    assert_eq!(scene.outputs, [ClientOutput::CloseWorld]);
    assert_eq!(
        closed(&mut scene),
        ("taken_over".to_owned(), "elsewhere".to_owned())
    );
}

#[test]
fn after_a_break_creation_is_repeated_with_its_key_and_chat_is_not() {
    let mut scene = Scene::welcomed();
    let room = NewRoom {
        name: "den".into(),
        key: [4; 16],
        ..NewRoom::default()
    };
    let create = scene
        .client
        .request(scene.now, LobbyRequest::CreateRoom(room))
        .expect("room");
    let say = scene
        .client
        .request(
            scene.now,
            LobbyRequest::Say {
                to: ChatAudience::Lobby,
                text: "hi".into(),
            },
        )
        .expect("room");
    scene.lose_world();
    let error = scene.events().into_iter().find_map(|event| match event {
        ViewEvent::Error(failure) => Some((failure.subject, failure.code)),
        _ => None,
    });
    assert_eq!(
        error,
        Some((ErrorSubject::Request(say), "connection_lost".to_owned()))
    );
    scene.outputs.clear();
    scene.pass(ms(200));
    scene.connect_world();
    scene.welcome(true, None);
    match scene.ask() {
        Some((number, Ask::CreateRoom(create_room))) => {
            assert_eq!((number, create_room.key), (create, vec![4; 16]));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(scene.take(), None);
}

#[test]
fn a_subscription_is_renewed_after_a_reconnect() {
    let mut scene = Scene::welcomed();
    let list = scene
        .client
        .request(scene.now, LobbyRequest::ListRooms { subscribe: true })
        .expect("room");
    scene.tell(list, Told::RoomList(pb::RoomList::default()));
    scene.lose_world();
    scene.outputs.clear();
    scene.pass(ms(200));
    scene.connect_world();
    scene.welcome(true, None);
    let Some((number, Ask::ListRooms(pb::ListRooms { subscribe: true }))) = scene.ask() else {
        panic!("no list")
    };
    scene.tell(number, Told::RoomList(pb::RoomList::default()));
    assert_eq!(
        scene.events().last(),
        Some(&ViewEvent::Rooms {
            request: 0,
            rooms: Vec::new()
        })
    );
}

#[test]
fn a_lost_seat_is_reported_with_its_reason() {
    // Whether the session was resumed, how long the connection was broken, and the message.
    for (resumed, broken_ms, sent) in [
        (true, 200, "the server gave the seat away"),
        (false, 200, "the server was restarted"),
        (
            false,
            31_000,
            "the session expired while the connection was broken, or the server was restarted",
        ),
    ] {
        let mut scene = Scene::welcomed();
        scene.join_room();
        scene.lose_world();
        scene.pass(ms(broken_ms));
        scene.connect_world();
        scene.welcome(resumed, None);
        let left = scene.events().into_iter().find_map(|event| match event {
            ViewEvent::Left {
                room,
                code,
                message,
                ..
            } => Some((room, code, message)),
            _ => None,
        });
        let (room, code, message) = left.expect("an event was emitted");
        assert_eq!((room, &*code), (RoomId(ROOM), "session_expired"));
        assert!(
            message.starts_with(sent) && message.contains("join"),
            "{message}"
        );
        assert_eq!(scene.client.room(), None);
    }
}

#[test]
fn pending_requests_are_bounded() {
    let mut scene = Scene::welcomed();
    let many = (0..100).map(|_| {
        scene
            .client
            .request(scene.now, LobbyRequest::SetReady(true))
    });
    assert_eq!(
        many.filter(|number| *number == Err(RequestError::TooMany))
            .count(),
        100 - pending_requests::MAX_PENDING
    );
}

#[test]
fn a_request_that_is_too_long_is_refused_by_the_client() {
    let mut scene = Scene::welcomed();
    let say = LobbyRequest::Say {
        to: ChatAudience::Lobby,
        text: "x".repeat(20_000),
    };
    assert_eq!(
        scene.client.request(scene.now, say),
        Err(RequestError::TooLong)
    );
    assert_eq!(scene.take(), None);
}

#[test]
fn an_answer_of_an_unknown_kind_ends_its_request() {
    let mut scene = Scene::welcomed();
    let list = scene
        .client
        .request(scene.now, LobbyRequest::ListPlayers { everybody: true })
        .expect("room");
    for request in [0, list] {
        scene.client.handle_world_message(
            scene.now,
            WorldToClient {
                request,
                body: None,
            },
        );
    }
    match &scene.events()[..] {
        [ViewEvent::Error(failure)] => assert_eq!(failure.subject, ErrorSubject::Request(list)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn quitting_leaves_the_room_before_the_connection() {
    let mut scene = Scene::welcomed();
    scene.join_room();
    scene.events();
    scene.client.quit(scene.now);
    scene.pass(ms(0));
    let outputs: Vec<_> = std::iter::from_fn(|| scene.client.poll_output()).collect();
    let ClientOutput::World(message) = &outputs[0] else {
        panic!("{outputs:?}")
    };
    assert!(matches!(message.body, Some(Ask::LeaveRoom(_))));
    assert_eq!(outputs[1], ClientOutput::CloseWorld);
    assert_eq!(closed(&mut scene).0, "quit");
}

#[test]
fn a_view_that_stops_reading_ends_the_client() {
    let mut scene = Scene::with(&ClientConfig {
        max_events: 100,
        ..ClientConfig::default()
    });
    scene.connect_world();
    scene.welcome(false, None);
    for _ in 0..1_000 {
        scene.tell(0, Told::Chat(pb::Chat::default()));
    }
    assert!(scene.client.is_closed());
    assert_eq!(closed(&mut scene).0, "events_unread");
}

/// Code and message of the end, which must be the last event.
fn closed(scene: &mut Scene) -> (String, String) {
    match scene.events().pop() {
        Some(ViewEvent::Connection(ConnectionStatus::Closed { code, message })) => (code, message),
        other => panic!("not closed but {other:?}"),
    }
}
