//! One bot on a real client: calls, joins, plays, reports. What it does in the game is up to
//! [`Crowd`], what it complains about to [`Witness`].
//!
//! A bot wakes every [`BEAT`], a fraction of it after its neighbour, reads what has come since,
//! samples how old its picture is, and acts. Between two beats it costs nothing but the client's
//! own work.

use std::sync::Arc;
use std::time::Duration;

use ambit_client_core::client::Client;
use ambit_client_core::client::config::{ClientConfig, InputRate};
use ambit_client_core::client::event::{About, Connection, ViewEvent, Welcome};
use ambit_client_core::client::request::Request;
use ambit_client_core::client::stats::Distribution;
use ambit_client_core::shell::{self, Events, Handle, Options, Trust};
use ambit_client_core::text::flags::Drawing;
use ambit_proto::impair::Impairment;
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::space::Position;
use ambit_proto::time::LocalTime;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::accounts::Accounts;
use crate::crowd::{Crowd, Spells, Surroundings};
use crate::cubes::{Cubes, Hands};
use crate::dump::Dump;
use crate::shown::{self, Shown, WATCHERS};
use crate::summary::{Report, Snapshot};
use crate::witness::Witness;

/// How often a bot looks around.
pub(crate) const BEAT: Duration = Duration::from_millis(50);
/// How often a bot looks that neither decides nor decodes much.
const IDLE_BEAT: Duration = Duration::from_millis(250);
/// The key that bots hold where the server walks.
const HELD: Keymap = Keymap(1);
/// Bots that look around one after the other before two do so together.
const PHASES: usize = 5;
/// How often the lobby is called before a bot gives up, as a person would.
const CALLS: usize = 3;
/// The pause before the next call.
const CALL_PAUSE: Duration = Duration::from_millis(500);
/// How long an answer of the lobby may take; the start of a room takes longest.
const ANSWER: Duration = Duration::from_secs(15);
/// How long the end may take.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often the host is asked what it has of what it confirmed.
const AUDIT: Duration = Duration::from_secs(1);
/// How long the answer to the last such question may take.
const LAST_AUDIT: Duration = Duration::from_secs(2);
/// Between the last look and the end, so that no bot sees another one leave.
const LAST_LOOK: Duration = Duration::from_millis(150);

/// What all bots have in common.
#[derive(Debug)]
pub(crate) struct Common {
    pub(crate) server: String,
    pub(crate) trust: Trust,
    pub(crate) impairment: Option<Impairment>,
    pub(crate) inputs: InputRate,
    /// Of all that bots do by chance.
    pub(crate) seed: u64,
    pub(crate) drawing: Drawing,
    pub(crate) dump: Option<Dump>,
    pub(crate) life: Way,
    /// Bots from this one on are light.
    pub(crate) full: usize,
    pub(crate) shown: Option<Shown>,
}

/// How bots live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By their own decisions.
    Own,
    /// The server walks the avatars, and bots hold a key.
    Walked,
    /// By pushing cubes.
    Cubes,
    /// Without doing anything.
    Idle,
}

impl Common {
    fn is_light(&self, index: usize) -> bool {
        index >= self.full
    }

    fn beat(&self, index: usize) -> Duration {
        if matches!(self.life, Way::Walked | Way::Idle) && self.is_light(index) {
            IDLE_BEAT
        } else {
            BEAT
        }
    }
}

/// Where the run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
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
    handle: Handle,
    events: Events,
    witness: Witness,
    accounts: Accounts,
    common: Arc<Common>,
}

impl Bot {
    /// Calls the lobby. An error says why there is no bot.
    pub(crate) async fn call(
        common: &Arc<Common>,
        index: usize,
    ) -> Result<(Self, Welcome), String> {
        let mut last = String::new();
        for _ in 0..CALLS {
            let (handle, events) = shell::start(options(common, index), ());
            let (witness, accounts) = (Witness::default(), Accounts::default());
            let mut bot = Bot {
                index,
                handle,
                events,
                witness,
                accounts,
                common: common.clone(),
            };
            while let Some(event) = bot.next().await {
                if let ViewEvent::Welcome(welcome) = event {
                    return Ok((bot, welcome));
                }
            }
            bot.witness
                .closed()
                .unwrap_or("the client ended")
                .clone_into(&mut last);
            sleep(CALL_PAUSE).await;
        }
        Err(last)
    }

