//! A connection that a server has accepted: of a program, by one of our protocols over QUIC, or of
//! a browser, by WebTransport.
//!
//! Both give their server the same: a stream that the client opens, datagrams, and an end with a
//! code and a reason. Between servers and hosts only QUIC is used
//! ([`PlayerConnection::into_quic`]).

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use ambit_proto::codes::ErrorCode;
use bytes::Bytes;
use quinn_proto::{ConnectionError, VarInt};

use ambit_transport::quic::{ALPN_GAME, ALPN_WEB, ALPN_WORLD};

use crate::driver::{
    DatagramBatch, DatagramSink, DrivenConnection, LineFigures, RecvStream, SendStream,
};
use crate::web_transport::{WebError, WebSession};

/// Where browsers ask for a session, and the protocol that they speak in it.
const WEB_PATHS: [(&str, &[u8]); 2] =
    [("/ambit-world/1", ALPN_WORLD), ("/ambit-game/1", ALPN_GAME)];

/// The code with which a page ends its session when the player quits. It is not 0: with that a
/// browser ends sessions by itself, such as those of a page that it freezes or discards.
pub const PAGE_QUITS: u32 = 2;

/// A player's connection; see the module.
#[derive(Clone, Debug)]
pub struct PlayerConnection {
    quic: DrivenConnection,
    web: Option<Arc<WebSession>>,
}

impl From<DrivenConnection> for PlayerConnection {
    fn from(quic: DrivenConnection) -> Self {
        Self { quic, web: None }
    }
}

impl PlayerConnection {
    /// Takes a connection after its handshake, and finds its protocol. For a browser's this waits
    /// for its session.
    pub(crate) async fn accept(quic: DrivenConnection) -> Result<(Self, Vec<u8>), WebError> {
        let alpn = quic.protocol().to_vec();
        if alpn != ALPN_WEB {
            return Ok((quic.into(), alpn));
        }
        let (session, path) = WebSession::accept(&quic, &WEB_PATHS.map(|(path, _)| path)).await?;
        let connection = Self { quic, web: Some(session) };
        Ok((connection, WEB_PATHS[path].1.to_vec()))
    }

    /// The QUIC connection below, for a protocol that no browser speaks.
    pub fn into_quic(self) -> DrivenConnection {
        self.quic
    }

    pub fn remote_address(&self) -> SocketAddr {
        self.quic.remote_address()
    }

    /// The next stream that the client opens.
    pub async fn accept_bi(&self) -> io::Result<(SendStream, RecvStream)> {
        match &self.web {
            None => Ok(self.quic.accept_bi().await?),
            Some(session) => session.accept_bi(&self.quic).await,
        }
    }

    /// The next datagram of the client; `None` once either end has closed the connection.
    pub async fn read_datagram(&self) -> Option<Bytes> {
        let Some(session) = &self.web else {
            return self.quic.read_datagram().await.ok();
        };
        loop {
            let datagram = tokio::select! {
                Ok(datagram) = self.quic.read_datagram() => datagram,
                () = session.ended() => return None,
            };
            if let Some(datagram) = session.unwrap_datagram(datagram) {
                return Some(datagram);
            }
        }
    }

    /// From now on `sink` takes the client's datagrams, until the connection has ended.
    pub fn give_datagrams_to(&self, mut sink: DatagramSink) {
        self.quic.give_datagrams_to(match self.web.clone() {
            None => sink,
            Some(session) => Box::new(move |now, datagram| {
                if let Some(datagram) = session.unwrap_datagram(datagram) {
                    sink(now, datagram);
                }
            }),
        });
    }

    /// From now on the client's datagrams are dropped; QUIC acknowledges them.
    pub fn discard_datagrams(&self) {
        self.quic.give_datagrams_to(Box::new(|_, _| ()));
    }

    /// Adds a datagram for the client to a batch.
    pub fn put_datagram(&self, batch: &mut DatagramBatch, datagram: Bytes) {
        match &self.web {
            None => batch.put(&self.quic, datagram),
            Some(session) => batch.put(&self.quic, session.wrap_datagram(&datagram)),
        }
    }

    /// The longest datagram that can be sent; `None` if the client takes none.
    pub fn max_datagram_size(&self) -> Option<usize> {
        let largest = self.quic.max_datagram_size()?;
        Some(largest.saturating_sub(self.datagram_overhead()))
    }

    /// How the network treats the connection.
    pub fn line(&self) -> LineFigures {
        self.quic.line()
    }

    fn datagram_overhead(&self) -> usize {
        self.web.as_ref().map_or(0, |session| session.overhead())
    }

    /// Closes at once: nothing is sent any more but the code and the reason.
    pub fn close(&self, code: ErrorCode, reason: &str) {
        self.close_with(code as u32, reason);
    }

    /// The same, by the number of a code.
    pub fn close_with(&self, code: u32, reason: &str) {
        match &self.web {
            None => self.quic.close(VarInt::from_u32(code), reason.as_bytes()),
            Some(session) => session.close(code, reason),
        }
    }

    /// Waits until either end has closed the connection, or it is lost.
    pub async fn closed(&self) {
        match &self.web {
            None => drop(self.quic.closed().await),
            // Not for the connection: only the session knows whether the player has quit.
            Some(session) => session.ended().await,
        }
    }

    pub fn is_closed(&self) -> bool {
        let session_ended = self.web.as_ref().is_some_and(|session| session.has_ended());
        session_ended || self.quic.close_reason().is_some()
    }

    /// Whether the client has closed the connection on purpose: with the code 0, a page with
    /// [`PAGE_QUITS`]. Of a browser this is known after [`Self::closed`].
    pub fn has_quit(&self) -> bool {
        match &self.web {
            None => matches!(
                self.quic.close_reason(),
                Some(ConnectionError::ApplicationClosed(close))
                    if close.error_code == VarInt::from_u32(0)
            ),
            Some(session) => session.browser_code() == Some(PAGE_QUITS),
        }
    }
}

#[cfg(test)]
mod tests;
