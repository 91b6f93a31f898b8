//! Samples of the player's controls: a stream of changes that survives loss.
//!
//! The held keys go in whenever they change; each datagram takes a sample. A sample contains the
//! held keys and the keys that were pressed and released since the sample before. A sample that
//! differs from the one before is a *change*; each datagram repeats it until one that carried it is
//! acknowledged.
//!
//! Axes go in, too. Each sample has their newest values, and no change has any: values in between
//! need not arrive. They are *settled* once a datagram with these values is acknowledged.
//!
//! Invariants:
//! 1. Sample times rise strictly.
//! 2. Each press and release shows in successive samples: a key that is pressed again before a
//!    sample could show its release waits for the next sample. (Once; anything faster than two
//!    samples is lost.)
//! 3. At most [`MAX_CHANGES`] are pending. Beyond it the oldest two merge into one, at the time of
//!    the later one and with the keys of both: a press may then take effect late, and a release and
//!    press between them may be missed, but nothing counts twice.
//!
//! Source: "Synchronisation par le reseau d'un monde virtuel sur Unity" for the OR over pressed
//! keys; G. Fiedler, "State Synchronization", for repeating until acknowledged.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::axes::Axes;
use ambit_proto::ids::Seq;
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::message::{KeyInput, MAX_CHANGE_AGE, MAX_CHANGES};
use ambit_proto::time::GameTime;

const MILLISECOND: Duration = Duration::from_millis(1);

/// Samples the controls; see the module.
#[derive(Debug, Default)]
pub(crate) struct InputSampler {
    held: Keymap,
    /// Keys pressed since the last sample, or before it if it could not show the press.
    pressed_since_sample: Keymap,
    last: Option<KeySample>,
    /// The keys held before the oldest pending change.
    baseline: Keymap,
    /// Unconfirmed changes, oldest first.
    pending_changes: VecDeque<PendingChange>,
    /// `None` until they are set for the first time: the host may have others.
    axes: Option<Axes>,
    axes_state: AxesState,
}

/// What the host knows of the newest values of the axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AxesState {
    #[default]
    Settled,
    /// No sample has them.
    Changed,
    /// A sample has them, which is about to leave.
    Sampled,
    /// The first datagram that carried them.
    SentIn(Seq),
}

#[derive(Clone, Copy, Debug)]
struct PendingChange {
    sample: KeySample,
    /// The first datagram that carried it.
    first_sent_in: Option<Seq>,
}

impl InputSampler {
    /// Sets the held keys.
    pub(crate) fn hold(&mut self, keys: Keymap) {
        self.pressed_since_sample.0 |= keys.0 & !self.held.0;
        self.held = keys;
    }

    /// Sets the axes.
    pub(crate) fn set_axes(&mut self, axes: Axes) {
        if self.axes.replace(axes) != Some(axes) {
            self.axes_state = AxesState::Changed;
        }
    }

    /// Whether the host may not know the newest values of the axes.
    pub(crate) fn are_axes_pending(&self) -> bool {
        self.axes_state != AxesState::Settled
    }

    /// The newest axes, if no sample has them.
    pub(crate) fn unsampled_axes(&self) -> Option<Axes> {
        self.axes.filter(|_| self.axes_state == AxesState::Changed)
    }

    /// Whether a sample would be a change.
    pub(crate) fn is_due(&self) -> bool {
        self.next_keys() != self.last_keys()
    }

