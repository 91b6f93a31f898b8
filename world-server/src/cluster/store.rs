//! The directory: a stream of NATS JetStream.
//!
//! Each record has a subject of its own, and each subject keeps one message. The broker refuses a
//! write that names a wrong last sequence number. The formats are those of
//! [`ambit_lobby::directory`]; docs/cluster.md explains why there is one stream with one writer.
//! A key-value bucket of NATS is a stream too and would add nothing here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ambit_lobby::RecordKey;
use ambit_lobby::directory::Leader;
use ambit_proto::ids::RoomId;
use ambit_room::journal::SavedRoom;
use anyhow::{Context as _, bail};
use async_nats::jetstream::consumer::DeliverPolicy;
use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, InfoError, LastRawMessageErrorKind, Stream,
};
use async_nats::jetstream::{self, Context};
use bytes::Bytes;
use futures_util::StreamExt as _;
use parking_lot::Mutex;
use prost::Message as _;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, timeout};

use super::kept_rooms::KeptRooms;
use super::leadership::{LeaderLookup, LeaderRecovery, RENEW_INTERVAL};
use super::nats::{NatsSettings, REQUEST_TIMEOUT};
use super::records_copy::{RecordsCopy, RecordsSummary};
use super::write_queue::{RecordChanges, WriteBatch, WriteQueue};

const STREAM: &str = "AMBIT_DIRECTORY";
const PREFIX: &str = "ambit.directory.";
const LEADER: &str = "ambit.directory.leader";
/// The header with the summary of all records, in the last message of each batch.
const SUMMARY_HEADER: &str = "Ambit-Records";
/// The directory counts as unavailable when a write takes longer.
const UNAVAILABLE_AFTER: Duration = Duration::from_millis(500);
/// Writes that may wait for an acknowledgement at a time.
const MAX_WRITES_IN_FLIGHT: usize = 64;
/// Interval between two looks at the copies that the brokers keep.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval between two comparisons of the directory with the leader's records.
const AUDIT_INTERVAL: Duration = Duration::from_secs(5);
/// A read that has reached its end waits this long for records that were written meanwhile.
const MAX_READ_SILENCE: Duration = Duration::from_millis(200);
/// A follower whose copy gets nothing new for this long begins again where it was.
const MAX_COPY_SILENCE: Duration = RENEW_INTERVAL.saturating_mul(5);
/// The shortest time between the ends of two looks after which all records are written again.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(3);

/// A connection to the directory; see the module.
#[derive(Clone)]
pub(crate) struct DirectoryStore {
    jetstream: Context,
    stream: Stream<()>,
    /// Number of copies that the brokers keep.
    replicas: usize,
    broker_addresses: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum WriteError {
    #[error("another server has written to the directory meanwhile")]
    AnotherWriter,
    #[error("the broker does not answer, or has no leader of its own")]
    Unreachable,
}

impl DirectoryStore {
    /// Connects; the client library reconnects in the background.
    pub(crate) async fn connect(settings: &NatsSettings) -> anyhow::Result<Self> {
        let client = settings.connect().await?;
        let mut jetstream = jetstream::new(client);
        jetstream.set_timeout(REQUEST_TIMEOUT);
        let stream =
            jetstream.get_stream_no_info(STREAM).await.context("the directory's stream")?;
        Ok(Self {
            jetstream,
            stream,
            replicas: if settings.server_count() >= 3 { 3 } else { 1 },
            broker_addresses: settings.addresses(),
        })
    }

    /// The brokers' addresses for logs, without the credentials of their URLs.
    pub(crate) fn broker_addresses(&self) -> &str {
        &self.broker_addresses
    }

