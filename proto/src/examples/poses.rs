//! Random pose sections for the list of formats ([`super::formats`]).
//!
//! A section is read with the poses that the receiver has, and ends with its datagram; here each
//! section has its own small set of objects, and its length in front.

use std::sync::OnceLock;
use std::time::Duration;

use super::Example;
use crate::pose::fine::FineState;
use crate::pose::section::{
    BaselineMode, BaselineSource, Level, MAX_JUMP_AGE_MS, SectionError, SectionHeader, SectionPose,
    SectionWriter, read_section,
};
use crate::pose::{
    AckedSet, BaselineHistory, MAX_ACKED_DISTANCE, MAX_AT, Motion, MotionFormat, Pose, PoseFormat,
    ReceivedPose, Turning, code,
};
use crate::time::GameTime;
use crate::wire::{Coder, Wire, WireError};

/// Number of the datagram that carries the section.
const NUMBER: u64 = 1_000_000;
const STAMP: GameTime = GameTime::from_millis(500_000);
const SLOTS: u16 = 12;
const MAX_BYTES: usize = 1_000;

/// The header of a section, in a datagram whose number both ends know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExampleHeader(SectionHeader);

impl Default for ExampleHeader {
    fn default() -> Self {
        Self(SectionHeader { number: NUMBER, ..SectionHeader::default() })
    }
}

impl Wire for ExampleHeader {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0.wire(coder)
    }
}

impl Example for ExampleHeader {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let mask = match rng.u8(..5) {
            0 => u32::MAX,
            1 => !(1 << rng.u8(..32)),
            2 => (1 << rng.u8(..32)) - 1,
            _ => rng.u32(..),
        };
        let acked =
            rng.bool().then(|| AckedSet { newest: NUMBER - rng.u64(1..=MAX_ACKED_DISTANCE), mask });
        let level = if rng.bool() { Level::Fine } else { Level::Shared };
        Self(SectionHeader { level, number: NUMBER, acked })
    }
}

/// The poses of a section of a level: slots ascend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleSection<const FINE: bool>(Vec<SectionPose>);

impl<const FINE: bool> Wire for ExampleSection<FINE> {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.wire_bytes(coder)
    }
}

impl<const FINE: bool> ExampleSection<FINE> {
    fn wire_bytes<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let mut bytes = if C::READS { Vec::new() } else { self.section() };
        coder.bytes(&mut bytes, MAX_BYTES)?;
        if C::READS {
            self.0.clear();
            match read_section(&bytes, NUMBER, STAMP, known(), &mut self.0) {
                Ok(_) => {}
                Err(SectionError::Wire(error)) => return Err(error),
                Err(SectionError::MissingBaseline { slot }) => {
                    return Err(WireError::Unknown {
                        what: "baseline of a pose",
                        value: slot.into(),
                    });
                }
            }
        }
        Ok(())
    }

    fn section(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut state = FineState::default();
        let level = if FINE { Level::Fine } else { Level::Shared };
        let header = SectionHeader { level, number: NUMBER, acked: Some(ACKED) };
        let mut writer = SectionWriter::with_state(&mut bytes, &header, &mut state);
        for SectionPose { slot, pose, jumped } in &self.0 {
            let (format, received) = known().object(*slot).expect("a known slot");
            let (window, old) =
                (received.baseline(&ACKED), received.newest_before(ACKED.window_start()));
            let (mode, baseline) = match (jumped, window, old) {
                (Some(jumped), ..) => (BaselineMode::jumped_at(*jumped, STAMP), None),
                (None, Some(baseline), _) => (BaselineMode::Window, Some(baseline)),
                (None, None, Some(baseline)) => (BaselineMode::Old, Some(baseline)),
                (None, None, None) => (BaselineMode::Absolute, None),
            };
            if FINE {
                let mut history = Vec::new();
                if mode == BaselineMode::Window {
                    received.acked_poses(&ACKED, &mut history);
                }
                if mode == BaselineMode::Old {
                    history.extend(baseline.map(|baseline| (baseline.stamp, baseline.pose)));
                }
                writer.write_fine(*slot, mode, format, &history, STAMP, pose);
            } else {
                let baseline = baseline.map(|baseline| (baseline.stamp, &baseline.pose));
                writer.write_shared(*slot, mode, &code(format, baseline, STAMP, pose));
            }
        }
        writer.finish();
        bytes
    }
}

