//! Writes what is due to one client as records.
//!
//! The order: `Leave`s, the client's own avatar, then all else from the nearest to the farthest,
//! and what has no place last; so a late joiner gets the zone around its avatar in order of
//! distance. A record that does not fit into a packet is skipped for the next one that does, and
//! left for the next packet.
//!
//! A component is sent as its present and future: its timeline from the packet's stamp on, or from
//! when the object came into sight if that is later, with the value at that time as the first
//! point. So each record is complete in itself, and the path on which an object came, perhaps
//! hidden, is not revealed. A client that has acknowledged the one before gets a timeline from its
//! first change on. Where a path goes is not revealed either: it is sent for [`PATH_TOLD_AHEAD`]
//! beyond the horizon, and whole only to the player whose avatar it moves.

use std::time::Duration;

use ambit_proto::message::{ComponentSelection, RecordHead, RecordWriter};
use ambit_proto::schema::{Component, SentPart};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::wire::{Coder, Measure, Writer};

use super::object_slots::{DueRecord, RecordContent};
use super::records::{ComponentsKey, EncodedBits, RecordCache};
use crate::logic::world::{PATH_TOLD_AHEAD, World};

/// The mark behind the last record of a body, and the padding to a whole byte, in bits.
pub const END_BITS: usize = 8;
/// For this time a path that is sent again says that it jumped: its update may be lost.
const JUMP_TOLD_FOR: Duration = Duration::from_secs(1);
/// After this number of records that do not fit, the search for shorter ones ends.
const MAX_MISSES: usize = 8;

/// The source of the records, and their limit.
pub struct RecordComposer<'c> {
    pub world: &'c World,
    /// Encodes the parts of a record.
    pub record_writer: RecordWriter<'c>,
    /// Position in the datagram where the last record has to end, in bits.
    pub max_bits: usize,
}

/// Sorts what is due: the most urgent record comes last.
pub fn sort_by_urgency(due: &mut [DueRecord], world: &World, viewer: Position) {
    let urgency = |due: &DueRecord| match due.content {
        // A `Leave` is final: what it is to come after goes before it.
        RecordContent::LastPath => (0, 0.0),
        RecordContent::Leave => (1, 0.0),
        _ if world.is_kind_room_wide(due.kind) => (4, 0.0),
        _ if due.is_own => (2, 0.0),
        _ => (3, world.position(due.object).ground_distance(viewer)),
    };
    due.sort_unstable_by(|a, b| {
        let ((class_a, distance_a), (class_b, distance_b)) = (urgency(a), urgency(b));
        class_b.cmp(&class_a).then(distance_b.total_cmp(&distance_a)).then(b.slot.cmp(&a.slot))
    });
}

impl RecordComposer<'_> {
    /// Writes the records from the end of `due` that fit, removes them from `due` and reports each
    /// to `sent`, with its length in bits.
    pub fn write(
        &self,
        cache: &mut RecordCache,
        due: &mut Vec<DueRecord>,
        skipped: &mut Vec<DueRecord>,
        writer: &mut Writer<'_>,
        mut sent: impl FnMut(&DueRecord, usize),
    ) {
        skipped.clear();
        while skipped.len() < MAX_MISSES
            && let Some(next) = due.pop()
        {
            let before = writer.bits_written();
            if self.write_if_fits(&next, cache, writer) {
                sent(&next, writer.bits_written() - before);
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
            RecordContent::Enter(mask) | RecordContent::Update(mask) => {
                Some(self.encode_components(due, mask, cache))
            }
            RecordContent::LastPath => Some(self.encode_components(due, 1, cache)),
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

    /// Writes the part of a record that differs between clients.
    fn write_head(&self, due: &DueRecord, coder: &mut impl Coder) {
        let head =
            RecordHead { alias: due.alias, kind: due.kind, at: due.effective_at, own: due.is_own };
        match due.content {
            RecordContent::Enter(_) => self.record_writer.write_enter_head(&head, coder),
            RecordContent::Update(_) | RecordContent::LastPath => {
                self.record_writer.write_update_head(&head, coder);
            }
            RecordContent::Leave => self.record_writer.write_leave(head.alias, head.at, coder),
        }
    }

    /// The part of a record that is the same for all clients of the same audience.
    fn encode_components(
        &self,
        due: &DueRecord,
        mask: u16,
        cache: &mut RecordCache,
    ) -> EncodedBits {
        let least = self.record_writer.stamp.max(due.visible_since);
        let from = least.max(due.as_before);
        let is_known = due.as_before >= least;
        let key = ComponentsKey {
            object: due.object,
            mask,
            from,
            is_known,
            has_jumped: !is_known && mask & 1 != 0 && self.has_jumped(due, from),
            path_until: match () {
                // What holds from the `Leave` on shows in nothing that is sent.
                () if due.content == RecordContent::LastPath => Some(due.path_until),
                () if due.is_own => None,
                () => Some(self.world.now() + PATH_TOLD_AHEAD),
            },
        };
        cache.get_or_encode(key, |writer| {
            let parts = ComponentSelection {
                all: self.world.components(key.object),
                mask,
                part: SentPart {
                    from: key.from,
                    is_known: key.is_known,
                    has_jumped: key.has_jumped,
                    path_until: key.path_until,
                },
            };
            self.record_writer.write_components(due.kind, &parts, writer);
        })
    }

    /// Whether the path of an object has jumped shortly before `from`, in sight of the client.
    fn has_jumped(&self, due: &DueRecord, from: GameTime) -> bool {
        let Some(Component::Path(path)) = self.world.components(due.object).first() else {
            return false;
        };
        let since = due.visible_since.max(from.saturating_sub(JUMP_TOLD_FOR));
        let mut points = path.points();
        points.any(|(time, point)| point.jump && since < time && time <= from)
    }
}
