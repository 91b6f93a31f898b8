//! What servers keep or hand over: rooms as they were saved, and the records of a directory.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit::Games;
use ambit_field::FieldGame;
use ambit_lobby::directory::{self as pb, MapIdentity, Seat};
use ambit_lobby::{HostId, Lobby, LobbyAction, LobbyConfig, LobbyGame, RecordKey};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_room::logic::registry::Registry;
use ambit_room::questions::{RoomAnswer, RoomQuestion};
use ambit_room::recording::Header;
use ambit_room::room::{Room, RoomInput};
use ambit_transport::ticket::TicketSigner;
use prost::Message;

use super::choices::{Choices, put_bytes};
use super::dance::Dance;
use super::{Reached, header};

/// A room that goes on from arbitrary bytes: the first byte selects the game. What is restored can
/// tick and be saved again.
pub fn saved_room(data: &[u8]) -> Reached {
    let mut reached = Reached::new();
    // A host may answer anything, and a WorldServer ask.
    let _ = RoomAnswer::decode(data);
    let _ = RoomQuestion::decode(data);
    let Some((&choice, state)) = data.split_first() else {
        return reached;
    };
    let header = saved_header(choice);
    let (config, game) = registry().prepare(&header).expect("valid room parameters");
    let Ok(mut room) = Room::restore(config, game, state) else {
        return reached;
    };
    reached.insert("a room");
    let last = room.last_tick().unwrap_or_default();
    room.finish_replay(last);
    for tick in 1..=3 {
        room.tick(last + Duration::from_millis(50 * tick), &mut Vec::new(), &mut Vec::new());
    }
    if room.world().objects().next().is_some() {
        reached.insert("an object");
    }
    room.save().expect("both games can be saved");
    for question in [RoomQuestion::Map, RoomQuestion::Above { player: Some(PlayerId(1)) }] {
        let answer = question.ask(&mut room).encode();
        RoomAnswer::decode(&answer).expect("what was just written");
    }
    reached
}

/// A lobby that starts from the records of a directory. What it then writes restores the same
/// lobby: a second one has nothing to change in the records.
pub fn directory(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut records = BTreeMap::new();
    while !choices.is_over() {
        let kind = choices.below(4);
        let number = 1 + u64::from(choices.byte() % 8);
        let key = match kind {
            0 => RecordKey::Ids,
            1 => RecordKey::Host(HostId(number)),
            2 => RecordKey::Player(PlayerId(number)),
            _ => RecordKey::Room(RoomId(number)),
        };
        records.insert(key, choices.bytes().to_vec());
    }
    let given = records.len();
    let (lobby, _) = restore(&mut records);
    let stats = lobby.stats();
    let goals = [
        ("a player", stats.players > 0),
        ("a room", stats.rooms > 0),
        ("a running room", stats.rooms_running > 0),
        ("an invalid record", records.len() < given),
    ];
    let (again, mut changed) = restore(&mut records.clone());
    // Each start reserves further ids.
    changed.retain(|key| *key != RecordKey::Ids);
    let counts = |lobby: &Lobby| {
        let stats = lobby.stats();
        (stats.players, stats.rooms, stats.rooms_running)
    };
    assert_eq!((changed, counts(&again)), (Vec::new(), counts(&lobby)));
    let reached = goals.into_iter().filter(|(_, is_reached)| *is_reached);
    reached.map(|(goal, _)| goal).collect()
}

/// A new lobby from these records, which are then as the lobby has changed them.
fn restore(records: &mut BTreeMap<RecordKey, Vec<u8>>) -> (Lobby, Vec<RecordKey>) {
    let mut entropy = fastrand::Rng::with_seed(1);
    let game = LobbyGame {
        name: "field".into(),
        description: String::new(),
        min_players: 1,
        join_running: true,
        is_lasting: false,
        quick_start: BTreeMap::new(),
        parameters: Vec::new(),
        max_capacity: 100,
        presentation: String::new(),
        schema: Vec::new(),
    };
    let config = LobbyConfig { directory: true, ..LobbyConfig::default() };
    let mut lobby = Lobby::new(
        config,
        vec![game],
        Box::new(|_, _, _| Ok(())),
        Box::new(move || entropy.u128(..).to_le_bytes()),
        TicketSigner::from_seed(&[7; 32]),
    );
    let given = records.iter().map(|(key, bytes)| (*key, &bytes[..]));
    let now = LocalTime::from_millis(1_000);
    let checkpointed = [RoomId(1)].into();
    lobby.restore(now, given, Duration::from_secs(10), &checkpointed);
    let mut changed = Vec::new();
    while let Some(output) = lobby.poll_output() {
        if let LobbyAction::Record { key, value } = output {
            changed.push(key);
            match value {
                Some(value) => drop(records.insert(key, value)),
                None => drop(records.remove(&key)),
            }
        }
    }
    (lobby, changed)
}

