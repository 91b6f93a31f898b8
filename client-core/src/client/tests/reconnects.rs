//! Tickets, breaks, moves to another host, changes of the map.

use ambit_proto::axes::AxisKind;
use ambit_proto::codes;
use ambit_proto::control::game as game_pb;
use ambit_proto::control::world as pb;
use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::message::KeyInput;
use ambit_proto::presentation::ControlPresentation;
use ambit_proto::schema::ControlSpec;

use super::super::event::{GameEvent, GameStarted};
use super::super::*;
use super::harness::*;

#[test]
fn a_ticket_for_another_room_is_ignored() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM + 1)));
    assert_eq!(harness.next_output(), None);
}

#[test]
fn a_broken_game_is_joined_again_with_a_fresh_ticket_and_fresh_ids() {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(0, now, 5.0)]);
    harness.advance(ms(50));
    harness.events();
    harness.break_game_connection();
    let events = harness.events();
    assert!(matches!(events[0], ViewEvent::Game(GameEvent::Leave { id: ClientObjectId(1), .. })));
    assert!(matches!(events[1], ViewEvent::Game(GameEvent::Interrupted { .. })));
    harness.advance(ms(200));
    let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() else {
        panic!("expected a request for a ticket")
    };
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.join_game();
    assert!(matches!(
        &harness.events()[..],
        [ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, .. }))]
    ));
    let now = harness.room_time();
    harness.send(&[enter(0, now, 5.0)]);
    harness.advance(ms(50));
    assert!(matches!(
        &harness.events()[..],
        [ViewEvent::Game(GameEvent::Enter(enter))] if enter.id == ClientObjectId(2)
    ));
}

#[test]
fn an_unreachable_game_is_closed_and_the_lobby_stays() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    let mut attempts = 0;
    for _ in 0..100 {
        harness.advance(ms(500));
        match harness.next_output() {
            Some(ClientOutput::World(message)) => {
                harness.send_lobby_message(message.request, LobbyMessageBody::Ticket(ticket(ROOM)));
            }
            Some(ClientOutput::ConnectGame { .. }) => {
                attempts += 1;
                harness.break_game_connection();
            }
            _ => {}
        }
    }
    assert_eq!(attempts, ClientConfig::default().game_attempts);
    let closed = ViewEvent::Game(GameEvent::Ended { code: String::new(), message: String::new() });
    let last = harness.events().pop().expect("an event");
    assert_eq!(std::mem::discriminant(&last), std::mem::discriminant(&closed));
    assert!(harness.client.is_connected() && !harness.client.is_playing());
}

const NO_KEY: Keymap = Keymap(0);

#[test]
fn what_is_held_while_a_game_is_restored_counts_at_its_return() {
    let [up, left] = [Keymap(0b100), Keymap(0b1)];
    for (held, expected) in [(None, Some(up)), (Some(left), Some(left)), (Some(NO_KEY), None)] {
        let mut harness = ClientHarness::playing();
        harness.client.hold(harness.now, up);
        harness.break_game_connection();
        if let Some(keys) = held {
            harness.client.hold(harness.now, keys);
        }
        ask_for_ticket(&mut harness);
        harness.join_game();
        let keys = sent_input(&mut harness).map(|input| input.keys);
        assert_eq!(keys, expected, "{held:?}");
    }
}

#[test]
fn an_axis_that_is_moved_while_a_game_is_restored_is_there_at_its_return() {
    let mut schema = schema();
    let axis = Some(AxisKind::Linear);
    let throttle = ControlSpec { name: "throttle".into(), axis, ..ControlSpec::default() };
    schema.controls = vec![throttle];
    schema.presentation.controls = vec![ControlPresentation::default()];
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    assert!(!harness.client.set_axis(harness.now, 0, 1.0), "there is no game yet");
    harness.join_game_of(&schema);
    assert!(harness.client.set_axis(harness.now, 0, 1.0));
    harness.break_game_connection();
    assert!(harness.client.set_axis(harness.now, 0, -1.0));
    assert!(!harness.client.set_axis(harness.now, 1, -1.0), "the game has one control");
    ask_for_ticket(&mut harness);
    harness.join_game_of(&schema);
    let axes = sent_input(&mut harness).and_then(|input| input.axes);
    assert_eq!(axes.map(|axes| axes.0[0]), Some(AxisKind::Linear.step_of(-1.0)));
}

