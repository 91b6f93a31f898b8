//! The checks and the bits of the values of fields.

use crate::decimal::DecimalFormat;
use crate::field_value::FieldValue;
use crate::schema::{FieldSpec, FieldType, MAX_CHOICES, MAX_TEXT_BYTES};
use crate::space::Position;
use crate::wire::{Coder, Wire, WireError};

const TYPE_BITS: u32 = 3;

impl<O> FieldValue<O> {
    /// Whether this is a value of `field`.
    pub fn fits(&self, field: &FieldSpec) -> bool {
        match (self, &field.ty) {
            (Self::None, _) => field.optional,
            (Self::Object(_), FieldType::Object) | (Self::Position(_), FieldType::Position) => true,
            (Self::Number(number), FieldType::Number { min, max }) => (min..=max).contains(&number),
            (Self::Choice(index), FieldType::Choice(names)) => usize::from(*index) < names.len(),
            (Self::Text(text), FieldType::Text { max_bytes }) => text.len() <= *max_bytes as usize,
            (Self::Decimal(decimal), FieldType::Decimal(format)) => {
                decimal.format() == *format && decimal.is_finite()
            }
            _ => false,
        }
    }

    /// Whether `values` are those of `fields`, one for each.
    pub fn all_fit(values: &[Self], fields: &[FieldSpec]) -> bool {
        values.len() == fields.len()
            && values.iter().zip(fields).all(|(value, field)| value.fits(field))
    }

    /// The nearest value that `field` can have: within its range, a text cut. `None` if it is of
    /// another type, or a name beyond the choice.
    pub fn within(&self, field: &FieldSpec) -> Option<Self>
    where
        O: Clone,
    {
        let value = match (self, &field.ty) {
            (Self::Number(number), FieldType::Number { min, max }) => {
                Self::Number(*number.clamp(min, max))
            }
            (Self::Text(text), FieldType::Text { max_bytes }) => {
                let end = text.floor_char_boundary(*max_bytes as usize);
                Self::Text(text[..end].to_owned())
            }
            (value, _) => value.clone(),
        };
        value.fits(field).then_some(value)
    }

    /// As a field of a row, in the bits that its range takes. A row has no objects.
    pub(crate) fn wire_in_row<C: Coder>(
        &mut self,
        field: &FieldSpec,
        coder: &mut C,
    ) -> Result<(), WireError> {
        let mut is_there = !matches!(self, Self::None);
        if field.optional {
            coder.flag(&mut is_there)?;
        } else {
            is_there = true;
        }
        if C::READS {
            *self = if is_there { Self::blank_in_row(&field.ty) } else { Self::None };
        }
        match (self, &field.ty) {
            (Self::None, _) if !is_there => Ok(()),
            (Self::Position(position), FieldType::Position) => position.wire(coder),
            (Self::Number(number), &FieldType::Number { min, max }) => {
                coder.bounded(number, min, max)
            }
            (Self::Choice(index), FieldType::Choice(names)) => {
                let mut wide = i64::from(*index);
                coder.bounded(&mut wide, 0, names.len() as i64 - 1)?;
                *index = wide as u16;
                Ok(())
            }
            (Self::Text(text), &FieldType::Text { max_bytes }) => {
                coder.text(text, max_bytes as usize)
            }
            (Self::Decimal(decimal), FieldType::Decimal(_)) => decimal.wire(coder),
            _ => Err(WireError::OutOfRange { what: "value in a row" }),
        }
    }

    fn blank_in_row(ty: &FieldType) -> Self {
        match ty {
            FieldType::Object => Self::None,
            FieldType::Position => Self::Position(Position::default()),
            FieldType::Number { .. } => Self::Number(0),
            FieldType::Choice(_) => Self::Choice(0),
            FieldType::Text { .. } => Self::Text(String::new()),
            FieldType::Decimal(format) => Self::Decimal(format.zero()),
        }
    }

    const fn variant(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Object(_) => 1,
            Self::Position(_) => 2,
            Self::Number(_) => 3,
            Self::Choice(_) => 4,
            Self::Text(_) => 5,
            Self::Decimal(_) => 6,
        }
    }
}

impl<O: Default> FieldValue<O> {
    fn blank(variant: u64) -> Option<Self> {
        Some(match variant {
            0 => Self::None,
            1 => Self::Object(O::default()),
            2 => Self::Position(Position::default()),
            3 => Self::Number(0),
            4 => Self::Choice(0),
            5 => Self::Text(String::new()),
            6 => Self::Decimal(DecimalFormat::Half.zero()),
            _ => return None,
        })
    }
}

impl<O: Wire + Default> Wire for FieldValue<O> {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        super::wire_variant(self, coder, TYPE_BITS, "type of a field", Self::variant, Self::blank)?;
        self.wire_value(coder)
    }
}

