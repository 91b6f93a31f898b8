//! Which poses are due for one client, and against which baseline each is coded.
//!
//! What the client follows goes in ([`ViewerPoses::follow`], [`ViewerPoses::activate`],
//! [`ViewerPoses::unfollow`]), and what it was sent ([`ViewerPoses::note_sent`]).
//! [`ViewerPoses::collect`] returns the poses that are due at a tick, each with the baseline that
//! the client is known to have. If not all fit, `pose_section` chooses by their priorities
//! ([`ViewerPoses::prioritise`]).
//!
//! The pose of an active object is sent at each tick, unless the client extrapolates it well
//! enough; after that, until the client is known to have the pose at rest.
//!
//! Invariants:
//! 1. A pose is sent only for an object whose `Enter` was acknowledged.
//! 2. A baseline is a pose that the client has acknowledged, and both ends find the same one: the
//!    newest in the window; or the last one that was ever sent, if that was acknowledged before the
//!    window began; or none.
//! 3. An object leaves the active set only when the client is known to have its present pose.
//!
//! There is no look-up by id, and nothing is allocated: a tick goes through two arrays by slot. An
//! acknowledgement costs nothing here: the datagrams that carried an object are a mask, and the
//! window is one too. Cost: the active objects.

use std::cmp::Ordering;

use ambit_proto::ids::Alias;
use ambit_proto::message::PlainPose;
use ambit_proto::pose::{Level, Pose, jump_age_ms};
use ambit_proto::time::GameTime;

use super::coded_poses::{CacheKey, CodedPoseCache};
use super::freshness::FreshnessClass;
use super::pose_at_client::PoseAtClient;
use super::pose_source::PoseSource;
use super::pose_table::PoseTable;
use super::pose_track::{PoseStatus, PoseTrack};
use super::sent_datagrams::SentDatagrams;

pub use super::pose_track::{Baseline, PoseContext};

/// The poses of the objects that one client follows, by slot.
#[derive(Debug, Default)]
pub struct ViewerPoses {
    tracks: Vec<PoseTrack>,
    /// The active set, one bit for each slot: checked at each tick.
    active: Vec<u64>,
    /// One bit for each slot whose object is in the class [`FreshnessClass::Engaged`]. Bits of
    /// slots that are not followed mean nothing.
    close: Vec<u64>,
    /// Slots of the objects that the player is engaged with, and until when; see
    /// [`ViewerPoses::engage`].
    engaged: Vec<(GameTime, u16)>,
}

/// A pose that is due.
#[derive(Clone, Copy, Debug)]
pub struct PoseCandidate {
    /// Slot of the object at this client.
    pub slot: u16,
    /// Epoch of the object at this client.
    epoch: u8,
    /// Slot of the pose in the pose table.
    pub pose_slot: u32,
    /// The pose against which it is coded.
    pub baseline: Baseline,
    /// The coded pose at the shared level; else `None`.
    pub key: Option<CacheKey>,
    /// Size or estimated size of the pose, in 1/256 bits; of a plain pose with its object's alias.
    pub bits_x256: u32,
    /// Whether the pose changed at this tick.
    changed_now: bool,
    /// Since when the client got nothing newer, as far as is known.
    stale_since: GameTime,
    /// Computed only if not all poses fit.
    priority: f32,
}

/// How to collect the poses of one client.
#[derive(Clone, Copy, Debug)]
pub struct CollectOptions {
    /// Position of its avatar on the ground, in metres.
    pub viewer_position_m: [f32; 2],
    /// How many poses to code at most, those of the highest priority: no more of them can be sent.
    pub max_poses: usize,
    /// Assumed size of a pose at the fine level, where it is not known before it is written, in
    /// 1/256 bits.
    pub typical_bits_x256: u32,
    /// The least important class to send. Less than all of them while the room is late.
    pub farthest: FreshnessClass,
}

/// Changed poses that are not among the candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedPoses {
    /// Left out because the client extrapolates them well enough.
    pub extrapolated: usize,
    /// Left out because there are too many.
    pub deferred: usize,
}

