//! Objects with poses, and a small game that moves them.

use ambit_proto::keymap::Keymap;
use ambit_proto::map::{StaticMap, StaticObstacle};
use ambit_proto::pose::{Pose, PoseFormat, Turning};

use super::*;
use crate::logic::contact::first_contact;
use crate::logic::game::{Game, Left};
use crate::logic::statics::Obstacle;

const CAR: u8 = 0;
const CUBE: u8 = 1;
pub(super) const POST: u8 = 2;
const FUEL: u8 = 1;

const FORMAT: PoseFormat =
    PoseFormat { per_metre: 100, turn: Turning::Yaw { bits: 8 }, motion: None };
const CUBES: PoseFormat =
    PoseFormat { per_metre: 1_000, turn: Turning::Free { bits: 9 }, motion: None };

#[test]
fn position_cell_and_component_follow_from_the_pose() {
    let mut world = garage();
    let car = car(&mut world, at(5.0, 5.0));
    assert_eq!((world.position(car), world.cell(car)), (at(5.0, 5.0), Cell::new(0, 0)));
    tick(&mut world, 1);
    tick(&mut world, 2);
    world.set_pose(car, at(15.004, 5.0), 1.0, 4.0);
    assert_eq!(world.pose(car).at, [1_500, 500, 0]);
    assert_eq!((world.pose(car).speed, world.has_pose(car)), (400, true));
    assert_eq!((world.position(car), world.cell(car)), (at(15.0, 5.0), Cell::new(1, 0)));
    assert_eq!(world.component(car, 0), &Component::Pose(world.pose(car)));
    let mut found = Vec::new();
    world.find_within(at(15.0, 5.0), 1.0, &mut found);
    assert_eq!(found, [car]);
    let cell_change =
        WorldChange::ChangeCell { object: car, from: Cell::new(0, 0), to: Cell::new(1, 0) };
    assert_eq!(changes(&mut world), [WorldChange::BecameActive { object: car }, cell_change]);
}

