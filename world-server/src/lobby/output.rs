//! What a lobby wants done.
//!
//! The shell polls until it is empty, after each call. Between two polls the queue is bounded by
//! what one call can cause: a few messages for each player.

use std::collections::VecDeque;

use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::host::{OpenRoom, WorldToHost, world_to_host};
use ambit_proto::control::world::{Goodbye, WorldToClient, world_to_client::Body};
use ambit_proto::ids::RoomId;

use super::records::RecordKey;
use super::refusal::LobbyRefusal;

/// One lobby connection. The shell numbers them and never uses a number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// One process (or thread) that hosts rooms. The shell numbers them and never uses a number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u64);

/// Whom an answer goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestSource {
    pub(super) conn: ConnId,
    pub(super) request: u64,
}

/// What the shell is to carry out, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum LobbyAction {
    /// A message for one connection.
    Send {
        /// To whom.
        conn: ConnId,
        /// What.
        message: WorldToClient,
    },
    /// The same message for many connections: to be encoded once.
    Broadcast {
        /// To whom; each once.
        conns: Vec<ConnId>,
        /// What.
        message: WorldToClient,
    },
    /// Close the connection once what was sent before is written, within a bound;
    /// `handle_disconnect` is due when it is closed. A connection that `handle_connect` refuses is
    /// closed with this alone: nothing was sent.
    Close {
        /// Which one.
        conn: ConnId,
        /// Goes into QUIC's application error code.
        code: ErrorCode,
        /// Goes into QUIC's reason.
        message: String,
    },
    /// A message for a host. An `OpenRoom` with a `Resume` wants what was kept of the room filled
    /// in.
    Host {
        /// To whom.
        host: HostId,
        /// What.
        message: WorldToHost,
    },
    /// Cut the link to a host that has fallen silent, and kill it if it is a child;
    /// `handle_host_lost` is due as ever.
    DisconnectHost {
        /// Which one.
        host: HostId,
    },
    /// A room seems to kill its hosts: keep what is known of it, as the next host would get it, for
    /// people to look at.
    SaveCondemned {
        /// What the next host would be told, with a `Resume` that wants what was kept of the room
        /// filled in.
        order: OpenRoom,
    },
    /// Forget what hosts have said of a room: it is gone.
    ForgetRoom {
        /// Which one.
        room: RoomId,
    },
    /// The host runs the room, as another WorldServer had it: what it says of the room is to be
    /// kept.
    AdoptRoom {
        /// Which room.
        room: RoomId,
        /// Where it runs.
        host: HostId,
    },
    /// Write to the directory. What was put out before in the same call confirms it; so does no
    /// call after it.
    Record {
        /// What it is of.
        key: RecordKey,
        /// All that is known of that; `Unchanged` when it is gone.
        value: Option<Vec<u8>>,
    },
    /// Keep so many children: start those that are missing; those too many were told to end.
    SetChildCount(u32),
}

/// Outputs that wait to be polled.
#[derive(Debug, Default)]
pub(super) struct OutputQueue(VecDeque<LobbyAction>);

/// Where in the queue an answer belongs: before the news that the request causes.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerPosition(usize);

impl OutputQueue {
    pub(super) fn poll(&mut self) -> Option<LobbyAction> {
        self.0.pop_front()
    }

    /// The end of the queue as it is now. Good until the next poll.
    pub(super) fn position(&self) -> AnswerPosition {
        AnswerPosition(self.0.len())
    }

    /// Puts the answer to a request where `place` was taken.
    pub(super) fn answer_at(
        &mut self,
        place: AnswerPosition,
        conn: ConnId,
        request: u64,
        body: Body,
    ) {
        let message = WorldToClient {
            request,
            body: Some(body),
        };
        self.0.insert(place.0, LobbyAction::Send { conn, message });
    }

    pub(super) fn answer(&mut self, conn: ConnId, request: u64, body: Body) {
        self.answer_at(self.position(), conn, request, body);
    }

    pub(super) fn notify(&mut self, conn: ConnId, body: Body) {
        self.answer(conn, 0, body);
    }

    /// News for all of `conns`.
    pub(super) fn broadcast(&mut self, conns: Vec<ConnId>, body: Body) {
        match conns[..] {
            [] => {}
            [conn] => self.notify(conn, body),
            _ => self.0.push_back(LobbyAction::Broadcast {
                conns,
                message: WorldToClient {
                    request: 0,
                    body: Some(body),
                },
            }),
        }
    }

    /// Says goodbye and closes.
    pub(super) fn send_goodbye(&mut self, conn: ConnId, refusal: LobbyRefusal) {
        let goodbye = Goodbye {
            code: refusal.code.into(),
            message: refusal.message.clone(),
        };
        self.notify(conn, Body::Goodbye(goodbye));
        self.close(conn, refusal);
    }

    pub(super) fn close(&mut self, conn: ConnId, refusal: LobbyRefusal) {
        self.0.push_back(LobbyAction::Close {
            conn,
            code: refusal.code,
            message: refusal.message,
        });
    }

    pub(super) fn push(&mut self, output: LobbyAction) {
        self.0.push_back(output);
    }

    pub(super) fn send_to_host(&mut self, host: HostId, body: world_to_host::Body) {
        self.0.push_back(LobbyAction::Host {
            host,
            message: WorldToHost { body: Some(body) },
        });
    }
}

/// A refusal as an answer.
pub(super) fn error_body(refusal: LobbyRefusal) -> Body {
    Body::Error(codes::error(refusal.code, refusal.message))
}
