//! One connection to a lobby or to a game host, from dialling to the end.
//!
//! One task a connection: it dials, opens the control stream, then carries frames in both
//! directions. The client's task reads datagrams itself, which saves one wake-up for each. Results
//! go to the client's task as [`ConnectionReport`]s with the connection's number, by which it
//! ignores connections that it has given up.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::control::game::GameToClient;
use ambit_proto::control::world::WorldToClient;
use ambit_proto::frame::{MAX_FROM_GAME, MAX_FROM_WORLD};
use ambit_transport::frame_reader::{FrameError, FrameReader};
use ambit_transport::quic::{
    ALPN_GAME, ALPN_WORLD, Fingerprint, FingerprintVerifier, PresentedCertificate, client_config,
};
use bytes::Bytes;
use prost::Message;
use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use super::ServerTrust;
use super::clock::ShellClock;
use super::sockets::Sockets;
use crate::client::dial_race::DialRace;
use crate::client::event::codes as own_codes;
use crate::client::lobby::CloseReason;
use crate::trust::{KnownCertificate, KnownHosts, TrustError};

/// Maximum number of frames that wait to be sent. A peer that lets more wait does not read: the
/// connection is closed.
pub(super) const MAX_FRAMES: usize = 128;
/// Maximum time to dial. Enough for a handshake through 20 % loss both ways on a busy machine.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an address may send nothing at all. QUIC sends first packets at 0, 1 and 3 s, so this
/// is enough through 20 % loss both ways; a user who made a mistake in the address learns it soon.
const FIRST_ANSWER_TIMEOUT: Duration = Duration::from_millis(3_500);
/// When the next server of a list is dialled, beside those that have not answered yet: longer than
/// a handshake on a slow path, so that a server that lives is mostly the only one.
const NEXT_SERVER_AFTER: Duration = Duration::from_millis(500);
/// When the next address of a name is dialled, beside those that have not answered yet (the
/// connection attempt delay of RFC 8305).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);
/// How long the last frames may take to leave when a connection is closed.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of addresses of one name that are dialled.
const MAX_ADDRESSES: usize = 4;

/// The other end of a connection.
#[derive(Clone, Debug)]
pub(super) enum Peer {
    /// A lobby: the first of these servers that answers.
    World { servers: Vec<LobbyServer> },
    /// A game host, by a ticket's address. The lobby's IP address replaces an unspecified one.
    Game { address: String, certificate: Fingerprint, lobby: Option<IpAddr> },
}

/// One server of a lobby.
#[derive(Clone, Debug)]
pub(super) struct LobbyServer {
    /// `HOST:PORT`.
    pub(super) address: String,
    pub(super) trust: ServerTrust,
}

/// A report of a connection to the client's task.
#[derive(Debug)]
pub(super) struct ConnectionReport {
    pub(super) connection: u64,
    pub(super) content: ReportContent,
}

#[derive(Debug)]
pub(super) enum ReportContent {
    Connected {
        connection: Connection,
        /// The one that has answered.
        address: String,
    },
    World(WorldToClient),
    Game(GameToClient),
    /// The last report.
    Closed(CloseReason),
}

/// Where a connection's task sends its reports. When full, the connection waits, and with it the
/// peer.
#[derive(Clone, Debug)]
pub(super) struct ReportSender {
    pub(super) connection: u64,
    pub(super) sender: mpsc::Sender<ConnectionReport>,
}

impl ReportSender {
    async fn send(&self, what: ReportContent) {
        // The client's task may have ended first.
        let _ =
            self.sender.send(ConnectionReport { connection: self.connection, content: what }).await;
    }
}

/// Runs a connection. `frames` are what the client sends; the end of `frames` closes it.
pub(super) async fn run_connection(
    peer: Peer,
    sockets: Arc<Sockets>,
    frames: mpsc::Receiver<Bytes>,
    inbox: ReportSender,
) {
    let end = match dial(&peer, &sockets).await {
        Ok(Dialled { connection, streams, address }) => {
            let content = ReportContent::Connected { connection: connection.clone(), address };
            inbox.send(content).await;
            serve_connection(&peer, &connection, streams, frames, &inbox).await
        }
        Err(end) => end,
    };
    tracing::debug!(connection = inbox.connection, ?end, "connection ended");
    inbox.send(ReportContent::Closed(end)).await;
}

