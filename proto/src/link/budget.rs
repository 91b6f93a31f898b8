//! How many bytes may leave, and for which class of traffic.
//!
//! Input: what leaves, and the time. Output: how many more bytes may leave at any time. Three
//! traffic classes share one rate: *control* (datagrams with only acknowledgements and pings), the
//! *game* (bodies and messages), and *slices* of blocks ([`super::chunk`]).
//!
//! Invariants:
//! 1. An owner that spends no more than is available never exceeds the current rate within any
//!    second, whatever was spent before and however the rate has changed: when a datagram leaves,
//!    the bytes of the second before, itself included, are within the rate in force. A ledger of
//!    the last second ensures this, not the balances.
//! 2. While there are slices, the game earns its share of the rate; slices earn the rest and what
//!    the game leaves. Neither can spend what the other has earned. Without slices the game earns
//!    everything.
//! 3. The game leaves [`CONTROL_RESERVE`] to control datagrams. Slices leave the game's savings, or
//!    a part of them if the game is quiet.
//! 4. What is available only grows until bytes are spent or the balances are updated:
//!    [`Budget::affordable_at`] relies on it.
//!
//! Units: bytes with all overhead of a datagram; inside, millionths of a byte, which is what a rate
//! in bytes a second earns in microseconds. Cost: a few additions; a search when a datagram must
//! wait. Memory: 1.1 KiB.

mod ledger;
mod rate_controller;

use std::time::Duration;

use self::ledger::Ledger;
pub use self::rate_controller::Pressure;
use self::rate_controller::RateController;
use super::MAX_DATAGRAM;
use crate::time::LocalTime;

/// Bytes that the other classes leave to acknowledgements and pings: two of them.
const CONTROL_RESERVE: u64 = 160;

/// In bytes a second: below this a full datagram would take too much of a second to be scheduled
/// sensibly.
const MIN_RATE: u32 = 4_000;

/// The time in which a quiet game may save up its share beside slices: the data of two ticks of 50
/// ms leaves at once.
const GAME_SAVING_TIME: Duration = Duration::from_millis(100);

/// A game that has sent nothing for this long is quiet: slices then leave it [`QUIET_GAME_RESERVE`]
/// and no more.
const QUIET_AFTER: Duration = Duration::from_secs(1);
/// With what the slots of the ledger release, a full datagram of a quiet game leaves within 30 ms
/// at 256 kbit/s.
const QUIET_GAME_RESERVE: u64 = 400;

const MILLIONTHS: u64 = 1_000_000;

/// What a link may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetConfig {
    /// Bytes a second, overhead included; at least 4,000. A higher rate gives fresher state on a
    /// path that carries it.
    pub bytes_per_s: u32,
    /// Overhead of a datagram in bytes: 28 for UDP and IP, about 25 for QUIC.
    pub overhead_bytes: u16,
    /// How much may be saved up in times of silence, as the time in which it is earned. More lets a
    /// burst leave sooner, and makes a longer pause after it; at least two full datagrams can be
    /// saved in any case.
    pub burst: Duration,
    /// The game's share while blocks are sent, in hundredths of the rate. Blocks use what it
    /// leaves.
    pub game_percent: u8,
    /// Whether the rate adapts to signs that the path carries less.
    pub adapts_rate: bool,
}

impl Default for BudgetConfig {
    /// 256 kbit/s over QUIC.
    fn default() -> Self {
        Self {
            bytes_per_s: 32_000,
            overhead_bytes: 28 + 25,
            burst: Duration::from_millis(100),
            game_percent: 50,
            adapts_rate: true,
        }
    }
}

/// What bytes are spent on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrafficClass {
    Control,
    Game,
    Slices,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Budget {
    config: BudgetConfig,
    pub(super) rate_controller: RateController,
    ledger: Ledger,
    /// The time of the balances below.
    settled_at: LocalTime,
    balances: ClassBalances,
    shares_with_slices: bool,
    /// When the game last spent bytes.
    game_spent_at: LocalTime,
}

/// In millionths of a byte.
#[derive(Clone, Copy, Debug, Default)]
struct ClassBalances {
    game: u64,
    slices: u64,
}

impl Budget {
    pub(super) fn new(config: BudgetConfig) -> Self {
        let bytes_per_s = config.bytes_per_s.max(MIN_RATE);
        let rate_controller = RateController::new(bytes_per_s);
        Self { config, rate_controller, ..Self::default() }
    }

    pub(super) fn set_limit(&mut self, now: LocalTime, bytes_per_s: u32) {
        self.settle_balances(now);
        self.rate_controller.set_limit(bytes_per_s.max(MIN_RATE));
    }

    /// Updates the balances and the rate.
    pub(super) fn handle_timeout(&mut self, now: LocalTime) {
        self.settle_balances(now);
        if self.config.adapts_rate {
            self.rate_controller.handle_timeout(now);
        }
    }

    /// Sets whether the game shares the rate with slices.
    pub(super) fn set_shares_with_slices(&mut self, now: LocalTime, slicing: bool) {
        self.settle_balances(now);
        if !slicing {
            self.balances =
                ClassBalances { game: self.balances.game + self.balances.slices, slices: 0 };
        }
        self.shares_with_slices = slicing;
        self.settle_balances(now);
    }

    /// Credits slices in advance; the limit for any second stays.
    pub(super) fn credit_slices(&mut self, now: LocalTime, bytes: usize) {
        self.settle_balances(now);
        self.balances.slices += bytes as u64 * MILLIONTHS;
    }

