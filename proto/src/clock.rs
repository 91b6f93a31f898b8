//! The room's clock, as a client estimates it.
//!
//! Answered pings go in ([`crate::link::LinkEvent::Pong`]), the room time of any local time comes
//! out.
//!
//! A ping arrives after it left, so the room's clock is ahead of the local one by at most the
//! difference of the two stamps; for the answer it is by at least the difference of its stamps.
//! Each of the two bounds is as narrow as that way was quick, and of the last ten seconds the
//! narrowest of each kind counts, give or take what two clocks may have drifted since: a
//! minimum-delay filter for each direction. The estimate lies in the middle, but not more than
//! [`MAX_ONE_WAY_DELAY`] above the lower bound: an answer that was lost and repeated says little,
//! and a clock that is ahead can only be slowed, while one that is behind may catch up at once as
//! long as nothing better is known. The clock that is read follows it by running at most
//! [`MAX_SLEW`] too fast or slow, so that nothing on a screen jumps.
//!
//! Invariants, for calls in the order of the times they are given:
//! 1. A reading is never before an earlier reading.
//! 2. Between two samples the clock runs at 0.95 to 1.05 of the local clock; only the samples up to
//!    the first one that was quick, and being behind by more than [`MAX_SLEWED_ERROR`], move it
//!    forward at once.
//! 3. Whatever the samples say, reading and memory stay bounded. If the newest contradicts the
//!    others, the room's clock has jumped and the newest alone counts.
//!
//! Units: microseconds inside. Cost: a pong looks through 16 samples, a reading is a few additions.
//! PoseSource: RFC 5905, section 8, for the stamps; section 11.2.1, for intersecting what samples
//! allow instead of averaging them.

use std::time::Duration;

use crate::time::{GameTime, LocalTime};

/// How much too fast or slow the clock may run while it is corrected: nobody sees 5 % of a walking
/// speed.
pub const MAX_SLEW: f64 = 0.05;

/// From this much on, being behind is worse than one jump: at [`MAX_SLEW`] it would last more than
/// ten seconds.
pub const MAX_SLEWED_ERROR: Duration = Duration::from_millis(500);

/// The longest way from the peer that is believed without a quick round trip that shows it.
pub const MAX_ONE_WAY_DELAY: Duration = Duration::from_millis(150);

/// InputSampler older than this say more about the drift of two clocks than about their difference.
const SAMPLE_WINDOW: Duration = Duration::from_secs(10);

/// Ten seconds at a ping a second, and some of the quicker ones at the beginning.
const MAX_SAMPLES: usize = 16;

/// What two clocks may drift apart, per elapsed time: each quartz is good for 100 ppm, and a
/// virtual machine's is worse.
const MAX_DRIFT: f64 = 250e-6;

/// By how much samples may contradict each other and still count: stamps are rounded, and
/// schedulers interrupt.
const TIMESTAMP_ERROR_US: i64 = 2_000;

/// Estimates the room's clock from answered pings; see the module.
#[derive(Clone, Debug, Default)]
pub struct ClockEstimate {
    /// Ring, `Unchanged` where nothing was measured yet.
    samples: [Option<OffsetSample>; MAX_SAMPLES],
    next: usize,
    /// What the samples allow, as of the newest; `Unchanged` before the first.
    bounds: Option<OffsetBounds>,
    reading: SlewedClock,
}

#[derive(Clone, Copy, Debug)]
struct OffsetSample {
    bounds: OffsetBounds,
    arrived: LocalTime,
}

/// By how much the room's clock is ahead of the local one, in microseconds: at least, at most.
#[derive(Clone, Copy, Debug)]
struct OffsetBounds {
    min_us: i64,
    max_us: i64,
}

/// What was known before a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PriorEstimate {
    Absent,
    /// No round trip was quick yet.
    Uncertain,
    Certain,
}

/// The clock that is read: it showed `shown_us` at `since`, and since then works off `behind_us`.
#[derive(Clone, Copy, Debug, Default)]
struct SlewedClock {
    set_at: LocalTime,
    shown_us: i64,
    /// How much the clock has to gain; negative: to lose.
    behind_us: i64,
}

impl ClockEstimate {
    /// An estimate that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the answer to a ping that left at `sent` and whose answer came at `arrived`, both on
    /// the local clock; the peer's stamps are microseconds of room time. An answer that contradicts
    /// itself is ignored.
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
        let allowed = self
            .offset_bounds(arrived)
            .map_or(bounds, |others| others.intersection(bounds));
        if allowed.is_contradiction() {
            self.samples = [None; MAX_SAMPLES];
        }
        self.samples[self.next] = Some(OffsetSample { bounds, arrived });
        self.next = (self.next + 1) % MAX_SAMPLES;
        let allowed = if allowed.is_contradiction() {
            bounds
        } else {
            allowed
        };
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

    /// Whether there is an estimate at all.
    pub fn is_synced(&self) -> bool {
        self.bounds.is_some()
    }

