//! A server's own copy of the directory's records. Brokers keep copies that may lack some
//! (docs/cluster.md), so what one of them delivers is never taken for all: deliveries are merged,
//! and compared with the summary that the leader writes with its records.

use std::collections::BTreeMap;
use std::str::FromStr;

use ambit_lobby::RecordKey;
use derive_more::Display;
use ring::digest::{Context, SHA256};

/// Removed records that a copy remembers, so that an old delivery does not bring them back.
const MAX_REMOVED: usize = 10_000;

/// How many records there are, and the sum of their hashes: equal for equal records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display)]
#[display("{count} {digest:016x}")]
pub(crate) struct RecordsSummary {
    pub(crate) count: u64,
    digest: u64,
}

impl RecordsSummary {
    pub(crate) fn of<'a>(records: impl IntoIterator<Item = (RecordKey, &'a [u8])>) -> Self {
        let mut summary = Self::default();
        for (key, value) in records {
            summary.add(key, value);
        }
        summary
    }

    pub(crate) fn add(&mut self, key: RecordKey, value: &[u8]) {
        self.count += 1;
        self.digest = self.digest.wrapping_add(hash(key, value));
    }

    pub(crate) fn remove(&mut self, key: RecordKey, value: &[u8]) {
        self.count -= 1;
        self.digest = self.digest.wrapping_sub(hash(key, value));
    }
}

/// The first 8 bytes of the SHA-256 of `KEY=VALUE`; no key has a `=`.
fn hash(key: RecordKey, value: &[u8]) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(format!("{key}=").as_bytes());
    context.update(value);
    let digest = context.finish();
    let first = digest.as_ref().first_chunk().copied();
    u64::from_be_bytes(first.unwrap_or_default())
}

/// As in the header of a message: `205 0123456789abcdef`.
/// Not a summary of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a summary of records; expected `COUNT DIGEST`")]
pub(crate) struct NoSummary;

impl FromStr for RecordsSummary {
    type Err = NoSummary;

    fn from_str(text: &str) -> Result<Self, NoSummary> {
        let (count, digest) = text.split_once(' ').ok_or(NoSummary)?;
        Ok(Self {
            count: count.parse().map_err(|_| NoSummary)?,
            digest: u64::from_str_radix(digest, 16).map_err(|_| NoSummary)?,
        })
    }
}

/// The newest known value of each record; see the module.
#[derive(Debug, Default)]
pub(crate) struct RecordsCopy {
    records: BTreeMap<RecordKey, Version>,
    removed: usize,
    /// The highest sequence number that was delivered.
    newest: u64,
    /// The newest summary, and the sequence number of its message.
    expected: Option<(u64, RecordsSummary)>,
}

/// The one with the higher sequence number.
fn newer(
    one: Option<(u64, RecordsSummary)>,
    other: Option<(u64, RecordsSummary)>,
) -> Option<(u64, RecordsSummary)> {
    one.into_iter().chain(other).max_by_key(|(sequence, _)| *sequence)
}

#[derive(Debug)]
struct Version {
    /// 0 if it is from before the directory was lost or replaced.
    sequence: u64,
    /// `None` if the record was removed.
    value: Option<Vec<u8>>,
}

impl RecordsCopy {
    /// The highest sequence number that was delivered.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// The last sequence number of the directory. If it is lower than what was delivered, the
    /// directory was lost or replaced by a backup: what is known is older than all in it.
    pub(crate) fn note_last_sequence(&mut self, last: u64) {
        if last < self.newest {
            for version in self.records.values_mut() {
                version.sequence = 0;
            }
            (self.newest, self.expected) = (0, None);
        }
    }

