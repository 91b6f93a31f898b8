//! View events as JSON objects, one a line.
//!
//! A contract: every object has `ev`. Everything in a game has `t`, the room time in milliseconds.
//! `enter` has `id`, `kind`, `x`, `y`, `z` and `components` by name (no `x`, `y`, `z` if it is
//! room-wide); `event` has `effect` (ms) and
//! `late`; its fields are beside them ([`field_key`]); `error` has a stable `code` and a `message`,
//! and so has `notice`, which is no error. Keys may be added; none changes its meaning. Positions
//! are metres, rounded to a millimetre; angles are radians.

use std::borrow::Cow;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use serde_json::{Map, Value as Json, json};

use ambit_client_core::client::event::{
    ComponentValue, ConnectionStatus, ErrorSubject, Facing, Failure, GameEvent, GameStarted,
    NamedValue, ObjectEntered, ObjectUpdated, ViewEvent, codes,
};
use ambit_client_core::client::model::{
    AllowedValues, ParameterListing, PlayerListing, RoomListing,
};
use ambit_client_core::client::stats::{
    AgeByClass, Distribution, LengthDistribution, RoomLateness, SimulationStats,
};
use ambit_client_core::command_words;

/// The values of `ev`: the events of a view, and what the console itself prints.
pub const KINDS: &[&str] = &[
    "welcome", "rooms", "created", "joined", "started", "enter", "update", "leave", "event",
    "chat", "players", "renamed", "objects", "table", "radar", "stats", "left", "help", "error",
    "map", "notice", "game",
];

/// What the line of a game's event has beside its fields; `bots --dump` adds `client`.
const TAKEN_KEYS: [&str; 6] = ["ev", "t", "name", "effect", "late", "client"];

/// The event's line; `None` for events that scripts do not need.
pub fn event(event: &ViewEvent) -> Option<Json> {
    let json = match event {
        ViewEvent::Welcome(welcome) => json!({
            "ev": "welcome", "player": welcome.player.0, "name": welcome.name,
            "resumed": welcome.resumed,
            "room": welcome.room.map(|room| room.0), "grace_ms": welcome.grace.as_millis() as u64,
            "games": welcome.games.iter().map(|game| &game.name).collect::<Vec<_>>(),
        }),
        ViewEvent::Rooms { rooms, .. } => {
            json!({ "ev": "rooms", "rooms": rooms.iter().map(room).collect::<Vec<_>>() })
        }
        ViewEvent::Created { room: created, .. } => {
            with("created", &[("room", json!(created.id.0))], room(created))
        }
        ViewEvent::Joined { room: joined, players, .. } => with(
            "joined",
            &[("room", json!(joined.id.0)), ("members", players_of(players))],
            room(joined),
        ),
        ViewEvent::Left { room, code, message, .. } => {
            json!({ "ev": "left", "room": room.0, "reason": code, "message": message })
        }
        ViewEvent::Players { room, players, .. } => {
            let room = room.map(|room| room.0);
            json!({ "ev": "players", "room": room, "players": players_of(players) })
        }
        ViewEvent::Game { description, .. } => json!({
            "ev": "game", "game": description.game,
            "default_capacity": description.default_capacity,
            "max_capacity": description.max_capacity,
            "parameters": description.parameters.iter().map(parameter).collect::<Vec<_>>(),
        }),
        ViewEvent::Renamed { player, name, .. } => {
            json!({ "ev": "renamed", "player": player.0, "name": name })
        }
        ViewEvent::Chat(chat) => json!({
            "ev": "chat", "channel": chat.channel.name(), "from": chat.from_name,
            "from_id": chat.from.0, "to_id": chat.to.map(|to| to.0), "text": chat.text,
        }),
        ViewEvent::ChatMissed { count } => json!({
            "ev": "notice", "code": "chat_missed", "count": count,
            "message": format!("{count} chat messages came too fast and are lost"),
        }),
        ViewEvent::Started(started) => self::started(started),
        ViewEvent::PhysicsMissing { t, game, kinds } => physics_missing(*t, game, kinds),
        ViewEvent::RoomLate { t, lateness } => room_late(*t, *lateness),
        ViewEvent::Map { t, map, bytes } => {
            json!({ "ev": "map", "t": ms(*t), "obstacles": map.obstacles.len(), "bytes": bytes })
        }
        ViewEvent::Enter(enter) => self::enter(enter),
        ViewEvent::Update(update) => self::update(update),
        ViewEvent::Leave { id, t } => json!({ "ev": "leave", "t": ms(*t), "id": id.0 }),
        ViewEvent::Event(game_event) => self::game_event(game_event),
        ViewEvent::Error(failure) => self::failure(failure),
        ViewEvent::Connection(connection) => self::connection(connection)?,
        ViewEvent::RoomChanged(_)
        | ViewEvent::RoomGone(_)
        | ViewEvent::Done { .. }
        | ViewEvent::MapProgress { .. } => {
            return None;
        }
    };
    Some(json)
}

