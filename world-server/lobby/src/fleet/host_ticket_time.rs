//! The time by which a host judges tickets.
//!
//! Clocks of machines differ, and step when they are set. So a ticket expires by a time of the host
//! that it is for: the host's wall clock at the start of its process, continued by a clock that
//! does not step. The host reports this time when it connects and once a second after that. Between
//! these readings the lobby's own time continues it. The lobby's wall clock is used for a
//! comparison only.
//!
//! A reading is as much too early as its message was under way. So a reading replaces the estimate
//! only if it is ahead of it, or after a while, as clocks drift apart by up to 1 ms a second.

use std::time::Duration;

use ambit_proto::time::LocalTime;

/// A clock that differs by more is worth a warning: the operator should set it.
const TOLERANCE: Duration = Duration::from_secs(5);
/// How fast two clocks drift apart at most.
const MAX_DRIFT_PERMILLE: u32 = 1;

/// A host's time for tickets, estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostTicketTime {
    read_at: LocalTime,
    /// Since 1970, at `read_at`.
    unix: Duration,
}

impl HostTicketTime {
    /// The host has just said that it is this many seconds after 1970.
    pub(crate) fn new(now: LocalTime, unix_s: u64) -> Self {
        Self { read_at: now, unix: Duration::from_secs(unix_s) }
    }

    /// The host has said it again.
    pub(crate) fn update(&mut self, now: LocalTime, unix_s: u64) {
        let drift = now.since(self.read_at) * MAX_DRIFT_PERMILLE / 1_000;
        let lowest = self.at(now).saturating_sub(drift);
        *self = Self { read_at: now, unix: Duration::from_secs(unix_s).max(lowest) };
    }

    /// The time since 1970 by which the host judges tickets now.
    pub(crate) fn at(self, now: LocalTime) -> Duration {
        self.unix.saturating_add(now.since(self.read_at))
    }

    /// In whole seconds, by how much the host is ahead of `own`, or behind it if negative; `None`
    /// if that does not matter.
    pub(crate) fn skew_s(self, now: LocalTime, own: Duration) -> Option<i64> {
        let at = self.at(now);
        let seconds =
            |difference: Duration| i64::try_from(difference.as_secs()).unwrap_or(i64::MAX);
        let ahead = at.saturating_sub(own);
        let behind = own.saturating_sub(at);
        if ahead > TOLERANCE {
            Some(seconds(ahead))
        } else if behind > TOLERANCE {
            Some(-seconds(behind))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u64 = 1_000_000;

    #[test]
    fn the_time_goes_on_between_readings_and_late_ones_do_not_count() {
        let mut time = HostTicketTime::new(at(10), FIRST);
        assert_eq!(time.at(at(12)).as_secs(), FIRST + 2);
        // 3 s under way: only the drift of 10 s is given away.
        time.update(at(20), FIRST + 7);
        assert_eq!(time.at(at(20)), Duration::from_millis(1_000 * FIRST + 9_990));
        time.update(at(21), FIRST + 12);
        assert_eq!(time.at(at(21)).as_secs(), FIRST + 12, "a better reading");
    }

    #[test]
    fn a_host_that_drifts_is_followed() {
        let mut time = HostTicketTime::new(at(0), FIRST);
        // A clock that loses half a millisecond a second.
        for second in 1..=100_000 {
            time.update(at(second), FIRST + second - second / 2_000);
        }
        let behind = time.skew_s(at(100_000), Duration::from_secs(FIRST + 100_000));
        assert!(matches!(behind, Some(-50..=-48)), "{behind:?}");
    }

    #[test]
    fn a_difference_of_a_few_seconds_does_not_matter() {
        let time = HostTicketTime::new(at(1), FIRST);
        let skew = |own: u64| time.skew_s(at(1), Duration::from_secs(own));
        assert_eq!(skew(FIRST + 5), None);
        assert_eq!(skew(FIRST - 5), None);
        assert_eq!(skew(FIRST + 60), Some(-60));
        assert_eq!(skew(FIRST - 60), Some(60));
        assert_eq!(skew(0), Some(FIRST as i64));
    }

    #[test]
    fn any_reading_is_survived() {
        let mut time = HostTicketTime::new(at(1), u64::MAX);
        time.update(at(2), u64::MAX);
        assert!(time.skew_s(at(3), Duration::ZERO).is_some());
    }

    fn at(seconds: u64) -> LocalTime {
        LocalTime::from_millis(1_000 * seconds)
    }
}
