//! What operators are told of what happens.

use ambit_host_protocol::generated::{HostStats, host_to_world};
use ambit_proto::control::world::{self, Channel, client_to_world as ask, world_to_client::Body};

use super::harness::{LobbyHarness, join_with, leave, room, seconds, set_name};
use crate::{LobbyConfig, OperatorEvent};

/// The names of the events since the last call.
fn told(harness: &mut LobbyHarness) -> Vec<String> {
    let events = harness.take_reports().into_iter();
    events
        .map(|event| {
            let json = serde_json::to_value(&event).expect("an event is JSON");
            json["event"].as_str().expect("a name").to_owned()
        })
        .collect()
}

#[test]
fn a_session_is_told_of_from_its_start_to_its_end() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let came = harness.take_reports();
    let [OperatorEvent::PlayerCame { player, name, account: None, address }] = &came[..] else {
        panic!("{came:?}")
    };
    assert_eq!((*player, name.as_str()), (ann.id, "ann"));
    assert!(address.parse::<std::net::IpAddr>().is_ok(), "{address}");
    harness.ask(ann.conn, set_name("anna"));
    harness.disconnect(&ann);
    let ann = harness.resume(&ann);
    harness.quit(&ann);
    assert_eq!(told(&mut harness), ["player_renamed", "player_away", "player_back", "player_left"]);
    let bob = harness.connect_as("bob");
    harness.disconnect(&bob);
    harness.take_reports();
    harness.advance(seconds(60));
    let left = harness.take_reports();
    let why = |event: &OperatorEvent| match event {
        OperatorEvent::PlayerLeft { why, .. } => why.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(left.iter().map(why).collect::<Vec<_>>(), ["idle"]);
}

#[test]
fn a_room_is_told_of_from_its_making_to_its_end() {
    let mut harness = LobbyHarness::new();
    let (ann, bob) = (harness.connect_as("ann"), harness.connect_as("bob"));
    let host = harness.host(1, 10);
    harness.take_reports();
    let room = harness.running_room_of(host, &[&ann, &bob]);
    assert_eq!(
        told(&mut harness),
        ["room_made", "room_joined", "room_joined", "room_started"],
        "with the seats of both"
    );
    harness.ask(bob.conn, leave());
    harness.ask(ann.conn, leave());
    let told = harness.take_reports();
    let [OperatorEvent::RoomLeft { .. }, OperatorEvent::RoomLeft { .. }, ended] = &told[..] else {
        panic!("{told:?}")
    };
    let OperatorEvent::RoomEnded { room: ended, why, .. } = ended else { panic!("{ended:?}") };
    assert_eq!((*ended, why.as_str()), (room, "room_closed"));
}

#[test]
fn a_room_that_moves_and_hosts_that_come_and_go_are_told_of() {
    let mut harness = LobbyHarness::new();
    let ann = harness.connect_as("ann");
    let first = harness.host(1, 10);
    let room = harness.running_room_of(first, &[&ann]);
    harness.save_checkpoint(first, room);
    let next = harness.host(2, 10);
    harness.take_reports();
    harness.lose_host(first, "it was killed");
    harness.opened(next, room, None);
    let told = harness.take_reports();
    let expected = [
        OperatorEvent::HostLost { host: first.0, rooms: 1, reason: "it was killed".to_owned() },
        OperatorEvent::RoomResumed {
            room,
            name: "den".to_owned(),
            game: "field".to_owned(),
            host: next.0,
        },
    ];
    assert_eq!(told, expected);
    let late =
        |rooms_late| host_to_world::Body::Stats(HostStats { rooms_late, ..HostStats::default() });
    for rooms in [0, 2, 3, 0, 0] {
        harness.send_from_host(next, late(rooms));
    }
    let overrun = |rooms| OperatorEvent::HostOverrun { host: next.0, rooms };
    assert_eq!(harness.take_reports(), [overrun(2), overrun(0)]);
}

#[test]
fn refusals_for_a_limit_are_told_together_once_a_second() {
    let mut harness = LobbyHarness::new();
    let (ann, bob) = (harness.connect_as("ann"), harness.connect_as("bob"));
    let den = harness.create(&ann, world::CreateRoom { password: "x".to_owned(), ..room("den") });
    harness.take_reports();
    let guess = |harness: &mut LobbyHarness| {
        harness.refusal_code(bob.conn, join_with(den.id, "wrong"));
    };
    (0..3).for_each(|_| guess(&mut harness));
    harness.advance(seconds(2));
    guess(&mut harness);
    let times = harness.take_reports().into_iter().map(|event| match event {
        OperatorEvent::Refused { code, times, address, .. } => (code, times, address.is_some()),
        other => panic!("{other:?}"),
    });
    let wrong = |times| ("wrong_password".to_owned(), times, true);
    assert_eq!(times.collect::<Vec<_>>(), [wrong(1), wrong(3)]);
    // Others are the players' own affair.
    harness.refusal_code(bob.conn, leave());
    assert_eq!(harness.take_reports(), []);
}

#[test]
fn what_players_say_is_told_only_where_they_know_it() {
    let say = || {
        let text = "hello".to_owned();
        ask::Body::Say(world::Say { channel: Channel::Lobby.into(), text, ..world::Say::default() })
    };
    for logs_chat in [false, true] {
        let config = LobbyConfig { logs_chat, ..LobbyConfig::default() };
        let mut harness = LobbyHarness::with(config);
        let ann = harness.connect_as("ann");
        let notices = harness.events(&ann).into_iter();
        let notices = notices.filter(|body| matches!(body, Body::Chat(chat) if chat.from == 0));
        assert_eq!(notices.count(), usize::from(logs_chat));
        harness.take_reports();
        harness.expect_done(ann.conn, say());
        let told = harness.take_reports();
        let chat = OperatorEvent::Chat {
            player: ann.id,
            name: "ann".to_owned(),
            channel: "lobby".to_owned(),
            room: None,
            text: "hello".to_owned(),
        };
        assert_eq!(told, if logs_chat { vec![chat] } else { Vec::new() });
    }
}
