//! Timelines, checked against a plain sorted list with linear search.

use std::collections::BTreeMap;

use super::*;

fn at(millis: u64) -> GameTime {
    GameTime::from_millis(millis)
}

fn on_x(x: f32) -> Position {
    Position::on_ground(x, 0.0)
}

/// The expected behaviour of a timeline: written for clarity, without shared code.
struct Oracle {
    points: BTreeMap<GameTime, Gauge>,
    capacity: usize,
}

impl Oracle {
    fn insert(&mut self, time: GameTime, value: Gauge) {
        self.points.insert(time, value);
        while self.points.len() > self.capacity {
            self.points.pop_first();
        }
    }

    fn replace_from(&mut self, time: GameTime, points: &[(GameTime, Gauge)]) {
        self.points.retain(|&at, _| at < time);
        for &(time, value) in points {
            self.insert(time, value);
        }
    }

    fn forget_before(&mut self, t: GameTime) {
        if let Some(keep) = self.last_at_or_before(t) {
            self.points.retain(|&at, _| at >= keep);
        }
    }

    fn last_at_or_before(&self, t: GameTime) -> Option<GameTime> {
        self.points.keys().copied().filter(|&at| at <= t).max()
    }

    fn at(&self, t: GameTime) -> Option<Gauge> {
        let Some(time) = self.last_at_or_before(t) else {
            return self.points.values().next().copied();
        };
        let gauge = self.points[&time];
        let value = gauge.value + gauge.rate * (t.micros() - time.micros()) as f32 / 1e6;
        Some(Gauge { value: value.clamp(0.0, gauge.max), ..gauge })
    }

    fn tail(&self, from: GameTime) -> Vec<(GameTime, Gauge)> {
        let first = self.last_at_or_before(from).unwrap_or(GameTime::ZERO);
        self.points
            .iter()
            .map(|(&time, &value)| (time, value))
            .filter(|point| point.0 >= first)
            .collect()
    }
}

fn random_point(rng: &mut fastrand::Rng) -> (GameTime, Gauge) {
    let gauge = Gauge { value: rng.f32() * 100.0, rate: rng.f32() * 200.0 - 100.0, max: 100.0 };
    (at(rng.u64(..50)), gauge)
}

#[test]
fn a_timeline_agrees_with_a_sorted_list_under_random_operations() {
    for seed in 0..500 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let capacity = rng.usize(1..10);
        let mut timeline = Timeline::new(capacity);
        let mut oracle = Oracle { points: BTreeMap::new(), capacity };
        for step in 0..60 {
            let (time, value) = random_point(&mut rng);
            let points: Vec<_> = (0..rng.usize(..4)).map(|_| random_point(&mut rng)).collect();
            match rng.u8(..8) {
                0 => {
                    timeline.forget_before(time);
                    oracle.forget_before(time);
                }
                1 => {
                    timeline.replace_from(time, points.iter().copied());
                    oracle.replace_from(time, &points);
                }
                2 => {
                    timeline.merge_tail(points.iter().copied());
                    if let Some(first) = points.first() {
                        oracle.replace_from(first.0, &points);
                    }
                }
                _ => {
                    timeline.insert(time, value);
                    oracle.insert(time, value);
                }
            }
            check_against_oracle(&timeline, &oracle, &format!("seed {seed}, step {step}"));
        }
    }
}

fn check_against_oracle(timeline: &Timeline<Gauge>, oracle: &Oracle, context: &str) {
    let owned = |(time, value): (GameTime, &Gauge)| (time, *value);
    let points: Vec<_> = oracle.points.iter().map(|(&time, &value)| (time, value)).collect();
    assert_eq!(timeline.points().map(owned).collect::<Vec<_>>(), points, "{context}");
    assert_eq!(timeline.first().map(owned), points.first().copied(), "{context}");
    assert_eq!(timeline.last().map(owned), points.last().copied(), "{context}");
    assert_eq!(
        (timeline.len(), timeline.is_empty()),
        (points.len(), points.is_empty()),
        "{context}"
    );
    for millis in 0..52 {
        let t = at(millis);
        let ours = timeline.value_at(t);
        let theirs = oracle.at(t);
        assert_eq!(ours.is_some(), theirs.is_some(), "{context}, {t:?}");
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            assert!(
                (ours.value - theirs.value).abs() < 1e-3,
                "{context}, {t:?}: {ours:?}, not {theirs:?}"
            );
        }
        assert_eq!(
            timeline.tail(t).map(owned).collect::<Vec<_>>(),
            oracle.tail(t),
            "{context}, {t:?}"
        );
        let next = oracle.points.keys().copied().find(|&time| time > t);
        assert_eq!(timeline.next_after(t), next, "{context}, {t:?}");
    }
}

#[test]
fn nothing_is_allocated_after_the_first_insertion() {
    let mut timeline = Timeline::starting_with(8, at(0), StepValue(0_u32));
    let storage = timeline.points.capacity();
    let mut rng = fastrand::Rng::with_seed(3);
    for now in 0..2_000 {
        timeline.insert(at(rng.u64(..3_000)), StepValue(now));
        let future = (0..12).map(|step| (at(u64::from(now) + step), StepValue(now)));
        timeline.replace_from(at(u64::from(now)), future);
        assert_eq!(timeline.points.capacity(), storage);
    }
}

