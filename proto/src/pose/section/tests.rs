//! A sender and a receiver over a lossy channel: every decoded pose equals the one that was sent.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::examples::poses::any_pose;
use crate::pose::{MAX_ACKED_DISTANCE, MotionFormat, ReceivedPose, Turning, code};

/// The time between two ticks at 60 Hz, which is not a whole number of milliseconds.
const TICK_US: u64 = 16_667;
/// The link accepts datagrams up to this far behind the newest one.
const MAX_LATE: u64 = 32;

#[test]
fn each_decoded_pose_equals_the_sent_one_at_any_loss() {
    let mut poses_read = 0;
    for seed in 0..60 {
        let mut scene = Exchange::new(seed);
        scene.level = [Level::Shared, Level::Fine][seed as usize % 2];
        for _ in 0..400 {
            scene.tick();
        }
        poses_read += scene.poses_read;
    }
    assert!(poses_read > 100_000, "{poses_read} poses were read");
}

#[test]
fn a_receiver_without_baselines_reports_it_and_recovers() {
    for seed in 0..20 {
        let mut scene = Exchange::new(seed);
        scene.loss = 0.2;
        for tick in 0..300 {
            if tick % 60 == 40 {
                scene.receiver.values_mut().for_each(|object| object.received.clear());
                scene.may_miss_baselines = true;
            }
            scene.tick();
            if tick % 60 == 30 {
                assert_eq!(scene.lost_track, None, "seed {seed}, tick {tick}: not recovered");
                scene.may_miss_baselines = false;
            }
        }
        assert!(scene.missing_baselines > 0, "seed {seed}");
    }
}

#[test]
fn arbitrary_bytes_decode_only_to_poses_of_known_objects() {
    let mut scene = Exchange::new(7);
    (0..50).for_each(|_| scene.tick());
    let number = scene.number;
    let stamp = scene.now();
    let valid = [Level::Shared, Level::Fine].map(|level| {
        scene.level = level;
        scene.section(number, stamp, scene.acked_set()).0
    });
    for valid in &valid {
        assert!(read_section(valid, number, stamp, &scene.receiver, &mut Vec::new()).is_ok());
    }
    for seed in 0..20_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut bytes = valid[rng.usize(..2)].clone();
        match seed % 3 {
            0 => bytes = (0..rng.usize(..80)).map(|_| rng.u8(..)).collect(),
            1 => bytes.truncate(rng.usize(..bytes.len())),
            _ => {
                let index = rng.usize(..bytes.len().min(12));
                bytes[index] ^= 1 << rng.u8(..8);
            }
        }
        let number = if rng.bool() { number } else { rng.u64(..) >> rng.u8(..64) };
        let mut poses = Vec::new();
        let result = read_section(&bytes, number, stamp, &scene.receiver, &mut poses);
        // All poses but that of the reference, which may come first.
        let others = usize::from(poses.len() > 1 && poses[0].slot > poses[1].slot);
        assert!(poses[others..].is_sorted_by(|a, b| a.slot < b.slot), "seed {seed}: slots ascend");
        let slots: BTreeSet<_> = poses.iter().map(|pose| pose.slot).collect();
        assert_eq!(slots.len(), poses.len(), "seed {seed}: no slot twice");
        for SectionPose { slot, pose, .. } in poses {
            let (format, _) = scene.receiver.object(slot).expect("a known slot");
            assert!(format.fits(&pose), "seed {seed}: {pose:?}");
        }
        if let Err(SectionError::MissingBaseline { slot }) = result {
            let received = scene.receiver.object(slot).map(|(_, received)| received.poses().len());
            assert!(
                received.is_none() || header(&bytes, number).is_some(),
                "seed {seed}: the header names no acknowledged set"
            );
        }
    }
}

