//! Sessions, requests, reconnects.

use ambit_proto::account_proof::CheckedServer;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;

use super::super::config::SignIn;
use super::super::event::LobbyEvent;
use super::super::model::ChatAudience;
use super::super::request::NewRoom;
use super::super::*;
use super::harness::*;

#[test]
fn hello_is_the_first_message_and_requests_wait_for_the_welcome() {
    let mut harness = ClientHarness::new();
    let number = harness
        .client
        .request(harness.now, LobbyRequest::ListRooms { subscribe: true })
        .expect("the queue is not full");
    assert_eq!(harness.outputs, [ClientOutput::ConnectWorld]);
    let hello = harness.connect_lobby();
    assert_eq!(
        (hello.version, hello.name.as_str(), hello.resume_token.len()),
        (ambit_proto::control::WORLD_VERSION, "ann", 0)
    );
    assert_eq!(harness.next_output(), None);
    harness.welcome(false, None);
    let request = harness.next_request();
    assert!(matches!(request, Some((sent, LobbyRequestBody::ListRooms(_))) if sent == number));
    assert_eq!(harness.client.player(), Some(PlayerId(PLAYER)));
    harness.send_lobby_message(number, LobbyMessageBody::RoomList(pb::RoomList::default()));
    assert_eq!(
        harness.events().last(),
        Some(&ViewEvent::Lobby(number, LobbyEvent::Rooms { rooms: Vec::new() }))
    );
}

#[test]
fn an_answer_carries_its_request_and_an_error_too() {
    let mut harness = ClientHarness::welcomed();
    let ready = harness
        .client
        .request(harness.now, LobbyRequest::SetReady(true))
        .expect("the queue is not full");
    let start = harness
        .client
        .request(harness.now, LobbyRequest::StartRoom)
        .expect("the queue is not full");
    harness.send_lobby_error(start, pb::ErrorCode::NotHost);
    harness.send_lobby_message(ready, LobbyMessageBody::Done(pb::Done {}));
    let refusal = LobbyEvent::Error { code: "not_host".into(), message: "no".into() };
    let answers = [ViewEvent::Lobby(start, refusal), ViewEvent::Lobby(ready, LobbyEvent::Done)];
    assert_eq!(harness.events(), answers);
}

#[test]
fn a_server_that_cannot_be_reached_is_an_error_at_once() {
    let mut harness = ClientHarness::new();
    harness.break_lobby_connection();
    assert_eq!(closed(&mut harness).0, "could_not_connect");
    assert!(harness.client.is_closed());
    assert_eq!(harness.client.next_deadline(), None);
    assert_eq!(
        harness.client.request(harness.now, LobbyRequest::LeaveRoom),
        Err(RequestError::Closed)
    );
}

#[test]
fn the_question_of_the_server_is_answered_before_the_welcome() {
    let config = ClientConfig { sign_in: SignIn::Key([7; 32]), ..ClientConfig::default() };
    let mut harness = ClientHarness::with(&config);
    assert_eq!(harness.connect_lobby().account_key, vec![7; 32]);
    let challenge = LobbyMessageBody::Challenge(pb::Challenge { nonce: vec![5; 16] });
    harness.send_lobby_message(1, challenge.clone());
    assert_eq!(harness.next_output(), Some(ClientOutput::ProveAccount(vec![5; 16])));
    harness.client.prove_account(harness.now, vec![3; 64], &CheckedServer::by_certificate([4; 32]));
    harness.collect();
    let Some((_, LobbyRequestBody::ProveAccount(proof))) = harness.next_request() else {
        panic!("a proof")
    };
    assert_eq!((proof.signature, proof.server), (vec![3; 64], vec![4; 32]));
    harness.welcome(false, None);
    harness.discard_outputs();
    // Nothing is signed for a server that asks later.
    harness.send_lobby_message(1, challenge.clone());
    assert_eq!(harness.next_output(), None);
    let mut without = ClientHarness::new();
    assert!(without.connect_lobby().account_key.is_empty());
    without.send_lobby_message(1, challenge);
    assert_eq!(without.next_output(), None);
}

