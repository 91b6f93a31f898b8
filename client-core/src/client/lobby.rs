//! The client's half of the lobby protocol.
//!
//! The state of the connection, messages, requests and the time go in. Messages, events and data
//! for the game part come out of [`LobbySession::poll_output`]. No socket and no clock: the owner
//! opens and closes connections on request.
//!
//! Invariants:
//! 1. Before `Welcome` only `Hello` and the proof of an account are sent; requests wait in order.
//! 2. Each request ends exactly once: with an answer, an error, or the end of the session.
//! 3. After a break, the client reconnects with the resume token and growing pauses until
//!    `reconnect_for` has passed. It does not reconnect after a `Goodbye`, nor to a server that it
//!    has never reached.
//! 4. After a reconnect, only requests that are safe to repeat are resent.
//! 5. A lobby that answers nothing for 1.5 s while the game's host is silent, too, is dialled anew:
//!    after a dead line QUIC itself waits for up to as long as the line was dead.
//! 6. A server of several that refuses the session before its welcome is passed over; the session
//!    ends when all have refused it.
//!
//! Source: `proto/ambit/world.proto`.

mod answers;

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::account_proof::CheckedServer;
use ambit_proto::codes as protocol;
use ambit_proto::control::world::client_to_world::Body as LobbyRequestBody;
use ambit_proto::control::world::world_to_client::Body as LobbyMessageBody;
use ambit_proto::control::world::{self as pb, ClientToWorld, WorldToClient};
use ambit_proto::control::{MAX_TO_WORLD, WORLD_VERSION};
use ambit_proto::ids::{AccountId, PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message;

use super::backoff::Backoff;
use super::config::{ClientConfig, SignIn};
use super::event::{LobbyEvent, Welcome, codes};
use super::model::{GameTicket, PlayerListing, web_certificates};
use super::pending_requests::{LobbyQuestion, MAX_PENDING, PendingRequests};
use super::request::LobbyRequest;

/// How long the server may take to answer `Hello`.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that has said hello this short before the server closes was late itself.
const LATE_HELLO: Duration = Duration::from_secs(2);
/// A lobby that lives answers a request for a ticket within this.
const ANSWERED_WITHIN: Duration = Duration::from_millis(1_500);
/// The shortest and the longest pause before dialling again.
const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Maximum number of servers of a cluster that are kept.
const MAX_SERVERS: usize = 64;
/// Maximum number of them that are dialled at once.
const MAX_DIALLED_SERVERS: usize = 4;

/// Why a connection ended, or could not be established.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It broke or could not be established; another attempt may succeed.
    Broken(String),
    /// The server refused it for a temporary reason such as too many connections. On a first
    /// attempt this ends the session.
    Busy {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Another attempt would fail, too.
    Final {
        /// A stable code.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

impl CloseReason {
    /// The peer has closed the connection with this code, perhaps with a text. An error code ends
    /// it for good, unless the error is temporary.
    pub fn by_peer(code: u64, reason: &[u8]) -> Self {
        let known = i32::try_from(code).ok().and_then(|code| pb::ErrorCode::try_from(code).ok());
        let why = if reason.is_empty() {
            known.map(protocol::name).unwrap_or_default().into()
        } else {
            String::from_utf8_lossy(reason)
        };
        let message = format!("the server closed the connection: {why}");
        match known {
            None
            | Some(
                pb::ErrorCode::ErrorUnspecified
                | pb::ErrorCode::SlowReader
                | pb::ErrorCode::ServerError,
            ) => Self::Broken(message),
            Some(
                busy @ (pb::ErrorCode::TooManyConnections
                | pb::ErrorCode::TooManyFromAddress
                | pb::ErrorCode::RateLimited
                | pb::ErrorCode::TryAgain),
            ) => Self::Busy { code: protocol::name(busy), message },
            Some(code) => Self::Final { code: protocol::name(code), message },
        }
    }

    /// The peer has sent what this client does not understand.
    pub fn unintelligible(error: &dyn std::error::Error) -> Self {
        Self::Final {
            code: codes::BAD_MESSAGE.to_owned(),
            message: format!("the server sent an invalid message: {error}"),
        }
    }
}

#[cfg(feature = "shell")]
impl CloseReason {
    /// Why none of several servers can be used: names each reason. The result is final only if all
    /// of them are, and that of a busy server if no other one may come back. `None` if there are
    /// none.
    pub(crate) fn of_all(reasons: Vec<Self>) -> Option<Self> {
        let mut messages: Vec<String> = Vec::new();
        for reason in &reasons {
            // The addresses of one name fail for the same reasons.
            if !messages.iter().any(|message| message == reason.message()) {
                messages.push(reason.message().to_owned());
            }
        }
        let worst = reasons.into_iter().min_by_key(|reason| match reason {
            Self::Broken(_) => 0,
            Self::Busy { .. } => 1,
            Self::Final { .. } => 2,
        })?;
        Some(worst.map_message(|_| messages.join("; ")))
    }

    /// The same reason in other words.
    pub(crate) fn map_message(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Broken(message) => Self::Broken(change(message)),
            Self::Busy { code, message } => Self::Busy { code, message: change(message) },
            Self::Final { code, message } => Self::Final { code, message: change(message) },
        }
    }

    fn message(&self) -> &str {
        let (Self::Broken(message) | Self::Busy { message, .. } | Self::Final { message, .. }) =
            self;
        message
    }
}

/// An action that the lobby part requests.
#[derive(Clone, Debug, PartialEq)]
pub enum LobbyOutput {
    /// Dial the server; then call `handle_connected` or `handle_closed`.
    Connect,
    /// Send this on the control stream.
    Send(ClientToWorld),
    /// Sign this question of the server; then call `prove_account`.
    ProveAccount(Vec<u8>),
    /// Close the connection; do not call `handle_closed` for it.
    Close,
    /// The same, at once and in such a way that the player may come back.
    Abandon,
    /// Emit this event to the views, with the number of the request that it answers, or 0.
    View(u64, LobbyEvent),
    /// The ticket for the game of the player's room.
    Ticket(GameTicket),
    /// The lobby refused a ticket: code and message.
    NoTicket(String, String),
    /// The player is in no room, and so in no game.
    OutOfRoom,
    /// The session has ended: code and message.
    Finished(String, String),
}

/// Why a request was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The session has ended.
    #[error("the connection to the lobby is closed")]
    Closed,
    /// Too many requests wait for an answer.
    #[error("{MAX_PENDING} requests wait for an answer already")]
    TooMany,
    /// The request is longer than a message may be.
    #[error("a request has at most {MAX_TO_WORLD} bytes")]
    TooLong,
}

/// Why a hello has not arrived in time that was sent this long before: a server starts counting
/// when the connection is there, and so does this client.
fn who_was_slow(waited: Duration) -> String {
    let waited_s = waited.as_secs_f32();
    if waited < LATE_HELLO {
        return format!(
            "this client said hello {waited_s:.1} s ago: this machine is short of processor time"
        );
    }
    format!(
        "this client said hello {waited_s:.1} s ago: the server is short of processor time, or the \
         way there loses packets"
    )
}

/// A WorldServer of a cluster, as announced by another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterServer {
    /// `HOST:PORT`.
    pub address: String,
    /// SHA-256 of the certificate that it presents.
    pub certificate_sha256: [u8; 32],
    /// Those that it shows to browsers, now or next. Empty if browsers know the authority that has
    /// signed it.
    pub web_certificates_sha256: Vec<[u8; 32]>,
}

