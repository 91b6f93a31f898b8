//! The interface of a game: its rules.
//!
//! A game is a plain struct that works on a [`World`]. It knows nothing of packets, cells or
//! clients. It spawns objects, changes the present and future of their components, decides who sees
//! whom, and refuses commands that are against the rules. It declares the components of its objects
//! once, in its [`Schema`]. Clients receive the schema and so can interpret any game.
//!
//! # Time
//!
//! [`World::now`] is the time at which everything that a game does takes effect, for all players at
//! once. It lies a little ahead of the players' clocks (the local lag), so most players learn of a
//! change before it happens. For the rules it is simply now: check a command against the world as
//! it is, and the decision holds.
//!
//! A tick delivers the due timers ([`World::set_timer`]), then runs the commands, joins and leaves
//! in the order of their arrival, then [`Game::input`] for each player whose controls have changed,
//! in the order of the players, then [`Game::step`]. If something that started earlier decides
//! whether a command is allowed (a bolt that kills the caster first), bring your rules up to `now`
//! at the beginning of `command`, as the game `field` does.
//!
//! # Controls
//!
//! Each player has 32 controls; the game decides what each one means. The stream of key samples
//! from a client survives loss: every press and every release counts once and in order, perhaps
//! late. From [`Game::input`] on, ask [`World::pressed`] for what is held and
//! [`World::just_pressed`] for what must happen once.
//!
//! ```
//! # use std::time::Duration;
//! # use ambit_room::config::RoomConfig;
//! # use ambit_room::logic::world::World;
//! # use ambit_proto::ids::PlayerId;
//! # use ambit_proto::keymap::Keymap;
//! # use ambit_proto::schema::Schema;
//! # use ambit_proto::time::GameTime;
//! const LEFT: u8 = 0;
//! const JUMP: u8 = 5;
//!
//! /// What a game computes in its `step`: speed along x and upwards.
//! fn step(world: &World, player: PlayerId) -> (f32, f32) {
//!     let run = if world.pressed(player, LEFT) { -5.0 } else { 0.0 };
//!     let jump = if world.just_pressed(player, JUMP) { 3.0 } else { 0.0 };
//!     (run, jump)
//! }
//!
//! // A test takes the place of the room: it sets the held keys and applies them to a tick.
//! let schema = Schema { game: "runners".into(), ..Schema::default() };
//! let mut world = World::new(&RoomConfig::default(), schema);
//! let ann = PlayerId(1);
//! world.hold_controls(ann, Keymap::default().with(LEFT, true).with(JUMP, true));
//! world.hold_controls(ann, Keymap::default().with(LEFT, true)); // The tap ends before the tick.
//! world.apply_inputs(&mut Vec::new());
//! assert_eq!(step(&world, ann), (-5.0, 3.0));
//! world.apply_inputs(&mut Vec::new());
//! assert_eq!(step(&world, ann), (-5.0, 0.0));
//! ```
//!
//! # Movement
//!
//! Component 0 of a kind is the position of its objects, in one of two forms. A **path**
//! ([`World::walk_to`]) is for movement that is known in advance: it is sent once and costs nothing
//! until it changes. A **pose** ([`World::set_pose`]) is for movement that cannot be predicted:
//! objects that are steered at every tick or pushed by physics. A pose is set at a tick and holds
//! from `now` on. Only the newest pose is sent, and not at every tick.
//!
//! # Randomness and order
//!
//! The same seed and inputs must give the same game: take random numbers from [`World::rng`] or
//! [`World::rng_for`], time from the world, and order from sorted maps and lists, never from a
//! `HashMap`.
//!
//! # A whole game
//!
//! Stones lie on the map; an avatar that comes near one picks it up, and its counter goes up.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::time::Duration;
//!
//! use ambit_room::config::Parameters;
//! use ambit_room::logic::game::{Game, GameCommand, GameInfo, Left, Refusal};
//! use ambit_room::logic::registry::Registry;
//! use ambit_room::logic::world::World;
//! use ambit_proto::codes::ErrorCode;
//! use ambit_proto::ids::{ObjectId, PlayerId};
//! use ambit_proto::message::FieldValue;
//! use ambit_proto::schema::{
//!     Codec, CommandKind, Component, ComponentSpec, FieldSpec, FieldType, ObjectKind, Schema,
//! };
//! use ambit_proto::space::Position;
//!
//! const WALKER: u8 = 0;
//! const STONE: u8 = 1;
//! const STONES: u8 = 1; // A walker's second component.
//!
//! #[derive(Default)]
//! struct Stones {
//!     walkers: BTreeMap<PlayerId, ObjectId>,
//! }
//!
//! impl Game for Stones {
//!     fn schema(&self) -> Schema {
//!         let path = || ComponentSpec::public("path", Codec::Path);
//!         let stones = ComponentSpec::public("stones", Codec::Number { min: 0, max: 1_000 });
//!         Schema {
//!             game: "stones".into(),
//!             kinds: vec![
//!                 ObjectKind {
//!                     name: "walker".into(),
//!                     components: vec![path(), stones],
//!                     ..ObjectKind::default()
//!                 },
//!                 ObjectKind {
//!                     name: "stone".into(),
//!                     components: vec![path()],
//!                     ..ObjectKind::default()
//!                 },
//!             ],
//!             commands: vec![CommandKind {
//!                 name: "walk-to".into(),
//!                 newest_only: true,
//!                 fields: vec![FieldSpec::new("to", FieldType::Position)],
//!                 ..CommandKind::default()
//!             }],
//!             ..Schema::default()
//!         }
//!     }
//!
//!     fn start(&mut self, world: &mut World) {
//!         for _ in 0..50 {
//!             let (x, y) = (world.rng().f32() * 200.0, world.rng().f32() * 200.0);
//!             let stone = vec![Component::at_rest(world.now(), Position::on_ground(x, y))];
//!             world.spawn(STONE, stone);
//!         }
//!     }
//!
//!     fn join(&mut self, world: &mut World, player: PlayerId, _name: &str) -> ObjectId {
//!         let path = Component::at_rest(world.now(), Position::on_ground(100.0, 100.0));
//!         let walker = world.spawn(WALKER, vec![path, Component::Number(0)]);
//!         self.walkers.insert(player, walker);
//!         walker
//!     }
//!
//!     fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
//!         if let Some(walker) = self.walkers.remove(&player) {
//!             world.despawn(walker);
//!         }
//!     }
//!
//!     fn command(
//!         &mut self,
//!         world: &mut World,
//!         player: PlayerId,
//!         command: &GameCommand,
//!     ) -> Result<(), Refusal> {
//!         // The room has checked the command against the schema.
//!         let [FieldValue::Position(to)] = command.fields[..] else {
//!             return Err(Refusal::Code(ErrorCode::UnknownCommand));
//!         };
//!         world.walk_to(self.walkers[&player], to, 5.0);
//!         Ok(())
//!     }
//!
//!     fn step(&mut self, world: &mut World, _dt: Duration) {
//!         let mut near = Vec::new();
//!         for &walker in self.walkers.values() {
//!             world.find_within(world.position(walker), 1.0, &mut near);
//!             near.retain(|&object| world.kind(object) == STONE);
//!             for &stone in &near {
//!                 world.despawn(stone);
//!                 let stones = world.number(walker, STONES);
//!                 world.set_number(walker, STONES, stones + 1);
//!             }
//!         }
//!     }
//! }
//!
//! // A server with this registry: `ambit_host::process::run(registry)`.
//! let registry = Registry::default().with(
//!     GameInfo::new("stones", "Pick up stones.").version(env!("CARGO_PKG_VERSION")),
//!     |_: &Parameters| Ok(Box::new(Stones::default())),
//! );
//! assert!(registry.check("stones", &BTreeMap::new()).is_ok());
//!
//! // A test needs only a world and a few ticks.
//! use ambit_room::config::RoomConfig;
//! use ambit_proto::time::GameTime;
//! let mut game = Stones::default();
//! let mut world = World::new(&RoomConfig::default(), game.schema());
//! game.start(&mut world);
//! let ann = PlayerId(1);
//! let walker = game.join(&mut world, ann, "ann");
//! let fields = vec![FieldValue::Position(Position::on_ground(150.0, 100.0))];
//! game.command(&mut world, ann, &GameCommand { kind: 0, fields }).unwrap();
//! for tick in 1..=200 {
//!     world.begin_tick(GameTime::from_millis(tick * 50));
//!     game.step(&mut world, Duration::from_millis(50));
//!     world.finish_tick();
//! }
//! assert_eq!(world.position(walker), Position::on_ground(150.0, 100.0));
//! ```

