//! TLS whose random bytes follow from a seed. It protects nothing: it is for simulations alone, and
//! no package that is shipped depends on this one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use ambit_transport::quic::{ALPN_GAME, Fingerprint, FingerprintVerifier, transport_config};
use fastrand::Rng;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{HandshakeTokenKey, HmacKey};
use quinn_proto::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, EndpointConfig, ServerConfig, Side,
    TimeSource,
};
use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use ring::{digest, hkdf, hmac};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{NamedGroup, ProtocolVersion};

/// What comes before the 32 bytes of a key in its usual form (RFC 8410, section 7).
const ED25519_HEAD: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/// Of those for private use (RFC 8446, section 4.2.7): no other TLS knows it.
const TOY_GROUP: NamedGroup = NamedGroup::Unknown(0xfe_a1);

/// Random bytes from a seed, for all that an endpoint needs them for.
#[derive(Clone, Debug)]
pub(super) struct SeededBytes(Arc<Mutex<Rng>>);

impl SeededBytes {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(Rng::with_seed(seed))))
    }

    fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut bytes);
        bytes
    }
}

impl SecureRandom for SeededBytes {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(bytes);
        Ok(())
    }
}

/// A key exchange whose secret anyone can compute from what is on the wire.
impl SupportedKxGroup for SeededBytes {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, rustls::Error> {
        Ok(Box::new(ToyExchange { public: self.bytes() }))
    }

    fn name(&self) -> NamedGroup {
        TOY_GROUP
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

struct ToyExchange {
    public: [u8; 32],
}

impl ActiveKeyExchange for ToyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, rustls::Error> {
        let mut both = [&self.public[..], peer];
        both.sort_unstable();
        let secret = digest::digest(&digest::SHA256, &both.concat());
        Ok(secret.as_ref().into())
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        TOY_GROUP
    }
}

impl ConnectionIdGenerator for SeededBytes {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.bytes::<8>())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}

/// What the age of tokens is counted by: they do not age.
struct StoppedClock;

impl TimeSource for StoppedClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

pub(super) fn endpoint_config(random: &SeededBytes) -> EndpointConfig {
    let reset_key: Arc<dyn HmacKey> =
        Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &random.bytes::<32>()));
    let mut config = EndpointConfig::new(reset_key);
    let ids = random.clone();
    config.rng_seed(Some(random.bytes())).cid_generator(move || Box::new(ids.clone()));
    config
}

pub(super) fn server_config(random: &SeededBytes) -> (ServerConfig, Fingerprint) {
    let key = [&ED25519_HEAD[..], &random.bytes::<32>()].concat();
    let key = PrivatePkcs8KeyDer::from(key);
    let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_ED25519).expect("a key");
    let certificate = CertificateParams::new(["ambit".to_owned()])
        .and_then(|params| params.self_signed(&pair))
        .expect("a certificate");
    let certificate: CertificateDer<'static> = certificate.into();
    let fingerprint = Fingerprint::of(&certificate);
    let mut tls = rustls::ServerConfig::builder_with_provider(provider(random))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key))
        .expect("a key that fits");
    tls.alpn_protocols = vec![ALPN_GAME.to_vec()];
    tls.send_tls13_tickets = 0;
    let tls = QuicServerConfig::try_from(tls).expect("the first cipher suite");
    let token_key: Arc<dyn HandshakeTokenKey> =
        Arc::new(hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&random.bytes::<32>()));
    let mut config = ServerConfig::new(Arc::new(tls), token_key);
    config
        .transport_config(Arc::new(transport_config(Side::Server)))
        .time_source(Arc::new(StoppedClock));
    (config, fingerprint)
}

pub(super) fn client_config(random: &SeededBytes, server: Fingerprint) -> ClientConfig {
    let mut tls = rustls::ClientConfig::builder_with_provider(provider(random))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .dangerous()
        .with_custom_certificate_verifier(FingerprintVerifier::pinned(server))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN_GAME.to_vec()];
    tls.resumption = rustls::client::Resumption::disabled();
    let tls = QuicClientConfig::try_from(tls).expect("the first cipher suite");
    let mut config = ClientConfig::new(Arc::new(tls));
    let ids = random.clone();
    config
        .transport_config(Arc::new(transport_config(Side::Client)))
        .initial_dst_cid_provider(Arc::new(move || ConnectionId::new(&ids.bytes::<8>())));
    config
}

/// ring's algorithms. rustls wants the random sources for ever: a few bytes a simulation.
fn provider(random: &SeededBytes) -> Arc<CryptoProvider> {
    let random: &'static SeededBytes = Box::leak(Box::new(random.clone()));
    Arc::new(CryptoProvider {
        kx_groups: vec![random],
        secure_random: random,
        ..rustls::crypto::ring::default_provider()
    })
}
