//! The records of the lobby that were put out to the directory, and the ids that are reserved
//! there. What is in a record is decided elsewhere (`lobby_records`).
//!
//! Invariants:
//! 1. A record is put out exactly when its bytes differ from those put out before.
//! 2. No id is given twice: `Ids` is ahead of the used ids by at least half of [`RESERVED_IDS`].
//!
//! Memory: the records.

use std::collections::BTreeMap;

use prost::Message as _;

use crate::directory as pb;
use crate::output::{LobbyAction, OutputQueue, RecordKey};

/// The number of ids that are reserved at a time.
const RESERVED_IDS: u64 = 10_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Those that were put out, or from which the lobby was restored.
    written: BTreeMap<RecordKey, Vec<u8>>,
    reserved: pb::Ids,
    /// Whether the directory does not store them in time.
    is_late: bool,
}

impl Records {
    /// Puts out a record if it has changed; `None` removes it.
    pub(super) fn put(&mut self, key: RecordKey, value: Option<Vec<u8>>, outbox: &mut OutputQueue) {
        if self.written.get(&key) == value.as_ref() {
            return;
        }
        match &value {
            Some(value) => drop(self.written.insert(key, value.clone())),
            None => drop(self.written.remove(&key)),
        }
        outbox.push(LobbyAction::Record { key, value });
    }

    /// The directory has this record already.
    pub(super) fn note_restored(&mut self, key: RecordKey, bytes: &[u8]) {
        self.written.insert(key, bytes.to_vec());
    }

    /// Reserves ids in the directory before they are used. `used` has the highest of each kind that
    /// may be in use, and the lineage.
    pub(super) fn reserve(&mut self, used: pb::Ids, outbox: &mut OutputQueue) {
        let reserved = &self.reserved;
        let is_short = |used: u64, reserved: u64| reserved < used + RESERVED_IDS / 2;
        if self.written.contains_key(&RecordKey::Ids)
            && !is_short(used.players, reserved.players)
            && !is_short(used.rooms, reserved.rooms)
            && !is_short(used.tickets, reserved.tickets)
            && !is_short(used.hosts, reserved.hosts)
            && !is_short(used.transfers, reserved.transfers)
        {
            return;
        }
        let ids = pb::Ids {
            players: used.players + RESERVED_IDS,
            rooms: used.rooms + RESERVED_IDS,
            tickets: used.tickets + RESERVED_IDS,
            hosts: used.hosts + RESERVED_IDS,
            transfers: used.transfers + RESERVED_IDS,
            lineage: used.lineage,
        };
        self.put(RecordKey::Ids, Some(ids.encode_to_vec()), outbox);
        self.reserved = ids;
    }

    /// What the ids of rooms are unique in, if something was stored by it, or it was recorded.
    pub(super) fn lineage(&self) -> Option<[u8; 16]> {
        self.reserved.lineage[..].try_into().ok()
    }

    /// Sets the lineage: a new one, or the recorded one of 16 bytes.
    pub(super) fn set_lineage(&mut self, lineage: Vec<u8>) {
        self.reserved.lineage = lineage;
    }

    /// Sets whether the directory stores records in time.
    pub(super) fn set_available(&mut self, works: bool) {
        self.is_late = !works;
    }

    /// Whether the directory stores records in time.
    pub(super) fn are_stored_in_time(&self) -> bool {
        !self.is_late
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::ids::RoomId;

    use super::*;

    const KEY: RecordKey = RecordKey::Room(RoomId(1));

    #[test]
    fn a_record_is_put_out_exactly_when_it_changes() {
        let mut records = Records::default();
        let mut outbox = OutputQueue::default();
        let is_put = |value: Option<&[u8]>| {
            records.put(KEY, value.map(<[u8]>::to_vec), &mut outbox);
            let value = value.map(<[u8]>::to_vec);
            outbox.poll() == Some(LobbyAction::Record { key: KEY, value })
        };
        let (one, two): (&[u8], &[u8]) = (&[1], &[2]);
        let puts = [None, Some(one), Some(one), Some(two), None, None].map(is_put);
        assert_eq!(puts, [false, true, false, true, true, false]);
    }

    #[test]
    fn a_restored_record_is_put_out_only_when_it_changes() {
        let mut records = Records::default();
        let mut outbox = OutputQueue::default();
        records.note_restored(KEY, &[1]);
        records.put(KEY, Some(vec![1]), &mut outbox);
        assert_eq!(outbox.poll(), None);
        records.put(KEY, None, &mut outbox);
        assert_eq!(outbox.poll(), Some(LobbyAction::Record { key: KEY, value: None }));
    }

    #[test]
    fn ids_are_reserved_before_half_of_them_are_used() {
        let mut records = Records::default();
        let mut outbox = OutputQueue::default();
        let mut is_put = |rooms: u64| {
            let used = pb::Ids { rooms, ..pb::Ids::default() };
            records.reserve(used, &mut outbox);
            outbox.poll().is_some()
        };
        let half = RESERVED_IDS / 2;
        assert!(is_put(0), "the first record");
        assert!(!is_put(1) && !is_put(half));
        assert!(is_put(half + 1) && !is_put(half + 2));
    }
}
