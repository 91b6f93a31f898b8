//! Values of objects and of a game's events, with their names in the game's schema, and their JSON.
//!
//! In JSON a value of a component is an entry of `components`, and a field of an event stands
//! beside the event's own keys ([`field_key`]). Positions are metres, rounded to a millimetre;
//! angles are radians; times are milliseconds.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ambit_proto::counts::Counts;
use ambit_proto::decimal::Decimal;
use ambit_proto::ids::ClientObjectId;
use ambit_proto::message::{FieldValue, FormattedRows};
use ambit_proto::rows::{RowValue, Rows};
use ambit_proto::schema::FieldType;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::Gauge;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::json::{Metres, round};
use crate::replica::schema_names::ValueMeaning;

/// What the line of a game's event has beside its fields; `bots --dump` adds `client`.
const TAKEN_KEYS: [&str; 6] = ["ev", "t", "name", "effect", "late", "client"];

const NOT_ITS_CODEC: &str = "a value has the type of its component";

/// A field of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedField {
    /// The name in the game's schema.
    pub name: Arc<str>,
    /// None also for an object that is not in sight.
    pub value: FieldValue<ClientObjectId>,
    /// The name of a choice.
    pub choice: Option<Arc<str>>,
}

/// A value with its name in the game's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValue<T> {
    /// The name in the game's schema.
    pub name: Arc<str>,
    /// A component as of the time that the event states.
    pub value: T,
}

/// How many there are of each name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCounts {
    /// All names, in the order of their indices.
    pub names: Arc<[Arc<str>]>,
    /// By index.
    pub counts: Counts,
}

impl NamedCounts {
    /// The names that there are, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let named = |(index, count)| Some((&**self.names.get(usize::from(index))?, count));
        self.counts.iter().filter_map(named)
    }
}

/// The value of a component that is only borrowed; counts and rows go by indices.
pub type BorrowedValue<'a> = ComponentValue<&'a str, &'a Counts, &'a [u8], &'a Rows>;

/// The value of a component at a given time.
#[derive(Clone, Debug, PartialEq, enum_as_inner::EnumAsInner)]
pub enum ComponentValue<T = String, C = NamedCounts, B = Vec<u8>, R = FormattedRows> {
    /// The position of an object that moves along a path.
    Path {
        /// At the time of the event.
        position: Position,
        /// The last known point of the path and its time; `None` at rest.
        to: Option<(Position, GameTime)>,
    },
    /// The pose of an object that moves freely.
    Pose {
        /// At the time of the event.
        position: Position,
        /// At the time of the event.
        facing: Facing,
        /// Whether the object moves.
        moves: bool,
    },
    /// A value with a rate of change.
    Gauge(Gauge),
    /// A component declared as `Codec::Flag`.
    Flag(bool),
    /// A component declared as `Codec::Number`.
    Number(i64),
    /// A component declared as `Codec::Decimal`: a half float or an angle.
    Decimal(Decimal),
    /// A component declared as `Codec::Text`.
    Text(T),
    /// A component declared as `Codec::Counts`.
    Counts(C),
    /// A component declared as `Codec::Bytes`.
    Bytes(B),
    /// A component declared as `Codec::Rows`.
    Rows(R),
}

impl BorrowedValue<'_> {
    /// The same value with a copy of its text; `meaning` is that of its component.
    pub fn to_owned(&self, meaning: &ValueMeaning) -> ComponentValue {
        match *self {
            ComponentValue::Path { position, to } => ComponentValue::Path { position, to },
            ComponentValue::Pose { position, facing, moves } => {
                ComponentValue::Pose { position, facing, moves }
            }
            ComponentValue::Gauge(gauge) => ComponentValue::Gauge(gauge),
            ComponentValue::Flag(flag) => ComponentValue::Flag(flag),
            ComponentValue::Number(number) => ComponentValue::Number(number),
            ComponentValue::Decimal(decimal) => ComponentValue::Decimal(decimal),
            ComponentValue::Text(text) => ComponentValue::Text(text.to_owned()),
            ComponentValue::Counts(counts) => {
                let ValueMeaning::Counted(names) = meaning else { panic!("{NOT_ITS_CODEC}") };
                let names = Arc::clone(names);
                ComponentValue::Counts(NamedCounts { names, counts: counts.clone() })
            }
            ComponentValue::Bytes(bytes) => ComponentValue::Bytes(bytes.to_vec()),
            ComponentValue::Rows(rows) => {
                let ValueMeaning::Rows(format) = meaning else { panic!("{NOT_ITS_CODEC}") };
                let (format, rows) = (format.clone(), rows.clone());
                ComponentValue::Rows(FormattedRows { format, rows })
            }
        }
    }
}

/// The orientation of an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facing {
    /// Objects of this kind never turn.
    Fixed,
    /// About the vertical, in radians, counter-clockwise from the east.
    Yaw(f32),
    /// Any orientation: a unit quaternion, x, y, z, w.
    Free([f32; 4]),
}

