//! The kinds of the game, and how poses and keys are expressed in their components.
//!
//! Kinds and components are those of `ambit_cubes_physics`; a test compares them.

use ambit::component::FlagMut;
use ambit::prelude::*;
use ambit::schema::{Codec, PosePresentation, Schema};
use ambit::{Keymap, Pose, PoseFormat};
use ambit_cubes_physics::{
    CUBE_EDGE_M, PLAYER, PLAYER_EDGE_M, POSE_FORMAT, SNAPSHOT_POSE_FORMAT, component, control,
};

use super::CubesWorld;

/// Bytes of a name: 24 characters of 4.
const NAME_BYTES: u32 = 96;
const RING_NAME_BYTES: u32 = NAME_BYTES + 8;
/// Target ages of poses. Cubes that a player's cube pushes are sent at each of 20 ticks. Errors of
/// cubes beyond the default floor's distance matter less for a while.
const ENGAGED_MS: u32 = 50;
const NEAR_M: f32 = 32.0;
const NEAR_MS: u32 = 100;
const FAR_MS: u32 = 300;

/// What a player does: the controls of the physics, in their order; a test compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Controls)]
pub enum CubesControl {
    /// Roll west.
    #[key("a", "arrowleft")]
    #[control(direction = west)]
    Left,
    /// Roll east.
    #[key("d", "arrowright")]
    #[control(direction = east)]
    Right,
    /// Roll north.
    #[key("w", "arrowup")]
    #[control(direction = north)]
    Up,
    /// Roll south.
    #[key("s", "arrowdown")]
    #[control(direction = south)]
    Down,
    /// Jump.
    #[key("space")]
    #[control(tapped)]
    Jump,
    /// Pull cubes near you.
    #[key("q")]
    #[control(label = "Pull cubes")]
    Attract,
    /// Push cubes near you away.
    #[key("e")]
    #[control(label = "Push cubes")]
    Repel,
}

/// A small cube.
#[derive(Debug, Kind)]
#[kind(simulated)]
#[look(glyph = '#', shape = box, colour = 0xd0_9040, size = CUBE_EDGE_M)]
#[freshness(engaged_ms = ENGAGED_MS, near_m = NEAR_M, near_ms = NEAR_MS, far_ms = FAR_MS)]
pub(super) struct Cube {
    #[pose(format = POSE_FORMAT)]
    pub(super) pose: FreePose,
}

/// The cube of a player, with the controls that the player holds.
#[derive(Debug, Default, Kind)]
#[kind(name = "player", simulated)]
#[look(glyph = '@', shape = box, colour = 0x30_80ff, size = PLAYER_EDGE_M, label = name)]
#[look(figure = toy)]
#[effect(arrival, colour = 0x80_c0ff, size = 2.0)]
#[freshness(engaged_ms = ENGAGED_MS, near_m = NEAR_M, near_ms = NEAR_MS, far_ms = FAR_MS)]
pub struct PlayerCube {
    #[pose(format = POSE_FORMAT)]
    pose: FreePose,
    left: Flag,
    right: Flag,
    up: Flag,
    down: Flag,
    #[effect(cast, colour = 0x60_b0ff, size = 3.0)]
    attract: Flag,
    #[effect(ring, colour = 0xff_a040, size = 3.0)]
    repel: Flag,
    #[component(role = player)]
    name: Text<NAME_BYTES>,
}

/// Where a player gathers cubes.
#[derive(Debug, Kind)]
#[kind(name = "ring")]
#[look(glyph = 'o', shape = disc, colour = 0xff_c94d, material = glow, size = 0.3, label = name)]
pub(super) struct CubeRing {
    pub(super) path: Path,
    /// `Ring of`, and the player's name.
    pub(super) name: Text<RING_NAME_BYTES>,
    /// Always: so it is seen.
    #[effect(ring, colour = 0xff_c94d, size = 2.2)]
    pub(super) open: Flag,
}

/// The round that is played.
#[derive(Debug, Default, Kind)]
#[kind(room_wide, name = "round")]
pub(super) struct CubesRound {
    /// Counted from 1.
    pub(super) round: Number<1, 9_999>,
    /// Seconds to its end or, after it, to the next one.
    #[component(unit = "s")]
    pub(super) time_left: Gauge<3_600>,
    /// Of the last round; empty while one is played.
    #[component(role = winner)]
    pub(super) winner: Text<NAME_BYTES>,
}

/// A row of the table.
#[derive(Debug, Default, Kind)]
#[kind(room_wide, name = "score", label = "Cubes in the rings")]
pub(super) struct CubeScore {
    /// Of the player.
    #[component(role = player)]
    pub(super) name: Text<NAME_BYTES>,
    /// How many lie in the player's ring.
    #[component(label = "Cubes")]
    pub(super) cubes: Number<0, 9_999>,
}

/// A round begins, for all.
#[derive(Event)]
#[event(name = "round_begins", text = "Round {round}: gather the most cubes into your ring")]
pub(super) struct CubesRoundBegins {
    pub(super) round: i64,
}

/// A round is over, for all.
#[derive(Event)]
#[event(name = "round_over", text = "Round {round} is over. {winner} has the most cubes.")]
pub(super) struct CubesRoundOver {
    pub(super) round: i64,
    /// Empty if no player has won.
    pub(super) winner: Text<NAME_BYTES>,
}

impl PlayerCube {
    /// A cube whose player holds no control yet.
    pub(super) fn new(pose: Pose, name: &str) -> Self {
        Self { pose: FreePose::exact(pose), name: name.into(), ..Self::default() }
    }
}

/// Adjusts the kinds of cubes, which come first, to what clients show.
pub(super) fn present(schema: &mut Schema, sync: PosePresentation) {
    for kind in schema.kinds.iter_mut().take(usize::from(PLAYER) + 1) {
        kind.presentation = sync;
        if let Some(pose) = kind.components.get_mut(usize::from(component::POSE)) {
            pose.codec = Codec::Pose(format(sync));
        }
    }
}

/// Sets the flags of the keys that a player holds, from a time on, where they change.
pub(super) fn set_key_flags(
    world: &mut CubesWorld,
    avatar: Id<PlayerCube>,
    from: GameTime,
    keys: Keymap,
) {
    let Some(mut cube) = world.edit(avatar) else {
        return;
    };
    let set = |flag: FlagMut<'_>, control: u8| {
        let mut flag = flag.effective(from);
        let is_down = keys.down(control);
        if flag.is_on() != is_down {
            flag.set(is_down);
        }
    };
    set(cube.left(), control::LEFT);
    set(cube.right(), control::RIGHT);
    set(cube.up(), control::UP);
    set(cube.down(), control::DOWN);
    set(cube.attract(), control::ATTRACT);
    set(cube.repel(), control::REPEL);
}

/// The pose that clients receive: on a coarser grid if clients interpolate between poses.
pub(super) fn pose_to_send(sync: PosePresentation, pose: Pose) -> Pose {
    match sync {
        PosePresentation::Simulated => pose,
        PosePresentation::Interpolated | PosePresentation::Steered => {
            let velocities = (!pose.flag).then(|| POSE_FORMAT.velocities(&pose));
            SNAPSHOT_POSE_FORMAT.moving(
                POSE_FORMAT.position(&pose),
                POSE_FORMAT.quaternion(&pose),
                velocities,
            )
        }
    }
}

fn format(sync: PosePresentation) -> PoseFormat {
    match sync {
        PosePresentation::Simulated => POSE_FORMAT,
        PosePresentation::Interpolated | PosePresentation::Steered => SNAPSHOT_POSE_FORMAT,
    }
}
