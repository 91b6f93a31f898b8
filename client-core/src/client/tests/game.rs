//! Joins, datagrams, objects, commands.

use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::message::{FieldValue, Notice, Record, RefusalReason};

use super::super::event::{ComponentValue, GameEvent, SchemaEvent};
use super::super::*;
use super::harness::*;

#[test]
fn a_ticket_lets_the_client_join_the_game() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    let expected = ClientOutput::ConnectGame {
        address: "0.0.0.0:7777".into(),
        certificate_sha256: [5; 32],
        web_certificates_sha256: vec![[6; 32]],
    };
    assert_eq!(harness.outputs, [expected]);
    harness.join_game();
    let Some(ViewEvent::Game(GameEvent::Started(started))) = harness.events().pop() else {
        panic!("expected a start")
    };
    assert_eq!((started.room, started.is_rejoin, started.tick_hz), (RoomId(ROOM), false, 20));
    assert_eq!(
        (started.delay, started.map.cell_m, started.schema.commands.len()),
        (ms(150), 10.0, 5)
    );
    assert!(harness.client.is_playing());
}

#[test]
fn the_join_gives_a_first_estimate_of_room_time() {
    let harness = ClientHarness::playing();
    let estimate = harness.client.room_time(harness.now).expect("in a game");
    let error = estimate.since(harness.room_time()).max(harness.room_time().since(estimate));
    assert!(error <= ms(1), "{error:?}");
}

#[test]
fn a_view_is_told_of_a_late_room_when_a_player_would_notice() {
    let mut harness = ClientHarness::playing();
    let mut told = |is_late, loses_ticks, load_level| {
        let late =
            game_pb::RoomLate { is_late, loses_ticks, load_level, ticks_run: 15, ticks_due: 20 };
        harness.send_game_message(game_pb::game_to_client::Body::Late(late));
        assert_eq!(harness.client.stats().room_lateness, late.into());
        let lateness = |event| match event {
            ViewEvent::Game(GameEvent::RoomLate { lateness, .. }) => Some(lateness.loses_ticks),
            _ => None,
        };
        harness.events().into_iter().filter_map(lateness).collect::<Vec<_>>()
    };
    assert_eq!(told(true, false, 1), [false]);
    assert_eq!(told(true, true, 3), [true]);
    assert_eq!(told(true, true, 5), [false; 0]);
    assert_eq!(told(true, false, 5), [false]);
    assert_eq!(told(false, false, 0), [false]);
}

#[test]
fn an_object_is_visible_from_its_enter_time_on() {
    let mut harness = ClientHarness::playing();
    let at = harness.room_time() + ms(110);
    harness.send(&[enter(0, at, 5.0)]);
    assert_eq!(harness.events(), []);
    assert_eq!(harness.client.objects().count(), 0);
    harness.advance(ms(120));
    let events = harness.events();
    let [ViewEvent::Game(GameEvent::Enter(entered))] = &events[..] else { panic!("{events:?}") };
    assert!(entered.own && &*entered.kind == "avatar" && entered.t >= at.whole_millis());
    assert_eq!(entered.position, Some(Position::on_ground(5.0, 1.0)));
    let id = harness.client.avatar().expect("in sight").id;
    assert_eq!(harness.client.position(id, harness.now), Some(Position::on_ground(5.0, 1.0)));
    let health = harness.client.gauge(id, "health", harness.now + ms(1_000)).expect("a gauge");
    assert!((52.0..52.1).contains(&health.value), "{health:?}");
}

#[test]
fn an_update_is_emitted_on_arrival_with_its_future_value() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(1, now, 5.0)]);
    harness.advance(ms(50));
    harness.events();
    let at = harness.room_time() + ms(110);
    let walk_path = path(&[(harness.room_time(), 5.0), (at, 5.0), (at + ms(1_000), 10.0)]);
    harness.send(&[Record::Update {
        alias: alias(1),
        kind: 0,
        at,
        components: vec![(0, walk_path)],
    }]);
    let events = harness.events();
    let [ViewEvent::Game(GameEvent::Update(update))] = &events[..] else { panic!("{events:?}") };
    assert_eq!((update.id, update.at), (ClientObjectId(1), at.whole_millis()));
    let ComponentValue::Path { position, to: Some((to, _)) } = update.components[0].value else {
        panic!("expected a path")
    };
    assert!((position.x - 5.0).abs() < 0.01 && (to.x - 10.0).abs() < 0.01);
    let stats = harness.client.stats();
    assert_eq!((stats.updates, stats.late_updates, stats.enters), (1, 0, 1));
}

