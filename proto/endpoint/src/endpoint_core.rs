//! The endpoint: all connections of one socket.
//!
//! Packets go in with the time of their arrival; [`EndpointEvent`]s and [`Packets`] come out. There
//! is no socket, clock or thread here, and no random source but those of the configuration.
//!
//! Contract of the owner: after each call it polls [`EndpointCore::poll_event`] until that returns
//! `None`; before it waits it calls [`EndpointCore::write_packets`] and sends what that writes,
//! until nothing is left; at [`EndpointCore::next_deadline`] it calls
//! [`EndpointCore::handle_timeout`].
//!
//! What always holds: the last event of a connection is [`EndpointEvent::Lost`], exactly one, and
//! its key is never used again. A connection is established within [`HANDSHAKE_WITHIN`] or lost.
//! Calls with the key of a connection that is lost do nothing.
//!
//! When packets leave: at once after a call from above and during a handshake; what the arrival of
//! packets causes by itself within [`LAG`], unless the connection's streams are in use: then at
//! once as well.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::HandshakeData;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, Incoming, ReadError, ReadableError,
    SendDatagramError, ServerConfig, StreamEvent, StreamId, VarInt, WriteError,
};

use crate::due_times::{DueConnection, DueTimes};
use crate::packets::Packets;
use crate::wire_bytes::{SeenFrames, WireBytes, id_lengths};

/// How long a handshake may take: four round trips on a bad path with two losses.
pub const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// How long what a packet's arrival causes may wait for the connection's next datagram: half a tick
/// at 20 Hz.
pub const LAG: Duration = Duration::from_millis(25);

/// For how long a connection's streams count as in use after a call.
const STREAMS_IN_USE: Duration = Duration::from_secs(1);

/// Packets that [`EndpointCore::write_packets`] writes before it returns; one connection's burst
/// may come on top.
pub const PACKETS_AT_ONCE: usize = 256;

/// A connection of an endpoint. No other connection of the endpoint has the same key, ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionKey {
    slot: u32,
    /// The how-manieth connection in this slot.
    life: u32,
}

impl ConnectionKey {
    /// Its place in an array of connections; others have it before and after it.
    pub(crate) fn slot(self) -> usize {
        self.slot as usize
    }
}

/// A packet that has arrived.
#[derive(Debug)]
pub struct ReceivedPacket {
    pub from: SocketAddr,
    /// The own address that it was sent to, if the socket knows.
    pub to: Option<IpAddr>,
    /// Whether the path says that it is congested.
    pub mark: Option<EcnCodepoint>,
    pub bytes: BytesMut,
}

/// A peer that asks for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskingPeer {
    pub address: SocketAddr,
    /// Whether it can be asked to prove its address first.
    pub may_retry: bool,
}

/// The answer to a peer that asks for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The handshake begins.
    Accept,
    /// The peer gets a token for its address, with which it asks again.
    Retry,
    Refuse,
}

/// What has happened. Of a connection's streams it says where it is worth to look.
#[derive(Debug)]
pub enum EndpointEvent {
    /// The handshake is done.
    Connected(ConnectionKey),
    /// The connection has ended, by either side.
    Lost(ConnectionKey, ConnectionError),
    Datagram(ConnectionKey, Bytes),
    /// The peer has opened streams.
    StreamsOpened(ConnectionKey, Dir),
    /// The peer allows further streams.
    StreamsAvailable(ConnectionKey, Dir),
    Readable(ConnectionKey, StreamId),
    Writable(ConnectionKey, StreamId),
    /// The peer has all bytes of a stream that was finished.
    Finished(ConnectionKey, StreamId),
    /// The peer reads no more of a stream.
    Stopped(ConnectionKey, StreamId, VarInt),
}

/// How the network treats a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LineFigures {
    /// Smoothed.
    pub round_trip: Duration,
    /// The share of the packets to the peer that were lost, from 0 to 1.
    pub loss: f64,
}

/// Why a stream gives nothing or takes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamProblem {
    /// Nothing at the moment: an event follows.
    #[error("the stream is blocked")]
    Blocked,
    /// By the peer: it has reset what is read, or stopped what is written.
    #[error("the peer has ended the stream with code {0}")]
    ByPeer(VarInt),
    /// It was finished, reset or stopped here, or was never open.
    #[error("the stream is closed")]
    Closed,
    #[error("the connection is lost")]
    Lost,
}

