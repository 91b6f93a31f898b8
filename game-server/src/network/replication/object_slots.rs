//! What one client knows of the world, or is about to be told.
//!
//! `follow`, `unfollow` and `touch` say what should be true at the client; `sent`, `acked` and
//! `lost` say what became of the packets; what is still to be said comes out of `due`. State is
//! re-derived, not resent: a lost packet only makes what it carried due again, and what goes out
//! then is the newest state.
//!
//! Each followed object has a slot; the slot's number and epoch are the client's alias for it. Here
//! is what is said in records; the poses of what stirs are the business of [`Poses`], which goes by
//! the same slots. Invariants:
//! 1. A slot is given away again, under the next epoch, only after the client has confirmed the
//!    `Leave`.
//! 2. An object is told in full (`ObjectEntered`) until one such packet is confirmed, so that an
//!    `ObjectUpdated` never finds its object missing.
//! 3. What has never been told is not taken back: an object that leaves before its `ObjectEntered`
//!    went out costs nothing.
//! 4. A component is due again only if the lost packet is the last one that carried it.
//! 5. A pose travels in a record only with its object's `ObjectEntered`; so an `ObjectEntered` is
//!    not said again because the object moves.
//!
//! What is due may wait for a datagram that leaves anyway, until [`TRAVEL`] before it takes effect;
//! what concerns the own avatar, or was lost, waits for nothing.
//!
//! Cost: what changed; nothing is walked for objects that stand still. PoseSource: design, sections
//! 4 to 6; reference 004 for waiting.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::time::Duration;

use ambit_proto::ids::{Alias, ObjectId, Seq};
use ambit_proto::time::GameTime;

use super::viewer_poses::ViewerPoses;
use crate::network::interest::IdHasher;

/// Components of an object, at most.
pub const MAX_COMPONENTS: usize = 16;
/// What a datagram may take to its client, a resend not included: as much before it takes effect it
/// must leave.
pub const TRAVEL_TIME: Duration = Duration::from_millis(100);

/// Objects that a player may be engaged with before it sees them; of more, the oldest are
/// forgotten.
const MAX_AWAITED: usize = 16;

/// What a packet carried of one object; kept until the packet is confirmed or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentRecord {
    slot: u16,
    epoch: u8,
    content: RecordContent,
}

/// What is to be said of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordContent {
    /// Everything, since it is new to the client; the mask of the components.
    ObjectEntered(u16),
    /// The components that changed.
    ObjectUpdated(u16),
    /// That it is gone.
    Leave,
}

/// One thing to be said, with all that a record's head needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRecord {
    /// The slot: what `sent` wants back.
    pub slot: u16,
    /// The object; it may be gone already when `what` is `Leave`.
    pub object: ObjectId,
    /// The client's name for it.
    pub alias: Alias,
    /// Index of the kind in the schema.
    pub kind: u8,
    /// Whether it is the client's own avatar.
    pub is_own: bool,
    /// When it takes effect.
    pub effective_at: GameTime,
    /// Since when the client may know of the object; what was before is not its business.
    pub visible_since: GameTime,
    /// What is to be said.
    pub content: RecordContent,
}

