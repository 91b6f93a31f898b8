//! What players do in these scenarios.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_client_core::client::event::ViewEvent;
use ambit_game_server::logic::registry::Registry;
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::impair::Impairment;
use ambit_proto::message::Action;
use ambit_proto::space::Position;
use ambit_tests::sim::System;

/// A system with the shipped games.
pub(crate) fn system(seed: u64) -> System {
    System::new(seed, &Registry::standard())
}

/// A line without faults but 20 ms of delay each way.
pub(crate) fn good_network() -> Impairment {
    "delay=20ms".parse().expect("a valid line")
}

/// What the load runs use.
pub(crate) fn bad_network() -> Impairment {
    "loss=20,delay=60ms,jitter=20ms,reorder=5,duplicate=2"
        .parse()
        .expect("a valid line")
}

/// A number of players of a fresh system in one room.
pub(crate) fn room_of(
    seed: u64,
    players: usize,
    line: &Impairment,
    parameters: &[(&str, &str)],
) -> (System, RoomId) {
    let mut system = system(seed);
    let guests: Vec<usize> = (0..players)
        .map(|number| system.arrive(&format!("player{number}"), line))
        .collect();
    let room = system.gather(&guests, "field", parameters);
    (system, room)
}

/// Everybody does something at random, for so many rounds of a quarter of a second.
pub(crate) fn act_randomly(
    system: &mut System,
    rng: &mut fastrand::Rng,
    players: usize,
    size: f32,
    rounds: usize,
) {
    for _ in 0..rounds {
        for guest in 0..players {
            if rng.u8(..) < 90 {
                let action = random_action(rng, size);
                system.act(guest, action);
            }
        }
        system.run_for(Duration::from_millis(250));
    }
}

/// A random action: mostly walking, here and there a spell.
pub(crate) fn random_action(rng: &mut fastrand::Rng, size: f32) -> Action {
    let place = (rng.f32() * size, rng.f32() * size);
    match rng.u8(0..10) {
        0 => Action::Cast {
            spell: BOLT,
            at: Some(place),
        },
        1 => Action::Cast {
            spell: HEAL,
            at: None,
        },
        2 => Action::Cast {
            spell: VEIL,
            at: None,
        },
        3 => Action::Cast {
            spell: BLINK,
            at: Some(place),
        },
        _ => Action::Move {
            x: place.0,
            y: place.1,
        },
    }
}

/// SpellIds of `field`, by their place in its schema.
pub(crate) const BOLT: u8 = 0;
/// See [`BOLT`].
pub(crate) const HEAL: u8 = 1;
/// See [`BOLT`].
pub(crate) const VEIL: u8 = 2;
/// See [`BOLT`].
pub(crate) const BLINK: u8 = 3;

/// Where a player's avatar really is, at the horizon.
pub(crate) fn avatar_position(system: &System, room: RoomId, guest: usize) -> Position {
    let player = system.guest(guest).client.player().expect("welcomed");
    let room = system.room(room).expect("it runs");
    room.world()
        .position(room.avatar(player).expect("it has an avatar"))
}

/// Walks a player there and waits until it has arrived.
pub(crate) fn walk_to(system: &mut System, room: RoomId, guest: usize, x: f32, y: f32) {
    system.act(guest, Action::Move { x, y });
    let goal = Position::on_ground(x, y);
    system.run_until("arrival", |system| {
        avatar_position(system, room, guest).ground_distance(goal) < 0.02
    });
}

/// Compares every client's picture with the truth: the same objects, at the same places, at the
/// same room time.
///
/// Objects come and go all the time, and news of that is under way for a moment; so what is wrong
/// must be wrong twice, a second apart. Places are compared strictly.
pub(crate) fn compare_pictures(system: &mut System, room: RoomId) {
    let first = differences(system, room);
    system.run_for(Duration::from_secs(1));
    let second = differences(system, room);
    let lasting: Vec<_> = first.intersection(&second).collect();
    assert!(lasting.is_empty(), "{lasting:?}");
}

/// What a guest's picture lacks, or has too much.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Lacks(usize, ObjectId),
    Shows(usize, u32),
}

fn differences(system: &System, room: RoomId) -> BTreeSet<Difference> {
    let truth = system.room(room).expect("it runs");
    let mut differences = BTreeSet::new();
    let mut compared = 0;
    for viewer in truth.network().viewers() {
        let Some(guest) = system.guest_of(room, viewer.client) else {
            continue;
        };
        let client = &system.guest(guest).client;
        let t = client.room_time(system.local(guest)).expect("it plays");
        let play = client.running_game().expect("it plays");
        let mut shown: BTreeSet<u32> = client.objects().map(|object| object.id).collect();
        for object in truth.network().interest().followed(viewer.client) {
            let id = viewer
                .slots
                .alias(object)
                .and_then(|alias| play.replica().resolve(alias));
            let Some(seen) = id
                .filter(|id| shown.remove(id))
                .and_then(|id| client.object(id))
            else {
                differences.insert(Difference::Lacks(guest, object));
                continue;
            };
            let (drawn, actual) = (
                seen.position(t).expect("a position"),
                truth.world().position_at(object, t),
            );
            let apart = drawn.distance(actual);
            assert!(
                apart < 0.02,
                "guest {guest}, {} {}: drawn at {drawn:?}, is at {actual:?}",
                seen.kind(),
                seen.id
            );
            compared += 1;
        }
        differences.extend(shown.into_iter().map(|id| Difference::Shows(guest, id)));
    }
    assert!(compared > 0, "nothing was compared");
    differences
}

/// Enters and leaves that a client's views were told alternate for each object, and nothing comes
/// outside.
pub(crate) fn check_events(system: &System, guest: usize) -> (usize, usize) {
    let mut here = BTreeSet::new();
    let (mut enters, mut leaves) = (0, 0);
    for event in &system.guest(guest).events {
        match event {
            ViewEvent::ObjectEntered(enter) => {
                assert!(
                    here.insert(enter.id),
                    "guest {guest}: {} entered twice",
                    enter.id
                );
                enters += 1;
            }
            ViewEvent::Leave { id, .. } => {
                assert!(
                    here.remove(id),
                    "guest {guest}: {id} left without having entered"
                );
                leaves += 1;
            }
            ViewEvent::ObjectUpdated(update) => {
                assert!(
                    here.contains(&update.id),
                    "guest {guest}: {} changed before it entered",
                    update.id
                );
            }
            _ => {}
        }
    }
    (enters, leaves)
}
