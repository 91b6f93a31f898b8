//! Write a game server: the one dependency of a game.
//!
//! A game is a struct with rules ([`Game`]) and a list of what it consists of ([`Declare`]): kinds
//! of objects ([`Kind`]), events ([`Event`]), commands ([`Command`]), refusals ([`Refusal`]),
//! timers. All are plain structs and enums with a derive. From them follows the schema that each
//! client receives at the join, so that any client can play any game.
//!
//! The game works on a [`World`]. It knows nothing of packets, clients and threads: the room sends
//! each client what its player may know, and nothing else.
//!
//! # A whole game
//!
//! Stones lie on the map. A walker that comes near one picks it up, which is tiring; a walker that
//! is too tired must rest. A stone that was picked up grows again elsewhere.
//!
//! ```
//! use ambit::prelude::*;
//!
//! /// What the players see of each other: a component for each field.
//! #[derive(Kind)]
//! #[look(glyph = '@', shape = arrow, colour = 0x3080ff, size = 0.8, bar = stamina, label = name)]
//! struct Walker {
//!     /// Where it is: sent once, as long as nothing changes it.
//!     path: Path,
//!     name: Text<24>,
//!     stones: Number<0, 1000>,
//!     /// Only its own player may know this.
//!     #[audience(owner)]
//!     stamina: Gauge<100>,
//! }
//!
//! #[derive(Kind)]
//! #[look(glyph = '.', colour = 0x808080, size = 0.3)]
//! struct Stone {
//!     path: Path,
//! }
//!
//! /// The clients that follow the walker receive it.
//! #[derive(Event)]
//! #[effect(heal, colour = 0xffe080, size = 0.6)]
//! struct PickedUp {
//!     by: Id<Walker>,
//!     at: Position,
//! }
//!
//! /// What players can do. The room checks types, ranges and positions.
//! #[derive(Command)]
//! enum Command {
//!     /// Walk to a point.
//!     #[command(newest_only, key = "click")]
//!     WalkTo { to: Position },
//!     /// Stand still and recover.
//!     Rest,
//! }
//!
//! #[derive(Refusal)]
//! enum Refused {
//!     #[text("you are too tired")]
//!     TooTired,
//! }
//!
//! #[derive(Serialize, Deserialize)]
//! enum Timer {
//!     GrowStone,
//! }
//!
//! #[derive(Default, Serialize, Deserialize, Declare)]
//! #[declare(kinds(Walker, Stone), events(PickedUp), timer = Timer)]
//! struct Stones {
//!     /// A buffer, which is not saved.
//!     #[serde(skip)]
//!     near: Vec<Id<Stone>>,
//! }
//!
//! impl Stones {
//!     fn grow_stone(world: &mut World<Self>) {
//!         let (width, height) = (world.width(), world.height());
//!         let (x, y) = (world.rng().f32() * width, world.rng().f32() * height);
//!         let path = Path::at(Position::on_ground(x, y));
//!         world.spawn(Stone { path });
//!     }
//! }
//!
//! impl Game for Stones {
//!     const INFO: GameInfo = GameInfo::new("stones", "Pick up stones.");
//!     type Avatar = Walker;
//!     type Command = Command;
//!     type Refusal = Refused;
//!
//!     fn start(&mut self, world: &mut World<Self>) {
//!         for _ in 0..50 {
//!             Self::grow_stone(world);
//!         }
//!     }
//!
//!     fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Walker> {
//!         world.spawn(Walker {
//!             path: Path::at(world.centre()),
//!             name: newcomer.name.into(),
//!             stones: 0.into(),
//!             stamina: Gauge::full(),
//!         })
//!     }
//!
//!     fn command(
//!         &mut self,
//!         world: &mut World<Self>,
//!         player: Player<Self>,
//!         command: Command,
//!     ) -> Result<(), Refused> {
//!         let mut walker = world.avatar(player);
//!         match command {
//!             Command::WalkTo { .. } if walker.stamina().value() < 10.0 => {
//!                 return Err(Refused::TooTired);
//!             }
//!             Command::WalkTo { to } => {
//!                 walker.path().walk_to(to, 5.0);
//!                 walker.stamina().set_rate(-1.0);
//!             }
//!             Command::Rest => {
//!                 walker.path().stop();
//!                 walker.stamina().set_rate(5.0);
//!             }
//!         }
//!         Ok(())
//!     }
//!
//!     fn timer(&mut self, world: &mut World<Self>, timer: Timer, _due: GameTime) {
//!         match timer {
//!             Timer::GrowStone => Self::grow_stone(world),
//!         }
//!     }
//!
//!     fn step(&mut self, world: &mut World<Self>, _dt: Duration) {
//!         let walkers: Vec<Id<Walker>> = world.players().map(Player::avatar).collect();
//!         for by in walkers {
//!             let Some(at) = world.position(by) else {
//!                 continue;
//!             };
//!             world.find_within(at, 1.0, &mut self.near);
//!             for stone in self.near.drain(..) {
//!                 world.despawn(stone);
//!                 world.emit(PickedUp { by, at });
//!                 world.after(30.secs(), Timer::GrowStone);
//!                 if let Some(mut walker) = world.edit(by) {
//!                     walker.stones().add(1);
//!                     walker.stamina().add(-5.0);
//!                 }
//!             }
//!         }
//!     }
//! }
//!
//! // What a server offers.
//! let games = Games::new().with::<Stones>();
//! ```
//!
//! # Objects and components
//!
//! [`World::spawn`] creates an object and returns its [`Id`]. [`World::get`] reads it and
//! [`World::edit`] edits it: both return a companion of the kind (`WalkerRef`, `WalkerMut`) with a
//! method for each component, or `None` if the object is gone. [`component`] lists the types of
//! components. The first component is where the object is: a [`Path`](component::Path) for movement
//! that is known in advance (sent once, and free until it changes), or a
//! [`YawPose`](component::YawPose) or [`FreePose`](component::FreePose) for objects that are
//! steered or simulated at each tick.
//!
//! What all players are to know wherever they are, such as the score, is of a kind with
//! `#[kind(room_wide)]`: its first component is like all others. [`World::state`] finds the one
//! object of such a kind, [`World::row`] that of a player. With `#[kind(world_wide)]` all maps of a
//! world have it.
//!
//! What players need not know belongs in the game's own struct, not in components.
//!
//! # Time
//!
//! [`World::now`] is the time at which all that a game does takes effect, for all players at once.
//! It lies a little ahead of the players' clocks, so most of them learn of a change before it
//! happens. For the rules it is simply now: check a command against the world as it is, and the
//! decision holds. [`Game`] says in which order a tick calls the game.
//!
//! # Physics
//!
//! A game that simulates bodies keeps the simulation in its own struct, steps it up to
//! [`World::now`], and passes the poses on: [`FreePose::exact`](component::FreePose::exact) for a
//! new object, [`World::replace_pose`] for each body that has moved. If a crate of its own
//! implements [`physics::SharedPhysics`] and the kinds are `#[kind(simulated)]`, then clients that
//! register this physics simulate as well. All others interpolate.
//!
//! # Saving
//!
//! A room continues at another host when its own one dies. The room saves objects, timers, players
//! and random numbers; the game's struct is saved with serde. The prelude has `Serialize` and
//! `Deserialize` with derives of their own, which need no dependency on serde; attributes such as
//! `#[serde(skip)]` and `with` work as usual. A skipped field is `Default` in the continued room,
//! so skip only buffers. An `Option` within an `Option` is not saved as such: both are one.
//! `#[declare(unsaved)]` opts out. A game with fields that serde cannot save, such as a simulation,
//! opts out as well, and implements [`Game::save`] and [`Game::restore`] instead.
//!
//! What is saved has names, so the next release of a game reads it: a field that was added needs
//! `#[serde(default)]`; kinds and components are found by their names; where a type has changed,
//! `#[declare(version = 1)]` and [`Game::upgrade`] read the old one, and [`Game::upgraded`] makes
//! what is new in the world.
//!
//! # Attributes
//!
//! | derive | attribute | |
//! | --- | --- | --- |
//! | [`Kind`] | `#[kind(name = "...", label = "...", simulated)]` | another name, a label; clients simulate the poses |
//! | | `#[kind(steered)]`, `#[kind(projectile)]` | clients steer their own; it flies from one avatar to another |
//! | | `#[kind(room_wide)]` | no place: all players have it ([`RoomWide`]) |
//! | | `#[kind(world_wide)]` | the same on all maps of a world |
//! | | `#[look(glyph, shape, colour, material, size, bar, label, figure, by)]` | how simple viewers draw it; `by` is a text, a number or a flag that says which variant an object is |
//! | | `#[variant("rat", figure = beast, size = 0.8, boss)]`, or `3`, `true` | how they draw those that are this; they show the bar of a boss to all |
//! | | `#[effect(arrival, colour, size)]` | what they show when one comes into sight |
//! | | `#[interest(inner = 2, outer = 3)]` | from how far it is followed, in cells |
//! | | `#[freshness(engaged_ms, near_m, near_ms, far_ms)]` | target ages of poses |
//! | | `#[reckoning(order, tolerance_m, tolerance_per_m, converge, converge_ms)]` | dead reckoning of poses |
//! | a component | `#[audience(owner)]`, `team`, `server` | who receives it, with `server` no client; all who follow it otherwise |
//! | | `#[component(name = "...", label = "...", unit = "s")]` | of a number: `ms`, `%`; seconds are shown as minutes |
//! | | `#[component(sign = hide)]` | what a flag means for the object that has it: others do not see it |
//! | | `#[component(words("open", "closed"))]`, or `words = CHOICE` | what a text may be; a choice has labels and outcomes, too |
//! | | `#[component(role = winner)]` | what a text is about: a `player`, the `winner`, the `reason` of the end |
//! | | `#[pose(format = ...)]` | the grid of a pose, with velocities |
//! | | `#[effect(ring, colour, size)]` | shown as long as a flag is set, or when a gauge falls at once |
//! | [`Event`] | `#[about]` | the object whose followers receive it; the first one otherwise |
//! | | `#[event(name = "...", text = "{target} is hurt", lead = "...")]` | what players read of it, names of fields in braces; the lead is above it where it is announced |
//! | | `#[effect(hit, colour, size, at, from)]` | what simple viewers show, and at which fields |
//! | [`Sound`](macro@Sound) | `#[sound(name = "...")]` | |
//! | [`Command`] | `#[command(newest_only, key = "...", name = "...", label = "...", only_for(alive), sign = ready)]` | offered while a flag is set, or `only_for(phase = "share")` while a text is that |
//! | | `#[command(walk(speed = 5.0, radius = 0.4))]`, or `speed_in = "COMPONENT"` | clients draw their avatar on its way at once |
//! | [`Refusal`] | `#[text("...")]` or `#[code(...)]` | for the player, or a general code |
//! | | `#[field(label = "...", listed_in = bag, marked_in = worn, sets = class)]` | of a field; of a choice the counts of what there is and of what is marked, and the text that it sets |
//! | [`Choice`] | `#[choice(name = "...", label = "...", cooldown_ms = 600, reach_cm = 1_500)]` | a command with it is refused during the cooldown after an accepted one, and for places farther from the avatar; the game sees to that |
//! | | `#[choice(cost(mana = 10))]` | what it costs of a gauge or a number of the avatar or of the player's row; the game takes it, and refuses who has less |
//! | | `#[choice(sign = fire, made_of = fire)]` | the sign on its button; how it looks on its way |
//! | | `#[choice(alone)]` | it needs no other field: players are asked for no optional one, such as a place |
//! | | `#[choice(outcome = won)]` | a text with `words = CHOICE` that is this says how the game has ended: `won`, `lost`, `over` |
//! | [`Controls`] | `#[key("a", "arrowleft")]` | default keys of the control |
//! | | `#[control(tapped, direction = east, name = "...", label = "...")]` | only the press counts; a way on the map |
//! | | `#[control(axis)]`, `angle` | a number from -1 to 1, whose keys come in pairs; radians |
//! | [`Parameters`] | `#[room(size = "300x300")]` | other defaults of what every room has |
//! | | `#[parameter(default = 5, range = 1..=9, name = "...", label = "...")]` | of the game's own |
//! | | `#[parameter(of_room, range = 40.0..=400.0)]` | reads one that every room has, and allows less |
//! | [`Declare`] | `#[declare(kinds(...), events(...), sounds(...), timer = ..., controls = ..., parameters = ..., profile = ..., seat = ..., version = 1, unsaved)]` | |
//!
//! An effect is one of `cast`, `hit`, `heal`, `arrival`, `death`, `blast`, `ring`, `beam` and
//! `warning`; viewers show it, and let it be heard. `size` is how far it reaches, in metres, or
//! `reach` names a field of an event that says so in decimetres. A warning fills until what it
//! warns of happens: `due` names a field with the milliseconds until then; a beam with `due` is a
//! shot that arrives then. `at` and `from` name fields that are objects or positions; without `at`
//! it is at the first position or else the first object, and a beam without `from` comes from the
//! first object. A field `seed` makes its sparks the same on all screens.
//!
//! A label is what the page shows players instead of a name: at most 40 bytes. The page shows the
//! first paragraph of a choice's documentation at the button of a command that begins with it.
//! Where the choices are data, [`Game::schema`] names them: see [`Listed`].
//!
//! Names come from the names in Rust: kinds, events and refusals in `snake_case`, commands,
//! choices and controls in `kebab-case`, because players type them.

