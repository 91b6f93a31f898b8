//! One client, for one thread at a time.
//!
//! The C interface is a skin on it; extensions in Rust for engines with a language of their own
//! call it as it is.
//!
//! Calls of the interface go in as values, and come out as values. What other languages read later
//! (frames, texts, lists) is kept here until the next call of the same kind.
//!
//! Bounds: at most [`MAX_WAITING`] events wait here; more wait in the core's own queue, which drops
//! updates and finally ends the connection.

use std::collections::VecDeque;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ambit_client_boundary::calls::{self, BoundaryError};
use ambit_client_boundary::event_json::envelope;
use ambit_client_boundary::{ClientView, configure, motions, read_request, reads};
use ambit_client_core::account_file;
use ambit_client_core::argument::Argument;
use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::stats::ClientStats;
use ambit_client_core::client::{Client, CommandError};
use ambit_client_core::command_words;
use ambit_client_core::shell::{
    self, ClientEvents, ClientHandle, ClientOptions, ServerTrust, Traffic,
};
use ambit_client_core::trust::KnownHosts;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::keymap::Keymap;
use ambit_proto::schema::Schema;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_steering::SharedMotion;
use ambit_transport::account_proof::DeviceAccount;
use ambit_transport::impair::Impairment;
use ambit_transport::quic::Fingerprint;
use ambit_transport::random::system_random;
use serde_json::{Map, Value as Json};

use crate::driver::Driver;
use crate::sight::SightChanges;
use crate::status::{Failure, Status};
use crate::steering::TakenSlot;

/// At most as many events wait here.
const MAX_WAITING: usize = 1_024;
/// A client that its caller drives is to be polled at least as often.
const POLLED_WITHIN: Duration = Duration::from_secs(1);

/// What a client is started with.
pub struct Setup<'c> {
    pub server: &'c str,
    pub settings: &'c str,
    pub certificate: Option<[u8; 32]>,
    pub known_hosts: &'c str,
    pub resume_token: &'c [u8],
    pub is_driven_by_caller: bool,
    /// Whether what comes, changes and goes in sight are events, too.
    pub has_object_events: bool,
}

/// See the module.
pub struct Instance {
    handle: ClientHandle,
    events: ClientEvents,
    waiting: VecDeque<ViewEvent>,
    view: ClientView,
    sight: SightChanges,
    has_object_events: bool,
    /// When the caller has driven it last.
    polled_at: LocalTime,
    kept: Kept,
    /// The process that has started it: a fork has no thread that drives it.
    process: u32,
    /// Functions of the caller that it steers by.
    slots: Vec<TakenSlot>,
    /// The last one, since tasks run on it.
    driver: Driver,
}

/// What the caller may still read.
#[derive(Default)]
pub struct Kept {
    pub event: KeptEvent,
    pub name: String,
    pub resume_token: Vec<u8>,
    pub description: String,
    pub item: String,
    pub map: Vec<f32>,
}

/// An event that was taken.
#[derive(Default)]
pub struct KeptEvent {
    pub is_of_game: bool,
    pub request: u64,
    pub name: String,
    pub json: String,
}

/// What can be looked up by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaItem {
    Kind,
    ComponentOf(u32),
    Event,
    Command,
    FieldOf(u32),
    Control,
    Refusal,
}

/// What can be read as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Description {
    Schema,
    Rules,
    Statistics,
}

/// Who the player is now.
#[derive(Clone, Copy, Debug)]
pub struct PlayerState {
    pub player: Option<PlayerId>,
    pub room: Option<RoomId>,
    pub is_connected: bool,
    pub is_playing: bool,
    pub is_closed: bool,
}

/// Counters and the line.
pub struct Measured {
    pub stats: ClientStats,
    pub traffic: Traffic,
    pub room_time: Option<GameTime>,
    pub shown_behind: Option<Duration>,
    pub silence: Option<Duration>,
}

