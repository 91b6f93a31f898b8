//! When to send inputs: 20 or 60 times a second, together with acknowledgements.
//!
//! Keys and the time go in; whether a datagram is due and its input come out. While inputs are
//! sent, each datagram carries a sample of the keys and all unconfirmed changes
//! ([`super::input_sampler`]). It asks for an acknowledgement only if there are such changes, or if
//! the host may not know the axes. Once all keys are released and the host has confirmed that, and
//! the axes, no more inputs are sent.
//!
//! A change of an axis is not sent at once, as that of a key is: it waits for the next datagram
//! that is due. So an axis that moves all the time causes no more datagrams than a held key.
//!
//! Phase: the host sends once a tick, and its datagrams want an acknowledgement. When one is owed,
//! a datagram that is due soon (within [`MAX_EARLY`]) leaves [`ACK_DELAY`] after the host's. While
//! the host sends, a due datagram waits up to [`MAX_LATE`] for the next tick to arrive. So the
//! client's datagrams synchronise with the host's ticks, half a tick behind them, and
//! acknowledgements need no datagrams of their own in either direction: the link and QUIC delay an
//! acknowledgement by 25 ms at most, the client's datagram leaves after 24 ms, and the host's next
//! tick follows 26 ms later, less the round trip.
//!
//! A client that sends more often than the host ticks does not wait for ticks.
//!
//! While the line loses datagrams, one with a change of keys is followed by another one
//! [`REPEATED_AFTER`] later, which says the same: mostly one of the two is in time for the tick, so
//! what the client predicts happens.
//!
//! Invariant: at 20 Hz, two datagrams that these rules cause are [`MAX_EARLY`] to 50 ms plus
//! [`MAX_LATE`] apart, except that a change of keys is sent at once, and perhaps again. That makes
//! 20 a second for a host of 20 ticks a second, and up to 30 for a faster one.

use std::time::Duration;

use ambit_proto::axes::Axes;
use ambit_proto::ids::Seq;
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::message::{EffectTime, KeyInput};
use ambit_proto::time::{GameTime, LocalTime};

use super::config::InputRate;
use super::input_sampler::InputSampler;
use super::own_inputs::OwnInputHistory;

/// How much earlier a datagram may leave to carry an acknowledgement.
const MAX_EARLY: Duration = Duration::from_millis(25);
/// Time from the host's datagram to the one that carries its acknowledgement: slightly less than
/// QUIC and the link wait, and otherwise as long as possible, so that the host's own
/// acknowledgements can wait for its next tick.
const ACK_DELAY: Duration = Duration::from_millis(24);
/// How much later a datagram may leave to meet the next tick: the usual jitter of ticks and
/// network.
const MAX_LATE: Duration = Duration::from_millis(10);
/// Long enough that whatever lost a datagram is over, and short for a tick of 60 Hz.
const REPEATED_AFTER: Duration = Duration::from_millis(3);
/// A host that sent something within this many ticks is taken to send in each tick.
const ACTIVE_HOST_TICKS: u32 = 2;

/// The keys and their send times.
#[derive(Debug)]
pub(crate) struct InputSender {
    /// Time between two ticks of the host.
    tick: Duration,
    /// Time between two datagrams.
    interval: Duration,
    state: SendState,
    sampler: InputSampler,
    own_inputs: OwnInputHistory,
    /// When a datagram last carried the keys, or was scheduled to.
    last_sent_at: Option<LocalTime>,
    /// Whether the next datagram has the first word of a change.
    has_change: bool,
    /// When such a datagram is repeated.
    repeat_at: Option<LocalTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendState {
    /// No inputs are sent.
    Idle,
    /// Keys may be held.
    Holding,
    /// All keys are released, but the host may not know that yet, or the axes.
    Released,
}

/// State of the link that the schedule depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkActivity {
    /// Whether the host is owed an acknowledgement.
    pub(crate) owes_ack: bool,
    /// When a datagram of the host last arrived.
    pub(crate) last_received_at: LocalTime,
    /// Whether datagrams to the host were lost of late.
    pub(crate) is_lossy: bool,
}

impl InputSender {
    /// Nothing to send, to a host of `tick_hz` ticks a second.
    pub(crate) fn new(tick_hz: u32, rate: InputRate) -> Self {
        let tick = Duration::from_secs(1) / tick_hz.max(1);
        let every = rate.interval();
        let samples = InputSampler::default();
        let own = OwnInputHistory::default();
        InputSender {
            tick,
            interval: every,
            state: SendState::Idle,
            sampler: samples,
            own_inputs: own,
            last_sent_at: None,
            has_change: false,
            repeat_at: None,
        }
    }

