//! The declaration of a game's objects, shared by both ends.
//!
//! A game declares a [`Schema`]; the host sends it to each client in `Joined`, so any client
//! understands any game. Kinds, components, events, commands, refusals, fields and choices are
//! referenced by their index in these lists; names are for people and scripts.
//!
//! Invariants, all checked by [`Schema::check`], which a host calls before a room begins and a
//! client at the join:
//! 1. At most 64 kinds of 16 components each, 64 events and 64 commands of 8 fields each, 64
//!    refusals, 1,024 choices of a field; each name has 1 to 32 bytes without control characters,
//!    and is unique in its list. Names of commands, refusals and choices consist of `a-z`, `0-9`,
//!    `_` and `-`: users type them, and scripts compare them.
//! 2. Component 0 of a kind is its [`Codec::Path`] or its [`Codec::Pose`], and public: every client
//!    that follows an object knows its position. No other component is a pose. A kind without
//!    path and pose is *room-wide*: its objects have no place, and every client in the room has
//!    them.
//!    Components that no client gets come last, so all others have the same index at both ends.
//! 3. Each range of a codec or a field is one that the wire can hold. All fields of an event or a
//!    command fit into one message, and the whole schema, with what the game tells players about
//!    itself, into one frame.
//! 4. Its [`Presentation`] fits it.
//!
//! The fields are public: call `check` again after a change.
//!
//! Units: cells for radii, bytes for lengths, metres and milliseconds for freshness. Source:
//! "Architectures de developpement adaptees aux MMOGs" (Project Deus), for objects made of
//! components.

#![warn(missing_docs, reason = "authors of games and clients import it")]

mod component;
mod control_spec;
mod conversion;
mod dead_reckoning;
mod field;
mod freshness;
mod place;

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use prost::Message;

pub use self::component::{
    CONTINUED_FOR, Component, GAUGE_PER_UNIT, MAX_POINTS, MAX_RATE, RATE_PER_UNIT, SentPart,
    TIMELINE_CAPACITY,
};
pub use self::control_spec::{ControlSpec, Controls, NoControls};
pub use self::dead_reckoning::{
    Convergence, DeadReckoning, MAX_CONVERGENCE_MS, MAX_RECKONING_M, Predictors, ReckoningOrder,
};
pub use self::field::{FieldSpec, FieldType, MAX_CHOICES, MAX_ROWS, RowFormat};
pub use self::freshness::Freshness;
pub(crate) use self::place::SchemaPath;
pub use crate::axes::{AxisKind, MAX_AXES};
use crate::control;
use crate::counts::{Counts, MAX_COUNT};
pub use crate::decimal::{Decimal, DecimalFormat};
use crate::keymap::{CONTROLS, Keymap};
use crate::pose::{MAX_PER_METRE, PoseFormat, Turning};
use crate::presentation::{
    ControlPresentation, Effect, Look, MAX_OBSTACLE_LOOKS, Presentation, ScenerySpec,
};

/// The highest number of object kinds: 6 bits on the wire.
pub const MAX_KINDS: usize = 64;
/// The highest number of components of a kind: a mask of 16 bits.
pub const MAX_COMPONENTS: usize = 16;
/// The highest number of event kinds.
pub const MAX_EVENTS: usize = 64;
/// The highest number of kinds of command.
pub const MAX_COMMANDS: usize = 64;
/// The highest number of kinds of refusal.
pub const MAX_REFUSALS: usize = 64;
/// The highest number of fields of an event or a command.
pub const MAX_FIELDS: usize = 8;
/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 32;
/// The longest text of a component, a field, a help or a refusal, in bytes: one component always
/// fits into a datagram.
pub const MAX_TEXT_BYTES: u32 = 200;
/// The longest byte string of a component.
pub const MAX_BYTES: u32 = 1_024;
/// The longest label, in bytes.
pub const MAX_LABEL_BYTES: usize = 40;
/// The longest unit of a component, in bytes.
pub const MAX_UNIT_BYTES: usize = 8;
/// The highest `max` of a gauge: its steps of 1/16 are exact in an `f32`.
pub const MAX_GAUGE: f32 = 65_535.0;
/// The most bits of a kind's components when all are sent: a datagram, less its header and the
/// record's.
pub const MAX_ENTER_BITS: usize = 8 * crate::link::MAX_DATAGRAM - 512;
/// The most bits of all fields of an event or a command: a reliable message, less its head.
pub const MAX_FIELDS_BITS: usize = 8 * crate::link::MAX_MESSAGE - 128;
/// The longest encoded schema with its presentation, in bytes: a frame less the rest of `Joined`.
pub const MAX_SCHEMA_BYTES: usize = control::MAX_FROM_GAME - 1_024;

