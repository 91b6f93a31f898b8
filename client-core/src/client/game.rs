//! The client's half of a game connection: from a ticket to a running replica, and back after a
//! break.
//!
//! Tickets, what happens to the connection, messages, datagrams and the time go in; messages,
//! datagrams and events come out of [`GameSession::poll_output`]. No socket and no clock.
//!
//! Invariants:
//! 1. At most one game connection at a time; everything that belongs to it (link, clock, replica)
//!    goes with it, and its objects leave before anything of the next one enters.
//! 2. A connection that breaks is made again with a fresh ticket, with growing pauses,
//!    `game_attempts` times in a row; then the player is told and stays in the lobby. A lobby that
//!    is away costs no attempt: without a ticket there is none.
//! 3. Command numbers ascend over reconnects; where they begin depends on the client's seed.
//! 4. A ticket of a later incarnation says that the room goes on at another host: the player goes
//!    there at once, and sees what is known of the room until the first word from there. What is
//!    commanded meanwhile waits, and what was not confirmed is said again; unless it is another
//!    map, where all that means nothing.
//!
//! PoseSource: `proto/ambit/game.proto`; design, section 3.

use std::collections::VecDeque;
use std::time::Duration;

use ambit_proto::codes as protocol;
use ambit_proto::control::game::client_to_game::Body as Ask;
use ambit_proto::control::game::game_to_client::Body as Told;
use ambit_proto::control::game::{self as pb, ClientToGame, GameToClient};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::{self, Action, Command};
use ambit_proto::time::LocalTime;
use bytes::Bytes;

use super::backoff::Backoff;
use super::config::ClientConfig;
use super::event::{ConnectionStatus, GameStarted, ViewEvent, codes};
use super::lobby::CloseReason;
use super::model::GameTicket;
use super::rules::Rules;
use super::running_game::{GameSettings, RunningGame};
use super::stats::ClientStats;
use crate::replica::PoseDecoding;
use crate::replica::factory::ViewFactory;

/// How long the host may take to answer `Join`.
const JOIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the lobby may take to answer a request for a ticket before it is asked again.
const TICKET_TIMEOUT: Duration = Duration::from_secs(5);
/// The first and the longest pause before another attempt.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(3));
/// A connection that has lived this long was a success: attempts are counted anew.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// Commands that wait for another host.
const MAX_PENDING_COMMANDS: usize = 64;
/// Confirmed commands that wait to be asked for; more than are sent between two looks.
const MAX_CONFIRMED: usize = 256;
/// A game that was silent for this long is given up when the lobby offers a ticket: hosts answer a
/// ping every 3 s at least.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);

/// What the game part wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum GameOutput {
    /// SidecarCall the host; then `handle_connected` or `handle_closed`.
    Connect {
        /// `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
        address: String,
        /// SHA-256 of the certificate that the host has to show.
        certificate_sha256: [u8; 32],
    },
    /// Send this on the control stream.
    Send(ClientToGame),
    /// Send this datagram.
    Datagram(Bytes),
    /// Close the connection, after what was sent has left; no `handle_closed` for it any more.
    Close,
    /// Tell the views.
    View(ViewEvent),
    /// Ask the lobby for a ticket.
    RequestTicket,
}

/// A command that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is no game.
    #[error("not in a game")]
    NotPlaying,
    /// Too many commands wait for the host: it confirms nothing.
    #[error("too many commands wait for the game host")]
    TooMany,
    /// The player is on the way to another map.
    #[error("on the way to another map; wait until it is there")]
    ChangingMap,
    /// The action is longer than a message may be.
    #[error("an action has at most {} bytes", message::MAX_CUSTOM_BYTES)]
    LineTooLong,
}

/// The game connection of a player, with what is known through it.
pub struct GameSession<F: ViewFactory> {
    factory: F,
    max_attempts: u32,
    settings: GameSettings,
    /// What the player holds, also while a broken connection is made anew; none if nothing is told
    /// of it.
    held_keys: Option<Keymap>,
    /// Whether views are told of poses.
    watching: bool,
    state: GameState<F::View>,
    backoff: Backoff,
    last_id: u32,
    last_command: u32,
    /// Whether the player has been in this room's game before: then the next start is one again.
    has_started: bool,
    /// Of the host that was called last.
    incarnation: u32,
    /// The map that it runs.
    map: u32,
    /// Whether what is shown is another map than that.
    changes_map: bool,
    /// What is shown of a room that goes on elsewhere, until that host is heard.
    previous_game: Option<Box<RunningGame<F::View>>>,
    /// What was commanded meanwhile.
    pending_commands: Vec<Command>,
    out: GameResults,
}

