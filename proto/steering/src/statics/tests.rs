//! Queries of all shapes, against small steps and an oracle.

use std::f32::consts::FRAC_PI_4;

use super::*;

const RADIUS: f32 = 0.4;

#[test]
fn a_sweep_ends_one_gap_width_before_the_wall() {
    let free = one_box().sweep(at(0.0, 50.0), at(100.0, 50.0), RADIUS);
    assert!((free - (45.0 - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
}

#[test]
fn a_sweep_without_obstacles_reaches_its_end() {
    assert_eq!(one_box().sweep(at(0.0, 40.0), at(30.0, 0.0), RADIUS), 50.0);
    assert_eq!(Statics::default().sweep(at(1.0, 1.0), at(9.0, 1.0), RADIUS), 8.0);
    assert_eq!(one_box().sweep(at(3.0, 3.0), at(3.0, 3.0), RADIUS), 0.0);
}

#[test]
fn a_sweep_that_ends_within_the_gap_of_a_wall_is_shortened() {
    let free = one_box().sweep(at(0.0, 50.0), at(45.0 - RADIUS - 0.001, 50.0), RADIUS);
    assert!((free - (45.0 - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
}

#[test]
fn a_body_stopped_at_a_wall_can_move_along_it_or_away_but_not_through() {
    let statics = one_box();
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..500 {
        let from = at(rng.f32() * 40.0, rng.f32() * 100.0);
        let aim = at(46.0 + rng.f32() * 8.0, 46.0 + rng.f32() * 8.0);
        let free = statics.sweep(from, aim, RADIUS);
        let stop = from.lerp(aim, free / from.distance(aim)).quantised();
        assert!(!statics.is_blocked(stop, RADIUS), "{from:?} {aim:?} {stop:?}");
        assert!(statics.sweep(stop, aim, RADIUS) < 0.05, "{stop:?} {aim:?}");
        assert!(statics.sweep(stop, from, RADIUS) > free - 0.1, "{stop:?} {from:?}");
        if stop.x < 45.0 - RADIUS - 0.75 * SKIN_M {
            let along = Position { y: 1.0, ..stop };
            assert_eq!(statics.sweep(stop, along, RADIUS), stop.distance(along), "{stop:?}");
        }
    }
}

#[test]
fn a_body_that_grazes_a_wall_ends_beside_it() {
    for length in [40.0, 500.0] {
        let mut statics = Statics::default();
        // The face of the box is the line y = 50.
        statics.add(Obstacle::on_ground(50.0, 49.0, length, 1.0, 3.0));
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let from =
                at(20.0 + rng.f32() * 10.0, 50.0 + RADIUS + SKIN_M + rng.f32() * 0.05).quantised();
            let to = at(45.0 + rng.f32() * 10.0, 50.0 + RADIUS + SKIN_M + (rng.f32() - 0.5) * 0.2);
            let free = statics.sweep(from, to, RADIUS);
            let stop = from.lerp(to, free / from.distance(to)).quantised();
            assert!(stop.y >= 50.0 + RADIUS - 0.004, "{from:?} {to:?} {stop:?}");
            let away = Position { y: 90.0, ..stop };
            assert_eq!(statics.sweep(stop, away, RADIUS), stop.distance(away), "{stop:?}");
        }
    }
}

#[test]
fn a_body_inside_the_gap_of_a_wall_can_leave() {
    let statics = one_box();
    for gap in [0.015, 0.01, 0.001, 0.0, -0.003] {
        let stuck = at(45.0 - RADIUS - gap, 50.0);
        for away in [at(0.0, 50.0), at(10.0, 90.0), at(40.0, 2.0)] {
            assert_eq!(statics.sweep(stuck, away, RADIUS), stuck.distance(away), "{gap} {away:?}");
        }
        assert!(statics.sweep(stuck, at(60.0, 50.0), RADIUS) < 0.01, "{gap}");
    }
}

#[test]
fn a_sweep_agrees_with_small_steps() {
    let mut rng = fastrand::Rng::with_seed(6);
    let mut statics = Statics::default();
    for _ in 0..40 {
        statics.add(Obstacle::on_ground(
            rng.f32() * 40.0,
            rng.f32() * 40.0,
            0.3 + rng.f32(),
            0.3 + rng.f32(),
            3.0,
        ));
    }
    for case in 0..300 {
        let from = at(rng.f32() * 40.0, rng.f32() * 40.0);
        let to = at(rng.f32() * 40.0, rng.f32() * 40.0);
        if statics.is_blocked(from, RADIUS + SKIN_M) {
            continue;
        }
        let free = statics.sweep(from, to, RADIUS);
        let distance_m = from.distance(to);
        let gap = |metres: f32| {
            let position = from.lerp(to, metres / distance_m);
            statics
                .obstacles()
                .iter()
                .map(|block| block.ground_distance(position))
                .fold(f32::INFINITY, f32::min)
        };
        let steps = (free / 0.01) as u32;
        let slack = RADIUS + SKIN_M - 1e-3;
        assert!(
            (0..=steps).all(|step| gap(step as f32 * 0.01) > slack),
            "case {case}: {from:?} {to:?} {free}"
        );
        assert!(
            free == distance_m || gap(free + 0.01) < RADIUS + SKIN_M + 1e-3,
            "case {case}: nothing stops at {free} m"
        );
    }
}

#[test]
fn a_ray_hits_the_first_obstacle() {
    let mut statics = one_box();
    statics.add(Obstacle::on_ground(30.0, 50.0, 0.5, 10.0, 1.0));
    let eye = Position::new(0.0, 50.0, 0.5);
    assert_eq!(statics.cast_ray(eye, at(2.0, 0.0), 100.0), Some(29.5));
    // Over the wall.
    assert_eq!(statics.cast_ray(Position { z: 1.5, ..eye }, at(2.0, 0.0), 100.0), Some(45.0));
    assert_eq!(statics.cast_ray(eye, at(2.0, 0.0), 29.0), None);
    assert_eq!(statics.cast_ray(eye, at(-1.0, 0.0), 100.0), None);
    assert_eq!(statics.cast_ray(eye, at(0.0, 0.0), 100.0), None);
}

#[test]
fn an_obstacle_is_between_two_points_if_the_line_meets_it() {
    let statics = one_box(); // 10 x 10 m around (50, 50).
    let between = |from: Position, to| statics.is_between(from, to);
    assert!(between(at(40.0, 50.0), at(60.0, 50.0)) && between(at(60.0, 50.0), at(40.0, 50.0)));
    assert!(between(at(40.0, 41.0), at(60.0, 59.0)) && !between(at(40.0, 41.0), at(44.0, 60.0)));
    assert!(!between(at(40.0, 50.0), at(44.9, 50.0)) && !between(at(55.1, 50.0), at(60.0, 50.0)));
    // Inside, along a face, and nowhere.
    assert!(between(at(50.0, 50.0), at(90.0, 90.0)) && between(at(50.0, 50.0), at(50.0, 50.0)));
    assert!(between(at(40.0, 45.0), at(60.0, 45.0)) && !between(at(40.0, 44.9), at(60.0, 44.9)));
    assert!(!between(at(40.0, 50.0), at(40.0, 50.0)));
    assert!(!Statics::default().is_between(at(0.0, 0.0), at(99.0, 99.0)));
}

#[test]
fn what_is_between_two_points_is_what_a_ray_hits() {
    let mut rng = fastrand::Rng::with_seed(8);
    let mut statics = Statics::default();
    for _ in 0..60 {
        let (x, y) = (rng.f32() * 100.0, rng.f32() * 100.0);
        statics.add(Obstacle::on_ground(x, y, 0.5 + rng.f32(), 0.5 + 4.0 * rng.f32(), 3.0));
    }
    let mut hits = 0;
    for _ in 0..2_000 {
        let mut eye = || Position::new(rng.f32() * 100.0, rng.f32() * 100.0, rng.f32() * 4.0);
        let from = eye();
        let to = eye();
        let way = Position::new(to.x - from.x, to.y - from.y, to.z - from.z);
        let hit = statics.cast_ray(from, way, from.distance(to)).is_some();
        assert_eq!(statics.is_between(from, to), hit, "{from:?} {to:?}");
        hits += u32::from(hit);
    }
    assert!((400..1_600).contains(&hits), "{hits}");
}

#[test]
fn a_position_in_or_at_a_box_is_blocked_and_one_beside_it_is_not() {
    let statics = one_box();
    assert!(statics.is_blocked(at(50.0, 50.0), RADIUS));
    assert!(statics.is_blocked(at(44.7, 50.0), RADIUS));
    assert!(!statics.is_blocked(at(44.5, 50.0), RADIUS));
    assert!(!statics.is_blocked(at(44.7, 44.7), RADIUS)); // Beside the corner.
}

#[test]
fn five_thousand_boxes_are_all_found() {
    let mut statics = Statics::default();
    let boxes: Vec<_> =
        (0..5_000).map(|n| ((n % 100) as f32 * 100.0, (n / 100) as f32 * 100.0)).collect();
    for &(x, y) in &boxes {
        statics.add(Obstacle::on_ground(x, y, 1.0, 1.0, 3.0));
    }
    assert!(boxes.iter().all(|&(x, y)| statics.is_blocked(at(x + 1.2, y), RADIUS)));
    assert!(boxes.iter().all(|&(x, y)| !statics.is_blocked(at(x + 50.0, y), RADIUS)));
}

/// A box of 10 x 10 m around (50, 50).
fn one_box() -> Statics {
    let mut statics = Statics::default();
    statics.add(Obstacle::on_ground(50.0, 50.0, 5.0, 5.0, 3.0));
    statics
}

fn at(x: f32, y: f32) -> Position {
    Position::on_ground(x, y)
}

#[test]
fn obstacles_are_those_that_clients_read() {
    let mut statics = Statics::new(vec![LOOK]);
    statics.add(Obstacle::on_ground(10.001, 20.003, 1.111, 2.222, 3.333).turned(0.3));
    statics.add(Obstacle::round(-5.301, 7.7, 300.0, 1.23).with_look(LOOK));
    let map = StaticMap::decode(&statics.encode()).expect("an encoded map");
    let ours: Vec<_> = statics.obstacles().iter().map(|it| (it.centre, it.shape)).collect();
    let theirs: Vec<_> = map.obstacles.iter().map(|it| (it.centre, it.shape)).collect();
    assert_eq!(ours, theirs);
    assert_eq!(map.obstacles.iter().map(|it| it.look).collect::<Vec<_>>(), [None, Some(0)]);
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..100 {
        let place = at(rng.f32() * 100.0, rng.f32() * 100.0);
        for (ours, theirs) in statics.obstacles().iter().zip(&map.obstacles) {
            assert_eq!(ours.ground_distance(place), theirs.ground_distance(place));
        }
    }
}

#[test]
#[should_panic(expected = "does not declare")]
fn a_look_that_the_game_does_not_declare_is_a_bug() {
    Statics::default().add(Obstacle::round(0.0, 0.0, 1.0, 1.0).with_look(LOOK));
}

#[test]
fn a_turned_box_and_a_round_one_stop_a_body_where_they_begin() {
    let mut statics = Statics::default();
    // A corner points to the west.
    statics.add(Obstacle::on_ground(50.0, 50.0, 5.0, 5.0, 3.0).turned(FRAC_PI_4));
    let corner = 50.0 - 50.0_f32.sqrt();
    let free = statics.sweep(at(0.0, 50.0), at(100.0, 50.0), RADIUS);
    assert!((free - (corner - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
    assert!(!statics.is_blocked(at(46.0, 46.0), RADIUS) && statics.is_blocked(at(46.7, 46.7), 0.4));
    let mut statics = Statics::default();
    statics.add(Obstacle::round(50.0, 50.0, 5.0, 3.0));
    let free = statics.sweep(at(0.0, 50.0), at(100.0, 50.0), RADIUS);
    assert!((free - (45.0 - RADIUS - SKIN_M)).abs() < 1e-3, "{free}");
    assert!(!statics.is_blocked(at(46.0, 46.0), RADIUS) && statics.is_blocked(at(46.3, 46.3), 0.4));
    // Beside it, as near as may be, and over it.
    let beside = 50.0 + 5.0 + RADIUS + SKIN_M + 0.001;
    assert_eq!(statics.sweep(at(0.0, beside), at(100.0, beside), RADIUS), 100.0);
    let over = |x| Position::new(x, 50.0, 3.03);
    assert_eq!(statics.sweep(over(0.0), over(100.0), RADIUS), 100.0);
    assert_eq!(statics.cast_ray(at(0.0, 50.0), at(1.0, 0.0), 100.0), Some(45.0));
    assert!(statics.is_between(at(0.0, 54.9), at(100.0, 54.9)));
    assert!(!statics.is_between(at(0.0, 55.1), at(100.0, 55.1)));
}

#[test]
fn a_body_can_leave_any_shape_that_it_stopped_at() {
    let mut rng = fastrand::Rng::with_seed(9);
    for case in 0..2_000 {
        let mut statics = Statics::default();
        statics.add(random_obstacle(&mut rng, 20.0));
        let from = at(rng.f32() * 20.0, rng.f32() * 20.0).quantised();
        let aim = at(rng.f32() * 20.0, rng.f32() * 20.0);
        if statics.is_blocked(from, RADIUS + SKIN_M) {
            continue;
        }
        let free = statics.sweep(from, aim, RADIUS);
        let stop = from.lerp(aim, free / from.distance(aim)).quantised();
        assert!(!statics.is_blocked(stop, RADIUS), "case {case}: {from:?} {aim:?} {stop:?}");
        let back = statics.sweep(stop, from, RADIUS);
        assert!(back > free - 0.05, "case {case}: {free} there, {back} back");
    }
}

/// An oracle that knows the shapes and no tree: points along the line, 5 mm apart.
#[test]
fn each_query_agrees_with_an_oracle_for_all_shapes() {
    let mut rng = fastrand::Rng::with_seed(10);
    let mut seen = [0; 3];
    for case in 0..200 {
        let mut statics = Statics::default();
        for _ in 0..12 {
            statics.add(random_obstacle(&mut rng, 30.0));
        }
        let mut point = || Position::new(rng.f32() * 30.0, rng.f32() * 30.0, rng.f32() * 4.0);
        let from = point();
        let to = point();
        let gap = |at: Position| gap_to(statics.obstacles(), at);
        let length = from.distance(to);
        let steps = (length / 0.005).ceil();
        let along = |step: u32| from.lerp(to, (step as f32 / steps).min(1.0));
        let gaps = || (0..=steps as u32).map(|step| (step, gap(along(step))));
        let least = gaps().map(|(_, gap)| gap).fold(f32::INFINITY, f32::min);
        let way = Position::new(to.x - from.x, to.y - from.y, to.z - from.z);
        let hit = statics.cast_ray(from, way, length);
        // Nothing is decided by a step.
        if least == 0.0 || least > 0.01 {
            assert_eq!(statics.is_between(from, to), least == 0.0, "case {case}");
            assert_eq!(hit.is_some(), least == 0.0, "case {case}");
            seen[0] += u32::from(least == 0.0);
        }
        if let Some((metres, (step, _))) = hit.zip(gaps().find(|(_, gap)| *gap == 0.0)) {
            let expected = length * step as f32 / steps;
            let corner = gap(along(step.saturating_sub(1))) < 0.003;
            assert!((metres - expected).abs() < 0.01 || corner, "case {case}: {metres} {expected}");
            seen[1] += 1;
        }
        // The ball's centre is higher by its radius than what it rests on.
        let centre = |at: Position| Position { z: at.z + RADIUS, ..at };
        let is_blocked = statics.is_blocked(from, RADIUS);
        let touches = gap(centre(from));
        assert!(is_blocked == (touches <= RADIUS) || (touches - RADIUS).abs() < 1e-4, "{case}");
        if gap(centre(from)) > RADIUS + SKIN_M {
            let free = statics.sweep(from, to, RADIUS);
            let margin = RADIUS + SKIN_M;
            let is_free = |(step, _): (u32, f32)| {
                let at = along(step);
                from.distance(at) > free || gap(centre(at)) > margin - 1e-3
            };
            assert!(gaps().all(is_free), "case {case}: {from:?} {to:?} {free}");
            let after = from.lerp(to, (free + 0.01) / length);
            let stops = free < length;
            // It stops since the next step would be too near.
            assert!(!stops || gap(centre(after)) < margin + 1e-3, "case {case}: {free} {after:?}");
            seen[2] += u32::from(stops);
        }
    }
    assert!(seen.iter().all(|count| *count > 30), "{seen:?}");
}

const LOOK: ObstacleLook = ObstacleLook::new('O', 0x90_7860);

/// Metres to the nearest obstacle; 0 inside. From the corners' coordinates, not from any code here.
fn gap_to(obstacles: &[Obstacle], at: Position) -> f32 {
    let gaps = obstacles.iter().map(|obstacle| {
        let [x, y, z] =
            [at.x - obstacle.centre.x, at.y - obstacle.centre.y, at.z - obstacle.centre.z]
                .map(f64::from);
        let beyond = |metres: f64, half: f32| (metres.abs() - f64::from(half)).max(0.0);
        match obstacle.shape {
            ObstacleShape::Box { half, turn } => {
                let (sin, cos) = (f64::from(turn) * std::f64::consts::PI / 256.0).sin_cos();
                let along = beyond(x * cos + y * sin, half[0]);
                let across = beyond(y * cos - x * sin, half[1]);
                along.hypot(across).hypot(beyond(z, half[2])) as f32
            }
            ObstacleShape::Cylinder { radius, half_height } => {
                beyond(x.hypot(y), radius).hypot(beyond(z, half_height)) as f32
            }
        }
    });
    gaps.fold(f32::INFINITY, f32::min)
}

fn random_obstacle(rng: &mut fastrand::Rng, size: f32) -> Obstacle {
    let x = rng.f32() * size;
    let y = rng.f32() * size;
    let height = 1.0 + 3.0 * rng.f32();
    let one = 0.2 + 3.0 * rng.f32();
    let other = 0.2 + rng.f32();
    match rng.u8(..3) {
        0 => Obstacle::on_ground(x, y, one, other, height),
        1 => Obstacle::on_ground(x, y, one, other, height).turned(rng.f32() * 7.0),
        _ => Obstacle::round(x, y, one, height),
    }
}

#[test]
fn obstacles_of_objects_come_and_go_among_those_of_the_map() {
    let mut statics = one_box();
    let (from, to) = (at(0.0, 50.0), at(100.0, 50.0));
    let wall = |x: f32| Obstacle::on_ground(x, 50.0, 1.0, 5.0, 3.0).placed(&[]);
    let to_wall = |x: f32| x - 1.0 - RADIUS - SKIN_M;
    statics.place(7, &[wall(30.0), wall(20.0)]);
    statics.place(8, &[wall(40.0)]);
    assert!((statics.sweep(from, to, RADIUS) - to_wall(20.0)).abs() < 1e-3);
    assert!(statics.is_blocked(at(30.0, 50.0), RADIUS) && statics.is_between(from, at(22.0, 50.0)));
    statics.place(7, &[wall(35.0)]);
    assert!((statics.sweep(from, to, RADIUS) - to_wall(35.0)).abs() < 1e-3);
    assert!(!statics.is_blocked(at(30.0, 50.0), RADIUS));
    statics.place(7, &[]);
    assert!((statics.sweep(from, to, RADIUS) - to_wall(40.0)).abs() < 1e-3);
    statics.clear_placed();
    assert_eq!(statics.sweep(from, to, RADIUS), one_box().sweep(from, to, RADIUS));
    assert!(statics.obstacles().len() == 1 && statics.encode() == one_box().encode());
}

#[test]
fn after_any_changes_queries_are_as_if_all_had_just_been_placed() {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut changed = Statics::default();
    let mut last = std::collections::BTreeMap::new();
    for step in 0..3_000_u32 {
        let object = rng.u64(..200);
        let count = rng.usize(..3);
        let place = |rng: &mut fastrand::Rng| {
            Obstacle::on_ground(rng.f32() * 200.0, rng.f32() * 200.0, 1.0, 2.0, 3.0).placed(&[])
        };
        let obstacles: Vec<_> = (0..count).map(|_| place(&mut rng)).collect();
        changed.place(object, &obstacles);
        last.insert(object, obstacles);
        if step % 100 != 0 {
            continue;
        }
        let mut fresh = Statics::default();
        for (object, obstacles) in &last {
            fresh.place(*object, obstacles);
        }
        for _ in 0..50 {
            let ends = [0; 2].map(|_| at(rng.f32() * 200.0, rng.f32() * 200.0));
            let sweep = |statics: &Statics| statics.sweep(ends[0], ends[1], RADIUS);
            assert_eq!(sweep(&changed), sweep(&fresh), "step {step}: {ends:?}");
            let is_blocked = |statics: &Statics| statics.is_blocked(ends[0], RADIUS);
            assert_eq!(is_blocked(&changed), is_blocked(&fresh), "step {step}: {ends:?}");
        }
    }
}
