//! Player actions and checks that the scenarios share.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_client_core::client::event::ViewEvent;
use ambit_proto::ids::{ObjectId, RoomId};
use ambit_proto::message::Action;
use ambit_proto::space::Position;
use ambit_tests::sim::System;
use ambit_transport::impair::Impairment;

/// A system with the shipped games.
pub(crate) fn system(seed: u64) -> System {
    System::new(seed, &ambit_game_server::standard())
}

/// A network without faults and 20 ms of delay each way.
pub(crate) fn good_network() -> Impairment {
    "delay=20ms".parse().expect("a valid impairment")
}

/// The network of the load runs.
pub(crate) fn bad_network() -> Impairment {
    "loss=20,delay=60ms,jitter=20ms,reorder=5,duplicate=2"
        .parse()
        .expect("a valid impairment")
}

/// Lets players join one room of a new system.
pub(crate) fn room_of(
    seed: u64,
    players: usize,
    network: &Impairment,
    parameters: &[(&str, &str)],
) -> (System, RoomId) {
    let mut system = system(seed);
    let guests: Vec<usize> = (0..players)
        .map(|number| system.arrive(&format!("player{number}"), network))
        .collect();
    let room = system.gather(&guests, "field", parameters);
    (system, room)
}

/// All players act at random, for this many rounds of a quarter of a second.
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

/// A random action: mostly walking, sometimes a spell.
pub(crate) fn random_action(rng: &mut fastrand::Rng, size: f32) -> Action {
    let position = (rng.f32() * size, rng.f32() * size);
    match rng.u8(0..10) {
        0 => Action::Cast {
            spell: BOLT,
            at: Some(position),
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
            at: Some(position),
        },
        _ => Action::Move {
            x: position.0,
            y: position.1,
        },
    }
}

/// Spells of `field`, by their index in its schema.
pub(crate) const BOLT: u8 = 0;
pub(crate) const HEAL: u8 = 1;
pub(crate) const VEIL: u8 = 2;
pub(crate) const BLINK: u8 = 3;

/// True position of a player's avatar, at the horizon.
pub(crate) fn avatar_position(system: &System, room: RoomId, guest: usize) -> Position {
    let player = system.guest(guest).client.player().expect("welcomed");
    let room = system.room(room).expect("the room runs");
    room.world()
        .position(room.avatar(player).expect("the player has an avatar"))
}

/// Walks a player there and waits until it has arrived.
pub(crate) fn walk_to(system: &mut System, room: RoomId, guest: usize, x: f32, y: f32) {
    system.act(guest, Action::Move { x, y });
    let goal = Position::on_ground(x, y);
    system.run_until("arrival", |system| {
        avatar_position(system, room, guest).ground_distance(goal) < 0.02
    });
}

/// Compares what every client shows with the room: the same objects, at the same positions, at the
/// same room time.
///
/// Objects enter and leave all the time, and a message takes a moment to arrive; so a difference
/// must be there twice, a second apart, to be an error. Positions are compared strictly.
pub(crate) fn compare_pictures(system: &mut System, room: RoomId) {
    let first = differences(system, room);
    system.run_for(Duration::from_secs(1));
    let second = differences(system, room);
    let lasting: Vec<_> = first.intersection(&second).collect();
    assert!(lasting.is_empty(), "{lasting:?}");
}

/// An object that a guest lacks, or shows without following it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Lacks(usize, ObjectId),
    Shows(usize, u32),
}

fn differences(system: &System, room: RoomId) -> BTreeSet<Difference> {
    let truth = system.room(room).expect("the room runs");
    let mut differences = BTreeSet::new();
    let mut compared = 0;
    for viewer in truth.network().viewers() {
        let Some(guest) = system.guest_of(room, viewer.client) else {
            continue;
        };
        let client = &system.guest(guest).client;
        let t = client
            .room_time(system.local(guest))
            .expect("the guest plays");
        let play = client.running_game().expect("the guest plays");
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

/// Checks that the enters and leaves of each object alternate in a client's view events, and that
/// updates come only in between. Returns the numbers of enters and leaves.
pub(crate) fn check_events(system: &System, guest: usize) -> (usize, usize) {
    let mut here = BTreeSet::new();
    let (mut enters, mut leaves) = (0, 0);
    for event in &system.guest(guest).events {
        match event {
            ViewEvent::Enter(enter) => {
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
            ViewEvent::Update(update) => {
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
