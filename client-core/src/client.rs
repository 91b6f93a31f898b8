//! A whole client without I/O: the lobby part, the game part and the events for views.
//!
//! The owner does the I/O. It calls `handle_*` with each input and the time, executes the outputs
//! of [`Client::poll_output`] until there are none, and calls [`Client::handle_timeout`] at
//! [`Client::next_deadline`]. A view takes [`Client::poll_event`] and reads positions and gauges
//! directly. The behaviour follows from the arguments and the configured seed alone: hundreds of
//! clients can run in one thread on virtual time, and the same calls give the same outputs.
//!
//! The owner guarantees two things: after `Close*` or another `Connect*`, it hands in nothing of
//! the older connection, and it executes outputs in order.
//!
//! Bounds: the event queue has its own bound (see `event_queue`), and a view that stops reading
//! ends the client. Outputs are bounded by what one call causes.

mod arrivals;
mod backoff;
pub mod config;
#[cfg(feature = "shell")]
pub(crate) mod dial_race;
mod engaged_objects;
pub mod event;
mod event_queue;
mod game;
mod game_results;
mod held_events;
mod input_sampler;
mod input_sender;
mod json;
pub mod lobby;
pub mod model;
pub mod own_inputs;
pub(crate) mod own_walk;
mod pending_requests;
pub mod request;
mod rules;
pub mod running_game;
mod sent_commands;
pub(crate) mod silence;
pub(crate) mod simulated;
mod simulation_clocks;
pub mod stats;
mod uplink_builder;
mod values;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::account_proof::CheckedServer;
use ambit_proto::control::game::{ClientToGame, GameToClient};
use ambit_proto::control::world::{ClientToWorld, WorldToClient};
use ambit_proto::ids::{AccountId, ClientObjectId, PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::map::StaticMap;
use ambit_proto::message::GameCommand;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::timeline::Gauge;
use ambit_steering::SharedMotion;
use bytes::Bytes;

use crate::replica::VisibleObject;
use crate::replica::drawing::DrawnObject;
use crate::replica::factory::ViewFactory;
use config::ClientConfig;
use event::{LobbyEvent, ViewEvent, codes};
use event_queue::EventQueue;
use game::GameClient;
pub use game_results::CommandError;
use game_results::GameOutput;
use lobby::{CloseReason, ClusterServer, LobbyOutput, LobbySession, RequestError};
use own_inputs::OwnInput;
use request::LobbyRequest;
pub use rules::Rules;
use running_game::RunningGame;
use stats::ClientStats;

/// An action for the owner.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientOutput {
    /// Dial the lobby; then call `handle_world_connected` or `handle_world_closed`.
    ConnectWorld,
    /// Send this on the lobby's control stream.
    World(ClientToWorld),
    /// Sign this question of the lobby's server with the private key of the account; then call
    /// `prove_account`.
    ProveAccount(Vec<u8>),
    /// Close the lobby's connection after everything sent so far has left.
    CloseWorld,
    /// Close the lobby's connection at once, with a code other than 0: the line seems dead, and the
    /// player comes back.
    AbandonWorld,
    /// Dial the game host; then call `handle_game_connected` or `handle_game_closed`.
    ConnectGame {
        /// `"127.0.0.1:7777"`; an unspecified IP address stands for the lobby server's.
        address: String,
        /// SHA-256 of the certificate that the host must present.
        certificate_sha256: [u8; 32],
        /// The certificates that the host shows to browsers, now or next: their SHA-256. Empty if
        /// browsers know the authority that has signed it.
        web_certificates_sha256: Vec<[u8; 32]>,
    },
    /// Send this on the game's control stream.
    Game(ClientToGame),
    /// Send this datagram to the game host.
    Datagram(Bytes),
    /// Close the game's connection after everything sent so far has left.
    CloseGame,
}

/// A client. `F` builds the data that the view stores with each object.
pub struct Client<F: ViewFactory = ()> {
    lobby: LobbySession,
    game: GameClient<F>,
    events: EventQueue,
    outputs: VecDeque<ClientOutput>,
}

