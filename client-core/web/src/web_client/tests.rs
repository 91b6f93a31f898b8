//! Tests with the bytes that a page would hand over, without a browser.

use std::time::Duration;

use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::Alias;
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{
    BodyContext, Record, end_records, write_poses, write_record, write_stamp,
};
use ambit_proto::presentation::{GateArea, Presentation};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::*;
use crate::frame_buffers::{FLAG_MOVES, FLAG_OWN};

/// Room time when the page's clock shows zero.
const ROOM_CLOCK_OFFSET: Duration = Duration::from_secs(100);
const LOCAL_LAG: Duration = Duration::from_millis(150);

#[test]
fn a_client_says_hello_and_is_welcomed_by_pieces_of_any_size() {
    let mut client = client();
    client.connect(0.0);
    assert_eq!(client.poll_output(), 1);
    let target = r#"{"configured":["127.0.0.1:7777"],"servers":[]}"#;
    assert_eq!(client.output_target(), target);
    assert_eq!(client.next_event()["event"]["ev"], "connecting");
    client.handle_world_connected(1.0, "127.0.0.1:7777");
    assert_eq!(client.poll_output(), 2);
    assert!(client.output_bytes().len() > 4);
    for byte in welcome() {
        client.handle_world_bytes(2.0, &[byte]);
    }
    let welcomed = client.next_event();
    assert_eq!(welcomed["event"]["ev"], "welcome");
    assert_eq!((client.player(), client.name()), (Some(3.0), "ann".to_owned()));
    assert_eq!(client.resume_token(), [9; 16]);
    assert!(client.is_connected());
}

#[test]
fn an_invalid_message_closes_the_connection_for_good() {
    let mut client = welcomed();
    let mut bytes = vec![0, 0, 0, 1, 0xff];
    bytes.extend(welcome());
    client.handle_world_bytes(3.0, &bytes);
    assert_eq!(client.poll_output(), 3);
    let closed = client.next_event();
    let event = (&closed["event"]["ev"], &closed["event"]["code"]);
    assert_eq!(event, (&json!("closed"), &json!("bad_message")));
    assert!(client.is_closed());
}

#[test]
fn a_code_of_the_server_says_whether_to_come_back() {
    let mut busy = welcomed();
    busy.handle_world_closed(3.0, None, "silence");
    assert_eq!(busy.next_event()["event"]["ev"], "interrupted");
    assert!(busy.next_deadline().is_finite() && !busy.is_closed());
    let mut refused = welcomed();
    let code = ErrorCode::VersionMismatch as u32;
    refused.handle_world_closed(3.0, Some(code), "");
    assert_eq!(refused.next_event()["event"]["code"], "version_mismatch");
}

