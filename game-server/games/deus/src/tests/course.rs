//! Maps, jumps between them, and whole games.

use std::fmt::Write as _;

use ambit::Rng;
use ambit::prelude::*;
use ambit::test::{Line, TestClient};

use super::{Room, kill_all, phase};
use crate::course::Phase;
use crate::doors::end_at_doors;
use crate::map::BODY_RADIUS_M;
use crate::schema::{Campaign, Chest, HeroRow, Trap};
use crate::{Deus, DeusWorld, Door, Hero};

/// Four slots.
const WORLD: (&str, &str) = ("size", "630x630");
const SEEDS: u64 = 200;
/// Games of the watchdog, unless `DEUS_GAMES` says how many.
const GAMES: u64 = 30;
/// All phases of ten waves last no longer together.
const LONGEST_MIN: u32 = 95;

fn with_game<R>(room: &mut Room, ask: impl FnOnce(&DeusWorld, &Deus) -> R) -> R {
    room.edit(|world: &mut DeusWorld, game: &mut Deus| ask(world, game))
}

/// Walks as a hero does, again from where a way ends.
fn arrives(world: &DeusWorld, game: &Deus, from: Position, to: Position) -> bool {
    let mut here = from;
    for _ in 0..8 {
        for next in game.layout.way(world, here, to) {
            let stop = ambit_ways::first_stop(world.statics(), BODY_RADIUS_M, here, next);
            assert!(stop.distance(next) < 0.01, "a way through a wall: {here:?} {next:?}");
            here = next;
        }
        if here.ground_distance(to) < 0.01 {
            return true;
        }
    }
    false
}

#[test]
fn every_place_of_a_map_is_reached_on_foot() {
    let mut places = 0;
    for seed in 0..SEEDS {
        let mut room = Room::with(&[WORLD, ("seed", &seed.to_string())]);
        room.run(200.millis());
        with_game(&mut room, |world, game| {
            let last = game.layout.merchants();
            for slot in [seed as usize % last, last] {
                let rooms = &game.layout.slot(slot).rooms;
                let first = rooms[(seed as usize) % rooms.len()].middle;
                for room in rooms {
                    let doors = (0..4).map(|side| room.before_door(side));
                    let all = doors.chain(room.spawns.iter().chain(&room.traps).copied());
                    for place in all.chain([room.middle]) {
                        places += 1;
                        assert_eq!(game.layout.slot_at(place), slot);
                        let is_there = arrives(world, game, first, place);
                        assert!(is_there, "seed {seed}, slot {slot}: {first:?} {place:?}");
                    }
                }
            }
        });
    }
    println!("{places} places of {SEEDS} worlds");
}

#[test]
fn nobody_walks_out_of_a_slot() {
    let mut room = Room::with(&[WORLD]);
    room.run(200.millis());
    with_game(&mut room, |world, game| {
        let mut rng = Rng::with_seed(5);
        let mut here = game.layout.slot(0).rooms[0].middle;
        for _ in 0..500 {
            let to = Position::on_ground(630.0 * rng.f32(), 630.0 * rng.f32());
            let way = game.layout.way(world, here, to);
            here = way.last().copied().unwrap_or(here);
            assert_eq!(game.layout.slot_at(here), 0, "{to:?}");
            assert!(!world.statics().is_blocked(here, BODY_RADIUS_M));
        }
    });
}

