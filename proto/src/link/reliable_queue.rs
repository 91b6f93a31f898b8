//! Reliable messages that are not known to have arrived.
//!
//! A message *waits* until a datagram carries it, and again when that datagram is lost. It is
//! removed when any datagram that carried it is acknowledged, or when it waits and has expired. It
//! is *due* from its `leave_by` on, at once after a loss, and when the waiting messages fill a
//! datagram: small messages travel together ("Optimisation des echanges de donnees"). A waiting
//! message that is not due joins any datagram with room for it. Messages that are *held* wait
//! without being due; they may expire meanwhile.
//!
//! While copies are made, a message that has left for the first time waits for a second datagram,
//! too: it joins any later one, and if it has a time of effect, it is due after [`COPIED_AFTER`].
//! Until the outcomes of both are known, it is in flight.
//!
//! Invariants:
//! 1. Ids ascend (wrapping), and all are within one [`MESSAGE_WINDOW`]: the receiver detects copies
//!    by that ([`super::duplicate_filter`]). A message that stays unfinished for very long blocks
//!    new messages, not old ones.
//! 2. There are at most `bound` messages. The newest is refused, since only the owner knows which
//!    one to leave out.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::format::{Message, Messages};
use super::{MAX_MESSAGE, MESSAGE_WINDOW};
use crate::ids::Seq;
use crate::time::LocalTime;

/// How many datagrams that carried a message are remembered: an acknowledgement of one finishes the
/// message even after it counted as lost. All are within the sender's memory of datagrams, since a
/// due message leaves with one of the next few.
const MAX_CARRIERS: usize = 4;

/// When the copy of a message is due: at the sender's next tick, and not within the same one.
const COPIED_AFTER: Duration = Duration::from_millis(10);

/// Bits of the id that follows directly, and of one at the other end of the window.
const MIN_ID_BITS: usize = 5;
const MAX_ID_BITS: usize = 15;

/// The smallest space that a message can need: flag, shortest id, length.
const MIN_MESSAGE_BITS: usize = 1 + MIN_ID_BITS + 10;

/// The queue of reliable messages is full, or its oldest message has waited for [`MESSAGE_WINDOW`]
/// newer ones: the peer acknowledges too little.
#[derive(thiserror::Error, Clone, Copy, PartialEq, Eq, Debug)]
#[error("too many reliable messages are waiting for acknowledgement")]
pub struct QueueFull;

/// A reliable message of a link, to recognise it in
/// [`LinkEvent::MessageAcked`](super::LinkEvent::MessageAcked). Ids ascend and wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageId(u32);

#[derive(Debug)]
pub(super) struct ReliableQueue {
    queue: VecDeque<QueuedMessage>,
    bound: usize,
    next: u32,
    /// Waiting messages of this many bits fill a datagram.
    full_bits: usize,
    /// Messages from this id on do not leave for now.
    held_from: Option<u32>,
    makes_copies: bool,
}

/// What the messages of a datagram were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CarriedMessages {
    /// Those that left for the first time.
    pub(super) new: u64,
    /// Those of lost datagrams.
    pub(super) resent: u64,
    /// Those that are in flight already.
    pub(super) copies: u64,
    /// The bits of all that had left before.
    pub(super) repeated_bits: usize,
}

