//! The number of bytes that left within the last second, in slots of 5 ms. A slot counts until all
//! of it is more than a second old, so the answer is never too low. Cost: proportional to the slots
//! that expire. Memory: 820 bytes.

use crate::time::LocalTime;

const SLOT_US: u64 = 5_000;

/// A second, and the current slot.
const SLOTS: u64 = 201;

#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// By slot, modulo their number.
    bytes: [u32; SLOTS as usize],
    newest: u64,
    sum: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self { bytes: [0; SLOTS as usize], newest: 0, sum: 0 }
    }
}

impl Ledger {
    /// Records that this many bytes leave.
    pub(super) fn add(&mut self, now: LocalTime, bytes: u32) {
        self.advance(now);
        let slot = (self.newest % SLOTS) as usize;
        self.bytes[slot] = self.bytes[slot].saturating_add(bytes);
        self.sum += u64::from(bytes);
    }

    /// Clears the slots that are older than a second.
    pub(super) fn advance(&mut self, now: LocalTime) {
        let slot = slot_of(now);
        for expired in self.expired_slots(slot) {
            let bytes = &mut self.bytes[(expired % SLOTS) as usize];
            self.sum -= u64::from(std::mem::take(bytes));
        }
        self.newest = self.newest.max(slot);
    }

    /// The bytes that left within the second before `now`.
    pub(super) fn last_second(&self, now: LocalTime) -> u64 {
        let expired: u64 = self
            .expired_slots(slot_of(now))
            .map(|slot| u64::from(self.bytes[(slot % SLOTS) as usize]))
            .sum();
        self.sum - expired
    }

    /// The stored slots that are too old when the current one is `slot`.
    fn expired_slots(&self, slot: u64) -> std::ops::Range<u64> {
        let oldest = (self.newest + 1).saturating_sub(SLOTS);
        let first_kept = (slot + 1).saturating_sub(SLOTS).min(self.newest + 1);
        oldest..first_kept.max(oldest)
    }
}

fn slot_of(time: LocalTime) -> u64 {
    time.micros() / SLOT_US
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_counts_the_last_second_and_at_most_one_slot_more() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut ledger = Ledger::default();
            let mut departures = Vec::new();
            let mut now = 5_000_000;
            for _ in 0..2_000 {
                now += rng.u64(..) % [1, 3_000, 40_000, 1_500_000][rng.usize(..4)];
                let within = |span: u64| -> u64 {
                    departures
                        .iter()
                        .filter(|&&(at, _)| at + span >= now)
                        .map(|&(_, bytes)| u64::from(bytes))
                        .sum()
                };
                let counted = ledger.last_second(LocalTime::from_micros(now));
                assert!(
                    (within(1_000_000)..=within(1_005_000)).contains(&counted),
                    "seed {seed} at {now}"
                );
                let bytes = rng.u32(..1_200);
                ledger.add(LocalTime::from_micros(now), bytes);
                departures.push((now, bytes));
            }
        }
    }
}
