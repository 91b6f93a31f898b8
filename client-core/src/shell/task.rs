//! The task that owns a client and carries for it.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use ambit_proto::frame::{MAX_TO_GAME, MAX_TO_WORLD, encode_frame_within};
use ambit_proto::quic::Fingerprint;
use ambit_proto::time::LocalTime;
use bytes::Bytes;
use quinn::Connection;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::clock::Clock;
use super::line::{self, FRAMES, Inbox, Inward, Peer, What};
use super::sockets::Sockets;
use super::traffic::Meter;
use super::{INBOX, Options, Order, Trust};
use crate::client::event::ViewEvent;
use crate::client::lobby::Ending;
use crate::client::{Client, ClientOutput};
use crate::replica::factory::Factory;

/// How long the last words of a client may take before its sockets are closed.
const FAREWELL: Duration = Duration::from_secs(2);

pub(super) struct Task<F: Factory> {
    client: Client<F>,
    clock: Clock,
    options: Options,
    sockets: Arc<Sockets>,
    /// Held for the lines to clone.
    inbox: mpsc::Sender<Inward>,
    inward: mpsc::Receiver<Inward>,
    world: Option<Line>,
    game: Option<Line>,
    lines: JoinSet<()>,
    last_line: u64,
    /// Of the lobby server, once connected.
    lobby: Option<IpAddr>,
    meter: Arc<Meter>,
    probe: Probe,
}

/// What is known of the life of the lobby's server.
#[derive(Default)]
struct Probe {
    at: Option<Instant>,
    /// Datagrams (of UDP) that have come over the connection, at the last look.
    heard: u64,
    /// How often nothing had come since the look before, in a row.
    unanswered: u32,
}

/// A server that has not answered so often is gone.
const UNANSWERED: u32 = 3;
/// What such a connection is closed with: not 0, which would mean that the player quits.
const GONE: u32 = 1;

/// A line as the client's task sees it; dropping it closes the connection, after what was sent has
/// left.
struct Line {
    number: u64,
    frames: mpsc::Sender<Bytes>,
    /// Once the call was taken.
    connection: Option<Connection>,
    /// Whether it has ended, as far as datagrams tell.
    deaf: bool,
}

