//! Heroes that outlive their evenings, and trade: `deus`.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_client_core::client::request::{LobbyRequest, NewRoom};
use ambit_proto::message::FieldValue;
use ambit_tests::short_or_long;
use ambit_tests::sim::System;
use serde_json::{Value, json};

use super::crowd::Crowd;

/// Bots, in short and in long.
const BOTS: (usize, usize) = (40, 200);
const EVENINGS: (usize, usize) = (2, 4);
const SEEDS: (u64, u64) = (2, 5);
/// Bots in a room.
const PARTY: usize = 20;
/// Until the first fight, and some seconds of it.
const EVENING_S: usize = 50;
const ITEMS: [&str; 6] =
    ["whetstone", "iron-ring", "red-stone", "light-boots", "blue-stone", "wine-skin"];
const CLASSES: [&str; 2] = ["warrior", "mage"];
const GOLD: i64 = 100;

#[test]
fn heroes_lose_and_double_no_gold_and_no_item_whatever_dies() {
    for seed in 1..=short_or_long(SEEDS.0, SEEDS.1) {
        trade_under_deaths(seed, |_| {});
    }
}

/// As in a cluster that loses its leader together with a host: what the rooms have given away since
/// they were kept is stored already.
#[test]
fn heroes_lose_and_double_nothing_though_their_rooms_go_back() {
    for seed in 11..=10 + short_or_long(SEEDS.0, SEEDS.1) {
        trade_under_deaths(seed, System::keep_late);
    }
}

fn trade_under_deaths(seed: u64, prepare: impl FnOnce(&mut System)) {
    let bots = short_or_long(BOTS.0, BOTS.1);
    let registry = ambit_game_server::standard();
    let mut crowd = Crowd::new(seed, &registry, &[], bots, |store| {
        (0..bots).for_each(|bot| store.set_profile("deus", bot as u64 + 1, &heroes_of(bot)));
    });
    prepare(&mut crowd.system);
    let mut trades = 0;
    for evening in 0..short_or_long(EVENINGS.0, EVENINGS.1) {
        trades += spend_evening(&mut crowd, evening);
    }
    crowd.settle();
    let profiles: Vec<Value> =
        (1..=bots as u64).map(|player| crowd.system.store().profile(player)).collect();
    let deaths = crowd.deaths;
    let before: Vec<Value> = (0..bots).map(heroes_of).collect();
    let changed = profiles.iter().zip(&before).filter(|(one, other)| one != other).count();
    println!("seed {seed}: {bots} bots, {trades} trades, {changed} changed, {deaths:?}");
    assert_eq!(sum(&profiles), sum(&before), "seed {seed}: gold and items");
    assert!(trades > bots / 2 && changed > bots / 3, "seed {seed}: {trades}, {changed}");
    assert!(deaths.hosts > 2 && deaths.servers > 1 && deaths.stores > 1, "{deaths:?}");
}

/// What a bot has at first.
fn heroes_of(bot: usize) -> Value {
    let items: Vec<_> = (0..3).map(|item| ITEMS[(bot + item) % ITEMS.len()]).collect();
    let hero = json!({ "experience": 0, "gold": GOLD, "talents": [], "items": items });
    json!({ "by_class": { CLASSES[bot % 2]: hero } })
}

/// All gold, and how many there are of each item.
fn sum(profiles: &[Value]) -> (i64, BTreeMap<String, usize>) {
    let mut gold = 0;
    let mut items = BTreeMap::new();
    for profile in profiles {
        for hero in profile["by_class"].as_object().expect("heroes").values() {
            gold += hero["gold"].as_i64().expect("a number");
            for item in hero["items"].as_array().expect("a list") {
                *items.entry(item.as_str().expect("a name").to_owned()).or_default() += 1;
            }
        }
    }
    (gold, items)
}

/// Rooms are made, bots come, go, come back and trade, and all leave. Returns the trades.
fn spend_evening(crowd: &mut Crowd, evening: usize) -> usize {
    for leader in (0..crowd.bots).step_by(PARTY) {
        let room = NewRoom {
            name: format!("evening{evening}-{leader}"),
            game: "deus".into(),
            capacity: PARTY as u32 + 4,
            parameters: [("size".to_owned(), "60x60".to_owned())].into(),
            ..NewRoom::default()
        };
        crowd.ask(leader, LobbyRequest::CreateRoom(room));
    }
    crowd.system.run_for(Duration::from_secs(2));
    (0..crowd.bots).step_by(PARTY).for_each(|bot| crowd.ask(bot, LobbyRequest::StartRoom));
    let mut trades = 0;
    for _ in 0..EVENING_S {
        for bot in 0..crowd.bots {
            trades += play(crowd, bot);
        }
        crowd.step();
    }
    for bot in 0..crowd.bots {
        crowd.ask(bot, LobbyRequest::LeaveRoom);
    }
    crowd.system.run_for(Duration::from_secs(8));
    trades
}

/// What a bot does in a second. Returns how many of its offers were taken, or it has taken.
fn play(crowd: &mut Crowd, bot: usize) -> usize {
    let client = &crowd.system.user(bot).client;
    let leader = bot - bot % PARTY;
    if client.room().is_none() {
        let room = crowd.system.user(leader).client.room();
        if let Some(room) = room.filter(|_| bot != leader) {
            crowd.ask(bot, LobbyRequest::JoinRoom { room, password: String::new() });
        }
        return 0;
    }
    if bot != leader && crowd.rng.u8(..40) == 0 {
        crowd.ask(bot, LobbyRequest::LeaveRoom);
        return 0;
    }
    let (offers, done) = take_events(crowd, bot);
    for offer in offers {
        if crowd.rng.u8(..4) > 0 {
            // Twice, as a modified client might.
            crowd.say(bot, &format!("accept {offer}"));
            crowd.say(bot, &format!("accept {offer}"));
        }
    }
    // The leader does not choose, so that the first wave waits. A class is changed at times.
    let class = if crowd.rng.u8(..20) == 0 { bot + 1 } else { bot };
    if bot != leader && crowd.rng.u8(..6) == 0 {
        crowd.say(bot, &format!("choose {}", CLASSES[class % 2]));
    }
    let seen = crowd.sees(bot);
    let heroes = seen.iter().filter(|it| it.kind == "hero" && !it.is_own).map(|it| it.id);
    if let Some(to) = crowd.rng.choice(heroes.collect::<Vec<_>>()) {
        let [give, want] = [0, 1].map(|_| ITEMS[crowd.rng.usize(..ITEMS.len())]);
        let [gold, price] = [0, 1].map(|_| crowd.rng.u8(..20));
        crowd.say(bot, &format!("offer {to} {give} {gold} {want} {price}"));
    }
    done
}

/// The numbers of the offers to a bot since the last time, and its trades.
fn take_events(crowd: &mut Crowd, bot: usize) -> (Vec<i64>, usize) {
    let mut offers = Vec::new();
    let mut done = 0;
    for event in std::mem::take(&mut crowd.system.user_mut(bot).events) {
        let ViewEvent::Game(GameEvent::Event(event)) = event else { continue };
        done += usize::from(&*event.name == "trade_done");
        offers.extend(event.fields.iter().filter(|it| &*it.name == "offer").filter_map(|field| {
            if let FieldValue::Number(offer) = field.value { Some(offer) } else { None }
        }));
    }
    (offers, done)
}
