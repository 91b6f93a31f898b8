//! Reliable messages that are not known to have arrived.
//!
//! A message *waits* until a datagram carries it, and again when that datagram is lost; it leaves
//! when any datagram that carried it is acknowledged, or when it waits and is no longer useful. It
//! is *due* from its `send_deadline` on, at once when it was lost, and when as much waits as a
//! datagram holds: small messages travel together (reference 004). What waits and is not due goes
//! along with any datagram that has room.
//!
//! Invariants:
//! 1. Ids ascend (wrapping), and all are within one [`MESSAGE_WINDOW`]: the receiver tells copies
//!    apart by that ([`super::inbox`]). A message that stays unfinished for very long so stops new
//!    ones, not old ones.
//! 2. There are at most `bound` messages. The newest is refused, since the owner alone knows what
//!    may be left out.

use std::collections::VecDeque;

use bytes::Bytes;

use super::format::{Message, Messages};
use super::{MAX_MESSAGE, MESSAGE_WINDOW};
use crate::ids::Seq;
use crate::time::LocalTime;

/// Of the datagrams that carried a message, so many are remembered: their acknowledgement finishes
/// it even if they were taken for lost. All within a sender's memory of datagrams, as a due message
/// leaves with the next few of them.
const MAX_CARRIERS: usize = 4;

/// What an id takes that is the next one, and one at the other end of the window.
const MIN_ID_BITS: usize = 5;
const MAX_ID_BITS: usize = 15;

/// The smallest place that a message could need: flag, shortest id, length.
const MIN_MESSAGE_BITS: usize = 1 + MIN_ID_BITS + 10;

/// The queue of reliable messages is full, or the oldest of them has been waiting for
/// [`MESSAGE_WINDOW`] newer ones: the peer acknowledges too little.
#[derive(thiserror::Error, Clone, Copy, PartialEq, Eq, Debug)]
#[error("too many reliable messages wait for their acknowledgement")]
pub struct QueueFull;

#[derive(Debug)]
pub(super) struct ReliableQueue {
    queue: VecDeque<QueuedMessage>,
    bound: usize,
    next: u32,
    /// As many bits of waiting messages make a datagram full.
    full_bits: usize,
}

#[derive(Debug)]
struct QueuedMessage {
    id: u32,
    bytes: Bytes,
    expires_at: LocalTime,
    /// When it has waited long enough for company.
    leave_by: LocalTime,
    /// Datagrams that carried it, the latest first; the first `carried` count.
    carriers: [Seq; MAX_CARRIERS],
    carrier_count: u8,
    in_flight: bool,
}

