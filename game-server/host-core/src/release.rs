//! When a tick's datagrams may leave the host, and what they may confirm.
//!
//! A datagram may confirm what a player has done, so it leaves only after the tick's journal entry:
//! otherwise a host that dies takes with it what a player has seen confirmed. And it leaves only
//! while the host may serve ([`super::lease`]).
//!
//! A WorldServer on another machine acknowledges the journal. If an acknowledgement takes longer
//! than [`KEPT_WITHIN`], the line is slow or dark, or the WorldServer is lost; then waiting would
//! only stop the room. So from the next tick on, the room sends datagrams that confirm nothing
//! beyond the newest tick whose entry is acknowledged ([`RoomConfirmations`],
//! [`RoomInput::ConfirmUntil`]), and these leave at once. Datagrams that wait, and would confirm
//! more, are dropped, as if the path had lost them. When the acknowledgements are there again, or
//! another WorldServer has the room's snapshot, the room confirms everything as before.
//!
//! What a player sees meanwhile is the room's state as this host knows it. If the host dies too,
//! that state may go back by up to the time of silence; commands that it contained are unconfirmed,
//! so the clients send them again. The end of a game is not shown so early: a room whose game is
//! over waits until all of its entries are acknowledged.
//!
//! [`RoomInput::ConfirmUntil`]: ambit_room::room::RoomInput::ConfirmUntil

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::time::{GameTime, LocalTime};

use super::lease::ServingPermit;

/// How long datagrams wait for a WorldServer on another machine. Shorter than the local lag.
pub const KEPT_WITHIN: Duration = Duration::from_millis(100);

/// Once a room has waited longer than [`KEPT_WITHIN`], it confirms everything again only when the
/// entries are acknowledged within this time.
const KEPT_AGAIN_WITHIN: Duration = Duration::from_millis(50);

/// Entries whose ticks are remembered until they are acknowledged. With more the newest gives way
/// to the next one, so that the room confirms in larger steps.
const MOST_WAITING: usize = 64;

/// What to do with a batch of datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Now,
    /// Ask again when the journal has got on or the lease has changed, at this time at the latest.
    Wait(Option<LocalTime>),
    /// Drop it: this host does not serve any more, or the batch confirms what may be lost.
    Never,
}

/// Whether a batch of datagrams that was written at `written` may leave. `after` is the journal
/// entry that it follows, zero if it waits for none; `kept` is the newest entry that can't be lost
/// with this process any more.
pub fn check_release(
    now: LocalTime,
    written: LocalTime,
    after: u64,
    kept: u64,
    permit: &ServingPermit,
) -> Release {
    if !permit.check(now) {
        return Release::Never;
    }
    if kept < after {
        if !permit.has_lease() {
            return Release::Wait(None);
        }
        let late_at = written + KEPT_WITHIN;
        return if now < late_at { Release::Wait(Some(late_at)) } else { Release::Never };
    }
    if permit.may_serve(now) { Release::Now } else { Release::Wait(None) }
}

/// Which of its ticks a room may confirm to its players.
#[derive(Debug, Default)]
pub struct RoomConfirmations {
    /// The entries that are not acknowledged, the oldest first.
    waiting: VecDeque<WaitingEntry>,
    /// The newest tick whose entry is acknowledged.
    kept_until: GameTime,
    /// Whether the room confirms only that.
    is_limited: bool,
    after: u64,
}

#[derive(Debug)]
struct WaitingEntry {
    number: u64,
    /// Its tick.
    at: GameTime,
    sent: LocalTime,
}

impl RoomConfirmations {
    /// Before a tick: the newest tick that the room may confirm; `None` if it may confirm the
    /// coming tick too, since its datagrams wait for the entry. `kept` is the newest entry that is
    /// acknowledged; only a host with a lease may lose others.
    pub fn limit(&mut self, now: LocalTime, kept: u64, has_lease: bool) -> Option<GameTime> {
        if !has_lease {
            self.waiting.clear();
        }
        while let Some(entry) = self.waiting.pop_front_if(|entry| entry.number <= kept) {
            self.kept_until = entry.at;
        }
        let may_wait = if self.is_limited { KEPT_AGAIN_WITHIN } else { KEPT_WITHIN };
        let oldest = self.waiting.front();
        self.is_limited = oldest.is_some_and(|entry| now.since(entry.sent) >= may_wait);
        self.last_limit()
    }

    /// What the last call of `limit` has returned.
    pub fn last_limit(&self) -> Option<GameTime> {
        self.is_limited.then_some(self.kept_until)
    }

    /// After a tick: its entry leaves now, with this number.
    pub fn note_entry(&mut self, now: LocalTime, at: GameTime, number: u64) {
        self.after = if self.is_limited { 0 } else { number };
        let entry = WaitingEntry { number, at, sent: now };
        let is_full = self.waiting.len() == MOST_WAITING;
        match self.waiting.back_mut().filter(|_| is_full) {
            Some(newest) => (newest.number, newest.at) = (number, at),
            None => self.waiting.push_back(entry),
        }
    }

