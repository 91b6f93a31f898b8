//! Tickets, datagrams, objects, reconnects.

use ambit_proto::codes;
use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as Ask;
use ambit_proto::control::world::world_to_client::Body as Told;
use ambit_proto::message::{EventValue, Notice, Record};

use super::super::event::{ErrorSubject, FieldValue, GameEvent, GameStarted};
use super::super::*;
use super::scene::*;

#[test]
fn a_ticket_leads_into_the_game() {
    let mut scene = Scene::welcomed();
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    let expected = ClientOutput::ConnectGame {
        address: "0.0.0.0:7777".into(),
        certificate_sha256: [5; 32],
    };
    assert_eq!(scene.outputs, [expected]);
    scene.join_game();
    let Some(ViewEvent::Started(started)) = scene.events().pop() else {
        panic!("not started")
    };
    assert_eq!(
        (started.room, started.is_rejoin, started.tick_hz),
        (RoomId(ROOM), false, 20)
    );
    assert_eq!(
        (started.delay, started.map.cell_m, started.spells.len()),
        (ms(150), 10.0, 2)
    );
    assert!(scene.client.is_playing());
}

#[test]
fn a_ticket_for_another_room_leads_nowhere() {
    let mut scene = Scene::welcomed();
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM + 1)));
    assert_eq!(scene.take(), None);
}

#[test]
fn the_join_gives_a_first_estimate_of_room_time() {
    let scene = Scene::playing();
    let estimate = scene.client.room_time(scene.now).expect("in a game");
    let error = estimate
        .since(scene.room_time())
        .max(scene.room_time().since(estimate));
    assert!(error <= ms(1), "{error:?}");
}

#[test]
fn an_object_is_shown_from_its_time_on_and_read_at_any() {
    let mut scene = Scene::playing();
    let at = scene.room_time() + ms(110);
    scene.send(&[enter(0, at, 5.0)]);
    assert_eq!(scene.events(), []);
    assert_eq!(scene.client.objects().count(), 0);
    scene.pass(ms(120));
    let events = scene.events();
    let [ViewEvent::Enter(entered)] = &events[..] else {
        panic!("{events:?}")
    };
    assert!(entered.own && &*entered.kind == "avatar" && entered.t >= at.whole_millis());
    assert_eq!(entered.position, Position::on_ground(5.0, 1.0));
    let id = scene.client.avatar().expect("in sight").id;
    assert_eq!(
        scene.client.position(id, scene.now),
        Some(Position::on_ground(5.0, 1.0))
    );
    let health = scene
        .client
        .gauge(id, "health", scene.now + ms(1_000))
        .expect("a gauge");
    assert!((52.0..52.1).contains(&health.value), "{health:?}");
}

#[test]
fn an_update_is_emitted_on_arrival_with_its_future_value() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    scene.send(&[enter(1, now, 5.0)]);
    scene.pass(ms(50));
    scene.events();
    let at = scene.room_time() + ms(110);
    let way = path(&[(scene.room_time(), 5.0), (at, 5.0), (at + ms(1_000), 10.0)]);
    scene.send(&[Record::Update {
        alias: alias(1),
        kind: 0,
        at,
        components: vec![(0, way)],
    }]);
    let events = scene.events();
    let [ViewEvent::Update(update)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((update.id, update.at), (1, at.whole_millis()));
    let ComponentValue::Path {
        position,
        to: Some((to, _)),
    } = update.components[0].value
    else {
        panic!("at rest")
    };
    assert!((position.x - 5.0).abs() < 0.01 && (to.x - 10.0).abs() < 0.01);
    let stats = scene.client.stats();
    assert_eq!((stats.updates, stats.late_updates, stats.enters), (1, 0, 1));
}

#[test]
fn a_late_update_is_counted_as_late() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    scene.send(&[enter(1, now, 5.0)]);
    scene.pass(ms(500));
    let then = scene.room_time().saturating_sub(ms(200));
    let components = vec![(0, path(&[(then, 5.0), (then + ms(100), 9.0)]))];
    scene.send(&[Record::Update {
        alias: alias(1),
        kind: 0,
        at: then,
        components,
    }]);
    assert_eq!(scene.client.stats().late_updates, 1);
    assert_eq!(scene.client.stats().late_share(), 1.0);
}

