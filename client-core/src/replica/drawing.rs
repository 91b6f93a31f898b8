//! The drawn poses of a simulated object: the last two frames, with interpolation between them and
//! a short extrapolation.
//!
//! The simulation hands in [`DrawnFrames`] whenever they change; a [`DrawnObject`] comes out for
//! any time near them. This module knows no physics.
//!
//! Units: metres, radians, seconds; times are room time. Cost: two poses an object.

use std::time::Duration;

use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_steering::Movement;

use crate::rotation;

/// How far a pose is extrapolated beyond the last frame when the simulation is not stepped: two
/// ticks of 20 Hz.
pub const MAX_EXTRAPOLATION: Duration = Duration::from_millis(100);

/// An object at one time, as a view draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnObject {
    /// The room time that this shows.
    pub room_time: GameTime,
    /// Its centre, in metres.
    pub position: Position,
    /// Its orientation: a unit quaternion, x, y, z, w.
    pub quaternion: [f32; 4],
    /// Velocity, in metres a second.
    pub linear: [f32; 3],
    /// Angular velocity about the axes of the world, in radians a second.
    pub angular: [f32; 3],
    /// Whether it is at rest.
    pub at_rest: bool,
}

/// Position and orientation for drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnPose {
    /// Its centre, in metres.
    pub position: Position,
    /// Its orientation: a unit quaternion, x, y, z, w.
    pub quaternion: [f32; 4],
}

/// The last two frames of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnFrames {
    /// The last frame but one, and its time.
    pub previous: (GameTime, DrawnPose),
    /// The last frame, and its time.
    pub last: (GameTime, DrawnPose),
    /// Velocity and angular velocity for the extrapolation.
    pub velocities: ([f32; 3], [f32; 3]),
    /// Whether it is at rest.
    pub at_rest: bool,
    /// How far it is drawn ahead of other objects: the player's own avatar is predicted.
    pub ahead: Duration,
}

impl DrawnFrames {
    /// The object while other objects are drawn as of `shown`; `None` for times before its frames.
    pub fn at(&self, shown: GameTime) -> Option<DrawnObject> {
        let shows = shown + self.ahead;
        let (from, to) = (self.previous.0, self.last.0);
        let DrawnPose { position, quaternion } = if shows >= to {
            self.extrapolate(shows.since(to))
        } else if shows >= from {
            let share = shows.since(from).as_secs_f32() / to.since(from).as_secs_f32();
            interpolate(self.previous.1, self.last.1, share)
        } else {
            return None;
        };
        let (linear, angular) = self.velocities;
        Some(DrawnObject {
            room_time: shows,
            position,
            quaternion,
            linear,
            angular,
            at_rest: self.at_rest,
        })
    }

    fn extrapolate(&self, time: Duration) -> DrawnPose {
        let picture = self.last.1;
        if self.at_rest {
            return picture;
        }
        let (seconds, (linear, angular)) =
            (time.min(MAX_EXTRAPOLATION).as_secs_f32(), self.velocities);
        let Position { x, y, z } = picture.position;
        let position = Position::new(
            x + linear[0] * seconds,
            y + linear[1] * seconds,
            z + linear[2] * seconds,
        );
        DrawnPose { position, quaternion: rotation::rotate(picture.quaternion, angular, seconds) }
    }
}

/// Velocity and angular velocity of a pose: its own, or the speed along its heading.
pub(crate) fn velocities_of(format: &PoseFormat, pose: &Pose) -> ([f32; 3], [f32; 3]) {
    if let Turning::Yaw { .. } = format.turn {
        return (Movement::of_pose(format, pose).velocity, [0.0; 3]);
    }
    format.velocities(pose)
}

fn interpolate(from: DrawnPose, to: DrawnPose, share: f32) -> DrawnPose {
    DrawnPose {
        position: from.position.lerp(to.position, share),
        quaternion: rotation::interpolate(from.quaternion, to.quaternion, share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_interpolated_and_extrapolated_for_a_bounded_time() {
        let drawing = drawing(false);
        assert_eq!(drawing.at(ms(99)), None);
        for (t, x) in [(100, 0.0), (108, 0.8), (110, 1.0), (120, 2.0), (210, 11.0), (500, 11.0)] {
            let drawn = drawing.at(ms(t)).expect("a picture");
            assert!((drawn.position.x - x).abs() < 1e-4, "{} at {t}", drawn.position.x);
            assert_eq!(drawn.room_time, ms(t));
        }
    }

    #[test]
    fn an_object_at_rest_is_not_extrapolated() {
        assert_eq!(drawing(true).at(ms(9_999)).map(|drawn| drawn.position.x), Some(1.0));
    }

    #[test]
    fn an_object_drawn_ahead_shows_a_later_time() {
        let drawn = DrawnFrames { ahead: Duration::from_millis(60), ..drawing(false) }
            .at(ms(50))
            .expect("a picture");
        assert_eq!((drawn.room_time, drawn.position.x), (ms(110), 1.0));
    }

    fn drawing(at_rest: bool) -> DrawnFrames {
        let picture =
            |x| DrawnPose { position: Position::new(x, 0.0, 0.2), quaternion: rotation::IDENTITY };
        DrawnFrames {
            previous: (ms(100), picture(0.0)),
            last: (ms(110), picture(1.0)),
            velocities: ([100.0, 0.0, 0.0], [0.0; 3]),
            at_rest,
            ahead: Duration::ZERO,
        }
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
