//! Late paths: what is drawn goes over to the new path and does not jump there.
//!
//! The known path of an object changes at once: that is its state. Views show it with an offset
//! from where it was drawn before, which shrinks at a constant rate to nothing. Positions and paths
//! go in; an [`ErrorSmoother`] comes out. A path that jumps, as it says itself, is drawn as it is,
//! with no place between.
//!
//! Bounds: an offset lasts [`BLEND_MS`], or longer if a frame of 60 Hz would otherwise show a step
//! of more than 9 cm beyond the object's own: 1.5 s for [`FAR_M`], beyond which there is none.
//! Units: metres.

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::component_history::TOLERANCE_M;
use super::drawing::DrawnPose;
use super::error_smoothing::ErrorSmoother;
use crate::rotation;

/// Long enough for the eye to take it for a movement, and short enough to be where the object is
/// when it matters.
const BLEND_MS: f32 = 150.0;
/// A longer way takes longer: 9 cm in a frame of 60 Hz.
const BLEND_MS_PER_M: f32 = 185.0;
/// From farther away, a way in the picture would last too long.
const FAR_M: f32 = 8.0;
/// What the wire's grid can do to the same path that is cut at another time.
const GRID_M: f32 = 0.01;

/// Whether a path has changed visibly at a time: not only by the wire's grid.
pub(super) fn is_visible(before: Position, after: Position) -> bool {
    before.distance(after) > GRID_M
}

/// The offset from `drawn` to where the object is by its path at `t`; `None` if it is invisible, or
/// too large.
pub(crate) fn start(t: GameTime, drawn: Position, on_path: Position) -> Option<ErrorSmoother> {
    let apart_m = drawn.distance(on_path);
    if apart_m > FAR_M {
        return None;
    }
    let blend_ms = BLEND_MS.max(apart_m * BLEND_MS_PER_M);
    ErrorSmoother::linear(t, pose_at(drawn), pose_at(on_path), blend_ms as u32)
}

/// Where an object is drawn whose path has it at `on_path`.
pub(crate) fn apply(smoother: &ErrorSmoother, t: GameTime, on_path: Position) -> Position {
    smoother.apply_to(t, pose_at(on_path)).position
}

/// Whether an update tells of a jump up to `t` to where the known path does not lead.
pub(super) fn jumps_elsewhere(
    known: &Timeline<Waypoint>,
    update: &Timeline<Waypoint>,
    t: GameTime,
) -> bool {
    let mut jumps = update.points().filter(|(time, point)| point.jump && *time <= t);
    jumps.any(|(time, point)| {
        let is_there = |known: Waypoint| known.position.distance(point.position) <= TOLERANCE_M;
        !known.value_at(time).is_some_and(is_there)
    })
}

/// Whether a path jumps after `since`, up to `t`.
pub(super) fn jumps_within(path: &Timeline<Waypoint>, since: GameTime, t: GameTime) -> bool {
    path.points().any(|(time, point)| point.jump && since < time && time <= t)
}

fn pose_at(position: Position) -> DrawnPose {
    DrawnPose { position, quaternion: rotation::IDENTITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME_MS: f32 = 1_000.0 / 60.0;

    #[test]
    fn a_blend_ends_in_150_ms_and_steps_at_most_10_cm_a_frame() {
        for metres in [0.05, 0.3, 0.8, 1.9, 7.9] {
            let smoother = start(ms(1_000.0), at(metres), at(0.0)).expect("it is visible");
            let x = |elapsed: f32| apply(&smoother, ms(1_000.0 + elapsed), at(0.0)).x;
            let steps: Vec<f32> = (0..120)
                .map(|frame| x(frame as f32 * FRAME_MS) - x((frame + 1) as f32 * FRAME_MS))
                .collect();
            assert_eq!(x(0.0), metres);
            assert!(steps.iter().all(|step| (0.0..0.1).contains(step)), "{metres}: {steps:?}");
            let lasts = if metres < 0.81 { 150.0 } else { metres * BLEND_MS_PER_M };
            assert!(x(lasts - 3.0) > 0.0 && x(lasts) == 0.0, "{metres}");
        }
    }

    #[test]
    fn what_is_invisible_or_far_off_is_drawn_at_once() {
        assert_eq!(start(ms(0.0), at(0.001), at(0.0)), None);
        assert_eq!(start(ms(0.0), at(8.5), at(0.0)), None);
    }

    #[test]
    fn only_a_jump_to_a_place_that_is_not_known_is_news() {
        let walk = path(&[(0.0, 0.0, false), (1_000.0, 10.0, false)]);
        let jump = path(&[(500.0, 40.0, true), (900.0, 41.0, false)]);
        assert!(jumps_elsewhere(&walk, &jump, ms(600.0)));
        assert!(!jumps_elsewhere(&walk, &jump, ms(400.0)), "it is yet to come");
        assert!(!jumps_elsewhere(&jump, &jump, ms(600.0)));
        assert!(!jumps_elsewhere(&walk, &path(&[(500.0, 40.0, false)]), ms(600.0)));
        assert!(jumps_within(&jump, ms(400.0), ms(500.0)));
        assert!(!jumps_within(&jump, ms(500.0), ms(600.0)));
    }

    fn path(points: &[(f32, f32, bool)]) -> Timeline<Waypoint> {
        let mut path = Timeline::new(8);
        for &(time, x, jump) in points {
            path.insert(ms(time), Waypoint { position: at(x), jump });
        }
        path
    }

    fn at(x: f32) -> Position {
        Position::on_ground(x, 0.0)
    }

    fn ms(ms: f32) -> GameTime {
        GameTime::from_micros((ms * 1_000.0) as u64)
    }
}
