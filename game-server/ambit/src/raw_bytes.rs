//! Bytes that mean something to the game alone.

use ambit_proto::message::FrameValue;
#[cfg(feature = "rules")]
use ambit_proto::schema::Component;
use ambit_proto::schema::{Codec, MAX_BYTES};

use crate::component::Attribute;
#[cfg(feature = "rules")]
use crate::object::{ObjectMut, ObjectRef, Spawn};

/// At most `MAX` bytes (1 to 1,024); more are cut. They have no history, and a change sends all of
/// them. What clients should show belongs into components of other types.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes<const MAX: u32>(Vec<u8>);

impl<const MAX: u32> Bytes<MAX> {
    /// These bytes, cut to `MAX`.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        let mut bytes = bytes.into();
        bytes.truncate(MAX as usize);
        Self(bytes)
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl<const MAX: u32> From<&[u8]> for Bytes<MAX> {
    fn from(bytes: &[u8]) -> Self {
        Self::new(&bytes[..bytes.len().min(MAX as usize)])
    }
}

impl<const MAX: u32> From<Vec<u8>> for Bytes<MAX> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

impl<const MAX: u32> Attribute for Bytes<MAX> {
    type Shown<'f> = &'f [u8];

    fn codec() -> Codec {
        const { assert!(MAX >= 1 && MAX <= MAX_BYTES, "a `Bytes<MAX>` has 1 to 1,024 bytes") };
        Codec::Bytes { max_bytes: MAX }
    }

    fn shown(value: FrameValue<'_>) -> Option<&[u8]> {
        value.as_bytes().copied()
    }

    with_rules! {
        type Ref<'w> = &'w [u8];
        type Mut<'w> = BytesMut<'w>;

        fn initial(self, spawn: &Spawn<'_>, index: u8) -> Component {
            let mut bytes = self.0;
            if let Some(Codec::Bytes { max_bytes }) = spawn.codec(index) {
                bytes.truncate(max_bytes as usize);
            }
            Component::Bytes(bytes)
        }

        fn reader(object: ObjectRef<'_>, index: u8) -> &[u8] {
            object.world.bytes(object.id, index)
        }

        fn editor(object: ObjectMut<'_>, index: u8) -> BytesMut<'_> {
            BytesMut { object, index }
        }
    }
}

/// Edits [`Bytes`].
#[cfg(feature = "rules")]
pub struct BytesMut<'w> {
    object: ObjectMut<'w>,
    index: u8,
}

#[cfg(feature = "rules")]
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
