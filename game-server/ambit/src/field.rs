//! The fields of commands and events.

use std::marker::PhantomData;

use ambit_proto::codes::ErrorCode;
use ambit_proto::ids::ObjectId;
use ambit_proto::message::{FieldValue, TypedKind};
use ambit_proto::presentation::{ChoicePresentation, Word};
use ambit_proto::schema::{DecimalFormat, FieldType, MAX_TEXT_BYTES};
use ambit_proto::space::Position;
#[cfg(feature = "rules")]
use ambit_room::logic::world::World as RoomWorld;

use crate::component::{Angle, Half, Number, Text};
use crate::id::Id;

/// The value of a field.
pub type Value = FieldValue<ObjectId>;

/// The objects that fields may name.
#[derive(Clone, Copy)]
pub enum Objects<'w> {
    /// Those of a room.
    #[cfg(feature = "rules")]
    Room(&'w RoomWorld),
    /// Those of a client, which believes what the room sends.
    Client(PhantomData<&'w ()>),
}

impl Objects<'_> {
    /// Whether an object exists and is of a kind of this name.
    fn is_of(self, object: ObjectId, kind: &str) -> bool {
        match self {
            #[cfg(feature = "rules")]
            Self::Room(world) => {
                let index = world.find_kind(object);
                let declared = index.and_then(|index| world.schema().kind(index));
                declared.is_some_and(|declared| declared.name == kind)
            }
            Self::Client(_) => {
                let _ = (object, kind);
                true
            }
        }
    }
}

/// The fields of a command or an event, one after the other.
#[doc(hidden)]
pub struct Fields<'c> {
    values: std::slice::Iter<'c, Value>,
    objects: Objects<'c>,
}

impl<'c> Fields<'c> {
    #[cfg(feature = "rules")]
    pub(crate) fn new(values: &'c [Value], objects: Objects<'c>) -> Self {
        Self { values: values.iter(), objects }
    }

    /// Those of an event that a client has received.
    pub fn of_client(values: &'c [Value]) -> Self {
        Self { values: values.iter(), objects: Objects::Client(PhantomData) }
    }

    /// The next value.
    pub fn take(&mut self) -> Result<&'c Value, ErrorCode> {
        self.values.next().ok_or(ErrorCode::Malformed)
    }

    /// The objects that the values may name.
    pub fn objects(&self) -> Objects<'c> {
        self.objects
    }
}

/// A type of the fields of commands and events.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a command or an event",
    label = "not a type of field",
    note = "use `Position`, `Id<...>`, `ObjectId`, a whole number (`i64`, `u8`, ...), \
            `Number<MIN, MAX>`, `Half`, `Angle`, `bool`, `Text<BYTES>`, `String`, an enum with \
            `#[derive(Choice)]`, a `Listed<LIST>`, or an `Option` of one of these"
)]
pub trait MessageField: Sized {
    #[doc(hidden)]
    const OPTIONAL: bool = false;

    #[doc(hidden)]
    fn field_type() -> FieldType;

    /// What players read about the names of a choice.
    #[doc(hidden)]
    fn choices() -> Vec<ChoicePresentation> {
        Vec::new()
    }

    #[doc(hidden)]
    fn into_value(self) -> Value;

    /// The room has checked the value against the schema, except for the kind of an object.
    #[doc(hidden)]
    fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode>;
}

/// One of some names: an enum with `#[derive(Choice)]`.
///
/// Clients see the names of the variants: `FireBall` is `fire-ball`.
pub trait Choice: Sized {
    /// The names, in the order of the variants.
    const NAMES: &'static [&'static str];

    #[doc(hidden)]
    fn index(&self) -> u16;

    #[doc(hidden)]
    fn from_index(index: u16) -> Option<Self>;

    /// The name of this variant.
    fn name(&self) -> &'static str {
        Self::NAMES[usize::from(self.index())]
    }
}

/// For the derive of `Kind`: a text may be this.
pub fn word(is: &str) -> Word {
    Word { is: is.to_owned(), ..Word::default() }
}

/// For the derive of `Kind`: a text may be the name of one of these choices.
pub fn words_of<C: Choice + MessageField>() -> Vec<Word> {
    let named = |(is, about): (&&str, ChoicePresentation)| Word {
        is: (*is).to_owned(),
        label: about.label,
        outcome: about.outcome,
    };
    C::NAMES.iter().zip(C::choices()).map(named).collect()
}

