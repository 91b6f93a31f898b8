//! The crowd that the server walks: how it moves.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{ClientId, ObjectId, PlayerId};
use ambit_proto::pose::Pose;
use ambit_proto::pose::PoseCoding;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::config::RoomConfig;
use ambit_room::logic::game::{Game, Left};
use ambit_room::logic::world::{World, WorldChange};
use ambit_room::room::{Room, RoomInput};
use ambit_tests::walking_crowd::heading::Heading;
use ambit_tests::walking_crowd::{WalkMode, WalkingCrowd};

const SPEED: f32 = 4.0;

#[test]
fn a_walker_moves_from_waypoint_to_waypoint_without_pausing() {
    let mut crowd_world = crowd(WalkMode::Waypoints, 20, 50.0, 1);
    let mut places: Vec<_> = positions(&crowd_world);
    let mut legs = 0;
    for _ in 0..2_400 {
        legs += crowd_world
            .tick()
            .iter()
            .filter(|change| matches!(change, WorldChange::Components { .. }))
            .count();
        for (before, after) in places.iter_mut().zip(positions(&crowd_world)) {
            // 20 cm a tick, less if the path turns within it.
            let step = before.distance(after);
            assert!(step < 0.21, "{step}");
            *before = after;
        }
        assert!(walkers(&crowd_world).iter().all(|&walker| crowd_world.world.is_moving(walker)));
    }
    // 120 s at 4 m/s, and a mean leg of 0.52 of the map's edge.
    assert!((280..460).contains(&legs), "{legs}");
}

#[test]
fn a_leg_begins_when_the_last_one_ends_at_four_metres_a_second() {
    let mut crowd_world = crowd(WalkMode::Waypoints, 1, 50.0, 2);
    let walker = walkers(&crowd_world)[0];
    let mut points = BTreeMap::new();
    for _ in 0..2_400 {
        crowd_world.tick();
        points.extend(
            crowd_world.world.path(walker).points().map(|(time, point)| (time, point.position)),
        );
    }
    let points: Vec<_> = points.into_iter().collect();
    assert!(points.len() > 10);
    for pair in points.windows(2) {
        let speed = pair[0].1.distance(pair[1].1) / pair[1].0.since(pair[0].0).as_secs_f32();
        assert!((speed - SPEED).abs() < 0.02, "{pair:?}");
    }
}

#[test]
fn a_steered_walker_moves_at_4_m_per_s_and_turns_a_little_each_tick() {
    let mut crowd_world = crowd(WalkMode::Steered, 50, 50.0, 3);
    let poses = |crowd_world: &CrowdWorld| {
        walkers(crowd_world)
            .into_iter()
            .map(|walker| crowd_world.world.pose(walker))
            .collect::<Vec<_>>()
    };
    let mut before = poses(&crowd_world);
    let mut bounces = 0;
    let mut turns = [0; 17];
    for _ in 0..200 {
        crowd_world.tick();
        assert_eq!(crowd_world.world.active_objects().len(), 50);
        let after = poses(&crowd_world);
        for (from, to) in before.iter().zip(&after) {
            let step = f64::from(to.at[0] - from.at[0]).hypot(f64::from(to.at[1] - from.at[1]));
            let turn =
                (i32::from(to.turn[0]) - i32::from(from.turn[0]) + 128).rem_euclid(256) - 128;
            assert_eq!(to.speed, 400);
            // 10 degrees are 7.1 steps of the yaw.
            if turn.abs() <= 8 {
                assert!((step - 20.0).abs() < 1.6, "{from:?} {to:?}");
                turns[(turn + 8) as usize] += 1;
            } else {
                bounces += 1;
                assert!(is_at_the_edge(to, 5_000), "{from:?} {to:?}");
            }
        }
        before = after;
    }
    assert!((20..1_000).contains(&bounces), "{bounces}");
    // Left and right turns are equally frequent, and so are all angles.
    assert!(turns[2..15].iter().all(|&count| (500..900).contains(&count)), "{turns:?}");
}

#[test]
fn steered_walkers_stay_as_dense_at_the_edge_as_everywhere() {
    let edge = 100.0;
    let near = 10.0;
    let mut crowd_world = crowd(WalkMode::Steered, 400, edge, 4);
    let at_border = |position: &Position| {
        let inside = |at: f32| (near..=edge - near).contains(&at);
        !inside(position.x) || !inside(position.y)
    };
    let share = |crowd_world: &CrowdWorld| {
        positions(crowd_world).iter().filter(|place| at_border(place)).count() as f32 / 400.0
    };
    let expected = 1.0 - (1.0 - 2.0 * near / edge).powi(2);
    // Two and a half standard deviations for 400 uniformly distributed walkers.
    assert!((share(&crowd_world) - expected).abs() < 0.06, "{} {expected}", share(&crowd_world));
    let mut shares = Vec::new();
    for second in 0..180 {
        crowd_world.run(1_000);
        assert!(
            positions(&crowd_world).iter().all(|&place| crowd_world.world.grid().contains(place))
        );
        if second >= 120 && second % 10 == 0 {
            shares.push(share(&crowd_world));
        }
    }
    let mean = shares.iter().sum::<f32>() / shares.len() as f32;
    assert!((mean - expected).abs() < 0.04, "{shares:?} {expected}");
}

