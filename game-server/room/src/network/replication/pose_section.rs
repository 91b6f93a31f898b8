//! The pose section of one client's datagram.
//!
//! The poses that are due ([`PoseCandidate`]s) and the byte limit go in; the bytes of the section
//! come out, and what did not fit stays due. While all poses fit, no priorities are computed.
//! Otherwise the pose that has waited longest, weighted by its class, is sent first, and one that
//! does not fit is skipped for the next one that does.
//!
//! Invariants: slots ascend in a section; no section exceeds its limit; an object is in at most one
//! section per tick.

use ambit_proto::message;
use ambit_proto::pose::{self, BaselineMode, Level, Pose, SectionHeader, SectionWriter};
use ambit_proto::time::GameTime;
use ambit_proto::wire::{Measure, Writer};

use super::coded_poses::CodedPoseCache;
use super::freshness::FreshnessClass;
use super::sent_datagrams::SentDatagrams;
use super::viewer_poses::{Baseline, PoseCandidate, PoseContext, ViewerPoses, sort_by_priority};
use crate::stats::KindBits;

/// Header and end of a section, in bytes, at most.
const FRAME_BYTES: usize = 9;
/// The end of a plain section, with its padding.
const PLAIN_FRAME_BYTES: usize = 1;
/// Estimated cost of a slot number beside its pose when nearly all slots are present, in 1/256
/// bits; and below, for each doubling of the distance to the next slot that is present.
const SLOT_BITS_X256: u32 = 5 * 128;
const SPARSE_SLOT_BITS_X256: u32 = 3 * 128;
/// Cost of a mode that is not the usual one, in 1/256 bits.
const MODE_BITS_X256: u32 = 13 * 128;
/// Cost of the age of a jump, in 1/256 bits.
const JUMP_BITS_X256: u32 = 12 * 256;
/// Room that is left free in the estimate, in 1/256 bits: the writer checks upper bounds, which are
/// larger than the estimates.
const SAFETY_MARGIN_X256: u64 = 16 * 256;
/// Room that a pose without a baseline in the window must find at the fine level, in bits. If it
/// turns out longer, the section is written again with fewer poses.
const MAX_FINE_BITS: usize = 320;
/// Room that any other pose must find there, in per cent of the typical size of a pose.
const FINE_FACTOR_PERCENT: usize = 150;
/// Cost of naming the reference pose, at most.
const MAX_REFERENCE_BITS: usize = 32;
/// A shorter section is not worth its header.
const MIN_SECTION_BYTES: usize = FRAME_BYTES + 8;
/// After this number of poses that do not fit, the search for smaller ones ends.
const MAX_MISSES: usize = 8;
/// Of [`FreshnessClass`].
const CLASSES: usize = FreshnessClass::Far as usize + 1;

/// The contents and size of one section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionStats {
    pub poses: u32,
    /// Their size without header and slot numbers (of a plain section: aliases and kinds), in 1/256
    /// bits; 0 at the fine level, where it is not known.
    pub content_bits_x256: u64,
    /// Size of the header, in bits.
    pub header_bits: usize,
    /// Total size, in bytes.
    pub bytes: usize,
}

/// Bits of poses by kind and class: each section's, shared out by what its poses cost about.
#[derive(Debug, Default)]
pub struct PoseShares {
    /// Of the present section, in 1/256 bits, for each kind and class; empty between sections.
    costs: Vec<[u32; CLASSES]>,
    /// The kinds that have some.
    kinds: Vec<u8>,
}

impl PoseShares {
    fn add(&mut self, kind: u8, class: FreshnessClass, cost: u32) {
        let index = usize::from(kind);
        if self.costs.len() <= index {
            self.costs.resize(index + 1, [0; CLASSES]);
        }
        if self.costs[index] == [0; CLASSES] {
            self.kinds.push(kind);
        }
        self.costs[index][class as usize] += cost;
    }

