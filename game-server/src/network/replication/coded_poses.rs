//! Poses coded once a tick, for all clients with the same base.
//!
//! (Pose slot, stamp of the base) goes in, what the shared level of the coder makes of it comes
//! out: computed for the first client that needs it, copied for the others. With it comes how far
//! off the client is that knows no more than the base: whether it is to be told at all.
//!
//! Invariant: what comes out depends on (pose, base, stamps) and on nothing else; so who shares it
//! with whom shows nowhere.
//!
//! Bound: [`WAYS`] bases for each pose; one more takes the place of an older one and is computed
//! again. Cost: a look into an array; below 200 ns where it is computed.

use ambit_proto::pose::{self, Coded, Pose, PoseFormat, Turning};
use ambit_proto::time::GameTime;

use super::pose_table::PoseTable;

/// Bases of one pose in one tick. Clients acknowledge within a few ticks of each other; under a
/// tight budget, bases of far objects are older.
pub const WAYS: usize = 16;

/// See the module.
#[derive(Debug, Default)]
pub struct CodedPoseCache {
    /// [`WAYS`] places for each pose slot, and behind them one without a base.
    entries: Vec<CachedPose>,
    encoded: u64,
    lookups: u64,
}

/// One pose coded against one base.
#[derive(Clone, Copy, Debug)]
struct CachedPose {
    /// For which tick it was computed.
    stamp: GameTime,
    baseline: GameTime,
    /// How far the client is off, in units of the grid or steps of the heading.
    error: u16,
    coded: Coded,
}

/// What a tick is coded from.
#[derive(Clone, Copy, Debug)]
pub struct PoseSource<'b> {
    /// The poses.
    pub table: &'b PoseTable,
    /// By kind; a kind without poses has any.
    pub formats: &'b [PoseFormat],
    /// Of this tick.
    pub stamp: GameTime,
    /// Ticks a second.
    pub tick_hz: u64,
}

/// Where a coded pose lies, for this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheKey(u32);

impl CodedPoseCache {
    /// The pose of `slot` as it is now, coded against what it was at `base`; `Unchanged` if nobody
    /// knows any more what that was.
    #[inline]
    pub fn coded_against(
        &mut self,
        source: PoseSource<'_>,
        slot: u32,
        base: GameTime,
    ) -> Option<CacheKey> {
        let key = source.entry_index(slot, base);
        match self.entries.get(key) {
            Some(place) if place.stamp == source.stamp && place.baseline == base => {}
            _ => {
                let pose = source.table.at(slot, base)?;
                self.encode(source, slot, key, Some((base, pose)));
            }
        }
        self.lookups += 1;
        Some(CacheKey(key as u32))
    }

    /// The pose of `slot` as it is now, coded without a base.
    pub fn coded_absolute(&mut self, source: PoseSource<'_>, slot: u32) -> CacheKey {
        let key = slot as usize * (WAYS + 1) + WAYS;
        if self
            .entries
            .get(key)
            .is_none_or(|place| place.stamp != source.stamp)
        {
            self.encode(source, slot, key, None);
        }
        self.lookups += 1;
        CacheKey(key as u32)
    }

    /// The bits.
    #[inline]
    pub fn coded(&self, key: CacheKey) -> &Coded {
        &self.entries[key.0 as usize].coded
    }

    /// How far a client is off that knows the base and no more: units of the grid or steps of the
    /// heading, whichever are more; `u16::MAX` when it would be plainly wrong.
    #[inline]
    pub fn error(&self, key: CacheKey) -> u16 {
        self.entries[key.0 as usize].error
    }

    /// As [`CodedPoseCache::error`], of a client that knows what the pose of `slot` was at `base`.
    /// Nothing takes the place of anything for this: a key stays what it was.
    pub fn error_against(&self, source: PoseSource<'_>, slot: u32, base: GameTime) -> Option<u16> {
        match self.entries.get(source.entry_index(slot, base)) {
            Some(place) if place.stamp == source.stamp && place.baseline == base => {
                Some(place.error)
            }
            _ => Some(source.error_against(slot, (base, source.table.at(slot, base)?))),
        }
    }

    /// How many poses were coded, and how often one was looked up, since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.encoded),
            std::mem::take(&mut self.lookups),
        )
    }

    fn encode(
        &mut self,
        source: PoseSource<'_>,
        slot: u32,
        key: usize,
        base: Option<(GameTime, &Pose)>,
    ) {
        if self.entries.len() <= key {
            let nothing = CachedPose {
                stamp: GameTime::MAX,
                baseline: GameTime::MAX,
                error: 0,
                coded: Coded::default(),
            };
            self.entries
                .resize((slot as usize + 1) * (WAYS + 1), nothing);
        }
        let error = base.map_or(u16::MAX, |base| source.error_against(slot, base));
        let coded = pose::code(
            source.format(slot),
            base,
            source.stamp,
            source.table.latest(slot),
        );
        let base = base.map_or(GameTime::MAX, |(base, _)| base);
        self.entries[key] = CachedPose {
            stamp: source.stamp,
            baseline: base,
            error,
            coded,
        };
        self.encoded += 1;
    }
}