    /// Whether everything is confirmed.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending_changes.is_empty() && !self.is_due() && !self.are_axes_pending()
    }

    /// Sets the axis that says what the client shows; samples that leave anyway have it.
    pub(crate) fn show_behind(&mut self, axis: usize, step: i8) {
        self.axes.get_or_insert_default().0[axis] = step;
    }

    /// Takes a sample for a datagram that leaves now. Returns the sample, too, if it is a change.
    pub(crate) fn take_sample(&mut self, now: GameTime) -> (KeyInput, Option<KeySample>) {
        let before = self.last_keys();
        let keys = self.next_keys();
        let after_last = self.last.map_or(GameTime::ZERO, |last| last.at + MILLISECOND);
        let sample = KeySample::new(now.whole_millis().max(after_last), keys);
        if self.axes_state == AxesState::Changed {
            self.axes_state = AxesState::Sampled;
        }
        self.pressed_since_sample.0 &= before.0;
        self.last = Some(sample);
        if keys != before {
            self.pending_changes.push_back(PendingChange { sample, first_sent_in: None });
        }
        self.limit_pending(sample.at);
        let changes = self.pending_changes.iter().map(|change| change.sample);
        let input = KeyInput::with_changes(sample.at, self.baseline, changes);
        (input.with_axes(self.axes), (keys != before).then_some(sample))
    }

    /// The changes that the next samples will contain, if a datagram leaves at `now` and another
    /// one at `then`.
    pub(crate) fn upcoming(&self, now: GameTime, then: GameTime) -> [Option<KeySample>; 2] {
        let before = self.last_keys();
        let keys = self.next_keys();
        let after_last = self.last.map_or(GameTime::ZERO, |last| last.at + MILLISECOND);
        let next = KeySample::new(now.whole_millis().max(after_last), keys);
        let last = KeySample::new(then.whole_millis().max(next.at + MILLISECOND), self.held);
        [Some(next).filter(|_| keys != before), Some(last).filter(|_| self.held != keys)]
    }

    /// The datagram with the last sample has left.
    pub(crate) fn note_sent(&mut self, seq: Seq) {
        for change in self
            .pending_changes
            .iter_mut()
            .rev()
            .take_while(|change| change.first_sent_in.is_none())
        {
            change.first_sent_in = Some(seq);
        }
        if self.axes_state == AxesState::Sampled {
            self.axes_state = AxesState::SentIn(seq);
        }
    }

    /// The host has received that datagram.
    pub(crate) fn handle_acked(&mut self, seq: Seq) {
        let arrived = |change: &PendingChange| {
            change.first_sent_in.is_some_and(|first| !first.newer_than(seq))
        };
        while self.pending_changes.front().is_some_and(arrived) {
            self.drop_oldest();
        }
        if let AxesState::SentIn(first) = self.axes_state
            && !first.newer_than(seq)
        {
            self.axes_state = AxesState::Settled;
        }
    }

    /// A key that is pressed again must show as released first.
    fn next_keys(&self) -> Keymap {
        let pressed_anew = self.pressed_since_sample.0 & self.last_keys().0;
        Keymap((self.held.0 | self.pressed_since_sample.0) & !pressed_anew)
    }

    fn last_keys(&self) -> Keymap {
        self.last.map_or(Keymap::default(), |last| last.keys)
    }

    fn limit_pending(&mut self, now: GameTime) {
        while self
            .pending_changes
            .front()
            .is_some_and(|oldest| now.since(oldest.sample.at) > MAX_CHANGE_AGE)
        {
            self.drop_oldest();
        }
        if self.pending_changes.len() > MAX_CHANGES
            && let (Some(oldest), Some(later)) =
                (self.pending_changes.pop_front(), self.pending_changes.front_mut())
        {
            later.sample.keys.0 |= oldest.sample.keys.0;
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(change) = self.pending_changes.pop_front() {
            self.baseline = change.sample.keys;
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
    fn a_tap_between_two_samples_is_sent_as_press_and_release() {
        let mut samples = InputSampler::default();
        samples.hold(A);
        samples.hold(NONE);
        assert!(samples.is_due());
        let upcoming = |samples: &InputSampler| {
            let upcoming = samples.upcoming(GameTime::from_millis(10), GameTime::from_millis(26));
            upcoming.map(|sample| sample.map(|sample| (sample.at.millis(), sample.keys.0)))
        };
        assert_eq!(upcoming(&samples), [Some((10, 1)), Some((26, 0))]);
        assert_eq!(take(&mut samples, 10), [(10, 1)]);
        assert_eq!(upcoming(&samples), [Some((11, 0)), None]);
        assert!(samples.is_due());
        assert_eq!(take(&mut samples, 26), [(10, 1), (26, 0)]);
        assert!(!samples.is_due());
    }

    #[test]
    fn a_key_pressed_again_is_released_first() {
        let mut samples = InputSampler::default();
        samples.hold(A);
        take(&mut samples, 10);
        samples.hold(NONE);
        samples.hold(A);
        take(&mut samples, 20);
        assert_eq!(take(&mut samples, 30), [(10, 1), (20, 0), (30, 1)]);
        // A second tap directly after the first, whose release is in no sample yet.
        samples.hold(Keymap(3));
        samples.hold(A);
        take(&mut samples, 40);
        samples.hold(Keymap(3));
        take(&mut samples, 50);
        assert_eq!(take(&mut samples, 60)[3..], [(40, 3), (50, 1), (60, 3)]);
    }

    #[test]
    fn a_change_is_repeated_until_a_datagram_with_it_is_acknowledged() {
        let mut samples = InputSampler::default();
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
    fn axes_are_in_each_sample_and_settle_with_an_acknowledgement() {
        let mut samples = InputSampler::default();
        let sampled = |samples: &mut InputSampler, ms| {
            let (input, change) = samples.take_sample(GameTime::from_millis(ms));
            assert!(change.is_none() && !input.has_changes() && !samples.is_due());
            input.axes
        };
        assert_eq!(sampled(&mut samples, 10), None);
        let [first, second] = [Axes([1, 0, 0, 0]), Axes([2, -2, 0, 0])];
        samples.set_axes(first);
        assert_eq!(sampled(&mut samples, 20), Some(first));
        samples.note_sent(Seq(5));
        samples.set_axes(second);
        samples.handle_acked(Seq(5));
        assert!(samples.are_axes_pending(), "the acknowledged values are older");
        assert_eq!(sampled(&mut samples, 30), Some(second));
        samples.note_sent(Seq(6));
        assert_eq!(sampled(&mut samples, 40), Some(second));
        samples.note_sent(Seq(7));
        samples.handle_acked(Seq(5));
        assert!(!samples.is_settled());
        samples.handle_acked(Seq(7));
        assert!(samples.is_settled(), "a later datagram has them, too");
        samples.set_axes(second);
        assert!(samples.is_settled());
        assert_eq!(sampled(&mut samples, 50), Some(second));
    }

    #[test]
    fn excess_changes_merge_the_oldest_and_keep_the_newest() {
        let mut samples = InputSampler::default();
        for number in 0..100 {
            samples.hold(Keymap(1 << (number % 8)));
            let sent = take(&mut samples, 10 * number + 5);
            assert!(sent.len() <= MAX_CHANGES);
            assert_eq!(sent.last(), Some(&(10 * number + 5, 1 << (number % 8))));
        }
        // Changes that are too old are dropped.
        assert!(take(&mut samples, 100_000).is_empty());
        assert!(samples.is_settled());
    }

    #[test]
    fn sample_times_increase_even_if_the_clock_does_not() {
        let mut samples = InputSampler::default();
        for keys in [A, B, NONE] {
            samples.hold(keys);
            take(&mut samples, 10);
        }
        assert_eq!(take(&mut samples, 7), [(10, 1), (11, 2), (12, 0)]);
    }

    /// The changes in a datagram that leaves now, without the sample after them.
    fn take(samples: &mut InputSampler, ms: u64) -> Vec<(u64, u32)> {
        let now = GameTime::from_millis(ms);
        let (input, _) = samples.take_sample(now);
        let mut sent: Vec<_> =
            input.samples(now).map(|sample| (sample.at.millis(), sample.keys.0)).collect();
        sent.pop();
        sent
    }
}
