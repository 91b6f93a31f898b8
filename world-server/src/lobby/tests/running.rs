//! Start, tickets, and the players of running rooms.

use ambit_host::protocol::messages::{self, host_to_world, world_to_host};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, world_to_client::Body};

use super::harness::{
    Client, LobbyHarness, join, kick, leave, read_error, request_ticket, room, seconds, show,
    start, ticket_in,
};
use crate::lobby::HostId;

#[test]
fn a_start_opens_the_room_on_a_host_and_gives_each_member_a_ticket() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    let number = scene.send(ann.conn, start());
    assert_eq!(
        scene.answers_to(ann.conn, number),
        [],
        "the answer waits for the host"
    );
    let opens = scene.opens();
    assert_eq!((opens.len(), opens[0].0, opens[0].1.room), (1, host, room));
    assert_eq!(
        (opens[0].1.game.as_str(), opens[0].1.capacity),
        ("field", 64)
    );
    assert_ne!(opens[0].1.seed, 0);

    scene.opened(host, room, None);
    assert_eq!(
        scene.answers_to(ann.conn, number),
        [Body::Done(world::Done {})]
    );
    for client in [&ann, &bob] {
        let ticket = scene.ticket(client);
        assert_eq!(
            (ticket.room, ticket.address.as_str()),
            (room, "127.0.0.1:8001")
        );
        assert_eq!(ticket.certificate_sha256, vec![1; 32]);
        let signed = show(&ticket, scene.now).expect("a good ticket");
        assert_eq!(
            (signed.player.0, signed.name.as_str()),
            (client.id, client.name.as_str())
        );
        assert!(show(&ticket, scene.now + seconds(30)).is_ok());
        assert!(show(&ticket, scene.now + seconds(32)).is_err());
    }
    assert!(scene.listed(&ann)[0].running);
}

#[test]
fn only_the_host_starts_and_only_once() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    assert_eq!(scene.refusal(bob.conn, start()), ErrorCode::NotHost);
    scene.send(ann.conn, start());
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::AlreadyRunning);
    scene.opened(host, room, None);
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::AlreadyRunning);
}

#[test]
fn a_game_starts_with_enough_connected_players() {
    let mut scene = LobbyHarness::new();
    scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let den = duel(&mut scene, &ann);
    let (code, message) = scene.refused(ann.conn, start());
    assert_eq!(code, ErrorCode::NotEnoughPlayers);
    assert!(
        message.contains("takes 2 players, 1 are there"),
        "{message}"
    );
    scene.join(&bob, den);
    scene.lose(&bob);
    assert_eq!(
        scene.refusal(ann.conn, start()),
        ErrorCode::NotEnoughPlayers
    );
    scene.resume(&bob);
    scene.send(ann.conn, start());
    assert_eq!(scene.opens().len(), 1);
}

#[test]
fn without_a_host_there_is_no_start() {
    let mut scene = LobbyHarness::new();
    let ann = scene.enter("ann");
    scene.room_of(&[&ann]);
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::NoHostAvailable);
    let host = scene.host(1, 0);
    assert_eq!(scene.refusal(ann.conn, start()), ErrorCode::NoHostAvailable);
    scene.lose_host(host, "killed");
    scene.host(2, 1);
    scene.send(ann.conn, start());
    assert_eq!(scene.opens().len(), 1);
}

#[test]
fn a_room_that_its_host_refuses_waits_again_and_the_start_fails() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let ann = scene.enter("ann");
    let room = scene.room_of(&[&ann]);
    let number = scene.send(ann.conn, start());
    scene.opened(
        host,
        room,
        Some(codes::error(
            ErrorCode::BadParameter,
            "size=0x0 is no size\u{7}",
        )),
    );
    let answers = scene.answers_to(ann.conn, number);
    let [Body::Error(error)] = &answers[..] else {
        panic!("{answers:?}")
    };
    let (code, message) = read_error(error);
    assert_eq!(code, ErrorCode::BadParameter);
    assert!(message.ends_with("size=0x0 is no size"), "{message}");
    assert!(!scene.listed(&ann)[0].running);
    assert_eq!(
        scene.refusal(ann.conn, request_ticket()),
        ErrorCode::RoomNotRunning
    );
    // The second attempt succeeds.
    let number = scene.send(ann.conn, start());
    scene.opened(host, room, None);
    assert_eq!(
        scene.answers_to(ann.conn, number),
        [Body::Done(world::Done {})]
    );
}

