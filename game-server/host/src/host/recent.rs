//! How the newest ticks of a host's rooms went: how much work each was, how late it began.
//!
//! Durations go in, a tick at a time; the median, the 99th percentile and the longest come out.
//! Unlike a histogram's buckets these are exact, and they forget: a bad start is not held against a
//! server that has run well since. Memory: 2 KiB a host. Cost: a lock and a store a tick; a sort a
//! second.

use std::time::Duration;

use parking_lot::Mutex;

use ambit_host_protocol::stats::TickFigures;

/// Ticks that are remembered: 13 s of one room at 20 Hz.
const TICKS: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct RecentTicks {
    ring: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    /// Microseconds of work and of lateness.
    ticks: Vec<(u32, u32)>,
    next: usize,
}

impl RecentTicks {
    pub(crate) fn add(&self, work: Duration, late: Duration) {
        let mut ring = self.ring.lock();
        let tick = (whole_us(work), whole_us(late));
        let next = ring.next;
        match ring.ticks.get_mut(next) {
            Some(oldest) => *oldest = tick,
            None => ring.ticks.push(tick),
        }
        ring.next = (next + 1) % TICKS;
    }

    /// Of work and of lateness.
    pub(crate) fn read(&self) -> (TickFigures, TickFigures) {
        let (mut work, mut late): (Vec<u32>, Vec<u32>) =
            self.ring.lock().ticks.iter().copied().unzip();
        (figures(&mut work), figures(&mut late))
    }
}

fn figures(values: &mut [u32]) -> TickFigures {
    values.sort_unstable();
    let at = |share: f64| {
        let rank = (values.len() as f64 * share).ceil() as usize;
        values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    };
    TickFigures { p50_us: at(0.5), p99_us: at(0.99), max_us: at(1.0) }
}

fn whole_us(time: Duration) -> u32 {
    time.as_micros().try_into().unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_ticks_count() {
        let recent = RecentTicks::default();
        assert_eq!(recent.read(), (TickFigures::default(), TickFigures::default()));
        let ms = Duration::from_millis;
        (0..1_000).for_each(|_| recent.add(ms(900), ms(800)));
        (1..=TICKS as u64).for_each(|n| recent.add(ms(n), Duration::ZERO));
        let (work, late) = recent.read();
        assert_eq!((work.p50_us, work.p99_us, work.max_us), (128_000, 254_000, 256_000));
        assert_eq!(late, TickFigures::default());
    }
}
