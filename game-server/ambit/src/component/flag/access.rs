//! Reading and editing a flag in a room.

use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;

use super::Flag;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Reads a [`Flag`].
#[derive(Clone, Copy)]
pub struct FlagRef<'w> {
    object: ObjectRef<'w>,
    index: u8,
}

impl FlagRef<'_> {
    /// Whether it is on now.
    pub fn is_on(&self) -> bool {
        self.object.world.flag(self.object.id, self.index)
    }

    /// Whether it is on at another time, as far as known; the last second is stored.
    pub fn at(&self, time: GameTime) -> bool {
        self.object.world.flag_at(self.object.id, self.index, time)
    }
}

/// Edits a [`Flag`]: from now on, or from the time that [`effective`](FlagMut::effective) gives.
pub struct FlagMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
    from: GameTime,
}

impl FlagMut<'_> {
    /// Edits take effect at this time: later, or since the last tick.
    #[must_use]
    pub fn effective(self, from: GameTime) -> Self {
        let from = self.object.earliest(from);
        Self { from, ..self }
    }

    /// Whether it is on, when edits take effect.
    pub fn is_on(&self) -> bool {
        let world = &self.object.world;
        world.flag_at(self.object.id, self.index, self.from)
    }

    /// Switches it on or off.
    pub fn set(&mut self, is_on: bool) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_flag(*id, self.index, self.from, is_on);
    }
}

pub(in crate::component) type Ref<'w> = FlagRef<'w>;
pub(in crate::component) type Mut<'w> = FlagMut<'w>;

pub(in crate::component) fn initial(flag: Flag, spawn: &Spawn<'_>, _: u8) -> Component {
    Component::flag(spawn.now(), flag.0)
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> FlagRef<'_> {
    FlagRef { object, index }
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> FlagMut<'_> {
    let from = object.world.now();
    FlagMut { object, index, from }
}
