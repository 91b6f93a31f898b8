//! What is written to the log, and when. Pure.
//!
//! Changes go in; [`KeepPlanner::poll`] returns the next thing to write, and the writer answers
//! with [`KeepPlanner::handle_done`].
//!
//! All entries go to the newest segment, so one call of `fsync` covers all rooms. Of the snapshots,
//! which hosts send once a second, the log takes one after so many ticks ([`SNAPSHOT_TICKS`]) or
//! when the journal is as long as the snapshot: large rooms cost a fraction of what they cost with
//! each snapshot, and no room has more ticks to repeat after a restart than a few seconds. A
//! segment that has grown to a multiple of what it restores to is followed by a new one; an old one
//! is deleted when no room's newest snapshot is in it any more.
//!
//! Invariants:
//! 1. What waits to be written has at most [`MAX_WAITING_BYTES`]. Beyond that the room whose
//!    snapshot has waited longest is left out until its next snapshot, and counted.
//! 2. After a failed write everything begins anew in a new segment: records at once, rooms with
//!    their next snapshots.
//! 3. No segment is deleted before everything that takes its place is synced.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use ambit_host::protocol::MAX_ROOM_JOURNAL_BYTES;
use ambit_proto::ids::RoomId;
use ambit_proto::time::LocalTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot};

use super::log::{self, KeptEntry, KeptState, LogSalt, MAX_ROOM_TICKS};
use crate::lobby::RecordKey;

/// Ticks after which the log takes a room's next snapshot: five seconds at 20 Hz.
const SNAPSHOT_TICKS: usize = 100;
/// The same in bytes of the journal, for small snapshots.
const SNAPSHOT_JOURNAL_BYTES: usize = 1 << 16;
/// Twice the largest snapshot.
pub(crate) const MAX_WAITING_BYTES: usize = 128 << 20;
/// A segment has at least so many bytes before the next one begins.
const SEGMENT_BYTES: u64 = 8 << 20;
/// Pauses after a write that failed.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));
/// The number of a process's first entry of a room: its first segment, and so many entries each.
const ENTRIES_PER_SEGMENT: u64 = 1 << 40;

/// See the module.
#[derive(Debug)]
pub(crate) struct KeepPlanner {
    salt: LogSalt,
    sync_interval: Duration,
    /// All records of the lobby.
    records: BTreeMap<RecordKey, Vec<u8>>,
    rooms: BTreeMap<RoomId, RoomProgress>,
    /// Not written yet, in order.
    waiting: VecDeque<QueuedEntry>,
    waiting_bytes: usize,
    /// The newest segment.
    segment: u64,
    segment_bytes: u64,
    older_segments: BTreeSet<u64>,
    /// Whether the next write begins a new segment.
    begins_segment: bool,
    /// Whether the writer is at work.
    is_writing: bool,
    /// Since when something is written and not synced.
    unsynced_since: Option<LocalTime>,
    /// After a failure: when to try again, and the pause after that.
    retry: Option<(LocalTime, Duration)>,
    /// Rooms whose snapshots are being written, and to which segment.
    in_flight: Vec<(RoomId, u64)>,
    is_frozen: bool,
    is_finishing: bool,
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
    /// Rooms that ended the process and were set aside, until the operator deletes them.
    pub(crate) set_aside: u64,
}

/// How far the log is with a room.
#[derive(Debug)]
struct RoomProgress {
    /// The segment with its newest snapshot.
    segment: Option<u64>,
    next_number: u64,
    snapshot_bytes: usize,
    ticks: usize,
    journal_bytes: usize,
    /// Whether the log has all since the snapshot.
    is_whole: bool,
    /// Whether the log takes its next snapshot in any case.
    is_due: bool,
}

#[derive(Debug)]
struct QueuedEntry {
    /// `None` for a record.
    room: Option<RoomId>,
    is_snapshot: bool,
    bytes: Vec<u8>,
}

/// What the writer is to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct KeepWork {
    /// Append this to the newest segment.
    pub(crate) append: Vec<u8>,
    /// Then begin a new segment of that number.
    pub(crate) begin: Option<(u64, Vec<u8>)>,
    /// Then sync all that was written.
    pub(crate) sync: bool,
    /// The writer ends after it.
    pub(crate) is_last: bool,
}

