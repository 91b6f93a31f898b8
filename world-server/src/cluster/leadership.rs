//! Leader election: what one WorldServer of a cluster does to find the leader, and when it may take
//! the leadership.
//!
//! Lookups of the directory and results of connection attempts go in; the next step comes out. Only
//! the directory decides: a server takes the leadership by a write that names the last sequence
//! number it read. Of two servers that try, one succeeds, and later writes of the previous leader
//! are refused. A wrong suspicion therefore costs a change of leaders, but there are never two
//! lobbies.
//!
//! A server suspects that the leader is lost in two ways:
//! - fast: this server followed the leader, the link went silent, and a connection attempt since
//!   then failed;
//! - slow: the leader's record has not changed for [`LEADER_LEASE`], by this server's own clock,
//!   and a connection attempt failed. Time in which the directory could not be read does not count,
//!   since the leader could not write either.
//!
//! Source: docs/cluster.md.

use std::time::Duration;

use ambit_lobby::directory::Leader;
use ambit_proto::time::LocalTime;

/// A leader whose record is unchanged for this long is lost.
pub(crate) const LEADER_LEASE: Duration = Duration::from_secs(20);
pub(crate) const RENEW_INTERVAL: Duration = Duration::from_secs(1);
/// Pause between two connection attempts.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// A lookup is valid for this long.
const LOOKUP_LIFETIME: Duration = Duration::from_millis(250);
/// Two lookups further apart than this prove nothing about the time between them.
const MAX_LOOKUP_GAP: Duration = Duration::from_secs(3);

/// The result of a lookup in the directory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeaderLookup {
    /// The last sequence number of the whole stream.
    pub(crate) last_sequence: u64,
    pub(crate) leader: Option<Leader>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ElectionStep {
    /// Read the directory, then call [`LeaderElection::note_lookup`] or
    /// [`LeaderElection::discard_lookup`].
    Read,
    /// Take the leadership by a write after that sequence number. If it fails, call
    /// [`LeaderElection::discard_lookup`].
    Take { after: u64 },
    /// Connect to the leader and follow it; then call [`LeaderElection::note_failed_connect`] or,
    /// when the link ends, [`LeaderElection::note_lost_link`].
    Follow(Leader),
    /// Do nothing for this long, then ask again.
    Wait(Duration),
}

/// The state of the election; see the module.
#[derive(Debug)]
pub(crate) struct LeaderElection {
    /// This server's own address.
    address: String,
    lookup: Option<TimedLookup>,
    /// How long the leader's record has been unchanged.
    unchanged: Duration,
    /// The leader that this server followed until the link was lost.
    lost: Option<LostLeader>,
    tried_at: Option<LocalTime>,
}

#[derive(Debug)]
struct TimedLookup {
    at: LocalTime,
    lookup: LeaderLookup,
}

#[derive(Debug)]
struct LostLeader {
    process: Vec<u8>,
    /// Whether a connection attempt has failed since.
    connect_failed: bool,
}

/// What a leader does whose write was not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaderRecovery {
    /// Write again after that sequence number.
    WriteAgain { after: u64 },
    /// The directory was lost, or restored from a backup: it has less than this leader has written.
    /// Take the leadership by a write after that sequence number, then write all records.
    Restore { after: u64 },
    /// Another server leads.
    End,
}

impl LeaderRecovery {
    /// Decides by the directory; `written` is the newest sequence number that was acknowledged to
    /// this leader, `own`, and `quiet` the time since then. Sequence numbers of a directory only
    /// grow, and another server takes the leadership by a write after the newest. So if the newest
    /// number is lower, no server has taken over from this one, and no server has newer records.
    ///
    /// Brokers that disagree may let two servers write. Each of them finds what the other has
    /// written. The one with the higher epoch stays, unless its silence was long enough for others
    /// to take it for lost.
    pub(crate) fn decide(
        own: &Leader,
        written: u64,
        quiet: Duration,
        found: &LeaderLookup,
    ) -> Self {
        let after = found.last_sequence;
        match &found.leader {
            Some(leader) if leader.epoch > own.epoch => Self::End,
            _ if after < written => Self::Restore { after },
            Some(leader) if leader.process == own.process => Self::WriteAgain { after },
            Some(_) if quiet >= LEADER_LEASE => Self::End,
            Some(_) | None => Self::Restore { after },
        }
    }
}

impl LeaderElection {
    pub(crate) fn new(address: String) -> Self {
        Self { address, lookup: None, unchanged: Duration::ZERO, lost: None, tried_at: None }
    }

