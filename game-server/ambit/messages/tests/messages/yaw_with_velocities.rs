//! A format with velocities for a pose that has none, and a text that is too long for a datagram.
use ambit::prelude::*;
use ambit::{MotionFormat, PoseFormat, Turning};

const DRIFTING: PoseFormat = PoseFormat {
    per_metre: 64,
    turn: Turning::Yaw { bits: 8 },
    motion: Some(MotionFormat { linear: 64, angular: 64 }),
};

#[derive(Kind)]
struct Ship {
    #[pose(format = DRIFTING)]
    pose: YawPose,
}

fn main() {}
