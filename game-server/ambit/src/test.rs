//! A room of a game with real clients, on virtual time: for tests of games.
//!
//! Everything but sockets is real: the room with its interest management and replication, the link,
//! and the client with its clock and replica. Datagrams cross a [`Line`] with a delay, jitter and
//! loss. A test gives commands, lets time pass, and asks what each client sees. Nothing waits for a
//! real clock, and the same seed gives the same run.
//!
//! ```
//! # use ambit::prelude::*;
//! # #[derive(Kind)]
//! # struct Walker { path: Path }
//! # #[derive(Command)]
//! # enum Command { WalkTo { to: Position } }
//! # #[derive(Default, Serialize, Deserialize, Declare)]
//! # #[declare(kinds(Walker))]
//! # struct Stroll;
//! # impl Game for Stroll {
//! #     const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
//! #     type Avatar = Walker;
//! #     type Command = Command;
//! #     type Refusal = NoRefusal;
//! #     fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
//! #         world.spawn(Walker { path: Path::at(world.centre()) })
//! #     }
//! #     fn command(
//! #         &mut self, world: &mut World<Self>, player: Player<Self>, command: Command,
//! #     ) -> Result<(), NoRefusal> {
//! #         let Command::WalkTo { to } = command;
//! #         world.avatar(player).path().walk_to(to, 5.0);
//! #         Ok(())
//! #     }
//! # }
//! use ambit::test::{Line, TestRoom};
//!
//! let mut room = TestRoom::<Stroll>::new();
//! let ann = room.join("ann", Line::default());
//! let bob = room.join("bob", Line::default().delay(60.millis()).loss(20.0));
//! room.command(ann, "walk-to 120 100");
//! room.run(10.secs());
//! let seen = room.sees(bob);
//! assert_eq!(seen.len(), 2);
//! assert!(seen.iter().any(|walker| walker.position == Position::on_ground(120.0, 100.0)));
//! assert_eq!(room.errors(ann), Vec::<String>::new());
//! ```

mod moves;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::marker::PhantomData;
use std::time::Duration;

use ambit_client_core::client::config::ClientConfig;
use ambit_client_core::client::event::{
    ComponentValue, GameEvent, LobbyEvent, SchemaEvent, ViewEvent,
};
use ambit_client_core::client::{Client, ClientOutput};
use ambit_client_core::command_words;
use ambit_client_core::replica::VisibleObject;
use ambit_proto::control::WORLD_VERSION;
use ambit_proto::control::game::{self as game_pb, GameToClient};
use ambit_proto::control::world::{self as pb, WorldToClient, client_to_world, world_to_client};
use ambit_proto::ids::{AccountId, ClientId, ClientObjectId, ObjectId, PlayerId, RoomId};
use ambit_proto::map::StaticMap;
use ambit_proto::message::{FrameValue, ShownComponents, TypedKind};
use ambit_proto::pose::PoseCoding;
use ambit_proto::space::Position;
use ambit_proto::standing::Standing;
use ambit_proto::time::{GameTime, LocalTime};
use ambit_proto::wishes::Wishes;
use ambit_room::logic::game::Left;
use ambit_room::logic::registry::{Header, Registry};
use ambit_room::logic::store::{
    AskedOfStore, ProfileClaim, ProfileSave, ResultRow, StoreAnswer, StoreKey, StoreNumber,
    StoreRequest,
};
pub use ambit_room::network::why::{ObjectAtClient, SightRule, Why, Zones};
use ambit_room::room::{Room, RoomInput, RoomOutput};
use ambit_room::tick_schedule::TickSchedule;
use ambit_transport::impair::{Impairer, Impairment};
use bytes::Bytes;

use crate::games::motions_of;
use crate::{Controls as _, Game, Games, Keymap, World};

/// The id of the room.
const ROOM: u64 = 1;

/// The network between a client and the room.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line(Impairment);

