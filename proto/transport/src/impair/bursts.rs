//! Loss in bursts: a channel with two states, after E. N. Gilbert ("Capacity of a burst-noise
//! channel", 1960) and E. O. Elliott ("Estimates of error rates for codes on burst-noise channels",
//! 1963).
//!
//! In the bad state all packets are lost, in the good state none (Gilbert's and Elliott's models
//! also have a share of losses within each state). The times in a state are exponentially
//! distributed: in the bad one with the mean that is asked for, in the good one such that the share
//! of bad time is the loss that is asked for.
//!
//! A path that stops now and then ([`PathStates::stops`]) has the same two states; a stop has a
//! length that is given.
//!
//! Invariant: the state follows from the seed and the time alone, whatever is sent and when. Units:
//! microseconds. Cost: one random number for each change of state since the last packet.

use std::time::Duration;

use ambit_proto::time::LocalTime;

use super::draw::{draw_chance, draw_exponential};

/// Shorter bursts lose hardly more than one packet, and after a long silence their computation
/// would take long.
pub(super) const MIN_BURST: Duration = Duration::from_millis(1);

/// The state of a path that is good and bad by turns.
#[derive(Clone, Debug)]
pub(super) struct PathStates {
    rng: fastrand::Rng,
    bad: bool,
    /// When the state changes.
    until: LocalTime,
    /// Means, in microseconds.
    mean_bad: f64,
    mean_good: f64,
    /// Whether each bad time is as long as their mean.
    is_bad_fixed: bool,
}

impl PathStates {
    /// A path that is bad for `loss` per cent of the time, in bursts of this mean length; `None`
    /// without bursts.
    pub(super) fn bursts(loss: f32, burst: Duration, mut rng: fastrand::Rng) -> Option<Self> {
        if burst.is_zero() || loss <= 0.0 {
            return None;
        }
        let bad = draw_chance(&mut rng, loss);
        let loss = f64::from(loss);
        let mean_bad = burst.max(MIN_BURST).as_micros() as f64;
        let mean_good = mean_bad * (100.0 - loss) / loss;
        Some(Self::new(rng, bad, (mean_bad, false), mean_good))
    }

    /// A path that stops for `stop`, again and again, after times of this mean length; `None` if it
    /// never does.
    pub(super) fn stops(stop: Duration, every: Duration, rng: fastrand::Rng) -> Option<Self> {
        let stop = stop.as_micros() as f64;
        let every = every.max(MIN_BURST).as_micros() as f64;
        (stop > 0.0).then(|| Self::new(rng, false, (stop, true), every))
    }

    fn new(
        rng: fastrand::Rng,
        bad: bool,
        (mean_bad, is_bad_fixed): (f64, bool),
        mean_good: f64,
    ) -> Self {
        let until = LocalTime::ZERO;
        let mut states = Self { rng, bad, until, mean_bad, mean_good, is_bad_fixed };
        states.extend_state();
        states
    }

    /// When a packet that is on the path at `now` goes on: now, or at the end of the bad time.
    pub(super) fn goes_on_at(&mut self, now: LocalTime) -> LocalTime {
        if self.is_bad(now) { self.until } else { now }
    }

    /// Whether a packet that is on the path at `now` is lost. Time does not run back.
    pub(super) fn is_bad(&mut self, now: LocalTime) -> bool {
        while self.until < now {
            self.bad = !self.bad;
            self.extend_state();
        }
        self.bad
    }

    /// Draws how long the state lasts from `until` on.
    fn extend_state(&mut self) {
        let drawn = draw_exponential(&mut self.rng);
        let micros = match self.bad {
            true if self.is_bad_fixed => self.mean_bad,
            true => drawn * self.mean_bad,
            false => drawn * self.mean_good,
        };
        self.until += Duration::from_micros(micros as u64);
    }
}