/// Where results go.
#[derive(Debug, Default)]
pub struct GameResults {
    /// What is to be done.
    pub outputs: VecDeque<GameOutput>,
    /// What was counted.
    pub stats: ClientStats,
    /// When something fresh was last heard; over reconnects, since a gap is a gap.
    pub last_fresh_at: Option<LocalTime>,
    /// Whether the room is going on elsewhere, and nothing fresh has come from there.
    is_moving: bool,
    /// What the host last said of commands, until it is asked for.
    commands: Option<pb::Commands>,
    /// Commands that have arrived, and that nobody has asked for yet; the newest
    /// [`MAX_CONFIRMED`].
    confirmed: VecDeque<u32>,
}

impl GameResults {
    /// Something fresh has come.
    pub fn note_fresh_data(&mut self, now: LocalTime) {
        let Some(before) = self.last_fresh_at.replace(now) else {
            return;
        };
        self.stats.gaps.add(now.since(before));
        if std::mem::take(&mut self.is_moving) {
            self.stats.move_gaps.add(now.since(before));
        }
    }

    /// The host has confirmed a command.
    pub fn report_confirmed(&mut self, number: u32) {
        self.stats.confirmed += 1;
        if self.confirmed.len() == MAX_CONFIRMED {
            self.confirmed.pop_front();
        }
        self.confirmed.push_back(number);
    }
}

enum GameState<V> {
    /// No game.
    NoGame,
    /// A game, but no ticket: one is asked for at `ask_at`.
    AwaitingTicket { ask_at: LocalTime },
    /// The owner is calling.
    Connecting(GameTicket),
    /// `Join` is under way since `since`.
    Joining {
        ticket: GameTicket,
        since: LocalTime,
    },
    /// In the game.
    Playing(Box<RunningGame<V>>),
}