use std::any::Any;
use std::collections::BTreeSet;
use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
pub use ambit_proto::message::GameCommand;
use ambit_proto::schema::{Predictors, Schema};
use ambit_proto::space::Position;
use serde::{Deserialize, Serialize};

use super::controls::DEFAULT_INPUT_TIMEOUT;
use super::gate::Gate;
use super::player_values::{NoValues, PlayerValues};
use super::sight::{Sight, SightChecks};
use super::store::{MAX_PROFILE_BYTES, StoreAnswer, StoreNumber, StoreRequest};
use super::world::{DueTimer, World};
use crate::config::{Parameter, Surroundings};
use crate::saved::BadState;

/// The longest state that an avatar may take through a gate, in bytes.
pub const MAX_TRANSFER_STATE_BYTES: usize = 4_096;
/// The longest that a room may send through a gate with a player, in bytes: what the game carries,
/// and the player's profile.
pub const MAX_CARRIED_BYTES: usize = MAX_TRANSFER_STATE_BYTES + MAX_PROFILE_BYTES + 64;

/// The rules of a room. See the module.
pub trait Game: Send {
    /// The components of the game's objects, its events, its commands and its refusals. The result
    /// is the same at every call.
    fn schema(&self) -> Schema;

    /// How far what is around a player matters: the zones of the room contain it
    /// ([`RoomConfig::containing`](crate::config::RoomConfig::containing)).
    fn surroundings(&self) -> Surroundings {
        Surroundings::NONE
    }

