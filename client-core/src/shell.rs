//! The client on a real network: tokio, quinn, channels.
//!
//! [`start`] spawns a task that does the I/O of a [`Client`]: connections, frames, datagrams,
//! timers. The task and all [`ClientHandle`]s share the client behind a lock, so that a view calls
//! and reads it from any thread without waiting for the task. [`ClientEvents`] are the events. This
//! module makes no decisions; reconnects, requests and events are decided in `client`.
//!
//! Queues and their bounds: [`MAX_EVENTS`] (then events wait in the client's own queue, which drops
//! updates and finally ends the connection), received frames, 256 (then their stream stops),
//! received datagrams (QUIC's buffer, then the oldest is dropped), frames to a peer (128; a peer
//! that does not read them loses the connection).

mod clock;
mod connection;
mod impaired_socket;
mod shared;
mod sockets;
mod task;
mod traffic;
mod watched_socket;

use std::sync::Arc;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::GameCommand;
use ambit_proto::time::LocalTime;
use ambit_transport::account_proof::DeviceAccount;
use ambit_transport::impair::Impairment;
use ambit_transport::quic::Fingerprint;
use tokio::sync::mpsc;

use crate::client::config::{ClientConfig, SignIn};
use crate::client::event::ViewEvent;
use crate::client::lobby::RequestError;
use crate::client::request::LobbyRequest;
use crate::client::{Client, CommandError};
use crate::replica::factory::ViewFactory;
use crate::trust::KnownHosts;
use shared::SharedClient;
pub use traffic::Traffic;
use traffic::TrafficMeter;

/// Maximum number of events on their way to the view; more wait in the client's own queue.
pub const MAX_EVENTS: usize = 256;
/// Maximum number of received frames that wait for the task.
const MAX_REPORTS: usize = 256;

/// How to start a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The address of the lobby: `"127.0.0.1:7777"`, `"example.org:7777"`. Of several, separated
    /// by commas, the first that answers and takes the client is used.
    pub server: String,
    /// How to verify its certificate.
    pub trust: ServerTrust,
    /// Impairment of the client's own sockets.
    pub impairment: Option<Impairment>,
    /// Distinguishes the clients of one process: their impairments differ.
    pub number: u64,
    /// The account of the player, if the session is to have one; [`ClientConfig::sign_in`]
    /// follows from it.
    pub account: Option<Arc<DeviceAccount>>,
    /// The configuration of the client.
    pub client: ClientConfig,
}

/// How to verify a lobby server's certificate. (The ticket contains that of a game host.)
#[derive(Clone, Debug)]
pub enum ServerTrust {
    /// Trust the certificate of the first contact.
    FirstUse(KnownHosts),
    /// Trust only this one.
    Pinned(Fingerprint),
}

/// A handle to a running client; cheap to clone, and usable from any thread. When the last one is
/// dropped, the client quits.
#[derive_where::derive_where(Clone)]
pub struct ClientHandle<F: ViewFactory = ()> {
    inner: Arc<HandleInner<F>>,
}

struct HandleInner<F: ViewFactory> {
    shared: Arc<SharedClient<F>>,
    meter: Arc<TrafficMeter>,
}

/// The events of a running client. A view that needs none drops this.
#[derive(Debug)]
pub struct ClientEvents {
    events: mpsc::Receiver<ViewEvent>,
}

/// Starts a client in its own task, which connects to the lobby at once. Must be called within a
/// tokio runtime.
///
/// The result is an event: `Welcome`, or `LobbyEvent::Closed` with a code and a message for
/// the user.
pub fn start<F>(mut options: ClientOptions, factory: F) -> (ClientHandle<F>, ClientEvents)
where
    F: ViewFactory + Send + 'static,
    F::View: Send,
{
    let (event_sender, events) = mpsc::channel(MAX_EVENTS);
    if let Some(account) = &options.account {
        options.client.sign_in = SignIn::Key(account.public_key());
    }
    let mut client = Client::with_factory(&options.client, factory);
    let servers = options.server.split(',');
    client.set_servers(servers.map(|address| address.trim().to_owned()).collect());
    let shared = Arc::new(SharedClient::new(client));
    let meter = Arc::new(TrafficMeter::default());
    let task = task::ClientTask::new(options, shared.clone(), meter.clone());
    tokio::spawn(task.run(event_sender));
    let inner = Arc::new(HandleInner { shared, meter });
    (ClientHandle { inner }, ClientEvents { events })
}

impl<F: ViewFactory> ClientHandle<F> {
    /// Sends a request to the lobby. The answer is an event with the returned number.
    pub fn request(&self, request: LobbyRequest) -> Result<u64, RequestError> {
        self.run(|client, now| client.request(now, request))
    }

    /// Sends a command to the game. A refusal is an event with the returned number.
    pub fn act(&self, command: &GameCommand<ClientObjectId>) -> Result<u32, CommandError> {
        self.run(|client, now| client.act(now, command))
    }

    /// Sets the held keys: see [`Client::input`].
    pub fn input(&self, keys: Keymap) {
        self.run(|client, now| client.input(now, keys));
    }

    /// The traffic of the sockets since the start: UDP payload of all connections, including those
    /// to the lobby.
    pub fn traffic(&self) -> Traffic {
        self.inner.meter.read()
    }

    /// Leaves room and lobby; `LobbyEvent::Closed` is the last event.
    pub fn quit(&self) {
        self.run(Client::quit);
    }

    /// Calls the client and returns the result: for reads of positions, statistics and everything
    /// else that has no event. `now` is the time of the call.
    ///
    /// The client stands still meanwhile, so `call` should take microseconds. It must not use the
    /// handle: that would wait for itself. A client that has ended can still be read.
    pub fn run<R>(&self, call: impl FnOnce(&mut Client<F>, LocalTime) -> R) -> R {
        self.inner.shared.run(call)
    }

    /// An instant on the client's clock.
    pub fn local_time(&self, at: std::time::Instant) -> LocalTime {
        self.inner.shared.clock().time_of(at)
    }
}

/// The last handle is gone: the client can receive no more calls.
impl<F: ViewFactory> Drop for HandleInner<F> {
    fn drop(&mut self) {
        self.shared.run(Client::quit);
    }
}

impl ClientEvents {
    /// The next event; `None` when the client has ended and all events were taken.
    pub async fn next(&mut self) -> Option<ViewEvent> {
        self.events.recv().await
    }

    /// The next event, if one is queued.
    pub fn try_next(&mut self) -> Option<ViewEvent> {
        self.events.try_recv().ok()
    }
}

#[cfg(test)]
mod tests;
