//! Player actions and checks that several scenarios use.

use std::collections::BTreeSet;
use std::time::Duration;

use ambit_client_core::client::event::{GameEvent, ViewEvent};
use ambit_field::commands;
use ambit_proto::ids::{ClientObjectId, ObjectId, RoomId};
use ambit_proto::message::GameCommand;
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
    "loss=20,delay=60ms,jitter=20ms,reorder=5,duplicate=2".parse().expect("a valid impairment")
}

/// The smallest zones that `field` allows: on the small maps of these tests, much is out of sight.
const SMALL_ZONES: [(&str, &str); 2] = [("inner", "1"), ("outer", "2")];

/// Lets players join one room of a new system, with small zones unless others are given.
pub(crate) fn room_of(
    seed: u64,
    players: usize,
    network: &Impairment,
    parameters: &[(&str, &str)],
) -> (System, RoomId) {
    let mut system = system(seed);
    let users: Vec<usize> =
        (0..players).map(|number| system.add_user(&format!("player{number}"), network)).collect();
    let parameters = [&SMALL_ZONES, parameters].concat();
    let room = system.start_room(&users, "field", &parameters);
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
        for user in 0..players {
            if rng.u8(..) < 90 {
                let action = random_action(rng, size);
                system.act(user, &action);
            }
        }
        system.run_for(Duration::from_millis(250));
    }
}

/// A random action: mostly walking, sometimes a spell.
pub(crate) fn random_action(rng: &mut fastrand::Rng, size: f32) -> GameCommand<ClientObjectId> {
    let position = (rng.f32() * size, rng.f32() * size);
    match rng.u8(0..10) {
        0 => commands::cast(BOLT, Some(position)),
        1 => commands::cast(HEAL, None),
        2 => commands::cast(VEIL, None),
        3 => commands::cast(BLINK, Some(position)),
        _ => commands::walk(position.0, position.1),
    }
}

/// Spells of `field`, by their index in its schema.
pub(crate) const BOLT: u8 = 0;
pub(crate) const HEAL: u8 = 1;
pub(crate) const VEIL: u8 = 2;
pub(crate) const BLINK: u8 = 3;

/// True position of a player's avatar, at the horizon.
pub(crate) fn avatar_position(system: &System, room: RoomId, user: usize) -> Position {
    let player = system.user(user).client.player().expect("welcomed");
    let room = system.room(room).expect("the room runs");
    room.world().position(room.avatar(player).expect("the player has an avatar"))
}

/// Walks a player there and waits until it has arrived.
pub(crate) fn walk_to(system: &mut System, room: RoomId, user: usize, x: f32, y: f32) {
    system.act(user, &commands::walk(x, y));
    let goal = Position::on_ground(x, y);
    system.run_until("arrival", |system| {
        avatar_position(system, room, user).ground_distance(goal) < 0.02
    });
}

/// Checks that every client shows the objects that it follows, at their positions in the room at
/// the same room time.
///
/// Objects enter and leave all the time, and messages take time to arrive. So an object that is
/// missing or superfluous is an error only if it still is a second later. Positions are compared
/// strictly.
pub(crate) fn compare_shown_objects(system: &mut System, room: RoomId) {
    let first = differences(system, room);
    system.run_for(Duration::from_secs(1));
    let second = differences(system, room);
    let lasting: Vec<_> = first.intersection(&second).collect();
    assert!(lasting.is_empty(), "{lasting:?}");
}

/// An object that a user does not show, or shows without following it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Missing(usize, ObjectId),
    Superfluous(usize, ClientObjectId),
}

fn differences(system: &System, room: RoomId) -> BTreeSet<Difference> {
    let truth = system.room(room).expect("the room runs");
    let mut differences = BTreeSet::new();
    let mut compared = 0;
    for viewer in truth.network().viewers() {
        let Some(user) = system.user_of(room, viewer.client) else {
            continue;
        };
        let client = &system.user(user).client;
        let t = client.room_time(system.local_time(user)).expect("the user is in the room");
        let play = client.running_game().expect("the user is in the room");
        let placed = client.objects().filter(|object| !object.is_room_wide());
        let mut shown: BTreeSet<ClientObjectId> = placed.map(|object| object.id).collect();
        for object in truth.network().interest().followed(viewer.client) {
            let id = viewer.slots.alias(object).and_then(|alias| play.replica().resolve(alias));
            let Some(seen) = id.filter(|id| shown.remove(id)).and_then(|id| client.object(id))
            else {
                differences.insert(Difference::Missing(user, object));
                continue;
            };
            let (drawn, actual) =
                (seen.position(t).expect("a position"), truth.world().position_at(object, t));
            let apart = drawn.distance(actual);
            assert!(
                apart < 0.02,
                "user {user}, {} {}: drawn at {drawn:?}, is at {actual:?}",
                seen.kind(),
                seen.id
            );
            compared += 1;
        }
        differences.extend(shown.into_iter().map(|id| Difference::Superfluous(user, id)));
    }
    assert!(compared > 0, "nothing was compared");
    differences
}

/// Checks that the enters and leaves of each object alternate in a client's view events, and that
/// updates come only in between. Returns the numbers of enters and leaves.
pub(crate) fn check_events(system: &System, user: usize) -> (usize, usize) {
    let mut here = BTreeSet::new();
    let mut enters = 0;
    let mut leaves = 0;
    for event in &system.user(user).events {
        match event {
            ViewEvent::Game(GameEvent::Enter(enter)) => {
                assert!(here.insert(enter.id), "user {user}: {} entered twice", enter.id);
                enters += 1;
            }
            ViewEvent::Game(GameEvent::Leave { id, .. }) => {
                assert!(here.remove(id), "user {user}: {id} left without having entered");
                leaves += 1;
            }
            ViewEvent::Game(GameEvent::Update(update)) => {
                assert!(
                    here.contains(&update.id),
                    "user {user}: {} changed before it entered",
                    update.id
                );
            }
            _ => {}
        }
    }
    (enters, leaves)
}
