//! The values of an object's components, and their encoding.
//!
//! The component's [`Codec`] reads and writes it; [`crate::message`] describes the bits. Of a
//! timeline its tail is sent: the value at the datagram's stamp and all later points. So each
//! update is complete in itself, whatever was lost before it, and the receiver replaces its points
//! from the first received one on ([`Component::merge`]). To a receiver that has acknowledged the
//! one before, a timeline is sent from its first change on ([`SentPart::from`]).
//!
//! Invariants:
//! 1. Both ends hold the same bits: a server stores only values that `quantised` leaves unchanged,
//!    and times of whole milliseconds. The writer quantises in any case, and [`Component::clip`]
//!    returns what the other end reads.
//! 2. At most [`MAX_POINTS`] points of a timeline are sent at once: the earliest of the tail. A
//!    game that plans farther ahead sends the rest later.
//! 3. Of a path that is sent up to a time ([`SentPart::path_until`]), no bit depends on the points
//!    after the end of the segment at that time, and none on how long that segment is, but for the
//!    rounding of its end: it is continued straight for [`CONTINUED_FOR`].
//!
//! Units: metres, values of the gauge, milliseconds on the wire.

mod timeline_tail;

use std::time::Duration;

use self::timeline_tail::{TimelineTail, merge, wire_timeline};
use super::Codec;
use crate::counts::Counts;
use crate::decimal::Decimal;
use crate::pose::Pose;
use crate::rows::Rows;
use crate::space::Position;
use crate::time::GameTime;
use crate::timeline::{Gauge, StepValue, Timeline, Waypoint};
use crate::wire::{self, Coder, WRITE_CANNOT_FAIL, Wire, WireError};

/// The highest number of points of one timeline in one record.
pub const MAX_POINTS: usize = 15;
/// Capacity of a received timeline: the points of one record, and as many from the past.
pub const TIMELINE_CAPACITY: usize = 2 * MAX_POINTS;
/// Steps of a gauge's value per unit.
pub const GAUGE_PER_UNIT: f32 = 16.0;
/// Steps of a gauge's rate per unit a second.
pub const RATE_PER_UNIT: f32 = 64.0;
/// The fastest change of a gauge, a second: 512 less one step, so that zero lies on a step and 16
/// bits suffice.
pub const MAX_RATE: f32 = 512.0 - 1.0 / RATE_PER_UNIT;
/// How long after the stamp a path is continued straight whose end or next turn is not sent yet.
/// Longer than most walks, since a continuation that runs out has to be sent again.
pub const CONTINUED_FOR: Duration = Duration::from_mins(1);

/// The value of a component.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Component {
    /// Of [`Codec::Path`].
    Path(Timeline<Waypoint>),
    /// Of [`Codec::Gauge`].
    Gauge(Timeline<Gauge>),
    /// Of [`Codec::Flag`].
    Flag(Timeline<StepValue<bool>>),
    /// Of [`Codec::Number`].
    Number(i64),
    /// Of [`Codec::Text`].
    Text(String),
    /// Of [`Codec::Pose`]: the one that is valid from the datagram's horizon on. Later ones travel
    /// in pose sections.
    Pose(Pose),
    /// Of [`Codec::Decimal`].
    Decimal(Decimal),
    /// Of [`Codec::Counts`].
    Counts(Counts),
    /// Of [`Codec::Bytes`].
    Bytes(Vec<u8>),
    /// Of [`Codec::Rows`].
    Rows(Rows),
}

impl Component {
    /// An empty component: a read begins with it.
    pub fn unknown(codec: &Codec) -> Self {
        match codec {
            Codec::Path => Self::Path(Timeline::new(TIMELINE_CAPACITY)),
            Codec::Gauge { .. } => Self::Gauge(Timeline::new(TIMELINE_CAPACITY)),
            Codec::Flag => Self::Flag(Timeline::new(TIMELINE_CAPACITY)),
            Codec::Number { .. } => Self::Number(0),
            Codec::Decimal(format) => Self::Decimal(format.zero()),
            Codec::Text { .. } => Self::Text(String::new()),
            Codec::Counts(_) => Self::Counts(Counts::default()),
            Codec::Bytes { .. } => Self::Bytes(Vec::new()),
            Codec::Rows(_) => Self::Rows(Rows::default()),
            Codec::Pose(_) => Self::Pose(Pose::UNKNOWN),
        }
    }

