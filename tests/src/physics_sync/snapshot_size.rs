//! Size of full snapshots: the scene of "Synchronisation par le reseau d'un monde virtuel sur
//! Unity" (100 small cubes, 4 players' cubes), ten snapshots a second.
//!
//! *Absolute*: each snapshot by itself, every pose without a baseline, as in the article (1,005
//! bytes at 512 positions a metre). *Delta*: changes since the second to last snapshot, which is
//! the newest one that is known to have arrived with a round trip of 100 ms.
//!
//! Each snapshot is decoded again, and compared bit by bit. Units: bytes of a pose section, as
//! [`ambit_proto::pose::section`] writes it; headers of lower layers and of the link are not
//! counted, as in the article.

use std::collections::BTreeMap;

use ambit_cubes_physics::{POSE_FORMAT, SNAPSHOT_POSE_FORMAT, frame_time};
use ambit_proto::ids::PlayerId;
use ambit_proto::pose::fine::FineState;
use ambit_proto::pose::section::{
    BaselineMode, BaselineSource, SectionPose, SectionWriter, read_section,
};
use ambit_proto::pose::{
    AckedSet, BaselineHistory, Level, Pose, PoseFormat, ReceivedPose, SectionHeader, shared,
};
use ambit_proto::time::GameTime;

use super::ground_truth::{FRAME_HZ, GroundTruth};

/// Bytes of a snapshot in the article.
pub const REFERENCE_BYTES: u32 = 1_005;
const SNAPSHOTS_HZ: u64 = 10;
/// The newest acknowledged snapshot is this many before the current one.
const ACK_LAG: u64 = 2;
const PLAYERS: u64 = 4;
/// Frames from the last join on.
const SETTLING_FRAMES: u64 = 2 * FRAME_HZ;

/// The grid of the article's snapshots: position and orientation alone.
pub const NO_VELOCITY_FORMAT: PoseFormat = PoseFormat { motion: None, ..SNAPSHOT_POSE_FORMAT };

/// Bytes of a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SnapshotSize {
    /// Average over all snapshots.
    pub mean: f32,
    /// Size of the largest snapshot.
    pub max: usize,
    pub snapshots: usize,
}

/// The scene: 100 cubes on 32 x 32 m and 4 scripted players, for this long after they have joined.
pub fn simulate_scene(seed: u64, seconds: u64) -> GroundTruth {
    let given = [("cubes", "100"), ("drive", "dice"), ("size", "32x32")];
    let parameters: BTreeMap<String, String> =
        given.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    let joins = (1..=PLAYERS).map(|player| (1, PlayerId(player))).collect();
    GroundTruth::simulate(seed, &parameters, 1, &joins, 1 + SETTLING_FRAMES + seconds * FRAME_HZ)
}

/// Measures the snapshots of a scene on a grid, with or without baselines.
pub fn measure(
    truth: &GroundTruth,
    format: PoseFormat,
    level: Level,
    with_baselines: bool,
) -> SnapshotSize {
    let mut coder = SnapshotCoder {
        format,
        level,
        with_baselines,
        histories: vec![BaselineHistory::new(0); truth.object_count()],
        scene: FineState::default(),
    };
    let mut sum = 0;
    let mut bytes = SnapshotSize::default();
    let frames =
        (1 + SETTLING_FRAMES..=truth.last_frame()).step_by((FRAME_HZ / SNAPSHOTS_HZ) as usize);
    for (number, frame) in (1..).zip(frames) {
        let poses: Vec<Pose> = (0..truth.object_count())
            .map(|object| quantize(&format, truth.pose(object, frame)))
            .collect();
        let length = coder.transmit(number, frame_time(frame).whole_millis(), &poses);
        // The first snapshots have no baseline.
        if number > ACK_LAG {
            sum += length;
            bytes.max = bytes.max.max(length);
            bytes.snapshots += 1;
        }
    }
    SnapshotSize { mean: sum as f32 / bytes.snapshots.max(1) as f32, ..bytes }
}

/// Sender and receiver; both know the same poses.
struct SnapshotCoder {
    format: PoseFormat,
    level: Level,
    with_baselines: bool,
    histories: Vec<BaselineHistory>,
    scene: FineState,
}

impl BaselineSource for SnapshotCoder {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        Some((&self.format, self.histories.get(usize::from(slot))?))
    }
}

impl SnapshotCoder {
    /// Encodes a snapshot and decodes it again; returns its size.
    fn transmit(&mut self, number: u64, stamp: GameTime, poses: &[Pose]) -> usize {
        let acked = (self.with_baselines && number > ACK_LAG)
            .then(|| AckedSet { newest: number - ACK_LAG, mask: u32::MAX });
        let bytes = self.write(&SectionHeader::new(self.level, number, acked), stamp, poses);
        let mut read = Vec::new();
        read_section(&bytes, number, stamp, self, &mut read).expect("our own encoding can be read");
        for SectionPose { slot, pose, .. } in read {
            self.histories[usize::from(slot)].insert(ReceivedPose { number, stamp, pose });
        }
        let newest = self
            .histories
            .iter()
            .map(|history| history.newest().expect("every object has a pose").pose);
        assert!(newest.eq(poses.iter().copied()), "snapshot {number} was decoded to other poses");
        bytes.len()
    }

    fn write(&mut self, header: &SectionHeader, stamp: GameTime, poses: &[Pose]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut history = Vec::new();
        let mut writer = SectionWriter::with_state(&mut bytes, header, &mut self.scene);
        for (slot, (pose, known)) in (0..).zip(poses.iter().zip(&self.histories)) {
            let window = header.acked.and_then(|acked| known.baseline(&acked));
            let old = header.acked.and_then(|acked| known.newest_before(acked.window_start()));
            let baseline = window.or(old);
            let is_confirmed = baseline.is_some_and(|baseline| baseline.pose == *pose)
                && known.newest().is_some_and(|newest| newest.pose == *pose);
            if is_confirmed {
                continue;
            }
            let mode = if window.is_some() {
                BaselineMode::Window
            } else if old.is_some() {
                BaselineMode::Old
            } else {
                BaselineMode::Absolute
            };
            match header.level {
                Level::Shared => {
                    let baseline = baseline.map(|baseline| (baseline.stamp, &baseline.pose));
                    writer.write_shared(
                        slot,
                        mode,
                        &shared::code(&self.format, baseline, stamp, pose),
                    );
                }
                Level::Fine => {
                    history.clear();
                    match header.acked.filter(|_| mode == BaselineMode::Window) {
                        Some(acked) => known.acked_poses(&acked, &mut history),
                        None => {
                            history
                                .extend(baseline.map(|baseline| (baseline.stamp, baseline.pose)));
                        }
                    }
                    writer.write_fine(slot, mode, &self.format, &history, stamp, pose);
                }
            }
        }
        writer.finish();
        bytes
    }
}

/// Converts a pose of the game to another grid.
fn quantize(format: &PoseFormat, pose: &Pose) -> Pose {
    let velocities = (!pose.flag).then(|| POSE_FORMAT.velocities(pose));
    let converted =
        format.moving(POSE_FORMAT.position(pose), POSE_FORMAT.quaternion(pose), velocities);
    // Without velocities the flag has no meaning.
    Pose { flag: converted.flag && format.motion.is_some(), ..converted }
}
