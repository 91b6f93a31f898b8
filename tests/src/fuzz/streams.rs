//! Ordered streams and files: frames, the messages of the control streams, schemas, tickets,
//! recordings.

use std::fmt::Debug;

use ambit_host_protocol::generated::{HostToWorld, WorldToHost};
use ambit_host_protocol::protobuf::{host_message_of, order_of};
use ambit_lobby::directory;
use ambit_proto::control::game::{self as game_pb, ClientToGame, GameToClient};
use ambit_proto::control::world::{self as world_pb, ClientToWorld, WorldToClient};
use ambit_proto::frame::{self, FrameDecoder};
use ambit_proto::ids::{ClientId, PlayerId, RoomId};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::Schema;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_proto::wishes::Wishes;
use ambit_room::journal::JournalEntry;
use ambit_room::logic::game::Left;
use ambit_room::recording::{self, Recorder, Recording};
use ambit_room::room::RoomInput;
use ambit_transport::ticket::{Ticket, TicketSigner, TicketVerifier};
use prost::Message;

use super::choices::{Choices, put_bytes};
use super::{Reached, header, schemas};

/// A stream that arrives in pieces. The first byte selects the message type of its frames.
pub fn frames(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let (name, max, read) = FRAMES[choices.below(FRAMES.len() as u8)];
    let mut decoder = FrameDecoder::new(max);
    let mut reached = Reached::new();
    while !choices.is_over() {
        decoder.push(choices.bytes());
        while let Ok(Some(frame)) = decoder.poll_frame() {
            assert!(frame.len() <= max);
            if read(&frame) {
                reached.insert(name);
            }
        }
    }
    let _ = decoder.is_at_boundary();
    reached
}

/// The type of a frame's message, the most bytes of such a frame, and the check of one.
type FrameKind = (&'static str, usize, fn(&[u8]) -> bool);

const FRAMES: [FrameKind; 9] = [
    ("ClientToWorld", frame::MAX_TO_WORLD, check_round_trip::<ClientToWorld>),
    ("WorldToClient", frame::MAX_FROM_WORLD, check_round_trip::<WorldToClient>),
    ("ClientToGame", frame::MAX_TO_GAME, check_round_trip::<ClientToGame>),
    ("GameToClient", frame::MAX_FROM_GAME, check_round_trip::<GameToClient>),
    ("WorldToHost", frame::MAX_HOST, check_order),
    ("HostToWorld", frame::MAX_HOST, check_host_message),
    ("Follow", frame::MAX_TO_WORLD, check_round_trip::<directory::Follow>),
    ("Lead", frame::MAX_TO_WORLD, check_round_trip::<directory::Lead>),
    ("Relay", frame::MAX_TO_WORLD, check_round_trip::<directory::Relay>),
];

/// An order to a host is read the same again, if it is one.
fn check_order(bytes: &[u8]) -> bool {
    let read =
        |bytes: &[u8]| WorldToHost::decode(bytes).ok().and_then(order_of).map(WorldToHost::from);
    check_round_trip::<WorldToHost>(bytes) && check_read_again(bytes, read)
}

/// The same for a message of a host.
fn check_host_message(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        HostToWorld::decode(bytes).ok().and_then(host_message_of).map(HostToWorld::from)
    };
    check_round_trip::<HostToWorld>(bytes) && check_read_again(bytes, read)
}

fn check_read_again<M: Message>(bytes: &[u8], read: impl Fn(&[u8]) -> Option<M>) -> bool {
    if let Some(message) = read(bytes) {
        let written = message.encode_to_vec();
        let again = read(&written).expect("what was written is read");
        assert_eq!(again.encode_to_vec(), written);
    }
    true
}

/// Whether the bytes are a message that is not empty; such a message can be encoded and decoded
/// again, with the same bytes.
fn check_round_trip<M: Message + Default + Debug>(bytes: &[u8]) -> bool {
    let Ok(message) = M::decode(bytes) else {
        return false;
    };
    let written = message.encode_to_vec();
    let again = M::decode(&written[..]).expect("our own encoding can be read").encode_to_vec();
    assert_eq!(again, written, "{message:?}");
    !written.is_empty()
}

/// A schema as in `Joined`: what is accepted holds the invariants and survives a round trip.
pub fn schema(data: &[u8]) -> Reached {
    let Some(schema) =
        game_pb::Schema::decode(data).ok().and_then(|message| Schema::try_from(message).ok())
    else {
        return Reached::new();
    };
    schema.check().expect("the conversion checks the schema");
    assert_eq!(Schema::try_from(game_pb::Schema::from(&schema)).as_ref(), Ok(&schema));
    Reached::from(["accepted"])
}

