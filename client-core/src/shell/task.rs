//! The task that does the I/O of a client.
//!
//! Handles call the same client from other threads. So before the task hands anything in, it
//! executes the outputs that their calls have left: what comes from a connection that the client
//! has just given up is then dropped.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::account_proof::CheckedServer;
use ambit_proto::control::game::ClientToGame;
use ambit_proto::control::world::ClientToWorld;
use ambit_proto::frame::{MAX_TO_GAME, MAX_TO_WORLD, encode_frame_within};
use ambit_proto::time::LocalTime;
use ambit_transport::quic::Fingerprint;
use bytes::Bytes;
use quinn::Connection;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::clock::ShellClock;
use super::connection::{
    self, ConnectionReport, LobbyServer, MAX_FRAMES, Peer, ReportContent, ReportSender,
};
use super::shared::SharedClient;
use super::sockets::Sockets;
use super::traffic::TrafficMeter;
use super::{ClientOptions, MAX_REPORTS, ServerTrust};
use crate::client::event::ViewEvent;
use crate::client::lobby::CloseReason;
use crate::client::{Client, ClientOutput};
use crate::replica::factory::ViewFactory;

/// How long the last frames may take before the sockets are closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct ClientTask<F: ViewFactory> {
    shared: Arc<SharedClient<F>>,
    io: ClientIo,
}

/// The connections of a client. It executes the client's outputs and reports what comes back.
struct ClientIo {
    clock: ShellClock,
    options: ClientOptions,
    sockets: Arc<Sockets>,
    /// Kept here for the connection tasks to clone.
    report_sender: mpsc::Sender<ConnectionReport>,
    reports: mpsc::Receiver<ConnectionReport>,
    world: Option<OpenConnection>,
    game: Option<OpenConnection>,
    connection_tasks: JoinSet<()>,
    last_connection: u64,
    /// Of the lobby server, once connected.
    lobby_ip: Option<IpAddr>,
    meter: Arc<TrafficMeter>,
    probe: LobbyProbe,
}

/// The state of the probes of the lobby's server.
#[derive(Default)]
struct LobbyProbe {
    last_sent_at: Option<Instant>,
    /// UDP datagrams received over the connection, at the last probe.
    received_datagrams: u64,
    /// Number of probes in a row without a received datagram.
    unanswered: u32,
}

/// A server that has not answered this many probes is considered lost.
const MAX_UNANSWERED: u32 = 3;
/// The close code for such a connection: not 0, which would mean that the player quits.
const LOST_CLOSE_CODE: u32 = 1;

/// A connection as the client's task sees it; dropping it closes the connection after everything
/// that was sent has left.
struct OpenConnection {
    number: u64,
    frames: mpsc::Sender<Bytes>,
    /// Once it is established.
    connection: Option<Connection>,
    /// Whether reading datagrams has ended.
    datagrams_ended: bool,
}

