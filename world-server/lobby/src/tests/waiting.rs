//! Sessions that wait for their players: how many an address may have, and their seats in a full
//! room.

use std::net::IpAddr;

use ambit_host_protocol::generated::world_to_host;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world;
use prost::Message as _;

use super::harness::{Client, LobbyHarness, hello, join, recording, room, seconds};
use crate::directory::Player;
use crate::{LobbyConfig, RecordKey};

const HOME: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";
const STRANGER: &str = "203.0.113.9";

#[test]
fn a_client_that_comes_and_goes_has_two_sessions_for_each_connection() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at(HOME, "ann");
    harness.disconnect(&ann);
    let ghosts: Vec<_> =
        (0..400).map(|number| harness.come_and_go(STRANGER, &format!("ghost {number}"))).collect();
    assert_eq!(harness.lobby.stats().players, 128 + 1);
    // The oldest were removed, and their names and tokens with them.
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &ghosts[271].token).resumed);
    let conn = harness.connect();
    assert!(harness.welcome(conn, "", &ghosts[272].token).resumed);
    let names = ["ghost 271", "ghost 272"].map(|name| harness.connect_as(name).name);
    assert_eq!(names, ["ghost 271", "ghost 272-2"]);
    harness.resume(&ann);
}

#[test]
fn sessions_of_one_ipv6_network_share_their_limit() {
    let mut harness = LobbyHarness::with(few_connections());
    let neighbour = harness.come_and_go("2001:db8:1:3::1", "neighbour");
    for number in 0..20 {
        harness.come_and_go(&format!("2001:db8:1:2:{number}::1"), "ghost");
    }
    assert_eq!(harness.lobby.stats().players, 4 + 1);
    harness.resume(&neighbour);
}

#[test]
fn sessions_of_a_trusted_address_are_not_limited() {
    let mut harness = LobbyHarness::with(few_connections());
    let bots: Vec<_> = (0..20).map(|_| harness.come_and_go("127.0.0.1", "bot")).collect();
    assert_eq!(harness.lobby.stats().players, 20);
    for bot in &bots {
        harness.resume(bot);
    }
}

#[test]
fn an_address_whose_sessions_are_all_connected_gets_no_more() {
    let mut harness = LobbyHarness::with(few_connections());
    // They have gone on from home to elsewhere.
    let moved = ["ann", "bob", "cid", "dan"].map(|name| {
        let client = harness.connect_at(HOME, name);
        harness.disconnect(&client);
        harness.resume(&client)
    });
    let conn = harness.connect_from(address(HOME));
    let (code, message) = harness.expect_refusal(conn, hello("eve", &[]));
    assert_eq!(code, ErrorCode::TooManyFromAddress);
    assert!(message.contains("4 players"), "{message}");
    assert_eq!(harness.close_code(conn), Some(ErrorCode::TooManyFromAddress));
    // A session that waits gives way.
    harness.disconnect(&moved[2]);
    harness.connect_at(HOME, "eve");
    let conn = harness.connect();
    assert!(!harness.welcome(conn, "", &moved[2].token).resumed);
}

#[test]
fn a_session_that_gives_way_frees_its_seat_and_its_record() {
    let mut harness = LobbyHarness::with(LobbyConfig { max_per_address: 2, ..recording() });
    let host = harness.host(1, 8);
    let ann = harness.connect_at(HOME, "ann");
    let den = harness.running_room_of(host, &[&ann]);
    let ghosts: Vec<_> = (0..6).map(|_| harness.join_and_go(STRANGER, "ghost", den)).collect();
    harness.advance(seconds(1));
    assert_eq!(harness.members(&ann), "ann* ghost-3- ghost-4- ghost- ghost-2-");
    let removed = harness.take_orders().into_iter().filter_map(|(_, body)| match body {
        world_to_host::Body::RemovePlayer(remove) => Some((remove.player, remove.reason)),
        _ => None,
    });
    let expected = [&ghosts[0], &ghosts[1]].map(|ghost| (ghost.id, ErrorCode::Idle.into()));
    assert_eq!(removed.collect::<Vec<_>>(), expected);
    let recorded = |harness: &LobbyHarness| -> Vec<u64> {
        let players = harness.records.keys().filter_map(|key| match key {
            RecordKey::Player(player) => Some(player.0),
            _ => None,
        });
        players.collect()
    };
    let expected: Vec<_> = [&ann].into_iter().chain(&ghosts[2..]).map(|known| known.id).collect();
    assert_eq!(recorded(&harness), expected);

    // The next leader, which allows 64 connections, counts them too.
    let mut second = harness.start_successor(seconds(5));
    for _ in 0..125 {
        second.come_and_go(STRANGER, "ghost");
    }
    assert_eq!(second.lobby.stats().players, 1 + 128);
    assert_eq!(recorded(&second)[..2], [ann.id, ghosts[3].id]);
}

/// Records of earlier versions do not say where a session was opened.
#[test]
fn a_session_of_an_unknown_address_counts_where_it_is_resumed() {
    let mut first = LobbyHarness::recorded();
    let ann = first.come_and_go(HOME, "ann");
    for (key, bytes) in &mut first.records {
        if let RecordKey::Player(_) = key {
            let player = Player::decode(&bytes[..]).expect("a record");
            *bytes = Player { network: String::new(), ..player }.encode_to_vec();
        }
    }
    let mut second = first.start_successor(seconds(5));
    let conn = second.connect_from(address(STRANGER));
    let ann = second.hello(conn, "", &ann.token);
    second.disconnect(&ann);
    for _ in 0..128 {
        second.come_and_go(STRANGER, "ghost");
    }
    assert_eq!(second.lobby.stats().players, 128);
}

