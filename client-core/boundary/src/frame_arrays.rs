//! A frame as two plain arrays, which another language reads where they are.
//!
//! A [`Frame`] goes in; [`FrameArrays::objects`] and [`FrameArrays::values`] come out, to be read
//! until the next frame. The objects in sight come first, then the room-wide ones, both by
//! ascending ids. The fields of a row have fixed sizes and no gaps.
//!
//! Cost: proportional to what is in sight; nothing is allocated unless the arrays have to grow.

use ambit_client_core::client::event::hexadecimal;
use ambit_client_core::frame::{Frame, FrameEntry, FrameObject, FrameValue};
use ambit_proto::message::FormattedRows;
use ambit_proto::rows::RowValue;
use ambit_proto::space::Position;
use serde_json::{Value as Json, json};

use crate::text_table::TextTable;

/// A flag: the player's avatar, or a row of the player.
pub const FLAG_OWN: u32 = 1;
/// A flag: it moves.
pub const FLAG_MOVES: u32 = 2;

/// An object. Of a room-wide one, transform, velocities and age mean nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ObjectRow {
    /// x to the east, y to the north, z up, in metres.
    pub position: [f32; 3],
    /// A unit quaternion: x, y, z, w.
    pub rotation: [f32; 4],
    /// In metres a second; zero if the game does not send it.
    pub velocity: [f32; 3],
    /// About the axes of the world, in radians a second; zero if the game does not send it.
    pub angular_velocity: [f32; 3],
    /// How old the newest data about it is, in milliseconds; NaN if unknown.
    pub age_ms: f32,
    /// The client's number of it, never reused.
    pub id: u32,
    /// The index of its kind in the schema.
    pub kind: u32,
    /// [`FLAG_OWN`] and [`FLAG_MOVES`].
    pub flags: u32,
    /// The index of the value of its first component; the others follow.
    pub first_value: u32,
}

/// The value of a component.
///
/// That of a gauge, 0 or 1 for a flag, a number (exact to 2^53), or the number of a text
/// ([`TextTable`]); counts are a text, too: JSON pairs of an index and a count. So are rows, each a
/// JSON list of its values (of a choice the index, of a position x, y and z), and bytes, as
/// hexadecimal digits. NaN if it is not known, or if it is the object's place.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueRow {
    /// The value.
    pub value: f64,
    /// How fast a gauge changes, a second; otherwise NaN.
    pub rate: f64,
    /// The maximum of a gauge; otherwise NaN.
    pub max: f64,
}

/// See the module.
#[derive(Debug, Default)]
pub struct FrameArrays {
    objects: Vec<ObjectRow>,
    values: Vec<ValueRow>,
    in_sight: usize,
    avatar: Option<usize>,
    texts: TextTable,
}

impl FrameArrays {
    /// Copies `frame`.
    pub fn fill(&mut self, frame: &Frame) {
        self.texts.begin_frame();
        self.objects.clear();
        self.values.clear();
        self.avatar = None;
        for object in frame.objects() {
            self.push(object);
        }
        self.in_sight = self.objects.len();
        for entry in frame.room_wide() {
            // A rotation that an engine takes.
            let rotation = [0.0, 0.0, 0.0, 1.0];
            let flags = own_flag(entry);
            self.push_entry(entry, ObjectRow { rotation, flags, ..ObjectRow::default() });
        }
    }

    /// The objects: those in sight, then the room-wide ones.
    pub fn objects(&self) -> &[ObjectRow] {
        &self.objects
    }

    /// The values of their components, by [`ObjectRow::first_value`].
    pub fn values(&self) -> &[ValueRow] {
        &self.values
    }

    /// How many of the objects are in sight.
    pub fn in_sight(&self) -> usize {
        self.in_sight
    }

    /// The index of the player's avatar.
    pub fn avatar(&self) -> Option<usize> {
        self.avatar
    }

    /// The texts of values, by their numbers.
    pub fn texts(&self) -> &TextTable {
        &self.texts
    }

    fn push(&mut self, object: FrameObject<'_>) {
        if object.is_own() {
            self.avatar = Some(self.objects.len());
        }
        let transform = object.transform();
        let moves = if object.moves() { FLAG_MOVES } else { 0 };
        let row = ObjectRow {
            position: [transform.position.x, transform.position.y, transform.position.z],
            rotation: transform.rotation,
            velocity: transform.velocity,
            angular_velocity: transform.angular_velocity,
            age_ms: object.age().map_or(f32::NAN, |age| age.as_secs_f32() * 1_000.0),
            flags: own_flag(*object) | moves,
            ..ObjectRow::default()
        };
        self.push_entry(*object, row);
    }

    fn push_entry(&mut self, entry: FrameEntry<'_>, row: ObjectRow) {
        self.objects.push(ObjectRow {
            id: entry.id().0,
            kind: entry.kind_index().into(),
            first_value: self.values.len() as u32,
            ..row
        });
        for index in 0..entry.declared().components.len() {
            self.values.push(value(entry.component(index), &mut self.texts));
        }
    }
}

/// Of a choice its index, of a position `[x, y, z]`; null if there is no value.
fn row_value(value: &RowValue) -> Json {
    match value {
        RowValue::None | RowValue::Object(_) => Json::Null,
        RowValue::Position(Position { x, y, z }) => json!([x, y, z]),
        RowValue::Number(number) => json!(number),
        RowValue::Choice(index) => json!(index),
        RowValue::Text(text) => json!(text),
        RowValue::Decimal(decimal) => json!(decimal.rounded()),
    }
}

fn own_flag(entry: FrameEntry<'_>) -> u32 {
    if entry.is_own() { FLAG_OWN } else { 0 }
}

fn value(value: Option<FrameValue<'_>>, texts: &mut TextTable) -> ValueRow {
    let value = match value {
        Some(FrameValue::Gauge(gauge)) => {
            let [value, rate, max] = [gauge.value, gauge.rate, gauge.max].map(f64::from);
            return ValueRow { value, rate, max };
        }
        Some(FrameValue::Flag(flag)) => f64::from(u8::from(flag)),
        Some(FrameValue::Number(number)) => number as f64,
        Some(FrameValue::Decimal(decimal)) => decimal.value().into(),
        Some(FrameValue::Text(text)) => texts.number(text).into(),
        Some(FrameValue::Counts(counts)) => {
            // Pairs of an index and a count; they change seldom.
            let pairs: Vec<_> = counts.iter().map(|(name, count)| [name.into(), count]).collect();
            texts.number(&json!(pairs).to_string()).into()
        }
        Some(FrameValue::Bytes(bytes)) => texts.number(&hexadecimal(bytes)).into(),
        Some(FrameValue::Rows(FormattedRows { rows, .. })) => {
            let rows: Vec<Vec<Json>> =
                rows.iter().map(|row| row.iter().map(row_value).collect()).collect();
            texts.number(&json!(rows).to_string()).into()
        }
        None => f64::NAN,
    };
    ValueRow { value, rate: f64::NAN, max: f64::NAN }
}
