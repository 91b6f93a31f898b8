//! Orders of the WorldServer.

use std::time::Duration;

use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::GameTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::logic::store::StoreNumber;
use ambit_room::room::{TransferArrival, TransferId};

use super::pieces::split_off_pieces;
use super::stores::{answer_of, stored};
use crate::generated::{self as pb, WorldToHost, world_to_host::Body};
use crate::messages::{
    HostSettings, RoomAssignment, RoomMember, RoomOrder, RoomResume, WorldOrder,
};

/// The order in a message; `None` if it is of a kind that this build does not know.
pub fn order_of(message: WorldToHost) -> Option<WorldOrder> {
    Some(match message.body? {
        Body::Configure(configure) => WorldOrder::Configure(settings(configure)),
        Body::RoomPiece(piece) => WorldOrder::RoomPiece {
            room: RoomId(piece.room),
            incarnation: piece.incarnation,
            piece: saved_room(piece.state, piece.ticks),
        },
        Body::OpenRoom(order) => {
            let (assignment, resume) = assignment(order);
            WorldOrder::OpenRoom(assignment, resume)
        }
        Body::CloseRoom(order) => {
            WorldOrder::CloseRoom { room: RoomId(order.room), reason: order.reason() }
        }
        Body::RoomTaken(order) => WorldOrder::RoomTaken(RoomId(order.room)),
        Body::AcknowledgeHeartbeat(heard) => WorldOrder::AcknowledgeHeartbeat {
            number: heard.number,
            lease: Duration::from_millis(heard.lease_ms.into()),
        },
        Body::AcknowledgeJournal(kept) => WorldOrder::AcknowledgeJournal(kept.serial),
        Body::Drain(pb::Drain {}) => WorldOrder::Drain,
        Body::HandOver(pb::HandOver {}) => WorldOrder::HandOver,
        of_room => {
            let (room, order) = room_order_of(of_room)?;
            WorldOrder::Room(RoomId(room), order)
        }
    })
}

fn room_order_of(body: Body) -> Option<(u64, RoomOrder)> {
    Some(match body {
        Body::MoveRoom(order) => (order.room, RoomOrder::Move),
        Body::AskRoom(order) => {
            (order.room, RoomOrder::Ask { number: order.number, question: order.question })
        }
        Body::RemovePlayer(order) => (
            order.room,
            RoomOrder::RemovePlayer {
                player: PlayerId(order.player),
                reason: order.reason(),
                revoked_until: order.void_tickets_until,
            },
        ),
        Body::SyncMembers(order) => (
            order.room,
            RoomOrder::SyncMembers {
                members: order.members.map(members).unwrap_or_default(),
                revoked_until: order.void_tickets_until,
            },
        ),
        Body::ExpectPlayers(order) => {
            let players = order.players.into_iter().map(PlayerId).collect();
            (order.room, RoomOrder::ExpectPlayers(players))
        }
        Body::RenamePlayer(order) => (
            order.room,
            RoomOrder::RenamePlayer { player: PlayerId(order.player), name: order.name },
        ),
        Body::ReleaseForTransfer(order) => (
            order.room,
            RoomOrder::ReleaseForTransfer {
                player: PlayerId(order.player),
                transfer: TransferId(order.number),
            },
        ),
        Body::RefuseTransfer(order) => {
            (order.room, RoomOrder::RefuseTransfer(PlayerId(order.player)))
        }
        Body::Admit(order) => (order.room, RoomOrder::AdmitTransfer(arrival(order))),
        Body::MapShare(told) => {
            (told.room, RoomOrder::MapShare { map: told.map, share: told.share })
        }
        Body::Stored(stored) => {
            let number = StoreNumber { incarnation: stored.incarnation, count: stored.count };
            (stored.room, RoomOrder::Stored { number, answer: answer_of(stored) })
        }
        Body::Configure(_)
        | Body::RoomPiece(_)
        | Body::OpenRoom(_)
        | Body::CloseRoom(_)
        | Body::RoomTaken(_)
        | Body::AcknowledgeHeartbeat(_)
        | Body::AcknowledgeJournal(_)
        | Body::Drain(_)
        | Body::HandOver(_) => return None,
    })
}

