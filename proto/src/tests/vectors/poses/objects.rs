//! Objects of the sections: their formats, and what the receiver knows of them.

use crate::pose::{BaselineMode, Motion, MotionFormat, Pose, PoseFormat, Turning};

pub(super) const YAW: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
pub(super) const FINE_YAW: PoseFormat =
    PoseFormat { per_metre: 1_000, turn: Turning::Yaw { bits: 12 }, motion: None };
pub(super) const FREE: PoseFormat =
    PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None };
pub(super) const FIXED: PoseFormat =
    PoseFormat { per_metre: 16, turn: Turning::Fixed, motion: None };
pub(super) const MOTION: MotionFormat = MotionFormat { linear: 128, angular: 64 };
pub(super) const FREE_MOVING: PoseFormat = PoseFormat { motion: Some(MOTION), ..FREE };
pub(super) const FIXED_MOVING: PoseFormat = PoseFormat { motion: Some(MOTION), ..FIXED };

/// A pose at rest in the middle of the map.
pub(super) const BASE: Pose = Pose { at: [5_000, 4_000, 100], ..Pose::UNKNOWN };
pub(super) const WALKING: Pose = Pose { turn: [32, 0, 0, 0], speed: 400, ..BASE };
pub(super) const TURNED: Pose = Pose { turn: [3, 255, 300, 200], ..BASE };

/// The turned pose, moved on and at rest.
pub(super) fn stopped() -> Pose {
    Pose { at: [5_090, 3_960, 101], flag: true, ..TURNED }
}
pub(super) const FLYING: Pose =
    Pose { motion: Motion { linear: [256, -128, 64], angular: [0, 32, -16] }, ..TURNED };

/// An object of a section: what the receiver knows of it, and its new pose.
#[derive(Clone)]
pub(super) struct SectionObject {
    pub(super) slot: u16,
    pub(super) format: PoseFormat,
    /// How many datagrams ago it was received, and the pose; the oldest first.
    pub(super) known: Vec<(u64, Pose)>,
    pub(super) mode: BaselineMode,
    pub(super) pose: Pose,
}

impl SectionObject {
    pub(super) fn absolute(slot: u16, format: PoseFormat, pose: Pose) -> Self {
        Self { slot, format, known: Vec::new(), mode: BaselineMode::Absolute, pose }
    }

    /// It has jumped this number of milliseconds ago, since its only known pose.
    pub(super) fn jumped(
        slot: u16,
        format: PoseFormat,
        known: Pose,
        pose: Pose,
        age_ms: u16,
    ) -> Self {
        let mode = BaselineMode::Jumped(age_ms);
        Self { mode, ..Self::window(slot, format, known, pose) }
    }

    /// Its only known pose was in the newest acknowledged datagram.
    pub(super) fn window(slot: u16, format: PoseFormat, known: Pose, pose: Pose) -> Self {
        Self::since(slot, format, vec![(2, known)], pose)
    }

    pub(super) fn since(
        slot: u16,
        format: PoseFormat,
        known: Vec<(u64, Pose)>,
        pose: Pose,
    ) -> Self {
        Self { slot, format, known, mode: BaselineMode::Window, pose }
    }

    pub(super) fn old(slot: u16, format: PoseFormat, known: Pose, pose: Pose) -> Self {
        Self {
            known: vec![(70, known)],
            mode: BaselineMode::Old,
            ..Self::absolute(slot, format, pose)
        }
    }
}

/// Ten objects that have not moved: each mode follows each.
pub(super) fn modes() -> Vec<SectionObject> {
    let modes = [0, 0, 1, 1, 2, 2, 1, 0, 2, 0];
    (0..)
        .zip(modes)
        .map(|(slot, mode)| match mode {
            0 => SectionObject::window(slot, FIXED, BASE, BASE),
            1 => SectionObject::old(slot, FIXED, BASE, BASE),
            _ => SectionObject::absolute(slot, FIXED, BASE),
        })
        .collect()
}

/// Twelve objects of all formats with a few known poses each, which move.
pub(super) fn twelve() -> Vec<SectionObject> {
    let formats = [YAW, FREE, FREE_MOVING, FIXED];
    let object = |slot: u16| {
        let format = formats[usize::from(slot) % 4];
        let pose = |ago: u64| moved(format, slot, ago as i32);
        let known: &[u64] = match slot {
            0..4 => &[9, 6, 5, 2],
            4..8 => &[9, 6, 3, 1],
            8..10 => &[40, 30],
            _ => &[],
        };
        let known: Vec<(u64, Pose)> = known.iter().map(|ago| (*ago, pose(*ago))).collect();
        match slot {
            0..10 => SectionObject::since(slot, format, known, pose(0)),
            10 => SectionObject::old(slot, format, pose(70), pose(0)),
            _ => SectionObject::absolute(slot, format, pose(0)),
        }
    };
    (0..12).map(object).collect()
}

/// The pose of an object `ago` datagrams earlier: it moves evenly.
fn moved(format: PoseFormat, slot: u16, ago: i32) -> Pose {
    let slot = i32::from(slot);
    let steps = 100 - ago;
    let at = [4_000 + 100 * slot + 20 * steps, 3_000 + (7 - slot) * steps, 50 + steps / 4];
    let turn = |per_step: i32| (200 + per_step * steps) as u16;
    let pose = Pose { at, ..BASE };
    match (format.turn, format.motion) {
        (Turning::Fixed, _) => pose,
        (Turning::Yaw { .. }, _) => Pose { turn: [turn(-2), 0, 0, 0], speed: 400, ..pose },
        (Turning::Free { .. }, None) => Pose { turn: [2, turn(1), turn(0), turn(-1)], ..pose },
        (Turning::Free { .. }, Some(_)) => Pose {
            turn: [3, turn(0), turn(2), turn(1)],
            motion: Motion { linear: [100, 5 * slot as i16, 6], angular: [0, steps as i16, -20] },
            ..pose
        },
    }
}
