//! The secret of a server, or of the servers of a cluster. It comes from the shell.

use ring::hmac;

/// What the key of a cluster's hosts is used for here: no other use of it gives the same bytes.
const PURPOSE: &[u8] = b"ambit: secret of seeds";

/// A server's secret: who knows it can compute the random numbers of rooms with named seeds, and
/// try out passwords of rooms that the directory holds.
#[derive(Clone, PartialEq, Eq, derive_more::Debug)]
#[debug("ServerSecret(..)")]
pub struct ServerSecret([u8; ServerSecret::LENGTH]);

impl ServerSecret {
    /// Its length in bytes.
    pub const LENGTH: usize = 32;

    pub fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// The secret of the servers that share this key.
    pub fn from_shared_key(key: &[u8]) -> Self {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), PURPOSE);
        Self(tag.as_ref().try_into().expect("SHA-256 gives 32 bytes"))
    }

    /// Bytes that only servers with this secret can compute from these (HMAC-SHA256).
    pub(crate) fn sign(&self, bytes: &[u8]) -> [u8; Self::LENGTH] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), bytes);
        tag.as_ref().try_into().expect("SHA-256 gives 32 bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_printed() {
        assert_eq!(format!("{:?}", ServerSecret::new([1; 32])), "ServerSecret(..)");
    }
}
