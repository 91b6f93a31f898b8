//! What is written to the log and synced, and when. Pure.
//!
//! Changes go in; [`KeepPlanner::poll`] returns the next thing to write, and the writer answers
//! with [`KeepPlanner::handle_done`]. [`KeepPlanner::poll_sync`] says when to sync, which
//! [`KeepPlanner::handle_synced`] answers. Both may be under way at the same time, so nothing waits
//! in memory for the end of an `fsync`.
//!
//! All entries go to the newest segment, so one sync covers all rooms. Of the snapshots, which
//! hosts send once a second, the log takes one after [`SNAPSHOT_TICKS`] ticks or when the journal
//! is as long as the snapshot: large rooms cost a fraction of what they cost with each snapshot,
//! and after a restart no room has to repeat the ticks of more than a few seconds. When the process
//! is about to end it takes each room's last snapshot, too. A segment
//! that has grown to a multiple of what it restores to is followed by a new one; an old one is
//! deleted when no room's newest snapshot is in it any more.
//!
//! Invariants:
//! 1. What waits to be written has at most [`MAX_WAITING_BYTES`]. Beyond that the room whose
//!    snapshot has waited longest is left out until its next snapshot, and counted.
//! 2. After a failed write or sync everything is written again to a new segment: records at once,
//!    rooms with their next snapshots.
//! 3. A room that is set aside is in a file of its own before the log forgets it.
//! 4. No segment is deleted before everything that takes its place is synced. What was written
//!    before a failure, and not synced, never takes its place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ambit_host_protocol::MAX_ROOM_JOURNAL_BYTES;
use ambit_lobby::RecordKey;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ambit_room::recording::Header;
use bytes::Bytes;

use super::log::{self, KeptState, MAX_ROOM_TICKS};
use super::waiting::{QueuedEntry, WaitingEntries};

/// Ticks after which the log takes a room's next snapshot: five seconds at 20 Hz.
const SNAPSHOT_TICKS: usize = 100;
/// The same in bytes of the journal, for small snapshots.
const SNAPSHOT_JOURNAL_BYTES: usize = 1 << 16;
/// Twice the largest snapshot.
pub(crate) const MAX_WAITING_BYTES: usize = 128 << 20;
/// A segment has at least this size before the next one begins.
const SEGMENT_BYTES: u64 = 8 << 20;
/// Pauses after a write that failed.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// Numbers of entries for each segment: a process numbers the entries of a room from the number of
/// its first segment times this on.
const ENTRIES_PER_SEGMENT: u64 = 1 << 40;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct KeepPlanner {
    sync_interval: Duration,
    /// All records of the lobby.
    records: BTreeMap<RecordKey, Bytes>,
    rooms: BTreeMap<RoomId, RoomProgress>,
    /// Rooms that have ended, and the newest segment with something of them.
    gone: BTreeMap<RoomId, u64>,
    /// Not written yet.
    waiting: WaitingEntries,
    /// To be written to files of their own before anything that waits.
    set_aside: Vec<Arc<RoomSetAside>>,
    /// The newest segment.
    segment: u64,
    segment_bytes: u64,
    older_segments: BTreeSet<u64>,
    /// Whether the next write begins a new segment.
    begins_segment: bool,
    /// Whether the writer is at work.
    is_writing: bool,
    /// Writes that have begun. Each takes all that waits then.
    begun_writes: u64,
    /// Rooms whose snapshots are being written, and to which segment.
    in_flight: Vec<(RoomId, u64)>,
    /// Since when something is written that no sync covers.
    unsynced_since: Option<LocalTime>,
    /// The sync that is under way.
    syncing: Option<SyncUnderWay>,
    /// The newest segment whose beginning is written.
    begun_segment: u64,
    /// What was written to segments up to this one, and not synced, is as if it were not there.
    failed_until: u64,
    /// Grows with each failure: what began before one counts for nothing.
    attempt: u64,
    /// After a failure, until the next sync: when to try again, and the pause after that.
    retry: Option<(LocalTime, Duration)>,
    is_frozen: bool,
    is_finishing: bool,
    /// It failed while it was finishing.
    gave_up: bool,
    first_number: u64,
    stats: KeepStats,
}