/// A new object for a client.
#[derive(Clone, Copy, Debug)]
pub struct EnteringObject {
    /// The object.
    pub object: ObjectId,
    /// Index of its kind in the schema.
    pub kind: u8,
    /// Whether it is the client's own avatar.
    pub is_own: bool,
    /// The components that this client may know.
    pub components: u16,
    /// Where its pose stands in the book, if its kind has one.
    pub pose_slot: Option<u32>,
    /// Whether it belongs to the player's party.
    pub is_ally: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotPhase {
    /// Nobody's: may be given away.
    Free,
    /// No packet with its `ObjectEntered` has been confirmed yet.
    Entering,
    /// The client has it.
    Live,
    /// To be taken back; the `Leave` has not been confirmed yet.
    Leaving,
}

#[derive(Clone, Debug)]
struct ObjectSlot {
    object: ObjectId,
    kind: u8,
    is_own: bool,
    has_pose: bool,
    epoch: u8,
    phase: SlotPhase,
    /// Whether a packet with its `ObjectEntered` ever went out.
    is_enter_sent: bool,
    /// Whether it stands in the queue of what is due.
    is_queued: bool,
    /// When its `ObjectEntered` or `Leave` takes effect.
    effective_at: GameTime,
    /// When the newest change of a component takes effect.
    changed_at: GameTime,
    components: u16,
    /// Components still to be sent; for a leaving object, not 0 while its `Leave` is to be sent.
    dirty: u16,
    /// The last packet that carried each component; `[0]` is the `Leave`'s for a leaving object.
    carriers: [Seq; MAX_COMPONENTS],
}

/// One client's table of aliases.
#[derive(Debug, Default)]
pub struct ObjectSlots {
    /// By slot number.
    entries: Vec<ObjectSlot>,
    free: Vec<u16>,
    by_object: HashMap<ObjectId, u16, BuildHasherDefault<IdHasher>>,
    /// Slots with something to say; each stands in it once.
    queue: Vec<u16>,
    /// When the first of them has to leave; any time, if there is none.
    send_deadline: Option<GameTime>,
    /// The poses of what stirs.
    poses: ViewerPoses,
    /// What the player cares most about and does not see yet, and until when.
    awaited: Vec<(ObjectId, GameTime)>,
}

impl ObjectSlots {
    /// Starts to tell the client of an object, from time `at` on.
    pub fn follow(&mut self, newcomer: EnteringObject, at: GameTime) {
        debug_assert!(
            !self.by_object.contains_key(&newcomer.object),
            "an object enters once"
        );
        let Some(index) = self.take_free() else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        *slot = ObjectSlot {
            object: newcomer.object,
            kind: newcomer.kind,
            is_own: newcomer.is_own,
            has_pose: newcomer.pose_slot.is_some(),
            phase: SlotPhase::Entering,
            is_enter_sent: false,
            effective_at: at,
            changed_at: at,
            components: newcomer.components,
            dirty: newcomer.components,
            epoch: slot.epoch,
            is_queued: slot.is_queued,
            carriers: slot.carriers,
        };
        self.by_object.insert(newcomer.object, index);
        if let Some(pose) = newcomer.pose_slot {
            self.poses
                .follow(index, pose, newcomer.is_own || newcomer.is_ally);
        }
        if let Some(place) = self
            .awaited
            .iter()
            .position(|&(awaited, _)| awaited == newcomer.object)
        {
            let (_, until) = self.awaited.swap_remove(place);
            self.poses.engage(index, until);
        }
        self.enqueue(index);
    }

    /// Objects that have left, and whose `Leave` is not confirmed.
    pub fn leaving_count(&self) -> usize {
        self.entries.len() - self.free.len() - self.by_object.len()
    }

    /// Tells all poses again that the client may have.
    pub fn activate_poses(&mut self) {
        for (index, slot) in (0..).zip(&self.entries) {
            if slot.phase == SlotPhase::Live && slot.has_pose {
                self.poses.activate(index);
            }
        }
    }

    /// Takes an object back, from time `at` on. An object that the client was never told of is just
    /// forgotten.
    pub fn unfollow(&mut self, object: ObjectId, at: GameTime) {
        let Some(index) = self.by_object.remove(&object) else {
            return;
        };
        self.poses.unfollow(index);
        let slot = &mut self.entries[usize::from(index)];
        if slot.phase == SlotPhase::Entering && !slot.is_enter_sent {
            slot.phase = SlotPhase::Free;
            slot.dirty = 0;
            self.free.push(index);
            return;
        }
        slot.phase = SlotPhase::Leaving;
        slot.effective_at = at;
        slot.dirty = 1;
        self.enqueue(index);
    }

    /// Some components of an object have changed, from time `at` on.
    pub fn mark_changed(&mut self, object: ObjectId, components: u16, at: GameTime) {
        let Some(&index) = self.by_object.get(&object) else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        let known = components & slot.components;
        if known != 0 {
            slot.dirty |= known;
            slot.changed_at = at;
            self.enqueue(index);
        }
    }

    /// The object begins to stir.
    pub fn activate_pose(&mut self, object: ObjectId) {
        if let Some(&index) = self.by_object.get(&object)
            && self.entries[usize::from(index)].phase == SlotPhase::Live
        {
            self.poses.activate(index);
        }
    }

    /// The player cares most about an object until then.
    pub fn engage(&mut self, object: ObjectId, until: GameTime) {
        if let Some(&index) = self.by_object.get(&object) {
            self.poses.engage(index, until);
            return;
        }
        self.awaited.retain(|&(awaited, _)| awaited != object);
        if self.awaited.len() == MAX_AWAITED {
            self.awaited.remove(0);
        }
        self.awaited.push((object, until));
    }

