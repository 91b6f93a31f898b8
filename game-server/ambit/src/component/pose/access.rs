//! Poses of objects in a room.

use ambit_proto::ids::ObjectId;
use ambit_proto::pose::{Pose, PoseFormat};
use ambit_proto::schema::Codec;
use ambit_proto::space::Position;
use ambit_room::logic::world::World as RoomWorld;

use crate::component::Place;
use crate::component::access::finite_position;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Sets the pose of an object that exists; with an error in the log if it cannot have this one.
pub(crate) fn replace_pose(world: &mut RoomWorld, object: ObjectId, pose: Pose) {
    if !world.has_pose(object) {
        tracing::error!("a game sets a pose of {object}, which has a path: ignored");
        return;
    }
    let format = world.pose_format(object);
    if format.fits(&pose) {
        world.replace_pose(object, pose);
    } else {
        tracing::error!("a game sets a pose that does not fit {format:?}: ignored");
    }
}

/// The format of a new object's pose: that of its kind.
pub(in crate::component) fn format_at<P: Place>(spawn: &Spawn<'_>, index: u8) -> PoseFormat {
    match spawn.codec(index).unwrap_or_else(P::codec) {
        Codec::Pose(format) => format,
        other => panic!("a pose is declared as a pose, not as {other:?}"),
    }
}

pub(in crate::component) fn format_of(object: ObjectRef<'_>) -> PoseFormat {
    object.world.pose_format(object.id)
}

pub(in crate::component) fn pose_of(object: ObjectRef<'_>) -> Pose {
    object.world.pose(object.id)
}

pub(in crate::component) fn put_at(object: &mut ObjectMut<'_>, position: Position) {
    if let Some(position) = finite_position(object, position) {
        object.world.put_at(object.id, position);
    }
}
