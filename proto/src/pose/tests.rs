//! Conversion between metres and the grid; interpolation and extrapolation of poses.

use std::f32::consts::{PI, TAU};

use super::*;
use crate::examples::poses::any_pose;
use crate::time::GameTime;
use crate::wire::{Measure, Reader, Writer};

const WALKER: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
const CUBE: PoseFormat =
    PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: None };
const BALL: PoseFormat = PoseFormat { per_metre: 4_096, turn: Turning::Fixed, motion: None };
const FORMATS: [PoseFormat; 4] = [WALKER, CUBE, BALL, SHIP];
const SHIP: PoseFormat =
    PoseFormat { per_metre: 256, turn: Turning::Yaw { bits: 12 }, motion: None };

#[test]
fn a_pose_is_off_by_half_a_step_at_most() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..10_000 {
        let position =
            Position::new(rng.f32() * 1_000.0, rng.f32() * 1_000.0, rng.f32() * 40.0 - 20.0);
        let yaw = rng.f32() * TAU;
        let speed = rng.f32() * 20.0 - 10.0;
        let pose = WALKER.pose(position, yaw, speed);
        assert!(WALKER.fits(&pose));
        let read = WALKER.position(&pose);
        for (original, read_back) in
            [(position.x, read.x), (position.y, read.y), (position.z, read.z)]
        {
            assert!((original - read_back).abs() < 0.005_1, "{position:?} became {read:?}");
        }
        let off = (WALKER.yaw(&pose) - yaw + PI).rem_euclid(TAU) - PI;
        assert!(off.abs() <= TAU / 512.0 + 1e-4, "{yaw}");
        assert!((WALKER.speed(&pose) - speed).abs() <= 0.005_1);
    }
}

#[test]
fn a_pose_converted_to_metres_and_back_is_unchanged() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..10_000 {
        // Within the resolution of an f32 on this grid.
        let mut pose = any_pose(&mut rng, WALKER);
        pose.at = pose.at.map(|at| at >> 6);
        let again = WALKER.pose(WALKER.position(&pose), WALKER.yaw(&pose), WALKER.speed(&pose));
        assert_eq!(Pose { flag: false, ..pose }, again);
        let mut rng = fastrand::Rng::with_seed(rng.u64(..));
        let quaternion = crate::examples::unit_quaternion(&mut rng);
        let pose = CUBE.free(Position::default(), quaternion);
        assert_eq!(CUBE.free(Position::default(), CUBE.quaternion(&pose)), pose, "{quaternion:?}");
    }
}

#[test]
fn upright_is_exact_and_extremes_are_clamped() {
    for format in FORMATS {
        let pose = format.pose(Position::default(), 0.0, 0.0);
        assert_eq!(format.quaternion(&pose), [0.0, 0.0, 0.0, 1.0], "{format:?}");
        let far = format.pose(Position::new(f32::MAX, f32::MIN, 0.0), -1e9, 1e9);
        assert!(format.fits(&far), "{far:?}");
        assert_eq!(far.at, [MAX_AT, -MAX_AT, 0]);
    }
}

#[test]
fn any_three_components_are_read_as_an_orientation() {
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..10_000 {
        let quaternion = CUBE.quaternion(&any_pose(&mut rng, CUBE));
        let length: f32 = quaternion.iter().map(|part| part * part).sum();
        assert!((length - 1.0).abs() < 1e-5, "{quaternion:?}");
    }
}

#[test]
fn a_pose_as_a_component_is_read_as_it_was_written() {
    let mut rng = fastrand::Rng::with_seed(4);
    for _ in 0..10_000 {
        for format in FORMATS {
            let pose = any_pose(&mut rng, format);
            let mut bytes = Vec::new();
            let mut read = Pose::default();
            let mut measure = Measure::new();
            format.wire(&mut { pose }, &mut Writer::new(&mut bytes)).expect("writing cannot fail");
            format.wire(&mut { pose }, &mut measure).expect("measuring cannot fail");
            assert_eq!(format.wire(&mut read, &mut Reader::new(&bytes)), Ok(()));
            assert_eq!(read, pose);
            assert!(measure.bits() <= format.max_bits(), "{format:?}, {pose:?}");
        }
    }
}