/// A session with a WorldServer.
#[derive(Debug)]
pub struct LobbySession {
    agent: String,
    name: String,
    resume_token: Vec<u8>,
    sign_in: SignIn,
    reconnect_for: Duration,
    player: Option<PlayerId>,
    account: Option<AccountId>,
    room: Option<RoomId>,
    /// The known members of that room.
    roster: Vec<PlayerListing>,
    subscribed: bool,
    /// In a cluster: servers where the session can be resumed, and how often the server is probed.
    servers: Vec<ClusterServer>,
    probe_every: Option<Duration>,
    /// The address of the present or last connection, and the server to dial next; `None` for the
    /// configured server.
    dialled_address: String,
    next_server: Option<ClusterServer>,
    /// The configured servers.
    configured: Vec<String>,
    /// The servers that have refused this attempt to connect for good, and why: they are not
    /// dialled again while another one is left.
    refusals: Vec<(String, String)>,
    state: LobbyState,
    /// When the server counts as lost unless it has sent something, for invariant 5.
    answer_due: Option<LocalTime>,
    /// Since when the lobby is disconnected, for invariant 3.
    broken_since: Option<LocalTime>,
    backoff: Backoff,
    pending: PendingRequests,
    outputs: VecDeque<LobbyOutput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LobbyState {
    /// Nothing was tried yet.
    New,
    /// The owner is dialling.
    Connecting,
    /// `Hello` was sent.
    Greeting { deadline: LocalTime },
    /// Requests are answered.
    Ready,
    /// The pause before the next attempt.
    Pausing { until: LocalTime },
    /// The session is over; there are no more attempts.
    Closed,
}

impl LobbySession {
    /// A session that has not connected yet.
    pub fn new(config: &ClientConfig) -> Self {
        LobbySession {
            agent: config.agent.clone(),
            name: config.name.clone(),
            resume_token: config.resume_token.clone(),
            sign_in: config.sign_in.clone(),
            reconnect_for: config.reconnect_for,
            player: None,
            account: None,
            room: None,
            roster: Vec::new(),
            subscribed: false,
            servers: Vec::new(),
            probe_every: None,
            dialled_address: String::new(),
            next_server: None,
            configured: Vec::new(),
            refusals: Vec::new(),
            state: LobbyState::New,
            answer_due: None,
            broken_since: None,
            backoff: Backoff::new(RECONNECT_PAUSES.0, RECONNECT_PAUSES.1, config.seed),
            pending: PendingRequests::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Sets the addresses of the configured servers, any of which will do.
    pub fn set_servers(&mut self, addresses: Vec<String>) {
        self.configured = addresses;
    }

    /// Dials the server for the first time.
    pub fn connect(&mut self) {
        if self.state == LobbyState::New {
            self.dial();
        }
    }

    /// Sends a request. The answer is an event with the returned number.
    pub fn request(&mut self, request: LobbyRequest) -> Result<u64, RequestError> {
        if self.state == LobbyState::Closed {
            return Err(RequestError::Closed);
        }
        if !self.pending.has_room() {
            return Err(RequestError::TooMany);
        }
        let longest = ClientToWorld { request: u64::MAX, body: Some(request.to_body()) };
        if longest.encoded_len() > MAX_TO_WORLD {
            return Err(RequestError::TooLong);
        }
        if let LobbyRequest::ListRooms { subscribe } = request {
            self.subscribed = subscribe;
        }
        Ok(self.add_question(LobbyQuestion::Player(request)))
    }

    /// Requests another ticket for the game of the player's room. The answer is `Ticket` or
    /// `NoTicket`.
    pub fn request_ticket(&mut self) {
        if !self.is_closed() && !self.pending.has_ticket_question() {
            self.add_question(LobbyQuestion::Ticket);
        }
    }

    /// The same, when the game's host is silent. A lobby that is silent as well is dialled anew.
    pub fn request_ticket_or_redial(&mut self, now: LocalTime) {
        self.request_ticket();
        if self.state == LobbyState::Ready {
            self.answer_due.get_or_insert(now + ANSWERED_WITHIN);
        }
    }

    /// Ends the session, and gives up the player's seat.
    pub fn quit(&mut self) {
        if self.state == LobbyState::Ready && self.room.is_some() {
            self.add_question(LobbyQuestion::Player(LobbyRequest::LeaveRoom));
        }
        self.finish(codes::QUIT.to_owned(), "the player quit".to_owned());
    }

    /// Ends the session because of an error in the client.
    pub fn fail(&mut self, code: &str, message: String) {
        self.finish(code.to_owned(), message);
    }

    /// The connection is established.
    pub fn handle_connected(&mut self, now: LocalTime) {
        if self.state != LobbyState::Connecting {
            return;
        }
        self.state = LobbyState::Greeting { deadline: now + HELLO_TIMEOUT };
        let mut hello = pb::Hello {
            version: WORLD_VERSION,
            name: self.name.clone(),
            resume_token: self.resume_token.clone(),
            agent: self.agent.clone(),
            ..pb::Hello::default()
        };
        match self.sign_in.clone() {
            SignIn::Guest => {}
            SignIn::Key(key) => hello.account_key = key.to_vec(),
            SignIn::Password { login, password, is_new } => {
                hello.password = Some(pb::PasswordSignIn { login, password, is_new });
            }
            SignIn::Token(token) => hello.account_token = token,
        }
        self.send_greeting(LobbyRequestBody::Hello(hello));
    }

    /// The answer to [`LobbyOutput::ProveAccount`]: the signature, and the server that it was made
    /// for.
    pub fn prove_account(&mut self, signature: Vec<u8>, server: &CheckedServer) {
        if matches!(self.state, LobbyState::Greeting { .. }) {
            self.send_greeting(LobbyRequestBody::ProveAccount(server.proof(signature)));
        }
    }

    fn send_greeting(&mut self, body: LobbyRequestBody) {
        let request = self.pending.next_number();
        self.outputs.push_back(LobbyOutput::Send(ClientToWorld { request, body: Some(body) }));
    }

    /// The connection is lost, or could not be established.
    pub fn handle_closed(&mut self, now: LocalTime, close_reason: CloseReason) {
        match (self.state, close_reason) {
            (LobbyState::New | LobbyState::Pausing { .. } | LobbyState::Closed, _) => {}
            (LobbyState::Greeting { deadline }, CloseReason::Final { code, mut message }) => {
                if code == protocol::name(pb::ErrorCode::Idle) {
                    let waited = HELLO_TIMEOUT.saturating_sub(deadline.since(now));
                    message = format!("{message}: {}", who_was_slow(waited));
                }
                self.handle_refused(code, message);
            }
            (_, CloseReason::Final { code, message }) => {
                let message = self.with_refusals(&message);
                self.finish(code, message);
            }
            // A server that was never reached is not dialled again: the user is probably looking
            // for a mistake in the address.
            (_, CloseReason::Busy { code, message }) => {
                // The server is alive: dial the same one again.
                let same = self
                    .servers
                    .iter()
                    .find(|server| server.address == self.dialled_address)
                    .cloned();
                self.handle_connection_lost(now, &code, message);
                self.next_server = same.or(self.next_server.take());
            }
            (LobbyState::Connecting, CloseReason::Broken(reason)) => {
                self.handle_connection_lost(now, codes::COULD_NOT_CONNECT, reason);
            }
            (_, CloseReason::Broken(reason)) => {
                self.handle_connection_lost(now, codes::CONNECTION_LOST, reason);
            }
        }
    }

    /// A message on the control stream.
    pub fn handle_message(&mut self, now: LocalTime, message: WorldToClient) {
        self.answer_due = None;
        let request = message.request;
        match (self.state, message.body) {
            (LobbyState::Greeting { .. }, Some(LobbyMessageBody::Welcome(welcome))) => {
                self.handle_welcome(now, welcome);
            }
            (LobbyState::Greeting { .. }, Some(LobbyMessageBody::Challenge(challenge)))
                if matches!(self.sign_in, SignIn::Key(_)) =>
            {
                self.outputs.push_back(LobbyOutput::ProveAccount(challenge.nonce));
            }
            (LobbyState::Greeting { .. }, Some(LobbyMessageBody::Error(error))) => {
                self.handle_refused_hello(now, &error);
            }
            (LobbyState::Greeting { .. }, Some(LobbyMessageBody::Goodbye(goodbye))) => {
                self.outputs.push_back(LobbyOutput::Close);
                self.handle_refused(protocol::name_of_number(goodbye.code), goodbye.message);
            }
            (LobbyState::Ready, Some(LobbyMessageBody::Goodbye(goodbye))) => {
                self.finish(protocol::name_of_number(goodbye.code), goodbye.message);
            }
            (LobbyState::Ready, Some(body)) => self.handle_body(request, body),
            (LobbyState::Ready, None) => self.handle_unknown(request),
            _ => {}
        }
    }

    /// Some deadline has passed.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        match self.state {
            LobbyState::Pausing { until } if now >= until => self.dial(),
            LobbyState::Ready if self.answer_due.is_some_and(|due| now >= due) => {
                self.outputs.push_back(LobbyOutput::Abandon);
                let reason = "neither the game host nor the server is heard".to_owned();
                self.handle_connection_lost(now, codes::NO_ANSWER, reason);
            }
            LobbyState::Greeting { deadline } if now >= deadline => {
                self.outputs.push_back(LobbyOutput::Abandon);
                let seconds = HELLO_TIMEOUT.as_secs();
                self.handle_connection_lost(
                    now,
                    codes::NO_ANSWER,
                    format!("the server did not answer within {seconds} s"),
                );
            }
            _ => {}
        }
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        match self.state {
            LobbyState::Pausing { until } => Some(until),
            LobbyState::Greeting { deadline } => Some(deadline),
            LobbyState::Ready => self.answer_due,
            LobbyState::New | LobbyState::Connecting | LobbyState::Closed => None,
        }
    }

