//! Fills datagrams with what is due to one client.
//!
//! The order: what is to be forgotten, the client's own avatar, then all else from the nearest to the farthest; so a late
//! joiner gets the zone around the avatar in order of distance. What does not fit in a packet is left for the next one.
//! A component is sent as its present and future: its timeline from the packet's stamp on, or from when the object came
//! into sight if that is later, with the value at that time as the first point. So each record stands for itself, and the way by
//! which an object came, perhaps hidden, stays untold.

use ambit_proto::message::{self, Record};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Sample, Timeline};
use ambit_proto::wire::Writer;

use super::slots::{Due, What, bits};
use crate::logic::world::World;

/// The mark behind the last record of a body.
const END_BITS: usize = 1;

/// Sorts what is due: the last one is to be sent first.
pub fn order(due: &mut [Due], world: &World, viewer: Position) {
    let urgency = |due: &Due| match due.what {
        What::Leave => (0, 0.0),
        _ if due.own => (1, 0.0),
        _ => (2, world.position(due.object).ground_distance(viewer)),
    };
    due.sort_by(|a, b| {
        let ((class_a, distance_a), (class_b, distance_b)) = (urgency(a), urgency(b));
        class_b.cmp(&class_a).then(distance_b.total_cmp(&distance_a)).then(b.slot.cmp(&a.slot))
    });
}

/// The record for what is due, as it stands at `stamp`.
pub fn record(due: &Due, world: &World, stamp: GameTime) -> Record {
    let Due { alias, kind, own, at, what, .. } = *due;
    match what {
        What::Enter(mask) => Record::Enter { alias, kind, at, own, components: components(due, mask, world, stamp) },
        What::Update(mask) => Record::Update { alias, kind, at, components: components(due, mask, world, stamp) },
        What::Leave => Record::Leave { alias, at },
    }
}

/// Writes `record` if it fits in what is left of the packet's `capacity_bits` beside the end mark.
pub fn write_if_fits(
    record: &mut Record,
    schema: &Schema,
    stamp: GameTime,
    capacity_bits: usize,
    writer: &mut Writer<'_>,
) -> bool {
    if writer.bits_written() + record.bits(schema, stamp) + END_BITS > capacity_bits {
        return false;
    }
    message::write_record(record, schema, stamp, writer);
    true
}

fn components(due: &Due, mask: u16, world: &World, stamp: GameTime) -> Vec<(u8, Component)> {
    let from = stamp.max(due.since);
    bits(mask).map(|index| (index as u8, from_then_on(world.component(due.object, index as u8), from))).collect()
}

/// The component's present and future.
fn from_then_on(component: &Component, from: GameTime) -> Component {
    match component {
        Component::Path(path) => Component::Path(clip(path, from)),
        Component::Gauge(gauge) => Component::Gauge(clip(gauge, from)),
        Component::Flag(flag) => Component::Flag(clip(flag, from)),
        Component::Number(number) => Component::Number(*number),
        Component::Text(text) => Component::Text(text.clone()),
    }
}

/// The points at and behind `from`; what led there is folded into the value at `from`.
fn clip<T: Sample>(timeline: &Timeline<T>, from: GameTime) -> Timeline<T> {
    let mut clipped = Timeline::new(timeline.capacity());
    if let Some(value) = timeline.at(from) {
        clipped.insert(from, value);
    }
    for (time, value) in timeline.tail(from).filter(|&(time, _)| time > from) {
        clipped.insert(time, value.clone());
    }
    clipped
}
