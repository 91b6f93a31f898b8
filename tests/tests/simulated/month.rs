//! A village over a month: it sleeps and wakes, its game changes three times, one release cannot
//! read it, and its hosts and its server die. It is the same village all the time.
//!
//! Of most days the simulator runs some minutes, and the rest passes in the calendar alone: a
//! sleeping village does the same. In the long form all days pass.

mod builds;

use std::collections::BTreeMap;
use std::time::Duration;

use ambit::{Games, KindOf};
use ambit_client_core::client::config::{ClientConfig, SignIn};
use ambit_client_core::client::event::{LobbyEvent, ViewEvent};
use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::command_words;
use ambit_hamlet::{Goods, Hut, Tree};
use ambit_lobby::{AccountWays, ChildPoolConfig, LobbyConfig};
use ambit_proto::ids::{AccountId, ObjectId, RoomId};
use ambit_room::logic::registry::Registry;
use ambit_room::room::Room;
use ambit_room::saved;
use ambit_tests::short_or_long;
use ambit_tests::sim::System;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Noon of a day in 2026, and of the hamlet's day.
const FIRST_DAY_S: u64 = 20_786 * 86_400 + 43_950;
const DAY_S: u64 = 86_400;
/// What the simulator runs of most days.
const PART_OF_DAY: Duration = Duration::from_mins(4);
/// A day that passes as a whole: the cart comes to the village once a day.
const CART_DAY: u64 = 3;
const ANN: usize = 0;
const BOB: usize = 1;
const PURSE: Goods = Goods { coins: 5, wood: 9, stone: 4, planks: 0, axes: 0 };

struct Month {
    system: System,
    village: RoomId,
    day: u64,
    /// What the calendar shows, less virtual time.
    began_s: u64,
}

