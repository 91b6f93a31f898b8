//! The client's half of the lobby protocol.
//!
//! What happens to the connection, messages, requests and the time go in; messages, events and what
//! the game part has to know come out of [`LobbySession::poll_output`]. No socket and no clock: the
//! owner opens and closes connections when told.
//!
//! Invariants:
//! 1. Nothing but `Hello` is sent before `Welcome`; requests wait, in the order in which they were
//!    made.
//! 2. Each request is told its end exactly once: an answer, an error, or the session's end for all
//!    of them.
//! 3. A connection that breaks is called again with the resume token, with growing pauses, until
//!    `reconnect_for` is over. What the server has ended on purpose (`Goodbye`) is not called
//!    again, nor is a server that could not be reached once.
//! 4. After a reconnect only requests that may be repeated are asked again.
//!
//! Source: `proto/ambit/world.proto`; design, section 3.

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
use super::event::{About, Connection, Failure, ViewEvent, Welcome, codes};
use super::model::{Player, Ticket};
use super::pending::{PENDING, Pending, Question};
use super::request::Request;

/// How long the server may take to answer `Hello`.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// The first and the longest pause before calling again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Servers of a cluster that are remembered.
const MOST_SERVERS: usize = 64;

/// How a connection ended, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
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
    /// Call the server; then `handle_connected` or `handle_closed`.
    Connect,
    /// Send this on the control stream.
    Send(ClientToWorld),
    /// Close the connection; no `handle_closed` for it any more.
    Close,
    /// Tell the views.
    View(ViewEvent),
    /// The way into the game of the player's room.
    Ticket(Ticket),
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
    #[error("{PENDING} requests wait for an answer already")]
    TooMany,
    /// The request is longer than a message may be.
    #[error("a request has at most {MAX_TO_WORLD} bytes")]
    TooLong,
}

