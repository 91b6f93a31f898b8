//! Each order and message survives the way to bytes and back, and the bytes stay what they are.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::ids::{AccountId, PartyId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::standing::{OperatorRole, Standing};
use ambit_proto::time::GameTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, ResultRow, StoreAnswer, StoreKey, StoreNumber,
    StoreRequest,
};
use ambit_room::room::{TransferArrival, TransferId};
use prost::Message;

use super::{host_message_of, messages_of, messages_of_order, order_of};
use crate::generated::{HostToWorld, WorldToHost, host_to_world, store_request, world_to_host};
use crate::messages::{
    HostMessage, HostReady, HostSettings, RoomAssignment, RoomHere, RoomMember, RoomOrder,
    RoomResume, WorldOrder,
};
use crate::stats::{CallbackTime, HostStats, LateRoom, RoomCallbacks, RoomLoad, TickFigures};
use crate::{ROOM_PIECE_BYTES, generated};

const ROOM: RoomId = RoomId(300);
const PLAYER: PlayerId = PlayerId(5);
const ACCOUNT: AccountId = AccountId([7; 16]);
const NUMBER: StoreNumber = StoreNumber { incarnation: 2, count: 9 };

/// The bytes of each example, in hexadecimal digits, in the order of the examples.
const KNOWN: &str = include_str!("known_bytes.txt");

#[test]
fn each_order_and_message_has_the_known_bytes() {
    let mut found = String::new();
    let orders = orders().into_iter().map(|order| WorldToHost::from(order).encode_to_vec());
    let messages = messages().into_iter().map(|it| HostToWorld::from(it).encode_to_vec());
    for bytes in orders.chain(messages) {
        for byte in bytes {
            write!(found, "{byte:02x}").expect("a string takes all");
        }
        found.push('\n');
    }
    assert!(found == KNOWN, "the bytes are:\n{found}");
}

#[test]
fn each_order_survives_there_and_back() {
    for order in orders() {
        let bytes = WorldToHost::from(order.clone()).encode_to_vec();
        let read = WorldToHost::decode(&bytes[..]).expect("a message");
        assert_eq!(order_of(read), Some(order));
    }
}

#[test]
fn each_message_of_a_host_survives_there_and_back() {
    for message in messages() {
        let bytes = HostToWorld::from(message.clone()).encode_to_vec();
        let read = HostToWorld::decode(&bytes[..]).expect("a message");
        assert_eq!(host_message_of(read), Some(message));
    }
}

#[test]
fn the_examples_are_of_all_kinds_in_the_proto_file() {
    let orders = orders().into_iter().map(|order| WorldToHost::from(order).encode_to_vec());
    assert_eq!(orders.map(|bytes| field_of(&bytes)).collect::<BTreeSet<_>>(), kinds("WorldToHost"));
    let messages = messages().into_iter().map(|it| HostToWorld::from(it).encode_to_vec());
    let messages = messages.map(|bytes| field_of(&bytes));
    assert_eq!(messages.collect::<BTreeSet<_>>(), kinds("HostToWorld"));
}

/// The number of the first field.
fn field_of(bytes: &[u8]) -> u32 {
    prost::encoding::decode_key(&mut &bytes[..]).expect("a field").0
}

/// The numbers of the fields of a message with one `oneof`.
fn kinds(message: &str) -> BTreeSet<u32> {
    let text = include_str!("../../proto/ambit/host.proto");
    let (_, rest) = text.split_once(&format!("message {message} {{")).expect("the message");
    let (body, _) = rest.split_once("\n}").expect("its end");
    body.lines()
        .filter_map(|line| line.strip_suffix(';')?.rsplit(' ').next()?.parse().ok())
        .collect()
}

