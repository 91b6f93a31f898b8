//! The client's half of the lobby protocol.
//!
//! What happens to the connection, messages, requests and the time go in; messages, events and what
//! the game part has to know come out of [`LobbySession::poll_output`]. No socket and no clock: the
//! owner opens and closes connections when told.
//!
//! Invariants:
//! 1. Nothing but `HelloRequest` is sent before `Welcome`; requests wait, in the order in which
//!    they were made.
//! 2. Each request is told its end exactly once: an answer, an error, or the session's end for all
//!    of them.
//! 3. A connection that breaks is called again with the resume token, with growing pauses, until
//!    `reconnect_for` is over. What the server has ended on purpose (`Goodbye`) is not called
//!    again, nor is a server that could not be reached once.
//! 4. After a reconnect only requests that may be repeated are asked again.
//!
//! PoseSource: `proto/ambit/world.proto`; design, section 3.

mod answers;

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::codes as protocol;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::world::client_to_world::Body as Ask;
use ambit_proto::control::world::world_to_client::Body as Told;
use ambit_proto::control::world::{self as pb, ClientToWorld, WorldToClient};
use ambit_proto::frame::MAX_TO_WORLD;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::LocalTime;
use prost::Message;

use super::backoff::Backoff;
use super::config::ClientConfig;
use super::event::{ConnectionStatus, ErrorSubject, Failure, ViewEvent, Welcome, codes};
use super::model::{GameTicket, PlayerListing};
use super::pending_requests::{LobbyQuestion, MAX_PENDING, PendingRequests};
use super::request::LobbyRequest;

/// How long the server may take to answer `HelloRequest`.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// The first and the longest pause before calling again.
const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Servers of a cluster that are remembered.
const MAX_SERVERS: usize = 64;

/// How a connection ended, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// It broke, or didn't come about; another attempt may fare better.
    Broken(String),
    /// The server refused it for a reason that may pass: too many connections. A first attempt ends
    /// with that.
    Busy {
        /// A stable name.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
    /// Another attempt would fare no better.
    Final {
        /// A stable name.
        code: String,
        /// What happened, and what to do.
        message: String,
    },
}

/// What the lobby part wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum LobbyOutput {
    /// SidecarCall the server; then `handle_connected` or `handle_closed`.
    Connect,
    /// Send this on the control stream.
    Send(ClientToWorld),
    /// Close the connection; no `handle_closed` for it any more.
    Close,
    /// Tell the views.
    View(ViewEvent),
    /// The way into the game of the player's room.
    Ticket(GameTicket),
    /// There is no way into the game: name and message.
    NoTicket(String, String),
    /// The player is in no room: no game either.
    OutOfRoom,
    /// The session is over: name and message.
    Finished(String, String),
}

/// A request that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The session is over.
    #[error("the connection to the lobby is closed")]
    Closed,
    /// Too many requests wait for an answer.
    #[error("{MAX_PENDING} requests wait for an answer already")]
    TooMany,
    /// The request is longer than a message may be.
    #[error("a request has at most {MAX_TO_WORLD} bytes")]
    LineTooLong,
}

/// One WorldServer of a cluster, as another one has named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterServer {
    /// HOST:PORT.
    pub address: String,
    /// SHA-256 of the certificate that it shows.
    pub certificate_sha256: [u8; 32],
}

