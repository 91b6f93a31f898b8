//! Veils: other players receive nothing about a veiled avatar.

use super::*;

#[test]
fn a_veiled_avatar_is_seen_by_itself_alone_for_exactly_ten_seconds() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 101.0, 100.0);
    let ann = scene.avatar(ANN);
    let start = scene.millis();
    assert!(scene.sees(BOB, ann));
    scene.cast(ANN, VEIL).unwrap();
    assert!(!scene.sees(BOB, ann));
    assert!(scene.sees(ANN, ann));
    assert!(scene.sees(ANN, scene.avatar(BOB)));
    let flag = |scene: &Scene, millis: u64| {
        scene.world.flag_at(ann, VEILED, GameTime::from_millis(millis))
    };
    assert_eq!([0, 9_999, 10_000].map(|after| flag(&scene, start + after)), [true, true, false]);
    scene.run(9_950);
    assert!(!scene.sees(BOB, ann));
    let changes = scene.run(50);
    assert!(scene.sees(BOB, ann));
    assert!(changes.contains(&WorldChange::AskWhoSees { object: ann }));
}

#[test]
fn an_avatar_is_hidden_before_the_event_of_its_cast() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.run(0);
    scene.cast(ANN, VEIL).unwrap();
    let changes = scene.run(0);
    let index = |wanted: fn(&WorldChange) -> bool| {
        changes.iter().position(wanted).expect("a reported change")
    };
    let hidden = index(|change| matches!(change, WorldChange::AskWhoSees { .. }));
    assert!(hidden < index(|change| matches!(change, WorldChange::Event { kind: CAST, .. })));
}

#[test]
fn a_veil_cannot_be_cast_again_while_it_lasts() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.cast(ANN, VEIL).unwrap();
    scene.run(9_950);
    assert_eq!(scene.cast(ANN, VEIL), refused(FieldRefusal::OnCooldown));
    scene.run(50);
    assert_eq!(scene.cast(ANN, VEIL), Ok(()));
    assert!(!scene.game.sees(&scene.world, ObjectId(0), scene.avatar(ANN), Sight::New));
    scene.run(9_950);
    assert!(!scene.game.sees(&scene.world, ObjectId(0), scene.avatar(ANN), Sight::New));
}

#[test]
fn a_bolt_of_a_veiled_caster_is_hidden_from_others_for_its_whole_flight() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 100.0, 90.0);
    scene.cast(ANN, VEIL).unwrap();
    scene.run(9_500);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let bolt = scene.of_kind(BOLT_KIND)[0];
    assert!(!scene.sees(BOB, bolt));
    assert!(scene.sees(ANN, bolt));
    scene.run(1_000); // The veil is over, the bolt still flies.
    assert!(scene.sees(BOB, scene.avatar(ANN)));
    assert!(scene.world.contains(bolt));
    assert!(!scene.sees(BOB, bolt));
}

#[test]
fn a_bolt_cast_before_the_veil_and_one_cast_after_it_are_seen() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 100.0, 90.0);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    scene.cast(ANN, VEIL).unwrap();
    assert!(scene.sees(BOB, scene.of_kind(BOLT_KIND)[0]));
    scene.run(10_000);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    assert!(scene.sees(BOB, scene.of_kind(BOLT_KIND)[0]));
}

#[test]
fn a_bolt_damages_a_veiled_avatar_once_and_flies_on_to_the_next() {
    let mut scene =
        Scene::new().player(ANN, 100.0, 100.0).player(BOB, 108.0, 100.0).player(CID, 116.0, 100.0);
    scene.cast(BOB, VEIL).unwrap();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let start = scene.millis();
    let changes = scene.run(1_500);
    let bob = scene.avatar(BOB);
    let cid = scene.avatar(CID);
    // Each event is about its target: only BOB follows BOB, so only BOB receives BOB's damage.
    assert_eq!(events(&changes, DAMAGE), [(bob, start + 375), (cid, start + 775)]);
    assert!((scene.health(BOB) - 76.0).abs() < 2.0);
}

#[test]
fn a_bolt_hits_a_veiled_avatar_that_walks_along_with_it_only_once() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 101.0, 100.0);
    scene.cast(BOB, VEIL).unwrap();
    scene.walk(BOB, 150.0, 100.0).unwrap();
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    assert_eq!(events(&scene.run(2_000), DAMAGE).len(), 1);
}

