//! How fresh a client's view of an object should be, and the priority that follows from it.
//!
//! The target ages of a kind and the distance of an object go in. Out come a class, the rate at
//! which the priority grows while the object waits, and the error up to which the client's
//! extrapolation is accepted. Sources: G. Fiedler, "State Synchronization" (priority accumulators);
//! "Optimisation des échanges de données" (extrapolation by the receiver).
//!
//! With enough bytes, everything that changed is sent at each tick. Under a tight budget the
//! highest priority is sent first: the time since the object was sent times the rate of its class.
//! So no object waits for ever, and classes degrade in order: far objects exceed their target age
//! by a factor of four before near ones exceed theirs, and those by a factor of four before the
//! engaged ones do.

use ambit_proto::schema::{ObjectKind, PosePresentation, Schema};
use serde::{Deserialize, Serialize};

/// How important an object is to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessClass {
    /// The own avatar, the own team, the player's target or attacker.
    Engaged,
    /// Within the kind's `near_m`.
    Near,
    /// Beyond the kind's `near_m`.
    Far,
}

/// The factor by which a class may exceed its target age before the next class exceeds its own.
const CLASS_RATIO: f32 = 4.0;
/// Metres beyond `near_m` for each further unit of the position grid that a far object may be off.
const METRES_PER_UNIT: f32 = 8.0;
/// The largest tolerance: a larger error is visible at any distance.
pub const MAX_TOLERANCE: u16 = 8;

/// The freshness of one kind, prepared for use for each object, client and tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshnessRates {
    near_m: f32,
    /// By class: priority for each millisecond of waiting.
    priority_per_ms: [f32; 3],
    /// By class: the target age.
    target_ms: [u32; 3],
    /// Whether clients extrapolate by their own physics, which the host does not reproduce.
    pub simulated: bool,
    /// The tolerance beside an object that the player does not own, in units of the position grid.
    tolerance: f32,
    /// How much each metre beyond `tolerant_from_m` adds.
    tolerance_per_m: f32,
    tolerant_from_m: f32,
    max_tolerance: f32,
}

impl FreshnessRates {
    /// The rates of one kind.
    pub fn of(kind: &ObjectKind) -> Self {
        let freshness = &kind.freshness;
        let sync = kind.presentation;
        let per_metre = kind.pose_format().map_or(1.0, |format| f32::from(format.per_metre));
        let target = |ms: u32| 1.0 / ms.max(1) as f32;
        let per_ms = [
            CLASS_RATIO * CLASS_RATIO * target(freshness.engaged_ms),
            CLASS_RATIO * target(freshness.near_ms),
            target(freshness.far_ms),
        ];
        let target_ms = [freshness.engaged_ms, freshness.near_ms, freshness.far_ms];
        let plain = FreshnessRates {
            near_m: freshness.near_m,
            priority_per_ms: per_ms,
            target_ms,
            simulated: sync == PosePresentation::Simulated,
            tolerance: 1.0,
            tolerance_per_m: 1.0 / METRES_PER_UNIT,
            tolerant_from_m: freshness.near_m,
            max_tolerance: MAX_TOLERANCE.into(),
        };
        kind.reckoning.map_or(plain, |reckoning| FreshnessRates {
            tolerance: reckoning.tolerance_m * per_metre,
            tolerance_per_m: reckoning.tolerance_per_m * per_metre,
            tolerant_from_m: 0.0,
            max_tolerance: f32::from(u16::MAX - 1),
            ..plain
        })
    }

    /// The rates of all kinds of a schema, by kind.
    pub fn of_schema(schema: &Schema) -> Vec<Self> {
        schema.kinds.iter().map(FreshnessRates::of).collect()
    }

    /// The class of an object that the player is not engaged with.
    pub fn class(&self, distance_m: f32) -> FreshnessClass {
        if distance_m <= self.near_m { FreshnessClass::Near } else { FreshnessClass::Far }
    }

    /// The priority of an object of `class` that has waited for `waited_ms`.
    pub fn priority(&self, class: FreshnessClass, waited_ms: u64) -> f32 {
        self.priority_per_ms[class as usize] * waited_ms as f32
    }

    /// The target age: even an object that the client extrapolates well is sent as often as this.
    pub fn target_ms(&self, class: FreshnessClass) -> u64 {
        self.target_ms[class as usize].into()
    }

    /// The accepted error of an object at this distance, in units of the position grid. What a
    /// player steers is compared with what the client predicts, so that is exact.
    pub fn tolerance(&self, distance_m: f32, is_ally: bool) -> u16 {
        if is_ally {
            return 1;
        }
        let beyond = (distance_m - self.tolerant_from_m).max(0.0) * self.tolerance_per_m;
        (self.tolerance + beyond).min(self.max_tolerance) as u16
    }
}

/// Distance on the ground, in metres.
pub fn distance_m(a: [f32; 2], b: [f32; 2]) -> f32 {
    let (x, y) = (a[0] - b[0], a[1] - b[1]);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_degrade_in_order() {
        let rates = FreshnessRates::of(&ObjectKind::default());
        // A far object at four times its target age has the priority of a near one at its target
        // age.
        assert_eq!(
            rates.priority(FreshnessClass::Far, 1_600),
            rates.priority(FreshnessClass::Near, 100)
        );
        assert_eq!(
            rates.priority(FreshnessClass::Near, 400),
            rates.priority(FreshnessClass::Engaged, 50)
        );
        // Any object that waits long enough comes first.
        assert!(
            rates.priority(FreshnessClass::Far, 60_000)
                > rates.priority(FreshnessClass::Engaged, 150)
        );
    }

    #[test]
    fn tolerance_grows_with_distance_up_to_a_bound() {
        let rates = FreshnessRates::of(&ObjectKind::default());
        assert_eq!(
            [0.0, 15.0, 22.9, 23.1, 1_000.0].map(|metres| rates.tolerance(metres, false)),
            [1, 1, 1, 2, MAX_TOLERANCE]
        );
        assert_eq!(
            (rates.class(15.0), rates.class(15.1)),
            (FreshnessClass::Near, FreshnessClass::Far)
        );
    }
}
