//! What monsters decide, on an empty map around a hero who does not die.

use std::collections::BTreeMap;
use std::time::Instant;

use ambit::Rng;
use ambit::prelude::*;
use ambit::statics::Obstacle;
use ambit::test::{Line, TestClient};

use super::Room;
use crate::content::SharedContent;
use crate::monsters::MonsterState;
use crate::schema::{Monster, Summons, Tell};
use crate::{Deus, DeusWorld, Hero};

/// A fight without walls, and without the monsters of the wave.
pub(super) struct Scene {
    pub(super) room: Room,
    pub(super) ann: TestClient,
    pub(super) hero: Id<Hero>,
    /// Another hero, if there is one.
    pub(super) bob: Option<(TestClient, Id<Hero>)>,
}

impl Scene {
    pub(super) fn with(class: &str) -> Self {
        Self::of(class, None)
    }

    /// With Bob, if he has a class.
    pub(super) fn of(class: &str, bob: Option<&str>) -> Self {
        let mut room = Room::with(&[("size", "60x60")]);
        let ann = room.join("ann", Line::default());
        let bob = bob.map(|class| {
            let bob = room.join("bob", Line::default());
            room.command(bob, &format!("choose {class}"));
            bob
        });
        room.command(ann, &format!("choose {class}"));
        room.run(5.secs());
        let player = room.player(ann);
        let bob = bob.map(|client| (client, room.player(client)));
        let (hero, bob) = room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            std::mem::take(world.statics_mut());
            game.clear_fight(world);
            for hero in game.heroes.values_mut() {
                hero.bonus.health = 1.0e6;
            }
            let of = |player| world.player(player).expect("the player is in the room").avatar();
            (of(player), bob.map(|(client, player)| (client, of(player))))
        });
        let mut scene = Self { room, ann, hero, bob };
        scene.put(hero, 30.0, 30.0);
        scene
    }

    fn put_hero(&mut self, x: f32, y: f32) {
        self.put(self.hero, x, y);
    }

    pub(super) fn put(&mut self, hero: Id<Hero>, x: f32, y: f32) {
        self.room.edit(|world: &mut DeusWorld, _| {
            let mut hero = world.edit(hero).expect("a hero");
            hero.path().teleport(Position::on_ground(x, y));
        });
    }

    pub(super) fn add(&mut self, kind: &str, x: f32, y: f32) -> Id<Monster> {
        self.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let before = game.monsters.len() as u64;
            let at = Position::on_ground(x, y);
            let kind = game.content.kind_of(kind);
            game.spawn_monster(world, kind, at, None, 1.0, Rng::with_seed(before));
            *game.monsters.keys().next_back().expect("the newest one")
        })
    }

    pub(super) fn hurt(&mut self, id: Id<Monster>, points: f32) {
        let hero = self.hero;
        self.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.hurt_monster(world, id, hero, points);
        });
    }

    pub(super) fn at(&self, object: impl Into<ObjectId>) -> Position {
        self.room.world().position(object).expect("it is there")
    }

    pub(super) fn distance(&self, id: Id<Monster>) -> f32 {
        self.at(id).ground_distance(self.at(self.hero))
    }

    pub(super) fn has_target(&mut self, id: Id<Monster>) -> bool {
        self.room.edit(|_: &mut DeusWorld, game: &mut Deus| game.monsters[&id].target.is_some())
    }

    fn count(&mut self, kind: &str) -> usize {
        self.room.edit(|_: &mut DeusWorld, game: &mut Deus| {
            let kind = game.content.kind_of(kind);
            game.monsters.values().filter(|monster| monster.kind == kind).count()
        })
    }

    pub(super) fn count_all(&mut self) -> usize {
        self.room.edit(|_: &mut DeusWorld, game: &mut Deus| game.monsters.len())
    }

    fn radii(&self) -> Vec<i64> {
        let events = self.room.events(self.ann);
        events.iter().filter_map(|event| Some(event.get::<Tell>()?.radius)).collect()
    }
}

#[test]
fn monsters_surround_a_hero() {
    let mut scene = Scene::with("warrior");
    let all = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5].map(|y| scene.add("goblin", 42.0, 30.0 + y));
    scene.room.run(15.secs());
    let mut widest = 0.0_f32;
    for (index, one) in all.iter().enumerate() {
        assert!(scene.distance(*one) < 1.7, "{} m away", scene.distance(*one));
        for other in &all[..index] {
            let apart = scene.at(*one).ground_distance(scene.at(*other));
            assert!(apart > 0.2, "two are in one place: {apart}");
            widest = widest.max(apart);
        }
    }
    assert!(widest > 1.8, "they stand on two sides: {widest}");
}