#[derive(Debug, Deserialize)]
struct Chronicle<H> {
    shop: ShopStock,
    huts: BTreeMap<AccountId, (ObjectId, H)>,
    #[serde(default)]
    feasts: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
struct ShopStock {
    goods: Goods,
}

#[test]
fn a_village_lives_through_a_month_of_sleep_deaths_and_releases() {
    let mut month = Month::begin();
    month.enter(&[ANN, BOB]);
    month.build_and_sell();
    let first = month.chronicle::<usize>();
    let [hut] = first.huts.values().copied().collect::<Vec<_>>()[..] else { panic!("{first:?}") };
    assert_eq!(hut.1, 0, "a plot");
    month.leave(&[ANN, BOB]);
    month.rest_until(6);
    // The cart has come, with this day's coins, and took nothing that is less than ten.
    month.enter(&[ANN]);
    let chronicle = month.chronicle::<usize>();
    assert_eq!(chronicle.shop.goods, Goods { coins: 200, wood: 3, ..Goods::NONE });
    assert_eq!(chronicle.huts.values().next(), Some(&hut));
    month.leave(&[ANN]);
    month.kill_host();
    month.rest_until(8);

    // The first release comes while it sleeps.
    month.release("feasts", Games::new().with::<builds::feasts::Hamlet>());
    month.rest_until(12);
    month.enter(&[BOB]);
    let chronicle = month.chronicle::<usize>();
    assert_eq!((chronicle.feasts, chronicle.shop), (1, first_shop()));
    // The second one under a player, who stays in.
    month.release("wells", Games::new().with::<builds::wells::Hamlet>());
    month.expect_players(&[BOB]);
    assert_eq!(month.chronicle::<usize>().feasts, 1);
    assert_eq!(month.count::<builds::wells::Hamlet, builds::wells::Well>(), 1);
    month.leave(&[BOB]);
    month.rest_until(18);
    month.system.kill_server();
    month.system.run_for(Duration::from_secs(20));
    month.rest_until(20);
    month.release("stages", Games::new().with::<builds::stages::Hamlet>());
    month.enter(&[ANN, BOB]);
    let third = month.chronicle::<String>();
    assert_eq!(third.huts.values().collect::<Vec<_>>(), [&(hut.0, "plot".to_owned())]);
    assert_eq!((third.feasts, third.shop), (2, first_shop()));
    month.leave(&[ANN, BOB]);
    month.rest_until(24);

    // This one cannot read the village: it waits, and no new one is opened in its place.
    month.release("broken", Games::new().with::<builds::broken::Hamlet>());
    assert!(month.system.room(month.village).is_none(), "no host runs it");
    month.ask_for_entry(ANN);
    month.rest_until(26);
    month.expect_waiting("stages");
    month.release("stages", Games::new().with::<builds::stages::Hamlet>());
    month.expect_players(&[ANN]);
    let last = month.chronicle::<String>();
    assert_eq!((&last.huts, last.shop), (&third.huts, third.shop));
    assert_eq!(month.count::<builds::stages::Hamlet, builds::wells::Well>(), 1);
    assert_eq!(month.count::<builds::stages::Hamlet, Tree>(), 8);
    assert_eq!(month.count::<builds::stages::Hamlet, Hut>(), 1);
    month.leave(&[ANN]);
    month.rest_until(30);
    month.expect_purses();
}

fn first_shop() -> ShopStock {
    ShopStock { goods: Goods { coins: 200, wood: 3, ..Goods::NONE } }
}

impl Month {
    fn begin() -> Self {
        let children = ChildPoolConfig { min: 1, max: 1, ..ChildPoolConfig::default() };
        let world = "village game=hamlet capacity=20 maps=1 size=60x60".parse().expect("a world");
        let config = LobbyConfig {
            children,
            ways: AccountWays { token: true, ..AccountWays::default() },
            directory: true,
            keeps_rooms: true,
            worlds: vec![world],
            idle: None,
            ..LobbyConfig::default()
        };
        let registry: Registry = Games::new().with::<ambit_hamlet::Hamlet>().into();
        let mut system = System::with_children(7, &registry, &config);
        system.set_build("shipped");
        system.add_store();
        system.set_calendar(FIRST_DAY_S);
        let purse = serde_json::to_value(PURSE).expect("JSON");
        for (user, name) in [(ANN, "ann"), (BOB, "bob")] {
            system.store().set_profile("hamlet", user as u64 + 1, &purse);
            let sign_in = SignIn::Token((user + 1).to_string());
            let config = ClientConfig { name: name.into(), sign_in, ..ClientConfig::default() };
            system.add_user_with(config, &"delay=30ms".parse().expect("a network"));
        }
        system.run_for(Duration::from_secs(5));
        let village = RoomId(system.lobby().rooms()[0].id);
        Self { system, village, day: 0, began_s: FIRST_DAY_S }
    }

    fn ask_for_entry(&mut self, user: usize) {
        let join = LobbyRequest::JoinRoom { room: self.village, password: String::new() };
        self.system.request(user, join);
    }

    fn enter(&mut self, users: &[usize]) {
        for user in users {
            self.ask_for_entry(*user);
        }
        self.expect_players(users);
    }

    fn expect_players(&mut self, users: &[usize]) {
        self.system.run_until("the players in the village", |system| {
            users.iter().all(|user| system.user(*user).client.avatar().is_some())
        });
        self.system.run_for(Duration::from_secs(2));
    }

    fn leave(&mut self, users: &[usize]) {
        for user in users {
            self.system.request(*user, LobbyRequest::LeaveRoom);
        }
        self.system.run_for(Duration::from_secs(20));
    }

    fn say(&mut self, user: usize, words: &str) {
        let schema = self.system.user(user).client.schema().expect("in the game");
        let words: Vec<&str> = words.split_whitespace().collect();
        let command = command_words::parse(schema, &words).expect("a command");
        self.system.act(user, &command);
        self.system.run_for(Duration::from_secs(1));
    }

