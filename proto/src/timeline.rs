//! Values over time: past, present and planned ones, as far as they are known.
//!
//! Input: points (time and value, in any order, the past included). Output: values at any time,
//! interpolated between two points and extrapolated beyond the last, by the rules of each type
//! ([`TimelineValue`]). Before the first point the first value applies. An empty timeline has no
//! value.
//!
//! Invariants, checked against a sorted list under random operations:
//! 1. Points are in the order of time, and no two have the same time.
//! 2. There are at most `capacity` of them; one more point removes the oldest, even if that is the
//!    new one: the distant past matters least.
//! 3. Storage for `capacity` points is allocated at the first insertion, and none after that.
//! 4. At the time of a point, the value is exactly the point's.
//!
//! The wire carries whole milliseconds ([`GameTime::whole_millis`]) and positions of a grid
//! ([`Position::quantised`]): points on them are the same at both ends. Cost: a binary search to
//! read; to insert, the points after the new one move. Source: "Architectures de developpement
//! adaptees aux MMOGs" (Project Deus), section 3.6.

#![warn(missing_docs, reason = "authors of games and clients import it")]

use std::collections::VecDeque;
use std::time::Duration;

use crate::space::Position;
use crate::time::GameTime;

/// A value that a [`Timeline`] can hold.
pub trait TimelineValue: Clone + PartialEq {
    /// The value at `t`, which lies strictly between the two points.
    fn interpolate(from: (GameTime, &Self), to: (GameTime, &Self), t: GameTime) -> Self;

    /// The value at `t`, which is after the last point.
    fn extrapolate(last: (GameTime, &Self), t: GameTime) -> Self;
}

/// A point of a path: straight from one to the next at constant speed, and at rest at the last.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Waypoint {
    /// Where the object is at the time of the point.
    pub position: Position,
    /// Whether it is reached by a teleport: until then the object rests at the point before.
    pub jump: bool,
}

impl Waypoint {
    /// Reached in a straight line.
    pub const fn walk(position: Position) -> Self {
        Self { position, jump: false }
    }

    /// Where the object is by what the other end knows of its path: only the first point of an
    /// update, and no place of a map.
    pub const AS_KNOWN: Self = Self::walk(Position::new(f32::MIN, f32::MIN, f32::MIN));

    /// Whether it is [`Self::AS_KNOWN`].
    pub fn is_as_known(&self) -> bool {
        *self == Self::AS_KNOWN
    }

    /// Reached by a teleport.
    pub const fn jump(position: Position) -> Self {
        Self { position, jump: true }
    }
}

impl TimelineValue for Waypoint {
    fn interpolate(from: (GameTime, &Self), to: (GameTime, &Self), t: GameTime) -> Self {
        if to.1.jump {
            return Self::extrapolate(from, t);
        }
        let fraction = t.since(from.0).as_secs_f64() / to.0.since(from.0).as_secs_f64();
        Self::walk(from.1.position.lerp(to.1.position, fraction as f32))
    }

    fn extrapolate(last: (GameTime, &Self), _: GameTime) -> Self {
        Self::walk(last.1.position)
    }
}

/// A number that changes by itself: health and mana that regenerate need no messages.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Gauge {
    /// From 0 to `max`.
    pub value: f32,
    /// Change a second.
    pub rate: f32,
    /// Where a rise ends; a fall ends at 0.
    pub max: f32,
}

impl Gauge {
    /// The gauge after some time without any intervention.
    pub fn after(self, duration: Duration) -> Self {
        let value = f64::from(self.value) + f64::from(self.rate) * duration.as_secs_f64();
        Self { value: (value as f32).min(self.max).max(0.0), ..self }
    }
}

/// Each point determines the values after it, so the next one has no influence before its time.
impl TimelineValue for Gauge {
    fn interpolate(from: (GameTime, &Self), _: (GameTime, &Self), t: GameTime) -> Self {
        Self::extrapolate(from, t)
    }

    fn extrapolate(last: (GameTime, &Self), t: GameTime) -> Self {
        last.1.after(t.since(last.0))
    }
}

/// A value that holds until the next one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct StepValue<T>(pub T);

impl<T: Clone + PartialEq> TimelineValue for StepValue<T> {
    fn interpolate(from: (GameTime, &Self), _: (GameTime, &Self), _: GameTime) -> Self {
        from.1.clone()
    }

    fn extrapolate(last: (GameTime, &Self), _: GameTime) -> Self {
        last.1.clone()
    }
}

