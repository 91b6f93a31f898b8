//! Random numbers of one's own.

use derive_more::{Deref, DerefMut, From};
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// The random numbers of one object or player, which are saved with the game: what others do, who
/// are perhaps hidden, does not change them. [`World::rng_for`](crate::World::rng_for) gives them
/// a seed; those of the default have the seed 0.
///
/// ```
/// # use ambit::{Dice, Rng};
/// let mut dice = Dice::from(Rng::with_seed(7));
/// let roll = dice.u8(1..=6);
/// assert!((1..=6).contains(&roll));
/// ```
#[derive(Clone, Debug, Deref, DerefMut, From, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dice(#[serde(with = "ambit_proto::dice")] Rng);

impl Default for Dice {
    fn default() -> Self {
        Self(Rng::with_seed(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved;

    #[test]
    fn saved_dice_go_on_where_they_were() {
        let mut dice = Dice::default();
        dice.u64(..);
        let mut restored: Dice = saved::all(&saved::of(&dice)).expect("a number");
        assert_eq!(restored, dice);
        assert_eq!(restored.u64(..), dice.u64(..));
    }
}