    /// The client may know other components of an object than before, from time `at` on; whether it
    /// belongs to the player's party.
    pub fn set_audience(&mut self, object: ObjectId, components: u16, close: bool, at: GameTime) {
        let Some(&index) = self.by_object.get(&object) else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        let gained = components & !slot.components;
        slot.components = components;
        slot.dirty &= components;
        if slot.has_pose {
            self.poses.set_ally(index, slot.is_own || close);
        }
        self.mark_changed(object, gained, at);
    }

    /// The slot of an object that the client follows.
    pub fn slot_of(&self, object: ObjectId) -> Option<u16> {
        self.by_object.get(&object).copied()
    }

    /// The objects that the client is told of, by their slots.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let followed = self
            .entries
            .iter()
            .filter(|slot| matches!(slot.phase, SlotPhase::Entering | SlotPhase::Live));
        followed.map(|slot| slot.object)
    }

    /// The poses of what stirs.
    pub fn poses(&self) -> &ViewerPoses {
        &self.poses
    }

    /// The poses of what stirs.
    pub fn poses_mut(&mut self) -> &mut ViewerPoses {
        &mut self.poses
    }

    /// Whether anything is to be said.
    pub fn has_due(&self) -> bool {
        !self.queue.is_empty()
    }

    /// When the first of what is to be said has to leave.
    pub fn send_deadline(&self) -> Option<GameTime> {
        self.send_deadline
    }

    /// Whether the client has confirmed that it knows the player's avatar.
    pub fn knows_own_avatar(&self) -> bool {
        self.entries
            .iter()
            .any(|slot| slot.is_own && slot.phase == SlotPhase::Live)
    }

    /// The client's name for an object that it is told of.
    pub fn alias(&self, object: ObjectId) -> Option<Alias> {
        let &slot = self.by_object.get(&object)?;
        Some(Alias {
            slot,
            epoch: self.entries[usize::from(slot)].epoch,
        })
    }

    /// Since when the client may know of an object that it is told of.
    pub fn visible_since(&self, object: ObjectId) -> Option<GameTime> {
        let &slot = self.by_object.get(&object)?;
        Some(self.entries[usize::from(slot)].effective_at)
    }

    /// Whether something is so of any object that the client is told of.
    pub fn any_followed(&self, is_so: impl Fn(ObjectId) -> bool) -> bool {
        self.objects().any(is_so)
    }

    /// Moves all that is due to `due` (cleared first), in no particular order. What is not `sent`
    /// has to be put back with `defer`.
    pub fn take_due(&mut self, due: &mut Vec<DueRecord>) {
        due.clear();
        self.send_deadline = None;
        for index in self.queue.drain(..) {
            let slot = &mut self.entries[usize::from(index)];
            slot.is_queued = false;
            let Some(what) = slot.due_content() else {
                continue;
            };
            due.push(DueRecord {
                slot: index,
                object: slot.object,
                alias: Alias {
                    slot: index,
                    epoch: slot.epoch,
                },
                kind: slot.kind,
                is_own: slot.is_own,
                effective_at: if matches!(what, RecordContent::ObjectUpdated(_)) {
                    slot.changed_at
                } else {
                    slot.effective_at
                },
                visible_since: slot.effective_at,
                content: what,
            });
        }
    }

    /// What was due did not fit: it stays due.
    pub fn defer(&mut self, due: &DueRecord) {
        self.enqueue(due.slot);
    }

    /// What was due left in packet `seq`, which is datagram `number` of the tick of `stamp`.
    pub fn note_sent(
        &mut self,
        due: &DueRecord,
        seq: Seq,
        number: u64,
        stamp: GameTime,
    ) -> SentRecord {
        let slot = &mut self.entries[usize::from(due.slot)];
        let components = match due.content {
            RecordContent::ObjectEntered(mask) => {
                slot.is_enter_sent = true;
                if slot.has_pose {
                    self.poses.note_sent(due.slot, number, stamp);
                }
                mask
            }
            RecordContent::ObjectUpdated(mask) => mask,
            RecordContent::Leave => 1,
        };
        slot.dirty &= !components;
        for component in set_bits(components) {
            slot.carriers[component] = seq;
        }
        SentRecord {
            slot: due.slot,
            epoch: slot.epoch,
            content: due.content,
        }
    }

