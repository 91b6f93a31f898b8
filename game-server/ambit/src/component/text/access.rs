//! Reading and editing a text in a room.

use ambit_proto::schema::{Codec, Component};

use super::Text;
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// Edits a [`Text`].
pub struct TextMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
}

impl TextMut<'_> {
    /// The text.
    pub fn get(&self) -> &str {
        self.object.world.text(self.object.id, self.index)
    }

    /// Replaces it; a longer text than the component holds is cut.
    pub fn set(&mut self, text: &str) {
        let ObjectMut { world, id } = &mut self.object;
        world.set_text(*id, self.index, text);
    }
}

pub(in crate::component) type Ref<'w> = &'w str;
pub(in crate::component) type Mut<'w> = TextMut<'w>;

pub(in crate::component) fn initial<const BYTES: u32>(
    text: Text<BYTES>,
    spawn: &Spawn<'_>,
    index: u8,
) -> Component {
    let mut text = text.0;
    if let Some(Codec::Text { max_bytes }) = spawn.codec(index) {
        text.truncate(text.floor_char_boundary(max_bytes as usize));
    }
    Component::Text(text)
}

pub(in crate::component) fn reader(object: ObjectRef<'_>, index: u8) -> &str {
    object.world.text(object.id, index)
}

pub(in crate::component) fn editor(object: ObjectMut<'_>, index: u8) -> TextMut<'_> {
    TextMut { object, index }
}