/// The message with an order, or the messages if it is to go on with a large room.
pub fn messages_of_order(order: WorldOrder) -> Vec<WorldToHost> {
    let (assignment, mut resume) = match order {
        WorldOrder::OpenRoom(assignment, Some(resume)) => (assignment, resume),
        order => return vec![order.into()],
    };
    let (room, incarnation) = (assignment.room, assignment.incarnation);
    let pieces = split_off_pieces(&mut resume.saved).into_iter();
    let pieces = pieces.map(|piece| WorldOrder::RoomPiece { room, incarnation, piece });
    let open = WorldOrder::OpenRoom(assignment, Some(resume));
    pieces.chain([open]).map(WorldToHost::from).collect()
}

/// Without regard to its length: see [`messages_of_order`].
impl From<WorldOrder> for WorldToHost {
    fn from(order: WorldOrder) -> Self {
        Self { body: Some(body_of(order)) }
    }
}

fn body_of(order: WorldOrder) -> Body {
    match order {
        WorldOrder::Configure(settings) => Body::Configure(configure(settings)),
        WorldOrder::RoomPiece { room, incarnation, piece } => {
            let (state, ticks) = (piece.snapshot.state, ticks(piece.journal));
            Body::RoomPiece(pb::RoomPiece { room: room.0, incarnation, state, ticks })
        }
        WorldOrder::OpenRoom(assignment, resume) => Body::OpenRoom(open_room(assignment, resume)),
        WorldOrder::CloseRoom { room, reason } => {
            Body::CloseRoom(pb::CloseRoom { room: room.0, reason: reason.into() })
        }
        WorldOrder::RoomTaken(room) => Body::RoomTaken(pb::RoomTaken { room: room.0 }),
        WorldOrder::Room(room, order) => body_of_room(room.0, order),
        WorldOrder::AcknowledgeHeartbeat { number, lease } => {
            let lease_ms = whole_ms(lease);
            Body::AcknowledgeHeartbeat(pb::AcknowledgeHeartbeat { number, lease_ms })
        }
        WorldOrder::AcknowledgeJournal(serial) => {
            Body::AcknowledgeJournal(pb::AcknowledgeJournal { serial })
        }
        WorldOrder::Drain => Body::Drain(pb::Drain {}),
        WorldOrder::HandOver => Body::HandOver(pb::HandOver {}),
    }
}

