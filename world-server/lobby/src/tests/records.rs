//! A lobby that writes directory records, and another one that restores them.

use ambit_host_protocol::generated::{RoomClosed, host_to_world, world_to_host};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{
    self, CreateRoom, client_to_world as ask, world_to_client::Body,
};

use ambit_proto::ids::RoomId;
use prost::Message as _;

use super::harness::{Client, LobbyHarness, create, join, leave, request_ticket, room, seconds};
use crate::directory as pb;
use crate::{HostId, RecordKey};

#[test]
fn players_resume_at_another_server_and_find_their_room() {
    let mut first = LobbyHarness::recorded();
    let (ann, bob, cid) =
        (first.connect_as("ann"), first.connect_as("bob"), first.connect_as("cid"));
    let den =
        first.create(&ann, CreateRoom { password: "s3cret".into(), capacity: 3, ..room("den") });
    first.ask(
        bob.conn,
        ask::Body::JoinRoom(world::JoinRoom { room: den.id, password: "s3cret".into() }),
    );
    first.expect_done(bob.conn, ask::Body::SetReady(world::SetReady { ready: true }));
    let eve = add_member(&mut first, &den, "eve");
    first.expect_done(ann.conn, ask::Body::Kick(world::Kick { player: eve.id }));

    let has_password = |record: &Vec<u8>| record.windows(6).any(|bytes| bytes == b"s3cret");
    assert!(!first.records.values().any(has_password));
    let mut second = first.start_successor(seconds(5));
    let conn = second.connect();
    let welcome = second.welcome(conn, "x", &ann.token);
    assert_eq!(
        (welcome.player, welcome.name.as_str(), welcome.resumed, welcome.room),
        (ann.id, "ann", true, Some(den.id))
    );
    let bob = second.resume(&bob);
    assert_eq!(second.members(&bob), "ann* bob!");
    // Bans, the password and taken names are kept, and ids continue.
    let conn = second.connect();
    let eve = second.hello(conn, "eve", &token_of(&first, "eve"));
    assert_eq!(second.refusal_code(eve.conn, join(den.id)), ErrorCode::Kicked);
    assert_eq!(second.connect_as("cid").name, "cid-2");
    let cid = second.resume(&cid);
    assert_eq!(second.refusal_code(cid.conn, join(den.id)), ErrorCode::WrongPassword);
    assert!(second.create(&cid, room("other")).id > den.id);
}

#[test]
fn ids_in_use_are_not_given_again_if_the_record_of_ids_is_lost() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(7, 9, &[]);
    let ann = first.connect_as("ann");
    let bob = first.connect_as("bob");
    let den = first.running_room_of(host, &[&ann, &bob]);
    first.records.remove(&RecordKey::Ids);
    let mut second = first.start_successor(seconds(5));
    assert_eq!(second.lobby.last_host(), host);
    let others: Vec<Client> = (0..3).map(|_| second.connect_as("eve")).collect();
    for other in &others {
        assert!(other.id > bob.id, "{} is a new id", other.id);
        assert!(second.create(other, room("other")).id > den);
    }
    let ann = second.resume(&ann);
    let bob = second.resume(&bob);
    assert_eq!(second.members(&ann), "ann* bob");
    for player in others.iter().chain([&ann, &bob]) {
        second.listed(player);
    }
}

#[test]
fn ids_are_reserved_in_time_if_one_kind_alone_is_used_up() {
    let mut harness = LobbyHarness::recorded();
    harness.connect_as("ann");
    let reserved = |harness: &mut LobbyHarness| {
        let before = harness.log.len();
        harness.connect_as("bob");
        let written =
            harness.log[before..].iter().filter(|(key, _)| *key == RecordKey::Ids).count();
        let ids = pb::Ids::decode(&harness.records[&RecordKey::Ids][..]).expect("a record");
        (written, ids.tickets, ids.transfers)
    };
    assert_eq!(reserved(&mut harness), (0, 10_000, 10_000));
    harness.lobby.effects.counters.tickets = 5_000;
    assert_eq!(reserved(&mut harness), (0, 10_000, 10_000));
    harness.lobby.effects.counters.tickets = 5_001;
    assert_eq!(reserved(&mut harness), (1, 15_001, 10_000));
    harness.lobby.rooms.skip_transfers_to(5_001);
    assert_eq!(reserved(&mut harness), (1, 15_001, 15_001));
}

