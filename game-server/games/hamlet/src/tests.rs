//! The rules, with real clients on virtual time: all goods are accounted for, and a hut stays.

mod releases;

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::test::{Line, Seen, TestClient, TestRoom};
use fastrand::Rng;

use crate::{
    Gathered, Gift, Goods, Hamlet, HamletTimer, Hut, Rock, STAGES, Stall, Tree, Villager, Ware,
};

type Room = TestRoom<Hamlet>;

const ANN: AccountId = AccountId([1; 16]);
const BOB: AccountId = AccountId([2; 16]);
/// Noon of a day of the hamlet.
const NOON_S: u64 = 750;
const DAY: Duration = Duration::from_hours(24);

/// What goods are made of: coins, wood and stone.
fn worth(goods: Goods) -> [u32; 3] {
    [goods.coins, goods.wood + 2 * (goods.planks + goods.axes), goods.stone + 2 * goods.axes]
}

fn sum(all: impl IntoIterator<Item = Goods>) -> Goods {
    all.into_iter().fold(Goods::NONE, Goods::with)
}

fn hamlet() -> Room {
    let mut room = Room::with(&[("lasting", "yes")]);
    room.set_calendar(NOON_S);
    room
}

fn goods(room: &Room, client: TestClient) -> Goods {
    *room.world().profile(room.player(client)).expect("the player is in the room")
}

fn set_goods(room: &mut Room, client: TestClient, goods: Goods) {
    let player = room.player(client);
    room.edit(|world, _| crate::set_goods(world, player, goods));
}

fn put(room: &mut Room, client: TestClient, at: Position) {
    let player = room.player(client);
    room.edit(|world, _| {
        let villager = world.player(player).expect("in the room").avatar();
        world.edit(villager).expect("each player has one").path().teleport(at);
    });
    room.run(500.millis());
}

fn put_at_first<K: ambit::KindOf<Hamlet>>(room: &mut Room, client: TestClient) {
    let mut all = Vec::<Id<K>>::new();
    room.world().find_all(&mut all);
    let at = room.world().position(all[0]).expect("it stands there");
    put(room, client, at);
}

fn give(room: &mut Room, client: TestClient, words: &str) {
    room.command(client, words);
    room.run(500.millis());
}

/// Players who come and go.
struct Crowd {
    accounts: BTreeMap<AccountId, Option<TestClient>>,
    /// A player without an account.
    guest: Option<TestClient>,
}

impl Crowd {
    fn clients(&self) -> Vec<TestClient> {
        self.accounts.values().copied().chain([self.guest]).flatten().collect()
    }

    /// All goods of players: in the room, or in the store.
    fn goods(&self, room: &Room) -> Goods {
        let here = self.clients().into_iter().map(|client| goods(room, client));
        let away = self.accounts.iter().filter(|(_, client)| client.is_none());
        let stored = away.filter_map(|(account, _)| room.stored_profile(*account));
        let stored = stored.map(|json| serde_json::from_str(json).expect("a profile"));
        sum(here.chain(stored))
    }

    fn join_or_leave(&mut self, room: &mut Room, rng: &mut Rng) {
        let account = AccountId([rng.u8(1..=4); 16]);
        let client = self.accounts.entry(account).or_default();
        match client.take() {
            Some(client) => room.leave(client),
            None => *client = Some(room.join_with_account("anna", account, Line::default())),
        }
        if rng.u8(..4) == 0 {
            match self.guest.take() {
                Some(client) => room.leave(client),
                None => self.guest = Some(room.join("guest", Line::default())),
            }
        }
    }