#[test]
fn a_room_is_closed_if_its_host_does_not_answer() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    let number = scene.send(ann.conn, start());
    scene.orders();
    scene.pass(seconds(11));
    assert!(
        matches!(&scene.answers_to(ann.conn, number)[..], [Body::Error(error)] if error.code == 38)
    );
    assert_eq!(scene.left(&ann).0, ErrorCode::ServerError);
    assert_eq!(scene.left(&bob).0, ErrorCode::ServerError);
    assert!(matches!(
        &scene.orders()[..],
        [(_, world_to_host::Body::CloseRoom(close))] if close.room == room
    ));
    // Its late message has no effect.
    scene.opened(host, room, None);
    assert_eq!(scene.events(&ann), []);
}

#[test]
fn a_disconnected_starter_gets_no_answer_and_its_room_runs() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann, &bob]);
    scene.send(ann.conn, start());
    scene.lose(&ann);
    scene.opened(host, room, None);
    assert_eq!(scene.events(&ann), []);
    scene.ticket(&bob);
    let ann = scene.resume(&ann);
    scene.ticket(&ann);
}

#[test]
fn a_room_that_empties_while_it_opens_is_closed_and_its_start_is_answered() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let ann = scene.enter("ann");
    let room = scene.room_of(&[&ann]);
    let number = scene.send(ann.conn, start());
    scene.orders();
    scene.ask(ann.conn, leave());
    assert!(
        matches!(&scene.answers_to(ann.conn, number)[..], [Body::Error(error)] if error.code == 35)
    );
    let orders = scene.orders();
    assert!(
        matches!(&orders[..], [
        (_, world_to_host::Body::RemovePlayer(remove)),
        (_, world_to_host::Body::CloseRoom(close)),
    ] if remove.player == ann.id && close.room == room),
        "{orders:?}"
    );
    scene.opened(host, room, None);
    assert_eq!(scene.listed(&ann), []);
}

#[test]
fn a_running_room_is_joined_only_where_the_game_allows_it() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob, cid) = (scene.enter("ann"), scene.enter("bob"), scene.enter("cid"));
    let field = scene.running_room_of(host, &[&ann]);
    scene.join(&cid, field);
    scene.ticket(&cid);
    scene.ask(cid.conn, leave());

    let closed = duel(&mut scene, &bob);
    scene.join(&cid, closed);
    scene.send(bob.conn, start());
    let dan = scene.enter("dan");
    assert_eq!(
        scene.refusal(dan.conn, join(closed)),
        ErrorCode::AlreadyRunning
    );
    scene.opened(host, closed, None);
    assert_eq!(
        scene.refusal(dan.conn, join(closed)),
        ErrorCode::AlreadyRunning
    );
    // A member does not join anew.
    scene.forget_news();
    scene.join(&cid, closed);
    scene.ticket(&cid);
}

#[test]
fn a_player_who_joins_while_the_room_opens_gets_a_ticket_too() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.room_of(&[&ann]);
    scene.send(ann.conn, start());
    scene.join(&bob, room);
    assert_eq!(
        scene.events(&bob).into_iter().filter_map(ticket_in).count(),
        0
    );
    scene.opened(host, room, None);
    scene.ticket(&bob);
}

#[test]
fn a_member_may_ask_for_another_ticket_and_no_two_are_the_same() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let ann = scene.enter("ann");
    scene.running_room_of(host, &[&ann]);
    let tickets = [(); 3].map(|()| match scene.ask(ann.conn, request_ticket()) {
        Body::Ticket(ticket) => ticket.ticket,
        other => panic!("no ticket but {other:?}"),
    });
    assert!(tickets[0] != tickets[1] && tickets[1] != tickets[2] && tickets[0] != tickets[2]);
}

#[test]
fn a_ticket_comes_after_the_answer_to_the_join() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.running_room_of(host, &[&ann]);
    let message = world::ClientToWorld {
        request: 9,
        body: Some(join(room)),
    };
    scene.lobby.handle_request(scene.now, bob.conn, message);
    let outputs: Vec<_> = std::iter::from_fn(|| scene.lobby.poll_output()).collect();
    let kinds: Vec<_> = outputs
        .iter()
        .filter_map(|output| match output {
            crate::lobby::LobbyAction::Send { conn, message } if *conn == bob.conn => Some(message),
            _ => None,
        })
        .collect();
    assert!(
        matches!(kinds[0].body, Some(Body::RoomJoined(_))),
        "{outputs:?}"
    );
    assert!(
        matches!(kinds[1].body, Some(Body::Ticket(_))),
        "{outputs:?}"
    );
}