#[test]
fn an_empty_timeline_has_no_value() {
    let mut timeline: Timeline<Waypoint> = Timeline::new(4);
    assert_eq!(timeline.value_at(at(0)), None);
    assert_eq!(timeline.next_after(at(0)), None);
    assert_eq!(timeline.tail(at(9)).len(), 0);
    timeline.forget_before(at(9));
    timeline.merge_tail([]);
    assert_eq!(timeline, Timeline::new(1));
}

#[test]
fn a_walker_moves_straight_between_points_and_stops_at_the_last() {
    let mut path = Timeline::starting_with(8, at(1_000), Waypoint::walk(on_x(10.0)));
    path.insert(at(3_000), Waypoint::walk(on_x(20.0)));
    for (millis, x) in
        [(0, 10.0), (1_000, 10.0), (1_500, 12.5), (2_000, 15.0), (3_000, 20.0), (9_000, 20.0)]
    {
        assert_eq!(path.value_at(at(millis)), Some(Waypoint::walk(on_x(x))), "{millis} ms");
    }
}

#[test]
fn a_new_target_replaces_the_rest_of_the_path() {
    let mut path = Timeline::starting_with(8, at(0), Waypoint::walk(on_x(0.0)));
    path.insert(at(4_000), Waypoint::walk(on_x(20.0)));
    let turn = path.value_at(at(1_000)).expect("the path has points");
    path.replace_from(at(1_000), [(at(1_000), turn), (at(2_000), Waypoint::walk(on_x(0.0)))]);
    for (millis, x) in [(500, 2.5), (1_000, 5.0), (1_500, 2.5), (2_000, 0.0), (4_000, 0.0)] {
        assert_eq!(
            path.value_at(at(millis)).map(|waypoint| waypoint.position),
            Some(on_x(x)),
            "{millis} ms"
        );
    }
}

#[test]
fn a_jump_takes_no_time() {
    let mut path = Timeline::starting_with(8, at(0), Waypoint::walk(on_x(0.0)));
    path.insert(at(1_000), Waypoint::jump(on_x(15.0)));
    path.insert(at(2_000), Waypoint::walk(on_x(16.0)));
    let x = |millis| path.value_at(at(millis)).expect("a path").position.x;
    assert_eq!([x(0), x(999), x(1_000), x(1_500), x(2_000)], [0.0, 0.0, 15.0, 15.5, 16.0]);
}

#[test]
fn a_path_cut_at_a_jump_keeps_the_jump() {
    let mut path = Timeline::starting_with(8, at(0), Waypoint::walk(on_x(0.0)));
    path.insert(at(1_000), Waypoint::jump(on_x(15.0)));
    let jump = |millis| path.value_at(at(millis)).expect("a path").jump;
    assert_eq!([jump(0), jump(999), jump(1_000), jump(1_001)], [false, false, true, false]);
}

#[test]
fn a_gauge_changes_at_its_rate_and_stops_at_its_bounds() {
    let mut mana = Timeline::starting_with(8, at(0), Gauge { value: 90.0, rate: 5.0, max: 100.0 });
    mana.insert(at(10_000), Gauge { value: 30.0, rate: -20.0, max: 100.0 });
    for (millis, value) in [
        (0, 90.0),
        (1_000, 95.0),
        (5_000, 100.0),
        (9_999, 100.0),
        (10_000, 30.0),
        (11_000, 10.0),
        (60_000, 0.0),
    ] {
        assert_eq!(mana.value_at(at(millis)).map(|gauge| gauge.value), Some(value), "{millis} ms");
    }
}

#[test]
fn a_gauge_is_finite_at_the_end_of_time() {
    let gauge = Gauge { value: 1.0, rate: f32::MAX, max: 10.0 };
    assert_eq!(
        Timeline::starting_with(1, at(0), gauge).value_at(GameTime::MAX).map(|gauge| gauge.value),
        Some(10.0)
    );
}

#[test]
fn a_step_value_holds_until_the_next() {
    let mut veiled = Timeline::starting_with(8, at(100), StepValue(true));
    veiled.insert(at(200), StepValue(false));
    let values =
        [0, 100, 199, 200, 999].map(|millis| veiled.value_at(at(millis)) == Some(StepValue(true)));
    assert_eq!(values, [true, true, true, false, false]);
}

#[test]
fn a_full_timeline_drops_the_oldest_even_if_it_is_the_new_one() {
    let mut timeline = Timeline::starting_with(2, at(10), StepValue('b'));
    timeline.insert(at(20), StepValue('c'));
    timeline.insert(at(5), StepValue('a'));
    assert_eq!(timeline.first(), Some((at(10), &StepValue('b'))));
    timeline.insert(at(15), StepValue('d'));
    assert_eq!(
        timeline.points().collect::<Vec<_>>(),
        [(at(15), &StepValue('d')), (at(20), &StepValue('c'))]
    );
    timeline.insert(at(15), StepValue('e'));
    assert_eq!(timeline.value_at(at(16)), Some(StepValue('e')));
}
