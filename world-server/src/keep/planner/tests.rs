//! What is written and deleted, checked with the log that it makes.

use super::*;

use crate::keep::log::LogSalt;
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
    is_syncing: bool,
    rooms: BTreeMap<RoomId, SavedRoom>,
    /// All past states of each room.
    room_states: Vec<(RoomId, SavedRoom)>,
    records: BTreeMap<RecordKey, Vec<u8>>,
    /// All past states of the records.
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
            is_syncing: false,
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
        self.planner.handle_snapshot(room, snapshot.clone());
        // The room is the same with the last snapshot and the ticks, as with the new one.
        if number(&self.planner) != before {
            let journal = Vec::new();
            self.rooms.insert(room, SavedRoom { snapshot, journal });
            self.note(room);
        }
    }

    fn tick(&mut self, room: RoomId) {
        let tick = JournalEntry { at: self.now_of_rooms(), inputs: vec![self.below(256) as u8; 3] };
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
        let append = encoded(&work.append);
        for length in 0..=append.len() {
            self.check(newest, &append[..length]);
        }
        if !append.is_empty() {
            let segment = self.segments.get_mut(&newest).expect("it was begun");
            segment.extend_from_slice(&append);
        }
        if let Some((number, bytes)) = begun_by(&work) {
            assert!(number > newest);
            for length in 0..=bytes.len() {
                self.check(number, &bytes[..length]);
            }
            self.segments.insert(number, bytes);
        }
        self.planner.handle_done(self.now, &work, true);
    }

    /// Ends a sync, and begins one if it is due: it takes a while.
    fn sync(&mut self) {
        if std::mem::take(&mut self.is_syncing) {
            for deleted in self.planner.handle_synced(self.now, true) {
                self.segments.remove(&deleted).expect("it is there");
                self.check(0, &[]);
            }
        }
        self.is_syncing = self.planner.poll_sync(self.now);
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
        assert!(self.record_states.contains(&state.records), "{:?}", state.records);
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
            if story.below(4) == 0 {
                story.sync();
            }
            if step == 60 {
                // As if the segment were long.
                story.write();
                story.planner.segment_bytes = 1 << 40;
            }
        }
        story.now += SYNC;
        story.write();
        story.sync();
        story.sync();
        let state = story.restored();
        assert_eq!(state.records, story.records);
        let rooms = state.rooms.iter().map(|(id, room)| (*id, room.saved.clone()));
        assert_eq!(rooms.collect::<BTreeMap<_, _>>(), story.rooms);
        checked += story.checked;
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn the_next_process_continues_and_deletes_nothing_that_it_needs() {
    let mut first = planner(&KeptState::default(), BTreeSet::new());
    first.handle_snapshot(ROOMS[0], snapshot(50, 1_000));
    let begun = begun_by(&write(&mut first, LocalTime::from_millis(10))).unwrap();
    let mut kept = KeptState::default();
    kept.read(begun.0, &begun.1).unwrap();
    let mut second = planner(&kept, [begun.0].into());
    let work = write(&mut second, LocalTime::from_millis(10));
    assert_eq!(begun_by(&work).unwrap().0, 2);
    // Ticks without a snapshot of this process are of no use.
    second.handle_tick(ROOMS[0], &tick(100, 1));
    assert_eq!(second.poll(LocalTime::from_millis(20)), None);
    let deleted = sync(&mut second, LocalTime::from_millis(1_010));
    assert!(deleted.is_empty(), "the room needs the first");
    second.handle_snapshot(ROOMS[0], snapshot(150, 1_000));
    write(&mut second, LocalTime::from_millis(1_010));
    let deleted = sync(&mut second, LocalTime::from_millis(2_010));
    assert_eq!(deleted, [begun.0]);
}

