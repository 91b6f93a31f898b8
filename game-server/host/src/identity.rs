//! The identity of a server: a certificate with its key, and the fingerprint that clients pin.
//!
//! Clients of Ambit use no certificate authority. They compare the SHA-256 of the certificate with
//! the one they saw at first, or with the one in a ticket. A host process creates its own
//! certificate at each start; the WorldServer keeps one.

use ambit_transport::quic::Fingerprint;
use anyhow::Context as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Names in a generated certificate. Clients do not check them, but a certificate needs some.
const CERTIFICATE_NAMES: [&str; 2] = ["ambit", "localhost"];

/// A certificate chain and its private key.
#[derive(Debug)]
pub struct ServerIdentity {
    /// The certificates, the server's own first.
    pub chain: Vec<CertificateDer<'static>>,
    /// The key of the first one.
    pub key: PrivateKeyDer<'static>,
}

/// A new self-signed certificate as text, for files.
pub struct IdentityPem {
    pub certificate: String,
    /// Its private key; secret.
    pub key: String,
}

impl ServerIdentity {
    /// Creates a self-signed certificate (ECDSA P-256), in memory only.
    pub fn generate() -> anyhow::Result<Self> {
        let made = generate_key_pair()?;
        Ok(Self {
            chain: vec![made.cert.der().clone()],
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der())),
        })
    }

    /// The fingerprint that clients pin.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.chain[0])
    }
}

impl IdentityPem {
    /// Creates a self-signed certificate (ECDSA P-256).
    pub fn generate() -> anyhow::Result<Self> {
        let made = generate_key_pair()?;
        Ok(Self { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }
}

fn generate_key_pair() -> anyhow::Result<rcgen::CertifiedKey<rcgen::KeyPair>> {
    rcgen::generate_simple_self_signed(CERTIFICATE_NAMES.map(String::from))
        .context("making a certificate")
}

/// Parses a fingerprint as servers print it: `sha256:` and 64 hexadecimal digits, or the digits
/// alone.
pub fn parse_fingerprint(text: &str) -> Result<Fingerprint, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    digits.parse().map_err(|bad| {
        format!("{bad}; a WorldServer prints its own as `certificate=sha256:...` when it is ready")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_fingerprint_reads_back() {
        let fingerprint = ServerIdentity::generate().unwrap().fingerprint();
        assert_eq!(parse_fingerprint(&format!("sha256:{fingerprint}")), Ok(fingerprint));
        assert_eq!(parse_fingerprint(&fingerprint.to_string()), Ok(fingerprint));
        assert!(parse_fingerprint("sha256:12").is_err());
    }

    #[test]
    fn two_certificates_differ() {
        assert_ne!(
            ServerIdentity::generate().unwrap().fingerprint(),
            ServerIdentity::generate().unwrap().fingerprint()
        );
    }
}