#[test]
fn a_create_request_repeated_at_another_server_makes_no_second_room() {
    let mut first = LobbyHarness::recorded();
    let ann = first.connect_as("ann");
    let wanted = CreateRoom { key: vec![7; 16], ..room("den") };
    let made = first.create(&ann, wanted.clone());
    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    assert_eq!(second.create(&ann, wanted).id, made.id);
    assert_eq!(second.listed(&ann).len(), 1);
}

#[test]
fn a_host_reconnects_and_its_rooms_continue_unchanged() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let bob = first.connect_as("bob");
    let den = first.running_room_of(host, &[&ann, &bob]);
    let before = first.request_new_ticket(&ann);

    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    let host = second.reconnecting_host(second.lobby.last_host().0 + 1, 9, &[(den, 1), (77, 3)]);
    assert_eq!(second.adopted, [(den, host)]);
    assert_eq!(second.take_closed_rooms(), [77], "the lobby does not know this room");
    let after = second.request_new_ticket(&ann);
    assert_eq!((after.room, &after.address, after.incarnation), (den, &before.address, 1));
    second.advance(seconds(6));
    assert!(second.listed(&ann)[0].running);
    // The host can be lost again; the room has no checkpoint until the host saves it again.
    second.lose_host(host, "killed");
    assert_eq!(second.leave_reason(&ann).0, ErrorCode::HostDied);
}

#[test]
fn a_host_that_reconnects_keeps_its_rooms() {
    let (mut harness, ann, den) = restored_room();
    let first = harness.reconnecting_host(20_000, 9, &[(den, 1)]);
    // Its link broke, which this lobby has not noticed.
    let second = harness.reconnecting_host(20_001, 9, &[(den, 1)]);
    assert_eq!(harness.take_disconnected_hosts(), [first], "a host has at most one link");
    assert_eq!(harness.adopted, [(den, first), (den, second)]);
    harness.lose_host(first, "its connection ended");
    assert_eq!(
        (harness.take_closed_rooms(), harness.request_new_ticket(&ann).incarnation),
        (vec![], 1)
    );
    harness.lose_host(second, "killed");
    assert_eq!(harness.leave_reason(&ann).0, ErrorCode::HostDied, "the room has no checkpoint yet");
}

#[test]
fn a_leader_crash_while_a_host_reconnects_loses_no_room() {
    let (mut harness, ann, den) = restored_room();
    harness.reconnecting_host(20_000, 9, &[(den, 1)]);
    let before = harness.records.clone();
    harness.log.clear();
    harness.reconnecting_host(20_001, 9, &[(den, 1)]);
    assert!(
        harness.log.len() >= 3,
        "the records of a host, the room, and a removed host: {:?}",
        harness.log
    );
    for mut next in harness.restore_partial_writes(&before, seconds(5)) {
        let host = next.reconnecting_host(40_000, 9, &[(den, 1)]);
        let ann = next.resume(&ann);
        assert_eq!((next.take_closed_rooms(), &next.adopted[..]), (vec![], &[(den, host)][..]));
        assert!(next.listed(&ann)[0].running);
    }
}

#[test]
fn a_leader_crash_while_a_name_changes_owner_loses_no_session() {
    let mut harness = LobbyHarness::recorded();
    let bob = harness.connect_as("bob");
    let ann = harness.connect_as("ann");
    let before = harness.records.clone();
    harness.log.clear();
    harness.ask(ann.conn, super::harness::set_name("zoe"));
    harness.ask(bob.conn, super::harness::set_name("ann"));
    // Records are written in the order of their keys: the player who gets the name comes first.
    harness.log.sort_by_key(|(key, _)| *key);
    for mut next in harness.restore_partial_writes(&before, seconds(5)) {
        let ann = next.resume(&ann);
        let bob = next.resume(&bob);
        assert_ne!(ann.name, bob.name);
        next.advance(seconds(60));
        assert_eq!(next.lobby.stats().players, 2);
    }
}

#[test]
fn an_older_incarnation_of_a_room_is_closed() {
    let (mut second, ann, den) = restored_room();
    second.reconnecting_host(20_000, 9, &[(den, 0)]);
    assert_eq!(second.take_closed_rooms(), [den]);
    assert_eq!(second.leave_reason(&ann).0, ErrorCode::HostDied);
}

