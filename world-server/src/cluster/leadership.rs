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
//! Source: ARCHITECTURE.md, "A cluster".

use std::time::Duration;

use ambit_proto::control::directory::Leader;
use ambit_proto::time::LocalTime;

/// A record that is unchanged for so long is that of a leader that is gone.
pub(crate) const LEASE: Duration = Duration::from_secs(20);
/// How often the leader writes its record.
pub(crate) const RENEW_EVERY: Duration = Duration::from_secs(1);
/// Pause between two rounds of reading and calling.
const PAUSE: Duration = Duration::from_millis(100);
/// A reading is good for so long.
const FRESH: Duration = Duration::from_millis(250);
/// Two readings further apart than that say nothing of the time between them.
const UNSEEN: Duration = Duration::from_secs(3);

/// What the directory says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// Of all of it.
    pub(crate) last_sequence: u64,
    pub(crate) leader: Option<Leader>,
}

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Read the directory, then [`Leadership::found`] or [`Leadership::unreadable`].
    Read,
    /// Take the place: a write after that sequence. Done when it succeeds; else
    /// [`Leadership::unreadable`].
    Take { after: u64 },
    /// Follow the leader there; then [`Leadership::missed`] or, in the end, [`Leadership::parted`].
    Call(Leader),
    /// Nothing for a while.
    Wait(Duration),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Leadership {
    /// Where this server is reached.
    address: String,
    found: Option<Reading>,
    /// For how long the leader's record has been seen unchanged.
    unchanged: Duration,
    /// The leader that this server has followed, and lost.
    lost: Option<Lost>,
    called_at: Option<LocalTime>,
}

#[derive(Debug)]
struct Reading {
    at: LocalTime,
    found: Found,
}

#[derive(Debug)]
struct Lost {
    process: Vec<u8>,
    /// Whether it was called since, in vain.
    missed: bool,
}

impl Leadership {
    pub(crate) fn new(address: String) -> Self {
        Self {
            address,
            found: None,
            unchanged: Duration::ZERO,
            lost: None,
            called_at: None,
        }
    }

    /// The directory was read.
    pub(crate) fn found(&mut self, now: LocalTime, found: Found) {
        if let Some(before) = &self.found
            && before.found.leader == found.leader
            && now.since(before.at) <= UNSEEN
        {
            self.unchanged += now.since(before.at);
        } else {
            self.unchanged = Duration::ZERO;
        }
        self.found = Some(Reading { at: now, found });
    }

    /// The directory does not answer, or a write came too late.
    pub(crate) fn unreadable(&mut self) {
        self.found = None;
        self.unchanged = Duration::ZERO;
    }

    /// The leader did not answer a call, or said that it is none.
    pub(crate) fn missed(&mut self, now: LocalTime, leader: &Leader) {
        self.called_at = Some(now);
        if let Some(lost) = self
            .lost
            .as_mut()
            .filter(|lost| lost.process == leader.process)
        {
            lost.missed = true;
        }
    }

    /// The link to a leader that was followed has ended.
    pub(crate) fn parted(&mut self, leader: &Leader) {
        self.lost = Some(Lost {
            process: leader.process.clone(),
            missed: false,
        });
        (self.found, self.unchanged, self.called_at) = (None, Duration::ZERO, None);
    }

    pub(crate) fn step(&self, now: LocalTime) -> Step {
        let fresh = self
            .found
            .as_ref()
            .filter(|reading| now.since(reading.at) <= FRESH);
        let Some(Reading { found, .. }) = fresh else {
            return Step::Read;
        };
        let Some(leader) = found.leader.as_ref().filter(|leader| !leader.free) else {
            return Step::Take {
                after: found.last_sequence,
            };
        };
        if self.is_gone(leader) {
            return Step::Take {
                after: found.last_sequence,
            };
        }
        match self.called_at {
            Some(at) if now.since(at) < PAUSE => Step::Wait(PAUSE.saturating_sub(now.since(at))),
            _ => Step::Call(leader.clone()),
        }
    }

