//! A whole client without I/O: lobby part and game part, and the events for views.
//!
//! The owner carries. It calls `handle_*` with what has happened and the time, does what
//! [`Client::poll_output`] says until it is empty, and calls [`Client::handle_timeout`] at
//! [`Client::next_deadline`]. A view takes [`Client::poll_event`] and reads hot values directly.
//! Everything follows from arguments, the seed in the configuration among them; so hundreds of
//! clients run in one thread on virtual time, and the same calls give the same outputs.
//!
//! Two promises of the owner keep the parts apart: after `Close*` or another `Connect*` nothing of
//! the older connection is handed in any more, and outputs are carried out in order.
//!
//! OffsetBounds: events wait in a queue of their own bound (see `queue`), and a view that stops
//! reading ends the client; outputs are those of one call.

pub mod backoff;
pub mod config;
pub mod engaged_objects;
pub mod event;
pub mod event_queue;
pub mod game;
pub mod held_events;
pub mod input_sampler;
pub mod input_sender;
pub mod lobby;
pub mod model;
pub mod own_inputs;
pub mod pending_requests;
pub mod request;
pub mod rules;
pub mod running_game;
#[cfg(feature = "physics")]
pub mod simulated;
#[cfg(not(feature = "physics"))]
#[path = "client/unsimulated.rs"]
pub mod simulated;
pub mod stats;
pub mod uplink;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::control::game::{ClientToGame, Commands, GameToClient};
use ambit_proto::control::world::{ClientToWorld, WorldToClient};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::map::StaticMap;
use ambit_proto::message::Action;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::timeline::Gauge;
use bytes::Bytes;

use crate::replica::VisibleObject;
use crate::replica::drawing::DrawnObject;
use crate::replica::factory::ViewFactory;
use config::ClientConfig;
use event::{ComponentValue, ConnectionStatus, ViewEvent, codes};
use event_queue::EventQueue;
use game::{CommandError, GameOutput, GameSession};
use lobby::{CloseReason, ClusterServer, LobbyOutput, LobbySession, RequestError};
use own_inputs::OwnInput;
use request::LobbyRequest;
use rules::Rules;
use running_game::RunningGame;
use stats::ClientStats;

/// What the owner is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOutput {
    /// SidecarCall the lobby; then `handle_world_connected` or `handle_world_closed`.
    ConnectWorld,
    /// Send this on the lobby's control stream.
    World(ClientToWorld),
    /// Close the lobby's connection, after what was sent has left.
    CloseWorld,
    /// SidecarCall the host of the game; then `handle_game_connected` or `handle_game_closed`.
    ConnectGame {
        /// `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
        address: String,
        /// SHA-256 of the certificate that the host has to show.
        certificate_sha256: [u8; 32],
    },
    /// Send this on the game's control stream.
    Game(ClientToGame),
    /// Send this datagram to the host of the game.
    Datagram(Bytes),
    /// Close the game's connection, after what was sent has left.
    CloseGame,
}

/// A client; `F` makes what the view keeps of each object.
pub struct Client<F: ViewFactory = ()> {
    lobby: LobbySession,
    game: GameSession<F>,
    events: EventQueue,
    outputs: VecDeque<ClientOutput>,
}

impl Client {
    /// A client whose view keeps its own books.
    pub fn new(config: &ClientConfig) -> Self {
        Self::with_factory(config, ())
    }
}

impl<F: ViewFactory> Client<F> {
    /// A client that keeps with each object what `factory` makes of it.
    pub fn with_factory(config: &ClientConfig, factory: F) -> Self {
        Client {
            lobby: LobbySession::new(config),
            game: GameSession::new(config, factory),
            events: EventQueue::new(config.max_events),
            outputs: VecDeque::new(),
        }
    }

    /// Whom a `ConnectWorld` is meant for; `Unchanged` for the server that the owner was given. The
    /// others belong to the same cluster.
    pub fn server(&self) -> Option<&ClusterServer> {
        self.lobby.server()
    }

    /// The owner is calling that address.
    pub fn note_dialled_address(&mut self, address: &str) {
        self.lobby.note_dialled_address(address);
    }

