//! The connection of a client: its own, or one that another WorldServer of the cluster relays.
//!
//! Both look the same to a session: two halves of a stream, a reason when it ends. A relayed one
//! ends by codes on its stream: `STOP_SENDING` carries the code of a close by this server,
//! `RESET_STREAM` that of a close by the client (0: it quit).

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use ambit_proto::codes::{self, ErrorCode};
use quinn::{Connection, ConnectionError, ReadError, RecvStream, SendStream, VarInt};
use tokio::sync::watch;

/// See the module.
#[derive(Clone)]
pub(crate) enum ClientConnection {
    /// The client has connected to this server.
    Direct(Connection),
    /// It has connected to another one.
    RelayedConnection(Arc<RelayedConnection>),
}

/// A stream from another WorldServer.
pub(crate) struct RelayedConnection {
    address: IpAddr,
    streams: Mutex<Option<(SendStream, RecvStream)>>,
    end: watch::Sender<Option<RelayedEnd>>,
}

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RelayedEnd {
    /// By this server.
    ClosedHere(ErrorCode),
    /// The client has quit.
    Quit,
    /// The client, or the server between, is gone.
    Broken,
}

impl ClientConnection {
    pub(crate) fn relayed(address: IpAddr, streams: (SendStream, RecvStream)) -> Self {
        Self::RelayedConnection(Arc::new(RelayedConnection {
            address,
            streams: Mutex::new(Some(streams)),
            end: watch::Sender::new(None),
        }))
    }

    pub(crate) fn address(&self) -> IpAddr {
        match self {
            Self::Direct(connection) => connection.remote_address().ip(),
            Self::RelayedConnection(relayed) => relayed.address,
        }
    }

    /// The client's stream, once it opens it; once.
    pub(crate) async fn streams(&self) -> Option<(SendStream, RecvStream)> {
        match self {
            Self::Direct(connection) => connection.accept_bi().await.ok(),
            Self::RelayedConnection(relayed) => relayed
                .streams
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Direct(connection) => connection.close_reason().is_some(),
            Self::RelayedConnection(relayed) => relayed.end.borrow().is_some(),
        }
    }

    /// Waits for the end, whoever brings it.
    pub(crate) async fn closed(&self) {
        match self {
            Self::Direct(connection) => drop(connection.closed().await),
            Self::RelayedConnection(relayed) => {
                drop(relayed.end.subscribe().wait_for(Option::is_some).await)
            }
        }
    }

    /// Whether the client has ended it on purpose.
    pub(crate) fn has_quit(&self) -> bool {
        match self {
            Self::Direct(connection) => matches!(
                connection.close_reason(),
                Some(ConnectionError::ApplicationClosed(close)) if close.error_code == VarInt::from_u32(0)
            ),
            Self::RelayedConnection(relayed) => *relayed.end.borrow() == Some(RelayedEnd::Quit),
        }
    }

    /// Closes at once: QUIC's application error code is the error code's number. One that is closed
    /// keeps its reason, which quinn would forget: it says whether the client quit.
    pub(crate) fn close(&self, code: ErrorCode, message: &str) {
        if self.is_closed() {
            return;
        }
        tracing::debug!(remote = %self.address(), code = codes::name(code), "closing: {message}");
        match self {
            Self::Direct(connection) => {
                connection.close(VarInt::from_u32(code as u32), message.as_bytes())
            }
            Self::RelayedConnection(relayed) => relayed.set_end(RelayedEnd::ClosedHere(code)),
        }
    }

    /// The client's half of the stream has ended with an error, or by itself (`Unchanged`).
    pub(crate) fn record_end(&self, error: Option<&io::Error>) {
        if let Self::RelayedConnection(relayed) = self {
            let read = error
                .and_then(io::Error::get_ref)
                .and_then(|error| error.downcast_ref::<ReadError>());
            let quit = matches!(read, Some(ReadError::Reset(code)) if *code == VarInt::from_u32(0));
            relayed.set_end(if quit {
                RelayedEnd::Quit
            } else {
                RelayedEnd::Broken
            });
        }
    }

    /// What a stream is to be stopped with when the connection was closed here.
    pub(crate) fn stop_code(&self) -> Option<VarInt> {
        match self {
            Self::Direct(_) => None,
            Self::RelayedConnection(relayed) => match *relayed.end.borrow() {
                Some(RelayedEnd::ClosedHere(code)) => Some(VarInt::from_u32(code as u32)),
                _ => None,
            },
        }
    }

    /// Takes what a client sends to see that the server lives; QUIC has answered it already.
    pub(crate) async fn discard_probes(self) {
        if let Self::Direct(connection) = self {
            while connection.read_datagram().await.is_ok() {}
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
