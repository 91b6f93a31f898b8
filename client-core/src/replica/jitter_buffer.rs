//! The jitter buffer: how far behind the estimated room time objects with poses are shown.
//!
//! Arrival times of datagrams with poses and the room time go in. A [`RenderLag`] comes out: how
//! far behind each room time such objects are shown. Timelines are not affected: they are shown at
//! room time. No clock.
//!
//! A pose takes effect at its stamp plus the local lag, and arrives one one-way delay after its
//! stamp. So the difference is a buffer against jitter already. [`RenderTiming`] decides whether it
//! is the only one.
//!
//! Invariants:
//! 1. The time shown is never ahead of room time.
//! 2. The time shown runs at most 5 % ([`MAX_SLEW`]) faster or slower than room time; it never
//!    steps and never goes back. (Before the first datagram nothing is shown, and the lag is set at
//!    once.)
//!
//! Bound: `MAX_SAMPLES` samples of 16 bytes. Cost: a selection among them four times a second.
//! Sources: "Synchronisation par le reseau d'un monde virtuel sur Unity" (100 ms in the past); G.
//! Fiedler, "State Synchronization" (jitter buffer); "Architectures de developpement adaptees aux
//! MMOGs" (Project Deus) for the local lag.

use std::collections::VecDeque;
use std::str::FromStr;
use std::time::Duration;

use ambit_proto::time::GameTime;
use derive_more::Display;

/// Maximum difference between the rate of the time shown and that of the room's clock: invisible.
pub const MAX_SLEW: f64 = 0.05;
/// The default render delay for interpolation, as in "Synchronisation par le reseau d'un monde
/// virtuel sur Unity".
pub const INTERPOLATION_DELAY: Duration = Duration::from_millis(100);
/// Maximum render delay.
pub const MAX_DELAY: Duration = Duration::from_secs(1);

/// Share of the datagrams that come in time with an adaptive delay.
const IN_TIME_SHARE: f64 = 0.99;
/// How far back an adaptive delay looks: at 20 datagrams a second, one per cent of it is more than
/// one datagram.
const WINDOW: Duration = Duration::from_secs(8);
/// Maximum number of samples: more than a room of 60 Hz sends in the window.
const MAX_SAMPLES: usize = 512;
/// A longer time between two datagrams is silence and not loss.
const MAX_LOSS_GAP: Duration = Duration::from_millis(400);
/// How often the delay is estimated.
const ESTIMATE_INTERVAL: Duration = Duration::from_millis(250);
/// A smaller possible decrease of the delay is ignored: each change makes the time shown run fast.
const MIN_DECREASE: Duration = Duration::from_millis(5);

/// When poses are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display)]
pub enum RenderTiming {
    /// At their room time: the local lag is the buffer.
    #[display("room")]
    RoomTime,
    /// This long after arrival over the fastest path, but not before their room time.
    #[display("{}ms", _0.as_millis())]
    FixedDelay(Duration),
    /// As early as possible while 99 % of the datagrams of the last seconds come in time, including
    /// those after lost ones; but not before their room time.
    #[display("adaptive")]
    Adaptive,
}

/// 100 ms after arrival: two datagrams at 20 a second. If the network is fast enough for the local
/// lag, that is the room time.
impl Default for RenderTiming {
    fn default() -> Self {
        Self::FixedDelay(INTERPOLATION_DELAY)
    }
}

/// How far behind room time objects with poses are shown, at any room time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderLag {
    since: GameTime,
    from: Duration,
    to: Duration,
}

/// Computes the lag over time.
#[derive(Debug, Default)]
pub struct JitterBuffer {
    render: RenderTiming,
    /// The local lag.
    delay: Duration,
    lag: RenderLag,
    /// Whether any datagram has arrived.
    started: bool,
    /// Number and stamp of the newest datagram.
    newest: Option<(u64, GameTime)>,
    /// Arrival times of datagrams, and how late each was for its time of effect; negative if early.
    samples: VecDeque<(GameTime, i64)>,
    /// When the delay was last estimated.
    estimated_at: Option<GameTime>,
}