    /// Creates the stream, unless it exists.
    async fn create_stream(&self) -> anyhow::Result<()> {
        let config = Config {
            name: STREAM.to_owned(),
            subjects: vec![format!("{PREFIX}>")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            num_replicas: self.replicas,
            ..Config::default()
        };
        self.jetstream
            .create_stream(config)
            .await
            .context("cannot create the directory's stream in NATS")?;
        tracing::info!(
            stream = STREAM,
            replicas = self.replicas,
            "created the directory's stream in NATS"
        );
        Ok(())
    }

    /// Opens the rooms that are kept beside the directory, and reads them.
    pub(super) async fn open_kept_rooms(
        &self,
        interval: Duration,
        epoch: u64,
    ) -> anyhow::Result<(KeptRooms, BTreeMap<RoomId, SavedRoom>)> {
        KeptRooms::open(&self.jetstream, self.replicas, interval, epoch).await
    }

    /// Looks up the leader's record.
    pub(crate) async fn look_up_leader(&self) -> anyhow::Result<LeaderLookup> {
        timeout(REQUEST_TIMEOUT, self.look_up_leader_untimed())
            .await
            .context("NATS does not answer")?
    }

    async fn look_up_leader_untimed(&self) -> anyhow::Result<LeaderLookup> {
        let info = match self.stream.get_info().await {
            Ok(info) => info,
            Err(error) if is_missing(&error) => {
                self.create_stream().await?;
                self.stream.get_info().await?
            }
            Err(error) => return Err(error.into()),
        };
        // Read before the record: a later write is detected by its sequence number.
        let last_sequence = info.state.last_sequence;
        let leader = match self.stream.get_last_raw_message_by_subject(LEADER).await {
            Ok(message) if message.sequence > last_sequence => {
                bail!("another server is writing the directory")
            }
            Ok(message) => {
                let mut leader = Leader::decode(message.payload).context("the leader's record")?;
                if leader.epoch == 0 {
                    leader.epoch = message.sequence;
                }
                Some(leader)
            }
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(LeaderLookup { last_sequence, leader })
    }

    /// Takes the leadership by a write after that sequence number. Returns the write's own sequence
    /// number: the epoch.
    pub(crate) async fn take_lead(&self, after: u64, leader: &Leader) -> anyhow::Result<u64> {
        let taken =
            self.write(after, &[(LEADER.to_owned(), leader.encode_to_vec().into())], None).await;
        taken.map_err(|failed| anyhow::anyhow!("leadership not taken: {failed}"))
    }

    /// Reads all records, as a broker delivers them: as they were with the message of that number,
    /// or later.
    pub(crate) async fn read_records(&self, up_to: u64) -> anyhow::Result<RecordsCopy> {
        let mut copy = RecordsCopy::default();
        let mut messages = self.deliver(OrderedConfig::default()).await?;
        loop {
            let has_reached_it = copy.newest() >= up_to;
            let limit = if has_reached_it { MAX_READ_SILENCE } else { REQUEST_TIMEOUT };
            let next = match timeout(limit, messages.next()).await {
                Err(_) if has_reached_it => return Ok(copy),
                next => next.context("NATS did not deliver the whole directory in time")?,
            };
            let message =
                next.context("the directory's stream ended before its last message")??;
            // A record that is written meanwhile moves to the end.
            if note_message(&mut copy, &message)? == 0 && copy.newest() >= up_to {
                return Ok(copy);
            }
        }
    }

    /// Reads all records as of now.
    async fn read_now(&self) -> anyhow::Result<BTreeMap<RecordKey, Vec<u8>>> {
        let copy = self.read_records(self.last_sequence().await?).await?;
        Ok(copy.into_records())
    }

    /// Merges each change into the copy, until brokers fail or say nothing for too long.
    pub(crate) async fn copy_changes(&self, copy: &Mutex<RecordsCopy>) -> anyhow::Result<()> {
        let copy = || copy.lock();
        let last = self.last_sequence().await?;
        let newest = {
            let mut copy = copy();
            copy.note_last_sequence(last);
            copy.newest()
        };
        let config = OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: newest + 1 },
            ..OrderedConfig::default()
        };
        let mut messages = self.deliver(config).await?;
        loop {
            let next = timeout(MAX_COPY_SILENCE, messages.next())
                .await
                .context("NATS delivers nothing")?;
            let message = next.context("the directory's stream has ended")??;
            note_message(&mut copy(), &message)?;
        }
    }

