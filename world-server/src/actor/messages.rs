//! The messages of the lobby's actor: from sessions, hosts and the server.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use ambit_host::protocol::messages::WorldToHost;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::Servers;
use ambit_proto::ids::RoomId;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::LobbyClock;
use crate::admin::snapshot::Snapshot;
use crate::client_connection::ClientConnection;
use crate::cluster::store::WriteProgress;
use crate::hosts::heard_hosts::HeardHosts;
use crate::hosts::room_checkpoints::RoomCheckpoints;
use crate::lobby::{ConnId, HostId, HostReport, MissedNews, Origin};
use crate::outgoing::OutgoingQueue;

/// A client has connected.
#[derive(Message)]
#[rtype(result = "ConnId")]
pub(crate) struct Connect {
    pub(crate) connection: ClientConnection,
    /// What the client is sent.
    pub(crate) queue: Arc<OutgoingQueue>,
}

/// A client has sent a frame. The answer is how long to wait before the next is read.
#[derive(Message)]
#[rtype(result = "Duration")]
pub(crate) struct ClientFrame {
    pub(crate) conn: ConnId,
    pub(crate) frame: Bytes,
}

/// A client has read what waited for it, and has missed news meanwhile.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct CaughtUp {
    pub(crate) conn: ConnId,
    pub(crate) missed: MissedNews,
}

/// A client has sent bytes that are not a valid frame.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Malformed {
    pub(crate) conn: ConnId,
    pub(crate) code: ErrorCode,
}

/// A client has disconnected.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Disconnect {
    pub(crate) conn: ConnId,
    /// Whether the client closed it on purpose.
    pub(crate) quit: bool,
}

/// A host that the lobby knows, and what its messages need beside the lobby.
pub(crate) struct RegisteredHost {
    pub(crate) id: HostId,
    pub(crate) clock: LobbyClock,
    pub(crate) checkpoints: Arc<RoomCheckpoints>,
    pub(crate) heard_hosts: Arc<HeardHosts>,
}

/// A host has connected; its orders go to the sender.
#[derive(Message)]
#[rtype(result = "RegisteredHost")]
pub(crate) struct HostConnected {
    pub(crate) commands: mpsc::Sender<WorldToHost>,
    pub(crate) origin: Origin,
    /// Identifies the process; empty if it cannot reconnect.
    pub(crate) instance: Vec<u8>,
}

/// A host was refused before it got to the lobby.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostRefused;

/// A host has reported something.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostReported(pub(crate) HostId, pub(crate) HostReport);

/// The link to a host has ended; the text is the reason.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostDisconnected(pub(crate) HostId, pub(crate) String);

/// The process of the host with this instance has ended, as its watcher reports.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct HostProcessEnded(pub(crate) Vec<u8>);

/// The server shuts down. The sender is notified once every connection is closed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct StartDrain(pub(crate) oneshot::Sender<()>);

/// The server ends, and the next one goes on with the rooms: nothing of this end is kept, and hosts
/// are disconnected.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct LeaveRooms;

/// Asks for the state that `/metrics` and the page show.
#[derive(Message)]
#[rtype(result = "Box<Snapshot>")]
pub(crate) struct TakeSnapshot;

/// A cluster has stored these rooms; the next store begins after the answer.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct RoomsStored(pub(crate) Vec<RoomId>);

/// The list of the cluster's servers has changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct SetServers(pub(crate) Servers);

/// Directory writes have completed, or the directory's availability has changed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct DirectoryProgress(pub(crate) WriteProgress);