#[test]
fn a_walker_is_extrapolated_along_its_heading() {
    let pose = WALKER.pose(Position::on_ground(10.0, 10.0), PI / 2.0, 4.0);
    let shown = extrapolate(&WALKER, Extrapolation::First, (ms(1_000), &pose), &[], ms(1_250));
    assert_eq!(shown, Pose { at: [1_000, 1_100, 0], ..pose });
    assert_eq!(extrapolate(&WALKER, Extrapolation::First, (ms(1_000), &pose), &[], ms(900)), pose);
}

#[test]
fn a_tumbling_object_is_extrapolated_from_two_poses() {
    let half = |angle: f32| [0.0, 0.0, (angle / 2.0).sin(), (angle / 2.0).cos()];
    let before = CUBE.free(Position::new(1.0, 1.0, 1.0), half(0.0));
    let newest = CUBE.free(Position::new(2.0, 1.0, 0.5), half(0.1));
    let shown =
        extrapolate(&CUBE, Extrapolation::First, (ms(100), &newest), &[(ms(0), &before)], ms(200));
    assert_eq!(shown.at, [1_536, 512, 0]);
    let [_, _, z, w] = CUBE.quaternion(&shown);
    assert!((2.0 * z.atan2(w) - 0.2).abs() < 0.02, "{z} {w}");
    assert_eq!(extrapolate(&CUBE, Extrapolation::First, (ms(100), &newest), &[], ms(200)), newest);
    assert_eq!(
        extrapolate(
            &CUBE,
            Extrapolation::First,
            (ms(100), &newest),
            &[(ms(100), &before)],
            ms(200)
        ),
        newest
    );
}

#[test]
fn at_its_own_time_a_pose_is_shown_as_it_is() {
    for format in FORMATS {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..1_000 {
            let before = any_pose(&mut rng, format);
            let newest = any_pose(&mut rng, format);
            let shown = extrapolate(
                &format,
                Extrapolation::First,
                (ms(100), &newest),
                &[(ms(50), &before)],
                ms(100),
            );
            assert_eq!(shown, newest, "after {before:?}");
        }
    }
    // The largest component is x or z, by rounding alone.
    let tied = Pose { turn: [0, 102, 459, 408], ..Pose::UNKNOWN };
    let shown =
        extrapolate(&CUBE, Extrapolation::First, (ms(100), &tied), &[(ms(50), &tied)], ms(100));
    assert_eq!(shown, tied);
}

#[test]
fn interpolation_is_straight_and_turns_the_shorter_way() {
    let from =
        Pose { at: [0, -100, 7], turn: [250, 0, 0, 0], speed: 3, flag: true, ..Pose::default() };
    let to = Pose { at: [100, 100, 7], turn: [6, 0, 0, 0], speed: 5, ..Pose::default() };
    let at =
        |t| interpolate(&WALKER, Extrapolation::First, (ms(100), &from), (ms(200), &to), ms(t));
    assert_eq!(at(150), Pose { at: [50, 0, 7], turn: [0, 0, 0, 0], ..from });
    assert_eq!(at(125), Pose { at: [25, -50, 7], turn: [253, 0, 0, 0], ..from });
    assert_eq!((at(50), at(100), at(200), at(900)), (from, from, to, to));
}

#[test]
fn nothing_overflows_at_the_ends_of_the_grid() {
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..20_000 {
        for format in FORMATS {
            let (a, b) = (any_pose(&mut rng, format), any_pose(&mut rng, format));
            let time =
                |rng: &mut fastrand::Rng| GameTime::from_micros(rng.u64(..1 << 50) >> rng.u8(..50));
            let t = time(&mut rng);
            let from = time(&mut rng);
            let to = time(&mut rng);
            let c = any_pose(&mut rng, format);
            let earlier = [(from, &a), (time(&mut rng), &c)];
            for rule in [Extrapolation::First, Extrapolation::Second, Extrapolation::Automatic] {
                assert!(format.fits(&interpolate(&format, rule, (from, &a), (to, &b), t)));
                assert!(format.fits(&extrapolate(&format, rule, (to, &b), &earlier, t)));
            }
        }
    }
}

fn ms(millis: u64) -> GameTime {
    GameTime::from_millis(millis)
}