impl Client {
    /// A client whose view stores nothing with the objects.
    pub fn new(config: &ClientConfig) -> Self {
        Self::with_factory(config, ())
    }
}

impl<F: ViewFactory> Client<F> {
    /// A client that stores with each object what `factory` builds for it.
    pub fn with_factory(config: &ClientConfig, factory: F) -> Self {
        Client {
            lobby: LobbySession::new(config),
            game: GameClient::new(config, factory),
            events: EventQueue::new(config.max_events),
            outputs: VecDeque::new(),
        }
    }

    delegate::delegate! {
        to self.lobby {
            /// Sets the addresses of the configured servers, any of which will do. An owner that
            /// dials a single one need not.
            pub fn set_servers(&mut self, addresses: Vec<String>);

            /// The configured servers that a `ConnectWorld` refers to when `servers_to_dial` is
            /// empty: those of `set_servers` that have not refused the session.
            pub fn configured_to_dial(&self) -> impl Iterator<Item = &str>;

            /// The server that a `ConnectWorld` refers to; `None` for the configured server. Other
            /// servers belong to the same cluster.
            pub fn server(&self) -> Option<&ClusterServer>;

            /// That server, and the ones to dial beside it while it does not answer. None for the
            /// configured server.
            pub fn servers_to_dial(&self) -> Vec<ClusterServer>;

            /// The account of the session, if it has one.
            pub fn account(&self) -> Option<AccountId>;

            /// Notes the address that the owner dials, or of several the one that has answered.
            pub fn note_dialled_address(&mut self, address: &str);

            /// How often the owner should probe the lobby's connection, if at all.
            pub fn probe_every(&self) -> Option<Duration>;

            /// Whether the client has ended: only queued events are left.
            pub fn is_closed(&self) -> bool;

            /// The player's number, once the lobby has welcomed the player.
            pub fn player(&self) -> Option<PlayerId>;

            /// The name in use.
            pub fn name(&self) -> &str;

            /// The room that the player is in.
            pub fn room(&self) -> Option<RoomId>;

            /// Secret: it lets another connection take over the session, or resume it after a
            /// crash.
            pub fn resume_token(&self) -> &[u8];
        }
        to self.game {
            /// Whether each pose causes an `Update` event from now on, for a view that shows
            /// everything. Without it, `Update` covers all other components, and the view reads
            /// poses.
            pub fn watch(&mut self, on: bool);

            /// Adds the present age of each object in sight to `stats().ages`. For periodic
            /// sampling. Like `age`, it adds nothing while nothing moves.
            pub fn sample_ages(&mut self, now: LocalTime);

            /// The running game, for everything that has no method here.
            pub fn running_game(&self) -> Option<&RunningGame<F::View>>;
        }
    }

    /// Dials the lobby. Call it once; the client reconnects by itself.
    pub fn connect(&mut self, now: LocalTime) {
        self.call(now, |client| client.lobby.connect());
    }

    /// Sends a request to the lobby. The answer is an event with the returned number.
    pub fn request(&mut self, now: LocalTime, request: LobbyRequest) -> Result<u64, RequestError> {
        self.call(now, |client| client.lobby.request(request))
    }

    /// Sends a command to the game; [`crate::command_words`] makes one by its name. Objects are
    /// named by their ids. If the game refuses it, an error event carries the returned number.
    pub fn act(
        &mut self,
        now: LocalTime,
        command: &GameCommand<ClientObjectId>,
    ) -> Result<u32, CommandError> {
        self.call(now, |client| client.game.command(now, command))
    }

    /// Sends a message to the game host that need not be a command: for tests of hosts. At most
    /// [`MAX_MESSAGE`](ambit_proto::link::MAX_MESSAGE) bytes.
    pub fn send_unchecked(&mut self, now: LocalTime, message: Bytes) -> Result<(), CommandError> {
        self.call(now, |client| client.game.send_unchecked(now, message))
    }

