//! The way to a WorldServer on another machine, dialled again whenever it is lost.
//!
//! Of a cluster any of its WorldServers may be named: one that follows another says `try_again`
//! and, if it knows it, where that one is. Meanwhile the rooms go on.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ambit_proto::codes::ErrorCode;
use ambit_proto::quic::{self, ALPN_HOST, Fingerprint, FingerprintVerifier, PresentedCertificate};
use anyhow::{Context as _, bail};
use quinn::{ApplicationClose, Connection, ConnectionError, Endpoint, TransportErrorCode, VarInt};
use tokio::net::lookup_host;
use tokio_util::sync::CancellationToken;

use crate::carrier::host_end_over;
use crate::host::{HostControl, HostEnding};

/// How long the last words may take.
const PART_WITHIN: Duration = Duration::from_secs(1);
/// How long a WorldServer may take to answer a call: longer than a few lost packets, shorter than
/// the lease of rooms that wait.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Waits between two rounds of calls: doubled from the first to the last. With rooms that wait, it
/// stays the first.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);
/// What a server says of a protocol that it does not speak (TLS alert 120,
/// `no_application_protocol`).
const NOT_SPOKEN: u8 = 120;
/// How long a host that is asked to end looks for a WorldServer that takes its rooms: longer than
/// it takes to find a new leader.
const HAND_OVER_WITHIN: Duration = Duration::from_secs(8);

/// Where to call, and what has to be shown there.
#[derive(Clone, Debug)]
pub(crate) struct Worlds {
    /// HOST:PORT.
    pub(crate) addresses: Vec<String>,
    pub(crate) fingerprints: Vec<Fingerprint>,
}

/// Why a call led to nothing.
enum Missed {
    /// It answered, but is not the one; perhaps it knows who is.
    Follows(String),
    /// It did not answer, or not well.
    Unreachable(anyhow::Error),
}

/// Serves a WorldServer, again after each loss, until `stop`, its `Drain`, or something that trying
/// again does not mend.
pub(crate) async fn dial(
    control: &mut HostControl,
    worlds: &Worlds,
    stop: &CancellationToken,
) -> anyhow::Result<HostEnding> {
    let trusted = worlds.fingerprints.clone();
    let verifier = FingerprintVerifier::with_policy(move |_: &str, shown: Fingerprint| {
        trusted.contains(&shown)
    });
    let mut calls = Calls::new(&worlds.addresses);
    let mut pause = FIRST_PAUSE;
    let mut leave_by = None;
    loop {
        if stop.is_cancelled() {
            // Whoever leads, or is about to, is given the rooms.
            let leave_by = *leave_by.get_or_insert_with(|| now() + HAND_OVER_WITHIN);
            if !control.has_rooms() || now() >= leave_by {
                break;
            }
        }
        let address = calls.next();
        match serve_once(control, &address, &verifier, stop).await {
            Ok(HostEnding::LinkLost) => {
                tracing::warn!(address, "the link to the WorldServer has ended");
                pause = FIRST_PAUSE;
                calls.again_later(&address);
            }
            Ok(ended) => return Ok(ended),
            Err(Missed::Follows(leader)) => {
                tracing::debug!(address, leader, "this WorldServer follows another one");
                calls.lead_to(&address, leader);
            }
            Err(Missed::Unreachable(error)) => {
                if let Some(PresentedCertificate {
                    fingerprint,
                    is_trusted: false,
                }) = verifier.presented()
                {
                    bail!(
                        "{address} shows the certificate sha256:{fingerprint}, which is not among those of `--world-cert`"
                    );
                }
                tracing::warn!(address, "cannot reach the WorldServer: {error:#}");
                calls.again_later(&address);
            }
        }
        let is_stopping = stop.is_cancelled();
        let has_rooms = tokio::select! {
            has_rooms = control.wait(pause) => has_rooms,
            () = stop.cancelled(), if !is_stopping => continue,
        };
        pause = if has_rooms {
            FIRST_PAUSE
        } else {
            (pause * 2).min(LAST_PAUSE)
        };
    }
    control.close_rooms().await;
    Ok(HostEnding::LinkLost)
}