/// Counters for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeepStats {
    pub(crate) bytes: u64,
    pub(crate) syncs: u64,
    pub(crate) failures: u64,
    /// Times that a room was left out until its next snapshot, since too much waited.
    pub(crate) left_out: u64,
    pub(crate) waiting_bytes: u64,
    pub(crate) is_failing: bool,
    /// Rooms that could not go on and were set aside, until the operator deletes them.
    pub(crate) set_aside: u64,
}

/// A room that could not go on here, as it was kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RoomSetAside {
    pub(crate) header: Header,
    pub(crate) saved: SavedRoom,
    /// The build that saved it.
    pub(crate) build: String,
    /// For operators.
    pub(crate) why: String,
}

/// How far the log is with a room.
#[derive(Debug, Default)]
struct RoomProgress {
    /// The segment with its newest snapshot.
    segment: Option<u64>,
    /// The same of those that are synced.
    synced_segment: Option<u64>,
    next_number: u64,
    snapshot_bytes: usize,
    ticks: usize,
    journal_bytes: usize,
    /// Whether the log has all since the snapshot.
    is_whole: bool,
    /// Whether the log takes its next snapshot in any case.
    is_due: bool,
}

/// What the writer is to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KeepWork {
    /// First write a file for each of these.
    pub(crate) set_aside: Vec<Arc<RoomSetAside>>,
    /// Append these to the newest segment.
    pub(crate) append: Vec<QueuedEntry>,
    /// Then begin a new segment of that number with these.
    pub(crate) begin: Option<(u64, Vec<QueuedEntry>)>,
    began_at: LocalTime,
    attempt: u64,
}

/// What a sync covers.
#[derive(Debug)]
struct SyncUnderWay {
    /// The newest segment, which begins with all records.
    segment: u64,
    /// The rooms' newest snapshots.
    snapshots: Vec<(RoomId, u64)>,
    attempt: u64,
}

impl KeepPlanner {
    /// A planner that continues what was read, in a new segment after `newest_segment`.
    pub(crate) fn new(sync_interval: Duration, kept: &KeptState, segments: BTreeSet<u64>) -> Self {
        let segment = segments.last().copied().unwrap_or_default();
        let first_number = (segment + 1).saturating_mul(ENTRIES_PER_SEGMENT);
        let rooms = kept.rooms.iter().map(|(id, room)| {
            let progress = RoomProgress {
                segment: Some(room.segment),
                synced_segment: Some(room.segment),
                ..RoomProgress::new(first_number)
            };
            (*id, progress)
        });
        let records = kept.records.iter();
        Self {
            sync_interval,
            records: records.map(|(key, value)| (*key, Bytes::copy_from_slice(value))).collect(),
            rooms: rooms.collect(),
            segment,
            older_segments: segments,
            begins_segment: true,
            first_number,
            ..Self::default()
        }
    }

    pub(crate) fn stats(&self) -> KeepStats {
        KeepStats {
            waiting_bytes: self.waiting.bytes() as u64,
            is_failing: self.retry.is_some(),
            ..self.stats
        }
    }

    /// The lobby has changed records; `None` removes one.
    pub(crate) fn handle_records(
        &mut self,
        records: impl IntoIterator<Item = (RecordKey, Option<Vec<u8>>)>,
    ) {
        if self.is_frozen {
            return;
        }
        for (key, value) in records {
            let value = value.map(Bytes::from);
            match &value {
                Some(value) => drop(self.records.insert(key, value.clone())),
                None => drop(self.records.remove(&key)),
            }
            self.waiting.push(QueuedEntry::Record { key, value });
        }
        self.shed();
    }

