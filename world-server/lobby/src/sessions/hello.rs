//! Hello, resume and takeover, and the proofs of accounts.
//!
//! Parts of the lobby, not of the sessions: who resumes comes back into a room, who is new may take
//! the place of another one, and the welcome tells what the whole server is.

use ambit_host_protocol::messages::RoomOrder;
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::{self, Channel, world_to_client::Body};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_transport::account_proof::{CheckedServer, account_of, is_proof};

use crate::Lobby;
use crate::operator_event::OperatorEvent;
use crate::operator_orders::server_line;
use crate::output::{ConnId, JobSource, RequestOutcome, RequestSource, error_body};
use crate::refusal::{LobbyRefusal, ends_handshake};
use crate::request::{HelloAccount, HelloRequest};
use crate::rooms::room::room_left_body;
use crate::sessions::account_job::{AccountOutcome, AccountWay};
use crate::sessions::connections::{Asked, AskedAccount, Stage};
use crate::sessions::server_bans::BanSubject;
use crate::sessions::sign_in::unavailable_refusal;
use crate::text::PlayerName;
use crate::timers::Timer;

impl Lobby {
    /// Opens a session, or resumes the one of the token. A resumed session keeps its name, whatever
    /// the hello says, and has to subscribe to the list of rooms again.
    pub(crate) fn handle_hello(
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
        let address = Some(self.sessions.note_agent(conn, hello.agent));
        let resumed = self.sessions.players().find_by_token(&hello.resume_token);
        let who = match resumed.map(|player| self.sessions.player(player)) {
            Some(player) => BanSubject { account: player.account, name: None, address },
            None => BanSubject { account, name: hello.name.as_ref(), address },
        };
        self.sessions.check_server_bans(now, who, &self.config)?;
        if let Some(player) = resumed {
            self.resume_session(now, player, conn);
            let welcome = self.welcome(now, conn, player, true);
            return Ok(RequestOutcome::Immediate(Body::Welcome(welcome)));
        }
        match hello.account {
            HelloAccount::Key(key) => {
                self.check_way(AccountWay::Device)?;
                let nonce = self.sessions.ask_for_proof(conn, key, hello.name).to_vec();
                Ok(RequestOutcome::Immediate(Body::Challenge(world::Challenge { nonce })))
            }
            HelloAccount::Job(way, job) => {
                self.check_way(way)?;
                self.sessions.ask_for_sign_in(now, from, hello.name, job, &mut self.effects)?;
                Ok(RequestOutcome::Deferred)
            }
            HelloAccount::None => {
                self.check_way(AccountWay::Guest)?;
                let player = self.open_session(now, conn, hello.name, None)?;
                let welcome = self.welcome(now, conn, player, false);
                Ok(RequestOutcome::Immediate(Body::Welcome(welcome)))
            }
        }
    }

    /// Refuses a way that the operator does not allow.
    fn check_way(&self, way: AccountWay) -> Result<(), LobbyRefusal> {
        let ways = self.config.ways;
        if ways.allow(way) {
            return Ok(());
        }
        let allowed: Vec<String> = ways.names().collect();
        let message = format!(
            "this server takes no player by the way `{way}`; it takes: {}",
            allowed.join(", ")
        );
        Err(LobbyRefusal::new(ErrorCode::BadAccount, message))
    }

    /// Opens the session that waits for this proof.
    pub(crate) fn handle_proof(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        proof: &world::ProveAccount,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let Some(asked) = self.sessions.take_asked_proof(conn) else {
            let message =
                "prove_account answers a challenge, which follows a hello with an account";
            return Err(LobbyRefusal::new(ErrorCode::OutOfState, message));
        };
        let account = self.check_proof(&asked, proof)?;
        let player = self.open_session(now, conn, asked.name, Some(account))?;
        let welcome = self.welcome(now, conn, player, false);
        Ok(RequestOutcome::Immediate(Body::Welcome(welcome)))
    }

    fn check_proof(
        &self,
        asked: &AskedAccount,
        proof: &world::ProveAccount,
    ) -> Result<AccountId, LobbyRefusal> {
        let refusal = |message: &str| Err(LobbyRefusal::new(ErrorCode::BadAccount, message));
        let server = CheckedServer::of_proof(proof);
        let Some(server) = server.filter(|server| self.servers.are_known_as(server)) else {
            return refusal(if proof.name.is_empty() {
                "the proof of the account is for another server; do not use what stands between \
                 this client and the server, or tell the operator"
            } else {
                "the proof of the account is for another server: this one's certificate does not \
                 have the name that the client has dialled; tell the operator"
            });
        };
        if !is_proof(&asked.key, &asked.nonce, &server, &proof.signature) {
            return refusal("the proof of the account is wrong: the client lacks its private key");
        }
        Ok(account_of(&asked.key))
    }

