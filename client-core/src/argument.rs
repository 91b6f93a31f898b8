//! The values of a command, as programs, pages and players give them.
//!
//! A value goes in, the value of a field comes out: words of a player, JSON of a page and values of
//! a program all become fields here, by the schema.

use std::collections::BTreeMap;

use ambit_proto::decimal::{Decimal, DecimalFormat};
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::FieldValue;
use ambit_proto::schema::{FieldSpec, FieldType};
use ambit_proto::space::Position;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A value for a field of a command: a number (of an angle the radians), the id of an object, yes
/// or no, a text, the name of a choice, a position (`[x, y]`, `[x, y, z]`, `{ x, y }`), or none for
/// an optional field. A text may be any value as a player writes it: `#7`, `90°`, `1.5 20`. An
/// object with the names of the fields has the values of them all.
#[derive(Clone, Debug, Default, derive_more::From, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "no value for a command: a position is [x, y] or [x, y, z], in metres"
)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Value"))]
pub enum Argument {
    /// The choice `yes` or `no`.
    Flag(bool),
    /// A whole number, or the id of an object.
    Number(#[cfg_attr(test, ts(type = "number"))] i64),
    /// A half float, or an angle in radians.
    #[cfg_attr(test, ts(skip))]
    Decimal(f32),
    /// A text, the name of a choice, or any other value as a player writes it.
    Text(String),
    /// A point on the map, in metres: `[x, y]` on the ground, or `[x, y, z]`.
    Position(
        #[serde(deserialize_with = "position")]
        #[cfg_attr(test, ts(type = "readonly number[]"))]
        Position,
    ),
    /// The values of all fields by their names, or a position by its axes: `{ x, y }`.
    Named(BTreeMap<String, Argument>),
    /// No value, for an optional field.
    #[default]
    None,
}

/// The arguments of a command: `()` for none, one value, a tuple of up to eight, or a list of
/// [`Argument`]s. Optional ones at the end may be left out.
pub trait IntoArguments {
    /// The arguments, in the order of the command's fields.
    fn into_arguments(self) -> Vec<Argument>;
}

impl Argument {
    /// The value of this field; `None` if it is not one.
    pub(crate) fn to_field(&self, field: &FieldSpec) -> Option<FieldValue<ClientObjectId>> {
        let value = match (self, &field.ty) {
            (Self::None, _) => FieldValue::None,
            (Self::Text(words), ty) => read(words, ty)?,
            (Self::Flag(yes), ty) => {
                FieldValue::Choice(ty.choice_index(if *yes { "yes" } else { "no" })?)
            }
            (&Self::Number(id), FieldType::Object) => {
                FieldValue::Object(ClientObjectId(id.try_into().ok()?))
            }
            (&Self::Number(number), FieldType::Number { .. }) => FieldValue::Number(number),
            (_, FieldType::Decimal(format)) => FieldValue::Decimal(format.within(self.decimal()?)?),
            (&Self::Position(position), FieldType::Position) => FieldValue::Position(position),
            (Self::Named(named), FieldType::Position) => {
                let axes = ["x", "y", "z"].into_iter().filter_map(|axis| named.get(axis));
                let axes: Option<Vec<f32>> = axes.map(Self::decimal).collect();
                FieldValue::Position(at(&axes?)?)
            }
            _ => return None,
        };
        value.fits(field).then_some(value)
    }

    fn decimal(&self) -> Option<f32> {
        match *self {
            Self::Number(number) => Some(number as f32),
            Self::Decimal(decimal) => Some(decimal),
            _ => None,
        }
    }
}

/// The value that a player means by these words.
fn read(words: &str, ty: &FieldType) -> Option<FieldValue<ClientObjectId>> {
    Some(match ty {
        FieldType::Object => {
            FieldValue::Object(ClientObjectId(words.trim_start_matches('#').parse().ok()?))
        }
        FieldType::Number { .. } => FieldValue::Number(words.parse().ok()?),
        FieldType::Decimal(format) => FieldValue::Decimal(decimal(*format, words)?),
        // Between `no` and `yes`, the words for it elsewhere serve as well.
        FieldType::Choice(names) => FieldValue::Choice(ty.choice_index(match words {
            "true" | "on" if names == &["no", "yes"] => "yes",
            "false" | "off" if names == &["no", "yes"] => "no",
            name => name,
        })?),
        FieldType::Text { .. } => FieldValue::Text(words.to_owned()),
        FieldType::Position => {
            let axes = words.split_whitespace().map(|word| word.parse().ok());
            let axes: Option<Vec<f32>> = axes.collect();
            // The client checks the range when it sends the command.
            FieldValue::Position(at(&axes?).filter(|position| position.is_finite())?)
        }
    })
}

/// A number; an angle may be in degrees.
fn decimal(format: DecimalFormat, word: &str) -> Option<Decimal> {
    let degrees = ["°", "deg"].into_iter().find_map(|unit| word.strip_suffix(unit));
    let value: f32 = match degrees.filter(|_| format == DecimalFormat::Angle) {
        Some(degrees) => degrees.parse::<f32>().ok()?.to_radians(),
        None => word.parse().ok()?,
    };
    format.within(value)
}

fn at(axes: &[f32]) -> Option<Position> {
    match *axes {
        [x, y] => Some(Position::on_ground(x, y)),
        [x, y, z] => Some(Position::new(x, y, z)),
        _ => None,
    }
}

fn position<'d, D: Deserializer<'d>>(from: D) -> Result<Position, D::Error> {
    let axes = Vec::<f32>::deserialize(from)?;
    at(&axes).ok_or_else(|| D::Error::custom("two or three axes"))
}

impl<T: Into<Argument>> From<Option<T>> for Argument {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl<T: Into<f64>> From<[T; 2]> for Argument {
    fn from(axes: [T; 2]) -> Self {
        let [x, y] = axes.map(|metres| metres.into() as f32);
        Self::Position(Position::on_ground(x, y))
    }
}

impl<T: Into<f64>> From<[T; 3]> for Argument {
    fn from(axes: [T; 3]) -> Self {
        let [x, y, z] = axes.map(|metres| metres.into() as f32);
        Self::Position(Position::new(x, y, z))
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Argument {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        }
    )*};
}

numbers!(i8, i16, i32, u8, u16, u32);

/// A half float, or an angle in radians.
impl From<f64> for Argument {
    fn from(value: f64) -> Self {
        Self::Decimal(value as f32)
    }
}

impl From<ClientObjectId> for Argument {
    fn from(ClientObjectId(id): ClientObjectId) -> Self {
        id.into()
    }
}

impl IntoArguments for () {
    fn into_arguments(self) -> Vec<Argument> {
        Vec::new()
    }
}

impl IntoArguments for Vec<Argument> {
    fn into_arguments(self) -> Vec<Argument> {
        self
    }
}

impl<T: Into<Argument>> IntoArguments for T {
    fn into_arguments(self) -> Vec<Argument> {
        vec![self.into()]
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: Into<Argument>),*> IntoArguments for ($($name,)*) {
            #[expect(non_snake_case, reason = "type parameters name the values, too")]
            fn into_arguments(self) -> Vec<Argument> {
                let ($($name,)*) = self;
                vec![$($name.into()),*]
            }
        }
    )*};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
