//! Target ages: how old a client's view of an object may get before an update is due.
//!
//! Three classes: objects that the player is engaged with, near objects, and all others. The ages
//! are targets: a server plans by them, and a client measures against them; under a tight budget
//! the classes degrade in order.

use crate::space::MAX_MAP_METRES;

/// The longest target age, in milliseconds.
const MAX_AGE_MS: u32 = 60_000;

/// Target ages of a kind. Invariant, checked by [`super::Schema::check`]: 1 <= engaged <= near <=
/// far <= 60,000 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freshness {
    /// Of objects that the player is engaged with: own avatar, target, attacker, party.
    pub engaged_ms: u32,
    /// Up to this distance along the ground an object is near, in metres.
    pub near_m: f32,
    /// Of near objects.
    pub near_ms: u32,
    /// Of all others.
    pub far_ms: u32,
}

impl Default for Freshness {
    fn default() -> Self {
        Self { engaged_ms: 50, near_m: 15.0, near_ms: 100, far_ms: 400 }
    }
}

impl Freshness {
    /// The target age of an object at this distance.
    pub fn target_ms(&self, engaged: bool, distance_m: f32) -> u32 {
        match (engaged, distance_m <= self.near_m) {
            (true, _) => self.engaged_ms,
            (false, true) => self.near_ms,
            (false, false) => self.far_ms,
        }
    }

    pub(super) fn is_valid(&self) -> bool {
        let ages = [1, self.engaged_ms, self.near_ms, self.far_ms, MAX_AGE_MS];
        ages.is_sorted() && (0.0..=MAX_MAP_METRES).contains(&self.near_m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engaged_object_has_a_lower_target_age_than_a_near_one() {
        let freshness = Freshness::default();
        assert_eq!(freshness.target_ms(true, 300.0), 50);
        assert_eq!(freshness.target_ms(false, 15.0), 100);
        assert_eq!(freshness.target_ms(false, 15.1), 400);
    }
}
