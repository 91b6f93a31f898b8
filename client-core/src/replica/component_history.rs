//! The history of one component, and what an update changes in it.
//!
//! Updates go in; values at any room time come out, and the novelty of each update. An update is
//! late if views have already shown something else. Novelty is judged by the curves and not by
//! their points, since a sender may cut the same curve at other times. Invisible differences do not
//! count.
//!
//! Paths, gauges and flags contain their points in time. A number, a decimal or a text holds from
//! the record's time on and is stored as steps over time, so that all components are read alike.
//! Poses are stored elsewhere: see [`super::received_poses`].
//!
//! Source: `proto::message`. Late data is inserted in the past, as in "Architectures de
//! developpement adaptees aux MMOGs" (Project Deus), section 3.6.

use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, StepValue, Timeline, TimelineValue, Waypoint};

use crate::client::event::{BorrowedValue, ComponentValue};

/// Maximum number of steps of a number, a decimal or a text: more than a room of 30 Hz can decide
/// within a local lag of 200 ms.
const MAX_STEPS: usize = 8;
/// Invisible distance in metres: what rounding to milliseconds and to the wire's grid can do to a
/// fast missile.
pub(super) const TOLERANCE_M: f32 = 0.1;
/// Invisible share of a gauge's maximum.
const TOLERANCE_SHARE: f32 = 0.01;
/// Invisible change of a gauge's rate, as a share of its maximum a second.
const TOLERANCE_RATE_SHARE: f32 = 0.002;

/// What an update changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Novelty {
    /// Nothing that a view could show.
    Unchanged,
    /// Values that have not been shown yet.
    Ahead,
    /// Values that contradict what is already shown.
    Late,
}

/// A component over time.
#[derive(Clone, Debug)]
pub enum ComponentHistory {
    /// With its own points in time: a path, a gauge or a flag.
    Curve(Component),
    /// A number, a decimal or a text, with the time from which each value holds.
    Steps(Timeline<StepValue<Component>>),
}

impl ComponentHistory {
    /// The first value of a component, in a record that holds from `at` on.
    pub fn new(at: GameTime, component: &Component) -> Self {
        match component {
            Component::Path(_) | Component::Gauge(_) | Component::Flag(_) | Component::Pose(_) => {
                ComponentHistory::Curve(component.clone())
            }
            Component::Number(_)
            | Component::Decimal(_)
            | Component::Text(_)
            | Component::Counts(_)
            | Component::Bytes(_)
            | Component::Rows(_) => {
                let first = StepValue(component.clone());
                ComponentHistory::Steps(Timeline::starting_with(MAX_STEPS, at, first))
            }
        }
    }

