//! A room with arbitrary clients.
//!
//! Two players of the shipped game `field`, or of a small one with poses and a command that names
//! an object. The input decides on the codings, what the connections deliver and when the room
//! ticks; some steps use correct links. Checks: no datagram exceeds its maximum size, and a correct
//! link can read what the room sends to it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit::Games;
use ambit_field::FieldGame;
use ambit_proto::examples;
use ambit_proto::ids::{Alias, ClientId, PlayerId};
use ambit_proto::link::{Link, LinkConfig, MAX_DATAGRAM, MAX_MESSAGE};
use ambit_proto::message::{Command, FieldValue};
use ambit_proto::pose::PoseCoding;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire;
use ambit_room::logic::game::Left;
use ambit_room::logic::registry::Registry;
use ambit_room::room::{Room, RoomInput, RoomOutput};
use bytes::Bytes;

use super::choices::{Choices, put_bytes};
use super::dance::Dance;
use super::{Reached, header};

const STEPS: u8 = 8;
const TICK: usize = 0;
const RAW: usize = 1;
const BODY: usize = 2;
const MESSAGE: usize = 3;
const LOSE_CONNECTION: usize = 4;
const JOIN: usize = 5;
const REMOVE: usize = 6;
/// Bounds the run time: each tick simulates a world.
const MAX_TICKS: u32 = 200;
const PLAYERS: u8 = 2;

/// The first byte of an input: the game, and in the other bits the codings.
const FIELD: u8 = 0;
const DANCE: u8 = 1;

/// Runs a room with arbitrary clients.
pub fn room(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut fuzzed = FuzzedRoom::new(choices.byte());
    while !choices.is_over() && fuzzed.ticks < MAX_TICKS {
        let step = choices.below(STEPS);
        let client = ClientId(u32::from(choices.byte() % (PLAYERS + 1)));
        match step {
            TICK => fuzzed.tick(client.0 * 40 + 10),
            RAW => {
                fuzzed.forged.insert(client);
                fuzzed.push_datagram(client, Bytes::copy_from_slice(choices.bytes()));
            }
            BODY => fuzzed.send_body(client, choices.bytes()),
            MESSAGE => fuzzed.send_message(client, choices.bytes()),
            LOSE_CONNECTION => {
                fuzzed.inputs.push(RoomInput::Disconnect { client, player: player_of(client) });
            }
            JOIN => fuzzed.join(client),
            REMOVE => {
                fuzzed
                    .inputs
                    .push(RoomInput::Remove { player: player_of(client), why: Left::Quit });
            }
            _ => {
                let name = String::from_utf8_lossy(choices.bytes()).chars().take(24).collect();
                fuzzed.inputs.push(RoomInput::Rename { player: player_of(client), name });
            }
        }
    }
    fuzzed.tick(50);
    let stats = fuzzed.room.stats();
    let goals = [
        ("a command is executed", stats.commands),
        ("a command is refused", stats.commands_refused),
        ("a malformed command", stats.commands_malformed),
        ("an object enters", stats.enters),
        ("an object leaves", stats.leaves),
        ("a pose", stats.bits.pose_contents),
    ];
    let reached = goals.into_iter().filter(|(_, count)| *count > 0);
    reached.map(|(goal, _)| goal).collect()
}

struct FuzzedRoom {
    room: Room,
    /// Decides on the codings, with the number of the client.
    codings: u8,
    now: GameTime,
    ticks: u32,
    inputs: Vec<RoomInput>,
    /// Correct client ends of the connections.
    links: BTreeMap<ClientId, Link>,
    /// Clients in whose names forged bytes were sent: their links may be unable to read what the
    /// room answers.
    forged: BTreeSet<ClientId>,
}

impl FuzzedRoom {
    fn new(choice: u8) -> Self {
        let field = [("size", "40x40"), ("npcs", "3"), ("obstacles", "0")];
        let header = match choice & DANCE {
            FIELD => header("field", &field),
            _ => header("dance", &field[..1]),
        };
        let games = Games::new().with::<FieldGame>().with::<Dance>();
        let room = Registry::from(games).create_room(&header).expect("valid room parameters");
        let now = GameTime::from_millis(50);
        let mut fuzzed = FuzzedRoom {
            room,
            codings: choice >> 1,
            now,
            ticks: 0,
            inputs: Vec::new(),
            links: BTreeMap::new(),
            forged: BTreeSet::new(),
        };
        for client in 0..PLAYERS {
            fuzzed.join(ClientId(client.into()));
        }
        fuzzed.tick(50);
        fuzzed
    }

    /// The player with this number joins, for the first time or again.
    fn join(&mut self, client: ClientId) {
        self.links.insert(client, Link::new(LinkConfig::client()));
        self.forged.remove(&client);
        // As the host does: a client id is used once at a time.
        self.inputs.push(RoomInput::Disconnect { client, player: player_of(client) });
        self.inputs.push(RoomInput::Join {
            client,
            player: player_of(client),
            account: None,
            name: format!("player{}", client.0),
            coding: PoseCoding::ALL[(client.0 as usize + usize::from(self.codings)) % 4],
        });
    }