fn body_of_room(room: u64, order: RoomOrder) -> Body {
    match order {
        RoomOrder::RemovePlayer { player, reason, revoked_until } => {
            Body::RemovePlayer(pb::RemovePlayer {
                room,
                player: player.0,
                reason: reason.into(),
                void_tickets_until: revoked_until,
            })
        }
        RoomOrder::SyncMembers { members, revoked_until } => Body::SyncMembers(pb::SyncMembers {
            room,
            members: Some(members_message(members)),
            void_tickets_until: revoked_until,
        }),
        RoomOrder::ExpectPlayers(players) => {
            let players = players.into_iter().map(|player| player.0).collect();
            Body::ExpectPlayers(pb::ExpectPlayers { room, players })
        }
        RoomOrder::RenamePlayer { player, name } => {
            Body::RenamePlayer(pb::RenamePlayer { room, player: player.0, name })
        }
        RoomOrder::ReleaseForTransfer { player, transfer } => {
            let number = transfer.0;
            Body::ReleaseForTransfer(pb::ReleaseForTransfer { room, player: player.0, number })
        }
        RoomOrder::RefuseTransfer(player) => {
            Body::RefuseTransfer(pb::RefuseTransfer { room, player: player.0 })
        }
        RoomOrder::AdmitTransfer(arrival) => Body::Admit(admit(room, arrival)),
        RoomOrder::MapShare { map, share } => Body::MapShare(pb::MapShare { room, share, map }),
        RoomOrder::Stored { number, answer } => Body::Stored(stored(room, number, answer)),
        RoomOrder::Ask { number, question } => {
            Body::AskRoom(pb::AskRoom { room, number, question })
        }
        RoomOrder::Move => Body::MoveRoom(pb::MoveRoom { room }),
    }
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

fn configure(settings: HostSettings) -> pb::Configure {
    let HostSettings { version, ticket_key, grace_ms, saves_rooms, lease, silence } = settings;
    let (lease_ms, silence_ms) = (whole_ms(lease), whole_ms(silence));
    pb::Configure { version, ticket_key, grace_ms, saves_rooms, lease_ms, silence_ms }
}

/// A longer time is sent as the longest.
fn whole_ms(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
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

fn open_room(order: RoomAssignment, resume: Option<RoomResume>) -> pb::OpenRoom {
    let RoomAssignment { room, game, parameters, seed, capacity, incarnation } = order;
    let resume = resume.map(resume_message);
    pb::OpenRoom { room: room.0, game, parameters, seed, capacity, resume, incarnation }
}

fn resume(resume: pb::Resume) -> RoomResume {
    RoomResume {
        saved: saved_room(resume.state, resume.ticks),
        now: GameTime::from_micros(resume.now_us),
        members: resume.members.map(members),
    }
}

fn resume_message(resume: RoomResume) -> pb::Resume {
    let RoomResume { saved, now, members } = resume;
    pb::Resume {
        state: saved.snapshot.state,
        ticks: ticks(saved.journal),
        now_us: now.micros(),
        members: members.map(members_message),
    }
}

fn saved_room(state: Vec<u8>, ticks: Vec<pb::RoomTick>) -> SavedRoom {
    let entry = |tick: pb::RoomTick| JournalEntry {
        at: GameTime::from_micros(tick.at_us),
        inputs: tick.inputs,
    };
    SavedRoom {
        snapshot: RoomSnapshot { at: GameTime::default(), state },
        journal: ticks.into_iter().map(entry).collect(),
    }
}

fn ticks(journal: Vec<JournalEntry>) -> Vec<pb::RoomTick> {
    let tick = |entry: JournalEntry| pb::RoomTick {
        at_us: entry.at.micros(),
        inputs: entry.inputs,
        ..pb::RoomTick::default()
    };
    journal.into_iter().map(tick).collect()
}

fn members(members: pb::Members) -> Vec<RoomMember> {
    let member =
        |member: pb::Member| RoomMember { player: PlayerId(member.player), name: member.name };
    members.members.into_iter().map(member).collect()
}

fn members_message(members: Vec<RoomMember>) -> pb::Members {
    let member = |member: RoomMember| pb::Member { player: member.player.0, name: member.name };
    pb::Members { members: members.into_iter().map(member).collect() }
}

fn arrival(order: pb::Admit) -> TransferArrival {
    TransferArrival {
        player: PlayerId(order.player),
        transfer: TransferId(order.number),
        name: order.name,
        account: AccountId::from_bytes(&order.account),
        standing: Standing::from_bits(order.standing).in_party(order.party),
        at: Position::on_ground(order.x, order.y),
        carried: order.carried,
    }
}

fn admit(room: u64, arrival: TransferArrival) -> pb::Admit {
    let TransferArrival { player, transfer, name, account, standing, at, carried } = arrival;
    pb::Admit {
        room,
        player: player.0,
        number: transfer.0,
        name,
        x: at.x,
        y: at.y,
        carried,
        account: AccountId::to_bytes(account),
        standing: standing.bits(),
        party: standing.party.map_or(0, |party| party.0),
    }
}
