//! When to ping the peer for its clock, and what to answer to its pings.
//!
//! The answering side stores one open ping: a newer one replaces an older one, so a flood of pings
//! costs nothing. A lost ping or pong is not repeated.

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
    /// Between pings after that, while there is traffic.
    pub interval: Duration,
    /// Between pings without traffic, once they are answered: each costs a datagram both ways and
    /// QUIC's acknowledgement of it. A clock's samples expire after 10 s.
    pub quiet_interval: Duration,
}

impl Default for PingSchedule {
    fn default() -> Self {
        Self {
            settling_interval: Duration::from_millis(100),
            settling_answers: 10,
            interval: Duration::from_secs(1),
            quiet_interval: Duration::from_secs(3),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pings {
    schedule: Option<PingSchedule>,
    /// When the last one left, if any.
    last_sent: LocalTime,
    /// Whether there was traffic since, or the ping has no answer yet.
    is_busy: bool,
    sent: u32,
    answered: u32,
    /// Smoothed; `None` before the first answer.
    round_trip: Option<Duration>,
    /// The peer's newest ping without an answer, and when it arrived.
    unanswered: Option<(u64, LocalTime)>,
}

impl Pings {
    pub(super) fn new(schedule: Option<PingSchedule>) -> Self {
        Self {
            schedule,
            last_sent: LocalTime::ZERO,
            is_busy: false,
            sent: 0,
            answered: 0,
            round_trip: None,
            unanswered: None,
        }
    }

    pub(super) fn deadline(&self) -> Option<LocalTime> {
        let schedule = self.schedule?;
        let settling =
            self.answered < schedule.settling_answers && self.sent / 4 < schedule.settling_answers;
        let interval = match self.is_busy {
            _ if settling => schedule.settling_interval,
            true => schedule.interval,
            false => schedule.quiet_interval,
        };
        Some(if self.sent == 0 { LocalTime::ZERO } else { self.last_sent + interval })
    }

    /// Either side has sent data.
    pub(super) fn note_busy(&mut self) {
        self.is_busy = true;
    }

    pub(super) fn is_due(&self, now: LocalTime) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// The answer for a datagram that leaves at `now`.
    pub(super) fn pong(&self, now: LocalTime) -> Option<Pong> {
        let (pinged, arrived) = self.unanswered?;
        // A datagram may be handled after the tick's `now`, with its true time of arrival: the
        // holding time is then 0.
        let (received_us, held_us) = (arrived.micros(), now.since(arrived).as_micros() as u64);
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
        self.is_busy = false;
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
            (self.last_sent, self.is_busy) = (now, true);
        }
    }

    pub(super) fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of pings in 10 s, all answered or none, with or without traffic.
    fn pings_in_ten_seconds(answered: bool, busy: bool) -> usize {
        let mut pings = Pings::new(Some(PingSchedule::default()));
        let times = (0..10_000).map(LocalTime::from_millis);
        let sent = times.filter(|&now| {
            if busy {
                pings.note_busy();
            }
            let due = pings.is_due(now);
            if due {
                pings.note_sent(now, true);
                if answered {
                    pings.handle_pong(Duration::from_millis(50));
                }
            }
            due
        });
        sent.count()
    }

    #[test]
    fn pings_are_frequent_only_until_the_clock_has_settled() {
        assert_eq!(pings_in_ten_seconds(true, true), 10 + 9);
        assert_eq!(pings_in_ten_seconds(false, true), 40 + 6);
        assert_eq!(pings_in_ten_seconds(true, false), 10 + 3);
    }

    #[test]
    fn a_peer_that_sends_again_after_silence_is_pinged_at_once() {
        let mut pings =
            Pings::new(Some(PingSchedule { settling_answers: 0, ..PingSchedule::default() }));
        let at = LocalTime::from_millis;
        pings.note_sent(at(0), true);
        pings.handle_pong(Duration::ZERO);
        assert!(!pings.is_due(at(2_500)));
        pings.note_busy();
        assert!(pings.is_due(at(2_500)));
    }

    #[test]
    fn the_newest_ping_is_answered_once_with_the_time_it_waited() {
        let (mut pings, at) = (Pings::new(None), LocalTime::from_millis);
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