#[test]
fn strangers_who_come_and_go_do_not_fill_a_room() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at(HOME, "ann");
    let den = harness.create(&ann, world::CreateRoom { capacity: 20, ..room("den") }).id;
    for number in 0..60 {
        harness.join_and_go(STRANGER, &format!("ghost {number}"), den);
    }
    let others: Vec<_> = (0..18)
        .map(|number| {
            let other = harness.connect_at(&format!("198.51.100.{number}"), &format!("p{number}"));
            harness.join(&other, den);
            other
        })
        .collect();
    // The last ghost is alone, so it has its seat as long as anybody who is away.
    let late = harness.connect_at(ELSEWHERE, "late");
    assert_eq!(harness.refusal_code(late.conn, join(den)), ErrorCode::RoomFull);
    let members = harness.members(&ann);
    assert!(members.starts_with("ann* ghost 59- p0 p1 "), "{members}");
    assert!(others.iter().all(|other| members.contains(&other.name)), "{members}");
    harness.advance(seconds(31));
    harness.join(&late, den);
}

#[test]
fn the_address_with_most_absent_members_gives_up_its_oldest_seat() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at(HOME, "ann");
    let den = harness.create(&ann, world::CreateRoom { capacity: 6, ..room("den") }).id;
    let mut away = Vec::new();
    for (address, name) in [
        (ELSEWHERE, "elsewhere 1"),
        (ELSEWHERE, "elsewhere 2"),
        (STRANGER, "ghost 1"),
        (STRANGER, "ghost 2"),
        (STRANGER, "ghost 3"),
    ] {
        away.push(harness.join_and_go(address, name, den));
        harness.advance(seconds(1));
    }
    let bob = harness.connect_at("198.51.100.1", "bob");
    harness.join(&bob, den);
    assert_eq!(harness.members(&bob), "ann* elsewhere 1- elsewhere 2- ghost 2- ghost 3- bob");
    // The member receives the reason, and its session goes on.
    let conn = harness.connect_from(address(STRANGER));
    let welcome = harness.welcome(conn, "", &away[2].token);
    assert_eq!((welcome.resumed, welcome.room), (true, Some(den)));
    let ghost = Client { conn, ..away[2].clone() };
    let (code, message) = harness.leave_reason(&ghost);
    assert_eq!(code, ErrorCode::Idle);
    assert!(message.contains("another player has your seat"), "{message}");
}

#[test]
fn a_family_whose_connections_break_keeps_its_seats() {
    let mut harness = LobbyHarness::new();
    let family = ["ann", "bob", "cid", "dan", "eve"].map(|name| harness.connect_at(HOME, name));
    let den = harness.create(&family[0], world::CreateRoom { capacity: 7, ..room("den") }).id;
    for member in &family[1..] {
        harness.join(member, den);
    }
    // While a seat is free, all may be away.
    for member in &family {
        harness.disconnect(member);
    }
    let guest = harness.connect_at(ELSEWHERE, "guest");
    harness.join(&guest, den);
    let mut family = family.map(|member| harness.resume(&member));
    // In a full room one may.
    let last = harness.connect_at("198.51.100.1", "last");
    harness.join(&last, den);
    let late = harness.connect_at("198.51.100.2", "late");
    for member in &mut family {
        harness.disconnect(member);
        assert_eq!(harness.refusal_code(late.conn, join(den)), ErrorCode::RoomFull);
        *member = harness.resume(member);
    }
    assert_eq!(harness.members(&family[0]), "ann* bob cid dan eve guest last");
}

#[test]
fn bots_of_a_trusted_address_keep_their_seats_in_a_full_room() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at(HOME, "ann");
    let den = harness.create(&ann, world::CreateRoom { capacity: 4, ..room("den") }).id;
    for name in ["bot 1", "bot 2", "bot 3"] {
        harness.join_and_go("127.0.0.1", name, den);
    }
    let bob = harness.connect_at(ELSEWHERE, "bob");
    assert_eq!(harness.refusal_code(bob.conn, join(den)), ErrorCode::RoomFull);
}

#[test]
fn a_full_first_map_of_a_world_gets_a_free_seat_too() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_at(HOME, "ann");
    let parameters = super::harness::parameters(&[("map-seats", "3")]);
    let world = world::CreateRoom { capacity: 20, parameters, ..room("den") };
    let den = harness.create(&ann, world).id;
    for number in 0..5 {
        harness.join_and_go(STRANGER, &format!("ghost {number}"), den);
    }
    let bob = harness.connect_at(ELSEWHERE, "bob");
    harness.join(&bob, den);
    assert_eq!(harness.members(&ann), "ann* ghost 4- bob");
}

impl LobbyHarness {
    /// A client opens a session and breaks its connection.
    fn come_and_go(&mut self, address: &str, name: &str) -> Client {
        let client = self.connect_at(address, name);
        self.disconnect(&client);
        client
    }

    /// The same, and joins a room in between.
    fn join_and_go(&mut self, address: &str, name: &str, room: u64) -> Client {
        let client = self.connect_at(address, name);
        self.join(&client, room);
        self.disconnect(&client);
        client
    }
}

fn few_connections() -> LobbyConfig {
    LobbyConfig { max_per_address: 2, ..LobbyConfig::default() }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}
