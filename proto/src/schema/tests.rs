//! Valid schemas, and the mistakes for which one is refused.

use super::*;
use crate::pose::Turning;
use crate::presentation::ComponentPresentation;

#[test]
fn a_schema_with_one_of_everything_is_valid() {
    assert_eq!(Schema::example().check(), Ok(()));
    assert_eq!(Schema { game: "empty".into(), ..Schema::default() }.check(), Ok(()));
}

#[test]
fn schema_entries_are_found_by_name_and_by_index() {
    let schema = Schema::example();
    assert_eq!(schema.kind_index("avatar"), Some(0));
    assert_eq!(schema.kind_index("Avatar"), None);
    assert_eq!(schema.kind(0).and_then(|kind| kind.component_index("mana")), Some(2));
    assert_eq!(schema.kind(2), None);
    assert_eq!(schema.event_index("hit"), Some(0));
    assert_eq!(schema.command_index("cast"), Some(2));
    assert_eq!(schema.command(2).and_then(|cast| cast.field_index("at")), Some(1));
    assert_eq!(schema.commands[2].fields[0].ty.choice_index("heal"), Some(1));
    assert_eq!(schema.refusal_index("tired"), Some(0));
    assert_eq!((schema.command(4), schema.refusal(1)), (None, None));
}

#[test]
fn lists_that_are_too_long_are_refused() {
    check("schema", |schema| {
        schema.kinds = (0..65)
            .map(|n| ObjectKind { name: n.to_string(), ..Schema::example().kinds.remove(0) })
            .collect();
        SchemaProblem::TooMany { what: "kinds", count: 65, max: 64 }
    });
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components =
            (0..17).map(|n| ComponentSpec::public(n.to_string(), Codec::Path)).collect();
        SchemaProblem::TooMany { what: "components", count: 17, max: 16 }
    });
    check("schema", |schema| {
        schema.events =
            (0..65).map(|n| EventKind { name: n.to_string(), ..EventKind::default() }).collect();
        SchemaProblem::TooMany { what: "events", count: 65, max: 64 }
    });
    check("schema, event \"hit\"", |schema| {
        schema.events[0].fields =
            (0..9).map(|n| FieldSpec::new(n.to_string(), FieldType::NUMBER)).collect();
        SchemaProblem::TooMany { what: "fields", count: 9, max: 8 }
    });
}

#[test]
fn commands_and_refusals_are_words_and_bounded() {
    check("schema", |schema| {
        schema.commands = vec![CommandKind::default(); 65];
        SchemaProblem::TooMany { what: "commands", count: 65, max: 64 }
    });
    check("schema", |schema| {
        schema.refusals = vec![RefusalKind::default(); 65];
        SchemaProblem::TooMany { what: "refusals", count: 65, max: 64 }
    });
    for name in ["Walk", "walk to", "wälk"] {
        check(&format!("schema, command {name:?}"), |schema| {
            schema.commands[0].name = name.into();
            SchemaProblem::BadWord
        });
        check(&format!("schema, refusal {name:?}"), |schema| {
            schema.refusals[0].name = name.into();
            SchemaProblem::BadWord
        });
        let place = format!("schema, command \"cast\", field \"spell\", choice {name:?}");
        check(&place, |schema| {
            schema.commands[2].fields[0].ty = FieldType::choice([name]);
            schema.presentation.commands[2].fields.clear();
            SchemaProblem::BadWord
        });
    }
    check("schema, command \"rest\"", |schema| {
        schema.commands[0].name = "rest".into();
        SchemaProblem::NameTaken
    });
}

