//! What a game has to say: its rules.
//!
//! A game is a plain struct that works on a [`World`]. It knows nothing of packets, cells or
//! clients: it spawns objects, gives their components another present and future, says who sees
//! whom, and refuses what is against the rules. What its objects are made of it declares once, in
//! its [`Schema`]; clients are handed the schema, and so understand the game.
//!
//! # Time
//!
//! [`World::now`] is the moment at which everything that a game does takes effect, for everybody at
//! once. It lies a little ahead of the players' clocks (the local lag), and so most of them know
//! before it happens. For the rules it is simply now: check a command against the world as it is,
//! and what you decide holds.
//!
//! A tick is: commands (and joins and leaves) in the order of their arrival, then [`Game::input`]
//! for each player whose controls have changed, in the order of the players, then [`Game::step`].
//! Where something that was set going earlier decides whether a command is allowed (a bolt that
//! kills its caster first), bring your rules up to `now` at the beginning of `command`, as the game
//! `field` does.
//!
//! # What players press
//!
//! Each player has 32 controls; which one means what is up to the game. What a client sends of them
//! is a stream that survives loss: every press and every release counts once and in order, if late.
//! A game asks the world, from [`Game::input`] on: [`World::pressed`] for what is held,
//! [`World::just_pressed`] for what is to happen once.
//!
//! ```
//! # use std::time::Duration;
//! # use ambit_game_server::config::RoomConfig;
//! # use ambit_game_server::logic::world::World;
//! # use ambit_proto::ids::PlayerId;
//! # use ambit_proto::keymap::Keymap;
//! # use ambit_proto::schema::Schema;
//! # use ambit_proto::time::GameTime;
//! const LEFT: u8 = 0;
//! const JUMP: u8 = 5;
//!
//! /// What a game does in its `step`, a tick of 50 ms; how fast somebody runs, and flies up.
//! fn step(world: &World, player: PlayerId) -> (f32, f32) {
//!     let run = if world.pressed(player, LEFT) { -5.0 } else { 0.0 };
//!     let jump = if world.just_pressed(player, JUMP) { 3.0 } else { 0.0 };
//!     (run, jump)
//! }
//!
//! // A test plays the room: it says what is held, and that a tick takes it.
//! let schema = Schema { game: "runners".into(), ..Schema::default() };
//! let mut world = World::new(&RoomConfig::default(), schema);
//! let ann = PlayerId(1);
//! world.hold(ann, Keymap::default().with(LEFT, true).with(JUMP, true));
//! world.hold(ann, Keymap::default().with(LEFT, true)); // A tap, over before the tick.
//! world.take_inputs(&mut Vec::new());
//! assert_eq!(step(&world, ann), (-5.0, 3.0));
//! world.take_inputs(&mut Vec::new());
//! assert_eq!(step(&world, ann), (-5.0, 0.0));
//! ```
//!
//! # What moves
//!
//! Component 0 of a kind says where its objects are, in one of two ways. A **path**
//! ([`World::walk_to`]) is for what can be foretold: it is said once, and costs nothing until it
//! changes. A **pose** ([`World::set_pose`]) is for what nobody can foretell: what is steered at
//! every tick, or pushed about by physics. It is set at a tick and holds from `now` on; only the
//! newest is sent, and not at every tick where it need not be.
//!
//! # Chance and order
//!
//! The same seed and inputs must give the same game: take dice from [`World::rng`] or
//! [`World::rng_for`], time from the world, and order from sorted maps and lists (never from a
//! `HashMap`).
//!
//! # A whole game
//!
//! Stones lie about; who comes near one picks it up, and its number counts.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::time::Duration;
//!
//! use ambit_game_server::config::Parameters;
//! use ambit_game_server::logic::game::{Game, GameInfo, Refusal};
//! use ambit_game_server::logic::registry::Registry;
//! use ambit_game_server::logic::world::World;
//! use ambit_proto::codes::ErrorCode;
//! use ambit_proto::ids::{ObjectId, PlayerId};
//! use ambit_proto::message::Action;
//! use ambit_proto::schema::{Codec, Component, ComponentSpec, Kind, Schema};
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
//!                 Kind { name: "walker".into(), components: vec![path(), stones], ..Kind::default() },
//!                 Kind { name: "stone".into(), components: vec![path()], ..Kind::default() },
//!             ],
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
//!     fn leave(&mut self, world: &mut World, player: PlayerId) {
//!         if let Some(walker) = self.walkers.remove(&player) {
//!             world.despawn(walker);
//!         }
//!     }
//!
//!     fn command(&mut self, world: &mut World, player: PlayerId, action: &Action) -> Result<(), Refusal> {
//!         let Action::Move { x, y } = *action else { return Err(Refusal(ErrorCode::UnknownCommand)) };
//!         let target = Position::on_ground(x, y);
//!         if !world.grid().contains(target) {
//!             return Err(Refusal(ErrorCode::BadPosition)); // Off the map, or not a number.
//!         }
//!         world.walk_to(self.walkers[&player], target, 5.0);
//!         Ok(())
//!     }
//!
//!     fn step(&mut self, world: &mut World, _dt: Duration) {
//!         let mut near = Vec::new();
//!         for &walker in self.walkers.values() {
//!             world.within(world.position(walker), 1.0, &mut near);
//!             for &stone in near.iter().filter(|&&object| world.kind(object) == STONE).collect::<Vec<_>>() {
//!                 world.despawn(stone);
//!                 let stones = world.number(walker, STONES);
//!                 world.set_number(walker, STONES, stones + 1);
//!             }
//!         }
//!     }
//! }
//!
//! // One line makes it known to a server: `ambit_game_server::process::run(registry)`.
//! let registry = Registry::standard().with(
//!     GameInfo { name: "stones", description: "Pick up stones.", min_players: 1, join_running: true, parameters: &[] },
//!     |_: &Parameters| Ok(Box::new(Stones::default())),
//! );
//! assert!(registry.check("stones", &BTreeMap::new()).is_ok());
//!
//! // And so it is tested: a world, a few ticks.
//! use ambit_game_server::config::RoomConfig;
//! use ambit_proto::time::GameTime;
//! let mut game = Stones::default();
//! let mut world = World::new(&RoomConfig::default(), game.schema());
//! game.start(&mut world);
//! let ann = PlayerId(1);
//! let walker = game.join(&mut world, ann, "ann");
//! assert_eq!(game.command(&mut world, ann, &Action::Move { x: f32::NAN, y: 0.0 }), Err(Refusal(ErrorCode::BadPosition)));
//! game.command(&mut world, ann, &Action::Move { x: 150.0, y: 100.0 }).unwrap();
//! for tick in 1..=200 {
//!     world.begin_tick(GameTime::from_millis(tick * 50));
//!     game.step(&mut world, Duration::from_millis(50));
//!     world.finish_tick();
//! }
//! assert_eq!(world.position(walker), Position::on_ground(150.0, 100.0));
//! ```

