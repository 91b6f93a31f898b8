//! Messages of a host.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot};
use ambit_room::room::TransferId;

use super::pieces::split_off_states;
use super::stats::{stats, stats_message};
use super::stores::{asked_of, store_message};
use crate::generated::{self as pb, HostToWorld, host_to_world::Body};
use crate::messages::{HostMessage, HostReady, RoomHere};

/// What a host says; `None` if it is of a kind that this build does not know, or asks of the store
/// what no store can do.
pub fn host_message_of(message: HostToWorld) -> Option<HostMessage> {
    Some(match message.body? {
        Body::Ready(ready) => HostMessage::Ready(ready_of(ready)),
        Body::RoomOpened(opened) => {
            HostMessage::RoomOpened { room: RoomId(opened.room), error: opened.error }
        }
        Body::RoomClosed(closed) => HostMessage::RoomClosed {
            room: RoomId(closed.room),
            reason: closed.reason(),
            message: closed.message,
        },
        Body::PlayerOut(out) => HostMessage::PlayerOut {
            room: RoomId(out.room),
            player: PlayerId(out.player),
            reason: ErrorCode::try_from(out.reason).unwrap_or(ErrorCode::ServerError),
            message: out.message,
        },
        Body::AtGate(request) => HostMessage::AtGate {
            room: RoomId(request.room),
            player: PlayerId(request.player),
            map: request.map,
            at: Position::on_ground(request.x, request.y),
            from: Position::on_ground(request.from_x, request.from_y),
        },
        Body::Departed(departed) => HostMessage::Departed {
            room: RoomId(departed.room),
            player: PlayerId(departed.player),
            transfer: TransferId(departed.number),
            carried: departed.carried,
        },
        Body::Arrived(arrived) => HostMessage::Arrived {
            room: RoomId(arrived.room),
            player: PlayerId(arrived.player),
            transfer: TransferId(arrived.number),
        },
        Body::Store(asked) => HostMessage::Store(RoomId(asked.room), asked_of(asked)?),
        Body::Share(told) => HostMessage::Share(RoomId(told.room), told.share),
        Body::RoomSaved(saved) => {
            let snapshot =
                RoomSnapshot { at: GameTime::from_micros(saved.at_us), state: saved.state };
            let message =
                if saved.has_more { HostMessage::SnapshotPiece } else { HostMessage::Snapshot };
            message(RoomId(saved.room), snapshot)
        }
        Body::RoomHandedOver(room) => HostMessage::RoomHandedOver(RoomId(room.room)),
        Body::RoomTick(tick) => HostMessage::Journal {
            room: RoomId(tick.room),
            entry: JournalEntry { at: GameTime::from_micros(tick.at_us), inputs: tick.inputs },
            number: tick.serial,
        },
        Body::RoomAnswered(answered) => HostMessage::Answered {
            room: RoomId(answered.room),
            number: answered.number,
            answer: answered.answer,
        },
        Body::Heartbeat(beat) => HostMessage::Heartbeat(beat.number),
        Body::HandingOver(pb::HandingOver {}) => HostMessage::HandingOver,
        Body::Stats(message) => HostMessage::Stats(Box::new(stats(message))),
        Body::ProcessEnded(ended) => HostMessage::ProcessEnded(ended.instance),
    })
}

/// The message of a host, or the messages if it is a snapshot of a large room.
pub fn messages_of(message: HostMessage) -> Vec<HostToWorld> {
    let (room, mut snapshot) = match message {
        HostMessage::Snapshot(room, snapshot) => (room, snapshot),
        message => return vec![message.into()],
    };
    let at = snapshot.at;
    let pieces = split_off_states(&mut snapshot.state).into_iter();
    let pieces = pieces.map(|state| HostMessage::SnapshotPiece(room, RoomSnapshot { at, state }));
    let last = HostMessage::Snapshot(room, snapshot);
    pieces.chain([last]).map(HostToWorld::from).collect()
}

/// Without regard to its length: see [`messages_of`].
impl From<HostMessage> for HostToWorld {
    fn from(message: HostMessage) -> Self {
        Self { body: Some(body_of(message)) }
    }
}

