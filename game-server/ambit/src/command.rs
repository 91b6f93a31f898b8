//! Commands: what players can do.

use ambit_proto::codes::ErrorCode;
use ambit_proto::message::{GameCommand, TypedCommand};
use ambit_proto::presentation::CommandPresentation;
use ambit_proto::schema::CommandKind;

use crate::field::Fields;

/// What players can do: an enum with `#[derive(Command)]`.
///
/// Clients see the commands by name (`WalkTo` is `walk-to`), with their fields, the first paragraph
/// of the documentation as help, and a suggested key. The room checks each command against this
/// declaration before the game sees it: types, ranges, positions on the map, objects that the
/// client follows.
///
/// A client with this enum in one of its crates gives commands as its values (`Game::command` of
/// `ambit-client`); [`TypedCommand`] is what it needs of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of commands",
    label = "not commands",
    note = "add `#[derive(Command)]` to the enum `{Self}`; a game without commands has \
            `no_commands!();`"
)]
pub trait Command: TypedCommand {
    #[doc(hidden)]
    fn read(kind: u8, fields: Fields<'_>) -> Result<Self, ErrorCode>;
}

/// The commands of a game that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCommand {}

impl Command for NoCommand {
    fn read(_: u8, _: Fields<'_>) -> Result<Self, ErrorCode> {
        Err(ErrorCode::UnknownCommand)
    }
}

impl TypedCommand for NoCommand {
    fn declarations() -> Vec<(CommandKind, CommandPresentation)> {
        Vec::new()
    }

    fn into_command(self) -> GameCommand {
        match self {}
    }
}
