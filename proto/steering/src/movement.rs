//! Where an avatar is and how it moves, and the poses that stand for it.

use ambit_proto::pose::quaternion::heading;
use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::space::Position;

/// Where an avatar is, and how it moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Movement {
    /// Its position, in metres.
    pub at: Position,
    /// Its heading, in radians from x towards y.
    pub yaw: f32,
    /// Its velocity, in metres a second. The poses of some kinds have a speed along the heading
    /// instead; of these, clients know the part along the heading alone.
    pub velocity: [f32; 3],
}

impl Movement {
    /// At rest at a position, with a heading.
    pub const fn at_rest(at: Position, yaw: f32) -> Self {
        Self { at, yaw, velocity: [0.0; 3] }
    }

    /// The direction of the heading, of length 1.
    pub fn direction(&self) -> Position {
        let (sin, cos) = self.yaw.sin_cos();
        Position::on_ground(cos, sin)
    }

    /// The speed along the heading, in metres a second; negative backwards.
    pub fn speed(&self) -> f32 {
        let ahead = self.direction();
        self.velocity[0] * ahead.x + self.velocity[1] * ahead.y
    }

    /// Moves along the heading from now on, at this speed.
    pub fn set_speed(&mut self, metres_per_s: f32) {
        let ahead = self.direction();
        self.velocity = [ahead.x * metres_per_s, ahead.y * metres_per_s, 0.0];
    }

    /// The nearest pose of a kind. `None` if something is not finite.
    pub fn to_pose(&self, format: &PoseFormat) -> Option<Pose> {
        let is_finite = self.at.is_finite()
            && self.yaw.is_finite()
            && self.velocity.iter().all(|axis| axis.is_finite())
            && self.speed().is_finite();
        if !is_finite {
            return None;
        }
        Some(match format.turn {
            Turning::Yaw { .. } => format.pose(self.at, self.yaw, self.speed()),
            Turning::Fixed | Turning::Free { .. } => {
                let (sin, cos) = (self.yaw / 2.0).sin_cos();
                let is_moving = self.velocity != [0.0; 3];
                let velocities = is_moving.then_some((self.velocity, [0.0; 3]));
                format.moving(self.at, [0.0, 0.0, sin, cos], velocities)
            }
        })
    }

    /// The movement that a pose stands for, as clients read it.
    pub fn of_pose(format: &PoseFormat, pose: &Pose) -> Self {
        let at = format.position(pose);
        if let Turning::Yaw { .. } = format.turn {
            let mut movement = Self::at_rest(at, format.yaw(pose));
            movement.set_speed(format.speed(pose));
            return movement;
        }
        let yaw = heading(format.quaternion(pose));
        let (velocity, _) = format.velocities(pose);
        Self { at, yaw, velocity }
    }
}
