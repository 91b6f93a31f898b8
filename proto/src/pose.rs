//! Where an object is and how it is turned, in whole numbers: the state of objects whose movement
//! the server does not know in advance.
//!
//! A game's positions and angles go in, a [`Pose`] on the grid of its kind ([`PoseFormat`]) comes
//! out, and back. Both ends hold the same whole numbers, so each pose can be the baseline of a
//! later one: a pose is coded relative to an earlier one that is known to have arrived.
//!
//! - [`BaselineHistory`], [`AckedSet`]: which earlier poses both ends know, and which of them is
//!   the baseline.
//! - [`shared`]: the bits of one pose relative to its baseline, by static tables; computed once for
//!   all clients with that baseline.
//! - [`fine`]: the same for few clients: prediction from several poses, and probabilities that
//!   adapt within the datagram.
//! - [`section`]: the part of a datagram that carries poses.
//! - [`PoseCoding`]: what a client asks for: one of these levels, or whole poses without baselines
//!   ([`crate::message::read_plain_poses`]).
//! - [`motion`]: how velocities are predicted, at both levels; [`sine`], [`quaternion`]: arithmetic
//!   that gives the same bits on every machine.
//! - [`trained`]: the constants of both levels.
//!
//! `docs/pose-coding.md` gives an overview. Quantising at both ends, and baselines by
//! acknowledgement: G. Fiedler, "State Synchronization" and "Snapshot Compression".
//!
//! Invariants: a pose made by a format or a decoder [fits](PoseFormat::fits) the format. The
//! results of [`extrapolate`] and [`interpolate`] are the same on every machine.
//!
//! Units: grid units for `at`, steps of a turn, grid units a second for `speed`; metres and radians
//! outside.

#![warn(missing_docs, reason = "authors of games and clients import it")]

mod baseline;
mod coding;
pub mod fine;
pub mod motion;
pub mod quaternion;
pub mod section;
pub mod shared;
pub mod sine;
pub mod trained;
mod turn;

pub use self::baseline::{
    AckedSet, BaselineHistory, HISTORY_DATAGRAMS, MAX_ACKED_DISTANCE, ReceivedPose,
};
pub use self::coding::{PoseCoding, UnknownCoding};
#[doc(inline)]
pub use self::motion::{MAX_PER_UNIT, Motion, MotionFormat};
pub use self::section::{
    BaselineMode, BaselineSource, Level, SectionError, SectionHeader, SectionWriter, read_section,
};
pub use self::shared::{CodedPose, code};
pub use self::turn::Turning;

use std::time::Duration;

use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{Coder, WireError};

/// Grid units from zero, at most, on each axis: 32 km at the finest grid.
pub const MAX_AT: i32 = (1 << 27) - 1;
/// The finest grid, in units a metre.
pub const MAX_PER_METRE: u16 = 4_096;

/// An object's position and orientation at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// x, y and z on the grid.
    pub at: [i32; 3],
    /// [`Turning::Yaw`]: yaw and zeros; [`Turning::Free`]: the index of the largest component and
    /// the other three; [`Turning::Fixed`]: zeros.
    pub turn: [u16; 4],
    /// [`Turning::Yaw`]: grid units a second along the heading; else 0.
    pub speed: i16,
    /// The game's own flag. In a format with motion: the object is at rest.
    pub flag: bool,
    /// Velocities; zeros at rest, and unless the format has them.
    pub motion: Motion,
}

/// The grid of a kind's poses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoseFormat {
    /// Grid units a metre, 1 to [`MAX_PER_METRE`].
    pub per_metre: u16,
    /// How the object can turn.
    pub turn: Turning,
    /// The grid of velocities, if poses have them; not for a yaw.
    pub motion: Option<MotionFormat>,
}

impl Pose {
    /// All zeros: what a reader begins with.
    pub(crate) const UNKNOWN: Self = Self {
        at: [0; 3],
        turn: [0; 4],
        speed: 0,
        flag: false,
        motion: Motion { linear: [0; 3], angular: [0; 3] },
    };
}

impl PoseFormat {
    /// Checks that its numbers are within their ranges.
    pub fn check(&self) -> Result<(), WireError> {
        if !(1..=MAX_PER_METRE).contains(&self.per_metre) {
            return Err(WireError::OutOfRange { what: "grid of a pose" });
        }
        self.turn.check()?;
        let Some(motion) = self.motion else {
            return Ok(());
        };
        if let Turning::Yaw { .. } = self.turn {
            // A yaw has a speed along its heading.
            return Err(WireError::OutOfRange { what: "motion of a yaw" });
        }
        motion.check()
    }

