//! A sorted set of slots that is small almost always: up to eight are stored inline, without an
//! allocation.
//!
//! A set that has been larger keeps its heap storage for the next time. Cost: a look-up is a test
//! of one bit for most slots that are not in the set, and logarithmic for others; an insertion or
//! removal moves the elements behind it.

use smallvec::SmallVec;

use super::slot_map::SlotIndex;

/// As many as fit into a cache line of 64 bytes beside the other data of a member in `cell_index`.
const INLINE_CAPACITY: usize = 8;

/// A sorted set of slots; see the module.
#[derive(Default)]
pub(super) struct SmallSet {
    slots: SmallVec<[SlotIndex; INLINE_CAPACITY]>,
    /// The bits of all slots; see [`bit`].
    bits: u64,
}

/// Slots that differ in their bits are different (a Bloom filter with one function).
fn bit(slot: SlotIndex) -> u64 {
    1 << (slot % u64::BITS)
}

impl SmallSet {
    /// The slots in ascending order.
    pub(super) fn as_slice(&self) -> &[SlotIndex] {
        &self.slots
    }

    pub(super) fn contains(&self, slot: SlotIndex) -> bool {
        self.bits & bit(slot) != 0 && self.slots.binary_search(&slot).is_ok()
    }

    /// Inserts a slot that is not in the set.
    pub(super) fn insert(&mut self, slot: SlotIndex) {
        let found = self.slots.binary_search(&slot);
        let at = found.expect_err("a slot is inserted once");
        self.slots.insert(at, slot);
        self.bits |= bit(slot);
    }

    /// Removes a slot that is in the set.
    pub(super) fn remove(&mut self, slot: SlotIndex) {
        let found = self.slots.binary_search(&slot);
        self.slots.remove(found.expect("the slot is in the set"));
        self.bits = self.slots.iter().fold(0, |bits, &slot| bits | bit(slot));
    }

    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.bits = 0;
    }

    /// How many slots fit without another allocation.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.capacity()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_small_set_behaves_as_a_sorted_set_at_any_size() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut set = SmallSet::default();
            let mut plain = BTreeSet::new();
            for _ in 0..200 {
                // Some slots have the same bit.
                let slot = 16 * rng.u32(..5 + seed as u32);
                if plain.remove(&slot) {
                    set.remove(slot);
                } else {
                    set.insert(slot);
                    plain.insert(slot);
                }
                assert!(set.as_slice().iter().eq(&plain), "seed {seed}");
                assert!(
                    (0..500).all(|slot| set.contains(slot) == plain.contains(&slot)),
                    "seed {seed}"
                );
            }
            set.clear();
            assert!(set.as_slice().is_empty(), "seed {seed}");
        }
    }
}
