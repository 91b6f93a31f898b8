//! A room host with a room of the game `field`: joins, orders, checkpoints, handover. The tests run
//! each tick.

use super::clients::MOVE_WITHIN;
use super::*;
use ambit::{GameInfo, Games, Id, Typed};
use ambit_field::FieldGame;
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::wishes::Wishes;
use ambit_room::config::RoomConfig;
use ambit_room::journal::SavedRoom;
use ambit_room::logic::registry::Registry;
use ambit_room::recording::Header;
use ambit_room::room::TransferId;
use ambit_room::saved;

const ID: RoomId = RoomId(3);
const ANN: PlayerId = PlayerId(1);
const BOB: PlayerId = PlayerId(2);
const TICK: Duration = Duration::from_millis(50);

#[test]
fn a_client_that_joins_gets_a_message_then_datagrams() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    let joined = host.poll();
    assert!(
        matches!(
            joined[..],
            [RoomHostOutput::Message {
                client: ClientId(1),
                body: game_to_client::Body::Joined(_)
            }]
        ),
        "{joined:?}"
    );
    let outputs = host.tick();
    let journal = position(&outputs, |it| matches!(it, RoomHostOutput::Journal(_)));
    let datagram = position(&outputs, |it| matches!(it, RoomHostOutput::Datagram { .. }));
    assert!(journal < datagram, "{outputs:?}");
}

#[test]
fn a_full_room_answers_with_an_error_and_closes_the_connection() {
    let mut host = Host::new(1);
    host.join(1, ANN, 1);
    host.join(2, BOB, 2);
    assert_eq!(host.refusals(), [(ClientId(2), ErrorCode::RoomFull)]);
    host.tick();
    host.join(3, BOB, 3);
    assert_eq!(host.refusals(), [(ClientId(3), ErrorCode::RoomFull)]);
    // A player who has a seat may join again.
    host.join(4, ANN, 4);
    assert_eq!(host.refusals(), []);
    assert_eq!(host.room.seats_taken(), 1);
}

#[test]
fn a_ticket_that_was_revoked_while_its_client_waited_is_refused() {
    let mut host = Host::new(4);
    host.remove(ANN, 7);
    host.join(1, ANN, 7);
    assert_eq!(host.refusals(), [(ClientId(1), ErrorCode::NotInRoom)]);
    host.join(2, ANN, 8);
    assert_eq!(host.refusals(), []);
    host.order(RoomOrder::SyncMembers {
        members: vec![RoomMember { player: ANN, name: "ann".into() }],
        revoked_until: 20,
    });
    host.join(3, BOB, 20);
    assert_eq!(host.refusals(), [(ClientId(3), ErrorCode::NotInRoom)]);
    host.join(4, BOB, 21);
    assert_eq!(host.refusals(), []);
}

#[test]
fn a_revoked_ticket_is_remembered_for_a_minute() {
    let mut host = Host::new(4);
    host.remove(ANN, 7);
    host.now += Duration::from_secs(59);
    host.remove(BOB, 8);
    host.join(1, ANN, 7);
    assert_eq!(host.refusals(), [(ClientId(1), ErrorCode::NotInRoom)]);
}

#[test]
fn a_player_whose_connection_ends_keeps_the_seat() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.room.handle_closed(ClientId(1));
    host.tick();
    let stats = host.room.room().stats();
    assert_eq!((stats.clients, stats.players), (0, 1));
}

#[test]
fn a_lasting_room_sleeps_without_players_and_wakes_when_one_comes() {
    let config = RoomConfig { lasting: true, ..RoomConfig::default() };
    let mut host = Host::saved(4, Room::new(config, Box::<Typed<Leaving>>::default()));
    host.join(1, ANN, 1);
    host.tick();
    host.room.handle_leave(ClientId(1));
    let sleeps =
        |outputs: &[RoomHostOutput], is: bool| outputs.contains(&RoomHostOutput::Sleep(is));
    let awake: Vec<_> = (0..99).flat_map(|_| host.tick()).collect();
    assert!(!sleeps(&awake, true) && !host.room.is_asleep());
    let outputs: Vec<_> = (0..3).flat_map(|_| host.tick()).collect();
    assert!(sleeps(&outputs, true) && host.room.is_asleep());
    // An hour without ticks. The room is as it was, until a player comes.
    host.now += Duration::from_hours(1);
    host.join(2, BOB, 2);
    assert!(sleeps(&host.poll(), false) && !host.room.is_asleep());
    let outputs = host.tick();
    assert!(outputs.iter().any(|it| matches!(it, RoomHostOutput::Datagram { .. })));
    assert!(outputs.iter().any(|it| matches!(it, RoomHostOutput::Journal(_))));
    assert!(!sleeps(&outputs, true));
}

