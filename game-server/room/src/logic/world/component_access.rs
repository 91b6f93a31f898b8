//! Reads an object's components and changes their present and future.
//!
//! All times are game times. A change takes effect from a time on that is now or, for what is found
//! out late in a tick (a hit between two horizons), after the previous horizon. Stored values lie
//! on the grid of the wire (positions, gauges, whole milliseconds), so that server and clients
//! compute with the same bits.

use std::time::Duration;

use ambit_proto::counts::Counts;
use ambit_proto::ids::ObjectId;
use ambit_proto::rows::Rows;
use ambit_proto::schema::{Codec, Component};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, StepValue, Timeline, TimelineValue, Waypoint};

use super::World;
use super::objects::NO_POSE;

/// The largest number of points of a timeline: twice as many as commands can set within the longest
/// delay at the highest tick rate.
pub(super) const MAX_STORED_POINTS: usize = 32;
/// How far back timelines are kept: longer than any delay and any tick. Older points are dropped at
/// the next change.
const HISTORY_KEPT: Duration = Duration::from_secs(1);
/// How long before a teleport the path still has the old position.
const TELEPORT_STEP: Duration = Duration::from_millis(1);
/// A path that goes on within this distance of its last point goes on from that point: positions
/// are rounded to 1/256 m.
const SAME_PLACE_M: f32 = 0.004;

impl World {
    /// The position of an object now.
    ///
    /// # Panics
    /// If the object does not exist, like all readers and writers of components: ask
    /// [`World::contains`].
    pub fn position(&self, object: ObjectId) -> Position {
        self.objects.positions[self.slot(object)]
    }

    /// The position of an object now; `None` if it is gone or room-wide.
    #[inline]
    pub fn find_position(&self, object: ObjectId) -> Option<Position> {
        let slot = self.objects.slot(object)?;
        // What has a pose has a place: that need not be looked up in the schema.
        let has_place = self.objects.pose_slots[slot] != NO_POSE || !self.is_room_wide(object);
        has_place.then(|| self.objects.positions[slot])
    }

    /// The position of an object at `t`, as far as known now. An object with a pose was at its
    /// previous position at the previous tick, and stays where it is now.
    pub fn position_at(&self, object: ObjectId, t: GameTime) -> Position {
        self.motion(object).waypoint_at(t).expect("a path has a point").position
    }

    /// An object's path. An object with a pose has none: [`World::motion`] supports both.
    pub fn path(&self, object: ObjectId) -> &Timeline<Waypoint> {
        self.object(object).path()
    }

    /// Gives an object another path from a time on: drops all points at or after `from`, and adds
    /// `points`. The path is a straight line from the last point before `from` to the first new
    /// one, so the first new point defines the position at `from`.
    pub fn replace_path(
        &mut self,
        object: ObjectId,
        from: GameTime,
        points: impl IntoIterator<Item = (GameTime, Waypoint)>,
    ) {
        let from = round_to_millis(from);
        let mut points = points
            .into_iter()
            .map(|(time, point)| (round_to_millis(time), point.quantised()))
            .peekable();
        let goes_on = points.peek().is_some_and(|&(time, point)| {
            let here = position_on(self.path(object), from);
            time == from && !point.jump && point.position.distance(here) < SAME_PLACE_M
        });
        // With another beginning, the line to it from the point before it is another one, too.
        self.note_path_as_before(object, if goes_on { from } else { GameTime::ZERO });
        self.path_mut(object).replace_from(from, points);
        self.mark_dirty(object, 0);
        self.handle_path_change(object);
    }

    /// Moves an object from its position in a straight line at `speed_m_per_s` to `target`. Returns
    /// the time of arrival.
    pub fn walk_to(&mut self, object: ObjectId, target: Position, speed_m_per_s: f32) -> GameTime {
        let (now, here, target) =
            (self.now(), self.position(object).quantised(), target.quantised());
        let seconds = f64::from(here.distance(target)) / f64::from(speed_m_per_s);
        // A speed close to zero takes longer than a duration can be.
        let duration = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let arrival = round_to_millis(now + duration);
        let start = (arrival > now).then_some((now, Waypoint::walk(here)));
        self.replace_path(
            object,
            now,
            start.into_iter().chain([(arrival, Waypoint::walk(target))]),
        );
        arrival
    }

    /// Stops an object at its position at `at`.
    pub fn stop(&mut self, object: ObjectId, at: GameTime) {
        let at = round_to_millis(at);
        let here = self.position_at(object, at);
        self.replace_path(object, at, [(at, Waypoint::walk(here))]);
    }

