//! When the controls are told: 20 times a second or 60, together with acknowledgements.
//!
//! Keys and the time go in; whether a datagram is due, and what it says of the keys, comes out.
//! Every datagram that leaves while keys are told carries a sample of them, and all changes that
//! are not known to have arrived ([`super::samples`]); it asks for an acknowledgement if there are
//! such changes. As long as the same keys are held, and all is known, none asks for one. Once all
//! are let go and the host knows, no more is said.
//!
//! Phase: the host writes once a tick, and what it writes wants an acknowledgement. When one is
//! owed, a datagram of ours that is due soon ([`EARLY`]) leaves [`RIDE`] after the host was heard;
//! while the host is heard, one that is due waits a little ([`SLACK`]) for the next tick to come
//! in. So our datagrams fall into step with the host's ticks, half a tick behind them, and no
//! acknowledgement needs a datagram of its own, in either direction and at either level: the link's
//! and QUIC's wait 25 ms for one to ride on, ours for the datagram that leaves after 24, the host's
//! for the tick that comes 26 later less the round trip.
//!
//! A client that speaks more often than the host ticks does not wait: it goes by its own clock.
//!
//! Invariant: at 20 a second, [`EARLY`] to 50 ms and [`SLACK`] between two that these rules cause,
//! but for one at once whenever the keys change; 20 a second at a host of 20 ticks, up to 30 at a
//! faster one.

use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::keymap::{KeySample, Keymap};
use ambit_proto::message::{EffectTime, KeyInput};
use ambit_proto::time::{GameTime, LocalTime};

use super::config::InputRate;
use super::input_sampler::InputSampler;
use super::own_inputs::OwnInputHistory;

/// By how much one may leave early to carry an acknowledgement.
pub const MAX_EARLY: Duration = Duration::from_millis(25);
/// How long after the host was heard one leaves that carries the acknowledgement: a little less
/// than QUIC and the link wait, and as much as that allows, so that the host, too, need not wait
/// longer for its next tick.
pub const ACK_DELAY: Duration = Duration::from_millis(24);
/// By how much one may leave late to meet the next tick: what ticks and lines are late by.
pub const MAX_LATE: Duration = Duration::from_millis(10);
/// A host that was heard within so many ticks speaks in each.
const ACTIVE_HOST_TICKS: u32 = 2;

/// The keys, and when they were told.
#[derive(Debug)]
pub struct InputSender {
    /// Between two ticks of the host.
    tick: Duration,
    /// Between two datagrams.
    interval: Duration,
    state: SendState,
    sampler: InputSampler,
    own_inputs: OwnInputHistory,
    /// When a datagram last carried them, or was to.
    last_sent_at: Option<LocalTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendState {
    /// Nothing is said.
    Idle,
    /// Something may be held.
    Holding,
    /// All are let go, and the host may not know.
    Released,
}

/// What the owner knows besides.
#[derive(Clone, Copy, Debug)]
pub struct LinkActivity {
    /// Whether the host is owed an acknowledgement.
    pub owes_ack: bool,
    /// When the host was last heard.
    pub last_received_at: LocalTime,
}

impl InputSender {
    /// Nothing to tell a host of `tick_hz` ticks a second.
    pub fn new(tick_hz: u32, rate: InputRate) -> Self {
        let (tick, every) = (Duration::from_secs(1) / tick_hz.max(1), rate.interval());
        let (samples, own) = (InputSampler::default(), OwnInputHistory::default());
        InputSender {
            tick,
            interval: every,
            state: SendState::Idle,
            sampler: samples,
            own_inputs: own,
            last_sent_at: None,
        }
    }

    /// From now on these are held.
    pub fn hold(&mut self, keys: Keymap) {
        self.state = SendState::Holding;
        self.sampler.hold(keys);
    }

    /// All are let go, and once the host knows no more is said.
    pub fn release(&mut self) {
        if self.state == SendState::Holding {
            self.state = SendState::Released;
            self.sampler.hold(Keymap::default());
            self.stop_if_settled();
        }
    }