/// One call, and all that comes of it.
async fn serve_once(
    control: &mut HostControl,
    address: &str,
    verifier: &Arc<FingerprintVerifier>,
    stop: &CancellationToken,
) -> Result<HostEnding, Missed> {
    // Each call has a socket of its own: nothing of an earlier one is in its way.
    let (endpoint, connection) =
        match tokio::time::timeout(ANSWER_WITHIN, call(address, verifier)).await {
            Ok(called) => called.map_err(Missed::Unreachable)?,
            Err(_) => {
                return Err(Missed::Unreachable(anyhow::anyhow!(
                    "no answer within {} s",
                    ANSWER_WITHIN.as_secs()
                )));
            }
        };
    let (output, input) = connection
        .open_bi()
        .await
        .map_err(|error| Missed::Unreachable(error.into()))?;
    tracing::info!(address, "connected to the WorldServer");
    // What the other machine has not confirmed may be lost with this one.
    let (link, carrying) = host_end_over(input, output, None);
    let mut carrying = tokio::spawn(carrying);
    let ended = control.run(link, stop).await;
    if matches!(ended, HostEnding::LinkLost | HostEnding::Unserved) {
        // Nobody reads any more, and rooms wait for another link. One that lives after all is not
        // to give them away at once. (Of a connection that is closed, quinn would forget why.)
        if connection.close_reason().is_none() {
            connection.close(
                VarInt::from_u32(ErrorCode::TryAgain as u32),
                b"the host dials again",
            );
        }
        carrying.abort();
    } else {
        let _ = tokio::time::timeout(PART_WITHIN, &mut carrying).await;
    }
    if ended == HostEnding::HandedOver {
        // The WorldServer closes the connection when it has read all.
        let _ = tokio::time::timeout(PART_WITHIN, connection.closed()).await;
    }
    let has_lost = matches!(ended, HostEnding::LinkLost | HostEnding::Unserved);
    let result = match closed_by_world(&connection) {
        Some(close) if is(&close, ErrorCode::BadTicket) => Ok(HostEnding::Refused(format!(
            "the WorldServer at {address} does not take the key of `--host-key`"
        ))),
        // One that has served and goes is lost; one that never did follows another.
        Some(close) if is(&close, ErrorCode::TryAgain) && ended == HostEnding::Unserved => Err(
            Missed::Follows(String::from_utf8_lossy(&close.reason).into_owned()),
        ),
        _ if ended == HostEnding::Unserved => Err(Missed::Unreachable(anyhow::anyhow!(
            "it has hung up before it asked for anything"
        ))),
        _ => Ok(ended),
    };
    endpoint.close(0_u8.into(), b"the host calls no more");
    let parting =
        tokio::spawn(async move { tokio::time::timeout(PART_WITHIN, endpoint.wait_idle()).await });
    if !has_lost {
        let _ = parting.await;
    }
    result
}

async fn call(
    address: &str,
    verifier: &Arc<FingerprintVerifier>,
) -> anyhow::Result<(Endpoint, Connection)> {
    let resolved = lookup_host(address)
        .await
        .with_context(|| format!("cannot find {address}"))?;
    let mut last = anyhow::anyhow!("{address} stands for no address");
    for address in resolved {
        let local: SocketAddr = if address.is_ipv4() {
            ([0; 4], 0).into()
        } else {
            ([0; 16], 0).into()
        };
        let mut endpoint = Endpoint::client(local)?;
        endpoint.set_default_client_config(quic::client_config(ALPN_HOST, Arc::clone(verifier)));
        match endpoint.connect(address, "ambit")?.await {
            Ok(connection) => return Ok((endpoint, connection)),
            Err(ConnectionError::ConnectionClosed(close))
                if close.error_code == TransportErrorCode::crypto(NOT_SPOKEN) =>
            {
                last = anyhow::anyhow!(
                    "it lets no hosts in: it was started without `--host-key`, or is no WorldServer"
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

fn is(close: &ApplicationClose, code: ErrorCode) -> bool {
    close.error_code == VarInt::from_u32(code as u32)
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}

/// Whom to call next.
#[derive(Debug)]
struct Calls {
    addresses: VecDeque<String>,
    /// Somebody said that this one leads.
    leader: Option<String>,
    /// How often the present one said that it is not the one, in a row.
    follows: u32,
}

impl Calls {
    /// After that often, the next one is asked: the election takes less.
    const PATIENCE: u32 = 20;

    fn new(addresses: &[String]) -> Self {
        Self {
            addresses: addresses.iter().cloned().collect(),
            leader: None,
            follows: 0,
        }
    }

    fn next(&mut self) -> String {
        let first = self.addresses.front().cloned().unwrap_or_default();
        self.leader.take().unwrap_or(first)
    }

    /// That one did not answer: the others first.
    fn again_later(&mut self, address: &str) {
        if let Some(at) = self.addresses.iter().position(|known| known == address) {
            let last = self.addresses.remove(at);
            self.addresses.extend(last);
        }
        self.follows = 0;
    }

    /// That one answered, and follows `leader`, or nobody yet.
    fn lead_to(&mut self, address: &str, leader: String) {
        self.follows += 1;
        if self.follows >= Self::PATIENCE {
            return self.again_later(address);
        }
        self.leader = Some(leader).filter(|leader| !leader.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_called_last_and_who_follows_leads_on() {
        let mut calls = Calls::new(&["a".to_owned(), "b".to_owned()]);
        assert_eq!(calls.next(), "a");
        calls.again_later("a");
        assert_eq!(calls.next(), "b");
        calls.lead_to("b", "c".to_owned());
        assert_eq!(
            (calls.next(), calls.next()),
            ("c".to_owned(), "b".to_owned())
        );
        calls.again_later("a");
        assert_eq!(
            calls.next(),
            "b",
            "one that was not the next one changes nothing for those before it"
        );
        for _ in 0..Calls::PATIENCE {
            calls.lead_to("b", String::new());
        }
        assert_eq!(
            calls.next(),
            "a",
            "one that follows nobody for so long is given up"
        );
    }
}
