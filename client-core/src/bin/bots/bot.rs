//! One bot on a real client: calls, joins, plays, reports. What it does in the game is up to
//! [`Crowd`], what it complains about to [`FaultDetector`].
//!
//! A bot wakes every [`BEAT`], a fraction of it after its neighbour, reads what has come since,
//! samples how old its picture is, and acts. Between two beats it costs nothing but the client's
//! own work.

use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::event::{ConnectionStatus, ErrorSubject, ViewEvent, Welcome};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::shell::{self, ClientEvents, ClientHandle, ClientOptions, ServerTrust};
use ambit_client_core::text::flags::DrawingFlags;
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::command_audit::CommandAudit;
use crate::crowd::{CrowdBot, SpellIds, Surroundings};
use crate::cubes::{CubesBot, HeldKeys};
use crate::dump::EventDump;
use crate::fault_detector::FaultDetector;
use crate::shown_positions::{self, ShownPositions, WATCHERS};
use crate::summary::{BotReport, ClientSnapshot};

/// How often a bot looks around.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// How often a bot looks that neither decides nor decodes much.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// The key that bots hold where the server walks.
const WALK_KEY: Keymap = Keymap(1);
/// Bots that look around one after the other before two do so together.
const PHASES: usize = 5;
/// How often the lobby is called before a bot gives up, as a person would.
const MAX_ATTEMPTS: usize = 3;
/// The pause before the next call.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(500);
/// How long an answer of the lobby may take; the start of a room takes longest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long the end may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the host is asked what it has of what it confirmed.
const AUDIT_INTERVAL: Duration = Duration::from_secs(1);
/// How long the answer to the last such question may take.
const LAST_AUDIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Between the last look and the end, so that no bot sees another one leave.
const QUIT_DELAY: Duration = Duration::from_millis(150);

/// What all bots have in common.
#[derive(Debug)]
pub(crate) struct BotSettings {
    pub(crate) server: String,
    pub(crate) trust: ServerTrust,
    pub(crate) impairment: Option<Impairment>,
    pub(crate) inputs: InputRate,
    /// Of all that bots do by chance.
    pub(crate) seed: u64,
    pub(crate) drawing: DrawingFlags,
    pub(crate) dump: Option<EventDump>,
    pub(crate) behavior: Behavior,
    /// Bots from this one on are light.
    pub(crate) full_clients: usize,
    pub(crate) shown: Option<ShownPositions>,
}

/// How bots live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    /// By their own decisions.
    Independent,
    /// The server walks the avatars, and bots hold a key.
    ServerWalked,
    /// By pushing cubes.
    Cubes,
    /// Without doing anything.
    Idle,
}

impl BotSettings {
    fn is_light(&self, index: usize) -> bool {
        index >= self.full_clients
    }

    fn look_interval(&self, index: usize) -> Duration {
        if matches!(self.behavior, Behavior::ServerWalked | Behavior::Idle) && self.is_light(index)
        {
            IDLE_LOOK_INTERVAL
        } else {
            LOOK_INTERVAL
        }
    }
}

/// Where the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunPhase {
    /// Bots are coming.
    Gathering,
    /// All are in, or never will be: it counts.
    Measuring,
    /// Time to go.
    Over,
}

/// A bot that has been welcomed.
pub(crate) struct Bot {
    index: usize,
    handle: ClientHandle,
    events: ClientEvents,
    fault_detector: FaultDetector,
    command_audit: CommandAudit,
    settings: Arc<BotSettings>,
}

impl Bot {
    /// Calls the lobby. An error says why there is no bot.
    pub(crate) async fn connect(
        common: &Arc<BotSettings>,
        index: usize,
    ) -> Result<(Self, Welcome), String> {
        let mut last = String::new();
        for _ in 0..MAX_ATTEMPTS {
            let (handle, events) = shell::start(options(common, index), ());
            let (witness, accounts) = (FaultDetector::default(), CommandAudit::default());
            let mut bot = Bot {
                index,
                handle,
                events,
                fault_detector: witness,
                command_audit: accounts,
                settings: common.clone(),
            };
            while let Some(event) = bot.next().await {
                if let ViewEvent::Welcome(welcome) = event {
                    return Ok((bot, welcome));
                }
            }
            bot.fault_detector
                .closed()
                .unwrap_or("the client ended")
                .clone_into(&mut last);
            sleep(ATTEMPT_PAUSE).await;
        }
        Err(last)
    }