    /// The least time on the way, there and back, without what the peer took to answer; zero before
    /// the first sample.
    pub fn rtt(&self) -> Duration {
        self.bounds.map_or(Duration::ZERO, |bounds| {
            Duration::from_micros(bounds.width_us().max(0).cast_unsigned())
        })
    }

    /// How far the estimate may be off, if the ways there and back take different times: half of
    /// [`Self::rtt`]. The reading may differ from the estimate for a while longer, see
    /// [`Self::behind_us`].
    pub fn uncertainty(&self) -> Duration {
        self.rtt() / 2
    }

    /// What the reading at `now` still has to gain on the estimate, in microseconds; negative: to
    /// lose.
    pub fn behind_us(&self, now: LocalTime) -> i64 {
        let estimate = self
            .bounds
            .map(|bounds| local_us(now).saturating_add(bounds.estimate()));
        estimate.map_or(0, |estimate_us| {
            estimate_us.saturating_sub(self.reading.at(now))
        })
    }

    /// What the samples of the window allow at `now`.
    fn offset_bounds(&self, now: LocalTime) -> Option<OffsetBounds> {
        let recent = self
            .samples
            .iter()
            .flatten()
            .filter(|sample| now.since(sample.arrived) <= SAMPLE_WINDOW);
        recent
            .map(|sample| sample.bounds_at(now))
            .reduce(OffsetBounds::intersection)
    }
}

impl OffsetSample {
    /// Wider by what the clocks may have drifted since.
    fn bounds_at(&self, now: LocalTime) -> OffsetBounds {
        let drift_us = share_of(now.since(self.arrived), MAX_DRIFT);
        OffsetBounds {
            min_us: self.bounds.min_us.saturating_sub(drift_us),
            max_us: self.bounds.max_us.saturating_add(drift_us),
        }
    }
}

impl OffsetBounds {
    /// `Unchanged` if the peer claims to have held the ping for less than no time or for longer
    /// than the whole round trip took, or if a stamp is beyond all bounds.
    fn from_pong(
        sent: LocalTime,
        received_us: u64,
        answered_us: u64,
        arrived: LocalTime,
    ) -> Option<Self> {
        let stamp = |micros: u64| {
            i64::try_from(micros)
                .ok()
                .filter(|&micros| micros <= i64::MAX / 4)
        };
        let (sent, arrived) = (stamp(sent.micros())?, stamp(arrived.micros())?);
        let (received, answered) = (stamp(received_us)?, stamp(answered_us)?);
        let bounds = Self {
            min_us: answered - arrived,
            max_us: received - sent,
        };
        (received <= answered && bounds.min_us <= bounds.max_us).then_some(bounds)
    }

    fn intersection(self, other: Self) -> Self {
        Self {
            min_us: self.min_us.max(other.min_us),
            max_us: self.max_us.min(other.max_us),
        }
    }

    fn is_contradiction(self) -> bool {
        self.width_us() < -TIMESTAMP_ERROR_US
    }

    fn width_us(self) -> i64 {
        self.max_us.saturating_sub(self.min_us)
    }

    /// The middle, or the lower end and what is believed.
    fn estimate(self) -> i64 {
        self.min_us
            .midpoint(self.max_us)
            .min(self.min_us.saturating_add(micros(MAX_ONE_WAY_DELAY)))
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
        self.shown_us
            .saturating_add(micros(elapsed))
            .saturating_add(gained_us)
    }

    /// From `now` on, works off what it is behind `estimate_us`, the room's time at `now`.
    fn slew_towards(&mut self, now: LocalTime, estimate_us: i64, before: PriorEstimate) {
        let shown_us = self.at(now);
        let behind_us = estimate_us.saturating_sub(shown_us);
        let interacting_at_once = match before {
            PriorEstimate::Absent => true,
            PriorEstimate::Uncertain => behind_us > 0,
            PriorEstimate::Certain => false,
        };
        *self = if interacting_at_once || behind_us > micros(MAX_SLEWED_ERROR) {
            Self {
                set_at: now,
                shown_us: estimate_us,
                behind_us: 0,
            }
        } else {
            Self {
                set_at: now,
                shown_us,
                behind_us,
            }
        };
    }
}