impl Line {
    /// One-way delay of all that is sent, in both directions.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self(Impairment { delay, ..self.0 })
    }

    /// The largest deviation from the delay.
    #[must_use]
    pub fn jitter(self, jitter: Duration) -> Self {
        Self(Impairment { jitter, ..self.0 })
    }

    /// Datagrams that are lost, in per cent.
    #[must_use]
    pub fn loss(self, loss: f32) -> Self {
        Self(Impairment { loss, ..self.0 })
    }

    /// Mean length of the bursts in which [`loss`](Self::loss) occurs: the same share is lost, but
    /// all datagrams of a burst. Without it, each is lost independently of the others.
    #[must_use]
    pub fn burst(self, burst: Duration) -> Self {
        Self(Impairment { burst, ..self.0 })
    }

    /// Mean of a further delay with a long tail: exponentially distributed, up to ten times this.
    #[must_use]
    pub fn tail(self, tail: Duration) -> Self {
        Self(Impairment { tail, ..self.0 })
    }

    /// Bandwidth in bits a second.
    #[must_use]
    pub fn rate(self, bits_per_s: u64) -> Self {
        let rate = Some(bits_per_s);
        Self(Impairment { rate, ..self.0 })
    }

    /// Length of the queue before [`rate`](Self::rate), as the time that a datagram waits in it:
    /// from half of it on, more and more are dropped. Without it, the queue has 200 ms and drops
    /// only what does not fit.
    #[must_use]
    pub fn queue(self, queue: Duration) -> Self {
        let queue = Some(queue);
        Self(Impairment { queue, ..self.0 })
    }
}

/// A client in a [`TestRoom`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestClient(usize);

/// An object as a client sees it at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The client's own number for it: what the words of a command name it by.
    pub id: ClientObjectId,
    /// Name of its kind.
    pub kind: String,
    /// Whether it is the client's own avatar, or a row of the client's player.
    pub own: bool,
    /// Where the client shows it, in metres.
    pub position: Position,
    /// The orientation that it shows: a unit quaternion, x, y, z, w. Upright and to the east for
    /// what moves along a path.
    pub rotation: [f32; 4],
    /// The velocity that it shows, in metres a second; zero if the game does not send it.
    pub velocity: [f32; 3],
    /// The components that the client knows, by name.
    pub components: BTreeMap<String, ComponentValue>,
}

impl Seen {
    /// Whether it is of this kind.
    pub fn is<K: TypedKind>(&self) -> bool {
        self.kind == K::NAME
    }

    /// The components, with their types: `seen.get::<Walker>()` is a `WalkerView`. `None` if it is
    /// of another kind.
    pub fn get<K: TypedKind>(&self) -> Option<K::Reading<'_>> {
        if self.is::<K>() { K::view(&self) } else { None }
    }

    /// The direction that it faces, in radians counter-clockwise from the east.
    pub fn heading(&self) -> f32 {
        let [x, y, z, w] = self.rotation;
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
    }

    /// The value of a gauge, if the client knows it.
    pub fn gauge(&self, name: &str) -> Option<f32> {
        self.components.get(name)?.as_gauge().map(|gauge| gauge.value)
    }

    /// A flag, if the client knows it.
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.components.get(name)?.as_flag().copied()
    }

    /// A number, if the client knows it.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.components.get(name)?.as_number().copied()
    }

    /// A half float, or an angle in radians, if the client knows it.
    pub fn decimal(&self, name: &str) -> Option<f32> {
        self.components.get(name)?.as_decimal().map(|decimal| decimal.value())
    }

    /// A text, if the client knows it.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.components.get(name)?.as_text().map(String::as_str)
    }
}

impl<'f> ShownComponents<'f> for &'f Seen {
    fn component(&self, _: usize, name: &str) -> Option<Option<FrameValue<'f>>> {
        Some(match self.components.get(name) {
            Some(ComponentValue::Gauge(gauge)) => Some(FrameValue::Gauge(*gauge)),
            Some(ComponentValue::Flag(flag)) => Some(FrameValue::Flag(*flag)),
            Some(ComponentValue::Number(number)) => Some(FrameValue::Number(*number)),
            Some(ComponentValue::Decimal(decimal)) => Some(FrameValue::Decimal(*decimal)),
            Some(ComponentValue::Text(text)) => Some(FrameValue::Text(text)),
            Some(ComponentValue::Counts(counts)) => Some(FrameValue::Counts(&counts.counts)),
            Some(ComponentValue::Bytes(bytes)) => Some(FrameValue::Bytes(bytes)),
            Some(ComponentValue::Rows(rows)) => Some(FrameValue::Rows(rows)),
            Some(ComponentValue::Path { .. } | ComponentValue::Pose { .. }) | None => None,
        })
    }
}