/// Makes room for the next slot of a client, and some more. Doubled, as vectors do it, a third of
/// a crowd's slots would be empty.
pub(super) fn grow_slowly<T>(slots: &mut Vec<T>) {
    if slots.len() == slots.capacity() {
        slots.reserve_exact(8.max(slots.len() / 8));
    }
}

impl ViewerPoses {
    /// The client follows an object with a pose from now on, under this alias.
    pub fn follow(&mut self, alias: Alias, pose_slot: u32, close: bool) {
        let index = usize::from(alias.slot);
        if self.tracks.len() <= index {
            while self.tracks.len() <= index {
                grow_slowly(&mut self.tracks);
                self.tracks.push(PoseTrack::new(0, 0, false));
            }
            self.active.resize(index / 64 + 1, 0);
            self.close.resize(index / 64 + 1, 0);
        }
        self.tracks[index] = PoseTrack::new(pose_slot, alias.epoch, close);
        self.update_close(alias.slot);
    }

    /// The client does not follow the object any more.
    pub fn unfollow(&mut self, slot: u16) {
        self.deactivate(slot);
        self.engaged.retain(|&(_, engaged)| engaged != slot);
    }

    /// Adds an object to the active set: the client has it now, or its pose begins to change. Its
    /// pose is sent until the client is known to have it.
    pub fn activate(&mut self, slot: u16) {
        self.active[usize::from(slot) / 64] |= 1 << (slot % 64);
    }

    /// What the client has of the pose in a slot, for a viewer there.
    pub fn at_client(
        &self,
        slot: u16,
        context: PoseContext<'_>,
        viewer: [f32; 2],
    ) -> Option<PoseAtClient> {
        Some(self.tracks.get(usize::from(slot))?.at_client(context, viewer))
    }

    /// The class of the object in a slot, for a viewer there.
    pub fn class(&self, slot: u16, context: PoseContext<'_>, viewer: [f32; 2]) -> FreshnessClass {
        self.tracks[usize::from(slot)].class(context, viewer)
    }

