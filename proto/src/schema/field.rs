//! The fields of events, commands and rows: their names, types and ranges.
//!
//! [`crate::message::FieldValue`] has the values, and the check of a value against its field.

use std::any::TypeId;
use std::mem::discriminant;
use std::sync::Arc;

use super::{MAX_FIELDS, MAX_FIELDS_BITS, MAX_TEXT_BYTES, SchemaError, SchemaPath, SchemaProblem};
use crate::decimal::DecimalFormat;
use crate::map::{HALF_PER_METRE, MAX_HALF, TURNS};
use crate::presentation::MAX_OBSTACLE_LOOKS;
use crate::rows::Rows;
use crate::wire::{Coder, WireError};

/// The highest number of names of a choice.
pub const MAX_CHOICES: usize = 1_024;
/// The highest number of rows of a component.
pub const MAX_ROWS: u32 = 1_024;

/// A field of a kind of event or command, or of the rows of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// Unique in the event, the command or the row.
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

/// What the rows of a component are: their fields, and how many there may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowFormat {
    /// At most [`MAX_FIELDS`], none of them an object.
    pub fields: Arc<[FieldSpec]>,
    /// At most so many rows: 1 to [`MAX_ROWS`].
    pub max: u32,
    /// Whether each row is an obstacle, as [`RowFormat::of_obstacles`] makes them: something that
    /// stands in the way while its object exists.
    pub are_obstacles: bool,
}

impl RowFormat {
    /// Of rows that mean something to the game alone.
    pub fn new(fields: impl Into<Arc<[FieldSpec]>>, max: u32) -> Self {
        Self { fields: fields.into(), max, are_obstacles: false }
    }

    /// Of obstacles: the middle; half of the extents in steps ([`HALF_PER_METRE`] a metre), of a
    /// cylinder the radius twice; the turn of a box in [`TURNS`] of a half turn; 1 if it is a
    /// cylinder; 0 or its look, counted from 1.
    /// [`StaticObstacle::to_row`](crate::map::StaticObstacle::to_row) has the values.
    pub fn of_obstacles(max: u32) -> Self {
        let half = (MAX_HALF * HALF_PER_METRE) as i64;
        let number = |name: &str, max| FieldSpec::new(name, FieldType::Number { min: 0, max });
        let fields = [
            FieldSpec::new("centre", FieldType::Position),
            number("half_x", half),
            number("half_y", half),
            number("half_z", half),
            number("turn", i64::from(TURNS) - 1),
            number("round", 1),
            number("look", MAX_OBSTACLE_LOOKS as i64),
        ];
        Self { are_obstacles: true, ..Self::new(fields, max) }
    }

    /// Whether there are no more rows than there may be, each with values of the fields.
    pub fn fits(&self, rows: &Rows) -> bool {
        rows.len() <= self.max as usize
            && rows.iter().all(|row| {
                row.len() == self.fields.len()
                    && row.iter().zip(self.fields.iter()).all(|(value, field)| value.fits(field))
            })
    }

    /// The same rows, as far as they fit: the first ones, with the nearest values; without those
    /// that have a value of another type, or a name beyond a choice.
    #[must_use]
    pub fn within(&self, rows: &Rows) -> Rows {
        if self.fits(rows) {
            return rows.clone();
        }
        let fitting = rows.iter().filter(|row| row.len() == self.fields.len());
        let fitting = fitting.filter_map(|row| {
            row.iter().zip(self.fields.iter()).map(|(value, field)| value.within(field)).collect()
        });
        fitting.take(self.max as usize).collect()
    }

    /// Whether a client that was built with these fields reads rows of the fields `there` with the
    /// same meaning: the same names and types, of any ranges; the names of a list of data are
    /// known to the room alone.
    pub fn can_read(&self, there: &Self) -> bool {
        let is_same = |known: &FieldSpec, there: &FieldSpec| {
            let has_same_type = match (&known.ty, &there.ty) {
                (FieldType::Decimal(known), FieldType::Decimal(there)) => known == there,
                (FieldType::Choice(_), FieldType::Choice(names)) => {
                    known.ty.known_names().is_empty() || known.ty.known_names() == names
                }
                (known, there) => discriminant(known) == discriminant(there),
            };
            known.name == there.name && has_same_type && (known.optional || !there.optional)
        };
        self.fields.len() == there.fields.len()
            && self.fields.iter().zip(there.fields.iter()).all(|(known, it)| is_same(known, it))
    }

