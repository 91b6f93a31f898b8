//! The recent datagrams to one client: when each was sent, and its outcome.
//!
//! What the link reports goes in ([`SentDatagrams::note_acked`], [`SentDatagrams::note_lost`]). Out
//! comes the **window**: the newest datagram that the client is known to have, and which of the 32
//! before it. Both ends derive the baselines of poses from it, so no baseline is named object by
//! object.
//!
//! Invariants:
//! 1. A datagram in the window was acknowledged, and was sent after the client last missed a
//!    baseline ([`SentDatagrams::revoke_baselines`]); or it carried no pose, so that it is no
//!    baseline whatever its outcome: a window without holes takes fewer bits.
//! 2. Numbers ascend by one with each datagram, whatever it carries, as the client counts them too.
//!
//! Cost: constant, whatever the number of objects; half a KiB a client.

use ambit_proto::pose::AckedSet;
use ambit_proto::time::GameTime;

/// Datagrams whose stamps and outcomes are kept: more than a window, so that those in flight are
/// covered too.
pub const REMEMBERED_DATAGRAMS: u64 = 64;
/// How far the window reaches back from its newest datagram.
const WINDOW_REACH: u64 = 32;

/// The outcome of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It is neither acknowledged nor lost yet.
    InFlight,
    /// The client has acknowledged it.
    Acked,
    /// It is lost, or too old to be known.
    Lost,
}

/// The recent datagrams to one client; see the module.
#[derive(Debug)]
pub struct SentDatagrams {
    /// Number of the next datagram.
    next: u64,
    /// Stamps by datagram number modulo [`REMEMBERED_DATAGRAMS`].
    stamps: [GameTime; REMEMBERED_DATAGRAMS as usize],
    /// Bit `number % REMEMBERED_DATAGRAMS`: the datagram was acknowledged.
    acked: u64,
    /// Likewise: it was lost.
    lost: u64,
    /// Likewise: it carried no pose.
    without_poses: u64,
    newest_acked: Option<u64>,
    /// Datagrams before this number are no baselines.
    baseline_floor: u64,
}

/// The datagrams that a client is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramWindow {
    /// Number of the newest one.
    pub newest: u64,
    /// Bit `i` is datagram `newest - i`; bit 0 is set.
    pub mask: u64,
}

impl Default for SentDatagrams {
    fn default() -> Self {
        let stamps = [GameTime::ZERO; REMEMBERED_DATAGRAMS as usize];
        SentDatagrams {
            next: 0,
            stamps,
            acked: 0,
            lost: 0,
            without_poses: 0,
            newest_acked: None,
            baseline_floor: 0,
        }
    }
}

impl SentDatagrams {
    /// The number of the next datagram; the link counts in the same way.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Notes that the next datagram was sent in the tick of `stamp`, and whether it carries a pose.
    pub fn note_sent(&mut self, stamp: GameTime, has_pose: bool) {
        let bit = bit(self.next);
        self.stamps[index(self.next)] = stamp;
        self.acked &= !bit;
        self.lost &= !bit;
        self.without_poses = if has_pose {
            self.without_poses & !bit
        } else {
            self.without_poses | bit
        };
        self.next += 1;
    }

    /// Notes that the client has acknowledged a datagram.
    pub fn note_acked(&mut self, number: u64) {
        if self.remembers(number) {
            self.acked |= bit(number);
            self.newest_acked = self.newest_acked.max(Some(number));
        }
    }

    /// Notes that a datagram is lost.
    pub fn note_lost(&mut self, number: u64) {
        if self.remembers(number) {
            self.lost |= bit(number);
        }
    }

    /// Revokes all baselines: the client cannot decode what refers to the datagrams sent so far.
    pub fn revoke_baselines(&mut self) {
        self.baseline_floor = self.next;
    }

    /// Number of the first datagram that may be a baseline.
    pub fn baseline_floor(&self) -> u64 {
        self.baseline_floor
    }