fn parameter(parameter: &ParameterListing) -> Json {
    let (kind, values) = match &parameter.allowed {
        AllowedValues::Whole { min, max } => ("whole", json!({ "min": min, "max": max })),
        AllowedValues::Decimal { min, max } => ("decimal", json!({ "min": min, "max": max })),
        AllowedValues::Size { min, max } => ("size", json!({ "min": min, "max": max })),
        AllowedValues::Word(words) => ("word", json!({ "words": words })),
        AllowedValues::Unknown => ("unknown", json!({})),
    };
    let mut json = json!({
        "key": parameter.key, "label": parameter.label, "default": parameter.default,
        "about": parameter.about, "kind": kind,
    });
    if let (Json::Object(json), Json::Object(values)) = (&mut json, values) {
        json.extend(values);
    }
    json
}

/// An error that answers a request or a command has its number.
fn failure(failure: &Failure) -> Json {
    let mut json = error(&failure.code, &failure.message);
    match failure.subject {
        ErrorSubject::Request(number) => json["request"] = json!(number),
        ErrorSubject::Command(number) => json["command"] = json!(number),
        ErrorSubject::Lobby | ErrorSubject::Game => {}
    }
    json
}

pub fn error(code: &str, message: &str) -> Json {
    json!({ "ev": "error", "code": code, "message": message })
}

/// An object at `t`, for lists; without a position if it is room-wide.
pub fn object(
    id: ClientObjectId,
    kind: &str,
    own: bool,
    position: Option<Position>,
    components: &[NamedValue<ComponentValue>],
) -> Json {
    let mut object = json!({ "id": id.0, "kind": kind, "own": own });
    add_state(&mut object, position, components);
    object
}

/// Median and 99th percentile of the ages by class, in milliseconds; null without samples.
pub fn age_by_class(ages: &AgeByClass) -> Json {
    let of = |ages: &Distribution| {
        let p50 = ages.quantile_ms(0.5);
        let p99 = ages.quantile_ms(0.99);
        json!({ "p50": p50, "p99": p99 })
    };
    json!({ "engaged": of(&ages.engaged), "near": of(&ages.near), "far": of(&ages.far) })
}

/// Corrections of the client's own physics.
pub fn simulation(stats: &SimulationStats) -> Json {
    let of = |lengths: &LengthDistribution| {
        let p50 = lengths.quantile_cm(0.5);
        let p99 = lengths.quantile_cm(0.99);
        json!({ "count": lengths.count(), "cm_p50": p50, "cm_p99": p99 })
    };
    json!({
        "steps": stats.steps, "corrections": of(&stats.corrections), "late_poses": stats.late_poses,
        "restored": stats.restored, "reconciled": of(&stats.reconciled),
        "predicted": of(&stats.predicted),
    })
}

/// Milliseconds of room time.
pub fn ms(time: GameTime) -> u64 {
    time.millis()
}

