//! Timers of the game: bytes that the game gets back at a later time.
//!
//! Due timers come out in the order of their times and, at the same time, in the order in which
//! they were set. A timer that is set while one is delivered is due at least a millisecond after
//! that one, so a delivery always ends. Timers are never cancelled: a game checks whether there is
//! still anything to do. They are saved with the world.
//!
//! Bounds: [`MAX_TIMERS`] timers of [`MAX_TIMER_BYTES`] each. Cost: logarithmic in the number of
//! timers; small payloads are stored inline.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

use ambit_proto::time::GameTime;
use serde::Serialize;
use smallvec::SmallVec;

use super::World;

/// The most timers that may wait at once: more is a leak of the game.
pub const MAX_TIMERS: usize = 1 << 20;
/// The longest payload of a timer.
pub const MAX_TIMER_BYTES: usize = 512;

/// The resolution of game time, and the shortest time from one timer to a timer that it sets.
const SHORTEST_DELAY: Duration = Duration::from_millis(1);

/// The payload of a timer, in the game's own format. A short name is stored inline.
pub type TimerPayload = SmallVec<[u8; 16]>;

/// Why a timer was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimerError {
    /// Too many timers wait.
    #[error("{MAX_TIMERS} timers wait already: the game sets timers faster than they are due")]
    TooMany,
    /// The payload is too long.
    #[error("the payload of a timer has at most {MAX_TIMER_BYTES} bytes, not {bytes}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
}

/// A timer that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueTimer {
    /// When it is due: not after [`World::now`].
    pub at: GameTime,
    /// What the game gave.
    pub payload: TimerPayload,
}

/// The timers of a world. See the module.
#[derive(Debug, Default)]
pub(super) struct Timers {
    waiting: BinaryHeap<WaitingTimer>,
    /// How many were ever set.
    count: u64,
    /// When the timer that is being delivered was due. Not saved: nothing is delivered between two
    /// ticks.
    delivering: Option<GameTime>,
}

/// The result of [`Timers::to_saved`], as it is decoded.
pub(super) type SavedTimers = (Vec<(GameTime, u64, Vec<u8>)>, u64);

#[derive(Debug, PartialEq, Eq)]
struct WaitingTimer {
    at: GameTime,
    sequence: u64,
    payload: TimerPayload,
}

/// The greatest of a heap is the one that is due first.
impl Ord for WaitingTimer {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}

impl PartialOrd for WaitingTimer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Timers {
    fn set(&mut self, at: GameTime, payload: TimerPayload) -> Result<(), TimerError> {
        if self.waiting.len() >= MAX_TIMERS {
            return Err(TimerError::TooMany);
        }
        let bytes = payload.len();
        if bytes > MAX_TIMER_BYTES {
            return Err(TimerError::TooLong { bytes });
        }
        let earliest = self.delivering.map(|due| due + SHORTEST_DELAY);
        self.count += 1;
        self.waiting.push(WaitingTimer {
            at: at.max(earliest.unwrap_or(at)),
            sequence: self.count,
            payload,
        });
        Ok(())
    }

    fn pop_due(&mut self, now: GameTime) -> Option<DueTimer> {
        let is_due = self.waiting.peek().is_some_and(|timer| timer.at <= now);
        let due = is_due.then(|| self.waiting.pop()).flatten();
        self.delivering = due.as_ref().map(|timer| timer.at);
        due.map(|WaitingTimer { at, payload, .. }| DueTimer { at, payload })
    }

    /// The data to save: the same for the same timers, whatever the heap's order.
    pub(super) fn to_saved(&self) -> impl Serialize + '_ {
        let mut waiting: Vec<_> = self
            .waiting
            .iter()
            .map(|timer| (timer.at, timer.sequence, timer.payload.as_slice()))
            .collect();
        waiting.sort_unstable_by_key(|&(at, sequence, _)| (at, sequence));
        (waiting, self.count)
    }

    /// Restores saved timers. `None` if the data is inconsistent.
    pub(super) fn from_saved((waiting, count): SavedTimers) -> Option<Self> {
        let fits = waiting.len() <= MAX_TIMERS
            && waiting.iter().all(|(_, sequence, payload)| {
                *sequence <= count && payload.len() <= MAX_TIMER_BYTES
            });
        let timer = |(at, sequence, payload): (GameTime, u64, Vec<u8>)| WaitingTimer {
            at,
            sequence,
            payload: SmallVec::from_vec(payload),
        };
        fits.then(|| Self {
            waiting: waiting.into_iter().map(timer).collect(),
            count,
            delivering: None,
        })
    }
}

