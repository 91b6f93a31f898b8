//! Simulated network impairment: loss, independent or in bursts, delay, jitter, a tail of long
//! delays, stops, duplicates, reordering and a bandwidth limit with its queue, from a seed.
//!
//! An [`Impairment`] is the configuration, the same for `--impair` and for the simulated network.
//! An [`Impairer`] is one direction of one path. Input: each packet's length and the time when it
//! is sent. Output: its deliveries (none, one or two), each as a delay from now. The only state is
//! the end of the queue, the current burst and the last arrival.
//!
//! In the order of the path:
//! 1. `rate`: packets pass through a queue that is served at this rate. A packet that would wait
//!    more than 200 ms is dropped, as in a home router. With `queue`, the queue has that length
//!    instead, and packets are dropped at random before it is full: none while it is at most half
//!    full, then a share that grows linearly to all of them when it is full. This is random early
//!    detection (S. Floyd and V. Jacobson 1993), but with the current length of the queue and not
//!    an average of it: the lower half takes bursts in, and no constant of averaging is needed.
//! 2. `loss`: in per cent, independent for each packet. With `burst`, the same share of time is
//!    bad, in bursts of that mean length that lose everything: the model of E. N. Gilbert (1960)
//!    and E. O. Elliott (1963), see `bursts.rs`.
//! 3. `throttle`: again and again the path stops for this time; what was sent meanwhile leaves all
//!    at once. Between two stops is an exponentially distributed time with the mean `every`, 2 s by
//!    default. Source: "Synchronisation par le reseau d'un monde virtuel sur Unity".
//! 4. `delay` +- `jitter`, uniformly distributed and never below zero, and `tail`: an exponentially
//!    distributed delay with that mean, at most ten times the mean. Waits in a queue with random
//!    arrivals are distributed like this, and one number describes it. A Pareto distribution has
//!    longer tails, but also a mean that a run of minutes does not show. Jitter and tail do not
//!    reorder: a packet waits for the one before it. So one late packet delays those that are sent
//!    while it is under way.
//! 5. `reorder`: in per cent; the packet is held back by 20 to 120 ms more, and later packets
//!    overtake it.
//! 6. `duplicate`: in per cent; the packet arrives a second time, up to 20 ms later.
//!
//! Invariants:
//! 1. The same seed and the same packets give the same deliveries. Each packet draws the same
//!    number of random numbers, whatever its outcome; bursts and stops draw theirs by time.
//! 2. `burst`, `tail`, `queue` and `throttle` have random numbers of their own: they change no
//!    decision about jitter, reordering or duplicates, nor each other's.
//!
//! Units: per cent, bits a second; on the command line `ms`, `s`, `kbit`, `mbit`.

mod bursts;
mod draw;
mod parse;

use std::time::Duration;

pub use parse::ImpairmentError;

use ambit_proto::time::LocalTime;

use bursts::PathStates;
use draw::{draw_chance, draw_duration, draw_exponential};

/// A packet that would have to wait longer than this in a queue without a given length is dropped:
/// newer ones are worth more.
const MAX_QUEUE_DELAY: Duration = Duration::from_millis(200);
/// The shortest time that a reordered packet is held back: a burst overtakes it.
const MIN_HOLD_BACK: Duration = Duration::from_millis(20);
/// How much longer than [`MIN_HOLD_BACK`] at most: at 20 packets a second, two overtake it.
const HOLD_BACK_RANGE: Duration = Duration::from_millis(100);
/// The longest time between the first and the second copy.
const MAX_COPY_DELAY: Duration = Duration::from_millis(20);
/// Mean time between two stops of a path that stops.
const STOP_INTERVAL: Duration = Duration::from_secs(2);
/// The bound of `tail`, as a multiple of its mean: one packet in 22,000 reaches it. Delayed packets
/// take memory.
const MAX_TAIL: f64 = 10.0;

/// The impairment of a path. The default is a perfect path.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Impairment {
    /// Lost packets, in per cent.
    pub loss: f32,
    /// Mean length of the bursts in which `loss` occurs, at least 1 ms; zero for packets that are
    /// lost independently of each other.
    pub burst: Duration,
    /// Packets that arrive twice, in per cent.
    pub duplicate: f32,
    /// Packets that later ones overtake, in per cent.
    pub reorder: f32,
    /// One-way delay.
    pub delay: Duration,
    /// The largest deviation from `delay`, in both directions.
    pub jitter: Duration,
    /// Mean of a further delay, which is exponentially distributed, up to ten times this.
    pub tail: Duration,
    /// How long the path stops, again and again; what was sent meanwhile leaves all at once. Zero
    /// for a path that never stops.
    pub throttle: Duration,
    /// Mean time between two stops; `None` for 2 s.
    pub every: Option<Duration>,
    /// Bandwidth in bits a second; `None` for no limit.
    pub rate: Option<u64>,
    /// Length of the queue before `rate`, as the time that a packet waits in it; more and more
    /// packets are dropped from half of it on. `None` for 200 ms without early drops.
    pub queue: Option<Duration>,
    /// Seed of the random decisions above.
    pub seed: u64,
}

