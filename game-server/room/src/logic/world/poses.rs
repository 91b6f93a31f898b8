//! Poses: the positions of objects whose movement cannot be predicted.
//!
//! A game sets a pose at a tick ([`World::set_pose`]); position, cell and trace follow from it.
//! Each pose has a dense slot ([`World::pose_slot`]), and the data that a tick walks through is in
//! arrays by that slot.
//!
//! Invariants:
//! 1. A pose holds from the horizon of its tick on and fits its kind's format; the object's
//!    position is that of the pose.
//! 2. [`World::active_objects`] lists each object whose pose changed in this tick, once, in the
//!    order of their first change; [`WorldChange::BecameActive`] reports those whose pose did not
//!    change at the previous tick.
//! 3. Setting a pose to its current value is no change. Creating an object with a pose is one.
//!
//! Units: metres, radians, metres a second. Cost: a few array accesses; a change allocates nothing.

use ambit_proto::ids::ObjectId;
use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use serde::Serialize;

use super::objects::{NO_POSE, slot_of};
use super::{World, WorldChange};
use crate::logic::contact::ObjectMotion;
use crate::logic::sight::HidingNote;

impl World {
    /// Sets the pose of an object that turns about z, from now on: position, heading (from x
    /// towards y) and speed along the heading.
    ///
    /// # Panics
    /// If the object has no pose, or a number is not finite, like the other setters: a bug of the
    /// game.
    pub fn set_pose(
        &mut self,
        object: ObjectId,
        position: Position,
        yaw_rad: f32,
        speed_m_per_s: f32,
    ) {
        let pose = self.pose_format(object).pose(position, yaw_rad, speed_m_per_s);
        self.replace_pose(object, pose);
    }

    /// Sets the pose of an object that turns freely, from now on, with a unit quaternion (x, y, z,
    /// w) and the game's own flag.
    pub fn set_free_pose(
        &mut self,
        object: ObjectId,
        position: Position,
        quaternion: [f32; 4],
        flag: bool,
    ) {
        let pose = self.pose_format(object).free(position, quaternion);
        self.replace_pose(object, Pose { flag, ..pose });
    }

    /// Moves an object with a path or a pose to another position at once: it *jumps*, takes no way
    /// there, and touches nothing between the two places. It is at rest there.
    pub fn put_at(&mut self, object: ObjectId, to: Position) {
        if !self.has_pose(object) {
            return self.teleport(object, to);
        }
        let there = self.pose_format(object).pose(to, 0.0, 0.0);
        let before = self.pose(object);
        if there.at != before.at {
            self.replace_pose(object, Pose { at: there.at, ..before });
            self.poses.note_jump(self.pose_slot(object), self.position(object));
        }
    }

    /// Sets a pose that lies on the grid of its kind already.
    pub fn replace_pose(&mut self, object: ObjectId, pose: Pose) {
        let slot = self.pose_slot(object);
        let (format, old) = self.poses.format_and_pose(slot);
        if old == pose {
            return;
        }
        debug_assert!(format.fits(&pose), "{pose:?} does not fit {format:?}");
        let here = self.objects.positions[slot_of(object)];
        if self.poses.set(slot, object, pose, here) == PoseActivity::Begins {
            self.changes.push(WorldChange::BecameActive { object });
        }
        self.object_mut(object).components[0] = Component::Pose(pose);
        self.set_position(object, format.position(&pose));
    }

    /// An object's pose, from now on.
    pub fn pose(&self, object: ObjectId) -> Pose {
        self.poses.format_and_pose(self.pose_slot(object)).1
    }

    /// The grid of an object's poses.
    pub fn pose_format(&self, object: ObjectId) -> PoseFormat {
        self.poses.format_and_pose(self.pose_slot(object)).0
    }

    /// Where a game's `sees` notes what hides an object.
    #[doc(hidden)]
    pub fn hiding(&self) -> &HidingNote {
        &self.hiding
    }