#[test]
fn fields_have_ranges_that_a_message_can_hold() {
    let place = "schema, command \"rest\", field \"f\"";
    let check_type = |ty: FieldType, problem: SchemaProblem| {
        check(place, |schema| {
            schema.commands[1].fields = vec![FieldSpec::new("f", ty)];
            problem
        });
    };
    check_type(FieldType::Number { min: 1, max: 0 }, SchemaProblem::BadNumber { min: 1, max: 0 });
    check_type(FieldType::Choice(Vec::new()), SchemaProblem::NoChoices);
    check_type(
        FieldType::choice((0..1_025).map(|n| n.to_string())),
        SchemaProblem::TooMany { what: "choices", count: 1_025, max: 1_024 },
    );
    for max_bytes in [0, 201] {
        check_type(FieldType::Text { max_bytes }, SchemaProblem::BadText { max_bytes });
    }
    let texts: Vec<_> =
        (0..3).map(|n| FieldSpec::new(n.to_string(), FieldType::Text { max_bytes: 200 })).collect();
    let problem = || SchemaProblem::FieldsTooLarge { bits: 3 * 1_611 };
    check("schema, command \"rest\"", |schema| {
        schema.commands[1].fields.clone_from(&texts);
        problem()
    });
    check("schema, event \"hit\"", |schema| {
        schema.events[0].fields.clone_from(&texts);
        problem()
    });
}

#[test]
fn unreadable_and_repeated_names_are_refused() {
    for name in [String::new(), "x".repeat(33), "ü".repeat(17), "a\nb".into()] {
        check(&format!("schema, game {name:?}"), |schema| {
            schema.game.clone_from(&name);
            SchemaProblem::BadName
        });
        check(&format!("schema, kind \"avatar\", component {name:?}"), |schema| {
            schema.kinds[0].components[1].name.clone_from(&name);
            SchemaProblem::BadName
        });
    }
    check("schema, event \"hit\", field \"who\"", |schema| {
        schema.events[0].fields.push(FieldSpec::new("who", FieldType::NUMBER));
        SchemaProblem::NameTaken
    });
}

#[test]
fn an_object_without_a_public_path_first_is_refused() {
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components.clear();
        SchemaProblem::NoPosition
    });
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components.swap(0, 1);
        SchemaProblem::NoPosition
    });
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components[0].audience = ComponentAudience::Owner;
        SchemaProblem::NoPosition
    });
}

#[test]
fn clients_get_a_schema_without_the_components_of_the_server() {
    let mut schema = Schema::example();
    let shown = schema.clone();
    assert_eq!(*schema.for_clients(), shown);
    let count = schema.kinds[0].components.len();
    let secret = ComponentSpec::server("secret", Codec::Text { max_bytes: MAX_TEXT_BYTES });
    // Not even together do they have to fit into a datagram.
    let numbered = |n: usize| ComponentSpec { name: format!("secret{n}"), ..secret.clone() };
    schema.kinds[0].components.extend((count..MAX_COMPONENTS).map(numbered));
    let label = ComponentPresentation { label: "Secret".into(), ..Default::default() };
    schema.presentation.kinds[0].components.resize(MAX_COMPONENTS, label);
    assert_eq!(schema.check(), Ok(()));
    let seen = schema.for_clients();
    assert_eq!(seen.kinds, shown.kinds);
    assert!(!format!("{seen:?}").contains("ecret"));
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components.insert(1, secret.clone());
        SchemaProblem::ServerFirst
    });
    check("schema, kind \"stone\"", |schema| {
        schema.kinds[1].components = vec![secret.clone()];
        SchemaProblem::ServerFirst
    });
}

#[test]
fn a_kind_without_path_or_pose_is_room_wide() {
    let mut schema = Schema::example();
    let score = Codec::Number { min: 0, max: 50 };
    schema.kinds[1].components = vec![ComponentSpec::owner("score", score)];
    assert_eq!(schema.check(), Ok(()));
    assert_eq!(
        schema.kinds.iter().map(ObjectKind::is_room_wide).collect::<Vec<_>>(),
        [false, true]
    );
    check("schema, kind \"stone\"", |broken| {
        let path = ComponentSpec::public("path", Codec::Path);
        broken.kinds[1].components = vec![schema.kinds[1].components[0].clone(), path];
        SchemaProblem::NoPosition
    });
}

