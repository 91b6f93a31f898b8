//! The pose section of one client's datagram.
//!
//! What is due ([`Candidate`]s) and how many bytes there are go in; the section's bytes come out,
//! and what did not fit stays due. While all fit, nobody asks what is worth most; when not, what
//! has waited longest for its class goes first, and what does not fit is skipped for the next that
//! does.
//!
//! Invariants: slots ascend in a section; no section is longer than it may be; an object stands in
//! one section a tick at most.

use ambit_proto::pose::{self, Level, Mode, Pose, PoseFormat, SectionHeader, SectionWriter};
use ambit_proto::time::GameTime;
use ambit_proto::wire::Measure;

use super::coded_poses::CodedPoseCache;
use super::sent_datagrams::SentDatagrams;
use super::viewer_poses::{Baseline, PoseCandidate, PoseContext, ViewerPoses, sort_by_priority};

/// Header and end of a section, in bytes, at most.
const FRAME_BYTES: usize = 9;
/// About what a slot takes on top of a pose where nearly all slots are there, in 1/256 bits, and
/// for each doubling of the distance to the next one that is.
const SLOT_BITS_X256: u32 = 5 * 128;
const SPARSE_SLOT_BITS_X256: u32 = 3 * 128;
/// What a mode takes that is not the usual one, in 1/256 bits.
const MODE_BITS_X256: u32 = 13 * 128;
/// What the writer may hold back, being careful, where there is room by these figures.
const SAFETY_MARGIN_X256: u64 = 16 * 256;
/// Room that a pose without a near base must find at the fine level, in bits. What comes out longer
/// makes the section be written again with less.
const MAX_FINE_BITS: usize = 320;
/// Room that any other pose must find there, in hundredths of what poses typically take.
const FINE_FACTOR_PERCENT: usize = 150;
/// What names the reference, at most.
const MAX_REFERENCE_BITS: usize = 32;
/// A section with less than that is not worth its header.
const MIN_SECTION_BYTES: usize = FRAME_BYTES + 8;
/// Poses that don't fit before nobody looks for smaller ones any more.
const MAX_MISSES: usize = 8;

/// What one section came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionStats {
    /// Poses that it carries.
    pub poses: u32,
    /// What they take without slots and header, in 1/256 bits; 0 at the fine level, where nobody
    /// knows.
    pub content_bits_x256: u64,
    /// Its header, in bits.
    pub header_bits: usize,
    /// All its bytes.
    pub bytes: usize,
}

/// The buffers that all clients share.
#[derive(Debug, Default)]
pub struct SectionBuffers {
    chosen: Vec<PoseCandidate>,
    skipped: Vec<PoseCandidate>,
    written: Vec<PoseCandidate>,
    history: Vec<(GameTime, Pose)>,
    fine_scene: pose::fine::Scene,
}

/// What is written, and for whom.
pub struct SectionFiller<'s> {
    /// The room's state.
    pub context: PoseContext<'s>,
    /// The coded poses.
    pub cache: &'s CodedPoseCache,
    /// What the client is known to have.
    pub sent_datagrams: &'s SentDatagrams,
    /// The slot of the client's avatar.
    pub own_slot: Option<u16>,
    /// Where the client's avatar is.
    pub viewer_position_m: [f32; 2],
    /// How long it may be.
    pub max_bytes: usize,
}

