//! Which WorldServer of a cluster leads: what one of them does to find out, and when it may take
//! the place.
//!
//! What was read in the directory and what became of calls goes in; the next step comes out. Only
//! the directory decides: the place is taken by a write that names the last sequence that was read,
//! so that of two who try one succeeds, and whatever the leader before still writes is refused. So
//! a wrong guess that a leader is gone costs a change of leaders, and never a lobby with two.
//!
//! Two ways to such a guess:
//! - fast: this server followed the leader, the link went silent, and a call since then came to
//!   nothing;
//! - slow: the leader's record has not changed for [`LEASE`], by this server's own clock, and the
//!   leader can't be called. Time in which the directory could not be read does not count: then the
//!   leader could not write it either.
//!
//! PoseSource: ARCHITECTURE.md, "A cluster".

use std::time::Duration;

use ambit_proto::control::directory::Leader;
use ambit_proto::time::LocalTime;

/// A record that is unchanged for so long is that of a leader that is gone.
pub(crate) const LEADER_LEASE: Duration = Duration::from_secs(20);
/// How often the leader writes its record.
pub(crate) const RENEW_INTERVAL: Duration = Duration::from_secs(1);
/// Pause between two rounds of reading and calling.
const RETRY_PAUSE: Duration = Duration::from_millis(100);
/// A reading is good for so long.
const LOOKUP_LIFETIME: Duration = Duration::from_millis(250);
/// Two readings further apart than that say nothing of the time between them.
const MAX_LOOKUP_GAP: Duration = Duration::from_secs(3);