#[test]
fn heroes_jump_from_map_to_map_and_see_what_is_there_at_once() {
    let mut room = Room::with(&[WORLD, ("loot", "greed")]);
    let all = ["ann", "bob", "eve"].map(|name| room.join(name, Line::default()));
    let obstacles = room.map(all[0]).map_or(0, |map| map.obstacles.len());
    assert!(obstacles > 300, "all maps are there before: {obstacles}");
    println!("{obstacles} obstacles");
    for client in all {
        room.command(client, "choose warrior");
    }
    let mut slots = Vec::new();
    let mut latecomer = all[0];
    let waits = |room: &Room, client| room.avatar(client).and_then(|it| it.flag("waits"));
    for wave in 1..=4 {
        jump(&mut room, all, Phase::Fight);
        let slot = with_game(&mut room, |_, game| game.slot);
        assert_ne!(slots.last(), Some(&slot), "not the same map twice");
        slots.push(slot);
        // The player who comes now takes part as soon as it has chosen.
        let late = (wave == 2).then(|| room.join("late", Line::default()));
        if let Some(late) = late {
            room.command(late, "choose mage");
            room.run(1.secs());
            latecomer = late;
            assert_eq!(waits(&room, late), Some(false));
        }
        for _ in 0..20 {
            room.run(1.secs());
            with_game(&mut room, |world, game| {
                let places = game.monsters.keys().filter_map(|id| world.position(*id));
                assert!(places.map(|at| game.layout.slot_at(at)).all(|it| it == slot));
                assert_eq!(game.living().count(), if wave < 2 { 3 } else { 4 });
                for hero in game.living().filter_map(|(id, _)| world.position(id)) {
                    assert_eq!(game.layout.slot_at(hero), slot);
                }
            });
            room.edit(|world: &mut DeusWorld, game: &mut Deus| {
                let all: Vec<_> = game.heroes.keys().copied().collect();
                for id in all {
                    game.heal(world, id);
                }
            });
        }
        kill_all(&mut room, all[0]);
        jump(&mut room, all, Phase::Merchant);
        let at_merchants = with_game(&mut room, |world, game| {
            let slots = game.heroes.keys().filter_map(|id| world.position(*id));
            slots.map(|at| game.layout.slot_at(at)).all(|it| it == game.layout.merchants())
        });
        assert!(at_merchants);
        assert_eq!(waits(&room, latecomer), Some(false));
    }
    assert_eq!(room.errors(all[0]), Vec::<String>::new());
}

#[test]
fn who_waits_fights_the_wave_anew_and_who_runs_away_loses_in_the_end() {
    let mut room = Room::with(&[WORLD]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose warrior");
    room.run(6.secs());
    kill_all(&mut room, ann);
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Chest);
    // There is no fight to take part in.
    let bob = room.join("bob", Line::default());
    room.command(bob, "choose mage");
    room.run(1.secs());
    room.command(bob, "cast firebolt");
    room.run(1.secs());
    let errors = room.errors(bob);
    assert!(errors.len() == 1 && errors[0].contains("waits"), "{errors:?}");
    assert!(with_game(&mut room, |_, game| game.living().count() == 1 && game.heroes.len() == 2));
    room.leave(ann);
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Merchant);
    room.run(46.secs());
    assert_eq!((phase(&room), with_game(&mut room, |_, game| game.wave)), (Phase::Fight, 1));
    for _ in 0..470 {
        room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let all: Vec<_> = game.heroes.keys().copied().collect();
            for id in all {
                game.heal(world, id);
            }
        });
        room.run(1.secs());
        assert_eq!(phase(&room), Phase::Fight);
    }
    room.run(10.secs());
    assert_eq!(phase(&room), Phase::Lost);
}