    /// Whether the leader of the directory may be taken for gone.
    fn is_gone(&self, leader: &Leader) -> bool {
        // Whoever was reached here before has left the address to this server.
        let was_here = leader.address == self.address;
        let lost = self
            .lost
            .as_ref()
            .is_some_and(|lost| lost.process == leader.process && lost.missed);
        let overdue = self.unchanged >= LEASE && self.called_at.is_some();
        was_here || lost || overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_free_place_is_taken() {
        let mut server = Leadership::new("b".into());
        assert_eq!(server.step(ms(0)), Step::Read);
        server.found(
            ms(1),
            Found {
                last_sequence: 7,
                leader: None,
            },
        );
        assert_eq!(server.step(ms(1)), Step::Take { after: 7 });
        server.found(
            ms(2),
            found(
                9,
                Leader {
                    free: true,
                    ..leader(3)
                },
            ),
        );
        assert_eq!(server.step(ms(2)), Step::Take { after: 9 });
        assert_eq!(server.step(ms(500)), Step::Read, "what was read is old");
    }

    #[test]
    fn a_leader_that_was_followed_is_gone_when_it_is_silent_and_does_not_answer() {
        let mut server = Leadership::new("b".into());
        server.found(ms(0), found(7, leader(1)));
        assert_eq!(server.step(ms(0)), Step::Call(leader(1)));
        server.parted(&leader(1));
        assert_eq!(server.step(ms(5_000)), Step::Read);
        server.found(ms(5_001), found(8, leader(2)));
        assert_eq!(
            server.step(ms(5_001)),
            Step::Call(leader(2)),
            "it may just be the line"
        );
        server.missed(ms(5_400), &leader(2));
        server.found(ms(5_401), found(8, leader(2)));
        assert_eq!(server.step(ms(5_401)), Step::Take { after: 8 });
        // Another process has the place meanwhile: that one was never followed.
        server.found(
            ms(5_402),
            found(
                9,
                Leader {
                    process: vec![9],
                    ..leader(1)
                },
            ),
        );
        assert!(matches!(server.step(ms(5_600)), Step::Call(_)));
    }

    #[test]
    fn a_leader_that_was_never_reached_is_gone_when_its_record_is_unchanged_for_the_lease() {
        let mut server = Leadership::new("b".into());
        let mut now = 0;
        let mut silent_for = |server: &mut Leadership, renewals: u64, millis: u64| {
            for _ in 0..millis / 200 {
                now += 200;
                server.found(ms(now), found(7, leader(renewals)));
                server.missed(ms(now), &leader(renewals));
            }
            server.step(ms(now + 100))
        };
        assert!(matches!(silent_for(&mut server, 1, 19_000), Step::Call(_)));
        assert!(
            matches!(silent_for(&mut server, 2, 19_000), Step::Call(_)),
            "it was renewed"
        );
        assert_eq!(silent_for(&mut server, 2, 2_000), Step::Take { after: 7 });
    }

    #[test]
    fn time_in_which_nothing_could_be_read_does_not_count() {
        let mut server = Leadership::new("b".into());
        server.found(ms(0), found(7, leader(1)));
        server.missed(ms(0), &leader(1));
        server.unreadable();
        server.found(ms(60_000), found(7, leader(1)));
        assert!(matches!(server.step(ms(60_000)), Step::Call(_)));
        // Nor does time in which this process was stopped itself.
        server.found(ms(120_000), found(7, leader(1)));
        assert!(matches!(server.step(ms(120_000)), Step::Call(_)));
    }

    #[test]
    fn who_has_the_address_of_the_leader_before_takes_its_place() {
        let mut server = Leadership::new("a".into());
        server.found(ms(0), found(7, leader(1)));
        assert_eq!(server.step(ms(0)), Step::Take { after: 7 });
    }

    fn leader(renewals: u64) -> Leader {
        Leader {
            process: vec![1],
            address: "a".into(),
            renewals,
            ..Leader::default()
        }
    }

    fn found(last_sequence: u64, leader: Leader) -> Found {
        Found {
            last_sequence,
            leader: Some(leader),
        }
    }

    fn ms(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
