//! Which earlier poses of an object both ends know, and which one is the base of the next.
//!
//! The receiver notes each pose with the number of the datagram that brought it. A datagram with
//! poses names an [`AckedSet`]: the datagrams of which the sender knows that they arrived. The base
//! of an object is its pose in the newest of them that carried one; so both ends find the same
//! without a word about it, and it is no harm that the receiver knows more than the sender has
//! heard of.
//!
//! SentDatagrams are those of datagrams, unwrapped ([`crate::link`]): they never start over.
//!
//! Invariants:
//! 1. What a sender may name is still there: entries of the last [`KEPT_DATAGRAMS`] datagrams and
//!    the newest older one. A sender names no set that lies more than [`MAX_LAG`] back, so its
//!    window ends before the entries do.
//! 2. The entries of a slot's earlier tenant stay until they are too old, so that its late poses
//!    can be read; but they are no news of the new tenant ([`Kept::admits`]). A base is never a
//!    pose of another tenant, since a sender codes the first pose only when an `ObjectEntered` of
//!    the tenant has been acknowledged, which is an entry as well.
//!
//! Bound: [`KEPT_DATAGRAMS`] + 1 entries of 40 bytes an object; [`Kept::prune`] brings it to what
//! came within a round trip and 64 datagrams. PoseSource: reference 002 (delta compression against
//! acknowledged bases).

use super::Pose;
use crate::time::GameTime;
use crate::wire::{Coder, WireError};

/// Of how many datagrams, up to the newest one noted, entries are kept.
pub const KEPT_DATAGRAMS: u64 = 128;
/// How far behind a datagram's own number the newest of its acked set may be.
pub const MAX_LAG: u64 = KEPT_DATAGRAMS - 2 * WINDOW - 1;

/// Datagrams of an acked set besides the newest.
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

    /// Those of them that came after `number`, if there are any: what is left when all up to it
    /// have lost their worth.
    pub fn after(self, number: u64) -> Option<Self> {
        let back = self.newest.checked_sub(number).filter(|back| *back > 0)?;
        let mask = if back > WINDOW {
            self.mask
        } else {
            self.mask & ((1_u64 << (back - 1)) - 1) as u32
        };
        Some(Self { mask, ..self })
    }

    /// Whether a datagram of this number may name it.
    pub const fn may_be_named_by(&self, number: u64) -> bool {
        self.newest < number && number - self.newest <= MAX_LAG
    }

    /// Reads, writes or measures the mask: 1 bit, all are set; else 2 bits and 0, all but one, its
    /// index in 5 bits; 1, all below an index of 5 bits and none from it on; 2, the mask in 32
    /// bits.
    pub(super) fn wire_mask<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let sent = Shape::of(self.mask);
        let mut all = sent == Shape::All;
        coder.flag(&mut all)?;
        if all {
            self.mask = u32::MAX;
            return Ok(());
        }
        let mut shape = sent as u64;
        coder.bits(&mut shape, 2)?;
        let mut index = u64::from(self.mask.trailing_ones());
        match shape {
            0 => {
                coder.bits(&mut index, 5)?;
                self.mask = !(1 << index);
            }
            1 => {
                coder.bits(&mut index, 5)?;
                self.mask = (1 << index) - 1;
            }
            _ => coder.u32(&mut self.mask)?,
        }
        // Each mask has one encoding.
        let shortest = Shape::of(self.mask) as u64 == shape;
        if shortest {
            Ok(())
        } else {
            Err(WireError::OutOfRange { what: "acked set" })
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    AllButOne,
    Below,
    Any,
    All,
}

impl Shape {
    const fn of(mask: u32) -> Self {
        if mask == u32::MAX {
            Self::All
        } else if mask & mask.wrapping_add(1) == 0 {
            Self::Below
        } else if mask.count_zeros() == 1 {
            Self::AllButOne
        } else {
            Self::Any
        }
    }
}

/// A pose that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number of the datagram that brought it, in its pose section or in a record.
    pub number: u64,
    /// That datagram's stamp.
    pub stamp: GameTime,
    /// The pose.
    pub pose: Pose,
}

/// What a receiver keeps of one object, or rather of one slot.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// In ascending order of their numbers, each once.
    entries: Vec<Entry>,
    /// Number of the first datagram that spoke of the present tenant, and of the ones before it.
    since: [u64; TENANTS],
}

