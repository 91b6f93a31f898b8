//! What heroes wear and use: one item a slot, only what is worn counts, and nothing is lost by it.

use ambit::prelude::*;
use ambit::presentation::Rarity;
use ambit::test::{Line, TestClient};
use ambit::{AccountId, Rng};
use serde_json::{Value, json};

use super::Room;
use crate::content::{ItemBonus, LARGE, SharedContent};
use crate::heroes::HeroState;
use crate::schema::HeroRow;
use crate::{Deus, DeusWorld};

const ANN: AccountId = AccountId([7; 16]);

/// The number of an item of the shipped content.
fn item(name: &str) -> u8 {
    SharedContent::default().item_named(name).expect("an item")
}

/// A warrior with these items.
fn begin(items: &[&str]) -> (Room, TestClient) {
    let mut room = Room::with(&[("size", "60x60")]);
    let ann = room.join_with_account("ann", ANN, Line::default());
    room.command(ann, "choose warrior");
    room.run(1.secs());
    give(&mut room, ann, items);
    (room, ann)
}

fn give(room: &mut Room, client: TestClient, items: &[&str]) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let id = world.player(player).expect("a player").avatar();
        for name in items {
            game.add_item(world, id, item(name));
        }
    });
    room.run(400.millis());
}

fn with_hero<R>(room: &mut Room, client: TestClient, ask: impl FnOnce(&HeroState) -> R) -> R {
    let player = room.player(client);
    room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        ask(game.heroes.values().find(|hero| hero.player == player).expect("a hero"))
    })
}

/// What a hero wears, by name, and by how much that raises its damage.
fn worn(room: &mut Room, client: TestClient) -> (Vec<String>, f32) {
    let content = SharedContent::default();
    with_hero(room, client, |hero| {
        let name = |item: &u8| content.item(*item).expect("an item").name.clone();
        (hero.bag.worn.values().map(name).collect(), hero.bonus.damage)
    })
}

/// What a command is refused for, if it is.
fn tell(room: &mut Room, client: TestClient, command: &str) -> Option<String> {
    let before = room.errors(client).len();
    room.command(client, command);
    room.run(400.millis());
    room.errors(client).get(before).cloned()
}

fn refused(room: &mut Room, client: TestClient, command: &str, code: &str) {
    let told = tell(room, client, command);
    assert!(told.as_ref().is_some_and(|told| told.contains(code)), "{command}: {told:?}");
}

#[test]
fn one_item_is_worn_in_a_slot_and_only_that_counts() {
    let (mut room, ann) = begin(&["whetstone", "steel-edge", "steel-edge", "wrist-wrap"]);
    let is_worn = |room: &mut Room, names: &[&str], damage: f32| {
        let (worn, raised) = worn(room, ann);
        assert_eq!(worn, names);
        assert!((raised - damage).abs() < 1e-4, "{raised}");
    };
    is_worn(&mut room, &["whetstone", "wrist-wrap"], 18.0);
    assert_eq!(tell(&mut room, ann, "equip steel-edge"), None);
    is_worn(&mut room, &["steel-edge", "wrist-wrap"], 31.0);
    assert_eq!(tell(&mut room, ann, "equip steel-edge"), None, "again");
    is_worn(&mut room, &["steel-edge", "wrist-wrap"], 31.0);
    room.move_to_another_host();
    let seen = room.room_wide(ann);
    let row = seen.iter().find_map(|row| row.get::<HeroRow>()).expect("a row");
    let numbers: Vec<_> = row.worn.expect("its own").iter().map(|(it, _)| it.index()).collect();
    let [edge, wrap] = ["steel-edge", "wrist-wrap"].map(item);
    assert_eq!(numbers, [wrap, edge].map(u16::from));
    assert_eq!(tell(&mut room, ann, "unequip steel-edge"), None);
    is_worn(&mut room, &["wrist-wrap"], 3.0);
    give(&mut room, ann, &["giant-blade"]);
    is_worn(&mut room, &["giant-blade", "wrist-wrap"], 58.0);
    refused(&mut room, ann, "unequip steel-edge", "not_worn");
    refused(&mut room, ann, "equip iron-ring", "not_yours");
    refused(&mut room, ann, "use whetstone", "not_usable");
    refused(&mut room, ann, "use wine-skin", "not_yours");
    give(&mut room, ann, &["wine-skin"]);
    refused(&mut room, ann, "equip wine-skin", "not_worn");
}

#[test]
fn what_is_sold_last_or_traded_away_is_taken_off() {
    let (mut room, ann) = begin(&["steel-edge", "whetstone", "steel-edge"]);
    let player = room.player(ann);
    let mut sell = |name: &str| {
        room.edit(|world: &mut DeusWorld, game: &mut Deus| {
            let id = world.player(player).expect("a player").avatar();
            game.remove_item(world, id, item(name));
        });
        worn(&mut room, ann).0
    };
    assert_eq!(sell("steel-edge"), ["steel-edge"], "there is another one");
    assert_eq!(sell("steel-edge"), [""; 0], "what stays in the bag is not put on");
    assert_eq!(sell("whetstone"), [""; 0]);
    // Who is dead wears what it wore, and changes nothing.
    give(&mut room, ann, &["iron-ring"]);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let id = world.player(player).expect("a player").avatar();
        game.hurt_hero(world, id, 1.0e6);
    });
    refused(&mut room, ann, "unequip iron-ring", "dead");
    assert_eq!(worn(&mut room, ann).0, ["iron-ring"]);
}