#[test]
fn a_question_wakes_no_room_and_those_beyond_a_limit_are_not_looked_at() {
    let config = RoomConfig { lasting: true, ..RoomConfig::default() };
    let mut host = Host::saved(4, Room::new(config, Box::<Typed<Leaving>>::default()));
    (0..200).for_each(|_| drop(host.tick()));
    assert!(host.room.is_asleep());
    let mut ask = |number, question: &[u8]| {
        host.order(RoomOrder::Ask { number, question: question.to_vec() });
        let answered = host.poll().into_iter().map(|output| match output {
            RoomHostOutput::World(HostMessage::Answered { room: ID, number: other, answer }) => {
                assert_eq!(other, number);
                answer
            }
            other => panic!("{other:?}"),
        });
        answered.collect::<Vec<_>>()
    };
    let question = RoomQuestion::Map.encode();
    for number in 0..u64::from(QUESTIONS_PER_S) {
        let answers = ask(number, &question);
        assert!(answers.len() == 1 && !answers[0].is_empty(), "{number}");
    }
    assert_eq!(ask(100, &question), [Vec::<u8>::new()], "the limit");
    assert_eq!(ask(101, b"what?"), [] as [Vec<u8>; 0], "not a question of this build");
    assert!(host.room.is_asleep());
}

#[test]
fn a_room_knows_what_the_calendar_shows_and_when_that_is_set() {
    let mut host = Host::new(4);
    let shown = |host: &Host| host.room.room().world().calendar_ms();
    let note = |host: &mut Host, unix_ms: u64| {
        let due = host.now + TICK;
        host.room.note_calendar(due, unix_ms);
        host.tick();
    };
    note(&mut host, 1_000_000_000_050);
    assert_eq!(shown(&host), 1_000_000_000_000);
    // As much later as the room's clock is, and a little more.
    note(&mut host, 1_000_000_000_800);
    assert_eq!(shown(&host), 1_000_000_000_000);
    note(&mut host, 1_000_000_005_150);
    assert_eq!(shown(&host), 1_000_000_005_000);
}

#[test]
fn a_client_that_stays_behind_its_player_is_disconnected() {
    let mut host = Host::of_a_map();
    let left_at = host.send_through_gate(1, ANN);
    host.now = left_at + MOVE_WITHIN.saturating_sub(2 * TICK);
    assert!(!disconnects(&host.tick()));
    assert!(disconnects(&host.tick()));
    assert!(!disconnects(&host.tick()), "once");
    // A client that follows closes by itself.
    let mut host = Host::of_a_map();
    host.send_through_gate(1, ANN);
    host.room.handle_closed(ClientId(1));
    host.now += MOVE_WITHIN;
    assert!(!disconnects(&host.tick()));
}

#[test]
fn a_client_that_comes_after_its_player_has_left_waits_for_the_other_map() {
    let mut host = Host::of_a_map();
    host.send_through_gate(1, ANN);
    host.room.handle_closed(ClientId(1));
    // The WorldServer hears of the departure before the next tick.
    host.join(2, ANN, 2);
    host.order(RoomOrder::RemovePlayer {
        player: ANN,
        reason: ErrorCode::NotInRoom,
        revoked_until: 2,
    });
    let came_at = host.now;
    let outputs = host.tick();
    assert_eq!(last_messages(outputs), [], "the player is not out of the world");
    assert_eq!(host.room.room().stats().clients, 0);
    host.now = came_at + MOVE_WITHIN.saturating_sub(2 * TICK);
    assert!(!disconnects(&host.tick()));
    assert!(disconnects(&host.tick()));
}

#[test]
fn a_removed_player_is_disconnected_unless_back_with_a_newer_ticket() {
    let mut host = Host::new(4);
    host.join(1, ANN, 5);
    host.tick();
    host.remove(ANN, 4);
    assert_eq!(host.poll(), [], "the player has come back since");
    host.remove(ANN, 5);
    assert_eq!(host.last_messages(), [(ClientId(1), ErrorCode::Kicked)]);
    // The end of the connection is reported later.
    host.room.handle_closed(ClientId(1));
    host.tick();
    assert_eq!(host.room.room().avatar(ANN), None);
}