#[test]
fn who_comes_into_a_fight_is_in_at_once_and_the_wave_stronger_by_one() {
    for size in ["630x630", "60x60"] {
        let mut room = Room::with(&[("size", size)]);
        let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
        for client in [ann, bob] {
            room.command(client, "choose warrior");
        }
        room.run(5.secs());
        let monsters = |room: &Room| room.world().state::<Campaign>().expect("one").monsters();
        assert_eq!((phase(&room), monsters(&room)), (Phase::Fight, 5), "2.5 a hero");
        let late = room.join("late", Line::default());
        room.command(late, "choose mage");
        room.run(300.millis());
        // 7.5 are for three.
        assert_eq!(monsters(&room), 8);
        let own = room.avatar(late).expect("a hero");
        assert_eq!((own.flag("fights"), own.flag("waits")), (Some(true), Some(false)));
        let (slot, doors) = with_game(&mut room, |_, game| {
            let doors: Vec<Position> =
                game.layout.slot(game.slot).doors().map(|(at, _)| at).collect();
            (game.layout.slot_at(own.position) == game.slot, doors)
        });
        let at_door = doors.iter().any(|at| at.ground_distance(own.position) < 0.1);
        assert!(slot && (doors.is_empty() || at_door), "{:?}", own.position);
        // Those who come then are there a second later, and it can strike at once.
        room.run(2.secs());
        assert_eq!(with_game(&mut room, |_, game| game.monsters.len()), 8);
        room.command(late, &format!("cast firebolt {} {}", own.position.x + 3.0, own.position.y));
        room.run(500.millis());
        assert_eq!(room.errors(late), Vec::<String>::new());
    }
}

#[test]
fn whoever_leaves_after_its_death_comes_back_as_one_who_watches() {
    let mut room = Room::with(&[WORLD]);
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    for client in [ann, bob] {
        room.command(client, "choose warrior");
    }
    room.run(5.secs());
    assert_eq!(phase(&room), Phase::Fight);
    fall(&mut room, ann);
    let player = room.player(ann);
    room.leave(ann);
    room.run(300.millis());
    assert!(with_game(&mut room, |_, game| game.fallen.contains(&player)));
    assert!(room.world().row::<HeroRow>(player).is_none_or(|row| !row.alive().is_on()));
    // In a lobby the same player keeps its number.
    let again = room.join("ann", Line::default());
    let number = room.player(again);
    room.edit(|_: &mut DeusWorld, game: &mut Deus| game.fallen.insert(number));
    room.command(again, "choose mage");
    room.run(300.millis());
    let is_out = with_game(&mut room, |_, game| {
        let hero = game.heroes.values().find(|hero| hero.player == number);
        hero.is_some_and(|hero| !hero.is_alive && !hero.waits)
    });
    assert!(is_out);
    // No hero fights for those.
    fall(&mut room, bob);
    assert_eq!(phase(&room), Phase::Lost);
}

/// The hero of this player dies.
fn fall(room: &mut Room, client: TestClient) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = world.player(player).expect("the player is in the room").avatar();
        game.hurt_hero(world, hero, 100_000.0);
    });
    room.run(300.millis());
}

#[test]
fn whoever_watches_is_taken_along_with_those_who_fight_and_are_seen() {
    let mut room = Room::with(&[WORLD]);
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, Line::default()));
    for client in [ann, bob] {
        room.command(client, "choose archer");
    }
    room.run(6.secs());
    let late = room.join("late", Line::default());
    room.run(3.secs());
    // A player who has not chosen yet watches.
    room.command(late, "cast strike");
    let players = [ann, bob, late].map(|client| room.player(client));
    // One falls; the other goes on to another room, far from both.
    let leap = |room: &mut Room, to: usize, is_hidden: bool| {
        room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let hero = |id| world.player(id).expect("it is here").avatar();
            let [ann, bob] = [hero(players[0]), hero(players[1])];
            game.hurt_hero(world, ann, 100_000.0);
            let place = game.layout.slot(game.slot).rooms[to].middle;
            world.edit(bob).expect("bob is here").path().teleport(place);
            game.heal(world, bob);
            if is_hidden {
                game.hide(world, bob, 30.0);
            }
        });
    };
    let away = |room: &mut Room| {
        with_game(room, |world, _| {
            let hero = |id| world.player(id).expect("it is here").avatar();
            let at = players.map(|id| world.position(hero(id)).expect("it has a place"));
            [at[0].ground_distance(at[1]), at[2].ground_distance(at[1])]
        })
    };
    let heroes = |room: &Room, client| {
        room.sees(client).iter().filter(|seen| seen.get::<Hero>().is_some()).count()
    };
    leap(&mut room, 0, false);
    room.run(2.secs());
    assert!(away(&mut room)[0] > 30.0, "ann first sees where she has fallen");
    room.run(3.secs());
    assert!(away(&mut room).iter().all(|away| *away < 12.0), "{:?}", away(&mut room));
    assert_eq!([ann, bob, late].map(|client| heroes(&room, client)), [2, 1, 2]);
    // Watching heroes are not moved to a hidden hero, so they do not learn where it is.
    leap(&mut room, 8, true);
    room.run(5.secs());
    assert!(away(&mut room).iter().all(|away| *away > 30.0), "{:?}", away(&mut room));
    assert_eq!([ann, bob, late].map(|client| heroes(&room, client)), [1, 1, 1]);
    let errors = room.errors(late);
    assert!(errors.len() == 1 && errors[0].contains("no_class"), "{errors:?}");
}

