//! What a client draws of an object that it simulates: the pictures of the last two frames, and
//! what lies between and a little beyond them.
//!
//! The simulation hands in a [`Drawing`] whenever something about it has changed; a [`Drawn`] at
//! any time near it comes out. Nothing here knows physics.
//!
//! Units: metres, radians, seconds; times are the room's. Cost: two pictures an object.

use std::time::Duration;

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use crate::rotation;

/// How far beyond the last frame a picture goes on at its velocities, when nobody steps the
/// simulation: two ticks of 20 Hz.
pub const RUN_ON: Duration = Duration::from_millis(100);

/// An object at one moment, as a view draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Of which room time this is the picture.
    pub shows: GameTime,
    /// Its middle.
    pub position: Position,
    /// Its orientation: a unit quaternion, x, y, z, w.
    pub quaternion: [f32; 4],
    /// Velocity, in metres a second.
    pub linear: [f32; 3],
    /// Angular velocity about the axes of the world, in radians a second.
    pub angular: [f32; 3],
    /// Whether it stands still.
    pub at_rest: bool,
}

/// Where something is, and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Picture {
    /// Its middle.
    pub position: Position,
    /// Its orientation.
    pub quaternion: [f32; 4],
}

/// The last two frames of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawing {
    /// The last but one, and its time.
    pub before: (GameTime, Picture),
    /// The last one, and its time.
    pub last: (GameTime, Picture),
    /// How it goes on: velocity and angular velocity.
    pub velocities: ([f32; 3], [f32; 3]),
    /// Whether it stands still.
    pub at_rest: bool,
    /// By how much it is drawn ahead of all else: what the player steers is foretold.
    pub ahead: Duration,
}

impl Drawing {
    /// What is drawn while other objects are drawn as of `shown`; `None` for times before its
    /// frames.
    pub fn at(&self, shown: GameTime) -> Option<Drawn> {
        let shows = shown + self.ahead;
        let (from, to) = (self.before.0, self.last.0);
        let Picture {
            position,
            quaternion,
        } = if shows >= to {
            self.beyond(shows.since(to))
        } else if shows >= from {
            let share = shows.since(from).as_secs_f32() / to.since(from).as_secs_f32();
            between(self.before.1, self.last.1, share)
        } else {
            return None;
        };
        let (linear, angular) = self.velocities;
        Some(Drawn {
            shows,
            position,
            quaternion,
            linear,
            angular,
            at_rest: self.at_rest,
        })
    }

    fn beyond(&self, time: Duration) -> Picture {
        let picture = self.last.1;
        if self.at_rest {
            return picture;
        }
        let (seconds, (linear, angular)) = (time.min(RUN_ON).as_secs_f32(), self.velocities);
        let Position { x, y, z } = picture.position;
        let position = Position::new(
            x + linear[0] * seconds,
            y + linear[1] * seconds,
            z + linear[2] * seconds,
        );
        Picture {
            position,
            quaternion: rotation::turned(picture.quaternion, angular, seconds),
        }
    }
}

fn between(from: Picture, to: Picture, share: f32) -> Picture {
    Picture {
        position: from.position.lerp(to.position, share),
        quaternion: rotation::mix(from.quaternion, to.quaternion, share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_lies_between_two_frames_and_goes_on_a_little() {
        let drawing = drawing(false);
        assert_eq!(drawing.at(ms(99)), None);
        for (t, x) in [
            (100, 0.0),
            (108, 0.8),
            (110, 1.0),
            (120, 2.0),
            (210, 11.0),
            (500, 11.0),
        ] {
            let drawn = drawing.at(ms(t)).expect("a picture");
            assert!(
                (drawn.position.x - x).abs() < 1e-4,
                "{} at {t}",
                drawn.position.x
            );
            assert_eq!(drawn.shows, ms(t));
        }
    }

    #[test]
    fn what_rests_stays() {
        assert_eq!(
            drawing(true).at(ms(9_999)).map(|drawn| drawn.position.x),
            Some(1.0)
        );
    }

    #[test]
    fn what_is_ahead_shows_a_later_time() {
        let drawn = Drawing {
            ahead: Duration::from_millis(60),
            ..drawing(false)
        }
        .at(ms(50))
        .expect("a picture");
        assert_eq!((drawn.shows, drawn.position.x), (ms(110), 1.0));
    }

    fn drawing(at_rest: bool) -> Drawing {
        let picture = |x| Picture {
            position: Position::new(x, 0.0, 0.2),
            quaternion: rotation::NONE,
        };
        Drawing {
            before: (ms(100), picture(0.0)),
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