impl<F> ClientTask<F>
where
    F: ViewFactory + Send + 'static,
    F::View: Send,
{
    pub(super) fn new(
        options: ClientOptions,
        shared: Arc<SharedClient<F>>,
        meter: Arc<TrafficMeter>,
    ) -> Self {
        let io = ClientIo::new(options, shared.clock(), meter);
        ClientTask { shared, io }
    }

    /// Runs until the client has ended.
    pub(super) async fn run(mut self, events: mpsc::Sender<ViewEvent>) {
        self.with_client(|_, client, now| client.connect(now));
        let mut listening = true;
        let mut alarm = WakeTimer::new(self.io.clock.instant(LocalTime::ZERO));
        loop {
            if !listening {
                self.with_client(|_, client, _| while client.poll_event().is_some() {});
            }
            let Some(due) = self.next_due() else { break };
            alarm.set(due.deadline);
            let game = self
                .io
                .game
                .as_ref()
                .filter(|open| !open.datagrams_ended)
                .and_then(|open| Some((open.number, open.connection.as_ref()?)));
            let game_number = game.map_or(0, |(number, _)| number);
            tokio::select! {
                () = self.shared.wait_for_work() => {}
                Some(report) = self.io.reports.recv() => {
                    self.with_client(|io, client, now| io.handle_report(client, now, report));
                }
                datagram = next_datagram(game), if game.is_some() => {
                    self.with_client(|io, client, now| {
                        io.handle_datagram(client, now, game_number, datagram);
                    });
                }
                permit = events.reserve(), if listening && due.has_events => match permit {
                    Ok(permit) => {
                        if let Some(event) = self.with_client(|_, client, _| client.poll_event()) {
                            permit.send(event);
                        }
                    }
                    Err(_) => listening = false,
                },
                () = alarm.wait(), if alarm.is_set() => {
                    self.with_client(|_, client, now| client.handle_timeout(now));
                }
                () = wait_for_probe(due.probe_every, &self.io.probe) => self.io.probe_lobby(),
            }
        }
        self.io.shut_down().await;
    }

    /// Calls the client, after the outputs that handles have left.
    fn with_client<R>(
        &mut self,
        call: impl FnOnce(&mut ClientIo, &mut Client<F>, LocalTime) -> R,
    ) -> R {
        let mut state = self.shared.lock();
        self.io.execute_outputs(&mut state.client);
        let now = self.io.clock.now();
        call(&mut self.io, &mut state.client, now)
    }

    /// Executes all outputs; returns what to wait for, or `None` once the client has ended.
    fn next_due(&mut self) -> Option<TaskDue> {
        let mut state = self.shared.lock();
        let state = &mut *state;
        self.io.execute_outputs(&mut state.client);
        let has_events = state.client.has_events();
        if state.client.is_closed() && !has_events {
            return None;
        }
        state.alarm = state.client.next_deadline();
        Some(TaskDue {
            deadline: state.alarm.map(|deadline| self.io.clock.instant(deadline)),
            has_events,
            probe_every: state.client.probe_every(),
        })
    }
}

/// What the task waits for, besides its inputs.
struct TaskDue {
    deadline: Option<Instant>,
    has_events: bool,
    probe_every: Option<Duration>,
}

impl ClientIo {
    fn new(options: ClientOptions, clock: ShellClock, meter: Arc<TrafficMeter>) -> Self {
        let (report_sender, reports) = mpsc::channel(MAX_REPORTS);
        ClientIo {
            clock,
            sockets: Arc::new(Sockets::new(options.impairment, options.number)),
            options,
            report_sender,
            reports,
            world: None,
            game: None,
            connection_tasks: JoinSet::new(),
            last_connection: 0,
            lobby_ip: None,
            meter,
            probe: LobbyProbe::default(),
        }
    }

    fn execute_outputs<F: ViewFactory>(&mut self, client: &mut Client<F>) {
        while let Some(output) = client.poll_output() {
            match output {
                ClientOutput::ConnectWorld => self.connect_world(client),
                ClientOutput::ConnectGame { address, certificate_sha256, .. } => {
                    let certificate = Fingerprint(certificate_sha256);
                    let peer = Peer::Game { address, certificate, lobby: self.lobby_ip };
                    self.game = Some(self.open_connection(peer));
                }
                ClientOutput::ProveAccount(nonce) => self.prove_account(client, &nonce),
                ClientOutput::CloseWorld => self.world = None,
                ClientOutput::AbandonWorld => self.abandon_world(),
                ClientOutput::CloseGame => self.game = None,
                ClientOutput::World(message) => self.send_world(client, &message),
                ClientOutput::Game(message) => self.send_game(client, &message),
                ClientOutput::Datagram(datagram) => {
                    if let Some(connection) =
                        self.game.as_ref().and_then(|open| open.connection.as_ref())
                    {
                        // If it can't be sent, it counts as lost: the link handles that, and the
                        // reader handles a broken connection.
                        let _ = connection.send_datagram(datagram);
                    }
                }
            }
        }
    }

    /// Signs for the server whose certificate was checked. Without it the connection is gone.
    fn prove_account<F: ViewFactory>(&mut self, client: &mut Client<F>, nonce: &[u8]) {
        let connection = self.world.as_ref().and_then(|open| open.connection.as_ref());
        let server = connection.and_then(Fingerprint::of_peer);
        if let (Some(account), Some(server)) = (&self.options.account, server) {
            let server = CheckedServer::by_certificate(server.0);
            client.prove_account(self.clock.now(), account.prove(nonce, &server), &server);
        }
    }