#[test]
fn rooms_of_a_host_that_does_not_reconnect_in_time_are_lost() {
    let (mut second, ann, den) = restored_room();
    assert!(second.listed(&ann)[0].running, "a live room stays in the list");
    second.advance(seconds(4));
    assert_eq!(second.listed(&ann).len(), 1);
    second.advance(seconds(2));
    assert_eq!(second.leave_reason(&ann).0, ErrorCode::HostDied);
    assert_eq!(second.listed(&ann), []);
    // The host reconnects too late.
    second.reconnecting_host(20_000, 9, &[(den, 1)]);
    assert_eq!(second.take_closed_rooms(), [den]);
}

#[test]
fn records_of_removed_players_and_rooms_are_removed() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let bob = first.connect_as("bob");
    first.running_room_of(host, &[&ann, &bob]);
    first.disconnect(&bob);
    first.lose_host(host, "killed");
    first.advance(seconds(40));
    let keys: Vec<_> = first.records.keys().map(ToString::to_string).collect();
    assert_eq!(keys, ["ids".to_owned(), format!("player.{}", ann.id)]);
    let mut again = first.start_successor(seconds(5)).records;
    assert_ne!(
        again.insert(RecordKey::Ids, Vec::new()),
        first.records.insert(RecordKey::Ids, Vec::new()),
        "ids are never used twice"
    );
    assert_eq!(again, first.records, "a restore changes no other record");
}

#[test]
fn without_a_working_directory_there_are_no_records_or_no_new_rooms() {
    let mut plain = LobbyHarness::new();
    let ann = plain.connect_as("ann");
    plain.create(&ann, room("den"));
    assert!(plain.records.is_empty());
    let mut harness = LobbyHarness::recorded();
    let host = harness.reconnecting_host(1, 9, &[]);
    let ann = harness.connect_as("ann");
    let bob = harness.connect_as("bob");
    let den = harness.running_room_of(host, &[&ann]);
    harness.lobby.set_directory_available(false);
    let (code, message) = harness.expect_refusal(bob.conn, create(room("new")));
    assert_eq!(code, ErrorCode::TryAgain);
    assert!(message.contains("try again"), "{message}");
    // Existing rooms continue.
    harness.join(&bob, den);
    assert!(matches!(harness.ask(bob.conn, request_ticket()), Body::Ticket(_)));
    harness.lobby.set_directory_available(true);
    harness.ask(bob.conn, ask::Body::LeaveRoom(world::LeaveRoom {}));
    harness.create(&bob, room("new"));
}

#[test]
fn a_heartbeat_of_a_remote_host_is_acknowledged() {
    let mut harness = LobbyHarness::new();
    let host = harness.reconnecting_host(1, 9, &[]);
    harness.send_from_host(
        host,
        host_to_world::Body::Heartbeat(ambit_host_protocol::generated::Heartbeat { number: 5 }),
    );
    let is_acknowledgement = |order: &world_to_host::Body| {
        matches!(
            order,
            world_to_host::Body::AcknowledgeHeartbeat(heard) if heard.number == 5
        )
    };
    let is_acknowledged =
        harness.take_orders().iter().any(|(to, order)| *to == host && is_acknowledgement(order));
    assert!(is_acknowledged);
}

#[test]
fn record_keys_survive_a_round_trip() {
    for key in ["ids", "host.3", "room.18446744073709551615", "player.1"] {
        assert_eq!(key.parse::<RecordKey>().expect("a key").to_string(), key);
    }
    for wrong in ["", "room", "room.", "room.x", "leader", "room.-1", "rooms.1"] {
        assert!(wrong.parse::<RecordKey>().is_err(), "{wrong}");
    }
    assert_eq!("host.3".parse(), Ok(RecordKey::Host(HostId(3))));
}

/// A server that has restored a running room; the player has returned, the host has not.
fn restored_room() -> (LobbyHarness, Client, u64) {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let den = first.running_room_of(host, &[&ann]);
    let mut second = first.start_successor(seconds(5));
    let ann = second.resume(&ann);
    (second, ann, den)
}

/// Adds a player to the room.
fn add_member(harness: &mut LobbyHarness, den: &world::Room, name: &str) -> Client {
    let client = harness.connect_as(name);
    harness.ask(
        client.conn,
        ask::Body::JoinRoom(world::JoinRoom { room: den.id, password: "s3cret".into() }),
    );
    client
}

