//! How fresh a client's picture of an object should be, and what that makes it worth.
//!
//! A kind's target ages and how near an object is go in; a class comes out, a rate at which its
//! priority grows while it waits, and by how much the client may be wrong before it is told.
//! PoseSource: design, section 6; reference 004 for what the receiver foretells.
//!
//! With bytes enough, everything that changed is told at each tick. Under a tight budget what has
//! the highest priority goes first: the time since it was sent times the rate of its class. So
//! nothing waits for ever, and classes degrade in order: far objects are four times beyond their
//! target age before near ones are beyond theirs, and those four times before what the player
//! fights is.

use ambit_proto::schema::{Freshness, ObjectKind, PosePresentation, Schema};

/// How much a player cares about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FreshnessClass {
    /// The own avatar, the party, what one fights.
    EngagedObjects,
    /// Within the kind's `near_m`.
    NearlyEqual,
    /// Beyond that.
    Far,
}

/// All of them, by their index.
pub const FRESHNESS_CLASSES: [FreshnessClass; 3] = [
    FreshnessClass::EngagedObjects,
    FreshnessClass::NearlyEqual,
    FreshnessClass::Far,
];

/// What one class yields to the next: it may be as many times beyond its target age before the next
/// one is at its own.
const CLASS_RATIO: f32 = 4.0;
/// Metres beyond `near_m` for each further unit of the grid that a far object may be off.
const METRES_PER_UNIT: f32 = 8.0;
/// More than that is seen at any distance.
pub const MAX_TOLERANCE: u16 = 8;

/// What one kind's freshness comes to, ready to be used for each object, client and tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshnessRates {
    near_m: f32,
    /// By class: priority a millisecond of waiting.
    priority_per_ms: [f32; 3],
    /// By class: the target age.
    target_ms: [u32; 3],
    /// Whether clients go on by their own physics, which the host does not foretell.
    pub simulated: bool,
}

impl FreshnessRates {
    /// Of a kind.
    pub fn of(freshness: &Freshness, sync: PosePresentation) -> Self {
        let target = |ms: u32| 1.0 / ms.max(1) as f32;
        let per_ms = [
            CLASS_RATIO * CLASS_RATIO * target(freshness.engaged_ms),
            CLASS_RATIO * target(freshness.near_ms),
            target(freshness.far_ms),
        ];
        let target_ms = [freshness.engaged_ms, freshness.near_ms, freshness.far_ms];
        FreshnessRates {
            near_m: freshness.near_m,
            priority_per_ms: per_ms,
            target_ms,
            simulated: sync == PosePresentation::Simulated,
        }
    }

    /// Of all kinds of a schema.
    pub fn of_schema(schema: &Schema) -> Vec<Self> {
        schema
            .kinds
            .iter()
            .map(|kind: &ObjectKind| FreshnessRates::of(&kind.freshness, kind.presentation))
            .collect()
    }

    /// The class of an object that the player is not engaged with.
    pub fn class(&self, distance_m: f32) -> FreshnessClass {
        if distance_m <= self.near_m {
            FreshnessClass::NearlyEqual
        } else {
            FreshnessClass::Far
        }
    }

    /// Priority of what has waited for so long.
    pub fn priority(&self, class: FreshnessClass, waited_ms: u64) -> f32 {
        self.priority_per_ms[class as usize] * waited_ms as f32
    }

    /// How old what a client sees of an object may get: even what it foretells is told so often.
    pub fn target_ms(&self, class: FreshnessClass) -> u64 {
        self.target_ms[class as usize].into()
    }

    /// By how many units of the grid a client may be wrong about an object so far away.
    pub fn tolerance(&self, distance_m: f32) -> u16 {
        let beyond =
            ((distance_m - self.near_m) / METRES_PER_UNIT).clamp(0.0, f32::from(MAX_TOLERANCE - 1));
        1 + beyond as u16
    }
}

/// Distance on the ground.
pub fn distance_m(a: [f32; 2], b: [f32; 2]) -> f32 {
    let (x, y) = (a[0] - b[0], a[1] - b[1]);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_degrade_in_order() {
        let rates = FreshnessRates::of(
            &Freshness {
                engaged_ms: 50,
                near_m: 15.0,
                near_ms: 100,
                far_ms: 400,
            },
            PosePresentation::Interpolated,
        );
        // A far object that waits for four times its target is worth a near one at its target.
        assert_eq!(
            rates.priority(FreshnessClass::Far, 1_600),
            rates.priority(FreshnessClass::NearlyEqual, 100)
        );
        assert_eq!(
            rates.priority(FreshnessClass::NearlyEqual, 400),
            rates.priority(FreshnessClass::EngagedObjects, 50)
        );
        // What waits long enough goes before anything.
        assert!(
            rates.priority(FreshnessClass::Far, 60_000)
                > rates.priority(FreshnessClass::EngagedObjects, 150)
        );
    }

    #[test]
    fn tolerance_grows_with_distance_up_to_a_bound() {
        let rates = FreshnessRates::of(&Freshness::default(), PosePresentation::Interpolated);
        assert_eq!(
            [0.0, 15.0, 22.9, 23.1, 1_000.0].map(|metres| rates.tolerance(metres)),
            [1, 1, 1, 2, MAX_TOLERANCE]
        );
        assert_eq!(
            (rates.class(15.0), rates.class(15.1)),
            (FreshnessClass::NearlyEqual, FreshnessClass::Far)
        );
    }
}
