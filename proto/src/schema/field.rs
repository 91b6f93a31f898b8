//! The fields of events and commands: their names, types and ranges.
//!
//! [`crate::message::FieldValue`] has the values, and the check of a value against its field.

use std::any::TypeId;

use super::{MAX_FIELDS, MAX_FIELDS_BITS, MAX_TEXT_BYTES, SchemaError, SchemaPath, SchemaProblem};
use crate::decimal::DecimalFormat;

/// The highest number of names of a choice.
pub const MAX_CHOICES: usize = 64;

/// A field of a kind of event or command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Unique in the event or command.
    pub name: String,
    /// Type of its values.
    pub ty: FieldType,
    /// Whether there may be no value. An object of an event is always missing for the clients that
    /// do not follow it.
    pub optional: bool,
}

/// The type of a field of an event or a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// An object.
    Object,
    /// A point in space.
    Position,
    /// A whole number from `min` to `max`, both included.
    #[expect(missing_docs, reason = "`min` and `max`: above")]
    Number { min: i64, max: i64 },
    /// A half float or an angle.
    Decimal(DecimalFormat),
    /// One of these names: at most [`MAX_CHOICES`]; the order defines their indices.
    Choice(Vec<String>),
    /// A text.
    Text {
        /// In UTF-8, at most.
        max_bytes: u32,
    },
}

impl FieldSpec {
    /// A field that always has a value.
    pub fn new(name: impl Into<String>, ty: FieldType) -> Self {
        Self { name: name.into(), ty, optional: false }
    }

    /// The same field, with or without a value.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        match &self.ty {
            FieldType::Object | FieldType::Position | FieldType::Decimal(_) => Ok(()),
            &FieldType::Number { min, max } => {
                place.ensure(min <= max, || SchemaProblem::BadNumber { min, max })
            }
            FieldType::Choice(names) => {
                place.ensure(!self.ty.is_listed(), || SchemaProblem::Unnamed)?;
                place.ensure(!names.is_empty(), || SchemaProblem::NoChoices)?;
                place.check_count("choices", names.len(), MAX_CHOICES)?;
                place.check_words("choice", names)
            }
            &FieldType::Text { max_bytes } => place
                .ensure((1..=MAX_TEXT_BYTES).contains(&max_bytes), || SchemaProblem::BadText {
                    max_bytes,
                }),
        }
    }
}

impl FieldType {
    /// Any whole number.
    pub const NUMBER: Self = Self::Number { min: i64::MIN, max: i64::MAX };

    /// The names of a choice.
    pub fn choice<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Choice(names.into_iter().map(Into::into).collect())
    }

    /// A choice from the list that this type stands for, whose names are data: they are not known
    /// yet.
    pub fn listed(list: TypeId) -> Self {
        Self::choice([format!("<{list:?}>")])
    }

    /// Whether the names of this choice are data that is not known yet.
    pub fn is_listed(&self) -> bool {
        matches!(self, Self::Choice(names) if names.first().is_some_and(|it| it.starts_with('<')))
    }

    /// The index of a choice's name; `None` if the type is another one or has no such name.
    pub fn choice_index(&self, name: &str) -> Option<u8> {
        let Self::Choice(names) = self else {
            return None;
        };
        super::index_of(names, |other| other == name)
    }

    /// The most bits that a value may take, with its type.
    fn max_bits(&self) -> usize {
        3 + match self {
            Self::Object => 28,
            Self::Position => 60,
            Self::Number { .. } => 80,
            Self::Decimal(format) => 1 + format.bits(),
            Self::Choice(_) => 8,
            Self::Text { max_bytes } => 8 + 8 * *max_bytes as usize,
        }
    }
}

/// Checks the fields of the event or command at `place`.
pub(super) fn check_fields(fields: &[FieldSpec], place: &SchemaPath) -> Result<(), SchemaError> {
    place.check_count("fields", fields.len(), MAX_FIELDS)?;
    place.check_names("field", fields.iter().map(|field| &field.name))?;
    fields.iter().try_for_each(|field| field.check(&place.child("field", &field.name)))?;
    let bits = fields.iter().map(|field| field.ty.max_bits()).sum();
    place.ensure(bits <= MAX_FIELDS_BITS, || SchemaProblem::FieldsTooLarge { bits })
}
