//! Proof that a peer has a key, without the key.
//!
//! The proof is an HMAC with the key over bytes that both ends of one TLS connection derive from it
//! (its exporter, RFC 8446, section 7.5). So a proof is worth nothing on another connection: the
//! receiver cannot use it towards a third party. Each role has a proof of its own, so that a proof
//! cannot be sent back. A key of few possible values could still be guessed from a proof: it should
//! be random.

use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use ring::hmac;

/// Names the bytes of the exporter.
pub const LABEL: &[u8] = b"EXPORTER-ambit-key-proof";

/// The length of a proof.
pub const PROOF_BYTES: usize = 32;
/// The role of a host of rooms, and of the process that watches it.
pub const HOST: &str = "host";

/// Opens the first stream of a host's connection. The proof that the host has `key` comes first on
/// it, before anything else: the other end does no work for a peer without it.
pub async fn open_as_host(
    connection: &Connection,
    key: &[u8],
) -> Result<(SendStream, RecvStream), ConnectionError> {
    let (mut output, input) = connection.open_bi().await?;
    // Without a TLS session the connection has ended, and its end is reported.
    if let Some(proof) = KeyProof::new(connection, key)
        && output.write_all(&proof.make(HOST)).await.is_ok()
    {
        return Ok((output, input));
    }
    Err(connection.closed().await)
}

/// The key with which proofs are made and checked on one connection.
pub struct KeyProof {
    key: hmac::Key,
    /// The connection's own bytes.
    binding: [u8; 32],
}

impl KeyProof {
    /// With the bytes that both ends have derived from their connection by [`LABEL`].
    pub fn with_binding(binding: [u8; 32], key: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key), binding }
    }

    /// `None` if the connection has no TLS session any more.
    pub fn new(connection: &Connection, key: &[u8]) -> Option<Self> {
        let mut binding = [0; 32];
        connection.export_keying_material(&mut binding, LABEL, &[]).ok()?;
        Some(Self::with_binding(binding, key))
    }

    /// The proof of the peer with that role.
    pub fn make(&self, role: &str) -> Vec<u8> {
        hmac::sign(&self.key, &self.message(role)).as_ref().to_vec()
    }

    /// Whether a peer with that role has the key. Takes the same time whatever is wrong.
    pub fn check(&self, role: &str, proof: &[u8]) -> bool {
        hmac::verify(&self.key, &self.message(role), proof).is_ok()
    }

    fn message(&self, role: &str) -> Vec<u8> {
        [&self.binding, role.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_key_one_connection_and_one_role() {
        let proof = |key: &[u8], binding| KeyProof {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
            binding: [binding; 32],
        };
        let shown = proof(b"a key", 1).make("follower");
        assert!(proof(b"a key", 1).check("follower", &shown));
        assert!(!proof(b"a key", 1).check("leader", &shown), "sent back");
        assert!(!proof(b"a key", 2).check("follower", &shown), "passed on");
        assert!(!proof(b"other", 1).check("follower", &shown));
        assert!(!proof(b"a key", 1).check("follower", &shown[1..]));
        assert!(!proof(b"a key", 1).check("follower", b"a key"));
    }
}
