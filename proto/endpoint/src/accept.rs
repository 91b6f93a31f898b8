//! From a packet that asks for a connection to a connection with its protocol. Of a browser, the
//! session that it asks for is a part of the handshake.
//!
//! Handshakes are bounded in number, for all together and for each address, and in time: a
//! handshake costs a signature, and a peer that only begins them must not keep others out. Above
//! half of a bound an address has to be validated first (QUIC's retry), so that no peer fills
//! another one's share from a forged address. Above the bound new handshakes are refused.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use ambit_transport::acceptance_limits::{AcceptanceLimits, AcceptancePermit, LimitReached};
use quinn_proto::{ConnectionError, EndpointConfig, ServerConfig};
use tokio::runtime::Handle;

use crate::driver::{DrivenConnection, Reception, ServerEndpoint, Turned};
use crate::endpoint_core::{AskingPeer, HANDSHAKE_WITHIN};
use crate::player_connection::PlayerConnection;
use crate::wire_bytes::WireBytes;

/// Handshakes under way. One takes about half a millisecond of work and one round trip.
const HANDSHAKES: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const HANDSHAKES_PER_ADDRESS: usize = 512;

/// What endpoints have counted since the start: handshakes that led to no connection, and bytes.
#[derive(Debug, Default)]
pub struct EndpointCounters {
    /// Refused since too many were under way.
    pub refused: AtomicU64,
    /// Refused since too many from the same address were under way.
    pub refused_address: AtomicU64,
    /// Given up by either side, or too slow.
    pub failed: AtomicU64,
    /// Of all endpoints together.
    wire: Mutex<WireBytes>,
}

impl EndpointCounters {
    /// What has left and arrived on the wire.
    pub fn wire(&self) -> WireBytes {
        *self.wire.lock().expect("no panic while it is held")
    }

    /// Their names as drops, `queue/reason`, and their values.
    pub fn drops(&self) -> [(&'static str, u64); 3] {
        [
            ("handshakes/full", self.refused.load(Relaxed)),
            ("handshakes/address_full", self.refused_address.load(Relaxed)),
            ("handshakes/failed", self.failed.load(Relaxed)),
        ]
    }

    fn count_refusal(&self, limit: LimitReached) {
        let counter = match limit {
            LimitReached::Total => &self.refused,
            LimitReached::Share => &self.refused_address,
        };
        counter.fetch_add(1, Relaxed);
    }
}

/// Serves the connections that come to a socket, each by `serve` with its protocol (the name by
/// ALPN), in a task of its own. The endpoint's thread calls `begin` first. Has to be called within
/// a tokio runtime.
pub fn listen<F, S>(
    socket: UdpSocket,
    config: EndpointConfig,
    server: ServerConfig,
    counters: Arc<EndpointCounters>,
    begin: impl FnOnce() + Send + 'static,
    serve: F,
) -> io::Result<ServerEndpoint>
where
    F: Fn(PlayerConnection, Vec<u8>) -> S + Clone + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let limits = AcceptanceLimits::new(HANDSHAKES, HANDSHAKES_PER_ADDRESS);
    let runtime = Handle::current();
    let noted = WireBytes::default();
    let begin: BeginThread = Some(Box::new(begin));
    let acceptance = Acceptance { limits, counters, noted, begin, serve, runtime };
    ServerEndpoint::start(socket, config, server, acceptance)
}

type BeginThread = Option<Box<dyn FnOnce() + Send>>;

struct Acceptance<F> {
    limits: AcceptanceLimits,
    counters: Arc<EndpointCounters>,
    /// What of this endpoint is in the counters.
    noted: WireBytes,
    begin: BeginThread,
    serve: F,
    runtime: Handle,
}

impl<F, S> Reception for Acceptance<F>
where
    F: Fn(PlayerConnection, Vec<u8>) -> S + Clone + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    type Permit = AcceptancePermit;

    fn begin(&mut self) {
        if let Some(begin) = self.begin.take() {
            begin();
        }
    }

    fn admit(&mut self, peer: AskingPeer) -> Result<AcceptancePermit, Turned> {
        match self.limits.take(peer.address.ip()) {
            Err(limit) => {
                self.counters.count_refusal(limit);
                Err(Turned::Away)
            }
            // The client tries again at once with a token for its address.
            Ok(permit) if permit.is_crowded() && peer.may_retry => Err(Turned::Back),
            Ok(permit) => Ok(permit),
        }
    }

    fn serve(&mut self, connection: DrivenConnection, permit: AcceptancePermit) {
        let counters = Arc::clone(&self.counters);
        self.runtime.spawn(find_protocol(connection, permit, counters, self.serve.clone()));
    }

    fn note_failed(&mut self, peer: SocketAddr, error: &ConnectionError) {
        self.counters.failed.fetch_add(1, Relaxed);
        tracing::debug!(remote = %peer, "handshake failed: {error}");
    }

    fn note_wire(&mut self, wire: &WireBytes) {
        let noted = std::mem::replace(&mut self.noted, *wire);
        self.counters.wire.lock().expect("no panic while it is held").advance(&noted, wire);
    }
}

async fn find_protocol<F, S>(
    connection: DrivenConnection,
    permit: AcceptancePermit,
    counters: Arc<EndpointCounters>,
    serve: F,
) where
    F: Fn(PlayerConnection, Vec<u8>) -> S,
    S: Future<Output = ()>,
{
    let remote = connection.remote_address();
    let accepted = PlayerConnection::accept(connection);
    let connected = tokio::time::timeout(HANDSHAKE_WITHIN, accepted).await;
    drop(permit);
    match connected {
        Ok(Ok((connection, protocol))) => serve(connection, protocol).await,
        Ok(Err(error)) => {
            counters.failed.fetch_add(1, Relaxed);
            tracing::debug!(%remote, "handshake failed: {error}");
        }
        Err(_) => {
            counters.failed.fetch_add(1, Relaxed);
            tracing::debug!(%remote, "handshake not finished in time");
        }
    }
}
