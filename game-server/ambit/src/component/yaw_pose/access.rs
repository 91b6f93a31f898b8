//! Reading and editing a pose with a heading in a room.

use ambit_proto::pose::Pose;
use ambit_proto::schema::Component;
use ambit_proto::space::Position;

use super::YawPose;
use crate::component::access::{finite, finite_position};
use crate::component::pose::access::{format_at, format_of, pose_of, put_at};
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Reads a [`YawPose`].
#[derive(Clone, Copy)]
pub struct YawPoseRef<'w>(ObjectRef<'w>);

impl YawPoseRef<'_> {
    /// The position, from now on.
    pub fn position(&self) -> Position {
        self.0.world.position(self.0.id)
    }

    /// The heading, in radians from 0 to two pi.
    pub fn yaw(&self) -> f32 {
        format_of(self.0).yaw(&pose_of(self.0))
    }

    /// The speed along the heading, in metres a second.
    pub fn speed(&self) -> f32 {
        format_of(self.0).speed(&pose_of(self.0))
    }

    /// The pose on its grid.
    pub fn pose(&self) -> Pose {
        pose_of(self.0)
    }
}

/// Edits a [`YawPose`].
pub struct YawPoseMut<'w>(ObjectMut<'w>);

impl YawPoseMut<'_> {
    /// For reading.
    pub fn get(&self) -> YawPoseRef<'_> {
        YawPoseRef(self.0.to_ref())
    }

    /// Sets position, heading (from x towards y) and speed along it, from now on. If one of them is
    /// not finite, nothing changes, with an error in the log.
    pub fn set(&mut self, position: Position, yaw_rad: f32, speed_m_per_s: f32) {
        let numbers =
            finite(&self.0, yaw_rad, "heading").zip(finite(&self.0, speed_m_per_s, "speed"));
        let position = finite_position(&self.0, position);
        if let (Some(position), Some((yaw, speed))) = (position, numbers) {
            self.0.world.set_pose(self.0.id, position, yaw, speed);
        }
    }

    /// Moves to another position at once; heading and speed stay. This is a jump: clients draw no
    /// place between. For a movement, use [`set`](Self::set) at each tick. If the position is not
    /// finite, nothing changes, with an error in the log.
    pub fn put_at(&mut self, position: Position) {
        put_at(&mut self.0, position);
    }
}

pub(in crate::component) type Ref<'w> = YawPoseRef<'w>;
pub(in crate::component) type Mut<'w> = YawPoseMut<'w>;

pub(in crate::component) fn initial<const PER_METRE: u16, const BITS: u8>(
    pose: YawPose<PER_METRE, BITS>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    let position = finite_position(spawn, pose.position).unwrap_or_default();
    let yaw = finite(spawn, pose.yaw_rad, "heading").unwrap_or(0.0);
    let speed = finite(spawn, pose.speed_m_per_s, "speed").unwrap_or(0.0);
    let format = format_at::<YawPose<PER_METRE, BITS>>(spawn, index);
    Component::Pose(format.pose(position, yaw, speed))
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, _: u8) -> YawPoseRef<'_> {
    YawPoseRef(object)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, _: u8) -> YawPoseMut<'_> {
    YawPoseMut(object)
}
