//! Velocities of objects that are simulated at both ends.
//!
//! The poses of such a kind carry a velocity and an angular velocity, in whole numbers, unless the
//! object is at rest. Both are predicted from the pose and its baseline; only the difference is
//! sent.
//!
//! # The prediction
//! In `f32`, each operation rounded. rate = 10^6 / age, in microseconds and at least 1,000; mean =
//! what x, y and z differ from the baseline's, in metres, times rate; before = the baseline's
//! velocity in metres a second; change = mean - before. The middle is (mean + 0.3 change) `linear`,
//! within -32,768 to 32,767. The spread, for the fine level, is (0.04 + 0.56 |change| + 0.15 speed)
//! `linear`, at least 0.5; speed = |mean x| + |mean y| + |mean z|. The angular velocity is
//! predicted in the same way, in radians: mean = the rotation since the baseline as axis times
//! angle (the source of [`super::fine::vector`]: `turn_between`), 0 for 0.3, 0.44 for 0.56, 0.19
//! for 0.15, and `angular`. The order of the operations is that of the source.
//!
//! Invariant: an object at rest has no velocity. Units: grid units, as [`MotionFormat`] defines
//! them; metres and radians a second outside. Velocities unless at rest: G. Fiedler, "State
//! Synchronization".

use super::fine::vector::{add, scale, sub, turn_between};
use super::{Pose, PoseFormat};
use crate::wire::{Coder, WireError};

/// The finest grid of velocities, in units per metre or radian a second.
pub const MAX_PER_UNIT: u16 = 4_096;

/// The grid of a kind's velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MotionFormat {
    /// Grid units for a metre a second, 1 to [`MAX_PER_UNIT`].
    pub linear: u16,
    /// Grid units for a radian a second, 1 to [`MAX_PER_UNIT`].
    pub angular: u16,
}

/// Velocity and angular velocity about the axes of the world, on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Motion {
    /// Along x, y and z.
    pub linear: [i16; 3],
    /// About x, y and z.
    pub angular: [i16; 3],
}

impl MotionFormat {
    pub(super) fn check(self) -> Result<(), WireError> {
        let fits = |units: u16| (1..=MAX_PER_UNIT).contains(&units);
        if fits(self.linear) && fits(self.angular) {
            Ok(())
        } else {
            Err(WireError::OutOfRange { what: "grid of a velocity" })
        }
    }

    /// The nearest motion to these metres and radians a second, within the range of the grid.
    pub fn motion(self, linear: [f32; 3], angular: [f32; 3]) -> Motion {
        // The cast saturates; NaN becomes 0.
        let units =
            |value: f32, per_unit: u16| (f64::from(value) * f64::from(per_unit)).round() as i16;
        Motion {
            linear: linear.map(|value| units(value, self.linear)),
            angular: angular.map(|value| units(value, self.angular)),
        }
    }

    /// In metres a second.
    pub fn linear(self, motion: Motion) -> [f32; 3] {
        motion.linear.map(|units| f32::from(units) / f32::from(self.linear))
    }

    /// In radians a second.
    pub fn angular(self, motion: Motion) -> [f32; 3] {
        motion.angular.map(|units| f32::from(units) / f32::from(self.angular))
    }
}

impl Motion {
    /// All six numbers, in the order in which they are coded.
    pub(super) fn parts(self) -> [i16; 6] {
        let ([a, b, c], [d, e, f]) = (self.linear, self.angular);
        [a, b, c, d, e, f]
    }

    /// The reverse.
    pub(super) fn from_parts([a, b, c, d, e, f]: [i16; 6]) -> Self {
        Self { linear: [a, b, c], angular: [d, e, f] }
    }

    /// Reads, writes or measures it as part of a component: six signed numbers.
    pub(super) fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut parts = self.parts();
        for part in &mut parts {
            let mut wide = i64::from(*part);
            coder.signed_varint(&mut wide)?;
            *part = narrow(wide)?;
        }
        *self = Self::from_parts(parts);
        Ok(())
    }
}

/// A part of a motion, if it is within range.
pub(super) fn narrow(wide: i64) -> Result<i16, WireError> {
    i16::try_from(wide).map_err(|_| WireError::OutOfRange { what: "velocity of a pose" })
}

