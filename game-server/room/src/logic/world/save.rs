//! Saves a world as bytes, and restores it.
//!
//! Between two ticks the state of a world is its objects, the timers, the controls, the random
//! generator, the time, the open requests to the store and what the game keeps of each player;
//! positions, indices and the obstacles of objects follow from these. The obstacles of the map
//! (`statics`) are created by the start of the game and are not saved. A restored world continues
//! bit for bit like the saved one; viewers receive every object again ([`WorldChange::Spawned`]).

use std::collections::BTreeMap;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::pose::{Pose, PoseFormat};
use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;
use fastrand::Rng;

use super::adaptation::Adaptation;
use super::objects::{NO_POSE, Objects, SavedObjects, slot_of};
use super::past::SavedPast;
use super::path_segment::PathSegment;
use super::poses::{SavedPoses, WorldPoses};
use super::timers::{SavedTimers, Timers};
use super::{ObjectsByCell, World, WorldChange, component_access};
use crate::logic::controls::HeldControls;
use crate::logic::share::Copies;
use crate::saved::{self, BadState};

impl World {
    /// Appends the state of the world between two ticks. Cost: all objects.
    pub fn save(&self, out: &mut Vec<u8>) {
        saved::put(out, &(self.now, self.previous_horizon, self.rng.get_seed()));
        saved::put(out, &self.objects.to_saved());
        saved::put(out, &self.poses.to_saved());
        saved::put(out, &self.timers.to_saved());
        saved::put(out, &(&self.controls, &self.moving, &self.overflowing));
        saved::put(out, &self.past.to_saved());
        saved::put(out, &(&self.store, self.player_values.save(), self.calendar_ms));
        saved::put(out, &(&self.shared.copies, &self.standings, &self.wishes));
    }

    /// Replaces the state of this world, in which the game has started, by the saved one; with an
    /// adaptation if that is of another schema.
    pub(crate) fn restore(
        &mut self,
        bytes: &mut &[u8],
        adaptation: Option<&Adaptation>,
    ) -> Result<(), BadState> {
        let (now, before, rng_seed): (GameTime, GameTime, u64) = saved::take(bytes)?;
        let objects: SavedObjects = saved::take(bytes)?;
        let mut poses: SavedPoses = saved::take(bytes)?;
        let timers: SavedTimers = saved::take(bytes)?;
        let (mut controls, mut moving, crowded): (
            BTreeMap<PlayerId, HeldControls>,
            Vec<ObjectId>,
            Vec<ObjectId>,
        ) = saved::take(bytes)?;
        let mut past: SavedPast = saved::take(bytes)?;
        let values: Vec<u8>;
        (self.store, values, self.calendar_ms) = saved::take(bytes)?;
        let mut copies: Copies;
        (copies, self.standings, self.wishes) = saved::take(bytes)?;
        self.player_values.restore(&values)?;
        (self.now, self.previous_horizon, self.rng) = (now, before, Rng::with_seed(rng_seed));
        self.objects = Objects::from_saved(objects).ok_or(BadState::Malformed)?;
        if let Some(adaptation) = adaptation {
            adaptation.apply((now, &self.schema), &mut self.objects, &mut poses)?;
            let objects = &self.objects;
            let has_path = |id: &ObjectId| {
                let first = objects.get(*id).and_then(|object| object.components.first());
                matches!(first, Some(Component::Path(_)))
            };
            moving.retain(has_path);
            // The other maps tell of their objects again.
            for copy in std::mem::take(&mut copies).ids() {
                self.objects.remove(copy);
            }
            past.clear();
            if !adaptation.has_same_controls {
                controls.clear();
            }
        }
        let any_format = self.schema.kinds.iter().find_map(|kind| kind.pose_format().copied());
        self.poses = WorldPoses::from_saved(poses, any_format.unwrap_or(NO_FORMAT));
        self.timers = Timers::from_saved(timers).ok_or(BadState::Malformed)?;
        (self.controls, self.moving, self.overflowing) = (controls, moving, crowded);
        self.cells = ObjectsByCell::new(self.grid);
        self.room_wide.clear();
        self.statics.clear_placed();
        self.changed.clear();
        self.changes.clear();
        self.trace.clear();
        for id in self.objects.ids() {
            self.restore_object(id).ok_or(BadState::Malformed)?;
        }
        let posed = self.objects.pose_slots.iter().copied().zip(self.objects.occupied_slots());
        let posed = posed.filter(|&(pose, exists)| exists && pose != NO_POSE).map(|(pose, _)| pose);
        if !self.poses.are_slots_complete(posed) {
            return Err(BadState::Malformed);
        }
        let poses = &self.poses;
        let fits = |slot, pose: &Pose| poses.format(slot).is_some_and(|format| format.fits(pose));
        if !self.past.restore(past, fits) {
            return Err(BadState::Malformed);
        }
        if !copies.ids().all(|copy| self.is_room_wide(copy)) {
            return Err(BadState::Malformed);
        }
        self.restore_copies(copies);
        for index in 0..self.moving.len() {
            self.restore_segment(self.moving[index]).ok_or(BadState::Malformed)?;
        }
        Ok(())
    }

