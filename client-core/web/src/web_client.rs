//! The client, as JavaScript calls it.
//!
//! The owner calls `handle_*` with what arrives and the time. After each call it executes the
//! outputs ([`WebClient::poll_output`], until it returns 0), takes the events
//! ([`WebClient::poll_event`]), and sets its timer to [`WebClient::next_deadline`].
//!
//! The owner guarantees what [`ambit_client_core::client`] asks for: after an output that closes a
//! connection or opens another one, it hands in nothing of the older one.
//!
//! A text that JavaScript gets as an error is `{"code", "message"}`.

mod physics;
mod reads;

use std::collections::VecDeque;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::client::lobby::{CloseReason, RequestError};
use ambit_client_core::client::model::ChatAudience;
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::{Client, ClientOutput, CommandError};
use ambit_client_core::command_words::{self, CommandWordsError};
use ambit_client_core::frame::Frame;
use ambit_proto::codes::{self, ErrorCode};
use ambit_proto::control::game::GameToClient;
use ambit_proto::control::world::WorldToClient;
use ambit_proto::frame::{
    FrameDecoder, MAX_FROM_GAME, MAX_FROM_WORLD, MAX_TO_GAME, MAX_TO_WORLD, encode_frame_within,
};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::time::LocalTime;
use prost::Message;
use serde_json::{Value as Json, json};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::event_json::envelope;
use crate::frame_buffers::FrameBuffers;
use crate::motions;
use crate::settings::{configure, new_room};
use crate::web_output::WebOutput;

/// A client; see the module.
#[wasm_bindgen]
pub struct WebClient {
    client: Client,
    outputs: VecDeque<WebOutput>,
    /// The output that `poll_output` has returned last.
    taken: Option<WebOutput>,
    /// While the connections are open: the bytes of unfinished messages.
    world: Option<FrameDecoder>,
    game: Option<FrameDecoder>,
    frame: Frame,
    buffers: FrameBuffers,
    /// Events about confirmed commands. The page takes them after each call; a call adds at most
    /// 256.
    confirmed: VecDeque<GameEvent>,
}

/// A time of the page's clock, which does not run back.
fn time(ms: f64) -> LocalTime {
    LocalTime::from_micros((ms * 1_000.0) as u64)
}

fn ms(time: LocalTime) -> f64 {
    time.micros() as f64 / 1_000.0
}

fn error(code: &str, message: &str) -> String {
    json!({ "code": code, "message": message }).to_string()
}

#[wasm_bindgen]
impl WebClient {
    /// A client that has not connected yet. `settings` is a JSON object; all keys are optional:
    /// `name`, `reconnect_for_ms`, `render` (`room`, `100ms`, `adaptive`), `predict`, `coding`,
    /// `input_hz`.
    #[wasm_bindgen(constructor)]
    pub fn new(settings: &str, resume_token: Vec<u8>, seed: u64) -> Result<WebClient, String> {
        let settings: Json = serde_json::from_str(settings).unwrap_or_default();
        let mut config = ClientConfig {
            agent: concat!("ambit-client-web ", env!("CARGO_PKG_VERSION")).to_owned(),
            resume_token,
            seed,
            motions: motions::all(),
            ..ClientConfig::default()
        };
        configure(&mut config, &settings).map_err(|message| error("bad_option", &message))?;
        Ok(WebClient {
            client: Client::new(&config),
            outputs: VecDeque::new(),
            taken: None,
            world: None,
            game: None,
            frame: Frame::default(),
            buffers: FrameBuffers::default(),
            confirmed: VecDeque::new(),
        })
    }

    /// Sets the addresses of the configured servers.
    pub fn set_servers(&mut self, addresses: Vec<String>) {
        self.client.set_servers(addresses);
    }

    /// Dials the lobby. Call it once; the client reconnects by itself.
    pub fn connect(&mut self, now: f64) {
        self.client.connect(time(now));
        self.collect(time(now));
    }

    /// The lobby's connection is established, to the server at this address.
    pub fn handle_world_connected(&mut self, now: f64, address: &str) {
        self.world = Some(FrameDecoder::new(MAX_FROM_WORLD));
        self.client.note_dialled_address(address);
        self.client.handle_world_connected(time(now));
        self.collect(time(now));
    }