/// Tickets: arbitrary bytes, valid ones, and valid ones with some bytes changed.
pub fn ticket(data: &[u8]) -> Reached {
    let signer = TicketSigner::from_seed(&[7; 32]);
    let mut verifier = TicketVerifier::new(signer.public_key()).expect("a key");
    let mut choices = Choices::new(data);
    let mut now = 1_000;
    let mut serial = 0;
    // The verifier forgets used tickets once they are expired. If the clock goes back after that,
    // it refuses all tickets that are as old as the forgotten ones.
    let mut latest = now;
    let mut reached = Reached::new();
    // Signing is slow, and long inputs reach no additional code.
    for _ in 0..32 {
        if choices.is_over() {
            break;
        }
        serial += 1;
        let good = Ticket {
            expires_unix_s: now + 30,
            serial,
            nonce: [serial as u8; 16],
            ..example_ticket()
        };
        let mut check =
            |now, token: &[u8]| verifier.verify(now, token, ADDRESS, |room| room == RoomId(7));
        match choices.below(4) {
            0 => assert!(check(now, choices.bytes()).is_err(), "unsigned bytes are accepted"),
            1 => {
                let token = signer.sign(&good);
                let result = check(now, &token);
                assert!(result.is_ok() || now < latest, "a valid ticket is refused: {result:?}");
                if result.is_ok() {
                    reached.insert("accepted");
                }
                check(now, &token).expect_err("a ticket is accepted only once");
            }
            2 => {
                let at = usize::from(choices.word());
                let patch = choices.bytes();
                let token = signer.sign(&good);
                let mut changed = token.clone();
                let at = at % (token.len() + 1);
                changed.splice(at..token.len().min(at + patch.len()), patch.iter().copied());
                assert!(
                    changed == token || check(now, &changed).is_err(),
                    "a changed ticket is accepted"
                );
                if changed != token {
                    reached.insert("a changed ticket is refused");
                }
            }
            _ => {
                latest = latest.max(now);
                now = (now + u64::from(choices.word())).saturating_sub(u64::from(choices.byte()));
                verifier.revoke(
                    now,
                    RoomId(7),
                    PlayerId(choices.byte().into()),
                    choices.byte().into(),
                );
                reached.insert("a revoked ticket");
            }
        }
    }
    reached
}

const ADDRESS: &str = "127.0.0.1:7777";

fn example_ticket() -> Ticket {
    Ticket {
        room: RoomId(7),
        player: PlayerId(300),
        name: "ann".into(),
        account: None,
        standing: Standing::default(),
        wishes: Wishes::default(),
        host: ADDRESS.into(),
        expires_unix_s: 0,
        serial: 0,
        nonce: [0; 16],
    }
}

/// A recording, up to its end or its first error; its checksums are made to fit.
pub fn recording(data: &[u8]) -> Reached {
    let mut reached = Reached::new();
    // As it is, too.
    let _ = Recording::read(data);
    let mut sealed = data.to_vec();
    recording::seal(&mut sealed);
    let Ok(mut recording) = Recording::read_unfinished(&sealed) else {
        return reached;
    };
    let mut again = Vec::new();
    let mut recorder = Recorder::begin(&recording.header, None, &mut again);
    while let Ok(Some(tick)) = recording.next_tick() {
        again.clear();
        let entry = JournalEntry::new(tick.at, &tick.inputs);
        recorder.append(&entry, tick.before.as_ref(), &mut again);
        reached.insert(if tick.inputs.is_empty() {
            "a tick without inputs"
        } else {
            "a tick with inputs"
        });
    }
    if recording.lack.is_none() {
        reached.insert("an end");
    }
    reached
}

