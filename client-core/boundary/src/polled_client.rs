//! A client whose owner does the I/O: bytes and times in, bytes and connections out.
//!
//! The owner calls `handle_*` with what arrives and the time. After each call it executes the
//! outputs ([`PolledClient::poll_output`], until there is none), takes the events
//! ([`PolledClient::poll_event`]), and sets its timer to [`PolledClient::next_deadline`].
//!
//! The owner guarantees what [`ambit_client_core::client`] asks for: after an output that closes a
//! connection or opens another one, it hands in nothing of the older one.

use std::collections::VecDeque;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::lobby::CloseReason;
use ambit_client_core::client::{Client, ClientOutput};
use ambit_proto::account_proof::CheckedServer;
use ambit_proto::control::game::GameToClient;
use ambit_proto::control::world::WorldToClient;
use ambit_proto::frame::{
    FrameDecoder, MAX_FROM_GAME, MAX_FROM_WORLD, MAX_TO_GAME, MAX_TO_WORLD, encode_frame_within,
};
use ambit_proto::keymap::Keymap;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_steering::SharedMotion;
use prost::Message;

use crate::calls::{self, BoundaryError};
use crate::event_json::envelope;
use crate::output::Output;
use crate::requests::read_request;
use crate::view::ClientView;

/// A client; see the module.
pub struct PolledClient {
    client: Client,
    outputs: VecDeque<Output>,
    /// While the connections are open: the bytes of unfinished messages.
    world: Option<FrameDecoder>,
    game: Option<FrameDecoder>,
    /// As the owner has checked it: what the proof of an account is bound to.
    server: Option<CheckedServer>,
    view: ClientView,
}

impl PolledClient {
    /// A client that has not connected yet.
    pub fn new(config: &ClientConfig) -> Self {
        PolledClient {
            client: Client::new(config),
            outputs: VecDeque::new(),
            world: None,
            game: None,
            server: None,
            view: ClientView::default(),
        }
    }

    /// The client, to be read.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What it has drawn last.
    pub fn view(&self) -> &ClientView {
        &self.view
    }

    /// Sets the addresses of the configured servers.
    pub fn set_servers(&mut self, addresses: Vec<String>) {
        self.client.set_servers(addresses);
    }

    /// Dials the lobby. Call it once; the client reconnects by itself.
    pub fn connect(&mut self, now: LocalTime) {
        self.client.connect(now);
        self.collect(now);
    }

    /// The lobby's connection is established, to the server at this address. How the owner has
    /// checked it counts for an account alone.
    pub fn handle_world_connected(
        &mut self,
        now: LocalTime,
        address: &str,
        server: Option<CheckedServer>,
    ) {
        self.server = server;
        self.world = Some(FrameDecoder::new(MAX_FROM_WORLD));
        self.client.note_dialled_address(address);
        self.client.handle_world_connected(now);
        self.collect(now);
    }

    /// Bytes of the lobby's stream.
    pub fn handle_world_bytes(&mut self, now: LocalTime, bytes: &[u8]) {
        if let Some(decoder) = &mut self.world {
            decoder.push(bytes);
        }
        // A message may end the connection, and with it the messages behind it.
        while let Some(decoder) = &mut self.world {
            match next_message::<WorldToClient>(decoder) {
                Ok(None) => break,
                Ok(Some(message)) => self.client.handle_world_message(now, message),
                Err(reason) => {
                    self.outputs.push_back(Output::CloseWorld);
                    self.world = None;
                    self.client.handle_world_closed(now, reason);
                }
            }
            self.collect(now);
        }
    }

    /// The answer to [`Output::ProveAccount`]. What comes after the end of the connection counts
    /// for nothing.
    pub fn prove_account(&mut self, now: LocalTime, signature: Vec<u8>) {
        if let Some(server) = &self.server {
            self.client.prove_account(now, signature, server);
            self.collect(now);
        }
    }

    /// The lobby's connection is lost, or could not be established. `code` is the server's, if it
    /// has closed the connection.
    pub fn handle_world_closed(&mut self, now: LocalTime, code: Option<u32>, reason: &str) {
        self.world = None;
        let reason = close_reason(code, reason);
        self.client.handle_world_closed(now, reason);
        self.collect(now);
    }

    /// The game's connection is established.
    pub fn handle_game_connected(&mut self, now: LocalTime) {
        self.game = Some(FrameDecoder::new(MAX_FROM_GAME));
        self.client.handle_game_connected(now);
        self.collect(now);
    }

    /// Bytes of the game's stream.
    pub fn handle_game_bytes(&mut self, now: LocalTime, bytes: &[u8]) {
        if let Some(decoder) = &mut self.game {
            decoder.push(bytes);
        }
        while let Some(decoder) = &mut self.game {
            match next_message::<GameToClient>(decoder) {
                Ok(None) => break,
                Ok(Some(message)) => self.client.handle_game_message(now, message),
                Err(reason) => {
                    self.outputs.push_back(Output::CloseGame);
                    self.game = None;
                    self.client.handle_game_closed(now, reason);
                }
            }
            self.collect(now);
        }
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: LocalTime, datagram: &[u8]) {
        if self.game.is_some() {
            self.client.handle_datagram(now, datagram);
            self.collect(now);
        }
    }

    /// The game's connection is lost, or could not be established.
    pub fn handle_game_closed(&mut self, now: LocalTime, code: Option<u32>, reason: &str) {
        self.game = None;
        let reason = close_reason(code, reason);
        self.client.handle_game_closed(now, reason);
        self.collect(now);
    }

