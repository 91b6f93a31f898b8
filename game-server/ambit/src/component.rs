//! The types of components: what the fields of a kind are.
//!
//! A field's value is the component of a new object. Afterwards the companions of the kind read and
//! edit it: each type here has a `...Ref` and a `...Mut`, or a plain value where there is nothing
//! to ask but the value.
//!
//! # Numbers that make no sense
//!
//! Nothing here panics, whatever numbers a game gives.
//!
//! - Not finite (NaN, infinite): an edit with such a number is reported in the log and changes
//!   nothing. A new object has the default instead: it is at the origin, upright, at rest, its
//!   gauges full and constant.
//! - Finite and beyond a range: the nearest possible value. Gauges end at 0 and their maximum, and
//!   change by less than 512 a second; numbers end at their range, and additions do not overflow.
//!   An angle wraps around.
//! - Positions may lie off the map, since a game may want that: x and y from 0 to 16,384 m, z from
//!   -64 to 192 m, and the nearest such position otherwise.
//!   [`World::nearest_on_map`](crate::World::nearest_on_map) keeps objects on the map. Positions
//!   in commands are always on it.

/// The access to a component's value in a room, by the functions of the module `access` beside it.
macro_rules! access_by {
    () => {
        with_rules! {
            type Ref<'w> = access::Ref<'w>;
            type Mut<'w> = access::Mut<'w>;

            fn initial(
                self,
                spawn: &$crate::object::Spawn<'_>,
                index: u8,
            ) -> ambit_proto::schema::Component {
                access::initial(self, spawn, index)
            }

            fn reader(object: $crate::object::ObjectRef<'_>, index: u8) -> Self::Ref<'_> {
                access::reader(object, index)
            }

            fn editor(object: $crate::object::ObjectMut<'_>, index: u8) -> Self::Mut<'_> {
                access::editor(object, index)
            }
        }
    };
}

#[cfg(feature = "rules")]
mod access;
mod decimal;
mod flag;
mod free_pose;
mod gauge;
mod number;
mod path;
mod pose;
mod text;
mod yaw_pose;

use ambit_proto::message::{FrameValue, ShownComponents};
use ambit_proto::schema::Codec;
#[cfg(feature = "rules")]
use ambit_proto::schema::Component;

#[cfg(feature = "rules")]
use crate::object::{ObjectMut, ObjectRef, Spawn};

pub use self::decimal::{Angle, Half};
pub use self::flag::Flag;
pub use self::free_pose::FreePose;
pub use self::gauge::Gauge;
pub use self::number::Number;
pub use self::path::Path;
pub use self::pose::Posed;
pub use self::text::Text;
pub use self::yaw_pose::YawPose;
#[cfg(feature = "rules")]
pub use self::{
    decimal::access::DecimalMut,
    flag::access::{FlagMut, FlagRef},
    free_pose::access::{FreePoseMut, FreePoseRef},
    gauge::access::{GaugeMut, GaugeRef},
    number::access::NumberMut,
    path::access::{PathMut, PathRef},
    text::access::TextMut,
    yaw_pose::access::{YawPoseMut, YawPoseRef},
};

#[cfg(feature = "rules")]
pub(crate) use self::pose::access::replace_pose;

/// The first component of a kind: where its objects are.
#[diagnostic::on_unimplemented(
    message = "the first component of a kind says where its objects are: `{Self}` cannot",
    label = "not a path or a pose",
    note = "use `Path` for movement that is known in advance, `YawPose` or `FreePose` for objects \
            that are steered or simulated at each tick. What all players have, wherever they are, \
            is of a kind with `#[kind(room_wide)]`"
)]
pub trait Place: Sized {
    #[doc(hidden)]
    fn codec() -> Codec;

    with_rules! {
        /// For reading.
        type Ref<'w>;
        /// For editing.
        type Mut<'w>;

        #[doc(hidden)]
        fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component;

        #[doc(hidden)]
        fn reader(object: ObjectRef<'_>, index: u8) -> Self::Ref<'_>;

        #[doc(hidden)]
        fn editor(object: ObjectMut<'_>, index: u8) -> Self::Mut<'_>;
    }
}

/// Any other component of a kind.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a component here",
    label = "not a type of component",
    note = "use `Gauge<MAX>`, `Flag`, `Number<MIN, MAX>`, `Half`, `Angle`, `Text<BYTES>`, \
            `Counts<LIST, MAX>`, `List<ENTRY, MAX>` or `Bytes<MAX>`; `Path`, `YawPose` and \
            `FreePose` are for the first component of a kind that has a place. What clients need \
            not know belongs in the game's own struct"
)]
pub trait Attribute: Sized {
    /// What a client shows.
    type Shown<'f>;

    #[doc(hidden)]
    fn codec() -> Codec;

    #[doc(hidden)]
    fn shown(value: FrameValue<'_>) -> Option<Self::Shown<'_>>;

    /// The value of a component that all clients know; `None` if the room's game declares it
    /// otherwise.
    #[doc(hidden)]
    fn shown_to_all<'f>(
        shown: &impl ShownComponents<'f>,
        index: usize,
        name: &str,
    ) -> Option<Self::Shown<'f>> {
        Self::shown(shown.component(index, name)??)
    }

    /// The value of a component that some clients know; `None` if the room's game declares it
    /// otherwise.
    #[doc(hidden)]
    fn shown_to_some<'f>(
        shown: &impl ShownComponents<'f>,
        index: usize,
        name: &str,
    ) -> Option<Option<Self::Shown<'f>>> {
        match shown.component(index, name)? {
            Some(value) => Self::shown(value).map(Some),
            None => Some(None),
        }
    }

    with_rules! {
        /// For reading.
        type Ref<'w>;
        /// For editing.
        type Mut<'w>;

        #[doc(hidden)]
        fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component;

        #[doc(hidden)]
        fn reader(object: ObjectRef<'_>, index: u8) -> Self::Ref<'_>;

        #[doc(hidden)]
        fn editor(object: ObjectMut<'_>, index: u8) -> Self::Mut<'_>;
    }
}

/// A component that a viewer can draw as a bar.
#[diagnostic::on_unimplemented(
    message = "a bar shows a gauge, not `{Self}`",
    label = "not a gauge",
    note = "name a component of type `Gauge<MAX>`"
)]
pub trait Bar {}

/// A component that a viewer can draw as a label.
#[diagnostic::on_unimplemented(
    message = "a label shows a text, not `{Self}`",
    label = "not a text",
    note = "name a component of type `Text<BYTES>`"
)]
pub trait Label {}

/// A component that says which variant of its kind an object is.
#[diagnostic::on_unimplemented(
    message = "a text, a number or a flag says which variant an object is, not `{Self}`",
    label = "not a text, a number or a flag",
    note = "name a component of type `Text<BYTES>`, `Number<MIN, MAX>` or `Flag`"
)]
pub trait Telling {}

/// The index of a component that a look names as its bar.
#[doc(hidden)]
pub const fn bar<C: Bar>(index: u8) -> u8 {
    index
}

/// The index of a component by which a look varies.
#[doc(hidden)]
pub const fn told_by<C: Telling>(index: u8) -> u8 {
    index
}

/// The index of a component that a look names as its label.
#[doc(hidden)]
pub const fn label<C: Label>(index: u8) -> u8 {
    index
}
