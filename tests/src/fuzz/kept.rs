//! The log of `--keep`. What a room's snapshot in it restores to is the target `saved_room`, what
//! the records do is `directory`.

use ambit_lobby::RecordKey;
use ambit_proto::ids::{PlayerId, RoomId};
use ambit_proto::time::GameTime;
use ambit_world_server::kept_log::{KeptEntry, KeptState, LogSalt, append, begin_segment};

use super::Reached;
use super::choices::{Choices, put_bytes};

const SALT: LogSalt = [5; 8];
/// Choices that are no entries.
const FLIP: u8 = 7;
const CUT: u8 = 8;
const NEXT_SEGMENT: u8 = 9;

/// A log of arbitrary entries, parts of which are damaged or missing; and arbitrary bytes. The
/// state that is read is the same after it was written and read again.
pub fn kept_log(data: &[u8]) -> Reached {
    let mut reached = Reached::new();
    let mut as_it_is = KeptState::default();
    if as_it_is.read(1, data).is_ok() && as_it_is.damaged_bytes + as_it_is.torn_bytes == 0 {
        reached.insert("a whole segment");
    }
    let mut choices = Choices::new(data);
    let mut state = KeptState::default();
    let mut segment = 1;
    let mut bytes = Vec::new();
    begin_segment(SALT, &mut bytes);
    while !choices.is_over() {
        let kind = choices.byte() % 10;
        let id = u64::from(choices.byte() % 4);
        let number = u64::from(choices.byte());
        let room = RoomId(id);
        let at = GameTime::from_millis(number);
        let key = RecordKey::Player(PlayerId(id));
        let content = choices.bytes();
        let entry = match kind {
            0 => KeptEntry::Record { key, value: content },
            1 => KeptEntry::RecordGone(key),
            2 => KeptEntry::RecordsComplete,
            3 => KeptEntry::Snapshot { room, number, at, state: content },
            4 | 5 => KeptEntry::Tick { room, number, at, inputs: content },
            FLIP => {
                let at = usize::from(number as u8) % bytes.len();
                let from_end = bytes.len() - 1 - at;
                bytes[from_end] ^= 1 + id as u8;
                continue;
            }
            CUT => {
                bytes.truncate(bytes.len() - number as usize % bytes.len());
                continue;
            }
            NEXT_SEGMENT => {
                state.read(segment, &bytes).expect("this version");
                segment += 1;
                bytes.clear();
                begin_segment(SALT, &mut bytes);
                continue;
            }
            _ => KeptEntry::RoomGone(room),
        };
        append(SALT, entry, &mut bytes);
    }
    state.read(segment, &bytes).expect("this version");
    let goals = [
        ("a record", !state.records.is_empty()),
        ("a room", !state.rooms.is_empty()),
        ("a tick", state.rooms.values().any(|room| !room.saved.journal.is_empty())),
        ("damage", state.damaged_bytes > 0),
        ("a torn end", state.torn_bytes > 0),
    ];
    assert_same(&state, &read_again(&state));
    let goals = goals.into_iter().filter(|(_, is_reached)| *is_reached);
    reached.extend(goals.map(|(goal, _)| goal));
    reached
}

fn read_again(state: &KeptState) -> KeptState {
    let mut bytes = Vec::new();
    begin_segment(SALT, &mut bytes);
    for (&key, value) in &state.records {
        append(SALT, KeptEntry::Record { key, value }, &mut bytes);
    }
    append(SALT, KeptEntry::RecordsComplete, &mut bytes);
    for (&room, kept) in &state.rooms {
        let snapshot = &kept.saved.snapshot;
        let entry =
            KeptEntry::Snapshot { room, number: 0, at: snapshot.at, state: &snapshot.state };
        append(SALT, entry, &mut bytes);
        for (number, tick) in (1..).zip(&kept.saved.journal) {
            let entry = KeptEntry::Tick { room, number, at: tick.at, inputs: &tick.inputs };
            append(SALT, entry, &mut bytes);
        }
    }
    let mut again = KeptState::default();
    again.read(1, &bytes).expect("this version");
    again
}

fn assert_same(state: &KeptState, again: &KeptState) {
    assert_eq!(state.records, again.records);
    assert_eq!(again.damaged_bytes + again.torn_bytes, 0);
    assert_eq!(state.rooms.len(), again.rooms.len());
    for (id, room) in &state.rooms {
        assert_eq!(room.saved, again.rooms[id].saved);
    }
}

/// A log of two segments with entries of all kinds; one with damage; and a whole segment.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let put = |input: &mut Vec<u8>, kind: u8, id: u8, number: u8, content: &[u8]| {
        input.extend([kind, id, number]);
        put_bytes(input, content);
    };
    let mut whole = Vec::new();
    put(&mut whole, 0, 1, 0, b"a player");
    put(&mut whole, 2, 0, 0, b"");
    put(&mut whole, 3, 1, 10, b"a snapshot");
    put(&mut whole, 4, 1, 11, b"inputs");
    put(&mut whole, NEXT_SEGMENT, 0, 0, b"");
    put(&mut whole, 0, 1, 0, b"the player");
    put(&mut whole, 0, 2, 0, b"another player");
    put(&mut whole, 2, 0, 0, b"");
    put(&mut whole, 1, 2, 0, b"");
    put(&mut whole, 4, 1, 12, b"more inputs");
    put(&mut whole, 3, 2, 1, b"a snapshot");
    put(&mut whole, 6, 2, 0, b"");
    let mut damaged = whole.clone();
    put(&mut damaged, 4, 1, 13, b"inputs that are damaged");
    put(&mut damaged, FLIP, 1, 5, b"");
    put(&mut damaged, 4, 1, 14, b"inputs after a gap");
    put(&mut damaged, CUT, 0, 3, b"");
    let mut segment = Vec::new();
    begin_segment(SALT, &mut segment);
    append(SALT, KeptEntry::RecordsComplete, &mut segment);
    vec![whole, damaged, segment]
}