fn registry() -> Registry {
    Registry::from(Games::new().with::<FieldGame>().with::<Dance>())
}

fn saved_header(choice: u8) -> Header {
    let field = [("size", "40x40"), ("npcs", "3"), ("obstacles", "0")];
    match choice % 2 {
        0 => header("field", &field),
        _ => header("dance", &field[..1]),
    }
}

/// A room of each game with two players, after some ticks.
pub(super) fn room_seeds() -> Vec<Vec<u8>> {
    let seed = |choice| {
        let mut room =
            registry().create_room(&saved_header(choice)).expect("valid room parameters");
        let mut inputs: Vec<_> = [1, 2]
            .map(|number| RoomInput::Join {
                client: ClientId(number),
                player: PlayerId(number.into()),
                account: None,
                name: format!("player{number}"),
                coding: PoseCoding::Auto,
            })
            .into();
        for tick in 1..=5 {
            room.tick(GameTime::from_millis(50 * tick), &mut inputs, &mut Vec::new());
        }
        [vec![choice], room.save().expect("it can be saved")].concat()
    };
    vec![seed(0), seed(1)]
}

/// A host with a running room, players in it and in a waiting room; and records that are invalid.
pub(super) fn directory_seeds() -> Vec<Vec<u8>> {
    let put = |input: &mut Vec<u8>, kind: u8, number: u8, record: &[u8]| {
        input.extend([kind, number - 1]);
        put_bytes(input, record);
    };
    let ids = pb::Ids {
        players: 10_000,
        rooms: 10_000,
        tickets: 10_000,
        hosts: 10_000,
        transfers: 10_000,
        lineage: vec![7; 16],
    };
    let host = pb::Host {
        instance: vec![1; 16],
        address: "127.0.0.1:7777".into(),
        certificate_sha256: vec![1; 32],
        capacity: 10,
        cores: 2,
        build: "1".into(),
        build_since: 1,
        ..pb::Host::default()
    };
    let player = |number: u8| pb::Player {
        name: format!("player{number}"),
        token: vec![number; 16],
        network: "127.0.0.1".into(),
        ..pb::Player::default()
    };
    let seat = |player| Seat { player, ready: true };
    let room = pb::Room {
        name: "hall".into(),
        game: "field".into(),
        host: 1,
        capacity: 4,
        seats: vec![seat(1), seat(2)],
        bans: vec![pb::Ban { player: 7, name: "player7".into(), ..pb::Ban::default() }],
        seed: 3,
        incarnation: 2,
        runs_on: Some(1),
        world: Some(pb::World {
            places: vec![pb::Place { player: 2, room: 3, ahead: 1 }],
            transfers: Vec::new(),
            arrivals: Vec::new(),
        }),
        made_by: 1,
        made_from: "127.0.0.1".into(),
        ..pb::Room::default()
    };
    let waiting = pb::Room {
        name: "yard".into(),
        host: 3,
        seats: vec![seat(3)],
        runs_on: None,
        world: None,
        ..room.clone()
    };
    let map = pb::Room {
        incarnation: 1,
        runs_on: Some(1),
        map_identity: Some(MapIdentity { world: 1, map: 2 }),
        ..pb::Room::default()
    };
    let mut valid = Vec::new();
    put(&mut valid, 0, 1, &ids.encode_to_vec());
    put(&mut valid, 1, 1, &host.encode_to_vec());
    for number in 1..=3 {
        put(&mut valid, 2, number, &player(number).encode_to_vec());
    }
    put(&mut valid, 3, 1, &room.encode_to_vec());
    put(&mut valid, 3, 2, &waiting.encode_to_vec());
    put(&mut valid, 3, 3, &map.encode_to_vec());
    let mut invalid = valid.clone();
    put(&mut invalid, 2, 1, &[0xff; 9]);
    put(&mut invalid, 1, 2, &[0xff; 9]);
    let mut no_seats = valid.clone();
    let room = pb::Room { capacity: 0, ..waiting };
    put(&mut no_seats, 3, 2, &room.encode_to_vec());
    vec![valid, invalid, no_seats]
}
