//! Movement that cannot be predicted: positions and orientations, tick by tick.

use ambit_proto::ids::ObjectId;
use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::schema::{Codec, Component};
use ambit_proto::space::Position;
use ambit_room::logic::world::World as RoomWorld;

use super::{Place, all_finite, finite, finite_position};
use crate::object::{Named, ObjectMut, ObjectRef, Spawn};

/// No turn.
const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// A component with an adjustable grid: `#[pose(format = MY_FORMAT)]` replaces the grid that the
/// type's parameters give, for velocities or for physics that clients share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no format of poses",
    note = "`#[pose(format = ...)]` belongs to a `YawPose` or a `FreePose`"
)]
pub trait Posed: Place {
    /// Whether its format may have velocities.
    #[doc(hidden)]
    const HAS_VELOCITIES: bool;

    #[doc(hidden)]
    fn codec_of(format: PoseFormat) -> Codec {
        Codec::Pose(format)
    }
}

/// A position with a heading and a speed along it: for objects on the ground that are steered at
/// each tick.
///
/// `PER_METRE` is the grid in units a metre (1 to 4,096), `BITS` those of the heading (4 to 12).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct YawPose<const PER_METRE: u16 = 256, const BITS: u8 = 8> {
    position: Position,
    yaw_rad: f32,
    speed_m_per_s: f32,
}

impl<const PER_METRE: u16, const BITS: u8> YawPose<PER_METRE, BITS> {
    /// At rest, towards x.
    pub const fn at(position: Position) -> Self {
        Self { position, yaw_rad: 0.0, speed_m_per_s: 0.0 }
    }

    /// With a heading: the angle from x towards y.
    #[must_use]
    pub const fn facing(self, yaw_rad: f32) -> Self {
        Self { yaw_rad, ..self }
    }

    /// With a speed along the heading.
    #[must_use]
    pub const fn moving(self, speed_m_per_s: f32) -> Self {
        Self { speed_m_per_s, ..self }
    }
}

/// A position with an orientation: for objects that turn about any axis, such as bodies of physics.
///
/// `PER_METRE` is the grid in units a metre (1 to 4,096), `BITS` those of each of three components
/// of the orientation (5 to 15).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreePose<const PER_METRE: u16 = 512, const BITS: u8 = 9>(InitialPose);

#[derive(Clone, Copy, Debug, PartialEq)]
enum InitialPose {
    /// In metres and radians, at rest if there are no velocities.
    Metres { position: Position, quaternion: [f32; 4], velocities: Option<([f32; 3], [f32; 3])> },
    /// On the grid already.
    Exact(Pose),
}

impl<const PER_METRE: u16, const BITS: u8> FreePose<PER_METRE, BITS> {
    /// At rest and upright.
    pub const fn at(position: Position) -> Self {
        Self::turned(position, UPRIGHT)
    }

    /// At rest, turned by a unit quaternion (x, y, z, w).
    pub const fn turned(position: Position, quaternion: [f32; 4]) -> Self {
        Self(InitialPose::Metres { position, quaternion, velocities: None })
    }

    /// Moving, with velocities in metres and radians a second. Only a format with velocities sends
    /// them.
    pub const fn moving(
        position: Position,
        quaternion: [f32; 4],
        linear: [f32; 3],
        angular: [f32; 3],
    ) -> Self {
        Self(InitialPose::Metres { position, quaternion, velocities: Some((linear, angular)) })
    }

    /// Upright, with a heading (the angle from x towards y), and moving in any direction: for what
    /// drifts. Only a format with velocities sends them.
    pub fn upright(position: Position, yaw_rad: f32, linear: [f32; 3]) -> Self {
        Self::moving(position, turned_by(yaw_rad), linear, [0.0; 3])
    }

    /// A pose on the grid of its kind, as physics has it that clients share.
    pub const fn exact(pose: Pose) -> Self {
        Self(InitialPose::Exact(pose))
    }
}

impl<const PER_METRE: u16, const BITS: u8> Default for FreePose<PER_METRE, BITS> {
    fn default() -> Self {
        Self::at(Position::default())
    }
}

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

    /// Moves to another position at once; heading and speed stay. If the position is not finite,
    /// nothing changes, with an error in the log.
    pub fn put_at(&mut self, position: Position) {
        put_at(&mut self.0, position);
    }
}

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

    /// Moves to another position at once; the orientation stays. If the position is not finite,
    /// nothing changes, with an error in the log.
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

impl<const PER_METRE: u16, const BITS: u8> Place for YawPose<PER_METRE, BITS> {
    type Ref<'w> = YawPoseRef<'w>;
    type Mut<'w> = YawPoseMut<'w>;

    fn codec() -> Codec {
        Codec::Pose(PoseFormat {
            per_metre: PER_METRE,
            turn: Turning::Yaw { bits: BITS },
            motion: None,
        })
    }

    fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
        let position = finite_position(spawn, self.position).unwrap_or_default();
        let yaw = finite(spawn, self.yaw_rad, "heading").unwrap_or(0.0);
        let speed = finite(spawn, self.speed_m_per_s, "speed").unwrap_or(0.0);
        let format = format_at::<Self>(spawn, index);
        Component::Pose(format.pose(position, yaw, speed))
    }

    fn reader(object: ObjectRef<'_>, _: u8) -> YawPoseRef<'_> {
        YawPoseRef(object)
    }

    fn editor(object: ObjectMut<'_>, _: u8) -> YawPoseMut<'_> {
        YawPoseMut(object)
    }
}

impl<const PER_METRE: u16, const BITS: u8> Place for FreePose<PER_METRE, BITS> {
    type Ref<'w> = FreePoseRef<'w>;
    type Mut<'w> = FreePoseMut<'w>;

    fn codec() -> Codec {
        Codec::Pose(PoseFormat {
            per_metre: PER_METRE,
            turn: Turning::Free { bits: BITS },
            motion: None,
        })
    }

    fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
        let format = format_at::<Self>(spawn, index);
        let upright_at = |position| format.moving(position, UPRIGHT, None);
        Component::Pose(match self.0 {
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

    fn reader(object: ObjectRef<'_>, _: u8) -> FreePoseRef<'_> {
        FreePoseRef(object)
    }

    fn editor(object: ObjectMut<'_>, _: u8) -> FreePoseMut<'_> {
        FreePoseMut(object)
    }
}

impl<const PER_METRE: u16, const BITS: u8> Posed for YawPose<PER_METRE, BITS> {
    const HAS_VELOCITIES: bool = false;
}

impl<const PER_METRE: u16, const BITS: u8> Posed for FreePose<PER_METRE, BITS> {
    const HAS_VELOCITIES: bool = true;
}

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
fn format_at<P: Place>(spawn: &Spawn<'_>, index: u8) -> PoseFormat {
    match spawn.codec(index).unwrap_or_else(P::codec) {
        Codec::Pose(format) => format,
        other => panic!("a pose is declared as a pose, not as {other:?}"),
    }
}

fn format_of(object: ObjectRef<'_>) -> PoseFormat {
    object.world.pose_format(object.id)
}

fn pose_of(object: ObjectRef<'_>) -> Pose {
    object.world.pose(object.id)
}

fn put_at(object: &mut ObjectMut<'_>, position: Position) {
    if let Some(position) = finite_position(object, position) {
        object.world.put_at(object.id, position);
    }
}

/// The quaternion of a turn about the vertical; not finite if the angle is not.
fn turned_by(yaw_rad: f32) -> [f32; 4] {
    let (sin, cos) = (yaw_rad / 2.0).sin_cos();
    [0.0, 0.0, sin, cos]
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
