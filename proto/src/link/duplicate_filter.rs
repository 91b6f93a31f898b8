//! Detects copies of delivered messages, so that each message is delivered once.
//!
//! Why a window of [`MESSAGE_WINDOW`] ids is enough: a sender assigns ids in order and has fewer
//! than a window between its oldest unfinished message and its newest one. Let message `m` arrive
//! here when the newest received id is `n`, with `n - m` a window or more. When `n` was first sent,
//! `m` was finished: acknowledged, hence delivered, or expired. So every id behind the window is
//! refused, and no refused message was undelivered and still valid. Each id in the window has a
//! bit, which is cleared when the window reaches it. An id ahead of `n` is always new. Its distance
//! does not matter (all ids between may have expired) as long as it is less than 2^31: ids have 32
//! bits, so an old id never looks new, however long its datagram was delayed.

use super::MESSAGE_WINDOW;

const WORDS: usize = MESSAGE_WINDOW as usize / 64;

#[derive(Clone, Debug, Default)]
pub(super) struct DuplicateFilter {
    newest: Option<u32>,
    /// One bit for each id of the window, at the id modulo its length: delivered.
    delivered: [u64; WORDS],
}

impl DuplicateFilter {
    /// Records an id. Returns whether this is its first copy.
    pub(super) fn insert(&mut self, id: u32) -> bool {
        let newest = *self.newest.get_or_insert(id);
        let ahead = id.wrapping_sub(newest);
        if ahead.cast_signed() > 0 {
            self.advance(newest, ahead);
            self.newest = Some(id);
        } else if newest.wrapping_sub(id) >= MESSAGE_WINDOW || self.is_delivered(id) {
            return false;
        }
        self.delivered[word_of(id)] |= bit_of(id);
        true
    }

    fn advance(&mut self, newest: u32, steps: u32) {
        if steps >= MESSAGE_WINDOW {
            self.delivered = [0; WORDS];
            return;
        }
        for step in 1..=steps {
            let id = newest.wrapping_add(step);
            self.delivered[word_of(id)] &= !bit_of(id);
        }
    }

    fn is_delivered(&self, id: u32) -> bool {
        self.delivered[word_of(id)] & bit_of(id) != 0
    }
}

fn word_of(id: u32) -> usize {
    (id % MESSAGE_WINDOW / 64) as usize
}

fn bit_of(id: u32) -> u64 {
    1 << (id % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_filter_matches_a_set_in_its_window_and_refuses_older_ids() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut filter = DuplicateFilter::default();
            let mut delivered = BTreeSet::new();
            let mut head = i64::from(u32::MAX) - 3_000;
            for _ in 0..20_000 {
                head += [0, 0, 1, 3, 200][rng.usize(0..5)];
                let number = head - rng.i64(0..1_500);
                let newest: i64 = delivered.last().copied().unwrap_or(number);
                let expected =
                    number > newest - i64::from(MESSAGE_WINDOW) && !delivered.contains(&number);
                assert_eq!(
                    filter.insert(number as u32),
                    expected,
                    "seed {seed}, {number} after {newest}"
                );
                if expected {
                    delivered.insert(number);
                }
            }
        }
    }

    #[test]
    fn a_jump_forward_forgets_ids_behind_the_window() {
        let mut filter = DuplicateFilter::default();
        assert!(filter.insert(5));
        assert!(filter.insert(5 + MESSAGE_WINDOW));
        assert!(!filter.insert(5));
        assert!(filter.insert(6));
        assert!(filter.insert(2_000_000_000));
        assert!(!filter.insert(6));
    }
}