    pub(crate) fn note_lookup(&mut self, now: LocalTime, found: LeaderLookup) {
        if let Some(before) = &self.lookup
            && before.lookup.leader == found.leader
            && now.since(before.at) <= MAX_LOOKUP_GAP
        {
            self.unchanged += now.since(before.at);
        } else {
            self.unchanged = Duration::ZERO;
        }
        self.lookup = Some(TimedLookup { at: now, lookup: found });
    }

    /// The directory did not answer, or a write was refused.
    pub(crate) fn discard_lookup(&mut self) {
        self.lookup = None;
        self.unchanged = Duration::ZERO;
    }

    /// A connection attempt to the leader failed, or that server does not lead.
    pub(crate) fn note_failed_connect(&mut self, now: LocalTime, leader: &Leader) {
        self.tried_at = Some(now);
        if let Some(lost) = self.lost.as_mut().filter(|lost| lost.process == leader.process) {
            lost.connect_failed = true;
        }
    }

    /// The link to the leader has ended.
    pub(crate) fn note_lost_link(&mut self, leader: &Leader) {
        self.lost = Some(LostLeader { process: leader.process.clone(), connect_failed: false });
        (self.lookup, self.unchanged, self.tried_at) = (None, Duration::ZERO, None);
    }

    pub(crate) fn next_step(&self, now: LocalTime) -> ElectionStep {
        let fresh = self.lookup.as_ref().filter(|reading| now.since(reading.at) <= LOOKUP_LIFETIME);
        let Some(TimedLookup { lookup: found, .. }) = fresh else {
            return ElectionStep::Read;
        };
        let Some(leader) = found.leader.as_ref().filter(|leader| !leader.free) else {
            return ElectionStep::Take { after: found.last_sequence };
        };
        if self.is_lost(leader) {
            return ElectionStep::Take { after: found.last_sequence };
        }
        match self.tried_at {
            Some(at) if now.since(at) < RETRY_PAUSE => {
                ElectionStep::Wait(RETRY_PAUSE.saturating_sub(now.since(at)))
            }
            _ => ElectionStep::Follow(leader.clone()),
        }
    }