/// Why a datagram is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatagramProblem {
    #[error("the datagram is too large for the connection")]
    TooLarge,
    #[error("the peer takes no datagrams")]
    Unsupported,
    #[error("the connection is lost")]
    Lost,
}

/// See the module.
#[derive(Debug)]
pub struct EndpointCore {
    quic: Endpoint,
    slots: Vec<ConnectionSlot>,
    times: DueTimes,
    /// Connections whose packets leave now, each once.
    unsent: VecDeque<u32>,
    events: VecDeque<EndpointEvent>,
    /// Answers that belong to no connection.
    answers: Packets,
    /// Empty between calls; kept for its memory.
    due: Vec<DueConnection>,
    open: usize,
    wire: WireBytes,
    /// What the datagrams carry that were received since the newest packet came.
    received_contents: usize,
}

#[derive(Debug, Default)]
struct ConnectionSlot {
    life: u32,
    connection: Option<Box<LiveConnection>>,
}

#[derive(Debug)]
struct LiveConnection {
    quic: Connection,
    /// When the handshake is given up; `None` once it is done.
    handshake_until: Option<Instant>,
    streams_in_use_until: Instant,
    is_unsent: bool,
    /// Whether `Lost` was reported: then the connection only sends its last packets.
    is_lost: bool,
    sent: SeenFrames,
    received: SeenFrames,
}

impl EndpointCore {
    /// An endpoint without connections; with a server's configuration it can be asked for them.
    /// `sends_whole`: the socket never splits a packet, so that larger ones can be tried.
    pub fn new(
        now: Instant,
        config: EndpointConfig,
        server: Option<ServerConfig>,
        sends_whole: bool,
    ) -> Self {
        let server = server.map(Arc::new);
        Self {
            quic: Endpoint::new(Arc::new(config), server, sends_whole, None),
            slots: Vec::new(),
            times: DueTimes::new(now),
            unsent: VecDeque::new(),
            events: VecDeque::new(),
            answers: Packets::default(),
            due: Vec::new(),
            open: 0,
            wire: WireBytes::default(),
            received_contents: 0,
        }
    }

