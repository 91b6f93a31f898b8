//! Presentations that fit a schema, the mistakes for which one is refused, and the block.

mod typescript;

use serde_json::{Value as Json, json};

use super::*;
use crate::axes::AxisKind;
use crate::schema::{
    Codec, CommandKind, ComponentSpec, ControlSpec, ObjectKind, Schema, SchemaError, SchemaProblem,
};

#[test]
fn a_look_can_be_drawn() {
    let good = Schema::example().presentation.kinds[0].look;
    for look in [
        Look { glyph: ' ', ..good },
        Look { glyph: '\u{7}', ..good },
        Look { colour: 0x100_0000, ..good },
        Look { size_m: 0.0, ..good },
        Look { size_m: f32::INFINITY, ..good },
        Look { bar: Some(5), ..good },
        Look { bar: Some(6), ..good },
        Look { label: Some(1), ..good },
    ] {
        check("schema, kind \"avatar\"", |schema| {
            schema.presentation.kinds[0].look = look;
            SchemaProblem::BadLook { look }
        });
    }
}

#[test]
fn an_effect_can_be_shown_where_something_happens() {
    let good = Schema::example().presentation.events[0].effect.expect("the example has one");
    for effect in [
        Effect { colour: 0x100_0000, ..good },
        Effect { size_m: 0.0, ..good },
        Effect { size_m: f32::INFINITY, ..good },
        Effect { at: Some(2), ..good },
        Effect { from: Some(3), ..good },
    ] {
        check("schema, event \"hit\"", |schema| {
            schema.presentation.events[0].effect = Some(effect);
            SchemaProblem::BadEffect { effect }
        });
    }
    let without_fields = Effect { at: None, from: None, reach: None, due: None, ..good };
    check("schema, kind \"avatar\"", |schema| {
        schema.presentation.kinds[0].effect = Some(good);
        SchemaProblem::BadEffect { effect: good }
    });
    check("schema, kind \"avatar\", component \"name\"", |schema| {
        schema.presentation.kinds[0].components = vec![ComponentPresentation::default(); 6];
        schema.presentation.kinds[0].components[5].effect = Some(without_fields);
        SchemaProblem::BadEffect { effect: without_fields }
    });
    check("schema, kind \"everywhere\"", |schema| {
        let name = Codec::Text { max_bytes: 9 };
        schema.kinds.push(ObjectKind {
            name: "everywhere".into(),
            components: vec![ComponentSpec::public("name", name)],
            ..ObjectKind::default()
        });
        let effect = Some(without_fields);
        schema.presentation.kinds.push(KindPresentation { effect, ..KindPresentation::default() });
        SchemaProblem::BadEffect { effect: without_fields }
    });
}

#[test]
fn a_scenery_can_be_drawn() {
    let good = Schema::example().presentation.scenery;
    let looks = |glyph, colour, count| ScenerySpec {
        obstacles: vec![ObstacleLook { glyph, colour }; count],
        ..good.clone()
    };
    for scenery in [
        ScenerySpec { ground: Some(0x100_0000), ..good.clone() },
        looks(' ', 0, 1),
        looks('\u{7}', 0, 1),
        looks('#', 0x100_0000, 1),
        looks('#', 0, MAX_OBSTACLE_LOOKS + 1),
    ] {
        check("schema", |schema| {
            schema.presentation.scenery = scenery.clone();
            SchemaProblem::BadScenery { scenery }
        });
    }
    let mut schema = Schema::example();
    schema.presentation.scenery = looks('#', 0xff_ffff, MAX_OBSTACLE_LOOKS);
    assert_eq!(schema.check(), Ok(()));
}

#[test]
fn a_text_about_an_event_names_its_fields() {
    for text in ["{whom} is hurt", "{who is hurt", "{} is hurt"] {
        check("schema, event \"hit\"", |schema| {
            schema.presentation.events[0].text = text.into();
            SchemaProblem::BadEventText
        });
    }
}

