//! Writes what is due to one client as records.
//!
//! The order: what is to be forgotten, the client's own avatar, then all else from the nearest to
//! the farthest; so a late joiner gets the zone around the avatar in order of distance. What does
//! not fit in a packet is skipped for the next that does, and left for the next packet. A component
//! is sent as its present and future: its timeline from the packet's stamp on, or from when the
//! object came into sight if that is later, with the value at that time as the first point. So each
//! record stands for itself, and the way by which an object came, perhaps hidden, stays untold.

use ambit_proto::message::{ComponentSelection, RecordHead, RecordWriter};
use ambit_proto::space::Position;
use ambit_proto::wire::{Coder, Measure, Writer};

use super::object_slots::{DueRecord, RecordContent};
use super::records::{ComponentsKey, EncodedBits, RecordCache};
use crate::logic::world::World;

/// The mark behind the last record of a body, and the padding to a whole byte.
pub const END_BITS: usize = 8;
/// WrittenRecords that don't fit before nobody looks for shorter ones any more.
const MAX_MISSES: usize = 8;

/// What records are written from, and where they end.
pub struct RecordComposer<'c> {
    /// The room's state.
    pub world: &'c World,
    /// The words.
    pub record_writer: RecordWriter<'c>,
    /// How many bits may be written when the last record ends.
    pub max_bits: usize,
}

/// Sorts what is due: the last one is to be sent first.
pub fn sort_by_urgency(due: &mut [DueRecord], world: &World, viewer: Position) {
    let urgency = |due: &DueRecord| match due.content {
        RecordContent::Leave => (0, 0.0),
        _ if due.is_own => (1, 0.0),
        _ => (2, world.position(due.object).ground_distance(viewer)),
    };
    due.sort_unstable_by(|a, b| {
        let ((class_a, distance_a), (class_b, distance_b)) = (urgency(a), urgency(b));
        class_b
            .cmp(&class_a)
            .then(distance_b.total_cmp(&distance_a))
            .then(b.slot.cmp(&a.slot))
    });
}

impl RecordComposer<'_> {
    /// Writes the last ones of `due`, as far as they fit; those are taken off the list and told to
    /// `sent`.
    pub fn write(
        &self,
        cache: &mut RecordCache,
        due: &mut Vec<DueRecord>,
        skipped: &mut Vec<DueRecord>,
        writer: &mut Writer<'_>,
        mut sent: impl FnMut(&DueRecord),
    ) {
        skipped.clear();
        while skipped.len() < MAX_MISSES
            && let Some(next) = due.pop()
        {
            if self.write_if_fits(&next, cache, writer) {
                sent(&next);
            } else {
                skipped.push(next);
            }
        }
        while let Some(next) = skipped.pop() {
            due.push(next);
        }
    }

    fn write_if_fits(
        &self,
        due: &DueRecord,
        cache: &mut RecordCache,
        writer: &mut Writer<'_>,
    ) -> bool {
        let parts = match due.content {
            RecordContent::ObjectEntered(mask) | RecordContent::ObjectUpdated(mask) => {
                Some(self.encode_components(due, mask, cache))
            }
            RecordContent::Leave => None,
        };
        let mut measure = Measure::new();
        self.write_head(due, &mut measure);
        let bits = measure.bits() + parts.map_or(0, |parts| parts.len);
        if writer.bits_written() + bits > self.max_bits {
            return false;
        }
        self.write_head(due, writer);
        if let Some(parts) = parts {
            cache.copy_to(parts, writer);
        }
        true
    }

    /// What differs from client to client.
    fn write_head(&self, due: &DueRecord, coder: &mut impl Coder) {
        let DueRecord {
            alias,
            kind,
            is_own: own,
            effective_at: at,
            ..
        } = *due;
        let head = RecordHead {
            alias,
            kind,
            at,
            own,
        };
        match due.content {
            RecordContent::ObjectEntered(_) => self.record_writer.write_enter_head(&head, coder),
            RecordContent::ObjectUpdated(_) => self.record_writer.write_update_head(&head, coder),
            RecordContent::Leave => self.record_writer.write_leave(alias, at, coder),
        }
    }

    /// What is the same for all that may know as much.
    fn encode_components(
        &self,
        due: &DueRecord,
        mask: u16,
        cache: &mut RecordCache,
    ) -> EncodedBits {
        let told = ComponentsKey {
            object: due.object,
            mask,
            from: self.record_writer.stamp.max(due.visible_since),
        };
        cache.get_or_encode(told, |writer| {
            let parts = ComponentSelection {
                all: self.world.components(told.object),
                mask,
                from: told.from,
            };
            self.record_writer
                .write_components(due.kind, &parts, writer);
        })
    }
}
