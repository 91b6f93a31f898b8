//! Sessions: hello, resume, takeover, and the ends of connections and sessions.
//!
//! Each player has a session, which outlives its connection by the grace period. While the player
//! is away, its seat and name are kept, and its room sees it as not connected.

pub(super) mod account_job;
pub(super) mod accounts;
pub(super) mod ban_checks;
pub(super) mod connections;
pub(super) mod creations;
pub(super) mod login_guesses;
pub(super) mod parties;
pub(super) mod party;
pub(super) mod players;
pub(super) mod server_bans;
pub(super) mod sign_in;
pub(super) mod sign_ins;

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::account_proof::account_of;
use ambit_transport::address::SourceNetwork;

use crate::lobby::operator_event::OperatorEvent;
use crate::lobby::output::{ConnId, RequestSource};
use crate::lobby::refusal::LobbyRefusal;
use crate::lobby::request::{HelloAccount, HelloRequest};
use crate::lobby::rooms::membership::room_left_body;
use crate::lobby::sessions::account_job::AccountWay;
use crate::lobby::sessions::connections::Stage;
use crate::lobby::sessions::server_bans::BanSubject;
use crate::lobby::text::PlayerName;
use crate::lobby::timers::Timer;
use crate::lobby::{Lobby, RequestOutcome, to_millis};

impl Lobby {
    /// Opens a session, or resumes the one of the token. A resumed session keeps its name, whatever
    /// the hello says, and has to subscribe to the list of rooms again.
    pub(super) fn handle_hello(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        hello: HelloRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let conn = from.conn;
        let account = match &hello.account {
            HelloAccount::Key(key) => Some(account_of(key)),
            HelloAccount::Job(..) | HelloAccount::None => None,
        };
        let connection = self.connections.open_mut(conn).expect("a hello came on it");
        connection.agent = hello.agent;
        let address = Some(connection.address);
        let resumed = self.players.find_by_token(&hello.resume_token);
        let who = match resumed.map(|player| self.players.at(player)) {
            Some(player) => BanSubject { account: player.account, name: None, address },
            None => BanSubject { account, name: hello.name.as_ref(), address },
        };
        self.check_server_bans(now, who)?;
        if let Some(player) = resumed {
            self.resume_session(now, player, conn);
            let welcome = self.welcome(now, conn, player, true);
            return Ok(RequestOutcome::Immediate(Body::Welcome(welcome)));
        }
        match hello.account {
            HelloAccount::Key(key) => {
                self.check_way(AccountWay::Device)?;
                Ok(self.ask_for_proof(conn, key, hello.name))
            }
            HelloAccount::Job(way, job) => {
                self.check_way(way)?;
                self.ask_for_sign_in(now, from, hello.name, job)
            }
            HelloAccount::None => {
                self.check_way(AccountWay::Guest)?;
                let player = self.open_session(now, conn, hello.name, None)?;
                let welcome = self.welcome(now, conn, player, false);
                Ok(RequestOutcome::Immediate(Body::Welcome(welcome)))
            }
        }
    }

    /// The handshake is over.
    fn welcome(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        player: PlayerId,
        is_resumed: bool,
    ) -> world::Welcome {
        self.connections.open_mut(conn).expect("a hello came on it").stage = Stage::Player(player);
        self.timers.cancel(Timer::Hello(conn));
        if let Some(idle) = self.config.idle {
            self.timers.set(Timer::Idle(conn), now + idle);
        }
        let welcome = self.welcome_message(player, is_resumed);
        self.players.at_mut(player).lost_room = None;
        self.announce_end_to(now, conn);
        if self.config.logs_chat {
            self.tell_that_chat_is_logged(conn);
        }
        welcome
    }

    /// Closes a connection with a goodbye. Its player, if it has one, is away from now on.
    pub(super) fn close_connection(&mut self, now: LocalTime, conn: ConnId, why: LobbyRefusal) {
        if let Some(player) = self.begin_close(conn, why) {
            self.mark_away(now, player);
            self.report_player_away(player);
        }
    }

    /// Removes a closed connection. Returns its player.
    pub(super) fn forget_connection(&mut self, now: LocalTime, conn: ConnId) -> Option<PlayerId> {
        let connection = self.connections.remove(conn)?;
        let network = SourceNetwork::of(connection.address);
        self.budgets.delivery_shares.disconnect(now, network);
        self.clear_connection(conn);
        let Stage::Player(player) = connection.stage else {
            return None;
        };
        self.mark_away(now, player);
        Some(player)
    }