    /// Whether `codec` can carry this: the same type, and within its range. The server checks a
    /// game's components when an object is spawned.
    pub fn fits(&self, codec: &Codec) -> bool {
        match (self, codec) {
            (Self::Path(path), Codec::Path) => {
                path.points().all(|(_, point)| point.position.is_finite())
            }
            (Self::Gauge(gauge), Codec::Gauge { max }) => gauge.points().all(|(_, point)| {
                point.max == *max && point.value.is_finite() && point.rate.is_finite()
            }),
            (Self::Flag(_), Codec::Flag) => true,
            (Self::Number(number), Codec::Number { min, max }) => (min..=max).contains(&number),
            (Self::Decimal(decimal), Codec::Decimal(format)) => {
                decimal.format() == *format && decimal.is_finite()
            }
            (Self::Text(text), Codec::Text { max_bytes }) => text.len() <= *max_bytes as usize,
            (Self::Counts(counts), Codec::Counts(of)) => counts.fits(of.names, of.max),
            (Self::Bytes(bytes), Codec::Bytes { max_bytes }) => bytes.len() <= *max_bytes as usize,
            (Self::Rows(rows), Codec::Rows(format)) => format.fits(rows),
            (Self::Pose(pose), Codec::Pose(format)) => format.fits(pose),
            _ => false,
        }
    }

    /// Whether this is an update of a path that begins where the object is by what the receiver
    /// knows of it.
    pub fn begins_as_known(&self) -> bool {
        let Self::Path(path) = self else { return false };
        path.first().is_some_and(|(_, point)| point.is_as_known())
    }

    /// Such an update for a receiver that has this component: with the place where it begins.
    /// `None` for any other.
    pub fn completed(&self, update: &Self) -> Option<Self> {
        let (Self::Path(known), Self::Path(path)) = (self, update) else { return None };
        let (time, _) = path.first().filter(|(_, point)| point.is_as_known())?;
        let mut whole = Timeline::new(TIMELINE_CAPACITY);
        if let Some(here) = known.value_at(time) {
            whole.insert(time, Waypoint::walk(here.position).quantised());
        }
        for (time, point) in path.points().skip(1) {
            whole.insert(time, *point);
        }
        Some(Self::Path(whole))
    }

    /// What the other end reads when this is sent in a datagram with the stamp `from`.
    pub fn clip(&self, from: GameTime) -> Self {
        match self {
            Self::Path(path) => Self::Path(TimelineTail::from_timeline(path, from).to_timeline()),
            Self::Gauge(gauge) => {
                Self::Gauge(TimelineTail::from_timeline(gauge, from).to_timeline())
            }
            Self::Flag(flag) => Self::Flag(TimelineTail::from_timeline(flag, from).to_timeline()),
            Self::Number(_)
            | Self::Decimal(_)
            | Self::Text(_)
            | Self::Counts(_)
            | Self::Bytes(_)
            | Self::Rows(_)
            | Self::Pose(_) => self.clone(),
        }
    }

    /// At the receiver: takes the points of `update`, and keeps those before them. An update of
    /// another type is ignored.
    ///
    /// Updates may arrive in another order than they were sent: call this only for one whose
    /// datagram is newer than that of the last one merged.
    pub fn merge(&mut self, update: &Self) {
        match (self, update) {
            (Self::Path(path), Self::Path(update)) => merge(path, update),
            (Self::Gauge(gauge), Self::Gauge(update)) => merge(gauge, update),
            (Self::Flag(flag), Self::Flag(update)) => merge(flag, update),
            (Self::Number(number), Self::Number(update)) => *number = *update,
            (Self::Decimal(decimal), Self::Decimal(update)) => *decimal = *update,
            (Self::Text(text), Self::Text(update)) => text.clone_from(update),
            (Self::Counts(counts), Self::Counts(update)) => counts.clone_from(update),
            (Self::Bytes(bytes), Self::Bytes(update)) => bytes.clone_from(update),
            (Self::Rows(rows), Self::Rows(update)) => rows.clone_from(update),
            (Self::Pose(pose), Self::Pose(update)) => *pose = *update,
            _ => {}
        }
    }

