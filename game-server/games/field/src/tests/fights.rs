//! Engagements: the objects that a player needs the freshest updates of.

use super::*;

#[test]
fn a_caster_is_engaged_with_its_target_for_five_seconds() {
    let mut scene =
        Scene::new().player(ANN, 100.0, 100.0).player(BOB, 120.0, 100.0).player(CID, 120.0, 102.0);
    scene.cast_at(ANN, BOLT, 120.0, 100.5).unwrap();
    let until = scene.millis() + 5_000;
    assert_eq!(engaged(&scene.run(0)), [(scene.avatar(ANN), scene.avatar(BOB), until)]);
    scene.cast_at(ANN, BOLT, 100.0, 120.0).unwrap();
    assert_eq!(engaged(&scene.run(0)), []); // ANN aims at no object.
}

#[test]
fn attacker_and_victim_are_engaged_with_each_other() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 110.0, 100.0);
    scene.cast_at(ANN, BOLT, 104.0, 100.0).unwrap();
    let ann = scene.avatar(ANN);
    let bob = scene.avatar(BOB);
    assert_eq!(pairs(&scene.run(1_000)), [(ann, bob), (bob, ann)]);
}

#[test]
fn wanderers_are_never_engaged_as_viewers() {
    let mut scene =
        Scene::with(FieldGame::new(0, 1), &RoomConfig::default()).player(ANN, 100.0, 100.0);
    let npc = scene.of_kind(NPC)[0];
    let place = scene.world.position(npc);
    scene.put(ANN, if place.x > 10.0 { place.x - 5.0 } else { place.x + 5.0 }, place.y);
    scene.cast_at(ANN, BOLT, place.x, place.y).unwrap();
    let ann = scene.avatar(ANN);
    assert_eq!(pairs(&scene.run(1_000)), [(ann, npc), (ann, npc)]);
}

#[test]
fn a_caster_is_not_engaged_with_a_veiled_target() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 110.0, 100.0);
    scene.cast(BOB, VEIL).unwrap();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let ann = scene.avatar(ANN);
    let bob = scene.avatar(BOB);
    let changes = scene.run(2_000);
    assert!(scene.health(BOB) < 80.0);
    assert_eq!(pairs(&changes), [(bob, ann)]); // Only the victim is engaged.
}

#[test]
fn a_victim_is_not_engaged_with_an_unseen_attacker() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 110.0, 100.0);
    scene.cast(ANN, VEIL).unwrap();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let ann = scene.avatar(ANN);
    let bob = scene.avatar(BOB);
    assert_eq!(pairs(&scene.run(2_000)), [(ann, bob), (ann, bob)]);
}

#[test]
fn a_victim_is_not_engaged_with_an_attacker_that_has_left() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 125.0, 100.0);
    scene.cast_at(ANN, BOLT, 104.0, 100.0).unwrap();
    scene.leave(ANN);
    assert_eq!(pairs(&scene.run(2_000)), []);
    assert!(scene.health(BOB) < 80.0);
}

fn engaged(changes: &[WorldChange]) -> Vec<(ObjectId, ObjectId, u64)> {
    let pair = |change: &WorldChange| match *change {
        WorldChange::Engaged { viewer, object, until } => Some((viewer, object, until.millis())),
        _ => None,
    };
    changes.iter().filter_map(pair).collect()
}

fn pairs(changes: &[WorldChange]) -> Vec<(ObjectId, ObjectId)> {
    engaged(changes).into_iter().map(|(viewer, object, _)| (viewer, object)).collect()
}