/// A room of the game `G` on virtual time, with clients. See the module.
pub struct TestRoom<G> {
    registry: Registry,
    header: Header,
    room: Room,
    /// Grows with each host that runs the room.
    incarnation: u32,
    schedule: TickSchedule,
    now: LocalTime,
    clients: Vec<ClientState>,
    in_flight: BinaryHeap<Flight>,
    sent: u64,
    inputs: Vec<RoomInput>,
    outputs: Vec<RoomOutput>,
    store: TestStore,
    finished: bool,
    game: PhantomData<fn() -> G>,
}

/// The server's store: each request is carried out once.
#[derive(Default)]
struct TestStore {
    values: BTreeMap<StoreKey, Vec<u8>>,
    results: Vec<ResultRow>,
    carried_out: BTreeSet<StoreNumber>,
    profiles: BTreeMap<AccountId, TestProfile>,
    is_away: bool,
}

/// A profile in the store.
#[derive(Default)]
struct TestProfile {
    value: Option<Vec<u8>>,
    /// Of the newest claim.
    claim: u64,
    /// The request of the room that has it, and the version that it has written last.
    holder: Option<(StoreNumber, u64)>,
}

impl TestProfile {
    fn save(&mut self, save: ProfileSave) -> Option<AccountId> {
        let Some((_, version)) = self.holder.as_mut().filter(|_| self.claim == save.claim.0) else {
            return Some(save.account).filter(|_| !save.is_last);
        };
        if let Some(value) = save.value.filter(|_| *version < save.version) {
            (*version, self.value) = (save.version, Some(value));
        }
        if save.is_last {
            self.holder = None;
        }
        None
    }
}

impl TestStore {
    /// `None` while it is away.
    fn carry_out(&mut self, asked: AskedOfStore) -> Option<RoomInput> {
        if self.is_away {
            return None;
        }
        let AskedOfStore { number, oldest, request } = asked;
        self.carried_out.retain(|known| *known >= oldest);
        let mut value = None;
        let is_new = self.carried_out.insert(number);
        let answered = |answer| Some(RoomInput::Stored { number, answer });
        match request {
            StoreRequest::Load(key) => value = self.values.get(&key).cloned(),
            StoreRequest::Save(key, bytes) if is_new && bytes.is_empty() => {
                self.values.remove(&key);
            }
            StoreRequest::Save(key, bytes) if is_new => drop(self.values.insert(key, bytes)),
            StoreRequest::AddResult(row) if is_new => self.results.push(row),
            StoreRequest::Save(..) | StoreRequest::AddResult(_) => {}
            StoreRequest::ClaimProfile(account) => {
                let profile = self.profiles.entry(account).or_default();
                match profile.holder {
                    Some((holder, _)) if holder != number => return None,
                    Some(_) => {}
                    None => {
                        profile.claim += 1;
                        profile.holder = Some((number, 0));
                    }
                }
                let claim = ProfileClaim(profile.claim);
                return answered(StoreAnswer::Claimed(claim, profile.value.clone()));
            }
            StoreRequest::SaveProfiles(saves) => {
                let save =
                    |save: ProfileSave| self.profiles.entry(save.account).or_default().save(save);
                return answered(StoreAnswer::Saved(saves.into_iter().filter_map(save).collect()));
            }
        }
        answered(StoreAnswer::Done(value))
    }
}

struct ClientState {
    client: Client,
    account: Option<AccountId>,
    standing: Standing,
    wishes: Wishes,
    /// All that the room has sent, each with its time.
    sent: Vec<(GameTime, Bytes)>,
    line: Line,
    up: Impairer,
    down: Impairer,
    events: Vec<SchemaEvent>,
    errors: Vec<String>,
    connected: bool,
}

/// Something that arrives later: the earliest is the greatest, and the first of those.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    order: std::cmp::Reverse<(LocalTime, u64)>,
    to: usize,
    what: Cargo,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Cargo {
    Up(Bytes),
    Down(Bytes),
    /// The client's request to join.
    Join,
    /// The room's answer to it, and its time when it was sent, in microseconds.
    Joined(u64),
}