#[derive(Debug)]
struct QueuedMessage {
    id: u32,
    bytes: Bytes,
    expires_at: LocalTime,
    /// The latest time to send it, even alone.
    leave_by: LocalTime,
    /// Whether it has a time of effect.
    is_timed: bool,
    /// When the datagram left that it is to be copied after; `None` if it is not to be copied.
    copied_after: Option<LocalTime>,
    /// Datagrams that carried it, the latest first; the first `carrier_count` are valid.
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
            held_from: None,
            makes_copies: false,
        }
    }

    /// The id of the next message.
    pub(super) fn next_id(&self) -> u32 {
        self.next
    }

    /// Whether new messages are sent twice from now on.
    pub(super) fn set_copies(&mut self, copies: bool) {
        self.makes_copies = copies;
    }

    /// Messages from this id on do not leave; `None` if all may.
    pub(super) fn hold_from(&mut self, id: Option<u32>) {
        self.held_from = id;
    }

    /// No message leaves, those that are queued already included.
    pub(super) fn hold_all(&mut self) {
        self.held_from = Some(self.queue.front().map_or(self.next, |oldest| oldest.id));
    }

    pub(super) fn push(
        &mut self,
        bytes: Bytes,
        expires_at: Option<LocalTime>,
        leave_by: Option<LocalTime>,
    ) -> Result<MessageId, QueueFull> {
        assert!(bytes.len() <= MAX_MESSAGE, "a message of {} bytes is too long", bytes.len());
        let span = self.queue.front().map_or(0, |oldest| self.next.wrapping_sub(oldest.id));
        if self.queue.len() >= self.bound || span >= MESSAGE_WINDOW {
            return Err(QueueFull);
        }
        let id = self.next;
        self.queue.push_back(QueuedMessage {
            id,
            bytes,
            expires_at: expires_at.unwrap_or(LocalTime::MAX),
            leave_by: leave_by.unwrap_or(LocalTime::ZERO),
            is_timed: leave_by.is_some(),
            copied_after: None,
            carriers: [Seq::default(); MAX_CARRIERS],
            carrier_count: 0,
            in_flight: false,
        });
        self.next = id.wrapping_add(1);
        Ok(MessageId(id))
    }

    /// Removes waiting messages that have expired, and returns their number. Messages in flight may
    /// still arrive.
    pub(super) fn expire(&mut self, now: LocalTime) -> u64 {
        let before = self.queue.len();
        self.queue.retain_mut(|message| {
            let has_expired = message.expires_at <= now;
            message.copied_after = message.copied_after.filter(|_| !has_expired);
            message.in_flight || !has_expired
        });
        (before - self.queue.len()) as u64
    }

    /// Fills `picked` with messages that fit into `budget_bits`: the oldest due ones, then the
    /// oldest others, then copies. Smaller messages take the place of one that does not fit.
    pub(super) fn pick(&self, now: LocalTime, budget_bits: usize, picked: &mut Messages) {
        picked.0.clear();
        let Some(mut left) = budget_bits.checked_sub(1) else {
            return;
        }; // The flag at the end.
        let all_due = self.is_full() || self.waiting().all(|message| self.is_due(message, now));
        let mut previous = None;
        for due in self.waiting().filter(|message| all_due || self.is_due(message, now)) {
            if left < MIN_MESSAGE_BITS {
                return;
            }
            let mut message = Message { id: due.id, bytes: due.bytes.clone() };
            let bits = message.bits_after(previous);
            if bits <= left {
                left -= bits;
                previous = Some(due.id);
                picked.0.push(message);
            }
        }
        let early = self.waiting().filter(|message| !all_due && !self.is_due(message, now));
        self.pick_more(early.chain(self.copies(now)), left, picked);
    }

    /// Adds messages that are not due, if they fit at any position among the others.
    fn pick_more<'q>(
        &self,
        more: impl Iterator<Item = &'q QueuedMessage>,
        mut left: usize,
        picked: &mut Messages,
    ) {
        let before = picked.0.len();
        for message in more {
            let max_bits = if picked.0.is_empty() { 32 } else { MAX_ID_BITS }
                + 1
                + 10
                + 8 * message.bytes.len();
            if max_bits <= left {
                left -= max_bits;
                picked.0.push(Message { id: message.id, bytes: message.bytes.clone() });
            }
        }
        if picked.0.len() == before {
            return;
        }
        let oldest = self.queue.front().map_or(0, |message| message.id);
        picked.0.sort_unstable_by_key(|message| message.id.wrapping_sub(oldest));
    }

    /// Records that the datagram `seq` carries these messages, and leaves at `now`.
    pub(super) fn note_carried(
        &mut self,
        now: LocalTime,
        seq: Seq,
        picked: &mut Messages,
    ) -> CarriedMessages {
        let makes_copies = self.makes_copies;
        let mut carried = CarriedMessages::default();
        let mut previous = None;
        for message in &mut picked.0 {
            let queued = self.find(message.id).expect("picked messages are in the queue");
            let is_new = queued.carrier_count == 0;
            if !is_new {
                carried.repeated_bits += message.bits_after(previous);
            }
            previous = Some(message.id);
            *match (is_new, queued.in_flight) {
                (true, _) => &mut carried.new,
                (false, false) => &mut carried.resent,
                (false, true) => &mut carried.copies,
            } += 1;
            queued.copied_after = (makes_copies && is_new).then_some(now);
            queued.carriers.rotate_right(1);
            queued.carriers[0] = seq;
            queued.carrier_count = (queued.carrier_count + 1).min(MAX_CARRIERS as u8);
            queued.in_flight = true;
        }
        carried
    }

    /// Removes the messages that the datagram `seq` carried, and passes their ids to `report`.
    pub(super) fn handle_acked(&mut self, seq: Seq, mut report: impl FnMut(MessageId)) {
        self.queue.retain(|message| {
            let has_arrived = message.was_in(seq);
            if has_arrived {
                report(MessageId(message.id));
            }
            !has_arrived
        });
    }

    /// A message that was sent again since does not wait, although an earlier copy is lost.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        for message in
            self.queue.iter_mut().filter(|message| message.in_flight && message.carriers[0] == seq)
        {
            message.in_flight = false;
            message.leave_by = LocalTime::ZERO;
            message.copied_after = None;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Length of a datagram's message list with only the smallest due message, in bits.
    pub(super) fn min_due_bits(&self, now: LocalTime) -> Option<usize> {
        let full = self.is_full();
        let due = self
            .waiting()
            .filter(|message| (full || self.is_due(message, now)) && message.expires_at > now);
        let is_copy_due =
            |message: &&QueuedMessage| message.copy_due_at().is_some_and(|due| due <= now);
        let copies = self.copies(now).filter(is_copy_due);
        due.chain(copies).map(|message| Messages::bits_of_one(message.bytes.len())).min()
    }

    /// When a message is to be sent or expires; `payable_at` returns when that many bits can be
    /// sent.
    pub(super) fn deadline(&self, affordable_at: impl Fn(usize) -> LocalTime) -> Option<LocalTime> {
        let full = self.is_full();
        let at = |due: LocalTime, message: &QueuedMessage| {
            due.max(affordable_at(Messages::bits_of_one(message.bytes.len())))
                .min(message.expires_at)
        };
        let deadlines = self.waiting().map(|message| {
            let is_due = full || self.makes_copies;
            at(if is_due { LocalTime::ZERO } else { message.leave_by }, message)
        });
        let copies =
            self.queue.iter().filter_map(|message| Some(at(message.copy_due_at()?, message)));
        deadlines.chain(copies).min()
    }

    fn waiting(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.queue.iter().filter(|message| !message.in_flight && !self.is_held(message))
    }

    /// Messages that a datagram of `now` may carry for the second time.
    fn copies(&self, now: LocalTime) -> impl Iterator<Item = &QueuedMessage> {
        let may_leave = move |message: &&QueuedMessage| {
            message.copied_after.is_some_and(|sent| sent < now)
                && message.expires_at > now
                && !self.is_held(message)
        };
        self.queue.iter().filter(may_leave)
    }

    fn is_held(&self, message: &QueuedMessage) -> bool {
        self.held_from.is_some_and(|from| message.id.wrapping_sub(from).cast_signed() >= 0)
    }

    /// Whether it causes a datagram.
    fn is_due(&self, message: &QueuedMessage, now: LocalTime) -> bool {
        self.makes_copies || message.leave_by <= now
    }

    /// Whether the waiting messages fill a datagram.
    fn is_full(&self) -> bool {
        let bits = self.waiting().map(|message| 1 + 10 + MIN_ID_BITS + 8 * message.bytes.len());
        bits.sum::<usize>() >= self.full_bits
    }

    fn find(&mut self, id: u32) -> Option<&mut QueuedMessage> {
        let first = self.queue.front()?.id;
        let index = self
            .queue
            .partition_point(|message| message.id.wrapping_sub(first) < id.wrapping_sub(first));
        self.queue.get_mut(index).filter(|message| message.id == id)
    }
}