#[test]
fn what_is_unknown_or_no_value_is_passed_over() {
    assert_eq!(order_of(WorldToHost { body: None }), None);
    assert_eq!(host_message_of(HostToWorld { body: None }), None);
    let ask = |what| {
        let asked = generated::StoreRequest { what, ..generated::StoreRequest::default() };
        host_message_of(HostToWorld { body: Some(host_to_world::Body::Store(asked)) })
    };
    assert_eq!(ask(None), None);
    assert_eq!(ask(Some(store_request::What::Claim(vec![7; 15]))), None);
    assert_eq!(ask(Some(store_request::What::Save(generated::StoredValue::default()))), None);
    assert!(ask(Some(store_request::What::Claim(vec![7; 16]))).is_some());
}

#[test]
fn an_unknown_reason_is_the_servers_fault_for_a_player() {
    let out = generated::PlayerOut { reason: 9_999, ..generated::PlayerOut::default() };
    let out = host_message_of(HostToWorld { body: Some(host_to_world::Body::PlayerOut(out)) });
    let is_error = |message: &HostMessage| {
        matches!(message, HostMessage::PlayerOut { reason: ErrorCode::ServerError, .. })
    };
    assert!(out.as_ref().is_some_and(is_error), "{out:?}");
}

#[test]
fn a_large_room_goes_in_pieces_and_a_small_one_whole() {
    let state = |bytes: usize| (0..bytes).map(|byte| byte as u8).collect::<Vec<u8>>();
    for (bytes, pieces) in [(0, 1), (ROOM_PIECE_BYTES, 1), (3 * ROOM_PIECE_BYTES + 1, 4)] {
        let at = GameTime::from_millis(7);
        let snapshot = RoomSnapshot { at, state: state(bytes) };
        let sent = messages_of(HostMessage::Snapshot(ROOM, snapshot));
        assert_eq!(sent.len(), pieces);
        let mut read = Vec::new();
        for (index, message) in sent.into_iter().enumerate() {
            let is_last = index + 1 == pieces;
            match host_message_of(message) {
                Some(HostMessage::SnapshotPiece(ROOM, piece)) if !is_last => {
                    read.extend(piece.state);
                }
                Some(HostMessage::Snapshot(ROOM, piece)) if is_last => read.extend(piece.state),
                other => panic!("{other:?}"),
            }
        }
        assert!(read == state(bytes));
        let mut resume = resume();
        (resume.saved.snapshot.state, resume.members) = (state(bytes), None);
        let sent = messages_of_order(WorldOrder::OpenRoom(assignment(), Some(resume)));
        assert_eq!(sent.len(), pieces);
        let is_piece = |message: &&WorldToHost| {
            matches!(message.body, Some(world_to_host::Body::RoomPiece(_)))
        };
        assert_eq!(sent.iter().filter(is_piece).count(), pieces - 1);
    }
}

/// Each kind of order, with all fields set.
fn orders() -> Vec<WorldOrder> {
    let mut orders = vec![
        WorldOrder::Configure(HostSettings {
            version: 13,
            ticket_key: vec![1; 32],
            grace_ms: 30_000,
            saves_rooms: true,
            lease: Duration::from_millis(1_750),
            silence: Duration::from_secs(2),
        }),
        WorldOrder::RoomPiece { room: ROOM, incarnation: 3, piece: resume().saved },
        WorldOrder::OpenRoom(assignment(), None),
        WorldOrder::OpenRoom(assignment(), Some(resume())),
        WorldOrder::OpenRoom(assignment(), Some(RoomResume { members: None, ..resume() })),
        WorldOrder::CloseRoom { room: ROOM, reason: ErrorCode::RoomClosed },
        WorldOrder::RoomTaken(ROOM),
        WorldOrder::AcknowledgeHeartbeat { number: 4, lease: Duration::from_millis(875) },
        WorldOrder::AcknowledgeJournal(1_000),
        WorldOrder::Drain,
        WorldOrder::HandOver,
    ];
    orders.extend(room_orders().into_iter().map(|order| WorldOrder::Room(ROOM, order)));
    orders
}

