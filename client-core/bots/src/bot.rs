//! One bot with a real client: it connects, joins, plays and reports. [`CrowdBot`], [`CubesBot`]
//! and [`MonkeyBot`] decide what it does in the game, [`FaultDetector`] checks what it receives.
//!
//! A bot wakes up every [`LOOK_INTERVAL`], slightly after its neighbour, reads new events, samples
//! the age of what it shows, and acts. In between it costs only its client's own work.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::event::{LobbyEvent, ViewEvent, Welcome, codes};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::replica::PoseDecoding;
use ambit_client_core::shell::{self, ClientEvents, ClientHandle, ClientOptions, ServerTrust};
use ambit_client_text::flags::DrawingFlags;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::PoseCoding;
use ambit_proto::time::LocalTime;
use ambit_steering::SharedMotion;
use ambit_transport::impair::Impairment;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::dump::EventDump;
use crate::fault_detector::FaultDetector;
use crate::profiles::Profile;
use crate::profiles::crowd::{BotSurroundings, CrowdBot, walk_command};
use crate::profiles::cubes::{CubesBot, KeyPresses};
use crate::profiles::deus::{self, DeusBot, DeusView};
use crate::profiles::monkey::{MonkeyAct, MonkeyBot};
use crate::profiles::shooter::{ShooterBot, ShooterView};
use crate::shown_positions::{self, ShownPositions, WATCHERS};
use crate::summary::{BotReport, ClientSnapshot};

/// How often a bot wakes up.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// The same for a bot that neither decides nor decodes much.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// The key that bots of the profile `hold` hold.
const HELD_KEY: Keymap = Keymap(1);
/// The wake-ups of bots are spread over this many phases.
const PHASES: usize = 5;
/// Connection attempts before a bot gives up.
const MAX_ATTEMPTS: usize = 3;
/// The pause before the next attempt.
const ATTEMPT_PAUSE: Duration = Duration::from_millis(500);
/// How long the lobby may take to answer; the start of a room takes longest.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// How long quitting may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between the last snapshot and the end, so that no bot sees another one leave.
const QUIT_DELAY: Duration = Duration::from_millis(150);

/// Settings that all bots share.
#[derive(Debug)]
pub(crate) struct BotSettings {
    pub(crate) server: String,
    pub(crate) trust: ServerTrust,
    pub(crate) impairment: Option<Impairment>,
    pub(crate) inputs: InputRate,
    pub(crate) coding: PoseCoding,
    /// Seeds all random decisions of the bots.
    pub(crate) seed: u64,
    pub(crate) drawing: DrawingFlags,
    pub(crate) motions: Vec<SharedMotion>,
    pub(crate) dump: Option<EventDump>,
    /// `None` for the one that fits the game.
    pub(crate) profile: Option<Profile>,
    /// Bots with this index or a higher one are light clients.
    pub(crate) full_clients: usize,
    pub(crate) shown: Option<ShownPositions>,
}

impl BotSettings {
    fn is_light(&self, index: usize) -> bool {
        index >= self.full_clients
    }