/// One WorldServer of a cluster, as another one has named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
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
    roster: Vec<Player>,
    subscribed: bool,
    /// Of a cluster: where the session can be resumed, and how often the server is asked whether it
    /// lives.
    servers: Vec<Server>,
    probe_every: Option<Duration>,
    /// Where the present or the last call went, and the next one goes; the configured server where
    /// there is none.
    called: String,
    next: Option<Server>,
    state: State,
    /// Since when there is no lobby, for invariant 3.
    broken_since: Option<LocalTime>,
    backoff: Backoff,
    pending: Pending,
    outputs: VecDeque<LobbyOutput>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has been tried yet.
    New,
    /// The owner is calling.
    Connecting,
    /// `Hello` is under way.
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
            called: String::new(),
            next: None,
            state: State::New,
            broken_since: None,
            backoff: Backoff::new(PAUSES.0, PAUSES.1, config.seed),
            pending: Pending::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Calls the server for the first time.
    pub fn connect(&mut self) {
        if self.state == State::New {
            self.call();
        }
    }

    /// Asks something; the answer is an event with the number that this returns.
    pub fn request(&mut self, request: Request) -> Result<u64, RequestError> {
        if self.state == State::Closed {
            return Err(RequestError::Closed);
        }
        if !self.pending.has_room() {
            return Err(RequestError::TooMany);
        }
        let longest = ClientToWorld {
            request: u64::MAX,
            body: Some(request.body()),
        };
        if longest.encoded_len() > MAX_TO_WORLD {
            return Err(RequestError::TooLong);
        }
        if let Request::ListRooms { subscribe } = request {
            self.subscribed = subscribe;
        }
        Ok(self.ask(Question::Player(request)))
    }

    /// Asks for another ticket to the game of the player's room; the answer is `Ticket` or
    /// `NoTicket`.
    pub fn request_ticket(&mut self) {
        if !self.is_closed() && !self.pending.asks_for_ticket() {
            self.ask(Question::Ticket);
        }
    }

    /// Ends the session, the player's seat included.
    pub fn quit(&mut self) {
        if self.state == State::Ready && self.room.is_some() {
            self.ask(Question::Player(Request::LeaveRoom));
        }
        self.finish(codes::QUIT.to_owned(), "the player quit".to_owned());
    }

    /// Ends the session for a reason of the client's own.
    pub fn fail(&mut self, code: &str, message: String) {
        self.finish(code.to_owned(), message);
    }

    /// The call was taken.
    pub fn handle_connected(&mut self, now: LocalTime) {
        if self.state != State::Connecting {
            return;
        }
        self.state = State::Greeting {
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
    pub fn handle_closed(&mut self, now: LocalTime, ending: Ending) {
        match (self.state, ending) {
            (State::New | State::Pausing { .. } | State::Closed, _) => {}
            (_, Ending::Final { code, message }) => self.finish(code, message),
            // A server that was never reached is not called again: whoever started this looks for
            // the mistake now.
            (_, Ending::Busy { code, message }) => {
                // It lives: the same one again.
                let same = self
                    .servers
                    .iter()
                    .find(|server| server.address == self.called)
                    .cloned();
                self.break_off(now, &code, message);
                self.next = same.or(self.next.take());
            }
            (State::Connecting, Ending::Broken(reason)) => {
                self.break_off(now, codes::COULD_NOT_CONNECT, reason)
            }
            (_, Ending::Broken(reason)) => self.break_off(now, codes::CONNECTION_LOST, reason),
        }
    }

    /// A message on the control stream.
    pub fn handle_message(&mut self, now: LocalTime, message: WorldToClient) {
        let request = message.request;
        match (self.state, message.body) {
            (State::Greeting { .. }, Some(Told::Welcome(welcome))) => {
                self.handle_welcome(now, welcome)
            }
            (State::Greeting { .. }, Some(Told::Error(error))) => {
                self.handle_refused_hello(now, &error)
            }
            (State::Greeting { .. } | State::Ready, Some(Told::Goodbye(goodbye))) => {
                self.finish(protocol::name_of_number(goodbye.code), goodbye.message);
            }
            (State::Ready, Some(body)) => self.handle_body(request, body),
            (State::Ready, None) => self.handle_unknown(request),
            _ => {}
        }
    }

    /// Some deadline has passed.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        match self.state {
            State::Pausing { until } if now >= until => self.call(),
            State::Greeting { deadline } if now >= deadline => {
                self.outputs.push_back(LobbyOutput::Close);
                let seconds = HELLO_TIMEOUT.as_secs();
                self.break_off(
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
            State::Pausing { until } => Some(until),
            State::Greeting { deadline } => Some(deadline),
            State::New | State::Connecting | State::Ready | State::Closed => None,
        }
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<LobbyOutput> {
        self.outputs.pop_front()
    }

    /// Whether requests are answered now.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether the session is over.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
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

    /// Whom the next call goes to; `None` for the server that the owner was given.
    pub fn server(&self) -> Option<&Server> {
        self.next.as_ref()
    }

    /// The owner is calling that address.
    pub fn calling(&mut self, address: &str) {
        address.clone_into(&mut self.called);
    }

    /// How often the server is to be asked whether it lives, while there is a connection.
    pub fn probe_every(&self) -> Option<Duration> {
        self.probe_every.filter(|_| self.state == State::Ready)
    }

    /// Secret: with it, another connection can take the session over.
    pub fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    fn handle_welcome(&mut self, now: LocalTime, welcome: pb::Welcome) {
        let room = welcome.room.map(RoomId);
        let lost = self.room.filter(|_| room.is_none());
        let grace = Duration::from_millis(welcome.grace_ms.into());
        let why = why_seat_is_gone(
            welcome.resumed,
            self.broken_since.map(|since| now.since(since)),
            grace,
        );
        self.state = State::Ready;
        self.backoff.succeed();
        self.broken_since = None;
        self.player = Some(PlayerId(welcome.player));
        self.name.clone_from(&welcome.name);
        self.resume_token = welcome.resume_token;
        self.note_servers(welcome.servers.unwrap_or_default());
        self.view(ViewEvent::Welcome(Welcome {
            player: PlayerId(welcome.player),
            name: welcome.name,
            resumed: welcome.resumed,
            room,
            grace,
            games: welcome.games.into_iter().map(Into::into).collect(),
        }));
        if let Some(room) = lost {
            self.leave(0, room, codes::SESSION_EXPIRED.to_owned(), why.to_owned());
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
            self.break_off(now, &code, error.message.clone());
        }
    }

    /// The game goes first, so that its objects have left when the views hear of the room.
    fn leave(&mut self, request: u64, room: RoomId, code: String, message: String) {
        self.outputs.push_back(LobbyOutput::OutOfRoom);
        self.view(ViewEvent::Left {
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
        let named = told.servers.into_iter().take(MOST_SERVERS);
        let good = named.filter_map(|server| {
            let certificate_sha256 = server.certificate_sha256.try_into().ok()?;
            Some(Server {
                address: server.address,
                certificate_sha256,
            })
        });
        self.servers = good.collect();
    }

    /// The one that was called last is not there: the next one of the cluster is asked, if there is
    /// one.
    fn turn_to_next(&mut self) {
        let last = self
            .servers
            .iter()
            .position(|server| server.address == self.called);
        let next = last.map_or(0, |last| last + 1) % self.servers.len().max(1);
        self.next = self.servers.get(next).cloned();
    }

    fn call(&mut self) {
        self.state = State::Connecting;
        self.view(ViewEvent::Connection(Connection::Connecting {
            attempt: self.backoff.failures() + 1,
        }));
        self.outputs.push_back(LobbyOutput::Connect);
    }

    /// There is no connection: the end for a player who was never welcomed, a pause for others.
    fn break_off(&mut self, now: LocalTime, code: &str, reason: String) {
        if self.player.is_none() {
            self.finish(code.to_owned(), reason)
        } else {
            self.pause(now, reason)
        }
    }

    fn pause(&mut self, now: LocalTime, reason: String) {
        for (number, request) in self.pending.break_off() {
            let message = format!(
                "asked to {}, and the connection broke: unknown whether it was done",
                request.what()
            );
            self.error(
                About::Request(number),
                codes::CONNECTION_LOST.to_owned(),
                message,
            );
        }
        self.turn_to_next();
        let since = *self.broken_since.get_or_insert(now);
        let retry_in = self.backoff.fail();
        if now + retry_in >= since + self.reconnect_for {
            let message = format!(
                "{reason}; gave up after {} attempts",
                self.backoff.failures()
            );
            return self.finish(codes::CONNECTION_LOST.to_owned(), message);
        }
        self.state = State::Pausing {
            until: now + retry_in,
        };
        self.view(ViewEvent::Connection(Connection::Broken {
            reason,
            retry_in,
        }));
    }

    fn finish(&mut self, code: String, message: String) {
        if self.state == State::Closed {
            return;
        }
        if matches!(
            self.state,
            State::Connecting | State::Greeting { .. } | State::Ready
        ) {
            self.outputs.push_back(LobbyOutput::Close);
        }
        self.state = State::Closed;
        self.room = None;
        self.pending.clear();
        self.outputs.push_back(LobbyOutput::Finished(code, message));
    }

    fn resubscribe(&mut self) {
        if self.subscribed && !self.pending.asks_for_rooms() {
            self.ask(Question::Subscription);
        }
    }

    fn ask(&mut self, question: Question) -> u64 {
        let number = self.pending.add(question);
        if self.state == State::Ready {
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

    fn error(&mut self, about: About, code: String, message: String) {
        self.view(ViewEvent::Error(Failure {
            about,
            code,
            message,
        }));
    }

    fn view(&mut self, event: ViewEvent) {
        self.outputs.push_back(LobbyOutput::View(event));
    }
}

/// What has become of the seat of a player who is back, and what to do; a server keeps sessions for
/// `grace`, unless it is another one.
fn why_seat_is_gone(resumed: bool, broken: Option<Duration>, grace: Duration) -> &'static str {
    if resumed {
        "the seat was given up while the connection was broken; join the room anew if it is still there"
    } else if broken.is_some_and(|broken| broken < grace) {
        "the server was restarted and knows nothing of rooms and sessions before; make a room anew, or join one"
    } else {
        "the session ran out while the connection was broken, or the server was restarted; join the room anew if it is \
         still there, else make one"
    }
}
