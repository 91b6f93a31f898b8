//! Sounds: what those hear of an event who are near and do not see it.

use ambit_proto::message::TypedSound;
use ambit_proto::presentation::EventPresentation;
use ambit_proto::schema::EventKind;

/// What is heard of an event where it is not seen: a struct without fields, with
/// `#[derive(Sound)]`, for [`Emitted::heard`](crate::Emitted::heard).
///
/// Clients get a sound as an event of its name with two fields: `direction`, one of 16 names from
/// `east` on, and `loudness`, from 1 to 4 (near). The direction is that on the map, wherever the
/// listener faces. They get no place, no object, and nothing else.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sound",
    label = "not a sound",
    note = "add `#[derive(Sound)]` to the struct `{Self}`"
)]
pub trait Sound: TypedSound + Sized {
    #[doc(hidden)]
    fn declaration() -> EventKind;
}

/// A sound that a game has declared: the game lists it in `#[declare(sounds(...))]`.
#[diagnostic::on_unimplemented(
    message = "`{G}` does not declare the sound `{Self}`",
    label = "not a sound of this game",
    note = "add `{Self}` to `#[declare(sounds(...))]` above `{G}`"
)]
pub trait SoundOf<G>: Sound {
    #[doc(hidden)]
    const INDEX: u8;
}

/// For the derive of [`Declare`](crate::Declare).
pub fn declared_sound<G, S: SoundOf<G>>() -> (EventKind, EventPresentation) {
    (S::declaration(), EventPresentation::default())
}