#[test]
fn an_activation_is_reported_once_and_active_objects_are_listed() {
    let mut world = garage();
    let one = car(&mut world, at(5.0, 5.0));
    let other = car(&mut world, at(7.0, 5.0));
    let mut reported = Vec::new();
    // Which objects move at each tick: once, repeatedly, twice in a tick, and to the current pose.
    let moved_per_tick: [&[(ObjectId, f32)]; 9] = [
        &[],
        &[(other, 1.0), (one, 1.0), (other, 1.5)],
        &[(one, 2.0)],
        &[(one, 3.0), (other, 3.0)],
        &[],
        &[(one, 3.0)],
        &[(other, 4.0)],
        &[],
        &[],
    ];
    for (number, moved_per_tick) in moved_per_tick.iter().enumerate() {
        tick(&mut world, number as u64 + 1);
        for &(object, x) in *moved_per_tick {
            world.set_pose(object, at(x, 5.0), 0.0, 0.0);
        }
        world.finish_tick();
        let activated = changes(&mut world).into_iter().map(|change| match change {
            WorldChange::BecameActive { object } => object,
            other => panic!("{other:?}"),
        });
        reported.push((
            activated.collect::<Vec<_>>(),
            world.active_objects().to_vec(),
            [world.is_moving(one), world.is_moving(other)],
        ));
    }
    let expected = [
        (vec![], vec![], [true, true]), // Created at the previous tick.
        (vec![other, one], vec![other, one], [true, true]),
        (vec![], vec![one], [true, true]),
        (vec![other], vec![one, other], [true, true]),
        (vec![], vec![], [true, true]),
        (vec![], vec![], [false, false]),
        (vec![other], vec![other], [false, true]),
        (vec![], vec![], [false, true]),
        (vec![], vec![], [false, false]),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn new_objects_are_active_and_despawned_ones_are_not() {
    let mut world = garage();
    tick(&mut world, 1);
    let one = car(&mut world, at(5.0, 5.0));
    let other = car(&mut world, at(7.0, 5.0));
    let cell = Some(Cell::new(0, 0));
    let new_object =
        |object| [WorldChange::Spawned { object, cell }, WorldChange::BecameActive { object }];
    assert_eq!(changes(&mut world), [new_object(one), new_object(other)].concat());
    assert_eq!(world.active_objects(), [one, other]);
    world.despawn(one);
    world.finish_tick();
    assert_eq!(world.active_objects(), [other]);
    tick(&mut world, 2);
    assert_eq!(world.active_objects(), []);
}

#[test]
fn pose_slots_are_dense_and_belong_to_one_object_for_its_life() {
    let mut world = garage();
    let post = world.spawn(POST, vec![Component::at_rest(ms(0), at(1.0, 1.0))]);
    let cars: Vec<_> = (0..5).map(|n| car(&mut world, at(n as f32, 5.0))).collect();
    assert_eq!(cars.iter().map(|&car| world.pose_slot(car)).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(!world.has_pose(post));
    world.despawn(cars[2]);
    let new_car = car(&mut world, at(9.0, 9.0));
    assert_eq!((world.pose_slot(new_car), world.pose_slot(cars[3])), (2, 3));
    assert_eq!(world.pose(new_car).at, [900, 900, 0]);
}

#[test]
fn an_object_with_a_pose_reports_changes_of_its_other_components_only() {
    let mut world = garage();
    let car = car(&mut world, at(5.0, 5.0));
    tick(&mut world, 1);
    tick(&mut world, 2);
    world.set_pose(car, at(6.0, 5.0), 0.0, 1.0);
    world.set_number(car, FUEL, 3);
    world.finish_tick();
    assert_eq!(
        changes(&mut world),
        [
            WorldChange::BecameActive { object: car },
            WorldChange::Components {
                object: car,
                mask: 1 << FUEL,
                late: 0,
                path_as_before_until: GameTime::ZERO,
            }
        ]
    );
}

#[test]
fn between_two_ticks_a_pose_moves_in_a_straight_line() {
    let mut world = garage();
    let one = car(&mut world, at(10.0, 5.0));
    let other = car(&mut world, at(12.0, 6.0));
    tick(&mut world, 1);
    tick(&mut world, 2);
    world.set_pose(one, at(14.0, 5.0), 0.0, 80.0);
    assert_eq!(world.position_at(one, ms(50)), at(10.0, 5.0));
    assert_eq!(world.position_at(one, ms(75)), at(12.0, 5.0));
    assert_eq!(world.position_at(one, ms(900)), at(14.0, 5.0));
    let span = (ms(50), ms(100));
    assert_eq!(first_contact(world.motion(one), world.motion(other), span, 1.0), Some(ms(75)));
    assert_eq!(first_contact(world.motion(one), world.motion(other), span, 0.9), None);
    let post = world.spawn(POST, vec![Component::at_rest(ms(0), at(13.0, 5.0))]);
    assert_eq!(first_contact(world.motion(post), world.motion(one), span, 1.0), Some(ms(75)));
    tick(&mut world, 3); // The object is at rest.
    assert_eq!(world.position_at(one, ms(100)), at(14.0, 5.0));
}

#[test]
fn what_jumps_takes_no_way_and_touches_nothing_between() {
    let mut world = garage();
    let one = car(&mut world, at(10.0, 5.0));
    let post = car(&mut world, at(14.0, 5.0));
    tick(&mut world, 1);
    tick(&mut world, 2);
    world.set_pose(one, at(11.0, 5.0), 0.0, 20.0);
    assert!(!world.has_jumped(one));
    world.put_at(one, at(18.0, 5.0));
    world.set_pose(one, at(18.5, 5.0), 0.0, 10.0);
    let span = (ms(50), ms(100));
    assert!(world.has_jumped(one) && !world.has_jumped(post));
    assert_eq!(world.position_at(one, ms(75)), at(18.25, 5.0));
    assert_eq!(first_contact(world.motion(one), world.motion(post), span, 1.0), None);
    tick(&mut world, 3);
    world.put_at(one, world.position(one));
    assert!(!world.has_jumped(one), "it is where it was");
}

#[test]
fn the_trace_reports_positions_of_poses() {
    let mut world = World::new(&RoomConfig { trace: true, ..config() }, schema());
    let car = car(&mut world, at(5.0, 5.0));
    tick(&mut world, 1);
    world.set_pose(car, at(15.0, 5.0), 0.0, 0.0);
    world.set_pose(car, at(25.0, 5.0), 0.0, 0.0);
    world.finish_tick();
    let mut lines = Vec::new();
    world.drain_trace(&mut lines);
    let moved = TraceEvent::Moved { position: at(25.0, 5.0), cell: 3 };
    assert_eq!(lines.last(), Some(&TraceLine { at: ms(50), object: car, event: moved }));
    assert_eq!(lines.len(), 2);
}

#[test]
#[should_panic(expected = "has no pose")]
fn setting_a_pose_on_an_object_with_a_path_panics() {
    let mut world = garage();
    let post = world.spawn(POST, vec![Component::at_rest(ms(0), at(1.0, 1.0))]);
    world.set_pose(post, at(1.0, 1.0), 0.0, 0.0);
}

#[test]
fn team_engagement_and_budget_changes_are_passed_on() {
    let mut world = garage();
    let one = car(&mut world, at(10.0, 5.0));
    let other = car(&mut world, at(12.0, 6.0));
    changes(&mut world);
    world.set_team(one, Some(3));
    world.set_team(one, Some(3));
    world.engage(one, other, ms(900));
    world.set_budget(Some(PlayerId(4)), 8_000);
    assert_eq!((world.team(one), world.team(other)), (Some(3), None));
    let expected = [
        WorldChange::Team { object: one },
        WorldChange::Engaged { viewer: one, object: other, until: ms(900) },
        WorldChange::Budget { player: Some(PlayerId(4)), bytes_per_s: 8_000 },
    ];
    assert_eq!(changes(&mut world), expected);
}

#[test]
fn static_obstacles_are_encoded_once_at_the_end_of_the_first_tick() {
    let mut world = garage();
    tick(&mut world, 1);
    world.statics_mut().add(Obstacle::on_ground(10.0, 20.0, 1.0, 2.0, 3.0));
    assert!(world.static_map().is_empty());
    world.finish_tick();
    world.statics_mut().add(Obstacle::on_ground(30.0, 20.0, 1.0, 2.0, 3.0));
    world.finish_tick();
    let map = StaticMap::decode(&world.static_map()).expect("an encoded map");
    let expected = StaticObstacle::new_box(Position::new(10.0, 20.0, 1.5), [1.0, 2.0, 1.5], 0.0);
    assert_eq!(map.obstacles, [expected]);
    let mut empty = garage();
    empty.finish_tick();
    assert!(empty.static_map().is_empty());
}

/// A game of 900 cubes that move while a control is held and otherwise come to rest.
#[derive(Default)]
struct PushedCubesGame {
    cubes: Vec<ObjectId>,
    pushed: bool,
    ticks: u32,
}

impl Game for PushedCubesGame {
    fn schema(&self) -> Schema {
        schema()
    }

    fn start(&mut self, world: &mut World) {
        for n in 0..900u16 {
            let place = Position::new(f32::from(n % 30) * 3.0, f32::from(n / 30) * 3.0, 0.5);
            let upright = CUBES.free(place, [0.0, 0.0, 0.0, 1.0]);
            self.cubes.push(world.spawn(CUBE, vec![Component::Pose(upright)]));
        }
    }

    fn join(&mut self, world: &mut World, _: PlayerId, _: &str) -> ObjectId {
        world.spawn(CUBE, vec![Component::Pose(CUBES.free(at(50.0, 50.0), [0.0, 0.0, 0.0, 1.0]))])
    }

    fn leave(&mut self, _: &mut World, _: PlayerId, _: Left) {}

    fn input(&mut self, _: &mut World, _: PlayerId, keys: Keymap) {
        self.pushed = keys.down(3);
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        if !self.pushed {
            return;
        }
        self.ticks += 1;
        let lift = (self.ticks % 20) as f32 / 10.0;
        for (n, &cube) in self.cubes.iter().enumerate() {
            let here = world.position(cube);
            let turned = if (n + self.ticks as usize).is_multiple_of(2) {
                [0.6, 0.0, 0.0, 0.8]
            } else {
                [0.0, 0.0, 1.0, 0.0]
            };
            world.set_free_pose(cube, Position { z: 0.5 + lift, ..here }, turned, n % 2 == 0);
        }
    }
}

#[test]
fn a_game_moves_nine_hundred_cubes_and_they_come_to_rest() {
    let mut game = PushedCubesGame::default();
    let mut world = garage();
    tick(&mut world, 1);
    game.start(&mut world);
    world.finish_tick();
    assert_eq!(world.active_objects(), game.cubes);
    let mut activated = 0;
    for number in 2..100 {
        tick(&mut world, number);
        let keys = Keymap::default().with(3, (10..50).contains(&number));
        game.input(&mut world, PlayerId(1), keys);
        game.step(&mut world, Duration::from_millis(50));
        world.finish_tick();
        let expected: &[ObjectId] = if (10..50).contains(&number) { &game.cubes } else { &[] };
        assert_eq!(world.active_objects(), expected, "tick {number}");
        activated += changes(&mut world)
            .iter()
            .filter(|change| matches!(change, WorldChange::BecameActive { .. }))
            .count();
    }
    assert_eq!(activated, 900); // All were activated when the push began.
    assert!(game.cubes.iter().all(|&cube| !world.is_moving(cube)));
    let first = world.pose(game.cubes[0]);
    let second = world.pose(game.cubes[1]);
    assert_eq!((first.flag, second.flag), (true, false));
    let [x, y, z, w] = CUBES.quaternion(&first);
    assert!(
        (x - 0.6).abs() < 0.01 && y.abs() < 0.01 && z.abs() < 0.01 && (w - 0.8).abs() < 0.01,
        "{x} {y} {z} {w}"
    );
}

#[test]
fn the_same_poses_give_the_same_world_bit_for_bit() {
    let run = || {
        let mut world = garage();
        let cars: Vec<_> = (0..30).map(|n| car(&mut world, at(n as f32, 5.0))).collect();
        let mut reported = Vec::new();
        for number in 1..100 {
            tick(&mut world, number);
            for &car in &cars {
                let (x, y) = (world.rng().f32() * 100.0, world.rng().f32() * 100.0);
                if world.rng().bool() {
                    world.set_pose(car, at(x, y), x, 1.0);
                }
            }
            world.finish_tick();
            reported.extend(changes(&mut world).into_iter().map(|change| format!("{change:?}")));
            reported.extend(cars.iter().map(|&car| format!("{:?}", world.pose(car))));
        }
        reported
    };
    assert_eq!(run(), run());
}

pub(super) fn schema() -> Schema {
    let fuel = ComponentSpec::public("fuel", Codec::Number { min: 0, max: 9 });
    let kind = |name: &str, components| ObjectKind {
        name: name.into(),
        components,
        ..ObjectKind::default()
    };
    Schema {
        game: "garage".into(),
        kinds: vec![
            kind("car", vec![ComponentSpec::public("pose", Codec::Pose(FORMAT)), fuel]),
            kind("cube", vec![ComponentSpec::public("pose", Codec::Pose(CUBES))]),
            kind("post", vec![ComponentSpec::public("path", Codec::Path)]),
        ],
        ..Schema::default()
    }
}

pub(super) fn garage() -> World {
    World::new(&config(), schema())
}

pub(super) fn car(world: &mut World, position: Position) -> ObjectId {
    let pose: Pose = FORMAT.pose(position, 0.0, 0.0);
    world.spawn(CAR, vec![Component::Pose(pose), Component::Number(5)])
}

/// Begins tick `number` of 50 ms each, and clears the changes.
pub(super) fn tick(world: &mut World, number: u64) {
    changes(world);
    world.begin_tick(ms(number * 50));
}
