//! Determinism: the same seed and inputs give the same game, and random numbers of one creature do
//! not affect others.

use super::*;
use crate::FieldSettings;

#[test]
fn the_same_seed_and_inputs_give_the_same_changes() {
    assert_eq!(busy_run(3), busy_run(3));
    assert_ne!(busy_run(3), busy_run(4));
}

#[test]
fn wanderers_do_not_depend_on_the_number_of_players() {
    let npcs = |players: u64| {
        let mut scene = Scene::with(FieldGame::new(40, 30), &RoomConfig::default());
        for player in 0..players {
            scene = scene.player(PlayerId(player), 50.0, 50.0);
            let _ = scene.walk(PlayerId(player), 150.0, 150.0);
        }
        scene.run(20_000);
        let npcs = scene.of_kind(NPC);
        npcs.into_iter().map(|npc| scene.world.position(npc)).collect::<Vec<_>>()
    };
    assert_eq!(npcs(0), npcs(7));
}

#[test]
fn a_spawn_position_depends_only_on_the_player_and_the_seed() {
    let place = |before: u64, seed: u64| {
        let mut scene =
            Scene::with(FieldGame::new(40, 0), &RoomConfig { seed, ..RoomConfig::default() });
        for player in 10..10 + before {
            scene.join(PlayerId(player), "x");
        }
        let avatar = scene.join(ANN, "ann");
        scene.world.position(avatar)
    };
    assert_eq!(place(0, 1), place(5, 1));
    assert_ne!(place(0, 1), place(0, 2));
}

#[test]
fn decisions_of_a_tick_take_effect_after_the_previous_horizon() {
    let mut before = GameTime::ZERO;
    for (now, change) in busy_run(5) {
        let effect = match change {
            WorldChange::Event { effect, .. } => effect,
            WorldChange::Despawned { at, .. } => at,
            _ => continue,
        };
        assert!(effect <= now, "{effect:?} {now:?}");
        assert!(now.since(effect) < Duration::from_millis(50), "{effect:?} {now:?}");
        assert!(now >= before);
        before = now;
    }
}

#[test]
fn valid_parameters_create_the_game_and_bad_ones_are_refused() {
    let make = |given: &[(&str, &str)]| {
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let parameters = ambit_room::config::Parameters::parse(
            &given,
            &[ambit_room::config::ROOM_PARAMETERS, <FieldSettings as ambit::Parameters>::TABLE],
        )
        .unwrap();
        Typed::<FieldGame>::make(&parameters)
            .map(|game| game.schema().game)
            .map_err(|error| error.to_string())
    };
    assert_eq!(make(&[]), Ok("field".into()));
    // The default number of obstacles shrinks with the map.
    assert_eq!(make(&[("size", "10x10")]), Ok("field".into()));
    assert_eq!(make(&[("obstacles", "5000")]), Ok("field".into()));
    assert_eq!(make(&[("pilots", "20")]), Ok("field".into()));
    let crowded = make(&[("size", "10x10"), ("obstacles", "13")]);
    assert_eq!(
        crowded,
        Err("obstacles does not fit: a map of 10x10 m has room for 12 at most, not 13".into())
    );
}

/// Changes with the horizon at which they were reported.
fn busy_run(seed: u64) -> Vec<(GameTime, WorldChange)> {
    let config = RoomConfig { seed, width: 50.0, height: 50.0, ..RoomConfig::default() };
    let mut scene = Scene::with(FieldGame::new(20, 50).with_wolves(5).with_pilots(3), &config);
    let mut rng = fastrand::Rng::with_seed(seed);
    for player in 0..12 {
        scene = scene.player(PlayerId(player), rng.f32() * 50.0, rng.f32() * 50.0);
    }
    let mut reported = Vec::new();
    for _ in 0..400 {
        let player = PlayerId(rng.u64(..12));
        let _ = scene.walk(player, rng.f32() * 50.0, rng.f32() * 50.0);
        let _ = scene.cast_at(player, rng.u8(..4), rng.f32() * 50.0, rng.f32() * 50.0);
        let now = scene.world.now();
        scene.tick();
        reported.extend(scene.changes.drain(..).map(|change| (now, change)));
    }
    reported
}
