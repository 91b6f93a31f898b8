//! What Agones is told of this host, and when.
//!
//! What the host carries and what became of each call go in; the calls that are due come out, and
//! news for the log. No clock, socket or thread.
//!
//! What always holds:
//! 1. At most one call of each kind is under way, so that a slow answer to one delays no other:
//!    health least of all.
//! 2. `Ready` is said once, as soon as the WorldServer has taken this host.
//! 3. A counter is told what it is when it is told, once in `COUNT_EVERY` at most: each costs a
//!    write in Kubernetes.
//! 4. What fails is tried again, ever more rarely; the log hears of the first failure and of the
//!    end of it.
//! 5. After `handle_end` nothing but `Shutdown` leaves.
//!
//! Source: Agones, `proto/sdk/sdk.proto` and `proto/sdk/beta/beta.proto`.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::time::Duration;

use ambit_proto::time::LocalTime;

/// Agones' own kits gather changes of a counter for so long.
const COUNT_EVERY: Duration = Duration::from_secs(1);

/// Health is told twice in each period that the fleet sets; this is half of Agones' default.
const HEALTH_EVERY: Duration = Duration::from_millis(2_500);
/// Bounds of that: a fleet may set any period.
const HEALTH_BOUNDS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Waits before another try: doubled from the first to the last.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LAST_BACKOFF: Duration = Duration::from_secs(10);

/// What a host carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Whether a WorldServer has taken it: rooms may come.
    pub(crate) in_service: bool,
    pub(crate) rooms: u32,
    /// Rooms at most.
    pub(crate) capacity: u32,
    pub(crate) players: u32,
    /// Of all its rooms.
    pub(crate) seats: u32,
}

impl Load {
    /// The count and its limit; Agones refuses a count beyond it.
    fn figures(self, counter: Counter) -> Figures {
        let (count, capacity) = match counter {
            Counter::Rooms => (self.rooms, self.capacity),
            Counter::Players => (self.players, self.seats),
        };
        Figures {
            count,
            capacity: capacity.max(count),
        }
    }
}

/// A counter that the fleet declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counter {
    Rooms,
    Players,
}

impl Counter {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rooms => "rooms",
            Self::Players => "players",
        }
    }
}

/// Of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) count: u32,
    pub(crate) capacity: u32,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// What does Agones say of this server?
    Look,
    /// Rooms may come.
    Ready,
    Health,
    Count(Counter, Figures),
    /// This server ends.
    Shutdown,
}

impl Call {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Look => Kind::Look,
            Self::Ready => Kind::Ready,
            Self::Health => Kind::Health,
            Self::Count(counter, _) => Kind::Count(counter),
            Self::Shutdown => Kind::Shutdown,
        }
    }
}

/// A call without what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Health,
    Look,
    Ready,
    Count(Counter),
    Shutdown,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Health,
        Self::Look,
        Self::Ready,
        Self::Count(Counter::Rooms),
        Self::Count(Counter::Players),
        Self::Shutdown,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Health => f.write_str("health"),
            Self::Look => f.write_str("the look at its GameServer"),
            Self::Ready => f.write_str("ready"),
            Self::Count(counter) => write!(f, "the counter '{}'", counter.name()),
            Self::Shutdown => f.write_str("shutdown"),
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Done,
    /// To `Look`.
    GameServer {
        /// Whether players' way to this server is known.
        placed: bool,
        /// How often health is expected; `None` if never.
        health_period: Option<Duration>,
    },
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nobody listens.
    Unreachable(String),
    /// An error came back, or nothing in time.
    Refused(String),
}

/// For the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// There is no Agones, and why one thinks so.
    Missing(String),
    Found,
    /// For the first time in a row.
    Fails(Kind, String),
    /// Again; or for the only time, where once is all that is needed.
    Works(Kind),
}

/// When a kind of call is due.
#[derive(Clone, Debug)]
struct Turn {
    /// `LocalTime::MAX` for never.
    due: LocalTime,
    under_way: bool,
    backoff: Duration,
    fails: bool,
}

