//! Random messages for the list of formats ([`crate::wire::formats`]).
//!
//! Test support. Records and bodies are read in a context; here each brings one along:
//! [`Schema::example_with_poses`], a local lag of 150 ms, and a moment in the room's life.

use std::time::Duration;

use super::{
    Action, Body, BodyContext, Command, Effect, Field, Input, MAX_CHANGES, MAX_CUSTOM_BYTES,
    MAX_EFFECTS, Notice, Record, Report, Uplink,
};
use crate::ids::Alias;
use crate::keymap::{Keymap, Sample};
use crate::pose::{MAX_AT, Motion, Pose, PoseFormat, Turning};
use crate::schema::{Codec, Component, Kind, MAX_FIELDS, MAX_POINTS, Schema};
use crate::space::Position;
use crate::time::GameTime;
use crate::timeline::{Gauge, Held, Waypoint};
use crate::wire::formats::Example;
use crate::wire::{Coder, Wire, WireError};

/// Not on a whole millisecond, with room on both sides.
const BASE: GameTime = GameTime::from_micros(100_000_567);

/// A context of this schema.
pub(crate) const fn context(schema: &Schema, near: GameTime) -> BodyContext<'_> {
    BodyContext {
        schema,
        delay: Duration::from_millis(150),
        near,
    }
}

/// A record of [`Schema::example_with_poses`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExampleRecord(pub Record);

/// A body of records of [`Schema::example_with_poses`], without poses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExampleBody(pub Body);

impl Wire for ExampleRecord {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0
            .wire(&context(&Schema::example_with_poses(), BASE), BASE, coder)
    }
}

impl Wire for ExampleBody {
    fn wire(&mut self, coder: &mut impl Coder) -> Result<(), WireError> {
        self.0
            .wire(&context(&Schema::example_with_poses(), BASE), coder)
    }
}

impl Example for Command {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self {
            number: rng.u32(..),
            action: any_action(rng),
        }
    }
}

impl Example for Notice {
    fn example(rng: &mut fastrand::Rng) -> Self {
        if rng.bool() {
            return Self::Refused {
                command: rng.u32(..),
                code: rng.u16(..),
            };
        }
        let fields = (0..rng.usize(..=MAX_FIELDS))
            .map(|_| any_field(rng))
            .collect();
        Self::Event {
            kind: rng.u8(..),
            effect: any_time(rng),
            fields,
        }
    }
}

impl Example for Report {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self {
            news: rng.u64(..) >> rng.u32(..64),
            late: rng.u64(..) >> rng.u32(..64),
        }
    }
}

impl Example for Input {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let now = GameTime::from_millis(rng.u64(100_000..1 << 40));
        let mut keys = || Keymap(rng.u32(..) >> rng.u32(..32));
        let base = keys();
        let mut at = now.saturating_sub(Duration::from_mins(1));
        let held: Vec<Keymap> = (0..MAX_CHANGES).map(|_| keys()).collect();
        let samples = held[rng.usize(..=MAX_CHANGES)..].iter().map(|&keys| {
            at += Duration::from_millis(rng.u64(1..1_900) >> rng.u32(..11))
                + Duration::from_millis(1);
            Sample { at, keys }
        });
        Self::with_changes(now, base, samples.collect::<Vec<_>>())
    }
}

impl Example for Uplink {
    fn example(rng: &mut fastrand::Rng) -> Self {
        let report = rng.bool().then(|| Report::example(rng));
        let input = rng.bool().then(|| Input::example(rng));
        Self {
            report,
            input,
            lost_track: rng.bool().then(|| rng.u16(..)),
        }
    }
}

impl Example for ExampleRecord {
    fn example(rng: &mut fastrand::Rng) -> Self {
        Self(any_record(rng, BASE))
    }
}

impl Example for ExampleBody {
    fn example(rng: &mut fastrand::Rng) -> Self {
        // Within half of a stamp's period.
        let stamp = GameTime::from_millis(
            rng.u64(..1 << (super::STAMP_BITS - 1)) >> rng.u32(..super::STAMP_BITS),
        );
        let records = (0..rng.usize(..6))
            .map(|_| any_record(rng, stamp))
            .collect();
        Self(Body {
            stamp,
            records,
            poses: Vec::new(),
        })
    }
}

fn any_action(rng: &mut fastrand::Rng) -> Action {
    match rng.u8(..4) {
        0 => Action::Move {
            x: any_float(rng),
            y: any_float(rng),
        },
        1 => Action::Cast {
            spell: rng.u8(..),
            at: rng.bool().then(|| (any_float(rng), any_float(rng))),
        },
        2 => Action::Keys(rng.u32(..)),
        _ => Action::Custom(
            (0..rng.usize(..=MAX_CUSTOM_BYTES))
                .map(|_| rng.u8(..))
                .collect(),
        ),
    }
}

/// Any but a NaN, which equals nothing.
fn any_float(rng: &mut fastrand::Rng) -> f32 {
    let float = f32::from_bits(rng.u32(..));
    if float.is_nan() { f32::INFINITY } else { float }
}

