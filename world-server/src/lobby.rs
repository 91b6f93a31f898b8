//! The lobby: players, rooms, chat, and the placement of rooms on hosts.
//!
//! Connections, requests and hosts' messages go in with the time of their arrival; [`LobbyAction`]s
//! come out: messages, connections to close, orders to hosts. The lobby has no socket, clock,
//! thread or random source of its own, so the same inputs give the same bytes.
//!
//! Invariants, checked after each step of a random run:
//! 1. Each request gets exactly one answer, unless the lobby closes its connection or the
//!    connection is lost. The answer comes before the events that the request causes.
//! 2. A player is in at most one room, and on one of its maps. A room's taken seats are its
//!    players, never more than its capacity, and its host is one of them. A room without players is
//!    removed, with all its maps.
//! 3. No two players have the same name.
//! 4. What one peer can make the lobby remember or send is bounded: each limit stands in
//!    [`LobbyConfig`] or beside its constant.
//!
//! Contract of the shell: it reports each new connection with `handle_connect`, and with
//! `handle_disconnect` when the connection is closed by either end. After each call it calls
//! `poll_output` until that returns `None`, then `handle_timeout` at `next_deadline`. Source of the
//! messages: `proto/ambit/world.proto`, and `ambit_host_protocol::messages`.

mod budgets;
mod catch_up;
mod chat;
mod config;
mod directory;
mod fair_shares;
mod fleet;
mod operator_event;
mod operator_orders;
mod operators;
mod output;
mod planned_end;
mod records;
mod refusal;
mod report_limit;
mod reports;
mod request;
mod rooms;
mod server_marks;
mod server_secret;
mod sessions;
mod shutdown;
mod stats;
mod store_job;
mod text;
mod timers;
mod worlds;

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use ambit_host_protocol::messages::{HostMessage, HostSettings, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::{self, ClientToWorld, client_to_world, world_to_client};
use ambit_proto::ids::PlayerId;
use ambit_proto::time::LocalTime;
use ambit_transport::address::SourceNetwork;
use ambit_transport::ticket::TicketSigner;
use prost::Message;

use budgets::LobbyBudgets;
use catch_up::CatchUps;
pub use config::{
    BadWorld, CheckParameters, CostLimit, Entropy, LobbyConfig, LobbyGame, OperatedWorld,
};
use fleet::Fleet;
pub use fleet::hosts::{Host, HostReport, Origin};
pub use fleet::placement::{HostCandidate, Placement, PlacementRequest, ReportedLoad};
pub use fleet::policy::PlacementPolicy;
use fleet::pool::ChildDemand;
pub use fleet::pool::ChildPoolConfig;
pub use fleet::silence::HostSilence;
#[cfg(test)]
pub(crate) use operator_event::OPERATOR_EVENTS;
pub use operator_event::OperatorEvent;
pub(crate) use operator_event::is_for_guests;
pub(crate) use operator_orders::{
    OperatedMap, OperatedPlayer, OperatedRoom, OperatorAudience, OperatorOrder, OperatorProblem,
    read_reason,
};
pub use output::{ConnId, HostId, JobSource, LobbyAction, MissedNews, RecordKey, UnknownRecordKey};
use output::{OutputQueue, RequestSource};
use planned_end::PlannedEnd;
use records::Records;
use refusal::LobbyRefusal;
pub(crate) use report_limit::ReportLimit;
use request::PlayerRequest;
use rooms::listing::ListingFeed;
pub(crate) use rooms::password_guesses::GuessesByNetwork;
use rooms::room::LobbyRooms;
use rooms::store_jobs::StoreJobs;
use rooms::unplayed::UnplayedRooms;
pub use server_marks::ServerMarks;
pub use server_secret::ServerSecret;
pub use sessions::account_job::{AccountJob, AccountOutcome, AccountWays, Secret};
use sessions::connections::{Connections, Stage};
use sessions::parties::Parties;
use sessions::players::LobbyPlayers;
use sessions::sign_ins::SignIns;
use stats::LobbyCounters;
pub use stats::LobbyStats;
pub use store_job::{StoreJob, StoreOutcome};
pub(crate) use text::{is_player_name, look_alike};
use timers::{LobbyTimers, Timer};

/// The lobby's state machine; see the module.
pub struct Lobby {
    config: LobbyConfig,
    games: Vec<LobbyGame>,
    check_parameters: CheckParameters,
    signer: TicketSigner,
    connections: Connections,
    players: LobbyPlayers,
    sign_ins: SignIns,
    parties: Parties,
    rooms: LobbyRooms,
    unplayed: UnplayedRooms,
    store_jobs: StoreJobs,
    fleet: Fleet,
    listing: ListingFeed,
    budgets: LobbyBudgets,
    catch_ups: CatchUps,
    timers: LobbyTimers,
    outbox: OutputQueue,
    counters: LobbyCounters,
    records: Records,
    /// The servers of the cluster.
    servers: world::Servers,
    /// As what clients know this server, or the servers of its cluster.
    marks: ServerMarks,
    /// When an operator wants the server to end.
    planned_end: Option<PlannedEnd>,
    draining: bool,
}

/// The result of a request that was not refused.
enum RequestOutcome {
    Immediate(world_to_client::Body),
    /// Answered later, when a host has responded.
    Deferred,
}

/// How long a client waits that sends too many requests too fast: until the next one is in time, by
/// default.
const READ_PAUSE: Duration = Duration::from_millis(50);

/// The answer to a successful request without a result.
const DONE: RequestOutcome = RequestOutcome::Immediate(world_to_client::Body::Done(world::Done {}));

impl Lobby {
    /// Creates a lobby without players, rooms and hosts.
    pub fn new(
        config: LobbyConfig,
        games: Vec<LobbyGame>,
        check: CheckParameters,
        entropy: Entropy,
        signer: TicketSigner,
    ) -> Self {
        let fleet = Fleet::new(&config);
        let budgets = LobbyBudgets::new(&config);
        let mut timers = LobbyTimers::default();
        if !config.worlds.is_empty() {
            timers.set(Timer::Worlds, LocalTime::ZERO);
        }
        Self {
            config,
            games,
            check_parameters: check,
            signer,
            connections: Connections::default(),
            players: LobbyPlayers::new(entropy),
            sign_ins: SignIns::default(),
            parties: Parties::default(),
            rooms: LobbyRooms::default(),
            unplayed: UnplayedRooms::default(),
            store_jobs: StoreJobs::default(),
            fleet,
            listing: ListingFeed::default(),
            budgets,
            catch_ups: CatchUps::default(),
            timers,
            outbox: OutputQueue::default(),
            counters: LobbyCounters::default(),
            records: Records::default(),
            servers: world::Servers::default(),
            marks: ServerMarks::default(),
            planned_end: None,
            draining: false,
        }
    }

    /// Handles a new connection. If it exceeds a limit, the only output for it is its `Close`, and
    /// the connection is removed.
    pub fn handle_connect(&mut self, now: LocalTime, conn: ConnId, address: IpAddr) {
        self.advance(now);
        let admitted = if self.draining {
            Err(draining_refusal())
        } else {
            self.connections.admit(now, conn, address, &self.config)
        };
        match admitted {
            Ok(()) => {
                let network = SourceNetwork::of(address);
                self.budgets.delivery_shares.connect(now, network);
                self.timers.set(Timer::Hello(conn), now + self.config.hello_timeout);
            }
            Err(refusal) => {
                self.outbox.close(conn, refusal.clone());
                self.note_refused_at(now, Some(address), &refusal);
            }
        }
        self.advance(now);
    }

    /// Handles a complete frame: decodes it, then as [`Self::handle_request`]. The answer to an
    /// unknown request names its field.
    pub fn handle_frame(&mut self, now: LocalTime, conn: ConnId, frame: &[u8]) {
        match ClientToWorld::decode(frame) {
            Ok(ClientToWorld { request, body: None }) => {
                self.process_request(
                    now,
                    conn,
                    request,
                    Err(unknown_message_refusal(request::unknown_body_field(frame))),
                );
            }
            Ok(message) => self.handle_request(now, conn, message),
            Err(_) => self.handle_malformed(now, conn, ErrorCode::Malformed),
        }
    }

    /// Handles a request. A request on a connection that is lost or closing is ignored.
    pub fn handle_request(&mut self, now: LocalTime, conn: ConnId, message: ClientToWorld) {
        let body = message.body.ok_or_else(|| unknown_message_refusal(None));
        self.process_request(now, conn, message.request, body);
    }

    /// Handles bytes that are not a request: `MALFORMED` or `MESSAGE_TOO_LARGE`. The stream cannot
    /// be resynchronised, so the connection gets a goodbye and is closed; the session keeps its
    /// grace period.
    pub fn handle_malformed(&mut self, now: LocalTime, conn: ConnId, code: ErrorCode) {
        self.advance(now);
        let message = match code {
            ErrorCode::MessageTooLarge => {
                format!(
                    "a message to the server has at most {} bytes",
                    ambit_proto::frame::MAX_TO_WORLD
                )
            }
            _ => "this is not a message of the lobby's protocol".to_owned(),
        };
        self.close_connection(now, conn, LobbyRefusal::new(code, message));
        self.advance(now);
    }

    /// How long the shell is to wait before it reads on from a client: answers to refused requests
    /// cost something too.
    pub fn read_pause(&self, conn: ConnId) -> Duration {
        match self.connections.get(conn) {
            Some(connection) if connection.is_slowed => READ_PAUSE,
            _ => Duration::ZERO,
        }
    }

    /// Handles a connection closed by either end. The player may come back within the grace period.
    pub fn handle_disconnect(&mut self, now: LocalTime, conn: ConnId) {
        self.advance(now);
        if let Some(player) = self.forget_connection(now, conn) {
            self.report_player_away(player);
        }
        self.advance(now);
    }

    /// Handles a connection that the client closed on purpose (QUIC application code 0): its
    /// session ends, and the seat and the name are free at once.
    pub fn handle_quit(&mut self, now: LocalTime, conn: ConnId) {
        self.advance(now);
        if let Some(player) = self.forget_connection(now, conn) {
            self.end_session(now, player, ErrorCode::ErrorUnspecified);
        }
        self.advance(now);
    }

    /// Handles a host that was started or has connected: sends it its `Configure`. It gets rooms
    /// after its `Ready`.
    pub fn handle_host_start(&mut self, now: LocalTime, host: HostId, origin: Origin) {
        self.advance(now);
        self.fleet.expect_host(now, host, origin);
        let settings = HostSettings {
            version: ambit_host_protocol::VERSION,
            ticket_key: self.signer.public_key().to_vec(),
            grace_ms: to_millis(self.config.grace),
            // An embedded host ends with this process.
            saves_rooms: origin != Origin::Embedded || self.config.keeps_rooms,
            lease: self.fleet.first_lease(origin),
            silence: self.fleet.silence_without_lease(origin),
        };
        self.outbox.send_to_host(host, WorldOrder::Configure(settings));
        self.advance(now);
    }

    /// Handles what a host reports.
    pub fn handle_host(&mut self, now: LocalTime, host: HostId, report: HostReport) {
        self.fleet.note_heard(now, host);
        self.advance(now);
        match report {
            HostReport::Checkpointed(room) => self.mark_checkpointed(host, room),
            HostReport::Message(message) => self.handle_host_message(now, host, message),
        }
        self.advance(now);
    }

    fn handle_host_message(&mut self, now: LocalTime, host: HostId, message: HostMessage) {
        match message {
            HostMessage::Ready(ready) => self.add_host(now, host, ready),
            HostMessage::RoomOpened { room, error } => {
                self.handle_room_opened(now, host, room, error);
            }
            HostMessage::RoomClosed { room, reason, message } => {
                let why = LobbyRefusal::new(reason, message);
                self.handle_room_closed(now, host, room, &why);
            }
            HostMessage::PlayerOut { room, player, reason, message } => {
                let why = LobbyRefusal::new(reason, message);
                self.handle_player_out(now, host, (room, player), &why);
            }
            HostMessage::Stats(mut stats) => {
                let unplayed = std::mem::take(&mut stats.unplayed_rooms);
                let own_time = self.config.unix_time(now);
                if let Some(late) = self.fleet.note_stats(now, host, *stats, own_time) {
                    self.report(OperatorEvent::HostOverrun { host: host.0, rooms: late.into() });
                }
                self.handle_unplayed_rooms(now, host, &unplayed);
            }
            HostMessage::AtGate { room, player, map, at, from } => {
                self.handle_gate_request(now, host, (room, player), map, (at, from));
            }
            HostMessage::Departed { room, player, transfer, carried } => {
                self.handle_departed(now, host, (room, player), (transfer, carried));
            }
            HostMessage::Arrived { room, player, transfer } => {
                self.handle_arrived(now, host, (room, player), transfer);
            }
            HostMessage::Store(room, asked) => self.handle_store_request(host, room, asked),
            HostMessage::Share(room, share) => self.handle_share(host, room, &share),
            HostMessage::Heartbeat(number) => {
                if let Some(answer) = self.fleet.acknowledge_heartbeat(host, number) {
                    self.outbox.send_to_host(host, answer);
                }
            }
            HostMessage::HandingOver => self.note_hand_over(host),
            HostMessage::RoomHandedOver(room) => self.handle_room_handed_over(now, host, room),
            // The shell stores checkpoints, and gets the reports of watchers on their own
            // connections.
            HostMessage::SnapshotPiece(..)
            | HostMessage::Snapshot(..)
            | HostMessage::Journal { .. }
            | HostMessage::Answered { .. }
            | HostMessage::ProcessEnded(_) => {}
        }
    }

    /// Sets when the messages of a host arrived, which need not have been handled yet. Where
    /// messages wait before they are handled, the shell calls this before each call in which a
    /// timer is due: only in these the lobby gives up hosts that are silent.
    pub fn set_host_silence(&mut self, host: HostId, silence: HostSilence) {
        self.fleet.set_silence(host, silence);
    }

    /// What is known of the silence of a host that has just connected. `instance` identifies the
    /// process, if it may have been connected before.
    pub fn new_silence(&self, now: LocalTime, origin: Origin, instance: &[u8]) -> HostSilence {
        self.fleet.new_silence(now, origin, instance)
    }

    /// Handles the loss of a host with all its rooms. `reason` is for people.
    pub fn handle_host_lost(&mut self, now: LocalTime, host: HostId, reason: &str) {
        self.advance(now);
        self.remove_host(now, host, reason);
        self.advance(now);
    }

    /// The process of a host on another machine has ended, as its watcher reports. It serves
    /// players no more, so its rooms need not wait for the end of its lease.
    pub fn handle_process_ended(&mut self, now: LocalTime, instance: &[u8]) {
        self.advance(now);
        for host in self.fleet.ids_of_process(instance) {
            tracing::warn!(host = host.0, "the host's process has ended; its rooms resume");
            if !self.fleet.is_absent(host) {
                self.outbox.push(LobbyAction::DisconnectHost { host });
            }
            self.remove_host(now, host, "its process has ended");
        }
        self.advance(now);
    }

    /// Sets whether the directory stores records in time. While it does not, rooms are neither
    /// created nor started.
    pub fn set_directory_available(&mut self, works: bool) {
        self.records.set_available(works);
    }

    /// Sets the servers at which clients can resume their sessions.
    pub fn set_servers(&mut self, servers: world::Servers) {
        if self.servers != servers {
            self.servers = servers;
            let everybody = self.players.connected();
            self.outbox.broadcast(everybody, world_to_client::Body::Servers(self.servers.clone()));
        }
    }

    /// The highest id that a host may have had; the shell continues after it.
    pub fn last_host(&self) -> HostId {
        HostId(self.fleet.last_id())
    }

    /// Handles everything that is due.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.advance(now);
    }

    /// Begins to drain: no new connections and rooms; rooms are closed, players and hosts notified.
    pub fn drain(&mut self, now: LocalTime) {
        self.advance(now);
        self.draining = true;
        for room in self.rooms.ids() {
            self.close_room(
                now,
                room,
                LobbyRefusal::new(ErrorCode::RoomClosed, "the server is shutting down"),
            );
        }
        let open: Vec<ConnId> = self.connections.iter().map(|(conn, _)| conn).collect();
        for conn in open {
            self.close_connection(now, conn, draining_refusal());
        }
        for host in self.fleet.connected() {
            self.outbox.send_to_host(host, WorldOrder::Drain);
        }
        self.advance(now);
    }

    /// Whether a drain is complete: every connection is closed. (Hosts end by themselves.)
    pub fn is_drained(&self) -> bool {
        self.draining && self.connections.len() == 0
    }

    pub fn poll_output(&mut self) -> Option<LobbyAction> {
        self.outbox.poll()
    }

    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.timers.next_deadline()
    }

    /// Runs all due timers, then derives outputs from what has changed.
    fn advance(&mut self, now: LocalTime) {
        while let Some((due, timer)) = self.timers.poll_due(now) {
            match timer {
                Timer::Hello(conn) => self.close_connection(now, conn, self.hello_refusal()),
                Timer::Idle(conn) => self.check_idle(now, conn),
                Timer::Grace(player) => self.end_session(now, player, ErrorCode::Idle),
                Timer::Opening(room) => self.handle_opening_timeout(now, room),
                Timer::Quarantine(room) => self.end_quarantine(now, room),
                Timer::Trial(room) => self.end_trial_time(room),
                Timer::Roster(room) => self.publish_roster(now, room),
                Timer::HostSilence(host) => self.check_silence(now, host, due),
                Timer::Listing => self.publish_listing(now),
                Timer::CatchUp => self.catch_up(now),
                Timer::EndIdleChildren => {
                    self.fleet.end_idle_children(&self.rooms, &mut self.outbox);
                }
                Timer::Worlds => self.open_worlds(now),
                Timer::Releases => self.ask_rooms_to_move(now),
                Timer::PlannedEnd => {
                    self.announce_end(now);
                }
            }
        }
        if self.fleet.has_changed() {
            self.choose_trial(now);
            self.watch_builds(now);
        }
        if self.fleet.take_change() && !self.draining {
            self.adjust_children(now);
        }
        self.emit_changed_records();
    }

    /// Adjusts the number of children to what is needed.
    fn adjust_children(&mut self, now: LocalTime) {
        match self.fleet.adjust_children(&self.rooms) {
            ChildDemand::More(count) => {
                self.outbox.push(LobbyAction::SetChildCount(count));
                self.timers.cancel(Timer::EndIdleChildren);
            }
            ChildDemand::Met => self.timers.cancel(Timer::EndIdleChildren),
            ChildDemand::Fewer { after } => {
                self.timers.set_if_unset(Timer::EndIdleChildren, now + after);
            }
        }
    }

    /// Processes one request from the rate limit to the answer.
    fn process_request(
        &mut self,
        now: LocalTime,
        conn: ConnId,
        number: u64,
        body: Result<client_to_world::Body, LobbyRefusal>,
    ) {
        self.advance(now);
        let Some(connection) = self.connections.open_mut(conn) else {
            return;
        };
        connection.active_at = now;
        let in_time = connection.requests.take(now);
        connection.refused_in_a_row = if in_time { 0 } else { connection.refused_in_a_row + 1 };
        connection.is_slowed = !in_time && !connection.refusals.take(now);
        let too_many_refused = connection.refused_in_a_row >= self.config.refused_in_a_row;

        let place = self.outbox.position();
        let answer = if in_time {
            self.execute(now, RequestSource { conn, request: number }, body)
        } else {
            Err(self.rate_refusal())
        };
        match answer {
            Ok(RequestOutcome::Immediate(body)) => self.outbox.answer_at(place, conn, number, body),
            Ok(RequestOutcome::Deferred) => {}
            Err(refusal) => {
                self.outbox.answer_at(place, conn, number, output::error_body(refusal.clone()));
                self.note_refused(now, conn, &refusal);
                if too_many_refused || ends_handshake(refusal.code) {
                    self.close_connection(now, conn, refusal);
                }
            }
        }
        self.advance(now);
    }

    /// Executes a request, if the connection's stage allows it.
    fn execute(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        body: Result<client_to_world::Body, LobbyRefusal>,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        if from.request == 0 {
            return Err(LobbyRefusal::new(
                ErrorCode::Malformed,
                "a request's number must not be 0: 0 marks events",
            ));
        }
        let body = body?;
        match self.connections.open_mut(from.conn).map(|connection| connection.stage) {
            Some(Stage::Player(player)) => {
                self.players.confirm_token(player);
                self.execute_for_player(now, from, player, body.try_into()?)
            }
            _ => match body {
                client_to_world::Body::Hello(hello) => {
                    self.handle_hello(now, from, hello.try_into()?)
                }
                client_to_world::Body::ProveAccount(proof) => {
                    self.handle_proof(now, from.conn, &proof)
                }
                other => {
                    let message = format!(
                        "{} came before hello, which comes first",
                        request::name_of(&other)
                    );
                    Err(LobbyRefusal::new(ErrorCode::OutOfState, message))
                }
            },
        }
    }

    /// Executes a request of a player.
    fn execute_for_player(
        &mut self,
        now: LocalTime,
        from: RequestSource,
        player: PlayerId,
        request: PlayerRequest,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let is_join = matches!(request, PlayerRequest::JoinRoom(_) | PlayerRequest::QuickJoin(_));
        if request.has_list() {
            self.check_list_budget(now, from.conn, is_join)?;
        }
        let outcome = match request {
            PlayerRequest::ListRooms { subscribe } => {
                Ok(self.list_rooms(now, from.conn, subscribe))
            }
            PlayerRequest::CreateRoom(create) => self.create_room(now, player, create),
            PlayerRequest::JoinRoom(join) => self.join_room(now, player, &join),
            PlayerRequest::QuickJoin(join) => self.quick_join(now, player, &join),
            PlayerRequest::LeaveRoom => self.leave_room(now, player),
            PlayerRequest::StartRoom => self.start_room(now, player, from),
            PlayerRequest::SetReady { ready } => self.set_ready(now, player, ready),
            PlayerRequest::SetWishes(wishes) => {
                self.players.at_mut(player).wishes = wishes;
                Ok(DONE)
            }
            PlayerRequest::Invite { player: name } => self.invite(now, player, &name),
            PlayerRequest::JoinParty(party) => self.join_party(now, player, party),
            PlayerRequest::LeaveParty(member) => self.leave_party(player, member),
            PlayerRequest::ListPlayers { everybody } => self.list_players(player, everybody),
            PlayerRequest::SetName(name) => self.set_name(now, player, name),
            PlayerRequest::Say(say) => self.send_chat(now, player, say),
            PlayerRequest::Kick { player: target } => self.kick(now, player, target),
            PlayerRequest::RequestTicket => self.request_ticket(now, player),
            PlayerRequest::DescribeGame { game } => self.describe_game(&game),
            PlayerRequest::ReadAccount => self.read_account(now, from, player),
            PlayerRequest::EraseAccount => self.erase_account(now, from, player),
            PlayerRequest::SetPassword(password, new) => {
                self.set_password(now, from, player, (password, new))
            }
        };
        if let Ok(RequestOutcome::Immediate(answer)) = &outcome {
            self.charge_list(now, from.conn, answer);
        }
        outcome
    }

    fn rate_refusal(&self) -> LobbyRefusal {
        let LobbyConfig { requests_per_s, request_burst, .. } = self.config;
        let message = format!(
            "at most {requests_per_s} requests a second, {request_burst} at once; wait a little"
        );
        LobbyRefusal::new(ErrorCode::RateLimited, message)
    }

    fn hello_refusal(&self) -> LobbyRefusal {
        let message = format!("no hello within {} s", self.config.hello_timeout.as_secs_f32());
        LobbyRefusal::new(ErrorCode::Idle, message)
    }
}

/// Whether a refused hello ends the connection, since no other hello could succeed.
fn ends_handshake(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::VersionMismatch
            | ErrorCode::TooManyConnections
            | ErrorCode::TooManyFromAddress
            | ErrorCode::BadAccount
            | ErrorCode::Banned
    )
}

fn draining_refusal() -> LobbyRefusal {
    LobbyRefusal::new(ErrorCode::Draining, "the server is shutting down")
}

fn unknown_message_refusal(field: Option<u32>) -> LobbyRefusal {
    let message = match field {
        Some(field) => format!("this server knows no request in field {field} of ClientToWorld"),
        None => "the message has no body that this server knows".to_owned(),
    };
    LobbyRefusal::new(ErrorCode::UnknownMessage, message)
}

fn to_millis(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX)
}
