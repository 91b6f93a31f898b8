//! The recent poses of all objects.
//!
//! At each tick the poses that changed go in ([`PoseTable::update`]); the pose at an earlier tick
//! comes out ([`PoseTable::at`]). That is what a baseline is: a client that has a datagram has the
//! poses of its tick. Ticks are named by their stamps.
//!
//! Invariants:
//! 1. The result for a stamp is the pose at the tick of that stamp, or `None` if that is too many
//!    changes ago: never another pose.
//! 2. The newest [`MAX_CHANGES`] changes of each pose are kept, however old they are: the pose of
//!    an object at rest stays known.
//!
//! Poses are stored by the world's dense pose slots, in arrays. Units: stamps are the room's time
//! in whole milliseconds; positions are in metres. Memory: 2.2 KiB a pose. Cost: constant for poses
//! that change at every tick.

use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// Changes that are kept of each pose: three seconds at 20 changes a second, one second at 60.
pub const MAX_CHANGES: usize = 64;

/// The recent poses of all objects; see the module.
#[derive(Debug, Default)]
pub struct PoseTable {
    entries: Vec<PoseEntry>,
    /// Stamps of the kept changes: for each slot a ring of [`MAX_CHANGES`] entries.
    stamps: Vec<GameTime>,
    poses: Vec<Pose>,
}

/// What is read for each object and client at a tick.
#[derive(Clone, Copy, Debug)]
struct PoseEntry {
    /// Stamp of the last change.
    changed_at: GameTime,
    /// Stamp of the last jump: an earlier pose is no baseline of a later one.
    jumped_at: GameTime,
    /// Position on the ground, in metres.
    position_m: [f32; 2],
    /// Number of changes since the object was added.
    count: u32,
    kind: u8,
}

impl PoseTable {
    /// Assigns the slot to a new object of this kind; the poses of the previous owner are
    /// discarded.
    pub fn insert(
        &mut self,
        slot: u32,
        kind: u8,
        stamp: GameTime,
        pose: Pose,
        position_m: [f32; 2],
    ) {
        let slots = slot as usize + 1;
        if self.entries.len() < slots {
            self.entries.resize(
                slots,
                PoseEntry {
                    changed_at: GameTime::ZERO,
                    jumped_at: GameTime::ZERO,
                    position_m,
                    count: 0,
                    kind,
                },
            );
            self.stamps.resize(slots * MAX_CHANGES, GameTime::ZERO);
            self.poses.resize(slots * MAX_CHANGES, Pose::default());
        }
        self.entries[slot as usize] =
            PoseEntry { changed_at: stamp, jumped_at: GameTime::ZERO, position_m, count: 0, kind };
        self.update(slot, stamp, pose, position_m);
    }

    /// Notes the pose that changed at this tick. The last of several changes in one tick counts.
    pub fn update(&mut self, slot: u32, stamp: GameTime, pose: Pose, position_m: [f32; 2]) {
        let entry = &mut self.entries[slot as usize];
        if entry.count == 0 || entry.changed_at != stamp {
            entry.count = entry.count.checked_add(1).unwrap_or(MAX_CHANGES as u32 + 1);
        }
        (entry.changed_at, entry.position_m) = (stamp, position_m);
        let index = index(slot, entry.count - 1);
        self.stamps[index] = stamp;
        self.poses[index] = pose;
    }

    /// The object has jumped at this tick to where its pose is.
    pub fn note_jump(&mut self, slot: u32, stamp: GameTime) {
        self.entries[slot as usize].jumped_at = stamp;
    }

    /// Stamp of the last jump; zero if there was none.
    #[inline]
    pub fn jumped_at(&self, slot: u32) -> GameTime {
        self.entries[slot as usize].jumped_at
    }

    /// Stamp of the last change.
    #[inline]
    pub fn changed_at(&self, slot: u32) -> GameTime {
        self.entries[slot as usize].changed_at
    }

    /// Position of the object on the ground, in metres.
    #[inline]
    pub fn position_m(&self, slot: u32) -> [f32; 2] {
        self.entries[slot as usize].position_m
    }

    /// Index of the object's kind in the schema.
    #[inline]
    pub fn kind(&self, slot: u32) -> u8 {
        self.entries[slot as usize].kind
    }

    pub fn latest(&self, slot: u32) -> &Pose {
        &self.poses[index(slot, self.entries[slot as usize].count - 1)]
    }

    /// The pose at the tick of `stamp`.
    pub fn at(&self, slot: u32, stamp: GameTime) -> Option<&Pose> {
        let count = self.entries[slot as usize].count;
        let oldest = count.saturating_sub(MAX_CHANGES as u32);
        // Usually the pose has changed at each tick since, so the change is one of the newest.
        let change =
            (oldest..count).rev().find(|&change| self.stamps[index(slot, change)] <= stamp)?;
        Some(&self.poses[index(slot, change)])
    }
}

fn index(slot: u32, change: u32) -> usize {
    slot as usize * MAX_CHANGES + change as usize % MAX_CHANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_poses_match_a_plain_list_until_they_are_dropped() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut table = PoseTable::default();
            let interval = rng.u32(1..5);
            table.insert(3, 0, at(0), pose(0), [0.0; 2]);
            let mut plain = vec![(0, 0)];
            for tick in 1..400 {
                if rng.u32(..interval) == 0 {
                    table.update(3, at(tick), pose(tick), [0.0; 2]);
                    plain.push((tick, tick));
                }
                for asked in [tick, tick.saturating_sub(rng.u64(0..20)), rng.u64(0..=tick)] {
                    let change = plain
                        .iter()
                        .rposition(|&(stamp, _)| stamp <= asked)
                        .expect("the list begins at 0");
                    let kept = plain.len() - change <= MAX_CHANGES;
                    let expected = kept.then(|| pose(plain[change].1));
                    assert_eq!(
                        table.at(3, at(asked)).copied(),
                        expected,
                        "seed {seed}, tick {tick}, asked {asked}"
                    );
                }
            }
            assert_eq!(table.changed_at(3), at(plain.last().expect("one").0));
        }
    }

    #[test]
    fn a_reused_slot_has_no_past_poses() {
        let mut table = PoseTable::default();
        table.insert(0, 1, at(1), pose(1), [1.0, 2.0]);
        table.update(0, at(2), pose(2), [1.0, 2.0]);
        table.insert(0, 2, at(3), pose(7), [3.0, 4.0]);
        assert_eq!(table.at(0, at(2)), None);
        assert_eq!((table.at(0, at(9)), table.latest(0)), (Some(&pose(7)), &pose(7)));
        assert_eq!((table.kind(0), table.position_m(0)), (2, [3.0, 4.0]));
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }

    fn pose(x: u64) -> Pose {
        Pose { at: [x as i32, 0, 0], ..Pose::default() }
    }
}
