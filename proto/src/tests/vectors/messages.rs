//! Bodies and messages of a client, and messages of a server.

use std::f32::consts::FRAC_PI_2;
use std::time::Duration;

use super::json::{Json, object};
use super::test_vector::TestVector;
use super::values;
use crate::axes::{Axes, AxisKind};
use crate::decimal::DecimalFormat;
use crate::ids::Alias;
use crate::keymap::{CONTROLS, KeySample, Keymap};
use crate::message::{
    Command, FieldValue, KeyInput, LatenessReport, Notice, RefusalReason, Uplink, read_uplink,
};
use crate::schema::{FieldSpec, FieldType, Schema};
use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{Reader, Writer, decode, encode};

const NOW: GameTime = GameTime::from_millis(20_000_123);

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = uplinks();
    all.extend(commands());
    all.extend(notices());
    all
}

fn uplinks() -> Vec<TestVector> {
    let report = LatenessReport { received: 300, late: 2 };
    let none: [(u64, u32); 0] = [];
    vec![
        uplink("uplink-empty", "Three flags, padded to a byte.", Uplink::default(), 0),
        uplink(
            "uplink-report",
            "Counts of events and updates, as varints of three groups and of one.",
            Uplink { report: Some(report), ..Uplink::default() },
            0,
        ),
        input("uplink-keys", "Controls 2 and 4 are held, and nothing changed.", 0b1_0100, none),
        input(
            "uplink-change-of-one-control",
            "Control 2 went down 50 ms before the sample.",
            0b1_0000,
            [(50, 0b1_0100)],
        ),
        input(
            "uplink-change-of-several-controls",
            "Controls 2 and 4 went down at once, at the time of the sample.",
            0,
            [(0, 0b1_0100)],
        ),
        input(
            "uplink-changes",
            "Three changes, the newest first; the earlier ones are relative to the one after them, \
             less 1. The highest control takes all eight groups of the keys.",
            0,
            [(103, 0x8000_0000), (53, 0x8000_0014), (0, 0x8000_0001)],
        ),
        uplink(
            "uplink-lost-track",
            "The low bits of the number of a datagram.",
            Uplink { lost_track: Some(0x1233), ..Uplink::default() },
            0,
        ),
        uplink_with_axes(
            "uplink-axes",
            "In a game with a linear axis, an angle and another linear one: -1/2, a quarter of a \
             turn clockwise, and 1. Control 2 went down 50 ms before the sample.",
            Uplink {
                input: Some(key_input(0, [(50, 0b100)]).with_axes(Some(Axes([-64, -64, 127, 0])))),
                ..Uplink::default()
            },
            0,
            &[AxisKind::Linear, AxisKind::Angle, AxisKind::Linear],
        ),
        uplink(
            "uplink-all",
            "Everything at once.",
            Uplink {
                report: Some(report),
                input: Some(key_input(0, [(7, 1)])),
                lost_track: Some(0x1233),
            },
            0,
        ),
    ]
}

fn commands() -> Vec<TestVector> {
    let of = |number, kind, fields| Command { number, kind, fields };
    let at = FieldValue::Position(Position::new(120.25, 90.0, 0.0));
    let decimal = |format: DecimalFormat, value| FieldValue::Decimal(format.nearest(value));
    let half = decimal(DecimalFormat::Half, -1.5);
    vec![
        command("command-position", "A position on the ground.", of(8, 0, vec![at.clone()])),
        command(
            "command-without-fields",
            "No fields; the number is the highest possible.",
            of(u32::MAX, 1, Vec::new()),
        ),
        command(
            "command-choice",
            "The second name of a choice; the optional fields have no value.",
            of(9, 2, vec![FieldValue::Choice(1), FieldValue::None, FieldValue::None]),
        ),
        command(
            "command-optional-fields",
            "A choice, a position and an object: the optional fields have values.",
            of(10, 2, vec![FieldValue::Choice(0), at, object(300, 7)]),
        ),
        command(
            "command-number-and-text",
            "A number and a text, of which a letter takes two bytes.",
            of(11, 3, vec![FieldValue::Number(9), FieldValue::Text("caf\u{e9}".into())]),
        ),
        command(
            "command-angle-and-half",
            "A quarter of a turn clockwise, and -1.5 as a half float.",
            of(12, 4, vec![decimal(DecimalFormat::Angle, -FRAC_PI_2), half]),
        ),
    ]
}