impl<F: ViewFactory> GameSession<F> {
    /// No game yet.
    pub fn new(config: &ClientConfig, factory: F) -> Self {
        GameSession {
            factory,
            max_attempts: config.game_attempts,
            settings: GameSettings {
                mode: if config.light {
                    PoseDecoding::Light
                } else {
                    PoseDecoding::Full
                },
                render: config.render,
                inputs: config.inputs,
                predict: config.predict,
                last_id: 0,
            },
            held_keys: None,
            watching: false,
            state: GameState::NoGame,
            // Another stream than the lobby part's, from the same seed.
            backoff: Backoff::new(RETRY_PAUSES.0, RETRY_PAUSES.1, !config.seed),
            last_id: 0,
            // The numbers of two clients of a player, one after the other, are not to be taken for
            // each other.
            last_command: 1_000
                * ((config.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 1_000) as u32,
            has_started: false,
            incarnation: 0,
            map: 0,
            changes_map: false,
            previous_game: None,
            pending_commands: Vec::new(),
            out: GameResults::default(),
        }
    }

    /// The lobby has given a ticket, asked or not.
    pub fn handle_ticket(&mut self, now: LocalTime, ticket: GameTicket) {
        let is_elsewhere = ticket.incarnation > self.incarnation;
        match &self.state {
            GameState::NoGame | GameState::AwaitingTicket { .. } => self.connect_to_host(ticket),
            GameState::Connecting(_) | GameState::Joining { .. } if is_elsewhere => {
                if ticket.map != self.map {
                    (self.changes_map, self.pending_commands) = (true, Vec::new());
                }
                self.push_output(GameOutput::Close);
                self.connect_to_host(ticket);
            }
            GameState::Playing(_) if is_elsewhere => {
                if let GameState::Playing(play) =
                    std::mem::replace(&mut self.state, GameState::NoGame)
                {
                    self.changes_map = ticket.map != self.map;
                    if !self.changes_map {
                        // The next host knows which of them the last one has carried out.
                        self.pending_commands = play.unconfirmed(now);
                        self.out.stats.commands -= self.pending_commands.len() as u64;
                    }
                    self.previous_game = Some(play);
                    self.out.stats.moves += 1;
                    self.out.is_moving = true;
                }
                self.push_output(GameOutput::Close);
                self.connect_to_host(ticket);
            }
            GameState::Playing(play) if now.since(play.last_received_at()) > SILENCE_LIMIT => {
                self.close_running_game(now);
                self.push_output(GameOutput::Close);
                self.connect_to_host(ticket);
            }
            // The connection that there is will do.
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {}
        }
    }

    /// The lobby gives no ticket.
    pub fn handle_no_ticket(&mut self, code: String, message: String) {
        if matches!(
            self.state,
            GameState::NoGame | GameState::AwaitingTicket { .. }
        ) {
            self.state = GameState::NoGame;
            self.emit(ViewEvent::Connection(ConnectionStatus::GameClosed {
                code,
                message,
            }));
        }
    }

    /// The player is out of the room, or the session goes on elsewhere: the end of the game without
    /// another attempt. It is the lobby that tells the host who has left; a `Leave` from here would
    /// throw out whoever took the session over.
    pub fn leave(&mut self, now: LocalTime) {
        self.close_running_game(now);
        match std::mem::replace(&mut self.state, GameState::NoGame) {
            GameState::NoGame | GameState::AwaitingTicket { .. } => {}
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {
                self.push_output(GameOutput::Close)
            }
        }
        self.backoff.succeed();
        (self.has_started, self.held_keys, self.incarnation) = (false, None, 0);
        (self.out.last_fresh_at, self.out.is_moving) = (None, false);
    }

    /// Sends a command; if it is refused, an error event tells so under the number that this
    /// returns.
    pub fn command(&mut self, now: LocalTime, action: Action) -> Result<u32, CommandError> {
        if matches!(&action, Action::Custom(bytes) if bytes.len() > message::MAX_CUSTOM_BYTES) {
            return Err(CommandError::LineTooLong);
        }
        let number = self.last_command.wrapping_add(1);
        let command = Command { number, action };
        match &mut self.state {
            GameState::Playing(play) => play.command(now, command, &mut self.out)?,
            _ if self.previous_game.is_none() => return Err(CommandError::NotPlaying),
            _ if self.changes_map => return Err(CommandError::ChangingMap),
            _ if self.pending_commands.len() >= MAX_PENDING_COMMANDS => {
                return Err(CommandError::TooMany);
            }
            _ => self.pending_commands.push(command),
        }
        self.last_command = number;
        Ok(number)
    }

    /// From now on these keys are held, also over a reconnect. Without a game, nothing is.
    pub fn input(&mut self, now: LocalTime, keys: Keymap) {
        if let GameState::Playing(play) = &mut self.state {
            self.held_keys = Some(keys);
            play.input(now, keys, &mut self.out);
        }
    }

    /// All keys are let go.
    pub fn release(&mut self, now: LocalTime) {
        self.held_keys = None;
        if let GameState::Playing(play) = &mut self.state {
            play.release(now, &mut self.out);
        }
    }

    /// Whether views are told of each pose from now on, in this game and in others.
    pub fn watch(&mut self, on: bool) {
        self.watching = on;
        if let GameState::Playing(play) = &mut self.state {
            play.replica_mut().watch(on);
        }
    }

    /// Asks the host which commands were carried out; see [`GameSession::take_commands`].
    pub fn ask_commands(&mut self) {
        if let GameState::Playing(_) = self.state {
            self.send(Ask::AskCommands(pb::AskCommands {}));
        }
    }

    /// The host's newest answer to that, if there is one since the last call.
    pub fn take_commands(&mut self) -> Option<pb::Commands> {
        self.out.commands.take()
    }

    /// Adds the present ages of what is in sight to the figures.
    pub fn sample_ages(&mut self, now: LocalTime) {
        if let GameState::Playing(play) = &self.state {
            play.sample_ages(now, &mut self.out.stats.ages);
        }
    }

    /// The call was taken.
    pub fn handle_connected(&mut self, now: LocalTime) {
        match std::mem::replace(&mut self.state, GameState::NoGame) {
            GameState::Connecting(ticket) => {
                let join = pb::Join {
                    version: message::VERSION,
                    ticket: ticket.ticket.clone(),
                };
                self.send(Ask::Join(join));
                self.state = GameState::Joining { ticket, since: now };
            }
            other => self.state = other,
        }
    }

    /// The connection is gone, or never came about.
    pub fn handle_closed(&mut self, now: LocalTime, ending: CloseReason) {
        let (CloseReason::Broken(reason)
        | CloseReason::Busy {
            message: reason, ..
        }
        | CloseReason::Final {
            message: reason, ..
        }) = ending;
        match self.state {
            GameState::NoGame | GameState::AwaitingTicket { .. } => {}
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {
                self.fail(now, reason)
            }
        }
    }

    /// A message on the control stream.
    pub fn handle_message(&mut self, now: LocalTime, message: GameToClient) {
        match (&self.state, message.body) {
            (GameState::Joining { .. }, Some(Told::Joined(joined))) => {
                self.handle_joined(now, joined)
            }
            // A ticket may be stale; the next one is not.
            (GameState::Joining { .. }, Some(Told::Error(error))) => {
                self.push_output(GameOutput::Close);
                self.fail(now, error.message);
            }
            (GameState::Playing(_), Some(Told::Error(error))) => {
                let (code, message) = (protocol::name_of_error(&error), error.message);
                self.end(now, code, message);
            }
            (GameState::Playing(_), Some(Told::Commands(commands))) => {
                self.out.commands = Some(commands)
            }
            // By the player's own wish: the lobby's answer is under way, and tells the views.
            (
                GameState::Joining { .. } | GameState::Playing(_),
                Some(Told::Out(pb::Out { reason: 0, .. })),
            ) => self.leave(now),
            (GameState::Joining { .. } | GameState::Playing(_), Some(Told::Out(out))) => {
                self.end(now, protocol::name_of_number(out.reason), out.message);
            }
            _ => {}
        }
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: LocalTime, datagram: &[u8]) {
        if let GameState::Playing(play) = &mut self.state {
            play.handle_datagram(now, datagram, &mut self.factory, &mut self.out);
        }
    }

    /// Some deadline has passed.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        match &mut self.state {
            GameState::AwaitingTicket { ask_at } if now >= *ask_at => {
                *ask_at = now + TICKET_TIMEOUT;
                self.push_output(GameOutput::RequestTicket);
            }
            GameState::Joining { since, .. } if now >= *since + JOIN_TIMEOUT => {
                self.push_output(GameOutput::Close);
                let seconds = JOIN_TIMEOUT.as_secs();
                self.fail(
                    now,
                    format!("the game host did not answer within {seconds} s"),
                );
            }
            GameState::Playing(play) => play.handle_timeout(now, &mut self.factory, &mut self.out),
            _ => {}
        }
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        match &self.state {
            GameState::NoGame | GameState::Connecting(_) => None,
            GameState::AwaitingTicket { ask_at } => Some(*ask_at),
            GameState::Joining { since, .. } => Some(*since + JOIN_TIMEOUT),
            GameState::Playing(play) => play.next_deadline(),
        }
    }

    /// What is to be done next.
    pub fn poll_output(&mut self) -> Option<GameOutput> {
        self.out.outputs.pop_front()
    }

    /// The game, while the player is in it.
    pub fn running_game(&self) -> Option<&RunningGame<F::View>> {
        match &self.state {
            GameState::Playing(play) => Some(play),
            _ => self.previous_game.as_deref(),
        }
    }

    /// The game, while the player is in it.
    pub fn running_game_mut(&mut self) -> Option<&mut RunningGame<F::View>> {
        match &mut self.state {
            GameState::Playing(play) => Some(play),
            _ => self.previous_game.as_deref_mut(),
        }
    }

    /// What was counted so far.
    pub fn stats(&self) -> ClientStats {
        let rtt = self
            .running_game()
            .and_then(RunningGame::rtt)
            .or(self.out.stats.rtt);
        let mut stats = ClientStats {
            rtt,
            ..self.out.stats.clone()
        };
        if let Some(play) = self.running_game() {
            stats.simulation.merge(&play.simulation_stats());
        }
        stats
    }

    /// The numbers of commands that the host has confirmed since the last call: it has taken them,
    /// whatever becomes of it. Over reconnects.
    pub fn take_confirmed(&mut self) -> impl Iterator<Item = u32> {
        self.out.confirmed.drain(..)
    }

    /// When something fresh was last heard, in this room.
    pub fn last_fresh_at(&self) -> Option<LocalTime> {
        self.out.last_fresh_at
    }

    fn handle_joined(&mut self, now: LocalTime, joined: pb::Joined) {
        let GameState::Joining { since, ticket } = &self.state else {
            return;
        };
        let (since, room, map_number, address) =
            (*since, ticket.room, ticket.map, ticket.address.clone());
        let rules = match Rules::try_from(joined) {
            Ok(rules) => rules,
            Err(bad) => return self.end(now, codes::BAD_MESSAGE.to_owned(), bad.to_string()),
        };
        self.close_previous_game(now);
        let again = std::mem::replace(&mut self.has_started, true);
        let mut play = Box::new(RunningGame::new(
            now,
            since,
            rules,
            GameSettings {
                last_id: self.last_id,
                ..self.settings
            },
        ));
        play.replica_mut().watch(self.watching);
        self.emit(ViewEvent::GameStarted(GameStarted {
            room,
            address,
            is_rejoin: again,
            map_number,
            t: play.room_time(now),
            delay: play.rules().delay,
            tick_hz: play.rules().tick_hz,
            map: play.rules().map,
            game: play.rules().schema.game.clone(),
            spells: play.rules().schema.spells.clone(),
        }));
        self.out.stats.starts += 1;
        self.out.last_fresh_at.get_or_insert(now);
        if let Some(keys) = self.held_keys.filter(|_| again) {
            play.input(now, keys, &mut self.out);
        }
        for command in std::mem::take(&mut self.pending_commands) {
            // A fresh link takes so many.
            let _ = play.command(now, command, &mut self.out);
        }
        // The first ping goes at once, so that the clock is known before the first object comes.
        play.handle_timeout(now, &mut self.factory, &mut self.out);
        self.state = GameState::Playing(play);
    }

    fn connect_to_host(&mut self, ticket: GameTicket) {
        (self.incarnation, self.map) = (ticket.incarnation, ticket.map);
        let (address, certificate_sha256) = (ticket.address.clone(), ticket.certificate_sha256);
        self.state = GameState::Connecting(ticket);
        self.push_output(GameOutput::Connect {
            address,
            certificate_sha256,
        });
    }

    /// The end of this connection, and perhaps a new attempt.
    fn fail(&mut self, now: LocalTime, reason: String) {
        if matches!(&self.state, GameState::Playing(play) if now.since(play.joined_at()) >= STABLE_AFTER)
        {
            self.backoff.succeed();
        }
        self.close_running_game(now);
        let retry_in = self.backoff.fail();
        if self.backoff.failures() > self.max_attempts {
            self.backoff.succeed();
            self.state = GameState::NoGame;
            let message = format!(
                "{reason}; gave up after {} attempts: join the room again to try anew",
                self.max_attempts
            );
            let code = codes::GAME_UNREACHABLE.to_owned();
            return self.emit(ViewEvent::Connection(ConnectionStatus::GameClosed {
                code,
                message,
            }));
        }
        self.state = GameState::AwaitingTicket {
            ask_at: now + retry_in,
        };
        self.emit(ViewEvent::Connection(ConnectionStatus::GameBroken {
            reason,
            retry_in,
        }));
    }

    /// The end of the game without another attempt, for a reason of the host's.
    fn end(&mut self, now: LocalTime, code: String, message: String) {
        self.close_running_game(now);
        self.held_keys = None;
        self.state = GameState::NoGame;
        self.push_output(GameOutput::Close);
        self.emit(ViewEvent::Connection(ConnectionStatus::GameClosed {
            code,
            message,
        }));
    }

    /// Takes what belongs to a connection that is over; the state stays for the caller to replace.
    fn close_running_game(&mut self, now: LocalTime) {
        self.close_previous_game(now);
        self.pending_commands.clear();
        if let GameState::Playing(play) = &mut self.state {
            (self.last_id, self.out.stats.rtt) = (play.close(now, &mut self.out), play.rtt());
        }
    }

    /// What was shown of a room that has moved is shown no more.
    fn close_previous_game(&mut self, now: LocalTime) {
        if let Some(mut play) = self.previous_game.take() {
            (self.last_id, self.out.stats.rtt) = (play.close(now, &mut self.out), play.rtt());
        }
    }

    fn send(&mut self, body: Ask) {
        self.push_output(GameOutput::Send(ClientToGame { body: Some(body) }));
    }

    fn emit(&mut self, event: ViewEvent) {
        self.push_output(GameOutput::View(event));
    }

    fn push_output(&mut self, output: GameOutput) {
        self.out.outputs.push_back(output);
    }
}
