//! A lobby that puts out records, and another one that restores them.

use ambit_host::protocol::messages::world_to_host;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{
    self, CreateRoom, client_to_world as ask, world_to_client::Body,
};

use super::harness::{Client, LobbyHarness, create, join, request_ticket, room, seconds};
use crate::lobby::{HostId, RecordKey};

#[test]
fn players_resume_at_another_server_and_find_their_room() {
    let mut first = LobbyHarness::recorded();
    let (ann, bob, cid) = (first.enter("ann"), first.enter("bob"), first.enter("cid"));
    let den = first.create(
        &ann,
        CreateRoom {
            password: "s3cret".into(),
            capacity: 3,
            ..room("den")
        },
    );
    first.ask(
        bob.conn,
        ask::Body::JoinRoom(world::JoinRoom {
            room: den.id,
            password: "s3cret".into(),
        }),
    );
    first.done(
        bob.conn,
        ask::Body::SetReady(world::SetReady { ready: true }),
    );
    let eve = guest(&mut first, &den, "eve");
    first.done(ann.conn, ask::Body::Kick(world::Kick { player: eve.id }));

    let mut second = first.succeed(seconds(5));
    let conn = second.connect();
    let welcome = second.welcome(conn, "x", &ann.token);
    assert_eq!(
        (
            welcome.player,
            welcome.name.as_str(),
            welcome.resumed,
            welcome.room
        ),
        (ann.id, "ann", true, Some(den.id))
    );
    let bob = second.resume(&bob);
    assert_eq!(second.members(&bob), "ann* bob!");
    // Banned players stay banned, the password is required, names are taken, and ids continue.
    let conn = second.connect();
    let eve = second.hello(conn, "eve", &token_of(&first, "eve"));
    assert_eq!(second.refusal(eve.conn, join(den.id)), ErrorCode::Kicked);
    assert_eq!(second.enter("cid").name, "cid-2");
    let cid = second.resume(&cid);
    assert_eq!(
        second.refusal(cid.conn, join(den.id)),
        ErrorCode::WrongPassword
    );
    assert!(second.create(&cid, room("other")).id > den.id);
}

#[test]
fn a_create_request_repeated_at_another_server_makes_no_second_room() {
    let mut first = LobbyHarness::recorded();
    let ann = first.enter("ann");
    let wanted = CreateRoom {
        key: vec![7; 16],
        ..room("den")
    };
    let made = first.create(&ann, wanted.clone());
    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    assert_eq!(second.create(&ann, wanted).id, made.id);
    assert_eq!(second.listed(&ann).len(), 1);
}

#[test]
fn a_host_reconnects_and_its_rooms_continue_unchanged() {
    let mut first = LobbyHarness::recorded();
    let host = first.lasting_host(1, 9, &[]);
    let (ann, bob) = (first.enter("ann"), first.enter("bob"));
    let den = first.running_room_of(host, &[&ann, &bob]);
    let before = first.ticket_of(&ann);

    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    let host = second.lasting_host(second.lobby.last_host().0 + 1, 9, &[(den, 1), (77, 3)]);
    assert_eq!(second.adopted, [(den, host)]);
    assert_eq!(second.closes(), [77], "that room is not its to run");
    let after = second.ticket_of(&ann);
    assert_eq!(
        (after.room, &after.address, after.incarnation),
        (den, &before.address, 1)
    );
    second.pass(seconds(6));
    assert!(second.listed(&ann)[0].running);
    // It can be lost like any other, and has no checkpoint until it is saved again.
    second.lose_host(host, "killed");
    assert_eq!(second.left(&ann).0, ErrorCode::HostDied);
}

#[test]
fn a_host_that_reconnects_keeps_its_rooms() {
    let (mut scene, ann, den) = succeeded();
    let first = scene.lasting_host(20_000, 9, &[(den, 1)]);
    // Its link broke, which this lobby does not know.
    let second = scene.lasting_host(20_001, 9, &[(den, 1)]);
    assert_eq!(scene.given_up(), [first], "it has one link at most");
    assert_eq!(scene.adopted, [(den, first), (den, second)]);
    scene.lose_host(first, "its connection ended");
    assert_eq!(
        (scene.closes(), scene.ticket_of(&ann).incarnation),
        (vec![], 1)
    );
    scene.lose_host(second, "killed");
    assert_eq!(
        scene.left(&ann).0,
        ErrorCode::HostDied,
        "until it has sent a checkpoint"
    );
}

#[test]
fn a_leader_crash_while_a_host_reconnects_loses_no_room() {
    let (mut scene, ann, den) = succeeded();
    scene.lasting_host(20_000, 9, &[(den, 1)]);
    let before = scene.records.clone();
    scene.log.clear();
    scene.lasting_host(20_001, 9, &[(den, 1)]);
    assert!(
        scene.log.len() >= 3,
        "a host, the room, and a host that is gone: {:?}",
        scene.log
    );
    for mut next in scene.succeed_torn(&before, seconds(5)) {
        let host = next.lasting_host(40_000, 9, &[(den, 1)]);
        let ann = next.resume(&ann);
        assert_eq!(
            (next.closes(), &next.adopted[..]),
            (vec![], &[(den, host)][..])
        );
        assert!(next.listed(&ann)[0].running);
    }
}

#[test]
fn a_leader_crash_while_a_name_changes_owner_loses_no_session() {
    let mut scene = LobbyHarness::recorded();
    let (bob, ann) = (scene.enter("bob"), scene.enter("ann"));
    let before = scene.records.clone();
    scene.log.clear();
    scene.ask(ann.conn, super::harness::set_name("zoe"));
    scene.ask(bob.conn, super::harness::set_name("ann"));
    // In the order of writing, by key: the player who has got the name comes first.
    scene.log.sort_by_key(|(key, _)| *key);
    for mut next in scene.succeed_torn(&before, seconds(5)) {
        let (ann, bob) = (next.resume(&ann), next.resume(&bob));
        assert_ne!(ann.name, bob.name);
        next.pass(seconds(60));
        assert_eq!(next.lobby.stats().players, 2);
    }
}

