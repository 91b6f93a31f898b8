//! How a room is cut so that each message is short enough.

use ambit_room::journal::{JournalEntry, RoomSnapshot, SavedRoom};

use crate::ROOM_PIECE_BYTES;

/// What a tick takes in a message besides its inputs, at most.
const TICK_HEAD_BYTES: usize = 64;

/// Takes the first pieces off, each a part of the state or of the journal, and leaves a last one of
/// each.
pub(super) fn split_off_pieces(saved: &mut SavedRoom) -> Vec<SavedRoom> {
    let of_state = split_off_states(&mut saved.snapshot.state).into_iter();
    let piece = |state| SavedRoom {
        snapshot: RoomSnapshot { state, ..RoomSnapshot::default() },
        journal: Vec::new(),
    };
    let mut pieces: Vec<SavedRoom> = of_state.map(piece).collect();
    let mut bytes = 0;
    let mut last: Vec<JournalEntry> = Vec::new();
    for tick in std::mem::take(&mut saved.journal) {
        bytes += TICK_HEAD_BYTES + tick.inputs.len();
        if bytes > ROOM_PIECE_BYTES && !last.is_empty() {
            let journal = std::mem::take(&mut last);
            pieces.push(SavedRoom { journal, ..SavedRoom::default() });
            bytes = TICK_HEAD_BYTES + tick.inputs.len();
        }
        last.push(tick);
    }
    saved.journal = last;
    pieces
}

/// Takes all pieces of a room's state off but the last, which is empty only if the state is.
pub(super) fn split_off_states(state: &mut Vec<u8>) -> Vec<Vec<u8>> {
    let first = state.len().saturating_sub(1) / ROOM_PIECE_BYTES * ROOM_PIECE_BYTES;
    if first == 0 {
        return Vec::new();
    }
    let last = state[first..].to_vec();
    state.truncate(first);
    let whole = std::mem::replace(state, last);
    whole.chunks(ROOM_PIECE_BYTES).map(<[u8]>::to_vec).collect()
}