#[test]
fn after_a_new_account_was_made_the_client_signs_in_with_it() {
    let (login, password) = ("ann".to_owned(), "correct horse".to_owned());
    let sign_in = SignIn::Password { login, password: password.clone(), is_new: true };
    let config = ClientConfig { sign_in, ..ClientConfig::default() };
    let mut harness = ClientHarness::with(&config);
    let asked = |login: &str, is_new| {
        let (login, password) = (login.to_owned(), password.clone());
        Some(pb::PasswordSignIn { login, password, is_new })
    };
    assert_eq!(harness.connect_lobby().password, asked("ann", true));
    let login = "ann#48213".to_owned();
    let welcome = pb::Welcome { player: 1, login, ..pb::Welcome::default() };
    harness.send_lobby_message(1, LobbyMessageBody::Welcome(welcome));
    harness.break_lobby_connection();
    harness.discard_outputs();
    harness.now = harness.client.next_deadline().expect("a pause");
    harness.client.handle_timeout(harness.now);
    harness.collect();
    assert_eq!(harness.connect_lobby().password, asked("ann#48213", false));
    harness.welcome(false, None);
    // A password that the server has refused is not used, the one that it has set is.
    let mut used = password.clone();
    for (new, is_set) in [("short", false), ("battery staple", true)] {
        let (old, new_password) = (password.clone(), new.to_owned());
        let set = LobbyRequest::SetPassword { password: old, new_password };
        let number = harness.client.request(harness.now, set).expect("the queue is not full");
        if is_set {
            harness.send_lobby_message(number, LobbyMessageBody::Done(pb::Done {}));
            used = new.to_owned();
        } else {
            harness.send_lobby_error(number, pb::ErrorCode::BadText);
        }
        harness.break_lobby_connection();
        harness.discard_outputs();
        harness.now = harness.client.next_deadline().expect("a pause");
        harness.client.handle_timeout(harness.now);
        harness.collect();
        let hello = harness.connect_lobby().password.expect("a sign-in");
        assert_eq!((hello.password, hello.is_new), (used.clone(), false));
        harness.welcome(false, None);
    }
    let token = ClientConfig { sign_in: SignIn::Token("a.b.c".to_owned()), ..config };
    let mut harness = ClientHarness::with(&token);
    assert_eq!(harness.connect_lobby().account_token, "a.b.c");
}

#[test]
fn a_refused_hello_ends_the_session_with_the_server_s_code() {
    let mut harness = ClientHarness::new();
    harness.connect_lobby();
    harness.send_lobby_error(1, pb::ErrorCode::VersionMismatch);
    assert_eq!(closed(&mut harness), ("version_mismatch".to_owned(), "no".to_owned()));
    assert_eq!(harness.next_output(), Some(ClientOutput::CloseWorld));
}

#[test]
fn a_server_that_refuses_the_session_is_passed_over_for_the_others() {
    let mut harness = ClientHarness::new();
    let servers = ["a:1", "b:1", "c:1"].map(str::to_owned);
    harness.client.set_servers(servers.into());
    let to_dial = |harness: &ClientHarness| {
        let servers = harness.client.configured_to_dial();
        servers.map(str::to_owned).collect::<Vec<_>>()
    };
    harness.connect_lobby();
    harness.client.note_dialled_address("a:1");
    harness.send_lobby_error(1, pb::ErrorCode::VersionMismatch);
    assert_eq!(harness.next_output(), Some(ClientOutput::CloseWorld));
    assert_eq!(harness.next_output(), Some(ClientOutput::ConnectWorld));
    assert_eq!(to_dial(&harness), ["b:1", "c:1"]);
    harness.client.handle_world_connected(harness.now);
    harness.client.note_dialled_address("c:1");
    let draining = |message: &str| CloseReason::Final {
        code: "draining".to_owned(),
        message: message.to_owned(),
    };
    harness.client.handle_world_closed(harness.now, draining("not c"));
    assert_eq!(to_dial(&harness), ["b:1"]);
    assert!(!harness.client.is_closed());
    // The last one refuses during the handshake; all are named.
    harness.client.handle_world_closed(harness.now, draining("not b:1"));
    assert_eq!(
        closed(&mut harness),
        ("draining".to_owned(), "a:1: no; c:1: not c; not b:1".to_owned())
    );
}