    /// Handles all deadlines that have passed. Extra calls do no harm.
    pub fn handle_timeout(&mut self, now: LocalTime) {
        self.client.handle_timeout(now);
        self.collect(now);
    }

    /// When `handle_timeout` is to be called.
    pub fn next_deadline(&self) -> Option<LocalTime> {
        self.client.next_deadline()
    }

    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Whether `poll_event` would return an event.
    pub fn has_events(&self) -> bool {
        self.client.has_events()
    }

    /// The next event, as JSON ([`event_json`](crate::event_json)).
    pub fn poll_event(&mut self) -> Option<String> {
        Some(envelope(&self.client.poll_event()?).to_string())
    }

    /// Sends a request ([`read_request`]). Returns the number that its answer will have.
    pub fn request(&mut self, now: LocalTime, request: &str) -> Result<u64, BoundaryError> {
        let number = self.client.request(now, read_request(request)?);
        self.collect(now);
        Ok(number?)
    }

    /// Leaves room and lobby for good.
    pub fn quit(&mut self, now: LocalTime) {
        self.client.quit(now);
        self.collect(now);
    }

    /// Sends a command by its name: see [`calls::send`].
    pub fn send(&mut self, now: LocalTime, name: &str, values: &str) -> Result<u32, BoundaryError> {
        let number = calls::send(&mut self.client, now, name, values);
        self.collect(now);
        number
    }

    /// Holds these controls, one bit each, and releases all others.
    pub fn hold(&mut self, now: LocalTime, keys: u32) {
        self.client.hold(now, Keymap(keys));
        self.collect(now);
    }

    /// Moves an axis, by its place in the schema's controls. False if there is none.
    pub fn set_axis(&mut self, now: LocalTime, control: u8, value: f32) -> bool {
        let is_moved = self.client.set_axis(now, control, value);
        self.collect(now);
        is_moved
    }

    /// Shares the motion of games of this name from now on, or no longer.
    pub fn set_motion(&mut self, now: LocalTime, game: &str, motion: Option<SharedMotion>) {
        self.client.set_motion(now, game, motion);
        self.collect(now);
    }

    /// Copies what is in sight at `at` to the arrays of the [`view`](Self::view). Returns the room
    /// time; none without a game.
    pub fn draw(&mut self, now: LocalTime, at: LocalTime) -> Option<GameTime> {
        let shown = self.view.draw(&mut self.client, now, at);
        self.collect(now);
        shown
    }

    /// Turns the core's outputs into those of the owner.
    fn collect(&mut self, now: LocalTime) {
        while let Some(output) = self.client.poll_output() {
            let output = match output {
                ClientOutput::ConnectWorld => self.connect_world(),
                ClientOutput::World(message) => match encode_frame_within(&message, MAX_TO_WORLD) {
                    Ok(frame) => Output::World(frame),
                    Err(error) => {
                        self.world = None;
                        let reason = CloseReason::Broken(error.to_string());
                        self.client.handle_world_closed(now, reason);
                        Output::CloseWorld
                    }
                },
                ClientOutput::ProveAccount(nonce) => match &self.server {
                    Some(server) => Output::ProveAccount(server.statement(&nonce).into()),
                    None => continue,
                },
                ClientOutput::CloseWorld => {
                    self.world = None;
                    Output::CloseWorld
                }
                ClientOutput::AbandonWorld => {
                    self.world = None;
                    Output::AbandonWorld
                }
                ClientOutput::ConnectGame {
                    address,
                    web_certificates_sha256: certificates,
                    ..
                } => {
                    self.game = None;
                    Output::ConnectGame { address, certificates }
                }
                ClientOutput::Game(message) => match encode_frame_within(&message, MAX_TO_GAME) {
                    Ok(frame) => Output::Game(frame),
                    Err(error) => {
                        self.game = None;
                        let reason = CloseReason::Broken(error.to_string());
                        self.client.handle_game_closed(now, reason);
                        Output::CloseGame
                    }
                },
                ClientOutput::Datagram(datagram) => Output::Datagram(datagram),
                ClientOutput::CloseGame => {
                    self.game = None;
                    Output::CloseGame
                }
            };
            self.outputs.push_back(output);
        }
    }

    fn connect_world(&mut self) -> Output {
        self.world = None;
        let servers = self.client.servers_to_dial();
        let configured: Vec<String> = if servers.is_empty() {
            self.client.configured_to_dial().map(str::to_owned).collect()
        } else {
            Vec::new()
        };
        // If none answers, the ones behind the last one come next.
        let addresses = servers.iter().map(|server| &server.address);
        if let Some(last) = addresses.chain(&configured).last().cloned() {
            self.client.note_dialled_address(&last);
        }
        Output::ConnectWorld { servers, configured }
    }
}

fn next_message<M: Message + Default>(
    decoder: &mut FrameDecoder,
) -> Result<Option<M>, CloseReason> {
    let frame = decoder.poll_frame().map_err(|error| CloseReason::unintelligible(&error))?;
    frame
        .map(|frame| M::decode(frame).map_err(|error| CloseReason::unintelligible(&error)))
        .transpose()
}

fn close_reason(code: Option<u32>, reason: &str) -> CloseReason {
    code.map_or_else(
        || CloseReason::Broken(reason.to_owned()),
        |code| CloseReason::by_peer(code.into(), reason.as_bytes()),
    )
}

#[cfg(test)]
mod tests;