    /// How many objects the game creates in addition to avatars, as far as its parameters say it:
    /// an operator may limit them.
    fn planned_objects(&self) -> u64 {
        0
    }

    /// How far before the players' clock the world's past is kept, for what players saw
    /// ([`World::past_position`], [`World::shown_to`]); zero for not at all.
    fn lag_compensation(&self) -> Duration {
        Duration::ZERO
    }

    /// How long the keys that a player holds count after the newest sample of them. A client that
    /// holds a key samples it 20 times a second.
    fn input_timeout(&self) -> Duration {
        DEFAULT_INPUT_TIMEOUT
    }

    /// The functions by which clients extrapolate kinds of this game, too.
    fn predictors(&self) -> Predictors {
        Predictors::default()
    }

    /// What the game keeps of each player beside the objects; empty. Called once, before the start.
    fn player_values(&self) -> Box<dyn PlayerValues> {
        Box::new(NoValues)
    }

    /// The room-wide kinds whose objects all maps of the world have: each map its own, and
    /// read-only copies of the others' ([`World::is_copy`]). The same at every call.
    fn world_wide_kinds(&self) -> BTreeSet<u8> {
        BTreeSet::new()
    }

    /// Starts the room: creates the obstacles and objects of the world. Called once, at the first
    /// tick, before anything else.
    fn start(&mut self, world: &mut World);

    /// A player joins for the first time. Creates the avatar through which the player sees the
    /// world; the avatar must exist until `leave`. Never called for a player who is in the room.
    /// The room refuses the player if the result does not exist or is the avatar of another player.
    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId;