    fn act(&self, room: &mut Room, rng: &mut Rng) {
        let clients = self.clients();
        let Some(&client) = clients.get(rng.usize(..clients.len().max(1))) else { return };
        match rng.u8(..8) {
            0 => put_at_first::<Tree>(room, client),
            1 => put_at_first::<Rock>(room, client),
            2..=4 => put_at_first::<Stall>(room, client),
            5 => put(room, client, Position::on_ground(rng.f32() * 60.0, rng.f32() * 60.0)),
            _ => {}
        }
        let ware = ["wood", "stone", "planks", "axes"][rng.usize(..4)];
        let number = rng.u8(1..6);
        for _ in 0..rng.u8(1..6) {
            let seen = room.sees(client);
            let other = seen.iter().find(|it| it.is::<Villager>() && !it.own).map(|it| it.id.0);
            let words = match (rng.u8(..12), other) {
                (0..=3, _) => "gather".to_owned(),
                (4, _) => "saw".to_owned(),
                (5, _) => "forge".to_owned(),
                (6, _) => "build".to_owned(),
                (7, _) => format!("buy {ware} {number}"),
                (8, _) => format!("sell {ware} {number}"),
                (9, Some(other)) => format!("pay {other} {number}"),
                (_, Some(other)) => format!("give {other} {ware} {number}"),
                (_, None) => format!("sell {ware}"),
            };
            room.command(client, &words);
            room.run(100.millis());
        }
    }
}

/// Everything in the map, and all that has come into it without what has gone.
fn accounts_of(room: &mut Room, crowd: &Crowd) -> ([u32; 3], [u32; 3]) {
    let (in_map, came, went) = room.edit(|_, game| {
        let built = game.huts.values().flat_map(|(_, stage)| &STAGES[..=*stage]);
        let built = sum(built.map(|(_, cost)| *cost));
        (built.with(game.shop.goods), game.ledger.0, game.ledger.1)
    });
    let has = worth(in_map.with(crowd.goods(room)));
    let (came, went) = (worth(came), worth(went));
    (has, [0, 1, 2].map(|it| came[it] - went[it]))
}

#[test]
fn all_goods_are_accounted_for_whatever_players_and_hosts_do() {
    for seed in 1..=3 {
        let mut rng = Rng::with_seed(seed);
        let mut room = hamlet();
        let mut crowd = Crowd { accounts: BTreeMap::new(), guest: None };
        let mut most = [0; 3];
        for round in 0..60 {
            crowd.join_or_leave(&mut room, &mut rng);
            room.set_store_away(rng.u8(..3) == 0);
            room.run(300.millis());
            for _ in 0..4 {
                crowd.act(&mut room, &mut rng);
            }
            if rng.u8(..4) == 0 {
                room.move_to_another_host();
                room.run(1.secs());
            }
            if rng.u8(..6) == 0 {
                room.edit(|world, _| world.after(1.millis(), HamletTimer::Market));
            }
            if rng.u8(..4) == 0
                && let Some(client) = crowd.clients().pop()
            {
                // Also one who leaves while the store is away.
                crowd
                    .accounts
                    .values_mut()
                    .filter(|it| **it == Some(client))
                    .for_each(|it| *it = None);
                crowd.guest = crowd.guest.filter(|guest| *guest != client);
                room.leave(client);
            }
            room.run(200.millis());
            room.set_store_away(false);
            room.run(12.secs());
            let (has, expected) = accounts_of(&mut room, &crowd);
            assert_eq!(has, expected, "seed {seed}, round {round}");
            most = [0, 1, 2].map(|it| most[it].max(has[it]));
        }
        assert!(most[0] >= 200 && most[1] > 20 && most[2] > 5, "seed {seed}: {most:?}");
        assert!(room.edit(|_, game| !game.huts.is_empty()), "seed {seed}: no hut was begun");
    }
}

#[test]
fn a_month_later_the_hut_stands_and_its_owner_wakes_up_in_it() {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    put_at_first::<Tree>(&mut room, ann);
    for _ in 0..6 {
        give(&mut room, ann, "gather");
    }
    assert!(goods(&room, ann).wood >= 6);
    let ground = Position::on_ground(12.0, 47.0);
    put(&mut room, ann, ground);
    set_goods(&mut room, ann, Goods { wood: 2, planks: 7, stone: 4, ..Goods::coins(9) });
    for _ in 0..3 {
        give(&mut room, ann, "build");
    }
    assert_eq!(room.errors(ann), [""; 0]);
    assert_eq!(goods(&room, ann), Goods::coins(9));
    room.leave(ann);
    room.run(6.secs());
    room.sleep(31 * DAY);
    room.move_to_another_host();

    let again = room.join_with_account("ann", ANN, Line::default());
    room.run(1.secs());
    assert_eq!(goods(&room, again), Goods::coins(9));
    let avatar = room.avatar(again).expect("she is in the game");
    assert!(avatar.position.ground_distance(ground) < 0.1, "{avatar:?}");
    assert_eq!(avatar.number("coins"), Some(9));
    let seen = room.sees(again);
    let hut = seen.iter().find(|it| it.is::<Hut>()).expect("it stands where she is");
    assert_eq!((hut.text("name"), hut.text("stage")), (Some("ann"), Some("hut")));
    give(&mut room, again, "build");
    assert_eq!(room.errors(again), ["hut_is_ready"]);
    // Wood has grown.
    put_at_first::<Tree>(&mut room, again);
    let tree = room.sees(again).into_iter().find(Seen::is::<Tree>).expect("beside her");
    assert_eq!(tree.gauge("wood"), Some(6.0));
}

