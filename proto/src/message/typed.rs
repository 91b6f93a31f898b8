//! Commands and ids of objects as types of the game that declares them.
//!
//! A game's crate implements these traits, and a client that knows the game uses them: neither end
//! depends on the other. `#[derive(Command)]` of the crate `ambit` implements [`TypedCommand`], and
//! its `Id<Walker>` is a [`TypedId`].

use super::GameCommand;
use crate::ids::ObjectId;
use crate::schema::CommandKind;

/// The commands of a game as one type: an enum with `#[derive(Command)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a command of a game",
    label = "not a command",
    note = "a command is a value of the game's enum with `#[derive(Command)]`, such as \
            `Command::Rest`; clients give commands by their names with `send(\"rest\", ())`"
)]
pub trait TypedCommand: Sized {
    /// All commands of the type.
    fn declarations() -> Vec<CommandKind>;

    /// The kind of this command, as an index in [`TypedCommand::declarations`], and its fields as
    /// declared there.
    fn into_command(self) -> GameCommand;
}

/// A type of a command's field that names an object: `Id<Walker>`, or [`ObjectId`].
///
/// A client knows objects by numbers of its own, because the room's ids are never sent. In its
/// typed commands, these types hold the client's number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of id",
    label = "does not name objects",
    note = "use `Id<{Self}>` for objects of the kind `{Self}`, or `ObjectId` for those of any kind"
)]
pub trait TypedId: Sized {
    /// For clients: the object of this kind that the client knows by the number `id`; `None` if
    /// the type names objects of another kind. Means nothing in a room.
    fn of_client(kind: &str, id: u32) -> Option<Self>;
}

impl TypedId for ObjectId {
    fn of_client(_: &str, id: u32) -> Option<Self> {
        Some(Self(id.into()))
    }
}
