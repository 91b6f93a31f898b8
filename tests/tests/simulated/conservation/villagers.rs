//! A village that stays: `hamlet`, with its forest.

use std::collections::BTreeMap;

use ambit_client_core::client::request::LobbyRequest;
use ambit_hamlet::{Goods, STAGES};
use ambit_proto::ids::{AccountId, ObjectId, RoomId};
use ambit_proto::space::Position;
use ambit_room::room::Room;
use ambit_room::saved;
use ambit_tests::short_or_long;
use serde::Deserialize;

use super::crowd::Crowd;

/// Bots, in short and in long.
const BOTS: (usize, usize) = (48, 200);
const SECONDS: (u32, u32) = (90, 240);
const SEEDS: (u64, u64) = (2, 5);
/// What each bot has at first.
const PURSE: Goods = Goods { coins: 30, wood: 6, stone: 4, planks: 2, axes: 0 };
/// An hour of the hamlet's day.
const NOON_S: u64 = 750;
const REACH_M: f32 = 3.0;

/// What the saved state of a map has by its names.
#[derive(Deserialize)]
struct MapBooks {
    shop: ShopBooks,
    huts: BTreeMap<AccountId, (ObjectId, usize)>,
    ledger: (Goods, Goods),
}

#[derive(Deserialize)]
struct ShopBooks {
    goods: Goods,
}

#[test]
fn a_village_loses_and_doubles_no_coin_and_no_stone_whatever_dies() {
    let bots = short_or_long(BOTS.0, BOTS.1);
    for seed in 1..=short_or_long(SEEDS.0, SEEDS.1) {
        let registry = ambit_game_server::standard();
        let worlds = ["village game=hamlet capacity=250 maps=2 size=60x60"];
        let purse = serde_json::to_value(PURSE).expect("JSON");
        let mut crowd = Crowd::new(seed, &registry, &worlds, bots, |store| {
            (1..=bots as u64).for_each(|player| store.set_profile("hamlet", player, &purse));
        });
        crowd.system.set_calendar(NOON_S);
        for _ in 0..short_or_long(SECONDS.0, SECONDS.1) {
            (0..bots).for_each(|bot| live(&mut crowd, bot));
            crowd.step();
        }
        crowd.settle();
        let deaths = crowd.deaths;
        let (has, expected, moved) = accounts_of(&mut crowd, bots);
        println!("seed {seed}: {bots} bots, {deaths:?}; {has:?} of {expected:?}, {moved:?}");
        assert_eq!(has, expected, "seed {seed}: coins, wood and stone");
        assert!(deaths.hosts > 2 && deaths.servers > 1 && deaths.stores > 1, "{deaths:?}");
        let Traffic { transfers, gathered, changed } = moved;
        assert!(transfers > 5 && gathered > 20 && changed > bots / 2, "seed {seed}: {moved:?}");
    }
}

/// What has happened.
#[derive(Debug)]
struct Traffic {
    transfers: u64,
    gathered: u32,
    /// Bots who have something else than at first.
    changed: usize,
}

/// All coins, wood and stone that are somewhere, and those that must be.
fn accounts_of(crowd: &mut Crowd, bots: usize) -> ([u32; 3], [u32; 3], Traffic) {
    let mut has = Goods::NONE;
    let mut came = Goods::NONE;
    let mut went = Goods::NONE;
    let mut changed = 0;
    for player in 1..=bots as u64 {
        let profile = crowd.system.store().profile(player);
        let goods: Goods = serde_json::from_value(profile).expect("each has a profile");
        changed += usize::from(goods != PURSE);
        (has, came) = (has.with(goods), came.with(PURSE));
    }
    let transfers = crowd.system.lobby().stats().transfers_completed;
    let mut gathered = 0;
    let maps: Vec<MapBooks> = crowd.system.rooms().map(|(_, room)| books_of(room)).collect();
    assert_eq!(maps.len(), 2, "the hamlet and the forest");
    for MapBooks { shop, huts, ledger } in maps {
        let built = huts.values().flat_map(|(_, stage)| &STAGES[..=*stage]);
        has = built.fold(has.with(shop.goods), |sum, (_, cost)| sum.with(*cost));
        gathered += ledger.0.wood + ledger.0.stone;
        (came, went) = (came.with(ledger.0), went.with(ledger.1));
    }
    let (came, went) = (worth(came), worth(went));
    let expected = [0, 1, 2].map(|it| came[it] - went[it]);
    (worth(has), expected, Traffic { transfers, gathered, changed })
}