pub(super) fn frame_seeds() -> Vec<Vec<u8>> {
    let hello = world_pb::Hello {
        version: ambit_proto::control::WORLD_VERSION,
        name: "ann".into(),
        ..world_pb::Hello::default()
    };
    let create = world_pb::CreateRoom {
        name: "room".into(),
        game: "field".into(),
        ..world_pb::CreateRoom::default()
    };
    let requests = [
        world_pb::client_to_world::Body::Hello(hello),
        world_pb::client_to_world::Body::CreateRoom(create),
    ];
    let requests = (1..)
        .zip(requests)
        .map(|(request, body)| frame::encode_frame(&ClientToWorld { request, body: Some(body) }));
    let welcome = world_pb::Welcome {
        version: ambit_proto::control::WORLD_VERSION,
        player: 3,
        name: "ann".into(),
        ..world_pb::Welcome::default()
    };
    let answer =
        WorldToClient { request: 1, body: Some(world_pb::world_to_client::Body::Welcome(welcome)) };
    let join =
        game_pb::Join { version: ambit_proto::message::VERSION, ticket: vec![7; 100], coding: 0 };
    let join = ClientToGame { body: Some(game_pb::client_to_game::Body::Join(join)) };
    let joined = game_pb::Joined {
        room: 7,
        schema: Some((&schemas()[0]).into()),
        ..game_pb::Joined::default()
    };
    let joined = GameToClient { body: Some(game_pb::game_to_client::Body::Joined(joined)) };
    let with_kind = |kind: u8, stream: &[u8]| {
        let mut input = vec![kind];
        stream.chunks(500).for_each(|piece| put_bytes(&mut input, piece));
        input
    };
    let follow = directory::Follow {
        version: 1,
        key_proof: vec![9; 32],
        address: ADDRESS.into(),
        certificate_sha256: vec![5; 32],
        names: Vec::new(),
    };
    let lead = directory::Lead { epoch: 12, key_proof: vec![9; 32] };
    let relay = directory::Relay { address: "127.0.0.1".into() };
    let mut seeds = vec![
        with_kind(6, &frame::encode_frame(&follow)),
        with_kind(7, &frame::encode_frame(&lead)),
        with_kind(8, &frame::encode_frame(&relay)),
        with_kind(0, &requests.flatten().collect::<Vec<_>>()),
        with_kind(1, &frame::encode_frame(&answer)),
        with_kind(2, &frame::encode_frame(&join)),
        with_kind(3, &frame::encode_frame(&joined)),
    ];
    seeds.extend(host_frames().map(|(kind, frame)| with_kind(kind, &frame)));
    seeds
}

fn host_frames() -> impl Iterator<Item = (u8, bytes::Bytes)> {
    use ambit_host_protocol::generated::{HostReady, OpenRoom, host_to_world, world_to_host};
    let open = OpenRoom { room: 7, game: "field".into(), capacity: 8, ..OpenRoom::default() };
    let open = WorldToHost { body: Some(world_to_host::Body::OpenRoom(open)) };
    let ready = HostReady { version: 1, address: ADDRESS.into(), ..HostReady::default() };
    let ready = HostToWorld { body: Some(host_to_world::Body::Ready(ready)) };
    [(4, frame::encode_frame(&open)), (5, frame::encode_frame(&ready))].into_iter()
}

pub(super) fn schema_seeds() -> Vec<Vec<u8>> {
    schemas().iter().map(|schema| game_pb::Schema::from(schema).encode_to_vec()).collect()
}

pub(super) fn ticket_seeds() -> Vec<Vec<u8>> {
    let mut changed = vec![1, 2, 64, 0];
    put_bytes(&mut changed, &[8, 2]);
    let mut raw = vec![3, 40, 0, 1, 44, 2, 0];
    put_bytes(&mut raw, &[0; 80]);
    vec![vec![1, 1], changed, raw]
}

pub(super) fn recording_seeds() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let header = header("field", &[("npcs", "0"), ("size", "40x40")]);
    let mut recorder = Recorder::begin(&header, None, &mut out);
    let client = ClientId(1);
    let inputs = [
        RoomInput::Join {
            client,
            player: PlayerId(3),
            account: None,
            name: "ann".into(),
            coding: PoseCoding::Auto,
        },
        RoomInput::Datagram {
            client,
            at: GameTime::from_millis(49),
            bytes: vec![1, 2, 3, 4].into(),
        },
        RoomInput::Rename { player: PlayerId(3), name: "Zoë".into() },
        RoomInput::Disconnect { client, player: PlayerId(3) },
        RoomInput::Remove { player: PlayerId(3), why: Left::Quit },
    ];
    let ticks = [(50, &inputs[..]), (100, &[])];
    for (ms, inputs) in ticks {
        let entry = JournalEntry::new(GameTime::from_millis(ms), inputs);
        recorder.append(&entry, None, &mut out);
    }
    recorder.end(&mut out);
    vec![out]
}
