//! Objects in a flat array, found directly by index, by id with a binary search, and iterated by
//! ascending id.
//!
//! An added object gets an index, which is valid until it is removed; later objects reuse it. Cost:
//! to add, a push (ids ascend); to find by id, a binary search; to remove, moving the following
//! entries of 8 bytes.
//!
//! Invariant: `order` contains each object once, by ascending id.

use ambit_proto::ids::ClientObjectId;

/// The index of an object in the store.
pub type StoreIndex = u32;

/// Objects by index and by id.
#[derive(Debug)]
#[derive_where::derive_where(Default)]
pub struct ObjectStore<T> {
    entries: Vec<Option<T>>,
    free: Vec<StoreIndex>,
    /// Id and index, by ascending id.
    order: Vec<(ClientObjectId, StoreIndex)>,
}

impl<T> ObjectStore<T> {
    /// Adds an object, whose id must be greater than all others.
    pub fn push(&mut self, id: ClientObjectId, object: T) -> StoreIndex {
        debug_assert!(self.order.last().is_none_or(|last| last.0 < id), "ids ascend");
        let entry = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as StoreIndex - 1
        });
        self.entries[entry as usize] = Some(object);
        self.order.push((id, entry));
        entry
    }

    /// Removes an object; another one may get its index.
    pub fn remove(&mut self, id: ClientObjectId) -> Option<T> {
        let index = self.order_index(id)?;
        let (_, entry) = self.order.remove(index);
        self.free.push(entry);
        self.entries[entry as usize].take()
    }

    /// The object at an index.
    pub fn at(&self, entry: StoreIndex) -> Option<&T> {
        self.entries.get(entry as usize)?.as_ref()
    }

    /// The object at an index.
    pub fn at_mut(&mut self, entry: StoreIndex) -> Option<&mut T> {
        self.entries.get_mut(entry as usize)?.as_mut()
    }

    /// The index of the object with this id.
    pub fn index_of(&self, id: ClientObjectId) -> Option<StoreIndex> {
        Some(self.order[self.order_index(id)?].1)
    }

    /// The object with this id.
    pub fn get(&self, id: ClientObjectId) -> Option<&T> {
        self.at(self.index_of(id)?)
    }

    /// The object with this id.
    pub fn get_mut(&mut self, id: ClientObjectId) -> Option<&mut T> {
        let entry = self.index_of(id)?;
        self.at_mut(entry)
    }

    /// All objects, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (ClientObjectId, &T)> {
        self.order.iter().filter_map(|&(id, entry)| Some((id, self.at(entry)?)))
    }

    /// The objects whose ids come after this one, by ascending id.
    pub fn iter_after(&self, id: ClientObjectId) -> impl Iterator<Item = (ClientObjectId, &T)> {
        let first = self.order.partition_point(|entry| entry.0 <= id);
        self.order[first..].iter().filter_map(|&(id, entry)| Some((id, self.at(entry)?)))
    }

    /// All objects, in no particular order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().flatten()
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn order_index(&self, id: ClientObjectId) -> Option<usize> {
        self.order.binary_search_by_key(&id, |entry| entry.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_store_matches_a_map_and_reuses_free_entries() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut store = ObjectStore::default();
            let mut map = BTreeMap::new();
            let mut max_len = 0;
            for number in 1..500 {
                let id = ClientObjectId(number);
                let entry = store.push(id, number * 10);
                map.insert(id, number * 10);
                max_len = max_len.max(map.len());
                assert_eq!(
                    (store.at(entry), store.index_of(id)),
                    (Some(&(number * 10)), Some(entry)),
                    "seed {seed}"
                );
                for _ in 0..rng.u32(0..3) {
                    let removed = ClientObjectId(rng.u32(1..=number));
                    assert_eq!(store.remove(removed), map.remove(&removed), "seed {seed}");
                    assert_eq!(store.get(removed), None);
                }
                assert!(
                    store
                        .iter()
                        .map(|(id, object)| (id, *object))
                        .eq(map.iter().map(|(id, object)| (*id, *object)))
                );
                let after = ClientObjectId(rng.u32(0..=number));
                let newer = map.keys().filter(|id| **id > after).count();
                assert_eq!(store.iter_after(after).count(), newer);
                assert_eq!((store.len(), store.is_empty()), (map.len(), map.is_empty()));
            }
            assert_eq!(store.entries.len(), max_len, "seed {seed}");
        }
    }
}
