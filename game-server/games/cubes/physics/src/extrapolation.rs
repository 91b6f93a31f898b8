//! Extrapolates the pose of a cube to a later frame.
//!
//! For a client that gets a pose late: simulating the missing frames again would be exact, but too
//! expensive for all bodies. So the pose moves on at its velocities, falls if it is in the air, and
//! stops at the floor.
//!
//! Units: frames of 1/60 s. Source: "Optimisation des echanges de donnees", an article on data
//! exchange in action games (second-order prediction).

use ambit_proto::pose::{Pose, quaternion};
use ambit_proto::space::Position;

use crate::{FRAMES_PER_S, POSE_FORMAT, edge_m};

const FRAME_S: f32 = 1.0 / FRAMES_PER_S as f32;
const GRAVITY_M_PER_S2: f32 = 9.81;
/// A cube with a greater vertical speed is in the air: rolling over an edge is slower.
const AIRBORNE_M_PER_S: f32 = 1.0;
/// Maximum number of frames to extrapolate: a quarter of a second.
const MAX_FRAMES: u64 = 15;

/// The likely pose of a cube of this kind, this many frames after `pose`.
pub(super) fn extrapolate(kind: u8, pose: &Pose, frames: u64) -> Pose {
    if pose.flag || frames == 0 {
        return *pose;
    }
    let mut position = POSE_FORMAT.position(pose);
    let mut turn = POSE_FORMAT.quaternion(pose);
    let (mut linear, angular) = POSE_FORMAT.velocities(pose);
    let floor = edge_m(kind) / 2.0;
    let airborne = linear[2].abs() > AIRBORNE_M_PER_S;
    for _ in 0..frames.min(MAX_FRAMES) {
        if airborne {
            linear[2] -= GRAVITY_M_PER_S2 * FRAME_S;
        }
        let Position { x, y, z } = position;
        let [dx, dy, dz] = linear.map(|speed| speed * FRAME_S);
        position = Position::new(x + dx, y + dy, z + dz);
        if position.z < floor && dz < 0.0 {
            (position.z, linear[2]) = (floor.min(z.max(0.0)), 0.0);
        }
        turn = quaternion::rotate(turn, angular, FRAME_S);
    }
    POSE_FORMAT.moving(position, turn, Some((linear, angular)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CUBE;

    const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

    #[test]
    fn a_pose_at_rest_is_not_moved() {
        let pose = POSE_FORMAT.moving(Position::new(1.0, 2.0, 0.2), UPRIGHT, None);
        assert_eq!(extrapolate(CUBE, &pose, 9), pose);
    }

    #[test]
    fn sliding_goes_on_and_falling_stops_at_the_floor() {
        let later = |z, linear, frames| {
            let pose =
                POSE_FORMAT.moving(Position::new(1.0, 2.0, z), UPRIGHT, Some((linear, [0.0; 3])));
            POSE_FORMAT.position(&extrapolate(CUBE, &pose, frames))
        };
        let slid = later(0.2, [3.0, 0.0, -0.05], 6);
        assert!((slid.x - 1.3).abs() < 1e-3 && (slid.z - 0.2).abs() < 1e-3, "{slid:?}");
        let fell = later(5.0, [0.0, 0.0, -2.0], 12);
        assert!((fell.z - (5.0 - 0.4 - 9.81 * 0.02)).abs() < 0.03, "{fell:?}");
        assert!((later(0.5, [0.0, 0.0, -9.0], 12).z - 0.2).abs() < 1e-3);
    }
}
