//! What a bot of the profile `cubes` does: it rolls its cube about, gathers others with it, throws
//! them off, jumps and rests.
//!
//! The time goes in, the controls that are held and tapped come out. No clock and no I/O; chance
//! comes from the seed.

use std::time::Duration;

use ambit_client_core::text::command::CONTROLS;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::LocalTime;

/// How long one thing is done, in milliseconds.
const ACTIVITY_MS: (u64, u64) = (500, 3_000);
/// Of a burst, how long others are thrown off, and how long not.
const BURST_MS: u64 = 200;
/// Between two jumps, in milliseconds.
const JUMP_MS: (u64, u64) = (300, 1_200);

/// One bot's mind.
#[derive(Debug)]
pub(crate) struct CubesBot {
    rng: fastrand::Rng,
    activity: CubeActivity,
    began: LocalTime,
    until: LocalTime,
    jump_at: LocalTime,
}

/// What it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CubeActivity {
    Rest,
    /// Pushing that way.
    Push(Keymap),
    /// Pushing that way, with whatever lies near sticking to it.
    Gather(Keymap),
    /// PoseStatus, and throwing off what lies near, again and again.
    Burst,
    /// Pushing that way, with jumps.
    Hop(Keymap),
}

/// The controls at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldKeys {
    /// Held down.
    pub(crate) held: Keymap,
    /// Pressed and let go at once.
    pub(crate) tapped: Keymap,
}

impl CubesBot {
    /// A bot that begins at `now`, with a rest: so that not all set out at once.
    pub(crate) fn new(now: LocalTime, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let until = now + Duration::from_millis(rng.u64(0..ACTIVITY_MS.0));
        CubesBot {
            rng,
            activity: CubeActivity::Rest,
            began: now,
            until,
            jump_at: now,
        }
    }

    /// What it holds and taps now.
    pub(crate) fn decide(&mut self, now: LocalTime) -> HeldKeys {
        if now >= self.until {
            self.began = now;
            self.until = now + self.random_duration(ACTIVITY_MS);
            self.activity = self.random_activity();
            self.jump_at = now + self.random_duration(JUMP_MS);
        }
        let none = Keymap::default();
        let held = match self.activity {
            CubeActivity::Push(way) | CubeActivity::Hop(way) => way,
            CubeActivity::Gather(way) => with_control(way, "attract"),
            CubeActivity::Burst if self.throws_off(now) => with_control(none, "repel"),
            CubeActivity::Rest | CubeActivity::Burst => none,
        };
        let jumps = matches!(self.activity, CubeActivity::Hop(_)) && now >= self.jump_at;
        if jumps {
            self.jump_at = now + self.random_duration(JUMP_MS);
        }
        HeldKeys {
            held,
            tapped: if jumps {
                with_control(none, "jump")
            } else {
                none
            },
        }
    }

    /// In a burst, now and then.
    fn throws_off(&self, now: LocalTime) -> bool {
        let bursts = now.since(self.began).as_millis() as u64 / BURST_MS;
        bursts.is_multiple_of(2)
    }

    fn random_activity(&mut self) -> CubeActivity {
        let way = self.random_direction();
        match self.rng.u8(..10) {
            0..3 => CubeActivity::Push(way),
            3..6 => CubeActivity::Gather(way),
            6 => CubeActivity::Burst,
            7..9 => CubeActivity::Hop(way),
            _ => CubeActivity::Rest,
        }
    }

    /// One of eight directions.
    fn random_direction(&mut self) -> Keymap {
        let (across, along) = loop {
            let ways = (self.rng.usize(..3), self.rng.usize(..3));
            if ways != (2, 2) {
                break ways;
            }
        };
        [["left", "right"].get(across), ["up", "down"].get(along)]
            .into_iter()
            .flatten()
            .fold(Keymap::default(), |way, name| with_control(way, name))
    }

    fn random_duration(&mut self, (least, most): (u64, u64)) -> Duration {
        Duration::from_millis(self.rng.u64(least..=most))
    }
}

/// The same with the control of this name, one of the console's.
fn with_control(keys: Keymap, name: &str) -> Keymap {
    let control = CONTROLS
        .iter()
        .position(|&control| control == name)
        .expect("a control of the console");
    keys.with(control as u8, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_those_of_the_game() {
        for (control, name) in [
            (0, "left"),
            (1, "right"),
            (2, "up"),
            (3, "down"),
            (5, "jump"),
            (6, "attract"),
            (7, "repel"),
        ] {
            assert_eq!(
                with_control(Keymap::default(), name),
                Keymap(1 << control),
                "{name}"
            );
        }
    }

    #[test]
    fn a_bot_does_a_bit_of_everything_and_nothing_for_long() {
        let (mut rests, mut gathers, mut bursts, mut jumps, mut longest, mut same) =
            (0, 0, 0, 0, 0, 0);
        let mut last = Keymap::default();
        for hands in live(1, Duration::from_mins(5)) {
            assert!(
                !(hands.held.down(0) && hands.held.down(1)
                    || hands.held.down(2) && hands.held.down(3))
            );
            assert!(!(hands.held.down(6) && hands.held.down(7)));
            assert!(
                !hands.held.down(6) || hands.held.0 & 0b1111 != 0,
                "it gathers on the way"
            );
            rests += u32::from(hands.held == Keymap::default());
            gathers += u32::from(hands.held.down(6));
            bursts += u32::from(hands.held.down(7));
            jumps += u32::from(hands.tapped.down(5));
            same = if hands.held == last { same + 1 } else { 0 };
            (last, longest) = (hands.held, same.max(longest));
        }
        assert!(
            rests > 200 && gathers > 500 && bursts > 50 && jumps > 20,
            "{rests} {gathers} {bursts} {jumps}"
        );
        assert!(longest < 200, "the same for {longest} beats");
    }

    #[test]
    fn the_same_seed_does_the_same() {
        let live = |seed| live(seed, Duration::from_mins(1));
        assert_eq!(live(5), live(5));
        assert_ne!(live(5), live(6));
    }

    fn live(seed: u64, time: Duration) -> Vec<HeldKeys> {
        let mut cubes = CubesBot::new(LocalTime::ZERO, seed);
        let beat = Duration::from_millis(50);
        (0..time.as_millis() / 50)
            .map(|beats| cubes.decide(LocalTime::ZERO + beat * beats as u32))
            .collect()
    }
}
