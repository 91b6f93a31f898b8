//! A frame as plain arrays in the memory of the module, from where JavaScript copies them.
//!
//! A [`Frame`] goes in. [`FrameBuffers::layout`] says where the arrays are:
//!
//! | index | contents |
//! | --- | --- |
//! | 0 | number of objects |
//! | 1 | number of room-wide objects: they follow the others in all arrays |
//! | 2 | index of the player's avatar, or `0xffff_ffff` |
//! | 3 | number of values |
//! | 4 | address of the values: [`VALUE_FLOATS`] `f64` for each component of an object |
//! | 5 | address of the transforms: [`TRANSFORM_FLOATS`] `f32` an object |
//! | 6 | address of the ages: one `f32` an object, in milliseconds; NaN if unknown |
//! | 7 | address of the ids: one `u32` an object, ascending |
//! | 8 | address of the kinds: one `u32` an object, the index in the schema |
//! | 9 | address of the flags: one `u32` an object, [`FLAG_OWN`] and [`FLAG_MOVES`] |
//! | 10 | address of the starts: one `u32` an object, the index of its first value |
//!
//! A transform is the position (x, y, z), the rotation (a unit quaternion x, y, z, w), the velocity
//! and the angular velocity (x, y, z each). A value is that of a gauge (value, rate, max), 0 or 1
//! for a flag, a number, or the number of a text ([`TextTable`]); counts are a text, too: JSON
//! pairs of an index and a count. It is NaN if it is not known, or is the position. The ids of
//! room-wide objects ascend by themselves; their transforms and ages mean nothing.
//!
//! Invariant: the arrays have the announced size, whatever the frame shows. Cost: proportional to
//! what is in sight; nothing is allocated unless the arrays have to grow.

use ambit_client_core::frame::{Frame, FrameEntry, FrameObject, FrameValue};

use crate::text_table::TextTable;

/// Floats of a transform.
pub(crate) const TRANSFORM_FLOATS: usize = 13;
/// Floats of a value.
pub(crate) const VALUE_FLOATS: usize = 3;
/// The player's avatar, or a row of the player.
pub(crate) const FLAG_OWN: u32 = 1;
/// It moves.
pub(crate) const FLAG_MOVES: u32 = 2;

/// Numbers of the layout.
const LAYOUT_NUMBERS: usize = 11;
/// Stands for no object.
const NONE: u32 = u32::MAX;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct FrameBuffers {
    layout: Box<[u32; LAYOUT_NUMBERS]>,
    count: usize,
    room_wide: usize,
    values_used: usize,
    avatar: u32,
    ids: Vec<u32>,
    kinds: Vec<u32>,
    flags: Vec<u32>,
    starts: Vec<u32>,
    transforms: Vec<f32>,
    values: Vec<f64>,
    ages: Vec<f32>,
    pub(crate) texts: TextTable,
}

impl FrameBuffers {
    /// Copies `frame`.
    pub(crate) fn fill(&mut self, frame: &Frame) {
        self.texts.begin_frame();
        (self.count, self.values_used, self.avatar) = (0, 0, NONE);
        self.room_wide = frame.room_wide().len();
        self.reserve(frame.objects().len() + self.room_wide);
        for object in frame.objects() {
            self.push(object);
        }
        for (at, entry) in (self.count..).zip(frame.room_wide()) {
            self.push_entry(at, entry, false);
        }
        self.write_layout();
    }

    /// The table of the module's header. It never moves.
    pub(crate) fn layout(&self) -> &[u32; LAYOUT_NUMBERS] {
        &self.layout
    }

    fn push(&mut self, object: FrameObject<'_>) {
        let at = self.count;
        self.push_entry(at, *object, object.moves());
        if object.is_own() {
            self.avatar = at as u32;
        }
        let age = object.age().map(|age| age.as_secs_f32() * 1_000.0);
        self.ages[at] = age.unwrap_or(f32::NAN);
        let transform = object.transform();
        let position = transform.position;
        let floats = [position.x, position.y, position.z]
            .into_iter()
            .chain(transform.rotation)
            .chain(transform.velocity)
            .chain(transform.angular_velocity);
        let from = at * TRANSFORM_FLOATS;
        for (slot, float) in self.transforms[from..].iter_mut().zip(floats) {
            *slot = float;
        }
        self.count += 1;
    }

