//! Decides what this host reports to Agones, and when.
//!
//! The host's load and the results of calls go in; due calls and events for the log come out. No
//! clock, socket or thread.
//!
//! Invariants:
//! 1. At most one call of each kind is in flight. So a slow answer to one call delays no other,
//!    health calls least of all.
//! 2. `Ready` is sent once, as soon as the WorldServer has accepted this host.
//! 3. A counter call carries the value of the time it is sent, at most once in `COUNTER_INTERVAL`:
//!    each call costs a write in Kubernetes.
//! 4. Failed calls are retried with backoff; the first failure and the recovery are logged.
//! 5. After `handle_shutdown` only `Shutdown` is sent.
//!
//! Source: Agones, `proto/sdk/sdk.proto` and `proto/sdk/beta/beta.proto`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use ambit_proto::time::LocalTime;
use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use derive_more::Display;

/// The interval in which Agones' own SDKs batch changes of a counter.
const COUNTER_INTERVAL: Duration = Duration::from_secs(1);

/// Health is sent twice in each period that the fleet sets; this is half of Agones' default.
const DEFAULT_HEALTH_INTERVAL: Duration = Duration::from_millis(2_500);
/// Bounds of the interval: a fleet may set any period.
const HEALTH_BOUNDS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Backoff before a retry: doubles from the first to the last value.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LAST_BACKOFF: Duration = Duration::from_secs(10);
const BACKOFFS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(FIRST_BACKOFF)
    .with_max_delay(LAST_BACKOFF)
    .without_max_times();

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostLoad {
    /// Whether a WorldServer has accepted the host, so that it can get rooms.
    pub(crate) in_service: bool,
    pub(crate) rooms: u32,
    /// The largest number of rooms.
    pub(crate) capacity: u32,
    pub(crate) players: u32,
    /// The seats of all its rooms.
    pub(crate) seats: u32,
}

impl HostLoad {
    /// The count and its limit; Agones refuses a count above the limit.
    fn counter_value(self, counter: FleetCounter) -> CounterValue {
        let (count, capacity) = match counter {
            FleetCounter::Rooms => (self.rooms, self.capacity),
            FleetCounter::Players => (self.players, self.seats),
        };
        CounterValue { count, capacity: capacity.max(count) }
    }
}

/// A counter that the fleet declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FleetCounter {
    Rooms,
    Players,
}

impl FleetCounter {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rooms => "rooms",
            Self::Players => "players",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterValue {
    pub(crate) count: u32,
    pub(crate) capacity: u32,
}

/// One request to the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SidecarCall {
    /// Asks what Agones knows of this server.
    GetGameServer,
    /// This server can get rooms.
    Ready,
    Health,
    Count(FleetCounter, CounterValue),
    /// This server shuts down.
    Shutdown,
}

impl SidecarCall {
    pub(crate) fn kind(self) -> CallKind {
        match self {
            Self::GetGameServer => CallKind::GetGameServer,
            Self::Ready => CallKind::Ready,
            Self::Health => CallKind::Health,
            Self::Count(counter, _) => CallKind::Count(counter),
            Self::Shutdown => CallKind::Shutdown,
        }
    }
}

/// A call without its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
pub(crate) enum CallKind {
    #[display("health")]
    Health,
    #[display("the request for its GameServer")]
    GetGameServer,
    #[display("ready")]
    Ready,
    #[display("the counter '{}'", _0.name())]
    Count(FleetCounter),
    #[display("shutdown")]
    Shutdown,
}

