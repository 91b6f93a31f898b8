//! How much of the owner's limit the path seems to carry.
//!
//! Fates of datagrams and the time go in, a rate comes out. Two signs mean that less should be
//! sent: round trips that stay above the shortest known (a queue has built up), and losses clearly
//! beyond what the path loses anyway. Either leads to a *trial*: the rate goes down to three
//! quarters of what was seen to arrive. If the sign then goes, the trial was right, and the rate
//! climbs again from nine tenths of what arrived. If the sign stays, it was none of our doing
//! (radio, a longer way, somebody else's queue): it is what this path is like from then on, and the
//! rate is what it was. So steady random loss costs one short trial at most, and a bottleneck is
//! found in one step.
//!
//! Invariants:
//! 1. The rate lies between the floor (an eighth of the limit) and the limit.
//! 2. Losses during silence say nothing: a line that is cut is not a line that is narrow. After it
//!    the rate is as before.
//! 3. Within a trial only datagrams count that left while it was on, and all of them: losses are
//!    known later than arrivals, so a judgement without the last ones would find that it had
//!    helped.
//!
//! Units: bytes a second, as they are counted in the budget. Cost: a few additions a fate, a
//! decision every half second.

use std::time::Duration;

use super::MIN_RATE;
use crate::time::LocalTime;

/// Between two decisions.
const INTERVAL: Duration = Duration::from_millis(500);
/// So many intervals are judged together: two seconds.
const INTERVAL_COUNT: usize = 4;
/// Round trips this much beyond the shortest, and beyond what is usual, in all of two intervals,
/// are a queue. The peer's tick and its delay of acknowledgements explain half of that.
const LONG_QUEUE: Duration = Duration::from_millis(60);
/// Fewer in an interval say nothing.
const MIN_ROUND_TRIPS: u32 = 3;
/// A queue no longer than this is none.
const SHORT_QUEUE: Duration = Duration::from_millis(25);
/// The shortest round trip is that of the last one or two of these.
const SHORTEST_RTT_SPAN: Duration = Duration::from_secs(15);
/// A trial looks at what leaves in this time, which drains a queue of 200 ms, and is judged when
/// the fates of all that are known; if that is not enough, at what leaves in twice the time.
const TRIAL_TIME: Duration = Duration::from_millis(1_500);
/// It waits no longer than that for fates.
const MAX_OUTCOME_WAIT: Duration = Duration::from_secs(3);
/// Fates that make a judgement.
const MIN_OUTCOMES: u32 = 12;
/// PriorEstimate so many fates are known, a path may lose as much as [`UNKNOWN_PATH_LOSS`] by
/// itself, if not more has been seen.
const KNOWN_PATH_OUTCOMES: u32 = 200;
/// A fifth is what games must bear; and somewhat more.
const UNKNOWN_PATH_LOSS: f32 = 0.25;
/// Loss within this of the usual is usual.
const LOSS_MARGIN: f32 = 0.05;
/// Without an acknowledgement for so long (and two round trips), losses before the next one don't
/// count.
const SILENCE_AFTER: Duration = Duration::from_secs(1);
/// The rate climbs by a 25th of the limit a second.
const CLIMB_DIVISOR: u32 = 25;

/// Why the present rate is below the limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pressure {
    /// It is not, or it is on its way back.
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
    /// The present one first.
    intervals: [Interval; INTERVAL_COUNT],
    interval_began: LocalTime,
    shortest_rtt: ShortestRtt,
    /// What the path loses anyway, from 0 to 1.
    usual_loss: f32,
    /// By how much the shortest round trip of an interval is usually longer than the shortest of
    /// all: jitter, and few of them.
    usual_queue: Duration,
    /// How often the loss was looked at, and how many fates it rests on.
    loss_estimates: u8,
    outcomes: u32,
    trial: Option<Trial>,
    /// Losses since the last acknowledgement, and when that was.
    losses_since_ack: u32,
    last_ack_at: LocalTime,
    /// When the last silence ended: what left before says nothing.
    silent_until: LocalTime,
}

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    acked: u32,
    lost: u32,
    /// Of all that were acknowledged; once the interval is over, a second.
    bytes: u32,
    round_trips: u32,
    shortest_rtt: Option<Duration>,
}

