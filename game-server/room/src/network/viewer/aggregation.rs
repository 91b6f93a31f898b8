//! Aggregation by quorum: when what may wait is worth a datagram.
//!
//! What may wait are poses, the coming and going of what has them, and reports of when inputs took
//! effect. The size of the poses goes in at each tick; out comes whether all that leaves now: when
//! there are enough bytes of poses, or when the first of it has waited for as long as the room
//! allows. A datagram that is sent for another reason takes it along. The newest pose is sent,
//! whatever was due before, so waiting costs age and not bytes.
//!
//! Units: bytes; room time. Source: "Optimisation des échanges de données" (aggregation of messages
//! by deadline and by quorum).

use ambit_proto::time::GameTime;

use crate::config::Quorum;

/// What waits for one client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeldContents {
    /// When the first of it was due.
    since: Option<GameTime>,
}

impl HeldContents {
    /// Whether what waits leaves at this tick, with poses of `pose_bytes` bytes; `None` if nothing
    /// waits.
    pub(super) fn leave(
        &mut self,
        quorum: Quorum,
        pose_bytes: Option<u32>,
        now: GameTime,
        next_tick_at: GameTime,
    ) -> bool {
        let Some(bytes) = pose_bytes else {
            self.since = None;
            return false;
        };
        let since = *self.since.get_or_insert(now);
        bytes >= quorum.bytes || next_tick_at.since(since) > quorum.hold
    }

    /// A datagram took it along.
    pub(super) fn note_sent(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_waits_leaves_when_it_is_much_or_has_waited() {
        let quorum = Quorum { bytes: 60, hold: Duration::from_millis(50) };
        let mut held = HeldContents::default();
        let mut leave = |tick: u64, bytes: Option<u32>| {
            let at = |tick: u64| GameTime::from_micros(tick * 1_000_000 / 60);
            let leaves = held.leave(quorum, bytes, at(tick), at(tick + 1));
            if leaves {
                held.note_sent();
            }
            leaves
        };
        assert!(leave(1, Some(60)), "enough");
        assert!(!leave(2, Some(10)) && !leave(3, Some(20)) && !leave(4, Some(0)), "in time");
        assert!(leave(5, Some(30)), "the next tick would be too late");
        assert!(!leave(6, Some(10)) && !leave(7, None) && !leave(8, Some(10)), "nothing was due");
        assert!(!leave(9, Some(0)) && !leave(10, Some(10)) && leave(11, Some(10)));
    }

    #[test]
    fn without_a_quorum_nothing_waits() {
        let quorum = Quorum { bytes: 0, hold: Duration::from_millis(50) };
        let now = GameTime::from_millis(100);
        let next = now + Duration::from_millis(50);
        assert!(HeldContents::default().leave(quorum, Some(0), now, next));
        assert!(!HeldContents::default().leave(quorum, None, now, next));
    }
}
