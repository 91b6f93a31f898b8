//! When to ping the peer for its clock, and what to answer to its pings.
//!
//! A peer is *quiet* when it says something only now and then: the last datagram came after
//! [`SILENCE`] or more. It was asked meanwhile, and its answer shows that the line lives. A peer
//! that goes on to say nothing but a word every second or two is not asked for more than that, and
//! the clock is asked more rarely: nothing on the screen moves. A datagram that is no answer and
//! follows another one soon ends the quiet.
//!
//! The answering side stores one open ping: a newer one replaces an older one, so a flood of pings
//! costs nothing. A lost ping or pong is not repeated, except in a quiet: there the next one is
//! far.

use std::time::Duration;

use super::format::{HELD_BITS, Pong, RECEIVED_BITS, ShortNumber};
use crate::time::LocalTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingSchedule {
    /// Between pings while the clock settles, which takes `settling_answers` answers. At most four
    /// times as many pings are sent this way.
    pub settling_interval: Duration,
    /// See `settling_interval`.
    pub settling_answers: u32,
    /// Between pings after that, for the clock: its samples expire after 10 s.
    pub interval: Duration,
}

/// After this time without a datagram of the peer, a ping goes out, and again while no answer
/// comes: this distinguishes a dead line from a quiet one.
const SILENCE: Duration = Duration::from_millis(500);
/// In a quiet, between pings for the clock.
const QUIET_INTERVAL: Duration = Duration::from_secs(5);
/// In a quiet, the same as [`SILENCE`]: longer than a quiet peer lets pass without a word.
const QUIET_SILENCE: Duration = Duration::from_millis(1_700);
/// In a quiet, between pings that are not answered.
const QUIET_REPEAT: Duration = Duration::from_millis(250);

