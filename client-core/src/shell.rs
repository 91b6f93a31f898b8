//! The client on a real network: tokio, quinn, channels.
//!
//! [`start`] spawns a task that owns a [`Client`] and carries for it: connections, frames,
//! datagrams, timers. A view gets a [`ClientHandle`] to ask and read with, and [`ClientEvents`] to
//! listen to. Nothing here decides anything: what happens after a break, who is asked again, what
//! is told, all that stands in `client`.
//!
//! Queues and their bounds: [`ORDERS`] (whoever asks has to wait), [`EVENTS`] (then the client's
//! own queue, which drops updates and in the end the connection), frames that have arrived, 256
//! (then their stream stops), datagrams that have arrived (QUIC's buffer, then the oldest goes),
//! frames towards a peer (128; a peer that doesn't read them loses the connection).

mod clock;
mod connection;
mod sockets;
mod task;
mod traffic;

use std::sync::Arc;

use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::quic::Fingerprint;
use ambit_proto::time::LocalTime;
use tokio::sync::{mpsc, oneshot};

use crate::client::Client;
use crate::client::config::ClientConfig;
use crate::client::event::ViewEvent;
use crate::client::game::CommandError;
use crate::client::lobby::RequestError;
use crate::client::request::LobbyRequest;
use crate::replica::factory::ViewFactory;
use crate::trust::KnownHosts;
pub use traffic::Traffic;
use traffic::TrafficMeter;

/// Orders that wait for the task; whoever gives one more has to wait.
pub const MAX_JOBS: usize = 64;
/// Events under way to the view; the client's own queue follows.
pub const MAX_EVENTS: usize = 256;
/// Frames that have arrived and wait for the task.
const MAX_REPORTS: usize = 256;

/// How to start a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// Where the lobby is: `"127.0.0.1:7777"`, `"example.org:7777"`.
    pub server: String,
    /// Why its certificate is believed.
    pub trust: ServerTrust,
    /// Bad weather in the client's own socket.
    pub impairment: Option<Impairment>,
    /// Tells the clients of one process apart: their sockets' weather differs.
    pub number: u64,
    /// What the client is told.
    pub client: ClientConfig,
}

/// Why a lobby server's certificate is believed. (A game host's is named by the ticket.)
#[derive(Clone, Debug)]
pub enum ServerTrust {
    /// It is the one of the first contact.
    FirstUse(KnownHosts),
    /// It is this one.
    PinnedProcess(Fingerprint),
}

/// A way to a running client; cheap to clone. When the last one is dropped, the client quits.
pub struct ClientHandle<F: ViewFactory = ()> {
    jobs: mpsc::Sender<ClientJob<F>>,
    meter: Arc<TrafficMeter>,
}

/// What happens in a running client. A view that doesn't listen drops this.
#[derive(Debug)]
pub struct ClientEvents {
    events: mpsc::Receiver<ViewEvent>,
}

/// The client has ended; its last event says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client has ended")]
pub struct ClientEnded;

/// Why something was not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientCallError<E: std::error::Error + 'static> {
    /// The client has ended.
    #[error(transparent)]
    Ended(#[from] ClientEnded),
    /// The client refused it.
    #[error(transparent)]
    Refused(E),
}

/// Something to do with the client, in its task.
type ClientJob<F> = Box<dyn FnOnce(&mut Client<F>, LocalTime) + Send>;

/// Starts a client in a task of its own, which calls the lobby at once. Must be called within a
/// tokio runtime.
///
/// Whether that works out is told by the events: `Welcome`, or `ConnectionStatus::Closed` with a
/// code and a message for a person.
pub fn start<F>(options: ClientOptions, factory: F) -> (ClientHandle<F>, ClientEvents)
where
    F: ViewFactory + Send + 'static,
    F::View: Send,
{
    let (orders, order_receiver) = mpsc::channel(MAX_JOBS);
    let (event_sender, events) = mpsc::channel(MAX_EVENTS);
    let meter = Arc::new(TrafficMeter::default());
    tokio::spawn(
        task::ClientTask::new(options, factory, meter.clone()).run(order_receiver, event_sender),
    );
    (
        ClientHandle {
            jobs: orders,
            meter,
        },
        ClientEvents { events },
    )
}

impl<F: ViewFactory> ClientHandle<F> {
    /// Asks something of the lobby; the answer is an event with the number that this returns.
    pub async fn request(&self, request: LobbyRequest) -> Result<u64, ClientCallError<RequestError>>
    where
        F: 'static,
    {
        self.run(move |client, now| client.request(now, request))
            .await?
            .map_err(ClientCallError::Refused)
    }

    /// Sends a command to the game; a refusal is an event with the number that this returns.
    pub async fn act(&self, action: Action) -> Result<u32, ClientCallError<CommandError>>
    where
        F: 'static,
    {
        self.run(move |client, now| client.act(now, action))
            .await?
            .map_err(ClientCallError::Refused)
    }

    /// From now on the player holds these keys: see [`Client::input`].
    pub async fn input(&self, keys: Keymap) -> Result<(), ClientEnded>
    where
        F: 'static,
    {
        self.run(move |client, now| client.input(now, keys)).await
    }

    /// What has gone through the sockets so far: UDP payload of all connections, those to the lobby
    /// included.
    pub fn traffic(&self) -> Traffic {
        self.meter.read()
    }

    /// Leaves room and lobby; `ConnectionStatus::Closed` is the last event.
    pub async fn quit(&self) -> Result<(), ClientEnded>
    where
        F: 'static,
    {
        self.run(Client::quit).await
    }

    /// Runs `order` on the client, between two events, and returns what it returns: for reads of
    /// positions, figures and all that has no event. It holds everything up, so it should be short.
    pub async fn run<R, O>(&self, order: O) -> Result<R, ClientEnded>
    where
        F: 'static,
        R: Send + 'static,
        O: FnOnce(&mut Client<F>, LocalTime) -> R + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let order: ClientJob<F> = Box::new(move |client, now| {
            // Whoever asked may have gone.
            let _ = answer.send(order(client, now));
        });
        self.jobs.send(order).await.map_err(|_| ClientEnded)?;
        answered.await.map_err(|_| ClientEnded)
    }
}

impl<F: ViewFactory> Clone for ClientHandle<F> {
    fn clone(&self) -> Self {
        ClientHandle {
            jobs: self.jobs.clone(),
            meter: self.meter.clone(),
        }
    }
}

impl ClientEvents {
    /// The next event; `Unchanged` when the client has ended and all was told.
    pub async fn next(&mut self) -> Option<ViewEvent> {
        self.events.recv().await
    }

    /// The next event if one is there.
    pub fn try_next(&mut self) -> Option<ViewEvent> {
        self.events.try_recv().ok()
    }
}

#[cfg(test)]
mod tests;