#[test]
fn a_walk_has_a_place_a_speed_and_the_radius_of_a_body() {
    let broken: [fn(&mut CommandKind, &mut WalkSpec); 5] = [
        |command, _| command.fields.clear(),
        |_, walk| walk.speed = WalkSpeed::Constant(0.0),
        |_, walk| walk.speed = WalkSpeed::Constant(f32::NAN),
        |_, walk| walk.speed = WalkSpeed::Component(String::new()),
        |_, walk| walk.radius_m = -0.1,
    ];
    for break_it in broken {
        check("schema, command \"walk-to\"", |schema| {
            let command = &mut schema.commands[0];
            let walk = schema.presentation.commands[0].walk.as_mut();
            break_it(command, walk.expect("it walks"));
            SchemaProblem::BadWalk
        });
    }
}

#[test]
fn a_label_is_one_short_line() {
    let mut schema = Schema::example();
    schema.presentation.commands[0].label = "ü".repeat(20);
    assert_eq!(schema.check(), Ok(()));
    for label in ["ü".repeat(20) + "!", "two\nlines".into()] {
        check("schema, kind \"avatar\"", |schema| {
            schema.presentation.kinds[0].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, kind \"avatar\", component \"health\"", |schema| {
            schema.presentation.kinds[0].components[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, command \"rest\"", |schema| {
            schema.presentation.commands[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, control \"jump\"", |schema| {
            schema.presentation.controls[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
    }
}

#[test]
fn texts_for_users_are_lines() {
    for text in ["x".repeat(201), "a\tb".into()] {
        check("schema, command \"rest\"", |schema| {
            schema.presentation.commands[1].help.clone_from(&text);
            SchemaProblem::BadUserText
        });
        check("schema, control \"jump\"", |schema| {
            schema.presentation.controls[1].help.clone_from(&text);
            SchemaProblem::BadUserText
        });
        check("schema, refusal \"tired\"", |schema| {
            schema.presentation.refusals[0].text.clone_from(&text);
            SchemaProblem::BadUserText
        });
    }
    check("schema, refusal \"tired\"", |schema| {
        schema.presentation.refusals[0].text.clear();
        SchemaProblem::BadUserText
    });
    check("schema, command \"walk-to\", key \"\"", |schema| {
        schema.presentation.commands[0].key = Some(String::new());
        SchemaProblem::BadName
    });
}

#[test]
fn no_list_is_longer_than_that_of_the_schema() {
    let too_many = |what, count, max| SchemaProblem::TooMany { what, count, max };
    check("schema", |schema| {
        schema.presentation.kinds.push(KindPresentation::default());
        too_many("presentations of kinds", 3, 2)
    });
    check("schema, kind \"stone\"", |schema| {
        schema.presentation.kinds[1].components = vec![ComponentPresentation::default(); 2];
        too_many("presentations of components", 2, 1)
    });
    check("schema, event \"hit\"", |schema| {
        schema.presentation.events[0].fields = vec![FieldPresentation::default(); 4];
        too_many("presentations of fields", 4, 3)
    });
    check("schema, command \"cast\", field \"spell\"", |schema| {
        let choices = vec![ChoicePresentation::default(); 3];
        schema.presentation.commands[2].fields[0].choices = choices;
        too_many("texts about choices", 3, 2)
    });
}

#[test]
fn variants_have_a_text_that_tells_them_and_a_size() {
    let break_it: [fn(&mut KindPresentation); 3] = [
        |kind| kind.variants[0].size = 0.0,
        |kind| kind.variants[0].size = f32::NAN,
        |kind| kind.look.by = None,
    ];
    for break_it in break_it {
        check("schema, kind \"avatar\"", |schema| {
            break_it(&mut schema.presentation.kinds[0]);
            SchemaProblem::BadVariant
        });
    }
    check("schema, kind \"avatar\"", |schema| {
        let kind = &mut schema.presentation.kinds[0];
        kind.look.by = Some(1);
        SchemaProblem::BadLook { look: kind.look }
    });
    // A flag or a number tells them as well.
    for told_by in [3, 4] {
        let mut schema = Schema::example();
        schema.presentation.kinds[0].look.by = Some(told_by);
        assert_eq!(schema.check(), Ok(()));
    }
    check("schema, kind \"avatar\"", |schema| {
        schema.presentation.kinds[0].variants = vec![Variant::default(); 65];
        SchemaProblem::TooMany { what: "variants", count: 65, max: 64 }
    });
    check("schema, command \"cast\", field \"spell\", choice \"bolt\"", |schema| {
        schema.presentation.commands[2].fields[0].choices[0].tint = Some(0x100_0000);
        SchemaProblem::BadTint
    });
}

#[test]
fn choices_need_others_of_their_field_and_none_itself() {
    for (bolt, heal) in [("flash", "bolt"), ("heal", "bolt"), ("bolt", "bolt")] {
        check("schema, command \"cast\", field \"spell\"", |schema| {
            let choices = &mut schema.presentation.commands[2].fields[0].choices;
            choices[0].needs = vec![bolt.into()];
            choices[1].needs = vec![heal.into()];
            SchemaProblem::BadNeeds
        });
    }
    // The first one in the list.
    let mut schema = Schema::example();
    let choices = &mut schema.presentation.commands[2].fields[0].choices;
    choices[0].needs = vec!["heal".into(), "heal".into()];
    choices[1].needs.clear();
    assert_eq!(schema.check(), Ok(()));
}

#[test]
fn a_gate_has_a_place() {
    check("schema", |schema| {
        let low = [0.0, f32::INFINITY];
        schema.presentation.gates.push(GateArea { low, ..GateArea::default() });
        SchemaProblem::BadGate
    });
}

#[test]
fn a_key_is_of_one_control_and_a_way_too() {
    check("schema, key \"a\"", |schema| {
        schema.presentation.controls[1].keys.push("a".into());
        SchemaProblem::NameTaken
    });
    check("schema, control \"jump\"", |schema| {
        let keys = ["b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        schema.presentation.controls[1].keys = keys;
        SchemaProblem::TooMany { what: "keys", count: 5, max: 4 }
    });
    check("schema, control \"left\"", |schema| {
        schema.presentation.controls[1].direction = Some(Direction::West);
        SchemaProblem::DirectionTaken
    });
}

#[test]
fn axes_have_the_keys_of_an_axis_and_no_way() {
    let with = |axis, keys: &[&str], direction| {
        let mut schema = Schema::example();
        let name = "aim".into();
        let axis = Some(axis);
        schema.controls.push(ControlSpec { name, axis, ..ControlSpec::default() });
        let keys = keys.iter().map(|&key| key.into()).collect();
        let shown = ControlPresentation { keys, direction, ..ControlPresentation::default() };
        schema.presentation.controls.push(shown);
        schema.check().map_err(|error| error.problem)
    };
    assert_eq!(with(AxisKind::Linear, &["w", "s", "arrowup", "arrowdown"], None), Ok(()));
    assert_eq!(with(AxisKind::Angle, &[], None), Ok(()));
    for bad in [
        with(AxisKind::Angle, &[], Some(Direction::East)),
        with(AxisKind::Angle, &["q", "e"], None),
        with(AxisKind::Linear, &["q"], None),
    ] {
        assert_eq!(bad, Err(SchemaProblem::BadAxis));
    }
}

#[test]
fn a_block_leaves_out_what_is_empty() {
    let shown = Schema::example().presentation;
    let block = shown.to_block();
    let json: Json = serde_json::from_str(&block).expect("it is JSON");
    assert_eq!(
        json["commands"][2],
        json!({
            "help": "Cast a spell.",
            "fields": [{
                "label": "Which spell",
                "listed_in": "book",
                "marked_in": "known",
                "sets": "name",
                "choices": [
                    {
                        "label": "Bolt of fire", "help": "Flies straight on.", "cooldown_ms": 600,
                        "only_for": { "of": "name", "is": "mage" }, "outcome": "won",
                        "reach_cm": 1_500, "cost": { "of": "mana", "amount": 8 }, "sign": "fire",
                        "made_of": "fire",
                        "thing": "scroll", "tint": "#804020", "raises": "clock",
                        "rarity": "rare",
                    },
                    { "alone": true, "needs": ["bolt"] },
                ],
            }],
        })
    );
    assert_eq!(
        json["kinds"][0]["look"],
        json!({
            "glyph": "@", "shape": "arrow", "colour": "#3080ff", "material": "metal", "size": 0.8,
            "bar": 1, "label": 5, "figure": "mage", "by": 5,
        })
    );
    assert!(!block.contains("null"), "{block}");
    assert_eq!(Presentation::from_block(&block).expect("it was written here"), shown);
    assert_eq!(
        Presentation::from_block("").expect("a game may say nothing"),
        Presentation::default()
    );
}

/// The second field is about the same things, and the third one about others.
#[test]
fn what_choices_of_several_fields_are_is_sent_once() {
    let mut shown = Schema::example().presentation;
    let spell = shown.commands[2].fields[0].clone();
    let mut same = spell.clone();
    (same.choices[0].cost, same.choices[0].cooldown_ms) = (None, 9);
    let mut other = spell.clone();
    other.choices[1].label = "Another".into();
    shown.commands[3].fields = vec![same.clone(), other];
    shown.events[0].fields = vec![FieldPresentation { label: "Of".into(), ..same }];
    let block = shown.to_block();
    let json: Json = serde_json::from_str(&block).expect("it is JSON");
    let fields = &json["commands"][3]["fields"];
    assert_eq!((&fields[0]["as"], &fields[1]["as"]), (&json!([2, 0]), &Json::Null));
    assert_eq!(json["events"][0]["fields"][0]["as"], json!([2, 0]));
    assert_eq!(fields[0]["choices"][1], json!({ "alone": true }));
    assert_eq!(block.matches("Flies straight on.").count(), 2);
    assert_eq!(Presentation::from_block(&block).expect("it was written here"), shown);
    // What is nowhere says nothing.
    for place in ["[9,0]", "[2]", "7", "\"x\"", "[-1,0]"] {
        let block = block.replace("\"as\":[2,0]", &format!("\"as\":{place}"));
        let read = Presentation::from_block(&block).expect("only hints");
        assert_eq!(read.commands[3].fields[0].choices[0].help, "", "{place}");
    }
}

#[test]
fn hints_that_this_build_does_not_know_are_ignored() {
    let read = |block: Json| Presentation::from_block(&block.to_string()).expect("only hints");
    let shown = read(json!({
        "kinds": [{
            "look": { "material": "jelly", "shape": "star", "colour": "#102030", "new": [1] },
            "effect": { "form": "fireworks", "colour": "#ffffff" },
        }],
        "scenery": { "camera": "below" },
        "smells": ["roses"],
    }));
    let look = Look { colour: 0x10_2030, ..Look::default() };
    assert_eq!(shown.kinds[0], KindPresentation { look, ..KindPresentation::default() });
    assert_eq!(shown.scenery.camera, Camera::Around);
}

#[test]
fn what_is_no_block_is_an_error() {
    for block in [
        "[",
        "7",
        "{\"kinds\":7}",
        "{\"kinds\":[{\"look\":{\"glyph\":\"ab\"}}]}",
        "{\"kinds\":[{\"look\":{\"colour\":\"red\"}}]}",
        "{\"kinds\":[{\"look\":{\"bar\":256}}]}",
        "{\"scenery\":{\"ground\":\"#+12345\"}}",
    ] {
        assert!(Presentation::from_block(block).is_err(), "{block}");
    }
    let nested = "[".repeat(60_000);
    assert!(Presentation::from_block(&nested).is_err());
}

/// `break_it` changes the example and returns the problem expected at `place`.
fn check(place: &str, break_it: impl FnOnce(&mut Schema) -> SchemaProblem) {
    let mut schema = Schema::example();
    let problem = break_it(&mut schema);
    assert_eq!(schema.check(), Err(SchemaError { place: place.into(), problem }));
}
