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

use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::time::LocalTime;

use crate::lobby::Lobby;
use crate::lobby::budgets::whole_kib;
use crate::lobby::output::{ConnId, MissedNews};
use crate::lobby::sessions::connections::Stage;
use crate::lobby::timers::Timer;

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

impl Lobby {
    /// Handles the report that a connection has missed news, and can take some again.
    pub fn handle_caught_up(&mut self, now: LocalTime, conn: ConnId, missed: MissedNews) {
        self.advance(now);
        if self.connections.open_mut(conn).is_some() {
            let known = self.catch_ups.missed.entry(conn);
            let (reported_at, all) = known.or_insert((now, MissedNews::default()));
            all.add(missed);
            self.catch_ups.waiting.insert((*reported_at, conn));
            self.timers.set_if_unset(Timer::CatchUp, now + CATCH_UP_DELAY);
        }
        self.advance(now);
    }

    /// Sends lists to those who have waited long enough, as far as the budget allows.
    pub(super) fn catch_up(&mut self, now: LocalTime) {
        while let Some(&(reported_at, conn)) = self.catch_ups.waiting.first() {
            let due = reported_at + CATCH_UP_DELAY;
            let has_budget = self.budgets.catch_ups.has_token(now);
            if due > now || !has_budget {
                let at = due.max(if has_budget { now } else { now + RETRY_DELAY });
                return self.timers.set(Timer::CatchUp, at);
            }
            let Some(missed) = self.forget_catch_up(conn) else {
                return;
            };
            for body in self.missed_state(conn, missed) {
                let kib = whole_kib(body.encoded_len());
                self.budgets.catch_ups.charge(now, kib);
                self.outbox.notify(conn, body);
            }
        }
    }

    /// The connection waits no more. Returns what it has missed.
    pub(super) fn forget_catch_up(&mut self, conn: ConnId) -> Option<MissedNews> {
        let (reported_at, missed) = self.catch_ups.missed.remove(&conn)?;
        self.catch_ups.waiting.remove(&(reported_at, conn));
        Some(missed)
    }

    /// What a connection that has missed news has to know.
    fn missed_state(&mut self, conn: ConnId, missed: MissedNews) -> Vec<Body> {
        let mut bodies = Vec::new();
        if missed.rooms && self.listing.is_subscribed(conn) {
            bodies.push(Body::RoomList(world::RoomList { rooms: self.newest_rooms() }));
        }
        let stage = self.connections.open_mut(conn).map(|open| open.stage);
        if let (true, Some(Stage::Player(player))) = (missed.players, stage)
            && let Some(room) = self.players.at(player).room
        {
            bodies.push(Body::PlayerList(self.member_list(room)));
        }
        if missed.chats > 0 {
            bodies.push(Body::MissedNews(world::MissedNews { chats: missed.chats }));
        }
        bodies
    }
}
