//! Visual smoothing: the drawn pose is the simulated pose plus an offset that decays.
//!
//! Corrections go in, drawn poses come out. A correction moves the simulation at once. The offset
//! takes up the difference, so that the drawn pose does not jump, and decays within some frames:
//! large errors decay faster.
//!
//! Invariant: right after a correction of less than
//! [`SNAP_M`](crate::replica::error_smoothing::SNAP_M), the drawn pose is visibly the same as
//! without the correction. Units: metres; per frame of 1/60 s. Source: G. Fiedler, "State
//! Synchronization" (visual smoothing).

use ambit_proto::physics::frame_time;
use ambit_proto::pose::{Pose, PoseFormat};

use crate::replica::drawing::{DrawnFrames, DrawnPose, velocities_of};
use crate::replica::error_smoothing::{VisualOffset, is_visible_difference};

/// A gentle correction moves the drawing by at most this distance in a frame.
const GENTLE_M: f32 = 0.15;
/// What is further away is drawn there at once, in any case: the way would last for 4 s.
const FAR_M: f32 = 36.0;

/// The drawing of one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmoothedVisual {
    format: PoseFormat,
    offset: VisualOffset,
    before: DrawnPose,
    last: DrawnPose,
    frame: u64,
    /// Since which frame it is where it is.
    since: u64,
    /// Whether a correction moves it by little in each frame, from any distance.
    is_gentle: bool,
}

impl SmoothedVisual {
    /// For a body that appears in this frame, with poses in this format.
    pub(super) fn new(format: PoseFormat, frame: u64, pose: &Pose) -> Self {
        let picture = picture(&format, pose);
        let offset = VisualOffset::NONE;
        let before = picture;
        let last = picture;
        let since = frame;
        Self { format, offset, before, last, frame, since, is_gentle: false }
    }

    /// The same, but a correction moves it by little in each frame, however large it is.
    pub(super) fn gentle(self) -> Self {
        Self { is_gentle: true, ..self }
    }

    /// Advances a frame. Returns whether an offset is left.
    pub(super) fn decay(&mut self) -> bool {
        let decayed = self.offset.decayed(1.0);
        self.offset = if self.is_gentle { self.offset.towards(decayed, GENTLE_M) } else { decayed };
        self.is_smoothing()
    }

    /// Whether the drawn pose differs from the simulated one.
    pub(super) fn is_smoothing(&self) -> bool {
        self.offset != VisualOffset::NONE
    }

    /// The body is moved from one pose to another.
    pub(super) fn correct(&mut self, from: &Pose, to: &Pose) {
        let was = picture(&self.format, from);
        let is = picture(&self.format, to);
        if is_visible_difference(was, is) {
            let drawn = self.offset.apply_to(was);
            self.offset = if self.is_gentle {
                VisualOffset::from_afar(drawn, is, FAR_M)
            } else {
                VisualOffset::between(drawn, is)
            };
        }
    }

    /// The body has jumped to this pose: it is drawn there, and nowhere before.
    pub(super) fn jump(&mut self, to: &Pose) {
        let is_gentle = self.is_gentle;
        *self = Self { is_gentle, ..Self::new(self.format, self.frame, to) };
    }

    /// The body has this pose after the step of `frame`.
    pub(super) fn show(&mut self, frame: u64, pose: &Pose) {
        if frame != self.frame {
            self.before = self.last;
            self.frame = frame;
        }
        self.last = self.offset.apply_to(picture(&self.format, pose));
    }

    /// Whether a pose that cannot say that it rests does.
    fn has_stopped(&self, pose: &Pose) -> bool {
        self.format.motion.is_none() && pose.speed == 0 && self.before == self.last
    }

    /// The frames for the view.
    pub(super) fn drawing(&self, pose: &Pose) -> DrawnFrames {
        DrawnFrames {
            previous: (frame_time(self.frame.saturating_sub(1)), self.before),
            last: (frame_time(self.frame), self.last),
            velocities: velocities_of(&self.format, pose),
            at_rest: (pose.flag || self.has_stopped(pose)) && !self.is_smoothing(),
            ahead: std::time::Duration::ZERO,
            since: frame_time(self.since),
        }
    }
}

fn picture(format: &PoseFormat, pose: &Pose) -> DrawnPose {
    DrawnPose { position: format.position(pose), quaternion: format.quaternion(pose) }
}

#[cfg(test)]
mod tests {
    use ambit_cubes_physics::POSE_FORMAT;
    use ambit_proto::space::Position;

    use super::*;
    use crate::rotation;

    #[test]
    fn larger_corrections_decay_faster_and_none_shows_at_once() {
        for (metres, after_30) in [(0.1, 0.1 * 0.95_f32.powi(30)), (3.0, 0.17)] {
            let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0));
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
    fn an_offset_decays_to_nothing() {
        let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0));
        let turned = POSE_FORMAT.moving(Position::new(0.3, 0.0, 0.2), [0.6, 0.0, 0.0, 0.8], None);
        visual.correct(&pose(0.0), &turned);
        let frames = (0..1_000).take_while(|_| visual.decay()).count();
        assert!(frames < 200, "{frames}");
        visual.show(1_000, &turned);
        assert_eq!(visual.last, SmoothedVisual::new(POSE_FORMAT, 0, &turned).last);
    }

    #[test]
    fn a_far_correction_is_not_smoothed() {
        let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0));
        visual.correct(&pose(0.0), &pose(4.5));
        visual.show(1, &pose(4.5));
        assert_eq!(x(&visual), 4.5);
    }

    #[test]
    fn a_gentle_correction_moves_by_at_most_15_cm_in_a_frame() {
        for metres in [0.1, 1.0, 3.9, 8.0, 19.0] {
            let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0)).gentle();
            visual.correct(&pose(0.0), &pose(metres));
            let mut before = 0.0;
            for frame in 1..400 {
                visual.show(frame, &pose(metres));
                let step_m = x(&visual) - before;
                assert!((-1e-4..=0.1501).contains(&step_m), "{step_m} of {metres}");
                before = x(&visual);
                visual.decay();
            }
            assert!((before - metres).abs() < 0.01, "{before} of {metres}");
        }
        let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0)).gentle();
        visual.jump(&pose(8.0));
        visual.show(1, &pose(8.0));
        assert_eq!(x(&visual), 8.0);
    }

    #[test]
    fn corrections_add_up_and_cancel_out() {
        let mut visual = SmoothedVisual::new(POSE_FORMAT, 0, &pose(0.0));
        visual.correct(&pose(0.0), &pose(0.5));
        visual.correct(&pose(0.5), &pose(0.0));
        visual.show(1, &pose(0.0));
        assert!(x(&visual).abs() < 1e-5);
    }

    fn pose(x: f32) -> Pose {
        POSE_FORMAT.moving(Position::new(x, 0.0, 0.2), rotation::IDENTITY, None)
    }

    fn x(visual: &SmoothedVisual) -> f32 {
        visual.last.position.x
    }
}
