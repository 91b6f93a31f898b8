//! A client's estimate of the room's clock.
//!
//! Input: answered pings ([`crate::link::LinkEvent::Pong`]). Output: the room time at any local
//! time.
//!
//! A ping arrives after it left, so the difference of its two timestamps is an upper bound of the
//! offset between the room's clock and the local one. The answer gives a lower bound in the same
//! way. Each bound is tighter the shorter the one-way delay was. The estimate uses the tightest
//! upper and the tightest lower bound of the last ten seconds, widened by the possible drift since:
//! a minimum-delay filter for each direction. It is the middle of the two bounds, but at most
//! [`MAX_ONE_WAY_DELAY`] above the lower one: an answer that was lost and repeated carries little
//! information, and a clock that is ahead can only be slowed down, while one that is behind may
//! jump forward as long as there is no better sample. The readable clock approaches the estimate by
//! running at most [`MAX_SLEW`] too fast or too slow, so that nothing on a screen jumps.
//!
//! Invariants, if the times of the calls do not decrease:
//! 1. A reading is never before an earlier reading.
//! 2. Between two samples the clock runs at 0.95 to 1.05 times the local clock. It jumps forward
//!    only at the samples up to the first with a short round trip, and when it is behind by more
//!    than [`MAX_SLEWED_ERROR`].
//! 3. Readings and memory stay bounded for any samples. If the newest sample contradicts the
//!    others, the room's clock has jumped and only the newest sample counts.
//!
//! Units: microseconds inside. Cost: a pong scans 16 samples, a reading is a few additions. Source:
//! RFC 5905, section 8, for the timestamps; section 11.2.1, for the intersection of bounds instead
//! of a mean.

use std::time::Duration;

use crate::time::{GameTime, LocalTime};

/// The highest relative error of the clock's rate while it is corrected. A change of 5 % in walking
/// speed is not visible.
pub const MAX_SLEW: f64 = 0.05;

/// Above this error a jump is better than slewing, which would take more than ten seconds at
/// [`MAX_SLEW`].
pub const MAX_SLEWED_ERROR: Duration = Duration::from_millis(500);

/// The longest one-way delay from the peer that is assumed before a short round trip proves it.
pub const MAX_ONE_WAY_DELAY: Duration = Duration::from_millis(150);

/// Older samples say more about the drift between the two clocks than about their offset.
const SAMPLE_WINDOW: Duration = Duration::from_secs(10);

/// Ten seconds at one ping a second, and some of the faster pings at the beginning.
const MAX_SAMPLES: usize = 16;

/// How far two clocks may drift apart per elapsed time: 100 ppm for each quartz, and more for
/// virtual machines.
const MAX_DRIFT: f64 = 250e-6;

/// How far samples may contradict each other and still count: timestamps are rounded, and
/// schedulers interrupt.
const TIMESTAMP_ERROR_US: i64 = 2_000;

/// Estimates the room's clock from answered pings; see the module.
#[derive(Clone, Debug, Default)]
pub struct ClockEstimate {
    /// Ring; `None` where nothing was measured yet.
    samples: [Option<OffsetSample>; MAX_SAMPLES],
    next: usize,
    /// The intersection of the samples' bounds at the newest sample; `None` before the first.
    bounds: Option<OffsetBounds>,
    reading: SlewedClock,
}

#[derive(Clone, Copy, Debug)]
struct OffsetSample {
    bounds: OffsetBounds,
    arrived: LocalTime,
}

/// Bounds of the offset of the room's clock from the local one, in microseconds.
#[derive(Clone, Copy, Debug)]
struct OffsetBounds {
    min_us: i64,
    max_us: i64,
}

/// What was known before a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PriorEstimate {
    Absent,
    /// No round trip was short yet.
    Uncertain,
    Certain,
}

/// The readable clock: it showed `shown_us` at `set_at`, and has corrected `behind_us` since then.
#[derive(Clone, Copy, Debug, Default)]
struct SlewedClock {
    set_at: LocalTime,
    shown_us: i64,
    /// How much the clock has to gain; negative: to lose.
    behind_us: i64,
}