    /// Sets the keys that the player holds. The client sends them at once and then at the rate of
    /// [`ClientConfig::inputs`], until all keys are released ([`Client::release`]) or the player
    /// leaves the game. Presses and releases shorter than the interval between two datagrams are
    /// sent, too. While a game is restored ([`Client::control_schema`]), what is held at its return
    /// counts. Without a game, this does nothing.
    pub fn input(&mut self, now: LocalTime, keys: Keymap) {
        self.call(now, |client| client.game.input(now, keys));
    }

    /// Releases all keys. Once the host has confirmed the release, the client sends no more inputs.
    pub fn release(&mut self, now: LocalTime) {
        self.call(now, |client| client.game.release(now));
    }

    /// Holds these keys; releases all if there are none, so that no inputs are sent.
    pub fn hold(&mut self, now: LocalTime, keys: Keymap) {
        if keys == Keymap::default() {
            self.release(now);
        } else {
            self.input(now, keys);
        }
    }

    /// Moves an axis of the game, by its place in `Schema.controls`: -1 to 1, or for an angle
    /// radians counter-clockwise from the east. The value is rounded to 8 bits. It leaves with the
    /// next datagram, at the rate of [`ClientConfig::inputs`], until the host has confirmed it.
    /// Only the newest value is sent; while a game is restored, at its return. Returns false
    /// without a game, or if this control is no axis.
    pub fn set_axis(&mut self, now: LocalTime, control: u8, value: f32) -> bool {
        self.call(now, |client| client.game.set_axis(now, control, value))
    }

    /// The player's inputs of the last two seconds, oldest first, with their effect times: for the
    /// prediction of the player's own avatar. A server tick applies the inputs that arrived since
    /// the tick before.
    pub fn own_inputs(&self) -> impl Iterator<Item = OwnInput> {
        self.game.running_game().into_iter().flat_map(RunningGame::own_inputs)
    }

    /// Games of this name are simulated by this from now on, or not at all: also the one that runs.
    /// For an owner that gets physics later than the client. If the running game still has
    /// kinds without physics, [`PhysicsMissing`](event::GameEvent::PhysicsMissing) says so.
    pub fn set_motion(&mut self, now: LocalTime, game: &str, motion: Option<SharedMotion>) {
        self.call(now, |client| client.game.set_motion(now, game, motion));
    }

    /// Leaves room and lobby for good.
    pub fn quit(&mut self, now: LocalTime) {
        self.call(now, |client| client.lobby.quit());
    }

    /// The lobby's connection is established.
    pub fn handle_world_connected(&mut self, now: LocalTime) {
        self.call(now, |client| client.lobby.handle_connected(now));
    }

    /// The answer to [`ClientOutput::ProveAccount`]: the signature of
    /// [`CheckedServer::statement`], and the server that it was made for.
    pub fn prove_account(&mut self, now: LocalTime, signature: Vec<u8>, server: &CheckedServer) {
        self.call(now, |client| client.lobby.prove_account(signature, server));
    }

    /// A message of the lobby.
    pub fn handle_world_message(&mut self, now: LocalTime, message: WorldToClient) {
        self.call(now, |client| client.lobby.handle_message(now, message));
    }

    /// The lobby's connection is lost, or could not be established.
    pub fn handle_world_closed(&mut self, now: LocalTime, reason: CloseReason) {
        self.call(now, |client| client.lobby.handle_closed(now, reason));
    }

    /// The game's connection is established.
    pub fn handle_game_connected(&mut self, now: LocalTime) {
        self.call(now, |client| client.game.handle_connected(now));
    }

    /// A message of the host.
    pub fn handle_game_message(&mut self, now: LocalTime, message: GameToClient) {
        self.call(now, |client| client.game.handle_message(now, message));
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: LocalTime, datagram: &[u8]) {
        self.call(now, |client| client.game.handle_datagram(now, datagram));
    }

    /// The game's connection is lost, or could not be established.
    pub fn handle_game_closed(&mut self, now: LocalTime, reason: CloseReason) {
        self.call(now, |client| client.game.handle_closed(now, reason));
    }