    /// The next action for the owner.
    pub fn poll_output(&mut self) -> Option<LobbyOutput> {
        self.outputs.pop_front()
    }

    /// Whether requests are answered now.
    pub fn is_ready(&self) -> bool {
        self.state == LobbyState::Ready
    }

    /// Whether the session has ended.
    pub fn is_closed(&self) -> bool {
        self.state == LobbyState::Closed
    }

    /// The room that the player is in.
    pub fn room(&self) -> Option<RoomId> {
        self.room
    }

    /// The player's number, once the lobby has welcomed the player.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// The account of the session, if it has one.
    pub fn account(&self) -> Option<AccountId> {
        self.account
    }

    /// The name in use; before the welcome, the requested one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server to dial next; `None` for the configured one.
    pub fn server(&self) -> Option<&ClusterServer> {
        self.next_server.as_ref()
    }

    /// The server to dial next and those of its cluster behind it, in the order of dialling; none
    /// for the configured one.
    pub fn servers_to_dial(&self) -> Vec<ClusterServer> {
        let Some(first) = &self.next_server else {
            return Vec::new();
        };
        let at = self.servers.iter().position(|server| server == first);
        let (before, behind) = self.servers.split_at(at.unwrap_or(0));
        let others = behind.iter().chain(before).filter(|server| *server != first);
        let all = [first].into_iter().chain(others);
        let all = all.filter(|server| !self.has_refused(&server.address));
        all.take(MAX_DIALLED_SERVERS).cloned().collect()
    }