    /// Adds `bits` to `sums`, all of them, and forgets the section.
    pub fn take(&mut self, bits: u64, sums: &mut Vec<KindBits>) {
        let costs = self.kinds.iter().flat_map(|kind| self.costs[usize::from(*kind)]);
        let all: u64 = costs.map(u64::from).sum();
        let (mut shared, mut given) = (0, 0);
        for kind in self.kinds.drain(..) {
            let costs = std::mem::take(&mut self.costs[usize::from(kind)]);
            let sums = &mut KindBits::of_kind(sums, kind).poses;
            for (sum, cost) in sums.iter_mut().zip(costs) {
                shared += u64::from(cost);
                let until = bits * shared / all.max(1);
                *sum += until - given;
                given = until;
            }
        }
    }
}

/// Buffers that all clients reuse.
#[derive(Debug, Default)]
pub struct SectionBuffers {
    /// What the section's poses were.
    pub shares: PoseShares,
    chosen: Vec<PoseCandidate>,
    skipped: Vec<PoseCandidate>,
    written: Vec<PoseCandidate>,
    /// Slots that were written, and about how many bits of 1/256 each took, if that is wanted.
    pub metered: Option<Vec<(u16, u32)>>,
    history: Vec<(GameTime, Pose)>,
    fine_scene: pose::fine::FineState,
}

/// What a section is written from, and for which client.
pub struct SectionFiller<'s> {
    /// What the choice of poses depends on.
    pub context: PoseContext<'s>,
    /// The coded poses of this tick.
    pub cache: &'s CodedPoseCache,
    /// The datagrams sent to the client, with their outcomes.
    pub sent_datagrams: SentDatagrams<'s>,
    /// The slot of the client's own avatar.
    pub own_slot: Option<u16>,
    /// Position of the client's own avatar on the ground, in metres.
    pub viewer_position_m: [f32; 2],
    /// The longest section allowed.
    pub max_bytes: usize,
}