#[test]
fn a_missing_or_unnamed_baseline_is_refused() {
    let format = PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
    let pose = Pose::default();
    let stamp = GameTime::from_millis(1_000);
    let receiver = BTreeMap::from([(
        3,
        ReceiverObject { tenant: 0, format, received: BaselineHistory::new(0) },
    )]);
    let read = |mode, acked, slot| {
        let mut bytes = Vec::new();
        let mut writer =
            SectionWriter::new(&mut bytes, &SectionHeader::new(Level::Shared, 50, acked));
        writer.write_shared(slot, mode, &code(&format, None, stamp, &pose));
        writer.finish();
        let mut poses = Vec::new();
        let result = read_section(&bytes, 50, stamp, &receiver, &mut poses);
        (result, poses.len())
    };
    let acked = Some(AckedSet { newest: 40, mask: 1 });
    assert_eq!(read(BaselineMode::Absolute, None, 3), (Ok(None), 1));
    assert_eq!(
        read(BaselineMode::Absolute, None, 4),
        (Err(SectionError::MissingBaseline { slot: 4 }), 0)
    );
    assert_eq!(
        read(BaselineMode::Window, acked, 3),
        (Err(SectionError::MissingBaseline { slot: 3 }), 0)
    );
    assert_eq!(
        read(BaselineMode::Old, acked, 3),
        (Err(SectionError::MissingBaseline { slot: 3 }), 0)
    );
    let no_baseline = SectionError::Wire(WireError::OutOfRange { what: "baseline of a pose" });
    assert_eq!(read(BaselineMode::Window, None, 3), (Err(no_baseline), 0));
}

#[test]
fn an_acked_set_too_far_back_is_not_sent() {
    let acked = Some(AckedSet { newest: 100, mask: 0 });
    assert_eq!(SectionHeader::new(Level::Shared, 100 + MAX_ACKED_DISTANCE, acked).acked, acked);
    assert_eq!(SectionHeader::new(Level::Shared, 101 + MAX_ACKED_DISTANCE, acked).acked, None);
    assert_eq!(SectionHeader::new(Level::Shared, 100, acked).acked, None);
}

#[test]
fn a_section_is_as_long_as_announced() {
    let mut scene = Exchange::new(3);
    for tick in 0..50 {
        scene.level = [Level::Shared, Level::Fine][tick % 2];
        scene.tick();
        let number = scene.number;
        let stamp = scene.now();
        let (bytes, announced) = scene.section(number, stamp, scene.acked_set());
        assert!(
            (announced - 3..=announced).contains(&bytes.len()),
            "{announced} announced, {}",
            bytes.len()
        );
    }
}

fn header(bytes: &[u8], number: u64) -> Option<AckedSet> {
    let mut header = SectionHeader { number, ..SectionHeader::default() };
    header.wire(&mut Reader::new(bytes)).ok().and(header.acked)
}

/// An object as the receiver knows it.
struct ReceiverObject {
    tenant: u32,
    format: PoseFormat,
    received: BaselineHistory,
}

impl BaselineSource for BTreeMap<u16, ReceiverObject> {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        self.get(&slot).map(|known| (&known.format, &known.received))
    }
}

/// An object as the sender knows it: which datagram is the newest acknowledged one with its pose,
/// and which the newest of all.
struct SentObject {
    tenant: u32,
    format: PoseFormat,
    pose: Pose,
    acked: Option<u64>,
    last_sent: Option<u64>,
    leaving: bool,
}

/// The contents of a datagram: objects that enter, objects that leave, and poses.
#[derive(Clone)]
struct Datagram {
    number: u64,
    stamp: GameTime,
    enters: Vec<(u16, u32, Pose)>,
    leaves: Vec<(u16, u32)>,
    poses: Vec<(u16, u32, Pose)>,
    section: Vec<u8>,
}

/// A sender, a receiver, and the datagrams between them.
struct Exchange {
    rng: fastrand::Rng,
    level: Level,
    loss: f64,
    number: u64,
    sender: BTreeMap<u16, SentObject>,
    tenants: u32,
    acked: BTreeSet<u64>,
    /// Datagrams before this number are no longer baselines.
    floor: u64,
    sent: Vec<Datagram>,
    in_flight: Vec<Datagram>,
    receiver: BTreeMap<u16, ReceiverObject>,
    received: BTreeSet<u64>,
    lost_track: Option<u64>,
    missing_baselines: u32,
    /// Datagrams that could not be read.
    failed: Vec<u64>,
    may_miss_baselines: bool,
    poses_read: u32,
}