#[test]
fn a_client_whose_hello_came_late_says_which_side_was_slow() {
    for (waited, expected) in [
        (100, "no hello within 5 s: this client said hello 0.1 s ago: this machine is short of"),
        (5_200, "no hello within 5 s: this client said hello 5.2 s ago: the server is short of"),
    ] {
        let mut harness = ClientHarness::new();
        harness.connect_lobby();
        harness.advance(ms(waited));
        let reason = CloseReason::by_peer(pb::ErrorCode::Idle as u64, b"no hello within 5 s");
        harness.client.handle_world_closed(harness.now, reason);
        let (code, message) = closed(&mut harness);
        assert_eq!(code, "idle");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_server_that_is_full_ends_a_first_attempt_with_its_code() {
    let mut harness = ClientHarness::new();
    let ending = CloseReason::Busy { code: "too_many_connections".into(), message: "full".into() };
    harness.client.handle_world_closed(harness.now, ending);
    assert_eq!(closed(&mut harness).0, "too_many_connections");
}

#[test]
fn connecting_to_a_server_that_never_answers_times_out() {
    let mut harness = ClientHarness::new();
    harness.connect_lobby();
    harness.advance(ms(60_000));
    assert_eq!(closed(&mut harness).0, "no_answer");
}

#[test]
fn a_broken_connection_is_redialled_with_the_token() {
    let mut harness = ClientHarness::welcomed();
    harness.break_lobby_connection();
    assert!(matches!(harness.events()[..], [ViewEvent::Lobby(_, LobbyEvent::Interrupted { .. })]));
    harness.advance(ms(200));
    let hello = harness.connect_lobby();
    assert_eq!(hello.resume_token, [9; 16]);
    harness.welcome(true, None);
    assert!(harness.client.is_connected());
    let events = harness.events();
    assert_eq!(events[0], ViewEvent::Lobby(0, LobbyEvent::Connecting { attempt: 2 }));
    assert!(
        matches!(&events[1], ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) if welcome.resumed)
    );
}

#[test]
fn attempts_continue_with_growing_pauses_until_the_time_limit() {
    let mut harness = ClientHarness::welcomed();
    harness.break_lobby_connection();
    let began = harness.now;
    let mut attempts = 0;
    while !harness.client.is_closed() {
        harness.advance(ms(50));
        if harness.next_output() == Some(ClientOutput::ConnectWorld) {
            attempts += 1;
            harness.break_lobby_connection();
        }
    }
    let seconds = harness.now.since(began).as_secs();
    let limit = ClientConfig::default().reconnect_for.as_secs();
    assert!((limit - 10..=limit).contains(&seconds), "{seconds} s");
    assert!((10..=40).contains(&attempts), "{attempts} attempts");
    assert_eq!(closed(&mut harness).0, "connection_lost");
}

#[test]
fn in_a_cluster_the_next_server_is_dialled() {
    let mut harness = ClientHarness::welcomed();
    assert_eq!((harness.client.server(), harness.client.probe_every()), (None, None));
    harness.client.note_dialled_address("a:1");
    let server = |address: &str| pb::Server {
        address: address.to_owned(),
        certificate_sha256: vec![7; 32],
        // Of which one is none.
        web_certificates_sha256: vec![vec![8; 32], vec![9]],
    };
    let bad = pb::Server { certificate_sha256: vec![7], ..server("x:1") };
    let servers = pb::Servers { servers: vec![bad, server("a:1"), server("b:1")], probe_ms: 400 };
    harness.send_lobby_message(0, LobbyMessageBody::Servers(servers));
    assert_eq!(harness.client.probe_every(), Some(ms(400)));
    let dialled = |harness: &mut ClientHarness| {
        harness.advance(ms(5_000));
        assert_eq!(harness.next_output(), Some(ClientOutput::ConnectWorld));
        let address = harness.client.server().expect("one of the cluster").address.clone();
        harness.client.note_dialled_address(&address);
        address
    };
    harness.break_lobby_connection();
    assert_eq!(harness.client.probe_every(), None, "no other server is known");
    assert_eq!(dialled(&mut harness), "b:1");
    let beside: Vec<String> =
        harness.client.servers_to_dial().into_iter().map(|server| server.address).collect();
    assert_eq!(beside, ["b:1", "a:1"]);
    let server = harness.client.server().expect("one of the cluster");
    assert_eq!(server.web_certificates_sha256, [[8; 32]]);
    harness.break_lobby_connection();
    assert_eq!(dialled(&mut harness), "a:1");
    let busy =
        CloseReason::Busy { code: "try_again".to_owned(), message: "no leader yet".to_owned() };
    harness.client.handle_world_closed(harness.now, busy);
    assert_eq!(
        dialled(&mut harness),
        "a:1",
        "a server that answers is tried again before another one"
    );
}

#[test]
fn a_goodbye_is_final() {
    let mut harness = ClientHarness::welcomed();
    let goodbye =
        pb::Goodbye { code: pb::ErrorCode::TakenOver.into(), message: "elsewhere".into() };
    harness.send_lobby_message(0, LobbyMessageBody::Goodbye(goodbye));
    harness.break_lobby_connection();
    harness.advance(ms(60_000));
    assert_eq!(harness.outputs, [ClientOutput::CloseWorld]);
    assert_eq!(closed(&mut harness), ("taken_over".to_owned(), "elsewhere".to_owned()));
}

#[test]
fn after_a_break_creation_is_repeated_with_its_key_and_chat_is_not() {
    let mut harness = ClientHarness::welcomed();
    let room = NewRoom { name: "den".into(), key: [4; 16], ..NewRoom::default() };
    let create = harness
        .client
        .request(harness.now, LobbyRequest::CreateRoom(room))
        .expect("the queue is not full");
    let say = harness
        .client
        .request(harness.now, LobbyRequest::Say { to: ChatAudience::Lobby, text: "hi".into() })
        .expect("the queue is not full");
    harness.break_lobby_connection();
    let error = harness.events().into_iter().find_map(|event| match event {
        ViewEvent::Lobby(request, LobbyEvent::Error { code, .. }) => Some((request, code)),
        _ => None,
    });
    assert_eq!(error, Some((say, "connection_lost".to_owned())));
    harness.outputs.clear();
    harness.advance(ms(200));
    harness.connect_lobby();
    harness.welcome(true, None);
    match harness.next_request() {
        Some((number, LobbyRequestBody::CreateRoom(create_room))) => {
            assert_eq!((number, create_room.key), (create, vec![4; 16]));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(harness.next_output(), None);
}

#[test]
fn a_subscription_is_renewed_after_a_reconnect() {
    let mut harness = ClientHarness::welcomed();
    let list = harness
        .client
        .request(harness.now, LobbyRequest::ListRooms { subscribe: true })
        .expect("the queue is not full");
    harness.send_lobby_message(list, LobbyMessageBody::RoomList(pb::RoomList::default()));
    harness.break_lobby_connection();
    harness.outputs.clear();
    harness.advance(ms(200));
    harness.connect_lobby();
    harness.welcome(true, None);
    let Some((number, LobbyRequestBody::ListRooms(pb::ListRooms { subscribe: true }))) =
        harness.next_request()
    else {
        panic!("expected a list request")
    };
    harness.send_lobby_message(number, LobbyMessageBody::RoomList(pb::RoomList::default()));
    assert_eq!(
        harness.events().last(),
        Some(&ViewEvent::Lobby(0, LobbyEvent::Rooms { rooms: Vec::new() }))
    );
}

#[test]
fn a_lost_seat_is_reported_with_its_reason() {
    // Whether the session was resumed, how long the connection was broken, and how the message
    // begins.
    for (resumed, broken_ms, expected) in [
        (true, 200, "the server gave the seat away"),
        (false, 200, "the server was restarted"),
        (
            false,
            31_000,
            "the session expired while the connection was broken, or the server was restarted",
        ),
    ] {
        let mut harness = ClientHarness::welcomed();
        harness.join_room();
        harness.break_lobby_connection();
        harness.advance(ms(broken_ms));
        harness.connect_lobby();
        harness.welcome(resumed, None);
        let left = harness.events().into_iter().find_map(|event| match event {
            ViewEvent::Lobby(_, LobbyEvent::Left { room, code, message, .. }) => {
                Some((room, code, message))
            }
            _ => None,
        });
        let (room, code, message) = left.expect("the client left the room");
        assert_eq!((room, &*code), (RoomId(ROOM), "session_expired"));
        assert!(message.starts_with(expected) && message.contains("join"), "{message}");
        assert_eq!(harness.client.room(), None);
    }
}

#[test]
fn a_session_that_is_resumed_in_another_room_has_left_the_first_one() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.break_lobby_connection();
    harness.advance(ms(200));
    harness.connect_lobby();
    harness.events();
    harness.welcome(true, Some(ROOM + 1));
    let left = harness.events().into_iter().find_map(|event| match event {
        ViewEvent::Lobby(_, LobbyEvent::Left { room, code, message, .. }) => {
            Some((room, code, message))
        }
        _ => None,
    });
    let message = format!("you are in room {} now", ROOM + 1);
    assert_eq!(left, Some((RoomId(ROOM), "left".to_owned(), message)));
    assert_eq!(harness.client.room(), Some(RoomId(ROOM + 1)));
}

#[test]
fn pending_requests_are_bounded() {
    let mut harness = ClientHarness::welcomed();
    let many = (0..100).map(|_| harness.client.request(harness.now, LobbyRequest::SetReady(true)));
    assert_eq!(
        many.filter(|number| *number == Err(RequestError::TooMany)).count(),
        100 - pending_requests::MAX_PENDING
    );
}

#[test]
fn a_request_that_is_too_long_is_refused_by_the_client() {
    let mut harness = ClientHarness::welcomed();
    let say = LobbyRequest::Say { to: ChatAudience::Lobby, text: "x".repeat(20_000) };
    assert_eq!(harness.client.request(harness.now, say), Err(RequestError::TooLong));
    assert_eq!(harness.next_output(), None);
}

#[test]
fn an_answer_of_an_unknown_kind_ends_its_request() {
    let mut harness = ClientHarness::welcomed();
    let list = harness
        .client
        .request(harness.now, LobbyRequest::ListPlayers { everybody: true })
        .expect("the queue is not full");
    for request in [0, list] {
        harness.client.handle_world_message(harness.now, WorldToClient { request, body: None });
    }
    match &harness.events()[..] {
        [ViewEvent::Lobby(request, LobbyEvent::Error { .. })] => assert_eq!(*request, list),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_notification_instead_of_an_answer_ends_the_request() {
    for body in [
        LobbyMessageBody::Chat(pb::Chat::default()),
        LobbyMessageBody::RoomChange(pb::RoomChange::default()),
        LobbyMessageBody::PlayerChange(pb::PlayerChange::default()),
        LobbyMessageBody::Servers(pb::Servers::default()),
        LobbyMessageBody::Ticket(ticket(ROOM)),
        LobbyMessageBody::Welcome(pb::Welcome::default()),
    ] {
        let mut harness = ClientHarness::welcomed();
        let say = LobbyRequest::Say { to: ChatAudience::Lobby, text: "hi".into() };
        let number = harness.client.request(harness.now, say).expect("the queue is not full");
        // Without a request it is an ordinary notification.
        harness.send_lobby_message(0, body.clone());
        let notified = harness.events();
        assert!(notified.iter().all(|event| matches!(event, ViewEvent::Lobby(0, _))));
        harness.send_lobby_message(number, body.clone());
        let mut events = harness.events();
        match events.pop() {
            Some(ViewEvent::Lobby(request, LobbyEvent::Error { code, .. })) => {
                assert_eq!((request, &*code), (number, "bad_message"));
            }
            other => panic!("{body:?}: {other:?}"),
        }
        assert_eq!(events, notified, "{body:?}");
    }
}

#[test]
fn quitting_leaves_the_room_before_the_connection() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.events();
    harness.client.quit(harness.now);
    harness.advance(ms(0));
    let outputs: Vec<_> = std::iter::from_fn(|| harness.client.poll_output()).collect();
    let ClientOutput::World(message) = &outputs[0] else { panic!("{outputs:?}") };
    assert!(matches!(message.body, Some(LobbyRequestBody::LeaveRoom(_))));
    assert_eq!(outputs[1], ClientOutput::CloseWorld);
    assert_eq!(closed(&mut harness).0, "quit");
}

#[test]
fn a_view_that_stops_reading_ends_the_client() {
    let mut harness =
        ClientHarness::with(&ClientConfig { max_events: 100, ..ClientConfig::default() });
    harness.connect_lobby();
    harness.welcome(false, None);
    for _ in 0..1_000 {
        harness.send_lobby_message(0, LobbyMessageBody::Chat(pb::Chat::default()));
    }
    assert!(harness.client.is_closed());
    assert_eq!(closed(&mut harness).0, "events_unread");
}

/// Code and message of the end, which must be the last event.
fn closed(harness: &mut ClientHarness) -> (String, String) {
    match harness.events().pop() {
        Some(ViewEvent::Lobby(_, LobbyEvent::Closed { code, message })) => (code, message),
        other => panic!("expected an end: {other:?}"),
    }
}