impl<F> Task<F>
where
    F: Factory + Send + 'static,
    F::View: Send,
{
    pub(super) fn new(options: Options, factory: F, meter: Arc<Meter>) -> Self {
        let (inbox, inward) = mpsc::channel(INBOX);
        Task {
            client: Client::with_factory(&options.client, factory),
            clock: Clock::start(),
            sockets: Arc::new(Sockets::new(options.impairment, options.number)),
            options,
            inbox,
            inward,
            world: None,
            game: None,
            lines: JoinSet::new(),
            last_line: 0,
            lobby: None,
            meter,
            probe: Probe::default(),
        }
    }

    pub(super) async fn run(
        mut self,
        mut orders: mpsc::Receiver<Order<F>>,
        events: mpsc::Sender<ViewEvent>,
    ) {
        self.client.connect(self.clock.now());
        let mut listening = true;
        let mut handled = true;
        let mut alarm = Alarm::new(self.clock.instant(LocalTime::ZERO));
        loop {
            self.carry_outputs();
            if self.client.is_closed() && !self.client.has_events() {
                break;
            }
            alarm.set(
                self.client
                    .next_deadline()
                    .map(|deadline| self.clock.instant(deadline)),
            );
            let ears = self
                .game
                .as_ref()
                .filter(|line| !line.deaf)
                .and_then(|line| line.connection.as_ref());
            tokio::select! {
                order = orders.recv(), if handled => if let Some(order) = order {
                    order(&mut self.client, self.clock.now());
                } else {
                    handled = false;
                    self.client.quit(self.clock.now());
                },
                Some(inward) = self.inward.recv() => self.handle(inward),
                heard = next_datagram(ears), if ears.is_some() => match heard {
                    Some(datagram) => self.client.handle_datagram(self.clock.now(), &datagram),
                    // Why it ended is for the line to say, after the frames that came before the
                    // end.
                    None => self.game.as_mut().expect("it was heard").deaf = true,
                },
                permit = events.reserve(), if listening && self.client.has_events() => match permit {
                    Ok(permit) => permit.send(self.client.poll_event().expect("an event waits")),
                    Err(_) => listening = false,
                },
                () = alarm.ring(), if alarm.is_set() => self.client.handle_timeout(self.clock.now()),
                () = probe_again(self.client.probe_every(), &self.probe) => self.probe_lobby(),
            }
            if !listening {
                while self.client.poll_event().is_some() {}
            }
        }
        self.part().await;
    }

    fn carry_outputs(&mut self) {
        while let Some(output) = self.client.poll_output() {
            match output {
                ClientOutput::ConnectWorld => {
                    let Options { server, trust, .. } = &self.options;
                    let (server, trust) = match self.client.server() {
                        Some(other) => (
                            other.address.clone(),
                            Trust::Pinned(Fingerprint(other.certificate_sha256)),
                        ),
                        None => (server.clone(), trust.clone()),
                    };
                    self.client.calling(&server);
                    self.probe = Probe::default();
                    let among_others = self.client.server().is_some();
                    self.world = Some(self.call(Peer::World {
                        server,
                        trust,
                        among_others,
                    }));
                }
                ClientOutput::ConnectGame {
                    address,
                    certificate_sha256,
                } => {
                    let certificate = Fingerprint(certificate_sha256);
                    let peer = Peer::Game {
                        address,
                        certificate,
                        lobby: self.lobby,
                    };
                    self.game = Some(self.call(peer));
                }
                ClientOutput::CloseWorld => self.world = None,
                ClientOutput::CloseGame => self.game = None,
                ClientOutput::World(message) => {
                    let sent = self
                        .world
                        .as_ref()
                        .map(|line| line.send(encode_frame_within(&message, MAX_TO_WORLD)));
                    if let Some(Err(ending)) = sent {
                        self.world = None;
                        self.client.handle_world_closed(self.clock.now(), ending);
                    }
                }
                ClientOutput::Game(message) => {
                    let sent = self
                        .game
                        .as_ref()
                        .map(|line| line.send(encode_frame_within(&message, MAX_TO_GAME)));
                    if let Some(Err(ending)) = sent {
                        self.game = None;
                        self.client.handle_game_closed(self.clock.now(), ending);
                    }
                }
                ClientOutput::Datagram(datagram) => {
                    if let Some(connection) =
                        self.game.as_ref().and_then(|line| line.connection.as_ref())
                    {
                        // Lost like any other when it can't leave; the link sees to that, and the
                        // reader to a broken connection.
                        let _ = connection.send_datagram(datagram);
                    }
                }
            }
        }
    }

    /// Asks the lobby's server for a sign of life, which QUIC gives; one that gives none is left.
    fn probe_lobby(&mut self) {
        self.probe.at = Some(self.clock.instant(self.clock.now()));
        let Some(connection) = self
            .world
            .as_ref()
            .and_then(|line| line.connection.as_ref())
        else {
            return;
        };
        let heard = connection.stats().udp_rx.datagrams;
        self.probe.unanswered = if heard == self.probe.heard {
            self.probe.unanswered + 1
        } else {
            0
        };
        self.probe.heard = heard;
        if self.probe.unanswered >= UNANSWERED {
            self.probe = Probe::default();
            // The line tells the rest.
            connection.close(GONE.into(), b"no sign of life");
        } else {
            let _ = connection.send_datagram(Bytes::new());
        }
    }

    fn handle(&mut self, Inward { line, what }: Inward) {
        let now = self.clock.now();
        let is = |known: &Option<Line>| known.as_ref().is_some_and(|known| known.number == line);
        let (world, game) = (is(&self.world), is(&self.game));
        if let What::Connected(connection) = &what {
            self.meter.add(connection);
        }
        match what {
            What::Connected(connection) if world => {
                self.lobby = Some(connection.remote_address().ip());
                self.world.as_mut().expect("it is this one").connection = Some(connection);
                self.client.handle_world_connected(now);
            }
            What::Connected(connection) if game => {
                self.game.as_mut().expect("it is this one").connection = Some(connection);
                self.client.handle_game_connected(now);
            }
            What::World(message) if world => self.client.handle_world_message(now, message),
            What::Game(message) if game => self.client.handle_game_message(now, message),
            What::Closed(ending) if world => {
                self.world = None;
                self.client.handle_world_closed(now, ending);
            }
            What::Closed(ending) if game => {
                self.game = None;
                self.client.handle_game_closed(now, ending);
            }
            // Of a line that was given up, or of a kind that it has no business with.
            _ => {}
        }
        while self.lines.try_join_next().is_some() {}
    }

    fn call(&mut self, peer: Peer) -> Line {
        self.last_line += 1;
        let number = self.last_line;
        let (frames, to_send) = mpsc::channel(FRAMES);
        tracing::debug!(line = number, ?peer, "calling");
        let inbox = Inbox {
            line: number,
            sender: self.inbox.clone(),
        };
        self.lines
            .spawn(line::carry(peer, self.sockets.clone(), to_send, inbox));
        Line {
            number,
            frames,
            connection: None,
            deaf: false,
        }
    }

    /// Lets the lines say their last words.
    async fn part(mut self) {
        (self.world, self.game) = (None, None);
        drop(self.inward);
        let said = async { while self.lines.join_next().await.is_some() {} };
        let _ = timeout(FAREWELL, said).await;
        self.lines.shutdown().await;
        let _ = timeout(FAREWELL, self.sockets.close()).await;
    }
}