/// Runs to the jump into a phase: two ticks later the first client sees the others there.
fn jump(room: &mut Room, all: [TestClient; 3], expected: Phase) {
    let at = |room: &Room| room.avatar(all[0]).expect("an avatar").position;
    for _ in 0..80 * 20 {
        let before = at(room);
        room.run(50.millis());
        if at(room).ground_distance(before) > 20.0 {
            room.run(100.millis());
            assert_eq!(phase(room), expected);
            let here = at(room);
            let seen = room.sees(all[0]);
            let near = |it: &&ambit::test::Seen| it.position.ground_distance(here) < 10.0;
            let heroes = seen.iter().filter(|it| it.get::<Hero>().is_some()).filter(near).count();
            assert!(heroes >= 3, "{heroes} heroes at {here:?}");
            return;
        }
    }
    panic!("no jump to {expected:?}, but {:?}", phase(room));
}

#[test]
fn a_trap_is_hidden_until_somebody_is_near_and_hurts_who_stays() {
    let mut room = Room::with(&[WORLD]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose warrior");
    room.run(6.secs());
    let put = |room: &mut Room, away: f32| {
        room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.clear_fight(world);
            let rooms = &game.layout.slot(game.slot).rooms;
            let trap = rooms.iter().find_map(|room| room.traps.first()).expect("a trap");
            let (id, _) = game.living().next().expect("a hero");
            let place = Position::on_ground(trap.x + away, trap.y);
            world.edit(id).expect("a hero").path().teleport(place);
        });
        room.run(1_500.millis());
        let traps = room.sees(ann).iter().filter(|it| it.get::<Trap>().is_some()).count();
        (traps, room.avatar(ann).and_then(|own| own.gauge("health")).unwrap_or_default())
    };
    assert_eq!(put(&mut room, 5.5), (0, 100.0));
    assert_eq!(put(&mut room, 4.5), (1, 100.0));
    let (traps, health) = put(&mut room, 0.5);
    assert!(traps == 0 && (80.0..95.0).contains(&health), "{traps} traps, health {health}");
}

#[test]
fn a_closed_door_hides_what_is_behind_it_and_opens_for_whoever_comes() {
    let mut room = Room::with(&[WORLD]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose archer");
    room.run(6.secs());
    let put = |room: &mut Room, away: f32| {
        let (from, to) = room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            game.clear_fight(world);
            let mut doors = game.layout.slot(game.slot).doors();
            let is_closed = |(at, side): &(Position, usize)| {
                let (x, y) = if *side == 0 { (4.0, 0.0) } else { (0.0, 4.0) };
                let from = Position::on_ground(at.x - x, at.y - y);
                end_at_doors(&game.closed_doors, from, Position::on_ground(at.x + x, at.y + y))
                    == *at
            };
            let (at, side) = doors.find(is_closed).expect("half of the doors are closed");
            let (x, y) = if side == 0 { (away, 0.0) } else { (0.0, away) };
            let from = Position::on_ground(at.x - x, at.y - y);
            let (id, _) = game.living().next().expect("a hero");
            world.edit(id).expect("a hero").path().teleport(from);
            (from, Position::on_ground(at.x + x, at.y + y))
        });
        room.run(1.secs());
        let doors = room.sees(ann).iter().filter(|it| it.get::<Door>().is_some()).count();
        let stops = with_game(room, |_, game| end_at_doors(&game.closed_doors, from, to) != to);
        (doors, stops)
    };
    let (doors, stops) = put(&mut room, 5.0);
    assert!(doors >= 3 && stops, "{doors} leaves of doors");
    let (fewer, stops) = put(&mut room, 3.0);
    assert!(fewer < doors && !stops, "{fewer} leaves of doors");
}

