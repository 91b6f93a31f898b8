//! Bodies and messages of a client, and messages of a server.

use std::time::Duration;

use super::json::{Json, object};
use super::test_vector::{TestVector, hex};
use super::values;
use crate::ids::Alias;
use crate::keymap::{CONTROLS, KeySample, Keymap};
use crate::message::{
    Action, Command, EventValue, KeyInput, LatenessReport, Notice, Uplink, read_uplink,
};
use crate::schema::{FieldType, Schema};
use crate::space::Position;
use crate::time::GameTime;
use crate::wire::{Reader, decode, encode};

const NOW: GameTime = GameTime::from_millis(20_000_123);

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = uplinks();
    all.extend(commands());
    all.extend(notices());
    all
}

fn uplinks() -> Vec<TestVector> {
    let report = LatenessReport {
        received: 300,
        late: 2,
    };
    let none: [(u64, u32); 0] = [];
    vec![
        uplink(
            "uplink-empty",
            "Three flags, padded to a byte.",
            Uplink::default(),
            0,
        ),
        uplink(
            "uplink-report",
            "Counts of events and updates, as varints of three groups and of one.",
            Uplink {
                report: Some(report),
                ..Uplink::default()
            },
            0,
        ),
        input(
            "uplink-keys",
            "Controls 2 and 4 are held, and nothing changed.",
            0b1_0100,
            none,
        ),
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
            Uplink {
                lost_track: Some(0x1233),
                ..Uplink::default()
            },
            0,
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
    let of = |number, action| Command { number, action };
    vec![
        command(
            "command-move",
            "Floats are sent unchanged: they need not be on a grid, nor on the map.",
            of(8, Action::Move { x: 12.5, y: -3.0 }),
        ),
        command(
            "command-cast",
            "A spell without a target.",
            of(9, Action::Cast { spell: 1, at: None }),
        ),
        command(
            "command-cast-at",
            "A spell with a target.",
            of(
                10,
                Action::Cast {
                    spell: 0,
                    at: Some((120.25, 90.0)),
                },
            ),
        ),
        command(
            "command-custom",
            "Bytes that the game defines; the number is the highest possible.",
            of(u32::MAX, Action::Custom(vec![0, 1, 0xfe, 0xff])),
        ),
        command(
            "command-custom-empty",
            "No bytes.",
            of(0, Action::Custom(Vec::new())),
        ),
    ]
}

fn notices() -> Vec<TestVector> {
    let at = Position::new(12.5, 100.0, -0.25);
    let object = |slot, epoch| EventValue::Object(Some(Alias { slot, epoch }));
    vec![
        notice(
            "event-all-fields",
            "A field of each type: an object, a position, a number.",
            event(vec![
                object(3, 9),
                EventValue::Position(at),
                EventValue::Number(-12),
            ]),
        ),
        notice(
            "event-unknown-object",
            "The client does not follow the object; the position is the lowest corner.",
            event(vec![
                EventValue::Object(None),
                EventValue::Position(Position::new(0.0, 0.0, -64.0)),
                EventValue::Number(0),
            ]),
        ),
        notice(
            "event-large",
            "The highest slot and epoch, the highest corner, and a number of eight groups.",
            event(vec![
                object(u16::MAX, u8::MAX),
                EventValue::Position(Position::new(1e9, 1e9, 1e9).quantised()),
                EventValue::Number(1 << 30),
            ]),
        ),
        notice(
            "refused",
            "The command's number and the reason.",
            Notice::Refused {
                command: 7,
                code: 64,
            },
        ),
    ]
}

fn event(fields: Vec<EventValue>) -> Notice {
    Notice::Event {
        kind: 0,
        effect: NOW + Duration::from_millis(150),
        fields,
    }
}

/// An uplink with an input whose controls changed so many milliseconds before [`NOW`], the oldest
/// change first; with each the controls that were held from then on.
fn input<const N: usize>(
    name: &'static str,
    about: &'static str,
    held_before: u32,
    changes: [(u64, u32); N],
) -> TestVector {
    let input = Some(key_input(held_before, changes));
    let value = Uplink {
        input,
        ..Uplink::default()
    };
    uplink(name, about, value, held_before)
}

fn key_input<const N: usize>(held_before: u32, changes: [(u64, u32); N]) -> KeyInput {
    if N == 0 {
        return KeyInput::new(Keymap(held_before), NOW);
    }
    let samples = changes.map(|(before_ms, keys)| KeySample {
        at: NOW.saturating_sub(Duration::from_millis(before_ms)),
        keys: Keymap(keys),
    });
    KeyInput::with_changes(NOW, Keymap(held_before), samples)
}

fn uplink(
    name: &'static str,
    about: &'static str,
    mut value: Uplink,
    held_before: u32,
) -> TestVector {
    let bytes = encode(&mut value);
    let read = read_uplink(Reader::new(&bytes))
        .expect("the encoding is valid")
        .expect("there is a body");
    assert_eq!(read, value, "{name}");
    let report = read
        .report
        .map(|report| object! { received: report.received, late: report.late });
    let input = read.input.map(|input| input_value(&input, held_before));
    TestVector {
        name,
        about,
        context: object! { from: "client", part: "body", now: values::time(NOW) },
        bytes,
        value: object! { report: report, input: input, lost_track: read.lost_track },
    }
}

/// The changes with the times that they mean, and with what is on the wire.
fn input_value(input: &KeyInput, held_before: u32) -> Json {
    let samples: Vec<KeySample> = input.samples(NOW).collect();
    let (newest, changes) = samples.split_last().expect("the current sample");
    let (mut before, mut held) = (Vec::new(), held_before);
    for change in changes {
        let toggled = Keymap(held ^ change.keys.0);
        before.push((
            change.at,
            (0..CONTROLS).filter(move |control| toggled.down(*control)),
        ));
        held = change.keys.0;
    }
    let (mut later, mut less) = (newest.at, 0);
    let changes = before.into_iter().rev().map(|(at, controls)| {
        let before = later.since(at).as_millis() as u64 - less;
        (later, less) = (at, 1);
        object! { before: before, controls: controls.collect::<Json>(), time: values::time(at) }
    });
    object! {
        at: input.at_low_bits,
        time: values::time(newest.at),
        keys: input.keys.0,
        changes: changes.collect::<Json>(),
    }
}

fn command(name: &'static str, about: &'static str, mut value: Command) -> TestVector {
    let bytes = encode(&mut value);
    let read: Command = decode(&bytes).expect("the encoding is valid");
    assert_eq!(read, value, "{name}");
    let value = match &read.action {
        Action::Move { x, y } => object! { number: read.number, action: "Move", x: *x, y: *y },
        Action::Cast { spell, at } => object! {
            number: read.number,
            action: "Cast",
            spell: *spell,
            target: at.map(|(x, y)| object! { x: x, y: y }),
        },
        Action::Custom(bytes) => {
            object! { number: read.number, action: "Custom", bytes: hex(bytes) }
        }
    };
    TestVector {
        name,
        about,
        context: object! { from: "client", part: "message" },
        bytes,
        value,
    }
}

fn notice(name: &'static str, about: &'static str, mut value: Notice) -> TestVector {
    let schema = Schema::example();
    let bytes = encode(&mut value);
    let read: Notice = decode(&bytes).expect("the encoding is valid");
    assert_eq!(read, value, "{name}");
    assert!(read.fits(&schema), "{name}");
    let events = schema.events.iter().map(|event| {
        let fields = event.fields.iter().map(|field| {
            let ty = match field.ty {
                FieldType::Object => "object",
                FieldType::Position => "position",
                FieldType::Number { .. } => "number",
                FieldType::Choice(_) => "choice",
                FieldType::Text { .. } => "text",
            };
            object! { name: field.name.as_str(), field: ty }
        });
        object! { name: event.name.as_str(), fields: fields.collect::<Json>() }
    });
    let value = match read {
        Notice::Event {
            kind,
            effect,
            fields,
        } => object! {
            notice: "Event",
            kind: kind,
            effect: values::time(effect),
            fields: fields.iter().map(field_value).collect::<Json>(),
        },
        Notice::Refused { command, code } => {
            object! { notice: "Refused", command: command, code: code }
        }
    };
    TestVector {
        name,
        about,
        context: object! { from: "server", part: "message", events: events.collect::<Json>() },
        bytes,
        value,
    }
}

fn field_value(field: &EventValue) -> Json {
    match *field {
        EventValue::Object(alias) => object! { field: "object", alias: alias.map(values::alias) },
        EventValue::Position(Position { x, y, z }) => {
            object! { field: "position", x: x, y: y, z: z }
        }
        EventValue::Number(number) => object! { field: "number", number: number },
    }
}
