//! What is kept of one component, and what an update changes of it.
//!
//! Updates go in; values at any room time come out, and whether an update was news, and if so
//! whether views had shown something else already: that makes it late. News are asked of the
//! curves, not of the points, since a sender may cut the same curve at other times; what differs by
//! less than anybody can see counts as the same.
//!
//! Paths, gauges and flags bring their points in time along. A number or a text holds from the
//! record's time on and is kept as steps over time, so that all components are read alike. Poses
//! are none of these: see [`super::track`].
//!
//! Source: `proto::message`; reference 003, section 3.6 (late data are inserted in the past).

use ambit_proto::schema::Component;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Gauge, Held, Sample, Timeline, Waypoint};

use crate::client::event::Value;

/// Steps of a number or a text that are known at once: more than a room of 30 Hz decides within a
/// local lag of 200 ms.
const STEPS: usize = 8;
/// Metres that nobody sees; what rounding to milliseconds and to the wire's grid can make of a fast
/// missile.
pub(super) const NEAR_M: f32 = 0.1;
/// Share of a gauge's maximum that nobody sees.
const NEAR_SHARE: f32 = 0.01;
/// Change a second of a gauge that nobody sees, as a share of its maximum.
const NEAR_RATE_SHARE: f32 = 0.002;

/// What an update was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum News {
    /// Nothing that was not known.
    None,
    /// News of what has not been shown yet.
    Ahead,
    /// News that contradict what is being shown.
    Late,
}

/// A component over time.
#[derive(Clone, Debug)]
pub enum Kept {
    /// With points of its own: a path, a gauge or a flag.
    Curve(Component),
    /// A number or a text, from when on each holds.
    Steps(Timeline<Held<Component>>),
}

impl Kept {
    /// The first that is heard of a component, in a record that holds from `at` on.
    pub fn new(at: GameTime, component: &Component) -> Self {
        match component {
            Component::Path(_) | Component::Gauge(_) | Component::Flag(_) | Component::Pose(_) => {
                Kept::Curve(component.clone())
            }
            Component::Number(_) | Component::Text(_) => {
                Kept::Steps(Timeline::with(STEPS, at, Held(component.clone())))
            }
        }
    }

