//! The handles of a connection that an endpoint's thread drives.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use quinn_proto::{ConnectionError, Dir, VarInt};
use tokio::sync::{oneshot, watch};

use super::commands::{
    CommandSender, ConnectionCommand, DatagramSink, EndpointCommand, SendCounts,
};
use super::handle::{ConnectionParts, ConnectionSigns, SharedLine};
use super::streams::{RecvStream, SendStream};
use crate::endpoint_core::{ConnectionKey, LineFigures};

/// A connection. Copies are handles of the same one; it is closed when the last handle and the last
/// stream are dropped.
#[derive(Clone, Debug)]
pub struct DrivenConnection {
    parts: Arc<ConnectionParts>,
}

impl DrivenConnection {
    pub(super) fn new(
        key: ConnectionKey,
        remote: SocketAddr,
        protocol: Vec<u8>,
        max_datagram_size: Option<usize>,
        commands: CommandSender,
        line: LineFigures,
    ) -> (Self, ConnectionSigns) {
        let (ended, end) = watch::channel(None);
        let shared_line = Arc::new(SharedLine::default());
        shared_line.set(line);
        let is_closing = AtomicBool::new(false);
        let parts = ConnectionParts {
            key,
            commands,
            remote,
            protocol,
            max_datagram_size,
            is_closing,
            end,
            line: Arc::clone(&shared_line),
        };
        (Self { parts: Arc::new(parts) }, ConnectionSigns { end: ended, line: shared_line })
    }

    /// Distinguishes it from all other connections of the endpoint.
    pub fn key(&self) -> ConnectionKey {
        self.parts.key
    }

    /// How the network has treated it, as of a second ago at most while it is in use.
    pub fn line(&self) -> LineFigures {
        self.parts.line.get()
    }

    /// Where the peer was when the connection began.
    pub fn remote_address(&self) -> SocketAddr {
        self.parts.remote
    }

    /// The protocol that both ends have agreed on.
    pub fn protocol(&self) -> &[u8] {
        &self.parts.protocol
    }

    /// The longest datagram that could be sent when the connection began; `None` if the peer takes
    /// none. Later ones may be longer.
    pub fn max_datagram_size(&self) -> Option<usize> {
        self.parts.max_datagram_size
    }

    /// The next stream of both directions that the peer opens.
    pub async fn accept_bi(&self) -> Result<(SendStream, RecvStream), ConnectionError> {
        let id = self.ask(|answer| ConnectionCommand::Accept(Dir::Bi, answer)).await?;
        Ok((SendStream::new(&self.parts, id), RecvStream::new(&self.parts, id)))
    }

    /// The next stream that the peer opens to write.
    pub async fn accept_uni(&self) -> Result<RecvStream, ConnectionError> {
        let id = self.ask(|answer| ConnectionCommand::Accept(Dir::Uni, answer)).await?;
        Ok(RecvStream::new(&self.parts, id))
    }

    /// Opens a stream to write, once the peer allows it.
    pub async fn open_uni(&self) -> Result<SendStream, ConnectionError> {
        let id = self.ask(|answer| ConnectionCommand::Open(Dir::Uni, answer)).await?;
        Ok(SendStream::new(&self.parts, id))
    }

    /// The next datagram, unless a sink takes them.
    pub async fn read_datagram(&self) -> Result<Bytes, ConnectionError> {
        self.ask(ConnectionCommand::ReadDatagram).await
    }

    /// From now on `sink` takes the datagrams, and first those that have waited for a reader.
    pub fn give_datagrams_to(&self, sink: DatagramSink) {
        self.parts.order(ConnectionCommand::Sink(sink));
    }

    /// Queues a datagram. If there is no space, the oldest ones are dropped.
    pub fn send_datagram(&self, datagram: Bytes) {
        let mut batch = DatagramBatch::default();
        batch.put(self, datagram);
        drop(batch.send(&Arc::default()));
    }

    /// Closes at once: nothing is sent any more but the code and the reason.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.parts.is_closing.store(true, Relaxed);
        let reason = Bytes::copy_from_slice(reason);
        self.parts.commands.send(EndpointCommand::Close(self.parts.key, code, reason));
    }

    /// Waits until either end has closed the connection, or it is lost.
    pub async fn closed(&self) -> ConnectionError {
        let mut end = self.parts.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        // The thread ends only behind its connections.
        ended.ok().and_then(|end| end.clone()).unwrap_or(ConnectionError::LocallyClosed)
    }

    /// Why the connection has ended, if it has.
    pub fn close_reason(&self) -> Option<ConnectionError> {
        let end = self.parts.end.borrow().clone();
        let is_closing = self.parts.is_closing.load(Relaxed);
        end.or_else(|| is_closing.then_some(ConnectionError::LocallyClosed))
    }

    /// How many streams of both directions the peer may have open.
    pub fn set_max_bi_streams(&self, count: u32) {
        self.parts.commands.send(EndpointCommand::MaxStreams(self.parts.key, Dir::Bi, count));
    }

    /// Bytes that the peer may send unread, and bytes that are sent to it unacknowledged, over all
    /// streams.
    pub fn set_windows(&self, receive: VarInt, send: u64) {
        self.parts.commands.send(EndpointCommand::Windows(self.parts.key, receive, send));
    }

    /// Bytes that both ends derive from this connection's TLS, and no others; `None` if it has
    /// ended.
    pub async fn keying_material(&self, label: &'static [u8]) -> Option<[u8; 32]> {
        let (answer, answered) = oneshot::channel();
        self.parts.commands.send(EndpointCommand::KeyingMaterial(self.parts.key, label, answer));
        answered.await.ok().flatten()
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> ConnectionCommand,
    ) -> Result<T, ConnectionError> {
        let (answer, answered) = oneshot::channel();
        self.parts.order(command(answer));
        match answered.await {
            Ok(answer) => Ok(answer),
            Err(_) => Err(self.closed().await),
        }
    }
}

/// Datagrams of many connections that are sent together.
#[derive(Debug, Default)]
pub struct DatagramBatch {
    /// For each endpoint; mostly there is one.
    parts: Vec<(CommandSender, Vec<(ConnectionKey, Bytes)>)>,
    len: usize,
}

impl DatagramBatch {
    /// Adds a datagram.
    pub fn put(&mut self, connection: &DrivenConnection, bytes: Bytes) {
        let ConnectionParts { commands, key, .. } = &*connection.parts;
        self.len += 1;
        match self.parts.iter_mut().find(|(known, _)| known.is_same(commands)) {
            Some((_, datagrams)) => datagrams.push((*key, bytes)),
            None => self.parts.push((commands.clone(), vec![(*key, bytes)])),
        }
    }

    /// The number of datagrams.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Hands them to their endpoints, which send them at once. The future ends when they have taken
    /// all.
    pub fn send(self, counts: &Arc<SendCounts>) -> impl Future<Output = ()> + use<> {
        let taken: Vec<_> = self
            .parts
            .into_iter()
            .map(|(commands, datagrams)| {
                let (done, is_done) = oneshot::channel();
                let counts = Arc::clone(counts);
                commands.send(EndpointCommand::Datagrams { datagrams, counts, done });
                is_done
            })
            .collect();
        async move {
            for taken in taken {
                let _ = taken.await;
            }
        }
    }
}
