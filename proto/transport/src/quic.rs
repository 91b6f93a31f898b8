//! QUIC as both ends configure it: protocol names, transport settings, certificates.
//!
//! Input: certificates and a side. Output: configurations for quinn (clients, and links between
//! servers) and for `ambit-endpoint` (what servers accept). There is no socket and no task here.
//!
//! Limits of one connection for any behaviour of its peer (bytes, on the server):
//!
//! | what | limit | beyond it |
//! | --- | --- | --- |
//! | datagrams to send | 32 KiB, a tick's with slices | the oldest is dropped: it is outdated |
//! | received, unread datagrams | 128 KiB | the oldest is dropped, like a loss on the path |
//! | received, unread stream data | 64 KiB | the peer waits (flow control) |
//! | unacknowledged stream data | 256 KiB | the writer waits; the shell drops a slow reader |
//! | streams | 1 bidirectional, opened by the client; of browsers 2, and 8 unidirectional ones, which are not read | the peer waits for ever |
//! | in flight | 128 KiB ([`FixedWindow`]) | nothing leaves before an acknowledgement |
//!
//! A silent connection ends after 10 s; a client keeps an idle connection alive with a packet every
//! 3 s. A server that was killed and started again resets the connections of its clients
//! ([`ResetSecret`]).
//!
//! Overhead of packets: each side asks the other to delay acknowledgements ([`ACK_DELAY`], QUIC's
//! ack frequency extension; what [`transport_config`] sets on one side governs the other), so that
//! the game's own datagrams carry them. quinn asks for no more than the larger of 25 ms and the
//! round trip. On a short path the client needs no extra packets if its datagrams leave a little
//! less than 25 ms after the server's arrived. The server sends datagrams at some ticks only, so
//! its timers are postponed; those of clients are, too ([`LazyTimerRuntime`]). Clients use
//! connection ids of one byte ([`client_endpoint_config`]) where quinn's default is eight.
//!
//! TLS 1.3 only, ring as the provider, no resumption and no 0-RTT: each handshake presents the
//! certificate, so each one is checked against its fingerprint, and recorded data cannot be
//! replayed.

mod brief_tls;
mod cid;
mod congestion;
mod reset;
mod timers;
mod trust;

use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn::{
    AckFrequencyConfig, EndpointConfig, MtuDiscoveryConfig, Side, TransportConfig, VarInt,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ResolvesServerCert, WantsServerCert};

use self::brief_tls::BriefTls;
pub use self::congestion::{FixedWindow, WINDOW_BYTES};
pub use self::reset::{ResetSecret, server_endpoint_config};
pub use self::timers::LazyTimerRuntime;
pub use self::trust::{
    BadFingerprint, Fingerprint, FingerprintVerifier, PresentedCertificate, TrustPolicy,
};

/// The lobby: `control::world`.
pub const ALPN_WORLD: &[u8] = b"ambit-world/1";
/// A game: `control::game`, and datagrams.
pub const ALPN_GAME: &[u8] = b"ambit-game/1";
/// A browser: HTTP/3, for WebTransport.
pub const ALPN_WEB: &[u8] = b"h3";
/// A process that hosts rooms, at its WorldServer: `control::host`.
pub const ALPN_HOST: &[u8] = b"ambit-host/1";
/// A WorldServer that follows another one of its cluster.
pub const ALPN_PEER: &[u8] = b"ambit-peer/1";

/// A connection from which nothing was received for this long ends.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often an idle client sends a packet: often enough for two losses in a row. Each costs a
/// datagram both ways.
pub const KEEP_ALIVE: Duration = Duration::from_secs(3);
/// How long an acknowledgement may wait for a packet to carry it: a tick at 20 Hz, and a margin for
/// lateness. The price is that the loss of the last packet before a pause is noticed later by this
/// much.
pub const ACK_DELAY: Duration = Duration::from_millis(60);
/// More packets than this are acknowledged at once: bulk data should not wait.
const ACK_AFTER: u32 = 8;
/// A tick's datagrams to one client with all the slices that may go along, or those of several late
/// ticks.
pub const DATAGRAM_SEND_BUFFER_BYTES: usize = 32 << 10;
/// The data that may arrive between two runs of the reader. A higher value costs memory under a
/// flood, and makes the data that is read older.
pub const DATAGRAM_RECEIVE_BUFFER_BYTES: usize = 128 << 10;