#[test]
fn a_chest_is_at_the_place_of_the_room_in_which_the_last_monster_fell() {
    let mut room = Room::with(&[WORLD]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose archer");
    room.run(6.secs());
    kill_all(&mut room, ann);
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Chest);
    with_game(&mut room, |world, game| {
        let chest = game.chest.and_then(|chest: Id<Chest>| world.position(chest));
        let slot = game.layout.slot(game.slot);
        assert_eq!(chest, Some(slot.chest_for(game.last_fallen)));
        assert_ne!(chest, Some(game.last_fallen));
        assert!(slot.rooms.iter().any(|room| Some(slot.chest_for(room.middle)) == chest));
    });
}

/// What a game is at the end, if its host dies in this phase.
fn told(dies_in: Option<Phase>) -> String {
    let mut room = Room::with(&[WORLD, ("seed", "7")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    let step = |room: &mut Room, expected: Phase| {
        assert_eq!(phase(room), expected);
        if dies_in == Some(expected) {
            room.move_to_another_host();
        }
        room.run(4.secs());
    };
    let item = |room: &mut Room, of: fn(&Deus) -> Option<u8>| {
        with_game(room, |_, game| {
            game.content.item(of(game).expect("an item")).expect("it").name.clone()
        })
    };
    room.command(ann, "choose warrior");
    room.run(1.secs());
    step(&mut room, Phase::Choose);
    room.command(bob, "choose mage");
    room.run(6.secs());
    step(&mut room, Phase::Fight);
    room.run(10.secs());
    kill_all(&mut room, ann);
    room.run(2.secs());
    step(&mut room, Phase::Chest);
    room.run(20.secs());
    let wanted = item(&mut room, |game| game.offer.first().copied());
    room.command(ann, &format!("want {wanted}"));
    room.run(2.secs());
    step(&mut room, Phase::Share);
    room.run(14.secs());
    let held = item(&mut room, |game| game.living().next()?.1.bag.items.first().copied());
    room.command(ann, &format!("sell {held}"));
    room.run(2.secs());
    step(&mut room, Phase::Merchant);
    room.command(ann, "ready");
    room.command(bob, "ready");
    room.run(12.secs());
    assert_eq!(phase(&room), Phase::Fight);
    with_game(&mut room, |world, game| {
        let mut text = format!("wave {} in {}, {:?}", game.wave, game.slot, game.offer);
        for (id, hero) in &game.heroes {
            let at = world.position(*id);
            let row = world.row::<HeroRow>(hero.player).expect("a row");
            let _ = write!(text, "\n{at:?} {} {} {:?}", row.kills(), row.gold(), hero.bag);
        }
        for id in game.monsters.keys() {
            let _ = write!(text, "\n{id:?} {:?}", world.position(*id));
        }
        text
    })
}

#[test]
fn the_death_of_a_host_loses_and_doubles_nothing_in_any_phase() {
    let plain = told(None);
    for phase in [Phase::Choose, Phase::Fight, Phase::Chest, Phase::Share, Phase::Merchant] {
        assert_eq!(plain, told(Some(phase)), "{phase:?}");
    }
}

/// A crude hero: its next words.
fn decide(world: &DeusWorld, game: &Deus, id: PlayerId, rng: &mut Rng) -> Option<String> {
    let (hero, state) = game.heroes.iter().find(|(_, hero)| hero.player == id)?;
    let Some(class) = state.class else {
        let class = rng.u8(..game.content.classes.len() as u8);
        return Some(format!("choose {}", game.content.class(class).name));
    };
    let from = world.position(*hero).filter(|_| state.takes_part())?;
    let class = &game.content.class(class).name;
    if state.points(&game.content) > 0 {
        let own: Vec<_> = game.content.talents.iter().filter(|it| it.class == *class).collect();
        return Some(format!("learn {}", own[rng.usize(..own.len())].name));
    }
    let item = &game.content.item(rng.u8(..game.content.items.len() as u8))?.name;
    match game.phase {
        Phase::Fight => {
            let places = game.monsters.keys().filter_map(|id| world.position(*id));
            let distance = |at: &Position| at.ground_distance(from);
            let near = places.min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
            let place = format!("{:.1} {:.1}", near.x, near.y);
            let own: Vec<_> = game.content.spells.iter().filter(|it| it.class == *class).collect();
            let spell = &own[rng.usize(..own.len())].name;
            match class.as_str() {
                "warrior" if distance(&near) < 2.4 => Some("cast strike".to_owned()),
                "warrior" => Some(format!("move {place}")),
                _ if (0.3..12.0).contains(&distance(&near)) => {
                    Some(format!("cast {spell} {place}"))
                }
                _ => Some(format!("move {place}")),
            }
        }
        Phase::Chest => {
            let chest = game.chest.and_then(|chest| world.position(chest))?;
            Some(format!("move {} {}", chest.x, chest.y))
        }
        Phase::Share => Some(format!("want {}", if rng.bool() { item } else { "" })),
        Phase::Merchant if rng.u8(..4) > 0 => {
            Some(format!("{} {item}", ["buy", "sell"][rng.usize(..2)]))
        }
        Phase::Merchant => Some("ready".to_owned()),
        _ => None,
    }
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// `DEUS_GAMES=1000 cargo test -p ambit-deus -- --nocapture game_ends` plays more of them;
/// `DEUS_HEROES=8` those of parties of this size.
#[test]
fn every_game_ends_whoever_comes_and_goes() {
    let heroes = number_of("DEUS_HEROES").map(|heroes| heroes as usize);
    for seed in 0..number_of("DEUS_GAMES").unwrap_or(GAMES) {
        let mut rng = Rng::with_seed(seed);
        let size = ["40x40", "630x630", "200x200", "60x60", "650x300"][seed as usize % 5];
        let loot = ["need", "greed", "turns"][seed as usize % 3];
        let seed_text = seed.to_string();
        let ticks = ("tick", "10");
        let mut room = Room::with(&[("size", size), ("loot", loot), ("seed", &seed_text), ticks]);
        // Few more often than many: clients take most of the time.
        let drawn = 1 + (40.0 * rng.f32().powi(8)) as usize;
        let most = heroes.unwrap_or(drawn);
        let mut clients = Vec::new();
        let mut joined = 0;
        let mut seconds = 0;
        while !room.is_finished() {
            if joined < most && (clients.is_empty() || rng.u8(..3) == 0) {
                clients.push(room.join(&format!("hero {joined}"), Line::default()));
                joined += 1;
            }
            if clients.len() > 1 && rng.u8(..100) == 0 {
                room.leave(clients.swap_remove(rng.usize(..clients.len())));
            }
            for client in &clients {
                let id = room.player(*client);
                if let Some(words) = with_game(&mut room, |w, game| decide(w, game, id, &mut rng)) {
                    room.command(*client, &words);
                }
            }
            room.run(1.secs());
            seconds += 1;
            let now = phase(&room);
            assert!(seconds < 60 * LONGEST_MIN, "game {seed} of {size} is still in {now:?}");
        }
        let wave = room.world().state::<Campaign>().map_or(0, |course| course.wave());
        let minutes = seconds as f32 / 60.0;
        println!("game {seed}: {size}, {joined} heroes, wave {wave}, {minutes:.1} min");
    }
}