    /// Whether nothing that has happened in the room can be lost with this process any more: as of
    /// the last call of `limit`.
    pub fn are_all_kept(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The tick has no entry: the WorldServer does not save the room.
    pub fn note_unsaved(&mut self) {
        self.waiting.clear();
        self.after = 0;
    }

    /// The entry that the datagrams of the last tick have to wait for; zero for none.
    pub fn after(&self) -> u64 {
        self.after
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::lease::ServingLease;

    #[test]
    fn datagrams_leave_after_their_journal_entry() {
        let lease = child();
        let check = |ms, kept| check_release(at(ms), at(0), 3, kept, lease.permit());
        assert_eq!(check(0, 2), Release::Wait(None));
        assert_eq!(check(1_000, 2), Release::Wait(None));
        assert_eq!(check(1_001, 3), Release::Now);
    }

    #[test]
    fn datagrams_of_a_stopped_process_never_leave() {
        let lease = child();
        let check = |ms| check_release(at(ms), at(ms), 1, 1, lease.permit());
        assert_eq!((check(0), check(5_000)), (Release::Now, Release::Never));
    }

    #[test]
    fn datagrams_that_would_confirm_what_may_be_lost_never_leave() {
        let lease = remote(1_000);
        let check = |ms, after, kept| check_release(at(ms), at(0), after, kept, lease.permit());
        assert_eq!(check(0, 3, 2), Release::Wait(Some(at(100))));
        assert_eq!(check(99, 3, 2), Release::Wait(Some(at(100))));
        assert_eq!(check(100, 3, 2), Release::Never);
        assert_eq!(check(100, 3, 3), Release::Now);
        assert_eq!(check(100, 0, 2), Release::Now, "it confirms nothing new");
    }

    #[test]
    fn no_datagram_leaves_after_the_end_of_the_lease() {
        let mut lease = remote(1_000);
        let permit = Arc::clone(lease.permit());
        let check = |ms| check_release(at(ms), at(ms), 4, 4, &permit);
        assert_eq!(check(999), Release::Now);
        assert_eq!(check(1_000), Release::Wait(None));
        let heartbeat = lease.next_heartbeat(at(4_990));
        lease.acknowledge(at(5_000), heartbeat, Duration::from_secs(1));
        assert_eq!(check(5_000), Release::Now);
    }

    #[test]
    fn a_room_confirms_only_acknowledged_ticks_once_an_entry_is_late() {
        let mut room = RoomConfirmations::default();
        let mut tick = |ms, number, kept| {
            let limit = room.limit(at(ms), kept, true);
            room.note_entry(at(ms), GameTime::from_millis(ms), number);
            (limit.map(GameTime::whole_millis), room.after())
        };
        assert_eq!(tick(50, 1, 0), (None, 1));
        assert_eq!(tick(100, 2, 1), (None, 2));
        // From here on nothing is acknowledged.
        assert_eq!(tick(150, 3, 1), (None, 3));
        assert_eq!(tick(199, 4, 1), (None, 4));
        let first = Some(GameTime::from_millis(50));
        assert_eq!(tick(200, 5, 1), (first, 0));
        assert_eq!(tick(250, 6, 1), (first, 0));
        // Acknowledgements that stay late confirm what they acknowledge.
        assert_eq!(tick(300, 7, 4), (Some(GameTime::from_millis(199)), 0));
        // The oldest that waits is not late any more.
        assert_eq!(tick(345, 8, 7), (None, 8));
    }

    #[test]
    fn confirmations_get_on_in_a_long_silence_and_wait_at_no_child() {
        let mut room = RoomConfirmations::default();
        for number in 1..=1_000 {
            let now = at(50 * number);
            room.limit(now, 0, true);
            room.note_entry(now, GameTime::from_millis(50 * number), number);
            assert!(room.waiting.len() <= MOST_WAITING);
        }
        let limit = room.limit(at(50_050), 999, true).expect("one entry is late");
        assert_eq!(limit, GameTime::from_millis(63 * 50));
        assert_eq!(room.limit(at(50_100), 1_000, true), None);
        room.note_entry(at(50_100), GameTime::from_millis(50_100), 1_001);
        assert_eq!(room.limit(at(60_000), 0, false), None);
        room.note_entry(at(60_000), GameTime::from_millis(60_000), 1_002);
        assert_eq!(room.after(), 1_002, "a child waits for its pipe");
        room.note_unsaved();
        assert_eq!(room.after(), 0);
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
        let length = Duration::from_millis(lease_ms);
        lease.configure(at(0), length, Duration::ZERO);
        let heartbeat = lease.next_heartbeat(at(0));
        lease.acknowledge(at(0), heartbeat, length);
        lease
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }
}