/// Everything that a client must know to understand a game's datagrams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schema {
    /// Name of the game.
    pub game: String,
    /// At most [`MAX_KINDS`]; the order defines their indices.
    pub kinds: Vec<ObjectKind>,
    /// At most [`MAX_EVENTS`]; the order defines their indices.
    pub events: Vec<EventKind>,
    /// What players can do: at most [`MAX_COMMANDS`]; the order defines their indices.
    pub commands: Vec<CommandKind>,
    /// The game's reasons for refusing a command: at most [`MAX_REFUSALS`]; the order defines their
    /// indices.
    pub refusals: Vec<RefusalKind>,
    /// What players hold, press and move: at most [`CONTROLS`], of which
    /// [`MAX_AXES`] are axes; the order defines their bits in a keymap.
    pub controls: Vec<ControlSpec>,
    /// What the game tells players about itself. It decides no byte of a datagram.
    pub presentation: Presentation,
}

/// A kind of object: the components of its objects, and how clients see them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectKind {
    /// Unique in the schema.
    pub name: String,
    /// The first is its path or its pose; a room-wide kind has none of these.
    pub components: Vec<ComponentSpec>,
    /// The kind's own radii of interest; `None` for the room's.
    pub interest_radii: Option<InterestRadii>,
    /// Target ages of what a client sees of it.
    pub freshness: Freshness,
    /// How clients show its poses.
    pub presentation: PosePresentation,
    /// Whether it flies from one avatar to another on its path: clients draw it in the time of the
    /// avatar that is near.
    pub is_projectile: bool,
    /// How poses are extrapolated, if the kind says so. Else at the velocity, as far as poses have
    /// one; the tolerance is a unit of the grid, and one more for each 8 m beyond `near_m`.
    pub reckoning: Option<DeadReckoning>,
}

/// How clients show objects with poses. Objects with a path are always timelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PosePresentation {
    /// Interpolated between the received poses, and extrapolated a little beyond them. The server
    /// sends no pose that clients extrapolate well enough.
    #[default]
    Interpolated,
    /// Simulated by the client's own physics, which continues from the received poses. A host does
    /// not know the result of a client's physics, so it withholds a pose only for lack of budget.
    Simulated,
    /// A player's own avatar is steered by the client, with the function that the host runs, ahead
    /// of the received poses. All other objects are interpolated.
    Steered,
}

/// Radii of the area of interest, in cells around the viewer's cell: an object is followed from
/// `inner` on, until it is outside `outer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterestRadii {
    /// Of the zone in which an object is announced.
    pub inner: u16,
    /// Of the zone in which a followed object stays followed: at least `inner`, and at least 1.
    pub outer: u16,
}

/// A component of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentSpec {
    /// Unique in the kind.
    pub name: String,
    /// The type of its values, and their encoding.
    pub codec: Codec,
    /// Which clients receive it.
    pub audience: ComponentAudience,
}

/// The clients that receive a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComponentAudience {
    /// All clients that follow the object.
    #[default]
    Public,
    /// The player who owns the avatar.
    Owner,
    /// The players of the object's team, and the owner of the avatar.
    Team,
    /// No client: [`Schema::for_clients`] is without it. Such components come last in their kind,
    /// so all others have the same index at both ends.
    Server,
}

/// How a component is encoded. [`crate::message`] describes the bits.
#[derive(Clone, Debug, PartialEq)]
pub enum Codec {
    /// Positions over time.
    Path,
    /// A value from 0 to `max` with a rate of change, over time.
    Gauge {
        /// 1/16 to 65,535.
        max: f32,
    },
    /// A boolean over time.
    Flag,
    /// A whole number from `min` to `max`, both included.
    #[expect(missing_docs, reason = "`min` and `max`: above")]
    Number { min: i64, max: i64 },
    /// A half float or an angle, replaced as a whole.
    Decimal(DecimalFormat),
    /// A text, replaced as a whole.
    Text {
        /// In UTF-8, at most.
        max_bytes: u32,
    },
    /// How many there are of each name of a choice, replaced as a whole.
    Counts(CountedChoice),
    /// Bytes that mean something to the game alone, replaced as a whole.
    Bytes {
        /// At most: 1 to [`MAX_BYTES`].
        max_bytes: u32,
    },
    /// Rows of fields, replaced as a whole.
    Rows(RowFormat),
    /// Position and orientation on a grid, tick by tick, for motion that cannot be predicted.
    Pose(PoseFormat),
}

