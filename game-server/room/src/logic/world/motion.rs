//! Moves objects to their position at `now`: along their segments, onto another path, or to a pose.
//!
//! Invariants: an object has a segment exactly while its path continues after now; an object with a
//! segment is in the list of moving objects exactly once. Cost: one interpolation per moving object
//! and tick; a path is searched only where a segment ends.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::Component;
use ambit_proto::space::Position;

use super::objects::slot_of;
use super::path_segment::PathSegment;
use super::{World, WorldChange, component_access, path_ahead};

impl World {
    /// The position of a new object, from its path or its pose.
    pub(super) fn initial_position(&self, kind: u8, component: &Component) -> Position {
        match component {
            Component::Pose(pose) => self.pose_format_of(kind).position(pose),
            Component::Path(path) => component_access::position_on(path, self.now),
            other => panic!("component 0 is a path or a pose, not {other:?}"),
        }
    }

    /// Moves an object to `now`. Returns whether it goes on moving.
    pub(super) fn advance(&mut self, id: ObjectId) -> bool {
        let Some(slot) = self.objects.slot(id) else {
            return false;
        };
        if self.objects.path_ahead_at[slot].is_some_and(|at| at <= self.now) {
            self.objects.path_ahead_at[slot] =
                path_ahead::next_part_at(self.object(id).path(), self.now);
            self.changes.push(WorldChange::PathAhead { object: id });
        }
        match self.objects.segments[slot].and_then(|leg| leg.position(self.now)) {
            Some(position) => self.set_position(id, position),
            None => self.update_segment(id),
        }
        let is_moving = self.objects.segments[slot].is_some();
        self.objects.is_listed_moving[slot] = is_moving;
        is_moving
    }

    /// Looks up the object's current segment and position in its path.
    fn update_segment(&mut self, id: ObjectId) {
        let path = self.object(id).path();
        let leg = PathSegment::of_path_at(path, self.now);
        let position = component_access::position_on(path, self.now);
        self.objects.segments[slot_of(id)] = leg;
        self.set_position(id, position);
    }

    /// Takes note of a new path. An object that is now at rest stays in the list of moving objects
    /// until the next tick.
    pub(super) fn handle_path_change(&mut self, id: ObjectId) {
        self.update_segment(id);
        let slot = slot_of(id);
        self.objects.path_ahead_at[slot] =
            path_ahead::next_part_at(self.object(id).path(), self.now);
        if self.objects.segments[slot].is_some()
            && !std::mem::replace(&mut self.objects.is_listed_moving[slot], true)
        {
            self.moving.push(id);
        }
    }

    /// Sets an object's position and cell at `now`.
    pub(super) fn set_position(&mut self, id: ObjectId, position: Position) {
        let slot = slot_of(id);
        if self.objects.positions[slot] == position {
            return;
        }
        self.objects.positions[slot] = position;
        self.trace.record_move(id);
        let from = self.objects.cells[slot];
        let to = self.grid.cell_at(position);
        if from != to {
            self.objects.cells[slot] = to;
            self.cells.remove(slot, from);
            self.cells.insert(slot, to);
            self.changes.push(WorldChange::ChangeCell { object: id, from, to });
        }
    }
}
