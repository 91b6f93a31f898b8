//! The sending end of blocks: which slice is sent next.
//!
//! Input: outcomes of slices. Output: slices. A slice is *wanted* until it is sent, and again when
//! the datagram that carried its last copy is lost. Wanted slices are sent in round-robin order.
//! When none is wanted, those whose acknowledgement is overdue are sent, also in round-robin order.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::format::{ReceivedSet, Slice};
use super::{
    ChunkConfig, ChunkProgress, MAX_CHUNKS, MAX_SLICES, RESEND_AFTER, SLICE_BYTES, SliceSet,
};
use crate::link::QueueFull;
use crate::time::LocalTime;
use crate::wire::WireError;

/// Limit of slices in flight without a budget to pace them: as many as acknowledgements cover.
const MAX_UNPACED_SLICES: usize = 32;

/// Zero means that a slice was never sent.
const EARLIEST_SEND: LocalTime = LocalTime::from_micros(1);

/// Length of a full chunk.
const CHUNK_BYTES: usize = MAX_SLICES * SLICE_BYTES;

/// The slice that a datagram carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::link) struct SliceId {
    chunk: u8,
    index: u8,
}

#[derive(Debug)]
pub(in crate::link) struct BlockSender {
    /// The first one is the current one.
    blocks: VecDeque<Bytes>,
    /// Bytes of all blocks.
    queued_bytes: usize,
    /// Bytes of the current block in chunks that have arrived.
    offset: usize,
    /// The current chunk, or the next one.
    chunk: u8,
    acked: SliceSet,
    wanted: SliceSet,
    /// When each slice was last sent.
    sent_at: Box<[LocalTime; MAX_SLICES]>,
    /// Index at which the round-robin order continues.
    next_turn: usize,
    /// The body of the current datagram, while it is not known whether a slice fits beside it; kept
    /// for its storage.
    pub(in crate::link) body: Vec<u8>,
    /// The current slice; kept for its storage.
    slice: Slice,
}

impl BlockSender {
    /// A sender whose first chunk has that number.
    pub(in crate::link) fn new(chunk: u8) -> Self {
        Self {
            blocks: VecDeque::new(),
            queued_bytes: 0,
            offset: 0,
            chunk,
            acked: SliceSet::default(),
            wanted: SliceSet::default(),
            sent_at: Box::new([LocalTime::ZERO; MAX_SLICES]),
            next_turn: 0,
            body: Vec::new(),
            slice: Slice::default(),
        }
    }

    pub(in crate::link) fn push(
        &mut self,
        block: Bytes,
        config: &ChunkConfig,
    ) -> Result<(), QueueFull> {
        assert!(
            (1..=MAX_CHUNKS * CHUNK_BYTES).contains(&block.len()),
            "a block has 1 byte to 64 MiB, not {} bytes",
            block.len()
        );
        if self.queued_bytes + block.len() > config.queue_bytes {
            return Err(QueueFull);
        }
        self.queued_bytes += block.len();
        self.blocks.push_back(block);
        if self.blocks.len() == 1 {
            self.begin_chunk();
        }
        Ok(())
    }

