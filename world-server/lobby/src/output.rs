//! The lobby's outputs.
//!
//! The shell polls after each call until there is none. Between two polls the queue is bounded by
//! what one call can cause: a few messages for each player.

use std::collections::VecDeque;

use ambit_host_protocol::messages::{RoomOrder, WorldOrder};
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::world::{Done, Goodbye, WorldToClient, world_to_client::Body};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_room::recording::Header;
use ambit_store::RoomRequest;
use ambit_transport::address::SourceNetwork;
use derive_more::Display;

use crate::operator_event::OperatorEvent;
use crate::refusal::LobbyRefusal;
use crate::sessions::account_job::AccountJob;
use crate::store_job::StoreJob;

/// The id of a lobby connection. The shell never uses an id twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// The id of a process (or thread) that hosts rooms. The shell never uses an id twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u64);

/// The key of a record of the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum RecordKey {
    /// The ids that may be in use.
    #[display("ids")]
    Ids,
    #[display("host.{}", _0.0)]
    Host(HostId),
    /// A session.
    #[display("player.{}", _0.0)]
    Player(PlayerId),
    /// A room. Sorted after players, so that its members are restored first.
    #[display("room.{}", _0.0)]
    Room(RoomId),
}

impl std::str::FromStr for RecordKey {
    type Err = UnknownRecordKey;

    fn from_str(text: &str) -> Result<Self, UnknownRecordKey> {
        if text == "ids" {
            return Ok(Self::Ids);
        }
        let (kind, number) = text.split_once('.').ok_or(UnknownRecordKey)?;
        let number = number.parse().map_err(|_| UnknownRecordKey)?;
        match kind {
            "host" => Ok(Self::Host(HostId(number))),
            "room" => Ok(Self::Room(RoomId(number))),
            "player" => Ok(Self::Player(PlayerId(number))),
            _ => Err(UnknownRecordKey),
        }
    }
}

/// Not a key that this build knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a key of the directory")]
pub struct UnknownRecordKey;

/// The connection and the number of a request: where its answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestSource {
    pub(super) conn: ConnId,
    pub(super) request: u64,
}

/// The result of a request that was not refused.
pub(super) enum RequestOutcome {
    Immediate(Body),
    /// Answered later, when a host has responded.
    Deferred,
}

/// The answer to a successful request without a result.
pub(super) const DONE: RequestOutcome = RequestOutcome::Immediate(Body::Done(Done {}));

/// Whose job it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobSource {
    pub conn: ConnId,
    /// The number of the request.
    pub request: u64,
    pub(super) network: SourceNetwork,
}

/// The news that a connection did not get, since its queue was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissedNews {
    /// Whether changes of the list of rooms are among them.
    pub rooms: bool,
    /// Whether changes of the members of its room are among them.
    pub players: bool,
    /// The number of chat messages.
    pub chats: u64,
}

impl MissedNews {
    /// Adds further news.
    pub fn add(&mut self, more: Self) {
        self.rooms |= more.rooms;
        self.players |= more.players;
        self.chats += more.chats;
    }