    fn look_interval(&self, index: usize) -> Duration {
        let is_idle = matches!(self.profile, Some(Profile::Hold | Profile::Idle));
        if is_idle && self.is_light(index) { IDLE_LOOK_INTERVAL } else { LOOK_INTERVAL }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunPhase {
    /// Bots are joining.
    Gathering,
    /// All bots have joined or given up: the measurement runs.
    Measuring,
    Over,
}

/// A bot that the lobby has welcomed.
pub(crate) struct Bot {
    index: usize,
    handle: ClientHandle,
    events: ClientEvents,
    fault_detector: FaultDetector,
    settings: Arc<BotSettings>,
}

impl Bot {
    /// Connects to the lobby. The error says why there is no bot. The first bot gives up at once if
    /// no server answers; the others, whose joins keep the server busy, try again.
    pub(crate) async fn connect(
        settings: &Arc<BotSettings>,
        index: usize,
    ) -> Result<(Self, Welcome), String> {
        let mut last = String::new();
        for _ in 0..MAX_ATTEMPTS {
            let (handle, events) = shell::start(options(settings, index), ());
            let mut bot = Bot {
                index,
                handle,
                events,
                fault_detector: FaultDetector::default(),
                settings: settings.clone(),
            };
            while let Some(event) = bot.next().await {
                if let ViewEvent::Lobby(_, LobbyEvent::Welcome(welcome)) = event {
                    return Ok((bot, welcome));
                }
            }
            bot.fault_detector.closed().unwrap_or("the client ended").clone_into(&mut last);
            if index == 0 && last.starts_with(codes::COULD_NOT_CONNECT) {
                break;
            }
            sleep(ATTEMPT_PAUSE).await;
        }
        Err(last)
    }

    /// Sends a request to the lobby and returns the answer.
    pub(crate) async fn ask(&mut self, request: LobbyRequest) -> Result<LobbyEvent, String> {
        let what = request.description();
        let asked = self.handle.request(request).map_err(|error| error.to_string())?;
        let answer = timeout(ANSWER_TIMEOUT, async {
            while let Some(event) = self.next().await {
                match event {
                    ViewEvent::Lobby(request, LobbyEvent::Error { code, message })
                        if request == asked =>
                    {
                        return Err(format!("{code}: {message}"));
                    }
                    ViewEvent::Lobby(request, answer) if request == asked => return Ok(answer),
                    _ => {}
                }
            }
            Err(self.fault_detector.closed().unwrap_or("the client ended").to_owned())
        });
        answer.await.unwrap_or_else(|_| {
            Err(format!("asked to {what}, but no answer came within {ANSWER_TIMEOUT:?}"))
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
                    return Err("removed from the room before the game began".to_owned());
                }
            }
            Ok(())
        });
        arrival.await.unwrap_or_else(|_| Err(format!("not in the game within {within:?}")))
    }

    pub(crate) fn handle(&self) -> ClientHandle {
        self.handle.clone()
    }

    /// What it has observed.
    pub(crate) fn fault_detector(&self) -> &FaultDetector {
        &self.fault_detector
    }

