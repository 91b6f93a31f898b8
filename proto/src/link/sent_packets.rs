//! The sent datagrams: when each one left, what it contained in rough terms, and its outcome.
//!
//! This is the only table of outcomes. A link fills it; its owner adds a payload to each datagram,
//! reads both here ([`SentPackets::outcome`], [`SentPackets::payload`]), and gets the payload back
//! with the event that reports the outcome.
//!
//! Invariants:
//! 1. A datagram is in flight, then acknowledged or lost; it leaves the state "in flight" once.
//! 2. All datagrams in flight are among the last [`SENT_WINDOW`]`- 1`: there is always a slot for
//!    the next one.
//! 3. `oldest` is not newer than the oldest one in flight.
//!
//! Cost: proportional to the datagrams between `oldest` and `next`, usually a few. Memory: 24 bytes
//! for each of the last 64 datagrams, if the payload has up to 6 bytes. It grows up to
//! [`SENT_WINDOW`] of them only when that many were in flight, or counted as lost, within
//! [`REMEMBER_FOR`].

use std::time::Duration;

use super::chunk::SliceId;
use super::format::{Ack, ShortNumber};
use super::received_numbers::{ACK_HISTORY, NumberSet};
use super::rtt::RttEstimator;
use super::{SENT_WINDOW, seq_of};
use crate::ids::Seq;
use crate::time::LocalTime;
use crate::wire::WireError;

/// How many newer ones must have arrived before one counts as lost rather than overtaken. Source:
/// RFC 9002, 6.1.1.
const REORDER_THRESHOLD: usize = 3;

/// Slots of a new ring: one second at 60 datagrams a second.
const INITIAL_CAPACITY: usize = 64;

/// How long a datagram without an acknowledgement is remembered if there is room: a late
/// acknowledgement avoids resending its contents. As long as the longest time-out.
const REMEMBER_FOR: Duration = Duration::from_secs(2);

/// The outcome of a datagram, as reported to the owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeliveryOutcome {
    /// It is neither acknowledged nor lost yet.
    InFlight,
    /// The peer has acknowledged it.
    Acked,
    /// It counts as lost, even if it was acknowledged later; or it is too old to be known, or was
    /// never sent.
    Lost,
}

/// What a datagram contained besides acknowledgements, and whether the peer is to acknowledge it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PacketContents {
    pub(super) asks_for_ack: bool,
    pub(super) ping: bool,
    pub(super) messages: bool,
    pub(super) slice: Option<SliceId>,
}

/// A sent datagram, with the payload of the link's owner.
#[derive(Clone, Copy, Debug, Default)]
pub struct SentPacket<P> {
    pub(super) sent_at: LocalTime,
    pub(super) contents: PacketContents,
    /// What the budget was charged for it.
    pub(super) bytes: u16,
    pub(super) payload: P,
    awaits_pong: bool,
    state: PacketState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum PacketState {
    #[default]
    InFlight,
    Acked,
    Lost,
    AckedAfterLoss,
}

/// The effect of the acknowledgement of one datagram.
#[derive(Clone, Copy, Debug)]
pub enum AckResult<P> {
    /// It has arrived.
    InTime(SentPacket<P>),
    /// It has arrived, although it counted as lost.
    AfterLoss(SentPacket<P>),
    /// It was acknowledged before, or is too old.
    NothingNew,
}

/// A datagram that counts as lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostPacket<P> {
    pub(super) number: u64,
    pub(super) packet: SentPacket<P>,
    /// Only the time-out indicates the loss.
    pub(super) by_timeout: bool,
}

/// The datagrams that a link has sent lately; see the module.
#[derive(Debug)]
pub struct SentPackets<P> {
    /// By number, modulo its length, which is a power of two.
    ring: Box<[SentPacket<P>]>,
    first: u64,
    next: u64,
    oldest: u64,
    /// Older datagrams had been forgotten when the ring grew.
    known_from: u64,
    /// Those with the outcome [`DeliveryOutcome::Acked`].
    acked: NumberSet,
}

/// The newest acknowledged datagrams, for loss detection.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckMarks {
    newest: Option<u64>,
    /// Together with those after it, [`REORDER_THRESHOLD`] datagrams are acknowledged from this one
    /// on.
    threshold: Option<u64>,
}