    /// Ends the session for this reason: the seat and the name are free.
    pub(super) fn end_session(&mut self, now: LocalTime, player: PlayerId, why: ErrorCode) {
        self.timers.cancel(Timer::Grace(player));
        self.vacate_seat(now, player, why);
        self.quit_party(player);
        self.report_player_left(player, why);
        self.players.remove(player);
    }

    /// Closes the connection and ends the session of a player who was idle in the lobby for too
    /// long.
    pub(super) fn check_idle(&mut self, now: LocalTime, conn: ConnId) {
        let (Some(idle), Some(connection)) = (self.config.idle, self.connections.open_mut(conn))
        else {
            return;
        };
        let Stage::Player(player) = connection.stage else {
            return;
        };
        let in_room = self.players.at(player).room.is_some();
        if in_room {
            connection.active_at = now;
        }
        let due = connection.active_at + idle;
        if due > now {
            self.timers.set(Timer::Idle(conn), due);
        } else {
            let message =
                format!("nothing was asked for {} s; connect again to play", idle.as_secs());
            self.close_connection(now, conn, LobbyRefusal::new(ErrorCode::Idle, message));
            self.end_session(now, player, ErrorCode::Idle);
        }
    }

    pub(super) fn set_name(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        name: PlayerName,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let text = name.as_str().to_owned();
        let account = self.players.at(player).account;
        let who = BanSubject { account, name: Some(&name), address: None };
        if let Err(LobbyRefusal { message, .. }) = self.check_server_bans(now, who) {
            return Err(LobbyRefusal::new(ErrorCode::BadName, message));
        }
        let before = self.players.at(player).name().as_str().to_owned();
        if let Some(room) = self.players.at(player).room {
            let members = self.rooms.at(room).seats.taken() as usize;
            self.charge_deliveries(now, player, members)?;
        }
        if self.players.rename(player, name).is_err() {
            let message = format!(
                "another player is called {text} or nearly so, or the name is reserved; \
                         choose another name"
            );
            return Err(LobbyRefusal::new(ErrorCode::NameTaken, message));
        }
        let name = text.clone();
        self.report(OperatorEvent::PlayerRenamed { player: player.0, name, before });
        let renamed = world::Renamed { player: player.0, name: text };
        if let Some(room) = self.players.at(player).room {
            self.send_rename_to_hosts(room, &renamed);
            let others = self.member_conns(room, Some(player));
            self.outbox.broadcast(others, Body::Renamed(renamed.clone()));
        }
        self.mark_party_changed(player);
        Ok(RequestOutcome::Immediate(Body::Renamed(renamed)))
    }

    /// Renames the avatar in a running game too.
    fn send_rename_to_hosts(&mut self, room: RoomId, renamed: &world::Renamed) {
        let player = PlayerId(renamed.player);
        for (room, host) in self.hosts_of_member(room, player) {
            let rename = RoomOrder::RenamePlayer { player, name: renamed.name.clone() };
            self.outbox.send_to_room(host, room, rename);
        }
    }

    /// Adds a new player. The number of players who are away is bounded too, since each lives for
    /// the grace period: at the bound, the player who is away for the longest time is removed, so
    /// that connected clients get in. An address has a bound of its own, so that a client that
    /// comes and goes removes only players from there.
    fn open_session(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        name: Option<PlayerName>,
        account: Option<AccountId>,
    ) -> Result<PlayerId, LobbyRefusal> {
        let connection = self.connections.get(conn).expect("a hello came on it");
        let address = Some(connection.address);
        self.check_server_bans(now, BanSubject { account, name: name.as_ref(), address })?;
        let network = SourceNetwork::of(connection.address);
        let is_trusted = connection.is_trusted;
        if !is_trusted {
            self.make_room_for_session(now, network)?;
        }
        if self.players.len() >= 2 * self.config.max_connections {
            let longest_away = self.timers.longest_away_player().ok_or_else(|| {
                LobbyRefusal::new(
                    ErrorCode::TooManyConnections,
                    "the server has all the players that it takes",
                )
            })?;
            self.end_session(now, longest_away, ErrorCode::Idle);
        }
        let player = self.players.add((name, account), conn, network, &self.config);
        self.players.at_mut(player).since = self.config.unix_time(now).as_secs() as i64;
        if !is_trusted {
            self.players.count_at(player, network);
        }
        self.report_player_came(player, conn);
        Ok(player)
    }

