//! What one client knows of the world, and what it still has to get.
//!
//! `follow`, `unfollow` and `mark_changed` set what should hold at the client; `note_sent`,
//! `handle_acked` and `handle_lost` report the packets; `take_due` returns what still has to be
//! sent. State is derived again, not resent: a lost packet only makes its contents due again, and
//! what is sent then is the newest state.
//!
//! Each followed object has a slot; the slot's number and epoch are the client's alias for it. This
//! module handles records; the poses of active objects are handled by [`ViewerPoses`], by the same
//! slots. Invariants:
//! 1. A slot is reused, under the next epoch, only after the client has acknowledged the `Leave`.
//! 2. An object is sent in full (`Enter`) until one such packet is acknowledged, so that an
//!    `Update` never finds its object missing.
//! 3. An object that leaves before its `Enter` was sent needs no `Leave`.
//! 4. A component is due again only if the lost packet is the last one that carried it.
//! 5. A pose travels in a record only with its object's `Enter`; so an `Enter` is not repeated
//!    because the object moves.
//! 6. A timeline is sent from its first change on, without what was before, only to a client that
//!    has acknowledged the last packet with it. So it has what was before, whatever was lost.
//!
//! 7. What a client knows of a path is right until the object leaves: a change of the ticks before
//!    the `Leave` that was not sent yet goes out before it. Later changes are not sent.
//!
//! What is due may wait for a datagram that is sent anyway, until [`TRAVEL_TIME`] before it takes
//! effect. What concerns the own avatar, or was lost, does not wait.
//!
//! On a line that loses datagrams ([`ObjectSlots::set_copies`]) nothing waits, and what has a time
//! of effect is sent again at the next tick (`SlotCopies`): a loss is known only after that time.
//! What comes into sight at its edge is not. A `Leave` is sent again with what leaves anyway.
//!
//! Cost: what changed; objects that do not change cost nothing. Source for the waiting:
//! "Optimisation des échanges de données".

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::time::Duration;

use ambit_proto::ids::{Alias, ObjectId, Seq};
use ambit_proto::time::GameTime;

use super::slot_copies::SlotCopies;
use super::viewer_poses::{ViewerPoses, grow_slowly};
use crate::network::interest::IdHasher;

/// Components of an object, at most.
pub const MAX_COMPONENTS: usize = 16;
/// The allowance for a datagram's travel to its client, without a resend: the datagram is sent this
/// time before it takes effect.
pub const TRAVEL_TIME: Duration = Duration::from_millis(100);

/// The unit of times on the wire.
const MILLISECOND: Duration = Duration::from_millis(1);

/// Objects that a player may be engaged with before they come into sight; beyond that the oldest
/// are dropped.
const MAX_AWAITED: usize = 16;

/// What a packet carried of one object; kept until the packet is acknowledged or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentRecord {
    slot: u16,
    epoch: u8,
    content: RecordContent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordContent {
    /// All components, as a mask: the object is new to the client.
    Enter(u16),
    /// The components that changed, as a mask.
    Update(u16),
    /// The path up to the `Leave`, which is due, too: a turn or a stop before it was not sent yet.
    LastPath,
    /// The client does not follow the object any more.
    Leave,
}

/// A record that is due, with all that its head needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRecord {
    /// The client's slot for the object.
    pub slot: u16,
    /// The object; it may be removed already when `content` is `Leave`.
    pub object: ObjectId,
    /// The client's alias for the object.
    pub alias: Alias,
    /// Index of the object's kind in the schema.
    pub kind: u8,
    /// As in the record: whether it is the client's own avatar, or room-wide and the player's.
    pub is_own: bool,
    /// When the change takes effect.
    pub effective_at: GameTime,
    /// Since when the client may know of the object; it must not learn what was before.
    pub visible_since: GameTime,
    /// Until then the client has all timelines of the record as they are; zero if it may not have
    /// one of them.
    pub as_before: GameTime,
    /// The record has the path at most up to this time.
    pub path_until: GameTime,
    pub content: RecordContent,
}

