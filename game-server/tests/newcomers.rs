//! On each map that a game accepts, a newcomer can move. What is too tight is refused by name.
//!
//! Each shipped game is made with small, narrow and crowded maps, and with several seeds. A player
//! joins and tries each direction in turn; in one of them it has to come 3 m away from where it
//! began.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::test::{Line, TestClient, TestRoom};
use ambit_cubes::{CubesControl, CubesGame};
use ambit_deus::Deus;
use ambit_field::FieldGame;
use ambit_room::config::BadParameter;
use ambit_room::logic::registry::{OpenRoomError, Registry};
use ambit_shooter::{ShipControl, Shooter};

const SIZES: [&str; 11] = [
    "10x10", "20x20", "30x30", "40x40", "50x50", "60x60", "100x100", "150x150", "10x200", "400x40",
    "41x1000",
];
const SEEDS: [&str; 3] = ["1", "2", "3"];
const WAYS: usize = 8;
const FAR_M: f32 = 3.0;

/// Makes rooms of a game with each size and each of these parameters. `tries` lets a player go in
/// one of the directions for some time. Returns how many rooms were made, and how many refused.
fn check<G: Game>(
    crowds: &[&[(&str, &str)]],
    refused_for: &[&str],
    tries: impl Fn(&mut TestRoom<G>, TestClient, usize),
) -> (usize, usize) {
    let registry = Registry::from(Games::new().with::<G>());
    let mut made = 0;
    let mut refused = 0;
    for size in SIZES {
        for crowd in crowds {
            let given = [&[("size", size)][..], crowd].concat();
            let owned = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
            let owned: BTreeMap<String, String> = owned.collect();
            match registry.check(G::INFO.name, &owned) {
                Ok(()) => made += 1,
                Err(error) => {
                    refused += 1;
                    let text = error.to_string();
                    let is_named = refused_for.iter().any(|key| text.starts_with(key));
                    assert!(is_named, "{given:?}: {text}");
                    continue;
                }
            }
            for seed in SEEDS {
                let given = [&given[..], &[("seed", seed)]].concat();
                assert_moves(&given, &tries);
            }
        }
    }
    (made, refused)
}

fn assert_moves<G: Game>(
    given: &[(&str, &str)],
    tries: &impl Fn(&mut TestRoom<G>, TestClient, usize),
) {
    let mut room = TestRoom::<G>::with(given);
    let client = room.join("ann", Line::default());
    room.run(1.secs());
    let player = room.player(client);
    let mut farthest = 0.0_f32;
    let place = |room: &TestRoom<G>| {
        let world = room.world();
        let avatar = world.player(player).expect("she is in the room").avatar();
        world.position(avatar).expect("an avatar is somewhere")
    };
    let began = place(&room);
    for way in 0..WAYS {
        tries(&mut room, client, way);
        farthest = farthest.max(place(&room).ground_distance(began));
        if farthest >= FAR_M {
            return;
        }
    }
    panic!("{} with {given:?}: she comes {farthest} m far from {began:?}", G::INFO.name);
}

/// Orders the avatar to a point that is 6 m away, on the map.
fn walk<G: Game>(room: &mut TestRoom<G>, client: TestClient, way: usize) {
    let Some(at) = room.avatar(client).map(|avatar| avatar.position) else { return };
    let angle = std::f32::consts::TAU * way as f32 / WAYS as f32;
    let (sin, cos) = angle.sin_cos();
    let to = Position::on_ground(at.x + 6.0 * cos, at.y + 6.0 * sin);
    let to = room.world().nearest_on_map(to);
    room.command(client, &format!("move {} {}", to.x, to.y));
    room.run(2.secs());
}

#[test]
fn a_newcomer_of_shooter_can_fly() {
    let crowds: [&[(&str, &str)]; 5] = [
        &[("ships", "0")],
        &[("ships", "20")],
        &[("ships", "0"), ("asteroids", "100")],
        &[("ships", "0"), ("asteroids", "25")],
        &[("ships", "0"), ("asteroids", "4")],
    ];
    let numbers = check::<Shooter>(&crowds, &["size", "asteroids"], |room, client, way| {
        if way > 0 {
            room.hold(client, [ShipControl::TurnLeft]);
            room.run(400.millis());
        }
        room.hold(client, [ShipControl::Accelerate]);
        room.run(900.millis());
        room.hold(client, [ShipControl::Brake]);
        room.run(500.millis());
    });
    // 7 sizes are large enough, 4 of them for 25 asteroids and one for 100.
    assert_eq!(numbers, (26, 29));
}

#[test]
fn a_newcomer_of_field_can_walk() {
    let crowds: [&[(&str, &str)]; 4] = [
        &[("npcs", "0")],
        &[("npcs", "50")],
        &[("npcs", "0"), ("obstacles", "12")],
        &[("npcs", "0"), ("obstacles", "200")],
    ];
    let (made, refused) = check::<FieldGame>(&crowds, &["obstacles"], walk);
    assert!(made >= 35, "{made} and {refused}");
}

#[test]
fn a_newcomer_of_cubes_can_roll() {
    use CubesControl::{Down, Left, Right, Up};
    let crowds: [&[(&str, &str)]; 3] =
        [&[("cubes", "0")], &[("cubes", "400")], &[("cubes", "81"), ("spacing", "1.1")]];
    let (made, refused) = check::<CubesGame>(&crowds, &["size", "cubes"], |room, client, way| {
        room.hold(client, [[Left, Up, Right, Down][way % 4]]);
        room.run(2.secs());
    });
    assert!(made >= 22, "{made} and {refused}");
}

#[test]
fn a_newcomer_of_deus_can_walk() {
    let (made, refused) = check::<Deus>(&[&[]], &["size"], |room, client, way| {
        if way == 0 {
            room.command(client, "choose warrior");
            room.run(1.secs());
        }
        walk(room, client, way);
    });
    assert!(made >= 1, "{made} and {refused}");
}

#[test]
fn what_is_too_tight_is_refused_by_name() {
    let refusal = |given: &[(&str, &str)]| {
        let registry = Registry::from(Games::new().with::<Shooter>());
        let given = given.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        registry.check(Shooter::INFO.name, &given).err()
    };
    for (given, key) in [
        (&[("size", "10x10")][..], "size"),
        (&[("size", "39x1000")], "size"),
        (&[("size", "100x100"), ("asteroids", "100")], "asteroids"),
        (&[("size", "40x40"), ("asteroids", "5")], "asteroids"),
    ] {
        let error = refusal(given);
        let Some(OpenRoomError::BadParameter(
            BadParameter::Conflict { key: named, .. } | BadParameter::Value { key: named, .. },
        )) = error
        else {
            panic!("{given:?}: {error:?}");
        };
        assert_eq!(named, key, "{given:?}");
    }
    assert_eq!(refusal(&[("size", "40x40"), ("asteroids", "4")]), None);
    assert_eq!(refusal(&[("size", "40x40")]), None, "the default is for larger maps");
    assert_eq!(refusal(&[("asteroids", "100")]), None);
}
