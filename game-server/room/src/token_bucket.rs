//! A limit on a rate, with a burst: commands on hosts; requests and chat in the lobby.
//!
//! The time is an argument, so that rooms and the lobby stay deterministic. The crate `governor`
//! implements the same algorithm, but reads a clock of its own and keeps atomic state.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// A token bucket in one number: the time at which it will be full again.
///
/// Source: the generic cell rate algorithm (ITU-T I.371).
#[derive(Clone, Debug)]
pub struct TokenBucket {
    interval: Duration,
    burst: u32,
    full_at: LocalTime,
}

impl TokenBucket {
    /// Creates a full bucket of `burst` tokens that gets `per_s` tokens a second; both at least 1.
    pub fn new(per_s: u32, burst: u32) -> Self {
        Self {
            interval: Duration::from_secs(1) / per_s.max(1),
            burst: burst.max(1),
            full_at: LocalTime::ZERO,
        }
    }

    /// Takes a token; `false` if there is none.
    pub fn take(&mut self, now: LocalTime) -> bool {
        let fits = self.has_token(now);
        if fits {
            self.charge(now, 1);
        }
        fits
    }

    /// Whether there is a token.
    pub fn has_token(&self, now: LocalTime) -> bool {
        self.has_token_with_debt(now, 0)
    }

    /// Whether there would be a token if the debt could be so high.
    pub fn has_token_with_debt(&self, now: LocalTime, debt: u32) -> bool {
        let most = self.burst.saturating_add(debt);
        (self.full_at.max(now) + self.interval).since(now) <= self.interval * most
    }

    /// Takes tokens, also more than there are: the rest is a debt, and there is no token until it
    /// is paid. So a single item may cost more than the burst.
    pub fn charge(&mut self, now: LocalTime, tokens: u32) {
        self.full_at = self.full_at.max(now) + self.interval * tokens;
    }

    /// Whether all tokens are there: such a bucket is as good as a new one.
    pub fn is_full(&self, now: LocalTime) -> bool {
        self.full_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_at_once_then_its_rate() {
        let mut bucket = TokenBucket::new(20, 40);
        let granted = (0..100).filter(|_| bucket.take(at(1_000))).count();
        assert_eq!(granted, 40);
        assert!(!bucket.take(at(1_049)));
        assert!(bucket.take(at(1_050)));
        assert!(!bucket.take(at(1_050)));
        let granted = (0..1_000).filter(|step| bucket.take(at(2_000 + step))).count();
        assert_eq!(granted, 38); // 50 ms each from 1,050 to 2,999.
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_burst() {
        let mut bucket = TokenBucket::new(1, 3);
        assert_eq!((0..10).filter(|_| bucket.take(at(1_000_000))).count(), 3);
    }

    #[test]
    fn a_debt_is_paid_before_there_is_another_token() {
        let mut bucket = TokenBucket::new(10, 5);
        bucket.charge(at(0), 4);
        assert!(bucket.has_token(at(0)));
        // One token is left, and 19 more are owed.
        bucket.charge(at(0), 20);
        assert!(!bucket.has_token(at(1_999)));
        assert!(bucket.has_token(at(2_000)));
        let with_debt = |ms| bucket.has_token_with_debt(at(ms), 10);
        assert!(!with_debt(999) && with_debt(1_000));
        assert!(!bucket.is_full(at(2_399)) && bucket.is_full(at(2_400)));
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