    /// Whether all blocks have arrived.
    pub(in crate::link) fn is_idle(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The number of the next chunk when this sender is idle.
    pub(in crate::link) fn next_chunk(&self) -> u8 {
        self.chunk
    }

    pub(in crate::link) fn progress(&self) -> Option<ChunkProgress> {
        let block = self.blocks.front()?;
        let received = self.offset + self.acked.len() * SLICE_BYTES;
        Some(ChunkProgress { received, total: block.len().next_multiple_of(SLICE_BYTES) })
    }

    /// When there is a slice to send; in the past if there is one now. `paced` if a budget limits
    /// the slices in flight.
    pub(in crate::link) fn due_at(&self, round_trip: Duration, paced: bool) -> Option<LocalTime> {
        if self.is_idle() {
            return None;
        }
        let in_flight = self.missing().difference(self.wanted);
        if !self.wanted.is_empty() {
            return (paced || in_flight.len() < MAX_UNPACED_SLICES).then_some(LocalTime::ZERO);
        }
        let sent = (0..self.count())
            .filter(|&index| in_flight.contains(index))
            .map(|index| self.sent_at[index]);
        sent.min().map(|sent| sent + resend_after(round_trip))
    }

    /// The slice to send at `now`; it must be due.
    pub(in crate::link) fn pick(
        &mut self,
        now: LocalTime,
        round_trip: Duration,
    ) -> Option<&mut Slice> {
        let index = self.next_index(now, round_trip)?;
        let block = self.blocks.front()?;
        let chunk = &block[self.offset..];
        let bytes = &chunk[index * SLICE_BYTES..];
        self.slice.bytes.clear();
        self.slice.bytes.extend_from_slice(&bytes[..bytes.len().min(SLICE_BYTES)]);
        self.slice.chunk = self.chunk;
        self.slice.index = index as u8;
        self.slice.last_index = (self.count() - 1) as u8;
        self.slice.slices_after_chunk = (chunk.len().div_ceil(SLICE_BYTES) - self.count()) as u16;
        Some(&mut self.slice)
    }

    /// Records that the slice that was picked last leaves. Returns whether it was sent before, and
    /// its id for the datagram's record.
    pub(in crate::link) fn note_sent(&mut self, now: LocalTime) -> (bool, SliceId) {
        let index = usize::from(self.slice.index);
        let repeated = self.sent_at[index] > LocalTime::ZERO;
        self.sent_at[index] = now.max(EARLIEST_SEND);
        self.wanted.remove(index);
        self.next_turn = (index + 1) % MAX_SLICES;
        (repeated, SliceId { chunk: self.chunk, index: self.slice.index })
    }

    /// A datagram with that slice has arrived. Returns whether it completes a block.
    pub(in crate::link) fn handle_acked(&mut self, slice_id: SliceId) -> bool {
        if self.is_idle() || slice_id.chunk != self.chunk {
            return false;
        }
        self.acked.insert(slice_id.index.into());
        self.finish_chunk()
    }

    /// A datagram with that slice, sent at `sent`, is lost. If the slice was sent again since, that
    /// copy decides.
    pub(in crate::link) fn handle_lost(&mut self, slice_id: SliceId, sent: LocalTime) {
        let index = usize::from(slice_id.index);
        let is_last_copy =
            slice_id.chunk == self.chunk && self.sent_at[index] == sent.max(EARLIEST_SEND);
        if !self.is_idle() && is_last_copy && !self.acked.contains(index) {
            self.wanted.insert(index);
        }
    }

    /// Refuses a set of a chunk that was not sent, or that has another length.
    pub(in crate::link) fn check(&self, set: &ReceivedSet) -> Result<(), WireError> {
        let ahead = set.chunk.wrapping_sub(self.chunk).cast_signed();
        let is_known_chunk =
            ahead < 0 || ahead == 0 && !self.is_idle() && set.count() == self.count();
        let is_sent = ahead < 0
            || (0..set.count()).all(|index| !set.slices.contains(index) || self.is_sent(index));
        if is_known_chunk && is_sent {
            Ok(())
        } else {
            Err(WireError::OutOfRange { what: "set of slices" })
        }
    }

    /// Handles the set of slices that the peer has. Returns whether it completes a block.
    pub(in crate::link) fn handle_set(&mut self, set: &ReceivedSet) -> bool {
        if self.is_idle() || set.chunk != self.chunk {
            return false;
        }
        self.acked = self.acked.union(set.slices);
        self.finish_chunk()
    }

    fn finish_chunk(&mut self) -> bool {
        self.wanted = self.wanted.difference(self.acked);
        if !self.missing().is_empty() {
            return false;
        }
        self.chunk = self.chunk.wrapping_add(1);
        self.offset += CHUNK_BYTES;
        let block = self.blocks.front().expect("a chunk is part of a block").len();
        let ended = self.offset >= block;
        if ended {
            self.blocks.pop_front();
            self.queued_bytes -= block;
            self.offset = 0;
        }
        self.begin_chunk();
        ended
    }

    fn begin_chunk(&mut self) {
        self.acked = SliceSet::default();
        self.wanted = SliceSet::first(self.count());
        self.sent_at.fill(LocalTime::ZERO);
        self.next_turn = 0;
    }

    fn next_index(&self, now: LocalTime, round_trip: Duration) -> Option<usize> {
        if !self.wanted.is_empty() {
            return self.wanted.next_from(self.next_turn);
        }
        let mut overdue = SliceSet::default();
        let limit = resend_after(round_trip);
        let is_overdue = |index: &usize| self.sent_at[*index] + limit <= now;
        (0..self.count()).filter(is_overdue).for_each(|index| overdue.insert(index));
        overdue.intersection(self.missing()).next_from(self.next_turn)
    }

    fn is_sent(&self, index: usize) -> bool {
        self.sent_at[index] > LocalTime::ZERO
    }

    fn missing(&self) -> SliceSet {
        SliceSet::first(self.count()).difference(self.acked)
    }

    /// Number of slices in the current chunk.
    fn count(&self) -> usize {
        let left = self.blocks.front().map_or(0, |block| block.len() - self.offset);
        left.min(CHUNK_BYTES).div_ceil(SLICE_BYTES)
    }
}

fn resend_after(round_trip: Duration) -> Duration {
    RESEND_AFTER.max(round_trip * 5 / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: u8 = 7;
    const ROUND_TRIP: Duration = Duration::from_millis(20);

    #[test]
    fn a_set_of_what_was_not_sent_is_refused() {
        let mut sender = BlockSender::new(FIRST);
        assert!(sender.check(&set(FIRST, 3, &[])).is_err(), "nothing is sent");
        assert!(sender.check(&set(FIRST - 1, 3, &[0, 2])).is_ok(), "old");
        push(&mut sender, 3);
        send(&mut sender, 1, 2);
        for slices in [&[][..], &[0], &[1], &[0, 1]] {
            assert_eq!(sender.check(&set(FIRST, 3, slices)), Ok(()));
        }
        for (chunk, count, slices) in [
            (FIRST, 3, &[2][..]),
            (FIRST, 3, &[0, 2]),
            (FIRST, 2, &[0]),
            (FIRST, 4, &[0]),
            (FIRST + 1, 3, &[]),
        ] {
            assert!(sender.check(&set(chunk, count, slices)).is_err());
        }
        assert!(sender.check(&set(FIRST - 1, 9, &[8])).is_ok());
    }

    #[test]
    fn a_set_of_all_slices_completes_a_block_and_frees_the_queue() {
        let mut sender = BlockSender::new(FIRST);
        push(&mut sender, 2);
        send(&mut sender, 1, 2);
        assert!(!sender.handle_set(&set(FIRST - 1, 2, &[0, 1])));
        assert!(!sender.handle_set(&set(FIRST, 2, &[0])));
        assert!(sender.handle_set(&set(FIRST, 2, &[1])));
        assert_eq!((sender.is_idle(), sender.next_chunk()), (true, FIRST + 1));
        let config = ChunkConfig::default();
        let longest = Bytes::from(vec![0; config.queue_bytes]);
        assert_eq!(sender.push(longest, &config), Ok(()));
    }

    #[test]
    fn a_lost_slice_is_wanted_unless_a_newer_copy_is_under_way() {
        let mut sender = BlockSender::new(FIRST);
        push(&mut sender, 2);
        let [first, second] = send(&mut sender, 1, 2)[..] else { panic!("two slices") };
        let is_wanted = |sender: &BlockSender| sender.due_at(ROUND_TRIP, true) <= Some(at(1));
        assert!(!is_wanted(&sender));
        sender.handle_lost(first, at(1));
        assert!(is_wanted(&sender));
        assert_eq!(send(&mut sender, 5, 1), [first]);
        sender.handle_lost(first, at(1));
        assert!(!is_wanted(&sender), "the newer copy decides");
        let of_another_chunk = SliceId { chunk: FIRST - 1, ..second };
        sender.handle_lost(of_another_chunk, at(1));
        assert!(!is_wanted(&sender));
        assert!(!sender.handle_acked(second));
        sender.handle_lost(second, at(1));
        assert!(!is_wanted(&sender), "it has arrived");
    }

    #[test]
    fn a_slice_is_overdue_after_its_round_trip_and_a_quarter() {
        let mut sender = BlockSender::new(FIRST);
        push(&mut sender, 1);
        send(&mut sender, 1, 1);
        let due_at = |round_trip_ms| sender.due_at(Duration::from_millis(round_trip_ms), true);
        assert_eq!(due_at(400), Some(at(501)));
        assert_eq!(due_at(20), Some(at(101)));
    }

    /// Queues a block of `slices` slices.
    fn push(sender: &mut BlockSender, slices: usize) {
        let block = Bytes::from(vec![7; slices * SLICE_BYTES]);
        sender.push(block, &ChunkConfig::default()).expect("the queue is empty");
    }

    /// Sends the next slices at that time.
    fn send(sender: &mut BlockSender, ms: u64, slices: usize) -> Vec<SliceId> {
        let send_one = |_| {
            sender.pick(at(ms), ROUND_TRIP).expect("a slice is to be sent");
            sender.note_sent(at(ms)).1
        };
        (0..slices).map(send_one).collect()
    }

    /// What the peer reports of a chunk of `count` slices.
    fn set(chunk: u8, count: u8, received: &[usize]) -> ReceivedSet {
        let mut slices = SliceSet::default();
        for index in received {
            slices.insert(*index);
        }
        ReceivedSet { chunk, last_index: count - 1, slices }
    }

    fn at(ms: u64) -> LocalTime {
        LocalTime::from_millis(ms)
    }
}
