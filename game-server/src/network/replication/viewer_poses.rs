//! Which poses one client is to be told now, and against what.
//!
//! What the client follows goes in ([`Poses::begin`], [`Poses::activate`], [`Poses::end`]), and
//! what it was sent ([`Poses::sent`]); [`Poses::collect`] says which poses are due at a tick, each
//! with the base that the client is known to have. Which of them go out if not all fit, `fill`
//! decides by their priorities ([`Poses::prioritise`]).
//!
//! An object's pose is told while the object stirs, at each tick unless the client foretells it
//! well enough; and after that until the client is known to have the pose in which it came to rest.
//!
//! Invariants:
//! 1. A pose is told only of an object whose `ObjectEntered` was confirmed.
//! 2. A base is a pose that the client has acknowledged, and both ends find the same: the newest in
//!    the window, or the last one that was ever sent if that was acknowledged before the window
//!    began, or none.
//! 3. An object leaves the list of what is active only when the client is known to have its present
//!    pose.
//!
//! No look-up by id, nothing allocated: what a tick walks through lies in two arrays by slot.
//! Nothing happens here when something is acknowledged: which datagrams carried an object is a
//! mask, and the window is one too. Cost: what is active.

use std::cmp::Ordering;

use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

use super::coded_poses::{CacheKey, CodedPoseCache, PoseSource};
use super::freshness::{FreshnessClass, FreshnessRates};
use super::pose_table::PoseTable;
use super::pose_track::{PoseStatus, PoseTrack};
use super::sent_datagrams::{DatagramWindow, SentDatagrams};

pub use super::pose_track::Baseline;

/// The poses of what one client follows, by slot.
#[derive(Debug, Default)]
pub struct ViewerPoses {
    tracks: Vec<PoseTrack>,
    /// Bit by slot: to be looked at, at each tick.
    active: Vec<u64>,
    /// Slots with a player's special interest, and until when; see [`Poses::engage`].
    engaged: Vec<(GameTime, u16)>,
}

/// A pose that is due.
#[derive(Clone, Copy, Debug)]
pub struct PoseCandidate {
    /// Whose.
    pub slot: u16,
    /// In the book.
    pub pose_slot: u32,
    /// What the client knows of it.
    pub baseline: Baseline,
    /// How it is coded, with the shared level.
    pub key: Option<CacheKey>,
    /// About how much it takes, in 1/256 bits.
    pub bits_x256: u32,
    /// Whether the object stirs at this very tick.
    changed_now: bool,
    /// Since when the client was told nothing newer, as far as is known.
    stale_since: GameTime,
    /// What it is worth; nobody asks as long as all fit.
    priority: f32,
}

/// What all clients of a room have in common at a tick.
#[derive(Clone, Copy, Debug)]
pub struct PoseContext<'b> {
    /// The poses.
    pub source: PoseSource<'b>,
    /// By kind.
    pub rates: &'b [FreshnessRates],
    /// Whether poses are coded with the shared level.
    pub is_shared_level: bool,
}

/// How a client's poses are looked at.
#[derive(Clone, Copy, Debug)]
pub struct CollectOptions {
    /// Where its avatar is.
    pub viewer_position_m: [f32; 2],
    /// How many poses are worth coding, those of the highest priority, since no more of them can go
    /// out.
    pub max_poses: usize,
    /// What a pose takes whose cost is not known before it is written, in 1/256 bits.
    pub typical_bits_x256: u32,
}

/// Poses with news that are not among the candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedPoses {
    /// Since the client foretells them.
    pub extrapolated: usize,
    /// Since there are too many.
    pub deferred: usize,
}

impl ViewerPoses {
    /// The client follows an object with a pose from now on, under this slot.
    pub fn follow(&mut self, slot: u16, pose_slot: u32, close: bool) {
        let index = usize::from(slot);
        if self.tracks.len() <= index {
            self.tracks.resize(index + 1, PoseTrack::new(0, false));
            self.active.resize(index / 64 + 1, 0);
        }
        self.tracks[index] = PoseTrack::new(pose_slot, close);
    }

    /// The client follows it no longer.
    pub fn unfollow(&mut self, slot: u16) {
        self.deactivate(slot);
        self.engaged.retain(|&(_, engaged)| engaged != slot);
    }

