//! Objects in a flat array, found by place at once, by id in a few steps, and walked by ascending
//! id.
//!
//! Objects go in and get a place, which holds until they are taken out; later ones reuse it. Cost:
//! to add one, a push (ids ascend); to find one by id, a binary search; to take one out, its
//! successors' entries of 8 bytes move.
//!
//! Invariant: `order` names each object once, by ascending id.

/// The place of an object.
pub type StoreIndex = u32;

/// Objects by place and by id.
#[derive(Debug)]
pub struct ObjectStore<T> {
    entries: Vec<Option<T>>,
    free: Vec<StoreIndex>,
    /// Id and place, by ascending id.
    order: Vec<(u32, StoreIndex)>,
}

impl<T> Default for ObjectStore<T> {
    fn default() -> Self {
        ObjectStore {
            entries: Vec::new(),
            free: Vec::new(),
            order: Vec::new(),
        }
    }
}

impl<T> ObjectStore<T> {
    /// Adds an object, whose id is greater than that of each other one.
    pub fn push(&mut self, id: u32, object: T) -> StoreIndex {
        debug_assert!(
            self.order.last().is_none_or(|last| last.0 < id),
            "ids ascend"
        );
        let place = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as StoreIndex - 1
        });
        self.entries[place as usize] = Some(object);
        self.order.push((id, place));
        place
    }

    /// Takes an object out.
    pub fn remove(&mut self, id: u32) -> Option<T> {
        let index = self.order_index(id)?;
        let (_, place) = self.order.remove(index);
        self.free.push(place);
        self.entries[place as usize].take()
    }

    /// The object at a place.
    pub fn at(&self, place: StoreIndex) -> Option<&T> {
        self.entries.get(place as usize)?.as_ref()
    }

    /// The object at a place.
    pub fn at_mut(&mut self, place: StoreIndex) -> Option<&mut T> {
        self.entries.get_mut(place as usize)?.as_mut()
    }

    /// Where the object with this id is.
    pub fn index_of(&self, id: u32) -> Option<StoreIndex> {
        Some(self.order[self.order_index(id)?].1)
    }

    /// The object with this id.
    pub fn get(&self, id: u32) -> Option<&T> {
        self.at(self.index_of(id)?)
    }

    /// The object with this id.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let place = self.index_of(id)?;
        self.at_mut(place)
    }

    /// All objects, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.order
            .iter()
            .filter_map(|&(id, place)| Some((id, self.at(place)?)))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn order_index(&self, id: u32) -> Option<usize> {
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
            let (mut store, mut map, mut most) = (ObjectStore::default(), BTreeMap::new(), 0);
            for id in 1..500_u32 {
                let place = store.push(id, id * 10);
                map.insert(id, id * 10);
                most = most.max(map.len());
                assert_eq!(
                    (store.at(place), store.index_of(id)),
                    (Some(&(id * 10)), Some(place)),
                    "seed {seed}"
                );
                for _ in 0..rng.u32(0..3) {
                    let gone = rng.u32(1..=id);
                    assert_eq!(store.remove(gone), map.remove(&gone), "seed {seed}");
                    assert_eq!(store.get(gone), None);
                }
                assert!(
                    store
                        .iter()
                        .map(|(id, object)| (id, *object))
                        .eq(map.iter().map(|(id, object)| (*id, *object)))
                );
                assert_eq!((store.len(), store.is_empty()), (map.len(), map.is_empty()));
            }
            assert_eq!(store.entries.len(), most, "seed {seed}");
        }
    }
}
