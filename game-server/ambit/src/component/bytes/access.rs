//! Reading and editing bytes in a room.

use ambit_proto::schema::{Codec, Component};

use super::Bytes;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Edits [`Bytes`].
pub struct BytesMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
}

impl BytesMut<'_> {
    /// The bytes.
    pub fn get(&self) -> &[u8] {
        self.object.world.bytes(self.object.id, self.index)
    }

    /// Replaces them; more than the component holds are cut.
    pub fn set(&mut self, bytes: &[u8]) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_bytes(*id, self.index, bytes);
    }
}

pub(in crate::component) type Ref<'w> = &'w [u8];
pub(in crate::component) type Mut<'w> = BytesMut<'w>;

pub(in crate::component) fn initial<const MAX: u32>(
    bytes: Bytes<MAX>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    let mut bytes = bytes.0;
    if let Some(Codec::Bytes { max_bytes }) = spawn.codec(index) {
        bytes.truncate(max_bytes as usize);
    }
    Component::Bytes(bytes)
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> &[u8] {
    object.world.bytes(object.id, index)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> BytesMut<'_> {
    BytesMut { object, index }
}
