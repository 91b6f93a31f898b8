//! Connections of hosts and other servers before they have proved that they have the key.
//!
//! Anybody can open such a connection. It gets no work done until its first short message has a
//! valid proof of the key (`KeyProof`), and holds one of [`PLACES`] until then. A new connection
//! that finds no place takes that of an older one without a proof ([`ContendedPlaces`]). A proof
//! comes right behind the handshake, so a real host is through the door long before as many
//! strangers have come after it.
//!
//! Bounds: places in all and for one address, the time to prove, and the bytes that are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ambit_endpoint::driver::{DrivenConnection, RecvStream, SendStream};
use ambit_proto::codes::ErrorCode;
use ambit_transport::key_proof::{HOST, KeyProof, LABEL, PROOF_BYTES};
use quinn::VarInt;
use tokio::io::AsyncReadExt as _;

use crate::contended_places::ContendedPlaces;

/// Connections without a proof, and those from one address.
const PLACES: usize = 64;
const PLACES_OF_ADDRESS: usize = 16;
/// How long a proof may take: two round trips on a bad path with a loss.
const PROOF_TIMEOUT: Duration = Duration::from_secs(2);
/// The number of wrong keys that are logged one by one; later only each doubling of their number.
const LOGGED_REFUSALS: u64 = 10;

/// What a peer has shown instead of a proof.
#[derive(Debug)]
pub(crate) enum NoProof {
    /// A wrong proof.
    WrongKey,
    /// Anything else, or nothing.
    Other(String),
}

/// See the module. Copies share the places.
#[derive(Clone)]
pub(crate) struct PeerDoor {
    unproven: ContendedPlaces,
    counters: Arc<PeerDoorCounters>,
}

/// Connections that ended without a proof, since the start.
#[derive(Debug, Default)]
pub(crate) struct PeerDoorCounters {
    /// Shed for a newer one.
    shed: AtomicU64,
    /// Too slow, or gone.
    silent: AtomicU64,
    pub(crate) wrong_key: AtomicU64,
}

impl PeerDoorCounters {
    /// Their names as drops, `queue/reason`, and their values.
    pub(crate) fn drops(&self) -> [(&'static str, u64); 3] {
        [
            ("peer_proofs/shed", self.shed.load(Relaxed)),
            ("peer_proofs/none", self.silent.load(Relaxed)),
            ("peer_proofs/wrong_key", self.wrong_key.load(Relaxed)),
        ]
    }
}

impl PeerDoor {
    pub(crate) fn new() -> Self {
        let unproven = ContendedPlaces::new(PLACES, PLACES_OF_ADDRESS);
        Self { unproven, counters: Arc::default() }
    }

    pub(crate) fn counters(&self) -> Arc<PeerDoorCounters> {
        Arc::clone(&self.counters)
    }

    /// Waits for the proof of a peer. `None` if there is none in time: then the connection is
    /// closed.
    pub(crate) async fn admit<T>(
        &self,
        connection: &DrivenConnection,
        prove: impl Future<Output = Result<T, NoProof>>,
    ) -> Option<T> {
        let remote = connection.remote_address();
        let (place, _) = self.unproven.take(remote.ip());
        let close = |code: ErrorCode, why: &str| {
            connection.close(VarInt::from_u32(code as u32), why.as_bytes());
        };
        let proved = tokio::select! {
            () = place.lost() => {
                self.counters.shed.fetch_add(1, Relaxed);
                close(
                    ErrorCode::TooManyConnections,
                    "too many connections have not proved that they have the key; try again",
                );
                return None;
            }
            proved = tokio::time::timeout(PROOF_TIMEOUT, prove) => proved,
        };
        drop(place);
        match proved {
            Ok(Ok(proved)) => return Some(proved),
            Ok(Err(NoProof::WrongKey)) => {
                let count = self.counters.wrong_key.fetch_add(1, Relaxed) + 1;
                if count <= LOGGED_REFUSALS || count.is_power_of_two() {
                    tracing::warn!(
                        %remote,
                        count,
                        "host or server refused: it does not have the key of `--host-key`, or is \
                         of another version; give it the same key, or block its address"
                    );
                }
                close(ErrorCode::BadTicket, "wrong key");
            }
            Ok(Err(NoProof::Other(why))) => {
                self.counters.silent.fetch_add(1, Relaxed);
                tracing::debug!(%remote, "no proof of the key: {why}");
                close(ErrorCode::Idle, "no proof of the key");
            }
            Err(_) => {
                self.counters.silent.fetch_add(1, Relaxed);
                tracing::debug!(%remote, "no proof of the key in time");
                close(ErrorCode::Idle, "no proof of the key in time");
            }
        }
        None
    }
}

/// The streams of a host, once it has proved that it has the key.
pub(crate) async fn host_streams(
    connection: &DrivenConnection,
    key: &[u8],
) -> Result<(SendStream, RecvStream), NoProof> {
    let other = |error: &dyn std::fmt::Display| NoProof::Other(error.to_string());
    let (output, mut input) = connection.accept_bi().await.map_err(|error| other(&error))?;
    let mut shown = [0; PROOF_BYTES];
    let read = input.read_exact(&mut shown).await;
    read.map_err(|error| other(&error))?;
    let proof = key_proof(connection, key).await;
    let proof = proof.ok_or_else(|| other(&"the connection has ended"))?;
    if proof.check(HOST, &shown) { Ok((output, input)) } else { Err(NoProof::WrongKey) }
}

/// What proofs on this connection are made and checked with; `None` if it has ended.
pub(crate) async fn key_proof(connection: &DrivenConnection, key: &[u8]) -> Option<KeyProof> {
    let binding = connection.keying_material(LABEL).await?;
    Some(KeyProof::with_binding(binding, key))
}
