//! The fields of events and commands: their names, types and ranges.
//!
//! [`crate::message::FieldValue`] has the values, and the check of a value against its field.

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
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// About the names of a choice, in their order. It may be shorter than the list of names, and
    /// it says nothing about the type: whoever knows other texts understands the same values.
    pub choices: Vec<ChoiceAbout>,
    /// Of a choice: the name of a text component that lists the names that there are now, such as
    /// `2 whetstone, red-stone`; of the avatar, of the player's own row or of the game's state.
    /// Empty for all, always.
    pub listed_in: String,
}

/// What players are told about one of the names of a choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChoiceAbout {
    /// What players read instead of the name; may be empty.
    pub label: String,
    /// One line; may be empty.
    pub help: String,
    /// A command with this choice is refused for so long after one that was not, in milliseconds.
    pub cooldown_ms: u32,
    /// Only as long as a text of the avatar, or of the only object of a room-wide kind, is this (a
    /// class, a phase), or a flag of the avatar has this name and is set. Empty for always.
    pub only_for: String,
    /// Whether this choice needs no other field: clients ask for no optional one, such as a place.
    /// The host takes them all the same.
    pub alone: bool,
    /// A place of the command may be so far from the avatar, in centimetres; 0 for any distance.
    /// The game refuses what is farther; clients show it, and choose the nearest place within.
    pub reach_cm: u32,
    /// What a command with this choice costs, if anything.
    pub cost: Option<Cost>,
}

/// What a choice costs. The game refuses who has less of it; clients show who can pay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The name of a gauge or a number of the avatar or of the player's own row, such as `mana`.
    pub of: String,
    /// In its units; negative for what the choice gives.
    pub amount: i32,
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
        Self {
            name: name.into(),
            ty,
            optional: false,
            label: String::new(),
            choices: Vec::new(),
            listed_in: String::new(),
        }
    }

    /// The same field, with what players read about it.
    #[must_use]
    pub fn about(self, label: impl Into<String>, choices: Vec<ChoiceAbout>) -> Self {
        Self { label: label.into(), choices, ..self }
    }

    /// The same field, with or without a value.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        place.check_label(&self.label)?;
        place.check_user_text(&self.listed_in)?;
        let names = if let FieldType::Choice(names) = &self.ty { names.as_slice() } else { &[] };
        place.check_count("texts about choices", self.choices.len(), names.len())?;
        for (name, about) in names.iter().zip(&self.choices) {
            let place = place.child("choice", name);
            place.check_label(&about.label)?;
            place.check_user_text(&about.help)?;
            place.check_user_text(&about.only_for)?;
            about.cost.iter().try_for_each(|cost| place.check_user_text(&cost.of))?;
        }
        match &self.ty {
            FieldType::Object | FieldType::Position | FieldType::Decimal(_) => Ok(()),
            &FieldType::Number { min, max } => {
                place.ensure(min <= max, || SchemaProblem::BadNumber { min, max })
            }
            FieldType::Choice(names) => {
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

/// Instead of names that are data.
const LISTED: &str = "none";

impl FieldType {
    /// Any whole number.
    pub const NUMBER: Self = Self::Number { min: i64::MIN, max: i64::MAX };

    /// The names of a choice.
    pub fn choice<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Choice(names.into_iter().map(Into::into).collect())
    }

    /// A choice whose names are data: they are not known yet.
    pub fn listed() -> Self {
        Self::choice([LISTED])
    }

    /// Whether the names of this choice are data.
    pub fn is_listed(&self) -> bool {
        matches!(self, Self::Choice(names) if matches!(&names[..], [name] if name == LISTED))
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
