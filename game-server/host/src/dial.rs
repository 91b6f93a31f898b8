//! The connection to a WorldServer on another machine, dialled again whenever it is lost.
//!
//! The WorldServers of a cluster may be named in any order: one that follows another answers
//! `try_again` and, if it knows it, the leader's address. Meanwhile the rooms go on.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_proto::codes::ErrorCode;
use ambit_transport::key_proof;
use ambit_transport::quic::{
    self, ALPN_HOST, Fingerprint, FingerprintVerifier, PresentedCertificate,
};
use anyhow::{Context as _, bail};
use backon::{BackoffBuilder, ExponentialBuilder};
use quinn::{ApplicationClose, Connection, ConnectionError, Endpoint, TransportErrorCode, VarInt};
use tokio::net::lookup_host;
use tokio_util::sync::CancellationToken;

use crate::host::{HostControl, HostEnding};
use crate::host_link::host_end_over;

/// How long the last messages may take.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
/// How long a WorldServer may take to accept a connection: longer than a few lost packets, shorter
/// than the lease of rooms that wait.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Pauses between attempts, each twice the last one. While rooms wait for a WorldServer, only the
/// first is used.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(10))
    .without_max_times();
/// The answer of a server that does not know the protocol (TLS alert 120,
/// `no_application_protocol`).
const NOT_SPOKEN: u8 = 120;
/// How long a host that is asked to end looks for a WorldServer that takes its rooms, longer than
/// it takes to find a new leader; and how long that one may take to read their state.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(8);

/// The WorldServers to dial, the certificates that are accepted, and the key of `--host-key`.
#[derive(Clone)]
pub(crate) struct WorldAddresses {
    /// HOST:PORT.
    pub(crate) addresses: Vec<String>,
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// Secret.
    pub(crate) key: Vec<u8>,
}

enum DialFailure {
    /// It follows another WorldServer, at this address if it knows it.
    Follows(String),
    /// It did not answer, or not as expected.
    Unreachable(anyhow::Error),
}

/// Serves a WorldServer, and another one after each loss, until `stop`, its `Drain`, or an error
/// that another attempt does not repair.
pub(crate) async fn dial(
    control: &mut HostControl,
    worlds: &WorldAddresses,
    stop: &CancellationToken,
) -> anyhow::Result<HostEnding> {
    let trusted = worlds.fingerprints.clone();
    let verifier = FingerprintVerifier::with_policy(move |_: &str, shown: Fingerprint| {
        trusted.contains(&shown)
    });
    let mut targets = DialTargets::new(&worlds.addresses);
    let mut pauses = PAUSES.build();
    let mut leave_by = None;
    loop {
        if stop.is_cancelled() {
            // The rooms are handed over to the WorldServer that leads, or is about to.
            let leave_by = *leave_by.get_or_insert_with(|| now() + HAND_OVER_WITHIN);
            if now() >= leave_by || !control.has_rooms().await {
                break;
            }
        }
        let address = targets.next();
        match serve_once(control, &address, &verifier, &worlds.key, stop).await {
            Ok(HostEnding::LinkLost) => {
                tracing::warn!(address, "the link to the WorldServer is lost; dialling again");
                pauses = PAUSES.build();
                targets.move_to_end(&address);
            }
            Ok(ended) => return Ok(ended),
            Err(DialFailure::Follows(leader)) => {
                tracing::debug!(address, leader, "this WorldServer follows another one");
                targets.follow_leader(&address, leader);
            }
            Err(DialFailure::Unreachable(error)) => {
                if let Some(PresentedCertificate { fingerprint, is_trusted: false }) =
                    verifier.presented()
                {
                    bail!(
                        "{address} shows the certificate sha256:{fingerprint}, which is not among \
                         those of `--world-cert`"
                    );
                }
                tracing::warn!(address, "cannot reach the WorldServer: {error:#}");
                targets.move_to_end(&address);
            }
        }
        let is_stopping = stop.is_cancelled();
        let pause = pauses.next().expect("pauses have no end");
        let has_rooms = tokio::select! {
            has_rooms = control.wait(pause) => has_rooms,
            () = stop.cancelled(), if !is_stopping => continue,
        };
        if has_rooms {
            pauses = PAUSES.build();
        }
    }
    control.close_rooms().await;
    Ok(HostEnding::LinkLost)
}