impl<P: Copy + Default> SentPackets<P> {
    /// An empty table; the first datagram has this number.
    pub fn new(first: u64) -> Self {
        let ring = vec![SentPacket::default(); INITIAL_CAPACITY].into_boxed_slice();
        Self {
            ring,
            first,
            next: first,
            oldest: first,
            known_from: first,
            acked: NumberSet::default(),
        }
    }

    /// The number of the next datagram. Numbers count on where [`Seq`] wraps around.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of the next datagram, as the events report it.
    pub fn next_seq(&self) -> Seq {
        seq_of(self.next)
    }

    /// The outcome of a datagram; also if its event was dropped because the owner does not poll.
    pub fn outcome(&self, number: u64) -> DeliveryOutcome {
        if !self.remembers(number) {
            return DeliveryOutcome::Lost;
        }
        match self.packet(number).state {
            PacketState::InFlight => DeliveryOutcome::InFlight,
            PacketState::Acked => DeliveryOutcome::Acked,
            PacketState::Lost | PacketState::AckedAfterLoss => DeliveryOutcome::Lost,
        }
    }

    /// When a datagram left that is one of the last 64.
    pub fn sent_at(&self, number: u64) -> LocalTime {
        debug_assert!(self.remembers(number), "{number} is not remembered");
        self.packet(number).sent_at
    }

    /// The payload of a datagram that is one of the last 64.
    pub fn payload(&self, number: u64) -> &P {
        debug_assert!(self.remembers(number), "{number} is not remembered");
        &self.packet(number).payload
    }

    /// The newest datagram with the outcome [`DeliveryOutcome::Acked`].
    pub fn newest_acked(&self) -> Option<u64> {
        self.acked_set().map(|(newest, _)| newest)
    }

    /// Which datagrams the peer is known to have: the newest one with the outcome
    /// [`DeliveryOutcome::Acked`], and from the lowest bit up those 1, 2, ... 32 before it. One
    /// that was reported as lost is never included: its owner has given up its contents.
    pub fn acked_set(&self) -> Option<(u64, u32)> {
        self.acked.newest_and_earlier()
    }

    /// Records that the next datagram leaves.
    pub fn push(&mut self, now: LocalTime, contents: PacketContents, payload: P, bytes: u16) {
        self.grow_if_needed(now);
        *self.packet_mut(self.next) = SentPacket {
            sent_at: now,
            contents,
            bytes,
            payload,
            awaits_pong: contents.ping,
            state: PacketState::InFlight,
        };
        self.next += 1;
    }

    /// The newest number that the peer has received, and the bit set of earlier ones. Refuses
    /// numbers that were never sent.
    pub(super) fn check(&self, ack: Ack) -> Result<(u64, u32), WireError> {
        let latest = ack.latest.before(self.next).filter(|latest| {
            let bits = u64::from(32 - ack.earlier.leading_zeros());
            *latest >= self.first + bits
        });
        latest
            .map(|latest| (latest, ack.earlier))
            .ok_or(WireError::OutOfRange { what: "acknowledged number" })
    }

    /// The peer has received that datagram.
    pub fn acknowledge(&mut self, number: u64) -> AckResult<P> {
        if !self.remembers(number) {
            return AckResult::NothingNew;
        }
        let packet = self.packet_mut(number);
        match packet.state {
            PacketState::InFlight => {
                packet.state = PacketState::Acked;
                let packet = *packet;
                self.acked.insert(number);
                self.advance_oldest();
                AckResult::InTime(packet)
            }
            PacketState::Lost => {
                packet.state = PacketState::AckedAfterLoss;
                AckResult::AfterLoss(*packet)
            }
            PacketState::Acked | PacketState::AckedAfterLoss => AckResult::NothingNew,
        }
    }

    /// A datagram in flight counts as lost from now on.
    pub fn mark_lost(&mut self, number: u64) -> SentPacket<P> {
        debug_assert_eq!(self.outcome(number), DeliveryOutcome::InFlight, "{number}");
        let packet = self.packet_mut(number);
        packet.state = PacketState::Lost;
        let packet = *packet;
        self.advance_oldest();
        packet
    }

