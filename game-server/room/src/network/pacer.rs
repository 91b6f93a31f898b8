//! Spreads the budget over the ticks for a client that cannot get everything at once.
//!
//! A budget that limits any whole second can be spent within one tick; then nothing can be sent for
//! a while, and the objects that the player interacts with stop moving. So a client that is behind
//! gets at each tick that tick's share of the budget. A client that is not behind may get as much
//! at once as the link allows.
//!
//! The result of a tick goes in; the limit for the next one comes out. Units: bytes, with all
//! headers that a datagram has on the wire.

use std::time::Duration;

use ambit_proto::link::{BudgetConfig, MAX_DATAGRAM};

/// The part of a tick's share that is used, in per cent. The rest covers rounding, so that the link
/// never has to refuse a datagram.
const SHARE_PERCENT: u64 = 96;
/// The link's header, in bytes, at most. Messages are not counted: they have priority.
const HEADER_BYTES: u64 = 12;
/// How many poses are considered for each that was sent at the previous tick; and some more,
/// because the sizes of poses vary.
const POSES_FACTOR: usize = 2;
const EXTRA_POSES: usize = 64;

/// A full datagram with its overhead: the most that may be saved up.
const FULL_BYTES: u64 = MAX_DATAGRAM as u64 + 53;
/// After this number of ticks in a row in which records were due and none fitted, a full datagram
/// is saved up for them.
const PATIENCE_TICKS: u32 = 8;

/// The pacing of one client; see the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// What earlier ticks left over, at most a full datagram: a single share may be too small for
    /// anything.
    saved_bytes: u64,
    /// Ticks in a row in which records were due and none fitted.
    stuck_ticks: u32,
    /// Poses sent at the last tick, if not all that was due was sent.
    poses_sent_while_behind: Option<usize>,
    /// What may still be sent at this tick; `None` (no limit) if the client is not behind.
    remaining_bytes: Option<u64>,
}

impl Pacer {
    /// Begins a tick of this length; `rate` is the budget in bytes a second.
    pub(super) fn begin_tick(&mut self, rate: impl FnOnce() -> u32, tick: Duration) {
        let share =
            |rate: u32| u64::from(rate) * tick.as_micros() as u64 * SHARE_PERCENT / 100_000_000;
        self.remaining_bytes =
            self.poses_sent_while_behind.map(|_| share(rate()) + self.saved_bytes);
    }

    /// Ends a tick. `behind` is the number of poses that were sent, if not all that was due was
    /// sent; `records` is the number of records that were sent, if not all that were due.
    pub(super) fn end_tick(&mut self, behind: Option<usize>, records: Option<usize>) {
        self.saved_bytes = self.remaining_bytes.unwrap_or(0).min(FULL_BYTES);
        // After one full datagram, poses get their turn again.
        let granted = self.stuck_ticks >= PATIENCE_TICKS && !self.is_saving();
        self.stuck_ticks = if records == Some(0) && !granted { self.stuck_ticks + 1 } else { 0 };
        self.poses_sent_while_behind = behind;
        if behind.is_none() {
            self.saved_bytes = 0;
        }
    }

    /// Whether this tick sends nothing, so that a record that is longer than a tick's share fits
    /// into a later tick.
    fn is_saving(&self) -> bool {
        self.stuck_ticks >= PATIENCE_TICKS
            && self.remaining_bytes.is_some_and(|left| left < FULL_BYTES)
    }

    /// How many poses to consider at most.
    pub(super) fn max_poses(&self) -> usize {
        self.poses_sent_while_behind.map_or(usize::MAX, |sent| POSES_FACTOR * sent + EXTRA_POSES)
    }

    /// The maximum length of the next body, in bits.
    pub(super) fn available_bits(&self) -> usize {
        if self.is_saving() {
            return 0;
        }
        let overhead = u64::from(BudgetConfig::default().overhead_bytes) + HEADER_BYTES;
        self.remaining_bytes.map_or(usize::MAX, |left| 8 * left.saturating_sub(overhead) as usize)
    }

    /// Notes that a datagram of this length was sent.
    pub(super) fn note_sent(&mut self, bytes: usize) {
        let cost = bytes as u64 + u64::from(BudgetConfig::default().overhead_bytes);
        self.remaining_bytes = self.remaining_bytes.map(|left| left.saturating_sub(cost));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_client_that_is_behind_is_limited_to_a_share_a_tick() {
        let tick = Duration::from_millis(50);
        let mut pacer = Pacer::default();
        pacer.begin_tick(|| 20_000, tick);
        assert_eq!((pacer.available_bits(), pacer.max_poses()), (usize::MAX, usize::MAX));
        pacer.end_tick(Some(30), None);
        assert_eq!(pacer.max_poses(), 124);
        pacer.begin_tick(|| 20_000, tick);
        assert_eq!(pacer.available_bits(), 8 * (960 - 53 - 12));
        pacer.note_sent(500);
        assert_eq!(pacer.available_bits(), 8 * (960 - 553 - 53 - 12));
        pacer.note_sent(500);
        assert_eq!(pacer.available_bits(), 0);
        pacer.end_tick(None, None);
        pacer.begin_tick(|| 20_000, tick);
        assert_eq!(pacer.available_bits(), usize::MAX);
    }

    #[test]
    fn a_share_too_small_for_any_datagram_is_saved_up() {
        let mut pacer = Pacer::default();
        pacer.end_tick(Some(0), None);
        let mut limits = Vec::new();
        for _ in 0..6 {
            pacer.begin_tick(|| 4_000, Duration::from_micros(16_666));
            limits.push(pacer.available_bits());
            pacer.end_tick(Some(0), None);
        }
        assert_eq!(limits[..2], [0, 8 * (2 * 63 - 65)]);
        assert!(limits.is_sorted(), "{limits:?}");
    }

    #[test]
    fn a_record_longer_than_a_share_is_sent_after_patience_ticks() {
        let mut pacer = Pacer::default();
        pacer.end_tick(Some(9), None);
        let mut max_room = 0;
        let mut bytes = 0;
        for _ in 0..60 {
            pacer.begin_tick(|| 8_000, Duration::from_millis(50));
            let room = pacer.available_bits() / 8;
            max_room = max_room.max(room);
            // Smaller records and poses use all the room.
            if room > 0 {
                pacer.note_sent(room);
                bytes += room as u64 + 53;
            }
            pacer.end_tick(Some(9), Some(0));
        }
        assert!(max_room >= MAX_DATAGRAM - 12, "{max_room}");
        assert!(bytes <= 60 * 400, "{bytes}");
    }
}