    /// Handles a packet. `admit` answers a peer that asks for a connection by it. Returns the
    /// connection whose handshake begins.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        packet: ReceivedPacket,
        admit: impl FnOnce(AskingPeer) -> Admission,
    ) -> Option<ConnectionKey> {
        let ReceivedPacket { from, to, mark, bytes } = packet;
        let size = bytes.len();
        let ids = id_lengths(&bytes);
        let mut event = None;
        let quic = &mut self.quic;
        self.answers.write(|buffer| match quic.handle(now, from, to, mark, bytes, buffer) {
            Some(DatagramEvent::Response(answer)) => Some(answer),
            other => {
                event = other;
                None
            }
        });
        match event {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                let slot = handle.0 as u32;
                if let Some(live) = self.live(slot) {
                    if let Some(ids) = ids {
                        [live.received.id_bytes, live.sent.id_bytes] = ids;
                    }
                    live.quic.handle_event(event);
                    self.received_contents = 0;
                    self.settle(now, slot);
                    self.note_received(slot, size);
                    self.schedule(now, slot);
                }
                None
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.wire.received.note_stray(size, true);
                self.answer(now, incoming, admit)
            }
            Some(DatagramEvent::Response(_)) | None => {
                self.wire.received.note_stray(size, false);
                None
            }
        }
    }

    fn note_received(&mut self, slot: u32, size: usize) {
        let Self { slots, wire, received_contents, .. } = self;
        match slots[slot as usize].connection.as_deref_mut() {
            Some(live) => {
                let (seen, contents) = (&mut live.received, *received_contents);
                if !wire.received.note_plain(seen, size, contents) {
                    wire.received.note(seen, size, contents, &live.quic.stats().frame_rx);
                }
            }
            // By its last packet the connection is done.
            None => wire.received.note_stray(size, false),
        }
    }

    fn answer(
        &mut self,
        now: Instant,
        incoming: Incoming,
        admit: impl FnOnce(AskingPeer) -> Admission,
    ) -> Option<ConnectionKey> {
        let peer =
            AskingPeer { address: incoming.remote_address(), may_retry: incoming.may_retry() };
        let quic = &mut self.quic;
        match admit(peer) {
            Admission::Refuse => {
                self.answers.write(|buffer| Some(quic.refuse(incoming, buffer)));
                None
            }
            Admission::Retry => {
                self.answers.write(|buffer| match quic.retry(incoming, buffer) {
                    Ok(answer) => Some(answer),
                    Err(error) => Some(quic.refuse(error.into_incoming(), buffer)),
                });
                None
            }
            Admission::Accept => {
                let mut accepted = None;
                self.answers.write(|buffer| match quic.accept(incoming, now, buffer, None) {
                    Ok(connection) => {
                        accepted = Some(connection);
                        None
                    }
                    Err(error) => error.response,
                });
                let (handle, connection) = accepted?;
                let key = self.insert(now, handle, connection);
                self.settle(now, key.slot);
                self.send_now(key.slot);
                Some(key)
            }
        }
    }

    /// Asks a server for a connection, as a client.
    pub fn connect(
        &mut self,
        now: Instant,
        config: ClientConfig,
        server: SocketAddr,
        name: &str,
    ) -> Result<ConnectionKey, ConnectError> {
        let (handle, connection) = self.quic.connect(now, config, server, name)?;
        let key = self.insert(now, handle, connection);
        self.send_now(key.slot);
        Ok(key)
    }

    /// Calls the timers that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let mut due = std::mem::take(&mut self.due);
        self.times.collect(now, &mut due);
        for DueConnection { slot, is_timer } in due.drain(..) {
            let Some(live) = self.live(slot) else { continue };
            if live.handshake_until.is_some_and(|until| until <= now) {
                live.handshake_until = None;
                live.quic.close(now, VarInt::from_u32(0), Bytes::new());
                self.lose(slot, ConnectionError::TimedOut);
            } else if is_timer {
                live.quic.handle_timeout(now);
            }
            self.settle(now, slot);
            self.send_now(slot);
            if self.live(slot).is_some() {
                self.set_timer(now, slot);
            }
        }
        self.due = due;
    }

    /// When [`Self::handle_timeout`] is to be called.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.times.next_deadline()
    }

    /// What has happened next.
    pub fn poll_event(&mut self) -> Option<EndpointEvent> {
        self.events.pop_front()
    }

    /// Appends packets that leave now. `false` once nothing is left; until then they are sent, and
    /// this is called again.
    pub fn write_packets(&mut self, now: Instant, packets: &mut Packets) -> bool {
        for answer in self.answers.targets() {
            self.wire.sent.note_stray(answer.bytes.len(), true);
        }
        packets.append(&mut self.answers);
        while packets.len() < PACKETS_AT_ONCE {
            let Some(slot) = self.unsent.pop_front() else {
                return false;
            };
            let Self { slots, wire, .. } = self;
            let Some(live) = slots[slot as usize].connection.as_deref_mut() else { continue };
            live.is_unsent = false;
            while live.write_packet(now, packets, wire) {}
            self.times.flushed(slot);
            self.settle(now, slot);
            if self.live(slot).is_some() {
                self.set_timer(now, slot);
            }
        }
        true
    }

    /// What has left and arrived on the wire.
    pub fn wire_bytes(&self) -> &WireBytes {
        &self.wire
    }

    /// The number of connections, those included that only send their last packets.
    pub fn open_connections(&self) -> usize {
        self.open
    }

    /// Closes a connection: nothing of it is sent any more but the code and the reason.
    pub fn close(&mut self, now: Instant, key: ConnectionKey, code: VarInt, reason: Bytes) {
        if let Some(live) = self.find(key) {
            live.quic.close(now, code, reason);
            self.lose(key.slot, ConnectionError::LocallyClosed);
            self.settle(now, key.slot);
            self.send_now(key.slot);
        }
    }

    /// Closes all connections.
    pub fn close_all(&mut self, now: Instant, code: VarInt, reason: &Bytes) {
        for slot in 0..self.slots.len() as u32 {
            let life = self.slots[slot as usize].life;
            self.close(now, ConnectionKey { slot, life }, code, reason.clone());
        }
    }

    /// Queues a datagram. Returns whether older ones were dropped for it.
    pub fn send_datagram(
        &mut self,
        key: ConnectionKey,
        bytes: Bytes,
    ) -> Result<bool, DatagramProblem> {
        let live = self.find(key).ok_or(DatagramProblem::Lost)?;
        let mut datagrams = live.quic.datagrams();
        let drops_others = datagrams.send_buffer_space() < bytes.len();
        match datagrams.send(bytes, true) {
            Ok(()) => {
                self.send_now(key.slot);
                Ok(drops_others)
            }
            Err(SendDatagramError::TooLarge) => Err(DatagramProblem::TooLarge),
            Err(_) => Err(DatagramProblem::Unsupported),
        }
    }

    /// The longest datagram that can be sent; `None` if the peer takes none.
    pub fn max_datagram_size(&mut self, key: ConnectionKey) -> Option<usize> {
        self.find(key)?.quic.datagrams().max_size()
    }

    /// Where the peer is now.
    pub fn remote_address(&self, key: ConnectionKey) -> Option<SocketAddr> {
        Some(self.look_up(key)?.quic.remote_address())
    }

    /// How the network treats the connection.
    pub fn line(&self, key: ConnectionKey) -> Option<LineFigures> {
        let path = self.look_up(key)?.quic.stats().path;
        let loss = path.lost_packets as f64 / path.sent_packets.max(1) as f64;
        Some(LineFigures { round_trip: path.rtt, loss })
    }

    /// The protocol that both ends have agreed on, once the connection is established.
    pub fn protocol(&self, key: ConnectionKey) -> Option<Vec<u8>> {
        let data = self.look_up(key)?.quic.crypto_session().handshake_data()?;
        data.downcast::<HandshakeData>().ok()?.protocol
    }

    /// Bytes that both ends of this connection derive from it, and no others (RFC 8446, section
    /// 7.5).
    pub fn export_keying_material(&self, key: ConnectionKey, label: &[u8]) -> Option<[u8; 32]> {
        let mut material = [0; 32];
        let live = self.look_up(key).filter(|live| !live.is_lost)?;
        let session = live.quic.crypto_session();
        session.export_keying_material(&mut material, label, &[]).ok()?;
        Some(material)
    }

    /// How many streams the peer may have open.
    pub fn set_max_streams(&mut self, key: ConnectionKey, dir: Dir, count: u32) {
        if let Some(live) = self.find(key) {
            live.quic.set_max_concurrent_streams(dir, VarInt::from_u32(count));
            self.send_now(key.slot);
        }
    }

    /// Bytes that the peer may send unread, and bytes that are sent to it unacknowledged, over all
    /// streams.
    pub fn set_windows(&mut self, key: ConnectionKey, receive: VarInt, send: u64) {
        if let Some(live) = self.find(key) {
            live.quic.set_receive_window(receive);
            live.quic.set_send_window(send);
            self.send_now(key.slot);
        }
    }

    /// Opens a stream. It is blocked while the peer allows no more of them.
    pub fn open_stream(&mut self, key: ConnectionKey, dir: Dir) -> Result<StreamId, StreamProblem> {
        let live = self.find(key).ok_or(StreamProblem::Lost)?;
        live.quic.streams().open(dir).ok_or(StreamProblem::Blocked)
    }

    /// The next stream that the peer has opened. It is blocked until there is one.
    pub fn accept_stream(
        &mut self,
        key: ConnectionKey,
        dir: Dir,
    ) -> Result<StreamId, StreamProblem> {
        let live = self.find(key).ok_or(StreamProblem::Lost)?;
        let accepted = live.quic.streams().accept(dir).ok_or(StreamProblem::Blocked)?;
        // The peer may open another one.
        self.send_now(key.slot);
        Ok(accepted)
    }

    /// The next bytes of a stream, at most `limit`; `None` at its end. What has arrived can still
    /// be read for a moment after the connection was lost.
    pub fn read(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        stream: StreamId,
        limit: usize,
    ) -> Result<Option<Bytes>, StreamProblem> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.life == key.life);
        let live = slot.and_then(|slot| slot.connection.as_deref_mut());
        let live = live.ok_or(StreamProblem::Lost)?;
        live.streams_in_use_until = now + STREAMS_IN_USE;
        let is_lost = live.is_lost;
        let mut receiving = live.quic.recv_stream(stream);
        let mut chunks = receiving.read(true).map_err(|error| match error {
            ReadableError::ClosedStream | ReadableError::IllegalOrderedRead => {
                StreamProblem::Closed
            }
        })?;
        let next = chunks.next(limit);
        if chunks.finalize().should_transmit() {
            self.send_now(key.slot);
        }
        match next {
            Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes)),
            Err(ReadError::Blocked) if is_lost => Err(StreamProblem::Lost),
            Err(ReadError::Blocked) => Err(StreamProblem::Blocked),
            Err(ReadError::Reset(code)) => Err(StreamProblem::ByPeer(code)),
        }
    }

    /// Reads no more of a stream, and tells the peer so.
    pub fn stop(&mut self, key: ConnectionKey, stream: StreamId, code: VarInt) {
        if let Some(live) = self.find(key) {
            // Of a stream that has ended nothing more comes anyway.
            let _ = live.quic.recv_stream(stream).stop(code);
            self.send_now(key.slot);
        }
    }

    /// Writes to a stream; returns how many bytes it takes.
    pub fn write(
        &mut self,
        now: Instant,
        key: ConnectionKey,
        stream: StreamId,
        bytes: &[u8],
    ) -> Result<usize, StreamProblem> {
        let live = self.find(key).ok_or(StreamProblem::Lost)?;
        live.streams_in_use_until = now + STREAMS_IN_USE;
        let written = live.quic.send_stream(stream).write(bytes);
        self.send_now(key.slot);
        written.map_err(|error| match error {
            WriteError::Blocked => StreamProblem::Blocked,
            WriteError::Stopped(code) => StreamProblem::ByPeer(code),
            WriteError::ClosedStream => StreamProblem::Closed,
        })
    }

    /// Nothing more is written to a stream.
    pub fn finish(&mut self, key: ConnectionKey, stream: StreamId) {
        if let Some(live) = self.find(key) {
            // A stream that is stopped or closed is finished already.
            let _ = live.quic.send_stream(stream).finish();
            self.send_now(key.slot);
        }
    }

    /// Gives up what was written to a stream, and tells the peer so.
    pub fn reset(&mut self, key: ConnectionKey, stream: StreamId, code: VarInt) {
        if let Some(live) = self.find(key) {
            let _ = live.quic.send_stream(stream).reset(code);
            self.send_now(key.slot);
        }
    }

    fn insert(
        &mut self,
        now: Instant,
        handle: ConnectionHandle,
        connection: Connection,
    ) -> ConnectionKey {
        let slot = handle.0;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, ConnectionSlot::default);
        }
        let ConnectionSlot { life, connection: place } = &mut self.slots[slot];
        *life += 1;
        *place = Some(Box::new(LiveConnection {
            quic: connection,
            handshake_until: Some(now + HANDSHAKE_WITHIN),
            streams_in_use_until: now,
            is_unsent: false,
            is_lost: false,
            sent: SeenFrames::default(),
            received: SeenFrames::default(),
        }));
        let key = ConnectionKey { slot: slot as u32, life: *life };
        self.open += 1;
        self.times.clear(key.slot);
        key
    }

    fn live(&mut self, slot: u32) -> Option<&mut LiveConnection> {
        self.slots.get_mut(slot as usize)?.connection.as_deref_mut()
    }

    /// A connection that is not lost.
    fn find(&mut self, key: ConnectionKey) -> Option<&mut LiveConnection> {
        let slot = self.slots.get_mut(key.slot as usize)?;
        let is_same = slot.life == key.life;
        slot.connection.as_deref_mut().filter(|live| is_same && !live.is_lost)
    }

    fn look_up(&self, key: ConnectionKey) -> Option<&LiveConnection> {
        let slot = self.slots.get(key.slot as usize)?;
        slot.connection.as_deref().filter(|_| slot.life == key.life)
    }

    fn send_now(&mut self, slot: u32) {
        if let Some(live) = self.live(slot)
            && !std::mem::replace(&mut live.is_unsent, true)
        {
            self.unsent.push_back(slot);
        }
    }

    /// After a packet has arrived: when what it causes is to leave.
    fn schedule(&mut self, now: Instant, slot: u32) {
        let Some(live) = self.live(slot) else { return };
        let is_quiet =
            live.handshake_until.is_none() && live.streams_in_use_until < now && !live.is_lost;
        if is_quiet {
            self.times.flush_by(slot, now + LAG);
            self.set_timer(now, slot);
        } else {
            self.send_now(slot);
        }
    }

    fn set_timer(&mut self, now: Instant, slot: u32) {
        let live = self.slots[slot as usize].connection.as_mut().expect("a live connection");
        let timer = live.quic.poll_timeout();
        let due = match live.handshake_until {
            Some(until) => Some(timer.map_or(until, |timer| timer.min(until))),
            None => timer,
        };
        let may_postpone = live.handshake_until.is_none() && !live.is_lost;
        self.times.set_timer(now, slot, due, may_postpone);
    }

    /// Passes on what a connection has to tell the endpoint and the owner, and forgets it once it
    /// is done.
    fn settle(&mut self, now: Instant, slot: u32) {
        let life = self.slots[slot as usize].life;
        let key = ConnectionKey { slot, life };
        while let Some(live) = self.slots[slot as usize].connection.as_deref_mut()
            && let Some(event) = live.quic.poll_endpoint_events()
        {
            let is_drained = event.is_drained();
            if let Some(event) = self.quic.handle_event(ConnectionHandle(slot as usize), event) {
                live.quic.handle_event(event);
            }
            if is_drained {
                // Its last events are still reported below.
                break;
            }
        }
        while let Some(live) = self.live(slot)
            && let Some(event) = live.quic.poll()
        {
            self.report(now, key, event);
        }
        if self.live(slot).is_some_and(|live| live.quic.is_drained()) {
            self.lose(slot, ConnectionError::TimedOut);
            self.slots[slot as usize].connection = None;
            self.times.clear(slot);
            self.open -= 1;
        }
    }

    fn report(&mut self, now: Instant, key: ConnectionKey, event: Event) {
        let Some(live) = self.live(key.slot).filter(|live| !live.is_lost) else {
            return;
        };
        let event = match event {
            Event::Connected => {
                live.handshake_until = None;
                // The first streams follow.
                live.streams_in_use_until = now + STREAMS_IN_USE;
                EndpointEvent::Connected(key)
            }
            Event::ConnectionLost { reason } => return self.lose(key.slot, reason),
            Event::DatagramReceived => {
                while let Some(bytes) =
                    self.live(key.slot).and_then(|live| live.quic.datagrams().recv())
                {
                    self.received_contents += bytes.len();
                    self.events.push_back(EndpointEvent::Datagram(key, bytes));
                }
                return;
            }
            Event::Stream(StreamEvent::Opened { dir }) => EndpointEvent::StreamsOpened(key, dir),
            Event::Stream(StreamEvent::Available { dir }) => {
                EndpointEvent::StreamsAvailable(key, dir)
            }
            Event::Stream(StreamEvent::Readable { id }) => EndpointEvent::Readable(key, id),
            Event::Stream(StreamEvent::Writable { id }) => EndpointEvent::Writable(key, id),
            Event::Stream(StreamEvent::Finished { id }) => EndpointEvent::Finished(key, id),
            Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                EndpointEvent::Stopped(key, id, error_code)
            }
            Event::HandshakeDataReady | Event::DatagramsUnblocked => return,
        };
        self.events.push_back(event);
    }

    /// Reports the end of a connection, once.
    fn lose(&mut self, slot: u32, reason: ConnectionError) {
        let ConnectionSlot { life, connection } = &mut self.slots[slot as usize];
        if let Some(live) = connection
            && !std::mem::replace(&mut live.is_lost, true)
        {
            live.handshake_until = None;
            let key = ConnectionKey { slot, life: *life };
            self.events.push_back(EndpointEvent::Lost(key, reason));
        }
    }
}

impl LiveConnection {
    /// Appends the connection's next packet; `false` if there is none.
    fn write_packet(&mut self, now: Instant, packets: &mut Packets, wire: &mut WireBytes) -> bool {
        let space = self.quic.datagrams().send_buffer_space();
        let Some(size) = packets.write(|buffer| self.quic.poll_transmit(now, 1, buffer)) else {
            return false;
        };
        // A datagram in the buffer takes the room of its handle, too.
        let freed = self.quic.datagrams().send_buffer_space().saturating_sub(space);
        let contents = |datagrams: usize| freed.saturating_sub(datagrams * size_of::<Bytes>());
        if !wire.sent.note_plain(&mut self.sent, size, contents(1)) {
            let frames = self.quic.stats().frame_tx;
            let contents = contents(self.sent.new_datagrams(&frames));
            wire.sent.note(&mut self.sent, size, contents, &frames);
        }
        true
    }
}
