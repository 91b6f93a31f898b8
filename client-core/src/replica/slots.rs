//! The server's slots for objects, in a flat array: the server uses small numbers first, so the
//! array is as long as the maximum number of objects that were followed at once.
//!
//! Invariant: a slot's epochs only grow. An empty slot keeps its epoch, so that late data revives
//! no object.
//!
//! A slot also keeps the poses of its previous object for 33 datagrams: a late datagram refers to
//! that object, and must be decoded against its poses, or the rest of the datagram would be
//! unreadable. Bound: 65,536 slots of 16 bytes; previous objects of the last 33 datagrams.

use std::collections::VecDeque;

use super::object_store::StoreIndex;
use super::received_poses::ReceivedPoses;

/// How late a datagram can be, in datagrams: the link refuses one that is more than 32 older than
/// the newest.
const MAX_LATE_DATAGRAMS: u64 = 33;

/// Slots by number.
#[derive(Debug, Default)]
pub struct ReplicaSlots {
    slots: Vec<ReplicaSlot>,
    /// Slots with a previous object, and the last datagram for which it is kept, in the order of
    /// leaving.
    previous_objects: VecDeque<(u64, u16)>,
}

/// A server's slot, used by one object after the other.
#[derive(Debug, Default)]
pub struct ReplicaSlot {
    /// The newest known epoch, if any.
    pub epoch: Option<u8>,
    /// The object of that epoch, until its `Leave` is known.
    pub object: Option<StoreIndex>,
    /// The poses of the previous object.
    previous_object: Option<Box<PreviousObject>>,
}

#[derive(Debug)]
struct PreviousObject {
    poses: ReceivedPoses,
    /// The datagram that ended it: datagrams up to this one refer to it.
    last_datagram: u64,
}

impl ReplicaSlots {
    /// A slot, if anything was received about it.
    pub fn get(&self, slot: u16) -> Option<&ReplicaSlot> {
        self.slots.get(usize::from(slot))
    }

    /// A slot; a new one if nothing was received about it.
    pub fn entry(&mut self, slot: u16) -> &mut ReplicaSlot {
        let index = usize::from(slot);
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, ReplicaSlot::default);
        }
        &mut self.slots[index]
    }

    /// Keeps the poses of an object that datagram `number` has ended.
    pub fn keep_previous(&mut self, slot: u16, poses: ReceivedPoses, number: u64) {
        self.entry(slot).previous_object =
            Some(Box::new(PreviousObject { poses, last_datagram: number }));
        self.previous_objects.push_back((number + MAX_LATE_DATAGRAMS, slot));
    }

    /// The poses of the previous object, if datagram `number` refers to it.
    pub fn previous_poses(&self, slot: u16, number: u64) -> Option<&ReceivedPoses> {
        let previous = self.get(slot)?.previous_object.as_ref()?;
        (number <= previous.last_datagram && previous.poses.admits(number))
            .then_some(&previous.poses)
    }

    /// As [`ReplicaSlots::previous_poses`].
    pub fn previous_poses_mut(&mut self, slot: u16, number: u64) -> Option<&mut ReceivedPoses> {
        let previous = self.slots.get_mut(usize::from(slot))?.previous_object.as_mut()?;
        (number <= previous.last_datagram && previous.poses.admits(number))
            .then_some(&mut previous.poses)
    }

    /// Datagram `number` has arrived: drops objects that no datagram can refer to any more.
    pub fn drop_previous(&mut self, number: u64) {
        while let Some((_, slot)) = self.previous_objects.pop_front_if(|(until, _)| *until < number)
        {
            let slot = &mut self.slots[usize::from(slot)];
            if slot
                .previous_object
                .as_ref()
                .is_some_and(|previous| previous.last_datagram + MAX_LATE_DATAGRAMS < number)
            {
                slot.previous_object = None;
            }
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.previous_objects.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ambit_proto::pose::{PoseFormat, Turning};

    use super::*;

    #[test]
    fn a_previous_object_is_kept_while_late_datagrams_can_refer_to_it() {
        let mut slots = ReplicaSlots::default();
        slots.keep_previous(3, poses(10), 50);
        for (number, expected) in [(9, false), (10, true), (50, true), (51, false)] {
            assert_eq!(slots.previous_poses(3, number).is_some(), expected, "{number}");
        }
        slots.drop_previous(83);
        assert!(slots.previous_poses(3, 49).is_some());
        slots.drop_previous(84);
        assert!(slots.previous_poses(3, 49).is_none() && slots.previous_objects.is_empty());
    }

    #[test]
    fn the_newest_of_two_previous_objects_is_kept() {
        let mut slots = ReplicaSlots::default();
        slots.keep_previous(3, poses(10), 50);
        slots.keep_previous(3, poses(55), 60);
        assert!(slots.previous_poses(3, 49).is_none() && slots.previous_poses(3, 58).is_some());
        slots.drop_previous(90);
        assert!(slots.previous_poses(3, 58).is_some());
        slots.drop_previous(94);
        assert!(slots.previous_poses(3, 58).is_none());
    }

    fn poses(number: u64) -> ReceivedPoses {
        let format = PoseFormat { per_metre: 100, turn: Turning::Fixed, motion: None };
        ReceivedPoses::new(format, Duration::from_millis(50), number)
    }
}