/// The key of an event's field in the line of the event: its name. A game may call a field as it
/// likes, so a name that is taken gets `field_` in front, and so does one that begins with that.
pub fn field_key(name: &str) -> Cow<'_, str> {
    if TAKEN_KEYS.contains(&name) || name.starts_with("field_") {
        Cow::Owned(format!("field_{name}"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The fields of an event, flattened into it.
pub(super) fn fields<S: Serializer>(fields: &[NamedField], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(fields.iter().map(|field| (field_key(&field.name), field)))
}

/// Components by name, and the text `name`, if there is one: flattened into what an object says.
pub(super) fn components<S: Serializer>(
    components: &[NamedValue<ComponentValue>],
    to: S,
) -> Result<S::Ok, S::Error> {
    object_state(None, components, to)
}

/// The same, with the position of a path or a pose among them.
pub(super) fn moved_components<S: Serializer>(
    components: &[NamedValue<ComponentValue>],
    to: S,
) -> Result<S::Ok, S::Error> {
    let position = components.iter().find_map(|component| match component.value {
        ComponentValue::Path { position, .. } | ComponentValue::Pose { position, .. } => {
            Some(position)
        }
        _ => None,
    });
    object_state(position, components, to)
}

fn object_state<S: Serializer>(
    position: Option<Position>,
    components: &[NamedValue<ComponentValue>],
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct State<'c> {
        #[serde(flatten)]
        position: Option<Metres>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'c str>,
        components: BTreeMap<&'c str, &'c ComponentValue>,
    }
    let name = components.iter().rev().find_map(|component| match &component.value {
        ComponentValue::Text(text) if &*component.name == "name" => Some(&**text),
        _ => None,
    });
    let named = components.iter().map(|component| (&*component.name, &component.value));
    let components = named.collect();
    State { position: position.map(Metres::from), name, components }.serialize(to)
}

impl Serialize for NamedField {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            FieldValue::None => to.serialize_none(),
            FieldValue::Object(id) => id.serialize(to),
            FieldValue::Position(position) => Metres::from(*position).serialize(to),
            FieldValue::Number(number) => to.serialize_i64(*number),
            FieldValue::Decimal(decimal) => to.serialize_f64(decimal.rounded()),
            FieldValue::Choice(index) => match &self.choice {
                Some(name) => to.serialize_str(name),
                None => to.serialize_u16(*index),
            },
            FieldValue::Text(text) => to.serialize_str(text),
        }
    }
}

/// Bytes as a text: two hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // A text takes all that is written.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A row as an object: its values by the names of their fields, choices by name too.
pub fn rows_by_name(
    FormattedRows { format, rows }: &FormattedRows,
) -> impl Iterator<Item = BTreeMap<&str, NamedField>> {
    rows.iter().map(move |row| {
        let named = format.fields.iter().zip(row).map(|(field, value)| {
            let choice = match (value, &field.ty) {
                (RowValue::Choice(index), FieldType::Choice(names)) => {
                    names.get(usize::from(*index)).map(|name| name.as_str().into())
                }
                _ => None,
            };
            let value = value.rename_object(|_| None).unwrap_or_default();
            (&*field.name, NamedField { name: field.name.as_str().into(), value, choice })
        });
        named.collect()
    })
}

impl Serialize for ComponentValue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Destination {
            #[serde(flatten)]
            position: Metres,
            t: u64,
        }
        match self {
            ComponentValue::Path { to: end, .. } => {
                let end = end.map(|(position, time)| Destination {
                    position: position.into(),
                    t: time.millis(),
                });
                to.collect_map([("to", end)])
            }
            ComponentValue::Pose { facing, moves, .. } => {
                let mut map = to.serialize_map(None)?;
                map.serialize_entry("moves", moves)?;
                match facing {
                    Facing::Fixed => {}
                    Facing::Yaw(yaw) => map.serialize_entry("yaw", &round(*yaw))?,
                    Facing::Free(turn) => map.serialize_entry("turn", &turn.map(round))?,
                }
                map.end()
            }
            ComponentValue::Gauge(Gauge { value, rate, max, .. }) => {
                let values = [("value", value), ("rate", rate), ("max", max)];
                to.collect_map(values.map(|(name, value)| (name, round(*value))))
            }
            ComponentValue::Flag(flag) => to.serialize_bool(*flag),
            ComponentValue::Number(number) => to.serialize_i64(*number),
            ComponentValue::Decimal(decimal) => to.serialize_f64(decimal.rounded()),
            ComponentValue::Text(text) => to.serialize_str(text),
            ComponentValue::Counts(counts) => to.collect_map(counts.iter()),
            ComponentValue::Bytes(bytes) => to.serialize_str(&hexadecimal(bytes)),
            ComponentValue::Rows(rows) => to.collect_seq(rows_by_name(rows)),
        }
    }
}
