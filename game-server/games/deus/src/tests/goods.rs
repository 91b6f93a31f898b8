//! Items and gold: who gets what, what is refused, and that nothing is lost or doubled.

use ambit::prelude::*;
use ambit::schema::FieldType;
use ambit::test::{Line, TestClient};
use ambit::{Rng, Typed};

use super::{Room, kill_all, phase};
use crate::content::LARGE;
use crate::course::Phase;
use crate::heroes::raised;
use crate::monsters::MonsterState;
use crate::schema::{Campaign, HeroRow, IsReady, Loot};
use crate::{Deus, DeusWorld};

const LOOT: [&str; 3] = ["need", "greed", "turns"];

fn begin(loot: &str, names: &[&str]) -> (Room, Vec<TestClient>) {
    let mut room = Room::with(&[("size", "60x60"), ("loot", loot)]);
    let all: Vec<_> = names.iter().map(|name| room.join(name, Line::default())).collect();
    for client in &all {
        room.command(*client, "choose warrior");
    }
    room.run(5.secs());
    (room, all)
}

/// Ends the wave, and opens the chest.
fn open_chest(room: &mut Room, client: TestClient) {
    kill_all(room, client);
    for _ in 0..30 {
        room.run(1.secs());
        if phase(room) != Phase::Chest {
            return;
        }
    }
    panic!("the chest stays closed");
}

/// The items of a client's hero, by name.
fn bag(room: &mut Room, client: TestClient) -> Vec<String> {
    let id = room.player(client);
    room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let hero = game.heroes.values().find(|hero| hero.player == id);
        let items = hero.map(|hero| hero.bag.items.clone()).unwrap_or_default();
        let name = |item: &u8| game.content.item(*item).expect("an item").name.clone();
        items.iter().map(name).collect()
    })
}

fn gold(room: &Room, client: TestClient) -> i64 {
    room.world().row::<HeroRow>(room.player(client)).expect("a row").gold()
}

fn set_offer(room: &mut Room, offer: &[u8]) {
    room.edit(|_: &mut DeusWorld, game: &mut Deus| game.offer = offer.to_vec());
}

fn next_wave(room: &mut Room, all: &[TestClient]) {
    let told = |room: &Room| {
        room.events(all[0]).iter().filter(|event| event.get::<IsReady>().is_some()).count()
    };
    let before = told(room);
    for client in all {
        // A command that is repeated counts once.
        room.command(*client, "ready");
        room.command(*client, "ready");
    }
    room.run(1.secs());
    assert_eq!(phase(room), Phase::Fight, "all are ready");
    assert_eq!(told(room) - before, all.len(), "all of them are told of each");
}

/// 64 items with names of 24 bytes, and a bag of 100.
#[test]
fn each_item_of_large_content_is_shown_and_offered() {
    let mut room = Room::with(&[("size", "60x60"), ("content", LARGE)]);
    let ann = room.join("ann", Line::default());
    room.command(ann, "choose warrior");
    room.run(5.secs());
    let player = room.player(ann);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        game.offer = (0..64).collect();
        game.show_course(world);
        let id = game.heroes.iter().find(|(_, hero)| hero.player == player).map(|(id, _)| *id);
        for item in 0..100 {
            game.add_item(world, id.expect("a hero"), item % 64);
        }
    });
    room.run(1.secs());
    let seen = room.room_wide(ann);
    let row = seen.iter().find_map(|row| row.get::<HeroRow>()).expect("a row");
    let bag: Vec<_> =
        row.bag.expect("its own").iter().map(|(item, count)| (item.index(), count)).collect();
    let all: Vec<_> = (0..64).map(|item| (item, if item < 36 { 2 } else { 1 })).collect();
    assert_eq!(bag, all);
    let course = seen.iter().find_map(|row| row.get::<Campaign>()).expect("a course");
    let offer: Vec<_> = course.offer.iter().map(|(item, count)| (item.index(), count)).collect();
    assert_eq!(offer, (0..64).map(|item| (item, 1)).collect::<Vec<_>>());
    // A client can name each of them.
    let schema = room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let mut schema = Typed::<Deus>::declared_schema();
        game.schema(&mut schema);
        schema
    });
    schema.check().expect("it fits into datagrams");
    let sell = schema.command(schema.command_index("sell").expect("sell")).expect("sell");
    let FieldType::Choice(names) = &sell.fields[0].ty else { panic!("a choice") };
    assert!(names.len() == 64 && names.iter().all(|name| name.len() == 24), "{names:?}");
    assert_eq!(room.errors(ann), Vec::<String>::new());
}