#[test]
fn what_was_held_in_a_game_that_is_given_up_is_held_in_none_after_it() {
    let mut harness = ClientHarness::playing();
    harness.client.hold(harness.now, Keymap(0b100));
    harness.break_game_connection();
    harness.advance(ms(200));
    let Some((number, _)) = harness.next_request() else {
        panic!("expected a request for a ticket")
    };
    harness.send_lobby_error(number, pb::ErrorCode::NotInRoom);
    assert_eq!(harness.client.control_schema(), None);
    harness.client.hold(harness.now, Keymap(0b100));
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.join_game();
    assert_eq!(sent_input(&mut harness), None);
}

#[test]
fn a_refused_ticket_request_ends_the_game() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    harness.advance(ms(200));
    let Some((number, _)) = harness.next_request() else {
        panic!("expected a request for a ticket")
    };
    harness.events();
    harness.send_lobby_error(number, pb::ErrorCode::NotInRoom);
    match &harness.events()[..] {
        [ViewEvent::Game(GameEvent::Ended { code, .. })] => {
            assert_eq!(code, "not_in_room");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(harness.client.next_deadline(), None);
}

#[test]
fn a_room_that_does_not_run_at_the_moment_is_waited_for() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    harness.events();
    for _ in 0..2 {
        harness.advance(ms(3_000));
        let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() else {
            panic!("expected a request for a ticket")
        };
        harness.send_lobby_error(number, pb::ErrorCode::RoomNotRunning);
        assert!(matches!(harness.events()[..], [ViewEvent::Game(GameEvent::Interrupted { .. })]));
    }
    // Another host has opened the room.
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, ..ticket(ROOM) }),
    );
    harness.join_game();
    assert!(harness.client.is_playing());
    // It never comes.
    harness.break_game_connection();
    for _ in 0..20 {
        harness.advance(ms(3_000));
        if let Some(ClientOutput::World(message)) = harness.next_output() {
            harness.send_lobby_error(message.request, pb::ErrorCode::RoomNotRunning);
        }
    }
    match harness.events().pop() {
        Some(ViewEvent::Game(GameEvent::Ended { code, .. })) => {
            assert_eq!(code, "game_unreachable");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_room_that_waits_for_its_host_is_never_given_up() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    harness.events();
    let mut asked = 0;
    for _ in 0..60 {
        harness.advance(ms(3_000));
        if let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() {
            asked += 1;
            harness.send_lobby_error(number, pb::ErrorCode::TryAgain);
        }
        for event in harness.events() {
            let is_broken = matches!(event, ViewEvent::Game(GameEvent::Interrupted { .. }));
            assert!(is_broken, "{event:?}");
        }
    }
    assert!((20..=40).contains(&asked), "{asked} requests in 180 s");
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, ..ticket(ROOM) }),
    );
    harness.join_game();
    assert!(harness.client.is_playing());
}

#[test]
fn a_game_continues_while_the_lobby_connection_is_broken() {
    let mut harness = ClientHarness::playing();
    harness.break_lobby_connection();
    harness.advance(ms(200));
    let now = harness.room_time();
    harness.send(&[enter(0, now, 5.0)]);
    harness.connect_lobby();
    harness.welcome(true, Some(ROOM));
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    assert_eq!(harness.next_output(), None);
    assert!(harness.client.is_playing());
}

/// Plays, and hears nothing for 3 s: views know after 1.5 s, and a ticket is asked for. Returns the
/// number of that request.
fn silent() -> (ClientHarness, u64) {
    let mut harness = ClientHarness::playing();
    let now = harness.room_time();
    harness.send(&[enter(0, now, 5.0)]);
    harness.events();
    harness.advance(ms(1_400));
    harness.discard_outputs();
    let silent = |event: &ViewEvent| matches!(event, ViewEvent::Game(GameEvent::Silent { .. }));
    assert!(!harness.events().iter().any(silent));
    harness.advance(ms(200));
    assert!(harness.events().iter().any(silent));
    harness.discard_outputs();
    harness.advance(ms(1_500));
    let mut requests = std::iter::from_fn(|| harness.next_output()).filter_map(|out| match out {
        ClientOutput::World(message) => Some((message.request, message.body)),
        _ => None,
    });
    let Some((number, Some(LobbyRequestBody::RequestTicket(_)))) = requests.next() else {
        panic!("expected a request for a ticket")
    };
    drop(requests);
    assert!(harness.client.is_playing());
    (harness, number)
}

