//! From a format's whole numbers to the units of the fine level, and back.

use super::reference::Frame;
use super::space::{Quaternion, Vector, unit};
use super::{Known, Seen, UNITS_PER_METRE};
use crate::pose::{Pose, PoseFormat, Turning, sine};

/// The units of a grid's step.
pub(super) fn units_a_step(format: PoseFormat) -> f32 {
    UNITS_PER_METRE / f32::from(format.per_metre)
}

/// Place and attitude, relative to `origin`.
pub(super) fn frame(format: PoseFormat, origin: [i32; 3], pose: &Pose) -> Frame {
    Frame {
        at: place(format, origin, pose),
        turn: quaternion(format, pose),
    }
}

/// The place alone.
pub(super) fn place(format: PoseFormat, origin: [i32; 3], pose: &Pose) -> Vector {
    let units = units_a_step(format);
    // Far away precision does not matter, but squares must stay finite.
    let along =
        |axis: usize| (pose.at[axis].wrapping_sub(origin[axis]) as f32 * units).clamp(-1e7, 1e7);
    [along(0), along(1), along(2)]
}

/// Its attitude.
pub(super) fn quaternion(format: PoseFormat, pose: &Pose) -> Quaternion {
    match format.turn {
        Turning::Fixed => [0.0, 0.0, 0.0, 1.0],
        Turning::Yaw { .. } => {
            let [cosine, sine] = direction(format, pose);
            if cosine > -0.99 {
                unit([0.0, 0.0, sine, 1.0 + cosine])
            } else {
                [0.0, 0.0, 1.0, 0.0]
            }
        }
        Turning::Free { bits } => free(bits, pose.turn),
    }
}

fn direction(format: PoseFormat, pose: &Pose) -> [f32; 2] {
    let Turning::Yaw { bits } = format.turn else {
        return [1.0, 0.0];
    };
    let (cosine, sine) = sine::direction(i32::from(pose.turn[0]) << (12 - bits));
    [cosine, sine].map(|part| part as f32 / (1 << sine::BITS) as f32)
}

fn free(bits: u8, turn: [u16; 4]) -> Quaternion {
    let largest = usize::from(turn[0] & 3);
    let (centre, step) = steps(bits);
    let mut quaternion = [0.0; 4];
    let (mut others, mut sum) = (turn[1..].iter(), 0.0);
    for (index, part) in quaternion.iter_mut().enumerate() {
        if index != largest {
            *part = others.next().map_or(0.0, |step| f32::from(*step) - centre) * step;
            sum += *part * *part;
        }
    }
    if sum > 1.0 {
        return unit(quaternion); // Nobody's orientation: any will do that is the same for all.
    }
    quaternion[largest] = (1.0 - sum).sqrt();
    quaternion
}

/// The number that stands for zero, and the size of a step. As [`PoseFormat::quaternion`] has it up
/// to half a step in the middle, which no forecast is as good as.
pub(super) fn steps(bits: u8) -> (f32, f32) {
    let centre = ((1_u32 << bits) - 1) as f32 * 0.5;
    (centre, std::f32::consts::FRAC_1_SQRT_2 / centre)
}

/// The way along its heading, at its speed, for as long as its newest pose is old.
pub(super) fn heading(known: &Known<'_>, newest: &Seen) -> Vector {
    let [cosine, sine] = direction(known.format, &newest.pose);
    let way =
        f32::from(newest.pose.speed) * newest.age_us as f32 * 1e-6 * units_a_step(known.format);
    [cosine * way, sine * way, 0.0]
}
