//! Which earlier poses of an object both ends know, and which one is the baseline of the next.
//!
//! The receiver stores each pose with the number of its datagram. A datagram with poses names an
//! [`AckedSet`]: the datagrams that the sender knows to have arrived. The baseline of an object is
//! its pose in the newest of them that carried one. So both ends find the same baseline without
//! sending its number, and the receiver may know more than what has been acknowledged.
//!
//! Numbers are those of datagrams, unwrapped ([`crate::link`]): they never start over.
//!
//! Invariants:
//! 1. Every baseline that a sender may use is stored: poses of the last [`HISTORY_DATAGRAMS`]
//!    datagrams and the newest older one. A sender names no set that lies more than
//!    [`MAX_ACKED_DISTANCE`] back, so its window ends before the stored poses do.
//! 2. A slot's tenant is the object that has the slot. The poses of an earlier tenant are stored
//!    until they are too old, so that its late poses can be read; these are not poses of the
//!    present tenant ([`BaselineHistory::is_of_present_tenant`]). A baseline is never a pose of
//!    another tenant: a sender codes the first pose only when an `Enter` of the tenant,
//!    whose pose is stored as well, has been acknowledged.
//!
//! Bound: [`HISTORY_DATAGRAMS`] + 1 poses of 40 bytes an object. [`BaselineHistory::prune`] also
//! drops the poses of an object that gets no new ones, once the acked set is far enough past them.

use super::Pose;
use crate::time::GameTime;
use crate::wire::{Coder, WireError};

/// The number of datagrams, up to the newest one, whose poses are stored.
pub const HISTORY_DATAGRAMS: u64 = 128;
/// How far behind a datagram's own number the newest of its acked set may be. The set reaches
/// `WINDOW` datagrams further back, and the link accepts a datagram that arrives after up to as
/// many newer ones. All these poses, and that of the newest datagram, must be stored.
pub const MAX_ACKED_DISTANCE: u64 = HISTORY_DATAGRAMS - 2 * WINDOW - 1;

/// Datagrams of an acked set before the newest.
const WINDOW: u64 = 32;

/// The datagrams that are known to have arrived: the newest of them, and which of the 32 before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AckedSet {
    /// Number of the newest.
    pub newest: u64,
    /// Bit `i`, from the lowest: the one `i + 1` before the newest.
    pub mask: u32,
}

impl AckedSet {
    /// Whether it is one of them.
    pub const fn contains(&self, number: u64) -> bool {
        match self.newest.checked_sub(number) {
            Some(0) => true,
            Some(back @ 1..=WINDOW) => self.mask >> (back - 1) & 1 == 1,
            _ => false,
        }
    }

    /// Number of the oldest datagram that a set with this newest one can hold.
    pub const fn window_start(&self) -> u64 {
        self.newest.saturating_sub(WINDOW)
    }

    /// Those of them after `number`, if there are any. A client that could not read the poses of
    /// datagram `number` revokes the acknowledgements of all datagrams up to it.
    pub fn after(self, number: u64) -> Option<Self> {
        let back = self.newest.checked_sub(number).filter(|back| *back > 0)?;
        let mask =
            if back > WINDOW { self.mask } else { self.mask & ((1_u64 << (back - 1)) - 1) as u32 };
        Some(Self { mask, ..self })
    }

    /// Whether datagram `number` may name it.
    pub const fn may_be_named_by(&self, number: u64) -> bool {
        self.newest < number && number - self.newest <= MAX_ACKED_DISTANCE
    }

