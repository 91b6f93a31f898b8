//! The log of what is kept: its format, and what its bytes restore to. Pure.
//!
//! A log consists of segments, each a file (or an object). A segment is a head, written twice, and
//! entries: the lobby's records, rooms' snapshots and the ticks after them. Entries have hashes, so
//! a segment may end anywhere, and a damaged entry is skipped. Each entry of a room has the number
//! after the one before; a room whose entries have a gap is restored as it was before the gap,
//! until its next snapshot. The head has a random salt for the hashes: what players send cannot
//! look like an entry if a part of the log is damaged.
//!
//! Invariant: each beginning of a log restores to a state that was valid when its last byte was
//! written. Bound: what is read needs as much memory as the log. Numbers are big-endian.
//!
//! | head | bytes |
//! | --- | --- |
//! | magic | 8 |
//! | version | 4 |
//! | salt | 8 |
//! | hash of all that (SHA-256, cut off) | 4 |
//!
//! | entry | bytes |
//! | --- | --- |
//! | magic | 4 |
//! | kind | 1 |
//! | id of the host, player or room | 8 |
//! | number of the room's entry | 8 |
//! | room time, in microseconds | 8 |
//! | length of the content | 4 |
//! | hash of the content (SHA-256, cut off) | 8 |
//! | hash of the salt and all that (SHA-256, cut off) | 4 |
//! | content: a record, a snapshot or the inputs of a tick | as said |

use std::collections::BTreeMap;

use ambit_host_protocol::MAX_ROOM_JOURNAL_BYTES;
use ambit_lobby::{HostId, RecordKey};
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::GameTime;
use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};
use ring::digest::{Context, SHA256};

/// Ticks that are kept of a room after a snapshot: a minute at 60 Hz. Hosts send a snapshot once a
/// second.
pub const MAX_ROOM_TICKS: usize = 3_600;

const SEGMENT_MAGIC: &[u8; 8] = b"AMBITKEP";
/// A new shape of entries is a new version. What is inside of them has versions of its own.
const VERSION: u32 = 1;
const SEGMENT_HEAD_BYTES: usize = 24;
const ENTRY_MAGIC: &[u8; 4] = b"\xa7Amb";
const ENTRY_HEAD_BYTES: usize = 45;

/// Random bytes of the process that writes a log.
pub type LogSalt = [u8; 8];

/// An entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptEntry<'a> {
    /// A record of the lobby has this value.
    Record {
        key: RecordKey,
        value: &'a [u8],
    },
    RecordGone(RecordKey),
    /// This segment has all records up to here: those of earlier segments no longer count.
    RecordsComplete,
    Snapshot {
        room: RoomId,
        number: u64,
        at: GameTime,
        state: &'a [u8],
    },
    /// The inputs of a tick after the snapshot.
    Tick {
        room: RoomId,
        number: u64,
        at: GameTime,
        inputs: &'a [u8],
    },
    /// The room has ended.
    RoomGone(RoomId),
}

/// A segment of another version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it has version {0} of the format, and this build reads version {VERSION}: use the build that \
     wrote it, or another directory"
)]
pub struct OtherVersion(u32);

/// What a log restores to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptState {
    pub records: BTreeMap<RecordKey, Vec<u8>>,
    pub rooms: BTreeMap<RoomId, KeptRoom>,
    /// Bytes of damaged entries, which were skipped.
    pub damaged_bytes: u64,
    /// Bytes of a last entry that was not written to its end.
    pub torn_bytes: u64,
}

/// What is kept of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRoom {
    pub saved: SavedRoom,
    /// The segment with the snapshot.
    pub segment: u64,
    /// The number of its next entry; `None` after a gap.
    next_number: Option<u64>,
    journal_bytes: usize,
}

/// Begins a segment.
pub fn begin_segment(salt: LogSalt, out: &mut Vec<u8>) {
    for _copy in 0..2 {
        let begin = out.len();
        out.extend_from_slice(SEGMENT_MAGIC);
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(&salt);
        let hash = hash_of::<4>(&[&out[begin..]]);
        out.extend_from_slice(&hash);
    }
}