    /// The packet that carried this has arrived.
    pub fn handle_acked(&mut self, carried: SentRecord) {
        let slot = &mut self.entries[usize::from(carried.slot)];
        if slot.epoch != carried.epoch {
            return;
        }
        match (carried.content, slot.phase) {
            (RecordContent::ObjectEntered(_), SlotPhase::Entering) => {
                slot.phase = SlotPhase::Live;
                slot.dirty &= slot.updatable();
                if slot.has_pose {
                    self.poses.activate(carried.slot);
                }
            }
            (RecordContent::Leave, SlotPhase::Leaving) => {
                slot.phase = SlotPhase::Free;
                slot.epoch = slot.epoch.wrapping_add(1);
                slot.dirty = 0;
                self.free.push(carried.slot);
            }
            _ => {}
        }
    }

    /// Packet `seq`, which carried this, is lost: what nothing newer has carried since is due
    /// again.
    pub fn handle_lost(&mut self, carried: SentRecord, seq: Seq) {
        let slot = &mut self.entries[usize::from(carried.slot)];
        if slot.epoch != carried.epoch {
            return;
        }
        let components = match (carried.content, slot.phase) {
            (RecordContent::Leave, SlotPhase::Leaving) => 1,
            (
                RecordContent::ObjectEntered(mask) | RecordContent::ObjectUpdated(mask),
                SlotPhase::Entering,
            ) => mask & slot.components,
            (
                RecordContent::ObjectEntered(mask) | RecordContent::ObjectUpdated(mask),
                SlotPhase::Live,
            ) => mask & slot.updatable(),
            _ => return,
        };
        for component in set_bits(components) {
            if slot.carriers[component] == seq {
                slot.dirty |= 1 << component;
            }
        }
        if slot.dirty != 0 {
            self.enqueue(carried.slot);
        }
    }

    fn enqueue(&mut self, index: u16) {
        let slot = &mut self.entries[usize::from(index)];
        if !slot.is_queued {
            slot.is_queued = true;
            self.queue.push(index);
        }
        let leave_by = slot.send_deadline();
        self.send_deadline = Some(
            self.send_deadline
                .map_or(leave_by, |before| before.min(leave_by)),
        );
    }

    /// `Unchanged` when the client follows 65,536 already, those counted that are just leaving: it
    /// does not see one more.
    fn take_free(&mut self) -> Option<u16> {
        self.free.pop().or_else(|| {
            let index = u16::try_from(self.entries.len()).ok()?;
            self.entries.push(ObjectSlot::unused());
            Some(index)
        })
    }
}

impl ObjectSlot {
    fn unused() -> Self {
        ObjectSlot {
            object: ObjectId(0),
            kind: 0,
            is_own: false,
            has_pose: false,
            epoch: 0,
            phase: SlotPhase::Free,
            is_enter_sent: false,
            is_queued: false,
            effective_at: GameTime::ZERO,
            changed_at: GameTime::ZERO,
            components: 0,
            dirty: 0,
            carriers: [Seq(0); MAX_COMPONENTS],
        }
    }

    /// The components that travel in updates.
    fn updatable(&self) -> u16 {
        if self.has_pose {
            self.components & !1
        } else {
            self.components
        }
    }

    fn send_deadline(&self) -> GameTime {
        let at = if self.phase == SlotPhase::Live {
            self.changed_at
        } else {
            self.effective_at
        };
        if self.is_own {
            GameTime::ZERO
        } else {
            at.saturating_sub(TRAVEL_TIME)
        }
    }

    fn due_content(&self) -> Option<RecordContent> {
        match self.phase {
            _ if self.dirty == 0 => None,
            SlotPhase::Free => None,
            SlotPhase::Entering => Some(RecordContent::ObjectEntered(self.components)),
            SlotPhase::Live => Some(RecordContent::ObjectUpdated(self.dirty)),
            SlotPhase::Leaving => Some(RecordContent::Leave),
        }
    }
}