impl Instance {
    pub fn start(setup: &Setup<'_>) -> Result<Self, Failure> {
        let failed = |error: &dyn Display| Failure::new(Status::Failed, error);
        check_addresses(setup.server)?;
        let mut settings = Json::Object(Map::new());
        if !setup.settings.is_empty() {
            settings = serde_json::from_str(setup.settings).map_err(BoundaryError::bad_option)?;
        }
        let impairment = take_impairment(&mut settings)?;
        let account = take_account(&mut settings)?;
        let mut config = ClientConfig {
            agent: concat!("ambit-client-ffi ", env!("CARGO_PKG_VERSION")).to_owned(),
            resume_token: setup.resume_token.to_vec(),
            seed: u64::from_le_bytes(random()?),
            motions: motions(),
            confirmations: true,
            ..ClientConfig::default()
        };
        configure(&mut config, &settings.to_string())?;
        let trust = match (setup.certificate, setup.known_hosts) {
            (Some(certificate), _) => ServerTrust::Pinned(Fingerprint(certificate)),
            (None, "") => {
                let known = KnownHosts::for_user(|name| std::env::var_os(name));
                ServerTrust::FirstUse(known.map_err(|error| failed(&error))?)
            }
            (None, file) => ServerTrust::FirstUse(KnownHosts::from_path(PathBuf::from(file))),
        };
        let options = ClientOptions {
            server: setup.server.to_owned(),
            trust,
            impairment,
            // Small: seeds of impairments are multiples of it.
            number: u64::from(config.seed as u16),
            account,
            client: config,
        };
        let driver = Driver::start(setup.is_driven_by_caller).map_err(|error| failed(&error))?;
        let (handle, events) = driver.enter(|| shell::start(options, ()));
        Ok(Instance {
            polled_at: handle.run(|_, now| now),
            handle,
            events,
            waiting: VecDeque::new(),
            view: ClientView::default(),
            sight: SightChanges::default(),
            has_object_events: setup.has_object_events,
            kept: Kept::default(),
            process: std::process::id(),
            slots: Vec::new(),
            driver,
        })
    }

    /// Leaves room and lobby; waits until the server knows, at most as long as this.
    pub fn close(mut self, most: Duration) {
        let is_known = self.handle.run(|client, _| client.is_connected());
        self.handle.quit();
        if !is_known {
            return;
        }
        let events = &mut self.events;
        self.driver.wait(most, async { while events.next().await.is_some() {} });
    }

