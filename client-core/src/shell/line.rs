//! One connection to a lobby or to a host of games, from the call to the end.
//!
//! A task per connection: it calls, opens the control stream, then carries frames both ways;
//! datagrams are read by the client's task itself, which is woken once for each and not twice. What
//! happens is told to the client's task as [`Inward`], with the line's number, by which that one
//! ignores a line it has given up.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::codes;
use ambit_proto::control::game::GameToClient;
use ambit_proto::control::world::{ErrorCode, WorldToClient};
use ambit_proto::frame::{FrameDecoder, MAX_FROM_GAME, MAX_FROM_WORLD};
use ambit_proto::quic::{
    ALPN_GAME, ALPN_WORLD, Fingerprint, FingerprintVerifier, Shown, client_config,
};
use bytes::Bytes;
use prost::Message;
use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::Trust;
use super::sockets::Sockets;
use crate::client::event::codes as own_codes;
use crate::client::lobby::Ending;
use crate::trust::{KnownHosts, Pin, TrustError};

/// Frames that wait to leave. A peer that lets more wait doesn't read: the connection is given up.
pub(super) const FRAMES: usize = 128;
/// How long a call may take. A handshake through a loss of 20 % both ways, at a machine with much
/// else to do, fits into it.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// And where another server can be asked instead.
const SHORT_CALL_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long the last frames may take to leave when a line is closed.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Addresses of one name that are called, at most.
const ADDRESSES: usize = 4;

/// What is at the other end.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    /// A lobby, by the address that the user gave.
    /// Of which others may be asked as well, if it does not answer soon.
    World {
        server: String,
        trust: Trust,
        among_others: bool,
    },
    /// A host of games, by a ticket's address. The lobby's IP address stands in for one that is
    /// unspecified.
    Game {
        address: String,
        certificate: Fingerprint,
        lobby: Option<IpAddr>,
    },
}

/// What a line tells the client's task.
#[derive(Debug)]
pub(super) struct Inward {
    pub(super) line: u64,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Connected(Connection),
    World(WorldToClient),
    Game(GameToClient),
    /// The last.
    Closed(Ending),
}

/// Where a line's task reports to. Full: the line waits, and with it the peer.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    pub(super) line: u64,
    pub(super) sender: mpsc::Sender<Inward>,
}

impl Inbox {
    async fn put(&self, what: What) {
        // The client's task may have ended first.
        let _ = self
            .sender
            .send(Inward {
                line: self.line,
                what,
            })
            .await;
    }
}

/// The life of a line. `frames` are what the client sends; their end closes it.
pub(super) async fn carry(
    peer: Peer,
    sockets: Arc<Sockets>,
    frames: mpsc::Receiver<Bytes>,
    inbox: Inbox,
) {
    let ending = match call(&peer, &sockets).await {
        Ok(connection) => match connection.open_bi().await {
            Ok(streams) => carry_on(&peer, &connection, streams, frames, &inbox).await,
            Err(error) => ending_of(error),
        },
        Err(ending) => ending,
    };
    tracing::debug!(line = inbox.line, ?ending, "a line has ended");
    inbox.put(What::Closed(ending)).await;
}

async fn carry_on(
    peer: &Peer,
    connection: &Connection,
    (sending, receiving): (SendStream, RecvStream),
    frames: mpsc::Receiver<Bytes>,
    inbox: &Inbox,
) -> Ending {
    inbox.put(What::Connected(connection.clone())).await;
    let ending = tokio::select! {
        ending = read_frames(peer, connection, receiving, inbox) => ending,
        () = write_frames(sending, frames) => Ending::Broken("closed by this client".to_owned()),
    };
    connection.close(0_u32.into(), b"");
    ending
}

/// Reads until the end of the stream, of the connection or of sense.
async fn read_frames(
    peer: &Peer,
    connection: &Connection,
    mut stream: RecvStream,
    inbox: &Inbox,
) -> Ending {
    let mut decoder = FrameDecoder::new(match peer {
        Peer::World { .. } => MAX_FROM_WORLD,
        Peer::Game { .. } => MAX_FROM_GAME,
    });
    loop {
        let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await else {
            // The end of the connection says more than the end of the stream, if it comes with it.
            let gone = timeout(LAST_WORDS, connection.closed()).await;
            return gone.map_or_else(
                |_| Ending::Broken("the server ended the stream".to_owned()),
                ending_of,
            );
        };
        decoder.push(&chunk.bytes);
        loop {
            let frame = match decoder.poll_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(too_large) => return nonsense(&too_large),
            };
            let message = match peer {
                Peer::World { .. } => WorldToClient::decode(frame).map(What::World),
                Peer::Game { .. } => GameToClient::decode(frame).map(What::Game),
            };
            match message {
                Ok(what) => inbox.put(what).await,
                Err(error) => return nonsense(&error),
            }
        }
    }
}

