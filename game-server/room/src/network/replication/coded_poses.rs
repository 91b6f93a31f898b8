//! Poses coded once a tick, for all clients with the same baseline.
//!
//! A pose slot and the stamp of a baseline go in; the pose coded at the shared level comes out. It
//! is computed for the first client that needs it and reused for the others. With it comes the
//! error of a client that extrapolates from the baseline: it decides whether the pose has to be
//! sent at all.
//!
//! Invariant: the result depends on (pose, baseline, stamps) only; so it does not matter which
//! clients share it.
//!
//! Bound: [`WAYS`] baselines for each pose; one more replaces an older one, which is then computed
//! again if needed. Cost: an array look-up; below 200 ns where the pose is computed.

use ambit_proto::pose::{self, CodedPose, Extrapolation, Pose, PoseFormat, Turning};
use ambit_proto::time::GameTime;

use super::pose_source::PoseSource;
use super::reckoning::ReckoningCache;

/// Baselines of one pose in one tick. Clients acknowledge within a few ticks of each other; under a
/// tight budget, the baselines of far objects are older.
pub const WAYS: usize = 16;

/// Poses coded for this tick; see the module.
#[derive(Debug, Default)]
pub struct CodedPoseCache {
    /// For each pose slot [`WAYS`] entries, and one without a baseline.
    entries: Vec<CachedPose>,
    encoded: u64,
    lookups: u64,
    /// Of kinds that declare how they are extrapolated.
    pub reckoned: ReckoningCache,
}

/// One pose coded against one baseline.
#[derive(Clone, Copy, Debug)]
struct CachedPose {
    /// Stamp of the tick for which it was computed.
    stamp: GameTime,
    baseline: GameTime,
    /// Error of a client that extrapolates from the baseline, in units of the position grid or
    /// steps of the heading.
    error: u16,
    coded: CodedPose,
}

/// Index of a coded pose, valid for this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheKey(u32);

impl CodedPoseCache {
    /// The present pose of `slot`, coded against its pose at `baseline`; `None` if that is not
    /// known any more.
    #[inline]
    pub fn coded_against(
        &mut self,
        source: PoseSource<'_>,
        slot: u32,
        baseline: GameTime,
    ) -> Option<CacheKey> {
        let key = source.entry_index(slot, baseline);
        match self.entries.get(key) {
            Some(entry) if entry.stamp == source.stamp && entry.baseline == baseline => {}
            _ => {
                let pose = source.table.at(slot, baseline)?;
                self.encode(source, slot, key, Some((baseline, pose)));
            }
        }
        self.lookups += 1;
        Some(CacheKey(key as u32))
    }

    /// The present pose of `slot`, coded without a baseline.
    pub fn coded_absolute(&mut self, source: PoseSource<'_>, slot: u32) -> CacheKey {
        let key = slot as usize * (WAYS + 1) + WAYS;
        if self.entries.get(key).is_none_or(|entry| entry.stamp != source.stamp) {
            self.encode(source, slot, key, None);
        }
        self.lookups += 1;
        CacheKey(key as u32)
    }

    #[inline]
    pub fn coded(&self, key: CacheKey) -> &CodedPose {
        &self.entries[key.0 as usize].coded
    }

    /// Error of a client that extrapolates from the baseline: in units of the position grid or
    /// steps of the heading, whichever is more; `u16::MAX` when its view would be plainly wrong.
    #[inline]
    pub fn error(&self, key: CacheKey) -> u16 {
        self.entries[key.0 as usize].error
    }

    /// As [`CodedPoseCache::error`], for a client that has the pose of `slot` at `baseline`.
    /// Replaces no entry, so keys stay valid.
    pub fn error_against(
        &self,
        source: PoseSource<'_>,
        slot: u32,
        baseline: GameTime,
    ) -> Option<u16> {
        match self.entries.get(source.entry_index(slot, baseline)) {
            Some(entry) if entry.stamp == source.stamp && entry.baseline == baseline => {
                Some(entry.error)
            }
            _ => Some(source.error_against(slot, (baseline, source.table.at(slot, baseline)?))),
        }
    }

    /// How many poses were coded, and how many look-ups there were, since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.encoded), std::mem::take(&mut self.lookups))
    }

    fn encode(
        &mut self,
        source: PoseSource<'_>,
        slot: u32,
        key: usize,
        baseline: Option<(GameTime, &Pose)>,
    ) {
        if self.entries.len() <= key {
            let nothing = CachedPose {
                stamp: GameTime::MAX,
                baseline: GameTime::MAX,
                error: 0,
                coded: CodedPose::default(),
            };
            self.entries.resize((slot as usize + 1) * (WAYS + 1), nothing);
        }
        let error = baseline.map_or(u16::MAX, |baseline| source.error_against(slot, baseline));
        let coded =
            pose::code(source.format(slot), baseline, source.stamp, source.table.latest(slot));
        let baseline = baseline.map_or(GameTime::MAX, |(baseline, _)| baseline);
        self.entries[key] = CachedPose { stamp: source.stamp, baseline, error, coded };
        self.encoded += 1;
    }
}

