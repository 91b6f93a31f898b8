//! Error smoothing: the drawn pose is the known pose plus an offset that decays.
//!
//! The drawn pose and the correct pose go in; poses that move from the first to the second come
//! out. Large errors decay faster than small ones.
//!
//! Units: metres; per frame of 1/60 s. Source: G. Fiedler, "State Synchronization" (visual
//! smoothing: factors 0.95 and 0.85, blended between 25 cm and 1 m; for the orientation between 0.1
//! and 0.5 of the dot product).

use ambit_proto::pose::quaternion::{compose, inverse};
use ambit_proto::schema::Convergence;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::drawing::DrawnPose;
use crate::rotation;

/// Factor a frame for a small error.
const SLOW_DECAY: f32 = 0.95;
/// Factor a frame for a large error.
const FAST_DECAY: f32 = 0.85;
/// Errors up to the first length are small, from the second on large.
const SMALL_M: f32 = 0.25;
const LARGE_M: f32 = 1.0;
/// The same for orientations: one minus the dot product with the identity.
const SMALL_TURN: f32 = 0.1;
const LARGE_TURN: f32 = 0.5;
/// A larger error is not smoothed: the object is drawn at its new position at once.
pub const SNAP_M: f32 = 4.0;
/// A smaller correction, with less than a degree of rotation, is invisible and not smoothed. If
/// poses arrive for each frame, each corrects a little, and the object is drawn where they are.
const INVISIBLE_M: f32 = 0.002;
const INVISIBLE_TURN: f32 = 4e-5;
/// A smaller offset is invisible and becomes zero: half a millimetre, a tenth of a degree.
const NEGLIGIBLE_M: f32 = 0.0005;
const NEGLIGIBLE_TURN: f32 = 4e-7;
const FRAMES_PER_S: f32 = 60.0;

/// The difference between the drawn pose and the known one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VisualOffset {
    metres: [f32; 3],
    turn: [f32; 4],
}

/// An offset at a given time, which decays from then on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSmoother {
    since: GameTime,
    offset: VisualOffset,
    /// How fast the offset grows at that time, in metres a second.
    growth: [f32; 3],
    convergence: Convergence,
}

impl VisualOffset {
    /// No offset.
    pub const NONE: Self = Self { metres: [0.0; 3], turn: rotation::IDENTITY };

    /// The offset that makes an object at `known` appear at `drawn`; none beyond [`SNAP_M`].
    pub fn between(drawn: DrawnPose, known: DrawnPose) -> Self {
        Self::from_afar(drawn, known, SNAP_M)
    }

    /// As [`Self::between`], up to another distance.
    pub fn from_afar(drawn: DrawnPose, known: DrawnPose, far_m: f32) -> Self {
        if drawn.position.distance(known.position) > far_m {
            return Self::NONE;
        }
        Self::of_any_length(drawn, known)
    }

    /// The other offset, or the one on the way to it that is at most this far away.
    #[must_use]
    pub fn towards(&self, other: Self, most_m: f32) -> Self {
        let way: [f32; 3] = std::array::from_fn(|axis| other.metres[axis] - self.metres[axis]);
        let share = (most_m / length(way).max(most_m)).min(1.0);
        let metres = std::array::from_fn(|axis| self.metres[axis] + way[axis] * share);
        Self { metres, ..other }
    }

    fn of_any_length(drawn: DrawnPose, known: DrawnPose) -> Self {
        let there = drawn.position;
        let here = known.position;
        let metres = [there.x - here.x, there.y - here.y, there.z - here.z];
        let turn = compose(drawn.quaternion, inverse(known.quaternion));
        Self { metres, turn: rotation::interpolate(rotation::IDENTITY, turn, 1.0) }
    }

    /// The drawn pose of an object at `known`.
    pub fn apply_to(&self, known: DrawnPose) -> DrawnPose {
        let Position { x, y, z } = known.position;
        let [dx, dy, dz] = self.metres;
        let position = Position::new(x + dx, y + dy, z + dz);
        DrawnPose { position, quaternion: compose(self.turn, known.quaternion) }
    }

    /// A share of the offset, and what is added.
    fn scaled(&self, share: f32, more: [f32; 3]) -> Self {
        let metres = std::array::from_fn(|axis| self.metres[axis] * share + more[axis]);
        let turn = rotation::interpolate(rotation::IDENTITY, self.turn, share);
        Self { metres, turn }
    }

    /// The offset after this many frames; none when it is invisible.
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
    /// Starts to smooth from the pose drawn at `now`, with its velocity, to the known one; `None`
    /// if the difference is invisible or too large.
    pub fn start(
        now: GameTime,
        (drawn, shown_velocity): (DrawnPose, [f32; 3]),
        (known, velocity): (DrawnPose, [f32; 3]),
        convergence: Convergence,
    ) -> Option<Self> {
        if !is_visible_difference(drawn, known) {
            return None;
        }
        let offset = VisualOffset::between(drawn, known);
        let growth = std::array::from_fn(|axis| shown_velocity[axis] - velocity[axis]);
        (offset != VisualOffset::NONE).then_some(Self { since: now, offset, growth, convergence })
    }

