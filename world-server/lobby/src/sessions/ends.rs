//! The ends of connections and sessions.
//!
//! Parts of the lobby, not of the sessions: who goes has a seat in a room, and subscribes to its
//! list.

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{AccountId, PlayerId};
use ambit_proto::time::LocalTime;

use crate::Lobby;
use crate::output::ConnId;
use crate::refusal::LobbyRefusal;
use crate::timers::Timer;

impl Lobby {
    /// Closes a connection with a goodbye. Its player, if it has one, is away from now on.
    pub(crate) fn close_connection(&mut self, now: LocalTime, conn: ConnId, why: LobbyRefusal) {
        if let Some(player) = self.begin_close(conn, why) {
            self.mark_away(now, player);
            self.sessions.report_away(player, &mut self.effects);
        }
    }

    /// Sends a goodbye on a connection and closes it. Returns its player.
    pub(super) fn begin_close(&mut self, conn: ConnId, why: LobbyRefusal) -> Option<PlayerId> {
        self.rooms.unsubscribe(conn);
        self.sessions.begin_close(conn, why, &mut self.effects)
    }

    /// Removes a closed connection. Its player, if it has one, is away from now on, and is
    /// returned.
    pub(crate) fn forget_connection(&mut self, now: LocalTime, conn: ConnId) -> Option<PlayerId> {
        self.rooms.unsubscribe(conn);
        self.order_gate.forget_conn(conn);
        let player = self.sessions.disconnect(now, conn, &mut self.effects.timers)?;
        self.mark_away(now, player);
        Some(player)
    }

    /// Ends the session for this reason: the seat and the name are free.
    pub(crate) fn end_session(&mut self, now: LocalTime, player: PlayerId, why: ErrorCode) {
        self.effects.timers.cancel(Timer::Grace(player));
        self.vacate_seat(now, player, why);
        self.sessions.quit_party(player, &mut self.effects.outbox);
        self.sessions.report_left(player, why, &mut self.effects);
        self.sessions.remove(player);
    }

    /// Closes the connection and ends the session of a player who was idle in the lobby for too
    /// long.
    pub(crate) fn check_idle(&mut self, now: LocalTime, conn: ConnId) {
        let timers = &mut self.effects.timers;
        if let Some(player) = self.sessions.check_idle(now, conn, &self.config, timers) {
            let idle = self.config.idle.unwrap_or_default().as_secs();
            let message = format!("nothing was asked for {idle} s; connect again to play");
            self.close_connection(now, conn, LobbyRefusal::new(ErrorCode::Idle, message));
            self.end_session(now, player, ErrorCode::Idle);
        }
    }

    /// Sets which names are reserved, who is banned, and which accounts have a role. Players who
    /// are banned are put out.
    pub fn set_names(&mut self, now: LocalTime, names: ambit_store::Names) {
        if self.sessions.are_late(&names) {
            return;
        }
        self.advance(now);
        self.sessions.set_names(names);
        for (player, conn, refusal) in self.sessions.barred_players(now, &self.config) {
            if let Some(conn) = conn {
                self.close_connection(now, conn, refusal);
            }
            self.end_session(now, player, ErrorCode::Banned);
        }
        self.advance(now);
    }

    /// All sessions of the account end, so that none stores anything for it again.
    pub(super) fn end_sessions_of_erased(&mut self, now: LocalTime, account: AccountId) {
        let all = self.sessions.players().iter();
        let sessions = all.filter(|player| player.account == Some(account));
        let sessions: Vec<_> = sessions.map(|player| (player.id, player.conn)).collect();
        for (player, conn) in sessions {
            if let Some(conn) = conn {
                let message = "the account and all that was stored of it are deleted";
                self.close_connection(now, conn, LobbyRefusal::new(ErrorCode::BadAccount, message));
            }
            self.end_session(now, player, ErrorCode::BadAccount);
        }
    }

    /// Marks the player as away; the grace period begins.
    fn mark_away(&mut self, now: LocalTime, player: PlayerId) {
        if let Some(room) = self.sessions.player(player).room {
            self.rooms.at_mut(room).seats.set_waiting(player, true);
            self.rooms.mark_roster_changed(now, room, &mut self.effects.timers);
        }
        self.sessions.mark_away(now, player, &self.config, &mut self.effects);
    }
}
