//! A sorted set of slots that is small almost always: up to ten lie in place, without another trip
//! to memory.
//!
//! One that has been larger keeps its storage, for the next crowd. Cost: a look-up is logarithmic,
//! a change moves what lies behind it.

use super::slot_map::SlotIndex;

/// As many as fit into a cache line of 64 bytes beside what `crowd` knows of an object.
const INLINE_CAPACITY: usize = 10;

/// See the module.
pub(super) enum SmallSet {
    Inline {
        len: u8,
        slots: [SlotIndex; INLINE_CAPACITY],
    },
    Heap(Vec<SlotIndex>),
}

impl Default for SmallSet {
    fn default() -> Self {
        Self::Inline {
            len: 0,
            slots: [0; INLINE_CAPACITY],
        }
    }
}

impl SmallSet {
    /// In ascending order.
    pub(super) fn as_slice(&self) -> &[SlotIndex] {
        match self {
            Self::Inline { len, slots } => &slots[..usize::from(*len)],
            Self::Heap(slots) => slots,
        }
    }

    pub(super) fn contains(&self, slot: SlotIndex) -> bool {
        self.as_slice().binary_search(&slot).is_ok()
    }

    /// Puts in a slot that is not in the set.
    pub(super) fn insert(&mut self, slot: SlotIndex) {
        let at = self
            .as_slice()
            .binary_search(&slot)
            .expect_err("a slot is in a set once");
        match self {
            Self::Inline { len, slots } if usize::from(*len) < INLINE_CAPACITY => {
                slots.copy_within(at..usize::from(*len), at + 1);
                slots[at] = slot;
                *len += 1;
            }
            Self::Inline { slots, .. } => {
                let mut many = Vec::with_capacity(4 * INLINE_CAPACITY);
                many.extend_from_slice(slots);
                many.insert(at, slot);
                *self = Self::Heap(many);
            }
            Self::Heap(slots) => slots.insert(at, slot),
        }
    }

    /// Takes out a slot that is in the set.
    pub(super) fn remove(&mut self, slot: SlotIndex) {
        let at = self
            .as_slice()
            .binary_search(&slot)
            .expect("the slot is in the set");
        match self {
            Self::Inline { len, slots } => {
                slots.copy_within(at + 1..usize::from(*len), at);
                *len -= 1;
            }
            Self::Heap(slots) => {
                slots.remove(at);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        match self {
            Self::Inline { len, .. } => *len = 0,
            Self::Heap(slots) => slots.clear(),
        }
    }

    /// How many fit in without asking for memory.
    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        match self {
            Self::Inline { .. } => INLINE_CAPACITY,
            Self::Heap(slots) => slots.capacity(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn it_behaves_as_a_sorted_set_at_any_size() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut few, mut plain) = (SmallSet::default(), BTreeSet::new());
            for _ in 0..200 {
                let slot = rng.u32(..5 + seed as u32);
                if plain.remove(&slot) {
                    few.remove(slot);
                } else {
                    few.insert(slot);
                    plain.insert(slot);
                }
                assert!(few.as_slice().iter().eq(&plain), "seed {seed}");
                assert!(
                    (0..30).all(|slot| few.contains(slot) == plain.contains(&slot)),
                    "seed {seed}"
                );
            }
            few.clear();
            assert!(few.as_slice().is_empty(), "seed {seed}");
        }
    }
}
