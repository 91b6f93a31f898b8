//! The values of the fields of events, commands and rows.
//!
//! [`crate::schema::FieldSpec`] declares a field; [`crate::message`] has the check of a value
//! against it, and the bits.

use crate::decimal::Decimal;
use crate::space::Position;

/// The value of a field of an event, a command or a row. `O` names objects: by
/// [`crate::ids::Alias`] on the wire, by [`crate::ids::ObjectId`] in a game, by
/// [`crate::ids::ClientObjectId`] at a client.
#[expect(
    clippy::unsafe_derive_deserialize,
    reason = "the derived functions rely on the variant alone"
)]
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    serde::Serialize,
    serde::Deserialize,
    enum_as_inner::EnumAsInner,
)]
pub enum FieldValue<O> {
    /// No value: of an optional field, or of an event's object that the client does not follow.
    #[default]
    None,
    /// An object.
    Object(O),
    /// A point in space.
    Position(Position),
    /// A whole number.
    Number(i64),
    /// The index of a name in [`crate::schema::FieldType::Choice`].
    Choice(u16),
    /// At most [`crate::schema::MAX_TEXT_BYTES`].
    Text(String),
    /// A half float or an angle.
    Decimal(Decimal),
}

impl<O> FieldValue<O> {
    /// The same value with another name of its object; `None` if `rename` does not know the object.
    pub fn rename_object<P>(&self, rename: impl FnOnce(&O) -> Option<P>) -> Option<FieldValue<P>> {
        Some(match self {
            Self::None => FieldValue::None,
            Self::Object(object) => FieldValue::Object(rename(object)?),
            Self::Position(position) => FieldValue::Position(*position),
            Self::Number(number) => FieldValue::Number(*number),
            Self::Choice(index) => FieldValue::Choice(*index),
            Self::Text(text) => FieldValue::Text(text.clone()),
            Self::Decimal(decimal) => FieldValue::Decimal(*decimal),
        })
    }
}