impl SectionFiller<'_> {
    /// Replaces `out` by a section with as many of `due` as fit, and takes those off the list.
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
        let (number, window) = (self.sent_datagrams.next(), self.sent_datagrams.window());
        // What has lost its base within this tick is looked at again at the next one.
        let holds = |candidate: &mut PoseCandidate| {
            poses.is_baseline_valid(
                candidate.slot,
                candidate.baseline,
                window,
                self.sent_datagrams,
            )
        };
        buffers
            .skipped
            .extend(buffers.chosen.extract_if(.., |candidate| !holds(candidate)));
        let mut filled = self.write(poses, buffers, out);
        let mut fewer = 1;
        // Nobody knows what adaptive contexts make of a pose before it is written: then it is done
        // again with fewer.
        while out.len() > self.max_bytes {
            self.drop_least_important(poses, fewer, out.len(), buffers);
            filled = self.write(poses, buffers, out);
            fewer *= 2;
        }
        for candidate in buffers.written.drain(..) {
            poses.note_sent(candidate.slot, number, self.context.source.stamp);
        }
        due.append(&mut buffers.skipped);
        due.sort_unstable_by_key(|candidate| candidate.slot);
        if filled.poses == 0 {
            out.clear();
            return SectionStats::default();
        }
        SectionStats {
            bytes: out.len(),
            ..filled
        }
    }

    /// Replaces `out` by a section with what was chosen, as far as it seems to fit: that is moved
    /// to `written`.
    fn write(
        &self,
        poses: &ViewerPoses,
        buffers: &mut SectionBuffers,
        out: &mut Vec<u8>,
    ) -> SectionStats {
        out.clear();
        let SectionBuffers {
            chosen,
            skipped,
            written,
            history,
            fine_scene: scene,
        } = buffers;
        if chosen.is_empty() {
            return SectionStats::default();
        }
        let acked = self
            .sent_datagrams
            .window()
            .map(|window| window.acked_set());
        let level = if self.context.is_shared_level {
            Level::Shared
        } else {
            Level::Fine
        };
        let mut header = SectionHeader::new(level, self.sent_datagrams.next(), acked);
        let mut measure = Measure::new();
        header
            .wire(&mut measure)
            .expect("a measure refuses nothing");
        let mut filled = SectionStats {
            header_bits: measure.bits(),
            ..SectionStats::default()
        };
        let mut writer = SectionWriter::with_scene(out, &header, scene);
        if level == Level::Fine {
            self.write_reference(&mut writer, poses, chosen, history, written);
        }
        for candidate in chosen.drain(..) {
            let place_bits =
                writer.place_bits_at_most(candidate.slot, baseline_mode(candidate.baseline));
            if writer.bytes() + candidate.max_bytes(place_bits) > self.max_bytes {
                skipped.push(candidate);
                continue;
            }
            match candidate.key {
                Some(key) => {
                    let coded = self.cache.coded(key);
                    writer.shared(candidate.slot, baseline_mode(candidate.baseline), coded);
                    filled.content_bits_x256 += u64::from(coded.bits_x256());
                }
                None => self.write_fine(&mut writer, poses, &candidate, history),
            }
            written.push(candidate);
        }
        writer.finish();
        filled.poses = written.len() as u32;
        filled
    }

    /// Chooses those that were written once more, but for those that are worth least: as many as
    /// make up for what is too long.
    fn drop_least_important(
        &self,
        poses: &ViewerPoses,
        least: usize,
        bytes: usize,
        buffers: &mut SectionBuffers,
    ) {
        let SectionBuffers {
            chosen,
            skipped,
            written,
            ..
        } = buffers;
        let too_many = (written.len() * (bytes - self.max_bytes))
            .div_ceil(bytes)
            .max(least)
            .min(written.len());
        poses.prioritise(self.context, self.viewer_position_m, written);
        sort_by_priority(written);
        skipped.extend(written.drain(..too_many));
        chosen.append(written);
        chosen.sort_unstable_by_key(|candidate| candidate.slot);
    }

    /// Moves what is to go out from `due` to `chosen`, in ascending order of slots.
    fn choose_candidates(
        &self,
        poses: &ViewerPoses,
        due: &mut Vec<PoseCandidate>,
        buffers: &mut SectionBuffers,
    ) {
        let budget_x256 = ((self.max_bytes - FRAME_BYTES) * 8 * 256) as u64;
        let slots = due.last().map_or(0, |last| u64::from(last.slot) + 1);
        let count = due.len() as u64;
        let all = due
            .iter()
            .map(|candidate| u64::from(candidate.cost_bits_x256()))
            .sum::<u64>();
        let all = all + count * u64::from(slot_bits_x256(slots, count));
        if all <= budget_x256 {
            std::mem::swap(due, &mut buffers.chosen);
            return;
        }
        let slot_bits_x256 = slot_bits_x256(slots, count * budget_x256 / all);
        poses.prioritise(self.context, self.viewer_position_m, due);
        sort_by_priority(due);
        let (mut left, mut misses) = (budget_x256.saturating_sub(SAFETY_MARGIN_X256), 0);
        while misses < MAX_MISSES
            && let Some(candidate) = due.pop()
        {
            let cost = u64::from(candidate.cost_bits_x256() + slot_bits_x256);
            if let Some(rest) = left.checked_sub(cost) {
                left = rest;
                buffers.chosen.push(candidate);
            } else {
                misses += 1;
                buffers.skipped.push(candidate);
            }
        }
        buffers
            .chosen
            .sort_unstable_by_key(|candidate| candidate.slot);
    }

    /// What others move with goes first: the avatar, if it is told relative to a pose that the
    /// client has.
    fn write_reference(
        &self,
        writer: &mut SectionWriter<'_>,
        poses: &ViewerPoses,
        chosen: &mut Vec<PoseCandidate>,
        history: &mut Vec<(GameTime, Pose)>,
        written: &mut Vec<PoseCandidate>,
    ) {
        let Some(index) = chosen
            .iter()
            .position(|candidate| Some(candidate.slot) == self.own_slot)
        else {
            return;
        };
        let candidate = chosen[index];
        let PoseContext { source, .. } = self.context;
        let room = writer.bytes() + candidate.max_bytes(MAX_REFERENCE_BITS) <= self.max_bytes;
        let in_window = room && baseline_mode(candidate.baseline) == Mode::DatagramWindow;
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
            writer.reference(
                candidate.slot,
                self.format(&candidate),
                history,
                source.stamp,
                pose,
            );
            chosen.remove(index);
            written.push(candidate);
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
        let mode = if is_confirmed {
            baseline_mode(candidate.baseline)
        } else {
            Mode::Absolute
        };
        if !is_confirmed {
            history.clear();
        }
        let pose = source.table.latest(candidate.pose_slot);
        writer.fine(
            candidate.slot,
            mode,
            self.format(candidate),
            history,
            source.stamp,
            pose,
        );
    }

    fn format(&self, candidate: &PoseCandidate) -> &PoseFormat {
        let source = self.context.source;
        &source.formats[usize::from(source.table.kind(candidate.pose_slot))]
    }
}