    /// A message of the directory; an empty `value` removes its record. `key` is `None` for the
    /// leader's record and those of newer versions.
    pub(crate) fn note(
        &mut self,
        sequence: u64,
        key: Option<RecordKey>,
        value: &[u8],
        summary: Option<RecordsSummary>,
    ) {
        self.newest = self.newest.max(sequence);
        let expected = summary.map(|summary| (sequence, summary));
        self.expected = newer(self.expected, expected);
        if let Some(key) = key {
            let value = (!value.is_empty()).then(|| value.to_vec());
            self.insert(key, Version { sequence, value });
        }
    }

    fn insert(&mut self, key: RecordKey, version: Version) {
        if let Some(known) = self.records.get(&key) {
            if known.sequence > version.sequence {
                return;
            }
            self.removed -= usize::from(known.value.is_none());
        }
        self.removed += usize::from(version.value.is_none());
        self.records.insert(key, version);
        if self.removed > MAX_REMOVED {
            self.records.retain(|_, version| version.value.is_some());
            self.removed = 0;
        }
    }

    /// Keeps the newer version of each record.
    fn merge(&mut self, other: Self) {
        self.newest = self.newest.max(other.newest);
        for (key, version) in other.records {
            self.insert(key, version);
        }
    }

    fn present(&self) -> impl Iterator<Item = (RecordKey, &[u8])> {
        let records = self.records.iter();
        records.filter_map(|(key, version)| Some((*key, version.value.as_deref()?)))
    }

    /// What the leader had when it last said so; `None` if that is unknown.
    pub(crate) fn expected(&self) -> Option<RecordsSummary> {
        self.expected.map(|(_, summary)| summary)
    }

    /// Takes in what a broker delivers as the whole directory. Returns the records if that or this
    /// copy is then what the leader had, or if that is unknown.
    pub(crate) fn complete_with(&mut self, read: Self) -> Option<BTreeMap<RecordKey, Vec<u8>>> {
        self.expected = newer(self.expected, read.expected);
        let expected = self.expected();
        if expected.is_some_and(|expected| read.is(expected)) {
            return Some(read.into_records());
        }
        self.merge(read);
        let is_complete = expected.is_none_or(|expected| self.is(expected));
        is_complete.then(|| std::mem::take(self).into_records())
    }

    /// Whether these are the `expected` records.
    fn is(&self, expected: RecordsSummary) -> bool {
        RecordsSummary::of(self.present()) == expected
    }

    /// Whether all messages up to that number were delivered, and these are the records that the
    /// leader had.
    pub(crate) fn is_complete_at(&self, sequence: u64) -> bool {
        self.newest >= sequence && self.expected().is_some_and(|expected| self.is(expected))
    }