    /// Bytes of the lobby's stream.
    pub fn handle_world_bytes(&mut self, now: f64, bytes: &[u8]) {
        let now = time(now);
        if let Some(decoder) = &mut self.world {
            decoder.push(bytes);
        }
        // A message may end the connection, and with it the messages behind it.
        while let Some(decoder) = &mut self.world {
            match next_message::<WorldToClient>(decoder) {
                Ok(None) => break,
                Ok(Some(message)) => self.client.handle_world_message(now, message),
                Err(reason) => {
                    self.outputs.push_back(WebOutput::CloseWorld);
                    self.world = None;
                    self.client.handle_world_closed(now, reason);
                }
            }
            self.collect(now);
        }
    }

    /// The lobby's connection is lost, or could not be established. `code` is the server's, if it
    /// has closed the connection.
    pub fn handle_world_closed(&mut self, now: f64, code: Option<u32>, reason: &str) {
        self.world = None;
        let reason = close_reason(code, reason);
        self.client.handle_world_closed(time(now), reason);
        self.collect(time(now));
    }

    /// The game's connection is established.
    pub fn handle_game_connected(&mut self, now: f64) {
        self.game = Some(FrameDecoder::new(MAX_FROM_GAME));
        self.client.handle_game_connected(time(now));
        self.collect(time(now));
    }

    /// Bytes of the game's stream.
    pub fn handle_game_bytes(&mut self, now: f64, bytes: &[u8]) {
        let now = time(now);
        if let Some(decoder) = &mut self.game {
            decoder.push(bytes);
        }
        while let Some(decoder) = &mut self.game {
            match next_message::<GameToClient>(decoder) {
                Ok(None) => break,
                Ok(Some(message)) => self.client.handle_game_message(now, message),
                Err(reason) => {
                    self.outputs.push_back(WebOutput::CloseGame);
                    self.game = None;
                    self.client.handle_game_closed(now, reason);
                }
            }
            self.collect(now);
        }
    }

    /// A datagram of the host.
    pub fn handle_datagram(&mut self, now: f64, datagram: &[u8]) {
        if self.game.is_some() {
            self.client.handle_datagram(time(now), datagram);
            self.note_confirmed(time(now));
            self.collect(time(now));
        }
    }

    /// The game's connection is lost, or could not be established.
    pub fn handle_game_closed(&mut self, now: f64, code: Option<u32>, reason: &str) {
        self.game = None;
        let reason = close_reason(code, reason);
        self.client.handle_game_closed(time(now), reason);
        self.collect(time(now));
    }

    /// Handles all deadlines that have passed. Extra calls do no harm.
    pub fn handle_timeout(&mut self, now: f64) {
        self.client.handle_timeout(time(now));
        self.collect(time(now));
    }

    /// When `handle_timeout` is to be called; infinity for never.
    pub fn next_deadline(&self) -> f64 {
        self.client.next_deadline().map_or(f64::INFINITY, ms)
    }

    /// The number of the next output (`WebOutput::number`), or 0.
    pub fn poll_output(&mut self) -> u32 {
        self.taken = self.outputs.pop_front();
        self.taken.as_ref().map_or(0, WebOutput::number)
    }

    /// The bytes of that output.
    pub fn output_bytes(&self) -> Vec<u8> {
        let taken = self.taken.as_ref();
        taken.map(|output| output.bytes().to_vec()).unwrap_or_default()
    }

    /// Whom that output dials, as JSON (`WebOutput::target`).
    pub fn output_target(&self) -> String {
        let target = self.taken.as_ref().map(WebOutput::target);
        target.unwrap_or_default().to_string()
    }

    /// Whether `poll_event` would return an event. It makes no object, unlike an absent text.
    pub fn has_events(&self) -> bool {
        self.client.has_events() || !self.confirmed.is_empty()
    }

    /// The next event, as JSON (`event_json`).
    pub fn poll_event(&mut self) -> Option<String> {
        let confirmed = || self.confirmed.pop_front().map(ViewEvent::Game);
        let event = self.client.poll_event().or_else(confirmed)?;
        Some(envelope(&event).to_string())
    }