/// An object that comes into a client's sight.
#[derive(Clone, Copy, Debug)]
pub struct EnteringObject {
    pub object: ObjectId,
    /// Index of the object's kind in the schema.
    pub kind: u8,
    /// Whether it is the client's own avatar, or room-wide and the player's.
    pub is_own: bool,
    /// The components that this client may know.
    pub components: u16,
    /// Slot of its pose in the pose table, if its kind has a pose.
    pub pose_slot: Option<u32>,
    /// Whether it belongs to the player or the player's team.
    pub is_ally: bool,
    /// Whether it appears amid what the player sees, and not at the edge.
    pub is_near: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SlotPhase {
    /// It has no object and may be reused.
    #[default]
    Free,
    /// No packet with its `Enter` is acknowledged yet.
    Entering,
    /// The client has the object.
    Live,
    /// The object has left; its `Leave` is not acknowledged yet.
    Leaving,
}

#[derive(Clone, Debug, Default)]
struct ObjectSlot {
    object: ObjectId,
    kind: u8,
    is_own: bool,
    has_pose: bool,
    epoch: u8,
    phase: SlotPhase,
    /// Whether a packet with its `Enter` was ever sent.
    is_enter_sent: bool,
    /// Whether the slot is in the queue of due slots.
    is_queued: bool,
    /// When its `Enter` or `Leave` takes effect.
    effective_at: GameTime,
    /// When the newest change of a component takes effect.
    changed_at: GameTime,
    components: u16,
    /// Components to send; for a leaving object, not 0 while its `Leave` is to be sent.
    dirty: u16,
    /// Dirty components that have a time of effect.
    timed: u16,
    copies: SlotCopies,
    /// If a component is dirty: until this time all timelines are as in the last packet that
    /// carried them. Zero if that is not known.
    as_before: GameTime,
    /// Components of which the last packet that carried them is acknowledged.
    acked: u16,
    /// The last packet that carried each component; `[0]` is for the `Leave` of a leaving object.
    carriers: [Seq; MAX_COMPONENTS],
}

/// One client's slots for the objects that it follows; see the module.
#[derive(Debug, Default)]
pub struct ObjectSlots {
    /// By slot number.
    entries: Vec<ObjectSlot>,
    free: Vec<u16>,
    by_object: HashMap<ObjectId, u16, BuildHasherDefault<IdHasher>>,
    /// Slots that may have a record due; each is in it at most once.
    queue: Vec<u16>,
    /// Paths to tell up to the `Leave`s of this tick.
    last_paths: Vec<DueRecord>,
    /// When the first of them has to be sent; `None` if there is none.
    send_deadline: Option<GameTime>,
    /// The same of those that may wait as long as poses do: what moves by poses comes into sight or
    /// leaves it.
    posed_deadline: Option<GameTime>,
    /// The poses of the objects, and the active set.
    poses: ViewerPoses,
    /// Objects that the player is engaged with and that are not in sight yet, and until when.
    awaited: Vec<(ObjectId, GameTime)>,
    makes_copies: bool,
}

impl ObjectSlots {
    /// Starts to send an object to the client, from time `at` on.
    pub fn follow(&mut self, entering: EnteringObject, at: GameTime) {
        debug_assert!(!self.by_object.contains_key(&entering.object), "an object is followed once");
        let Some(index) = self.take_free() else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        *slot = ObjectSlot {
            object: entering.object,
            kind: entering.kind,
            is_own: entering.is_own,
            has_pose: entering.pose_slot.is_some(),
            phase: SlotPhase::Entering,
            is_enter_sent: false,
            effective_at: at,
            changed_at: at,
            components: entering.components,
            dirty: entering.components,
            timed: if entering.is_near { entering.components } else { 0 },
            copies: SlotCopies::default(),
            as_before: GameTime::ZERO,
            acked: 0,
            epoch: slot.epoch,
            is_queued: slot.is_queued,
            carriers: slot.carriers,
        };
        self.by_object.insert(entering.object, index);
        if let Some(pose) = entering.pose_slot {
            let alias = Alias { slot: index, epoch: slot.epoch };
            self.poses.follow(alias, pose, entering.is_own || entering.is_ally);
        }
        if let Some(position) =
            self.awaited.iter().position(|&(awaited, _)| awaited == entering.object)
        {
            let (_, until) = self.awaited.swap_remove(position);
            self.poses.engage(index, until);
        }
        self.enqueue(index);
    }

    /// Sets whether what has a time of effect is sent twice from now on.
    pub fn set_copies(&mut self, makes_copies: bool) {
        self.makes_copies = makes_copies;
    }

    /// The number of objects that have left and whose `Leave` is not acknowledged.
    pub fn leaving_count(&self) -> usize {
        self.entries.len() - self.free.len() - self.by_object.len()
    }

    /// Activates the poses of all objects that the client has, so that they are sent again.
    pub fn activate_poses(&mut self) {
        for (index, slot) in (0..).zip(&self.entries) {
            if slot.phase == SlotPhase::Live && slot.has_pose {
                self.poses.activate(index);
            }
        }
    }