#[test]
fn a_bowman_keeps_away_and_announces_its_shots() {
    let mut scene = Scene::with("warrior");
    let bowman = scene.add("bowman", 32.0, 30.0);
    scene.room.run(3.secs());
    assert!((5.0..=11.0).contains(&scene.distance(bowman)), "{}", scene.distance(bowman));
    scene.room.run(3.secs());
    let shot = scene.room.events(scene.ann).iter().rev().find_map(|event| {
        let told = event.get::<Tell>()?;
        Some((told.at, told.due))
    });
    let (at, due) = shot.expect("a shot");
    assert!(at.ground_distance(scene.at(scene.hero)) < 0.1 && due == 600, "{at:?}, {due} ms");
}

#[test]
fn a_caster_calls_others_but_not_too_many() {
    let mut scene = Scene::with("warrior");
    let shaman = scene.add("shaman", 38.0, 30.0);
    let mut most = 0;
    for _ in 0..20 {
        scene.room.run(1.secs());
        most = most.max(scene.count("rat"));
    }
    assert_eq!(most, 4, "two at a time, four at once");
    let told = scene.room.events(scene.ann).iter().filter(|it| it.get::<Summons>().is_some());
    assert_eq!(told.count(), 2);
    scene.hurt(shaman, 1_000.0);
    scene.room.run(10.secs());
    assert_eq!(scene.count("rat"), 4, "nobody calls any more");
}

#[test]
fn a_boss_changes_with_its_health_and_calls_others_once() {
    let mut scene = Scene::with("warrior");
    let warlord = scene.add("warlord", 31.5, 30.0);
    scene.room.run(3.secs());
    assert_eq!((scene.radii().last(), scene.count("wolf")), (Some(&30), 0));
    scene.hurt(warlord, 0.5 * 420.0);
    scene.room.run(4.secs());
    assert_eq!(scene.count("wolf"), 3);
    assert!(scene.radii().contains(&36), "1.2 times the radius: {:?}", scene.radii());
    scene.hurt(warlord, 0.3 * 420.0);
    scene.room.run(4.secs());
    assert_eq!(scene.count("wolf"), 3);
    assert!(scene.radii().contains(&42), "1.4 times the radius: {:?}", scene.radii());
}

#[test]
fn a_monster_that_is_led_too_far_away_goes_home() {
    let mut scene = Scene::with("warrior");
    let rat = scene.add("rat", 38.0, 30.0);
    scene.room.run(1.secs());
    assert!(scene.has_target(rat));
    scene.put_hero(2.0, 30.0);
    let mut farthest = 0.0_f32;
    let mut home = Position::on_ground(38.0, 30.0);
    for _ in 0..18 {
        scene.room.run(1.secs());
        // It does not find heroes anywhere yet.
        scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| game.phase_began = world.now());
        farthest = farthest.max(scene.at(rat).ground_distance(home));
    }
    assert!((20.0..26.0).contains(&farthest), "it turned back after {farthest} m");
    home.x -= 0.5;
    assert!(scene.at(rat).ground_distance(home) < 8.0 && !scene.has_target(rat));
}

#[test]
fn monsters_notice_who_is_seen_heard_or_has_hurt_them() {
    let mut scene = Scene::with("mage");
    scene.room.edit(|world: &mut DeusWorld, _: &mut Deus| {
        world.statics_mut().add(Obstacle::on_ground(30.0, 34.0, 8.0, 0.5, 3.0));
        world.statics_mut().finish();
    });
    let hidden = scene.add("goblin", 30.0, 39.0);
    let seen = scene.add("goblin", 30.0, 21.0);
    let far = scene.add("brute", 30.0, 12.0);
    scene.room.run(200.millis());
    scene.room.run(100.millis());
    assert!(scene.has_target(seen) && !scene.has_target(hidden) && !scene.has_target(far));
    // It is heard 20 m away, and through the wall.
    scene.room.command(scene.ann, "cast blast 30 20");
    scene.room.run(500.millis());
    assert!(scene.has_target(hidden) && scene.has_target(far));
    let deaf = scene.add("brute", 30.0, 58.0);
    scene.room.run(500.millis());
    assert!(!scene.has_target(deaf));
    scene.hurt(deaf, 1.0);
    assert!(scene.has_target(deaf));
}

