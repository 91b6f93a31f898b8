//! Movement of avatars to the position of a click.

use super::*;
use ambit_room::logic::statics::Obstacle;

#[test]
fn a_walk_is_a_straight_line_at_five_metres_a_second() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    let start = scene.world.now();
    scene.walk(ANN, 130.0, 140.0).unwrap();
    let path: Vec<_> = scene
        .world
        .path(scene.avatar(ANN))
        .tail(start)
        .map(|(time, point)| (time, point.position))
        .collect();
    let end = start + Duration::from_secs(10);
    assert_eq!(
        path,
        [(start, Position::on_ground(100.0, 100.0)), (end, Position::on_ground(130.0, 140.0))]
    );
    scene.run(5_000);
    assert!(scene.position(ANN).distance(Position::on_ground(115.0, 120.0)) < 0.01);
    scene.run(6_000);
    assert_eq!(scene.position(ANN), Position::on_ground(130.0, 140.0));
}

#[test]
fn a_new_click_replaces_only_the_rest_of_the_path() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.walk(ANN, 150.0, 100.0).unwrap();
    scene.run(2_000);
    let avatar = scene.avatar(ANN);
    let now = scene.world.now();
    let before = scene.world.position_at(avatar, now.saturating_sub(Duration::from_millis(500)));
    scene.walk(ANN, 110.0, 150.0).unwrap();
    assert!(scene.position(ANN).distance(Position::on_ground(110.0, 100.0)) < 0.01);
    let after = scene.world.position_at(avatar, now.saturating_sub(Duration::from_millis(500)));
    assert!(before.distance(after) < 0.005);
    scene.run(10_500);
    assert_eq!(scene.position(ANN), Position::on_ground(110.0, 150.0));
}

#[test]
fn a_walk_goes_round_an_obstacle() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(112.0, 100.0, 2.0, 5.0, 3.0));
    let start = scene.world.now();
    scene.walk(ANN, 120.0, 100.0).unwrap();
    // Two corners, and little more than the shortest way.
    let ends: Vec<_> = scene.world.path(scene.avatar(ANN)).tail(start).collect();
    assert!((4..=5).contains(&ends.len()), "{ends:?}");
    let seconds = ends.last().expect("a way has an end").0.since(start).as_secs_f32();
    assert!((4.5..5.3).contains(&seconds), "{seconds}");
    scene.run(6_000);
    assert_eq!(scene.position(ANN), Position::on_ground(120.0, 100.0));
}

#[test]
fn a_walk_to_where_nobody_gets_ends_before_it() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(112.0, 100.0, 2.0, 5.0, 3.0));
    scene.walk(ANN, 112.0, 100.0).unwrap();
    scene.run(15_000);
    assert!((scene.position(ANN).x - 109.58).abs() < 0.01, "{:?}", scene.position(ANN));
    // A yard without a door.
    for (x, y, half_x, half_y) in [
        (90.0, 95.0, 5.25, 0.25),
        (90.0, 105.0, 5.25, 0.25),
        (85.0, 100.0, 0.25, 5.25),
        (95.0, 100.0, 0.25, 5.25),
    ] {
        scene.world.statics_mut().add(Obstacle::on_ground(x, y, half_x, half_y, 3.0));
    }
    scene.walk(ANN, 90.0, 100.0).unwrap();
    scene.run(15_000);
    let away_m = scene.position(ANN).distance(Position::on_ground(90.0, 100.0));
    assert!((5.0..6.5).contains(&away_m), "{away_m}");
}

#[test]
fn a_flood_of_walks_searches_once_in_a_while() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(112.0, 100.0, 2.0, 5.0, 3.0));
    let mut corners = || {
        scene.walk(ANN, 120.0, 100.0).unwrap();
        let now = scene.world.now();
        let corners = scene.world.path(scene.avatar(ANN)).tail(now).count();
        scene.run(50);
        corners
    };
    let [first, second, third, fourth] = std::array::from_fn(|_| corners());
    assert!(first > 3 && second == 2 && third == 2 && fourth > 3, "{first} {second} {third}");
}

#[test]
fn walks_between_many_obstacles_touch_none_and_mostly_arrive() {
    let config = RoomConfig { width: 60.0, height: 60.0, ..RoomConfig::default() };
    let mut walks = 0;
    let mut arrived = 0;
    for seed in 0..6 {
        let config = RoomConfig { seed, ..config.clone() };
        let mut scene = Scene::with(FieldGame::new(100, 0), &config);
        scene.join(ANN, "ann");
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..10 {
            let target = Position::on_ground(rng.f32() * 60.0, rng.f32() * 60.0);
            if scene.world.statics().is_blocked(target, 0.5) {
                continue;
            }
            scene.walk(ANN, target.x, target.y).unwrap();
            for _ in 0..600 {
                scene.tick();
                let at = scene.position(ANN);
                assert!(!scene.world.statics().is_blocked(at, 0.39), "seed {seed}: {at:?}");
            }
            walks += 1;
            arrived += u32::from(scene.position(ANN).distance(target) < 0.01);
        }
    }
    // To some there is no way, or only a long one.
    assert!(arrived * 10 > walks * 6, "{arrived} of {walks}");
}

#[test]
fn an_avatar_can_walk_to_the_map_s_edge_but_not_beyond() {
    let mut scene = Scene::new().player(ANN, 190.0, 190.0);
    scene.walk(ANN, 200.0, 200.0).unwrap();
    scene.run(5_000);
    assert_eq!(scene.position(ANN), Position::on_ground(200.0, 200.0));
}

#[test]
fn an_avatar_steered_at_every_tick_keeps_its_speed() {
    let mut scene =
        Scene::with(FieldGame::new(0, 0), &RoomConfig { tick_hz: 60, ..RoomConfig::default() })
            .player(ANN, 100.0, 100.0);
    let start = scene.world.now();
    for tick in 0..500u16 {
        scene.walk(ANN, 150.0, 100.0 + f32::from(tick % 2)).unwrap();
        scene.tick();
    }
    let metres = scene.position(ANN).distance(Position::on_ground(100.0, 100.0));
    let distance = scene.world.now().since(start).as_secs_f32() * 5.0;
    // Each click rounds its start to the grid of the wire: up to 2 mm on the 85 mm of a tick at 60
    // Hz.
    assert!((metres - distance).abs() < 0.025 * distance, "{metres} {distance}");
}

#[test]
fn only_a_player_with_an_avatar_gives_commands() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    assert_eq!(
        scene.command(BOB, &commands::walk(1.0, 1.0)),
        refused(Refusal::Code(ErrorCode::OutOfState))
    );
}

#[test]
fn new_players_have_a_name_and_can_change_it() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    let avatar = scene.avatar(ANN);
    assert_eq!(scene.world.text(avatar, NAME), "player");
    scene.rename(ANN, &"ß".repeat(100));
    assert_eq!(scene.world.text(avatar, NAME), "ß".repeat(48));
    scene.rename(BOB, "other");
}