    /// Sends a `Leave` for an object, effective at time `at`. An object that was never sent is
    /// dropped without one.
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
        let is_untold = slot.dirty & slot.components & 1 != 0 && slot.as_before < at;
        if is_untold && !slot.has_pose {
            self.send_deadline = Some(GameTime::ZERO);
            self.last_paths.push(DueRecord {
                effective_at: at.saturating_sub(MILLISECOND),
                path_until: at.saturating_sub(MILLISECOND),
                content: RecordContent::LastPath,
                ..slot.due_record(index, RecordContent::Update(1))
            });
        }
        slot.phase = SlotPhase::Leaving;
        slot.effective_at = at;
        (slot.dirty, slot.timed) = (1, 1);
        slot.copies = SlotCopies::default();
        self.enqueue(index);
    }

    /// Notes that components of an object have changed, effective at time `at`. Until then, and
    /// until `as_before`, all of them are as before; zero if that is not known.
    pub fn mark_changed(
        &mut self,
        object: ObjectId,
        components: u16,
        at: GameTime,
        as_before: GameTime,
    ) {
        let Some(&index) = self.by_object.get(&object) else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        let changed = components & slot.components;
        if changed != 0 {
            let before = if slot.dirty == 0 { GameTime::MAX } else { slot.as_before };
            slot.as_before = before.min(as_before).min(at);
            slot.dirty |= changed;
            slot.timed |= changed;
            slot.changed_at = at;
            self.enqueue(index);
        }
    }

    /// Adds the object to the active set: its pose begins to change.
    pub fn activate_pose(&mut self, object: ObjectId) {
        if let Some(&index) = self.by_object.get(&object)
            && self.entries[usize::from(index)].phase == SlotPhase::Live
        {
            self.poses.activate(index);
        }
    }

    /// Gives the object the most urgent class until then: it is the player's target or attacker.
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

    /// Sets which components of an object the client may know, effective at time `at`, and whether
    /// the object belongs to the player or the player's team.
    pub fn set_audience(&mut self, object: ObjectId, components: u16, close: bool, at: GameTime) {
        let Some(&index) = self.by_object.get(&object) else {
            return;
        };
        let slot = &mut self.entries[usize::from(index)];
        let gained = components & !slot.components;
        slot.components = components;
        slot.dirty &= components;
        slot.copies.retain(components);
        if slot.has_pose {
            self.poses.set_ally(index, slot.is_own || close);
        }
        self.mark_changed(object, gained, at, GameTime::ZERO);
    }

    /// The object in a slot, and its kind.
    pub fn at(&self, slot: u16) -> Option<(ObjectId, u8)> {
        let slot = self.entries.get(usize::from(slot))?;
        Some((slot.object, slot.kind))
    }

    /// The slot of an object that the client follows.
    pub fn slot_of(&self, object: ObjectId) -> Option<u16> {
        self.by_object.get(&object).copied()
    }

    /// How many objects the client follows.
    pub fn followed_count(&self) -> usize {
        self.by_object.len()
    }

