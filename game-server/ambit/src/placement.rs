//! Whether the objects of a kind have a place. `#[derive(Kind)]` implements one of the two.

/// A kind whose objects have a place: its first component is a path or a pose.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is room-wide: its objects have no place",
    label = "a kind without a place",
    note = "an avatar, and whatever is somewhere, is of a kind whose first component is a path or \
            a pose, without `#[kind(room_wide)]`"
)]
pub trait Placed {}

/// A kind whose objects have no place, with `#[kind(room_wide)]`: every player in the room has
/// them, wherever the avatar is; with `#[kind(world_wide)]` on all maps of the world. The state of
/// a match is one ([`World::state`]), or the rows of a table of players ([`World::row`]).
///
/// [`World::state`]: crate::World::state
/// [`World::row`]: crate::World::row
#[diagnostic::on_unimplemented(
    message = "the objects of `{Self}` have a place: only who is near has them",
    label = "not a room-wide kind",
    note = "add `#[kind(room_wide)]` above `{Self}`, and leave out its path or pose"
)]
pub trait RoomWide {}
