//! Which datagram carried which state. The owner stores a datagram's contents under its number, and
//! gets them back when the link reports the outcome.
//!
//! The owner records while it writes a datagram, and takes at
//! [`LinkEvent::Acked`](super::LinkEvent::Acked) (a new baseline) and at
//! [`LinkEvent::Lost`](super::LinkEvent::Lost) (changed again).
//!
//! Invariant: datagrams 1,024 and more before the newest are forgotten. A link has half as many in
//! flight, so an owner that polls the events after each write, or after a few, loses none. Cost: a
//! binary search; storage is reused, and empty logs hold none.

use std::collections::VecDeque;
use std::vec::Drain;

use super::SENT_WINDOW;
use crate::ids::Seq;

/// How far back a log reaches: the datagrams in flight, and as many whose outcome the owner has not
/// handled yet.
const REMEMBERED_NUMBERS: i16 = 2 * SENT_WINDOW as i16;

/// The contents of each datagram in flight.
#[derive(Clone, Debug)]
pub struct PacketLog<T> {
    /// In the order of sending.
    entries: VecDeque<(Seq, Vec<T>)>,
    /// Emptied lists, kept for their storage.
    spare: Vec<Vec<T>>,
}

impl<T> Default for PacketLog<T> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            spare: Vec::new(),
        }
    }
}

impl<T> PacketLog<T> {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The list of contents of `seq`, to append to. Datagrams are recorded in the order of sending.
    pub fn record(&mut self, seq: Seq) -> &mut Vec<T> {
        self.forget_before(seq);
        if self.entries.back().is_none_or(|&(newest, _)| newest != seq) {
            let list = self.spare.pop().unwrap_or_default();
            self.entries.push_back((seq, list));
        }
        let (_, list) = self.entries.back_mut().expect("an entry was pushed");
        list
    }

    /// Removes and returns the contents of `seq`; empty if it was not recorded or was taken before.
    pub fn take(&mut self, seq: Seq) -> Drain<'_, T> {
        let place = self
            .entries
            .partition_point(|&(entry, _)| seq.newer_than(entry));
        let found = self
            .entries
            .get(place)
            .is_some_and(|&(entry, _)| entry == seq);
        let list = if found {
            self.entries.remove(place).map(|(_, list)| list)
        } else {
            None
        };
        self.spare.extend(list);
        if self.spare.is_empty() {
            self.spare.push(Vec::new());
        }
        self.spare.last_mut().expect("one was pushed").drain(..)
    }

    /// How many datagrams are remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no datagram is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Forgets datagrams whose outcome the link reported long before `seq` leaves, but the owner
    /// did not handle.
    fn forget_before(&mut self, seq: Seq) {
        let outdated = |&mut (entry, _): &mut (Seq, Vec<T>)| {
            let age = entry.distance_to(seq);
            !(0..REMEMBERED_NUMBERS).contains(&age)
        };
        while let Some((_, mut list)) = self.entries.pop_front_if(outdated) {
            list.clear();
            self.spare.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn it_returns_what_was_recorded_as_a_plain_map_does() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut log, mut map) = (PacketLog::new(), BTreeMap::<u64, Vec<u64>>::new());
            for number in 65_000..67_000 {
                for item in 0..rng.u64(0..4) {
                    log.record(Seq(number as u16)).push(number * 10 + item);
                    map.entry(number).or_default().push(number * 10 + item);
                }
                for _ in 0..rng.usize(0..3) {
                    let reported = number - rng.u64(0..100);
                    let taken: Vec<_> = log.take(Seq(reported as u16)).collect();
                    assert_eq!(
                        taken,
                        map.remove(&reported).unwrap_or_default(),
                        "seed {seed}"
                    );
                }
                // The link reports the oldest before it needs its slot.
                let oldest = number - 126;
                assert_eq!(
                    log.take(Seq(oldest as u16)).collect::<Vec<_>>(),
                    map.remove(&oldest).unwrap_or_default()
                );
                assert_eq!(log.len(), map.len());
            }
        }
    }

    #[test]
    fn it_stays_bounded_when_the_owner_never_takes() {
        let mut log = PacketLog::new();
        for number in 0..100_000_u32 {
            log.record(Seq(number as u16)).push(number);
            assert!(log.len() <= REMEMBERED_NUMBERS as usize && log.spare.len() <= 1);
        }
        assert_eq!(
            log.take(Seq(99_999_u32 as u16)).collect::<Vec<_>>(),
            [99_999]
        );
    }

    #[test]
    fn storage_is_reused() {
        let mut log = PacketLog::new();
        log.record(Seq(0)).extend(0..100);
        log.take(Seq(0));
        for number in 1..1_000 {
            assert!(log.record(Seq(number)).capacity() >= 100);
            log.take(Seq(number));
        }
        assert_eq!(log.spare.len(), 1);
    }
}
