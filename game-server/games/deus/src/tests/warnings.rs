//! A client whose hero a monster hurts has received the warning of the blow, and follows the
//! monster.

use ambit::Rng;
use ambit::prelude::*;

use super::monsters::Scene;
use crate::content::GRACE_M;
use crate::schema::{Monster, Tell};
use crate::{Deus, DeusWorld};

/// Monsters that hurt from afar, those with the longest reach most often.
const MONSTERS: [&str; 5] = ["bowman", "lich", "bowman", "lich", "gravekeeper"];
const ATTACKS: u64 = 200;
/// From where a monster comes.
const FROM_M: f32 = 24.0;
const TICK: Duration = Duration::from_millis(50);
/// Radii are sent in decimetres.
const ROUNDING_M: f32 = 0.1;

/// A hero lost health: when, and where it stood.
struct Hurt {
    at: GameTime,
    place: Position,
}

/// Monsters come one at a time, from all sides, to a hero anywhere in a cell.
#[test]
fn whoever_a_blow_hits_was_told_of_it_before() {
    let (mut scene, mut dice) = (Scene::with("archer"), Rng::with_seed(3));
    scene.room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        // The fight has no end.
        game.phase_number += 1;
        for hero in game.heroes.values_mut() {
            // Enough to live, and little enough to see what each blow takes.
            hero.bonus.health = 2_000.0;
        }
    });
    let mut hits = 0;
    let mut unannounced = 0;
    for attack in 0..ATTACKS {
        let mut around = |from: f32| from + 14.0 * dice.f32() - 7.0;
        let place = Position::on_ground(around(30.0), around(30.0));
        scene.put(scene.hero, place.x, place.y);
        // Its zones are around the new place before anything comes.
        scene.room.run(500.millis());
        let (sin, cos) = (std::f32::consts::TAU * dice.f32()).sin_cos();
        let inside = |at: f32| at.clamp(0.5, 59.5);
        let from = [inside(place.x + FROM_M * cos), inside(place.y + FROM_M * sin)];
        let kind = MONSTERS[attack as usize % MONSTERS.len()];
        let monster = scene.add(kind, from[0], from[1]);
        scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            // Alone: whom it calls would come first.
            let state = game.monsters.get_mut(&monster).expect("it has come");
            state.call_at = world.now() + Duration::from_mins(10);
        });
        let hurt = first_hurt(&mut scene, monster, place);
        scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| game.clear_fight(world));
        // What was sent has arrived then.
        scene.room.run(500.millis());
        if let Some(hurt) = hurt {
            hits += 1;
            unannounced += usize::from(!is_told(&scene, &hurt));
        }
    }
    println!("{hits} first hits, {unannounced} of them unannounced");
    assert!(hits > 100, "{hits} hits");
    assert_eq!(unannounced, 0, "of {hits} hits");
}

/// The first blow that hits the hero, who stands still.
fn first_hurt(scene: &mut Scene, monster: Id<Monster>, place: Position) -> Option<Hurt> {
    let hero = scene.hero;
    for _ in 0..20 * 20 {
        scene.room.run(TICK);
        let hurt = scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.notice(world, monster, hero);
            let at = world.now();
            let mut hero = world.edit(hero).expect("a hero");
            let is_hurt = hero.health().value() < 99.9;
            hero.health().set_both(100.0, 0.0);
            is_hurt.then_some(Hurt { at, place })
        });
        if hurt.is_some() {
            return hurt;
        }
    }
    None
}

/// Whether the hero's client has got, before it fell, the warning of a blow that hit this place.
fn is_told(scene: &Scene, hurt: &Hurt) -> bool {
    scene.room.events(scene.ann).iter().any(|event| {
        let Some(told) = event.get::<Tell>() else { return false };
        let falls_at = event.effect + Duration::from_millis(told.due as u64);
        let reach_m = told.radius as f32 / 10.0 + GRACE_M + ROUNDING_M;
        let is_then = falls_at <= hurt.at && hurt.at.since(falls_at) <= 2 * TICK;
        is_then && !event.late && told.at.ground_distance(hurt.place) <= reach_m
    })
}