    /// Applies a newer record; `now` is the time that views show.
    pub fn merge(&mut self, at: GameTime, update: &Component, now: GameTime) -> Novelty {
        match self {
            ComponentHistory::Curve(held) => {
                let completed = held.completed(update);
                let update = completed.as_ref().unwrap_or(update);
                let novelty = match (&*held, update) {
                    (Component::Path(held), Component::Path(update)) => novelty(held, update, now),
                    (Component::Gauge(held), Component::Gauge(update)) => {
                        novelty(held, update, now)
                    }
                    (Component::Flag(held), Component::Flag(update)) => novelty(held, update, now),
                    _ => Novelty::Unchanged,
                };
                held.merge(update);
                novelty
            }
            ComponentHistory::Steps(held) => {
                let update = Timeline::starting_with(1, at, StepValue(update.clone()));
                let novelty = novelty(held, &update, now);
                held.merge_tail(update.points().map(|(time, value)| (time, value.clone())));
                novelty
            }
        }
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Timeline<Waypoint>> {
        match self {
            ComponentHistory::Curve(Component::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether it is a flag that is set at `t`.
    pub fn is_set(&self, t: GameTime) -> bool {
        match self {
            ComponentHistory::Curve(Component::Flag(flag)) => {
                flag.value_at(t).is_some_and(|flag| flag.0)
            }
            _ => false,
        }
    }

    /// The value at `t`; `None` while only the type is known.
    pub fn value(&self, t: GameTime) -> Option<BorrowedValue<'_>> {
        match self {
            ComponentHistory::Curve(Component::Path(path)) => {
                let end = path.last().filter(|(time, _)| *time > t);
                Some(ComponentValue::Path {
                    position: path.value_at(t)?.position,
                    to: end.map(|(time, point)| (point.position, time)),
                })
            }
            ComponentHistory::Curve(Component::Gauge(gauge)) => {
                Some(ComponentValue::Gauge(gauge.value_at(t)?))
            }
            ComponentHistory::Curve(Component::Flag(flag)) => {
                Some(ComponentValue::Flag(flag.value_at(t)?.0))
            }
            ComponentHistory::Curve(step) => step_value(step),
            ComponentHistory::Steps(steps) => step_value(&steps.tail(t).next()?.1.0),
        }
    }
}

/// The velocity on a path at `t`, in metres a second; `None` if it has ended.
pub fn velocity_on(path: &Timeline<Waypoint>, t: GameTime) -> Option<[f32; 3]> {
    let next = path.next_after(t)?;
    let from = path.value_at(t)?.position;
    let to = path.value_at(next)?;
    let seconds = next.since(t).as_secs_f32();
    let to = if to.jump { from } else { to.position };
    let velocity = [to.x - from.x, to.y - from.y, to.z - from.z];
    Some(velocity.map(|way| way / seconds))
}

fn step_value(step: &Component) -> Option<BorrowedValue<'_>> {
    match step {
        Component::Number(number) => Some(ComponentValue::Number(*number)),
        Component::Decimal(decimal) => Some(ComponentValue::Decimal(*decimal)),
        Component::Text(text) => Some(ComponentValue::Text(text)),
        Component::Counts(counts) => Some(ComponentValue::Counts(counts)),
        Component::Bytes(bytes) => Some(ComponentValue::Bytes(bytes)),
        Component::Rows(rows) => Some(ComponentValue::Rows(rows)),
        Component::Path(_) | Component::Gauge(_) | Component::Flag(_) | Component::Pose(_) => None,
    }
}

fn novelty<T: TimelineValue + NearlyEqual>(
    held: &Timeline<T>,
    update: &Timeline<T>,
    now: GameTime,
) -> Novelty {
    let Some((from, _)) = update.first() else {
        return Novelty::Unchanged;
    };
    let differ = |t: GameTime| match (held.value_at(t), update.value_at(t)) {
        (Some(held), Some(update)) => !held.is_nearly_equal(&update),
        (held, update) => held.is_some() != update.is_some(),
    };
    if now >= from && differ(now) {
        return Novelty::Late;
    }
    let known = held.tail(from).map(|(time, _)| time).filter(|time| *time >= from);
    let updated = update.points().map(|(time, _)| time);
    if known.chain(updated).any(differ) { Novelty::Ahead } else { Novelty::Unchanged }
}

/// Equality up to invisible differences.
trait NearlyEqual {
    fn is_nearly_equal(&self, other: &Self) -> bool;
}

impl NearlyEqual for Waypoint {
    fn is_nearly_equal(&self, other: &Self) -> bool {
        self.position.distance(other.position) <= TOLERANCE_M
    }
}

impl NearlyEqual for Gauge {
    fn is_nearly_equal(&self, other: &Self) -> bool {
        (self.value - other.value).abs() <= self.max * TOLERANCE_SHARE
            && (self.rate - other.rate).abs() <= self.max * TOLERANCE_RATE_SHARE
    }
}

impl<T: PartialEq> NearlyEqual for StepValue<T> {
    fn is_nearly_equal(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::space::Position;

    use super::*;

    #[test]
    fn the_same_path_cut_at_other_times_is_unchanged() {
        let mut history = history(&[(0, 0.0), (1_000, 10.0)]);
        assert_eq!(
            history.merge(ms(500), &walk(&[(500, 5.0), (1_000, 10.0)]), ms(700)),
            Novelty::Unchanged
        );
        assert_eq!(
            history.merge(ms(600), &walk(&[(600, 6.0), (1_000, 10.0)]), ms(300)),
            Novelty::Unchanged
        );
    }

    #[test]
    fn another_destination_from_a_later_time_on_is_ahead() {
        let mut history = history(&[(0, 0.0), (1_000, 10.0)]);
        let update = walk(&[(500, 5.0), (1_000, 0.0)]);
        assert_eq!(history.merge(ms(500), &update, ms(400)), Novelty::Ahead);
        assert_eq!(x(&history, 750), 2.5);
        assert_eq!(history.merge(ms(500), &update, ms(900)), Novelty::Unchanged);
    }

    #[test]
    fn a_path_that_begins_as_known_goes_on_from_where_it_is() {
        let onward = |from: u64, to: (u64, f32)| {
            let walk = walk(&[(from, 0.0), to]);
            let Component::Path(mut path) = walk else { panic!("a walk is a path") };
            path.insert(ms(from), Waypoint::AS_KNOWN);
            Component::Path(path)
        };
        let mut history = history(&[(0, 0.0), (1_000, 10.0)]);
        assert_eq!(history.merge(ms(500), &onward(500, (1_000, 0.0)), ms(400)), Novelty::Ahead);
        assert_eq!((x(&history, 400), x(&history, 500), x(&history, 750)), (4.0, 5.0, 2.5));
        // The same way once more, cut at another time.
        let again = history.merge(ms(600), &onward(600, (1_000, 0.0)), ms(550));
        assert_eq!(again, Novelty::Unchanged);
        let mut empty = ComponentHistory::new(ms(0), &walk(&[]));
        empty.merge(ms(100), &onward(100, (200, 3.0)), ms(50));
        assert_eq!(x(&empty, 200), 3.0, "of nothing known, what is sent is shown");
    }

    #[test]
    fn another_destination_from_an_earlier_time_on_is_late() {
        let mut history = history(&[(0, 0.0), (1_000, 10.0)]);
        assert_eq!(
            history.merge(ms(500), &walk(&[(500, 5.0), (1_000, 0.0)]), ms(600)),
            Novelty::Late
        );
        assert_eq!(x(&history, 600), 4.0);
    }

    #[test]
    fn a_path_that_ends_sooner_than_known_is_new() {
        let mut history = history(&[(0, 0.0), (1_000, 10.0), (2_000, 20.0)]);
        assert_eq!(
            history.merge(ms(0), &walk(&[(0, 0.0), (1_000, 10.0)]), ms(500)),
            Novelty::Ahead
        );
    }

    #[test]
    fn a_rate_is_new_before_it_has_changed_the_value() {
        let mut history = ComponentHistory::new(ms(0), &Component::gauge(ms(0), 50.0, 0.0, 100.0));
        assert_eq!(
            history.merge(ms(500), &Component::gauge(ms(500), 50.0, 2.0, 100.0), ms(100)),
            Novelty::Ahead
        );
    }

    #[test]
    fn a_number_holds_from_its_record_s_time_on() {
        let mut history = ComponentHistory::new(ms(0), &Component::Number(1));
        for step in 1..=6 {
            let at = ms(100 + 50 * step);
            assert_eq!(
                history.merge(at, &Component::Number(1 + step as i64), ms(50 * step)),
                Novelty::Ahead
            );
        }
        for (t, expected) in [(0, 1), (149, 1), (150, 2), (399, 6), (400, 7), (9_999, 7)] {
            assert_eq!(history.value(ms(t)), Some(ComponentValue::Number(expected)), "at {t}");
        }
        assert_eq!(history.merge(ms(500), &Component::Number(7), ms(600)), Novelty::Unchanged);
        assert_eq!(history.merge(ms(500), &Component::Number(8), ms(600)), Novelty::Late);
    }

    fn ms(ms: u64) -> GameTime {
        GameTime::from_millis(ms)
    }

    fn walk(points: &[(u64, f32)]) -> Component {
        let mut path = Timeline::new(16);
        for &(time, x) in points {
            path.insert(ms(time), Waypoint::walk(Position::on_ground(x, 0.0)));
        }
        Component::Path(path)
    }

    fn history(points: &[(u64, f32)]) -> ComponentHistory {
        ComponentHistory::new(ms(0), &walk(points))
    }

    fn x(history: &ComponentHistory, t: u64) -> f32 {
        history.path().and_then(|path| path.value_at(ms(t))).expect("a path with points").position.x
    }
}