    /// Plays until the run is over, then quits.
    pub(crate) async fn play(mut self, mut phase: watch::Receiver<RunPhase>) -> BotReport {
        let profile = self.choose_profile();
        let mut state = BotState::new(&self.settings, profile, self.index);
        let every = self.settings.look_interval(self.index);
        sleep(every / PHASES as u32 * (self.index % PHASES) as u32).await;
        let mut ticker = interval(every);
        ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticker.tick().await;
            while let Some(event) = self.events.try_next() {
                self.handle_event(&event);
            }
            let current = *phase.borrow_and_update();
            if current != RunPhase::Gathering && !state.is_measuring {
                state.is_measuring = true;
                let is_playing = self.fault_detector.begin_measuring();
                state.first = is_playing.then(|| self.snapshot());
            }
            if current == RunPhase::Over || self.fault_detector.closed().is_some() {
                break;
            }
            self.act_once(&mut state);
        }
        self.finish(state).await
    }

    /// What it does in this game, which it has joined.
    fn choose_profile(&mut self) -> Profile {
        let by_game =
            |client: &mut Client, _| client.rules().map(|rules| Profile::for_game(&rules.schema));
        let can_walk = |client: &mut Client, _| {
            client.rules().is_none_or(|rules| walk_command(&rules.schema).is_some())
        };
        let chosen = self.settings.profile.or_else(|| self.handle.run(by_game));
        // Without rules the game is gone again.
        let chosen = chosen.unwrap_or(Profile::Idle);
        if chosen == Profile::Crowd && self.index == 0 && !self.handle.run(can_walk) {
            let _ = writeln!(
                std::io::stderr(),
                "warning: the game has no command to walk to a place, so bots of the profile \
                 `crowd` stand still; --profile monkey plays any game"
            );
        }
        if matches!(chosen, Profile::Monkey | Profile::Deus) {
            self.fault_detector.tolerate_refusals();
        }
        chosen
    }

    /// Quits, and waits until the client has ended.
    pub(crate) async fn leave(mut self) {
        self.handle.quit();
        let _ = timeout(QUIT_TIMEOUT, async { while self.events.next().await.is_some() {} }).await;
    }

    /// Samples, acts, and writes what is shown.
    fn act_once(&mut self, state: &mut BotState) {
        match state.profile {
            Profile::Crowd => self.walk(state),
            Profile::Monkey => self.play_nonsense(state),
            Profile::Deus => self.play_hero(state),
            _ => self.hold_keys(state),
        }
        if state.first.is_some() {
            self.write_shown();
        }
    }

    /// Writes the positions that the client shows, if it is one of those that do.
    fn write_shown(&self) {
        let Some(shown) = &self.settings.shown else { return };
        if self.index >= WATCHERS || self.settings.is_light(self.index) {
            return;
        }
        if let Some(seen) = self.handle.run(shown_positions::visible_positions) {
            shown.write(self.index, &seen);
        }
    }

    /// Samples, and perhaps sends a command.
    fn walk(&mut self, state: &mut BotState) {
        let casts =
            state.crowd.as_ref().is_some_and(|crowd| crowd.may_cast_by(state.now + LOOK_INTERVAL));
        let (now, age, avatar) = self.handle.run(|client, now| {
            client.sample_ages(now);
            (now, client.age(now), BotSurroundings::of(client, now, casts))
        });
        state.note(now, age);
        let Some(avatar) = avatar else { return };
        let crowd = state.crowd.get_or_insert_with(|| CrowdBot::new(now, state.seed));
        if let Some(action) = crowd.decide(now, &avatar) {
            // Between two connections no command is possible; the break itself is counted
            // elsewhere.
            let _ = self.handle.act(&action);
        }
    }

    /// Samples, and perhaps gives a command of a hero.
    fn play_hero(&mut self, state: &mut BotState) {
        let hero = &mut state.deus;
        let (now, age) = self.handle.run(|client, now| {
            client.sample_ages(now);
            let words = DeusView::of(client, now).and_then(|view| hero.decide(now, &view));
            if let Some(command) = words.and_then(|words| deus::command(client, &words)) {
                // Without a game the command has no receiver.
                let _ = client.act(now, &command);
            }
            (now, client.age(now))
        });
        state.note(now, age);
    }

    /// Samples, and sends a command that may be absurd or malformed.
    fn play_nonsense(&mut self, state: &mut BotState) {
        let monkey = state.monkey.get_or_insert_with(|| MonkeyBot::new(state.seed));
        let (now, age) = self.handle.run(|client, now| {
            client.sample_ages(now);
            let in_sight: Vec<ClientObjectId> = client.objects().map(|object| object.id).collect();
            let act = client.rules().map(|rules| {
                let map = (rules.map.width_m, rules.map.height_m);
                monkey.decide(&rules.schema, map, &in_sight)
            });
            match act {
                Some(MonkeyAct::Command(command)) => drop(client.act(now, &command)),
                Some(MonkeyAct::Message(bytes)) => drop(client.send_unchecked(now, bytes.into())),
                Some(MonkeyAct::Keys(keys)) => client.input(now, keys),
                Some(MonkeyAct::Axis(control, value)) => {
                    client.set_axis(now, control, value);
                }
                None => {}
            }
            (now, client.age(now))
        });
        state.note(now, age);
    }

    /// Samples, and sets the keys to hold.
    fn hold_keys(&mut self, state: &mut BotState) {
        let mut keys = state.keys_to_hold();
        let flies = state.profile == Profile::Shooter;
        let shooter = &mut state.shooter;
        let light = self.settings.is_light(self.index);
        let observe = |client: &mut Client, now| {
            if let Some(view) = ShooterView::of(client, now).filter(|_| flies) {
                keys = Some(shooter.decide(now, &view));
            }
            if let Some(keys) = keys {
                apply_keys(client, now, keys);
            }
            if light {
                return (now, None);
            }
            client.sample_ages(now);
            (now, client.age(now))
        };
        let (now, age) = self.handle.run(observe);
        state.note(now, age);
    }

    async fn finish(mut self, state: BotState) -> BotReport {
        let light = self.settings.is_light(self.index);
        let last = self.snapshot();
        self.fault_detector.end_measuring(last.silence.unwrap_or_default());
        let steady = state.first.is_some() && self.fault_detector.is_steady();
        self.fault_detector.faults.add(
            "malformed",
            last.stats.malformed,
            "a datagram, record or message was invalid",
        );
        let confirmed = last.stats.confirmed;
        let measured = state.first.map(|first| (first, last));
        let resumes = self.fault_detector.resumes;
        let refusals = self.fault_detector.refusals;
        let faults = self.fault_detector.faults.clone();
        let lost = self.fault_detector.absence().map(str::to_owned);
        sleep(QUIT_DELAY).await;
        self.leave().await;
        BotReport {
            steady,
            light,
            measured,
            ages: state.ages,
            resumes,
            refusals,
            faults,
            lost,
            confirmed,
        }
    }

    fn snapshot(&self) -> ClientSnapshot {
        let traffic = self.handle.traffic();
        let read = |client: &mut Client, now| (client.stats(), client.silence(now));
        let (stats, silence) = self.handle.run(read);
        ClientSnapshot { stats, traffic, silence }
    }

    async fn next(&mut self) -> Option<ViewEvent> {
        let event = self.events.next().await?;
        self.handle_event(&event);
        Some(event)
    }

    fn handle_event(&mut self, event: &ViewEvent) {
        self.fault_detector.handle_event(event);
        if let Some(dump) = &self.settings.dump {
            dump.write(self.index, event);
        }
    }
}

