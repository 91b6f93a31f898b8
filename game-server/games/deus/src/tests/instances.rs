//! Several maps: what a hero carries, who waits for whom, and what becomes of those left behind.

use ambit::Rng;
use ambit::prelude::*;
use ambit::test::{Line, TestClient};

use super::{Room, kill_all, phase};
use crate::course::Phase;
use crate::schema::{HeroRow, PhaseBegins};
use crate::{Deus, DeusWorld};

fn map(number: &str) -> Room {
    let mut room = Room::with(&[("size", "60x60"), ("maps", "3"), ("map", number)]);
    room.run(100.millis());
    room
}

/// Lets a party fight its first wave, up to its departure.
fn leave(names: &[&str]) -> (Room, Vec<TestClient>) {
    let mut room = map("0");
    let all: Vec<_> = names.iter().map(|name| room.join(name, Line::default())).collect();
    for client in &all {
        room.command(*client, "choose warrior");
    }
    room.run(5.secs());
    kill_all(&mut room, all[0]);
    room.run(25.secs() + 500.millis());
    for client in &all {
        room.command(*client, "want");
    }
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Onward);
    (room, all)
}

/// To which maps the players go.
fn sent_to(room: &mut Room) -> Vec<Option<u32>> {
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        world.players().map(|player| game.departs(world, player).map(|(map, _)| map)).collect()
    })
}

fn carried(room: &mut Room, client: TestClient) -> Vec<u8> {
    let id = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(id).expect("a player").avatar();
        game.carried(world, hero).expect("it leaves")
    })
}

/// A player comes from another map with this.
fn arrive(room: &mut Room, name: &str, carried: &[u8]) -> TestClient {
    let client = room.join(name, Line::default());
    room.run(200.millis());
    let id = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(id).expect("a player").avatar();
        game.arrived(world, hero, carried);
    });
    client
}

/// All that is known of a hero, to read and to compare.
fn hero(room: &mut Room, client: TestClient) -> String {
    let id = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let row = world.row::<HeroRow>(id).expect("a row");
        let (at, hero) = game.heroes.iter().find(|(_, hero)| hero.player == id).expect("a hero");
        let avatar = world.get(*at).expect("an avatar");
        format!(
            "{:?} {} {} {:?} {:?} {:?} {} {} {} {:?} {:?} {} {} {}",
            hero.class,
            hero.is_alive,
            hero.experience,
            hero.learned,
            hero.bag.items,
            hero.bag.worn,
            row.gold(),
            row.kills(),
            row.items(),
            row.bag(),
            row.learnable(),
            avatar.level(),
            avatar.points(),
            avatar.experience(),
        )
    })
}

fn wave(room: &mut Room) -> i64 {
    room.edit(|_, game: &mut Deus| game.wave)
}

#[test]
fn a_party_comes_to_the_next_map_as_it_left_and_the_dead_with_it() {
    // A test room numbers players as they join: eve is the first one on both maps.
    let (mut room, mut all) = leave(&["eve", "ann", "bob"]);
    all.rotate_left(1);
    assert_eq!(sent_to(&mut room), [Some(1); 3], "all leave from where they are");
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let [eve, ann] = [0, 1].map(|joined| *game.heroes.keys().nth(joined).expect("three"));
        game.hurt_hero(world, eve, 1.0e6);
        game.heroes.get_mut(&ann).expect("ann").experience = 500;
        game.heroes.get_mut(&ann).expect("ann").learned.insert(0);
        game.heroes[&ann].show_experience(world, ann);
        game.show(world, ann);
    });
    let before: Vec<_> = all.iter().map(|client| hero(&mut room, *client)).collect();
    let bytes: Vec<_> = all.iter().map(|client| carried(&mut room, *client)).collect();
    println!("{:?} bytes", bytes.iter().map(Vec::len).collect::<Vec<_>>());
    assert!(bytes.iter().all(|it| it.len() < 100), "{bytes:?}");

    let mut next = map("1");
    let mut there = vec![arrive(&mut next, "eve", &bytes[2])];
    assert_eq!((phase(&next), wave(&mut next)), (Phase::Merchant, 1), "a dead one comes first");
    there.insert(0, arrive(&mut next, "ann", &bytes[0]));
    next.command(there[0], "ready");
    next.run(1.secs());
    assert_eq!(phase(&next), Phase::Merchant, "bob has not come yet");
    there.insert(1, arrive(&mut next, "bob", &bytes[1]));
    let after: Vec<_> = there.iter().map(|client| hero(&mut next, *client)).collect();
    assert_eq!(before, after);
    next.command(there[1], "ready");
    next.run(1.secs());
    assert_eq!((phase(&next), wave(&mut next)), (Phase::Fight, 2));
    assert_eq!(next.edit(|_, game: &mut Deus| game.living().count()), 2);
}

