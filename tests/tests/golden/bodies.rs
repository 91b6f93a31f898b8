//! Bodies of a server's datagrams: all kinds of records, and a pose section of each level.
//!
//! Both ends know the same few objects, so each body can be read and written again.

use std::time::Duration;

use ambit_proto::ids::Alias;
use ambit_proto::message::{
    BodyContext, DatagramBody, EffectTime, Record, end_records, read_body, write_poses,
    write_record, write_stamp,
};
use ambit_proto::pose::fine::FineState;
use ambit_proto::pose::{
    AckedSet, BaselineHistory, BaselineMode, BaselineSource, Level, Pose, PoseFormat, ReceivedPose,
    SectionHeader, SectionWriter, code, read_section,
};
use ambit_proto::schema::{Component, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, StepValue, Timeline, Waypoint};
use ambit_proto::wire::{Reader, Writer};

/// Number of the datagram with the body.
const DATAGRAM_NUMBER: u64 = 5_000;
const ACKED: AckedSet = AckedSet { newest: DATAGRAM_NUMBER - 2, mask: u32::MAX };
const STAMP: GameTime = GameTime::from_millis(20_000_000);

pub(super) fn samples() -> Vec<(String, Vec<u8>)> {
    let empty = DatagramBody { stamp: STAMP, records: Vec::new(), poses: Vec::new() };
    let records = DatagramBody { records: records(), ..empty.clone() };
    let with = |level| DatagramBody { poses: section(level, &poses()), ..empty.clone() };
    let all = DatagramBody { poses: section(Level::Shared, &poses()), ..records.clone() };
    let named = [
        ("empty", empty.clone()),
        ("records", records),
        ("poses-shared", with(Level::Shared)),
        ("poses-fine", with(Level::Fine)),
        ("records-and-poses", all),
    ];
    named.into_iter().map(|(name, body)| (name.to_owned(), write(body))).collect()
}

/// Reads the body down to the last pose, and writes it again.
pub(super) fn reencode(_: &str, bytes: &[u8]) -> Vec<u8> {
    let schema = Schema::example_with_poses();
    let body = read_body(Reader::new(bytes), &context(&schema))
        .expect("a body")
        .expect("the datagram has a body");
    let mut poses = Vec::new();
    if !body.poses.is_empty() {
        let acked =
            read_section(&body.poses, DATAGRAM_NUMBER, body.stamp, &SlotTable::new(), &mut poses);
        assert_eq!(acked, Ok(Some(ACKED)));
    }
    let level = if body.poses.first().is_some_and(|first| first & 1 == 1) {
        Level::Fine
    } else {
        Level::Shared
    };
    let poses = if poses.is_empty() { Vec::new() } else { section(level, &poses) };
    write(DatagramBody { poses, ..body })
}

pub(super) fn context(schema: &Schema) -> BodyContext<'_> {
    BodyContext {
        schema,
        delay: Duration::from_millis(150),
        approximate_now: STAMP + Duration::from_millis(70),
    }
}

pub(super) fn write(mut body: DatagramBody) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    write_into(&mut body, &mut writer);
    writer.finish();
    bytes
}

pub(super) fn write_into(body: &mut DatagramBody, writer: &mut Writer<'_>) {
    let schema = Schema::example_with_poses();
    let stamp = write_stamp(body.stamp, writer);
    for record in &mut body.records {
        write_record(record, &context(&schema), stamp, writer);
    }
    end_records(writer);
    write_poses(&body.poses, writer);
}

/// One record of each kind, with one component of each codec.
pub(super) fn records() -> Vec<Record> {
    let horizon = STAMP + Duration::from_millis(150);
    let mut path = Timeline::new(8);
    path.insert(STAMP, Waypoint::walk(Position::on_ground(10.0, 20.5)));
    path.insert(horizon, Waypoint::walk(Position::new(11.0, 21.5, 0.25)));
    path.insert(horizon + Duration::from_secs(3), Waypoint::jump(Position::on_ground(80.0, 3.0)));
    let mut flag = Timeline::new(4);
    flag.insert(STAMP, StepValue(false));
    flag.insert(horizon, StepValue(true));
    let gauge = |value, rate, max| Timeline::starting_with(4, STAMP, Gauge { value, rate, max });
    let components = vec![
        (0, Component::Path(path)),
        (1, Component::Gauge(gauge(62.5, 2.0, 100.0))),
        (2, Component::Gauge(gauge(3.0, 0.0, 62.5))),
        (3, Component::Flag(flag)),
        (4, Component::Number(99)),
        (5, Component::Text("grüß dich".into())),
    ];
    let walker = vec![(0, Component::Pose(poses()[0].1)), (1, Component::Text("team".into()))];
    let alias = |slot, epoch| Alias { slot, epoch };
    let late = horizon.saturating_sub(Duration::from_millis(40));
    let effects = [(60, 0), (95, 50), (180, 100)].map(|(age, before)| EffectTime {
        sampled_until: STAMP.saturating_sub(Duration::from_millis(age)),
        takes_effect_at: horizon.saturating_sub(Duration::from_millis(before)),
    });
    vec![
        Record::Enter { alias: alias(0, 1), kind: 0, at: horizon, own: true, components },
        Record::Enter { alias: alias(700, 255), kind: 2, at: late, own: false, components: walker },
        Record::Update {
            alias: alias(3, 9),
            kind: 0,
            at: horizon,
            components: vec![(4, Component::Number(1))],
        },
        Record::Leave { alias: alias(65_535, 0), at: horizon },
        Record::InputEffects(effects.into()),
    ]
}