    /// Reads, writes or measures; `stamp` is that of the datagram.
    ///
    /// # Panics
    /// With a writer or a measure, if this does not [fit](Self::fits) `codec`.
    pub fn wire<C: Coder>(
        &mut self,
        codec: &Codec,
        stamp: GameTime,
        coder: &mut C,
    ) -> Result<(), WireError> {
        if C::READS {
            *self = Self::unknown(codec);
        }
        match (self, codec) {
            (Self::Path(path), Codec::Path) => wire_timeline(path, stamp, coder, wire_waypoint),
            (Self::Gauge(gauge), Codec::Gauge { max }) => {
                wire_timeline(gauge, stamp, coder, |gauge, _, coder| wire_gauge(gauge, *max, coder))
            }
            (Self::Flag(flag), Codec::Flag) => {
                wire_timeline(flag, stamp, coder, |held, _, coder| coder.flag(&mut held.0))
            }
            (Self::Number(number), Codec::Number { min, max }) => coder.bounded(number, *min, *max),
            (Self::Decimal(decimal), Codec::Decimal(format)) if decimal.format() == *format => {
                decimal.wire(coder)
            }
            (Self::Text(text), Codec::Text { max_bytes }) => coder.text(text, *max_bytes as usize),
            (Self::Counts(counts), Codec::Counts(of)) => counts.wire(of.names, of.max, coder),
            (Self::Bytes(bytes), Codec::Bytes { max_bytes }) => {
                coder.bytes(bytes, *max_bytes as usize)
            }
            (Self::Rows(rows), Codec::Rows(format)) => format.wire(rows, coder),
            (Self::Pose(pose), Codec::Pose(format)) => format.wire(pose, coder),
            (component, codec) => panic!("{codec:?} cannot carry {component:?}"),
        }
    }
}

/// Which part of a component's timeline is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPart {
    /// The values from then on, and none before. Not before the stamp.
    pub from: GameTime,
    /// Whether the receiver knows where a path is then: it has the path as it was before.
    pub is_known: bool,
    /// Whether a path jumped shortly before: its first point then says so, since a receiver without
    /// the path as it was could take the jump for a walk.
    pub has_jumped: bool,
    /// The points of a path up to then. The segment after them is continued straight, so nothing
    /// shows where it ends. `None` for the whole path.
    pub path_until: Option<GameTime>,
}

impl Component {
    /// Writes or measures a part of the timeline, without a copy: the value at `part.from` and
    /// the planned points after it, but not the past. `stamp` is that of the datagram.
    ///
    /// # Panics
    /// If this does not [fit](Self::fits) `codec`.
    pub fn wire_part(
        &self,
        codec: &Codec,
        part: SentPart,
        stamp: GameTime,
        coder: &mut impl Coder,
    ) {
        let from = part.from;
        let written =
            match (self, codec) {
                (Self::Path(path), Codec::Path) => {
                    TimelineTail::of_path(path, part, stamp).wire(stamp, coder, wire_waypoint)
                }
                (Self::Gauge(gauge), Codec::Gauge { max }) => TimelineTail::with_value_at(
                    gauge, from, stamp,
                )
                .wire(stamp, coder, |gauge, _, coder| wire_gauge(gauge, *max, coder)),
                (Self::Flag(flag), Codec::Flag) => TimelineTail::with_value_at(flag, from, stamp)
                    .wire(stamp, coder, |held, _, coder| coder.flag(&mut held.0)),
                (Self::Number(number), Codec::Number { min, max }) => {
                    coder.bounded(&mut { *number }, *min, *max)
                }
                (Self::Decimal(decimal), Codec::Decimal(format)) if decimal.format() == *format => {
                    { *decimal }.wire(coder)
                }
                (Self::Text(text), Codec::Text { max_bytes }) => {
                    coder.write_text(text, *max_bytes as usize)
                }
                (Self::Counts(counts), Codec::Counts(of)) => {
                    counts.clone().wire(of.names, of.max, coder)
                }
                (Self::Bytes(bytes), Codec::Bytes { max_bytes }) => {
                    coder.write_byte_string(bytes, *max_bytes as usize)
                }
                (Self::Rows(rows), Codec::Rows(format)) => format.wire(&mut rows.clone(), coder),
                (Self::Pose(pose), Codec::Pose(format)) => format.wire(&mut { *pose }, coder),
                (component, codec) => panic!("{codec:?} cannot carry {component:?}"),
            };
        written.expect(WRITE_CANNOT_FAIL);
    }
}

impl Waypoint {
    /// The value as the other end will read it: the position on the wire's grid.
    pub fn quantised(self) -> Self {
        if self.is_as_known() {
            return self;
        }
        Self { position: self.position.quantised(), ..self }
    }
}