    /// Whether the log takes a snapshot of the room that comes now.
    pub(crate) fn wants_snapshot(&self, room: RoomId) -> bool {
        self.rooms.get(&room).is_none_or(|progress| {
            let is_long = progress.ticks >= SNAPSHOT_TICKS
                || progress.journal_bytes >= progress.snapshot_bytes.max(SNAPSHOT_JOURNAL_BYTES);
            // This process ends: any build can go on with a room that has nothing after its
            // snapshot. Not if that could leave another room out.
            let most = self.waiting.bytes() + 2 * progress.snapshot_bytes;
            let is_last = self.is_frozen && progress.ticks > 0 && most <= MAX_WAITING_BYTES;
            !progress.is_whole || progress.is_due || is_long || is_last
        })
    }

    /// A host has sent a snapshot of a room. One that the log does not want is ignored.
    pub(crate) fn handle_snapshot(&mut self, room: RoomId, snapshot: RoomSnapshot) {
        if !self.wants_snapshot(room) {
            return;
        }
        let RoomSnapshot { at, state } = snapshot;
        let first_number = self.first_number;
        let progress = self.rooms.entry(room);
        let progress = progress.or_insert_with(|| RoomProgress::new(first_number));
        let number = progress.next_number;
        *progress = RoomProgress {
            segment: progress.segment,
            synced_segment: progress.synced_segment,
            snapshot_bytes: state.len(),
            is_whole: true,
            ..RoomProgress::new(number + 1)
        };
        self.gone.remove(&room);
        self.waiting.push(QueuedEntry::Snapshot { room, number, at, state: state.into() });
        self.shed();
    }

    /// A host has sent the inputs of a tick, after a snapshot.
    pub(crate) fn handle_tick(&mut self, room: RoomId, tick: &JournalEntry) {
        let Some(progress) = self.rooms.get_mut(&room).filter(|room| room.is_whole) else {
            return;
        };
        progress.ticks += 1;
        progress.journal_bytes += tick.inputs.len();
        if progress.ticks > MAX_ROOM_TICKS || progress.journal_bytes > MAX_ROOM_JOURNAL_BYTES {
            progress.is_whole = false;
            return;
        }
        let number = progress.next_number;
        progress.next_number += 1;
        self.waiting.push(QueuedEntry::Tick {
            room,
            number,
            at: tick.at,
            inputs: Bytes::copy_from_slice(&tick.inputs),
        });
        self.shed();
    }

    /// Something of the room is missing: it waits for its next snapshot.
    pub(crate) fn interrupt(&mut self, room: RoomId) {
        if let Some(progress) = self.rooms.get_mut(&room) {
            progress.is_whole = false;
        }
    }

    /// The room is to be written to a file of its own. [`KeepPlanner::forget`] follows.
    pub(crate) fn set_aside(&mut self, room: RoomSetAside) {
        if !self.is_frozen {
            self.set_aside.push(Arc::new(room));
        }
    }

    /// The room has ended.
    pub(crate) fn forget(&mut self, room: RoomId) {
        if !self.is_frozen && self.rooms.remove(&room).is_some() {
            self.waiting.remove_room(room);
            self.waiting.push(QueuedEntry::RoomGone(room));
            self.gone.insert(room, self.segment);
        }
    }

    /// From now on nothing that the lobby does is kept: this process ends, and the next one is to
    /// find sessions and rooms as they are now. Rooms' ticks are kept until
    /// [`KeepPlanner::finish`].
    pub(crate) fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// What waits is written and synced, and that is all.
    pub(crate) fn finish(&mut self) {
        self.is_finishing = true;
    }

    /// Whether there is nothing more to do after [`KeepPlanner::finish`].
    pub(crate) fn is_finished(&self) -> bool {
        let is_all_synced = !self.is_writing
            && !self.has_something_to_write()
            && self.unsynced_since.is_none()
            && self.syncing.is_none();
        self.is_finishing && (is_all_synced || self.gave_up)
    }

    fn has_something_to_write(&self) -> bool {
        self.begins_segment || !self.waiting.is_empty() || !self.set_aside.is_empty()
    }

