//! [`Lobby`] routes what goes in to the parts, and does what concerns several of them.
//!
//! The parts get what they need of each other as arguments, put outputs, timers and counts into
//! `LobbyEffects`, and return what follows for the others.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use ambit_host_protocol::messages::{HostMessage, HostSettings, WorldOrder};
use ambit_proto::codes::ErrorCode;
use ambit_proto::control::world::world_to_client::Body;
use ambit_proto::control::world::{self, ClientToWorld, client_to_world};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use ambit_store::RoomRequest;
use ambit_transport::quic::Fingerprint;
use ambit_transport::ticket::TicketSigner;
use prost::Message;

use crate::catalog::GameCatalog;
use crate::config::{CheckParameters, Entropy, LobbyConfig, LobbyGame};
use crate::effects::LobbyEffects;
use crate::fleet::Fleet;
use crate::fleet::hosts::{Host, HostReport, Origin};
use crate::fleet::pool::ChildDemand;
use crate::fleet::silence::HostSilence;
use crate::known_servers::KnownServers;
use crate::operator_event::OperatorEvent;
use crate::order_gate::OrderGate;
use crate::output::{
    self, ConnId, DONE, HostId, LobbyAction, MissedNews, RequestOutcome, RequestSource,
};
use crate::records::Records;
use crate::refusal::{LobbyRefusal, ends_handshake};
use crate::request::{self, PlayerRequest};
use crate::rooms::Rooms;
use crate::rooms::stored::RoomStoreJob;
use crate::server_marks::ServerMarks;
use crate::sessions::Sessions;
use crate::sessions::catch_ups::NextCatchUp;
use crate::sessions::connections::Stage;
use crate::shutdown::ServerEnd;
use crate::stats::LobbyStats;
use crate::store_job::StoreOutcome;
use crate::timers::Timer;

/// The lobby's state machine; see the crate.
pub struct Lobby {
    pub(crate) config: LobbyConfig,
    pub(crate) games: GameCatalog,
    pub(crate) signer: TicketSigner,
    pub(crate) sessions: Sessions,
    pub(crate) rooms: Rooms,
    pub(crate) fleet: Fleet,
    pub(crate) effects: LobbyEffects,
    pub(crate) records: Records,
    pub(crate) order_gate: OrderGate,
    pub(crate) servers: KnownServers,
    pub(crate) end: ServerEnd,
}