    /// Reads, writes or measures the mask. The first bit is 1 if all are set, and nothing follows.
    /// Otherwise 2 bits give the shape, and the rest depends on it:
    /// - 0, all but one are set: 5 bits, the index of that one;
    /// - 1, all below an index are set and none from it on: 5 bits, that index;
    /// - 2, any other mask: its 32 bits.
    ///
    /// A writer uses the first of these that fits; a reader accepts each.
    pub(super) fn wire_mask<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let shape = MaskShape::of(self.mask);
        let mut all = shape.is_none();
        coder.flag(&mut all)?;
        if all {
            self.mask = u32::MAX;
            return Ok(());
        }
        let mut code = shape.map_or(0, |shape| shape as u64);
        coder.bits(&mut code, 2)?;
        let shape =
            MaskShape::from_code(code).ok_or(WireError::OutOfRange { what: "acked set" })?;
        let mut index = u64::from(self.mask.trailing_ones());
        match shape {
            MaskShape::AllButOne => {
                coder.bits(&mut index, 5)?;
                self.mask = !(1 << index);
            }
            MaskShape::AllBelow => {
                coder.bits(&mut index, 5)?;
                self.mask = (1 << index) - 1;
            }
            MaskShape::Other => coder.u32(&mut self.mask)?,
        }
        Ok(())
    }
}

/// The shape of a mask that is not full, as it is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MaskShape {
    AllButOne = 0,
    AllBelow = 1,
    Other = 2,
}

impl MaskShape {
    /// `None` if all are set.
    const fn of(mask: u32) -> Option<Self> {
        if mask == u32::MAX {
            None
        } else if mask & mask.wrapping_add(1) == 0 {
            Some(Self::AllBelow)
        } else if mask.count_zeros() == 1 {
            Some(Self::AllButOne)
        } else {
            Some(Self::Other)
        }
    }

    const fn from_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::AllButOne),
            1 => Some(Self::AllBelow),
            2 => Some(Self::Other),
            _ => None,
        }
    }
}

/// A pose that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedPose {
    /// Number of its datagram, which carried it in the pose section or in a record.
    pub number: u64,
    /// That datagram's stamp.
    pub stamp: GameTime,
    /// On the grid of the object's kind.
    pub pose: Pose,
}

/// The received poses of one slot.
#[derive(Clone, Debug, Default)]
pub struct BaselineHistory {
    /// In ascending order of their numbers, without duplicates.
    poses: Vec<ReceivedPose>,
    /// For each tenant, the number of the first datagram about it; the present tenant first.
    tenant_starts: [u64; TENANTS],
}

/// Tenants of a slot whose poses may still be used: a slot gets a new tenant only when the `Leave`
/// of the old one has been acknowledged, which takes a round trip.
const TENANTS: usize = 3;

impl BaselineHistory {
    /// No poses yet of an object whose `Enter` is in datagram `number`.
    pub const fn new(number: u64) -> Self {
        Self { poses: Vec::new(), tenant_starts: [number, 0, 0] }
    }

    /// The slot has a new tenant of the same format, whose `Enter` is in datagram `number`.
    pub fn start_tenant(&mut self, number: u64) {
        self.tenant_starts.rotate_right(1);
        self.tenant_starts[0] = number;
    }

    /// Whether the pose section of datagram `number` is about the present tenant.
    pub const fn is_of_present_tenant(&self, number: u64) -> bool {
        number >= self.tenant_starts[0]
    }

    /// Adds a pose of the present tenant, also a late one, and drops poses that are too old to be a
    /// baseline.
    pub fn insert(&mut self, received: ReceivedPose) {
        // An `Enter` may be sent more than once, and the first one arrive last.
        self.tenant_starts[0] = self.tenant_starts[0].min(received.number);
        match self.poses.binary_search_by_key(&received.number, |received| received.number) {
            Ok(index) => self.poses[index] = received,
            Err(index) => self.poses.insert(index, received),
        }
        let newest = self.newest().map_or(0, |newest| newest.number);
        self.drop_before(newest.saturating_sub(HISTORY_DATAGRAMS - 1));
    }

    /// Drops poses that are no baselines of a sender any more once a datagram has named `acked`.
    /// An earlier datagram may still arrive; the poses that it may use are kept.
    pub fn prune(&mut self, acked: &AckedSet) {
        self.drop_before(acked.window_start().saturating_sub(WINDOW + MAX_ACKED_DISTANCE));
    }

    /// The baseline of mode [`Window`](super::BaselineMode::Window).
    pub fn baseline(&self, acked: &AckedSet) -> Option<&ReceivedPose> {
        self.poses.iter().rev().find(|received| acked.contains(received.number))
    }

