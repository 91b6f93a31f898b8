//! Kinds, events, commands and ids of objects as types of the game that declares them.
//!
//! A game's crate implements these traits, and a client that knows the game uses them: neither end
//! depends on the other. The derives of the crate `ambit` implement them, and its `Id<Walker>` is a
//! [`TypedId`].

use super::{FieldValue, GameCommand};
use crate::counts::Counts;
use crate::decimal::Decimal;
use crate::ids::{ClientObjectId, ObjectId};
use crate::presentation::{CommandPresentation, EventPresentation, KindPresentation};
use crate::rows::Rows;
use crate::schema::{CommandKind, EventKind, ObjectKind, RowFormat};
use crate::timeline::Gauge;

/// The commands of a game as one type: an enum with `#[derive(Command)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command of a game",
    label = "not a command",
    note = "a command is a value of the game's enum with `#[derive(Command)]`, such as \
            `Command::Rest`; clients give commands by their names with `send(\"rest\", ())`"
)]
pub trait TypedCommand: Sized {
    /// All commands of the type.
    fn declarations() -> Vec<(CommandKind, CommandPresentation)>;

    /// The kind of this command, as an index in [`TypedCommand::declarations`], and its fields as
    /// declared there.
    fn into_command(self) -> GameCommand;
}

/// A kind of object as a type: a struct with `#[derive(Kind)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of object",
    label = "not a kind",
    note = "add `#[derive(Kind)]` to the struct `{Self}`"
)]
pub trait TypedKind: Sized {
    /// The kind's name in the schema.
    const NAME: &'static str;
    /// What a client shows of an object: `WalkerView`.
    type Reading<'f>;

    /// The kind as the schema and the presentation have it.
    fn declaration() -> (ObjectKind, KindPresentation);

    /// For clients: the components of an object of this kind; `None` if the room's game declares
    /// them otherwise.
    fn view<'f>(shown: &impl ShownComponents<'f>) -> Option<Self::Reading<'f>>;
}

/// The components of an object, as a client shows them.
pub trait ShownComponents<'f> {
    /// The component called `name`, which is mostly at `index`: `None` if the kind has none of this
    /// name, and `Some(None)` if its value is not for this client.
    fn component(&self, index: usize, name: &str) -> Option<Option<FrameValue<'f>>>;
}

/// The value of a component, as a client shows it.
#[derive(Clone, Copy, Debug, PartialEq, enum_as_inner::EnumAsInner)]
pub enum FrameValue<'f> {
    /// A value with a rate of change.
    Gauge(Gauge),
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A half float or an angle.
    Decimal(Decimal),
    /// A text.
    Text(&'f str),
    /// How many there are of each name of a choice, by its index.
    Counts(&'f Counts),
    /// Bytes that mean something to the game.
    Bytes(&'f [u8]),
    /// Rows, and what their fields are.
    Rows(&'f FormattedRows),
}

/// Rows with their format.
#[derive(Clone, Debug, PartialEq)]
pub struct FormattedRows {
    /// As the room's schema has it.
    pub format: RowFormat,
    /// They fit the format.
    pub rows: Rows,
}

/// An event as a type: a struct with `#[derive(Event)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "not an event",
    note = "add `#[derive(Event)]` to the struct `{Self}`"
)]
pub trait TypedEvent: Sized {
    /// The event's name in the schema.
    const NAME: &'static str;

    /// The event as the schema and the presentation have it.
    fn declaration() -> (EventKind, EventPresentation);

    /// For clients: the event with these fields, which fit the declaration.
    fn from_fields(fields: &[FieldValue<ObjectId>]) -> Option<Self>;
}

/// What is heard of an event where it is not seen, as a type: a struct with `#[derive(Sound)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sound",
    label = "not a sound",
    note = "add `#[derive(Sound)]` to the struct `{Self}`"
)]
pub trait TypedSound {
    /// The sound's name in the schema's events.
    const NAME: &'static str;
}

/// A type of a command's field that names an object: `Id<Walker>`, or [`ObjectId`].
///
/// A client knows objects by numbers of its own, because the room's ids are never sent. In its
/// typed commands and events, these types hold a [`ClientObjectId`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of id",
    label = "does not name objects",
    note = "use `Id<{Self}>` for objects of the kind `{Self}`, or `ObjectId` for those of any kind"
)]
pub trait TypedId: Sized {
    /// For clients: the object of this kind that the client knows as `id`; `None` if the type names
    /// objects of another kind. Means nothing in a room.
    fn of_client(kind: &str, id: ClientObjectId) -> Option<Self>;

    /// For clients: the number by which the client knows the object; `None` for an object that it
    /// does not see.
    fn client_object_id(self) -> Option<ClientObjectId>;
}

impl TypedId for ObjectId {
    fn of_client(_: &str, id: ClientObjectId) -> Option<Self> {
        Some(Self::at_client(id))
    }

    fn client_object_id(self) -> Option<ClientObjectId> {
        self.0.try_into().ok().map(ClientObjectId)
    }
}
