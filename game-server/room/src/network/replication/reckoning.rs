//! What a client shows of an object by dead reckoning, and how far off that is.
//!
//! The poses that a client may have go in, as the stamps of their datagrams; the error of its
//! extrapolation comes out. It is computed once for all clients that have the same ones.
//!
//! Units: the position grid. A turn counts as the way of a point 2 m from the centre.
//!
//! Bound: four results for each pose; one more replaces an older one, which is then computed
//! again if needed. Cost: a comparison for each way; some 200 ns where the error is computed.

use ambit_proto::pose::{
    self, EARLIER_POSES, Extrapolation, Pose, PoseFormat, StampedPose, Turning,
};
use ambit_proto::time::GameTime;

use super::pose_source::PoseSource;

/// Results that are kept of each pose at a tick.
const WAYS: usize = 4;
/// How far from the centre the point is that shows that an object turns.
const ARM_M: f32 = 2.0;

/// The newest poses that a client may have of an object: the stamps of their datagrams, the newest
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownPoses {
    stamps: [GameTime; 1 + EARLIER_POSES],
    count: u8,
}

/// Errors of this tick.
#[derive(Debug, Default)]
pub struct ReckoningCache {
    /// For each pose slot [`WAYS`] entries.
    entries: Vec<ReckonedError>,
}

#[derive(Clone, Copy, Debug)]
struct ReckonedError {
    stamp: GameTime,
    known: KnownPoses,
    error: u16,
}

impl KnownPoses {
    /// The newest of some stamps, the newest first; `None` without any.
    pub fn of(stamps: impl IntoIterator<Item = GameTime>) -> Option<Self> {
        let mut known = Self { stamps: [GameTime::MAX; 1 + EARLIER_POSES], count: 0 };
        for (entry, stamp) in known.stamps.iter_mut().zip(stamps) {
            *entry = stamp;
            known.count += 1;
        }
        (known.count > 0).then_some(known)
    }

    /// The stamps, the newest first.
    pub fn stamps(&self) -> &[GameTime] {
        &self.stamps[..usize::from(self.count)]
    }
}

impl ReckoningCache {
    /// How far off a client is that has these poses of `slot`. `u16::MAX` when its view is plainly
    /// wrong, or one of the poses is not known any more.
    pub fn error(
        &mut self,
        source: PoseSource<'_>,
        rule: Extrapolation,
        slot: u32,
        known: KnownPoses,
    ) -> u16 {
        let first = slot as usize * WAYS;
        if self.entries.len() < first + WAYS {
            let nothing = KnownPoses { stamps: [GameTime::MAX; 1 + EARLIER_POSES], count: 0 };
            let nothing = ReckonedError { stamp: GameTime::MAX, known: nothing, error: 0 };
            self.entries.resize(first + WAYS, nothing);
        }
        let ways = &mut self.entries[first..first + WAYS];
        let is_it = |entry: &&ReckonedError| entry.stamp == source.stamp && entry.known == known;
        if let Some(entry) = ways.iter().find(is_it) {
            return entry.error;
        }
        let error = source.reckoning_error(rule, slot, known).unwrap_or(u16::MAX);
        ways.rotate_right(1);
        ways[0] = ReckonedError { stamp: source.stamp, known, error };
        error
    }
}

impl PoseSource<'_> {
    fn reckoning_error(self, rule: Extrapolation, slot: u32, known: KnownPoses) -> Option<u16> {
        let stamps = &known.stamps()[..usize::from(known.count).min(1 + rule.earlier_poses())];
        let (newest, earlier) = stamps.split_first()?;
        let jumped_at = self.table.jumped_at(slot);
        if *newest < jumped_at {
            return None;
        }
        // A client does not look back beyond a jump.
        let since = earlier.iter().position(|stamp| *stamp < jumped_at).unwrap_or(earlier.len());
        let earlier = &earlier[..since];
        let newest = (*newest, self.table.at(slot, *newest)?);
        let mut before: [StampedPose<'_>; EARLIER_POSES] = [newest; EARLIER_POSES];
        for (entry, &stamp) in before.iter_mut().zip(earlier) {
            *entry = (stamp, self.table.at(slot, stamp)?);
        }
        let format = self.format(slot);
        let shown = pose::extrapolate(format, rule, newest, &before[..earlier.len()], self.stamp);
        Some(distance(format, &shown, self.table.latest(slot)))
    }
}

/// How far what is shown is from what is, in units of the position grid.
fn distance(format: &PoseFormat, shown: &Pose, is: &Pose) -> u16 {
    if shown.flag != is.flag || (shown.speed == 0) != (is.speed == 0) {
        return u16::MAX;
    }
    let off = shown.at.iter().zip(is.at).map(|(&shown, is)| shown.abs_diff(is)).max();
    let turned = match format.turn {
        Turning::Fixed => 0.0,
        Turning::Yaw { bits } => {
            let full = 1_u16 << bits;
            let steps = shown.turn[0].wrapping_sub(is.turn[0]) & (full - 1);
            f32::from(steps.min(full - steps)) / f32::from(full) * std::f32::consts::TAU
        }
        Turning::Free { .. } => {
            let (a, b) = (format.quaternion(shown), format.quaternion(is));
            let cosine: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            2.0 * (1.0 - cosine * cosine).max(0.0).sqrt()
        }
    };
    // The cast saturates.
    let turned = (turned * ARM_M * f32::from(format.per_metre)) as u16;
    turned.max(u16::try_from(off.unwrap_or(0)).unwrap_or(u16::MAX))
}
