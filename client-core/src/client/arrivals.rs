//! What arriving datagrams say about the path: how many are lost, and how unevenly they arrive.
//!
//! The numbers of fresh datagrams, and the stamps of those that have one, go in. No clock.

use std::time::Duration;

use ambit_proto::time::{GameTime, LocalTime};

/// The datagrams of one game connection.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// The lowest and the highest number.
    numbers: Option<(u64, u64)>,
    received: u64,
    /// Arrival and stamp of the datagram before.
    before: Option<(LocalTime, GameTime)>,
    jitter_us: f64,
}

impl Arrivals {
    /// A datagram with this number has arrived, for the first time.
    pub(super) fn handle_number(&mut self, number: u64) {
        let (first, last) = self.numbers.unwrap_or((number, number));
        self.numbers = Some((first.min(number), last.max(number)));
        self.received += 1;
    }

    /// A datagram with this stamp has arrived. Source of the mean: RFC 3550, section 6.4.1.
    pub(super) fn handle_stamp(&mut self, now: LocalTime, stamp: GameTime) {
        if let Some((arrived, stamped)) = self.before.replace((now, stamp)) {
            let between = |late: u64, early: u64| late.wrapping_sub(early).cast_signed();
            let waited = between(now.micros(), arrived.micros());
            let deviation = waited.abs_diff(between(stamp.micros(), stamped.micros()));
            self.jitter_us += (deviation as f64 - self.jitter_us) / 16.0;
        }
    }

    /// How many are missing: the host numbers its datagrams one after the other.
    pub(super) fn lost(&self) -> u64 {
        self.numbers.map_or(0, |(first, last)| last - first + 1 - self.received)
    }

    /// The mean deviation of the time between two arrivals from the time between their stamps.
    pub(super) fn jitter(&self) -> Duration {
        Duration::from_micros(self.jitter_us as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_numbers_are_lost_until_they_come_late() {
        let mut arrivals = Arrivals::default();
        assert_eq!(arrivals.lost(), 0);
        for number in [7, 8, 11] {
            arrivals.handle_number(number);
        }
        assert_eq!(arrivals.lost(), 2);
        arrivals.handle_number(9);
        assert_eq!(arrivals.lost(), 1);
        // One that was sent before the first.
        arrivals.handle_number(6);
        assert_eq!(arrivals.lost(), 1);
    }

    #[test]
    fn jitter_is_the_deviation_of_arrivals_and_pauses_are_none() {
        let mut arrivals = Arrivals::default();
        let mut handle = |arrived_ms, stamp_ms| {
            let stamp = GameTime::ZERO + Duration::from_millis(stamp_ms);
            arrivals.handle_stamp(LocalTime::from_millis(arrived_ms), stamp);
            arrivals.jitter().as_millis()
        };
        assert_eq!(handle(1_000, 50), 0);
        assert_eq!(handle(1_050, 100), 0);
        assert_eq!(handle(9_050, 8_100), 0);
        // From here on each other datagram takes 10 ms longer.
        let last =
            (1..200).map(|tick| handle(9_050 + 50 * tick + 10 * (tick % 2), 8_100 + 50 * tick));
        assert_eq!(last.last(), Some(9));
    }
}