/// HTTP/3's own streams of a browser: control, two of header compression, and unknown ones.
/// Browsers end a handshake that allows fewer than three.
const BROWSER_STREAMS: u32 = 8;
/// Unread stream data, towards the server and towards the client (whose longest frame has 1 MiB).
const TO_SERVER_WINDOW_BYTES: u32 = 64 << 10;
const TO_CLIENT_WINDOW_BYTES: u32 = 256 << 10;
/// What a server buffers for a client that reads slowly, and a client for a server.
const SERVER_SEND_WINDOW_BYTES: u64 = 256 << 10;
const CLIENT_SEND_WINDOW_BYTES: u64 = 64 << 10;
/// What every path carries (RFC 9000, section 14). It leaves 1,162 bytes to a datagram, 12 more
/// than the link writes.
const MIN_MTU: u16 = 1_200;
/// Ethernet less the headers of IPv6 and UDP: lets acknowledgements travel with one of our full
/// datagrams.
const MAX_MTU: u16 = 1_452;
/// The assumption before any measurement. quinn's 333 ms would repeat a lost first packet only
/// after a second.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Handshakes that the shell has not handled yet; beyond it, new ones are refused.
const MAX_INCOMING: usize = 1_024;
const INCOMING_BUFFER_BYTES: u64 = 16 << 10;
const INCOMING_BUFFERS_BYTES: u64 = 8 << 20;

/// The transport settings of one side; see the table above.
pub fn transport_config(side: Side) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(Some(IDLE_TIMEOUT.try_into().expect("10 s fit into QUIC's idle timeout")))
        .datagram_send_buffer_size(DATAGRAM_SEND_BUFFER_BYTES)
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BUFFER_BYTES))
        .congestion_controller_factory(Arc::new(FixedWindow::default()))
        .initial_rtt(INITIAL_RTT)
        .min_mtu(MIN_MTU)
        .initial_mtu(MIN_MTU)
        .mtu_discovery_config(Some(mtu_discovery()))
        .ack_frequency_config(Some(ack_frequency()));
    match side {
        Side::Server => config
            .max_concurrent_bidi_streams(VarInt::from_u32(1))
            .max_concurrent_uni_streams(VarInt::from_u32(BROWSER_STREAMS))
            .stream_receive_window(VarInt::from_u32(TO_SERVER_WINDOW_BYTES))
            .receive_window(VarInt::from_u32(TO_SERVER_WINDOW_BYTES))
            .send_window(SERVER_SEND_WINDOW_BYTES),
        Side::Client => config
            .max_concurrent_bidi_streams(VarInt::from_u32(0))
            .stream_receive_window(VarInt::from_u32(TO_CLIENT_WINDOW_BYTES))
            .receive_window(VarInt::from_u32(TO_CLIENT_WINDOW_BYTES))
            .send_window(CLIENT_SEND_WINDOW_BYTES)
            .keep_alive_interval(Some(KEEP_ALIVE)),
    };
    config
}

/// Streams that a WorldServer relays over one connection, one for each client.
pub const MAX_RELAYED_STREAMS: u32 = 10_000;
/// Unread bytes of one of them. All of them together may wait: a client that does not read delays
/// no other.
const RELAYED_WINDOW_BYTES: u32 = 64 << 10;
/// Bytes in flight on such a connection.
pub const PEER_SEND_WINDOW_BYTES: u64 = 16 << 20;

/// The configuration of a following WorldServer for its connection to the leader, which relays
/// thousands of clients. The other end allows
/// [`MAX_RELAYED_STREAMS`], and [`PEER_SEND_WINDOW_BYTES`] in flight.
pub fn relay_client_config(alpn: &[u8], verifier: Arc<FingerprintVerifier>) -> quinn::ClientConfig {
    let mut transport = transport_config(Side::Client);
    transport
        .stream_receive_window(VarInt::from_u32(RELAYED_WINDOW_BYTES))
        .receive_window(VarInt::MAX)
        .send_window(PEER_SEND_WINDOW_BYTES);
    let mut config = client_config(alpn, verifier);
    config.transport_config(Arc::new(transport));
    config
}

/// A server's endpoint: presents `certificates` (the end entity's first) and accepts the protocols
/// in `alpns`.
pub fn server_config(
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    alpns: &[&[u8]],
) -> Result<quinn::ServerConfig, rustls::Error> {
    Ok(endpoint_config(server_tls(certificates, key, alpns)?))
}

/// The same, with a certificate that is chosen for each handshake.
pub fn resolving_server_config(
    certificates: Arc<dyn ResolvesServerCert>,
    alpns: &[&[u8]],
) -> quinn::ServerConfig {
    endpoint_config(resolving_server_tls(certificates, alpns))
}

fn endpoint_config(tls: rustls::ServerConfig) -> quinn::ServerConfig {
    let tls = BriefTls::new(tls).expect("ring has QUIC's initial cipher suite");
    let mut config = quinn::ServerConfig::with_crypto(Arc::new(tls));
    config
        .transport_config(Arc::new(transport_config(Side::Server)))
        .max_incoming(MAX_INCOMING)
        .incoming_buffer_size(INCOMING_BUFFER_BYTES)
        .incoming_buffer_size_total(INCOMING_BUFFERS_BYTES);
    config
}

