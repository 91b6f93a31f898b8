//! Bad weather: loss, delay, jitter, duplicates, reordering and a narrow line, from a seed.
//!
//! An [`Impairment`] says how bad, the same for `--impair` and for the simulated network; an
//! [`Impairer`] is one direction of one path: each packet goes in with the time at which it is
//! sent, and its deliveries come out: none, one or two, each as a delay from now. Nothing is stored
//! here but where the line's queue ends.
//!
//! In the order of the path:
//! 1. `rate`: packets go through a queue that is served at this rate. A packet that would wait more
//!    than 200 ms is dropped; so does a home router.
//! 2. `loss`: in per cent, each packet for itself.
//! 3. `delay` +- `jitter`, evenly distributed and never below zero. Jitter alone doesn't reorder: a
//!    packet waits for the one before it.
//! 4. `reorder`: in per cent, a packet is held back by 20 to 120 ms more, and those behind it go
//!    ahead.
//! 5. `duplicate`: in per cent, a packet arrives a second time, up to 20 ms later.
//!
//! Invariant: the same seed and the same packets give the same deliveries, and each packet takes
//! the same number of random numbers, whatever becomes of it. Units: per cent, bits a second; on
//! the command line `ms`, `s`, `kbit`, `mbit`.

mod parse;

use std::time::Duration;

pub use parse::ImpairmentError;

use crate::time::LocalTime;

/// A packet that would have to wait longer than this for the line is dropped: newer ones are worth
/// more.
const MAX_QUEUE_DELAY: Duration = Duration::from_millis(200);
/// For how long a reordered packet is held back, at least: a burst goes ahead.
const MIN_HOLD_BACK: Duration = Duration::from_millis(20);
/// For how much longer at most: at 20 packets a second, two go ahead.
const HOLD_BACK_RANGE: Duration = Duration::from_millis(100);
/// How long after the first a second copy comes, at most.
const MAX_COPY_DELAY: Duration = Duration::from_millis(20);

/// How bad a path is. The default is a perfect one.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Impairment {
    /// Packets that vanish, in per cent.
    pub loss: f32,
    /// Packets that arrive twice, in per cent.
    pub duplicate: f32,
    /// Packets that later ones overtake, in per cent.
    pub reorder: f32,
    /// On the way, in one direction.
    pub delay: Duration,
    /// Deviation from `delay` at most, both ways.
    pub jitter: Duration,
    /// What the line carries, in bits a second; `Unchanged` for a line without limit.
    pub rate: Option<u64>,
    /// Of the chances above.
    pub seed: u64,
}

/// One direction of one impaired path.
#[derive(Clone, Debug)]
pub struct Impairer {
    impairment: Impairment,
    rng: fastrand::Rng,
    /// When the line will have sent all that it was given.
    link_free_at: LocalTime,
    /// When the last packet arrives that wasn't reordered.
    last_arrival: LocalTime,
}

impl Impairer {
    /// A path at rest.
    pub fn new(impairment: Impairment) -> Self {
        Self {
            impairment,
            rng: fastrand::Rng::with_seed(impairment.seed),
            link_free_at: LocalTime::ZERO,
            last_arrival: LocalTime::ZERO,
        }
    }

    /// What becomes of a packet of `len` bytes that is sent now: after how long each of its copies
    /// arrives. None for one that is lost or dropped, two for one that is duplicated.
    pub fn send(&mut self, now: LocalTime, len: usize) -> impl Iterator<Item = Duration> + use<> {
        let chances = PacketChances::draw(&mut self.rng, &self.impairment);
        let first = self
            .enqueue(now, len)
            .filter(|_| !chances.lost)
            .map(|sent| self.arrival_time(sent, &chances).since(now));
        let copy = first
            .filter(|_| chances.duplicated)
            .map(|first| first + chances.copy_after);
        [first, copy].into_iter().flatten()
    }

    /// When the last bit of the packet leaves the line; `Unchanged` when its queue is too long.
    fn enqueue(&mut self, now: LocalTime, len: usize) -> Option<LocalTime> {
        let Some(rate) = self.impairment.rate else {
            return Some(now);
        };
        if self.link_free_at.since(now) > MAX_QUEUE_DELAY {
            return None;
        }
        let micros = (len as u64).saturating_mul(8_000_000) / rate.max(1);
        self.link_free_at = self.link_free_at.max(now) + Duration::from_micros(micros);
        Some(self.link_free_at)
    }

    /// When a packet that left the line at `sent` arrives.
    fn arrival_time(&mut self, sent: LocalTime, chances: &PacketChances) -> LocalTime {
        let in_order = (sent + chances.delay).max(self.last_arrival);
        if chances.reordered {
            return in_order + chances.hold_back;
        }
        self.last_arrival = in_order;
        in_order
    }
}

/// All that chance has to say about one packet.
struct PacketChances {
    lost: bool,
    duplicated: bool,
    reordered: bool,
    delay: Duration,
    hold_back: Duration,
    copy_after: Duration,
}

impl PacketChances {
    fn draw(rng: &mut fastrand::Rng, impairment: &Impairment) -> Self {
        let jitter = impairment.jitter * 2;
        Self {
            lost: draw_chance(rng, impairment.loss),
            duplicated: draw_chance(rng, impairment.duplicate),
            reordered: draw_chance(rng, impairment.reorder),
            delay: (impairment.delay + draw_duration(rng, jitter))
                .saturating_sub(impairment.jitter),
            hold_back: MIN_HOLD_BACK + draw_duration(rng, HOLD_BACK_RANGE),
            copy_after: draw_duration(rng, MAX_COPY_DELAY),
        }
    }
}

fn draw_chance(rng: &mut fastrand::Rng, parse_per_cent: f32) -> bool {
    rng.f64() * 100.0 < f64::from(parse_per_cent)
}

/// From nothing up to all of `most`, in whole microseconds.
fn draw_duration(rng: &mut fastrand::Rng, most: Duration) -> Duration {
    Duration::from_micros((rng.f64() * (most.as_micros() as f64 + 1.0)) as u64).min(most)
}

#[cfg(test)]
mod tests;
