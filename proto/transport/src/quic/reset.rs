//! Stateless resets: how clients of a killed server notice at once that it has started again.
//!
//! A server that gets a packet of a connection that it does not know answers with a token for the
//! packet's connection id (RFC 9000, section 10.3). The client compares it with the token that the
//! server gave it when they were connected. Both follow from a [`ResetSecret`], which the server
//! keeps across restarts; without it no token can be computed.
//!
//! The ids that a server makes contain a tag that follows from the secret as well
//! ([`TaggedConnectionIds`]), and a server answers only to ids that it or its predecessor has made.
//! So it does nothing for invented ones, and there is no limit of answers that a flood could use up
//! before the clients of a killed server get theirs. Who has been a client knows some ids, and gets
//! answers to them; each is shorter than the packet that it answers, and costs less than that.
//!
//! A secret belongs to one endpoint. If two used the same one, an attacker could have one of them
//! compute the tokens of the other's connections. So of several servers behind one address, each
//! resets only its own connections: a client whose packets reach another server after its own has
//! died notices that by its time-out.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quinn::EndpointConfig;
use ring::hmac;

use super::cid::TaggedConnectionIds;
use crate::random::system_random;

/// All are answered: see the module. With quinn's 20 ms, or any other time, a flood of packets
/// could take the answers from the others, which would wait for their idle time-out.
const MIN_RESET_INTERVAL: Duration = Duration::ZERO;

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
        system_random().map(Self)
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

/// A server's endpoint. Its connection ids have all the same length, so that it can also read those
/// that it issued before a restart.
pub fn server_endpoint_config(secret: &ResetSecret) -> EndpointConfig {
    let ids = connection_ids(secret);
    let mut config = EndpointConfig::new(Arc::new(hmac_key(secret)));
    config.cid_generator(move || Box::new(ids.clone())).min_reset_interval(MIN_RESET_INTERVAL);
    config
}

/// Ids show a part of what their key computes, so that is not the key of the tokens.
fn connection_ids(secret: &ResetSecret) -> TaggedConnectionIds {
    TaggedConnectionIds::new(hmac_key(&secret.of_endpoint("connection ids")))
}

fn hmac_key(secret: &ResetSecret) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &secret.0)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
    use std::sync::Mutex;

    use quinn::{Connection, ConnectionError, ConnectionIdGenerator as _, Endpoint, TokioRuntime};
    use quinn_proto::RandomConnectionIdGenerator;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::time::timeout;

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
        // It answers to all ids, and has not the secret.
        let mut config = EndpointConfig::default();
        config.cid_generator(|| Box::new(RandomConnectionIdGenerator::default()));
        let stranger = start_server(config);
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
        pair.near.send_datagram(b"still here".to_vec().into()).unwrap();
        loop {
            let arrived = pair.far.read_datagram().await.unwrap();
            if &arrived[..] == b"still here" {
                break;
            }
        }
        assert_eq!(pair.near.close_reason(), None);
        assert!(pair.near.stats().udp_rx.datagrams >= before);
    }

    #[tokio::test]
    async fn a_server_answers_only_to_ids_that_it_or_its_predecessor_made() {
        let secret = ResetSecret::random().unwrap();
        let restarted = start_server(server_endpoint_config(&secret));
        let address = restarted.local_addr().unwrap();
        let socket = tokio::net::UdpSocket::bind(loopback()).await.unwrap();
        // A packet with a short header: flags, the id, and what would be encrypted.
        let send = async |id: &[u8]| {
            let packet = [&[0b0100_0000], id, &[7; 40]].concat();
            socket.send_to(&packet, address).await.unwrap();
        };
        let expect_answer = async || {
            let mut answer = [0; 100];
            let received = timeout(Duration::from_secs(10), socket.recv_from(&mut answer)).await;
            let (length, _) = received.expect("an answer").unwrap();
            assert!(length < 49, "{length} bytes answer 49");
        };
        let mut former = connection_ids(&secret);
        // Between the junk, each former id is answered, however soon they follow each other.
        for _ in 0..20 {
            for _ in 0..50 {
                let junk: [u8; 8] = system_random().unwrap();
                send(&junk).await;
            }
            for _ in 0..5 {
                send(&former.generate_cid()).await;
            }
            for _ in 0..5 {
                expect_answer().await;
            }
        }
        // Another one is the answer to the last id, so none of the junk was answered.
        send(&former.generate_cid()).await;
        expect_answer().await;
        assert!(socket.try_recv_from(&mut [0; 100]).is_err());
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
                let mut bytes = [0; 2_048];
                let mut client = None;
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
        Pair { near: near.unwrap(), far, server, line, _client: client }
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