    fn connect_world<F: ViewFactory>(&mut self, client: &mut Client<F>) {
        let trust = &self.options.trust;
        let mut servers: Vec<LobbyServer> = client
            .servers_to_dial()
            .into_iter()
            .map(|server| LobbyServer {
                address: server.address,
                trust: ServerTrust::Pinned(Fingerprint(server.certificate_sha256)),
            })
            .collect();
        if servers.is_empty() {
            let configured = client.configured_to_dial();
            servers.extend(
                configured.map(|address| LobbyServer {
                    address: address.to_owned(),
                    trust: trust.clone(),
                }),
            );
        }
        // If none answers, the ones behind the last one come next.
        if let Some(last) = servers.last() {
            client.note_dialled_address(&last.address);
        }
        self.probe = LobbyProbe::default();
        self.world = Some(self.open_connection(Peer::World { servers }));
    }

    fn send_world<F: ViewFactory>(&mut self, client: &mut Client<F>, message: &ClientToWorld) {
        let sent =
            self.world.as_ref().map(|open| open.send(encode_frame_within(message, MAX_TO_WORLD)));
        if let Some(Err(close_reason)) = sent {
            self.world = None;
            client.handle_world_closed(self.clock.now(), close_reason);
        }
    }

    fn send_game<F: ViewFactory>(&mut self, client: &mut Client<F>, message: &ClientToGame) {
        let sent =
            self.game.as_ref().map(|open| open.send(encode_frame_within(message, MAX_TO_GAME)));
        if let Some(Err(close_reason)) = sent {
            self.game = None;
            client.handle_game_closed(self.clock.now(), close_reason);
        }
    }

    /// Probes the lobby's server, whose QUIC stack answers; closes the connection if it does not.
    fn probe_lobby(&mut self) {
        self.probe.last_sent_at = Some(self.clock.instant(self.clock.now()));
        let Some(connection) = self.world.as_ref().and_then(|open| open.connection.as_ref()) else {
            return;
        };
        let received = connection.stats().udp_rx.datagrams;
        self.probe.unanswered =
            if received == self.probe.received_datagrams { self.probe.unanswered + 1 } else { 0 };
        self.probe.received_datagrams = received;
        if self.probe.unanswered >= MAX_UNANSWERED {
            self.probe = LobbyProbe::default();
            // The connection's task reports the end.
            connection.close(LOST_CLOSE_CODE.into(), b"probes not answered");
        } else {
            let _ = connection.send_datagram(Bytes::new());
        }
    }

    /// Closes the lobby's connection in such a way that the player may come back.
    fn abandon_world(&mut self) {
        if let Some(connection) = self.world.take().and_then(|open| open.connection) {
            connection.close(LOST_CLOSE_CODE.into(), b"the server does not answer");
        }
    }

    /// A datagram of that game connection, or the end of its datagrams.
    fn handle_datagram<F: ViewFactory>(
        &mut self,
        client: &mut Client<F>,
        now: LocalTime,
        connection: u64,
        datagram: Option<Bytes>,
    ) {
        let game = self.game.as_mut();
        let Some(game) = game.filter(|open| open.number == connection) else {
            return; // The client has given it up.
        };
        match datagram {
            Some(datagram) => client.handle_datagram(now, &datagram),
            // The connection's task reports the reason, after the frames that came before the end.
            None => game.datagrams_ended = true,
        }
    }

