//! The physics that host and client share, for kinds that clients simulate
//! ([`PosePresentation::Simulated`](crate::schema::PosePresentation)).
//!
//! A game's shared crate implements [`SharedPhysics`] and describes it in a [`GamePhysics`]. The
//! host runs its steps and sends the poses. A client that has the physics runs the same steps for
//! the objects that it follows, and corrects them by the poses that arrive. A client without it
//! draws the objects between these poses.
//!
//! Both ends step frames of 1/60 s, whatever the room's tick rate. Frames count from the beginning
//! of the room. The time alone gives the frame ([`frame_at`]), so no frame number is sent. An
//! implementation that needs shorter steps divides a frame into several.
//!
//! Invariants of an implementation:
//! 1. The same calls in the same order give the same bits on every machine: no clock, no random
//!    numbers, no order of a hash table.
//! 2. A pose fits the format of its kind, and after a step the simulation continues from it: the
//!    simulated state equals the sent state (G. Fiedler, "State Synchronization").
//! 3. A pose at rest ([`Pose::flag`]) keeps its bits until something moves the body.
//!
//! State of a step that is not part of the poses is not sent. Two simulations with the same poses
//! may therefore diverge; the client's is corrected. Units: metres, seconds, radians; z is up.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::fmt::Debug;

use crate::axes::Axes;
use crate::keymap::Keys;
use crate::map::StaticMap;
use crate::pose::{self, Extrapolation, Pose, PoseFormat};
use crate::time::GameTime;

/// Physics frames a second.
pub const FRAMES_PER_S: u64 = 60;
/// [`extrapolate`] continues a motion for at most a quarter of a second.
const MAX_EXTRAPOLATED_FRAMES: u64 = FRAMES_PER_S / 4;

/// The frame that the world is in at `horizon`: the nearest one, by its whole milliseconds.
pub const fn frame_at(horizon: GameTime) -> u64 {
    (horizon.millis() * FRAMES_PER_S + 500) / 1_000
}

/// The time of a frame; `frame_at` of it is that frame.
pub const fn frame_time(frame: u64) -> GameTime {
    GameTime::from_micros(frame.saturating_mul(1_000_000) / FRAMES_PER_S)
}

/// The size of the floor, which begins at (0, 0).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arena {
    /// Along x, in metres.
    pub width_m: f32,
    /// Along y, in metres.
    pub height_m: f32,
}

/// A handle of a body. Ordered by slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId {
    slot: u32,
    generation: u32,
}

impl BodyId {
    /// The body with this slot. The generation distinguishes it from earlier ones with that slot.
    pub const fn new(slot: u32, generation: u32) -> Self {
        Self { slot, generation }
    }

    /// The body's slot, as an index for arrays. It is less than the highest number of bodies that
    /// ever existed at once; it belongs to the body while the body exists and may be reused
    /// afterwards.
    pub const fn slot(self) -> usize {
        self.slot as usize
    }

    /// How often the slot was used before; the implementation defines the steps.
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

/// Bodies that move in steps of a frame; see the module for what always holds.
///
/// Functions that take a body may panic if there is no such body. A pose changes by `set_pose` and
/// `step` alone: until one of them changes it, `pose` returns what was given.
pub trait SharedPhysics: Debug + Send + Sync {
    /// Adds a body of a kind, asleep if the pose is at rest.
    fn add(&mut self, kind: u8, pose: &Pose) -> BodyId;

    /// Removes a body.
    fn remove(&mut self, body: BodyId);

    /// Position, orientation and velocities of a body, on the grid of its kind.
    fn pose(&self, body: BodyId) -> Pose;

    /// Moves a body at once: asleep if the pose is at rest, otherwise awake. It does not disturb
    /// the bodies that it touches, because an update of one body comes with those of the others.
    /// Setting the pose that the body has is no change.
    fn set_pose(&mut self, body: BodyId, pose: &Pose);

    /// Sets the keys that the player of a body holds in the following steps; new presses count in
    /// the next step.
    fn set_keys(&mut self, body: BodyId, keys: Keys);