#[test]
fn a_silent_game_connection_is_replaced_with_a_new_ticket() {
    let (mut harness, number) = silent();
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.advance(ms(900));
    assert!(harness.client.is_playing() && harness.outputs.is_empty());
    harness.advance(ms(200));
    assert!(matches!(
        harness.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
}

#[test]
fn a_lobby_that_is_silent_beside_the_host_is_dialled_anew_and_asked_again() {
    let (mut harness, _) = silent();
    harness.discard_outputs();
    harness.advance(ms(1_400));
    assert_eq!(harness.client.next_deadline(), Some(harness.now + ms(100)));
    harness.advance(ms(100));
    assert!(harness.outputs.contains(&ClientOutput::AbandonWorld));
    harness.advance(ms(200));
    harness.outputs.retain(|output| *output == ClientOutput::ConnectWorld);
    harness.connect_lobby();
    harness.welcome(true, Some(ROOM));
    let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() else {
        panic!("expected a request for a ticket")
    };
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.advance(ms(1_000));
    assert!(harness.outputs.iter().any(|out| matches!(out, ClientOutput::ConnectGame { .. })));

    // One that says anything is not.
    let (mut harness, _) = silent();
    harness.send_lobby_message(0, LobbyMessageBody::MissedNews(pb::MissedNews::default()));
    harness.discard_outputs();
    harness.advance(ms(3_000));
    assert!(!harness.outputs.contains(&ClientOutput::AbandonWorld));
}

#[test]
fn a_silent_game_connection_that_is_heard_again_goes_on() {
    let (mut harness, number) = silent();
    let now = harness.room_time();
    harness.send(&[enter(1, now, 6.0)]);
    let heard = ViewEvent::Game(GameEvent::Heard);
    assert!(harness.events().contains(&heard));
    harness.discard_outputs();
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
    assert!(harness.outputs.is_empty() && harness.client.is_playing());

    // It may be heard after the ticket, too.
    let (mut harness, number) = silent();
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
    let now = harness.room_time();
    harness.send(&[enter(1, now, 6.0)]);
    harness.advance(ms(1_400));
    assert!(harness.outputs.is_empty() && harness.client.is_playing());
}

#[test]
fn a_moved_room_stays_visible_and_unconfirmed_commands_are_resent() {
    let mut harness = playing_with_an_object();
    let first = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, ..ticket(ROOM) }),
    );
    assert!(matches!(
        harness.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
    let second = harness.client.act(harness.now, &rest()).expect("the command is queued");
    assert_eq!((second, harness.events()), (first + 1, vec![]));
    assert!(harness.client.avatar().is_some(), "the avatar stays visible");
    // A repeated ticket changes nothing.
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, ..ticket(ROOM) }),
    );
    harness.join_game();
    let events = harness.events();
    let [
        ViewEvent::Game(GameEvent::Leave { .. }),
        ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, .. })),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    harness.advance(ms(100));
    harness.send(&[]);
    assert_eq!(
        harness.host.commands.iter().map(|command| command.number).collect::<Vec<_>>(),
        [first, second]
    );
    assert_eq!((harness.client.stats().commands, harness.client.stats().moves), (2, 1));
}

#[test]
fn waiting_commands_get_the_numbers_of_the_build_that_goes_on() {
    let mut harness = playing_with_an_object();
    let known = harness.client.act(harness.now, &rest()).expect("in a game");
    let moved = pb::Ticket { incarnation: 2, ..ticket(ROOM) };
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(moved));
    let gone = harness.client.act(harness.now, &cast(None)).expect("the command is queued");
    let mut next = schema();
    next.commands[2].name = "hurl".into();
    next.commands.rotate_left(1);
    next.presentation.commands.rotate_left(1);
    harness.join_game_of(&next);
    assert_eq!(refused(&harness.events()), [gone]);
    harness.advance(ms(100));
    harness.send(&[]);
    let sent = harness.host.commands.iter().map(|command| (command.number, command.kind));
    assert_eq!(sent.collect::<Vec<_>>(), [(known, rest().kind - 1)]);
}

