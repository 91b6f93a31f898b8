//! Loss in bursts: a channel with two states, after E. N. Gilbert ("Capacity of a burst-noise
//! channel", 1960) and E. O. Elliott ("Estimates of error rates for codes on burst-noise channels",
//! 1963).
//!
//! In the bad state all packets are lost, in the good state none (Gilbert's and Elliott's models
//! also have a share of losses within each state). The times in a state are exponentially
//! distributed: in the bad one with the mean that is asked for, in the good one such that the share
//! of bad time is the loss that is asked for.
//!
//! Invariant: the state follows from the seed and the time alone, whatever is sent and when. Units:
//! microseconds. Cost: one random number for each change of state since the last packet.

use std::time::Duration;

use ambit_proto::time::LocalTime;

use super::draw::{draw_chance, draw_exponential};

/// Shorter bursts lose hardly more than one packet, and after a long silence their computation
/// would take long.
pub(super) const MIN_BURST: Duration = Duration::from_millis(1);

/// The state of a path that loses packets in bursts.
#[derive(Clone, Debug)]
pub(super) struct LossBursts {
    rng: fastrand::Rng,
    bad: bool,
    /// When the state changes.
    until: LocalTime,
    /// Means, in microseconds.
    mean_bad: f64,
    mean_good: f64,
}

impl LossBursts {
    /// A path that is bad for `loss` per cent of the time, in bursts of this mean length; `None`
    /// without bursts.
    pub(super) fn new(loss: f32, burst: Duration, mut rng: fastrand::Rng) -> Option<Self> {
        if burst.is_zero() || loss <= 0.0 {
            return None;
        }
        let bad = draw_chance(&mut rng, loss);
        let loss = f64::from(loss);
        let mean_bad = burst.max(MIN_BURST).as_micros() as f64;
        let mean_good = mean_bad * (100.0 - loss) / loss;
        let mut bursts = Self { rng, bad, until: LocalTime::ZERO, mean_bad, mean_good };
        bursts.extend_state();
        Some(bursts)
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
        let mean = if self.bad { self.mean_bad } else { self.mean_good };
        self.until += Duration::from_micros((draw_exponential(&mut self.rng) * mean) as u64);
    }
}