#[test]
fn who_dies_on_one_map_and_leaves_is_out_on_each_map() {
    let (mut room, all) = leave(&["ann", "bob"]);
    let bytes: Vec<_> = all.iter().map(|client| carried(&mut room, *client)).collect();
    let mut second = map("1");
    let [ann, bob] = [("ann", &bytes[0]), ("bob", &bytes[1])]
        .map(|(name, bytes)| arrive(&mut second, name, bytes));
    for client in [ann, bob] {
        second.command(client, "ready");
    }
    second.run(1.secs());
    assert_eq!(phase(&second), Phase::Fight);
    let player = second.player(ann);
    second.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("ann is here").avatar();
        game.hurt_hero(world, hero, 1.0e6);
    });
    second.leave(ann);
    second.run(300.millis());
    kill_all(&mut second, bob);
    second.run(25.secs() + 500.millis());
    second.command(bob, "want");
    second.run(1.secs());
    assert_eq!(phase(&second), Phase::Onward);
    let bytes = carried(&mut second, bob);

    // Ann is back with the same number, on the first map, and waits there until the party comes.
    let mut first = map("0");
    let again = first.join("ann", Line::default());
    assert_eq!(first.player(again), player);
    first.run(1.secs());
    arrive(&mut first, "bob", &bytes);
    first.command(again, "choose mage");
    first.run(1.secs());
    let is_out = |room: &mut Room| {
        room.edit(|_: &mut DeusWorld, game: &mut Deus| {
            let hero = game.heroes.values().find(|hero| hero.player == player);
            hero.is_some_and(|hero| hero.class.is_some() && !hero.is_alive && !hero.waits)
        })
    };
    assert!(is_out(&mut first));

    // A player who chose before the party comes is out when it comes.
    let mut first = map("0");
    let again = first.join("ann", Line::default());
    first.command(again, "choose mage");
    first.run(1.secs());
    assert!(!is_out(&mut first));
    arrive(&mut first, "bob", &bytes);
    assert!(is_out(&mut first));
    // The party takes the news along to the next map.
    first.run(1.secs());
    let fallen = first.edit(|_: &mut DeusWorld, game: &mut Deus| game.fallen.clone());
    assert!(fallen.contains(&player));
}

/// It takes part nowhere, also if it has not arrived on the next map when it leaves the world.
#[test]
fn the_party_knows_its_dead_also_if_they_leave_on_the_way() {
    let (mut room, all) = leave(&["ann", "bob"]);
    let player = room.player(all[0]);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("ann is here").avatar();
        game.hurt_hero(world, hero, 1.0e6);
    });
    room.remove(all[0], Left::ToMap);
    room.run(200.millis());
    let party = carried(&mut room, all[1]);
    let mut next = map("1");
    arrive(&mut next, "bob", &party);
    let fallen = next.edit(|_: &mut DeusWorld, game: &mut Deus| game.fallen.clone());
    assert_eq!(fallen.into_iter().collect::<Vec<_>>(), [player]);
}