/// A choice of a command, and how many there may be of each of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedChoice {
    /// Index of the command.
    pub command: u8,
    /// Index of its field, which is a choice.
    pub field: u8,
    /// The number of its names; 0 before the game has named them.
    pub names: u16,
    /// Of one name, at most: 1 to [`MAX_COUNT`].
    pub max: u32,
    /// The type that stands for a list of data, until [`Schema::name_list`] names what is in it.
    pub list: Option<TypeId>,
}

impl CountedChoice {
    /// Of a list whose names are data and not known yet.
    pub const fn of_list(list: TypeId, max: u32) -> Self {
        Self { command: 0, field: 0, names: 0, max, list: Some(list) }
    }
}

/// A kind of event: something that happens at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventKind {
    /// Unique in the schema.
    pub name: String,
    /// The contents, in order.
    pub fields: Vec<FieldSpec>,
}

/// A kind of command: something that a player can do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommandKind {
    /// Unique in the schema: what a user types.
    pub name: String,
    /// Only the newest command of this kind counts: the room refuses one with a lower number that
    /// arrives later.
    pub newest_only: bool,
    /// The contents, in order.
    pub fields: Vec<FieldSpec>,
}

/// A reason of the game for refusing a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusalKind {
    /// Unique in the schema: a stable code for scripts.
    pub name: String,
}

/// Why a schema is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct SchemaError {
    /// The position in the schema: `kind "orc", component "health"`.
    pub place: String,
    /// The violated rule.
    pub problem: SchemaProblem,
}