/// Appends an entry to a segment with that salt.
pub fn append(salt: LogSalt, entry: KeptEntry<'_>, out: &mut Vec<u8>) {
    let (kind, id, number, at, content) = fields_of(entry);
    let begin = out.len();
    out.extend_from_slice(ENTRY_MAGIC);
    out.push(kind);
    for field in [id, number, at.micros()] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    let length = u32::try_from(content.len()).expect("an entry is shorter than 4 GiB");
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&hash_of::<8>(&[content]));
    let hash = hash_of::<4>(&[&salt, &out[begin..]]);
    out.extend_from_slice(&hash);
    out.extend_from_slice(content);
}

/// The bytes that an entry takes beside its content.
pub(crate) const fn entry_bytes(content: usize) -> usize {
    ENTRY_HEAD_BYTES + content
}

fn fields_of(entry: KeptEntry<'_>) -> (u8, u64, u64, GameTime, &[u8]) {
    let of_key = |key| match key {
        RecordKey::Ids => (1, 0),
        RecordKey::Host(HostId(id)) => (2, id),
        RecordKey::Player(PlayerId(id)) => (3, id),
        RecordKey::Room(RoomId(id)) => (4, id),
    };
    match entry {
        KeptEntry::Record { key, value } => {
            let (kind, id) = of_key(key);
            (kind, id, 0, GameTime::ZERO, value)
        }
        KeptEntry::RecordGone(key) => {
            let (kind, id) = of_key(key);
            (4 + kind, id, 0, GameTime::ZERO, &[])
        }
        KeptEntry::RecordsComplete => (9, 0, 0, GameTime::ZERO, &[]),
        KeptEntry::Snapshot { room, number, at, state } => (10, room.0, number, at, state),
        KeptEntry::Tick { room, number, at, inputs } => (11, room.0, number, at, inputs),
        KeptEntry::RoomGone(room) => (12, room.0, 0, GameTime::ZERO, &[]),
    }
}

/// The entry at the beginning of some bytes.
enum FoundEntry<'a> {
    /// It, and how many bytes it takes.
    Whole(KeptEntry<'a>, usize),
    /// Its head is right, its content is not. The number of bytes that it takes.
    Damaged(usize),
    /// Its head is right, and its content goes beyond the end.
    Torn,
    None,
}

fn entry_at(salt: LogSalt, bytes: &[u8]) -> FoundEntry<'_> {
    let Some((head, rest)) = bytes.split_first_chunk::<ENTRY_HEAD_BYTES>() else {
        return FoundEntry::None;
    };
    let (hashed, hash) = head.split_at(ENTRY_HEAD_BYTES - 4);
    if !hashed.starts_with(ENTRY_MAGIC) || hash != hash_of::<4>(&[&salt, hashed]) {
        return FoundEntry::None;
    }
    let field = |at: usize| {
        let bytes = hashed[at..].first_chunk().expect("inside of the head");
        u64::from_be_bytes(*bytes)
    };
    let kind = hashed[4];
    let id = field(5);
    let number = field(13);
    let at = field(21);
    let length = hashed[29..].first_chunk().expect("inside of the head");
    let length = u32::from_be_bytes(*length) as usize;
    let Some(content) = rest.get(..length) else {
        return FoundEntry::Torn;
    };
    let whole_length = ENTRY_HEAD_BYTES + length;
    if hashed[33..] != hash_of::<8>(&[content]) {
        return FoundEntry::Damaged(whole_length);
    }
    let key = match kind % 4 {
        1 => RecordKey::Ids,
        2 => RecordKey::Host(HostId(id)),
        3 => RecordKey::Player(PlayerId(id)),
        _ => RecordKey::Room(RoomId(id)),
    };
    let room = RoomId(id);
    let at = GameTime::from_micros(at);
    let entry = match kind {
        1..=4 => KeptEntry::Record { key, value: content },
        5..=8 => KeptEntry::RecordGone(key),
        9 => KeptEntry::RecordsComplete,
        10 => KeptEntry::Snapshot { room, number, at, state: content },
        11 => KeptEntry::Tick { room, number, at, inputs: content },
        12 => KeptEntry::RoomGone(room),
        _ => return FoundEntry::Damaged(whole_length),
    };
    FoundEntry::Whole(entry, whole_length)
}

