//! What a game tells players about itself: labels, helps, units, looks, effects, keys, texts,
//! scenery, gates.
//!
//! [`Schema`](crate::schema::Schema) decides the bytes of datagrams, and [`Presentation`] decides
//! none. It refers to the lists of the schema by index; a list may be shorter, and the items that
//! are missing are as by default. So a client may skip it.
//!
//! A host sends it as one block, in `Joined` and in the description of a game: JSON in which each
//! struct is an object with the names of its fields ([`Presentation::to_block`]). What is null,
//! empty or false is left out. A reader ignores fields that it does not know, and takes the default
//! instead of a word that it does not know. The structs in TypeScript (`client-core/web/ts`) are
//! generated from these.
//!
//! Invariants, checked by [`Schema::check`](crate::schema::Schema::check):
//! 1. A label has at most 40 bytes, a unit 8, another text 200; none has control characters.
//! 2. No list is longer than that of the schema.
//! 3. A look names a gauge as its bar and a text as its label. It can be drawn, and so can the
//!    scenery, with at most 15 looks of obstacles. An effect of an event names places and objects
//!    among its fields; of components, flags and gauges can have one. Texts alone have a role and
//!    words, flags a sign.
//! 4. A choice needs others of its field, and none needs itself, also by way of others.
//!
//! Units: metres, milliseconds; colours are 0xRRGGBB here and `#rrggbb` in the block.

#![warn(missing_docs, reason = "authors of games and clients import it")]

mod block;
mod check;
mod condition;
mod effect;
mod hints;
mod look;
mod scenery;
mod sign;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::condition::{Condition, Outcome, TextRole, Word};
pub use self::effect::{Effect, EffectForm};
pub use self::look::{Figure, Look, Material, Shape, Variant};
pub use self::scenery::{Camera, Ground, MAX_OBSTACLE_LOOKS, ObstacleLook, ScenerySpec};
pub use self::sign::{Element, Rarity, Sign, Thing};

/// What a game tells players about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Presentation {
    /// Of the kinds.
    pub kinds: Vec<KindPresentation>,
    /// Of the events.
    pub events: Vec<EventPresentation>,
    /// Of the commands.
    pub commands: Vec<CommandPresentation>,
    /// Of the refusals.
    pub refusals: Vec<RefusalPresentation>,
    /// Of the controls.
    pub controls: Vec<ControlPresentation>,
    /// Index of the kind of the players' avatars.
    pub avatar: Option<u8>,
    /// How a simple viewer draws the map.
    pub scenery: ScenerySpec,
    /// Where this map leads to others. A description of the game has none.
    pub gates: Vec<GateArea>,
}

/// A kind of object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct KindPresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// How a simple viewer draws it.
    pub look: Look,
    /// What objects look like whose component [`Look::by`] has one of these values.
    pub variants: Vec<Variant>,
    /// What a simple viewer shows when one comes into sight.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub effect: Option<Effect>,
    /// Of its components.
    pub components: Vec<ComponentPresentation>,
}

/// A component of a kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ComponentPresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// What a number of it counts: `s`, `ms`, `%`; empty for a plain number. Viewers show seconds
    /// as minutes and seconds.
    pub unit: String,
    /// What a flag means for the object that has it: `hide` if others do not see it.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub sign: Option<Sign>,
    /// What a text is about.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub role: Option<TextRole>,
    /// What a text may be, where that is one of some words.
    pub words: Vec<Word>,
    /// What a simple viewer shows as long as a flag is set, or when a gauge falls at once.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub effect: Option<Effect>,
}

/// A kind of event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct EventPresentation {
    /// One line for players, in which `{FIELD}` stands for the value of a field. Empty for an event
    /// that is not shown in words.
    pub text: String,
    /// What stands above the line where it is announced to all, such as `Wave {wave}`; may be
    /// empty.
    pub lead: String,
    /// How a simple viewer shows it.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub effect: Option<Effect>,
    /// Of its fields.
    pub fields: Vec<FieldPresentation>,
}

/// A kind of command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct CommandPresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// One line for users; may be empty.
    pub help: String,
    /// The suggested input: the name of a key, or `click` for a point on the map.
    pub key: Option<String>,
    /// When it is offered; null for always.
    pub only_for: Option<Condition>,
    /// How it walks the avatar, if it does: to the place in its first field of that type.
    pub walk: Option<WalkSpec>,
    /// The sign on its button.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub sign: Option<Sign>,
    /// Of its fields.
    pub fields: Vec<FieldPresentation>,
}

/// How a command walks the avatar along its path: straight, up to the first obstacle. Clients draw
/// the player's own avatar by it before the host answers; where the host decides otherwise, they
/// correct that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WalkSpec {
    /// How fast.
    pub speed: WalkSpeed,
    /// Radius of the body for obstacles, in metres.
    pub radius_m: f32,
}

/// The speed of a walk, in metres a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum WalkSpeed {
    /// Always the same.
    Constant(f32),
    /// That of a half float of the avatar, by its name.
    Component(String),
}