impl Exchange {
    fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            loss: [0.0, 0.05, 0.2, 0.5][rng.usize(..4)],
            rng,
            level: Level::Shared,
            number: 0,
            sender: BTreeMap::new(),
            tenants: 0,
            acked: BTreeSet::new(),
            floor: 0,
            sent: Vec::new(),
            in_flight: Vec::new(),
            receiver: BTreeMap::new(),
            received: BTreeSet::new(),
            lost_track: None,
            missing_baselines: 0,
            failed: Vec::new(),
            may_miss_baselines: false,
            poses_read: 0,
        }
    }

    fn now(&self) -> GameTime {
        // A sender's clock is finer than a stamp.
        GameTime::from_micros(1_000_700 + self.number * TICK_US)
    }

    fn tick(&mut self) {
        self.update_objects();
        self.send();
        self.deliver();
        self.acknowledge();
    }

    /// Adds, removes and moves objects at random.
    fn update_objects(&mut self) {
        for slot in 0..40 {
            let format = format_of(slot);
            let Some(object) = self.sender.get_mut(&slot) else {
                if self.rng.u8(..20) == 0 {
                    self.tenants += 1;
                    let pose = any_pose(&mut self.rng, format);
                    let object = SentObject {
                        tenant: self.tenants,
                        format,
                        pose,
                        acked: None,
                        last_sent: None,
                        leaving: false,
                    };
                    self.sender.insert(slot, object);
                }
                continue;
            };
            match self.rng.u8(..60) {
                0 => object.leaving = true,
                1 => object.pose = any_pose(&mut self.rng, format),
                2..30 if slot % 2 == 0 => {
                    object.pose.at[0] =
                        (object.pose.at[0] + self.rng.i32(-20..20)).clamp(-1 << 26, 1 << 26);
                    if slot % 3 == 0 {
                        object.pose.turn[0] = self.rng.u16(..256);
                    }
                    if format.motion.is_some() && !object.pose.flag {
                        object.pose.motion.linear[2] = self.rng.i16(..) >> self.rng.u8(..16);
                        object.pose.motion.angular[0] = self.rng.i16(-500..500);
                    }
                }
                _ => {}
            }
        }
    }

    fn acked_set(&self) -> Option<AckedSet> {
        let newest = *self.acked.range(self.floor..).next_back()?;
        let mask = (0..32).filter(|back| {
            newest
                .checked_sub(back + 1)
                .is_some_and(|number| number >= self.floor && self.acked.contains(&number))
        });
        Some(AckedSet { newest, mask: mask.map(|back| 1 << back).sum() })
    }

    fn send(&mut self) {
        let number = self.number;
        let stamp = self.now();
        let (section, _) = self.section(number, stamp, self.acked_set());
        let mut datagram = Datagram {
            number,
            stamp,
            enters: Vec::new(),
            leaves: Vec::new(),
            poses: Vec::new(),
            section,
        };
        for (slot, object) in &mut self.sender {
            if object.leaving {
                datagram.leaves.push((*slot, object.tenant));
            } else if object.acked.is_none() {
                datagram.enters.push((*slot, object.tenant, object.pose));
                object.last_sent = Some(number);
            }
        }
        datagram.poses = self
            .chosen(number)
            .iter()
            .map(|slot| {
                let object = &self.sender[slot];
                (*slot, object.tenant, object.pose)
            })
            .collect();
        for (slot, ..) in &datagram.poses {
            self.sender.get_mut(slot).expect("object").last_sent = Some(number);
        }
        self.sent.push(datagram.clone());
        if self.rng.f64() >= self.loss {
            self.in_flight.push(datagram.clone());
            if self.rng.u8(..10) == 0 {
                self.in_flight.push(datagram);
            }
        }
        self.number += 1;
    }

    /// The slots in a datagram: a random choice of the objects whose Enter is acknowledged.
    fn chosen(&self, number: u64) -> Vec<u16> {
        let mut rng = fastrand::Rng::with_seed(number);
        let known =
            self.sender.iter().filter(|(_, object)| object.acked.is_some() && !object.leaving);
        known
            .map(|(slot, _)| *slot)
            .filter(|slot| rng.bool() && !(slot % 4 == 1 && rng.u8(..40) > 0))
            .collect()
    }

    fn section(&self, number: u64, stamp: GameTime, acked: Option<AckedSet>) -> (Vec<u8>, usize) {
        let mut bytes = Vec::new();
        let mut state = FineState::default();
        let header = SectionHeader::new(self.level, number, acked);
        let mut writer = SectionWriter::with_state(&mut bytes, &header, &mut state);
        let mut reference = None;
        let mut fine = Vec::new();
        for slot in self.chosen(number) {
            let object = &self.sender[&slot];
            let baseline = object.acked.filter(|baseline| *baseline >= self.floor);
            let (mode, baseline) = match (header.acked, baseline) {
                (Some(acked), Some(baseline)) if acked.contains(baseline) => {
                    (BaselineMode::Window, Some(baseline))
                }
                (Some(acked), Some(baseline))
                    if baseline < acked.window_start() && object.last_sent == Some(baseline) =>
                {
                    (BaselineMode::Old, Some(baseline))
                }
                _ => (BaselineMode::Absolute, None),
            };
            let baseline =
                baseline.and_then(|baseline| self.pose_in(baseline, slot, object.tenant));
            if self.level == Level::Shared {
                let baseline = baseline.as_ref().map(|(stamp, baseline)| (*stamp, baseline));
                writer.write_shared(
                    slot,
                    mode,
                    &code(&object.format, baseline, stamp, &object.pose),
                );
                continue;
            }
            let window =
                acked.filter(|_| mode == BaselineMode::Window).into_iter().flat_map(|acked| {
                    (acked.window_start()..=acked.newest)
                        .rev()
                        .filter(move |number| acked.contains(*number))
                });
            let mut history: Vec<_> =
                window.filter_map(|number| self.pose_in(number, slot, object.tenant)).collect();
            if mode == BaselineMode::Old {
                history.extend(baseline);
            }
            fine.push((slot, mode, object, history));
            // In every other section one object comes first, as the reference of the others.
            if mode == BaselineMode::Window && number.is_multiple_of(2) && reference.is_none() {
                reference = Some(fine.len() - 1);
            }
        }
        if let Some((slot, _, object, history)) = reference.map(|index| fine.remove(index)) {
            writer.write_reference(slot, &object.format, &history, stamp, &object.pose);
        }
        for (slot, mode, object, history) in fine {
            writer.write_fine(slot, mode, &object.format, &history, stamp, &object.pose);
        }
        let announced = writer.bytes();
        writer.finish();
        (bytes, announced)
    }

    /// The pose of the object in a datagram, in a record or in the section.
    fn pose_in(&self, number: u64, slot: u16, tenant: u32) -> Option<(GameTime, Pose)> {
        let datagram = self.sent.get(number as usize)?;
        let mut object = datagram.enters.iter().chain(&datagram.poses);
        object
            .find(|object| (object.0, object.1) == (slot, tenant))
            .map(|object| (datagram.stamp, object.2))
    }

    /// Delivers some of the datagrams in flight, in any order.
    fn deliver(&mut self) {
        self.rng.shuffle(&mut self.in_flight);
        let stays = self.rng.usize(..=self.in_flight.len().min(4));
        let arrived = self.in_flight.split_off(stays);
        for datagram in arrived {
            let latest = self.received.last().copied().unwrap_or(0);
            if datagram.number + MAX_LATE >= latest && self.received.insert(datagram.number) {
                self.receive(&datagram);
            }
        }
    }

    fn receive(&mut self, datagram: &Datagram) {
        let number = datagram.number;
        let stamp = datagram.stamp.whole_millis();
        for (slot, tenant, pose) in &datagram.enters {
            let entered = ReceiverObject {
                tenant: *tenant,
                format: format_of(*slot),
                received: BaselineHistory::new(number),
            };
            let known = self.receiver.entry(*slot).or_insert(entered);
            if *tenant > known.tenant {
                known.tenant = *tenant;
                known.received.start_tenant(number);
            }
            if *tenant == known.tenant {
                known.received.insert(ReceivedPose { number, stamp, pose: *pose });
            }
        }
        // The sender counts a datagram that could not be read as received, until it is notified.
        let named = header(&datagram.section, number);
        if named.is_some_and(|acked| self.failed.iter().any(|failed| acked.contains(*failed))) {
            self.lost_track = self.lost_track.max(Some(number));
            self.failed.push(number);
            return;
        }
        let mut poses = Vec::new();
        let end = read_section(&datagram.section, number, stamp, &self.receiver, &mut poses);
        for SectionPose { slot, pose, .. } in poses {
            let known = self.receiver.get_mut(&slot).expect("a known slot");
            let (_, tenant, sent) =
                datagram.poses.iter().find(|sent| sent.0 == slot).expect("it was sent");
            assert_eq!((*sent, *tenant), (pose, known.tenant), "datagram {number}, slot {slot}");
            known.received.insert(ReceivedPose { number, stamp, pose });
            self.poses_read += 1;
        }
        match end {
            Ok(acked) => {
                if self
                    .lost_track
                    .is_some_and(|lost| acked.is_none_or(|acked| acked.window_floor() > lost))
                {
                    self.lost_track = None;
                }
                if let Some(acked) = acked.filter(|_| self.rng.bool()) {
                    self.receiver.values_mut().for_each(|known| known.received.prune(&acked));
                }
            }
            Err(SectionError::MissingBaseline { .. }) if self.may_miss_baselines => {
                self.missing_baselines += 1;
                self.failed.push(number);
                self.lost_track = self.lost_track.max(Some(number));
            }
            Err(error) => panic!("datagram {number}: {error}"),
        }
    }

    /// Acknowledges the received datagrams, unless the acknowledgement is lost.
    fn acknowledge(&mut self) {
        if self.rng.f64() < self.loss || self.rng.bool() {
            return;
        }
        if let Some(lost) = self.lost_track {
            self.floor = self.floor.max(lost + 1);
        }
        let Some(latest) = self.received.last().copied() else {
            return;
        };
        let known: Vec<u64> = self.received.range(latest.saturating_sub(32)..).copied().collect();
        for number in known {
            if !self.acked.insert(number) {
                continue;
            }
            let Datagram { enters, leaves, poses, .. } = self.sent[number as usize].clone();
            for (slot, tenant, _) in enters.iter().chain(&poses) {
                if let Some(object) =
                    self.sender.get_mut(slot).filter(|object| object.tenant == *tenant)
                {
                    object.acked = object.acked.max(Some(number));
                }
            }
            for (slot, tenant) in leaves {
                if self.sender.get(&slot).is_some_and(|object| object.tenant == tenant) {
                    self.sender.remove(&slot);
                }
            }
        }
    }
}

/// The format of the objects in a slot. It never changes, so that a receiver that gets the Enter of
/// a new tenant late can still read poses of the old one.
fn format_of(slot: u16) -> PoseFormat {
    let turn = [Turning::Yaw { bits: 8 }, Turning::Free { bits: 9 }, Turning::Fixed]
        [usize::from(slot) % 3];
    let moves = !slot.is_multiple_of(3) && slot.is_multiple_of(2);
    PoseFormat {
        per_metre: 100,
        turn,
        motion: moves.then_some(MotionFormat { linear: 128, angular: 64 }),
    }
}

impl AckedSet {
    /// The oldest number in the set.
    fn window_floor(&self) -> u64 {
        self.newest - u64::from(32 - self.mask.leading_zeros())
    }
}
