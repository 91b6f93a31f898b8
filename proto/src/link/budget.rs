//! How many bytes may leave, and for what.
//!
//! What leaves and the time go in; how much more may leave at any time comes out. Three purses
//! share one rate: *bare* datagrams (acknowledgements, pings), the *game* (bodies and messages),
//! and *slices* of blocks ([`super::chunk`]).
//!
//! Invariants:
//! 1. Whoever spends no more than is available never sends more than the present rate within any
//!    second, whatever was spent before and however the rate has changed: at each departure, what
//!    left in the second before it, itself included, is within the rate in force then. A ledger of
//!    the last second says so, not the buckets.
//! 2. While there are slices, the game earns its share of the rate, and slices the rest and what
//!    the game leaves; neither can spend what the other has earned. Without slices all is the
//!    game's.
//! 3. The game leaves [`CONTROL_RESERVE`] to bare datagrams, slices leave what the game has saved,
//!    or a part of it to a game that is quiet.
//! 4. What is available only grows until something is spent or the time is taken note of: hence
//!    [`Budget::affordable_at`].
//!
//! Units: bytes with everything that a datagram costs on the line; inside, millionths of a byte,
//! which is what a rate in bytes a second earns in microseconds. Cost: some additions; a search
//! when something must wait. Memory: 1.1 KiB.

mod ledger;
mod rate_controller;

use std::time::Duration;

use self::ledger::Ledger;
pub use self::rate_controller::Pressure;
use self::rate_controller::RateController;
use super::MAX_DATAGRAM;
use crate::time::LocalTime;

/// OmittedPoses to acknowledgements and pings by everything else: two of them.
const CONTROL_RESERVE: u64 = 160;

/// In bytes a second: below this a full datagram would take too much of a second to be scheduled
/// sensibly.
const MIN_RATE: u32 = 4_000;

/// What a quiet game may save up beside slices: what it says in two ticks of 50 ms goes out at
/// once.
const GAME_SAVING_TIME: Duration = Duration::from_millis(100);

/// A game that has said nothing for so long is quiet: slices then leave it [`QUIET_GAME_RESERVE`]
/// and no more.
const QUIET_AFTER: Duration = Duration::from_secs(1);
/// With what the slots of the ledger set free, a full datagram of a quiet game leaves within 30 ms
/// at 256 kbit/s.
const QUIET_GAME_RESERVE: u64 = 400;

const MILLIONTHS: u64 = 1_000_000;

/// What a link may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetConfig {
    /// Bytes a second, overhead included; at least 4,000. More gives fresher news on a path that
    /// carries it.
    pub bytes_per_s: u32,
    /// What a datagram costs beside its own bytes: 28 for UDP and IP, about 25 for QUIC.
    pub overhead_bytes: u16,
    /// What may be saved up in times of silence, as the time in which it is earned. More lets a
    /// burst through sooner, and makes a longer pause after it; at least two full datagrams can be
    /// saved in any case.
    pub burst: Duration,
    /// What belongs to the game while blocks are sent, in hundredths of the rate. What it leaves
    /// goes to the blocks.
    pub game_percent: u8,
    /// Whether the rate gives way to signs that the path carries less.
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

/// For what bytes are spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TrafficClass {
    Control,
    Game,
    SliceSet,
}

