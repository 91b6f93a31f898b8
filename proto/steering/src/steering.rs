//! The function that steers an avatar, and what goes in and out.

use std::marker::PhantomData;

use ambit_proto::axes::Axes;
use ambit_proto::keymap::Keymap;
use ambit_proto::physics::{FRAMES_PER_S, frame_at};
use ambit_proto::pose::{Pose, PoseFormat, PosePredictor, StampedPose};
use ambit_proto::schema::Controls;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use crate::movement::Movement;
use crate::shots::{ShotRule, Shots};
use crate::terrain::Terrain;

/// A frame, in seconds.
const FRAME_S: f32 = 1.0 / FRAMES_PER_S as f32;
/// More frames at a time are skipped: a quarter of a second.
const MAX_FRAMES: u64 = FRAMES_PER_S / 4;

/// What a player, or a pilot of the server, holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ControlState {
    /// Which keys.
    pub keys: Keymap,
    /// The values of the axes.
    pub axes: Axes,
}

/// What is held, by the game's controls.
#[derive(Debug)]
#[derive_where::derive_where(Clone, Copy)]
pub struct Held<C> {
    controls: ControlState,
    of: PhantomData<fn() -> C>,
}

/// A kind that clients steer: the derive of a kind with `#[kind(steered)]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not declared as steered, so clients would not steer it",
    label = "not `#[kind(steered)]`",
    note = "add `#[kind(steered)]` below the derives of `{Self}`"
)]
pub trait SteeredKind {}

/// An avatar that its player steers, by a function that clients run as well.
///
/// The function is pure: the same movement, controls and terrain give the same result. It knows no
/// other objects, no time and no chance. What stops an avatar and is not in the terrain is decided
/// by the game, after the function; clients see it as a correction.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not steered",
    label = "not steered",
    note = "write `impl Steer for {Self}`, with the function that moves it, for a kind with \
            `#[kind(steered)]`"
)]
pub trait Steer: SteeredKind {
    /// The controls of the game.
    type SteeredBy: Controls;

