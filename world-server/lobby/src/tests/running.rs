//! Start, tickets, and the players of running rooms.

use ambit_host_protocol::generated::{self as messages, host_to_world, world_to_host};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{
    Client, LobbyHarness, join, kick, leave, parameters, read_error, request_ticket, room, seconds,
    start, ticket_in, verify_ticket,
};
use crate::{HostId, LobbyConfig, ServerSecret};

#[test]
fn a_start_opens_the_room_on_a_host_and_gives_each_member_a_ticket() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    let number = harness.send(ann.conn, start());
    assert_eq!(harness.answers_to(ann.conn, number), [], "the answer waits for the host");
    let opens = harness.take_open_orders();
    assert_eq!((opens.len(), opens[0].0, opens[0].1.room), (1, host, room));
    assert_eq!((opens[0].1.game.as_str(), opens[0].1.capacity), ("field", 64));
    assert_ne!(opens[0].1.seed, 0);

    harness.opened(host, room, None);
    assert_eq!(harness.answers_to(ann.conn, number), [Body::Done(world::Done {})]);
    for client in [&ann, &bob] {
        let ticket = harness.ticket(client);
        assert_eq!((ticket.room, ticket.address.as_str()), (room, "127.0.0.1:8001"));
        assert_eq!(ticket.certificate_sha256, vec![1; 32]);
        let signed = verify_ticket(&ticket, harness.now).expect("a good ticket");
        assert_eq!((signed.player.0, signed.name.as_str()), (client.id, client.name.as_str()));
        assert!(verify_ticket(&ticket, harness.now + seconds(30)).is_ok());
        assert!(verify_ticket(&ticket, harness.now + seconds(32)).is_err());
    }
    assert!(harness.listed(&ann)[0].running);
}

#[test]
fn nobody_is_shown_a_room_s_seed() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let made = harness.create(&ann, seeded_room("7"));
    let shown = parameters(&[("size", "20x20")]);
    assert_eq!(made.parameters, shown);
    assert_eq!(harness.listed(&bob)[0].parameters, shown);
    let joined = harness.join(&bob, made.id);
    assert_eq!(joined.room.expect("a room").parameters, shown);
    harness.expect_done(bob.conn, ask::Body::SetReady(world::SetReady { ready: true }));
    harness.send(ann.conn, start());
    harness.opened(host, made.id, None);
    for client in [&ann, &bob] {
        assert_eq!(harness.listed(client)[0].parameters, shown);
        for event in harness.events(client) {
            assert!(!format!("{event:?}").contains("seed"), "{event:?}");
        }
    }
}

#[test]
fn a_named_seed_gives_the_same_room_again_here_and_another_one_elsewhere() {
    let seeds = |secret: Option<[u8; 32]>| {
        let mut harness = LobbyHarness::with(LobbyConfig {
            server_secret: secret.map(ServerSecret::new),
            ..LobbyConfig::default()
        });
        harness.host(1, 8);
        let mut seed = |named: &str| {
            let ann = harness.connect_as("ann");
            harness.create(&ann, seeded_room(named));
            harness.send(ann.conn, start());
            let [(_, order)] = &harness.take_open_orders()[..] else {
                panic!("one room is opened")
            };
            // Hosts take the parameter if there is one.
            assert_eq!(order.parameters["seed"], order.seed.to_string());
            order.seed
        };
        [seed("7"), seed(" 7"), seed("8")]
    };
    let here = seeds(Some([1; 32]));
    assert_eq!(here[0], here[1]);
    assert_ne!(here[0], here[2]);
    assert!(here[0] != 7 && here[2] != 8, "{here:?}");
    let elsewhere = seeds(Some([2; 32]));
    assert_ne!(here[0], elsewhere[0]);
    assert_eq!(seeds(None), [7, 7, 8], "simulations have no secret");
}

fn seeded_room(seed: &str) -> world::CreateRoom {
    world::CreateRoom {
        parameters: parameters(&[("size", "20x20"), ("seed", seed)]),
        ..room("den")
    }
}

