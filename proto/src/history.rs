//! The last states of something, by their time.
//!
//! A ring of fixed capacity. A push into a full ring removes the oldest entry and reuses its
//! storage, so a history of buffers allocates nothing once it is full.
//!
//! Invariants: times increase strictly; exactly the newest `capacity` entries are present. Cost: a
//! push is constant, a search by time logarithmic.

use crate::time::GameTime;

/// States by time, oldest first.
#[derive(Clone, Debug)]
pub struct History<T> {
    /// Grows up to `capacity`, then keeps its length.
    entries: Vec<(GameTime, T)>,
    /// Index of the oldest entry. 0 until the ring is full.
    oldest: usize,
    capacity: usize,
}

impl<T: Default> History<T> {
    /// Empty, for `capacity` entries (at least 1).
    pub fn new(capacity: usize) -> Self {
        let capacity = capacity.max(1);
        Self {
            entries: Vec::with_capacity(capacity),
            oldest: 0,
            capacity,
        }
    }

    /// Adds an entry. The returned value is recycled: it holds the state that was pushed `capacity`
    /// entries ago (or a default), and the caller overwrites it.
    ///
    /// # Panics
    /// If `time` is not after the last entry's.
    pub fn push(&mut self, time: GameTime) -> &mut T {
        assert!(
            self.last().is_none_or(|(last, _)| last < time),
            "{time:?} does not come after the last entry"
        );
        let index = if self.entries.len() < self.capacity {
            self.entries.push((time, T::default()));
            self.entries.len() - 1
        } else {
            let index = self.oldest;
            self.oldest = (self.oldest + 1) % self.capacity;
            self.entries[index].0 = time;
            index
        };
        &mut self.entries[index].1
    }

    /// The newest entry.
    pub fn last(&self) -> Option<(GameTime, &T)> {
        self.len().checked_sub(1).map(|age| self.nth(age))
    }

    /// The entries at or after `time`, oldest first.
    pub fn since(
        &self,
        time: GameTime,
    ) -> impl DoubleEndedIterator<Item = (GameTime, &T)> + ExactSizeIterator {
        (self.count_before(|entry| entry < time)..self.len()).map(|index| self.nth(index))
    }

    /// The newest entry that is not after `time`.
    pub fn at_or_before(&self, time: GameTime) -> Option<(GameTime, &T)> {
        self.count_before(|entry| entry <= time)
            .checked_sub(1)
            .map(|index| self.nth(index))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The highest number of entries.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// The entry at `index`, counted from the oldest.
    fn nth(&self, index: usize) -> (GameTime, &T) {
        let (time, value) = &self.entries[(self.oldest + index) % self.entries.len()];
        (*time, value)
    }

    /// How many entries, from the oldest on, are `early`.
    fn count_before(&self, early: impl Fn(GameTime) -> bool) -> usize {
        let (newer, older) = self.entries.split_at(self.oldest);
        let count = |part: &[(GameTime, T)]| part.partition_point(|(time, _)| early(*time));
        let in_older = count(older);
        if in_older < older.len() {
            in_older
        } else {
            in_older + count(newer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> GameTime {
        GameTime::from_millis(millis)
    }

    #[test]
    fn a_history_agrees_with_a_plain_list() {
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let capacity = rng.usize(1..12);
            let mut history = History::new(capacity);
            let mut list: Vec<(GameTime, u64)> = Vec::new();
            let mut now = 0;
            for _ in 0..40 {
                now += rng.u64(1..5);
                *history.push(at(now)) = now;
                list.push((at(now), now));
                list.drain(..list.len().saturating_sub(capacity));
                check(&history, &list, at(rng.u64(..=now + 2)), seed);
            }
        }
    }

    fn check(history: &History<u64>, list: &[(GameTime, u64)], time: GameTime, seed: u64) {
        let by_value = |(time, value): (GameTime, &u64)| (time, *value);
        assert_eq!(history.len(), list.len(), "seed {seed}");
        assert_eq!(
            history.last().map(by_value),
            list.last().copied(),
            "seed {seed}"
        );
        let since: Vec<_> = list
            .iter()
            .copied()
            .filter(|entry| entry.0 >= time)
            .collect();
        assert_eq!(
            history.since(time).map(by_value).collect::<Vec<_>>(),
            since,
            "seed {seed}, {time:?}"
        );
        let before = list.iter().copied().rfind(|entry| entry.0 <= time);
        assert_eq!(
            history.at_or_before(time).map(by_value),
            before,
            "seed {seed}, {time:?}"
        );
    }

    #[test]
    fn storage_is_reused_once_the_history_is_full() {
        let mut history: History<Vec<u8>> = History::new(2);
        *history.push(at(1)) = Vec::with_capacity(100);
        history.push(at(2));
        assert!(history.push(at(3)).capacity() >= 100);
    }

    #[test]
    fn an_empty_history_has_no_entries() {
        let history: History<u8> = History::new(0);
        assert!(history.is_empty());
        assert_eq!(history.capacity(), 1);
        assert_eq!(history.last(), None);
        assert_eq!(history.at_or_before(GameTime::MAX), None);
        assert_eq!(history.since(GameTime::ZERO).len(), 0);
    }

    #[test]
    #[should_panic(expected = "does not come after")]
    fn a_time_that_does_not_increase_panics() {
        let mut history: History<u8> = History::new(3);
        history.push(at(5));
        history.push(at(5));
    }
}