#[test]
fn a_potion_gives_health_once_and_the_next_one_has_to_wait() {
    let (mut room, ann) = begin(&["wine-skin", "wine-skin", "spring-water"]);
    let player = room.player(ann);
    let set = |room: &mut Room, per_cent: f32| {
        room.edit(|world: &mut DeusWorld, _: &mut Deus| {
            let id = world.player(player).expect("a player").avatar();
            let mut hero = world.edit(id).expect("a hero");
            hero.health().set_both(per_cent, 0.0);
            hero.mana().set_both(per_cent, 0.0);
        });
    };
    let has = |room: &Room| {
        let hero = room.avatar(ann).expect("a hero");
        (hero.gauge("health").expect("health"), hero.gauge("mana").expect("mana"))
    };
    set(&mut room, 20.0);
    assert_eq!(tell(&mut room, ann, "use wine-skin"), None);
    let (health, mana) = has(&room);
    assert!((60.0..63.0).contains(&health) && mana < 25.0, "{health}, {mana}");
    refused(&mut room, ann, "use wine-skin", "on_cooldown");
    assert_eq!(tell(&mut room, ann, "use spring-water"), None, "another kind");
    let (_, mana) = has(&room);
    assert!((70.0..80.0).contains(&mana), "{mana}");
    room.move_to_another_host();
    refused(&mut room, ann, "use wine-skin", "on_cooldown");
    room.run(15.secs());
    assert_eq!(tell(&mut room, ann, "use wine-skin"), None);
    assert_eq!(with_hero(&mut room, ann, |hero| hero.bag.items.len()), 0);
}

/// Putting armour on in a fight must heal no hero.
#[test]
fn to_change_what_is_worn_fills_no_health() {
    let (mut room, ann) = begin(&["star-amulet", "red-stone"]);
    let player = room.player(ann);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let id = world.player(player).expect("a player").avatar();
        game.hurt_hero(world, id, 60.0);
    });
    room.run(400.millis());
    let health = |room: &Room| room.avatar(ann).and_then(|it| it.gauge("health")).expect("health");
    let before = health(&room);
    for name in ["red-stone", "star-amulet", "red-stone"] {
        assert_eq!(tell(&mut room, ann, &format!("equip {name}")), None);
    }
    assert!(health(&room) < before + 10.0, "{before}, {}", health(&room));
}

fn stored(room: &mut Room, client: TestClient) -> Value {
    room.leave(client);
    room.run(2.secs());
    serde_json::from_str(room.stored_profile(ANN).expect("a profile")).expect("JSON")
}

#[test]
fn the_next_evening_a_hero_wears_what_it_wore() {
    let (mut evening, ann) = begin(&["whetstone", "steel-edge", "iron-ring"]);
    assert_eq!(tell(&mut evening, ann, "equip steel-edge"), None);
    assert_eq!(tell(&mut evening, ann, "unequip iron-ring"), None);
    let kept = stored(&mut evening, ann);
    assert_eq!(kept["by_class"]["warrior"]["worn"], json!(["steel-edge"]));
    let come_back = |kept: &Value| {
        let mut room = Room::with(&[("size", "60x60")]);
        room.store_profile(ANN, kept);
        let ann = room.join_with_account("ann", ANN, Line::default());
        room.command(ann, "choose warrior");
        room.run(1.secs());
        (worn(&mut room, ann).0, stored(&mut room, ann))
    };
    assert_eq!(come_back(&kept), (vec!["steel-edge".to_owned()], kept));
    // A profile of before there were slots: what it can is worn.
    let old = json!({ "items": ["whetstone", "iron-ring", "whetstone", "wine-skin"] });
    let (worn, _) = come_back(&json!({ "by_class": { "warrior": old } }));
    assert_eq!(worn, ["whetstone", "iron-ring"]);
    // What this content does not know is worn again where it is known.
    let foreign =
        json!({ "items": ["iron-ring", "far-sword"], "worn": ["far-sword", "iron-ring"] });
    let (worn, again) = come_back(&json!({ "by_class": { "warrior": foreign } }));
    assert_eq!(worn, ["iron-ring"]);
    assert_eq!(again["by_class"]["warrior"]["worn"], json!(["far-sword", "iron-ring"]));
    // What a profile says is no way to wear two, or what it has not.
    let cheat = json!({ "items": ["whetstone"], "worn": ["whetstone", "giant-blade"] });
    assert_eq!(come_back(&json!({ "by_class": { "warrior": cheat } })).0, ["whetstone"]);
}