    fn push_entry(&mut self, at: usize, entry: FrameEntry<'_>, moves: bool) {
        self.ids[at] = entry.id().0;
        self.kinds[at] = entry.kind_index().into();
        self.flags[at] = flags(entry.is_own(), moves);
        self.starts[at] = self.values_used as u32;
        for index in 0..entry.declared().components.len() {
            let floats = value(entry.component(index), &mut self.texts);
            self.push_value(floats);
        }
    }

    fn push_value(&mut self, floats: [f64; VALUE_FLOATS]) {
        let from = self.values_used * VALUE_FLOATS;
        let to = from + VALUE_FLOATS;
        if self.values.len() < to {
            self.values.resize(2 * to.max(32), f64::NAN);
        }
        self.values[from..to].copy_from_slice(&floats);
        self.values_used += 1;
    }

    fn reserve(&mut self, count: usize) {
        if self.ids.len() >= count && !self.ids.is_empty() {
            return;
        }
        let room = count.next_power_of_two().max(64);
        for numbers in [&mut self.ids, &mut self.kinds, &mut self.flags, &mut self.starts] {
            numbers.resize(room, 0);
        }
        self.transforms.resize(room * TRANSFORM_FLOATS, 0.0);
        self.ages.resize(room, f32::NAN);
    }

    fn write_layout(&mut self) {
        let numbers = [&self.ids, &self.kinds, &self.flags, &self.starts];
        let [ids, kinds, flags, starts] = numbers.map(|numbers| numbers.as_ptr().addr() as u32);
        *self.layout = [
            self.count as u32,
            self.room_wide as u32,
            self.avatar,
            self.values_used as u32,
            self.values.as_ptr().addr() as u32,
            self.transforms.as_ptr().addr() as u32,
            self.ages.as_ptr().addr() as u32,
            ids,
            kinds,
            flags,
            starts,
        ];
    }
}

fn flags(own: bool, moves: bool) -> u32 {
    let own = if own { FLAG_OWN } else { 0 };
    own | if moves { FLAG_MOVES } else { 0 }
}

fn value(value: Option<FrameValue<'_>>, texts: &mut TextTable) -> [f64; VALUE_FLOATS] {
    let one = |value| [value, f64::NAN, f64::NAN];
    match value {
        Some(FrameValue::Gauge(gauge)) => [gauge.value, gauge.rate, gauge.max].map(f64::from),
        Some(FrameValue::Flag(flag)) => one(f64::from(u8::from(flag))),
        Some(FrameValue::Number(number)) => one(number as f64),
        Some(FrameValue::Decimal(decimal)) => one(decimal.value().into()),
        Some(FrameValue::Text(text)) => one(texts.number(text).into()),
        Some(FrameValue::Counts(counts)) => {
            // Pairs of an index and a count; they change seldom.
            let pairs: Vec<_> = counts.iter().map(|(name, count)| [name.into(), count]).collect();
            one(texts.number(&serde_json::json!(pairs).to_string()).into())
        }
        None => one(f64::NAN),
    }
}

/// The arrays that JavaScript finds by their addresses.
#[cfg(test)]
pub(crate) struct FrameArrays<'b> {
    pub(crate) ids: &'b [u32],
    pub(crate) kinds: &'b [u32],
    pub(crate) flags: &'b [u32],
    pub(crate) starts: &'b [u32],
    pub(crate) transforms: &'b [f32],
    pub(crate) values: &'b [f64],
    pub(crate) ages: &'b [f32],
}

#[cfg(test)]
impl FrameBuffers {
    pub(crate) fn arrays(&self) -> FrameArrays<'_> {
        FrameArrays {
            ids: &self.ids,
            kinds: &self.kinds,
            flags: &self.flags,
            starts: &self.starts,
            transforms: &self.transforms,
            values: &self.values,
            ages: &self.ages,
        }
    }
}
