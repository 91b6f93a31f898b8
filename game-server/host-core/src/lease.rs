//! Until when a host may serve players.
//!
//! A host that is silent for too long is given up, and its rooms go on elsewhere. If it lives after
//! all it does not know that yet. What it confirmed to players now would be lost. So everything
//! that confirms something to a player passes [`ServingLease::may_serve`] first.
//!
//! There are three kinds of hosts:
//! - A host within the WorldServer's process is never given up.
//! - A child of the WorldServer is given up after a time of silence. It is connected by a pipe,
//!   which breaks with either process; so only a stopped process has to be noticed. Between two
//!   checks there is never more than a bound, or the host does not serve any more. The WorldServer
//!   counts from the last heartbeat, which may have left one [`HEARTBEAT_INTERVAL`] before the
//!   process stopped, and what leaves now needs some time to arrive: hence the bound.
//! - A host on another machine has a lease: it may serve until a time that each acknowledged
//!   heartbeat moves on, counted from the *sending* of that heartbeat by this host's own clock. The
//!   WorldServer gives its rooms away only after a silence that is longer than the lease, so always
//!   later, however late its answers come. A process that was stopped finds its lease over when it
//!   wakes up. It holds back what it would send until a heartbeat is acknowledged again.
//!
//! Source: C. Gray, D. Cheriton: Leases (SOSP 1989), sections 2 and 5.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::Duration;

use ambit_host_protocol::HEARTBEAT_INTERVAL;
use ambit_proto::time::LocalTime;

/// Heartbeats that may be under way; of more the oldest count as lost.
const UNDER_WAY: usize = 64;

/// For a [`ServingPermit`]: there is no such limit.
const UNLIMITED: u64 = u64::MAX;

/// For a [`ServingPermit`]: nothing was checked yet.
const UNCHECKED: u64 = 0;

/// For a [`ServingPermit`]: the process was stopped for too long.
const STALLED: u64 = u64::MAX;

/// Decides until when this host may serve: see the module.
#[derive(Debug, Default)]
pub struct ServingLease {
    /// The longest one. Zero for a host that ends with its link and needs no lease.
    longest: Duration,
    /// Heartbeats that are not acknowledged, by number, and when they were sent.
    sent: VecDeque<(u64, LocalTime)>,
    until: Option<LocalTime>,
    acknowledged_at: Option<LocalTime>,
    last_heartbeat: u64,
    permit: Arc<ServingPermit>,
}

/// Whether this host may serve now. [`ServingLease`] publishes it, and all threads may ask at the
/// same time; none waits for another. In microseconds of the host's clock.
#[derive(Debug)]
pub struct ServingPermit {
    /// The end of the lease, or [`UNLIMITED`].
    until: AtomicU64,
    /// The longest time between two checks of a host that may be given up without a lease, or
    /// [`UNLIMITED`].
    longest_stop: AtomicU64,
    /// The last check, or [`UNCHECKED`], or [`STALLED`]. One number, so that of two threads that
    /// wake up after a stop neither can take the check of the other for its own last one.
    checked: AtomicU64,
}

impl ServingLease {
    /// What the other threads of the host ask.
    pub fn permit(&self) -> &Arc<ServingPermit> {
        &self.permit
    }

    /// A new link, to a WorldServer that has not sent its settings; until then they are as before.
    pub fn connect(&mut self, now: LocalTime) {
        self.begin(now, self.longest);
    }

    /// The WorldServer's settings: how long a lease is at most, and after how much silence a host
    /// without a lease is given up. Zero if it does not apply.
    pub fn configure(&mut self, now: LocalTime, longest: Duration, silence: Duration) {
        self.begin(now, longest);
        let longest_stop = silence.saturating_sub(2 * HEARTBEAT_INTERVAL).max(silence / 2);
        self.permit.watch_for_stops((!silence.is_zero()).then_some(longest_stop));
    }

    /// Heartbeats of an earlier link prove nothing: that may have been another WorldServer.
    fn begin(&mut self, now: LocalTime, longest: Duration) {
        self.longest = longest;
        self.sent.clear();
        self.acknowledged_at = Some(now);
        if longest > Duration::ZERO && self.until.is_none() {
            self.until = Some(now);
        }
        self.permit.extend(self.until());
    }