#[test]
fn only_the_host_starts_and_only_once() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    assert_eq!(harness.refusal_code(bob.conn, start()), ErrorCode::NotHost);
    harness.send(ann.conn, start());
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::AlreadyRunning);
    harness.opened(host, room, None);
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::AlreadyRunning);
}

#[test]
fn a_game_starts_with_enough_connected_players() {
    let mut harness = LobbyHarness::new();
    harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = duel(&mut harness, &ann);
    let (code, message) = harness.expect_refusal(ann.conn, start());
    assert_eq!(code, ErrorCode::NotEnoughPlayers);
    assert!(message.contains("takes 2 players, 1 are there"), "{message}");
    harness.join(&bob, den);
    harness.disconnect(&bob);
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::NotEnoughPlayers);
    harness.resume(&bob);
    harness.send(ann.conn, start());
    assert_eq!(harness.take_open_orders().len(), 1);
}

#[test]
fn without_a_free_host_a_start_is_refused() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.room_of(&[&ann]);
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::NoHostAvailable);
    let host = harness.host(1, 0);
    assert_eq!(harness.refusal_code(ann.conn, start()), ErrorCode::NoHostAvailable);
    harness.lose_host(host, "killed");
    harness.host(2, 1);
    harness.send(ann.conn, start());
    assert_eq!(harness.take_open_orders().len(), 1);
}

#[test]
fn a_room_that_its_host_refuses_waits_again_and_the_start_fails() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let room = harness.room_of(&[&ann]);
    let number = harness.send(ann.conn, start());
    harness.opened(
        host,
        room,
        Some(codes::error(ErrorCode::BadParameter, "size=0x0 is no size\u{7}")),
    );
    let answers = harness.answers_to(ann.conn, number);
    let [Body::Error(error)] = &answers[..] else { panic!("{answers:?}") };
    let (code, message) = read_error(error);
    assert_eq!(code, ErrorCode::BadParameter);
    assert!(message.ends_with("size=0x0 is no size"), "{message}");
    assert!(!harness.listed(&ann)[0].running);
    assert_eq!(harness.refusal_code(ann.conn, request_ticket()), ErrorCode::RoomNotRunning);
    // The second attempt succeeds.
    let number = harness.send(ann.conn, start());
    harness.opened(host, room, None);
    assert_eq!(harness.answers_to(ann.conn, number), [Body::Done(world::Done {})]);
}

#[test]
fn a_room_is_closed_if_its_host_does_not_answer() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    let number = harness.send(ann.conn, start());
    harness.take_orders();
    harness.advance(seconds(11));
    let answers = harness.answers_to(ann.conn, number);
    assert!(matches!(&answers[..], [Body::Error(error)] if error.code == 38));
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::ServerError);
    assert_eq!(harness.leave_reason(&bob).0, ErrorCode::ServerError);
    assert!(matches!(
        &harness.take_orders()[..],
        [(_, world_to_host::Body::CloseRoom(close))] if close.room == room
    ));
    // Its late message has no effect.
    harness.opened(host, room, None);
    assert_eq!(harness.events(&ann), []);
}

#[test]
fn a_disconnected_starter_gets_no_answer_and_its_room_runs() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann, &bob]);
    harness.send(ann.conn, start());
    harness.disconnect(&ann);
    harness.opened(host, room, None);
    assert_eq!(harness.events(&ann), []);
    harness.ticket(&bob);
    let ann = harness.resume(&ann);
    harness.ticket(&ann);
}

#[test]
fn a_room_that_empties_while_it_opens_is_closed_and_its_start_is_answered() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let room = harness.room_of(&[&ann]);
    let number = harness.send(ann.conn, start());
    harness.take_orders();
    harness.ask(ann.conn, leave());
    let answers = harness.answers_to(ann.conn, number);
    assert!(matches!(&answers[..], [Body::Error(error)] if error.code == 35));
    let orders = harness.take_orders();
    assert!(
        matches!(&orders[..], [
        (_, world_to_host::Body::RemovePlayer(remove)),
        (_, world_to_host::Body::CloseRoom(close)),
    ] if remove.player == ann.id && close.room == room),
        "{orders:?}"
    );
    harness.opened(host, room, None);
    assert_eq!(harness.listed(&ann), []);
}

