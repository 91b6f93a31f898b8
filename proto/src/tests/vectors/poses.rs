//! Pose sections: plain ones, and those of both levels with each operation of the range coder.

mod fine;
mod objects;
mod operations;
mod plain;
mod shared;

use self::objects::SectionObject;
use self::operations::operations;
use super::json::{Json, object};
use super::test_vector::TestVector;
use super::values;
use crate::entropy::tests::trace;
use crate::pose::fine::FineState;
use crate::pose::{
    AckedSet, BaselineHistory, BaselineMode, BaselineSource, Level, PoseFormat, ReceivedPose,
    SectionHeader, SectionPose, SectionWriter, code, read_section,
};
use crate::time::GameTime;

/// Number of the datagram with the section.
const NUMBER: u64 = 5_000;
/// Its stamp.
const STAMP: GameTime = GameTime::from_millis(250_000);
const TICK_MS: u64 = 50;
/// All but the last datagram before it are known to have arrived.
const ALL: Option<AckedSet> = Some(AckedSet { newest: NUMBER - 2, mask: u32::MAX });

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = shared::vectors();
    all.extend(fine::vectors());
    all.extend(plain::vectors());
    all
}

/// What the receiver knows: the objects of a section, by their slots.
struct KnownSlots(Vec<(u16, PoseFormat, BaselineHistory)>);

impl BaselineSource for KnownSlots {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        let object = self.0.iter().find(|object| object.0 == slot);
        object.map(|(_, format, received)| (format, received))
    }
}

fn section(
    name: &'static str,
    about: &'static str,
    level: Level,
    acked: Option<AckedSet>,
    reference: Option<&SectionObject>,
    objects: &[SectionObject],
) -> TestVector {
    let header = SectionHeader::new(level, NUMBER, acked);
    assert_eq!(header.acked, acked, "{name}");
    let all: Vec<&SectionObject> = reference.into_iter().chain(objects).collect();
    let known = KnownSlots(all.iter().map(|object| known_slot(object)).collect());
    let mut bytes = Vec::new();
    let mut state = FineState::default();
    let mut writer = SectionWriter::with_state(&mut bytes, &header, &mut state);
    for object in &all {
        let SectionObject { slot, format, mode, pose, .. } = *object;
        let (_, received) = known.object(*slot).expect("an object of the section");
        let baseline = match mode {
            BaselineMode::Window => acked.and_then(|acked| received.baseline(&acked)),
            BaselineMode::Old => {
                acked.and_then(|acked| received.newest_before(acked.window_start()))
            }
            BaselineMode::Absolute | BaselineMode::Jumped(_) => None,
        };
        let is_absolute = matches!(mode, BaselineMode::Absolute | BaselineMode::Jumped(_));
        assert_eq!(baseline.is_none(), is_absolute, "{name}, {slot}");
        let baseline = baseline.map(|baseline| (baseline.stamp, baseline.pose));
        if level == Level::Shared {
            let baseline = baseline.as_ref().map(|(stamp, pose)| (*stamp, pose));
            let coded = code(format, baseline, STAMP, pose);
            writer.write_shared(*slot, *mode, &coded);
            continue;
        }
        let mut history = Vec::new();
        if let (BaselineMode::Window, Some(acked)) = (mode, &acked) {
            received.acked_poses(acked, &mut history);
        } else {
            history.extend(baseline);
        }
        if reference.is_some_and(|reference| reference.slot == *slot) {
            writer.write_reference(*slot, format, &history, STAMP, pose);
        } else {
            writer.write_fine(*slot, *mode, format, &history, STAMP, pose);
        }
    }
    writer.finish();

    let mut read = Vec::new();
    let (result, traced) = trace::record(|| read_section(&bytes, NUMBER, STAMP, &known, &mut read));
    assert_eq!(result, Ok(acked), "{name}");
    let written: Vec<_> = all
        .iter()
        .map(|SectionObject { slot, pose, mode, .. }| SectionPose {
            slot: *slot,
            pose: *pose,
            jumped: mode.jumped_before(STAMP),
        })
        .collect();
    assert_eq!(read, written, "{name}");

    let slots = objects.iter().map(|object| (object.slot, object.mode));
    let operations = operations(&header, &bytes, slots, &traced);
    let acked = acked.map(|acked| object! { newest: acked.newest, mask: acked.mask });
    let poses = all.iter().zip(&read).map(|(object, SectionPose { slot, pose, jumped })| {
        object! {
            slot: *slot,
            mode: mode_name(object.mode),
            jumped: jumped.map(values::time),
            pose: values::pose(&object.format, pose),
        }
    });
    TestVector {
        name,
        about,
        context: context(&all, &known),
        value: object! {
            level: if level == Level::Fine { "fine" } else { "shared" },
            acked: acked,
            reference: reference.map(|reference| reference.slot),
            poses: poses.collect::<Json>(),
            operations: operations,
        },
        bytes,
    }
}

fn known_slot(object: &SectionObject) -> (u16, PoseFormat, BaselineHistory) {
    assert!(object.format.check().is_ok() && object.format.fits(&object.pose));
    let mut received = BaselineHistory::new(0);
    for (ago, pose) in &object.known {
        assert!(object.format.fits(pose), "{pose:?}");
        received.insert(ReceivedPose {
            number: NUMBER - ago,
            stamp: GameTime::from_millis(STAMP.millis() - TICK_MS * ago),
            pose: *pose,
        });
    }
    (object.slot, object.format, received)
}

fn context(all: &[&SectionObject], known: &KnownSlots) -> Json {
    let objects = all.iter().map(|object| {
        let (format, received) = known.object(object.slot).expect("an object of the section");
        let poses = received.poses().iter().map(|received| {
            object! {
                number: received.number,
                stamp: values::time(received.stamp),
                pose: values::pose(format, &received.pose),
            }
        });
        object! {
            slot: object.slot,
            format: values::pose_format(format),
            received: poses.collect::<Json>(),
        }
    });
    object! {
        from: "server",
        part: "pose section",
        number: NUMBER,
        stamp: values::time(STAMP),
        objects: objects.collect::<Json>(),
    }
}

fn mode_name(mode: BaselineMode) -> &'static str {
    match mode {
        BaselineMode::Window => "window",
        BaselineMode::Old => "old",
        BaselineMode::Absolute | BaselineMode::Jumped(_) => "absolute",
    }
}
