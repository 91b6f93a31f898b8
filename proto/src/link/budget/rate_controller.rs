//! Rate control: how much of the owner's limit the path seems to carry.
//!
//! Input: the outcomes of datagrams, and the time. Output: a rate. Two signs suggest a lower rate:
//! round trips that stay above the shortest known one (a queue has built up), and losses clearly
//! beyond the path's usual loss. Either starts a *trial*: the rate drops to three quarters of what
//! was seen to arrive. If the sign then disappears, the trial was right, and the rate climbs again
//! from nine tenths of what arrived. If the sign stays, our traffic was not the cause (radio, a
//! longer path, another sender's queue): it counts as usual for this path from then on, and the
//! rate is restored. So steady random loss costs at most one short trial, and a bottleneck is found
//! in one step.
//!
//! Invariants:
//! 1. The rate lies between the floor (an eighth of the limit) and the limit.
//! 2. Losses during silence are ignored: a disconnected path is not a narrow path. After the
//!    silence the rate is as before.
//! 3. A trial counts all datagrams that left during it, and only those. Losses are known later than
//!    arrivals, so a result without the last losses would look too good.
//!
//! Units: bytes a second, as the budget counts them. Cost: a few additions for each outcome, a
//! decision every half second.

use std::time::Duration;

use super::MIN_RATE;
use crate::time::LocalTime;

/// Between two decisions.
const INTERVAL: Duration = Duration::from_millis(500);
/// How many intervals a decision considers: two seconds.
const INTERVAL_COUNT: usize = 4;
/// Round trips that exceed the shortest and the usual ones by this much, in all of two intervals,
/// mean a queue. The peer's tick and its delay of acknowledgements explain half of it.
const LONG_QUEUE: Duration = Duration::from_millis(60);
/// An interval with fewer round trips is ignored.
const MIN_ROUND_TRIPS: u32 = 3;
/// A queue no longer than this counts as drained.
const SHORT_QUEUE: Duration = Duration::from_millis(25);
/// The shortest round trip is that of the last one or two of these spans.
const SHORTEST_RTT_SPAN: Duration = Duration::from_secs(15);
/// A trial considers what leaves in this time, which drains a queue of 200 ms. It is evaluated when
/// the outcomes of all these datagrams are known; if they are too few, it is extended once by the
/// same time.
const TRIAL_TIME: Duration = Duration::from_millis(1_500);
/// The longest wait for outcomes after a trial.
const MAX_OUTCOME_WAIT: Duration = Duration::from_secs(3);
/// The smallest number of outcomes for a decision.
const MIN_OUTCOMES: u32 = 12;
/// Until this many outcomes are known, the path's own loss may be as high as [`UNKNOWN_PATH_LOSS`].
const KNOWN_PATH_OUTCOMES: u32 = 200;
/// A fifth is what games must tolerate, plus a margin.
const UNKNOWN_PATH_LOSS: f32 = 0.25;
/// Loss within this of the usual loss counts as usual.
const LOSS_MARGIN: f32 = 0.05;
/// After this long (and two round trips) without an acknowledgement, losses before the next one are
/// ignored.
const SILENCE_AFTER: Duration = Duration::from_secs(1);
/// The rate climbs by a 25th of the limit a second.
const CLIMB_DIVISOR: u32 = 25;

/// Why the current rate is below the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pressure {
    /// It is not, or it is recovering.
    #[default]
    None,
    /// More was lost than the path usually loses.
    Loss,
    /// Round trips have become longer than the shortest.
    Delay,
}

#[derive(Clone, Debug)]
pub(in crate::link) struct RateController {
    limit: u32,
    rate: u32,
    pressure: Pressure,
    /// The current one first.
    intervals: [Interval; INTERVAL_COUNT],
    interval_began: LocalTime,
    shortest_rtt: ShortestRtt,
    /// The path's own loss, from 0 to 1.
    usual_loss: f32,
    /// How much the shortest round trip of an interval usually exceeds the shortest of all, because
    /// of jitter and few samples.
    usual_queue: Duration,
    /// How many estimates `usual_loss` is based on, and how many outcomes.
    loss_estimates: u8,
    outcomes: u32,
    trial: Option<Trial>,
    /// Losses since the last acknowledgement, and when that was.
    losses_since_ack: u32,
    last_ack_at: LocalTime,
    /// When the last silence ended: datagrams that left before are ignored.
    silent_until: LocalTime,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    acked: u32,
    lost: u32,
    /// Cost of all acknowledged datagrams; once the interval is over, per second.
    bytes: u32,
    round_trips: u32,
    shortest_rtt: Option<Duration>,
}

