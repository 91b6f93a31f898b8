//! Reading and editing a pose with an orientation in a room.

use ambit_proto::pose::Pose;
use ambit_proto::schema::Component;
use ambit_proto::space::Position;

use super::{FreePose, InitialPose, UPRIGHT, turned_by};
use crate::component::access::{all_finite, finite_position};
use crate::component::pose::access::{format_at, format_of, pose_of, put_at, replace_pose};
use crate::object::{Named, ObjectMut, ObjectRef, Spawn};

/// Reads a [`FreePose`].
#[derive(Clone, Copy)]
pub struct FreePoseRef<'w>(ObjectRef<'w>);

impl FreePoseRef<'_> {
    /// The position, from now on.
    pub fn position(&self) -> Position {
        self.0.world.position(self.0.id)
    }

    /// The heading: where its x axis points on the map, from x towards y, in radians.
    pub fn yaw(&self) -> f32 {
        let [x, y, z, w] = self.quaternion();
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
    }

    /// The orientation as a unit quaternion (x, y, z, w).
    pub fn quaternion(&self) -> [f32; 4] {
        format_of(self.0).quaternion(&pose_of(self.0))
    }

    /// Velocity and angular velocity, in metres and radians a second; zeros if the format has none.
    pub fn velocities(&self) -> ([f32; 3], [f32; 3]) {
        format_of(self.0).velocities(&pose_of(self.0))
    }

    /// The pose on its grid.
    pub fn pose(&self) -> Pose {
        pose_of(self.0)
    }
}

/// Edits a [`FreePose`].
pub struct FreePoseMut<'w>(ObjectMut<'w>);

impl FreePoseMut<'_> {
    /// For reading.
    pub fn get(&self) -> FreePoseRef<'_> {
        FreePoseRef(self.0.to_ref())
    }

    /// Sets position and orientation, a quaternion (x, y, z, w), from now on; at rest. The
    /// quaternion need not be of unit length. If a number is not finite, or the quaternion is zero,
    /// nothing changes, with an error in the log.
    pub fn set(&mut self, position: Position, quaternion: [f32; 4]) {
        self.set_metres(position, quaternion, None);
    }

    /// Sets position, orientation, and velocities in metres and radians a second, from now on. Only
    /// a format with velocities sends them. Otherwise as [`set`](Self::set).
    pub fn set_moving(
        &mut self,
        position: Position,
        quaternion: [f32; 4],
        linear: [f32; 3],
        angular: [f32; 3],
    ) {
        self.set_metres(position, quaternion, Some((linear, angular)));
    }

    /// Sets position, heading (from x towards y; it stays upright) and velocity in metres a second,
    /// in any direction, from now on: for what drifts. Otherwise as [`set`](Self::set).
    pub fn set_upright(&mut self, position: Position, yaw_rad: f32, linear: [f32; 3]) {
        self.set_metres(position, turned_by(yaw_rad), Some((linear, [0.0; 3])));
    }

    /// Sets a pose on the grid of its kind, from now on.
    pub fn replace(&mut self, pose: Pose) {
        replace_pose(self.0.world, self.0.id, pose);
    }

    /// Moves to another position at once; the orientation stays. This is a jump: clients draw no
    /// place between. For a movement, use [`set`](Self::set) at each tick. If the position is not
    /// finite, nothing changes, with an error in the log.
    pub fn put_at(&mut self, position: Position) {
        put_at(&mut self.0, position);
    }

    fn set_metres(
        &mut self,
        position: Position,
        quaternion: [f32; 4],
        velocities: Option<([f32; 3], [f32; 3])>,
    ) {
        let turned = finite_position(&self.0, position).zip(unit(&self.0, quaternion));
        let velocities =
            velocities.map_or(Some(None), |both| finite_velocities(&self.0, both).map(Some));
        if let Some(((position, quaternion), velocities)) = turned.zip(velocities) {
            let format = format_of(self.0.to_ref());
            let pose = format.moving(position, quaternion, velocities);
            self.0.world.replace_pose(self.0.id, pose);
        }
    }
}

pub(in crate::component) type Ref<'w> = FreePoseRef<'w>;
pub(in crate::component) type Mut<'w> = FreePoseMut<'w>;

pub(in crate::component) fn initial<const PER_METRE: u16, const BITS: u8>(
    pose: FreePose<PER_METRE, BITS>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    let format = format_at::<FreePose<PER_METRE, BITS>>(spawn, index);
    let upright_at = |position| format.moving(position, UPRIGHT, None);
    Component::Pose(match pose.0 {
        InitialPose::Exact(pose) if format.fits(&pose) => pose,
        InitialPose::Exact(_) => {
            tracing::error!("a game spawns a pose that does not fit {format:?}: ignored");
            upright_at(Position::default())
        }
        InitialPose::Metres { position, quaternion, velocities } => {
            let position = finite_position(spawn, position).unwrap_or_default();
            let quaternion = unit(spawn, quaternion).unwrap_or(UPRIGHT);
            let velocities = velocities.and_then(|both| finite_velocities(spawn, both));
            format.moving(position, quaternion, velocities)
        }
    })
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, _: u8) -> FreePoseRef<'_> {
    FreePoseRef(object)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, _: u8) -> FreePoseMut<'_> {
    FreePoseMut(object)
}

/// The nearest unit quaternion; `None`, with an error in the log, if there is none.
fn unit(of: &impl Named, quaternion: [f32; 4]) -> Option<[f32; 4]> {
    let length = quaternion.iter().map(|part| part * part).sum::<f32>().sqrt();
    // A quaternion that is a unit one already keeps its bits.
    if (length - 1.0).abs() < 1e-4 {
        Some(quaternion)
    } else if length.is_normal() {
        Some(quaternion.map(|part| part / length))
    } else {
        tracing::error!("a game turns {} by {quaternion:?}: ignored", of.name());
        None
    }
}

fn finite_velocities(
    of: &impl Named,
    (linear, angular): ([f32; 3], [f32; 3]),
) -> Option<([f32; 3], [f32; 3])> {
    all_finite(of, linear, "velocity").zip(all_finite(of, angular, "angular velocity"))
}