impl Gauge {
    /// The value as the other end will read it: the value in steps of 1/16 within 0 to `max`, the
    /// rate in steps of 1/64 within ± 512 a second.
    ///
    /// # Panics
    /// If value or rate are not finite: a bug of the game.
    pub fn quantised(self) -> Self {
        Self {
            value: wire::quantise(self.value, 0.0, self.max, GAUGE_PER_UNIT),
            rate: wire::quantise(self.rate, -MAX_RATE, MAX_RATE, RATE_PER_UNIT),
            ..self
        }
    }
}

fn wire_waypoint(
    waypoint: &mut Waypoint,
    before: Option<&Waypoint>,
    coder: &mut impl Coder,
) -> Result<(), WireError> {
    match before {
        None => {
            let mut is_known = waypoint.is_as_known();
            coder.flag(&mut is_known)?;
            if is_known {
                *waypoint = Waypoint::AS_KNOWN;
                return Ok(());
            }
            waypoint.position.wire(coder)?;
        }
        Some(before) if before.is_as_known() => waypoint.position.wire(coder)?,
        Some(before) => waypoint.position.wire_after(before.position, coder)?,
    }
    coder.flag(&mut waypoint.jump)
}

fn wire_gauge(gauge: &mut Gauge, max: f32, coder: &mut impl Coder) -> Result<(), WireError> {
    gauge.max = max;
    coder.quantised(&mut gauge.value, 0.0, max, GAUGE_PER_UNIT)?;
    let mut changes = gauge.rate != 0.0;
    coder.flag(&mut changes)?;
    if changes {
        coder.quantised(&mut gauge.rate, -MAX_RATE, MAX_RATE, RATE_PER_UNIT)?;
    }
    Ok(())
}

/// Constructors for the first point of a timeline, for objects that a game spawns.
impl Component {
    /// At `position` since `time`.
    pub fn at_rest(time: GameTime, position: Position) -> Self {
        Self::Path(Timeline::starting_with(
            TIMELINE_CAPACITY,
            time,
            Waypoint::walk(position).quantised(),
        ))
    }

    /// At `value` since `time`, changing by `rate` a second.
    pub fn gauge(time: GameTime, value: f32, rate: f32, max: f32) -> Self {
        Self::Gauge(Timeline::starting_with(
            TIMELINE_CAPACITY,
            time,
            Gauge { value, rate, max }.quantised(),
        ))
    }