/// A violation of the schema's rules.
#[expect(missing_docs, reason = "the messages explain the fields")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SchemaProblem {
    /// A list is too long.
    #[error("{count} {what}, at most {max} are allowed")]
    TooMany { what: &'static str, count: usize, max: usize },
    /// A name is empty, too long or contains control characters.
    #[error("a name has 1 to {MAX_NAME_BYTES} bytes and no control characters")]
    BadName,
    /// The name is used twice in this list.
    #[error("another item of this list has the same name")]
    NameTaken,
    /// A kind does not begin with its path or pose, or has no components.
    #[error(
        "component 0 must be the position, a public path or a public pose; a room-wide kind has \
         at least one component, and none of these"
    )]
    NoPosition,
    /// What no client gets stands before what clients get, or a kind has nothing else.
    #[error(
        "components that no client gets come last, and a kind has at least one that clients get"
    )]
    ServerFirst,
    /// A component other than the first is a pose.
    #[error("only component 0 can be a pose")]
    SecondPose,
    /// A pose's grid is out of range.
    #[error(
        "a pose has 1 to {MAX_PER_METRE} units a metre, a yaw of 4 to 12 bits or three components \
         of 5 to 15 bits, not {format:?}"
    )]
    BadPose { format: PoseFormat },
    /// A kind's target ages are out of range.
    #[error(
        "target ages must be 1 to 60,000 ms, engaged <= near <= far, and the near distance 0 to \
         16,384 m, not {freshness:?}"
    )]
    BadFreshness { freshness: Freshness },
    /// A kind's dead reckoning is out of range, or its poses have no velocities.
    #[error(
        "dead reckoning needs poses with velocities that clients do not simulate, tolerances of 0 \
         to {MAX_RECKONING_M} m, and at most {MAX_CONVERGENCE_MS} ms to converge, not {reckoning:?}"
    )]
    BadReckoning { reckoning: DeadReckoning },
    /// A projectile without a path.
    #[error("a projectile flies on a path: component 0 must be a path")]
    ProjectileWithoutPath,
    /// A gauge's maximum is out of range.
    #[error("a gauge's max must lie between 1/16 and {MAX_GAUGE}, not at {max}")]
    BadGauge { max: f32 },
    /// A number's range is empty.
    #[error("the range from {min} to {max} contains no number")]
    BadNumber { min: i64, max: i64 },
    /// The name of a command, a refusal or a choice has other characters.
    #[error("the name must consist of a-z, 0-9, _ and -")]
    BadWord,
    /// A help or a refusal's text is too long or contains control characters.
    #[error("a text for users has at most {MAX_TEXT_BYTES} bytes and no control characters")]
    BadUserText,
    /// A text about an event names no field of it.
    #[error("a text about an event names its fields in braces, such as `{{target}} is hurt`")]
    BadEventText,
    /// A walk has no place, or no speed.
    #[error(
        "a command that walks has a field with a position, a speed of more than 0 m/s or the name \
         of the component that has it, and the radius of a body"
    )]
    BadWalk,
    /// A label is too long or contains control characters.
    #[error(
        "a label has at most {MAX_LABEL_BYTES} bytes, a unit {MAX_UNIT_BYTES}; neither has control \
         characters"
    )]
    BadLabel,
    /// Two controls stand for the same way.
    #[error("another control stands for the same way on the map")]
    DirectionTaken,
    /// An axis has what only other controls have, or not the keys of an axis.
    #[error(
        "an axis is neither tapped nor a direction; the keys of a linear one come in pairs, first \
         towards 1, then towards -1; an angle has no keys"
    )]
    BadAxis,
    /// A choice without names.
    #[error("a choice needs at least one name")]
    NoChoices,
    /// All fields of an event or a command might not fit into a message.
    #[error(
        "all fields take up to {bits} bits, at most {MAX_FIELDS_BITS} are allowed: use shorter \
         texts"
    )]
    FieldsTooLarge { bits: usize },
    /// A look can't be drawn.
    #[error(
        "a look has a visible glyph, a colour up to 0xffffff, a size of 0.01 to 1,000 m, a gauge \
         as its bar and a text as its label; a text, a number or a flag tells variants; not \
         {look:?}"
    )]
    BadLook { look: Look },
    /// A component has what only those of another type have.
    #[error("only a text has a role and words, only a flag has a sign")]
    BadMeaning,
    /// An effect can't be shown.
    #[error(
        "an effect has a colour up to 0xffffff, a size of 0.01 to 100 m, and objects or positions \
         as its fields; of components, only flags and gauges have one; not {effect:?}"
    )]
    BadEffect { effect: Effect },
    /// The scenery can't be drawn.
    #[error(
        "the ground and at most {MAX_OBSTACLE_LOOKS} looks of obstacles have colours up to \
         0xffffff, and the looks visible glyphs; not {scenery:?}"
    )]
    BadScenery { scenery: ScenerySpec },
    /// A text's length is out of range.
    #[error("a text has 1 to {MAX_TEXT_BYTES} bytes at most, not {max_bytes}")]
    BadText { max_bytes: u32 },
    /// Counts of what is no choice of a command.
    #[error(
        "counts are of a list of which a command chooses: give a command a field `Listed<LIST>` of \
         the same list; at most 1 to {MAX_COUNT} of each name"
    )]
    BadCounts,
    /// Bytes whose length is out of range.
    #[error("a byte string has 1 to {MAX_BYTES} bytes at most, not {max_bytes}")]
    BadBytes { max_bytes: u32 },
    /// Obstacles with other fields, or that some clients do not get.
    #[error(
        "obstacles are a public component, and their fields are those of \
         `RowFormat::of_obstacles`"
    )]
    BadObstacles,
    /// Rows without fields, with objects, or too many of them.
    #[error("rows are 1 to {MAX_ROWS} at most; each has at least one field, and no object")]
    BadRows,
    /// A choice from a list of data that has no names.
    #[error(
        "its list has no names; give them in `Game::schema`: `Listing::name_in(schema, [...])`"
    )]
    Unnamed,
    /// A kind's radii are out of range.
    #[error(
        "the outer radius must be at least 1 and at least the inner one, and both at most 65,535, \
         not {inner} and {outer}"
    )]
    BadInterestRadii { inner: u32, outer: u32 },
    /// A codec, an audience or a type is missing, or comes from a newer version.
    #[error("missing or unknown {what}")]
    Unknown { what: &'static str },
    /// All components of a kind might not fit into a datagram.
    #[error(
        "all components take up to {bits} bits, at most {MAX_ENTER_BITS} are allowed: use fewer \
         timelines or shorter texts"
    )]
    KindTooLarge { bits: usize },
    /// A variant without a text that tells it, or of no size.
    #[error(
        "a kind with variants has a text, a number or a flag that says which one an object is \
         (`by`), and a variant is 0.1 to 10 sizes of its kind"
    )]
    BadVariant,
    /// A colour that is none.
    #[error("a tint is a colour up to 0xffffff")]
    BadTint,
    /// A choice that needs what its field does not have, or itself.
    #[error("a choice needs others of its field, and not itself by way of others")]
    BadNeeds,
    /// A gate without a place.
    #[error("the corners of a gate are numbers of metres")]
    BadGate,
    /// What the game tells players does not decode.
    #[error("the presentation is no JSON with the fields that it may have: {why}")]
    BadPresentation { why: String },
    /// The encoded schema is too large.
    #[error("{bytes} bytes when encoded, at most {MAX_SCHEMA_BYTES} are allowed")]
    SchemaTooLarge { bytes: usize },
}