    /// Where an object with a pose faces, as a unit vector on (x, y): its heading or, if it turns
    /// freely, where its x axis points. `None` for a path, an axis that points straight up or down,
    /// and an object that is gone.
    pub fn facing(&self, object: ObjectId) -> Option<[f32; 2]> {
        let (format, pose) = self.poses.format_and_pose(self.pose_slot_of(object)?);
        if let Turning::Yaw { bits } = format.turn {
            return Some(self.headings.unit(bits, pose.turn[0]));
        }
        let [x, y, z, w] = format.quaternion(&pose);
        let axis = [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z)];
        let length = (axis[0] * axis[0] + axis[1] * axis[1]).sqrt();
        (length > 1e-3).then(|| axis.map(|part| part / length))
    }

    /// Whether an object has a pose instead of a path.
    pub fn has_pose(&self, object: ObjectId) -> bool {
        self.pose_slot_of(object).is_some()
    }

    /// The index of an object's pose, for arrays of a caller. It is less than the highest number of
    /// poses that ever existed at once, belongs to the object for its life, and is reused after
    /// that.
    pub fn pose_slot(&self, object: ObjectId) -> u32 {
        self.pose_slot_of(object)
            .unwrap_or_else(|| panic!("the object {object} has no pose or does not exist"))
    }

    /// Whether an object with a pose has jumped in this tick.
    pub fn has_jumped(&self, object: ObjectId) -> bool {
        self.poses.has_jumped(self.pose_slot(object))
    }

    /// The objects whose pose changed in this tick, new ones included, each once. After the end of
    /// the tick all of them exist.
    pub fn active_objects(&self) -> &[ObjectId] {
        &self.poses.active
    }

    /// How an object moves, for contact queries: its path or, with a pose, the straight line from
    /// its position at the previous tick to the current one; after a jump in this tick, from where
    /// it came to.
    pub fn motion(&self, object: ObjectId) -> ObjectMotion<'_> {
        let Some(slot) = self.pose_slot_of(object) else {
            return ObjectMotion::Path(self.path(object));
        };
        let here = self.position(object);
        let before = self.poses.previous_position(slot).unwrap_or(here);
        ObjectMotion::Straight { from: (self.previous_horizon, before), to: (self.now, here) }
    }
}

impl World {
    /// The slot of an object's pose, if the object exists and has one.
    #[inline]
    pub(super) fn pose_slot_of(&self, object: ObjectId) -> Option<u32> {
        let slot = self.objects.slot(object)?;
        Some(self.objects.pose_slots[slot]).filter(|&slot| slot != NO_POSE)
    }

    /// The grid of a kind's poses. Spawned objects fit their kind.
    pub(super) fn pose_format_of(&self, kind: u8) -> PoseFormat {
        *self.schema.kinds[usize::from(kind)]
            .pose_format()
            .expect("the kind of an object with a pose has a format")
    }

    /// Registers the pose of a new object, if component 0 is one.
    pub(super) fn add_pose(&mut self, object: ObjectId) {
        let newborn = self.object(object);
        let Component::Pose(pose) = newborn.components[0] else {
            return;
        };
        let format = self.pose_format_of(newborn.kind);
        let here = self.objects.positions[slot_of(object)];
        let slot = self.poses.insert(object, format, pose, here);
        self.objects.pose_slots[slot_of(object)] = slot;
        self.past.forget(slot);
        self.changes.push(WorldChange::BecameActive { object });
    }
}

/// What a change of a pose means for the active set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoseActivity {
    /// The object was not active at the previous tick.
    Begins,
    Continues,
}

/// The result of [`WorldPoses::to_saved`], as it is decoded.
pub(super) type SavedPoses = (u64, Vec<u64>, Vec<u32>);

/// All poses. All arrays by slot have the same length.
#[derive(Debug, Default)]
pub(super) struct WorldPoses {
    /// Counts ticks.
    tick: u64,
    formats: Vec<PoseFormat>,
    current: Vec<Pose>,
    /// The tick of the last change.
    changed: Vec<u64>,
    /// The object's position before that tick, or where it came to by a jump in it.
    previous: Vec<Position>,
    /// The tick of the last jump. It is not saved: it counts in its tick only.
    jumped: Vec<u64>,
    free: Vec<u32>,
    active: Vec<ObjectId>,
    /// Whether an object in `active` was removed.
    active_has_removed: bool,
}

impl WorldPoses {
    pub(super) fn begin_tick(&mut self) {
        self.tick += 1;
        self.active.clear();
    }

