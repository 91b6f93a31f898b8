//! The objects of a world, found by id in one step.
//!
//! An id is a serial number (40 bits) and the slot of the object (24 bits). So ids are never
//! reused, a stale id finds nothing, and **the order of ids is the order of birth**: a list sorted
//! by id keeps its order when another object comes or goes. The keys of a slot map do not give this
//! order; with them a hidden object could reorder what clients receive of visible ones.
//!
//! Data that every tick walks through is in one array for each field, indexed by slot; data that
//! only changes touch is in [`StoredObject`]. Cost: an array access; slots of removed objects are
//! reused.

use std::collections::BTreeSet;

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};
use serde::{Deserialize, Serialize};

use super::path_segment::PathSegment;

const SLOT_BITS: u32 = 24;
/// The largest number of objects in a world.
pub(super) const MAX_OBJECTS: usize = (1 << SLOT_BITS) - 1;

/// Marks an object without a pose.
pub(super) const NO_POSE: u32 = u32::MAX;
/// No object has this id: the first one is number 1.
const NO_OBJECT: ObjectId = ObjectId(0);

/// The data of an object that no tick walks through.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredObject {
    pub(super) kind: u8,
    pub(super) owner: Option<PlayerId>,
    pub(super) team: Option<u8>,
    /// In the order of the schema; the first is the path or the pose.
    pub(super) components: Vec<Component>,
    /// Components that changed in this tick. Not 0 exactly if the object is in the world's list of
    /// changed objects.
    pub(super) dirty: u16,
    /// If the path is dirty: it is as before until then. Zero if that is not known.
    #[serde(skip)]
    pub(super) path_as_before_until: GameTime,
    /// Gauges and flags that have changed in this tick from a time before the horizon on, as a
    /// mask.
    #[serde(skip)]
    pub(super) changed_late: u16,
    /// Components with more points ahead than one record carries.
    pub(super) overflowing: u16,
}

impl StoredObject {
    pub(super) fn new(kind: u8, components: Vec<Component>) -> Self {
        Self { kind, components, ..Self::default() }
    }

    pub(super) fn path(&self) -> &Timeline<Waypoint> {
        match &self.components[0] {
            Component::Path(path) => path,
            other => panic!("component 0 is a path, not {other:?}"),
        }
    }
}

/// The result of [`Objects::to_saved`], as it is decoded.
pub(super) type SavedObjects =
    (Vec<ObjectId>, Vec<u32>, Vec<Option<GameTime>>, Vec<Option<StoredObject>>, Vec<usize>, u64);

/// All objects. See the module. All arrays by slot have the same length.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// The object in each slot; [`NO_OBJECT`] if the slot is free.
    ids: Vec<ObjectId>,
    /// Positions at `now`.
    pub(super) positions: Vec<Position>,
    /// The cells of these positions.
    pub(super) cells: Vec<Cell>,
    /// The current segment of each object's path, if the path continues.
    pub(super) segments: Vec<Option<PathSegment>>,
    /// When clients have to be sent the next part of each object's path, if they do not have all.
    pub(super) path_ahead_at: Vec<Option<GameTime>>,
    /// Whether the object is in the world's list of moving objects.
    pub(super) is_listed_moving: Vec<bool>,
    /// Index of the object's pose, or [`NO_POSE`].
    pub(super) pose_slots: Vec<u32>,
    /// All other data of the objects.
    details: Vec<Option<StoredObject>>,
    free: Vec<usize>,
    spawned_count: u64,
}

impl Objects {
    /// Creates an object at a position, without a segment or a pose.
    pub(super) fn insert(
        &mut self,
        object: StoredObject,
        position: Position,
        cell: Cell,
    ) -> ObjectId {
        let slot = self.free.pop().unwrap_or_else(|| self.add_slot());
        self.spawned_count += 1;
        let id = ObjectId((self.spawned_count << SLOT_BITS) | slot as u64);
        self.ids[slot] = id;
        self.positions[slot] = position;
        self.cells[slot] = cell;
        self.segments[slot] = None;
        self.path_ahead_at[slot] = None;
        self.is_listed_moving[slot] = false;
        self.pose_slots[slot] = NO_POSE;
        self.details[slot] = Some(object);
        id
    }

    pub(super) fn remove(&mut self, id: ObjectId) -> Option<StoredObject> {
        let slot = self.slot(id)?;
        self.ids[slot] = NO_OBJECT;
        self.free.push(slot);
        self.details[slot].take()
    }

    /// The slot of an object, if it exists.
    #[inline]
    pub(super) fn slot(&self, id: ObjectId) -> Option<usize> {
        let slot = slot_of(id);
        (self.ids.get(slot) == Some(&id) && id != NO_OBJECT).then_some(slot)
    }