#[test]
fn a_process_that_ends_takes_the_last_snapshot_of_each_room() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    planner.handle_tick(ROOMS[0], &tick(100, 1));
    assert!(!planner.wants_snapshot(ROOMS[0]));
    planner.freeze();
    assert!(planner.wants_snapshot(ROOMS[0]));
    planner.handle_snapshot(ROOMS[0], snapshot(100, 100));
    assert!(!planner.wants_snapshot(ROOMS[0]), "nothing has come since");
    let begun = begun_by(&write(&mut planner, LocalTime::from_millis(10))).unwrap();
    let mut kept = KeptState::default();
    kept.read(begun.0, &begun.1).unwrap();
    let saved = &kept.rooms[&ROOMS[0]].saved;
    assert_eq!((saved.snapshot.clone(), saved.journal.len()), (snapshot(100, 100), 0));
}

#[test]
fn writes_go_on_during_a_sync_which_covers_only_what_came_before() {
    let mut planner = planner(&KeptState::default(), [1].into());
    write(&mut planner, LocalTime::from_millis(10));
    assert_eq!(planner.next_sync(), Some(LocalTime::from_millis(1_010)));
    assert!(!planner.poll_sync(LocalTime::from_millis(1_009)));
    assert!(planner.poll_sync(LocalTime::from_millis(1_010)));
    planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
    write(&mut planner, LocalTime::from_millis(1_020));
    assert_eq!(planner.next_sync(), None, "one at a time");
    let during = LocalTime::from_millis(3_000);
    assert_eq!(planner.handle_synced(during, true), [1]);
    assert_eq!(planner.next_sync(), Some(LocalTime::from_millis(2_020)));
    // At the end, nothing waits for the interval.
    planner.finish();
    assert!(!planner.is_finished());
    assert!(planner.poll_sync(LocalTime::from_millis(1_030)));
    assert!(!planner.is_finished());
    planner.handle_synced(during, true);
    assert!(planner.is_finished());
}

#[test]
fn what_a_failed_sync_left_behind_replaces_nothing() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    write(&mut planner, LocalTime::from_millis(10));
    assert!(sync(&mut planner, LocalTime::from_millis(1_010)).is_empty());
    // The next segment has the room's next snapshot, and the disk fails.
    planner.segment_bytes = 1 << 40;
    planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
    write(&mut planner, LocalTime::from_millis(1_020));
    planner.handle_snapshot(ROOMS[0], snapshot(1_000, 100));
    write(&mut planner, LocalTime::from_millis(1_030));
    assert!(planner.poll_sync(LocalTime::from_millis(2_030)));
    assert!(planner.handle_synced(LocalTime::from_millis(2_030), false).is_empty());
    assert!(planner.stats().is_failing);
    // The third is synced, with all records. Whether the second is on the disk is unknown.
    let third = begun_by(&write(&mut planner, LocalTime::from_millis(3_030)));
    assert_eq!(third.map(|(number, _)| number), Some(3));
    assert!(sync(&mut planner, LocalTime::from_millis(4_030)).is_empty());
    assert!(!planner.stats().is_failing);
    planner.handle_snapshot(ROOMS[0], snapshot(2_000, 100));
    write(&mut planner, LocalTime::from_millis(4_040));
    assert_eq!(sync(&mut planner, LocalTime::from_millis(5_040)), [1, 2]);
}

#[test]
fn a_room_that_ended_while_the_disk_failed_does_not_come_back() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    planner.handle_snapshot(ROOMS[1], snapshot(50, 100));
    let (number, bytes) = begun_by(&write(&mut planner, LocalTime::from_millis(10))).unwrap();
    let mut state = KeptState::default();
    state.read(number, &bytes).unwrap();
    assert_eq!(state.rooms.len(), 2);
    planner.forget(ROOMS[0]);
    let failed = planner.poll(LocalTime::from_millis(20)).unwrap();
    planner.handle_done(LocalTime::from_millis(20), &failed, false);
    let work = write(&mut planner, LocalTime::from_millis(1_020));
    let (number, bytes) = begun_by(&work).unwrap();
    state.read(number, &bytes).unwrap();
    assert_eq!(state.rooms.keys().collect::<Vec<_>>(), [&ROOMS[1]]);
}