#[test]
fn waypoint_walkers_start_as_dense_in_the_middle_as_they_stay() {
    let edge = 100.0;
    let mut crowd_world = crowd(WalkMode::Waypoints, 400, edge, 5);
    let middle = Position::on_ground(edge / 2.0, edge / 2.0);
    let share = |crowd_world: &CrowdWorld| {
        positions(crowd_world).iter().filter(|place| place.distance(middle) < 0.3 * edge).count()
            as f32
            / 400.0
    };
    let first = share(&crowd_world);
    let later: f32 =
        (0..6).map(|_| (crowd_world.run(15_000), share(&crowd_world)).1).sum::<f32>() / 6.0;
    assert!((first - later).abs() < 0.08, "{first} {later}");
    assert!(later > 0.35, "{later}"); // Evenly it would be 0.28.
}

#[test]
fn equal_seeds_give_bit_identical_walks_and_others_differ() {
    let run = |walk, seed| {
        let mut crowd_world = crowd(walk, 20, 40.0, seed);
        (0..200).map(|_| (crowd_world.tick(), positions(&crowd_world)).1).collect::<Vec<_>>()
    };
    for walk in [WalkMode::Waypoints, WalkMode::Steered] {
        assert_eq!(run(walk, 6), run(walk, 6));
        assert_ne!(run(walk, 6), run(walk, 7));
    }
}

#[test]
fn a_saved_crowd_that_is_restored_walks_on_bit_for_bit() {
    for walk in [WalkMode::Waypoints, WalkMode::Steered] {
        let config = RoomConfig { seed: 8, ..RoomConfig::default() };
        let game = || Box::new(WalkingCrowd::new(walk));
        let mut original = Room::new(config.clone(), game());
        let mut joins = (0..20)
            .map(|number| RoomInput::Join {
                client: ClientId(number),
                player: PlayerId(u64::from(number)),
                account: None,
                name: "player".into(),
                coding: PoseCoding::Auto,
            })
            .collect();
        let mut outputs = Vec::new();
        let times: Vec<_> = (1..=400).map(|tick| GameTime::from_millis(50 * tick)).collect();
        for &now in &times[..200] {
            original.tick(now, &mut joins, &mut outputs);
        }
        let saved = original.save().expect("the crowd can be saved");
        let mut restored = Room::restore(config, game(), &saved).expect("a saved room");
        for &now in &times[200..] {
            original.tick(now, &mut Vec::new(), &mut outputs);
            restored.replay(now, original.journal());
            outputs.clear();
        }
        let state = |room: &Room| {
            let mut world = Vec::new();
            room.world().save(&mut world);
            (world, room.game().save())
        };
        assert_eq!(original.world().len(), 20);
        assert!(state(&original) == state(&restored), "{walk:?}");
    }
}

#[test]
fn a_walk_does_not_depend_on_other_walkers() {
    let run = |walk, others: bool| {
        let mut crowd_world = crowd(walk, 1, 40.0, 8);
        for tick_number in 0..200 {
            if others && tick_number == 20 {
                crowd_world = with_players(crowd_world, 2..12);
            }
            if others && tick_number == 100 {
                crowd_world.game.leave(&mut crowd_world.world, PlayerId(5), Left::Quit);
            }
            crowd_world.tick();
        }
        positions(&crowd_world)[0]
    };
    for walk in [WalkMode::Waypoints, WalkMode::Steered] {
        assert_eq!(run(walk, false), run(walk, true));
    }
}

#[test]
fn a_steered_walk_is_the_same_on_every_machine() {
    let mut crowd_world = crowd(WalkMode::Steered, 3, 40.0, 9);
    for _ in 0..1_000 {
        crowd_world.tick();
    }
    let poses: Vec<_> =
        walkers(&crowd_world).into_iter().map(|walker| crowd_world.world.pose(walker)).collect();
    let reported: Vec<_> =
        poses.iter().map(|pose| (pose.at[0], pose.at[1], pose.turn[0])).collect();
    assert_eq!(reported, [(1991, 1612, 51), (612, 1638, 213), (953, 3013, 187)]);
}

