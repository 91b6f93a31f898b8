//! How a client that cannot be told everything is told something at each tick.
//!
//! A budget that holds over any second can be spent at once, and then nothing is left for a while:
//! what the player fights would stand still. So whoever has more to hear than the budget allows is
//! told a tick's share of it at each tick. Who is not behind may be told as much at once as the
//! link allows.
//!
//! What became of a tick goes in, how much the next one may say comes out. Units: bytes with all
//! that a datagram costs on the line.

use std::time::Duration;

use ambit_proto::link::{BudgetConfig, MAX_DATAGRAM};

/// Of a tick's share, in hundredths: what is left makes up for rounding, so that the link never has
/// to refuse.
const SHARE_PERCENT: u64 = 96;
/// What a datagram costs beside its body, in bytes, at most: the link's header; not counting
/// messages, which have priority.
const HEADER_BYTES: u64 = 12;
/// Poses that are looked at for each that went out at the tick before, and some more, as what they
/// take varies.
const POSES_FACTOR: usize = 2;
const EXTRA_POSES: usize = 64;

/// A datagram that is full, with all that it costs: as much may be saved up.
const FULL_BYTES: u64 = MAX_DATAGRAM as u64 + 53;
/// Ticks in a row in which records were due and none fitted, before a full datagram is saved up for
/// them.
const PATIENCE_TICKS: u32 = 8;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// What earlier ticks left over, up to a full datagram: a share may be too small for anything.
    saved_bytes: u64,
    /// Ticks in a row in which records were due and none fitted.
    stuck_ticks: u32,
    /// Poses that went out at the last tick, if not everything did.
    poses_sent_while_behind: Option<usize>,
    /// What may still leave at this tick; any if the client is not behind.
    remaining_bytes: Option<u64>,
}

impl Pacer {
    /// A tick of this length begins to write; `rate` is what may leave in a second.
    pub(super) fn begin_tick(&mut self, rate: impl FnOnce() -> u32, tick: Duration) {
        let share =
            |rate: u32| u64::from(rate) * tick.as_micros() as u64 * SHARE_PERCENT / 100_000_000;
        self.remaining_bytes = self
            .poses_sent_while_behind
            .map(|_| share(rate()) + self.saved_bytes);
    }

    /// A tick is over. If not everything that was due went out: how many poses did; and how many
    /// records did, if not all.
    pub(super) fn end_tick(&mut self, behind: Option<usize>, records: Option<usize>) {
        self.saved_bytes = self.remaining_bytes.unwrap_or(0).min(FULL_BYTES);
        // One full datagram, and then it is the others' turn again.
        let granted = self.stuck_ticks >= PATIENCE_TICKS && !self.is_saving();
        self.stuck_ticks = if records == Some(0) && !granted {
            self.stuck_ticks + 1
        } else {
            0
        };
        self.poses_sent_while_behind = behind;
        if behind.is_none() {
            self.saved_bytes = 0;
        }
    }

    /// Whether nothing leaves at this tick so that a record that is longer than a tick's share
    /// leaves at one of the next.
    fn is_saving(&self) -> bool {
        self.stuck_ticks >= PATIENCE_TICKS
            && self.remaining_bytes.is_some_and(|left| left < FULL_BYTES)
    }

    /// How many poses are worth a look.
    pub(super) fn max_poses(&self) -> usize {
        self.poses_sent_while_behind
            .map_or(usize::MAX, |sent| POSES_FACTOR * sent + EXTRA_POSES)
    }

    /// How long the next body may be, in bits.
    pub(super) fn available_bits(&self) -> usize {
        if self.is_saving() {
            return 0;
        }
        let overhead = u64::from(BudgetConfig::default().overhead_bytes) + HEADER_BYTES;
        self.remaining_bytes.map_or(usize::MAX, |left| {
            8 * left.saturating_sub(overhead) as usize
        })
    }

    /// A datagram of this length leaves.
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
        let mut pace = Pacer::default();
        pace.begin_tick(|| 20_000, tick);
        assert_eq!(
            (pace.available_bits(), pace.max_poses()),
            (usize::MAX, usize::MAX)
        );
        pace.end_tick(Some(30), None);
        assert_eq!(pace.max_poses(), 124);
        pace.begin_tick(|| 20_000, tick);
        assert_eq!(pace.available_bits(), 8 * (960 - 53 - 12));
        pace.note_sent(500);
        assert_eq!(pace.available_bits(), 8 * (960 - 553 - 53 - 12));
        pace.note_sent(500);
        assert_eq!(pace.available_bits(), 0);
        pace.end_tick(None, None);
        pace.begin_tick(|| 20_000, tick);
        assert_eq!(pace.available_bits(), usize::MAX);
    }

    #[test]
    fn a_share_too_small_for_any_datagram_is_saved_up() {
        let mut pace = Pacer::default();
        pace.end_tick(Some(0), None);
        let mut rooms = Vec::new();
        for _ in 0..6 {
            pace.begin_tick(|| 4_000, Duration::from_micros(16_666));
            rooms.push(pace.available_bits());
            pace.end_tick(Some(0), None);
        }
        assert_eq!(rooms[..2], [0, 8 * (2 * 63 - 65)]);
        assert!(rooms.is_sorted(), "{rooms:?}");
    }

    #[test]
    fn a_record_longer_than_a_share_is_sent_after_patience_ticks() {
        let mut pace = Pacer::default();
        pace.end_tick(Some(9), None);
        let (mut most, mut bytes) = (0, 0);
        for _ in 0..60 {
            pace.begin_tick(|| 8_000, Duration::from_millis(50));
            let room = pace.available_bits() / 8;
            most = most.max(room);
            // All that there is room for is used by smaller things.
            if room > 0 {
                pace.note_sent(room);
                bytes += room as u64 + 53;
            }
            pace.end_tick(Some(9), Some(0));
        }
        assert!(most >= MAX_DATAGRAM - 12, "{most}");
        assert!(bytes <= 60 * 400, "{bytes}");
    }
}