#[test]
fn an_event_is_emitted_on_arrival_and_names_visible_objects() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    scene.send(&[enter(1, now, 5.0)]);
    scene.pass(ms(20));
    scene.events();
    let effect = (scene.room_time() + ms(110)).whole_millis();
    scene.notice(hit(1, effect));
    scene.send(&[]);
    let game_event = only_event(&mut scene);
    assert_eq!(
        (&*game_event.name, game_event.effect, game_event.late),
        ("hit", effect, false)
    );
    assert!(game_event.t < effect);
    let fields = game_event
        .fields
        .iter()
        .map(|field| (&*field.name, field.value))
        .collect::<Vec<_>>();
    let position = FieldValue::Position(Position::on_ground(2.0, 3.0));
    assert_eq!(
        fields,
        [
            ("who", FieldValue::Object(Some(1))),
            ("where", position),
            ("damage", FieldValue::Number(9))
        ]
    );
}

#[test]
fn an_event_waits_for_the_object_that_it_names() {
    let mut scene = Scene::playing();
    let effect = (scene.room_time() + ms(110)).whole_millis();
    scene.notice(hit(1, effect));
    scene.send(&[]);
    assert_eq!(scene.events(), []);
    let at = scene.room_time() + ms(60);
    scene.send(&[enter(1, at, 5.0)]);
    scene.pass(ms(70));
    let events = scene.events();
    assert!(
        matches!(&events[0], ViewEvent::Enter(enter) if enter.id == 1),
        "{events:?}"
    );
    let ViewEvent::Event(game_event) = &events[1] else {
        panic!("{events:?}")
    };
    assert_eq!(
        (game_event.fields[0].value, game_event.late),
        (FieldValue::Object(Some(1)), false)
    );
}

#[test]
fn an_event_whose_object_never_comes_is_emitted_without_it() {
    let mut scene = Scene::playing();
    let effect = (scene.room_time() + ms(110)).whole_millis();
    scene.notice(hit(1, effect));
    scene.send(&[]);
    scene.pass(ms(200));
    let game_event = only_event(&mut scene);
    assert_eq!(
        (game_event.fields[0].value, game_event.late),
        (FieldValue::Object(None), false)
    );
    assert!(game_event.t >= effect && game_event.t.since(effect) < ms(20));
}

#[test]
fn an_event_after_its_effect_time_is_late() {
    let mut scene = Scene::playing();
    let effect = scene.room_time().saturating_sub(ms(50));
    scene.notice(hit(1, effect));
    scene.send(&[]);
    assert!(only_event(&mut scene).late);
    assert_eq!(
        (
            scene.client.stats().events,
            scene.client.stats().late_events
        ),
        (1, 1)
    );
}

#[test]
fn an_event_is_delivered_once_however_often_it_travels() {
    let mut scene = Scene::playing();
    let effect = scene.room_time().saturating_sub(ms(50));
    scene.notice(hit(1, effect));
    let bytes = scene.write(&[]);
    for _ in 0..3 {
        scene.deliver(&bytes);
    }
    assert_eq!(scene.events().len(), 1);
}

