//! Authentication of servers by certificate fingerprint: a certificate is identified by its
//! SHA-256, like a host key in ssh.
//!
//! Input: a certificate. Output: trusted or refused. Names, validity dates and authorities are
//! ignored: the fingerprint replaces all of them. The handshake's signature still proves that the
//! peer holds the certificate's key; the provider's algorithms check it. So a fingerprint in
//! [`PresentedCertificate`] is only a claim until the connection is established.
//!
//! There are two kinds of trust: exactly one fingerprint, which a ticket names; and the decision of
//! a [`TrustPolicy`], such as "the same as last time" (trust on first use).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use parking_lot::Mutex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, PeerIncompatible, SignatureScheme};

/// SHA-256 of a certificate (DER). Parses and prints as 64 hexadecimal digits; colons between pairs
/// are accepted.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display, derive_more::Debug,
)]
#[display("{}", HEXLOWER.encode(_0))]
#[debug("{}", self)]
pub struct Fingerprint(pub [u8; 32]);

/// The bytes or the text are not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is a SHA-256: 32 bytes, or 64 hexadecimal digits")]
pub struct BadFingerprint;

impl Fingerprint {
    pub fn of(certificate: &CertificateDer<'_>) -> Self {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        Self::try_from(digest.as_ref()).expect("SHA-256 has 32 bytes")
    }

    /// The fingerprint of the certificate that the server of `connection` has presented.
    pub fn of_peer(connection: &quinn::Connection) -> Option<Self> {
        let chain = connection.peer_identity()?.downcast::<Vec<CertificateDer<'static>>>().ok()?;
        chain.first().map(Self::of)
    }
}

/// From the bytes of a control message.
impl TryFrom<&[u8]> for Fingerprint {
    type Error = BadFingerprint;

    fn try_from(bytes: &[u8]) -> Result<Self, BadFingerprint> {
        bytes.try_into().map(Self).map_err(|_| BadFingerprint)
    }
}

impl FromStr for Fingerprint {
    type Err = BadFingerprint;

    fn from_str(text: &str) -> Result<Self, BadFingerprint> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.replace(':', "").as_bytes());
        Self::try_from(&*bytes.map_err(|_| BadFingerprint)?)
    }
}

/// Decides whether to trust a server's certificate.
pub trait TrustPolicy: Send + Sync {
    /// Whether `server` (the name that the connection was opened to) may present the fingerprint
    /// `shown`. Called during each handshake, before the server has proved that it holds the key:
    /// store a new fingerprint only once the connection is established.
    fn is_trusted(&self, server: &str, shown: Fingerprint) -> bool;
}

impl<F: Fn(&str, Fingerprint) -> bool + Send + Sync> TrustPolicy for F {
    fn is_trusted(&self, server: &str, shown: Fingerprint) -> bool {
        self(server, shown)
    }
}

/// The certificate that a server has presented, and the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentedCertificate {
    pub fingerprint: Fingerprint,
    /// Whether the certificate was trusted.
    pub is_trusted: bool,
}

/// Lets a handshake continue when the server's certificate is trusted by its fingerprint.
pub struct FingerprintVerifier {
    policy: Box<dyn TrustPolicy>,
    algorithms: WebPkiSupportedAlgorithms,
    /// Of the newest handshake. Locked only to assign or copy it.
    presented: Mutex<Option<PresentedCertificate>>,
}

impl FingerprintVerifier {
    /// Trusts this one certificate, under any name.
    pub fn pinned(pin: Fingerprint) -> Arc<Self> {
        Self::with_policy(move |_: &str, shown| shown == pin)
    }

    /// Asks `trust` at each handshake.
    pub fn with_policy(trust: impl TrustPolicy + 'static) -> Arc<Self> {
        Arc::new(Self {
            policy: Box::new(trust),
            algorithms: rustls::crypto::ring::default_provider().signature_verification_algorithms,
            presented: Mutex::new(None),
        })
    }

    /// The certificate of the newest handshake: for the error message when the connection fails.
    pub fn presented(&self) -> Option<PresentedCertificate> {
        *self.presented.lock()
    }
}

impl fmt::Debug for FingerprintVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FingerprintVerifier")
            .field("shown", &self.presented())
            .finish_non_exhaustive()
    }
}

