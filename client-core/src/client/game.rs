//! The client's half of a game connection: from a ticket to a running replica, and reconnects.
//!
//! Tickets, the state of the connection, messages, datagrams and the time go in. Messages,
//! datagrams and events come out of [`GameClient::poll_output`]. No socket and no clock.
//!
//! Invariants:
//! 1. There is at most one game connection at a time. Link, clock and replica end with their
//!    connection, and their objects leave before any object of the next one enters.
//! 2. After a break, the client reconnects with a fresh ticket and growing pauses, `game_attempts`
//!    times in a row. Then it reports the end of the game, and the player stays in the lobby. While
//!    the lobby is unavailable no attempt is counted, since there is no ticket.
//! 3. Command numbers ascend over reconnects; the first one depends on the client's seed.
//! 4. A ticket with a higher incarnation means that the room continues on another host. The client
//!    connects there at once, and keeps showing the last known state until data arrives from there.
//!    New commands wait meanwhile, and unconfirmed ones are resent, unless the ticket is for
//!    another map, where they have no meaning. If the room goes on with another build of the game,
//!    they get its numbers, and those that it does not know are refused.
//! 5. While the player is in the room, each accepted command is confirmed, given up as outdated,
//!    or reported as refused. What the client can neither confirm nor resend is refused with
//!    `try_again`: it may have been executed.
//! 6. A host that is silent is redialled with another ticket ([`silence`]). The connection stays
//!    until a second after that: if it is heard again first, it goes on.
//! 7. The end of a game is final unless the lobby sends another ticket: an `Out` for a reason that
//!    concerns the connection alone is a break.
//!
//! Source: `proto/ambit/game.proto`.

use std::sync::Arc;
use std::time::Duration;

use ambit_proto::axes::{Axes, AxisKind};
use ambit_proto::codes as protocol;
use ambit_proto::control::game::client_to_game::Body as GameRequestBody;
use ambit_proto::control::game::game_to_client::Body as GameMessageBody;
use ambit_proto::control::game::{self as pb, ClientToGame, GameToClient};
use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::{self, Command, FieldValue, GameCommand};
use ambit_proto::pose::PoseCoding;
use ambit_proto::schema::Schema;
use ambit_proto::time::LocalTime;
use ambit_steering::SharedMotion;
use bytes::Bytes;

use super::backoff::Backoff;
use super::config::ClientConfig;
use super::event::{GameEvent, GameStarted, codes};
use super::game_results::{CommandError, GameOutput, GameResults};
use super::lobby::CloseReason;
use super::model::GameTicket;
use super::rules::Rules;
use super::running_game::{GameSettings, RunningGame};
use super::silence::{self, Silence, SilenceStep};
use super::stats::{ClientStats, RoomLateness};
use crate::replica::PoseDecoding;
use crate::replica::factory::ViewFactory;

/// How long the host may take to answer `Join`.
const JOIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the lobby may take to answer a ticket request before the client asks again.
const TICKET_TIMEOUT: Duration = Duration::from_secs(5);
/// The shortest and the longest pause before another attempt.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(3));
/// The pause between two requests while a room waits for its host.
const WAITS_FOR_ROOM: Duration = Duration::from_secs(5);
/// A connection that lasted this long resets the count of failed attempts.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// Maximum number of commands that wait for another host.
const MAX_PENDING_COMMANDS: usize = 64;

/// Why commands are refused that can neither be confirmed nor resent.
const CONNECTION_BROKE: &str = "the game's connection broke; it may or may not have been executed";
const MAP_CHANGED: &str = "the player changes to another map; it may or may not have been executed";
const HOST_CHANGED: &str = "the game moves to another host, which may not have got this command";
const BUILD_CHANGED: &str =
    "the game goes on with another version of itself, which does not know this command";

