//! A pose that comes late, moved forward to the frame that the simulation is in.
//!
//! To simulate the missing frames again would be the right thing and too dear for all bodies, so it
//! goes on at its velocities, falling if it is in the air, and stops at the floor.
//!
//! Units: frames of 1/60 s. Source: reference 004 (second-order prediction).

use ambit_proto::games::cubes::{FORMAT, FRAMES_PER_S, edge_m};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;

use crate::rotation;

const FRAME_S: f32 = 1.0 / FRAMES_PER_S as f32;
const GRAVITY_M_PER_S2: f32 = 9.81;
/// What moves up or down faster than that is in the air: more than what rolling over an edge does.
const AIRBORNE_M_PER_S: f32 = 1.0;
/// Nothing is moved on for longer: a quarter of a second.
const FARTHEST: u64 = 15;

/// Where a cube of this kind is likely to be so many frames after `pose`.
pub(super) fn forward(kind: u8, pose: &Pose, frames: u64) -> Pose {
    if pose.flag || frames == 0 {
        return *pose;
    }
    let (mut position, mut quaternion) = (FORMAT.position(pose), FORMAT.quaternion(pose));
    let (mut linear, angular) = FORMAT.velocities(pose);
    let floor = edge_m(kind) / 2.0;
    let airborne = linear[2].abs() > AIRBORNE_M_PER_S;
    for _ in 0..frames.min(FARTHEST) {
        if airborne {
            linear[2] -= GRAVITY_M_PER_S2 * FRAME_S;
        }
        let Position { x, y, z } = position;
        let [dx, dy, dz] = linear.map(|speed| speed * FRAME_S);
        position = Position::new(x + dx, y + dy, z + dz);
        if position.z < floor && dz < 0.0 {
            (position.z, linear[2]) = (floor.min(z.max(0.0)), 0.0);
        }
        quaternion = rotation::turned(quaternion, angular, FRAME_S);
    }
    FORMAT.moving(position, quaternion, Some((linear, angular)))
}

#[cfg(test)]
mod tests {
    use ambit_proto::games::cubes::CUBE;

    use super::*;

    #[test]
    fn what_rests_stays() {
        let pose = FORMAT.moving(Position::new(1.0, 2.0, 0.2), rotation::NONE, None);
        assert_eq!(forward(CUBE, &pose, 9), pose);
    }

    #[test]
    fn what_slides_goes_on_and_what_falls_falls_to_the_floor() {
        let later = |z, linear, frames| {
            let pose = FORMAT.moving(
                Position::new(1.0, 2.0, z),
                rotation::NONE,
                Some((linear, [0.0; 3])),
            );
            FORMAT.position(&forward(CUBE, &pose, frames))
        };
        let slid = later(0.2, [3.0, 0.0, -0.05], 6);
        assert!(
            (slid.x - 1.3).abs() < 1e-3 && (slid.z - 0.2).abs() < 1e-3,
            "{slid:?}"
        );
        let fell = later(5.0, [0.0, 0.0, -2.0], 12);
        assert!(
            (fell.z - (5.0 - 0.4 - 9.81 * 0.02)).abs() < 0.03,
            "{fell:?}"
        );
        assert!((later(0.5, [0.0, 0.0, -9.0], 12).z - 0.2).abs() < 1e-3);
    }
}