impl KeepPlanner {
    /// A planner that continues what was read, in a new segment after `newest_segment`.
    pub(crate) fn new(
        salt: LogSalt,
        sync_interval: Duration,
        kept: &KeptState,
        segments: BTreeSet<u64>,
    ) -> Self {
        let segment = segments.last().copied().unwrap_or_default();
        let first_number = (segment + 1).saturating_mul(ENTRIES_PER_SEGMENT);
        let rooms = kept.rooms.iter().map(|(id, room)| {
            let progress = RoomProgress {
                segment: Some(room.segment),
                ..RoomProgress::new(first_number)
            };
            (*id, progress)
        });
        Self {
            salt,
            sync_interval,
            records: kept.records.clone(),
            rooms: rooms.collect(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            segment,
            segment_bytes: 0,
            older_segments: segments,
            begins_segment: true,
            is_writing: false,
            unsynced_since: None,
            retry: None,
            in_flight: Vec::new(),
            is_frozen: false,
            is_finishing: false,
            first_number,
            stats: KeepStats::default(),
        }
    }

    pub(crate) fn stats(&self) -> KeepStats {
        KeepStats {
            waiting_bytes: self.waiting_bytes as u64,
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
            let entry = match &value {
                Some(value) => KeptEntry::Record { key, value },
                None => KeptEntry::RecordGone(key),
            };
            self.push(None, entry);
            match value {
                Some(value) => drop(self.records.insert(key, value)),
                None => drop(self.records.remove(&key)),
            }
        }
        self.shed();
    }

    /// A host has sent a snapshot of a room.
    pub(crate) fn handle_snapshot(&mut self, room: RoomId, snapshot: &RoomSnapshot) {
        let first_number = self.first_number;
        let progress = self.rooms.entry(room);
        let progress = progress.or_insert_with(|| RoomProgress::new(first_number));
        let is_long = progress.ticks >= SNAPSHOT_TICKS
            || progress.journal_bytes >= progress.snapshot_bytes.max(SNAPSHOT_JOURNAL_BYTES);
        if progress.is_whole && !progress.is_due && !is_long {
            return;
        }
        let number = progress.next_number;
        *progress = RoomProgress {
            segment: progress.segment,
            snapshot_bytes: snapshot.state.len(),
            is_whole: true,
            ..RoomProgress::new(number + 1)
        };
        let entry = KeptEntry::Snapshot {
            room,
            number,
            at: snapshot.at,
            state: &snapshot.state,
        };
        self.push(Some(room), entry);
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
        let entry = KeptEntry::Tick {
            room,
            number,
            at: tick.at,
            inputs: &tick.inputs,
        };
        self.push(Some(room), entry);
        self.shed();
    }

    /// Something of the room is missing: it waits for its next snapshot.
    pub(crate) fn interrupt(&mut self, room: RoomId) {
        if let Some(progress) = self.rooms.get_mut(&room) {
            progress.is_whole = false;
        }
    }

    /// The room has ended.
    pub(crate) fn forget(&mut self, room: RoomId) {
        if !self.is_frozen && self.rooms.remove(&room).is_some() {
            self.push(Some(room), KeptEntry::RoomGone(room));
        }
    }

    /// From now on nothing that the lobby does is kept: this process ends, and the next one is to
    /// find sessions and rooms as they are now. Rooms' ticks are kept until
    /// [`KeepPlanner::finish`].
    pub(crate) fn freeze(&mut self) {
        self.is_frozen = true;
    }

    /// What waits is written, and that is all.
    pub(crate) fn finish(&mut self) {
        self.is_finishing = true;
    }

    /// When [`KeepPlanner::poll`] has something to do.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        if self.is_writing {
            return None;
        }
        if self.is_finishing || self.begins_segment || !self.waiting.is_empty() {
            let retry = self.retry.filter(|_| !self.is_finishing);
            return Some(retry.map_or(LocalTime::ZERO, |(at, _)| at));
        }
        self.unsynced_since.map(|since| since + self.sync_interval)
    }

    /// The next work; [`KeepPlanner::handle_done`] has to follow.
    pub(crate) fn poll(&mut self, now: LocalTime) -> Option<KeepWork> {
        if self.next_deadline().is_none_or(|at| at > now) {
            return None;
        }
        let (mut work, segment) = (KeepWork::default(), self.segment);
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        if self.begins_segment {
            // Its records are those that wait, too.
            let mut rest = Vec::new();
            for entry in waiting.iter().filter(|entry| entry.room.is_some()) {
                rest.extend_from_slice(&entry.bytes);
            }
            let (number, mut bytes) = self.next_segment();
            bytes.append(&mut rest);
            work.begin = Some((number, bytes));
        } else {
            for entry in &waiting {
                work.append.extend_from_slice(&entry.bytes);
            }
            if self.is_segment_long(work.append.len()) {
                work.begin = Some(self.next_segment());
                self.rooms.values_mut().for_each(|room| room.is_due = true);
            }
        }
        let holder = if self.begins_segment {
            self.segment
        } else {
            segment
        };
        let snapshots = waiting.iter().filter(|entry| entry.is_snapshot);
        let rooms = snapshots.filter_map(|entry| entry.room);
        self.in_flight = rooms.map(|room| (room, holder)).collect();
        self.begins_segment = false;
        let has_bytes = work.begin.is_some() || !work.append.is_empty();
        if has_bytes {
            self.unsynced_since.get_or_insert(now);
        }
        let is_due = |since| now >= since + self.sync_interval;
        work.sync = self.is_finishing || self.unsynced_since.is_some_and(is_due);
        work.is_last = self.is_finishing;
        self.is_writing = true;
        Some(work)
    }

    /// The work was done, or failed. Returns the segments to be deleted.
    pub(crate) fn handle_done(
        &mut self,
        now: LocalTime,
        work: &KeepWork,
        is_done: bool,
    ) -> Vec<u64> {
        self.is_writing = false;
        let in_flight = std::mem::take(&mut self.in_flight);
        let begun = work.begin.as_ref().map_or(0, |(_, bytes)| bytes.len());
        if !is_done {
            self.handle_failure(now);
            return Vec::new();
        }
        self.retry = None;
        self.stats.bytes += (work.append.len() + begun) as u64;
        if work.begin.is_some() {
            self.segment_bytes = 0;
        }
        self.segment_bytes += if work.begin.is_some() {
            begun as u64
        } else {
            work.append.len() as u64
        };
        for (room, segment) in in_flight {
            if let Some(room) = self.rooms.get_mut(&room) {
                room.segment = Some(segment);
            }
        }
        if !work.sync {
            return Vec::new();
        }
        self.stats.syncs += 1;
        self.unsynced_since = None;
        let used: BTreeSet<u64> = self
            .rooms
            .values()
            .filter_map(|room| room.segment)
            .collect();
        let (needed, unneeded) = self
            .older_segments
            .iter()
            .partition(|segment| used.contains(segment));
        self.older_segments = needed;
        let unneeded: BTreeSet<u64> = unneeded;
        unneeded.into_iter().collect()
    }

    fn handle_failure(&mut self, now: LocalTime) {
        let pause = self.retry.map_or(RETRY_PAUSES.0, |(_, pause)| pause);
        self.retry = Some((now + pause, (2 * pause).min(RETRY_PAUSES.1)));
        self.stats.failures += 1;
        // The newest segment may end within an entry.
        self.older_segments.insert(self.segment);
        self.begins_segment = true;
        self.unsynced_since = None;
        self.waiting.clear();
        self.waiting_bytes = 0;
        for room in self.rooms.values_mut() {
            room.is_whole = false;
        }
    }

    /// Makes the beginning of the next segment: all records.
    fn next_segment(&mut self) -> (u64, Vec<u8>) {
        if self.segment > 0 {
            self.older_segments.insert(self.segment);
        }
        self.segment += 1;
        let mut bytes = Vec::new();
        log::begin_segment(self.salt, &mut bytes);
        for (&key, value) in &self.records {
            log::append(self.salt, KeptEntry::Record { key, value }, &mut bytes);
        }
        log::append(self.salt, KeptEntry::RecordsComplete, &mut bytes);
        (self.segment, bytes)
    }

    fn is_segment_long(&self, more: usize) -> bool {
        let bytes = self.segment_bytes + more as u64;
        bytes >= SEGMENT_BYTES && bytes >= 2 * self.live_bytes()
    }

    /// The bytes of all records and newest snapshots.
    fn live_bytes(&self) -> u64 {
        let records = self.records.values().map(Vec::len);
        let snapshots = self.rooms.values().map(|room| room.snapshot_bytes);
        records
            .chain(snapshots)
            .map(|bytes| log::entry_bytes(bytes) as u64)
            .sum()
    }

    fn push(&mut self, room: Option<RoomId>, entry: KeptEntry<'_>) {
        let mut bytes = Vec::new();
        log::append(self.salt, entry, &mut bytes);
        self.waiting_bytes += bytes.len();
        self.waiting.push_back(QueuedEntry {
            room,
            is_snapshot: matches!(entry, KeptEntry::Snapshot { .. }),
            bytes,
        });
    }

    /// Leaves rooms out while too much waits.
    fn shed(&mut self) {
        while self.waiting_bytes > MAX_WAITING_BYTES {
            let of_rooms = || self.waiting.iter().filter(|entry| entry.room.is_some());
            let oldest = of_rooms()
                .find(|entry| entry.is_snapshot)
                .or_else(|| of_rooms().next());
            if let Some(room) = oldest.and_then(|entry| entry.room) {
                self.waiting.retain(|entry| entry.room != Some(room));
                self.interrupt(room);
                self.stats.left_out += 1;
            } else {
                // The next segment has all records.
                self.waiting.clear();
                self.begins_segment = true;
            }
            self.waiting_bytes = self.waiting.iter().map(|entry| entry.bytes.len()).sum();
        }
    }
}

