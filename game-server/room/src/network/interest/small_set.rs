//! A sorted set of slots that is small almost always: up to ten are stored inline, without an
//! allocation.
//!
//! A set that has been larger keeps its heap storage for the next time. Cost: a look-up is
//! logarithmic; an insertion or removal moves the elements behind it.

use smallvec::SmallVec;

use super::slot_map::SlotIndex;

/// As many as fit into a cache line of 64 bytes beside the other data of a member in `cell_index`.
const INLINE_CAPACITY: usize = 10;

/// A sorted set of slots; see the module.
#[derive(Default)]
pub(super) struct SmallSet(SmallVec<[SlotIndex; INLINE_CAPACITY]>);

impl SmallSet {
    /// The slots in ascending order.
    pub(super) fn as_slice(&self) -> &[SlotIndex] {
        &self.0
    }

    pub(super) fn contains(&self, slot: SlotIndex) -> bool {
        self.0.binary_search(&slot).is_ok()
    }

    /// Inserts a slot that is not in the set.
    pub(super) fn insert(&mut self, slot: SlotIndex) {
        let found = self.0.binary_search(&slot);
        let at = found.expect_err("a slot is inserted once");
        self.0.insert(at, slot);
    }

    /// Removes a slot that is in the set.
    pub(super) fn remove(&mut self, slot: SlotIndex) {
        let found = self.0.binary_search(&slot);
        self.0.remove(found.expect("the slot is in the set"));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// How many slots fit without another allocation.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.0.capacity()
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
            let (mut set, mut plain) = (SmallSet::default(), BTreeSet::new());
            for _ in 0..200 {
                let slot = rng.u32(..5 + seed as u32);
                if plain.remove(&slot) {
                    set.remove(slot);
                } else {
                    set.insert(slot);
                    plain.insert(slot);
                }
                assert!(set.as_slice().iter().eq(&plain), "seed {seed}");
                assert!(
                    (0..30).all(|slot| set.contains(slot) == plain.contains(&slot)),
                    "seed {seed}"
                );
            }
            set.clear();
            assert!(set.as_slice().is_empty(), "seed {seed}");
        }
    }
}