    /// The number of a heartbeat that is sent now.
    pub fn next_heartbeat(&mut self, now: LocalTime) -> u64 {
        self.last_heartbeat += 1;
        if self.sent.len() >= UNDER_WAY {
            self.sent.pop_front();
        }
        self.sent.push_back((self.last_heartbeat, now));
        self.last_heartbeat
    }

    /// The WorldServer acknowledges the heartbeats up to this number, with a lease of that length
    /// since the heartbeat was sent.
    pub fn acknowledge(&mut self, now: LocalTime, number: u64, length: Duration) {
        let length = length.min(self.longest);
        while let Some(&(sent, at)) = self.sent.front().filter(|(sent, _)| *sent <= number) {
            self.sent.pop_front();
            if sent == number {
                self.until = self.until.max(Some(at + length));
                self.acknowledged_at = Some(now);
            }
        }
        self.permit.extend(self.until());
    }

    /// Whether players may be served at `now`.
    pub fn may_serve(&self, now: LocalTime) -> bool {
        self.permit.may_serve(now)
    }

    /// The end of the lease; `None` for a host without one.
    pub fn until(&self) -> Option<LocalTime> {
        self.until.filter(|_| self.has_lease())
    }

    /// For how long the WorldServer has acknowledged nothing; zero for a host without a lease.
    pub fn silence(&self, now: LocalTime) -> Duration {
        let acknowledged_at = self.acknowledged_at.filter(|_| self.has_lease());
        acknowledged_at.map_or(Duration::ZERO, |at| now.since(at))
    }

    /// Whether this host keeps its rooms without a link for a while.
    pub fn has_lease(&self) -> bool {
        self.longest > Duration::ZERO
    }
}

impl Default for ServingPermit {
    /// Without any limit, as a host within the WorldServer's process has it.
    fn default() -> Self {
        Self {
            until: AtomicU64::new(UNLIMITED),
            longest_stop: AtomicU64::new(UNLIMITED),
            checked: AtomicU64::new(UNCHECKED),
        }
    }
}

impl ServingPermit {
    /// Whether this process was never stopped for too long. Once it was, it never serves again.
    pub fn check(&self, now: LocalTime) -> bool {
        let longest_stop = self.longest_stop.load(Acquire);
        let now = now.micros().max(UNCHECKED + 1);
        let is_too_late = |last: u64| last != UNCHECKED && now.saturating_sub(last) > longest_stop;
        let checked = self.checked.fetch_update(AcqRel, Acquire, |last| match last {
            STALLED => None,
            last if is_too_late(last) => Some(STALLED),
            last => Some(now.max(last)),
        });
        checked.is_ok_and(|last| !is_too_late(last))
    }

    /// Whether players may be served at `now`.
    pub fn may_serve(&self, now: LocalTime) -> bool {
        self.check(now) && now.micros() < self.until.load(Acquire)
    }

    /// Whether this host has a lease, and so keeps its rooms without a link for a while.
    pub fn has_lease(&self) -> bool {
        self.until.load(Acquire) != UNLIMITED
    }

    fn extend(&self, until: Option<LocalTime>) {
        self.until.store(until.map_or(UNLIMITED, LocalTime::micros), Release);
    }

    /// From now on a longer time between two checks is too long; what was before does not count.
    fn watch_for_stops(&self, longest: Option<Duration>) {
        self.longest_stop.store(UNLIMITED, Release);
        self.checked.store(UNCHECKED, Release);
        let longest = longest.map_or(UNLIMITED, |longest| longest.as_micros() as u64);
        self.longest_stop.store(longest, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_millis(1_500);
    const BEGIN: LocalTime = LocalTime::from_millis(10_000);

    #[test]
    fn the_lease_counts_from_when_an_acknowledged_heartbeat_was_sent() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, LENGTH, Duration::ZERO);
        assert_eq!(lease.until(), Some(BEGIN), "no heartbeat is acknowledged yet");
        assert!(!lease.may_serve(BEGIN));
        let first = lease.next_heartbeat(BEGIN);
        let second = lease.next_heartbeat(at(250));
        lease.acknowledge(at(900), first, LENGTH);
        assert_eq!(lease.until(), Some(BEGIN + LENGTH));
        lease.acknowledge(at(1_200), second, LENGTH);
        assert_eq!(lease.until(), Some(at(250) + LENGTH));
        assert_eq!(lease.silence(at(1_300)), Duration::from_millis(100));
        // A repeated or an unknown number changes nothing.
        lease.acknowledge(at(1_400), second, LENGTH);
        lease.acknowledge(at(1_400), 99, LENGTH);
        assert_eq!(lease.until(), Some(at(250) + LENGTH));
        // A shorter lease does not end a longer one, and none is longer than the longest.
        let third = lease.next_heartbeat(at(500));
        lease.acknowledge(at(1_500), third, LENGTH / 2);
        assert_eq!(lease.until(), Some(at(250) + LENGTH));
        let fourth = lease.next_heartbeat(at(1_250));
        lease.acknowledge(at(1_500), fourth, LENGTH / 2);
        assert_eq!(lease.until(), Some(at(1_250) + LENGTH / 2));
        let fifth = lease.next_heartbeat(at(1_500));
        lease.acknowledge(at(1_600), fifth, LENGTH * 2);
        assert_eq!(lease.until(), Some(at(1_500) + LENGTH));
    }

