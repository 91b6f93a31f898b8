//! Rounds: what is counted, who wins, and that all goes on at another host.

use ambit::test::{Line, Seen, TestClient, TestRoom};

use super::super::schema::{CubeRing, CubeScore, CubesRound, CubesRoundOver};
use super::*;

type PlayedRoom = TestRoom<CubesGame>;

/// Two players, and one small cube in the middle, which stays there unless it is moved.
fn begin() -> (PlayedRoom, TestClient, TestClient) {
    let mut room = PlayedRoom::with(&[("cubes", "1")]);
    let ann = room.join("ann", Line::default());
    let bob = room.join("bob", Line::default());
    room.run(2.secs());
    (room, ann, bob)
}

/// Puts all small cubes into the ring of a player.
fn put_into_ring(room: &mut PlayedRoom, name: &str) {
    room.edit(|world, game: &mut CubesGame| {
        let mut rings: Vec<Id<CubeRing>> = Vec::new();
        world.find_all(&mut rings);
        let is_own = |id: &&Id<CubeRing>| {
            world.get(**id).expect("a ring").name() == format!("Ring of {name}")
        };
        let ring = *rings.iter().find(is_own).expect("each player has a ring");
        let at = world.position(ring).expect("a ring is somewhere");
        let place = Position::new(at.x + 0.5, at.y, 0.3);
        let pose = POSE_FORMAT.moving(place, [0.0, 0.0, 0.0, 1.0], None);
        let cubes = game.physics.bodies().filter(|body| game.physics.kind(*body) == CUBE);
        for body in cubes.collect::<Vec<_>>() {
            game.physics.set_pose(body, &pose);
            world.replace_pose(game.objects[body.slot()], pose);
        }
    });
    room.run(1_500.millis());
}

/// Names and cubes, as a client has them.
fn table(room: &PlayedRoom, client: TestClient) -> Vec<(String, i64)> {
    let read = |row: &Seen| row.get::<CubeScore>().map(|row| (row.name.to_owned(), row.cubes));
    room.room_wide(client).iter().filter_map(read).collect()
}

fn round_of(room: &PlayedRoom, client: TestClient) -> (i64, String) {
    let seen = room.room_wide(client);
    let round = seen.iter().find_map(|seen| seen.get::<CubesRound>()).expect("a round");
    (round.round, round.winner.to_owned())
}

#[test]
fn who_has_most_cubes_in_the_ring_after_90_seconds_wins() {
    let (mut room, ann, bob) = begin();
    assert_eq!(table(&room, bob), [("ann".to_owned(), 0), ("bob".to_owned(), 0)]);
    put_into_ring(&mut room, "bob");
    assert_eq!(table(&room, ann), [("ann".to_owned(), 0), ("bob".to_owned(), 1)]);
    let ends = |room: &PlayedRoom| {
        room.events(ann).iter().filter(|event| event.get::<CubesRoundOver>().is_some()).count()
    };
    room.run(84.secs());
    assert_eq!((ends(&room), round_of(&room, ann)), (0, (1, String::new())));
    room.run(4.secs());
    assert_eq!((ends(&room), round_of(&room, ann)), (1, (1, "bob".to_owned())));
    // Then the rings are elsewhere: the cube lies in none of them.
    room.run(10.secs());
    assert_eq!(round_of(&room, ann), (2, String::new()));
    assert_eq!(table(&room, ann), [("ann".to_owned(), 0), ("bob".to_owned(), 0)]);
}

#[test]
fn nobody_wins_without_cubes_and_the_rounds_go_on_at_another_host() {
    let (mut room, ann, bob) = begin();
    room.run(40.secs());
    room.move_to_another_host();
    room.run(52.secs());
    assert_eq!(round_of(&room, ann), (1, String::new()));
    room.leave(bob);
    room.run(8.secs());
    assert_eq!((round_of(&room, ann).0, table(&room, ann).len()), (2, 1));
}

#[test]
fn with_dice_or_without_seconds_there_are_no_rings() {
    for given in [("drive", "dice"), ("round", "0")] {
        let mut scene = Scene::new(&[("cubes", "20"), given]);
        scene.join(ANN);
        scene.ticks(20);
        assert_eq!(scene.world.len(), 21);
    }
    let mut scene = Scene::new(&[("cubes", "20")]);
    scene.join(ANN);
    // A ring, a row and the round.
    assert_eq!(scene.world.len(), 24);
}