    fn push_datagram(&mut self, client: ClientId, bytes: Bytes) {
        self.inputs.push(RoomInput::Datagram { client, at: self.now, bytes });
    }

    /// Sends a datagram of a correct link with this body.
    fn send_body(&mut self, client: ClientId, body: &[u8]) {
        let now: LocalTime = self.now.into();
        let Some(link) = self.links.get_mut(&client) else {
            return;
        };
        let bits = (8 * body.len()).min(link.body_budget_bits(now));
        let mut datagram = Vec::new();
        link.write_datagram(now, &mut datagram, |writer, _| writer.append(body, bits));
        self.push_datagram(client, datagram.into());
    }

    fn send_message(&mut self, client: ClientId, message: &[u8]) {
        let Some(link) = self.links.get_mut(&client) else {
            return;
        };
        let message = Bytes::copy_from_slice(&message[..message.len().min(MAX_MESSAGE)]);
        let _ = link.send_reliable(self.now.into(), message, None);
        self.send_body(client, &[]);
    }

    fn tick(&mut self, ms: u32) {
        self.ticks += 1;
        self.now += Duration::from_millis(ms.into());
        let mut outputs = Vec::new();
        self.room.tick(self.now, &mut self.inputs, &mut outputs);
        for output in outputs {
            if let RoomOutput::Datagram { client, bytes } = output {
                assert!(bytes.len() <= MAX_DATAGRAM);
                let link = self.links.get_mut(&client).expect("a client that has joined");
                let read = link.handle_datagram(self.now.into(), &bytes).map(|_| ());
                assert!(
                    read.is_ok() || self.forged.contains(&client),
                    "a correct link cannot read the room's datagram: {read:?}"
                );
                while link.poll_event().is_some() {}
            }
        }
    }
}

fn player_of(client: ClientId) -> PlayerId {
    PlayerId(client.0.into())
}

/// All kinds of commands, client reports, joins and leaves.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let step = |input: &mut Vec<u8>, step: usize, client: u8, bytes: &[u8]| {
        input.extend([step as u8, client]);
        put_bytes(input, bytes);
    };
    let at = |x, y| FieldValue::Position(Position::on_ground(x, y));
    let none = FieldValue::None;
    let own = FieldValue::Object(Alias::default());
    let of = |kind, fields: &[FieldValue<Alias>]| (kind, fields.to_vec());
    let contents = [
        of(0, &[at(30.0, 12.0)]),
        of(0, &[at(16_000.0, 0.0)]),
        of(1, &[FieldValue::Choice(0), at(10.0, 10.0)]),
        of(1, &[FieldValue::Choice(2), none]),
        of(1, &[FieldValue::Choice(9), own]),
        of(2, &[FieldValue::Number(-7), FieldValue::Text("abc".into())]),
    ];
    let give = |input: &mut Vec<u8>, number, (kind, fields): (u8, Vec<FieldValue<Alias>>)| {
        let mut command = Command { number, kind, fields };
        let client = (number % 2) as u8;
        step(input, MESSAGE, client, &wire::encode(&mut command));
        input.extend([TICK as u8, 1, TICK as u8, 1]);
    };
    let mut commands = vec![FIELD];
    for (number, content) in (1..).zip(contents) {
        give(&mut commands, number, content);
    }
    // Each slot with each epoch that an object may have, then a dancer who hides, and the same.
    let mut dance = vec![DANCE];
    let aliases = (0..3).flat_map(|slot| (0..3).map(move |epoch| Alias { slot, epoch }));
    let faces: Vec<_> = aliases.map(|alias| of(0, &[FieldValue::Object(alias)])).collect();
    let all = faces.iter().cloned().chain([of(1, &[])]);
    for (number, content) in (1..).zip(all.chain(faces.clone())) {
        give(&mut dance, number, content);
    }
    let mut bodies = vec![FIELD];
    for format in examples::formats().iter().filter(|format| format.name == "message.uplink") {
        for seed in 0..4 {
            step(&mut bodies, BODY, 0, &format.encode_example(seed));
            bodies.extend([TICK as u8, 1]);
        }
    }
    let mut joins = vec![
        FIELD,
        JOIN as u8,
        2,
        TICK as u8,
        1,
        LOSE_CONNECTION as u8,
        0,
        TICK as u8,
        1,
        JOIN as u8,
        0,
        REMOVE as u8,
        1,
    ];
    step(&mut joins, RAW, 2, &[0; 12]);
    step(&mut joins, 7, 0, "Zoë".as_bytes());
    joins.extend([TICK as u8, 1].repeat(20));
    vec![commands, dance, bodies, joins]
}
