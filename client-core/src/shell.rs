//! The client on a real network: tokio, quinn, channels.
//!
//! [`start`] spawns a task that owns a [`Client`] and does its I/O: connections, frames, datagrams,
//! timers. A view gets a [`ClientHandle`] for requests and reads, and [`ClientEvents`]. This module
//! makes no decisions; reconnects, requests and events are decided in `client`.
//!
//! Queues and their bounds: [`MAX_JOBS`] (then the caller waits), [`MAX_EVENTS`] (then events wait
//! in the client's own queue, which drops updates and finally ends the connection), received
//! frames, 256 (then their stream stops), received datagrams (QUIC's buffer, then the oldest is
//! dropped), frames to a peer (128; a peer that does not read them loses the connection).

mod clock;
mod connection;
mod impaired_socket;
mod sockets;
mod task;
mod traffic;

use std::sync::Arc;

use ambit_proto::keymap::Keymap;
use ambit_proto::message::GameCommand;
use ambit_proto::time::LocalTime;
use ambit_transport::impair::Impairment;
use ambit_transport::quic::Fingerprint;
use tokio::sync::{mpsc, oneshot};

use crate::client::config::ClientConfig;
use crate::client::event::ViewEvent;
use crate::client::lobby::RequestError;
use crate::client::request::LobbyRequest;
use crate::client::{Client, CommandError};
use crate::replica::factory::ViewFactory;
use crate::trust::KnownHosts;
pub use traffic::Traffic;
use traffic::TrafficMeter;

/// Maximum number of jobs that wait for the task; then the caller waits.
pub const MAX_JOBS: usize = 64;
/// Maximum number of events on their way to the view; more wait in the client's own queue.
pub const MAX_EVENTS: usize = 256;
/// Maximum number of received frames that wait for the task.
const MAX_REPORTS: usize = 256;

/// How to start a client.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The address of the lobby: `"127.0.0.1:7777"`, `"example.org:7777"`.
    pub server: String,
    /// How to verify its certificate.
    pub trust: ServerTrust,
    /// Impairment of the client's own sockets.
    pub impairment: Option<Impairment>,
    /// Distinguishes the clients of one process: their impairments differ.
    pub number: u64,
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

/// A handle to a running client; cheap to clone. When the last one is dropped, the client quits.
pub struct ClientHandle<F: ViewFactory = ()> {
    jobs: mpsc::Sender<ClientJob<F>>,
    meter: Arc<TrafficMeter>,
}

/// The events of a running client. A view that needs none drops this.
#[derive(Debug)]
pub struct ClientEvents {
    events: mpsc::Receiver<ViewEvent>,
}

/// The client has ended; its last event says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the client has ended")]
pub struct ClientEnded;

/// Why a call was not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientCallError<E: std::error::Error + 'static> {
    /// The client has ended.
    #[error(transparent)]
    Ended(#[from] ClientEnded),
    /// The client refused it.
    #[error(transparent)]
    Refused(E),
}

/// A function to run on the client, in its task.
type ClientJob<F> = Box<dyn FnOnce(&mut Client<F>, LocalTime) + Send>;

/// Starts a client in its own task, which connects to the lobby at once. Must be called within a
/// tokio runtime.
///
/// The result is an event: `Welcome`, or `ConnectionStatus::Closed` with a code and a message for
/// the user.
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
    /// Sends a request to the lobby. The answer is an event with the returned number.
    pub async fn request(&self, request: LobbyRequest) -> Result<u64, ClientCallError<RequestError>>
    where
        F: 'static,
    {
        self.run(move |client, now| client.request(now, request))
            .await?
            .map_err(ClientCallError::Refused)
    }

    /// Sends a command to the game. A refusal is an event with the returned number.
    pub async fn act(&self, command: GameCommand<u32>) -> Result<u32, ClientCallError<CommandError>>
    where
        F: 'static,
    {
        self.run(move |client, now| client.act(now, &command))
            .await?
            .map_err(ClientCallError::Refused)
    }

    /// Sets the held keys: see [`Client::input`].
    pub async fn input(&self, keys: Keymap) -> Result<(), ClientEnded>
    where
        F: 'static,
    {
        self.run(move |client, now| client.input(now, keys)).await
    }

    /// The traffic of the sockets so far: UDP payload of all connections, including those to the
    /// lobby.
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

    /// Runs `order` on the client, between two events, and returns its result: for reads of
    /// positions, statistics and everything else that has no event. It blocks the client, so it
    /// should be short.
    pub async fn run<R, O>(&self, order: O) -> Result<R, ClientEnded>
    where
        F: 'static,
        R: Send + 'static,
        O: FnOnce(&mut Client<F>, LocalTime) -> R + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let order: ClientJob<F> = Box::new(move |client, now| {
            // The caller may have gone.
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