    /// Ann marks a plot, bob sells wood.
    fn build_and_sell(&mut self) {
        self.say(BOB, "sell wood 3");
        self.say(ANN, "walk-to 12 47");
        self.system.run_for(Duration::from_secs(10));
        self.say(ANN, "build");
    }

    /// Until this day's noon no tick runs, and no host sends anything of the village.
    fn rest_until(&mut self, day: u64) {
        let asleep = |system: &System, village| {
            (system.room(village).and_then(Room::last_tick), system.host_bytes())
        };
        let before = asleep(&self.system, self.village);
        while self.day < day {
            self.day += 1;
            let noon_s = FIRST_DAY_S + self.day * DAY_S;
            if short_or_long(self.day == CART_DAY, true) {
                let is_s = self.began_s + self.system.now().micros() / 1_000_000;
                self.system.run_for(Duration::from_secs(noon_s - is_s));
            } else {
                self.system.run_for(PART_OF_DAY);
                self.set_calendar(noon_s);
            }
            assert_eq!(asleep(&self.system, self.village), before, "day {}", self.day);
        }
    }

    fn set_calendar(&mut self, unix_s: u64) {
        self.system.set_calendar(unix_s);
        self.began_s = unix_s - self.system.now().micros() / 1_000_000;
    }

    fn kill_host(&mut self) {
        let (host, _) = self.system.running(self.village).expect("it runs");
        self.system.kill_host(host);
        let village = self.village;
        self.system.run_until("the next host", |system| {
            system.running(village).is_some_and(|(next, _)| next != host)
        });
        self.system.run_for(Duration::from_secs(10));
    }

    /// The server is stopped, and started again with another build of the game.
    fn release(&mut self, build: &str, games: Games) {
        self.system.stop_server();
        self.system.set_build(build);
        self.system.set_games(games.into());
        self.system.start_server();
        self.system.run_for(Duration::from_secs(20));
    }

    /// The village waits for a host of this build, and those who want to come in read it.
    fn expect_waiting(&mut self, build: &str) {
        let lobby = self.system.lobby();
        assert_eq!(lobby.waiting_rooms(), [(self.village, build.to_owned())]);
        let rooms: Vec<u64> = lobby.rooms().iter().map(|room| room.id).collect();
        assert_eq!(rooms, [self.village.0], "it is listed, and there is no other one");
        let words = format!("build `{build}`");
        let is_told = |event: &ViewEvent| match event {
            ViewEvent::Lobby(_, LobbyEvent::Error { message, .. }) => message.contains(&words),
            _ => false,
        };
        assert!(self.system.user(ANN).events.iter().any(is_told), "ann reads {words}");
    }

    /// What the saved state of the village has by its names.
    fn chronicle<H: DeserializeOwned>(&self) -> Chronicle<H> {
        let room = self.system.room(self.village).expect("the village runs");
        let state = room.game().save().expect("it can be saved");
        let mut bytes = &state[..];
        let version = saved::take::<u32>(&mut bytes).expect("the version is in front");
        saved::Saved::new(version, bytes).read().expect("it has names")
    }

    /// Objects of a kind in the village.
    fn count<G: ambit::Game, K: KindOf<G>>(&self) -> usize {
        let room = self.system.room(self.village).expect("the village runs");
        let mut found = Vec::<ambit::Id<K>>::new();
        ambit::World::<G>::of_room(room.world()).find_all(&mut found);
        found.len()
    }

    /// What ann and bob have at the end: the plot took two of wood, the shop paid for three.
    fn expect_purses(&mut self) {
        let store = self.system.store();
        let [ann, bob]: [Goods; 2] =
            [1, 2].map(|player| serde_json::from_value(store.profile(player)).expect("a profile"));
        assert_eq!(ann, Goods { wood: 7, ..PURSE });
        assert_eq!((bob.wood, bob.stone), (6, 4));
        assert!((11..=17).contains(&bob.coins), "{bob:?}");
    }
}
