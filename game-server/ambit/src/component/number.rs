//! A whole number within a range.

use ambit_proto::message::FrameValue;
use ambit_proto::schema::{Codec, Component};

use super::Attribute;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// A whole number from `MIN` to `MAX`, both included. It has no history: clients see the newest.
/// The narrower the range, the fewer bits it takes. `0.into()` is one, limited to the range. Also
/// the type of a field of a command or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Number<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Number<MIN, MAX> {
    /// A number, limited to the range.
    pub const fn new(number: i64) -> Self {
        const { assert!(MIN <= MAX, "the range of a `Number<MIN, MAX>` is empty") };
        Self(if number < MIN {
            MIN
        } else if number > MAX {
            MAX
        } else {
            number
        })
    }

    /// The number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

/// Zero, or the end of the range that is nearest to it.
impl<const MIN: i64, const MAX: i64> Default for Number<MIN, MAX> {
    fn default() -> Self {
        Self::new(0)
    }
}

impl<const MIN: i64, const MAX: i64> From<i64> for Number<MIN, MAX> {
    fn from(number: i64) -> Self {
        Self::new(number)
    }
}

impl<const MIN: i64, const MAX: i64> From<Number<MIN, MAX>> for i64 {
    fn from(number: Number<MIN, MAX>) -> Self {
        number.0
    }
}

/// Edits a [`Number`].
pub struct NumberMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
}

impl NumberMut<'_> {
    /// The number.
    pub fn get(&self) -> i64 {
        self.object.world.number(self.object.id, self.index)
    }

    /// Sets it, limited to its range.
    pub fn set(&mut self, number: i64) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_number(*id, self.index, number);
    }

    /// Adds to it, within its range: it ends there, and does not overflow.
    pub fn add(&mut self, amount: i64) {
        self.set(self.get().saturating_add(amount));
    }
}

impl<const MIN: i64, const MAX: i64> Attribute for Number<MIN, MAX> {
    type Ref<'w> = i64;
    type Mut<'w> = NumberMut<'w>;
    type Shown<'f> = i64;

    fn codec() -> Codec {
        Codec::Number { min: MIN, max: MAX }
    }

    fn shown(value: FrameValue<'_>) -> Option<i64> {
        match value {
            FrameValue::Number(number) => Some(number),
            _ => None,
        }
    }

    fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
        Component::Number(match spawn.codec(index) {
            Some(Codec::Number { min, max }) => self.0.clamp(min, max),
            _ => self.0,
        })
    }

    fn reader(object: ObjectRef<'_>, index: u8) -> i64 {
        object.world.number(object.id, index)
    }

    fn editor(object: ObjectMut<'_>, index: u8) -> NumberMut<'_> {
        NumberMut { object, index }
    }
}