impl<G: Game> Default for TestRoom<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: Game> TestRoom<G> {
    /// A room with the default parameters and the seed 1.
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// A room with these parameters, as `create` takes them: `&[("size", "60x50"), ("seed", "7")]`.
    ///
    /// # Panics
    /// If they are not possible; the message says why.
    pub fn with(parameters: &[(&str, &str)]) -> Self {
        let parameters = parameters
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        let header = Header {
            game: G::INFO.name.to_owned(),
            room: ROOM,
            seed: 1,
            capacity: u32::from(u16::MAX),
            grace_ms: 30_000,
            parameters,
        };
        let registry = Registry::from(Games::new().with::<G>());
        let room = registry
            .create_room(&header)
            .unwrap_or_else(|error| panic!("no room can be made: {error}"));
        let schedule = TickSchedule::after(room.config().tick_hz, GameTime::ZERO);
        Self {
            registry,
            header,
            room,
            incarnation: 1,
            schedule,
            now: LocalTime::ZERO,
            clients: Vec::new(),
            in_flight: BinaryHeap::new(),
            sent: 0,
            inputs: Vec::new(),
            store: TestStore::default(),
            outputs: Vec::new(),
            finished: false,
            game: PhantomData,
        }
    }

    /// As many players are about to join, as if the room had been started with them: until then
    /// the room does not call [`Game::all_here`]. To be called first.
    pub fn expect(&mut self, players: usize) {
        let players = (0..players).map(player).collect();
        self.inputs.push(RoomInput::Expect { players });
    }

    /// A player joins with a client on this line, and is in the game when this returns.
    ///
    /// # Panics
    /// If the game has no avatar for the player.
    pub fn join(&mut self, name: &str, line: Line) -> TestClient {
        self.join_with_account(name, None, line)
    }

    /// The same, with a session that has an account.
    pub fn join_with_account(
        &mut self,
        name: &str,
        account: impl Into<Option<AccountId>>,
        line: Line,
    ) -> TestClient {
        self.join_as(name, account, Standing::default(), line)
    }

    /// The same; the player has made the room, or is trusted by the operator.
    ///
    /// # Panics
    /// If the game has no avatar for the player.
    pub fn join_as(
        &mut self,
        name: &str,
        account: impl Into<Option<AccountId>>,
        standing: Standing,
        line: Line,
    ) -> TestClient {
        self.enter(name, (account.into(), standing, Wishes::default()), line)
    }

    /// As [`join`](Self::join), with what the player wishes.
    ///
    /// # Panics
    /// If the game has no avatar for the player, or the wishes are too long.
    pub fn join_with_wishes(
        &mut self,
        name: &str,
        wishes: &[(&str, &str)],
        line: Line,
    ) -> TestClient {
        let wishes = wishes.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let wishes = Wishes::new(wishes.collect()).unwrap_or_else(|error| panic!("{error}"));
        self.enter(name, (None, Standing::default(), wishes), line)
    }

    fn enter(
        &mut self,
        name: &str,
        (account, standing, wishes): (Option<AccountId>, Standing, Wishes),
        line: Line,
    ) -> TestClient {
        let number = self.clients.len();
        let config = ClientConfig {
            name: name.to_owned(),
            seed: number as u64,
            motions: motions_of::<G>().collect(),
            ..ClientConfig::default()
        };
        let path = |offset: u64| {
            let seed = 2 * number as u64 + offset;
            Impairer::new(Impairment { seed, ..line.0 })
        };
        self.clients.push(ClientState {
            client: Client::new(&config),
            account,
            standing,
            wishes,
            sent: Vec::new(),
            line,
            up: path(0),
            down: path(1),
            events: Vec::new(),
            errors: Vec::new(),
            connected: true,
        });
        self.with_client(number, Client::connect);
        // The answer, and the first datagrams with the avatar.
        for _ in 0..200 {
            if self.clients[number].client.avatar().is_some() {
                break;
            }
            self.run(Duration::from_millis(50));
        }
        TestClient(number)
    }

    /// Lets time pass.
    pub fn run(&mut self, how_long: Duration) {
        let end = self.now + how_long;
        while let Some(next) = self.next_event().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
        for number in 0..self.clients.len() {
            self.with_client(number, Client::handle_timeout);
        }
    }