#![warn(missing_docs)]

#[cfg(test)]
extern crate self as ambit;

/// Items of traits and implementations that only rooms need.
#[cfg(feature = "rules")]
macro_rules! with_rules {
    ($($item:tt)*) => { $($item)* };
}
#[cfg(not(feature = "rules"))]
macro_rules! with_rules {
    ($($item:tt)*) => {};
}

#[cfg(feature = "rules")]
mod adapter;
#[cfg(feature = "rules")]
mod as_seen;
#[cfg(feature = "rules")]
mod calendar;
#[cfg(feature = "rules")]
mod chance;
#[cfg(feature = "rules")]
mod command;
pub mod component;
mod counts;
#[cfg(feature = "rules")]
mod declare;
mod duration;
#[cfg(feature = "rules")]
mod event;
mod field;
#[cfg(feature = "rules")]
pub mod flight;
#[cfg(feature = "rules")]
mod game;
#[cfg(feature = "rules")]
mod games;
mod id;
#[cfg(feature = "rules")]
mod kind;
mod list;
mod listing;
#[cfg(feature = "rules")]
mod object;
#[cfg(feature = "rules")]
mod parameters;
mod placement;
#[cfg(feature = "rules")]
mod player_value;
#[cfg(feature = "rules")]
mod player_values;
mod raw_bytes;
#[cfg(feature = "rules")]
mod refusal;
#[cfg(feature = "rules")]
mod scenery;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "rules")]
pub mod sight;
#[cfg(feature = "rules")]
mod sound;
#[cfg(feature = "rules")]
mod store_reply;
#[cfg(feature = "rules")]
pub mod stored;
#[cfg(feature = "test-kit")]
pub mod test;
#[cfg(feature = "rules")]
mod time_left;
#[cfg(feature = "rules")]
mod world;

