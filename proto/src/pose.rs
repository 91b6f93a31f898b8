//! Where an object is and how it is turned, in whole numbers: what travels of objects that nobody
//! can foretell.
//!
//! A game's positions and angles go in, a [`Pose`] on the grid of its kind ([`PoseFormat`]) comes
//! out, and back. Both ends hold the same whole numbers, so each can be a base for the next one:
//! what one datagram says of an object is coded relative to what an earlier one said, if that is
//! known to have arrived.
//!
//! - [`Kept`], [`AckedSet`]: which earlier poses both ends know, and which of them is the base.
//! - [`shared`]: the bits of one pose relative to its base, by static tables; computed once for all
//!   clients with that base.
//! - [`fine`]: the same for few clients: contexts that adapt within the datagram, prediction from
//!   several bases.
//! - [`section`]: the part of a datagram that carries poses.
//!
//! Invariants: a pose that a format has made, or a decoder, [fits](PoseFormat::fits) the format.
//! What is computed here of whole numbers ([`estimate`], [`between`]) is the same on every machine.
//!
//! Units: grid units for `at`, steps of a turn, grid units a second for `speed`; metres and radians
//! outside. PoseSource: reference 002 (quantise both ends; baselines by acknowledgement).

pub(crate) mod example;
pub mod fine;
mod kept;
mod motion;
pub mod section;
pub mod shared;
mod sine;
mod turn;

pub use self::kept::{AckedSet, Entry, KEPT_DATAGRAMS, Kept, MAX_LAG};
pub use self::motion::{MAX_PER_UNIT, Motion, MotionFormat};
pub use self::section::{
    Bases, Level, Mode, SectionError, SectionHeader, SectionWriter, read_section,
};
pub use self::shared::{Coded, code};
pub use self::turn::Turning;

use std::time::Duration;

use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{Coder, WireError};

/// Grid units from zero, at most, on each axis: 32 km at the finest grid.
pub const MAX_AT: i32 = (1 << 27) - 1;
/// The finest grid, in units a metre.
pub const MAX_PER_METRE: u16 = 4_096;

/// What an object's place and attitude are at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// x, y and z on the grid.
    pub at: [i32; 3],
    /// [`Turning::Yaw`]: yaw and zeros; [`Turning::Free`]: the index of the largest component and
    /// the other three; [`Turning::FixedDelay`]: zeros.
    pub turn: [u16; 4],
    /// [`Turning::Yaw`]: grid units a second along the heading; else 0.
    pub speed: i16,
    /// The game's own: it interacts, ... Where motion is told: it is at rest.
    pub flag: bool,
    /// How it goes on; zeros unless the format tells it, and at rest.
    pub motion: Motion,
}

/// The grid of a kind's poses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseFormat {
    /// Grid units a metre, 1 to [`MAX_PER_METRE`].
    pub per_metre: u16,
    /// How the object can turn.
    pub turn: Turning,
    /// Whether velocities are told, and on which grid: of what turns freely or not at all.
    pub motion: Option<MotionFormat>,
}

impl Pose {
    /// What a reader begins with: all zeros.
    pub(crate) const UNKNOWN: Self = Self {
        at: [0; 3],
        turn: [0; 4],
        speed: 0,
        flag: false,
        motion: Motion {
            linear: [0; 3],
            angular: [0; 3],
        },
    };
}

impl PoseFormat {
    /// Whether its numbers are within their ranges.
    pub fn check(&self) -> Result<(), WireError> {
        if !(1..=MAX_PER_METRE).contains(&self.per_metre) {
            return Err(WireError::OutOfRange {
                what: "grid of a pose",
            });
        }
        self.turn.check()?;
        let Some(motion) = self.motion else {
            return Ok(());
        };
        if let Turning::Yaw { .. } = self.turn {
            // It has a speed along its heading.
            return Err(WireError::OutOfRange {
                what: "motion of a yaw",
            });
        }
        motion.check()
    }