    /// `value` since `time`.
    pub fn flag(time: GameTime, value: bool) -> Self {
        Self::Flag(Timeline::starting_with(TIMELINE_CAPACITY, time, StepValue(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decimal::DecimalFormat;
    use crate::pose::{PoseFormat, Turning};
    use crate::wire::{Measure, Reader, Writer};

    const STAMP: GameTime = GameTime::from_millis(10_000);

    #[test]
    fn both_ends_hold_the_same_bits_of_a_quantised_value() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..10_000 {
            let max = 0.1 + rng.f32() * 200.0;
            let value = rng.f32() * max;
            let stored = Gauge { value, rate: (rng.f32() - 0.5) * 1_100.0, max }.quantised();
            assert_eq!(stored.quantised(), stored);
            assert!((0.0..=max).contains(&stored.value) && (stored.value - value).abs() < 0.1);
            let sent = Component::Gauge(Timeline::starting_with(2, STAMP, stored));
            let Component::Gauge(read) = round_trip(&sent, &Codec::Gauge { max }) else {
                panic!("another type")
            };
            let read = *read.last().expect("one point").1;
            assert_eq!(read.value.to_bits(), stored.value.to_bits());
            assert_eq!(read.rate.to_bits(), stored.rate.to_bits());
        }
    }

    /// What each takes beside what a game would declare without it.
    #[test]
    fn a_half_and_an_angle_take_fewer_bits_than_what_they_replace() {
        let number = |min, max| bits_of(&Component::Number(min), &Codec::Number { min, max });
        let decimal = |format: DecimalFormat| {
            bits_of(&Component::Decimal(format.zero()), &Codec::Decimal(format))
        };
        let half = decimal(DecimalFormat::Half);
        let float = 32;
        // From -1,000 to 1,000 in hundredths and in thousandths; then all that a half can tell.
        let hundredths = number(-100_000, 100_000);
        let thousandths = number(-1_000_000, 1_000_000);
        let finest = number(-65_504 << 24, 65_504 << 24);
        println!("half {half}, numbers {hundredths}, {thousandths}, {finest}, float {float}");
        assert_eq!((half, hundredths, thousandths, finest, float), (16, 18, 21, 41, 32));
        let angle = decimal(DecimalFormat::Angle);
        let degrees = number(-180, 180);
        let pose = |turn| {
            let format = PoseFormat { per_metre: 100, turn, motion: None };
            let component = Component::Pose(Pose::default());
            bits_of(&component, &Codec::Pose(format))
        };
        // A heading of 8 bits, and a speed of 0, belong to one another.
        let heading = pose(Turning::Yaw { bits: 8 }) - pose(Turning::Fixed) - 5;
        println!("angle {angle}, degrees {degrees}, heading {heading}, float {float}");
        assert_eq!((angle, degrees, heading), (8, 9, 8));
    }

    #[test]
    fn a_gauge_is_quantised_within_its_range() {
        let gauge = Gauge { value: 200.0, rate: 600.0, max: 100.03 }.quantised();
        assert_eq!((gauge.value, gauge.rate), (100.0, MAX_RATE));
        let gauge = Gauge { value: -1.0, rate: -600.0, max: 100.03 }.quantised();
        assert_eq!((gauge.value, gauge.rate), (0.0, -MAX_RATE));
        assert_eq!(
            Gauge { value: 1.02, rate: 0.004, max: 50.0 }.quantised(),
            Gauge { value: 1.0, rate: 0.0, max: 50.0 }
        );
    }

    #[test]
    fn the_other_end_reads_the_clipped_component() {
        let mut path = Timeline::new(40);
        for n in 0..30 {
            path.insert(
                GameTime::from_micros(n * 1_000_700),
                Waypoint::walk(Position::on_ground(n as f32 / 3.0, 0.1)),
            );
        }
        let path = Component::Path(path);
        let clipped = path.clip(STAMP);
        assert_eq!(round_trip(&path, &Codec::Path), clipped);
        assert_eq!(round_trip(&clipped, &Codec::Path), clipped);
        let Component::Path(clipped) = clipped else { panic!("another type") };
        let times = clipped.points().map(|(time, _)| time.millis()).collect::<Vec<_>>();
        assert_eq!(times.len(), MAX_POINTS);
        assert_eq!(times[..4], [9_006, 10_007, 11_007, 12_008]);
    }

    #[test]
    fn the_end_of_a_path_that_is_sent_in_part_changes_no_bit() {
        let paths = [
            vec![walk(9_000, 20.0), walk(13_000, 40.0)],
            vec![walk(9_000, 20.0), walk(15_000, 50.0), walk(16_000, 0.0)],
            vec![walk(9_000, 20.0), walk(69_000, 320.0)],
        ];
        let part = part_until(12_900);
        let sent = paths.map(|points| written(&path_of(&points), part));
        assert_eq!(sent[0], sent[1]);
        assert_eq!(sent[0], sent[2]);
        assert_eq!(read(&sent[0]), [walk(10_000, 25.0), walk(70_000, 325.0)], "5 m/s straight on");
        let other_course = written(&path_of(&[walk(9_000, 20.0), walk(13_000, 39.0)]), part);
        assert_ne!(sent[0], other_course);
    }

    #[test]
    fn a_path_whose_end_is_near_is_sent_to_its_end() {
        let points = [walk(10_000, 20.0), walk(11_000, 25.0), walk(12_900, 10.0)];
        let sent = written(&path_of(&points), part_until(12_900));
        assert_eq!(read(&sent), points);
    }

    #[test]
    fn what_an_object_does_after_a_rest_or_by_a_jump_is_not_sent_early() {
        let rests = [walk(10_000, 20.0), walk(14_000, 20.0), walk(15_000, 30.0)];
        let jump = (GameTime::from_millis(14_000), Waypoint::jump(Position::on_ground(90.0, 8.0)));
        let later = walk(14_000, 20.0);
        for points in [&rests[..], &[rests[0], jump], &[later, walk(15_000, 30.0)]] {
            let sent = written(&path_of(points), part_until(12_900));
            assert_eq!(read(&sent), [rests[0]], "{points:?}");
        }
    }

    #[test]
    fn a_path_whose_beginning_is_known_is_sent_without_it() {
        let points = [walk(9_000, 20.0), walk(10_000, 25.0), walk(12_000, 10.0)];
        let whole = part_until(12_900);
        let known = SentPart { is_known: true, ..whole };
        let [whole, known] = [whole, known].map(|part| written(&path_of(&points), part));
        assert!(known.len() + 2 < whole.len(), "{} of {} bytes", known.len(), whole.len());
        let read = path_of(&read(&known));
        assert!(read.begins_as_known());
        let before = path_of(&[walk(8_000, 15.0), walk(11_000, 30.0)]);
        let completed = path_of(&points[1..]);
        assert_eq!(before.completed(&read), Some(completed));
        assert_eq!(before.completed(&path_of(&points)), None, "nothing is left out of it");
    }

    #[test]
    fn a_path_that_has_jumped_begins_with_a_jump_unless_its_start_is_known() {
        let points = [walk(9_000, 20.0), walk(10_000, 25.0), walk(12_000, 10.0)];
        let walked = part_until(12_900);
        let jumped = SentPart { has_jumped: true, ..walked };
        let [walked, jumped] = [walked, jumped].map(|part| written(&path_of(&points), part));
        assert_eq!(walked.len(), jumped.len());
        let beginning = Waypoint::jump(Position::on_ground(25.0, 8.0));
        assert_eq!(read(&walked), points[1..]);
        assert_eq!(read(&jumped), [(GameTime::from_millis(10_000), beginning), points[2]]);
        let known = SentPart { is_known: true, has_jumped: true, ..part_until(12_900) };
        assert!(path_of(&read(&written(&path_of(&points), known))).begins_as_known());
    }

    #[test]
    fn a_continuation_ends_where_the_space_of_the_wire_ends() {
        let points = [walk(10_000, 20.0), walk(13_000, 5.0)];
        let sent = written(&path_of(&points), part_until(12_900));
        assert_eq!(read(&sent), [walk(10_000, 20.0), walk(14_000, 0.0)]);
    }

    fn part_until(millis: u64) -> SentPart {
        let path_until = Some(GameTime::from_millis(millis));
        SentPart { from: STAMP, is_known: false, has_jumped: false, path_until }
    }

    fn walk(millis: u64, x: f32) -> (GameTime, Waypoint) {
        let position = Position::on_ground(x, 8.0);
        (GameTime::from_millis(millis), Waypoint::walk(position))
    }

    fn path_of(points: &[(GameTime, Waypoint)]) -> Component {
        let mut path = Timeline::new(TIMELINE_CAPACITY);
        path.merge_tail(points.iter().copied());
        Component::Path(path)
    }

    fn written(path: &Component, part: SentPart) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        path.wire_part(&Codec::Path, part, STAMP, &mut writer);
        writer.finish();
        bytes
    }

    fn read(bytes: &[u8]) -> Vec<(GameTime, Waypoint)> {
        let mut read = Component::unknown(&Codec::Path);
        read.wire(&Codec::Path, STAMP, &mut Reader::new(bytes)).expect("the encoding is valid");
        match read {
            Component::Path(path) => path.points().map(|(time, point)| (time, *point)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn of_two_points_in_one_millisecond_the_later_is_sent() {
        let mut flag = Timeline::new(4);
        for (micros, value) in [(10_000_100, true), (10_000_200, false), (10_001_000, true)] {
            flag.insert(GameTime::from_micros(micros), StepValue(value));
        }
        let Component::Flag(read) = round_trip(&Component::Flag(flag), &Codec::Flag) else {
            panic!("another type")
        };
        let points = read.points().map(|(time, held)| (time.millis(), held.0)).collect::<Vec<_>>();
        assert_eq!(points, [(10_000, false), (10_001, true)]);
    }

    #[test]
    fn a_value_that_rounds_to_the_stamp_is_sent_alone() {
        let mut flag = Timeline::starting_with(4, GameTime::ZERO, StepValue(false));
        flag.insert(STAMP + Duration::from_micros(700), StepValue(true));
        assert_eq!(round_trip(&Component::Flag(flag), &Codec::Flag), Component::flag(STAMP, true));
    }

    #[test]
    fn a_timeline_without_points_is_sent_as_empty() {
        let nothing = Component::unknown(&Codec::Flag);
        assert_eq!(bits_of(&nothing, &Codec::Flag), 4);
        let mut known = Component::flag(STAMP, true);
        known.merge(&round_trip(&nothing, &Codec::Flag));
        assert_eq!(known, Component::flag(STAMP, true));
    }

    #[test]
    fn an_update_replaces_the_timeline_from_its_first_point_on() {
        let at = |millis, x| {
            (GameTime::from_millis(millis), Waypoint::walk(Position::on_ground(x, 0.0)))
        };
        let path = |points: &[(GameTime, Waypoint)]| {
            let mut path = Timeline::new(TIMELINE_CAPACITY);
            path.merge_tail(points.iter().copied());
            Component::Path(path)
        };
        let mut known = path(&[at(0, 1.0), at(100, 2.0), at(200, 3.0)]);
        known.merge(&path(&[at(50, 1.5), at(150, 9.0)]));
        assert_eq!(known, path(&[at(0, 1.0), at(50, 1.5), at(150, 9.0)]));
        known.merge(&Component::Number(7));
        assert_eq!(known, path(&[at(0, 1.0), at(50, 1.5), at(150, 9.0)]));
    }

    #[test]
    fn components_take_as_many_bits_as_documented() {
        let short = 5; // A time within 8 ms of the stamp.
        assert_eq!(
            bits_of(&Component::at_rest(STAMP, Position::default()), &Codec::Path),
            4 + short + 1 + 20
        );
        let gauge = Codec::Gauge { max: 100.0 };
        assert_eq!(bits_of(&Component::gauge(STAMP, 50.0, 0.0, 100.0), &gauge), 4 + short + 11 + 1);
        assert_eq!(
            bits_of(&Component::gauge(STAMP, 50.0, 2.0, 100.0), &gauge),
            4 + short + 11 + 1 + 16
        );
        assert_eq!(bits_of(&Component::flag(STAMP, true), &Codec::Flag), 4 + short + 1);
        assert_eq!(bits_of(&Component::Number(5), &Codec::Number { min: 1, max: 99 }), 7);
        assert_eq!(bits_of(&Component::Text("abc".into()), &Codec::Text { max_bytes: 96 }), 7 + 24);
    }

    #[test]
    fn a_component_fits_its_codec_only() {
        let gauge = Codec::Gauge { max: 100.0 };
        assert!(Component::gauge(STAMP, 5.0, 0.0, 100.0).fits(&gauge));
        assert!(!Component::gauge(STAMP, 5.0, 0.0, 99.0).fits(&gauge));
        assert!(!Component::Flag(Timeline::new(1)).fits(&gauge));
        assert!(!Component::Number(0).fits(&Codec::Number { min: 1, max: 99 }));
        assert!(!Component::Text("abcd".into()).fits(&Codec::Text { max_bytes: 3 }));
        let nowhere = Waypoint::walk(Position::on_ground(f32::NAN, 0.0));
        assert!(!Component::Path(Timeline::starting_with(1, STAMP, nowhere)).fits(&Codec::Path));
    }

    #[test]
    #[should_panic(expected = "cannot carry")]
    fn a_component_of_another_type_panics() {
        bits_of(&Component::Number(1), &Codec::Flag);
    }

    #[test]
    fn the_largest_component_fits_into_a_body_that_always_fits() {
        let points = (0..8).map(|n| (GameTime::from_millis(n << 50), Waypoint::default()));
        let mut path = Timeline::new(8);
        path.merge_tail(points);
        let path = bits_of(&Component::Path(path), &Codec::Path);
        let max_bytes = crate::schema::MAX_TEXT_BYTES;
        let text =
            bits_of(&Component::Text("x".repeat(max_bytes as usize)), &Codec::Text { max_bytes });
        // An alias, a kind, a time and a mask at their longest take less than 200 bits.
        assert!(path.max(text) + 200 < 8 * crate::link::MIN_BODY_BYTES);
    }

    fn round_trip(component: &Component, codec: &Codec) -> Component {
        let mut bytes = Vec::new();
        component
            .clone()
            .wire(codec, STAMP, &mut Writer::new(&mut bytes))
            .expect("writing cannot fail");
        let mut read = Component::Number(0);
        read.wire(codec, STAMP, &mut Reader::new(&bytes)).expect("the encoding is valid");
        read
    }

    fn bits_of(component: &Component, codec: &Codec) -> usize {
        let mut measure = Measure::new();
        component.clone().wire(codec, STAMP, &mut measure).expect("measuring cannot fail");
        measure.bits()
    }
}
