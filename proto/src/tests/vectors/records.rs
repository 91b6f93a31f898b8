//! Bodies of a server: each record, and a component of each codec.

mod record_values;

use std::time::Duration;

use self::record_values::{kind_value, record_value};
use super::json::{Json, object};
use super::test_vector::{TestVector, hex};
use super::values;
use crate::counts::Counts;
use crate::decimal::Decimal;
use crate::examples::messages::context;
use crate::ids::Alias;
use crate::message::{DatagramBody, EffectTime, Record, read_body, write_poses};
use crate::pose::{Motion, MotionFormat, Pose, PoseFormat, Turning};
use crate::rows::{RowValue, Rows};
use crate::schema::{
    Codec, Component, ComponentSpec, CountedChoice, ObjectKind, Schema, TIMELINE_CAPACITY,
};
use crate::space::Position;
use crate::time::GameTime;
use crate::timeline::{Gauge, StepValue, Timeline, Waypoint};
use crate::wire::{Reader, WRITE_CANNOT_FAIL, Writer};

/// More than 24 bits of milliseconds.
const STAMP: GameTime = GameTime::from_millis(20_000_000);
const HORIZON: GameTime = GameTime::from_millis(20_000_150);
/// What a client estimates when the datagram arrives.
const NOW: GameTime = GameTime::from_millis(20_000_040);

const AVATAR: u8 = 0;
const STONE: u8 = 1;
const WALKER: u8 = 2;
const CUBE: u8 = 3;
const BALL: u8 = 4;
const VANE: u8 = 5;
const CHEST: u8 = 6;
const CRATE: u8 = 7;
const SCORE: u8 = 8;
const PACK: u8 = 9;

const ALIAS: Alias = Alias { slot: 1, epoch: 2 };

pub(super) fn vectors() -> Vec<TestVector> {
    let mut all = bodies();
    all.extend(objects());
    all.extend(components());
    all.extend(lists());
    all.extend(poses());
    all.extend(effects());
    all
}

fn bodies() -> Vec<TestVector> {
    let early = GameTime::from_millis(10_000);
    let at = early + Duration::from_millis(150);
    let path = Component::at_rest(at, Position::on_ground(5.0, 6.0));
    let two = vec![
        Record::Leave { alias: ALIAS, at: HORIZON },
        update(AVATAR, vec![(4, Component::Number(50))]),
    ];
    let wrapped = GameTime::from_millis((1 << 24) + 20);
    vec![
        body(
            "documented-example",
            "The example of the format's page: a stone enters.",
            early,
            early,
            vec![enter(STONE, at, false, vec![(0, path)])],
            &[],
        ),
        body(
            "no-records",
            "A body of a stamp and the end of the records.",
            STAMP,
            NOW,
            Vec::new(),
            &[],
        ),
        body(
            "stamp-after-the-bits-wrapped",
            "The stamp's bits are 20: of all moments with these bits, the one nearest to now.",
            wrapped,
            GameTime::from_millis((1 << 24) - 5),
            Vec::new(),
            &[],
        ),
        body("two-records", "One after the other.", STAMP, NOW, two, &[]),
        body(
            "records-and-poses",
            "A pose section begins at the next whole byte after the records, and is the rest.",
            STAMP,
            NOW,
            vec![Record::Leave { alias: ALIAS, at: HORIZON }],
            &[0x82, 0x80, 0x12],
        ),
    ]
}