#[test]
fn what_one_gives_another_is_stored_of_both_and_the_other_reads_it() {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    let bob = room.join_with_account("bob", BOB, Line::default());
    set_goods(&mut room, ann, Goods { wood: 5, ..Goods::coins(8) });
    let villager = |it: &Seen| it.is::<Villager>() && !it.own;
    let other = room.sees(ann).into_iter().find(villager).expect("ann sees bob").id.0;
    give(&mut room, ann, &format!("give {other} wood 3"));
    give(&mut room, ann, &format!("pay {other} 8"));
    give(&mut room, ann, &format!("give {other} wood 3"));
    assert_eq!(room.errors(ann), ["not_enough"]);
    assert_eq!(goods(&room, ann), Goods::of(Ware::Wood, 2));
    assert_eq!(goods(&room, bob), Goods { wood: 3, ..Goods::coins(8) });
    let gifts = |client| -> Vec<String> {
        let what = |gift: Gift| gift.what.as_str().to_owned();
        room.events(client).iter().filter_map(|event| event.get().map(what)).collect()
    };
    assert_eq!((gifts(bob), gifts(ann)), (vec!["3 wood".to_owned(), "8 coins".to_owned()], vec![]));
    // One leaves: the store has both.
    room.leave(ann);
    room.run(1.secs());
    let stored = |account| serde_json::from_str::<Goods>(room.stored_profile(account)?).ok();
    assert_eq!(stored(ANN), Some(Goods::of(Ware::Wood, 2)));
    assert_eq!(stored(BOB), Some(Goods { wood: 3, ..Goods::coins(8) }));
}

#[test]
fn the_shop_trades_by_day_for_coins_that_it_has() {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    put_at_first::<Stall>(&mut room, ann);
    set_goods(&mut room, ann, Goods { wood: 120, ..Goods::NONE });
    give(&mut room, ann, "sell wood 20");
    let pays = room.edit(|_, game| game.shop.pays(Ware::Wood));
    assert_eq!(goods(&room, ann), Goods { wood: 100, ..Goods::coins(20 * pays) });
    give(&mut room, ann, "sell wood 99");
    assert_eq!(room.errors(ann), ["sold_out"], "the shop had 200 coins");
    give(&mut room, ann, "buy wood 1");
    let price = room.edit(|_, game| game.shop.price(Ware::Wood));
    assert_eq!(goods(&room, ann), Goods { wood: 101, ..Goods::coins(20 * pays - price) });
    assert!(price > pays);
    assert_eq!(room.counts().get("trades"), Some(&2));
    // The cart takes what is beyond 10, and brings coins.
    let day = 20_786 * 86_400;
    room.set_calendar(day);
    room.edit(|world, _| world.after(1.millis(), HamletTimer::Market));
    room.run(1.secs());
    let stock = room.edit(|_, game| game.shop.goods);
    assert_eq!(stock, Goods { wood: 10, ..Goods::coins(200) });
    // Midnight of the calendar is one of the hamlet.
    give(&mut room, ann, "sell wood");
    assert_eq!(room.errors(ann)[1..], ["closed"]);
}