fn any_field(rng: &mut fastrand::Rng) -> Field {
    match rng.u8(..3) {
        0 => Field::Object(rng.bool().then(|| Alias::example(rng))),
        1 => Field::Position(Position::example(rng)),
        _ => Field::Number(rng.i64(..) >> rng.u8(..64)),
    }
}

fn any_time(rng: &mut fastrand::Rng) -> GameTime {
    GameTime::from_micros(rng.u64(..) >> rng.u8(..64)).whole_millis()
}

fn any_record(rng: &mut fastrand::Rng, base: GameTime) -> Record {
    let schema = Schema::example_with_poses();
    let (alias, at) = (Alias::example(rng), any_time(rng));
    let kind = rng.u8(..schema.kinds.len() as u8);
    let components = any_components(rng, &schema.kinds[usize::from(kind)], base);
    match rng.u8(..4) {
        0 => Record::Enter {
            alias,
            kind,
            at,
            own: rng.bool(),
            components,
        },
        1 => Record::Update {
            alias,
            kind,
            at,
            components,
        },
        2 => Record::Leave { alias, at },
        _ => Record::Effects(any_effects(rng)),
    }
}

/// As many as there is time for since the room began.
fn any_effects(rng: &mut fastrand::Rng) -> Vec<Effect> {
    let mut effects = vec![Effect {
        at: any_time(rng),
        effect: any_time(rng),
    }];
    while let Some(last) = effects
        .last()
        .filter(|_| effects.len() < MAX_EFFECTS && rng.bool())
    {
        let [at, effect] = [last.at, last.effect].map(|time| {
            let before = rng.u64(1..1 << 20) >> rng.u32(..20);
            time.millis()
                .checked_sub(before.max(1))
                .map(GameTime::from_millis)
        });
        let Some((at, effect)) = at.zip(effect) else {
            break;
        };
        effects.push(Effect { at, effect });
    }
    effects
}

fn any_components(rng: &mut fastrand::Rng, kind: &Kind, base: GameTime) -> Vec<(u8, Component)> {
    let mut components = Vec::new();
    for (index, spec) in (0..).zip(&kind.components) {
        if rng.bool() {
            components.push((index, any_component(rng, &spec.codec).clip(base)));
        }
    }
    components
}

pub(super) fn any_component(rng: &mut fastrand::Rng, codec: &Codec) -> Component {
    let mut component = Component::unknown(codec);
    match (&mut component, *codec) {
        (Component::Number(number), Codec::Number { min, max }) => *number = rng.i64(min..=max),
        (Component::Text(text), Codec::Text { max_bytes }) => {
            let letters = (0..rng.u32(..=max_bytes / 4)).map(|_| rng.char(..));
            text.extend(letters);
        }
        (Component::Pose(pose), Codec::Pose(format)) => *pose = any_pose(rng, format),
        (Component::Path(path), _) => any_points(rng, |rng, time| {
            path.insert(
                time,
                Waypoint {
                    position: Position::example(rng),
                    jump: rng.bool(),
                },
            );
        }),
        (Component::Gauge(gauge), Codec::Gauge { max }) => any_points(rng, |rng, time| {
            let rate = if rng.bool() {
                0.0
            } else {
                (rng.f32() - 0.5) * 1_100.0
            };
            gauge.insert(
                time,
                Gauge {
                    value: rng.f32() * max,
                    rate,
                    max,
                },
            );
        }),
        (Component::Flag(flag), _) => {
            any_points(rng, |rng, time| flag.insert(time, Held(rng.bool())))
        }
        (component, codec) => unreachable!("{codec:?} begins as {component:?}"),
    }
    component
}

/// Any pose of this format, extremes included.
pub(crate) fn any_pose(rng: &mut fastrand::Rng, format: PoseFormat) -> Pose {
    let coordinate = |rng: &mut fastrand::Rng| (rng.i32(..) >> rng.u8(..32)).clamp(-MAX_AT, MAX_AT);
    let mut part = |bits: u8| rng.u16(..) & ((1 << bits) - 1);
    let turn = match format.turn {
        Turning::Fixed => [0; 4],
        Turning::Yaw { bits } => [part(bits), 0, 0, 0],
        Turning::Free { bits } => [part(2), part(bits), part(bits), part(bits)],
    };
    let speed = if matches!(format.turn, Turning::Yaw { .. }) {
        rng.i16(..) >> rng.u8(..16)
    } else {
        0
    };
    let flag = rng.bool();
    let mut velocity = || rng.i16(..) >> rng.u8(..16);
    let motion = match format.motion {
        Some(_) if !flag => Motion {
            linear: [(); 3].map(|()| velocity()),
            angular: [(); 3].map(|()| velocity()),
        },
        _ => Motion::default(),
    };
    Pose {
        at: std::array::from_fn(|_| coordinate(rng)),
        turn,
        speed,
        flag,
        motion,
    }
}

/// Points around [`BASE`], often close together, sometimes more than one record carries.
fn any_points(rng: &mut fastrand::Rng, mut insert: impl FnMut(&mut fastrand::Rng, GameTime)) {
    for _ in 0..rng.usize(..MAX_POINTS + 3) {
        let time = GameTime::from_micros(rng.u64(..2 * BASE.micros()) >> rng.u8(..20));
        insert(rng, time);
    }
}