#[test]
fn the_game_learns_why_each_player_has_left_and_so_does_its_next_host() {
    let mut host = Host::of_a_game_of_leaving();
    for number in 1..=8 {
        host.join(number, PlayerId(number.into()), 1);
    }
    host.tick();
    let snapshot = host.room.room().save().expect("the game can be saved");
    host.room.handle_leave(ClientId(1));
    let orders = [
        (2, ErrorCode::ErrorUnspecified),
        (3, ErrorCode::Idle),
        (4, ErrorCode::Kicked),
        (5, ErrorCode::NotInRoom),
        (6, ErrorCode::HostDied),
    ];
    for (player, reason) in orders {
        let player = PlayerId(player);
        host.order(RoomOrder::RemovePlayer { player, reason, revoked_until: 1 });
    }
    let members = vec![RoomMember { player: PlayerId(8), name: "ann".into() }];
    host.order(RoomOrder::SyncMembers { members, revoked_until: 1 });
    host.room.handle_closed(ClientId(8));
    let first = host.tick();
    host.now += Duration::from_secs(31);
    let second = host.tick();
    let expected = [
        (1, Left::Quit),
        (2, Left::Quit),
        (3, Left::Lost),
        (4, Left::Kicked),
        (5, Left::ToMap),
        (6, Left::Removed),
        (7, Left::Removed),
        (8, Left::Lost),
    ];
    let left = expected.map(|(player, why)| (PlayerId(player), why)).to_vec();
    assert_eq!(left_of(host.room.room()), left);

    let game = Box::<Typed<Leaving>>::default();
    let mut next = Room::restore(host.room.room().config().clone(), game, &snapshot)
        .expect("the snapshot was just made");
    for output in first.into_iter().chain(second) {
        if let RoomHostOutput::Journal(entry) = output {
            next.replay(entry.at, &entry.inputs().expect("the entry was just made"));
        }
    }
    assert_eq!(left_of(&next), left);
}

#[test]
fn who_has_left_through_a_gate_has_gone_to_another_map() {
    let mut host = Host::of_a_game_of_leaving();
    host.send_through_gate(1, ANN);
    assert_eq!(left_of(host.room.room()), [(ANN, Left::ToMap)]);
}

#[test]
fn sync_members_applies_to_players_who_have_just_joined_too() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.join(2, BOB, 2);
    host.poll();
    host.order(RoomOrder::SyncMembers {
        members: vec![RoomMember { player: ANN, name: "anna".into() }],
        revoked_until: 2,
    });
    let disconnected = host.last_messages();
    assert_eq!(disconnected, [(ClientId(2), ErrorCode::ErrorUnspecified)]);
    host.tick();
    let seated: Vec<_> = host.room.room().seated().collect();
    assert_eq!(seated, [(ANN, "anna")]);
}

#[test]
fn a_player_with_a_newer_connection_loses_the_older_one() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.join(2, ANN, 2);
    let outputs = host.tick();
    let last = last_messages(outputs);
    assert_eq!(last, [(ClientId(1), ErrorCode::TakenOver)]);
    // The late end of the older connection changes nothing.
    host.room.handle_closed(ClientId(1));
    host.tick();
    assert_eq!(host.room.room().stats().clients, 1);
}

#[test]
fn a_player_who_leaves_is_removed_and_disconnected_at_once() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.room.handle_leave(ClientId(1));
    let outputs = host.poll();
    assert!(outputs.contains(&RoomHostOutput::World(HostMessage::PlayerOut {
        room: ID,
        player: ANN,
        reason: ErrorCode::ErrorUnspecified,
        message: String::new(),
    })));
    assert_eq!(last_messages(outputs).len(), 1);
    // A client that has left gets no more answers.
    host.room.handle_leave(ClientId(1));
    assert_eq!(host.poll(), []);
}

#[test]
fn a_player_for_whom_the_game_has_no_avatar_is_refused_and_told_why() {
    let mut host = Host::of_a_game_without_avatars();
    host.join(1, ANN, 1);
    let outputs = host.tick();
    assert!(outputs.contains(&RoomHostOutput::World(HostMessage::PlayerOut {
        room: ID,
        player: ANN,
        reason: ErrorCode::ServerError,
        message: String::new(),
    })));
    let last = last_messages(outputs);
    assert_eq!(last, [(ClientId(1), ErrorCode::ServerError)]);
    // The room goes on, and the late end of the connection changes nothing.
    host.room.handle_closed(ClientId(1));
    host.tick();
    assert_eq!(host.room.room().stats().players, 0);
}

