//! The governor with given work, and with a room on a slow core: a model of what ticks cost.

use std::collections::VecDeque;

use ambit_room::tick_schedule::TickSchedule;

use super::*;

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
fn a_very_late_room_goes_several_steps_at_once() {
    let changes =
        Room::new().run(10, |level| [200, 150, 100, 30, 20, 10, 10, 10][usize::from(level)]);
    assert_eq!(changes, [(550, 3)]);
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
    assert_eq!(changes, [(550, 3), (1_050, 6), (1_550, 7)]);
}

#[test]
fn a_level_that_is_too_low_is_tried_ever_less_often() {
    let mut room = Room::new();
    let work = |level| if level == 0 { 60 } else { 20 };
    // Up, and one try.
    assert_eq!(room.run(60, work).len(), 3);
    // In an hour there are tries 48 s after the first, then 96 s, and so on up to ten minutes.
    let late = room.run(3_600, work);
    assert!((10..=20).contains(&late.len()), "{late:?}");
}

#[test]
fn a_level_below_that_fits_is_taken_soon_also_when_it_was_too_much_before() {
    let mut room = Room::new();
    let full = |level| if level == 0 { 60 } else { 30 };
    assert_eq!(room.run(20, full), [(550, 1)]);
    // Half of the players leave: the level below would need 60 % now, as the governor has learned.
    let half = |level| full(level) / 2;
    let changes = room.run(5, half);
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(room.governor.level(), LoadLevel::NONE);
}

#[test]
fn a_busy_room_sends_everything_again_after_a_pause_of_the_machine() {
    for pause_ms in [150, 300, 600, 2_000] {
        let mut room = Room::new();
        // 60 % of the time.
        room.run(10, |_| 30);
        room.tick += pause_ms / 50;
        let now = GameTime::from_millis(room.tick * 50);
        let skipped = pause_ms / 50 - 1;
        room.governor.note_tick(now, Duration::from_millis(pause_ms), skipped);
        room.run(120, |_| 30);
        assert_eq!(room.governor.level(), LoadLevel::NONE, "{pause_ms} ms");
    }
}

#[test]
fn a_room_whose_rush_is_over_sends_everything_again() {
    let mut room = Room::new();
    room.run(10, |_| 200);
    room.run(60, |_| 5);
    assert_eq!(room.governor.level(), LoadLevel::NONE);
}

#[test]
fn a_crowd_on_a_slow_core_keeps_all_ticks_once_the_level_has_settled() {
    // From a core that is fast enough to one on which the crowd would run one tick of fifteen.
    for slowness_percent in (20..=200).step_by(20) {
        let mut core = SlowCore::new(slowness_percent);
        core.run_until(5);
        let at_first = core.skipped;
        core.run_until(10);
        // A level below may have been tried once.
        assert!(core.skipped - at_first <= 8, "{core:?}");
        let skipped = core.skipped;
        let changes = core.changes;
        core.run_until(610);
        // A try of a level that costs too much loses a few ticks; there are five in ten minutes.
        let skipped = core.skipped - skipped;
        let changes = core.changes - changes;
        assert!(skipped <= 60, "{skipped} of 12,000 ticks lost: {core:?}");
        assert!(changes <= 16, "{changes} changes: {core:?}");
    }
}

#[test]
fn without_load_levels_the_same_crowd_loses_most_ticks() {
    let mut core = SlowCore::new(100);
    core.has_levels = false;
    core.run_until(60);
    assert!(core.skipped > 60 * 20 / 2, "{core:?}");
}

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

    /// Runs for `seconds`; each tick takes what `work_ms` says of the level. Returns the changes.
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

const CLIENTS: u64 = 600;
/// Objects in the sight of a client: near ones, and far ones.
const IN_SIGHT: (u64, u64) = (155, 155);

/// A room with 20 ticks a second and all of its clients in one place, on a core of its own.
#[derive(Debug)]
struct SlowCore {
    /// Of a core on which a pose costs 2 us at the fine level.
    slowness_percent: u64,
    has_levels: bool,
    governor: OverloadGovernor,
    schedule: TickSchedule,
    waiting: VecDeque<GameTime>,
    now: GameTime,
    /// Since the last tick.
    skipped_now: u64,
    skipped: u64,
    ticks: u64,
    changes: u64,
}

impl SlowCore {
    fn new(slowness_percent: u64) -> Self {
        Self {
            slowness_percent,
            has_levels: true,
            governor: OverloadGovernor::new(),
            schedule: TickSchedule::after(20, GameTime::ZERO),
            waiting: VecDeque::new(),
            now: GameTime::ZERO,
            skipped_now: 0,
            skipped: 0,
            ticks: 0,
            changes: 0,
        }
    }

    fn run_until(&mut self, seconds: u64) {
        while self.now < GameTime::from_millis(seconds * 1_000) {
            let next = self.schedule.next_deadline().max(self.now);
            if self.waiting.is_empty() {
                self.advance(next);
            }
            let Some(due) = self.waiting.pop_front() else {
                continue;
            };
            let work = self.tick();
            self.advance(self.now + work);
            let skipped = std::mem::take(&mut self.skipped_now);
            self.skipped += skipped;
            if self.has_levels && self.governor.note_tick(due, work, skipped).is_some() {
                self.changes += 1;
            }
        }
    }

    /// The clock thread goes on while the room works on a tick.
    fn advance(&mut self, until: GameTime) {
        while self.schedule.next_deadline() <= until {
            let deadline = self.schedule.next_deadline();
            let due = self.schedule.take_due(deadline, self.waiting.len() as u32);
            self.skipped_now += due.skipped;
            self.waiting.extend(due.ticks);
        }
        self.now = until;
    }

    /// What a tick costs: the game and the links, then each pose that is looked at, and coded.
    fn tick(&mut self) -> Duration {
        self.ticks += 1;
        let level = self.governor.level();
        let (near, far) = level.intervals();
        let coding_ns = if level.is_coding_shared() { 170 } else { 2_000 };
        let mut ns = 10_000_000 + CLIENTS * 15_000;
        for client in 0..CLIENTS {
            let turn = self.ticks + client;
            let mut poses = 1;
            if turn.is_multiple_of(near) {
                poses += IN_SIGHT.0;
                ns += (IN_SIGHT.0 + IN_SIGHT.1) * 20;
            }
            if turn.is_multiple_of(far) {
                poses += IN_SIGHT.1;
            }
            ns += poses * coding_ns;
        }
        Duration::from_nanos(ns * self.slowness_percent / 100)
    }
}