    /// An error in a fork of the process that has started it.
    pub(crate) fn check_process(&self) -> Result<(), Failure> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = "this client belongs to the process that has started it; start one of its \
                       own after a fork";
        Err(Failure::new(Status::Failed, message))
    }

    /// An error if the caller is to drive the client and does not. It is told once; the time begins
    /// again then.
    pub(crate) fn check_polled(&mut self) -> Result<(), Failure> {
        let now = self.now();
        if !self.driver.is_callers() || now.since(self.polled_at) <= POLLED_WITHIN {
            return Ok(());
        }
        let late = now.since(self.polled_at).as_millis();
        self.polled_at = now;
        let message = format!(
            "nothing was polled for {late} ms, and nothing has arrived meanwhile; call ambit_poll \
             or ambit_frame at least ten times a second"
        );
        Err(Failure::new(Status::NotPolled, message))
    }

    /// Handles what has come; waits for an event, at most as long as this.
    pub fn poll(&mut self, most: Duration) {
        self.turn();
        if !most.is_zero() && self.waiting.is_empty() {
            let events = &mut self.events;
            let came = self.driver.wait(most, events.next()).flatten();
            self.waiting.extend(came.filter(|event| is_wanted(event, self.has_object_events)));
            self.turn();
        }
    }

    fn turn(&mut self) {
        if self.driver.is_callers() {
            self.driver.turn();
            self.polled_at = self.now();
        }
        self.take_events();
    }

    fn take_events(&mut self) {
        while self.waiting.len() < MAX_WAITING
            && let Some(event) = self.events.try_next()
        {
            if is_wanted(&event, self.has_object_events) {
                self.waiting.push_back(event);
            }
        }
    }

    pub fn now(&self) -> LocalTime {
        self.handle.run(|_, now| now)
    }

    pub fn request(&self, request: &str) -> Result<u64, Failure> {
        let mut request = read_request(request)?;
        if let LobbyRequest::CreateRoom(room) = &mut request
            && room.key == [0; 16]
        {
            room.key = random()?;
        }
        let number = self.handle.request(request);
        Ok(number.map_err(BoundaryError::from)?)
    }

    /// The next event; it stays in [`Kept::event`].
    pub fn next_event(&mut self) -> Option<&KeptEvent> {
        self.turn();
        let event = self.waiting.pop_front()?;
        let json = envelope(&event);
        self.kept.event = KeptEvent {
            is_of_game: matches!(event, ViewEvent::Game(_)),
            request: json["request"].as_u64().unwrap_or(0),
            name: json["event"]["ev"].as_str().unwrap_or_default().to_owned(),
            json: json["event"].to_string(),
        };
        Some(&self.kept.event)
    }

    pub fn send_words(&self, name: &str, values: &str) -> Result<u32, Failure> {
        Ok(self.handle.run(|client, now| calls::send(client, now, name, values))?)
    }

    pub fn send(&self, command: u32, values: Vec<Argument>) -> Result<u32, Failure> {
        self.handle.run(|client, now| {
            let playing = client.schema().cloned().ok_or(CommandError::NotPlaying);
            let schema = playing.map_err(BoundaryError::from)?;
            let declared = schema.commands.get(command as usize);
            let declared = declared.ok_or_else(|| no_item("command", command))?;
            let command = command_words::from_arguments(&schema, &declared.name, values)
                .map_err(BoundaryError::from)?;
            Ok(client.act(now, &command).map_err(BoundaryError::from)?)
        })
    }

    pub fn hold(&self, keys: u32) -> Result<(), Failure> {
        self.handle.run(|client, now| {
            check_controls(client)?;
            client.hold(now, Keymap(keys));
            Ok(())
        })
    }

    pub fn set_axis(&self, control: u32, value: f32) -> Result<(), Failure> {
        let control = u8::try_from(control).map_err(|_| no_item("axis", control))?;
        self.handle.run(|client, now| {
            check_controls(client)?;
            let is_moved = client.set_axis(now, control, value);
            if is_moved { Ok(()) } else { Err(no_item("axis", control.into())) }
        })
    }

    /// Copies what is in sight at a time of the client's clock, or now.
    pub fn draw(&mut self, at: Option<LocalTime>) -> Option<GameTime> {
        self.turn();
        let view = &mut self.view;
        let shown = self.handle.run(|client, now| view.draw(client, now, at.unwrap_or(now)));
        self.sight.update(self.view.arrays());
        shown
    }

    pub fn view(&self) -> &ClientView {
        &self.view
    }

    pub fn sight(&self) -> &SightChanges {
        &self.sight
    }

    /// The index of a name in the schema of the game, also while it is restored.
    pub fn find(&self, item: SchemaItem, name: &str) -> Result<u32, Failure> {
        self.handle.run(|client, _| {
            let schema = client.control_schema().ok_or_else(Failure::nothing)?;
            let index = names(schema, item)?.position(|other| other == name);
            index.map(|index| index as u32).ok_or_else(Failure::nothing)
        })
    }

    /// The name of an item of the schema.
    pub fn name(&mut self, item: SchemaItem, index: u32) -> Result<&str, Failure> {
        let kept = &mut self.kept.item;
        self.handle.run(|client, _| {
            let schema = client.control_schema().ok_or_else(Failure::nothing)?;
            let name = names(schema, item)?.nth(index as usize).ok_or_else(Failure::nothing)?;
            name.clone_into(kept);
            Ok::<_, Failure>(())
        })?;
        Ok(&self.kept.item)
    }

    pub fn describe(&mut self, what: Description) -> Result<&str, Failure> {
        let text = self.handle.run(|client, now| match what {
            Description::Schema => reads::schema(client),
            Description::Rules => reads::rules(client),
            Description::Statistics => Some(reads::stats(client, now)),
        });
        self.kept.description = text.ok_or_else(Failure::nothing)?;
        Ok(&self.kept.description)
    }

    pub fn map(&mut self) -> Result<&[f32], Failure> {
        let map = self.handle.run(|client, _| reads::map_obstacles(client));
        self.kept.map = map.ok_or_else(Failure::nothing)?;
        Ok(&self.kept.map)
    }

    /// Who the player is; the texts stay in [`Instance::kept`].
    pub fn player(&mut self) -> PlayerState {
        let kept = &mut self.kept;
        self.handle.run(|client: &mut Client, _| {
            client.name().clone_into(&mut kept.name);
            client.resume_token().clone_into(&mut kept.resume_token);
            PlayerState {
                player: client.player(),
                room: client.room(),
                is_connected: client.is_connected(),
                is_playing: client.is_playing(),
                is_closed: client.is_closed(),
            }
        })
    }

    pub fn kept(&self) -> &Kept {
        &self.kept
    }

    pub fn measured(&self) -> Measured {
        let traffic = self.handle.traffic();
        self.handle.run(|client, now| Measured {
            stats: client.stats(),
            traffic,
            room_time: client.room_time(now),
            shown_behind: client
                .running_game()
                .map(|game| game.room_time(now).since(game.shown_time(now))),
            silence: client.silence(now),
        })
    }

    /// Predicts the player's own avatar in games of this name by a function of the caller, which
    /// runs on its thread, or not any more.
    pub(crate) fn steer(
        &mut self,
        game: &str,
        taken: Option<(TakenSlot, SharedMotion)>,
    ) -> Result<(), Failure> {
        if !self.driver.is_callers() {
            let message = "a function that steers runs on the caller's thread alone; start the \
                           client with AMBIT_CALLER_DRIVEN";
            return Err(Failure::new(Status::WrongMode, message));
        }
        let (slot, motion) = taken.unzip();
        self.handle.run(|client, now| client.set_motion(now, game, motion));
        // The one before is free only now.
        self.slots.retain(|slot| slot.game() != game);
        self.slots.extend(slot);
        Ok(())
    }
}