impl SectionFiller<'_> {
    /// Replaces `out` by a section with as many of `due` as fit, and removes those from `due`.
    /// `due` is in ascending order of slots, and stays so.
    pub fn fill(
        &self,
        poses: &mut ViewerPoses,
        due: &mut Vec<PoseCandidate>,
        buffers: &mut SectionBuffers,
        out: &mut Vec<u8>,
    ) -> SectionStats {
        out.clear();
        if due.is_empty() || self.max_bytes < MIN_SECTION_BYTES {
            return SectionStats::default();
        }
        self.choose_candidates(poses, due, buffers);
        let number = self.sent_datagrams.next();
        // A pose that lost its baseline within this tick is considered again at the next one.
        let holds = |candidate: &mut PoseCandidate| {
            poses.is_baseline_valid(candidate.slot, candidate.baseline, self.sent_datagrams)
        };
        buffers.skipped.extend(buffers.chosen.extract_if(.., |candidate| !holds(candidate)));
        let mut stats = self.write(poses, buffers, out);
        let mut min_dropped = 1;
        // The size of a pose under adaptive contexts is known only after it is written. If the
        // section is too long, write it again with fewer poses.
        while out.len() > self.max_bytes {
            self.drop_least_important(poses, min_dropped, out.len(), buffers);
            stats = self.write(poses, buffers, out);
            min_dropped *= 2;
        }
        for candidate in buffers.written.drain(..) {
            let class = poses.class(candidate.slot, self.context, self.viewer_position_m);
            let kind = self.context.source.table.kind(candidate.pose_slot);
            buffers.shares.add(kind, class, candidate.cost_bits_x256().max(1));
            poses.note_sent(candidate.slot, number, self.context.source.stamp);
            if let Some(metered) = &mut buffers.metered {
                metered.push((candidate.slot, candidate.cost_bits_x256()));
            }
        }
        due.append(&mut buffers.skipped);
        due.sort_unstable_by_key(|candidate| candidate.slot);
        if stats.poses == 0 {
            out.clear();
            return SectionStats::default();
        }
        SectionStats { bytes: out.len(), ..stats }
    }

    /// Replaces `out` by a section with the chosen poses, as far as they seem to fit; those are
    /// moved to `written`.
    fn write(
        &self,
        poses: &ViewerPoses,
        buffers: &mut SectionBuffers,
        out: &mut Vec<u8>,
    ) -> SectionStats {
        out.clear();
        let SectionBuffers { chosen, skipped, written, history, fine_scene: scene, .. } = buffers;
        if chosen.is_empty() {
            return SectionStats::default();
        }
        let Some(level) = self.context.level else {
            return self.write_plain(chosen, skipped, written, out);
        };
        let acked = self.sent_datagrams.window().map(|window| window.acked_set());
        let mut header = SectionHeader::new(level, self.sent_datagrams.next(), acked);
        let mut measure = Measure::new();
        header.wire(&mut measure).expect("measuring cannot fail");
        let mut stats = SectionStats { header_bits: measure.bits(), ..SectionStats::default() };
        let mut writer = SectionWriter::with_state(out, &header, scene);
        if level == Level::Fine {
            self.write_reference(&mut writer, poses, chosen, history, written);
        }
        for candidate in chosen.drain(..) {
            let mode = self.mode(&candidate);
            let slot_bits = writer.max_slot_bits(candidate.slot, mode);
            if writer.bytes() + candidate.max_bytes(slot_bits) > self.max_bytes {
                skipped.push(candidate);
                continue;
            }
            match candidate.key {
                Some(key) => {
                    let coded = self.cache.coded(key);
                    writer.write_shared(candidate.slot, mode, coded);
                    stats.content_bits_x256 += u64::from(coded.bits_x256());
                }
                None => self.write_fine(&mut writer, poses, &candidate, history),
            }
            written.push(candidate);
        }
        writer.finish();
        stats.poses = written.len() as u32;
        stats
    }

    /// As [`SectionFiller::write`], for a client that gets whole poses.
    fn write_plain(
        &self,
        chosen: &mut Vec<PoseCandidate>,
        skipped: &mut Vec<PoseCandidate>,
        written: &mut Vec<PoseCandidate>,
        out: &mut Vec<u8>,
    ) -> SectionStats {
        let source = self.context.source;
        let max_bits = 8 * (self.max_bytes - PLAIN_FRAME_BYTES);
        let mut writer = Writer::new(out);
        let mut stats = SectionStats::default();
        for candidate in chosen.drain(..) {
            let bits = candidate.bits_x256 as usize / 256;
            if writer.bits_written() + bits > max_bits {
                skipped.push(candidate);
                continue;
            }
            let pose = candidate.plain_pose(source);
            pose.write(source.format(candidate.pose_slot), &mut writer);
            stats.content_bits_x256 += 256 * (bits - pose.head_bits()) as u64;
            written.push(candidate);
        }
        message::end_plain_poses(writer);
        stats.poses = written.len() as u32;
        stats
    }

    /// Chooses again the poses that were written, except those of the lowest priority: as many as
    /// make up for the excess, but at least `least`.
    fn drop_least_important(
        &self,
        poses: &ViewerPoses,
        min_dropped: usize,
        bytes: usize,
        buffers: &mut SectionBuffers,
    ) {
        let SectionBuffers { chosen, skipped, written, .. } = buffers;
        let too_many = (written.len() * (bytes - self.max_bytes))
            .div_ceil(bytes)
            .max(min_dropped)
            .min(written.len());
        poses.prioritise(self.context, self.viewer_position_m, written);
        sort_by_priority(written);
        skipped.extend(written.drain(..too_many));
        chosen.append(written);
        chosen.sort_unstable_by_key(|candidate| candidate.slot);
    }

    /// Moves the poses to send from `due` to `chosen`, in ascending order of slots.
    fn choose_candidates(
        &self,
        poses: &ViewerPoses,
        due: &mut Vec<PoseCandidate>,
        buffers: &mut SectionBuffers,
    ) {
        let is_plain = self.context.level.is_none();
        let frame_bytes = if is_plain { PLAIN_FRAME_BYTES } else { FRAME_BYTES };
        let budget_x256 = ((self.max_bytes - frame_bytes) * 8 * 256) as u64;
        let slots = due.last().map_or(0, |last| u64::from(last.slot) + 1);
        let count = due.len() as u64;
        // The size of a plain pose is known, slot and all.
        let slot_bits_x256 = |count| {
            if is_plain { 0 } else { slot_bits_x256(slots, count) }
        };
        let cost_bits_x256 = |candidate: &PoseCandidate| {
            if is_plain { candidate.bits_x256 } else { candidate.cost_bits_x256() }
        };
        let all = due.iter().map(|candidate| u64::from(cost_bits_x256(candidate))).sum::<u64>();
        let all = all + count * u64::from(slot_bits_x256(count));
        if all <= budget_x256 {
            std::mem::swap(due, &mut buffers.chosen);
            return;
        }
        let slot_bits_x256 = slot_bits_x256(count * budget_x256 / all);
        poses.prioritise(self.context, self.viewer_position_m, due);
        sort_by_priority(due);
        let mut left = budget_x256.saturating_sub(SAFETY_MARGIN_X256);
        let mut misses = 0;
        while misses < MAX_MISSES
            && let Some(candidate) = due.pop()
        {
            let cost = u64::from(cost_bits_x256(&candidate) + slot_bits_x256);
            if let Some(rest) = left.checked_sub(cost) {
                left = rest;
                buffers.chosen.push(candidate);
            } else {
                misses += 1;
                buffers.skipped.push(candidate);
            }
        }
        buffers.chosen.sort_unstable_by_key(|candidate| candidate.slot);
    }

    /// Writes the reference pose first, relative to which others move: the own avatar, if the
    /// client has a baseline of it.
    fn write_reference(
        &self,
        writer: &mut SectionWriter<'_>,
        poses: &ViewerPoses,
        chosen: &mut Vec<PoseCandidate>,
        history: &mut Vec<(GameTime, Pose)>,
        written: &mut Vec<PoseCandidate>,
    ) {
        let Some(index) = chosen.iter().position(|candidate| Some(candidate.slot) == self.own_slot)
        else {
            return;
        };
        let candidate = chosen[index];
        let PoseContext { source, .. } = self.context;
        let room = writer.bytes() + candidate.max_bytes(MAX_REFERENCE_BITS) <= self.max_bytes;
        let in_window = room && matches!(candidate.baseline, Baseline::Window(_));
        if in_window
            && poses.history(
                candidate.slot,
                candidate.baseline,
                self.sent_datagrams,
                source.table,
                history,
            )
        {
            let pose = source.table.latest(candidate.pose_slot);
            writer.write_reference(
                candidate.slot,
                source.format(candidate.pose_slot),
                history,
                source.stamp,
                pose,
            );
            chosen.remove(index);
            written.push(candidate);
        }
    }

    /// What the pose is coded relative to, as the section says it.
    fn mode(&self, candidate: &PoseCandidate) -> BaselineMode {
        match candidate.baseline {
            Baseline::Window(_) => BaselineMode::Window,
            Baseline::Old(_) => BaselineMode::Old,
            Baseline::None => BaselineMode::Absolute,
            Baseline::Jumped(at) => BaselineMode::jumped_at(at, self.context.source.stamp),
        }
    }

    fn write_fine(
        &self,
        writer: &mut SectionWriter<'_>,
        poses: &ViewerPoses,
        candidate: &PoseCandidate,
        history: &mut Vec<(GameTime, Pose)>,
    ) {
        let PoseContext { source, .. } = self.context;
        let is_confirmed = poses.history(
            candidate.slot,
            candidate.baseline,
            self.sent_datagrams,
            source.table,
            history,
        );
        let mode = if is_confirmed { self.mode(candidate) } else { BaselineMode::Absolute };
        if !is_confirmed {
            history.clear();
        }
        let pose = source.table.latest(candidate.pose_slot);
        writer.write_fine(
            candidate.slot,
            mode,
            source.format(candidate.pose_slot),
            history,
            source.stamp,
            pose,
        );
    }
}

