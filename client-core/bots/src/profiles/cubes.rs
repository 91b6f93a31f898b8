//! A bot with the profile `cubes`: it pushes its cube around, gathers other cubes, throws them off,
//! jumps and rests.
//!
//! The time goes in, the held and tapped controls come out. No clock and no I/O; random decisions
//! follow from the seed.

use std::ops::RangeInclusive;
use std::time::Duration;

use ambit_cubes_physics::control;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::LocalTime;

/// Duration of one activity, in milliseconds.
const ACTIVITY_MS: RangeInclusive<u64> = 500..=3_000;
/// In a burst, repelling is on and off in turns of this many milliseconds.
const BURST_MS: u64 = 200;
/// Time between two jumps, in milliseconds.
const JUMP_MS: RangeInclusive<u64> = 300..=1_200;

/// The decisions of one bot.
#[derive(Debug)]
pub(crate) struct CubesBot {
    rng: fastrand::Rng,
    activity: CubeActivity,
    began: LocalTime,
    until: LocalTime,
    jump_at: LocalTime,
}

/// What the bot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CubeActivity {
    Rest,
    /// Push in this direction.
    Push(Keymap),
    /// Push in this direction, and attract nearby cubes.
    Gather(Keymap),
    /// Stand still, and repel nearby cubes again and again.
    Burst,
    /// Push in this direction, and jump.
    Hop(Keymap),
}

/// The controls to press at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyPresses {
    pub(crate) held: Keymap,
    /// Pressed and released at once.
    pub(crate) tapped: Keymap,
}

impl CubesBot {
    /// A bot that begins at `now` with a rest, so that not all start at once.
    pub(crate) fn new(now: LocalTime, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let until = now + Duration::from_millis(rng.u64(0..*ACTIVITY_MS.start()));
        CubesBot { rng, activity: CubeActivity::Rest, began: now, until, jump_at: now }
    }

    /// The controls to hold and tap now.
    pub(crate) fn decide(&mut self, now: LocalTime) -> KeyPresses {
        if now >= self.until {
            self.began = now;
            self.until = now + self.random_duration(ACTIVITY_MS);
            self.activity = self.random_activity();
            self.jump_at = now + self.random_duration(JUMP_MS);
        }
        let none = Keymap::default();
        let held = match self.activity {
            CubeActivity::Push(direction) | CubeActivity::Hop(direction) => direction,
            CubeActivity::Gather(direction) => direction.with(control::ATTRACT, true),
            CubeActivity::Burst if self.repels_now(now) => none.with(control::REPEL, true),
            CubeActivity::Rest | CubeActivity::Burst => none,
        };
        let jumps = matches!(self.activity, CubeActivity::Hop(_)) && now >= self.jump_at;
        if jumps {
            self.jump_at = now + self.random_duration(JUMP_MS);
        }
        KeyPresses { held, tapped: if jumps { none.with(control::JUMP, true) } else { none } }
    }

    /// Whether a burst repels now.
    fn repels_now(&self, now: LocalTime) -> bool {
        let bursts = now.since(self.began).as_millis() as u64 / BURST_MS;
        bursts.is_multiple_of(2)
    }

    fn random_activity(&mut self) -> CubeActivity {
        let direction = self.random_direction();
        match self.rng.u8(..10) {
            0..3 => CubeActivity::Push(direction),
            3..6 => CubeActivity::Gather(direction),
            6 => CubeActivity::Burst,
            7..9 => CubeActivity::Hop(direction),
            _ => CubeActivity::Rest,
        }
    }

    /// One of eight directions.
    fn random_direction(&mut self) -> Keymap {
        // 0 or 1: one of the two keys; 2: neither of them.
        let (horizontal, vertical) = loop {
            let directions = (self.rng.usize(..3), self.rng.usize(..3));
            if directions != (2, 2) {
                break directions;
            }
        };
        [
            [control::LEFT, control::RIGHT].get(horizontal),
            [control::UP, control::DOWN].get(vertical),
        ]
        .into_iter()
        .flatten()
        .fold(Keymap::default(), |direction, control| direction.with(*control, true))
    }

    fn random_duration(&mut self, range_ms: RangeInclusive<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_uses_all_controls_and_changes_them_often() {
        let (mut idle_steps, mut gathers, mut bursts, mut jumps, mut longest, mut same) =
            (0, 0, 0, 0, 0, 0);
        let mut last = Keymap::default();
        for keys in decisions(1, Duration::from_mins(5)) {
            assert!(
                !(keys.held.down(control::LEFT) && keys.held.down(control::RIGHT)
                    || keys.held.down(control::UP) && keys.held.down(control::DOWN))
            );
            assert!(!(keys.held.down(control::ATTRACT) && keys.held.down(control::REPEL)));
            assert!(
                !keys.held.down(control::ATTRACT) || keys.held.0 & 0b1111 != 0,
                "the bot gathers only while it moves"
            );
            idle_steps += u32::from(keys.held == Keymap::default());
            gathers += u32::from(keys.held.down(control::ATTRACT));
            bursts += u32::from(keys.held.down(control::REPEL));
            jumps += u32::from(keys.tapped.down(control::JUMP));
            same = if keys.held == last { same + 1 } else { 0 };
            (last, longest) = (keys.held, same.max(longest));
        }
        assert!(
            idle_steps > 200 && gathers > 500 && bursts > 50 && jumps > 20,
            "{idle_steps} {gathers} {bursts} {jumps}"
        );
        assert!(longest < 200, "the same keys for {longest} steps");
    }

    #[test]
    fn the_same_seed_gives_the_same_keys() {
        let run = |seed| decisions(seed, Duration::from_mins(1));
        assert_eq!(run(5), run(5));
        assert_ne!(run(5), run(6));
    }

    fn decisions(seed: u64, time: Duration) -> Vec<KeyPresses> {
        let mut cubes = CubesBot::new(LocalTime::ZERO, seed);
        let step = Duration::from_millis(50);
        (0..time.as_millis() / 50)
            .map(|steps| cubes.decide(LocalTime::ZERO + step * steps as u32))
            .collect()
    }
}