#[test]
fn ready_can_be_taken_back() {
    let (mut room, all) = begin("greed", &["ann", "bob"]);
    open_chest(&mut room, all[0]);
    assert_eq!(phase(&room), Phase::Merchant);
    let is_ready = |room: &Room, at: usize| room.avatar(all[at]).and_then(|it| it.flag("ready"));
    room.command(all[0], "ready");
    room.run(300.millis());
    assert_eq!([0, 1].map(|at| is_ready(&room, at)), [Some(true), Some(false)]);
    room.command(all[0], "wait");
    room.command(all[1], "ready");
    room.run(1.secs());
    assert_eq!([0, 1].map(|at| is_ready(&room, at)), [Some(false), Some(true)]);
    assert_eq!(phase(&room), Phase::Merchant, "ann has something to do");
    room.command(all[0], "ready");
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Fight);
    assert_eq!([0, 1].map(|at| is_ready(&room, at)), [Some(false); 2]);
}

#[test]
fn the_gold_of_a_first_wave_is_enough_for_something_that_no_chest_has() {
    for seed in 0..20 {
        let seed = seed.to_string();
        let mut room = Room::with(&[("size", "60x60"), ("loot", "greed"), ("seed", &seed)]);
        let ann = room.join("ann", Line::default());
        room.command(ann, "choose warrior");
        room.run(5.secs());
        open_chest(&mut room, ann);
        let id = room.player(ann);
        let (found, cheap) = room.edit(|_: &mut DeusWorld, game: &mut Deus| {
            let hero = game.heroes.values().find(|hero| hero.player == id).expect("a hero");
            let price = |item: &u8| game.content.item(*item).expect("an item").price;
            let items = game.content.items.iter();
            let cheap: Vec<String> =
                items.filter(|item| item.price <= 12).map(|item| item.name.clone()).collect();
            (hero.bag.items.iter().map(price).min(), cheap)
        });
        assert!(found >= Some(20), "{found:?}");
        assert!(cheap.len() >= 3, "there is a choice: {cheap:?}");
        let before = gold(&room, ann);
        room.command(ann, &format!("buy {}", cheap[0]));
        room.run(400.millis());
        assert_eq!(room.errors(ann), Vec::<String>::new());
        assert_eq!(gold(&room, ann), before - 8);
    }
}

#[test]
fn who_needs_an_item_gets_it_and_the_rest_is_dice() {
    let (mut room, all) = begin("need", &["ann", "bob", "eve"]);
    open_chest(&mut room, all[0]);
    assert_eq!(phase(&room), Phase::Share);
    // Blue stone, iron ring, iron ring.
    set_offer(&mut room, &[0, 1, 1]);
    room.command(all[0], "want iron-ring");
    room.command(all[1], "want blue-stone");
    room.command(all[2], "want whetstone");
    room.run(1.secs());
    assert!(room.errors(all[2])[0].contains("not_in_chest"), "{:?}", room.errors(all[2]));
    assert_eq!(phase(&room), Phase::Share, "eve has not said anything");
    room.command(all[2], "want");
    room.run(1.secs());
    assert_eq!(phase(&room), Phase::Merchant);
    let bags: Vec<_> = all.iter().map(|client| bag(&mut room, *client)).collect();
    assert_eq!(bags, [["iron-ring"], ["blue-stone"], ["iron-ring"]]);

    // Two want the only one of a kind: one of them gets it.
    next_wave(&mut room, &all);
    open_chest(&mut room, all[0]);
    set_offer(&mut room, &[4, 3]);
    room.command(all[0], "want whetstone");
    room.command(all[1], "want whetstone");
    room.run(21.secs());
    let holders = [0, 1, 2].map(|at| bag(&mut room, all[at]).contains(&"whetstone".to_owned()));
    assert!((holders[0] ^ holders[1]) && !holders[2], "{holders:?}");
}