/// One direction of one impaired path.
#[derive(Clone, Debug)]
pub struct Impairer {
    impairment: Impairment,
    chances: ChanceStreams,
    bursts: Option<PathStates>,
    stops: Option<PathStates>,
    /// When all queued packets will have been sent.
    link_free_at: LocalTime,
    /// When the last packet that was not reordered arrives.
    last_arrival: LocalTime,
}

impl Impairer {
    /// An idle path.
    pub fn new(impairment: Impairment) -> Self {
        let mut seeds = fastrand::Rng::with_seed(impairment.seed);
        Self {
            impairment,
            chances: ChanceStreams {
                packets: seeds.clone(),
                tails: seeds.fork(),
                queue: seeds.fork(),
            },
            bursts: PathStates::bursts(impairment.loss, impairment.burst, seeds.fork()),
            stops: PathStates::stops(
                impairment.throttle,
                impairment.every.unwrap_or(STOP_INTERVAL),
                seeds.fork(),
            ),
            link_free_at: LocalTime::ZERO,
            last_arrival: LocalTime::ZERO,
        }
    }

    /// Sends a packet of `len` bytes now and returns the delay of each copy: none if the packet is
    /// lost or dropped, two if it is duplicated.
    pub fn send(&mut self, now: LocalTime, len: usize) -> impl Iterator<Item = Duration> + use<> {
        let decisions = PacketChances::draw(&mut self.chances, &self.impairment);
        let first = self
            .enqueue(now, len, decisions.queue_chance)
            .filter(|sent| !self.is_lost(*sent, &decisions))
            .map(|sent| self.arrival_time(sent, &decisions).since(now));
        let copy = first.filter(|_| decisions.duplicated).map(|first| first + decisions.copy_after);
        [first, copy].into_iter().flatten()
    }

    /// When the last bit of the packet leaves the queue; `None` when the queue drops it.
    fn enqueue(&mut self, now: LocalTime, len: usize, chance: f64) -> Option<LocalTime> {
        let Some(rate) = self.impairment.rate else {
            return Some(now);
        };
        let wait = self.link_free_at.since(now);
        let dropped = match self.impairment.queue {
            Some(longest) => early_drop_share(wait, longest) > chance,
            None => wait > MAX_QUEUE_DELAY,
        };
        if dropped {
            return None;
        }
        let micros = (len as u64).saturating_mul(8_000_000) / rate.max(1);
        self.link_free_at = self.link_free_at.max(now) + Duration::from_micros(micros);
        Some(self.link_free_at)
    }

    fn is_lost(&mut self, sent: LocalTime, decisions: &PacketChances) -> bool {
        match &mut self.bursts {
            Some(bursts) => bursts.is_bad(sent),
            None => decisions.lost,
        }
    }

    /// When a packet that left the queue at `sent` arrives.
    fn arrival_time(&mut self, sent: LocalTime, decisions: &PacketChances) -> LocalTime {
        let sent = self.stops.as_mut().map_or(sent, |stops| stops.goes_on_at(sent));
        let in_order = (sent + decisions.delay).max(self.last_arrival);
        if decisions.reordered {
            return in_order + decisions.hold_back;
        }
        self.last_arrival = in_order;
        in_order
    }
}

/// The share of the packets that a queue drops when a packet would wait for `wait` in it: zero or
/// less up to half of its length, one or more when it is full.
fn early_drop_share(wait: Duration, longest: Duration) -> f64 {
    2.0 * (wait.as_micros() as f64 / longest.as_micros() as f64) - 1.0
}

/// Random numbers. The tail and the queue have streams of their own, so that the other decisions
/// that follow from a seed do not depend on them.
#[derive(Clone, Debug)]
struct ChanceStreams {
    packets: fastrand::Rng,
    tails: fastrand::Rng,
    queue: fastrand::Rng,
}

/// The random decisions about one packet.
struct PacketChances {
    /// From 0 to 1: the queue drops the packet if the share that it drops is greater.
    queue_chance: f64,
    lost: bool,
    duplicated: bool,
    reordered: bool,
    delay: Duration,
    hold_back: Duration,
    copy_after: Duration,
}

impl PacketChances {
    fn draw(chances: &mut ChanceStreams, impairment: &Impairment) -> Self {
        let jitter = impairment.jitter * 2;
        let tail = draw_exponential(&mut chances.tails).min(MAX_TAIL);
        let tail_micros = tail * impairment.tail.as_micros() as f64;
        let rng = &mut chances.packets;
        Self {
            queue_chance: chances.queue.f64(),
            lost: draw_chance(rng, impairment.loss),
            duplicated: draw_chance(rng, impairment.duplicate),
            reordered: draw_chance(rng, impairment.reorder),
            delay: (impairment.delay + draw_duration(rng, jitter))
                .saturating_sub(impairment.jitter)
                + Duration::from_micros(tail_micros as u64),
            hold_back: MIN_HOLD_BACK + draw_duration(rng, HOLD_BACK_RANGE),
            copy_after: draw_duration(rng, MAX_COPY_DELAY),
        }
    }
}

#[cfg(test)]
mod tests;
