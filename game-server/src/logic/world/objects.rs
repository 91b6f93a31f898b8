//! The objects of a world, found by id in one step.
//!
//! An id is a serial number (40 bits) and the slot where the object lies (24 bits). So ids are never used twice, a
//! stale one finds nothing, and **their order is the order of birth**: whatever is sorted by id keeps its order when some other
//! object comes or goes. A slot map's own keys don't give that, and with them a hidden object could shuffle what clients are told
//! of visible ones. Cost: an array access; slots of dead objects are used again.

use ambit_proto::cell::Cell;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_proto::timeline::{Timeline, Waypoint};

const SLOT_BITS: u32 = 24;
/// Objects of a world at the same time, at most.
pub(super) const MAX_OBJECTS: usize = (1 << SLOT_BITS) - 1;

/// One object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: u8,
    pub(super) owner: Option<PlayerId>,
    /// As the schema lists them; the first is the path.
    pub(super) components: Vec<Component>,
    /// Where it is now, and in which cell that is.
    pub(super) position: Position,
    pub(super) cell: Cell,
    /// Components that changed in this tick; not 0 exactly if the object stands in the world's list of changed ones.
    pub(super) dirty: u16,
    /// Components with more points ahead than one record carries.
    pub(super) crowded: u16,
    /// Whether it stands in the world's list of moving ones.
    pub(super) moving: bool,
}

impl Object {
    pub(super) fn path(&self) -> &Timeline<Waypoint> {
        match &self.components[0] {
            Component::Path(path) => path,
            other => panic!("component 0 is a path, not {other:?}"),
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Objects {
    slots: Vec<Slot>,
    free: Vec<usize>,
    born: u64,
    len: usize,
}

#[derive(Debug)]
struct Slot {
    id: ObjectId,
    object: Option<Object>,
}

impl Objects {
    pub(super) fn insert(&mut self, object: Object) -> ObjectId {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        assert!(slot < MAX_OBJECTS, "a world has at most {MAX_OBJECTS} objects");
        self.born += 1;
        self.len += 1;
        let id = ObjectId((self.born << SLOT_BITS) | slot as u64);
        let filled = Slot { id, object: Some(object) };
        match self.slots.get_mut(slot) {
            Some(empty) => *empty = filled,
            None => self.slots.push(filled),
        }
        id
    }

    pub(super) fn remove(&mut self, id: ObjectId) -> Option<Object> {
        let slot = self.slots.get_mut(slot_of(id)).filter(|slot| slot.id == id)?;
        let object = slot.object.take()?;
        self.free.push(slot_of(id));
        self.len -= 1;
        Some(object)
    }

    pub(super) fn get(&self, id: ObjectId) -> Option<&Object> {
        self.slots.get(slot_of(id)).filter(|slot| slot.id == id)?.object.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.slots.get_mut(slot_of(id)).filter(|slot| slot.id == id)?.object.as_mut()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The id of the object in a slot that is in use.
    pub(super) fn id_in(&self, slot: usize) -> ObjectId {
        self.slots[slot].id
    }

    /// All ids, oldest first. Cost: all objects, sorted.
    pub(super) fn ids(&self) -> Vec<ObjectId> {
        let in_use = self.slots.iter().filter(|slot| slot.object.is_some());
        let mut ids: Vec<_> = in_use.map(|slot| slot.id).collect();
        ids.sort_unstable();
        ids
    }
}

pub(super) fn slot_of(id: ObjectId) -> usize {
    (id.0 & MAX_OBJECTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_id_finds_nothing_even_when_its_slot_is_in_use_again() {
        let mut objects = Objects::default();
        let first = objects.insert(thing());
        assert!(objects.remove(first).is_some());
        let second = objects.insert(thing());
        assert_eq!(slot_of(first), slot_of(second));
        assert!(objects.get(first).is_none());
        assert!(objects.remove(first).is_none());
        assert!(objects.get_mut(second).is_some());
        assert_eq!(objects.len(), 1);
    }

    #[test]
    fn ids_are_in_the_order_of_birth_whatever_slots_they_got() {
        let mut objects = Objects::default();
        let ids: Vec<_> = (0..4).map(|_| objects.insert(thing())).collect();
        objects.remove(ids[1]);
        objects.remove(ids[0]);
        let younger = [objects.insert(thing()), objects.insert(thing()), objects.insert(thing())];
        assert_eq!(objects.ids(), [ids[2], ids[3], younger[0], younger[1], younger[2]]);
    }

    #[test]
    fn an_id_that_was_never_given_finds_nothing() {
        assert!(Objects::default().get(ObjectId(7)).is_none());
        assert!(Objects::default().get(ObjectId(u64::MAX)).is_none());
    }

    fn thing() -> Object {
        Object {
            kind: 0,
            owner: None,
            components: Vec::new(),
            position: Position::default(),
            cell: Cell::default(),
            dirty: 0,
            crowded: 0,
            moving: false,
        }
    }
}
