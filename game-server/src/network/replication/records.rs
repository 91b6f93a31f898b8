//! Components of objects, encoded once a tick for all clients that are told the same.
//!
//! (Object, mask, time) goes in, bits come out that are copied into each client's records; only a
//! record's head, with the client's own name for the object, is written anew. The mask holds what a
//! client may know, so whoever shares bits is of the same audience: what only a team or the owner
//! may know never gets into bits that others share.
//!
//! Invariant: the bits depend on (object, mask, time) at this tick and on nothing else. Cost: a
//! look-up; where the bits are new, the components, once. Nothing is allocated once the buffers
//! have grown.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use ambit_proto::ids::ObjectId;
use ambit_proto::time::GameTime;
use ambit_proto::wire::Writer;

use crate::network::interest::IdHasher;

/// What bits are the same for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ComponentsKey {
    /// Whose components.
    pub object: ObjectId,
    /// Which of them.
    pub mask: u16,
    /// From when on: the past is not told, nor what was before the client may know of the object.
    pub from: GameTime,
}

/// Where bits lie, for this tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedBits {
    start: usize,
    /// How many there are.
    pub len: usize,
}

/// See the module.
#[derive(Debug, Default)]
pub struct RecordCache {
    /// Each entry begins with a whole byte.
    bytes: Vec<u8>,
    entries: HashMap<ComponentsKey, EncodedBits, BuildHasherDefault<IdHasher>>,
    encoded: u64,
    lookups: u64,
}

impl RecordCache {
    /// Another tick: components are others.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    /// The bits of these components; `encode` writes them if nobody asked before.
    pub fn get_or_encode(
        &mut self,
        told: ComponentsKey,
        encode: impl FnOnce(&mut Writer<'_>),
    ) -> EncodedBits {
        self.lookups += 1;
        *self.entries.entry(told).or_insert_with(|| {
            self.encoded += 1;
            let start = self.bytes.len();
            let mut writer = Writer::new(&mut self.bytes);
            encode(&mut writer);
            EncodedBits {
                start,
                len: writer.bits_written(),
            }
        })
    }

    /// Copies bits behind what is written.
    pub fn copy_to(&self, bits: EncodedBits, writer: &mut Writer<'_>) {
        writer.append(&self.bytes[bits.start..], bits.len);
    }

    /// How many were encoded, and how often one was used, since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        (
            std::mem::take(&mut self.encoded),
            std::mem::take(&mut self.lookups),
        )
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
                let told = ComponentsKey {
                    object: ObjectId(7),
                    mask,
                    from: GameTime::from_millis(tick),
                };
                let bits = cache.get_or_encode(told, |writer| {
                    writer
                        .bits(&mut { value }, 11)
                        .expect("a writer refuses nothing")
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