    /// How often the owner is to ask the lobby's connection for a sign of life, if it is to.
    pub fn probe_every(&self) -> Option<Duration> {
        self.lobby.probe_every()
    }

    /// Calls the lobby; once, reconnects come by themselves.
    pub fn connect(&mut self, now: LocalTime) {
        self.lobby.connect();
        self.dispatch_outputs(now);
    }

    /// Asks something of the lobby; the answer is an event with the number that this returns.
    pub fn request(&mut self, now: LocalTime, request: LobbyRequest) -> Result<u64, RequestError> {
        let number = self.lobby.request(request);
        self.dispatch_outputs(now);
        number
    }

    /// Sends a command to the game; what it does shows, or an error event comes with the number
    /// that this returns.
    pub fn act(&mut self, now: LocalTime, action: Action) -> Result<u32, CommandError> {
        let number = self.game.command(now, action);
        self.dispatch_outputs(now);
        number
    }

    /// The numbers of commands that the host is known to have taken since the last call; the newest
    /// 256. It has taken them for good, also if it dies; whatever the game made of them. Of one
    /// that was confirmed too late to be of use nothing is told.
    pub fn take_confirmed(&mut self) -> impl Iterator<Item = u32> {
        self.game.take_confirmed()
    }

    /// Asks the host which commands were carried out. For checks: what is confirmed is.
    pub fn ask_commands(&mut self, now: LocalTime) {
        self.game.ask_commands();
        self.dispatch_outputs(now);
    }

    /// The host's newest answer to that, if there is one since the last call.
    pub fn take_commands(&mut self) -> Option<Commands> {
        self.game.take_commands()
    }

    /// From now on the player holds these keys: the host is told at once, and then at
    /// [`ClientConfig::inputs`], until all are let go ([`Client::release`]) or the player leaves
    /// the game. No press or release is lost on the way, even if it is over before the next
    /// datagram leaves. Without a game, nothing is held.
    pub fn input(&mut self, now: LocalTime, keys: Keymap) {
        self.game.input(now, keys);
        self.dispatch_outputs(now);
    }

    /// The player lets go of all keys; once the host has confirmed that, it is told no more of
    /// keys.
    pub fn release(&mut self, now: LocalTime) {
        self.game.release(now);
        self.dispatch_outputs(now);
    }

    /// What the player did in the last two seconds, oldest first, and when it takes effect: for a
    /// prediction of the own avatar. The ticks of a server take what has arrived since the one
    /// before; see [`ButtonEdges`](ambit_proto::keymap::ButtonEdges).
    pub fn own_inputs(&self) -> impl Iterator<Item = OwnInput> {
        self.game
            .running_game()
            .into_iter()
            .flat_map(RunningGame::own_inputs)
    }

    /// Whether each pose is told as an `ObjectUpdated` from now on: for a view that shows all there
    /// is to see. Without, `ObjectUpdated`s tell of everything else, and poses are read.
    pub fn watch(&mut self, on: bool) {
        self.game.watch(on);
    }

    /// Leaves room and lobby for good.
    pub fn quit(&mut self, now: LocalTime) {
        self.lobby.quit();
        self.dispatch_outputs(now);
    }

    /// The lobby has taken the call.
    pub fn handle_world_connected(&mut self, now: LocalTime) {
        self.lobby.handle_connected(now);
        self.dispatch_outputs(now);
    }

    /// A message of the lobby.
    pub fn handle_world_message(&mut self, now: LocalTime, message: WorldToClient) {
        self.lobby.handle_message(now, message);
        self.dispatch_outputs(now);
    }

    /// The lobby's connection is gone, or never came about.
    pub fn handle_world_closed(&mut self, now: LocalTime, ending: CloseReason) {
        self.lobby.handle_closed(now, ending);
        self.dispatch_outputs(now);
    }

    /// The host of the game has taken the call.
    pub fn handle_game_connected(&mut self, now: LocalTime) {
        self.game.handle_connected(now);
        self.dispatch_outputs(now);
    }

    /// A message of the host.
    pub fn handle_game_message(&mut self, now: LocalTime, message: GameToClient) {
        self.game.handle_message(now, message);
        self.dispatch_outputs(now);
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: LocalTime, datagram: &[u8]) {
        self.game.handle_datagram(now, datagram);
        self.dispatch_outputs(now);
    }