impl ClockEstimate {
    pub fn new() -> Self {
        Self::default()
    }

    /// Handles the answer to a ping. The ping left at `sent` and its answer arrived at `arrived`,
    /// both on the local clock; the peer's timestamps are microseconds of room time. An answer that
    /// contradicts itself is ignored.
    pub fn handle_pong(
        &mut self,
        sent: LocalTime,
        received_by_peer_us: u64,
        sent_by_peer_us: u64,
        arrived: LocalTime,
    ) {
        let Some(bounds) =
            OffsetBounds::from_pong(sent, received_by_peer_us, sent_by_peer_us, arrived)
        else {
            return;
        };
        let before = match self.bounds {
            None => PriorEstimate::Absent,
            Some(bounds) if bounds.is_uncertain() => PriorEstimate::Uncertain,
            Some(_) => PriorEstimate::Certain,
        };
        let allowed =
            self.offset_bounds(arrived).map_or(bounds, |others| others.intersection(bounds));
        if allowed.is_contradiction() {
            self.samples = [None; MAX_SAMPLES];
        }
        self.samples[self.next] = Some(OffsetSample { bounds, arrived });
        self.next = (self.next + 1) % MAX_SAMPLES;
        let allowed = if allowed.is_contradiction() { bounds } else { allowed };
        self.bounds = Some(allowed);
        self.reading.slew_towards(
            arrived,
            local_us(arrived).saturating_add(allowed.estimate()),
            before,
        );
    }

    /// The room's time at the local time `now`; zero before the first sample.
    pub fn room_time(&self, now: LocalTime) -> GameTime {
        if self.bounds.is_none() {
            return GameTime::ZERO;
        }
        GameTime::from_micros(self.reading.at(now).max(0).cast_unsigned())
    }

    /// The shortest round trip, without the time that the peer held the ping; zero before the first
    /// sample.
    pub fn rtt(&self) -> Duration {
        self.bounds.map_or(Duration::ZERO, |bounds| {
            Duration::from_micros(bounds.width_us().max(0).cast_unsigned())
        })
    }

    /// How far the estimate may be off if the two one-way delays differ: half of [`Self::rtt`]. The
    /// reading may differ from the estimate for a while longer; see [`Self::behind_us`].
    pub fn uncertainty(&self) -> Duration {
        self.rtt() / 2
    }

    /// How far the reading at `now` is behind the estimate, in microseconds; negative: ahead of it.
    pub fn behind_us(&self, now: LocalTime) -> i64 {
        let estimate = self.bounds.map(|bounds| local_us(now).saturating_add(bounds.estimate()));
        estimate.map_or(0, |estimate_us| estimate_us.saturating_sub(self.reading.at(now)))
    }

    /// The intersection of the bounds of all samples in the window, at `now`.
    fn offset_bounds(&self, now: LocalTime) -> Option<OffsetBounds> {
        let recent = self
            .samples
            .iter()
            .flatten()
            .filter(|sample| now.since(sample.arrived) <= SAMPLE_WINDOW);
        recent.map(|sample| sample.bounds_at(now)).reduce(OffsetBounds::intersection)
    }
}

impl OffsetSample {
    /// The sample's bounds at `now`, widened by the possible drift since the sample.
    fn bounds_at(&self, now: LocalTime) -> OffsetBounds {
        let drift_us = share_of(now.since(self.arrived), MAX_DRIFT);
        OffsetBounds {
            min_us: self.bounds.min_us.saturating_sub(drift_us),
            max_us: self.bounds.max_us.saturating_add(drift_us),
        }
    }
}

impl OffsetBounds {
    /// `None` if the peer claims to have held the ping for a negative time or for longer than the
    /// whole round trip, or if a timestamp is out of range.
    fn from_pong(
        sent: LocalTime,
        received_us: u64,
        answered_us: u64,
        arrived: LocalTime,
    ) -> Option<Self> {
        let stamp =
            |micros: u64| i64::try_from(micros).ok().filter(|&micros| micros <= i64::MAX / 4);
        let sent = stamp(sent.micros())?;
        let arrived = stamp(arrived.micros())?;
        let received = stamp(received_us)?;
        let answered = stamp(answered_us)?;
        let bounds = Self { min_us: answered - arrived, max_us: received - sent };
        (received <= answered && bounds.min_us <= bounds.max_us).then_some(bounds)
    }

