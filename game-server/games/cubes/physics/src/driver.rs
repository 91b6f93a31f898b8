//! A pseudo-random driver of a player's cube: for demonstrations and measurements.
//!
//! Input: a seed, a player's number, the frame and the cube's position. Output: the keys that the
//! player holds. The driver acts in phases of half a second to three seconds, in which the cube
//! rolls, gathers other cubes on its path (katamari), repels them, jumps or rests. The position
//! makes it turn back before it reaches a wall. In every other phase it heads for the middle, where
//! the other cubes lie.
//!
//! Invariant: the same seed, number, frames and positions give the same keys. Units: frames,
//! metres.

use fastrand::Rng;

use super::{Arena, FRAMES_PER_S, control};
use ambit_proto::keymap::Keymap;

/// At this distance from a wall it turns back, in metres.
const WALL_DISTANCE_M: f32 = 3.0;

/// Chooses the keys of one player; see the module.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RandomDriver {
    #[cfg_attr(feature = "serde", serde(with = "ambit_proto::dice"))]
    rng: Rng,
    /// The keys held in this phase, without the directions.
    held: Keymap,
    /// Along x and y: -1, 0 or 1.
    heading: [i8; 2],
    /// The frame with which the next phase begins.
    until: u64,
}

impl RandomDriver {
    /// A driver for one player.
    pub fn new(seed: u64, player: u64) -> Self {
        let mixed = seed ^ player.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Self { rng: Rng::with_seed(mixed), held: Keymap(0), heading: [0, 0], until: 0 }
    }

    /// The keys held in a frame by a cube at (x, y). Frames must ascend.
    pub fn keys(&mut self, frame: u64, at: [f32; 2], arena: Arena) -> Keymap {
        if frame >= self.until {
            self.choose_keys(frame, at, arena);
        }
        let [x, y] = std::array::from_fn(|axis| {
            let extent = [arena.width_m, arena.height_m][axis];
            away_from_walls(self.heading[axis], at[axis], extent)
        });
        self.held
            .with(control::LEFT, x < 0)
            .with(control::RIGHT, x > 0)
            .with(control::DOWN, y < 0)
            .with(control::UP, y > 0)
    }

    fn choose_keys(&mut self, frame: u64, at: [f32; 2], arena: Arena) {
        self.heading =
            if self.rng.bool() { self.random_heading() } else { heading_to_middle(at, arena) };
        self.held = Keymap(0);
        let longest = match self.rng.u8(..10) {
            0..=2 => 3 * FRAMES_PER_S,
            3..=6 => {
                self.held = Keymap(0).with(control::ATTRACT, true);
                3 * FRAMES_PER_S
            }
            7 => {
                self.held = Keymap(0).with(control::REPEL, true);
                FRAMES_PER_S
            }
            8 => {
                self.held = Keymap(0).with(control::JUMP, true);
                FRAMES_PER_S
            }
            _ => {
                self.heading = [0, 0];
                3 * FRAMES_PER_S
            }
        };
        self.until = frame + self.rng.u64(FRAMES_PER_S / 2..=longest);
    }

    /// One of eight directions.
    fn random_heading(&mut self) -> [i8; 2] {
        loop {
            let heading = [self.rng.i8(-1..=1), self.rng.i8(-1..=1)];
            if heading != [0, 0] {
                return heading;
            }
        }
    }
}

/// The direction to the middle along each axis; 0 if the cube is within an eighth of the floor of
/// it.
fn heading_to_middle(at: [f32; 2], arena: Arena) -> [i8; 2] {
    std::array::from_fn(|axis| {
        let extent = [arena.width_m, arena.height_m][axis];
        let offset = extent / 2.0 - at[axis];
        if offset.abs() < extent / 8.0 { 0 } else { offset.signum() as i8 }
    })
}

fn away_from_walls(heading: i8, at: f32, extent: f32) -> i8 {
    let too_low = heading < 0 && at < WALL_DISTANCE_M;
    let too_high = heading > 0 && at > extent - WALL_DISTANCE_M;
    if too_low || too_high { -heading } else { heading }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };

    #[test]
    fn equal_seeds_give_equal_keys_and_other_seeds_do_not() {
        let keys = |seed, player| {
            let mut driver = RandomDriver::new(seed, player);
            (0..3_000).map(|frame| driver.keys(frame, [16.0, 16.0], ARENA)).collect::<Vec<_>>()
        };
        assert_eq!(keys(7, 0), keys(7, 0));
        assert_ne!(keys(7, 0), keys(7, 1));
        assert_ne!(keys(7, 0), keys(8, 0));
    }

    #[test]
    fn each_control_is_held_some_of_the_time() {
        let mut driver = RandomDriver::new(3, 0);
        let keys: Vec<Keymap> =
            (0..60 * 120).map(|frame| driver.keys(frame, [16.0, 16.0], ARENA)).collect();
        let share = |control| {
            keys.iter().filter(|keys| keys.down(control)).count() as f32 / keys.len() as f32
        };
        for held in [control::LEFT, control::RIGHT, control::UP, control::DOWN] {
            assert!((0.05..0.5).contains(&share(held)), "{held}: {}", share(held));
        }
        assert!((0.2..0.7).contains(&share(control::ATTRACT)));
        assert!(
            (0.01..0.3).contains(&share(control::REPEL))
                && (0.01..0.3).contains(&share(control::JUMP))
        );
        assert!(keys.contains(&Keymap(0)));
    }

    #[test]
    fn a_player_far_from_the_middle_is_driven_back() {
        let mut driver = RandomDriver::new(3, 0);
        let keys: Vec<Keymap> =
            (0..60 * 120).map(|frame| driver.keys(frame, [6.0, 26.0], ARENA)).collect();
        let count = |control| keys.iter().filter(|keys| keys.down(control)).count();
        assert!(
            count(control::RIGHT) > count(control::LEFT)
                && count(control::DOWN) > count(control::UP)
        );
    }

    #[test]
    fn no_player_is_driven_into_a_wall() {
        let mut driver = RandomDriver::new(3, 0);
        for frame in 0..6_000 {
            let keys = driver.keys(frame, [1.0, 31.0], ARENA);
            assert!(!keys.down(control::LEFT) && !keys.down(control::UP));
        }
    }
}