/// The numbers of the bits that are set.
pub fn set_bits(mask: u16) -> impl Iterator<Item = usize> {
    (0..MAX_COMPONENTS).filter(move |&bit| mask & (1 << bit) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORC: ObjectId = ObjectId(7);
    const ELF: ObjectId = ObjectId(9);

    #[test]
    fn an_object_is_sent_in_full_until_acknowledged_then_by_changes() {
        let mut slots = following(ORC);
        let first = send(&mut slots, 1);
        assert_eq!(whats(&first), [RecordContent::ObjectEntered(0b11)]);
        slots.mark_changed(ORC, 0b10, GameTime::ZERO);
        let second = send(&mut slots, 2);
        assert_eq!(whats(&second), [RecordContent::ObjectEntered(0b11)]);
        slots.handle_acked(first[0]);
        slots.mark_changed(ORC, 0b01, GameTime::ZERO);
        assert_eq!(
            whats(&send(&mut slots, 3)),
            [RecordContent::ObjectUpdated(0b01)]
        );
    }

    #[test]
    fn the_contents_of_a_lost_packet_are_due_again() {
        let mut slots = live(ORC);
        slots.mark_changed(ORC, 0b10, GameTime::ZERO);
        let carried = send(&mut slots, 2);
        assert!(send(&mut slots, 3).is_empty());
        slots.handle_lost(carried[0], Seq(2));
        assert_eq!(
            whats(&send(&mut slots, 4)),
            [RecordContent::ObjectUpdated(0b10)]
        );
    }

    #[test]
    fn a_component_that_a_newer_packet_carried_is_not_due_again() {
        let mut slots = live(ORC);
        slots.mark_changed(ORC, 0b11, GameTime::ZERO);
        let older = send(&mut slots, 2);
        slots.mark_changed(ORC, 0b01, GameTime::ZERO);
        send(&mut slots, 3);
        slots.handle_lost(older[0], Seq(2));
        assert_eq!(
            whats(&send(&mut slots, 4)),
            [RecordContent::ObjectUpdated(0b10)]
        );
    }

    #[test]
    fn an_object_that_was_never_sent_needs_no_leave() {
        let mut slots = following(ORC);
        slots.unfollow(ORC, GameTime::ZERO);
        assert!(send(&mut slots, 1).is_empty());
    }

    #[test]
    fn an_alias_is_reused_under_a_new_epoch_after_its_leave_is_acknowledged() {
        let mut slots = live(ORC);
        let alias = slots.alias(ORC).expect("followed");
        slots.unfollow(ORC, GameTime::ZERO);
        let leave = send(&mut slots, 2);
        assert_eq!(whats(&leave), [RecordContent::Leave]);
        slots.follow(newcomer(ELF), GameTime::ZERO);
        assert_ne!(slots.alias(ELF).expect("followed").slot, alias.slot);
        slots.handle_lost(leave[0], Seq(2));
        let again = send(&mut slots, 3);
        assert!(whats(&again).contains(&RecordContent::Leave));
        for carried in again {
            slots.handle_acked(carried);
        }
        slots.follow(newcomer(ORC), GameTime::ZERO);
        assert_eq!(
            slots.alias(ORC),
            Some(Alias {
                slot: alias.slot,
                epoch: alias.epoch + 1
            })
        );
    }

    #[test]
    fn packets_of_an_earlier_epoch_change_nothing() {
        let mut slots = live(ORC);
        slots.mark_changed(ORC, 0b01, GameTime::ZERO);
        let late = send(&mut slots, 2);
        slots.unfollow(ORC, GameTime::ZERO);
        let leave = send(&mut slots, 3);
        slots.handle_acked(leave[0]);
        slots.follow(newcomer(ELF), GameTime::ZERO);
        send(&mut slots, 4);
        slots.handle_lost(late[0], Seq(2));
        slots.handle_acked(leave[0]);
        assert!(send(&mut slots, 5).is_empty());
        assert!(slots.alias(ELF).is_some());
    }

    #[test]
    fn a_deferred_record_stays_due() {
        let mut slots = following(ORC);
        let mut due = Vec::new();
        slots.take_due(&mut due);
        slots.defer(&due[0]);
        assert_eq!(
            whats(&send(&mut slots, 1)),
            [RecordContent::ObjectEntered(0b11)]
        );
    }

    fn newcomer(object: ObjectId) -> EnteringObject {
        EnteringObject {
            object,
            kind: 0,
            is_own: false,
            components: 0b11,
            pose_slot: None,
            is_ally: false,
        }
    }

    fn following(object: ObjectId) -> ObjectSlots {
        let mut slots = ObjectSlots::default();
        slots.follow(newcomer(object), GameTime::ZERO);
        slots
    }

    fn live(object: ObjectId) -> ObjectSlots {
        let mut slots = following(object);
        for carried in send(&mut slots, 1) {
            slots.handle_acked(carried);
        }
        slots
    }

    fn send(slots: &mut ObjectSlots, seq: u16) -> Vec<SentRecord> {
        let mut due = Vec::new();
        slots.take_due(&mut due);
        due.iter()
            .map(|due| slots.note_sent(due, Seq(seq), seq.into(), GameTime::ZERO))
            .collect()
    }

    fn whats(carried: &[SentRecord]) -> Vec<RecordContent> {
        carried.iter().map(|carried| carried.content).collect()
    }
}
