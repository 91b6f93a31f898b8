//! How long a host may be silent before it is given up.
//!
//! A host on another machine whose line is steady is given up after half of `--host-silence`: a
//! machine that is gone cannot say so, and its players wait. "Steady" is measured: the limit is
//! longer than the longest silence of the last minutes that the host ended by itself, by what its
//! lease needs to survive such a silence, but it is not less than half of `--host-silence` and not
//! more than the whole. A host that was given up and comes back has ended its silence as well. So
//! one long pause makes the lobby patient for minutes.
//!
//! Each acknowledged heartbeat promises the host a time in which it is not given up, and its lease
//! ([`serving_lease`]) is shorter than that. A promise is kept when the limit falls afterwards.
//!
//! Source of the idea to learn the time-out from past arrivals: W. Chen, S. Toueg, M. Aguilera, On
//! the Quality of Service of Failure Detectors (IEEE Transactions on Computers 51, 2002). They
//! estimate the expected arrival; here the longest gap decides, since a false alarm costs more than
//! a late one.

use std::time::Duration;

use ambit_host_protocol::messages::WorldOrder;
use ambit_proto::time::LocalTime;

/// A host of which less is known may be silent for the whole time.
const WARM_UP: Duration = Duration::from_secs(10);

/// The longest silence of this period and of the one before count.
const PERIOD: Duration = Duration::from_mins(5);

/// The limit is never shorter: four heartbeats.
const LEAST: Duration = Duration::from_secs(1);

/// A silence ends with the acknowledgement of a heartbeat that was sent after it: that takes up to
/// one interval (250 ms) and a round trip longer.
const LEASE_RESERVE: Duration = Duration::from_millis(375);

/// When a host was heard, and until when it may be silent.
#[derive(Clone, Copy, Debug)]
pub struct HostSilence {
    /// `--host-silence`.
    most: Duration,
    adapts: bool,
    known_since: LocalTime,
    heard_at: LocalTime,
    promised_until: LocalTime,
    period_began_at: LocalTime,
    /// The longest silence in this period, and in the one before.
    longest: [Duration; 2],
}

impl HostSilence {
    /// For a host on another machine, heard for the first time: the limit is `most` at most.
    pub fn adaptive(now: LocalTime, most: Duration) -> Self {
        Self { adapts: true, ..Self::fixed(now, most) }
    }

    /// For a host that is always given up after the same time, such as a child: if its process
    /// ends, its pipe tells.
    pub fn fixed(now: LocalTime, limit: Duration) -> Self {
        Self {
            most: limit,
            adapts: false,
            known_since: now,
            heard_at: now,
            promised_until: now,
            period_began_at: now,
            longest: [Duration::ZERO; 2],
        }
    }

    /// A message of the host has arrived.
    pub fn note_heard(&mut self, now: LocalTime) {
        if now.since(self.period_began_at) >= PERIOD {
            self.period_began_at = now;
            self.longest = [Duration::ZERO, self.longest[0]];
        }
        self.longest[0] = self.longest[0].max(now.since(self.heard_at));
        self.heard_at = self.heard_at.max(now);
    }

    /// Acknowledges a heartbeat that has just arrived, which renews the host's lease.
    pub fn acknowledge(&mut self, number: u64) -> WorldOrder {
        let limit = self.limit();
        self.promised_until = self.promised_until.max(self.heard_at + limit);
        WorldOrder::AcknowledgeHeartbeat { number, lease: serving_lease(limit) }
    }

    /// The host, of which this was known, has connected again.
    pub fn resume(mut self, now: LocalTime, most: Duration) -> Self {
        if !self.adapts || now.since(self.heard_at) > PERIOD {
            return Self::adaptive(now, most);
        }
        self.note_heard(now);
        self
    }

    pub fn heard_at(&self) -> LocalTime {
        self.heard_at
    }

    /// Until when the host may be silent.
    pub fn ends_at(&self) -> LocalTime {
        self.promised_until.max(self.heard_at + self.limit())
    }