fn books_of(room: &Room) -> MapBooks {
    let state = room.game().save().expect("it can be saved");
    let mut bytes = &state[..];
    let version = saved::take::<u32>(&mut bytes).expect("the version is in front");
    saved::Saved::new(version, bytes).read().expect("it has names")
}

/// What goods are made of: coins, wood and stone.
fn worth(goods: Goods) -> [u32; 3] {
    [goods.coins, goods.wood + 2 * (goods.planks + goods.axes), goods.stone + 2 * goods.axes]
}

/// What a bot does in a second.
fn live(crowd: &mut Crowd, bot: usize) {
    crowd.system.user_mut(bot).events.clear();
    let client = &crowd.system.user(bot).client;
    if !client.is_connected() {
        return;
    }
    if client.room().is_none() {
        let room = crowd.system.lobby().rooms().first().map(|room| RoomId(room.id));
        if let Some(room) = room.filter(|_| crowd.rng.u8(..4) == 0) {
            crowd.ask(bot, LobbyRequest::JoinRoom { room, password: String::new() });
        }
        return;
    }
    if crowd.rng.u8(..40) == 0 {
        return crowd.ask(bot, LobbyRequest::LeaveRoom);
    }
    let seen = crowd.sees(bot);
    let Some(here) = seen.iter().find(|it| it.is_own).map(|it| it.position) else { return };
    let is_near = |at: Position| at.ground_distance(here) < REACH_M;
    let others: Vec<u32> = seen
        .iter()
        .filter(|it| it.kind == "villager" && !it.is_own && is_near(it.position))
        .map(|it| it.id)
        .collect();
    let is_source = |kind: &str| ["tree", "rock"].contains(&kind);
    let has_source = seen.iter().any(|it| is_source(&it.kind) && is_near(it.position));
    let has_stall = seen.iter().any(|it| it.kind == "stall" && is_near(it.position));
    let goals: Vec<Position> = seen
        .iter()
        .filter(|it| is_source(&it.kind) || it.kind == "stall")
        .map(|it| it.position)
        .collect();
    for _ in 0..crowd.rng.u8(1..4) {
        let words = deed(crowd, &others, has_source, has_stall);
        crowd.say(bot, &words);
    }
    if crowd.rng.u8(..4) == 0 {
        let random = (crowd.rng.f32() * 60.0, crowd.rng.f32() * 60.0);
        let (x, y) = match (crowd.rng.u8(..8), crowd.rng.choice(goals)) {
            (0..=1, _) => (59.0, 30.0),
            (2..=3, _) => (1.0, 30.0),
            (4..=6, Some(goal)) => (goal.x, goal.y),
            _ => random,
        };
        crowd.say(bot, &format!("walk-to {x:.1} {y:.1}"));
    }
}

fn deed(crowd: &mut Crowd, others: &[u32], has_source: bool, has_stall: bool) -> String {
    let rng = &mut crowd.rng;
    let ware = ["wood", "stone", "planks", "axes"][rng.usize(..4)];
    let number = rng.u8(1..5);
    match (rng.u8(..10), rng.choice(others.iter().copied())) {
        (0..=4, _) if has_source => "gather".to_owned(),
        (0..=1, _) if has_stall => format!("buy {ware} {number}"),
        (2..=4, _) if has_stall => format!("sell {ware} {number}"),
        (0..=6, Some(other)) => format!("pay {other} {number}"),
        (7, _) => "saw".to_owned(),
        (8, _) => "forge".to_owned(),
        (9, None) => "build".to_owned(),
        (_, Some(other)) => format!("give {other} {ware} {number}"),
        (_, None) => "gather".to_owned(),
    }
}
