//! The player's controls, sampled: a stream of changes that survives loss.
//!
//! What is held goes in as often as it changes, datagrams take samples of it. A sample is what is
//! held, and what was pressed since the sample before and has come up again. One unlike the sample
//! before it is a *change*, and goes along with each datagram until one that carried it is
//! confirmed.
//!
//! Invariants:
//! 1. Samples have different times, in rising order.
//! 2. What goes down and comes up is seen to do so, one sample after the other: a key that is
//!    pressed anew before a sample could say that it had come up waits for the next one. (Once;
//!    what is faster than two samples is lost.)
//! 3. At most [`MAX_CHANGES`] wait. Of more, the oldest two become one, at the time of the later,
//!    with the keys of both: a press may then be told late, and a release and press in between be
//!    missed, but nothing counts twice.
//!
//! Source: reference 000 for the OR over what was pressed, 002 for repeating until it is confirmed.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::keymap::{Keymap, Sample};
use ambit_proto::message::{Input, MAX_CHANGE_AGE, MAX_CHANGES};
use ambit_proto::time::GameTime;

const MILLISECOND: Duration = Duration::from_millis(1);

/// See the module.
#[derive(Debug, Default)]
pub struct Samples {
    held: Keymap,
    /// Went down since the last sample was taken, or before it and it could not say so.
    tapped: Keymap,
    last: Option<Sample>,
    /// What was held before the oldest change that waits.
    base: Keymap,
    /// Changes that are not known to have arrived, the oldest first.
    waiting: VecDeque<Change>,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    sample: Sample,
    /// The first datagram that carried it.
    told: Option<Seq>,
}

impl Samples {
    /// From now on these are held.
    pub fn hold(&mut self, keys: Keymap) {
        self.tapped.0 |= keys.0 & !self.held.0;
        self.held = keys;
    }

    /// Whether a sample would be a change.
    pub fn is_due(&self) -> bool {
        self.next_keys() != self.last_keys()
    }

    /// Whether everything is known to have arrived.
    pub fn is_settled(&self) -> bool {
        self.waiting.is_empty() && !self.is_due()
    }

    /// Takes a sample for a datagram that leaves now; and tells whether it is a change.
    pub fn take(&mut self, now: GameTime) -> (Input, Option<Sample>) {
        let (before, keys) = (self.last_keys(), self.next_keys());
        let after_last = self
            .last
            .map_or(GameTime::ZERO, |last| last.at + MILLISECOND);
        let sample = Sample {
            at: now.whole_millis().max(after_last),
            keys,
        };
        self.tapped.0 &= before.0;
        self.last = Some(sample);
        if keys != before {
            self.waiting.push_back(Change { sample, told: None });
        }
        self.bound(sample.at);
        let changes = self.waiting.iter().map(|change| change.sample);
        (
            Input::with_changes(sample.at, self.base, changes),
            (keys != before).then_some(sample),
        )
    }

    /// What the next samples will say, if a datagram leaves at `now` and another one `then`:
    /// changes that are yet to be told.
    pub fn coming(&self, now: GameTime, then: GameTime) -> [Option<Sample>; 2] {
        let (before, keys) = (self.last_keys(), self.next_keys());
        let after_last = self
            .last
            .map_or(GameTime::ZERO, |last| last.at + MILLISECOND);
        let next = Sample {
            at: now.whole_millis().max(after_last),
            keys,
        };
        let last = Sample {
            at: then.whole_millis().max(next.at + MILLISECOND),
            keys: self.held,
        };
        [
            Some(next).filter(|_| keys != before),
            Some(last).filter(|_| self.held != keys),
        ]
    }

    /// The datagram for which the last sample was taken has left.
    pub fn note_sent(&mut self, seq: Seq) {
        for change in self
            .waiting
            .iter_mut()
            .rev()
            .take_while(|change| change.told.is_none())
        {
            change.told = Some(seq);
        }
    }

    /// The host has received that datagram.
    pub fn handle_acked(&mut self, seq: Seq) {
        let arrived = |change: &Change| change.told.is_some_and(|first| !first.newer_than(seq));
        while self.waiting.front().is_some_and(arrived) {
            self.give_up_oldest();
        }
    }

    /// A key that is to be pressed anew has to come up first.
    fn next_keys(&self) -> Keymap {
        let pressed_anew = self.tapped.0 & self.last_keys().0;
        Keymap((self.held.0 | self.tapped.0) & !pressed_anew)
    }