impl PoseCandidate {
    fn max_bytes(&self, place_bits: usize) -> usize {
        let bits = match self.baseline {
            _ if self.key.is_some() => self.bits_x256.div_ceil(256) as usize,
            Baseline::DatagramWindow(_) => {
                FINE_FACTOR_PERCENT * self.bits_x256.div_ceil(256) as usize / 100
            }
            Baseline::Old(_) | Baseline::None => MAX_FINE_BITS,
        };
        (place_bits + bits).div_ceil(8)
    }

    /// Pose and mode.
    fn cost_bits_x256(&self) -> u32 {
        self.bits_x256
            + if baseline_mode(self.baseline) == Mode::DatagramWindow {
                0
            } else {
                MODE_BITS_X256
            }
    }
}

/// About what a slot takes in a section of so many of `slots`: the fewer there are, the farther
/// apart they are, and the longer are the numbers that say so.
fn slot_bits_x256(slots: u64, count: u64) -> u32 {
    SLOT_BITS_X256
        + SPARSE_SLOT_BITS_X256 * slots.div_ceil(count.max(1)).next_power_of_two().ilog2()
}

fn baseline_mode(base: Baseline) -> Mode {
    match base {
        Baseline::DatagramWindow(_) => Mode::DatagramWindow,
        Baseline::Old(_) => Mode::Old,
        Baseline::None => Mode::Absolute,
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::pose::{Motion, MotionFormat, Turning};
    use ambit_proto::schema::{Freshness, PosePresentation};
    use ambit_proto::space::Position;

    use super::*;
    use crate::network::replication::coded_poses::PoseSource;
    use crate::network::replication::freshness::FreshnessRates;
    use crate::network::replication::pose_table::PoseTable;
    use crate::network::replication::viewer_poses::CollectOptions;

    const YAW: PoseFormat = PoseFormat {
        per_metre: 100,
        turn: Turning::Yaw { bits: 8 },
        motion: None,
    };
    const OBJECTS: u16 = 200;

    #[test]
    fn no_section_is_too_long_and_each_pose_is_sent_once_or_stays_due() {
        for most_bytes in (0..400).step_by(7).chain([1_100]) {
            let mut crowd = TestObjects::new();
            let (sent, left) = crowd.tick(most_bytes, 1);
            assert!(
                crowd.section.len() <= most_bytes,
                "{} of {most_bytes} bytes",
                crowd.section.len()
            );
            let mut all = [sent.clone(), left].concat();
            all.sort_unstable();
            assert_eq!(all, (0..OBJECTS).collect::<Vec<_>>(), "{most_bytes} bytes");
            assert!(
                sent.len() * 12 >= most_bytes.saturating_sub(40)
                    || sent.len() == usize::from(OBJECTS),
                "{sent:?}"
            );
        }
    }

    #[test]
    fn no_fine_section_is_too_long_whatever_jumps() {
        let motion = Some(MotionFormat {
            linear: 128,
            angular: 64,
        });
        for format in [
            YAW,
            PoseFormat {
                per_metre: 4_096,
                turn: Turning::Free { bits: 15 },
                motion,
            },
        ] {
            for seed in 0..40 {
                let mut crowd = TestObjects {
                    fine: Some(fastrand::Rng::with_seed(seed)),
                    format,
                    ..TestObjects::new()
                };
                let most_bytes = 60 + 30 * seed as usize;
                let mut told = 0;
                for tick in 1..60 {
                    if let Some(acked) = crowd.numbers.next().checked_sub(4) {
                        crowd.numbers.note_acked(acked);
                    }
                    let (sent, _) = crowd.tick(most_bytes, tick);
                    assert!(
                        crowd.section.len() <= most_bytes,
                        "{} of {most_bytes} bytes",
                        crowd.section.len()
                    );
                    told += sent.len();
                }
                // What came out too long is written again with less, and must not come out nearly
                // empty.
                assert!(told > 59, "{told} poses in 59 ticks of {most_bytes} bytes");
            }
        }
    }

    #[test]
    fn engaged_objects_are_sent_each_tick_then_those_that_waited_longest() {
        let mut crowd = TestObjects::new();
        for slot in [17, 90, 150] {
            crowd.poses.engage(slot, GameTime::from_millis(1_000_000));
        }
        let mut last = [0; OBJECTS as usize];
        for tick in 1..200 {
            let (sent, _) = crowd.tick(200, tick);
            assert!(
                [17, 90, 150].iter().all(|engaged| sent.contains(engaged)),
                "tick {tick}: {sent:?}"
            );
            for slot in sent {
                last[usize::from(slot)] = tick;
            }
        }
        assert!(
            last.iter().all(|&sent| sent > 160),
            "nothing is forgotten: {last:?}"
        );
    }

    #[test]
    fn a_pose_that_does_not_fit_is_skipped_for_one_that_does() {
        let mut crowd = TestObjects::new();
        // Of all but the last, the client knows a pose: the last one takes much more.
        crowd.tick(10_000, 1);
        crowd.numbers.note_acked(0);
        crowd
            .poses
            .follow(OBJECTS - 1, u32::from(OBJECTS) - 1, true);
        let (sent, left) = crowd.tick(MIN_SECTION_BYTES + 2, 2);
        assert!(
            !sent.is_empty() && left.contains(&(OBJECTS - 1)),
            "{sent:?}"
        );
    }

    #[test]
    fn a_pose_that_loses_its_baseline_within_a_tick_waits_for_the_next() {
        let mut crowd = TestObjects::new();
        crowd.tick(10_000, 1);
        crowd.numbers.note_acked(0);
        // SliceSet of a block go out between the look at what is due and its datagram, so many that
        // the base is out of sight.
        crowd.slices = 70;
        let (sent, left) = crowd.tick(10_000, 2);
        assert!(sent.is_empty() && !left.is_empty() && crowd.section.is_empty());
        crowd.slices = 0;
        assert!(crowd.tick(10_000, 3).0.len() >= left.len());
    }

    /// Anywhere within a kilometre, turned and moving in any way.
    fn any_pose(rng: &mut fastrand::Rng, format: PoseFormat) -> Pose {
        let at = [(); 3].map(|()| rng.i32(..) >> rng.u8(8..32));
        let velocity = |rng: &mut fastrand::Rng| [(); 3].map(|()| rng.i16(..) >> rng.u8(..16));
        let moves = format.motion.is_some();
        let motion = if moves {
            Motion {
                linear: velocity(rng),
                angular: velocity(rng),
            }
        } else {
            Motion::default()
        };
        let turn = match format.turn {
            Turning::Fixed => [0; 4],
            Turning::Yaw { bits } => [rng.u16(..1 << bits), 0, 0, 0],
            Turning::Free { bits } => [
                rng.u16(..4),
                rng.u16(..1 << bits),
                rng.u16(..1 << bits),
                rng.u16(..1 << bits),
            ],
        };
        Pose {
            at,
            turn,
            motion,
            ..Pose::default()
        }
    }

    struct TestObjects {
        /// Of all kinds.
        format: PoseFormat,
        /// At the fine level, and anything may jump anywhere.
        fine: Option<fastrand::Rng>,
        /// Datagrams that leave before the section is written.
        slices: u64,
        book: PoseTable,
        numbers: SentDatagrams,
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
                poses.follow(slot, slot.into(), false);
                poses.activate(slot);
            }
            let (numbers, cache, due, buffers) = (
                SentDatagrams::default(),
                CodedPoseCache::default(),
                Vec::new(),
                SectionBuffers::default(),
            );
            let book = PoseTable::default();
            let (format, fine, section) = (YAW, None, Vec::new());
            TestObjects {
                format,
                fine,
                slices: 0,
                book,
                numbers,
                poses,
                cache,
                due,
                buffers,
                section,
            }
        }

        /// All have moved; which slots are in a section of so many bytes, and which are not.
        fn tick(&mut self, most_bytes: usize, tick: u64) -> (Vec<u16>, Vec<u16>) {
            let stamp = GameTime::from_millis(tick * 50);
            for slot in 0..u32::from(OBJECTS) {
                // All walk north and look about more and more.
                let (x, heading) = (slot as f32, 1.2 + 0.05 * (tick % 12) as f32);
                let mut pose =
                    self.format
                        .pose(Position::on_ground(x, 0.2 * tick as f32), heading, 4.0);
                if let Some(rng) = &mut self.fine
                    && rng.u8(..4) == 0
                {
                    pose = any_pose(rng, self.format);
                }
                if tick == 1 {
                    self.book.insert(slot, 0, stamp, pose, [x, 0.0]);
                }
                self.book.update(slot, stamp, pose, [x, 0.0]);
            }
            let rates = [FreshnessRates::of(
                &Freshness::default(),
                PosePresentation::Interpolated,
            )];
            let source = PoseSource {
                table: &self.book,
                formats: &[self.format],
                stamp,
                tick_hz: 20,
            };
            let scene = PoseContext {
                source,
                rates: &rates,
                is_shared_level: self.fine.is_none(),
            };
            let look = CollectOptions {
                viewer_position_m: [0.0; 2],
                max_poses: usize::MAX,
                typical_bits_x256: if self.fine.is_some() { 100 * 256 } else { 0 },
            };
            self.poses
                .collect(scene, &mut self.cache, &self.numbers, look, &mut self.due);
            let before: Vec<u16> = self.due.iter().map(|candidate| candidate.slot).collect();
            (0..self.slices).for_each(|_| self.numbers.note_sent(stamp, false));
            let section = SectionFiller {
                context: scene,
                cache: &self.cache,
                sent_datagrams: &self.numbers,
                own_slot: None,
                viewer_position_m: [0.0; 2],
                max_bytes: most_bytes,
            };
            let filled = section.fill(
                &mut self.poses,
                &mut self.due,
                &mut self.buffers,
                &mut self.section,
            );
            self.numbers.note_sent(stamp, filled.poses > 0);
            let left: Vec<u16> = self.due.iter().map(|candidate| candidate.slot).collect();
            let sent: Vec<u16> = before
                .into_iter()
                .filter(|slot| !left.contains(slot))
                .collect();
            assert_eq!(sent.len(), filled.poses as usize);
            (sent, left)
        }
    }
}
