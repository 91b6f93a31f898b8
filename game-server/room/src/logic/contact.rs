//! The first time at which two moving objects come within reach of each other.
//!
//! The result is exact, not sampled. Between two points of a path an object moves in a straight
//! line, so the squared distance of two objects is a parabola in time. The first contact is a root
//! of it. A fast object cannot pass through a slow one between two ticks, whatever the tick rate.
//! An object with a pose moves in a straight line from its pose of one tick to that of the next.
//!
//! Units: metres; seconds inside an interval, microseconds outside. Cost: one root for each
//! interval; an interval ends at a point of either path.

use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_proto::timeline::{Timeline, TimelineValue, Waypoint};
use glam::DVec3;

/// How an object moves.
#[derive(Clone, Copy, Debug)]
pub enum ObjectMotion<'w> {
    /// Along a path.
    Path(&'w Timeline<Waypoint>),
    /// In a straight line between two points in time, at rest before and after.
    Straight {
        /// Start time and position.
        from: (GameTime, Position),
        /// End time and position.
        to: (GameTime, Position),
    },
}

impl ObjectMotion<'_> {
    /// The position at `t`, and whether the object jumped there. `None` if its path is empty.
    pub fn waypoint_at(&self, t: GameTime) -> Option<Waypoint> {
        match *self {
            Self::Path(path) => path.value_at(t),
            Self::Straight { to, .. } if t >= to.0 => Some(Waypoint::walk(to.1)),
            Self::Straight { from, .. } if t <= from.0 => Some(Waypoint::walk(from.1)),
            Self::Straight { from, to } => Some(Waypoint::interpolate(
                (from.0, &Waypoint::walk(from.1)),
                (to.0, &Waypoint::walk(to.1)),
                t,
            )),
        }
    }

    /// The first time after `t` at which the direction may change.
    fn next_after(&self, t: GameTime) -> Option<GameTime> {
        match *self {
            Self::Path(path) => path.next_after(t),
            Self::Straight { from, to } => [from.0, to.0].into_iter().find(|&end| end > t),
        }
    }
}

impl<'w> From<&'w Timeline<Waypoint>> for ObjectMotion<'w> {
    fn from(path: &'w Timeline<Waypoint>) -> Self {
        Self::Path(path)
    }
}

/// The first time in `from..=to` at which the two objects are at most `reach_m` apart.
pub fn first_contact<'w>(
    one: impl Into<ObjectMotion<'w>>,
    other: impl Into<ObjectMotion<'w>>,
    (from, to): (GameTime, GameTime),
    reach_m: f32,
) -> Option<GameTime> {
    let one = one.into();
    let other = other.into();
    let mut start = from;
    loop {
        let end = [&one, &other]
            .into_iter()
            .filter_map(|motion| motion.next_after(start))
            .fold(to, GameTime::min);
        let stretch = RelativeMotion::between(&one, &other, start, end)?;
        if let Some(seconds) = stretch.first_within(reach_m) {
            return Some((start + std::time::Duration::from_secs_f64(seconds)).min(end));
        }
        if end >= to {
            return None;
        }
        start = end;
    }
}

/// The relative motion of two objects while both move in straight lines or rest.
struct RelativeMotion {
    /// From one to the other at the start, in metres.
    offset: DVec3,
    /// Change of the offset, in metres a second.
    velocity: DVec3,
    duration_s: f64,
    /// From one to the other at the end. It differs from the end of the straight line if an object
    /// jumps there.
    offset_at_end: DVec3,
}

impl RelativeMotion {
    fn between(
        one: &ObjectMotion<'_>,
        other: &ObjectMotion<'_>,
        start: GameTime,
        end: GameTime,
    ) -> Option<Self> {
        let length = end.since(start).as_secs_f64();
        let apart =
            difference(one.waypoint_at(start)?.position, other.waypoint_at(start)?.position);
        let before_end = difference(
            position_before_jump(one, start, end)?,
            position_before_jump(other, start, end)?,
        );
        let velocity = if length > 0.0 { (before_end - apart) / length } else { DVec3::ZERO };
        let offset_at_end =
            difference(one.waypoint_at(end)?.position, other.waypoint_at(end)?.position);
        Some(Self { offset: apart, velocity, duration_s: length, offset_at_end })
    }