    /// Whether `pose` is one of this format.
    pub fn fits(&self, pose: &Pose) -> bool {
        let has_speed = matches!(self.turn, Turning::Yaw { .. });
        pose.at.iter().all(|at| (-MAX_AT..=MAX_AT).contains(at))
            && self.turn.fits(pose.turn)
            && (has_speed || pose.speed == 0)
            && (pose.motion == Motion::default() || self.motion.is_some() && !pose.flag)
    }

    /// The nearest pose to these metres, radians and metres a second. Of a format that turns freely
    /// or not at all, the pose is upright and without speed.
    ///
    /// # Panics
    /// When one of them is not finite: a game's bug.
    pub fn pose(&self, position: Position, yaw: f32, speed_m_s: f32) -> Pose {
        assert!(
            yaw.is_finite() && speed_m_s.is_finite(),
            "yaw {yaw} and speed {speed_m_s} are not finite"
        );
        let at = self.at(position);
        let Turning::Yaw { .. } = self.turn else {
            return Pose {
                at,
                turn: self.turn.upright(),
                ..Pose::default()
            };
        };
        let speed = (f64::from(speed_m_s) * f64::from(self.per_metre)).round() as i16; // The cast saturates.
        Pose {
            at,
            turn: self.turn.of_yaw(yaw),
            speed,
            ..Pose::default()
        }
    }

    /// The nearest pose to these metres and this unit quaternion (x, y, z, w).
    ///
    /// # Panics
    /// When the position is not finite or the quaternion not of unit length: a game's bug.
    pub fn free(&self, position: Position, quaternion: [f32; 4]) -> Pose {
        Pose {
            at: self.at(position),
            turn: self.turn.of_quaternion(quaternion),
            ..Pose::default()
        }
    }

    /// [`PoseFormat::free`] with velocities, in metres and radians a second, or at rest if there
    /// are none. Of a format that tells no motion, the flag alone.
    ///
    /// # Panics
    /// As [`PoseFormat::free`].
    pub fn moving(
        &self,
        position: Position,
        quaternion: [f32; 4],
        velocities: Option<([f32; 3], [f32; 3])>,
    ) -> Pose {
        let told = self.motion.zip(velocities);
        let motion = told.map_or_else(Motion::default, |(grid, (linear, angular))| {
            grid.motion(linear, angular)
        });
        Pose {
            flag: velocities.is_none(),
            motion,
            ..self.free(position, quaternion)
        }
    }

    /// Velocity and angular velocity, in metres and radians a second; zeros if none are told.
    pub fn velocities(&self, pose: &Pose) -> ([f32; 3], [f32; 3]) {
        self.motion.map_or_else(Default::default, |grid| {
            (grid.linear(pose.motion), grid.angular(pose.motion))
        })
    }

    /// Where it is, in metres.
    pub fn position(&self, pose: &Pose) -> Position {
        let metres = |units: i32| (f64::from(units) / f64::from(self.per_metre)) as f32;
        Position::new(metres(pose.at[0]), metres(pose.at[1]), metres(pose.at[2]))
    }

    /// Its heading, in radians from 0 to two pi; 0 unless the format is one of yaw.
    pub fn yaw(&self, pose: &Pose) -> f32 {
        self.turn.yaw(pose.turn)
    }

    /// Its orientation, as a unit quaternion (x, y, z, w), of each kind of turning.
    pub fn quaternion(&self, pose: &Pose) -> [f32; 4] {
        self.turn.quaternion(pose.turn)
    }

    /// Its speed along the heading, in metres a second.
    pub fn speed(&self, pose: &Pose) -> f32 {
        f32::from(pose.speed) / f32::from(self.per_metre)
    }

    /// What a pose takes as a component, at most.
    pub const fn most_bits(&self) -> usize {
        3 * 40 + self.turn.bits() as usize + 25 + 1 + if self.motion.is_some() { 6 * 25 } else { 0 }
    }