async fn serve_connection(
    peer: &Peer,
    connection: &Connection,
    (sending, receiving): (SendStream, RecvStream),
    frames: mpsc::Receiver<Bytes>,
    inbox: &ReportSender,
) -> CloseReason {
    let end = tokio::select! {
        end = read_frames(peer, connection, receiving, inbox) => end,
        () = write_frames(sending, frames) => {
            CloseReason::Broken("closed by this client".to_owned())
        }
    };
    connection.close(0_u32.into(), b"");
    end
}

/// Reads until the stream or the connection ends or contains an invalid frame.
async fn read_frames(
    peer: &Peer,
    connection: &Connection,
    stream: RecvStream,
    inbox: &ReportSender,
) -> CloseReason {
    let read = match peer {
        Peer::World { .. } => {
            let frames = FrameReader::new(stream, MAX_FROM_WORLD);
            report_messages(frames, inbox, ReportContent::World).await
        }
        Peer::Game { .. } => {
            let frames = FrameReader::new(stream, MAX_FROM_GAME);
            report_messages(frames, inbox, ReportContent::Game).await
        }
    };
    match read {
        Err(FrameError::TooLarge(error)) => return CloseReason::unintelligible(&error),
        Err(FrameError::Malformed(error)) => return CloseReason::unintelligible(&error),
        Ok(()) | Err(FrameError::Cut | FrameError::Io(_)) => {}
    }
    // The reason of the connection's end is more specific than that of the stream's end.
    timeout(DRAIN_TIMEOUT, connection.closed()).await.map_or_else(
        |_| CloseReason::Broken("the server ended the stream".to_owned()),
        close_reason,
    )
}

async fn report_messages<M: Message + Default>(
    mut frames: FrameReader<RecvStream>,
    inbox: &ReportSender,
    content: fn(M) -> ReportContent,
) -> Result<(), FrameError> {
    while let Some(message) = frames.next().await? {
        inbox.send(content(message)).await;
    }
    Ok(())
}

/// Writes all frames, then waits until the peer has received them.
async fn write_frames(mut stream: SendStream, mut frames: mpsc::Receiver<Bytes>) {
    while let Some(frame) = frames.recv().await {
        if stream.write_chunk(frame).await.is_err() {
            // The reader finds the reason.
            return std::future::pending().await;
        }
    }
    if stream.finish().is_ok() {
        let _ = timeout(DRAIN_TIMEOUT, stream.stopped()).await;
    }
}

/// An established connection with its control stream.
struct Dialled {
    connection: Connection,
    streams: (SendStream, RecvStream),
    /// The one that has answered.
    address: String,
}

impl Dialled {
    async fn open(connection: Connection, address: String) -> Result<Self, CloseReason> {
        let streams = connection.open_bi().await.map_err(|error| {
            let about = |message| format!("{address}: {message}");
            close_reason(error).map_message(about)
        })?;
        Ok(Self { connection, streams, address })
    }
}

async fn dial(peer: &Peer, sockets: &Arc<Sockets>) -> Result<Dialled, CloseReason> {
    match peer {
        Peer::World { servers } => {
            let attempts = servers.iter().cloned().map(|server| {
                let sockets = sockets.clone();
                async move {
                    let connection = dial_world(&server, &sockets).await?;
                    Dialled::open(connection, server.address).await
                }
            });
            first_success(attempts.collect(), NEXT_SERVER_AFTER).await
        }
        Peer::Game { address, certificate, lobby } => {
            let connection = dial_game(address, *certificate, *lobby, sockets).await?;
            Dialled::open(connection, address.clone()).await
        }
    }
}

/// The first success of several attempts; the others are dropped, which closes their connections.
/// The race is over when all have failed: a server with a wrong certificate does not keep the
/// client from another one.
async fn first_success<T, F>(attempts: Vec<F>, stagger: Duration) -> Result<T, CloseReason>
where
    T: Send + 'static,
    F: Future<Output = Result<T, CloseReason>> + Send + 'static,
{
    let clock = ShellClock::start();
    let mut race = DialRace::new(clock.now(), attempts.len(), stagger);
    let mut waiting = attempts.into_iter();
    let mut running = JoinSet::new();
    let mut failures = Vec::new();
    while !race.is_lost() {
        while race.poll_start(clock.now()).is_some() {
            running.spawn(waiting.next().expect("as many as were announced"));
        }
        let next_start = race.next_deadline().map(|at| clock.instant(at));
        tokio::select! {
            Some(ended) = running.join_next() => {
                match ended {
                    Ok(Ok(success)) => return Ok(success),
                    Ok(Err(failure)) => {
                        tracing::debug!(?failure, "an address is no use");
                        failures.push(failure);
                    }
                    // An attempt that panicked has printed why.
                    Err(_) => {}
                }
                race.handle_failure(clock.now());
            }
            () = sleep_until(next_start.unwrap_or_else(|| clock.instant(clock.now()))),
                if next_start.is_some() => {}
        }
    }
    Err(CloseReason::of_all(failures)
        .unwrap_or_else(|| CloseReason::Broken("no address was given".to_owned())))
}