    /// Seconds from the start to the first contact.
    fn first_within(&self, reach_m: f32) -> Option<f64> {
        let reach_squared = f64::from(reach_m) * f64::from(reach_m);
        let gap = self.offset.length_squared() - reach_squared;
        if gap <= 0.0 {
            return Some(0.0);
        }
        let root = self.root(gap).filter(|&seconds| seconds <= self.duration_s);
        root.or_else(|| {
            (self.offset_at_end.length_squared() <= reach_squared).then_some(self.duration_s)
        })
    }

    /// The first root of |offset + t * velocity|^2 = reach^2. `gap` is the constant term, above
    /// zero.
    fn root(&self, gap: f64) -> Option<f64> {
        let square = self.velocity.length_squared();
        let half = self.offset.dot(self.velocity);
        let discriminant = half * half - square * gap;
        // At rest, moving apart, or passing each other out of reach.
        if square == 0.0 || half >= 0.0 || discriminant < 0.0 {
            return None;
        }
        // This form is numerically stable when the root is near zero.
        Some(gap / (discriminant.sqrt() - half))
    }
}

/// The position at `end` if the object does not jump there. There is no point of the path between
/// `start` and `end`.
fn position_before_jump(
    motion: &ObjectMotion<'_>,
    start: GameTime,
    end: GameTime,
) -> Option<Position> {
    let arrival = motion.waypoint_at(end)?;
    if arrival.jump {
        motion.waypoint_at(start).map(|point| point.position)
    } else {
        Some(arrival.position)
    }
}

