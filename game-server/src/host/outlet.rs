//! The way of a room's datagrams to its clients' connections.
//!
//! A room's tick puts datagrams in, one after the other; [`Outlet::flush`] hands them over as one batch; a task of the network's
//! runtime gives them to the connections. So a room's thread takes no connection's lock and wakes no task but one a tick.
//! (Waking each connection from another thread costs a locked queue and, with both threads on one core, a change of threads.)
//!
//! The task gives way after every [`PART`] datagrams: their connections then write their packets at once, while what they need is still
//! in the processor's cache, and the first client need not wait for the last one's datagram.
//!
//! What always holds: a client's datagrams keep their order, and leave only after what the WorldServer is told of their tick. Bounds: a tick's datagrams, [`BATCHES`] times; then the
//! newest batch goes, as if the path had lost it. Cost: one allocation a tick.

use std::sync::Arc;

use bytes::Bytes;
use quinn::{Connection, SendDatagramError};
use tokio::sync::{mpsc, watch};

use super::Gate;
use super::counters::{Counters, Drop};

/// Ticks whose datagrams may wait for the network. More wait only when its threads get no processor for two ticks; what
/// would leave then is old.
const BATCHES: usize = 2;

/// Datagrams between two pauses: some tens of microseconds of work.
const PART: usize = 16;

type Datagrams = Vec<(Connection, Bytes)>;

/// What leaves together, and not before what was said to the WorldServer under this number.
struct Batch {
    datagrams: Datagrams,
    after: u64,
}

/// The room's end. When it is dropped, the task ends behind the last batch.
pub(crate) struct Outlet {
    batch: Datagrams,
    batches: mpsc::Sender<Batch>,
}

impl Outlet {
    /// Has to be called within the network's runtime.
    pub(crate) fn new(counters: Arc<Counters>, written: watch::Receiver<u64>, gate: Arc<Gate>) -> Self {
        let (batches, to_send) = mpsc::channel(BATCHES);
        tokio::spawn(carry(to_send, written, gate, counters));
        Self { batch: Vec::new(), batches }
    }

    /// Adds a datagram to the tick's batch.
    pub(crate) fn put(&mut self, connection: &Connection, bytes: Bytes) {
        self.batch.push((connection.clone(), bytes));
    }

    /// Sends what was put in since the last call, once what was said to the WorldServer up to the number `after` has left this process: so
    /// nothing is confirmed to a player that would die with it.
    pub(crate) fn flush(&mut self, after: u64, counters: &Counters) {
        if self.batch.is_empty() {
            return;
        }
        let next = Vec::with_capacity(self.batch.len());
        let batch = Batch { datagrams: std::mem::replace(&mut self.batch, next), after };
        if let Err(refused) = self.batches.try_send(batch) {
            let (mpsc::error::TrySendError::Full(batch) | mpsc::error::TrySendError::Closed(batch)) = refused;
            counters.dropped_many(Drop::SendBehind, batch.datagrams.len() as u64);
        }
    }
}

async fn carry(
    mut batches: mpsc::Receiver<Batch>,
    mut written: watch::Receiver<u64>,
    gate: Arc<Gate>,
    counters: Arc<Counters>,
) {
    while let Some(Batch { mut datagrams, after }) = batches.recv().await {
        if written.wait_for(|written| *written >= after).await.is_err() || !gate.pass() {
            // The link has ended, and so do the rooms; or they are somebody else's.
            counters.dropped_many(Drop::SendBehind, datagrams.len() as u64);
            continue;
        }
        for (index, (connection, bytes)) in datagrams.drain(..).enumerate() {
            if index % PART == PART - 1 {
                tokio::task::yield_now().await;
            }
            send(&connection, bytes, &counters);
        }
    }
}

fn send(connection: &Connection, bytes: Bytes, counters: &Counters) {
    if connection.datagram_send_buffer_space() < bytes.len() {
        // quinn makes room by dropping the oldest: the newest state wins.
        counters.dropped(Drop::SendBufferFull);
    }
    match connection.send_datagram(bytes) {
        Ok(()) => {}
        Err(SendDatagramError::TooLarge) => counters.dropped(Drop::SendTooLarge),
        Err(_) => counters.dropped(Drop::SendClosed),
    }
}
