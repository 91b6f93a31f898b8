//! Budgets of what requests cost: chat by its receivers, lists by their size. And clients that have
//! missed news.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, client_to_world as ask, world_to_client::Body};

use crate::tests::harness::{
    Client, LobbyHarness, list_all_players, read_error, room, seconds, set_name,
};
use crate::{CostLimit, LobbyConfig, MissedNews};

const LOBBY: world::Channel = world::Channel::Lobby;

#[test]
fn a_flood_from_one_address_leaves_chat_to_the_others() {
    let mut harness = LobbyHarness::new();
    let idle = harness.connect_as("idle");
    let flooders = clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, 1), 64);
    let (sent, refused) = flood(&mut harness, &flooders, 20);
    // 10,000 messages at once, of 65 receivers each.
    assert_eq!(sent, 154);
    assert_eq!(refused, [(ErrorCode::RateLimited, 64 * 20 - 154)].into());
    assert_eq!(received_chats(&mut harness, &idle), sent);

    let honest = clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, 2), 1);
    harness.expect_done(honest[0].conn, say(LOBBY));
    // The address may go on when its debt is paid, and a player at 5 messages a second.
    harness.advance(Duration::from_millis(250));
    harness.expect_done(flooders[0].conn, say(LOBBY));
}

#[test]
fn a_flood_from_everywhere_is_limited_as_a_whole() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        chat_deliveries: CostLimit { per_s: 1_000, per_s_of_address: 1_000 },
        ..LobbyConfig::default()
    });
    let idle = harness.connect_as("idle");
    let flooders: Vec<Client> = (1..100)
        .flat_map(|number| clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, number), 1))
        .collect();
    let (sent, refused) = flood(&mut harness, &flooders, 20);
    // 2,000 messages at once, of 100 receivers each.
    assert_eq!(sent, 20);
    assert_eq!(refused, [(ErrorCode::TryAgain, 99 * 20 - 20)].into());
    assert_eq!(received_chats(&mut harness, &idle), sent);
    let refusal = harness.expect_refusal(idle.conn, say(LOBBY));
    assert_eq!(refusal.0, ErrorCode::TryAgain);
    assert!(refusal.1.contains("try again"), "{}", refusal.1);
    harness.advance(seconds(1));
    harness.expect_done(idle.conn, say(LOBBY));
}

#[test]
fn who_says_little_is_heard_while_many_addresses_flood_the_lobby() {
    let limit = CostLimit { per_s: 10_000, per_s_of_address: 2_500 };
    let mut harness =
        LobbyHarness::with(LobbyConfig { chat_deliveries: limit, ..LobbyConfig::default() });
    let honest = clients_at(&mut harness, Ipv4Addr::new(198, 51, 100, 1), 1);
    let flooders: Vec<Client> = (1..=100)
        .flat_map(|number| clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, number), 1))
        .collect();
    let flood_for = |harness: &mut LobbyHarness, seconds: u32| {
        let mut sent = 0;
        for _ in 0..5 * seconds {
            harness.advance(Duration::from_millis(200));
            sent += flood(harness, &flooders, 1).0;
        }
        sent
    };
    // A fifth of what they want; they have spent all that they have earned.
    let mut sent = flood_for(&mut harness, 10);
    // A line costs 101. Each address earns a quarter of the budget divided by their number.
    for _ in 0..10 {
        sent += flood_for(&mut harness, 5);
        harness.expect_done(honest[0].conn, say(LOBBY));
    }
    // 60 s, two for the pause before and one of debt; the last line may cost more than is left.
    let most = (60 + 2 + 1) * limit.per_s as usize / 101 + 1;
    assert!((5_000..=most).contains(&(sent + 10)), "{sent} of {most}");
}

#[test]
fn chat_in_a_room_costs_only_its_members() {
    let mut harness = LobbyHarness::new();
    let all = clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, 1), 64);
    harness.room_of(&[&all[0], &all[1]]);
    flood(&mut harness, &all, 20);
    harness.advance(seconds(1));
    // 5,000 messages: 78 lines to the lobby, but as many to the room as players may write.
    for _ in 0..5 {
        harness.expect_done(all[0].conn, say(world::Channel::Room));
        harness.expect_done(all[1].conn, say(world::Channel::Room));
    }
}