/// Values of one thing over time. Two timelines are equal when their points are.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Timeline<T: TimelineValue> {
    /// In the order of time, no two at the same one; at most `capacity`.
    points: VecDeque<(GameTime, T)>,
    capacity: usize,
}

impl<T: TimelineValue> Timeline<T> {
    /// Empty, for `capacity` points (at least 1).
    pub const fn new(capacity: usize) -> Self {
        let capacity = if capacity == 0 { 1 } else { capacity };
        Self { points: VecDeque::new(), capacity }
    }

    /// One point, room for `capacity`.
    pub fn starting_with(capacity: usize, time: GameTime, value: T) -> Self {
        let mut timeline = Self::new(capacity);
        timeline.insert(time, value);
        timeline
    }

    /// Adds a point, in the past too. Replaces one at the same time.
    pub fn insert(&mut self, time: GameTime, value: T) {
        let mut index = self.count_before(time);
        if let Some(point) = self.points.get_mut(index).filter(|point| point.0 == time) {
            point.1 = value;
            return;
        }
        if self.points.len() == self.capacity {
            if index == 0 {
                return; // The new point would be the oldest.
            }
            self.points.pop_front();
            index -= 1;
        }
        self.reserve();
        self.points.insert(index, (time, value));
    }

    /// Removes all points at or after `time` and inserts others: a new plan from then on.
    pub fn replace_from(
        &mut self,
        time: GameTime,
        points: impl IntoIterator<Item = (GameTime, T)>,
    ) {
        self.points.truncate(self.count_before(time));
        for (time, value) in points {
            self.insert(time, value);
        }
    }

    /// At the receiver: points that replace all points from the first one's time on. An empty list
    /// changes nothing.
    pub fn merge_tail(&mut self, points: impl IntoIterator<Item = (GameTime, T)>) {
        let mut points = points.into_iter();
        if let Some(first) = points.next() {
            self.replace_from(first.0, std::iter::once(first).chain(points));
        }
    }

    /// The value at `t`. Before the first point that is the first one's; `None` when there are no
    /// points.
    pub fn value_at(&self, t: GameTime) -> Option<T> {
        let after = self.count_at_or_before(t);
        let Some(index) = after.checked_sub(1) else {
            return self.points.front().map(|(_, value)| value.clone());
        };
        let (time, value) = &self.points[index];
        if *time == t {
            return Some(value.clone());
        }
        let from = (*time, value);
        Some(match self.points.get(after) {
            Some((time, value)) => T::interpolate(from, (*time, value), t),
            None => T::extrapolate(from, t),
        })
    }

    /// All points, oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (GameTime, &T)> + ExactSizeIterator {
        self.points.iter().map(|(time, value)| (*time, value))
    }

    /// The points that determine the values from `from` on: the last one at or before `from`, and
    /// all after it.
    pub fn tail(
        &self,
        from: GameTime,
    ) -> impl DoubleEndedIterator<Item = (GameTime, &T)> + ExactSizeIterator {
        let first = self.count_at_or_before(from).saturating_sub(1);
        self.points.range(first..).map(|(time, value)| (*time, value))
    }

    /// Removes the points that do not affect the values at `t` and later: all before the last one
    /// at or before `t`.
    pub fn forget_before(&mut self, t: GameTime) {
        let past = self.count_at_or_before(t).saturating_sub(1);
        self.points.drain(..past);
    }

    /// The first point.
    pub fn first(&self) -> Option<(GameTime, &T)> {
        self.points.front().map(|(time, value)| (*time, value))
    }

    /// The last point.
    pub fn last(&self) -> Option<(GameTime, &T)> {
        self.points.back().map(|(time, value)| (*time, value))
    }

    /// The time of the first point after `t`.
    pub fn next_after(&self, t: GameTime) -> Option<GameTime> {
        self.points.get(self.count_at_or_before(t)).map(|(time, _)| *time)
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The highest number of points.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Removes all points and keeps the storage.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    fn count_before(&self, t: GameTime) -> usize {
        self.points.partition_point(|(time, _)| *time < t)
    }

    fn count_at_or_before(&self, t: GameTime) -> usize {
        self.points.partition_point(|(time, _)| *time <= t)
    }

    /// Allocates the storage for all points at the first insertion.
    fn reserve(&mut self) {
        if self.points.capacity() < self.capacity {
            self.points.reserve_exact(self.capacity - self.points.len());
        }
    }
}

impl<T: TimelineValue> PartialEq for Timeline<T> {
    fn eq(&self, other: &Self) -> bool {
        self.points == other.points
    }
}

#[cfg(test)]
mod tests;
