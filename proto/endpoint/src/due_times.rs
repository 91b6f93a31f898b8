//! When each connection of an endpoint has to be looked at.
//!
//! Timers and the moments by which packets have to leave go in; connections that are due come out.
//! One array holds the next moment of each connection, and it is walked when the earliest of them
//! has come: some nanoseconds a connection.
//!
//! Timers of established connections are postponed: they mostly wait to send an acknowledgement,
//! which would leave in a packet of its own. A little later the server has a datagram that carries
//! it; a second packet of the peer releases it at once. Measured with 20 clients that send 20 times
//! a second and receive data in every other tick: 17.4 instead of 22.7 packets a second and client,
//! with postponed timers at both ends (otherwise the peer takes a late acknowledgement for a lost
//! packet, and probes). The price: retransmissions after a timer come later by that much. Pacing,
//! which waits for less than [`EXACT_WITHIN`], is exact.
//!
//! Units: microseconds since the endpoint began.

use std::time::{Duration, Instant};

/// One tick at 20 Hz, and a margin for a late one.
const POSTPONEMENT: Duration = Duration::from_millis(55);
/// A timer that is due sooner is exact.
const EXACT_WITHIN: Duration = Duration::from_millis(12);

const ROUND_UP: Duration = Duration::from_nanos(999);

/// No moment at all.
const NEVER: u64 = u64::MAX;

/// The moments of one connection.
#[derive(Clone, Copy, Debug)]
struct Moments {
    /// Its earliest timer, postponed.
    timer: u64,
    /// When the timer was due that was postponed last.
    postponed: u64,
    /// By when its packets have to leave.
    flush: u64,
}

const NO_MOMENTS: Moments = Moments { timer: NEVER, postponed: NEVER, flush: NEVER };

/// See the module.
#[derive(Debug)]
pub(crate) struct DueTimes {
    origin: Instant,
    /// The earlier of its two moments, for each connection.
    next: Vec<u64>,
    moments: Vec<Moments>,
    /// Not after the earliest of `next`.
    earliest: u64,
}

/// What is due for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueConnection {
    pub(crate) slot: u32,
    /// Whether its timer is due; else its packets alone.
    pub(crate) is_timer: bool,
}

impl DueTimes {
    pub(crate) fn new(origin: Instant) -> Self {
        Self { origin, next: Vec::new(), moments: Vec::new(), earliest: NEVER }
    }

    /// Forgets all moments of a connection; room for it is made.
    pub(crate) fn clear(&mut self, slot: u32) {
        let needed = slot as usize + 1;
        if self.next.len() < needed {
            self.next.resize(needed, NEVER);
            self.moments.resize(needed, NO_MOMENTS);
        }
        self.next[slot as usize] = NEVER;
        self.moments[slot as usize] = NO_MOMENTS;
    }

    /// Sets a connection's timer to the moment at which `quinn-proto` wants to be called.
    pub(crate) fn set_timer(
        &mut self,
        now: Instant,
        slot: u32,
        due: Option<Instant>,
        may_postpone: bool,
    ) {
        // Rounded up: before its time a timer does nothing.
        let due = due.map_or(NEVER, |due| self.micros(due + ROUND_UP));
        let now = self.micros(now);
        let moments = &mut self.moments[slot as usize];
        moments.timer = if may_postpone { postpone(now, due, &mut moments.postponed) } else { due };
        self.update(slot);
    }

    /// The connection's packets leave by then.
    pub(crate) fn flush_by(&mut self, slot: u32, moment: Instant) {
        let moment = self.micros(moment);
        let flush = &mut self.moments[slot as usize].flush;
        *flush = moment.min(*flush);
        self.update(slot);
    }

    /// The connection's packets have left.
    pub(crate) fn flushed(&mut self, slot: u32) {
        self.moments[slot as usize].flush = NEVER;
        self.update(slot);
    }

    /// The moment of the next connection.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        (self.earliest != NEVER).then(|| self.origin + Duration::from_micros(self.earliest))
    }

    /// Appends the connections that are due, in the order of their numbers. Their moments stay as
    /// they are until they are set again.
    pub(crate) fn collect(&mut self, now: Instant, due: &mut Vec<DueConnection>) {
        let now = self.micros(now);
        if now < self.earliest {
            return;
        }
        let mut earliest = NEVER;
        for (slot, next) in self.next.iter().enumerate() {
            if *next <= now {
                let is_timer = self.moments[slot].timer <= now;
                due.push(DueConnection { slot: slot as u32, is_timer });
            } else {
                earliest = earliest.min(*next);
            }
        }
        // The due ones set theirs again.
        self.earliest = earliest;
    }

    fn update(&mut self, slot: u32) {
        let Moments { timer, flush, .. } = self.moments[slot as usize];
        let next = timer.min(flush);
        self.next[slot as usize] = next;
        self.earliest = self.earliest.min(next);
    }

    fn micros(&self, moment: Instant) -> u64 {
        moment.saturating_duration_since(self.origin).as_micros() as u64
    }
}

/// When a timer fires. When a packet arrives, `quinn-proto` may set its timer to the earlier due
/// time, which is soon or has passed by then: that stays postponed.
fn postpone(now: u64, due: u64, postponed: &mut u64) -> u64 {
    let exact = EXACT_WITHIN.as_micros() as u64;
    if due == NEVER {
        NEVER
    } else if due >= now + exact || now >= due + exact || *postponed == due {
        *postponed = due;
        due + POSTPONEMENT.as_micros() as u64
    } else {
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000;

    #[test]
    fn a_timer_is_postponed_once_unless_it_is_due_soon() {
        let mut postponed = NEVER;
        assert_eq!(postpone(0, 2 * MS, &mut postponed), 2 * MS);
        assert_eq!(postpone(0, 25 * MS, &mut postponed), 80 * MS);
        // Set again shortly before the due time, and after it.
        for now in [20, 30, 40] {
            assert_eq!(postpone(now * MS, 25 * MS, &mut postponed), 80 * MS, "{now} ms");
        }
        assert_eq!(postpone(20 * MS, 22 * MS, &mut postponed), 22 * MS);
        assert_eq!(postpone(20 * MS, NEVER, &mut postponed), NEVER);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any origin will do")]
    fn connections_are_due_at_the_earlier_of_timer_and_flush() {
        let origin = Instant::now();
        let at = |ms| origin + Duration::from_millis(ms);
        let mut times = DueTimes::new(origin);
        (0..3).for_each(|slot| times.clear(slot));
        times.set_timer(origin, 0, Some(at(30)), false);
        times.set_timer(origin, 2, Some(at(20)), true);
        times.flush_by(2, at(25));
        times.flush_by(2, at(28));
        assert_eq!(times.next_deadline(), Some(at(25)));
        let collect = |times: &mut DueTimes, ms| {
            let mut due = Vec::new();
            times.collect(at(ms), &mut due);
            due.iter().map(|due| (due.slot, due.is_timer)).collect::<Vec<_>>()
        };
        assert_eq!(collect(&mut times, 24), []);
        assert_eq!(collect(&mut times, 25), [(2, false)]);
        times.flushed(2);
        assert_eq!(times.next_deadline(), Some(at(30)));
        assert_eq!(collect(&mut times, 75), [(0, true), (2, true)]);
        times.clear(0);
        times.clear(2);
        assert_eq!(times.next_deadline(), None);
        assert_eq!(collect(&mut times, 1_000), []);
    }
}