#[test]
fn the_game_server_is_notified_of_leaves_and_their_reasons() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let clients = ["ann", "bob", "cid", "dan"].map(|name| scene.enter(name));
    let [ann, bob, cid, dan] = &clients;
    let room = scene.running_room_of(host, &[ann, bob, cid, dan]);
    scene.ask(bob.conn, leave());
    scene.done(ann.conn, kick(cid.id));
    scene.lose(dan);
    scene.pass(seconds(31));
    let told: Vec<_> = scene
        .orders()
        .into_iter()
        .map(|(to, body)| match body {
            world_to_host::Body::RemovePlayer(remove) if to == host && remove.room == room => {
                (remove.player, remove.reason())
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [
        (bob.id, ErrorCode::ErrorUnspecified),
        (cid.id, ErrorCode::Kicked),
        (dan.id, ErrorCode::Idle),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_running_room_without_players_is_closed_on_its_host() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 1);
    let ann = scene.enter("ann");
    let room = scene.running_room_of(host, &[&ann]);
    scene.ask(ann.conn, leave());
    let orders = scene.orders();
    assert!(
        matches!(&orders[1], (_, world_to_host::Body::CloseRoom(close)) if close.room == room),
        "{orders:?}"
    );
    // The host has capacity again.
    scene.running_room_of(host, &[&ann]);
}

#[test]
fn a_player_who_left_the_game_has_left_the_room() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.running_room_of(host, &[&ann, &bob]);
    player_out(&mut scene, host, room, &bob, ErrorCode::Idle);
    assert_eq!(scene.left(&bob).0, ErrorCode::Idle);
    assert_eq!(scene.members(&ann), "ann*");
    // The host knows that bob has left, but not that bob's tickets are revoked.
    let orders = scene.orders();
    let is_removal = |order: &world_to_host::Body| {
        matches!(
            order,
            world_to_host::Body::RemovePlayer(remove)
                if remove.player == bob.id && remove.void_tickets_until == 2
        )
    };
    assert!(
        matches!(&orders[..], [(_, order)] if is_removal(order)),
        "{orders:?}"
    );
    player_out(&mut scene, host, room, &ann, ErrorCode::ErrorUnspecified);
    assert_eq!(scene.left(&ann).0, ErrorCode::ErrorUnspecified);
    assert_eq!(scene.listed(&ann), []);
}

#[test]
fn a_late_message_about_a_player_who_came_back_is_ignored() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.running_room_of(host, &[&ann, &bob]);
    scene.ask(bob.conn, leave());
    scene.join(&bob, room);
    player_out(&mut scene, host, room, &bob, ErrorCode::ErrorUnspecified);
    assert_eq!(scene.members(&bob), "ann* bob");
    scene.pass(seconds(3));
    player_out(&mut scene, host, room, &bob, ErrorCode::ErrorUnspecified);
    assert_eq!(scene.members(&ann), "ann*");
}

#[test]
fn a_room_that_ends_returns_its_players_to_the_lobby_with_the_reason() {
    let mut scene = LobbyHarness::new();
    let host = scene.host(1, 8);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let room = scene.running_room_of(host, &[&ann, &bob]);
    let closed = messages::RoomClosed {
        room,
        reason: ErrorCode::RoomCrashed.into(),
        message: "attempt to add".into(),
    };
    scene.host_says(host, host_to_world::Body::RoomClosed(closed));
    for client in [&ann, &bob] {
        assert_eq!(
            scene.left(client),
            (ErrorCode::RoomCrashed, "attempt to add".into())
        );
    }
    assert_eq!(scene.orders(), [], "the host knows");
    assert_eq!(scene.listed(&ann), []);
    scene.room_of(&[&ann, &bob]);
}

fn duel(scene: &mut LobbyHarness, host: &Client) -> u64 {
    scene
        .create(
            host,
            world::CreateRoom {
                game: "duel".into(),
                ..room("den")
            },
        )
        .id
}

fn player_out(
    scene: &mut LobbyHarness,
    host: HostId,
    room: u64,
    client: &Client,
    reason: ErrorCode,
) {
    let out = messages::PlayerOut {
        room,
        player: client.id,
        reason: reason.into(),
    };
    scene.host_says(host, host_to_world::Body::PlayerOut(out));
}