/// Map 0 after its party has gone on to map 1.
fn left_by_the_party() -> Room {
    let (mut room, all) = leave(&["ann", "bob"]);
    for client in all {
        room.remove(client, Left::ToMap);
    }
    room.run(200.millis());
    assert_eq!((phase(&room), wave(&mut room)), (Phase::Choose, 0));
    room
}

/// A party on map 1 in the second wave, in which ann has fallen, and left. Also her number.
fn without_ann() -> (Room, TestClient, PlayerId) {
    let (mut room, all) = leave(&["ann", "bob"]);
    let bytes: Vec<_> = all.iter().map(|client| carried(&mut room, *client)).collect();
    let mut second = map("1");
    let [ann, bob] = [("ann", &bytes[0]), ("bob", &bytes[1])]
        .map(|(name, bytes)| arrive(&mut second, name, bytes));
    for client in [ann, bob] {
        second.command(client, "ready");
    }
    second.run(1.secs());
    let player = second.player(ann);
    second.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("ann is here").avatar();
        game.hurt_hero(world, hero, 1.0e6);
    });
    second.leave(ann);
    second.run(300.millis());
    (second, bob, player)
}

/// Whether a hero with a class is alive, and whether its client shows it as alive.
fn life(room: &mut Room, client: TestClient) -> (bool, bool, bool) {
    let id = room.player(client);
    let is_alive = room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let hero = game.heroes.values().find(|hero| hero.player == id).expect("a hero");
        hero.is_alive
    });
    let avatar = room.avatar(client).expect("its own");
    (is_alive, avatar.flag("alive").expect("a flag"), avatar.flag("fights").expect("its own"))
}

#[test]
fn who_has_fallen_lives_on_no_map_while_the_party_is_on_another_one() {
    let mut first = left_by_the_party();
    let (mut second, _, player) = without_ann();
    let again = first.join("ann", Line::default());
    first.run(1.secs());
    first.command(again, "choose warrior");
    for _ in 0..60 {
        first.run(100.millis());
        assert_eq!(life(&mut first, again), (false, false, false), "{:?}", phase(&first));
    }
    let began = first.events(again).iter();
    let began = began.filter_map(|event| Some(event.get::<PhaseBegins>()?.phase));
    let began: Vec<_> = began.collect();
    assert_eq!(began, [Phase::Onward], "no course of its own");
    assert_eq!(sent_to(&mut first), [Some(1)]);
    first.command(again, "cast strike");
    first.run(300.millis());
    let errors = first.errors(again);
    assert!(errors.len() == 1 && errors[0].contains("follow"), "{errors:?}");

    // On the way to the party she is one of those who watch.
    let bytes = carried(&mut first, again);
    second.edit(|_: &mut DeusWorld, game: &mut Deus| {
        assert!(game.fallen.remove(&player));
        // The number that a test room gives her when she comes back.
        game.fallen.insert(PlayerId(3));
    });
    let ann = arrive(&mut second, "ann", &bytes);
    second.run(1.secs());
    assert_eq!(phase(&second), Phase::Fight);
    assert_eq!(life(&mut second, ann), (false, false, false));
}

/// She has left map 0 for map 1 when the party leaves it for the next one.
#[test]
fn who_comes_to_a_map_that_the_party_has_just_left_does_not_live_there() {
    let mut first = left_by_the_party();
    let again = first.join("ann", Line::default());
    first.run(1.secs());
    first.command(again, "choose warrior");
    first.run(6.secs());
    let bytes = carried(&mut first, again);
    let mut second = map("1");
    let ann = arrive(&mut second, "ann", &bytes);
    for _ in 0..30 {
        second.run(100.millis());
        assert_eq!(life(&mut second, ann), (false, false, false), "{:?}", phase(&second));
    }
    assert_eq!(wave(&mut second), 0);
}

