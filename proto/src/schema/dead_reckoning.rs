//! Dead reckoning of a kind: how clients go on after the newest pose, how wrong that may be before
//! a server sends a newer one, and how the shown path gets back to the right one.
//!
//! Units: metres along the ground for distances; milliseconds.

use crate::pose::{Extrapolation, PosePredictor};
use crate::space::MAX_MAP_METRES;

/// The longest convergence, in milliseconds.
pub const MAX_CONVERGENCE_MS: u32 = 500;
/// The greatest tolerance at no distance, in metres, and the most that a metre of distance adds.
pub const MAX_RECKONING_M: f32 = 10.0;

/// How the poses of a kind are extrapolated. Invariant, checked by [`super::Schema::check`]: only
/// for kinds whose poses have velocities; tolerances of 0 to 10 m, and at most 500 ms to converge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeadReckoning {
    /// What goes on: the velocity, or its change.
    pub order: ReckoningOrder,
    /// How far off what a client extrapolates may be beside the object, in metres.
    pub tolerance_m: f32,
    /// How much more for each metre of distance between the object and the viewer's avatar.
    pub tolerance_per_m: f32,
    /// How the shown path gets to the right one, once that is known.
    pub convergence: Convergence,
}

/// How an object goes on after its newest pose. See [`Extrapolation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReckoningOrder {
    /// At its velocity.
    #[default]
    First,
    /// Its velocity changes on.
    Second,
    /// Second order while the acceleration is steady.
    Automatic,
    /// By a function that host and clients share; at its velocity, where a client lacks it.
    Own,
}

/// How the shown path of an object gets to the right one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convergence {
    /// The greater the difference, the faster it decays; half of 25 cm in 0.2 s.
    #[default]
    Decaying,
    /// In equal steps, within this number of milliseconds; 0: at once.
    Linear(u32),
    /// On a cubic curve that begins with the shown velocity and ends with the right one, within
    /// this number of milliseconds; 0: at once.
    Cubic(u32),
}

/// The functions of kinds that are extrapolated by their own, by name.
pub type Predictors = Vec<(&'static str, PosePredictor)>;

impl super::ObjectKind {
    /// How its poses are extrapolated, if it says so; its own function is among these, or the
    /// velocity serves.
    pub fn extrapolation(&self, predictors: &Predictors) -> Option<Extrapolation> {
        let own = predictors.iter().find(|(name, _)| *name == self.name);
        Some(self.reckoning?.order.rule(own.map(|(_, own)| *own)))
    }
}

impl DeadReckoning {
    /// The accepted error of an object at this distance, in metres.
    pub fn tolerance_m(&self, distance_m: f32) -> f32 {
        self.tolerance_m + self.tolerance_per_m * distance_m
    }

    pub(super) fn is_valid(&self) -> bool {
        let within = |metres: f32| (0.0..=MAX_RECKONING_M).contains(&metres);
        let ms = match self.convergence {
            Convergence::Decaying => 0,
            Convergence::Linear(ms) | Convergence::Cubic(ms) => ms,
        };
        within(self.tolerance_m)
            && within(self.tolerance_per_m)
            && ms <= MAX_CONVERGENCE_MS
            && self.tolerance_m(MAX_MAP_METRES).is_finite()
    }
}

impl ReckoningOrder {
    /// The rule, with the kind's own function if that is known.
    pub fn rule(self, own: Option<PosePredictor>) -> Extrapolation {
        match self {
            Self::First => Extrapolation::First,
            Self::Second => Extrapolation::Second,
            Self::Automatic => Extrapolation::Automatic,
            Self::Own => own.map_or(Extrapolation::First, Extrapolation::Own),
        }
    }
}
