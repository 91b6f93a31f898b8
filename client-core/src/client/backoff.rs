//! Pauses between connection attempts.
//!
//! Each failure doubles the pause, from `first` up to `longest`. A random share of up to half of
//! each pause is taken off, so that a thousand clients that lost the same server do not return at
//! the same instant. A success resets the pause.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use fastrand::Rng;

/// The pauses between attempts.
#[derive(Debug)]
pub(crate) struct Backoff {
    builder: ExponentialBuilder,
    pauses: ExponentialBackoff,
    failures: u32,
    rng: Rng,
}

impl Backoff {
    /// Pauses from `first` to `longest`; the random share follows from `seed`.
    pub(crate) fn new(first: Duration, longest: Duration, seed: u64) -> Self {
        // `backon` adds a random share of 0 to 100 % to each delay: half the pause, up to the
        // whole.
        let builder = ExponentialBuilder::new()
            .with_min_delay(first / 2)
            .with_max_delay(longest / 2)
            .without_max_times()
            .with_jitter();
        let mut rng = Rng::with_seed(seed);
        Backoff { builder, pauses: builder.with_jitter_seed(rng.u64(..)).build(), failures: 0, rng }
    }

    /// Counts a failed attempt and returns the pause before the next one.
    pub(crate) fn fail(&mut self) -> Duration {
        self.failures += 1;
        self.pauses.next().expect("pauses have no end")
    }

    /// Failures in a row.
    pub(crate) fn failures(&self) -> u32 {
        self.failures
    }

    /// An attempt has succeeded: the next pause is the shortest again.
    pub(crate) fn succeed(&mut self) {
        let seed = self.rng.u64(..);
        self.pauses = self.builder.with_jitter_seed(seed).build();
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(200);
    const LONGEST: Duration = Duration::from_secs(5);

    #[test]
    fn pauses_double_up_to_the_longest_and_have_a_minimum() {
        let mut backoff = Backoff::new(FIRST, LONGEST, 1);
        for failure in 0..100 {
            let full = (FIRST * 2_u32.pow(failure.min(10))).min(LONGEST);
            let pause = backoff.fail();
            assert!(pause <= full && pause >= full / 2, "{pause:?} of {full:?}");
        }
    }

    #[test]
    fn success_resets_the_pause() {
        let mut backoff = Backoff::new(FIRST, LONGEST, 1);
        for _ in 0..5 {
            backoff.fail();
        }
        backoff.succeed();
        assert_eq!(backoff.failures(), 0);
        assert!(backoff.fail() <= FIRST);
    }

    #[test]
    fn different_seeds_give_different_pauses() {
        let pauses = (0..20)
            .map(|seed| Backoff::new(FIRST, LONGEST, seed).fail())
            .collect::<std::collections::BTreeSet<_>>();
        assert!(pauses.len() > 10);
    }
}
