//! Wolves, and pilots that shoot at what hurts or hunts them.

use ambit_proto::message::FieldValue;
use ambit_room::logic::statics::Obstacle;

use super::*;
use crate::FieldSettings;

#[test]
fn a_wolf_tells_whom_it_hunts_runs_there_and_bites() {
    let (mut scene, wolf) = with_wolf(10.0);
    let changes = scene.run(8_000);
    assert_eq!(about(&changes, GROWL), [wolf]);
    assert_eq!(fields(&changes, GROWL)[0], [wolf, scene.avatar(ANN)].map(Some));
    let bites = fields(&changes, DAMAGE);
    assert!((3..9).contains(&bites.len()), "{bites:?}");
    assert!(bites.iter().all(|named| *named == [scene.avatar(ANN), wolf].map(Some)), "{bites:?}");
    assert!(scene.health(ANN) < 90.0);
}

#[test]
fn wolves_let_a_newcomer_read_what_to_do() {
    let begin = || {
        let game = FieldGame::new(0, 0).with_wolves(1).with_rounds(300, 15);
        let mut scene = Scene::with(game, &RoomConfig::default()).player(ANN, 100.0, 100.0);
        put_wolf(&mut scene);
        scene
    };
    let mut waits = begin();
    assert_eq!(about(&waits.run(8_000), GROWL), []);
    waits.run(12_500);
    put_wolf(&mut waits);
    assert_eq!(about(&waits.run(8_000), GROWL).len(), 1, "not for ever");
    let mut acts = begin();
    acts.walk(ANN, 101.0, 100.0).unwrap();
    assert_eq!(about(&acts.run(8_000), GROWL).len(), 1);
}

#[test]
fn whoever_keeps_walking_gets_away_from_a_wolf() {
    let (mut scene, _) = with_wolf(12.0);
    scene.run(1_000);
    scene.walk(ANN, 10.0, 100.0).unwrap();
    let changes = scene.run(18_000);
    assert_eq!(events(&changes, DAMAGE), []);
}

#[test]
fn a_wolf_forgets_whoever_veils_and_finds_it_again_afterwards() {
    let (mut scene, wolf) = with_wolf(13.0);
    assert_eq!(about(&scene.run(1_000), GROWL), [wolf]);
    scene.cast(ANN, VEIL).unwrap();
    let changes = scene.run(9_900);
    assert_eq!((events(&changes, DAMAGE), events(&changes, GROWL)), (vec![], vec![]));
}

#[test]
fn a_veiled_player_changes_nothing_of_what_a_wolf_does() {
    let way = |is_there: bool| {
        let mut scene = wolves(1);
        let wolf = scene.of_kind(WOLF)[0];
        scene = scene.player(BOB, 100.0, 100.0);
        scene.cast(BOB, VEIL).unwrap();
        let mut places = Vec::new();
        for step in 0..90_u8 {
            let at = scene.world.position(wolf);
            let beside = f32::from(step % 7) * 0.3;
            if is_there {
                scene.put(BOB, at.x + beside, at.y);
            }
            places.push(at);
            scene.run(100);
        }
        places
    };
    assert_eq!(way(true), way(false));
}

#[test]
fn a_wolf_behind_a_wall_comes_round_it_only_to_whom_it_has_seen() {
    let (mut scene, wolf) = with_wolf(6.0);
    let wall = Obstacle::on_ground(103.0, 100.0, 0.3, 6.0, 3.0);
    scene.world.statics_mut().add(wall);
    assert_eq!(about(&scene.run(500), GROWL), []);
    scene.put(ANN, 105.0, 108.0);
    assert_eq!(about(&scene.run(1_000), GROWL), [wolf]);
    scene.put(ANN, 99.0, 100.0);
    let mut nearest = f32::MAX;
    for _ in 0..200 {
        scene.tick();
        assert!(!scene.world.statics().is_blocked(scene.world.position(wolf), 0.39));
        nearest = nearest.min(scene.world.position(wolf).distance(scene.position(ANN)));
    }
    assert!(nearest < 2.0, "{nearest}");
}

#[test]
fn a_wolf_that_is_shot_hunts_the_shooter_and_dies_of_the_third_bolt() {
    let (mut scene, wolf) = with_wolf(22.0);
    let shoot = |scene: &mut Scene| {
        let at = scene.world.position(wolf);
        scene.set_mana(ANN, 100.0);
        scene.cast_at(ANN, BOLT, at.x, at.y).unwrap();
    };
    // It roams, and may be missed.
    let mut hits = (0..40).map(|_| {
        let at = scene.world.position(wolf);
        scene.put(ANN, at.x, if at.y > 100.0 { at.y - 18.0 } else { at.y + 18.0 });
        shoot(&mut scene);
        events(&scene.run(1_000), DAMAGE)
    });
    assert!(hits.any(|hits| !hits.is_empty()));
    scene.run(2_500);
    let apart_m = scene.world.position(wolf).distance(scene.position(ANN));
    assert!(apart_m < 14.0, "{apart_m}");
    let mut changes = Vec::new();
    for _ in 0..4 {
        shoot(&mut scene);
        changes.extend(scene.run(700));
    }
    assert_eq!(fields(&changes, DIED), [[wolf, scene.avatar(ANN)].map(Some)]);
    assert_eq!(scene.world.number(scene.avatar(ANN), FELLED), 1);
    assert_eq!(about(&scene.run(6_000), RESPAWNED), [wolf]);
}

