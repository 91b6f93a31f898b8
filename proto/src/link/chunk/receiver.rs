//! The receiving end of blocks. Input: slices. Output: whole blocks, and at times the set to
//! report.

use bytes::Bytes;

use super::format::{ReceivedSet, Slice};
use super::{ChunkProgress, SLICE_BYTES, SliceSet};
use crate::wire::WireError;

/// After this many unreported slices the set is sent: a datagram acknowledges 33 others, and some
/// acknowledgements are lost.
const REPORT_AFTER: u8 = 16;

/// Whether a slice is new.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::link) enum SliceStatus {
    /// Not received before.
    New,
    /// Already received: the set should be reported to the peer.
    Duplicate,
}

#[derive(Debug, Default)]
pub(in crate::link) struct BlockReceiver {
    /// The current chunk, or the next one.
    chunk: u8,
    /// State of the current chunk, from its first slice on.
    incoming: Option<IncomingChunk>,
    /// How many slices of this block must follow the complete chunks; `None` between blocks.
    slices_after_chunk: Option<u16>,
    /// The block up to its last received slice.
    block: Vec<u8>,
    /// Bytes of it in complete chunks.
    complete_bytes: usize,
    /// The last complete chunk: number and length.
    last_complete: Option<(u8, u8)>,
    /// Received slices that were not reported yet.
    unreported: u8,
}

#[derive(Clone, Copy, Debug)]
struct IncomingChunk {
    last_index: u8,
    slices_after_chunk: u16,
    received: SliceSet,
}

impl BlockReceiver {
    /// Refuses a slice that contradicts an earlier one, belongs to a later chunk, or makes the
    /// block longer than `largest`.
    pub(in crate::link) fn check(
        &self,
        slice: &Slice,
        largest: usize,
    ) -> Result<SliceStatus, WireError> {
        let refused = Err(WireError::OutOfRange { what: "slice" });
        match slice.chunk.wrapping_sub(self.chunk).cast_signed() {
            ..0 => return Ok(SliceStatus::Duplicate),
            1.. => return refused,
            0 => {}
        }
        // Chunks before the last one are full; so are slices before the last one.
        let slices = usize::from(slice.slices_after_chunk) + usize::from(slice.last_index);
        if let Some(incoming) = &self.incoming {
            if (incoming.last_index, incoming.slices_after_chunk)
                != (slice.last_index, slice.slices_after_chunk)
            {
                return refused;
            }
            if incoming.received.contains(slice.index.into()) {
                return Ok(SliceStatus::Duplicate);
            }
        } else if self.slices_after_chunk.is_some_and(|left| usize::from(left) != slices + 1) {
            return refused;
        }
        let tail = if slice.index == slice.last_index && slice.slices_after_chunk == 0 {
            slice.bytes.len()
        } else {
            1
        };
        let length = self.complete_bytes + slices * SLICE_BYTES + tail;
        if length > largest {
            return Err(WireError::TooLong { length: length as u64, max: largest as u64 });
        }
        Ok(SliceStatus::New)
    }

    /// Stores a checked slice; returns the block if it is complete.
    pub(in crate::link) fn accept(&mut self, slice: &Slice, status: SliceStatus) -> Option<Bytes> {
        if status == SliceStatus::Duplicate {
            self.unreported = REPORT_AFTER;
            return None;
        }
        let new = IncomingChunk {
            last_index: slice.last_index,
            slices_after_chunk: slice.slices_after_chunk,
            received: SliceSet::default(),
        };
        let incoming = self.incoming.get_or_insert(new);
        incoming.received.insert(slice.index.into());
        let is_complete = incoming.received.len() == usize::from(slice.last_index) + 1;
        self.unreported = self.unreported.saturating_add(1);
        let start = self.complete_bytes + usize::from(slice.index) * SLICE_BYTES;
        let end = start + slice.bytes.len();
        if self.block.len() < end {
            self.block.resize(end, 0);
        }
        self.block[start..end].copy_from_slice(&slice.bytes);
        if is_complete { self.complete_chunk(slice) } else { None }
    }

    /// The set to report to the peer, if it is due.
    pub(in crate::link) fn received_set(&self) -> Option<ReceivedSet> {
        if self.unreported < REPORT_AFTER {
            return None;
        }
        let of_chunk = |incoming: &IncomingChunk| ReceivedSet {
            chunk: self.chunk,
            last_index: incoming.last_index,
            slices: incoming.received,
        };
        self.incoming.as_ref().map(of_chunk).or_else(|| {
            let (chunk, last) = self.last_complete?;
            Some(ReceivedSet {
                chunk,
                last_index: last,
                slices: SliceSet::first(usize::from(last) + 1),
            })
        })
    }