impl Schema {
    /// Checks the invariants of the module.
    pub fn check(&self) -> Result<(), SchemaError> {
        let place = SchemaPath::root();
        place.check_count("kinds", self.kinds.len(), MAX_KINDS)?;
        place.check_count("events", self.events.len(), MAX_EVENTS)?;
        place.check_count("commands", self.commands.len(), MAX_COMMANDS)?;
        place.check_count("refusals", self.refusals.len(), MAX_REFUSALS)?;
        place.check_count("controls", self.controls.len(), CONTROLS.into())?;
        place.check_names("game", [&self.game])?;
        place.check_names("kind", self.kinds.iter().map(|kind| &kind.name))?;
        place.check_names("event", self.events.iter().map(|event| &event.name))?;
        place.check_words("command", self.commands.iter().map(|command| &command.name))?;
        place.check_words("refusal", self.refusals.iter().map(|refusal| &refusal.name))?;
        self.kinds.iter().try_for_each(|kind| kind.check(&place.child("kind", &kind.name)))?;
        self.events.iter().try_for_each(|event| event.check(&place.child("event", &event.name)))?;
        self.commands
            .iter()
            .try_for_each(|command| command.check(&place.child("command", &command.name)))?;
        self.check_counts(&place)?;
        control_spec::check_controls(&self.controls, &place)?;
        let shown = self.for_clients();
        shown.presentation.check(&shown, &place)?;
        let bytes = control::game::Schema::from(&*shown).encoded_len();
        let bytes = bytes + shown.presentation.to_block().len();
        place.ensure(bytes <= MAX_SCHEMA_BYTES, || SchemaProblem::SchemaTooLarge { bytes })
    }

