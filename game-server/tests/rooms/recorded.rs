//! A saved room is a recording of a snapshot and a journal.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{ClientId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig};
use ambit_proto::message::{KeyInput, Uplink};
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Wire;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::recording::{self, Header, recording_of, replay, room, run_without_players};
use ambit_room::room::{RoomInput, RoomOutput};

use super::ANN;

#[test]
fn a_saved_room_is_a_recording_that_begins_with_a_snapshot() {
    let header = Header {
        game: "field".to_owned(),
        room: 3,
        seed: 4,
        capacity: 5,
        grace_ms: 6,
        parameters: BTreeMap::new(),
    };
    let registry = ambit_game_server::standard();
    let mut first = room(&header, &registry).expect("a room of the field");
    let mut join = vec![RoomInput::Join {
        client: ClientId(1),
        player: ANN,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    }];
    first.tick(GameTime::ZERO, &mut Vec::new(), &mut Vec::new());
    let snapshot =
        RoomSnapshot { at: GameTime::ZERO, state: first.save().expect("the field can be saved") };
    first.tick(GameTime::from_millis(50), &mut join, &mut Vec::new());
    let saved = SavedRoom {
        snapshot,
        journal: vec![JournalEntry::new(GameTime::from_millis(50), first.journal())],
    };
    let recording = recording_of(&header, &saved);
    let mut replayed = replay(&recording, &registry, |_, _| {}).expect("a recording");
    assert_eq!(replayed.last_tick(), first.last_tick());
    assert_eq!(replayed.avatar(ANN), first.avatar(ANN));
    run_without_players(&mut replayed, Duration::from_millis(120));
    assert_eq!(replayed.last_tick(), Some(GameTime::from_millis(150)));
}

#[test]
fn a_replay_codes_poses_as_each_client_asked() {
    let header = Header {
        game: "cubes".to_owned(),
        capacity: 5,
        parameters: [("cubes".to_owned(), "9".to_owned())].into(),
        ..Header::default()
    };
    let registry = ambit_game_server::standard();
    let run = |codings: [PoseCoding; 2]| {
        let mut original = room(&header, &registry).expect("a room of cubes");
        let mut links = [(); 2].map(|()| Link::new(LinkConfig::client()));
        let (mut recorded, mut sent) = (Vec::new(), Vec::new());
        recording::begin(&header, None, &mut recorded);
        let joins = (0..).zip(codings).map(|(client, coding)| RoomInput::Join {
            client: ClientId(client),
            player: PlayerId(client.into()),
            name: client.to_string(),
            coding,
        });
        let mut inputs: Vec<_> = joins.collect();
        for tick in 0..40 {
            let now = GameTime::from_millis(50 * tick);
            let entry = JournalEntry::new(now, &inputs);
            recording::append(&entry, &mut recorded);
            let mut outputs = Vec::new();
            original.tick(now, &mut inputs, &mut outputs);
            inputs.clear();
            for output in &outputs {
                if let RoomOutput::Datagram { client, bytes } = output {
                    let link = &mut links[client.0 as usize];
                    link.handle_datagram(now.into(), bytes).expect("the room's own");
                    while link.poll_event().is_some() {}
                }
            }
            for (client, link) in (0..).zip(&mut links) {
                let mut bytes = Vec::new();
                // Each drives to the right.
                let mut uplink =
                    Uplink { input: Some(KeyInput::new(Keymap(2), now)), ..Uplink::default() };
                link.write_datagram_without_ack_request(now.into(), &mut bytes, |writer, _| {
                    uplink.wire(writer).expect("writing cannot fail");
                });
                inputs.push(RoomInput::Datagram {
                    client: ClientId(client),
                    at: now,
                    bytes: bytes.into(),
                });
            }
            sent.push((now, outputs));
        }
        assert!(original.stats().poses.sent > 40, "{:?}", original.stats().poses);
        (recorded, sent)
    };
    let (recorded, sent) = run([PoseCoding::Plain, PoseCoding::Fine]);
    let mut replayed = Vec::new();
    replay(&recorded, &registry, |now, outputs| {
        replayed.push((now, outputs.to_vec()));
    })
    .expect("a recording");
    assert_eq!(replayed, sent);
    assert_ne!(run([PoseCoding::Shared, PoseCoding::Fine]).1, sent);
}

#[test]
fn avatars_of_connected_clients_leave_after_a_replay() {
    let header =
        Header { game: "field".to_owned(), capacity: 5, grace_ms: 1_000, ..Header::default() };
    let join = RoomInput::Join {
        client: ClientId(1),
        player: ANN,
        name: "ann".to_owned(),
        coding: PoseCoding::Auto,
    };
    let mut bytes = Vec::new();
    recording::begin(&header, None, &mut bytes);
    for (ms, inputs) in [(0, vec![]), (50, vec![join]), (100, vec![])] {
        let entry = JournalEntry::new(GameTime::from_millis(ms), &inputs);
        recording::append(&entry, &mut bytes);
    }
    let registry = ambit_game_server::standard();
    let mut replayed = replay(&bytes, &registry, |_, _| {}).expect("a recording");
    assert_eq!(replayed.network().viewers().count(), 1);
    assert!(replayed.avatar(ANN).is_some());
    run_without_players(&mut replayed, Duration::from_secs(2));
    assert_eq!(replayed.network().viewers().count(), 0);
    assert_eq!((replayed.stats().clients, replayed.avatar(ANN)), (0, None));
}
