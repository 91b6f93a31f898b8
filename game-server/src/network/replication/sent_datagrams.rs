//! The datagrams that one client was sent lately: when each left, and what became of it.
//!
//! What the link reports goes in ([`SentDatagrams::acked`], [`SentDatagrams::lost`]); out comes the
//! **window**: the newest datagram that the client is known to have, and which of the 32 before it.
//! Both ends take the bases of poses from there, so no base is named object by object.
//!
//! Invariants:
//! 1. What is in the window was acknowledged, and left since the client last lost track
//!    ([`SentDatagrams::revoke_baselines`]); or it bore no pose, so that it is no base whatever
//!    became of it: a window without holes is told in fewer bits.
//! 2. SentDatagrams ascend by one with each datagram, whether it carries anything or not, as the
//!    client counts them too.
//!
//! Cost: constant, whatever the number of objects; half a KiB a client.

use ambit_proto::pose::AckedSet;
use ambit_proto::time::GameTime;

/// Datagrams of which is known when they left: more than a window, so that what is in flight is
/// judged as well.
pub const REMEMBERED_DATAGRAMS: u64 = 64;
/// How far behind its newest datagram the window reaches.
const WINDOW_REACH: u64 = 32;

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// Nothing is known yet.
    InFlight,
    /// The client has it.
    Acked,
    /// It is lost, or too long ago to tell.
    Lost,
}

/// See the module.
#[derive(Debug)]
pub struct SentDatagrams {
    /// Of the next datagram.
    next: u64,
    /// When each left, by its number modulo [`REMEMBERED`].
    stamps: [GameTime; REMEMBERED_DATAGRAMS as usize],
    /// Bit `number % REMEMBERED`: it was acknowledged.
    acked: u64,
    /// Likewise: it was lost.
    lost: u64,
    /// Likewise: it bore no pose.
    without_poses: u64,
    newest_acked: Option<u64>,
    /// What left before this is no base.
    baseline_floor: u64,
}

/// What a client is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramWindow {
    /// Number of the newest.
    pub newest: u64,
    /// Bit `i`: number `newest - i`; bit 0 is set.
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
    /// The number of the next datagram: the link counts as well.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The next datagram leaves in the tick of `stamp`; whether it bears a pose.
    pub fn note_sent(&mut self, stamp: GameTime, bears: bool) {
        let bit = bit(self.next);
        self.stamps[index(self.next)] = stamp;
        self.acked &= !bit;
        self.lost &= !bit;
        self.without_poses = if bears {
            self.without_poses & !bit
        } else {
            self.without_poses | bit
        };
        self.next += 1;
    }

    /// The client has that datagram.
    pub fn note_acked(&mut self, number: u64) {
        if self.remembers(number) {
            self.acked |= bit(number);
            self.newest_acked = self.newest_acked.max(Some(number));
        }
    }

    /// That datagram is lost.
    pub fn note_lost(&mut self, number: u64) {
        if self.remembers(number) {
            self.lost |= bit(number);
        }
    }

    /// The client cannot read what refers to what it was sent up to now: none of that is a base any
    /// more.
    pub fn revoke_baselines(&mut self) {
        self.baseline_floor = self.next;
    }

    /// The first datagram that may be a base.
    pub fn baseline_floor(&self) -> u64 {
        self.baseline_floor
    }

    /// What the client is known to have.
    pub fn window(&self) -> Option<DatagramWindow> {
        let is_near = |newest: &u64| {
            *newest >= self.baseline_floor && self.next - newest < REMEMBERED_DATAGRAMS
        };
        let newest = self.newest_acked.filter(is_near)?;
        // Bit 63 is the newest after the turn, and bit 0 after the reversal.
        let newest_first = (self.acked | self.without_poses)
            .rotate_left(63 - index(newest) as u32)
            .reverse_bits();
        // Not beyond the floor, and not where newer ones have taken the places.
        let reach = (newest - self.baseline_floor)
            .min(WINDOW_REACH)
            .min(REMEMBERED_DATAGRAMS - (self.next - newest));
        Some(DatagramWindow {
            newest,
            mask: newest_first & (u64::MAX >> (63 - reach)),
        })
    }

    /// What became of a datagram.
    pub fn outcome(&self, number: u64) -> DeliveryOutcome {
        match () {
            () if !self.remembers(number) => DeliveryOutcome::Lost,
            () if self.acked & bit(number) != 0 => DeliveryOutcome::Acked,
            () if self.lost & bit(number) != 0 => DeliveryOutcome::Lost,
            () => DeliveryOutcome::InFlight,
        }
    }

    /// When a datagram left that is remembered.
    pub fn stamp(&self, number: u64) -> GameTime {
        self.stamps[index(number)]
    }

    fn remembers(&self, number: u64) -> bool {
        number < self.next && number + REMEMBERED_DATAGRAMS >= self.next
    }
}

impl DatagramWindow {
    /// As it is told to the client.
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
            let (mut numbers, mut acked, mut floor) = (SentDatagrams::default(), Vec::new(), 0);
            let mut bare = Vec::new();
            for _ in 0..500 {
                if rng.u8(0..4) == 0 {
                    bare.push(numbers.next());
                }
                numbers.note_sent(
                    GameTime::from_millis(numbers.next() * 50),
                    bare.last() != Some(&numbers.next()),
                );
                let number = numbers.next().saturating_sub(rng.u64(1..40));
                if rng.bool() && !acked.contains(&number) {
                    numbers.note_acked(number);
                    acked.push(number);
                } else {
                    numbers.note_lost(number);
                }
                if rng.u8(0..100) == 0 {
                    numbers.revoke_baselines();
                    floor = numbers.next();
                }
                let next = numbers.next();
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
                assert_eq!(numbers.window(), expected, "seed {seed}, next {next}");
            }
        }
    }

    #[test]
    fn an_outcome_is_known_until_its_entry_is_reused() {
        let mut numbers = SentDatagrams::default();
        assert_eq!(
            numbers.outcome(0),
            DeliveryOutcome::Lost,
            "it was never sent"
        );
        (0..3).for_each(|n| numbers.note_sent(GameTime::from_millis(n), true));
        numbers.note_acked(0);
        numbers.note_lost(1);
        assert_eq!(
            [0, 1, 2].map(|number| numbers.outcome(number)),
            [
                DeliveryOutcome::Acked,
                DeliveryOutcome::Lost,
                DeliveryOutcome::InFlight
            ]
        );
        assert_eq!(numbers.stamp(2), GameTime::from_millis(2));
        (0..64).for_each(|n| numbers.note_sent(GameTime::from_millis(n), true));
        assert_eq!(
            [0, 1, 2].map(|number| numbers.outcome(number)),
            [DeliveryOutcome::Lost; 3]
        );
        assert_eq!(numbers.window(), None);
    }
}
