//! What has arrived: which datagrams, and how long the peer has waited for an acknowledgement.
//!
//! Invariant: `earlier` covers the 32 datagrams before `latest`; older ones are unknown, and are
//! refused.

use super::LinkConfig;
use super::format::{Ack, ShortNumber};
use crate::time::LocalTime;

/// How many datagrams before the latest can still be received and acknowledged.
pub(super) const ACK_HISTORY: u64 = 32;
/// With more of those missing, a path loses so much that delayed acknowledgements would mostly come
/// too late.
const MANY_GAPS: u32 = 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberStatus {
    Fresh,
    Duplicate,
    TooOld,
}

/// A number, and which of the 32 before it are members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct NumberSet {
    latest: Option<u64>,
    earlier: u32,
}

impl NumberSet {
    /// The newest member, and from the lowest bit up: whether the one 1, 2, ... before it is a
    /// member.
    pub(super) fn newest_and_earlier(&self) -> Option<(u64, u32)> {
        self.latest.map(|latest| (latest, self.earlier))
    }

    /// How many of those before the newest are not members.
    fn missing(&self) -> u32 {
        let before = self.latest.map_or(0, |latest| latest.min(ACK_HISTORY) as u32);
        before.saturating_sub(self.earlier.count_ones())
    }

    pub(super) fn status(&self, number: u64) -> NumberStatus {
        let Some(latest) = self.latest.filter(|&latest| number <= latest) else {
            return NumberStatus::Fresh;
        };
        match latest - number {
            0 => NumberStatus::Duplicate,
            back if back > ACK_HISTORY => NumberStatus::TooOld,
            back if self.earlier >> (back - 1) & 1 == 1 => NumberStatus::Duplicate,
            _ => NumberStatus::Fresh,
        }
    }