#[test]
fn only_the_first_component_can_be_a_pose() {
    let pose =
        Codec::Pose(PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None });
    let mut schema = Schema::example();
    schema.kinds[0].components[0].codec = pose.clone();
    assert_eq!(schema.check(), Ok(()));
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components[1].codec = pose.clone();
        SchemaProblem::SecondPose
    });
    for (per_metre, turn) in [
        (0, Turning::Fixed),
        (MAX_PER_METRE + 1, Turning::Fixed),
        (1, Turning::Yaw { bits: 3 }),
        (1, Turning::Yaw { bits: 13 }),
        (1, Turning::Free { bits: 4 }),
        (1, Turning::Free { bits: 16 }),
    ] {
        check("schema, kind \"avatar\", component \"path\"", |schema| {
            let format = PoseFormat { per_metre, turn, motion: None };
            schema.kinds[0].components[0].codec = Codec::Pose(format);
            SchemaProblem::BadPose { format }
        });
    }
}

#[test]
fn target_ages_ascend() {
    let good = Freshness::default();
    for freshness in [
        Freshness { engaged_ms: 0, ..good },
        Freshness { engaged_ms: 101, ..good },
        Freshness { near_ms: 401, ..good },
        Freshness { far_ms: 60_001, ..good },
        Freshness { near_m: -1.0, ..good },
        Freshness { near_m: f32::INFINITY, ..good },
    ] {
        check("schema, kind \"avatar\"", |schema| {
            schema.kinds[0].freshness = freshness;
            SchemaProblem::BadFreshness { freshness }
        });
    }
}

#[test]
fn ranges_that_the_format_cannot_hold_are_refused() {
    let place = "schema, kind \"avatar\", component \"health\"";
    for max in [0.0, -1.0, 0.06, 65_536.0, f32::INFINITY] {
        check(place, |schema| {
            schema.kinds[0].components[1].codec = Codec::Gauge { max };
            SchemaProblem::BadGauge { max }
        });
    }
    let mut schema = Schema::example();
    schema.kinds[0].components[1].codec = Codec::Gauge { max: f32::NAN };
    assert!(schema.check().is_err());
    check(place, |schema| {
        schema.kinds[0].components[1].codec = Codec::Number { min: 3, max: 2 };
        SchemaProblem::BadNumber { min: 3, max: 2 }
    });
    for max_bytes in [0, 201, u32::MAX] {
        check(place, |schema| {
            schema.kinds[0].components[1].codec = Codec::Text { max_bytes };
            SchemaProblem::BadText { max_bytes }
        });
    }
    for (inner, outer) in [(0, 0), (3, 2)] {
        check("schema, kind \"avatar\"", |schema| {
            schema.kinds[0].interest_radii = Some(InterestRadii { inner, outer });
            SchemaProblem::BadInterestRadii { inner: inner.into(), outer: outer.into() }
        });
    }
}

#[test]
fn a_kind_too_large_for_a_datagram_is_refused() {
    check("schema, kind \"avatar\"", |schema| {
        let texts = (0..6)
            .map(|n| ComponentSpec::public(format!("text{n}"), Codec::Text { max_bytes: 200 }));
        schema.kinds[0].components.splice(1.., texts);
        SchemaProblem::KindTooLarge { bits: 4 + 15 * 106 + 6 * 1_608 }
    });
}

#[test]
fn a_schema_too_large_for_a_frame_is_refused() {
    let long = |n: usize| format!("{n:032}");
    let wide = Codec::Number { min: i64::MIN, max: i64::MAX };
    let mut components = vec![ComponentSpec::public("path", Codec::Path)];
    components.extend((1..16).map(|n| ComponentSpec::public(long(n), wide.clone())));
    let kinds = (0..64).map(|n| ObjectKind {
        name: long(n),
        components: components.clone(),
        ..ObjectKind::default()
    });
    let fields = (0..8).map(|n| FieldSpec::new(long(n), FieldType::NUMBER)).collect::<Vec<_>>();
    let events = (0..64).map(|n| EventKind { name: long(n), fields: fields.clone() });
    let game = "large".into();
    let kinds = kinds.collect();
    let events = events.collect();
    let schema = Schema { game, kinds, events, ..Schema::default() };
    assert!(matches!(
        schema.check(),
        Err(SchemaError { problem: SchemaProblem::SchemaTooLarge { .. }, .. })
    ));
}

/// `break_it` changes the example and returns the problem expected at `place`.
fn check(place: &str, break_it: impl FnOnce(&mut Schema) -> SchemaProblem) {
    let mut schema = Schema::example();
    let problem = break_it(&mut schema);
    assert_eq!(schema.check(), Err(SchemaError { place: place.into(), problem }));
}

