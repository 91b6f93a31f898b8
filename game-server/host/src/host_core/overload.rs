//! How much less a room sends while its ticks take too long.
//!
//! The work of each tick goes in, and the ticks that were skipped; a [`LoadLevel`] comes out when
//! it changes. A level is raised after half a second in which ticks were skipped or took most of
//! their time, and lowered after some seconds in which they took less than half of it. If that
//! turns out to be too early, the next attempt waits twice as long. So a room that is busy all the
//! time changes its level about once a minute.

use std::time::Duration;

use ambit_proto::time::GameTime;
use ambit_room::network::load_level::LoadLevel;

/// The time over which work is added up.
const WINDOW: Duration = Duration::from_millis(500);
/// Above this share of the time, in per cent, a room is late soon.
const HIGH_PERCENT: u32 = 85;
/// Below this share, a room may send more.
const LOW_PERCENT: u32 = 50;
/// How long the work has to be low before a level is lowered.
const LOWER_AFTER: Duration = Duration::from_secs(3);
/// The same after many attempts that were too early.
const LOWER_AFTER_MOST: Duration = Duration::from_secs(48);

/// A room's work, and the level that follows from it.
#[derive(Debug)]
pub(super) struct OverloadGovernor {
    level: LoadLevel,
    /// When the window began; `None` before the first tick.
    window_since: Option<GameTime>,
    work: Duration,
    skipped: u64,
    /// Since when all windows were low.
    low_since: Option<GameTime>,
    lower_after: Duration,
    /// When the level was lowered the last time.
    lowered_at: Option<GameTime>,
}

impl OverloadGovernor {
    pub(super) fn new() -> Self {
        Self {
            level: LoadLevel::NONE,
            window_since: None,
            work: Duration::ZERO,
            skipped: 0,
            low_since: None,
            lower_after: LOWER_AFTER,
            lowered_at: None,
        }
    }

    pub(super) fn level(&self) -> LoadLevel {
        self.level
    }

    /// The tick of `now` took so long, and so many before it were skipped. Returns the new level if
    /// it changes.
    pub(super) fn note_tick(
        &mut self,
        now: GameTime,
        work: Duration,
        skipped: u64,
    ) -> Option<LoadLevel> {
        let Some(since) = self.window_since else {
            self.window_since = Some(now);
            return None;
        };
        self.work += work;
        self.skipped += skipped;
        let window = now.since(since);
        if window < WINDOW {
            return None;
        }
        let is_late = self.skipped > 0 || self.work * 100 > window * HIGH_PERCENT;
        let is_low = !is_late && self.work * 100 < window * LOW_PERCENT;
        (self.window_since, self.work, self.skipped) = (Some(now), Duration::ZERO, 0);
        let before = self.level;
        if is_late {
            self.raise(now);
        } else if is_low {
            self.consider_lowering(now);
        } else {
            self.low_since = None;
        }
        (self.level != before).then_some(self.level)
    }

    fn raise(&mut self, now: GameTime) {
        self.low_since = None;
        if let Some(lowered_at) = self.lowered_at.take() {
            let was_too_early = now.since(lowered_at) < self.lower_after;
            self.lower_after = if was_too_early {
                (self.lower_after * 2).min(LOWER_AFTER_MOST)
            } else {
                LOWER_AFTER
            };
        }
        self.level = self.level.raised();
    }

    fn consider_lowering(&mut self, now: GameTime) {
        let since = *self.low_since.get_or_insert(now);
        if self.level > LoadLevel::NONE && now.since(since) >= self.lower_after {
            self.level = self.level.lowered();
            (self.low_since, self.lowered_at) = (None, Some(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ticks of 50 ms.
    struct Room {
        governor: OverloadGovernor,
        tick: u64,
    }

    impl Room {
        fn new() -> Self {
            let governor = OverloadGovernor::new();
            Self { governor, tick: 0 }
        }

        /// Runs for so long; each tick takes what `work_ms` says of the level. Returns the changes.
        fn run(&mut self, seconds: u64, work_ms: impl Fn(u8) -> u64) -> Vec<(u64, u8)> {
            let mut changes = Vec::new();
            for _ in 0..seconds * 20 {
                self.tick += 1;
                let work = Duration::from_millis(work_ms(self.governor.level().number()));
                let now = GameTime::from_millis(self.tick * 50);
                let changed = self.governor.note_tick(now, work, 0);
                changes.extend(changed.map(|level| (self.tick * 50, level.number())));
            }
            changes
        }
    }

    #[test]
    fn a_room_with_time_to_spare_sends_everything() {
        assert_eq!(Room::new().run(60, |_| 40), []);
    }

    #[test]
    fn a_late_room_sends_less_step_by_step_until_it_is_in_time() {
        let changes = Room::new().run(10, |level| 60 - 12 * u64::from(level));
        assert_eq!(changes, [(550, 1), (1_050, 2)]);
    }

    #[test]
    fn skipped_ticks_raise_the_level_whatever_the_work() {
        let mut governor = OverloadGovernor::new();
        let mut tick = |ms, skipped| {
            let now = GameTime::from_millis(ms);
            governor.note_tick(now, Duration::ZERO, skipped)
        };
        assert_eq!(tick(0, 0), None);
        assert_eq!(tick(400, 2), None);
        assert_eq!(tick(500, 0), Some(LoadLevel::NONE.raised()));
        assert_eq!(tick(1_000, 0), None);
    }

    #[test]
    fn the_highest_level_is_the_last_one() {
        let changes = Room::new().run(30, |_| 200);
        assert_eq!(changes.len(), usize::from(LoadLevel::MAX.number()));
    }

    #[test]
    fn a_level_that_is_too_low_is_tried_ever_less_often() {
        let mut room = Room::new();
        let work = |level| if level == 0 { 60 } else { 20 };
        let early = room.run(60, work).len();
        let late = room.run(240, work);
        assert!(early >= 6, "{early}");
        assert!(late.len() <= 12, "{late:?}");
    }

    #[test]
    fn a_room_whose_rush_is_over_sends_everything_again() {
        let mut room = Room::new();
        room.run(10, |_| 200);
        room.run(60, |_| 5);
        assert_eq!(room.governor.level(), LoadLevel::NONE);
    }
}