    /// The configured servers that may take the session.
    pub fn configured_to_dial(&self) -> impl Iterator<Item = &str> {
        let all = self.configured.iter().map(String::as_str);
        all.filter(|address| !self.has_refused(address))
    }

    /// Notes the address that the owner dials, or of several the one that has answered.
    pub fn note_dialled_address(&mut self, address: &str) {
        address.clone_into(&mut self.dialled_address);
    }

    /// How often the server should be probed while it is connected.
    pub fn probe_every(&self) -> Option<Duration> {
        self.probe_every.filter(|_| self.state == LobbyState::Ready)
    }

    /// Secret: it lets another connection take over the session.
    pub fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    fn handle_welcome(&mut self, now: LocalTime, welcome: pb::Welcome) {
        let room = welcome.room.map(RoomId);
        let gone = self.room.filter(|known| room != Some(*known));
        let grace = Duration::from_millis(welcome.grace_ms.into());
        let why = lost_seat_reason(
            welcome.resumed,
            self.broken_since.map(|since| now.since(since)),
            grace,
        );
        self.state = LobbyState::Ready;
        self.backoff.succeed();
        self.broken_since = None;
        self.refusals.clear();
        self.player = Some(PlayerId(welcome.player));
        self.account = AccountId::from_bytes(&welcome.account);
        let login = Some(welcome.login).filter(|login| !login.is_empty());
        if let (SignIn::Password { login: known, is_new, .. }, Some(login)) =
            (&mut self.sign_in, &login)
        {
            // The next session is one of the account that was made.
            known.clone_from(login);
            *is_new = false;
        }
        self.name.clone_from(&welcome.name);
        self.resume_token = welcome.resume_token;
        self.note_servers(welcome.servers.unwrap_or_default());
        self.emit(LobbyEvent::Welcome(Welcome {
            player: PlayerId(welcome.player),
            name: welcome.name,
            resumed: welcome.resumed,
            room,
            grace,
            account: self.account,
            login,
            games: welcome.games.into_iter().map(Into::into).collect(),
        }));
        if let Some(left) = gone {
            let (code, why) = match room {
                None => (codes::SESSION_EXPIRED, why.to_owned()),
                // The player asked for that, and the connection broke before the answer.
                Some(room) => (codes::LEFT, format!("you are in room {} now", room.0)),
            };
            self.emit_left(0, left, code.to_owned(), why);
        }
        self.room = room;
        self.resubscribe();
        self.send_pending();
    }

