//! The points of a timeline that are sent, and how they are written and read.

use std::time::Duration;

use super::{CONTINUED_FOR, MAX_POINTS, SentPart, TIMELINE_CAPACITY};
use crate::space::{MAX_XY, MAX_Z, MIN_Z, Position};
use crate::time::GameTime;
use crate::timeline::{Gauge, StepValue, Timeline, TimelineValue, Waypoint};
use crate::wire::{Coder, WireError};

/// A value that can be rounded to the wire's grid.
pub(super) trait QuantisedValue: TimelineValue + Copy + Default {
    /// The value as the other end will read it.
    fn to_grid(self) -> Self;
}

impl QuantisedValue for Waypoint {
    fn to_grid(self) -> Self {
        self.quantised()
    }
}

impl QuantisedValue for Gauge {
    fn to_grid(self) -> Self {
        self.quantised()
    }
}

impl QuantisedValue for StepValue<bool> {
    fn to_grid(self) -> Self {
        self
    }
}

pub(super) fn merge<T: QuantisedValue>(timeline: &mut Timeline<T>, update: &Timeline<T>) {
    timeline.merge_tail(update.points().map(|(time, value)| (time, *value)));
}

/// The points of a timeline that are sent: quantised, in whole milliseconds, no two in the same
/// one.
pub(super) struct TimelineTail<T> {
    points: [(GameTime, T); MAX_POINTS],
    len: usize,
}

impl<T: QuantisedValue> TimelineTail<T> {
    fn empty() -> Self {
        Self { points: [(GameTime::ZERO, T::default()); MAX_POINTS], len: 0 }
    }

    pub(super) fn from_timeline(timeline: &Timeline<T>, from: GameTime) -> Self {
        let mut tail = Self::empty();
        let from = from.whole_millis();
        for (time, value) in timeline.tail(from) {
            if !tail.push(time, *value, from) {
                break;
            }
        }
        tail
    }

    /// The value at `from` and the points after it.
    pub(super) fn with_value_at(timeline: &Timeline<T>, from: GameTime, stamp: GameTime) -> Self {
        let mut tail = Self::empty();
        let stamp = stamp.whole_millis();
        if let Some(value) = timeline.value_at(from) {
            tail.push(from, value, stamp);
        }
        for (time, value) in timeline.tail(from).filter(|(time, _)| *time > from) {
            if !tail.push(time, *value, stamp) {
                break;
            }
        }
        tail
    }

    /// Adds the next point; returns false if there is no room for it. Of two points in one
    /// millisecond the later is kept, and rounding may put two points at or before `from`.
    fn push(&mut self, time: GameTime, value: T, from: GameTime) -> bool {
        let point = (time.whole_millis(), value.to_grid());
        let replaces =
            self.as_slice().last().is_some_and(|last| last.0 == point.0 || point.0 <= from);
        if self.len == MAX_POINTS && !replaces {
            return false;
        }
        self.len += usize::from(!replaces);
        self.points[self.len - 1] = point;
        true
    }

    /// `value` gets the value before each one, too, if it is not the first.
    pub(super) fn wire<C: Coder>(
        &mut self,
        stamp: GameTime,
        coder: &mut C,
        mut value: impl FnMut(&mut T, Option<&T>, &mut C) -> Result<(), WireError>,
    ) -> Result<(), WireError> {
        coder.count(&mut self.len, MAX_POINTS)?;
        let mut previous: Option<(GameTime, T)> = None;
        for (time, point) in &mut self.points[..self.len] {
            match previous {
                None => coder.time(time, stamp)?,
                Some((previous, _)) => wire_time_after(previous, time, coder)?,
            }
            value(point, previous.as_ref().map(|(_, value)| value), coder)?;
            previous = Some((*time, *point));
        }
        Ok(())
    }

    fn as_slice(&self) -> &[(GameTime, T)] {
        &self.points[..self.len]
    }