impl<O: Wire + Default> FieldValue<O> {
    /// As a field of an event: its type is that of the schema. A value that may be missing has a
    /// flag; so has each object, since a client need not follow it.
    pub(super) fn wire_as<C: Coder>(
        &mut self,
        field: &FieldSpec,
        coder: &mut C,
    ) -> Result<(), WireError> {
        let mut is_there = !matches!(self, Self::None);
        if field.optional || field.ty == FieldType::Object {
            coder.flag(&mut is_there)?;
        } else {
            is_there = true;
        }
        let blank = if is_there { Self::blank_of(&field.ty) } else { Self::None };
        if C::READS {
            *self = blank;
        } else if self.variant() != blank.variant() {
            return Err(WireError::OutOfRange { what: "type of a field" });
        }
        self.wire_value(coder)
    }

    fn blank_of(ty: &FieldType) -> Self {
        match ty {
            FieldType::Object => Self::Object(O::default()),
            ty => Self::blank_in_row(ty),
        }
    }

    fn wire_value(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        match self {
            Self::None => Ok(()),
            Self::Object(object) => object.wire(coder),
            Self::Position(position) => position.wire(coder),
            Self::Number(number) => coder.signed_varint(number),
            Self::Choice(index) => wire_choice(index, coder),
            Self::Text(text) => coder.text(text, MAX_TEXT_BYTES as usize),
            Self::Decimal(decimal) => decimal.wire_with_format(coder),
        }
    }
}

/// An index below 255 in 8 bits; a higher one after 255, in 10.
fn wire_choice(index: &mut u16, coder: &mut impl Coder) -> Result<(), WireError> {
    let mut short = u8::try_from(*index).unwrap_or(u8::MAX);
    coder.u8(&mut short)?;
    if short < u8::MAX {
        *index = short.into();
        return Ok(());
    }
    let mut long = i64::from(*index);
    coder.bounded(&mut long, 0, MAX_CHOICES as i64 - 1)?;
    *index = long as u16;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::decimal::Decimal;
    use crate::ids::Alias;
    use crate::wire::{decode, encode, measure};

    type Value = FieldValue<Alias>;

    #[test]
    fn a_value_fits_its_type_and_range_only() {
        let number = FieldType::Number { min: -3, max: 7 };
        let choice = FieldType::choice(["bolt", "heal"]);
        let text = FieldType::Text { max_bytes: 4 };
        check(&FieldType::Object, &[Value::Object(Alias::default())], &[]);
        check(&FieldType::Position, &[Value::Position(Position::default())], &[]);
        check(
            &number,
            &[Value::Number(-3), Value::Number(7)],
            &[Value::Number(-4), Value::Number(8)],
        );
        check(
            &choice,
            &[Value::Choice(0), Value::Choice(1)],
            &[Value::Choice(2), Value::Choice(255)],
        );
        check(
            &text,
            &[Value::Text(String::new()), Value::Text("éé".into())],
            &[Value::Text("ééa".into())],
        );
        let [half, angle] = [DecimalFormat::Half, DecimalFormat::Angle].map(FieldType::Decimal);
        let [largest, infinite] = [0x7bff, 0x7c00].map(|bits| Value::Decimal(Decimal::Half(bits)));
        let turned = Value::Decimal(Decimal::Angle(255));
        check(&half, slice::from_ref(&largest), &[infinite, turned.clone()]);
        check(&angle, &[turned], &[largest]);
    }

    #[test]
    fn a_choice_takes_8_bits_and_18_beyond_254() {
        for (index, bits) in [(0, 8), (63, 8), (254, 8), (255, 18), (1_023, 18)] {
            let mut value = Value::Choice(index);
            assert_eq!(measure(&mut value), TYPE_BITS as usize + bits, "{index}");
            assert_eq!(decode(&encode(&mut value)), Ok(value));
        }
    }

    #[test]
    fn each_field_needs_its_value() {
        let fields = [
            FieldSpec::new("to", FieldType::Position),
            FieldSpec::new("count", FieldType::NUMBER).optional(),
        ];
        let at = Value::Position(Position::default());
        let fit = |values: &[Value]| Value::all_fit(values, &fields);
        assert!(fit(&[at.clone(), Value::Number(1)]));
        assert!(fit(&[at.clone(), Value::None]));
        assert!(!fit(&[Value::None, Value::Number(1)]));
        assert!(!fit(slice::from_ref(&at)));
        assert!(!fit(&[Value::Number(1), at.clone()]));
        assert!(!fit(&[at, Value::None, Value::None]));
    }

    /// `good` fit a field of this type and all others, `bad` and the values of other types do not.
    fn check(ty: &FieldType, good: &[Value], bad: &[Value]) {
        let field = FieldSpec::new("field", ty.clone());
        for value in good {
            assert!(value.fits(&field), "{value:?} for {ty:?}");
        }
        let others = [
            Value::Object(Alias::default()),
            Value::Position(Position::default()),
            Value::Number(0),
            Value::Choice(0),
            Value::Text(String::new()),
            Value::Decimal(DecimalFormat::Half.zero()),
        ];
        let others = others.iter().filter(|other| other.variant() != good[0].variant());
        for value in bad.iter().chain(others) {
            assert!(!value.fits(&field), "{value:?} for {ty:?}");
        }
        assert!(!Value::None.fits(&field));
        assert!(Value::None.fits(&field.optional()));
    }
}