#[test]
fn the_game_says_why_it_refuses() {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    let guest = room.join("guest", Line::default());
    let ground = Position::on_ground(12.0, 47.0);
    put(&mut room, ann, ground);
    give(&mut room, ann, "build");
    set_goods(&mut room, ann, Goods { wood: 2, planks: 9, stone: 9, ..Goods::coins(99) });
    give(&mut room, ann, "sell wood");
    let other = room.avatar(ann).expect("she is in the game").id.0;
    give(&mut room, ann, &format!("pay {other} 1"));
    put_at_first::<Stall>(&mut room, ann);
    give(&mut room, ann, "build");
    give(&mut room, ann, "buy axes");
    put(&mut room, ann, ground);
    give(&mut room, ann, "build");
    put(&mut room, ann, Position::on_ground(25.0, 47.0));
    give(&mut room, ann, "build");
    let expected = ["not_enough", "too_far", "too_far", "no_ground", "sold_out", "too_far"];
    assert_eq!(room.errors(ann), expected);
    set_goods(&mut room, guest, Goods { wood: 2, ..Goods::NONE });
    give(&mut room, guest, "build");
    room.edit(|world, _| {
        let mut trees = Vec::<Id<Tree>>::new();
        let mut rocks = Vec::<Id<Rock>>::new();
        world.find_all(&mut trees);
        world.find_all(&mut rocks);
        world.despawn_all(trees);
        world.despawn_all(rocks);
    });
    give(&mut room, guest, "gather");
    assert_eq!(room.errors(guest), ["no_account", "nothing_near"]);
}

#[test]
fn an_axe_gathers_two_and_the_player_alone_reads_it() {
    let mut room = hamlet();
    let ann = room.join_with_account("ann", ANN, Line::default());
    let bob = room.join("bob", Line::default());
    put_at_first::<Tree>(&mut room, ann);
    put_at_first::<Tree>(&mut room, bob);
    set_goods(&mut room, ann, Goods { planks: 1, stone: 2, ..Goods::NONE });
    give(&mut room, ann, "forge");
    give(&mut room, ann, "gather");
    let got = goods(&room, ann);
    assert_eq!((got.axes, got.wood), (1, 2));
    let read =
        |client| room.events(client).iter().filter(|it| it.get::<Gathered>().is_some()).count();
    assert_eq!((read(ann), read(bob)), (1, 0));
}

#[test]
fn the_forest_has_no_stall_and_each_map_leads_to_the_other() {
    let mut forest = Room::with(&[("map", "1")]);
    let ann = forest.join_with_account("ann", ANN, Line::default());
    set_goods(&mut forest, ann, Goods::of(Ware::Wood, 2));
    give(&mut forest, ann, "build");
    assert_eq!(forest.errors(ann), ["no_ground"]);
    assert!(forest.room_wide(ann).iter().all(|it| it.kind == "sky"));
    let hamlet = hamlet();
    let gates = |room: &Room, maps| Hamlet { maps, ..Hamlet::default() }.gates(room.world());
    assert_eq!(gates(&hamlet, 1), []);
    let ([east], [west]) = (&gates(&hamlet, 2)[..], &gates(&forest, 2)[..]) else {
        panic!("one gate each")
    };
    assert_eq!((east.map, west.map), (1, 0));
    let is_in = |gate: &Gate, at: Position| {
        (gate.low.x..gate.high.x).contains(&at.x) && (gate.low.y..gate.high.y).contains(&at.y)
    };
    assert!(!is_in(west, east.at) && !is_in(east, west.at), "no player is sent back at once");
}

#[test]
fn a_profile_without_axes_is_read_and_what_a_guest_has_stays_in_the_shop() {
    let mut room = hamlet();
    room.store_profile(ANN, &serde_json::json!({"coins": 7, "wood": 1, "stone": 2, "planks": 3}));
    let ann = room.join_with_account("ann", ANN, Line::default());
    let expected = Goods { coins: 7, wood: 1, stone: 2, planks: 3, axes: 0 };
    assert_eq!(goods(&room, ann), expected);
    let guest = room.join("guest", Line::default());
    set_goods(&mut room, guest, expected);
    let before = room.edit(|_, game| game.shop.goods);
    room.leave(guest);
    room.run(1.secs());
    assert_eq!(room.edit(|_, game| game.shop.goods), before.with(expected));
}
