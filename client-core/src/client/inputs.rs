//! When the held keys leave: 20 times a second, together with acknowledgements.
//!
//! Keys and the time go in; whether a datagram is due, and what it says of the keys, comes out. Every datagram that leaves
//! while keys are told carries them, so that one that is lost costs 50 ms and no more. None of them asks for an acknowledgement
//! for the sake of the keys, but for one that lets go of everything: that one is repeated until it is confirmed, and then no
//! more is said.
//!
//! Phase: the host writes once a tick, and what it writes wants an acknowledgement. When one is owed, a datagram of ours that is
//! due soon ([`EARLY`]) leaves [`RIDE`] after the host was heard; while the host is heard, one that is due waits a little
//! ([`SLACK`]) for the next tick to come in. So our datagrams fall into step with the host's ticks, half a tick behind them, and
//! no acknowledgement needs a datagram of its own, in either direction and at either level: the link's and QUIC's wait 25 ms
//! for one to ride on, ours for the datagram that leaves after 24, the host's for the tick that comes 26 later less the round trip.
//!
//! Invariant: [`EARLY`] to [`EVERY`] and [`SLACK`] between two that these rules cause, but for one at once whenever the keys
//! change; 20 a second at a host of 20 ticks, up to 30 at a faster one.

use std::time::Duration;

use ambit_proto::ids::Seq;
use ambit_proto::keymap::Keymap;
use ambit_proto::time::LocalTime;

/// Between two datagrams.
pub const EVERY: Duration = Duration::from_millis(50);
/// By how much one may leave early to carry an acknowledgement.
pub const EARLY: Duration = Duration::from_millis(25);
/// How long after the host was heard one leaves that carries the acknowledgement: a little less than QUIC and the link wait, and
/// as much as that allows, so that the host, too, need not wait longer for its next tick.
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
    keys: Keys,
    /// When a datagram last carried them, or was to.
    told: Option<LocalTime>,
    /// Whether they have changed since.
    changed: bool,
}

#[derive(Debug, PartialEq)]
enum Keys {
    /// Nothing is said.
    Silent,
    /// These are held.
    Held(Keymap),
    /// None is held any more, and the host may not know; the first datagram that says so.
    LetGo(Option<Seq>),
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
    pub fn new(tick_hz: u32) -> Self {
        Inputs { tick: Duration::from_secs(1) / tick_hz.max(1), keys: Keys::Silent, told: None, changed: false }
    }

    /// From now on these are held.
    pub fn hold(&mut self, keys: Keymap) {
        self.changed |= self.current() != Some(keys);
        self.keys = Keys::Held(keys);
    }

    /// All are let go, and once the host knows no more is said.
    pub fn release(&mut self) {
        if let Keys::Held(keys) = self.keys {
            self.changed |= keys != Keymap::default();
            self.keys = Keys::LetGo(None);
        }
    }

    /// What a datagram is to say, if anything.
    pub fn current(&self) -> Option<Keymap> {
        match self.keys {
            Keys::Silent => None,
            Keys::Held(keys) => Some(keys),
            Keys::LetGo(_) => Some(Keymap::default()),
        }
    }

    /// Whether the datagram that says it should ask for an acknowledgement.
    pub fn asks_for_ack(&self) -> bool {
        matches!(self.keys, Keys::LetGo(_))
    }

    /// When a datagram is due.
    pub fn next_deadline(&self, line: Line) -> Option<LocalTime> {
        self.current()?;
        let Some(told) = self.told.filter(|_| !self.changed) else { return Some(LocalTime::ZERO) };
        if line.owes_ack {
            // Of a host that ticks faster than we speak, no more than every other tick.
            let earliest = told + EVERY.saturating_sub(EARLY.min(self.tick / 2));
            return Some(earliest.max(line.heard + RIDE.min(self.tick / 2)).min(told + EVERY + SLACK));
        }
        let steady = told.since(line.heard) < self.tick * STEADY_TICKS;
        Some(told + if steady { EVERY + SLACK } else { EVERY })
    }

    /// Whether a datagram is due.
    pub fn is_due(&self, now: LocalTime, line: Line) -> bool {
        self.next_deadline(line).is_some_and(|deadline| deadline <= now)
    }

    /// A datagram has left, with what [`Inputs::current`] said; what the line was like before.
    pub fn note_sent(&mut self, now: LocalTime, seq: Seq, line: Line) {
        // One that has waited for a tick in vain does not put off those behind it.
        let planned = self.told.filter(|_| !line.owes_ack).map(|told| told + EVERY);
        self.told = Some(planned.filter(|&planned| planned <= now && now <= planned + SLACK).unwrap_or(now));
        self.changed = false;
        if let Keys::LetGo(first) = &mut self.keys {
            first.get_or_insert(seq);
        }
    }

    /// The host has received that datagram.
    pub fn handle_acked(&mut self, seq: Seq) {
        if matches!(self.keys, Keys::LetGo(Some(first)) if !first.newer_than(seq)) {
            self.keys = Keys::Silent;
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
    fn they_fall_into_step_with_the_ticks_whatever_the_phase() {
        for phase in 0..50 {
            let mut scene = Scene::new(20);
            scene.inputs.hold(UP);
            scene.live(500, Some(phase));
            let told = scene.live(2_000, Some(phase));
            assert!(told.iter().all(|ms| ms % 50 == (phase + 24) % 50), "phase {phase}: {told:?}");
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
        assert!(scene.inputs.asks_for_ack());
        assert_eq!(scene.live(200, None).len(), 4);
        scene.inputs.handle_acked(Seq(1));
        assert_eq!(scene.live(100, None).len(), 2);
        scene.inputs.handle_acked(Seq(4));
        assert_eq!((scene.live(500, None).len(), scene.inputs.current()), (0, None));
        scene.inputs.release();
        assert_eq!(scene.live(500, None).len(), 0);
    }

    /// A client that lives by the millisecond, and a host that ticks.
    struct Scene {
        inputs: Inputs,
        hz: u32,
        now: u64,
        line: Line,
        last: Seq,
    }

    impl Scene {
        fn new(hz: u32) -> Self {
            let line = Line { owes_ack: false, heard: LocalTime::ZERO };
            Scene { inputs: Inputs::new(hz), hz, now: 0, line, last: Seq(0) }
        }

        /// When something was told; the host's ticks come in at `phase` and every tick after it, each wanting an
        /// acknowledgement.
        fn live(&mut self, ms: u64, phase: Option<u64>) -> Vec<u64> {
            let mut told = Vec::new();
            for now in self.now..self.now + ms {
                let at = LocalTime::from_millis(now);
                let ticks =
                    |now: u64| (now + 50).saturating_sub(phase.unwrap_or_default()) * u64::from(self.hz) / 1_000;
                if phase.is_some() && now > 0 && ticks(now) != ticks(now - 1) {
                    self.line = Line { owes_ack: true, heard: at };
                }
                if self.inputs.is_due(at, self.line) {
                    told.push(now);
                    self.last = self.last.next();
                    self.inputs.note_sent(at, self.last, self.line);
                    self.line.owes_ack = false;
                }
            }
            self.now += ms;
            told
        }
    }
}
