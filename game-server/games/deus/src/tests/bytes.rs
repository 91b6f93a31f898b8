//! What a client is sent in a fight of many.

use ambit::prelude::*;
use ambit::test::{Line, TestClient};

use super::{Room, phase};
use crate::course::Phase;
use crate::{Deus, DeusWorld};

/// The most that a client is sent, in bytes a second.
const MOST_BYTES_PER_S: usize = 1_500;
const HEROES: usize = 40;
/// Who fights, with what, and how far away.
const CLASSES: [(&str, &str, f32); 4] = [
    ("warrior", "strike", 2.0),
    ("mage", "firebolt", 12.0),
    ("archer", "shot", 12.0),
    ("healer", "smite", 12.0),
];

/// The first wave in one hall: each hero walks to the nearest monster and strikes, every 750 ms.
#[test]
fn a_fight_of_forty_heroes_keeps_to_1500_bytes_a_second_and_client() {
    let mut room = Room::with(&[("size", "60x60")]);
    let line = Line::default().delay(50.millis()).jitter(10.millis());
    let heroes = (0..HEROES).map(|index| (room.join(&format!("hero{index}"), line), index % 4));
    let heroes: Vec<_> = heroes.collect();
    for (client, class) in &heroes {
        room.command(*client, &format!("choose {}", CLASSES[*class].0));
    }
    while phase(&room) != Phase::Fight {
        room.run(100.millis());
    }
    let begins = room.world().now();
    let mut ticks = 0;
    let mut most = 0;
    while phase(&room) == Phase::Fight && ticks < 20 * 60 {
        for (number, (client, class)) in heroes.iter().enumerate() {
            if (ticks + number) % 15 == 0
                && let Some(words) = decide(&mut room, *client, *class)
            {
                room.command(*client, &words);
            }
        }
        room.run(50.millis());
        ticks += 1;
        most = most.max(room.edit(|_: &mut DeusWorld, game: &mut Deus| game.monsters.len()));
    }
    let sent = heroes.iter().flat_map(|(client, _)| room.datagrams(*client));
    let sent = sent.filter(|(time, _)| *time >= begins).map(|(_, datagram)| datagram.len());
    let mean = sent.sum::<usize>() * 20 / HEROES / ticks;
    println!("{mean} bytes a second and client, {ticks} ticks, {most} monsters at once");
    assert!(mean <= MOST_BYTES_PER_S && most >= 40, "{mean} B/s, {most} monsters");
}

/// What a hero does about the nearest monster.
fn decide(room: &mut Room, client: TestClient, class: usize) -> Option<String> {
    let player = room.player(client);
    let (own, place) = room.edit(|world: &mut DeusWorld, game: &mut Deus| {
        let own = world.position(world.player(player)?.avatar())?;
        let places = game.monsters.keys().filter_map(|id| world.position(*id));
        let near = |one: &Position, other: &Position| {
            own.ground_distance(*one).total_cmp(&own.ground_distance(*other))
        };
        Some((own, places.min_by(near)?))
    })?;
    let (_, spell, reach_m) = CLASSES[class];
    let verb = if own.ground_distance(place) > reach_m { "move" } else { "cast" };
    let spell = if verb == "cast" { format!("{spell} ") } else { String::new() };
    Some(format!("{verb} {spell}{:.1} {:.1}", place.x, place.y))
}