    fn intersection(self, other: Self) -> Self {
        Self { min_us: self.min_us.max(other.min_us), max_us: self.max_us.min(other.max_us) }
    }

    fn is_contradiction(self) -> bool {
        self.width_us() < -TIMESTAMP_ERROR_US
    }

    fn width_us(self) -> i64 {
        self.max_us.saturating_sub(self.min_us)
    }

    /// The middle of the bounds, but at most [`MAX_ONE_WAY_DELAY`] above the lower one.
    fn estimate(self) -> i64 {
        self.min_us.midpoint(self.max_us).min(self.min_us.saturating_add(micros(MAX_ONE_WAY_DELAY)))
    }

    fn is_uncertain(self) -> bool {
        self.width_us() > 2 * micros(MAX_ONE_WAY_DELAY)
    }
}

impl SlewedClock {
    fn at(&self, now: LocalTime) -> i64 {
        let elapsed = now.since(self.set_at);
        let gained_us = share_of(elapsed, MAX_SLEW).min(self.behind_us.saturating_abs())
            * self.behind_us.signum();
        self.shown_us.saturating_add(micros(elapsed)).saturating_add(gained_us)
    }

    /// Starts to correct the difference to `estimate_us`, the room's time at `now`.
    fn slew_towards(&mut self, now: LocalTime, estimate_us: i64, before: PriorEstimate) {
        let shown_us = self.at(now);
        let behind_us = estimate_us.saturating_sub(shown_us);
        let at_once = match before {
            PriorEstimate::Absent => true,
            PriorEstimate::Uncertain => behind_us > 0,
            PriorEstimate::Certain => false,
        };
        *self = if at_once || behind_us > micros(MAX_SLEWED_ERROR) {
            Self { set_at: now, shown_us: estimate_us, behind_us: 0 }
        } else {
            Self { set_at: now, shown_us, behind_us }
        };
    }
}