#[test]
fn a_walker_that_leaves_is_removed_and_the_others_walk_on() {
    for walk in [WalkMode::Waypoints, WalkMode::Steered] {
        let mut crowd_world = crowd(walk, 3, 40.0, 11);
        let leaving = walkers(&crowd_world)[1];
        crowd_world.game.leave(&mut crowd_world.world, PlayerId(2), Left::Quit);
        assert!(!crowd_world.world.contains(leaving));
        let before = positions(&crowd_world);
        crowd_world.run(60_000);
        assert_eq!(walkers(&crowd_world).len(), 2);
        assert!(positions(&crowd_world).iter().zip(before).all(|(after, before)| *after != before));
    }
}

#[test]
fn a_direction_is_cosine_and_sine_of_the_heading() {
    for angle in 0..=u16::MAX {
        let heading = Heading(angle);
        let (cos, sin) = heading.direction();
        let radians = f64::from(angle) / 65_536.0 * std::f64::consts::TAU;
        assert!((f64::from(cos) - radians.cos()).abs() < 1e-7, "{angle}");
        assert!((f64::from(sin) - radians.sin()).abs() < 1e-7, "{angle}");
        assert!((f64::from(heading.to_radians()) - radians).abs() < 1e-6, "{angle}");
    }
}

#[test]
fn a_bounce_reverses_only_the_direction_across_the_wall() {
    for angle in (0..=u16::MAX).step_by(77) {
        let (x, y) = Heading(angle).direction();
        let (mirrored_x, mirrored_y) =
            (Heading(angle).mirrored_x().direction(), Heading(angle).mirrored_y().direction());
        assert!((mirrored_x.0 + x).abs() < 1e-6 && (mirrored_x.1 - y).abs() < 1e-6, "{angle}");
        assert!((mirrored_y.0 - x).abs() < 1e-6 && (mirrored_y.1 + y).abs() < 1e-6, "{angle}");
    }
}

#[test]
fn a_turned_heading_wraps_around() {
    assert_eq!(Heading(10).turned(-20), Heading(65_526));
    assert_eq!(Heading(65_530).turned(20), Heading(14));
}

/// A square map with `count` walkers.
fn crowd(walk: WalkMode, count: u64, edge: f32, seed: u64) -> CrowdWorld {
    let config = RoomConfig { width: edge, height: edge, seed, ..RoomConfig::default() };
    with_players(CrowdWorld::new(WalkingCrowd::new(walk), &config), 1..count + 1)
}

fn with_players(mut crowd_world: CrowdWorld, players: std::ops::Range<u64>) -> CrowdWorld {
    for player in players {
        crowd_world.game.join(&mut crowd_world.world, PlayerId(player), "player");
    }
    crowd_world
}

fn walkers(crowd_world: &CrowdWorld) -> Vec<ObjectId> {
    crowd_world.world.objects().collect()
}

fn positions(crowd_world: &CrowdWorld) -> Vec<Position> {
    walkers(crowd_world).into_iter().map(|walker| crowd_world.world.position(walker)).collect()
}

/// Whether the pose is within 22 cm of the map's edge; `edge` in centimetres.
fn is_at_the_edge(pose: &Pose, edge: i32) -> bool {
    pose.at[..2].iter().any(|at| *at <= 22 || *at >= edge - 22)
}

/// The game and its world, tick by tick.
struct CrowdWorld {
    game: WalkingCrowd,
    world: World,
    tick: Duration,
}

impl CrowdWorld {
    fn new(game: WalkingCrowd, config: &RoomConfig) -> Self {
        let world = World::new(config, game.schema());
        let tick = Duration::from_secs(1) / config.tick_hz;
        let mut crowd_world = Self { game, world, tick };
        crowd_world.world.begin_tick(GameTime::ZERO + config.delay);
        crowd_world.game.start(&mut crowd_world.world);
        crowd_world.world.finish_tick();
        crowd_world
    }

    /// Ends the current tick, begins the next one and moves all walkers to it. Returns the changes
    /// of the tick that ended.
    fn tick(&mut self) -> Vec<WorldChange> {
        self.world.finish_tick();
        let mut changes = Vec::new();
        self.world.drain_changes(&mut changes);
        let next = self.world.now() + self.tick + Duration::from_micros(999);
        self.world.begin_tick(next);
        self.game.step(&mut self.world, self.tick);
        changes
    }

    /// Ticks until at least this many milliseconds have passed.
    fn run(&mut self, millis: u64) {
        let end = self.world.now() + Duration::from_millis(millis);
        while self.world.now() < end {
            self.tick();
        }
    }
}
