//! Tests with the bytes that an owner would hand over, without a network.

mod given_up;

use std::mem::offset_of;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::frame::encode_frame;
use ambit_proto::ids::{Alias, PlayerId};
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{
    BodyContext, Record, end_records, write_poses, write_record, write_stamp,
};
use ambit_proto::presentation::{GateArea, Presentation};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use serde_json::{Value as Json, json};

use super::*;
use ambit_client_core::client::config::SignIn;

use crate::configure;
use crate::frame_arrays::{FLAG_MOVES, FLAG_OWN, ObjectRow, ValueRow};
use crate::reads;

/// Room time when the page's clock shows zero.
const ROOM_CLOCK_OFFSET: Duration = Duration::from_secs(100);
const LOCAL_LAG: Duration = Duration::from_millis(150);

#[test]
fn a_client_says_hello_and_is_welcomed_by_pieces_of_any_size() {
    let mut client = client();
    client.connect(at(0));
    let dials = client.poll_output().expect("it dials");
    let target = json!({ "configured": ["127.0.0.1:7777"], "servers": [] });
    assert_eq!((dials.number(), dials.target()), (1, target));
    assert_eq!(client.next_event()["event"]["ev"], "connecting");
    client.handle_world_connected(at(1), "127.0.0.1:7777", None);
    let hello = client.poll_output().expect("a hello");
    assert!(hello.number() == 2 && hello.bytes().len() > 4, "{hello:?}");
    for byte in welcome() {
        client.handle_world_bytes(at(2), &[byte]);
    }
    let welcomed = client.next_event();
    assert_eq!(welcomed["event"]["ev"], "welcome");
    let client = client.client();
    assert_eq!((client.player(), client.name()), (Some(PlayerId(3)), "ann"));
    assert!(client.resume_token() == [9; 16] && client.is_connected());
}

#[test]
fn the_owner_signs_for_the_server_that_it_has_checked() {
    let named = CheckedServer::Name("play.example.com".to_owned());
    let pinned = CheckedServer::Certificates(vec![[1; 32], [2; 32]]);
    for server in [named, pinned] {
        let config = ClientConfig { sign_in: SignIn::Key([7; 32]), ..ClientConfig::default() };
        let mut client = PolledClient::new(&config);
        client.connect(at(0));
        client.handle_world_connected(at(1), "play.example.com:7777", Some(server.clone()));
        discard(&mut client);
        let challenge = pb::Challenge { nonce: vec![5; 16] };
        let challenge = lobby_message(1, pb::world_to_client::Body::Challenge(challenge));
        client.handle_world_bytes(at(2), &challenge);
        let asked = client.poll_output().expect("something to sign");
        assert_eq!(asked.number(), 9);
        assert_eq!(asked.bytes(), server.statement(&[5; 16]));
        client.prove_account(at(3), vec![3; 64]);
        let sent = client.poll_output().expect("a proof");
        let mut decoder = FrameDecoder::new(MAX_TO_WORLD);
        decoder.push(sent.bytes());
        let sent = next_message::<pb::ClientToWorld>(&mut decoder).expect("a message");
        let proof = server.proof(vec![3; 64]);
        let body = pb::client_to_world::Body::ProveAccount(proof);
        assert_eq!(sent.and_then(|sent| sent.body), Some(body));
        client.handle_world_bytes(at(4), &welcome());
        discard(&mut client);
        // One that comes late is not sent.
        client.prove_account(at(5), vec![3; 64]);
        assert_eq!(client.poll_output(), None);
    }
}

#[test]
fn an_invalid_message_closes_the_connection_for_good() {
    let mut client = welcomed();
    let mut bytes = vec![0, 0, 0, 1, 0xff];
    bytes.extend(welcome());
    client.handle_world_bytes(at(3), &bytes);
    assert_eq!(client.poll_output(), Some(Output::CloseWorld));
    let closed = client.next_event();
    let event = (&closed["event"]["ev"], &closed["event"]["code"]);
    assert_eq!(event, (&json!("closed"), &json!("bad_message")));
    assert!(client.client().is_closed());
}

#[test]
fn a_code_of_the_server_says_whether_to_come_back() {
    let mut busy = welcomed();
    busy.handle_world_closed(at(3), None, "silence");
    assert_eq!(busy.next_event()["event"]["ev"], "interrupted");
    assert!(busy.next_deadline().is_some() && !busy.client().is_closed());
    let mut refused = welcomed();
    let code = ErrorCode::VersionMismatch as u32;
    refused.handle_world_closed(at(3), Some(code), "");
    assert_eq!(refused.next_event()["event"]["code"], "version_mismatch");
}