    /// Moves an object to another position at once; it is at rest there.
    pub fn teleport(&mut self, object: ObjectId, to: Position) {
        let now = self.now();
        let before = now.saturating_sub(TELEPORT_STEP);
        let there = position_on(self.path(object), before);
        self.replace_path(
            object,
            before,
            [(before, Waypoint::walk(there)), (now, Waypoint::jump(to))],
        );
    }

    /// Notes until when a path is as before, of the earliest change of this tick.
    fn note_path_as_before(&mut self, object: ObjectId, until: GameTime) {
        let object = self.object_mut(object);
        let is_first = object.dirty & 1 == 0;
        let before = if is_first { GameTime::MAX } else { object.path_as_before_until };
        object.path_as_before_until = before.min(until);
    }

    fn path_mut(&mut self, object: ObjectId) -> &mut Timeline<Waypoint> {
        match self.component_mut(object, 0) {
            Component::Path(path) => path,
            other => panic!("component 0 is a path, not {other:?}"),
        }
    }
}

/// Other components, by their index in the kind's list.
impl World {
    /// All components as they are stored.
    pub fn components(&self, object: ObjectId) -> &[Component] {
        &self.object(object).components
    }

    /// A component as it is stored.
    pub fn component(&self, object: ObjectId, index: u8) -> &Component {
        &self.object(object).components[usize::from(index)]
    }

    /// A gauge now.
    pub fn gauge(&self, object: ObjectId, index: u8) -> Gauge {
        self.gauge_at(object, index, self.now())
    }

    /// A gauge at another time; the last second is stored.
    pub fn gauge_at(&self, object: ObjectId, index: u8, t: GameTime) -> Gauge {
        match self.component(object, index) {
            Component::Gauge(gauge) => gauge.value_at(t).expect("a gauge has a point"),
            other => panic!("component {index} is a gauge, not {other:?}"),
        }
    }

    /// Sets a gauge from a time on: it starts at `value`, limited to 0 and its maximum, and changes
    /// by `rate` a second.
    pub fn set_gauge(
        &mut self,
        object: ObjectId,
        index: u8,
        from: GameTime,
        value: f32,
        rate: f32,
    ) {
        let Codec::Gauge { max } = *self.codec(object, index) else {
            panic!("component {index} is not a gauge")
        };
        let gauge = Gauge { value: value.clamp(0.0, max), rate, max }.quantised();
        let is_changed = match self.component_mut(object, index) {
            Component::Gauge(timeline) => set_from(timeline, from, gauge, Gauge::quantised),
            other => panic!("component {index} is a gauge, not {other:?}"),
        };
        self.note_timeline_change(object, index, from, is_changed);
    }

    /// A flag now.
    pub fn flag(&self, object: ObjectId, index: u8) -> bool {
        self.flag_at(object, index, self.now())
    }

    /// A flag at another time; the last second is stored.
    pub fn flag_at(&self, object: ObjectId, index: u8, t: GameTime) -> bool {
        match self.component(object, index) {
            Component::Flag(flag) => flag.value_at(t).expect("a flag has a point").0,
            other => panic!("component {index} is a flag, not {other:?}"),
        }
    }

    /// Sets a flag from a time on; what it was before stays.
    pub fn set_flag(&mut self, object: ObjectId, index: u8, from: GameTime, value: bool) {
        let is_changed = match self.component_mut(object, index) {
            Component::Flag(flag) => set_from(flag, from, StepValue(value), |held| held),
            other => panic!("component {index} is a flag, not {other:?}"),
        };
        self.note_timeline_change(object, index, from, is_changed);
    }

    /// A number as it is now: it has no history.
    pub fn number(&self, object: ObjectId, index: u8) -> i64 {
        match self.component(object, index) {
            Component::Number(number) => *number,
            other => panic!("component {index} is a number, not {other:?}"),
        }
    }

    /// Sets a number, limited to its range.
    pub fn set_number(&mut self, object: ObjectId, index: u8, value: i64) {
        let Codec::Number { min, max } = *self.codec(object, index) else {
            panic!("component {index} is not a number")
        };
        self.set_component(object, index, Component::Number(value.clamp(min, max)));
    }

    /// A half float or an angle as it is now: it has no history.
    pub fn decimal(&self, object: ObjectId, index: u8) -> f32 {
        match self.component(object, index) {
            Component::Decimal(decimal) => decimal.value(),
            other => panic!("component {index} is a decimal, not {other:?}"),
        }
    }

