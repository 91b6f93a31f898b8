//! Valid schemas, and the mistakes for which one is refused.

use super::*;
use crate::pose::Turning;

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
            schema.commands[2].fields[0].choices.clear();
            SchemaProblem::BadWord
        });
    }
    check("schema, command \"rest\"", |schema| {
        schema.commands[0].name = "rest".into();
        SchemaProblem::NameTaken
    });
    for text in ["x".repeat(201), "a\tb".into()] {
        check("schema, command \"rest\"", |schema| {
            schema.commands[1].help.clone_from(&text);
            SchemaProblem::BadUserText
        });
        check("schema, refusal \"tired\"", |schema| {
            schema.refusals[0].text.clone_from(&text);
            SchemaProblem::BadUserText
        });
    }
    check("schema, refusal \"tired\"", |schema| {
        schema.refusals[0].text.clear();
        SchemaProblem::BadUserText
    });
    check("schema, command \"walk-to\", key \"\"", |schema| {
        schema.commands[0].key = Some(String::new());
        SchemaProblem::BadName
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
        FieldType::choice((0..65).map(|n| n.to_string())),
        SchemaProblem::TooMany { what: "choices", count: 65, max: 64 },
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
fn a_look_can_be_drawn() {
    let good = Schema::example().kinds[0].look;
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
            schema.kinds[0].look = look;
            SchemaProblem::BadLook { look }
        });
    }
}

#[test]
fn an_effect_can_be_shown_where_something_happens() {
    let good = Schema::example().events[0].effect.expect("the example has one");
    for effect in [
        Effect { colour: 0x100_0000, ..good },
        Effect { size_m: 0.0, ..good },
        Effect { size_m: f32::INFINITY, ..good },
        Effect { at: Some(2), ..good },
        Effect { from: Some(3), ..good },
    ] {
        check("schema, event \"hit\"", |schema| {
            schema.events[0].effect = Some(effect);
            SchemaProblem::BadEffect { effect }
        });
    }
    let without_fields = Effect { at: None, from: None, reach: None, due: None, ..good };
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].effect = Some(good);
        SchemaProblem::BadEffect { effect: good }
    });
    check("schema, kind \"avatar\", component \"name\"", |schema| {
        schema.kinds[0].components[5].effect = Some(without_fields);
        SchemaProblem::BadEffect { effect: without_fields }
    });
    check("schema, kind \"everywhere\"", |schema| {
        let name = Codec::Text { max_bytes: 9 };
        schema.kinds.push(ObjectKind {
            name: "everywhere".into(),
            components: vec![ComponentSpec::public("name", name)],
            effect: Some(without_fields),
            ..ObjectKind::default()
        });
        SchemaProblem::BadEffect { effect: without_fields }
    });
}

#[test]
fn a_scenery_can_be_drawn() {
    let good = Schema::example().scenery;
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
            schema.scenery = scenery.clone();
            SchemaProblem::BadScenery { scenery }
        });
    }
    let schema = Schema { scenery: looks('#', 0xff_ffff, MAX_OBSTACLE_LOOKS), ..Schema::example() };
    assert_eq!(schema.check(), Ok(()));
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
    schema.kinds[0].components[0].codec = pose;
    assert_eq!(schema.check(), Ok(()));
    check("schema, kind \"avatar\"", |schema| {
        schema.kinds[0].components[1].codec = pose;
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
fn a_text_about_an_event_names_its_fields() {
    for text in ["{whom} is hurt", "{who is hurt", "{} is hurt"] {
        check("schema, event \"hit\"", |schema| {
            schema.events[0].text = text.into();
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
            let mut walk = command.walk.take().expect("it walks");
            break_it(command, &mut walk);
            command.walk = Some(walk);
            SchemaProblem::BadWalk
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
    components.extend((1..16).map(|n| ComponentSpec::public(long(n), wide)));
    let kinds = (0..64).map(|n| ObjectKind {
        name: long(n),
        components: components.clone(),
        ..ObjectKind::default()
    });
    let fields = (0..8).map(|n| FieldSpec::new(long(n), FieldType::NUMBER)).collect::<Vec<_>>();
    let events = (0..64).map(|n| EventKind {
        name: long(n),
        fields: fields.clone(),
        ..EventKind::default()
    });
    let schema = Schema { kinds: kinds.collect(), events: events.collect(), ..Schema::example() };
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
    check("schema, key \"a\"", |schema| {
        schema.controls[1].keys.push("a".into());
        SchemaProblem::NameTaken
    });
    check("schema, control \"jump\"", |schema| {
        schema.controls[1].keys = ["b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
        SchemaProblem::TooMany { what: "keys", count: 5, max: 4 }
    });
    check("schema, control \"jump\"", |schema| {
        schema.controls[1].help = "\n".into();
        SchemaProblem::BadUserText
    });
    check("schema, control \"left\"", |schema| {
        schema.controls[1].direction = Some(Direction::West);
        SchemaProblem::DirectionTaken
    });
}

#[test]
fn a_label_is_one_short_line() {
    let mut schema = Schema::example();
    schema.commands[0].label = "ü".repeat(20);
    assert_eq!(schema.check(), Ok(()));
    for label in ["ü".repeat(20) + "!", "two\nlines".into()] {
        check("schema, kind \"avatar\"", |schema| {
            schema.kinds[0].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, kind \"avatar\", component \"health\"", |schema| {
            schema.kinds[0].components[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, command \"rest\"", |schema| {
            schema.commands[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
        check("schema, control \"jump\"", |schema| {
            schema.controls[1].label.clone_from(&label);
            SchemaProblem::BadLabel
        });
    }
}

#[test]
fn axes_are_few_and_have_only_what_axes_have() {
    let axis = |name: &str, axis, keys: &[&str]| ControlSpec {
        name: name.into(),
        keys: keys.iter().map(|&key| key.into()).collect(),
        axis: Some(axis),
        ..ControlSpec::default()
    };
    let with = |added: &[ControlSpec]| {
        let mut schema = Schema::example();
        schema.controls.extend_from_slice(added);
        schema
    };
    let throttle = axis("throttle", AxisKind::Linear, &["w", "s", "arrowup", "arrowdown"]);
    let aim = axis("aim", AxisKind::Angle, &[]);
    let schema = with(&[aim.clone(), throttle.clone()]);
    assert_eq!(schema.check(), Ok(()));
    let axes: Vec<_> = schema.axes().collect();
    assert_eq!(axes, [(2, AxisKind::Angle), (3, AxisKind::Linear)]);
    assert_eq!(schema.axis(3), Some((1, AxisKind::Linear)));
    assert_eq!((schema.axis(0), schema.axis(4)), (None, None));
    assert_eq!(schema.keymap(["left", "aim"]), Err("aim"), "an axis is not held");
    for bad in [
        ControlSpec { is_tapped: true, ..aim.clone() },
        ControlSpec { direction: Some(Direction::East), ..aim },
        axis("aim", AxisKind::Angle, &["q", "e"]),
        axis("aim", AxisKind::Linear, &["q"]),
    ] {
        let refused = with(&[bad]).check().expect_err("it is no axis");
        assert_eq!(refused.place, "schema, control \"aim\"");
        assert_eq!(refused.problem, SchemaProblem::BadAxis);
    }
    let names = ["a", "b", "c", "d", "e"];
    let many = names.map(|name| axis(name, AxisKind::Angle, &[]));
    let too_many = SchemaProblem::TooMany { what: "axes", count: 5, max: 4 };
    assert_eq!(with(&many).check().map_err(|error| error.problem), Err(too_many));
    assert_eq!(with(&many[1..]).check(), Ok(()));
}
