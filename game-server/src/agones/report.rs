//! What Agones is told of this host, and when.
//!
//! What the host carries and what became of each call go in; the calls that are due come out, and
//! news for the log. No clock, socket or thread.
//!
//! What always holds:
//! 1. At most one call of each kind is under way, so that a slow answer to one delays no other:
//!    health least of all.
//! 2. `Ready` is said once, as soon as the WorldServer has taken this host.
//! 3. A counter is told what it is when it is told, once in `COUNTER_INTERVAL` at most: each costs
//!    a write in Kubernetes.
//! 4. What fails is tried again, ever more rarely; the log hears of the first failure and of the
//!    end of it.
//! 5. After `handle_end` nothing but `Shutdown` leaves.
//!
//! PoseSource: Agones, `proto/sdk/sdk.proto` and `proto/sdk/beta/beta.proto`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use ambit_proto::time::LocalTime;

/// Agones' own kits gather changes of a counter for so long.
const COUNTER_INTERVAL: Duration = Duration::from_secs(1);

/// HealthSpec is told twice in each period that the fleet sets; this is half of Agones' default.
const DEFAULT_HEALTH_INTERVAL: Duration = Duration::from_millis(2_500);
/// OffsetBounds of that: a fleet may set any period.
const HEALTH_BOUNDS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Waits before another try: doubled from the first to the last.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LAST_BACKOFF: Duration = Duration::from_secs(10);

/// What a host carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostLoad {
    /// Whether a WorldServer has taken it: rooms may come.
    pub(crate) in_service: bool,
    pub(crate) rooms: u32,
    /// Rooms at most.
    pub(crate) capacity: u32,
    pub(crate) players: u32,
    /// Of all its rooms.
    pub(crate) seats: u32,
}