#[test]
fn malformed_datagrams_are_reported_on_the_control_stream_once() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    let mut outputs = Vec::new();
    for _ in 0..6 {
        let bytes = Bytes::from_static(&[0xff; 20]);
        host.room.handle_datagram(ClientId(1), host.now, bytes);
        outputs.extend(host.tick());
    }
    let errors = outputs.into_iter().filter_map(|output| match output {
        RoomHostOutput::Message { client, body: game_to_client::Body::Error(error) } => {
            Some((client, error.code()))
        }
        _ => None,
    });
    let errors: Vec<_> = errors.collect();
    assert_eq!(errors, [(ClientId(1), ErrorCode::Malformed)]);
    assert_eq!(host.room.room().stats().malformed, 6);
    assert_eq!(host.last_messages(), []);
}

#[test]
fn a_closed_room_notifies_its_clients_and_ignores_further_input() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.order(RoomTask::Close(ErrorCode::Draining));
    let outputs = host.poll();
    assert_eq!(outputs.last(), Some(&RoomHostOutput::Ended));
    let last = last_messages(outputs);
    assert_eq!(last, [(ClientId(1), ErrorCode::Draining)]);
    assert_eq!(host.tick(), []);
    host.join(2, BOB, 2);
    assert_eq!(host.refusals(), [(ClientId(2), ErrorCode::RoomClosed)]);
}

#[test]
fn a_crashed_room_is_reported_and_its_clients_are_notified() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.room.handle_panic();
    let outputs = host.poll();
    assert!(matches!(
        &outputs[0],
        RoomHostOutput::World(HostMessage::RoomClosed { reason: ErrorCode::RoomCrashed, .. })
    ));
    assert_eq!(outputs.last(), Some(&RoomHostOutput::Ended));
    let last = last_messages(outputs);
    assert_eq!(last, [(ClientId(1), ErrorCode::RoomCrashed)]);
}

#[test]
fn a_room_that_is_handed_over_sends_a_snapshot_and_keeps_its_connections() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.order(RoomTask::HandOver);
    let outputs = host.poll();
    let [.., RoomHostOutput::World(last), is_all, RoomHostOutput::HandedOver] = &outputs[..] else {
        panic!("{outputs:?}")
    };
    let HostMessage::Snapshot(_, snapshot) = last else { panic!("{outputs:?}") };
    assert_eq!(snapshot.at, host.now);
    assert_eq!(*is_all, RoomHostOutput::World(HostMessage::RoomHandedOver(ID)));
    assert_eq!(last_messages(outputs.clone()), []);
    assert_eq!(host.tick(), []);
}

#[test]
fn a_room_that_is_to_move_sends_all_after_its_next_tick_and_waits() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.order(RoomOrder::Move);
    assert_eq!(host.poll(), []);
    let outputs = host.tick();
    let journal = position(&outputs, |it| matches!(it, RoomHostOutput::Journal(_)));
    let snapshot = position(&outputs, |it| match it {
        RoomHostOutput::World(HostMessage::Snapshot(_, saved)) => saved.at == host.now,
        _ => false,
    });
    let is_all = RoomHostOutput::World(HostMessage::RoomHandedOver(ID));
    assert!(journal < snapshot && outputs.last() == Some(&is_all), "{outputs:?}");
    // What comes now is for the next host.
    host.order(RoomOrder::Move);
    host.room.handle_datagram(ClientId(1), host.now, Bytes::from_static(b"late"));
    assert!(host.room.inputs().is_empty() && host.room.is_over());
    assert_eq!(host.tick(), []);
    host.order(RoomTask::HandOver);
    assert_eq!(host.poll(), [RoomHostOutput::HandedOver]);
}

#[test]
fn a_room_that_was_handed_over_in_vain_goes_on() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.order(RoomOrder::Move);
    host.tick();
    assert_eq!(host.tick(), []);
    // The WorldServer is another one, and knows nothing of it.
    host.order(RoomTask::SendSnapshot);
    let outputs = host.tick();
    let is_snapshot =
        |it: &RoomHostOutput| matches!(it, RoomHostOutput::World(HostMessage::Snapshot(..)));
    assert!(outputs.iter().any(is_snapshot), "{outputs:?}");
    assert!(!host.tick().is_empty() && !host.room.is_over());
}