impl RenderLag {
    /// The lag at room time `t`.
    pub fn at(&self, t: GameTime) -> Duration {
        let slewed = t.since(self.since).mul_f64(MAX_SLEW);
        if self.from < self.to {
            self.to.min(self.from + slewed)
        } else {
            self.to.max(self.from.saturating_sub(slewed))
        }
    }

    /// The time of the poses that are shown at room time `t`.
    pub fn shown_time(&self, t: GameTime) -> GameTime {
        t.saturating_sub(self.at(t))
    }

    /// A lag that does not change.
    pub fn constant(lag: Duration) -> Self {
        RenderLag { since: GameTime::ZERO, from: lag, to: lag }
    }

    /// Slews to `to`, starting at `now`.
    pub fn slew_to(&mut self, now: GameTime, to: Duration) {
        if to != self.to {
            *self = RenderLag { since: now, from: self.at(now), to };
        }
    }
}

impl JitterBuffer {
    /// For a room with this local lag.
    pub fn new(render: RenderTiming, delay: Duration) -> Self {
        JitterBuffer { render, delay, ..Self::default() }
    }

    /// A datagram with this number and stamp has arrived at room time `now`.
    pub fn handle_datagram(
        &mut self,
        now: GameTime,
        number: u64,
        stamp: GameTime,
        has_poses: bool,
    ) {
        self.started = true;
        let needed = self.needed_stamp(number, stamp);
        if has_poses && self.render == RenderTiming::Adaptive {
            if self.samples.len() == MAX_SAMPLES {
                self.samples.pop_front();
            }
            let late = now
                .micros()
                .cast_signed()
                .wrapping_sub((needed + self.delay).micros().cast_signed());
            self.samples.push_back((now, late));
        }
    }

    /// The stamp from which a datagram was needed: its own, or that of the last one before a loss.
    fn needed_stamp(&mut self, number: u64, stamp: GameTime) -> GameTime {
        let (last, newest_stamp) = self.newest.unwrap_or((number, stamp));
        if number <= last {
            self.newest = Some((last, newest_stamp));
            return stamp;
        }
        self.newest = Some((number, stamp));
        if number == last + 1 {
            stamp
        } else {
            newest_stamp.max(stamp.saturating_sub(MAX_LOSS_GAP))
        }
    }

    /// Advances room time to `now`; `one_way` is the minimum delay from the host.
    pub fn advance(&mut self, now: GameTime, one_way: Duration) -> RenderLag {
        let wanted = match self.render {
            RenderTiming::RoomTime => Duration::ZERO,
            RenderTiming::FixedDelay(delay) => (delay + one_way).saturating_sub(self.delay),
            RenderTiming::Adaptive => self.estimate_delay(now),
        };
        if !self.started {
            self.lag = RenderLag::constant(wanted);
        }
        self.lag.slew_to(now, wanted);
        self.lag
    }

    /// The lag as of the last call.
    pub fn lag(&self) -> RenderLag {
        self.lag
    }

    /// The maximum lateness of the best 99 % of the datagrams, if they were late.
    fn estimate_delay(&mut self, now: GameTime) -> Duration {
        if self.estimated_at.is_some_and(|last| now.since(last) < ESTIMATE_INTERVAL) {
            return self.lag.to;
        }
        self.estimated_at = Some(now);
        while self.samples.pop_front_if(|(came, _)| *came + WINDOW < now).is_some() {}
        let mut late_us: Vec<i64> = self.samples.iter().map(|(_, late)| *late).collect();
        let in_time = (late_us.len() as f64 * IN_TIME_SHARE).ceil() as usize;
        let Some(last) = in_time.checked_sub(1) else {
            return self.lag.to;
        };
        let (_, &mut late_us, _) = late_us.select_nth_unstable(last);
        let wanted = Duration::from_micros(late_us.max(0).cast_unsigned()).min(MAX_DELAY);
        let spare = self.lag.to.saturating_sub(wanted);
        if spare > Duration::ZERO && spare < MIN_DECREASE { self.lag.to } else { wanted }
    }
}