    async fn deliver(&self, config: OrderedConfig) -> anyhow::Result<Ordered> {
        let consumer = self.stream.create_consumer(config).await?;
        Ok(consumer.messages().await?)
    }

    async fn last_sequence(&self) -> anyhow::Result<u64> {
        let info = timeout(REQUEST_TIMEOUT, self.stream.get_info())
            .await
            .context("NATS does not answer")??;
        Ok(info.state.last_sequence)
    }

    /// The brokers that have all that was written; `None` if they cannot tell.
    async fn complete_copies(&self) -> Option<BTreeSet<String>> {
        let info = timeout(REQUEST_TIMEOUT, self.stream.get_info());
        // A single broker has no cluster.
        let Some(cluster) = info.await.ok()?.ok()?.cluster else {
            return Some(BTreeSet::new());
        };
        let others = cluster.replicas.into_iter();
        let complete = others.filter(|copy| copy.current && !copy.offline);
        let complete = complete.map(|copy| copy.name);
        Some(complete.chain([cluster.leader?]).collect())
    }

    /// Writes in order. The last message says what all records are then. Returns its sequence
    /// number.
    async fn write(
        &self,
        mut after: u64,
        writes: &[(String, Bytes)],
        summary: Option<RecordsSummary>,
    ) -> Result<u64, WriteError> {
        let mut left = writes.len();
        for part in writes.chunks(MAX_WRITES_IN_FLIGHT) {
            let mut acks = Vec::with_capacity(part.len());
            for (subject, payload) in part {
                let mut message =
                    PublishMessage::build().payload(payload.clone()).expected_last_sequence(after);
                left -= 1;
                if let Some(summary) = summary.filter(|_| left == 0) {
                    message = message.header(SUMMARY_HEADER, summary.to_string());
                }
                let sent = self.jetstream.send_publish(subject.clone(), message).await;
                acks.push(sent.map_err(|error| to_write_error(error.kind()))?);
                after += 1;
            }
            for ack in acks {
                after = ack.await.map_err(|error| to_write_error(error.kind()))?.sequence;
            }
        }
        Ok(after)
    }

    async fn purge_records(&self, dead: Vec<RecordKey>) {
        for key in dead {
            // A record that is not purged costs a few bytes; its empty value marks it as removed.
            let _ = self.stream.purge().filter(subject_of(key)).await;
        }
    }
}

/// Merges a message of the directory into the copy. Returns how many more there are now.
fn note_message(copy: &mut RecordsCopy, message: &jetstream::Message) -> anyhow::Result<u64> {
    let info = message.info().map_err(|error| anyhow::anyhow!("{error}"))?;
    let key = message.subject.strip_prefix(PREFIX).and_then(|name| name.parse().ok());
    let headers = message.headers.as_ref();
    let summary = headers.and_then(|headers| headers.get(SUMMARY_HEADER)?.as_str().parse().ok());
    copy.note(info.stream_sequence, key, &message.payload, summary);
    Ok(info.pending)
}

fn subject_of(key: RecordKey) -> String {
    format!("{PREFIX}{key}")
}

fn to_write_error(kind: PublishErrorKind) -> WriteError {
    if kind == PublishErrorKind::WrongLastSequence {
        WriteError::AnotherWriter
    } else {
        WriteError::Unreachable
    }
}

/// Whether the error means that the stream does not exist.
fn is_missing(error: &InfoError) -> bool {
    let broker_error = std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<jetstream::Error>());
    broker_error.is_some_and(|broker_error| {
        broker_error.error_code() == jetstream::ErrorCode::STREAM_NOT_FOUND
    })
}