/// Writes until there is nothing to come, and then until the peer has it all.
async fn write_frames(mut stream: SendStream, mut frames: mpsc::Receiver<Bytes>) {
    while let Some(frame) = frames.recv().await {
        if stream.write_chunk(frame).await.is_err() {
            // The reader finds out why.
            return std::future::pending().await;
        }
    }
    if stream.finish().is_ok() {
        let _ = timeout(LAST_WORDS, stream.stopped()).await;
    }
}

async fn call(peer: &Peer, sockets: &Sockets) -> Result<Connection, Ending> {
    if let Peer::World {
        server,
        among_others: true,
        ..
    } = peer
    {
        let gone = || {
            Ending::Broken(format!(
                "could not connect to {server}: nothing answered at once"
            ))
        };
        return timeout(SHORT_CALL_TIMEOUT, call_patiently(peer, sockets))
            .await
            .map_err(|_| gone())?;
    }
    let Peer::World { server, trust, .. } = peer else {
        return call_patiently(peer, sockets).await;
    };
    // Of several, the first that answers.
    let mut ending = Ending::Broken("no server was named".to_owned());
    for server in server.split(',').map(|server| server.trim().to_owned()) {
        let peer = Peer::World {
            server,
            trust: trust.clone(),
            among_others: false,
        };
        match call_patiently(&peer, sockets).await {
            Ok(connection) => return Ok(connection),
            Err(missed) => ending = missed,
        }
        if matches!(ending, Ending::Final { .. }) {
            break;
        }
    }
    Err(ending)
}

async fn call_patiently(peer: &Peer, sockets: &Sockets) -> Result<Connection, Ending> {
    match peer {
        Peer::World {
            server,
            trust: Trust::FirstUse(hosts),
            ..
        } => call_for_first_use(server, hosts, sockets).await,
        Peer::World {
            server,
            trust: Trust::Pinned(pin),
            ..
        } => {
            let verifier = FingerprintVerifier::pinned(*pin);
            call_addresses(server, None, ALPN_WORLD, &verifier, sockets)
                .await
                .map_err(|error| {
                    refused(&verifier).map_or(error, |shown| {
                        changed(format!(
                            "{server} shows the certificate {shown}, and {pin} was expected"
                        ))
                    })
                })
        }
        Peer::Game {
            address,
            certificate,
            lobby,
        } => {
            let verifier = FingerprintVerifier::pinned(*certificate);
            call_addresses(address, *lobby, ALPN_GAME, &verifier, sockets).await.map_err(|error| {
                refused(&verifier).map_or(error, |shown| {
                    changed(format!(
                        "the game host {address} shows the certificate {shown}, and the ticket names {certificate}"
                    ))
                })
            })
        }
    }
}

async fn call_for_first_use(
    server: &str,
    hosts: &KnownHosts,
    sockets: &Sockets,
) -> Result<Connection, Ending> {
    let known = hosts.pin(server).map_err(|error| distrust(&error))?;
    let verifier = FingerprintVerifier::asking(move |_: &str, shown| {
        known.is_none_or(|Pin { fingerprint, .. }| fingerprint == shown)
    });
    let connection = call_addresses(server, None, ALPN_WORLD, &verifier, sockets)
        .await
        .map_err(|error| {
            let changed = refused(&verifier).zip(known);
            changed.map_or(error, |(shown, pin)| {
                distrust(&hosts.changed(server, pin, shown))
            })
        })?;
    // Remembered only now: the server has proved that it holds the key.
    if let Some(shown) = Fingerprint::shown_by(&connection) {
        let (hosts, server) = (hosts.clone(), server.to_owned());
        let checked = tokio::task::spawn_blocking(move || hosts.check(&server, shown)).await;
        checked
            .map_err(|_| Ending::Broken("the check of known hosts was cut off".to_owned()))?
            .map_err(|error| distrust(&error))?;
    }
    Ok(connection)
}

/// Calls what `address` stands for, one after the other, until somebody answers.
async fn call_addresses(
    address: &str,
    stand_in: Option<IpAddr>,
    alpn: &[u8],
    verifier: &Arc<FingerprintVerifier>,
    sockets: &Sockets,
) -> Result<Connection, Ending> {
    let found = tokio::net::lookup_host(address).await.map_err(|error| {
        Ending::Broken(format!(
            "could not connect to {address}: {error}. An address is host:port, like 127.0.0.1:7777"
        ))
    })?;
    let mut remotes = found
        .map(|remote| specified(remote, stand_in))
        .collect::<Vec<_>>();
    // A name of this machine stands for both families, and servers mostly listen on the older one.
    remotes.sort_by_key(SocketAddr::is_ipv6);
    remotes.dedup();
    remotes.truncate(ADDRESSES);
    let mut ending = Ending::Broken(format!(
        "could not connect to {address}: the name has no address"
    ));
    for remote in remotes {
        match call_one(remote, host_of(address), alpn, verifier, sockets).await {
            Ok(connection) => return Ok(connection),
            Err(reason) => {
                ending = Ending::Broken(format!("could not connect to {address}: {reason}"))
            }
        }
        if refused(verifier).is_some() {
            break;
        }
    }
    Err(ending)
}

