//! When a client is told that there is nothing to tell.
//!
//! A datagram with news brings the stamp of its tick: up to then the client knows all that it may
//! know. Where there is no news, a *pulse* does that, a datagram with a stamp and nothing else.
//! What comes of silence at the client:
//! - as long as something that it sees moves, what it shows is as old as the newest stamp; so a
//!   pulse follows after [`PULSE`].
//! - When nothing moves, nothing gets old. The client only wants to know that the line lives, and
//!   has its clock by the link's pings, whose answers bring a stamp along; should there be none, a
//!   pulse follows after [`IDLE_PULSE_INTERVAL`].
//!
//! A pulse asks for no acknowledgement: the next one makes up for it.
//!
//! Invariant: the rhythm depends on what the client follows and was told, and on nothing else: it
//! must not tell of what is hidden.

use std::time::Duration;

use ambit_proto::time::GameTime;

/// At most that much silence towards whoever sees something move.
const PULSE_INTERVAL: Duration = Duration::from_millis(100);
/// At most that much silence.
const IDLE_PULSE_INTERVAL: Duration = Duration::from_secs(3);

/// When one client was told the room's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PulseSchedule {
    last_stamp_at: GameTime,
}

impl PulseSchedule {
    /// Of a client that came in at `now`.
    pub(super) fn new(now: GameTime) -> Self {
        PulseSchedule { last_stamp_at: now }
    }

    /// A datagram with a stamp has left.
    pub(super) fn note_stamp(&mut self, now: GameTime) {
        self.last_stamp_at = now;
    }

    /// Whether the client was told the room's time before the tick of `now`, and not at it.
    pub(super) fn is_behind(self, now: GameTime) -> bool {
        self.last_stamp_at < now
    }

    /// Whether a pulse is due at the tick of `now`, unless a datagram leaves anyway; `sees_motion`
    /// is asked only if it matters.
    pub(super) fn is_due(self, now: GameTime, sees_motion: impl FnOnce() -> bool) -> bool {
        let silence = now.since(self.last_stamp_at);
        silence >= IDLE_PULSE_INTERVAL || silence >= PULSE_INTERVAL && sees_motion()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pulses_come_soon_while_something_moves_and_late_otherwise() {
        let mut rhythm = PulseSchedule::new(GameTime::ZERO);
        let at = GameTime::from_millis;
        assert!(!rhythm.is_due(at(50), || true));
        assert!(rhythm.is_due(at(100), || true) && !rhythm.is_due(at(100), || false));
        assert!(!rhythm.is_due(at(2_950), || false) && rhythm.is_due(at(3_000), || false));
        assert!(rhythm.is_behind(at(3_000)));
        rhythm.note_stamp(at(3_000));
        assert!(!rhythm.is_behind(at(3_000)));
        assert!(!rhythm.is_due(at(3_050), || true));
    }
}
