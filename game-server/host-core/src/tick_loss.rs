//! Whether a room loses ticks.
//!
//! The ticks that run go in, with the number that was skipped before each; `TickLoss::is_losing`
//! and the last count come out. A room is losing ticks from a second in which it skipped a fifth of
//! them until five seconds have passed in which it skipped none. So a single pause of the machine
//! is soon over, and a room at the edge does not change all the time.

use std::time::Duration;

use ambit_proto::time::GameTime;

/// The time over which ticks are counted.
const WINDOW: Duration = Duration::from_secs(1);
/// A room that skips this share of its ticks, in per cent, is losing ticks.
const LOSING_PERCENT: u64 = 20;
/// Windows in a row without a skipped tick after which it is not any more.
const WHOLE_WINDOWS: u32 = 5;

/// How many ticks ran, and how many should have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TickCount {
    pub run: u64,
    pub due: u64,
}

#[derive(Debug, Default)]
pub(super) struct TickLoss {
    /// When the window began; `None` before the first tick.
    window_since: Option<GameTime>,
    window: TickCount,
    last_window: TickCount,
    is_losing: bool,
    whole_windows: u32,
}

impl TickLoss {
    /// The tick of `now` has run, and `skipped` ticks before it were skipped. Returns whether the
    /// room is losing ticks, if that changes.
    pub(super) fn note_tick(&mut self, now: GameTime, skipped: u64) -> Option<bool> {
        let Some(since) = self.window_since else {
            self.window_since = Some(now);
            return None;
        };
        self.window.run += 1;
        self.window.due += 1 + skipped;
        if now.since(since) < WINDOW {
            return None;
        }
        let window = std::mem::take(&mut self.window);
        (self.window_since, self.last_window) = (Some(now), window);
        let lost = window.due - window.run;
        self.whole_windows = if lost == 0 { self.whole_windows + 1 } else { 0 };
        let was_losing = self.is_losing;
        self.is_losing = if was_losing {
            self.whole_windows < WHOLE_WINDOWS
        } else {
            lost * 100 >= window.due * LOSING_PERCENT
        };
        (self.is_losing != was_losing).then_some(self.is_losing)
    }

    pub(super) fn is_losing(&self) -> bool {
        self.is_losing
    }

    /// The ticks of the last whole second, or of more if a tick took longer.
    pub(super) fn last_ticks(&self) -> TickCount {
        self.last_window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_loses_ticks_until_it_has_run_all_of_them_for_five_seconds() {
        let mut room = TickingRoom::default();
        assert_eq!(room.run(60, 0), [false; 0]);
        // Three of four ticks: each third one comes after a skipped one.
        assert_eq!(room.run(5, 4), [true]);
        assert_eq!(room.loss.last_ticks(), TickCount { run: 15, due: 20 });
        assert_eq!(room.run(4, 0), [false; 0]);
        assert!(room.loss.is_losing());
        assert_eq!(room.run(2, 0), [false]);
    }

    #[test]
    fn a_single_pause_or_a_rare_skipped_tick_is_no_loss() {
        let mut room = TickingRoom::default();
        // One of 20, at most once a second.
        assert_eq!(room.run(120, 20), [false; 0]);
        assert!(!room.loss.is_losing());
    }

    #[test]
    fn a_room_that_skips_ticks_again_and_again_changes_rarely() {
        let mut room = TickingRoom::default();
        let mut changes = 0;
        for _ in 0..30 {
            changes += room.run(1, 4).len();
            changes += room.run(1, 0).len();
        }
        assert_eq!(changes, 1);
    }

    /// With 20 ticks a second.
    #[derive(Default)]
    struct TickingRoom {
        loss: TickLoss,
        tick: u64,
    }

    impl TickingRoom {
        /// Runs for `seconds`, without each `skip_each`th tick. Returns the changes.
        fn run(&mut self, seconds: u64, skip_each: u64) -> Vec<bool> {
            let mut changes = Vec::new();
            let mut skipped = 0;
            for _ in 0..seconds * 20 {
                self.tick += 1;
                if skip_each > 0 && self.tick.is_multiple_of(skip_each) {
                    skipped += 1;
                    continue;
                }
                let now = GameTime::from_millis(self.tick * 50);
                let skipped = std::mem::take(&mut skipped);
                changes.extend(self.loss.note_tick(now, skipped));
            }
            changes
        }
    }
}
