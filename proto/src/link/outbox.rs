//! Reliable messages that are not known to have arrived.
//!
//! A message is *due* until a datagram carries it, and again when that datagram is lost; it leaves when any datagram that
//! carried it is acknowledged, or when it is due and no longer useful.
//!
//! Invariants:
//! 1. Ids ascend (wrapping), and all are within one [`MESSAGE_WINDOW`]: the receiver tells copies apart by that
//!    ([`super::inbox`]). A message that stays unfinished for very long so stops new ones, not old ones.
//! 2. There are at most `bound` messages. The newest is refused, since the owner alone knows what may be left out.

use std::collections::VecDeque;

use bytes::Bytes;

use super::format::{Message, Messages};
use super::{MAX_MESSAGE, MESSAGE_WINDOW};
use crate::ids::Seq;
use crate::time::LocalTime;

/// Of the datagrams that carried a message, so many are remembered: their acknowledgement finishes it even if they were
/// taken for lost. All within a sender's memory of datagrams, as a due message leaves with the next few of them.
const CARRIERS: usize = 4;

/// The smallest place that a message could need: flag, shortest id, length.
const LEAST_BITS: usize = 1 + 5 + 10;

/// The queue of reliable messages is full, or the oldest of them has been waiting for [`MESSAGE_WINDOW`] newer ones: the
/// peer acknowledges too little.
#[derive(thiserror::Error, Clone, Copy, PartialEq, Eq, Debug)]
#[error("too many reliable messages wait for their acknowledgement")]
pub struct QueueFull;

#[derive(Debug)]
pub(super) struct Outbox {
    queue: VecDeque<Outgoing>,
    bound: usize,
    next: u32,
}

#[derive(Debug)]
struct Outgoing {
    id: u32,
    bytes: Bytes,
    useful_until: LocalTime,
    /// Datagrams that carried it, the latest first; the first `carried` count.
    carriers: [Seq; CARRIERS],
    carried: u8,
    in_flight: bool,
}

impl Outbox {
    pub(super) fn new(bound: usize, first: u32) -> Self {
        Self { queue: VecDeque::new(), bound, next: first }
    }

