//! Bringing objects to where they are now: along their legs, onto another path, or to a pose.
//!
//! Invariants: an object has a leg exactly while its path goes on after now; who has one stands in
//! the list of moving ones, once. Cost: per moving object and tick, one interpolation; a path is
//! searched only where a leg ends.

use ambit_proto::ids::ObjectId;
use ambit_proto::schema::Component;
use ambit_proto::space::Position;

use super::objects::slot_of;
use super::path_segment::PathSegment;
use super::{World, WorldChange, component_access};

impl World {
    /// Where an object begins, by its path or its pose.
    pub(super) fn initial_position(&self, kind: u8, component: &Component) -> Position {
        match component {
            Component::Pose(pose) => self.pose_format_of(kind).position(pose),
            Component::Path(path) => component_access::position_on(path, self.now),
            other => panic!("component 0 is a path or a pose, not {other:?}"),
        }
    }

    /// Brings a moving object to `now`; whether it goes on moving.
    pub(super) fn advance(&mut self, id: ObjectId) -> bool {
        let Some(slot) = self.objects.slot(id) else {
            return false;
        };
        match self.objects.segments[slot].and_then(|leg| leg.position(self.now)) {
            Some(position) => self.set_position(id, position),
            None => self.update_segment(id),
        }
        let moves = self.objects.segments[slot].is_some();
        self.objects.is_listed_moving[slot] = moves;
        moves
    }

    /// Looks up in an object's path where it is and how it goes on.
    fn update_segment(&mut self, id: ObjectId) {
        let path = self.object(id).path();
        let (leg, position) = (
            PathSegment::of_path_at(path, self.now),
            component_access::position_on(path, self.now),
        );
        self.objects.segments[slot_of(id)] = leg;
        self.set_position(id, position);
    }

    /// An object has another path. One that rests now stays in the list of moving ones until the
    /// next tick.
    pub(super) fn handle_path_change(&mut self, id: ObjectId) {
        self.update_segment(id);
        let slot = slot_of(id);
        if self.objects.segments[slot].is_some()
            && !std::mem::replace(&mut self.objects.is_listed_moving[slot], true)
        {
            self.moving.push(id);
        }
    }

    /// An object is somewhere, now.
    pub(super) fn set_position(&mut self, id: ObjectId, position: Position) {
        let slot = slot_of(id);
        if self.objects.positions[slot] == position {
            return;
        }
        self.objects.positions[slot] = position;
        self.trace.record_move(id);
        let (from, to) = (self.objects.cells[slot], self.grid.cell_at(position));
        if from != to {
            self.objects.cells[slot] = to;
            self.cells.remove(slot, from);
            self.cells.insert(slot, to);
            self.changes.push(WorldChange::ChangeCell {
                object: id,
                from,
                to,
            });
        }
    }
}
