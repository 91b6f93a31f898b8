//! The door: from a packet that asks for a connection to a connection with its protocol.
//!
//! Bounded in number and in time: a handshake costs a signature, so that whoever only begins them must not keep others
//! out. Above half of the bound an address has to prove itself first (QUIC's retry), above the bound new ones are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_proto::quic;
use quinn::{Connection, Endpoint, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Handshakes under way. One takes about half a millisecond of work and one round trip.
const HANDSHAKES: usize = 512;

/// How long a handshake may take: four round trips on a bad line with two losses.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(5);

/// What happened at the door, since the start.
#[derive(Debug, Default)]
pub struct DoorCounters {
    /// Refused since too many were under way.
    pub refused: AtomicU64,
    /// Given up by either side, or too slow.
    pub failed: AtomicU64,
}

/// Takes connections until the endpoint is closed; each is handed to `serve` with its protocol (ALPN), in a task of its
/// own.
pub async fn accept<F, S>(endpoint: Endpoint, counters: Arc<DoorCounters>, serve: F)
where
    F: Fn(Connection, Vec<u8>) -> S + Clone + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(HANDSHAKES));
    while let Some(incoming) = endpoint.accept().await {
        let free = places.available_permits();
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            counters.refused.fetch_add(1, Relaxed);
            incoming.refuse();
            continue;
        };
        if free < HANDSHAKES / 2 && incoming.may_retry() {
            // The client comes again at once with a proof of its address; an error means that it is gone.
            let _ = incoming.retry();
            continue;
        }
        tokio::spawn(admit(incoming, place, Arc::clone(&counters), serve.clone()));
    }
}

async fn admit<F, S>(incoming: Incoming, place: OwnedSemaphorePermit, counters: Arc<DoorCounters>, serve: F)
where
    F: Fn(Connection, Vec<u8>) -> S,
    S: Future<Output = ()>,
{
    let remote = incoming.remote_address();
    let handshake = tokio::time::timeout(HANDSHAKE_WITHIN, incoming).await;
    drop(place);
    match handshake {
        Ok(Ok(connection)) => {
            let alpn = quic::alpn(&connection).unwrap_or_default();
            serve(connection, alpn).await;
        }
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