    /// A client gives a command in words, as at the console: `"walk-to 120 90"`. Whether the game
    /// refuses it shows after some time, in [`errors`](TestRoom::errors).
    ///
    /// # Panics
    /// If the game has no such command, the words do not fit it, or the client cannot send it now;
    /// the message says why.
    pub fn command(&mut self, client: TestClient, words: &str) {
        let state = &self.clients[client.0];
        let schema = state.client.schema().expect("the client is in the game");
        let words: Vec<&str> = words.split_whitespace().collect();
        let command =
            command_words::parse(schema, &words).unwrap_or_else(|error| panic!("{error}"));
        self.with_client(client.0, |client, now| {
            let sent = client.act(now, &command);
            sent.unwrap_or_else(|error| panic!("the command was not sent: {error}"));
        });
    }

    /// A client holds these controls from now on.
    pub fn hold(&mut self, client: TestClient, controls: impl IntoIterator<Item = G::Controls>) {
        let hold = |keys: Keymap, control: G::Controls| keys.with(control.index(), true);
        let keys = controls.into_iter().fold(Keymap::default(), hold);
        self.with_client(client.0, |client, now| client.hold(now, keys));
    }

    /// A client moves an axis: -1 to 1, or radians.
    ///
    /// # Panics
    /// If the control is no axis, or the client is not in the game.
    pub fn set_axis(&mut self, client: TestClient, control: G::Controls, value: f32) {
        self.with_client(client.0, |client, now| {
            let is_moved = client.set_axis(now, control.index(), value);
            assert!(is_moved, "the control is no axis, or the client is not in the game");
        });
    }

    /// What a client sees now, in the order in which it came into sight.
    pub fn sees(&self, client: TestClient) -> Vec<Seen> {
        self.known(client, false)
    }

    /// Why a client has an object, or has it not: the rule that decides it, as the world is now,
    /// and what the client has of it.
    pub fn why(&self, client: TestClient, object: impl Into<ObjectId>) -> Why {
        self.room.why(self.player(client), object.into())
    }