impl HostLoad {
    /// The count and its limit; Agones refuses a count beyond it.
    fn counter_value(self, counter: FleetCounter) -> CounterValue {
        let (count, capacity) = match counter {
            FleetCounter::Rooms => (self.rooms, self.capacity),
            FleetCounter::Players => (self.players, self.seats),
        };
        CounterValue {
            count,
            capacity: capacity.max(count),
        }
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

/// Of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CounterValue {
    pub(crate) count: u32,
    pub(crate) capacity: u32,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SidecarCall {
    /// What does Agones say of this server?
    GetGameServer,
    /// Rooms may come.
    Ready,
    HealthSpec,
    Count(FleetCounter, CounterValue),
    /// This server ends.
    Shutdown,
}

impl SidecarCall {
    pub(crate) fn kind(self) -> CallKind {
        match self {
            Self::GetGameServer => CallKind::GetGameServer,
            Self::Ready => CallKind::Ready,
            Self::HealthSpec => CallKind::HealthSpec,
            Self::Count(counter, _) => CallKind::Count(counter),
            Self::Shutdown => CallKind::Shutdown,
        }
    }
}

/// A call without what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CallKind {
    HealthSpec,
    GetGameServer,
    Ready,
    Count(FleetCounter),
    Shutdown,
}

impl CallKind {
    const ALL: [Self; 6] = [
        Self::HealthSpec,
        Self::GetGameServer,
        Self::Ready,
        Self::Count(FleetCounter::Rooms),
        Self::Count(FleetCounter::Players),
        Self::Shutdown,
    ];
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HealthSpec => f.write_str("health"),
            Self::GetGameServer => f.write_str("the look at its GameServer"),
            Self::Ready => f.write_str("ready"),
            Self::Count(counter) => write!(f, "the counter '{}'", counter.name()),
            Self::Shutdown => f.write_str("shutdown"),
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SidecarAnswer {
    Done,
    /// To `Look`.
    GameServer {
        /// Whether players' way to this server is known.
        has_address: bool,
        /// How often health is expected; `Unchanged` if never.
        health_period: Option<Duration>,
    },
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// Nobody listens.
    Unreachable(String),
    /// An error came back, or nothing in time.
    Refused(String),
}

/// For the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportEvent {
    /// There is no Agones, and why one thinks so.
    SidecarMissing(String),
    SidecarFound,
    /// For the first time in a row.
    CallFailed(CallKind, String),
    /// Again; or for the only time, where once is all that is needed.
    CallSucceeded(CallKind),
}

/// When a kind of call is due.
#[derive(Clone, Debug)]
struct CallSchedule {
    /// `LocalTime::MAX` for never.
    due: LocalTime,
    in_flight: bool,
    backoff: Duration,
    is_failing: bool,
}

impl CallSchedule {
    fn due(due: LocalTime) -> Self {
        Self {
            due,
            in_flight: false,
            backoff: FIRST_BACKOFF,
            is_failing: false,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct AgonesReporter {
    /// Whether the look has to go on until Agones knows players' way to this server.
    needs_address: bool,
    schedules: BTreeMap<CallKind, CallSchedule>,
    load: Option<HostLoad>,
    /// What the counters were told, and when.
    reported: BTreeMap<FleetCounter, (CounterValue, LocalTime)>,
    ready: bool,
    /// `Unchanged` if nobody wants to hear of it.
    health_interval: Option<Duration>,
    is_sidecar_missing: bool,
    events: VecDeque<ReportEvent>,
    ending: bool,
    ended: bool,
}

impl AgonesReporter {
    pub(crate) fn new(now: LocalTime, needs_address: bool) -> Self {
        let first = |kind| {
            if matches!(kind, CallKind::GetGameServer | CallKind::HealthSpec) {
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
            load: None,
            reported: BTreeMap::new(),
            ready: false,
            health_interval: Some(DEFAULT_HEALTH_INTERVAL),
            is_sidecar_missing: false,
            events: VecDeque::new(),
            ending: false,
            ended: false,
        }
    }

    /// What the host carries now.
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
                Some((told, _)) if *told == load.counter_value(counter) => continue,
                Some((_, at)) => *at + COUNTER_INTERVAL,
                None => now,
            };
            self.set_due(CallKind::Count(counter), due.max(now));
        }
    }

    /// The host ends; its rooms are handed over or closed.
    pub(crate) fn handle_shutdown(&mut self, now: LocalTime) {
        self.ending = true;
        for turn in self.schedules.values_mut() {
            turn.due = LocalTime::MAX;
        }
        self.set_due(CallKind::Shutdown, now);
    }

    /// What became of a call.
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
                turn.backoff = FIRST_BACKOFF;
                let failed = std::mem::take(&mut turn.is_failing);
                if std::mem::take(&mut self.is_sidecar_missing) {
                    self.events.push_back(ReportEvent::SidecarFound);
                }
                // These two are what an operator waits for.
                if failed || matches!(kind, CallKind::Ready | CallKind::Shutdown) {
                    self.events.push_back(ReportEvent::CallSucceeded(kind));
                }
            }
            Err(trouble) => {
                self.schedule_retry(now, kind, &trouble);
                match trouble {
                    CallError::Unreachable(_)
                        if std::mem::replace(&mut self.is_sidecar_missing, true) => {}
                    CallError::Unreachable(why) => {
                        self.events.push_back(ReportEvent::SidecarMissing(why))
                    }
                    CallError::Refused(_)
                        if std::mem::replace(&mut self.schedule_mut(kind).is_failing, true) => {}
                    CallError::Refused(why) => {
                        self.events.push_back(ReportEvent::CallFailed(kind, why))
                    }
                }
            }
        }
    }

    /// The next news, until there are none: two at most for each answer.
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
        let waiting = self
            .schedules
            .values()
            .filter(|turn| !turn.in_flight && turn.due != LocalTime::MAX);
        waiting.map(|turn| turn.due).min()
    }

    /// Whether there is no more to say.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// What a call says is decided when it leaves; a counter that is what it was needs none.
    fn build_call(&self, kind: CallKind) -> Option<SidecarCall> {
        Some(match kind {
            CallKind::GetGameServer => SidecarCall::GetGameServer,
            CallKind::Ready => SidecarCall::Ready,
            CallKind::HealthSpec => SidecarCall::HealthSpec,
            CallKind::Shutdown => SidecarCall::Shutdown,
            CallKind::Count(counter) => {
                let figures = self.load?.counter_value(counter);
                let known = self
                    .reported
                    .get(&counter)
                    .is_some_and(|(told, _)| *told == figures);
                return (!known).then_some(SidecarCall::Count(counter, figures));
            }
        })
    }

    fn handle_success(&mut self, now: LocalTime, call: SidecarCall, answer: &SidecarAnswer) {
        match call {
            SidecarCall::GetGameServer => {
                let SidecarAnswer::GameServer {
                    has_address: placed,
                    health_period,
                } = *answer
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
            SidecarCall::HealthSpec => {
                if let Some(every) = self.health_interval {
                    self.set_due(CallKind::HealthSpec, now + every);
                }
            }
            SidecarCall::Count(counter, figures) => {
                self.reported.insert(counter, (figures, now));
                let changed = self
                    .load
                    .is_some_and(|load| load.counter_value(counter) != figures);
                self.schedule_mut(CallKind::Count(counter)).due = LocalTime::MAX;
                if changed {
                    self.set_due(CallKind::Count(counter), now + COUNTER_INTERVAL);
                }
            }
            SidecarCall::Shutdown => self.ended = true,
        }
    }

    fn schedule_retry(&mut self, now: LocalTime, kind: CallKind, trouble: &CallError) {
        if kind == CallKind::Shutdown && matches!(trouble, CallError::Unreachable(_)) {
            // Who is not there need not be told.
            self.ended = true;
            return;
        }
        let most = match (kind, self.health_interval) {
            (CallKind::HealthSpec, None) => return,
            (CallKind::HealthSpec, Some(every)) => every,
            _ => LAST_BACKOFF,
        };
        let turn = self.schedule_mut(kind);
        let backoff = turn.backoff.min(most);
        turn.backoff = (turn.backoff * 2).min(LAST_BACKOFF);
        turn.due = LocalTime::MAX;
        self.set_due(kind, now + backoff);
    }

    /// Unless something earlier is due, or the last try failed and the next one has its time.
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
        self.schedules
            .get_mut(&kind)
            .expect("there is a turn for each kind")
    }
}

#[cfg(test)]
mod tests;