#[test]
fn a_new_name_costs_a_message_to_each_member() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        chat_deliveries: CostLimit { per_s: 50, per_s_of_address: 1_000 },
        ..LobbyConfig::default()
    });
    let all: Vec<Client> =
        (0..50).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    harness.room_of(&all.iter().collect::<Vec<_>>());
    let answers = (0..3).map(|number| {
        let answer = harness.ask(all[0].conn, set_name(&format!("x{number}")));
        matches!(answer, Body::Renamed(_))
    });
    assert_eq!(answers.collect::<Vec<_>>(), [true, true, false]);
    assert_eq!(harness.refusal_code(all[0].conn, set_name("y")), ErrorCode::TryAgain);
}

#[test]
fn lists_are_priced_by_their_size() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        list_kib: CostLimit { per_s: 1_000, per_s_of_address: 100 },
        list_kib_per_s: 10,
        list_kib_burst: 60,
        requests_per_s: 1_000,
        request_burst: 10_000,
        ..LobbyConfig::default()
    });
    // A list of 136 players with names of 22 characters takes 4 KiB.
    let long = "abcdefghijklmnopqrst";
    for number in 0..120 {
        harness.connect_as(&format!("{long}{number}"));
    }
    let here = clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, 1), 15);
    let mut other = clients_at(&mut harness, Ipv4Addr::new(203, 0, 113, 2), 1);
    let other = other.remove(0);
    let answered = |harness: &mut LobbyHarness, client: &Client| {
        (0..100)
            .take_while(|_| {
                let answer = harness.ask(client.conn, list_all_players());
                matches!(answer, Body::PlayerList(_))
            })
            .count()
    };
    assert_eq!(answered(&mut harness, &here[0]), 15, "60 KiB");
    let (code, message) = harness.expect_refusal(here[0].conn, list_all_players());
    assert_eq!(code, ErrorCode::RateLimited);
    assert!(message.contains("10 KiB"), "{message}");
    // The address may get 200 KiB, of which 140 are left.
    let of_others: usize = here[1..].iter().map(|client| answered(&mut harness, client)).sum();
    assert_eq!(of_others, 35);
    let (code, message) = harness.expect_refusal(here[14].conn, list_all_players());
    assert_eq!(code, ErrorCode::RateLimited);
    assert!(message.contains("100 KiB"), "{message}");
    // Other addresses are not affected; and requests other than lists still work there.
    assert_eq!(answered(&mut harness, &other), 15);
    let den = harness.create(&other, room("den")).id;
    harness.join(&here[14], den);
    harness.expect_done(here[14].conn, ask::Body::SetReady(world::SetReady { ready: true }));
}

#[test]
fn lists_of_rooms_are_priced_too() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { list_kib_burst: 4, ..LobbyConfig::default() });
    let ann = harness.connect_as("ann");
    for _ in 0..4 {
        assert_eq!(harness.listed(&ann), []);
    }
    let list = ask::Body::ListRooms(world::ListRooms { subscribe: false });
    assert_eq!(harness.refusal_code(ann.conn, list), ErrorCode::RateLimited);
}

#[test]
fn lists_for_everybody_are_limited_as_a_whole() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        list_kib: CostLimit { per_s: 10, per_s_of_address: 1_000 },
        ..LobbyConfig::default()
    });
    let all: Vec<Client> =
        (0..21).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    for client in &all[..20] {
        let answer = harness.ask(client.conn, list_all_players());
        assert!(matches!(answer, Body::PlayerList(_)), "{answer:?}");
    }
    assert_eq!(harness.refusal_code(all[20].conn, list_all_players()), ErrorCode::TryAgain);
}

#[test]
fn who_joins_and_leaves_all_the_time_gets_no_more_lists_either() {
    let mut harness =
        LobbyHarness::with(LobbyConfig { list_kib_burst: 4, ..LobbyConfig::default() });
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = harness.room_of(&[&ann]);
    for _ in 0..4 {
        harness.join(&bob, den);
    }
    let again = ask::Body::JoinRoom(world::JoinRoom { room: den, ..world::JoinRoom::default() });
    assert_eq!(harness.refusal_code(bob.conn, again), ErrorCode::RateLimited);
}

#[test]
fn a_client_that_has_missed_news_gets_what_they_have_led_to() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = harness.room_of(&[&ann, &bob]);
    subscribe(&mut harness, &ann);
    let missed = MissedNews { rooms: true, players: true, chats: 3 };
    harness.caught_up(&ann, missed);
    harness.caught_up(&ann, missed);
    assert_eq!(harness.events(&ann), [], "not at once, so that it is not often");
    harness.advance(seconds(1));
    let [Body::RoomList(rooms), Body::PlayerList(players), Body::MissedNews(chats)] =
        &harness.events(&ann)[..]
    else {
        panic!("not two lists and a number");
    };
    assert_eq!(rooms.rooms.len(), 1);
    assert_eq!((players.room, players.players.len()), (den, 2));
    assert_eq!(chats.chats, 6);
    harness.advance(seconds(10));
    assert_eq!(harness.events(&ann), [], "only once");
    // Bob gets what he has missed, and no list of rooms, to which he does not subscribe.
    harness.caught_up(&bob, MissedNews { chats: 0, ..missed });
    harness.advance(seconds(1));
    assert!(matches!(harness.events(&bob)[..], [Body::PlayerList(_)]));
}