    /// What clients get of it: without the components of [`ComponentAudience::Server`], and without
    /// what players would read about them.
    pub fn for_clients(&self) -> Cow<'_, Self> {
        let is_whole = |kind: &ObjectKind| kind.for_clients().len() == kind.components.len();
        if self.kinds.iter().all(is_whole) {
            return Cow::Borrowed(self);
        }
        let mut shown = self.clone();
        for kind in &mut shown.kinds {
            kind.components.truncate(kind.for_clients().len());
        }
        for (kind, presentation) in shown.kinds.iter().zip(&mut shown.presentation.kinds) {
            presentation.components.truncate(kind.components.len());
        }
        Cow::Owned(shown)
    }

    /// Each of them counts the names of a choice of a command.
    fn check_counts(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        self.kinds.iter().try_for_each(|kind| {
            let place = place.child("kind", &kind.name);
            kind.components.iter().try_for_each(|component| {
                let Codec::Counts(of) = component.codec else { return Ok(()) };
                let is_right =
                    self.names_of(&of).is_some_and(|names| names.len() == usize::from(of.names));
                let place = place.child("component", &component.name);
                place.ensure(is_right, || SchemaProblem::BadCounts)
            })
        })
    }

    /// The names of a choice that is counted; `None` if there is no such choice.
    pub fn names_of(&self, of: &CountedChoice) -> Option<&[String]> {
        let field = self.command(of.command)?.fields.get(usize::from(of.field))?;
        if let FieldType::Choice(names) = &field.ty { Some(names) } else { None }
    }

    /// Gives the names of a list of data to each choice among them ([`FieldType::listed`]) and to
    /// each component that counts them ([`CountedChoice::of_list`]). The type `L` is the list.
    ///
    /// # Panics
    /// If no choice waits for names of this list: it has some already, or no choice is of it.
    pub fn name_list<L: 'static>(&mut self, names: &[String]) {
        assert!(
            self.name_listed(&field::mark_of(TypeId::of::<L>()), names),
            "the game {:?} cannot be offered: it names the list `{}` twice, or no field of a \
             command, an event or a row is a `Listed` of it",
            self.game,
            type_name::<L>()
        );
    }

    /// The same for all lists whose names are declared.
    pub fn name_tables(&mut self) {
        let in_rows = |spec: &ComponentSpec| match &spec.codec {
            Codec::Rows(format) => format.fields.to_vec(),
            _ => Vec::new(),
        };
        let commands = self.commands.iter().flat_map(|command| &command.fields).cloned();
        let events = self.events.iter().flat_map(|event| &event.fields).cloned();
        let rows = self.kinds.iter().flat_map(|kind| &kind.components).flat_map(in_rows);
        let tables: BTreeMap<String, Vec<String>> = commands
            .chain(events)
            .chain(rows)
            .filter_map(|field| {
                let (mark, names) = field.ty.table()?;
                Some((mark.to_owned(), names.to_vec()))
            })
            .collect();
        for (mark, names) in &tables {
            self.name_listed(mark, names);
        }
    }

    /// Whether any field is of this list.
    fn name_listed(&mut self, mark: &str, names: &[String]) -> bool {
        let named = |spec: &mut FieldSpec| {
            let is_of_it = spec.ty.listed_mark() == Some(mark);
            if is_of_it {
                spec.ty = FieldType::choice(names);
            }
            is_of_it
        };
        let mut counted = None;
        let mut is_used = false;
        for (command, declared) in (0..).zip(&mut self.commands) {
            for (field, spec) in (0..).zip(&mut declared.fields) {
                if named(spec) {
                    counted.get_or_insert((command, field));
                }
            }
        }
        for spec in self.events.iter_mut().flat_map(|event| &mut event.fields) {
            is_used |= named(spec);
        }
        for spec in self.kinds.iter_mut().flat_map(|kind| &mut kind.components) {
            match &mut spec.codec {
                Codec::Rows(format)
                    if format.fields.iter().any(|it| it.ty.listed_mark() == Some(mark)) =>
                {
                    for field in Arc::make_mut(&mut format.fields) {
                        is_used |= named(field);
                    }
                }
                Codec::Counts(of) if of.list.is_some_and(|list| field::mark_of(list) == mark) => {
                    let Some((command, field)) = counted else { continue };
                    let names = names.len() as u16;
                    *of = CountedChoice { command, field, names, max: of.max, list: None };
                }
                _ => {}
            }
        }
        is_used || counted.is_some()
    }

    /// `None` if the schema has fewer kinds.
    pub fn kind(&self, index: u8) -> Option<&ObjectKind> {
        self.kinds.get(usize::from(index))
    }

    /// `None` if no kind has this name.
    pub fn kind_index(&self, name: &str) -> Option<u8> {
        index_of(&self.kinds, |kind| kind.name == name)
    }

    /// `None` if the schema has fewer events.
    pub fn event(&self, index: u8) -> Option<&EventKind> {
        self.events.get(usize::from(index))
    }

    /// `None` if no event has this name.
    pub fn event_index(&self, name: &str) -> Option<u8> {
        index_of(&self.events, |event| event.name == name)
    }

    /// `None` if the schema has fewer commands.
    pub fn command(&self, index: u8) -> Option<&CommandKind> {
        self.commands.get(usize::from(index))
    }

    /// `None` if no command has this name.
    pub fn command_index(&self, name: &str) -> Option<u8> {
        index_of(&self.commands, |command| command.name == name)
    }

    /// `None` if the schema has fewer refusals.
    pub fn refusal(&self, index: u8) -> Option<&RefusalKind> {
        self.refusals.get(usize::from(index))
    }

    /// `None` if no refusal has this name.
    pub fn refusal_index(&self, name: &str) -> Option<u8> {
        index_of(&self.refusals, |refusal| refusal.name == name)
    }

    /// `None` if no control has this name.
    pub fn control_index(&self, name: &str) -> Option<u8> {
        index_of(&self.controls, |control| control.name == name)
    }

    /// The keymap in which these controls are held; otherwise the first name that no control has,
    /// or only an axis.
    pub fn keymap<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<Keymap, &'n str> {
        names.into_iter().try_fold(Keymap::default(), |keys, name| {
            let control = self.control_index(name).filter(|&control| self.axis(control).is_none());
            Ok(keys.with(control.ok_or(name)?, true))
        })
    }

    /// The axes among the controls, in the order of their values in a sample: the place in
    /// [`Schema::controls`], and the kind.
    pub fn axes(&self) -> impl Iterator<Item = (u8, AxisKind)> {
        let axes = (0..).zip(&self.controls);
        axes.filter_map(|(control, spec)| Some((control, spec.axis?)))
    }

    /// The place among the axes of the one with which clients say what they showed; `None` in a
    /// game without lag compensation.
    pub fn shown_behind(&self) -> Option<usize> {
        self.axes().position(|(_, kind)| kind == AxisKind::ShownBehind)
    }

    /// The controls that players hold, press and move, each with what players read about it.
    pub fn player_controls(&self) -> impl Iterator<Item = (&ControlSpec, &ControlPresentation)> {
        let shown = |(index, control)| (control, self.presentation.control(index));
        let controls = self.controls.iter().enumerate().map(shown);
        controls.filter(|(control, _)| control.axis != Some(AxisKind::ShownBehind))
    }

    /// The place of a control among the axes, and its kind; `None` if it is no axis.
    pub fn axis(&self, control: u8) -> Option<(usize, AxisKind)> {
        let mut axes = self.axes().enumerate();
        axes.find_map(|(axis, (index, kind))| (index == control).then_some((axis, kind)))
    }
}