pub use ambit_game_macros::{
    Choice, Command, Controls, Declare, Deserialize, Entry, Event, Kind, Parameters, Refusal,
    Serialize, Sound,
};
pub use ambit_proto::codes::ErrorCode;
pub use ambit_proto::ids::{AccountId, ClientObjectId, ObjectId, PlayerId};
pub use ambit_proto::keymap::{ButtonEdges, Keymap, Keys};
/// Kinds, events, commands and the values of fields, for clients, tools and tests.
pub mod message {
    pub use ambit_proto::message::{
        FieldValue, FrameValue, GameCommand, ShownComponents, TypedCommand, TypedEvent, TypedId,
        TypedKind, TypedSound,
    };
}

pub use ambit_proto::physics;
pub use ambit_proto::pose::{MotionFormat, Pose, PoseFormat, Turning};
pub use ambit_proto::presentation;
pub use ambit_proto::presentation::{Camera, Ground, ObstacleLook};
pub use ambit_proto::schema;
pub use ambit_proto::schema::{Controls, NoControls};
pub use ambit_proto::seeded::SeededNumbers;
pub use ambit_proto::space::Position;
pub use ambit_proto::standing::{OperatorRole, Standing};
pub use ambit_proto::time::GameTime;
pub use ambit_proto::wishes::Wishes;
pub use ambit_steering as steering;
pub use fastrand::Rng;