    /// What a datagram of that length costs.
    pub(super) fn cost(&self, length: usize) -> usize {
        length + usize::from(self.config.overhead_bytes)
    }

    /// How many bytes of that class may leave at `now`.
    pub(super) fn available(&self, class: TrafficClass, now: LocalTime) -> usize {
        let ClassBalances { game, slices } = self.balances_at(now);
        let room = self.rate().saturating_sub(self.ledger.last_second(now));
        let bytes = match class {
            TrafficClass::Control => room.min((game + slices) / MILLIONTHS),
            TrafficClass::Game => room.saturating_sub(CONTROL_RESERVE).min(game / MILLIONTHS),
            TrafficClass::Slices => {
                room.saturating_sub(self.reserved_for_game(now)).min(slices / MILLIONTHS)
            }
        };
        bytes as usize
    }

    /// The first moment at which that many bytes may leave if nothing else leaves before; in the
    /// past if they may leave now.
    pub(super) fn affordable_at(&self, class: TrafficClass, bytes: usize) -> LocalTime {
        let after = |micros| self.settled_at + Duration::from_micros(micros);
        // The bounds: all that is earned within two seconds, and an empty second.
        let mut before = 0;
        let mut by = 2 * MILLIONTHS;
        if self.available(class, self.settled_at) >= bytes {
            return self.settled_at;
        }
        while by - before > 1 {
            let middle = before.midpoint(by);
            *(if self.available(class, after(middle)) >= bytes { &mut by } else { &mut before }) =
                middle;
        }
        after(by)
    }

    /// Records that a datagram leaves, and which classes pay. Returns false if they exceed the
    /// rate.
    pub(super) fn spend(&mut self, now: LocalTime, payments: &[(TrafficClass, usize)]) -> bool {
        self.settle_balances(now);
        let total: usize = payments.iter().map(|&(_, bytes)| bytes).sum();
        let within = self.ledger.last_second(now) + total as u64 <= self.rate();
        for &(class, bytes) in payments.iter().filter(|(_, bytes)| *bytes > 0) {
            let owed = bytes as u64 * MILLIONTHS;
            let ClassBalances { game, slices } = &mut self.balances;
            let (first, second) =
                if class == TrafficClass::Slices { (slices, game) } else { (game, slices) };
            *second = second.saturating_sub(owed.saturating_sub(*first));
            *first = first.saturating_sub(owed);
            if class == TrafficClass::Game {
                self.game_spent_at = now;
            }
        }
        self.ledger.add(now, total as u32);
        within
    }

    fn rate(&self) -> u64 {
        self.rate_controller.rate().into()
    }

    fn settle_balances(&mut self, now: LocalTime) {
        let now = now.max(self.settled_at);
        self.ledger.advance(now);
        let room = self.rate().saturating_sub(self.ledger.last_second(now)) * MILLIONTHS;
        let ClassBalances { game, slices } = self.balances_at(now);
        // What the ledger forbids is not saved up, so that traffic continues evenly after a burst
        // and its pause. Beside slices the game's savings are small, and it would earn what it lost
        // here again at the slices' cost.
        let game = if self.shares_with_slices { game } else { game.min(room) };
        self.balances = ClassBalances { game, slices: slices.min(room) };
        self.settled_at = now;
    }

    fn balances_at(&self, now: LocalTime) -> ClassBalances {
        let micros = now.since(self.settled_at).min(Duration::from_secs(2)).as_micros() as u64;
        let earned = self.rate() * micros;
        let ClassBalances { game, slices } = self.balances;
        if !self.shares_with_slices {
            return ClassBalances { game: (game + earned).min(self.burst_limit()), slices };
        }
        let to_game = earned * u64::from(self.config.game_percent) / 100;
        let game = game + to_game;
        // What a class earns beyond its limit goes to the other.
        let over = game.saturating_sub(self.game_limit());
        let all_slices = slices + (earned - to_game) + over;
        let kept_slices = all_slices.min(self.burst_limit().max(slices));
        let game = (game - over + (all_slices - kept_slices)).min(self.burst_limit());
        ClassBalances { game, slices: kept_slices }
    }

    fn burst_limit(&self) -> u64 {
        (self.rate() * self.config.burst.as_micros() as u64).max(2 * self.full_datagram_cost())
    }

    /// How much the game can save beside slices.
    fn game_limit(&self) -> u64 {
        let share =
            self.rate() * GAME_SAVING_TIME.as_micros() as u64 * u64::from(self.config.game_percent)
                / 100;
        share.max(self.full_datagram_cost())
    }

    /// How much of the second slices leave to the game, in bytes: its savings, as far as it is
    /// expected to need them.
    fn reserved_for_game(&self, now: LocalTime) -> u64 {
        let is_unchanged =
            self.game_spent_at == LocalTime::ZERO || now.since(self.game_spent_at) >= QUIET_AFTER;
        let most = if is_unchanged { QUIET_GAME_RESERVE } else { u64::MAX };
        (self.balances.game / MILLIONTHS).clamp(CONTROL_RESERVE, most)
    }

    fn full_datagram_cost(&self) -> u64 {
        (self.cost(MAX_DATAGRAM) as u64 + CONTROL_RESERVE) * MILLIONTHS
    }
}

#[cfg(test)]
mod tests;