fn body_of(message: HostMessage) -> Body {
    match message {
        HostMessage::Ready(ready) => Body::Ready(ready_message(ready)),
        HostMessage::RoomOpened { room, error } => {
            Body::RoomOpened(pb::RoomOpened { room: room.0, error })
        }
        HostMessage::RoomClosed { room, reason, message } => {
            Body::RoomClosed(pb::RoomClosed { room: room.0, reason: reason.into(), message })
        }
        HostMessage::PlayerOut { room, player, reason, message } => {
            Body::PlayerOut(pb::PlayerOut {
                room: room.0,
                player: player.0,
                reason: reason.into(),
                message,
            })
        }
        HostMessage::AtGate { room, player, map, at, from } => Body::AtGate(pb::AtGate {
            room: room.0,
            player: player.0,
            map,
            x: at.x,
            y: at.y,
            from_x: from.x,
            from_y: from.y,
        }),
        HostMessage::Departed { room, player, transfer, carried } => Body::Departed(pb::Departed {
            room: room.0,
            player: player.0,
            number: transfer.0,
            carried,
        }),
        HostMessage::Arrived { room, player, transfer } => {
            Body::Arrived(pb::Arrived { room: room.0, player: player.0, number: transfer.0 })
        }
        HostMessage::Store(room, asked) => Body::Store(store_message(room.0, asked)),
        HostMessage::Share(room, share) => {
            Body::Share(pb::MapShare { room: room.0, share, map: 0 })
        }
        HostMessage::SnapshotPiece(room, piece) => Body::RoomSaved(room_saved(room, piece, true)),
        HostMessage::Snapshot(room, last) => Body::RoomSaved(room_saved(room, last, false)),
        HostMessage::RoomHandedOver(room) => {
            Body::RoomHandedOver(pb::RoomHandedOver { room: room.0 })
        }
        HostMessage::Journal { room, entry, number } => Body::RoomTick(pb::RoomTick {
            room: room.0,
            at_us: entry.at.micros(),
            inputs: entry.inputs,
            serial: number,
        }),
        HostMessage::Answered { room, number, answer } => {
            Body::RoomAnswered(pb::RoomAnswered { room: room.0, number, answer })
        }
        HostMessage::Heartbeat(number) => Body::Heartbeat(pb::Heartbeat { number }),
        HostMessage::HandingOver => Body::HandingOver(pb::HandingOver {}),
        HostMessage::Stats(stats) => Body::Stats(stats_message(*stats)),
        HostMessage::ProcessEnded(instance) => Body::ProcessEnded(pb::ProcessEnded { instance }),
    }
}

fn room_saved(room: RoomId, piece: RoomSnapshot, has_more: bool) -> pb::RoomSaved {
    pb::RoomSaved { room: room.0, at_us: piece.at.micros(), state: piece.state, has_more }
}

fn ready_of(ready: pb::HostReady) -> HostReady {
    let here =
        |room: pb::RoomHere| RoomHere { room: RoomId(room.room), incarnation: room.incarnation };
    HostReady {
        version: ready.version,
        address: ready.address,
        certificate_sha256: ready.certificate_sha256,
        capacity: ready.capacity,
        label: ready.label,
        cores: ready.cores,
        instance: ready.instance,
        rooms: ready.rooms.into_iter().map(here).collect(),
        build: ready.build,
        ticket_time_unix_s: ready.ticket_time_unix_s,
        process: ready.process,
    }
}

fn ready_message(ready: HostReady) -> pb::HostReady {
    let here = |room: RoomHere| pb::RoomHere { room: room.room.0, incarnation: room.incarnation };
    pb::HostReady {
        version: ready.version,
        address: ready.address,
        certificate_sha256: ready.certificate_sha256,
        capacity: ready.capacity,
        label: ready.label,
        cores: ready.cores,
        instance: ready.instance,
        rooms: ready.rooms.into_iter().map(here).collect(),
        build: ready.build,
        ticket_time_unix_s: ready.ticket_time_unix_s,
        process: ready.process,
    }
}