    /// The number of objects whose poses change, or are not acknowledged yet.
    pub fn active_count(&self) -> usize {
        self.active.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Gives the object the most urgent class until then: it is the player's target or attacker.
    pub fn engage(&mut self, slot: u16, until: GameTime) {
        // An object without a pose has no track.
        let Some(track) = self.tracks.get_mut(usize::from(slot)) else {
            return;
        };
        track.engaged = true;
        set_bit(&mut self.close, slot, true);
        match self.engaged.iter_mut().find(|(_, engaged)| *engaged == slot) {
            Some((before, _)) => *before = until.max(*before),
            None => self.engaged.push((until, slot)),
        }
    }

    /// Sets whether an object belongs to the player or the player's team.
    pub fn set_ally(&mut self, slot: u16, close: bool) {
        self.tracks[usize::from(slot)].is_ally = close;
        self.update_close(slot);
    }

    /// Notes that a datagram carries the pose: in its pose section, or in an `Enter`.
    pub fn note_sent(&mut self, slot: u16, number: u64, stamp: GameTime) {
        self.tracks[usize::from(slot)].note_sent(number, stamp);
    }

    /// Replaces `due` by the poses to send at this tick, in ascending order of slots, with their
    /// sizes.
    pub fn collect(
        &mut self,
        context: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        sent_datagrams: SentDatagrams<'_>,
        options: CollectOptions,
        due: &mut Vec<PoseCandidate>,
    ) -> OmittedPoses {
        self.disengage(context.source.stamp);
        self.collect_changed(context, sent_datagrams, options, due);
        let deferred = due.len().saturating_sub(options.max_poses);
        if deferred > 0 {
            self.prioritise(context, options.viewer_position_m, due);
            due.select_nth_unstable_by(options.max_poses, |a, b| b.cmp_priority(a));
            due.truncate(options.max_poses);
            due.sort_unstable_by_key(|candidate| candidate.slot);
        }
        let changed = due.len();
        due.retain_mut(|candidate| {
            self.encode_candidate(context, cache, sent_datagrams, options, candidate)
        });
        OmittedPoses { extrapolated: changed - due.len(), deferred }
    }

    /// Collects the poses with changes to send, in ascending order of slots.
    fn collect_changed(
        &mut self,
        context: PoseContext<'_>,
        sent_datagrams: SentDatagrams<'_>,
        options: CollectOptions,
        due: &mut Vec<PoseCandidate>,
    ) {
        due.clear();
        for word in 0..self.active.len() {
            let mut left = self.active[word];
            if options.farthest == FreshnessClass::Engaged {
                left &= self.close[word];
            }
            while left != 0 {
                let slot = (word * 64) as u16 + left.trailing_zeros() as u16;
                left &= left - 1;
                let track = &mut self.tracks[usize::from(slot)];
                if options.farthest == FreshnessClass::Near
                    && track.class(context, options.viewer_position_m) > options.farthest
                {
                    continue;
                }
                match track.status(context.source, sent_datagrams) {
                    PoseStatus::Settled => self.active[word] &= !(1 << (slot % 64)),
                    PoseStatus::InFlight => {}
                    PoseStatus::Due { baseline, changed_now, stale_since } => {
                        let pose_slot = track.pose_slot;
                        let key = None;
                        let bits_x256 = 0;
                        let priority = 0.0;
                        due.push(PoseCandidate {
                            slot,
                            epoch: track.epoch,
                            pose_slot,
                            baseline,
                            key,
                            bits_x256,
                            changed_now,
                            stale_since,
                            priority,
                        });
                    }
                }
            }
        }
    }

    /// Codes a pose, or estimates its size. Returns false when the client extrapolates it well
    /// enough.
    fn encode_candidate(
        &self,
        context: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        sent_datagrams: SentDatagrams<'_>,
        options: CollectOptions,
        candidate: &mut PoseCandidate,
    ) -> bool {
        let Some(level) = context.level else {
            return self.measure_plain(context, cache, sent_datagrams, options, candidate);
        };
        let track = &self.tracks[usize::from(candidate.slot)];
        candidate.baseline = track.unless_jumped(candidate.baseline, context.source);
        let against = match candidate.baseline {
            Baseline::Window(stamp) | Baseline::Old(stamp) => {
                cache.coded_against(context.source, track.pose_slot, stamp).zip(Some(stamp))
            }
            Baseline::None | Baseline::Jumped(_) => None,
        };
        if let Some((key, baseline)) = against {
            let known = (baseline, cache.error(key));
            if candidate.changed_now
                && track.is_extrapolated(
                    context,
                    cache,
                    sent_datagrams,
                    known,
                    options.viewer_position_m,
                )
            {
                return false;
            }
            candidate.key = Some(key);
        } else {
            // There is no baseline, or it is not in the pose table any more: send absolute values.
            candidate.baseline = candidate.baseline.without_pose();
            candidate.key = (level == Level::Shared)
                .then(|| cache.coded_absolute(context.source, track.pose_slot));
        }
        candidate.key = candidate.key.filter(|_| level == Level::Shared);
        candidate.bits_x256 =
            candidate.key.map_or(options.typical_bits_x256, |key| cache.coded(key).bits_x256());
        true
    }

    /// As [`ViewerPoses::encode_candidate`], for a client that gets whole poses. Its
    /// acknowledgements serve to know what it extrapolates, and whether it has a pose at rest.
    fn measure_plain(
        &self,
        context: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        sent_datagrams: SentDatagrams<'_>,
        options: CollectOptions,
        candidate: &mut PoseCandidate,
    ) -> bool {
        let source = context.source;
        let track = &self.tracks[usize::from(candidate.slot)];
        let baseline = track.unless_jumped(candidate.baseline, source);
        candidate.baseline = baseline.without_pose();
        if candidate.changed_now
            && let Baseline::Window(stamp) | Baseline::Old(stamp) = baseline
            && let Some(error) = cache.error_against(source, track.pose_slot, stamp)
            && track.is_extrapolated(
                context,
                cache,
                sent_datagrams,
                (stamp, error),
                options.viewer_position_m,
            )
        {
            return false;
        }
        let bits = candidate.plain_pose(source).bits(source.format(track.pose_slot));
        candidate.bits_x256 = 256 * bits as u32;
        true
    }

    /// Computes the priority of each of `due`.
    pub fn prioritise(
        &self,
        context: PoseContext<'_>,
        viewer: [f32; 2],
        due: &mut [PoseCandidate],
    ) {
        for candidate in due {
            candidate.priority = self.tracks[usize::from(candidate.slot)].priority(
                context,
                viewer,
                candidate.stale_since,
                candidate.changed_now,
            );
        }
    }

    /// Whether the baseline that was found at the beginning of the tick is still valid: each
    /// datagram that is sent may push the oldest one out of the window.
    pub fn is_baseline_valid(
        &self,
        slot: u16,
        baseline: Baseline,
        sent_datagrams: SentDatagrams<'_>,
    ) -> bool {
        let window = sent_datagrams.window();
        let Baseline::Window(stamp) = baseline else {
            return matches!(baseline, Baseline::None | Baseline::Jumped(_)) || window.is_some();
        };
        let acked = window.map_or(0, |window| self.tracks[usize::from(slot)].acked_mask(window));
        window.is_some_and(|window| {
            acked != 0
                && sent_datagrams.stamp(window.newest - u64::from(acked.trailing_zeros())) == stamp
        })
    }

    /// Replaces `out` by the poses of a slot that both ends know, the newest first. Returns false
    /// when the pose table has lost one of them, so that the ends would not agree.
    pub fn history(
        &self,
        slot: u16,
        baseline: Baseline,
        sent_datagrams: SentDatagrams<'_>,
        table: &PoseTable,
        out: &mut Vec<(GameTime, Pose)>,
    ) -> bool {
        out.clear();
        let track = &self.tracks[usize::from(slot)];
        let mut add = |stamp| {
            let pose = table.at(track.pose_slot, stamp);
            out.extend(pose.map(|pose| (stamp, *pose)));
            pose.is_some()
        };
        match (baseline, sent_datagrams.window()) {
            (Baseline::Old(stamp), _) => add(stamp),
            (Baseline::Window(_), Some(window)) => {
                let mut acked = track.acked_mask(window);
                while acked != 0 {
                    if !add(sent_datagrams.stamp(window.newest - u64::from(acked.trailing_zeros())))
                    {
                        return false;
                    }
                    acked &= acked - 1;
                }
                true
            }
            _ => true,
        }
    }

    fn deactivate(&mut self, slot: u16) {
        if let Some(word) = self.active.get_mut(usize::from(slot) / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    fn disengage(&mut self, now: GameTime) {
        let ViewerPoses { engaged, tracks, close, .. } = self;
        engaged.retain(|&(until, slot)| {
            let track = &mut tracks[usize::from(slot)];
            track.engaged = until > now;
            set_bit(close, slot, track.is_close());
            until > now
        });
    }

    fn update_close(&mut self, slot: u16) {
        let is_close = self.tracks[usize::from(slot)].is_close();
        set_bit(&mut self.close, slot, is_close);
    }
}

impl Baseline {
    /// No baseline, and why.
    fn without_pose(self) -> Self {
        match self {
            Self::Window(_) | Self::Old(_) | Self::None => Self::None,
            Self::Jumped(_) => self,
        }
    }
}

impl PoseCandidate {
    /// The pose as a plain section has it.
    pub fn plain_pose(&self, source: PoseSource<'_>) -> PlainPose {
        PlainPose {
            alias: Alias { slot: self.slot, epoch: self.epoch },
            kind: source.table.kind(self.pose_slot),
            pose: *source.table.latest(self.pose_slot),
            jumped_ms: match self.baseline {
                Baseline::Jumped(at) => Some(jump_age_ms(at, source.stamp)),
                Baseline::Window(_) | Baseline::Old(_) | Baseline::None => None,
            },
        }
    }

    /// Compares by priority; of two equal ones, the lower slot has the higher priority.
    fn cmp_priority(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority).then(other.slot.cmp(&self.slot))
    }
}

fn set_bit(bits: &mut [u64], slot: u16, value: bool) {
    let bit = 1 << (slot % 64);
    let word = &mut bits[usize::from(slot) / 64];
    *word = if value { *word | bit } else { *word & !bit };
}

/// Sorts `due` by priority, the highest last: a section pops from the end.
pub fn sort_by_priority(due: &mut [PoseCandidate]) {
    due.sort_unstable_by(PoseCandidate::cmp_priority);
}
