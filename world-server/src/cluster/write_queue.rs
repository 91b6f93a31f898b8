//! What the leader has to write to the directory, and all records, in case that is lost.

use std::collections::BTreeMap;
use std::ops::Bound;

use ambit_lobby::RecordKey;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::records_copy::RecordsSummary;

/// Old records that are written again at a time, beside the new ones.
const REFRESH_BATCH: usize = 128;

/// Records that wait to be written, and the number of the last `enqueue`.
#[derive(Debug, Default)]
struct PendingRecords {
    number: u64,
    records: RecordChanges,
    /// All records, with those that wait, so that a directory that was lost can be written again.
    all: BTreeMap<RecordKey, Vec<u8>>,
    summary: RecordsSummary,
    /// All records after this key are to be written again.
    refresh_after: Option<Bound<RecordKey>>,
}

/// The newest value of each record; `None` for a removed one.
pub(super) type RecordChanges = BTreeMap<RecordKey, Option<Vec<u8>>>;

/// Records to write together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WriteBatch {
    /// Number of the last `enqueue` in it.
    pub(super) number: u64,
    pub(super) records: RecordChanges,
    /// Of all records, once it is written.
    pub(super) summary: RecordsSummary,
}

/// The queue of records to write, and all records. Bound: two values for each record.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    pending: Mutex<PendingRecords>,
    wake: Notify,
}

impl WriteQueue {
    /// A queue of a leader that has read these records.
    pub(crate) fn new(all: BTreeMap<RecordKey, Vec<u8>>) -> Self {
        let records = all.iter().map(|(key, value)| (*key, &value[..]));
        let pending = PendingRecords {
            summary: RecordsSummary::of(records),
            all,
            ..PendingRecords::default()
        };
        Self { pending: Mutex::new(pending), wake: Notify::new() }
    }

    /// Adds the records of one call of the lobby, which has given this write its number.
    pub(crate) fn enqueue(
        &self,
        number: u64,
        records: impl IntoIterator<Item = (RecordKey, Option<Vec<u8>>)>,
    ) {
        let mut waiting = self.pending.lock();
        let waiting = &mut *waiting;
        waiting.number = number;
        for (key, value) in records {
            let before = match &value {
                Some(value) => {
                    waiting.summary.add(key, value);
                    waiting.all.insert(key, value.clone())
                }
                None => waiting.all.remove(&key),
            };
            if let Some(before) = before {
                waiting.summary.remove(key, &before);
            }
            waiting.records.insert(key, value);
        }
        self.wake.notify_one();
    }

    /// What is to be written now: all that has changed, and some of what is to be refreshed.
    pub(super) fn take_all(&self) -> WriteBatch {
        let mut waiting = self.pending.lock();
        let mut records = std::mem::take(&mut waiting.records);
        if let Some(after) = waiting.refresh_after.take() {
            let mut rest = waiting.all.range((after, Bound::Unbounded));
            let mut last = None;
            for (key, value) in rest.by_ref().take(REFRESH_BATCH) {
                records.entry(*key).or_insert_with(|| Some(value.clone()));
                last = Some(*key);
            }
            if rest.next().is_some() {
                waiting.refresh_after = last.map(Bound::Excluded);
                self.wake.notify_one();
            }
        }
        WriteBatch { number: waiting.number, records, summary: waiting.summary }
    }

    /// The number of the last write, and all records with it.
    pub(super) fn all(&self) -> (u64, BTreeMap<RecordKey, Vec<u8>>) {
        let waiting = self.pending.lock();
        (waiting.number, waiting.all.clone())
    }

    /// Queues those of the `expected` records that have not changed since, and are not among the
    /// `stored` ones; and the removal of `stored` ones that were removed before. Returns the keys
    /// of both. The record of ids is written again all the time, so a reader may miss it.
    pub(super) fn correct(
        &self,
        expected: &BTreeMap<RecordKey, Vec<u8>>,
        stored: &BTreeMap<RecordKey, Vec<u8>>,
    ) -> (Vec<RecordKey>, Vec<RecordKey>) {
        let mut waiting = self.pending.lock();
        let mut lost = Vec::new();
        for (key, value) in expected {
            let is_current = waiting.all.get(key) == Some(value);
            if *key != RecordKey::Ids && is_current && stored.get(key) != Some(value) {
                waiting.records.entry(*key).or_insert(Some(value.clone()));
                lost.push(*key);
            }
        }
        let is_removed =
            |key: &RecordKey| !expected.contains_key(key) && !waiting.all.contains_key(key);
        let removed: Vec<_> = stored.keys().copied().filter(is_removed).collect();
        for key in &removed {
            waiting.records.entry(*key).or_insert(None);
        }
        if !lost.is_empty() || !removed.is_empty() {
            self.wake.notify_one();
        }
        (lost, removed)
    }