impl CallKind {
    const ALL: [Self; 6] = [
        Self::Health,
        Self::GetGameServer,
        Self::Ready,
        Self::Count(FleetCounter::Rooms),
        Self::Count(FleetCounter::Players),
        Self::Shutdown,
    ];
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SidecarAnswer {
    Done,
    /// The answer to `GetGameServer`.
    GameServer {
        /// Whether the public address of this server is known.
        has_address: bool,
        /// The expected period of health calls; `None` if they are disabled.
        health_period: Option<Duration>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// There is no sidecar at the port.
    Unreachable(String),
    /// The sidecar answered with an error, or not in time.
    Refused(String),
}

/// An event for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportEvent {
    /// There is no sidecar, with the reason.
    SidecarMissing(String),
    SidecarFound,
    /// The first failure in a row.
    CallFailed(CallKind, String),
    /// The first success after a failure, or the success of a call that is made only once.
    CallSucceeded(CallKind),
}

/// When calls of one kind are due.
#[derive(Debug)]
struct CallSchedule {
    /// `LocalTime::MAX` for never.
    due: LocalTime,
    in_flight: bool,
    backoffs: ExponentialBackoff,
    is_failing: bool,
}

impl CallSchedule {
    fn due(due: LocalTime) -> Self {
        Self { due, in_flight: false, backoffs: BACKOFFS.build(), is_failing: false }
    }
}

/// The state of the reporting. See the module.
#[derive(Debug, Default)]
pub(crate) struct AgonesReporter {
    /// Whether `GetGameServer` is repeated until Agones knows the public address.
    needs_address: bool,
    schedules: BTreeMap<CallKind, CallSchedule>,
    load: Option<HostLoad>,
    /// The last value sent of each counter, and when.
    reported: BTreeMap<FleetCounter, (CounterValue, LocalTime)>,
    ready: bool,
    /// `None` if health calls are disabled.
    health_interval: Option<Duration>,
    is_sidecar_missing: bool,
    events: VecDeque<ReportEvent>,
    ending: bool,
    ended: bool,
}

impl AgonesReporter {
    pub(crate) fn new(now: LocalTime, needs_address: bool) -> Self {
        let first = |kind| {
            if matches!(kind, CallKind::GetGameServer | CallKind::Health) {
                now
            } else {
                LocalTime::MAX
            }
        };
        Self {
            needs_address,
            schedules: CallKind::ALL
                .into_iter()
                .map(|kind| (kind, CallSchedule::due(first(kind))))
                .collect(),
            health_interval: Some(DEFAULT_HEALTH_INTERVAL),
            ..Self::default()
        }
    }

    /// Takes the current load of the host.
    pub(crate) fn handle_load(&mut self, now: LocalTime, load: HostLoad) {
        self.load = Some(load);
        if self.ending {
            return;
        }
        if load.in_service && !self.ready {
            self.set_due(CallKind::Ready, now);
        }
        for counter in [FleetCounter::Rooms, FleetCounter::Players] {
            let due = match self.reported.get(&counter) {
                Some((reported, _)) if *reported == load.counter_value(counter) => continue,
                Some((_, at)) => *at + COUNTER_INTERVAL,
                None => now,
            };
            self.set_due(CallKind::Count(counter), due.max(now));
        }
    }

    /// The host shuts down; its rooms are handed over or closed.
    pub(crate) fn handle_shutdown(&mut self, now: LocalTime) {
        self.ending = true;
        for turn in self.schedules.values_mut() {
            turn.due = LocalTime::MAX;
        }
        self.set_due(CallKind::Shutdown, now);
    }

    /// Takes the result of a call.
    pub(crate) fn handle_answer(
        &mut self,
        now: LocalTime,
        call: SidecarCall,
        result: Result<SidecarAnswer, CallError>,
    ) {
        let kind = call.kind();
        self.schedule_mut(kind).in_flight = false;
        match result {
            Ok(answer) => {
                self.handle_success(now, call, &answer);
                let turn = self.schedule_mut(kind);
                turn.backoffs = BACKOFFS.build();
                let failed = std::mem::take(&mut turn.is_failing);
                if std::mem::take(&mut self.is_sidecar_missing) {
                    self.events.push_back(ReportEvent::SidecarFound);
                }
                // These two are what an operator waits for.
                if failed || matches!(kind, CallKind::Ready | CallKind::Shutdown) {
                    self.events.push_back(ReportEvent::CallSucceeded(kind));
                }
            }
            Err(error) => {
                self.schedule_retry(now, kind, &error);
                match error {
                    CallError::Unreachable(_)
                        if std::mem::replace(&mut self.is_sidecar_missing, true) => {}
                    CallError::Unreachable(why) => {
                        self.events.push_back(ReportEvent::SidecarMissing(why));
                    }
                    CallError::Refused(_)
                        if std::mem::replace(&mut self.schedule_mut(kind).is_failing, true) => {}
                    CallError::Refused(why) => {
                        self.events.push_back(ReportEvent::CallFailed(kind, why));
                    }
                }
            }
        }
    }

