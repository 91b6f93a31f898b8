//! What was sent: when it left, what it carried in rough terms, and what became of it.
//!
//! Invariants:
//! 1. A datagram is in flight, then acknowledged or lost; each of the two transitions away from "in flight" happens once.
//! 2. All datagrams in flight are among the last [`SENT_WINDOW`]`- 1`: there is always a place for the next one.
//! 3. `oldest` is not newer than the oldest one in flight.
//!
//! Cost: a look at those between `oldest` and `next`, usually a few.

use super::SENT_WINDOW;
use super::format::Ack;
use super::received::EARLIER;
use super::rtt::Rtt;
use crate::ids::Seq;
use crate::time::LocalTime;
use crate::wire::WireError;

/// So many newer ones must have arrived before one is thought to be lost rather than overtaken. Source: RFC 9002, 6.1.1.
const OVERTAKERS: usize = 3;

/// What a datagram carried besides acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cargo {
    pub(super) ping: bool,
    pub(super) messages: bool,
    pub(super) body: bool,
}

impl Cargo {
    /// Whether the peer owes an acknowledgement.
    pub(super) fn asks_for_ack(self) -> bool {
        self.ping || self.messages || self.body
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    pub(super) at: LocalTime,
    pub(super) cargo: Cargo,
    ping_open: bool,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Fate {
    #[default]
    InFlight,
    Acked,
    Lost,
}

/// What the acknowledgement of one datagram says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// It has arrived.
    InTime(Packet),
    /// It has arrived, although it was taken for lost.
    AfterLoss(Packet),
    /// That was known, or it is too long ago.
    NothingNew,
}

#[derive(Debug)]
pub(super) struct SentPackets {
    /// Ring of [`SENT_WINDOW`] places, by sequence.
    ring: Box<[Packet]>,
    next: Seq,
    oldest: Seq,
    /// How many were sent, as far as a sequence can look back.
    sent: u16,
}

/// Which datagrams of those still looked at are acknowledged.
#[derive(Clone, Copy)]
struct Acked {
    newest: Option<Seq>,
    /// The one with [`OVERTAKERS`] of them from it on.
    third: Option<Seq>,
}

impl SentPackets {
    pub(super) fn new(first: Seq) -> Self {
        let ring = vec![Packet::default(); SENT_WINDOW.into()].into_boxed_slice();
        Self { ring, next: first, oldest: first, sent: 0 }
    }

    /// The number that the next datagram will have.
    pub(super) fn next(&self) -> Seq {
        self.next
    }

    /// Notes that the next datagram leaves.
    pub(super) fn push(&mut self, now: LocalTime, cargo: Cargo) {
        *self.at_mut(self.next) = Packet { at: now, cargo, ping_open: cargo.ping, fate: Fate::InFlight };
        self.next = self.next.next();
        self.sent = (self.sent + 1).min(i16::MAX.cast_unsigned());
    }

    /// Refuses acknowledgements of datagrams that were never sent.
    pub(super) fn check(&self, ack: Ack) -> Result<(), WireError> {
        let age_of_latest = i32::from(ack.latest.distance_to(self.next));
        let bits = 32 - ack.earlier.leading_zeros();
        if age_of_latest <= 0 || age_of_latest + bits.cast_signed() > i32::from(self.sent) {
            return Err(WireError::OutOfRange { what: "acknowledged sequence" });
        }
        Ok(())
    }

    /// The peer says that it has received `seq`.
    pub(super) fn acknowledge(&mut self, seq: Seq) -> Verdict {
        if !self.remembers(seq) {
            return Verdict::NothingNew;
        }
        let packet = self.at_mut(seq);
        let before = std::mem::replace(&mut packet.fate, Fate::Acked);
        let packet = *packet;
        self.pass_settled();
        match before {
            Fate::InFlight => Verdict::InTime(packet),
            Fate::Lost => Verdict::AfterLoss(packet),
            Fate::Acked => Verdict::NothingNew,
        }
    }

    /// When the ping in `seq` left, if there was one and its first answer is this.
    pub(super) fn take_ping(&mut self, seq: Seq) -> Option<LocalTime> {
        if !self.remembers(seq) {
            return None;
        }
        let packet = self.at_mut(seq);
        std::mem::take(&mut packet.ping_open).then_some(packet.at)
    }