/// Tenants of a slot whose poses may still be used: a slot is given away anew only when a `Leave`
/// has been acknowledged, which takes a round trip.
const TENANTS: usize = 3;

impl Kept {
    /// Nothing is known yet of an object that an `ObjectEntered` in datagram `number` has
    /// introduced.
    pub const fn new(number: u64) -> Self {
        Self {
            entries: Vec::new(),
            since: [number, 0, 0],
        }
    }

    /// The slot has a new tenant of the same format, which an `ObjectEntered` in datagram `number`
    /// has introduced.
    pub fn restart(&mut self, number: u64) {
        self.since.rotate_right(1);
        self.since[0] = number;
    }

    /// Whether a pose section in datagram `number` speaks of the present tenant.
    pub const fn admits(&self, number: u64) -> bool {
        number >= self.since[0]
    }

    /// Adds a pose of the present tenant, also one that comes late; what is too old to be a base is
    /// dropped.
    pub fn note(&mut self, entry: Entry) {
        // An `ObjectEntered` may be told more than once, and the first telling arrive last.
        self.since[0] = self.since[0].min(entry.number);
        match self
            .entries
            .binary_search_by_key(&entry.number, |entry| entry.number)
        {
            Ok(index) => self.entries[index] = entry,
            Err(index) => self.entries.insert(index, entry),
        }
        let newest = self.newest().map_or(0, |newest| newest.number);
        self.drop_before(newest.saturating_sub(KEPT_DATAGRAMS - 1));
    }

    /// Drops what no sender that has named `acked` can use any more. A datagram before the one that
    /// named it may come in later, with a set as far back as a sender may name one: what that takes
    /// is kept.
    pub fn prune(&mut self, acked: &AckedSet) {
        self.drop_before(acked.window_start().saturating_sub(WINDOW + MAX_LAG));
    }

    /// The base of mode [`DatagramWindow`](super::Mode::DatagramWindow).
    pub fn base(&self, acked: &AckedSet) -> Option<&Entry> {
        self.entries
            .iter()
            .rev()
            .find(|entry| acked.contains(entry.number))
    }

