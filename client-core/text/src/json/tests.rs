//! Lines of events that matter in detail; `lines` has one of each kind.

mod lines;

use std::sync::Arc;

use ambit_client_core::client::event::{
    Facing, NamedCounts, NamedField, ObjectUpdated, SchemaEvent,
};
use ambit_client_core::client::model::{AllowedValues, ParameterListing};
use ambit_client_core::client::stats::RoomLateness;
use ambit_proto::counts::Counts;
use ambit_proto::message::FieldValue;

use super::*;

#[test]
fn a_parameter_has_its_key_and_its_label() {
    let json = json!(ParameterListing {
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

/// As many names as there may be, each as long as it may be in the content of `deus`.
#[test]
fn each_name_that_is_counted_has_its_count() {
    let names: Vec<Arc<str>> =
        (0..64).map(|at| format!("{at:02}-item-of-a-long-name-x").into()).collect();
    let counts = Counts::new((0..64).map(|at| (at, if at < 36 { 2 } else { 1 })));
    let value = ComponentValue::Counts(NamedCounts { names: names.into(), counts });
    let json = json!(value);
    let listed = json.as_object().expect("an object");
    let sum: u64 = listed.values().filter_map(Json::as_u64).sum();
    assert_eq!((listed.len(), sum), (64, 100));
    assert_eq!(json["63-item-of-a-long-name-x"], 1);
}

#[test]
fn an_enter_has_the_documented_keys() {
    let components = vec![
        NamedValue { name: "name".into(), value: ComponentValue::Text("ann".into()) },
        NamedValue { name: "alive".into(), value: ComponentValue::Flag(true) },
    ];
    let (position, t) = (Some(Position::new(1.0, 2.25, 0.0)), GameTime::from_millis(1_250));
    let json = event(&ViewEvent::Game(GameEvent::Enter(ObjectEntered {
        id: ClientObjectId(7),
        kind: "avatar".into(),
        own: true,
        t,
        position,
        components,
    })));
    let expected = json!({
        "ev": "enter", "t": 1250, "id": 7, "kind": "avatar", "own": true, "x": 1.0, "y": 2.25,
        "z": 0.0, "name": "ann",
        "components": { "name": "ann", "alive": true },
    });
    assert_eq!(json, Some(expected));
}

#[test]
fn an_event_has_its_effect_time_and_whether_it_was_late() {
    let game_event = SchemaEvent {
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
    assert_eq!(event(&ViewEvent::Game(GameEvent::Event(game_event))), Some(expected));
}

#[test]
fn a_field_of_an_event_cannot_take_the_place_of_what_scripts_rely_on() {
    let text = |text: &str| FieldValue::Text(text.to_owned());
    let game_event = SchemaEvent {
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
    assert_eq!(event(&ViewEvent::Game(GameEvent::Event(game_event))), Some(expected));
}

#[test]
fn a_component_cannot_take_the_place_of_what_scripts_rely_on() {
    let keys = ["ev", "t", "id", "kind", "own", "x", "components"];
    let components = keys
        .map(|name| NamedValue { name: name.into(), value: ComponentValue::Text("other".into()) });
    let json = event(&ViewEvent::Game(GameEvent::Enter(ObjectEntered {
        id: ClientObjectId(7),
        kind: "avatar".into(),
        own: true,
        t: GameTime::from_millis(1_250),
        position: Some(Position::new(1.0, 2.0, 0.0)),
        components: components.into(),
    })));
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
    let json = event(&ViewEvent::Game(GameEvent::Update(ObjectUpdated {
        id: ClientObjectId(3),
        t,
        at: t,
        components,
    })));
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
    let expected = json!({ "engaged": nothing, "near": { "p50": 60, "p99": 60 }, "far": nothing });
    assert_eq!(age_by_class(&ages), expected);
}

#[test]
fn missing_physics_is_a_notice_with_the_kinds() {
    let missing = ViewEvent::Game(GameEvent::PhysicsMissing {
        t: GameTime::from_millis(5),
        game: "cubes".into(),
        kinds: vec!["cube".into(), "player".into()],
    });
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
        event(&ViewEvent::Game(GameEvent::RoomLate { t, lateness })).expect("scripts get it")
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
    let json =
        event(&ViewEvent::Lobby(0, LobbyEvent::ChatMissed { count: 3 })).expect("scripts get it");
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
