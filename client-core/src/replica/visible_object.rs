//! An object in sight, as a view reads it at any room time, past or future.
//!
//! Nothing is stored here. Units: metres, radians.

use std::sync::Arc;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::pose::Pose;
use ambit_proto::schema::{Freshness, RowFormat};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, Waypoint};

use super::RenderTimes;
use super::drawing::DrawnObject;
use super::object::ReplicaObject;
use super::received_poses::ReceivedPoses;
use super::schema_names::{PartNames as Names, ValueMeaning};
use crate::client::event::{BorrowedValue, ComponentValue, Facing, NamedValue};

/// An object in sight.
#[derive(Debug)]
pub struct VisibleObject<'r, V> {
    /// The client's id of it.
    pub id: ClientObjectId,
    /// The view's data.
    pub view: &'r V,
    pub(super) object: &'r ReplicaObject<V>,
    pub(super) names: &'r Names,
    pub(super) freshness: &'r Freshness,
    pub(super) is_room_wide: bool,
    pub(super) times: RenderTimes,
}

impl<V> VisibleObject<'_, V> {
    /// The name of its kind.
    pub fn kind(&self) -> &Arc<str> {
        &self.names.name
    }

    /// The index of its kind in the schema.
    pub fn kind_index(&self) -> u8 {
        self.object.kind
    }

    /// Whether it is the player's avatar or, if it is room-wide, the player's own.
    pub fn is_own(&self) -> bool {
        self.object.own
    }

    /// Whether it has no place: all players in the room have it.
    pub fn is_room_wide(&self) -> bool {
        self.is_room_wide
    }

    /// Since when it is in sight.
    pub fn in_sight_since(&self) -> GameTime {
        self.object.enters
    }

    /// When it goes out of sight, once that is known.
    pub(crate) fn leaves(&self) -> Option<GameTime> {
        self.object.leaves
    }

    /// The position at `t`; `None` while it is unknown, and if it is room-wide.
    pub fn position(&self, t: GameTime) -> Option<Position> {
        self.object.position(t, self.times)
    }

    /// Where to draw it at `t`: what was drawn wrong is smoothed away, and not corrected at once as
    /// in [`VisibleObject::position`].
    pub fn drawn_position(&self, t: GameTime) -> Option<Position> {
        self.object.drawn_position(t, self.times)
    }

    /// The orientation at `t`; `None` for objects without poses.
    pub fn facing(&self, t: GameTime) -> Option<Facing> {
        self.object.facing(t, self.times)
    }

    /// The heading at `t`, in radians from 0 to two pi, if it turns about the vertical.
    pub fn yaw(&self, t: GameTime) -> Option<f32> {
        match self.facing(t)? {
            Facing::Yaw(yaw) => Some(yaw),
            Facing::Fixed | Facing::Free(_) => None,
        }
    }

    /// The orientation at `t`, as a unit quaternion (x, y, z, w); `None` for objects without poses.
    pub fn orientation(&self, t: GameTime) -> Option<[f32; 4]> {
        Some(self.drawn(t)?.quaternion)
    }

    /// What to draw of it at `t`; `None` for objects without poses.
    pub fn drawn(&self, t: GameTime) -> Option<DrawnObject> {
        self.object.drawn(t, self.times)
    }

    /// The received pose at `t`, on the grid of its kind, independent of when and how it is drawn;
    /// `None` for objects without poses.
    pub fn pose(&self, t: GameTime) -> Option<Pose> {
        self.object.pose(t, self.times)
    }

    /// Stamp of the newest datagram with its pose, if it has poses.
    pub fn newest_pose_stamp(&self) -> Option<GameTime> {
        self.object.poses.as_ref()?.newest_stamp()
    }

    /// Whether its newest pose is one at rest: the host sends no more until it moves.
    pub fn is_reported_at_rest(&self) -> bool {
        self.object.poses.as_ref().is_some_and(ReceivedPoses::is_at_rest)
    }

    /// The target freshness of its kind, by distance.
    pub fn freshness(&self) -> &Freshness {
        self.freshness
    }

    /// Whether it moves at `t`.
    pub fn moves(&self, t: GameTime) -> bool {
        self.object.moves(t, self.times)
    }

    /// Its path, as the host has sent it.
    pub(crate) fn path(&self) -> Option<&Timeline<Waypoint>> {
        self.object.path()
    }

    /// The velocity on its path at `t`, in metres a second: zero at rest, and without a path.
    pub fn path_velocity(&self, t: GameTime) -> [f32; 3] {
        self.object.path_velocity(t).unwrap_or_default()
    }

    /// The value at `t` of the component called `name`.
    pub fn value(&self, name: &str, t: GameTime) -> Option<ComponentValue> {
        let index = self.names.parts.iter().position(|part| **part == *name)?;
        Some(self.component(index, t)?.to_owned(&self.names.meanings[index]))
    }

    /// What the fields of the rows of a component are; `None` for one of another type.
    pub fn row_format(&self, index: usize) -> Option<&RowFormat> {
        match self.names.meanings.get(index)? {
            ValueMeaning::Rows(format) => Some(format),
            ValueMeaning::Plain | ValueMeaning::Counted(_) => None,
        }
    }

    /// The value at `t` of a component, by its index in the kind; a text is not copied.
    pub fn component(&self, index: usize, t: GameTime) -> Option<BorrowedValue<'_>> {
        self.object.value(index, t, self.times)
    }

    /// All known components at `t`.
    pub fn values(&self, t: GameTime) -> Vec<NamedValue<ComponentValue>> {
        self.object.values(t, self.times, self.names)
    }
}