impl PoseCandidate {
    fn max_bytes(&self, slot_bits: usize) -> usize {
        let bits = match self.baseline {
            _ if self.key.is_some() => self.bits_x256.div_ceil(256) as usize,
            Baseline::Window(_) => {
                FINE_FACTOR_PERCENT * self.bits_x256.div_ceil(256) as usize / 100
            }
            Baseline::Old(_) | Baseline::None | Baseline::Jumped(_) => MAX_FINE_BITS,
        };
        (slot_bits + bits).div_ceil(8)
    }

    /// Estimated cost of pose and mode.
    fn cost_bits_x256(&self) -> u32 {
        self.bits_x256
            + match self.baseline {
                Baseline::Window(_) => 0,
                Baseline::Old(_) | Baseline::None => MODE_BITS_X256,
                Baseline::Jumped(_) => MODE_BITS_X256 + JUMP_BITS_X256,
            }
    }
}

/// Estimated cost of a slot number in a section with `count` of `slots`: the fewer there are, the
/// larger the gaps, and the longer the numbers that encode them.
fn slot_bits_x256(slots: u64, count: u64) -> u32 {
    SLOT_BITS_X256
        + SPARSE_SLOT_BITS_X256 * slots.div_ceil(count.max(1)).next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::Alias;
    use ambit_proto::message::read_plain_poses;
    use ambit_proto::pose::{Motion, MotionFormat, PoseFormat, Turning};
    use ambit_proto::schema::{Codec, ComponentSpec, ObjectKind, Schema};
    use ambit_proto::space::Position;

    use super::*;
    use crate::network::replication::freshness::{FreshnessClass, FreshnessRates};
    use crate::network::replication::pose_source::PoseSource;
    use crate::network::replication::pose_table::PoseTable;
    use crate::network::replication::sent_datagrams::tests::TestDatagrams;
    use crate::network::replication::viewer_poses::CollectOptions;

    const YAW: PoseFormat =
        PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
    const OBJECTS: u16 = 200;

    #[test]
    fn no_section_is_too_long_and_each_pose_is_sent_once_or_stays_due() {
        for max_bytes in (0..400).step_by(7).chain([1_100]) {
            let mut objects = TestObjects::new();
            let (sent, left) = objects.tick(max_bytes, 1);
            assert!(
                objects.section.len() <= max_bytes,
                "{} of {max_bytes} bytes",
                objects.section.len()
            );
            let mut all = [sent.clone(), left].concat();
            all.sort_unstable();
            assert_eq!(all, (0..OBJECTS).collect::<Vec<_>>(), "{max_bytes} bytes");
            assert!(
                sent.len() * 12 >= max_bytes.saturating_sub(40)
                    || sent.len() == usize::from(OBJECTS),
                "{sent:?}"
            );
        }
    }

    #[test]
    fn no_fine_section_is_too_long_even_if_poses_jump() {
        let motion = Some(MotionFormat { linear: 128, angular: 64 });
        for format in
            [YAW, PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion }]
        {
            for seed in 0..40 {
                let mut objects = TestObjects {
                    level: Some(Level::Fine),
                    fine: Some(fastrand::Rng::with_seed(seed)),
                    format,
                    ..TestObjects::new()
                };
                let max_bytes = 60 + 30 * seed as usize;
                let mut sent_poses = 0;
                for tick in 1..60 {
                    if let Some(acked) = objects.sent_datagrams.next().checked_sub(4) {
                        objects.sent_datagrams.note_acked(acked);
                    }
                    let (sent, _) = objects.tick(max_bytes, tick);
                    assert!(
                        objects.section.len() <= max_bytes,
                        "{} of {max_bytes} bytes",
                        objects.section.len()
                    );
                    sent_poses += sent.len();
                }
                // A section that turned out too long is written again with fewer poses, and must
                // not come out nearly empty.
                assert!(sent_poses > 59, "{sent_poses} poses in 59 ticks of {max_bytes} bytes");
            }
        }
    }

    #[test]
    fn a_plain_section_is_full_and_each_pose_is_sent_once_or_stays_due() {
        let schema = Schema {
            kinds: vec![ObjectKind {
                components: vec![ComponentSpec::public("pose", Codec::Pose(YAW))],
                ..ObjectKind::default()
            }],
            ..Schema::default()
        };
        for max_bytes in (0..600).step_by(7).chain([1_100, 10_000]) {
            let mut objects = TestObjects { level: None, ..TestObjects::new() };
            let (sent, left) = objects.tick(max_bytes, 1);
            let bytes = objects.section.len();
            assert!(bytes <= max_bytes, "{bytes} of {max_bytes} bytes");
            let is_full = bytes + 20 > max_bytes || left.is_empty();
            assert!(is_full, "{bytes} of {max_bytes} bytes, {left:?} are left");
            let mut read = Vec::new();
            if !sent.is_empty() {
                read_plain_poses(&objects.section, &schema, &mut read).expect("the own section");
            }
            let read: Vec<u16> = read
                .iter()
                .map(|read| {
                    assert_eq!(read.pose, *objects.pose_table.latest(read.alias.slot.into()));
                    assert_eq!(read.alias, alias(read.alias.slot));
                    read.alias.slot
                })
                .collect();
            assert_eq!(read, sent);
            let mut all = [sent, left].concat();
            all.sort_unstable();
            assert_eq!(all, (0..OBJECTS).collect::<Vec<_>>(), "{max_bytes} bytes");
        }
    }

    #[test]
    fn engaged_objects_are_sent_each_tick_then_those_that_waited_longest() {
        let mut objects = TestObjects::new();
        for slot in [17, 90, 150] {
            objects.poses.engage(slot, GameTime::from_millis(1_000_000));
        }
        let mut last = [0; OBJECTS as usize];
        for tick in 1..200 {
            let (sent, _) = objects.tick(200, tick);
            assert!(
                [17, 90, 150].iter().all(|engaged| sent.contains(engaged)),
                "tick {tick}: {sent:?}"
            );
            for slot in sent {
                last[usize::from(slot)] = tick;
            }
        }
        assert!(last.iter().all(|&sent| sent > 160), "every object is sent again: {last:?}");
    }

    #[test]
    fn a_pose_that_does_not_fit_is_skipped_for_one_that_does() {
        let mut objects = TestObjects::new();
        // The client has a pose of all but the last object; the pose of the last one takes much
        // more.
        objects.tick(10_000, 1);
        objects.sent_datagrams.note_acked(0);
        objects.poses.follow(alias(OBJECTS - 1), u32::from(OBJECTS) - 1, true);
        let (sent, left) = objects.tick(MIN_SECTION_BYTES + 2, 2);
        assert!(!sent.is_empty() && left.contains(&(OBJECTS - 1)), "{sent:?}");
    }

    #[test]
    fn a_pose_that_loses_its_baseline_within_a_tick_waits_for_the_next() {
        let mut objects = TestObjects::new();
        objects.tick(10_000, 1);
        objects.sent_datagrams.note_acked(0);
        // Slices of a block are sent between the check of what is due and its datagram: enough to
        // move the baseline out of the window.
        objects.slices = 70;
        let (sent, left) = objects.tick(10_000, 2);
        assert!(sent.is_empty() && !left.is_empty() && objects.section.is_empty());
        objects.slices = 0;
        assert!(objects.tick(10_000, 3).0.len() >= left.len());
    }

    /// A pose within a kilometre, with any orientation and velocity.
    fn any_pose(rng: &mut fastrand::Rng, format: PoseFormat) -> Pose {
        let at = [(); 3].map(|()| rng.i32(..) >> rng.u8(8..32));
        let velocity = |rng: &mut fastrand::Rng| [(); 3].map(|()| rng.i16(..) >> rng.u8(..16));
        let moves = format.motion.is_some();
        let motion = if moves {
            Motion { linear: velocity(rng), angular: velocity(rng) }
        } else {
            Motion::default()
        };
        let turn = match format.turn {
            Turning::Fixed => [0; 4],
            Turning::Yaw { bits } => [rng.u16(..1 << bits), 0, 0, 0],
            Turning::Free { bits } => {
                [rng.u16(..4), rng.u16(..1 << bits), rng.u16(..1 << bits), rng.u16(..1 << bits)]
            }
        };
        Pose { at, turn, motion, ..Pose::default() }
    }

    fn alias(slot: u16) -> Alias {
        Alias { slot, epoch: 3 }
    }

    struct TestObjects {
        /// The format of all objects.
        format: PoseFormat,
        /// `None` for plain poses.
        level: Option<Level>,
        /// Set for the fine level, where any object may jump anywhere.
        fine: Option<fastrand::Rng>,
        /// Datagrams that are sent before the section is written.
        slices: u64,
        pose_table: PoseTable,
        sent_datagrams: TestDatagrams,
        poses: ViewerPoses,
        cache: CodedPoseCache,
        due: Vec<PoseCandidate>,
        buffers: SectionBuffers,
        section: Vec<u8>,
    }

    impl TestObjects {
        fn new() -> Self {
            let mut poses = ViewerPoses::default();
            for slot in 0..OBJECTS {
                poses.follow(alias(slot), slot.into(), false);
                poses.activate(slot);
            }
            let sent_datagrams = TestDatagrams::default();
            let cache = CodedPoseCache::default();
            let due = Vec::new();
            let buffers = SectionBuffers::default();
            let pose_table = PoseTable::default();
            let format = YAW;
            let fine = None;
            let section = Vec::new();
            TestObjects {
                format,
                level: Some(Level::Shared),
                fine,
                slices: 0,
                pose_table,
                sent_datagrams,
                poses,
                cache,
                due,
                buffers,
                section,
            }
        }

        /// Moves all objects and fills a section of at most `max_bytes`. Returns its slots and
        /// the slots that are still due.
        fn tick(&mut self, max_bytes: usize, tick: u64) -> (Vec<u16>, Vec<u16>) {
            let stamp = GameTime::from_millis(tick * 50);
            for slot in 0..u32::from(OBJECTS) {
                // All objects walk north and turn at each tick.
                let x = slot as f32;
                let heading = 1.2 + 0.05 * (tick % 12) as f32;
                let mut pose =
                    self.format.pose(Position::on_ground(x, 0.2 * tick as f32), heading, 4.0);
                if let Some(rng) = &mut self.fine
                    && rng.u8(..4) == 0
                {
                    pose = any_pose(rng, self.format);
                }
                if tick == 1 {
                    self.pose_table.insert(slot, 0, stamp, pose, [x, 0.0]);
                }
                self.pose_table.update(slot, stamp, pose, [x, 0.0]);
            }
            let rates = [FreshnessRates::of(&ObjectKind::default())];
            let source = PoseSource {
                table: &self.pose_table,
                formats: &[self.format],
                reckoned: &[],
                stamp,
                tick_hz: 20,
            };
            let context = PoseContext { source, rates: &rates, level: self.level };
            let options = CollectOptions {
                viewer_position_m: [0.0; 2],
                max_poses: usize::MAX,
                typical_bits_x256: if self.fine.is_some() { 100 * 256 } else { 0 },
                farthest: FreshnessClass::Far,
            };
            self.poses.collect(
                context,
                &mut self.cache,
                self.sent_datagrams.view(),
                options,
                &mut self.due,
            );
            let before: Vec<u16> = self.due.iter().map(|candidate| candidate.slot).collect();
            (0..self.slices).for_each(|_| self.sent_datagrams.note_sent(stamp, false));
            let section = SectionFiller {
                context,
                cache: &self.cache,
                sent_datagrams: self.sent_datagrams.view(),
                own_slot: None,
                viewer_position_m: [0.0; 2],
                max_bytes,
            };
            let stats =
                section.fill(&mut self.poses, &mut self.due, &mut self.buffers, &mut self.section);
            self.sent_datagrams.note_sent(stamp, stats.poses > 0);
            let left: Vec<u16> = self.due.iter().map(|candidate| candidate.slot).collect();
            let sent: Vec<u16> = before.into_iter().filter(|slot| !left.contains(slot)).collect();
            assert_eq!(sent.len(), stats.poses as usize);
            (sent, left)
        }
    }
}