#[test]
fn turns_go_round_and_greed_is_dice_among_all() {
    let (mut room, all) = begin("turns", &["ann", "bob", "eve"]);
    for wave in 1..=4 {
        open_chest(&mut room, all[0]);
        assert_eq!(phase(&room), Phase::Merchant);
        let counts = [0, 1, 2].map(|at| bag(&mut room, all[at]).len());
        assert_eq!(counts, [wave; 3]);
        next_wave(&mut room, &all);
    }
    let (mut room, all) = begin("greed", &["ann", "bob", "eve"]);
    let mut uneven = 0;
    for wave in 1..=6 {
        open_chest(&mut room, all[0]);
        let counts = [0, 1, 2].map(|at| bag(&mut room, all[at]).len());
        assert_eq!(counts.iter().sum::<usize>(), 3 * wave);
        uneven += usize::from(counts.iter().any(|count| *count != wave));
        next_wave(&mut room, &all);
    }
    assert!(uneven > 0);
}

#[test]
fn the_merchant_refuses_by_name_and_items_raise_what_they_say() {
    let (mut room, all) = begin("turns", &["ann"]);
    let ann = all[0];
    let try_all = |room: &mut Room, commands: &[&str]| {
        let before = room.errors(ann).len();
        for command in commands {
            room.command(ann, command);
            room.run(400.millis());
        }
        room.errors(ann)[before..].to_vec()
    };
    let errors =
        try_all(&mut room, &["buy whetstone", "sell whetstone", "want whetstone", "ready"]);
    let codes = ["no_merchant", "no_merchant", "no_chest", "no_merchant"];
    assert!(errors.iter().zip(codes).all(|(error, code)| error.contains(code)), "{errors:?}");
    open_chest(&mut room, ann);
    let held = bag(&mut room, ann)[0].clone();
    let other = if held == "whetstone" { "iron-ring" } else { "whetstone" };
    let errors = try_all(&mut room, &["buy whetstone", &format!("sell {other}")]);
    assert!(errors[0].contains("not_enough_gold") && errors[1].contains("not_yours"), "{errors:?}");
    let before = gold(&room, ann);
    assert_eq!(try_all(&mut room, &[&format!("sell {held}")]), Vec::<String>::new());
    assert!(gold(&room, ann) > before && bag(&mut room, ann).is_empty());
    let id = room.player(ann);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        world.edit_row::<HeroRow>(id).expect("a row").gold().set(1_000);
        let hero = game.heroes.values().next().expect("a hero");
        assert!((raised(hero.bonus.damage) - 1.0).abs() < 1e-6, "what is sold raises nothing");
    });
    let errors = try_all(&mut room, &["buy whetstone", "buy whetstone"]);
    assert_eq!((errors.len(), gold(&room, ann)), (0, 920));
    room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let hero = game.heroes.values_mut().next().expect("a hero");
        assert!((raised(hero.bonus.damage) - 1.15).abs() < 1e-6, "one of them is worn");
        hero.bag.items.resize(20, 0);
    });
    assert!(try_all(&mut room, &["buy red-stone"])[0].contains("bag_full"));
}

