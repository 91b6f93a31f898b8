//! The rules, with real clients on virtual time.

mod bytes;
mod course;
mod goods;
mod instances;
mod kept;
mod monsters;
mod spells;
mod trade;
mod warnings;
mod worn;

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};

use crate::course::Phase;
use crate::schema::{Campaign, HeroRow, Loot, Tell};
use crate::{Deus, DeusWorld};

type Room = TestRoom<Deus>;

fn phase(room: &Room) -> Phase {
    let mut found = Phase::default();
    let name = room.world().state::<Campaign>().map(|course| course.phase().to_owned());
    for phase in (0..).map_while(Phase::from_index) {
        if name.as_deref() == Some(phase.name()) {
            found = phase;
        }
    }
    found
}

fn kill_all(room: &mut Room, client: TestClient) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("the player is in the room").avatar();
        let all: Vec<_> = game.monsters.keys().copied().collect();
        for monster in all {
            game.hurt_monster(world, monster, hero, 100_000.0);
        }
    });
}

#[test]
fn a_class_that_is_wished_is_chosen_at_the_join() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join_with_wishes("ann", &[("class", "mage")], Line::default());
    let bob = room.join_with_wishes("bob", &[("class", "king")], Line::default());
    let class = |room: &Room, client| {
        room.avatar(client).and_then(|hero| hero.text("class").map(str::to_owned))
    };
    assert_eq!(class(&room, ann).as_deref(), Some("mage"));
    assert_eq!(class(&room, bob).as_deref(), Some(crate::schema::NEWCOMER));
    room.command(bob, "choose warrior");
    room.run(5.secs());
    assert_eq!(phase(&room), Phase::Fight);
}

#[test]
fn a_party_chooses_fights_opens_the_chest_and_meets_the_next_wave() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    room.command(ann, "choose warrior");
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Choose, "bob has not chosen");
    room.command(bob, "choose mage");
    room.run(5.secs());
    assert_eq!(phase(&room), Phase::Fight);
    let monsters = room.world().state::<Campaign>().expect("a course").monsters();
    assert_eq!(monsters, 5, "2.5 a hero");
    kill_all(&mut room, ann);
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Chest);
    // No hero goes to the chest: it opens by itself. No player says what is needed.
    room.run(25.secs());
    assert_eq!(phase(&room), Phase::Share);
    room.run(20.secs());
    let loot = room.events(bob).iter().filter(|event| event.get::<Loot>().is_some()).count();
    assert_eq!(loot, 2, "one item each, and all read it");
    assert_eq!(phase(&room), Phase::Merchant);
    room.run(45.secs());
    assert_eq!(phase(&room), Phase::Fight);
    let world = room.world();
    assert_eq!(world.state::<Campaign>().expect("a course").wave(), 2);
    let row = world.row::<HeroRow>(room.player(ann)).expect("a row");
    assert_eq!((row.kills(), row.items(), row.gold()), (5, 1, 15));
    assert_eq!(room.errors(ann), Vec::<String>::new());
}

#[test]
fn monsters_find_heroes_who_do_nothing_and_the_game_ends() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose mage");
    room.run(90.secs());
    let told = room.events(ann).iter().filter(|event| event.get::<Tell>().is_some()).count();
    assert!(told > 3, "blows are announced: {told}");
    assert_eq!(phase(&room), Phase::Lost);
    assert!(
        room.is_finished() || {
            room.run(13.secs());
            room.is_finished()
        }
    );
}

