//! A seat in any room of a game, and what players wish there.

use std::time::Duration;

use ambit_host_protocol::generated::world_to_host;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{
    Client, LobbyHarness, leave, parameters, ready, room, seconds, start, verify_ticket,
};
use crate::LobbyConfig;

#[test]
fn a_quick_join_makes_a_room_that_starts_and_others_come_into_it() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let joined = quick(&mut harness, &ann, "field", &[]);
    let made = joined.room.expect("a room");
    assert_eq!((&made.name[..], made.host, made.capacity), ("ann's field", ann.id, 64));
    assert_eq!(made.parameters, parameters(&[("size", "field")]), "those of a quick start");
    assert_eq!(joined.players.len(), 1);
    harness.opened(host, made.id, None);
    assert_eq!(harness.ticket(&ann).room, made.id);

    let found = quick(&mut harness, &bob, "field", &[]);
    assert_eq!(found.room.expect("a room").id, made.id);
    assert_eq!(found.players.len(), 2);
    assert_eq!(harness.ticket(&bob).room, made.id);
    // Once more, as after a break.
    let again = quick(&mut harness, &bob, "field", &[]);
    assert_eq!(again.room.expect("a room").id, made.id);
    assert_eq!(again.players.len(), 2);
    let code = harness.refusal_code(bob.conn, quick_join("duel", &[]));
    assert_eq!(code, ErrorCode::AlreadyInRoom);
}

#[test]
fn a_quick_join_finds_the_fullest_room_that_fits() {
    let mut harness = LobbyHarness::unlimited();
    let _host = harness.host(1, 100);
    let makers: Vec<Client> = (0..6).map(|n| harness.connect_as(&format!("maker{n}"))).collect();
    let small = world::CreateRoom { parameters: parameters(&[("size", "20x20")]), ..room("small") };
    let default = room("default");
    let secret = world::CreateRoom { password: "x".into(), ..room("secret") };
    let full = world::CreateRoom { capacity: 1, ..room("full") };
    let duel = world::CreateRoom { game: "duel".into(), ..room("duel") };
    let ids: Vec<u64> = [default.clone(), small, secret, full, duel, default]
        .into_iter()
        .zip(&makers)
        .map(|(create, maker)| harness.create(maker, create).id)
        .collect();
    let [first, small, _, _, duel, second] = ids[..] else { unreachable!() };
    let guest = harness.connect_as("guest");
    harness.join(&guest, second);

    let mut find = |name: &str, game: &str, given: &[(&str, &str)]| {
        let client = harness.connect_as(name);
        let found = quick(&mut harness, &client, game, given);
        harness.ask(client.conn, leave());
        found.room.expect("a room").id
    };
    assert_eq!(find("a", "field", &[]), second, "the fullest one");
    assert_eq!(find("b", "field", &[("size", "20x20")]), small);
    assert_eq!(find("c", "field", &[("size", "100x100")]), second, "the default");
    assert_eq!(find("d", "duel", &[]), duel);
    let other = find("e", "field", &[("size", "30x30")]);
    assert!(!ids.contains(&other), "a new one");
    harness.ask(guest.conn, leave());
    let found = find_after(&mut harness);
    assert_eq!(found, first, "of equally full ones the oldest");
}

fn find_after(harness: &mut LobbyHarness) -> u64 {
    let client = harness.connect_as("late");
    quick(harness, &client, "field", &[]).room.expect("a room").id
}

#[test]
fn a_room_for_two_starts_with_the_second_and_is_closed_to_a_third() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|name| harness.connect_as(name));
    let made = quick(&mut harness, &ann, "duel", &[]).room.expect("a room");
    assert!(!harness.listed(&ann)[0].running);
    let code = harness.refusal_code(ann.conn, start());
    assert_eq!(code, ErrorCode::NotEnoughPlayers);
    quick(&mut harness, &bob, "duel", &[]);
    harness.opened(host, made.id, None);
    assert_eq!(harness.ticket(&ann).room, made.id);
    assert_eq!(harness.ticket(&bob).room, made.id);
    let other = quick(&mut harness, &eve, "duel", &[]).room.expect("a room");
    assert_ne!(other.id, made.id);
}

