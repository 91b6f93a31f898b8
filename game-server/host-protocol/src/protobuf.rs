//! The messages between a host and its WorldServer as protobufs, and back.

use std::time::Duration;

use crate::generated::{self as pb, HostToWorld, WorldToHost, host_to_world, world_to_host};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;

use crate::messages::{
    HostMessage, HostSettings, RoomAssignment, RoomMember, RoomOrder, RoomResume, WorldOrder,
};
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, StoreAnswer, StoreKey, StoreNumber, StoreRequest,
};
use ambit_room::room::{RoomInput, TransferArrival, TransferId};

use crate::ROOM_PIECE_BYTES;

/// What a tick takes in a message besides its inputs, at most.
const TICK_HEAD_BYTES: usize = 64;

/// The order in a message; `None` if it is of a kind that this build does not know.
pub fn order_of(message: WorldToHost) -> Option<WorldOrder> {
    Some(match message.body? {
        world_to_host::Body::Configure(configure) => WorldOrder::Configure(settings(configure)),
        world_to_host::Body::RoomPiece(piece) => WorldOrder::RoomPiece {
            room: RoomId(piece.room),
            incarnation: piece.incarnation,
            piece: saved_room(piece.state, piece.ticks),
        },
        world_to_host::Body::OpenRoom(order) => {
            let (assignment, resume) = assignment(order);
            WorldOrder::OpenRoom(assignment, resume)
        }
        world_to_host::Body::CloseRoom(order) => {
            WorldOrder::CloseRoom { room: RoomId(order.room), reason: order.reason() }
        }
        world_to_host::Body::MoveRoom(order) => {
            WorldOrder::Room(RoomId(order.room), RoomOrder::Move)
        }
        world_to_host::Body::AskRoom(order) => WorldOrder::Room(
            RoomId(order.room),
            RoomOrder::Ask { number: order.number, question: order.question },
        ),
        world_to_host::Body::RoomTaken(order) => WorldOrder::RoomTaken(RoomId(order.room)),
        world_to_host::Body::RemovePlayer(order) => WorldOrder::Room(
            RoomId(order.room),
            RoomOrder::RemovePlayer {
                player: PlayerId(order.player),
                reason: order.reason(),
                revoked_until: order.void_tickets_until,
            },
        ),
        world_to_host::Body::SyncMembers(order) => WorldOrder::Room(
            RoomId(order.room),
            RoomOrder::SyncMembers {
                members: order.members.map(members).unwrap_or_default(),
                revoked_until: order.void_tickets_until,
            },
        ),
        world_to_host::Body::ExpectPlayers(order) => {
            let players = order.players.into_iter().map(PlayerId).collect();
            input(order.room, RoomInput::Expect { players })
        }
        world_to_host::Body::RenamePlayer(order) => input(
            order.room,
            RoomInput::Rename { player: PlayerId(order.player), name: order.name },
        ),
        world_to_host::Body::ReleaseForTransfer(order) => input(
            order.room,
            RoomInput::ReleaseForTransfer {
                player: PlayerId(order.player),
                transfer: TransferId(order.number),
            },
        ),
        world_to_host::Body::RefuseTransfer(order) => {
            input(order.room, RoomInput::RefuseTransfer { player: PlayerId(order.player) })
        }
        world_to_host::Body::Admit(order) => input(
            order.room,
            RoomInput::AdmitTransfer(TransferArrival {
                player: PlayerId(order.player),
                transfer: TransferId(order.number),
                name: order.name,
                account: AccountId::from_bytes(&order.account),
                standing: Standing::from_bits(order.standing).in_party(order.party),
                at: Position::on_ground(order.x, order.y),
                carried: order.carried,
            }),
        ),
        world_to_host::Body::MapShare(told) => {
            input(told.room, RoomInput::MapShare { map: told.map, share: told.share })
        }
        world_to_host::Body::Stored(stored) => {
            let number = StoreNumber { incarnation: stored.incarnation, count: stored.count };
            let room = stored.room;
            input(room, RoomInput::Stored { number, answer: answer_of(stored) })
        }
        world_to_host::Body::AcknowledgeHeartbeat(heard) => WorldOrder::AcknowledgeHeartbeat {
            number: heard.number,
            lease: Duration::from_millis(heard.lease_ms.into()),
        },
        world_to_host::Body::AcknowledgeJournal(kept) => {
            WorldOrder::AcknowledgeJournal(kept.serial)
        }
        world_to_host::Body::Drain(_) => WorldOrder::Drain,
        world_to_host::Body::HandOver(_) => WorldOrder::HandOver,
    })
}