#[test]
fn a_room_moves_when_its_game_allows_it() {
    let room = Room::new(RoomConfig::default(), Box::<Typed<GameOfRounds>>::default());
    let mut host = Host::saved(4, room);
    host.order(RoomOrder::Move);
    let is_all = RoomHostOutput::World(HostMessage::RoomHandedOver(ID));
    let has_left = |outputs: Vec<RoomHostOutput>| outputs.contains(&is_all);
    // A round has ten ticks, and one has run.
    let left = (1..=20).find(|_| has_left(host.tick()));
    assert_eq!(left, Some(9));
}

#[test]
fn a_crash_during_the_handover_ends_the_room_here_alone() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    host.room.handle_panic_in_hand_over();
    assert_eq!(host.poll(), [RoomHostOutput::HandedOver]);
    assert_eq!(host.tick(), []);
}

#[test]
fn a_new_world_server_gets_a_snapshot_at_once() {
    let mut host = Host::new(4);
    let has_snapshot = |outputs: Vec<RoomHostOutput>| {
        let snapshot = |output: &RoomHostOutput| {
            matches!(output, RoomHostOutput::World(HostMessage::Snapshot(..)))
        };
        outputs.iter().any(snapshot)
    };
    assert!(!has_snapshot(host.tick()));
    host.order(RoomTask::SendSnapshot);
    assert!(has_snapshot(host.tick()));
    assert!(!has_snapshot(host.tick()));
}

#[test]
fn a_room_whose_entries_are_late_confirms_only_what_is_acknowledged() {
    let mut host = Host::new(4);
    let at = LocalTime::from_millis;
    host.join(1, ANN, 1);
    host.tick();
    host.room.note_entry(at(50), 1);
    assert_eq!(host.room.release_after(), 1);
    host.room.note_kept(at(149), 0, true);
    assert!(host.room.inputs().is_empty() && !host.room.is_confirming_late());
    host.room.note_kept(at(150), 0, true);
    let limited = RoomInput::ConfirmUntil(Some(GameTime::ZERO));
    assert_eq!(host.room.inputs(), [limited]);
    assert!(host.room.is_confirming_late());
    host.tick();
    host.room.note_entry(at(150), 2);
    assert_eq!(host.room.release_after(), 0);
    host.room.note_kept(at(160), 0, true);
    assert_eq!(host.room.inputs(), [], "the limit is the same");
    host.room.note_kept(at(170), 2, true);
    assert_eq!(host.room.inputs(), [RoomInput::ConfirmUntil(None)]);
    assert!(!host.room.is_confirming_late());
}

#[test]
fn a_restored_room_continues_from_the_last_journal_entry() {
    let mut host = Host::new(4);
    let mut saved = SavedRoom::default();
    host.join(1, ANN, 1);
    host.join(2, BOB, 2);
    for _ in 0..45 {
        for output in host.tick() {
            match output {
                RoomHostOutput::Journal(entry) => saved.journal.push(entry),
                RoomHostOutput::World(HostMessage::Snapshot(_, snapshot)) => {
                    saved = SavedRoom { snapshot, journal: Vec::new() }
                }
                _ => {}
            }
        }
    }
    assert!(saved.journal.len() > 2, "{}", saved.journal.len());
    let (config, game) = games().prepare(&header()).expect("a room");
    let resume = ambit_host_protocol::messages::RoomResume {
        now: saved.last_tick(),
        saved,
        members: Some(vec![RoomMember { player: ANN, name: "anna".into() }]),
    };
    let now = host.now;
    let next = crate::checkpoints::restore_room(config, game, || now, &resume);
    let next = next.expect("the room can be restored");
    assert_eq!(next.last_tick(), Some(now + Duration::from_millis(1)));
    assert_eq!(next.avatar(ANN), host.room.room().avatar(ANN));
    assert_eq!(next.seated().collect::<Vec<_>>(), [(ANN, "anna")]);
}

#[test]
fn a_late_room_sends_less_and_its_clients_are_told() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    // A second in which each tick takes longer than it may, then some of rest.
    let told = host.ticks_with_work(21, Duration::from_millis(60));
    assert_eq!(told, (vec![(ClientId(1), 1)], vec![1, 2]));
    let levels = |inputs: &[RoomInput]| {
        let level = |input: &RoomInput| match input {
            RoomInput::SetLoadLevel(level) => Some(level.number()),
            _ => None,
        };
        inputs.iter().filter_map(level).collect::<Vec<_>>()
    };
    assert_eq!(levels(host.room.inputs()), [2], "for the next tick");
    host.join(2, BOB, 2);
    let joined = host.poll();
    assert!(matches!(
        joined[..],
        [
            RoomHostOutput::Message { client: ClientId(2), body: game_to_client::Body::Joined(_) },
            RoomHostOutput::Message {
                client: ClientId(2),
                body: game_to_client::Body::Late(RoomLate { is_late: true, .. })
            }
        ]
    ));
    let told = host.ticks_with_work(240, Duration::from_millis(1));
    let both = |level| [(ClientId(1), level), (ClientId(2), level)];
    assert_eq!(told, (both(0).to_vec(), vec![1, 0]));
}