/// TLS on a byte stream, with a certificate that is chosen for each handshake.
pub fn resolving_server_tls(
    certificates: Arc<dyn ResolvesServerCert>,
    alpns: &[&[u8]],
) -> rustls::ServerConfig {
    let mut tls = server_tls_builder().with_cert_resolver(certificates);
    finish_server_tls(&mut tls, alpns);
    tls
}

/// The TLS half of [`server_config`].
pub fn server_tls(
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    alpns: &[&[u8]],
) -> Result<rustls::ServerConfig, rustls::Error> {
    let mut tls = server_tls_builder().with_single_cert(certificates, key)?;
    finish_server_tls(&mut tls, alpns);
    Ok(tls)
}

fn server_tls_builder() -> rustls::ConfigBuilder<rustls::ServerConfig, WantsServerCert> {
    rustls::ServerConfig::builder_with_provider(crypto_provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring speaks TLS 1.3")
        .with_no_client_auth()
}

fn finish_server_tls(tls: &mut rustls::ServerConfig, alpns: &[&[u8]]) {
    tls.alpn_protocols = to_owned_alpns(alpns);
    tls.send_tls13_tickets = 0;
}

/// A client's connection with protocol `alpn` to a server whose certificate `verifier` checks.
pub fn client_config(alpn: &[u8], verifier: Arc<FingerprintVerifier>) -> quinn::ClientConfig {
    let tls = QuicClientConfig::try_from(client_tls(alpn, verifier))
        .expect("ring has QUIC's initial cipher suite");
    let mut config = quinn::ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport_config(Side::Client)));
    config
}

/// A client's endpoint, with connection ids of one byte. An endpoint is for the two connections of
/// one client (and a few that are closing), each of which takes five to eight of the 256 ids.
pub fn client_endpoint_config() -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(|| Box::new(cid::RandomConnectionIds::new()));
    config
}

