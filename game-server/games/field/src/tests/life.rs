//! Regeneration, death, respawn and leaving.

use super::*;

#[test]
fn health_regenerates_by_one_a_second_without_events() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 105.0, 100.0);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    scene.run(1_000);
    let before = scene.health(BOB);
    assert_eq!(scene.run(10_000), []);
    assert!((scene.health(BOB) - before - 10.0).abs() < 0.01);
    scene.run(60_000);
    assert_eq!(scene.health(BOB), 100.0);
}

#[test]
fn an_avatar_without_health_is_dead_and_refuses_commands() {
    let (mut scene, died) = killed();
    let bob = scene.avatar(BOB);
    assert!(!scene.world.flag_at(bob, ALIVE, GameTime::from_millis(died)));
    assert!(scene.world.flag_at(bob, ALIVE, GameTime::from_millis(died - 1)));
    let place = scene.world.position_at(bob, GameTime::from_millis(died));
    assert_eq!(scene.walk(BOB, 120.0, 120.0), refused(FieldRefusal::Dead));
    for spell in [BOLT, HEAL, VEIL, BLINK] {
        assert_eq!(scene.cast_at(BOB, spell, 101.0, 101.0), refused(FieldRefusal::Dead));
    }
    scene.run(3_000);
    assert_eq!((scene.position(BOB), scene.health(BOB)), (place, 0.0));
}

#[test]
fn a_dead_avatar_respawns_after_five_seconds_near_the_middle() {
    let (mut scene, died) = killed();
    let changes = scene.run(6_000);
    let bob = scene.avatar(BOB);
    let returned = events(&changes, RESPAWNED);
    assert_eq!(returned.len(), 1);
    let (object, at) = returned[0];
    assert!(object == bob && (died + 5_000..died + 5_050).contains(&at), "{at} {died}");
    assert_eq!(scene.health(BOB), 100.0);
    assert!(scene.world.flag(bob, ALIVE));
    assert!(scene.position(BOB).distance(Position::on_ground(100.0, 100.0)) < 20.1);
    assert_eq!(scene.walk(BOB, 120.0, 120.0), Ok(()));
}

#[test]
fn whoever_is_dead_knows_how_long() {
    let (mut scene, died) = killed();
    let back_in = |scene: &Scene| scene.world.gauge(scene.avatar(BOB), BACK_IN);
    let dead_s = (scene.millis() - died) as f32 / 1_000.0;
    assert!((back_in(&scene).value - (5.0 - dead_s)).abs() < 0.05, "{:?}", back_in(&scene));
    assert_eq!(back_in(&scene).rate, -1.0);
    scene.run(6_000);
    assert_eq!(back_in(&scene).value, 0.0);
    assert_eq!(scene.world.gauge(scene.avatar(ANN), BACK_IN).rate, 0.0);
}

#[test]
fn dead_avatars_are_not_hit() {
    let (mut scene, _) = killed();
    let place = scene.position(BOB);
    scene.put(ANN, place.x - 3.0, place.y);
    scene.set_mana(ANN, 100.0);
    scene.cast_at(ANN, BOLT, place.x, place.y).unwrap();
    assert_eq!(events(&scene.run(2_000), DAMAGE), []);
}

#[test]
fn a_command_at_the_time_of_death_is_refused() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 105.0, 100.0);
    scene.set_health(BOB, 10.0);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    for _ in 0..4 {
        scene.tick();
        assert_eq!(scene.cast_at(BOB, BOLT, 100.0, 90.0), Ok(()));
    }
    // The horizon has passed the time of the hit; the command comes before the step.
    scene.tick();
    assert_eq!(scene.cast_at(BOB, BOLT, 100.0, 90.0), refused(FieldRefusal::Dead));
}

#[test]
fn a_dead_wanderer_respawns_elsewhere_and_wanders_on() {
    let mut scene =
        Scene::with(FieldGame::new(0, 1), &RoomConfig::default()).player(ANN, 100.0, 100.0);
    let npc = scene.of_kind(NPC)[0];
    let now = scene.world.now();
    scene.world.set_gauge(npc, HEALTH, now, 10.0, 0.0);
    let place = scene.world.position(npc);
    scene.put(ANN, (place.x - 4.0).max(0.0), place.y);
    scene.cast_at(ANN, BOLT, place.x, place.y).unwrap();
    let changes = scene.run(4_900);
    assert_eq!(events(&changes, DIED).len(), 1);
    assert_eq!(scene.world.position(npc), place);
    assert_eq!(events(&scene.run(500), RESPAWNED).len(), 1);
    assert_eq!(scene.world.gauge(npc, HEALTH).value, 50.0);
    let back = scene.world.position(npc);
    assert!(back.distance(place) > 1.0);
    scene.run(30_000);
    assert!(scene.world.position(npc).distance(back) > 0.1);
}

#[test]
fn an_avatar_that_leaves_is_removed_and_its_timers_do_nothing() {
    let (mut scene, _) = killed();
    scene.cast(ANN, VEIL).unwrap();
    scene.cast_at(ANN, BOLT, 100.0, 150.0).unwrap();
    let ann = scene.avatar(ANN);
    let bob = scene.avatar(BOB);
    scene.leave(ANN);
    scene.leave(BOB);
    scene.leave(BOB);
    assert!(!scene.world.contains(ann) && !scene.world.contains(bob));
    let changes = scene.run(20_000);
    assert_eq!(events(&changes, RESPAWNED), []);
    assert!(scene.world.objects().eq(scene.of_kind(BEST_HUNTER)));
}

#[test]
fn wanderers_walk_between_obstacles_with_pauses() {
    let config = RoomConfig { width: 60.0, height: 60.0, seed: 4, ..RoomConfig::default() };
    let mut scene = Scene::with(FieldGame::new(60, 30), &config);
    let npcs = scene.of_kind(NPC);
    let mut walking = vec![0; npcs.len()];
    for _ in 0..1_200 {
        scene.tick();
        for (steps, &npc) in walking.iter_mut().zip(&npcs) {
            let position = scene.world.position(npc);
            assert!(scene.world.grid().contains(position));
            assert!(!scene.world.statics().is_blocked(position, 0.39), "{position:?}");
            *steps += usize::from(scene.world.path(npc).last().unwrap().0 > scene.world.now());
        }
    }
    assert!(walking.iter().all(|&steps| (100..1_100).contains(&steps)), "{walking:?}");
}

#[test]
fn a_crowded_map_starts_and_runs() {
    let config = RoomConfig { width: 2_000.0, height: 2_000.0, ..RoomConfig::default() };
    let mut scene = Scene::with(FieldGame::new(1_000, 5_000), &config);
    assert_eq!(scene.of_kind(NPC).len(), 5_000);
    scene.run(5_000);
}

/// A scene in which ANN has killed BOB with a bolt, and the time of death.
fn killed() -> (Scene, u64) {
    let mut scene = Scene::new().player(ANN, 60.0, 60.0).player(BOB, 70.0, 60.0);
    scene.set_health(BOB, 20.0);
    scene.walk(BOB, 70.0, 60.4).unwrap();
    scene.cast_at(ANN, BOLT, 80.0, 60.0).unwrap();
    let changes = scene.run(1_000);
    let died = events(&changes, DIED);
    assert_eq!((died.len(), died[0].0), (1, scene.avatar(BOB)));
    (scene, died[0].1)
}
