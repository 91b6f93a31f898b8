//! Aggregation by quorum: when the poses that are due are worth a datagram.
//!
//! Their size goes in at each tick; out comes whether they leave now. They leave when there are
//! enough bytes of them, or when the first of them has waited for as long as the room allows. A
//! datagram that is sent for another reason takes them along. The newest pose is sent, whatever was
//! due before, so waiting costs age and not bytes.
//!
//! Units: bytes; room time. Source: "Optimisation des échanges de données" (aggregation of messages
//! by deadline and by quorum).

use ambit_proto::time::GameTime;

use crate::config::Quorum;

/// Poses of one client that wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldPoses {
    /// When the first of them was due.
    since: Option<GameTime>,
}

impl HeldPoses {
    /// Whether poses of so many bytes leave at this tick.
    pub(super) fn leave(
        &mut self,
        quorum: Quorum,
        bytes: u32,
        now: GameTime,
        next_tick_at: GameTime,
    ) -> bool {
        if bytes == 0 {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        bytes >= quorum.bytes || next_tick_at.since(since) > quorum.hold
    }

    /// A datagram took them along.
    pub(super) fn note_sent(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn poses_leave_when_they_are_many_or_have_waited() {
        let quorum = Quorum { bytes: 60, hold: Duration::from_millis(50) };
        let mut held = HeldPoses::default();
        let mut leave = |tick: u64, bytes| {
            let at = |tick: u64| GameTime::from_micros(tick * 1_000_000 / 60);
            let leaves = held.leave(quorum, bytes, at(tick), at(tick + 1));
            if leaves {
                held.note_sent();
            }
            leaves
        };
        assert!(leave(1, 60), "enough");
        assert!(!leave(2, 10) && !leave(3, 20) && !leave(4, 20), "the next tick is in time");
        assert!(leave(5, 30), "the next tick would be too late");
        assert!(!leave(6, 10) && !leave(7, 0) && !leave(8, 10), "nothing was due in between");
        assert!(!leave(9, 10) && !leave(10, 10) && leave(11, 10));
    }

    #[test]
    fn without_a_quorum_poses_leave_at_once() {
        let quorum = Quorum { bytes: 0, hold: Duration::from_millis(50) };
        let now = GameTime::from_millis(100);
        let leaves = HeldPoses::default().leave(quorum, 1, now, now + Duration::from_millis(50));
        assert!(leaves);
    }
}
