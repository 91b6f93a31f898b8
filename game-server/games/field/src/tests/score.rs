//! Who has felled how many.

use super::*;

#[test]
fn the_best_hunters_are_told_to_the_room_and_the_own_number_to_its_owner() {
    let others = [7, 8].map(PlayerId);
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
    for other in others {
        scene = scene.player(other, 20.0, 20.0);
    }
    assert_eq!(scene.of_kind(BEST_HUNTER), []);
    for (player, name) in [(ANN, "ann"), (BOB, "bob"), (others[0], "cai"), (others[1], "dov")] {
        scene.rename(player, name);
    }
    fell(&mut scene, ANN, BOB);
    fell(&mut scene, BOB, ANN);
    fell(&mut scene, BOB, ANN);
    fell(&mut scene, others[0], ANN);
    assert_eq!(records(&scene), ["ann 1", "bob 2", "cai 1"]);
    fell(&mut scene, others[1], ANN);
    assert_eq!(records(&scene), ["ann 1", "bob 2", "cai 1"], "as many is not more");
    fell(&mut scene, others[1], ANN);
    assert_eq!(records(&scene), ["ann 1", "bob 2", "dov 2"], "who was first stays");
    assert_eq!([ANN, BOB].map(|player| felled(&scene, player)), [1, 2]);
}

#[test]
fn players_read_their_own_number_wherever_they_stand() {
    let schema = Typed::<FieldGame>::declared_schema();
    let own = &schema.kinds[0].components[usize::from(FELLED)];
    let shown = schema.presentation.kind(0).component(usize::from(FELLED));
    assert_eq!(shown.label, "You felled");
    // The page shows it, however small it is, since a table ranks by what has this name.
    assert_eq!(schema.kinds[usize::from(BEST_HUNTER)].component_index(&own.name), Some(1));
}

#[test]
fn a_hidden_bolt_and_a_veiled_target_count_for_nobody() {
    for veiled in [ANN, BOB] {
        let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
        scene.cast(veiled, VEIL).unwrap();
        fell(&mut scene, ANN, BOB);
        assert_eq!(felled(&scene, ANN), 0);
        assert_eq!(scene.of_kind(BEST_HUNTER), []);
    }
}

#[test]
fn the_record_of_a_player_who_has_left_stays() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
    fell(&mut scene, ANN, BOB);
    scene.leave(ANN);
    assert_eq!(records(&scene), ["player 1"]);
}

#[test]
fn the_own_number_goes_through_a_gate() {
    let mut scene = Scene::new().player(ANN, 100.0, 100.0).player(BOB, 104.0, 100.0);
    fell(&mut scene, ANN, BOB);
    let carried = scene.game.carry(&scene.world, ANN).expect("a living avatar may go");
    let mut other = Scene::new();
    let at = Position::on_ground(5.0, 100.0);
    let avatar = other.game.arrive(&mut other.world, ANN, "ann", at, &carried);
    assert_eq!(other.world.number(avatar, FELLED), 1);
}

/// `by` fells `target`, beside which it is put, and both live again. Returns what changed.
pub(super) fn fell(scene: &mut Scene, by: PlayerId, target: PlayerId) -> Vec<WorldChange> {
    scene.put(by, 100.0, 100.0);
    scene.put(target, 104.0, 100.0);
    scene.set_health(target, 1.0);
    scene.cast_at(by, BOLT, 104.0, 100.0).unwrap();
    let changes = scene.run(9_000);
    assert_eq!(events(&changes, DIED).len(), 1);
    // Neither stands in the way of the next ones.
    scene.put(by, 20.0, 20.0);
    scene.put(target, 20.0, 20.0);
    changes
}

pub(super) fn records(scene: &Scene) -> Vec<String> {
    let rows = scene.of_kind(BEST_HUNTER).into_iter();
    rows.map(|row| format!("{} {}", scene.world.text(row, 0), scene.world.number(row, 1))).collect()
}

pub(super) fn felled(scene: &Scene, player: PlayerId) -> i64 {
    scene.world.number(scene.avatar(player), FELLED)
}
