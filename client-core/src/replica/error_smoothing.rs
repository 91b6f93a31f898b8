//! What is left of an error that was corrected: a picture is what is known and an offset, which
//! decays.
//!
//! The picture that was drawn and the one that turned out to be right go in; pictures that come
//! from the one to the other come out, slowly if the error was small, fast if it was large.
//!
//! Units: metres; per frame of 1/60 s. PoseSource: reference 002 (visual smoothing: factors 0.95
//! and 0.85, blended between 25 cm and 1 m; for the orientation between 0.1 and 0.5 of the dot
//! product).

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::drawing::DrawnPose;
use crate::rotation;

/// What is left of a small error after a frame.
const SLOW_DECAY: f32 = 0.95;
/// What is left of a large one.
const FAST_DECAY: f32 = 0.85;
/// Errors up to this length are small, and from the other on large.
const SMALL_M: f32 = 0.25;
const LARGE_M: f32 = 1.0;
/// The same for orientations: one less the dot product with no turn at all.
const SMALL_TURN: f32 = 0.1;
const LARGE_TURN: f32 = 0.5;
/// What is off by more than that is somewhere else: drawn there at once.
pub const SNAP_M: f32 = 4.0;
/// A correction by less than that, and by less than a degree, nobody sees: it is not smoothed.
/// Where words come in each frame, each corrects a little, and what is drawn is what they say.
const INVISIBLE_M: f32 = 0.002;
const INVISIBLE_TURN: f32 = 4e-5;
/// An offset that nobody sees is none: half a millimetre, a tenth of a degree.
const NEGLIGIBLE_M: f32 = 0.0005;
const NEGLIGIBLE_TURN: f32 = 4e-7;
/// Frames a second.
const FRAMES_PER_S: f32 = 60.0;

/// How far a picture is from what is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisualOffset {
    metres: [f32; 3],
    turn: [f32; 4],
}

/// An offset that was there at one time, and has been decaying since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSmoother {
    since: GameTime,
    offset: VisualOffset,
}

impl VisualOffset {
    /// The picture is what is known.
    pub const NONE: Self = Self {
        metres: [0.0; 3],
        turn: rotation::IDENTITY,
    };

    /// The offset with which what is at `known` looks like `drawn`.
    pub fn between(drawn: DrawnPose, known: DrawnPose) -> Self {
        let (there, here) = (drawn.position, known.position);
        let metres = [there.x - here.x, there.y - here.y, there.z - here.z];
        if length(metres) > SNAP_M {
            return Self::NONE;
        }
        let turn = rotation::product(drawn.quaternion, rotation::inverse(known.quaternion));
        Self {
            metres,
            turn: rotation::interpolate(rotation::IDENTITY, turn, 1.0),
        }
    }

    /// The picture of what is at `known`.
    pub fn apply_to(&self, known: DrawnPose) -> DrawnPose {
        let Position { x, y, z } = known.position;
        let [dx, dy, dz] = self.metres;
        let position = Position::new(x + dx, y + dy, z + dz);
        DrawnPose {
            position,
            quaternion: rotation::product(self.turn, known.quaternion),
        }
    }

    /// What is left of it after so many frames; none when nobody sees it any more.
    #[must_use]
    pub fn decayed(&self, frames: f32) -> Self {
        let length = length(self.metres);
        let left = decay_factor(length, SMALL_M, LARGE_M).powf(frames);
        let metres = if length * left < NEGLIGIBLE_M {
            [0.0; 3]
        } else {
            self.metres.map(|part| part * left)
        };
        let off = 1.0 - rotation::dot(self.turn, rotation::IDENTITY).abs();
        let left = decay_factor(off, SMALL_TURN, LARGE_TURN).powf(frames);
        let turn = if off * left < NEGLIGIBLE_TURN {
            rotation::IDENTITY
        } else {
            rotation::interpolate(rotation::IDENTITY, self.turn, left)
        };
        Self { metres, turn }
    }
}

impl ErrorSmoother {
    /// From what was drawn at `now` to what is known now; `Unchanged` if nobody sees the
    /// difference, or it is too large to glide.
    pub fn start(now: GameTime, drawn: DrawnPose, known: DrawnPose) -> Option<Self> {
        if !is_visible_difference(drawn, known) {
            return None;
        }
        let offset = VisualOffset::between(drawn, known);
        (offset != VisualOffset::NONE).then_some(ErrorSmoother { since: now, offset })
    }

    /// The picture at `t` of what is known to be at `known` then.
    pub fn apply_to(&self, t: GameTime, known: DrawnPose) -> DrawnPose {
        self.offset
            .decayed(t.since(self.since).as_secs_f32() * FRAMES_PER_S)
            .apply_to(known)
    }
}

/// Whether anybody sees the difference of two pictures.
pub fn is_visible_difference(one: DrawnPose, other: DrawnPose) -> bool {
    let turned = 1.0 - rotation::dot(one.quaternion, other.quaternion).abs();
    one.position.distance(other.position) > INVISIBLE_M || turned > INVISIBLE_TURN
}

/// What is left after a frame of an error of this size.
fn decay_factor(size: f32, small: f32, large: f32) -> f32 {
    let share = ((size - small) / (large - small)).clamp(0.0, 1.0);
    SLOW_DECAY + (FAST_DECAY - SLOW_DECAY) * share
}

/// Of a vector.
pub fn length([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_starts_at_the_drawn_pose_and_ends_at_the_known_one() {
        for metres in [0.05, 0.5, 3.0] {
            let glide =
                ErrorSmoother::start(ms(1_000), picture(metres), picture(0.0)).expect("it is seen");
            let x = |t| glide.apply_to(ms(t), picture(0.0)).position.x;
            assert!((x(1_000) - metres).abs() < 1e-5);
            assert!(x(1_100) < x(1_050) && x(1_050) < metres, "{metres}");
            assert_eq!(x(4_000), 0.0);
        }
    }

    #[test]
    fn invisible_and_far_corrections_are_not_smoothed() {
        assert_eq!(
            ErrorSmoother::start(ms(0), picture(0.001), picture(0.0)),
            None
        );
        assert_eq!(
            ErrorSmoother::start(ms(0), picture(4.5), picture(0.0)),
            None
        );
    }

    #[test]
    fn decay_does_not_depend_on_the_frame_rate() {
        let offset = VisualOffset::between(picture(0.2), picture(0.0));
        let half = offset.decayed(1.5).decayed(1.5).metres[0];
        assert!((half - offset.decayed(3.0).metres[0]).abs() < 1e-6);
    }

    fn picture(x: f32) -> DrawnPose {
        DrawnPose {
            position: Position::new(x, 0.0, 0.2),
            quaternion: rotation::IDENTITY,
        }
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