#[test]
fn a_request_has_the_number_of_its_answer() {
    let mut client = welcomed();
    let number = client.list_rooms(3.0, true).expect("it is sent");
    assert_eq!(client.poll_output(), 2);
    let rooms = pb::RoomList { rooms: Vec::new() };
    let answer = lobby_message(number as u64, pb::world_to_client::Body::RoomList(rooms));
    client.handle_world_bytes(4.0, &answer);
    let rooms = client.next_event();
    assert_eq!((&rooms["request"], &rooms["of"]), (&json!(number as u64), &json!("lobby")));
    assert_eq!(rooms["event"], json!({ "ev": "rooms", "rooms": [] }));
    let short = client.create_room(5.0, r#"{"name": "a", "game": "field"}"#, &[1; 8]);
    assert!(short.expect_err("a short key").contains("bad_option"));
}

#[test]
fn a_frame_is_in_memory_as_its_layout_says() {
    let mut client = playing();
    let room_ms = client.draw(200.0, 200.0);
    assert!((room_ms - 100_200.0).abs() < 1.0, "{room_ms}");
    let buffers = &client.buffers;
    let [count, room_wide, avatar, values, addresses @ ..] = *buffers.layout();
    assert_eq!((count, room_wide, avatar, values), (2, 0, 0, 12));
    assert!(addresses.iter().all(|address| *address > 0));
    let read = buffers.arrays();
    assert_eq!(read.ids[..2], [1, 2]);
    assert_eq!(read.kinds[..2], [0, 0]);
    assert_eq!(read.flags[..2], [FLAG_OWN, FLAG_MOVES]);
    // The example's avatar has six components.
    assert_eq!(read.starts[..2], [0, 6]);
    assert_eq!(read.transforms[..3], [1.0, 1.0, 0.0]);
    // Nothing has come since the first datagram.
    assert!(read.ages[..2].iter().all(|age| (age - 200.0).abs() < 1.0));
    let walker = &read.transforms[13..26];
    assert!((walker[0] - 7.0).abs() < 0.1, "{walker:?}");
    assert!((walker[7] - 10.0).abs() < 0.1, "its velocity: {walker:?}");
    let value = |index: usize| &read.values[index * 3..index * 3 + 3];
    assert!(value(0)[0].is_nan(), "the position is in the transform");
    assert!(value(1)[0] >= 50.0 && value(1)[1..] == [2.0, 100.0]);
    assert_eq!(value(4)[0], 7.0);
    let number = value(5)[0];
    let texts = client.texts_after(number as u32 - 1).expect("a text");
    assert_eq!(texts, format!("[[{number},\"Zoë\"]]"));
    assert_eq!(client.texts_after(number as u32), None);
    client.draw(216.0, 216.0);
    assert_eq!(client.buffers.arrays().values[15], number);
    assert_eq!(client.buffers.layout()[4..], addresses, "nothing has moved");
    client.handle_game_closed(220.0, None, "silence");
    assert!(client.draw(232.0, 232.0).is_nan());
    assert_eq!(client.buffers.layout()[..4], [0, 0, u32::MAX, 0]);
}

#[test]
fn a_command_is_sent_by_its_name_and_a_wrong_one_is_explained() {
    let mut client = playing();
    let mut send = |name, values| client.send(200.0, name, values);
    assert!(send("walk-to", "[[120, 90]]").is_ok());
    assert!(send("cast", r#"[{"spell": "bolt", "target": 2}]"#).is_ok());
    for (name, values, code, why) in [
        ("jump", "[]", "unknown_command", "jump"),
        ("walk-to", "[5]", "malformed", "a position"),
        ("walk-to", "[0.5]", "malformed", "a position"),
        ("shout", "[0.5]", "malformed", "a whole number"),
        ("walk-to", "[[1e9, 0]]", "bad_position", ""),
        ("cast", r#"["bolt", null, 77]"#, "no_such_object", ""),
    ] {
        let error = send(name, values).expect_err(name);
        let error: Json = serde_json::from_str(&error).expect("an object");
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().is_some_and(|text| text.contains(why)), "{error}");
    }
    let outside = welcomed().send(3.0, "rest", "[]").expect_err("no game");
    assert!(outside.contains("not_playing"), "{outside}");
}

#[test]
fn a_confirmed_command_has_the_time_of_its_effect() {
    let (mut client, mut host) = playing_with_host();
    let number = client.send(200.0, "rest", "[]").expect("it is sent");
    while let output @ 1.. = client.poll_output() {
        if output == 6 {
            let received = room_time(220).into();
            let datagram = client.output_bytes();
            host.handle_datagram(received, &datagram).expect("it is valid");
        }
    }
    discard(&mut client);
    client.handle_datagram(270.0, &datagram(&mut host, room_time(250), &mut []));
    let confirmed = client.next_event();
    assert_eq!(confirmed["of"], "game");
    let event = &confirmed["event"];
    assert_eq!((&event["ev"], &event["command"]), (&json!("confirmed"), &json!(number)));
    // The tick that has executed it, and the local lag.
    assert_eq!(event["effect"], room_time(400).millis());
    assert!(client.poll_event().is_none());
}

#[test]
fn the_rules_and_the_line_are_readable() {
    let (mut client, mut host) = playing_with_host();
    let rules: Json = serde_json::from_str(&client.rules().expect("in a game")).expect("an object");
    let expected = json!({
        "delay_ms": 150, "tick_hz": 20, "width": 200.0, "height": 200.0, "cell": 10.0, "inner": 1,
        "outer": 2, "gates": [{ "low": [198.0, 95.0], "high": [200.0, 105.0], "map": 1 }],
    });
    assert_eq!(rules, expected);
    // The second of three is lost.
    datagram(&mut host, room_time(50), &mut []);
    client.handle_datagram(100.0, &datagram(&mut host, room_time(100), &mut []));
    let stats: Json = serde_json::from_str(&client.stats(100.0)).expect("an object");
    assert_eq!((&stats["datagrams_down"], &stats["datagrams_lost"]), (&json!(2), &json!(1)));
    assert_eq!((&stats["shown_behind_ms"], &stats["buffer_ms"]), (&json!(0.0), &json!(150.0)));
    assert!(client.stats(100.0).contains("jitter_ms"));
}

impl WebClient {
    fn next_event(&mut self) -> Json {
        let event = self.poll_event().expect("an event");
        serde_json::from_str(&event).expect("an object")
    }
}

fn client() -> WebClient {
    let settings = r#"{"name": "ann", "render": "room"}"#;
    let mut client = WebClient::new(settings, Vec::new(), 1).expect("valid settings");
    client.set_servers(vec!["127.0.0.1:7777".to_owned()]);
    client
}

fn welcomed() -> WebClient {
    let mut client = client();
    client.connect(0.0);
    client.handle_world_connected(1.0, "127.0.0.1:7777");
    client.handle_world_bytes(2.0, &welcome());
    discard(&mut client);
    client
}

/// A client in a game, with its avatar and another object that walks at 10 m/s in sight.
fn playing() -> WebClient {
    playing_with_host().0
}

/// The same, and the host's end of the link.
fn playing_with_host() -> (WebClient, Link) {
    let mut client = welcomed();
    let room = pb::Room { id: 7, ..pb::Room::default() };
    let joined = pb::RoomJoined { room: Some(room), players: Vec::new() };
    let ticket = pb::Ticket {
        room: 7,
        address: "0.0.0.0:7777".to_owned(),
        certificate_sha256: vec![5; 32],
        ticket: b"let me in".to_vec(),
        incarnation: 1,
        web_certificates_sha256: vec![vec![6; 32]],
        ..pb::Ticket::default()
    };
    let mut bytes = lobby_message(0, pb::world_to_client::Body::RoomJoined(joined));
    bytes.extend(lobby_message(0, pb::world_to_client::Body::Ticket(ticket)));
    client.handle_world_bytes(0.0, &bytes);
    let mut last = 0;
    while let number @ 1.. = client.poll_output() {
        last = number;
    }
    assert_eq!(last, 4, "it dials the host");
    client.handle_game_connected(0.0);
    let schema = Schema::example_with_poses();
    let joined = game_pb::Joined {
        room: 7,
        now_us: room_time(0).micros(),
        delay_ms: LOCAL_LAG.as_millis() as u32,
        tick_hz: 20,
        width: 200.0,
        height: 200.0,
        cell: 10.0,
        inner: 1,
        outer: 2,
        schema: Some((&schema).into()),
        coding: 0,
        presentation: Presentation {
            gates: vec![GateArea { low: [198.0, 95.0], high: [200.0, 105.0], map: 1 }],
            ..schema.presentation.clone()
        }
        .to_block(),
    };
    let body = Some(game_pb::game_to_client::Body::Joined(joined));
    let joined = encode_frame(&GameToClient { body });
    client.handle_game_bytes(0.0, &joined);
    let mut host = Link::new(LinkConfig::default());
    client.handle_datagram(0.0, &datagram(&mut host, room_time(0), &mut two_enter()));
    discard(&mut client);
    (client, host)
}

fn two_enter() -> [Record; 2] {
    let at = room_time(0);
    let path = |points: &[(GameTime, f32)]| {
        let mut path = Timeline::new(16);
        for &(time, x) in points {
            path.insert(time, Waypoint::walk(Position::on_ground(x, 1.0)));
        }
        Component::Path(path)
    };
    let enter = |slot, components| Record::Enter {
        alias: Alias { slot, epoch: 0 },
        kind: 0,
        at,
        own: slot == 0,
        components,
    };
    let walk = path(&[(at, 5.0), (at + Duration::from_secs(10), 105.0)]);
    [
        enter(
            0,
            vec![
                (0, path(&[(at, 1.0)])),
                (1, Component::gauge(at, 50.0, 2.0, 100.0)),
                (4, Component::Number(7)),
                (5, Component::Text("Zoë".to_owned())),
            ],
        ),
        enter(1, vec![(0, walk), (1, Component::gauge(at, 50.0, 2.0, 100.0))]),
    ]
}

fn datagram(host: &mut Link, at: GameTime, records: &mut [Record]) -> Vec<u8> {
    let context = BodyContext {
        schema: &Schema::example_with_poses(),
        delay: LOCAL_LAG,
        approximate_now: at,
    };
    let mut bytes = Vec::new();
    host.write_datagram(at.into(), &mut bytes, |writer, _| {
        let base = write_stamp(at, writer);
        for record in records {
            write_record(record, &context, base, writer);
        }
        end_records(writer);
        write_poses(&[], writer);
    });
    bytes
}

fn room_time(ms: u64) -> GameTime {
    GameTime::ZERO + ROOM_CLOCK_OFFSET + Duration::from_millis(ms)
}

fn welcome() -> Vec<u8> {
    let welcome = pb::Welcome {
        version: ambit_proto::control::WORLD_VERSION,
        player: 3,
        name: "ann".to_owned(),
        resume_token: vec![9; 16],
        grace_ms: 30_000,
        ..pb::Welcome::default()
    };
    lobby_message(1, pb::world_to_client::Body::Welcome(welcome))
}

fn lobby_message(request: u64, body: pb::world_to_client::Body) -> Vec<u8> {
    let body = Some(body);
    encode_frame(&WorldToClient { request, body }).to_vec()
}

fn discard(client: &mut WebClient) {
    while client.poll_output() != 0 {}
    while client.poll_event().is_some() {}
}