fn started(started: &GameStarted) -> Json {
    json!({
        "ev": "started", "room": started.room.0, "t": ms(started.t), "again": started.is_rejoin,
        "map": started.map_number, "address": started.address,
        "game": started.game, "delay": started.delay.as_millis() as u64, "tick": started.tick_hz,
        "width": started.map.width_m,
        "height": started.map.height_m, "cell": started.map.cell_m, "inner": started.map.inner,
        "outer": started.map.outer, "commands": commands(&started.schema),
    })
}

/// The commands of a game: name, form, one line of help, and the suggested key.
fn commands(schema: &Schema) -> Json {
    let commands = command_words::with_presentations(schema).map(|(command, shown)| {
        json!({
            "name": command.name, "usage": command_words::usage(command), "help": shown.help,
            "key": shown.key,
        })
    });
    commands.collect()
}

fn physics_missing(t: GameTime, game: &str, kinds: &[String]) -> Json {
    let message = format!(
        "this client has no physics of {game} for {}: it shows them between the host's poses",
        kinds.join(", ")
    );
    json!({
        "ev": "notice", "t": ms(t), "code": "physics_missing", "message": message, "game": game,
        "kinds": kinds,
    })
}

fn room_late(t: GameTime, lateness: RoomLateness) -> Json {
    let RoomLateness { is_late, loses_ticks, load_level, ticks_run, ticks_due } = lateness;
    let (code, message) = if loses_ticks {
        (
            "room_overloaded",
            format!(
                "the room is overloaded: it ran {ticks_run} of the last {ticks_due} ticks, and \
                 objects far away are updated less often"
            ),
        )
    } else if is_late {
        (
            "room_late",
            "the room has more to do than its host can: objects far away are updated less often"
                .into(),
        )
    } else {
        ("room_in_time", "the room is in time again".into())
    };
    json!({
        "ev": "notice", "t": ms(t), "code": code, "message": message, "load_level": load_level,
        "ticks_run": ticks_run, "ticks_due": ticks_due,
    })
}

fn enter(enter: &ObjectEntered) -> Json {
    let mut json = json!({
        "ev": "enter", "t": ms(enter.t), "id": enter.id.0, "kind": &*enter.kind, "own": enter.own,
    });
    add_state(&mut json, enter.position, &enter.components);
    json
}

fn update(update: &ObjectUpdated) -> Json {
    let mut json = json!({ "ev": "update", "t": ms(update.t), "id": update.id.0 });
    let position = update.components.iter().find_map(|component| match component.value {
        ComponentValue::Path { position, .. } | ComponentValue::Pose { position, .. } => {
            Some(position)
        }
        _ => None,
    });
    add_state(&mut json, position, &update.components);
    json
}

fn game_event(event: &GameEvent) -> Json {
    let mut json = json!({
        "ev": "event", "t": ms(event.t), "name": &*event.name, "effect": ms(event.effect),
        "late": event.late,
    });
    for field in &event.fields {
        json[&*field_key(&field.name)] = match &field.value {
            FieldValue::None => Json::Null,
            FieldValue::Object(id) => json!(id.0),
            FieldValue::Position(position) => position_json(*position),
            FieldValue::Number(number) => json!(number),
            FieldValue::Decimal(decimal) => json!(decimal.rounded()),
            FieldValue::Choice(index) => {
                field.choice.as_ref().map_or_else(|| json!(index), |name| json!(&**name))
            }
            FieldValue::Text(text) => json!(text),
        };
    }
    json
}