    /// Sets the held keys.
    pub(crate) fn hold(&mut self, keys: Keymap) {
        self.state = SendState::Holding;
        self.sampler.hold(keys);
    }

    /// Releases all keys; sending stops once the host knows.
    pub(crate) fn release(&mut self) {
        if self.state == SendState::Holding {
            self.state = SendState::Released;
            self.sampler.hold(Keymap::default());
            self.stop_if_settled();
        }
    }

    /// Sets the axes.
    pub(crate) fn set_axes(&mut self, axes: Axes) {
        self.sampler.set_axes(axes);
        if self.state == SendState::Idle && self.sampler.are_axes_pending() {
            self.state = SendState::Released;
        }
    }

    /// Whether the next input should be acknowledged, also without changes of keys.
    pub(crate) fn asks_for_ack(&self) -> bool {
        self.sampler.are_axes_pending()
    }

    /// The input for a datagram that leaves now, if any; [`InputSender::note_sent`] must follow.
    pub(crate) fn next_input(&mut self, room_now: GameTime) -> Option<KeyInput> {
        if self.state == SendState::Idle {
            return None;
        }
        let new_axes = self.sampler.unsampled_axes();
        let (input, change) = self.sampler.take_sample(room_now);
        if let Some(axes) = new_axes {
            self.own_inputs.add_axes(room_now, axes);
        }
        self.has_change = change.is_some();
        if let Some(sample) = change {
            self.own_inputs.add_sample(sample);
        }
        Some(input)
    }

    /// When a datagram is due.
    pub(crate) fn next_deadline(&self, activity: LinkActivity) -> Option<LocalTime> {
        if self.state == SendState::Idle {
            return None;
        }
        let planned = self.planned_deadline(activity);
        Some(self.repeat_at.map_or(planned, |repeat_at| planned.min(repeat_at)))
    }

    /// When the datagram before is repeated, if it is.
    pub(crate) fn repeat_at(&self) -> Option<LocalTime> {
        self.repeat_at
    }

    /// When a datagram is due that repeats nothing.
    fn planned_deadline(&self, activity: LinkActivity) -> LocalTime {
        let Some(sent) = self.last_sent_at.filter(|_| !self.sampler.is_due()) else {
            return LocalTime::ZERO;
        };
        let slack = if self.interval >= self.tick { MAX_LATE } else { Duration::ZERO };
        if activity.owes_ack {
            // If the host ticks faster than this client sends, follow every other tick at most.
            let earliest = sent + self.interval.saturating_sub(MAX_EARLY.min(self.tick / 2));
            return earliest
                .max(activity.last_received_at + ACK_DELAY.min(self.tick / 2))
                .min(sent + self.interval + slack);
        }
        let steady = sent.since(activity.last_received_at) < self.tick * ACTIVE_HOST_TICKS;
        sent + if steady { self.interval + slack } else { self.interval }
    }

    /// Whether a datagram is due.
    pub(crate) fn is_due(&self, now: LocalTime, activity: LinkActivity) -> bool {
        self.next_deadline(activity).is_some_and(|deadline| deadline <= now)
    }

    /// A datagram has left with the input of [`InputSender::next_input`]; `activity` is the state
    /// before.
    pub(crate) fn note_sent(&mut self, now: LocalTime, seq: Seq, activity: LinkActivity) {
        let is_repeat = self.repeat_at.take().is_some() && !self.has_change;
        if self.has_change && activity.is_lossy {
            self.repeat_at = Some(now + REPEATED_AFTER);
        }
        self.sampler.note_sent(seq);
        if is_repeat && now < self.planned_deadline(activity) {
            return;
        }
        // A datagram that waited for a tick in vain does not delay later ones.
        let planned =
            self.last_sent_at.filter(|_| !activity.owes_ack).map(|sent| sent + self.interval);
        self.last_sent_at = Some(
            planned.filter(|&planned| planned <= now && now <= planned + MAX_LATE).unwrap_or(now),
        );
    }

    /// The host has received that datagram.
    pub(crate) fn handle_acked(&mut self, seq: Seq) {
        self.sampler.handle_acked(seq);
        self.stop_if_settled();
    }

    /// The host has reported when inputs take effect.
    pub(crate) fn handle_effects(&mut self, effects: &[EffectTime]) {
        self.own_inputs.handle_effects(effects);
    }