#[test]
fn a_running_room_is_joined_only_where_the_game_allows_it() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let (ann, bob, cid) =
        (harness.connect_as("ann"), harness.connect_as("bob"), harness.connect_as("cid"));
    let field = harness.running_room_of(host, &[&ann]);
    harness.join(&cid, field);
    harness.ticket(&cid);
    harness.ask(cid.conn, leave());

    let closed = duel(&mut harness, &bob);
    harness.join(&cid, closed);
    harness.send(bob.conn, start());
    let dan = harness.connect_as("dan");
    assert_eq!(harness.refusal_code(dan.conn, join(closed)), ErrorCode::AlreadyRunning);
    harness.opened(host, closed, None);
    assert_eq!(harness.refusal_code(dan.conn, join(closed)), ErrorCode::AlreadyRunning);
    // A member may repeat its join and gets a new ticket.
    harness.discard_events();
    harness.join(&cid, closed);
    harness.ticket(&cid);
}

#[test]
fn a_player_who_joins_while_the_room_opens_gets_a_ticket_too() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.room_of(&[&ann]);
    harness.send(ann.conn, start());
    harness.join(&bob, room);
    assert_eq!(harness.events(&bob).into_iter().filter_map(ticket_in).count(), 0);
    harness.opened(host, room, None);
    harness.ticket(&bob);
}

#[test]
fn a_member_may_ask_for_another_ticket_and_no_two_are_the_same() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    harness.running_room_of(host, &[&ann]);
    let tickets = [(); 3].map(|()| match harness.ask(ann.conn, request_ticket()) {
        Body::Ticket(ticket) => ticket.ticket,
        other => panic!("expected a ticket: {other:?}"),
    });
    assert!(tickets[0] != tickets[1] && tickets[1] != tickets[2] && tickets[0] != tickets[2]);
}

#[test]
fn a_ticket_comes_after_the_answer_to_the_join() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.running_room_of(host, &[&ann]);
    let message = world::ClientToWorld { request: 9, body: Some(join(room)) };
    harness.lobby.handle_request(harness.now, bob.conn, message);
    let outputs: Vec<_> = std::iter::from_fn(|| harness.lobby.poll_output()).collect();
    let kinds: Vec<_> = outputs
        .iter()
        .filter_map(|output| match output {
            crate::LobbyAction::Send { conn, message } if *conn == bob.conn => Some(message),
            _ => None,
        })
        .collect();
    assert!(matches!(kinds[0].body, Some(Body::RoomJoined(_))), "{outputs:?}");
    assert!(matches!(kinds[1].body, Some(Body::Ticket(_))), "{outputs:?}");
}

#[test]
fn the_game_server_is_notified_of_leaves_and_their_reasons() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let clients = ["ann", "bob", "cid", "dan", "eve"].map(|name| harness.connect_as(name));
    let [ann, bob, cid, dan, eve] = &clients;
    let room = harness.running_room_of(host, &[ann, bob, cid, dan, eve]);
    harness.ask(bob.conn, leave());
    // Closes the connection on purpose, as a program does that ends.
    harness.lobby.handle_quit(harness.now, eve.conn);
    harness.expect_done(ann.conn, kick(cid.id));
    harness.disconnect(dan);
    harness.advance(seconds(31));
    let sent: Vec<_> = harness
        .take_orders()
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
        (eve.id, ErrorCode::ErrorUnspecified),
        (cid.id, ErrorCode::Kicked),
        (dan.id, ErrorCode::Idle),
    ];
    assert_eq!(sent, expected);
}

#[test]
fn a_running_room_without_players_is_closed_on_its_host() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 1);
    let ann = harness.connect_as("ann");
    let room = harness.running_room_of(host, &[&ann]);
    harness.ask(ann.conn, leave());
    let orders = harness.take_orders();
    assert!(
        matches!(&orders[1], (_, world_to_host::Body::CloseRoom(close)) if close.room == room),
        "{orders:?}"
    );
    // The host has capacity again.
    harness.running_room_of(host, &[&ann]);
}