    /// Writes all records again, a few at a time, beside those that change.
    pub(super) fn refresh(&self) {
        let mut waiting = self.pending.lock();
        waiting.refresh_after = Some(Bound::Unbounded);
        self.wake.notify_one();
    }

    /// The record of the ids that may be in use.
    pub(super) fn ids(&self) -> Option<Vec<u8>> {
        let waiting = self.pending.lock();
        waiting.all.get(&RecordKey::Ids).cloned()
    }

    /// Puts back records that could not be written, except those with a newer value.
    pub(super) fn requeue(&self, records: RecordChanges) {
        let mut waiting = self.pending.lock();
        for (key, value) in records {
            waiting.records.entry(key).or_insert(value);
        }
    }

    /// Queues all records, and the removal of `stored` ones that do not exist any more. Returns how
    /// many records there are.
    pub(super) fn enqueue_all(&self, stored: impl IntoIterator<Item = RecordKey>) -> usize {
        let mut waiting = self.pending.lock();
        let PendingRecords { records, all, .. } = &mut *waiting;
        for key in stored {
            records.entry(key).or_insert(None);
        }
        let all = all.iter().map(|(key, value)| (*key, Some(value.clone())));
        let count = all.len();
        records.extend(all);
        self.wake.notify_one();
        count
    }

    /// Ends when there is something to write.
    pub(super) async fn changed(&self) {
        self.wake.notified().await;
    }

    /// Lets the writer look again.
    pub(super) fn notify(&self) {
        self.wake.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refresh_writes_each_record_once_beside_the_changes() {
        let key =
            |number: usize| -> RecordKey { format!("player.{number}").parse().expect("a key") };
        let count = 2 * REFRESH_BATCH + 10;
        let queue = WriteQueue::new((0..count).map(|number| (key(number), vec![1])).collect());
        queue.refresh();
        queue.enqueue(1, [(key(3), Some(vec![2])), (key(4), None)]);
        let mut written = RecordChanges::new();
        for batch in [REFRESH_BATCH + 1, REFRESH_BATCH, 9, 0] {
            let records = queue.take_all().records;
            assert_eq!(records.len(), batch);
            assert!(records.keys().all(|key| !written.contains_key(key)));
            written.extend(records);
        }
        assert_eq!(written.len(), count);
        assert_eq!((&written[&key(3)], &written[&key(4)]), (&Some(vec![2]), &None));
        assert_eq!(written[&key(5)], Some(vec![1]));
    }

    #[test]
    fn records_that_the_brokers_have_lost_are_written_again() {
        let [kept, lost, old, changed, removed, new, removed_before] =
            [1, 2, 3, 4, 5, 6, 7].map(|number| {
                let key: RecordKey = format!("player.{number}").parse().expect("a key");
                key
            });
        let queue =
            WriteQueue::new([kept, lost, old, changed, removed].map(|key| (key, vec![1])).into());
        let (number, expected) = queue.all();
        assert_eq!((number, expected.len()), (0, 5));
        // While the directory is read.
        queue.enqueue(1, [(changed, Some(vec![2])), (removed, None), (new, Some(vec![1]))]);
        assert_eq!(queue.take_all().records.len(), 3);
        let stored = [
            (kept, vec![1]),
            (old, vec![0]),
            (removed, vec![1]),
            (new, vec![1]),
            (removed_before, vec![1]),
        ];
        let corrected = (vec![lost, old], vec![removed_before]);
        assert_eq!(queue.correct(&expected, &stored.into()), corrected);
        let again = [(lost, Some(vec![1])), (old, Some(vec![1])), (removed_before, None)];
        assert_eq!(queue.take_all().records, again.into());
        assert_eq!(queue.correct(&expected, &expected), (vec![], vec![]));
        assert!(queue.take_all().records.is_empty());
    }

    #[test]
    fn all_records_are_queued_again_and_removed_ones_stay_removed() {
        let [kept, changed, removed, unknown] = ["player.1", "room.2", "room.3", "room.4"]
            .map(|name| name.parse::<RecordKey>().expect("a key"));
        let read = [kept, changed, removed].map(|key| (key, vec![1]));
        let queue = WriteQueue::new(read.into());
        queue.enqueue(1, [(changed, Some(vec![2])), (removed, None)]);
        assert_eq!(queue.take_all().records.len(), 2, "they were written");
        queue.enqueue(2, [(changed, Some(vec![3]))]);
        assert_eq!(queue.enqueue_all([removed, unknown]), 2);
        let batch = queue.take_all();
        let expected =
            [(kept, Some(vec![1])), (changed, Some(vec![3])), (removed, None), (unknown, None)];
        assert_eq!((batch.number, batch.records), (2, expected.into()));
        assert_eq!(batch.summary.count, 2);
    }
}
