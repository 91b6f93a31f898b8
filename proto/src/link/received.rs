//! What has arrived: which datagrams, and how long the peer has waited to hear of it.
//!
//! Invariant: `earlier` tells the 32 datagrams before `latest`; of older ones nothing is known, and they are refused.

use super::LinkConfig;
use super::format::Ack;
use crate::ids::Seq;
use crate::time::LocalTime;

/// How many datagrams before the latest can still be taken and acknowledged.
pub(super) const EARLIER: i16 = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Freshness {
    Fresh,
    Duplicate,
    TooOld,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    latest: Option<Seq>,
    earlier: u32,
    /// How many datagrams that asked for it have not been acknowledged, and since when the first of them waits.
    unacknowledged: u16,
    waiting_since: LocalTime,
}

impl Received {
    pub(super) fn freshness(&self, seq: Seq) -> Freshness {
        let Some(latest) = self.latest else { return Freshness::Fresh };
        match latest.distance_to(seq) {
            1.. => Freshness::Fresh,
            0 => Freshness::Duplicate,
            ahead if ahead < -EARLIER => Freshness::TooOld,
            ahead if self.earlier >> (-ahead - 1) & 1 == 1 => Freshness::Duplicate,
            _ => Freshness::Fresh,
        }
    }

    /// Notes a fresh datagram.
    pub(super) fn record(&mut self, now: LocalTime, seq: Seq, asks_for_ack: bool) {
        match self.latest.map(|latest| latest.distance_to(seq)) {
            None => self.latest = Some(seq),
            Some(ahead @ 1..) => {
                let with_latest = u64::from(self.earlier) << 1 | 1;
                self.earlier = with_latest.checked_shl(ahead as u32 - 1).unwrap_or(0) as u32;
                self.latest = Some(seq);
            }
            Some(ahead) => self.earlier |= 1 << (-ahead - 1),
        }
        if asks_for_ack {
            if self.unacknowledged == 0 {
                self.waiting_since = now;
            }
            self.unacknowledged = self.unacknowledged.saturating_add(1);
        }
    }

    pub(super) fn ack(&self) -> Option<Ack> {
        self.latest.map(|latest| Ack { latest, earlier: self.earlier })
    }

    /// A datagram has left, and with it [`Received::ack`].
    pub(super) fn note_acknowledged(&mut self) {
        self.unacknowledged = 0;
    }

    /// When an acknowledgement is owed even if nothing else is to be sent.
    pub(super) fn ack_deadline(&self, config: &LinkConfig) -> Option<LocalTime> {
        match self.unacknowledged {
            0 => None,
            waiting if waiting >= config.ack_after => Some(self.waiting_since),
            _ => Some(self.waiting_since + config.ack_delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_received_is_known_for_33_datagrams_as_a_plain_set_knows_it() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut received = Received::default();
            let mut known = BTreeSet::new(); // Numbers that do not wrap.
            let mut head = 65_500_i64; // The wire's numbers are the lowest 16 bits.
            for _ in 0..2_000 {
                let number = head - rng.i64(0..50);
                let latest: i64 = known.last().copied().unwrap_or(number);
                let expected = match () {
                    () if number < latest - 32 => Freshness::TooOld,
                    () if known.contains(&number) => Freshness::Duplicate,
                    () => Freshness::Fresh,
                };
                assert_eq!(received.freshness(Seq(number as u16)), expected, "seed {seed}");
                if expected == Freshness::Fresh {
                    received.record(LocalTime::ZERO, Seq(number as u16), true);
                    known.insert(number);
                }
                let told: Vec<_> = received.ack().expect("something was received").received().collect();
                let latest = *known.last().expect("something was received");
                let due: Vec<_> = known.range(latest - 32..).map(|&number| Seq(number as u16)).collect();
                assert_eq!(told, due, "seed {seed}");
                head += [0, 1, 1, 2, 31, 40][rng.usize(0..6)];
            }
        }
    }

    #[test]
    fn the_number_opposite_the_latest_is_old() {
        let mut received = Received::default();
        received.record(LocalTime::ZERO, Seq(7), true);
        assert_eq!(received.freshness(Seq(7 + 32_767)), Freshness::Fresh);
        assert_eq!(received.freshness(Seq(7 + 32_768)), Freshness::TooOld);
    }

    #[test]
    fn an_acknowledgement_is_due_after_a_while_or_a_number_and_only_if_asked_for() {
        let config = LinkConfig::default();
        let (mut received, start) = (Received::default(), LocalTime::from_millis(10));
        received.record(start, Seq(1), false);
        assert_eq!(received.ack_deadline(&config), None);
        received.record(start, Seq(2), true);
        assert_eq!(received.ack_deadline(&config), Some(start + Duration::from_millis(25)));
        for number in 3..=9 {
            received.record(start + Duration::from_millis(1), Seq(number), true);
        }
        assert_eq!(received.ack_deadline(&config), Some(start));
        received.note_acknowledged();
        assert_eq!(received.ack_deadline(&config), None);
    }
}