    /// Reads, writes or measures: how many there are, then the fields of each.
    pub(super) fn wire<C: Coder>(&self, rows: &mut Rows, coder: &mut C) -> Result<(), WireError> {
        let mut length = rows.len();
        coder.count(&mut length, self.max as usize)?;
        let mut read = Vec::new();
        for index in 0..length {
            let mut row = rows.get(index).map(<[_]>::to_vec).unwrap_or_default();
            if C::READS {
                row.clear();
            }
            row.resize_with(self.fields.len(), Default::default);
            for (value, field) in row.iter_mut().zip(self.fields.iter()) {
                value.wire_in_row(field, coder)?;
            }
            if C::READS {
                read.push(row);
            }
        }
        if C::READS {
            *rows = read.into();
        }
        Ok(())
    }

    /// The most bits that its rows may take.
    pub(super) fn max_bits(&self) -> usize {
        let row: usize = self.fields.iter().map(FieldSpec::bits_in_row).sum();
        16 + self.max as usize * row
    }

    pub(super) fn check(&self, place: &SchemaPath) -> Result<(), SchemaError> {
        let has_objects = self.fields.iter().any(|field| field.ty == FieldType::Object);
        let is_good = (1..=MAX_ROWS).contains(&self.max) && !self.fields.is_empty() && !has_objects;
        place.ensure(is_good, || SchemaProblem::BadRows)?;
        let is_as_told = !self.are_obstacles || *self == Self::of_obstacles(self.max);
        place.ensure(is_as_told, || SchemaProblem::BadObstacles)?;
        place.check_count("fields", self.fields.len(), MAX_FIELDS)?;
        place.check_names("field", self.fields.iter().map(|field| &field.name))?;
        self.fields.iter().try_for_each(|field| field.check(&place.child("field", &field.name)))
    }
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

    /// The most bits that a value in a row may take.
    fn bits_in_row(&self) -> usize {
        let bits = |values: u64| (u64::BITS - values.leading_zeros()) as usize;
        usize::from(self.optional)
            + match &self.ty {
                FieldType::Object => 0,
                FieldType::Position => 60,
                FieldType::Number { min, max } => bits(min.abs_diff(*max)),
                FieldType::Decimal(format) => format.bits(),
                FieldType::Choice(names) => bits((names.len() as u64).saturating_sub(1)),
                FieldType::Text { max_bytes } => 8 + 8 * *max_bytes as usize,
            }
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

    /// A choice from the list that this type stands for. Its names are data: those of a table are
    /// `known`, all others are not known yet. [`Schema::name_list`](super::Schema::name_list) and
    /// [`Schema::name_tables`](super::Schema::name_tables) turn it into one of the names alone.
    pub fn listed<'n>(list: TypeId, known: impl IntoIterator<Item = &'n str>) -> Self {
        Self::choice([mark_of(list)].into_iter().chain(known.into_iter().map(str::to_owned)))
    }

    /// Whether this is a choice from a list, and not yet of names alone.
    pub fn is_listed(&self) -> bool {
        self.listed_mark().is_some()
    }

    /// Whether it is of this list.
    pub fn is_of_list(&self, list: TypeId) -> bool {
        self.listed_mark().is_some_and(|mark| mark == mark_of(list))
    }

    /// The mark of its list.
    pub(super) fn listed_mark(&self) -> Option<&str> {
        let Self::Choice(names) = self else { return None };
        names.first().filter(|first| first.starts_with('<')).map(String::as_str)
    }

    /// The names of a choice, as far as they are declared; of other types none.
    pub fn known_names(&self) -> &[String] {
        match self {
            Self::Choice(names) => &names[usize::from(self.is_listed())..],
            _ => &[],
        }
    }

    /// Of a table, its mark and its names.
    pub(super) fn table(&self) -> Option<(&str, &[String])> {
        self.listed_mark().map(|mark| (mark, self.known_names())).filter(|(_, it)| !it.is_empty())
    }

