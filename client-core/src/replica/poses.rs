//! The poses of a datagram, taken over by the objects that they are of.
//!
//! The bytes of a pose section go in; what they did comes out, and whether they could be read to
//! the end. What stands before the point where that was no longer possible is taken over all the
//! same.
//!
//! Invariant: no pose is read against another base than the one that it was coded against. The host
//! takes a datagram that the link has confirmed for known in whole. So one that could not be read
//! to its end is remembered ([`FailedSections`]), and a section that counts it among the known ones
//! is not read at all: it may mean poses that are not here.

use std::collections::VecDeque;

use ambit_proto::pose::{
    AckedSet, Bases, Entry, Kept as Known, Pose, PoseFormat, SectionError, SectionHeader,
    read_section,
};
use ambit_proto::wire::Reader;

use super::object::ReplicaObject;
use super::object_store::{ObjectStore, StoreIndex};
use super::received_poses::ReceivedPoses;
use super::simulation_events::SimulationEvent;
use super::slots::ReplicaSlots;
use super::{PoseDecoding, ReceivedDatagram, Replica};
use crate::client::event::{NamedValue, ObjectUpdated, ViewEvent};

/// What a section did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionOutcome {
    /// Poses taken over.
    pub applied: u64,
    /// Those of them that were news of objects in sight.
    pub shown: u64,
    /// Those of them that contradict what was being shown.
    pub late: u64,
    /// Poses of objects that had left: read, and of no other use.
    pub stale: u64,
    /// What the server knew to have arrived; an error if the rest could not be read: then the
    /// server is to be told.
    pub acked_set: Result<Option<AckedSet>, SectionError>,
}

/// Datagrams that count as known, and whose poses are not.
///
/// Bound: [`FAILED`], the newest. A host that has heard of one counts none up to it among the known
/// ones, so there are as many as come within a round trip; one that does not listen gets nonsense
/// shown, and of its own objects only.
#[derive(Debug, Default)]
pub(super) struct FailedSections {
    numbers: VecDeque<u64>,
}

/// Failures that are remembered.
const MAX_FAILED: usize = 64;

impl FailedSections {
    fn note(&mut self, number: u64) {
        if self.numbers.len() == MAX_FAILED {
            self.numbers.pop_front();
        }
        self.numbers.push_back(number);
    }

    /// Whether one of them is in the acked set that this section names.
    fn is_referenced_by(&self, bytes: &[u8], number: u64) -> bool {
        let mut header = SectionHeader {
            number,
            ..SectionHeader::default()
        };
        !self.numbers.is_empty()
            && header.wire(&mut Reader::new(bytes)).is_ok()
            && header
                .acked
                .is_some_and(|acked| self.numbers.iter().any(|number| acked.contains(*number)))
    }
}

impl<V> Replica<V> {
    /// Takes over the pose section of the datagram in hand.
    pub fn apply_poses(&mut self, arrival: ReceivedDatagram, bytes: &[u8]) -> SectionOutcome {
        let mut section = SectionOutcome {
            applied: 0,
            shown: 0,
            late: 0,
            stale: 0,
            acked_set: Ok(None),
        };
        if self.pose_decoding == PoseDecoding::Light {
            return section;
        }
        let mut poses = std::mem::take(&mut self.poses);
        section.acked_set = if self.failed_sections.is_referenced_by(bytes, arrival.number) {
            Err(SectionError::LostTrack { slot: 0 })
        } else {
            let bases = SlotBaselines {
                slots: &self.slots,
                objects: &self.objects,
                number: arrival.number,
            };
            read_section(bytes, arrival.number, arrival.stamp, &bases, &mut poses)
        };
        if section.acked_set.is_err() {
            self.failed_sections.note(arrival.number);
        }
        for (slot, pose) in poses.drain(..) {
            self.apply_pose(arrival, slot, pose, &mut section);
        }
        self.poses = poses;
        section
    }

    /// A datagram could not be read at all: its poses, if there were any, are not known.
    pub fn note_unreadable_poses(&mut self, number: u64) {
        self.failed_sections.note(number);
    }

    fn apply_pose(
        &mut self,
        arrival: ReceivedDatagram,
        slot: u16,
        pose: Pose,
        section: &mut SectionOutcome,
    ) {
        let ReceivedDatagram { number, stamp, now } = arrival;
        let acked = section.acked_set.as_ref().ok().and_then(Option::as_ref);
        let Some(place) = slot_object(&self.slots, &self.objects, slot, number) else {
            section.stale += 1;
            if let Some(former) = self.slots.previous_poses_mut(slot, number) {
                former.insert(Entry {
                    number,
                    stamp,
                    pose,
                });
            }
            return;
        };
        let object = self.objects.at_mut(place).expect("a slot's object exists");
        let noted = object.add_pose(arrival, pose, self.times);
        if let Some((track, acked)) = object.poses.as_mut().zip(acked) {
            track.prune(acked);
        }
        section.applied += 1;
        self.simulation_events.push(
            object.kind,
            SimulationEvent::Pose {
                id: object.id,
                stamp,
                pose,
            },
        );
        // What has not been shown yet is not late, and its `ObjectEntered` will tell the newest.
        if !(noted.newest || noted.late) || object.view.is_none() {
            return;
        }
        section.shown += 1;
        section.late += u64::from(noted.late);
        if self.emits_poses {
            let at = self.times.shown_from(stamp, now);
            let name = self.names.kinds[usize::from(object.kind)].parts[0].clone();
            let value = object.received_value(at, self.times);
            let components = value
                .map(|value| NamedValue { name, value })
                .into_iter()
                .collect();
            self.events
                .push_back(ViewEvent::ObjectUpdated(ObjectUpdated {
                    id: object.id,
                    t: now,
                    at,
                    components,
                }));
        }
    }
}

/// Whom a slot's poses in datagram `number` are of: its tenant, or the one before.
struct SlotBaselines<'r, V> {
    slots: &'r ReplicaSlots,
    objects: &'r ObjectStore<ReplicaObject<V>>,
    number: u64,
}

impl<V> Bases for SlotBaselines<'_, V> {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &Known)> {
        let present = slot_object(self.slots, self.objects, slot, self.number);
        let track: Option<&ReceivedPoses> = match present {
            Some(place) => self.objects.at(place)?.poses.as_ref(),
            None => self.slots.previous_poses(slot, self.number),
        };
        track.map(|track| (track.format(), track.history()))
    }
}

/// Where the object is of which a slot's poses in datagram `number` are, if it is still there.
fn slot_object<V>(
    slots: &ReplicaSlots,
    objects: &ObjectStore<ReplicaObject<V>>,
    slot: u16,
    number: u64,
) -> Option<StoreIndex> {
    let place = slots.get(slot)?.object?;
    let track = objects.at(place)?.poses.as_ref()?;
    track.admits(number).then_some(place)
}

#[cfg(test)]
mod tests;
