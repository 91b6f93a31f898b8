//! Events: what happens at one moment.

use ambit_proto::ids::ObjectId;
use ambit_proto::message::TypedEvent;
use ambit_proto::presentation::EventPresentation;
use ambit_proto::schema::EventKind;

use crate::field::Value;
use crate::id::Id;

/// Something that happens at one moment: a struct of fields, with `#[derive(Event)]`.
///
/// The first field that is an [`Id`] or an [`ObjectId`] (or the one marked `#[about]`) is what the
/// event is about ([`AboutObject`]): the clients that follow this object receive it. Any event can
/// be announced to all players or to a team
/// ([`World::announce`](crate::World::announce)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an event",
    label = "not an event",
    note = "add `#[derive(Event)]` to the struct `{Self}`"
)]
pub trait Event: TypedEvent {
    #[doc(hidden)]
    fn into_fields(self) -> Vec<Value>;
}

/// An event that is about an object: one with a field of type [`Id`] or [`ObjectId`].
#[diagnostic::on_unimplemented(
    message = "the event `{Self}` is about no object, so nobody follows what it is about",
    label = "an event without an object",
    note = "add a field of type `Id<...>` or `ObjectId` to `{Self}`, or send it to all players \
            with `world.announce(...)`"
)]
pub trait AboutObject: Event {
    /// The object whose followers receive the event.
    fn about(&self) -> ObjectId;
}

/// An event that a game has declared: the game lists it in `#[declare(events(...))]`.
#[diagnostic::on_unimplemented(
    message = "`{G}` does not declare the event `{Self}`",
    label = "not an event of this game",
    note = "add `{Self}` to `#[declare(events(...))]` above `{G}`"
)]
pub trait EventOf<G>: Event {
    #[doc(hidden)]
    const INDEX: u8;
}

/// For the derive of [`Declare`](crate::Declare).
pub fn declared_event<G, E: EventOf<G>>() -> (EventKind, EventPresentation) {
    E::declaration()
}

/// What an event can be about.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an event is about an object, not about a `{Self}`",
    label = "not an object",
    note = "the field that an event is about has the type `Id<...>` or `ObjectId`"
)]
pub trait EventObject {
    fn object(&self) -> ObjectId;
}

impl EventObject for ObjectId {
    fn object(&self) -> ObjectId {
        *self
    }
}

impl<K> EventObject for Id<K> {
    fn object(&self) -> ObjectId {
        Id::object(*self)
    }
}