/// Waits until the lobby's server is to be asked again.
async fn probe_again(every: Option<Duration>, probe: &Probe) {
    match (every, probe.at) {
        (Some(every), Some(at)) => sleep_until(at + every).await,
        (Some(_), None) => {}
        (None, _) => std::future::pending().await,
    }
}

/// The next datagram; `None` once there are no more.
async fn next_datagram(ears: Option<&Connection>) -> Option<Bytes> {
    ears?.read_datagram().await.ok()
}

/// Rings at a moment that is moved all the time, mostly to later: the runtime's timer is touched
/// only when it has to ring earlier, or has rung too early.
struct Alarm {
    due: Option<Instant>,
    timer: Pin<Box<Sleep>>,
}

impl Alarm {
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

    /// Waits until it is due. Nothing is lost when that is given up half-way.
    async fn ring(&mut self) {
        loop {
            self.timer.as_mut().await;
            match self.due {
                Some(due) if due > self.timer.deadline() => self.timer.as_mut().reset(due),
                _ => return,
            }
        }
    }
}

impl Line {
    fn send<E: std::error::Error>(&self, frame: Result<Bytes, E>) -> Result<(), Ending> {
        let frame = frame.map_err(|error| Ending::Broken(error.to_string()))?;
        match self.frames.try_send(frame) {
            // A line that has ended says why by itself: its `Closed` is under way.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                Err(Ending::Broken("the server does not read".to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_has_ended_takes_what_is_sent_and_one_that_is_full_is_broken() {
        let (frames, to_send) = mpsc::channel(1);
        let line = Line {
            number: 1,
            frames,
            connection: None,
            deaf: false,
        };
        let send = || line.send(Ok::<_, std::fmt::Error>(Bytes::from_static(b"hello")));
        assert_eq!(send(), Ok(()));
        assert!(matches!(send(), Err(Ending::Broken(_))));
        drop(to_send);
        assert_eq!(send(), Ok(()));
    }
}