    #[inline]
    pub(super) fn get(&self, id: ObjectId) -> Option<&StoredObject> {
        self.details[self.slot(id)?].as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: ObjectId) -> Option<&mut StoredObject> {
        let slot = self.slot(id)?;
        self.details[slot].as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len() - self.free.len()
    }

    /// The id of the object in a slot that is in use.
    pub(super) fn id_at_slot(&self, slot: usize) -> ObjectId {
        self.ids[slot]
    }

    /// All ids, oldest first. Cost: all objects, sorted.
    pub(super) fn ids(&self) -> Vec<ObjectId> {
        let mut ids: Vec<_> = self.ids.iter().copied().filter(|&id| id != NO_OBJECT).collect();
        ids.sort_unstable();
        ids
    }

    /// The data to save; the rest follows from the components.
    pub(super) fn to_saved(&self) -> impl Serialize + '_ {
        (
            &self.ids,
            &self.pose_slots,
            &self.path_ahead_at,
            &self.details,
            &self.free,
            self.spawned_count,
        )
    }

    /// Restores saved objects, each at the origin. `None` if the data is inconsistent.
    pub(super) fn from_saved(saved: SavedObjects) -> Option<Self> {
        let (ids, pose_slots, path_ahead_at, rest, free, born) = saved;
        let slots = ids.len();
        let is_empty = |slot: usize| ids.get(slot) == Some(&NO_OBJECT);
        let is_accurate = |(slot, id): (usize, &ObjectId)| {
            let exists = rest.get(slot).is_some_and(Option::is_some);
            if *id == NO_OBJECT {
                !exists
            } else {
                exists && slot_of(*id) == slot && id.0 >> SLOT_BITS <= born
            }
        };
        let fits = slots <= MAX_OBJECTS
            && pose_slots.len() == slots
            && path_ahead_at.len() == slots
            && rest.len() == slots;
        let empty = ids.iter().filter(|id| **id == NO_OBJECT).count();
        let freed: BTreeSet<usize> = free.iter().copied().collect();
        let is_free = freed.len() == free.len()
            && free.len() == empty
            && freed.iter().all(|&slot| is_empty(slot));
        (fits && is_free && ids.iter().enumerate().all(is_accurate)).then(|| Self {
            positions: vec![Position::default(); slots],
            cells: vec![Cell::default(); slots],
            segments: vec![None; slots],
            path_ahead_at,
            is_listed_moving: vec![false; slots],
            ids,
            pose_slots,
            details: rest,
            free,
            spawned_count: born,
        })
    }

    /// For each slot, whether it is in use.
    pub(super) fn occupied_slots(&self) -> impl Iterator<Item = bool> + '_ {
        self.ids.iter().map(|&id| id != NO_OBJECT)
    }

    fn add_slot(&mut self) -> usize {
        let slot = self.ids.len();
        assert!(slot < MAX_OBJECTS, "a world has at most {MAX_OBJECTS} objects");
        self.ids.push(NO_OBJECT);
        self.positions.push(Position::default());
        self.cells.push(Cell::default());
        self.segments.push(None);
        self.path_ahead_at.push(None);
        self.is_listed_moving.push(false);
        self.pose_slots.push(NO_POSE);
        self.details.push(None);
        slot
    }
}

pub(super) fn slot_of(id: ObjectId) -> usize {
    (id.0 & MAX_OBJECTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_id_finds_nothing_even_when_its_slot_is_reused() {
        let mut objects = Objects::default();
        let first = insert(&mut objects);
        assert!(objects.remove(first).is_some());
        let second = insert(&mut objects);
        assert_eq!(slot_of(first), slot_of(second));
        assert!(objects.get(first).is_none());
        assert!(objects.remove(first).is_none());
        assert!(objects.get_mut(second).is_some());
        assert_eq!(objects.len(), 1);
    }

    #[test]
    fn ids_are_listed_in_order_of_creation_whatever_their_slots() {
        let mut objects = Objects::default();
        let ids: Vec<_> = (0..4).map(|_| insert(&mut objects)).collect();
        objects.remove(ids[1]);
        objects.remove(ids[0]);
        let younger = [insert(&mut objects), insert(&mut objects), insert(&mut objects)];
        assert_eq!(objects.ids(), [ids[2], ids[3], younger[0], younger[1], younger[2]]);
    }

    #[test]
    fn an_id_that_was_never_given_finds_nothing() {
        let mut objects = Objects::default();
        let first = insert(&mut objects);
        objects.remove(first);
        assert!(objects.get(ObjectId(0)).is_none());
        assert!(Objects::default().get(ObjectId(7)).is_none());
        assert!(Objects::default().get(ObjectId(u64::MAX)).is_none());
    }

    fn insert(objects: &mut Objects) -> ObjectId {
        objects.insert(StoredObject::new(0, Vec::new()), Position::default(), Cell::default())
    }
}