impl Default for PingSchedule {
    fn default() -> Self {
        Self {
            settling_interval: Duration::from_millis(100),
            settling_answers: 10,
            interval: Duration::from_secs(1),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pings {
    schedule: Option<PingSchedule>,
    /// When the last one left, if any.
    last_sent: LocalTime,
    /// When the peer was last heard, if it was.
    last_heard: LocalTime,
    is_quiet: bool,
    /// Whether the last ping has no answer.
    is_open: bool,
    sent: u32,
    answered: u32,
    /// Smoothed; `None` before the first answer.
    round_trip: Option<Duration>,
    /// The peer's newest ping without an answer, and when it arrived.
    unanswered: Option<(u64, LocalTime)>,
}

impl Pings {
    pub(super) fn new(schedule: Option<PingSchedule>) -> Self {
        Self { schedule, ..Self::default() }
    }

    pub(super) fn deadline(&self) -> Option<LocalTime> {
        let schedule = self.schedule?;
        let settling =
            self.answered < schedule.settling_answers && self.sent / 4 < schedule.settling_answers;
        Some(match self.sent {
            0 => LocalTime::ZERO,
            _ if settling => self.last_sent + schedule.settling_interval,
            _ if self.is_quiet && self.is_open => self.last_sent + QUIET_REPEAT,
            _ if self.is_quiet => {
                (self.last_sent + QUIET_INTERVAL).min(self.last_heard + QUIET_SILENCE)
            }
            _ => (self.last_sent + schedule.interval)
                .min(self.last_sent.max(self.last_heard) + SILENCE),
        })
    }

    /// A datagram of the peer has arrived, with an answer to a ping or without.
    pub(super) fn note_heard(&mut self, now: LocalTime, is_answer: bool) {
        let was_silent = self.last_heard > LocalTime::ZERO && now.since(self.last_heard) >= SILENCE;
        self.is_quiet = was_silent || self.is_quiet && is_answer;
        self.last_heard = self.last_heard.max(now);
    }

    /// Whether the peer says something only now and then.
    pub(super) fn is_peer_quiet(&self) -> bool {
        self.is_quiet
    }

    pub(super) fn is_due(&self, now: LocalTime) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// The answer for a datagram that leaves at `now`.
    pub(super) fn pong(&self, now: LocalTime) -> Option<Pong> {
        let (pinged, arrived) = self.unanswered?;
        // A datagram may be handled after the tick's `now`, with its true time of arrival: the
        // holding time is then 0.
        let received_us = arrived.micros();
        let held_us = now.since(arrived).as_micros() as u64;
        let fits = received_us >> RECEIVED_BITS == 0 && held_us >> HELD_BITS == 0;
        fits.then_some(Pong { pinged: ShortNumber::from_number(pinged), received_us, held_us })
    }

    pub(super) fn handle_ping(&mut self, now: LocalTime, number: u64) {
        let newer = self.unanswered.is_none_or(|(unanswered, _)| number > unanswered);
        if newer {
            self.unanswered = Some((number, now));
        }
    }

    pub(super) fn handle_pong(&mut self, round_trip: Duration) {
        self.answered = self.answered.saturating_add(1);
        self.is_open = false;
        self.round_trip = Some(match self.round_trip {
            None => round_trip,
            Some(smoothed) => (smoothed * 7 + round_trip) / 8,
        });
    }

    /// A datagram has left with the due answer, and with or without a ping.
    pub(super) fn note_sent(&mut self, now: LocalTime, with_ping: bool) {
        self.unanswered = None;
        if with_ping {
            self.sent = self.sent.saturating_add(1);
            (self.last_sent, self.is_open) = (now, true);
        }
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of pings in 20 s, all answered after 50 ms or none, with other datagrams of the
    /// peer at these intervals.
    fn pings_in_twenty_seconds(answered: bool, word_every_ms: Option<u64>) -> usize {
        let mut pings = Pings::new(Some(PingSchedule::default()));
        let mut sent = 0;
        let mut answer_at = None;
        for ms in 1..=20_000 {
            let now = LocalTime::from_millis(ms);
            if answer_at.is_some_and(|at| at <= now) {
                answer_at = None;
                pings.note_heard(now, true);
                pings.handle_pong(Duration::from_millis(50));
            }
            if word_every_ms.is_some_and(|every| ms.is_multiple_of(every)) {
                pings.note_heard(now, false);
            }
            if pings.is_due(now) {
                sent += 1;
                pings.note_sent(now, true);
                answer_at = answered.then(|| now + Duration::from_millis(50));
            }
        }
        sent
    }

    #[test]
    fn pings_are_frequent_until_the_clock_settles_and_while_it_moves() {
        // 10 in the first second, then one a second.
        assert_eq!(pings_in_twenty_seconds(true, Some(50)), 10 + 19);
        // 40 in 4 s, then one a second.
        assert_eq!(pings_in_twenty_seconds(false, Some(50)), 40 + 16);
        // 40 in 4 s, then two a second.
        assert_eq!(pings_in_twenty_seconds(false, None), 40 + 32);
    }

    #[test]
    fn a_quiet_peer_is_asked_for_the_clock_and_when_its_word_is_missing() {
        // 10 in the first second and one after the first silence, then one every 5 s.
        assert_eq!(pings_in_twenty_seconds(true, Some(1_250)), 10 + 1 + 3);
        // One 1.7 s after each answer.
        assert_eq!(pings_in_twenty_seconds(true, None), 10 + 11);
    }

    #[test]
    fn a_ping_to_a_quiet_peer_is_repeated_until_it_is_answered() {
        let mut pings = Pings::new(Some(PingSchedule::default()));
        let at = LocalTime::from_millis;
        pings.note_sent(at(1), true);
        (0..10).for_each(|_| pings.handle_pong(Duration::from_millis(50)));
        pings.note_heard(at(1_000), false);
        pings.note_heard(at(2_500), false);
        assert!(pings.is_peer_quiet());
        assert_eq!(pings.deadline(), Some(at(4_200)));
        pings.note_sent(at(4_200), true);
        assert_eq!(pings.deadline(), Some(at(4_450)));
        pings.note_sent(at(4_450), true);
        assert_eq!(pings.deadline(), Some(at(4_700)));
        pings.note_heard(at(4_600), true);
        pings.handle_pong(Duration::from_millis(50));
        assert_eq!(pings.deadline(), Some(at(6_300)));
        pings.note_heard(at(4_700), true);
        assert!(pings.is_peer_quiet(), "an answer is no word of its own");
        pings.note_heard(at(4_800), false);
        assert!(!pings.is_peer_quiet());
        assert_eq!(pings.deadline(), Some(at(5_300)));
    }

    #[test]
    fn the_newest_ping_is_answered_once_with_the_time_it_waited() {
        let mut pings = Pings::new(None);
        let at = LocalTime::from_millis;
        assert_eq!(pings.deadline(), None);
        pings.handle_ping(at(100), 7);
        pings.handle_ping(at(110), 6);
        assert_eq!(
            pings.pong(at(130)),
            Some(Pong {
                pinged: ShortNumber::from_number(7),
                received_us: 100_000,
                held_us: 30_000
            })
        );
        assert_eq!(
            pings.pong(at(90)),
            Some(Pong { pinged: ShortNumber::from_number(7), received_us: 100_000, held_us: 0 })
        );
        pings.note_sent(at(130), false);
        assert_eq!(pings.pong(at(130)), None);
    }

    #[test]
    fn an_answer_that_does_not_fit_its_fields_is_not_sent() {
        let mut pings = Pings::new(None);
        pings.handle_ping(LocalTime::from_millis(1_000), 1);
        assert_eq!(pings.pong(LocalTime::from_millis(17_778)), None);
        assert!(pings.pong(LocalTime::from_millis(17_777)).is_some());
        let mut pings = Pings::new(None);
        pings.handle_ping(LocalTime::MAX, 1);
        assert_eq!(pings.pong(LocalTime::MAX), None);
    }
}