/// A hero wears what it has, one in each slot, and that is what it gains, after any orders.
fn check_worn(hero: &HeroState, content: &SharedContent) {
    let mut sum = ItemBonus::default();
    for (slot, item) in &hero.bag.worn {
        let table = content.item(*item).expect("an item");
        assert!(table.worn_slot() == Some(*slot) && hero.bag.items.contains(item), "{hero:?}");
        sum.add(table, 1.0);
    }
    for item in &hero.bag.items {
        let table = content.item(*item).expect("an item");
        if table.slot.is_none() {
            sum.add(table, 1.0);
        }
    }
    let pairs = [(sum.damage, hero.bonus.damage), (sum.armour, hero.bonus.armour)];
    let more = [(sum.health, hero.bonus.health), (sum.mana, hero.bonus.mana)];
    for (expected, is) in pairs.into_iter().chain(more) {
        assert!((expected - is).abs() < 1e-2, "{expected}, not {is}: {hero:?}");
    }
}

#[test]
fn whatever_is_worn_used_and_lost_only_what_is_worn_counts() {
    for seed in 0..6 {
        let (mut room, ann) = begin(&[]);
        let player = room.player(ann);
        let mut rng = Rng::with_seed(seed);
        let content = SharedContent::default();
        let mut held = 0;
        for _ in 0..80 {
            let item = rng.u8(..content.items.len() as u8);
            let name = content.item(item).expect("an item").name.clone();
            match rng.u8(..8) {
                0..=2 => {
                    give(&mut room, ann, &[&name]);
                    held += 1;
                }
                3 => {
                    let had = with_hero(&mut room, ann, |hero| hero.bag.items.contains(&item));
                    held -= usize::from(had);
                    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
                        let id = world.player(player).expect("a player").avatar();
                        game.remove_item(world, id, item);
                    });
                }
                4 => room.move_to_another_host(),
                verb => {
                    let verb = ["equip", "unequip", "use"][usize::from(verb) - 5];
                    let told = tell(&mut room, ann, &format!("{verb} {name}"));
                    held -= usize::from(verb == "use" && told.is_none());
                }
            }
            with_hero(&mut room, ann, |hero| {
                check_worn(hero, &content);
                assert_eq!(hero.bag.items.len(), held, "seed {seed}");
            });
        }
    }
}

#[test]
fn chests_have_rare_items_as_often_as_their_shares_say() {
    let (mut room, _) = begin(&[]);
    let mut counts = std::collections::BTreeMap::<Rarity, usize>::new();
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        for _ in 0..4_000 {
            game.draw_items(world);
            for item in &game.offer {
                let table = game.content.item(*item).expect("an item");
                assert!(table.price >= game.content.waves.found_from);
                *counts.entry(table.rarity).or_default() += 1;
            }
        }
    });
    let of = |rarity| counts.get(&rarity).copied().unwrap_or_default();
    println!("{counts:?}");
    assert_eq!(counts.values().sum::<usize>(), 4_000);
    assert!((2_250..2_550).contains(&of(Rarity::Common)), "60 of 100: {counts:?}");
    assert!((880..1_120).contains(&of(Rarity::Uncommon)), "25 of 100: {counts:?}");
    assert!((400..560).contains(&of(Rarity::Rare)), "12 of 100: {counts:?}");
    assert!((75..170).contains(&of(Rarity::Epic)), "3 of 100: {counts:?}");
}

/// Before version 1, items had the places of their names in alphabetical order, and all counted.
#[test]
fn a_room_of_an_earlier_release_goes_on_with_the_same_items() {
    let (mut room, ann) = begin(&[]);
    room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        let hero = game.heroes.values_mut().next().expect("a hero");
        hero.bag.items = vec![4, 1, 4, 7, 0];
        hero.bonus.damage = 33.0;
        game.offer = vec![3, 6];
        game.renumber_items();
    });
    let content = SharedContent::default();
    let names = |items: &[u8]| -> Vec<String> {
        items.iter().map(|item| content.item(*item).expect("an item").name.clone()).collect()
    };
    with_hero(&mut room, ann, |hero| {
        let had = ["whetstone", "iron-ring", "whetstone", "wrist-wrap", "blue-stone"];
        assert_eq!(names(&hero.bag.items), had);
        assert_eq!((hero.bonus.damage, hero.bag.worn.len()), (18.0, 4));
        check_worn(hero, &content);
    });
    let offer = room.edit(|_: &mut DeusWorld, game: &mut Deus| game.offer.clone());
    assert_eq!(names(&offer), ["red-stone", "wooden-charm"]);
    // An operator's own items: all of them, in the order of their names.
    let mut room = Room::with(&[("size", "60x60"), ("content", LARGE)]);
    room.run(200.millis());
    room.edit(|_: &mut DeusWorld, game: &mut Deus| {
        game.offer = (0..64).collect();
        game.renumber_items();
        assert_eq!(game.offer, (0..64).collect::<Vec<_>>());
    });
}