/// A field whose values are those of a variant of [`Value`].
macro_rules! field_of_variant {
    ($type:ty, $field_type:expr, $variant:ident) => {
        impl MessageField for $type {
            fn field_type() -> FieldType {
                $field_type
            }

            fn into_value(self) -> Value {
                Value::$variant(self)
            }

            fn from_value(value: &Value, _: Objects<'_>) -> Result<Self, ErrorCode> {
                match value {
                    Value::$variant(value) => Ok(*value),
                    _ => Err(ErrorCode::Malformed),
                }
            }
        }
    };
}

field_of_variant!(ObjectId, FieldType::Object, Object);
field_of_variant!(Position, FieldType::Position, Position);
field_of_variant!(i64, FieldType::NUMBER, Number);

/// An object of another kind is answered like one that does not exist.
impl<K: TypedKind> MessageField for Id<K> {
    fn field_type() -> FieldType {
        FieldType::Object
    }

    fn into_value(self) -> Value {
        Value::Object(self.object())
    }

    fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode> {
        let object = ObjectId::from_value(value, objects)?;
        if objects.is_of(object, K::NAME) {
            Ok(Self::new(object))
        } else {
            Err(ErrorCode::NoSuchObject)
        }
    }
}

macro_rules! narrow_number {
    ($($number:ty),*) => {$(
        impl MessageField for $number {
            fn field_type() -> FieldType {
                FieldType::Number { min: Self::MIN.into(), max: Self::MAX.into() }
            }

            fn into_value(self) -> Value {
                Value::Number(self.into())
            }

            fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode> {
                let number = i64::from_value(value, objects)?;
                Self::try_from(number).map_err(|_| ErrorCode::Malformed)
            }
        }
    )*};
}

narrow_number!(i8, i16, i32, u8, u16, u32);

impl<const MIN: i64, const MAX: i64> MessageField for Number<MIN, MAX> {
    fn field_type() -> FieldType {
        FieldType::Number { min: MIN, max: MAX }
    }

    fn into_value(self) -> Value {
        Value::Number(self.get())
    }

    fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode> {
        i64::from_value(value, objects).map(Self::new)
    }
}

macro_rules! decimal_field {
    ($($decimal:ident),*) => {$(
        impl MessageField for $decimal {
            fn field_type() -> FieldType {
                FieldType::Decimal(DecimalFormat::$decimal)
            }

            fn into_value(self) -> Value {
                Value::Decimal(self.into())
            }

            fn from_value(value: &Value, _: Objects<'_>) -> Result<Self, ErrorCode> {
                let decimal = value.as_decimal();
                decimal.and_then(|&decimal| Self::of_bits(decimal)).ok_or(ErrorCode::Malformed)
            }
        }
    )*};
}

decimal_field!(Half, Angle);

/// The choice between `no` and `yes`.
impl MessageField for bool {
    fn field_type() -> FieldType {
        FieldType::choice(["no", "yes"])
    }

    fn into_value(self) -> Value {
        Value::Choice(self.into())
    }

    fn from_value(value: &Value, _: Objects<'_>) -> Result<Self, ErrorCode> {
        value.as_choice().map(|&index| index == 1).ok_or(ErrorCode::Malformed)
    }
}

impl<const BYTES: u32> MessageField for Text<BYTES> {
    fn field_type() -> FieldType {
        FieldType::Text { max_bytes: BYTES }
    }

    fn into_value(self) -> Value {
        Value::Text(self.into_string())
    }

    fn from_value(value: &Value, _: Objects<'_>) -> Result<Self, ErrorCode> {
        value.as_text().map(|text| text.as_str().into()).ok_or(ErrorCode::Malformed)
    }
}

/// A text of at most 200 bytes.
impl MessageField for String {
    fn field_type() -> FieldType {
        Text::<MAX_TEXT_BYTES>::field_type()
    }

    fn into_value(self) -> Value {
        Text::<MAX_TEXT_BYTES>::new(self).into_value()
    }

    fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode> {
        Text::<MAX_TEXT_BYTES>::from_value(value, objects).map(Text::into_string)
    }
}

impl<F: MessageField> MessageField for Option<F> {
    const OPTIONAL: bool = true;

    fn field_type() -> FieldType {
        F::field_type()
    }

    fn into_value(self) -> Value {
        self.map_or(Value::None, F::into_value)
    }

    fn from_value(value: &Value, objects: Objects<'_>) -> Result<Self, ErrorCode> {
        match value {
            Value::None => Ok(None),
            value => F::from_value(value, objects).map(Some),
        }
    }
}
