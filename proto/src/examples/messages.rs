//! Random messages for the list of formats ([`super::formats`]).
//!
//! Records and bodies need a context to be read; here each comes with one:
//! [`Schema::example_with_poses`], a local lag of 150 ms, and a fixed room time.

use std::time::Duration;

use super::poses::any_pose;
use super::{BASE_TIME, Example};
use crate::axes::{Axes, MAX_AXES};
use crate::counts::Counts;
use crate::decimal::{Decimal, DecimalFormat};
use crate::ids::Alias;
use crate::keymap::{KeySample, Keymap};
use crate::message::{
    BodyContext, Command, DatagramBody, EffectTime, FieldValue, KeyInput, LatenessReport,
    MAX_CHANGES, MAX_EFFECTS, Notice, PlainPose, Record, RefusalReason, STAMP_BITS, Uplink,
    wire_plain_poses,
};
use crate::pose::{MAX_JUMP_AGE_MS, PoseFormat};
use crate::rows::RowValue;
use crate::schema::{
    Codec, Component, FieldSpec, FieldType, MAX_CHOICES, MAX_FIELDS, MAX_POINTS, MAX_TEXT_BYTES,
    ObjectKind, RowFormat, Schema,
};
use crate::space::Position;
use crate::time::GameTime;
use crate::timeline::{Gauge, StepValue, Waypoint};
use crate::wire::{Coder, Wire, WireError};

pub(crate) const fn context(schema: &Schema, now: GameTime) -> BodyContext<'_> {
    BodyContext { schema, delay: Duration::from_millis(150), approximate_now: now }
}

/// An uplink in a game with as many axes as there can be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleAxes(pub(crate) Uplink);

impl Wire for ExampleAxes {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0.wire_with_axes(MAX_AXES, coder)
    }
}

impl Example for ExampleAxes {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let mut uplink = Uplink::example(rng);
        if let Some(input) = &mut uplink.input {
            input.axes = Some(Axes(std::array::from_fn(|_| rng.i8(..))));
        }
        Self(uplink)
    }
}

/// A record of [`Schema::example_with_poses`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleRecord(pub(crate) Record);

/// A body of records of [`Schema::example_with_poses`], without poses.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleBody(pub(crate) DatagramBody);

/// A plain pose section of [`Schema::example_with_poses`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExamplePlainPoses(Vec<PlainPose>);

impl Wire for ExamplePlainPoses {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        wire_plain_poses(&mut self.0, &Schema::example_with_poses(), coder)
    }
}

impl Example for ExamplePlainPoses {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self(any_plain_poses(&Schema::example_with_poses(), rng))
    }
}

/// Up to 12 poses of any objects of kinds that have poses.
pub(crate) fn any_plain_poses(schema: &Schema, rng: &mut fastrand::Rng) -> Vec<PlainPose> {
    let kinds: Vec<(u8, PoseFormat)> = (0..)
        .zip(&schema.kinds)
        .filter_map(|(index, kind)| Some((index, *kind.pose_format()?)))
        .collect();
    let poses = (0..rng.usize(..12)).map(|_| {
        let (kind, format) = kinds[rng.usize(..kinds.len())];
        let jumped_ms = (rng.u8(..4) == 0).then(|| rng.u16(..=MAX_JUMP_AGE_MS));
        PlainPose { alias: Alias::example(rng), kind, pose: any_pose(rng, format), jumped_ms }
    });
    poses.collect()
}

impl Wire for ExampleRecord {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0.wire(&context(&Schema::example_with_poses(), BASE_TIME), BASE_TIME, coder)
    }
}

impl Wire for ExampleBody {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0.wire(&context(&Schema::example_with_poses(), BASE_TIME), coder)
    }
}

impl Example for Command {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self { number: rng.u32(..), kind: rng.u8(..), fields: any_fields(rng) }
    }
}

/// A notice of a game with [`Schema::example_with_poses`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExampleNotice(Notice);

impl Wire for ExampleNotice {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0.wire(&Schema::example_with_poses(), BASE_TIME, coder)
    }
}

impl Example for ExampleNotice {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let schema = Schema::example_with_poses();
        let command = rng.u32(..);
        Self(match rng.u8(..4) {
            0 => Notice::Refused { command, reason: RefusalReason::Game(rng.u8(..)) },
            1 => Notice::Refused { command, reason: RefusalReason::Code(rng.u16(..)) },
            _ => {
                let kind = rng.usize(..schema.events.len());
                let fields = schema.events[kind].fields.iter();
                let fields = fields.map(|field| any_value_of(field, rng)).collect();
                let ahead = Duration::from_millis(rng.u64(..4_000_000) >> rng.u8(..22));
                let effect = (BASE_TIME + ahead).whole_millis();
                Notice::Event { kind: kind as u8, effect, fields }
            }
        })
    }
}