    /// Sets a half float or an angle to the nearest value.
    pub fn set_decimal(&mut self, object: ObjectId, index: u8, value: f32) {
        let Codec::Decimal(format) = *self.codec(object, index) else {
            panic!("component {index} is not a decimal")
        };
        self.set_component(object, index, Component::Decimal(format.nearest(value)));
    }

    /// A text as it is now: it has no history.
    pub fn text(&self, object: ObjectId, index: u8) -> &str {
        match self.component(object, index) {
            Component::Text(text) => text,
            other => panic!("component {index} is a text, not {other:?}"),
        }
    }

    /// Sets a text, cut to its maximum length.
    pub fn set_text(&mut self, object: ObjectId, index: u8, value: &str) {
        let Codec::Text { max_bytes } = *self.codec(object, index) else {
            panic!("component {index} is not a text")
        };
        let end = value.floor_char_boundary(max_bytes as usize);
        self.set_component(object, index, Component::Text(value[..end].to_owned()));
    }

    /// Counts as they are now: they have no history.
    pub fn counts(&self, object: ObjectId, index: u8) -> &Counts {
        match self.component(object, index) {
            Component::Counts(counts) => counts,
            other => panic!("component {index} is counts, not {other:?}"),
        }
    }

    /// Sets counts, without what the component cannot hold.
    pub fn set_counts(&mut self, object: ObjectId, index: u8, value: &Counts) {
        let &Codec::Counts(of) = self.codec(object, index) else {
            panic!("component {index} is not counts")
        };
        self.set_component(object, index, Component::Counts(value.within(of.names, of.max)));
    }

    /// Bytes as they are now: they have no history.
    pub fn bytes(&self, object: ObjectId, index: u8) -> &[u8] {
        match self.component(object, index) {
            Component::Bytes(bytes) => bytes,
            other => panic!("component {index} is bytes, not {other:?}"),
        }
    }

    /// Sets bytes, cut to their maximum length.
    pub fn set_bytes(&mut self, object: ObjectId, index: u8, value: &[u8]) {
        let &Codec::Bytes { max_bytes } = self.codec(object, index) else {
            panic!("component {index} is not bytes")
        };
        let end = value.len().min(max_bytes as usize);
        self.set_component(object, index, Component::Bytes(value[..end].to_vec()));
    }

    /// Rows as they are now: they have no history.
    pub fn rows(&self, object: ObjectId, index: u8) -> &Rows {
        match self.component(object, index) {
            Component::Rows(rows) => rows,
            other => panic!("component {index} is rows, not {other:?}"),
        }
    }

    /// How many rows a component may have.
    pub fn max_rows(&self, object: ObjectId, index: u8) -> usize {
        match self.codec(object, index) {
            Codec::Rows(format) => format.max as usize,
            other => panic!("component {index} is rows, not {other:?}"),
        }
    }

    /// Sets rows, without what the component cannot hold.
    pub fn set_rows(&mut self, object: ObjectId, index: u8, value: &Rows) {
        let Codec::Rows(format) = self.codec(object, index) else {
            panic!("component {index} is not rows")
        };
        let rows = format.within(value);
        self.set_component(object, index, Component::Rows(rows));
    }

    /// Sets a component of an object without a place, and what it will be, from now on.
    pub(super) fn replace_component(&mut self, object: ObjectId, index: u8, value: Component) {
        let now = self.now();
        let is_changed = match (self.component_mut(object, index), value) {
            (Component::Gauge(gauge), Component::Gauge(value)) => replace_tail(gauge, now, &value),
            (Component::Flag(flag), Component::Flag(value)) => replace_tail(flag, now, &value),
            (_, value) => return self.set_component(object, index, value),
        };
        self.note_timeline_change(object, index, now, is_changed);
    }

    /// Nothing is sent of a component that is set to the value that it has.
    fn set_component(&mut self, object: ObjectId, index: u8, value: Component) {
        let component = self.component_mut(object, index);
        if *component != value {
            *component = value;
            self.mark_dirty(object, index);
        }
    }

    fn note_timeline_change(
        &mut self,
        object: ObjectId,
        index: u8,
        from: GameTime,
        is_changed: bool,
    ) {
        if is_changed {
            let is_late = round_to_millis(from) < self.now();
            self.object_mut(object).changed_late |= u16::from(is_late) << index;
            self.mark_dirty(object, index);
        }
    }

    fn codec(&self, object: ObjectId, index: u8) -> &Codec {
        let kind = usize::from(self.object(object).kind);
        &self.schema().kinds[kind].components[usize::from(index)].codec
    }