    /// The baseline of mode [`Old`](super::BaselineMode::Old): the newest pose before datagram
    /// `window_start`.
    pub fn newest_before(&self, window_start: u64) -> Option<&ReceivedPose> {
        self.poses.iter().rev().find(|received| received.number < window_start)
    }

    /// Replaces `out` by all poses in the acked set of the tenant whose pose is the
    /// [baseline](Self::baseline), the newest first.
    pub fn acked_poses(&self, acked: &AckedSet, out: &mut Vec<(GameTime, Pose)>) {
        out.clear();
        let Some(baseline) = self.baseline(acked) else {
            return;
        };
        let start =
            self.tenant_starts.into_iter().find(|start| *start <= baseline.number).unwrap_or(0);
        let known = self
            .poses
            .iter()
            .rev()
            .filter(|received| received.number >= start && acked.contains(received.number));
        out.extend(known.map(|received| (received.stamp, received.pose)));
    }

    /// The newest pose that has arrived.
    pub fn newest(&self) -> Option<&ReceivedPose> {
        self.poses.last()
    }

    /// The poses, from the oldest on.
    pub fn poses(&self) -> &[ReceivedPose] {
        &self.poses
    }

    /// Drops all poses.
    pub fn clear(&mut self) {
        self.poses.clear();
    }

    /// Drops all poses before datagram `number` but the newest of them.
    fn drop_before(&mut self, number: u64) {
        let older = self.poses.partition_point(|received| received.number < number);
        self.poses.drain(..older.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Measure, Reader, WRITE_CANNOT_FAIL, Writer};

    #[test]
    fn an_acked_set_contains_the_newest_and_those_in_its_mask() {
        let acked = AckedSet { newest: 100, mask: 0b1000_0101 };
        let held: Vec<u64> = (0..200).filter(|number| acked.contains(*number)).collect();
        assert_eq!(held, [92, 97, 99, 100]);
        assert!(AckedSet { newest: 3, mask: u32::MAX }.contains(0));
        let all = AckedSet { newest: 100, mask: u32::MAX };
        assert!(all.contains(68) && !all.contains(67));
        assert_eq!(all.window_start(), 68);
    }

    #[test]
    fn revoked_datagrams_are_removed_from_a_set() {
        let acked = AckedSet { newest: 100, mask: u32::MAX };
        for number in 0..110 {
            let left: Vec<u64> = (0..=100).filter(|n| acked.contains(*n) && *n > number).collect();
            let after = acked.after(number);
            let held: Vec<u64> =
                (0..=100).filter(|n| after.is_some_and(|after| after.contains(*n))).collect();
            assert_eq!(held, left, "{number}");
        }
    }

    #[test]
    fn a_mask_without_holes_takes_one_bit() {
        for (mask, bits) in
            [(u32::MAX, 1), (u32::MAX - 4, 8), (0b111, 8), (0, 8), (u32::MAX >> 1, 8), (0b101, 35)]
        {
            let mut acked = AckedSet { newest: 100, mask };
            let mut measure = Measure::new();
            acked.wire_mask(&mut measure).expect("measuring cannot fail");
            assert_eq!(measure.bits(), bits, "{mask:b}");
            let mut bytes = Vec::new();
            acked.wire_mask(&mut Writer::new(&mut bytes)).expect(WRITE_CANNOT_FAIL);
            let mut read = AckedSet { newest: 100, mask: 0 };
            assert_eq!(read.wire_mask(&mut Reader::new(&bytes)), Ok(()));
            assert_eq!(read, acked);
        }
    }

    #[test]
    fn each_form_of_a_mask_is_read_and_a_fourth_shape_is_refused() {
        let below = |index: u64| (1_u32 << index) - 1;
        let forms = (0..32)
            .flat_map(|index| {
                [
                    ((0, index, 5), Some(!(1 << index))),
                    ((1, index, 5), Some(below(index))),
                    ((2, (!(1_u32 << index)).into(), 32), Some(!(1 << index))),
                    ((2, below(index).into(), 32), Some(below(index))),
                    ((3, index, 32), None),
                ]
            })
            .chain([((2, u64::from(u32::MAX), 32), Some(u32::MAX))]);
        for ((shape, rest, width), mask) in forms {
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes);
            writer.flag(&mut false).expect(WRITE_CANNOT_FAIL);
            for (mut bits, width) in [(shape, 2), (rest, width)] {
                writer.bits(&mut bits, width).expect(WRITE_CANNOT_FAIL);
            }
            writer.finish();
            let mut acked = AckedSet::default();
            let read = acked.wire_mask(&mut Reader::new(&bytes));
            assert_eq!(read.ok().map(|()| acked.mask), mask, "shape {shape}, {rest:b}");
        }
    }

