//! Stateless resets: how clients of a killed server notice at once that it has started again.
//!
//! A server that gets a packet of a connection that it does not know answers with a token for the
//! packet's connection id (RFC 9000, section 10.3). The client compares it with the token that the
//! server gave it when they were connected. Both follow from a [`ResetSecret`], which the server
//! keeps across restarts; without it nobody can compute a token.
//!
//! A secret belongs to one endpoint. If two used the same one, an attacker could have one of them
//! compute the tokens of the other's connections.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quinn::EndpointConfig;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::cid::RandomConnectionIds;

/// The shortest time between two resets: a restarted server answers 1,000 clients within a second.
/// With quinn's 20 ms many would wait for their idle time-out. A reset is shorter than the packet
/// that it answers, so it amplifies nothing.
const MIN_RESET_INTERVAL: Duration = Duration::from_millis(1);

/// The secret behind the reset tokens of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetSecret([u8; Self::LENGTH]);

impl ResetSecret {
    /// In bytes.
    pub const LENGTH: usize = 32;

    /// A secret that was kept.
    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// A new secret. The error is the system's.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; Self::LENGTH];
        let failed = |_| io::Error::other("the system's random source failed");
        SystemRandom::new().fill(&mut bytes).map_err(failed)?;
        Ok(Self(bytes))
    }

    /// The secret of another endpoint of the same server.
    pub fn of_endpoint(&self, name: &str) -> Self {
        Self::from_shared_key(&self.0, name)
    }

    /// The secret of one server among those that share `key`: `server` must distinguish them.
    pub fn from_shared_key(key: &[u8], server: &str) -> Self {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
        context.update(b"ambit stateless reset ");
        context.update(server.as_bytes());
        let tag = context.sign();
        Self(tag.as_ref().try_into().expect("SHA-256 gives 32 bytes"))
    }
}

/// A server's endpoint.
///
/// Its connection ids have all the same length, so that it can also read those that it issued
/// before a restart. It cannot tell them from invented ones, and answers those, too.
pub fn server_endpoint_config(secret: &ResetSecret) -> EndpointConfig {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.0);
    let mut config = EndpointConfig::new(Arc::new(key));
    config
        .cid_generator(|| Box::new(RandomConnectionIds::of_a_server()))
        .min_reset_interval(MIN_RESET_INTERVAL);
    config
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
    use std::sync::Mutex;

    use quinn::{Connection, ConnectionError, Endpoint, TokioRuntime};
    use rustls::pki_types::PrivateKeyDer;

    use super::*;
    use crate::quic::{
        ALPN_GAME, FingerprintVerifier, client_config, client_endpoint_config, server_config,
    };

    #[tokio::test]
    async fn a_restarted_server_resets_the_connections_that_it_does_not_know() {
        let secret = ResetSecret::random().unwrap();
        let restarted = start_server(server_endpoint_config(&secret));
        let mut pair = connect(&secret).await;
        pair.line.lead_to(&restarted);
        pair.near.send_datagram(vec![1; 8].into()).unwrap();
        assert_eq!(pair.near.closed().await, ConnectionError::Reset);
    }

    #[tokio::test]
    async fn a_server_with_another_secret_cannot_reset_a_connection() {
        let stranger = start_server(server_endpoint_config(&ResetSecret::random().unwrap()));
        let mut pair = connect(&ResetSecret::random().unwrap()).await;
        let before = pair.near.stats().udp_rx.datagrams;
        let answers = pair.line.answers();
        pair.line.lead_to(&stranger);
        while pair.line.answers() < answers + 3 {
            pair.near.send_datagram(vec![1; 8].into()).unwrap();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        // The stranger's resets have arrived, and the connection goes on with its own server.
        pair.line.lead_to(&pair.server);
        pair.near
            .send_datagram(b"still here".to_vec().into())
            .unwrap();
        loop {
            let arrived = pair.far.read_datagram().await.unwrap();
            if &arrived[..] == b"still here" {
                break;
            }
        }
        assert_eq!(pair.near.close_reason(), None);
        assert!(pair.near.stats().udp_rx.datagrams >= before);
    }

    #[test]
    fn servers_that_share_a_key_have_different_secrets() {
        let of = |key: &[u8], server| ResetSecret::from_shared_key(key, server);
        assert_eq!(of(b"key", "a"), of(b"key", "a"));
        assert_ne!(of(b"key", "a"), of(b"key", "b"));
        assert_ne!(of(b"key", "a"), of(b"other", "a"));
    }

    /// A connection over a line that can be moved to another server, as a port that another process
    /// takes over.
    struct Pair {
        near: Connection,
        far: Connection,
        server: Endpoint,
        line: Line,
        _client: Endpoint,
    }

    /// Carries packets between one client and a server.
    struct Line {
        address: SocketAddr,
        state: Arc<Mutex<LineState>>,
    }

    struct LineState {
        server: SocketAddr,
        answers: u64,
    }

    impl Line {
        async fn start(server: &Endpoint) -> Self {
            let socket = tokio::net::UdpSocket::bind(loopback()).await.unwrap();
            let address = socket.local_addr().unwrap();
            let state = Arc::new(Mutex::new(LineState {
                server: server.local_addr().unwrap(),
                answers: 0,
            }));
            let shared = Arc::clone(&state);
            tokio::spawn(async move {
                let (mut bytes, mut client) = ([0; 2_048], None);
                loop {
                    let (length, from) = socket.recv_from(&mut bytes).await.unwrap();
                    let to = {
                        let mut state = shared.lock().unwrap();
                        let is_known = client.is_none_or(|client| client == from);
                        if is_known {
                            client = Some(from);
                            state.server
                        } else if from == state.server {
                            state.answers += 1;
                            client.unwrap()
                        } else {
                            continue;
                        }
                    };
                    socket.send_to(&bytes[..length], to).await.unwrap();
                }
            });
            Self { address, state }
        }

        fn lead_to(&mut self, server: &Endpoint) {
            self.state.lock().unwrap().server = server.local_addr().unwrap();
        }

        fn answers(&self) -> u64 {
            self.state.lock().unwrap().answers
        }
    }

    async fn connect(secret: &ResetSecret) -> Pair {
        let server = start_server(server_endpoint_config(secret));
        let line = Line::start(&server).await;
        let socket = UdpSocket::bind(loopback()).unwrap();
        let runtime = Arc::new(TokioRuntime);
        let client = Endpoint::new(client_endpoint_config(), None, socket, runtime).unwrap();
        let trust = FingerprintVerifier::with_policy(|_: &str, _| true);
        let config = client_config(ALPN_GAME, trust);
        let near = client.connect_with(config, line.address, "ambit").unwrap();
        let far = async { server.accept().await.unwrap().await.unwrap() };
        let (near, far) = tokio::join!(near, far);
        Pair {
            near: near.unwrap(),
            far,
            server,
            line,
            _client: client,
        }
    }

    fn start_server(config: EndpointConfig) -> Endpoint {
        let made = rcgen::generate_simple_self_signed(["ambit".into()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let server = server_config(vec![made.cert.der().clone()], key, &[ALPN_GAME]).unwrap();
        let socket = UdpSocket::bind(loopback()).unwrap();
        Endpoint::new(config, Some(server), socket, Arc::new(TokioRuntime)).unwrap()
    }

    fn loopback() -> SocketAddr {
        (Ipv4Addr::LOCALHOST, 0).into()
    }
}