/// The health of the first monster of a wave against this number of heroes.
fn first_health(scene: &mut Scene, wave: i64, heroes: usize) -> f32 {
    scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        game.clear_fight(world);
        game.wave = wave;
        game.spawn_wave(world, heroes);
        game.monsters.values().next().expect("the first one").health
    })
}

#[test]
fn a_wave_beyond_the_most_has_stronger_monsters() {
    let mut scene = Scene::with("warrior");
    let few = first_health(&mut scene, 1, 4);
    assert_eq!(first_health(&mut scene, 1, 48), few, "120 monsters");
    let double = first_health(&mut scene, 1, 96);
    let expected = 2.0_f32.powf(SharedContent::default().waves.beyond_most) * few;
    assert!((double - expected).abs() < 0.01, "120 in place of 240: {double}");
}

#[test]
fn a_boss_is_stronger_against_more_heroes() {
    let health = |scene: &mut Scene| first_health(scene, 5, 1);
    let one = health(&mut Scene::with("warrior"));
    let two = health(&mut Scene::of("warrior", Some("mage")));
    assert!((two / one - 2.0_f32.sqrt()).abs() < 0.001, "{one} {two}");
}

#[test]
fn the_same_seed_and_commands_give_the_same_fight_on_any_host() {
    let run = |moves: bool| {
        let mut room = Room::with(&[("size", "60x60"), ("seed", "5")]);
        let ann = room.join("ann", Line::default());
        // Of the operator's, with one wave of all kinds.
        room.edit(|_: &mut DeusWorld, game: &mut Deus| game.content = SharedContent::of_many());
        room.command(ann, "choose warrior");
        room.run(6.secs());
        if moves {
            room.move_to_another_host();
        }
        room.run(6.secs());
        let places = room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let at =
                |id: &Id<Monster>| world.position(*id).map(|at| (at.x.to_bits(), at.y.to_bits()));
            game.monsters.keys().map(|id| (*id, at(id))).collect::<BTreeMap<_, _>>()
        });
        assert!(places.len() > 30, "{}", places.len());
        places
    };
    let plain = run(false);
    assert_eq!(plain, run(false));
    assert_eq!(plain, run(true), "the content goes with the room");
}

/// `cargo test -p ambit-deus -- --ignored --nocapture cost` prints what 300 monsters cost a tick of
/// 50 ms, of which 40 follow a hero who runs to and fro between pillars: their thoughts, and all
/// that a room and a client do.
#[test]
#[ignore = "it measures"]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn what_monsters_cost() {
    let mut scene = Scene::with("warrior");
    let mut rng = Rng::with_seed(3);
    scene.room.edit(|world: &mut DeusWorld, _: &mut Deus| crate::map::add_walls(world, &mut rng));
    for index in 0..300 {
        let kind = ["goblin", "wolf", "rat", "bowman", "shaman"][index % 5];
        let radius = if index < 40 { 5.0 + 7.0 * rng.f32() } else { 27.0 + rng.f32() };
        let angle = rng.f32() * std::f32::consts::TAU;
        scene.add(kind, 30.0 + radius * angle.cos(), 30.0 + radius * angle.sin());
    }
    let tick = Duration::from_millis(50);
    let ticks = 400;
    let mut costs = Vec::new();
    let mut count = 0;
    let whole = Instant::now();
    for index in 0..ticks {
        if index % 10 == 0 {
            let (x, y) = (26.0 + 8.0 * rng.f32(), 26.0 + 8.0 * rng.f32());
            scene.room.command(scene.ann, &format!("move {x} {y}"));
        }
        scene.room.run(tick);
        scene.room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            // The monsters that would think in the next tick think now.
            let is_due = |it: &MonsterState| it.thinks_at <= world.now() + tick;
            let due = game.monsters.iter().filter(|(_, monster)| is_due(monster));
            let due: Vec<_> = due.map(|(id, monster)| (*id, monster.thinks_at)).collect();
            count += due.len();
            let begin = Instant::now();
            for (id, at) in due {
                game.think(world, id, at);
            }
            costs.push(begin.elapsed());
        });
    }
    let whole = whole.elapsed() / ticks;
    let engaged = scene.room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        game.monsters.values().filter(|monster| monster.target.is_some()).count()
    });
    let mean = costs.iter().sum::<Duration>() / ticks;
    costs.sort_unstable();
    let p99 = costs[costs.len() * 99 / 100];
    let most = costs[costs.len() - 1];
    println!("{engaged} of {} engaged, {count} thoughts", scene.count_all());
    println!("thoughts {mean:?} a tick, p99 {p99:?}, most {most:?}; with all else {whole:?}");
}
