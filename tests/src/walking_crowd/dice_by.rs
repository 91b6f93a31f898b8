//! Random number generators by key, as part of what is saved.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the state of each.
pub(super) fn serialize<K: Serialize + Ord, S: Serializer>(
    dice: &BTreeMap<K, Rng>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(dice.iter().map(|(key, dice)| (key, dice.get_seed())))
}

/// Generators that continue from the stored states.
pub(super) fn deserialize<'de, K: Deserialize<'de> + Ord, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<K, Rng>, D::Error> {
    let seeds = BTreeMap::<K, u64>::deserialize(deserializer)?;
    Ok(seeds.into_iter().map(|(key, seed)| (key, Rng::with_seed(seed))).collect())
}