#[test]
fn a_late_update_is_counted_as_late() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(1, now, 5.0)]);
    harness.advance(ms(500));
    let then = harness.room_time().saturating_sub(ms(200));
    let components = vec![(0, path(&[(then, 5.0), (then + ms(100), 9.0)]))];
    harness.send(&[Record::Update { alias: alias(1), kind: 0, at: then, components }]);
    assert_eq!(harness.client.stats().late_updates, 1);
    assert_eq!(harness.client.stats().late_share(), 1.0);
}

#[test]
fn an_event_is_emitted_on_arrival_and_names_visible_objects() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(1, now, 5.0)]);
    harness.advance(ms(20));
    harness.events();
    let effect = (harness.room_time() + ms(110)).whole_millis();
    harness.send_notice(hit(1, effect));
    harness.send(&[]);
    let game_event = only_event(&mut harness);
    assert_eq!((&*game_event.name, game_event.effect, game_event.late), ("hit", effect, false));
    assert!(game_event.t < effect);
    let fields = game_event
        .fields
        .iter()
        .map(|field| (&*field.name, field.value.clone()))
        .collect::<Vec<_>>();
    let position = FieldValue::Position(Position::on_ground(2.0, 3.0));
    assert_eq!(
        fields,
        [
            ("who", FieldValue::Object(ClientObjectId(1))),
            ("where", position),
            ("damage", FieldValue::Number(9))
        ]
    );
}

#[test]
fn an_event_waits_for_the_object_that_it_names() {
    let mut harness = ClientHarness::playing();
    let effect = (harness.room_time() + ms(110)).whole_millis();
    harness.send_notice(hit(1, effect));
    harness.send(&[]);
    assert_eq!(harness.events(), []);
    let at = harness.room_time() + ms(60);
    harness.send(&[enter(1, at, 5.0)]);
    harness.advance(ms(70));
    let events = harness.events();
    assert!(
        matches!(
            &events[0],
            ViewEvent::Game(GameEvent::Enter(enter)) if enter.id == ClientObjectId(1)
        ),
        "{events:?}"
    );
    let ViewEvent::Game(GameEvent::Event(game_event)) = &events[1] else { panic!("{events:?}") };
    assert_eq!(
        (game_event.fields[0].value.clone(), game_event.late),
        (FieldValue::Object(ClientObjectId(1)), false)
    );
}

#[test]
fn an_event_whose_object_never_enters_is_emitted_without_it() {
    let mut harness = ClientHarness::playing();
    let effect = (harness.room_time() + ms(110)).whole_millis();
    harness.send_notice(hit(1, effect));
    harness.send(&[]);
    harness.advance(ms(200));
    let game_event = only_event(&mut harness);
    assert_eq!((game_event.fields[0].value.clone(), game_event.late), (FieldValue::None, false));
    assert!(game_event.t >= effect && game_event.t.since(effect) < ms(20));
}

#[test]
fn an_event_after_its_effect_time_is_late() {
    let mut harness = ClientHarness::playing();
    let effect = harness.room_time().saturating_sub(ms(50));
    harness.send_notice(hit(1, effect));
    harness.send(&[]);
    assert!(only_event(&mut harness).late);
    assert_eq!((harness.client.stats().events, harness.client.stats().late_events), (1, 1));
}

#[test]
fn an_event_that_arrives_several_times_is_delivered_once() {
    let mut harness = ClientHarness::playing();
    let effect = harness.room_time().saturating_sub(ms(50));
    harness.send_notice(hit(1, effect));
    let bytes = harness.write(&[]);
    for _ in 0..3 {
        harness.deliver(&bytes);
    }
    assert_eq!(harness.events().len(), 1);
}

