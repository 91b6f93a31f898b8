//! Objects without an acknowledged pose in the window.
//!
//! Their poses are coded relative to an older pose that both ends have, if there is one, or
//! absolute.
//!
//! # Bits
//! In the words of [`super`]: an even bit, whether there is an older pose; then the flag, even.
//! With an older pose: position, turn and motion, as for a candidate that has this pose only.
//! Without: x, y and z minus the section's origin, numbers (0, 4 `per_metre`); the turn in even
//! bits, the highest bit of each part first; for a yaw the speed, a number (0, 4 `per_metre`);
//! motion, if the format has it and the flag is 0: six numbers (0, 32).

use super::{
    EVEN, FineSectionCoder, MovementHistory, UNTRAINED_LOG_SPREAD, checked_coordinate,
    checked_speed,
};
use crate::pose::fine::KnownObject;
use crate::pose::fine::decision_coder::{BitCategory, DecisionCoder};
use crate::pose::fine::number::code_number;
use crate::pose::{Pose, PoseFormat, Turning, motion};
use crate::wire::WireError;

/// The probability of the bit at the end of a section: it is always false.
const END: u16 = 1 << 9;

impl<C: DecisionCoder> FineSectionCoder<'_, C> {
    /// The end of the section.
    pub(in crate::pose::fine) fn code_end(&mut self) -> Result<(), WireError> {
        self.coder.category(BitCategory::Unacknowledged);
        if self.coder.bit(false, END) { Err(WireError::TrailingBits) } else { Ok(()) }
    }

    /// The pose of an object of which only the first pose in `known`, if any, may be used. A writer
    /// gives the new `pose`.
    pub(in crate::pose::fine) fn code_unacknowledged(
        &mut self,
        known: &KnownObject<'_>,
        pose: Option<&Pose>,
    ) -> Result<Pose, WireError> {
        let pose = pose.copied().unwrap_or_default();
        self.coder.category(BitCategory::Unacknowledged);
        if !self.coder.bit(!known.history.is_empty(), EVEN) {
            return self.code_absolute(known.format, &pose);
        }
        if known.history.is_empty() {
            return Err(WireError::OutOfRange { what: "baseline of a pose" });
        }
        let known = KnownObject { history: &known.history[..1], ..*known };
        let movement = MovementHistory::new(&known, self.state.origin, &self.state.reference);
        let mut pose = Pose { flag: self.coder.bit(pose.flag, EVEN), ..pose };
        self.code_position_and_turn(&known, &movement, &mut pose)?;
        self.code_velocities(&known, &mut pose)?;
        self.coder.category(BitCategory::Unacknowledged);
        self.check_complete(pose)
    }

    fn code_absolute(&mut self, format: PoseFormat, pose: &Pose) -> Result<Pose, WireError> {
        let mut coded = Pose { flag: self.coder.bit(pose.flag, EVEN), ..Pose::default() };
        let curve = self.state.weights.curves.of(0, UNTRAINED_LOG_SPREAD);
        let spread = 4.0 * f32::from(format.per_metre);
        for axis in 0..3 {
            let origin = self.state.origin[axis];
            let step = pose.at[axis].wrapping_sub(origin);
            let step = code_number(&mut self.coder, step, 0.0, spread, curve);
            coded.at[axis] = checked_coordinate(origin, step)?;
        }
        match format.turn {
            Turning::Fixed => {}
            Turning::Yaw { bits } => {
                coded.turn[0] = self.code_raw(pose.turn[0], bits);
                let speed = code_number(&mut self.coder, pose.speed.into(), 0.0, spread, curve);
                coded.speed = checked_speed(speed)?;
            }
            Turning::Free { bits } => {
                coded.turn[0] = self.code_raw(pose.turn[0], 2);
                for part in 1..4 {
                    coded.turn[part] = self.code_raw(pose.turn[part], bits);
                }
            }
        }
        if format.motion.is_some() && !coded.flag {
            coded.motion = pose.motion;
            let unknown = motion::VelocityPrediction { middle: 0.0, spread: 32.0 };
            self.code_motion([unknown; 6], &mut coded)?;
            self.coder.category(BitCategory::Unacknowledged);
        }
        self.check_complete(coded)
    }

    fn code_raw(&mut self, value: u16, bits: u8) -> u16 {
        (0..bits).rev().fold(0, |coded, bit| {
            coded << 1 | u16::from(self.coder.bit(value >> bit & 1 == 1, EVEN))
        })
    }
}
