//! The shared physics: deterministic steps, bodies that come to rest, and control by keys.

use super::*;
use crate::{CUBE, CUBE_EDGE_M, PLAYER_EDGE_M, RandomDriver, control};
use ambit_proto::keymap::Keymap;
use ambit_proto::pose::MotionFormat;

const ARENA: Arena = Arena { width_m: 32.0, height_m: 32.0 };
const MIDDLE: [f32; 2] = [16.0, 16.0];

#[test]
fn a_heap_comes_to_rest_and_then_keeps_its_exact_bits() {
    let mut physics = heap(60);
    let steps = steps_to_rest(&mut physics, 60 * 15);
    let before = poses(&physics);
    assert!(
        before.iter().all(|pose| pose.flag && pose.motion == ambit_proto::pose::Motion::default())
    );
    run(&mut physics, 60 * 180);
    assert_eq!(poses(&physics), before, "changed after the heap came to rest in {steps} steps");
}

#[test]
fn bodies_at_rest_are_skipped() {
    let mut physics = field(20, 1.0);
    assert_eq!(steps_to_rest(&mut physics, 2), 0);
    run(&mut physics, 100);
    assert_eq!(physics.changed_bodies().len(), 0);
}

#[test]
fn the_same_calls_give_the_same_bits_despite_added_and_removed_bodies() {
    assert_eq!(hash_of_a_game(7), hash_of_a_game(7));
    assert_ne!(hash_of_a_game(7), hash_of_a_game(8));
}

#[test]
fn the_simulated_state_equals_the_quantised_pose() {
    let (mut physics, player) = scene(30);
    for frame in 0..300 {
        physics.set_keys(player, held(&[control::RIGHT, control::ATTRACT], frame));
        physics.step();
        for body in physics.bodies() {
            let pose = physics.pose(body);
            let simulated = &physics.world.bodies[handle_of(body)];
            let at = simulated.translation();
            assert!(POSE_FORMAT.fits(&pose));
            assert_eq!(POSE_FORMAT.position(&pose), Position::new(at.x, at.y, at.z));
            assert_eq!(
                POSE_FORMAT.velocities(&pose),
                (simulated.linvel().to_array(), simulated.angvel().to_array())
            );
        }
    }
}

#[test]
fn a_push_moves_a_cube_along_its_axis_within_the_speed_limit() {
    let directions = [
        (control::RIGHT, 0, 1.0),
        (control::LEFT, 0, -1.0),
        (control::UP, 1, 1.0),
        (control::DOWN, 1, -1.0),
    ];
    for (key, axis, sign) in directions {
        let (mut physics, player) = scene(0);
        let mut fastest = 0.0_f32;
        let mut turned = 0.0_f32;
        for frame in 0..90 {
            physics.set_keys(player, held(&[key], frame));
            physics.step();
            let (linear, angular) = POSE_FORMAT.velocities(&physics.pose(player));
            fastest = fastest.max(linear[axis] * sign);
            turned = turned.max(angular[1 - axis].abs());
        }
        let at = POSE_FORMAT.position(&physics.pose(player));
        let ahead = ([at.x, at.y][axis] - 16.0) * sign;
        let aside = [at.x, at.y][1 - axis] - 16.0;
        assert!(
            (3.0..9.0).contains(&ahead) && aside.abs() < 0.5,
            "{ahead} m ahead, {aside} m aside"
        );
        assert!((4.0..8.0).contains(&fastest) && turned > 3.0, "{fastest} m/s, {turned} rad/s");
    }
}

#[test]
fn walls_hold_a_player_that_pushes_against_them() {
    let (mut physics, player) = scene(0);
    for frame in 0..600 {
        physics.set_keys(player, held(&[control::RIGHT, control::UP], frame));
        physics.step();
    }
    let at = POSE_FORMAT.position(&physics.pose(player));
    assert!(at.x < 31.7 && at.y < 31.7 && at.x > 30.0 && at.y > 30.0, "{at:?}");
}

