//! Pilots: avatars that the game steers.

use std::collections::BTreeSet;

use super::*;

const AVATAR: u8 = 0;

#[test]
fn pilots_look_like_the_avatars_of_players() {
    let mut scene = with_pilots(2, &RoomConfig::default());
    let ann = scene.join(ANN, "ann");
    let pilots = scene.of_kind(AVATAR);
    assert_eq!(pilots.len(), 3);
    let names = pilots.iter().map(|&avatar| scene.world.text(avatar, NAME));
    assert_eq!(names.collect::<Vec<_>>(), ["Ada", "Bruno", "ann"]);
    for pilot in pilots {
        for gauge in [HEALTH, MANA_LEFT] {
            assert_eq!(scene.world.gauge(pilot, gauge), scene.world.gauge(ann, gauge));
        }
        assert!(scene.world.flag(pilot, ALIVE) && !scene.world.flag(pilot, VEILED));
        assert!(scene.sees(ANN, pilot));
    }
}

#[test]
fn no_two_pilots_have_the_same_name() {
    let scene = with_pilots(20, &RoomConfig::default());
    let pilots = scene.of_kind(AVATAR);
    let names: BTreeSet<_> = pilots.iter().map(|&pilot| scene.world.text(pilot, NAME)).collect();
    assert_eq!(names.len(), 20);
    assert!(names.contains("Ada") && names.contains("Ada 2"));
}

#[test]
fn pilots_walk_about_near_the_middle_and_do_nothing_else() {
    let small = RoomConfig { width: 30.0, height: 30.0, ..RoomConfig::default() };
    for config in [RoomConfig::default(), small] {
        let mut scene = with_pilots(20, &config);
        let pilots = scene.of_kind(AVATAR);
        let mut walking = vec![0; pilots.len()];
        let mut changes = Vec::new();
        for _ in 0..1_200 {
            scene.tick();
            changes.append(&mut scene.changes);
            for (steps, &pilot) in walking.iter_mut().zip(&pilots) {
                let position = scene.world.position(pilot);
                assert!(scene.world.grid().contains(position));
                assert!(position.distance(scene.world.middle()) < 20.1, "{position:?}");
                assert!(!scene.world.statics().is_blocked(position, 0.39), "{position:?}");
                *steps +=
                    usize::from(scene.world.path(pilot).last().unwrap().0 > scene.world.now());
            }
        }
        assert!(walking.iter().all(|&steps| steps > 200), "{walking:?}");
        for kind in [CAST, DAMAGE, HEALED, DIED] {
            assert_eq!(events(&changes, kind), []);
        }
    }
}

#[test]
fn pilots_do_not_depend_on_the_number_of_players() {
    let pilots = |players: u64| {
        let mut scene = with_pilots(8, &RoomConfig::default());
        let pilots = scene.of_kind(AVATAR);
        for player in 0..players {
            scene = scene.player(PlayerId(player), 50.0, 50.0);
            let _ = scene.walk(PlayerId(player), 150.0, 150.0);
        }
        scene.run(20_000);
        pilots.into_iter().map(|pilot| scene.world.position(pilot)).collect::<Vec<_>>()
    };
    assert_eq!(pilots(0), pilots(7));
}

#[test]
fn a_dead_pilot_respawns_and_walks_on() {
    let mut scene = with_pilots(1, &RoomConfig::default());
    let pilot = scene.of_kind(AVATAR)[0];
    scene.join(ANN, "ann");
    let mut changes = Vec::new();
    while events(&changes, DIED).is_empty() {
        let now = scene.world.now();
        scene.world.set_gauge(pilot, HEALTH, now, 10.0, 0.0);
        let place = scene.world.position(pilot);
        scene.put(ANN, place.x - 2.0, place.y);
        scene.set_mana(ANN, 100.0);
        scene.cast_at(ANN, BOLT, place.x, place.y).unwrap();
        changes = scene.run(500);
    }
    assert!(!scene.world.flag(pilot, ALIVE));
    let place = scene.world.position(pilot);
    scene.run(3_000);
    assert_eq!(scene.world.position(pilot), place);
    assert_eq!(events(&scene.run(3_000), RESPAWNED).len(), 1);
    assert!(scene.world.flag(pilot, ALIVE));
    assert_eq!(scene.world.gauge(pilot, HEALTH).value, 100.0);
    let back = scene.world.position(pilot);
    scene.run(3_000);
    assert!(scene.world.position(pilot).distance(back) > 0.1);
}

fn with_pilots(pilots: u32, config: &RoomConfig) -> Scene {
    Scene::with(FieldGame::new(20, 0).with_pilots(pilots), config)
}