async fn dial_world(
    LobbyServer { address, trust }: &LobbyServer,
    sockets: &Arc<Sockets>,
) -> Result<Connection, CloseReason> {
    let pin = match trust {
        ServerTrust::FirstUse(hosts) => return dial_on_first_use(address, hosts, sockets).await,
        ServerTrust::Pinned(pin) => *pin,
    };
    let verifier = FingerprintVerifier::pinned(pin);
    dial_addresses(address, None, ALPN_WORLD, &verifier, sockets).await.map_err(|error| {
        untrusted_fingerprint(&verifier).map_or(error, |shown| {
            certificate_changed(format!(
                "{address} presents the certificate {shown}, but {pin} was expected"
            ))
        })
    })
}

async fn dial_game(
    address: &str,
    certificate: Fingerprint,
    lobby: Option<IpAddr>,
    sockets: &Arc<Sockets>,
) -> Result<Connection, CloseReason> {
    let verifier = FingerprintVerifier::pinned(certificate);
    dial_addresses(address, lobby, ALPN_GAME, &verifier, sockets).await.map_err(|error| {
        untrusted_fingerprint(&verifier).map_or(error, |shown| {
            certificate_changed(format!(
                "the game host {address} presents the certificate {shown}, but the ticket \
                     expects {certificate}"
            ))
        })
    })
}

async fn dial_on_first_use(
    server: &str,
    hosts: &KnownHosts,
    sockets: &Arc<Sockets>,
) -> Result<Connection, CloseReason> {
    let known = hosts.find_certificate(server).map_err(|error| trust_failure(&error))?;
    let verifier = FingerprintVerifier::with_policy(move |_: &str, shown| {
        known.is_none_or(|KnownCertificate { fingerprint, .. }| fingerprint == shown)
    });
    let connection =
        dial_addresses(server, None, ALPN_WORLD, &verifier, sockets).await.map_err(|error| {
            let changed = untrusted_fingerprint(&verifier).zip(known);
            changed.map_or(error, |(shown, pin)| {
                trust_failure(&hosts.changed_error(server, pin, shown))
            })
        })?;
    // Store the certificate only now: the server has proved that it holds the key.
    if let Some(shown) = Fingerprint::of_peer(&connection) {
        let hosts = hosts.clone();
        let server = server.to_owned();
        let checked = tokio::task::spawn_blocking(move || hosts.check(&server, shown)).await;
        checked
            .map_err(|_| {
                CloseReason::Broken("the check of the known-hosts file was cancelled".to_owned())
            })?
            .map_err(|error| trust_failure(&error))?;
    }
    Ok(connection)
}

/// Dials the addresses of `address` until one answers.
async fn dial_addresses(
    address: &str,
    stand_in: Option<IpAddr>,
    alpn: &'static [u8],
    verifier: &Arc<FingerprintVerifier>,
    sockets: &Arc<Sockets>,
) -> Result<Connection, CloseReason> {
    let found = tokio::net::lookup_host(address).await.map_err(|error| {
        CloseReason::Broken(format!(
            "could not connect to {address}: {error}. An address is host:port, like 127.0.0.1:7777"
        ))
    })?;
    let mut remotes = found.map(|remote| replace_unspecified(remote, stand_in)).collect::<Vec<_>>();
    // A local name resolves to both families, and servers mostly listen on IPv4.
    remotes.sort_by_key(SocketAddr::is_ipv6);
    remotes.dedup();
    remotes.truncate(MAX_ADDRESSES);
    if remotes.is_empty() {
        return Err(CloseReason::Broken(format!(
            "could not connect to {address}: the name resolves to no address"
        )));
    }
    let attempts = remotes.into_iter().map(|remote| {
        let address = address.to_owned();
        let verifier = verifier.clone();
        let sockets = sockets.clone();
        async move {
            dial_address(remote, host_of(&address), alpn, &verifier, &sockets).await.map_err(
                |reason| {
                    let message = format!("could not connect to {address}: {reason}");
                    // The caller replaces this: the address is right, and its server is not.
                    match untrusted_fingerprint(&verifier) {
                        Some(_) => certificate_changed(message),
                        None => CloseReason::Broken(message),
                    }
                },
            )
        }
    });
    first_success(attempts.collect(), NEXT_ADDRESS_AFTER).await
}