#[test]
fn clients_that_have_missed_news_wait_for_each_other() {
    let mut harness = LobbyHarness::with(LobbyConfig {
        list_kib: CostLimit { per_s: 2, per_s_of_address: 100 },
        ..LobbyConfig::default()
    });
    let all: Vec<Client> =
        (0..20).map(|number| harness.connect_as(&format!("p{number}"))).collect();
    for client in &all {
        subscribe_with(&mut harness, client);
        harness.advance(seconds(1));
    }
    let rooms = MissedNews { rooms: true, ..MissedNews::default() };
    for client in &all {
        harness.caught_up(client, rooms);
    }
    // One that ends is not waited for.
    harness.disconnect(&all[19]);
    let lists = |harness: &mut LobbyHarness| {
        let lists = all.iter().map(|client| harness.events(client).len());
        lists.collect::<Vec<_>>()
    };
    harness.advance(Duration::from_millis(500));
    let first = lists(&mut harness);
    // 4 at once, each of 1 KiB.
    assert_eq!(first.iter().sum::<usize>(), 4);
    assert_eq!(first[..4], [1; 4]);
    harness.advance(seconds(1));
    assert_eq!(lists(&mut harness).iter().sum::<usize>(), 2);
    harness.advance(seconds(60));
    assert_eq!(lists(&mut harness).iter().sum::<usize>(), 13);
}

#[test]
fn changes_of_many_rooms_are_published_less_often() {
    let mut harness = LobbyHarness::unlimited();
    let watchers: Vec<Client> =
        (0..100).map(|number| harness.connect_as(&format!("w{number}"))).collect();
    for client in &watchers {
        subscribe(&mut harness, client);
    }
    let makers: Vec<Client> =
        (0..200).map(|number| harness.connect_as(&format!("m{number}"))).collect();
    for client in &makers {
        harness.create(client, room("den"));
    }
    harness.advance(Duration::from_millis(100));
    harness.events(&watchers[0]);
    // 200 changes to 100 subscribers: the next ones come after a second.
    for client in &makers {
        harness.ask(client.conn, ask::Body::LeaveRoom(world::LeaveRoom {}));
    }
    harness.advance(Duration::from_millis(900));
    assert_eq!(harness.events(&watchers[0]).len(), 0);
    harness.advance(Duration::from_millis(200));
    assert_eq!(harness.events(&watchers[0]).len(), 200);
}

/// Clients from an address that is not trusted.
fn clients_at(harness: &mut LobbyHarness, address: Ipv4Addr, count: usize) -> Vec<Client> {
    let connect = |number| {
        let conn = harness.connect_from(IpAddr::V4(address));
        let name = format!("{}-{number}", address.octets()[3]);
        harness.hello(conn, &name, &[])
    };
    (0..count).map(connect).collect()
}

/// Each client says `lines` lines to the lobby at once. Returns the number of lines that were
/// sent, and the refusals.
fn flood(
    harness: &mut LobbyHarness,
    clients: &[Client],
    lines: usize,
) -> (usize, BTreeMap<ErrorCode, usize>) {
    let mut sent = 0;
    let mut refused = BTreeMap::new();
    for client in clients {
        for _ in 0..lines {
            match harness.ask(client.conn, say(LOBBY)) {
                Body::Done(_) => sent += 1,
                Body::Error(error) => *refused.entry(read_error(&error).0).or_default() += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    (sent, refused)
}

fn say(channel: world::Channel) -> ask::Body {
    ask::Body::Say(world::Say {
        channel: channel.into(),
        text: "x".into(),
        ..world::Say::default()
    })
}

fn subscribe(harness: &mut LobbyHarness, client: &Client) {
    subscribe_with(harness, client);
    harness.events(client);
}

fn subscribe_with(harness: &mut LobbyHarness, client: &Client) {
    let subscribe = world::ListRooms { subscribe: true };
    harness.ask(client.conn, ask::Body::ListRooms(subscribe));
}

fn received_chats(harness: &mut LobbyHarness, client: &Client) -> usize {
    let is_chat = |body: &Body| matches!(body, Body::Chat(_));
    harness.events(client).iter().filter(|body| is_chat(body)).count()
}