    pub(super) fn to_timeline(&self) -> Timeline<T> {
        let mut timeline = Timeline::new(TIMELINE_CAPACITY);
        self.insert_into(&mut timeline);
        timeline
    }

    fn insert_into(&self, timeline: &mut Timeline<T>) {
        for (time, value) in self.as_slice() {
            timeline.insert(*time, *value);
        }
    }
}

impl TimelineTail<Waypoint> {
    /// The part of a path that is sent.
    pub(super) fn of_path(path: &Timeline<Waypoint>, part: SentPart, stamp: GameTime) -> Self {
        let until = part.path_until.unwrap_or(GameTime::MAX);
        let mut tail = Self::empty();
        let stamp = stamp.whole_millis();
        if let Some(value) = path.value_at(part.from) {
            let jump = value.jump || part.has_jumped;
            let first = if part.is_known { Waypoint::AS_KNOWN } else { Waypoint { jump, ..value } };
            tail.push(part.from, first, stamp);
        }
        let mut last_sent = None;
        for (time, &value) in path.tail(part.from) {
            if time > until {
                let course = last_sent
                    .and_then(|start| continued(start, (time, value), stamp + CONTINUED_FOR));
                if let Some((time, value)) = course {
                    tail.push(time, value, stamp);
                }
                break;
            }
            if time > part.from && !tail.push(time, value, stamp) {
                break;
            }
            last_sent = Some((time, value));
        }
        tail
    }
}

/// Where the segment between two points leads to by `at` if it goes on for ever, or where it leaves
/// the wire's space before that. `None` if the object rests on it.
fn continued(
    (start, from): (GameTime, Waypoint),
    (end, to): (GameTime, Waypoint),
    at: GameTime,
) -> Option<(GameTime, Waypoint)> {
    let from = from.position;
    let is_jump = to.jump;
    let to = to.position;
    if is_jump || from == to {
        return None;
    }
    let length_s = end.since(start).as_secs_f64();
    let axes =
        [(from.x, to.x, 0.0, MAX_XY), (from.y, to.y, 0.0, MAX_XY), (from.z, to.z, MIN_Z, MAX_Z)];
    let leaves_after = axes.map(|(from, to, min, max)| {
        let edge = if to < from { min } else { max };
        if to == from { f64::INFINITY } else { f64::from(edge - from) / f64::from(to - from) }
    });
    let share = leaves_after.into_iter().fold(at.since(start).as_secs_f64() / length_s, f64::min);
    let time = (start + Duration::from_secs_f64(share * length_s)).whole_millis();
    let share = time.since(start).as_secs_f64() / length_s;
    let along = |from: f32, to: f32| (f64::from(from) + f64::from(to - from) * share) as f32;
    let position = Position::new(along(from.x, to.x), along(from.y, to.y), along(from.z, to.z));
    Some((time, Waypoint::walk(position)))
}

pub(super) fn wire_timeline<T: QuantisedValue, C: Coder>(
    timeline: &mut Timeline<T>,
    stamp: GameTime,
    coder: &mut C,
    value: impl FnMut(&mut T, Option<&T>, &mut C) -> Result<(), WireError>,
) -> Result<(), WireError> {
    let mut tail =
        if C::READS { TimelineTail::empty() } else { TimelineTail::from_timeline(timeline, stamp) };
    tail.wire(stamp, coder, value)?;
    if C::READS {
        tail.insert_into(timeline);
    }
    Ok(())
}

/// A varint of the milliseconds since `previous`, less one: the next point is a later one.
fn wire_time_after(
    previous: GameTime,
    time: &mut GameTime,
    coder: &mut impl Coder,
) -> Result<(), WireError> {
    let earliest = previous.millis() + 1;
    let mut gap = time.millis().saturating_sub(earliest);
    coder.varint(&mut gap)?;
    let millis = earliest.checked_add(gap).filter(|millis| *millis <= GameTime::MAX.millis());
    *time = GameTime::from_millis(millis.ok_or(WireError::OutOfRange { what: "time of a point" })?);
    Ok(())
}