impl Turn {
    fn due(due: LocalTime) -> Self {
        Self {
            due,
            under_way: false,
            backoff: FIRST_BACKOFF,
            fails: false,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Report {
    /// Whether the look has to go on until Agones knows players' way to this server.
    needs_place: bool,
    turns: BTreeMap<Kind, Turn>,
    load: Option<Load>,
    /// What the counters were told, and when.
    told: BTreeMap<Counter, (Figures, LocalTime)>,
    ready: bool,
    /// `None` if nobody wants to hear of it.
    health_every: Option<Duration>,
    missing: bool,
    news: VecDeque<News>,
    ending: bool,
    ended: bool,
}

impl Report {
    pub(crate) fn new(now: LocalTime, needs_place: bool) -> Self {
        let first = |kind| {
            if matches!(kind, Kind::Look | Kind::Health) {
                now
            } else {
                LocalTime::MAX
            }
        };
        Self {
            needs_place,
            turns: Kind::ALL
                .into_iter()
                .map(|kind| (kind, Turn::due(first(kind))))
                .collect(),
            load: None,
            told: BTreeMap::new(),
            ready: false,
            health_every: Some(HEALTH_EVERY),
            missing: false,
            news: VecDeque::new(),
            ending: false,
            ended: false,
        }
    }

    /// What the host carries now.
    pub(crate) fn handle_load(&mut self, now: LocalTime, load: Load) {
        self.load = Some(load);
        if self.ending {
            return;
        }
        if load.in_service && !self.ready {
            self.set_due(Kind::Ready, now);
        }
        for counter in [Counter::Rooms, Counter::Players] {
            let due = match self.told.get(&counter) {
                Some((told, _)) if *told == load.figures(counter) => continue,
                Some((_, at)) => *at + COUNT_EVERY,
                None => now,
            };
            self.set_due(Kind::Count(counter), due.max(now));
        }
    }

    /// The host ends; its rooms are handed over or closed.
    pub(crate) fn handle_end(&mut self, now: LocalTime) {
        self.ending = true;
        for turn in self.turns.values_mut() {
            turn.due = LocalTime::MAX;
        }
        self.set_due(Kind::Shutdown, now);
    }

    /// What became of a call.
    pub(crate) fn handle_answer(
        &mut self,
        now: LocalTime,
        call: Call,
        result: Result<Answer, Trouble>,
    ) {
        let kind = call.kind();
        self.turn(kind).under_way = false;
        match result {
            Ok(answer) => {
                self.take(now, call, &answer);
                let turn = self.turn(kind);
                turn.backoff = FIRST_BACKOFF;
                let failed = std::mem::take(&mut turn.fails);
                if std::mem::take(&mut self.missing) {
                    self.news.push_back(News::Found);
                }
                // These two are what an operator waits for.
                if failed || matches!(kind, Kind::Ready | Kind::Shutdown) {
                    self.news.push_back(News::Works(kind));
                }
            }
            Err(trouble) => {
                self.try_again(now, kind, &trouble);
                match trouble {
                    Trouble::Unreachable(_) if std::mem::replace(&mut self.missing, true) => {}
                    Trouble::Unreachable(why) => self.news.push_back(News::Missing(why)),
                    Trouble::Refused(_) if std::mem::replace(&mut self.turn(kind).fails, true) => {}
                    Trouble::Refused(why) => self.news.push_back(News::Fails(kind, why)),
                }
            }
        }
    }

    /// The next news, until there are none: two at most for each answer.
    pub(crate) fn poll_news(&mut self) -> Option<News> {
        self.news.pop_front()
    }

    /// The next call that is due.
    pub(crate) fn poll_call(&mut self, now: LocalTime) -> Option<Call> {
        loop {
            let kind = Kind::ALL
                .into_iter()
                .find(|kind| self.turns[kind].due <= now && !self.turns[kind].under_way)?;
            self.turn(kind).due = LocalTime::MAX;
            if let Some(call) = self.call(kind) {
                self.turn(kind).under_way = true;
                return Some(call);
            }
        }
    }

    /// When to poll again, if nothing goes in before.
    pub(crate) fn next_deadline(&self) -> Option<LocalTime> {
        let waiting = self
            .turns
            .values()
            .filter(|turn| !turn.under_way && turn.due != LocalTime::MAX);
        waiting.map(|turn| turn.due).min()
    }

    /// Whether there is no more to say.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// What a call says is decided when it leaves; a counter that is what it was needs none.
    fn call(&self, kind: Kind) -> Option<Call> {
        Some(match kind {
            Kind::Look => Call::Look,
            Kind::Ready => Call::Ready,
            Kind::Health => Call::Health,
            Kind::Shutdown => Call::Shutdown,
            Kind::Count(counter) => {
                let figures = self.load?.figures(counter);
                let known = self
                    .told
                    .get(&counter)
                    .is_some_and(|(told, _)| *told == figures);
                return (!known).then_some(Call::Count(counter, figures));
            }
        })
    }

    fn take(&mut self, now: LocalTime, call: Call, answer: &Answer) {
        match call {
            Call::Look => {
                let Answer::GameServer {
                    placed,
                    health_period,
                } = *answer
                else {
                    return;
                };
                let (least, most) = HEALTH_BOUNDS;
                self.health_every = health_period.map(|period| (period / 2).clamp(least, most));
                if self.needs_place && !placed {
                    self.set_due(Kind::Look, now + FIRST_BACKOFF);
                }
            }
            Call::Ready => {
                self.ready = true;
                self.turn(Kind::Ready).due = LocalTime::MAX;
            }
            Call::Health => {
                if let Some(every) = self.health_every {
                    self.set_due(Kind::Health, now + every);
                }
            }
            Call::Count(counter, figures) => {
                self.told.insert(counter, (figures, now));
                let changed = self
                    .load
                    .is_some_and(|load| load.figures(counter) != figures);
                self.turn(Kind::Count(counter)).due = LocalTime::MAX;
                if changed {
                    self.set_due(Kind::Count(counter), now + COUNT_EVERY);
                }
            }
            Call::Shutdown => self.ended = true,
        }
    }

    fn try_again(&mut self, now: LocalTime, kind: Kind, trouble: &Trouble) {
        if kind == Kind::Shutdown && matches!(trouble, Trouble::Unreachable(_)) {
            // Who is not there need not be told.
            self.ended = true;
            return;
        }
        let most = match (kind, self.health_every) {
            (Kind::Health, None) => return,
            (Kind::Health, Some(every)) => every,
            _ => LAST_BACKOFF,
        };
        let turn = self.turn(kind);
        let backoff = turn.backoff.min(most);
        turn.backoff = (turn.backoff * 2).min(LAST_BACKOFF);
        turn.due = LocalTime::MAX;
        self.set_due(kind, now + backoff);
    }

    /// Unless something earlier is due, or the last try failed and the next one has its time.
    fn set_due(&mut self, kind: Kind, due: LocalTime) {
        if self.ending && kind != Kind::Shutdown {
            return;
        }
        let turn = self.turn(kind);
        if turn.due == LocalTime::MAX {
            turn.due = due;
        }
    }

    fn turn(&mut self, kind: Kind) -> &mut Turn {
        self.turns
            .get_mut(&kind)
            .expect("there is a turn for each kind")
    }
}

#[cfg(test)]
mod tests;
