//! Obstacles that objects have: they stand in the way while their object exists.
//!
//! A component of obstacles is sent, saved and hidden like any other. What moves and what looks
//! asks [`Statics`](crate::logic::statics::Statics), which has the same obstacles beside the map's.

use ambit_proto::ids::ObjectId;
use ambit_proto::map::StaticObstacle;
use ambit_proto::rows::Rows;
use ambit_proto::schema::Component;

use super::World;

impl World {
    /// An object has come, or its obstacles have changed.
    pub(super) fn place_obstacles(&mut self, id: ObjectId) {
        let object = self.object(id);
        let mask = self.obstacle_components.mask(object.kind);
        if mask == 0 {
            return;
        }
        let components = object.components.iter().enumerate();
        let rows = components.filter_map(|(index, component)| match component {
            Component::Rows(rows) if mask & 1 << index != 0 => Some(rows),
            _ => None,
        });
        let obstacles: Vec<StaticObstacle> =
            rows.flat_map(Rows::iter).filter_map(StaticObstacle::of_row).collect();
        self.statics.place(id.0, &obstacles);
    }

    /// An object has gone.
    pub(super) fn take_away_obstacles(&mut self, id: ObjectId, kind: u8) {
        if self.obstacle_components.mask(kind) != 0 {
            self.statics.place(id.0, &[]);
        }
    }
}