/// The shortest round trip of the current and of the previous span.
#[derive(Clone, Copy, Debug, Default)]
struct ShortestRtt {
    current: Option<Duration>,
    previous: Option<Duration>,
    since: LocalTime,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    began: LocalTime,
    /// Datagrams that leave before this count.
    until: LocalTime,
    /// How many of those have no outcome yet.
    pending: u32,
    /// Whether it runs for a second time, because the first had too few outcomes.
    is_extended: bool,
    /// The known outcomes.
    acked: u32,
    lost: u32,
    rate_before: u32,
    /// Bytes a second that arrived when it began.
    delivered: u32,
    loss: f32,
    queue: Duration,
}

impl RateController {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit,
            rate: limit,
            pressure: Pressure::None,
            intervals: [Interval::default(); INTERVAL_COUNT],
            interval_began: LocalTime::ZERO,
            shortest_rtt: ShortestRtt::default(),
            usual_loss: 0.0,
            usual_queue: Duration::ZERO,
            loss_estimates: 0,
            outcomes: 0,
            trial: None,
            losses_since_ack: 0,
            last_ack_at: LocalTime::ZERO,
            silent_until: LocalTime::ZERO,
        }
    }

    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    /// Keeps the rate's share of the limit.
    pub(super) fn set_limit(&mut self, limit: u32) {
        let scaled =
            |rate: u32| (u64::from(rate) * u64::from(limit) / u64::from(self.limit)) as u32;
        let (rate, before) = (
            scaled(self.rate),
            self.trial.map(|trial| scaled(trial.rate_before)),
        );
        self.limit = limit;
        self.rate = self.clamp_rate(rate);
        if let (Some(trial), Some(before)) = (&mut self.trial, before) {
            trial.rate_before = before;
        }
    }

    /// The current rate, the reason for it, and the estimated queueing delay of the path.
    pub(in crate::link) fn state(&self) -> (u32, Pressure, Duration) {
        (self.rate, self.pressure, self.queue().unwrap_or_default())
    }

    /// From 0 to 1.
    pub(in crate::link) fn usual_loss(&self) -> f32 {
        self.usual_loss
    }

    /// A datagram that asks for an acknowledgement leaves.
    pub(in crate::link) fn handle_sent(&mut self, now: LocalTime) {
        if let Some(trial) = self.trial.as_mut().filter(|trial| now < trial.until) {
            trial.pending += 1;
        }
    }

    /// A datagram that left at `sent` and costs `bytes` has arrived. If it had been counted as
    /// lost, that is revoked.
    pub(in crate::link) fn handle_acked(
        &mut self,
        now: LocalTime,
        sent: LocalTime,
        bytes: usize,
        after_loss: bool,
    ) {
        self.intervals[0].bytes += bytes as u32;
        let counted = self.is_counted(sent);
        if !after_loss {
            self.note_outcome(sent);
        }
        if after_loss && counted {
            self.revoke_loss();
        }
        self.intervals[0].acked += u32::from(counted);
        if let Some(trial) = &mut self.trial {
            trial.acked += u32::from(counted);
        }
        if self.is_silent(now) {
            self.silent_until = now;
        } else {
            self.intervals[0].lost += self.losses_since_ack;
            if let Some(trial) = &mut self.trial {
                trial.lost += self.losses_since_ack;
            }
        }
        self.losses_since_ack = 0;
        self.last_ack_at = now;
    }

    /// A round trip, of a datagram that left at `sent`.
    pub(in crate::link) fn handle_round_trip(&mut self, sent: LocalTime, round_trip: Duration) {
        self.shortest_rtt.current = shorter_of(self.shortest_rtt.current, Some(round_trip));
        if self.is_counted(sent) {
            let interval = &mut self.intervals[0];
            interval.shortest_rtt = shorter_of(interval.shortest_rtt, Some(round_trip));
            interval.round_trips += 1;
        }
    }

    /// A datagram that left at `sent` and asked for an acknowledgement counts as lost.
    pub(in crate::link) fn handle_lost(&mut self, sent: LocalTime) {
        self.note_outcome(sent);
        self.losses_since_ack += u32::from(self.is_counted(sent));
    }

    pub(super) fn handle_timeout(&mut self, now: LocalTime) {
        let length = INTERVAL.max(
            self.shortest_rtt
                .shortest()
                .unwrap_or_default()
                .min(2 * INTERVAL),
        );
        if now.since(self.interval_began) < length {
            return;
        }
        let elapsed = now.since(self.interval_began);
        let bytes = &mut self.intervals[0].bytes;
        *bytes = (u64::from(*bytes) * 1_000 / elapsed.as_millis() as u64) as u32;
        match self.trial {
            Some(trial) => self.evaluate_trial(now, trial),
            None => self.detect_congestion(now, elapsed.min(2 * length)),
        }
        self.begin_interval(now);
    }

    fn detect_congestion(&mut self, now: LocalTime, elapsed: Duration) {
        let total = self.total();
        let (queue, before) = self.queues();
        self.outcomes = self
            .outcomes
            .saturating_add(self.intervals[0].acked + self.intervals[0].lost);
        let most = LONG_QUEUE + self.usual_queue;
        let is_long = |queue: Option<Duration>| queue.is_some_and(|queue| queue > most);
        if is_long(queue) {
            // With few round trips, jitter sometimes lengthens all of one interval, but hardly ever
            // of two. Until the next interval decides, the losses may come from a queue and are no
            // estimate of the path's own loss.
            if is_long(before) {
                self.begin_trial(now, Pressure::Delay);
            }
            return;
        }
        if let Some(queue) = self.queue_in(0) {
            self.usual_queue = (7 * self.usual_queue + queue.min(LONG_QUEUE)) / 8;
        }
        if self.is_unusual(total) {
            return self.begin_trial(now, Pressure::Loss);
        }
        if total.acked + total.lost >= MIN_OUTCOMES {
            // A mean at first, later a moving average over some seconds.
            self.loss_estimates = (self.loss_estimates + 1).min(16);
            self.usual_loss += (total.loss() - self.usual_loss) / f32::from(self.loss_estimates);
        }
        if queue.is_none_or(|queue| queue < LONG_QUEUE / 2) {
            let step = u64::from(self.limit / CLIMB_DIVISOR) * elapsed.as_millis() as u64 / 1_000;
            self.rate = self.clamp_rate(self.rate + step as u32);
        }
        if self.rate == self.limit {
            self.pressure = Pressure::None;
        }
    }

    /// Whether the losses exceed the path's own loss by more than three standard deviations.
    fn is_unusual(&self, total: Interval) -> bool {
        let known = self.usual_loss + LOSS_MARGIN;
        let usual = if self.outcomes < KNOWN_PATH_OUTCOMES {
            known.max(UNKNOWN_PATH_LOSS)
        } else {
            known
        };
        let count = (total.acked + total.lost) as f32;
        let deviation = (count * usual * (1.0 - usual).max(0.0)).sqrt();
        total.acked + total.lost >= MIN_OUTCOMES
            && total.lost as f32 > count * usual + 3.0 * deviation + 1.0
    }

    fn begin_trial(&mut self, now: LocalTime, pressure: Pressure) {
        let delivered = self
            .intervals
            .iter()
            .map(|interval| interval.bytes)
            .max()
            .unwrap_or(0);
        self.trial = Some(Trial {
            began: now,
            until: now + TRIAL_TIME,
            pending: 0,
            is_extended: false,
            acked: 0,
            lost: 0,
            rate_before: self.rate,
            delivered,
            loss: self.total().loss(),
            queue: self.queue().unwrap_or_default(),
        });
        // What would arrive if the usual loss did not exist.
        let carried = (delivered as f32 / (1.0 - self.usual_loss).max(0.25)) as u32;
        self.rate = self.clamp_rate((carried / 4 * 3).min(self.rate / 10 * 9));
        self.pressure = pressure;
        self.forget_intervals();
    }

    fn evaluate_trial(&mut self, now: LocalTime, trial: Trial) {
        if now < trial.until || trial.pending > 0 && now < trial.until + MAX_OUTCOME_WAIT {
            return;
        }
        let lost = trial.lost
            + if self.is_silent(now) {
                0
            } else {
                self.losses_since_ack
            };
        let enough = trial.acked + lost >= MIN_OUTCOMES;
        let loss = lost as f32 / (trial.acked + lost).max(1) as f32;
        if !enough && !trial.is_extended {
            // Datagrams that left meanwhile do not count, because not all of them were counted.
            self.trial = Some(Trial {
                began: now,
                until: now + TRIAL_TIME,
                pending: 0,
                is_extended: true,
                ..trial
            });
            return;
        }
        let queue = self.queue().unwrap_or_default();
        let helped = match self.pressure {
            Pressure::Delay => queue <= SHORT_QUEUE.max(trial.queue * 7 / 10),
            Pressure::Loss | Pressure::None => loss <= self.usual_loss.midpoint(trial.loss),
        };
        self.trial = None;
        if helped && enough {
            self.rate = self.clamp_rate(
                (trial.delivered / 10 * 9)
                    .min(trial.rate_before)
                    .max(self.rate),
            );
            self.forget_intervals();
            return;
        }
        self.rate = self.clamp_rate(trial.rate_before);
        if enough && self.pressure == Pressure::Delay {
            let shortest = self.intervals.iter().fold(None, |least, interval| {
                shorter_of(least, interval.shortest_rtt)
            });
            self.shortest_rtt = ShortestRtt {
                current: shortest,
                previous: None,
                since: now,
            };
        } else if enough {
            self.usual_loss = self.usual_loss.max(loss);
            self.loss_estimates = 16;
            self.outcomes = self.outcomes.max(KNOWN_PATH_OUTCOMES);
        }
        self.pressure = Pressure::None;
        self.forget_intervals();
    }

    fn revoke_loss(&mut self) {
        let trial = self.trial.as_mut().map(|trial| &mut trial.lost);
        if self.losses_since_ack > 0 {
            self.losses_since_ack -= 1;
        } else if let Some(lost) = self
            .intervals
            .iter_mut()
            .map(|interval| &mut interval.lost)
            .find(|lost| **lost > 0)
        {
            *lost -= 1;
            if let Some(lost) = trial {
                *lost = lost.saturating_sub(1);
            }
        }
    }

    /// Whether there was no acknowledgement for so long that losses are to be ignored.
    fn is_silent(&self, now: LocalTime) -> bool {
        now.since(self.last_ack_at)
            >= SILENCE_AFTER + 2 * self.shortest_rtt.shortest().unwrap_or_default()
    }

    /// Records that the outcome of a datagram that left at `sent` is known.
    fn note_outcome(&mut self, sent: LocalTime) {
        if let Some(trial) = self
            .trial
            .as_mut()
            .filter(|trial| (trial.began..trial.until).contains(&sent))
        {
            trial.pending = trial.pending.saturating_sub(1);
        }
    }

    /// Whether a datagram counts: in a trial, only those that left during it; never those that left
    /// before or during a silence.
    fn is_counted(&self, sent: LocalTime) -> bool {
        sent >= self.silent_until
            && self
                .trial
                .is_none_or(|trial| (trial.began..trial.until).contains(&sent))
    }

    /// By how much the shortest round trip of the newest interval with enough samples exceeds the
    /// shortest of all.
    fn queue(&self) -> Option<Duration> {
        self.queues().0
    }

    /// The same for that interval and the one before it with enough samples.
    fn queues(&self) -> (Option<Duration>, Option<Duration>) {
        let mut queues = (0..INTERVAL_COUNT).filter_map(|back| self.queue_in(back));
        (queues.next(), queues.next())
    }

    /// The same for the interval `back` intervals ago, if it has enough samples.
    fn queue_in(&self, back: usize) -> Option<Duration> {
        let interval = self
            .intervals
            .get(back)
            .filter(|interval| interval.round_trips >= MIN_ROUND_TRIPS)?;
        Some(
            interval
                .shortest_rtt?
                .saturating_sub(self.shortest_rtt.shortest()?),
        )
    }

    fn total(&self) -> Interval {
        self.intervals
            .iter()
            .fold(Interval::default(), |sum, interval| Interval {
                acked: sum.acked + interval.acked,
                lost: sum.lost + interval.lost,
                ..sum
            })
    }

    fn begin_interval(&mut self, now: LocalTime) {
        self.intervals.rotate_right(1);
        self.intervals[0] = Interval::default();
        self.interval_began = now;
        if now.since(self.shortest_rtt.since) >= SHORTEST_RTT_SPAN {
            self.shortest_rtt = ShortestRtt {
                current: self.intervals[1].shortest_rtt,
                previous: self.shortest_rtt.current,
                since: now,
            };
        }
    }

    fn forget_intervals(&mut self) {
        self.intervals = [Interval::default(); INTERVAL_COUNT];
        self.losses_since_ack = 0;
    }

    fn clamp_rate(&self, rate: u32) -> u32 {
        rate.clamp((self.limit / 8).max(MIN_RATE).min(self.limit), self.limit)
    }
}