    fn handle_refused_hello(&mut self, now: LocalTime, error: &pb::Error) {
        let code = protocol::name_of_error(error);
        let version = error.code() == pb::ErrorCode::VersionMismatch;
        self.outputs.push_back(LobbyOutput::Close);
        if version {
            self.handle_refused(code, error.message.clone());
        } else if self.player.is_none() {
            self.finish(code, error.message.clone());
        } else {
            self.handle_connection_lost(now, &code, error.message.clone());
        }
    }

    /// The server that has answered does not take the session: dials the others, if any are left.
    fn handle_refused(&mut self, code: String, message: String) {
        let all = self.with_refusals(&message);
        self.refusals.push((self.dialled_address.clone(), message));
        let is_last = match self.next_server {
            Some(_) => self.servers_to_dial().is_empty(),
            None => self.configured_to_dial().next().is_none(),
        };
        if is_last {
            self.finish(code, all);
        } else {
            self.dial();
        }
    }

    fn has_refused(&self, address: &str) -> bool {
        self.refusals.iter().any(|refusal| refusal.0 == address)
    }

    /// What the last server said, after what the others have said before.
    fn with_refusals(&self, message: &str) -> String {
        let before =
            self.refusals.iter().map(|(address, message)| format!("{address}: {message}; "));
        before.collect::<String>() + message
    }