    /// The datagrams that the client is known to have; `None` if none of them can be a baseline.
    pub fn window(&self) -> Option<DatagramWindow> {
        let is_near = |newest: &u64| {
            *newest >= self.baseline_floor && self.next - newest < REMEMBERED_DATAGRAMS
        };
        let newest = self.newest_acked.filter(is_near)?;
        // The newest is bit 63 after the rotation, and bit 0 after the reversal.
        let newest_first = (self.acked | self.without_poses)
            .rotate_left(63 - index(newest) as u32)
            .reverse_bits();
        // Neither before the floor, nor where newer datagrams have reused the entries.
        let reach = (newest - self.baseline_floor)
            .min(WINDOW_REACH)
            .min(REMEMBERED_DATAGRAMS - (self.next - newest));
        Some(DatagramWindow {
            newest,
            mask: newest_first & (u64::MAX >> (63 - reach)),
        })
    }

    /// The outcome of a datagram.
    pub fn outcome(&self, number: u64) -> DeliveryOutcome {
        match () {
            () if !self.remembers(number) => DeliveryOutcome::Lost,
            () if self.acked & bit(number) != 0 => DeliveryOutcome::Acked,
            () if self.lost & bit(number) != 0 => DeliveryOutcome::Lost,
            () => DeliveryOutcome::InFlight,
        }
    }

    /// The stamp of a datagram that is still remembered.
    pub fn stamp(&self, number: u64) -> GameTime {
        self.stamps[index(number)]
    }

    fn remembers(&self, number: u64) -> bool {
        number < self.next && number + REMEMBERED_DATAGRAMS >= self.next
    }
}

impl DatagramWindow {
    /// The window in the form in which it is sent to the client.
    pub fn acked_set(&self) -> AckedSet {
        AckedSet {
            newest: self.newest,
            mask: (self.mask >> 1) as u32,
        }
    }
}

const fn index(number: u64) -> usize {
    (number % REMEMBERED_DATAGRAMS) as usize
}

const fn bit(number: u64) -> u64 {
    1 << (number % REMEMBERED_DATAGRAMS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_matches_a_plain_list() {
        for seed in 0..30 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut datagrams, mut acked, mut floor) = (SentDatagrams::default(), Vec::new(), 0);
            let mut bare = Vec::new();
            for _ in 0..500 {
                if rng.u8(0..4) == 0 {
                    bare.push(datagrams.next());
                }
                datagrams.note_sent(
                    GameTime::from_millis(datagrams.next() * 50),
                    bare.last() != Some(&datagrams.next()),
                );
                let number = datagrams.next().saturating_sub(rng.u64(1..40));
                if rng.bool() && !acked.contains(&number) {
                    datagrams.note_acked(number);
                    acked.push(number);
                } else {
                    datagrams.note_lost(number);
                }
                if rng.u8(0..100) == 0 {
                    datagrams.revoke_baselines();
                    floor = datagrams.next();
                }
                let next = datagrams.next();
                let newest = acked
                    .iter()
                    .copied()
                    .max()
                    .filter(|&newest| newest >= floor && newest + 64 > next);
                let expected = newest.map(|newest| {
                    let lowest = floor
                        .max(newest.saturating_sub(32))
                        .max(next.saturating_sub(64));
                    let known = acked
                        .iter()
                        .chain(&bare)
                        .filter(|&&number| (lowest..=newest).contains(&number));
                    DatagramWindow {
                        newest,
                        mask: known.fold(0, |mask, number| mask | 1 << (newest - number)),
                    }
                });
                assert_eq!(datagrams.window(), expected, "seed {seed}, next {next}");
            }
        }
    }

    #[test]
    fn an_outcome_is_known_until_its_entry_is_reused() {
        let mut datagrams = SentDatagrams::default();
        assert_eq!(
            datagrams.outcome(0),
            DeliveryOutcome::Lost,
            "it was never sent"
        );
        (0..3).for_each(|n| datagrams.note_sent(GameTime::from_millis(n), true));
        datagrams.note_acked(0);
        datagrams.note_lost(1);
        assert_eq!(
            [0, 1, 2].map(|number| datagrams.outcome(number)),
            [
                DeliveryOutcome::Acked,
                DeliveryOutcome::Lost,
                DeliveryOutcome::InFlight
            ]
        );
        assert_eq!(datagrams.stamp(2), GameTime::from_millis(2));
        (0..64).for_each(|n| datagrams.note_sent(GameTime::from_millis(n), true));
        assert_eq!(
            [0, 1, 2].map(|number| datagrams.outcome(number)),
            [DeliveryOutcome::Lost; 3]
        );
        assert_eq!(datagrams.window(), None);
    }
}
