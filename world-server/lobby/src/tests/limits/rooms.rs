//! Limits of rooms for each player and each address, and rooms without connected players.

use std::net::IpAddr;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, world_to_client::Body};

use crate::tests::harness::{Client, LobbyHarness, create, join, leave, room, seconds, start};
use crate::{HostId, LobbyConfig};

const HOME: &str = "192.0.2.1";
const ELSEWHERE: &str = "192.0.2.2";

#[test]
fn squatters_of_one_address_leave_rooms_to_everybody_else() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 64);
    let squatters: Vec<Client> =
        (0..64).map(|number| harness.connect_at(HOME, &format!("squatter{number}"))).collect();
    for squatter in &squatters {
        harness.create(squatter, room("mine"));
    }
    for (number, squatter) in squatters.iter().enumerate() {
        if number < 48 {
            harness.start_on(host, squatter);
        } else {
            let (code, message) = harness.expect_refusal(squatter.conn, start());
            assert_eq!(code, ErrorCode::TooManyRooms);
            assert!(message.contains("48 may run"), "{message}");
        }
    }
    for number in 0..16 {
        let address = format!("198.51.100.{number}");
        let player = harness.connect_at(&address, &format!("player{number}"));
        harness.create(&player, room("ours"));
        harness.start_on(host, &player);
    }
    assert_eq!(harness.lobby.stats().rooms_running, 64);
}

#[test]
fn addresses_of_one_ipv6_network_share_their_limits() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        max_per_address: 3,
        max_rooms_per_address: 1,
        ..LobbyConfig::default()
    });
    let ann = harness.connect_at("2001:db8:1:2::1", "ann");
    let bob = harness.connect_at("2001:db8:1:2:ffff::2", "bob");
    let cid = harness.connect_at("2001:db8:1:3::1", "cid");
    harness.create(&ann, room("den"));
    let (code, message) = harness.expect_refusal(bob.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("wait until one ends"), "{message}");
    harness.create(&cid, room("den"));
    let conns = ["2001:db8:1:2::3", "2001:db8:1:2::4", "2001:db8:1:3::4"]
        .map(|text| harness.connect_from(address(text)));
    let closed = conns.map(|conn| harness.close_code(conn));
    assert_eq!(closed, [None, Some(ErrorCode::TooManyFromAddress), None]);
}

#[test]
fn a_player_may_have_made_four_rooms_that_exist() {
    let mut harness = LobbyHarness::unlimited_rate();
    let ann = harness.connect_at(HOME, "ann");
    let friends: Vec<Client> =
        (0..4).map(|number| harness.connect_at(ELSEWHERE, &format!("friend{number}"))).collect();
    for friend in &friends {
        harness.pass_room_on(&ann, friend);
    }
    let (code, message) = harness.expect_refusal(ann.conn, create(room("den")));
    assert_eq!(code, ErrorCode::TooManyRooms);
    assert!(message.contains("a player may have 4 rooms"), "{message}");
    harness.ask(friends[2].conn, leave());
    harness.create(&ann, room("den"));
}

#[test]
fn a_room_counts_where_it_was_made_until_it_is_closed() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { max_rooms_per_address: 1, ..LobbyConfig::default() });
    let ann = harness.connect_at(HOME, "ann");
    let bob = harness.connect_at(ELSEWHERE, "bob");
    harness.pass_room_on(&ann, &bob);
    // The session keeps its limits when it is resumed from elsewhere.
    harness.disconnect(&ann);
    let conn = harness.connect_from(address("203.0.113.9"));
    let ann = harness.hello(conn, "", &ann.token);
    assert_eq!(harness.refusal_code(ann.conn, create(room("den"))), ErrorCode::TooManyRooms);
    // The room counts after the end of its maker's session too.
    harness.lobby.handle_quit(harness.now, ann.conn);
    harness.handle_outputs();
    let cid = harness.connect_at(HOME, "cid");
    assert_eq!(harness.refusal_code(cid.conn, create(room("den"))), ErrorCode::TooManyRooms);
    harness.ask(bob.conn, leave());
    harness.create(&cid, room("den"));
}

#[test]
fn another_server_knows_where_rooms_were_made() {
    let mut first = LobbyHarness::recorded();
    for number in 0..16 {
        let client = first.connect_at(HOME, &format!("p{number}"));
        first.create(&client, room("den"));
    }
    let ann = first.connect_at(HOME, "ann");
    let mut second = first.start_successor(seconds(5));
    let conn = second.connect_from(address(ELSEWHERE));
    let ann = second.hello(conn, "", &ann.token);
    let bob = second.connect_at(HOME, "bob");
    for conn in [ann.conn, bob.conn] {
        assert_eq!(second.refusal_code(conn, create(room("den"))), ErrorCode::TooManyRooms);
    }
    // The grace periods of all others are over.
    second.advance(seconds(31));
    second.create(&ann, room("den"));
}