#[test]
fn a_room_whose_tick_is_too_long_to_be_kept_ends_unconfirmed() {
    let mut host = Host::new(4);
    host.join(1, ANN, 1);
    host.tick();
    let name = "x".repeat(MAX_TICK_INPUT_BYTES + 1);
    host.order(RoomOrder::RenamePlayer { player: BOB, name });
    let outputs = host.tick();
    let confirms = |output: &RoomHostOutput| {
        matches!(output, RoomHostOutput::Journal(_) | RoomHostOutput::Datagram { .. })
    };
    assert!(!outputs.iter().any(confirms));
    assert!(outputs.contains(&RoomHostOutput::Ended));
    let closed = |output: &RoomHostOutput| {
        matches!(
            output,
            RoomHostOutput::World(HostMessage::RoomClosed { reason: ErrorCode::ServerError, .. })
        )
    };
    assert!(outputs.iter().any(closed));
    assert_eq!(last_messages(outputs), [(ClientId(1), ErrorCode::ServerError)]);
}

#[test]
fn players_learn_of_a_game_s_end_when_it_can_no_longer_be_lost() {
    let over = || {
        let mut host = Host::of_a_short_game();
        host.join(1, ANN, 1);
        let outputs = host.tick();
        assert!(matches!(outputs[..], [.., RoomHostOutput::Datagram { .. }]));
        // Clients see what the game has said last: it takes effect a local lag after its end, three
        // ticks.
        for _ in 0..3 {
            assert_eq!(last_messages(host.tick()), []);
        }
        let outputs = host.tick();
        assert!(outputs.iter().any(|it| matches!(it, RoomHostOutput::Journal(_))));
        assert_eq!(last_messages(outputs), []);
        host.room.note_entry(LocalTime::ZERO, 2);
        host
    };
    let told = [(ClientId(1), ErrorCode::GameOver)];
    let kept = |host: &mut Host, ms, number| {
        host.room.note_kept(LocalTime::from_millis(ms), number, true);
        host.tick()
    };
    let mut host = over();
    // Not after any time, and no tick runs meanwhile.
    for ms in [50, 100, 5_000] {
        assert_eq!(kept(&mut host, ms, 1), []);
    }
    let outputs = kept(&mut host, 5_050, 2);
    assert!(outputs.contains(&RoomHostOutput::Ended));
    assert_eq!(last_messages(outputs), told);
    // A new leader has no entries of the room; it learns of the end at once.
    let mut host = over();
    host.order(RoomTask::SendSnapshot);
    assert_eq!(host.last_messages(), told);
    // A host without a lease can lose nothing that it has sent.
    let mut host = over();
    host.room.note_kept(LocalTime::ZERO, 0, false);
    assert_eq!(last_messages(host.tick()), told);
}

fn games() -> Registry {
    Games::new().with::<FieldGame>().into()
}

#[derive(ambit::Kind)]
struct Walker {
    path: ambit::component::Path,
}

#[derive(Default, ambit::Declare)]
#[declare(kinds(Walker), unsaved)]
struct GameWithoutAvatars;

impl ambit::Game for GameWithoutAvatars {
    const INFO: GameInfo = GameInfo::new("ghosts", "Nobody is there.");
    type Avatar = Walker;
    ambit::no_commands!();
    type Refusal = ambit::NoRefusal;

    fn join(&mut self, world: &mut ambit::World<Self>, _: ambit::Newcomer<'_>) -> Id<Walker> {
        let path = ambit::component::Path::at(world.centre());
        let avatar = world.spawn(Walker { path });
        world.despawn(avatar);
        avatar
    }
}

/// Over after its second tick.
#[derive(Default, serde::Serialize, serde::Deserialize, ambit::Declare)]
#[declare(kinds(Walker))]
struct ShortGame {
    ticks: u32,
}

impl ambit::Game for ShortGame {
    const INFO: GameInfo = GameInfo::new("short", "Ends soon.");
    type Avatar = Walker;
    ambit::no_commands!();
    type Refusal = ambit::NoRefusal;

