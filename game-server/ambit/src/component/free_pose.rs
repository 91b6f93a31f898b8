//! Movement that cannot be predicted: positions and orientations, tick by tick.

use ambit_proto::pose::{Pose, PoseFormat, Turning};
use ambit_proto::schema::Codec;
use ambit_proto::space::Position;

use super::{Place, Posed};

#[cfg(feature = "rules")]
pub(super) mod access;

/// No turn.
const UPRIGHT: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

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

impl<const PER_METRE: u16, const BITS: u8> Place for FreePose<PER_METRE, BITS> {
    fn codec() -> Codec {
        Codec::Pose(PoseFormat {
            per_metre: PER_METRE,
            turn: Turning::Free { bits: BITS },
            motion: None,
        })
    }

    access_by!();
}

impl<const PER_METRE: u16, const BITS: u8> Posed for FreePose<PER_METRE, BITS> {
    const HAS_VELOCITIES: bool = true;
}

/// The quaternion of a turn about the vertical; not finite if the angle is not.
fn turned_by(yaw_rad: f32) -> [f32; 4] {
    let (sin, cos) = (yaw_rad / 2.0).sin_cos();
    [0.0, 0.0, sin, cos]
}