fn input(room: u64, input: RoomInput) -> WorldOrder {
    WorldOrder::Room(RoomId(room), RoomOrder::Input(input))
}

fn settings(configure: pb::Configure) -> HostSettings {
    HostSettings {
        version: configure.version,
        ticket_key: configure.ticket_key,
        grace_ms: configure.grace_ms,
        saves_rooms: configure.saves_rooms,
        lease: Duration::from_millis(configure.lease_ms.into()),
        silence: Duration::from_millis(configure.silence_ms.into()),
    }
}

fn assignment(order: pb::OpenRoom) -> (RoomAssignment, Option<RoomResume>) {
    let assignment = RoomAssignment {
        room: RoomId(order.room),
        game: order.game,
        parameters: order.parameters,
        seed: order.seed,
        capacity: order.capacity,
        incarnation: order.incarnation,
    };
    (assignment, order.resume.map(resume))
}

impl From<pb::RoomSaved> for RoomSnapshot {
    fn from(saved: pb::RoomSaved) -> Self {
        Self { at: GameTime::from_micros(saved.at_us), state: saved.state }
    }
}

impl From<pb::RoomTick> for JournalEntry {
    fn from(tick: pb::RoomTick) -> Self {
        Self { at: GameTime::from_micros(tick.at_us), inputs: tick.inputs }
    }
}

fn resume(resume: pb::Resume) -> RoomResume {
    RoomResume {
        saved: saved_room(resume.state, resume.ticks),
        now: GameTime::from_micros(resume.now_us),
        members: resume.members.map(members),
    }
}

fn saved_room(state: Vec<u8>, ticks: Vec<pb::RoomTick>) -> SavedRoom {
    SavedRoom {
        snapshot: RoomSnapshot { at: GameTime::default(), state },
        journal: ticks.into_iter().map(JournalEntry::from).collect(),
    }
}

fn members(members: pb::Members) -> Vec<RoomMember> {
    let member =
        |member: pb::Member| RoomMember { player: PlayerId(member.player), name: member.name };
    members.members.into_iter().map(member).collect()
}

impl From<RoomResume> for pb::Resume {
    fn from(resume: RoomResume) -> Self {
        let RoomResume { saved, now, members } = resume;
        let tick = |entry: JournalEntry| pb::RoomTick {
            at_us: entry.at.micros(),
            inputs: entry.inputs,
            ..pb::RoomTick::default()
        };
        Self {
            state: saved.snapshot.state,
            ticks: saved.journal.into_iter().map(tick).collect(),
            now_us: now.micros(),
            members: members.map(pb::Members::from),
        }
    }
}

impl From<Vec<RoomMember>> for pb::Members {
    fn from(members: Vec<RoomMember>) -> Self {
        let member = |member: RoomMember| pb::Member { player: member.player.0, name: member.name };
        Self { members: members.into_iter().map(member).collect() }
    }
}