    /// Handles all deadlines that have passed. Extra calls do no harm.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.lobby.handle_timeout(now);
        self.game.handle_timeout(now);
        self.dispatch_outputs(now);
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.lobby.next_deadline().into_iter().chain(self.game.next_deadline()).min()
    }

    /// The next action for the owner.
    pub fn poll_output(&mut self) -> Option<ClientOutput> {
        self.outputs.pop_front()
    }

    /// Whether [`Client::poll_output`] would return an action.
    pub fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// The next event for views. `LobbyEvent::Closed` is the last one.
    pub fn poll_event(&mut self) -> Option<ViewEvent> {
        self.events.pop()
    }

    /// Whether [`Client::poll_event`] would return an event.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Whether the lobby answers requests now.
    pub fn is_connected(&self) -> bool {
        self.lobby.is_ready()
    }

    /// Whether the player is in a game.
    pub fn is_playing(&self) -> bool {
        self.game.running_game().is_some()
    }

    /// The estimated room time, in a game.
    pub fn room_time(&self, now: LocalTime) -> Option<GameTime> {
        Some(self.game.running_game()?.room_time(now))
    }

    /// The room time at which objects with poses are shown: room time or slightly behind it. `None`
    /// outside a game.
    pub fn shown_time(&self, now: LocalTime) -> Option<GameTime> {
        Some(self.game.running_game()?.shown_time(now))
    }

    /// What the host reported at the join: local lag, map, tick rate, schema.
    pub fn rules(&self) -> Option<&Rules> {
        Some(self.game.running_game()?.rules())
    }

    /// The schema of the game's objects, events, commands and refusals.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        Some(&self.rules()?.schema)
    }

    /// The schema that declares what the player can hold and move: that of the game, and while a
    /// broken connection to it is restored still the same. `None` if keys and axes are for no game.
    pub fn control_schema(&self) -> Option<&Arc<Schema>> {
        self.game.control_schema()
    }

    /// The objects in sight, by ascending id.
    pub fn objects(&self) -> impl Iterator<Item = VisibleObject<'_, F::View>> {
        self.game.running_game().into_iter().flat_map(|play| play.replica().visible_objects())
    }

    /// One object, if it is in sight.
    pub fn object(&self, id: ClientObjectId) -> Option<VisibleObject<'_, F::View>> {
        self.game.running_game()?.replica().get(id)
    }

    /// The player's avatar, if it is in sight.
    pub fn avatar(&self) -> Option<VisibleObject<'_, F::View>> {
        self.game.running_game()?.replica().own()
    }

    /// A view draws what is in sight at a time.
    pub(crate) fn note_drawn(&mut self, at: LocalTime) {
        if let Some(game) = self.game.running_game_mut() {
            let t = game.room_time(at);
            game.replica_mut().note_drawn(t);
        }
    }

    /// The present position of an object in sight.
    pub fn position(&self, id: ClientObjectId, now: LocalTime) -> Option<Position> {
        self.object(id)?.position(self.room_time(now)?)
    }

    /// The position at which the client would show an object in sight at room time `t`, past or
    /// future. To measure errors, compare it with the true position; for objects with poses use
    /// [`Client::shown_time`].
    pub fn shown_at(&self, id: ClientObjectId, t: GameTime) -> Option<Position> {
        self.object(id)?.position(t)
    }

    /// What to draw of an object in sight that has poses, and the room time that this shows. A view
    /// first calls [`Client::handle_timeout`] with the time of its frame, which advances simulated
    /// objects.
    pub fn drawn(&self, id: ClientObjectId, now: LocalTime) -> Option<DrawnObject> {
        self.object(id)?.drawn(self.room_time(now)?)
    }

    /// Whether an object is a shot of the player's own that is drawn ahead
    /// ([`Steer::shots`](ambit_steering::Steer::shots)).
    pub fn is_own_shot(&self, id: ClientObjectId) -> bool {
        self.running_game().is_some_and(|game| game.simulated_objects().is_own_shot(id))
    }

    /// The obstacles, once there are any: of the static map, and those that objects in sight have.
    pub fn map(&self) -> Option<&Arc<StaticMap>> {
        self.game.running_game()?.map()
    }

    /// A gauge of an object in sight, by name: health, mana.
    pub fn gauge(&self, id: ClientObjectId, name: &str, now: LocalTime) -> Option<Gauge> {
        self.object(id)?.value(name, self.room_time(now)?)?.as_gauge().copied()
    }

    /// The view's data of an object in sight.
    pub fn view_mut(&mut self, id: ClientObjectId) -> Option<&mut F::View> {
        self.game.running_game_mut()?.replica_mut().view_mut(id)
    }

    /// The counters so far.
    pub fn stats(&self) -> ClientStats {
        ClientStats { events_dropped: self.events.dropped(), ..self.game.stats() }
    }

    /// Age of the newest data about the room, if anything in sight moves. For periodic sampling.
    pub fn age(&self, now: LocalTime) -> Option<Duration> {
        self.game.running_game()?.age(now)
    }

    /// How long no new data has arrived; `None` outside a room.
    pub fn silence(&self, now: LocalTime) -> Option<Duration> {
        self.game.last_fresh_at().map(|last| now.since(last))
    }

    /// Frames of the running game are drawn from now on.
    pub(crate) fn begin_drawing(&mut self) {
        if let Some(game) = self.game.running_game_mut() {
            game.begin_drawing();
        }
    }

    /// Calls one of the parts, and takes what comes of it to the other and to the outputs.
    fn call<R>(&mut self, now: LocalTime, part: impl FnOnce(&mut Self) -> R) -> R {
        let result = part(self);
        self.dispatch_outputs(now);
        result
    }

    /// Passes outputs between the lobby part, the game part, the owner and the views until both
    /// parts have none left.
    fn dispatch_outputs(&mut self, now: LocalTime) {
        loop {
            if let Some(output) = self.lobby.poll_output() {
                self.handle_lobby_output(now, output);
            } else if let Some(output) = self.game.poll_output() {
                self.handle_game_output(now, output);
            } else {
                return;
            }
        }
    }

    fn handle_lobby_output(&mut self, now: LocalTime, output: LobbyOutput) {
        match output {
            LobbyOutput::Connect => self.outputs.push_back(ClientOutput::ConnectWorld),
            LobbyOutput::Send(message) => self.outputs.push_back(ClientOutput::World(message)),
            LobbyOutput::ProveAccount(nonce) => {
                self.outputs.push_back(ClientOutput::ProveAccount(nonce));
            }
            LobbyOutput::Close => self.outputs.push_back(ClientOutput::CloseWorld),
            LobbyOutput::Abandon => self.outputs.push_back(ClientOutput::AbandonWorld),
            LobbyOutput::View(request, event) => {
                self.push_event(ViewEvent::Lobby(request, event));
            }
            LobbyOutput::Ticket(ticket) => self.game.handle_ticket(now, ticket),
            LobbyOutput::NoTicket(code, message) => self.game.handle_no_ticket(now, code, message),
            LobbyOutput::OutOfRoom => self.leave_game(now),
            LobbyOutput::Finished(code, message) => {
                self.leave_game(now);
                self.push_event(LobbyEvent::Closed { code, message }.into());
            }
        }
    }

    fn handle_game_output(&mut self, now: LocalTime, output: GameOutput) {
        match output {
            GameOutput::Connect { address, certificate_sha256, web_certificates_sha256 } => {
                self.outputs.push_back(ClientOutput::ConnectGame {
                    address,
                    certificate_sha256,
                    web_certificates_sha256,
                });
            }
            GameOutput::Send(message) => self.outputs.push_back(ClientOutput::Game(message)),
            GameOutput::Datagram(datagram) => {
                self.outputs.push_back(ClientOutput::Datagram(datagram));
            }
            GameOutput::Close => self.outputs.push_back(ClientOutput::CloseGame),
            GameOutput::View(event) => self.push_event(event.into()),
            GameOutput::RequestTicket => self.lobby.request_ticket(),
            GameOutput::RequestTicketOrRedial => self.lobby.request_ticket_or_redial(now),
        }
    }

    /// Emits the game's outputs first: its objects leave before the views learn that the player
    /// left the room.
    fn leave_game(&mut self, now: LocalTime) {
        self.game.leave(now);
        while let Some(output) = self.game.poll_output() {
            self.handle_game_output(now, output);
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