#[test]
fn a_command_is_numbered_and_arrives_and_its_refusal_names_it() {
    let mut harness = ClientHarness::playing();
    let number = harness.client.act(harness.now, &walk_to(3.0, 4.0)).expect("in a game");
    let second = harness.client.act(harness.now, &rest()).expect("in a game");
    assert_eq!(second, number + 1);
    harness.advance(ms(100));
    harness.send(&[]);
    assert_eq!(
        harness.host.commands.iter().map(|command| command.number).collect::<Vec<_>>(),
        [number, second]
    );
    harness.send_notice(Notice::Refused {
        command: number,
        reason: RefusalReason::Code(pb::ErrorCode::BadPosition as u16),
    });
    harness.send(&[]);
    match &harness.events()[..] {
        [ViewEvent::Game(GameEvent::Refused { command, code, message, what })] => assert_eq!(
            (*command, &**code, &**message, &**what),
            (number, "bad_position", "bad position", "walk-to")
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_refusal_of_the_game_has_its_name_and_its_text() {
    let mut harness = ClientHarness::playing();
    let number = harness.client.act(harness.now, &cast(None)).expect("in a game");
    let refused = |index| Notice::Refused { command: number, reason: RefusalReason::Game(index) };
    harness.send_notice(refused(0));
    // The schema has no such refusal.
    harness.send_notice(refused(1));
    harness.send(&[]);
    match &harness.events()[..] {
        [ViewEvent::Game(GameEvent::Refused { code, message, what, .. })] => {
            let told = (&**code, &**message, &**what);
            assert_eq!(told, ("tired", "you are too tired", "cast bolt"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(harness.client.stats().malformed, 1);
}

#[test]
fn a_command_names_an_object_by_its_alias() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(3, now, 5.0)]);
    harness.advance(ms(50));
    let id = harness.client.objects().next().expect("in sight").id;
    harness.client.act(harness.now, &cast(Some(id))).expect("in a game");
    harness.advance(ms(1_000));
    harness.send(&[]);
    assert_eq!(harness.host.commands[0].fields[2], FieldValue::Object(alias(3)));
    for (command, refused) in [
        (cast(Some(ClientObjectId(id.0 + 1))), CommandError::NoSuchObject),
        (walk_to(-1.0, 0.0), CommandError::BadPosition),
        (walk_to(1.0, 1e30), CommandError::BadPosition),
        (walk_to(16_384.0, 90.0), CommandError::BadPosition),
        (walk_to_point(Position::new(100.0, 100.0, 192.0)), CommandError::BadPosition),
        (GameCommand { kind: 4, fields: Vec::new() }, CommandError::Undeclared),
        (GameCommand { kind: 0, fields: vec![FieldValue::None] }, CommandError::Undeclared),
    ] {
        assert_eq!(harness.client.act(harness.now, &command), Err(refused));
    }
}

#[test]
fn a_position_beside_the_wires_grid_arrives_as_the_nearest_point() {
    let mut harness = ClientHarness::playing();
    for point in [Position::new(16_383.999, 0.001, 191.999), Position::new(0.0, 16_383.999, -64.0)]
    {
        harness.client.act(harness.now, &walk_to_point(point)).expect("in the wire's space");
        harness.advance(ms(100));
        harness.send(&[]);
        let arrived = harness.host.commands.pop().expect("a command");
        assert_eq!(arrived.fields, [FieldValue::Position(point.quantised())]);
    }
}

#[test]
fn an_error_during_the_game_is_reported_and_the_game_goes_on() {
    let mut harness = ClientHarness::playing();
    harness.events();
    let error = ambit_proto::codes::error(pb::ErrorCode::Malformed, "4 datagrams");
    let body = Some(game_pb::game_to_client::Body::Error(error));
    harness.client.handle_game_message(harness.now, GameToClient { body });
    harness.advance(ms(100));
    match &harness.events()[..] {
        [ViewEvent::Game(GameEvent::Error { code, message })] => {
            assert_eq!((&**code, &**message), ("malformed", "4 datagrams"));
        }
        other => panic!("{other:?}"),
    }
    assert!(harness.client.is_playing());
}

#[test]
fn datagrams_leave_at_a_bounded_rate() {
    let mut harness = ClientHarness::playing();
    let before = harness.client.stats().datagrams_up;
    for _ in 0..1_000 {
        let _ = harness.client.act(harness.now, &rest());
        harness.advance(ms(1));
    }
    let sent = harness.client.stats().datagrams_up - before;
    assert!(sent <= 1_000 / 16 + 1, "{sent}");
}

#[test]
fn without_a_game_there_are_no_commands() {
    let mut harness = ClientHarness::welcomed();
    assert_eq!(harness.client.act(harness.now, &rest()), Err(CommandError::NotPlaying));
    let mut harness = ClientHarness::playing();
    assert_eq!(
        harness.client.act(harness.now, &walk_to(f32::NAN, 1.0)),
        Err(CommandError::BadPosition)
    );
}

#[test]
fn objects_leave_before_the_view_learns_of_the_left_room() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(0, now, 5.0), enter(1, now, 6.0)]);
    harness.advance(ms(50));
    assert_eq!(harness.events().len(), 2);
    harness.send_lobby_message(
        0,
        LobbyMessageBody::RoomLeft(pb::RoomLeft {
            room: ROOM,
            reason: pb::ErrorCode::HostDied.into(),
            message: "oh".into(),
        }),
    );
    let events = harness.events();
    assert!(
        matches!(
            events[..2],
            [
                ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(1), .. }),
                ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(2), .. })
            ]
        ),
        "{events:?}"
    );
    assert!(matches!(
        &events[2],
        ViewEvent::Lobby(_, LobbyEvent::Left { code, .. }) if code == "host_died"
    ));
    assert!(matches!(harness.outputs[..], [ClientOutput::CloseGame]));
    assert_eq!(harness.client.stats().leaves, 2);
    assert_eq!(harness.client.next_deadline(), None);
}