/// The messages that open a room, or let one go on: pieces of a large room, then the order.
pub fn open_room(order: RoomAssignment, resume: Option<RoomResume>) -> Vec<WorldToHost> {
    let mut resume = resume.map(pb::Resume::from);
    let pieces = resume.as_mut().map(split_off_pieces).unwrap_or_default();
    let piece = |(state, ticks)| {
        world_to_host::Body::RoomPiece(pb::RoomPiece {
            room: order.room.0,
            incarnation: order.incarnation,
            state,
            ticks,
        })
    };
    let mut bodies: Vec<_> = pieces.into_iter().map(piece).collect();
    let open = pb::OpenRoom {
        room: order.room.0,
        game: order.game,
        parameters: order.parameters,
        seed: order.seed,
        capacity: order.capacity,
        resume,
        incarnation: order.incarnation,
    };
    bodies.push(world_to_host::Body::OpenRoom(open));
    let message = |body| WorldToHost { body: Some(body) };
    bodies.into_iter().map(message).collect()
}

/// Takes the first pieces off, each a part of the state or of the journal, and leaves a last one of
/// each.
fn split_off_pieces(resume: &mut pb::Resume) -> Vec<(Vec<u8>, Vec<pb::RoomTick>)> {
    let mut pieces = Vec::new();
    let (first, last) = pieces_of(&resume.state);
    pieces.extend(first.map(|piece| (piece.to_vec(), Vec::new())));
    resume.state = last.to_vec();
    let mut bytes = 0;
    let mut last = Vec::new();
    for tick in std::mem::take(&mut resume.ticks) {
        bytes += TICK_HEAD_BYTES + tick.inputs.len();
        if bytes > ROOM_PIECE_BYTES && !last.is_empty() {
            pieces.push((Vec::new(), std::mem::take(&mut last)));
            bytes = TICK_HEAD_BYTES + tick.inputs.len();
        }
        last.push(tick);
    }
    resume.ticks = last;
    pieces
}

/// All pieces of a room's state but the last, and the last, which is empty only if the state is.
fn pieces_of(state: &[u8]) -> (std::slice::Chunks<'_, u8>, &[u8]) {
    let last = state.len().saturating_sub(1) / ROOM_PIECE_BYTES * ROOM_PIECE_BYTES;
    let (first, last) = state.split_at(last);
    (first.chunks(ROOM_PIECE_BYTES), last)
}

/// The message of a host, or the messages if it is a snapshot of a large room.
pub fn messages_of(message: HostMessage) -> Vec<HostToWorld> {
    let (room, snapshot) = match message {
        HostMessage::Snapshot(room, snapshot) if snapshot.state.len() > ROOM_PIECE_BYTES => {
            (room, snapshot)
        }
        message => return vec![message.into()],
    };
    let mut messages = Vec::new();
    let mut piece = |state, has_more| {
        let body = host_to_world::Body::RoomSaved(pb::RoomSaved {
            room: room.0,
            at_us: snapshot.at.micros(),
            state,
            has_more,
        });
        messages.push(HostToWorld { body: Some(body) });
    };
    let (first, last) = pieces_of(&snapshot.state);
    first.for_each(|first| piece(first.to_vec(), true));
    piece(last.to_vec(), false);
    messages
}

impl From<HostMessage> for HostToWorld {
    fn from(message: HostMessage) -> Self {
        Self { body: Some(body_of(message)) }
    }
}

