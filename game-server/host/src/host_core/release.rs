//! When a tick's datagrams may leave the host.
//!
//! A datagram may confirm what a player has done, so it leaves only after the tick's journal entry:
//! otherwise a host that dies takes with it what a player has seen confirmed. And it leaves only
//! while the host may serve ([`super::lease`]).
//!
//! A WorldServer on another machine acknowledges the journal. If that machine has died, what it
//! kept has died with it, and to wait would only stop the rooms. So a host with a lease waits for
//! [`KEPT_WITHIN`], and then no more until something is acknowledged again. What is confirmed
//! meanwhile is lost only if this host dies as well before another WorldServer has taken over.

use std::time::Duration;

use ambit_proto::time::LocalTime;

use super::lease::ServingLease;

/// How long datagrams wait for a WorldServer on another machine. Shorter than the local lag.
pub const KEPT_WITHIN: Duration = Duration::from_millis(100);

/// What to do with a batch of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Now,
    /// Ask again when the journal has got on or the lease has changed, at this time at the latest.
    Wait(Option<LocalTime>),
    /// Drop it: this host does not serve any more.
    Never,
}

/// See the module. One for each queue of batches.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReleaseGate {
    /// The WorldServer has not acknowledged a batch in time; as long as that was the newest number.
    silent_at: Option<u64>,
    /// Since when the present batch waits.
    since: Option<LocalTime>,
}

impl ReleaseGate {
    /// Whether the batch that follows the journal entry `after` may leave; `kept` is the newest
    /// entry that can't be lost with this process any more. To be asked about one batch until it is
    /// decided, then about the next one.
    pub fn check(
        &mut self,
        now: LocalTime,
        after: u64,
        kept: u64,
        lease: &mut ServingLease,
    ) -> Release {
        let release = self.decide(now, after, kept, lease);
        if !matches!(release, Release::Wait(_)) {
            self.since = None;
        }
        release
    }

    fn decide(
        &mut self,
        now: LocalTime,
        after: u64,
        kept: u64,
        lease: &mut ServingLease,
    ) -> Release {
        if !lease.check(now) {
            return Release::Never;
        }
        let has_lease = lease.until().is_some();
        if !has_lease || self.silent_at != Some(kept) {
            self.silent_at = None;
        }
        let since = *self.since.get_or_insert(now);
        if kept < after && self.silent_at.is_none() {
            if !has_lease {
                return Release::Wait(None);
            }
            if now < since + KEPT_WITHIN {
                return Release::Wait(Some(since + KEPT_WITHIN));
            }
            self.silent_at = Some(kept);
        }
        if lease.may_serve(now) {
            Release::Now
        } else {
            Release::Wait(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_leave_after_their_journal_entry() {
        let (mut gate, mut lease) = (ReleaseGate::default(), child());
        let mut check = |ms, kept| gate.check(at(ms), 3, kept, &mut lease);
        assert_eq!(check(0, 2), Release::Wait(None));
        assert_eq!(check(1_000, 2), Release::Wait(None));
        assert_eq!(check(1_001, 3), Release::Now);
    }

    #[test]
    fn datagrams_of_a_stopped_process_never_leave() {
        let (mut gate, mut lease) = (ReleaseGate::default(), child());
        assert_eq!(gate.check(at(0), 1, 1, &mut lease), Release::Now);
        assert_eq!(gate.check(at(5_000), 1, 1, &mut lease), Release::Never);
    }

    #[test]
    fn a_silent_world_server_is_waited_for_once() {
        let (mut gate, mut lease) = (ReleaseGate::default(), remote(1_000));
        let mut check = |ms, after, kept| gate.check(at(ms), after, kept, &mut lease);
        assert_eq!(check(0, 3, 2), Release::Wait(Some(at(100))));
        assert_eq!(check(100, 3, 2), Release::Now);
        assert_eq!(check(150, 4, 2), Release::Now);
        // The WorldServer has acknowledged an entry, so the gate waits for it again.
        assert_eq!(check(200, 5, 4), Release::Wait(Some(at(300))));
    }

    #[test]
    fn no_datagram_leaves_after_the_end_of_the_lease() {
        let (mut gate, mut lease) = (ReleaseGate::default(), remote(1_000));
        assert_eq!(gate.check(at(999), 3, 3, &mut lease), Release::Now);
        let held = gate.check(at(1_000), 4, 4, &mut lease);
        assert_eq!(held, Release::Wait(None));
        let heartbeat = lease.next_heartbeat(at(4_990));
        lease.acknowledge(at(5_000), heartbeat);
        assert_eq!(gate.check(at(5_000), 4, 4, &mut lease), Release::Now);
    }

    /// The lease of a child, which the WorldServer gives up after two seconds.
    fn child() -> ServingLease {
        let mut lease = ServingLease::default();
        lease.configure(at(0), Duration::ZERO, Duration::from_secs(2));
        lease
    }

    /// The lease of a remote host whose heartbeat at time zero is acknowledged.
    fn remote(lease_ms: u64) -> ServingLease {
        let mut lease = ServingLease::default();
        lease.configure(at(0), Duration::from_millis(lease_ms), Duration::ZERO);
        let heartbeat = lease.next_heartbeat(at(0));
        lease.acknowledge(at(0), heartbeat);
        lease
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }
}