    /// Ends the game first: its objects leave before the views learn that the player left the room.
    fn emit_left(&mut self, request: u64, room: RoomId, code: String, message: String) {
        self.outputs.push_back(LobbyOutput::OutOfRoom);
        self.answer(request, LobbyEvent::Left { room, code, message });
    }

    /// Servers without a valid certificate fingerprint are ignored.
    pub(super) fn note_servers(&mut self, list: pb::Servers) {
        self.probe_every = Some(Duration::from_millis(list.probe_ms.into()))
            .filter(|every| *every > Duration::ZERO);
        let named = list.servers.into_iter().take(MAX_SERVERS);
        let good = named.filter_map(|server| {
            let certificate_sha256 = server.certificate_sha256.try_into().ok()?;
            Some(ClusterServer {
                address: server.address,
                certificate_sha256,
                web_certificates_sha256: web_certificates(server.web_certificates_sha256),
            })
        });
        self.servers = good.collect();
    }

    /// The server that was dialled last is unavailable: select the next one of the cluster, if any.
    fn select_next_server(&mut self) {
        let last = self.servers.iter().position(|server| server.address == self.dialled_address);
        let next = last.map_or(0, |last| last + 1) % self.servers.len().max(1);
        self.next_server = self.servers.get(next).cloned();
    }