fn notices() -> Vec<TestVector> {
    let at = Position::new(12.5, 100.0, -0.25);
    let refused = |command, reason| Notice::Refused { command, reason };
    vec![
        notice(
            "event-all-fields",
            "An object, a position, a number.",
            event(vec![object(3, 9), FieldValue::Position(at), FieldValue::Number(-12)]),
        ),
        notice(
            "event-unknown-object",
            "The client does not follow the object; the position is the lowest corner.",
            event(vec![
                FieldValue::None,
                FieldValue::Position(Position::new(0.0, 0.0, -64.0)),
                FieldValue::Number(0),
            ]),
        ),
        notice(
            "event-large",
            "The highest slot and epoch, the highest corner, and a number of eight groups.",
            event(vec![
                object(u16::MAX, u8::MAX),
                FieldValue::Position(Position::new(1e9, 1e9, 1e9).quantised()),
                FieldValue::Number(1 << 30),
            ]),
        ),
        notice(
            "refused",
            "The command's number and a general reason.",
            refused(7, RefusalReason::Code(64)),
        ),
        notice(
            "refused-by-the-game",
            "The command's number and a reason of the game.",
            refused(8, RefusalReason::Game(0)),
        ),
    ]
}

fn object(slot: u16, epoch: u8) -> FieldValue<Alias> {
    FieldValue::Object(Alias { slot, epoch })
}

fn event(fields: Vec<FieldValue<Alias>>) -> Notice {
    Notice::Event { kind: 0, effect: NOW + Duration::from_millis(150), fields }
}

/// An uplink with an input. `changes` has the times of the changes in milliseconds before [`NOW`],
/// the oldest first, each with the controls that were held from then on.
fn input<const N: usize>(
    name: &'static str,
    about: &'static str,
    held_before: u32,
    changes: [(u64, u32); N],
) -> TestVector {
    let input = Some(key_input(held_before, changes));
    let value = Uplink { input, ..Uplink::default() };
    uplink(name, about, value, held_before)
}

fn key_input<const N: usize>(held_before: u32, changes: [(u64, u32); N]) -> KeyInput {
    if N == 0 {
        return KeyInput::new(Keymap(held_before), NOW);
    }
    let samples = changes.map(|(before_ms, keys)| {
        KeySample::new(NOW.saturating_sub(Duration::from_millis(before_ms)), Keymap(keys))
    });
    KeyInput::with_changes(NOW, Keymap(held_before), samples)
}

fn uplink(name: &'static str, about: &'static str, value: Uplink, held_before: u32) -> TestVector {
    uplink_with_axes(name, about, value, held_before, &[])
}

fn uplink_with_axes(
    name: &'static str,
    about: &'static str,
    mut value: Uplink,
    held_before: u32,
    axes: &[AxisKind],
) -> TestVector {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    value.wire_with_axes(axes.len(), &mut writer).expect("writing cannot fail");
    writer.finish();
    let read = read_uplink(Reader::new(&bytes), axes.len());
    let read = read.expect("the encoding is valid").expect("there is a body");
    assert_eq!(read, value, "{name}");
    let report = read.report.map(|report| object! { received: report.received, late: report.late });
    let input = read.input.map(|input| input_value(&input, held_before, axes));
    let kinds = axes.iter().map(|kind| match kind {
        AxisKind::Linear => Json::from("linear"),
        AxisKind::Angle => Json::from("angle"),
        AxisKind::ShownBehind => Json::from("shown-behind"),
    });
    TestVector {
        name,
        about,
        context: object! {
            from: "client",
            part: "body",
            now: values::time(NOW),
            axes: kinds.collect::<Json>(),
        },
        bytes,
        value: object! { report: report, input: input, lost_track: read.lost_track },
    }
}

