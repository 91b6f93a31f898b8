//! The game `deus` on several maps: a party fights from map to map while hosts die. A hero who goes
//! on arrives once, as it left.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_client_core::client::request::LobbyRequest;
use ambit_client_core::command_words;
use ambit_lobby::{ChildPoolConfig, LobbyConfig};
use ambit_proto::counts::Counts;
use ambit_proto::ids::{ObjectId, PlayerId, RoomId};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_room::room::Room;
use ambit_tests::short_or_long;
use ambit_tests::sim::System;
use fastrand::Rng;

use crate::script::good_network;

const PLAYERS: usize = 6;
const MAPS: u64 = 3;
const STEP: Duration = Duration::from_millis(50);
/// Steps between two decisions of a hero.
const DECIDE: u32 = 5;
/// Hosts that die nearer to each other make a room suspect.
const STEPS_BETWEEN_DEATHS: u32 = 200;
/// A host dies within this number of steps.
const STEPS_OF_LEAVING: u32 = 12;
const MAX_STEPS: u32 = 15 * 60 * 20;

/// What a party owns, and how often heroes have come to another map.
#[derive(Debug, Default, PartialEq)]
struct Travels {
    arrivals: u64,
    of_dead: u64,
    gold: i64,
    items: i64,
    deaths_of_hosts: u64,
}

#[test]
fn a_party_keeps_all_from_map_to_map_while_hosts_die() {
    let mut all = Travels::default();
    for seed in 1..=short_or_long(12, 100) {
        let one = travel(seed);
        println!("seed {seed}: {one:?}");
        all.arrivals += one.arrivals;
        all.of_dead += one.of_dead;
        all.gold += one.gold;
        all.items += one.items;
        all.deaths_of_hosts += one.deaths_of_hosts;
    }
    println!("{all:?}");
    assert!(all.arrivals > 200 && all.of_dead > 5 && all.deaths_of_hosts > 20, "{all:?}");
    assert!(all.gold > 5_000 && all.items > 100, "{all:?}");
}

/// A game to its end, on the first map.
fn travel(seed: u64) -> Travels {
    let (mut system, world, users) = begin(seed);
    let mut rng = Rng::with_seed(seed);
    let mut travels = Travels::default();
    let mut dies_at = 0;
    // Where each player was seen last, and what it had there when all left.
    let mut seen: BTreeMap<PlayerId, (RoomId, Option<Owned>)> = BTreeMap::new();
    for step in 0..MAX_STEPS {
        system.run_for(STEP);
        let Some(first) = system.room(world) else {
            if system.lobby().rooms().iter().all(|room| room.id != world.0) {
                break;
            }
            continue;
        };
        if phase(first) == "lost" || phase(first) == "won" {
            break;
        }
        let mut leaves = false;
        for user in &users {
            let player = system.user(*user).client.player().expect("welcomed");
            let rooms = (world.0..world.0 + MAPS).map(RoomId);
            let here: Vec<_> = rooms
                .filter(|id| system.room(*id).is_some_and(|it| it.avatar(player).is_some()))
                .collect();
            assert!(here.len() <= 1, "seed {seed}, step {step}: {player} is in {here:?}");
            let Some(id) = here.first().copied() else {
                leaves = true;
                continue;
            };
            let room = system.room(id).expect("it was there");
            let now = phase(room);
            let owned = owned(room, player);
            let last = seen.insert(player, (id, (now == "onward").then(|| owned.clone())));
            if let Some((_, Some(left))) = last.filter(|(last, _)| *last != id) {
                assert_eq!(left, owned, "seed {seed}, step {step}: {player} in phase {now}");
                travels.arrivals += 1;
                travels.of_dead += u64::from(!owned.is_alive);
            }
            leaves |= now == "onward";
            if step % DECIDE == 0 {
                act(&mut system, *user, id);
            }
        }
        if leaves && step > dies_at + STEPS_BETWEEN_DEATHS {
            dies_at = step + rng.u32(..STEPS_OF_LEAVING);
        }
        if step == dies_at {
            let maps = (world.0..world.0 + MAPS).map(RoomId);
            let hosts: Vec<_> = maps.filter_map(|id| Some(system.running(id)?.0)).collect();
            if let Some(host) = rng.choice(hosts) {
                system.kill_host(host);
                travels.deaths_of_hosts += 1;
            }
        }
    }
    let first = system.room(world).expect("the game ends on the first map");
    assert!(["lost", "won"].contains(&phase(first).as_str()), "seed {seed}: {}", phase(first));
    system.run_for(Duration::from_secs(5));
    let first = system.room(world).expect("it takes its time to end");
    for user in &users {
        let player = system.user(*user).client.player().expect("welcomed");
        assert!(first.avatar(player).is_some(), "seed {seed}: {player} sees the end");
        let owned = owned(first, player);
        (travels.gold, travels.items) = (travels.gold + owned.gold, travels.items + owned.items);
    }
    system.run_for(Duration::from_secs(15));
    let maps = (world.0..world.0 + MAPS).filter(|id| system.room(RoomId(*id)).is_some());
    assert_eq!((system.lobby().rooms().len(), maps.count()), (0, 0), "seed {seed}: all is over");
    travels
}

/// A party in the first one of three maps.
fn begin(seed: u64) -> (System, RoomId, Vec<usize>) {
    let children = ChildPoolConfig { min: 3, max: 3, ..ChildPoolConfig::default() };
    let config = LobbyConfig { children, ..LobbyConfig::default() };
    let mut system = System::with_children(seed, &ambit_game_server::standard(), &config);
    let users: Vec<usize> = (0..PLAYERS)
        .map(|number| system.add_user(&format!("hero{number}"), &good_network()))
        .collect();
    system.run_for(Duration::from_secs(5)); // The children have started.
    // A client shows the map before until it has the first datagram of the next one, which the
    // oracles of one room do not know.
    for user in &users {
        system.user_mut(*user).is_checked = false;
    }
    let given = [("maps", "3"), ("size", "60x60"), ("loot", "greed"), ("tick", "20")];
    let world = system.start_room(&users, "deus", &given);
    (system, world, users)
}