/// Poses in slots 0 to 5: two of each kind, one with a baseline in the window and one with an older
/// baseline. Slot 6 has no baseline.
pub(super) fn poses() -> Vec<(u16, Pose)> {
    (0..7).map(|slot| (slot, pose(slot, 0))).collect()
}

/// The pose of an object `ago` ticks earlier: it moves in a circle.
fn pose(slot: u16, ago: u64) -> Pose {
    // 5, 12 and 13 are the sides of a right triangle: no sine is needed.
    const CIRCLE: [(f32, f32); 4] =
        [(1.0, 0.0), (12.0 / 13.0, 5.0 / 13.0), (5.0 / 13.0, 12.0 / 13.0), (0.0, 1.0)];
    let (cos, sin) = CIRCLE[(u64::from(slot) + 400 - ago) as usize % 4];
    let at = Position::new(50.0 + 2.0 * cos + f32::from(slot), 40.0 + 2.0 * sin, 0.5);
    let format = format(slot);
    match slot % 3 {
        0 => format.pose(at, 0.3 + 0.1 * f32::from(slot), 4.0),
        1 => format.free(at, [0.0, sin, 0.0, cos]),
        _ => format.pose(at, 0.0, 0.0),
    }
}

fn format(slot: u16) -> PoseFormat {
    let schema = Schema::example_with_poses();
    *schema.kinds[2 + usize::from(slot) % 3].pose_format().expect("a kind with poses")
}

struct SlotTable(Vec<(PoseFormat, BaselineHistory)>);

impl BaselineSource for SlotTable {
    fn object(&self, slot: u16) -> Option<(&PoseFormat, &BaselineHistory)> {
        self.0.get(usize::from(slot)).map(|(format, baselines)| (format, baselines))
    }
}

impl SlotTable {
    fn new() -> Self {
        let known = |slot: u16| {
            let mut baselines = BaselineHistory::new(0);
            let ago: &[u64] = match slot {
                0..3 => &[9, 6, 3, 2],
                3..6 => &[200],
                _ => &[],
            };
            for ago in ago {
                let stamp = STAMP.saturating_sub(Duration::from_millis(50 * ago));
                baselines.insert(ReceivedPose {
                    number: DATAGRAM_NUMBER - ago,
                    stamp,
                    pose: pose(slot, *ago),
                });
            }
            (format(slot), baselines)
        };
        Self((0..7).map(known).collect())
    }
}

pub(super) fn section(level: Level, poses: &[(u16, Pose)]) -> Vec<u8> {
    let (mut bytes, mut state, table) = (Vec::new(), FineState::default(), SlotTable::new());
    let header = SectionHeader::new(level, DATAGRAM_NUMBER, Some(ACKED));
    let mut writer = SectionWriter::with_state(&mut bytes, &header, &mut state);
    for (slot, pose) in poses {
        let (format, baselines) = table.object(*slot).expect("a slot of the table");
        let (mode, baseline) =
            match (baselines.baseline(&ACKED), baselines.newest_before(ACKED.window_start())) {
                (Some(baseline), _) => (BaselineMode::Window, Some(baseline)),
                (None, Some(baseline)) => (BaselineMode::Old, Some(baseline)),
                (None, None) => (BaselineMode::Absolute, None),
            };
        let mut history = Vec::new();
        baselines.acked_poses(&ACKED, &mut history);
        if mode == BaselineMode::Old {
            history.extend(baseline.map(|baseline| (baseline.stamp, baseline.pose)));
        }
        match level {
            Level::Shared => {
                let baseline = baseline.map(|baseline| (baseline.stamp, &baseline.pose));
                writer.write_shared(*slot, mode, &code(format, baseline, STAMP, pose));
            }
            Level::Fine => writer.write_fine(*slot, mode, format, &history, STAMP, pose),
        }
    }
    writer.finish();
    bytes
}
