//! Sight: what a game is asked about it, and when.
//!
//! The room asks [`Game::sees`](super::game::Game::sees) when two objects come near each other, and
//! takes the answer to hold until it asks again: when the game says so
//! ([`World::ask_who_sees`](super::world::World::ask_who_sees),
//! [`World::ask_what_is_seen_by`](super::world::World::ask_what_is_seen_by)), and by itself as
//! [`SightChecks`] say.
//!
//! Invariant: when a viewer is asked about depends on its own client and avatar alone, so it shows
//! nothing of what the viewer does not see.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use ambit_proto::ids::ClientId;
use serde::{Deserialize, Serialize};

/// Whether a viewer follows an object at the time of the question whether it sees it: so sight can
/// have hysteresis. An object that is visible with `New` must also be visible with `Kept`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The viewer does not follow the object.
    New,
    /// The viewer follows the object.
    Kept,
}

/// What hides an object that is near enough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HiddenBy {
    /// The game's own rule.
    #[default]
    Rule,
    /// It is farther than a viewer sees.
    Range,
    /// It is too far to the side of where the viewer faces.
    Angle,
    /// A wall is in between.
    Wall,
}

/// What the last question about sight was answered no for: for those who ask why. No state of a
/// world: nothing depends on it.
#[derive(Debug, Default)]
pub struct HidingNote(AtomicU8);

impl HidingNote {
    /// An answer is no, since this hides the object.
    pub fn set(&self, by: HiddenBy) {
        self.0.store(by as u8, Relaxed);
    }

    /// What was noted last.
    pub fn get(&self) -> HiddenBy {
        let known = [HiddenBy::Rule, HiddenBy::Range, HiddenBy::Angle, HiddenBy::Wall];
        known.get(usize::from(self.0.load(Relaxed))).copied().unwrap_or_default()
    }
}

/// When a room asks by itself what a viewer sees, beside the questions when something comes near.
/// Each time it asks about everything in the viewer's zones, and about nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SightChecks {
    /// 0 for never.
    every_ticks: u32,
    /// The cosine of the angle.
    turned_cos: Option<f32>,
}

impl SightChecks {
    /// Only when the game says that an answer has changed.
    pub const ON_DEMAND: Self = Self { every_ticks: 0, turned_cos: None };

    /// Whether the room asks by itself, and not at every tick: then what a viewer follows may be
    /// some ticks old.
    pub fn may_lag(self) -> bool {
        self.every_ticks > 1 || self.every_ticks == 0 && self.turned_cos.is_some()
    }

    /// For each viewer once in `ticks` ticks. The viewers take turns, so that all ticks cost alike.
    #[must_use]
    pub const fn every_ticks(self, ticks: u32) -> Self {
        Self { every_ticks: ticks, ..self }
    }

    /// For a viewer whose avatar has turned by more than `degrees` since the room last asked by
    /// itself. Avatars with a path do not turn.
    #[must_use]
    pub const fn on_turn(self, degrees: f32) -> Self {
        Self { turned_cos: Some(cos_of_degrees(degrees)), ..self }
    }

    /// Whether the room asks about this client's viewer at this tick. `before` is where its avatar
    /// faced when the room last asked by itself.
    pub(crate) fn are_due(
        self,
        tick: u64,
        client: ClientId,
        before: Option<[f32; 2]>,
        facing: Option<[f32; 2]>,
    ) -> bool {
        let period = u64::from(self.every_ticks);
        if period > 0 && (tick + turn_of(client, period)).is_multiple_of(period) {
            return true;
        }
        let Some(turned_cos) = self.turned_cos else {
            return false;
        };
        match (before, facing) {
            (Some(before), Some(facing)) => {
                before[0] * facing[0] + before[1] * facing[1] < turned_cos
            }
            _ => before.is_some() != facing.is_some(),
        }
    }
}

/// Which of `turns` turns a client has. Neighbouring ids get different ones, for any step between
/// the ids of one room (Fibonacci hashing).
fn turn_of(client: ClientId, turns: u64) -> u64 {
    const GOLDEN: u32 = 0x9e37_79b9;
    (u64::from(client.0.wrapping_mul(GOLDEN)) * turns) >> 32
}

/// The cosine of an angle from 0 to 180 degrees, the nearest one of these otherwise: also for
/// constants. By its power series, which is exact to the last bit of an `f32` at 20 terms.
pub const fn cos_of_degrees(degrees: f32) -> f32 {
    let angle = degrees.clamp(0.0, 180.0) as f64 * (std::f64::consts::PI / 180.0);
    let mut term = 1.0;
    let mut sum = 1.0;
    let mut power = 0.0;
    while power < 40.0 {
        power += 2.0;
        term *= -angle * angle / (power * (power - 1.0));
        sum += term;
    }
    sum as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_standard_library() {
        for tenths in 0..=1_800 {
            let degrees = tenths as f32 / 10.0;
            let expected = f64::from(degrees).to_radians().cos();
            let found = f64::from(cos_of_degrees(degrees));
            assert!((found - expected).abs() < 1e-7, "{degrees}: {found}");
        }
        assert_eq!([-5.0, 0.0, 360.0].map(cos_of_degrees), [1.0, 1.0, -1.0]);
    }

    #[test]
    fn viewers_take_turns_and_each_has_one_in_a_period() {
        let checks = SightChecks::ON_DEMAND.every_ticks(5);
        // Two rooms of one host may get every second id.
        for step in [1, 2, 3] {
            let mut counts = [0; 5];
            for client in (0..200).map(|id| ClientId(id * step)) {
                let due = |tick: &u64| checks.are_due(*tick, client, None, None);
                let ticks: Vec<u64> = (10..15).filter(due).collect();
                assert_eq!(ticks.len(), 1, "{client}");
                counts[(ticks[0] - 10) as usize] += 1;
            }
            assert!(counts.iter().all(|count| (35..=45).contains(count)), "{step}: {counts:?}");
        }
    }

    #[test]
    fn a_viewer_is_due_when_it_has_turned_by_more_than_the_angle() {
        let checks = SightChecks::ON_DEMAND.on_turn(10.0);
        let facing = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            Some([cos, sin])
        };
        let due = |before, now| checks.are_due(3, ClientId(1), before, now);
        assert!(!due(facing(80.0), facing(89.9)) && due(facing(80.0), facing(90.1)));
        assert!(!due(facing(355.0), facing(4.0)) && due(facing(355.0), facing(6.0)));
        // At the first tick, and when an avatar is gone.
        assert!(due(None, facing(0.0)) && due(facing(0.0), None) && !due(None, None));
        let never = SightChecks::ON_DEMAND;
        assert!(!never.are_due(0, ClientId(0), facing(0.0), facing(180.0)));
    }
}