impl ServerCertVerifier for FingerprintVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let fingerprint = Fingerprint::of(end_entity);
        let trusted = self.policy.is_trusted(&server_name.to_str(), fingerprint);
        *self.presented.lock() = Some(PresentedCertificate { fingerprint, is_trusted: trusted });
        if trusted {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use rustls::pki_types::PrivateKeyDer;

    use super::*;
    use crate::quic::{ALPN_WORLD, client_tls, server_tls};

    #[test]
    fn a_fingerprint_reads_as_it_prints() {
        let fingerprint = Fingerprint::of(&CertificateDer::from(b"abc".to_vec()));
        let printed = fingerprint.to_string();
        assert_eq!(printed, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(printed.parse(), Ok(fingerprint));
        assert_eq!(printed.to_uppercase().parse(), Ok(fingerprint));
        let pairs = printed
            .as_bytes()
            .chunks(2)
            .map(|pair| String::from_utf8_lossy(pair))
            .collect::<Vec<_>>();
        assert_eq!(pairs.join(":").parse(), Ok(fingerprint));
        assert_eq!(Fingerprint::try_from(&fingerprint.0[..]), Ok(fingerprint));
    }

    #[test]
    fn a_wrong_length_or_digit_is_not_a_fingerprint() {
        let long = "ab".repeat(33);
        for text in ["", "ab", &long, &long[..65], &"xy".repeat(32), &"ä".repeat(32)] {
            assert_eq!(text.parse::<Fingerprint>(), Err(BadFingerprint), "{text}");
        }
        assert_eq!(Fingerprint::try_from(&[0; 31][..]), Err(BadFingerprint));
    }

    #[test]
    fn a_certificate_without_its_private_key_is_refused() {
        let (certificate, key) = identity();
        let (_, other_key) = identity();
        let verifier = FingerprintVerifier::pinned(Fingerprint::of(&certificate));
        assert_eq!(handshake(&verifier, certificate.clone(), key), Ok(()));
        // rustls checks that key and certificate belong together; a thief's server would not.
        let stolen = ForeignKeySigner { certificate: certificate.clone(), key: other_key };
        assert!(stolen.handshake(&verifier).is_err());
        assert_eq!(verifier.presented().map(|shown| shown.is_trusted), Some(true));
    }

    type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

    fn identity() -> Identity {
        let made = rcgen::generate_simple_self_signed(["ambit".into()]).expect("a certificate");
        (made.cert.der().clone(), PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into()))
    }

    fn handshake(
        verifier: &Arc<FingerprintVerifier>,
        certificate: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
    ) -> Result<(), Error> {
        let server = server_tls(vec![certificate], key, &[ALPN_WORLD]).expect("a key that fits");
        shake_hands(verifier, server)
    }

    struct ForeignKeySigner {
        certificate: CertificateDer<'static>,
        key: PrivateKeyDer<'static>,
    }

    impl ForeignKeySigner {
        fn handshake(self, verifier: &Arc<FingerprintVerifier>) -> Result<(), Error> {
            let (own, own_key) = identity();
            let mut server =
                server_tls(vec![own], own_key, &[ALPN_WORLD]).expect("a key that fits");
            let key =
                server.crypto_provider().key_provider.load_private_key(self.key).expect("a key");
            let shown = rustls::sign::CertifiedKey::new(vec![self.certificate], key);
            server.cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(shown));
            shake_hands(verifier, server)
        }
    }

    /// A TLS handshake in memory.
    fn shake_hands(
        verifier: &Arc<FingerprintVerifier>,
        server: rustls::ServerConfig,
    ) -> Result<(), Error> {
        let client = client_tls(ALPN_WORLD, verifier.clone());
        let name = ServerName::try_from("lobby.test").expect("a name");
        let mut client = rustls::ClientConnection::new(Arc::new(client), name)?;
        let mut server = rustls::ServerConnection::new(Arc::new(server))?;
        while client.is_handshaking() || server.is_handshaking() {
            let mut wire = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut wire).expect("writing to a Vec cannot fail");
            }
            carry(&wire, |bytes| server.read_tls(bytes));
            server.process_new_packets()?;
            let mut wire = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut wire).expect("writing to a Vec cannot fail");
            }
            carry(&wire, |bytes| client.read_tls(bytes));
            client.process_new_packets()?;
        }
        Ok(())
    }

    fn carry(wire: &[u8], mut read: impl FnMut(&mut Cursor<&[u8]>) -> std::io::Result<usize>) {
        let mut bytes = Cursor::new(wire);
        while (bytes.position() as usize) < wire.len() {
            read(&mut bytes).expect("bytes in memory");
        }
    }
}