async fn dial_address(
    remote: SocketAddr,
    name: &str,
    alpn: &[u8],
    verifier: &Arc<FingerprintVerifier>,
    sockets: &Sockets,
) -> Result<Connection, String> {
    let endpoint = sockets.endpoint(remote).map_err(|error| format!("no socket: {error}"))?;
    let config = client_config(alpn, verifier.clone());
    let answers = sockets.watch(remote);
    let connecting =
        endpoint.connect_with(config, remote, name).map_err(|error| error.to_string())?;
    let mut connecting = std::pin::pin!(connecting);
    let mut dialled = timeout(FIRST_ANSWER_TIMEOUT, &mut connecting).await;
    let is_answering = answers.has_answered();
    if dialled.is_err() && is_answering {
        let rest = DIAL_TIMEOUT.saturating_sub(FIRST_ANSWER_TIMEOUT);
        dialled = timeout(rest, &mut connecting).await;
    }
    let limit = if is_answering { DIAL_TIMEOUT } else { FIRST_ANSWER_TIMEOUT };
    match dialled {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(ConnectionError::TimedOut)) | Err(_) => Err(timed_out(limit, is_answering)),
        Ok(Err(error)) => Err(error.to_string()),
    }
}

/// Why a connection was not established in time. A path that loses large packets looks like a
/// server that is not there: the first packets of QUIC are large.
fn timed_out(limit: Duration, is_answering: bool) -> String {
    let (what, question) = if is_answering {
        ("the connection was not established", "Is the network very slow?")
    } else {
        ("nothing answered", "Is the server running, and is this its address?")
    };
    format!(
        "{what} within {} s. {question} Or does the path lose packets of 1,200 bytes, in one \
         direction or both?",
        limit.as_secs_f32()
    )
}

fn replace_unspecified(remote: SocketAddr, stand_in: Option<IpAddr>) -> SocketAddr {
    match stand_in {
        Some(ip) if remote.ip().is_unspecified() => SocketAddr::new(ip, remote.port()),
        _ => remote,
    }
}

/// `[::1]:7777` is `::1`, `example.org:7777` is `example.org`.
fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// The certificate that the server presented, if it was not trusted.
fn untrusted_fingerprint(verifier: &FingerprintVerifier) -> Option<Fingerprint> {
    verifier
        .presented()
        .filter(|shown: &PresentedCertificate| !shown.is_trusted)
        .map(|shown| shown.fingerprint)
}

fn certificate_changed(message: String) -> CloseReason {
    CloseReason::Final { code: own_codes::CERTIFICATE_CHANGED.to_owned(), message }
}

fn trust_failure(error: &TrustError) -> CloseReason {
    let code = match error {
        TrustError::Changed { .. } => own_codes::CERTIFICATE_CHANGED,
        TrustError::BadLine { .. } | TrustError::Io { .. } | TrustError::NoPath => {
            own_codes::KNOWN_HOSTS
        }
    };
    CloseReason::Final { code: code.to_owned(), message: error.to_string() }
}

