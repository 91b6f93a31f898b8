//! The connection of a client: direct, or relayed by another WorldServer of the cluster.
//!
//! Both look the same to a session: two halves of a stream, and a reason when it ends. A relayed
//! one ends by codes on its stream: `STOP_SENDING` carries the code of a close by this server,
//! `RESET_STREAM` that of a close by the client (0: it quit).

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use ambit_endpoint::driver::{LineFigures, RecvStream, SendStream};
use ambit_endpoint::endpoint_core::StreamProblem;
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_proto::codes::{self, ErrorCode};
use parking_lot::Mutex;
use quinn::VarInt;
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
        match self {
            Self::Direct(connection) => Some(connection.line()),
            Self::Relayed(_) => None,
        }
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
                .and_then(|error| error.downcast_ref::<StreamProblem>());
            let quit =
                matches!(read, Some(StreamProblem::ByPeer(code)) if *code == VarInt::from_u32(0));
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

    /// Discards the client's probe datagrams; QUIC has acknowledged them already.
    pub(crate) fn discard_probes(&self) {
        if let Self::Direct(connection) = self {
            connection.discard_datagrams();
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