    /// A player in the room has a new name.
    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        let _ = (world, player, name);
    }

    /// A player has left this room for good, for this reason: removes the avatar. A player who only
    /// lost the connection keeps the avatar for the grace period.
    fn leave(&mut self, world: &mut World, player: PlayerId, why: Left);

    /// Executes a command of a player in the room, effective at `world.now()`, or refuses it. Its
    /// kind and its fields are as the schema declares them; positions are on the map, objects exist
    /// and the player's client follows them. A game without commands gets none.
    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        command: &GameCommand,
    ) -> Result<(), Refusal> {
        let _ = (world, player, command);
        Err(Refusal::Code(ErrorCode::UnknownCommand))
    }

    /// The controls of a player differ from those at the previous tick, an axis too, or a control
    /// was pressed again. `keys` are the controls that are held now or were pressed in between.
    /// [`World::pressed`], [`World::just_pressed`], [`World::just_released`] and [`World::axis`]
    /// give the same answers, here and in `step`, so a game may leave this out. All controls of a
    /// player who disconnects are released, and linear axes go back to 0.
    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        let _ = (world, player, keys);
    }

    /// A timer that the game has set ([`World::set_timer`]) is due. The due timers of a tick come
    /// before everything else in it, in the order of their times, then of their setting.
    fn timer(&mut self, world: &mut World, timer: &DueTimer) {
        let _ = (world, timer);
    }

    /// The room has slept for this time, since it had no players: no tick has run. Called before
    /// the timers of its first tick; that tick is as long as any other.
    fn wake(&mut self, world: &mut World, slept: Duration) {
        let _ = (world, slept);
    }

    /// The store has answered a request ([`World::load`], [`World::store`],
    /// [`World::add_result`]). A room that goes on at another host has had the same answers.
    fn stored(
        &mut self,
        world: &mut World,
        number: StoreNumber,
        request: &StoreRequest,
        answer: &StoreAnswer,
    ) {
        let _ = (world, number, request, answer);
    }

    /// All players who were in the room when it was started are in the game, or have left, or 10 s
    /// have passed. Called once, at a tick before [`step`](Game::step); at the first tick if no
    /// player is expected.
    fn all_here(&mut self, _: &mut World) {}

    /// The end of a tick, `dt` after the previous one.
    fn step(&mut self, world: &mut World, dt: Duration);

    /// Whether a viewer's avatar sees an object that is near enough. A player's own avatar is
    /// always visible to that player. Hidden objects are not sent. The room asks when an object
    /// comes into the inner zone of a viewer, when the game calls [`World::ask_who_sees`] or
    /// [`World::ask_what_is_seen_by`], and as [`Game::sight_checks`] says: one of these whenever
    /// anything else changes the answer.
    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId, sight: Sight) -> bool {
        let _ = (world, viewer, object, sight);
        true
    }

    /// When the room asks `sees` again by itself. The same at every call.
    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND
    }

    /// The gates from this map to other maps of its world. Called once, after `start`. An avatar
    /// that enters a gate is transferred: see `carry` and `arrive`.
    fn gates(&self, world: &World) -> Vec<Gate> {
        let _ = world;
        Vec::new()
    }

    /// The other map to which the game sends a player from wherever its avatar is, as if a gate
    /// were there, and where it arrives; `None` for one who stays. Asked at the end of each tick.
    fn departs(&self, world: &World, player: PlayerId) -> Option<(u32, Position)> {
        let _ = (world, player);
        None
    }

    /// The state that a player in a gate takes to the other map, at most
    /// [`MAX_TRANSFER_STATE_BYTES`]. `None` if the player must stay for now, for example
    /// because it is dead. `leave` follows at once, with [`Left::ToMap`]. Each map has its own
    /// time: save how long something still lasts, not when it ends. `saved::of` encodes any type
    /// that serde can serialize.
    fn carry(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        let _ = (world, player);
        Some(Vec::new())
    }

    /// A player arrives at `at` through a gate of another map, with the state that `carry` returned
    /// there. The default does the same as `join`.
    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        let _ = carried;
        let avatar = self.join(world, player, name);
        world.put_at(avatar, at);
        avatar
    }

    /// The state of the game beside its parameters and the world, between two ticks, for
    /// [`Game::restore`]: it lets a room continue in another process when its own one dies or ends.
    /// `None` if the game does not support this: its rooms then end with their process. `saved::of`
    /// encodes any type that serde can serialize.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Continues from a state that [`Game::save`] returned. This game was created with the same
    /// parameters and has started, in a world that has since been restored: same objects, same ids.
    /// The state may be of another build ([`saved::all`](crate::saved::all) reads what has other
    /// fields); the world's objects are of this one already.
    fn restore(&mut self, world: &mut World, saved: &[u8]) -> Result<(), BadState> {
        let _ = (world, saved);
        Err(BadState::Unsupported)
    }

    /// Whether the room may move to a host of a newer build now, between two ticks. It is asked
    /// after each tick from when such a host has a place for it.
    fn may_move(&self, world: &World) -> bool {
        let _ = world;
        true
    }

    /// Whether the game is over: the room then closes.
    fn is_finished(&self) -> bool {
        false
    }

    /// The game in its own type, for tests that arrange a scene; `None` if it does not offer it.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// A command is against the rules. The reason is sent to the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A general reason.
    #[error("refused: {}", ambit_proto::codes::name(*.0))]
    Code(ErrorCode),
    /// The game's own: an index in the schema's refusals.
    #[error("refused: reason {0} of the game")]
    Game(u8),
}