impl RoomProgress {
    fn new(next_number: u64) -> Self {
        Self {
            segment: None,
            next_number,
            snapshot_bytes: 0,
            ticks: 0,
            journal_bytes: 0,
            is_whole: false,
            is_due: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ambit_proto::ids::PlayerId;
    use ambit_proto::time::GameTime;
    use ambit_room::journal::SavedRoom;

    const SALT: LogSalt = [3; 8];
    const SYNC: Duration = Duration::from_secs(1);
    const ROOMS: [RoomId; 3] = [RoomId(1), RoomId(2), RoomId(3)];

    /// A process that writes some of what it was given, and the states that were right at a time.
    struct Story {
        planner: KeepPlanner,
        now: LocalTime,
        random: u64,
        segments: BTreeMap<u64, Vec<u8>>,
        rooms: BTreeMap<RoomId, SavedRoom>,
        /// All states of each room so far.
        room_states: Vec<(RoomId, SavedRoom)>,
        records: BTreeMap<RecordKey, Vec<u8>>,
        /// All states of the records so far.
        record_states: Vec<BTreeMap<RecordKey, Vec<u8>>>,
        checked: u32,
    }

    impl Story {
        fn new(seed: u64) -> Self {
            Self {
                planner: planner(&KeptState::default(), BTreeSet::new()),
                now: LocalTime::from_millis(10),
                random: seed,
                segments: BTreeMap::new(),
                rooms: BTreeMap::new(),
                room_states: Vec::new(),
                records: BTreeMap::new(),
                record_states: vec![BTreeMap::new()],
                checked: 0,
            }
        }

        fn below(&mut self, limit: u64) -> u64 {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005) + 1;
            (self.random >> 33) % limit
        }

        fn step(&mut self) {
            self.now += Duration::from_millis(50);
            let room = ROOMS[self.below(3) as usize];
            match self.below(12) {
                0 => {
                    let key = RecordKey::Player(PlayerId(self.below(4)));
                    let value = (self.below(4) > 0).then(|| vec![self.below(200) as u8; 9]);
                    match &value {
                        Some(value) => drop(self.records.insert(key, value.clone())),
                        None => drop(self.records.remove(&key)),
                    }
                    self.record_states.push(self.records.clone());
                    self.planner.handle_records([(key, value)]);
                }
                1 => self.snapshot(room),
                2 if self.below(4) == 0 => {
                    self.rooms.remove(&room);
                    self.planner.forget(room);
                }
                3 if self.below(4) == 0 => {
                    // Another host goes on with it.
                    self.planner.interrupt(room);
                    self.tick(room);
                    self.snapshot(room);
                }
                _ => self.tick(room),
            }
        }

        fn snapshot(&mut self, room: RoomId) {
            let at = self.now_of_rooms();
            let state = vec![self.below(256) as u8; 20];
            let snapshot = RoomSnapshot { at, state };
            let number = |planner: &KeepPlanner| {
                let progress = planner.rooms.get(&room);
                progress.map(|progress| progress.next_number)
            };
            let before = number(&self.planner);
            self.planner.handle_snapshot(room, &snapshot);
            // The room is the same with the last snapshot and the ticks, as with the new one.
            if number(&self.planner) != before {
                let journal = Vec::new();
                self.rooms.insert(room, SavedRoom { snapshot, journal });
                self.note(room);
            }
        }

        fn tick(&mut self, room: RoomId) {
            let tick = JournalEntry {
                at: self.now_of_rooms(),
                inputs: vec![self.below(256) as u8; 3],
            };
            self.planner.handle_tick(room, &tick);
            if let Some(saved) = self.rooms.get_mut(&room)
                && self.planner.rooms[&room].is_whole
            {
                saved.journal.push(tick);
                self.note(room);
            }
        }

        fn now_of_rooms(&self) -> GameTime {
            GameTime::from_micros(self.now.micros())
        }

        fn note(&mut self, room: RoomId) {
            self.room_states.push((room, self.rooms[&room].clone()));
        }

        /// Writes what is due. The process may end after each of its bytes.
        fn write(&mut self) {
            let Some(work) = self.planner.poll(self.now) else {
                return;
            };
            let newest = self.segments.keys().last().copied().unwrap_or_default();
            for length in 0..=work.append.len() {
                self.check(newest, &work.append[..length]);
            }
            if !work.append.is_empty() {
                let segment = self.segments.get_mut(&newest).expect("it was begun");
                segment.extend_from_slice(&work.append);
            }
            if let Some((number, bytes)) = &work.begin {
                assert!(*number > newest);
                for length in 0..=bytes.len() {
                    self.check(*number, &bytes[..length]);
                }
                self.segments.insert(*number, bytes.clone());
            }
            for deleted in self.planner.handle_done(self.now, &work, true) {
                assert!(work.sync, "not before the others are synced");
                self.segments.remove(&deleted).expect("it is there");
                self.check(0, &[]);
            }
        }

        /// What the segments and some more bytes of one restore to was right at a time.
        fn check(&mut self, segment: u64, more: &[u8]) {
            let mut state = KeptState::default();
            let mut segments = self.segments.clone();
            if !more.is_empty() {
                segments.entry(segment).or_default().extend(more);
            }
            for (number, bytes) in &segments {
                state.read(*number, bytes).expect("this version");
            }
            assert_eq!(state.damaged_bytes, 0);
            assert!(
                self.record_states.contains(&state.records),
                "{:?}",
                state.records
            );
            for (id, room) in &state.rooms {
                let is_known = |(of, saved): &(RoomId, SavedRoom)| of == id && *saved == room.saved;
                assert!(self.room_states.iter().any(is_known), "{room:?}");
            }
            self.checked += 1;
        }

        fn restored(&self) -> KeptState {
            let mut state = KeptState::default();
            for (number, bytes) in &self.segments {
                state.read(*number, bytes).expect("this version");
            }
            state
        }
    }

    #[test]
    fn a_process_that_ends_after_any_byte_leaves_a_state_that_was_right() {
        let mut checked = 0;
        for seed in 1..=6 {
            let mut story = Story::new(seed);
            for step in 0..120 {
                story.step();
                if story.below(3) == 0 {
                    story.write();
                }
                if step == 60 {
                    // As if the segment were long.
                    story.write();
                    story.planner.segment_bytes = 1 << 40;
                }
            }
            story.now += SYNC;
            story.write();
            let state = story.restored();
            assert_eq!(state.records, story.records);
            let rooms = state
                .rooms
                .iter()
                .map(|(id, room)| (*id, room.saved.clone()));
            assert_eq!(rooms.collect::<BTreeMap<_, _>>(), story.rooms);
            checked += story.checked;
        }
        assert!(checked > 10_000, "{checked}");
    }

    #[test]
    fn the_next_process_continues_and_deletes_nothing_that_it_needs() {
        let mut first = planner(&KeptState::default(), BTreeSet::new());
        first.handle_snapshot(ROOMS[0], &snapshot(50, 1_000));
        let begun = write(&mut first, LocalTime::from_millis(10)).begin.unwrap();
        let mut kept = KeptState::default();
        kept.read(begun.0, &begun.1).unwrap();
        let mut second = planner(&kept, [begun.0].into());
        assert_eq!(
            write(&mut second, LocalTime::from_millis(10))
                .begin
                .unwrap()
                .0,
            2
        );
        // Ticks without a snapshot of this process are of no use.
        second.handle_tick(ROOMS[0], &tick(100, 1));
        assert_eq!(second.poll(LocalTime::from_millis(20)), None);
        let synced = LocalTime::from_millis(1_010);
        let work = second.poll(synced).unwrap();
        assert!(
            second.handle_done(synced, &work, true).is_empty(),
            "the room needs the first"
        );
        second.handle_snapshot(ROOMS[0], &snapshot(150, 1_000));
        let work = second.poll(synced).unwrap();
        assert!(
            second.handle_done(synced, &work, true).is_empty(),
            "not synced"
        );
        let synced = LocalTime::from_millis(2_010);
        let work = second.poll(synced).unwrap();
        assert_eq!(second.handle_done(synced, &work, true), [begun.0]);
    }

    #[test]
    fn of_many_snapshots_the_log_takes_some() {
        let mut planner = planner(&KeptState::default(), BTreeSet::new());
        let mut count = 0;
        for second in 0..60 {
            let before = planner
                .waiting
                .iter()
                .filter(|entry| entry.is_snapshot)
                .count();
            planner.handle_snapshot(ROOMS[0], &snapshot(second * 1_000, 100_000));
            let after = planner
                .waiting
                .iter()
                .filter(|entry| entry.is_snapshot)
                .count();
            count += after - before;
            for number in 0..20 {
                planner.handle_tick(ROOMS[0], &tick(second * 1_000 + number * 50, 10));
            }
            write(&mut planner, LocalTime::from_millis(second * 1_000 + 10));
        }
        assert_eq!(count, 60 / 5);
        // A long journal is replaced sooner.
        planner.handle_tick(ROOMS[0], &tick(60_000, 100_000));
        planner.handle_snapshot(ROOMS[0], &snapshot(60_000, 100_000));
        assert!(planner.waiting.iter().any(|entry| entry.is_snapshot));
    }

    #[test]
    fn while_the_disk_stalls_memory_is_bounded_and_rooms_are_left_out() {
        let mut planner = planner(&KeptState::default(), BTreeSet::new());
        let stalled = planner.poll(LocalTime::from_millis(10)).unwrap();
        for number in 1..=40 {
            planner.handle_snapshot(RoomId(number), &snapshot(50, 10 << 20));
            planner.handle_tick(RoomId(number), &tick(100, 10));
            assert!(planner.waiting_bytes <= MAX_WAITING_BYTES);
            assert_eq!(
                planner.poll(LocalTime::from_millis(10)),
                None,
                "it is at work"
            );
        }
        assert_eq!(planner.stats().left_out, 28);
        planner.handle_done(LocalTime::from_millis(20), &stalled, true);
        let mut state = KeptState::default();
        let mut bytes = stalled.begin.unwrap().1;
        bytes.extend(write(&mut planner, LocalTime::from_millis(20)).append);
        state.read(1, &bytes).unwrap();
        assert_eq!(state.rooms.keys().map(|id| id.0).min(), Some(29));
        // A room that was left out comes back with its next snapshot.
        planner.handle_tick(RoomId(1), &tick(150, 10));
        planner.handle_snapshot(RoomId(1), &snapshot(150, 1_000));
        assert!(planner.rooms[&RoomId(1)].is_whole);
    }

    #[test]
    fn records_beyond_the_bound_are_written_with_the_next_segment() {
        let mut planner = planner(&KeptState::default(), BTreeSet::new());
        write(&mut planner, LocalTime::from_millis(10));
        for number in 0..300 {
            let value = vec![number as u8; 1 << 20];
            planner.handle_records([(RecordKey::Ids, Some(value))]);
            assert!(planner.waiting_bytes <= MAX_WAITING_BYTES);
        }
        let (_, bytes) = write(&mut planner, LocalTime::from_millis(20))
            .begin
            .unwrap();
        let mut state = KeptState::default();
        state.read(2, &bytes).unwrap();
        assert_eq!(state.records[&RecordKey::Ids][0], 299_u64 as u8);
    }

    #[test]
    fn after_a_failed_write_all_begins_anew_after_a_pause() {
        let mut planner = planner(&KeptState::default(), BTreeSet::new());
        write(&mut planner, LocalTime::from_millis(10));
        planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
        planner.handle_snapshot(ROOMS[0], &snapshot(50, 100));
        let work = planner.poll(LocalTime::from_millis(20)).unwrap();
        planner.handle_done(LocalTime::from_millis(20), &work, false);
        assert!(planner.stats().is_failing && planner.stats().failures == 1);
        planner.handle_tick(ROOMS[0], &tick(100, 1));
        assert_eq!(planner.poll(LocalTime::from_millis(900)), None, "a pause");
        let (number, bytes) = write(&mut planner, LocalTime::from_millis(1_020))
            .begin
            .unwrap();
        let mut state = KeptState::default();
        state.read(number, &bytes).unwrap();
        assert_eq!(state.records, [(RecordKey::Ids, vec![1])].into());
        assert!(state.rooms.is_empty() && !planner.stats().is_failing);
        planner.handle_snapshot(ROOMS[0], &snapshot(150, 100));
        let more = write(&mut planner, LocalTime::from_millis(1_030)).append;
        state.read(number, &[bytes, more].concat()).unwrap();
        assert!(state.rooms.contains_key(&ROOMS[0]));
    }

    #[test]
    fn what_the_lobby_does_while_it_ends_is_not_kept_and_ticks_are() {
        let mut planner = planner(&KeptState::default(), BTreeSet::new());
        planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
        planner.handle_snapshot(ROOMS[0], &snapshot(50, 100));
        planner.freeze();
        planner.handle_records([(RecordKey::Ids, None)]);
        planner.forget(ROOMS[0]);
        planner.handle_tick(ROOMS[0], &tick(100, 1));
        planner.finish();
        let work = planner.poll(LocalTime::from_millis(10)).unwrap();
        assert!(work.sync && work.is_last);
        let mut state = KeptState::default();
        state.read(1, &work.begin.unwrap().1).unwrap();
        assert_eq!(state.records, [(RecordKey::Ids, vec![1])].into());
        assert_eq!(state.rooms[&ROOMS[0]].saved.journal.len(), 1);
    }

    fn planner(kept: &KeptState, segments: BTreeSet<u64>) -> KeepPlanner {
        KeepPlanner::new(SALT, SYNC, kept, segments)
    }

    fn write(planner: &mut KeepPlanner, now: LocalTime) -> KeepWork {
        let work = planner.poll(now).expect("something to write");
        planner.handle_done(now, &work, true);
        work
    }

    fn snapshot(ms: u64, bytes: usize) -> RoomSnapshot {
        RoomSnapshot {
            at: GameTime::from_millis(ms),
            state: vec![1; bytes],
        }
    }

    fn tick(ms: u64, bytes: usize) -> JournalEntry {
        JournalEntry {
            at: GameTime::from_millis(ms),
            inputs: vec![2; bytes],
        }
    }
}