impl KeptState {
    /// Reads a segment. Segments have to be read in their order; `segment` is its number.
    pub fn read(&mut self, segment: u64, bytes: &[u8]) -> Result<(), OtherVersion> {
        let Some((heads, mut rest)) = bytes.split_at_checked(2 * SEGMENT_HEAD_BYTES) else {
            self.torn_bytes += bytes.len() as u64;
            return Ok(());
        };
        let mut salt = None;
        for head in heads.chunks(SEGMENT_HEAD_BYTES) {
            match segment_head(head)? {
                Some(found) => salt = Some(found),
                None => self.damaged_bytes += head.len() as u64,
            }
        }
        let Some(salt) = salt else {
            self.damaged_bytes += rest.len() as u64;
            return Ok(());
        };
        // Until they are complete, the records before the segment count.
        let mut records = Some(BTreeMap::new());
        let damaged_before = self.damaged_bytes;
        while !rest.is_empty() {
            let length = match entry_at(salt, rest) {
                FoundEntry::Whole(entry, length) => {
                    self.apply(segment, entry, &mut records);
                    length
                }
                FoundEntry::Damaged(length) => {
                    self.damaged_bytes += length as u64;
                    length
                }
                FoundEntry::Torn => {
                    self.torn_bytes += rest.len() as u64;
                    rest.len()
                }
                FoundEntry::None => {
                    let Some(skipped) = find_entry(salt, &rest[1..]) else {
                        self.torn_bytes += rest.len() as u64;
                        break;
                    };
                    self.damaged_bytes += 1 + skipped as u64;
                    1 + skipped
                }
            };
            rest = &rest[length..];
        }
        if let Some(incomplete) = records
            && self.damaged_bytes > damaged_before
        {
            self.records.extend(incomplete);
        }
        Ok(())
    }

    fn apply(
        &mut self,
        segment: u64,
        entry: KeptEntry<'_>,
        incomplete: &mut Option<BTreeMap<RecordKey, Vec<u8>>>,
    ) {
        match entry {
            KeptEntry::Record { key, value } => {
                let records = incomplete.as_mut().unwrap_or(&mut self.records);
                records.insert(key, value.to_vec());
            }
            KeptEntry::RecordGone(key) => {
                let records = incomplete.as_mut().unwrap_or(&mut self.records);
                records.remove(&key);
            }
            KeptEntry::RecordsComplete => {
                if let Some(records) = incomplete.take() {
                    self.records = records;
                }
            }
            KeptEntry::Snapshot { room, number, at, state } => {
                let state = state.to_vec();
                let kept = KeptRoom {
                    saved: SavedRoom { snapshot: RoomSnapshot { at, state }, journal: Vec::new() },
                    segment,
                    next_number: number.checked_add(1),
                    journal_bytes: 0,
                };
                self.rooms.insert(room, kept);
            }
            KeptEntry::Tick { room, number, at, inputs } => {
                if let Some(room) = self.rooms.get_mut(&room) {
                    room.add_tick(number, at, inputs);
                }
            }
            KeptEntry::RoomGone(room) => drop(self.rooms.remove(&room)),
        }
    }
}

impl KeptRoom {
    fn add_tick(&mut self, number: u64, at: GameTime, inputs: &[u8]) {
        let journal = &mut self.saved.journal;
        let bytes = self.journal_bytes + inputs.len();
        let fits = journal.len() < MAX_ROOM_TICKS && bytes <= MAX_ROOM_JOURNAL_BYTES;
        if self.next_number != Some(number) || !fits {
            self.next_number = None;
            return;
        }
        let inputs = inputs.to_vec();
        journal.push(JournalEntry { at, inputs });
        (self.next_number, self.journal_bytes) = (number.checked_add(1), bytes);
    }
}

/// The salt in a head; `None` if the head is damaged.
fn segment_head(head: &[u8]) -> Result<Option<LogSalt>, OtherVersion> {
    let (hashed, hash) = head.split_at(SEGMENT_HEAD_BYTES - 4);
    if !hashed.starts_with(SEGMENT_MAGIC) || hash != hash_of::<4>(&[hashed]) {
        return Ok(None);
    }
    let version = hashed[8..].first_chunk().expect("inside of the head");
    match u32::from_be_bytes(*version) {
        VERSION => Ok(hashed.last_chunk().copied()),
        other => Err(OtherVersion(other)),
    }
}

