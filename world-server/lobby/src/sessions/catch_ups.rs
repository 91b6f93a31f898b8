//! Clients that have missed news, since their queue was full.
//!
//! The shell drops news for a client that cannot read them as fast as they come, and reports which
//! once the client has read what waited. News are not sent again: the client gets what they have
//! led to, the current list of rooms and of its room's members, and the number of chat messages
//! that are lost.
//!
//! Bounds: each client is caught up once in [`CATCH_UP_DELAY`] at most, and all of them together
//! get no more bytes than the budget of lists allows; the others wait, the longest waiting first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ambit_proto::time::LocalTime;

use crate::output::{ConnId, MissedNews};

/// From the report to the lists. What is missed meanwhile is in them.
const CATCH_UP_DELAY: Duration = Duration::from_millis(500);
/// Until the budget is tried again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The connections that wait for lists; see the module.
#[derive(Debug, Default)]
pub(super) struct CatchUps {
    /// What each has missed, and when it was reported first.
    missed: BTreeMap<ConnId, (LocalTime, MissedNews)>,
    /// The same connections, in the order of their reports.
    waiting: BTreeSet<(LocalTime, ConnId)>,
}

/// Who is caught up next.
#[derive(Debug)]
pub(crate) enum NextCatchUp {
    /// This connection has missed these news, and waits no more.
    Now(ConnId, MissedNews),
    /// The next one is due then.
    At(LocalTime),
    /// No connection waits.
    None,
}

impl CatchUps {
    /// The connection has missed news. Returns when it may be caught up, if no other one is before.
    pub(super) fn add(&mut self, now: LocalTime, conn: ConnId, missed: MissedNews) -> LocalTime {
        let known = self.missed.entry(conn);
        let (reported_at, all) = known.or_insert((now, MissedNews::default()));
        all.add(missed);
        self.waiting.insert((*reported_at, conn));
        now + CATCH_UP_DELAY
    }

    /// Takes the connection that has waited for the longest time, if it has waited long enough.
    pub(super) fn next(&mut self, now: LocalTime, has_budget: bool) -> NextCatchUp {
        let Some(&(reported_at, conn)) = self.waiting.first() else {
            return NextCatchUp::None;
        };
        let due = reported_at + CATCH_UP_DELAY;
        if due > now || !has_budget {
            return NextCatchUp::At(due.max(if has_budget { now } else { now + RETRY_DELAY }));
        }
        let missed = self.forget(conn);
        missed.map_or(NextCatchUp::None, |missed| NextCatchUp::Now(conn, missed))
    }

    /// The connection waits no more. Returns what it has missed.
    pub(super) fn forget(&mut self, conn: ConnId) -> Option<MissedNews> {
        let (reported_at, missed) = self.missed.remove(&conn)?;
        self.waiting.remove(&(reported_at, conn));
        Some(missed)
    }
}
