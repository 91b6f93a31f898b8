//! Kinds of a schema and records, as JSON.

use crate::decimal::DecimalFormat;
use crate::message::{EffectTime, Record};
use crate::rows::RowValue;
use crate::schema::{
    Codec, Component, ComponentAudience, FieldSpec, FieldType, ObjectKind, RowFormat, Schema,
};
use crate::space::Position;
use crate::tests::vectors::json::{Json, object};
use crate::tests::vectors::test_vector::hex;
use crate::tests::vectors::values;
use crate::timeline::{Gauge, Waypoint};

pub(super) fn kind_value(index: u8, kind: &ObjectKind) -> Json {
    let components = kind.components.iter().map(|spec| {
        let audience = match spec.audience {
            ComponentAudience::Public => "all",
            ComponentAudience::Owner => "owner",
            ComponentAudience::Team => "team",
            ComponentAudience::Server => "server",
        };
        object! { name: spec.name.as_str(), audience: audience, codec: codec_value(&spec.codec) }
    });
    object! { index: index, name: kind.name.as_str(), components: components.collect::<Json>() }
}

fn codec_value(codec: &Codec) -> Json {
    match codec {
        Codec::Path => object! { codec: "Path" },
        Codec::Gauge { max } => object! { codec: "Gauge", max: *max },
        Codec::Flag => object! { codec: "Flag" },
        Codec::Number { min, max } => object! { codec: "Number", min: *min, max: *max },
        Codec::Decimal(DecimalFormat::Half) => object! { codec: "Half" },
        Codec::Decimal(DecimalFormat::Angle) => object! { codec: "Angle" },
        Codec::Text { max_bytes } => object! { codec: "Text", max_bytes: *max_bytes },
        Codec::Counts(of) => object! {
            codec: "Counts", command: of.command, field: of.field, names: of.names, max: of.max
        },
        Codec::Bytes { max_bytes } => object! { codec: "Bytes", max_bytes: *max_bytes },
        Codec::Rows(RowFormat { fields, max, .. }) => object! {
            codec: "Rows", fields: fields.iter().map(field_value).collect::<Json>(), max: *max
        },
        Codec::Pose(format) => object! { codec: "Pose", format: values::pose_format(format) },
    }
}

/// A field of a row, with what its bits depend on.
fn field_value(field: &FieldSpec) -> Json {
    let (name, optional) = (field.name.as_str(), field.optional);
    match &field.ty {
        FieldType::Object => panic!("a row has no objects"),
        FieldType::Position => object! { name: name, field: "position", optional: optional },
        FieldType::Number { min, max } => {
            object! { name: name, field: "number", min: *min, max: *max, optional: optional }
        }
        FieldType::Choice(names) => {
            object! { name: name, field: "choice", names: names.len(), optional: optional }
        }
        FieldType::Text { max_bytes } => {
            object! { name: name, field: "text", max_bytes: *max_bytes, optional: optional }
        }
        FieldType::Decimal(DecimalFormat::Half) => {
            object! { name: name, field: "half", optional: optional }
        }
        FieldType::Decimal(DecimalFormat::Angle) => {
            object! { name: name, field: "angle", optional: optional }
        }
    }
}

/// Of a choice its index; null if there is no value.
fn row_value(value: &RowValue) -> Json {
    match value {
        RowValue::None | RowValue::Object(_) => Json::Null,
        RowValue::Position(Position { x, y, z }) => [*x, *y, *z].into(),
        RowValue::Number(number) => (*number).into(),
        RowValue::Choice(index) => (*index).into(),
        RowValue::Text(text) => text.as_str().into(),
        RowValue::Decimal(decimal) => decimal.value().into(),
    }
}

pub(super) fn record_value(schema: &Schema, record: &Record) -> Json {
    let parts = |kind: &u8, components: &[(u8, Component)]| {
        let kind = schema.kind(*kind).expect("a kind of the schema");
        let part = |(index, component): &(u8, Component)| component_value(kind, *index, component);
        components.iter().map(part).collect::<Json>()
    };
    match record {
        Record::Enter { alias, kind, at, own, components } => object! {
            record: "Enter",
            alias: values::alias(*alias),
            kind: *kind,
            at: values::time(*at),
            own: *own,
            components: parts(kind, components),
        },
        Record::Update { alias, kind, at, components } => object! {
            record: "Update",
            alias: values::alias(*alias),
            kind: *kind,
            at: values::time(*at),
            components: parts(kind, components),
        },
        Record::Leave { alias, at } => {
            object! { record: "Leave", alias: values::alias(*alias), at: values::time(*at) }
        }
        Record::InputEffects(effects) => {
            let effect = |effect: &EffectTime| {
                object! {
                    at: values::time(effect.sampled_until),
                    effect: values::time(effect.takes_effect_at),
                }
            };
            let effects = effects.iter().map(effect);
            object! { record: "InputEffects", effects: effects.collect::<Json>() }
        }
    }
}

fn component_value(kind: &ObjectKind, index: u8, component: &Component) -> Json {
    let spec = kind.component(index).expect("a component of the kind");
    let value = match component {
        Component::Path(path) => path
            .points()
            .map(|(time, point)| {
                if point.is_as_known() {
                    return object! { time: values::time(time), as_known: true };
                }
                let Waypoint { position, jump } = point;
                let Position { x, y, z } = *position;
                object! { time: values::time(time), x: x, y: y, z: z, jump: *jump }
            })
            .collect(),
        Component::Gauge(gauge) => gauge
            .points()
            .map(|(time, Gauge { value, rate, .. })| {
                object! { time: values::time(time), value: *value, rate: *rate }
            })
            .collect(),
        Component::Flag(flag) => flag
            .points()
            .map(|(time, value)| object! { time: values::time(time), value: value.0 })
            .collect(),
        Component::Number(number) => (*number).into(),
        Component::Decimal(decimal) => decimal.value().into(),
        Component::Text(text) => text.as_str().into(),
        Component::Counts(counts) => {
            counts.iter().map(|(index, count)| object! { index: index, count: count }).collect()
        }
        Component::Bytes(bytes) => hex(bytes).into(),
        Component::Rows(rows) => {
            let row = |row: &[RowValue]| row.iter().map(row_value).collect::<Json>();
            rows.iter().map(row).collect()
        }
        Component::Pose(pose) => {
            let Codec::Pose(format) = &spec.codec else { panic!("a pose has a format") };
            values::pose(format, pose)
        }
    };
    object! { index: index, name: spec.name.as_str(), value: value }
}