    /// Asks the lobby, and returns what it answers.
    pub(crate) async fn ask(&mut self, request: LobbyRequest) -> Result<ViewEvent, String> {
        let what = request.description();
        let asked = self
            .handle
            .request(request)
            .await
            .map_err(|error| error.to_string())?;
        let answer = timeout(ANSWER_TIMEOUT, async {
            while let Some(event) = self.next().await {
                match &event {
                    ViewEvent::Rooms { request, .. }
                    | ViewEvent::Created { request, .. }
                    | ViewEvent::Joined { request, .. }
                    | ViewEvent::Done { request }
                        if *request == asked =>
                    {
                        return Ok(event);
                    }
                    ViewEvent::Error(failure)
                        if failure.subject == ErrorSubject::Request(asked) =>
                    {
                        return Err(format!("{}: {}", failure.code, failure.message));
                    }
                    _ => {}
                }
            }
            Err(self
                .fault_detector
                .closed()
                .unwrap_or("the client ended")
                .to_owned())
        });
        answer.await.unwrap_or_else(|_| {
            Err(format!(
                "asked to {what}, and no answer came within {ANSWER_TIMEOUT:?}"
            ))
        })
    }

    /// Waits until the avatar is in the game.
    pub(crate) async fn wait_for_avatar(&mut self, within: Duration) -> Result<(), String> {
        let arrival = timeout(within, async {
            while !self.fault_detector.is_in_game() {
                if self.next().await.is_none() {
                    return Err(self
                        .fault_detector
                        .closed()
                        .unwrap_or("the client ended")
                        .to_owned());
                }
                if self.fault_detector.room.is_none() {
                    return Err("thrown out of the room before the game began".to_owned());
                }
            }
            Ok(())
        });
        arrival
            .await
            .unwrap_or_else(|_| Err(format!("not in the game within {within:?}")))
    }

    /// Another way to its client.
    pub(crate) fn handle(&self) -> ClientHandle {
        self.handle.clone()
    }

    /// What it has seen so far.
    pub(crate) fn fault_detector(&self) -> &FaultDetector {
        &self.fault_detector
    }