#[test]
fn a_player_who_left_the_game_has_left_the_room() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.running_room_of(host, &[&ann, &bob]);
    player_out(&mut harness, host, room, &bob, ErrorCode::Idle);
    assert_eq!(harness.leave_reason(&bob).0, ErrorCode::Idle);
    assert_eq!(harness.members(&ann), "ann*");
    // The host knows that bob has left, but not that bob's tickets are revoked.
    let orders = harness.take_orders();
    let is_removal = |order: &world_to_host::Body| {
        matches!(
            order,
            world_to_host::Body::RemovePlayer(remove)
                if remove.player == bob.id && remove.void_tickets_until == 2
        )
    };
    assert!(matches!(&orders[..], [(_, order)] if is_removal(order)), "{orders:?}");
    player_out(&mut harness, host, room, &ann, ErrorCode::ErrorUnspecified);
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::ErrorUnspecified);
    assert_eq!(harness.listed(&ann), []);
}

#[test]
fn a_late_message_about_a_player_who_came_back_is_ignored() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.running_room_of(host, &[&ann, &bob]);
    harness.ask(bob.conn, leave());
    harness.join(&bob, room);
    player_out(&mut harness, host, room, &bob, ErrorCode::ErrorUnspecified);
    assert_eq!(harness.members(&bob), "ann* bob");
    harness.advance(seconds(3));
    player_out(&mut harness, host, room, &bob, ErrorCode::ErrorUnspecified);
    assert_eq!(harness.members(&ann), "ann*");
}

#[test]
fn late_messages_about_several_players_who_came_back_are_ignored() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let clients = ["ann", "bob", "cid"].map(|name| harness.connect_as(name));
    let [ann, bob, cid] = &clients;
    let room = harness.running_room_of(host, &[ann, bob, cid]);
    for client in [bob, cid] {
        harness.ask(client.conn, leave());
    }
    for client in [bob, cid] {
        harness.join(client, room);
        player_out(&mut harness, host, room, client, ErrorCode::ErrorUnspecified);
    }
    assert_eq!(harness.members(ann), "ann* bob cid");
}

#[test]
fn whom_the_game_puts_out_reads_what_it_says() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let (ann, bob) = (harness.connect_as("ann"), harness.connect_as("bob"));
    let room = harness.running_room_of(host, &[&ann, &bob]);
    let out = messages::PlayerOut {
        room,
        player: bob.id,
        reason: ErrorCode::PutOut.into(),
        message: "the inn closes\n".to_owned(),
    };
    harness.send_from_host(host, host_to_world::Body::PlayerOut(out));
    assert_eq!(harness.leave_reason(&bob), (ErrorCode::PutOut, "the inn closes".into()));
    assert_eq!(harness.members(&ann), "ann*");
}

#[test]
fn a_room_that_ends_returns_its_players_to_the_lobby_with_the_reason() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let room = harness.running_room_of(host, &[&ann, &bob]);
    let closed = messages::RoomClosed {
        room,
        reason: ErrorCode::RoomCrashed.into(),
        message: "attempt to add".into(),
    };
    harness.send_from_host(host, host_to_world::Body::RoomClosed(closed));
    for client in [&ann, &bob] {
        assert_eq!(harness.leave_reason(client), (ErrorCode::RoomCrashed, "attempt to add".into()));
    }
    assert_eq!(harness.take_orders(), [], "the host needs no order");
    assert_eq!(harness.listed(&ann), []);
    harness.room_of(&[&ann, &bob]);
}

fn duel(harness: &mut LobbyHarness, host: &Client) -> u64 {
    harness.create(host, world::CreateRoom { game: "duel".into(), ..room("den") }).id
}

fn player_out(
    harness: &mut LobbyHarness,
    host: HostId,
    room: u64,
    client: &Client,
    reason: ErrorCode,
) {
    let out = messages::PlayerOut {
        room,
        player: client.id,
        reason: reason.into(),
        ..Default::default()
    };
    harness.send_from_host(host, host_to_world::Body::PlayerOut(out));
}
