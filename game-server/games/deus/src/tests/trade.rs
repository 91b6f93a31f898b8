//! Trade in two steps, and that nothing is lost or doubled by it.

use ambit::Rng;
use ambit::prelude::*;
use ambit::test::{Line, TestClient};

use super::Room;
use crate::schema::{HeroRow, TradeDone, TradeOffered};
use crate::{Deus, DeusWorld};

fn begin(names: &[&str]) -> (Room, Vec<TestClient>) {
    let mut room = Room::with(&[("size", "60x60")]);
    let all: Vec<_> = names.iter().map(|name| room.join(name, Line::default())).collect();
    for client in &all {
        room.command(*client, "choose warrior");
    }
    // As long as zoe does not choose, no wave begins for 45 s.
    room.join("zoe", Line::default());
    room.run(1.secs());
    // Beside each other.
    let players: Vec<_> = all.iter().map(|client| room.player(*client)).collect();
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let at = world.centre();
        for (id, hero) in &game.heroes {
            if players.contains(&hero.player)
                && let Some(mut avatar) = world.edit(*id)
            {
                avatar.path().teleport(at);
            }
        }
    });
    room.run(1.secs());
    (room, all)
}

fn endow(room: &mut Room, client: TestClient, items: &[u8], gold: i64) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let mut heroes = game.heroes.iter().filter(|(_, hero)| hero.player == player);
        let id = *heroes.next().expect("a hero").0;
        for item in items {
            game.add_item(world, id, *item);
        }
        game.pay(world, id, gold);
    });
}

/// Gold and items of a client's hero.
fn has(room: &mut Room, client: TestClient) -> (i64, Vec<u8>) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let gold = world.row::<HeroRow>(player).expect("a row").gold();
        let hero = game.heroes.values().find(|hero| hero.player == player).expect("a hero");
        let mut items = hero.bag.items.clone();
        items.sort_unstable();
        (gold, items)
    })
}

/// The number by which a client knows another one's hero.
fn number_of(room: &Room, client: TestClient, name: &str) -> u32 {
    let seen = room.sees(client);
    let hero = seen.iter().find(|seen| seen.text("name") == Some(name)).expect("a hero in sight");
    hero.id.0
}

fn offers(room: &Room, client: TestClient) -> Vec<i64> {
    let events = room.events(client);
    events.iter().filter_map(|event| Some(event.get::<TradeOffered>()?.offer)).collect()
}

fn refused(room: &mut Room, client: TestClient, command: &str, code: &str) {
    let before = room.errors(client).len();
    room.command(client, command);
    room.run(400.millis());
    let errors = &room.errors(client)[before..];
    assert!(errors.len() == 1 && errors[0].contains(code), "{command}: {errors:?}");
}

#[test]
fn both_parts_change_hands_at_once_when_this_very_offer_is_accepted() {
    let (mut room, all) = begin(&["ann", "bob", "eve"]);
    let [ann, bob, eve] = all[..] else { unreachable!() };
    endow(&mut room, ann, &[0, 1], 10);
    endow(&mut room, bob, &[2], 50);
    let to_bob = number_of(&room, ann, "bob");
    let item = room_item;
    room.command(ann, &format!("offer {to_bob} {} 5 {} 40", item(0), item(2)));
    room.run(400.millis());
    assert_eq!(room.errors(ann), Vec::<String>::new());
    let first = offers(&room, bob)[0];
    assert!(offers(&room, eve).is_empty(), "a word to one player");
    assert_eq!(has(&mut room, ann), (10, vec![0, 1]), "nothing has changed");
    // Another offer replaces it: bob cannot be made to accept other terms than those he has seen.
    room.command(ann, &format!("offer {to_bob} {} 0 {} 50", item(0), item(2)));
    room.run(400.millis());
    refused(&mut room, bob, &format!("accept {first}"), "no_trade");
    let second = *offers(&room, bob).last().expect("an offer");
    refused(&mut room, eve, &format!("accept {second}"), "no_trade");
    room.move_to_another_host();
    room.command(bob, &format!("accept {second}"));
    room.run(1.secs());
    assert_eq!(room.errors(bob).len(), 1, "{:?}", room.errors(bob));
    assert_eq!(has(&mut room, ann), (60, vec![1, 2]));
    assert_eq!(has(&mut room, bob), (0, vec![0]));
    for client in [ann, bob] {
        let told = room.events(client);
        assert_eq!(told.iter().filter(|event| event.get::<TradeDone>().is_some()).count(), 1);
    }
    refused(&mut room, bob, &format!("accept {second}"), "no_trade");
}