    /// Plays until the run is over, then goes.
    pub(crate) async fn play(mut self, mut phase: watch::Receiver<RunPhase>) -> BotReport {
        let mut life = BotState::new(&self.settings, self.index);
        let every = self.settings.look_interval(self.index);
        sleep(every / PHASES as u32 * (self.index % PHASES) as u32).await;
        let mut beat = interval(every);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            while let Some(event) = self.events.try_next() {
                self.handle_event(&event);
            }
            let current = *phase.borrow_and_update();
            if current != RunPhase::Gathering && !life.has_span {
                life.has_span = true;
                life.first = if self.fault_detector.begin_span() {
                    self.snapshot().await
                } else {
                    None
                };
            }
            if current == RunPhase::Over || self.fault_detector.closed().is_some() {
                break;
            }
            self.act_once(&mut life).await;
            if life.now >= life.audit_at {
                life.audit_at = life.now + AUDIT_INTERVAL;
                self.audit().await;
            }
        }
        self.finish(life).await
    }

    /// Says goodbye, and waits until it has been heard.
    pub(crate) async fn leave(mut self) {
        // One that has ended already needs no goodbye.
        let _ = self.handle.quit().await;
        let _ = timeout(QUIT_TIMEOUT, async {
            while self.events.next().await.is_some() {}
        })
        .await;
    }

    /// Looks around, and perhaps does something.
    async fn act_once(&mut self, life: &mut BotState) {
        if self.settings.behavior != Behavior::Independent {
            return self.hold_keys(life).await;
        }
        let casts = life
            .crowd
            .as_ref()
            .is_some_and(|crowd| crowd.may_cast_by(life.now + LOOK_INTERVAL));
        let look = move |client: &mut Client, now| {
            client.sample_ages(now);
            Observation::new(client, now, casts)
        };
        let Ok(look) = self.handle.run(look).await else {
            return;
        };
        life.now = look.now;
        if let Some(age) = look.age.filter(|_| life.first.is_some()) {
            life.ages.add(age);
        }
        let Some(avatar) = look.avatar else { return };
        let crowd = life
            .crowd
            .get_or_insert_with(|| CrowdBot::new(look.now, life.seed));
        if let Some(action) = crowd.decide(look.now, &avatar) {
            self.act(action).await;
        }
    }

    /// Looks around, and holds what is to be held.
    async fn hold_keys(&mut self, life: &mut BotState) {
        let hands = life.keys_to_hold(self.settings.behavior);
        let light = self.settings.is_light(self.index);
        let shows = self.settings.shown.is_some() && self.index < WATCHERS;
        let look = move |client: &mut Client, now| {
            if let Some(hands) = hands {
                apply_keys(client, now, hands);
            }
            if light {
                return (now, None, None);
            }
            client.sample_ages(now);
            (
                now,
                client.age(now),
                if shows {
                    shown_positions::visible_positions(client, now)
                } else {
                    None
                },
            )
        };
        let Ok((now, age, seen)) = self.handle.run(look).await else {
            return;
        };
        life.now = now;
        if let Some(age) = age.filter(|_| life.first.is_some()) {
            life.ages.add(age);
        }
        if let Some((shown, seen)) = self
            .settings
            .shown
            .as_ref()
            .zip(seen)
            .filter(|_| life.first.is_some())
        {
            shown.write(self.index, &seen);
        }
    }

    async fn act(&mut self, action: Action) {
        let walks = matches!(action, Action::Move { .. });
        // Between two connections there is no game to act in; that it broke is counted where it
        // shows.
        if let Ok(number) = self.handle.act(action).await
            && walks
        {
            self.command_audit.note_walk(number);
        }
    }

    /// Takes what was confirmed and the host's last answer, and asks anew, if there is anything to
    /// ask.
    async fn audit(&mut self) -> bool {
        let read = |client: &mut Client, _| {
            (
                client.take_commands(),
                client.take_confirmed().collect::<Vec<_>>(),
            )
        };
        let Ok((told, confirmed)) = self.handle.run(read).await else {
            return false;
        };
        if let Some(told) = told {
            self.command_audit.answer(&told);
        }
        self.command_audit.confirm(&confirmed);
        let asks = self.command_audit.ask();
        if asks {
            let _ = self
                .handle
                .run(|client: &mut Client, now| client.ask_commands(now))
                .await;
        }
        asks
    }

    /// Until all that was confirmed has been looked for.
    async fn audit_all(&mut self) {
        let all = timeout(LAST_AUDIT_TIMEOUT, async {
            while self.audit().await {
                sleep(LOOK_INTERVAL).await;
            }
        });
        // Nobody answers: the host is on its way to another, or gone.
        let _ = all.await;
    }

    async fn finish(mut self, life: BotState) -> BotReport {
        let light = self.settings.is_light(self.index);
        self.audit_all().await;
        let last = self.snapshot().await;
        self.fault_detector.end_span(
            last.as_ref()
                .and_then(|last| last.silence)
                .unwrap_or_default(),
        );
        let steady = life.first.is_some() && self.fault_detector.is_steady();
        let malformed = last.as_ref().map_or(0, |last| last.stats.malformed);
        self.fault_detector.faults_mut().add(
            "malformed",
            malformed,
            "a datagram, record or message made no sense",
        );
        let (lost, doubled) = (
            self.command_audit.lost().len() as u64,
            u64::from(self.command_audit.doubled()),
        );
        let example = format!(
            "number {:?} was confirmed, and the game does not have it",
            self.command_audit.lost().first()
        );
        self.fault_detector
            .faults_mut()
            .add("command lost", lost, example);
        self.fault_detector.faults_mut().add(
            "command carried out twice",
            doubled,
            "so says the host",
        );
        let (acknowledged, lost_commands) = (
            last.as_ref().map_or(0, |last| last.stats.confirmed),
            lost + doubled,
        );
        let span = life.first.map(|first| {
            let last = last.unwrap_or_else(|| first.clone());
            (first, last)
        });
        let (resumes, refusals, faults) = (
            self.fault_detector.resumes(),
            self.fault_detector.refusals(),
            self.fault_detector.faults().clone(),
        );
        let lost = self.fault_detector.lost().map(str::to_owned);
        sleep(QUIT_DELAY).await;
        self.leave().await;
        BotReport {
            steady,
            light,
            span,
            ages: life.ages,
            resumes,
            refusals,
            faults,
            lost,
            acknowledged,
            lost_commands,
        }
    }

    async fn snapshot(&self) -> Option<ClientSnapshot> {
        let traffic = self.handle.traffic();
        let read = |client: &mut Client, now| (client.stats(), client.silence(now));
        let (stats, silence) = self.handle.run(read).await.ok()?;
        Some(ClientSnapshot {
            stats,
            traffic,
            silence,
        })
    }

    async fn next(&mut self) -> Option<ViewEvent> {
        let event = self.events.next().await?;
        self.handle_event(&event);
        Some(event)
    }

    fn handle_event(&mut self, event: &ViewEvent) {
        if let ViewEvent::Connection(ConnectionStatus::GameBroken { .. }) = event {
            self.command_audit.clear();
        }
        self.fault_detector.handle_event(event);
        if let Some(dump) = &self.settings.dump {
            dump.write(self.index, event);
        }
    }
}