impl World {
    /// Sets a timer: the room gives `payload` back to the game
    /// ([`Game::timer`](crate::logic::game::Game::timer)) at the first tick whose horizon is not
    /// before `at`.
    pub fn set_timer(&mut self, at: GameTime, payload: TimerPayload) -> Result<(), TimerError> {
        self.timers.set(at, payload)
    }

    /// The payloads of all timers that wait, in no order: a game checks after a restore that it can
    /// read them.
    pub fn timer_payloads(&self) -> impl Iterator<Item = &[u8]> {
        self.timers.waiting.iter().map(|timer| timer.payload.as_slice())
    }

    /// Removes the next timer that is due. The room calls this at the beginning of a tick, until
    /// there is none.
    pub fn pop_due_timer(&mut self) -> Option<DueTimer> {
        self.timers.pop_due(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_timers_come_in_the_order_of_time_then_of_setting() {
        let mut timers = Timers::default();
        for (at, byte) in [(20, 1), (20, 2), (10, 3), (30, 4)] {
            set(&mut timers, at, byte);
        }
        assert_eq!(due(&mut timers, 29), [(10, 3), (20, 1), (20, 2)]);
        assert_eq!(due(&mut timers, 30), [(30, 4)]);
    }

    #[test]
    fn a_timer_that_sets_itself_again_is_not_delivered_forever() {
        let mut timers = Timers::default();
        set(&mut timers, 10, 7);
        let mut times = Vec::new();
        while let Some(timer) = timers.pop_due(GameTime::from_millis(13)) {
            times.push(timer.at.millis());
            set(&mut timers, 0, 7);
        }
        assert_eq!(times, [10, 11, 12, 13]);
        // Between ticks there is nothing to come after.
        set(&mut timers, 0, 8);
        assert_eq!(due(&mut timers, 13), [(0, 8)]);
    }

    #[test]
    fn timers_that_are_too_many_or_too_long_are_refused() {
        let mut timers = Timers::default();
        let long = SmallVec::from_elem(0, MAX_TIMER_BYTES + 1);
        assert_eq!(timers.set(GameTime::ZERO, long), Err(TimerError::TooLong { bytes: 513 }));
        for _ in 0..MAX_TIMERS {
            set(&mut timers, 5, 0);
        }
        assert_eq!(timers.set(GameTime::ZERO, SmallVec::new()), Err(TimerError::TooMany));
    }

    #[test]
    fn restored_timers_go_on_in_the_same_order() {
        let mut timers = Timers::default();
        for (at, byte) in [(20, 1), (10, 2), (20, 3)] {
            set(&mut timers, at, byte);
        }
        let bytes = crate::saved::section(&timers.to_saved());
        let saved = crate::saved::only_section(&bytes).expect("the bytes were just written");
        let mut restored = Timers::from_saved(saved).expect("the saved timers are valid");
        for timers in [&mut timers, &mut restored] {
            set(timers, 20, 4);
            assert_eq!(due(timers, 20), [(10, 2), (20, 1), (20, 3), (20, 4)]);
        }
        let ahead_of_count = (vec![(GameTime::ZERO, 2, Vec::new())], 1);
        assert!(Timers::from_saved(ahead_of_count).is_none());
    }

    fn set(timers: &mut Timers, at: u64, byte: u8) {
        timers
            .set(GameTime::from_millis(at), SmallVec::from_slice(&[byte]))
            .expect("there is room for a timer");
    }

    fn due(timers: &mut Timers, now: u64) -> Vec<(u64, u8)> {
        let pop = || timers.pop_due(GameTime::from_millis(now));
        std::iter::from_fn(pop).map(|timer| (timer.at.millis(), timer.payload[0])).collect()
    }
}