    /// What a datagram that leaves now says, if anything; [`InputSender::note_sent`] follows.
    pub fn next_input(&mut self, room_now: GameTime) -> Option<KeyInput> {
        if self.state == SendState::Idle {
            return None;
        }
        let (input, change) = self.sampler.take_sample(room_now);
        if let Some(sample) = change {
            self.own_inputs.add_sample(sample);
        }
        Some(input)
    }

    /// When a datagram is due.
    pub fn next_deadline(&self, line: LinkActivity) -> Option<LocalTime> {
        if self.state == SendState::Idle {
            return None;
        }
        let Some(told) = self.last_sent_at.filter(|_| !self.sampler.is_due()) else {
            return Some(LocalTime::ZERO);
        };
        let slack = if self.interval >= self.tick {
            MAX_LATE
        } else {
            Duration::ZERO
        };
        if line.owes_ack {
            // Of a host that ticks faster than we speak, no more than every other tick.
            let earliest = told + self.interval.saturating_sub(MAX_EARLY.min(self.tick / 2));
            return Some(
                earliest
                    .max(line.last_received_at + ACK_DELAY.min(self.tick / 2))
                    .min(told + self.interval + slack),
            );
        }
        let steady = told.since(line.last_received_at) < self.tick * ACTIVE_HOST_TICKS;
        Some(
            told + if steady {
                self.interval + slack
            } else {
                self.interval
            },
        )
    }

    /// Whether a datagram is due.
    pub fn is_due(&self, now: LocalTime, line: LinkActivity) -> bool {
        self.next_deadline(line)
            .is_some_and(|deadline| deadline <= now)
    }

    /// A datagram has left, with what [`InputSender::next`] said; what the line was like before.
    pub fn note_sent(&mut self, now: LocalTime, seq: Seq, line: LinkActivity) {
        // One that has waited for a tick in vain does not put off those behind it.
        let planned = self
            .last_sent_at
            .filter(|_| !line.owes_ack)
            .map(|told| told + self.interval);
        self.last_sent_at = Some(
            planned
                .filter(|&planned| planned <= now && now <= planned + MAX_LATE)
                .unwrap_or(now),
        );
        self.sampler.note_sent(seq);
    }

    /// The host has received that datagram.
    pub fn handle_acked(&mut self, seq: Seq) {
        self.sampler.handle_acked(seq);
        self.stop_if_settled();
    }

    /// The host has said when inputs take effect.
    pub fn handle_effects(&mut self, effects: &[EffectTime]) {
        self.own_inputs.handle_effects(effects);
    }

    /// What was done lately.
    pub fn own_inputs(&self) -> &OwnInputHistory {
        &self.own_inputs
    }

    /// What is done, and no datagram has told yet: one may leave at `now`, and another one `then`.
    pub fn upcoming_samples(&self, now: GameTime, then: GameTime) -> [Option<KeySample>; 2] {
        if self.state == SendState::Idle {
            [None; 2]
        } else {
            self.sampler.upcoming(now, then)
        }
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
        let mut scene = Scene::new(20);
        assert_eq!(scene.live(1_000, None), [0; 0]);
        scene.inputs.hold(UP);
        let told = scene.live(1_000, None);
        assert_eq!((told.len(), told[0], told[1]), (20, 1_000, 1_050));
        scene.inputs.hold(UP);
        assert_eq!(scene.live(40, None), [2_000]);
        scene.inputs.hold(Keymap(1));
        assert_eq!(scene.live(20, None), [2_040]);
    }

    #[test]
    fn at_60_hz_inputs_do_not_wait_for_ticks() {
        for (hz, phase) in [(20, None), (20, Some(7)), (60, Some(7)), (60, None)] {
            let mut scene = Scene::new(hz);
            scene.inputs = InputSender::new(hz, InputRate::Hz60);
            scene.inputs.hold(UP);
            let told = scene.live(10_000, phase).len();
            assert!((560..=640).contains(&told), "{told} at {hz} Hz, {phase:?}");
        }
    }

