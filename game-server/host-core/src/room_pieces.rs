//! Rooms that come from another host in pieces.
//!
//! Pieces go in ([`RoomPieces::add`]); the order that opens the room takes them out, with the last
//! one ([`RoomPieces::complete`]). Bound: [`MAX_ROOM_STATE_BYTES`] and [`MAX_ROOM_JOURNAL_BYTES`]
//! for each room, and the rooms of orders that are under way. What is beyond them is dropped: then
//! the room's state does not decode, so that this room alone is refused.

use std::collections::BTreeMap;

use ambit_proto::ids::RoomId;
use ambit_room::journal::{JournalEntry, SavedRoom};

use ambit_host_protocol::messages::RoomResume;
use ambit_host_protocol::{MAX_ROOM_JOURNAL_BYTES, MAX_ROOM_STATE_BYTES};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct RoomPieces {
    rooms: BTreeMap<RoomId, GatheredRoom>,
}

#[derive(Debug, Default)]
struct GatheredRoom {
    incarnation: u32,
    saved: SavedRoom,
    journal_bytes: usize,
    is_too_large: bool,
}

impl RoomPieces {
    /// Adds a piece that has arrived. A piece of another incarnation replaces the pieces before it.
    pub(super) fn add(&mut self, room: RoomId, incarnation: u32, piece: SavedRoom) {
        let gathered = self.rooms.entry(room).or_default();
        if gathered.incarnation != incarnation {
            *gathered = GatheredRoom { incarnation, ..GatheredRoom::default() };
        }
        gathered.journal_bytes += bytes_of(&piece.journal);
        let state_bytes = gathered.saved.snapshot.state.len() + piece.snapshot.state.len();
        if state_bytes > MAX_ROOM_STATE_BYTES || gathered.journal_bytes > MAX_ROOM_JOURNAL_BYTES {
            if !gathered.is_too_large {
                tracing::error!(room = room.0, "a room is too large to go on at this host");
            }
            gathered.is_too_large = true;
            gathered.saved = SavedRoom::default();
            return;
        }
        if !gathered.is_too_large {
            append(&mut gathered.saved, piece);
        }
    }

    /// Puts the pieces of a room in front of the last one.
    pub(super) fn complete(
        &mut self,
        room: RoomId,
        incarnation: u32,
        last: RoomResume,
    ) -> RoomResume {
        let gathered = self.rooms.remove(&room);
        let Some(mut gathered) = gathered.filter(|room| room.incarnation == incarnation) else {
            return last;
        };
        if !gathered.is_too_large {
            append(&mut gathered.saved, last.saved);
        }
        RoomResume { saved: gathered.saved, ..last }
    }

    /// The link is a new one: no more will come of what came over the last one.
    pub(super) fn clear(&mut self) {
        self.rooms.clear();
    }
}

fn append(saved: &mut SavedRoom, mut piece: SavedRoom) {
    saved.snapshot.state.append(&mut piece.snapshot.state);
    saved.journal.append(&mut piece.journal);
}

fn bytes_of(journal: &[JournalEntry]) -> usize {
    journal.iter().map(|entry| entry.inputs.len()).sum()
}

#[cfg(test)]
mod tests {
    use ambit_room::journal::RoomSnapshot;

    use super::*;

    const ROOM: RoomId = RoomId(7);

    #[test]
    fn pieces_of_another_incarnation_are_forgotten() {
        let mut pieces = RoomPieces::default();
        pieces.add(ROOM, 1, state(&[1]));
        pieces.add(ROOM, 2, state(&[2]));
        assert_eq!(complete(&mut pieces, 2), [2, 9]);
        pieces.add(ROOM, 2, state(&[3]));
        assert_eq!(complete(&mut pieces, 3), [9]);
        assert_eq!(complete(&mut pieces, 3), [9], "each piece is used once");
    }

    #[test]
    fn a_room_beyond_the_bound_is_kept_no_further() {
        let mut pieces = RoomPieces::default();
        for _ in 0..3 {
            pieces.add(ROOM, 1, state(&vec![1; MAX_ROOM_STATE_BYTES / 2]));
        }
        pieces.add(ROOM, 1, state(&[1]));
        assert!(complete(&mut pieces, 1).is_empty());
    }

    #[test]
    fn a_state_of_exactly_the_bound_is_kept() {
        let mut pieces = RoomPieces::default();
        pieces.add(ROOM, 1, state(&vec![1; MAX_ROOM_STATE_BYTES]));
        assert_eq!(complete(&mut pieces, 1).len(), MAX_ROOM_STATE_BYTES + 1);
    }

    #[test]
    fn a_journal_has_a_bound_too() {
        let half = MAX_ROOM_JOURNAL_BYTES / 2;
        for (second, kept) in [(half, &[1, 1, 9][..]), (half + 1, &[])] {
            let mut pieces = RoomPieces::default();
            for bytes in [half, second] {
                let entry = JournalEntry { inputs: vec![0; bytes], ..JournalEntry::default() };
                let piece = SavedRoom { journal: vec![entry], ..state(&[1]) };
                pieces.add(ROOM, 1, piece);
            }
            assert_eq!(complete(&mut pieces, 1), kept);
        }
    }

    #[test]
    fn pieces_of_an_earlier_link_are_forgotten() {
        let mut pieces = RoomPieces::default();
        pieces.add(ROOM, 1, state(&[1]));
        pieces.clear();
        assert_eq!(complete(&mut pieces, 1), [9]);
    }

    fn complete(pieces: &mut RoomPieces, incarnation: u32) -> Vec<u8> {
        let last = RoomResume { saved: state(&[9]), ..RoomResume::default() };
        pieces.complete(ROOM, incarnation, last).saved.snapshot.state
    }

    fn state(bytes: &[u8]) -> SavedRoom {
        SavedRoom {
            snapshot: RoomSnapshot { state: bytes.to_vec(), ..RoomSnapshot::default() },
            journal: Vec::new(),
        }
    }
}