    fn known(&self, client: TestClient, is_room_wide: bool) -> Vec<Seen> {
        let client = &self.clients[client.0].client;
        let Some(t) = client.room_time(self.now) else {
            return Vec::new();
        };
        let seen = |object: VisibleObject<'_, ()>| {
            let values = object.values(t).into_iter();
            (object.is_room_wide() == is_room_wide).then_some(())?;
            let drawn = object.drawn(t);
            Some(Seen {
                id: object.id,
                kind: object.kind().to_string(),
                own: object.is_own(),
                position: if is_room_wide { Position::default() } else { object.position(t)? },
                rotation: drawn.map_or([0.0, 0.0, 0.0, 1.0], |drawn| drawn.quaternion),
                velocity: drawn.map_or_else(|| object.path_velocity(t), |drawn| drawn.linear),
                components: values.map(|named| (named.name.to_string(), named.value)).collect(),
            })
        };
        client.objects().filter_map(seen).collect()
    }

    /// What is room-wide, as a client has it now, in the order in which it came: its position is
    /// the origin.
    pub fn room_wide(&self, client: TestClient) -> Vec<Seen> {
        self.known(client, true)
    }

    /// A client's own avatar, as the client sees it; `None` if the client is not in the game.
    pub fn avatar(&self, client: TestClient) -> Option<Seen> {
        self.sees(client).into_iter().find(|seen| seen.own)
    }

    /// The static map, as a client has it; `None` before it has arrived, or without obstacles.
    pub fn map(&self, client: TestClient) -> Option<&StaticMap> {
        self.clients[client.0].client.map().map(AsRef::as_ref)
    }

    /// The events that a client has received, in their order.
    pub fn events(&self, client: TestClient) -> &[SchemaEvent] {
        &self.clients[client.0].events
    }

    /// The datagrams that the room has sent to a client, each with its tick's time. Two runs that
    /// differ only in what a player does not see are the same for that player, byte by byte:
    ///
    /// ```
    /// # use ambit::prelude::*;
    /// # #[derive(Kind)]
    /// # struct Walker { path: Path }
    /// # #[derive(Command)]
    /// # enum Command { WalkTo { to: Position } }
    /// # #[derive(Default, Serialize, Deserialize, Declare)]
    /// # #[declare(kinds(Walker))]
    /// # struct Stroll;
    /// # impl Game for Stroll {
    /// #     const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    /// #     type Avatar = Walker;
    /// #     type Command = Command;
    /// #     type Refusal = NoRefusal;
    /// #     fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Walker> {
    /// #         let x = if newcomer.name == "ann" { 10.0 } else { 90.0 };
    /// #         world.spawn(Walker { path: Path::at(Position::on_ground(x, 10.0)) })
    /// #     }
    /// #     fn command(
    /// #         &mut self, world: &mut World<Self>, player: Player<Self>, command: Command,
    /// #     ) -> Result<(), NoRefusal> {
    /// #         let Command::WalkTo { to } = command;
    /// #         world.avatar(player).path().walk_to(to, 5.0);
    /// #         Ok(())
    /// #     }
    /// # }
    /// # use ambit::test::{Line, TestRoom};
    /// let run = |bobs_way: &str| {
    ///     let mut room = TestRoom::<Stroll>::new();
    ///     let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    ///     room.command(bob, bobs_way); // Far away from ann.
    ///     room.run(5.secs());
    ///     room.datagrams(ann).to_vec()
    /// };
    /// assert_eq!(run("walk-to 90 90"), run("walk-to 120 10"));
    /// ```
    pub fn datagrams(&self, client: TestClient) -> &[(GameTime, Bytes)] {
        &self.clients[client.0].sent
    }

    /// The codes of the errors that a client has received: refusals of the game by their names, and
    /// errors of the room.
    pub fn errors(&self, client: TestClient) -> &[String] {
        &self.clients[client.0].errors
    }

    /// The player of a client, as the game knows it.
    pub fn player(&self, client: TestClient) -> PlayerId {
        player(client.0)
    }

    /// The player leaves for good, by the player's own will.
    pub fn leave(&mut self, client: TestClient) {
        self.remove(client, Left::Quit);
    }

    /// The player leaves for good, for this reason.
    pub fn remove(&mut self, client: TestClient, why: Left) {
        let player = player(client.0);
        self.inputs.push(RoomInput::Remove { player, why });
        self.clients[client.0].connected = false;
    }

    /// The client's connection breaks: its avatar waits for the grace period.
    pub fn disconnect(&mut self, client: TestClient) {
        self.clients[client.0].connected = false;
        self.inputs
            .push(RoomInput::Disconnect { client: client_id(client.0), player: player(client.0) });
    }

    /// Time passes while the room sleeps: a lasting one whose last player has left for some
    /// seconds.
    ///
    /// # Panics
    /// If it does not sleep.
    pub fn sleep(&mut self, how_long: Duration) {
        assert!(self.room.is_asleep(), "the room has players, or is none that lasts");
        self.now += how_long;
        let tick_hz = self.room.config().tick_hz;
        self.schedule = TickSchedule::after(tick_hz, self.room_time());
    }

    /// Sets the calendar: seconds since 1970.
    pub fn set_calendar(&mut self, unix_seconds: u64) {
        let unix_ms = unix_seconds * 1_000;
        self.inputs.push(RoomInput::Calendar { unix_ms });
    }

    /// The world as it is: the truth, which no client sees as a whole.
    pub fn world(&self) -> &World<G> {
        World::of_room(self.room.world())
    }

    /// Changes the world or the game, between two ticks: to arrange a scene. What is changed here
    /// is in no recording.
    ///
    /// # Panics
    /// Never: the room runs a `G`.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut World<G>, &mut G) -> R) -> R {
        let (world, game) = self.room.arrange();
        let game = game.as_any().and_then(|game| game.downcast_mut());
        change(World::of_room_mut(world), game.expect("the room runs this game"))
    }

    /// The value that the game has stored with this key, as JSON.
    pub fn stored(&self, key: &StoreKey) -> Option<&str> {
        let value = self.store.values.get(key)?;
        std::str::from_utf8(value).ok()
    }

    /// Stores a value, as another room would.
    ///
    /// # Panics
    /// If the value has no form in JSON.
    pub fn store(&mut self, key: StoreKey, value: &impl serde::Serialize) {
        let value = serde_json::to_vec(value).expect("a value that JSON can hold");
        self.store.values.insert(key, value);
    }

    /// The profile of an account as the store has it, as JSON; `None` before the first one is
    /// written.
    pub fn stored_profile(&self, account: AccountId) -> Option<&str> {
        let value = self.store.profiles.get(&account)?.value.as_ref()?;
        std::str::from_utf8(value).ok()
    }

    /// Stores the profile of an account whose player is not in the room, as an earlier room would.
    ///
    /// # Panics
    /// If the value has no form in JSON.
    pub fn store_profile(&mut self, account: AccountId, value: &impl serde::Serialize) {
        let value = serde_json::to_vec(value).expect("a value that JSON can hold");
        self.store.profiles.entry(account).or_default().value = Some(value);
    }

    /// What the game has counted for the operator.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        self.room.world().operator_counts()
    }

    /// The rows that the game has added to tables of results, in order.
    pub fn results(&self) -> &[ResultRow] {
        &self.store.results
    }

    /// Takes the store away, or brings it back: meanwhile requests wait.
    pub fn set_store_away(&mut self, is_away: bool) {
        self.store.is_away = is_away;
    }

    /// Whether the game has ended.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// When the next tick, datagram or deadline of a client is due.
    fn next_event(&self) -> Option<LocalTime> {
        let tick = LocalTime::ZERO + self.schedule.next_deadline().since(GameTime::ZERO);
        let clients = self.clients.iter().filter(|state| state.connected);
        clients
            .filter_map(|state| state.client.next_deadline())
            .chain(self.in_flight.peek().map(|flight| flight.order.0.0))
            .chain(Some(tick).filter(|_| !self.finished))
            .min()
    }

    fn step(&mut self) {
        while let Some(flight) = self.in_flight.peek()
            && flight.order.0.0 <= self.now
            && let Some(Flight { to, what, .. }) = self.in_flight.pop()
        {
            self.arrive(to, what);
        }
        for number in 0..self.clients.len() {
            let state = &self.clients[number];
            let is_due = |deadline: LocalTime| deadline <= self.now;
            if state.connected && state.client.next_deadline().is_some_and(is_due) {
                self.with_client(number, Client::handle_timeout);
            }
        }
        let room_now = self.room_time();
        if !self.finished && self.schedule.next_deadline() <= room_now {
            for tick in self.schedule.take_due(room_now, 0).ticks {
                self.tick(tick);
            }
        }
    }

    fn tick(&mut self, at: GameTime) {
        let mut outputs = std::mem::take(&mut self.outputs);
        self.room.tick(at, &mut self.inputs, &mut outputs);
        for output in outputs.drain(..) {
            match output {
                RoomOutput::Datagram { client, bytes } => {
                    let to = client.0 as usize;
                    let delays: Vec<_> =
                        self.clients[to].down.send(self.now, bytes.len()).collect();
                    for delay in delays {
                        self.send(delay, to, Cargo::Down(bytes.clone()));
                    }
                    self.clients[to].sent.push((at, bytes));
                }
                RoomOutput::Report { client, error } => {
                    self.clients[client.0 as usize].errors.push(error.name);
                }
                RoomOutput::PlayerOut { player, .. } | RoomOutput::PutOut { player, .. } => {
                    self.clients[player.0 as usize - 1].connected = false;
                }
                // There is no other map.
                RoomOutput::AtGate { player, .. } => {
                    self.inputs.push(RoomInput::RefuseTransfer { player });
                }
                RoomOutput::WithoutAvatar { .. } => panic!(
                    "`Game::join` of {:?} returned an object that does not exist or is the avatar \
                     of another player: spawn an object, and return its id",
                    G::INFO.name
                ),
                RoomOutput::Store(asked) => {
                    let answered = self.store.carry_out(asked);
                    self.inputs.extend(answered);
                }
                RoomOutput::Finished => self.finished = true,
                RoomOutput::Superseded { .. }
                | RoomOutput::Unresponsive { .. }
                | RoomOutput::Departed { .. }
                | RoomOutput::Arrived { .. }
                | RoomOutput::Share(_)
                | RoomOutput::MovedAway { .. } => {}
            }
        }
        self.outputs = outputs;
    }

    fn arrive(&mut self, to: usize, what: Cargo) {
        if !self.clients[to].connected {
            return;
        }
        match what {
            Cargo::Up(bytes) => self.inputs.push(RoomInput::Datagram {
                client: client_id(to),
                at: self.room_time(),
                bytes,
            }),
            Cargo::Down(bytes) => {
                self.with_client(to, |client, now| client.handle_datagram(now, &bytes));
            }
            Cargo::Join => {
                let ClientState { client, account, standing, wishes, .. } = &self.clients[to];
                let (player, wishes) = (player(to), wishes.clone());
                self.inputs.push(RoomInput::Standing { player, standing: *standing });
                self.inputs.push(RoomInput::Wishes { player, wishes });
                self.inputs.push(RoomInput::Join {
                    client: client_id(to),
                    player,
                    name: client.name().to_owned(),
                    account: *account,
                    coding: PoseCoding::Auto,
                });
                let sent_us = self.room_time().micros();
                self.send(self.clients[to].line.0.delay, to, Cargo::Joined(sent_us));
            }
            Cargo::Joined(now_us) => {
                let sent = GameTime::from_micros(now_us);
                let joined = self.room.joined(RoomId(ROOM), sent, PoseCoding::Auto);
                let body = Some(game_pb::game_to_client::Body::Joined(joined));
                self.with_client(to, |client, now| {
                    client.handle_game_message(now, GameToClient { body });
                });
            }
        }
    }

    /// Calls a client, and carries out what it wants then.
    fn with_client(&mut self, number: usize, call: impl FnOnce(&mut Client, LocalTime)) {
        let now = self.now;
        call(&mut self.clients[number].client, now);
        while let Some(output) = self.clients[number].client.poll_output() {
            self.carry_out(number, output);
        }
        let state = &mut self.clients[number];
        while let Some(event) = state.client.poll_event() {
            match event {
                ViewEvent::Game(GameEvent::Event(event)) => state.events.push(event),
                ViewEvent::Lobby(_, LobbyEvent::Error { code, .. })
                | ViewEvent::Game(
                    GameEvent::Error { code, .. } | GameEvent::Refused { code, .. },
                ) => {
                    state.errors.push(code);
                }
                _ => {}
            }
        }
    }

    fn carry_out(&mut self, number: usize, output: ClientOutput) {
        match output {
            ClientOutput::ConnectWorld => {
                self.with_client(number, Client::handle_world_connected);
            }
            ClientOutput::World(message) => self.answer(number, message),
            ClientOutput::ConnectGame { .. } => {
                self.with_client(number, Client::handle_game_connected);
            }
            ClientOutput::Game(_) => {
                self.send(self.clients[number].line.0.delay, number, Cargo::Join);
            }
            ClientOutput::Datagram(bytes) => {
                let delays: Vec<_> = self.clients[number].up.send(self.now, bytes.len()).collect();
                for delay in delays {
                    self.send(delay, number, Cargo::Up(bytes.clone()));
                }
            }
            ClientOutput::ProveAccount(_)
            | ClientOutput::CloseWorld
            | ClientOutput::AbandonWorld
            | ClientOutput::CloseGame => {}
        }
    }

    /// The lobby, in as few words as a client needs: welcome, you are in the room, a ticket.
    fn answer(&mut self, number: usize, message: pb::ClientToWorld) {
        let Some(client_to_world::Body::Hello(hello)) = message.body else {
            return;
        };
        let welcome = pb::Welcome {
            version: WORLD_VERSION,
            player: player(number).0,
            name: hello.name,
            resume_token: vec![0; 16],
            ..pb::Welcome::default()
        };
        let room =
            Some(pb::Room { id: ROOM, game: G::INFO.name.to_owned(), ..pb::Room::default() });
        let players = Vec::new();
        let ticket = self.ticket();
        let bodies = [
            (message.request, world_to_client::Body::Welcome(welcome)),
            (0, world_to_client::Body::RoomJoined(pb::RoomJoined { room, players })),
            (0, world_to_client::Body::Ticket(ticket)),
        ];
        for (request, body) in bodies {
            let message = WorldToClient { request, body: Some(body) };
            self.with_client(number, |client, now| {
                client.handle_world_message(now, message);
            });
        }
    }

    fn ticket(&self) -> pb::Ticket {
        pb::Ticket {
            room: ROOM,
            incarnation: self.incarnation,
            address: "127.0.0.1:1".to_owned(),
            certificate_sha256: vec![0; 32],
            ..pb::Ticket::default()
        }
    }

    fn send(&mut self, delay: Duration, to: usize, what: Cargo) {
        self.sent += 1;
        self.in_flight.push(Flight {
            order: std::cmp::Reverse((self.now + delay, self.sent)),
            to,
            what,
        });
    }

    fn room_time(&self) -> GameTime {
        GameTime::ZERO + self.now.since(LocalTime::ZERO)
    }
}

fn player(number: usize) -> PlayerId {
    PlayerId(number as u64 + 1)
}

fn client_id(number: usize) -> ClientId {
    ClientId(number as u32)
}