    /// The client has the object, or the object begins to stir: the client is told its pose until
    /// it is known to have it.
    pub fn activate(&mut self, slot: u16) {
        self.active[usize::from(slot) / 64] |= 1 << (slot % 64);
    }

    /// How many objects stir, or are not confirmed to rest.
    pub fn active_count(&self) -> usize {
        self.active
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// The player cares most about this object until then.
    pub fn engage(&mut self, slot: u16, until: GameTime) {
        // What has no pose has no track.
        let Some(track) = self.tracks.get_mut(usize::from(slot)) else {
            return;
        };
        track.engaged = true;
        match self
            .engaged
            .iter_mut()
            .find(|(_, engaged)| *engaged == slot)
        {
            Some((before, _)) => *before = until.max(*before),
            None => self.engaged.push((until, slot)),
        }
    }

    /// Whether an object belongs to the player's party.
    pub fn set_ally(&mut self, slot: u16, close: bool) {
        self.tracks[usize::from(slot)].is_ally = close;
    }

    /// A datagram of this number and stamp carries the pose: in its section, or in an
    /// `ObjectEntered`.
    pub fn note_sent(&mut self, slot: u16, number: u64, stamp: GameTime) {
        self.tracks[usize::from(slot)].note_sent(number, stamp);
    }

    /// Replaces `due` by what is to be told at this tick, in ascending order of slots, with what it
    /// takes.
    pub fn collect(
        &mut self,
        scene: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        numbers: &SentDatagrams,
        look: CollectOptions,
        due: &mut Vec<PoseCandidate>,
    ) -> OmittedPoses {
        self.disengage(scene.source.stamp);
        self.collect_changed(scene.source, numbers, due);
        let deferred = due.len().saturating_sub(look.max_poses);
        if deferred > 0 {
            self.prioritise(scene, look.viewer_position_m, due);
            due.select_nth_unstable_by(look.max_poses, |a, b| b.cmp_priority(a));
            due.truncate(look.max_poses);
            due.sort_unstable_by_key(|candidate| candidate.slot);
        }
        let with_news = due.len();
        due.retain_mut(|candidate| self.encode_candidate(scene, cache, look, candidate));
        OmittedPoses {
            extrapolated: with_news - due.len(),
            deferred,
        }
    }

    /// What has news, in ascending order of slots.
    fn collect_changed(
        &mut self,
        source: PoseSource<'_>,
        numbers: &SentDatagrams,
        due: &mut Vec<PoseCandidate>,
    ) {
        due.clear();
        let window: Option<DatagramWindow> = numbers.window();
        for word in 0..self.active.len() {
            let mut left = self.active[word];
            while left != 0 {
                let slot = (word * 64) as u16 + left.trailing_zeros() as u16;
                left &= left - 1;
                let track = &mut self.tracks[usize::from(slot)];
                match track.status(source, numbers, window) {
                    PoseStatus::Settled => self.active[word] &= !(1 << (slot % 64)),
                    PoseStatus::InFlight => {}
                    PoseStatus::Due { base, stirs, since } => {
                        let (pose_slot, key, bits_x256, priority) = (track.pose_slot, None, 0, 0.0);
                        due.push(PoseCandidate {
                            slot,
                            pose_slot,
                            baseline: base,
                            key,
                            bits_x256,
                            changed_now: stirs,
                            stale_since: since,
                            priority,
                        });
                    }
                }
            }
        }
    }

    /// Codes a pose, or finds out what it will take. False when the client foretells it.
    fn encode_candidate(
        &self,
        scene: PoseContext<'_>,
        cache: &mut CodedPoseCache,
        look: CollectOptions,
        candidate: &mut PoseCandidate,
    ) -> bool {
        let track = &self.tracks[usize::from(candidate.slot)];
        let against = match candidate.baseline {
            Baseline::DatagramWindow(stamp) | Baseline::Old(stamp) => cache
                .coded_against(scene.source, track.pose_slot, stamp)
                .zip(Some(stamp)),
            Baseline::None => None,
        };
        if let Some((key, base)) = against {
            if candidate.changed_now
                && track.is_extrapolated(scene, cache, key, base, look.viewer_position_m)
            {
                return false;
            }
            candidate.key = Some(key);
        } else {
            // A base that nobody remembers is none.
            candidate.baseline = Baseline::None;
            candidate.key = scene
                .is_shared_level
                .then(|| cache.coded_absolute(scene.source, track.pose_slot));
        }
        candidate.key = candidate.key.filter(|_| scene.is_shared_level);
        candidate.bits_x256 = candidate
            .key
            .map_or(look.typical_bits_x256, |key| cache.coded(key).bits_x256());
        true
    }

    /// Gives each of `due` its priority.
    pub fn prioritise(&self, scene: PoseContext<'_>, viewer: [f32; 2], due: &mut [PoseCandidate]) {
        for candidate in due {
            candidate.priority = self.tracks[usize::from(candidate.slot)].priority(
                scene,
                viewer,
                candidate.stale_since,
                candidate.changed_now,
            );
        }
    }

    /// Whether the base that was found at the beginning of the tick is one still: with each
    /// datagram that leaves, the window may lose its oldest one.
    pub fn is_baseline_valid(
        &self,
        slot: u16,
        base: Baseline,
        window: Option<DatagramWindow>,
        numbers: &SentDatagrams,
    ) -> bool {
        let Baseline::DatagramWindow(stamp) = base else {
            return base == Baseline::None || window.is_some();
        };
        let known = window.map_or(0, |window| {
            self.tracks[usize::from(slot)].acked_mask(window)
        });
        window.is_some_and(|window| {
            known != 0 && numbers.stamp(window.newest - u64::from(known.trailing_zeros())) == stamp
        })
    }

    /// Replaces `out` by the poses of a slot that both ends know, the newest first. False when the
    /// book has forgotten one of them, so that the ends would not agree.
    pub fn history(
        &self,
        slot: u16,
        base: Baseline,
        numbers: &SentDatagrams,
        book: &PoseTable,
        out: &mut Vec<(GameTime, Pose)>,
    ) -> bool {
        out.clear();
        let track = &self.tracks[usize::from(slot)];
        let mut add = |stamp| {
            let pose = book.at(track.pose_slot, stamp);
            out.extend(pose.map(|pose| (stamp, *pose)));
            pose.is_some()
        };
        match (base, numbers.window()) {
            (Baseline::Old(stamp), _) => add(stamp),
            (Baseline::DatagramWindow(_), Some(window)) => {
                let mut known = track.acked_mask(window);
                while known != 0 {
                    if !add(numbers.stamp(window.newest - u64::from(known.trailing_zeros()))) {
                        return false;
                    }
                    known &= known - 1;
                }
                true
            }
            _ => true,
        }
    }

    /// The class of what a slot has, and for how long nothing of it was sent; for figures.
    pub fn age(
        &self,
        slot: u16,
        scene: PoseContext<'_>,
        viewer: [f32; 2],
    ) -> (FreshnessClass, u64) {
        let track = &self.tracks[usize::from(slot)];
        (
            track.class(scene, viewer),
            track.waited_ms(scene.source.stamp),
        )
    }

    /// The slots that are active.
    pub fn active_slots(&self) -> impl Iterator<Item = u16> + '_ {
        (0..).zip(&self.active).flat_map(|(word, &bits)| {
            (0..64_u16)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| word * 64 + bit)
        })
    }

    fn deactivate(&mut self, slot: u16) {
        if let Some(word) = self.active.get_mut(usize::from(slot) / 64) {
            *word &= !(1 << (slot % 64));
        }
    }

    fn disengage(&mut self, now: GameTime) {
        let ViewerPoses {
            engaged, tracks, ..
        } = self;
        engaged.retain(|&(until, slot)| {
            tracks[usize::from(slot)].engaged = until > now;
            until > now
        });
    }
}

impl PoseCandidate {
    /// By what they are worth; of two of the same worth, the one in the lower slot is worth more.
    fn cmp_priority(&self, other: &Self) -> Ordering {
        self.priority
            .total_cmp(&other.priority)
            .then(other.slot.cmp(&self.slot))
    }
}

/// Sorts `due` by what is worth most, the last one first: whoever fills a datagram pops.
pub fn sort_by_priority(due: &mut [PoseCandidate]) {
    due.sort_unstable_by(PoseCandidate::cmp_priority);
}