    /// The recent inputs.
    pub(crate) fn own_inputs(&self) -> &OwnInputHistory {
        &self.own_inputs
    }

    /// Changes that no datagram has carried yet, if one leaves at `now` and another one at `then`.
    pub(crate) fn upcoming_samples(&self, now: GameTime, then: GameTime) -> [Option<KeySample>; 2] {
        if self.state == SendState::Idle { [None; 2] } else { self.sampler.upcoming(now, then) }
    }

    /// Sets the axis that says what the client shows.
    pub(crate) fn show_behind(&mut self, axis: usize, step: i8) {
        self.sampler.show_behind(axis, step);
    }

    /// Axes that no datagram has carried yet.
    pub(crate) fn unsampled_axes(&self) -> Option<Axes> {
        self.sampler.unsampled_axes()
    }

    fn stop_if_settled(&mut self) {
        if self.state == SendState::Released && self.sampler.is_settled() {
            self.state = SendState::Idle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Keymap = Keymap(0b100);

    #[test]
    fn held_keys_are_sent_at_20_hz_and_changes_at_once() {
        let mut harness = InputHarness::new(20);
        assert_eq!(harness.run_for(1_000, None), [0; 0]);
        harness.inputs.hold(UP);
        let sent = harness.run_for(1_000, None);
        assert_eq!((sent.len(), sent[0], sent[1]), (20, 1_000, 1_050));
        harness.inputs.hold(UP);
        assert_eq!(harness.run_for(40, None), [2_000]);
        harness.inputs.hold(Keymap(1));
        assert_eq!(harness.run_for(20, None), [2_040]);
    }

    #[test]
    fn at_60_hz_inputs_do_not_wait_for_ticks() {
        for (hz, phase) in [(20, None), (20, Some(7)), (60, Some(7)), (60, None)] {
            let mut harness = InputHarness::new(hz);
            harness.inputs = InputSender::new(hz, InputRate::Hz60);
            harness.inputs.hold(UP);
            let sent = harness.run_for(10_000, phase).len();
            assert!((560..=640).contains(&sent), "{sent} at {hz} Hz, {phase:?}");
        }
    }

    #[test]
    fn on_a_lossy_line_a_change_is_said_twice_and_nothing_else_is() {
        for (rate, every) in [(InputRate::Hz20, 50), (InputRate::Hz60, 16)] {
            let mut harness = InputHarness::new(60);
            harness.inputs = InputSender::new(60, rate);
            harness.activity.is_lossy = true;
            harness.inputs.hold(UP);
            let sent = harness.run_for(200, None);
            assert_eq!(sent[..2], [0, 3], "{rate:?}");
            // The rest is as without losses.
            assert!((every..=every + 11).contains(&sent[2]), "{sent:?}");
            assert!(sent.len() as u64 <= 200 / every + 2, "{sent:?}");
            harness.inputs.hold(Keymap(1));
            assert_eq!(harness.run_for(4, None), [200, 203], "{rate:?}");
        }
    }

    #[test]
    fn a_tap_between_two_datagrams_is_sent_as_press_and_release() {
        let mut harness = InputHarness::new(20);
        harness.inputs.hold(UP);
        harness.run_for(10, None);
        harness.inputs.hold(Keymap(0b101));
        harness.inputs.hold(UP);
        assert_eq!(harness.run_for(40, None), [10, 11]);
    }

    #[test]
    fn inputs_synchronise_with_host_ticks_at_any_phase() {
        for phase in 0..50 {
            let mut harness = InputHarness::new(20);
            harness.inputs.hold(UP);
            harness.run_for(500, Some(phase));
            let sent = harness.run_for(2_000, Some(phase));
            assert!(sent.iter().all(|ms| ms % 50 == (phase + 24) % 50), "phase {phase}: {sent:?}");
            assert_eq!(sent.len(), 40, "phase {phase}");
        }
    }

    #[test]
    fn a_faster_host_does_not_raise_the_input_rate_much() {
        for hz in [30, 40, 60] {
            let mut harness = InputHarness::new(hz);
            harness.inputs.hold(UP);
            let sent = harness.run_for(10_000, Some(0)).len();
            assert!((160..=310).contains(&sent), "{sent} at {hz} Hz");
        }
    }

    #[test]
    fn a_release_is_sent_until_acknowledged_and_nothing_after_it() {
        let mut harness = InputHarness::new(20);
        harness.inputs.hold(UP);
        harness.run_for(100, None);
        harness.inputs.release();
        assert_eq!(harness.run_for(200, None).len(), 4);
        assert!(harness.requests_ack);
        harness.inputs.handle_acked(Seq(1));
        assert_eq!(harness.run_for(100, None).len(), 2);
        harness.inputs.handle_acked(Seq(4));
        assert_eq!(harness.run_for(500, None).len(), 0);
        harness.inputs.release();
        assert_eq!(harness.run_for(500, None).len(), 0);
    }

    #[test]
    fn an_axis_that_moves_all_the_time_causes_no_more_datagrams_than_a_key() {
        for hz in [20, 60] {
            let sent = |moves: bool| {
                let mut harness = InputHarness::new(hz);
                harness.inputs.hold(UP);
                let mut sent = 0;
                for step in 0..10_000_u32 {
                    if moves {
                        harness.inputs.set_axes(Axes([step as i8, 0, 0, 0]));
                    }
                    sent += harness.run_for(1, Some(7)).len();
                }
                sent
            };
            assert_eq!(sent(true), sent(false), "{hz} Hz");
        }
        // With no key held, too.
        let mut harness = InputHarness::new(20);
        let mut sent = 0;
        for step in 0..1_000_u32 {
            harness.inputs.set_axes(Axes([step as i8, 0, 0, 0]));
            sent += harness.run_for(1, None).len();
        }
        assert_eq!(sent, 20);
    }

    #[test]
    fn an_axis_is_sent_until_acknowledged_and_nothing_after_it() {
        let mut harness = InputHarness::new(20);
        harness.inputs.set_axes(Axes([9, 0, 0, 0]));
        assert_eq!(harness.run_for(200, None).len(), 4);
        assert!(harness.inputs.asks_for_ack());
        harness.inputs.handle_acked(Seq(1));
        assert!(!harness.inputs.asks_for_ack());
        assert_eq!(harness.run_for(500, None), [0; 0]);
        harness.inputs.set_axes(Axes([9, 0, 0, 0]));
        assert_eq!(harness.run_for(500, None), [0; 0], "the host has this value");
        harness.inputs.hold(UP);
        harness.inputs.set_axes(Axes([8, 0, 0, 0]));
        harness.run_for(100, None);
        harness.inputs.release();
        assert_eq!(harness.run_for(100, None).len(), 2);
        harness.inputs.handle_acked(harness.last);
        assert_eq!(harness.run_for(500, None), [0; 0]);
    }

    #[test]
    fn only_unconfirmed_changes_ask_for_an_acknowledgement() {
        let mut harness = InputHarness::new(20);
        harness.inputs.hold(UP);
        harness.run_for(100, None);
        assert!(harness.requests_ack);
        harness.inputs.handle_acked(Seq(1));
        harness.run_for(100, None);
        assert!(!harness.requests_ack);
    }

    /// A client that advances by the millisecond, and a host that ticks.
    struct InputHarness {
        inputs: InputSender,
        hz: u32,
        now: u64,
        activity: LinkActivity,
        last: Seq,
        /// Whether the last datagram should be acknowledged.
        requests_ack: bool,
    }

    impl InputHarness {
        fn new(hz: u32) -> Self {
            let activity = LinkActivity {
                owes_ack: false,
                last_received_at: LocalTime::ZERO,
                is_lossy: false,
            };
            let inputs = InputSender::new(hz, InputRate::Hz20);
            InputHarness { inputs, hz, now: 0, activity, last: Seq(0), requests_ack: false }
        }

        /// Runs for some time; returns the times of the datagrams with inputs. The host's ticks
        /// arrive at `phase` and every tick after it, and each requests an acknowledgement.
        fn run_for(&mut self, ms: u64, phase: Option<u64>) -> Vec<u64> {
            let mut sent = Vec::new();
            for now in self.now..self.now + ms {
                let at = LocalTime::from_millis(now);
                let ticks = |now: u64| {
                    (now + 50).saturating_sub(phase.unwrap_or_default()) * u64::from(self.hz)
                        / 1_000
                };
                if phase.is_some() && now > 0 && ticks(now) != ticks(now - 1) {
                    (self.activity.owes_ack, self.activity.last_received_at) = (true, at);
                }
                if self.inputs.is_due(at, self.activity) {
                    sent.push(now);
                    self.last = self.last.next();
                    let input =
                        self.inputs.next_input(GameTime::from_millis(now)).expect("it is due");
                    self.requests_ack = input.has_changes();
                    self.inputs.note_sent(at, self.last, self.activity);
                    self.activity.owes_ack = false;
                }
            }
            self.now += ms;
            sent
        }
    }
}
