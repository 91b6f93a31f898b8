//! Bolts: which targets they hit, and when.

use ambit_proto::timeline::Gauge;

use super::*;
use ambit_room::logic::statics::Obstacle;

#[test]
fn a_bolt_hits_at_the_exact_time_at_any_tick_rate() {
    for tick_hz in [10, 20, 33, 60] {
        let config = RoomConfig { tick_hz, ..RoomConfig::default() };
        let mut scene = Scene::with(FieldGame::new(0, 0), &config)
            .player(ANN, 100.0, 100.0)
            .player(BOB, 110.0, 100.0);
        let start = scene.millis();
        scene.cast_at(ANN, BOLT, 101.0, 100.0).unwrap();
        let changes = scene.run(2_000);
        // The bolt hits half a metre before the target's centre: after 9.5 m at 20 m/s.
        assert_eq!(events(&changes, DAMAGE), [(scene.avatar(BOB), start + 475)], "{tick_hz} Hz");
        assert_eq!(health_at(&scene, BOB, start + 475).value, 75.0);
        assert_eq!(health_at(&scene, BOB, start + 474).value, 100.0);
        assert!(changes.iter().any(|change| {
            matches!(change, WorldChange::Despawned { at, .. }
                    if at.millis() == start + 475)
        }));
        assert_eq!(scene.of_kind(BOLT_KIND), []);
    }
}

#[test]
fn a_bolt_damages_only_the_first_target_on_its_path() {
    let mut scene =
        Scene::new().player(ANN, 100.0, 100.0).player(BOB, 112.0, 100.0).player(CID, 110.0, 100.3);
    scene.cast_at(ANN, BOLT, 130.0, 100.0).unwrap();
    scene.run(2_000);
    assert!(scene.health(CID) < 80.0);
    assert_eq!(scene.health(BOB), 100.0);
    assert_eq!(scene.health(ANN), 100.0);
}

#[test]
fn a_bolt_hits_a_runner_across_its_path_and_misses_one_out_of_reach() {
    let mut scene =
        Scene::new().player(ANN, 100.0, 100.0).player(BOB, 110.0, 97.5).player(CID, 105.0, 99.3);
    scene.walk(BOB, 110.0, 110.0).unwrap(); // BOB crosses when the bolt passes.
    scene.cast_at(ANN, BOLT, 130.0, 100.0).unwrap();
    let changes = scene.run(2_000);
    assert_eq!(events(&changes, DAMAGE).len(), 1);
    assert!(scene.health(BOB) < 80.0);
    assert_eq!(scene.health(CID), 100.0);
}

#[test]
fn a_runner_beside_the_path_of_a_bolt_is_not_hit() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 110.0, 95.0);
    // BOB reaches the bolt's path after a second; the bolt passes there after half a second.
    scene.walk(BOB, 110.0, 105.0).unwrap();
    scene.cast_at(ANN, BOLT, 130.0, 100.0).unwrap();
    assert_eq!(events(&scene.run(3_000), DAMAGE), []);
}

#[test]
fn a_bolt_ends_at_an_obstacle_at_its_range_or_at_the_map_s_edge() {
    let end = |scene: &mut Scene, x: f32, y: f32| {
        scene.set_mana(ANN, 100.0);
        let start = scene.world.now();
        scene.cast_at(ANN, BOLT, x, y).unwrap();
        let bolt = scene.of_kind(BOLT_KIND)[0];
        let end = scene.world.path(bolt).last().unwrap();
        let time = end.0.since(start).as_secs_f32();
        let position = end.1.position;
        assert!((time - position.distance(scene.position(ANN)) / 20.0).abs() < 0.002);
        scene.run(2_000);
        assert_eq!(scene.of_kind(BOLT_KIND), []);
        position
    };
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 115.0, 100.0);
    assert_eq!(end(&mut scene, 100.0, 105.0), Position::on_ground(100.0, 130.0));
    assert!(end(&mut scene, 82.0, 76.0).distance(Position::on_ground(82.0, 76.0)) < 0.01);
    scene.world.statics_mut().add(Obstacle::on_ground(110.0, 100.0, 1.0, 1.0, 3.0));
    assert!((end(&mut scene, 115.0, 100.0).x - 108.88).abs() < 0.01);
    assert_eq!(scene.health(BOB), 100.0); // BOB is behind the box.
    scene.put(ANN, 190.0, 10.0);
    assert_eq!(end(&mut scene, 195.0, 10.0), Position::on_ground(200.0, 10.0));
    assert!(end(&mut scene, 190.0, 9.0).distance(Position::on_ground(190.0, 0.0)) < 0.005);
    scene.put(ANN, 200.0, 200.0);
    assert_eq!(end(&mut scene, 199.0, 200.0), Position::on_ground(170.0, 200.0));
}

