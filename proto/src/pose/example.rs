//! Random sections for the list of formats ([`crate::wire::formats`]).
//!
//! Test support. A section is read by what is known of its objects, and ends with its datagram;
//! here each brings a small world along, and its length.

use std::sync::OnceLock;

use super::fine::Scene;
use super::section::{
    Bases, Level, Mode, SectionError, SectionHeader, SectionWriter, read_section,
};
use super::{AckedSet, Entry, Kept, MAX_LAG, MotionFormat, Pose, PoseFormat, Turning, code};
use crate::message::example::any_pose;
use crate::time::GameTime;
use crate::wire::formats::Example;
use crate::wire::{Coder, Wire, WireError};

/// Of the datagram that carries the section.
const NUMBER: u64 = 1_000_000;
const STAMP: GameTime = GameTime::from_millis(500_000);
const SLOTS: u16 = 12;
const MAX_BYTES: usize = 1_000;

/// The header of a section in a datagram that both ends know the number of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExampleHeader(SectionHeader);

impl Default for ExampleHeader {
    fn default() -> Self {
        Self(SectionHeader {
            number: NUMBER,
            ..SectionHeader::default()
        })
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
        let acked = rng.bool().then(|| AckedSet {
            newest: NUMBER - rng.u64(1..=MAX_LAG),
            mask,
        });
        let level = if rng.bool() {
            Level::Fine
        } else {
            Level::Shared
        };
        Self(SectionHeader {
            level,
            number: NUMBER,
            acked,
        })
    }
}

/// The poses of a section of a level: slots ascend.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleSection<const FINE: bool>(Vec<(u16, Pose)>);

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
                Err(SectionError::LostTrack { slot }) => {
                    return Err(WireError::Unknown {
                        what: "base of a pose",
                        value: slot.into(),
                    });
                }
            }
        }
        Ok(())
    }

    fn section(&self) -> Vec<u8> {
        let (mut bytes, mut scene) = (Vec::new(), Scene::default());
        let level = if FINE { Level::Fine } else { Level::Shared };
        let header = SectionHeader {
            level,
            number: NUMBER,
            acked: Some(ACKED),
        };
        let mut writer = SectionWriter::with_scene(&mut bytes, &header, &mut scene);
        for (slot, pose) in &self.0 {
            let (format, kept) = known().object(*slot).expect("a known slot");
            let (window, old) = (kept.base(&ACKED), kept.older_than(ACKED.window_start()));
            let (mode, base) = match (window, old) {
                (Some(base), _) => (Mode::DatagramWindow, Some(base)),
                (None, Some(base)) => (Mode::Old, Some(base)),
                (None, None) => (Mode::Absolute, None),
            };
            if FINE {
                let mut history = Vec::new();
                kept.history(&ACKED, &mut history);
                if mode == Mode::Old {
                    history.extend(base.map(|base| (base.stamp, base.pose)));
                }
                writer.fine(*slot, mode, format, &history, STAMP, pose);
            } else {
                let base = base.map(|base| (base.stamp, &base.pose));
                writer.shared(*slot, mode, &code(format, base, STAMP, pose));
            }
        }
        writer.finish();
        bytes
    }
}

impl<const FINE: bool> Example for ExampleSection<FINE> {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let poses = (0..SLOTS).filter_map(|slot| {
            let (format, kept) = known().object(slot)?;
            let newest = kept.newest().map_or_else(Pose::default, |entry| entry.pose);
            rng.bool().then(|| (slot, any_step(rng, *format, &newest)))
        });
        Self(poses.collect())
    }
}

const ACKED: AckedSet = AckedSet {
    newest: NUMBER - 2,
    mask: 0xffff_fff5,
};

/// What is known of the objects that sections speak of.
struct World(Vec<(PoseFormat, Kept)>);

impl Bases for World {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &Kept)> {
        self.0
            .get(usize::from(slot))
            .map(|(format, kept)| (format, kept))
    }
}

/// Of each way of turning, some with bases in the window, some with an old one, some with none.
fn known() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut rng = fastrand::Rng::with_seed(1);
        let object = |slot: u16| {
            let turn = [
                Turning::Yaw { bits: 8 },
                Turning::Free { bits: 9 },
                Turning::Fixed,
            ][usize::from(slot) % 3];
            let format = PoseFormat {
                per_metre: [100, 512][usize::from(slot) % 2],
                turn,
                motion: motion_of(slot, turn),
            };
            let mut kept = Kept::new(0);
            let mut pose = Pose {
                at: [5_000, 4_000, 100],
                ..any_pose(&mut rng, format)
            };
            let backs = match slot % 4 {
                0 => Vec::new(),
                1 => vec![300],
                _ => vec![40, 9, 6, 5, 3],
            };
            for back in backs {
                pose = any_step(&mut rng, format, &pose);
                let stamp = GameTime::from_millis(STAMP.millis() - 50 * back);
                kept.note(Entry {
                    number: NUMBER - back,
                    stamp,
                    pose,
                });
            }
            (format, kept)
        };
        World((0..SLOTS).map(object).collect())
    })
}

/// Of what can have a motion, every other one tells it.
fn motion_of(slot: u16, turn: Turning) -> Option<MotionFormat> {
    let can = !matches!(turn, Turning::Yaw { .. });
    (can && slot % 2 == 1).then_some(MotionFormat {
        linear: 128,
        angular: 64,
    })
}

/// A pose near to another one, or at rest, or anywhere.
fn any_step(rng: &mut fastrand::Rng, format: PoseFormat, from: &Pose) -> Pose {
    let anywhere = any_pose(rng, format);
    let step = from.at.map(|at| at + rng.i32(-60..60));
    match rng.u8(..8) {
        0 => *from,
        // No farther than half the grid, which is as far as a step may lead.
        1 => Pose {
            at: anywhere.at.map(|at| at / 4),
            ..anywhere
        },
        2 => Pose {
            at: step,
            turn: anywhere.turn,
            motion: anywhere.motion,
            flag: anywhere.flag,
            ..*from
        },
        3..5 => Pose {
            at: step,
            turn: anywhere.turn,
            ..*from
        },
        _ => Pose { at: step, ..*from },
    }
}