/// The key of an event's field in the line of the event: its name. A game may call a field as it
/// likes, so a name that is taken gets `field_` in front, and so does one that begins with that.
pub fn field_key(name: &str) -> Cow<'_, str> {
    if TAKEN_KEYS.contains(&name) || name.starts_with("field_") {
        Cow::Owned(format!("field_{name}"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Reconnect attempts are not printed, only breaks and ends.
fn connection(connection: &ConnectionStatus) -> Option<Json> {
    match connection {
        ConnectionStatus::Closed { code, .. } if code == codes::QUIT => None,
        ConnectionStatus::Closed { code, message }
        | ConnectionStatus::GameClosed { code, message } => Some(error(code, message)),
        ConnectionStatus::Broken { reason, .. } => Some(error(codes::CONNECTION_LOST, reason)),
        ConnectionStatus::GameBroken { reason, .. } => Some(error("game_connection_lost", reason)),
        ConnectionStatus::GameSilent { silence } => Some(json!({
            "ev": "notice", "code": "silent", "silent_ms": silence.as_millis() as u64,
            "message": "the game's host does not answer: the line may be dead; what is shown is as \
                        old; the client dials anew after 3 s",
        })),
        ConnectionStatus::GameHeard => Some(json!({
            "ev": "notice", "code": "heard", "message": "the game's host is heard again",
        })),
        ConnectionStatus::Connecting { .. } => None,
    }
}

/// Adds `x`, `y`, `z`, the components by name, and the name, if any, at top level.
fn add_state(
    json: &mut Json,
    position: Option<Position>,
    components: &[NamedValue<ComponentValue>],
) {
    if let Some(position) = position {
        let position_json = position_json(position);
        for axis in ["x", "y", "z"] {
            json[axis] = position_json[axis].clone();
        }
    }
    let mut named = Map::new();
    for component in components {
        named.insert(component.name.to_string(), value(&component.value));
        if let (ComponentValue::Text(text), "name") = (&component.value, &*component.name) {
            json["name"] = json!(text);
        }
    }
    json["components"] = Json::Object(named);
}

fn value(value: &ComponentValue) -> Json {
    match value {
        ComponentValue::Path { to: Some((position, time)), .. } => {
            let mut to = position_json(*position);
            to["t"] = json!(ms(*time));
            json!({ "to": to })
        }
        ComponentValue::Path { to: None, .. } => json!({ "to": null }),
        ComponentValue::Pose { facing: Facing::Fixed, moves, .. } => json!({ "moves": moves }),
        ComponentValue::Pose { facing: Facing::Yaw(yaw), moves, .. } => {
            json!({ "moves": moves, "yaw": round(*yaw) })
        }
        ComponentValue::Pose { facing: Facing::Free(turn), moves, .. } => {
            json!({ "moves": moves, "turn": turn.map(round) })
        }
        ComponentValue::Gauge(gauge) => {
            let value = round(gauge.value);
            let rate = round(gauge.rate);
            let max = round(gauge.max);
            json!({ "value": value, "rate": rate, "max": max })
        }
        ComponentValue::Flag(flag) => json!(flag),
        ComponentValue::Number(number) => json!(number),
        ComponentValue::Decimal(decimal) => json!(decimal.rounded()),
        ComponentValue::Text(text) => json!(text),
    }
}

fn position_json(position: Position) -> Json {
    json!({ "x": round(position.x), "y": round(position.y), "z": round(position.z) })
}

/// Rounds to a thousandth: further digits exceed the precision of the float.
fn round(value: f32) -> f64 {
    (f64::from(value) * 1_000.0).round() / 1_000.0
}

/// A room, for lists.
pub fn room(room: &RoomListing) -> Json {
    json!({
        "id": room.id.0, "name": room.name, "game": room.game, "players": room.players,
        "capacity": room.capacity, "running": room.running,
        "password": room.has_password, "host": room.host.0, "parameters": room.parameters,
    })
}

fn players_of(players: &[PlayerListing]) -> Json {
    let player = |player: &PlayerListing| {
        json!({
            "id": player.id.0, "name": player.name, "ready": player.ready, "host": player.host,
            "connected": player.connected,
        })
    };
    players.iter().map(player).collect()
}

fn with(ev: &str, first: &[(&str, Json)], mut json: Json) -> Json {
    json["ev"] = json!(ev);
    for (key, value) in first {
        json[*key] = value.clone();
    }
    json
}

#[cfg(test)]
mod tests {
    use ambit_client_core::client::event::NamedField;

    use super::*;

    #[test]
    fn a_parameter_has_its_key_and_its_label() {
        let json = parameter(&ParameterListing {
            key: "npcs".into(),
            label: "Wanderers".into(),
            default: "20".into(),
            about: "more take more time".into(),
            allowed: AllowedValues::Whole { min: 0, max: 9 },
        });
        let expected = json!({
            "key": "npcs", "label": "Wanderers", "default": "20", "about": "more take more time",
            "kind": "whole", "min": 0, "max": 9,
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn an_enter_has_the_documented_keys() {
        let components = vec![
            NamedValue { name: "name".into(), value: ComponentValue::Text("ann".into()) },
            NamedValue { name: "alive".into(), value: ComponentValue::Flag(true) },
        ];
        let position = Some(Position::new(1.0, 2.25, 0.0));
        let t = GameTime::from_millis(1_250);
        let json = event(&ViewEvent::Enter(ObjectEntered {
            id: ClientObjectId(7),
            kind: "avatar".into(),
            own: true,
            t,
            position,
            components,
        }));
        let expected = json!({
            "ev": "enter", "t": 1250, "id": 7, "kind": "avatar", "own": true, "x": 1.0, "y": 2.25,
            "z": 0.0, "name": "ann",
            "components": { "name": "ann", "alive": true },
        });
        assert_eq!(json, Some(expected));
    }

    #[test]
    fn an_event_has_its_effect_time_and_whether_it_was_late() {
        let game_event = GameEvent {
            name: "damage".into(),
            t: GameTime::from_millis(900),
            effect: GameTime::from_millis(1_000),
            late: false,
            fields: vec![
                field("target", FieldValue::Object(ClientObjectId(3))),
                field("by", FieldValue::None),
                field("amount", FieldValue::Number(25)),
                NamedField { choice: Some("bolt".into()), ..field("spell", FieldValue::Choice(0)) },
                field("words", FieldValue::Text("ouch".into())),
            ],
        };
        let expected = json!({
            "ev": "event", "t": 900, "name": "damage", "effect": 1000, "late": false, "target": 3,
            "by": null, "amount": 25, "spell": "bolt", "words": "ouch",
        });
        assert_eq!(event(&ViewEvent::Event(game_event)), Some(expected));
    }

    #[test]
    fn a_field_of_an_event_cannot_take_the_place_of_what_scripts_rely_on() {
        let text = |text: &str| FieldValue::Text(text.to_owned());
        let game_event = GameEvent {
            name: "renamed".into(),
            t: GameTime::from_millis(900),
            effect: GameTime::from_millis(1_000),
            late: true,
            fields: vec![
                field("ev", text("leave")),
                field("t", FieldValue::Number(1)),
                field("name", text("ann")),
                field("effect", text("glow")),
                field("late", FieldValue::None),
                field("client", FieldValue::Object(ClientObjectId(3))),
                field("field_effect", text("other")),
            ],
        };
        let expected = json!({
            "ev": "event", "t": 900, "name": "renamed", "effect": 1000, "late": true,
            "field_ev": "leave", "field_t": 1, "field_name": "ann", "field_effect": "glow",
            "field_late": null, "field_client": 3, "field_field_effect": "other",
        });
        assert_eq!(event(&ViewEvent::Event(game_event)), Some(expected));
    }

    #[test]
    fn a_component_cannot_take_the_place_of_what_scripts_rely_on() {
        let keys = ["ev", "t", "id", "kind", "own", "x", "components"];
        let components = keys.map(|name| NamedValue {
            name: name.into(),
            value: ComponentValue::Text("other".into()),
        });
        let json = event(&ViewEvent::Enter(ObjectEntered {
            id: ClientObjectId(7),
            kind: "avatar".into(),
            own: true,
            t: GameTime::from_millis(1_250),
            position: Some(Position::new(1.0, 2.0, 0.0)),
            components: components.into(),
        }));
        let expected = json!({
            "ev": "enter", "t": 1250, "id": 7, "kind": "avatar", "own": true, "x": 1.0, "y": 2.0,
            "z": 0.0,
            "components": {
                "ev": "other", "t": "other", "id": "other", "kind": "other", "own": "other",
                "x": "other", "components": "other",
            },
        });
        assert_eq!(json, Some(expected));
    }

    fn field(name: &str, value: FieldValue<ClientObjectId>) -> NamedField {
        NamedField { name: name.into(), value, choice: None }
    }

    #[test]
    fn a_pose_has_a_position_and_an_orientation() {
        let value = ComponentValue::Pose {
            position: Position::new(1.0, 2.0, 0.0),
            facing: Facing::Yaw(0.5),
            moves: true,
        };
        let components = vec![NamedValue { name: "pose".into(), value }];
        let t = GameTime::from_millis(50);
        let json = event(&ViewEvent::Update(ObjectUpdated {
            id: ClientObjectId(3),
            t,
            at: t,
            components,
        }));
        let expected = json!({
            "ev": "update", "t": 50, "id": 3, "x": 1.0, "y": 2.0, "z": 0.0,
            "components": { "pose": { "moves": true, "yaw": 0.5 } },
        });
        assert_eq!(json, Some(expected));
    }

    #[test]
    fn ages_have_a_median_and_a_tail_for_each_class() {
        let mut ages = AgeByClass::default();
        ages.near.add(std::time::Duration::from_millis(60));
        let nothing = json!({ "p50": null, "p99": null });
        let expected =
            json!({ "engaged": nothing, "near": { "p50": 60, "p99": 60 }, "far": nothing });
        assert_eq!(age_by_class(&ages), expected);
    }

    #[test]
    fn missing_physics_is_a_notice_with_the_kinds() {
        let missing = ViewEvent::PhysicsMissing {
            t: GameTime::from_millis(5),
            game: "cubes".into(),
            kinds: vec!["cube".into(), "player".into()],
        };
        let json = event(&missing).expect("scripts get it");
        assert_eq!(
            (&json["ev"], &json["code"], &json["t"], &json["kinds"]),
            (&json!("notice"), &json!("physics_missing"), &json!(5), &json!(["cube", "player"]))
        );
        assert!(KINDS.contains(&"notice"));
    }

    #[test]
    fn a_late_room_is_a_notice_that_says_what_is_lost() {
        let notice = |is_late, loses_ticks| {
            let lateness =
                RoomLateness { is_late, loses_ticks, load_level: 2, ticks_run: 15, ticks_due: 20 };
            let t = GameTime::from_millis(5);
            event(&ViewEvent::RoomLate { t, lateness }).expect("scripts get it")
        };
        let codes = [(false, false), (true, false), (true, true)]
            .map(|(is_late, loses_ticks)| notice(is_late, loses_ticks)["code"].clone());
        assert_eq!(codes, ["room_in_time", "room_late", "room_overloaded"]);
        let lost = notice(true, true);
        let message = lost["message"].as_str().unwrap_or_default();
        assert!(message.contains("15 of the last 20 ticks"), "{lost}");
        assert_eq!((&lost["ticks_run"], &lost["load_level"]), (&json!(15), &json!(2)));
    }

    #[test]
    fn missed_chat_is_a_notice_with_the_number_of_messages() {
        let json = event(&ViewEvent::ChatMissed { count: 3 }).expect("scripts get it");
        assert_eq!(
            (&json["ev"], &json["code"], &json["count"]),
            (&json!("notice"), &json!("chat_missed"), &json!(3))
        );
    }

    #[test]
    fn errors_have_a_code_and_a_message() {
        assert_eq!(
            error("room_full", "no seat left"),
            json!({ "ev": "error", "code": "room_full", "message": "no seat left" })
        );
    }
}