    /// Takes over what a newer record says; `now` is what views show.
    pub fn merge(&mut self, at: GameTime, update: &Component, now: GameTime) -> News {
        match self {
            Kept::Curve(held) => {
                let news = match (&*held, update) {
                    (Component::Path(held), Component::Path(update)) => news(held, update, now),
                    (Component::Gauge(held), Component::Gauge(update)) => news(held, update, now),
                    (Component::Flag(held), Component::Flag(update)) => news(held, update, now),
                    _ => News::None,
                };
                held.merge(update);
                news
            }
            Kept::Steps(held) => {
                let update = Timeline::with(1, at, Held(update.clone()));
                let news = news(held, &update, now);
                held.merge_tail(update.points().map(|(time, value)| (time, value.clone())));
                news
            }
        }
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Timeline<Waypoint>> {
        match self {
            Kept::Curve(Component::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// Whether it is a flag that is set at `t`.
    pub fn is_set(&self, t: GameTime) -> bool {
        matches!(self, Kept::Curve(Component::Flag(flag)) if flag.at(t).is_some_and(|flag| flag.0))
    }

    /// The value at `t`; `None` while nothing but the type is known.
    pub fn value(&self, t: GameTime) -> Option<Value> {
        match self {
            Kept::Curve(Component::Path(path)) => {
                let end = path.last().filter(|(time, _)| *time > t);
                Some(Value::Path {
                    position: path.at(t)?.position,
                    to: end.map(|(time, point)| (point.position, time)),
                })
            }
            Kept::Curve(Component::Gauge(gauge)) => Some(Value::Gauge(gauge.at(t)?)),
            Kept::Curve(Component::Flag(flag)) => Some(Value::Flag(flag.at(t)?.0)),
            Kept::Curve(step) => value_of(step),
            Kept::Steps(steps) => value_of(&steps.at(t)?.0),
        }
    }
}

fn value_of(step: &Component) -> Option<Value> {
    match step {
        Component::Number(number) => Some(Value::Number(*number)),
        Component::Text(text) => Some(Value::Text(text.clone())),
        Component::Path(_) | Component::Gauge(_) | Component::Flag(_) | Component::Pose(_) => None,
    }
}

fn news<T: Sample + Near>(held: &Timeline<T>, update: &Timeline<T>, now: GameTime) -> News {
    let Some((from, _)) = update.first() else {
        return News::None;
    };
    let differ = |t: GameTime| match (held.at(t), update.at(t)) {
        (Some(held), Some(update)) => !held.is_near(&update),
        (held, update) => held.is_some() != update.is_some(),
    };
    if now >= from && differ(now) {
        return News::Late;
    }
    let known = held
        .tail(from)
        .map(|(time, _)| time)
        .filter(|time| *time >= from);
    let told = update.points().map(|(time, _)| time);
    if known.chain(told).any(differ) {
        News::Ahead
    } else {
        News::None
    }
}

/// Whether a person could not tell two values apart.
trait Near {
    fn is_near(&self, other: &Self) -> bool;
}

impl Near for Waypoint {
    fn is_near(&self, other: &Self) -> bool {
        self.position.distance(other.position) <= NEAR_M
    }
}

impl Near for Gauge {
    fn is_near(&self, other: &Self) -> bool {
        (self.value - other.value).abs() <= self.max * NEAR_SHARE
            && (self.rate - other.rate).abs() <= self.max * NEAR_RATE_SHARE
    }
}

impl<T: PartialEq> Near for Held<T> {
    fn is_near(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

#[cfg(test)]
mod tests {
    use ambit_proto::space::Position;

    use super::*;

    #[test]
    fn the_same_way_cut_elsewhere_is_no_news() {
        let mut kept = kept(&[(0, 0.0), (1_000, 10.0)]);
        assert_eq!(
            kept.merge(ms(500), &walk(&[(500, 5.0), (1_000, 10.0)]), ms(700)),
            News::None
        );
        assert_eq!(
            kept.merge(ms(600), &walk(&[(600, 6.0), (1_000, 10.0)]), ms(300)),
            News::None
        );
    }

    #[test]
    fn another_destination_from_a_later_time_on_is_ahead() {
        let mut kept = kept(&[(0, 0.0), (1_000, 10.0)]);
        let update = walk(&[(500, 5.0), (1_000, 0.0)]);
        assert_eq!(kept.merge(ms(500), &update, ms(400)), News::Ahead);
        assert_eq!(x(&kept, 750), 2.5);
        assert_eq!(kept.merge(ms(500), &update, ms(900)), News::None);
    }

    #[test]
    fn another_destination_from_an_earlier_time_on_is_late() {
        let mut kept = kept(&[(0, 0.0), (1_000, 10.0)]);
        assert_eq!(
            kept.merge(ms(500), &walk(&[(500, 5.0), (1_000, 0.0)]), ms(600)),
            News::Late
        );
        assert_eq!(x(&kept, 600), 4.0);
    }

    #[test]
    fn a_way_that_ends_sooner_than_was_known_is_news() {
        let mut kept = kept(&[(0, 0.0), (1_000, 10.0), (2_000, 20.0)]);
        assert_eq!(
            kept.merge(ms(0), &walk(&[(0, 0.0), (1_000, 10.0)]), ms(500)),
            News::Ahead
        );
    }

    #[test]
    fn a_rate_is_news_even_before_it_has_changed_anything() {
        let mut kept = Kept::new(ms(0), &Component::gauge(ms(0), 50.0, 0.0, 100.0));
        assert_eq!(
            kept.merge(
                ms(500),
                &Component::gauge(ms(500), 50.0, 2.0, 100.0),
                ms(100)
            ),
            News::Ahead
        );
    }

    #[test]
    fn a_number_holds_from_its_record_s_time_on() {
        let mut kept = Kept::new(ms(0), &Component::Number(1));
        for step in 1..=6 {
            let at = ms(100 + 50 * step);
            assert_eq!(
                kept.merge(at, &Component::Number(1 + step as i64), ms(50 * step)),
                News::Ahead
            );
        }
        for (t, expected) in [(0, 1), (149, 1), (150, 2), (399, 6), (400, 7), (9_999, 7)] {
            assert_eq!(kept.value(ms(t)), Some(Value::Number(expected)), "at {t}");
        }
        assert_eq!(
            kept.merge(ms(500), &Component::Number(7), ms(600)),
            News::None
        );
        assert_eq!(
            kept.merge(ms(500), &Component::Number(8), ms(600)),
            News::Late
        );
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

    fn kept(points: &[(u64, f32)]) -> Kept {
        Kept::new(ms(0), &walk(points))
    }

    fn x(kept: &Kept, t: u64) -> f32 {
        kept.path()
            .and_then(|path| path.at(ms(t)))
            .expect("a path with points")
            .position
            .x
    }
}