#[test]
fn a_pilot_shoots_back_at_whoever_it_can_see_and_at_nobody_else() {
    for veiled in [false, true] {
        let mut scene = with_pilots(1);
        let pilot = scene.of_kind(0)[0];
        scene.join(ANN, "ann");
        let at = scene.world.position(pilot);
        scene.put(ANN, at.x - 5.0, at.y);
        if veiled {
            scene.cast(ANN, VEIL).unwrap();
        }
        scene.cast_at(ANN, BOLT, at.x, at.y).unwrap();
        let changes = scene.run(9_000);
        let by_pilot = about(&changes, CAST).iter().filter(|by| **by == pilot).count();
        assert_eq!(by_pilot > 1, !veiled, "{by_pilot}");
    }
}

#[test]
fn who_has_just_come_back_is_hurt_by_nobody_until_it_casts() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
    scene.set_health(BOB, 1.0);
    scene.cast_at(ANN, BOLT, 104.0, 100.0).unwrap();
    assert_eq!(events(&scene.run(5_500), RESPAWNED).len(), 1);
    let shoot = |scene: &mut Scene| {
        scene.put(BOB, 104.0, 100.0);
        scene.cast_at(ANN, BOLT, 104.0, 100.0).unwrap();
        events(&scene.run(500), DAMAGE).len()
    };
    assert_eq!(shoot(&mut scene), 0);
    scene.cast(BOB, HEAL).unwrap();
    assert_eq!(shoot(&mut scene), 1);
}

#[test]
fn bolts_of_pilots_that_go_astray_begin_no_fight() {
    let mut scene = with_pilots(8);
    scene.join(ANN, "ann");
    let one = scene.of_kind(0)[0];
    let mut hurt = Vec::<[Option<ObjectId>; 2]>::new();
    // It walks about, and shoots back; all around it are others.
    for _ in 0..60 {
        let at = scene.world.position(one);
        scene.put(ANN, at.x - 5.0, at.y);
        scene.set_mana(ANN, 100.0);
        scene.set_health(ANN, 100.0);
        if hurt.iter().all(|[target, _]| *target != Some(one)) {
            scene.cast_at(ANN, BOLT, at.x, at.y).unwrap();
        }
        let changes = scene.run(1_000);
        hurt.extend(fields(&changes, DAMAGE));
        let casts = about(&changes, CAST);
        let ann = scene.avatar(ANN);
        assert!(casts.iter().all(|by| [one, ann].contains(by) || was_hit(&hurt, *by, ann)));
    }
    let by_one = hurt.iter().filter(|[target, by]| *by == Some(one) && *target != Some(one));
    assert!(by_one.count() > 2, "{hurt:?}");
}

fn was_hit(hurt: &[[Option<ObjectId>; 2]], target: ObjectId, by: ObjectId) -> bool {
    hurt.contains(&[Some(target), Some(by)])
}

#[test]
fn a_hidden_bolt_names_nobody_as_the_one_who_has_felled() {
    for veiled in [false, true] {
        let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
        if veiled {
            scene.cast(ANN, VEIL).unwrap();
        }
        scene.set_health(BOB, 1.0);
        scene.cast_at(ANN, BOLT, 104.0, 100.0).unwrap();
        let by = (!veiled).then(|| scene.avatar(ANN));
        assert_eq!(fields(&scene.run(500), DIED), [[Some(scene.avatar(BOB)), by]]);
    }
}

#[test]
fn without_a_number_a_room_has_one_wolf_for_five_wanderers() {
    let wolves = |given: &[(&str, &str)]| {
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        let tables =
            [ambit_room::config::ROOM_PARAMETERS, <FieldSettings as ambit::Parameters>::TABLE];
        let parameters = ambit_room::config::Parameters::parse(&given, &tables).unwrap();
        let mut game = Typed::<FieldGame>::make(&parameters).unwrap();
        let mut world = World::new(&RoomConfig::default(), game.schema());
        world.begin_tick(GameTime::ZERO + Duration::from_millis(100));
        game.start(&mut world);
        world.objects().filter(|&object| world.kind(object) == WOLF).count()
    };
    assert_eq!(wolves(&[]), 4);
    assert_eq!(wolves(&[("npcs", "0")]), 0);
    assert_eq!(wolves(&[("npcs", "14")]), 2);
    assert_eq!(wolves(&[("npcs", "0"), ("wolves", "9")]), 9);
}

fn with_pilots(count: u32) -> Scene {
    Scene::with(FieldGame::new(0, 0).with_pilots(count), &RoomConfig::default())
}

/// A wolf stands `apart_m` east of ann.
fn with_wolf(apart_m: f32) -> (Scene, ObjectId) {
    let mut scene = wolves(1).player(ANN, 100.0, 100.0);
    let wolf = scene.of_kind(WOLF)[0];
    scene.world.teleport(wolf, Position::on_ground(100.0 + apart_m, 100.0));
    (scene, wolf)
}

/// Beside ann.
fn put_wolf(scene: &mut Scene) {
    let wolf = scene.of_kind(WOLF)[0];
    scene.world.teleport(wolf, Position::on_ground(106.0, 100.0));
}

fn wolves(count: u32) -> Scene {
    Scene::with(FieldGame::new(0, 0).with_wolves(count), &RoomConfig::default())
}

fn about(changes: &[WorldChange], kind: u8) -> Vec<ObjectId> {
    events(changes, kind).into_iter().map(|(object, _)| object).collect()
}

/// The objects that the events of a kind name.
fn fields(changes: &[WorldChange], wanted: u8) -> Vec<[Option<ObjectId>; 2]> {
    let named = |change: &WorldChange| match change {
        WorldChange::Event { kind, fields, .. } if *kind == wanted => {
            let mut objects = fields.iter().filter_map(|field| match field {
                FieldValue::Object(object) => Some(*object),
                _ => None,
            });
            Some([objects.next(), objects.next()])
        }
        _ => None,
    };
    changes.iter().filter_map(named).collect()
}