/// Ends other than by the peer's code are breaks.
fn close_reason(error: ConnectionError) -> CloseReason {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            CloseReason::by_peer(close.error_code.into_inner(), &close.reason)
        }
        ConnectionError::TimedOut => CloseReason::Broken("the connection went silent".to_owned()),
        ConnectionError::Reset => CloseReason::Broken(
            "the server no longer knows the connection: it was started again".to_owned(),
        ),
        error => CloseReason::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_without_large_packets_is_named_beside_the_usual_reasons() {
        let silent = timed_out(FIRST_ANSWER_TIMEOUT, false);
        assert!(silent.starts_with("nothing answered within 3.5 s. Is the server"), "{silent}");
        // One that carries large packets in one direction lets small ones pass.
        let answering = timed_out(DIAL_TIMEOUT, true);
        assert!(answering.contains("not established within 10 s. Is the network"), "{answering}");
        for message in [silent, answering] {
            assert!(message.contains("lose packets of 1,200 bytes, in one direction"), "{message}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_delays_the_next_one_by_half_a_second() {
        let silent = || attempt(Duration::from_secs(10), Err(broken("silent")));
        let live = || attempt(Duration::from_millis(100), Ok(7));
        check_attempts(vec![silent(), live()], Ok(7), 600).await;
        check_attempts(vec![silent(), silent(), live()], Ok(7), 1_100).await;
        check_attempts(vec![live(), silent()], Ok(7), 100).await;
        // A slow server still counts if the next one fails.
        let slow = attempt(Duration::from_secs(2), Ok(8));
        let refusing = attempt(Duration::ZERO, Err(broken("refused")));
        check_attempts(vec![slow, refusing], Ok(8), 2_000).await;
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_attempt_starts_at_once_after_a_failure() {
        let failing = || attempt(Duration::from_millis(10), Err(broken("refused")));
        let live = attempt(Duration::from_millis(100), Ok(7));
        check_attempts(vec![failing(), failing(), live], Ok(7), 120).await;
        let last = attempt(Duration::ZERO, Err(broken("last")));
        check_attempts(vec![failing(), failing(), last], Err(broken("refused; last")), 20).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_ends_no_race_that_another_server_wins() {
        let refusing = |why: &str| {
            let end = certificate_changed(why.to_owned());
            attempt(Duration::from_millis(10), Err(end))
        };
        let live = attempt(Duration::from_millis(100), Ok(7));
        check_attempts(vec![refusing("a"), live], Ok(7), 110).await;
        // All of them are named.
        let end = certificate_changed("a; b".to_owned());
        check_attempts(vec![refusing("a"), refusing("b")], Err(end), 20).await;
        // One that cannot be reached now may be there later.
        let silent = attempt(Duration::from_millis(10), Err(broken("b")));
        check_attempts(vec![refusing("a"), silent], Err(broken("a; b")), 20).await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_others_send_is_no_answer_of_the_dialled_address() {
        let sockets = Sockets::new(None, 0);
        let socket = || std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
        let silent = socket();
        let other = socket();
        let remote = silent.local_addr().expect("bound");
        let own = sockets.endpoint(remote).expect("a socket").local_addr();
        let sent = other.send_to(b"from another connection", own.expect("bound"));
        sent.expect("space in the queue");
        let trust = FingerprintVerifier::pinned(Fingerprint([0; 32]));
        let dialled = dial_address(remote, "127.0.0.1", ALPN_WORLD, &trust, &sockets).await;
        let why = dialled.expect_err("nobody is there");
        assert!(why.contains("nothing answered"), "{why}");
    }

    #[expect(clippy::disallowed_methods, reason = "the clock of the test is virtual")]
    async fn check_attempts(
        attempts: Vec<impl Future<Output = Result<u8, CloseReason>> + Send + 'static>,
        expected: Result<u8, CloseReason>,
        expected_ms: u128,
    ) {
        let start = tokio::time::Instant::now();
        assert_eq!(first_success(attempts, NEXT_SERVER_AFTER).await, expected);
        assert_eq!(start.elapsed().as_millis(), expected_ms);
    }

    async fn attempt(time: Duration, result: Result<u8, CloseReason>) -> Result<u8, CloseReason> {
        tokio::time::sleep(time).await;
        result
    }

    fn broken(reason: &str) -> CloseReason {
        CloseReason::Broken(reason.to_owned())
    }

    #[test]
    fn the_host_of_an_address_is_the_part_before_the_port() {
        for (address, host) in
            [("127.0.0.1:7777", "127.0.0.1"), ("[::1]:7777", "::1"), ("a.test:1", "a.test")]
        {
            assert_eq!(host_of(address), host);
        }
    }

    #[test]
    fn the_lobby_s_address_stands_in_for_an_unspecified_one() {
        let lobby = Some("192.0.2.7".parse().expect("an address"));
        let check = |address: &str, expected: &str| {
            let remote = replace_unspecified(address.parse().expect("an address"), lobby);
            assert_eq!(remote.to_string(), expected);
        };
        check("0.0.0.0:7777", "192.0.2.7:7777");
        check("[::]:7777", "192.0.2.7:7777");
        check("198.51.100.1:7777", "198.51.100.1:7777");
    }
}