    #[test]
    fn an_expired_lease_resumes_with_the_next_acknowledged_heartbeat() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, LENGTH, Duration::ZERO);
        let first = lease.next_heartbeat(BEGIN);
        lease.acknowledge(at(10), first, LENGTH);
        assert!(lease.may_serve(at(1_499)));
        assert!(!lease.may_serve(at(1_500)));
        let late = lease.next_heartbeat(at(60_000));
        assert!(!lease.may_serve(at(60_001)));
        lease.acknowledge(at(60_010), late, LENGTH);
        assert!(lease.may_serve(at(60_010)));
    }

    #[test]
    fn a_heartbeat_of_another_link_does_not_extend_the_lease() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, LENGTH, Duration::ZERO);
        let old = lease.next_heartbeat(BEGIN);
        lease.configure(at(5_000), LENGTH, Duration::ZERO);
        lease.acknowledge(at(5_001), old, LENGTH);
        assert_eq!(lease.until(), Some(BEGIN), "the heartbeat was sent on another link");
        let new = lease.next_heartbeat(at(5_002));
        lease.acknowledge(at(5_003), new, LENGTH);
        assert_eq!(lease.until(), Some(at(5_002) + LENGTH));
    }

    #[test]
    fn a_new_link_begins_without_heartbeats_before_its_settings_come() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, LENGTH, Duration::ZERO);
        let old = lease.next_heartbeat(BEGIN);
        lease.connect(at(5_000));
        assert_eq!(lease.silence(at(5_100)), Duration::from_millis(100));
        lease.acknowledge(at(5_100), old, LENGTH);
        assert_eq!(lease.until(), Some(BEGIN));
    }

    #[test]
    fn a_host_without_a_lease_may_always_serve() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, Duration::ZERO, Duration::ZERO);
        assert_eq!((lease.until(), lease.silence(at(9_000))), (None, Duration::ZERO));
        assert!(lease.may_serve(BEGIN) && lease.may_serve(at(100_000)));
    }

    #[test]
    fn a_process_that_was_stopped_for_too_long_never_serves_again() {
        let mut lease = ServingLease::default();
        lease.configure(BEGIN, Duration::ZERO, Duration::from_secs(2));
        let serves = [0, 1_500, 3_000, 4_501, 4_502].map(|ms| lease.may_serve(at(ms)));
        assert_eq!(serves, [true, true, true, false, false]);
        assert!(!lease.may_serve(at(9_000)), "it was stopped once more");
    }

    #[test]
    fn no_thread_of_a_process_that_was_stopped_serves_whichever_wakes_first() {
        for round in 1..=200 {
            let mut lease = ServingLease::default();
            lease.configure(BEGIN, Duration::ZERO, Duration::from_secs(2));
            assert!(lease.may_serve(BEGIN));
            let permit = lease.permit();
            let served = std::thread::scope(|scope| {
                let wake = |ms| scope.spawn(move || permit.may_serve(at(ms)));
                let woken = [1_501, 1_502, 1_501 + round].map(wake);
                woken.map(|thread| thread.join().expect("a check does not panic"))
            });
            assert_eq!(served, [false; 3]);
        }
    }

    fn at(millis: u64) -> LocalTime {
        BEGIN + Duration::from_millis(millis)
    }
}
