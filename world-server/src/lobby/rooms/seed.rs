//! The seeds of rooms.
//!
//! All random numbers of a room follow from its seed, so who knows it knows what will happen. A
//! seed that a player names is therefore mixed with a secret of the server: the same one gives the
//! same room here, and another room elsewhere. The list of rooms does not show it.
//!
//! The secret comes from the shell. Hosts get only mixed seeds, so recordings and rooms that
//! resume on other hosts need no secret.

use std::collections::BTreeMap;
use std::fmt;

use ring::hmac;

use crate::lobby::rooms::room::LobbyRoom;

/// The room parameter.
const SEED: &str = "seed";
/// What the key of a cluster's hosts is used for here: no other use of it gives the same bytes.
const PURPOSE: &[u8] = b"ambit: secret of seeds";

/// A server's secret: who knows it can compute the random numbers of rooms with named seeds, and
/// try out passwords of rooms that the directory holds.
#[derive(Clone, PartialEq, Eq)]
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

    /// The seed that a room gets for the one that its player named.
    fn mix(&self, named: u64) -> u64 {
        let tag = self.sign(&named.to_be_bytes());
        u64::from_be_bytes(*tag.first_chunk().expect("32 bytes are more than 8"))
    }

    /// Bytes that only servers with this secret can compute from these (HMAC-SHA256).
    pub(in crate::lobby) fn sign(&self, bytes: &[u8]) -> [u8; Self::LENGTH] {
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.0), bytes);
        tag.as_ref().try_into().expect("SHA-256 gives 32 bytes")
    }
}

impl fmt::Debug for ServerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerSecret(..)")
    }
}

impl LobbyRoom {
    /// Sets the seed for the start of the game: from the one that the player named, or `random`.
    pub(in crate::lobby) fn choose_seed(&mut self, secret: Option<&ServerSecret>, random: u64) {
        self.seed = match self.named_seed() {
            Some(named) => secret.map_or(named, |secret| secret.mix(named)),
            None => random,
        };
    }

    /// Replaces the seed that the player named by the one of the room, for a host.
    pub(in crate::lobby) fn replace_seed(&self, parameters: &mut BTreeMap<String, String>) {
        if let Some(seed) = parameters.get_mut(SEED) {
            *seed = self.seed.to_string();
        }
    }

    /// The parameters that players see.
    pub(in crate::lobby) fn public_parameters(&self) -> BTreeMap<String, String> {
        let mut parameters = self.parameters.clone();
        parameters.remove(SEED);
        parameters
    }

    fn named_seed(&self) -> Option<u64> {
        self.parameters.get(SEED)?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_and_each_seed_give_other_numbers() {
        let secrets = [
            ServerSecret::new([1; 32]),
            ServerSecret::new([2; 32]),
            ServerSecret::from_shared_key(b"a key of the hosts"),
            ServerSecret::from_shared_key(b"another key of theirs"),
        ];
        let mut seeds: Vec<u64> = secrets
            .iter()
            .flat_map(|secret| [0, 1, 7, u64::MAX].map(|named| secret.mix(named)))
            .chain([0, 1, 7, u64::MAX])
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 20);
        // The maps that players know stay the same.
        assert_eq!(secrets[0].mix(7), 0xa913_e036_6a51_3a14);
        assert_eq!(format!("{:?}", secrets[0]), "ServerSecret(..)");
    }
}