#[test]
fn interpolation_with_velocities_follows_the_cubic_curve() {
    let grid = MotionFormat { linear: 256, angular: 64 };
    let format =
        PoseFormat { per_metre: 4_096, turn: Turning::Free { bits: 15 }, motion: Some(grid) };
    // An object is thrown up at 1 m/s under 10 m/s2. After 200 ms it is back where it was; halfway
    // it is 5 cm up.
    let thrown = |speed: f32| {
        format.moving(
            Position::default(),
            [0.0, 0.0, 0.0, 1.0],
            Some(([0.0, 0.0, speed], [0.0; 3])),
        )
    };
    let up = thrown(1.0);
    let down = thrown(-1.0);
    let at = |ms| {
        interpolate(
            &format,
            Extrapolation::First,
            (GameTime::ZERO, &up),
            (GameTime::from_millis(200), &down),
            GameTime::from_millis(ms),
        )
    };
    assert_eq!((at(0), at(200)), (up, down));
    assert!((format.position(&at(100)).z - 0.05).abs() < 0.001, "{:?}", at(100));
    let ahead = extrapolate(
        &format,
        Extrapolation::First,
        (GameTime::ZERO, &up),
        &[],
        GameTime::from_millis(100),
    );
    assert!((format.position(&ahead).z - 0.1).abs() < 0.001);
}

#[test]
fn a_pose_fits_only_if_each_of_its_parts_does() {
    let pose = Pose::default();
    assert!(WALKER.fits(&pose));
    let wrong = [
        Pose { at: [MAX_AT + 1, 0, 0], ..pose },
        Pose { at: [0, 0, -MAX_AT - 1], ..pose },
        Pose { turn: [256, 0, 0, 0], ..pose },
        Pose { motion: Motion { linear: [1, 0, 0], ..Motion::default() }, ..pose },
    ];
    for pose in wrong {
        assert!(!WALKER.fits(&pose), "{pose:?}");
    }
    let fast = Pose { speed: 1, ..pose };
    assert!(WALKER.fits(&fast) && !CUBE.fits(&fast));
}

#[test]
fn both_grids_of_a_velocity_have_a_range() {
    let check = |linear, angular| {
        let motion = Some(MotionFormat { linear, angular });
        PoseFormat { motion, ..CUBE }.check().is_ok()
    };
    let most = MAX_PER_UNIT;
    assert!(check(1, most) && check(most, 1));
    for wrong in [0, most + 1] {
        assert!(!check(wrong, 1) && !check(1, wrong), "{wrong}");
    }
}

#[test]
fn an_object_at_rest_has_no_velocity_and_stays() {
    let grid = MotionFormat { linear: 256, angular: 64 };
    let format = PoseFormat { per_metre: 512, turn: Turning::Free { bits: 9 }, motion: Some(grid) };
    let at_rest = format.moving(Position::on_ground(1.0, 2.0), [0.0, 0.0, 0.0, 1.0], None);
    assert!(at_rest.flag && format.fits(&at_rest));
    assert_eq!(
        extrapolate(
            &format,
            Extrapolation::First,
            (GameTime::ZERO, &at_rest),
            &[],
            GameTime::from_millis(500)
        ),
        at_rest
    );
    let moving = Pose { motion: Motion { linear: [1, 0, 0], angular: [0; 3] }, ..at_rest };
    assert!(!format.fits(&moving) && format.fits(&Pose { flag: false, ..moving }));
    let without_motion = PoseFormat { motion: None, ..format };
    assert!(without_motion.fits(&at_rest) && !without_motion.fits(&Pose { flag: false, ..moving }));
}

#[test]
fn by_the_second_order_a_ship_flies_on_along_its_curve() {
    // 20 m/s, 2 rad/s: a circle of 10 m.
    let [before, newest] = [0, 50].map(circling);
    for ahead in [50, 100, 250] {
        let off = |rule| {
            let known = [(ms(0), &before)];
            let shown = extrapolate(&SHIP, rule, (ms(50), &newest), &known, ms(50 + ahead));
            let truth = SHIP.position(&circling(50 + ahead));
            let turned = (SHIP.yaw(&shown) - SHIP.yaw(&circling(50 + ahead))).abs();
            (SHIP.position(&shown).distance(truth), turned)
        };
        let (metres, turned) = off(Extrapolation::Second);
        assert!(metres < 0.05 && turned < 0.02, "{ahead} ms: {metres} m, {turned} rad");
        let (straight, _) = off(Extrapolation::First);
        assert!(straight > 10.0 * metres, "{ahead} ms: {straight} m beside {metres}");
    }
}

