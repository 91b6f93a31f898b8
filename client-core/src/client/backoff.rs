//! Pauses between connection attempts.
//!
//! Each failure doubles the pause, from `first` up to `longest`. A random share of each pause is
//! taken off, so that a thousand clients that lost the same server do not return at the same
//! instant. A success resets the pause.
//!
//! The crate `backon` has the same series, but does not count failures, and starting again repeats
//! the random shares of its seed: around it, this module would be as long.

use std::time::Duration;

/// Largest random share that is taken off a pause, in per cent.
const SPREAD_PERCENT: u32 = 50;

/// The pauses between attempts.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
    rng: fastrand::Rng,
}

impl Backoff {
    /// Pauses from `first` to `longest`; the random share follows from `seed`.
    pub fn new(first: Duration, longest: Duration, seed: u64) -> Self {
        Backoff {
            first,
            longest,
            failures: 0,
            rng: fastrand::Rng::with_seed(seed),
        }
    }

    /// Counts a failed attempt and returns the pause before the next one.
    pub fn fail(&mut self) -> Duration {
        let doublings = self.failures.min(20);
        self.failures += 1;
        let pause = self.first.saturating_mul(1 << doublings).min(self.longest);
        pause * (100 - self.rng.u32(0..=SPREAD_PERCENT)) / 100
    }

    /// Failures in a row.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// An attempt has succeeded: the next pause is the shortest again.
    pub fn succeed(&mut self) {
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