    fn join(&mut self, world: &mut ambit::World<Self>, _: ambit::Newcomer<'_>) -> Id<Walker> {
        let path = ambit::component::Path::at(world.centre());
        world.spawn(Walker { path })
    }

    fn step(&mut self, _: &mut ambit::World<Self>, _: Duration) {
        self.ticks += 1;
    }

    fn is_finished(&self) -> bool {
        self.ticks > 2
    }
}

/// What a game of leaving has noted.
fn left_of(room: &Room) -> Vec<(PlayerId, Left)> {
    let saved = room.game().save().expect("it is saved");
    // Behind the version of the game.
    let game: Leaving = saved::all(&saved[1..]).expect("it was just saved");
    game.left
}

/// Notes who has left, and why. There is a gate in the east.
#[derive(Default, serde::Serialize, serde::Deserialize, ambit::Declare)]
#[declare(kinds(Walker))]
struct Leaving {
    left: Vec<(PlayerId, Left)>,
}

impl ambit::Game for Leaving {
    const INFO: GameInfo = GameInfo::new("leaving", "Notes who leaves.");
    type Avatar = Walker;
    ambit::no_commands!();
    type Refusal = ambit::NoRefusal;

    fn join(&mut self, world: &mut ambit::World<Self>, _: ambit::Newcomer<'_>) -> Id<Walker> {
        let path = ambit::component::Path::at(world.centre());
        world.spawn(Walker { path })
    }

    fn leave(&mut self, _: &mut ambit::World<Self>, player: ambit::Player<'_, Self>, why: Left) {
        self.left.push((player.id(), why));
    }

    fn gates(&self, _: &ambit::World<Self>) -> Vec<ambit::Gate> {
        let low = Position::on_ground(198.0, 0.0);
        let high = Position::on_ground(200.0, 200.0);
        vec![ambit::Gate { low, high, map: 1, at: Position::on_ground(5.0, 100.0) }]
    }
}

/// Has rounds of ten ticks, and moves between two of them.
#[derive(Default, serde::Serialize, serde::Deserialize, ambit::Declare)]
#[declare(kinds(Walker))]
struct GameOfRounds {
    ticks: u32,
}

impl ambit::Game for GameOfRounds {
    const INFO: GameInfo = GameInfo::new("rounds", "Has rounds.");
    type Avatar = Walker;
    ambit::no_commands!();
    type Refusal = ambit::NoRefusal;

    fn join(&mut self, world: &mut ambit::World<Self>, _: ambit::Newcomer<'_>) -> Id<Walker> {
        let path = ambit::component::Path::at(world.centre());
        world.spawn(Walker { path })
    }

    fn step(&mut self, _: &mut ambit::World<Self>, _: Duration) {
        self.ticks += 1;
    }

    fn may_move(&self, _: &ambit::World<Self>) -> bool {
        self.ticks.is_multiple_of(10)
    }
}

/// A room host with a room of the game `field`, and its time.
struct Host {
    room: RoomHost,
    now: GameTime,
}

impl Host {
    fn new(capacity: u32) -> Self {
        let room = games().create_room(&header()).expect("valid parameters");
        Self::saved(capacity, room)
    }

    fn saved(capacity: u32, mut room: Room) -> Self {
        room.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
        let (checkpoints, first) = CheckpointSender::new(ID, &room).expect("the room can be saved");
        assert!(first.is_some());
        Host { room: RoomHost::new(ID, capacity, room, Some(checkpoints)), now: GameTime::ZERO }
    }

    /// One of two maps with a gate between them.
    fn of_a_map() -> Self {
        let parameters = [("maps", "2"), ("map", "0"), ("obstacles", "0"), ("npcs", "0")];
        let header = Header {
            parameters: parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            ..header()
        };
        let room = games().create_room(&header).expect("valid parameters");
        Self::saved(4, room)
    }

    fn of_a_short_game() -> Self {
        let game = Box::<Typed<ShortGame>>::default();
        Self::saved(4, Room::new(RoomConfig::default(), game))
    }

    fn of_a_game_of_leaving() -> Self {
        let game = Box::<Typed<Leaving>>::default();
        Self::saved(8, Room::new(RoomConfig::default(), game))
    }

    fn of_a_game_without_avatars() -> Self {
        let room = Room::new(RoomConfig::default(), Box::<Typed<GameWithoutAvatars>>::default());
        Host { room: RoomHost::new(ID, 4, room, None), now: GameTime::ZERO }
    }