fn token_of(harness: &LobbyHarness, name: &str) -> Vec<u8> {
    let players = harness.records.iter().filter(|(key, _)| matches!(key, RecordKey::Player(_)));
    let mut known =
        players.filter_map(|(_, bytes)| crate::directory::Player::decode(&bytes[..]).ok());
    known.find(|player| player.name == name).expect("a player").token
}

#[test]
fn rooms_go_on_after_the_end_of_everything_if_their_checkpoints_were_kept() {
    let mut first = LobbyHarness::recorded();
    let host = first.host(1, 4);
    let ann = first.connect_as("ann");
    let bob = first.connect_as("bob");
    let kept = first.running_room_of(host, &[&ann]);
    let lost = first.running_room_of(host, &[&bob]);

    let mut second = first.start_successor_with(seconds(5), &[kept]);
    let ann = second.resume(&ann);
    let bob = second.resume(&bob);
    let rooms: Vec<u64> = second.listed(&ann).iter().map(|room| room.id).collect();
    assert_eq!(rooms, [kept], "{lost} had no checkpoint");
    assert_eq!(
        second.refusal_code(ann.conn, request_ticket()),
        ErrorCode::TryAgain,
        "it waits for a host"
    );
    let host = second.host(second.lobby.last_host().0 + 1, 4);
    second.opened(host, kept, None);
    assert_eq!(second.request_new_ticket(&ann).incarnation, 2);
    assert_eq!(second.refusal_code(bob.conn, request_ticket()), ErrorCode::NotInRoom);
}

#[test]
fn kept_rooms_of_a_host_that_does_not_come_back_go_on_at_another() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let den = first.running_room_of(host, &[&ann]);

    let mut second = first.start_successor_with(seconds(5), &[den]);
    let ann = second.resume(&ann);
    let other = second.host(second.lobby.last_host().0 + 1, 4);
    assert_eq!(second.request_new_ticket(&ann).incarnation, 1);
    second.advance(seconds(6));
    second.opened(other, den, None);
    assert_eq!(second.request_new_ticket(&ann).incarnation, 2);
}

#[test]
fn kept_rooms_wait_for_a_host_as_long_as_they_have_players() {
    let (first, [ann, bob, _], [one, two, three]) = three_kept_rooms();
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    let ann = next.resume(&ann);
    let bob = next.resume(&bob);
    let other = next.host_with_build("other", next.lobby.last_host().0 + 1, 4);
    next.advance(seconds(600));
    assert_eq!(next.removed_checkpoints, [three], "its player is gone");
    // A host that hangs.
    let hung = next.host(next.lobby.last_host().0 + 2, 1);
    assert_eq!(next.take_open_orders().len(), 1);
    next.advance(seconds(600));
    assert_eq!(next.removed_checkpoints, [three]);
    next.ask(bob.conn, leave());
    assert_eq!(next.removed_checkpoints, [three, two], "nobody is left");
    next.lose_host(hung, "killed");
    next.advance(seconds(600));
    let host = next.host(next.lobby.last_host().0 + 3, 4);
    next.opened(host, one, None);
    assert_eq!(next.request_new_ticket(&ann).room, one);
    // From then on it is like any other.
    next.advance(seconds(4));
    next.lose_host(host, "killed");
    next.advance(seconds(60));
    assert_eq!(next.leave_reason(&ann).0, ErrorCode::ServerError);
    assert_eq!(next.removed_checkpoints, [three, two, one]);
    next.lose_host(other, "test");
}

#[test]
fn after_a_start_that_did_not_finish_rooms_are_tried_one_at_a_time() {
    let (first, clients, [one, two, three]) = three_kept_rooms();
    let mut next = first.start_careful_successor(&[one, two, three]);
    let [ann, _, _] = clients.map(|client| next.resume(&client));
    assert_eq!(next.trials, [], "there is no host");
    let host = next.host(next.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut next), [one]);
    assert_eq!(next.trials, [Some(one)]);
    next.opened(host, one, None);
    next.advance(seconds(2));
    assert!(opened(&mut next).is_empty());
    next.advance(seconds(1));
    assert_eq!(opened(&mut next), [two]);
    // It does not answer, so the next one is tried. It can still answer.
    next.advance(seconds(10));
    assert_eq!(opened(&mut next), [three]);
    next.opened(host, two, None);
    next.opened(host, three, None);
    assert!(!next.is_restored);
    next.advance(seconds(3));
    assert!(next.is_restored);
    let noted = [one, two, three].map(Some);
    assert_eq!(next.trials, [&noted[..], &[None]].concat());
    assert_eq!(next.request_new_ticket(&ann).incarnation, 2);
    // Without an unfinished start, all begin at once.
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    next.host(next.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut next), [one, two, three]);
    assert!(next.trials.is_empty() && !next.is_restored);
}

