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

use super::store::Place;
use super::track::Track;

/// How late a datagram can be, in datagrams: the link refuses what is older than 32 before the
/// newest.
const LATE: u64 = 33;

/// Slots by number.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<Slot>,
    /// Slots with a former tenant, and until which datagram it is remembered, in the order of
    /// leaving.
    formers: VecDeque<(u64, u16)>,
}

/// A server's place for objects, one after the other.
#[derive(Debug, Default)]
pub struct Slot {
    /// The newest that was heard of, if any was.
    pub epoch: Option<u8>,
    /// Where the object of that epoch is, until its `Leave` is known.
    pub tenant: Option<Place>,
    /// The poses of the tenant before.
    former: Option<Box<Former>>,
}

#[derive(Debug)]
struct Former {
    track: Track,
    /// The datagram that ended it: those up to it speak of it.
    until: u64,
}

impl Slots {
    /// A slot, if anything was heard of it.
    pub fn get(&self, slot: u16) -> Option<&Slot> {
        self.slots.get(usize::from(slot))
    }

    /// A slot.
    pub fn entry(&mut self, slot: u16) -> &mut Slot {
        let index = usize::from(slot);
        if index >= self.slots.len() {
            self.slots.resize_with(index + 1, Slot::default);
        }
        &mut self.slots[index]
    }

    /// Remembers the poses of a tenant that datagram `number` has ended.
    pub fn remember(&mut self, slot: u16, track: Track, number: u64) {
        self.entry(slot).former = Some(Box::new(Former {
            track,
            until: number,
        }));
        self.formers.push_back((number + LATE, slot));
    }

    /// The poses of the tenant before, of which datagram `number` speaks.
    pub fn former(&self, slot: u16, number: u64) -> Option<&Track> {
        let former = self.get(slot)?.former.as_ref()?;
        (number <= former.until && former.track.admits(number)).then_some(&former.track)
    }

    /// As [`Slots::former`].
    pub fn former_mut(&mut self, slot: u16, number: u64) -> Option<&mut Track> {
        let former = self.slots.get_mut(usize::from(slot))?.former.as_mut()?;
        (number <= former.until && former.track.admits(number)).then_some(&mut former.track)
    }

    /// Datagram `number` has come: forgets whom no datagram can speak of any more.
    pub fn forget(&mut self, number: u64) {
        while let Some((_, slot)) = self.formers.pop_front_if(|(until, _)| *until < number) {
            let slot = &mut self.slots[usize::from(slot)];
            if slot
                .former
                .as_ref()
                .is_some_and(|former| former.until + LATE < number)
            {
                slot.former = None;
            }
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.formers.clear();
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::{PoseFormat, Turning};

    use super::*;

    #[test]
    fn a_former_tenant_is_remembered_for_as_long_as_datagrams_can_speak_of_it() {
        let mut slots = Slots::default();
        slots.remember(3, track(10), 50);
        for (number, expected) in [(9, false), (10, true), (50, true), (51, false)] {
            assert_eq!(slots.former(3, number).is_some(), expected, "{number}");
        }
        slots.forget(83);
        assert!(slots.former(3, 49).is_some());
        slots.forget(84);
        assert!(slots.former(3, 49).is_none() && slots.formers.is_empty());
    }

    #[test]
    fn the_newest_of_two_former_tenants_is_remembered() {
        let mut slots = Slots::default();
        slots.remember(3, track(10), 50);
        slots.remember(3, track(55), 60);
        assert!(slots.former(3, 49).is_none() && slots.former(3, 58).is_some());
        slots.forget(90);
        assert!(slots.former(3, 58).is_some());
        slots.forget(94);
        assert!(slots.former(3, 58).is_none());
    }

    fn track(number: u64) -> Track {
        Track::new(
            PoseFormat {
                per_metre: 100,
                turn: Turning::Fixed,
                motion: None,
            },
            number,
        )
    }
}