#[test]
fn a_command_with_an_object_is_refused_when_the_room_moves() {
    let mut harness = playing_with_an_object();
    let id = harness.client.objects().next().expect("in sight").id;
    let [lost, kept] = [cast(Some(id)), cast(None)]
        .map(|command| harness.client.act(harness.now, &command).expect("in a game"));
    harness.events();
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, ..ticket(ROOM) }),
    );
    match &harness.events()[..] {
        [ViewEvent::Game(GameEvent::Refused { command, code, .. })] => {
            assert_eq!((*command, &**code), (lost, "try_again"));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(harness.client.act(harness.now, &cast(Some(id))), Err(CommandError::ChangingHost));
    harness.join_game();
    harness.advance(ms(100));
    harness.send(&[]);
    let arrived = harness.host.commands.iter().map(|command| command.number);
    assert!(arrived.eq([kept]));
}

#[test]
fn during_a_map_change_the_old_map_is_shown_and_nothing_is_resent() {
    let mut harness = playing_with_an_object();
    let lost = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, map: 1, ..ticket(ROOM) }),
    );
    assert!(matches!(
        harness.outputs[..],
        [ClientOutput::CloseGame, ClientOutput::ConnectGame { .. }]
    ));
    assert_eq!(refused(&harness.events()), [lost]);
    assert_eq!(harness.client.act(harness.now, &rest()), Err(CommandError::ChangingMap));
    assert!(harness.client.avatar().is_some(), "the avatar stays visible");
    harness.join_game();
    let events = harness.events();
    let [
        ViewEvent::Game(GameEvent::Leave { .. }),
        ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, map_number: 1, .. })),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
    harness.advance(ms(100));
    harness.send(&[]);
    assert_eq!(harness.host.commands, [], "commands for the other map are not resent");
    // Commands of the new map are sent and confirmed.
    let number = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.advance(ms(100));
    harness.send(&[]);
    assert_eq!(harness.take_confirmed(), [number]);
}

#[test]
fn when_both_connections_break_the_game_waits_for_the_lobby() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    harness.break_lobby_connection();
    harness.advance(ms(200));
    harness.connect_lobby();
    harness.welcome(true, Some(ROOM));
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.outputs.retain(|output| !matches!(output, ClientOutput::World(_)));
    harness.join_game();
    assert!(harness.client.is_playing());
}

#[test]
fn commands_that_a_broken_connection_has_lost_are_refused() {
    let mut harness = ClientHarness::playing();
    let confirmed = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.advance(ms(100));
    harness.send(&[]);
    assert!(harness.take_confirmed() == [confirmed]);
    let outdated = harness.client.act(harness.now, &walk_to(3.0, 4.0)).expect("in a game");
    harness.advance(ms(1_000));
    let lost = [walk_to(5.0, 6.0), rest(), cast(None)]
        .map(|command| harness.client.act(harness.now, &command).expect("in a game"));
    assert!(!lost.contains(&outdated));
    harness.events();
    harness.break_game_connection();
    let events = harness.events();
    assert_eq!(refused(&events), lost);
    assert!(matches!(events.last(), Some(ViewEvent::Game(GameEvent::Interrupted { .. }))));
    let said = format!("{:?}", events[2]);
    assert!(said.contains("cast bolt") && said.contains("may or may not"), "{said}");
    assert_eq!(harness.client.act(harness.now, &rest()), Err(CommandError::NotPlaying));
}

#[test]
fn a_silent_connection_that_is_replaced_has_lost_its_commands() {
    let mut harness = ClientHarness::playing();
    harness.advance(ms(4_000));
    let lost = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.events();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.advance(ms(1_000));
    assert_eq!(refused(&harness.events()), [lost]);
}