impl FromStr for RenderTiming {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let delay = |text: &str| {
            let ms: u64 = text.strip_suffix("ms")?.parse().ok()?;
            Some(Duration::from_millis(ms)).filter(|delay| *delay <= MAX_DELAY)
        };
        match text {
            "room" => Ok(RenderTiming::RoomTime),
            "adaptive" => Ok(RenderTiming::Adaptive),
            "interpolated" => Ok(RenderTiming::FixedDelay(INTERPOLATION_DELAY)),
            _ => delay(text).map(RenderTiming::FixedDelay).ok_or_else(|| {
                "expected room, adaptive, interpolated or a delay from 0ms to 1000ms".to_owned()
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(150);

    #[test]
    fn at_room_time_no_pose_is_delayed() {
        let mut buffer = JitterBuffer::new(RenderTiming::RoomTime, DELAY);
        buffer.handle_datagram(ms(500), 0, ms(100), true);
        assert_eq!(buffer.advance(ms(500), duration(40)).shown_time(ms(700)), ms(700));
    }

    #[test]
    fn a_fixed_delay_never_shows_a_time_ahead_of_room_time() {
        for (delay, one_way, behind) in
            [(100, 40, 0), (100, 50, 0), (100, 80, 30), (400, 40, 290), (0, 200, 50)]
        {
            let mut buffer = JitterBuffer::new(RenderTiming::FixedDelay(duration(delay)), DELAY);
            let lag = buffer.advance(ms(10_000), duration(one_way));
            assert_eq!(
                lag.at(ms(10_000)),
                duration(behind),
                "{delay} ms, {one_way} ms one-way delay"
            );
        }
    }

    #[test]
    fn with_an_adaptive_delay_99_percent_arrive_in_time() {
        for seed in 0..20 {
            let mut path = JitteryPath::new(seed, 200, 30);
            path.run_for(30_000);
            // The slowest datagrams take 230 ms, 80 ms more than the local lag.
            let lag = path.buffer.lag().at(ms(path.now));
            assert!(lag >= duration(74) && lag <= duration(80), "seed {seed}: {lag:?}");
            let (late, all) = path.run_for(30_000);
            assert!(late * 50 <= all, "seed {seed}: {late} of {all} were late");
        }
    }

    #[test]
    fn an_adaptive_delay_bridges_losses() {
        let mut buffer = JitterBuffer::new(RenderTiming::Adaptive, DELAY);
        // Of each ten ticks of 50 ms, four in a row are lost; the others take 40 ms.
        for number in (0..400).filter(|number| number % 10 < 6) {
            buffer.handle_datagram(ms(50 * number + 40), number, ms(50 * number), true);
            buffer.advance(ms(50 * number + 40), duration(40));
        }
        // The next datagram arrives five ticks later, after 40 ms.
        assert_eq!(buffer.lag().at(ms(60_000)), duration(5 * 50 + 40 - 150));
    }

    #[test]
    fn silence_does_not_count_as_loss() {
        let mut buffer = JitterBuffer::new(RenderTiming::Adaptive, DELAY);
        for number in 0..40 {
            buffer.handle_datagram(ms(3_000 * number + 40), number, ms(3_000 * number), true);
            buffer.advance(ms(3_000 * number + 40), duration(40));
        }
        assert_eq!(buffer.lag().at(ms(200_000)), Duration::ZERO);
    }

    #[test]
    fn on_a_fast_path_an_adaptive_delay_is_zero() {
        let mut path = JitteryPath::new(1, 40, 60);
        path.run_for(20_000);
        assert_eq!(path.buffer.lag().at(ms(path.now)), Duration::ZERO);
    }

    #[test]
    fn the_time_shown_runs_within_5_percent_of_the_clock() {
        for seed in 0..20 {
            let mut path = JitteryPath::new(seed, 120, 10);
            let mut before = None;
            for step in 0..2_000 {
                if step % 500 == 0 {
                    (path.one_way_ms, path.jitter_ms) =
                        (path.rng.u64(0..600), path.rng.u64(0..300));
                }
                path.run_for(10);
                let (now, shown) = (ms(path.now), path.buffer.lag().shown_time(ms(path.now)));
                assert!(shown <= now);
                if let Some((then, shown_then)) = before.replace((now, shown)) {
                    let (elapsed, shown_elapsed) =
                        (now.since(then).as_micros(), shown.since(shown_then).as_micros());
                    assert!(shown >= shown_then, "seed {seed}");
                    assert!(
                        (elapsed * 95 / 100 - 1..=elapsed * 105 / 100 + 1).contains(&shown_elapsed),
                        "seed {seed}: {shown_elapsed} in {elapsed}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_shown_time_has_no_step_between_two_calls() {
        let mut buffer = JitterBuffer::new(RenderTiming::FixedDelay(duration(300)), DELAY);
        buffer.advance(ms(1_000), duration(0));
        buffer.handle_datagram(ms(1_000), 0, ms(1_000), true);
        let lag = buffer.advance(ms(1_000), duration(100));
        let again = { buffer.advance(ms(1_500), duration(0)) };
        assert_eq!(
            (lag.at(ms(1_000)), lag.at(ms(1_500)), lag.at(ms(9_000))),
            (duration(150), duration(175), duration(250))
        );
        assert_eq!(
            (again.at(ms(1_500)), again.at(ms(1_600)), again.at(ms(9_000))),
            (duration(175), duration(170), duration(150))
        );
    }

    #[test]
    fn the_render_flag_parses_its_values() {
        for (text, expected) in [
            ("room", RenderTiming::RoomTime),
            ("adaptive", RenderTiming::Adaptive),
            ("interpolated", RenderTiming::FixedDelay(duration(100))),
            ("250ms", RenderTiming::FixedDelay(duration(250))),
        ] {
            assert_eq!(text.parse(), Ok(expected));
            assert_eq!(expected.to_string().parse(), Ok(expected));
        }
        for bad in ["", "100", "-5ms", "1001ms", "2s", "never"] {
            assert!(bad.parse::<RenderTiming>().is_err(), "{bad}");
        }
    }

    /// A host of 20 ticks a second over a path with jitter.
    struct JitteryPath {
        buffer: JitterBuffer,
        rng: fastrand::Rng,
        one_way_ms: u64,
        jitter_ms: u64,
        now: u64,
        /// Arrival times of datagrams, and their stamps.
        in_flight: Vec<(u64, u64)>,
    }

    impl JitteryPath {
        fn new(seed: u64, one_way_ms: u64, jitter_ms: u64) -> Self {
            let (rng, buffer) =
                (fastrand::Rng::with_seed(seed), JitterBuffer::new(RenderTiming::Adaptive, DELAY));
            JitteryPath { buffer, rng, one_way_ms, jitter_ms, now: 0, in_flight: Vec::new() }
        }

        /// Runs for some time; returns the numbers of late datagrams and of all datagrams.
        fn run_for(&mut self, for_ms: u64) -> (u64, u64) {
            let mut late = 0;
            let mut all = 0;
            for now in self.now..self.now + for_ms {
                if now % 50 == 0 {
                    self.in_flight
                        .push((now + self.one_way_ms + self.rng.u64(0..=self.jitter_ms), now));
                }
                for (_, stamp) in self.in_flight.extract_if(.., |(arrives, _)| *arrives <= now) {
                    self.buffer.handle_datagram(ms(now), stamp / 50, ms(stamp), true);
                    late += u64::from(ms(stamp) + DELAY < self.buffer.lag().shown_time(ms(now)));
                    all += 1;
                }
                self.buffer.advance(ms(now), duration(self.one_way_ms));
            }
            self.now += for_ms;
            (late, all)
        }
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }

    fn duration(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }
}
