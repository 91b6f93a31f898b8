//! Mana, refused commands, heal and blink.

use super::*;
use ambit_room::logic::statics::Obstacle;

#[test]
fn a_cast_costs_mana_at_its_effect_time_and_mana_regenerates() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    for (spell, cost) in [(BOLT, 10.0), (HEAL, 20.0), (VEIL, 30.0), (BLINK, 25.0)] {
        let before = scene.mana(ANN);
        scene.cast_at(ANN, spell, 105.0, 100.0).unwrap();
        assert_eq!(scene.mana(ANN), before - cost);
    }
    assert_eq!(scene.mana(ANN), 15.0);
    scene.run(3_000);
    assert_eq!(scene.mana(ANN), 39.0);
    scene.run(20_000);
    assert_eq!(scene.mana(ANN), 100.0);
}

#[test]
fn a_refused_command_changes_nothing() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(110.0, 100.0, 1.0, 1.0, 3.0));
    scene.tick();
    scene.set_mana(ANN, 50.0);
    scene.run(50);
    let mut check = |spell: u8, at: Option<(f32, f32)>, refusal: Refusal| {
        assert_eq!(
            scene.command(ANN, &commands::cast(spell, at)),
            refused(refusal),
            "{spell} {at:?}"
        );
        assert_eq!(scene.mana(ANN), 50.0);
        assert_eq!(scene.run(50), []);
    };
    check(BOLT, None, FieldRefusal::NeedsPlace.into());
    check(BLINK, None, FieldRefusal::NeedsPlace.into());
    // The caster's own position.
    check(BOLT, Some((100.0, 100.0)), FieldRefusal::NeedsPlace.into());
    check(BLINK, Some((100.0, 115.01)), FieldRefusal::OutOfRange.into());
    check(BLINK, Some((110.0, 100.0)), FieldRefusal::Blocked.into());
    // Too close to the wall.
    check(BLINK, Some((108.7, 100.0)), FieldRefusal::Blocked.into());
}

#[test]
fn a_cast_without_enough_mana_is_refused() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    for (spell, cost) in [(BOLT, 10.0), (HEAL, 20.0), (VEIL, 30.0), (BLINK, 25.0)] {
        scene.set_mana(ANN, cost - 0.0625);
        assert_eq!(scene.cast_at(ANN, spell, 105.0, 100.0), refused(FieldRefusal::NotEnoughMana));
        scene.set_mana(ANN, cost);
        assert_eq!(scene.cast_at(ANN, spell, 105.0, 100.0), Ok(()));
        assert_eq!(scene.mana(ANN), 0.0);
    }
}

#[test]
fn a_heal_gives_forty_points_up_to_full_health() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.set_health(ANN, 30.0);
    scene.cast(ANN, HEAL).unwrap();
    assert_eq!(scene.health(ANN), 70.0);
    let now = scene.millis();
    let changes = scene.run(2_000);
    assert_eq!(scene.health(ANN), 72.0);
    assert_eq!(events(&changes, HEALED), [(scene.avatar(ANN), now)]);
    assert_eq!(events(&changes, CAST), [(scene.avatar(ANN), now)]);
    scene.cast(ANN, HEAL).unwrap();
    assert_eq!(scene.health(ANN), 100.0);
}

#[test]
fn a_blink_is_a_jump_that_ends_the_walk() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.walk(ANN, 150.0, 100.0).unwrap();
    scene.run(1_000);
    let avatar = scene.avatar(ANN);
    let now = scene.world.now();
    scene.cast_at(ANN, BLINK, 105.0, 114.0).unwrap();
    assert_eq!(scene.position(ANN), Position::on_ground(105.0, 114.0));
    let before = scene.world.position_at(avatar, now.saturating_sub(Duration::from_millis(1)));
    assert!(before.distance(Position::on_ground(105.0, 100.0)) < 0.02, "{before:?}");
    assert!(scene.world.path(avatar).last().unwrap().1.jump);
    scene.run(1_000);
    assert_eq!(scene.position(ANN), Position::on_ground(105.0, 114.0));
}

#[test]
fn blinks_have_a_cooldown() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0);
    scene.cast_at(ANN, BLINK, 105.0, 100.0).unwrap();
    scene.run(2_950);
    assert_eq!(scene.cast_at(ANN, BLINK, 110.0, 100.0), refused(FieldRefusal::OnCooldown));
    scene.run(50);
    assert_eq!(scene.cast_at(ANN, BLINK, 110.0, 100.0), Ok(()));
    assert_eq!(scene.cast_at(ANN, BLINK, 115.0, 100.0), refused(FieldRefusal::OnCooldown));
}

#[test]
fn a_blink_goes_over_a_wall() {
    let mut scene = Scene::new().player(ANN, 190.0, 100.0);
    scene.world.statics_mut().add(Obstacle::on_ground(195.0, 100.0, 0.5, 20.0, 3.0));
    assert_eq!(scene.cast_at(ANN, BLINK, 199.5, 100.0), Ok(()));
}