/// The shortest round trip.
#[derive(Clone, Copy, Debug, Default)]
struct ShortestRtt {
    current: Option<Duration>,
    previous: Option<Duration>,
    since: LocalTime,
}

#[derive(Clone, Copy, Debug)]
struct Trial {
    began: LocalTime,
    /// What leaves before this counts.
    until: LocalTime,
    /// How many of those have no fate yet.
    pending: u32,
    /// Whether it goes on for a second time, since the first did not tell enough.
    is_extended: bool,
    /// And what became of the others.
    acked: u32,
    lost: u32,
    rate_before: u32,
    /// What arrived when it began.
    delivered: u32,
    loss: f32,
    queue: Duration,
}

impl RateController {
    pub(super) fn new(nominal: u32) -> Self {
        Self {
            limit: nominal,
            rate: nominal,
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

    /// The share of the limit stays.
    pub(super) fn set_limit(&mut self, nominal: u32) {
        let scaled =
            |rate: u32| (u64::from(rate) * u64::from(nominal) / u64::from(self.limit)) as u32;
        let (rate, before) = (
            scaled(self.rate),
            self.trial.map(|trial| scaled(trial.rate_before)),
        );
        self.limit = nominal;
        self.rate = self.clamp_rate(rate);
        if let (Some(trial), Some(before)) = (&mut self.trial, before) {
            trial.rate_before = before;
        }
    }

    /// The present rate, why it is what it is, and how long the queue on the path seems to be.
    pub(in crate::link) fn state(&self) -> (u32, Pressure, Duration) {
        (self.rate, self.pressure, self.queue().unwrap_or_default())
    }

    /// From 0 to 1.
    pub(in crate::link) fn usual_loss(&self) -> f32 {
        self.usual_loss
    }

    /// A datagram leaves that asks for an acknowledgement.
    pub(in crate::link) fn handle_sent(&mut self, now: LocalTime) {
        if let Some(trial) = self.trial.as_mut().filter(|trial| now < trial.until) {
            trial.pending += 1;
        }
    }

    /// A datagram that left at `sent` and costs so many bytes has arrived. One that had been taken
    /// for lost takes that back.
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
            // Jitter makes all of a few round trips long now and then, but hardly ever those of two
            // intervals. Until that is known, losses may be those of a queue, and say nothing about
            // the path.
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
            // A mean at first, later one that forgets within some seconds.
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

    /// More losses than three times the deviation beyond what the path may lose.
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
        // What arrives in spite of the usual loss, as it would be if nothing were lost.
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
            // What left meanwhile does not count: it was not looked at whole.
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

    /// One that was counted as lost was not.
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

    /// Whether there was no acknowledgement for so long that losses say nothing.
    fn is_silent(&self, now: LocalTime) -> bool {
        now.since(self.last_ack_at)
            >= SILENCE_AFTER + 2 * self.shortest_rtt.shortest().unwrap_or_default()
    }

    /// The fate of a datagram that left at `sent` is known.
    fn note_outcome(&mut self, sent: LocalTime) {
        if let Some(trial) = self
            .trial
            .as_mut()
            .filter(|trial| (trial.began..trial.until).contains(&sent))
        {
            trial.pending = trial.pending.saturating_sub(1);
        }
    }

    /// Within a trial, only what left while it was on; and nothing that left before or during a
    /// silence.
    fn is_counted(&self, sent: LocalTime) -> bool {
        sent >= self.silent_until
            && self
                .trial
                .is_none_or(|trial| (trial.began..trial.until).contains(&sent))
    }

    /// How much longer than the shortest the shortest round trip was in the newest interval that
    /// tells.
    fn queue(&self) -> Option<Duration> {
        self.queues().0
    }

    /// The same, and of the interval before that tells.
    fn queues(&self) -> (Option<Duration>, Option<Duration>) {
        let mut told = (0..INTERVAL_COUNT).filter_map(|back| self.queue_in(back));
        (told.next(), told.next())
    }

    /// The same of the interval so far back, if it tells.
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

    /// A path that carries `capacity` bytes a second in a queue of 200 ms, loses `loss` of the
    /// rest, and takes `way` both ways together; the sender always uses its whole rate, in
    /// datagrams of so many bytes.
    struct SimulatedPath {
        capacity: f64,
        loss: f64,
        one_way_delay: Duration,
        queue_bytes: f64,
        rng: fastrand::Rng,
        bytes: usize,
        jitter: Duration,
        /// When a loss is known, at the earliest.
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
            let (way, fates) = (
                Duration::from_millis(100),
                std::collections::VecDeque::new(),
            );
            let lost_after = way + Duration::from_millis(60);
            Self {
                capacity,
                loss,
                one_way_delay: way,
                queue_bytes: 0.0,
                rng,
                bytes: 500,
                jitter: Duration::from_millis(25),
                lost_after,
                outcomes: fates,
                now,
                earned: 0.0,
            }
        }

        /// The mean rate of that time, and the longest queue.
        fn run(&mut self, adapt: &mut RateController, millis: u64) -> (f64, Duration) {
            let (mut rates, mut longest) = (0.0, 0.0_f64);
            for _ in 0..millis {
                self.now += Duration::from_millis(1);
                self.queue_bytes = (self.queue_bytes - self.capacity / 1_000.0).max(0.0);
                self.earned += f64::from(adapt.rate()) / 1_000.0;
                while self.earned >= self.bytes as f64 {
                    self.earned -= self.bytes as f64;
                    self.send();
                    adapt.handle_sent(self.now);
                }
                while self
                    .outcomes
                    .front()
                    .is_some_and(|&(told, ..)| told <= self.now)
                {
                    let (_, sent, round_trip) = self.outcomes.pop_front().expect("just seen");
                    match round_trip {
                        Some(round_trip) => {
                            adapt.handle_acked(self.now, sent, self.bytes, false);
                            adapt.handle_round_trip(sent, round_trip);
                        }
                        None => adapt.handle_lost(sent),
                    }
                }
                adapt.handle_timeout(self.now);
                rates += f64::from(adapt.rate()) / millis as f64;
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
            let told = self.now + round_trip.max(least);
            let place = self
                .outcomes
                .partition_point(|(before, ..)| *before <= told);
            self.outcomes
                .insert(place, (told, self.now, (!lost).then_some(round_trip)));
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
                let (mut adapt, mut path) = (
                    RateController::new(32_000),
                    SimulatedPath::new(1e9, loss, seed),
                );
                let (mean, _) = path.run(&mut adapt, 20_000);
                assert!(mean >= least, "loss {loss}, seed {seed}: {mean}");
                let (mean, _) = path.run(&mut adapt, 60_000);
                assert!(mean >= 31_000.0, "later, loss {loss}, seed {seed}: {mean}");
            }
        }
    }

    #[test]
    fn a_trial_waits_for_late_losses_when_few_datagrams_are_sent() {
        for seed in 0..20 {
            let (mut adapt, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.6, seed),
            );
            path.lost_after = Duration::from_millis(900);
            path.bytes = 1_200;
            path.run(&mut adapt, 12_000);
            let (mean, _) = path.run(&mut adapt, 30_000);
            assert!(mean >= 31_000.0, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn loss_that_begins_later_costs_one_short_trial() {
        for seed in 0..10 {
            let (mut adapt, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.0, seed),
            );
            path.run(&mut adapt, 20_000);
            path.loss = 0.2;
            let (mean, _) = path.run(&mut adapt, 10_000);
            assert!(mean > 27_000.0, "seed {seed}: {mean}");
            let (mean, _) = path.run(&mut adapt, 30_000);
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
                let (mut adapt, mut path) = (
                    RateController::new(32_000),
                    SimulatedPath::new(capacity, loss, seed),
                );
                path.run(&mut adapt, 4_000);
                let (mean, _) = path.run(&mut adapt, 30_000);
                let told = format!("{capacity} bytes/s, loss {loss}, seed {seed}: {mean}");
                assert!(mean < capacity * 1.05 && mean > capacity * 0.7, "{told}");
                let (mut mean_queue, steps) = (Duration::ZERO, 300);
                for _ in 0..steps {
                    path.run(&mut adapt, 100);
                    mean_queue += Duration::from_secs_f64(path.queue_bytes / capacity) / steps;
                }
                assert!(
                    mean_queue < Duration::from_millis(120),
                    "{told}: a queue of {mean_queue:?}"
                );
                path.capacity = 1e9;
                path.run(&mut adapt, 30_000);
                assert_eq!(adapt.state().0, 32_000, "{told}");
                assert_eq!(adapt.state().1, Pressure::None);
            }
        }
    }

    #[test]
    fn a_policer_without_a_queue_is_detected_by_its_losses() {
        // Half of what is sent is too much, and is dropped at once.
        let (mut adapt, mut path) = (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        let mut mean = 0.0;
        for step in 0..300 {
            path.loss = (1.0 - 16_000.0 / f64::from(adapt.rate())).max(0.0);
            path.run(&mut adapt, 100);
            mean += if step >= 50 {
                f64::from(adapt.rate()) / 250.0
            } else {
                0.0
            };
        }
        assert!((10_000.0..20_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn jitter_is_not_taken_for_a_queue() {
        for seed in 0..20 {
            let (mut adapt, mut path) = (
                RateController::new(32_000),
                SimulatedPath::new(1e9, 0.13, seed),
            );
            (path.bytes, path.jitter) = (1_600, Duration::from_millis(85));
            let (mean, _) = path.run(&mut adapt, 120_000);
            assert!(mean >= 31_000.0, "seed {seed}: {mean}");
        }
    }

    #[test]
    fn a_longer_path_is_soon_recognised_as_such() {
        let (mut adapt, mut path) = (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        path.run(&mut adapt, 20_000);
        path.one_way_delay = Duration::from_millis(220);
        path.run(&mut adapt, 5_000);
        assert_eq!(path.run(&mut adapt, 30_000).0.round(), 32_000.0);
    }

    #[test]
    fn a_disconnected_path_is_not_taken_for_a_bottleneck() {
        let (mut adapt, mut path) = (RateController::new(32_000), SimulatedPath::new(1e9, 0.0, 1));
        path.run(&mut adapt, 20_000);
        path.loss = 1.0;
        path.run(&mut adapt, 3_000);
        path.loss = 0.0;
        assert!(path.run(&mut adapt, 2_000).0 >= 31_999.0);
    }

    #[test]
    fn the_rate_always_stays_between_floor_and_limit() {
        for seed in 0..50 {
            let (mut rng, mut now) = (fastrand::Rng::with_seed(seed), LocalTime::ZERO);
            let mut adapt = RateController::new(64_000);
            for _ in 0..5_000 {
                now += Duration::from_millis(rng.u64(..40));
                let sent = now.saturating_sub(Duration::from_millis(rng.u64(..3_000)));
                match rng.u32(..4) {
                    0 => adapt.handle_acked(now, sent, rng.usize(..1_200), rng.bool()),
                    1 => adapt.handle_round_trip(sent, Duration::from_micros(rng.u64(..5_000_000))),
                    2 => adapt.handle_lost(sent),
                    _ => adapt.handle_timeout(now),
                }
                assert!((8_000..=64_000).contains(&adapt.rate()));
            }
        }
    }
}
