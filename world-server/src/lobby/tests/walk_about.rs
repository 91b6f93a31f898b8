//! Bots that walk about: who gets them, and when they end.

use std::net::{IpAddr, Ipv4Addr};

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use super::harness::{
    Client, LobbyHarness, join_with, kick, leave, parameters, room, seconds, start,
};
use crate::lobby::LobbyConfig;

const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

#[test]
fn bots_come_into_the_room_as_players_with_names_seats_and_tickets() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let [ann, _] = ["ann", "bot-2"].map(|name| harness.connect_as(name));
    harness.running_room_of(host, &[&ann]);
    assert_eq!(invite(&mut harness, &ann, 2), Ok(2));
    assert_eq!(harness.members(&ann), "ann* bot-1!- bot-2-2!-");
    let bots = connect_bots(&mut harness);
    assert_eq!(harness.members(&ann), "ann* bot-1! bot-2-2!");
    for bot in &bots {
        harness.ticket(bot);
    }
}

#[test]
fn only_the_host_of_a_room_whose_game_has_commands_invites_bots() {
    let mut harness = LobbyHarness::new();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    assert_eq!(invite(&mut harness, &ann, 1), Err(ErrorCode::NotInRoom));
    harness.room_of(&[&ann, &bob]);
    assert_eq!(invite(&mut harness, &bob, 1), Err(ErrorCode::NotHost));
    assert_eq!(invite(&mut harness, &ann, 0), Err(ErrorCode::BadParameter));
    let mut still = LobbyHarness::new();
    let cid = still.connect_as("cid");
    let still_room = world::CreateRoom { game: "still".into(), ..room("den") };
    still.create(&cid, still_room);
    assert_eq!(invite(&mut still, &cid, 1), Err(ErrorCode::Unsupported));
    let mut without = LobbyHarness::with(LobbyConfig { bots: 0, ..LobbyConfig::default() });
    let dan = without.connect_as("dan");
    without.room_of(&[&dan]);
    assert_eq!(invite(&mut without, &dan, 1), Err(ErrorCode::Unsupported));
}

#[test]
fn bots_are_bounded_by_seats_by_the_server_and_by_address() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let small = world::CreateRoom { capacity: 4, ..room("den") };
    harness.create(&ann, small);
    assert_eq!(invite(&mut harness, &ann, 20), Ok(3));
    connect_bots(&mut harness);
    assert_eq!(invite(&mut harness, &ann, 1), Err(ErrorCode::RoomFull));
    // A stranger gets a quarter of all, the operator's own addresses the rest.
    let conn = harness.connect_from(FAR);
    let eve = harness.hello(conn, "eve", &[]);
    harness.room_of(&[&eve]);
    assert_eq!(invite(&mut harness, &eve, 20), Ok(5));
    connect_bots(&mut harness);
    harness.advance(seconds(4));
    assert_eq!(invite(&mut harness, &eve, 1), Err(ErrorCode::TryAgain));
    let bob = harness.connect_as("bob");
    harness.room_of(&[&bob]);
    assert_eq!(invite(&mut harness, &bob, u32::MAX), Ok(12));
    harness.advance(seconds(4));
    assert_eq!(invite(&mut harness, &bob, 1), Err(ErrorCode::TryAgain));
}

#[test]
fn who_invites_bots_again_and_again_has_to_wait_and_nobody_else() {
    let mut harness = LobbyHarness::new();
    let conn = harness.connect_from(FAR);
    let eve = harness.hello(conn, "eve", &[]);
    let ann = harness.connect_as("ann");
    harness.room_of(&[&ann]);
    let mut invited = 0;
    for _ in 0..100 {
        harness.room_of(&[&eve]);
        invited += invite(&mut harness, &eve, 20).unwrap_or_default();
        harness.ask(eve.conn, leave());
        harness.advance(seconds(20));
    }
    assert!(invited > 0);
    harness.room_of(&[&eve]);
    assert_eq!(invite(&mut harness, &eve, 3), Ok(3));
    assert_eq!(invite(&mut harness, &eve, 1), Err(ErrorCode::RateLimited));
    assert_eq!(invite(&mut harness, &ann, 2), Ok(2));
}

#[test]
fn bots_end_when_no_other_player_is_left_in_the_room() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness.running_room_of(host, &[&ann, &bob]);
    assert_eq!(invite(&mut harness, &ann, 3), Ok(3));
    let bots = connect_bots(&mut harness);
    harness.ask(ann.conn, leave());
    assert_eq!(harness.members(&bob), "bob* bot-1! bot-2! bot-3!");
    harness.ask(bob.conn, leave());
    assert!(harness.listed(&bob).iter().all(|room| room.id != den));
    for bot in &bots {
        assert_eq!(harness.close_code(bot.conn), Some(ErrorCode::RoomClosed));
    }
    let stats = harness.lobby.stats();
    assert_eq!((stats.players, stats.rooms), (2, 0), "ann and bob");
    // Their names and places are free again.
    harness.advance(seconds(4));
    harness.room_of(&[&bob]);
    assert_eq!(invite(&mut harness, &bob, 20), Ok(20));
    assert!(harness.members(&bob).starts_with("bob* bot-1!- bot-2!-"));
}

