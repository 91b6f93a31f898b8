//! From a format's whole numbers to the units of the fine level, and back.

use super::reference::FloatPose;
use super::vector::Vector;
use super::{AgedPose, KnownObject, UNITS_PER_METRE};
use crate::pose::quaternion::{Quaternion, unit};
use crate::pose::{Pose, PoseFormat, Turning, sine};

/// Units of a step of the grid.
pub(super) fn units_per_step(format: PoseFormat) -> f32 {
    UNITS_PER_METRE / f32::from(format.per_metre)
}

/// Position and orientation, relative to `origin`.
pub(super) fn float_pose(format: PoseFormat, origin: [i32; 3], pose: &Pose) -> FloatPose {
    FloatPose { at: position(format, origin, pose), turn: quaternion(format, pose) }
}

pub(super) fn position(format: PoseFormat, origin: [i32; 3], pose: &Pose) -> Vector {
    let units = units_per_step(format);
    // Far away precision does not matter, but squares must stay finite.
    let along =
        |axis: usize| (pose.at[axis].wrapping_sub(origin[axis]) as f32 * units).clamp(-1e7, 1e7);
    [along(0), along(1), along(2)]
}

/// The orientation, for each kind of turning.
pub(super) fn quaternion(format: PoseFormat, pose: &Pose) -> Quaternion {
    match format.turn {
        Turning::Fixed => [0.0, 0.0, 0.0, 1.0],
        Turning::Yaw { .. } => {
            let [cosine, sine] = direction(format, pose);
            if cosine > -0.99 { unit([0.0, 0.0, sine, 1.0 + cosine]) } else { [0.0, 0.0, 1.0, 0.0] }
        }
        Turning::Free { bits } => free_quaternion(bits, pose.turn),
    }
}

fn direction(format: PoseFormat, pose: &Pose) -> [f32; 2] {
    let Turning::Yaw { bits } = format.turn else {
        return [1.0, 0.0];
    };
    let (cosine, sine) = sine::direction(i32::from(pose.turn[0]) << (12 - bits));
    [cosine, sine].map(|part| part as f32 / (1 << sine::BITS) as f32)
}

fn free_quaternion(bits: u8, turn: [u16; 4]) -> Quaternion {
    let largest = usize::from(turn[0] & 3);
    let (centre, step) = quaternion_steps(bits);
    let mut quaternion = [0.0; 4];
    let mut others = turn[1..].iter();
    let mut sum = 0.0;
    for (index, part) in quaternion.iter_mut().enumerate() {
        if index != largest {
            *part = others.next().map_or(0.0, |step| f32::from(*step) - centre) * step;
            sum += *part * *part;
        }
    }
    if sum > 1.0 {
        // Not a valid orientation: any result will do that is the same at both ends.
        return unit(quaternion);
    }
    quaternion[largest] = (1.0 - sum).sqrt();
    quaternion
}

/// The number that stands for zero, and the size of a step. It differs from
/// [`PoseFormat::quaternion`] by up to half a step at zero, which is less than any prediction's
/// error.
pub(super) fn quaternion_steps(bits: u8) -> (f32, f32) {
    let centre = ((1_u32 << bits) - 1) as f32 * 0.5;
    (centre, std::f32::consts::FRAC_1_SQRT_2 / centre)
}

/// The displacement along its heading at its speed since its newest pose.
pub(super) fn heading_displacement(known: &KnownObject<'_>, newest: &AgedPose) -> Vector {
    let [cosine, sine] = direction(known.format, &newest.pose);
    let displacement =
        f32::from(newest.pose.speed) * newest.age_us as f32 * 1e-6 * units_per_step(known.format);
    [cosine * displacement, sine * displacement, 0.0]
}
