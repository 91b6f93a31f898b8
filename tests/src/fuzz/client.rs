//! A client in a game, with an arbitrary lobby, host and network.
//!
//! The client has been welcomed and has joined; after that the input decides. Some steps use a
//! correct link, since no random bytes would match its sequence numbers and acknowledgements.
//! Checks: view events are consistent (an object that leaves has entered), and all that is shown
//! can be read. In `cubes` the client simulates, and predicts the player's own cube.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, LobbyEvent, ViewEvent};
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::client::{Client, ClientOutput};
use ambit_cubes_physics::control;
use ambit_field::commands;
use ambit_proto::control::game::{self as game_pb, GameToClient, game_to_client};
use ambit_proto::control::world::{self as pb, WorldToClient, world_to_client};
use ambit_proto::examples;
use ambit_proto::ids::{ClientId, ClientObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::link::{Link, LinkConfig, MAX_MESSAGE};
use ambit_proto::message::{Command, GameCommand};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::Schema;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wire;
use ambit_room::logic::game::Left;
use ambit_room::room::{RoomInput, RoomOutput};
use bytes::Bytes;
use prost::Message;

use super::choices::{Choices, put_bytes};
use super::{Reached, cubes_schema, header, schemas};

const STEPS: u8 = 8;
const WAIT: usize = 0;
const RAW: usize = 1;
const BODY: usize = 2;
const MESSAGE: usize = 3;
const WORLD: usize = 4;
const GAME: usize = 5;
const ACT: usize = 6;

/// If this bit is set in the first byte, the game is `cubes`; otherwise one of [`schemas`].
const CUBES: u8 = 0x80;
/// If this bit is set there, the host sends whole poses.
const PLAIN: u8 = 0x40;
/// The first byte for `field`, which is the second of [`schemas`].
const FIELD: u8 = 1;

/// Runs a client against an arbitrary lobby, host and network.
pub fn client(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut fuzzed = FuzzedClient::playing(choices.byte());
    while !choices.is_over() {
        match choices.below(STEPS) {
            WAIT => fuzzed.now += Duration::from_millis(choices.word().into()),
            RAW => fuzzed.client.handle_datagram(fuzzed.now, choices.bytes()),
            BODY => fuzzed.send_body(choices.bytes()),
            MESSAGE => {
                let message = choices.bytes();
                let message = Bytes::copy_from_slice(&message[..message.len().min(MAX_MESSAGE)]);
                let _ = fuzzed.host.send_reliable(fuzzed.now, message, None);
            }
            WORLD => {
                if let Ok(message) = WorldToClient::decode(choices.bytes()) {
                    fuzzed.client.handle_world_message(fuzzed.now, message);
                }
            }
            GAME => {
                if let Ok(message) = GameToClient::decode(choices.bytes()) {
                    fuzzed.client.handle_game_message(fuzzed.now, message);
                }
            }
            ACT => {
                let (x, y) = (choices.byte(), choices.byte());
                if fuzzed.cubes {
                    fuzzed.client.input(fuzzed.now, Keymap(x.into()));
                } else {
                    let _ = fuzzed.client.act(fuzzed.now, &commands::walk(x.into(), y.into()));
                }
            }
            _ => fuzzed.client.handle_game_closed(fuzzed.now, CloseReason::Broken("cut".into())),
        }
        fuzzed.run_client();
    }
    fuzzed.reached
}

struct FuzzedClient {
    client: Client,
    host: Link,
    now: LocalTime,
    entered: BTreeSet<ClientObjectId>,
    cubes: bool,
    coding: PoseCoding,
    schema: &'static Schema,
    /// Datagrams that the client sent in the last step.
    sent: Vec<Bytes>,
    reached: Reached,
}

impl FuzzedClient {
    fn playing(first: u8) -> Self {
        let cubes = first & CUBES != 0;
        let coding = if first & PLAIN == 0 { PoseCoding::Auto } else { PoseCoding::Plain };
        let mut fuzzed = FuzzedClient {
            client: Client::new(&ClientConfig {
                name: "ann".into(),
                motions: vec![ambit_cubes_physics::PHYSICS.into()],
                predict: Some(cubes),
                coding,
                ..ClientConfig::default()
            }),
            host: Link::new(LinkConfig::default()),
            now: LocalTime::from_millis(1_000),
            entered: BTreeSet::new(),
            cubes,
            coding,
            schema: if cubes {
                cubes_schema()
            } else {
                &schemas()[usize::from(first & !PLAIN) % schemas().len()]
            },
            sent: Vec::new(),
            reached: Reached::new(),
        };
        fuzzed.client.connect(fuzzed.now);
        fuzzed.run_client();
        for (request, body) in lobby_messages() {
            fuzzed
                .client
                .handle_world_message(fuzzed.now, WorldToClient { request, body: Some(body) });
            fuzzed.run_client();
        }
        fuzzed
    }

    /// Delivers a datagram of a correct link with this body.
    fn send_body(&mut self, bytes: &[u8]) {
        let bits = (8 * bytes.len()).min(self.host.body_budget_bits(self.now));
        let mut datagram = Vec::new();
        self.host.write_datagram(self.now, &mut datagram, |writer, _| {
            writer.append(bytes, bits);
        });
        self.client.handle_datagram(self.now, &datagram);
    }

    /// Carries out what the client asks for, and reads what it shows.
    fn run_client(&mut self) {
        self.client.handle_timeout(self.now);
        self.sent.clear();
        // Bounded: a client whose connection is refused asks again immediately only a few times.
        for _ in 0..64 {
            let Some(output) = self.client.poll_output() else {
                break;
            };
            match output {
                ClientOutput::ConnectWorld => self.client.handle_world_connected(self.now),
                ClientOutput::ConnectGame { .. } => self.join(),
                ClientOutput::Datagram(bytes) => {
                    let _ = self.host.handle_datagram(self.now, &bytes);
                    while self.host.poll_event().is_some() {}
                    self.sent.push(bytes);
                }
                _ => {}
            }
        }
        let _ = (self.client.next_deadline(), self.client.stats(), self.client.age(self.now));
        if self.client.own_inputs().next().is_some() {
            self.reached.insert("an own input");
        }
        while let Some(event) = self.client.poll_event() {
            self.reached.extend(match event {
                ViewEvent::Game(GameEvent::Enter(_)) => Some("an object enters"),
                ViewEvent::Game(GameEvent::Leave { .. }) => Some("an object leaves"),
                ViewEvent::Game(GameEvent::Event(_)) => Some("an event"),
                ViewEvent::Lobby(_, LobbyEvent::Left { .. }) => Some("the game ends"),
                _ => None,
            });
            match event {
                ViewEvent::Game(GameEvent::Enter(enter)) => {
                    assert!(self.entered.insert(enter.id), "{} entered twice", enter.id);
                }
                ViewEvent::Game(GameEvent::Leave { id, .. }) => {
                    assert!(self.entered.remove(&id), "{id} left without having entered");
                }
                _ => {}
            }
        }
        if let Some(t) = self.client.room_time(self.now) {
            for seen in self.client.objects() {
                let _ = (seen.position(t), seen.drawn(t));
            }
        }
    }

    fn join(&mut self) {
        self.host = Link::new(LinkConfig::default());
        self.client.handle_game_connected(self.now);
        let joined = game_pb::Joined {
            room: 7,
            now_us: if self.cubes { 0 } else { 100_000_000 },
            delay_ms: 150,
            tick_hz: 20,
            width: 200.0,
            height: 200.0,
            cell: 10.0,
            inner: 1,
            outer: 2,
            schema: Some(self.schema.into()),
            coding: game_pb::PoseCoding::from(self.coding).into(),
            presentation: self.schema.presentation.to_block(),
        };
        let message = GameToClient { body: Some(game_to_client::Body::Joined(joined)) };
        self.client.handle_game_message(self.now, message);
    }
}

/// What the lobby sends until the client connects to the host.
fn lobby_messages() -> [(u64, world_to_client::Body); 3] {
    let welcome = pb::Welcome {
        version: ambit_proto::control::WORLD_VERSION,
        player: 3,
        name: "ann".into(),
        ..pb::Welcome::default()
    };
    let room = Some(pb::Room { id: 7, ..pb::Room::default() });
    let ticket = pb::Ticket {
        room: 7,
        address: "127.0.0.1:7777".into(),
        certificate_sha256: vec![5; 32],
        ticket: b"let me in".to_vec(),
        incarnation: 1,
        map: 0,
        web_certificates_sha256: Vec::new(),
    };
    [
        (1, world_to_client::Body::Welcome(welcome)),
        (0, world_to_client::Body::RoomJoined(pb::RoomJoined { room, players: Vec::new() })),
        (0, world_to_client::Body::Ticket(ticket)),
    ]
}

/// Example bodies and notices, lobby messages, and a broken connection.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let examples = |name: &str| -> Vec<Vec<u8>> {
        let format = examples::formats()
            .into_iter()
            .find(|format| format.name == name)
            .expect("the format is in the list");
        (0..4).map(|seed| format.encode_example(seed)).collect()
    };
    let step = |input: &mut Vec<u8>, step: usize, bytes: &[u8]| {
        input.push(step as u8);
        put_bytes(input, bytes);
    };
    let mut game = vec![0];
    for (body, notice) in examples("message.body").iter().zip(examples("message.notice")) {
        step(&mut game, MESSAGE, &notice);
        step(&mut game, BODY, body);
        game.extend([WAIT as u8, 100, 0, ACT as u8, 30, 40]);
    }
    let mut lobby = vec![1];
    for (request, body) in lobby_messages() {
        step(&mut lobby, WORLD, &WorldToClient { request, body: Some(body) }.encode_to_vec());
    }
    let left = pb::RoomLeft { room: 7, message: "left".into(), ..pb::RoomLeft::default() };
    step(
        &mut lobby,
        WORLD,
        &WorldToClient { request: 0, body: Some(world_to_client::Body::RoomLeft(left)) }
            .encode_to_vec(),
    );
    let out = game_pb::Out { reason: 1, message: "kicked".into() };
    step(
        &mut lobby,
        GAME,
        &GameToClient { body: Some(game_to_client::Body::Out(out)) }.encode_to_vec(),
    );
    let mut forged = vec![0];
    step(&mut forged, RAW, &[0; 12]);
    forged.extend([7, WAIT as u8, 0, 8]);
    vec![
        game,
        lobby,
        forged,
        field_seed(),
        cubes_seed(PoseCoding::Auto),
        cubes_seed(PoseCoding::Plain),
    ]
}