fn room_orders() -> Vec<RoomOrder> {
    let value = || Some(vec![1, 2, 3]);
    let answers = [
        StoreAnswer::Done(None),
        StoreAnswer::Done(value()),
        StoreAnswer::Refused,
        StoreAnswer::Claimed(ProfileClaim(6), None),
        StoreAnswer::Claimed(ProfileClaim(6), value()),
        StoreAnswer::Saved(Vec::new()),
        StoreAnswer::Saved(vec![ACCOUNT]),
    ];
    let mut orders = vec![
        RoomOrder::RemovePlayer { player: PLAYER, reason: ErrorCode::Kicked, revoked_until: 8 },
        RoomOrder::SyncMembers { members: members(), revoked_until: 8 },
        RoomOrder::ExpectPlayers(vec![PLAYER, PlayerId(6)]),
        RoomOrder::RenamePlayer { player: PLAYER, name: "ann".into() },
        RoomOrder::ReleaseForTransfer { player: PLAYER, transfer: TransferId(11) },
        RoomOrder::RefuseTransfer(PLAYER),
        RoomOrder::AdmitTransfer(TransferArrival {
            player: PLAYER,
            transfer: TransferId(11),
            name: "ann".into(),
            account: Some(ACCOUNT),
            standing: Standing {
                is_maker: true,
                role: Some(OperatorRole::Moderate),
                party: Some(PartyId(12)),
            },
            at: Position::on_ground(1.5, -2.5),
            carried: vec![4, 5],
        }),
        RoomOrder::MapShare { map: 2, share: vec![6] },
        RoomOrder::Ask { number: 13, question: vec![7] },
        RoomOrder::Move,
    ];
    let stored = |answer| RoomOrder::Stored { number: NUMBER, answer };
    orders.extend(answers.map(stored));
    orders
}

/// Each kind of message, with all fields set.
fn messages() -> Vec<HostMessage> {
    let (room, player, transfer) = (ROOM, PLAYER, TransferId(11));
    let at = GameTime::from_millis(70);
    let snapshot = || RoomSnapshot { at, state: vec![1, 2] };
    let error = codes::error(ErrorCode::ServerError, "no such game");
    let message = || "over".to_owned();
    let mut messages = vec![
        HostMessage::Ready(ready()),
        HostMessage::RoomOpened { room, error: None },
        HostMessage::RoomOpened { room, error: Some(error) },
        HostMessage::RoomClosed { room, reason: ErrorCode::RoomClosed, message: message() },
        HostMessage::PlayerOut { room, player, reason: ErrorCode::PutOut, message: message() },
        HostMessage::AtGate {
            room,
            player,
            map: 1,
            at: Position::on_ground(1.0, 2.0),
            from: Position::on_ground(3.0, 4.0),
        },
        HostMessage::Departed { room, player, transfer, carried: None },
        HostMessage::Departed { room, player, transfer, carried: Some(vec![3]) },
        HostMessage::Arrived { room, player, transfer },
        HostMessage::Share(room, vec![1]),
        HostMessage::SnapshotPiece(room, snapshot()),
        HostMessage::Snapshot(room, snapshot()),
        HostMessage::RoomHandedOver(room),
        HostMessage::Journal { room, entry: JournalEntry { at, inputs: vec![8] }, number: 99 },
        HostMessage::Answered { room, number: 13, answer: vec![9] },
        HostMessage::Heartbeat(4),
        HostMessage::HandingOver,
        HostMessage::Stats(Box::new(stats())),
        HostMessage::ProcessEnded(vec![3; 16]),
    ];
    let asked = |request| {
        let oldest = StoreNumber { incarnation: 1, count: 8 };
        HostMessage::Store(ROOM, AskedOfStore { number: NUMBER, oldest, request })
    };
    messages.extend(store_requests().map(asked));
    messages
}