#[test]
fn a_bot_never_comes_back_and_bars_nobody() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let den = harness.room_of(&[&ann]);
    assert_eq!(invite(&mut harness, &ann, 3), Ok(3));
    let bots = connect_bots(&mut harness);
    harness.expect_done(ann.conn, kick(bots[0].id));
    assert_eq!(harness.close_code(bots[0].conn), Some(ErrorCode::RoomClosed));
    harness.disconnect(&bots[1]);
    assert_eq!(harness.members(&ann), "ann* bot-3!");
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "x", &bots[1].token).resumed);
    // Who is called as the bot that was put out may join, and gets the name.
    let bob = harness.connect_as("bot-1");
    assert_eq!(bob.name, "bot-1");
    harness.join(&bob, den);
    assert_eq!(invite(&mut harness, &ann, 1), Ok(1));
    assert_eq!(harness.members(&ann), "ann* bot-3! bot-1 bot-1-2!-");
}

#[test]
fn a_bot_that_does_not_connect_gives_its_seat_back() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    harness.room_of(&[&ann]);
    assert_eq!(invite(&mut harness, &ann, 1), Ok(1));
    harness.advance(seconds(9));
    assert_eq!(harness.members(&ann), "ann* bot-1!-");
    harness.advance(seconds(1));
    assert_eq!(harness.members(&ann), "ann*");
}

#[test]
fn a_bot_gives_its_seat_to_a_player() {
    let mut harness = LobbyHarness::new();
    let [ann, bob] = ["ann", "bob"].map(|name| harness.connect_as(name));
    let den = harness
        .create(&ann, world::CreateRoom { capacity: 3, password: "sesame".into(), ..room("den") });
    assert_eq!(invite(&mut harness, &ann, 2), Ok(2));
    connect_bots(&mut harness);
    let wrong = harness.refusal_code(bob.conn, join_with(den.id, "wrong"));
    assert_eq!(wrong, ErrorCode::WrongPassword);
    assert_eq!(harness.members(&ann), "ann* bot-1! bot-2!");
    harness.ask(bob.conn, join_with(den.id, "sesame"));
    assert_eq!(harness.members(&ann), "ann* bot-2! bob");
}

#[test]
fn bots_leave_the_seats_of_the_first_map_to_players() {
    let mut harness = LobbyHarness::new();
    let [ann, bob, cid] = ["ann", "bob", "cid"].map(|name| harness.connect_as(name));
    let two_on_a_map =
        world::CreateRoom { parameters: parameters(&[("map-seats", "2")]), ..room("den") };
    let den = harness.create(&ann, two_on_a_map);
    assert_eq!(invite(&mut harness, &ann, 5), Ok(1));
    connect_bots(&mut harness);
    assert_eq!(invite(&mut harness, &ann, 1), Err(ErrorCode::RoomFull));
    harness.join(&bob, den.id);
    assert_eq!(harness.members(&ann), "ann* bob");
    let refused = harness.refusal_code(cid.conn, join_with(den.id, ""));
    assert_eq!(refused, ErrorCode::RoomFull);
}

#[test]
fn the_next_server_restores_a_room_without_its_bots() {
    let mut first = LobbyHarness::recorded();
    let ann = first.connect_as("ann");
    first.room_of(&[&ann]);
    assert_eq!(invite(&mut first, &ann, 2), Ok(2));
    let bots = connect_bots(&mut first);
    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    assert_eq!(second.members(&ann), "ann*");
    let conn = second.connect();
    assert!(!second.welcome(conn, "x", &bots[0].token).resumed);
}

#[test]
fn bots_are_ready_and_join_no_game_that_nobody_can_join() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 8);
    let ann = harness.connect_as("ann");
    let duel = world::CreateRoom { game: "duel".into(), ..room("den") };
    let den = harness.create(&ann, duel);
    assert_eq!(invite(&mut harness, &ann, 1), Ok(1));
    connect_bots(&mut harness);
    harness.send(ann.conn, start());
    harness.opened(host, den.id, None);
    assert_eq!(invite(&mut harness, &ann, 1), Err(ErrorCode::AlreadyRunning));
}

/// How many bots come.
fn invite(harness: &mut LobbyHarness, client: &Client, count: u32) -> Result<u32, ErrorCode> {
    let body = ask::Body::InviteBots(world::InviteBots { count });
    match harness.ask(client.conn, body) {
        Body::BotsInvited(invited) => Ok(invited.count),
        Body::Error(error) => Err(ErrorCode::try_from(error.code).expect("a known code")),
        other => panic!("unexpected {other:?}"),
    }
}

/// Connects the bots that were started, as their clients do.
fn connect_bots(harness: &mut LobbyHarness) -> Vec<Client> {
    let tokens = std::mem::take(&mut harness.started_bots);
    let bots = tokens.iter().map(|token| {
        let conn = harness.connect();
        harness.hello(conn, "", token)
    });
    bots.collect()
}
