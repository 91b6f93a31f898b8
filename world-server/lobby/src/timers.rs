//! The timers of the whole lobby in one table.
//!
//! A [`Timer`] is set to a time and is returned by [`LobbyTimers::poll_due`] once the time has
//! come, in order of time, then of the timers themselves. Each timer is set at most once; setting
//! it again moves it. Cost: logarithmic in the number of set timers.

use std::collections::{BTreeMap, BTreeSet};

use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;

use crate::output::{ConnId, HostId};

/// What has to be done at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The time limit for the connection's hello.
    Hello(ConnId),
    /// The connection may have been idle for too long.
    Idle(ConnId),
    /// The player's grace period ends.
    Grace(PlayerId),
    /// The time limit for the host to open the room.
    Opening(RoomId),
    /// The suspect room has run long enough to be cleared.
    Quarantine(RoomId),
    /// The restored room has run long enough.
    Trial(RoomId),
    /// Changes of the room's members are published.
    Roster(RoomId),
    /// The host may have been silent for too long.
    HostSilence(HostId),
    /// Changes of the list of rooms are published.
    Listing,
    /// Clients that have missed news get lists.
    CatchUp,
    EndIdleChildren,
    /// Rooms that wait for a host may be placed: the hosts of a process come one after the other.
    Siblings,
    /// Rooms of older builds may be asked to move.
    Releases,
    /// Worlds of the operator's list may have to be opened.
    Worlds,
    /// Players read how much is left until the planned end, or it has come.
    PlannedEnd,
}

/// The table; see the module.
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

    /// Removes and returns the next timer that is due, and the time to which it was set.
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

    /// The one of these players whose grace period ends first; `None` if all are connected.
    pub(super) fn longest_away_of(
        &self,
        players: impl IntoIterator<Item = PlayerId>,
    ) -> Option<PlayerId> {
        let away = players.into_iter().filter_map(|player| {
            let ends_at = self.at.get(&Timer::Grace(player))?;
            Some((*ends_at, player))
        });
        away.min().map(|(_, player)| player)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_due_in_order_and_once() {
        let mut timers = LobbyTimers::default();
        timers.set(Timer::Listing, at(30));
        timers.set(Timer::Hello(ConnId(2)), at(10));
        timers.set(Timer::Hello(ConnId(1)), at(10));
        assert_eq!(timers.next_deadline(), Some(at(10)));
        assert_eq!(timers.poll_due(at(9)), None);
        assert_eq!(timers.poll_due(at(20)), Some((at(10), Timer::Hello(ConnId(1)))));
        assert_eq!(timers.poll_due(at(20)), Some((at(10), Timer::Hello(ConnId(2)))));
        assert_eq!(timers.poll_due(at(20)), None);
        assert_eq!(timers.poll_due(at(30)), Some((at(30), Timer::Listing)));
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn setting_again_moves_a_timer_and_cancelling_removes_it() {
        let mut timers = LobbyTimers::default();
        timers.set(Timer::Listing, at(10));
        timers.set(Timer::Listing, at(20));
        timers.set_if_unset(Timer::Listing, at(5));
        assert_eq!(timers.next_deadline(), Some(at(20)));
        timers.cancel(Timer::Listing);
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn of_some_players_the_one_who_is_away_for_the_longest_time_is_found() {
        let mut timers = LobbyTimers::default();
        for (player, ends_at) in [(1, 10), (2, 30), (3, 20), (4, 20)] {
            timers.set(Timer::Grace(PlayerId(player)), at(ends_at));
        }
        let oldest =
            |players: &[u64]| timers.longest_away_of(players.iter().copied().map(PlayerId));
        assert_eq!(oldest(&[2, 4, 3]), Some(PlayerId(3)));
        assert_eq!(oldest(&[5, 2]), Some(PlayerId(2)), "5 is not away");
        assert_eq!(oldest(&[5]), None);
    }

    fn at(millis: u64) -> LocalTime {
        LocalTime::from_millis(millis)
    }
}
