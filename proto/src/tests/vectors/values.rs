//! Values that occur in several files of vectors, as JSON.

use super::json::{Json, object};
use crate::ids::Alias;
use crate::pose::{Motion, Pose, PoseFormat, Turning};
use crate::time::GameTime;

pub(super) fn alias(alias: Alias) -> Json {
    object! { slot: alias.slot, epoch: alias.epoch }
}

/// Room time in milliseconds.
pub(super) fn time(time: GameTime) -> Json {
    time.millis().into()
}

pub(super) fn pose_format(format: &PoseFormat) -> Json {
    let (turn, bits) = match format.turn {
        Turning::Fixed => ("fixed", None),
        Turning::Yaw { bits } => ("yaw", Some(bits)),
        Turning::Free { bits } => ("free", Some(bits)),
    };
    let motion = format.motion.map(|grid| object! { linear: grid.linear, angular: grid.angular });
    object! { per_metre: format.per_metre, turn: turn, bits: bits, motion: motion }
}

/// A pose in whole numbers of its grid; what its format does not have is null.
pub(super) fn pose(format: &PoseFormat, pose: &Pose) -> Json {
    let turn = match format.turn {
        Turning::Fixed => Json::Null,
        Turning::Yaw { .. } => pose.turn[0].into(),
        Turning::Free { .. } => pose.turn.into(),
    };
    let speed = matches!(format.turn, Turning::Yaw { .. }).then_some(pose.speed);
    let Motion { linear, angular } = pose.motion;
    let motion =
        format.motion.filter(|_| !pose.flag).map(|_| object! { linear: linear, angular: angular });
    object! { at: pose.at, turn: turn, speed: speed, flag: pose.flag, motion: motion }
}