    /// Reads, writes or measures a pose as a component: x, y, z, the turn, for a yaw the speed, the
    /// flag, the motion if it is told and the flag is not set.
    pub fn wire<C: Coder>(&self, pose: &mut Pose, coder: &mut C) -> Result<(), WireError> {
        for at in &mut pose.at {
            wire_within(at, MAX_AT, "coordinate of a pose", coder)?;
        }
        self.turn.wire(&mut pose.turn, coder)?;
        if let Turning::Yaw { .. } = self.turn {
            let mut speed = i64::from(pose.speed);
            coder.signed_varint(&mut speed)?;
            pose.speed = i16::try_from(speed).map_err(|_| WireError::OutOfRange {
                what: "speed of a pose",
            })?;
        }
        coder.flag(&mut pose.flag)?;
        if self.motion.is_some() && !pose.flag {
            pose.motion.wire(coder)
        } else {
            Ok(())
        }
    }

    fn at(self, position: Position) -> [i32; 3] {
        assert!(position.is_finite(), "{position:?} is not finite");
        let units = |metres: f32| {
            let units = (f64::from(metres) * f64::from(self.per_metre)).round();
            (units as i32).clamp(-MAX_AT, MAX_AT)
        };
        [units(position.x), units(position.y), units(position.z)]
    }
}

fn wire_within(
    value: &mut i32,
    most: i32,
    what: &'static str,
    coder: &mut impl Coder,
) -> Result<(), WireError> {
    let mut wide = i64::from(*value);
    coder.signed_varint(&mut wide)?;
    *value = i32::try_from(wide)
        .ok()
        .filter(|value| (-most..=most).contains(value))
        .ok_or(WireError::OutOfRange { what })?;
    Ok(())
}

/// What whoever knows these two poses (`before` the older one) would show at `t` without any news:
/// a yaw goes on along its heading at its speed; what tells its motion goes on at its velocity, and
/// others as from the last but one to the last.
pub fn estimate(
    format: &PoseFormat,
    newest: (GameTime, &Pose),
    before: Option<(GameTime, &Pose)>,
    t: GameTime,
) -> Pose {
    let (time, pose) = newest;
    let ahead_ms = t.since(time).as_millis().min(FARTHEST_MS) as i64;
    if let Turning::Yaw { .. } = format.turn {
        return run_on(*format, pose, ahead_ms);
    }
    let before = before.filter(|(earlier, _)| *earlier < time);
    if let Some(grid) = format.motion {
        return drift(
            *format,
            grid,
            pose,
            before.map(|(earlier, before)| (time.since(earlier), before)),
            ahead_ms,
        );
    }
    let Some((earlier, before)) = before else {
        return *pose;
    };
    let span_ms = time.since(earlier).as_millis().clamp(1, FARTHEST_MS) as i64;
    let at = std::array::from_fn(|axis| {
        let step = i64::from(pose.at[axis]) - i64::from(before.at[axis]);
        within(i64::from(pose.at[axis]) + rounded_div(step * ahead_ms, span_ms))
    });
    let turn = format
        .turn
        .mix(before.turn, pose.turn, span_ms + ahead_ms, span_ms);
    Pose { at, turn, ..*pose }
}

/// In a straight line at its velocity, and turning as it did since the pose before, which is so
/// much older.
fn drift(
    format: PoseFormat,
    grid: MotionFormat,
    pose: &Pose,
    before: Option<(Duration, &Pose)>,
    ahead_ms: i64,
) -> Pose {
    if pose.flag {
        return *pose;
    }
    let per_unit = 1_000 * i64::from(grid.linear);
    let at = std::array::from_fn(|axis| {
        let units = i64::from(pose.motion.linear[axis]) * i64::from(format.per_metre);
        within(
            i64::from(pose.at[axis])
                + rounded_div(units * ahead_ms.min(FARTHEST_DRIFT_MS), per_unit),
        )
    });
    let turn = before.map_or(pose.turn, |(span, before)| {
        let span_ms = span.as_millis().clamp(1, FARTHEST_MS) as i64;
        format
            .turn
            .mix(before.turn, pose.turn, span_ms + ahead_ms, span_ms)
    });
    Pose { at, turn, ..*pose }
}