    /// The game's connection is gone, or never came about.
    pub fn handle_game_closed(&mut self, now: LocalTime, ending: CloseReason) {
        self.game.handle_closed(now, ending);
        self.dispatch_outputs(now);
    }

    /// Some deadline has passed. Calling it more often does no harm.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.lobby.handle_timeout(now);
        self.game.handle_timeout(now);
        self.dispatch_outputs(now);
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.lobby
            .next_deadline()
            .into_iter()
            .chain(self.game.next_deadline())
            .min()
    }

    /// What the owner is to do next.
    pub fn poll_output(&mut self) -> Option<ClientOutput> {
        self.outputs.pop_front()
    }

    /// What views are told next. `ConnectionStatus::Closed` is the last one.
    pub fn poll_event(&mut self) -> Option<ViewEvent> {
        self.events.pop()
    }

    /// Whether an event waits.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether the client is over: nothing comes any more but the events that wait.
    pub fn is_closed(&self) -> bool {
        self.lobby.is_closed()
    }

    /// Whether the lobby answers at the moment.
    pub fn is_connected(&self) -> bool {
        self.lobby.is_ready()
    }

    /// Whether the player is in a game.
    pub fn is_playing(&self) -> bool {
        self.game.running_game().is_some()
    }

    /// The player's number, once welcomed.
    pub fn player(&self) -> Option<PlayerId> {
        self.lobby.player()
    }

    /// The name in use.
    pub fn name(&self) -> &str {
        self.lobby.name()
    }

    /// The room that the player is in.
    pub fn room(&self) -> Option<RoomId> {
        self.lobby.room()
    }

    /// Secret: with it, another connection can take the session over, or take it up after a crash.
    pub fn resume_token(&self) -> &[u8] {
        self.lobby.resume_token()
    }

    /// The estimated room time, in a game.
    pub fn room_time(&self, now: LocalTime) -> Option<GameTime> {
        Some(self.game.running_game()?.room_time(now))
    }

    /// The room time that objects with poses are shown at, in a game: room time, or a little behind
    /// it.
    pub fn shown_time(&self, now: LocalTime) -> Option<GameTime> {
        Some(self.game.running_game()?.shown_time(now))
    }

    /// What the host said of the game at the join: local lag, map, tick rate, schema.
    pub fn rules(&self) -> Option<&Rules> {
        Some(self.game.running_game()?.rules())
    }

    /// What the game's objects and events are made of.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        Some(&self.rules()?.schema)
    }

    /// The number of a spell, for `Action::Cast`.
    pub fn spell(&self, name: &str) -> Option<u8> {
        self.schema()?.spell_index(name)
    }

    /// The objects in sight, by ascending id.
    pub fn objects(&self) -> impl Iterator<Item = VisibleObject<'_, F::View>> {
        self.game
            .running_game()
            .into_iter()
            .flat_map(|play| play.replica().visible_objects())
    }

    /// One object, if it is in sight.
    pub fn object(&self, id: u32) -> Option<VisibleObject<'_, F::View>> {
        self.game.running_game()?.replica().get(id)
    }

    /// The player's avatar, if it is in sight.
    pub fn avatar(&self) -> Option<VisibleObject<'_, F::View>> {
        self.game.running_game()?.replica().own()
    }

    /// Where an object in sight is now.
    pub fn position(&self, id: u32, now: LocalTime) -> Option<Position> {
        self.object(id)?.position(self.room_time(now)?)
    }

    /// Where the client would show an object in sight at the room time `t`, be it past or to come:
    /// what to compare with the truth, at [`Client::shown_time`] if it is one with poses.
    pub fn shown_at(&self, id: u32, t: GameTime) -> Option<Position> {
        self.object(id)?.position(t)
    }

    /// What to draw of an object in sight that has poses, and of which room time that is. A view
    /// calls [`Client::handle_timeout`] with the time of its picture first: what is simulated goes
    /// on there.
    pub fn drawn(&self, id: u32, now: LocalTime) -> Option<DrawnObject> {
        self.object(id)?.drawn(self.room_time(now)?)
    }

    /// What stands around and never moves, once it has come in.
    pub fn map(&self) -> Option<&Arc<StaticMap>> {
        self.game.running_game()?.map()
    }

    /// A gauge of an object in sight, by name: health, mana.
    pub fn gauge(&self, id: u32, name: &str, now: LocalTime) -> Option<Gauge> {
        match self.object(id)?.value(name, self.room_time(now)?)? {
            ComponentValue::Gauge(gauge) => Some(gauge),
            _ => None,
        }
    }

    /// What the view keeps of an object in sight.
    pub fn view_mut(&mut self, id: u32) -> Option<&mut F::View> {
        self.game.running_game_mut()?.replica_mut().view_mut(id)
    }

    /// What was counted so far.
    pub fn stats(&self) -> ClientStats {
        ClientStats {
            events_dropped: self.events.dropped(),
            ..self.game.stats()
        }
    }

    /// Age of the newest that is known of the room, if anything in sight moves: for a caller that
    /// samples it.
    pub fn age(&self, now: LocalTime) -> Option<Duration> {
        self.game.running_game()?.age(now)
    }

    /// Adds the present age of each object in sight to `stats().ages`: for a caller that samples
    /// it. Like `age`, nothing while nothing moves.
    pub fn sample_ages(&mut self, now: LocalTime) {
        self.game.sample_ages(now);
    }

    /// How long nothing fresh has come; `Unchanged` outside a room.
    pub fn silence(&self, now: LocalTime) -> Option<Duration> {
        self.game.last_fresh_at().map(|last| now.since(last))
    }

    /// The running game, for what has no shorter way here.
    pub fn running_game(&self) -> Option<&RunningGame<F::View>> {
        self.game.running_game()
    }

    /// Hands outputs of one part to the other, to the owner and to the views, until both parts are
    /// quiet.
    fn dispatch_outputs(&mut self, now: LocalTime) {
        loop {
            if let Some(output) = self.lobby.poll_output() {
                self.handle_lobby_output(now, output);
            } else if let Some(output) = self.game.poll_output() {
                self.handle_game_output(output);
            } else {
                return;
            }
        }
    }

    fn handle_lobby_output(&mut self, now: LocalTime, output: LobbyOutput) {
        match output {
            LobbyOutput::Connect => self.outputs.push_back(ClientOutput::ConnectWorld),
            LobbyOutput::Send(message) => self.outputs.push_back(ClientOutput::World(message)),
            LobbyOutput::Close => self.outputs.push_back(ClientOutput::CloseWorld),
            LobbyOutput::View(event) => self.push_event(event),
            LobbyOutput::Ticket(ticket) => self.game.handle_ticket(now, ticket),
            LobbyOutput::NoTicket(code, message) => self.game.handle_no_ticket(code, message),
            LobbyOutput::OutOfRoom => self.leave_game(now),
            LobbyOutput::Finished(code, message) => {
                self.leave_game(now);
                self.push_event(ViewEvent::Connection(ConnectionStatus::Closed {
                    code,
                    message,
                }));
            }
        }
    }

    fn handle_game_output(&mut self, output: GameOutput) {
        match output {
            GameOutput::Connect {
                address,
                certificate_sha256,
            } => {
                self.outputs.push_back(ClientOutput::ConnectGame {
                    address,
                    certificate_sha256,
                });
            }
            GameOutput::Send(message) => self.outputs.push_back(ClientOutput::Game(message)),
            GameOutput::Datagram(datagram) => {
                self.outputs.push_back(ClientOutput::Datagram(datagram))
            }
            GameOutput::Close => self.outputs.push_back(ClientOutput::CloseGame),
            GameOutput::View(event) => self.push_event(event),
            GameOutput::RequestTicket => self.lobby.request_ticket(),
        }
    }

    /// What the game has to say goes first: its objects have left when the views hear of the room.
    fn leave_game(&mut self, now: LocalTime) {
        self.game.leave(now);
        while let Some(output) = self.game.poll_output() {
            self.handle_game_output(output);
        }
    }

    fn push_event(&mut self, event: ViewEvent) {
        if let Err(unread) = self.events.push(event)
            && !self.lobby.is_closed()
        {
            self.lobby.fail(codes::EVENTS_UNREAD, unread.to_string());
        }
    }
}

#[cfg(test)]
mod tests;