/// What the directory says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeaderLookup {
    /// Of all of it.
    pub(crate) last_sequence: u64,
    pub(crate) leader: Option<Leader>,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ElectionStep {
    /// Read the directory, then [`LeaderElection::found`] or [`LeaderElection::unreadable`].
    Read,
    /// Take the place: a write after that sequence. Done when it succeeds; else
    /// [`LeaderElection::unreadable`].
    Take { after: u64 },
    /// Follow the leader there; then [`LeaderElection::missed`] or, in the end,
    /// [`LeaderElection::parted`].
    Follow(Leader),
    /// Nothing for a while.
    WaitState(Duration),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct LeaderElection {
    /// Where this server is reached.
    address: String,
    lookup: Option<TimedLookup>,
    /// For how long the leader's record has been seen unchanged.
    unchanged: Duration,
    /// The leader that this server has followed, and lost.
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
    /// Whether it was called since, in vain.
    connect_failed: bool,
}

impl LeaderElection {
    pub(crate) fn new(address: String) -> Self {
        Self {
            address,
            lookup: None,
            unchanged: Duration::ZERO,
            lost: None,
            tried_at: None,
        }
    }

    /// The directory was read.
    pub(crate) fn note_lookup(&mut self, now: LocalTime, found: LeaderLookup) {
        if let Some(before) = &self.lookup
            && before.lookup.leader == found.leader
            && now.since(before.at) <= MAX_LOOKUP_GAP
        {
            self.unchanged += now.since(before.at);
        } else {
            self.unchanged = Duration::ZERO;
        }
        self.lookup = Some(TimedLookup {
            at: now,
            lookup: found,
        });
    }

    /// The directory does not answer, or a write came too late.
    pub(crate) fn discard_lookup(&mut self) {
        self.lookup = None;
        self.unchanged = Duration::ZERO;
    }

    /// The leader did not answer a call, or said that it is none.
    pub(crate) fn note_failed_connect(&mut self, now: LocalTime, leader: &Leader) {
        self.tried_at = Some(now);
        if let Some(lost) = self
            .lost
            .as_mut()
            .filter(|lost| lost.process == leader.process)
        {
            lost.connect_failed = true;
        }
    }

    /// The link to a leader that was followed has ended.
    pub(crate) fn note_lost_link(&mut self, leader: &Leader) {
        self.lost = Some(LostLeader {
            process: leader.process.clone(),
            connect_failed: false,
        });
        (self.lookup, self.unchanged, self.tried_at) = (None, Duration::ZERO, None);
    }

    pub(crate) fn next_step(&self, now: LocalTime) -> ElectionStep {
        let fresh = self
            .lookup
            .as_ref()
            .filter(|reading| now.since(reading.at) <= LOOKUP_LIFETIME);
        let Some(TimedLookup { lookup: found, .. }) = fresh else {
            return ElectionStep::Read;
        };
        let Some(leader) = found.leader.as_ref().filter(|leader| !leader.free) else {
            return ElectionStep::Take {
                after: found.last_sequence,
            };
        };
        if self.is_lost(leader) {
            return ElectionStep::Take {
                after: found.last_sequence,
            };
        }
        match self.tried_at {
            Some(at) if now.since(at) < RETRY_PAUSE => {
                ElectionStep::WaitState(RETRY_PAUSE.saturating_sub(now.since(at)))
            }
            _ => ElectionStep::Follow(leader.clone()),
        }
    }

    /// Whether the leader of the directory may be taken for gone.
    fn is_lost(&self, leader: &Leader) -> bool {
        // Whoever was reached here before has left the address to this server.
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
    fn a_free_place_is_taken() {
        let mut server = LeaderElection::new("b".into());
        assert_eq!(server.next_step(ms(0)), ElectionStep::Read);
        server.note_lookup(
            ms(1),
            LeaderLookup {
                last_sequence: 7,
                leader: None,
            },
        );
        assert_eq!(server.next_step(ms(1)), ElectionStep::Take { after: 7 });
        server.note_lookup(
            ms(2),
            found(
                9,
                Leader {
                    free: true,
                    ..leader(3)
                },
            ),
        );
        assert_eq!(server.next_step(ms(2)), ElectionStep::Take { after: 9 });
        assert_eq!(
            server.next_step(ms(500)),
            ElectionStep::Read,
            "what was read is old"
        );
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
            "it may just be the line"
        );
        server.note_failed_connect(ms(5_400), &leader(2));
        server.note_lookup(ms(5_401), found(8, leader(2)));
        assert_eq!(server.next_step(ms(5_401)), ElectionStep::Take { after: 8 });
        // Another process has the place meanwhile: that one was never followed.
        server.note_lookup(
            ms(5_402),
            found(
                9,
                Leader {
                    process: vec![9],
                    ..leader(1)
                },
            ),
        );
        assert!(matches!(
            server.next_step(ms(5_600)),
            ElectionStep::Follow(_)
        ));
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
        assert!(matches!(
            silent_for(&mut server, 1, 19_000),
            ElectionStep::Follow(_)
        ));
        assert!(
            matches!(silent_for(&mut server, 2, 19_000), ElectionStep::Follow(_)),
            "it was renewed"
        );
        assert_eq!(
            silent_for(&mut server, 2, 2_000),
            ElectionStep::Take { after: 7 }
        );
    }

    #[test]
    fn time_in_which_nothing_could_be_read_does_not_count() {
        let mut server = LeaderElection::new("b".into());
        server.note_lookup(ms(0), found(7, leader(1)));
        server.note_failed_connect(ms(0), &leader(1));
        server.discard_lookup();
        server.note_lookup(ms(60_000), found(7, leader(1)));
        assert!(matches!(
            server.next_step(ms(60_000)),
            ElectionStep::Follow(_)
        ));
        // Nor does time in which this process was stopped itself.
        server.note_lookup(ms(120_000), found(7, leader(1)));
        assert!(matches!(
            server.next_step(ms(120_000)),
            ElectionStep::Follow(_)
        ));
    }

    #[test]
    fn who_has_the_address_of_the_leader_before_takes_its_place() {
        let mut server = LeaderElection::new("a".into());
        server.note_lookup(ms(0), found(7, leader(1)));
        assert_eq!(server.next_step(ms(0)), ElectionStep::Take { after: 7 });
    }

    fn leader(renewals: u64) -> Leader {
        Leader {
            process: vec![1],
            address: "a".into(),
            renewals,
            ..Leader::default()
        }
    }

    fn found(last_sequence: u64, leader: Leader) -> LeaderLookup {
        LeaderLookup {
            last_sequence,
            leader: Some(leader),
        }
    }

    fn ms(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
