//! Movement on the ground that is steered: positions and headings, tick by tick.

use ambit_proto::pose::{PoseFormat, Turning};
use ambit_proto::schema::Codec;
use ambit_proto::space::Position;

use super::{Place, Posed};

#[cfg(feature = "rules")]
pub(super) mod access;

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

impl<const PER_METRE: u16, const BITS: u8> Place for YawPose<PER_METRE, BITS> {
    fn codec() -> Codec {
        Codec::Pose(PoseFormat {
            per_metre: PER_METRE,
            turn: Turning::Yaw { bits: BITS },
            motion: None,
        })
    }

    access_by!();
}

impl<const PER_METRE: u16, const BITS: u8> Posed for YawPose<PER_METRE, BITS> {
    const HAS_VELOCITIES: bool = false;
}