fn objects() -> Vec<TestVector> {
    let at_rest = || Component::at_rest(STAMP, Position::new(10.0, 20.5, 0.25));
    let avatar = |mana: bool| {
        let mut all = vec![
            (0, at_rest()),
            (1, Component::gauge(STAMP, 62.5, 2.0, 100.0)),
            (2, Component::gauge(STAMP, 3.0, 0.0, 62.5)),
            (3, Component::flag(STAMP, false)),
            (4, Component::Number(99)),
            (5, Component::Text("ann".into())),
        ];
        all.retain(|(index, _)| mana || *index != 2);
        all
    };
    let late = STAMP.saturating_sub(Duration::from_millis(200));
    let name = |name: &str| Component::Text(name.to_owned());
    vec![
        record(
            "enter-own-avatar",
            "All components, those for the owner included.",
            enter(AVATAR, HORIZON, true, avatar(true)),
        ),
        record(
            "enter-avatar-of-another-player",
            "The same without the component for the owner, whose bit in the mask is 0.",
            enter(AVATAR, HORIZON, false, avatar(false)),
        ),
        record(
            "enter-with-a-part",
            "The first part of an object; the rest follows in updates. It entered earlier.",
            enter(AVATAR, late, false, vec![(0, at_rest())]),
        ),
        record(
            "enter-room-wide",
            "A kind without path or pose: no place, and a number from its first component on.",
            enter(SCORE, HORIZON, true, vec![(0, Component::Number(7)), (1, name("ann"))]),
        ),
        record(
            "enter-without-components",
            "Not even a path: the mask is 0.",
            enter(STONE, HORIZON, false, Vec::new()),
        ),
        record(
            "update",
            "Two components; the time is after the horizon.",
            Record::Update {
                alias: Alias { slot: 16, epoch: 255 },
                kind: AVATAR,
                at: HORIZON + Duration::from_millis(8),
                components: vec![(3, Component::flag(HORIZON, true)), (4, Component::Number(1))],
            },
        ),
        record(
            "leave",
            "The highest slot, of four groups.",
            Record::Leave { alias: Alias { slot: u16::MAX, epoch: 0 }, at: HORIZON },
        ),
        record(
            "leave-earlier",
            "One millisecond before the horizon: the signed number -1.",
            Record::Leave {
                alias: Alias { slot: 0, epoch: 7 },
                at: HORIZON.saturating_sub(Duration::from_millis(1)),
            },
        ),
    ]
}

fn components() -> Vec<TestVector> {
    let after = |millis| STAMP + Duration::from_millis(millis);
    let mut path = Timeline::new(TIMELINE_CAPACITY);
    for (millis, point) in [
        (0, Waypoint::walk(Position::on_ground(10.0, 20.5))),
        (150, Waypoint::walk(Position::new(11.0, 21.5, -0.25))),
        (151, Waypoint::walk(Position::new(11.0, 21.5, 0.0))),
        (3_150, Waypoint::jump(Position::on_ground(80.0, 3.0))),
    ] {
        path.insert(after(millis), point);
    }
    let mut onward = Timeline::starting_with(TIMELINE_CAPACITY, HORIZON, Waypoint::AS_KNOWN);
    onward.insert(after(2_000), Waypoint::walk(Position::on_ground(4.0, 2.5)));
    let mut gauge = Timeline::new(TIMELINE_CAPACITY);
    for (millis, value, rate) in [(0, 62.5, 2.0), (150, 50.0, -0.015_625), (400, 100.0, 0.0)] {
        gauge.insert(after(millis), Gauge { value, rate, max: 100.0 });
    }
    let mut flag = Timeline::new(TIMELINE_CAPACITY);
    flag.insert(STAMP, StepValue(false));
    flag.insert(HORIZON, StepValue(true));
    let of = |name, about, kind, index, component| {
        record(name, about, update(kind, vec![(index, component)]))
    };
    vec![
        of(
            "path-one-point",
            "At rest.",
            STONE,
            0,
            Component::at_rest(HORIZON, Position::new(1.0, 2.0, 3.0)),
        ),
        of(
            "path-several-points",
            "A walk, a step up of one millisecond, a rest, and a jump.",
            STONE,
            0,
            Component::Path(path),
        ),
        of(
            "path-as-known",
            "From the horizon on another way, from where the object is then.",
            STONE,
            0,
            Component::Path(onward),
        ),
        of("gauge-steady", "Without a rate.", AVATAR, 2, Component::gauge(STAMP, 62.5, 0.0, 62.5)),
        of(
            "gauge-several-points",
            "A rise, the slowest fall, and a steady value.",
            AVATAR,
            1,
            Component::Gauge(gauge),
        ),
        of("flag", "False, and true from the horizon on.", AVATAR, 3, Component::Flag(flag)),
        of("number", "49 above the least.", AVATAR, 4, Component::Number(50)),
        of("number-below-zero", "It is counted from the least.", CRATE, 1, Component::Number(-100)),
        of(
            "angle",
            "A quarter of a turn clockwise: 192 steps.",
            VANE,
            1,
            Component::Decimal(Decimal::Angle(192)),
        ),
        of("half", "-1.5.", VANE, 2, Component::Decimal(Decimal::Half(0xbe00))),
        of(
            "half-small",
            "The smallest above 0: 2^-24.",
            VANE,
            2,
            Component::Decimal(Decimal::Half(1)),
        ),
        of(
            "text",
            "Its length counts bytes of UTF-8.",
            AVATAR,
            5,
            Component::Text("grüß dich".into()),
        ),
        of("text-empty", "The length alone.", AVATAR, 5, Component::Text(String::new())),
        of(
            "text-for-a-team",
            "Behind a pose that is not sent.",
            WALKER,
            1,
            Component::Text("red".into()),
        ),
    ]
}