/// What a room of `field` sends to a player beside another one, who casts a bolt and leaves.
fn field_seed() -> Vec<u8> {
    let parameters = [("npcs", "3"), ("obstacles", "0")];
    let mut room = ambit_game_server::standard()
        .create_room(&header("field", &parameters))
        .expect("valid room parameters");
    let mut fuzzed = FuzzedClient::playing(FIELD);
    let mut input = vec![FIELD];
    let [shown, other] = [3, 4].map(|player| (ClientId(player - 3), PlayerId(player.into())));
    let join = |(client, player)| RoomInput::Join {
        client,
        player,
        account: None,
        name: format!("{player:?}"),
        coding: PoseCoding::Auto,
    };
    let mut inputs = vec![join(shown), join(other)];
    let mut link: Link = Link::new(LinkConfig::client());
    for tick in 1..=30 {
        let at = GameTime::from_millis(100_000 + 50 * tick);
        let received = |client, bytes| RoomInput::Datagram { client, at, bytes };
        inputs.extend(fuzzed.sent.drain(..).map(|bytes| received(shown.0, bytes)));
        if tick == 5 {
            let GameCommand { kind, fields } = commands::cast(0, Some((100.0, 100.0)));
            let mut bolt = Command { number: 1, kind, fields };
            let _ = link.send_reliable(fuzzed.now, wire::encode(&mut bolt).into(), None);
            let mut datagram = Vec::new();
            link.write_datagram(fuzzed.now, &mut datagram, |_, _| {});
            inputs.push(received(other.0, datagram.into()));
        }
        if tick == 20 {
            inputs.push(RoomInput::Remove { player: other.1, why: Left::Quit });
        }
        let mut outputs = Vec::new();
        room.tick(at, &mut inputs, &mut outputs);
        for output in outputs {
            if let RoomOutput::Datagram { client, bytes } = output
                && client == shown.0
            {
                input.push(RAW as u8);
                put_bytes(&mut input, &bytes);
                fuzzed.client.handle_datagram(fuzzed.now, &bytes);
                fuzzed.run_client();
            }
        }
        input.extend([WAIT as u8, 50, 0]);
        fuzzed.now += Duration::from_millis(50);
        fuzzed.run_client();
    }
    input
}