    pub(super) fn push(&mut self, bytes: Bytes, useful_until: Option<LocalTime>) -> Result<(), QueueFull> {
        assert!(bytes.len() <= MAX_MESSAGE, "a message of {} bytes", bytes.len());
        let span = self.queue.front().map_or(0, |oldest| self.next.wrapping_sub(oldest.id));
        if self.queue.len() >= self.bound || span >= MESSAGE_WINDOW {
            return Err(QueueFull);
        }
        self.queue.push_back(Outgoing {
            id: self.next,
            bytes,
            useful_until: useful_until.unwrap_or(LocalTime::MAX),
            carriers: [Seq::default(); CARRIERS],
            carried: 0,
            in_flight: false,
        });
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    /// Drops what is due and no longer useful, and says how many those were. What is in flight may still arrive.
    pub(super) fn expire(&mut self, now: LocalTime) -> u64 {
        let before = self.queue.len();
        self.queue.retain(|message| message.in_flight || message.useful_until > now);
        (before - self.queue.len()) as u64
    }

    /// Fills `picked` with the oldest due messages that fit into so many bits; one that does not fit makes place for
    /// smaller ones.
    pub(super) fn pick(&self, budget_bits: usize, picked: &mut Messages) {
        picked.0.clear();
        let (mut left, mut previous) = (budget_bits - 1, None); // The flag at the end.
        for due in self.queue.iter().filter(|message| !message.in_flight) {
            if left < LEAST_BITS {
                break;
            }
            let mut message = Message { id: due.id, bytes: due.bytes.clone() };
            let bits = message.bits_after(previous);
            if bits <= left {
                left -= bits;
                previous = Some(due.id);
                picked.0.push(message);
            }
        }
    }

    /// The datagram `seq` leaves with these messages. Returns how many of them were sent before.
    pub(super) fn note_carried(&mut self, seq: Seq, picked: &Messages) -> u64 {
        let mut repeated = 0;
        for message in &picked.0 {
            let outgoing = self.find(message.id).expect("what was picked is in the queue");
            repeated += u64::from(outgoing.carried > 0);
            outgoing.carriers.rotate_right(1);
            outgoing.carriers[0] = seq;
            outgoing.carried = (outgoing.carried + 1).min(CARRIERS as u8);
            outgoing.in_flight = true;
        }
        repeated
    }

    pub(super) fn handle_acked(&mut self, seq: Seq) {
        self.queue.retain(|message| !message.was_in(seq));
    }

    /// What travelled again since is not due, although an earlier copy is lost.
    pub(super) fn handle_lost(&mut self, seq: Seq) {
        for message in self.queue.iter_mut().filter(|message| message.in_flight && message.carriers[0] == seq) {
            message.in_flight = false;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether there is something to send at `now`.
    pub(super) fn has_due(&self, now: LocalTime) -> bool {
        self.queue.iter().any(|message| !message.in_flight && message.useful_until > now)
    }

    /// Whether there is something to send, or to drop.
    pub(super) fn has_any_due(&self) -> bool {
        self.queue.iter().any(|message| !message.in_flight)
    }

    fn find(&mut self, id: u32) -> Option<&mut Outgoing> {
        let first = self.queue.front()?.id;
        let place = self.queue.partition_point(|message| message.id.wrapping_sub(first) < id.wrapping_sub(first));
        self.queue.get_mut(place).filter(|message| message.id == id)
    }
}

impl Outgoing {
    fn was_in(&self, seq: Seq) -> bool {
        self.carriers[..usize::from(self.carried)].contains(&seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::inbox::Inbox;

    const ROOM: usize = 5_000;

    fn outbox(bound: usize, messages: usize) -> Outbox {
        let mut outbox = Outbox::new(bound, u32::MAX - 5);
        (0..messages).for_each(|number| outbox.push(vec![number as u8; 4].into(), None).expect("there is room"));
        outbox
    }

    fn pick(outbox: &Outbox, budget_bits: usize) -> Messages {
        let mut picked = Messages::default();
        outbox.pick(budget_bits, &mut picked);
        picked
    }

    fn carry(outbox: &mut Outbox, seq: u16) -> usize {
        let picked = pick(outbox, ROOM);
        outbox.note_carried(Seq(seq), &picked);
        picked.0.len()
    }

    #[test]
    fn a_message_travels_again_only_when_its_last_carrier_is_lost() {
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
    fn the_oldest_go_first_and_a_large_one_does_not_hold_up_small_ones() {
        let mut outbox = Outbox::new(8, 0);
        for length in [100, 400, 10] {
            outbox.push(vec![0; length].into(), None).expect("there is room");
        }
        let ids: Vec<_> = pick(&outbox, 8 * 150).0.iter().map(|message| message.id).collect();
        assert_eq!(ids, [0, 2]);
    }

    #[test]
    fn what_is_picked_takes_no_more_than_the_budget_and_leaves_no_room_for_another() {
        for budget in 2_200..2_400 {
            let mut picked = pick(&outbox(256, 256), budget);
            let bits = crate::wire::measure(&mut picked);
            assert!(bits <= budget && bits + 1 + 5 + 10 + 32 > budget, "{bits} of {budget}");
        }
    }

    #[test]
    fn a_full_queue_refuses_and_an_acknowledgement_makes_room() {
        let mut outbox = outbox(8, 8);
        assert_eq!(outbox.push(Bytes::new(), None), Err(QueueFull));
        carry(&mut outbox, 1);
        outbox.handle_acked(Seq(1));
        assert_eq!(outbox.push(Bytes::new(), None), Ok(()));
    }

    #[test]
    fn what_is_no_longer_useful_goes_unless_it_is_under_way() {
        let (mut outbox, at) = (Outbox::new(8, 0), LocalTime::from_millis);
        outbox.push(Bytes::from_static(b"a"), Some(at(100))).expect("there is room");
        carry(&mut outbox, 1);
        outbox.push(Bytes::from_static(b"b"), Some(at(100))).expect("there is room");
        assert!(outbox.has_due(at(99)) && !outbox.has_due(at(100)) && outbox.has_any_due());
        assert_eq!(outbox.expire(at(100)), 1);
        outbox.handle_lost(Seq(1));
        assert_eq!(outbox.expire(at(100)), 1);
        assert!(outbox.is_empty());
    }

    /// One message never gets through while thousands of newer ones do: new ones are refused in the end, and whatever
    /// arrives at last, in whatever order, is delivered once.
    #[test]
    fn a_message_that_is_stuck_stops_new_ones_before_the_receiver_forgets() {
        let (mut outbox, mut inbox) = (outbox(256, 1), Inbox::default());
        carry(&mut outbox, 0);
        let mut refused = false;
        for number in 1..3_000 {
            refused = outbox.push(Bytes::new(), None).is_err();
            if refused {
                break;
            }
            let picked = pick(&outbox, ROOM);
            outbox.note_carried(Seq(number), &picked);
            assert!(picked.0.iter().all(|message| inbox.admits(message.id)));
            outbox.handle_acked(Seq(number));
        }
        assert!(refused, "the window has no end");
        assert_eq!(outbox.queue.len(), 1);
        assert!(inbox.admits(outbox.queue[0].id), "the stuck one is behind the window");
        assert!(!inbox.admits(outbox.queue[0].id));
    }
}