#[test]
fn a_host_that_comes_during_the_trial_of_a_room_begins_no_other() {
    let (first, _, rooms) = three_kept_rooms();
    let [one, two, _] = rooms;
    let mut next = first.start_careful_successor(&rooms);
    let host = next.host(next.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut next), [one]);
    next.host(next.lobby.last_host().0 + 1, 4);
    assert!(opened(&mut next).is_empty());
    next.opened(host, one, None);
    next.advance(seconds(3));
    assert_eq!(opened(&mut next), [two]);
    assert_eq!(next.trials, [one, two].map(Some));
}

#[test]
fn players_of_a_room_that_is_set_aside_are_told_when_they_come_back() {
    let (first, [ann, bob, _], [one, two, three]) = three_kept_rooms();
    let mut next = first.start_careful_successor(&[one, two, three]);
    let header = next.lobby.set_aside_room(next.now, RoomId(one));
    assert_eq!(header.map(|(header, _)| header.room), Some(one));
    assert_eq!(next.lobby.set_aside_room(next.now, RoomId(one)), None);
    next.handle_outputs();
    assert_eq!(next.removed_checkpoints, [one]);
    let conn = next.connect();
    let welcome = next.welcome(conn, "x", &ann.token);
    assert_eq!((welcome.resumed, welcome.room), (true, Some(one)));
    let ann = Client { conn, token: welcome.resume_token, ..ann };
    let (code, message) = next.leave_reason(&ann);
    assert_eq!(code, ErrorCode::ServerError);
    assert!(message.contains("closed"), "{message}");
    // The client receives this once.
    let conn = next.connect();
    assert_eq!(next.welcome(conn, "x", &ann.token).room, None);
    next.resume(&bob);
    next.host(next.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut next), [two]);
}

/// Its game may have changed, so that its state fits no longer.
#[test]
fn players_are_told_later_why_no_host_could_go_on_with_their_room() {
    let (first, [ann, ..], [one, two, three]) = three_kept_rooms();
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    let host = next.host(next.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut next), [one, two, three]);
    next.opened(host, one, Some(codes::error(ErrorCode::ServerError, "the state does not fit")));
    let conn = next.connect();
    let welcome = next.welcome(conn, "x", &ann.token);
    assert_eq!((welcome.resumed, welcome.room), (true, Some(one)));
    let ann = Client { conn, token: welcome.resume_token, ..ann };
    let (code, message) = next.leave_reason(&ann);
    assert_eq!(code, ErrorCode::HostDied);
    assert!(message.contains("the state does not fit"), "{message}");
}

#[test]
fn kept_rooms_that_no_host_can_restore_are_set_aside() {
    let (first, _, [one, two, three]) = three_kept_rooms();
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    let host = next.host(next.lobby.last_host().0 + 1, 4);
    next.opened(host, one, Some(codes::error(ErrorCode::ServerError, "the state does not fit")));
    let [(room, why)] = &next.set_aside[..] else { panic!("{:?}", next.set_aside) };
    assert!(*room == one && why.contains("the state does not fit"), "{why}");
    assert_eq!(next.removed_checkpoints, [one]);
    // It was restored, and fails at once.
    next.opened(host, two, None);
    let crashed = RoomClosed {
        room: two,
        reason: ErrorCode::RoomCrashed.into(),
        message: "the game has failed".into(),
    };
    next.send_from_host(host, host_to_world::Body::RoomClosed(crashed));
    assert_eq!(next.set_aside[1].0, two);
    // It goes on, and its player does not come back.
    next.opened(host, three, None);
    next.advance(seconds(60));
    assert_eq!(next.removed_checkpoints, [one, two, three]);
    assert_eq!(next.set_aside.len(), 2, "{:?}", next.set_aside);
}

