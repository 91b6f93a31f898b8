//! Visual smoothing: what is drawn is what is simulated and an offset, which decays.
//!
//! Corrections go in, pictures come out. A correction moves the simulation hard; the offset takes up the difference, so the picture
//! does not jump, and then comes to what is simulated within some frames: slowly if the error is small, fast if it is large.
//!
//! Invariant: right after a correction of less than [`SNAP_M`] the picture, but for what nobody sees, is what it would have been without. Units: metres; per frame of
//! 1/60 s. Source: reference 002 (visual smoothing: factors 0.95 and 0.85, blended between 25 cm and 1 m; for the
//! orientation between 0.1 and 0.5 of the dot product).

use ambit_proto::games::cubes::{FORMAT, time_of};
use ambit_proto::pose::Pose;
use ambit_proto::space::Position;

use crate::replica::drawing::{Drawing, Picture};
use crate::rotation;

/// What is left of a small error after a frame.
const SLOW: f32 = 0.95;
/// What is left of a large one.
const FAST: f32 = 0.85;
/// Errors up to this length are small, and from the other on large.
const SMALL_M: f32 = 0.25;
const LARGE_M: f32 = 1.0;
/// The same for orientations: one less the dot product with no turn at all.
const SMALL_TURN: f32 = 0.1;
const LARGE_TURN: f32 = 0.5;
/// What is off by more than that is somewhere else: drawn there at once.
pub(super) const SNAP_M: f32 = 4.0;
/// A correction by less than that, and by less than a degree, nobody sees: it is not smoothed. Where words come in each frame, each
/// corrects a little, and what is drawn is what they say.
const UNSEEN_M: f32 = 0.002;
const UNSEEN_TURN: f32 = 4e-5;
/// An offset that nobody sees is none: half a millimetre, a tenth of a degree.
const NOTHING_M: f32 = 0.0005;
const NOTHING_TURN: f32 = 4e-7;

/// How far the picture is from what is simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offset {
    metres: [f32; 3],
    turn: [f32; 4],
}

impl Offset {
    const NONE: Self = Self { metres: [0.0; 3], turn: rotation::NONE };

    fn decay(&mut self) {
        let length = length(self.metres);
        let left = factor(length, SMALL_M, LARGE_M);
        self.metres = if length * left < NOTHING_M { [0.0; 3] } else { self.metres.map(|part| part * left) };
        let off = 1.0 - rotation::dot(self.turn, rotation::NONE).abs();
        let left = factor(off, SMALL_TURN, LARGE_TURN);
        self.turn = if off < NOTHING_TURN { rotation::NONE } else { rotation::mix(rotation::NONE, self.turn, left) };
    }

    /// The picture of a body with this pose.
    fn picture(&self, pose: &Pose) -> Picture {
        let Position { x, y, z } = FORMAT.position(pose);
        let [dx, dy, dz] = self.metres;
        let position = Position::new(x + dx, y + dy, z + dz);
        Picture { position, quaternion: rotation::product(self.turn, FORMAT.quaternion(pose)) }
    }

    /// The offset with which a body with the pose `now` looks like `picture`.
    fn from(picture: Picture, now: &Pose) -> Self {
        let (there, here) = (picture.position, FORMAT.position(now));
        let metres = [there.x - here.x, there.y - here.y, there.z - here.z];
        if length(metres) > SNAP_M {
            return Self::NONE;
        }
        let turn = rotation::product(picture.quaternion, rotation::inverse(FORMAT.quaternion(now)));
        Self { metres, turn: rotation::mix(rotation::NONE, turn, 1.0) }
    }
}

/// What is drawn of one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visual {
    offset: Offset,
    before: Picture,
    last: Picture,
    frame: u64,
}

impl Visual {
    /// Of a body that appears in a frame.
    pub(super) fn new(frame: u64, pose: &Pose) -> Self {
        let picture = Offset::NONE.picture(pose);
        Self { offset: Offset::NONE, before: picture, last: picture, frame }
    }

