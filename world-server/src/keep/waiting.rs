//! Entries that wait to be written to the log. Pure.
//!
//! They have no hashes yet: the thread that writes computes them, and no other thread waits for it.
//! All entries keep their order. Rooms can be left out, the one whose snapshot has waited longest
//! first.
//!
//! Cost: logarithmic in the number of entries for each entry, whether it is taken or left out.

use std::collections::{BTreeMap, BTreeSet};

use ambit_lobby::RecordKey;
use ambit_proto::ids::RoomId;
use ambit_proto::time::GameTime;
use bytes::Bytes;

use super::log::{self, KeptEntry};

/// An entry that owns its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueuedEntry {
    Record {
        key: RecordKey,
        /// `None` if the record is gone.
        value: Option<Bytes>,
    },
    RecordsComplete,
    Snapshot {
        room: RoomId,
        number: u64,
        at: GameTime,
        state: Bytes,
    },
    Tick {
        room: RoomId,
        number: u64,
        at: GameTime,
        inputs: Bytes,
    },
    RoomGone(RoomId),
}

impl QueuedEntry {
    pub(crate) fn as_entry(&self) -> KeptEntry<'_> {
        match self {
            Self::Record { key, value: Some(value) } => KeptEntry::Record { key: *key, value },
            Self::Record { key, value: None } => KeptEntry::RecordGone(*key),
            Self::RecordsComplete => KeptEntry::RecordsComplete,
            &Self::Snapshot { room, number, at, ref state } => {
                KeptEntry::Snapshot { room, number, at, state }
            }
            &Self::Tick { room, number, at, ref inputs } => {
                KeptEntry::Tick { room, number, at, inputs }
            }
            Self::RoomGone(room) => KeptEntry::RoomGone(*room),
        }
    }

    /// The bytes that it takes in the log.
    pub(crate) fn bytes(&self) -> usize {
        let content = match self {
            Self::Record { value, .. } => value.as_ref().map_or(0, Bytes::len),
            Self::Snapshot { state, .. } => state.len(),
            Self::Tick { inputs, .. } => inputs.len(),
            Self::RecordsComplete | Self::RoomGone(_) => 0,
        };
        log::entry_bytes(content)
    }

    /// The room whose state it is a part of.
    fn room(&self) -> Option<RoomId> {
        match self {
            Self::Snapshot { room, .. } | Self::Tick { room, .. } => Some(*room),
            Self::Record { .. } | Self::RecordsComplete | Self::RoomGone(_) => None,
        }
    }

    pub(crate) fn is_record(&self) -> bool {
        matches!(self, Self::Record { .. })
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct WaitingEntries {
    /// By their order.
    entries: BTreeMap<u64, QueuedEntry>,
    next: u64,
    bytes: usize,
    /// The entries of each room, in order.
    by_room: BTreeMap<RoomId, Vec<u64>>,
    /// The first entry of each room.
    firsts: BTreeSet<(u64, RoomId)>,
    snapshots: BTreeSet<(u64, RoomId)>,
}

impl WaitingEntries {
    pub(crate) fn push(&mut self, entry: QueuedEntry) {
        let place = self.next;
        self.next += 1;
        self.bytes += entry.bytes();
        if let Some(room) = entry.room() {
            let places = self.by_room.entry(room).or_default();
            if places.is_empty() {
                self.firsts.insert((place, room));
            }
            places.push(place);
        }
        if let QueuedEntry::Snapshot { room, .. } = entry {
            self.snapshots.insert((place, room));
        }
        self.entries.insert(place, entry);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes all entries, and the rooms whose snapshots are among them.
    pub(crate) fn take(&mut self) -> (Vec<QueuedEntry>, Vec<RoomId>) {
        let taken = std::mem::take(self);
        let rooms = taken.snapshots.into_iter().map(|(_, room)| room);
        (taken.entries.into_values().collect(), rooms.collect())
    }

    /// Removes the state of the room whose snapshot has waited longest; if no snapshot waits, of
    /// the room whose first tick has. Returns the room.
    pub(crate) fn leave_out_a_room(&mut self) -> Option<RoomId> {
        let oldest = self.snapshots.first().or(self.firsts.first());
        let (_, room) = *oldest?;
        self.remove_room(room);
        Some(room)
    }

    /// Removes what waits of a room's state.
    pub(crate) fn remove_room(&mut self, room: RoomId) {
        for place in self.by_room.remove(&room).unwrap_or_default() {
            self.firsts.remove(&(place, room));
            self.snapshots.remove(&(place, room));
            if let Some(entry) = self.entries.remove(&place) {
                self.bytes -= entry.bytes();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_whose_snapshot_waits_longest_is_left_out_and_order_stays() {
        let mut waiting = WaitingEntries::default();
        let all = [
            tick(3, 1),
            tick(1, 1),
            snapshot(2),
            tick(2, 2),
            QueuedEntry::RoomGone(RoomId(2)),
            snapshot(1),
            tick(1, 3),
        ];
        for entry in &all {
            waiting.push(entry.clone());
        }
        let bytes = |entries: &[QueuedEntry]| entries.iter().map(QueuedEntry::bytes).sum::<usize>();
        assert_eq!(waiting.bytes(), bytes(&all));
        assert_eq!(waiting.leave_out_a_room(), Some(RoomId(2)));
        assert_eq!(waiting.leave_out_a_room(), Some(RoomId(1)));
        let left = [tick(3, 1), QueuedEntry::RoomGone(RoomId(2))];
        assert_eq!(waiting.bytes(), bytes(&left));
        waiting.push(snapshot(1));
        let left = [&left[..], &[snapshot(1)]].concat();
        assert_eq!(waiting.take(), (left, vec![RoomId(1)]));
        assert!(waiting.is_empty() && waiting.bytes() == 0);
        // Without snapshots, the room with the oldest tick; and what ends a room is never left out.
        for entry in &all {
            if !matches!(entry, QueuedEntry::Snapshot { .. }) {
                waiting.push(entry.clone());
            }
        }
        let rooms = std::iter::from_fn(|| waiting.leave_out_a_room()).map(|room| room.0);
        assert_eq!(rooms.collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!(waiting.take().0, [QueuedEntry::RoomGone(RoomId(2))]);
    }

    fn snapshot(room: u64) -> QueuedEntry {
        QueuedEntry::Snapshot {
            room: RoomId(room),
            number: 1,
            at: GameTime::ZERO,
            state: vec![1; 100].into(),
        }
    }

    fn tick(room: u64, number: u64) -> QueuedEntry {
        QueuedEntry::Tick {
            room: RoomId(room),
            number,
            at: GameTime::ZERO,
            inputs: vec![2; 10].into(),
        }
    }
}