impl Interval {
    fn loss(self) -> f32 {
        self.lost as f32 / (self.acked + self.lost).max(1) as f32
    }
}

impl ShortestRtt {
    fn shortest(self) -> Option<Duration> {
        shorter_of(self.current, self.previous)
    }
}

fn shorter_of(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path that carries `capacity` bytes a second through a queue of 200 ms and loses `loss` of
    /// the rest. The sender always uses its whole rate.
    struct SimulatedPath {
        capacity: f64,
        loss: f64,
        one_way_delay: Duration,
        queue_bytes: f64,
        rng: fastrand::Rng,
        bytes: usize,
        jitter: Duration,
        /// The earliest time after sending at which a loss is known.
        lost_after: Duration,
        outcomes: std::collections::VecDeque<(LocalTime, LocalTime, Option<Duration>)>,
        now: LocalTime,
        earned: f64,
    }

    impl SimulatedPath {
        fn new(capacity: f64, loss: f64, seed: u64) -> Self {
            let (rng, now) = (
                fastrand::Rng::with_seed(seed),
                LocalTime::from_millis(10_000),
            );
            let (one_way_delay, outcomes) = (
                Duration::from_millis(100),
                std::collections::VecDeque::new(),
            );
            let lost_after = one_way_delay + Duration::from_millis(60);
            Self {
                capacity,
                loss,
                one_way_delay,
                queue_bytes: 0.0,
                rng,
                bytes: 500,
                jitter: Duration::from_millis(25),
                lost_after,
                outcomes,
                now,
                earned: 0.0,
            }
        }

        /// The mean rate of that time, and the longest queue.
        fn run(&mut self, controller: &mut RateController, millis: u64) -> (f64, Duration) {
            let (mut rates, mut longest) = (0.0, 0.0_f64);
            for _ in 0..millis {
                self.now += Duration::from_millis(1);
                self.queue_bytes = (self.queue_bytes - self.capacity / 1_000.0).max(0.0);
                self.earned += f64::from(controller.rate()) / 1_000.0;
                while self.earned >= self.bytes as f64 {
                    self.earned -= self.bytes as f64;
                    self.send();
                    controller.handle_sent(self.now);
                }
                while self
                    .outcomes
                    .front()
                    .is_some_and(|&(known_at, ..)| known_at <= self.now)
                {
                    let (_, sent, round_trip) = self.outcomes.pop_front().expect("just seen");
                    match round_trip {
                        Some(round_trip) => {
                            controller.handle_acked(self.now, sent, self.bytes, false);
                            controller.handle_round_trip(sent, round_trip);
                        }
                        None => controller.handle_lost(sent),
                    }
                }
                controller.handle_timeout(self.now);
                rates += f64::from(controller.rate()) / millis as f64;
                longest = longest.max(self.queue_bytes / self.capacity);
            }
            (rates, Duration::from_secs_f64(longest))
        }

        fn send(&mut self) {
            let wait = self.queue_bytes / self.capacity;
            let lost = wait > 0.2 || self.rng.f64() < self.loss;
            if wait <= 0.2 {
                self.queue_bytes += self.bytes as f64;
            }
            let round_trip = self.one_way_delay
                + Duration::from_secs_f64(wait)
                + Duration::from_micros(self.rng.u64(..self.jitter.as_micros() as u64));
            let least = if lost {
                self.lost_after
            } else {
                self.one_way_delay + Duration::from_millis(60)
            };
            let known_at = self.now + round_trip.max(least);
            let index = self
                .outcomes
                .partition_point(|(before, ..)| *before <= known_at);
            self.outcomes
                .insert(index, (known_at, self.now, (!lost).then_some(round_trip)));
        }
    }

    #[test]
    fn steady_random_loss_does_not_reduce_the_rate() {
        for (loss, least) in [
            (0.0, 31_999.0),
            (0.1, 31_000.0),
            (0.2, 30_000.0),
            (0.37, 25_000.0),
            (0.5, 24_000.0),
        ] {
            for seed in 0..10 {
                let (mut controller, mut path) = (
                    RateController::new(32_000),
                    SimulatedPath::new(1e9, loss, seed),
                );
                let (mean, _) = path.run(&mut controller, 20_000);
                assert!(mean >= least, "loss {loss}, seed {seed}: {mean}");
                let (mean, _) = path.run(&mut controller, 60_000);
                assert!(mean >= 31_000.0, "later, loss {loss}, seed {seed}: {mean}");
            }
        }
    }

    #[test]
    fn a_trial_waits_for_late_losses_when_few_datagrams_are_sent() {
        for seed in 0..20 {
            let (mut controller, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.6, seed),
            );
            path.lost_after = Duration::from_millis(900);
            path.bytes = 1_200;
            path.run(&mut controller, 12_000);
            let (mean, _) = path.run(&mut controller, 30_000);
            assert!(mean >= 31_000.0, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn loss_that_begins_later_costs_one_short_trial() {
        for seed in 0..10 {
            let (mut controller, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.0, seed),
            );
            path.run(&mut controller, 20_000);
            path.loss = 0.2;
            let (mean, _) = path.run(&mut controller, 10_000);
            assert!(mean > 27_000.0, "seed {seed}: {mean}");
            let (mean, _) = path.run(&mut controller, 30_000);
            assert!(mean > 31_000.0, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn a_bottleneck_is_found_within_seconds_and_its_queue_drains() {
        for (capacity, loss) in [
            (16_000.0, 0.0),
            (16_000.0, 0.1),
            (8_000.0, 0.0),
            (24_000.0, 0.0),
        ] {
            for seed in 0..10 {
                let (mut controller, mut path) = (
                    RateController::new(32_000),
                    SimulatedPath::new(capacity, loss, seed),
                );
                path.run(&mut controller, 4_000);
                let (mean, _) = path.run(&mut controller, 30_000);
                let summary = format!("{capacity} bytes/s, loss {loss}, seed {seed}: {mean}");
                assert!(mean < capacity * 1.05 && mean > capacity * 0.7, "{summary}");
                let (mut mean_queue, steps) = (Duration::ZERO, 300);
                for _ in 0..steps {
                    path.run(&mut controller, 100);
                    mean_queue += Duration::from_secs_f64(path.queue_bytes / capacity) / steps;
                }
                assert!(
                    mean_queue < Duration::from_millis(120),
                    "{summary}: a queue of {mean_queue:?}"
                );
                path.capacity = 1e9;
                path.run(&mut controller, 30_000);
                assert_eq!(controller.state().0, 32_000, "{summary}");
                assert_eq!(controller.state().1, Pressure::None);
            }
        }
    }

    #[test]
    fn a_policer_without_a_queue_is_detected_by_its_losses() {
        // Half of the traffic exceeds the limit and is dropped at once.
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        let mut mean = 0.0;
        for step in 0..300 {
            path.loss = (1.0 - 16_000.0 / f64::from(controller.rate())).max(0.0);
            path.run(&mut controller, 100);
            mean += if step >= 50 {
                f64::from(controller.rate()) / 250.0
            } else {
                0.0
            };
        }
        assert!((10_000.0..20_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn jitter_is_not_taken_for_a_queue() {
        for seed in 0..20 {
            let (mut controller, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.13, seed),
            );
            (path.bytes, path.jitter) = (1_600, Duration::from_millis(85));
            let (mean, _) = path.run(&mut controller, 120_000);
            assert!(mean >= 31_000.0, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn a_longer_path_is_taken_for_a_queue_only_briefly() {
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        path.run(&mut controller, 20_000);
        path.one_way_delay = Duration::from_millis(220);
        path.run(&mut controller, 5_000);
        assert_eq!(path.run(&mut controller, 30_000).0.round(), 32_000.0);
    }

    #[test]
    fn a_disconnected_path_is_not_taken_for_a_bottleneck() {
        let (mut controller, mut path) =
            (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        path.run(&mut controller, 20_000);
        path.loss = 1.0;
        path.run(&mut controller, 3_000);
        path.loss = 0.0;
        assert!(path.run(&mut controller, 2_000).0 >= 31_999.0);
    }

    #[test]
    fn the_rate_always_stays_between_floor_and_limit() {
        for seed in 0..50 {
            let (mut rng, mut now) = (fastrand::Rng::with_seed(seed), LocalTime::ZERO);
            let mut controller = RateController::new(64_000);
            for _ in 0..5_000 {
                now += Duration::from_millis(rng.u64(..40));
                let sent = now.saturating_sub(Duration::from_millis(rng.u64(..3_000)));
                match rng.u32(..4) {
                    0 => controller.handle_acked(now, sent, rng.usize(..1_200), rng.bool()),
                    1 => controller
                        .handle_round_trip(sent, Duration::from_micros(rng.u64(..5_000_000))),
                    2 => controller.handle_lost(sent),
                    _ => controller.handle_timeout(now),
                }
                assert!((8_000..=64_000).contains(&controller.rate()));
            }
        }
    }
}