#[test]
fn a_bolt_cast_against_a_wall_is_removed_at_once() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(105.0, 100.0, 1.0, 50.0, 3.0));
    scene.walk(ANN, 110.0, 100.0).unwrap();
    scene.run(3_000);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    scene.run(100);
    assert_eq!(scene.of_kind(BOLT_KIND), []);
}

#[test]
fn bolts_damage_wanderers() {
    let mut scene =
        Scene::with(FieldGame::new(0, 1), &RoomConfig::default()).player(ANN, 100.0, 100.0);
    let npc = scene.of_kind(NPC)[0];
    let place = scene.world.position(npc);
    let beside = if place.x > 10.0 { place.x - 5.0 } else { place.x + 5.0 };
    scene.put(ANN, beside, place.y);
    scene.cast_at(ANN, BOLT, place.x, place.y).unwrap();
    let changes = scene.run(400);
    assert_eq!(events(&changes, DAMAGE).len(), 1);
    assert!(scene.world.gauge(npc, HEALTH).value < 26.0);
}

#[test]
fn of_two_bolts_in_a_tick_the_earlier_kills_and_the_other_flies_on() {
    let mut scene =
        Scene::new().player(ANN, 100.0, 100.0).player(BOB, 101.0, 100.0).player(CID, 100.0, 104.0);
    scene.set_health(BOB, 25.0);
    scene.tick();
    // CID aims past BOB from farther away than ANN.
    scene.cast_at(CID, BOLT, 104.0, 96.0).unwrap();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let start = scene.millis();
    let changes = scene.run(2_000);
    assert_eq!(events(&changes, DIED), [(scene.avatar(BOB), start + 25)]);
    assert_eq!(events(&changes, DAMAGE), [(scene.avatar(BOB), start + 25)]);
}

#[test]
fn a_target_within_reach_of_the_caster_is_hit_just_after_the_cast() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 100.2, 100.0);
    let start = scene.millis();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    assert_eq!(events(&scene.run(100), DAMAGE), [(scene.avatar(BOB), start + 1)]);
}

#[test]
fn random_bolts_hit_the_same_targets_as_small_steps() {
    let mut rng = fastrand::Rng::with_seed(21);
    let mut hits = 0;
    for case in 0..60 {
        let mut scene = Scene::new().player(ANN, 100.0, 100.0);
        for player in 10..40 {
            scene =
                scene.player(PlayerId(player), 90.0 + rng.f32() * 20.0, 90.0 + rng.f32() * 20.0);
            scene.walk(PlayerId(player), 90.0 + rng.f32() * 20.0, 90.0 + rng.f32() * 20.0).unwrap();
        }
        let start = scene.world.now();
        scene.cast_at(ANN, BOLT, 80.0 + rng.f32() * 40.0, 80.0 + rng.f32() * 40.0).unwrap();
        let bolt = scene.of_kind(BOLT_KIND)[0];
        let paths: Vec<_> = (10..40)
            .map(|player| scene.world.path(scene.avatar(PlayerId(player))).clone())
            .collect();
        let flight = scene.world.path(bolt).clone();
        let at = |micros: u64| start + Duration::from_micros(micros);
        let nearest = |micros: u64| {
            let bolt = flight.value_at(at(micros)).unwrap().position;
            let distance =
                |player: usize| paths[player].value_at(at(micros)).unwrap().position.distance(bolt);
            (0..30)
                .map(|player| (distance(player), player))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .unwrap()
        };
        let stepped = (0..=15_000).map(|step| step * 100).find(|&micros| nearest(micros).0 <= 0.5);
        let changes = scene.run(2_000);
        match (events(&changes, DAMAGE).as_slice(), stepped) {
            ([], None) => {}
            ([(victim, effect)], Some(micros)) => {
                hits += 1;
                assert_eq!(
                    *victim,
                    scene.avatar(PlayerId(10 + nearest(micros).1 as u64)),
                    "case {case}"
                );
                assert!(effect.abs_diff(at(micros).millis()) <= 1, "case {case}");
            }
            // The objects touch only between two steps.
            ([(_, effect)], None) => {
                assert!(nearest((effect - start.millis()) * 1_000).0 < 0.52, "case {case}");
            }
            other => panic!("case {case}: {other:?}"),
        }
    }
    assert!(hits > 20, "{hits}");
}

fn health_at(scene: &Scene, player: PlayerId, millis: u64) -> Gauge {
    scene.world.gauge_at(scene.avatar(player), HEALTH, GameTime::from_millis(millis))
}