    /// The next event, until there are none: at most two for each answer.
    pub(crate) fn poll_event(&mut self) -> Option<ReportEvent> {
        self.events.pop_front()
    }

    /// The next call that is due.
    pub(crate) fn poll_call(&mut self, now: LocalTime) -> Option<SidecarCall> {
        loop {
            let kind = CallKind::ALL
                .into_iter()
                .find(|kind| self.schedules[kind].due <= now && !self.schedules[kind].in_flight)?;
            self.schedule_mut(kind).due = LocalTime::MAX;
            if let Some(call) = self.build_call(kind) {
                self.schedule_mut(kind).in_flight = true;
                return Some(call);
            }
        }
    }

    /// When to poll again, if nothing goes in before.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        let waiting =
            self.schedules.values().filter(|turn| !turn.in_flight && turn.due != LocalTime::MAX);
        waiting.map(|turn| turn.due).min()
    }

    /// Whether nothing more will be sent.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The contents of a call are those of the time it is sent. An unchanged counter needs no call.
    fn build_call(&self, kind: CallKind) -> Option<SidecarCall> {
        Some(match kind {
            CallKind::GetGameServer => SidecarCall::GetGameServer,
            CallKind::Ready => SidecarCall::Ready,
            CallKind::Health => SidecarCall::Health,
            CallKind::Shutdown => SidecarCall::Shutdown,
            CallKind::Count(counter) => {
                let figures = self.load?.counter_value(counter);
                let known =
                    self.reported.get(&counter).is_some_and(|(reported, _)| *reported == figures);
                return (!known).then_some(SidecarCall::Count(counter, figures));
            }
        })
    }

    fn handle_success(&mut self, now: LocalTime, call: SidecarCall, answer: &SidecarAnswer) {
        match call {
            SidecarCall::GetGameServer => {
                let SidecarAnswer::GameServer { has_address: placed, health_period } = *answer
                else {
                    return;
                };
                let (least, most) = HEALTH_BOUNDS;
                self.health_interval = health_period.map(|period| (period / 2).clamp(least, most));
                if self.needs_address && !placed {
                    self.set_due(CallKind::GetGameServer, now + FIRST_BACKOFF);
                }
            }
            SidecarCall::Ready => {
                self.ready = true;
                self.schedule_mut(CallKind::Ready).due = LocalTime::MAX;
            }
            SidecarCall::Health => {
                if let Some(every) = self.health_interval {
                    self.set_due(CallKind::Health, now + every);
                }
            }
            SidecarCall::Count(counter, figures) => {
                self.reported.insert(counter, (figures, now));
                let changed = self.load.is_some_and(|load| load.counter_value(counter) != figures);
                self.schedule_mut(CallKind::Count(counter)).due = LocalTime::MAX;
                if changed {
                    self.set_due(CallKind::Count(counter), now + COUNTER_INTERVAL);
                }
            }
            SidecarCall::Shutdown => self.ended = true,
        }
    }

    fn schedule_retry(&mut self, now: LocalTime, kind: CallKind, error: &CallError) {
        if kind == CallKind::Shutdown && matches!(error, CallError::Unreachable(_)) {
            // A missing sidecar needs no notification.
            self.ended = true;
            return;
        }
        let most = match (kind, self.health_interval) {
            (CallKind::Health, None) => return,
            (CallKind::Health, Some(every)) => every,
            _ => LAST_BACKOFF,
        };
        let turn = self.schedule_mut(kind);
        let backoff = turn.backoffs.next().expect("backoffs have no end").min(most);
        turn.due = LocalTime::MAX;
        self.set_due(kind, now + backoff);
    }

    /// Does nothing if an earlier time is set, or if the last call failed and its retry has a time.
    fn set_due(&mut self, kind: CallKind, due: LocalTime) {
        if self.ending && kind != CallKind::Shutdown {
            return;
        }
        let turn = self.schedule_mut(kind);
        if turn.due == LocalTime::MAX {
            turn.due = due;
        }
    }

    fn schedule_mut(&mut self, kind: CallKind) -> &mut CallSchedule {
        self.schedules.get_mut(&kind).expect("there is a schedule for each kind")
    }
}

#[cfg(test)]
mod tests;
