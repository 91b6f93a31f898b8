//! Simulated network impairment: loss, delay, jitter, duplicates, reordering and a bandwidth limit,
//! from a seed.
//!
//! An [`Impairment`] is the configuration, the same for `--impair` and for the simulated network.
//! An [`Impairer`] is one direction of one path. Input: each packet's length and the time when it
//! is sent. Output: its deliveries (none, one or two), each as a delay from now. The only state is
//! the end of the queue and the last arrival.
//!
//! In the order of the path:
//! 1. `rate`: packets pass through a queue that is served at this rate. A packet that would wait
//!    more than 200 ms is dropped, as in a home router.
//! 2. `loss`: in per cent, independent for each packet.
//! 3. `delay` +- `jitter`, uniformly distributed and never below zero. Jitter alone does not
//!    reorder: a packet waits for the one before it.
//! 4. `reorder`: in per cent; the packet is held back by 20 to 120 ms more, and later packets
//!    overtake it.
//! 5. `duplicate`: in per cent; the packet arrives a second time, up to 20 ms later.
//!
//! Invariant: the same seed and the same packets give the same deliveries; each packet draws the
//! same number of random numbers, whatever its outcome. Units: per cent, bits a second; on the
//! command line `ms`, `s`, `kbit`, `mbit`.

mod parse;

use std::time::Duration;

pub use parse::ImpairmentError;

use ambit_proto::time::LocalTime;

/// A packet that would have to wait longer than this in the queue is dropped: newer ones are worth
/// more.
const MAX_QUEUE_DELAY: Duration = Duration::from_millis(200);
/// The shortest time that a reordered packet is held back: a burst overtakes it.
const MIN_HOLD_BACK: Duration = Duration::from_millis(20);
/// How much longer than [`MIN_HOLD_BACK`] at most: at 20 packets a second, two overtake it.
const HOLD_BACK_RANGE: Duration = Duration::from_millis(100);
/// The longest time between the first and the second copy.
const MAX_COPY_DELAY: Duration = Duration::from_millis(20);

/// The impairment of a path. The default is a perfect path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Impairment {
    /// Lost packets, in per cent.
    pub loss: f32,
    /// Packets that arrive twice, in per cent.
    pub duplicate: f32,
    /// Packets that later ones overtake, in per cent.
    pub reorder: f32,
    /// One-way delay.
    pub delay: Duration,
    /// The largest deviation from `delay`, in both directions.
    pub jitter: Duration,
    /// Bandwidth in bits a second; `None` for no limit.
    pub rate: Option<u64>,
    /// Seed of the random decisions above.
    pub seed: u64,
}

/// One direction of one impaired path.
#[derive(Clone, Debug)]
pub struct Impairer {
    impairment: Impairment,
    rng: fastrand::Rng,
    /// When all queued packets will have been sent.
    link_free_at: LocalTime,
    /// When the last packet that was not reordered arrives.
    last_arrival: LocalTime,
}

impl Impairer {
    /// An idle path.
    pub fn new(impairment: Impairment) -> Self {
        Self {
            impairment,
            rng: fastrand::Rng::with_seed(impairment.seed),
            link_free_at: LocalTime::ZERO,
            last_arrival: LocalTime::ZERO,
        }
    }

    /// Sends a packet of `len` bytes now and returns the delay of each copy: none if the packet is
    /// lost or dropped, two if it is duplicated.
    pub fn send(&mut self, now: LocalTime, len: usize) -> impl Iterator<Item = Duration> + use<> {
        let decisions = PacketChances::draw(&mut self.rng, &self.impairment);
        let first = self
            .enqueue(now, len)
            .filter(|_| !decisions.lost)
            .map(|sent| self.arrival_time(sent, &decisions).since(now));
        let copy = first.filter(|_| decisions.duplicated).map(|first| first + decisions.copy_after);
        [first, copy].into_iter().flatten()
    }

    /// When the last bit of the packet leaves the queue; `None` when the queue is too long.
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

    /// When a packet that left the queue at `sent` arrives.
    fn arrival_time(&mut self, sent: LocalTime, decisions: &PacketChances) -> LocalTime {
        let in_order = (sent + decisions.delay).max(self.last_arrival);
        if decisions.reordered {
            return in_order + decisions.hold_back;
        }
        self.last_arrival = in_order;
        in_order
    }
}

/// The random decisions about one packet.
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

/// A random duration from zero to `most`, in whole microseconds.
fn draw_duration(rng: &mut fastrand::Rng, most: Duration) -> Duration {
    Duration::from_micros((rng.f64() * (most.as_micros() as f64 + 1.0)) as u64).min(most)
}

#[cfg(test)]
mod tests;