#[derive(Clone, Debug)]
pub(super) struct Budget {
    config: BudgetConfig,
    pub(super) rate_controller: RateController,
    ledger: Ledger,
    /// When the purses below held what they say.
    settled_at: LocalTime,
    balances: ClassBalances,
    shares_with_slices: bool,
    /// When the game last spent something.
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
        Self {
            rate_controller: RateController::new(bytes_per_s),
            config,
            ledger: Ledger::default(),
            settled_at: LocalTime::ZERO,
            balances: ClassBalances::default(),
            shares_with_slices: false,
            game_spent_at: LocalTime::ZERO,
        }
    }

    /// The owner's limit from now on.
    pub(super) fn set_limit(&mut self, now: LocalTime, bytes_per_s: u32) {
        self.settle_balances(now);
        self.rate_controller.set_limit(bytes_per_s.max(MIN_RATE));
    }

    /// Draws conclusions from what became of the datagrams.
    pub(super) fn handle_timeout(&mut self, now: LocalTime) {
        self.settle_balances(now);
        if self.config.adapts_rate {
            self.rate_controller.handle_timeout(now);
        }
    }

    /// Whether there are slices to share with.
    pub(super) fn set_shares_with_slices(&mut self, now: LocalTime, slicing: bool) {
        self.settle_balances(now);
        if !slicing {
            self.balances = ClassBalances {
                game: self.balances.game + self.balances.slices,
                slices: 0,
            };
        }
        self.shares_with_slices = slicing;
        self.settle_balances(now);
    }

    /// Gives slices something in advance; the limit for any second stays.
    pub(super) fn credit_slices(&mut self, now: LocalTime, bytes: usize) {
        self.settle_balances(now);
        self.balances.slices += bytes as u64 * MILLIONTHS;
    }

    /// What a datagram of that length costs.
    pub(super) fn cost(&self, length: usize) -> usize {
        length + usize::from(self.config.overhead_bytes)
    }

    /// How many bytes may leave at `now` for that.
    pub(super) fn available(&self, purse: TrafficClass, now: LocalTime) -> usize {
        let ClassBalances { game, slices } = self.balances_at(now);
        let room = self.rate().saturating_sub(self.ledger.last_second(now));
        let bytes = match purse {
            TrafficClass::Control => room.min((game + slices) / MILLIONTHS),
            TrafficClass::Game => room.saturating_sub(CONTROL_RESERVE).min(game / MILLIONTHS),
            TrafficClass::SliceSet => room
                .saturating_sub(self.reserved_for_game(now))
                .min(slices / MILLIONTHS),
        };
        bytes as usize
    }

    /// The first moment at which that many bytes may leave if nothing else does before; in the past
    /// if they may now.
    pub(super) fn affordable_at(&self, purse: TrafficClass, bytes: usize) -> LocalTime {
        let after = |micros| self.settled_at + Duration::from_micros(micros);
        // All that is earned within two seconds, and a second that is empty.
        let (mut before, mut by) = (0, 2 * MILLIONTHS);
        if self.available(purse, self.settled_at) >= bytes {
            return self.settled_at;
        }
        while by - before > 1 {
            let middle = before.midpoint(by);
            *(if self.available(purse, after(middle)) >= bytes {
                &mut by
            } else {
                &mut before
            }) = middle;
        }
        after(by)
    }

    /// Notes that a datagram leaves, and who pays. Returns false if that was more than there was.
    pub(super) fn spend(&mut self, now: LocalTime, payments: &[(TrafficClass, usize)]) -> bool {
        self.settle_balances(now);
        let total: usize = payments.iter().map(|&(_, bytes)| bytes).sum();
        let within = self.ledger.last_second(now) + total as u64 <= self.rate();
        for &(purse, bytes) in payments.iter().filter(|(_, bytes)| *bytes > 0) {
            let owed = bytes as u64 * MILLIONTHS;
            let ClassBalances { game, slices } = &mut self.balances;
            let (first, second) = if purse == TrafficClass::SliceSet {
                (slices, game)
            } else {
                (game, slices)
            };
            *second = second.saturating_sub(owed.saturating_sub(*first));
            *first = first.saturating_sub(owed);
            if purse == TrafficClass::Game {
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
        // What the ledger forbids is not saved up: after a burst and its pause things go on evenly.
        // Beside slices the game's savings are small, and what it lost here it would earn again at
        // their cost.
        let game = if self.shares_with_slices {
            game
        } else {
            game.min(room)
        };
        self.balances = ClassBalances {
            game,
            slices: slices.min(room),
        };
        self.settled_at = now;
    }

    /// What the purses hold at `now`.
    fn balances_at(&self, now: LocalTime) -> ClassBalances {
        let micros = now
            .since(self.settled_at)
            .min(Duration::from_secs(2))
            .as_micros() as u64;
        let earned = self.rate() * micros;
        let ClassBalances { game, slices } = self.balances;
        if !self.shares_with_slices {
            return ClassBalances {
                game: (game + earned).min(self.burst_limit()),
                slices,
            };
        }
        let to_game = earned * u64::from(self.config.game_percent) / 100;
        let game = game + to_game;
        // What one has more than it can save is the other's.
        let over = game.saturating_sub(self.game_limit());
        let all_slices = slices + (earned - to_game) + over;
        let kept_slices = all_slices.min(self.burst_limit().max(slices));
        let game = (game - over + (all_slices - kept_slices)).min(self.burst_limit());
        ClassBalances {
            game,
            slices: kept_slices,
        }
    }

    fn burst_limit(&self) -> u64 {
        (self.rate() * self.config.burst.as_micros() as u64).max(2 * self.full_datagram_cost())
    }

    /// What the game can save beside slices.
    fn game_limit(&self) -> u64 {
        let share =
            self.rate() * GAME_SAVING_TIME.as_micros() as u64 * u64::from(self.config.game_percent)
                / 100;
        share.max(self.full_datagram_cost())
    }

    /// What slices leave of the second, in bytes: what the game has saved, as far as it can be
    /// expected to need it.
    fn reserved_for_game(&self, now: LocalTime) -> u64 {
        let is_unchanged =
            self.game_spent_at == LocalTime::ZERO || now.since(self.game_spent_at) >= QUIET_AFTER;
        let most = if is_unchanged {
            QUIET_GAME_RESERVE
        } else {
            u64::MAX
        };
        (self.balances.game / MILLIONTHS).clamp(CONTROL_RESERVE, most)
    }

    fn full_datagram_cost(&self) -> u64 {
        (self.cost(MAX_DATAGRAM) as u64 + CONTROL_RESERVE) * MILLIONTHS
    }
}

#[cfg(test)]
mod tests;