fn any_value_of(field: &FieldSpec, rng: &mut fastrand::Rng) -> FieldValue<Alias> {
    if (field.optional || field.ty == FieldType::Object) && rng.u8(..4) == 0 {
        return FieldValue::None;
    }
    match &field.ty {
        FieldType::Object => FieldValue::Object(Alias::example(rng)),
        FieldType::Position => FieldValue::Position(Position::example(rng)),
        FieldType::Number { min, max } => FieldValue::Number(rng.i64(min..=max)),
        FieldType::Choice(names) => FieldValue::Choice(rng.u16(..names.len() as u16)),
        FieldType::Decimal(format) => FieldValue::Decimal(any_decimal(rng, *format)),
        FieldType::Text { max_bytes } => {
            let letters = rng.u32(..=max_bytes / 4);
            FieldValue::Text((0..letters).map(|_| rng.char(..)).collect())
        }
    }
}

impl Example for LatenessReport {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self { received: rng.u64(..) >> rng.u32(..64), late: rng.u64(..) >> rng.u32(..64) }
    }
}

impl Example for KeyInput {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let now = GameTime::from_millis(rng.u64(100_000..1 << 40));
        let mut keys = || Keymap(rng.u32(..) >> rng.u32(..32));
        let held_before = keys();
        let mut at = now.saturating_sub(Duration::from_mins(1));
        let held: Vec<Keymap> = (0..MAX_CHANGES).map(|_| keys()).collect();
        let samples = held[rng.usize(..=MAX_CHANGES)..].iter().map(|&keys| {
            at += Duration::from_millis(rng.u64(1..1_900) >> rng.u32(..11))
                + Duration::from_millis(1);
            KeySample::new(at, keys)
        });
        Self::with_changes(now, held_before, samples.collect::<Vec<_>>())
    }
}

impl Example for Uplink {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let report = rng.bool().then(|| LatenessReport::example(rng));
        let input = rng.bool().then(|| KeyInput::example(rng));
        Self { report, input, lost_track: rng.bool().then(|| rng.u16(..)) }
    }
}

impl Example for ExampleRecord {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self(any_record(rng, BASE_TIME))
    }
}

impl Example for ExampleBody {
    fn example(rng: &mut fastrand::Rng) -> Self {
        // The stamp lies within half of its period.
        let stamp =
            GameTime::from_millis(rng.u64(..1 << (STAMP_BITS - 1)) >> rng.u32(..STAMP_BITS));
        let records = (0..rng.usize(..6)).map(|_| any_record(rng, stamp)).collect();
        Self(DatagramBody { stamp, records, poses: Vec::new() })
    }
}

fn any_fields(rng: &mut fastrand::Rng) -> Vec<FieldValue<Alias>> {
    (0..rng.usize(..=MAX_FIELDS)).map(|_| any_field(rng)).collect()
}

fn any_field(rng: &mut fastrand::Rng) -> FieldValue<Alias> {
    match rng.u8(..8) {
        0 => FieldValue::None,
        1 => FieldValue::Object(Alias::example(rng)),
        2 => FieldValue::Position(Position::example(rng)),
        3 => FieldValue::Number(rng.i64(..) >> rng.u8(..64)),
        4 => FieldValue::Choice(rng.u16(..MAX_CHOICES as u16) >> rng.u8(..10)),
        5 => FieldValue::Decimal(any_decimal(rng, DecimalFormat::Half)),
        6 => FieldValue::Decimal(any_decimal(rng, DecimalFormat::Angle)),
        _ => {
            let letters = rng.u32(..=MAX_TEXT_BYTES / 4);
            FieldValue::Text((0..letters).map(|_| rng.char(..)).collect())
        }
    }
}

/// Of any size, so that the small halves are among them.
fn any_decimal(rng: &mut fastrand::Rng, format: DecimalFormat) -> Decimal {
    match format {
        DecimalFormat::Half => {
            let half = Decimal::Half(rng.u16(..));
            if half.is_finite() { half } else { format.zero() }
        }
        DecimalFormat::Angle => Decimal::Angle(rng.u8(..)),
    }
}

fn any_time(rng: &mut fastrand::Rng) -> GameTime {
    GameTime::from_micros(rng.u64(..) >> rng.u8(..64)).whole_millis()
}

fn any_record(rng: &mut fastrand::Rng, stamp: GameTime) -> Record {
    let schema = Schema::example_with_poses();
    let alias = Alias::example(rng);
    let at = any_time(rng);
    let kind = rng.u8(..schema.kinds.len() as u8);
    let components = any_components(rng, &schema.kinds[usize::from(kind)], stamp);
    match rng.u8(..4) {
        0 => Record::Enter { alias, kind, at, own: rng.bool(), components },
        1 => {
            let components = components.into_iter().map(|(index, component)| {
                (index, if rng.bool() { begun_as_known(component) } else { component })
            });
            Record::Update { alias, kind, at, components: components.collect() }
        }
        2 => Record::Leave { alias, at },
        _ => Record::InputEffects(any_effect_times(rng)),
    }
}