impl<const FINE: bool> Example for ExampleSection<FINE> {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let poses = (0..SLOTS).filter_map(|slot| {
            let (format, received) = known().object(slot)?;
            let newest = received.newest().map_or_else(Pose::default, |newest| newest.pose);
            let age = (rng.u8(..8) == 0)
                .then(|| Duration::from_millis(rng.u64(..=u64::from(MAX_JUMP_AGE_MS))));
            let jumped = age.map(|age| STAMP.saturating_sub(age));
            let pose = any_step(rng, *format, &newest);
            rng.bool().then_some(SectionPose { slot, pose, jumped })
        });
        Self(poses.collect())
    }
}

const ACKED: AckedSet = AckedSet { newest: NUMBER - 2, mask: 0xffff_fff5 };

/// The poses that the receiver has of the objects in sections.
struct ExampleObjects(Vec<(PoseFormat, BaselineHistory)>);

impl BaselineSource for ExampleObjects {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        self.0.get(usize::from(slot)).map(|(format, received)| (format, received))
    }
}

/// Objects of each kind of turning, some with baselines in the window, some with an old one, some
/// with none.
fn known() -> &'static ExampleObjects {
    static OBJECTS: OnceLock<ExampleObjects> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let mut rng = fastrand::Rng::with_seed(1);
        let object = |slot: u16| {
            let turn = [Turning::Yaw { bits: 8 }, Turning::Free { bits: 9 }, Turning::Fixed]
                [usize::from(slot) % 3];
            let format = PoseFormat {
                per_metre: [100, 512][usize::from(slot) % 2],
                turn,
                motion: motion_of(slot, turn),
            };
            let mut received = BaselineHistory::new(0);
            let mut pose = Pose { at: [5_000, 4_000, 100], ..any_pose(&mut rng, format) };
            let ages = match slot % 4 {
                0 => Vec::new(),
                1 => vec![300],
                _ => vec![40, 9, 6, 5, 3],
            };
            for age in ages {
                pose = any_step(&mut rng, format, &pose);
                let stamp = GameTime::from_millis(STAMP.millis() - 50 * age);
                received.insert(ReceivedPose { number: NUMBER - age, stamp, pose });
            }
            (format, received)
        };
        ExampleObjects((0..SLOTS).map(object).collect())
    })
}

/// Half of the formats that may have a motion have one.
fn motion_of(slot: u16, turn: Turning) -> Option<MotionFormat> {
    let can = !matches!(turn, Turning::Yaw { .. });
    (can && slot % 2 == 1).then_some(MotionFormat { linear: 128, angular: 64 })
}

/// The same pose, one near it, or any pose.
fn any_step(rng: &mut fastrand::Rng, format: PoseFormat, from: &Pose) -> Pose {
    let anywhere = any_pose(rng, format);
    let step = from.at.map(|at| at + rng.i32(-60..60));
    match rng.u8(..8) {
        0 => *from,
        // At most half the grid, which is the longest possible step.
        1 => Pose { at: anywhere.at.map(|at| at / 4), ..anywhere },
        2 => Pose {
            at: step,
            turn: anywhere.turn,
            motion: anywhere.motion,
            flag: anywhere.flag,
            ..*from
        },
        3..5 => Pose { at: step, turn: anywhere.turn, ..*from },
        _ => Pose { at: step, ..*from },
    }
}

/// Any pose of this format, extremes included.
pub(crate) fn any_pose(rng: &mut fastrand::Rng, format: PoseFormat) -> Pose {
    let coordinate = |rng: &mut fastrand::Rng| (rng.i32(..) >> rng.u8(..32)).clamp(-MAX_AT, MAX_AT);
    let mut part = |bits: u8| rng.u16(..) & ((1 << bits) - 1);
    let turn = match format.turn {
        Turning::Fixed => [0; 4],
        Turning::Yaw { bits } => [part(bits), 0, 0, 0],
        Turning::Free { bits } => [part(2), part(bits), part(bits), part(bits)],
    };
    let speed =
        if matches!(format.turn, Turning::Yaw { .. }) { rng.i16(..) >> rng.u8(..16) } else { 0 };
    let flag = rng.bool();
    let mut velocity = || rng.i16(..) >> rng.u8(..16);
    let motion = match format.motion {
        Some(_) if !flag => {
            Motion { linear: [(); 3].map(|()| velocity()), angular: [(); 3].map(|()| velocity()) }
        }
        _ => Motion::default(),
    };
    Pose { at: std::array::from_fn(|_| coordinate(rng)), turn, speed, flag, motion }
}