fn difference(from: Position, to: Position) -> DVec3 {
    let vector = |at: Position| DVec3::new(at.x.into(), at.y.into(), at.z.into());
    vector(to) - vector(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_object_meets_a_standing_one_at_its_exact_reach() {
        let bolt = path(&[(0, 0.0, 0.0), (1_000, 20.0, 0.0)]);
        let orc = path(&[(0, 10.0, 0.0)]);
        assert_eq!(contact(&bolt, &orc, 0, 1_000), Some(475_000));
    }

    #[test]
    fn a_contact_between_two_ticks_is_found() {
        let bolt = path(&[(0, 0.0, 0.0), (1_000, 20.0, 0.0)]);
        let runner = path(&[(0, 10.0, -5.0), (1_000, 10.0, 5.0)]);
        let at = contact(&bolt, &runner, 0, 1_000).expect("they meet");
        assert!((470_000..500_000).contains(&at), "{at}");
    }

    #[test]
    fn objects_that_pass_out_of_reach_do_not_meet() {
        let bolt = path(&[(0, 0.0, 0.0), (1_000, 20.0, 0.0)]);
        assert_eq!(contact(&bolt, &path(&[(0, 10.0, 0.6)]), 0, 1_000), None);
        let runner = path(&[(0, 10.0, 5.0), (1_000, 10.0, -5.0)]);
        assert_eq!(contact(&bolt, &runner, 600, 1_000), None);
    }

    #[test]
    fn objects_within_reach_at_the_start_meet_at_once() {
        let one = path(&[(0, 3.0, 3.0)]);
        let other = path(&[(0, 3.2, 3.0)]);
        assert_eq!(contact(&one, &other, 250, 300), Some(250_000));
    }

    #[test]
    fn a_turn_within_the_interval_is_followed() {
        let bolt = path(&[(0, 0.0, 0.0), (1_000, 20.0, 0.0)]);
        let turns_away = path(&[(0, 5.0, 1.0), (100, 5.0, 0.8), (1_000, 5.0, 9.0)]);
        assert_eq!(contact(&bolt, &turns_away, 0, 1_000), None);
        let turns_in = path(&[(0, 15.0, 9.0), (700, 15.0, 9.0), (750, 15.0, 0.0)]);
        assert!(contact(&bolt, &turns_in, 0, 1_000).is_some());
    }

    #[test]
    fn a_posed_object_is_met_on_its_segment_of_the_tick_and_at_rest() {
        let post = path(&[(0, 5.0, 0.0)]);
        let start = Position::on_ground(0.0, 0.0);
        let end = Position::on_ground(10.0, 0.0);
        let motion = ObjectMotion::Straight {
            from: (GameTime::from_millis(100), start),
            to: (GameTime::from_millis(200), end),
        };
        let met = |from: u64, to: u64, post: &Timeline<Waypoint>| {
            first_contact(
                motion,
                post,
                (GameTime::from_millis(from), GameTime::from_millis(to)),
                REACH,
            )
            .map(GameTime::micros)
        };
        assert_eq!(met(100, 200, &post), Some(145_000));
        assert_eq!(met(0, 300, &post), Some(145_000));
        assert_eq!(met(0, 140, &post), None);
        assert_eq!(met(160, 300, &post), None);
        assert_eq!(met(250, 300, &path(&[(0, 10.2, 0.0)])), Some(250_000));
    }

    #[test]
    fn a_jump_makes_contact_only_where_it_ends() {
        let stone = path(&[(0, 5.0, 0.0)]);
        let mut over = path(&[(0, 0.0, 0.0)]);
        over.insert(GameTime::from_millis(500), Waypoint::jump(Position::on_ground(10.0, 0.0)));
        assert_eq!(contact(&stone, &over, 0, 1_000), None);
        let mut onto = path(&[(0, 0.0, 0.0)]);
        onto.insert(GameTime::from_millis(500), Waypoint::jump(Position::on_ground(5.0, 0.0)));
        assert_eq!(contact(&stone, &onto, 0, 1_000), Some(500_000));
    }

    #[test]
    fn random_paths_agree_with_small_steps() {
        let mut rng = fastrand::Rng::with_seed(11);
        for case in 0..300 {
            let one = random_path(&mut rng);
            let other = random_path(&mut rng);
            let exact = contact(&one, &other, 0, 2_000);
            let distance = |micros: u64| {
                let at = |path: &Timeline<Waypoint>| {
                    path.value_at(GameTime::from_micros(micros)).expect("a point").position
                };
                at(&one).distance(at(&other))
            };
            let stepped =
                (0..=20_000).map(|step| step * 100).find(|&micros| distance(micros) <= REACH);
            match (exact, stepped) {
                (Some(exact), Some(stepped)) => {
                    assert!(stepped.abs_diff(exact) <= 200, "case {case}: {exact} {stepped}");
                }
                (Some(exact), None) => {
                    assert!(distance(exact) < REACH + 1e-3, "case {case}: {exact}");
                }
                (None, stepped) => assert_eq!(stepped, None, "case {case}"),
            }
        }
    }

    const REACH: f32 = 0.5;

    fn contact(
        one: &Timeline<Waypoint>,
        other: &Timeline<Waypoint>,
        from: u64,
        to: u64,
    ) -> Option<u64> {
        let span = (GameTime::from_millis(from), GameTime::from_millis(to));
        first_contact(one, other, span, REACH).map(GameTime::micros)
    }

    fn path(points: &[(u64, f32, f32)]) -> Timeline<Waypoint> {
        let mut path = Timeline::new(8);
        for &(millis, x, y) in points {
            path.insert(GameTime::from_millis(millis), Waypoint::walk(Position::on_ground(x, y)));
        }
        path
    }

    fn random_path(rng: &mut fastrand::Rng) -> Timeline<Waypoint> {
        let points: Vec<_> =
            (0..4).map(|leg| (leg * 600, rng.f32() * 6.0, rng.f32() * 6.0)).collect();
        path(&points)
    }
}