    /// When the ping in that datagram left, if it had one and this is the first answer.
    pub(super) fn take_ping(&mut self, short_number: ShortNumber) -> Option<LocalTime> {
        let number = short_number.before(self.next).filter(|&number| self.remembers(number))?;
        let packet = self.packet_mut(number);
        std::mem::take(&mut packet.awaits_pong).then_some(packet.sent_at)
    }

    /// The marks for a loop over [`SentPackets::next_lost`], during which nothing is acknowledged.
    pub(super) fn marks(&self) -> AckMarks {
        let mut newest_first = (self.oldest..self.next)
            .rev()
            .filter(|&number| self.packet(number).state.has_arrived());
        let newest = newest_first.next();
        AckMarks { newest, threshold: newest_first.nth(REORDER_THRESHOLD - 2) }
    }

    /// Finds the oldest datagram from `from` on that is lost by `now`, and marks it as lost.
    pub(super) fn next_lost(
        &mut self,
        now: LocalTime,
        rtt: &RttEstimator,
        marks: AckMarks,
        from: u64,
    ) -> Option<LostPacket<P>> {
        let (number, by_timeout) = self.in_flight(from).find_map(|number| {
            let overtaken = self.is_beyond_acknowledgement(number, marks)
                || self.overtaken_at(number, marks, rtt) <= now;
            let timed_out = self.times_out_at(number, rtt) <= now;
            (overtaken || timed_out).then_some((number, !overtaken))
        })?;
        Some(LostPacket { number, packet: self.mark_lost(number), by_timeout })
    }

    /// When the next datagram in flight will count as lost without an acknowledgement.
    pub(super) fn loss_deadline(&self, rtt: &RttEstimator) -> Option<LocalTime> {
        let marks = self.marks();
        let deadline =
            |number| self.times_out_at(number, rtt).min(self.overtaken_at(number, marks, rtt));
        self.in_flight(self.oldest)
            .map(deadline)
            .min()
            .filter(|&deadline| deadline < LocalTime::MAX)
    }

    /// No acknowledgement can include it any more, or its slot in the ring is needed.
    fn is_beyond_acknowledgement(&self, number: u64, marks: AckMarks) -> bool {
        self.next - number >= SENT_WINDOW as u64
            || marks.newest.is_some_and(|newest| newest > number + ACK_HISTORY)
    }

    fn overtaken_at(&self, number: u64, marks: AckMarks, rtt: &RttEstimator) -> LocalTime {
        let overtaken = marks.threshold.is_some_and(|third| third > number);
        if overtaken { self.packet(number).sent_at + rtt.reorder_timeout() } else { LocalTime::MAX }
    }

    /// A datagram that asks for no acknowledgement may get none, so it never times out.
    fn times_out_at(&self, number: u64, rtt: &RttEstimator) -> LocalTime {
        let packet = self.packet(number);
        if packet.contents.asks_for_ack { packet.sent_at + rtt.timeout() } else { LocalTime::MAX }
    }

    /// From `from` on, in the order of sending.
    fn in_flight(&self, from: u64) -> impl Iterator<Item = u64> {
        (self.oldest.max(from)..self.next)
            .filter(|&number| self.packet(number).state == PacketState::InFlight)
    }

    /// Moves `oldest` past datagrams that are no longer in flight.
    fn advance_oldest(&mut self) {
        while self.oldest != self.next && self.packet(self.oldest).state != PacketState::InFlight {
            self.oldest += 1;
        }
    }

    /// Doubles the ring when the slot of the next datagram holds one whose acknowledgement may
    /// still arrive.
    fn grow_if_needed(&mut self, now: LocalTime) {
        let places = self.ring.len();
        let Some(before) =
            self.next.checked_sub(places as u64).filter(|&before| before >= self.known_from)
        else {
            return;
        };
        let packet = self.packet(before);
        let waits = packet.state == PacketState::InFlight
            || packet.state == PacketState::Lost && now.since(packet.sent_at) < REMEMBER_FOR;
        if !waits || places >= SENT_WINDOW {
            return;
        }
        let mut ring = vec![SentPacket::default(); 2 * places].into_boxed_slice();
        (before..self.next)
            .for_each(|number| ring[number as usize % (2 * places)] = *self.packet(number));
        self.ring = ring;
        self.known_from = before;
    }