/// Gold found is gold held and spent; items shared out and bought are items held and sold, and gone
/// with those who left.
#[test]
fn gold_and_items_are_neither_lost_nor_doubled() {
    let mut sums = (0, 0);
    for (seed, loot) in [(1, "need"), (2, "greed"), (3, "turns")] {
        let (mut room, mut all) = begin(loot, &["ann", "bob", "eve", "dan"]);
        let watcher = room.join("watcher", Line::default());
        let mut rng = Rng::with_seed(seed);
        let mut found = 0;
        let mut created = 0;
        let mut spent = 0;
        let mut sold = 0;
        let mut gone = (0, 0);
        for _ in 0..300 {
            let left = room.edit(|_, game: &mut Deus| game.monsters.len());
            let now = phase(&room);
            if now.is_end() {
                break;
            }
            if now == Phase::Fight && left > 0 {
                // One monster after the other: all gold is for all who live.
                let id = room.player(all[0]);
                found += room.edit(|world: &mut DeusWorld, game: &mut Deus| {
                    let (monster, state) = game.monsters.iter().next().expect("one is left");
                    let monster = *monster;
                    let kind = state.kind;
                    let living = game.living().count() as i64;
                    let hero = world.player(id).expect("a player").avatar();
                    game.hurt_monster(world, monster, hero, 100_000.0);
                    game.tally(world);
                    let all: Vec<_> = game.heroes.keys().copied().collect();
                    for id in all {
                        game.heal(world, id);
                    }
                    living * game.content.monster(kind).gold
                });
            }
            let item = rng.u8(..5);
            let (name, price) = room.edit(|_: &mut DeusWorld, game: &mut Deus| {
                let table = game.content.item(item).expect("an item");
                (table.name.clone(), table.price)
            });
            let before: Vec<_> =
                all.iter().map(|it| (gold(&room, *it), bag(&mut room, *it))).collect();
            let loot_before = loot_of(&room, watcher);
            for client in &all {
                let verb = ["buy", "sell", "want", "sell", "buy"][rng.usize(..5)];
                room.command(*client, &format!("{verb} {name}"));
            }
            room.run(700.millis());
            created += loot_of(&room, watcher) - loot_before;
            for (client, (had, items)) in all.iter().zip(before) {
                let has = gold(&room, *client);
                let now_items = bag(&mut room, *client);
                assert!(has >= 0);
                let paid = had - has;
                if paid > 0 {
                    assert_eq!(paid, price);
                    (spent, created) = (spent + paid, created + 1);
                } else if paid < 0 {
                    assert!(-paid == price / 2 && now_items.len() + 1 == items.len());
                    (spent, sold) = (spent + paid, sold + 1);
                }
            }
            if all.len() > 2 && rng.u8(..100) == 0 {
                let client = all.pop().expect("somebody");
                gone = (gone.0 + gold(&room, client), gone.1 + bag(&mut room, client).len());
                room.leave(client);
                room.run(200.millis());
            }
            let held: i64 = all.iter().map(|client| gold(&room, *client)).sum();
            let items: usize = all.iter().map(|client| bag(&mut room, *client).len()).sum();
            assert_eq!(found, held + spent + gone.0, "seed {seed}");
            assert_eq!(created, items + sold + gone.1, "seed {seed}");
        }
        sums = (sums.0 + found, sums.1 + created);
    }
    println!("{} gold and {} items", sums.0, sums.1);
    assert!(sums.0 > 500 && sums.1 > 20, "{sums:?}");
}

fn loot_of(room: &Room, client: TestClient) -> usize {
    room.events(client).iter().filter(|event| event.get::<Loot>().is_some()).count()
}

/// When hosts die.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HostDeaths {
    Never,
    /// At a random tick after which no command is under way.
    BetweenCommands,
    AtAnyTick,
}

