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
mod reckoning;
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
pub use self::reckoning::{
    CURVE, EARLIER_POSES, Extrapolation, PosePredictor, StampedPose, extrapolate, interpolate,
};
pub use self::section::{
    BaselineMode, BaselineSource, Level, MAX_JUMP_AGE_MS, SectionError, SectionHeader, SectionPose,
    SectionWriter, jump_age_ms, read_section,
};
pub use self::shared::{CodedPose, code};
pub use self::turn::Turning;

use crate::space::Position;
use crate::wire::{Coder, WireError};

/// Grid units from zero, at most, on each axis: 32 km at the finest grid.
pub const MAX_AT: i32 = (1 << 27) - 1;
/// The finest grid, in units a metre.
pub const MAX_PER_METRE: u16 = 4_096;

/// An object's position and orientation at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
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

#[cfg(test)]
mod tests;
