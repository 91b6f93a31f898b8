//! How many bytes snapshots of everything take: the scene of reference 000 (100 small cubes, 4
//! players' cubes), ten times a second.
//!
//! *Absolute*: each snapshot by itself, every pose told without a base, as the reference does
//! (1,005 bytes at 512 positions a metre). *Delta*: what has changed since the snapshot two before,
//! the newest one that the other end is known to have on a line of 100 ms there and back.
//!
//! Each snapshot is decoded again, and compared bit by bit. Units: bytes of a pose section, as
//! [`ambit_proto::pose::section`] writes it; headers of lower layers and of the link are not
//! counted, as little as the reference does.

use std::collections::BTreeMap;

use ambit_proto::games::cubes::{POSE_FORMAT, SNAPSHOT_POSE_FORMAT, frame_time};
use ambit_proto::ids::PlayerId;
use ambit_proto::pose::fine::Scene;
use ambit_proto::pose::section::{Bases, Mode, SectionWriter, read_section};
use ambit_proto::pose::{AckedSet, Entry, Kept, Level, Pose, PoseFormat, SectionHeader, shared};
use ambit_proto::time::GameTime;

use super::ground_truth::{FRAME_HZ, GroundTruth};

/// What the snapshots of the reference take.
pub const REFERENCE_BYTES: u32 = 1_005;
const SNAPSHOTS_HZ: u64 = 10;
/// The newest known snapshot is so many before.
const ACK_LAG: u64 = 2;
const PLAYERS: u64 = 4;
/// From the last join on.
const SETTLING_FRAMES: u64 = 2 * FRAME_HZ;

/// The snapshots' grid: position and orientation alone, as in the reference.
pub const NO_VELOCITY_FORMAT: PoseFormat = PoseFormat {
    motion: None,
    ..SNAPSHOT_POSE_FORMAT
};

/// Bytes a snapshot: on average and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SnapshotSize {
    /// All of them, by their number.
    pub mean: f32,
    /// Of the largest.
    pub max: usize,
    /// How many there were.
    pub snapshots: usize,
}

/// The scene: 100 cubes on 32 x 32 m, 4 players who are driven by dice, for so long after they have
/// come in.
pub fn simulate_scene(seed: u64, seconds: u64) -> GroundTruth {
    let given = [("cubes", "100"), ("drive", "dice"), ("size", "32x32")];
    let parameters: BTreeMap<String, String> = given
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let joins = (1..=PLAYERS).map(|player| (1, PlayerId(player))).collect();
    GroundTruth::simulate(
        seed,
        &parameters,
        1,
        &joins,
        1 + SETTLING_FRAMES + seconds * FRAME_HZ,
    )
}

/// What the snapshots of a scene take on a grid, without bases or with.
pub fn measure(
    truth: &GroundTruth,
    format: PoseFormat,
    level: Level,
    with_baselines: bool,
) -> SnapshotSize {
    let mut line = SnapshotCoder {
        format,
        level,
        with_baselines,
        histories: vec![Kept::new(0); truth.object_count()],
        scene: Scene::default(),
    };
    let (mut sum, mut bytes) = (0, SnapshotSize::default());
    let frames =
        (1 + SETTLING_FRAMES..=truth.last_frame()).step_by((FRAME_HZ / SNAPSHOTS_HZ) as usize);
    for (number, frame) in (1..).zip(frames) {
        let poses: Vec<Pose> = (0..truth.object_count())
            .map(|object| quantize(&format, truth.pose(object, frame)))
            .collect();
        let length = line.transmit(number, frame_time(frame).whole_millis(), &poses);
        // The first ones have nothing to lean on.
        if number > ACK_LAG {
            sum += length;
            bytes.max = bytes.max.max(length);
            bytes.snapshots += 1;
        }
    }
    SnapshotSize {
        mean: sum as f32 / bytes.snapshots.max(1) as f32,
        ..bytes
    }
}

/// Both ends, which know the same.
struct SnapshotCoder {
    format: PoseFormat,
    level: Level,
    with_baselines: bool,
    histories: Vec<Kept>,
    scene: Scene,
}

impl Bases for SnapshotCoder {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &Kept)> {
        Some((&self.format, self.histories.get(usize::from(slot))?))
    }
}

impl SnapshotCoder {
    /// Tells a snapshot and takes it in; how long it was.
    fn transmit(&mut self, number: u64, stamp: GameTime, poses: &[Pose]) -> usize {
        let acked = (self.with_baselines && number > ACK_LAG).then(|| AckedSet {
            newest: number - ACK_LAG,
            mask: u32::MAX,
        });
        let bytes = self.write(&SectionHeader::new(self.level, number, acked), stamp, poses);
        let mut read = Vec::new();
        read_section(&bytes, number, stamp, self, &mut read).expect("what was written");
        for (slot, pose) in read {
            self.histories[usize::from(slot)].note(Entry {
                number,
                stamp,
                pose,
            });
        }
        let newest = self
            .histories
            .iter()
            .map(|kept| kept.newest().expect("it was told").pose);
        assert!(
            newest.eq(poses.iter().copied()),
            "snapshot {number} is not what was told"
        );
        bytes.len()
    }

    fn write(&mut self, header: &SectionHeader, stamp: GameTime, poses: &[Pose]) -> Vec<u8> {
        let (mut bytes, mut history) = (Vec::new(), Vec::new());
        let mut writer = SectionWriter::with_scene(&mut bytes, header, &mut self.scene);
        for (slot, (pose, kept)) in (0..).zip(poses.iter().zip(&self.histories)) {
            let window = header.acked.and_then(|acked| kept.base(&acked));
            let old = header
                .acked
                .and_then(|acked| kept.older_than(acked.window_start()));
            let base = window.or(old);
            let is_confirmed = base.is_some_and(|base| base.pose == *pose)
                && kept.newest().is_some_and(|newest| newest.pose == *pose);
            if is_confirmed {
                continue;
            }
            let mode = if window.is_some() {
                Mode::DatagramWindow
            } else if old.is_some() {
                Mode::Old
            } else {
                Mode::Absolute
            };
            match header.level {
                Level::Shared => {
                    let base = base.map(|base| (base.stamp, &base.pose));
                    writer.shared(slot, mode, &shared::code(&self.format, base, stamp, pose));
                }
                Level::Fine => {
                    history.clear();
                    match header.acked.filter(|_| mode == Mode::DatagramWindow) {
                        Some(acked) => kept.history(&acked, &mut history),
                        None => history.extend(base.map(|base| (base.stamp, base.pose))),
                    }
                    writer.fine(slot, mode, &self.format, &history, stamp, pose);
                }
            }
        }
        writer.finish();
        bytes
    }
}

/// A pose of the game on another grid.
fn quantize(format: &PoseFormat, pose: &Pose) -> Pose {
    let velocities = (!pose.flag).then(|| POSE_FORMAT.velocities(pose));
    let told = format.moving(
        POSE_FORMAT.position(pose),
        POSE_FORMAT.quaternion(pose),
        velocities,
    );
    // Where no velocities are told, the flag says nothing that anybody needs.
    Pose {
        flag: told.flag && format.motion.is_some(),
        ..told
    }
}