impl ObjectKind {
    /// `None` if the kind has fewer components.
    pub fn component(&self, index: u8) -> Option<&ComponentSpec> {
        self.components.get(usize::from(index))
    }

    /// `None` if no component has this name.
    pub fn component_index(&self, name: &str) -> Option<u8> {
        index_of(&self.components, |component| component.name == name)
    }

    /// The components that clients get, if their players may know them: the first ones.
    fn for_clients(&self) -> &[ComponentSpec] {
        let is_of_server = |spec: &ComponentSpec| spec.audience == ComponentAudience::Server;
        let end = self.components.iter().position(is_of_server);
        &self.components[..end.unwrap_or(self.components.len())]
    }

    /// The components that are obstacles, by index.
    pub fn obstacles(&self) -> impl Iterator<Item = u8> {
        let is_one =
            |spec: &ComponentSpec| matches!(&spec.codec, Codec::Rows(it) if it.are_obstacles);
        (0..).zip(&self.components).filter_map(move |(index, spec)| is_one(spec).then_some(index))
    }

    /// The format of its poses, if it has poses and not a path.
    pub fn pose_format(&self) -> Option<&PoseFormat> {
        match self.components.first() {
            Some(ComponentSpec { codec: Codec::Pose(format), .. }) => Some(format),
            _ => None,
        }
    }

    /// Whether its objects have no place: every client of the room has them.
    pub fn is_room_wide(&self) -> bool {
        !self.components.is_empty() && !self.components.iter().any(ComponentSpec::is_position)
    }

    /// Whether its objects move along paths.
    pub fn has_path(&self) -> bool {
        self.components.first().is_some_and(|first| first.codec == Codec::Path)
    }

    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_count("components", self.components.len(), MAX_COMPONENTS)?;
        place.check_names("component", self.components.iter().map(|component| &component.name))?;
        let (shown, others) = self.components.split_at(self.for_clients().len());
        let are_of_server =
            others.iter().all(|component| component.audience == ComponentAudience::Server);
        let is_shown = !shown.is_empty() || others.is_empty();
        place.ensure(are_of_server && is_shown, || SchemaProblem::ServerFirst)?;
        let has_place = self.components.first().is_some_and(|first| {
            first.is_position() && first.audience == ComponentAudience::Public
        });
        place.ensure(has_place || self.is_room_wide(), || SchemaProblem::NoPosition)?;
        let poses = self
            .components
            .iter()
            .filter(|component| matches!(component.codec, Codec::Pose(_)))
            .count();
        place.ensure(poses == 0 || poses == 1 && self.pose_format().is_some(), || {
            SchemaProblem::SecondPose
        })?;
        let freshness = self.freshness;
        place.ensure(freshness.is_valid(), || SchemaProblem::BadFreshness { freshness })?;
        place.ensure(self.has_path() || !self.is_projectile, || {
            SchemaProblem::ProjectileWithoutPath
        })?;
        if let Some(reckoning) = self.reckoning {
            let has_velocity = self.pose_format().is_some_and(|format| {
                format.motion.is_some() || matches!(format.turn, Turning::Yaw { .. })
            });
            let is_shown = self.presentation != PosePresentation::Simulated;
            place.ensure(has_velocity && is_shown && reckoning.is_valid(), || {
                SchemaProblem::BadReckoning { reckoning }
            })?;
        }
        if let Some(InterestRadii { inner, outer }) = self.interest_radii {
            let problem =
                || SchemaProblem::BadInterestRadii { inner: inner.into(), outer: outer.into() };
            place.ensure(inner <= outer && outer > 0, problem)?;
        }
        self.components.iter().try_for_each(|component| {
            let place = place.child("component", &component.name);
            if let Codec::Rows(format) = &component.codec {
                let is_known = component.audience == ComponentAudience::Public;
                place.ensure(is_known || !format.are_obstacles, || SchemaProblem::BadObstacles)?;
                return format.check(&place);
            }
            component.codec.find_problem().map_or(Ok(()), |problem| Err(place.error(problem)))
        })?;
        let bits = shown.iter().map(|component| component.codec.max_bits()).sum();
        place.ensure(bits <= MAX_ENTER_BITS, || SchemaProblem::KindTooLarge { bits })
    }
}