    /// Starts to smooth at a constant rate over `ms`, from any distance; `None` if the difference
    /// is invisible.
    pub fn linear(now: GameTime, drawn: DrawnPose, known: DrawnPose, ms: u32) -> Option<Self> {
        let offset = VisualOffset::of_any_length(drawn, known);
        let convergence = Convergence::Linear(ms);
        is_visible_difference(drawn, known).then_some(Self {
            since: now,
            offset,
            growth: [0.0; 3],
            convergence,
        })
    }

    /// Since when it smooths.
    pub fn since(&self) -> GameTime {
        self.since
    }

    /// The drawn pose at `t` of an object whose known pose is `known`.
    pub fn apply_to(&self, t: GameTime, known: DrawnPose) -> DrawnPose {
        self.offset_at(t.since(self.since).as_secs_f32()).apply_to(known)
    }

    /// How fast the drawn pose moves away from the known one at `t`, in metres a second.
    pub fn drift(&self, t: GameTime) -> [f32; 3] {
        const STEP_S: f32 = 0.002;
        let seconds = t.since(self.since).as_secs_f32();
        let now = self.offset_at(seconds);
        let soon = self.offset_at(seconds + STEP_S);
        std::array::from_fn(|axis| (soon.metres[axis] - now.metres[axis]) / STEP_S)
    }

    fn offset_at(&self, seconds: f32) -> VisualOffset {
        let share_of = |ms: u32| (seconds * 1e3 / ms.max(1) as f32).min(1.0);
        match self.convergence {
            Convergence::Decaying => self.offset.decayed(seconds * FRAMES_PER_S),
            Convergence::Linear(ms) => self.offset.scaled(1.0 - share_of(ms), [0.0; 3]),
            Convergence::Cubic(ms) => {
                let f = share_of(ms);
                let whole_s = ms as f32 / 1e3;
                let left = 1.0 - f * f * (3.0 - 2.0 * f);
                let grown = self.growth.map(|part| part * whole_s * f * (1.0 - f) * (1.0 - f));
                self.offset.scaled(left, grown)
            }
        }
    }
}

/// Whether the difference between two poses is visible.
pub fn is_visible_difference(one: DrawnPose, other: DrawnPose) -> bool {
    let turned = 1.0 - rotation::dot(one.quaternion, other.quaternion).abs();
    one.position.distance(other.position) > INVISIBLE_M || turned > INVISIBLE_TURN
}

/// The decay factor a frame for an error of this size.
fn decay_factor(size: f32, small: f32, large: f32) -> f32 {
    let share = ((size - small) / (large - small)).clamp(0.0, 1.0);
    SLOW_DECAY + (FAST_DECAY - SLOW_DECAY) * share
}

/// The length of a vector.
pub fn length([x, y, z]: [f32; 3]) -> f32 {
    (x * x + y * y + z * z).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_starts_at_the_drawn_pose_and_ends_at_the_known_one() {
        for metres in [0.05, 0.5, 3.0] {
            let smoother =
                start(ms(1_000), metres, Convergence::Decaying).expect("the difference is visible");
            let x = |t| smoother.apply_to(ms(t), picture(0.0)).position.x;
            assert!((x(1_000) - metres).abs() < 1e-5);
            assert!(x(1_100) < x(1_050) && x(1_050) < metres, "{metres}");
            assert_eq!(x(4_000), 0.0);
        }
    }

    #[test]
    fn convergence_ends_in_time_and_a_cubic_one_has_no_kink() {
        let linear = start(ms(0), 1.0, Convergence::Linear(200)).expect("visible");
        let cubic = start(ms(0), 1.0, Convergence::Cubic(200)).expect("visible");
        let x = |smoother: &ErrorSmoother, t| smoother.apply_to(ms(t), picture(0.0)).position.x;
        assert!((x(&linear, 50) - 0.75).abs() < 1e-5 && x(&linear, 200) == 0.0);
        assert!((x(&cubic, 0) - 1.0).abs() < 1e-5 && x(&cubic, 200).abs() < 1e-6);
        // It goes on at 3 m/s for a moment, and ends without a jump of the velocity.
        assert!((cubic.drift(ms(0))[0] - 3.0).abs() < 0.4, "{:?}", cubic.drift(ms(0)));
        assert!(cubic.drift(ms(199))[0].abs() < 0.3, "{:?}", cubic.drift(ms(199)));
        let at_once = start(ms(0), 1.0, Convergence::Linear(0)).expect("visible");
        assert_eq!(x(&at_once, 1), 0.0);
    }

    #[test]
    fn invisible_and_far_corrections_are_not_smoothed() {
        assert_eq!(start(ms(0), 0.001, Convergence::Decaying), None);
        assert_eq!(start(ms(0), 4.5, Convergence::Decaying), None);
    }

    #[test]
    fn decay_does_not_depend_on_the_frame_rate() {
        let offset = VisualOffset::between(picture(0.2), picture(0.0));
        let half = offset.decayed(1.5).decayed(1.5).metres[0];
        assert!((half - offset.decayed(3.0).metres[0]).abs() < 1e-6);
    }

    fn picture(x: f32) -> DrawnPose {
        DrawnPose { position: Position::new(x, 0.0, 0.2), quaternion: rotation::IDENTITY }
    }

    /// Drawn `metres` ahead, and 3 m/s faster.
    fn start(now: GameTime, metres: f32, convergence: Convergence) -> Option<ErrorSmoother> {
        let drawn = (picture(metres), [3.0, 0.0, 0.0]);
        ErrorSmoother::start(now, drawn, (picture(0.0), [0.0; 3]), convergence)
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }
}