#[test]
fn commands_that_waited_for_another_host_in_vain_are_refused() {
    // The connection to the other host breaks; or the player has gone to another map meanwhile.
    for map in [None, Some(1)] {
        let mut harness = playing_with_an_object();
        let first = harness.client.act(harness.now, &rest()).expect("in a game");
        let moved = pb::Ticket { incarnation: 2, ..ticket(ROOM) };
        harness.send_lobby_message(0, LobbyMessageBody::Ticket(moved.clone()));
        let second = harness.client.act(harness.now, &rest()).expect("the command is queued");
        assert_eq!(harness.events(), []);
        match map {
            None => harness.break_game_connection(),
            Some(map) => {
                let ticket = pb::Ticket { incarnation: 3, map, ..moved };
                harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket));
            }
        }
        assert_eq!(refused(&harness.events()), [first, second], "{map:?}");
    }
}

#[test]
fn a_host_that_removes_the_player_is_not_redialled() {
    let mut harness = ClientHarness::playing();
    put_out(&mut harness, pb::ErrorCode::Kicked);
    harness.break_game_connection();
    harness.advance(ms(10_000));
    assert!(matches!(harness.outputs[..], [ClientOutput::CloseGame]));
    assert!(!harness.client.is_playing());
}

#[test]
fn a_connection_that_is_out_while_the_player_is_not_is_replaced() {
    for reason in [pb::ErrorCode::TakenOver, pb::ErrorCode::SlowReader, pb::ErrorCode::HostDied] {
        let mut harness = ClientHarness::playing();
        put_out(&mut harness, reason);
        assert!(matches!(harness.events()[..], [ViewEvent::Game(GameEvent::Interrupted { .. })]));
        assert_eq!(harness.next_output(), Some(ClientOutput::CloseGame));
        harness.advance(ms(200));
        let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() else {
            panic!("expected a request for a ticket")
        };
        harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
        harness.join_game();
        assert!(matches!(
            harness.events()[..],
            [ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, .. }))]
        ));
    }
}

#[test]
fn an_out_of_an_older_map_comes_before_the_ticket_to_the_other_one() {
    let mut harness = ClientHarness::playing();
    harness.break_game_connection();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.client.handle_game_connected(harness.now);
    harness.discard_outputs();
    put_out(&mut harness, pb::ErrorCode::TakenOver);
    assert!(matches!(harness.events()[..], [ViewEvent::Game(GameEvent::Interrupted { .. })]));
    harness.outputs.clear();
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 2, map: 1, ..ticket(ROOM) }),
    );
    harness.join_game();
    assert!(matches!(
        harness.events()[..],
        [ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, map_number: 1, .. }))]
    ));
}

#[test]
fn a_ticket_that_is_older_than_the_way_to_another_map_breaks_nothing() {
    let mut harness = playing_with_an_object();
    // The host has died, and the next one has let the player go before the client is there.
    let moved = pb::Ticket { incarnation: 2, ..ticket(ROOM) };
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(moved));
    let waits = harness.client.act(harness.now, &rest()).expect("in a game");
    harness.client.handle_game_connected(harness.now);
    harness.discard_outputs();
    let error = codes::error(pb::ErrorCode::NotInRoom, "the player has left this room");
    harness.send_game_message(game_pb::game_to_client::Body::Error(error));
    let events = harness.events();
    assert_eq!(refused(&events), [waits]);
    let is_break = |event: &ViewEvent| match event {
        ViewEvent::Lobby(_, event) => matches!(
            event,
            LobbyEvent::Connecting { .. }
                | LobbyEvent::Interrupted { .. }
                | LobbyEvent::Closed { .. }
        ),
        ViewEvent::Game(event) => matches!(
            event,
            GameEvent::Interrupted { .. }
                | GameEvent::Silent { .. }
                | GameEvent::Heard
                | GameEvent::Ended { .. }
        ),
    };
    assert!(!events.iter().any(is_break), "{events:?}");
    assert!(harness.client.avatar().is_some(), "the avatar stays visible");
    assert_eq!(harness.client.act(harness.now, &rest()), Err(CommandError::ChangingMap));
    harness.outputs.clear();
    harness.send_lobby_message(
        0,
        LobbyMessageBody::Ticket(pb::Ticket { incarnation: 3, map: 1, ..ticket(ROOM) }),
    );
    harness.join_game();
    let events = harness.events();
    let [
        ViewEvent::Game(GameEvent::Leave { .. }),
        ViewEvent::Game(GameEvent::Started(GameStarted { is_rejoin: true, map_number: 1, .. })),
    ] = events[..]
    else {
        panic!("{events:?}")
    };
}

