//! From a room to its clients' connections.
//!
//! A room's tick puts datagrams in, one after the other; [`Outlet::flush`] hands them over as one
//! batch; a task gives them to the endpoint's thread once they may leave, and that sends all of
//! them at once. So a room's thread takes no connection's lock and wakes no task but one a tick.
//!
//! What always holds: a client's datagrams keep their order, and leave only when [`check_release`]
//! lets them. Bounds: a tick's datagrams, [`BATCHES`] times; then the newest batch is dropped, as
//! if the path had lost it. Cost: one allocation a tick.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ambit_endpoint::driver::{DatagramBatch, SendCounts};
use ambit_endpoint::player_connection::PlayerConnection;
use ambit_proto::time::LocalTime;
use bytes::Bytes;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

use super::counters::{Counters, DropReason};
use super::shared::Shared;
use ambit_host_core::release::{Release, check_release};

/// Ticks whose datagrams may wait for the network. More wait only when its threads get no processor
/// for two ticks; what would leave then is old.
const BATCHES: usize = 2;

/// Datagrams that leave together, after the journal entry of this number.
struct Batch {
    datagrams: DatagramBatch,
    after: u64,
    written: LocalTime,
}

/// The room's end. When it is dropped, the task ends behind the last batch.
pub(crate) struct Outlet {
    batch: DatagramBatch,
    batches: mpsc::Sender<Batch>,
}

impl Outlet {
    /// Of a room that is saved from entry `saved_from` on. Has to be called within the network's
    /// runtime.
    pub(crate) fn new(shared: Arc<Shared>, saved_from: Arc<AtomicU64>) -> Self {
        let (batches, to_send) = mpsc::channel(BATCHES);
        tokio::spawn(carry(to_send, shared, saved_from));
        Self { batch: DatagramBatch::default(), batches }
    }

    /// Adds a datagram to the tick's batch.
    pub(crate) fn put(&mut self, connection: &PlayerConnection, bytes: Bytes) {
        connection.put_datagram(&mut self.batch, bytes);
    }

    /// Sends what was put in since the last call, after the journal entry of the number `after`. So
    /// nothing is confirmed to a player that would be lost with this process.
    pub(crate) fn flush(&mut self, written: LocalTime, after: u64, counters: &Counters) {
        if self.batch.is_empty() {
            return;
        }
        let batch = Batch { datagrams: std::mem::take(&mut self.batch), after, written };
        if let Err(refused) = self.batches.try_send(batch) {
            let (TrySendError::Full(batch) | TrySendError::Closed(batch)) = refused;
            counters.dropped_many(DropReason::SendBehind, batch.datagrams.len() as u64);
        }
    }
}

async fn carry(
    mut batches: mpsc::Receiver<Batch>,
    shared: Arc<Shared>,
    saved_from: Arc<AtomicU64>,
) {
    let mut gate = BatchGate::new(&shared, saved_from);
    let counts = Arc::new(SendCounts::default());
    while let Some(Batch { datagrams, after, written }) = batches.recv().await {
        if !gate.pass(&shared, written, after).await {
            shared.counters.dropped_many(DropReason::SendBehind, datagrams.len() as u64);
            continue;
        }
        datagrams.send(&counts).await;
        note_dropped(&counts, &shared.counters);
    }
}

/// What a room's batches wait for.
struct BatchGate {
    saved_from: Arc<AtomicU64>,
    journal_acknowledged: watch::Receiver<u64>,
    lease_until: watch::Receiver<Option<LocalTime>>,
}

impl BatchGate {
    fn new(shared: &Shared, saved_from: Arc<AtomicU64>) -> Self {
        Self {
            saved_from,
            journal_acknowledged: shared.published.journal_acknowledged.subscribe(),
            lease_until: shared.published.lease_until.subscribe(),
        }
    }

    /// Waits until a batch may leave; `false` if it never may.
    async fn pass(&mut self, shared: &Shared, written: LocalTime, after: u64) -> bool {
        loop {
            self.journal_acknowledged.mark_unchanged();
            self.lease_until.mark_unchanged();
            let kept = shared.journal_acknowledged(&self.saved_from);
            let now = shared.clock.now();
            let release = check_release(now, written, after, kept, &shared.published.permit);
            let deadline = match release {
                Release::Now => return true,
                Release::Never => return false,
                Release::Wait(deadline) => deadline,
            };
            let is_over = tokio::select! {
                changed = self.journal_acknowledged.changed() => changed.is_err(),
                changed = self.lease_until.changed() => changed.is_err(),
                () = shared.sleep_until(deadline) => false,
            };
            if is_over {
                return false;
            }
        }
    }
}

fn note_dropped(counts: &SendCounts, counters: &Counters) {
    let reasons = [DropReason::SendBufferFull, DropReason::SendTooLarge, DropReason::SendClosed];
    for (reason, count) in reasons.into_iter().zip(counts.take()) {
        if count > 0 {
            counters.dropped_many(reason, count);
        }
    }
}