    /// Whether the leader counts as lost.
    fn is_lost(&self, leader: &Leader) -> bool {
        // This server now has the address of the recorded leader: that process has ended.
        let was_here = leader.address == self.address;
        let lost = self
            .lost
            .as_ref()
            .is_some_and(|lost| lost.process == leader.process && lost.connect_failed);
        let overdue = self.unchanged >= LEADER_LEASE && self.tried_at.is_some();
        was_here || lost || overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_leadership_is_taken() {
        let mut server = LeaderElection::new("b".into());
        assert_eq!(server.next_step(ms(0)), ElectionStep::Read);
        server.note_lookup(ms(1), LeaderLookup { last_sequence: 7, leader: None });
        assert_eq!(server.next_step(ms(1)), ElectionStep::Take { after: 7 });
        server.note_lookup(ms(2), found(9, Leader { free: true, ..leader(3) }));
        assert_eq!(server.next_step(ms(2)), ElectionStep::Take { after: 9 });
        assert_eq!(server.next_step(ms(500)), ElectionStep::Read, "the lookup is too old");
    }

    #[test]
    fn a_followed_leader_is_lost_when_it_is_silent_and_does_not_answer() {
        let mut server = LeaderElection::new("b".into());
        server.note_lookup(ms(0), found(7, leader(1)));
        assert_eq!(server.next_step(ms(0)), ElectionStep::Follow(leader(1)));
        server.note_lost_link(&leader(1));
        assert_eq!(server.next_step(ms(5_000)), ElectionStep::Read);
        server.note_lookup(ms(5_001), found(8, leader(2)));
        assert_eq!(
            server.next_step(ms(5_001)),
            ElectionStep::Follow(leader(2)),
            "perhaps only the connection broke"
        );
        server.note_failed_connect(ms(5_400), &leader(2));
        server.note_lookup(ms(5_401), found(8, leader(2)));
        assert_eq!(server.next_step(ms(5_401)), ElectionStep::Take { after: 8 });
        // Another process leads now, which this server has not followed yet.
        server.note_lookup(ms(5_402), found(9, Leader { process: vec![9], ..leader(1) }));
        assert!(matches!(server.next_step(ms(5_600)), ElectionStep::Follow(_)));
    }

    #[test]
    fn an_unreached_leader_is_lost_after_its_record_is_stale_for_the_lease() {
        let mut server = LeaderElection::new("b".into());
        let mut now = 0;
        let mut silent_for = |server: &mut LeaderElection, renewals: u64, millis: u64| {
            for _ in 0..millis / 200 {
                now += 200;
                server.note_lookup(ms(now), found(7, leader(renewals)));
                server.note_failed_connect(ms(now), &leader(renewals));
            }
            server.next_step(ms(now + 100))
        };
        assert!(matches!(silent_for(&mut server, 1, 19_000), ElectionStep::Follow(_)));
        assert!(
            matches!(silent_for(&mut server, 2, 19_000), ElectionStep::Follow(_)),
            "the record was renewed"
        );
        assert_eq!(silent_for(&mut server, 2, 2_000), ElectionStep::Take { after: 7 });
    }

    #[test]
    fn time_without_a_successful_read_does_not_count() {
        let mut server = LeaderElection::new("b".into());
        server.note_lookup(ms(0), found(7, leader(1)));
        server.note_failed_connect(ms(0), &leader(1));
        server.discard_lookup();
        server.note_lookup(ms(60_000), found(7, leader(1)));
        assert!(matches!(server.next_step(ms(60_000)), ElectionStep::Follow(_)));
        // Time in which this process was suspended does not count either.
        server.note_lookup(ms(120_000), found(7, leader(1)));
        assert!(matches!(server.next_step(ms(120_000)), ElectionStep::Follow(_)));
    }

    #[test]
    fn a_server_at_the_leaders_address_takes_the_leadership() {
        let mut server = LeaderElection::new("a".into());
        server.note_lookup(ms(0), found(7, leader(1)));
        assert_eq!(server.next_step(ms(0)), ElectionStep::Take { after: 7 });
    }

    #[test]
    fn a_leader_restores_a_directory_that_has_less_than_it_has_written() {
        let own = with_epoch(1, 6);
        let decide = |written, found| LeaderRecovery::decide(&own, written, ms_ago(100), &found);
        let later = with_epoch(2, 8);
        let earlier = with_epoch(3, 2);
        let again = LeaderRecovery::WriteAgain { after: 9 };
        assert_eq!(decide(7, found(9, own.clone())), again, "a lost receipt");
        assert_eq!(decide(9, found(9, own.clone())), again);
        assert_eq!(decide(7, found(9, later)), LeaderRecovery::End);
        let empty = LeaderLookup { last_sequence: 0, leader: None };
        assert_eq!(decide(7, empty), LeaderRecovery::Restore { after: 0 });
        let backup = LeaderRecovery::Restore { after: 5 };
        assert_eq!(decide(7, found(5, own.clone())), backup);
        assert_eq!(decide(7, found(5, earlier)), backup);
        // A server that has led an empty directory meanwhile has less than this one, and ends.
        let decided =
            LeaderRecovery::decide(&with_epoch(2, 1), 5, ms_ago(100), &found(80, own.clone()));
        assert_eq!(decided, LeaderRecovery::End);
    }

    #[test]
    fn of_two_servers_that_brokers_let_write_the_later_one_stays() {
        let first = with_epoch(1, 70);
        let second = with_epoch(2, 71);
        for written in [80, 90] {
            // Each finds what the other has written, in copies that differ.
            for last in [75, 85, 95] {
                let of_second = found(last, second.clone());
                let decided = LeaderRecovery::decide(&first, written, ms_ago(100), &of_second);
                assert_eq!(decided, LeaderRecovery::End);
                let of_first = found(last, first.clone());
                let decided = LeaderRecovery::decide(&second, written, ms_ago(100), &of_first);
                assert_eq!(decided, LeaderRecovery::Restore { after: last });
            }
        }
        // It was suspended, the directory was emptied, and another one has led since.
        let of_other = found(95, first);
        let decided = LeaderRecovery::decide(&second, 90, LEADER_LEASE, &of_other);
        assert_eq!(decided, LeaderRecovery::End);
    }

    fn with_epoch(process: u8, epoch: u64) -> Leader {
        Leader { process: vec![process], epoch, ..leader(1) }
    }

    fn ms_ago(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn leader(renewals: u64) -> Leader {
        Leader { process: vec![1], address: "a".into(), renewals, ..Leader::default() }
    }

    fn found(last_sequence: u64, leader: Leader) -> LeaderLookup {
        LeaderLookup { last_sequence, leader: Some(leader) }
    }

    fn ms(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
