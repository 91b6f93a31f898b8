//! Velocities of what is simulated at both ends.
//!
//! A kind whose objects clients simulate tells with each pose how the object goes on: a velocity
//! and an angular velocity, in whole numbers, unless it is at rest. Both follow in part from the
//! pose and the base it is told relative to; only what does not is sent ([`foretell`]).
//!
//! Invariant: what is at rest has no velocity. Units: grid units, as [`MotionFormat`] says; metres
//! and radians a second outside. PoseSource: reference 002 (velocities unless at rest; quantise
//! both ends).

use super::fine::space::{add, scale, sub, turn_between};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
            Err(WireError::OutOfRange {
                what: "grid of a velocity",
            })
        }
    }

    /// The nearest to these metres and radians a second; what is too fast is as fast as can be
    /// told.
    pub fn motion(self, linear: [f32; 3], angular: [f32; 3]) -> Motion {
        // The cast saturates, and what is no number is 0.
        let units =
            |value: f32, per_unit: u16| (f64::from(value) * f64::from(per_unit)).round() as i16;
        Motion {
            linear: linear.map(|value| units(value, self.linear)),
            angular: angular.map(|value| units(value, self.angular)),
        }
    }

    /// In metres a second.
    pub fn linear(self, motion: Motion) -> [f32; 3] {
        motion
            .linear
            .map(|units| f32::from(units) / f32::from(self.linear))
    }

    /// In radians a second.
    pub fn angular(self, motion: Motion) -> [f32; 3] {
        motion
            .angular
            .map(|units| f32::from(units) / f32::from(self.angular))
    }
}

impl Motion {
    /// All six numbers, in the order in which they are told.
    pub(super) fn parts(self) -> [i16; 6] {
        let ([a, b, c], [d, e, f]) = (self.linear, self.angular);
        [a, b, c, d, e, f]
    }

    /// The reverse.
    pub(super) fn of_parts([a, b, c, d, e, f]: [i16; 6]) -> Self {
        Self {
            linear: [a, b, c],
            angular: [d, e, f],
        }
    }

    /// Reads, writes or measures it as part of a component: six signed numbers.
    pub(super) fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        let mut parts = self.parts();
        for part in &mut parts {
            let mut wide = i64::from(*part);
            coder.signed_varint(&mut wide)?;
            *part = narrow(wide)?;
        }
        *self = Self::of_parts(parts);
        Ok(())
    }
}

/// A part of a motion, if it is one.
pub(super) fn narrow(wide: i64) -> Result<i16, WireError> {
    i16::try_from(wide).map_err(|_| WireError::OutOfRange {
        what: "velocity of a pose",
    })
}

/// What a motion is foretold to be, part by part in grid units, and how far off that may be: after
/// `age_us` from `base` to `pose`, of which all but the motion is known.
///
/// In even acceleration the mean velocity lies half way between those at both ends; a collision in
/// between makes the newer one the mean's. The middles and spreads are those that took the fewest
/// bits on recordings of the game `cubes`.
pub(super) fn foretell(
    format: PoseFormat,
    grid: MotionFormat,
    base: &Pose,
    age_us: u32,
    pose: &Pose,
) -> [Forecast; 6] {
    let per_s = 1e6 / (age_us.max(1_000)) as f32;
    let metres = 1.0 / f32::from(format.per_metre);
    let way: [f32; 3] =
        std::array::from_fn(|axis| pose.at[axis].wrapping_sub(base.at[axis]) as f32 * metres);
    let turned = turn_between(format.quaternion(base), format.quaternion(pose));
    let linear = LINEAR.parts(
        scale(way, per_s),
        grid.linear(base.motion),
        f32::from(grid.linear),
    );
    let angular = ANGULAR.parts(
        scale(turned, per_s),
        grid.angular(base.motion),
        f32::from(grid.angular),
    );
    std::array::from_fn(|part| {
        if part < 3 {
            linear[part]
        } else {
            angular[part - 3]
        }
    })
}

/// A part of a motion that is yet to be told, in grid units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Forecast {
    pub(super) middle: f32,
    pub(super) spread: f32,
}

/// How a velocity follows from the mean one since the base and from the base's.
struct Model {
    /// How far beyond the mean it lies, as a part of what the mean has changed since the base.
    beyond: f32,
    /// How far off it is at least, in metres or radians a second.
    least: f32,
    /// As a part of that change along the same axis.
    of_change: f32,
    /// As a part of how fast it is, over all axes.
    of_speed: f32,
}

const LINEAR: Model = Model {
    beyond: 0.3,
    least: 0.04,
    of_change: 0.56,
    of_speed: 0.15,
};
const ANGULAR: Model = Model {
    beyond: 0.0,
    least: 0.04,
    of_change: 0.44,
    of_speed: 0.19,
};

impl Model {
    fn parts(&self, mean: [f32; 3], before: [f32; 3], units: f32) -> [Forecast; 3] {
        let change = sub(mean, before);
        let middle = scale(add(mean, scale(change, self.beyond)), units);
        let speed = mean[0].abs() + mean[1].abs() + mean[2].abs();
        std::array::from_fn(|axis| {
            let off = self.least + self.of_change * change[axis].abs() + self.of_speed * speed;
            Forecast {
                middle: middle[axis].clamp(-32_768.0, 32_767.0),
                spread: (off * units).max(0.5),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: MotionFormat = MotionFormat {
        linear: 128,
        angular: 64,
    };

    #[test]
    fn what_is_told_is_the_nearest_on_the_grid_and_stays_there() {
        let motion = GRID.motion([1.0, -0.5, 1_000.0], [f32::NAN, 0.008, -3.0]);
        assert_eq!(
            motion,
            Motion {
                linear: [128, -64, i16::MAX],
                angular: [0, 1, -192]
            }
        );
        assert_eq!(
            GRID.motion(GRID.linear(motion), GRID.angular(motion)),
            motion
        );
    }

    #[test]
    fn free_fall_is_foretold_within_a_spread() {
        use crate::pose::Turning;
        let format = PoseFormat {
            per_metre: 4_096,
            turn: Turning::Free { bits: 15 },
            motion: Some(GRID),
        };
        // 50 ms at 10 m/s2 from 2 m/s up: 8.75 cm on average 1.75 m/s, then 1.5 m/s.
        let upright = Pose {
            turn: format.turn.upright(),
            ..Pose::default()
        };
        let base = Pose {
            motion: GRID.motion([0.0, 0.0, 2.0], [0.0; 3]),
            ..upright
        };
        let pose = Pose {
            at: [0, 0, (0.0875 * 4_096.0) as i32],
            ..base
        };
        let up = foretell(format, GRID, &base, 50_000, &pose)[2];
        assert!((up.middle - 1.675 * 128.0).abs() < 1.0, "{up:?}");
        assert!((up.middle - 1.5 * 128.0).abs() < up.spread, "{up:?}");
    }
}
