//! The end of a section: objects without a shared past.
//!
//! Their slots are told in ascending order, as gaps; their poses relative to an old one that both
//! ends have, if there is one, or as they are.

use super::{HALF, PLAIN, Walk, coordinate, speed};
use crate::pose::fine::Known;
use crate::pose::fine::coder::{Category, Coder};
use crate::pose::fine::number::number;
use crate::pose::fine::past::Past;
use crate::pose::{Pose, PoseFormat, Turning, motion};
use crate::wire::WireError;

/// That a newcomer follows: the first, and another one.
const MORE: [u16; 2] = [1 << 9, 63 << 10];

impl<C: Coder> Walk<'_, C> {
    /// The slot of an object without a shared past, or that there is none any more.
    pub(in crate::pose::fine) fn newcomer(
        &mut self,
        slot: Option<u16>,
    ) -> Result<Option<u16>, WireError> {
        self.coder.category(Category::Newcomers);
        let chance = MORE[usize::from(self.slot.is_some())];
        if !self.coder.bit(slot.is_some(), chance) {
            return Ok(None);
        }
        let before = self.slot.map_or(-1, i32::from);
        let curve = self.scene.trained.curves.of(0, PLAIN);
        let gap = number(
            &mut self.coder,
            slot.map_or(1, i32::from) - before,
            1.0,
            8.0,
            curve,
        );
        if self.coder.is_overrun() {
            return Err(WireError::Truncated);
        }
        let slot = u16::try_from(before.saturating_add(gap))
            .ok()
            .filter(|_| gap > 0);
        self.slot = Some(slot.ok_or(WireError::OutOfRange {
            what: "slot of a pose",
        })?);
        Ok(self.slot)
    }

    /// The pose of a newcomer: relative to an old one, if there is one, or as it is.
    pub(in crate::pose::fine) fn newcomer_pose(
        &mut self,
        known: &Known<'_>,
        pose: &Pose,
    ) -> Result<Pose, WireError> {
        if !self.coder.bit(!known.history.is_empty(), HALF) {
            return self.absolute(known.format, pose);
        }
        if known.history.is_empty() {
            return Err(WireError::OutOfRange {
                what: "base of a pose",
            });
        }
        let known = Known {
            history: &known.history[..1],
            ..*known
        };
        let past = Past::new(&known, self.scene.origin, &self.scene.reference);
        let mut pose = Pose {
            flag: self.coder.bit(pose.flag, HALF),
            ..*pose
        };
        self.motion(&known, &past, &mut pose)?;
        self.velocities(&known, &mut pose)?;
        self.coder.category(Category::Newcomers);
        self.whole(pose)
    }

    fn absolute(&mut self, format: PoseFormat, pose: &Pose) -> Result<Pose, WireError> {
        let mut read = Pose {
            flag: self.coder.bit(pose.flag, HALF),
            ..Pose::default()
        };
        let curve = self.scene.trained.curves.of(0, PLAIN);
        let spread = 4.0 * f32::from(format.per_metre);
        for axis in 0..3 {
            let origin = self.scene.origin[axis];
            let step = number(
                &mut self.coder,
                pose.at[axis].wrapping_sub(origin),
                0.0,
                spread,
                curve,
            );
            read.at[axis] = coordinate(origin, step)?;
        }
        match format.turn {
            Turning::Fixed => {}
            Turning::Yaw { bits } => {
                read.turn[0] = self.raw(pose.turn[0], bits);
                read.speed = speed(number(
                    &mut self.coder,
                    pose.speed.into(),
                    0.0,
                    spread,
                    curve,
                ))?;
            }
            Turning::Free { bits } => {
                read.turn[0] = self.raw(pose.turn[0], 2);
                for part in 1..4 {
                    read.turn[part] = self.raw(pose.turn[part], bits);
                }
            }
        }
        if format.motion.is_some() && !read.flag {
            read.motion = pose.motion;
            self.told_motion(
                [motion::Forecast {
                    middle: 0.0,
                    spread: 32.0,
                }; 6],
                &mut read,
            )?;
            self.coder.category(Category::Newcomers);
        }
        self.whole(read)
    }

    fn raw(&mut self, value: u16, bits: u8) -> u16 {
        (0..bits).rev().fold(0, |read, bit| {
            read << 1 | u16::from(self.coder.bit(value >> bit & 1 == 1, HALF))
        })
    }
}