/// What a room of `cubes` sends to a player who pushes to the right.
fn cubes_seed(coding: PoseCoding) -> Vec<u8> {
    let parameters = [("size", "16x16"), ("cubes", "4"), ("round", "0")];
    let mut room = ambit_game_server::standard()
        .create_room(&header("cubes", &parameters))
        .expect("valid room parameters");
    let first = if coding == PoseCoding::Plain { CUBES | PLAIN } else { CUBES };
    let mut fuzzed = FuzzedClient::playing(first);
    let mut input = vec![first];
    let client = ClientId(0);
    let mut inputs = vec![RoomInput::Join {
        account: None,
        client,
        player: PlayerId(3),
        name: "ann".into(),
        coding,
    }];
    for tick in 1..=16 {
        let at = GameTime::from_millis(50 * tick);
        inputs.extend(fuzzed.sent.drain(..).map(|bytes| RoomInput::Datagram { client, at, bytes }));
        let mut outputs = Vec::new();
        room.tick(at, &mut inputs, &mut outputs);
        for output in outputs {
            let RoomOutput::Datagram { bytes, .. } = output else {
                continue;
            };
            input.push(RAW as u8);
            put_bytes(&mut input, &bytes);
            fuzzed.client.handle_datagram(fuzzed.now, &bytes);
            fuzzed.run_client();
        }
        if tick == 2 {
            input.extend([ACT as u8, 1 << control::RIGHT, 0]);
            fuzzed.client.input(fuzzed.now, Keymap(1 << control::RIGHT));
            fuzzed.run_client();
        }
        inputs.extend(fuzzed.sent.drain(..).map(|bytes| RoomInput::Datagram { client, at, bytes }));
        input.extend([WAIT as u8, 50, 0]);
        fuzzed.now += Duration::from_millis(50);
        fuzzed.run_client();
    }
    assert_eq!(fuzzed.entered.len(), 5, "four cubes and the player's");
    input
}