fn local_us(time: LocalTime) -> i64 {
    i64::try_from(time.micros()).unwrap_or(i64::MAX)
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// `rate` of a duration, in whole microseconds. A float of 53 bits is exact for any duration that a
/// room lives.
fn share_of(duration: Duration, rate: f64) -> i64 {
    (micros(duration) as f64 * rate) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room's clock, and the way to it and back, in harness time. The local clock is the
    /// harness'.
    struct SimulatedRoom {
        rng: fastrand::Rng,
        ahead_us: i64,
        /// How much faster it runs, in parts per million.
        drift_ppm: i64,
        /// There and back.
        delay_us: [u64; 2],
        jitter_us: u64,
    }

    impl SimulatedRoom {
        fn new(seed: u64) -> Self {
            let rng = fastrand::Rng::with_seed(seed);
            Self {
                rng,
                ahead_us: 77_000_000,
                drift_ppm: 0,
                delay_us: [30_000; 2],
                jitter_us: 0,
            }
        }

        fn time_us(&self, now_us: u64) -> u64 {
            (now_us as i64 + self.ahead_us + now_us as i64 * self.drift_ppm / 1_000_000) as u64
        }

        /// Sends a ping at `now_us`, holds it for up to a tick and returns the time at which the
        /// answer was handled.
        fn ping(&mut self, clock: &mut ClockEstimate, now_us: u64) -> u64 {
            let [there, back] = self
                .delay_us
                .map(|delay| delay + self.rng.u64(0..=self.jitter_us));
            let held = self.rng.u64(0..50_000);
            let (received, answered) = (
                self.time_us(now_us + there),
                self.time_us(now_us + there + held),
            );
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

    /// Pings ten times quickly, then each second; checks after each, from `settled_s` on, that the
    /// error is below a bound.
    fn check(mut room: SimulatedRoom, seconds: u64, settled_s: u64, bound_us: i64) {
        let mut clock = ClockEstimate::new();
        let pings = (0..10)
            .map(|ping| ping * 100_000)
            .chain((1..seconds).map(|second| second * 1_000_000));
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
        // The room's clock shows the local time. The first answer's way back took 30 ms, after a
        // way there of 1.2 s.
        let at = LocalTime::from_millis;
        clock.handle_pong(at(1_000), 2_200_000, 2_200_000, at(2_230));
        let first = clock.room_time(at(2_230)).millis();
        assert!((2_200..=2_380).contains(&first), "{first}");
        // One that is quick, later: the clock is right within moments.
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
        let (mut room, mut clock) = (SimulatedRoom::new(1), ClockEstimate::new());
        assert!(!clock.is_synced());
        assert_eq!(clock.room_time(at(5_000_000)), GameTime::ZERO);
        let now_us = room.ping(&mut clock, 1_000_000);
        assert!(clock.is_synced());
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
            check(
                SimulatedRoom {
                    jitter_us: 40_000,
                    ..SimulatedRoom::new(seed)
                },
                60,
                5,
                10_000,
            );
        }
    }

    #[test]
    fn unequal_delays_shift_the_clock_by_half_their_difference() {
        check(
            SimulatedRoom {
                delay_us: [20_000, 80_000],
                ..SimulatedRoom::new(1)
            },
            60,
            0,
            30_000,
        );
        let (mut room, mut clock) = (
            SimulatedRoom {
                delay_us: [20_000, 80_000],
                ..SimulatedRoom::new(1)
            },
            ClockEstimate::new(),
        );
        let now_us = room.ping(&mut clock, 0);
        assert_eq!(room.error_us(&clock, now_us), -30_000);
        assert_eq!(clock.uncertainty(), Duration::from_millis(50));
    }

    #[test]
    fn the_clock_follows_drift() {
        for drift_ppm in [-200, 200] {
            check(
                SimulatedRoom {
                    drift_ppm,
                    ..SimulatedRoom::new(1)
                },
                600,
                0,
                300,
            );
            check(
                SimulatedRoom {
                    drift_ppm,
                    jitter_us: 20_000,
                    ..SimulatedRoom::new(1)
                },
                600,
                5,
                8_000,
            );
        }
    }

    #[test]
    fn a_reading_never_goes_back_and_slews_at_most_five_per_cent() {
        for seed in 0..50 {
            let (mut room, mut clock) = (
                SimulatedRoom {
                    jitter_us: 300_000,
                    ..SimulatedRoom::new(seed)
                },
                ClockEstimate::new(),
            );
            let (mut now_us, mut last) = (room.ping(&mut clock, 0), None);
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
            let (mut rng, mut clock) = (fastrand::Rng::with_seed(seed), ClockEstimate::new());
            let (mut now_us, mut last) = (0, GameTime::ZERO);
            for _ in 0..1_000 {
                now_us += rng.u64(0..1_000_000);
                let mut any = || rng.u64(..) >> rng.u32(0..64);
                let (sent, received, answered) = (any(), any(), any());
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
        let (mut room, mut clock) = (SimulatedRoom::new(1), ClockEstimate::new());
        (0..10).for_each(|second| _ = room.ping(&mut clock, second * 1_000_000));
        room.ahead_us += 3_000_000;
        let now_us = room.ping(&mut clock, 10_000_000);
        assert_eq!(room.error_us(&clock, now_us), 0);
    }

    #[test]
    fn when_the_room_jumps_back_the_clock_slows_until_it_agrees() {
        let (mut room, mut clock) = (SimulatedRoom::new(1), ClockEstimate::new());
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
        clock.handle_pong(at(1_000), 50_000, 60_000, at(2_000)); // Held for longer than the round trip.
        clock.handle_pong(at(3_000), 50_000, 50_000, at(2_000)); // Here before the ping left.
        clock.handle_pong(at(1_000), u64::MAX, u64::MAX, at(2_000));
        assert!(!clock.is_synced());
    }
}
