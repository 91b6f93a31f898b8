//! The receiving end of blocks: slices go in, whole blocks come out, and at times what is to be
//! told of them.

use bytes::Bytes;

use super::format::{ReceivedSet, Slice};
use super::{ChunkProgress, SLICE_BYTES, Slices};
use crate::wire::WireError;

/// After so many slices of which nothing was said yet, the set goes along: a datagram acknowledges
/// 33 others, and some of these are lost.
const TELL_AFTER: u8 = 16;

/// What is to become of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::link) enum Fit {
    /// It is of use.
    New,
    /// It is here already: the peer should be told so.
    Known,
}

#[derive(Debug, Default)]
pub(in crate::link) struct Receiver {
    /// The chunk under way, or the next one.
    chunk: u8,
    /// Of the chunk under way, from its first slice on.
    incoming: Option<Incoming>,
    /// How many slices of this block must follow the chunks that are complete; `None` between
    /// blocks.
    left: Option<u16>,
    /// The block so far, up to the last slice that has come.
    block: Vec<u8>,
    /// Bytes of it in complete chunks.
    complete: usize,
    /// The last chunk that became complete: number and length.
    last_complete: Option<(u8, u8)>,
    /// Slices of which nothing was told.
    untold: u8,
}

#[derive(Clone, Copy, Debug)]
struct Incoming {
    last: u8,
    left: u16,
    have: Slices,
}

impl Receiver {
    /// Refuses what contradicts an earlier slice, was not to come yet, or makes the block longer
    /// than `largest`.
    pub(in crate::link) fn check(&self, slice: &Slice, largest: usize) -> Result<Fit, WireError> {
        let refused = Err(WireError::OutOfRange { what: "slice" });
        match slice.chunk.wrapping_sub(self.chunk).cast_signed() {
            ..0 => return Ok(Fit::Known),
            1.. => return refused,
            0 => {}
        }
        // Chunks before the last one are full; so are slices before the last one.
        let slices = usize::from(slice.left) + usize::from(slice.last);
        if let Some(incoming) = &self.incoming {
            if (incoming.last, incoming.left) != (slice.last, slice.left) {
                return refused;
            }
            if incoming.have.contains(slice.index.into()) {
                return Ok(Fit::Known);
            }
        } else if self
            .left
            .is_some_and(|left| usize::from(left) != slices + 1)
        {
            return refused;
        }
        let tail = if slice.index == slice.last && slice.left == 0 {
            slice.bytes.len()
        } else {
            1
        };
        let length = self.complete + slices * SLICE_BYTES + tail;
        if length > largest {
            return Err(WireError::TooLong {
                length: length as u64,
                max: largest as u64,
            });
        }
        Ok(Fit::New)
    }

    /// Takes a slice that was checked; returns the block if this was the last of it.
    pub(in crate::link) fn take(&mut self, slice: &Slice, fit: Fit) -> Option<Bytes> {
        if fit == Fit::Known {
            self.untold = TELL_AFTER;
            return None;
        }
        let new = Incoming {
            last: slice.last,
            left: slice.left,
            have: Slices::default(),
        };
        let incoming = self.incoming.get_or_insert(new);
        incoming.have.insert(slice.index.into());
        let is_complete = incoming.have.len() == usize::from(slice.last) + 1;
        self.untold = self.untold.saturating_add(1);
        let start = self.complete + usize::from(slice.index) * SLICE_BYTES;
        let end = start + slice.bytes.len();
        if self.block.len() < end {
            self.block.resize(end, 0);
        }
        self.block[start..end].copy_from_slice(&slice.bytes);
        if is_complete {
            self.complete_chunk(slice)
        } else {
            None
        }
    }

    /// What the peer is to be told, if it is time.
    pub(in crate::link) fn set(&self) -> Option<ReceivedSet> {
        if self.untold < TELL_AFTER {
            return None;
        }
        let of_chunk = |incoming: &Incoming| ReceivedSet {
            chunk: self.chunk,
            last: incoming.last,
            slices: incoming.have,
        };
        self.incoming.as_ref().map(of_chunk).or_else(|| {
            let (chunk, last) = self.last_complete?;
            Some(ReceivedSet {
                chunk,
                last,
                slices: Slices::first(usize::from(last) + 1),
            })
        })
    }

    /// A datagram has left, with what [`Receiver::set`] returned.
    pub(in crate::link) fn note_told(&mut self) {
        self.untold = 0;
    }

    pub(in crate::link) fn progress(&self) -> Option<ChunkProgress> {
        let (left, have) = match &self.incoming {
            Some(incoming) => (
                usize::from(incoming.left) + usize::from(incoming.last) + 1,
                incoming.have.len(),
            ),
            None => (self.left?.into(), 0),
        };
        let total = self.complete + left * SLICE_BYTES;
        Some(ChunkProgress {
            received: self.complete + have * SLICE_BYTES,
            total,
        })
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
        self.last_complete = Some((self.chunk, slice.last));
        self.untold = TELL_AFTER;
        self.chunk = self.chunk.wrapping_add(1);
        self.incoming = None;
        self.complete = self.block.len();
        if slice.left > 0 {
            self.left = Some(slice.left);
            return None;
        }
        self.left = None;
        self.complete = 0;
        Some(std::mem::take(&mut self.block).into())
    }
}