    /// The objects that the client follows, in the order of their slots.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let followed = self
            .entries
            .iter()
            .filter(|slot| matches!(slot.phase, SlotPhase::Entering | SlotPhase::Live));
        followed.map(|slot| slot.object)
    }

    /// The poses of the objects that the client follows.
    pub fn poses(&self) -> &ViewerPoses {
        &self.poses
    }

    /// The poses of the objects that the client follows.
    pub fn poses_mut(&mut self) -> &mut ViewerPoses {
        &mut self.poses
    }

    /// When the first due record has to be sent, but for those of
    /// [`ObjectSlots::posed_deadline`].
    pub fn send_deadline(&self) -> Option<GameTime> {
        self.send_deadline
    }

    /// When the first due record has to be sent that may wait as long as poses do: what moves by
    /// poses comes into sight or leaves it.
    pub fn posed_deadline(&self) -> Option<GameTime> {
        self.posed_deadline
    }

    /// Whether the client knows an object as its own; `None` if it does not follow the object.
    pub fn is_own(&self, object: ObjectId) -> Option<bool> {
        let slot = self.slot_of(object)?;
        Some(self.entries[usize::from(slot)].is_own)
    }

    /// Whether the client has acknowledged an object.
    pub fn is_known(&self, object: ObjectId) -> bool {
        let slot = self.slot_of(object);
        slot.is_some_and(|slot| self.entries[usize::from(slot)].phase == SlotPhase::Live)
    }

    /// The client's alias for an object that it follows.
    pub fn alias(&self, object: ObjectId) -> Option<Alias> {
        let &slot = self.by_object.get(&object)?;
        Some(Alias { slot, epoch: self.entries[usize::from(slot)].epoch })
    }

    /// The object with this alias; `None` if the client does not follow it.
    pub fn object(&self, alias: Alias) -> Option<ObjectId> {
        let object = self.entries.get(usize::from(alias.slot))?.object;
        (self.alias(object) == Some(alias)).then_some(object)
    }

    /// Since when the client may know of an object that it follows.
    pub fn visible_since(&self, object: ObjectId) -> Option<GameTime> {
        let &slot = self.by_object.get(&object)?;
        Some(self.entries[usize::from(slot)].effective_at)
    }

    /// How many components of an object still have to be sent, and of how many the newest values
    /// are on the way; `None` if the client does not follow the object.
    pub fn pending_components(&self, object: ObjectId) -> Option<(u32, u32)> {
        let slot = &self.entries[usize::from(self.slot_of(object)?)];
        let on_the_way = slot.components & !slot.dirty & !slot.acked;
        Some((slot.dirty.count_ones(), on_the_way.count_ones()))
    }

    /// Whether the predicate holds for any object that the client follows.
    pub fn any_followed(&self, predicate: impl Fn(ObjectId) -> bool) -> bool {
        self.objects().any(predicate)
    }

    /// Moves all due records to `due` (cleared first), in no particular order. Each has to go to
    /// `note_sent`, or back with `defer`.
    pub fn take_due(&mut self, due: &mut Vec<DueRecord>) {
        due.clear();
        (self.send_deadline, self.posed_deadline) = (None, None);
        for index in self.queue.drain(..) {
            let slot = &mut self.entries[usize::from(index)];
            slot.is_queued = false;
            let Some(content) = slot.due_content() else {
                continue;
            };
            due.push(slot.due_record(index, content));
        }
        due.append(&mut self.last_paths);
    }

    /// Keeps a record due that did not fit. A last path is of its tick only.
    pub fn defer(&mut self, due: &DueRecord) {
        self.enqueue(due.slot);
    }

    /// Notes that a record was sent in packet `seq`, which is datagram `number` of the tick of
    /// `stamp`.
    pub fn note_sent(
        &mut self,
        due: &DueRecord,
        seq: Seq,
        number: u64,
        stamp: GameTime,
    ) -> SentRecord {
        let slot = &mut self.entries[usize::from(due.slot)];
        let record = SentRecord { slot: due.slot, epoch: slot.epoch, content: due.content };
        let (components, copied) = match due.content {
            RecordContent::Enter(mask) => {
                slot.is_enter_sent = true;
                if slot.has_pose {
                    self.poses.note_sent(due.slot, number, stamp);
                }
                (mask, if slot.timed == 0 { 0 } else { mask })
            }
            RecordContent::Update(mask) => (mask, slot.timed & mask),
            RecordContent::Leave => (1, slot.timed & 1),
            // It is not sent again: when a loss is known, the object has left.
            RecordContent::LastPath => return record,
        };
        if slot.dirty == 0 {
            slot.copies.note_sent(seq);
            return record;
        }
        slot.dirty &= !components;
        slot.timed &= !components;
        slot.acked &= !components;
        for component in set_bits(components) {
            slot.carriers[component] = seq;
        }
        let copied = if self.makes_copies { copied } else { 0 };
        slot.copies.arm(components, copied, due.as_before);
        if copied != 0 {
            self.enqueue(due.slot);
        }
        record
    }

    /// Handles the acknowledgement of packet `seq`, which carried this.
    pub fn handle_acked(&mut self, record: SentRecord, seq: Seq) {
        let slot = &mut self.entries[usize::from(record.slot)];
        if slot.epoch != record.epoch {
            return;
        }
        if let RecordContent::Enter(mask) | RecordContent::Update(mask) = record.content {
            for component in set_bits(mask) {
                let is_copy = slot.copies.is_copy(component, seq);
                if is_copy {
                    slot.carriers[component] = seq;
                }
                if is_copy || slot.carriers[component] == seq {
                    slot.acked |= 1 << component;
                    slot.copies.finish(component);
                }
            }
        }
        match (record.content, slot.phase) {
            (RecordContent::Enter(_), SlotPhase::Entering) => {
                slot.phase = SlotPhase::Live;
                slot.dirty &= slot.updatable();
                slot.copies.retain(slot.updatable());
                if slot.has_pose {
                    self.poses.activate(record.slot);
                }
            }
            (RecordContent::Leave, SlotPhase::Leaving) => {
                slot.phase = SlotPhase::Free;
                slot.epoch = slot.epoch.wrapping_add(1);
                slot.dirty = 0;
                slot.copies = SlotCopies::default();
                self.free.push(record.slot);
            }
            _ => {}
        }
    }

    /// Handles the loss of packet `seq`, which carried this: what no newer packet has carried since
    /// is due again.
    pub fn handle_lost(&mut self, record: SentRecord, seq: Seq) {
        let slot = &mut self.entries[usize::from(record.slot)];
        if slot.epoch != record.epoch {
            return;
        }
        let components = match (record.content, slot.phase) {
            (RecordContent::Leave, SlotPhase::Leaving) => 1,
            (RecordContent::Enter(mask) | RecordContent::Update(mask), SlotPhase::Entering) => {
                mask & slot.components
            }
            (RecordContent::Enter(mask) | RecordContent::Update(mask), SlotPhase::Live) => {
                mask & slot.updatable()
            }
            _ => return,
        };
        for component in set_bits(components) {
            if slot.copies.is_copy(component, seq) {
                slot.copies.finish(component);
            } else if slot.carriers[component] == seq {
                match slot.copies.replace_first(component) {
                    Some(copy) => slot.carriers[component] = copy,
                    None => slot.dirty |= 1 << component,
                }
            }
        }
        if slot.dirty != 0 {
            self.enqueue(record.slot);
        }
    }

    fn enqueue(&mut self, index: u16) {
        let slot = &mut self.entries[usize::from(index)];
        if !slot.is_queued {
            slot.is_queued = true;
            self.queue.push(index);
        }
        let deadline = match slot.phase {
            // The next datagram tells of it.
            SlotPhase::Leaving if slot.dirty == 0 => GameTime::MAX,
            SlotPhase::Leaving => slot.send_deadline(),
            _ if slot.copies.due() != 0 || self.makes_copies && slot.timed != 0 => GameTime::ZERO,
            _ => slot.send_deadline(),
        };
        let may_wait = slot.has_pose && !slot.is_own && slot.phase != SlotPhase::Live;
        let first = if may_wait { &mut self.posed_deadline } else { &mut self.send_deadline };
        *first = Some(first.map_or(deadline, |before| before.min(deadline)));
    }

    /// `None` when all 65,536 slots are in use, including those of leaving objects: the client then
    /// does not see the object.
    fn take_free(&mut self) -> Option<u16> {
        self.free.pop().or_else(|| {
            let index = u16::try_from(self.entries.len()).ok()?;
            grow_slowly(&mut self.entries);
            self.entries.push(ObjectSlot::default());
            Some(index)
        })
    }
}