    /// A frame goes by. Whether the picture and what is simulated differ.
    pub(super) fn decay(&mut self) -> bool {
        self.offset.decay();
        self.is_off()
    }

    /// Whether the picture and what is simulated differ.
    pub(super) fn is_off(&self) -> bool {
        self.offset != Offset::NONE
    }

    /// The body is put from one pose to another.
    pub(super) fn correct(&mut self, from: &Pose, to: &Pose) {
        let (was, is) = (Offset::NONE.picture(from), Offset::NONE.picture(to));
        let turned = 1.0 - rotation::dot(was.quaternion, is.quaternion).abs();
        if was.position.distance(is.position) > UNSEEN_M || turned > UNSEEN_TURN {
            self.offset = Offset::from(self.offset.picture(from), to);
        }
    }

    /// The body has this pose after the step of `frame`.
    pub(super) fn show(&mut self, frame: u64, pose: &Pose) {
        if frame != self.frame {
            self.before = self.last;
            self.frame = frame;
        }
        self.last = self.offset.picture(pose);
    }

    /// What a view is handed.
    pub(super) fn drawing(&self, pose: &Pose) -> Drawing {
        Drawing {
            before: (time_of(self.frame.saturating_sub(1)), self.before),
            last: (time_of(self.frame), self.last),
            velocities: FORMAT.velocities(pose),
            at_rest: pose.flag && !self.is_off(),
            ahead: std::time::Duration::ZERO,
        }
    }
}

/// What is left after a frame of an error of this size.
fn factor(size: f32, small: f32, large: f32) -> f32 {
    let share = ((size - small) / (large - small)).clamp(0.0, 1.0);
    SLOW + (FAST - SLOW) * share
}

pub(super) fn length([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_does_not_show_at_once_and_then_decays_as_fast_as_it_is_large() {
        for (metres, after_30) in [(0.1, 0.1 * 0.95_f32.powi(30)), (3.0, 0.17)] {
            let mut visual = Visual::new(0, &pose(0.0));
            visual.correct(&pose(0.0), &pose(metres));
            visual.show(1, &pose(metres));
            assert!(x(&visual).abs() < 1e-3, "{metres}");
            for frame in 2..32 {
                visual.decay();
                visual.show(frame, &pose(metres));
            }
            let off = metres - x(&visual);
            assert!((off - after_30).abs() < 0.02, "{off} of {metres}");
        }
    }

    #[test]
    fn in_the_end_nothing_is_left() {
        let mut visual = Visual::new(0, &pose(0.0));
        let turned = FORMAT.moving(Position::new(0.3, 0.0, 0.2), [0.6, 0.0, 0.0, 0.8], None);
        visual.correct(&pose(0.0), &turned);
        let frames = (0..1_000).take_while(|_| visual.decay()).count();
        assert!(frames < 200, "{frames}");
        visual.show(1_000, &turned);
        assert_eq!(visual.last, Visual::new(0, &turned).last);
    }

    #[test]
    fn what_is_far_away_is_there_at_once() {
        let mut visual = Visual::new(0, &pose(0.0));
        visual.correct(&pose(0.0), &pose(4.5));
        visual.show(1, &pose(4.5));
        assert_eq!(x(&visual), 4.5);
    }

    #[test]
    fn corrections_add_up_and_cancel_out() {
        let mut visual = Visual::new(0, &pose(0.0));
        visual.correct(&pose(0.0), &pose(0.5));
        visual.correct(&pose(0.5), &pose(0.0));
        visual.show(1, &pose(0.0));
        assert!(x(&visual).abs() < 1e-5);
    }

    fn pose(x: f32) -> Pose {
        FORMAT.moving(Position::new(x, 0.0, 0.2), rotation::NONE, None)
    }

    fn x(visual: &Visual) -> f32 {
        visual.last.position.x
    }
}