#[test]
fn a_room_waits_until_its_players_are_ready_also_at_another_server() {
    let mut harness = LobbyHarness::recorded();
    harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let must = [("ready", "required")];
    let made = quick(&mut harness, &ann, "duel", &must).room.expect("a room");
    quick(&mut harness, &bob, "duel", &must);
    assert!(!harness.listed(&ann)[0].running);

    let mut next = harness.start_successor(seconds(5));
    let host = next.host(2, 8);
    let [ann, bob] = [ann, bob].map(|client| next.resume(&client));
    assert_eq!(next.ask(ann.conn, ready(true)), Body::Done(world::Done {}));
    next.advance(Duration::from_millis(500));
    assert!(!next.listed(&ann)[0].running, "bob is not ready");
    next.ask(bob.conn, ready(true));
    next.opened(host, made.id, None);
    next.advance(Duration::from_millis(500));
    assert!(next.listed(&ann)[0].running);
}

#[test]
fn a_host_is_told_who_is_about_to_come_into_a_room_that_starts() {
    let mut harness = LobbyHarness::new();
    harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let id = harness.create(&ann, room("den")).id;
    harness.join(&bob, id);
    harness.send(ann.conn, start());
    let told = harness.orders.iter().filter_map(|(_, order)| match order {
        world_to_host::Body::ExpectPlayers(expect) => Some(expect.clone()),
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].room, &told[0].players[..]), (id, &[ann.id, bob.id][..]));
}

#[test]
fn a_quick_join_that_finds_no_host_leaves_nothing() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let code = harness.refusal_code(ann.conn, quick_join("field", &[]));
    assert_eq!(code, ErrorCode::NoHostAvailable);
    assert_eq!(harness.listed(&ann), []);
    let code = harness.refusal_code(ann.conn, quick_join("chess", &[]));
    assert_eq!(code, ErrorCode::UnknownGame);
    harness.host(1, 8);
    let code = harness.refusal_code(ann.conn, quick_join("field", &[("colour", "red")]));
    assert_eq!(code, ErrorCode::BadParameter);
    assert_eq!(harness.listed(&ann), []);
}

#[test]
fn a_player_who_was_put_out_is_led_to_another_room() {
    let mut harness = LobbyHarness::new();
    harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness.create(&ann, room("den")).id;
    harness.join(&bob, den);
    harness.ask(ann.conn, ask::Body::Kick(world::Kick { player: bob.id }));
    let other = quick(&mut harness, &bob, "field", &[]).room.expect("a room").id;
    assert_ne!(other, den);
}

#[test]
fn what_a_player_wishes_is_in_its_tickets_also_of_another_server() {
    let mut harness = LobbyHarness::recorded();
    let ann = harness.connect_as("ann");
    let wish = |class: &str| {
        let wishes = parameters(&[("class", class)]);
        ask::Body::SetWishes(world::SetWishes { wishes })
    };
    assert_eq!(harness.ask(ann.conn, wish("mage")), Body::Done(world::Done {}));
    let code = harness.refusal_code(ann.conn, wish(&"m".repeat(252)));
    assert_eq!(code, ErrorCode::BadText);
    let mut next = harness.start_successor(seconds(5));
    for harness in [&mut harness, &mut next] {
        let host = harness.host(1, 8);
        let ann = harness.resume(&ann);
        let id = quick(harness, &ann, "field", &[]).room.expect("a room").id;
        harness.opened(host, id, None);
        let ticket = verify_ticket(&harness.ticket(&ann), harness.now).expect("a valid ticket");
        assert_eq!(ticket.wishes.get("class"), Some("mage"));
    }
}

#[test]
fn quick_joins_of_a_crowd_are_bounded_like_other_rooms() {
    let mut harness = LobbyHarness::with(LobbyConfig { max_rooms: 2, ..LobbyConfig::default() });
    harness.host(1, 8);
    let sizes = ["1x1", "2x2", "3x3"];
    let mut codes = Vec::new();
    for size in sizes {
        let client = harness.connect_as(size);
        if let Body::Error(error) = harness.ask(client.conn, quick_join("field", &[("size", size)]))
        {
            codes.push(error.code());
        }
    }
    assert_eq!(codes, [ErrorCode::TooManyRooms]);
}

fn quick_join(game: &str, given: &[(&str, &str)]) -> ask::Body {
    ask::Body::QuickJoin(world::QuickJoin { game: game.into(), parameters: parameters(given) })
}

fn quick(
    harness: &mut LobbyHarness,
    client: &Client,
    game: &str,
    given: &[(&str, &str)],
) -> world::RoomJoined {
    match harness.ask(client.conn, quick_join(game, given)) {
        Body::RoomJoined(joined) => joined,
        other => panic!("expected a seat: {other:?}"),
    }
}
