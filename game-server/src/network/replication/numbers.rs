//! The datagrams that one client was sent lately: when each left, and what became of it.
//!
//! What the link reports goes in ([`Numbers::acked`], [`Numbers::lost`]); out comes the **window**:
//! the newest datagram that the client is known to have, and which of the 32 before it. Both ends
//! take the bases of poses from there, so no base is named object by object.
//!
//! Invariants:
//! 1. What is in the window was acknowledged, and left since the client last lost track
//!    ([`Numbers::forget_bases`]); or it bore no pose, so that it is no base whatever became of it:
//!    a window without holes is told in fewer bits.
//! 2. Numbers ascend by one with each datagram, whether it carries anything or not, as the client
//!    counts them too.
//!
//! Cost: constant, whatever the number of objects; half a KiB a client.

use ambit_proto::pose::AckedSet;
use ambit_proto::time::GameTime;

/// Datagrams of which is known when they left: more than a window, so that what is in flight is
/// judged as well.
pub const REMEMBERED: u64 = 64;
/// How far behind its newest datagram the window reaches.
const EARLIER: u64 = 32;

/// What became of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing is known yet.
    InFlight,
    /// The client has it.
    Acked,
    /// It is lost, or too long ago to tell.
    Gone,
}

/// See the module.
#[derive(Debug)]
pub struct Numbers {
    /// Of the next datagram.
    next: u64,
    /// When each left, by its number modulo [`REMEMBERED`].
    stamps: [GameTime; REMEMBERED as usize],
    /// Bit `number % REMEMBERED`: it was acknowledged.
    acked: u64,
    /// Likewise: it was lost.
    lost: u64,
    /// Likewise: it bore no pose.
    bare: u64,
    newest_acked: Option<u64>,
    /// What left before this is no base.
    floor: u64,
}

/// What a client is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Number of the newest.
    pub newest: u64,
    /// Bit `i`: number `newest - i`; bit 0 is set.
    pub mask: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        let stamps = [GameTime::ZERO; REMEMBERED as usize];
        Numbers {
            next: 0,
            stamps,
            acked: 0,
            lost: 0,
            bare: 0,
            newest_acked: None,
            floor: 0,
        }
    }
}

impl Numbers {
    /// The number of the next datagram: the link counts as well.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The next datagram leaves in the tick of `stamp`; whether it bears a pose.
    pub fn sent(&mut self, stamp: GameTime, bears: bool) {
        let bit = bit(self.next);
        self.stamps[place(self.next)] = stamp;
        self.acked &= !bit;
        self.lost &= !bit;
        self.bare = if bears {
            self.bare & !bit
        } else {
            self.bare | bit
        };
        self.next += 1;
    }

    /// The client has that datagram.
    pub fn acked(&mut self, number: u64) {
        if self.remembers(number) {
            self.acked |= bit(number);
            self.newest_acked = self.newest_acked.max(Some(number));
        }
    }

    /// That datagram is lost.
    pub fn lost(&mut self, number: u64) {
        if self.remembers(number) {
            self.lost |= bit(number);
        }
    }

    /// The client cannot read what refers to what it was sent up to now: none of that is a base any
    /// more.
    pub fn forget_bases(&mut self) {
        self.floor = self.next;
    }

    /// The first datagram that may be a base.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// What the client is known to have.
    pub fn window(&self) -> Option<Window> {
        let is_near = |newest: &u64| *newest >= self.floor && self.next - newest < REMEMBERED;
        let newest = self.newest_acked.filter(is_near)?;
        // Bit 63 is the newest after the turn, and bit 0 after the reversal.
        let newest_first = (self.acked | self.bare)
            .rotate_left(63 - place(newest) as u32)
            .reverse_bits();
        // Not beyond the floor, and not where newer ones have taken the places.
        let reach = (newest - self.floor)
            .min(EARLIER)
            .min(REMEMBERED - (self.next - newest));
        Some(Window {
            newest,
            mask: newest_first & (u64::MAX >> (63 - reach)),
        })
    }

    /// What became of a datagram.
    pub fn fate(&self, number: u64) -> Fate {
        match () {
            () if !self.remembers(number) => Fate::Gone,
            () if self.acked & bit(number) != 0 => Fate::Acked,
            () if self.lost & bit(number) != 0 => Fate::Gone,
            () => Fate::InFlight,
        }
    }

    /// When a datagram left that is remembered.
    pub fn stamp(&self, number: u64) -> GameTime {
        self.stamps[place(number)]
    }

    fn remembers(&self, number: u64) -> bool {
        number < self.next && number + REMEMBERED >= self.next
    }
}

impl Window {
    /// As it is told to the client.
    pub fn acked_set(&self) -> AckedSet {
        AckedSet {
            newest: self.newest,
            mask: (self.mask >> 1) as u32,
        }
    }
}

const fn place(number: u64) -> usize {
    (number % REMEMBERED) as usize
}

const fn bit(number: u64) -> u64 {
    1 << (number % REMEMBERED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_what_a_plain_list_says() {
        for seed in 0..30 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let (mut numbers, mut acked, mut floor) = (Numbers::default(), Vec::new(), 0);
            let mut bare = Vec::new();
            for _ in 0..500 {
                if rng.u8(0..4) == 0 {
                    bare.push(numbers.next());
                }
                numbers.sent(
                    GameTime::from_millis(numbers.next() * 50),
                    bare.last() != Some(&numbers.next()),
                );
                let number = numbers.next().saturating_sub(rng.u64(1..40));
                if rng.bool() && !acked.contains(&number) {
                    numbers.acked(number);
                    acked.push(number);
                } else {
                    numbers.lost(number);
                }
                if rng.u8(0..100) == 0 {
                    numbers.forget_bases();
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
                    Window {
                        newest,
                        mask: known.fold(0, |mask, number| mask | 1 << (newest - number)),
                    }
                });
                assert_eq!(numbers.window(), expected, "seed {seed}, next {next}");
            }
        }
    }

    #[test]
    fn a_fate_is_known_until_the_place_is_needed() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.fate(0), Fate::Gone, "it was never sent");
        (0..3).for_each(|n| numbers.sent(GameTime::from_millis(n), true));
        numbers.acked(0);
        numbers.lost(1);
        assert_eq!(
            [0, 1, 2].map(|number| numbers.fate(number)),
            [Fate::Acked, Fate::Gone, Fate::InFlight]
        );
        assert_eq!(numbers.stamp(2), GameTime::from_millis(2));
        (0..64).for_each(|n| numbers.sent(GameTime::from_millis(n), true));
        assert_eq!(
            [0, 1, 2].map(|number| numbers.fate(number)),
            [Fate::Gone; 3]
        );
        assert_eq!(numbers.window(), None);
    }
}