#[test]
fn a_newcomer_comes_to_life_where_the_party_is() {
    let mut first = left_by_the_party();
    let (mut second, bob, _) = without_ann();
    let eve = first.join("eve", Line::default());
    first.command(eve, "choose mage");
    first.run(1.secs());
    first.command(eve, "choose healer");
    first.run(5.secs());
    assert_eq!(life(&mut first, eve), (false, false, false));
    assert_eq!(first.errors(eve), Vec::<String>::new(), "the class can be changed until then");
    let bytes = carried(&mut first, eve);
    second.edit(|world: &mut DeusWorld, game: &mut Deus| game.visit_merchant(world));
    let eve = arrive(&mut second, "eve", &bytes);
    second.run(300.millis());
    assert_eq!(life(&mut second, eve), (true, true, true));
    assert!(second.errors(bob).is_empty());

    // The party comes to the map where she would have left it.
    let mut first = left_by_the_party();
    let eve = first.join("eve", Line::default());
    first.command(eve, "choose mage");
    first.run(1.secs());
    second.edit(|world: &mut DeusWorld, game: &mut Deus| game.leave_for(world, Phase::Merchant));
    let party = carried(&mut second, bob);
    arrive(&mut first, "bob", &party);
    first.run(300.millis());
    assert_eq!(phase(&first), Phase::Merchant);
    assert_eq!(life(&mut first, eve), (true, true, true));
}

/// The others are defeated while she is on another map: so is she.
#[test]
fn the_end_of_the_party_is_the_end_of_who_follows_it() {
    let mut first = left_by_the_party();
    let (mut second, bob, _) = without_ann();
    let again = first.join("ann", Line::default());
    first.command(again, "choose warrior");
    first.run(1.secs());
    let player = second.player(bob);
    second.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("bob is here").avatar();
        game.hurt_hero(world, hero, 1.0e6);
    });
    second.run(300.millis());
    assert_eq!(sent_to(&mut second), [Some(0)]);
    let bytes = carried(&mut second, bob);
    arrive(&mut first, "bob", &bytes);
    first.run(1.secs());
    assert_eq!(phase(&first), Phase::Lost);
    assert_eq!(life(&mut first, again), (false, false, false));
    first.run(13.secs());
    assert!(first.is_finished());
}

/// A map that is full for a time is not one on which the party is not.
#[test]
fn who_cannot_follow_tries_again_and_begins_no_course() {
    let mut first = left_by_the_party();
    let again = first.join("ann", Line::default());
    first.command(again, "choose warrior");
    first.run(100.secs());
    assert_eq!(life(&mut first, again), (false, false, false));
    assert_eq!(wave(&mut first), 0);
}

#[test]
fn who_cannot_leave_meets_the_merchant_and_fights_where_it_is() {
    let (mut room, all) = leave(&["ann", "bob"]);
    // There is no other map: all players stay.
    let before = room.avatar(all[0]).expect("ann").position;
    room.command(all[0], "move 30 30");
    room.run(10.secs());
    assert_eq!(room.avatar(all[0]).expect("ann").position, before, "nobody walks meanwhile");
    assert_eq!(sent_to(&mut room), [Some(1); 2]);
    room.run(6.secs());
    assert_eq!(sent_to(&mut room), [None; 2]);
    assert_eq!(phase(&room), Phase::Merchant);
    room.run(46.secs());
    assert_eq!((phase(&room), wave(&mut room)), (Phase::Fight, 2));
}

