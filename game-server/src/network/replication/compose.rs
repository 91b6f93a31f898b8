//! Writes what is due to one client as records.
//!
//! The order: what is to be forgotten, the client's own avatar, then all else from the nearest to
//! the farthest; so a late joiner gets the zone around the avatar in order of distance. What does
//! not fit in a packet is skipped for the next that does, and left for the next packet. A component
//! is sent as its present and future: its timeline from the packet's stamp on, or from when the
//! object came into sight if that is later, with the value at that time as the first point. So each
//! record stands for itself, and the way by which an object came, perhaps hidden, stays untold.

use ambit_proto::message::{Head, Parts, RecordWriter};
use ambit_proto::space::Position;
use ambit_proto::wire::{Coder, Measure, Writer};

use super::records::{Bits, RecordCache, Told};
use super::slots::{Due, What};
use crate::logic::world::World;

/// The mark behind the last record of a body, and the padding to a whole byte.
pub const END_BITS: usize = 8;
/// Records that don't fit before nobody looks for shorter ones any more.
const MISSES: usize = 8;

/// What records are written from, and where they end.
pub struct Composer<'c> {
    /// The room's state.
    pub world: &'c World,
    /// The words.
    pub records: RecordWriter<'c>,
    /// How many bits may be written when the last record ends.
    pub most_bits: usize,
}

/// Sorts what is due: the last one is to be sent first.
pub fn order(due: &mut [Due], world: &World, viewer: Position) {
    let urgency = |due: &Due| match due.what {
        What::Leave => (0, 0.0),
        _ if due.own => (1, 0.0),
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

impl Composer<'_> {
    /// Writes the last ones of `due`, as far as they fit; those are taken off the list and told to
    /// `sent`.
    pub fn write(
        &self,
        cache: &mut RecordCache,
        due: &mut Vec<Due>,
        skipped: &mut Vec<Due>,
        writer: &mut Writer<'_>,
        mut sent: impl FnMut(&Due),
    ) {
        skipped.clear();
        while skipped.len() < MISSES
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

    fn write_if_fits(&self, due: &Due, cache: &mut RecordCache, writer: &mut Writer<'_>) -> bool {
        let parts = match due.what {
            What::Enter(mask) | What::Update(mask) => Some(self.parts(due, mask, cache)),
            What::Leave => None,
        };
        let mut measure = Measure::new();
        self.head(due, &mut measure);
        let bits = measure.bits() + parts.map_or(0, |parts| parts.len);
        if writer.bits_written() + bits > self.most_bits {
            return false;
        }
        self.head(due, writer);
        if let Some(parts) = parts {
            cache.copy(parts, writer);
        }
        true
    }

    /// What differs from client to client.
    fn head(&self, due: &Due, coder: &mut impl Coder) {
        let Due {
            alias,
            kind,
            own,
            at,
            ..
        } = *due;
        let head = Head {
            alias,
            kind,
            at,
            own,
        };
        match due.what {
            What::Enter(_) => self.records.enter_head(&head, coder),
            What::Update(_) => self.records.update_head(&head, coder),
            What::Leave => self.records.leave(alias, at, coder),
        }
    }

    /// What is the same for all that may know as much.
    fn parts(&self, due: &Due, mask: u16, cache: &mut RecordCache) -> Bits {
        let told = Told {
            object: due.object,
            mask,
            from: self.records.stamp.max(due.since),
        };
        cache.bits(told, |writer| {
            let parts = Parts {
                all: self.world.components(told.object),
                mask,
                from: told.from,
            };
            self.records.parts(due.kind, &parts, writer);
        })
    }
}