    /// The index of a choice's name; `None` if the type is another one or has no such name.
    pub fn choice_index(&self, name: &str) -> Option<u16> {
        let Self::Choice(names) = self else {
            return None;
        };
        let index = names.iter().position(|other| other == name)?;
        u16::try_from(index).ok()
    }

    /// The most bits that a value may take, with its type.
    fn max_bits(&self) -> usize {
        3 + match self {
            Self::Object => 28,
            Self::Position => 60,
            Self::Number { .. } => 80,
            Self::Decimal(format) => 1 + format.bits(),
            Self::Choice(_) => 18,
            Self::Text { max_bytes } => 8 + 8 * *max_bytes as usize,
        }
    }
}

/// What stands for a list in the place of its first name; no name begins so.
pub(super) fn mark_of(list: TypeId) -> String {
    format!("<{list:?}>")
}

/// Checks the fields of the event or command at `place`.
pub(super) fn check_fields(fields: &[FieldSpec], place: &SchemaPath) -> Result<(), SchemaError> {
    place.check_count("fields", fields.len(), MAX_FIELDS)?;
    place.check_names("field", fields.iter().map(|field| &field.name))?;
    fields.iter().try_for_each(|field| field.check(&place.child("field", &field.name)))?;
    let bits = fields.iter().map(|field| field.ty.max_bits()).sum();
    place.ensure(bits <= MAX_FIELDS_BITS, || SchemaProblem::FieldsTooLarge { bits })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::RowValue;
    use crate::wire::{Measure, Reader, Writer};

    fn format() -> RowFormat {
        let fields = [
            FieldSpec::new("ware", FieldType::choice(["rope", "lamp"])),
            FieldSpec::new("count", FieldType::Number { min: 1, max: 99 }),
            FieldSpec::new("note", FieldType::Text { max_bytes: 4 }).optional(),
        ];
        RowFormat::new(fields, 3)
    }

    fn row(ware: u16, count: i64, note: Option<&str>) -> Vec<RowValue> {
        let note = note.map_or(RowValue::None, |note| RowValue::Text(note.into()));
        vec![RowValue::Choice(ware), RowValue::Number(count), note]
    }

    #[test]
    fn rows_take_the_bits_of_their_ranges_and_come_back() {
        let format = format();
        let mut rows: Rows = [row(1, 99, None), row(0, 1, Some("new"))].into_iter().collect();
        assert!(format.fits(&rows));
        let mut measure = Measure::new();
        format.wire(&mut rows, &mut measure).expect("measuring cannot fail");
        // 2 for their number; for each 1, 7 and 1, and a text with a length of 3 bits.
        assert_eq!(measure.bits(), 2 + 2 * 9 + 3 + 24);
        assert!(measure.bits() <= format.max_bits());
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        format.wire(&mut rows, &mut writer).expect("writing cannot fail");
        writer.finish();
        let mut read = Rows::default();
        format.wire(&mut read, &mut Reader::new(&bytes)).expect("it was written");
        assert_eq!(read, rows);
    }

    #[test]
    fn rows_become_the_nearest_ones_that_fit() {
        let rows: Rows = [
            row(0, 500, Some("lantern")),
            row(2, 1, None),
            vec![RowValue::Choice(0)],
            vec![RowValue::Text("rope".into()), RowValue::Number(1), RowValue::None],
            row(1, 0, None),
            row(1, 2, None),
            row(1, 3, None),
        ]
        .into_iter()
        .collect();
        let format = format();
        assert!(!format.fits(&rows));
        let within = format.within(&rows);
        let expected = [row(0, 99, Some("lant")), row(1, 1, None), row(1, 2, None)];
        assert_eq!(within, expected.into_iter().collect());
        assert!(format.fits(&within));
    }

    #[test]
    fn any_bits_are_rows_that_fit_or_an_error() {
        let format = format();
        let mut rng = fastrand::Rng::with_seed(11);
        let mut read_ones = 0;
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..rng.usize(..12)).map(|_| rng.u8(..)).collect();
            let mut rows = Rows::default();
            if format.wire(&mut rows, &mut Reader::new(&bytes)).is_ok() {
                read_ones += 1;
                assert!(format.fits(&rows), "{rows:?}");
            }
        }
        assert!(read_ones > 100, "{read_ones}");
    }
}
