//! The server's places for objects, in a flat array: small numbers are given away first, so it is
//! as long as the most that were ever followed at once.
//!
//! Invariant: a slot's epochs only grow; one without a tenant keeps its epoch, so that what comes
//! late revives nothing.
//!
//! A slot also remembers the poses of the tenant before, for 33 datagrams: a datagram that comes
//! late speaks of that one, and is read against what was told of it, or nothing behind it could be
//! read. Bound: 65,536 slots of 16 bytes; of former tenants those of the last 33 datagrams.

use std::collections::VecDeque;

use super::object_store::StoreIndex;
use super::received_poses::ReceivedPoses;

/// How late a datagram can be, in datagrams: the link refuses what is older than 32 before the
/// newest.
const MAX_LATE_DATAGRAMS: u64 = 33;

/// Slots by number.
#[derive(Debug, Default)]
pub struct ReplicaSlots {
    slots: Vec<ReplicaSlot>,
    /// Slots with a former tenant, and until which datagram it is remembered, in the order of
    /// leaving.
    previous_objects: VecDeque<(u64, u16)>,
}

/// A server's place for objects, one after the other.
#[derive(Debug, Default)]
pub struct ReplicaSlot {
    /// The newest that was heard of, if any was.
    pub epoch: Option<u8>,
    /// Where the object of that epoch is, until its `Leave` is known.
    pub object: Option<StoreIndex>,
    /// The poses of the tenant before.
    previous_object: Option<Box<PreviousObject>>,
}

#[derive(Debug)]
struct PreviousObject {
    poses: ReceivedPoses,
    /// The datagram that ended it: those up to it speak of it.
    last_datagram: u64,
}

impl ReplicaSlots {
    /// A slot, if anything was heard of it.
    pub fn get(&self, slot: u16) -> Option<&ReplicaSlot> {
        self.slots.get(usize::from(slot))
    }

    /// A slot.
    pub fn entry(&mut self, slot: u16) -> &mut ReplicaSlot {
        let index = usize::from(slot);
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, ReplicaSlot::default);
        }
        &mut self.slots[index]
    }

    /// Remembers the poses of a tenant that datagram `number` has ended.
    pub fn keep_previous(&mut self, slot: u16, track: ReceivedPoses, number: u64) {
        self.entry(slot).previous_object = Some(Box::new(PreviousObject {
            poses: track,
            last_datagram: number,
        }));
        self.previous_objects
            .push_back((number + MAX_LATE_DATAGRAMS, slot));
    }

    /// The poses of the tenant before, of which datagram `number` speaks.
    pub fn previous_poses(&self, slot: u16, number: u64) -> Option<&ReceivedPoses> {
        let former = self.get(slot)?.previous_object.as_ref()?;
        (number <= former.last_datagram && former.poses.admits(number)).then_some(&former.poses)
    }

    /// As [`Slots::former`].
    pub fn previous_poses_mut(&mut self, slot: u16, number: u64) -> Option<&mut ReceivedPoses> {
        let former = self
            .slots
            .get_mut(usize::from(slot))?
            .previous_object
            .as_mut()?;
        (number <= former.last_datagram && former.poses.admits(number)).then_some(&mut former.poses)
    }

    /// Datagram `number` has come: forgets whom no datagram can speak of any more.
    pub fn drop_previous(&mut self, number: u64) {
        while let Some((_, slot)) = self
            .previous_objects
            .pop_front_if(|(until, _)| *until < number)
        {
            let slot = &mut self.slots[usize::from(slot)];
            if slot
                .previous_object
                .as_ref()
                .is_some_and(|former| former.last_datagram + MAX_LATE_DATAGRAMS < number)
            {
                slot.previous_object = None;
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.previous_objects.clear();
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::{PoseFormat, Turning};

    use super::*;

    #[test]
    fn a_previous_object_is_kept_while_late_datagrams_can_refer_to_it() {
        let mut slots = ReplicaSlots::default();
        slots.keep_previous(3, track(10), 50);
        for (number, expected) in [(9, false), (10, true), (50, true), (51, false)] {
            assert_eq!(
                slots.previous_poses(3, number).is_some(),
                expected,
                "{number}"
            );
        }
        slots.drop_previous(83);
        assert!(slots.previous_poses(3, 49).is_some());
        slots.drop_previous(84);
        assert!(slots.previous_poses(3, 49).is_none() && slots.previous_objects.is_empty());
    }

    #[test]
    fn the_newest_of_two_previous_objects_is_kept() {
        let mut slots = ReplicaSlots::default();
        slots.keep_previous(3, track(10), 50);
        slots.keep_previous(3, track(55), 60);
        assert!(slots.previous_poses(3, 49).is_none() && slots.previous_poses(3, 58).is_some());
        slots.drop_previous(90);
        assert!(slots.previous_poses(3, 58).is_some());
        slots.drop_previous(94);
        assert!(slots.previous_poses(3, 58).is_none());
    }

    fn track(number: u64) -> ReceivedPoses {
        ReceivedPoses::new(
            PoseFormat {
                per_metre: 100,
                turn: Turning::Fixed,
                motion: None,
            },
            number,
        )
    }
}
