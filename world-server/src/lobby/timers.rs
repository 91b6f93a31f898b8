//! What is due when: one table for the whole lobby.
//!
//! A [`Timer`] is set to a time and comes out of [`Timers::poll_due`] once the time has come, in
//! order of time, then of the timers themselves. Each timer is set at most once; setting it again
//! moves it. Cost: logarithmic in the timers that are set.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use super::output::{ConnId, HostId};

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The connection has to have said hello.
    Hello(ConnId),
    /// The connection may have been silent for too long.
    Idle(ConnId),
    /// The player has to be back.
    Grace(PlayerId),
    /// The host has to have opened the room.
    Opening(RoomId),
    /// The room was at its host for long enough not to be what kills hosts.
    Trial(RoomId),
    /// The room's members are told who is in it.
    Roster(RoomId),
    /// The host has to have said something.
    HostSilence(HostId),
    /// Those who watch the list of rooms are told what has changed.
    ListingFeed,
    /// Children that are too many end.
    EndIdleChildren,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct LobbyTimers {
    due: BTreeSet<(LocalTime, Timer)>,
    at: BTreeMap<Timer, LocalTime>,
}

impl LobbyTimers {
    /// Sets `timer`, or moves it to `at`.
    pub(super) fn set(&mut self, timer: Timer, at: LocalTime) {
        self.cancel(timer);
        self.due.insert((at, timer));
        self.at.insert(timer, at);
    }

    /// Sets `timer` unless it is set already.
    pub(super) fn set_if_unset(&mut self, timer: Timer, at: LocalTime) {
        if !self.at.contains_key(&timer) {
            self.set(timer, at);
        }
    }

    pub(super) fn cancel(&mut self, timer: Timer) {
        if let Some(at) = self.at.remove(&timer) {
            self.due.remove(&(at, timer));
        }
    }

    /// The next timer whose time has come, and when that was; it is no longer set.
    pub(super) fn poll_due(&mut self, now: LocalTime) -> Option<(LocalTime, Timer)> {
        let (at, timer) = self.due.first().copied()?;
        if at > now {
            return None;
        }
        self.cancel(timer);
        Some((at, timer))
    }

    pub(super) fn next_deadline(&self) -> Option<LocalTime> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The player whose grace period ends first.
    pub(super) fn longest_away_player(&self) -> Option<PlayerId> {
        self.due.iter().find_map(|(_, timer)| match timer {
            Timer::Grace(player) => Some(*player),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_due_in_order_and_once() {
        let mut timers = LobbyTimers::default();
        timers.set(Timer::ListingFeed, at(30));
        timers.set(Timer::Hello(ConnId(2)), at(10));
        timers.set(Timer::Hello(ConnId(1)), at(10));
        assert_eq!(timers.next_deadline(), Some(at(10)));
        assert_eq!(timers.poll_due(at(9)), None);
        assert_eq!(
            timers.poll_due(at(20)),
            Some((at(10), Timer::Hello(ConnId(1))))
        );
        assert_eq!(
            timers.poll_due(at(20)),
            Some((at(10), Timer::Hello(ConnId(2))))
        );
        assert_eq!(timers.poll_due(at(20)), None);
        assert_eq!(timers.poll_due(at(30)), Some((at(30), Timer::ListingFeed)));
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn setting_again_moves_a_timer_and_cancelling_removes_it() {
        let mut timers = LobbyTimers::default();
        timers.set(Timer::ListingFeed, at(10));
        timers.set(Timer::ListingFeed, at(20));
        timers.set_if_unset(Timer::ListingFeed, at(5));
        assert_eq!(timers.next_deadline(), Some(at(20)));
        timers.cancel(Timer::ListingFeed);
        assert_eq!(timers.next_deadline(), None);
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
