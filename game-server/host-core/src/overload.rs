//! How much less a room sends while its ticks take too long.
//!
//! The work of each tick goes in, and the ticks that were skipped; a [`LoadLevel`] comes out when
//! it changes. What decides is the *demand*: the share of the time that all ticks would take,
//! skipped ones included, over half a second. Above [`HIGH_PERCENT`], and whenever ticks were
//! skipped, the level is raised: the more the higher the demand is, so that a room is in time again
//! within about two seconds.
//!
//! A level is lowered after three seconds in which the level below would be low as well. The
//! governor learns what the level below costs from each change. If that seems to be too much, it
//! tries it nevertheless after 24 s, since the room may have changed, or a pause of the machine was
//! taken for work; each try that fails ends with the first skipped tick, and doubles the time to
//! the next one. So a room that is busy all the time rarely changes its level, and loses next to no
//! ticks by tries.

use std::time::Duration;

use ambit_proto::time::GameTime;
use ambit_room::network::load_level::LoadLevel;

/// The time over which work is added up.
const WINDOW: Duration = Duration::from_millis(500);
/// A demand above this, in per cent of the time, is too much.
const HIGH_PERCENT: u64 = 85;
/// Demands above these raise the level by two, and by three.
const STEEP_PERCENTS: [u64; 2] = [130, 250];
/// Below this demand, a level below of unknown cost is tried.
const LOW_PERCENT: u64 = 50;
/// A level below is low if it would demand less than this.
const FITTING_PERCENT: u64 = 70;
/// The most that a level can cost, in per cent of the next one: it sends twice as much, or codes
/// each pose for one client alone.
const MOST_PERCENT: u64 = 250;
const MOST_FOR_CODING_PERCENT: u64 = 1_500;
/// How long the level below has to be low before the level is lowered; and how long the lower level
/// has to hold then.
const LOWER_AFTER: Duration = Duration::from_secs(3);
/// How long a level is kept if the level below seems to cost too much.
const TRY_AFTER: Duration = Duration::from_secs(24);
/// The same after many tries that failed.
const TRY_AFTER_MOST: Duration = Duration::from_mins(10);

/// A room's work, and the level that follows from it.
#[derive(Debug, Default)]
pub(super) struct OverloadGovernor {
    level: LoadLevel,
    /// When the window began; `None` before the first tick.
    window_since: Option<GameTime>,
    window: WindowWork,
    /// When the level was changed.
    level_since: Option<GameTime>,
    /// Since when the level below is low.
    low_since: Option<GameTime>,
    /// By level: the demand of the level below, in per cent of the level's own; `None` if not
    /// known.
    cost_below_percent: [Option<u64>; LoadLevel::COUNT],
    /// The last change, until a window has shown its effect: the level before, and its demand.
    unmeasured: Option<(LoadLevel, u64)>,
    trial: Option<LevelTrial>,
    try_after: Duration,
}

/// What happened in a window.
#[derive(Debug, Default)]
struct WindowWork {
    time: Duration,
    ticks: u64,
    skipped: u64,
}

/// A lower level that has not held for long yet.
#[derive(Debug)]
struct LevelTrial {
    /// The level before.
    from: LoadLevel,
    since: GameTime,
    /// Whether it was expected to cost too much.
    is_doubtful: bool,
}

impl OverloadGovernor {
    pub(super) fn new() -> Self {
        Self { try_after: TRY_AFTER, ..Self::default() }
    }

    pub(super) fn level(&self) -> LoadLevel {
        self.level
    }

    /// The tick of `now` took `work`, and `skipped` ticks before it were skipped. Returns the new
    /// level if it changes.
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
        self.window.time += work;
        self.window.ticks += 1;
        self.window.skipped += skipped;
        let length = now.since(since);
        let has_failed = self.trial.is_some() && skipped > 0;
        if length < WINDOW && !has_failed {
            return None;
        }
        let window = std::mem::take(&mut self.window);
        self.window_since = Some(now);
        let demand = window.demand_percent(length);
        self.learn(demand);
        let before = self.level;
        if window.skipped > 0 || demand > HIGH_PERCENT {
            self.raise(demand);
        } else {
            self.end_trial(now);
            self.consider_lowering(now, demand);
        }
        if self.level != before {
            (self.unmeasured, self.low_since) = (Some((before, demand)), None);
            self.level_since = Some(now);
        }
        (self.level != before).then_some(self.level)
    }

    /// Notes what the last change of the level has done to the demand.
    fn learn(&mut self, demand: u64) {
        let Some((before, demand_before)) = self.unmeasured.take() else {
            return;
        };
        let (upper, high, low) = if before > self.level {
            (before, demand, demand_before)
        } else {
            // After several levels at once this is more than the lowest of them costs.
            (before.raised(), demand_before, demand)
        };
        // A rush that is over in the same moment must not count.
        let saves_coding = upper.is_coding_shared() && !upper.lowered().is_coding_shared();
        let most = if saves_coding { MOST_FOR_CODING_PERCENT } else { MOST_PERCENT };
        self.cost_below_percent[upper.index()] = Some((100 * high / low.max(1)).min(most));
    }

    fn raise(&mut self, demand: u64) {
        self.low_since = None;
        if let Some(trial) = self.trial.take() {
            self.level = trial.from;
            if trial.is_doubtful {
                self.try_after = (self.try_after * 2).min(TRY_AFTER_MOST);
            }
            return;
        }
        let more = STEEP_PERCENTS.iter().filter(|&&steep| demand > steep);
        for _ in 0..=more.count() {
            self.level = self.level.raised();
        }
    }

    /// A lower level has held for long enough.
    fn end_trial(&mut self, now: GameTime) {
        let has_held = |trial: &mut LevelTrial| now.since(trial.since) >= LOWER_AFTER;
        if self.trial.take_if(has_held).is_some() {
            self.try_after = TRY_AFTER;
        }
    }

    fn consider_lowering(&mut self, now: GameTime, demand: u64) {
        if self.level == LoadLevel::NONE {
            return;
        }
        let below = self.cost_below_percent[self.level.index()].map(|cost| demand * cost / 100);
        let fits = below.map_or(demand < LOW_PERCENT, |below| below < FITTING_PERCENT);
        let (since, wait) = if fits {
            (*self.low_since.get_or_insert(now), LOWER_AFTER)
        } else {
            self.low_since = None;
            (*self.level_since.get_or_insert(now), self.try_after)
        };
        if now.since(since) >= wait && self.trial.is_none() {
            self.trial = Some(LevelTrial { from: self.level, since: now, is_doubtful: !fits });
            self.level = self.level.lowered();
        }
    }
}

impl WindowWork {
    /// What all ticks would have taken of this time, in per cent.
    fn demand_percent(&self, of: Duration) -> u64 {
        let due = self.ticks + self.skipped;
        let all = self.time.as_micros() as u64 * due / self.ticks.max(1);
        100 * all / (of.as_micros() as u64).max(1)
    }
}

#[cfg(test)]
mod tests;