use std::time::Duration;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::keymap::Keymap;
use ambit_proto::message::Action;
use ambit_proto::schema::Schema;
use ambit_proto::space::Position;

use super::gate::Gate;
use super::world::World;
use crate::config::Parameter;
use crate::saved::BadState;

/// The rules of a room. See the module.
pub trait Game: Send {
    /// What the game's objects are made of, and what events and spells it has. The same at every
    /// call.
    fn schema(&self) -> Schema;

    /// The room begins: puts up what stands and lives in the world. Called once, at the first tick,
    /// before anything else.
    fn start(&mut self, world: &mut World);

    /// A player comes in for the first time; makes the avatar, through which the player sees, and
    /// which has to be there until `leave`. Never for one who is in.
    fn join(&mut self, world: &mut World, player: PlayerId, name: &str) -> ObjectId;

    /// A player who is in has another name.
    fn rename(&mut self, world: &mut World, player: PlayerId, name: &str) {
        let _ = (world, player, name);
    }

    /// A player has left for good; takes the avatar away. (Whoever only lost the connection keeps
    /// it for the grace period.)
    fn leave(&mut self, world: &mut World, player: PlayerId);

    /// A player who is in wants something: does it, from `world.now()` on, or says why not.
    /// SentDatagrams are as the client sent them: they may be anything. `Action::Keys` is none of
    /// them: that counts as holding these controls.
    fn command(
        &mut self,
        world: &mut World,
        player: PlayerId,
        action: &Action,
    ) -> Result<(), Refusal>;