/// A player's game connection and the game behind it.
pub(crate) struct GameClient<F: ViewFactory> {
    factory: F,
    max_attempts: u32,
    /// How the host is asked to code poses.
    coding: PoseCoding,
    settings: GameSettings,
    /// What it shares with the games that it can simulate.
    motions: Vec<SharedMotion>,
    /// The held keys, kept over reconnects; `None` if no inputs are sent.
    held_keys: Option<Keymap>,
    /// The axes, kept over reconnects; `None` until one is set.
    axes: Option<Axes>,
    /// Whether poses are emitted as events.
    watching: bool,
    /// Whether confirmed commands are events.
    confirmations: bool,
    state: GameState<F::View>,
    backoff: Backoff,
    last_id: ClientObjectId,
    last_command: u32,
    /// Whether the player was in this room's game before: the next start is then a rejoin.
    has_started: bool,
    /// Incarnation of the host that was dialled last.
    incarnation: u32,
    /// Index of the map that this host runs.
    map: u32,
    /// Whether the game that is still shown is on another map.
    changes_map: bool,
    /// The game that is still shown while the room moves to another host, until data arrives from
    /// there.
    previous_game: Option<Box<RunningGame<F::View>>>,
    /// Commands given meanwhile.
    pending_commands: Vec<Command>,
    /// The schema by which commands and controls were numbered last, in this room.
    schema: Option<Arc<Schema>>,
    /// Of the host of the game that runs.
    silence: Silence,
    /// With which a silent host is redialled, and when: where a lobby answers again, its hosts
    /// mostly do, too.
    spare_ticket: Option<(LocalTime, GameTicket)>,
    out: GameResults,
}

enum GameState<V> {
    /// No game, and no attempt to join one.
    NoGame,
    /// In a game without a ticket; the next request for one is sent at `ask_at`.
    AwaitingTicket { ask_at: LocalTime },
    /// The owner is dialling.
    Connecting(GameTicket),
    /// `Join` was sent at `since`.
    Joining { ticket: GameTicket, since: LocalTime },
    /// The host has accepted the player.
    Playing(Box<RunningGame<V>>),
}

