//! How long a host may serve players without a word from its WorldServer.
//!
//! Signs of life that were sent and those that were heard go in, a time comes out: until then
//! whatever was given to this host is still its own. Counted from the *sending* of the newest one
//! that was heard, by this host's own clock: so the WorldServer, which gives rooms away only when
//! it has heard nothing for longer than the lease, always does so later, however late its answers
//! come. A process that was stopped and wakes up finds its lease over before it says anything.
//!
//! PoseSource: C. Gray, D. Cheriton: Leases (SOSP 1989), sections 2 and 5.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Signs of life that may be on their way; of more the oldest count as lost.
const UNDER_WAY: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Lease {
    /// Zero for a host that ends with its link, and needs none.
    length: Duration,
    sent: VecDeque<(u64, Instant)>,
    until: Option<Instant>,
    heard_at: Option<Instant>,
    last: u64,
}

impl Lease {
    /// A new link, on which the WorldServer has just been heard; on an earlier one it may have
    /// been.
    pub(crate) fn begin(&mut self, now: Instant, length: Duration) {
        self.length = length;
        self.sent.clear();
        self.heard_at = Some(now);
        if length > Duration::ZERO && self.until.is_none() {
            self.until = Some(now);
        }
    }

    /// Another link, to a WorldServer that has not said how long the lease is; until then it is as
    /// long as before.
    pub(crate) fn connect(&mut self, now: Instant) {
        self.begin(now, self.length);
    }

    /// The number of a sign of life that leaves now.
    pub(crate) fn send(&mut self, now: Instant) -> u64 {
        self.last += 1;
        if self.sent.len() >= UNDER_WAY {
            self.sent.pop_front();
        }
        self.sent.push_back((self.last, now));
        self.last
    }

    /// The WorldServer has heard up to this one.
    pub(crate) fn hear(&mut self, now: Instant, number: u64) {
        while let Some(&(sent, at)) = self.sent.front().filter(|(sent, _)| *sent <= number) {
            self.sent.pop_front();
            if sent == number {
                self.until = self.until.max(Some(at + self.length));
                self.heard_at = Some(now);
            }
        }
    }

    /// Until when this host may serve; `Unchanged` for a host without a lease.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until.filter(|_| self.length > Duration::ZERO)
    }

    /// For how long nothing has been heard.
    pub(crate) fn silence(&self, now: Instant) -> Duration {
        let heard_at = self.heard_at.filter(|_| self.length > Duration::ZERO);
        heard_at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at))
    }

    /// Whether this host can do without a link for a while.
    pub(crate) fn is_given(&self) -> bool {
        self.length > Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_millis(1_500);

    #[test]
    fn it_counts_from_the_sending_of_what_was_heard() {
        let (mut lease, begin) = (Lease::default(), start());
        lease.begin(begin, LENGTH);
        assert_eq!(lease.until(), Some(begin), "nothing was heard yet");
        let first = lease.send(begin);
        let second = lease.send(begin + ms(250));
        lease.hear(begin + ms(900), first);
        assert_eq!(lease.until(), Some(begin + LENGTH));
        lease.hear(begin + ms(1_200), second);
        assert_eq!(lease.until(), Some(begin + ms(250) + LENGTH));
        assert_eq!(lease.silence(begin + ms(1_300)), ms(100));
        // What is heard again, or was never sent, changes nothing.
        lease.hear(begin + ms(1_400), second);
        lease.hear(begin + ms(1_400), 99);
        assert_eq!(lease.until(), Some(begin + ms(250) + LENGTH));
    }

    #[test]
    fn another_link_gives_no_time_by_itself() {
        let (mut lease, begin) = (Lease::default(), start());
        lease.begin(begin, LENGTH);
        let old = lease.send(begin);
        lease.begin(begin + ms(5_000), LENGTH);
        lease.hear(begin + ms(5_001), old);
        assert_eq!(lease.until(), Some(begin), "that was said on another link");
        let new = lease.send(begin + ms(5_002));
        lease.hear(begin + ms(5_003), new);
        assert_eq!(lease.until(), Some(begin + ms(5_002) + LENGTH));
    }

    #[test]
    fn a_host_that_ends_with_its_link_has_none() {
        let (mut lease, begin) = (Lease::default(), start());
        lease.begin(begin, Duration::ZERO);
        assert_eq!(
            (lease.until(), lease.silence(begin + ms(9_000))),
            (None, Duration::ZERO)
        );
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[expect(clippy::disallowed_methods, reason = "some instant to count from")]
    fn start() -> Instant {
        Instant::now()
    }
}