fn local_us(time: LocalTime) -> i64 {
    i64::try_from(time.micros()).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// `rate` of a duration, in whole microseconds. A float of 53 bits is exact for any duration of a
/// room.
fn share_of(duration: Duration, rate: f64) -> i64 {
    (micros(duration) as f64 * rate) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room's clock and the path to it, in harness time. The local clock is the harness'.
    struct SimulatedRoom {
        rng: fastrand::Rng,
        ahead_us: i64,
        /// How much faster it runs, in parts per million.
        drift_ppm: i64,
        /// Forward and return delay.
        delay_us: [u64; 2],
        jitter_us: u64,
    }

    impl SimulatedRoom {
        fn new(seed: u64) -> Self {
            let rng = fastrand::Rng::with_seed(seed);
            Self { rng, ahead_us: 77_000_000, drift_ppm: 0, delay_us: [30_000; 2], jitter_us: 0 }
        }

        fn time_us(&self, now_us: u64) -> u64 {
            (now_us as i64 + self.ahead_us + now_us as i64 * self.drift_ppm / 1_000_000) as u64
        }

        /// Sends a ping at `now_us`, holds it for up to a tick and returns the time at which the
        /// answer was handled.
        fn ping(&mut self, clock: &mut ClockEstimate, now_us: u64) -> u64 {
            let [there, back] = self.delay_us.map(|delay| delay + self.rng.u64(0..=self.jitter_us));
            let held = self.rng.u64(0..50_000);
            let (received, answered) =
                (self.time_us(now_us + there), self.time_us(now_us + there + held));
            let arrived_us = now_us + there + held + back;
            clock.handle_pong(at(now_us), received, answered, at(arrived_us));
            arrived_us
        }

        /// How far the clock is ahead of the room, in microseconds.
        fn error_us(&self, clock: &ClockEstimate, now_us: u64) -> i64 {
            clock.room_time(at(now_us)).micros() as i64 - self.time_us(now_us) as i64
        }
    }

    fn at(micros: u64) -> LocalTime {
        LocalTime::from_micros(micros)
    }

    /// Pings ten times quickly, then each second. After each ping from `settled_s` on, checks that
    /// the error is below a bound.
    fn check(mut room: SimulatedRoom, seconds: u64, settled_s: u64, bound_us: i64) {
        let mut clock = ClockEstimate::new();
        let pings =
            (0..10).map(|ping| ping * 100_000).chain((1..seconds).map(|second| second * 1_000_000));
        for sent_us in pings {
            let now_us = room.ping(&mut clock, sent_us);
            let error_us = room.error_us(&clock, now_us);
            assert!(
                now_us < settled_s * 1_000_000 || error_us.abs() <= bound_us,
                "{error_us} us at {now_us} us"
            );
        }
    }

    #[test]
    fn a_slow_first_answer_does_not_put_the_clock_ahead() {
        let mut clock = ClockEstimate::new();
        // The room's clock shows the local time. The ping took 1.2 s to the room, its answer 30 ms.
        let at = LocalTime::from_millis;
        clock.handle_pong(at(1_000), 2_200_000, 2_200_000, at(2_230));
        let first = clock.room_time(at(2_230)).millis();
        assert!((2_200..=2_380).contains(&first), "{first}");
        // A later ping has a short round trip: the clock is right within moments.
        clock.handle_pong(at(2_300), 2_330_000, 2_330_000, at(2_360));
        let later = clock.room_time(at(5_000)).millis();
        assert!((4_995..=5_010).contains(&later), "{later}");
    }

    #[test]
    fn a_first_answer_with_a_slow_return_path_is_corrected_at_once() {
        let mut clock = ClockEstimate::new();
        let at = LocalTime::from_millis;
        clock.handle_pong(at(1_000), 1_030_000, 1_030_000, at(2_230));
        clock.handle_pong(at(2_300), 2_330_000, 2_330_000, at(2_360));
        let now = clock.room_time(at(2_360)).millis();
        assert!((2_355..=2_361).contains(&now), "{now}");
    }

    #[test]
    fn the_first_sample_sets_the_clock() {
        let mut room = SimulatedRoom::new(1);
        let mut clock = ClockEstimate::new();
        assert!(clock.bounds.is_none());
        assert_eq!(clock.room_time(at(5_000_000)), GameTime::ZERO);
        let now_us = room.ping(&mut clock, 1_000_000);
        assert!(clock.bounds.is_some());
        assert_eq!(room.error_us(&clock, now_us), 0);
        assert_eq!(room.error_us(&clock, now_us + 3_000_000), 0);
        assert_eq!(
            (clock.rtt(), clock.uncertainty()),
            (Duration::from_millis(60), Duration::from_millis(30))
        );
    }

    #[test]
    fn jitter_hardly_affects_the_reading() {
        for seed in 0..50 {
            check(SimulatedRoom { jitter_us: 40_000, ..SimulatedRoom::new(seed) }, 60, 5, 10_000);
        }
    }

    #[test]
    fn unequal_delays_shift_the_clock_by_half_their_difference() {
        check(SimulatedRoom { delay_us: [20_000, 80_000], ..SimulatedRoom::new(1) }, 60, 0, 30_000);
        let mut room = SimulatedRoom { delay_us: [20_000, 80_000], ..SimulatedRoom::new(1) };
        let mut clock = ClockEstimate::new();
        let now_us = room.ping(&mut clock, 0);
        assert_eq!(room.error_us(&clock, now_us), -30_000);
        assert_eq!(clock.uncertainty(), Duration::from_millis(50));
    }

    #[test]
    fn the_clock_follows_drift() {
        for drift_ppm in [-200, 200] {
            check(SimulatedRoom { drift_ppm, ..SimulatedRoom::new(1) }, 600, 0, 300);
            check(
                SimulatedRoom { drift_ppm, jitter_us: 20_000, ..SimulatedRoom::new(1) },
                600,
                5,
                8_000,
            );
        }
    }

    #[test]
    fn a_reading_never_goes_back_and_slews_at_most_five_per_cent() {
        for seed in 0..50 {
            let mut room = SimulatedRoom { jitter_us: 300_000, ..SimulatedRoom::new(seed) };
            let mut clock = ClockEstimate::new();
            let mut now_us = room.ping(&mut clock, 0);
            let mut last = None;
            for _ in 0..3_000 {
                if room.rng.u8(0..10) == 0 {
                    let ahead_us = room.rng.i64(0..400_000);
                    room.ahead_us += ahead_us * [-1, 0, 0, 0, 1][room.rng.usize(0..5)];
                    now_us = room.ping(&mut clock, now_us);
                    last = None; // The clock may jump forward now.
                }
                let step_us = room.rng.u64(0..30_000);
                let before = clock.room_time(at(now_us)).micros();
                assert!(last.is_none_or(|last| before >= last), "seed {seed}");
                now_us += step_us;
                let after = clock.room_time(at(now_us)).micros();
                let ran = (after - before) as f64;
                let range = step_us as f64 * 0.95 - 1.0..=step_us as f64 * 1.05 + 1.0;
                assert!(range.contains(&ran), "seed {seed}: {ran} in {step_us}");
                last = Some(after);
            }
        }
    }

    #[test]
    fn no_pong_moves_the_reading_back() {
        for seed in 0..50 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let mut clock = ClockEstimate::new();
            let mut now_us = 0;
            let mut last = GameTime::ZERO;
            for _ in 0..1_000 {
                now_us += rng.u64(0..1_000_000);
                let mut any = || rng.u64(..) >> rng.u32(0..64);
                let sent = any();
                let received = any();
                let answered = any();
                clock.handle_pong(at(sent), received, answered, at(now_us));
                let reading = clock.room_time(at(now_us));
                assert!(reading >= last, "seed {seed}: {reading:?} after {last:?}");
                last = reading;
            }
            clock.handle_pong(at(0), 0, u64::MAX, LocalTime::MAX);
            assert!(clock.room_time(LocalTime::MAX) >= last);
        }
    }

    #[test]
    fn the_next_pong_follows_a_forward_jump_of_the_room() {
        let mut room = SimulatedRoom::new(1);
        let mut clock = ClockEstimate::new();
        (0..10).for_each(|second| _ = room.ping(&mut clock, second * 1_000_000));
        room.ahead_us += 3_000_000;
        let now_us = room.ping(&mut clock, 10_000_000);
        assert_eq!(room.error_us(&clock, now_us), 0);
    }

    #[test]
    fn when_the_room_jumps_back_the_clock_slows_until_it_agrees() {
        let mut room = SimulatedRoom::new(1);
        let mut clock = ClockEstimate::new();
        (0..10).for_each(|second| _ = room.ping(&mut clock, second * 1_000_000));
        room.ahead_us -= 300_000;
        let now_us = room.ping(&mut clock, 10_000_000);
        assert_eq!(room.error_us(&clock, now_us), 300_000);
        assert_eq!(clock.behind_us(at(now_us)), -300_000);
        assert_eq!(room.error_us(&clock, now_us + 3_000_000), 150_000);
        assert_eq!(room.error_us(&clock, now_us + 6_000_000), 0);
        assert_eq!(room.error_us(&clock, now_us + 9_000_000), 0);
    }

    #[test]
    fn an_answer_that_contradicts_itself_is_ignored() {
        let mut clock = ClockEstimate::new();
        clock.handle_pong(at(1_000), 50_000, 40_000, at(2_000)); // Sent before it was received.
        clock.handle_pong(at(1_000), 50_000, 60_000, at(2_000)); // Held beyond the round trip.
        clock.handle_pong(at(3_000), 50_000, 50_000, at(2_000)); // Arrived before the ping left.
        clock.handle_pong(at(1_000), u64::MAX, u64::MAX, at(2_000));
        assert!(clock.bounds.is_none());
    }
}
