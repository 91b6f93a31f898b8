//! The drawn poses of a simulated object: the last two frames, with interpolation between them and
//! a short extrapolation; of the player's own avatar also those just before.
//!
//! The simulation hands in [`DrawnFrames`] whenever they change; a [`DrawnObject`] comes out for
//! any time near them. This module knows no physics.
//!
//! Units: metres, radians, seconds; times are room time. Cost: two poses an object.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_steering::Movement;

use crate::rotation;

/// How far a pose is extrapolated beyond the last frame when the simulation is not stepped: two
/// ticks of 20 Hz.
pub const MAX_EXTRAPOLATION: Duration = Duration::from_millis(100);
/// How long frames are kept that a view may still ask for.
const MAX_PAST: Duration = Duration::from_millis(300);

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
    /// Since when it is where it is: earlier frames are of another place.
    pub since: GameTime,
}

/// Frames of an object that is drawn ahead: a view may draw for a time that is just past.
#[derive(Debug, Default)]
pub struct EarlierFrames {
    /// Their times ascend.
    frames: VecDeque<EarlierFrame>,
}

#[derive(Clone, Copy, Debug)]
struct EarlierFrame {
    time: GameTime,
    pose: DrawnPose,
    velocities: ([f32; 3], [f32; 3]),
}

impl EarlierFrames {
    /// Newer frames are to be drawn.
    pub fn note(&mut self, drawing: &DrawnFrames) {
        if drawing.ahead.is_zero() {
            self.frames.clear();
            return;
        }
        let DrawnFrames { previous, last, velocities, since, .. } = *drawing;
        while self
            .frames
            .front()
            .is_some_and(|frame| frame.time < since || last.0.since(frame.time) > MAX_PAST)
        {
            self.frames.pop_front();
        }
        for (time, pose) in [previous, last] {
            let known = self.frames.iter().position(|frame| frame.time >= time);
            let index = known.unwrap_or(self.frames.len());
            let same = self.frames.get(index).filter(|frame| frame.time == time && time < last.0);
            let velocities = same.map_or(velocities, |frame| frame.velocities);
            self.frames.truncate(index);
            self.frames.push_back(EarlierFrame { time, pose, velocities });
        }
    }

    /// The object while others are drawn as of `shown`, a time before its newest frames; `None` for
    /// times long before.
    pub fn at(&self, newest: &DrawnFrames, shown: GameTime) -> Option<DrawnObject> {
        let shows = shown + newest.ahead;
        let after = self.frames.partition_point(|frame| frame.time <= shows);
        let to = self.frames.get(after)?;
        let pose = match after.checked_sub(1) {
            Some(before) => {
                let from = self.frames[before];
                between((from.time, from.pose), (to.time, to.pose), shows)
            }
            None if to.time.since(shows) <= MAX_EXTRAPOLATION => to.pose,
            None => return None,
        };
        Some(DrawnFrames { velocities: to.velocities, ..*newest }.showing(shows, pose))
    }
}

impl DrawnFrames {
    /// The object while other objects are drawn as of `shown`; `None` for times before its frames.
    pub fn at(&self, shown: GameTime) -> Option<DrawnObject> {
        let shows = shown + self.ahead;
        let from = self.previous.0;
        let to = self.last.0;
        let pose = if shows >= to {
            self.extrapolate(shows.since(to))
        } else if shows >= from {
            between(self.previous, self.last, shows)
        } else {
            return None;
        };
        Some(self.showing(shows, pose))
    }

    fn showing(
        &self,
        room_time: GameTime,
        DrawnPose { position, quaternion }: DrawnPose,
    ) -> DrawnObject {
        let (linear, angular) = self.velocities;
        DrawnObject { room_time, position, quaternion, linear, angular, at_rest: self.at_rest }
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

fn between(
    (since, from): (GameTime, DrawnPose),
    (until, to): (GameTime, DrawnPose),
    t: GameTime,
) -> DrawnPose {
    let share = t.since(since).as_secs_f32() / until.since(since).as_secs_f32();
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

    #[test]
    fn an_object_drawn_ahead_is_known_for_a_time_that_is_just_past() {
        let frame = |number: u64| {
            let ([from, to], x) = ([number - 1, number].map(|it| ms(it * 10)), number as f32);
            let poses = [x - 1.0, x].map(drawing_at);
            DrawnFrames {
                velocities: ([number as f32, 0.0, 0.0], [0.0; 3]),
                previous: (from, poses[0]),
                last: (to, poses[1]),
                ahead: Duration::from_millis(60),
                ..drawing(false)
            }
        };
        let mut earlier = EarlierFrames::default();
        // A frame is missing: two were stepped in one call.
        for number in [10, 11, 12, 14, 15] {
            earlier.note(&frame(number));
        }
        let newest = frame(15);
        let x = |shown| Some(earlier.at(&newest, ms(shown))?.position.x);
        for (shown, expected) in [(74, 13.4), (60, 12.0), (55, 11.5), (20, 9.0)] {
            let x = x(shown).expect("it is known");
            assert!((x - expected).abs() < 1e-3, "{x} at {shown}");
        }
        let velocity = earlier.at(&newest, ms(55)).map(|it| it.linear);
        assert_eq!(velocity, Some([12.0, 0.0, 0.0]), "that of the frame drawn, not of the newest");
        let jumped = DrawnFrames { since: ms(150), ..frame(16) };
        earlier.note(&jumped);
        assert_eq!(earlier.at(&jumped, ms(60)).map(|it| it.position.x), Some(15.0));
    }

    fn drawing_at(x: f32) -> DrawnPose {
        DrawnPose { position: Position::new(x, 0.0, 0.2), quaternion: rotation::IDENTITY }
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
            since: GameTime::ZERO,
        }
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