/// The TLS half of [`client_config`].
pub fn client_tls(alpn: &[u8], verifier: Arc<FingerprintVerifier>) -> rustls::ClientConfig {
    let mut tls = rustls::ClientConfig::builder_with_provider(crypto_provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring speaks TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    tls.alpn_protocols = to_owned_alpns(&[alpn]);
    // A resumed session presents no certificate, so the trust policy would not be asked.
    tls.resumption = rustls::client::Resumption::disabled();
    tls
}

/// The protocol that the handshake of `connection` has negotiated.
pub fn negotiated_alpn(connection: &quinn::Connection) -> Option<Vec<u8>> {
    connection.handshake_data()?.downcast::<HandshakeData>().ok()?.protocol
}

/// Passed explicitly everywhere: a process that links two providers has no default one.
fn crypto_provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn mtu_discovery() -> MtuDiscoveryConfig {
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(MAX_MTU);
    discovery
}

fn ack_frequency() -> AckFrequencyConfig {
    let mut frequency = AckFrequencyConfig::default();
    frequency.ack_eliciting_threshold(VarInt::from_u32(ACK_AFTER)).max_ack_delay(Some(ACK_DELAY));
    frequency
}

fn to_owned_alpns(alpns: &[&[u8]]) -> Vec<Vec<u8>> {
    alpns.iter().map(|alpn| alpn.to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use quinn::{Connection, ConnectionError, Endpoint};

    use super::*;

    #[tokio::test]
    async fn a_pinned_certificate_lets_datagrams_and_one_stream_through() {
        let (server, pin) = start_server();
        let (near, far) = connect(&server, &FingerprintVerifier::pinned(pin))
            .await
            .expect("the pinned certificate");
        assert_eq!(negotiated_alpn(&far), Some(ALPN_GAME.to_vec()));
        assert_eq!(negotiated_alpn(&near), Some(ALPN_GAME.to_vec()));
        assert_eq!(Fingerprint::of_peer(&near), Some(pin));
        // The link writes at most 1,150 bytes; they fit from the first packet on.
        assert!(near.max_datagram_size() >= Some(1_150));
        assert!(far.max_datagram_size() >= Some(1_150));
        far.send_datagram(vec![7; 1_150].into()).expect("it fits");
        assert_eq!(near.read_datagram().await.expect("a datagram").len(), 1_150);

        let (mut to_server, _) = near.open_bi().await.expect("the control stream");
        to_server.write_all(b"hello").await.expect("a window of 64 KiB");
        to_server.finish().expect("an open stream");
        let (_, mut from_client) = far.accept_bi().await.expect("the control stream");
        assert_eq!(from_client.read_to_end(64).await.expect("five bytes"), b"hello");
    }

    #[tokio::test]
    async fn a_certificate_other_than_the_pinned_one_is_refused_and_kept() {
        let (server, shown) = start_server();
        let verifier = FingerprintVerifier::pinned(Fingerprint([0; 32]));
        let refusal = connect(&server, &verifier).await.expect_err("a wrong pin");
        assert!(matches!(refusal, ConnectionError::TransportError(_)), "{refusal}");
        assert_eq!(
            verifier.presented(),
            Some(PresentedCertificate { fingerprint: shown, is_trusted: false })
        );
    }

    #[tokio::test]
    async fn the_trust_policy_is_asked_on_every_connection() {
        let (server, pin) = start_server();
        for trusted in [true, false, true] {
            let verifier = FingerprintVerifier::with_policy(move |name: &str, shown| {
                name == "lobby.test" && shown == pin && trusted
            });
            assert_eq!(connect(&server, &verifier).await.is_ok(), trusted);
            assert_eq!(
                verifier.presented(),
                Some(PresentedCertificate { fingerprint: pin, is_trusted: trusted })
            );
        }
    }

    #[tokio::test]
    async fn unsupported_protocols_are_refused() {
        let (server, pin) = start_server();
        let config = client_config(ALPN_WEB, FingerprintVerifier::pinned(pin));
        assert!(connect_with(&server, config).await.is_err());
    }

    #[tokio::test]
    async fn one_endpoint_distinguishes_its_connections_by_one_byte() {
        let (server, pin) = start_server();
        let socket = std::net::UdpSocket::bind(loopback()).expect("a free port");
        let runtime = Arc::new(quinn::TokioRuntime);
        let client =
            Endpoint::new(client_endpoint_config(), None, socket, runtime).expect("a socket");
        let address = server.local_addr().expect("a bound socket");
        let mut pairs = Vec::new();
        for alpn in [ALPN_WORLD, ALPN_GAME, ALPN_GAME] {
            let config = client_config(alpn, FingerprintVerifier::pinned(pin));
            let near = client.connect_with(config, address, "lobby.test").expect("a valid name");
            let far = async { server.accept().await.expect("an open endpoint").await };
            let (near, far) = tokio::join!(near, far);
            pairs.push((near.expect("the pinned certificate"), far.expect("a handshake")));
        }
        for (number, (_, far)) in (0_u8..).zip(&pairs) {
            far.send_datagram(vec![number; 100].into()).expect("it fits");
        }
        for (number, (near, _)) in (0_u8..).zip(&pairs) {
            assert_eq!(near.read_datagram().await.expect("a datagram")[..], [number; 100]);
        }
    }

    #[tokio::test]
    async fn regular_datagrams_carry_each_other_s_acknowledgements() {
        let (server, pin) = start_server();
        let (near, far) = connect(&server, &FingerprintVerifier::pinned(pin))
            .await
            .expect("the pinned certificate");
        let asked = |connection: &Connection| connection.stats().frame_tx.ack_frequency;
        for round in 0..20 {
            far.send_datagram(vec![round; 40].into()).expect("it fits");
            near.read_datagram().await.expect("a datagram");
            near.send_datagram(vec![round; 8].into()).expect("it fits");
            far.read_datagram().await.expect("a datagram");
        }
        assert!(
            asked(&near) > 0 && asked(&far) > 0,
            "each side asks the other to delay acknowledgements"
        );
    }

    /// A server on loopback with a certificate of its own.
    fn start_server() -> (Endpoint, Fingerprint) {
        let made = rcgen::generate_simple_self_signed(["ambit".into()]).expect("a certificate");
        let certificate = made.cert.der().clone();
        let pin = Fingerprint::of(&certificate);
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = server_config(vec![certificate], key, &[ALPN_WORLD, ALPN_GAME])
            .expect("a key that fits");
        (Endpoint::server(config, loopback()).expect("a free port"), pin)
    }

    async fn connect(
        server: &Endpoint,
        verifier: &Arc<FingerprintVerifier>,
    ) -> Result<(Connection, Connection), ConnectionError> {
        connect_with(server, client_config(ALPN_GAME, verifier.clone())).await
    }

    /// The client's end and the server's end of a new connection.
    async fn connect_with(
        server: &Endpoint,
        config: quinn::ClientConfig,
    ) -> Result<(Connection, Connection), ConnectionError> {
        let runtime = Arc::new(quinn::TokioRuntime);
        let socket = std::net::UdpSocket::bind(loopback()).expect("a free port");
        let client =
            Endpoint::new(client_endpoint_config(), None, socket, runtime).expect("a socket");
        let address = server.local_addr().expect("a bound socket");
        let near = client.connect_with(config, address, "lobby.test").expect("a valid name");
        let far = async { server.accept().await.expect("an open endpoint").await };
        let (near, far) = tokio::join!(near, far);
        Ok((near?, far?))
    }

    fn loopback() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }
}