#[test]
fn attract_pulls_near_cubes_only() {
    let near = [17.5, 16.0];
    let far = [19.0, 16.0];
    let (mut physics, player, cubes) = with_cubes(&[near, far]);
    for frame in 0..30 {
        physics.set_keys(player, held(&[control::ATTRACT], frame));
        physics.step();
    }
    let place = |body| POSE_FORMAT.position(&physics.pose(body));
    assert!(place(cubes[0]).x < 17.0, "{:?}", place(cubes[0]));
    assert!((place(cubes[1]).x - 19.0).abs() < 0.001 && physics.pose(cubes[1]).flag);
    let mut influenced = Vec::new();
    physics.bodies_within_influence(player, &mut influenced);
    assert_eq!(influenced, [cubes[0]]);
}

#[test]
fn repel_pushes_near_cubes_only() {
    let near = [17.2, 16.0];
    let far = [22.0, 16.0];
    let (mut physics, player, cubes) = with_cubes(&[near, far]);
    for frame in 0..30 {
        physics.set_keys(player, held(&[control::REPEL], frame));
        physics.step();
    }
    let place = |body| POSE_FORMAT.position(&physics.pose(body));
    assert!(place(cubes[0]).x > 17.8, "{:?}", place(cubes[0]));
    assert!(physics.pose(cubes[1]).flag);
}

#[test]
fn a_jump_begins_on_the_ground_once_for_each_press() {
    let (mut physics, player) = scene(0);
    let mut highest = 0.0_f32;
    let mut rises = 0;
    let mut keys = Keys::default();
    for frame in 0..240 {
        // The key is held from frame 10 on. At frame 20, in the air, it is released and then
        // pressed again.
        keys.advance(Keymap(0).with(control::JUMP, frame >= 10 && frame != 20));
        physics.set_keys(player, keys);
        let before = POSE_FORMAT.velocities(&physics.pose(player)).0[2];
        physics.step();
        let pose = physics.pose(player);
        rises += u32::from(POSE_FORMAT.velocities(&pose).0[2] > 3.0 && before <= 3.0);
        highest = highest.max(POSE_FORMAT.position(&pose).z - PLAYER_EDGE_M / 2.0);
    }
    assert_eq!(rises, 1);
    assert!((0.6..1.3).contains(&highest), "{highest} m");
}

#[test]
fn a_press_that_is_not_repeated_counts_once() {
    let (mut physics, player) = scene(0);
    run(&mut physics, 5);
    let pressed = Keys { previous: Keymap(0), current: Keymap(0).with(control::JUMP, true) };
    physics.set_keys(player, pressed);
    physics.step();
    assert!(POSE_FORMAT.velocities(&physics.pose(player)).0[2] > 3.0);
    run(&mut physics, 120);
    assert!(POSE_FORMAT.position(&physics.pose(player)).z < PLAYER_EDGE_M);
}

#[test]
fn a_stacked_cube_falls_when_its_support_is_removed() {
    let mut physics = Physics::new(ARENA);
    let below = physics.add(CUBE, &at_rest(16.0, 16.0, CUBE_EDGE_M / 2.0));
    let above = physics.add(CUBE, &at_rest(16.0, 16.0, 1.5 * CUBE_EDGE_M));
    run(&mut physics, 60);
    assert!(physics.pose(above).flag);
    physics.remove(below);
    run(&mut physics, 120);
    let pose = physics.pose(above);
    assert!(
        pose.flag && (POSE_FORMAT.position(&pose).z - CUBE_EDGE_M / 2.0).abs() < 0.01,
        "{pose:?}"
    );
}

#[test]
fn a_cube_on_a_player_falls_when_the_player_rolls_away() {
    let mut physics = Physics::new(ARENA);
    let player = physics.add(PLAYER, &at_rest(16.0, 16.0, PLAYER_EDGE_M / 2.0));
    let above = physics.add(CUBE, &at_rest(16.0, 16.0, PLAYER_EDGE_M + CUBE_EDGE_M / 2.0));
    run(&mut physics, 60);
    assert!(physics.pose(above).flag);
    for frame in 0..240 {
        physics.set_keys(player, held(if frame < 60 { &[control::RIGHT] } else { &[] }, frame));
        physics.step();
    }
    let pose = physics.pose(above);
    assert!(pose.flag && POSE_FORMAT.position(&pose).z < 0.3, "{pose:?}");
}

