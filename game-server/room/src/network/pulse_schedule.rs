//! When a client gets a datagram without contents.
//!
//! A datagram with changes carries the stamp of its tick: the client then knows all that it may
//! know up to that time. When there are no changes, a *pulse* serves that purpose: a datagram with
//! a stamp and nothing else. How long the client can do without depends on what it sees:
//! - While something moves, the client's view is as old as the newest stamp. A pulse follows after
//!   [`PULSE_INTERVAL`].
//! - When nothing moves, the view does not age. The client only has to know that the connection is
//!   alive: a pulse follows after [`IDLE_PULSE_INTERVAL`], and the client asks only when one is
//!   missing ([`PingSchedule`](ambit_proto::link::PingSchedule)).
//!   Answers to the link's pings, for the clock, carry a stamp too.
//!
//! A pulse asks for no acknowledgement: the next one replaces it.
//!
//! Invariant: the schedule depends only on what the client follows and was sent; otherwise it would
//! reveal hidden objects.

use std::time::Duration;

use ambit_proto::time::GameTime;

/// The longest time without a stamp for a client that sees something move.
const PULSE_INTERVAL: Duration = Duration::from_millis(100);
/// The longest time without a stamp for any client. `docs/link.md` has the calculation.
const IDLE_PULSE_INTERVAL: Duration = Duration::from_millis(1_500);

/// The pulses of one client.
#[derive(Clone, Copy, Debug)]
pub(super) struct PulseSchedule {
    last_stamp_at: GameTime,
}

impl PulseSchedule {
    /// The schedule of a client that joins at `now`.
    pub(super) fn new(now: GameTime) -> Self {
        PulseSchedule { last_stamp_at: now }
    }

    /// Notes that a datagram with a stamp was sent.
    pub(super) fn note_stamp(&mut self, now: GameTime) {
        self.last_stamp_at = now;
    }

    /// Whether the newest stamp that was sent is older than the tick of `now`.
    pub(super) fn is_behind(self, now: GameTime) -> bool {
        self.last_stamp_at < now
    }

    /// Whether a pulse is due at the tick of `now`, unless a datagram is sent anyway. `sees_motion`
    /// is evaluated only if it matters.
    pub(super) fn is_due(self, now: GameTime, sees_motion: impl FnOnce() -> bool) -> bool {
        let silence = now.since(self.last_stamp_at);
        silence >= IDLE_PULSE_INTERVAL || silence >= PULSE_INTERVAL && sees_motion()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulses_are_frequent_while_objects_move_and_rare_otherwise() {
        let mut schedule = PulseSchedule::new(GameTime::ZERO);
        let at = GameTime::from_millis;
        assert!(!schedule.is_due(at(50), || true));
        assert!(schedule.is_due(at(100), || true) && !schedule.is_due(at(100), || false));
        assert!(!schedule.is_due(at(1_450), || false) && schedule.is_due(at(1_500), || false));
        assert!(schedule.is_behind(at(1_500)));
        schedule.note_stamp(at(1_500));
        assert!(!schedule.is_behind(at(1_500)));
        assert!(!schedule.is_due(at(1_550), || true));
    }
}