impl<F: ViewFactory> GameClient<F> {
    /// No game yet.
    pub(crate) fn new(config: &ClientConfig, factory: F) -> Self {
        GameClient {
            factory,
            max_attempts: config.game_attempts,
            coding: config.coding,
            settings: GameSettings {
                pose_decoding: config.pose_decoding,
                render: config.render,
                inputs: config.inputs,
                predict: if config.is_replay { Some(false) } else { config.predict },
                is_replay: config.is_replay,
                motion: None,
                last_id: ClientObjectId::default(),
            },
            motions: config.motions.clone(),
            held_keys: None,
            axes: None,
            watching: false,
            confirmations: config.confirmations,
            state: GameState::NoGame,
            // A different random stream than the lobby part's, from the same seed.
            backoff: Backoff::new(RETRY_PAUSES.0, RETRY_PAUSES.1, !config.seed),
            last_id: ClientObjectId::default(),
            // Two successive clients of one player must not use the same command numbers.
            last_command: 1_000
                * ((config.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % 1_000) as u32,
            has_started: false,
            incarnation: 0,
            map: 0,
            changes_map: false,
            previous_game: None,
            pending_commands: Vec::new(),
            schema: None,
            silence: Silence::default(),
            spare_ticket: None,
            out: GameResults::default(),
        }
    }

    /// The lobby has issued a ticket, requested or not.
    pub(crate) fn handle_ticket(&mut self, now: LocalTime, ticket: GameTicket) {
        let is_elsewhere = ticket.incarnation > self.incarnation;
        match &self.state {
            GameState::NoGame | GameState::AwaitingTicket { .. } => self.connect_to_host(ticket),
            GameState::Connecting(_) | GameState::Joining { .. } if is_elsewhere => {
                if ticket.map != self.map {
                    self.changes_map = true;
                    self.refuse_unconfirmed(now, MAP_CHANGED);
                }
                self.push_output(GameOutput::Close);
                self.connect_to_host(ticket);
            }
            GameState::Playing(_) if is_elsewhere => {
                if let GameState::Playing(game) =
                    std::mem::replace(&mut self.state, GameState::NoGame)
                {
                    let unconfirmed = game.unconfirmed(now);
                    self.changes_map = ticket.map != self.map;
                    if self.changes_map {
                        refuse_lost(&game, unconfirmed, MAP_CHANGED, &mut self.out);
                    } else {
                        // The next host knows which of these commands the last host has executed.
                        self.out.stats.commands -= unconfirmed.len() as u64;
                        // It knows the objects by other aliases.
                        let (lost, repeated) = unconfirmed.into_iter().partition(names_object);
                        self.pending_commands = repeated;
                        refuse_lost(&game, lost, HOST_CHANGED, &mut self.out);
                    }
                    self.previous_game = Some(game);
                    self.out.stats.moves += 1;
                    self.out.is_moving = true;
                }
                self.push_output(GameOutput::Close);
                self.connect_to_host(ticket);
            }
            GameState::Playing(game)
                if now.since(game.last_received_at()) >= silence::REDIALLED_AFTER =>
            {
                self.spare_ticket = Some((now + silence::HEARD_WITHIN, ticket));
            }
            // Keep the present connection.
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {}
        }
    }

    /// The lobby refused a ticket.
    pub(crate) fn handle_no_ticket(&mut self, now: LocalTime, code: String, message: String) {
        match self.state {
            // A room whose host has died does not run until another one has opened it. Its ticket
            // then follows.
            GameState::AwaitingTicket { .. }
                if self.has_started
                    && code == protocol::name(protocol::ErrorCode::RoomNotRunning) =>
            {
                self.fail(now, message);
            }
            // The room goes on later, and the lobby says what it waits for: no attempt has failed.
            GameState::AwaitingTicket { .. }
                if code == protocol::name(protocol::ErrorCode::TryAgain) =>
            {
                self.backoff.succeed();
                let retry_in = WAITS_FOR_ROOM;
                self.state = GameState::AwaitingTicket { ask_at: now + retry_in };
                self.emit(GameEvent::Interrupted { reason: message, retry_in });
            }
            GameState::NoGame | GameState::AwaitingTicket { .. } => {
                self.refuse_unconfirmed(now, CONNECTION_BROKE);
                self.close_running_game(now);
                self.give_up(code, message);
            }
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {}
        }
    }

    /// Ends the game without another attempt: the player has left the room, or the session was
    /// taken over. The lobby informs the host. A `Leave` from here would remove the connection that
    /// took over the session.
    pub(crate) fn leave(&mut self, now: LocalTime) {
        self.close_running_game(now);
        match std::mem::replace(&mut self.state, GameState::NoGame) {
            GameState::NoGame | GameState::AwaitingTicket { .. } => {}
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {
                self.push_output(GameOutput::Close);
            }
        }
        self.backoff.succeed();
        (self.has_started, self.incarnation) = (false, 0);
        (self.held_keys, self.axes, self.schema) = (None, None, None);
        (self.out.last_fresh_at, self.out.is_moving) = (None, false);
    }

    /// Sends a command. If the game refuses it, an error event carries the returned number.
    pub(crate) fn command(
        &mut self,
        now: LocalTime,
        command: &GameCommand<ClientObjectId>,
    ) -> Result<u32, CommandError> {
        let number = self.last_command.wrapping_add(1);
        match (&mut self.state, &self.previous_game) {
            (GameState::Playing(game), _) => {
                let command = game.resolve(number, command)?;
                game.command(now, command, &mut self.out)?;
            }
            (_, None) => return Err(CommandError::NotPlaying),
            _ if self.changes_map => return Err(CommandError::ChangingMap),
            _ if self.pending_commands.len() >= MAX_PENDING_COMMANDS => {
                return Err(CommandError::TooMany);
            }
            (_, Some(previous)) => {
                let command = previous.resolve(number, command)?;
                if names_object(&command) {
                    return Err(CommandError::ChangingHost);
                }
                self.pending_commands.push(command);
            }
        }
        self.last_command = number;
        Ok(number)
    }

    /// Sends a message that need not be a command.
    pub(crate) fn send_unchecked(
        &mut self,
        now: LocalTime,
        message: Bytes,
    ) -> Result<(), CommandError> {
        match &mut self.state {
            GameState::Playing(game) => game.send_unchecked(now, message, &mut self.out),
            _ => Err(CommandError::NotPlaying),
        }
    }

    /// Reports all commands that are not confirmed, because their connection has ended.
    fn refuse_unconfirmed(&mut self, now: LocalTime, why: &str) {
        if let GameState::Playing(game) = &self.state {
            refuse_lost(game, game.unconfirmed(now), why, &mut self.out);
        }
        if let Some(previous) = &self.previous_game {
            let pending = std::mem::take(&mut self.pending_commands);
            refuse_lost(previous, pending, why, &mut self.out);
        }
    }

    /// The schema that declares the controls: that of the game, also while it is restored.
    pub(crate) fn control_schema(&self) -> Option<&Arc<Schema>> {
        self.schema.as_ref().filter(|_| !matches!(self.state, GameState::NoGame))
    }

    /// Sets the held keys, which are kept over reconnects: while the game is restored, for its
    /// return. Without a game, this does nothing.
    pub(crate) fn input(&mut self, now: LocalTime, keys: Keymap) {
        if self.control_schema().is_some() {
            self.held_keys = Some(keys);
        }
        if let GameState::Playing(game) = &mut self.state {
            game.input(now, keys, &mut self.out);
        }
    }

    /// Moves an axis, which is kept over reconnects. False without a game, or if the game's control
    /// is no axis.
    pub(crate) fn set_axis(&mut self, now: LocalTime, control: u8, value: f32) -> bool {
        let axis = self.control_schema().and_then(|schema| schema.axis(control));
        // Which time is shown, the client says by itself.
        let Some((axis, kind)) = axis.filter(|(_, kind)| *kind != AxisKind::ShownBehind) else {
            return false;
        };
        let axes = self.axes.get_or_insert_default();
        axes.0[axis] = kind.step_of(value);
        if let GameState::Playing(game) = &mut self.state {
            game.set_axes(now, *axes, &mut self.out);
        }
        true
    }

    /// Releases all keys.
    pub(crate) fn release(&mut self, now: LocalTime) {
        self.held_keys = None;
        if let GameState::Playing(game) = &mut self.state {
            game.release(now, &mut self.out);
        }
    }

    /// Whether each pose is emitted as an event from now on, in this game and in later ones.
    pub(crate) fn watch(&mut self, on: bool) {
        self.watching = on;
        if let GameState::Playing(game) = &mut self.state {
            game.replica_mut().watch(on);
        }
    }

    /// Adds the present ages of the objects in sight to the counters.
    pub(crate) fn sample_ages(&mut self, now: LocalTime) {
        if let GameState::Playing(game) = &self.state {
            game.sample_ages(now, &mut self.out.stats.ages);
        }
    }

    /// The connection is established.
    pub(crate) fn handle_connected(&mut self, now: LocalTime) {
        match std::mem::replace(&mut self.state, GameState::NoGame) {
            GameState::Connecting(ticket) => {
                let join = pb::Join {
                    version: message::VERSION,
                    ticket: ticket.ticket.clone(),
                    coding: pb::PoseCoding::from(self.coding).into(),
                };
                self.send(GameRequestBody::Join(join));
                self.state = GameState::Joining { ticket, since: now };
            }
            other => self.state = other,
        }
    }

    /// The connection is lost, or could not be established.
    pub(crate) fn handle_closed(&mut self, now: LocalTime, close_reason: CloseReason) {
        let (CloseReason::Broken(reason)
        | CloseReason::Busy { message: reason, .. }
        | CloseReason::Final { message: reason, .. }) = close_reason;
        match self.state {
            GameState::NoGame | GameState::AwaitingTicket { .. } => {}
            GameState::Connecting(_) | GameState::Joining { .. } | GameState::Playing(_) => {
                self.fail(now, reason);
            }
        }
    }

    /// A message on the control stream.
    pub(crate) fn handle_message(&mut self, now: LocalTime, message: GameToClient) {
        match (&self.state, message.body) {
            (GameState::Joining { .. }, Some(GameMessageBody::Joined(joined))) => {
                self.handle_joined(now, joined);
            }
            // The ticket is older than the player's way to another map: the next one leads there.
            (GameState::Joining { .. }, Some(GameMessageBody::Error(error)))
                if self.has_started && error.code() == protocol::ErrorCode::NotInRoom =>
            {
                self.push_output(GameOutput::Close);
                self.await_other_map(now);
            }
            // The ticket may have expired: the client requests another one.
            (GameState::Joining { .. }, Some(GameMessageBody::Error(error))) => {
                self.push_output(GameOutput::Close);
                self.fail(now, error.message);
            }
            // A report: the host closes the connection if the game cannot go on.
            (GameState::Playing(_), Some(GameMessageBody::Error(error))) => {
                let code = protocol::name_of_error(&error);
                self.emit(GameEvent::Error { code, message: error.message });
            }
            (GameState::Playing(game), Some(GameMessageBody::Late(late))) => {
                let t = game.room_time(now);
                let lateness = RoomLateness::from(late);
                let before = std::mem::replace(&mut self.out.stats.room_lateness, lateness);
                if !lateness.is_like(before) {
                    self.emit(GameEvent::RoomLate { t, lateness });
                }
            }
            // The player left by request: the lobby's answer follows and reports it to the views.
            (
                GameState::Joining { .. } | GameState::Playing(_),
                Some(GameMessageBody::Out(pb::Out { reason: 0, .. })),
            ) => self.leave(now),
            (
                GameState::Joining { .. } | GameState::Playing(_),
                Some(GameMessageBody::Out(out)),
            ) if concerns_connection(&out) => {
                self.push_output(GameOutput::Close);
                self.fail(now, out.message);
            }
            (
                GameState::Joining { .. } | GameState::Playing(_),
                Some(GameMessageBody::Out(out)),
            ) => {
                self.end(now, protocol::name_of_number(out.reason), out.message);
            }
            _ => {}
        }
    }

    /// A datagram of the host.
    pub(crate) fn handle_datagram(&mut self, now: LocalTime, datagram: &[u8]) {
        if let GameState::Playing(game) = &mut self.state {
            game.handle_datagram(now, datagram, &mut self.factory, &mut self.out);
            self.emit_confirmed(now);
            self.watch_silence(now);
        }
    }

    fn emit_confirmed(&mut self, now: LocalTime) {
        let confirmed = std::mem::take(&mut self.out.confirmed);
        let game = self.running_game().filter(|_| self.confirmations);
        let times = game.and_then(|game| Some((game.room_time(now), game.horizon()?)));
        if let Some((t, effect)) = times {
            for command in confirmed {
                self.emit(GameEvent::Confirmed { t, command, effect });
            }
        }
    }

    /// Tells views when the host falls silent and when it is heard again, and asks for a ticket.
    fn watch_silence(&mut self, now: LocalTime) {
        let GameState::Playing(game) = &self.state else { return };
        if self.settings.is_replay {
            return;
        }
        let is_silent = now.since(game.last_received_at()) >= silence::REDIALLED_AFTER;
        if let Some((_, ticket)) =
            self.spare_ticket.take_if(|(redial_at, _)| !is_silent || *redial_at <= now)
            && is_silent
        {
            self.refuse_unconfirmed(now, CONNECTION_BROKE);
            self.close_running_game(now);
            self.push_output(GameOutput::Close);
            return self.connect_to_host(ticket);
        }
        let Some(step) = self.silence.step(now, game.host_heard()) else { return };
        match step {
            SilenceStep::Show(silence) => {
                self.emit(GameEvent::Silent { silence });
            }
            SilenceStep::Hide => self.emit(GameEvent::Heard),
            SilenceStep::Redial => self.push_output(GameOutput::RequestTicketOrRedial),
        }
    }

    /// Some deadline has passed.
    pub(crate) fn handle_timeout(&mut self, now: LocalTime) {
        match &mut self.state {
            GameState::AwaitingTicket { ask_at } if now >= *ask_at => {
                *ask_at = now + TICKET_TIMEOUT;
                self.push_output(GameOutput::RequestTicket);
            }
            GameState::Joining { since, .. } if now >= *since + JOIN_TIMEOUT => {
                self.push_output(GameOutput::Close);
                let seconds = JOIN_TIMEOUT.as_secs();
                self.fail(now, format!("the game host did not answer within {seconds} s"));
            }
            GameState::Playing(game) => {
                game.handle_timeout(now, &mut self.factory, &mut self.out);
                self.watch_silence(now);
            }
            _ => {}
        }
    }

    /// When `handle_timeout` is to be called.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        match &self.state {
            GameState::NoGame | GameState::Connecting(_) => None,
            GameState::AwaitingTicket { ask_at } => Some(*ask_at),
            GameState::Joining { since, .. } => Some(*since + JOIN_TIMEOUT),
            GameState::Playing(game) => {
                let silence = self.silence.next_deadline(game.host_heard());
                let silence = (!self.settings.is_replay).then_some(silence);
                let redial = self.spare_ticket.as_ref().map(|(redial_at, _)| *redial_at);
                game.next_deadline().into_iter().chain(redial).chain(silence).min()
            }
        }
    }

    /// The next action for the owner.
    pub(crate) fn poll_output(&mut self) -> Option<GameOutput> {
        self.out.outputs.pop_front()
    }

    /// The running game; while the room moves to another host, the previous one.
    pub(crate) fn running_game(&self) -> Option<&RunningGame<F::View>> {
        match &self.state {
            GameState::Playing(game) => Some(game),
            _ => self.previous_game.as_deref(),
        }
    }

    /// Like [`GameClient::running_game`], mutable.
    pub(crate) fn running_game_mut(&mut self) -> Option<&mut RunningGame<F::View>> {
        match &mut self.state {
            GameState::Playing(game) => Some(game),
            _ => self.previous_game.as_deref_mut(),
        }
    }

    /// The counters so far.
    pub(crate) fn stats(&self) -> ClientStats {
        let rtt = self.running_game().and_then(RunningGame::rtt).or(self.out.stats.rtt);
        let mut stats = ClientStats {
            rtt,
            jitter: self.running_game().map(RunningGame::jitter),
            ..self.out.stats.clone()
        };
        if let Some(game) = self.running_game() {
            stats.datagrams_lost += game.datagrams_lost();
            stats.simulation.merge(&game.simulation_stats());
        }
        stats
    }

    /// When new data last arrived, in this room.
    pub(crate) fn last_fresh_at(&self) -> Option<LocalTime> {
        self.out.last_fresh_at
    }

    /// From now on games of this name are simulated by this, or not at all. That also counts
    /// for a game that runs.
    pub(crate) fn set_motion(&mut self, now: LocalTime, game: &str, motion: Option<SharedMotion>) {
        self.motions.retain(|known| known.game() != game);
        self.motions.extend(motion);
        let motion = self.motion_of(game);
        let Some(running) = self.running_game_mut() else {
            return;
        };
        if running.rules().schema.game != game {
            return;
        }
        let so_far = running.simulation_stats();
        running.set_motion(motion);
        let missing = physics_missing(now, running);
        self.out.stats.simulation.merge(&so_far);
        self.report_missing_physics(missing);
    }

    fn motion_of(&self, game: &str) -> Option<SharedMotion> {
        let mut known = self.motions.iter();
        known.find(|motion| motion.game() == game).copied()
    }

    fn report_missing_physics(&mut self, missing: Option<GameEvent>) {
        let draws_poses = self.settings.pose_decoding == PoseDecoding::Full;
        if let Some(event) = missing.filter(|_| draws_poses) {
            self.emit(event);
        }
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
        self.renumber(&rules.schema);
        self.close_previous_game(now);
        let again = std::mem::replace(&mut self.has_started, true);
        let motion = self.motion_of(&rules.schema.game);
        let mut game = Box::new(RunningGame::new(
            now,
            since,
            rules,
            GameSettings { last_id: self.last_id, motion, ..self.settings },
        ));
        game.replica_mut().watch(self.watching);
        self.emit(GameEvent::Started(GameStarted {
            room,
            address,
            is_rejoin: again,
            map_number,
            t: game.room_time(now),
            delay: game.rules().delay,
            tick_hz: game.rules().tick_hz,
            map: game.rules().map,
            game: game.rules().schema.game.clone(),
            schema: game.rules().schema.clone(),
        }));
        if !again {
            self.report_missing_physics(physics_missing(now, &game));
        }
        self.out.stats.starts += 1;
        // A late room says so again after `Joined`.
        self.out.stats.room_lateness = RoomLateness::default();
        self.out.last_fresh_at.get_or_insert(now);
        if let Some(keys) = self.held_keys.filter(|_| again) {
            game.input(now, keys, &mut self.out);
        }
        if let Some(axes) = self.axes.filter(|_| again) {
            game.set_axes(now, axes, &mut self.out);
        }
        for command in std::mem::take(&mut self.pending_commands) {
            // A new link has room for all of them.
            let _ = game.command(now, command, &mut self.out);
        }
        // Send the first ping at once, so that the clock is known before the first object arrives.
        game.handle_timeout(now, &mut self.factory, &mut self.out);
        (self.silence, self.spare_ticket) = (Silence::default(), None);
        self.state = GameState::Playing(game);
    }

    /// The room may go on with another build of the game: commands that wait get its numbers, by
    /// their names. Those that it does not know as they were are refused, and keys that were held
    /// are released if its controls are others.
    fn renumber(&mut self, schema: &Arc<Schema>) {
        let Some(before) = self.schema.replace(Arc::clone(schema)) else {
            return;
        };
        if before.controls != schema.controls {
            (self.held_keys, self.axes) = (None, None);
        }
        if before.commands == schema.commands {
            return;
        }
        let mut lost = Vec::new();
        for command in std::mem::take(&mut self.pending_commands) {
            match number_in(schema, &before, command.kind) {
                Some(kind) => self.pending_commands.push(Command { kind, ..command }),
                None => lost.push(command),
            }
        }
        if let Some(previous) = &self.previous_game {
            refuse_lost(previous, lost, BUILD_CHANGED, &mut self.out);
        }
    }

    fn connect_to_host(&mut self, ticket: GameTicket) {
        (self.incarnation, self.map) = (ticket.incarnation, ticket.map);
        self.push_output(GameOutput::Connect {
            address: ticket.address.clone(),
            certificate_sha256: ticket.certificate_sha256,
            web_certificates_sha256: ticket.web_certificates_sha256.clone(),
        });
        self.state = GameState::Connecting(ticket);
    }

    /// The player is on the way to another map, whose ticket comes by itself. What was shown stays.
    fn await_other_map(&mut self, now: LocalTime) {
        self.changes_map = true;
        self.refuse_unconfirmed(now, MAP_CHANGED);
        self.state = GameState::AwaitingTicket { ask_at: now + TICKET_TIMEOUT };
    }

    /// Ends this connection, and schedules another attempt if any is left.
    fn fail(&mut self, now: LocalTime, reason: String) {
        if let GameState::Playing(game) = &self.state
            && now.since(game.joined_at()) >= STABLE_AFTER
        {
            self.backoff.succeed();
        }
        self.refuse_unconfirmed(now, CONNECTION_BROKE);
        self.close_running_game(now);
        let retry_in = self.backoff.fail();
        if self.backoff.failures() > self.max_attempts {
            self.backoff.succeed();
            let message = format!(
                "{reason}; gave up after {} attempts: join the room again to retry",
                self.max_attempts
            );
            return self.give_up(codes::GAME_UNREACHABLE.to_owned(), message);
        }
        self.state = GameState::AwaitingTicket { ask_at: now + retry_in };
        self.emit(GameEvent::Interrupted { reason, retry_in });
    }

    /// Ends the game without another attempt, for a reason given by the host.
    fn end(&mut self, now: LocalTime, code: String, message: String) {
        self.close_running_game(now);
        self.push_output(GameOutput::Close);
        self.give_up(code, message);
    }

    /// There is no game from now on. What was held counts for none that the player joins later.
    fn give_up(&mut self, code: String, message: String) {
        (self.held_keys, self.axes) = (None, None);
        self.state = GameState::NoGame;
        self.emit(GameEvent::Ended { code, message });
    }

    /// Closes what belongs to a connection that has ended; the caller replaces the state.
    fn close_running_game(&mut self, now: LocalTime) {
        self.close_previous_game(now);
        self.pending_commands.clear();
        if let GameState::Playing(game) = &mut self.state {
            (self.last_id, self.out.stats.rtt) = (game.close(now, &mut self.out), game.rtt());
        }
    }

    /// Closes the game that was shown while the room moved.
    fn close_previous_game(&mut self, now: LocalTime) {
        if let Some(mut game) = self.previous_game.take() {
            (self.last_id, self.out.stats.rtt) = (game.close(now, &mut self.out), game.rtt());
        }
    }

    fn send(&mut self, body: GameRequestBody) {
        self.push_output(GameOutput::Send(ClientToGame { body: Some(body) }));
    }

    fn emit(&mut self, event: GameEvent) {
        self.push_output(GameOutput::View(event));
    }

    fn push_output(&mut self, output: GameOutput) {
        self.out.outputs.push_back(output);
    }
}