    fn last_keys(&self) -> Keymap {
        self.last.map_or(Keymap::default(), |last| last.keys)
    }

    fn bound(&mut self, now: GameTime) {
        while self
            .waiting
            .front()
            .is_some_and(|oldest| now.since(oldest.sample.at) > MAX_CHANGE_AGE)
        {
            self.give_up_oldest();
        }
        if self.waiting.len() > MAX_CHANGES
            && let (Some(oldest), Some(later)) =
                (self.waiting.pop_front(), self.waiting.front_mut())
        {
            later.sample.keys.0 |= oldest.sample.keys.0;
        }
    }

    fn give_up_oldest(&mut self) {
        if let Some(change) = self.waiting.pop_front() {
            self.base = change.sample.keys;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Keymap = Keymap(1);
    const B: Keymap = Keymap(2);
    const NONE: Keymap = Keymap(0);

    #[test]
    fn a_tap_between_two_samples_is_told_and_then_that_it_is_over() {
        let mut samples = Samples::default();
        samples.hold(A);
        samples.hold(NONE);
        assert!(samples.is_due());
        let coming = |samples: &Samples| {
            let coming = samples.coming(GameTime::from_millis(10), GameTime::from_millis(26));
            coming.map(|sample| sample.map(|sample| (sample.at.millis(), sample.keys.0)))
        };
        assert_eq!(coming(&samples), [Some((10, 1)), Some((26, 0))]);
        assert_eq!(take(&mut samples, 10), [(10, 1)]);
        assert_eq!(coming(&samples), [Some((11, 0)), None]);
        assert!(samples.is_due());
        assert_eq!(take(&mut samples, 26), [(10, 1), (26, 0)]);
        assert!(!samples.is_due());
    }

    #[test]
    fn a_key_that_is_pressed_anew_comes_up_first() {
        let mut samples = Samples::default();
        samples.hold(A);
        take(&mut samples, 10);
        samples.hold(NONE);
        samples.hold(A);
        take(&mut samples, 20);
        assert_eq!(take(&mut samples, 30), [(10, 1), (20, 0), (30, 1)]);
        // A second tap, right after one that no sample has seen the end of.
        samples.hold(Keymap(3));
        samples.hold(A);
        take(&mut samples, 40);
        samples.hold(Keymap(3));
        take(&mut samples, 50);
        assert_eq!(take(&mut samples, 60)[3..], [(40, 3), (50, 1), (60, 3)]);
    }

    #[test]
    fn a_change_is_repeated_until_a_datagram_that_told_it_is_confirmed() {
        let mut samples = Samples::default();
        samples.hold(A);
        take(&mut samples, 10);
        samples.note_sent(Seq(4));
        samples.hold(B);
        take(&mut samples, 30);
        samples.note_sent(Seq(5));
        samples.handle_acked(Seq(3));
        assert_eq!(take(&mut samples, 50), [(10, 1), (30, 2)]);
        samples.note_sent(Seq(6));
        samples.handle_acked(Seq(4));
        assert_eq!(take(&mut samples, 70), [(30, 2)]);
        samples.handle_acked(Seq(6));
        assert!(take(&mut samples, 90).is_empty() && samples.is_settled());
    }

    #[test]
    fn of_too_many_the_oldest_become_one_and_the_newest_are_as_they_were() {
        let mut samples = Samples::default();
        for number in 0..100 {
            samples.hold(Keymap(1 << (number % 8)));
            let told = take(&mut samples, 10 * number + 5);
            assert!(told.len() <= MAX_CHANGES);
            assert_eq!(told.last(), Some(&(10 * number + 5, 1 << (number % 8))));
        }
        // And such as are too old are given up.
        assert!(take(&mut samples, 100_000).is_empty());
        assert!(samples.is_settled());
    }

    #[test]
    fn times_of_samples_rise_even_if_the_clock_stands() {
        let mut samples = Samples::default();
        for keys in [A, B, NONE] {
            samples.hold(keys);
            take(&mut samples, 10);
        }
        assert_eq!(take(&mut samples, 7), [(10, 1), (11, 2), (12, 0)]);
    }

    /// What a datagram says that leaves now, but for the sample behind the changes.
    fn take(samples: &mut Samples, ms: u64) -> Vec<(u64, u32)> {
        let now = GameTime::from_millis(ms);
        let (input, _) = samples.take(now);
        let mut told: Vec<_> = input
            .samples(now)
            .map(|sample| (sample.at.millis(), sample.keys.0))
            .collect();
        told.pop();
        told
    }
}