#[test]
fn a_hidden_bolt_hits_a_visible_victim_without_naming_its_caster() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 108.0, 100.0);
    scene.cast(ANN, VEIL).unwrap();
    scene.run(0);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let ann = scene.avatar(ANN);
    let bob = scene.avatar(BOB);
    let bolt = scene.of_kind(BOLT_KIND)[0];
    let changes = scene.run(1_000);
    assert_eq!(events(&changes, DAMAGE).len(), 1);
    for change in changes {
        let about = change.object();
        if let WorldChange::Event { fields, .. } = change {
            let secret = format!("{fields:?}").contains(&format!("{ann:?}"))
                || format!("{fields:?}").contains(&format!("{bolt:?}"));
            assert!(about == Some(ann) || (about == Some(bob) && !secret), "{fields:?}");
        }
    }
}

#[test]
fn death_and_healing_keep_a_veil_and_notify_no_other_client() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 108.0, 100.0);
    let bob = scene.avatar(BOB);
    scene.cast(BOB, VEIL).unwrap();
    scene.set_health(BOB, 30.0);
    scene.cast(BOB, HEAL).unwrap();
    assert!(!scene.sees(ANN, bob));
    scene.set_health(BOB, 10.0);
    scene.run(0);
    scene.cast_at(ANN, BOLT, 110.0, 100.0).unwrap();
    let changes = scene.run(7_000);
    assert_eq!(events(&changes, DIED), [(bob, events(&changes, DIED)[0].1)]);
    assert!(!scene.sees(ANN, bob));
    assert!(!changes.contains(&WorldChange::AskWhoSees { object: bob }));
    assert_eq!(events(&changes, HEALED), []);
}

/// Two runs that differ only in the moves of a veiled player, and in what it casts on itself,
/// report the same changes of everything else, in the same order. Meanwhile other players shoot at
/// it and at each other, wanderers walk, and players join and leave.
#[test]
fn a_veiled_player_changes_nothing_for_other_players() {
    for seed in 0..4 {
        let quiet = changes_of_others(seed, 0);
        assert!(
            quiet
                .iter()
                .filter(|change| matches!(change, WorldChange::Event { kind: DAMAGE, .. }))
                .count()
                > 10
        );
        for ann_moves in 1..4 {
            let busy = changes_of_others(seed, ann_moves);
            let same = quiet.iter().zip(&busy).take_while(|(a, b)| a == b).count();
            assert!(
                quiet == busy,
                "seed {seed}, moves {ann_moves}, change {same}: {:?} {:?}",
                quiet.get(same),
                busy.get(same)
            );
        }
    }
}

/// All changes of other objects while ANN is veiled. With `ann_moves` 0 she stands still.
fn changes_of_others(seed: u64, ann_moves: u64) -> Vec<WorldChange> {
    let config = RoomConfig { seed, width: 40.0, height: 40.0, ..RoomConfig::default() };
    let mut scene = Scene::with(FieldGame::new(10, 40), &config).player(ANN, 20.0, 20.0);
    let ann = scene.avatar(ANN);
    let mut others = fastrand::Rng::with_seed(seed);
    let mut own = fastrand::Rng::with_seed(ann_moves);
    for player in 10..20 {
        scene =
            scene.player(PlayerId(player), 10.0 + others.f32() * 20.0, 10.0 + others.f32() * 20.0);
    }
    scene.run(100);
    scene.cast(ANN, VEIL).unwrap();
    scene.run(0);
    let mut reported = Vec::new();
    let mut busy = 0;
    for tick in 0..199 {
        if ann_moves > 0 {
            busy += usize::from(scene.walk(ANN, own.f32() * 40.0, own.f32() * 40.0).is_ok());
            scene.set_mana(ANN, 100.0);
            busy += usize::from(scene.cast(ANN, HEAL).is_ok());
            busy +=
                usize::from(scene.cast_at(ANN, BLINK, own.f32() * 40.0, own.f32() * 40.0).is_ok());
        }
        for player in 10..20 {
            let shooter = PlayerId(player);
            scene.set_mana(shooter, 100.0);
            let _ = scene.walk(shooter, others.f32() * 40.0, others.f32() * 40.0);
            if tick % 4 == player as usize % 4 {
                let _ = scene.cast_at(shooter, BOLT, others.f32() * 40.0, others.f32() * 40.0);
            }
        }
        if tick % 50 == 20 {
            scene.leave(PlayerId(100 + tick as u64 / 50));
            scene = scene.player(PlayerId(101 + tick as u64 / 50), 20.0, 20.0);
        }
        let is_own = |change: &WorldChange| {
            change.object() == Some(ann)
                || matches!(change, WorldChange::Engaged { viewer, .. } if *viewer == ann)
        };
        reported.extend(scene.run(50).into_iter().filter(|change| !is_own(change)));
    }
    assert!(ann_moves == 0 || busy > 100, "the veiled player acts too rarely for this test");
    reported
}