/// Connects once, and serves the WorldServer until the link ends.
async fn serve_once(
    control: &mut HostControl,
    address: &str,
    verifier: &Arc<FingerprintVerifier>,
    key: &[u8],
    stop: &CancellationToken,
) -> Result<HostEnding, DialFailure> {
    // Each attempt has a socket of its own, so that nothing of an earlier one disturbs it.
    let (endpoint, connection) =
        match tokio::time::timeout(ANSWER_WITHIN, connect(address, verifier)).await {
            Ok(connected) => connected.map_err(DialFailure::Unreachable)?,
            Err(_) => {
                return Err(DialFailure::Unreachable(anyhow::anyhow!(
                    "no answer within {} s: does it run there, and does the path carry packets of \
                     1,200 bytes both ways?",
                    ANSWER_WITHIN.as_secs()
                )));
            }
        };
    let (output, input) = key_proof::open_as_host(&connection, key)
        .await
        .map_err(|error| DialFailure::Unreachable(error.into()))?;
    tracing::info!(address, "connected to the WorldServer");
    // What the other machine has not acknowledged may be lost with this one.
    let (link, carrying) = host_end_over(input, output, None);
    let mut carrying = tokio::spawn(carrying);
    let ended = control.run(link, stop).await;
    if matches!(ended, HostEnding::LinkLost | HostEnding::Unserved) {
        // Nothing is read any more, and rooms wait for another link. A WorldServer that lives after
        // all must not give them away at once. (Of a closed connection, quinn would forget why.)
        if connection.close_reason().is_none() {
            connection.close(VarInt::from_u32(ErrorCode::TryAgain as u32), b"the host dials again");
        }
        carrying.abort();
    } else if ended == HostEnding::HandedOver {
        // With these messages the rooms go on. A leader that has just begun has more to do than to
        // read them; it closes the connection when it has read all.
        let leaves = async {
            let _ = (&mut carrying).await;
            connection.closed().await
        };
        if tokio::time::timeout(HAND_OVER_WITHIN, leaves).await.is_err() {
            tracing::warn!(
                address,
                "the WorldServer has not read the last state of the rooms within {} s",
                HAND_OVER_WITHIN.as_secs()
            );
        }
    } else {
        let _ = tokio::time::timeout(CLOSE_WITHIN, &mut carrying).await;
    }
    let has_lost = matches!(ended, HostEnding::LinkLost | HostEnding::Unserved);
    let result = match closed_by_world(&connection) {
        Some(close) if is(&close, ErrorCode::BadTicket) => Ok(HostEnding::Refused(format!(
            "the WorldServer at {address} does not take the key of `--host-key`: give this host \
             the same key as the WorldServer, and the same version of the program"
        ))),
        // One that has sent its settings is lost; one that has not follows another.
        Some(close) if is(&close, ErrorCode::TryAgain) && ended == HostEnding::Unserved => {
            Err(DialFailure::Follows(String::from_utf8_lossy(&close.reason).into_owned()))
        }
        // It has no place for a host that has not proved yet that it has the key.
        Some(close) if is(&close, ErrorCode::TooManyConnections) => Err(DialFailure::Unreachable(
            anyhow::anyhow!("{}", String::from_utf8_lossy(&close.reason)),
        )),
        _ if ended == HostEnding::Unserved => Err(DialFailure::Unreachable(anyhow::anyhow!(
            "it has closed the connection before it sent its settings"
        ))),
        _ => Ok(ended),
    };
    endpoint.close(0_u8.into(), b"the host has ended the connection");
    let closing =
        tokio::spawn(async move { tokio::time::timeout(CLOSE_WITHIN, endpoint.wait_idle()).await });
    if !has_lost {
        let _ = closing.await;
    }
    result
}

pub(crate) async fn connect(
    address: &str,
    verifier: &Arc<FingerprintVerifier>,
) -> anyhow::Result<(Endpoint, Connection)> {
    let resolved =
        lookup_host(address).await.with_context(|| format!("cannot resolve {address}"))?;
    let mut last = anyhow::anyhow!("{address} has no address");
    for address in resolved {
        let local: SocketAddr =
            if address.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
        let mut endpoint = Endpoint::client(local)?;
        endpoint.set_default_client_config(quic::client_config(ALPN_HOST, Arc::clone(verifier)));
        match endpoint.connect(address, "ambit")?.await {
            Ok(connection) => return Ok((endpoint, connection)),
            Err(ConnectionError::ConnectionClosed(close))
                if close.error_code == TransportErrorCode::crypto(NOT_SPOKEN) =>
            {
                last = anyhow::anyhow!(
                    "it accepts no hosts there: it was started without `--host-key` or with \
                     `--peer-listen` (then that address is for hosts), or is no WorldServer"
                );
            }
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

fn closed_by_world(connection: &Connection) -> Option<ApplicationClose> {
    match connection.close_reason() {
        Some(ConnectionError::ApplicationClosed(close)) => Some(close),
        _ => None,
    }
}

pub(crate) fn is(close: &ApplicationClose, code: ErrorCode) -> bool {
    close.error_code == VarInt::from_u32(code as u32)
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Which WorldServer to dial next.
#[derive(Debug)]
struct DialTargets {
    addresses: VecDeque<String>,
    /// The leader, as a follower has named it.
    leader: Option<String>,
    /// How often the present one has answered that it follows another, in a row.
    follows: u32,
}

impl DialTargets {
    /// After this number of answers that name another server, the next address is tried: an
    /// election takes less.
    const MOST_FOLLOWS: u32 = 20;

    fn new(addresses: &[String]) -> Self {
        Self { addresses: addresses.iter().cloned().collect(), leader: None, follows: 0 }
    }

    fn next(&mut self) -> String {
        let first = self.addresses.front().cloned().unwrap_or_default();
        self.leader.take().unwrap_or(first)
    }

    /// This one did not answer: the others come first.
    fn move_to_end(&mut self, address: &str) {
        if let Some(at) = self.addresses.iter().position(|known| known == address) {
            let last = self.addresses.remove(at);
            self.addresses.extend(last);
        }
        self.follows = 0;
    }

    /// This one answered, and follows `leader`; empty if it knows none yet.
    fn follow_leader(&mut self, address: &str, leader: String) {
        self.follows += 1;
        if self.follows >= Self::MOST_FOLLOWS {
            return self.move_to_end(address);
        }
        self.leader = Some(leader).filter(|leader| !leader.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_server_is_tried_last_and_a_named_leader_first() {
        let mut targets = DialTargets::new(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(targets.next(), "a");
        targets.move_to_end("a");
        assert_eq!(targets.next(), "b");
        targets.follow_leader("b", "c".to_owned());
        assert_eq!((targets.next(), targets.next()), ("c".to_owned(), "b".to_owned()));
        targets.move_to_end("a");
        assert_eq!(targets.next(), "b", "the order of the other servers does not change");
        for _ in 0..DialTargets::MOST_FOLLOWS {
            targets.follow_leader("b", String::new());
        }
        assert_eq!(
            targets.next(),
            "a",
            "a server that repeatedly names no leader is moved to the end"
        );
    }
}