#[test]
fn between_two_poses_far_apart_a_ship_flies_a_curve() {
    let [from, to] = [0, 300].map(circling);
    let off = |rule| {
        let shown = interpolate(&SHIP, rule, (ms(0), &from), (ms(300), &to), ms(150));
        SHIP.position(&shown).distance(SHIP.position(&circling(150)))
    };
    assert!(off(Extrapolation::Second) < 0.02, "{}", off(Extrapolation::Second));
    assert!(off(Extrapolation::First) > 0.4, "{}", off(Extrapolation::First));
}

#[test]
fn who_brakes_comes_to_rest_and_does_not_fly_backwards() {
    let braking = |speed| SHIP.pose(Position::on_ground(100.0, 100.0), 0.0, speed);
    let before = braking(3.0);
    let newest = braking(2.0);
    let known = [(ms(0), &before)];
    let second = Extrapolation::Second;
    let shown = |t| extrapolate(&SHIP, second, (ms(100), &newest), &known, ms(t));
    // 10 m/s a second less: at rest after 200 ms, 20 cm on.
    assert!((SHIP.position(&shown(300)).x - 100.2).abs() < 0.02, "{:?}", shown(300));
    assert_eq!(shown(600).speed, 0);
    assert!((SHIP.position(&shown(5_000)).x - 100.2).abs() < 0.03, "{:?}", shown(5_000));
}

#[test]
fn a_curve_ends_after_half_a_second() {
    let [before, newest] = [0, 50].map(circling);
    let known = [(ms(0), &before)];
    let shown =
        |t: u64| extrapolate(&SHIP, Extrapolation::Second, (ms(50), &newest), &known, ms(50 + t));
    assert_eq!(shown(500).turn, shown(2_000).turn);
    let [a, b] = [shown(500), shown(1_000)].map(|pose| SHIP.position(&pose));
    assert!((a.distance(b) - 10.0).abs() < 0.1, "straight on at 20 m/s: {a:?}, {b:?}");
    // Poses that far apart say nothing about a curve.
    let old = [(ms(0), &before)];
    let late = extrapolate(&SHIP, Extrapolation::Second, (ms(600), &newest), &old, ms(700));
    assert_eq!(late.turn, newest.turn);
}

#[test]
fn the_automatic_order_follows_how_steady_the_acceleration_is() {
    let steady = [0, 50, 100].map(circling);
    let turned = |yaw| SHIP.pose(Position::on_ground(50.0, 50.0), yaw, 20.0);
    let wagging = [turned(0.0), turned(0.1), turned(0.0)];
    for (poses, expected) in [(steady, Extrapolation::Second), (wagging, Extrapolation::First)] {
        let earlier = [(ms(50), &poses[1]), (ms(0), &poses[0])];
        let newest = (ms(100), &poses[2]);
        let shown = |rule| extrapolate(&SHIP, rule, newest, &earlier, ms(250));
        assert_eq!(shown(Extrapolation::Automatic), shown(expected));
        assert_ne!(shown(Extrapolation::First), shown(Extrapolation::Second));
    }
}

#[test]
fn by_the_second_order_what_is_thrown_falls() {
    let grid = MotionFormat { linear: 1_024, angular: 64 };
    let format = PoseFormat { per_metre: 512, turn: Turning::Fixed, motion: Some(grid) };
    let thrown = |t: f32| {
        let at = Position::new(3.0 * t, 0.0, 10.0 + 5.0 * t - 4.905 * t * t);
        let velocity = [3.0, 0.0, 5.0 - 9.81 * t];
        format.moving(at, [0.0, 0.0, 0.0, 1.0], Some((velocity, [0.0; 3])))
    };
    let before = thrown(0.0);
    let newest = thrown(0.05);
    let known = [(ms(0), &before)];
    let shown = extrapolate(&format, Extrapolation::Second, (ms(50), &newest), &known, ms(350));
    let off = format.position(&shown).distance(format.position(&thrown(0.35)));
    assert!(off < 0.03, "{off} m");
}

#[test]
fn a_kinds_own_function_cannot_leave_the_grid() {
    let pose = circling(0);
    let own: PosePredictor = |_, (_, newest), _, _| Pose { at: [i32::MAX; 3], ..*newest };
    assert_eq!(extrapolate(&SHIP, Extrapolation::Own(own), (ms(0), &pose), &[], ms(50)), pose);
}

/// On a circle of 10 m at 20 m/s.
fn circling(millis: u64) -> Pose {
    let angle = 2.0 * millis as f32 / 1e3;
    let at = Position::on_ground(100.0 + 10.0 * angle.sin(), 110.0 - 10.0 * angle.cos());
    SHIP.pose(at, angle, 20.0)
}