/// The progress of the directory writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WriteProgress {
    /// All writes up to this number are done.
    pub(crate) written: u64,
    /// Writes fail or take too long.
    pub(crate) unavailable: bool,
}

/// Has all records written again whenever a broker has come back, and once at the beginning. A
/// broker that was killed may come back without what was written before, and without noticing: the
/// versions of NATS that distributions ship fill in only newer messages. Once each broker has been
/// away, nothing of that would be left. The leader has all records in memory.
pub(crate) async fn refresh_copies(store: DirectoryStore, queue: Arc<WriteQueue>) {
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut copies = CompleteCopies::default();
    loop {
        looks.tick().await;
        if copies.note(store.complete_copies().await) {
            tracing::debug!("a broker has come back: writing all records again");
            queue.refresh();
            tokio::time::sleep(MIN_REFRESH_INTERVAL).await;
        }
    }
}

/// Reads the directory now and then, and has those records written again that are not as this
/// leader has written them, or were removed. Brokers have lost old records without having been
/// away, and each keeps a copy of its own: which one answers differs from time to time.
pub(crate) async fn audit(
    store: DirectoryStore,
    queue: Arc<WriteQueue>,
    mut progress: watch::Receiver<WriteProgress>,
) {
    let mut audits = tokio::time::interval(AUDIT_INTERVAL);
    audits.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        audits.tick().await;
        let (number, expected) = queue.all();
        let is_written = |progress: &WriteProgress| progress.written >= number;
        if progress.wait_for(is_written).await.is_err() {
            return;
        }
        let stored = match store.read_now().await {
            Ok(stored) => stored,
            Err(error) => {
                tracing::debug!("cannot compare the directory: {error:#}");
                continue;
            }
        };
        let (lost, removed) = queue.correct(&expected, &stored);
        if let Some(first) = lost.first().or(removed.first()) {
            tracing::warn!(
                lost = lost.len(),
                removed = removed.len(),
                %first,
                records = expected.len(),
                "a broker has lost records of the directory, or has removed ones, which is \
                 corrected; newer versions of NATS do not lose them"
            );
        }
    }
}

/// The brokers that had complete copies when they were last seen; `None` if that is unknown.
#[derive(Debug, Default)]
struct CompleteCopies(Option<BTreeSet<String>>);

