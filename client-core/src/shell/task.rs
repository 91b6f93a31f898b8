//! The task that owns a client and does its I/O.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::control::game::ClientToGame;
use ambit_proto::control::world::ClientToWorld;
use ambit_proto::time::LocalTime;
use ambit_transport::frame::{MAX_TO_GAME, MAX_TO_WORLD, encode_frame_within};
use ambit_transport::quic::Fingerprint;
use bytes::Bytes;
use quinn::Connection;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::clock::ShellClock;
use super::connection::{self, ConnectionReport, MAX_FRAMES, Peer, ReportContent, ReportSender};
use super::sockets::Sockets;
use super::traffic::TrafficMeter;
use super::{ClientJob, ClientOptions, MAX_REPORTS, ServerTrust};
use crate::client::event::ViewEvent;
use crate::client::lobby::CloseReason;
use crate::client::{Client, ClientOutput};
use crate::replica::factory::ViewFactory;

/// How long the last frames may take before the sockets are closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) struct ClientTask<F: ViewFactory> {
    client: Client<F>,
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
/// sent so far has left.
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
    pub(super) fn new(options: ClientOptions, factory: F, meter: Arc<TrafficMeter>) -> Self {
        let (inbox, inward) = mpsc::channel(MAX_REPORTS);
        ClientTask {
            client: Client::with_factory(&options.client, factory),
            clock: ShellClock::start(),
            sockets: Arc::new(Sockets::new(options.impairment, options.number)),
            options,
            report_sender: inbox,
            reports: inward,
            world: None,
            game: None,
            connection_tasks: JoinSet::new(),
            last_connection: 0,
            lobby_ip: None,
            meter,
            probe: LobbyProbe::default(),
        }
    }

    pub(super) async fn run(
        mut self,
        mut orders: mpsc::Receiver<ClientJob<F>>,
        events: mpsc::Sender<ViewEvent>,
    ) {
        self.client.connect(self.clock.now());
        let mut listening = true;
        let mut handled = true;
        let mut alarm = WakeTimer::new(self.clock.instant(LocalTime::ZERO));
        loop {
            self.execute_outputs();
            if self.client.is_closed() && !self.client.has_events() {
                break;
            }
            alarm.set(
                self.client
                    .next_deadline()
                    .map(|deadline| self.clock.instant(deadline)),
            );
            let game_connection = self
                .game
                .as_ref()
                .filter(|open| !open.datagrams_ended)
                .and_then(|open| open.connection.as_ref());
            tokio::select! {
                order = orders.recv(), if handled => if let Some(order) = order {
                    order(&mut self.client, self.clock.now());
                } else {
                    handled = false;
                    self.client.quit(self.clock.now());
                },
                Some(inward) = self.reports.recv() => self.handle_report(inward),
                datagram = next_datagram(game_connection), if game_connection.is_some() => {
                    if let Some(datagram) = datagram {
                        self.client.handle_datagram(self.clock.now(), &datagram);
                    } else {
                        // The connection's task reports the reason, after the frames that came
                        // before the end.
                        let game = self.game.as_mut().expect("a datagram was read from it");
                        game.datagrams_ended = true;
                    }
                }
                permit = events.reserve(), if listening && self.client.has_events() => {
                    match permit {
                        Ok(permit) => {
                            permit.send(self.client.poll_event().expect("has_events was true"));
                        }
                        Err(_) => listening = false,
                    }
                }
                () = alarm.wait(), if alarm.is_set() => {
                    self.client.handle_timeout(self.clock.now());
                }
                () = wait_for_probe(self.client.probe_every(), &self.probe) => self.probe_lobby(),
            }
            if !listening {
                while self.client.poll_event().is_some() {}
            }
        }
        self.shut_down().await;
    }

    fn execute_outputs(&mut self) {
        while let Some(output) = self.client.poll_output() {
            match output {
                ClientOutput::ConnectWorld => self.connect_world(),
                ClientOutput::ConnectGame {
                    address,
                    certificate_sha256,
                } => {
                    let certificate = Fingerprint(certificate_sha256);
                    let peer = Peer::Game {
                        address,
                        certificate,
                        lobby: self.lobby_ip,
                    };
                    self.game = Some(self.open_connection(peer));
                }
                ClientOutput::CloseWorld => self.world = None,
                ClientOutput::CloseGame => self.game = None,
                ClientOutput::World(message) => self.send_world(&message),
                ClientOutput::Game(message) => self.send_game(&message),
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

    fn connect_world(&mut self) {
        let ClientOptions { server, trust, .. } = &self.options;
        let (server, trust) = match self.client.server() {
            Some(other) => (
                other.address.clone(),
                ServerTrust::Pinned(Fingerprint(other.certificate_sha256)),
            ),
            None => (server.clone(), trust.clone()),
        };
        self.client.note_dialled_address(&server);
        self.probe = LobbyProbe::default();
        let has_alternatives = self.client.server().is_some();
        self.world = Some(self.open_connection(Peer::World {
            server,
            trust,
            has_alternatives,
        }));
    }

    fn send_world(&mut self, message: &ClientToWorld) {
        let sent = self
            .world
            .as_ref()
            .map(|open| open.send(encode_frame_within(message, MAX_TO_WORLD)));
        if let Some(Err(close_reason)) = sent {
            self.world = None;
            self.client
                .handle_world_closed(self.clock.now(), close_reason);
        }
    }

    fn send_game(&mut self, message: &ClientToGame) {
        let sent = self
            .game
            .as_ref()
            .map(|open| open.send(encode_frame_within(message, MAX_TO_GAME)));
        if let Some(Err(close_reason)) = sent {
            self.game = None;
            self.client
                .handle_game_closed(self.clock.now(), close_reason);
        }
    }

    /// Probes the lobby's server, whose QUIC stack answers; closes the connection if it does not.
    fn probe_lobby(&mut self) {
        self.probe.last_sent_at = Some(self.clock.instant(self.clock.now()));
        let Some(connection) = self
            .world
            .as_ref()
            .and_then(|open| open.connection.as_ref())
        else {
            return;
        };
        let received = connection.stats().udp_rx.datagrams;
        self.probe.unanswered = if received == self.probe.received_datagrams {
            self.probe.unanswered + 1
        } else {
            0
        };
        self.probe.received_datagrams = received;
        if self.probe.unanswered >= MAX_UNANSWERED {
            self.probe = LobbyProbe::default();
            // The connection's task reports the end.
            connection.close(LOST_CLOSE_CODE.into(), b"probes not answered");
        } else {
            let _ = connection.send_datagram(Bytes::new());
        }
    }

    fn handle_report(
        &mut self,
        ConnectionReport {
            connection: number,
            content,
        }: ConnectionReport,
    ) {
        let now = self.clock.now();
        let is = |known: &Option<OpenConnection>| {
            known.as_ref().is_some_and(|open| open.number == number)
        };
        let (world, game) = (is(&self.world), is(&self.game));
        if let ReportContent::Connected(connection) = &content {
            self.meter.add(connection);
        }
        match content {
            ReportContent::Connected(connection) if world => {
                self.lobby_ip = Some(connection.remote_address().ip());
                self.world
                    .as_mut()
                    .expect("the report is of this connection")
                    .connection = Some(connection);
                self.client.handle_world_connected(now);
            }
            ReportContent::Connected(connection) if game => {
                self.game
                    .as_mut()
                    .expect("the report is of this connection")
                    .connection = Some(connection);
                self.client.handle_game_connected(now);
            }
            ReportContent::World(message) if world => {
                self.client.handle_world_message(now, message);
            }
            ReportContent::Game(message) if game => self.client.handle_game_message(now, message),
            ReportContent::Closed(close_reason) if world => {
                self.world = None;
                self.client.handle_world_closed(now, close_reason);
            }
            ReportContent::Closed(close_reason) if game => {
                self.game = None;
                self.client.handle_game_closed(now, close_reason);
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
        let inbox = ReportSender {
            connection: number,
            sender: self.report_sender.clone(),
        };
        self.connection_tasks.spawn(connection::run_connection(
            peer,
            self.sockets.clone(),
            to_send,
            inbox,
        ));
        OpenConnection {
            number,
            frames,
            connection: None,
            datagrams_ended: false,
        }
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
async fn next_datagram(game_connection: Option<&Connection>) -> Option<Bytes> {
    game_connection?.read_datagram().await.ok()
}

/// A timer whose deadline changes often, mostly to a later time: the runtime's timer is reset only
/// when the deadline moves earlier, or when it fired too early.
struct WakeTimer {
    due: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl WakeTimer {
    fn new(now: Instant) -> Self {
        Self {
            due: None,
            timer: Box::pin(sleep_until(now)),
        }
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
        let open = OpenConnection {
            number: 1,
            frames,
            connection: None,
            datagrams_ended: false,
        };
        let send = || open.send(Ok::<_, std::fmt::Error>(Bytes::from_static(b"hello")));
        assert_eq!(send(), Ok(()));
        assert!(matches!(send(), Err(CloseReason::Broken(_))));
        drop(to_send);
        assert_eq!(send(), Ok(()));
    }
}