/// Why a player has left a room. A room that closes calls no `leave`: it has ended, with all of its
/// state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Left {
    /// The player has left the game or the room, or has ended the session.
    Quit,
    /// The connection was lost, and the player was not back within the grace period.
    Lost,
    /// The room's host has put the player out.
    Kicked,
    /// The game has put the player out ([`World::put_out`]).
    PutOut,
    /// The player goes on on another map of this world, and has there what `carry` returned. The
    /// player's possessions are on that map, too: a game must not give them to others here.
    ToMap,
    /// The server has put the player out for another reason; or the player left while the room
    /// moved to another host, and the new host does not know the reason.
    Removed,
}

/// What the lobby knows of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameInfo {
    /// The value of `game=`.
    pub name: &'static str,
    /// One line for users.
    pub description: &'static str,
    /// Players needed to start.
    pub min_players: u32,
    /// Whether players may join a running room.
    pub join_running: bool,
    /// Whether rooms stay without players, and sleep meanwhile.
    pub is_lasting: bool,
    /// The game's own parameters. A game may also override the default of a parameter that every
    /// room has (`config::override_default`).
    pub parameters: &'static [Parameter],
    /// The parameters of a room in which a player begins at once, without others; empty for none.
    pub quick_start: &'static [(&'static str, &'static str)],
    /// Names the rules and what they save: a part of the name of a build, so saved rooms go on only
    /// at hosts with the same version.
    pub version: &'static str,
}

impl GameInfo {
    /// A game of this name, with a line for users. One player can start it, others may join while
    /// it runs, and it has no parameters of its own. Its version is that of the crate that declares
    /// what it consists of.
    pub const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            min_players: 1,
            join_running: true,
            is_lasting: false,
            parameters: &[],
            quick_start: &[],
            version: "",
        }
    }

    /// The number of players needed to start.
    #[must_use]
    pub const fn min_players(self, min_players: u32) -> Self {
        Self { min_players, ..self }
    }

    /// The game's own parameters.
    #[must_use]
    pub const fn parameters(self, parameters: &'static [Parameter]) -> Self {
        Self { parameters, ..self }
    }

    /// The parameters of a room in which a player begins at once, without others: so small, say,
    /// that something is always in sight. Clients offer such a room, and suggest its parameters to
    /// players who create one.
    #[must_use]
    pub const fn quick_start(self, parameters: &'static [(&'static str, &'static str)]) -> Self {
        Self { quick_start: parameters, ..self }
    }

    /// Another version than that of the crate.
    #[must_use]
    pub const fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// Its rooms stay when their last player has left: a world to come back to. Without players a
    /// room sleeps: it costs its memory and no time, and wakes when a player joins
    /// ([`Game::wake`]).
    #[must_use]
    pub const fn lasting(self) -> Self {
        Self { is_lasting: true, ..self }
    }

    /// No player may join while the game runs.
    #[must_use]
    pub const fn closed_while_running(self) -> Self {
        Self { join_running: false, ..self }
    }
}