impl QueuedMessage {
    /// When its copy causes a datagram.
    fn copy_due_at(&self) -> Option<LocalTime> {
        self.copied_after.filter(|_| self.is_timed).map(|sent| sent + COPIED_AFTER)
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

    fn queue(bound: usize, messages: usize) -> ReliableQueue {
        let mut queue = ReliableQueue::new(bound, u32::MAX - 5, ROOM);
        (0..messages).for_each(|number| {
            queue.push(vec![number as u8; 4].into(), None, None).expect("the queue has room");
        });
        queue
    }

    fn pick(queue: &ReliableQueue, budget_bits: usize) -> Messages {
        let mut picked = Messages::default();
        queue.pick(LocalTime::ZERO, budget_bits, &mut picked);
        picked
    }

    fn carry(queue: &mut ReliableQueue, seq: u16) -> usize {
        let mut picked = pick(queue, ROOM);
        queue.note_carried(LocalTime::ZERO, Seq(seq), &mut picked);
        picked.0.len()
    }

    #[test]
    fn a_message_is_sent_again_only_when_its_last_datagram_is_lost() {
        let mut queue = queue(8, 1);
        assert_eq!(carry(&mut queue, 1), 1);
        assert_eq!(carry(&mut queue, 2), 0);
        queue.handle_lost(Seq(1));
        assert_eq!(carry(&mut queue, 3), 1);
        queue.handle_lost(Seq(1));
        assert_eq!(carry(&mut queue, 4), 0);
        let mut reported = Vec::new();
        queue.handle_acked(Seq(1), |id| reported.push(id)); // The acknowledgement is late.
        assert_eq!(reported, [MessageId(u32::MAX - 5)]);
        assert!(queue.is_empty());
    }

    #[test]
    fn on_a_lossy_line_a_later_datagram_carries_a_copy() {
        let at = LocalTime::from_millis;
        let mut queue = ReliableQueue::new(8, 0, ROOM);
        let carry = |queue: &mut ReliableQueue, seq: u16, ms: u64| {
            let mut picked = Messages::default();
            queue.pick(at(ms), ROOM, &mut picked);
            queue.note_carried(at(ms), Seq(seq), &mut picked)
        };
        let counts = |new, resent, copies| {
            // The number of the second one follows from that of the first.
            let repeated_bits = [0, 49, 49 + 16][(resent + copies) as usize];
            CarriedMessages { new, resent, copies, repeated_bits }
        };
        queue.set_copies(true);
        let timed = Some(at(1_000));
        queue.push(vec![1].into(), None, timed).expect("the queue has room");
        queue.push(vec![2].into(), None, None).expect("the queue has room");
        assert!(queue.min_due_bits(at(50)).is_some(), "nothing waits");
        assert_eq!(carry(&mut queue, 1, 50), counts(2, 0, 0));
        assert_eq!(queue.min_due_bits(at(50)), None, "not in the same tick");
        assert_eq!(carry(&mut queue, 2, 50), counts(0, 0, 0));
        assert_eq!(queue.deadline(|_| LocalTime::ZERO), Some(at(60)));
        assert!(queue.min_due_bits(at(100)).is_some(), "the message with a time of effect");
        assert_eq!(carry(&mut queue, 3, 100), counts(0, 0, 2));
        assert_eq!(carry(&mut queue, 4, 150), counts(0, 0, 0));
        queue.handle_lost(Seq(1));
        assert_eq!(carry(&mut queue, 5, 200), counts(0, 0, 0), "the copy may arrive");
        queue.handle_lost(Seq(3));
        assert_eq!(carry(&mut queue, 6, 250), counts(0, 2, 0));
        assert_eq!(carry(&mut queue, 7, 300), counts(0, 0, 0));
    }

    #[test]
    fn without_losses_no_copies_are_sent_and_what_may_wait_waits() {
        let at = LocalTime::from_millis;
        let mut queue = ReliableQueue::new(8, 0, ROOM);
        queue.push(vec![1].into(), None, Some(at(1_000))).expect("the queue has room");
        assert_eq!(queue.min_due_bits(at(50)), None);
        carry(&mut queue, 1);
        assert_eq!(queue.deadline(|_| LocalTime::ZERO), None);
        assert_eq!(carry(&mut queue, 2), 0);
    }

    #[test]
    fn the_oldest_messages_go_first_and_a_large_one_blocks_no_small_one() {
        let mut queue = ReliableQueue::new(8, 0, ROOM);
        for length in [100, 400, 10] {
            queue.push(vec![0; length].into(), None, None).expect("the queue has room");
        }
        let ids: Vec<_> = pick(&queue, 8 * 150).0.iter().map(|message| message.id).collect();
        assert_eq!(ids, [0, 2]);
    }

    #[test]
    fn the_pick_fills_the_budget_and_never_exceeds_it() {
        for budget in 2_200..2_400 {
            let mut picked = pick(&queue(256, 256), budget);
            let bits = crate::wire::measure(&mut picked);
            assert!(bits <= budget && bits + 1 + 5 + 10 + 32 > budget, "{bits} of {budget}");
        }
    }

    #[test]
    fn a_full_queue_refuses_and_an_acknowledgement_makes_room() {
        let mut queue = queue(8, 8);
        assert_eq!(queue.push(Bytes::new(), None, None), Err(QueueFull));
        carry(&mut queue, 1);
        queue.handle_acked(Seq(1), |_| ());
        assert_eq!(queue.push(Bytes::new(), None, None), Ok(MessageId(2)));
    }

    #[test]
    fn expired_messages_are_removed_unless_they_are_in_flight() {
        let mut queue = ReliableQueue::new(8, 0, ROOM);
        let at = LocalTime::from_millis;
        queue.push(Bytes::from_static(b"a"), Some(at(100)), None).expect("the queue has room");
        carry(&mut queue, 1);
        queue.push(Bytes::from_static(b"b"), Some(at(100)), None).expect("the queue has room");
        assert!(queue.min_due_bits(at(99)).is_some() && queue.min_due_bits(at(100)).is_none());
        assert_eq!(queue.deadline(|_| LocalTime::ZERO), Some(LocalTime::ZERO));
        assert_eq!(queue.expire(at(100)), 1);
        queue.handle_lost(Seq(1));
        assert_eq!(queue.expire(at(100)), 1);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_delayed_message_leaves_at_its_deadline_or_with_others() {
        let at = LocalTime::from_millis;
        let mut queue = ReliableQueue::new(64, 0, ROOM);
        let push = |queue: &mut ReliableQueue, length: usize, leave_by| {
            queue.push(vec![0; length].into(), None, leave_by).expect("the queue has room");
        };
        let due = |queue: &ReliableQueue, now| queue.min_due_bits(now).is_some();
        let picked = |queue: &ReliableQueue, now, room| {
            let mut picked = Messages::default();
            queue.pick(now, room, &mut picked);
            assert!(crate::wire::measure(&mut picked) <= room.max(1));
            picked.0.iter().map(|message| message.id).collect::<Vec<_>>()
        };
        push(&mut queue, 20, Some(at(100)));
        assert!(!due(&queue, at(99)) && due(&queue, at(100)));
        assert_eq!(queue.deadline(|_| at(7)), Some(at(100)));
        assert_eq!(queue.deadline(|_| at(170)), Some(at(170)));
        assert_eq!(picked(&queue, at(50), ROOM), [0], "any datagram carries a delayed message");
        push(&mut queue, 30, None);
        push(&mut queue, 20, Some(at(90)));
        assert_eq!(picked(&queue, at(50), ROOM), [0, 1, 2]);
        assert_eq!(picked(&queue, at(50), 300), [1], "the message that is due comes first");
        assert_eq!(picked(&queue, at(95), 500), [1, 2]);
        queue.note_carried(
            LocalTime::ZERO,
            Seq(1),
            &mut Messages(vec![Message { id: 1, ..Message::default() }]),
        );
        assert!(!due(&queue, at(50)));
        (0..30).for_each(|_| push(&mut queue, 10, Some(at(1_000))));
        assert!(!due(&queue, at(50)));
        push(&mut queue, 300, Some(at(1_000)));
        assert!(due(&queue, at(50)), "the delayed messages fill a datagram");
        queue.handle_acked(Seq(1), |_| ());
        let mut all = Messages::default();
        queue.pick(at(50), ROOM, &mut all);
        queue.note_carried(LocalTime::ZERO, Seq(2), &mut all);
        queue.handle_lost(Seq(2));
        assert!(due(&queue, at(50)), "a lost message does not wait again");
    }

    /// One message is never acknowledged while newer ones are. In the end the queue refuses new
    /// messages, and the receiver still accepts the old one once.
    #[test]
    fn a_stuck_message_stops_new_ones_before_the_receiver_forgets() {
        let mut queue = queue(256, 1);
        let mut filter = DuplicateFilter::default();
        carry(&mut queue, 0);
        let mut refused = false;
        for number in 1..3_000 {
            refused = queue.push(Bytes::new(), None, None).is_err();
            if refused {
                break;
            }
            let mut picked = pick(&queue, ROOM);
            queue.note_carried(LocalTime::ZERO, Seq(number), &mut picked);
            assert!(picked.0.iter().all(|message| filter.insert(message.id)));
            queue.handle_acked(Seq(number), |_| ());
        }
        assert!(refused, "the window must stop new messages");
        assert_eq!(queue.queue.len(), 1);
        assert!(filter.insert(queue.queue[0].id), "the old message is behind the window");
        assert!(!filter.insert(queue.queue[0].id));
    }
}
