//! The connection of a client: direct, or relayed by another WorldServer of the cluster.
//!
//! Both look the same to a session: two halves of a stream, and a reason when it ends. A relayed
//! one ends by codes on its stream: `STOP_SENDING` carries the code of a close by this server,
//! `RESET_STREAM` that of a close by the client (0: it quit).

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::codes::{self, ErrorCode};
use ambit_transport::player_connection::PlayerConnection;
use parking_lot::Mutex;
use quinn::{ReadError, RecvStream, SendStream, VarInt};
use tokio::sync::watch;

/// A client's connection; see the module.
#[derive(Clone)]
pub(crate) enum ClientConnection {
    /// The client has connected to this server.
    Direct(PlayerConnection),
    /// The client has connected to another server.
    Relayed(Arc<RelayedConnection>),
}

/// The stream of a client of another WorldServer.
pub(crate) struct RelayedConnection {
    address: IpAddr,
    streams: Mutex<Option<(SendStream, RecvStream)>>,
    end: watch::Sender<Option<RelayedEnd>>,
}

/// How the network treats a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LineFigures {
    pub(crate) round_trip: Duration,
    /// The share of the packets to the client that were lost, from 0 to 1.
    pub(crate) loss: f64,
}

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelayedEnd {
    /// This server closed it.
    ClosedHere(ErrorCode),
    Quit,
    /// The client, or the server in between, was lost.
    Broken,
}

impl ClientConnection {
    pub(crate) fn relayed(address: IpAddr, streams: (SendStream, RecvStream)) -> Self {
        Self::Relayed(Arc::new(RelayedConnection {
            address,
            streams: Mutex::new(Some(streams)),
            end: watch::Sender::new(None),
        }))
    }

    pub(crate) fn address(&self) -> IpAddr {
        match self {
            Self::Direct(connection) => connection.remote_address().ip(),
            Self::Relayed(relayed) => relayed.address,
        }
    }

    /// Only of a client that has connected to this server.
    pub(crate) fn line_figures(&self) -> Option<LineFigures> {
        let Self::Direct(connection) = self else { return None };
        let path = connection.clone().into_quic().stats().path;
        let loss = path.lost_packets as f64 / path.sent_packets.max(1) as f64;
        Some(LineFigures { round_trip: path.rtt, loss })
    }

    /// Waits until the client opens its stream. `None` if the connection ended before, or if the
    /// stream was taken before.
    pub(crate) async fn streams(&self) -> Option<(SendStream, RecvStream)> {
        match self {
            Self::Direct(connection) => connection.accept_bi().await.ok(),
            Self::Relayed(relayed) => relayed.streams.lock().take(),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Direct(connection) => connection.is_closed(),
            Self::Relayed(relayed) => relayed.end.borrow().is_some(),
        }
    }

    /// Waits until either end closes the connection.
    pub(crate) async fn closed(&self) {
        match self {
            Self::Direct(connection) => connection.closed().await,
            Self::Relayed(relayed) => {
                drop(relayed.end.subscribe().wait_for(Option::is_some).await);
            }
        }
    }

    /// Whether the client closed the connection on purpose.
    pub(crate) fn has_quit(&self) -> bool {
        match self {
            Self::Direct(connection) => connection.has_quit(),
            Self::Relayed(relayed) => *relayed.end.borrow() == Some(RelayedEnd::Quit),
        }
    }

    /// Closes at once; the error code becomes QUIC's application error code. A connection that is
    /// closed already keeps its reason, which quinn would overwrite: it says whether the client
    /// quit.
    pub(crate) fn close(&self, code: ErrorCode, message: &str) {
        if self.is_closed() {
            return;
        }
        tracing::debug!(
            remote = %self.address(),
            code = codes::name(code),
            "closing a lobby connection: {message}"
        );
        match self {
            Self::Direct(connection) => connection.close(code, message),
            Self::Relayed(relayed) => relayed.set_end(RelayedEnd::ClosedHere(code)),
        }
    }

    /// Records that the client's half of the stream has ended, with an error or regularly (`None`).
    pub(crate) fn record_end(&self, error: Option<&io::Error>) {
        if let Self::Relayed(relayed) = self {
            let read = error
                .and_then(io::Error::get_ref)
                .and_then(|error| error.downcast_ref::<ReadError>());
            let quit = matches!(read, Some(ReadError::Reset(code)) if *code == VarInt::from_u32(0));
            relayed.set_end(if quit { RelayedEnd::Quit } else { RelayedEnd::Broken });
        }
    }

    /// The code to stop the stream with, if this server closed the connection.
    pub(crate) fn stop_code(&self) -> Option<VarInt> {
        match self {
            Self::Direct(_) => None,
            Self::Relayed(relayed) => match *relayed.end.borrow() {
                Some(RelayedEnd::ClosedHere(code)) => Some(VarInt::from_u32(code as u32)),
                _ => None,
            },
        }
    }

    /// Reads and discards the client's probe datagrams; QUIC has acknowledged them already.
    pub(crate) async fn discard_probes(self) {
        if let Self::Direct(connection) = self {
            while connection.read_datagram().await.is_some() {}
        }
    }
}

impl RelayedConnection {
    fn set_end(&self, end: RelayedEnd) {
        self.end.send_if_modified(|present| {
            let is_first = present.is_none();
            present.get_or_insert(end);
            is_first
        });
    }
}
