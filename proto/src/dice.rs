//! Serde support for random number generators in saved state: stores the generator's state as a
//! number.

use fastrand::Rng;
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes the generator's state.
pub fn serialize<S: Serializer>(dice: &Rng, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(dice.get_seed())
}

/// A generator that continues from the stored state.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rng, D::Error> {
    u64::deserialize(deserializer).map(Rng::with_seed)
}