#[cfg(feature = "rules")]
pub use self::counts::CountsMut;
pub use self::counts::{Counts, CountsRef};
pub use self::duration::Units;
pub use self::field::{Choice, MessageField};
pub use self::id::Id;
#[cfg(feature = "rules")]
pub use self::list::ListMut;
pub use self::list::{Entry, List, ListRef};
pub use self::listing::{Listed, Listing};
pub use self::placement::{Placed, RoomWide};
pub use self::raw_bytes::Bytes;
#[cfg(feature = "rules")]
pub use self::raw_bytes::BytesMut;
#[cfg(feature = "serve")]
pub use self::serve::{host_all, serve, serve_all, serve_shipped};
#[cfg(feature = "rules")]
pub use self::{
    adapter::Typed,
    as_seen::AsSeen,
    calendar::Calendar,
    chance::Dice,
    command::{Command, NoCommand},
    declare::{Declare, NoTimer, SavedTimer, TimerOf},
    event::{AboutObject, Event, EventOf},
    game::{Game, Newcomer, Player},
    games::Games,
    kind::{Kind, KindOf},
    object::Object,
    parameters::{Given, NoParameters, Parameters},
    player_value::PlayerValue,
    refusal::{NoRefusal, Refusal},
    scenery::Scenery,
    sound::{Sound, SoundOf},
    time_left::TimeLeft,
    world::{Emitted, World},
};
#[cfg(feature = "rules")]
pub use ambit_room::{
    config::{BadParameter, Surroundings},
    logic::{
        contact,
        game::{GameInfo, Left},
        gate::Gate,
    },
    saved,
};
pub use ambit_steering::statics;

