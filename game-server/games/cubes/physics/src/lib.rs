//! `cubes`: a floor with walls, small cubes that lie on it, and a larger cube for each player,
//! which rolls among them.
//!
//! Both ends run the same physics ([`Physics`], an [`ambit_proto::physics::SharedPhysics`]) in
//! frames of 1/60 s. The host's simulation is authoritative; a client that registers [`PHYSICS`]
//! continues from the poses it received.
//!
//! Units: metres, seconds, radians; z is up, the floor lies at z = 0 and begins at (0, 0). Sources:
//! "Synchronisation par le reseau d'un monde virtuel sur Unity" for the world and the controls; G.
//! Fiedler, "State Synchronization", for the grid (4,096 positions a metre, 15 bits a component of
//! the orientation).

mod driver;
mod extrapolation;
mod physics;

pub use self::driver::RandomDriver;
pub use self::physics::Physics;
#[doc(no_inline)]
pub use ambit_proto::physics::{Arena, BodyId, FRAMES_PER_S, frame_at, frame_time};

use ambit_proto::physics::{GamePhysics, SimulatedKind};
use ambit_proto::pose::{MotionFormat, PoseFormat, Turning};

pub const GAME: &str = "cubes";

/// The kind of the small cubes: a pose only.
pub const CUBE: u8 = 0;
/// The kind of the players' cubes.
pub const PLAYER: u8 = 1;

/// Edge of a small cube, in metres.
pub const CUBE_EDGE_M: f32 = 0.4;
/// Edge of a player's cube, in metres.
pub const PLAYER_EDGE_M: f32 = 1.0;

/// The grid of all poses. Both ends quantise their simulation to it after each frame.
pub const POSE_FORMAT: PoseFormat = PoseFormat {
    per_metre: 4_096,
    turn: Turning::Free { bits: 15 },
    motion: Some(MotionFormat { linear: 128, angular: 64 }),
};

/// The grid of poses that clients interpolate. It can be coarser, since no simulation continues
/// from them (see the sources above). Velocities are included, so that a client knows the curve
/// between two poses and not only the straight line.
pub const SNAPSHOT_POSE_FORMAT: PoseFormat = PoseFormat {
    per_metre: 512,
    turn: Turning::Free { bits: 9 },
    motion: Some(MotionFormat { linear: 64, angular: 16 }),
};

/// The controls, as indices of a keymap. Left and right are along x, up and down along y.
pub mod control {
    /// Towards smaller x.
    pub const LEFT: u8 = 0;
    /// Towards larger x.
    pub const RIGHT: u8 = 1;
    /// Towards larger y.
    pub const UP: u8 = 2;
    /// Towards smaller y.
    pub const DOWN: u8 = 3;
    /// Jumps, once for each press.
    pub const JUMP: u8 = 4;
    /// Pulls near cubes towards the player's.
    pub const ATTRACT: u8 = 5;
    /// Pushes near cubes away.
    pub const REPEL: u8 = 6;
}

/// The components of [`PLAYER`], as indices of its schema; [`CUBE`] has only the first.
pub mod component {
    /// Position, orientation and velocities.
    pub const POSE: u8 = 0;
    /// The flags for the controls that the player holds, with the control of each. Other clients'
    /// physics needs them to predict the same motion.
    pub const HELD_CONTROLS: [(u8, u8); 6] = [
        (1, super::control::LEFT),
        (2, super::control::RIGHT),
        (3, super::control::UP),
        (4, super::control::DOWN),
        (5, super::control::ATTRACT),
        (6, super::control::REPEL),
    ];
    /// The player's name.
    pub const NAME: u8 = 7;
}

/// What clients register to simulate the game.
pub const PHYSICS: GamePhysics = GamePhysics {
    game: GAME,
    kinds: &[
        SimulatedKind { kind: CUBE, format: POSE_FORMAT, held_controls: &[] },
        SimulatedKind {
            kind: PLAYER,
            format: POSE_FORMAT,
            held_controls: &component::HELD_CONTROLS,
        },
    ],
    // More than a player's cube can reach or roll in half a second.
    reach_m: 4.0,
    create: |_, arena| Box::new(Physics::new(arena)),
};

/// Edge of a cube of this kind, in metres.
pub const fn edge_m(kind: u8) -> f32 {
    if kind == PLAYER { PLAYER_EDGE_M } else { CUBE_EDGE_M }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_pose_formats_are_valid() {
        assert_eq!((POSE_FORMAT.check(), SNAPSHOT_POSE_FORMAT.check()), (Ok(()), Ok(())));
    }
}