    fn component_mut(&mut self, object: ObjectId, index: u8) -> &mut Component {
        let horizon = self.now().saturating_sub(HISTORY_KEPT);
        let component = &mut self.object_mut(object).components[usize::from(index)];
        match component {
            Component::Path(path) => path.forget_before(horizon),
            Component::Gauge(gauge) => gauge.forget_before(horizon),
            Component::Flag(flag) => flag.forget_before(horizon),
            Component::Pose(_)
            | Component::Number(_)
            | Component::Decimal(_)
            | Component::Text(_)
            | Component::Counts(_)
            | Component::Bytes(_)
            | Component::Rows(_) => {}
        }
        component
    }
}

/// The component with its values on the grid of the wire, and room for further points.
pub(super) fn quantised_component(component: Component) -> Component {
    match component {
        Component::Path(path) => {
            Component::Path(quantise_timeline(&path, |point| point.quantised()))
        }
        Component::Gauge(gauge) => {
            Component::Gauge(quantise_timeline(&gauge, |gauge| gauge.quantised()))
        }
        Component::Flag(flag) => Component::Flag(quantise_timeline(&flag, |flag| *flag)),
        plain @ (Component::Pose(_)
        | Component::Number(_)
        | Component::Decimal(_)
        | Component::Text(_)
        | Component::Counts(_)
        | Component::Bytes(_)
        | Component::Rows(_)) => plain,
    }
}

/// The number of points of a component's timeline that define its values from `from` on, those of
/// a path up to `path_until` and the one after that.
pub(super) fn points_ahead(component: &Component, from: GameTime, path_until: GameTime) -> usize {
    match component {
        Component::Path(path) => {
            let mut later = path.tail(from).skip_while(|(time, _)| *time <= path_until);
            let unsent = later.by_ref().skip(1).count();
            path.tail(from).len() - unsent
        }
        Component::Gauge(gauge) => gauge.tail(from).len(),
        Component::Flag(flag) => flag.tail(from).len(),
        Component::Pose(_)
        | Component::Number(_)
        | Component::Decimal(_)
        | Component::Text(_)
        | Component::Counts(_)
        | Component::Bytes(_)
        | Component::Rows(_) => 0,
    }
}

/// Whether a timeline has no point and so no value.
pub(super) fn is_empty_timeline(component: &Component) -> bool {
    match component {
        Component::Path(path) => path.is_empty(),
        Component::Gauge(gauge) => gauge.is_empty(),
        Component::Flag(flag) => flag.is_empty(),
        Component::Pose(_)
        | Component::Number(_)
        | Component::Decimal(_)
        | Component::Text(_)
        | Component::Counts(_)
        | Component::Bytes(_)
        | Component::Rows(_) => false,
    }
}

pub(super) fn position_on(path: &Timeline<Waypoint>, t: GameTime) -> Position {
    path.value_at(t).expect("a path has a point").position
}

/// The nearest whole millisecond, the resolution of the wire.
fn round_to_millis(time: GameTime) -> GameTime {
    (time + Duration::from_micros(500)).whole_millis()
}

/// Returns whether that changes any value on the grid of the wire.
fn set_from<T: TimelineValue>(
    timeline: &mut Timeline<T>,
    from: GameTime,
    value: T,
    grid: impl Fn(T) -> T,
) -> bool {
    let from = round_to_millis(from);
    let before = timeline.value_at(from).map(grid);
    let is_as_before = timeline.next_after(from).is_none() && before.as_ref() == Some(&value);
    if !is_as_before {
        timeline.replace_from(from, [(from, value)]);
    }
    !is_as_before
}

/// Returns whether that changes any value at `from` or later.
fn replace_tail<T: TimelineValue>(
    timeline: &mut Timeline<T>,
    from: GameTime,
    values: &Timeline<T>,
) -> bool {
    let later = |timeline: &Timeline<T>| -> Vec<(GameTime, T)> {
        let later = timeline.points().filter(|(time, _)| *time > from);
        later.map(|(time, value)| (time, value.clone())).collect()
    };
    let is_as_before =
        timeline.value_at(from) == values.value_at(from) && later(timeline) == later(values);
    if !is_as_before {
        let tail = values.points().map(|(time, value)| (time, value.clone()));
        timeline.replace_from(from, tail);
    }
    !is_as_before
}

fn quantise_timeline<T: TimelineValue>(
    timeline: &Timeline<T>,
    grid: impl Fn(&T) -> T,
) -> Timeline<T> {
    let mut stored = Timeline::new(MAX_STORED_POINTS);
    for (time, value) in timeline.points() {
        stored.insert(round_to_millis(time), grid(value));
    }
    stored
}
