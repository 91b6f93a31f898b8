//! The records in the datagrams to one client whose outcome is not known.
//!
//! The records of a datagram go in, and an index for the datagram's payload comes out
//! ([`SentRecordLists::store`]). With the outcome, the link returns the index, and the records come
//! out again ([`SentRecordLists::take`]). The link reports the outcome of each datagram once, so
//! there are only as many lists as datagrams with records were in flight at a time.
//!
//! Cost: constant; the storage of the lists is reused.

use crate::network::replication::object_slots::SentRecord;

/// The records of datagrams in flight; see the module.
#[derive(Debug, Default)]
pub(super) struct SentRecordLists {
    lists: Vec<Vec<SentRecord>>,
    /// The lists that are empty; the storage of the last one was used last.
    free: Vec<u16>,
}

impl SentRecordLists {
    /// Moves the records into a list, and returns its index; `None` if there are no records.
    pub(super) fn store(&mut self, records: &mut Vec<SentRecord>) -> Option<u16> {
        if records.is_empty() {
            return None;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            u16::try_from(self.lists.len() - 1).expect("a link has few datagrams in flight")
        });
        self.lists[usize::from(index)].append(records);
        Some(index)
    }

    /// Removes and returns the records of a list.
    pub(super) fn take(&mut self, index: Option<u16>) -> impl Iterator<Item = SentRecord> {
        self.free.extend(index);
        let list = index.map(|index| self.lists[usize::from(index)].drain(..));
        list.into_iter().flatten()
    }
}