#[test]
fn trusted_addresses_may_have_more_connections_but_not_more_rooms() {
    let trusted = |text: &str| LobbyConfig {
        max_per_address: 2,
        max_rooms_per_address: 2,
        trusted: vec![text.parse().expect("a range")],
        ..LobbyConfig::default()
    };
    let mut harness = LobbyHarness::with(trusted("192.0.2.0/24"));
    let clients = ["ann", "bob", "cid"].map(|name| harness.connect_at(HOME, name));
    harness.create(&clients[0], room("den"));
    harness.create(&clients[1], room("den"));
    assert_eq!(harness.refusal_code(clients[2].conn, create(room("den"))), ErrorCode::TooManyRooms);
    let conns = [(); 3].map(|()| harness.connect_from(address("198.51.100.1")));
    assert_eq!(harness.close_code(conns[2]), Some(ErrorCode::TooManyFromAddress));
}

#[test]
fn an_abandoned_room_is_closed_and_its_host_takes_another() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 1);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = harness.running_room_of(host, &[&ann]);
    harness.create(&bob, room("next"));
    assert_eq!(harness.refusal_code(bob.conn, start()), ErrorCode::NoHostAvailable);
    harness.report_unplayed(host, &[den], 120);
    assert_eq!(harness.members(&ann), "ann*");
    harness.discard_events();
    harness.report_unplayed(host, &[den], 1);
    let (code, message) = harness.leave_reason(&ann);
    assert_eq!(code, ErrorCode::RoomClosed);
    assert!(message.contains("for 120 s"), "{message}");
    assert_eq!(harness.take_closed_rooms(), [den]);
    assert_eq!(harness.lobby.stats().rooms_abandoned, 1);
    harness.start_on(host, &bob);
}

#[test]
fn players_who_come_back_within_the_time_keep_their_room() {
    let mut harness = LobbyHarness::new();
    let host = harness.host(1, 1);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = harness.running_room_of(host, &[&ann]);
    harness.report_unplayed(host, &[den], 100);
    harness.report_unplayed(host, &[], 1);
    harness.report_unplayed(host, &[den], 100);
    assert_eq!(harness.members(&ann), "ann*");
    // A player who joins gets all the time to connect to the game.
    harness.join(&bob, den);
    harness.report_unplayed(host, &[den], 119);
    assert_eq!(harness.members(&ann), "ann* bob");
    // A host that is silent closes nothing, however long it lasts.
    harness.advance(seconds(600));
    assert_eq!(harness.members(&ann), "ann* bob");
}

#[test]
fn the_time_of_an_unplayed_room_begins_again_on_another_host() {
    let mut harness = LobbyHarness::new();
    let first = harness.host(1, 1);
    let second = HostId(2);
    let ann = harness.connect_as("ann");
    let den = harness.running_room_of(first, &[&ann]);
    harness.save_checkpoint(first, den);
    harness.report_unplayed(first, &[den], 119);
    harness.host(2, 1);
    harness.lose_host(first, "exit status 1");
    harness.opened(second, den, None);
    harness.report_unplayed(second, &[den], 120);
    assert_eq!(harness.members(&ann), "ann*");
    // What the lost host still reports does not count.
    harness.report_unplayed(first, &[den], 10);
    assert_eq!(harness.members(&ann), "ann*");
    harness.report_unplayed(second, &[den], 1);
    assert_eq!(harness.lobby.stats().rooms, 0);
}

#[test]
fn a_new_leader_gives_unplayed_rooms_their_time_again() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let den = first.running_room_of(host, &[&ann]);
    first.report_unplayed(host, &[den], 119);
    let mut second = first.start_successor(seconds(5));
    let host = second.reconnecting_host(20_000, 9, &[(den, 1)]);
    let ann = second.resume(&ann);
    second.report_unplayed(host, &[den], 120);
    assert_eq!(second.members(&ann), "ann*");
    second.report_unplayed(host, &[den], 1);
    assert_eq!(second.lobby.stats().rooms, 0);
}

#[test]
fn an_unplayed_room_lives_at_least_for_the_grace_period() {
    let closes_after = |abandoned: Option<Duration>| {
        let mut harness = LobbyHarness::with(LobbyConfig { abandoned, ..LobbyConfig::default() });
        let host = harness.host(1, 1);
        let ann = harness.connect_as("ann");
        let den = harness.running_room_of(host, &[&ann]);
        (1..1_000).find(|_| {
            harness.report_unplayed(host, &[den], 1);
            harness.lobby.stats().rooms == 0
        })
    };
    assert_eq!(closes_after(Some(seconds(1))), Some(31));
    assert_eq!(closes_after(Some(seconds(60))), Some(61));
    assert_eq!(closes_after(None), None);
}

impl LobbyHarness {
    /// A lobby in which a player may make rooms as fast as it likes.
    fn unlimited_rate() -> Self {
        Self::with(LobbyConfig { rooms_per_minute: 1_000, ..LobbyConfig::default() })
    }

    /// The client's room, which it has made, is opened by `host`.
    fn start_on(&mut self, host: HostId, client: &Client) {
        let number = self.send(client.conn, start());
        let opens = self.take_open_orders();
        assert_eq!(opens.len(), 1, "one room is opened: {opens:?}");
        self.opened(host, opens[0].1.room, None);
        assert_eq!(self.answers_to(client.conn, number), [Body::Done(world::Done {})]);
    }

    /// `maker` makes a room and leaves it to `other`.
    fn pass_room_on(&mut self, maker: &Client, other: &Client) {
        let id = self.create(maker, room("den")).id;
        self.ask(other.conn, join(id));
        self.ask(maker.conn, leave());
    }
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}