impl Codec {
    /// The most bits that a component may take; points are less than 49 days apart.
    fn max_bits(&self) -> usize {
        const TIME: usize = 40;
        let points = |value: usize| 4 + MAX_POINTS * (TIME + value);
        match self {
            Self::Path => points(66),
            Self::Gauge { .. } => points(37),
            Self::Flag => points(1),
            Self::Number { .. } => 64,
            Self::Decimal(format) => format.bits(),
            Self::Text { max_bytes } => 8 + 8 * *max_bytes as usize,
            Self::Counts(of) => Counts::max_bits(of.names, of.max),
            Self::Bytes { max_bytes } => 16 + 8 * *max_bytes as usize,
            Self::Rows(format) => format.max_bits(),
            Self::Pose(format) => format.max_bits(),
        }
    }
}

impl ComponentSpec {
    /// A component for all clients that follow the object.
    pub fn public(name: impl Into<String>, codec: Codec) -> Self {
        Self { name: name.into(), codec, audience: ComponentAudience::Public }
    }

    /// A component for the owner of the avatar.
    pub fn owner(name: impl Into<String>, codec: Codec) -> Self {
        Self { audience: ComponentAudience::Owner, ..Self::public(name, codec) }
    }

    /// A component for the object's team and the owner of the avatar.
    pub fn team(name: impl Into<String>, codec: Codec) -> Self {
        Self { audience: ComponentAudience::Team, ..Self::public(name, codec) }
    }

    /// A component that no client gets.
    pub fn server(name: impl Into<String>, codec: Codec) -> Self {
        Self { audience: ComponentAudience::Server, ..Self::public(name, codec) }
    }

    fn is_position(&self) -> bool {
        matches!(self.codec, Codec::Path | Codec::Pose(_))
    }
}

impl Codec {
    fn find_problem(&self) -> Option<SchemaProblem> {
        match *self {
            Self::Gauge { max } if !(1.0 / GAUGE_PER_UNIT..=MAX_GAUGE).contains(&max) => {
                Some(SchemaProblem::BadGauge { max })
            }
            Self::Number { min, max } if min > max => Some(SchemaProblem::BadNumber { min, max }),
            Self::Text { max_bytes } if !(1..=MAX_TEXT_BYTES).contains(&max_bytes) => {
                Some(SchemaProblem::BadText { max_bytes })
            }
            Self::Bytes { max_bytes } if !(1..=MAX_BYTES).contains(&max_bytes) => {
                Some(SchemaProblem::BadBytes { max_bytes })
            }
            Self::Counts(CountedChoice { max, .. }) if !(1..=MAX_COUNT).contains(&max) => {
                Some(SchemaProblem::BadCounts)
            }
            Self::Pose(format) if format.check().is_err() => {
                Some(SchemaProblem::BadPose { format })
            }
            _ => None,
        }
    }
}

impl EventKind {
    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        field::check_fields(&self.fields, place)
    }
}

impl CommandKind {
    /// `None` if no field has this name.
    pub fn field_index(&self, name: &str) -> Option<u8> {
        index_of(&self.fields, |field| field.name == name)
    }

    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        field::check_fields(&self.fields, place)
    }
}

/// Indices fit into 8 bits: no list is longer than 64.
fn index_of<T>(list: &[T], wanted: impl FnMut(&T) -> bool) -> Option<u8> {
    list.iter().position(wanted).and_then(|index| u8::try_from(index).ok())
}

#[cfg(test)]
mod tests;