    /// Puts a restored object at its position and reports it as spawned. `None` if it fits no kind.
    fn restore_object(&mut self, id: ObjectId) -> Option<()> {
        let object = self.objects.get(id)?;
        let kind = object.kind;
        let specs = &self.schema.kind(kind)?.components;
        let fit = specs.len() == object.components.len();
        let pairs = object.components.iter().zip(specs);
        if !fit
            || !pairs.clone().all(|(component, spec)| {
                component.fits(&spec.codec) && !component_access::is_empty_timeline(component)
            })
        {
            return None;
        }
        let (owner, has_owner_or_team, first) = (
            object.owner,
            object.owner.is_some() || object.team.is_some(),
            object.components.first()?.clone(),
        );
        if self.is_kind_room_wide(kind) {
            self.room_wide.insert((kind, owner, id));
            self.report_spawned(id, kind, None);
            return (self.objects.pose_slots[slot_of(id)] == NO_POSE).then_some(());
        }
        let position = self.initial_position(kind, &first);
        let slot = slot_of(id);
        let cell = self.grid.cell_at(position);
        (self.objects.positions[slot], self.objects.cells[slot]) = (position, cell);
        self.cells.insert(slot, cell);
        self.report_spawned(id, kind, Some((position, cell)));
        let pose_slot = self.objects.pose_slots[slot];
        match first {
            Component::Pose(pose) => {
                let format = self.pose_format_of(kind);
                if !self.poses.restore_slot(pose_slot, format, pose, position) {
                    return None;
                }
                self.changes.push(WorldChange::BecameActive { object: id });
            }
            _ if pose_slot != NO_POSE => return None,
            _ => {}
        }
        if has_owner_or_team {
            self.changes.push(WorldChange::Team { object: id });
        }
        Some(())
    }

    /// Finds the path segment of an object in the list of moving objects. `None` if the object has
    /// no path or is listed twice.
    fn restore_segment(&mut self, id: ObjectId) -> Option<()> {
        // A removed object stays in the list until the list is next walked through.
        let Some(object) = self.objects.get(id) else {
            return Some(());
        };
        let Component::Path(path) = &object.components[0] else {
            return None;
        };
        let leg = PathSegment::of_path_at(path, self.now);
        let slot = slot_of(id);
        self.objects.segments[slot] = leg;
        (!std::mem::replace(&mut self.objects.is_listed_moving[slot], true)).then_some(())
    }
}

/// For a world whose kinds have no poses; never used.
const NO_FORMAT: PoseFormat =
    PoseFormat { per_metre: 1, turn: ambit_proto::pose::Turning::Fixed, motion: None };