    pub(crate) fn into_records(self) -> BTreeMap<RecordKey, Vec<u8>> {
        let records = self.records.into_iter();
        records.filter_map(|(key, version)| Some((key, version.value?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_brokers_deliver_is_merged_until_it_is_what_the_leader_had() {
        let [ann, bob, cid] = [1, 2, 3].map(player);
        let mut written = RecordsSummary::default();
        written.add(ann, b"old");
        written.add(cid, b"cid");
        written.remove(ann, b"old");
        written.add(ann, b"new");
        assert_eq!(written, RecordsSummary::of([(cid, &b"cid"[..]), (ann, b"new")]));

        let mut copy = RecordsCopy::default();
        assert_eq!(copy.expected(), None);
        assert!(!copy.is_complete_at(0), "nobody has said what to expect");
        // A broker that lacks the first record of all.
        copy.note(4, Some(bob), b"", None);
        copy.note(5, Some(ann), b"new", None);
        copy.note(6, None, b"leader", Some(written));
        assert_eq!(copy.expected(), Some(written));
        assert!(!copy.is_complete_at(6));
        // One that has it, and lacks what came later.
        let mut other = RecordsCopy::default();
        other.note(1, Some(cid), b"cid", None);
        other.note(2, Some(bob), b"bob", None);
        other.note(3, Some(ann), b"old", Some(RecordsSummary::default()));
        let records = [(ann, b"new".to_vec()), (cid, b"cid".to_vec())];
        assert_eq!(copy.complete_with(other), Some(records.into()));
    }

    #[test]
    fn a_broker_that_has_all_is_believed_also_if_the_copy_has_more() {
        let expected = RecordsSummary::of([(player(1), &b"ann"[..])]);
        let mut copy = RecordsCopy::default();
        copy.note(3, Some(player(2)), b"its removal was not delivered", None);
        copy.note(4, Some(player(1)), b"ann", Some(expected));
        assert!(!copy.is_complete_at(4));
        assert_eq!(copy.complete_with(RecordsCopy::default()), None);
        let mut all = RecordsCopy::default();
        all.note(4, Some(player(1)), b"ann", None);
        let ann = BTreeMap::from([(player(1), b"ann".to_vec())]);
        assert_eq!(copy.complete_with(all), Some(ann.clone()));
        // A copy that has seen all needs no broker, and one without a summary takes what it gets.
        let mut copy = RecordsCopy::default();
        copy.note(4, Some(player(1)), b"ann", Some(expected));
        assert!(copy.is_complete_at(4));
        assert!(!copy.is_complete_at(5), "there is a newer message");
        copy.note_last_sequence(1);
        assert_eq!(copy.complete_with(RecordsCopy::default()), Some(ann));
    }

    #[test]
    fn an_equal_number_of_other_records_is_not_complete() {
        let expected = RecordsSummary::of([(player(1), &b"new"[..])]);
        for (key, value) in [(player(1), b"old"), (player(2), b"new")] {
            let mut copy = RecordsCopy::default();
            copy.note(1, Some(key), value, None);
            assert!(!copy.is(expected));
            copy.note(2, Some(player(2)), b"", None);
            copy.note(3, Some(player(1)), b"new", None);
            assert!(copy.is(expected));
        }
    }

    #[test]
    fn after_a_loss_of_the_directory_all_in_it_is_newer() {
        let mut copy = RecordsCopy::default();
        copy.note(70, Some(player(1)), b"old", Some(RecordsSummary::default()));
        copy.note(80, Some(player(2)), b"kept", None);
        copy.note_last_sequence(80);
        assert!(copy.expected().is_some(), "nothing was lost");
        copy.note_last_sequence(9);
        assert_eq!((copy.newest(), copy.expected()), (0, None));
        copy.note(3, Some(player(1)), b"new", None);
        let records = [(player(1), b"new".to_vec()), (player(2), b"kept".to_vec())];
        assert_eq!(copy.into_records(), records.into());
    }

    #[test]
    fn removed_records_are_remembered_up_to_a_bound() {
        let mut copy = RecordsCopy::default();
        copy.note(1, Some(player(0)), b"kept", None);
        for sequence in 2..3 * MAX_REMOVED as u64 {
            copy.note(sequence, Some(player(sequence)), b"", None);
            // Again, as from another broker.
            copy.note(sequence, Some(player(sequence)), b"", None);
            assert!(copy.removed <= MAX_REMOVED);
            assert_eq!(copy.records.len(), copy.removed + 1);
        }
        copy.note(1, Some(player(3 * MAX_REMOVED as u64 - 1)), b"old", None);
        assert_eq!(copy.into_records(), [(player(0), b"kept".to_vec())].into());
    }

    #[test]
    fn summaries_are_written_and_read() {
        let summary = RecordsSummary::of([(player(1), &b"ann"[..]), (RecordKey::Ids, b"")]);
        assert_eq!(summary.to_string().parse(), Ok(summary));
        for wrong in ["", "2", "2 xyz", "-1 00", "2 0011 7"] {
            assert_eq!(wrong.parse::<RecordsSummary>(), Err(NoSummary), "{wrong}");
        }
    }

    fn player(number: u64) -> RecordKey {
        format!("player.{number}").parse().expect("a key")
    }
}