    /// Sets the axes of a body's player in the following steps.
    fn set_axes(&mut self, _body: BodyId, _axes: Axes) {}

    /// Advances the simulation by a frame.
    fn step(&mut self);

    /// The bodies that are awake after the last step, and those that came to rest in it; no other
    /// pose has changed. In ascending order.
    fn changed_bodies(&self) -> &[BodyId];

    /// The obstacles are these from now on, instead of those of an earlier call. A client gets the
    /// map's some time after the first bodies, and those that objects have while it sees them.
    fn set_map(&mut self, _map: &StaticMap) {}

    /// The likely pose of a body some frames after `pose`, when there is no time to simulate them.
    /// Without a better guess, it moves on at its velocity.
    fn extrapolate(&self, kind: &SimulatedKind, pose: &Pose, frames: u64) -> Pose {
        extrapolate(&kind.format, pose, frames)
    }
}

/// Moves a pose on at its velocity, for at most a quarter of a second. It does not turn.
pub fn extrapolate(format: &PoseFormat, pose: &Pose, frames: u64) -> Pose {
    let frames = frames.min(MAX_EXTRAPOLATED_FRAMES);
    pose::extrapolate(format, Extrapolation::First, (GameTime::ZERO, pose), &[], frame_time(frames))
}

/// A kind of objects that a physics simulates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedKind {
    /// Its index in the game's schema.
    pub kind: u8,
    /// The grid of its poses. It has motion: a simulation continues from velocities.
    pub format: PoseFormat,
    /// The flags for the controls that a player holds: the index of each component, with the
    /// control. Other clients' physics needs them to predict the same motion. None if no player
    /// steers objects of this kind.
    pub held_controls: &'static [(u8, u8)],
}

/// The physics of one game: what a client needs to run it.
#[derive(Clone, Copy, Debug)]
pub struct GamePhysics {
    /// The game's name in its schema.
    pub game: &'static str,
    /// The kinds that it simulates, if the schema declares them as simulated.
    pub kinds: &'static [SimulatedKind],
    /// Bodies farther than this from a player's own do not matter to it within half a second, in
    /// metres. A client that predicts its own body copies those within.
    pub reach_m: f32,
    /// Makes a physics without bodies, of this game.
    pub create: fn(&GamePhysics, Arena) -> Box<dyn SharedPhysics>,
}

impl GamePhysics {
    /// The kind with this index in the schema, if it is simulated.
    pub fn kind(&self, kind: u8) -> Option<&'static SimulatedKind> {
        self.kinds.iter().find(|simulated| simulated.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pose::{MotionFormat, Turning};
    use crate::space::Position;

    #[test]
    fn frame_times_convert_back_to_frame_numbers_at_60_hz() {
        for frame in 0..10_000 {
            assert_eq!(frame_at(frame_time(frame)), frame);
        }
        assert_eq!(
            [0, 8, 9, 50, 1_000].map(|ms| frame_at(GameTime::from_millis(ms))),
            [0, 0, 1, 3, 60]
        );
    }

    #[test]
    fn twenty_and_sixty_ticks_a_second_reach_the_same_frames() {
        for tick in 0..10_000 {
            assert_eq!(frame_at(GameTime::from_millis(150 + 50 * tick)), 9 + 3 * tick);
        }
    }

    #[test]
    fn a_pose_moves_on_for_a_quarter_of_a_second_unless_it_is_at_rest() {
        let format = PoseFormat {
            per_metre: 1_000,
            turn: Turning::Fixed,
            motion: Some(MotionFormat { linear: 100, angular: 1 }),
        };
        let x = |velocities, frames| {
            let pose = format.moving(Position::default(), [0.0, 0.0, 0.0, 1.0], velocities);
            format.position(&extrapolate(&format, &pose, frames)).x
        };
        let moving = Some(([4.0, 0.0, 0.0], [0.0; 3]));
        assert_eq!(
            [x(moving, 0), x(moving, 3), x(moving, 15), x(moving, 999)],
            [0.0, 0.2, 1.0, 1.0]
        );
        assert_eq!(x(None, 9), 0.0);
    }
}