fn store_requests() -> [StoreRequest; 6] {
    let name = || "purse".to_owned();
    let account = Some(ACCOUNT);
    let save = |value| ProfileSave {
        account: ACCOUNT,
        claim: ProfileClaim(6),
        version: 2,
        value,
        is_last: true,
    };
    let (player, score) = ("ann".to_owned(), -3);
    [
        StoreRequest::Load(StoreKey { account: None, name: name() }),
        StoreRequest::Load(StoreKey { account, name: name() }),
        StoreRequest::Save(StoreKey { account, name: name() }, vec![1]),
        StoreRequest::AddResult(ResultRow { board: "best".to_owned(), account, player, score }),
        StoreRequest::ClaimProfile(ACCOUNT),
        StoreRequest::SaveProfiles(vec![save(None), save(Some(vec![2]))]),
    ]
}

fn assignment() -> RoomAssignment {
    RoomAssignment {
        room: ROOM,
        game: "field".into(),
        parameters: [("npcs".to_owned(), "3".to_owned()), ("size".to_owned(), "9".to_owned())]
            .into(),
        seed: u64::MAX,
        capacity: 16,
        incarnation: 3,
    }
}

fn resume() -> RoomResume {
    let entry = |ms| JournalEntry { at: GameTime::from_millis(ms), inputs: vec![ms as u8] };
    RoomResume {
        saved: SavedRoom {
            snapshot: RoomSnapshot { at: GameTime::ZERO, state: vec![1, 2] },
            journal: vec![entry(50), entry(100)],
        },
        now: GameTime::from_millis(170),
        members: Some(members()),
    }
}

fn members() -> Vec<RoomMember> {
    vec![RoomMember { player: PLAYER, name: "ann".into() }]
}

fn ready() -> HostReady {
    HostReady {
        version: 13,
        address: "10.0.0.1:7000".into(),
        certificate_sha256: vec![2; 32],
        capacity: 8,
        label: "host 1".into(),
        cores: 4,
        instance: vec![3; 16],
        rooms: vec![RoomHere { room: ROOM, incarnation: 3 }],
        build: "abc".into(),
        ticket_time_unix_s: 1_800_000_000,
        process: vec![4; 16],
    }
}

fn stats() -> HostStats {
    let counts = |name: &str, count: u64| [(name.to_owned(), count)].into();
    let figures = |p50_us| Some(TickFigures { p50_us, p99_us: p50_us + 1, max_us: p50_us + 2 });
    HostStats {
        rooms: 1,
        players: 2,
        datagrams_in: 3,
        datagrams_out: 4,
        bytes_in: 5,
        bytes_out: 6,
        enters: 7,
        leaves: 8,
        events: 9,
        commands: 10,
        commands_refused: 11,
        tick_buckets: vec![12, 13],
        tick_seconds_sum: 1.5,
        drops: counts("inbox/full", 14),
        tickets_refused: counts("expired", 15),
        late_events: 16,
        ticks_skipped: 17,
        cpu_permille: 18,
        amplification_permille: 19,
        clients: 20,
        recent_work: figures(21),
        recent_lateness: figures(31),
        bits: counts("records", 22),
        kind_bits: counts("field/wolf/near", 32),
        wire: counts("out/heads", 31),
        encodings: counts("poses/made", 23),
        poses: counts("sent", 24),
        room_loads: vec![RoomLoad {
            room: ROOM,
            columns: 2,
            rows: 1,
            edge_cells: 4,
            objects: vec![1, 2],
            players: vec![3, 4],
            changes: vec![5, 6],
        }],
        rooms_late: 25,
        unplayed_rooms: vec![ROOM, RoomId(2)],
        ticket_time_unix_s: 1_800_000_000,
        late_rooms: vec![LateRoom {
            room: ROOM,
            ticks_skipped: 26,
            load_level: 2,
            recent_ticks_skipped: 27,
        }],
        web_certificates_sha256: vec![vec![4; 32]],
        room_callbacks: vec![RoomCallbacks {
            room: ROOM,
            callbacks: vec![CallbackTime { callback: "step".to_owned(), calls: 28, nanos: 29 }],
        }],
        game_counts: counts("field/wolves", 30),
    }
}