    /// Adds a number; one that is too old is ignored.
    pub(super) fn insert(&mut self, number: u64) {
        match self.latest {
            None => self.latest = Some(number),
            Some(latest) if number > latest => {
                let with_latest = u64::from(self.earlier) << 1 | 1;
                let steps = u32::try_from(number - latest - 1).unwrap_or(u32::MAX);
                self.earlier = with_latest.checked_shl(steps).unwrap_or(0) as u32;
                self.latest = Some(number);
            }
            Some(latest) if (1..=ACK_HISTORY).contains(&(latest - number)) => {
                self.earlier |= 1 << (latest - number - 1);
            }
            Some(_) => {}
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReceivedNumbers {
    numbers: NumberSet,
    /// The datagram that was processed last.
    last: Option<u64>,
    /// How many datagrams that asked for it have not been acknowledged, and since when the first of
    /// them waits.
    unacknowledged: u16,
    waiting_since: LocalTime,
    /// Only these may be acknowledged; `None` if all may be.
    limit: Option<NumberSet>,
}

impl ReceivedNumbers {
    pub(super) fn numbers(&self) -> NumberSet {
        self.numbers
    }

    /// From now on acknowledges only `limit`; `None` for everything.
    pub(super) fn set_limit(&mut self, now: LocalTime, limit: Option<NumberSet>) {
        let before = self.acknowledgeable();
        self.limit = limit;
        if self.acknowledgeable() != before {
            (self.unacknowledged, self.waiting_since) = (self.unacknowledged.max(1), now);
        }
    }

    fn acknowledgeable(&self) -> NumberSet {
        self.limit.unwrap_or(self.numbers)
    }

    /// The full number for these lowest bits; `None` for one from before the first.
    pub(super) fn full_number(&self, short_number: ShortNumber) -> Option<u64> {
        self.numbers.latest.map_or(Some(short_number.first()), |latest| short_number.near(latest))
    }

    pub(super) fn status(&self, number: u64) -> NumberStatus {
        self.numbers.status(number)
    }

    pub(super) fn record(&mut self, now: LocalTime, number: u64, asks_for_ack: bool) {
        self.numbers.insert(number);
        self.last = Some(number);
        // Under a limit, nothing new can be acknowledged before the limit changes.
        if asks_for_ack && self.limit.is_none() {
            if self.unacknowledged == 0 {
                self.waiting_since = now;
            }
            self.unacknowledged = self.unacknowledged.saturating_add(1);
        }
    }

    /// See [`super::Link::last_received_number`].
    pub(super) fn last(&self) -> Option<u64> {
        self.last
    }

    pub(super) fn ack(&self) -> Option<Ack> {
        self.acknowledgeable()
            .newest_and_earlier()
            .map(|(latest, earlier)| Ack { latest: ShortNumber::from_number(latest), earlier })
    }

    /// A datagram has left with [`ReceivedNumbers::ack`].
    pub(super) fn note_acknowledged(&mut self) {
        self.unacknowledged = 0;
    }

    /// Whether the peer waits for an acknowledgement.
    pub(super) fn owes_ack(&self) -> bool {
        self.unacknowledged > 0
    }

    /// When an acknowledgement must be sent even if nothing else is to be sent.
    pub(super) fn ack_deadline(&self, config: &LinkConfig) -> Option<LocalTime> {
        match self.unacknowledged {
            0 => None,
            waiting if waiting >= config.ack_after || self.numbers.missing() > MANY_GAPS => {
                Some(self.waiting_since)
            }
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
    fn received_numbers_match_a_plain_set_for_33_datagrams() {
        for seed in 0..20 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut received = ReceivedNumbers::default();
            let mut known = BTreeSet::new();
            let mut head = 16_300_u64; // The wire's numbers are the lowest 14 bits.
            for _ in 0..2_000 {
                let number = head - rng.u64(0..50);
                let latest: u64 = known.last().copied().unwrap_or(number);
                let expected = match () {
                    () if number + 32 < latest => NumberStatus::TooOld,
                    () if known.contains(&number) => NumberStatus::Duplicate,
                    () => NumberStatus::Fresh,
                };
                assert_eq!(
                    received.full_number(ShortNumber::from_number(number)),
                    Some(number),
                    "seed {seed}"
                );
                assert_eq!(received.status(number), expected, "seed {seed}");
                if expected == NumberStatus::Fresh {
                    received.record(LocalTime::ZERO, number, true);
                    known.insert(number);
                    assert_eq!(received.last(), Some(number));
                }
                let (latest, earlier) =
                    received.numbers.newest_and_earlier().expect("something was received");
                let reported: BTreeSet<_> = (0..32)
                    .filter(|bit| earlier >> bit & 1 == 1)
                    .map(|bit| latest - 1 - bit)
                    .collect();
                assert_eq!(Some(&latest), known.last());
                assert_eq!(
                    reported,
                    known.range(latest - 32..latest).copied().collect(),
                    "seed {seed}"
                );
                head += [0, 1, 1, 2, 31, 40][rng.usize(0..6)];
            }
        }
    }

    #[test]
    fn a_number_half_the_range_ahead_is_taken_for_an_old_one() {
        let mut received = ReceivedNumbers::default();
        received.record(LocalTime::ZERO, 20_000, true);
        let seen = |number| {
            received
                .full_number(ShortNumber::from_number(number))
                .map(|number| received.status(number))
        };
        assert_eq!(seen(20_000 + 8_191), Some(NumberStatus::Fresh));
        assert_eq!(seen(20_000 + 8_192), Some(NumberStatus::TooOld));
    }

    #[test]
    fn an_ack_is_due_after_a_delay_or_a_count_and_only_on_request() {
        let config = LinkConfig::default();
        let mut received = ReceivedNumbers::default();
        let start = LocalTime::from_millis(10);
        received.record(start, 1, false);
        assert_eq!(received.ack_deadline(&config), None);
        assert!(!received.owes_ack());
        received.record(start, 2, true);
        assert_eq!(received.ack_deadline(&config), Some(start + Duration::from_millis(25)));
        for number in 3..=9 {
            received.record(start + Duration::from_millis(1), number, true);
        }
        assert_eq!(received.ack_deadline(&config), Some(start));
        assert!(received.owes_ack());
        received.note_acknowledged();
        assert_eq!(received.ack_deadline(&config), None);
    }

    #[test]
    fn an_ack_is_due_at_once_when_many_datagrams_are_missing() {
        let config = LinkConfig::default();
        let start = LocalTime::from_millis(10);
        let due_after = |number| {
            let mut received = ReceivedNumbers::default();
            received.record(start, 0, false);
            received.record(start, number, true);
            received.ack_deadline(&config)
        };
        assert_eq!(due_after(9), Some(start + config.ack_delay));
        assert_eq!(due_after(10), Some(start));
    }

    #[test]
    fn under_a_limit_nothing_else_is_acknowledged() {
        let mut received = ReceivedNumbers::default();
        let start = LocalTime::from_millis(10);
        let later = LocalTime::from_millis(20);
        received.record(start, 1, true);
        let limit = received.numbers();
        received.note_acknowledged();
        received.set_limit(start, Some(limit));
        received.record(start, 2, true);
        assert!(!received.owes_ack());
        let latest = |received: &ReceivedNumbers| received.ack().map(|ack| ack.latest);
        assert_eq!(latest(&received), Some(ShortNumber::from_number(1)));
        received.set_limit(later, None);
        assert_eq!(latest(&received), Some(ShortNumber::from_number(2)));
        let deadline = later + LinkConfig::default().ack_delay;
        assert_eq!(received.ack_deadline(&LinkConfig::default()), Some(deadline));
    }
}
