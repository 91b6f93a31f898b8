//! The door: from a packet that asks for a connection to a connection with its protocol.
//!
//! Bounded in number, for all together and for each address, and in time: a handshake costs a
//! signature, so that whoever only begins them must not keep others out. Above half of a bound an
//! address has to prove itself first (QUIC's retry), so that nobody fills another one's share from
//! a forged address; above the bound new ones are refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_proto::quic;
use quinn::{Connection, Endpoint, Incoming};

use crate::places::{Full, Place, Places};

/// Handshakes under way. One takes about half a millisecond of work and one round trip.
const HANDSHAKES: usize = 2_048;

/// Those of one address: as many as bots on one machine, or players behind one router, begin at a
/// time.
const HANDSHAKES_PER_ADDRESS: usize = 512;

/// How long a handshake may take: four round trips on a bad line with two losses.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// What happened at the door, since the start.
#[derive(Debug, Default)]
pub struct DoorCounters {
    /// Refused since too many were under way.
    pub refused: AtomicU64,
    /// Refused since too many from the same address were under way.
    pub refused_address: AtomicU64,
    /// Given up by either side, or too slow.
    pub failed: AtomicU64,
}

impl DoorCounters {
    /// Their names as drops, `queue/reason`, and their values.
    pub fn drops(&self) -> [(&'static str, u64); 3] {
        [
            ("handshakes/full", self.refused.load(Relaxed)),
            (
                "handshakes/address_full",
                self.refused_address.load(Relaxed),
            ),
            ("handshakes/failed", self.failed.load(Relaxed)),
        ]
    }

    fn refuse(&self, why: Full) {
        let counter = match why {
            Full::Places => &self.refused,
            Full::Share => &self.refused_address,
        };
        counter.fetch_add(1, Relaxed);
    }
}

/// Takes connections until the endpoint is closed; each is handed to `serve` with its protocol
/// (ALPN), in a task of its own.
pub async fn accept<F, S>(endpoint: Endpoint, counters: Arc<DoorCounters>, serve: F)
where
    F: Fn(Connection, Vec<u8>) -> S + Clone + Send + 'static,
    S: Future<Output = ()> + Send + 'static,
{
    let places = Places::new(HANDSHAKES, HANDSHAKES_PER_ADDRESS);
    while let Some(incoming) = endpoint.accept().await {
        match places.take(incoming.remote_address().ip()) {
            Err(full) => {
                counters.refuse(full);
                incoming.refuse();
            }
            // The client comes again at once with a proof of its address; an error means that it is
            // gone.
            Ok(place) if place.crowded() && incoming.may_retry() => {
                let _ = incoming.retry();
            }
            Ok(place) => {
                tokio::spawn(admit(incoming, place, Arc::clone(&counters), serve.clone()));
            }
        }
    }
}

async fn admit<F, S>(incoming: Incoming, place: Place, counters: Arc<DoorCounters>, serve: F)
where
    F: Fn(Connection, Vec<u8>) -> S,
    S: Future<Output = ()>,
{
    let remote = incoming.remote_address();
    let handshake = tokio::time::timeout(HANDSHAKE_WITHIN, incoming).await;
    drop(place);
    match handshake {
        Ok(Ok(connection)) => {
            let alpn = quic::negotiated_alpn(&connection).unwrap_or_default();
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