    /// Lists the rooms; with `subscribe`, reports each change until the next list. Like all
    /// requests, it returns the number that its answer will have.
    pub fn list_rooms(&mut self, now: f64, subscribe: bool) -> Result<f64, String> {
        self.request(now, LobbyRequest::ListRooms { subscribe })
    }

    /// Creates a room. `room` is a JSON object: `name`, `game`, and perhaps `capacity`, `password`
    /// and `parameters`. `key` is 16 random bytes.
    pub fn create_room(&mut self, now: f64, room: &str, key: &[u8]) -> Result<f64, String> {
        let room = new_room(room, key).map_err(|message| error("bad_option", &message))?;
        self.request(now, LobbyRequest::CreateRoom(room))
    }

    /// Takes a seat in a room.
    pub fn join_room(&mut self, now: f64, room: f64, password: String) -> Result<f64, String> {
        let room = RoomId(room as u64);
        self.request(now, LobbyRequest::JoinRoom { room, password })
    }

    /// Leaves the game and the room.
    pub fn leave_room(&mut self, now: f64) -> Result<f64, String> {
        self.request(now, LobbyRequest::LeaveRoom)
    }

    /// Starts the game.
    pub fn start_room(&mut self, now: f64) -> Result<f64, String> {
        self.request(now, LobbyRequest::StartRoom)
    }

    /// Sets whether the player is ready.
    pub fn set_ready(&mut self, now: f64, ready: bool) -> Result<f64, String> {
        self.request(now, LobbyRequest::SetReady(ready))
    }

    /// Asks with what a room of a game can be created.
    pub fn describe_game(&mut self, now: f64, game: String) -> Result<f64, String> {
        self.request(now, LobbyRequest::DescribeGame { game })
    }

    /// Lists the players in the room, or all in the lobby.
    pub fn list_players(&mut self, now: f64, everybody: bool) -> Result<f64, String> {
        self.request(now, LobbyRequest::ListPlayers { everybody })
    }

    /// Changes the player's name.
    pub fn set_name(&mut self, now: f64, name: String) -> Result<f64, String> {
        self.request(now, LobbyRequest::SetName(name))
    }

    /// Says something to all in the lobby, or in the room.
    pub fn say(&mut self, now: f64, to_room: bool, text: String) -> Result<f64, String> {
        let to = if to_room { ChatAudience::Room } else { ChatAudience::Lobby };
        self.request(now, LobbyRequest::Say { to, text })
    }

    /// Says something to one player.
    pub fn whisper(&mut self, now: f64, name: String, text: String) -> Result<f64, String> {
        let to = ChatAudience::PlayerNamed(name);
        self.request(now, LobbyRequest::Say { to, text })
    }

    /// Removes a player from the room.
    pub fn kick(&mut self, now: f64, player: f64) -> Result<f64, String> {
        self.request(now, LobbyRequest::Kick(PlayerId(player as u64)))
    }

    /// Leaves room and lobby for good.
    pub fn quit(&mut self, now: f64) {
        self.client.quit(time(now));
        self.collect(time(now));
    }

    /// Sends a command by its name; `values` is a JSON list (`Argument`). Returns its number.
    pub fn send(&mut self, now: f64, name: &str, values: &str) -> Result<u32, String> {
        let schema = self.client.schema().cloned();
        let schema = schema.ok_or_else(|| command_error(CommandError::NotPlaying))?;
        let values = serde_json::from_str(values).map_err(|problem| {
            error(&codes::name(ErrorCode::Malformed), &format!("not a list of values: {problem}"))
        })?;
        let command = command_words::from_arguments(&schema, name, values)
            .map_err(|problem| words_error(&problem))?;
        let number = self.client.act(time(now), &command);
        self.collect(time(now));
        number.map_err(command_error)
    }

    /// Holds these controls, one bit each, and releases all others.
    pub fn hold(&mut self, now: f64, keys: u32) {
        self.client.hold(time(now), Keymap(keys));
        self.collect(time(now));
    }

    /// Moves an axis, by its place in the schema's controls. False if there is none.
    pub fn set_axis(&mut self, now: f64, control: u8, value: f32) -> bool {
        let is_moved = self.client.set_axis(time(now), control, value);
        self.collect(time(now));
        is_moved
    }

