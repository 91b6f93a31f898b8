//! Components of objects, encoded once a tick for all clients that get the same.
//!
//! (Object, mask, time) goes in; bits come out that are copied into the record of each client. Only
//! the head of a record, with the client's own alias for the object, is written for each client.
//! The mask holds the components that a client may know, so only clients of the same audience share
//! bits: what only a team or the owner may know never gets into bits that others share.
//!
//! Invariant: the bits depend on (object, mask, time) at this tick only. Cost: a look-up; where the
//! bits are new, encoding the components once. Nothing is allocated once the buffers have grown.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Writer;

use crate::network::interest::IdHasher;

/// Equal keys have equal bits at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ComponentsKey {
    /// The object that the components belong to.
    pub object: ObjectId,
    /// The components, as a mask.
    pub mask: u16,
    /// From when on. Neither the past is sent, nor what was before the client may know of the
    /// object.
    pub from: GameTime,
    /// Whether the client knows where a path is then.
    pub is_known: bool,
    /// Whether a path has just jumped.
    pub has_jumped: bool,
    /// Up to when the path is sent; `None` for the whole path, as of the own avatar.
    pub path_until: Option<GameTime>,
}

/// The position of encoded bits in the cache, valid for this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedBits {
    start: usize,
    /// Number of bits.
    pub len: usize,
}

/// The encoded components of this tick; see the module.
#[derive(Debug, Default)]
pub struct RecordCache {
    /// Each entry begins at a whole byte.
    bytes: Vec<u8>,
    entries: HashMap<ComponentsKey, EncodedBits, BuildHasherDefault<IdHasher>>,
    encoded: u64,
    lookups: u64,
}

impl RecordCache {
    /// Clears the cache for another tick.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// The bits of these components; `encode` writes them if they are not in the cache.
    pub fn get_or_encode(
        &mut self,
        key: ComponentsKey,
        encode: impl FnOnce(&mut Writer<'_>),
    ) -> EncodedBits {
        self.lookups += 1;
        *self.entries.entry(key).or_insert_with(|| {
            self.encoded += 1;
            let start = self.bytes.len();
            let mut writer = Writer::new(&mut self.bytes);
            encode(&mut writer);
            EncodedBits { start, len: writer.bits_written() }
        })
    }

    /// Appends the bits to `writer`.
    pub fn copy_to(&self, bits: EncodedBits, writer: &mut Writer<'_>) {
        writer.append(&self.bytes[bits.start..], bits.len);
    }

    /// How many entries were encoded, and how many look-ups there were, since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.encoded), std::mem::take(&mut self.lookups))
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::wire::Coder;

    use super::*;

    #[test]
    fn equal_content_is_encoded_once_and_different_content_separately() {
        let mut cache = RecordCache::default();
        let mut out = Vec::new();
        for tick in 0..3 {
            cache.clear();
            for (mask, value) in [(1, 5), (3, 9), (1, 5), (3, 9), (1, 5)] {
                let key = ComponentsKey {
                    object: ObjectId(7),
                    mask,
                    from: GameTime::from_millis(tick),
                    is_known: false,
                    has_jumped: false,
                    path_until: None,
                };
                let bits = cache.get_or_encode(key, |writer| {
                    writer.bits(&mut { value }, 11).expect("writing cannot fail");
                });
                assert_eq!(bits.len, 11);
                out.clear();
                let mut writer = Writer::new(&mut out);
                cache.copy_to(bits, &mut writer);
                writer.finish();
                assert_eq!(out, [value as u8, 0]);
            }
            assert_eq!(cache.take_counts(), (2, 5));
        }
    }
}