    /// Ends sessions that wait for their players, the oldest first, until one more may be opened
    /// from this network.
    fn make_room_for_session(
        &mut self,
        now: LocalTime,
        network: SourceNetwork,
    ) -> Result<(), LobbyRefusal> {
        let limit = self.config.max_sessions_per_address();
        while self.players.counted_at(network).count() >= limit {
            let waiting = self.timers.longest_away_of(self.players.counted_at(network));
            let oldest = waiting.ok_or_else(|| {
                let message = format!(
                    "there are {limit} players from this address already, as many as one address \
                     may have; end one of their sessions"
                );
                LobbyRefusal::new(ErrorCode::TooManyFromAddress, message)
            })?;
            self.end_session(now, oldest, ErrorCode::Idle);
        }
        Ok(())
    }

    /// Resumes the player's session on `conn`. An older connection that is still open gets a
    /// goodbye and is closed.
    fn resume_session(&mut self, now: LocalTime, player: PlayerId, conn: ConnId) {
        self.timers.cancel(Timer::Grace(player));
        let older = self.players.at_mut(player).conn.replace(conn);
        if let Some(older) = older {
            let message =
                "the session continues on another connection, which sent its resume token";
            self.begin_close(older, LobbyRefusal::new(ErrorCode::TakenOver, message));
        }
        self.players.renew_token(player);
        if self.players.at(player).network.is_none() {
            self.note_network(now, player, conn);
        }
        self.counters.resumed += 1;
        self.report_player_back(player, conn);
        if let Some(room) = self.players.at(player).room {
            if older.is_none() {
                self.rooms.at_mut(room).seats.set_waiting(player, false);
                self.mark_roster_changed(now, room);
            }
            let joined = self.room_joined(room);
            self.outbox.notify(conn, Body::RoomJoined(joined));
            self.send_ticket(now, player);
        } else if let Some((room, why)) = self.players.at(player).lost_room.clone() {
            self.outbox.notify(conn, room_left_body(room, why));
        }
        self.mark_party_changed(player);
    }

    /// The record of the session did not say where it was opened: it counts where it is resumed.
    fn note_network(&mut self, now: LocalTime, player: PlayerId, conn: ConnId) {
        let connection = self.connections.get(conn).expect("a hello came on it");
        let network = SourceNetwork::of(connection.address);
        let is_trusted = connection.is_trusted;
        self.players.at_mut(player).network = Some(network);
        if !is_trusted && self.make_room_for_session(now, network).is_ok() {
            self.players.count_at(player, network);
        }
    }

    fn welcome_message(&self, player: PlayerId, resumed: bool) -> world::Welcome {
        let games = self.games.iter().map(|game| world::GameInfo {
            name: game.name.clone(),
            description: game.description.clone(),
            min_players: game.min_players,
            join_running: game.join_running,
            quick_start: game.quick_start.clone(),
        });
        let known = self.players.at(player);
        let lost_room = known.lost_room.as_ref().map(|(room, _)| *room);
        world::Welcome {
            version: WORLD_VERSION,
            player: player.0,
            name: known.name().as_str().to_owned(),
            resume_token: self.players.token(player).to_vec(),
            resumed,
            grace_ms: to_millis(self.config.grace),
            room: known.room.or(lost_room).map(|room| room.0),
            games: games.collect(),
            account: AccountId::to_bytes(known.account),
            login: String::new(),
            servers: Some(self.servers.clone()).filter(|servers| !servers.servers.is_empty()),
        }
    }

    /// Sends a goodbye on a connection and closes it. Returns its player.
    pub(in crate::lobby) fn begin_close(
        &mut self,
        conn: ConnId,
        why: LobbyRefusal,
    ) -> Option<PlayerId> {
        let connection = self.connections.open_mut(conn)?;
        let stage = std::mem::replace(&mut connection.stage, Stage::Closing);
        let (address, code) = (connection.address, why.code);
        let player = match stage {
            Stage::Player(player) => Some(player),
            Stage::Handshake | Stage::Closing => None,
        };
        self.counters.count_closed(code);
        self.outbox.send_goodbye(conn, why);
        self.clear_connection(conn);
        self.report_fault(code, player, address);
        player
    }

    /// Removes the timers and the subscription of a connection.
    fn clear_connection(&mut self, conn: ConnId) {
        self.timers.cancel(Timer::Hello(conn));
        self.timers.cancel(Timer::Idle(conn));
        self.listing.unsubscribe(conn);
        self.forget_catch_up(conn);
    }

    /// Marks the player as away; the grace period begins.
    fn mark_away(&mut self, now: LocalTime, player: PlayerId) {
        self.players.at_mut(player).conn = None;
        self.timers.set(Timer::Grace(player), now + self.config.grace);
        if let Some(room) = self.players.at(player).room {
            self.rooms.at_mut(room).seats.set_waiting(player, true);
            self.mark_roster_changed(now, room);
        }
        self.mark_party_changed(player);
    }
}