#[test]
fn snapshots_are_neither_hashed_nor_copied_here() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    let given = snapshot(50, 1_000);
    let place = given.state.as_ptr();
    planner.handle_snapshot(ROOMS[0], given);
    let (_, entries) = planner.poll(LocalTime::from_millis(10)).unwrap().begin.unwrap();
    let is_it = |entry: &QueuedEntry| match entry {
        QueuedEntry::Snapshot { state, .. } => state.as_ptr() == place,
        _ => false,
    };
    assert!(entries.iter().any(is_it));
}

#[test]
fn of_many_snapshots_the_log_takes_some() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    let mut count = 0;
    for second in 0..60 {
        count += u32::from(planner.wants_snapshot(ROOMS[0]));
        planner.handle_snapshot(ROOMS[0], snapshot(second * 1_000, 100_000));
        for number in 0..20 {
            planner.handle_tick(ROOMS[0], &tick(second * 1_000 + number * 50, 10));
        }
        write(&mut planner, LocalTime::from_millis(second * 1_000 + 10));
    }
    assert_eq!(count, 60 / 5);
    // A long journal is replaced sooner.
    planner.handle_tick(ROOMS[0], &tick(60_000, 100_000));
    assert!(planner.wants_snapshot(ROOMS[0]));
}

#[test]
fn while_the_disk_stalls_memory_is_bounded_and_rooms_are_left_out() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    let stalled = planner.poll(LocalTime::from_millis(10)).unwrap();
    for number in 1..=40 {
        planner.handle_snapshot(RoomId(number), snapshot(50, 10 << 20));
        planner.handle_tick(RoomId(number), &tick(100, 10));
        assert!(planner.waiting.bytes() <= MAX_WAITING_BYTES);
        assert_eq!(planner.poll(LocalTime::from_millis(10)), None, "it is at work");
    }
    assert_eq!(planner.stats().left_out, 28);
    planner.handle_done(LocalTime::from_millis(20), &stalled, true);
    let mut state = KeptState::default();
    let (_, mut bytes) = begun_by(&stalled).unwrap();
    bytes.extend(encoded(&write(&mut planner, LocalTime::from_millis(20)).append));
    state.read(1, &bytes).unwrap();
    assert_eq!(state.rooms.keys().map(|id| id.0).min(), Some(29));
    // A room that was left out comes back with its next snapshot.
    planner.handle_tick(RoomId(1), &tick(150, 10));
    planner.handle_snapshot(RoomId(1), snapshot(150, 1_000));
    assert!(planner.rooms[&RoomId(1)].is_whole);
}

#[test]
fn records_beyond_the_bound_are_written_with_the_next_segment() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    write(&mut planner, LocalTime::from_millis(10));
    for number in 0..300 {
        let value = vec![number as u8; 1 << 20];
        planner.handle_records([(RecordKey::Ids, Some(value))]);
        assert!(planner.waiting.bytes() <= MAX_WAITING_BYTES);
    }
    let (_, bytes) = begun_by(&write(&mut planner, LocalTime::from_millis(20))).unwrap();
    let mut state = KeptState::default();
    state.read(2, &bytes).unwrap();
    assert_eq!(state.records[&RecordKey::Ids][0], 299_u64 as u8);
}

#[test]
fn after_a_failed_write_all_begins_anew_after_a_pause() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    write(&mut planner, LocalTime::from_millis(10));
    planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    let work = planner.poll(LocalTime::from_millis(20)).unwrap();
    planner.handle_done(LocalTime::from_millis(20), &work, false);
    assert!(planner.stats().is_failing && planner.stats().failures == 1);
    planner.handle_tick(ROOMS[0], &tick(100, 1));
    assert_eq!(planner.poll(LocalTime::from_millis(900)), None, "a pause");
    let work = write(&mut planner, LocalTime::from_millis(1_020));
    let (number, bytes) = begun_by(&work).unwrap();
    let mut state = KeptState::default();
    state.read(number, &bytes).unwrap();
    assert_eq!(state.records, [(RecordKey::Ids, vec![1])].into());
    assert!(state.rooms.is_empty() && planner.stats().is_failing);
    sync(&mut planner, LocalTime::from_millis(2_020));
    assert!(!planner.stats().is_failing);
    planner.handle_snapshot(ROOMS[0], snapshot(150, 100));
    let more = write(&mut planner, LocalTime::from_millis(2_030)).append;
    state.read(number, &[bytes, encoded(&more)].concat()).unwrap();
    assert!(state.rooms.contains_key(&ROOMS[0]));
}

