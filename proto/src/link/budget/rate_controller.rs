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

#[derive(Clone, Debug, Default)]
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
        Self { limit, rate: limit, ..Self::default() }
    }

    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    /// Keeps the rate's share of the limit.
    pub(super) fn set_limit(&mut self, limit: u32) {
        let scaled =
            |rate: u32| (u64::from(rate) * u64::from(limit) / u64::from(self.limit)) as u32;
        let rate = scaled(self.rate);
        let before = self.trial.map(|trial| scaled(trial.rate_before));
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
        let length =
            INTERVAL.max(self.shortest_rtt.shortest().unwrap_or_default().min(2 * INTERVAL));
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
        self.outcomes =
            self.outcomes.saturating_add(self.intervals[0].acked + self.intervals[0].lost);
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
            self.rate = self.clamp_rate(self.rate.saturating_add(step as u32));
        }
        if self.rate == self.limit {
            self.pressure = Pressure::None;
        }
    }

    /// Whether the losses exceed the path's own loss by more than three standard deviations.
    fn is_unusual(&self, total: Interval) -> bool {
        let known = self.usual_loss + LOSS_MARGIN;
        let usual =
            if self.outcomes < KNOWN_PATH_OUTCOMES { known.max(UNKNOWN_PATH_LOSS) } else { known };
        let count = (total.acked + total.lost) as f32;
        let deviation = (count * usual * (1.0 - usual).max(0.0)).sqrt();
        total.acked + total.lost >= MIN_OUTCOMES
            && total.lost as f32 > count * usual + 3.0 * deviation + 1.0
    }

    fn begin_trial(&mut self, now: LocalTime, pressure: Pressure) {
        let delivered = self.intervals.iter().map(|interval| interval.bytes).max().unwrap_or(0);
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
        let lost = trial.lost + if self.is_silent(now) { 0 } else { self.losses_since_ack };
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
            self.rate =
                self.clamp_rate((trial.delivered / 10 * 9).min(trial.rate_before).max(self.rate));
            self.forget_intervals();
            return;
        }
        self.rate = self.clamp_rate(trial.rate_before);
        if enough && self.pressure == Pressure::Delay {
            let shortest = self
                .intervals
                .iter()
                .fold(None, |least, interval| shorter_of(least, interval.shortest_rtt));
            self.shortest_rtt = ShortestRtt { current: shortest, previous: None, since: now };
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
        } else if let Some(lost) =
            self.intervals.iter_mut().map(|interval| &mut interval.lost).find(|lost| **lost > 0)
        {
            *lost -= 1;
            if let Some(lost) = trial {
                *lost = lost.saturating_sub(1);
            }
        }
    }

    /// Whether acknowledgements have been missing longer than [`SILENCE_AFTER`] and two round
    /// trips: then losses are ignored.
    fn is_silent(&self, now: LocalTime) -> bool {
        now.since(self.last_ack_at)
            >= SILENCE_AFTER + 2 * self.shortest_rtt.shortest().unwrap_or_default()
    }

    /// Records that the outcome of a datagram that left at `sent` is known.
    fn note_outcome(&mut self, sent: LocalTime) {
        if let Some(trial) =
            self.trial.as_mut().filter(|trial| (trial.began..trial.until).contains(&sent))
        {
            trial.pending = trial.pending.saturating_sub(1);
        }
    }

    /// Whether a datagram counts: in a trial, only those that left during it; never those that left
    /// before or during a silence.
    fn is_counted(&self, sent: LocalTime) -> bool {
        sent >= self.silent_until
            && self.trial.is_none_or(|trial| (trial.began..trial.until).contains(&sent))
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
        let interval =
            self.intervals.get(back).filter(|interval| interval.round_trips >= MIN_ROUND_TRIPS)?;
        Some(interval.shortest_rtt?.saturating_sub(self.shortest_rtt.shortest()?))
    }

    fn total(&self) -> Interval {
        self.intervals.iter().fold(Interval::default(), |sum, interval| Interval {
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
mod tests;