/// What all have got, round by round, and how many trades there were and hosts that died. Gold and
/// items balance in each round.
fn trade(seed: u64, deaths: HostDeaths) -> (Vec<String>, usize, usize) {
    let (mut room, all) = begin(LOOT[seed as usize % LOOT.len()], &["ann", "bob", "eve"]);
    room.edit(|_, game: &mut Deus| {
        game.heroes.values_mut().for_each(|hero| hero.bonus.health = 1.0e6);
    });
    let mut rng = Rng::with_seed(seed);
    let mut fate = Rng::with_seed(1_000 + seed);
    let mut found = 0;
    let mut spent = 0;
    let mut traded = 0;
    let mut history = Vec::new();
    let mut trades = 0;
    let mut died = 0;
    for round in 0..40 {
        match phase(&room) {
            Phase::Fight => {
                found += room.edit(|_, game: &mut Deus| {
                    let gold = |monster: &MonsterState| game.content.monster(monster.kind).gold;
                    3 * game.monsters.values().map(gold).sum::<i64>()
                });
                kill_all(&mut room, all[0]);
            }
            Phase::Chest => room.edit(|world: &mut DeusWorld, game: &mut Deus| {
                let chest = game.chest.and_then(|chest| world.position(chest)).expect("a chest");
                let (hero, _) = game.living().next().expect("a hero");
                world.edit(hero).expect("a hero").path().teleport(chest);
            }),
            _ => {}
        }
        let before: Vec<_> = all.iter().map(|it| gold(&room, *it)).collect();
        let item = rng.u8(..5);
        let (name, price) = room.edit(|_: &mut DeusWorld, game: &mut Deus| {
            let table = game.content.item(item).expect("an item");
            (table.name.clone(), table.price)
        });
        for client in &all {
            let words = ["buy", "sell", "want", "ready"][rng.usize(..4)];
            let item = if words == "ready" { "" } else { &name };
            room.command(*client, format!("{words} {item}").trim_end());
        }
        let first = if deaths == HostDeaths::BetweenCommands { 12 } else { 0 };
        let is_last = fate.u8(..5) == 0;
        let tick = fate.u64(first..16);
        room.run((50 * tick).millis());
        if is_last && deaths != HostDeaths::Never {
            room.move_to_another_host();
            died += 1;
        }
        // Until the clients have followed, and all commands are executed.
        room.run((if is_last { 2_500 } else { 800 } - 50 * tick).millis());
        for (client, had) in all.iter().zip(before) {
            let has = gold(&room, *client);
            let paid = had - has;
            let is_trade = [0, price, -(price / 2)].contains(&paid) && has >= 0;
            assert!(is_trade, "seed {seed}, {deaths:?}, round {round}: {paid} paid for {name}");
            (spent, traded) = (spent + paid, traded + paid.signum());
            trades += usize::from(paid != 0);
        }
        let held: i64 = all.iter().map(|client| gold(&room, *client)).sum();
        let bags: Vec<_> = all.iter().map(|client| bag(&mut room, *client)).collect();
        let wave = room.edit(|_, game: &mut Deus| game.wave);
        let chests = wave - i64::from(phase(&room) != Phase::Merchant);
        let items: usize = bags.iter().map(Vec::len).sum();
        assert_eq!(found, held + spent, "seed {seed}, {deaths:?}, round {round}");
        assert_eq!(3 * chests + traded, items as i64, "seed {seed}, {deaths:?}, round {round}");
        history.push(format!("{:?} {wave} {held} {bags:?}", phase(&room)));
    }
    (history, trades, died)
}

/// `DEUS_SEEDS=1000 cargo test -p ambit-deus -- --nocapture hosts_that_die` tries more of them.
#[test]
fn hosts_that_die_at_random_ticks_lose_and_double_nothing() {
    let seeds = std::env::var("DEUS_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let mut sums = (0, 0);
    for seed in 0..seeds.unwrap_or(20) {
        let (plain, trades, _) = trade(seed, HostDeaths::Never);
        let (same, _, died) = trade(seed, HostDeaths::BetweenCommands);
        assert_eq!(plain, same, "seed {seed}, {died} deaths");
        let (_, _, died_anywhere) = trade(seed, HostDeaths::AtAnyTick);
        sums = (sums.0 + trades, sums.1 + died + died_anywhere);
    }
    println!("{} trades, {} deaths", sums.0, sums.1);
    assert!(sums.0 > 200 && sums.1 > 100, "{sums:?}");
}