#[test]
fn what_the_lobby_does_while_it_ends_is_not_kept_and_ticks_are() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    planner.freeze();
    planner.handle_records([(RecordKey::Ids, None)]);
    planner.forget(ROOMS[0]);
    planner.handle_tick(ROOMS[0], &tick(100, 1));
    planner.finish();
    let work = planner.poll(LocalTime::from_millis(10)).unwrap();
    let mut state = KeptState::default();
    state.read(1, &begun_by(&work).unwrap().1).unwrap();
    assert_eq!(state.records, [(RecordKey::Ids, vec![1])].into());
    assert_eq!(state.rooms[&ROOMS[0]].saved.journal.len(), 1);
}

#[test]
fn a_room_is_set_aside_before_it_is_forgotten_and_again_after_a_failure() {
    let mut planner = planner(&KeptState::default(), BTreeSet::new());
    planner.handle_snapshot(ROOMS[0], snapshot(50, 100));
    write(&mut planner, LocalTime::from_millis(10));
    let header = Header { room: ROOMS[0].0, ..Header::default() };
    let saved = SavedRoom { snapshot: snapshot(50, 100), journal: Vec::new() };
    let build = String::new();
    let why = String::new();
    planner.set_aside(RoomSetAside { header, saved, build, why });
    planner.forget(ROOMS[0]);
    let now = LocalTime::from_millis(20);
    let work = planner.poll(now).unwrap();
    assert_eq!(work.set_aside.len(), 1);
    assert_eq!(work.append, [QueuedEntry::RoomGone(ROOMS[0])]);
    planner.handle_done(now, &work, false);
    let work = write(&mut planner, LocalTime::from_millis(2_000));
    assert_eq!(work.set_aside.len(), 1, "it was not written");
    planner.handle_tick(ROOMS[0], &tick(100, 1));
    planner.handle_records([(RecordKey::Ids, Some(vec![1]))]);
    assert!(write(&mut planner, LocalTime::from_millis(2_010)).set_aside.is_empty());
}

fn planner(kept: &KeptState, segments: BTreeSet<u64>) -> KeepPlanner {
    KeepPlanner::new(SYNC, kept, segments)
}

fn write(planner: &mut KeepPlanner, now: LocalTime) -> KeepWork {
    let work = planner.poll(now).expect("something to write");
    planner.handle_done(now, &work, true);
    work
}

fn sync(planner: &mut KeepPlanner, now: LocalTime) -> Vec<u64> {
    assert!(planner.poll_sync(now));
    planner.handle_synced(now, true)
}

fn encoded(entries: &[QueuedEntry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        log::append(SALT, entry.as_entry(), &mut bytes);
    }
    bytes
}

/// The number and the bytes of the segment that this begins.
fn begun_by(work: &KeepWork) -> Option<(u64, Vec<u8>)> {
    let (number, entries) = work.begin.as_ref()?;
    let mut bytes = Vec::new();
    log::begin_segment(SALT, &mut bytes);
    bytes.extend(encoded(entries));
    Some((*number, bytes))
}

fn snapshot(ms: u64, bytes: usize) -> RoomSnapshot {
    RoomSnapshot { at: GameTime::from_millis(ms), state: vec![1; bytes] }
}

fn tick(ms: u64, bytes: usize) -> JournalEntry {
    JournalEntry { at: GameTime::from_millis(ms), inputs: vec![2; bytes] }
}