#[test]
fn confirmed_commands_are_reported_once_and_expired_ones_never() {
    let mut harness = ClientHarness::playing();
    let number = harness.client.act(harness.now, &walk_to(1.0, 2.0)).expect("in a game");
    assert_eq!(harness.take_confirmed().len(), 0);
    harness.advance(ms(100));
    harness.send(&[]);
    assert_eq!(harness.take_confirmed(), [number]);
    assert_eq!(harness.take_confirmed().len(), 0);
    // The client does not know whether the host executed the command in time.
    harness.client.act(harness.now, &walk_to(1.0, 2.0)).expect("in a game");
    harness.advance(ms(1_500));
    harness.send(&[]);
    assert_eq!((harness.take_confirmed().len(), harness.client.stats().confirmed), (0, 1));
}

#[test]
fn a_game_with_an_invalid_schema_is_not_joined() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.client.handle_game_connected(harness.now);
    let joined = game_pb::Joined { schema: None, ..game_pb::Joined::default() };
    let body = Some(game_pb::game_to_client::Body::Joined(joined));
    harness.client.handle_game_message(harness.now, GameToClient { body });
    let last = harness.events().pop();
    let Some(ViewEvent::Game(GameEvent::Ended { code, .. })) = last else { panic!("{last:?}") };
    assert_eq!(code, "bad_message");
}

#[test]
fn random_datagrams_are_only_counted() {
    let mut harness = ClientHarness::playing();
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..2_000 {
        let bytes = (0..rng.usize(0..200)).map(|_| rng.u8(..)).collect::<Vec<_>>();
        harness.deliver(&bytes);
    }
    assert!(harness.client.stats().malformed > 1_000);
    let now = harness.room_time();
    // Random sequence numbers may have moved the window; one of the next few datagrams is within
    // it.
    for _ in 0..40_000 {
        harness.send(&[enter(0, now, 5.0)]);
        if harness.client.objects().count() > 0 {
            return;
        }
    }
    panic!("the client accepts no datagram");
}

#[test]
fn age_and_gaps_are_those_of_the_newest_datagram() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    let far = now + ms(60_000);
    let components = vec![(0, path(&[(now, 0.0), (far, 100.0)]))];
    harness.send(&[Record::Enter { alias: alias(1), kind: 0, at: now, own: false, components }]);
    harness.advance(ms(50));
    harness.send(&[]);
    harness.advance(ms(100));
    let age = harness.client.age(harness.now).expect("an object moves").as_millis();
    assert!((139..=142).contains(&age), "{age}");
    assert_eq!(harness.client.silence(harness.now), Some(ms(100)));
    let gaps = harness.client.stats().gaps;
    assert_eq!((gaps.count(), gaps.max()), (2, ms(50)));
}

#[test]
fn the_same_calls_give_the_same_outputs() {
    let run = || {
        let mut harness = ClientHarness::playing();
        let now = harness.room_time();
        harness.send(&[enter(0, now, 5.0)]);
        let mut events = Vec::new();
        for step in 0..200 {
            let _ = harness.client.act(harness.now, &walk_to(step as f32, 0.0));
            harness.advance(ms(7));
            harness.send(&[]);
            events.extend(harness.events());
        }
        harness.break_game_connection();
        harness.break_lobby_connection();
        harness.advance(ms(5_000));
        events.extend(harness.events());
        (events, harness.outputs, format!("{:?}", harness.host.link))
    };
    assert_eq!(run(), run());
}

fn hit(slot: u16, effect: GameTime) -> Notice {
    let position = FieldValue::Position(Position::on_ground(2.0, 3.0));
    Notice::Event {
        kind: 0,
        effect,
        fields: vec![FieldValue::Object(alias(slot)), position, FieldValue::Number(9)],
    }
}

fn only_event(harness: &mut ClientHarness) -> SchemaEvent {
    match harness.events().pop() {
        Some(ViewEvent::Game(GameEvent::Event(game_event))) => game_event,
        other => panic!("expected one game event: {other:?}"),
    }
}