impl ObjectSlot {
    /// The components that are sent in updates: all but the pose.
    fn updatable(&self) -> u16 {
        if self.has_pose { self.components & !1 } else { self.components }
    }

    fn send_deadline(&self) -> GameTime {
        let at = if self.phase == SlotPhase::Live { self.changed_at } else { self.effective_at };
        if self.is_own { GameTime::ZERO } else { at.saturating_sub(TRAVEL_TIME) }
    }

    fn due_record(&self, index: u16, content: RecordContent) -> DueRecord {
        let is_update = matches!(content, RecordContent::Update(_));
        DueRecord {
            slot: index,
            object: self.object,
            alias: Alias { slot: index, epoch: self.epoch },
            kind: self.kind,
            is_own: self.is_own,
            effective_at: if is_update { self.changed_at } else { self.effective_at },
            visible_since: self.effective_at,
            as_before: match content {
                RecordContent::Update(mask) => self.known_until(mask),
                _ => GameTime::ZERO,
            },
            path_until: GameTime::MAX,
            content,
        }
    }

    /// What is to be sent, for the first time or again.
    fn due_content(&self) -> Option<RecordContent> {
        let components = self.dirty | self.copies.due();
        match self.phase {
            _ if components == 0 => None,
            SlotPhase::Free => None,
            SlotPhase::Entering => Some(RecordContent::Enter(self.components)),
            SlotPhase::Live => Some(RecordContent::Update(components)),
            SlotPhase::Leaving => Some(RecordContent::Leave),
        }
    }

    /// Until when the client has the timelines of these components as they are; zero if it may not
    /// have one of them.
    fn known_until(&self, components: u16) -> GameTime {
        let copies = self.copies.due();
        if components & !(self.acked | copies) != 0 {
            return GameTime::ZERO;
        }
        let of_changes = if self.dirty == 0 { GameTime::MAX } else { self.as_before };
        let of_copies = if copies == 0 { GameTime::MAX } else { self.copies.as_before() };
        of_changes.min(of_copies)
    }
}

/// The indices of the bits that are set.
pub fn set_bits(mask: u16) -> impl Iterator<Item = usize> {
    (0..MAX_COMPONENTS).filter(move |&bit| mask & (1 << bit) != 0)
}

#[cfg(test)]
mod tests;
