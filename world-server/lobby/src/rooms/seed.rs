//! The seeds of rooms.
//!
//! All random numbers of a room follow from its seed, so who knows it knows what will happen. A
//! seed that a player names is therefore mixed with a secret of the server: the same one gives the
//! same room here, and another room elsewhere. The list of rooms does not show it.
//!
//! Hosts get only mixed seeds, so recordings and rooms that resume on other hosts need no secret.

use std::collections::BTreeMap;

use crate::rooms::room::LobbyRoom;
use crate::server_secret::ServerSecret;

/// The room parameter.
pub(crate) const SEED: &str = "seed";

impl ServerSecret {
    /// The seed that a room gets for the one that its player named.
    fn mix(&self, named: u64) -> u64 {
        let tag = self.sign(&named.to_be_bytes());
        u64::from_be_bytes(*tag.first_chunk().expect("32 bytes are more than 8"))
    }
}

impl LobbyRoom {
    /// Sets the seed for the start of the game: from the one that the player named, or `random`.
    pub(crate) fn choose_seed(&mut self, secret: Option<&ServerSecret>, random: u64) {
        self.run.seed = match self.named_seed() {
            Some(named) => secret.map_or(named, |secret| secret.mix(named)),
            None => random,
        };
    }

    /// Replaces the seed that the player named by the one of the room, for a host.
    pub(crate) fn replace_seed(&self, parameters: &mut BTreeMap<String, String>) {
        if let Some(seed) = parameters.get_mut(SEED) {
            *seed = self.run.seed.to_string();
        }
    }

    /// The parameters that players see.
    pub(crate) fn public_parameters(&self) -> BTreeMap<String, String> {
        let mut parameters = self.settings.parameters.clone();
        parameters.remove(SEED);
        parameters
    }

    fn named_seed(&self) -> Option<u64> {
        self.settings.parameters.get(SEED)?.trim().parse().ok()
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
    }
}