    fn join(&mut self, client: u32, player: PlayerId, serial: u64) {
        let ticket = Ticket {
            room: ID,
            player,
            name: "ann".into(),
            account: None,
            standing: Standing::default(),
            wishes: Wishes::default(),
            host: String::new(),
            expires_unix_s: 0,
            serial,
            nonce: [0; 16],
        };
        let admitted = AdmittedClient { ticket, coding: PoseCoding::Auto };
        self.room.handle_join(self.now, ClientId(client), admitted);
    }

    /// A player joins, enters the gate, and is released. Returns when.
    fn send_through_gate(&mut self, client: u32, player: PlayerId) -> GameTime {
        self.join(client, player, 1);
        self.tick();
        let avatar = self.room.room.avatar(player).expect("the player is here");
        let gate = Position::on_ground(199.0, 100.0);
        self.room.room.arrange().0.teleport(avatar, gate);
        let at_gate = |output: &RoomHostOutput| {
            matches!(output, RoomHostOutput::World(HostMessage::AtGate { .. }))
        };
        assert!(self.tick().iter().any(at_gate));
        self.order(RoomOrder::ReleaseForTransfer { player, transfer: TransferId(7) });
        let departed = |output: &RoomHostOutput| {
            matches!(output, RoomHostOutput::World(HostMessage::Departed { carried: Some(_), .. }))
        };
        assert!(self.tick().iter().any(departed));
        self.now
    }

    fn remove(&mut self, player: PlayerId, revoked_until: u64) {
        self.order(RoomOrder::RemovePlayer { player, reason: ErrorCode::Kicked, revoked_until });
    }

    fn order(&mut self, task: impl Into<RoomTask>) {
        self.room.handle_task(self.now, task.into());
    }

    fn tick(&mut self) -> Vec<RoomHostOutput> {
        self.now += TICK;
        self.room.tick(self.now);
        self.poll()
    }

    /// Runs ticks that take `work` each. Returns which client received which load level, and the
    /// load levels.
    fn ticks_with_work(&mut self, ticks: u32, work: Duration) -> (Vec<(ClientId, u32)>, Vec<u8>) {
        let mut told = Vec::new();
        let mut levels = Vec::new();
        for _ in 0..ticks {
            self.tick();
            self.room.handle_work(self.now, work, 0);
            for output in self.poll() {
                match output {
                    RoomHostOutput::Message { client, body: game_to_client::Body::Late(late) } => {
                        assert_eq!(late.is_late, late.load_level > 0);
                        told.push((client, late.load_level));
                    }
                    RoomHostOutput::LoadLevel(level) => levels.push(level.number()),
                    _ => {}
                }
            }
        }
        (told, levels)
    }

    fn poll(&mut self) -> Vec<RoomHostOutput> {
        std::iter::from_fn(|| self.room.poll()).collect()
    }

    /// The clients whose last message is an error, with its code.
    fn refusals(&mut self) -> Vec<(ClientId, ErrorCode)> {
        let refusal = |output| match output {
            RoomHostOutput::LastMessage {
                client,
                body: game_to_client::Body::Error(error),
                code,
            } => {
                assert_eq!(error.code(), code);
                Some((client, code))
            }
            _ => None,
        };
        self.poll().into_iter().filter_map(refusal).collect()
    }

    /// The clients that were disconnected, with the code.
    fn last_messages(&mut self) -> Vec<(ClientId, ErrorCode)> {
        last_messages(self.poll())
    }
}

fn disconnects(outputs: &[RoomHostOutput]) -> bool {
    let is_disconnect = |output| matches!(output, &RoomHostOutput::Disconnect { .. });
    outputs.iter().any(is_disconnect)
}

fn last_messages(outputs: Vec<RoomHostOutput>) -> Vec<(ClientId, ErrorCode)> {
    let last = |output| match output {
        RoomHostOutput::LastMessage { client, body: game_to_client::Body::Out(_), code } => {
            Some((client, code))
        }
        _ => None,
    };
    outputs.into_iter().filter_map(last).collect()
}

fn position(outputs: &[RoomHostOutput], is: impl Fn(&RoomHostOutput) -> bool) -> usize {
    outputs.iter().position(is).expect("the output is present")
}

fn header() -> Header {
    let parameters = [("npcs", "3"), ("size", "60x60")];
    Header {
        game: "field".into(),
        room: ID.0,
        seed: 5,
        capacity: 4,
        grace_ms: 30_000,
        parameters: parameters.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
    }
}