async fn call_one(
    remote: SocketAddr,
    name: &str,
    alpn: &[u8],
    verifier: &Arc<FingerprintVerifier>,
    sockets: &Sockets,
) -> Result<Connection, String> {
    let endpoint = sockets
        .endpoint(remote)
        .map_err(|error| format!("no socket: {error}"))?;
    let config = client_config(alpn, verifier.clone());
    let connecting = endpoint
        .connect_with(config, remote, name)
        .map_err(|error| error.to_string())?;
    match timeout(CALL_TIMEOUT, connecting).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(ConnectionError::TimedOut)) | Err(_) => {
            let seconds = CALL_TIMEOUT.as_secs();
            Err(format!(
                "nothing answered within {seconds} s. Does the server run, and is this its address?"
            ))
        }
        Ok(Err(error)) => Err(error.to_string()),
    }
}

fn specified(remote: SocketAddr, stand_in: Option<IpAddr>) -> SocketAddr {
    match stand_in {
        Some(ip) if remote.ip().is_unspecified() => SocketAddr::new(ip, remote.port()),
        _ => remote,
    }
}

/// `[::1]:7777` is `::1`, `example.org:7777` is `example.org`.
fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

/// What the server has shown, if that was not trusted.
fn refused(verifier: &FingerprintVerifier) -> Option<Fingerprint> {
    verifier
        .shown()
        .filter(|shown: &Shown| !shown.trusted)
        .map(|shown| shown.fingerprint)
}

fn changed(message: String) -> Ending {
    Ending::Final {
        code: own_codes::CERTIFICATE_CHANGED.to_owned(),
        message,
    }
}

fn distrust(error: &TrustError) -> Ending {
    let code = match error {
        TrustError::Changed { .. } => own_codes::CERTIFICATE_CHANGED,
        TrustError::BadLine { .. } | TrustError::Io { .. } | TrustError::NoPlace => {
            own_codes::KNOWN_HOSTS
        }
    };
    Ending::Final {
        code: code.to_owned(),
        message: error.to_string(),
    }
}

fn nonsense(error: &dyn std::error::Error) -> Ending {
    let message = format!("the server sent what this client does not understand: {error}");
    Ending::Final {
        code: own_codes::BAD_MESSAGE.to_owned(),
        message,
    }
}

/// A peer that closes with an error code means it, unless the code says that it will pass;
/// everything else is an accident.
fn ending_of(error: ConnectionError) -> Ending {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            told(close.error_code.into_inner(), &close.reason)
        }
        ConnectionError::TimedOut => Ending::Broken("the connection went silent".to_owned()),
        error => Ending::Broken(error.to_string()),
    }
}

fn told(code: u64, reason: &[u8]) -> Ending {
    let known = i32::try_from(code)
        .ok()
        .and_then(|code| ErrorCode::try_from(code).ok());
    let why = if reason.is_empty() {
        known.map(codes::name).unwrap_or_default().into()
    } else {
        String::from_utf8_lossy(reason)
    };
    let message = format!("the server closed the connection: {why}");
    match known {
        None
        | Some(ErrorCode::ErrorUnspecified | ErrorCode::SlowReader | ErrorCode::ServerError) => {
            Ending::Broken(message)
        }
        Some(
            busy @ (ErrorCode::TooManyConnections
            | ErrorCode::TooManyFromAddress
            | ErrorCode::RateLimited
            | ErrorCode::TryAgain),
        ) => Ending::Busy {
            code: codes::name(busy),
            message,
        },
        Some(code) => Ending::Final {
            code: codes::name(code),
            message,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_what_stands_before_the_port() {
        for (address, host) in [
            ("127.0.0.1:7777", "127.0.0.1"),
            ("[::1]:7777", "::1"),
            ("a.test:1", "a.test"),
        ] {
            assert_eq!(host_of(address), host);
        }
    }

    #[test]
    fn the_lobby_s_address_stands_in_for_an_unspecified_one() {
        let lobby = Some("192.0.2.7".parse().expect("an address"));
        let check = |address: &str, expected: &str| {
            let remote = specified(address.parse().expect("an address"), lobby);
            assert_eq!(remote.to_string(), expected);
        };
        check("0.0.0.0:7777", "192.0.2.7:7777");
        check("[::]:7777", "192.0.2.7:7777");
        check("198.51.100.1:7777", "198.51.100.1:7777");
    }
}
