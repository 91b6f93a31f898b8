//! Typed reads: events and kinds as the game's own types, for clients that know the game.
//!
//! What the client has received goes in; a value of the game's type comes out, or `None` if it is
//! of another type. [`frame`](crate::frame) reads objects, [`typed_command`](crate::typed_command)
//! is the way back.
//!
//! Invariant: a client that was built with another version of the game reads no value with another
//! meaning. Kinds, components, events, fields and choices are found by their names, and the types
//! must be the same. Components and fields that the client does not know are left out.

use std::f32::consts::TAU;

use ambit_proto::decimal::DecimalFormat;
use ambit_proto::ids::ObjectId;
use ambit_proto::message::{FieldValue, TypedEvent, TypedKind, TypedSound};
use ambit_proto::schema::{Codec, ComponentAudience, ComponentSpec, FieldSpec, FieldType, Schema};

use crate::client::event::{NamedField, SchemaEvent};

/// How many directions a sound can have; the first is the east.
const DIRECTIONS: f32 = 16.0;

/// The client was built with another version of the game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadMismatch {
    /// The room's game has no kind or event of this name.
    #[error(
        "the server's game has no {what} `{name}`, which this client was built with: build it \
         with the server's version of the game"
    )]
    Missing {
        /// `kind` or `event`.
        what: &'static str,
        /// Its name.
        name: &'static str,
    },
    /// A component or a field is not there, or of another type.
    #[error(
        "the server's game declares the {what} `{name}` without {part}, but this client was built \
         with it: build it with the server's version of the game"
    )]
    WithoutPart {
        /// `kind` or `event`.
        what: &'static str,
        /// Its name.
        name: &'static str,
        /// The component or field, with its type.
        part: String,
    },
}

impl SchemaEvent {
    /// The event as a value of the game's type, for a client that knows the game:
    /// `event.get::<Hit>()`. `None` if it is another event, or if the room's game declares it
    /// otherwise ([`check_event`]).
    ///
    /// The ids in it are those of this client, for [`Frame::find`](crate::frame::Frame::find). An
    /// object that is not in sight is [`ObjectId::UNSEEN`].
    pub fn get<E: TypedEvent>(&self) -> Option<E> {
        if &*self.name != E::NAME {
            return None;
        }
        let declared = E::declaration().0.fields;
        let fields = declared.iter().map(|spec| {
            let field = self.fields.iter().find(|field| *field.name == *spec.name)?;
            Some(own_value(field, spec))
        });
        E::from_fields(&fields.collect::<Option<Vec<_>>>()?)
    }

    /// The direction and the loudness if it is this sound: `event.heard::<Bang>()`.
    pub fn heard<S: TypedSound>(&self) -> Option<Heard> {
        match (&*self.name == S::NAME, &*self.fields) {
            (
                true,
                [
                    NamedField { value: FieldValue::Choice(direction), .. },
                    NamedField { value: FieldValue::Number(loudness), .. },
                ],
            ) => {
                let direction = f32::from(*direction) * TAU / DIRECTIONS;
                Some(Heard { direction, loudness: u8::try_from(*loudness).ok()? })
            }
            _ => None,
        }
    }
}

/// What is heard of an event that is not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Where it comes from on the map, in radians counter-clockwise from the east: one of 16
    /// directions.
    pub direction: f32,
    /// From 1 to 4, which is near.
    pub loudness: u8,
}

/// A field as the client's type has it: choices by name, objects by the client's numbers.
fn own_value(field: &NamedField, spec: &FieldSpec) -> FieldValue<ObjectId> {
    match (&field.value, &spec.ty) {
        (FieldValue::None, FieldType::Object) if !spec.optional => {
            FieldValue::Object(ObjectId::UNSEEN)
        }
        // The names of some choices are data, and known to the room alone.
        (FieldValue::Choice(index), FieldType::Choice(_)) if spec.ty.known_names().is_empty() => {
            FieldValue::Choice(*index)
        }
        (FieldValue::Choice(_), FieldType::Choice(_)) => {
            let index = spec
                .ty
                .known_names()
                .iter()
                .position(|name| Some(&**name) == field.choice.as_deref());
            index.map_or(FieldValue::None, |index| FieldValue::Choice(index as u16))
        }
        (value, _) => {
            value.rename_object(|&id| Some(ObjectId::at_client(id))).unwrap_or(FieldValue::None)
        }
    }
}

/// Whether the room's game declares a kind as the client knows it, so that its objects can be read.
pub fn check_kind<K: TypedKind>(schema: &Schema) -> Result<(), ReadMismatch> {
    let what = "kind";
    let name = K::NAME;
    let declared = schema.kinds.iter().find(|kind| kind.name == name);
    let declared = declared.ok_or(ReadMismatch::Missing { what, name })?;
    let known = K::declaration().0.components;
    let mut known = known.iter().filter(|part| part.audience != ComponentAudience::Server);
    let missing = known.find(|part| {
        let there = declared.components.iter().find(|there| there.name == part.name);
        !there.is_some_and(|there| is_same_type(there, part))
    });
    missing.map_or(Ok(()), |part| {
        let part = format!("the component `{}` ({})", part.name, type_name(part));
        Err(ReadMismatch::WithoutPart { what, name, part })
    })
}

/// Whether the room's game declares an event as the client knows it, so that it can be read.
pub fn check_event<E: TypedEvent>(schema: &Schema) -> Result<(), ReadMismatch> {
    let what = "event";
    let name = E::NAME;
    let declared = schema.events.iter().find(|event| event.name == name);
    let declared = declared.ok_or(ReadMismatch::Missing { what, name })?;
    let known = E::declaration().0.fields;
    let missing = known.iter().find(|part| {
        let there = declared.fields.iter().find(|there| there.name == part.name);
        !there.is_some_and(|there| can_read(there, part))
    });
    missing.map_or(Ok(()), |part| {
        let part = format!("the field `{}`", part.name);
        Err(ReadMismatch::WithoutPart { what, name, part })
    })
}

fn is_same_type(there: &ComponentSpec, known: &ComponentSpec) -> bool {
    match (&there.codec, &known.codec) {
        (Codec::Rows(there), Codec::Rows(known)) => known.can_read(there),
        _ => type_name(there) == type_name(known),
    }
}

/// A type that a client reads: ranges may differ.
fn type_name(component: &ComponentSpec) -> &'static str {
    match component.codec {
        Codec::Path => "path",
        Codec::Gauge { .. } => "gauge",
        Codec::Flag => "flag",
        Codec::Number { .. } => "number",
        Codec::Decimal(DecimalFormat::Half) => "half",
        Codec::Decimal(DecimalFormat::Angle) => "angle",
        Codec::Text { .. } => "text",
        Codec::Counts(_) => "counts",
        Codec::Bytes { .. } => "bytes",
        Codec::Rows(_) => "list",
        Codec::Pose(_) => "pose",
    }
}

/// Whether each value of the field `there` can be one of the field `known`, but for ranges and
/// choices that the client does not know.
fn can_read(there: &FieldSpec, known: &FieldSpec) -> bool {
    let is_same_type = match (&there.ty, &known.ty) {
        (FieldType::Decimal(there), FieldType::Decimal(known)) => there == known,
        (there, known) => std::mem::discriminant(there) == std::mem::discriminant(known),
    };
    is_same_type && (known.optional || !there.optional)
}