#[test]
fn a_set_pose_is_kept_exactly_and_sleeps_if_its_flag_is_set() {
    let (mut physics, _, cubes) = with_cubes(&[[10.0, 10.0], [12.0, 10.0]]);
    let pose = at_rest(11.0, 11.0, CUBE_EDGE_M / 2.0);
    physics.set_pose(cubes[0], &pose);
    let falling = POSE_FORMAT.moving(
        Position::new(12.0, 12.0, 5.0),
        [0.0, 0.0, 0.0, 1.0],
        Some(([1.0, 0.0, 0.0], [0.0; 3])),
    );
    physics.set_pose(cubes[1], &falling);
    assert_eq!((physics.pose(cubes[0]), physics.pose(cubes[1])), (pose, falling));
    run(&mut physics, 10);
    assert_eq!(physics.pose(cubes[0]), pose);
    let later = physics.pose(cubes[1]);
    assert!(
        !later.flag
            && POSE_FORMAT.position(&later).z < 4.95
            && POSE_FORMAT.position(&later).x > 12.1
    );
}

#[test]
fn a_cube_set_at_rest_in_the_air_stays_there() {
    let (mut physics, _, cubes) = with_cubes(&[[10.0, 10.0]]);
    let pose = at_rest(11.0, 11.0, 3.0);
    physics.set_pose(cubes[0], &pose);
    run(&mut physics, 60);
    assert_eq!(physics.pose(cubes[0]), pose);
}

#[test]
fn a_hit_wakes_a_sleeping_cube_which_sleeps_again() {
    let (mut physics, _, cubes) = with_cubes(&[[10.0, 10.0], [12.0, 10.0]]);
    let thrown = POSE_FORMAT.moving(
        Position::new(10.0, 10.0, 0.21),
        [0.0, 0.0, 0.0, 1.0],
        Some(([8.0, 0.0, 0.0], [0.0; 3])),
    );
    physics.set_pose(cubes[0], &thrown);
    run(&mut physics, 60);
    assert!(POSE_FORMAT.position(&physics.pose(cubes[1])).x > 12.1);
    steps_to_rest(&mut physics, 600);
}

#[test]
fn a_space_is_free_if_no_body_is_near() {
    let (physics, ..) = with_cubes(&[[10.0, 10.0]]);
    assert!(!physics.is_space_free(PLAYER, Position::new(10.9, 10.0, 0.5)));
    assert!(physics.is_space_free(PLAYER, Position::new(11.5, 10.0, 0.5)));
    assert!(!physics.is_space_free(PLAYER, Position::new(16.0, 17.0, 0.5)));
}

#[test]
fn a_cube_comes_to_rest_on_the_floor_despite_the_pose_grid() {
    assert_eq!(POSE_FORMAT.motion, Some(MotionFormat { linear: 128, angular: 64 }));
    let mut physics = Physics::new(ARENA);
    let cube = physics.add(
        CUBE,
        &POSE_FORMAT.moving(place(8.0, 8.0, 1.0), [0.0, 0.0, 0.0, 1.0], Some(Default::default())),
    );
    steps_to_rest(&mut physics, 180);
    assert!((POSE_FORMAT.position(&physics.pose(cube)).z - CUBE_EDGE_M / 2.0).abs() < 0.002);
}

/// A heap of cubes that fall on each other.
fn heap(cubes: u8) -> Physics {
    let mut physics = Physics::new(ARENA);
    for number in 0..cubes {
        let (x, y) = (f32::from(number % 3) * 0.45, f32::from(number / 3 % 2) * 0.43);
        let height = 0.3 + 0.5 * f32::from(number / 6);
        let pose = POSE_FORMAT.moving(
            place(15.0 + x, 15.0 + y, height),
            [0.1, 0.0, 0.0, 0.994_987_4],
            Some(Default::default()),
        );
        physics.add(CUBE, &pose);
    }
    physics
}