/// How long a client waits that sends too many requests too fast: until the next one is in time, by
/// default.
const READ_PAUSE: Duration = Duration::from_millis(50);

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
        let order_gate = OrderGate::new(config.waits_for_directory);
        let sessions = Sessions::new(&config, entropy);
        let mut effects = LobbyEffects::default();
        if !config.worlds.is_empty() {
            effects.timers.set(Timer::Worlds, LocalTime::ZERO);
        }
        Self {
            config,
            games: GameCatalog::new(games, check),
            signer,
            sessions,
            rooms: Rooms::default(),
            fleet,
            effects,
            records: Records::default(),
            order_gate,
            servers: KnownServers::default(),
            end: ServerEnd::default(),
        }
    }

    /// Handles a new connection. If it exceeds a limit, the only output for it is its `Close`, and
    /// the connection is removed.
    pub fn handle_connect(&mut self, now: LocalTime, conn: ConnId, address: IpAddr) {
        self.advance(now);
        let admitted = if self.end.is_draining() {
            Err(draining_refusal())
        } else {
            self.sessions.connect(now, conn, address, &self.config)
        };
        match admitted {
            Ok(()) => {
                self.effects.timers.set(Timer::Hello(conn), now + self.config.hello_timeout);
            }
            Err(refusal) => {
                self.effects.outbox.close(conn, refusal.clone());
                self.effects.note_refused(now, Some(address), &refusal);
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
        match self.sessions.connections().get(conn) {
            Some(connection) if connection.is_slowed => READ_PAUSE,
            _ => Duration::ZERO,
        }
    }

    /// Handles a connection closed by either end. The player may come back within the grace period.
    pub fn handle_disconnect(&mut self, now: LocalTime, conn: ConnId) {
        self.advance(now);
        if let Some(player) = self.forget_connection(now, conn) {
            self.sessions.report_away(player, &mut self.effects);
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
            grace_ms: self.config.grace_ms(),
            // An embedded host ends with this process.
            saves_rooms: origin != Origin::Embedded || self.config.keeps_rooms,
            lease: self.fleet.first_lease(origin),
            silence: self.fleet.silence_without_lease(origin),
        };
        self.effects.outbox.send_to_host(host, WorldOrder::Configure(settings));
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
                    self.effects
                        .report(OperatorEvent::HostOverrun { host: host.0, rooms: late.into() });
                }
                let rooms = &mut self.rooms;
                for (room, limit) in rooms.note_unplayed(now, host, &unplayed, &self.config) {
                    self.close_abandoned(now, room, limit);
                }
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
            HostMessage::Store(room, asked) => {
                let job = self.rooms.take_store_request(host, room, asked, &self.sessions);
                if let Some(job) = job {
                    self.begin_store_job(room, job);
                }
            }
            HostMessage::Share(room, share) => self.handle_share(host, room, &share),
            HostMessage::Heartbeat(number) => {
                if let Some(answer) = self.fleet.acknowledge_heartbeat(host, number) {
                    self.effects.outbox.send_to_host(host, answer);
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

    /// The shell has done a room's job, or could not.
    pub fn handle_stored(&mut self, now: LocalTime, request: &RoomRequest, outcome: StoreOutcome) {
        self.advance(now);
        let outbox = &mut self.effects.outbox;
        let settled = self.rooms.take_store_outcome(request, outcome, &self.sessions, outbox);
        if let Some((players, why)) = settled {
            for player in players {
                self.remove_player(now, player, why.clone());
            }
        }
        self.advance(now);
    }

    fn begin_store_job(&mut self, room: RoomId, job: RoomStoreJob) {
        let request = job.request(self.lineage(), room);
        let RoomStoreJob { job, is_last, .. } = job;
        self.effects.outbox.push(if is_last {
            LobbyAction::StoreLast { request, job }
        } else {
            LobbyAction::Store { request, job }
        });
    }

    /// What is known of the silence of a host that has just connected. `instance` identifies it, if
    /// it may have been connected before.
    pub fn new_silence(&self, now: LocalTime, origin: Origin, instance: &[u8]) -> HostSilence {
        self.fleet.new_silence(now, origin, instance)
    }

    /// Handles the loss of a host with all its rooms. `reason` is for people.
    pub fn handle_host_lost(&mut self, now: LocalTime, host: HostId, reason: &str) {
        self.advance(now);
        self.remove_host(now, host, reason);
        self.advance(now);
    }

    /// A process on another machine has ended, as its watcher reports. None of its hosts serves
    /// players any more, so their rooms need not wait for the end of their leases.
    pub fn handle_process_ended(&mut self, now: LocalTime, process: &[u8]) {
        self.advance(now);
        for host in self.fleet.retire_process(process) {
            tracing::warn!(host = host.0, "the host's process has ended; its rooms resume");
            if !self.fleet.is_absent(host) {
                self.effects.outbox.push(LobbyAction::DisconnectHost { host });
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
        if let Some(servers) = self.servers.set_list(servers) {
            let all = self.sessions.players().connected();
            self.effects.outbox.broadcast(all, Body::Servers(servers.clone()));
        }
    }

    /// Sets as what clients know this server.
    pub fn set_marks(&mut self, marks: ServerMarks) {
        self.servers.set_marks(marks);
    }

    /// Sets the certificate that tickets for the embedded host name.
    pub fn set_embedded_certificate(&mut self, certificate: Fingerprint) {
        self.fleet.set_embedded_certificate(certificate);
    }

    /// Handles the report that a connection has missed news, and can take some again.
    pub fn handle_caught_up(&mut self, now: LocalTime, conn: ConnId, missed: MissedNews) {
        self.advance(now);
        self.sessions.note_missed(now, conn, missed, &mut self.effects.timers);
        self.advance(now);
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
        self.end.begin();
        for room in self.rooms.ids() {
            self.close_room(
                now,
                room,
                LobbyRefusal::new(ErrorCode::RoomClosed, "the server is shutting down"),
            );
        }
        let open: Vec<ConnId> = self.sessions.connections().iter().map(|(conn, _)| conn).collect();
        for conn in open {
            self.close_connection(now, conn, draining_refusal());
        }
        for host in self.fleet.connected() {
            self.effects.outbox.send_to_host(host, WorldOrder::Drain);
        }
        self.advance(now);
    }

    /// How long until the end that an operator has planned, and why.
    pub fn planned_end(&self, now: LocalTime) -> Option<(Duration, String)> {
        self.end.planned(now)
    }

    /// Whether the planned time has come: the shell shuts down.
    pub fn is_end_due(&self, now: LocalTime) -> bool {
        self.end.is_due(now)
    }

    /// Whether a drain is complete: every connection is closed. (Hosts end by themselves.)
    pub fn is_drained(&self) -> bool {
        self.end.is_draining() && self.sessions.connections().len() == 0
    }

    /// What the shell has to do next. Where orders and answers wait for the directory, the records
    /// of a call come first; they are the write [`Self::newest_write`].
    pub fn poll_output(&mut self) -> Option<LobbyAction> {
        if let Some(output) = self.order_gate.poll() {
            return Some(output);
        }
        self.order_gate.pass(&mut self.effects.outbox);
        self.order_gate.poll()
    }

    /// The number of the write that has the records which came out last. The shell reports it with
    /// [`Self::handle_write_progress`] once they are stored.
    pub fn newest_write(&self) -> u64 {
        self.order_gate.newest_write()
    }

    /// The directory has stored the writes up to this number. While it is unavailable, rooms are
    /// neither created nor started.
    pub fn handle_write_progress(&mut self, now: LocalTime, written: u64, is_unavailable: bool) {
        self.set_directory_available(!is_unavailable);
        for (conn, missed) in self.order_gate.note_progress(written, is_unavailable) {
            self.sessions.note_missed(now, conn, missed, &mut self.effects.timers);
        }
    }

    /// News that were dropped since too much waited for the directory, by their names in metrics.
    pub fn missed_news(&self) -> &BTreeMap<&'static str, u64> {
        self.order_gate.missed_counts()
    }

    /// Hosts that were disconnected because too many orders waited for the directory.
    pub fn overflowed_hosts(&self) -> u64 {
        self.order_gate.lost_hosts()
    }

    /// When `handle_timeout` is due.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.effects.timers.next_deadline()
    }

    /// Runs all due timers, then derives outputs from what has changed.
    pub(crate) fn advance(&mut self, now: LocalTime) {
        while let Some((due, timer)) = self.effects.timers.poll_due(now) {
            match timer {
                Timer::Hello(conn) => self.close_connection(now, conn, self.hello_refusal()),
                Timer::Idle(conn) => self.check_idle(now, conn),
                Timer::Grace(player) => self.end_session(now, player, ErrorCode::Idle),
                Timer::Opening(room) => self.handle_opening_timeout(now, room),
                Timer::Quarantine(room) => self.end_quarantine(now, room),
                Timer::Trial(room) => self.end_trial_time(room),
                Timer::Roster(room) => {
                    let effects = &mut self.effects;
                    self.rooms.publish_roster(now, room, &self.sessions, effects);
                }
                Timer::HostSilence(host) => self.check_silence(now, host, due),
                Timer::Listing => self.rooms.publish_listing(now, &mut self.effects),
                Timer::CatchUp => self.catch_up(now),
                Timer::Siblings => self.place_hostless_rooms(now),
                Timer::EndIdleChildren => {
                    self.fleet.end_idle_children(self.rooms.all(), &mut self.effects.outbox);
                }
                Timer::Worlds => self.open_worlds(now),
                Timer::Releases => self.ask_rooms_to_move(now),
                Timer::PlannedEnd => {
                    self.end.announce(now, &self.sessions, &mut self.effects);
                }
            }
        }
        if self.fleet.has_changed() {
            self.choose_trial(now);
            self.watch_builds(now);
        }
        if self.fleet.take_change() && !self.end.is_draining() {
            self.adjust_children(now);
        }
        self.emit_changed_records();
    }

    /// Adjusts the number of children to what is needed.
    fn adjust_children(&mut self, now: LocalTime) {
        match self.fleet.adjust_children(self.rooms.all()) {
            ChildDemand::More(count) => {
                self.effects.outbox.push(LobbyAction::SetChildCount(count));
                self.effects.timers.cancel(Timer::EndIdleChildren);
            }
            ChildDemand::Met => self.effects.timers.cancel(Timer::EndIdleChildren),
            ChildDemand::Fewer { after } => {
                self.effects.timers.set_if_unset(Timer::EndIdleChildren, now + after);
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
        let Some(pace) = self.sessions.note_request(now, conn, &self.config) else {
            return;
        };
        let place = self.effects.outbox.position();
        let answer = if pace.is_in_time {
            self.execute(now, RequestSource { conn, request: number }, body)
        } else {
            Err(self.rate_refusal())
        };
        match answer {
            Ok(RequestOutcome::Immediate(body)) => {
                self.effects.outbox.answer_at(place, conn, number, body);
            }
            Ok(RequestOutcome::Deferred) => {}
            Err(refusal) => {
                self.effects.outbox.answer_at(
                    place,
                    conn,
                    number,
                    output::error_body(refusal.clone()),
                );
                self.effects.note_refused(now, self.sessions.address_of(conn), &refusal);
                if pace.is_flood || ends_handshake(refusal.code) {
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
        match self.sessions.stage_of(from.conn) {
            Some(Stage::Player(player)) => {
                self.sessions.confirm_token(player);
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
            self.sessions.check_lists(now, from.conn, is_join, &self.config)?;
        }
        let outbox = &mut self.effects.outbox;
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
                self.sessions.player_mut(player).wishes = wishes;
                Ok(DONE)
            }
            PlayerRequest::Invite { player: name } => {
                self.sessions.invite(now, player, &name, &self.config, outbox).map(|()| DONE)
            }
            PlayerRequest::JoinParty(party) => self.join_party(now, player, party),
            PlayerRequest::LeaveParty(member) => {
                self.sessions.leave_party(player, member, outbox).map(|()| DONE)
            }
            PlayerRequest::ListPlayers { everybody } => self.list_players(player, everybody),
            PlayerRequest::SetName(name) => self.set_name(now, player, name),
            PlayerRequest::Say(say) => self.send_chat(now, player, say),
            PlayerRequest::Kick { player: target } => self.kick(now, player, target),
            PlayerRequest::RequestTicket => self.request_ticket(now, player),
            PlayerRequest::DescribeGame { game } => {
                let description = self.games.describe(&game);
                description.map(|it| RequestOutcome::Immediate(Body::GameDescription(it)))
            }
            PlayerRequest::ReadAccount => self
                .sessions
                .read_account(now, from, player, outbox)
                .map(|()| RequestOutcome::Deferred),
            PlayerRequest::EraseAccount => self
                .sessions
                .erase_account(now, from, player, outbox)
                .map(|()| RequestOutcome::Deferred),
            PlayerRequest::SetPassword(password, new) => {
                let both = (password, new);
                self.sessions
                    .set_password(now, from, player, both, outbox)
                    .map(|()| RequestOutcome::Deferred)
            }
        };
        if let Ok(RequestOutcome::Immediate(answer)) = &outcome {
            self.sessions.charge_list(now, from.conn, answer);
        }
        outcome
    }

    /// Sends lists to those who have missed news, and have waited long enough.
    fn catch_up(&mut self, now: LocalTime) {
        loop {
            match self.sessions.next_catch_up(now) {
                NextCatchUp::None => return,
                NextCatchUp::At(due) => return self.effects.timers.set(Timer::CatchUp, due),
                NextCatchUp::Now(conn, missed) => {
                    for body in self.missed_state(conn, missed) {
                        self.sessions.charge_catch_up(now, &body);
                        self.effects.outbox.notify(conn, body);
                    }
                }
            }
        }
    }

    /// What a connection that has missed news has to know.
    fn missed_state(&mut self, conn: ConnId, missed: MissedNews) -> Vec<Body> {
        let mut bodies = Vec::new();
        if missed.rooms && self.rooms.is_subscribed(conn) {
            bodies.push(Body::RoomList(self.rooms.all().newest()));
        }
        let stage = self.sessions.stage_of(conn);
        if let (true, Some(Stage::Player(player))) = (missed.players, stage)
            && let Some(room) = self.sessions.player(player).room
        {
            bodies.push(Body::PlayerList(self.rooms.member_list(room, &self.sessions)));
        }
        if missed.chats > 0 {
            let missed = world::MissedNews { chats: missed.chats };
            bodies.push(Body::MissedNews(missed));
        }
        bodies
    }

    /// Answers with the current rooms. A subscriber gets the changes from here on.
    fn list_rooms(&mut self, now: LocalTime, conn: ConnId, subscribe: bool) -> RequestOutcome {
        self.rooms.unsubscribe(conn);
        if subscribe {
            self.rooms.subscribe(now, conn, &mut self.effects);
        }
        RequestOutcome::Immediate(Body::RoomList(self.rooms.all().newest()))
    }

    /// Answers with the players of the lobby, or of the player's room.
    fn list_players(
        &mut self,
        player: PlayerId,
        everybody: bool,
    ) -> Result<RequestOutcome, LobbyRefusal> {
        let list = if everybody {
            self.sessions.players().list()
        } else {
            self.rooms.member_list(self.room_of(player)?, &self.sessions)
        };
        Ok(RequestOutcome::Immediate(Body::PlayerList(list)))
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

/// What metrics and operators read.
impl Lobby {
    /// The counters and totals. Cost: visits each player and room.
    pub fn stats(&self) -> LobbyStats {
        let away = self.sessions.players().iter().filter(|player| player.conn.is_none());
        LobbyStats {
            connections: self.sessions.connections().len(),
            connections_total: self.sessions.connections().total(),
            players: self.sessions.players().len(),
            players_away: away.count(),
            rooms: self.rooms.all().len(),
            rooms_running: self.rooms.all().count_running(),
            rooms_waiting: self.rooms.iter().filter(|room| self.fleet.waits_for_host(room)).count(),
            hosts: self.fleet.connected_count(),
            hosts_with_wrong_clock: self.fleet.wrong_clock_count(),
            ..self.effects.counters.totals()
        }
    }

    /// Counts a host that was refused before it was registered: it has no key, for example.
    pub fn count_refused_host(&mut self) {
        self.effects.counters.hosts_refused += 1;
    }

    /// The hosts that are ready, in the order in which they were started.
    pub fn hosts(&self) -> impl Iterator<Item = (HostId, &Host)> {
        self.fleet.hosts()
    }

    /// The rooms as a client's list shows them.
    pub fn rooms(&self) -> Vec<world::Room> {
        self.rooms.all().newest().rooms
    }
}