#[test]
fn a_spell_of_another_class_without_mana_or_a_place_is_refused() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "cast strike");
    room.run(1.secs());
    room.command(ann, "choose mage");
    room.run(5.secs());
    room.command(ann, "choose warrior");
    room.run(300.millis());
    let at = room.avatar(ann).expect("ann").position;
    let here = format!("cast firebolt {} {}", at.x, at.y);
    for command in ["cast strike", "cast firebolt", &here, "cast blast 59 59"] {
        room.command(ann, command);
        room.run(300.millis());
    }
    let errors = room.errors(ann);
    let expected =
        ["no_class", "class_chosen", "other_class", "no_place", "too_near", "out_of_range"];
    assert_eq!(errors.len(), expected.len(), "{errors:?}");
    for (error, code) in errors.iter().zip(expected) {
        assert!(error.contains(code), "{error}, not {code}");
    }
}

#[test]
fn the_dead_are_seen_by_nobody_else() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    room.command(ann, "choose mage");
    room.command(bob, "choose warrior");
    room.run(5.secs());
    let player = room.player(ann);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("the player is in the room").avatar();
        game.hurt_hero(world, hero, 100_000.0);
    });
    room.run(1.secs());
    let heroes = |client| {
        room.sees(client).iter().filter(|seen| seen.get::<crate::Hero>().is_some()).count()
    };
    assert_eq!((heroes(ann), heroes(bob)), (2, 1));
    assert_eq!(phase(&room), Phase::Fight, "bob goes on");
}

/// Clients draw their own hero by it before the answer.
#[test]
fn a_hero_walks_at_the_speed_that_its_player_knows() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    let player = room.player(ann);
    let mut known_and_true = || {
        room.run(300.millis());
        let known = room.avatar(ann).and_then(|it| it.decimal("speed")).expect("its own");
        let walked = room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let hero = world.player(player).expect("the player is in the room").avatar();
            game.heroes[&hero].speed_m_per_s(&game.content)
        });
        (known, walked)
    };
    let (known, walked) = known_and_true();
    assert!((known - walked).abs() < 0.005 && walked == 4.0, "{known}, {walked}");
    room.command(ann, "choose archer");
    room.run(300.millis());
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("the player is in the room").avatar();
        game.heroes.get_mut(&hero).expect("a hero").bonus.speed = 8.0;
        game.show(world, hero);
    });
    room.run(300.millis());
    let known = room.avatar(ann).and_then(|it| it.decimal("speed")).expect("its own");
    assert!((known - 4.8 * 1.08).abs() < 0.005, "{known}");
    let others = room.sees(bob);
    let hero = others.iter().find(|seen| seen.text("name") == Some("ann")).expect("in sight");
    assert_eq!(hero.decimal("speed"), None, "nobody else's business");
}

#[test]
fn a_click_near_the_goal_of_a_walk_changes_no_way() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    let player = room.player(ann);
    let mut end_after = |command: &str| {
        room.command(ann, command);
        room.run(400.millis());
        room.edit(|world: &mut DeusWorld, _: &mut Deus| {
            let hero = world.player(player).expect("the player is in the room").avatar();
            let path = world.get(hero).expect("it has a hero").path();
            let (time, end) = path.points().last().expect("a path has a point");
            (time, end.position.x)
        })
    };
    end_after("choose mage");
    let first = end_after("move 10 30");
    assert_eq!(end_after("move 10.2 30"), first);
    let second = end_after("move 12 30");
    assert!(second.1 > 11.5 && second.0 != first.0, "{second:?}");
}

#[test]
fn nobody_delays_the_first_wave_by_choosing_again_or_by_waiting() {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    for class in ["mage", "warrior", "mage", "warrior", "mage", "warrior"] {
        room.command(ann, &format!("choose {class}"));
        room.run(1.secs());
    }
    assert_eq!(phase(&room), Phase::Fight);

    // The player who has chosen leaves, another one never chooses, and a third one wants to play.
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join("ann", Line::default());
    let _ = room.join("bob", Line::default());
    room.command(ann, "choose mage");
    room.run(1.secs());
    room.leave(ann);
    room.run(50.secs());
    let carl = room.join("carl", Line::default());
    room.command(carl, "choose warrior");
    room.run(46.secs());
    assert_eq!(phase(&room), Phase::Fight);
}
