//! Reading and editing a half or an angle in a room.

use ambit_proto::decimal::Decimal;
use ambit_proto::schema::Component;

use crate::component::access::finite;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Edits a [`Half`](super::Half) or an [`Angle`](super::Angle).
pub struct DecimalMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
}

impl DecimalMut<'_> {
    /// The value: of an angle the radians, from -pi on, up to pi.
    pub fn get(&self) -> f32 {
        self.object.world.decimal(self.object.id, self.index)
    }

    /// Sets it, rounded to the nearest value. A number beyond the range of a half counts as its
    /// end, and an angle may have any number of turns. If it is not finite, this changes nothing.
    pub fn set(&mut self, value: f32) {
        if let Some(value) = finite(&self.object, value, "decimal") {
            let ObjectMut { world, id } = &mut self.object;
            world.set_decimal(*id, self.index, value);
        }
    }

    /// Adds to it. The sum is rounded, so what is less than half a step is lost.
    pub fn add(&mut self, amount: f32) {
        self.set(self.get() + amount);
    }
}

pub(in crate::component) type Ref<'w> = f32;
pub(in crate::component) type Mut<'w> = DecimalMut<'w>;

pub(in crate::component) fn initial(value: impl Into<Decimal>, _: &Spawn<'_>, _: u8) -> Component {
    Component::Decimal(value.into())
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> f32 {
    object.world.decimal(object.id, index)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> DecimalMut<'_> {
    DecimalMut { object, index }
}