/// The changes with the times that they mean, and with what is on the wire.
fn input_value(input: &KeyInput, held_before: u32, axes: &[AxisKind]) -> Json {
    let samples: Vec<KeySample> = input.samples(NOW).collect();
    let (newest, changes) = samples.split_last().expect("the current sample");
    let mut before = Vec::new();
    let mut held = held_before;
    for change in changes {
        let toggled = Keymap(held ^ change.keys.0);
        before.push((change.at, (0..CONTROLS).filter(move |control| toggled.down(*control))));
        held = change.keys.0;
    }
    let mut later = newest.at;
    let mut less = 0;
    let changes = before.into_iter().rev().map(|(at, controls)| {
        let before = later.since(at).as_millis() as u64 - less;
        (later, less) = (at, 1);
        object! { before: before, controls: controls.collect::<Json>(), time: values::time(at) }
    });
    let steps = input.axes.unwrap_or_default().0;
    let values = axes.iter().zip(steps).map(|(kind, step)| Json::from(kind.value_of(step)));
    object! {
        at: input.at_low_bits,
        time: values::time(newest.at),
        keys: input.keys.0,
        axes: values.collect::<Json>(),
        changes: changes.collect::<Json>(),
    }
}

fn command(name: &'static str, about: &'static str, mut value: Command) -> TestVector {
    let bytes = encode(&mut value);
    let read: Command = decode(&bytes).expect("the encoding is valid");
    assert_eq!(read, value, "{name}");
    let schema = Schema::example_with_poses();
    let kind = schema.command(read.kind).expect("the kind exists");
    assert!(FieldValue::all_fit(&read.fields, &kind.fields), "{name}");
    let command = object! {
        kind: read.kind,
        name: kind.name.as_str(),
        newest_only: kind.newest_only,
        fields: field_types(&kind.fields),
    };
    let value = object! {
        number: read.number,
        kind: read.kind,
        fields: field_values(&read.fields),
    };
    TestVector {
        name,
        about,
        context: object! { from: "client", part: "message", command: command },
        bytes,
        value,
    }
}

fn notice(name: &'static str, about: &'static str, mut value: Notice) -> TestVector {
    let schema = Schema::example();
    let bytes = value.encode(&schema, NOW);
    let read = Notice::decode(&bytes, &schema, NOW).expect("the encoding is valid");
    assert_eq!(read, value, "{name}");
    let events = schema
        .events
        .iter()
        .map(|event| object! { name: event.name.as_str(), fields: field_types(&event.fields) });
    let refusals = schema.refusals.iter().map(|refusal| Json::from(refusal.name.as_str()));
    let value = match read {
        Notice::Event { kind, effect, fields } => object! {
            notice: "Event",
            kind: kind,
            effect: values::time(effect),
            fields: field_values(&fields),
        },
        Notice::Refused { command, reason } => match reason {
            RefusalReason::Code(code) => {
                object! { notice: "Refused", command: command, code: code }
            }
            RefusalReason::Game(index) => {
                object! { notice: "Refused", command: command, reason: index }
            }
        },
    };
    TestVector {
        name,
        about,
        context: object! {
            from: "server",
            part: "message",
            now: values::time(NOW),
            events: events.collect::<Json>(),
            refusals: refusals.collect::<Json>(),
        },
        bytes,
        value,
    }
}

fn field_types(fields: &[FieldSpec]) -> Json {
    let json = fields.iter().map(|field| {
        let ty = match field.ty {
            FieldType::Object => "object",
            FieldType::Position => "position",
            FieldType::Number { .. } => "number",
            FieldType::Choice(_) => "choice",
            FieldType::Text { .. } => "text",
            FieldType::Decimal(DecimalFormat::Half) => "half",
            FieldType::Decimal(DecimalFormat::Angle) => "angle",
        };
        object! { name: field.name.as_str(), field: ty, optional: field.optional }
    });
    json.collect()
}

fn field_values(fields: &[FieldValue<Alias>]) -> Json {
    let json = fields.iter().map(|field| match field {
        FieldValue::None => object! { field: "none" },
        FieldValue::Object(alias) => object! { field: "object", alias: values::alias(*alias) },
        FieldValue::Position(Position { x, y, z }) => {
            object! { field: "position", x: *x, y: *y, z: *z }
        }
        FieldValue::Number(number) => object! { field: "number", number: *number },
        FieldValue::Choice(index) => object! { field: "choice", index: *index },
        FieldValue::Text(text) => object! { field: "text", text: text.as_str() },
        FieldValue::Decimal(decimal) => match decimal.format() {
            DecimalFormat::Half => object! { field: "half", half: decimal.value() },
            DecimalFormat::Angle => object! { field: "angle", angle: decimal.value() },
        },
    });
    json.collect()
}