/// All that a game needs, with one `use`.
pub mod prelude {
    pub use std::process::ExitCode;
    pub use std::time::Duration;

    pub use crate::component::{Angle, Flag, FreePose, Gauge, Half, Number, Path, Text, YawPose};
    pub use crate::counts::Counts;
    pub use crate::list::List;
    pub use crate::listing::{Listed, Listing};
    pub use crate::raw_bytes::Bytes;
    #[doc(no_inline)]
    pub use crate::steering::{Held, Movement, Shots, Steer, Steering, Terrain};
    #[doc(no_inline)]
    pub use crate::{
        AccountId, Choice, Command, Controls, Declare, Deserialize, Entry, Event, GameTime, Id,
        Kind, ObjectId, Parameters, PlayerId, Position, Refusal, Serialize, Sound, Units,
    };
    #[cfg(feature = "rules")]
    #[doc(no_inline)]
    pub use crate::{
        BadParameter, Camera, Game, GameInfo, Games, Gate, Given, Ground, Left, Newcomer,
        NoRefusal, Object, ObstacleLook, OperatorRole, Player, Scenery, Standing, Surroundings,
        World, no_commands,
        sight::{Cone, Sight, SightChecks},
        stored::{StoreKey, StoreReply},
    };
}

/// What the macros generate code for. Not for games.
#[doc(hidden)]
pub mod __private {
    pub use ambit_proto::axes::AxisKind;
    pub use ambit_proto::presentation::{
        ChoicePresentation, CommandPresentation, ComponentPresentation, Condition,
        ControlPresentation, Cost, Direction, Effect, EffectForm, Element, EventPresentation,
        FieldPresentation, Figure, KindPresentation, Look, Material, Outcome, RefusalPresentation,
        Shape, Sign, TextRole, Variant, WalkSpec, WalkSpeed,
    };
    pub use ambit_proto::schema::{
        CommandKind, Component, ComponentAudience, ComponentSpec, ControlSpec, Convergence,
        DeadReckoning, EventKind, FieldSpec, FieldType, Freshness, InterestRadii, ObjectKind,
        PosePresentation, ReckoningOrder, RefusalKind,
    };
    pub use serde;

    pub type KindDeclaration = (ObjectKind, KindPresentation);
    pub type EventDeclaration = (EventKind, EventPresentation);
    pub type CommandDeclaration = (CommandKind, CommandPresentation);
    pub type RefusalDeclaration = (RefusalKind, RefusalPresentation);
    pub type ControlDeclaration = (ControlSpec, ControlPresentation);

    pub use crate::component::{Attribute, Place, Posed, bar, label, told_by};
    pub use crate::field::{Fields, MessageField, Objects, Value, word, words_of};
    #[cfg(feature = "rules")]
    pub use crate::{
        declare::SavedGame,
        event::{EventObject, declared_event},
        kind::{DeclaredKind, declared_kind},
        object::{ObjectMut, ObjectRef, Spawn},
        parameters::{CheckedParameters, ParameterShape, chosen, is_among, is_of_room},
        sound::declared_sound,
    };
    #[cfg(feature = "rules")]
    pub use ambit_room::config::{Allowed, Parameter, override_default};
    #[cfg(feature = "rules")]
    pub use ambit_room::logic::{game::Refusal as Refused, sound::sound_kind};
}