    /// When [`KeepPlanner::poll`] has something to do.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        if self.is_writing || !self.has_something_to_write() {
            return None;
        }
        let retry = self.retry.filter(|_| !self.is_finishing);
        Some(retry.map_or(LocalTime::ZERO, |(at, _)| at))
    }

    /// The next work; [`KeepPlanner::handle_done`] has to follow.
    pub(crate) fn poll(&mut self, now: LocalTime) -> Option<KeepWork> {
        if self.next_deadline().is_none_or(|at| at > now) {
            return None;
        }
        let mut work = KeepWork {
            set_aside: self.set_aside.clone(),
            append: Vec::new(),
            begin: None,
            began_at: now,
            attempt: self.attempt,
        };
        let (mut waiting, snapshots) = self.waiting.take();
        // The waiting entries come before a next segment, but after one that replaces a failed one.
        let mut holder = self.segment;
        if self.begins_segment {
            // It begins with the records that wait, too.
            waiting.retain(|entry| !entry.is_record());
            let (number, mut entries) = self.next_segment();
            entries.append(&mut waiting);
            work.begin = Some((number, entries));
            holder = number;
        } else {
            let bytes = bytes_of(&waiting);
            work.append = waiting;
            if self.is_segment_long(bytes) {
                work.begin = Some(self.next_segment());
                self.rooms.values_mut().for_each(|room| room.is_due = true);
            }
        }
        self.in_flight = snapshots.into_iter().map(|room| (room, holder)).collect();
        self.begins_segment = false;
        self.is_writing = true;
        self.begun_writes += 1;
        Some(work)
    }

    /// The write with which all is written that has come until now.
    pub(crate) fn write_of_all(&self) -> u64 {
        self.begun_writes + u64::from(!self.waiting.is_empty())
    }

    /// Whether a write is over.
    pub(crate) fn is_over(&self, write: u64) -> bool {
        write < self.begun_writes || write == self.begun_writes && !self.is_writing
    }

    /// The work was done, or failed.
    pub(crate) fn handle_done(&mut self, now: LocalTime, work: &KeepWork, is_done: bool) {
        self.is_writing = false;
        let in_flight = std::mem::take(&mut self.in_flight);
        if is_done {
            self.set_aside.drain(..work.set_aside.len());
        }
        if work.attempt != self.attempt {
            return;
        }
        if !is_done {
            return self.handle_failure(now);
        }
        let appended = bytes_of(&work.append);
        let begun = work.begin.as_ref().map(|(_, entries)| bytes_of(entries));
        if let Some((segment, _)) = work.begin {
            self.begun_segment = segment;
        }
        self.stats.bytes += appended + begun.unwrap_or_default();
        self.segment_bytes = begun.unwrap_or(self.segment_bytes + appended);
        for (room, segment) in in_flight {
            if let Some(room) = self.rooms.get_mut(&room) {
                room.segment = Some(segment);
            }
        }
        self.unsynced_since.get_or_insert(work.began_at);
    }

    /// When [`KeepPlanner::poll_sync`] has something to do.
    pub(crate) fn next_sync(&self) -> Option<LocalTime> {
        if self.syncing.is_some() {
            return None;
        }
        let since = self.unsynced_since?;
        let is_last = self.is_finishing && !self.is_writing && !self.has_something_to_write();
        Some(if is_last { LocalTime::ZERO } else { since + self.sync_interval })
    }

    /// Whether to sync all that was written; [`KeepPlanner::handle_synced`] has to follow.
    pub(crate) fn poll_sync(&mut self, now: LocalTime) -> bool {
        if self.next_sync().is_none_or(|at| at > now) {
            return false;
        }
        self.unsynced_since = None;
        let rooms = self.rooms.iter();
        let snapshots = rooms.filter_map(|(id, room)| Some((*id, room.segment?)));
        let snapshots = snapshots.filter(|(_, segment)| *segment > self.failed_until);
        self.syncing = Some(SyncUnderWay {
            segment: self.begun_segment,
            snapshots: snapshots.collect(),
            attempt: self.attempt,
        });
        true
    }

    /// All that was written before the last [`KeepPlanner::poll_sync`] is synced, or that failed.
    /// Returns the segments to be deleted.
    pub(crate) fn handle_synced(&mut self, now: LocalTime, is_done: bool) -> Vec<u64> {
        let Some(sync) = self.syncing.take() else {
            return Vec::new();
        };
        if sync.attempt != self.attempt {
            return Vec::new();
        }
        if !is_done {
            self.handle_failure(now);
            return Vec::new();
        }
        self.retry = None;
        self.stats.syncs += 1;
        for (room, segment) in sync.snapshots {
            if let Some(room) = self.rooms.get_mut(&room) {
                room.synced_segment = Some(segment);
            }
        }
        let rooms = self.rooms.values();
        let used: BTreeSet<u64> =
            rooms.flat_map(|room| [room.segment, room.synced_segment]).flatten().collect();
        let is_needed = |segment: &u64| *segment >= sync.segment || used.contains(segment);
        let (needed, unneeded) = self.older_segments.iter().partition(|it| is_needed(it));
        self.older_segments = needed;
        let oldest = self.older_segments.first().copied().unwrap_or(self.segment);
        self.gone.retain(|_, segment| *segment >= oldest);
        let unneeded: BTreeSet<u64> = unneeded;
        unneeded.into_iter().collect()
    }

    fn handle_failure(&mut self, now: LocalTime) {
        let pause = self.retry.map_or(RETRY_PAUSES.0, |(_, pause)| pause);
        self.retry = Some((now + pause, (2 * pause).min(RETRY_PAUSES.1)));
        self.stats.failures += 1;
        self.attempt += 1;
        self.failed_until = self.segment;
        self.gave_up = self.is_finishing;
        // The newest segment may end within an entry.
        self.older_segments.insert(self.segment);
        self.begins_segment = true;
        self.unsynced_since = None;
        self.waiting = WaitingEntries::default();
        for room in self.rooms.values_mut() {
            room.is_whole = false;
        }
    }

    /// The beginning of the next segment: all records, and which rooms are gone.
    fn next_segment(&mut self) -> (u64, Vec<QueuedEntry>) {
        if self.segment > 0 {
            self.older_segments.insert(self.segment);
        }
        self.segment += 1;
        let records = self.records.iter().map(|(&key, value)| {
            let value = Some(value.clone());
            QueuedEntry::Record { key, value }
        });
        let gone = self.gone.keys().map(|room| QueuedEntry::RoomGone(*room));
        let entries = records.chain([QueuedEntry::RecordsComplete]).chain(gone);
        (self.segment, entries.collect())
    }

    fn is_segment_long(&self, more: u64) -> bool {
        let bytes = self.segment_bytes + more;
        bytes >= SEGMENT_BYTES && bytes >= 2 * self.live_bytes()
    }

    /// The bytes of all records and newest snapshots.
    fn live_bytes(&self) -> u64 {
        let records = self.records.values().map(Bytes::len);
        let snapshots = self.rooms.values().map(|room| room.snapshot_bytes);
        records.chain(snapshots).map(|bytes| log::entry_bytes(bytes) as u64).sum()
    }

    /// Leaves rooms out while too much waits.
    fn shed(&mut self) {
        while self.waiting.bytes() > MAX_WAITING_BYTES {
            if let Some(room) = self.waiting.leave_out_a_room() {
                self.interrupt(room);
                self.stats.left_out += 1;
            } else {
                // The next segment has all records.
                self.waiting = WaitingEntries::default();
                self.begins_segment = true;
            }
        }
    }
}

fn bytes_of(entries: &[QueuedEntry]) -> u64 {
    entries.iter().map(|entry| entry.bytes() as u64).sum()
}

impl RoomProgress {
    fn new(next_number: u64) -> Self {
        Self { next_number, ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
