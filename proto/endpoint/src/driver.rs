//! The thread that drives an endpoint: its socket, its clock and what others ask of it.
//!
//! A [`Reception`] says who may connect, and gets each connection after its handshake. Commands of
//! [`DrivenConnection`]s and streams come in through one queue, packets through the socket. A turn
//! carries out all commands, reads what has arrived, calls the timers that are due, and sends what
//! all of that has caused in one batch: so a tick's datagrams leave together, and carry the
//! acknowledgements of what came before them.
//!
//! While much arrives, the socket is read once a millisecond, many packets at a time; else at once.
//! The clock is read once a turn.
//!
//! What always holds: a connection whose last handle is dropped is closed with code 0. The thread
//! ends once no handle is left and all connections have ended.
//!
//! Bounds: a stream has at most one read and one write in the queue, a connection some few
//! commands, a room the batches that it waits for. Datagrams that no one reads wait up to
//! 128 KiB a connection; then the oldest is dropped.

mod commands;
mod connection;
mod handle;
mod streams;
mod waiting;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use bytes::Bytes;
use mio::net::UdpSocket as PolledSocket;
use mio::{Events, Interest, Poll, Token, Waker};
use quinn_proto::{ConnectionError, EndpointConfig, ServerConfig, VarInt};
use tokio::sync::watch;

use self::commands::{CommandSender, EndpointCommand, WakeFlag};
pub use self::commands::{DatagramSink, SendCounts};
pub use self::connection::{DatagramBatch, DrivenConnection};
pub use self::streams::{RecvStream, SendStream};
use self::waiting::ConnectionWaits;
pub use crate::endpoint_core::LineFigures;
use crate::endpoint_core::{Admission, AskingPeer, ConnectionKey, EndpointCore, EndpointEvent};
use crate::packets::Packets;
use crate::udp::BatchSocket;
use crate::wire_bytes::WireBytes;

/// How long what arrives waits for more, while much arrives: round trips are right to this.
const READ_PAUSE: Duration = Duration::from_millis(1);
/// Much: as many packets in one turn.
const MUCH: usize = 4;
/// How often one turn asks the system for packets: what is ordered meanwhile waits for it.
const READS_A_TURN: usize = 64;

/// How often the lines of the connections are measured, while there is something to do.
const MEASURE_INTERVAL: Duration = Duration::from_secs(1);

const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);

/// Decides who may connect, and gets the connections. Called by the endpoint's thread: it must not
/// wait.
pub trait Reception: Send + 'static {
    /// The place that a connection takes until its handshake is served.
    type Permit: Send;

    /// The endpoint's thread begins.
    fn begin(&mut self) {}

    /// Lets a peer begin a handshake, or says how it is answered instead.
    fn admit(&mut self, peer: AskingPeer) -> Result<Self::Permit, Turned>;

    /// A handshake is done.
    fn serve(&mut self, connection: DrivenConnection, permit: Self::Permit);

    /// A handshake has led to nothing.
    fn note_failed(&mut self, peer: SocketAddr, error: &ConnectionError);

    /// All that has left and arrived so far. Called after each turn in which something has.
    fn note_wire(&mut self, wire: &WireBytes);
}

/// How a peer is answered that may not begin a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// It proves its address, and asks again.
    Back,
    Away,
}

/// A server's endpoint: the handle of its thread.
#[derive(Clone, Debug)]
pub struct ServerEndpoint {
    commands: CommandSender,
    local: SocketAddr,
    open: watch::Receiver<usize>,
}

