//! Rounds: how they end, and what is reset.

use super::score::{fell, felled, records};
use super::*;

const ROUND: u8 = 0;
const TIME_LEFT: u8 = 2;
const LAST_WINNER: u8 = 3;

#[test]
fn whoever_fells_so_many_first_wins_and_all_begin_anew() {
    let mut scene = duel(300, 2);
    fell(&mut scene, BOB, ANN);
    assert_eq!(count_won(&fell(&mut scene, ANN, BOB)), 0);
    assert_eq!((round(&scene), records(&scene)), (1, vec!["bob 1".into(), "ann 1".into()]));
    assert_eq!(count_won(&fell(&mut scene, ANN, BOB)), 1);
    assert_eq!((round(&scene), last_winner(&scene)), (2, "ann (2)"));
    assert_eq!(records(&scene), [""; 0]);
    assert_eq!([ANN, BOB].map(|player| felled(&scene, player)), [0, 0]);
    fell(&mut scene, BOB, ANN);
    assert_eq!((round(&scene), records(&scene)), (2, vec!["bob 1".into()]));
}

#[test]
fn when_the_time_is_up_the_best_one_wins() {
    let mut scene = duel(60, 15);
    assert!((59.0..=60.0).contains(&time_left(&scene)));
    fell(&mut scene, BOB, ANN);
    // As many later is not more.
    fell(&mut scene, ANN, BOB);
    let changes = scene.run(45_000);
    assert_eq!((count_won(&changes), last_winner(&scene)), (1, "bob (1)"));
    assert_eq!((round(&scene), felled(&scene, BOB), records(&scene)), (2, 0, vec![]));
    assert!(time_left(&scene) > 50.0);
}

#[test]
fn a_round_that_has_ended_early_does_not_end_the_next_one() {
    let mut scene = duel(60, 1);
    fell(&mut scene, ANN, BOB);
    scene.run(49_000);
    assert_eq!(round(&scene), 2, "its time is not that of the first one");
    scene.run(12_000);
    assert_eq!(round(&scene), 3);
}

#[test]
fn in_a_round_without_a_winner_nobody_is_told_anything() {
    let mut scene = duel(60, 15);
    assert_eq!(count_won(&scene.run(61_000)), 0);
    assert_eq!((round(&scene), last_winner(&scene)), (2, ""));
}

#[test]
fn a_room_may_have_no_rounds() {
    let mut scene = duel(0, 0);
    fell(&mut scene, ANN, BOB);
    scene.run(400_000);
    assert_eq!(scene.of_kind(CONTEST), []);
    assert_eq!(felled(&scene, ANN), 1);
}

fn duel(seconds: u32, target: i64) -> Scene {
    let game = FieldGame::new(0, 0).with_rounds(seconds, target);
    let mut scene = Scene::with(game, &RoomConfig::default())
        .player(ANN, 100.0, 100.0)
        .player(BOB, 104.0, 100.0);
    scene.rename(ANN, "ann");
    scene.rename(BOB, "bob");
    scene
}

fn count_won(changes: &[WorldChange]) -> usize {
    let kinds = changes.iter().filter_map(|change| match change {
        WorldChange::Event { kind, .. } => Some(*kind),
        _ => None,
    });
    kinds.filter(|kind| *kind == ROUND_WON).count()
}

fn contest(scene: &Scene) -> ObjectId {
    scene.of_kind(CONTEST)[0]
}

fn round(scene: &Scene) -> i64 {
    scene.world.number(contest(scene), ROUND)
}

fn time_left(scene: &Scene) -> f32 {
    scene.world.gauge(contest(scene), TIME_LEFT).value
}

fn last_winner(scene: &Scene) -> &str {
    scene.world.text(contest(scene), LAST_WINNER)
}