#[test]
fn a_kept_room_of_another_build_waits_and_is_set_aside_in_the_end() {
    let (first, [ann, bob, _], [one, two, three]) = three_kept_rooms();
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    let ann = next.resume(&ann);
    next.resume(&bob);
    next.host_with_build("other", next.lobby.last_host().0 + 1, 4);
    next.advance(seconds(600));
    let set_aside = |next: &LobbyHarness| -> Vec<u64> {
        next.set_aside.iter().map(|(room, _)| *room).collect()
    };
    assert_eq!(set_aside(&next), [three], "its player is gone");
    next.ask(ann.conn, leave());
    assert_eq!(set_aside(&next), [three, one]);
    // The next server goes on with what is left.
    let mut last = next.start_successor_with(seconds(5), &[two]);
    let host = last.host(last.lobby.last_host().0 + 1, 4);
    assert_eq!(opened(&mut last), [two]);
    last.opened(host, two, None);
    assert!(last.set_aside.is_empty());
}

#[test]
fn players_of_a_kept_room_are_told_that_it_waits_for_its_build() {
    let (first, [ann, ..], [one, two, three]) = three_kept_rooms();
    let mut next = first.start_successor_with(seconds(5), &[one, two, three]);
    let ann = next.resume(&ann);
    next.host_with_build("other", next.lobby.last_host().0 + 1, 4);
    for _ in 0..3 {
        let (code, message) = next.expect_refusal(ann.conn, request_ticket());
        assert_eq!(code, ErrorCode::TryAgain);
        let expected = format!("room {one} waits for a game server of build `");
        assert!(message.starts_with(&expected), "{message}");
        next.advance(seconds(30));
    }
}

#[test]
fn a_kept_room_with_players_whose_record_is_bad_is_set_aside() {
    let (mut first, _, [one, two, three]) = three_kept_rooms();
    let change = |first: &mut LobbyHarness, room, to: fn(&mut pb::Room)| {
        let record = first.records.get_mut(&RecordKey::Room(RoomId(room))).expect("a room");
        let mut changed = pb::Room::decode(&record[..]).expect("its record");
        to(&mut changed);
        *record = changed.encode_to_vec();
    };
    change(&mut first, one, |room| room.name = "\0".into());
    change(&mut first, two, |room| room.seats.clear());
    let gone = first.records.remove(&RecordKey::Room(RoomId(three)));
    assert!(gone.is_some());
    let next = first.start_successor_with(seconds(5), &[one, two, three]);
    assert_eq!(next.removed_checkpoints, [one, two, three]);
    let [(room, why)] = &next.set_aside[..] else { panic!("{:?}", next.set_aside) };
    assert!(*room == one && why.contains("record"), "{why}");
}

#[test]
fn a_kept_room_that_was_moving_when_its_leader_died_goes_on() {
    let mut first = LobbyHarness::recorded();
    let host = first.reconnecting_host(1, 9, &[]);
    let ann = first.connect_as("ann");
    let den = first.running_room_of(host, &[&ann]);
    first.save_checkpoint(host, den);
    let target = first.reconnecting_host(2, 8, &[]);
    first.lose_host(host, "killed");
    assert_eq!(first.take_open_orders()[0].0, target);
    // The leader dies before the order has left.
    let mut second = first.start_successor_with(seconds(5), &[den]);
    let ann = second.resume(&ann);
    let target = second.reconnecting_host(second.lobby.last_host().0 + 1, 8, &[]);
    assert_eq!(opened(&mut second), [den]);
    second.opened(target, den, None);
    assert_eq!(second.request_new_ticket(&ann).incarnation, 3);
    // If its checkpoint was not kept, it has ended.
    let mut second = first.start_successor(seconds(5));
    second.reconnecting_host(second.lobby.last_host().0 + 1, 8, &[]);
    assert!(opened(&mut second).is_empty());
    assert_eq!(second.removed_checkpoints, [den]);
}

/// A server with three rooms of one player each, which are kept.
fn three_kept_rooms() -> (LobbyHarness, [Client; 3], [u64; 3]) {
    let mut first = LobbyHarness::recorded();
    let host = first.host(1, 4);
    let clients = ["ann", "bob", "cid"].map(|name| first.connect_as(name));
    let rooms = [0, 1, 2].map(|index| first.running_room_of(host, &[&clients[index]]));
    (first, clients, rooms)
}

/// The rooms that hosts received orders to open since the last call.
fn opened(harness: &mut LobbyHarness) -> Vec<u64> {
    let orders = harness.take_open_orders().into_iter();
    orders.map(|(_, open)| open.room).collect()
}