    fn remembers(&self, number: u64) -> bool {
        (self.known_from..self.next).contains(&number)
            && self.next - number <= self.ring.len() as u64
    }

    fn packet(&self, number: u64) -> &SentPacket<P> {
        &self.ring[number as usize & (self.ring.len() - 1)]
    }

    fn packet_mut(&mut self, number: u64) -> &mut SentPacket<P> {
        &mut self.ring[number as usize & (self.ring.len() - 1)]
    }
}

impl PacketState {
    fn has_arrived(self) -> bool {
        matches!(self, PacketState::Acked | PacketState::AckedAfterLoss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkConfig;

    const BODY: PacketContents =
        PacketContents { asks_for_ack: true, ping: false, messages: false, slice: None };

    /// A sender on a path of 80 ms that has sent `count` datagrams, one a millisecond from 1,000 ms
    /// on.
    fn sender(first: u64, count: u64) -> (SentPackets<()>, RttEstimator) {
        let (mut sent, mut rtt) =
            (SentPackets::new(first), RttEstimator::new(&LinkConfig::default()));
        (0..100).for_each(|_| rtt.handle_sample(Duration::from_millis(80)));
        (0..count)
            .for_each(|number| sent.push(LocalTime::from_millis(1_000 + number), BODY, (), 100));
        (sent, rtt)
    }

    fn lost(sent: &mut SentPackets<()>, rtt: &RttEstimator, now_ms: u64) -> Vec<(u64, bool)> {
        let now = LocalTime::from_millis(now_ms);
        let marks = sent.marks();
        let losses = std::iter::from_fn(|| sent.next_lost(now, rtt, marks, 0));
        losses.map(|loss| (loss.number, loss.by_timeout)).collect()
    }

    #[test]
    fn three_newer_acks_and_the_reorder_timeout_make_a_loss() {
        let (mut sent, rtt) = sender(65_535, 5);
        sent.acknowledge(65_536);
        sent.acknowledge(65_537);
        assert_eq!(lost(&mut sent, &rtt, 1_100), []);
        sent.acknowledge(65_538);
        assert_eq!(sent.loss_deadline(&rtt), Some(LocalTime::from_millis(1_100)));
        assert_eq!(lost(&mut sent, &rtt, 1_099), []);
        assert_eq!(lost(&mut sent, &rtt, 1_100), [(65_535, false)]);
        assert_eq!(lost(&mut sent, &rtt, 1_100), []);
    }

    #[test]
    fn a_timeout_applies_only_to_packets_that_asked_for_an_ack() {
        let (mut sent, rtt) = sender(0, 1);
        sent.push(LocalTime::from_millis(1_001), PacketContents::default(), (), 100);
        assert_eq!(lost(&mut sent, &rtt, 1_104), []);
        assert_eq!(lost(&mut sent, &rtt, 9_000), [(0, true)]);
        assert_eq!(sent.loss_deadline(&rtt), None);
    }

    #[test]
    fn a_packet_beyond_the_range_of_acks_is_lost() {
        let (mut sent, rtt) = sender(0, 50);
        sent.acknowledge(34);
        assert_eq!(lost(&mut sent, &rtt, 1_050), [(0, false), (1, false)]);
    }

    #[test]
    fn a_full_window_gives_up_the_oldest_before_its_slot_is_reused() {
        let (mut sent, rtt) = sender(65_500, 511);
        assert_eq!(lost(&mut sent, &rtt, 1_010), []);
        sent.push(LocalTime::from_millis(1_010), BODY, (), 100);
        assert_eq!(lost(&mut sent, &rtt, 1_010), [(65_500, false)]);
        // The slot is needed, although an acknowledgement could still come.
        sent.push(LocalTime::from_millis(1_010), BODY, (), 100);
        assert_eq!(lost(&mut sent, &rtt, 1_010), [(65_501, false)]);
        assert_eq!(sent.ring.len(), 512);
        assert!(matches!(sent.acknowledge(65_500), AckResult::NothingNew));
    }

    #[test]
    fn a_lost_packet_is_remembered_for_two_seconds_if_its_slot_is_needed() {
        for (now_ms, is_remembered) in [(2_999, true), (3_000, false)] {
            let (mut sent, _) = sender(0, INITIAL_CAPACITY as u64);
            sent.mark_lost(0);
            sent.push(LocalTime::from_millis(now_ms), BODY, (), 100);
            let late = sent.acknowledge(0);
            assert_eq!(matches!(late, AckResult::AfterLoss(_)), is_remembered);
            let has_grown = sent.ring.len() > INITIAL_CAPACITY;
            assert_eq!(has_grown, is_remembered, "{now_ms}");
        }
    }

    #[test]
    fn the_ring_grows_only_with_packets_in_flight() {
        let (mut sent, _) = sender(16_000, 0);
        for number in 16_000..18_000 {
            sent.push(LocalTime::from_millis(number), BODY, (), 100);
            sent.acknowledge(number.saturating_sub(20).max(16_000));
        }
        assert_eq!(sent.ring.len(), INITIAL_CAPACITY);
        for number in 18_000..18_300 {
            sent.push(LocalTime::from_millis(number), BODY, (), 100);
        }
        assert_eq!(sent.ring.len(), 512);
        assert!(matches!(sent.acknowledge(17_800), AckResult::NothingNew));
        let left_at = LocalTime::from_millis(18_000);
        assert!(matches!(
            sent.acknowledge(18_000),
            AckResult::InTime(packet) if packet.sent_at == left_at
        ));
    }

    #[test]
    fn an_acknowledgement_counts_once_even_after_the_loss() {
        let (mut sent, rtt) = sender(0, 1);
        assert_eq!(lost(&mut sent, &rtt, 1_500), [(0, true)]);
        assert!(matches!(sent.acknowledge(0), AckResult::AfterLoss(_)));
        assert!(matches!(sent.acknowledge(0), AckResult::NothingNew));
        assert_eq!(lost(&mut sent, &rtt, 9_000), []);
    }

    #[test]
    fn acknowledgements_of_numbers_never_sent_are_refused() {
        let ack = |latest, earlier| Ack { latest: ShortNumber::from_number(latest), earlier };
        let (sent, _) = sender(16_382, 4); // On the wire: 16382, 16383, 0, 1.
        assert_eq!(sent.check(ack(16_385, 0b111)), Ok((16_385, 0b111)));
        assert_eq!(sent.check(ack(16_382, 0)), Ok((16_382, 0)));
        for refused in [
            ack(2, 0),
            ack(1, 0b1000),
            ack(16_382, 1),
            ack(16_381, 0),
            ack(1, 1 << 31),
            ack(8_000, 0),
        ] {
            assert!(sent.check(refused).is_err(), "{refused:?}");
        }
        assert!(SentPackets::<()>::new(7).check(ack(6, 0)).is_err());
    }

    #[test]
    fn numbers_continue_where_sequences_wrap() {
        let (sent, _) = sender(65_530, 10);
        assert_eq!((sent.next(), sent.next_seq()), (65_540, Seq(4)));
    }

    #[test]
    fn an_ack_after_the_loss_does_not_change_the_outcome() {
        let (mut sent, _) = sender(0, 3);
        sent.mark_lost(0);
        sent.acknowledge(0);
        sent.acknowledge(1);
        assert_eq!(
            [0, 1, 2, 3].map(|number| sent.outcome(number)),
            [
                DeliveryOutcome::Lost,
                DeliveryOutcome::Acked,
                DeliveryOutcome::InFlight,
                DeliveryOutcome::Lost
            ]
        );
        assert_eq!(sent.acked_set(), Some((1, 0)));
        assert_eq!(sent.newest_acked(), Some(1));
    }

    #[test]
    fn a_ping_has_one_answer() {
        let (mut sent, _) = sender(0, 1);
        sent.push(LocalTime::from_millis(2_000), PacketContents { ping: true, ..BODY }, (), 100);
        assert_eq!(sent.take_ping(ShortNumber::from_number(0)), None);
        assert_eq!(sent.take_ping(ShortNumber::from_number(9)), None);
        assert_eq!(
            sent.take_ping(ShortNumber::from_number(1)),
            Some(LocalTime::from_millis(2_000))
        );
        assert_eq!(sent.take_ping(ShortNumber::from_number(1)), None);
    }
}
