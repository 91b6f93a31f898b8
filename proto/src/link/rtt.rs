//! The round trip for loss detection: until the acknowledgement arrives, so it includes the peer's
//! tick.
//!
//! Smoothed mean and variation with weights of 1/8 and 1/4 (RFC 6298). Each time-out in a row
//! doubles the next one, until a new sample arrives: if the path has become slower than the
//! time-out, faster repetition would make it slower still.
//!
//! Invariant: a time-out is within the bounds of the configuration, for any acknowledgements of the
//! peer.

use std::time::Duration;

use super::LinkConfig;
use crate::time::LocalTime;

/// More than this would be beyond any upper bound.
const MAX_DOUBLINGS: u8 = 6;

#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    /// Mean and variation; `None` until the first sample.
    measured: Option<(Duration, Duration)>,
    initial: Duration,
    /// How long the peer may delay an acknowledgement.
    ack_delay: Duration,
    min_timeout: Duration,
    max_timeout: Duration,
    doublings: u8,
    /// When the time-out was last doubled.
    doubled_at: LocalTime,
}

impl RttEstimator {
    pub(super) fn new(config: &LinkConfig) -> Self {
        Self {
            measured: None,
            initial: config.initial_rtt,
            ack_delay: config.ack_delay,
            min_timeout: config.min_timeout,
            max_timeout: config.max_timeout,
            doublings: 0,
            doubled_at: LocalTime::ZERO,
        }
    }

    /// A datagram was acknowledged `sample` after it left.
    pub(super) fn handle_sample(&mut self, sample: Duration) {
        // A sample beyond any time-out has no further effect.
        let sample = sample.min(self.max_timeout);
        self.doublings = 0;
        self.measured = Some(match self.measured {
            None => (sample, sample / 2),
            Some((mean, variation)) => {
                ((mean * 7 + sample) / 8, (variation * 3 + mean.abs_diff(sample)) / 4)
            }
        });
    }

    /// A datagram that left at `sent_at` has timed out. Those that left before the last doubling
    /// don't count again.
    pub(super) fn handle_timeout(&mut self, now: LocalTime, sent_at: LocalTime) {
        if self.doublings == 0 || sent_at >= self.doubled_at {
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.doubled_at = now;
        }
    }

    /// The mean; the configured assumption before the first sample.
    pub(super) fn smoothed(&self) -> Duration {
        self.measured.map_or(self.initial, |(mean, _)| mean)
    }

    /// How long to wait for an acknowledgement when no later datagram was acknowledged.
    pub(super) fn timeout(&self) -> Duration {
        let variation = self.measured.map_or(self.initial / 2, |(_, variation)| variation);
        let once = (self.smoothed() + 4 * variation + self.ack_delay).max(self.min_timeout);
        (once * (1 << self.doublings)).min(self.max_timeout)
    }

    /// How long after its sending a datagram may still arrive although later ones have overtaken
    /// it.
    pub(super) fn reorder_timeout(&self) -> Duration {
        self.smoothed() * 5 / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_timeout_approaches_a_steady_round_trip_time() {
        let mut rtt = RttEstimator::new(&LinkConfig::default());
        for _ in 0..100 {
            rtt.handle_sample(ms(80));
        }
        assert_eq!(rtt.smoothed(), ms(80));
        assert!(rtt.timeout() >= ms(105) && rtt.timeout() < ms(110), "{:?}", rtt.timeout());
        assert_eq!(rtt.reorder_timeout(), ms(100));
    }

    #[test]
    fn timeouts_stay_within_their_bounds() {
        let mut rtt = RttEstimator::new(&LinkConfig::default());
        rtt.handle_sample(Duration::ZERO);
        assert_eq!(rtt.timeout(), ms(50));
        rtt.handle_sample(Duration::MAX);
        assert!(rtt.timeout() <= ms(2_000));
    }

    #[test]
    fn a_timeout_doubles_once_a_round_trip_until_the_next_sample() {
        let mut rtt = RttEstimator::new(&LinkConfig::default());
        for _ in 0..100 {
            rtt.handle_sample(ms(80));
        }
        let once = rtt.timeout();
        let at = LocalTime::from_millis;
        rtt.handle_timeout(at(1_110), at(1_000));
        rtt.handle_timeout(at(1_120), at(1_010)); // In flight when the first one timed out.
        assert_eq!(rtt.timeout(), once * 2);
        rtt.handle_timeout(at(1_400), at(1_120));
        assert_eq!(rtt.timeout(), once * 4);
        rtt.handle_sample(ms(80));
        assert!(rtt.timeout() < ms(110));
    }
}
