//! Reading and editing a number in a room.

use ambit_proto::schema::{Codec, Component};

use super::Number;
use crate::object::{ObjectMut, ObjectRef, Spawn};

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

pub(in crate::component) type Ref<'w> = i64;
pub(in crate::component) type Mut<'w> = NumberMut<'w>;

pub(in crate::component) fn initial<const MIN: i64, const MAX: i64>(
    number: Number<MIN, MAX>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    Component::Number(match spawn.codec(index) {
        Some(Codec::Number { min, max }) => number.0.clamp(min, max),
        _ => number.0,
    })
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> i64 {
    object.world.number(object.id, index)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> NumberMut<'_> {
    NumberMut { object, index }
}