#[test]
fn an_offer_is_void_without_its_hero_its_goods_or_its_time() {
    let (mut room, all) = begin(&["ann", "bob", "eve"]);
    let [ann, bob, eve] = all[..] else { unreachable!() };
    endow(&mut room, ann, &[0], 10);
    endow(&mut room, bob, &[2], 50);
    let to_bob = number_of(&room, ann, "bob");
    let to_eve = number_of(&room, ann, "eve");
    refused(&mut room, ann, &format!("offer {to_bob}"), "nothing_offered");
    refused(&mut room, ann, &format!("offer {to_bob} {}", room_item(2)), "not_yours");
    refused(&mut room, ann, &format!("offer {to_bob} {} 11", room_item(0)), "not_enough_gold");
    let offer = |room: &mut Room, to: u32, buyer: TestClient| {
        room.command(ann, &format!("offer {to} {} 0 {} 0", room_item(0), room_item(2)));
        room.run(400.millis());
        format!("accept {}", offers(room, buyer).last().expect("an offer"))
    };
    let accept = offer(&mut room, to_eve, eve);
    refused(&mut room, eve, &accept, "not_yours");
    // Its goods are gone.
    let accept = offer(&mut room, to_bob, bob);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let heroes: Vec<_> = game.heroes.keys().copied().collect();
        for id in heroes {
            game.remove_item(world, id, 0);
        }
    });
    refused(&mut room, bob, &accept, "no_trade");
    endow(&mut room, ann, &[0], 0);
    // Its time is over.
    let accept = offer(&mut room, to_bob, bob);
    room.edit(|_: &mut DeusWorld, game: &mut Deus| assert_eq!(game.trades.len(), 1));
    room.run(61.secs());
    let before = room.errors(bob).len();
    room.command(bob, &accept);
    room.run(400.millis());
    assert_eq!(room.errors(bob).len(), before + 1);
    // Its hero is gone.
    room.leave(ann);
    room.run(1.secs());
    room.edit(|_: &mut DeusWorld, game: &mut Deus| assert_eq!(game.trades.len(), 0));
}

#[test]
fn whatever_is_offered_and_accepted_nothing_is_lost_or_doubled() {
    let mut done = 0;
    for seed in 0..8 {
        let (mut room, all) = begin(&["ann", "bob", "eve"]);
        let names = ["ann", "bob", "eve"];
        for (at, client) in (0..).zip(&all) {
            endow(&mut room, *client, &[at, at, at + 3], 30);
        }
        let mut rng = Rng::with_seed(seed);
        let total = |room: &mut Room| {
            let all: Vec<_> = all.iter().map(|client| has(room, *client)).collect();
            let gold: i64 = all.iter().map(|(gold, _)| gold).sum();
            let mut items: Vec<u8> = all.into_iter().flat_map(|(_, items)| items).collect();
            items.sort_unstable();
            (gold, items)
        };
        let at_first = total(&mut room);
        for _ in 0..60 {
            let [from, to] = [rng.usize(..3), rng.usize(..3)];
            if from != to && rng.u8(..2) == 0 {
                let number = number_of(&room, all[from], names[to]);
                let mut any = |client| {
                    let (_, items) = has(&mut room, client);
                    room_item(items.get(rng.usize(..4)).copied().unwrap_or(0))
                };
                let [give, take] = [any(all[from]), any(all[to])];
                let [gold, price] = [rng.u8(..30), rng.u8(..30)];
                room.command(all[from], &format!("offer {number} {give} {gold} {take} {price}"));
            } else {
                let newest = offers(&room, all[to]).last().copied().unwrap_or_default();
                // Twice, and another one by its number, as a modified client might.
                for offer in [newest, newest, newest - 1] {
                    room.command(all[to], &format!("accept {offer}"));
                }
            }
            if rng.u8(..8) == 0 {
                room.move_to_another_host();
            }
            room.run(400.millis());
            assert_eq!(total(&mut room), at_first, "seed {seed}");
        }
        for client in &all {
            let told = room.events(*client);
            done += told.iter().filter(|event| event.get::<TradeDone>().is_some()).count();
        }
    }
    assert!(done > 20, "{done} trades");
}

/// The name of an item of the shipped content.
fn room_item(index: u8) -> String {
    let content = crate::content::SharedContent::default();
    content.item(index).expect("an item").name.clone()
}