#[test]
fn an_older_incarnation_of_a_room_is_closed() {
    let (mut second, ann, den) = succeeded();
    second.lasting_host(20_000, 9, &[(den, 0)]);
    assert_eq!(second.closes(), [den]);
    assert_eq!(second.left(&ann).0, ErrorCode::HostDied);
}

#[test]
fn rooms_of_a_host_that_does_not_reconnect_in_time_are_lost() {
    let (mut second, ann, den) = succeeded();
    assert!(
        second.listed(&ann)[0].running,
        "a live room is never hidden"
    );
    second.pass(seconds(4));
    assert_eq!(second.listed(&ann).len(), 1);
    second.pass(seconds(2));
    assert_eq!(second.left(&ann).0, ErrorCode::HostDied);
    assert_eq!(second.listed(&ann), []);
    // The host's message comes too late.
    second.lasting_host(20_000, 9, &[(den, 1)]);
    assert_eq!(second.closes(), [den]);
}

#[test]
fn removed_things_are_removed_from_the_records() {
    let mut first = LobbyHarness::recorded();
    let host = first.lasting_host(1, 9, &[]);
    let (ann, bob) = (first.enter("ann"), first.enter("bob"));
    first.running_room_of(host, &[&ann, &bob]);
    first.lose(&bob);
    first.lose_host(host, "killed");
    first.pass(seconds(40));
    let keys: Vec<_> = first.records.keys().map(ToString::to_string).collect();
    assert_eq!(keys, ["ids".to_owned(), format!("player.{}", ann.id)]);
    let mut again = first.succeed(seconds(5)).records;
    assert_ne!(
        again.insert(RecordKey::Ids, Vec::new()),
        first.records.insert(RecordKey::Ids, Vec::new()),
        "numbers are never given twice"
    );
    assert_eq!(
        again, first.records,
        "going on changes nothing else by itself"
    );
}

#[test]
fn without_a_working_directory_there_are_no_records_or_no_new_rooms() {
    let mut plain = LobbyHarness::new();
    let ann = plain.enter("ann");
    plain.create(&ann, room("den"));
    assert!(plain.records.is_empty());
    let mut scene = LobbyHarness::recorded();
    let host = scene.lasting_host(1, 9, &[]);
    let (ann, bob) = (scene.enter("ann"), scene.enter("bob"));
    let den = scene.running_room_of(host, &[&ann]);
    scene.lobby.set_directory_available(false);
    let (code, message) = scene.refused(bob.conn, create(room("new")));
    assert_eq!(code, ErrorCode::TryAgain);
    assert!(message.contains("try again"), "{message}");
    // What exists continues.
    scene.join(&bob, den);
    assert!(matches!(
        scene.ask(bob.conn, request_ticket()),
        Body::Ticket(_)
    ));
    scene.lobby.set_directory_available(true);
    scene.ask(bob.conn, ask::Body::LeaveRoom(world::LeaveRoom {}));
    scene.create(&bob, room("new"));
}

#[test]
fn a_heartbeat_of_a_remote_host_is_acknowledged() {
    let mut scene = LobbyHarness::new();
    let host = scene.lasting_host(1, 9, &[]);
    scene.host_says(
        host,
        ambit_host::protocol::messages::host_to_world::Body::Beat(
            ambit_host::protocol::messages::Beat { number: 5 },
        ),
    );
    let is_heard = |order: &world_to_host::Body| {
        matches!(
            order,
            world_to_host::Body::Heard(heard) if heard.number == 5
        )
    };
    let heard = scene
        .orders()
        .iter()
        .any(|(to, order)| *to == host && is_heard(order));
    assert!(heard);
}

#[test]
fn record_keys_survive_a_round_trip() {
    for key in ["ids", "host.3", "room.18446744073709551615", "player.1"] {
        assert_eq!(key.parse::<RecordKey>().expect("a key").to_string(), key);
    }
    for wrong in [
        "", "room", "room.", "room.x", "leader", "room.-1", "rooms.1",
    ] {
        assert!(wrong.parse::<RecordKey>().is_err(), "{wrong}");
    }
    assert_eq!("host.3".parse(), Ok(RecordKey::Host(HostId(3))));
}

/// A server that has restored a running room, whose player has come back and whose host has not.
fn succeeded() -> (LobbyHarness, Client, u64) {
    let mut first = LobbyHarness::recorded();
    let host = first.lasting_host(1, 9, &[]);
    let ann = first.enter("ann");
    let den = first.running_room_of(host, &[&ann]);
    let mut second = first.succeed(seconds(5));
    let ann = second.resume(&ann);
    (second, ann, den)
}

/// One more player in the room.
fn guest(scene: &mut LobbyHarness, den: &world::Room, name: &str) -> Client {
    let client = scene.enter(name);
    scene.ask(
        client.conn,
        ask::Body::JoinRoom(world::JoinRoom {
            room: den.id,
            password: "s3cret".into(),
        }),
    );
    client
}

fn token_of(scene: &LobbyHarness, name: &str) -> Vec<u8> {
    use prost::Message as _;
    let players = scene
        .records
        .iter()
        .filter(|(key, _)| matches!(key, RecordKey::Player(_)));
    let mut known =
        players.filter_map(|(_, bytes)| crate::directory::Player::decode(&bytes[..]).ok());
    known
        .find(|player| player.name == name)
        .expect("a player")
        .token
}