impl ServerEndpoint {
    /// Starts the thread of an endpoint on a bound socket.
    pub fn start(
        socket: std::net::UdpSocket,
        config: EndpointConfig,
        server: ServerConfig,
        reception: impl Reception,
    ) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let mut polled = PolledSocket::from_std(socket.try_clone()?);
        poll.registry().register(&mut polled, SOCKET, Interest::READABLE)?;
        let (sender, commands) = command_queue();
        let sender = CommandSender::new(sender, WakeFlag::new(waker));
        let flag = sender.flag();
        let (open_sender, open) = watch::channel(0);
        // The thread itself must not keep the queue open, so it has only what its handles need.
        let handles = sender.downgrade();
        let begin = move || {
            let socket = BatchSocket::new(socket)?;
            let now = clock();
            let core = EndpointCore::new(now, config, Some(server), socket.sends_whole());
            Ok::<_, io::Error>(EndpointDriver {
                core,
                socket,
                poll,
                _polled: polled,
                commands,
                handles,
                flag,
                next: None,
                is_abandoned: false,
                is_closed: false,
                connections: ServedConnections(Vec::new()),
                measured: now,
                wire: WireBytes::default(),
                reception,
                packets: Packets::default(),
                open: open_sender,
            })
        };
        let (started, is_started) = std::sync::mpsc::sync_channel(1);
        std::thread::Builder::new().name("ambit-quic".into()).spawn(move || match begin() {
            Ok(driver) => {
                let _ = started.send(Ok(()));
                driver.run();
            }
            Err(error) => drop(started.send(Err(error))),
        })?;
        is_started.recv().map_err(|_| io::Error::other("the endpoint's thread has ended"))??;
        Ok(Self { commands: sender, local, open })
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Closes all connections, and refuses new ones from now on.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.commands.send(EndpointCommand::CloseAll(code, Bytes::copy_from_slice(reason)));
    }

    /// Waits until the thread has ended. As long as there is a handle, only a bug ends it.
    pub async fn ended(&self) {
        let mut open = self.open.clone();
        while open.changed().await.is_ok() {}
    }

    /// Waits until no connection is left, those included that only send their last packets.
    pub async fn wait_idle(&self) {
        // What was ordered before counts.
        let (done, is_done) = tokio::sync::oneshot::channel();
        self.commands.send(EndpointCommand::Note(done));
        let _ = is_done.await;
        // An error means that the thread has ended, with all connections.
        let _ = self.open.clone().wait_for(|open| *open == 0).await;
    }
}

/// What a turn has found at its socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Little,
    Much,
    /// There is still more.
    More,
}

struct EndpointDriver<R: Reception> {
    core: EndpointCore,
    socket: BatchSocket,
    poll: Poll,
    /// Registered with `poll` as long as this lives.
    _polled: PolledSocket,
    commands: Receiver<EndpointCommand>,
    handles: commands::WeakCommandSender,
    flag: Arc<WakeFlag>,
    /// A command that has ended a pause.
    next: Option<EndpointCommand>,
    /// No handle is left.
    is_abandoned: bool,
    /// New peers are refused.
    is_closed: bool,
    connections: ServedConnections<R::Permit>,
    /// When the lines of all connections were measured last.
    measured: Instant,
    /// What the reception was told last.
    wire: WireBytes,
    reception: R,
    /// Empty between turns; kept for its memory.
    packets: Packets,
    open: watch::Sender<usize>,
}

/// The connections by their slots: each packet looks for one.
struct ServedConnections<P>(Vec<Option<(ConnectionKey, Served<P>)>>);

impl<P> ServedConnections<P> {
    /// Adds a connection. One that had its slot before has ended; datagrams that no one has read
    /// of it are dropped.
    fn insert(&mut self, key: ConnectionKey, served: Served<P>) {
        if self.0.len() <= key.slot() {
            self.0.resize_with(key.slot() + 1, || None);
        }
        self.0[key.slot()] = Some((key, served));
    }

    fn get_mut(&mut self, key: ConnectionKey) -> Option<&mut Served<P>> {
        let (known, served) = self.0.get_mut(key.slot())?.as_mut()?;
        (*known == key).then_some(served)
    }

    fn remove(&mut self, key: ConnectionKey) {
        if self.get_mut(key).is_some() {
            self.0[key.slot()] = None;
        }
    }

    fn iter(&self) -> impl Iterator<Item = (ConnectionKey, &Served<P>)> {
        self.0.iter().flatten().map(|(key, served)| (*key, served))
    }
}

/// A connection, as long as it is open or has handles.
struct Served<P> {
    remote: SocketAddr,
    /// Until the handshake is done.
    permit: Option<P>,
    /// Since then.
    waits: Option<ConnectionWaits>,
}