impl ReliableQueue {
    pub(super) fn new(bound: usize, first: u32, full_bits: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            bound,
            next: first,
            full_bits,
        }
    }

    pub(super) fn push(
        &mut self,
        bytes: Bytes,
        expires_at: Option<LocalTime>,
        leave_by: Option<LocalTime>,
    ) -> Result<(), QueueFull> {
        assert!(
            bytes.len() <= MAX_MESSAGE,
            "a message of {} bytes",
            bytes.len()
        );
        let span = self
            .queue
            .front()
            .map_or(0, |oldest| self.next.wrapping_sub(oldest.id));
        if self.queue.len() >= self.bound || span >= MESSAGE_WINDOW {
            return Err(QueueFull);
        }
        self.queue.push_back(QueuedMessage {
            id: self.next,
            bytes,
            expires_at: expires_at.unwrap_or(LocalTime::MAX),
            leave_by: leave_by.unwrap_or(LocalTime::ZERO),
            carriers: [Seq::default(); MAX_CARRIERS],
            carrier_count: 0,
            in_flight: false,
        });
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    /// What is not known to have arrived and is still of use, in the order in which it was queued.
    pub(super) fn unconfirmed(&self, now: LocalTime) -> impl Iterator<Item = &Bytes> {
        self.queue
            .iter()
            .filter(move |message| message.expires_at > now)
            .map(|message| &message.bytes)
    }

    /// Drops what is due and no longer useful, and says how many those were. What is in flight may
    /// still arrive.
    pub(super) fn expire(&mut self, now: LocalTime) -> u64 {
        let before = self.queue.len();
        self.queue
            .retain(|message| message.in_flight || message.expires_at > now);
        (before - self.queue.len()) as u64
    }

    /// Fills `picked` with messages that fit into so many bits: the oldest due ones, then the
    /// oldest that wait for company; one that does not fit makes place for smaller ones.
    pub(super) fn pick(&self, now: LocalTime, budget_bits: usize, picked: &mut Messages) {
        picked.0.clear();
        let Some(mut left) = budget_bits.checked_sub(1) else {
            return;
        }; // The flag at the end.
        let all_due = self.is_full() || self.waiting().all(|message| message.is_due(now));
        let mut previous = None;
        for due in self
            .waiting()
            .filter(|message| all_due || message.is_due(now))
        {
            if left < MIN_MESSAGE_BITS {
                return;
            }
            let mut message = Message {
                id: due.id,
                bytes: due.bytes.clone(),
            };
            let bits = message.bits_after(previous);
            if bits <= left {
                left -= bits;
                previous = Some(due.id);
                picked.0.push(message);
            }
        }
        if !all_due {
            self.pick_early(now, left, picked);
        }
    }

    /// What is not due, as far as it fits wherever it comes to stand between the others.
    fn pick_early(&self, now: LocalTime, mut left: usize, picked: &mut Messages) {
        for message in self.waiting().filter(|message| !message.is_due(now)) {
            let most_bits = if picked.0.is_empty() { 32 } else { MAX_ID_BITS }
                + 1
                + 10
                + 8 * message.bytes.len();
            if most_bits <= left {
                left -= most_bits;
                picked.0.push(Message {
                    id: message.id,
                    bytes: message.bytes.clone(),
                });
            }
        }
        let oldest = self.queue.front().map_or(0, |message| message.id);
        picked
            .0
            .sort_unstable_by_key(|message| message.id.wrapping_sub(oldest));
    }

    /// The datagram `seq` leaves with these messages. Returns how many of them were sent before.
    pub(super) fn note_carried(&mut self, seq: Seq, picked: &Messages) -> u64 {
        let mut repeated = 0;
        for message in &picked.0 {
            let outgoing = self
                .find(message.id)
                .expect("what was picked is in the queue");
            repeated += u64::from(outgoing.carrier_count > 0);
            outgoing.carriers.rotate_right(1);
            outgoing.carriers[0] = seq;
            outgoing.carrier_count = (outgoing.carrier_count + 1).min(MAX_CARRIERS as u8);
            outgoing.in_flight = true;
        }
        repeated
    }

    pub(super) fn handle_acked(&mut self, seq: Seq) {
        self.queue.retain(|message| !message.was_in(seq));
    }

    /// What travelled again since does not wait, although an earlier copy is lost.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        for message in self
            .queue
            .iter_mut()
            .filter(|message| message.in_flight && message.carriers[0] == seq)
        {
            message.in_flight = false;
            message.leave_by = LocalTime::ZERO;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The bits that the smallest message which is due takes in a datagram of its own.
    pub(super) fn min_due_bits(&self, now: LocalTime) -> Option<usize> {
        let full = self.is_full();
        let due = self
            .waiting()
            .filter(|message| (full || message.is_due(now)) && message.expires_at > now);
        due.map(|message| Messages::bits_of_one(message.bytes.len()))
            .min()
    }

    /// When something is to be sent, or to be dropped; `affordable_at` says when so many bits can
    /// be.
    pub(super) fn deadline(&self, payable_at: impl Fn(usize) -> LocalTime) -> Option<LocalTime> {
        let full = self.is_full();
        let deadlines = self.waiting().map(|message| {
            let due = if full {
                LocalTime::ZERO
            } else {
                message.leave_by
            };
            due.max(payable_at(Messages::bits_of_one(message.bytes.len())))
                .min(message.expires_at)
        });
        deadlines.min()
    }

    fn waiting(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.queue.iter().filter(|message| !message.in_flight)
    }

    /// Whether what waits makes a datagram full.
    fn is_full(&self) -> bool {
        let bits = self
            .waiting()
            .map(|message| 1 + 10 + MIN_ID_BITS + 8 * message.bytes.len());
        bits.sum::<usize>() >= self.full_bits
    }

    fn find(&mut self, id: u32) -> Option<&mut QueuedMessage> {
        let first = self.queue.front()?.id;
        let place = self
            .queue
            .partition_point(|message| message.id.wrapping_sub(first) < id.wrapping_sub(first));
        self.queue.get_mut(place).filter(|message| message.id == id)
    }
}

impl QueuedMessage {
    fn is_due(&self, now: LocalTime) -> bool {
        self.leave_by <= now
    }

    fn was_in(&self, seq: Seq) -> bool {
        self.carriers[..usize::from(self.carrier_count)].contains(&seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::duplicate_filter::DuplicateFilter;

    const ROOM: usize = 5_000;

    fn outbox(bound: usize, messages: usize) -> ReliableQueue {
        let mut outbox = ReliableQueue::new(bound, u32::MAX - 5, ROOM);
        (0..messages).for_each(|number| {
            outbox
                .push(vec![number as u8; 4].into(), None, None)
                .expect("there is room")
        });
        outbox
    }

    fn pick(outbox: &ReliableQueue, budget_bits: usize) -> Messages {
        let mut picked = Messages::default();
        outbox.pick(LocalTime::ZERO, budget_bits, &mut picked);
        picked
    }

    fn carry(outbox: &mut ReliableQueue, seq: u16) -> usize {
        let picked = pick(outbox, ROOM);
        outbox.note_carried(Seq(seq), &picked);
        picked.0.len()
    }

    #[test]
    fn a_message_is_sent_again_only_when_its_last_carrier_is_lost() {
        let mut outbox = outbox(8, 1);
        assert_eq!(carry(&mut outbox, 1), 1);
        assert_eq!(carry(&mut outbox, 2), 0);
        outbox.handle_lost(Seq(1));
        assert_eq!(carry(&mut outbox, 3), 1);
        outbox.handle_lost(Seq(1));
        assert_eq!(carry(&mut outbox, 4), 0);
        outbox.handle_acked(Seq(1)); // It was late, but it did arrive.
        assert!(outbox.is_empty());
    }

    #[test]
    fn the_oldest_go_first_and_a_large_one_does_not_block_small_ones() {
        let mut outbox = ReliableQueue::new(8, 0, ROOM);
        for length in [100, 400, 10] {
            outbox
                .push(vec![0; length].into(), None, None)
                .expect("there is room");
        }
        let ids: Vec<_> = pick(&outbox, 8 * 150)
            .0
            .iter()
            .map(|message| message.id)
            .collect();
        assert_eq!(ids, [0, 2]);
    }

    #[test]
    fn the_pick_fills_the_budget_and_never_exceeds_it() {
        for budget in 2_200..2_400 {
            let mut picked = pick(&outbox(256, 256), budget);
            let bits = crate::wire::measure(&mut picked);
            assert!(
                bits <= budget && bits + 1 + 5 + 10 + 32 > budget,
                "{bits} of {budget}"
            );
        }
    }

    #[test]
    fn a_full_queue_refuses_and_an_acknowledgement_makes_room() {
        let mut outbox = outbox(8, 8);
        assert_eq!(outbox.push(Bytes::new(), None, None), Err(QueueFull));
        carry(&mut outbox, 1);
        outbox.handle_acked(Seq(1));
        assert_eq!(outbox.push(Bytes::new(), None, None), Ok(()));
    }

    #[test]
    fn expired_messages_are_removed_unless_they_are_in_flight() {
        let (mut outbox, at) = (ReliableQueue::new(8, 0, ROOM), LocalTime::from_millis);
        outbox
            .push(Bytes::from_static(b"a"), Some(at(100)), None)
            .expect("there is room");
        carry(&mut outbox, 1);
        outbox
            .push(Bytes::from_static(b"b"), Some(at(100)), None)
            .expect("there is room");
        assert!(outbox.min_due_bits(at(99)).is_some() && outbox.min_due_bits(at(100)).is_none());
        assert_eq!(outbox.deadline(|_| LocalTime::ZERO), Some(LocalTime::ZERO));
        assert_eq!(outbox.expire(at(100)), 1);
        outbox.handle_lost(Seq(1));
        assert_eq!(outbox.expire(at(100)), 1);
        assert!(outbox.is_empty());
    }

    #[test]
    fn a_delayed_message_leaves_at_its_deadline_or_with_others() {
        let at = LocalTime::from_millis;
        let mut outbox = ReliableQueue::new(64, 0, ROOM);
        let push = |outbox: &mut ReliableQueue, length: usize, leave_by| {
            outbox
                .push(vec![0; length].into(), None, leave_by)
                .expect("there is room");
        };
        let due = |outbox: &ReliableQueue, now| outbox.min_due_bits(now).is_some();
        let picked = |outbox: &ReliableQueue, now, room| {
            let mut picked = Messages::default();
            outbox.pick(now, room, &mut picked);
            assert!(crate::wire::measure(&mut picked) <= room.max(1));
            picked
                .0
                .iter()
                .map(|message| message.id)
                .collect::<Vec<_>>()
        };
        push(&mut outbox, 20, Some(at(100)));
        assert!(!due(&outbox, at(99)) && due(&outbox, at(100)));
        assert_eq!(outbox.deadline(|_| at(7)), Some(at(100)));
        assert_eq!(outbox.deadline(|_| at(170)), Some(at(170)));
        assert_eq!(
            picked(&outbox, at(50), ROOM),
            [0],
            "what leaves anyway takes it along"
        );
        push(&mut outbox, 30, None);
        push(&mut outbox, 20, Some(at(90)));
        assert_eq!(picked(&outbox, at(50), ROOM), [0, 1, 2]);
        assert_eq!(picked(&outbox, at(50), 300), [1], "the due one first");
        assert_eq!(picked(&outbox, at(95), 500), [1, 2]);
        outbox.note_carried(
            Seq(1),
            &Messages(vec![Message {
                id: 1,
                ..Message::default()
            }]),
        );
        assert!(!due(&outbox, at(50)));
        (0..30).for_each(|_| push(&mut outbox, 10, Some(at(1_000))));
        assert!(!due(&outbox, at(50)));
        push(&mut outbox, 300, Some(at(1_000)));
        assert!(due(&outbox, at(50)), "they fill a datagram");
        outbox.handle_acked(Seq(1));
        let mut all = Messages::default();
        outbox.pick(at(50), ROOM, &mut all);
        outbox.note_carried(Seq(2), &all);
        outbox.handle_lost(Seq(2));
        assert!(due(&outbox, at(50)), "what was lost does not wait again");
    }

    /// One message never gets through while thousands of newer ones do: new ones are refused in the
    /// end, and whatever arrives at last, in whatever order, is delivered once.
    #[test]
    fn a_stuck_message_stops_new_ones_before_the_receiver_forgets() {
        let (mut outbox, mut inbox) = (outbox(256, 1), DuplicateFilter::default());
        carry(&mut outbox, 0);
        let mut refused = false;
        for number in 1..3_000 {
            refused = outbox.push(Bytes::new(), None, None).is_err();
            if refused {
                break;
            }
            let picked = pick(&outbox, ROOM);
            outbox.note_carried(Seq(number), &picked);
            assert!(picked.0.iter().all(|message| inbox.insert(message.id)));
            outbox.handle_acked(Seq(number));
        }
        assert!(refused, "the window has no end");
        assert_eq!(outbox.queue.len(), 1);
        assert!(
            inbox.insert(outbox.queue[0].id),
            "the stuck one is behind the window"
        );
        assert!(!inbox.insert(outbox.queue[0].id));
    }
}
