//! From a packet that asks for a connection to a connection with its protocol. Of a browser, the
//! session that it asks for is a part of the handshake.
//!
//! Handshakes are bounded in number, for all together and for each address, and in time: a
//! handshake costs a signature, and a peer that only begins them must not keep others out. Above
//! half of a bound an address has to be validated first (QUIC's retry), so that no peer fills
//! another one's share from a forged address. Above the bound new handshakes are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use quinn::{Endpoint, Incoming};

use crate::acceptance_limits::{AcceptanceLimits, AcceptancePermit, LimitReached};
use crate::player_connection::PlayerConnection;

/// Handshakes under way. One takes about half a millisecond of work and one round trip.
const HANDSHAKES: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const HANDSHAKES_PER_ADDRESS: usize = 512;

/// How long a handshake may take: four round trips on a bad path with two losses.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Handshakes that led to no connection, since the start.
#[derive(Debug, Default)]
pub struct AcceptanceCounters {
    /// Refused since too many were under way.
    pub refused: AtomicU64,
    /// Refused since too many from the same address were under way.
    pub refused_address: AtomicU64,
    /// Given up by either side, or too slow.
    pub failed: AtomicU64,
}

impl AcceptanceCounters {
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

/// Takes connections until the endpoint is closed; each is handed to `serve` with its protocol
/// (the name by ALPN), in a task of its own.
pub async fn accept<F, S>(endpoint: Endpoint, counters: Arc<AcceptanceCounters>, serve: F)
where
    F: Fn(PlayerConnection, Vec<u8>) -> S + Clone + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let limits = AcceptanceLimits::new(HANDSHAKES, HANDSHAKES_PER_ADDRESS);
    while let Some(incoming) = endpoint.accept().await {
        match limits.take(incoming.remote_address().ip()) {
            Err(limit) => {
                counters.count_refusal(limit);
                incoming.refuse();
            }
            // The client tries again at once with a token for its address. `retry` fails only
            // without `may_retry`.
            Ok(permit) if permit.is_crowded() && incoming.may_retry() => {
                let _ = incoming.retry();
            }
            Ok(permit) => {
                tokio::spawn(handshake(incoming, permit, Arc::clone(&counters), serve.clone()));
            }
        }
    }
}

async fn handshake<F, S>(
    incoming: Incoming,
    permit: AcceptancePermit,
    counters: Arc<AcceptanceCounters>,
    serve: F,
) where
    F: Fn(PlayerConnection, Vec<u8>) -> S,
    S: Future<Output = ()>,
{
    let remote = incoming.remote_address();
    let connect = async { PlayerConnection::accept(incoming.await?).await };
    let connected = tokio::time::timeout(HANDSHAKE_WITHIN, connect).await;
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
