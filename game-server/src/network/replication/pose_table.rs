//! What every pose was lately.
//!
//! Each tick the poses that changed go in ([`PoseTable::note`]); what a pose was at an earlier tick
//! comes out ([`PoseTable::at`]), which is what a base is: a client that has a datagram has the
//! poses of its tick. Ticks go by their stamps.
//!
//! Invariants:
//! 1. What comes out for a stamp is what the world said at the tick of that stamp, or nothing if
//!    that is too many changes ago: never another pose.
//! 2. Of each pose the newest [`KEPT`] changes are kept, however long ago they were: what rests is
//!    known for ever.
//!
//! Poses go by the world's dense pose slots, so that all this lies in arrays. Units: stamps are the
//! room's time in whole milliseconds; metres for places. Memory: 2.2 KiB a pose. Cost: constant for
//! what changes at every tick.

use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// RecordChanges of a pose that are kept: three seconds of one that changes 20 times a second, one
/// second at 60.
pub const MAX_CHANGES: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub struct PoseTable {
    entries: Vec<PoseEntry>,
    /// Stamps of the kept changes: [`KEPT`] places a slot, each change behind the one before it,
    /// around.
    stamps: Vec<GameTime>,
    poses: Vec<Pose>,
}

/// What a tick looks at for each object and client.
#[derive(Clone, Copy, Debug)]
struct PoseEntry {
    /// When it changed last.
    changed_at: GameTime,
    /// Where it is on the ground, in metres.
    position_m: [f32; 2],
    /// How many changes were noted.
    count: u32,
    kind: u8,
}

impl PoseTable {
    /// A new object has the slot, of this kind; what was noted of its predecessor is gone.
    pub fn insert(&mut self, slot: u32, kind: u8, stamp: GameTime, pose: Pose, place: [f32; 2]) {
        let slots = slot as usize + 1;
        if self.entries.len() < slots {
            self.entries.resize(
                slots,
                PoseEntry {
                    changed_at: GameTime::ZERO,
                    position_m: place,
                    count: 0,
                    kind,
                },
            );
            self.stamps.resize(slots * MAX_CHANGES, GameTime::ZERO);
            self.poses.resize(slots * MAX_CHANGES, Pose::default());
        }
        self.entries[slot as usize] = PoseEntry {
            changed_at: stamp,
            position_m: place,
            count: 0,
            kind,
        };
        self.update(slot, stamp, pose, place);
    }

    /// The pose is another at this tick. Twice in a tick is once.
    pub fn update(&mut self, slot: u32, stamp: GameTime, pose: Pose, place: [f32; 2]) {
        let head = &mut self.entries[slot as usize];
        if head.count == 0 || head.changed_at != stamp {
            head.count = head.count.checked_add(1).unwrap_or(MAX_CHANGES as u32 + 1);
        }
        (head.changed_at, head.position_m) = (stamp, place);
        let place = index(slot, head.count - 1);
        self.stamps[place] = stamp;
        self.poses[place] = pose;
    }

    /// When the pose changed last.
    #[inline]
    pub fn changed_at(&self, slot: u32) -> GameTime {
        self.entries[slot as usize].changed_at
    }

    /// Where the object is on the ground, in metres.
    #[inline]
    pub fn position_m(&self, slot: u32) -> [f32; 2] {
        self.entries[slot as usize].position_m
    }

    /// Index of the object's kind in the schema.
    #[inline]
    pub fn kind(&self, slot: u32) -> u8 {
        self.entries[slot as usize].kind
    }

    /// The pose of now.
    pub fn latest(&self, slot: u32) -> &Pose {
        &self.poses[index(slot, self.entries[slot as usize].count - 1)]
    }

    /// What the pose was at the tick of `stamp`.
    pub fn at(&self, slot: u32, stamp: GameTime) -> Option<&Pose> {
        let count = self.entries[slot as usize].count;
        let oldest = count.saturating_sub(MAX_CHANGES as u32);
        // Mostly it has changed at each tick since, so the change in question is one of the newest.
        let change = (oldest..count)
            .rev()
            .find(|&change| self.stamps[index(slot, change)] <= stamp)?;
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
    fn a_past_pose_is_what_a_plain_list_holds_or_none() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut book = PoseTable::default();
            let often = rng.u32(1..5);
            book.insert(3, 0, at(0), pose(0), [0.0; 2]);
            let mut plain = vec![(0, 0)];
            for tick in 1..400 {
                if rng.u32(..often) == 0 {
                    book.update(3, at(tick), pose(tick), [0.0; 2]);
                    plain.push((tick, tick));
                }
                for asked in [tick, tick.saturating_sub(rng.u64(0..20)), rng.u64(0..=tick)] {
                    let of_then = plain
                        .iter()
                        .rposition(|&(stamp, _)| stamp <= asked)
                        .expect("it began at 0");
                    let kept = plain.len() - of_then <= MAX_CHANGES;
                    let expected = kept.then(|| pose(plain[of_then].1));
                    assert_eq!(
                        book.at(3, at(asked)).copied(),
                        expected,
                        "seed {seed}, tick {tick}, asked {asked}"
                    );
                }
            }
            assert_eq!(book.changed_at(3), at(plain.last().expect("one").0));
        }
    }

    #[test]
    fn a_reused_slot_has_no_past_poses() {
        let mut book = PoseTable::default();
        book.insert(0, 1, at(1), pose(1), [1.0, 2.0]);
        book.update(0, at(2), pose(2), [1.0, 2.0]);
        book.insert(0, 2, at(3), pose(7), [3.0, 4.0]);
        assert_eq!(book.at(0, at(2)), None);
        assert_eq!(
            (book.at(0, at(9)), book.latest(0)),
            (Some(&pose(7)), &pose(7))
        );
        assert_eq!((book.kind(0), book.position_m(0)), (2, [3.0, 4.0]));
    }

    fn at(tick: u64) -> GameTime {
        GameTime::from_millis(tick * 50)
    }

    fn pose(x: u64) -> Pose {
        Pose {
            at: [x as i32, 0, 0],
            ..Pose::default()
        }
    }
}