    /// How long the host may be silent from when it was heard.
    pub fn limit(&self) -> Duration {
        if !self.adapts || self.heard_at.since(self.known_since) < WARM_UP {
            return self.most;
        }
        let longest = self.longest[0].max(self.longest[1]);
        let least = LEAST.max(self.most / 2).min(self.most);
        ((longest + LEASE_RESERVE) * 8 / 7).clamp(least, self.most)
    }
}

/// How long a host may serve players after an acknowledged heartbeat, if it may be silent for
/// `limit`. It stops before its rooms are given to another host, also if clocks drift.
pub(super) fn serving_lease(limit: Duration) -> Duration {
    limit * 7 / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(2);

    #[test]
    fn the_limit_follows_the_longest_silence_of_the_last_minutes() {
        let mut silence = HostSilence::adaptive(at(0), MOST);
        hear_every(&mut silence, 0, 9_900, 50);
        assert_eq!(silence.limit(), MOST, "too little is known");
        hear_every(&mut silence, 9_900, 10_100, 50);
        assert_eq!(silence.limit(), MOST / 2);
        silence.note_heard(at(11_000));
        assert_eq!(silence.limit(), Duration::from_nanos(1_457_142_857));
        silence.note_heard(at(12_700));
        assert_eq!(silence.limit(), MOST, "never more than the whole");
        // It is forgotten after five minutes at the earliest, and after ten at the latest.
        hear_every(&mut silence, 12_700, 300_000, 50);
        assert_eq!(silence.limit(), MOST);
        hear_every(&mut silence, 300_000, 600_100, 50);
        assert_eq!(silence.limit(), MOST / 2);
    }

    #[test]
    fn a_host_that_connects_again_is_known_for_the_pause_that_cut_it_off() {
        let mut silence = HostSilence::adaptive(at(0), MOST);
        hear_every(&mut silence, 0, 20_000, 50);
        assert_eq!(silence.limit(), MOST / 2);
        assert_eq!(silence.resume(at(21_200), MOST).limit(), Duration::from_millis(1_800));
        // Of one that was gone for long nothing is known.
        let mut other = silence.resume(at(20_000) + Duration::from_mins(6), MOST);
        assert_eq!((other.limit(), other.heard_at()), (MOST, at(380_000)));
        hear_every(&mut other, 380_000, 391_000, 50);
        assert_eq!(other.limit(), MOST / 2, "the long pause does not count");
    }

    #[test]
    fn a_promise_is_kept_when_the_limit_falls() {
        let mut silence = HostSilence::adaptive(at(0), MOST);
        hear_every(&mut silence, 0, 9_950, 50);
        assert_eq!(acknowledge(&mut silence), 1_750);
        hear_every(&mut silence, 9_950, 10_100, 50);
        assert_eq!(silence.limit(), MOST / 2);
        assert_eq!(silence.ends_at(), at(9_950) + MOST);
        hear_every(&mut silence, 10_100, 20_000, 50);
        assert_eq!(acknowledge(&mut silence), 875);
        assert_eq!(silence.ends_at(), at(20_000) + MOST / 2);
    }

    #[test]
    fn a_child_may_be_silent_for_the_whole_time_and_a_short_time_is_kept() {
        let mut child = HostSilence::fixed(at(0), MOST);
        hear_every(&mut child, 0, 60_000, 50);
        assert_eq!(child.limit(), MOST);
        let least = Duration::from_secs(1);
        let mut remote = HostSilence::adaptive(at(0), least);
        hear_every(&mut remote, 0, 60_000, 50);
        assert_eq!(remote.limit(), least);
    }

    /// Acknowledges a heartbeat and returns the lease, in milliseconds.
    fn acknowledge(silence: &mut HostSilence) -> u128 {
        match silence.acknowledge(1) {
            WorldOrder::AcknowledgeHeartbeat { number: 1, lease } => lease.as_millis(),
            other => panic!("{other:?}"),
        }
    }

    /// Hears the host every `interval` milliseconds, after `from` and up to `to`.
    fn hear_every(silence: &mut HostSilence, from: u64, to: u64, interval: usize) {
        for ms in (from..=to).step_by(interval).skip(1) {
            silence.note_heard(at(ms));
        }
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