/// What a bot keeps from beat to beat.
struct BotState {
    seed: u64,
    crowd: Option<CrowdBot>,
    cubes: Option<CubesBot>,
    now: LocalTime,
    has_span: bool,
    audit_at: LocalTime,
    first: Option<ClientSnapshot>,
    ages: Distribution,
}

impl BotState {
    fn new(common: &BotSettings, index: usize) -> Self {
        let seed = common
            .seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(index as u64);
        let (now, ages) = (LocalTime::ZERO, Distribution::default());
        BotState {
            seed,
            crowd: None,
            cubes: None,
            now,
            has_span: false,
            audit_at: now,
            first: None,
            ages,
        }
    }
}

impl BotState {
    /// What is held until the next beat, in a life of that way.
    fn keys_to_hold(&mut self, way: Behavior) -> Option<HeldKeys> {
        match way {
            Behavior::Independent | Behavior::Idle => None,
            Behavior::ServerWalked => Some(HeldKeys {
                held: WALK_KEY,
                ..HeldKeys::default()
            }),
            // What time it is, the first look tells.
            Behavior::Cubes if self.now == LocalTime::ZERO => None,
            Behavior::Cubes => Some(
                self.cubes
                    .get_or_insert_with(|| CubesBot::new(self.now, self.seed))
                    .decide(self.now),
            ),
        }
    }
}

/// Holds and taps; nothing is said while nothing is held.
fn apply_keys(client: &mut Client, now: LocalTime, hands: HeldKeys) {
    let HeldKeys { held, tapped } = hands;
    if tapped != Keymap::default() {
        client.input(now, Keymap(held.0 | tapped.0));
    }
    if held == Keymap::default() {
        client.release(now);
    } else {
        client.input(now, held);
    }
}

/// What a client shows at one moment.
struct Observation {
    now: LocalTime,
    age: Option<Duration>,
    avatar: Option<Surroundings>,
}

impl Observation {
    /// Whoever is near is only looked for when it matters: there may be many.
    fn new(client: &Client, now: LocalTime, casts: bool) -> Self {
        let avatar = Self::surroundings(client, now, casts);
        Observation {
            now,
            age: client.age(now),
            avatar,
        }
    }

    fn surroundings(client: &Client, now: LocalTime, casts: bool) -> Option<Surroundings> {
        let t = client.room_time(now)?;
        let rules = client.rules()?;
        let avatar = client.avatar()?;
        let position = avatar.position(t)?;
        let nearest = if casts {
            nearest(client, now, position)
        } else {
            None
        };
        let map = (rules.map.width_m, rules.map.height_m);
        Some(Surroundings {
            position,
            moving: avatar.moves(t),
            nearest,
            map,
            spells: SpellIds::from_schema(&rules.schema),
        })
    }
}

fn nearest(client: &Client, now: LocalTime, from: Position) -> Option<Position> {
    let t = client.room_time(now)?;
    let others = client
        .objects()
        .filter(|object| !object.is_own())
        .filter_map(|object| object.position(t));
    others.min_by(|one, other| one.distance(from).total_cmp(&other.distance(from)))
}

fn options(common: &BotSettings, index: usize) -> ClientOptions {
    let client = ClientConfig {
        name: format!("bot-{}", index + 1),
        agent: concat!("bots ", env!("CARGO_PKG_VERSION")).to_owned(),
        seed: common.seed.wrapping_add(index as u64),
        light: common.is_light(index),
        render: common.drawing.render,
        inputs: common.inputs,
        predict: common.drawing.predict,
        ..ClientConfig::default()
    };
    ClientOptions {
        server: common.server.clone(),
        trust: common.trust.clone(),
        impairment: common.impairment,
        number: index as u64,
        client,
    }
}