/// Random effect times: as many as fit in the time since the room began.
fn any_effect_times(rng: &mut fastrand::Rng) -> Vec<EffectTime> {
    let mut effects =
        vec![EffectTime { sampled_until: any_time(rng), takes_effect_at: any_time(rng) }];
    while let Some(last) = effects.last().filter(|_| effects.len() < MAX_EFFECTS && rng.bool()) {
        let [at, effect] = [last.sampled_until, last.takes_effect_at].map(|time| {
            let before = rng.u64(1..1 << 20) >> rng.u32(..20);
            time.millis().checked_sub(before.max(1)).map(GameTime::from_millis)
        });
        let Some((at, effect)) = at.zip(effect) else {
            break;
        };
        effects.push(EffectTime { sampled_until: at, takes_effect_at: effect });
    }
    effects
}

fn any_components(
    rng: &mut fastrand::Rng,
    kind: &ObjectKind,
    stamp: GameTime,
) -> Vec<(u8, Component)> {
    let mut components = Vec::new();
    for (index, spec) in (0..).zip(&kind.components) {
        if rng.bool() {
            components.push((index, any_component(rng, &spec.codec).clip(stamp)));
        }
    }
    components
}

/// A path whose first place the receiver knows; any other component as it is.
fn begun_as_known(component: Component) -> Component {
    let Component::Path(mut path) = component else { return component };
    if let Some((time, _)) = path.first() {
        path.insert(time, Waypoint::AS_KNOWN);
    }
    Component::Path(path)
}

pub(crate) fn any_component(rng: &mut fastrand::Rng, codec: &Codec) -> Component {
    let mut component = Component::unknown(codec);
    match (&mut component, codec) {
        (Component::Number(number), &Codec::Number { min, max }) => *number = rng.i64(min..=max),
        (Component::Decimal(decimal), &Codec::Decimal(format)) => {
            *decimal = any_decimal(rng, format);
        }
        (Component::Text(text), Codec::Text { max_bytes }) => {
            let letters = (0..rng.u32(..=max_bytes / 4)).map(|_| rng.char(..));
            text.extend(letters);
        }
        (Component::Counts(counts), Codec::Counts(of)) => {
            let some = (0..of.names).filter(|_| rng.bool()).collect::<Vec<_>>();
            *counts = Counts::new(some.into_iter().map(|index| (index, rng.u32(1..=of.max))));
        }
        (Component::Bytes(bytes), Codec::Bytes { max_bytes }) => {
            bytes.extend((0..rng.u32(..=*max_bytes)).map(|_| rng.u8(..)));
        }
        (Component::Rows(rows), Codec::Rows(format)) => {
            *rows = (0..rng.u32(..=format.max.min(9))).map(|_| any_row(rng, format)).collect();
        }
        (Component::Pose(pose), &Codec::Pose(format)) => *pose = any_pose(rng, format),
        (Component::Path(path), _) => any_points(rng, |rng, time| {
            path.insert(time, Waypoint { position: Position::example(rng), jump: rng.bool() });
        }),
        (Component::Gauge(gauge), &Codec::Gauge { max }) => any_points(rng, |rng, time| {
            let rate = if rng.bool() { 0.0 } else { (rng.f32() - 0.5) * 1_100.0 };
            gauge.insert(time, Gauge { value: rng.f32() * max, rate, max });
        }),
        (Component::Flag(flag), _) => {
            any_points(rng, |rng, time| flag.insert(time, StepValue(rng.bool())));
        }
        (component, codec) => unreachable!("{codec:?} begins as {component:?}"),
    }
    component
}

fn any_row(rng: &mut fastrand::Rng, format: &RowFormat) -> Vec<RowValue> {
    let fields = format.fields.iter();
    fields
        .map(|field| match &field.ty {
            _ if field.optional && rng.bool() => RowValue::None,
            FieldType::Object => unreachable!("a row has no objects"),
            FieldType::Position => RowValue::Position(Position::example(rng)),
            &FieldType::Number { min, max } => RowValue::Number(rng.i64(min..=max)),
            &FieldType::Decimal(format) => RowValue::Decimal(any_decimal(rng, format)),
            FieldType::Choice(names) => RowValue::Choice(rng.u16(..names.len() as u16)),
            FieldType::Text { max_bytes } => {
                let letters = rng.u32(..=max_bytes / 4);
                RowValue::Text((0..letters).map(|_| rng.char(..)).collect())
            }
        })
        .collect()
}

/// Points around [`BASE_TIME`], often close together, sometimes more than one record carries.
fn any_points(rng: &mut fastrand::Rng, mut insert: impl FnMut(&mut fastrand::Rng, GameTime)) {
    for _ in 0..rng.usize(..MAX_POINTS + 3) {
        let time = GameTime::from_micros(rng.u64(..2 * BASE_TIME.micros()) >> rng.u8(..20));
        insert(rng, time);
    }
}