/// Components of several values.
fn lists() -> Vec<TestVector> {
    let of = |name, about, kind, index, component| {
        record(name, about, update(kind, vec![(index, component)]))
    };
    vec![
        of(
            "counts",
            "Both of two names: one of the first, 99 of the second.",
            PACK,
            0,
            Component::Counts(Counts::new([(0, 1), (1, 99)])),
        ),
        of(
            "counts-empty",
            "The number of names alone.",
            PACK,
            0,
            Component::Counts(Counts::default()),
        ),
        of(
            "rows",
            "The second has no owner, and was found somewhere.",
            CHEST,
            0,
            Component::Rows(Rows::from(vec![
                vec![
                    RowValue::Choice(2),
                    RowValue::Number(99),
                    RowValue::Text("ann".into()),
                    RowValue::Decimal(Decimal::Half(0x3e00)),
                    RowValue::None,
                ],
                vec![
                    RowValue::Choice(0),
                    RowValue::Number(1),
                    RowValue::None,
                    RowValue::Decimal(Decimal::Half(0)),
                    RowValue::Position(Position::new(5.0, 6.0, 0.0)),
                ],
            ])),
        ),
        of("rows-empty", "Their number alone.", CHEST, 0, Component::Rows(Rows::default())),
        of("bytes", "Their number, then each.", CHEST, 1, Component::Bytes(vec![0, 255, 7])),
    ]
}

fn poses() -> Vec<TestVector> {
    let at = [1_000, -2, 0];
    let motion = Motion { linear: [128, -64, 0], angular: [0, 1, -32_768] };
    let free = [3, 255, 300, 0];
    let of = |name, about, kind, pose: Pose| {
        record(name, about, enter(kind, HORIZON, false, vec![(0, Component::Pose(pose))]))
    };
    vec![
        of("pose-fixed", "A turn has no bits.", BALL, Pose { at, ..Pose::default() }),
        of(
            "pose-yaw",
            "A quarter of a turn, and a speed.",
            WALKER,
            Pose { at, turn: [64, 0, 0, 0], speed: -400, flag: true, ..Pose::default() },
        ),
        of(
            "pose-free",
            "w is the largest component; 255 stands for 0.",
            CUBE,
            Pose { at, turn: free, flag: true, ..Pose::default() },
        ),
        of(
            "pose-free-moving",
            "Six velocities follow the flag, which is not set.",
            CRATE,
            Pose { at, turn: free, motion, ..Pose::default() },
        ),
        of(
            "pose-free-at-rest",
            "The flag says that there are no velocities.",
            CRATE,
            Pose { at, turn: free, flag: true, ..Pose::default() },
        ),
    ]
}