impl<R: Reception> EndpointDriver<R> {
    fn run(mut self) {
        self.reception.begin();
        let mut events = Events::with_capacity(8);
        loop {
            let now = clock();
            self.take_commands(now);
            let arrived = self.receive(now);
            if self.core.next_deadline().is_some_and(|deadline| deadline <= now) {
                self.core.handle_timeout(now);
                self.report(now);
            }
            self.flush(now);
            self.account();
            if now.saturating_duration_since(self.measured) >= MEASURE_INTERVAL {
                self.measure(now);
            }
            let open = self.core.open_connections();
            self.open.send_if_modified(|known| std::mem::replace(known, open) != open);
            if self.is_abandoned && open == 0 {
                return;
            }
            self.wait(now, arrived, &mut events);
        }
    }

    fn take_commands(&mut self, now: Instant) {
        if let Some(command) = self.next.take() {
            self.carry_out(now, command);
        }
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.carry_out(now, command),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.is_abandoned = true;
                    return;
                }
            }
        }
    }

    /// Reads what has arrived, up to a bound. Handshakes are dear: after some the others have their
    /// turn, and the answers leave before they are too many for a peer's socket.
    fn receive(&mut self, now: Instant) -> Arrival {
        let mut count = 0;
        let mut handshakes = 0;
        for _ in 0..READS_A_TURN {
            let Self { core, socket, reception, connections, is_closed, .. } = self;
            let received = socket.receive(|packet| {
                count += 1;
                let mut permit = None;
                let accepted = core.handle_packet(now, packet, |peer| {
                    if *is_closed {
                        return Admission::Refuse;
                    }
                    match reception.admit(peer) {
                        Ok(place) => {
                            permit = Some((place, peer.address));
                            Admission::Accept
                        }
                        Err(Turned::Back) => Admission::Retry,
                        Err(Turned::Away) => Admission::Refuse,
                    }
                });
                if let (Some(key), Some((permit, remote))) = (accepted, permit) {
                    let served = Served { remote, permit: Some(permit), waits: None };
                    connections.insert(key, served);
                    handshakes += 1;
                }
            });
            self.report(now);
            // An error is of a packet that was sent, on some systems.
            if !received.unwrap_or_default() {
                return if count >= MUCH { Arrival::Much } else { Arrival::Little };
            }
            if handshakes > 0 {
                break;
            }
        }
        Arrival::More
    }

    /// Tells what has left and arrived.
    fn account(&mut self) {
        let wire = *self.core.wire_bytes();
        if wire != self.wire {
            self.wire = wire;
            self.reception.note_wire(&wire);
        }
    }

    /// Notes how the network treats each connection.
    fn measure(&mut self, now: Instant) {
        self.measured = now;
        for (key, served) in self.connections.iter() {
            if let (Some(waits), Some(line)) = (&served.waits, self.core.line(key)) {
                waits.note_line(line);
            }
        }
    }

    /// Sends what is to be sent.
    fn flush(&mut self, now: Instant) {
        loop {
            let is_more = self.core.write_packets(now, &mut self.packets);
            if !self.packets.is_empty() {
                self.socket.send(&self.packets);
                self.packets.clear();
            }
            self.report(now);
            if !is_more {
                return;
            }
        }
    }

    /// Waits until there is something to do.
    fn wait(&mut self, now: Instant, arrived: Arrival, events: &mut Events) {
        let deadline = self.core.next_deadline();
        if arrived == Arrival::More {
            return;
        }
        if arrived == Arrival::Much && !self.is_abandoned {
            let pause = deadline
                .map_or(READ_PAUSE, |deadline| deadline.saturating_duration_since(now))
                .min(READ_PAUSE);
            match self.commands.recv_timeout(pause) {
                Ok(command) => self.next = Some(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => self.is_abandoned = true,
            }
            return;
        }
        self.flag.is_waiting.store(true, Ordering::SeqCst);
        // Who sends a command either sees the flag, or the command is seen here.
        fence(Ordering::SeqCst);
        match self.commands.try_recv() {
            Ok(command) => self.next = Some(command),
            Err(error) => {
                self.is_abandoned |= error == TryRecvError::Disconnected;
                let pause = deadline.map(|deadline| deadline.saturating_duration_since(clock()));
                // An interrupted wait is repeated.
                let _ = self.poll.poll(events, pause);
            }
        }
        self.flag.is_waiting.store(false, Ordering::SeqCst);
    }

    fn carry_out(&mut self, now: Instant, command: EndpointCommand) {
        match command {
            EndpointCommand::Datagrams { datagrams, counts, done } => {
                for (key, bytes) in datagrams {
                    counts.note(self.core.send_datagram(key, bytes));
                }
                drop(done);
            }
            EndpointCommand::Close(key, code, reason) => self.core.close(now, key, code, reason),
            EndpointCommand::CloseAll(code, reason) => {
                self.is_closed = true;
                self.core.close_all(now, code, &reason);
            }
            EndpointCommand::Release(key) => {
                self.core.close(now, key, VarInt::from_u32(0), Bytes::new());
                self.connections.remove(key);
            }
            EndpointCommand::Note(done) => drop(done),
            EndpointCommand::KeyingMaterial(key, label, answer) => {
                let _ = answer.send(self.core.export_keying_material(key, label));
            }
            EndpointCommand::MaxStreams(key, dir, count) => {
                self.core.set_max_streams(key, dir, count);
            }
            EndpointCommand::Windows(key, receive, send) => {
                self.core.set_windows(key, receive, send);
            }
            EndpointCommand::Reset(key, stream, code) => self.core.reset(key, stream, code),
            EndpointCommand::Stop(key, stream, code) => self.core.stop(key, stream, code),
            EndpointCommand::OfConnection(key, command) => {
                if let Some((waits, core)) = self.waits(key) {
                    waits.handle(now, key, core, command);
                }
            }
        }
        self.report(now);
    }

    /// Those who wait for a connection, and the core.
    fn waits(&mut self, key: ConnectionKey) -> Option<(&mut ConnectionWaits, &mut EndpointCore)> {
        let waits = self.connections.get_mut(key)?.waits.as_mut()?;
        Some((waits, &mut self.core))
    }

    /// Passes on what has happened.
    fn report(&mut self, now: Instant) {
        while let Some(event) = self.core.poll_event() {
            match event {
                EndpointEvent::Connected(key) => self.serve(key),
                EndpointEvent::Lost(key, reason) => self.lose(now, key, reason),
                EndpointEvent::Datagram(key, bytes) => {
                    if let Some((waits, _)) = self.waits(key) {
                        waits.take_datagram(now, bytes);
                    }
                }
                EndpointEvent::Finished(key, stream) => {
                    if let Some((waits, _)) = self.waits(key) {
                        waits.note_end(stream, None);
                    }
                }
                EndpointEvent::Stopped(key, stream, code) => {
                    if let Some((waits, core)) = self.waits(key) {
                        waits.note_end(stream, Some(code));
                        waits.proceed(now, key, core, stream);
                    }
                }
                EndpointEvent::StreamsOpened(key, dir)
                | EndpointEvent::StreamsAvailable(key, dir) => {
                    if let Some((waits, core)) = self.waits(key) {
                        waits.hand_out_streams(key, core, dir);
                    }
                }
                EndpointEvent::Readable(key, stream) | EndpointEvent::Writable(key, stream) => {
                    if let Some((waits, core)) = self.waits(key) {
                        waits.proceed(now, key, core, stream);
                    }
                }
            }
        }
    }

    fn serve(&mut self, key: ConnectionKey) {
        let Some(served) = self.connections.get_mut(key) else { return };
        // Without handles there is no one to serve it for.
        let (Some(permit), Some(commands)) = (served.permit.take(), self.handles.upgrade()) else {
            return;
        };
        let protocol = self.core.protocol(key).unwrap_or_default();
        let longest = self.core.max_datagram_size(key);
        let line = self.core.line(key).unwrap_or_default();
        let (connection, signs) =
            DrivenConnection::new(key, served.remote, protocol, longest, commands, line);
        served.waits = Some(ConnectionWaits::new(signs));
        self.reception.serve(connection, permit);
    }

    fn lose(&mut self, now: Instant, key: ConnectionKey, reason: ConnectionError) {
        let Some(served) = self.connections.get_mut(key) else { return };
        if let Some(waits) = &mut served.waits {
            waits.end(now, key, &mut self.core, reason);
        } else {
            self.reception.note_failed(served.remote, &reason);
            self.connections.remove(key);
        }
    }
}

/// None of those who order may wait for the thread, nor may an order get lost.
#[expect(clippy::disallowed_methods, reason = "bounded by those who order; see the module")]
fn command_queue() -> (Sender<EndpointCommand>, Receiver<EndpointCommand>) {
    channel()
}

#[expect(clippy::disallowed_methods, reason = "the shell's clock")]
fn clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
