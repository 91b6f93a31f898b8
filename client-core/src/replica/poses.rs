//! Applies the poses of a datagram to their objects.
//!
//! The bytes of a pose section go in; what they changed comes out, and whether they could be read
//! to the end. Poses before the point of failure are applied.
//!
//! Invariant: no pose is decoded against another baseline than the one it was coded against. The
//! host takes an acknowledged datagram as known completely. So the client remembers datagrams that
//! it could not read to the end ([`FailedSections`]). A section whose acked set contains one of
//! them is not read at all, since it may refer to poses that the client does not have.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::message::{PlainPose, read_plain_poses};
use ambit_proto::pose::{
    AckedSet, BaselineHistory as Known, BaselineSource, Pose, PoseFormat, ReceivedPose,
    SectionError, SectionHeader, SectionPose, read_section,
};
use ambit_proto::time::GameTime;
use ambit_proto::wire::Reader;

use super::object::ReplicaObject;
use super::object_store::{ObjectStore, StoreIndex};
use super::received_poses::ReceivedPoses;
use super::simulation_events::SimulationEvent;
use super::slots::ReplicaSlots;
use super::{PoseDecoding, ReceivedDatagram, Replica};
use crate::client::event::{GameEvent, NamedValue, ObjectUpdated};

/// What a section changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionOutcome {
    /// Applied poses.
    pub applied: u64,
    /// Those that changed objects in sight.
    pub shown: u64,
    /// Those that contradict what was already shown.
    pub late: u64,
    /// Poses of objects that had left: decoded and dropped.
    pub stale: u64,
    /// The datagrams that the server takes as known; an error if the rest could not be read: then
    /// the server must be notified.
    pub acked_set: Result<Option<AckedSet>, SectionError>,
}

/// Acknowledged datagrams whose poses are unknown.
///
/// Bound: the newest [`MAX_FAILED`]. A host that was notified does not refer to any datagram up to
/// the failed one, so there are as many as arrive within a round trip. A host that ignores the
/// notification causes wrong poses of its own objects only.
#[derive(Debug, Default)]
pub(super) struct FailedSections {
    numbers: VecDeque<u64>,
}

/// Maximum number of failures that are kept.
const MAX_FAILED: usize = 64;

impl FailedSections {
    fn note(&mut self, number: u64) {
        if self.numbers.len() == MAX_FAILED {
            self.numbers.pop_front();
        }
        self.numbers.push_back(number);
    }

    /// Whether one of them is in the acked set of this section.
    fn is_referenced_by(&self, bytes: &[u8], number: u64) -> bool {
        let mut header = SectionHeader { number, ..SectionHeader::default() };
        !self.numbers.is_empty()
            && header.wire(&mut Reader::new(bytes)).is_ok()
            && header
                .acked
                .is_some_and(|acked| self.numbers.iter().any(|number| acked.contains(*number)))
    }
}

impl<V> Replica<V> {
    /// Applies the pose section of the datagram being handled.
    pub fn apply_poses(&mut self, datagram: ReceivedDatagram, bytes: &[u8]) -> SectionOutcome {
        let mut section =
            SectionOutcome { applied: 0, shown: 0, late: 0, stale: 0, acked_set: Ok(None) };
        if self.pose_decoding == PoseDecoding::Light {
            return section;
        }
        if self.is_plain {
            self.apply_plain_poses(datagram, bytes, &mut section);
            return section;
        }
        let mut poses = std::mem::take(&mut self.poses);
        section.acked_set = if self.failed_sections.is_referenced_by(bytes, datagram.number) {
            Err(SectionError::MissingBaseline { slot: 0 })
        } else {
            let baselines = SlotBaselines {
                slots: &self.slots,
                objects: &self.objects,
                number: datagram.number,
            };
            read_section(bytes, datagram.number, datagram.stamp, &baselines, &mut poses)
        };
        if section.acked_set.is_err() {
            self.failed_sections.note(datagram.number);
        }
        for pose in poses.drain(..) {
            self.apply_pose(datagram, pose, &mut section);
        }
        self.poses = poses;
        section
    }

    /// A datagram could not be read at all: its poses, if any, are unknown.
    pub fn note_unreadable_poses(&mut self, number: u64) {
        self.failed_sections.note(number);
    }