    /// Takes the oldest datagram that is lost by `now` out of flight; and whether only time says so.
    pub(super) fn next_lost(&mut self, now: LocalTime, rtt: &Rtt) -> Option<(Seq, Packet, bool)> {
        let acked = self.acked();
        let (seq, by_timeout) = self.in_flight().find_map(|seq| {
            let overtaken = self.is_out_of_reach(seq, acked) || self.overtaken_at(seq, acked, rtt) <= now;
            let timed_out = self.times_out_at(seq, rtt) <= now;
            (overtaken || timed_out).then_some((seq, !overtaken))
        })?;
        let packet = self.at_mut(seq);
        packet.fate = Fate::Lost;
        let packet = *packet;
        self.pass_settled();
        Some((seq, packet, by_timeout))
    }

    /// When the next datagram in flight will count as lost if nothing is heard of it.
    pub(super) fn loss_deadline(&self, rtt: &Rtt) -> Option<LocalTime> {
        let acked = self.acked();
        let deadlines = self.in_flight().map(|seq| self.times_out_at(seq, rtt).min(self.overtaken_at(seq, acked, rtt)));
        deadlines.min().filter(|&deadline| deadline < LocalTime::MAX)
    }

    /// No acknowledgement can tell of it any more, or its place in the ring is needed.
    fn is_out_of_reach(&self, seq: Seq, acked: Acked) -> bool {
        seq.distance_to(self.next) >= SENT_WINDOW.cast_signed()
            || acked.newest.is_some_and(|newest| seq.distance_to(newest) > EARLIER)
    }

    fn overtaken_at(&self, seq: Seq, acked: Acked, rtt: &Rtt) -> LocalTime {
        let overtaken = acked.third.is_some_and(|third| third.newer_than(seq));
        if overtaken { self.at(seq).at + rtt.overtaken_after() } else { LocalTime::MAX }
    }

    /// One that asks for no acknowledgement may get none, so time says nothing about it.
    fn times_out_at(&self, seq: Seq, rtt: &Rtt) -> LocalTime {
        let packet = self.at(seq);
        if packet.cargo.asks_for_ack() { packet.at + rtt.timeout() } else { LocalTime::MAX }
    }

    fn acked(&self) -> Acked {
        let mut newest_first = self.looked_at().rev().filter(|&seq| self.at(seq).fate == Fate::Acked);
        let newest = newest_first.next();
        Acked { newest, third: newest_first.nth(OVERTAKERS - 2) }
    }

    fn in_flight(&self) -> impl Iterator<Item = Seq> {
        self.looked_at().filter(|&seq| self.at(seq).fate == Fate::InFlight)
    }

    /// From `oldest` on, in the order of sending.
    fn looked_at(&self) -> impl DoubleEndedIterator<Item = Seq> + use<> {
        let oldest = self.oldest.0;
        (0..self.oldest.distance_to(self.next).cast_unsigned()).map(move |steps| Seq(oldest.wrapping_add(steps)))
    }

    /// Moves `oldest` past what is no longer in flight.
    fn pass_settled(&mut self) {
        while self.oldest != self.next && self.at(self.oldest).fate != Fate::InFlight {
            self.oldest = self.oldest.next();
        }
    }

    fn remembers(&self, seq: Seq) -> bool {
        (1..=self.sent.min(SENT_WINDOW).cast_signed()).contains(&seq.distance_to(self.next))
    }

    fn at(&self, seq: Seq) -> &Packet {
        &self.ring[usize::from(seq.0 % SENT_WINDOW)]
    }