#[test]
fn a_client_whose_session_was_taken_over_does_not_take_the_game_back() {
    let mut harness = ClientHarness::playing();
    put_out(&mut harness, pb::ErrorCode::TakenOver);
    let goodbye =
        pb::Goodbye { code: pb::ErrorCode::TakenOver.into(), message: "elsewhere".into() };
    harness.send_lobby_message(0, LobbyMessageBody::Goodbye(goodbye));
    harness.advance(ms(60_000));
    assert_eq!(harness.outputs, [ClientOutput::CloseGame, ClientOutput::CloseWorld]);
    assert!(harness.client.is_closed());
}

#[test]
fn a_client_that_is_put_out_again_and_again_gives_up() {
    let mut harness = ClientHarness::playing();
    let mut joins = 0;
    put_out(&mut harness, pb::ErrorCode::TakenOver);
    loop {
        harness.outputs.clear();
        harness.advance(ms(3_000));
        let Some(ClientOutput::World(asked)) = harness.next_output() else {
            break;
        };
        harness.send_lobby_message(asked.request, LobbyMessageBody::Ticket(ticket(ROOM)));
        harness.join_game();
        joins += 1;
        put_out(&mut harness, pb::ErrorCode::TakenOver);
    }
    assert_eq!(joins, ClientConfig::default().game_attempts);
    let last = harness.events().pop();
    assert!(matches!(last, Some(ViewEvent::Game(GameEvent::Ended { .. }))), "{last:?}");
}

#[test]
fn a_ticket_that_the_host_refuses_is_replaced() {
    let mut harness = ClientHarness::welcomed();
    harness.join_room();
    harness.send_lobby_message(0, LobbyMessageBody::Ticket(ticket(ROOM)));
    harness.client.handle_game_connected(harness.now);
    let error = codes::error(pb::ErrorCode::TicketExpired, "too late");
    let body = Some(game_pb::game_to_client::Body::Error(error));
    harness.client.handle_game_message(harness.now, GameToClient { body });
    harness.outputs.clear();
    harness.advance(ms(200));
    let asks = |output: &ClientOutput| match output {
        ClientOutput::World(message) => {
            matches!(message.body, Some(LobbyRequestBody::RequestTicket(_)))
        }
        _ => false,
    };
    assert!(harness.outputs.iter().any(asks), "{:?}", harness.outputs);
}

/// Gets another ticket after a break.
fn ask_for_ticket(harness: &mut ClientHarness) {
    harness.advance(ms(200));
    harness.outputs.retain(|output| matches!(output, ClientOutput::World(_)));
    let Some((number, LobbyRequestBody::RequestTicket(_))) = harness.next_request() else {
        panic!("expected a request for a ticket")
    };
    harness.send_lobby_message(number, LobbyMessageBody::Ticket(ticket(ROOM)));
}

/// The last controls that the client sends within half a second, if it sends any.
fn sent_input(harness: &mut ClientHarness) -> Option<KeyInput> {
    harness.advance(ms(500));
    harness.host.receive(harness.now);
    harness.host.sent.last()?.2.input.clone()
}

/// Delivers the last message of a host.
fn put_out(harness: &mut ClientHarness, reason: pb::ErrorCode) {
    let out = game_pb::Out { reason: reason.into(), message: "out".into() };
    harness.send_game_message(game_pb::game_to_client::Body::Out(out));
}

/// The commands that were refused with `try_again`.
fn refused(events: &[ViewEvent]) -> Vec<u32> {
    let command = |event: &ViewEvent| match event {
        ViewEvent::Game(GameEvent::Refused { command, code, .. }) if code == "try_again" => {
            Some(*command)
        }
        _ => None,
    };
    events.iter().filter_map(command).collect()
}

/// A client in the game that shows one object.
fn playing_with_an_object() -> ClientHarness {
    let mut harness = ClientHarness::playing();
    let at = harness.room_time() + ms(10);
    harness.send(&[enter(0, at, 5.0)]);
    harness.advance(ms(50));
    harness.discard_outputs();
    harness
}