    /// Asks the lobby, and returns what it answers.
    pub(crate) async fn ask(&mut self, request: Request) -> Result<ViewEvent, String> {
        let what = request.what();
        let asked = self
            .handle
            .request(request)
            .await
            .map_err(|error| error.to_string())?;
        let answer = timeout(ANSWER, async {
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
                    ViewEvent::Error(failure) if failure.about == About::Request(asked) => {
                        return Err(format!("{}: {}", failure.code, failure.message));
                    }
                    _ => {}
                }
            }
            Err(self
                .witness
                .closed()
                .unwrap_or("the client ended")
                .to_owned())
        });
        answer.await.unwrap_or_else(|_| {
            Err(format!(
                "asked to {what}, and no answer came within {ANSWER:?}"
            ))
        })
    }

    /// Waits until the avatar is in the game.
    pub(crate) async fn arrive(&mut self, within: Duration) -> Result<(), String> {
        let arrival = timeout(within, async {
            while !self.witness.is_in() {
                if self.next().await.is_none() {
                    return Err(self
                        .witness
                        .closed()
                        .unwrap_or("the client ended")
                        .to_owned());
                }
                if self.witness.room.is_none() {
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
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// What it has seen so far.
    pub(crate) fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Plays until the run is over, then goes.
    pub(crate) async fn play(mut self, mut phase: watch::Receiver<Phase>) -> Report {
        let mut life = Life::new(&self.common, self.index);
        let every = self.common.beat(self.index);
        sleep(every / PHASES as u32 * (self.index % PHASES) as u32).await;
        let mut beat = interval(every);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            while let Some(event) = self.events.try_next() {
                self.note(&event);
            }
            let current = *phase.borrow_and_update();
            if current != Phase::Gathering && !life.begun {
                life.begun = true;
                life.first = if self.witness.begin_span() {
                    self.snapshot().await
                } else {
                    None
                };
            }
            if current == Phase::Over || self.witness.closed().is_some() {
                break;
            }
            self.live(&mut life).await;
            if life.now >= life.audit_at {
                life.audit_at = life.now + AUDIT;
                self.audit().await;
            }
        }
        self.finish(life).await
    }

    /// Says goodbye, and waits until it has been heard.
    pub(crate) async fn leave(mut self) {
        // One that has ended already needs no goodbye.
        let _ = self.handle.quit().await;
        let _ = timeout(FAREWELL, async {
            while self.events.next().await.is_some() {}
        })
        .await;
    }

    /// Looks around, and perhaps does something.
    async fn live(&mut self, life: &mut Life) {
        if self.common.life != Way::Own {
            return self.watch(life).await;
        }
        let casts = life
            .crowd
            .as_ref()
            .is_some_and(|crowd| crowd.casts_by(life.now + BEAT));
        let look = move |client: &mut Client, now| {
            client.sample_ages(now);
            Look::new(client, now, casts)
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
            .get_or_insert_with(|| Crowd::new(look.now, life.seed));
        if let Some(action) = crowd.decide(look.now, &avatar) {
            self.act(action).await;
        }
    }

    /// Looks around, and holds what is to be held.
    async fn watch(&mut self, life: &mut Life) {
        let hands = life.hands(self.common.life);
        let light = self.common.is_light(self.index);
        let shows = self.common.shown.is_some() && self.index < WATCHERS;
        let look = move |client: &mut Client, now| {
            if let Some(hands) = hands {
                handle(client, now, hands);
            }
            if light {
                return (now, None, None);
            }
            client.sample_ages(now);
            (
                now,
                client.age(now),
                if shows {
                    shown::look(client, now)
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
            .common
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
            self.accounts.note_walk(number);
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
            self.accounts.answer(&told);
        }
        self.accounts.confirm(&confirmed);
        let asks = self.accounts.ask();
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
        let all = timeout(LAST_AUDIT, async {
            while self.audit().await {
                sleep(BEAT).await;
            }
        });
        // Nobody answers: the host is on its way to another, or gone.
        let _ = all.await;
    }

    async fn finish(mut self, life: Life) -> Report {
        let light = self.common.is_light(self.index);
        self.audit_all().await;
        let last = self.snapshot().await;
        self.witness.end_span(
            last.as_ref()
                .and_then(|last| last.silence)
                .unwrap_or_default(),
        );
        let steady = life.first.is_some() && self.witness.is_steady();
        let malformed = last.as_ref().map_or(0, |last| last.stats.malformed);
        self.witness.faults_mut().add(
            "malformed",
            malformed,
            "a datagram, record or message made no sense",
        );
        let (lost, doubled) = (
            self.accounts.lost().len() as u64,
            u64::from(self.accounts.doubled()),
        );
        let example = format!(
            "number {:?} was confirmed, and the game does not have it",
            self.accounts.lost().first()
        );
        self.witness.faults_mut().add("command lost", lost, example);
        self.witness
            .faults_mut()
            .add("command carried out twice", doubled, "so says the host");
        let (acknowledged, lost_commands) = (
            last.as_ref().map_or(0, |last| last.stats.confirmed),
            lost + doubled,
        );
        let span = life.first.map(|first| {
            let last = last.unwrap_or_else(|| first.clone());
            (first, last)
        });
        let (resumes, refusals, faults) = (
            self.witness.resumes(),
            self.witness.refusals(),
            self.witness.faults().clone(),
        );
        let lost = self.witness.lost().map(str::to_owned);
        sleep(LAST_LOOK).await;
        self.leave().await;
        Report {
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

    async fn snapshot(&self) -> Option<Snapshot> {
        let traffic = self.handle.traffic();
        let read = |client: &mut Client, now| (client.stats(), client.silence(now));
        let (stats, silence) = self.handle.run(read).await.ok()?;
        Some(Snapshot {
            stats,
            traffic,
            silence,
        })
    }

    async fn next(&mut self) -> Option<ViewEvent> {
        let event = self.events.next().await?;
        self.note(&event);
        Some(event)
    }

    fn note(&mut self, event: &ViewEvent) {
        if let ViewEvent::Connection(Connection::GameBroken { .. }) = event {
            self.accounts.forget();
        }
        self.witness.handle_event(event);
        if let Some(dump) = &self.common.dump {
            dump.write(self.index, event);
        }
    }
}

/// What a bot keeps from beat to beat.
struct Life {
    seed: u64,
    crowd: Option<Crowd>,
    cubes: Option<Cubes>,
    now: LocalTime,
    begun: bool,
    audit_at: LocalTime,
    first: Option<Snapshot>,
    ages: Distribution,
}

impl Life {
    fn new(common: &Common, index: usize) -> Self {
        let seed = common
            .seed
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(index as u64);
        let (now, ages) = (LocalTime::ZERO, Distribution::default());
        Life {
            seed,
            crowd: None,
            cubes: None,
            now,
            begun: false,
            audit_at: now,
            first: None,
            ages,
        }
    }
}

impl Life {
    /// What is held until the next beat, in a life of that way.
    fn hands(&mut self, way: Way) -> Option<Hands> {
        match way {
            Way::Own | Way::Idle => None,
            Way::Walked => Some(Hands {
                held: HELD,
                ..Hands::default()
            }),
            // What time it is, the first look tells.
            Way::Cubes if self.now == LocalTime::ZERO => None,
            Way::Cubes => Some(
                self.cubes
                    .get_or_insert_with(|| Cubes::new(self.now, self.seed))
                    .decide(self.now),
            ),
        }
    }
}

/// Holds and taps; nothing is said while nothing is held.
fn handle(client: &mut Client, now: LocalTime, hands: Hands) {
    let Hands { held, tapped } = hands;
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
struct Look {
    now: LocalTime,
    age: Option<Duration>,
    avatar: Option<Surroundings>,
}

impl Look {
    /// Whoever is near is only looked for when it matters: there may be many.
    fn new(client: &Client, now: LocalTime, casts: bool) -> Self {
        let avatar = Self::surroundings(client, now, casts);
        Look {
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
            spells: Spells::of(&rules.schema),
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

fn options(common: &Common, index: usize) -> Options {
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
    Options {
        server: common.server.clone(),
        trust: common.trust.clone(),
        impairment: common.impairment,
        number: index as u64,
        client,
    }
}
