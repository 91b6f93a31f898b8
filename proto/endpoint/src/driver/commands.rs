//! What handles ask of the endpoint's thread.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use std::time::Instant;

use bytes::Bytes;
use derive_more::Debug;
use mio::Waker;
use quinn_proto::{Dir, StreamId, VarInt};
use tokio::sync::oneshot;

use crate::endpoint_core::{ConnectionKey, DatagramProblem, StreamProblem};

/// Takes a connection's datagrams with the time of their arrival, in order. Called by the
/// endpoint's thread: it must not wait.
pub type DatagramSink = Box<dyn FnMut(Instant, Bytes) + Send>;

/// What became of datagrams that were to be sent.
#[derive(Debug, Default)]
pub struct SendCounts {
    /// Older ones were dropped for a newer one.
    pub displaced: AtomicU64,
    pub too_large: AtomicU64,
    /// Their connection had ended.
    pub lost: AtomicU64,
}

impl SendCounts {
    /// Takes `displaced`, `too_large` and `lost`.
    pub fn take(&self) -> [u64; 3] {
        [&self.displaced, &self.too_large, &self.lost].map(|counter| counter.swap(0, Relaxed))
    }

    pub(super) fn note(&self, result: Result<bool, DatagramProblem>) {
        let counter = match result {
            Ok(false) => return,
            Ok(true) => &self.displaced,
            Err(DatagramProblem::TooLarge) => &self.too_large,
            Err(DatagramProblem::Lost | DatagramProblem::Unsupported) => &self.lost,
        };
        counter.fetch_add(1, Relaxed);
    }
}

/// One order. Answers go to the receivers of the channels; if the connection ends first, these are
/// dropped.
pub(super) enum EndpointCommand {
    Datagrams {
        datagrams: Vec<(ConnectionKey, Bytes)>,
        counts: Arc<SendCounts>,
        /// Dropped once they are handed to QUIC.
        done: oneshot::Sender<()>,
    },
    Close(ConnectionKey, VarInt, Bytes),
    CloseAll(VarInt, Bytes),
    /// The last handle of the connection is gone.
    Release(ConnectionKey),
    /// Dropped in its turn.
    Note(oneshot::Sender<()>),
    KeyingMaterial(ConnectionKey, &'static [u8], oneshot::Sender<Option<[u8; 32]>>),
    MaxStreams(ConnectionKey, Dir, u32),
    Windows(ConnectionKey, VarInt, u64),
    Reset(ConnectionKey, StreamId, VarInt),
    Stop(ConnectionKey, StreamId, VarInt),
    OfConnection(ConnectionKey, ConnectionCommand),
}

/// An order that may have to wait for the peer.
pub(super) enum ConnectionCommand {
    Sink(DatagramSink),
    ReadDatagram(oneshot::Sender<Bytes>),
    Accept(Dir, oneshot::Sender<StreamId>),
    Open(Dir, oneshot::Sender<StreamId>),
    Read(StreamId, usize, oneshot::Sender<Result<Option<Bytes>, StreamProblem>>),
    Write(StreamId, Bytes, oneshot::Sender<Result<(), StreamProblem>>),
    /// Behind what was written.
    Finish(StreamId),
    /// Its handle to write is gone.
    LeaveSending(StreamId),
    /// Its handle to read is gone.
    LeaveReceiving(StreamId),
    /// The code by which the peer has stopped the stream; `None` once it has all of it.
    WaitForEnd(StreamId, oneshot::Sender<Option<VarInt>>),
}

/// Whether the thread waits for its socket, and how it is woken.
#[derive(Debug)]
pub(super) struct WakeFlag {
    pub(super) is_waiting: AtomicBool,
    waker: Waker,
}

impl WakeFlag {
    pub(super) fn new(waker: Waker) -> Self {
        Self { is_waiting: AtomicBool::new(false), waker }
    }
}

/// The way to the thread.
#[derive(Clone, Debug)]
pub(super) struct CommandSender {
    #[debug(skip)]
    inner: Arc<SenderParts>,
}

/// The same, without keeping the thread from its end.
pub(super) struct WeakCommandSender(Weak<SenderParts>);

struct SenderParts {
    /// `None` while this is dropped.
    queue: Option<Sender<EndpointCommand>>,
    flag: Arc<WakeFlag>,
}

impl Drop for SenderParts {
    fn drop(&mut self) {
        // First, so that the thread finds its queue ended.
        self.queue = None;
        let _ = self.flag.waker.wake();
    }
}

impl CommandSender {
    pub(super) fn new(queue: Sender<EndpointCommand>, flag: WakeFlag) -> Self {
        Self { inner: Arc::new(SenderParts { queue: Some(queue), flag: Arc::new(flag) }) }
    }

    pub(super) fn flag(&self) -> Arc<WakeFlag> {
        Arc::clone(&self.inner.flag)
    }

    pub(super) fn downgrade(&self) -> WeakCommandSender {
        WeakCommandSender(Arc::downgrade(&self.inner))
    }

    /// Whether both lead to the same thread.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    pub(super) fn send(&self, command: EndpointCommand) {
        // Without the thread there is no connection left to order anything for.
        let sent = self.inner.queue.as_ref().map(|queue| queue.send(command));
        if let Some(Ok(())) = sent {
            fence(Ordering::SeqCst);
            if self.inner.flag.is_waiting.load(Ordering::SeqCst) {
                let _ = self.inner.flag.waker.wake();
            }
        }
    }
}

impl WeakCommandSender {
    pub(super) fn upgrade(&self) -> Option<CommandSender> {
        Some(CommandSender { inner: self.0.upgrade()? })
    }
}