#[test]
fn a_command_is_numbered_and_arrives_and_its_refusal_names_it() {
    let mut scene = Scene::playing();
    let walk = Action::Move {
        x: 3.0,
        y: f32::NAN,
    };
    let number = scene.client.act(scene.now, walk).expect("in a game");
    let second = scene
        .client
        .act(scene.now, Action::Custom(vec![1]))
        .expect("in a game");
    assert_eq!(second, number + 1);
    scene.pass(ms(100));
    scene.send(&[]);
    assert_eq!(
        scene
            .host
            .commands
            .iter()
            .map(|command| command.number)
            .collect::<Vec<_>>(),
        [number, second]
    );
    scene.notice(Notice::Refused {
        command: number,
        code: pb::ErrorCode::BadPosition as u16,
    });
    scene.send(&[]);
    match &scene.events()[..] {
        [ViewEvent::Error(failure)] => {
            assert_eq!(
                (failure.subject, failure.code.as_str()),
                (ErrorSubject::Command(number), "bad_position")
            );
            assert_eq!(
                failure.message,
                format!("the game refused command {number} (move): bad position")
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn datagrams_leave_at_a_bounded_rate() {
    let mut scene = Scene::playing();
    let before = scene.client.stats().datagrams_up;
    for _ in 0..1_000 {
        let _ = scene.client.act(scene.now, Action::Custom(vec![1]));
        scene.pass(ms(1));
    }
    let sent = scene.client.stats().datagrams_up - before;
    assert!(sent <= 1_000 / 16 + 1, "{sent}");
}

#[test]
fn without_a_game_there_are_no_commands() {
    let mut scene = Scene::welcomed();
    assert_eq!(
        scene.client.act(scene.now, Action::Custom(vec![1])),
        Err(CommandError::NotPlaying)
    );
    let mut scene = Scene::playing();
    assert_eq!(
        scene.client.act(scene.now, Action::Custom(vec![0; 201])),
        Err(CommandError::TooLong)
    );
}

#[test]
fn objects_leave_before_the_view_learns_of_the_left_room() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    scene.send(&[enter(0, now, 5.0), enter(1, now, 6.0)]);
    scene.pass(ms(50));
    assert_eq!(scene.events().len(), 2);
    scene.tell(
        0,
        Told::RoomLeft(pb::RoomLeft {
            room: ROOM,
            reason: pb::ErrorCode::HostDied.into(),
            message: "oh".into(),
        }),
    );
    let events = scene.events();
    assert!(
        matches!(
            events[..2],
            [
                ViewEvent::Leave { id: 1, .. },
                ViewEvent::Leave { id: 2, .. }
            ]
        ),
        "{events:?}"
    );
    assert!(matches!(&events[2], ViewEvent::Left { code, .. } if code == "host_died"));
    assert!(matches!(scene.outputs[..], [ClientOutput::CloseGame]));
    assert_eq!(scene.client.stats().leaves, 2);
    assert_eq!(scene.client.next_deadline(), None);
}

#[test]
fn a_broken_game_is_joined_again_with_a_fresh_ticket_and_fresh_ids() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    scene.send(&[enter(0, now, 5.0)]);
    scene.pass(ms(50));
    scene.events();
    scene.lose_game();
    let events = scene.events();
    assert!(matches!(events[0], ViewEvent::Leave { id: 1, .. }));
    assert!(matches!(
        events[1],
        ViewEvent::Connection(ConnectionStatus::GameBroken { .. })
    ));
    scene.pass(ms(200));
    let Some((number, Ask::RequestTicket(_))) = scene.ask() else {
        panic!("no request for a ticket")
    };
    scene.tell(number, Told::Ticket(ticket(ROOM)));
    scene.join_game();
    assert!(matches!(
        &scene.events()[..],
        [ViewEvent::Started(GameStarted {
            is_rejoin: true,
            ..
        })]
    ));
    let now = scene.room_time();
    scene.send(&[enter(0, now, 5.0)]);
    scene.pass(ms(50));
    assert!(matches!(&scene.events()[..], [ViewEvent::Enter(enter)] if enter.id == 2));
}

#[test]
fn an_unreachable_game_is_given_up_and_the_lobby_stays() {
    let mut scene = Scene::playing();
    scene.lose_game();
    let mut calls = 0;
    for _ in 0..100 {
        scene.pass(ms(500));
        match scene.take() {
            Some(ClientOutput::World(message)) => {
                scene.tell(message.request, Told::Ticket(ticket(ROOM)));
            }
            Some(ClientOutput::ConnectGame { .. }) => {
                calls += 1;
                scene.lose_game();
            }
            _ => {}
        }
    }
    assert_eq!(calls, ClientConfig::default().game_attempts);
    let closed = ViewEvent::Connection(ConnectionStatus::GameClosed {
        code: String::new(),
        message: String::new(),
    });
    let last = scene.events().pop().expect("an event");
    assert_eq!(
        std::mem::discriminant(&last),
        std::mem::discriminant(&closed)
    );
    assert!(scene.client.is_connected() && !scene.client.is_playing());
}

#[test]
fn a_lobby_that_gives_no_ticket_ends_the_game() {
    let mut scene = Scene::playing();
    scene.lose_game();
    scene.pass(ms(200));
    let Some((number, _)) = scene.ask() else {
        panic!("no request for a ticket")
    };
    scene.events();
    scene.tell_error(number, pb::ErrorCode::RoomNotRunning);
    match &scene.events()[..] {
        [ViewEvent::Connection(ConnectionStatus::GameClosed { code, .. })] => {
            assert_eq!(code, "room_not_running");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(scene.client.next_deadline(), None);
}

#[test]
fn a_game_outlives_a_break_of_the_lobby() {
    let mut scene = Scene::playing();
    scene.lose_world();
    scene.pass(ms(200));
    let now = scene.room_time();
    scene.send(&[enter(0, now, 5.0)]);
    scene.connect_world();
    scene.welcome(true, Some(ROOM));
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    assert_eq!(scene.take(), None);
    assert!(scene.client.is_playing());
}

#[test]
fn a_silent_game_is_given_up_for_a_ticket() {
    let mut scene = Scene::playing();
    scene.pass(ms(6_000));
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    assert!(matches!(
        scene.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
}

#[test]
fn a_moved_room_stays_visible_and_unconfirmed_commands_are_resent() {
    let mut scene = Scene::playing();
    let at = scene.room_time() + ms(10);
    scene.send(&[enter(0, at, 5.0)]);
    scene.pass(ms(50));
    scene.forget();
    let first = scene
        .client
        .act(scene.now, Action::Custom(vec![1]))
        .expect("in a game");
    scene.tell(
        0,
        Told::Ticket(pb::Ticket {
            incarnation: 2,
            ..ticket(ROOM)
        }),
    );
    assert!(matches!(
        scene.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
    let second = scene
        .client
        .act(scene.now, Action::Custom(vec![2]))
        .expect("it waits");
    assert_eq!((second, scene.events()), (first + 1, vec![]));
    assert!(scene.client.avatar().is_some(), "shown all along");
    // A repeated ticket changes nothing.
    scene.tell(
        0,
        Told::Ticket(pb::Ticket {
            incarnation: 2,
            ..ticket(ROOM)
        }),
    );
    scene.join_game();
    let events = scene.events();
    let [
        ViewEvent::Leave { .. },
        ViewEvent::Started(GameStarted {
            is_rejoin: true, ..
        }),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    scene.pass(ms(100));
    scene.send(&[]);
    assert_eq!(
        scene
            .host
            .commands
            .iter()
            .map(|command| command.number)
            .collect::<Vec<_>>(),
        [first, second]
    );
    assert_eq!(
        (scene.client.stats().commands, scene.client.stats().moves),
        (2, 1)
    );
}

#[test]
fn confirmed_commands_are_reported_once_and_expired_ones_never() {
    let mut scene = Scene::playing();
    let keys = scene
        .client
        .act(scene.now, Action::Cast { spell: 0, at: None })
        .expect("in a game");
    assert_eq!(scene.client.take_confirmed().count(), 0);
    scene.pass(ms(100));
    scene.send(&[]);
    assert_eq!(scene.client.take_confirmed().collect::<Vec<_>>(), [keys]);
    assert_eq!(scene.client.take_confirmed().count(), 0);
    // It is unknown whether the host applied it in time.
    scene
        .client
        .act(scene.now, Action::Cast { spell: 0, at: None })
        .expect("in a game");
    scene.pass(ms(1_500));
    scene.send(&[]);
    assert_eq!(
        (
            scene.client.take_confirmed().count(),
            scene.client.stats().confirmed
        ),
        (0, 1)
    );
}

#[test]
fn during_a_map_change_the_old_map_is_shown_and_nothing_is_resent() {
    let mut scene = Scene::playing();
    let at = scene.room_time() + ms(10);
    scene.send(&[enter(0, at, 5.0)]);
    scene.pass(ms(50));
    scene.forget();
    scene
        .client
        .act(scene.now, Action::Custom(vec![1]))
        .expect("in a game");
    scene.tell(
        0,
        Told::Ticket(pb::Ticket {
            incarnation: 2,
            map: 1,
            ..ticket(ROOM)
        }),
    );
    assert!(matches!(
        scene.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
    assert_eq!(
        scene.client.act(scene.now, Action::Custom(vec![2])),
        Err(CommandError::ChangingMap)
    );
    assert!(scene.client.avatar().is_some(), "shown all along");
    scene.join_game();
    let events = scene.events();
    let [
        ViewEvent::Leave { .. },
        ViewEvent::Started(GameStarted {
            is_rejoin: true,
            map_number: 1,
            ..
        }),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    scene.pass(ms(100));
    scene.send(&[]);
    assert_eq!(scene.host.commands, [], "what was meant for the other map");
    // From here on commands count again.
    scene
        .client
        .act(scene.now, Action::Custom(vec![3]))
        .expect("in a game");
}

#[test]
fn when_both_break_the_game_waits_for_the_lobby() {
    let mut scene = Scene::playing();
    scene.lose_game();
    scene.lose_world();
    scene.pass(ms(200));
    scene.connect_world();
    scene.welcome(true, Some(ROOM));
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    scene
        .outputs
        .retain(|output| !matches!(output, ClientOutput::World(_)));
    scene.join_game();
    assert!(scene.client.is_playing());
}

#[test]
fn a_host_that_removes_the_player_is_not_redialled() {
    let mut scene = Scene::playing();
    let out = game_pb::Out {
        reason: pb::ErrorCode::TakenOver.into(),
        message: "elsewhere".into(),
    };
    let body = Some(game_pb::game_to_client::Body::Out(out));
    scene
        .client
        .handle_game_message(scene.now, GameToClient { body });
    scene.lose_game();
    scene.pass(ms(10_000));
    assert!(matches!(scene.outputs[..], [ClientOutput::CloseGame]));
    assert!(!scene.client.is_playing());
}

#[test]
fn a_ticket_that_the_host_refuses_is_replaced() {
    let mut scene = Scene::welcomed();
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    scene.client.handle_game_connected(scene.now);
    let error = codes::error(pb::ErrorCode::TicketExpired, "too late");
    let body = Some(game_pb::game_to_client::Body::Error(error));
    scene
        .client
        .handle_game_message(scene.now, GameToClient { body });
    scene.outputs.clear();
    scene.pass(ms(200));
    let asks = |output: &ClientOutput| match output {
        ClientOutput::World(message) => matches!(message.body, Some(Ask::RequestTicket(_))),
        _ => false,
    };
    assert!(scene.outputs.iter().any(asks), "{:?}", scene.outputs);
}

#[test]
fn a_game_with_an_invalid_schema_is_not_joined() {
    let mut scene = Scene::welcomed();
    scene.join_room();
    scene.tell(0, Told::Ticket(ticket(ROOM)));
    scene.client.handle_game_connected(scene.now);
    let joined = game_pb::Joined {
        schema: None,
        ..game_pb::Joined::default()
    };
    let body = Some(game_pb::game_to_client::Body::Joined(joined));
    scene
        .client
        .handle_game_message(scene.now, GameToClient { body });
    let last = scene.events().pop();
    let Some(ViewEvent::Connection(ConnectionStatus::GameClosed { code, .. })) = last else {
        panic!("{last:?}")
    };
    assert_eq!(code, "bad_message");
}

#[test]
fn random_datagrams_do_no_more_than_count() {
    let mut scene = Scene::playing();
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..2_000 {
        let bytes = (0..rng.usize(0..200))
            .map(|_| rng.u8(..))
            .collect::<Vec<_>>();
        scene.deliver(&bytes);
    }
    assert!(scene.client.stats().malformed > 1_000);
    let now = scene.room_time();
    // Random sequence numbers may have moved the window; one of the next few datagrams falls into
    // it.
    for _ in 0..40_000 {
        scene.send(&[enter(0, now, 5.0)]);
        if scene.client.objects().count() > 0 {
            return;
        }
    }
    panic!("the client receives nothing");
}

#[test]
fn age_and_gaps_are_those_of_the_newest_datagram() {
    let mut scene = Scene::playing();
    let now = scene.room_time();
    let far = now + ms(60_000);
    let components = vec![(0, path(&[(now, 0.0), (far, 100.0)]))];
    scene.send(&[Record::Enter {
        alias: alias(1),
        kind: 0,
        at: now,
        own: false,
        components,
    }]);
    scene.pass(ms(50));
    scene.send(&[]);
    scene.pass(ms(100));
    let age = scene
        .client
        .age(scene.now)
        .expect("something moves")
        .as_millis();
    assert!((139..=142).contains(&age), "{age}");
    assert_eq!(scene.client.silence(scene.now), Some(ms(100)));
    let gaps = scene.client.stats().gaps;
    assert_eq!((gaps.count(), gaps.max()), (2, ms(50)));
}

#[test]
fn the_same_calls_give_the_same_outputs() {
    let run = || {
        let mut scene = Scene::playing();
        let now = scene.room_time();
        scene.send(&[enter(0, now, 5.0)]);
        let mut events = Vec::new();
        for step in 0..200 {
            let _ = scene.client.act(
                scene.now,
                Action::Move {
                    x: step as f32,
                    y: 0.0,
                },
            );
            scene.pass(ms(7));
            scene.send(&[]);
            events.extend(scene.events());
        }
        scene.lose_game();
        scene.lose_world();
        scene.pass(ms(5_000));
        events.extend(scene.events());
        (events, scene.outputs, format!("{:?}", scene.host.link))
    };
    assert_eq!(run(), run());
}

fn hit(slot: u16, effect: GameTime) -> Notice {
    let position = EventValue::Position(Position::on_ground(2.0, 3.0));
    Notice::Event {
        kind: 0,
        effect,
        fields: vec![
            EventValue::Object(Some(alias(slot))),
            position,
            EventValue::Number(9),
        ],
    }
}

fn only_event(scene: &mut Scene) -> GameEvent {
    match scene.events().pop() {
        Some(ViewEvent::Event(game_event)) => game_event,
        other => panic!("no event but {other:?}"),
    }
}