/// A minute: nobody drifts for longer unheard of, and nothing overflows.
const FARTHEST_DRIFT_MS: i64 = 60_000;

/// 24 days: nobody estimates that far ahead, and nothing overflows within it.
const FARTHEST_MS: u128 = 1 << 31;

fn run_on(format: PoseFormat, pose: &Pose, ahead_ms: i64) -> Pose {
    let (cos, sin) = sine::direction(format.turn.angle(pose.turn));
    let units = |part: i32| {
        rounded_div(
            i64::from(pose.speed) * ahead_ms * i64::from(part),
            1_000 << sine::BITS,
        )
    };
    let [x, y, z] = pose.at.map(i64::from);
    Pose {
        at: [within(x + units(cos)), within(y + units(sin)), within(z)],
        ..*pose
    }
}

/// What lies between two poses at `t`: straight from one to the other, or where their velocities
/// are told on the curve that has these at its ends (Hermite), turned the shorter way; at the ends,
/// and beyond them, these. Flag, speed and motion are the earlier one's until the later one is
/// reached.
pub fn between(
    format: &PoseFormat,
    from: (GameTime, &Pose),
    to: (GameTime, &Pose),
    t: GameTime,
) -> Pose {
    if t >= to.0 {
        return *to.1;
    }
    if t <= from.0 {
        return *from.1;
    }
    let (part, whole) = (
        t.since(from.0).as_micros() as i64,
        to.0.since(from.0).as_micros() as i64,
    );
    if let Some(grid) = format.motion {
        let turn = format.turn.mix(from.1.turn, to.1.turn, part, whole);
        let units_per_span =
            f64::from(format.per_metre) / f64::from(grid.linear) * whole as f64 * 1e-6;
        let at = hermite(from.1, to.1, part as f64 / whole as f64, units_per_span);
        return Pose {
            at,
            turn,
            ..*from.1
        };
    }
    let at = std::array::from_fn(|axis| {
        let (a, b) = (i128::from(from.1.at[axis]), i128::from(to.1.at[axis]));
        within((a + (b - a) * i128::from(part) / i128::from(whole)) as i64)
    });
    let turn = format.turn.mix(from.1.turn, to.1.turn, part, whole);
    Pose {
        at,
        turn,
        ..*from.1
    }
}

/// A place on the cubic from one to the other whose ends have their velocities; `fraction` of the
/// time has gone by, and a unit of velocity is `span` units of place in all of it.
fn hermite(from: &Pose, to: &Pose, fraction: f64, span: f64) -> [i32; 3] {
    let (f, g) = (fraction, 1.0 - fraction);
    std::array::from_fn(|axis| {
        let (a, b) = (f64::from(from.at[axis]), f64::from(to.at[axis]));
        let (u, v) = (
            f64::from(from.motion.linear[axis]) * span,
            f64::from(to.motion.linear[axis]) * span,
        );
        let way = (b - a) * (f * f * (3.0 - 2.0 * f)) + u * (f * g * g) - v * (f * f * g);
        within((a + way).round() as i64)
    })
}

fn within(units: i64) -> i32 {
    units.clamp(-i64::from(MAX_AT), i64::from(MAX_AT)) as i32
}

/// The nearest whole number to `a / b`, halves away from zero; `b` is above zero.
fn rounded_div(a: i64, b: i64) -> i64 {
    (a + a.signum() * (b / 2)) / b
}

#[cfg(test)]
mod tests;
