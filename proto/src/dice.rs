//! Dice as part of what is saved: their state is a number.

use fastrand::Rng;
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes where dice are.
pub fn serialize<S: Serializer>(dice: &Rng, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(dice.get_seed())
}

/// Dice that go on where others were.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Rng, D::Error> {
    u64::deserialize(deserializer).map(Rng::with_seed)
}