    fn dial(&mut self) {
        self.state = LobbyState::Connecting;
        self.emit(LobbyEvent::Connecting { attempt: self.backoff.failures() + 1 });
        self.outputs.push_back(LobbyOutput::Connect);
    }

    /// The connection is lost: ends the session if the player was never welcomed, else pauses.
    fn handle_connection_lost(&mut self, now: LocalTime, code: &str, reason: String) {
        if self.player.is_none() {
            let reason = self.with_refusals(&reason);
            self.finish(code.to_owned(), reason);
        } else {
            self.reconnect_after_pause(now, reason);
        }
    }

    fn reconnect_after_pause(&mut self, now: LocalTime, reason: String) {
        for (number, request) in self.pending.handle_connection_lost() {
            let message = format!(
                "asked to {}, but the connection broke before the answer: the result is unknown",
                request.description()
            );
            let code = codes::CONNECTION_LOST.to_owned();
            self.answer(number, LobbyEvent::Error { code, message });
        }
        self.select_next_server();
        self.refusals.clear();
        self.answer_due = None;
        let since = *self.broken_since.get_or_insert(now);
        let retry_in = self.backoff.fail();
        if now + retry_in >= since + self.reconnect_for {
            let message = format!("{reason}; gave up after {} attempts", self.backoff.failures());
            return self.finish(codes::CONNECTION_LOST.to_owned(), message);
        }
        self.state = LobbyState::Pausing { until: now + retry_in };
        self.emit(LobbyEvent::Interrupted { reason, retry_in });
    }

    fn finish(&mut self, code: String, message: String) {
        if self.state == LobbyState::Closed {
            return;
        }
        if matches!(
            self.state,
            LobbyState::Connecting | LobbyState::Greeting { .. } | LobbyState::Ready
        ) {
            self.outputs.push_back(LobbyOutput::Close);
        }
        self.state = LobbyState::Closed;
        self.room = None;
        self.pending.clear();
        self.outputs.push_back(LobbyOutput::Finished(code, message));
    }

    fn resubscribe(&mut self) {
        if self.subscribed && !self.pending.has_room_list_question() {
            self.add_question(LobbyQuestion::Subscription);
        }
    }

    fn add_question(&mut self, question: LobbyQuestion) -> u64 {
        let number = self.pending.add(question);
        if self.state == LobbyState::Ready {
            self.send_pending();
        }
        number
    }

    fn send_pending(&mut self) {
        self.outputs.extend(self.pending.take_unsent().into_iter().map(LobbyOutput::Send));
    }

    fn emit(&mut self, event: LobbyEvent) {
        self.answer(0, event);
    }

    /// Emits an event that answers a request, or none if that is 0.
    fn answer(&mut self, request: u64, event: LobbyEvent) {
        self.outputs.push_back(LobbyOutput::View(request, event));
    }
}

/// Why a returning player has lost the seat, and what to do. A server keeps sessions for `grace`;
/// another server of the cluster knows none.
fn lost_seat_reason(resumed: bool, broken: Option<Duration>, grace: Duration) -> &'static str {
    if resumed {
        "the server gave the seat away while the connection was broken; join the room again if it \
         still exists"
    } else if broken.is_some_and(|broken| broken < grace) {
        "the server was restarted and has lost all rooms and sessions; create a room again, or \
         join one"
    } else {
        "the session expired while the connection was broken, or the server was restarted; join \
         the room again if it still exists, else create one"
    }
}