/// Predicts the six parts of a motion, in grid units: the velocities of `pose`, of which all but
/// the motion is known, `age_us` after `baseline`.
///
/// With constant acceleration the mean velocity is half way between those at both ends; after a
/// collision in between, the newer velocity is closer to the mean. The constants are those that
/// took the fewest bits on recordings of the game `cubes`.
pub(super) fn predict_velocities(
    format: PoseFormat,
    grid: MotionFormat,
    baseline: &Pose,
    age_us: u32,
    pose: &Pose,
) -> [VelocityPrediction; 6] {
    let per_s = 1e6 / (age_us.max(1_000)) as f32;
    let metres = 1.0 / f32::from(format.per_metre);
    let moved: [f32; 3] =
        std::array::from_fn(|axis| pose.at[axis].wrapping_sub(baseline.at[axis]) as f32 * metres);
    let turned = turn_between(format.quaternion(baseline), format.quaternion(pose));
    let linear = LINEAR_MODEL.predict(
        scale(moved, per_s),
        grid.linear(baseline.motion),
        f32::from(grid.linear),
    );
    let angular = ANGULAR_MODEL.predict(
        scale(turned, per_s),
        grid.angular(baseline.motion),
        f32::from(grid.angular),
    );
    std::array::from_fn(|part| if part < 3 { linear[part] } else { angular[part - 3] })
}

/// The prediction of a part of a motion, in grid units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VelocityPrediction {
    pub(super) middle: f32,
    pub(super) spread: f32,
}

/// How a velocity follows from the mean velocity since the baseline and from the baseline's.
struct VelocityModel {
    /// How far beyond the mean the middle lies, as a part of the change: mean minus baseline.
    beyond: f32,
    /// The least spread, in metres or radians a second.
    min_spread: f32,
    /// What the spread grows by, as a part of the change along the same axis.
    of_change: f32,
    /// What the spread grows by, as a part of the speed over all axes.
    of_speed: f32,
}

const LINEAR_MODEL: VelocityModel =
    VelocityModel { beyond: 0.3, min_spread: 0.04, of_change: 0.56, of_speed: 0.15 };
const ANGULAR_MODEL: VelocityModel =
    VelocityModel { beyond: 0.0, min_spread: 0.04, of_change: 0.44, of_speed: 0.19 };

impl VelocityModel {
    fn predict(&self, mean: [f32; 3], before: [f32; 3], units: f32) -> [VelocityPrediction; 3] {
        let change = sub(mean, before);
        let middle = scale(add(mean, scale(change, self.beyond)), units);
        let speed = mean[0].abs() + mean[1].abs() + mean[2].abs();
        std::array::from_fn(|axis| {
            let spread =
                self.min_spread + self.of_change * change[axis].abs() + self.of_speed * speed;
            VelocityPrediction {
                middle: middle[axis].clamp(-32_768.0, 32_767.0),
                spread: (spread * units).max(0.5),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: MotionFormat = MotionFormat { linear: 128, angular: 64 };

    #[test]
    fn a_motion_is_the_nearest_on_the_grid_and_stays_there() {
        let motion = GRID.motion([1.0, -0.5, 1_000.0], [f32::NAN, 0.008, -3.0]);
        assert_eq!(motion, Motion { linear: [128, -64, i16::MAX], angular: [0, 1, -192] });
        assert_eq!(GRID.motion(GRID.linear(motion), GRID.angular(motion)), motion);
    }

    #[test]
    fn free_fall_is_predicted_within_a_spread() {
        use crate::pose::Turning;
        let format =
            PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion: Some(GRID) };
        // 50 ms at 10 m/s2 from 2 m/s up: 8.75 cm on average 1.75 m/s, then 1.5 m/s.
        let upright = Pose { turn: format.turn.upright(), ..Pose::default() };
        let baseline = Pose { motion: GRID.motion([0.0, 0.0, 2.0], [0.0; 3]), ..upright };
        let pose = Pose { at: [0, 0, (0.0875 * 4_096.0) as i32], ..baseline };
        let up = predict_velocities(format, GRID, &baseline, 50_000, &pose)[2];
        assert!((up.middle - 1.675 * 128.0).abs() < 1.0, "{up:?}");
        assert!((up.middle - 1.5 * 128.0).abs() < up.spread, "{up:?}");
    }
}