    /// Whether nothing is missing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// What the shell has to do, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum LobbyAction {
    /// A message for one connection.
    Send { conn: ConnId, message: WorldToClient },
    /// The same message for many connections: encode it once.
    Broadcast {
        /// The receivers; each once.
        conns: Vec<ConnId>,
        message: WorldToClient,
    },
    /// Close the connection once everything sent before is written, within a time limit;
    /// `handle_disconnect` is due when it is closed. A connection that `handle_connect` refuses is
    /// closed with this alone: nothing was sent.
    Close {
        conn: ConnId,
        /// QUIC's application error code.
        code: ErrorCode,
        /// QUIC's reason phrase.
        message: String,
    },
    /// An order to a host. To [`WorldOrder::OpenRoom`] for a room that has run on another host the
    /// shell adds what that host has sent, and the room's time.
    Host { host: HostId, order: WorldOrder },
    /// Do this, then report it with `handle_account`.
    Account { source: JobSource, job: AccountJob },
    /// Do this for a room, then report it with `handle_stored`.
    Store { request: RoomRequest, job: StoreJob },
    /// Close the link to a host that has fallen silent, and kill it if it is a child;
    /// `handle_host_lost` is due as usual.
    DisconnectHost { host: HostId },
    /// A room seems to crash its hosts: save its checkpoint as a recording, for analysis.
    SaveCondemned { header: Header },
    /// A kept room ends that could not go on here: put it aside with its checkpoint before anything
    /// else that comes out of the same call, since another build may be able to read it.
    SetAsideRoom {
        header: Header,
        /// The build that saved it.
        build: String,
        /// For operators.
        why: String,
    },
    /// This restored room is being tried, or none is: note it before anything that follows, so that
    /// the next start knows which room was being tried if this process ends.
    NoteTrial { room: Option<RoomId> },
    /// All restored rooms have run for a moment, or have ended.
    RestoreDone,
    /// Remove the checkpoint of a closed room.
    ForgetRoom { room: RoomId },
    /// A closed room asks this for the last time: try it for some time, and report nothing.
    StoreLast { request: RoomRequest, job: StoreJob },
    /// No request of this room to the store comes again.
    ForgetStoreJobs { lineage: [u8; 16], room: RoomId },
    /// The host runs the room since before this WorldServer led: accept its checkpoints.
    AdoptRoom {
        room: RoomId,
        /// The host that runs it.
        host: HostId,
    },
    /// Write to the directory. Outputs of the same call may confirm this record; outputs of later
    /// calls never do.
    Record {
        key: RecordKey,
        /// The whole record; `None` to remove it.
        value: Option<Vec<u8>>,
    },
    /// Tell operators.
    Report(OperatorEvent),
    /// Keep this number of children: start missing ones; surplus ones have received the order to
    /// end.
    SetChildCount(u32),
}

#[derive(Debug, Default)]
pub(super) struct OutputQueue(VecDeque<LobbyAction>);

/// The position of an answer in the queue: before the events that the request causes.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerPosition(usize);

impl OutputQueue {
    pub(super) fn poll(&mut self) -> Option<LobbyAction> {
        self.0.pop_front()
    }

    /// The current end of the queue. Valid until the next poll.
    pub(super) fn position(&self) -> AnswerPosition {
        AnswerPosition(self.0.len())
    }

    /// Inserts the answer to a request at `place`.
    pub(super) fn answer_at(
        &mut self,
        place: AnswerPosition,
        conn: ConnId,
        request: u64,
        body: Body,
    ) {
        let message = WorldToClient { request, body: Some(body) };
        self.0.insert(place.0, LobbyAction::Send { conn, message });
    }

    pub(super) fn answer(&mut self, conn: ConnId, request: u64, body: Body) {
        self.answer_at(self.position(), conn, request, body);
    }

    pub(super) fn notify(&mut self, conn: ConnId, body: Body) {
        self.answer(conn, 0, body);
    }

    /// Sends an event to all of `conns`.
    pub(super) fn broadcast(&mut self, conns: Vec<ConnId>, body: Body) {
        match conns[..] {
            [] => {}
            [conn] => self.notify(conn, body),
            _ => self.0.push_back(LobbyAction::Broadcast {
                conns,
                message: WorldToClient { request: 0, body: Some(body) },
            }),
        }
    }

    /// Sends a goodbye and closes the connection.
    pub(super) fn send_goodbye(&mut self, conn: ConnId, refusal: LobbyRefusal) {
        let goodbye = Goodbye { code: refusal.code.into(), message: refusal.message.clone() };
        self.notify(conn, Body::Goodbye(goodbye));
        self.close(conn, refusal);
    }

    pub(super) fn close(&mut self, conn: ConnId, refusal: LobbyRefusal) {
        self.0.push_back(LobbyAction::Close { conn, code: refusal.code, message: refusal.message });
    }

    pub(super) fn push(&mut self, output: LobbyAction) {
        self.0.push_back(output);
    }

    pub(super) fn send_to_host(&mut self, host: HostId, order: WorldOrder) {
        self.0.push_back(LobbyAction::Host { host, order });
    }

    /// An order that concerns a room of the host.
    pub(super) fn send_to_room(&mut self, host: HostId, room: RoomId, order: RoomOrder) {
        self.send_to_host(host, WorldOrder::Room(room, order));
    }
}

/// The answer for a refusal.
pub(super) fn error_body(refusal: LobbyRefusal) -> Body {
    Body::Error(codes::error(refusal.code, refusal.message))
}
