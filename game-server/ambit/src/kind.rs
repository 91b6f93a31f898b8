//! Kinds of objects.

use ambit_proto::message::TypedKind;
use ambit_proto::presentation::KindPresentation;
use ambit_proto::schema::{Component, ObjectKind};
use ambit_proto::space::Position;
use ambit_room::logic::world::World as RoomWorld;
use ambit_steering::SteerFunctions;

use crate::id::Id;
use crate::object::{Object, ObjectMut, ObjectRef, Spawn};

/// A kind of object: a struct of components, with `#[derive(Kind)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of object",
    label = "not a kind",
    note = "add `#[derive(Kind)]` to the struct `{Self}`"
)]
pub trait Kind: TypedKind {
    /// Reads an object: `WalkerRef`.
    type Ref<'w>: Object<Kind = Self>;
    /// Edits an object: `WalkerMut`.
    type Mut<'w>: Object<Kind = Self>;

    /// How clients steer an avatar of this kind.
    #[doc(hidden)]
    const STEER: Option<SteerFunctions> = None;

    /// Whether all maps of a world have its objects.
    #[doc(hidden)]
    const IS_WORLD_WIDE: bool = false;

    #[doc(hidden)]
    fn into_components(self, spawn: &Spawn<'_>) -> Vec<Component>;

    #[doc(hidden)]
    fn reader(object: ObjectRef<'_>) -> Self::Ref<'_>;

    #[doc(hidden)]
    fn editor(object: ObjectMut<'_>) -> Self::Mut<'_>;
}

/// A kind that a game has declared: the game lists it in `#[declare(kinds(...))]`.
#[diagnostic::on_unimplemented(
    message = "`{G}` does not declare the kind `{Self}`",
    label = "not a kind of this game",
    note = "add `{Self}` to `#[declare(kinds(...))]` above `{G}`"
)]
pub trait KindOf<G>: Kind {
    #[doc(hidden)]
    const INDEX: u8;
}

/// Replaces `found` by the objects of a kind that are now within `radius_m` of `centre`, oldest
/// first.
pub(crate) fn find_within<G, K: KindOf<G>>(
    room: &RoomWorld,
    (centre, radius_m): (Position, f32),
    found: &mut Vec<Id<K>>,
) {
    found.clear();
    room.visit_within(centre, radius_m, |object| {
        let is_of_kind = room.find_kind(object) == Some(K::INDEX);
        found.extend(is_of_kind.then(|| Id::new(object)));
    });
    found.sort_unstable();
}

/// A kind of a game, and how clients steer its avatars.
#[derive(Debug)]
pub struct DeclaredKind {
    pub(crate) kind: ObjectKind,
    pub(crate) presentation: KindPresentation,
    pub(crate) steering: Option<(&'static str, SteerFunctions)>,
    pub(crate) is_world_wide: bool,
}

/// For the derive of [`Declare`](crate::Declare).
pub fn declared_kind<G, K: KindOf<G>>() -> DeclaredKind {
    let steering = K::STEER.map(|steer| (K::NAME, steer));
    let (kind, presentation) = K::declaration();
    DeclaredKind { kind, presentation, steering, is_world_wide: K::IS_WORLD_WIDE }
}
