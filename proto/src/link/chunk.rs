//! Blocks of many kilobytes beside the game: the static world, for a client that joins.
//!
//! A block is sent at one end and arrives whole at the other. It travels as a queue of *chunks* of
//! up to 256 KiB, each divided into up to 256 *slices* of 1 KiB. One chunk is sent at a time. A
//! slice travels in a datagram of the link, so the link's acknowledgements confirm it within a
//! round trip, and the link's loss detection causes a resend. The *set* of all received slices, in
//! at most 274 bits, covers the remaining cases. It is idempotent, so it may be lost. The receiver
//! sends it after many slices, after a duplicate, and when the chunk is complete. The budget
//! decides how fast slices leave.
//!
//! Invariants:
//! 1. Blocks arrive whole, once, in the order of sending, as long as any datagrams get through.
//! 2. A slice that is not known to be lost is sent again only when nothing else is left to send,
//!    and no sooner than [`RESEND_AFTER`] or 1.25 round trips after the last time.
//! 3. For any input of the peer, the receiving end holds no more than
//!    [`ChunkConfig::largest_block`], and nothing unless that is set. A slice that contradicts an
//!    earlier one is refused as an error.
//!
//! Memory: an idle link holds nothing of this. A sender holds the blocks (shared, if they go to
//! many clients) and 3 KiB; a receiver holds the block. Source: G. Fiedler, "Sending Large Blocks
//! of Data"; unlike there, pacing and resending follow the path.

mod format;
mod receiver;
mod sender;

use std::time::Duration;

pub(super) use self::format::{MAX_SET_BITS, SLICE_HEADER_BITS};
pub(crate) use self::format::{ReceivedSet, Slice};
pub(super) use self::receiver::{BlockReceiver, SliceStatus};
pub(super) use self::sender::{BlockSender, SliceId};

/// Length of a slice, in bytes. With 1,150 bytes a datagram, 37 bits of header and 40 of its own,
/// it leaves 116 bytes to a small body.
pub const SLICE_BYTES: usize = 1_024;

/// The highest number of slices in a chunk.
pub const MAX_SLICES: usize = 256;

/// The highest number of chunks in a block: 64 MiB.
const MAX_CHUNKS: usize = 256;

/// The shortest time before a slice that is not known to be lost is sent again: as in the article.
const RESEND_AFTER: Duration = Duration::from_millis(100);

/// How a link sends and receives blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkConfig {
    /// Bytes of blocks that may wait to be sent, the current one included. Beyond it the newest
    /// block is refused: its owner knows whether it can wait. The blocks are shared with the
    /// caller, so a higher value costs only what the caller holds anyway.
    pub queue_bytes: usize,
    /// Bytes that leave at once when a block begins, within the budget of a second. It delivers a
    /// small block in one round trip, but delays the game if the path cannot carry it.
    pub first_burst_bytes: usize,
    /// The longest block that is accepted, in bytes; 0 refuses all. A peer can make this end hold
    /// this much.
    pub largest_block: usize,
}

impl Default for ChunkConfig {
    fn default() -> Self {
        Self { queue_bytes: 4 << 20, first_burst_bytes: 0, largest_block: 0 }
    }
}

/// Progress of a block, in bytes, counted in whole slices: `total` is up to 1,023 too high.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ChunkProgress {
    /// Bytes that have arrived; at the sending end, bytes that are known to have arrived.
    pub received: usize,
    pub total: usize,
}

/// A set of slices of a chunk; the lowest bit of the first word is the first slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct SliceSet([u64; MAX_SLICES / 64]);

impl SliceSet {
    /// The first `count` slices.
    fn first(count: usize) -> Self {
        let mut all = Self::default();
        (0..count).for_each(|index| all.insert(index));
        all
    }

    pub(super) fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn is_empty(&self) -> bool {
        self.0 == [0; MAX_SLICES / 64]
    }

    fn intersection(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    fn difference(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// The first member from `index` on, wrapping around.
    fn next_from(&self, index: usize) -> Option<usize> {
        let after = self.0[index / 64] >> (index % 64);
        if after != 0 {
            return Some(index + after.trailing_zeros() as usize);
        }
        let words = self.0.len();
        let later =
            (1..=words).map(|step| (index / 64 + step) % words).find(|&word| self.0[word] != 0)?;
        Some(64 * later + self.0[later].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_for_the_next_slice_wraps_around() {
        for seed in 0..500 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut slices = SliceSet::default();
            (0..rng.usize(0..8)).for_each(|_| slices.insert(rng.usize(..MAX_SLICES)));
            let from = rng.usize(..MAX_SLICES);
            let plain = (from..MAX_SLICES).chain(0..from).find(|&index| slices.contains(index));
            assert_eq!(slices.next_from(from), plain, "seed {seed}");
        }
    }
}