/// A field of an event or a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct FieldPresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// Of the names of a choice. The values mean the same to clients that know other texts.
    pub choices: Vec<ChoicePresentation>,
    /// Of a choice: the name of the component that counts the names that there are now; of the
    /// avatar, of the player's own row or of the game's state. Empty for all, always.
    pub listed_in: String,
    /// Of a choice: the name of the component that counts those of the names that viewers mark,
    /// with its label: what the player has learned, or wears. Empty for none.
    pub marked_in: String,
    /// Of a choice: the name of the text of the avatar that it sets, such as a class. As long as
    /// the text is none of the names, players are asked to choose one.
    pub sets: String,
}

/// One of the names of a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ChoicePresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// One line; may be empty.
    pub help: String,
    /// After a command with this choice that was not refused, the next one is refused for this
    /// time, in milliseconds.
    pub cooldown_ms: u32,
    /// When it is offered, such as to a class or in a phase; null for always.
    pub only_for: Option<Condition>,
    /// How the game has ended for its players when a text or a field has this value.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub outcome: Option<Outcome>,
    /// Whether this choice needs no other field: clients ask for no optional one, such as a place.
    /// The host takes them all the same.
    pub alone: bool,
    /// How far from the avatar a place of the command may be, in centimetres; 0 for any distance.
    /// The game refuses what is farther; clients show it, and choose the nearest place within.
    pub reach_cm: u32,
    /// What a command with this choice costs, if anything.
    pub cost: Option<Cost>,
    /// The sign on its button.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub sign: Option<Sign>,
    /// What it is made of, in the hand and in flight.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub made_of: Option<Element>,
    /// The thing that is chosen, where it is one: what its card shows.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub thing: Option<Thing>,
    /// The colour of the thing, 0xRRGGBB, and `#rrggbb` in the block; without it the usual one.
    #[serde(with = "hints::optional_colour")]
    #[cfg_attr(test, ts(type = "string | null"))]
    pub tint: Option<u32>,
    /// What it raises, of a skill.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub raises: Option<Sign>,
    /// How rare it is, of a thing: the colour of its name.
    #[serde(deserialize_with = "hints::known_or_default")]
    pub rarity: Option<Rarity>,
    /// The choices of the same field that come first, by their names. Viewers draw choices that
    /// need others as a tree; the game refuses what comes too early.
    pub needs: Vec<String>,
}

/// What a choice costs. The game refuses who has less of it; clients show who can pay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct Cost {
    /// The name of a gauge or a number of the avatar or of the player's own row, such as `mana`.
    pub of: String,
    /// In its units; negative for what the choice gives.
    pub amount: i32,
}

/// A reason of the game for refusing a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct RefusalPresentation {
    /// One line for users.
    pub text: String,
}

/// A control.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct ControlPresentation {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// One line for users; may be empty.
    pub help: String,
    /// The default keys of a keyboard, at most [`MAX_KEYS`], each of one control only: the `key` of
    /// a browser's `KeyboardEvent` in lower case, with `space` for the space bar. Those of a linear
    /// axis come in pairs: the first moves it to 1, the second to -1. An angle has none: a client
    /// with a pointer takes the direction from the own avatar to it.
    pub keys: Vec<String>,
    /// The way on the map that it stands for. A client whose picture is turned gives players the
    /// ways that they see.
    pub direction: Option<Direction>,
}

/// The highest number of variants of a kind.
pub const MAX_VARIANTS: usize = 64;
/// The highest number of default keys of a control.
pub const MAX_KEYS: usize = 4;

/// A way on the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Towards larger x.
    East,
    /// Towards larger y.
    North,
    /// Towards smaller x.
    West,
    /// Towards smaller y.
    South,
}

/// An area on the ground that leads to another map, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(default)]
pub struct GateArea {
    /// The corner with the lowest x and y.
    pub low: [f32; 2],
    /// The corner with the highest x and y.
    pub high: [f32; 2],
    /// Index of the map behind it, from 0.
    pub map: u32,
}

/// The item at `index`; as by default where the list is shorter.
macro_rules! item {
    ($(#[$doc:meta])* $name:ident, $list:ident: $item:ident) => {
        $(#[$doc])*
        pub fn $name(&self, index: usize) -> &$item {
            static MISSING: std::sync::LazyLock<$item> =
                std::sync::LazyLock::new($item::default);
            self.$list.get(index).unwrap_or_else(|| &MISSING)
        }
    };
}

impl Presentation {
    item! {
        /// That of a kind, by its index.
        kind, kinds: KindPresentation
    }
    item! {
        /// That of an event, by its index.
        event, events: EventPresentation
    }
    item! {
        /// That of a command, by its index.
        command, commands: CommandPresentation
    }
    item! {
        /// That of a refusal, by its index.
        refusal, refusals: RefusalPresentation
    }
    item! {
        /// That of a control, by its index.
        control, controls: ControlPresentation
    }
}

impl KindPresentation {
    item! {
        /// That of a component, by its index.
        component, components: ComponentPresentation
    }
}

impl EventPresentation {
    item! {
        /// That of a field, by its index.
        field, fields: FieldPresentation
    }
}

impl CommandPresentation {
    item! {
        /// That of a field, by its index.
        field, fields: FieldPresentation
    }
}

impl FieldPresentation {
    item! {
        /// That of a choice, by the index of its name.
        choice, choices: ChoicePresentation
    }
}