/// A session with a WorldServer.
#[derive(Debug)]
pub struct LobbySession {
    agent: String,
    name: String,
    resume_token: Vec<u8>,
    reconnect_for: Duration,
    player: Option<PlayerId>,
    room: Option<RoomId>,
    /// The members of that room, as far as they were told.
    roster: Vec<PlayerListing>,
    subscribed: bool,
    /// Of a cluster: where the session can be resumed, and how often the server is asked whether it
    /// lives.
    servers: Vec<ClusterServer>,
    probe_every: Option<Duration>,
    /// Where the present or the last call went, and the next one goes; the configured server where
    /// there is none.
    dialled_address: String,
    next_server: Option<ClusterServer>,
    state: LobbyState,
    /// Since when there is no lobby, for invariant 3.
    broken_since: Option<LocalTime>,
    backoff: Backoff,
    pending: PendingRequests,
    outputs: VecDeque<LobbyOutput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LobbyState {
    /// Nothing has been tried yet.
    New,
    /// The owner is calling.
    Connecting,
    /// `HelloRequest` is under way.
    Greeting { deadline: LocalTime },
    /// Requests are answered.
    Ready,
    /// The pause before the next call.
    Pausing { until: LocalTime },
    /// Over.
    Closed,
}

impl LobbySession {
    /// A session that has not called yet.
    pub fn new(config: &ClientConfig) -> Self {
        LobbySession {
            agent: config.agent.clone(),
            name: config.name.clone(),
            resume_token: config.resume_token.clone(),
            reconnect_for: config.reconnect_for,
            player: None,
            room: None,
            roster: Vec::new(),
            subscribed: false,
            servers: Vec::new(),
            probe_every: None,
            dialled_address: String::new(),
            next_server: None,
            state: LobbyState::New,
            broken_since: None,
            backoff: Backoff::new(RECONNECT_PAUSES.0, RECONNECT_PAUSES.1, config.seed),
            pending: PendingRequests::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Calls the server for the first time.
    pub fn connect(&mut self) {
        if self.state == LobbyState::New {
            self.dial();
        }
    }

    /// Asks something; the answer is an event with the number that this returns.
    pub fn request(&mut self, request: LobbyRequest) -> Result<u64, RequestError> {
        if self.state == LobbyState::Closed {
            return Err(RequestError::Closed);
        }
        if !self.pending.has_room() {
            return Err(RequestError::TooMany);
        }
        let longest = ClientToWorld {
            request: u64::MAX,
            body: Some(request.to_body()),
        };
        if longest.encoded_len() > MAX_TO_WORLD {
            return Err(RequestError::LineTooLong);
        }
        if let LobbyRequest::ListRooms { subscribe } = request {
            self.subscribed = subscribe;
        }
        Ok(self.add_question(LobbyQuestion::Player(request)))
    }

    /// Asks for another ticket to the game of the player's room; the answer is `Ticket` or
    /// `NoTicket`.
    pub fn request_ticket(&mut self) {
        if !self.is_closed() && !self.pending.has_ticket_question() {
            self.add_question(LobbyQuestion::Ticket);
        }
    }

    /// Ends the session, the player's seat included.
    pub fn quit(&mut self) {
        if self.state == LobbyState::Ready && self.room.is_some() {
            self.add_question(LobbyQuestion::Player(LobbyRequest::LeaveRoom));
        }
        self.finish(codes::QUIT.to_owned(), "the player quit".to_owned());
    }

    /// Ends the session for a reason of the client's own.
    pub fn fail(&mut self, code: &str, message: String) {
        self.finish(code.to_owned(), message);
    }

    /// The call was taken.
    pub fn handle_connected(&mut self, now: LocalTime) {
        if self.state != LobbyState::Connecting {
            return;
        }
        self.state = LobbyState::Greeting {
            deadline: now + HELLO_TIMEOUT,
        };
        let hello = pb::Hello {
            version: WORLD_VERSION,
            name: self.name.clone(),
            resume_token: self.resume_token.clone(),
            agent: self.agent.clone(),
        };
        let request = self.pending.next_number();
        self.outputs.push_back(LobbyOutput::Send(ClientToWorld {
            request,
            body: Some(Ask::Hello(hello)),
        }));
    }

    /// The connection is gone, or never came about.
    pub fn handle_closed(&mut self, now: LocalTime, ending: CloseReason) {
        match (self.state, ending) {
            (LobbyState::New | LobbyState::Pausing { .. } | LobbyState::Closed, _) => {}
            (_, CloseReason::Final { code, message }) => self.finish(code, message),
            // A server that was never reached is not called again: whoever started this looks for
            // the mistake now.
            (_, CloseReason::Busy { code, message }) => {
                // It lives: the same one again.
                let same = self
                    .servers
                    .iter()
                    .find(|server| server.address == self.dialled_address)
                    .cloned();
                self.handle_connection_lost(now, &code, message);
                self.next_server = same.or(self.next_server.take());
            }
            (LobbyState::Connecting, CloseReason::Broken(reason)) => {
                self.handle_connection_lost(now, codes::COULD_NOT_CONNECT, reason)
            }
            (_, CloseReason::Broken(reason)) => {
                self.handle_connection_lost(now, codes::CONNECTION_LOST, reason)
            }
        }
    }

    /// A message on the control stream.
    pub fn handle_message(&mut self, now: LocalTime, message: WorldToClient) {
        let request = message.request;
        match (self.state, message.body) {
            (LobbyState::Greeting { .. }, Some(Told::Welcome(welcome))) => {
                self.handle_welcome(now, welcome)
            }
            (LobbyState::Greeting { .. }, Some(Told::Error(error))) => {
                self.handle_refused_hello(now, &error)
            }
            (LobbyState::Greeting { .. } | LobbyState::Ready, Some(Told::Goodbye(goodbye))) => {
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
            LobbyState::Greeting { deadline } if now >= deadline => {
                self.outputs.push_back(LobbyOutput::Close);
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
            LobbyState::New | LobbyState::Connecting | LobbyState::Ready | LobbyState::Closed => {
                None
            }
        }
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<LobbyOutput> {
        self.outputs.pop_front()
    }

    /// Whether requests are answered now.
    pub fn is_ready(&self) -> bool {
        self.state == LobbyState::Ready
    }

    /// Whether the session is over.
    pub fn is_closed(&self) -> bool {
        self.state == LobbyState::Closed
    }

    /// The room that the player is in.
    pub fn room(&self) -> Option<RoomId> {
        self.room
    }

    /// The player's number, once welcomed.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// The name in use; before the welcome, the wanted one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whom the next call goes to; `Unchanged` for the server that the owner was given.
    pub fn server(&self) -> Option<&ClusterServer> {
        self.next_server.as_ref()
    }

    /// The owner is calling that address.
    pub fn note_dialled_address(&mut self, address: &str) {
        address.clone_into(&mut self.dialled_address);
    }

    /// How often the server is to be asked whether it lives, while there is a connection.
    pub fn probe_every(&self) -> Option<Duration> {
        self.probe_every.filter(|_| self.state == LobbyState::Ready)
    }

    /// Secret: with it, another connection can take the session over.
    pub fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    fn handle_welcome(&mut self, now: LocalTime, welcome: pb::Welcome) {
        let room = welcome.room.map(RoomId);
        let lost = self.room.filter(|_| room.is_none());
        let grace = Duration::from_millis(welcome.grace_ms.into());
        let why = lost_seat_reason(
            welcome.resumed,
            self.broken_since.map(|since| now.since(since)),
            grace,
        );
        self.state = LobbyState::Ready;
        self.backoff.succeed();
        self.broken_since = None;
        self.player = Some(PlayerId(welcome.player));
        self.name.clone_from(&welcome.name);
        self.resume_token = welcome.resume_token;
        self.note_servers(welcome.servers.unwrap_or_default());
        self.emit(ViewEvent::Welcome(Welcome {
            player: PlayerId(welcome.player),
            name: welcome.name,
            resumed: welcome.resumed,
            room,
            grace,
            games: welcome.games.into_iter().map(Into::into).collect(),
        }));
        if let Some(room) = lost {
            self.emit_left(0, room, codes::SESSION_EXPIRED.to_owned(), why.to_owned());
        }
        self.room = room;
        self.resubscribe();
        self.send_pending();
    }

    fn handle_refused_hello(&mut self, now: LocalTime, error: &pb::Error) {
        let code = protocol::name_of_error(error);
        let version = error.code() == pb::ErrorCode::VersionMismatch;
        self.outputs.push_back(LobbyOutput::Close);
        if self.player.is_none() || version {
            self.finish(code, error.message.clone());
        } else {
            self.handle_connection_lost(now, &code, error.message.clone());
        }
    }

    /// The game goes first, so that its objects have left when the views hear of the room.
    fn emit_left(&mut self, request: u64, room: RoomId, code: String, message: String) {
        self.outputs.push_back(LobbyOutput::OutOfRoom);
        self.emit(ViewEvent::OmittedPoses {
            request,
            room,
            code,
            message,
        });
    }

    /// Of those that name no good certificate nothing is believed.
    pub(super) fn note_servers(&mut self, told: pb::Servers) {
        self.probe_every = Some(Duration::from_millis(told.probe_ms.into()))
            .filter(|every| *every > Duration::ZERO);
        let named = told.servers.into_iter().take(MAX_SERVERS);
        let good = named.filter_map(|server| {
            let certificate_sha256 = server.certificate_sha256.try_into().ok()?;
            Some(ClusterServer {
                address: server.address,
                certificate_sha256,
            })
        });
        self.servers = good.collect();
    }

    /// The one that was called last is not there: the next one of the cluster is asked, if there is
    /// one.
    fn select_next_server(&mut self) {
        let last = self
            .servers
            .iter()
            .position(|server| server.address == self.dialled_address);
        let next = last.map_or(0, |last| last + 1) % self.servers.len().max(1);
        self.next_server = self.servers.get(next).cloned();
    }

    fn dial(&mut self) {
        self.state = LobbyState::Connecting;
        self.emit(ViewEvent::Connection(ConnectionStatus::Connecting {
            attempt: self.backoff.failures() + 1,
        }));
        self.outputs.push_back(LobbyOutput::Connect);
    }

    /// There is no connection: the end for a player who was never welcomed, a pause for others.
    fn handle_connection_lost(&mut self, now: LocalTime, code: &str, reason: String) {
        if self.player.is_none() {
            self.finish(code.to_owned(), reason)
        } else {
            self.reconnect_after_pause(now, reason)
        }
    }

    fn reconnect_after_pause(&mut self, now: LocalTime, reason: String) {
        for (number, request) in self.pending.handle_connection_lost() {
            let message = format!(
                "asked to {}, and the connection broke: unknown whether it was done",
                request.description()
            );
            self.emit_error(
                ErrorSubject::Request(number),
                codes::CONNECTION_LOST.to_owned(),
                message,
            );
        }
        self.select_next_server();
        let since = *self.broken_since.get_or_insert(now);
        let retry_in = self.backoff.fail();
        if now + retry_in >= since + self.reconnect_for {
            let message = format!(
                "{reason}; gave up after {} attempts",
                self.backoff.failures()
            );
            return self.finish(codes::CONNECTION_LOST.to_owned(), message);
        }
        self.state = LobbyState::Pausing {
            until: now + retry_in,
        };
        self.emit(ViewEvent::Connection(ConnectionStatus::Broken {
            reason,
            retry_in,
        }));
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
        self.outputs.extend(
            self.pending
                .take_unsent()
                .into_iter()
                .map(LobbyOutput::Send),
        );
    }

    fn emit_error(&mut self, about: ErrorSubject, code: String, message: String) {
        self.emit(ViewEvent::Error(Failure {
            subject: about,
            code,
            message,
        }));
    }

    fn emit(&mut self, event: ViewEvent) {
        self.outputs.push_back(LobbyOutput::View(event));
    }
}

/// What has become of the seat of a player who is back, and what to do; a server keeps sessions for
/// `grace`, unless it is another one.
fn lost_seat_reason(resumed: bool, broken: Option<Duration>, grace: Duration) -> &'static str {
    if resumed {
        "the seat was given up while the connection was broken; join the room anew if it is still there"
    } else if broken.is_some_and(|broken| broken < grace) {
        "the server was restarted and knows nothing of rooms and sessions before; make a room anew, or join one"
    } else {
        "the session ran out while the connection was broken, or the server was restarted; join the room anew if it is \
         still there, else make one"
    }
}