/// The event that names the kinds that should be simulated and are not, if there are any.
fn physics_missing<V>(now: LocalTime, game: &RunningGame<V>) -> Option<GameEvent> {
    let kinds = game.kinds_without_physics();
    (!kinds.is_empty()).then(|| GameEvent::PhysicsMissing {
        t: game.room_time(now),
        game: game.rules().schema.game.clone(),
        kinds: kinds.to_vec(),
    })
}

/// Whether this connection is out of the game, but perhaps not the player: then another ticket
/// continues the game. A client whose session another one has taken over gets no ticket, but a
/// `Goodbye` of the lobby. So two clients can't take the game from each other in turns.
fn concerns_connection(out: &pb::Out) -> bool {
    use protocol::ErrorCode::{HostDied, SlowReader, TakenOver};
    [TakenOver, SlowReader, HostDied].map(i32::from).contains(&out.reason)
}

/// Reports commands that may not have been executed, and that are not resent.
fn refuse_lost<V>(game: &RunningGame<V>, lost: Vec<Command>, why: &str, out: &mut GameResults) {
    let code = protocol::name(protocol::ErrorCode::TryAgain);
    for command in lost {
        game.emit_refusal(command.number, code.clone(), why, out);
    }
}

/// The number of a command kind of `before` in `schema`, if that has the same.
fn number_in(schema: &Schema, before: &Schema, kind: u8) -> Option<u8> {
    let known = before.command(kind)?;
    let number = schema.command_index(&known.name)?;
    (schema.command(number) == Some(known)).then_some(number)
}

fn names_object(command: &Command) -> bool {
    let is_object = |field: &FieldValue<_>| matches!(field, FieldValue::Object(_));
    command.fields.iter().any(is_object)
}
