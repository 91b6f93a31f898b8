//! The way of a room's datagrams to its clients' connections.
//!
//! A room's tick puts datagrams in, one after the other; [`Outlet::flush`] hands them over as one
//! batch; a task of the network's runtime gives them to the connections. So a room's thread takes
//! no connection's lock and wakes no task but one a tick. (Waking each connection from another
//! thread costs a locked queue and, with both threads on one core, a change of threads.)
//!
//! The task gives way after every [`PART`] datagrams: their connections then write their packets at
//! once, while what they need is still in the processor's cache, and the first client need not wait
//! for the last one's datagram.
//!
//! What always holds: a client's datagrams keep their order, and leave only after what the
//! WorldServer is told of their tick, and while this host's lease lasts. OffsetBounds: a tick's
//! datagrams, [`BATCHES`] times; then the newest batch goes, as if the path had lost it. Cost: one
//! allocation a tick.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn::{Connection, SendDatagramError};
use tokio::sync::{mpsc, watch};

use super::StallGuard;
use super::counters::{Counters, Drop};

/// Ticks whose datagrams may wait for the network. More wait only when its threads get no processor
/// for two ticks; what would leave then is old.
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
    pub(crate) fn new(counters: Arc<Counters>, gate: Gate, stalls: Arc<StallGuard>) -> Self {
        let (batches, to_send) = mpsc::channel(BATCHES);
        tokio::spawn(carry(to_send, gate, stalls, counters));
        Self {
            batch: Vec::new(),
            batches,
        }
    }

    /// Adds a datagram to the tick's batch.
    pub(crate) fn put(&mut self, connection: &Connection, bytes: Bytes) {
        self.batch.push((connection.clone(), bytes));
    }

    /// Sends what was put in since the last call, once what was said to the WorldServer up to the
    /// number `after` has left this process: so nothing is confirmed to a player that would die
    /// with it.
    pub(crate) fn flush(&mut self, after: u64, counters: &Counters) {
        if self.batch.is_empty() {
            return;
        }
        let next = Vec::with_capacity(self.batch.len());
        let batch = Batch {
            datagrams: std::mem::replace(&mut self.batch, next),
            after,
        };
        if let Err(refused) = self.batches.try_send(batch) {
            let (mpsc::error::TrySendError::Full(batch) | mpsc::error::TrySendError::Closed(batch)) =
                refused;
            counters.dropped_many(Drop::SendBehind, batch.datagrams.len() as u64);
        }
    }
}

/// What datagrams wait for.
pub(crate) struct Gate {
    /// The serial of the newest `RoomTick` that is known to have left this process.
    pub(crate) written: watch::Receiver<u64>,
    /// Until when this host may serve players; `Unchanged` for ever.
    pub(crate) served_until: watch::Receiver<Option<Instant>>,
    /// Whether the WorldServer on another machine has fallen silent: nothing waits for it until it
    /// is heard again.
    pub(crate) silent: bool,
}

/// How long what is confirmed to players may wait for a WorldServer on another machine. If that has
/// died, what it kept has died with it, and to wait would only stop the rooms; so what is confirmed
/// without it is lost only if this host dies as well before another WorldServer has taken over.
/// Shorter than the local lag.
const KEPT_WITHIN: Duration = Duration::from_millis(100);

impl Gate {
    /// Waits until what is said after `after` may leave; `false` when it never will.
    async fn pass(&mut self, after: u64) -> bool {
        let has_lease = self.served_until.borrow().is_some();
        self.silent &= has_lease && !self.written.has_changed().unwrap_or(true);
        if !self.silent {
            let written = self.written.wait_for(|written| *written >= after);
            let limit = if has_lease {
                KEPT_WITHIN
            } else {
                Duration::MAX
            };
            match tokio::time::timeout(limit, written).await {
                Ok(Ok(_)) => {}
                Ok(Err(_)) => return false,
                Err(_) => self.silent = true,
            }
            self.written.mark_unchanged();
        }
        loop {
            let until = *self.served_until.borrow_and_update();
            if until.is_none_or(|until| now() < until) {
                return true;
            }
            if self.served_until.changed().await.is_err() {
                return false;
            }
        }
    }
}

async fn carry(
    mut batches: mpsc::Receiver<Batch>,
    mut gate: Gate,
    stalls: Arc<StallGuard>,
    counters: Arc<Counters>,
) {
    while let Some(Batch {
        mut datagrams,
        after,
    }) = batches.recv().await
    {
        if !gate.pass(after).await || !stalls.pass() {
            // The host has ended, or its rooms are somebody else's.
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

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}