/// A player who joins while the party is elsewhere belongs to it in the next wave.
#[test]
fn who_joins_on_the_first_map_is_carried_to_the_party() {
    let (mut system, world, mut users) = begin(1);
    let mut late = None;
    for step in 0..MAX_STEPS {
        system.run_for(STEP);
        let [first, second] = [0, 1].map(|map| RoomId(world.0 + map));
        if late.is_none() && system.room(second).is_some_and(|room| phase(room) == "fight") {
            let user = system.add_user("late", &good_network());
            system.user_mut(user).is_checked = false; // As those of the party.
            system.run_until("the lobby", |system| system.user(user).client.is_connected());
            let join = LobbyRequest::JoinRoom { room: world, password: String::new() };
            system.request(user, join);
            users.push(user);
            late = Some((user, step));
        }
        for user in &users {
            let player = system.user(*user).client.player().expect("welcomed");
            let mut maps = (world.0..world.0 + MAPS).map(RoomId);
            let here =
                maps.find(|id| system.room(*id).is_some_and(|it| it.avatar(player).is_some()));
            if let Some(id) = here.filter(|_| step % DECIDE == 0) {
                act(&mut system, *user, id);
            }
            if let Some((user, since)) = late
                && system.user(user).client.player() == Some(player)
                && here.is_some_and(|id| id != first)
            {
                println!("{} ms", (step - since) * STEP.as_millis() as u32);
                assert!(here == Some(second), "the party is there");
                return;
            }
        }
    }
    panic!("who came late is where nobody is");
}

/// A crude hero in this room does something.
fn act(system: &mut System, user: usize, id: RoomId) {
    let player = system.user(user).client.player().expect("welcomed");
    let room = system.room(id).expect("it is there");
    if let Some(words) = decide(room, player) {
        let words: Vec<&str> = words.split(' ').collect();
        let command = command_words::parse(room.world().schema(), &words).expect("a command");
        system.act(user, &command);
    }
}

/// What a player has, and is.
#[derive(Clone, Debug, PartialEq)]
struct Owned {
    gold: i64,
    items: i64,
    bag: Counts,
    kills: i64,
    class: String,
    is_alive: bool,
    experience: i64,
}

fn owned(room: &Room, player: PlayerId) -> Owned {
    let world = room.world();
    let row = world.room_wide(kind(room, "score"), Some(player)).expect("a row");
    let avatar = room.avatar(player).expect("an avatar");
    let number = |object, name| match component(room, object, name) {
        Component::Number(number) => *number,
        other => panic!("{name} is {other:?}"),
    };
    Owned {
        gold: number(row, "gold"),
        items: number(row, "items"),
        bag: world.counts(row, index(room, row, "bag")).clone(),
        kills: number(row, "kills"),
        class: text(room, row, "class"),
        is_alive: world.flag(row, index(room, row, "alive")),
        experience: number(avatar, "experience"),
    }
}

/// The next words of a crude hero.
fn decide(room: &Room, player: PlayerId) -> Option<String> {
    let world = room.world();
    let avatar = room.avatar(player)?;
    let class = text(room, avatar, "class");
    let at = world.position(avatar);
    match phase(room).as_str() {
        "choose" if class == "newcomer" => {
            let classes = ["warrior", "mage", "archer"];
            Some(format!("choose {}", classes[player.0 as usize % classes.len()]))
        }
        "merchant" => Some("ready".to_owned()),
        "chest" => nearest(room, "chest", at).map(|to| format!("move {} {}", to.x, to.y)),
        "fight" => {
            let to = nearest(room, "monster", at)?;
            let is_near = to.ground_distance(at) < if class == "warrior" { 2.0 } else { 10.0 };
            Some(match class.as_str() {
                "warrior" if is_near => "cast strike".to_owned(),
                "mage" if is_near => format!("cast firebolt {} {}", to.x, to.y),
                "archer" if is_near => format!("cast shot {} {}", to.x, to.y),
                _ => format!("move {} {}", to.x, to.y),
            })
        }
        _ => None,
    }
}

fn nearest(room: &Room, name: &str, at: Position) -> Option<Position> {
    let world = room.world();
    let kind = kind(room, name);
    let all = world.objects().filter(|object| world.kind(*object) == kind);
    let places = all.map(|object| world.position(object));
    places.min_by(|one, other| one.ground_distance(at).total_cmp(&other.ground_distance(at)))
}

/// Of the course.
fn phase(room: &Room) -> String {
    let course = room.world().room_wide(kind(room, "course"), None);
    course.map_or_else(String::new, |course| text(room, course, "phase"))
}

fn kind(room: &Room, name: &str) -> u8 {
    let kinds = &room.world().schema().kinds;
    kinds.iter().position(|kind| kind.name == name).expect("a kind") as u8
}

fn index(room: &Room, object: ObjectId, name: &str) -> u8 {
    let kind = &room.world().schema().kinds[usize::from(room.world().kind(object))];
    let found = kind.components.iter().position(|component| component.name == name);
    found.expect("a component") as u8
}

fn component<'r>(room: &'r Room, object: ObjectId, name: &str) -> &'r Component {
    room.world().component(object, index(room, object, name))
}

fn text(room: &Room, object: ObjectId, name: &str) -> String {
    room.world().text(object, index(room, object, name)).to_owned()
}