    fn at_mut(&mut self, seq: Seq) -> &mut Packet {
        &mut self.ring[usize::from(seq.0 % SENT_WINDOW)]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::link::LinkConfig;

    const BODY: Cargo = Cargo { ping: false, messages: false, body: true };

    /// A sender on a path of 80 ms that has sent `count` datagrams, one a millisecond from 1,000 ms on.
    fn sender(first: u16, count: u64) -> (SentPackets, Rtt) {
        let (mut sent, mut rtt) = (SentPackets::new(Seq(first)), Rtt::new(&LinkConfig::default()));
        (0..100).for_each(|_| rtt.handle_sample(Duration::from_millis(80)));
        (0..count).for_each(|number| sent.push(LocalTime::from_millis(1_000 + number), BODY));
        (sent, rtt)
    }

    fn lost(sent: &mut SentPackets, rtt: &Rtt, now_ms: u64) -> Vec<(u16, bool)> {
        let now = LocalTime::from_millis(now_ms);
        std::iter::from_fn(|| sent.next_lost(now, rtt)).map(|(seq, _, by_timeout)| (seq.0, by_timeout)).collect()
    }

    #[test]
    fn three_newer_ones_and_the_time_to_be_overtaken_make_a_loss() {
        let (mut sent, rtt) = sender(u16::MAX, 5);
        sent.acknowledge(Seq(0));
        sent.acknowledge(Seq(1));
        assert_eq!(lost(&mut sent, &rtt, 1_100), []);
        sent.acknowledge(Seq(2));
        assert_eq!(sent.loss_deadline(&rtt), Some(LocalTime::from_millis(1_100)));
        assert_eq!(lost(&mut sent, &rtt, 1_099), []);
        assert_eq!(lost(&mut sent, &rtt, 1_100), [(u16::MAX, false)]);
        assert_eq!(lost(&mut sent, &rtt, 1_100), []);
    }

    #[test]
    fn silence_makes_a_loss_only_of_what_asked_for_an_answer() {
        let (mut sent, rtt) = sender(0, 1);
        sent.push(LocalTime::from_millis(1_001), Cargo::default());
        assert_eq!(lost(&mut sent, &rtt, 1_104), []);
        assert_eq!(lost(&mut sent, &rtt, 9_000), [(0, true)]);
        assert_eq!(sent.loss_deadline(&rtt), None);
    }

    #[test]
    fn what_no_acknowledgement_can_tell_of_is_lost() {
        let (mut sent, rtt) = sender(0, 50);
        sent.acknowledge(Seq(34));
        assert_eq!(lost(&mut sent, &rtt, 1_050), [(0, false), (1, false)]);
    }

    #[test]
    fn a_full_ring_gives_up_the_oldest_before_its_place_is_needed() {
        let (mut sent, rtt) = sender(65_500, 127);
        assert_eq!(lost(&mut sent, &rtt, 1_010), []);
        sent.push(LocalTime::from_millis(1_010), BODY);
        assert_eq!(lost(&mut sent, &rtt, 1_010), [(65_500, false)]);
    }

    #[test]
    fn an_acknowledgement_counts_once_even_after_the_loss() {
        let (mut sent, rtt) = sender(0, 1);
        assert_eq!(lost(&mut sent, &rtt, 1_500), [(0, true)]);
        assert!(matches!(sent.acknowledge(Seq(0)), Verdict::AfterLoss(_)));
        assert!(matches!(sent.acknowledge(Seq(0)), Verdict::NothingNew));
        assert_eq!(lost(&mut sent, &rtt, 9_000), []);
    }

    #[test]
    fn acknowledgements_of_what_was_never_sent_are_refused() {
        let ack = |latest, earlier| Ack { latest: Seq(latest), earlier };
        let (sent, _) = sender(65_534, 4); // 65534, 65535, 0, 1.
        assert_eq!(sent.check(ack(1, 0b111)), Ok(()));
        assert_eq!(sent.check(ack(65_534, 0)), Ok(()));
        for refused in [ack(2, 0), ack(1, 0b1000), ack(65_534, 1), ack(65_533, 0), ack(1, 1 << 31), ack(30_000, 0)] {
            assert!(sent.check(refused).is_err(), "{refused:?}");
        }
        assert!(SentPackets::new(Seq(7)).check(ack(6, 0)).is_err());
    }

    #[test]
    fn a_ping_has_one_answer() {
        let (mut sent, _) = sender(0, 1);
        sent.push(LocalTime::from_millis(2_000), Cargo { ping: true, ..Cargo::default() });
        assert_eq!(sent.take_ping(Seq(0)), None);
        assert_eq!(sent.take_ping(Seq(9)), None);
        assert_eq!(sent.take_ping(Seq(1)), Some(LocalTime::from_millis(2_000)));
        assert_eq!(sent.take_ping(Seq(1)), None);
    }
}
