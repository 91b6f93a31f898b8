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
use ambit_proto::keymap::{Keymap, Sample};
use ambit_proto::message::{Effect, Input};
use ambit_proto::time::{GameTime, LocalTime};

use super::config::InputRate;
use super::own_inputs::OwnInputs;
use super::samples::Samples;

/// By how much one may leave early to carry an acknowledgement.
pub const EARLY: Duration = Duration::from_millis(25);
/// How long after the host was heard one leaves that carries the acknowledgement: a little less
/// than QUIC and the link wait, and as much as that allows, so that the host, too, need not wait
/// longer for its next tick.
pub const RIDE: Duration = Duration::from_millis(24);
/// By how much one may leave late to meet the next tick: what ticks and lines are late by.
pub const SLACK: Duration = Duration::from_millis(10);
/// A host that was heard within so many ticks speaks in each.
const STEADY_TICKS: u32 = 2;

/// The keys, and when they were told.
#[derive(Debug)]
pub struct Inputs {
    /// Between two ticks of the host.
    tick: Duration,
    /// Between two datagrams.
    every: Duration,
    telling: Telling,
    samples: Samples,
    own: OwnInputs,
    /// When a datagram last carried them, or was to.
    told: Option<LocalTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// Nothing is said.
    Silent,
    /// Something may be held.
    Held,
    /// All are let go, and the host may not know.
    LetGo,
}

/// What the owner knows besides.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Whether the host is owed an acknowledgement.
    pub owes_ack: bool,
    /// When the host was last heard.
    pub heard: LocalTime,
}

impl Inputs {
    /// Nothing to tell a host of `tick_hz` ticks a second.
    pub fn new(tick_hz: u32, rate: InputRate) -> Self {
        let (tick, every) = (Duration::from_secs(1) / tick_hz.max(1), rate.interval());
        let (samples, own) = (Samples::default(), OwnInputs::default());
        Inputs {
            tick,
            every,
            telling: Telling::Silent,
            samples,
            own,
            told: None,
        }
    }

    /// From now on these are held.
    pub fn hold(&mut self, keys: Keymap) {
        self.telling = Telling::Held;
        self.samples.hold(keys);
    }

    /// All are let go, and once the host knows no more is said.
    pub fn release(&mut self) {
        if self.telling == Telling::Held {
            self.telling = Telling::LetGo;
            self.samples.hold(Keymap::default());
            self.fall_silent();
        }
    }

    /// What a datagram that leaves now says, if anything; [`Inputs::note_sent`] follows.
    pub fn next(&mut self, room_now: GameTime) -> Option<Input> {
        if self.telling == Telling::Silent {
            return None;
        }
        let (input, change) = self.samples.take(room_now);
        if let Some(sample) = change {
            self.own.note(sample);
        }
        Some(input)
    }

    /// When a datagram is due.
    pub fn next_deadline(&self, line: Line) -> Option<LocalTime> {
        if self.telling == Telling::Silent {
            return None;
        }
        let Some(told) = self.told.filter(|_| !self.samples.is_due()) else {
            return Some(LocalTime::ZERO);
        };
        let slack = if self.every >= self.tick {
            SLACK
        } else {
            Duration::ZERO
        };
        if line.owes_ack {
            // Of a host that ticks faster than we speak, no more than every other tick.
            let earliest = told + self.every.saturating_sub(EARLY.min(self.tick / 2));
            return Some(
                earliest
                    .max(line.heard + RIDE.min(self.tick / 2))
                    .min(told + self.every + slack),
            );
        }
        let steady = told.since(line.heard) < self.tick * STEADY_TICKS;
        Some(
            told + if steady {
                self.every + slack
            } else {
                self.every
            },
        )
    }

    /// Whether a datagram is due.
    pub fn is_due(&self, now: LocalTime, line: Line) -> bool {
        self.next_deadline(line)
            .is_some_and(|deadline| deadline <= now)
    }

    /// A datagram has left, with what [`Inputs::next`] said; what the line was like before.
    pub fn note_sent(&mut self, now: LocalTime, seq: Seq, line: Line) {
        // One that has waited for a tick in vain does not put off those behind it.
        let planned = self
            .told
            .filter(|_| !line.owes_ack)
            .map(|told| told + self.every);
        self.told = Some(
            planned
                .filter(|&planned| planned <= now && now <= planned + SLACK)
                .unwrap_or(now),
        );
        self.samples.note_sent(seq);
    }

    /// The host has received that datagram.
    pub fn handle_acked(&mut self, seq: Seq) {
        self.samples.handle_acked(seq);
        self.fall_silent();
    }

    /// The host has said when inputs take effect.
    pub fn handle_effects(&mut self, effects: &[Effect]) {
        self.own.handle_effects(effects);
    }

    /// What was done lately.
    pub fn own(&self) -> &OwnInputs {
        &self.own
    }

    /// What is done, and no datagram has told yet: one may leave at `now`, and another one `then`.
    pub fn coming(&self, now: GameTime, then: GameTime) -> [Option<Sample>; 2] {
        if self.telling == Telling::Silent {
            [None; 2]
        } else {
            self.samples.coming(now, then)
        }
    }

    fn fall_silent(&mut self) {
        if self.telling == Telling::LetGo && self.samples.is_settled() {
            self.telling = Telling::Silent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Keymap = Keymap(0b100);

    #[test]
    fn held_keys_are_told_twenty_times_a_second_and_a_change_at_once() {
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
    fn at_sixty_a_second_they_go_by_their_own_clock() {
        for (hz, phase) in [(20, None), (20, Some(7)), (60, Some(7)), (60, None)] {
            let mut scene = Scene::new(hz);
            scene.inputs = Inputs::new(hz, InputRate::Hz60);
            scene.inputs.hold(UP);
            let told = scene.live(10_000, phase).len();
            assert!((560..=640).contains(&told), "{told} at {hz} Hz, {phase:?}");
        }
    }

    #[test]
    fn a_tap_between_two_datagrams_leaves_twice_at_once() {
        let mut scene = Scene::new(20);
        scene.inputs.hold(UP);
        scene.live(10, None);
        scene.inputs.hold(Keymap(0b101));
        scene.inputs.hold(UP);
        assert_eq!(scene.live(40, None), [10, 11]);
    }

    #[test]
    fn they_fall_into_step_with_the_ticks_whatever_the_phase() {
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
    fn a_faster_host_does_not_make_them_more() {
        for hz in [30, 40, 60] {
            let mut scene = Scene::new(hz);
            scene.inputs.hold(UP);
            let told = scene.live(10_000, Some(0)).len();
            assert!((160..=310).contains(&told), "{told} at {hz} Hz");
        }
    }

    #[test]
    fn letting_go_is_told_until_it_is_confirmed_and_then_nothing_is() {
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
    fn only_changes_that_may_not_have_arrived_ask_for_an_acknowledgement() {
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
        inputs: Inputs,
        hz: u32,
        now: u64,
        line: Line,
        last: Seq,
        /// Whether the last datagram should be acknowledged.
        asks: bool,
    }

    impl Scene {
        fn new(hz: u32) -> Self {
            let line = Line {
                owes_ack: false,
                heard: LocalTime::ZERO,
            };
            let inputs = Inputs::new(hz, InputRate::Hz20);
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
                    self.line = Line {
                        owes_ack: true,
                        heard: at,
                    };
                }
                if self.inputs.is_due(at, self.line) {
                    told.push(now);
                    self.last = self.last.next();
                    let input = self
                        .inputs
                        .next(GameTime::from_millis(now))
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
