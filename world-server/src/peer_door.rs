//! Connections of hosts and other servers before they have proved that they have the key.
//!
//! Anybody can open such a connection. It gets no work done until its first short message has a
//! valid proof of the key (`KeyProof`), and holds one of [`PLACES`] until then. A new connection
//! that finds no place sheds the oldest one without a proof: of its own address if that has its
//! share, else of all. A proof comes right behind the handshake, so a real host is through the door
//! long before as many strangers have come after it.
//!
//! Bounds: places in all and for one address, the time to prove, and the bytes that are read.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_transport::address::SourceNetwork;
use ambit_transport::key_proof::{HOST, KeyProof, PROOF_BYTES};
use quinn::{Connection, RecvStream, SendStream, VarInt};
use tokio_util::sync::CancellationToken;

/// Connections without a proof, and those from one address.
const PLACES: usize = 64;
const PLACES_OF_ADDRESS: usize = 16;
/// How long a proof may take: two round trips on a bad path with a loss.
const PROOF_TIMEOUT: Duration = Duration::from_secs(2);
/// So many wrong keys are logged each; afterwards only each doubling of their number.
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
#[derive(Clone, Default)]
pub(crate) struct PeerDoor {
    unproven: Arc<Mutex<Unproven<CancellationToken>>>,
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
    pub(crate) fn counters(&self) -> Arc<PeerDoorCounters> {
        Arc::clone(&self.counters)
    }

    /// Waits for the proof of a peer. `None` if there is none in time: then the connection is
    /// closed.
    pub(crate) async fn admit<T>(
        &self,
        connection: &Connection,
        prove: impl Future<Output = Result<T, NoProof>>,
    ) -> Option<T> {
        let remote = connection.remote_address();
        let shed = CancellationToken::new();
        let place = self.take_place(remote.ip(), shed.clone());
        let close = |code: ErrorCode, why: &str| {
            connection.close(VarInt::from_u32(code as u32), why.as_bytes());
        };
        let proved = tokio::select! {
            () = shed.cancelled() => {
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

    fn take_place(&self, address: IpAddr, shed: CancellationToken) -> Place {
        let (number, oldest) = self.lock().add(SourceNetwork::of(address), shed);
        if let Some(oldest) = oldest {
            oldest.cancel();
        }
        Place { door: self.clone(), number }
    }

    fn lock(&self) -> MutexGuard<'_, Unproven<CancellationToken>> {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The streams of a host, once it has proved that it has the key.
pub(crate) async fn host_streams(
    connection: &Connection,
    key: &[u8],
) -> Result<(SendStream, RecvStream), NoProof> {
    let other = |error: &dyn std::fmt::Display| NoProof::Other(error.to_string());
    let (output, mut input) = connection.accept_bi().await.map_err(|error| other(&error))?;
    let mut shown = [0; PROOF_BYTES];
    let read = input.read_exact(&mut shown).await;
    read.map_err(|error| other(&error))?;
    let proof = KeyProof::new(connection, key).ok_or_else(|| other(&"the connection has ended"))?;
    if proof.check(HOST, &shown) { Ok((output, input)) } else { Err(NoProof::WrongKey) }
}

/// A place at the door; given back when dropped.
struct Place {
    door: PeerDoor,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.door.lock().remove(self.number);
    }
}

/// The places that are taken, oldest first, each with what sheds it.
struct Unproven<T> {
    next: u64,
    taken: BTreeMap<u64, (SourceNetwork, T)>,
}

impl<T> Default for Unproven<T> {
    fn default() -> Self {
        Self { next: 0, taken: BTreeMap::new() }
    }
}

impl<T> Unproven<T> {
    /// Takes a place. Returns its number, and what had to make way.
    fn add(&mut self, from: SourceNetwork, place: T) -> (u64, Option<T>) {
        let mut of_address = self.taken.iter().filter(|(_, (network, _))| *network == from);
        let oldest_of_address = of_address.next().map(|(number, _)| *number);
        let has_share = of_address.count() + 1 >= PLACES_OF_ADDRESS;
        let oldest = if has_share {
            oldest_of_address
        } else if self.taken.len() >= PLACES {
            self.taken.keys().next().copied()
        } else {
            None
        };
        let shed = oldest.and_then(|number| self.taken.remove(&number));
        let number = self.next;
        self.next += 1;
        self.taken.insert(number, (from, place));
        (number, shed.map(|(_, place)| place))
    }

    /// Frees a place, unless it was shed.
    fn remove(&mut self, number: u64) {
        self.taken.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_with_its_share_sheds_its_own_oldest_connection() {
        let mut door = Unproven::default();
        let host = door.add(network(1), "host");
        assert_eq!(host.1, None);
        for knock in 0..1_000 {
            let (_, shed) = door.add(network(2), "stranger");
            assert_eq!(shed.is_some(), knock >= PLACES_OF_ADDRESS);
            assert_ne!(shed, Some("host"));
        }
        assert_eq!(door.taken.len(), PLACES_OF_ADDRESS + 1);
        door.remove(host.0);
        assert_eq!(door.taken.len(), PLACES_OF_ADDRESS);
    }

    #[test]
    fn when_all_places_are_taken_the_oldest_connection_is_shed() {
        let mut door = Unproven::default();
        for number in 0..PLACES as u64 {
            assert_eq!(door.add(network(number), number), (number, None));
        }
        for number in 0..1_000 {
            let (_, shed) = door.add(network(1_000 + number), PLACES as u64 + number);
            assert_eq!(shed, Some(number), "a new one always gets a place");
        }
        assert_eq!(door.taken.len(), PLACES);
        door.remove(3);
        assert_eq!(door.taken.len(), PLACES, "it was shed before");
    }

    fn network(number: u64) -> SourceNetwork {
        SourceNetwork::of(IpAddr::from([10, 0, (number >> 8) as u8, number as u8]))
    }
}