#[test]
fn controls_have_names_and_keys_of_their_own() {
    assert_eq!(Schema::example().keymap(["jump"]), Ok(Keymap(0b10)));
    assert_eq!(Schema::example().keymap(["left", "jump"]), Ok(Keymap(0b11)));
    assert_eq!(Schema::example().keymap(["left", "fly", "swim"]), Err("fly"));
    check("schema", |schema| {
        schema.controls = vec![ControlSpec::default(); 33];
        SchemaProblem::TooMany { what: "controls", count: 33, max: 32 }
    });
    check("schema, control \"Left\"", |schema| {
        schema.controls[0].name = "Left".into();
        SchemaProblem::BadWord
    });
    check("schema, control \"left\"", |schema| {
        schema.controls[1].name = "left".into();
        SchemaProblem::NameTaken
    });
}

#[test]
fn axes_are_few_and_not_tapped() {
    let axis = |name: &str, axis| ControlSpec {
        name: name.into(),
        axis: Some(axis),
        ..ControlSpec::default()
    };
    let with = |added: &[ControlSpec]| {
        let mut schema = Schema::example();
        schema.controls.extend_from_slice(added);
        schema
    };
    let aim = axis("aim", AxisKind::Angle);
    let schema = with(&[aim.clone(), axis("throttle", AxisKind::Linear)]);
    assert_eq!(schema.check(), Ok(()));
    let axes: Vec<_> = schema.axes().collect();
    assert_eq!(axes, [(2, AxisKind::Angle), (3, AxisKind::Linear)]);
    assert_eq!(schema.axis(3), Some((1, AxisKind::Linear)));
    assert_eq!((schema.axis(0), schema.axis(4)), (None, None));
    assert_eq!(schema.keymap(["left", "aim"]), Err("aim"), "an axis is not held");
    let refused = with(&[ControlSpec { is_tapped: true, ..aim }]).check().expect_err("no axis");
    assert_eq!(refused.place, "schema, control \"aim\"");
    assert_eq!(refused.problem, SchemaProblem::BadAxis);
    let many = ["a", "b", "c", "d", "e"].map(|name| axis(name, AxisKind::Angle));
    let too_many = SchemaProblem::TooMany { what: "axes", count: 5, max: 4 };
    assert_eq!(with(&many).check().map_err(|error| error.problem), Err(too_many));
    assert_eq!(with(&many[1..]).check(), Ok(()));
}

#[test]
fn rows_have_fields_and_no_objects() {
    let rows = |fields: Vec<FieldSpec>, max| {
        move |schema: &mut Schema| {
            let format = RowFormat::new(fields, max);
            schema.kinds[1].components.push(ComponentSpec::public("bag", Codec::Rows(format)));
        }
    };
    let number = || FieldSpec::new("count", FieldType::Number { min: 1, max: 99 });
    let mut schema = Schema::example();
    rows(vec![number()], 40)(&mut schema);
    assert_eq!(schema.check(), Ok(()));
    let place = "schema, kind \"stone\", component \"bag\"";
    for (fields, max) in [
        (vec![], 40),
        (vec![number()], 0),
        (vec![number()], 1_025),
        (vec![FieldSpec::new("who", FieldType::Object)], 40),
    ] {
        let make = rows(fields, max);
        check(place, |schema| {
            make(schema);
            SchemaProblem::BadRows
        });
    }
    check(&format!("{place}, field \"count\""), |schema| {
        rows(vec![number(), number()], 40)(schema);
        SchemaProblem::NameTaken
    });
    check("schema, kind \"stone\"", |schema| {
        let text = FieldSpec::new("what", FieldType::Text { max_bytes: 200 });
        rows(vec![text], 40)(schema);
        let bits = schema.kinds[1].components.iter().map(|spec| spec.codec.max_bits()).sum();
        SchemaProblem::KindTooLarge { bits }
    });
    check("schema, kind \"stone\", component \"seal\"", |schema| {
        let seal = ComponentSpec::public("seal", Codec::Bytes { max_bytes: 1_025 });
        schema.kinds[1].components.push(seal);
        SchemaProblem::BadBytes { max_bytes: 1_025 }
    });
}