#[test]
fn a_request_has_the_number_of_its_answer() {
    let mut client = welcomed();
    let number =
        client.request(at(3), r#"{"list_rooms": {"subscribe": true}}"#).expect("it is sent");
    assert_eq!(client.poll_output().map(|sent| sent.number()), Some(2));
    let rooms = pb::RoomList { rooms: Vec::new() };
    let answer = lobby_message(number, pb::world_to_client::Body::RoomList(rooms));
    client.handle_world_bytes(at(4), &answer);
    let rooms = client.next_event();
    assert_eq!((&rooms["request"], &rooms["of"]), (&json!(number), &json!("lobby")));
    assert_eq!(rooms["event"], json!({ "ev": "rooms", "rooms": [] }));
    let wrong = client.request(at(5), r#"{"join_room": {"room": "a"}}"#);
    assert_eq!(wrong.expect_err("no number").code, "bad_option");
}

#[test]
fn a_frame_is_two_arrays() {
    let mut client = playing();
    let shown = client.draw(at(200), at(200)).expect("a game");
    assert_eq!(shown.millis(), 100_200);
    let arrays = client.view().arrays();
    assert_eq!((arrays.in_sight(), arrays.avatar()), (2, Some(0)));
    let [own, walker] = arrays.objects() else { panic!("{arrays:?}") };
    assert_eq!((own.id, own.kind, own.flags, own.first_value), (1, 0, FLAG_OWN, 0));
    // The example's avatar has six components.
    assert_eq!((walker.id, walker.kind, walker.flags, walker.first_value), (2, 0, FLAG_MOVES, 6));
    assert_eq!(own.position, [1.0, 1.0, 0.0]);
    // Nothing has come since the first datagram.
    assert!((own.age_ms - 200.0).abs() < 1.0 && (walker.age_ms - 200.0).abs() < 1.0);
    assert!((walker.position[0] - 7.0).abs() < 0.1, "{walker:?}");
    assert!((walker.velocity[0] - 10.0).abs() < 0.1, "{walker:?}");

    let values = arrays.values();
    assert!(values.len() == 12 && values[0].value.is_nan(), "the place is in the row");
    let gauge = values[1];
    assert!(gauge.value >= 50.0 && (gauge.rate, gauge.max) == (2.0, 100.0), "{gauge:?}");
    assert!(values[4].value == 7.0 && values[4].rate.is_nan());
    let number = values[5].value;
    let known = |after| arrays.texts().after(after).collect::<Vec<_>>();
    assert_eq!(known(number as u32 - 1), [(number as u32, "Zoë")]);
    assert_eq!(known(number as u32), []);

    client.draw(at(216), at(216));
    assert_eq!(client.view().arrays().values()[5].value, number);
    client.handle_game_closed(at(220), None, "silence");
    assert_eq!(client.draw(at(232), at(232)), None);
    let arrays = client.view().arrays();
    assert!(arrays.objects().is_empty() && arrays.values().is_empty());
    assert_eq!((arrays.in_sight(), arrays.avatar()), (0, None));
}

#[test]
fn a_row_has_no_gaps() {
    assert_eq!(size_of::<ObjectRow>(), 18 * 4);
    assert_eq!(offset_of!(ObjectRow, velocity), 7 * 4);
    assert_eq!(offset_of!(ObjectRow, age_ms), 13 * 4);
    assert_eq!(offset_of!(ObjectRow, id), 14 * 4);
    assert_eq!(offset_of!(ObjectRow, first_value), 17 * 4);
    assert_eq!((size_of::<ValueRow>(), offset_of!(ValueRow, max)), (24, 16));
}

#[test]
fn frames_allocate_nothing_once_their_arrays_are_large_enough() {
    let mut client = playing();
    for ms in 200..210 {
        client.draw(at(ms), at(ms));
    }
    let counted = allocation_counter::measure(|| {
        for ms in 210..260 {
            client.draw(at(ms), at(ms));
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
}

#[test]
fn a_command_is_sent_by_its_name_and_a_wrong_one_is_explained() {
    let mut client = playing();
    let mut send = |name, values| client.send(at(200), name, values);
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
        assert!(error.code == code && error.message.contains(why), "{error:?}");
    }
    let outside = welcomed().send(at(3), "rest", "[]").expect_err("no game");
    assert_eq!(outside.code, "not_playing", "{outside:?}");
    let json: Json = serde_json::from_str(&outside.to_json()).expect("an object");
    assert_eq!(json, json!({ "code": outside.code, "message": outside.message }));
}

#[test]
fn a_confirmed_command_has_the_time_of_its_effect() {
    let (mut client, mut host) = playing_with_host();
    let number = client.send(at(200), "rest", "[]").expect("it is sent");
    while let Some(output) = client.poll_output() {
        if let Output::Datagram(datagram) = output {
            let received = room_time(220).into();
            host.handle_datagram(received, &datagram).expect("it is valid");
        }
    }
    discard(&mut client);
    client.handle_datagram(at(270), &datagram(&mut host, room_time(250), &mut []));
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
    let rules: Json = serde_json::from_str(&reads::rules(client.client()).expect("in a game"))
        .expect("an object");
    let expected = json!({
        "delay_ms": 150, "tick_hz": 20, "width": 200.0, "height": 200.0, "cell": 10.0, "inner": 1,
        "outer": 2, "gates": [{ "low": [198.0, 95.0], "high": [200.0, 105.0], "map": 1 }],
    });
    assert_eq!(rules, expected);
    // The second of three is lost.
    datagram(&mut host, room_time(50), &mut []);
    client.handle_datagram(at(100), &datagram(&mut host, room_time(100), &mut []));
    let stats: Json =
        serde_json::from_str(&reads::stats(client.client(), at(100))).expect("an object");
    assert_eq!((&stats["datagrams_down"], &stats["datagrams_lost"]), (&json!(2), &json!(1)));
    assert_eq!((&stats["shown_behind_ms"], &stats["buffer_ms"]), (&json!(0.0), &json!(150.0)));
    assert!(reads::stats(client.client(), at(100)).contains("jitter_ms"));
}

impl PolledClient {
    fn next_event(&mut self) -> Json {
        let event = self.poll_event().expect("an event");
        serde_json::from_str(&event).expect("an object")
    }
}

/// A time of the owner's clock.
fn at(ms: u64) -> LocalTime {
    LocalTime::from_micros(ms * 1_000)
}

fn client() -> PolledClient {
    let mut config = ClientConfig { seed: 1, confirmations: true, ..ClientConfig::default() };
    configure(&mut config, r#"{"name": "ann", "render": "room"}"#).expect("valid settings");
    let mut client = PolledClient::new(&config);
    client.set_servers(vec!["127.0.0.1:7777".to_owned()]);
    client
}

fn welcomed() -> PolledClient {
    let mut client = client();
    client.connect(at(0));
    client.handle_world_connected(at(1), "127.0.0.1:7777", None);
    client.handle_world_bytes(at(2), &welcome());
    discard(&mut client);
    client
}

/// A client in a game, with its avatar and another object that walks at 10 m/s in sight.
fn playing() -> PolledClient {
    playing_with_host().0
}

/// The same, and the host's end of the link.
fn playing_with_host() -> (PolledClient, Link) {
    let mut client = welcomed();
    client.handle_world_bytes(at(0), &room_and_ticket());
    let last = std::iter::from_fn(|| client.poll_output()).last();
    assert_eq!(last.map(|dials| dials.number()), Some(4), "it dials the host");
    let host = enter_game(&mut client, 0);
    discard(&mut client);
    (client, host)
}

/// The player is in a room whose game runs.
fn room_and_ticket() -> Vec<u8> {
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
    bytes
}

/// The host lets the client in at this time, and two objects are in sight. Returns its end of the
/// link.
fn enter_game(client: &mut PolledClient, ms: u64) -> Link {
    client.handle_game_connected(at(ms));
    let schema = Schema::example_with_poses();
    let joined = game_pb::Joined {
        room: 7,
        now_us: room_time(ms).micros(),
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
    client.handle_game_bytes(at(ms), &joined);
    let mut host = Link::new(LinkConfig::default());
    let now = room_time(ms);
    client.handle_datagram(at(ms), &datagram(&mut host, now, &mut two_enter(now)));
    host
}

fn two_enter(at: GameTime) -> [Record; 2] {
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
    welcome_with(pb::Welcome::default())
}

fn welcome_with(more: pb::Welcome) -> Vec<u8> {
    let welcome = pb::Welcome {
        version: ambit_proto::control::WORLD_VERSION,
        player: 3,
        name: "ann".to_owned(),
        resume_token: vec![9; 16],
        grace_ms: 30_000,
        ..more
    };
    lobby_message(1, pb::world_to_client::Body::Welcome(welcome))
}

fn lobby_message(request: u64, body: pb::world_to_client::Body) -> Vec<u8> {
    let body = Some(body);
    encode_frame(&WorldToClient { request, body }).to_vec()
}

fn discard(client: &mut PolledClient) {
    while client.poll_output().is_some() {}
    while client.poll_event().is_some() {}
}
