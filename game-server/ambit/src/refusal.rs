//! Refusals: why a game does not do what a player wants.

use ambit_proto::presentation::RefusalPresentation;
use ambit_proto::schema::RefusalKind;
use ambit_room::logic::game::Refusal as RoomRefusal;

/// Why a game refuses commands: an enum with `#[derive(Refusal)]` and a text for each variant.
///
/// Scripts see the names of the variants (`NotEnoughMana` is `not_enough_mana`), players the texts.
/// A variant with `#[code(BadPosition)]` instead of a text is that code of
/// [`ErrorCode`](crate::ErrorCode).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of refusals",
    label = "not refusals",
    note = "add `#[derive(Refusal)]` to the enum `{Self}`; a game that refuses nothing has \
            `type Refusal = NoRefusal;`"
)]
pub trait Refusal: Sized {
    #[doc(hidden)]
    fn declarations() -> Vec<(RefusalKind, RefusalPresentation)>;

    #[doc(hidden)]
    fn reason(&self) -> RoomRefusal;
}

/// The refusals of a game that refuses nothing: `type Refusal = NoRefusal;`. Once you write an enum
/// of refusals, name it there and in the result of [`Game::command`](crate::Game::command).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRefusal {}

impl Refusal for NoRefusal {
    fn declarations() -> Vec<(RefusalKind, RefusalPresentation)> {
        Vec::new()
    }

    fn reason(&self) -> RoomRefusal {
        match *self {}
    }
}
