//! `cubes`: a floor with walls, small cubes that lie on it, and a larger cube for each player,
//! which rolls among them.
//!
//! Both ends run the same physics ([`Physics`], feature `physics`) in frames of 1/60 s, whatever
//! the room's tick rate. The host's simulation is authoritative; a client's continues from the
//! poses it received. Frames count from the beginning of the room. The time alone gives the frame
//! ([`frame_at`]), so no frame number is sent.
//!
//! Units: metres, seconds, radians; z is up, the floor lies at z = 0 and begins at (0, 0). Sources:
//! "Synchronisation par le reseau d'un monde virtuel sur Unity" for the world and the controls; G.
//! Fiedler, "State Synchronization", for the grid (4,096 positions a metre, 15 bits a component of
//! the orientation).

mod driver;
mod physics;

pub use self::driver::RandomDriver;
pub use self::physics::{BodyId, Physics};

use ambit_proto::pose::{MotionFormat, PoseFormat, Turning};
use ambit_proto::time::GameTime;

pub const GAME: &str = "cubes";

/// The kind of the small cubes: a pose only.
pub const CUBE: u8 = 0;
/// The kind of the players' cubes.
pub const PLAYER: u8 = 1;

/// Edge of a small cube, in metres.
pub const CUBE_EDGE_M: f32 = 0.4;
/// Edge of a player's cube, in metres.
pub const PLAYER_EDGE_M: f32 = 1.0;

/// Physics frames a second.
pub const FRAMES_PER_S: u64 = 60;

/// The grid of all poses. Both ends quantise their simulation to it after each frame.
pub const POSE_FORMAT: PoseFormat = PoseFormat {
    per_metre: 4_096,
    turn: Turning::Free { bits: 15 },
    motion: Some(MotionFormat {
        linear: 128,
        angular: 64,
    }),
};

/// The grid of poses that clients interpolate. It can be coarser, since no simulation continues
/// from them (see the sources above). Velocities are included, so that a client knows the curve
/// between two poses and not only the straight line.
pub const SNAPSHOT_POSE_FORMAT: PoseFormat = PoseFormat {
    per_metre: 512,
    turn: Turning::Free { bits: 9 },
    motion: Some(MotionFormat {
        linear: 64,
        angular: 16,
    }),
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
    pub const JUMP: u8 = 5;
    /// Pulls near cubes towards the player's.
    pub const ATTRACT: u8 = 6;
    /// Pushes near cubes away.
    pub const REPEL: u8 = 7;
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

/// The size of the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arena {
    /// Along x, in metres.
    pub width_m: f32,
    /// Along y, in metres.
    pub height_m: f32,
}

/// Edge of a cube of this kind, in metres.
pub const fn edge_m(kind: u8) -> f32 {
    if kind == PLAYER {
        PLAYER_EDGE_M
    } else {
        CUBE_EDGE_M
    }
}

/// The frame that the world is in at `horizon`: the nearest one, by its whole milliseconds.
pub const fn frame_at(horizon: GameTime) -> u64 {
    (horizon.millis() * FRAMES_PER_S + 500) / 1_000
}

/// The time of a frame; `frame_at` of it is that frame.
pub const fn frame_time(frame: u64) -> GameTime {
    GameTime::from_micros(frame.saturating_mul(1_000_000) / FRAMES_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(
                frame_at(GameTime::from_millis(150 + 50 * tick)),
                9 + 3 * tick
            );
        }
    }

    #[test]
    fn both_pose_formats_are_valid() {
        assert_eq!(
            (POSE_FORMAT.check(), SNAPSHOT_POSE_FORMAT.check()),
            (Ok(()), Ok(()))
        );
    }
}