    /// Whether `pose` is a pose of this format.
    pub fn fits(&self, pose: &Pose) -> bool {
        let has_speed = matches!(self.turn, Turning::Yaw { .. });
        pose.at.iter().all(|at| (-MAX_AT..=MAX_AT).contains(at))
            && self.turn.fits(pose.turn)
            && (has_speed || pose.speed == 0)
            && (pose.motion == Motion::default() || self.motion.is_some() && !pose.flag)
    }

    /// The nearest pose to these metres, radians and metres a second. In a format without a yaw the
    /// pose is upright and without speed.
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
            return Pose { at, turn: self.turn.upright(), ..Pose::default() };
        };
        // The cast saturates.
        let speed = (f64::from(speed_m_s) * f64::from(self.per_metre)).round() as i16;
        Pose { at, turn: self.turn.of_yaw(yaw), speed, ..Pose::default() }
    }

    /// The nearest pose to these metres and this unit quaternion (x, y, z, w).
    ///
    /// # Panics
    /// When the position is not finite or the quaternion not of unit length: a game's bug.
    pub fn free(&self, position: Position, quaternion: [f32; 4]) -> Pose {
        Pose { at: self.at(position), turn: self.turn.of_quaternion(quaternion), ..Pose::default() }
    }

    /// [`PoseFormat::free`] with velocities, in metres and radians a second, or at rest if there
    /// are none. A format without motion keeps the flag only.
    ///
    /// # Panics
    /// As [`PoseFormat::free`].
    pub fn moving(
        &self,
        position: Position,
        quaternion: [f32; 4],
        velocities: Option<([f32; 3], [f32; 3])>,
    ) -> Pose {
        let sent = self.motion.zip(velocities);
        let motion = sent
            .map_or_else(Motion::default, |(grid, (linear, angular))| grid.motion(linear, angular));
        Pose { flag: velocities.is_none(), motion, ..self.free(position, quaternion) }
    }

    /// Velocity and angular velocity, in metres and radians a second; zeros if the format has none.
    pub fn velocities(&self, pose: &Pose) -> ([f32; 3], [f32; 3]) {
        self.motion.map_or_else(Default::default, |grid| {
            (grid.linear(pose.motion), grid.angular(pose.motion))
        })
    }

    /// The position, in metres.
    pub fn position(&self, pose: &Pose) -> Position {
        let metres = |units: i32| (f64::from(units) / f64::from(self.per_metre)) as f32;
        Position::new(metres(pose.at[0]), metres(pose.at[1]), metres(pose.at[2]))
    }

    /// The heading, in radians from 0 to two pi; 0 unless the format has a yaw.
    pub fn yaw(&self, pose: &Pose) -> f32 {
        self.turn.yaw(pose.turn)
    }

    /// The orientation as a unit quaternion (x, y, z, w), for each kind of turning.
    pub fn quaternion(&self, pose: &Pose) -> [f32; 4] {
        self.turn.quaternion(pose.turn)
    }

    /// The speed along the heading, in metres a second.
    pub fn speed(&self, pose: &Pose) -> f32 {
        f32::from(pose.speed) / f32::from(self.per_metre)
    }

    /// The length of a pose as a component in bits, at most.
    pub const fn max_bits(&self) -> usize {
        3 * 40 + self.turn.bits() as usize + 25 + 1 + if self.motion.is_some() { 6 * 25 } else { 0 }
    }

    /// Reads, writes or measures a pose as a component: x, y, z, the turn, for a yaw the speed, the
    /// flag, and if the format has motion and the flag is not set, the motion.
    pub fn wire<C: Coder>(&self, pose: &mut Pose, coder: &mut C) -> Result<(), WireError> {
        for at in &mut pose.at {
            wire_within(at, MAX_AT, "coordinate of a pose", coder)?;
        }
        self.turn.wire(&mut pose.turn, coder)?;
        if let Turning::Yaw { .. } = self.turn {
            let mut speed = i64::from(pose.speed);
            coder.signed_varint(&mut speed)?;
            pose.speed = i16::try_from(speed)
                .map_err(|_| WireError::OutOfRange { what: "speed of a pose" })?;
        }
        coder.flag(&mut pose.flag)?;
        if self.motion.is_some() && !pose.flag { pose.motion.wire(coder) } else { Ok(()) }
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

/// The pose to show at `t`, after the newest of two poses (`before` is the older one): a yaw goes
/// on along its heading at its speed, an object with velocities at its velocity, and others as from
/// the older pose to the newer one. The server does the same to know what a client shows.
pub fn extrapolate(
    format: &PoseFormat,
    newest: (GameTime, &Pose),
    before: Option<(GameTime, &Pose)>,
    t: GameTime,
) -> Pose {
    let (time, pose) = newest;
    let ahead_ms = t.since(time).as_millis().min(MAX_EXTRAPOLATION_MS) as i64;
    if ahead_ms == 0 {
        // Exactly: rounding a turn to steps again may choose another of two equal components.
        return *pose;
    }
    if let Turning::Yaw { .. } = format.turn {
        return extrapolate_heading(*format, pose, ahead_ms);
    }
    let before = before.filter(|(earlier, _)| *earlier < time);
    if let Some(grid) = format.motion {
        return extrapolate_velocity(
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
    let span_ms = time.since(earlier).as_millis().clamp(1, MAX_EXTRAPOLATION_MS) as i64;
    let at = std::array::from_fn(|axis| {
        let step = i64::from(pose.at[axis]) - i64::from(before.at[axis]);
        clamp_to_grid(i64::from(pose.at[axis]) + rounded_div(step * ahead_ms, span_ms))
    });
    let turn = format.turn.interpolate(before.turn, pose.turn, span_ms + ahead_ms, span_ms);
    Pose { at, turn, ..*pose }
}

/// In a straight line at its velocity, turning as it did since `before`, which is older by the
/// given time.
fn extrapolate_velocity(
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
        clamp_to_grid(
            i64::from(pose.at[axis]) + rounded_div(units * ahead_ms.min(MAX_LINEAR_MS), per_unit),
        )
    });
    let turn = before.map_or(pose.turn, |(span, before)| {
        let span_ms = span.as_millis().clamp(1, MAX_EXTRAPOLATION_MS) as i64;
        format.turn.interpolate(before.turn, pose.turn, span_ms + ahead_ms, span_ms)
    });
    Pose { at, turn, ..*pose }
}

/// A minute: longer than any gap between poses of a moving object; no sum overflows.
const MAX_LINEAR_MS: i64 = 60_000;

/// 24 days: longer than any room lives; no sum overflows.
const MAX_EXTRAPOLATION_MS: u128 = 1 << 31;

fn extrapolate_heading(format: PoseFormat, pose: &Pose, ahead_ms: i64) -> Pose {
    let (cos, sin) = sine::direction(format.turn.angle(pose.turn));
    let units = |part: i32| {
        rounded_div(i64::from(pose.speed) * ahead_ms * i64::from(part), 1_000 << sine::BITS)
    };
    let [x, y, z] = pose.at.map(i64::from);
    Pose {
        at: [clamp_to_grid(x + units(cos)), clamp_to_grid(y + units(sin)), clamp_to_grid(z)],
        ..*pose
    }
}

/// The pose at `t` between two poses: on the straight line, or if the format has velocities on the
/// cubic curve with these at its ends (Hermite); turned the shorter way. Before and after, the
/// first and the last pose. Flag, speed and motion are those of the earlier pose until the later
/// one is reached.
pub fn interpolate(
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
    let (part, whole) = (t.since(from.0).as_micros() as i64, to.0.since(from.0).as_micros() as i64);
    if let Some(grid) = format.motion {
        let turn = format.turn.interpolate(from.1.turn, to.1.turn, part, whole);
        let units_per_span =
            f64::from(format.per_metre) / f64::from(grid.linear) * whole as f64 * 1e-6;
        let at = hermite(from.1, to.1, part as f64 / whole as f64, units_per_span);
        return Pose { at, turn, ..*from.1 };
    }
    let at = std::array::from_fn(|axis| {
        let (a, b) = (i128::from(from.1.at[axis]), i128::from(to.1.at[axis]));
        clamp_to_grid((a + (b - a) * i128::from(part) / i128::from(whole)) as i64)
    });
    let turn = format.turn.interpolate(from.1.turn, to.1.turn, part, whole);
    Pose { at, turn, ..*from.1 }
}

/// The position on the cubic curve whose ends have the velocities of the poses, when `fraction` of
/// the time has passed; a unit of velocity is `span` units of position over all of the time.
fn hermite(from: &Pose, to: &Pose, fraction: f64, span: f64) -> [i32; 3] {
    let (f, g) = (fraction, 1.0 - fraction);
    std::array::from_fn(|axis| {
        let (a, b) = (f64::from(from.at[axis]), f64::from(to.at[axis]));
        let (u, v) =
            (f64::from(from.motion.linear[axis]) * span, f64::from(to.motion.linear[axis]) * span);
        let offset = (b - a) * (f * f * (3.0 - 2.0 * f)) + u * (f * g * g) - v * (f * f * g);
        clamp_to_grid((a + offset).round() as i64)
    })
}

fn clamp_to_grid(units: i64) -> i32 {
    units.clamp(-i64::from(MAX_AT), i64::from(MAX_AT)) as i32
}

/// The nearest whole number to `a / b`, halves away from zero; `b` is above zero.
fn rounded_div(a: i64, b: i64) -> i64 {
    (a + a.signum() * (b / 2)) / b
}

#[cfg(test)]
mod tests;