    /// The base of mode [`Old`](super::Mode::Old): the newest before datagram `window_start`.
    pub fn older_than(&self, window_start: u64) -> Option<&Entry> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.number < window_start)
    }

    /// All poses in the acked set of the tenant whose pose is the [base](Self::base), the newest
    /// first; clears `out` before.
    pub fn history(&self, acked: &AckedSet, out: &mut Vec<(GameTime, Pose)>) {
        out.clear();
        let Some(base) = self.base(acked) else { return };
        let since = self
            .since
            .into_iter()
            .find(|since| *since <= base.number)
            .unwrap_or(0);
        let known = self
            .entries
            .iter()
            .rev()
            .filter(|entry| entry.number >= since && acked.contains(entry.number));
        out.extend(known.map(|entry| (entry.stamp, entry.pose)));
    }

    /// The newest pose that has come.
    pub fn newest(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// The entries, from the oldest on.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// All before datagram `number` but the newest of them.
    fn drop_before(&mut self, number: u64) {
        let older = self.entries.partition_point(|entry| entry.number < number);
        self.entries.drain(..older.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Measure, Reader, Writer};

    #[test]
    fn a_set_holds_the_newest_and_those_of_its_mask() {
        let acked = AckedSet {
            newest: 100,
            mask: 0b1000_0101,
        };
        let held: Vec<u64> = (0..200).filter(|number| acked.contains(*number)).collect();
        assert_eq!(held, [92, 97, 99, 100]);
        assert!(
            AckedSet {
                newest: 3,
                mask: u32::MAX
            }
            .contains(0)
        );
        let all = AckedSet {
            newest: 100,
            mask: u32::MAX,
        };
        assert!(all.contains(68) && !all.contains(67));
        assert_eq!(all.window_start(), 68);
    }

    #[test]
    fn what_lost_its_worth_is_taken_out_of_a_set() {
        let acked = AckedSet {
            newest: 100,
            mask: u32::MAX,
        };
        for number in 0..110 {
            let left: Vec<u64> = (0..=100)
                .filter(|n| acked.contains(*n) && *n > number)
                .collect();
            let after = acked.after(number);
            let held: Vec<u64> = (0..=100)
                .filter(|n| after.is_some_and(|after| after.contains(*n)))
                .collect();
            assert_eq!(held, left, "{number}");
        }
    }

    #[test]
    fn a_mask_without_holes_takes_one_bit() {
        for (mask, bits) in [
            (u32::MAX, 1),
            (u32::MAX - 4, 8),
            (0b111, 8),
            (0, 8),
            (u32::MAX >> 1, 8),
            (0b101, 35),
        ] {
            let mut acked = AckedSet { newest: 100, mask };
            let mut measure = Measure::new();
            acked
                .wire_mask(&mut measure)
                .expect("a measure refuses nothing");
            assert_eq!(measure.bits(), bits, "{mask:b}");
            let mut bytes = Vec::new();
            acked
                .wire_mask(&mut Writer::new(&mut bytes))
                .expect("a writer refuses nothing");
            let mut read = AckedSet {
                newest: 100,
                mask: 0,
            };
            assert_eq!(read.wire_mask(&mut Reader::new(&bytes)), Ok(()));
            assert_eq!(read, acked);
        }
    }

    #[test]
    fn the_base_is_the_newest_pose_that_is_known_to_have_arrived() {
        let mut kept = Kept::default();
        for number in [50, 3, 40, 60, 45] {
            kept.note(entry(number));
        }
        let base = |newest, mask| {
            kept.base(&AckedSet { newest, mask })
                .map(|entry| entry.number)
        };
        assert_eq!(base(60, 0), Some(60));
        assert_eq!(base(59, u32::MAX), Some(50));
        assert_eq!(base(59, !(1 << 8)), Some(45));
        assert_eq!(base(59, 0), None);
        let window_start = AckedSet {
            newest: 71,
            mask: 0,
        }
        .window_start();
        assert_eq!(
            kept.older_than(window_start).map(|entry| entry.number),
            Some(3)
        );
        let mut history = Vec::new();
        kept.history(
            &AckedSet {
                newest: 60,
                mask: u32::MAX,
            },
            &mut history,
        );
        assert_eq!(
            history
                .iter()
                .map(|(stamp, _)| stamp.millis())
                .collect::<Vec<_>>(),
            [60, 50, 45, 40]
        );
    }

    #[test]
    fn of_what_is_too_old_the_newest_stays() {
        let mut kept = Kept::default();
        for number in [1, 2, 3, 100, 131] {
            kept.note(entry(number));
        }
        assert_eq!(kept.entries().len(), 3, "{kept:?}");
        assert_eq!(kept.older_than(100).map(|entry| entry.number), Some(3));
        // What a datagram that comes late may name stays.
        kept.prune(&AckedSet {
            newest: 190,
            mask: 0,
        });
        assert_eq!(kept.entries().len(), 3);
        kept.prune(&AckedSet {
            newest: 101 + 2 * WINDOW + MAX_LAG,
            mask: 0,
        });
        assert_eq!(kept.entries().len(), 2);
        (200..2_000).for_each(|number| kept.note(entry(number)));
        assert_eq!(kept.entries().len() as u64, KEPT_DATAGRAMS + 1);
    }

    #[test]
    fn poses_of_an_earlier_tenant_are_no_news_of_the_present_one() {
        let mut kept = Kept::new(7);
        assert!(kept.admits(7) && !kept.admits(6));
        kept.note(entry(8));
        kept.restart(20);
        assert!(!kept.admits(19) && kept.admits(20));
        assert_eq!(
            kept.base(&AckedSet { newest: 8, mask: 0 })
                .map(|entry| entry.number),
            Some(8)
        );

        let stamps = |kept: &Kept, newest| {
            let mut history = Vec::new();
            kept.history(
                &AckedSet {
                    newest,
                    mask: u32::MAX,
                },
                &mut history,
            );
            history
                .iter()
                .map(|(stamp, _)| stamp.millis())
                .collect::<Vec<_>>()
        };
        kept.note(entry(20));
        kept.note(entry(25));
        assert_eq!(stamps(&kept, 25), [25, 20]);
        assert_eq!(stamps(&kept, 15), [8]);
        // The first `ObjectEntered` of the new tenant arrives last.
        kept.note(entry(18));
        assert_eq!(stamps(&kept, 25), [25, 20, 18]);
        assert!(kept.admits(18));
    }

    fn entry(number: u64) -> Entry {
        Entry {
            number,
            stamp: GameTime::from_millis(number),
            pose: Pose::default(),
        }
    }
}
