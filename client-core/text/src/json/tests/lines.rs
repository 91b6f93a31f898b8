//! The line of every event, byte for byte: `lines.txt` was made before and changes only by what
//! is added.

use std::f32::consts::FRAC_1_SQRT_2;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::event::*;
use ambit_client_core::client::model::*;
use ambit_client_core::client::stats::RoomLateness;
use ambit_proto::decimal::DecimalFormat;
use ambit_proto::ids::{AccountId, ClientObjectId, PlayerId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::message::FieldValue;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Gauge;

#[test]
#[expect(clippy::too_many_lines, reason = "one event of each kind")]
fn every_event_has_the_line_that_scripts_know() {
    let t = GameTime::from_millis(1_250);
    let room = || RoomListing {
        id: RoomId(7),
        name: "den".into(),
        game: "field".into(),
        players: 1,
        capacity: 8,
        running: true,
        has_password: false,
        host: PlayerId(3),
        parameters: [("npcs".to_owned(), "20".to_owned())].into(),
    };
    let member = || PlayerListing {
        id: PlayerId(3),
        name: "ann".into(),
        ready: true,
        host: true,
        connected: false,
    };
    let p = |key: &str, allowed| ParameterListing {
        key: key.into(),
        label: "L".into(),
        default: "d".into(),
        about: "a".into(),
        allowed,
    };
    let code = || "c".to_owned();
    let message = || "m".to_owned();
    let second = Duration::from_secs(1);
    let pos = Position::new(1.0, 2.0004, 0.1);
    let named = |name: &str, value| NamedValue { name: name.into(), value };
    let events = [
        ViewEvent::Lobby(
            0,
            LobbyEvent::Welcome(Welcome {
                player: PlayerId(3),
                name: "ann".into(),
                resumed: true,
                room: None,
                grace: second,
                account: Some(AccountId([0xa5; 16])),
                login: Some("ann#48213".to_owned()),
                games: vec![GameListing {
                    name: "field".into(),
                    description: "walk".into(),
                    min_players: 1,
                    join_running: true,
                    quick_start: None,
                }],
            }),
        ),
        ViewEvent::Lobby(4, LobbyEvent::Rooms { rooms: vec![room()] }),
        ViewEvent::Lobby(4, LobbyEvent::Created { room: room() }),
        ViewEvent::Lobby(4, LobbyEvent::Joined { room: room(), players: vec![member()] }),
        ViewEvent::Lobby(4, LobbyEvent::Left { room: RoomId(7), code: code(), message: message() }),
        ViewEvent::Lobby(4, LobbyEvent::Players { room: None, players: vec![member()] }),
        ViewEvent::Lobby(4, LobbyEvent::Players { room: Some(RoomId(7)), players: vec![] }),
        ViewEvent::Lobby(
            4,
            LobbyEvent::Game(GameDescription {
                game: "field".into(),
                parameters: vec![
                    p("w", AllowedValues::Whole { min: 0, max: 9 }),
                    p("d", AllowedValues::Decimal { min: 0.5, max: 9.0 }),
                    p("s", AllowedValues::Size { min: 0.5, max: 9.0 }),
                    p("o", AllowedValues::Word { words: vec!["x".into()] }),
                    p("u", AllowedValues::Unknown),
                ],
                default_capacity: 8,
                max_capacity: 9,
                schema: None,
            }),
        ),
        ViewEvent::Lobby(4, LobbyEvent::Renamed { player: PlayerId(3), name: "bea".into() }),
        ViewEvent::Lobby(
            0,
            LobbyEvent::Chat(ChatMessage {
                channel: ChatChannel::Whisper,
                from: PlayerId(3),
                from_name: "ann".into(),
                to: Some(PlayerId(4)),
                text: "hi".into(),
            }),
        ),
        ViewEvent::Lobby(0, LobbyEvent::ChatMissed { count: 3 }),
        ViewEvent::Lobby(4, LobbyEvent::Error { code: code(), message: message() }),
        ViewEvent::Lobby(0, LobbyEvent::Error { code: code(), message: message() }),
        ViewEvent::Lobby(0, LobbyEvent::Interrupted { reason: message(), retry_in: second }),
        ViewEvent::Lobby(0, LobbyEvent::Closed { code: code(), message: message() }),
        ViewEvent::Lobby(0, LobbyEvent::Closed { code: "quit".into(), message: message() }),
        ViewEvent::Lobby(0, LobbyEvent::Connecting { attempt: 2 }),
        ViewEvent::Lobby(0, LobbyEvent::RoomChanged { room: room() }),
        ViewEvent::Lobby(0, LobbyEvent::RoomGone { room: RoomId(7) }),
        ViewEvent::Lobby(4, LobbyEvent::Done),
        ViewEvent::Game(GameEvent::Started(GameStarted {
            room: RoomId(7),
            address: "h:1".into(),
            is_rejoin: true,
            map_number: 2,
            t,
            delay: second,
            tick_hz: 20,
            map: MapExtent { width_m: 100.1, height_m: 50.0, cell_m: 16.0, inner: 2, outer: 3 },
            game: "field".into(),
            schema: Arc::new(Schema::example()),
        })),
        ViewEvent::Game(GameEvent::Enter(ObjectEntered {
            id: ClientObjectId(7),
            kind: "avatar".into(),
            own: true,
            t,
            position: Some(pos),
            components: vec![
                named("path", ComponentValue::Path { position: pos, to: Some((pos, t)) }),
                named("rest", ComponentValue::Path { position: pos, to: None }),
                named(
                    "fixed",
                    ComponentValue::Pose { position: pos, facing: Facing::Fixed, moves: true },
                ),
                named(
                    "free",
                    ComponentValue::Pose {
                        position: pos,
                        facing: Facing::Free([0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2]),
                        moves: false,
                    },
                ),
                named(
                    "health",
                    ComponentValue::Gauge(Gauge { value: 1.23456, rate: 0.1, max: 100.0 }),
                ),
                named("flag", ComponentValue::Flag(true)),
                named("number", ComponentValue::Number(-5)),
                named("half", ComponentValue::Decimal(DecimalFormat::Half.nearest(0.1))),
                named("name", ComponentValue::Text("ann".into())),
            ],
        })),
        ViewEvent::Game(GameEvent::Enter(ObjectEntered {
            id: ClientObjectId(8),
            kind: "score".into(),
            own: false,
            t,
            position: None,
            components: vec![],
        })),
        ViewEvent::Game(GameEvent::Update(ObjectUpdated {
            id: ClientObjectId(7),
            t,
            at: t,
            components: vec![named("path", ComponentValue::Path { position: pos, to: None })],
        })),
        ViewEvent::Game(GameEvent::Update(ObjectUpdated {
            id: ClientObjectId(7),
            t,
            at: t,
            components: vec![named("flag", ComponentValue::Flag(true))],
        })),
        ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(7), t }),
        ViewEvent::Game(GameEvent::Event(SchemaEvent {
            name: "hit".into(),
            t,
            effect: t,
            late: true,
            fields: vec![
                NamedField { name: "at".into(), value: FieldValue::Position(pos), choice: None },
                NamedField {
                    name: "spell".into(),
                    value: FieldValue::Choice(1),
                    choice: Some("bolt".into()),
                },
                NamedField { name: "other".into(), value: FieldValue::Choice(1), choice: None },
                NamedField {
                    name: "d".into(),
                    value: FieldValue::Decimal(DecimalFormat::Angle.nearest(0.1)),
                    choice: None,
                },
            ],
        })),
        ViewEvent::Game(GameEvent::Refused {
            command: 9,
            code: code(),
            message: message(),
            what: "cast bolt".into(),
        }),
        ViewEvent::Game(GameEvent::Error { code: code(), message: message() }),
        ViewEvent::Game(GameEvent::PhysicsMissing {
            t,
            game: "cubes".into(),
            kinds: vec!["cube".into(), "player".into()],
        }),
        ViewEvent::Game(GameEvent::RoomLate {
            t,
            lateness: RoomLateness {
                is_late: true,
                loses_ticks: true,
                load_level: 2,
                ticks_run: 15,
                ticks_due: 20,
            },
        }),
        ViewEvent::Game(GameEvent::RoomLate {
            t,
            lateness: RoomLateness {
                is_late: true,
                loses_ticks: false,
                load_level: 2,
                ticks_run: 15,
                ticks_due: 20,
            },
        }),
        ViewEvent::Game(GameEvent::RoomLate {
            t,
            lateness: RoomLateness {
                is_late: false,
                loses_ticks: false,
                load_level: 0,
                ticks_run: 15,
                ticks_due: 20,
            },
        }),
        ViewEvent::Game(GameEvent::Map { t, map: Arc::new(StaticMap::default()), bytes: 5 }),
        ViewEvent::Game(GameEvent::MapProgress { t, received: 1, total: 2 }),
        ViewEvent::Game(GameEvent::Interrupted { reason: message(), retry_in: second }),
        ViewEvent::Game(GameEvent::Silent { silence: second }),
        ViewEvent::Game(GameEvent::Heard),
        ViewEvent::Game(GameEvent::Ended { code: code(), message: message() }),
    ];
    let lines = events
        .iter()
        .map(|event| crate::json::event(event).map_or("none".to_owned(), |line| line.to_string()));
    let expected: Vec<&str> = include_str!("lines.txt").lines().collect();
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}