impl CompleteCopies {
    /// Returns whether one may have come back since.
    fn note(&mut self, seen: Option<BTreeSet<String>>) -> bool {
        let before = std::mem::replace(&mut self.0, seen);
        match (&self.0, before) {
            (Some(seen), Some(before)) => !seen.is_subset(&before),
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}

/// Writes queued records and renews the leader's record, until another server leads or `done` is
/// set. Then it marks the leadership as free.
pub(crate) async fn run_writer(
    store: DirectoryStore,
    mut leader: Leader,
    epoch: u64,
    queue: Arc<WriteQueue>,
    progress: watch::Sender<WriteProgress>,
    mut done: watch::Receiver<bool>,
) {
    leader.epoch = epoch;
    let mut after = epoch;
    let mut written_at = now();
    let mut renewals = tokio::time::interval(RENEW_INTERVAL);
    renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut dead = Vec::new();
    loop {
        let renew = tokio::select! {
            () = queue.changed() => false,
            _ = renewals.tick() => true,
            _ = done.changed() => true,
        };
        leader.free = *done.borrow();
        let WriteBatch { number, records, summary } = queue.take_all();
        let mut writes = ordered_writes(&records);
        if renew {
            leader.renewals += 1;
            // As new as the leader's record, so it cannot be lost alone.
            let ids = queue.ids().filter(|_| !records.contains_key(&RecordKey::Ids));
            writes.extend(ids.map(|ids| (subject_of(RecordKey::Ids), ids.into())));
            writes.push((LEADER.to_owned(), leader.encode_to_vec().into()));
        }
        if writes.is_empty() {
            continue;
        }
        let mut writing = std::pin::pin!(store.write(after, &writes, Some(summary)));
        let result = if let Ok(result) = timeout(UNAVAILABLE_AFTER, &mut writing).await {
            result
        } else {
            progress.send_modify(|progress| progress.unavailable = true);
            writing.await
        };
        match result {
            Ok(sequence) => {
                (after, written_at) = (sequence, now());
                progress.send_replace(WriteProgress { written: number, unavailable: false });
                if leader.free {
                    return;
                }
                dead.extend(
                    records.iter().filter(|(_, value)| value.is_none()).map(|(key, _)| *key),
                );
                if dead.len() >= MAX_WRITES_IN_FLIGHT {
                    tokio::spawn({
                        let store = store.clone();
                        let dead = std::mem::take(&mut dead);
                        async move { store.purge_records(dead).await }
                    });
                }
            }
            Err(_) if leader.free => return,
            Err(_) => {
                progress.send_modify(|progress| progress.unavailable = true);
                queue.requeue(records);
                match recover(&store, &leader, (after, written_at), &queue).await {
                    Ok(sequence) => {
                        (after, written_at) = (sequence, now());
                        queue.notify();
                    }
                    Err(WriteError::AnotherWriter) => return,
                    Err(WriteError::Unreachable) => {}
                }
                tokio::time::sleep(RENEW_INTERVAL / 10).await;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a shell's clock")]
fn now() -> Instant {
    Instant::now()
}

/// The writes of these records. Removals go last: if this server dies in between, what was there is
/// known to be elsewhere.
fn ordered_writes(records: &RecordChanges) -> Vec<(String, Bytes)> {
    let (kept, removed): (Vec<_>, Vec<_>) = records.iter().partition(|(_, value)| value.is_some());
    let write = |(key, value): (&RecordKey, &Option<Vec<u8>>)| {
        (subject_of(*key), value.clone().unwrap_or_default().into())
    };
    kept.into_iter().chain(removed).map(write).collect()
}

/// Returns the sequence number after which to write again when a write has failed; `written` was
/// the last one before, at that time. A lost acknowledgement looks the same as a write of another
/// leader or the loss of the directory, so the directory's newest number and the leader's record
/// decide.
async fn recover(
    store: &DirectoryStore,
    leader: &Leader,
    (written, written_at): (u64, Instant),
    queue: &WriteQueue,
) -> Result<u64, WriteError> {
    let unreachable = |error: anyhow::Error| {
        tracing::warn!("the directory can't be written; trying again: {error:#}");
        WriteError::Unreachable
    };
    let found = store.look_up_leader().await.map_err(unreachable)?;
    match LeaderRecovery::decide(leader, written, written_at.elapsed(), &found) {
        LeaderRecovery::WriteAgain { after } => Ok(after),
        LeaderRecovery::End => Err(WriteError::AnotherWriter),
        LeaderRecovery::Restore { after } => {
            let epoch = store.take_lead(after, leader).await.map_err(unreachable)?;
            let stored = store.read_records(epoch).await.map_err(unreachable)?;
            let count = queue.enqueue_all(stored.into_records().into_keys());
            tracing::error!(
                records = count,
                "the directory in NATS was lost or is an old backup: this server writes all its \
                 records again"
            );
            Ok(epoch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_comes_back_is_noticed() {
        let set = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let mut copies = CompleteCopies::default();
        let looks = [
            (set(&["a", "b", "c"]), true),
            (set(&["a", "b", "c"]), false),
            (set(&["a", "b"]), false),
            (set(&["a", "b", "c"]), true),
            // It leads now, which changes nothing.
            (set(&["c", "b", "a"]), false),
            (None, false),
            (set(&["a", "b"]), true),
            (set(&[]), false),
            (set(&[]), false),
        ];
        for (number, (seen, is_new)) in looks.into_iter().enumerate() {
            assert_eq!(copies.note(seen), is_new, "look {number}");
        }
    }
}