    /// A datagram has left with the set of [`BlockReceiver::received_set`].
    pub(in crate::link) fn note_reported(&mut self) {
        self.unreported = 0;
    }

    pub(in crate::link) fn progress(&self) -> Option<ChunkProgress> {
        let (left, have) = match &self.incoming {
            Some(incoming) => (
                usize::from(incoming.slices_after_chunk) + usize::from(incoming.last_index) + 1,
                incoming.received.len(),
            ),
            None => (self.slices_after_chunk?.into(), 0),
        };
        let total = self.complete_bytes + left * SLICE_BYTES;
        Some(ChunkProgress { received: self.complete_bytes + have * SLICE_BYTES, total })
    }

    #[cfg(test)]
    pub(in crate::link) fn next_chunk(&self) -> u8 {
        self.chunk
    }

    #[cfg(test)]
    pub(in crate::link) fn held_bytes(&self) -> usize {
        self.block.len()
    }

    fn complete_chunk(&mut self, slice: &Slice) -> Option<Bytes> {
        self.last_complete = Some((self.chunk, slice.last_index));
        self.unreported = REPORT_AFTER;
        self.chunk = self.chunk.wrapping_add(1);
        self.incoming = None;
        self.complete_bytes = self.block.len();
        if slice.slices_after_chunk > 0 {
            self.slices_after_chunk = Some(slice.slices_after_chunk);
            return None;
        }
        self.slices_after_chunk = None;
        self.complete_bytes = 0;
        Some(std::mem::take(&mut self.block).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_is_due_after_many_slices_a_copy_or_a_whole_chunk() {
        let mut receiver = BlockReceiver::default();
        for index in 0..16 {
            assert_eq!(receiver.received_set(), None);
            accept(&mut receiver, index, 18, SLICE_BYTES);
        }
        let received = |receiver: &BlockReceiver| {
            let set = receiver.received_set();
            set.map(|set| (set.chunk, set.count(), set.slices))
        };
        assert_eq!(received(&receiver), Some((0, 18, SliceSet::first(16))));
        receiver.note_reported();
        assert_eq!(received(&receiver), None);
        accept(&mut receiver, 3, 18, SLICE_BYTES);
        assert_eq!(received(&receiver), Some((0, 18, SliceSet::first(16))));
        receiver.note_reported();
        accept(&mut receiver, 16, 18, SLICE_BYTES);
        assert_eq!(received(&receiver), None);
        assert!(accept(&mut receiver, 17, 18, 5).is_some());
        assert_eq!(received(&receiver), Some((0, 18, SliceSet::first(18))));
    }

    #[test]
    fn a_block_of_the_largest_length_is_accepted_and_no_longer_one() {
        let largest = SLICE_BYTES + 1;
        let receiver = BlockReceiver::default();
        let check = |index, length| receiver.check(&slice(index, 2, length), largest);
        assert_eq!(check(0, SLICE_BYTES), Ok(SliceStatus::New));
        assert_eq!(check(1, 1), Ok(SliceStatus::New));
        assert!(matches!(check(1, 2), Err(WireError::TooLong { .. })));
        let of_three = receiver.check(&slice(0, 3, SLICE_BYTES), largest);
        assert!(matches!(of_three, Err(WireError::TooLong { .. })));
    }

    #[test]
    fn progress_counts_slices() {
        let mut receiver = BlockReceiver::default();
        for index in 0..2 {
            accept(&mut receiver, index, 3, SLICE_BYTES);
        }
        let progress = ChunkProgress { received: 2 * SLICE_BYTES, total: 3 * SLICE_BYTES };
        assert_eq!(receiver.progress(), Some(progress));
    }

    fn accept(receiver: &mut BlockReceiver, index: u8, count: u8, length: usize) -> Option<Bytes> {
        let slice = slice(index, count, length);
        let status = receiver.check(&slice, 1 << 20).expect("a valid slice");
        receiver.accept(&slice, status)
    }

    /// A slice of the first chunk, which is the last one of its block.
    fn slice(index: u8, count: u8, length: usize) -> Slice {
        Slice { index, last_index: count - 1, bytes: vec![7; length], ..Slice::default() }
    }
}