fn body_of(message: HostMessage) -> host_to_world::Body {
    match message {
        HostMessage::Ready(ready) => host_to_world::Body::Ready(ready),
        HostMessage::RoomOpened { room, error } => {
            host_to_world::Body::RoomOpened(pb::RoomOpened { room: room.0, error })
        }
        HostMessage::RoomClosed { room, reason, message } => {
            host_to_world::Body::RoomClosed(pb::RoomClosed {
                room: room.0,
                reason: reason.into(),
                message,
            })
        }
        HostMessage::PlayerOut { room, player, reason, message } => {
            host_to_world::Body::PlayerOut(pb::PlayerOut {
                room: room.0,
                player: player.0,
                reason: reason.into(),
                message,
            })
        }
        HostMessage::AtGate { room, player, map, at, from } => {
            host_to_world::Body::AtGate(pb::AtGate {
                room: room.0,
                player: player.0,
                map,
                x: at.x,
                y: at.y,
                from_x: from.x,
                from_y: from.y,
            })
        }
        HostMessage::Departed { room, player, transfer, carried } => {
            host_to_world::Body::Departed(pb::Departed {
                room: room.0,
                player: player.0,
                number: transfer.0,
                carried,
            })
        }
        HostMessage::Arrived { room, player, transfer } => {
            host_to_world::Body::Arrived(pb::Arrived {
                room: room.0,
                player: player.0,
                number: transfer.0,
            })
        }
        HostMessage::Store(room, asked) => host_to_world::Body::Store(store_message(room, asked)),
        HostMessage::Share(room, share) => {
            host_to_world::Body::Share(pb::MapShare { room: room.0, share, map: 0 })
        }
        HostMessage::Snapshot(room, snapshot) => host_to_world::Body::RoomSaved(pb::RoomSaved {
            room: room.0,
            at_us: snapshot.at.micros(),
            state: snapshot.state,
            has_more: false,
        }),
        HostMessage::RoomHandedOver(room) => {
            host_to_world::Body::RoomHandedOver(pb::RoomHandedOver { room: room.0 })
        }
        HostMessage::Journal { room, entry, number } => {
            host_to_world::Body::RoomTick(pb::RoomTick {
                room: room.0,
                at_us: entry.at.micros(),
                inputs: entry.inputs,
                serial: number,
            })
        }
        HostMessage::Answered { room, number, answer } => {
            host_to_world::Body::RoomAnswered(pb::RoomAnswered { room: room.0, number, answer })
        }
        HostMessage::Heartbeat(number) => host_to_world::Body::Heartbeat(pb::Heartbeat { number }),
        HostMessage::HandingOver => host_to_world::Body::HandingOver(pb::HandingOver {}),
        HostMessage::Stats(stats) => host_to_world::Body::Stats(*stats),
    }
}

/// The answer of the store; which of them it is follows from what it has.
fn answer_of(stored: pb::Stored) -> StoreAnswer {
    if stored.refused {
        StoreAnswer::Refused
    } else if stored.claim > 0 {
        StoreAnswer::Claimed(ProfileClaim(stored.claim), stored.value)
    } else if stored.wrote_profiles {
        let accounts = stored.lost.iter().filter_map(|account| AccountId::from_bytes(account));
        StoreAnswer::Saved(accounts.collect())
    } else {
        StoreAnswer::Done(stored.value)
    }
}

fn store_message(room: RoomId, asked: AskedOfStore) -> pb::StoreRequest {
    let AskedOfStore { number, oldest, request } = asked;
    let key =
        |key: StoreKey| pb::StoreKey { account: AccountId::to_bytes(key.account), name: key.name };
    let what = match request {
        StoreRequest::Load(of) => pb::store_request::What::Load(key(of)),
        StoreRequest::Save(of, value) => {
            pb::store_request::What::Save(pb::StoredValue { key: Some(key(of)), value })
        }
        StoreRequest::AddResult(row) => pb::store_request::What::Result(pb::ResultRow {
            board: row.board,
            account: AccountId::to_bytes(row.account),
            player: row.player,
            score: row.score,
        }),
        StoreRequest::ClaimProfile(account) => {
            pb::store_request::What::Claim(AccountId::to_bytes(Some(account)))
        }
        StoreRequest::SaveProfiles(profiles) => {
            let profiles = profiles.into_iter().map(profile_message).collect();
            pb::store_request::What::Profiles(pb::ProfileSaves { profiles })
        }
    };
    pb::StoreRequest {
        room: room.0,
        incarnation: number.incarnation,
        count: number.count,
        oldest_incarnation: oldest.incarnation,
        oldest_count: oldest.count,
        what: Some(what),
    }
}

fn profile_message(save: ProfileSave) -> pb::ProfileSave {
    pb::ProfileSave {
        account: AccountId::to_bytes(Some(save.account)),
        claim: save.claim.0,
        version: save.version,
        value: save.value,
        is_last: save.is_last,
    }
}
