//! How many there are of each name of a list: a bag, what is for sale, what can be learned.
//!
//! The names are those of a choice of the schema, and the counts go by their indices. Invariants:
//! indices ascend, and a count is at least 1: what is not listed is not there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::wire::{Coder, WireError};

/// The most that there may be of one name.
pub const MAX_COUNT: u32 = 65_535;

/// See the module. A copy costs no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, u32)>", into = "Vec<(u16, u32)>")]
pub struct Counts(Arc<[(u16, u32)]>);

impl Counts {
    /// Of pairs of an index and a count, in any order: those of the same index are added.
    pub fn new(counts: impl IntoIterator<Item = (u16, u32)>) -> Self {
        let mut all = std::collections::BTreeMap::<u16, u32>::new();
        for (index, count) in counts {
            let sum = all.entry(index).or_default();
            *sum = sum.saturating_add(count);
        }
        Self(all.into_iter().filter(|(_, count)| *count > 0).collect())
    }

    /// The count of one name; 0 if it is not listed.
    pub fn get(&self, index: u16) -> u32 {
        let found = self.0.binary_search_by_key(&index, |(index, _)| *index);
        found.map_or(0, |at| self.0[at].1)
    }

    /// The indices with their counts, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, u32)> {
        self.0.iter().copied()
    }

    /// Whether all indices are below `names`, and no count above `max`.
    pub fn fits(&self, names: u16, max: u32) -> bool {
        self.iter().all(|(index, count)| index < names && count <= max)
    }

    /// The same, without what does not fit.
    #[must_use]
    pub fn within(&self, names: u16, max: u32) -> Self {
        let known = self.iter().filter(|(index, _)| *index < names);
        Self(known.map(|(index, count)| (index, count.min(max))).collect())
    }

    /// Reads, writes or measures: how many are listed, then each index and its count. A reader
    /// refuses indices that do not ascend.
    pub(crate) fn wire<C: Coder>(
        &mut self,
        names: u16,
        max: u32,
        coder: &mut C,
    ) -> Result<(), WireError> {
        let mut length = self.0.len() as i64;
        coder.bounded(&mut length, 0, names.into())?;
        let mut read = Vec::new();
        let mut least = 0;
        for at in 0..length as usize {
            let (index, count) = self.0.get(at).copied().unwrap_or_default();
            let mut index = i64::from(index);
            let mut count = i64::from(count);
            coder.bounded(&mut index, 0, i64::from(names) - 1)?;
            coder.bounded(&mut count, 1, max.into())?;
            if C::READS {
                if index < least {
                    return Err(WireError::OutOfRange { what: "an index that does not ascend" });
                }
                least = index + 1;
                read.push((index as u16, count as u32));
            }
        }
        if C::READS {
            *self = Self(read.into());
        }
        Ok(())
    }

    /// The most bits that this may take.
    pub(crate) fn max_bits(names: u16, max: u32) -> usize {
        let bits = |values: u64| (u64::BITS - values.leading_zeros()) as usize;
        bits(names.into()) + usize::from(names) * (bits(u64::from(names)) + bits(max.into()))
    }
}

impl From<Vec<(u16, u32)>> for Counts {
    fn from(counts: Vec<(u16, u32)>) -> Self {
        Self::new(counts)
    }
}

impl From<Counts> for Vec<(u16, u32)> {
    fn from(counts: Counts) -> Self {
        counts.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Reader, Writer};

    #[test]
    fn counts_of_a_name_are_added_and_none_is_zero() {
        let counts = Counts::new([(3, 1), (1, 2), (3, 4), (5, 0)]);
        assert_eq!(counts.iter().collect::<Vec<_>>(), [(1, 2), (3, 5)]);
        assert_eq!((counts.get(3), counts.get(5)), (5, 0));
        assert!(counts.fits(4, 5) && !counts.fits(3, 5) && !counts.fits(4, 4));
        assert_eq!(counts.within(3, 1), Counts::new([(1, 1)]));
    }

    #[test]
    fn the_other_end_reads_what_was_written() {
        for counts in [vec![], vec![(0, 1)], vec![(0, 99), (63, 1)], (0..64).zip(1..).collect()] {
            let counts = Counts::new(counts);
            let read = read(&written(&counts)).expect("the encoding is valid");
            assert_eq!(read, counts);
            assert!(8 * written(&counts).len() <= Counts::max_bits(64, 99) + 7);
        }
    }

    #[test]
    fn indices_that_do_not_ascend_are_refused() {
        let twice = Counts(Arc::new([(2, 1), (2, 1)]));
        assert!(read(&written(&twice)).is_err());
        let back = Counts(Arc::new([(2, 1), (1, 1)]));
        assert!(read(&written(&back)).is_err());
    }

    fn written(counts: &Counts) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        counts.clone().wire(64, 99, &mut writer).expect("writing cannot fail");
        writer.finish();
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Counts, WireError> {
        let mut read = Counts::default();
        read.wire(64, 99, &mut Reader::new(bytes)).map(|()| read)
    }
}