#[test]
fn the_game_ends_on_the_first_map() {
    let (mut room, all) = leave(&["ann"]);
    let bytes = carried(&mut room, all[0]);
    let mut next = map("2");
    let ann = arrive(&mut next, "ann", &bytes);
    next.command(ann, "ready");
    next.run(1.secs());
    next.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let (id, _) = game.living().next().expect("ann");
        game.hurt_hero(world, id, 1.0e6);
    });
    next.run(1.secs());
    assert_eq!(phase(&next), Phase::Onward);
    assert_eq!(sent_to(&mut next), [Some(0)], "to the first map");
    let bytes = carried(&mut next, ann);
    let mut first = map("0");
    let bob = first.join("bob", Line::default());
    let ann = arrive(&mut first, "ann", &bytes);
    first.run(1.secs());
    assert_eq!(phase(&first), Phase::Lost);
    assert!(hero(&mut first, ann).contains("false"), "ann is dead");
    assert!(!first.is_finished() && first.errors(bob).is_empty());
    first.run(13.secs());
    assert!(first.is_finished());
}

#[test]
fn whoever_joins_later_seeks_the_party_and_begins_anew_without_one() {
    let (mut room, all) = leave(&["ann"]);
    room.leave(all[0]);
    room.run(200.millis());
    assert_eq!((phase(&room), wave(&mut room)), (Phase::Choose, 0));
    let bob = room.join("bob", Line::default());
    room.command(bob, "choose mage");
    room.run(6.secs());
    assert_eq!(phase(&room), Phase::Onward, "the party has gone on");
    let mut bytes = carried(&mut room, bob);
    // The other maps are empty, too.
    for number in ["1", "2"] {
        let mut next = map(number);
        let bob = arrive(&mut next, "bob", &bytes);
        next.run(5.secs());
        assert_eq!(phase(&next), Phase::Onward, "map {number}");
        bytes = carried(&mut next, bob);
    }
    let mut first = map("0");
    let bob = arrive(&mut first, "bob", &bytes);
    first.run(5.secs());
    assert_eq!((phase(&first), wave(&mut first)), (Phase::Fight, 1));
    assert!(hero(&mut first, bob).starts_with("Some("));

    // A player who comes to a map where a party fights waits or fights, and belongs to the party.
    let (mut room, all) = leave(&["ann"]);
    let party = carried(&mut room, all[0]);
    let mut next = map("1");
    let ann = arrive(&mut next, "ann", &party);
    let bob = arrive(&mut next, "bob", &bytes);
    assert_eq!(phase(&next), Phase::Merchant);
    for client in [ann, bob] {
        next.command(client, "ready");
    }
    next.run(1.secs());
    assert_eq!((phase(&next), wave(&mut next)), (Phase::Fight, 2));
}

/// A host may be anybody's: what arrives is a valid hero in a course that goes on, whatever it is.
#[test]
fn whatever_arrives_is_a_valid_hero() {
    let (mut room, all) = leave(&["ann"]);
    let honest = carried(&mut room, all[0]);
    let mut rng = Rng::with_seed(3);
    for number in 0..400 {
        let mut bytes = honest.clone();
        match number % 4 {
            0 => bytes.truncate(rng.usize(..bytes.len())),
            1 => bytes = (0..rng.usize(..64)).map(|_| rng.u8(..)).collect(),
            2 => (0..4096).for_each(|_| bytes.push(rng.u8(..))),
            _ => {
                for _ in 0..=rng.usize(..4) {
                    let at = rng.usize(..bytes.len());
                    bytes[at] = rng.u8(..);
                }
            }
        }
        let mut next = map("1");
        let client = arrive(&mut next, "ann", &bytes);
        next.run(2.secs());
        let text = hero(&mut next, client);
        let id = next.player(client);
        next.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let gold = world.row::<HeroRow>(id).expect("a row").gold();
            let state = game.heroes.values().next().expect("a hero");
            let classes = game.content.classes.len();
            assert!((0..100_000).contains(&gold), "{text}");
            assert!(state.class.is_none_or(|class| usize::from(class) < classes), "{text}");
            assert!(state.learned.len() <= state.levels(&game.content), "{text}");
            assert!(state.bag.items.iter().all(|it| game.content.item(*it).is_some()), "{text}");
            assert!(state.is_alive <= state.class.is_some(), "{text}");
            assert!((0..100).contains(&game.wave), "{text}");
        });
    }
}