/// A square of cubes at rest, `spacing` apart.
fn field(columns: u16, spacing: f32) -> Physics {
    let mut physics = Physics::new(ARENA);
    add_field(&mut physics, columns, spacing);
    physics
}

fn add_field(physics: &mut Physics, columns: u16, spacing: f32) {
    let first = |middle: f32| middle - spacing * f32::from(columns - 1) / 2.0;
    for number in 0..columns * columns {
        let column = f32::from(number % columns);
        let row = f32::from(number / columns);
        physics.add(
            CUBE,
            &at_rest(
                first(MIDDLE[0]) + column * spacing,
                first(MIDDLE[1]) + row * spacing,
                CUBE_EDGE_M / 2.0,
            ),
        );
    }
}

/// A player in the middle, and cubes in a row beside it.
fn scene(cubes: u8) -> (Physics, BodyId) {
    let places: Vec<_> = (0..cubes).map(|number| [17.0 + 0.5 * f32::from(number), 16.0]).collect();
    let (physics, player, _) = with_cubes(&places);
    (physics, player)
}

fn with_cubes(places: &[[f32; 2]]) -> (Physics, BodyId, Vec<BodyId>) {
    let mut physics = Physics::new(ARENA);
    let player = physics.add(PLAYER, &at_rest(MIDDLE[0], MIDDLE[1], PLAYER_EDGE_M / 2.0));
    let cubes = places
        .iter()
        .map(|[x, y]| physics.add(CUBE, &at_rest(*x, *y, CUBE_EDGE_M / 2.0)))
        .collect();
    (physics, player, cubes)
}

/// Two random players among a hundred cubes; one cube is removed, others are added.
fn hash_of_a_game(seed: u64) -> u64 {
    let mut physics = field(10, 0.8);
    let mut players = Vec::new();
    for number in 0..2_u8 {
        let player =
            physics.add(PLAYER, &at_rest(6.0 + 20.0 * f32::from(number), 6.0, PLAYER_EDGE_M / 2.0));
        players.push((player, RandomDriver::new(seed, number.into()), Keys::default()));
    }
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for frame in 0..900 {
        for (player, driver, keys) in &mut players {
            let at = POSE_FORMAT.position(&physics.pose(*player));
            keys.advance(driver.keys(frame, [at.x, at.y], ARENA));
            physics.set_keys(*player, *keys);
        }
        if frame % 100 == 50 {
            let removed = physics.bodies().nth(frame as usize % 90).expect("a hundred");
            if physics.kind(removed) == CUBE {
                physics.remove(removed);
            }
            physics.add(
                CUBE,
                &POSE_FORMAT.moving(
                    place(16.0, 16.0, 6.0),
                    [0.0, 0.0, 0.0, 1.0],
                    Some(Default::default()),
                ),
            );
        }
        physics.step();
        for pose in poses(&physics) {
            for part in pose.at.map(i64::from).into_iter().chain(pose.turn.map(i64::from)) {
                hash = (hash ^ part as u64).wrapping_mul(0x0100_0000_01B3);
            }
        }
    }
    hash
}

fn place(x: f32, y: f32, z: f32) -> Position {
    Position::new(x, y, z)
}

fn at_rest(x: f32, y: f32, z: f32) -> Pose {
    POSE_FORMAT.moving(place(x, y, z), [0.0, 0.0, 0.0, 1.0], None)
}

fn held(controls: &[u8], frame: u64) -> Keys {
    let keys = controls.iter().fold(Keymap(0), |keys, &control| keys.with(control, true));
    Keys { previous: if frame == 0 { Keymap(0) } else { keys }, current: keys }
}

fn poses(physics: &Physics) -> Vec<Pose> {
    physics.bodies().map(|body| physics.pose(body)).collect()
}

fn run(physics: &mut Physics, steps: u32) {
    (0..steps).for_each(|_| physics.step());
}

/// Runs steps until all bodies are at rest and returns their number. Panics after `max` steps.
fn steps_to_rest(physics: &mut Physics, max: u32) -> u32 {
    for step in 0..max {
        physics.step();
        if physics.changed_bodies().is_empty() {
            return step;
        }
    }
    panic!("{} are awake after {max} steps", physics.changed_bodies().len());
}