    /// The shell has done a job. The client may have left meanwhile.
    pub fn handle_account(&mut self, now: LocalTime, source: JobSource, outcome: AccountOutcome) {
        self.advance(now);
        if let Some(asked) = self.sessions.end_job(now, source, &outcome) {
            self.answer_account(now, (source.conn, source.request), asked, outcome);
        }
        self.advance(now);
    }

    fn answer_account(
        &mut self,
        now: LocalTime,
        (conn, request): (ConnId, u64),
        (stage, asked): (Stage, Asked),
        outcome: AccountOutcome,
    ) {
        let is_erased = matches!((&asked, &outcome), (Asked::Erasure, AccountOutcome::Done));
        let place = self.effects.outbox.position();
        let answer = match (outcome, asked) {
            (AccountOutcome::SignedIn { account, login }, Asked::SignIn { name }) => {
                self.open_session(now, conn, name, Some(account)).map(|player| {
                    let welcome = self.welcome(now, conn, player, false);
                    Body::Welcome(world::Welcome { login: login.unwrap_or_default(), ..welcome })
                })
            }
            (AccountOutcome::Data(json), _) => Ok(Body::AccountData(world::AccountData { json })),
            (AccountOutcome::Done, _) => Ok(Body::Done(world::Done {})),
            (AccountOutcome::Refused(message), _) => {
                Err(LobbyRefusal::new(ErrorCode::BadAccount, message))
            }
            (AccountOutcome::Unavailable | AccountOutcome::SignedIn { .. }, _) => {
                Err(unavailable_refusal())
            }
        };
        match answer {
            Ok(body) => self.effects.outbox.answer_at(place, conn, request, body),
            Err(refusal) => {
                let body = error_body(refusal.clone());
                self.effects.outbox.answer_at(place, conn, request, body);
                self.effects.note_refused(now, self.sessions.address_of(conn), &refusal);
                if stage == Stage::Handshake && ends_handshake(refusal.code) {
                    self.close_connection(now, conn, refusal);
                }
            }
        }
        if is_erased
            && let Stage::Player(player) = stage
            && let Some(account) = self.sessions.player(player).account
        {
            self.end_sessions_of_erased(now, account);
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
        self.sessions.begin_stage(now, conn, player, &self.config, &mut self.effects.timers);
        let welcome = self.welcome_message(player, is_resumed);
        self.sessions.player_mut(player).lost_room = None;
        self.end.announce_to(now, conn, &mut self.effects.outbox);
        if self.config.logs_chat {
            let text = "what players say on this server is logged, for its operators".to_owned();
            let chat = server_line(Channel::Lobby, 0, text);
            self.effects.outbox.notify(conn, Body::Chat(chat));
        }
        welcome
    }

    fn welcome_message(&self, player: PlayerId, resumed: bool) -> world::Welcome {
        let known = self.sessions.player(player);
        let lost_room = known.lost_room.as_ref().map(|(room, _)| *room);
        world::Welcome {
            version: WORLD_VERSION,
            player: player.0,
            name: known.name().as_str().to_owned(),
            resume_token: self.sessions.players().token(player).to_vec(),
            resumed,
            grace_ms: self.config.grace_ms(),
            room: known.room.or(lost_room).map(|room| room.0),
            games: self.games.infos(),
            account: AccountId::to_bytes(known.account),
            login: String::new(),
            servers: self.servers.list().cloned(),
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
        let address = self.sessions.address_of(conn);
        let who = BanSubject { account, name: name.as_ref(), address };
        self.sessions.check_server_bans(now, who, &self.config)?;
        self.make_room_for_session(now, conn)?;
        let timers = &self.effects.timers;
        if let Some(longest_away) = self.sessions.gives_way(&self.config, timers)? {
            self.end_session(now, longest_away, ErrorCode::Idle);
        }
        let player = self.sessions.open(now, conn, (name, account), &self.config);
        self.sessions.report_came(player, conn, &mut self.effects);
        Ok(player)
    }

    /// Ends sessions that wait for their players, the oldest first, until one more may be opened
    /// from where this connection comes from.
    fn make_room_for_session(&mut self, now: LocalTime, conn: ConnId) -> Result<(), LobbyRefusal> {
        let (network, is_trusted) = self.sessions.origin_of(conn);
        if is_trusted {
            return Ok(());
        }
        while let Some(oldest) =
            self.sessions.gives_way_at(network, &self.config, &self.effects.timers)?
        {
            self.end_session(now, oldest, ErrorCode::Idle);
        }
        Ok(())
    }

    /// Resumes the player's session on `conn`. An older connection that is still open gets a
    /// goodbye and is closed.
    fn resume_session(&mut self, now: LocalTime, player: PlayerId, conn: ConnId) {
        self.effects.timers.cancel(Timer::Grace(player));
        let older = self.sessions.resume(player, conn);
        if let Some(older) = older {
            let message =
                "the session continues on another connection, which sent its resume token";
            self.begin_close(older, LobbyRefusal::new(ErrorCode::TakenOver, message));
        }
        self.sessions.renew_token(player);
        if self.sessions.player(player).origin.network.is_none() {
            self.note_network(now, player, conn);
        }
        self.effects.counters.resumed += 1;
        self.sessions.report_back(player, conn, &mut self.effects);
        if let Some(room) = self.sessions.player(player).room {
            if older.is_none() {
                self.rooms.at_mut(room).seats.set_waiting(player, false);
                self.rooms.mark_roster_changed(now, room, &mut self.effects.timers);
            }
            let joined = self.rooms.joined(room, &self.sessions);
            self.effects.outbox.notify(conn, joined);
            self.send_ticket(now, player);
        } else if let Some((room, why)) = self.sessions.player(player).lost_room.clone() {
            self.effects.outbox.notify(conn, room_left_body(room, why));
        }
        self.sessions.mark_party_changed(player, &mut self.effects.outbox);
    }

    /// The record of the session did not say where it was opened: it counts where it is resumed.
    fn note_network(&mut self, now: LocalTime, player: PlayerId, conn: ConnId) {
        let (network, is_trusted) = self.sessions.origin_of(conn);
        self.sessions.player_mut(player).origin.network = Some(network);
        if self.make_room_for_session(now, conn).is_ok() && !is_trusted {
            self.sessions.count_at(player, network);
        }
    }

    pub(crate) fn set_name(
        &mut self,
        now: LocalTime,
        player: PlayerId,
        name: PlayerName,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let text = name.as_str().to_owned();
        let account = self.sessions.player(player).account;
        let who = BanSubject { account, name: Some(&name), address: None };
        let barred = self.sessions.check_server_bans(now, who, &self.config);
        if let Err(LobbyRefusal { message, .. }) = barred {
            return Err(LobbyRefusal::new(ErrorCode::BadName, message));
        }
        let before = self.sessions.name_of(player);
        if let Some(room) = self.sessions.player(player).room {
            let members = self.rooms.at(room).seats.taken() as usize;
            self.sessions.charge_deliveries(now, player, members)?;
        }
        if self.sessions.rename(player, name).is_err() {
            let message = format!(
                "another player is called {text} or nearly so, or the name is reserved; \
                         choose another name"
            );
            return Err(LobbyRefusal::new(ErrorCode::NameTaken, message));
        }
        let name = text.clone();
        self.effects.report(OperatorEvent::PlayerRenamed { player: player.0, name, before });
        let renamed = world::Renamed { player: player.0, name: text };
        if let Some(room) = self.sessions.player(player).room {
            self.send_rename_to_hosts(room, &renamed);
            let members = self.rooms.at(room).seats.players();
            let others = self.sessions.conns_of(members.filter(|member| *member != player));
            self.effects.outbox.broadcast(others, Body::Renamed(renamed.clone()));
        }
        self.sessions.mark_party_changed(player, &mut self.effects.outbox);
        Ok(RequestOutcome::Immediate(Body::Renamed(renamed)))
    }

    /// Renames the avatar in a running game too.
    fn send_rename_to_hosts(&mut self, room: RoomId, renamed: &world::Renamed) {
        let player = PlayerId(renamed.player);
        for (room, host) in self.hosts_of_member(room, player) {
            let rename = RoomOrder::RenamePlayer { player, name: renamed.name.clone() };
            self.effects.outbox.send_to_room(host, room, rename);
        }
    }
}