    #[test]
    fn a_tap_between_two_datagrams_is_sent_as_press_and_release() {
        let mut scene = Scene::new(20);
        scene.inputs.hold(UP);
        scene.live(10, None);
        scene.inputs.hold(Keymap(0b101));
        scene.inputs.hold(UP);
        assert_eq!(scene.live(40, None), [10, 11]);
    }

    #[test]
    fn inputs_synchronise_with_host_ticks_at_any_phase() {
        for phase in 0..50 {
            let mut scene = Scene::new(20);
            scene.inputs.hold(UP);
            scene.live(500, Some(phase));
            let told = scene.live(2_000, Some(phase));
            assert!(
                told.iter().all(|ms| ms % 50 == (phase + 24) % 50),
                "phase {phase}: {told:?}"
            );
            assert_eq!(told.len(), 40, "phase {phase}");
        }
    }

    #[test]
    fn a_faster_host_does_not_raise_the_input_rate_much() {
        for hz in [30, 40, 60] {
            let mut scene = Scene::new(hz);
            scene.inputs.hold(UP);
            let told = scene.live(10_000, Some(0)).len();
            assert!((160..=310).contains(&told), "{told} at {hz} Hz");
        }
    }

    #[test]
    fn a_release_is_sent_until_acknowledged_and_nothing_after_it() {
        let mut scene = Scene::new(20);
        scene.inputs.hold(UP);
        scene.live(100, None);
        scene.inputs.release();
        assert_eq!(scene.live(200, None).len(), 4);
        assert!(scene.asks);
        scene.inputs.handle_acked(Seq(1));
        assert_eq!(scene.live(100, None).len(), 2);
        scene.inputs.handle_acked(Seq(4));
        assert_eq!(scene.live(500, None).len(), 0);
        scene.inputs.release();
        assert_eq!(scene.live(500, None).len(), 0);
    }

    #[test]
    fn only_unconfirmed_changes_ask_for_an_acknowledgement() {
        let mut scene = Scene::new(20);
        scene.inputs.hold(UP);
        scene.live(100, None);
        assert!(scene.asks);
        scene.inputs.handle_acked(Seq(1));
        scene.live(100, None);
        assert!(!scene.asks);
    }

    /// A client that lives by the millisecond, and a host that ticks.
    struct Scene {
        inputs: InputSender,
        hz: u32,
        now: u64,
        line: LinkActivity,
        last: Seq,
        /// Whether the last datagram should be acknowledged.
        asks: bool,
    }

    impl Scene {
        fn new(hz: u32) -> Self {
            let line = LinkActivity {
                owes_ack: false,
                last_received_at: LocalTime::ZERO,
            };
            let inputs = InputSender::new(hz, InputRate::Hz20);
            Scene {
                inputs,
                hz,
                now: 0,
                line,
                last: Seq(0),
                asks: false,
            }
        }

        /// When something was told; the host's ticks come in at `phase` and every tick after it,
        /// each wanting an acknowledgement.
        fn live(&mut self, ms: u64, phase: Option<u64>) -> Vec<u64> {
            let mut told = Vec::new();
            for now in self.now..self.now + ms {
                let at = LocalTime::from_millis(now);
                let ticks = |now: u64| {
                    (now + 50).saturating_sub(phase.unwrap_or_default()) * u64::from(self.hz)
                        / 1_000
                };
                if phase.is_some() && now > 0 && ticks(now) != ticks(now - 1) {
                    self.line = LinkActivity {
                        owes_ack: true,
                        last_received_at: at,
                    };
                }
                if self.inputs.is_due(at, self.line) {
                    told.push(now);
                    self.last = self.last.next();
                    let input = self
                        .inputs
                        .next_input(GameTime::from_millis(now))
                        .expect("it is due");
                    self.asks = input.has_changes();
                    self.inputs.note_sent(at, self.last, self.line);
                    self.line.owes_ack = false;
                }
            }
            self.now += ms;
            told
        }
    }
}