/// Frames have what comes, changes and goes.
fn is_wanted(event: &ViewEvent, has_object_events: bool) -> bool {
    let is_of_object = matches!(
        event,
        ViewEvent::Game(GameEvent::Enter(_) | GameEvent::Update(_) | GameEvent::Leave { .. })
    );
    has_object_events || !is_of_object
}

/// A game that is restored gets what is held then.
fn check_controls(client: &Client) -> Result<(), Failure> {
    let declared = client.control_schema().map(|_| ());
    declared.ok_or_else(|| Failure::new(Status::NotPlaying, "the player is in no game"))
}

/// The names of all items, in the order of their indices.
fn names(
    schema: &Schema,
    item: SchemaItem,
) -> Result<Box<dyn Iterator<Item = &str> + '_>, Failure> {
    Ok(match item {
        SchemaItem::Kind => Box::new(schema.kinds.iter().map(|kind| &*kind.name)),
        SchemaItem::ComponentOf(kind) => {
            let kind = schema.kinds.get(kind as usize).ok_or_else(|| no_item("kind", kind))?;
            Box::new(kind.components.iter().map(|component| &*component.name))
        }
        SchemaItem::Event => Box::new(schema.events.iter().map(|event| &*event.name)),
        SchemaItem::Command => Box::new(schema.commands.iter().map(|command| &*command.name)),
        SchemaItem::FieldOf(index) => {
            let command = schema.commands.get(index as usize);
            let command = command.ok_or_else(|| no_item("command", index))?;
            Box::new(command.fields.iter().map(|field| &*field.name))
        }
        SchemaItem::Control => Box::new(schema.controls.iter().map(|control| &*control.name)),
        SchemaItem::Refusal => Box::new(schema.refusals.iter().map(|refusal| &*refusal.name)),
    })
}

fn no_item(what: &str, index: u32) -> Failure {
    let message = format!("the game has no {what} {index}; its schema lists those that it has");
    Failure::new(Status::BadOption, message)
}

fn random<const N: usize>() -> Result<[u8; N], Failure> {
    system_random().map_err(|error| Failure::new(Status::Failed, error))
}

/// Takes what concerns sockets out of the settings: how bad the line is made, for trying things
/// out.
fn take_impairment(settings: &mut Json) -> Result<Option<Impairment>, Failure> {
    let Some(impair) = settings.as_object_mut().and_then(|settings| settings.remove("impair"))
    else {
        return Ok(None);
    };
    let bad = |why: &dyn Display| BoundaryError::bad_option(format!("impair: {why}, in {impair}"));
    let text = impair.as_str().ok_or_else(|| bad(&"expected a text"))?;
    Ok(Some(text.parse().map_err(|error| bad(&error))?))
}

/// `"device"` for the account of this device, or a file.
fn take_account(settings: &mut Json) -> Result<Option<Arc<DeviceAccount>>, Failure> {
    let Some(account) = settings.as_object_mut().and_then(|settings| settings.remove("account"))
    else {
        return Ok(None);
    };
    let text = account.as_str().ok_or_else(|| {
        BoundaryError::bad_option(format!("account: expected \"device\" or a file, not {account}"))
    })?;
    let file = (text != "device").then_some(Path::new(text));
    let account = account_file::for_user(file, |name| std::env::var_os(name));
    let account = account.map_err(|error| Failure::new(Status::Failed, error))?;
    Ok(account.map(Arc::new))
}

/// `HOST:PORT`, or several with commas between them.
fn check_addresses(server: &str) -> Result<(), Failure> {
    let is_address = |address: &str| {
        address
            .trim()
            .rsplit_once(':')
            .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
    };
    if server.split(',').all(is_address) {
        return Ok(());
    }
    let message = format!("'{server}' is no address of a server; expected HOST:PORT");
    Err(Failure::new(Status::BadOption, message))
}
