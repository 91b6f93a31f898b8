//! When a room ticks.
//!
//! What always holds: tick `n` of a room is due `n / tick_hz` seconds after its time zero, rounded
//! down to a microsecond, so it never drifts, not even against frames of 1/60 s. At most
//! [`MOST_WAITING`] ticks of a room wait at a time. A room that is further behind skips the oldest
//! ones, which is counted.

use ambit_proto::time::GameTime;

/// Ticks of one room that may wait for it. A room that was held up for longer has nothing to gain
/// from working through everything that it missed: that would hold up its neighbours too.
pub const MOST_WAITING: u32 = 3;

/// When a room's ticks are due.
#[derive(Clone, Debug)]
pub struct TickSchedule {
    tick_hz: u64,
    next: u64,
}

/// What is due at one moment.
#[derive(Debug, PartialEq, Eq)]
pub struct DueTicks {
    /// Ticks to skip, the oldest.
    pub skipped: u64,
    /// Room times of the ticks to run, in order.
    pub ticks: Vec<GameTime>,
}

impl TickSchedule {
    /// Begins with the first tick after `last`. In a new room that is tick 1, one period after the
    /// room's time zero.
    pub fn after(tick_hz: u32, last: GameTime) -> Self {
        let mut schedule = Self { tick_hz: tick_hz.max(1).into(), next: 0 };
        schedule.next = schedule.last_due(last) + 1;
        schedule
    }

    /// When the next tick is due.
    pub fn next_deadline(&self) -> GameTime {
        self.time_of(self.next)
    }

    /// Leaves the next tick out: it has been run already.
    pub fn skip(&mut self) {
        self.next += 1;
    }

    /// Takes what is due at `now`, if the room has not run `waiting` earlier ticks yet.
    pub fn take_due(&mut self, now: GameTime, waiting: u32) -> DueTicks {
        let last = self.last_due(now);
        if last < self.next {
            return DueTicks { skipped: 0, ticks: Vec::new() };
        }
        let due = last - self.next + 1;
        let run = due.min(u64::from(MOST_WAITING.saturating_sub(waiting)));
        let first_run = last - run + 1;
        self.next = last + 1;
        DueTicks {
            skipped: due - run,
            ticks: (first_run..=last).map(|tick| self.time_of(tick)).collect(),
        }
    }

    fn time_of(&self, tick: u64) -> GameTime {
        GameTime::from_micros(tick * 1_000_000 / self.tick_hz)
    }

    /// The last tick whose time is not after `now`.
    fn last_due(&self, now: GameTime) -> u64 {
        ((now.micros() + 1) * self.tick_hz).div_ceil(1_000_000) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_due_at_multiples_of_the_period() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(49), 0), due(0, &[]));
        assert_eq!(schedule.take_due(ms(50), 0), due(0, &[50]));
        assert_eq!(schedule.take_due(ms(50), 0), due(0, &[]));
        assert_eq!(schedule.next_deadline(), ms(100));
        assert_eq!(schedule.take_due(ms(163), 0), due(0, &[100, 150]));
    }

    #[test]
    fn ticks_do_not_drift_at_rates_that_do_not_divide_a_second() {
        for tick_hz in 1..=60 {
            let mut schedule = TickSchedule::after(tick_hz, GameTime::ZERO);
            for tick in 1..=u64::from(tick_hz) * 10 {
                let at = schedule.next_deadline();
                assert_eq!(at.micros(), tick * 1_000_000 / u64::from(tick_hz));
                let early = GameTime::from_micros(at.micros() - 1);
                assert!(schedule.take_due(early, 0).ticks.is_empty(), "{tick_hz} {tick}");
                assert_eq!(schedule.take_due(at, 0).ticks, [at], "{tick_hz} {tick}");
                let resumed = TickSchedule::after(tick_hz, at);
                assert_eq!(resumed.next_deadline(), schedule.next_deadline());
            }
            assert_eq!(schedule.next, u64::from(tick_hz) * 10 + 1);
        }
    }

    #[test]
    fn a_room_far_behind_skips_the_oldest_ticks() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(500), 0), due(7, &[400, 450, 500]));
        assert_eq!(schedule.next_deadline(), ms(550));
    }

    #[test]
    fn ticks_that_still_wait_count_against_the_bound() {
        let mut schedule = TickSchedule::after(20, GameTime::ZERO);
        assert_eq!(schedule.take_due(ms(100), 2), due(1, &[100]));
        assert_eq!(schedule.take_due(ms(150), 3), due(1, &[]));
        assert_eq!(schedule.take_due(ms(200), 0), due(0, &[200]));
    }

    fn due(skipped: u64, ticks_ms: &[u64]) -> DueTicks {
        DueTicks { skipped, ticks: ticks_ms.iter().map(|&tick| ms(tick)).collect() }
    }

    fn ms(millis: u64) -> GameTime {
        GameTime::from_millis(millis)
    }
}
