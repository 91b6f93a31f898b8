//! An object in sight, as a view reads it: at any room time, past or to come.
//!
//! Nothing is kept here. Units: metres, radians.

use std::sync::Arc;

use ambit_proto::pose::Pose;
use ambit_proto::schema::Freshness;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::RenderTimes;
use super::drawing::DrawnObject;
use super::object::ReplicaObject;
use super::received_poses::ReceivedPoses;
use super::schema_names::PartNames as Names;
use crate::client::event::{ComponentValue, Facing, NamedValue};

/// An object in sight.
#[derive(Debug)]
pub struct VisibleObject<'r, V> {
    /// The client's name for it.
    pub id: u32,
    /// What the view keeps of it.
    pub view: &'r V,
    pub(super) object: &'r ReplicaObject<V>,
    pub(super) names: &'r Names,
    pub(super) freshness: &'r Freshness,
    pub(super) times: RenderTimes,
}

impl<V> VisibleObject<'_, V> {
    /// What it is.
    pub fn kind(&self) -> &Arc<str> {
        &self.names.name
    }

    /// Whether it is the player's avatar.
    pub fn is_own(&self) -> bool {
        self.object.own
    }

    /// Where it is at `t`; `Unchanged` while nobody has said so.
    pub fn position(&self, t: GameTime) -> Option<Position> {
        self.object.position(t, self.times)
    }

    /// How it is turned at `t`; `Unchanged` for objects that have no pose.
    pub fn facing(&self, t: GameTime) -> Option<Facing> {
        self.object.facing(t, self.times)
    }

    /// Its heading at `t`, in radians from 0 to two pi, if it is one that turns about the vertical.
    pub fn yaw(&self, t: GameTime) -> Option<f32> {
        match self.facing(t)? {
            Facing::Yaw(yaw) => Some(yaw),
            Facing::Fixed | Facing::Free(_) => None,
        }
    }

    /// Its orientation at `t`, as a unit quaternion (x, y, z, w); `Unchanged` for objects that have
    /// no pose.
    pub fn orientation(&self, t: GameTime) -> Option<[f32; 4]> {
        Some(self.drawn(t)?.quaternion)
    }

    /// What is drawn of it at `t`; `Unchanged` for objects that have no pose.
    pub fn drawn(&self, t: GameTime) -> Option<DrawnObject> {
        self.object.drawn(t, self.times)
    }

    /// What the poses that came say of `t`, whenever that is shown and whatever is drawn of it
    /// then, on the grid of its kind; `Unchanged` for objects that have none.
    pub fn pose(&self, t: GameTime) -> Option<Pose> {
        self.object.pose(t, self.times)
    }

    /// Stamp of the newest datagram that told where it is, if it is one that moves in any way.
    pub fn newest_pose_stamp(&self) -> Option<GameTime> {
        self.object.poses.as_ref()?.newest_stamp()
    }

    /// Whether the newest that was told of it is that it rests: nobody says more until it sets out.
    pub fn is_reported_at_rest(&self) -> bool {
        self.object
            .poses
            .as_ref()
            .is_some_and(ReceivedPoses::is_at_rest)
    }

    /// How fresh its kind should be, by distance.
    pub fn freshness(&self) -> &Freshness {
        self.freshness
    }

    /// Whether it is on its way somewhere at `t`.
    pub fn moves(&self, t: GameTime) -> bool {
        self.object.moves(t, self.times)
    }

    /// The value at `t` of the component called `name`.
    pub fn value(&self, name: &str, t: GameTime) -> Option<ComponentValue> {
        let index = self.names.parts.iter().position(|part| **part == *name)?;
        self.object.value(index, t, self.times)
    }

    /// All that is known of it, at `t`.
    pub fn values(&self, t: GameTime) -> Vec<NamedValue<ComponentValue>> {
        self.object.values(t, self.times, self.names)
    }
}
