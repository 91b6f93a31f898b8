//! When to dial which of several addresses.
//!
//! The time, and the failures of attempts go in; the attempt to start comes out, by its place in
//! the list. Attempts start in order: the next one when the last one has run for `stagger` (the
//! connection attempt delay of RFC 8305), and at once when an attempt has failed. Attempts that run
//! go on meanwhile, so that a slow address still wins if the next one does not answer. The owner
//! takes the first success and ends all other attempts.
//!
//! Invariants:
//! 1. Each address is started at most once, in order.
//! 2. While addresses are left, none is waited for longer than `stagger` alone.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// See the module.
#[derive(Debug)]
pub(crate) struct DialRace {
    stagger: Duration,
    attempts: usize,
    started: usize,
    failed: usize,
    /// When the next attempt may start.
    next_at: LocalTime,
}

impl DialRace {
    /// A race between `attempts` addresses that begins now.
    pub(crate) fn new(now: LocalTime, attempts: usize, stagger: Duration) -> Self {
        Self { stagger, attempts, started: 0, failed: 0, next_at: now }
    }

    /// The attempt to start now, if any.
    pub(crate) fn poll_start(&mut self, now: LocalTime) -> Option<usize> {
        if self.started == self.attempts || now < self.next_at {
            return None;
        }
        self.next_at = now + self.stagger;
        self.started += 1;
        Some(self.started - 1)
    }

    /// An attempt has failed.
    pub(crate) fn handle_failure(&mut self, now: LocalTime) {
        self.failed += 1;
        self.next_at = now;
    }

    /// When `poll_start` is to be called again.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        (self.started < self.attempts).then_some(self.next_at)
    }

    /// Whether all attempts have failed.
    pub(crate) fn is_lost(&self) -> bool {
        self.failed == self.attempts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGGER: Duration = Duration::from_millis(500);

    /// What an address does after it was dialled, in milliseconds.
    #[derive(Clone, Copy)]
    enum Address {
        Answers(u64),
        Fails(u64),
        Silent,
    }
    use Address::{Answers, Fails, Silent};

    #[test]
    fn behind_a_silent_address_the_next_one_is_reached_within_2_s() {
        assert_eq!(race(&[Silent, Answers(100)]), Some((1, 600)));
        assert_eq!(race(&[Silent, Silent, Answers(400)]), Some((2, 1_400)));
    }

    #[test]
    fn a_slow_address_wins_if_it_answers_first() {
        // A handshake is one round trip.
        assert_eq!(race(&[Answers(400), Answers(10)]), Some((0, 400)));
        assert_eq!(race(&[Answers(800), Answers(400)]), Some((0, 800)));
        assert_eq!(race(&[Answers(1_000), Answers(400)]), Some((1, 900)));
        assert_eq!(race(&[Answers(3_000), Silent]), Some((0, 3_000)));
        assert_eq!(race(&[Answers(3_000), Fails(10)]), Some((0, 3_000)));
    }

    #[test]
    fn after_a_failure_the_next_address_is_dialled_at_once() {
        assert_eq!(race(&[Fails(10), Fails(10), Answers(100)]), Some((2, 120)));
        assert_eq!(race(&[Fails(10), Fails(20)]), None);
        assert_eq!(race(&[]), None);
    }

    /// Dials these addresses on virtual time; the winner and when it answered.
    fn race(addresses: &[Address]) -> Option<(usize, u64)> {
        let mut race = DialRace::new(LocalTime::ZERO, addresses.len(), STAGGER);
        let mut results: Vec<(LocalTime, usize, bool)> = Vec::new();
        let mut now = LocalTime::ZERO;
        loop {
            while let Some(started) = race.poll_start(now) {
                let result = |after_ms, is_answer| {
                    (now + Duration::from_millis(after_ms), started, is_answer)
                };
                match addresses[started] {
                    Answers(after_ms) => results.push(result(after_ms, true)),
                    Fails(after_ms) => results.push(result(after_ms, false)),
                    Silent => {}
                }
            }
            if race.is_lost() {
                return None;
            }
            let next = results.iter().map(|result| result.0);
            now = next.chain(race.next_deadline()).min()?;
            while let Some(at) = results.iter().position(|result| result.0 <= now) {
                match results.remove(at) {
                    (at, winner, true) => return Some((winner, at.millis())),
                    _ => race.handle_failure(now),
                }
            }
        }
    }
}