/// The state of a bot between wake-ups.
struct BotState {
    seed: u64,
    profile: Profile,
    crowd: Option<CrowdBot>,
    cubes: Option<CubesBot>,
    monkey: Option<MonkeyBot>,
    shooter: ShooterBot,
    deus: DeusBot,
    now: LocalTime,
    is_measuring: bool,
    first: Option<ClientSnapshot>,
    ages: Distribution,
}

impl BotState {
    fn new(settings: &BotSettings, profile: Profile, index: usize) -> Self {
        let seed = settings.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64);
        let now = LocalTime::ZERO;
        let ages = Distribution::default();
        BotState {
            seed,
            profile,
            crowd: None,
            cubes: None,
            monkey: None,
            shooter: ShooterBot::new(seed),
            deus: DeusBot::new(seed),
            now,
            is_measuring: false,
            first: None,
            ages,
        }
    }

    /// Notes the time, and how old what the client shows is.
    fn note(&mut self, now: LocalTime, age: Option<Duration>) {
        self.now = now;
        if let Some(age) = age.filter(|_| self.first.is_some()) {
            self.ages.add(age);
        }
    }

    /// The keys to hold until the next wake-up.
    fn keys_to_hold(&mut self) -> Option<KeyPresses> {
        match self.profile {
            // The shooter looks first.
            Profile::Crowd | Profile::Deus | Profile::Idle | Profile::Monkey | Profile::Shooter => {
                None
            }
            Profile::Hold => Some(KeyPresses { held: HELD_KEY, ..KeyPresses::default() }),
            // The first look has not set the time yet.
            Profile::Cubes if self.now == LocalTime::ZERO => None,
            Profile::Cubes => Some(
                self.cubes
                    .get_or_insert_with(|| CubesBot::new(self.now, self.seed))
                    .decide(self.now),
            ),
        }
    }
}

/// Holds and taps keys.
fn apply_keys(client: &mut Client, now: LocalTime, keys: KeyPresses) {
    let KeyPresses { held, tapped } = keys;
    if tapped != Keymap::default() {
        client.input(now, Keymap(held.0 | tapped.0));
    }
    client.hold(now, held);
}

fn options(settings: &BotSettings, index: usize) -> ClientOptions {
    let client = ClientConfig {
        name: format!("bot-{}", index + 1),
        agent: concat!("bots ", env!("CARGO_PKG_VERSION")).to_owned(),
        seed: settings.seed.wrapping_add(index as u64),
        pose_decoding: if settings.is_light(index) {
            PoseDecoding::Light
        } else {
            PoseDecoding::Full
        },
        coding: settings.coding,
        render: settings.drawing.render,
        inputs: settings.inputs,
        motions: settings.motions.clone(),
        predict: settings.drawing.predict(),
        ..ClientConfig::default()
    };
    ClientOptions {
        server: settings.server.clone(),
        trust: settings.trust.clone(),
        impairment: settings.impairment,
        number: index as u64,
        account: None,
        client,
    }
}
