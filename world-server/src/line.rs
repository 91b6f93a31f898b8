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
pub(crate) enum ClientLine {
    /// The client has connected to this server.
    Direct(Connection),
    /// It has connected to another one.
    Relayed(Arc<Relayed>),
}

/// A stream from another WorldServer.
pub(crate) struct Relayed {
    address: IpAddr,
    streams: Mutex<Option<(SendStream, RecvStream)>>,
    end: watch::Sender<Option<End>>,
}

/// How a relayed connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// By this server.
    Here(ErrorCode),
    /// The client has quit.
    Quit,
    /// The client, or the server between, is gone.
    Broken,
}

impl ClientLine {
    pub(crate) fn relayed(address: IpAddr, streams: (SendStream, RecvStream)) -> Self {
        Self::Relayed(Arc::new(Relayed {
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

    /// The client's stream, once it opens it; once.
    pub(crate) async fn streams(&self) -> Option<(SendStream, RecvStream)> {
        match self {
            Self::Direct(connection) => connection.accept_bi().await.ok(),
            Self::Relayed(relayed) => relayed
                .streams
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        match self {
            Self::Direct(connection) => connection.close_reason().is_some(),
            Self::Relayed(relayed) => relayed.end.borrow().is_some(),
        }
    }

    /// Waits for the end, whoever brings it.
    pub(crate) async fn closed(&self) {
        match self {
            Self::Direct(connection) => drop(connection.closed().await),
            Self::Relayed(relayed) => drop(relayed.end.subscribe().wait_for(Option::is_some).await),
        }
    }

    /// Whether the client has ended it on purpose.
    pub(crate) fn has_quit(&self) -> bool {
        match self {
            Self::Direct(connection) => matches!(
                connection.close_reason(),
                Some(ConnectionError::ApplicationClosed(close)) if close.error_code == VarInt::from_u32(0)
            ),
            Self::Relayed(relayed) => *relayed.end.borrow() == Some(End::Quit),
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
            Self::Relayed(relayed) => relayed.end(End::Here(code)),
        }
    }

    /// The client's half of the stream has ended with an error, or by itself (`None`).
    pub(crate) fn note_end(&self, error: Option<&io::Error>) {
        if let Self::Relayed(relayed) = self {
            let read = error
                .and_then(io::Error::get_ref)
                .and_then(|error| error.downcast_ref::<ReadError>());
            let quit = matches!(read, Some(ReadError::Reset(code)) if *code == VarInt::from_u32(0));
            relayed.end(if quit { End::Quit } else { End::Broken });
        }
    }

    /// What a stream is to be stopped with when the connection was closed here.
    pub(crate) fn stop_code(&self) -> Option<VarInt> {
        match self {
            Self::Direct(_) => None,
            Self::Relayed(relayed) => match *relayed.end.borrow() {
                Some(End::Here(code)) => Some(VarInt::from_u32(code as u32)),
                _ => None,
            },
        }
    }

    /// Takes what a client sends to see that the server lives; QUIC has answered it already.
    pub(crate) async fn drop_probes(self) {
        if let Self::Direct(connection) = self {
            while connection.read_datagram().await.is_ok() {}
        }
    }
}

impl Relayed {
    fn end(&self, end: End) {
        self.end.send_if_modified(|present| {
            let is_first = present.is_none();
            present.get_or_insert(end);
            is_first
        });
    }
}