impl PoseSource<'_> {
    fn format(&self, slot: u32) -> &PoseFormat {
        &self.formats[usize::from(self.table.kind(slot))]
    }

    fn error_against(&self, slot: u32, base: (GameTime, &Pose)) -> u16 {
        extrapolation_error(
            *self.format(slot),
            base,
            self.stamp,
            self.table.latest(slot),
        )
    }

    /// Where the pose coded against this base lies. Ticks in a row lie side by side.
    fn entry_index(&self, slot: u32, base: GameTime) -> usize {
        let tick = (base.millis() * self.tick_hz + 500) / 1_000;
        slot as usize * (WAYS + 1) + tick as usize % WAYS
    }
}

/// How far off the receiver is that goes on from `base`.
fn extrapolation_error(
    format: PoseFormat,
    base: (GameTime, &Pose),
    now: GameTime,
    pose: &Pose,
) -> u16 {
    let Turning::Yaw { bits } = format.turn else {
        // What two poses foretell depends on which two a client has: here only what does not change
        // is foretold.
        return if base.1 == pose { 0 } else { u16::MAX };
    };
    let shown = pose::estimate(&format, base, None, now);
    if shown.flag != pose.flag || (shown.speed == 0) != (pose.speed == 0) {
        return u16::MAX;
    }
    let full = 1_u16 << bits;
    let turned = shown.turn[0].wrapping_sub(pose.turn[0]) & (full - 1);
    let off = shown
        .at
        .iter()
        .zip(pose.at)
        .map(|(&shown, is)| shown.abs_diff(is))
        .max()
        .unwrap_or(0);
    turned
        .min(full - turned)
        .max(u16::try_from(off).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAW: PoseFormat = PoseFormat {
        per_metre: 100,
        turn: Turning::Yaw { bits: 8 },
        motion: None,
    };

    #[test]
    fn a_lookup_is_coded_against_its_baseline_and_only_once() {
        let mut book = PoseTable::default();
        book.insert(1, 0, at(0), pose(0), [0.0; 2]);
        (1..40).for_each(|tick| book.update(1, at(tick), pose(tick), [0.0; 2]));
        let source = PoseSource {
            table: &book,
            formats: &[YAW],
            stamp: at(39),
            tick_hz: 20,
        };
        let mut cache = CodedPoseCache::default();
        for _ in 0..2 {
            for base in (10..39).rev() {
                let key = cache
                    .coded_against(source, 1, at(base))
                    .expect("it is kept");
                let coded = pose::code(&YAW, Some((at(base), &pose(base))), at(39), &pose(39));
                assert_eq!(
                    cache.coded(key).bits_x256(),
                    coded.bits_x256(),
                    "base {base}"
                );
                // Looking at another base does no harm to a key.
                let before = cache.error(key);
                cache.error_against(source, 1, at(base - 3));
                assert_eq!(cache.error(key), before);
            }
        }
        let mut few = CodedPoseCache::default();
        for _ in 0..100 {
            (38 - WAYS as u64 + 1..39)
                .for_each(|base| assert!(few.coded_against(source, 1, at(base)).is_some()));
            few.coded_absolute(source, 1);
        }
        assert_eq!(
            few.take_counts(),
            (WAYS as u64 + 1, 100 * (WAYS as u64 + 1))
        );
    }

    #[test]
    fn the_error_is_the_larger_of_position_and_heading() {
        let walker = |x: f32, yaw: f32, speed: f32| {
            YAW.pose(ambit_proto::space::Position::on_ground(x, 0.0), yaw, speed)
        };
        let check = |pose: Pose, expected: u16| {
            let base = walker(10.0, 0.0, 4.0);
            assert_eq!(
                extrapolation_error(YAW, (at(0), &base), at(1), &pose),
                expected,
                "{pose:?}"
            );
        };
        check(walker(10.2, 0.0, 4.0), 0);
        check(walker(10.25, 0.0, 4.0), 5);
        check(walker(10.2, -0.1, 4.0), 4);
        check(walker(10.2, 0.0, 0.0), u16::MAX);
        check(
            Pose {
                flag: true,
                ..walker(10.2, 0.0, 4.0)
            },
            u16::MAX,
        );
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }

    fn pose(tick: u64) -> Pose {
        let metres = tick as f32 * 0.2;
        YAW.pose(
            ambit_proto::space::Position::on_ground(metres, metres),
            tick as f32 * 0.1,
            4.0,
        )
    }
}
