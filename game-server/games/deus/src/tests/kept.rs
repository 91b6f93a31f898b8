//! What outlives an evening: heroes of players with an account.

use ambit::AccountId;
use ambit::prelude::*;
use ambit::test::{Line, TestClient};
use serde_json::{Value, json};

use super::Room;
use crate::schema::HeroRow;
use crate::{Deus, DeusWorld};

const ANN: AccountId = AccountId([7; 16]);

fn room() -> Room {
    Room::with(&[("size", "60x60")])
}

fn join(room: &mut Room) -> TestClient {
    room.join_with_account("ann", ANN, Line::default())
}

/// Gives a client's hero experience, items and gold, as a fight would.
fn enrich(room: &mut Room, client: TestClient, items: &[u8]) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let heroes = game.heroes.iter();
        let mut heroes = heroes.filter(|(_, hero)| hero.player == player);
        let id = heroes.next().map(|(id, _)| *id);
        let id = id.expect("a hero");
        let at = world.position(id).expect("a place");
        game.share_experience(world, at, 150);
        for item in items {
            game.add_item(world, id, *item);
        }
        game.pay(world, id, 77);
    });
    room.run(1.secs());
}

/// Experience, gold, bag and number of talents of a client's hero.
fn hero(room: &mut Room, client: TestClient) -> (u32, i64, Vec<u8>, usize) {
    let player = room.player(client);
    room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let hero = game.heroes.values().find(|hero| hero.player == player).expect("a hero");
        let gold = world.row::<HeroRow>(player).expect("a row").gold();
        (hero.experience, gold, hero.bag.items.clone(), hero.learned.len())
    })
}

/// The player leaves; what is stored then.
fn stored(room: &mut Room, client: TestClient) -> Value {
    room.leave(client);
    room.run(2.secs());
    let stored = room.stored_profile(ANN).expect("a profile");
    serde_json::from_str(stored).expect("JSON")
}

#[test]
fn a_hero_comes_back_the_next_evening_with_all_that_it_had() {
    let mut evening = room();
    let ann = join(&mut evening);
    evening.command(ann, "choose warrior");
    evening.run(1.secs());
    assert_eq!(hero(&mut evening, ann), (0, 0, vec![], 0), "nothing at first");
    enrich(&mut evening, ann, &[3, 1, 3]);
    let talent = "sharp-edge";
    evening.command(ann, &format!("learn {talent}"));
    evening.run(1.secs());
    assert_eq!(evening.errors(ann), Vec::<String>::new());
    let had = hero(&mut evening, ann);
    assert_eq!(had, (150, 77, vec![3, 1, 3], 1));
    evening.move_to_another_host();
    evening.run(1.secs());
    assert_eq!(hero(&mut evening, ann), had);
    let kept = stored(&mut evening, ann);

    let mut next = room();
    next.store_profile(ANN, &kept);
    let ann = join(&mut next);
    next.command(ann, "choose warrior");
    next.run(1.secs());
    assert_eq!(hero(&mut next, ann), had);
    let rows = next.room_wide(ann);
    let row = rows.iter().find_map(|row| row.get::<HeroRow>()).expect("a row");
    assert_eq!(row.bag.expect("its own").iter().map(|(_, count)| count).sum::<u32>(), 3);
    assert_eq!(stored(&mut next, ann), kept, "nothing has changed");
}

#[test]
fn each_class_has_a_hero_of_its_own() {
    let mut room = room();
    let ann = join(&mut room);
    room.command(ann, "choose warrior");
    room.run(1.secs());
    enrich(&mut room, ann, &[1]);
    let kept = stored(&mut room, ann);
    let ann = join(&mut room);
    room.command(ann, "choose mage");
    room.run(1.secs());
    assert_eq!(hero(&mut room, ann), (0, 0, vec![], 0), "another hero");
    enrich(&mut room, ann, &[2]);
    let both = stored(&mut room, ann);
    assert_eq!(both["by_class"]["warrior"], kept["by_class"]["warrior"]);
    assert_eq!(both["by_class"]["mage"]["items"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_this_content_does_not_know_stays_with_the_hero() {
    let mut room = room();
    let foreign = json!({
        "experience": 20, "gold": 5, "talents": ["of-a-later-release"],
        "items": ["whetstone", "sword-of-another-folder", "whetstone"]
    });
    room.store_profile(ANN, &json!({"by_class": {"warrior": foreign}}));
    let ann = join(&mut room);
    room.command(ann, "choose warrior");
    room.run(1.secs());
    let (_, gold, bag, talents) = hero(&mut room, ann);
    assert_eq!((gold, bag.len(), talents), (5, 2, 0));
    enrich(&mut room, ann, &[0]);
    let kept = &stored(&mut room, ann)["by_class"]["warrior"];
    assert_eq!(kept["talents"], json!(["of-a-later-release"]));
    let items: Vec<_> = kept["items"].as_array().expect("a list").iter().collect();
    assert_eq!(items.len(), 4, "{items:?}");
    assert_eq!(items.iter().filter(|item| **item == "sword-of-another-folder").count(), 1);
}
