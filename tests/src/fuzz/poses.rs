//! Pose sections, read by a client that knows some objects.
//!
//! The client has a history of 24 objects of three formats. Each section of an input is decoded
//! against it, and the poses are added to the history, so that an input is a sequence of datagrams.
//! Check: every decoded pose is valid in its object's format.

use std::sync::LazyLock;

use ambit_proto::pose::fine::FineState;
use ambit_proto::pose::{
    AckedSet, BaselineHistory, BaselineMode, BaselineSource, Level, Pose, PoseFormat, ReceivedPose,
    SectionHeader, SectionPose, SectionWriter, Turning, code, read_section,
};
use ambit_proto::time::GameTime;

use super::Reached;
use super::choices::{Choices, put_bytes};

const FORMATS: [PoseFormat; 3] = [
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None },
    PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion: None },
    PoseFormat { per_metre: 16, turn: Turning::Fixed, motion: None },
];
const OBJECTS: u16 = 24;
/// Number of the last datagram that the client has received.
const LAST_NUMBER: u64 = 1_000;
/// Datagrams from one pose of an object to the next, by slot modulo 6: most objects have a baseline
/// in the window, some only an older one.
const SEND_INTERVALS: [u64; 6] = [1, 2, 5, 11, 40, 90];

/// A sequence of pose sections: for each the step of the datagram number, and the bytes.
pub fn poses(data: &[u8]) -> Reached {
    let mut choices = Choices::new(data);
    let mut known = known_objects().clone();
    let mut number = LAST_NUMBER;
    let mut read = Vec::new();
    let mut reached = Reached::new();
    while !choices.is_over() {
        number += 1 + u64::from(choices.byte() % 64);
        let section = choices.bytes();
        read.clear();
        let acked = read_section(section, number, stamp(number), &known, &mut read);
        if !read.is_empty() {
            reached.insert("a pose");
        }
        for &SectionPose { slot, pose, .. } in &read {
            let (format, history) = &mut known.0[usize::from(slot)];
            assert!(format.fits(&pose), "{pose:?} of {format:?} in {acked:?}");
            history.insert(ReceivedPose { number, stamp: stamp(number), pose });
        }
    }
    reached
}

#[derive(Clone)]
struct KnownObjects(Vec<(PoseFormat, BaselineHistory)>);

impl BaselineSource for KnownObjects {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        self.0.get(usize::from(slot)).map(|(format, history)| (format, history))
    }
}

fn known_objects() -> &'static KnownObjects {
    static KNOWN: LazyLock<KnownObjects> = LazyLock::new(|| {
        let objects = (0..OBJECTS).map(|slot| {
            let format = FORMATS[usize::from(slot) % FORMATS.len()];
            let mut history = BaselineHistory::new(0);
            let every = SEND_INTERVALS[usize::from(slot) % SEND_INTERVALS.len()];
            for number in
                (LAST_NUMBER - 120..=LAST_NUMBER).filter(|number| number.is_multiple_of(every))
            {
                history.insert(ReceivedPose {
                    number,
                    stamp: stamp(number),
                    pose: pose(format, slot, number),
                });
            }
            (format, history)
        });
        KnownObjects(objects.collect())
    });
    &KNOWN
}

fn stamp(number: u64) -> GameTime {
    GameTime::from_millis(100_000 + 50 * number)
}

/// An object's pose in a datagram: it moves in a circle.
fn pose(format: PoseFormat, slot: u16, number: u64) -> Pose {
    let angle = number as f32 / 10.0 + f32::from(slot);
    let position =
        ambit_proto::space::Position::new(50.0 + 5.0 * angle.cos(), 50.0 + 5.0 * angle.sin(), 0.5);
    match format.turn {
        Turning::Free { .. } => {
            format.free(position, [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()])
        }
        _ => format.pose(position, angle, 4.0),
    }
}

/// What a sender would write to this client, at both levels, with all, some or none of the
/// datagrams acknowledged.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let acked = [
        None,
        Some(AckedSet { newest: LAST_NUMBER, mask: u32::MAX }),
        Some(AckedSet { newest: LAST_NUMBER - 3, mask: 0x00ff_0f37 }),
    ];
    let inputs = acked
        .into_iter()
        .flat_map(|acked| [Level::Shared, Level::Fine].map(|level| (acked, level)));
    inputs.map(|(acked, level)| input_with_section(&section(level, acked))).collect()
}

fn input_with_section(section: &[u8]) -> Vec<u8> {
    let mut input = vec![0];
    put_bytes(&mut input, section);
    input
}

fn section(level: Level, acked: Option<AckedSet>) -> Vec<u8> {
    let number = LAST_NUMBER + 1;
    let mut out = Vec::new();
    let mut history = Vec::new();
    let mut state = FineState::default();
    let mut writer =
        SectionWriter::with_state(&mut out, &SectionHeader::new(level, number, acked), &mut state);
    for (slot, (format, known)) in (0..).zip(&known_objects().0).filter(|(slot, _)| slot % 5 != 1) {
        let pose = pose(*format, slot, number);
        history.clear();
        let window = acked.and_then(|acked| {
            known.acked_poses(&acked, &mut history);
            known.baseline(&acked)
        });
        let old = acked.and_then(|acked| known.newest_before(acked.window_start()));
        let (mode, baseline) = match (window, old) {
            (Some(baseline), _) => (BaselineMode::Window, Some(baseline)),
            (None, Some(baseline)) => (BaselineMode::Old, Some(baseline)),
            (None, None) => (BaselineMode::Absolute, None),
        };
        if history.is_empty() {
            history.extend(baseline.map(|entry| (entry.stamp, entry.pose)));
        }
        let baseline = baseline.map(|entry| (entry.stamp, &entry.pose));
        match level {
            Level::Shared => {
                writer.write_shared(slot, mode, &code(format, baseline, stamp(number), &pose));
            }
            Level::Fine => writer.write_fine(slot, mode, format, &history, stamp(number), &pose),
        }
    }
    writer.finish();
    out
}