    #[test]
    fn the_baseline_is_the_newest_pose_known_to_have_arrived() {
        let mut received = BaselineHistory::default();
        for number in [50, 3, 40, 60, 45] {
            received.insert(entry(number));
        }
        let baseline = |newest, mask| {
            received.baseline(&AckedSet { newest, mask }).map(|received| received.number)
        };
        assert_eq!(baseline(60, 0), Some(60));
        assert_eq!(baseline(59, u32::MAX), Some(50));
        assert_eq!(baseline(59, !(1 << 8)), Some(45));
        assert_eq!(baseline(59, 0), None);
        let window_start = AckedSet { newest: 71, mask: 0 }.window_start();
        assert_eq!(received.newest_before(window_start).map(|received| received.number), Some(3));
        let mut history = Vec::new();
        received.acked_poses(&AckedSet { newest: 60, mask: u32::MAX }, &mut history);
        assert_eq!(
            history.iter().map(|(stamp, _)| stamp.millis()).collect::<Vec<_>>(),
            [60, 50, 45, 40]
        );
    }

    #[test]
    fn of_poses_older_than_the_window_the_newest_is_kept() {
        let mut received = BaselineHistory::default();
        for number in [1, 2, 3, 100, 131] {
            received.insert(entry(number));
        }
        assert_eq!(received.poses().len(), 3, "{received:?}");
        assert_eq!(received.newest_before(100).map(|received| received.number), Some(3));
        // Poses that a late datagram may use stay.
        received.prune(&AckedSet { newest: 190, mask: 0 });
        assert_eq!(received.poses().len(), 3);
        received.prune(&AckedSet { newest: 101 + 2 * WINDOW + MAX_ACKED_DISTANCE, mask: 0 });
        assert_eq!(received.poses().len(), 2);
        (200..2_000).for_each(|number| received.insert(entry(number)));
        assert_eq!(received.poses().len() as u64, HISTORY_DATAGRAMS + 1);
    }

    #[test]
    fn a_history_separates_the_poses_of_successive_tenants() {
        let mut received = BaselineHistory::new(7);
        assert!(received.is_of_present_tenant(7) && !received.is_of_present_tenant(6));
        received.insert(entry(8));
        received.start_tenant(20);
        assert!(!received.is_of_present_tenant(19) && received.is_of_present_tenant(20));
        assert_eq!(
            received.baseline(&AckedSet { newest: 8, mask: 0 }).map(|received| received.number),
            Some(8)
        );

        let stamps = |received: &BaselineHistory, newest| {
            let mut history = Vec::new();
            received.acked_poses(&AckedSet { newest, mask: u32::MAX }, &mut history);
            history.iter().map(|(stamp, _)| stamp.millis()).collect::<Vec<_>>()
        };
        received.insert(entry(20));
        received.insert(entry(25));
        assert_eq!(stamps(&received, 25), [25, 20]);
        assert_eq!(stamps(&received, 15), [8]);
        // The first `Enter` of the new tenant arrives last.
        received.insert(entry(18));
        assert_eq!(stamps(&received, 25), [25, 20, 18]);
        assert!(received.is_of_present_tenant(18));
    }

    fn entry(number: u64) -> ReceivedPose {
        ReceivedPose { number, stamp: GameTime::from_millis(number), pose: Pose::default() }
    }
}