    fn handle_report<F: ViewFactory>(
        &mut self,
        client: &mut Client<F>,
        now: LocalTime,
        ConnectionReport { connection: number, content }: ConnectionReport,
    ) {
        let is = |known: &Option<OpenConnection>| {
            known.as_ref().is_some_and(|open| open.number == number)
        };
        let world = is(&self.world);
        let game = is(&self.game);
        if let ReportContent::Connected { connection, .. } = &content {
            self.meter.add(connection);
        }
        match content {
            ReportContent::Connected { connection, address } if world => {
                client.note_dialled_address(&address);
                self.lobby_ip = Some(connection.remote_address().ip());
                self.world.as_mut().expect("the report is of this connection").connection =
                    Some(connection);
                client.handle_world_connected(now);
            }
            ReportContent::Connected { connection, .. } if game => {
                self.game.as_mut().expect("the report is of this connection").connection =
                    Some(connection);
                client.handle_game_connected(now);
            }
            ReportContent::World(message) if world => {
                client.handle_world_message(now, message);
            }
            ReportContent::Game(message) if game => client.handle_game_message(now, message),
            ReportContent::Closed(close_reason) if world => {
                self.world = None;
                client.handle_world_closed(now, close_reason);
            }
            ReportContent::Closed(close_reason) if game => {
                self.game = None;
                client.handle_game_closed(now, close_reason);
            }
            // Of a connection that was given up, or of an unexpected kind.
            _ => {}
        }
        while self.connection_tasks.try_join_next().is_some() {}
    }

    fn open_connection(&mut self, peer: Peer) -> OpenConnection {
        self.last_connection += 1;
        let number = self.last_connection;
        let (frames, to_send) = mpsc::channel(MAX_FRAMES);
        tracing::debug!(connection = number, ?peer, "dialling");
        let inbox = ReportSender { connection: number, sender: self.report_sender.clone() };
        self.connection_tasks.spawn(connection::run_connection(
            peer,
            self.sockets.clone(),
            to_send,
            inbox,
        ));
        OpenConnection { number, frames, connection: None, datagrams_ended: false }
    }

    /// Waits until the connections have sent their last frames.
    async fn shut_down(mut self) {
        (self.world, self.game) = (None, None);
        drop(self.reports);
        let drained = async { while self.connection_tasks.join_next().await.is_some() {} };
        let _ = timeout(SHUTDOWN_TIMEOUT, drained).await;
        self.connection_tasks.shutdown().await;
        let _ = timeout(SHUTDOWN_TIMEOUT, self.sockets.close()).await;
    }
}

/// Waits until the next probe of the lobby's server is due.
async fn wait_for_probe(every: Option<Duration>, probe: &LobbyProbe) {
    match (every, probe.last_sent_at) {
        (Some(every), Some(at)) => sleep_until(at + every).await,
        (Some(_), None) => {}
        (None, _) => std::future::pending().await,
    }
}

/// The next datagram; `None` once there are no more.
async fn next_datagram(game: Option<(u64, &Connection)>) -> Option<Bytes> {
    game?.1.read_datagram().await.ok()
}

/// A timer whose deadline changes often, mostly to a later time: the runtime's timer is reset only
/// when the deadline moves earlier, or when it fired too early.
struct WakeTimer {
    due: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl WakeTimer {
    fn new(now: Instant) -> Self {
        Self { due: None, timer: Box::pin(sleep_until(now)) }
    }

    fn set(&mut self, due: Option<Instant>) {
        self.due = due;
        if let Some(due) = due.filter(|due| *due < self.timer.deadline()) {
            self.timer.as_mut().reset(due);
        }
    }

    fn is_set(&self) -> bool {
        self.due.is_some()
    }

    /// Waits until the deadline. It is cancel-safe.
    async fn wait(&mut self) {
        loop {
            self.timer.as_mut().await;
            match self.due {
                Some(due) if due > self.timer.deadline() => self.timer.as_mut().reset(due),
                _ => return,
            }
        }
    }
}

impl OpenConnection {
    fn send<E: std::error::Error>(&self, frame: Result<Bytes, E>) -> Result<(), CloseReason> {
        let frame = frame.map_err(|error| CloseReason::Broken(error.to_string()))?;
        match self.frames.try_send(frame) {
            // A connection that has ended reports the reason itself: its `Closed` is under way.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err(CloseReason::Broken("the server does not read".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_connection_accepts_frames_and_a_full_one_is_broken() {
        let (frames, to_send) = mpsc::channel(1);
        let open = OpenConnection { number: 1, frames, connection: None, datagrams_ended: false };
        let send = || open.send(Ok::<_, std::fmt::Error>(Bytes::from_static(b"hello")));
        assert_eq!(send(), Ok(()));
        assert!(matches!(send(), Err(CloseReason::Broken(_))));
        drop(to_send);
        assert_eq!(send(), Ok(()));
    }
}