    /// The data to save; the rest follows from the objects.
    pub(super) fn to_saved(&self) -> impl Serialize + '_ {
        (self.tick, &self.changed, &self.free)
    }

    /// The format of the pose in a slot.
    pub(super) fn format(&self, slot: usize) -> Option<&PoseFormat> {
        self.formats.get(slot)
    }

    /// Restores saved poses; the caller then restores each object's with `restore_slot`.
    pub(super) fn from_saved((tick, changed, free): SavedPoses, no_format: PoseFormat) -> Self {
        let slots = changed.len();
        Self {
            tick,
            formats: vec![no_format; slots],
            current: vec![Pose::default(); slots],
            previous: vec![Position::default(); slots],
            jumped: vec![0; slots],
            changed,
            free,
            active: Vec::new(),
            active_has_removed: false,
        }
    }

    /// Sets the saved pose of an object; `false` if the slot does not exist.
    pub(super) fn restore_slot(
        &mut self,
        slot: u32,
        format: PoseFormat,
        pose: Pose,
        here: Position,
    ) -> bool {
        let index = slot as usize;
        if index >= self.current.len() {
            return false;
        }
        (self.formats[index], self.current[index], self.previous[index]) = (format, pose, here);
        true
    }

    /// Whether these slots and the free ones are all slots, each once.
    pub(super) fn are_slots_complete(&self, used: impl Iterator<Item = u32>) -> bool {
        let mut seen = vec![false; self.formats.len()];
        let mut is_new = |slot: u32| {
            seen.get_mut(slot as usize).is_some_and(|seen| !std::mem::replace(seen, true))
        };
        let each_once = used.chain(self.free.iter().copied()).all(&mut is_new);
        each_once && seen.iter().all(|seen| *seen)
    }

    /// Drops removed objects from the active set.
    pub(super) fn finish_tick(&mut self, exists: impl Fn(ObjectId) -> bool) {
        if std::mem::take(&mut self.active_has_removed) {
            self.active.retain(|&object| exists(object));
        }
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.active_has_removed |= self.changed[slot as usize] == self.tick;
        self.free.push(slot);
    }

    /// Whether a pose has changed at this tick or the previous one.
    pub(super) fn is_moving(&self, slot: u32) -> bool {
        self.changed[slot as usize] + 1 >= self.tick
    }

    fn insert(&mut self, object: ObjectId, format: PoseFormat, pose: Pose, here: Position) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| self.grow(format));
        let index = slot as usize;
        self.formats[index] = format;
        self.current[index] = pose;
        self.changed[index] = self.tick;
        self.previous[index] = here;
        self.jumped[index] = 0;
        self.active.push(object);
        slot
    }

    fn grow(&mut self, format: PoseFormat) -> u32 {
        self.formats.push(format);
        self.current.push(Pose::default());
        self.changed.push(0);
        self.previous.push(Position::default());
        self.jumped.push(0);
        self.formats.len() as u32 - 1
    }

    #[inline]
    fn format_and_pose(&self, slot: u32) -> (PoseFormat, Pose) {
        (self.formats[slot as usize], self.current[slot as usize])
    }

    /// Stores another pose of an object that was at `here` until now.
    #[inline]
    fn set(&mut self, slot: u32, object: ObjectId, pose: Pose, here: Position) -> PoseActivity {
        let index = slot as usize;
        self.current[index] = pose;
        let last = std::mem::replace(&mut self.changed[index], self.tick);
        if last == self.tick {
            return PoseActivity::Continues;
        }
        self.previous[index] = here;
        self.active.push(object);
        if last + 1 == self.tick { PoseActivity::Continues } else { PoseActivity::Begins }
    }

    /// An object has jumped to this position.
    fn note_jump(&mut self, slot: u32, to: Position) {
        self.previous[slot as usize] = to;
        self.jumped[slot as usize] = self.tick;
    }

    fn has_jumped(&self, slot: u32) -> bool {
        self.tick > 0 && self.jumped[slot as usize] == self.tick
    }

    /// The object's position at the previous tick, or where it has jumped to since, if its pose has
    /// changed since.
    fn previous_position(&self, slot: u32) -> Option<Position> {
        (self.changed[slot as usize] == self.tick).then(|| self.previous[slot as usize])
    }
}