/// Where the next entry begins.
fn find_entry(salt: LogSalt, bytes: &[u8]) -> Option<usize> {
    let candidates = bytes.windows(ENTRY_MAGIC.len()).enumerate();
    candidates
        .filter(|(_, window)| *window == ENTRY_MAGIC)
        .map(|(at, _)| at)
        .find(|at| !matches!(entry_at(salt, &bytes[*at..]), FoundEntry::None))
}

fn hash_of<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(part);
    }
    let hash = context.finish();
    *hash.as_ref().first_chunk().expect("a hash has 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: RoomId = RoomId(7);
    const SALT: LogSalt = [7; 8];

    #[test]
    fn each_beginning_of_a_log_restores_to_the_state_of_its_whole_entries() {
        let (bytes, ends) = log();
        let mut expected = KeptState::default();
        let mut before = 0;
        for end in ends.into_iter().chain([bytes.len()]) {
            // Whatever follows is not whole yet.
            for length in before..end {
                let read = read(&bytes[..length]);
                assert_eq!(of(&read), of(&expected), "{length} bytes");
                assert_eq!(read.damaged_bytes, 0, "{length} bytes");
            }
            before = end;
            expected = read(&bytes[..end]);
            assert_eq!(expected.torn_bytes, 0, "{end} bytes");
        }
        assert_eq!(expected.rooms[&ROOM].saved, saved(200, &[250, 300]));
        assert_eq!(expected.records.len(), 2);
    }

    #[test]
    fn a_flipped_byte_costs_no_more_than_the_entries_that_depend_on_it() {
        let (bytes, _) = log();
        let whole = read(&bytes);
        let states: Vec<SavedRoom> = log_states();
        for flipped in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[flipped] ^= 0x10;
            let mut state = KeptState::default();
            match state.read(1, &bytes) {
                Ok(()) => {}
                Err(OtherVersion(_)) => panic!("a damaged head is no other version: {flipped}"),
            }
            if let Some(room) = state.rooms.get(&ROOM) {
                assert!(states.contains(&room.saved), "{flipped}: {room:?}");
            }
            for (key, value) in &state.records {
                assert!(value.len() == 1 && whole.records.contains_key(key) || *key == GONE);
            }
            assert!(state.damaged_bytes + state.torn_bytes > 0, "{flipped}");
        }
    }

    #[test]
    fn what_a_player_has_sent_is_no_entry_if_the_entry_around_it_is_damaged() {
        let mut forged = Vec::new();
        let key = GONE;
        let value = b"forged".as_slice();
        append([0; 8], KeptEntry::Record { key, value }, &mut forged);
        let mut bytes = Vec::new();
        begin_segment(SALT, &mut bytes);
        let begin = bytes.len();
        let key = RecordKey::Room(ROOM);
        let value = &forged[..];
        append(SALT, KeptEntry::Record { key, value }, &mut bytes);
        append(SALT, entry_of_snapshot(1, 50), &mut bytes);
        bytes[begin] ^= 1;
        let state = read(&bytes);
        assert!(state.records.is_empty() && state.rooms.contains_key(&ROOM));
    }

    #[test]
    fn after_a_gap_a_room_waits_for_its_next_snapshot() {
        let mut bytes = Vec::new();
        begin_segment(SALT, &mut bytes);
        let tick = |number, ms, bytes: &mut Vec<u8>| {
            append(SALT, entry_of_tick(number, ms), bytes);
        };
        append(SALT, entry_of_snapshot(5, 100), &mut bytes);
        tick(6, 150, &mut bytes);
        tick(8, 250, &mut bytes);
        tick(9, 300, &mut bytes);
        assert_eq!(read(&bytes).rooms[&ROOM].saved, saved(100, &[150]));
        append(SALT, entry_of_snapshot(10, 300), &mut bytes);
        tick(11, 350, &mut bytes);
        assert_eq!(read(&bytes).rooms[&ROOM].saved, saved(300, &[350]));
    }

    #[test]
    fn a_segment_of_another_version_is_refused_and_another_file_has_nothing() {
        let mut bytes = Vec::new();
        begin_segment(SALT, &mut bytes);
        for head in bytes.chunks_mut(SEGMENT_HEAD_BYTES) {
            head[11] = 9;
            let (hashed, hash) = head.split_at_mut(SEGMENT_HEAD_BYTES - 4);
            hash.copy_from_slice(&hash_of::<4>(&[hashed]));
        }
        let refused = KeptState::default().read(1, &bytes).unwrap_err();
        assert_eq!(refused, OtherVersion(9));
        let other = read(&[b"a file of another program, ".as_slice(); 9].concat());
        assert_eq!(of(&other), of(&KeptState::default()));
        assert!(other.damaged_bytes > 0);
    }

    #[test]
    fn records_of_earlier_segments_end_where_the_records_are_complete() {
        let mut state = KeptState::default();
        let mut first = Vec::new();
        begin_segment(SALT, &mut first);
        for key in [RecordKey::Ids, GONE] {
            append(SALT, KeptEntry::Record { key, value: b"1" }, &mut first);
        }
        state.read(1, &first).unwrap();
        let mut second = Vec::new();
        begin_segment(SALT, &mut second);
        let key = RecordKey::Ids;
        let value = b"2".as_slice();
        append(SALT, KeptEntry::Record { key, value }, &mut second);
        let mut partial = state.clone();
        partial.read(2, &second).unwrap();
        assert_eq!(partial.records, state.records, "the rest is not written yet");
        append(SALT, KeptEntry::RecordsComplete, &mut second);
        state.read(2, &second).unwrap();
        assert_eq!(state.records, [(key, b"2".to_vec())].into());
    }

    const GONE: RecordKey = RecordKey::Player(PlayerId(2));

    /// A segment with entries of all kinds, and where each one ends.
    fn log() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = Vec::new();
        let mut ends = Vec::new();
        begin_segment(SALT, &mut bytes);
        ends.push(bytes.len());
        let record = |key, value| KeptEntry::Record { key, value };
        for entry in [
            record(RecordKey::Ids, b"1"),
            record(GONE, b"2"),
            KeptEntry::RecordsComplete,
            record(RecordKey::Room(ROOM), b"3"),
            entry_of_snapshot(40, 100),
            entry_of_tick(41, 150),
            entry_of_tick(42, 200),
            KeptEntry::RecordGone(GONE),
            KeptEntry::RoomGone(RoomId(1)),
            entry_of_snapshot(43, 200),
            entry_of_tick(44, 250),
            entry_of_tick(45, 300),
        ] {
            append(SALT, entry, &mut bytes);
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    /// All states of the room in that log.
    fn log_states() -> Vec<SavedRoom> {
        vec![
            saved(100, &[]),
            saved(100, &[150]),
            saved(100, &[150, 200]),
            saved(200, &[]),
            saved(200, &[250]),
            saved(200, &[250, 300]),
        ]
    }

    fn entry_of_snapshot(number: u64, ms: u64) -> KeptEntry<'static> {
        KeptEntry::Snapshot { room: ROOM, number, at: GameTime::from_millis(ms), state: b"state" }
    }

    fn entry_of_tick(number: u64, ms: u64) -> KeptEntry<'static> {
        KeptEntry::Tick { room: ROOM, number, at: GameTime::from_millis(ms), inputs: b"inputs" }
    }

    fn saved(snapshot_ms: u64, ticks: &[u64]) -> SavedRoom {
        let tick =
            |ms: &u64| JournalEntry { at: GameTime::from_millis(*ms), inputs: b"inputs".to_vec() };
        SavedRoom {
            snapshot: RoomSnapshot {
                at: GameTime::from_millis(snapshot_ms),
                state: b"state".to_vec(),
            },
            journal: ticks.iter().map(tick).collect(),
        }
    }

    fn read(bytes: &[u8]) -> KeptState {
        let mut state = KeptState::default();
        state.read(1, bytes).expect("this version");
        state
    }

    /// What counts of a state.
    fn of(state: &KeptState) -> (Records, BTreeMap<RoomId, SavedRoom>) {
        let rooms = state.rooms.iter();
        let rooms = rooms.map(|(id, room)| (*id, room.saved.clone()));
        (state.records.clone(), rooms.collect())
    }

    type Records = BTreeMap<RecordKey, Vec<u8>>;
}