    /// Each pose names its object: one that the client does not follow any more, or not yet, is
    /// skipped, and nothing else depends on it.
    fn apply_plain_poses(
        &mut self,
        datagram: ReceivedDatagram,
        bytes: &[u8],
        section: &mut SectionOutcome,
    ) {
        let mut poses = std::mem::take(&mut self.plain_poses);
        section.acked_set = read_plain_poses(bytes, &self.schema, &mut poses)
            .map(|()| None)
            .map_err(SectionError::Wire);
        for PlainPose { alias, kind, pose, jumped_ms } in poses.drain(..) {
            let slot = self.slots.get(alias.slot);
            let index = slot.filter(|slot| slot.epoch == Some(alias.epoch));
            let index = index.and_then(|slot| slot.object);
            let object = index.and_then(|index| self.objects.at(index));
            match index.filter(|_| object.is_some_and(|object| object.kind == kind)) {
                Some(index) => {
                    let jumped = jumped_ms.map(|ms| Duration::from_millis(ms.into()));
                    let jumped = jumped.map(|age| datagram.stamp.saturating_sub(age));
                    self.apply_pose_to(index, datagram, (pose, jumped), section);
                }
                None => section.stale += 1,
            }
        }
        self.plain_poses = poses;
    }

    fn apply_pose(
        &mut self,
        datagram: ReceivedDatagram,
        SectionPose { slot, pose, jumped }: SectionPose,
        section: &mut SectionOutcome,
    ) {
        let ReceivedDatagram { number, stamp, .. } = datagram;
        let Some(index) = slot_object(&self.slots, &self.objects, slot, number) else {
            section.stale += 1;
            if let Some(previous) = self.slots.previous_poses_mut(slot, number) {
                previous.insert(ReceivedPose { number, stamp, pose });
            }
            return;
        };
        self.apply_pose_to(index, datagram, (pose, jumped), section);
    }

    /// With a pose comes the stamp of the jump since the poses that the host knows to be here.
    fn apply_pose_to(
        &mut self,
        index: StoreIndex,
        datagram: ReceivedDatagram,
        (pose, jumped): (Pose, Option<GameTime>),
        section: &mut SectionOutcome,
    ) {
        let ReceivedDatagram { stamp, now, .. } = datagram;
        let acked = section.acked_set.as_ref().ok().and_then(Option::as_ref);
        let object = self.objects.at_mut(index).expect("a slot's object exists");
        if let Some(jumped) = jumped.filter(|jumped| object.note_jump(*jumped)) {
            self.simulation_events
                .push(object.kind, SimulationEvent::Jump { id: object.id, stamp: jumped });
        }
        let noted = object.add_pose(datagram, pose, self.times);
        if let Some((history, acked)) = object.poses.as_mut().zip(acked) {
            history.prune(acked);
        }
        section.applied += 1;
        self.simulation_events
            .push(object.kind, SimulationEvent::Pose { id: object.id, stamp, pose });
        // An object that is not in sight yet is not late: its `Enter` will contain the newest
        // state.
        if !(noted.newest || noted.late) || object.view.is_none() {
            return;
        }
        section.shown += 1;
        section.late += u64::from(noted.late);
        if self.emits_poses {
            let at = self.times.shown_from(stamp, now);
            let name = self.names.kinds[usize::from(object.kind)].parts[0].clone();
            let value = object.received_value(at, self.times);
            let components = value.map(|value| NamedValue { name, value }).into_iter().collect();
            self.events.push_back(GameEvent::Update(ObjectUpdated {
                id: object.id,
                t: now,
                at,
                components,
            }));
        }
    }
}

/// Baselines by slot for datagram `number`: those of the slot's object, or of the one before it.
struct SlotBaselines<'r, V> {
    slots: &'r ReplicaSlots,
    objects: &'r ObjectStore<ReplicaObject<V>>,
    number: u64,
}

impl<V> BaselineSource for SlotBaselines<'_, V> {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &Known)> {
        let present = slot_object(self.slots, self.objects, slot, self.number);
        let history: Option<&ReceivedPoses> = match present {
            Some(index) => self.objects.at(index)?.poses.as_ref(),
            None => self.slots.previous_poses(slot, self.number),
        };
        history.map(|history| (history.format(), history.history()))
    }
}

/// The object that a slot's poses in datagram `number` belong to, if it is still there.
fn slot_object<V>(
    slots: &ReplicaSlots,
    objects: &ObjectStore<ReplicaObject<V>>,
    slot: u16,
    number: u64,
) -> Option<StoreIndex> {
    let index = slots.get(slot)?.object?;
    let history = objects.at(index)?.poses.as_ref()?;
    history.admits(number).then_some(index)
}

#[cfg(test)]
mod tests;