    /// A player presses other controls than at the tick before, or has pressed some anew; `keys`
    /// are those that are held or were pressed in between. [`World::pressed`],
    /// [`World::just_pressed`] and [`World::just_released`] say the same, here and in `step`, so a
    /// game may do without this. What it does not want it ignores. Whoever loses the connection
    /// lets go of everything.
    fn input(&mut self, world: &mut World, player: PlayerId, keys: Keymap) {
        let _ = (world, player, keys);
    }

    /// The end of a tick; `dt` since the one before.
    fn step(&mut self, world: &mut World, dt: Duration);

    /// Whether a viewer's avatar sees an object that is near enough; its own avatar everybody sees
    /// in any case. What is not seen is not sent. It is asked when an object or a viewer changes
    /// cell, and whenever the game says [`World::hide`] or [`World::reveal`]; so whatever else
    /// changes the answer has to be said like that.
    fn sees(&self, world: &World, viewer: ObjectId, object: ObjectId) -> bool {
        let _ = (world, viewer, object);
        true
    }

    /// The ways from this map to others of its world; asked once, after `start`. Whose avatar gets
    /// into one is carried over: see `carry` and `arrive`.
    fn gates(&self, world: &World) -> Vec<Gate> {
        let _ = world;
        Vec::new()
    }

    /// What a player who stands in a gate takes along to the other map, at most
    /// `host::MAX_TRANSFER_STATE_BYTES`; nothing if the player is to stay for now (is dead, say).
    /// `leave` follows at once. Each map has a time of its own: carry how long something still
    /// lasts, not until when. `saved::of` makes bytes of whatever serde knows.
    fn carry(&self, world: &World, player: PlayerId) -> Option<Vec<u8>> {
        let _ = (world, player);
        Some(Vec::new())
    }

    /// A player comes through a gate of another map, to `at`, with what `carry` said there: as
    /// `join`, which it is unless a game says more.
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

    /// All that the game knows beside its parameters and the world, between two ticks, for
    /// [`Game::restore`]: so a room goes on in another process when its own dies or ends. Nothing
    /// if it can't: then its rooms end with their process. `saved::of` makes bytes of whatever
    /// serde knows.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Goes on from what [`Game::save`] has said. This game was made with the same parameters, and
    /// has started, in a world that has since become the one of then: same objects, same ids.
    fn restore(&mut self, world: &mut World, saved: &[u8]) -> Result<(), BadState> {
        let _ = (world, saved);
        Err(BadState::Unsupported)
    }

    /// Whether the game is over: the room then closes.
    fn is_finished(&self) -> bool {
        false
    }
}

/// A command is against the rules. The code reaches the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {}", ambit_proto::codes::name(*.0))]
pub struct Refusal(pub ErrorCode);

/// What the lobby knows of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameInfo {
    /// What `game=` names.
    pub name: &'static str,
    /// One line for people.
    pub description: &'static str,
    /// Players that a start takes.
    pub min_players: u32,
    /// Whether a running room may be joined.
    pub join_running: bool,
    /// The game's own parameters; of one that every room has, it may choose the default
    /// (`config::override_default`).
    pub parameters: &'static [Parameter],
}