fn effects() -> Vec<TestVector> {
    let effects = |times: &[(u64, u64)]| {
        let time = |(age, before): &(u64, u64)| EffectTime {
            sampled_until: STAMP.saturating_sub(Duration::from_millis(*age)),
            takes_effect_at: HORIZON.saturating_sub(Duration::from_millis(*before)),
        };
        Record::InputEffects(times.iter().map(time).collect())
    };
    vec![
        record(
            "input-effects-one",
            "The inputs up to 60 ms before the stamp take effect at the horizon.",
            effects(&[(60, 0)]),
        ),
        record(
            "input-effects-three",
            "The newest first; the others are relative to the one before them in the list.",
            effects(&[(60, 0), (61, 50), (180, 100)]),
        ),
    ]
}

fn enter(kind: u8, at: GameTime, own: bool, components: Vec<(u8, Component)>) -> Record {
    Record::Enter { alias: ALIAS, kind, at, own, components }
}

fn update(kind: u8, components: Vec<(u8, Component)>) -> Record {
    Record::Update { alias: ALIAS, kind, at: HORIZON, components }
}

/// A body of one record.
fn record(name: &'static str, about: &'static str, record: Record) -> TestVector {
    body(name, about, STAMP, NOW, vec![record], &[])
}

fn body(
    name: &'static str,
    about: &'static str,
    stamp: GameTime,
    now: GameTime,
    records: Vec<Record>,
    poses: &[u8],
) -> TestVector {
    let schema = schema();
    let mut bytes = Vec::new();
    let context = context(&schema, now);
    let value = DatagramBody { stamp, records, poses: poses.into() };
    let mut writer = Writer::new(&mut bytes);
    value.clone().wire(&context, &mut writer).expect(WRITE_CANNOT_FAIL);
    write_poses(poses, &mut writer);
    writer.finish();
    let read = read_body(Reader::new(&bytes), &context)
        .expect("the encoding is valid")
        .expect("there is a body");
    assert_eq!(read, value, "{name}");
    let kinds = (0..).zip(&schema.kinds).filter(|(index, _)| {
        read.records.iter().any(|record| {
            matches!(record, Record::Enter { kind, .. } | Record::Update { kind, .. }
                if kind == index)
        })
    });
    let context = object! {
        from: "server",
        part: "body",
        now: values::time(now),
        delay_ms: context.delay.as_millis() as u64,
        kinds: kinds.map(|(index, kind)| kind_value(index, kind)).collect::<Json>(),
    };
    let records = read.records.iter().map(|record| record_value(&schema, record));
    let value = object! {
        stamp: values::time(read.stamp),
        records: records.collect::<Json>(),
        poses: hex(&read.poses),
    };
    TestVector { name, about, context, bytes, value }
}

/// The example's kinds, and `crate`: it turns freely, has a motion, and a number that may be below
/// zero.
fn schema() -> Schema {
    let pose = PoseFormat {
        per_metre: 512,
        turn: Turning::Free { bits: 9 },
        motion: Some(MotionFormat { linear: 128, angular: 64 }),
    };
    let load = Codec::Number { min: -100, max: 100 };
    let mut schema = Schema::example_with_poses();
    schema.kinds.push(ObjectKind {
        name: "crate".into(),
        components: vec![
            ComponentSpec::public("pose", Codec::Pose(pose)),
            ComponentSpec::public("load", load),
        ],
        ..ObjectKind::default()
    });
    schema.kinds.push(ObjectKind {
        name: "score".into(),
        components: vec![
            ComponentSpec::public("points", Codec::Number { min: -50, max: 50 }),
            ComponentSpec::public("name", Codec::Text { max_bytes: 32 }),
        ],
        ..ObjectKind::default()
    });
    // Of the choice in the first field of "cast".
    let spells = CountedChoice { command: 2, field: 0, names: 2, max: 99, list: None };
    schema.kinds.push(ObjectKind {
        name: "pack".into(),
        components: vec![ComponentSpec::owner("spells", Codec::Counts(spells))],
        ..ObjectKind::default()
    });
    schema.check().expect("the schema is valid");
    schema
}