impl PoseSource<'_> {
    fn error_against(&self, slot: u32, baseline: (GameTime, &Pose)) -> u16 {
        extrapolation_error(*self.format(slot), baseline, self.stamp, self.table.latest(slot))
    }

    /// Index of the entry for this baseline. Baselines of successive ticks have successive entries.
    fn entry_index(&self, slot: u32, baseline: GameTime) -> usize {
        let tick = (baseline.millis() * self.tick_hz + 500) / 1_000;
        slot as usize * (WAYS + 1) + tick as usize % WAYS
    }
}

/// Error of a receiver that extrapolates from `baseline`.
fn extrapolation_error(
    format: PoseFormat,
    baseline: (GameTime, &Pose),
    now: GameTime,
    pose: &Pose,
) -> u16 {
    let Turning::Yaw { bits } = format.turn else {
        // An extrapolation from two poses depends on which two a client has. Here only the
        // unchanged pose counts as extrapolated.
        return if baseline.1 == pose { 0 } else { u16::MAX };
    };
    let shown = pose::extrapolate(&format, Extrapolation::First, baseline, &[], now);
    if shown.flag != pose.flag || (shown.speed == 0) != (pose.speed == 0) {
        return u16::MAX;
    }
    let full = 1_u16 << bits;
    let turned = shown.turn[0].wrapping_sub(pose.turn[0]) & (full - 1);
    let off =
        shown.at.iter().zip(pose.at).map(|(&shown, is)| shown.abs_diff(is)).max().unwrap_or(0);
    turned.min(full - turned).max(u16::try_from(off).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::replication::pose_table::PoseTable;

    const YAW: PoseFormat =
        PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };

    #[test]
    fn a_lookup_is_coded_against_its_baseline_and_only_once() {
        let mut table = PoseTable::default();
        table.insert(1, 0, at(0), pose(0), [0.0; 2]);
        (1..40).for_each(|tick| table.update(1, at(tick), pose(tick), [0.0; 2]));
        let source = PoseSource {
            table: &table,
            formats: &[YAW],
            reckoned: &[],
            stamp: at(39),
            tick_hz: 20,
        };
        let mut cache = CodedPoseCache::default();
        for _ in 0..2 {
            for baseline in (10..39).rev() {
                let key =
                    cache.coded_against(source, 1, at(baseline)).expect("the baseline is stored");
                let coded =
                    pose::code(&YAW, Some((at(baseline), &pose(baseline))), at(39), &pose(39));
                assert_eq!(cache.coded(key).bits_x256(), coded.bits_x256(), "baseline {baseline}");
                // A query for another baseline does not change the entry of a key.
                let before = cache.error(key);
                cache.error_against(source, 1, at(baseline - 3));
                assert_eq!(cache.error(key), before);
            }
        }
        let mut bounded = CodedPoseCache::default();
        for _ in 0..100 {
            (38 - WAYS as u64 + 1..39).for_each(|baseline| {
                assert!(bounded.coded_against(source, 1, at(baseline)).is_some());
            });
            bounded.coded_absolute(source, 1);
        }
        assert_eq!(bounded.take_counts(), (WAYS as u64 + 1, 100 * (WAYS as u64 + 1)));
    }

    #[test]
    fn the_error_is_the_larger_of_position_and_heading() {
        let walker = |x: f32, yaw: f32, speed: f32| {
            YAW.pose(ambit_proto::space::Position::on_ground(x, 0.0), yaw, speed)
        };
        let check = |pose: Pose, expected: u16| {
            let baseline = walker(10.0, 0.0, 4.0);
            assert_eq!(
                extrapolation_error(YAW, (at(0), &baseline), at(1), &pose),
                expected,
                "{pose:?}"
            );
        };
        check(walker(10.2, 0.0, 4.0), 0);
        check(walker(10.25, 0.0, 4.0), 5);
        check(walker(10.2, -0.1, 4.0), 4);
        check(walker(10.2, 0.0, 0.0), u16::MAX);
        check(Pose { flag: true, ..walker(10.2, 0.0, 4.0) }, u16::MAX);
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }

    fn pose(tick: u64) -> Pose {
        let metres = tick as f32 * 0.2;
        YAW.pose(ambit_proto::space::Position::on_ground(metres, metres), tick as f32 * 0.1, 4.0)
    }
}