    /// Fills the buffers with what is in sight at `at`. Returns the room time in milliseconds, NaN
    /// without a game.
    pub fn draw(&mut self, now: f64, at: f64) -> f64 {
        self.frame.update(&mut self.client, time(now), time(at));
        self.collect(time(now));
        self.buffers.fill(&self.frame);
        let time = self.frame.time();
        time.map_or(f64::NAN, |time| time.micros() as f64 / 1_000.0)
    }

    /// The address of the table that says where the buffers are
    /// (`frame_buffers`). It never changes.
    pub fn frame_layout(&self) -> u32 {
        self.buffers.layout().as_ptr().addr() as u32
    }
}

impl WebClient {
    fn request(&mut self, now: f64, request: LobbyRequest) -> Result<f64, String> {
        let number = self.client.request(time(now), request);
        self.collect(time(now));
        number.map(|number| number as f64).map_err(|problem| {
            let code = match problem {
                RequestError::Closed => "closed",
                RequestError::TooMany => "too_many_requests",
                RequestError::TooLong => "message_too_large",
            };
            error(code, &problem.to_string())
        })
    }

    /// Turns the core's outputs into those of the page.
    fn collect(&mut self, now: LocalTime) {
        while let Some(output) = self.client.poll_output() {
            let output = match output {
                ClientOutput::ConnectWorld => self.connect_world(),
                ClientOutput::World(message) => match encode_frame_within(&message, MAX_TO_WORLD) {
                    Ok(frame) => WebOutput::World(frame),
                    Err(error) => {
                        self.world = None;
                        let reason = CloseReason::Broken(error.to_string());
                        self.client.handle_world_closed(now, reason);
                        WebOutput::CloseWorld
                    }
                },
                ClientOutput::CloseWorld => {
                    self.world = None;
                    WebOutput::CloseWorld
                }
                ClientOutput::AbandonWorld => {
                    self.world = None;
                    WebOutput::AbandonWorld
                }
                ClientOutput::ConnectGame {
                    address,
                    web_certificates_sha256: certificates,
                    ..
                } => {
                    self.game = None;
                    WebOutput::ConnectGame { address, certificates }
                }
                ClientOutput::Game(message) => match encode_frame_within(&message, MAX_TO_GAME) {
                    Ok(frame) => WebOutput::Game(frame),
                    Err(error) => {
                        self.game = None;
                        let reason = CloseReason::Broken(error.to_string());
                        self.client.handle_game_closed(now, reason);
                        WebOutput::CloseGame
                    }
                },
                ClientOutput::Datagram(datagram) => WebOutput::Datagram(datagram),
                ClientOutput::CloseGame => {
                    self.game = None;
                    WebOutput::CloseGame
                }
            };
            self.outputs.push_back(output);
        }
    }

    fn note_confirmed(&mut self, now: LocalTime) {
        let game = self.client.running_game();
        let times = game.and_then(|game| Some((game.room_time(now), game.horizon()?)));
        let numbers = self.client.take_confirmed();
        if let Some((t, effect)) = times {
            let events = numbers.map(|command| GameEvent::Confirmed { t, command, effect });
            self.confirmed.extend(events);
        }
    }

    fn connect_world(&mut self) -> WebOutput {
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
        WebOutput::ConnectWorld { servers, configured }
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

fn words_error(problem: &CommandWordsError) -> String {
    let code = match problem {
        CommandWordsError::UnknownCommand(_) => ErrorCode::UnknownCommand,
        CommandWordsError::UnknownChoice { .. } | CommandWordsError::Usage { .. } => {
            ErrorCode::Malformed
        }
    };
    error(&codes::name(code), &problem.to_string())
}

fn command_error(problem: CommandError) -> String {
    let code = match problem {
        // The command was built for this schema, so the game is another one by now.
        CommandError::NotPlaying | CommandError::Undeclared => "not_playing".to_owned(),
        CommandError::TooMany | CommandError::ChangingMap | CommandError::ChangingHost => {
            codes::name(ErrorCode::TryAgain)
        }
        CommandError::BadPosition => codes::name(ErrorCode::BadPosition),
        CommandError::NoSuchObject => codes::name(ErrorCode::NoSuchObject),
    };
    error(&code, &problem.to_string())
}

#[cfg(test)]
mod tests;