    /// Moves an avatar on by a sixtieth of a second, `dt` in seconds.
    fn steer(movement: &mut Movement, held: Held<Self::SteeredBy>, terrain: Terrain<'_>, dt: f32);

    /// What an avatar fires, if its player's client is to draw it before the host has answered. The
    /// game fires at the ticks at which the control is held, as often as the reload allows, from
    /// where [`Shots::way`] begins; what else decides (ammunition, a break), the client does not
    /// know: it takes a shot back that does not come.
    fn shots() -> Option<Shots<Self::SteeredBy>> {
        None
    }

    /// Where the avatar of another player is `ahead` seconds after the newest pose that is known of
    /// it, for a kind with `#[reckoning(order = own)]`; `before` is an earlier one, and how many
    /// seconds earlier. Clients show that until the next pose comes, and the host sends none as
    /// long as it is near enough. By default on at its velocity.
    fn reckon(newest: Movement, before: Option<(Movement, f32)>, ahead: f32) -> Movement {
        let _ = before;
        let [x, y, z] = newest.velocity.map(|part| part * ahead);
        let at = newest.at;
        Movement { at: Position::new(at.x + x, at.y + y, at.z + z), ..newest }
    }
}

/// [`Steer::steer`] of any kind.
pub type SteerFunction = fn(&mut Movement, ControlState, Terrain<'_>, f32);

/// How clients steer the avatars of a game.
#[derive(Clone, Copy, Debug)]
pub struct Steering {
    /// The game's name in its schema.
    pub game: &'static str,
    /// The name of the kind.
    pub kind: &'static str,
    /// What it does.
    pub functions: SteerFunctions,
}

/// The functions of a kind of avatars, for a caller that does not know the game.
#[derive(Clone, Copy, Debug)]
pub struct SteerFunctions {
    /// [`Steer::steer`].
    pub steer: SteerFunction,
    /// [`Steer::shots`].
    pub shots: fn() -> Option<ShotRule>,
    /// [`Steer::reckon`].
    pub reckon: PosePredictor,
}

impl From<Keymap> for ControlState {
    fn from(keys: Keymap) -> Self {
        Self { keys, axes: Axes::default() }
    }
}

impl<C: Controls> Held<C> {
    /// Of a player, by the order in which the game declares its controls.
    pub const fn new(controls: ControlState) -> Self {
        Self { controls, of: PhantomData }
    }

    /// Of a pilot, who holds these keys.
    pub fn keys(keys: impl IntoIterator<Item = C>) -> Self {
        let held = keys.into_iter().fold(Keymap(0), |held, key| held.with(key.index(), true));
        Self::new(held.into())
    }

    /// Whether a key is held, or was pressed since the last tick.
    pub fn is_down(self, key: C) -> bool {
        self.controls.keys.down(key.index())
    }

    /// 1, -1 or 0: which of two opposite keys is held.
    pub fn between(self, positive: C, negative: C) -> f32 {
        f32::from(i8::from(self.is_down(positive)) - i8::from(self.is_down(negative)))
    }

    /// The value of an axis: -1 to 1, or an angle in radians.
    ///
    /// # Panics
    /// If the control is declared neither as `axis` nor as `angle`.
    #[track_caller]
    pub fn axis(self, axis: C) -> f32 {
        let index = usize::from(axis.index());
        let (before, rest) = C::AXES.split_at(index);
        let kind = rest.first().copied().flatten();
        // No closure: the panic names the place of the caller.
        let Some(kind) = kind else {
            panic!("the control {:?} is not declared as an axis or an angle", C::NAMES[index]);
        };
        let place = before.iter().flatten().count();
        kind.value_of(self.controls.axes.0.get(place).copied().unwrap_or_default())
    }

    /// Without the names of the game.
    pub const fn controls(self) -> ControlState {
        self.controls
    }
}

impl Steering {
    /// Of a kind, in the game with this name.
    pub const fn of<S: Steer>(game: &'static str, kind: &'static str) -> Self {
        Self { game, kind, functions: functions_of::<S>() }
    }
}

/// The functions of a kind, for a caller that does not know the game.
pub const fn functions_of<S: Steer>() -> SteerFunctions {
    SteerFunctions {
        steer: steer_by_controls::<S>,
        shots: shot_rule::<S>,
        reckon: reckon_pose::<S>,
    }
}

fn shot_rule<S: Steer>() -> Option<ShotRule> {
    S::shots().map(Shots::rule)
}

fn reckon_pose<S: Steer>(
    format: &PoseFormat,
    (time, newest): StampedPose<'_>,
    earlier: &[StampedPose<'_>],
    t: GameTime,
) -> Pose {
    let movement = |pose| Movement::of_pose(format, pose);
    let before =
        earlier.first().map(|(then, pose)| (movement(pose), time.since(*then).as_secs_f32()));
    let reckoned = S::reckon(movement(newest), before, t.since(time).as_secs_f32());
    let pose = reckoned.to_pose(format).unwrap_or(*newest);
    if format.motion.is_some() { pose } else { Pose { flag: newest.flag, ..pose } }
}

fn steer_by_controls<S: Steer>(
    movement: &mut Movement,
    held: ControlState,
    terrain: Terrain<'_>,
    dt: f32,
) {
    S::steer(movement, Held::new(held), terrain, dt);
}

/// Moves an avatar on by the frames after `since` up to `until`, as clients do: by frames of 1/60 s
/// at any tick rate, at most a quarter of a second.
pub fn run_frames<S: Steer>(
    movement: &mut Movement,
    held: Held<S::SteeredBy>,
    terrain: Terrain<'_>,
    (since, until): (GameTime, GameTime),
) {
    let frames = frame_at(until).saturating_sub(frame_at(since));
    for _ in 0..frames.min(MAX_FRAMES) {
        S::steer(movement, held, terrain, FRAME_S);
    }
}

/// One frame, for clients.
pub(crate) fn run_frame(
    steer: SteerFunction,
    movement: &mut Movement,
    held: ControlState,
    terrain: Terrain<'_>,
) {
    steer(movement, held, terrain, FRAME_S);
}
