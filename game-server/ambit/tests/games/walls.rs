//! Obstacles that a game puts up and takes away while it runs: they stop who moves, at the server
//! and in the client that draws its avatar ahead, and go with their object.

use std::collections::BTreeMap;

use ambit::prelude::*;
use ambit::statics::{Obstacle, StaticObstacle};
use ambit::test::{Line, TestClient, TestRoom};

const RADIUS_M: f32 = 0.5;
const SPEED_M_PER_S: f32 = 5.0;
const BRICK: ObstacleLook = ObstacleLook::new('#', 0x90_5040);
const LOOKS: &[ObstacleLook] = &[ObstacleLook::new('%', 0x50_5050), BRICK];
/// Of the wall across the way from the west to the east.
const WALL_X: f32 = 60.0;

#[derive(Clone, Copy, Controls)]
enum Key {
    /// Walk to the east.
    #[key("d")]
    East,
}

#[derive(Kind)]
#[kind(steered)]
struct Builder {
    pose: YawPose<256, 8>,
}

impl Steer for Builder {
    type SteeredBy = Key;

    fn steer(it: &mut Movement, held: Held<Key>, terrain: Terrain<'_>, dt: f32) {
        let way = if held.is_down(Key::East) { SPEED_M_PER_S * dt } else { 0.0 };
        let to = Position { x: it.at.x + way, ..it.at };
        it.at.x += terrain.statics.sweep(it.at, to, RADIUS_M);
        it.set_speed(way / dt);
    }
}

#[derive(Kind)]
struct Wall {
    path: Path,
    stands: List<StaticObstacle, 4>,
}

/// What all see, near and far.
#[derive(Kind)]
#[kind(room_wide)]
struct Border {
    posts: List<StaticObstacle, 2>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Builder, Wall, Border), controls = Key)]
struct Walls {
    builders: BTreeMap<PlayerId, Movement>,
}

impl Game for Walls {
    const INFO: GameInfo = GameInfo::new("walls", "Build and dig.");
    const SCENERY: Scenery = Scenery::new().obstacles(LOOKS);
    type Avatar = Builder;
    no_commands!();
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        world.statics_mut().add(Obstacle::on_ground(90.0, 50.0, 1.0, 40.0, 3.0).with_look(BRICK));
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Builder> {
        let at = Position::on_ground(50.0, 50.0);
        self.builders.insert(newcomer.id, Movement::at_rest(at, 0.0));
        world.spawn(Builder { pose: YawPose::at(at) })
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let players: Vec<PlayerId> = world.players().map(Player::id).collect();
        for player in players {
            let Some(avatar) = world.player(player).map(Player::avatar) else { continue };
            let Some(movement) = self.builders.get_mut(&player) else { continue };
            let held = world.held(player);
            world.steer(avatar, movement, held);
        }
    }
}

fn wall(x: f32, half_y: f32) -> Obstacle {
    Obstacle::on_ground(x, 50.0, 1.0, half_y, 3.0).with_look(BRICK)
}

fn build(room: &mut TestRoom<Walls>, x: f32) -> Id<Wall> {
    let stands =
        List::of([wall(x, 4.0).placed(LOOKS), Obstacle::round(x, 56.0, 1.0, 2.0).placed(&[])]);
    let path = Path::at(Position::on_ground(x, 50.0));
    room.edit(|world, _| world.spawn(Wall { path, stands }))
}

/// Where the avatar is for its own client, which draws it ahead, and at the server.
fn places(room: &TestRoom<Walls>, client: TestClient) -> [f32; 2] {
    let player = room.world().player(room.player(client)).expect("it plays");
    let there = room.world().position(player.avatar()).expect("it is there");
    [room.avatar(client).expect("it is in the game").position.x, there.x]
}

fn obstacles(room: &TestRoom<Walls>, client: TestClient) -> usize {
    room.map(client).map_or(0, |map| map.obstacles.len())
}

#[test]
fn a_wall_that_is_built_stops_its_builder_until_it_is_dug_away() {
    let mut room = TestRoom::<Walls>::new();
    let ann = room.join("ann", Line::default().delay(60.millis()).loss(5.0));
    let id = build(&mut room, WALL_X);
    room.run(1.secs());
    assert_eq!(obstacles(&room, ann), 3);
    let seen = room.map(ann).expect("there are obstacles").obstacles[1];
    assert_eq!((seen.look, seen.shape), (Some(1), wall(WALL_X, 4.0).shape));
    room.hold(ann, [Key::East]);
    for _ in 0..60 {
        room.run(50.millis());
        let [drawn, there] = places(&room, ann);
        assert!(drawn.max(there) < WALL_X - 1.0 - RADIUS_M + 0.01, "{drawn}, {there}");
    }
    let [drawn, there] = places(&room, ann);
    assert!(drawn.min(there) > WALL_X - 1.0 - RADIUS_M - 0.1, "{drawn}, {there}");
    // The next host knows the wall from the saved state.
    room.move_to_another_host();
    room.run(1.secs());
    assert!(places(&room, ann)[1] < WALL_X - 1.0 - RADIUS_M + 0.01);
    assert_eq!(obstacles(&room, ann), 3);
    room.edit(|world, _| world.despawn(id));
    room.run(3.secs());
    assert!(places(&room, ann).iter().all(|x| *x > WALL_X + 5.0), "{:?}", places(&room, ann));
    assert_eq!(obstacles(&room, ann), 1);
}

#[test]
fn a_door_opens_when_its_obstacles_are_replaced() {
    let mut room = TestRoom::<Walls>::new();
    let ann = room.join("ann", Line::default());
    let id = build(&mut room, WALL_X);
    room.hold(ann, [Key::East]);
    room.run(3.secs());
    let is_blocked = |room: &TestRoom<Walls>| {
        room.world().statics().is_blocked(Position::on_ground(WALL_X, 50.0), RADIUS_M)
    };
    assert!(is_blocked(&room));
    room.edit(|world, _| {
        world.edit(id).expect("it stands").stands().set([wall(WALL_X + 20.0, 4.0).placed(LOOKS)]);
    });
    assert!(!is_blocked(&room));
    room.run(5.secs());
    let [drawn, there] = places(&room, ann);
    let end = WALL_X + 20.0 - 1.0 - RADIUS_M;
    assert!((drawn - end).abs() < 0.1 && (there - end).abs() < 0.1, "{drawn}, {there}");
}

#[test]
fn a_client_knows_the_obstacles_near_it_and_those_of_the_room() {
    let mut room = TestRoom::<Walls>::new();
    let ann = room.join("ann", Line::default());
    build(&mut room, 500.0);
    build(&mut room, 55.0);
    room.run(1.secs());
    assert_eq!(obstacles(&room, ann), 3);
    let border = room.edit(|world, _| {
        let posts = [300.0, 700.0].map(|x| Obstacle::round(x, 20.0, 1.0, 2.0).placed(&[]));
        world.spawn(Border { posts: List::of(posts) })
    });
    room.run(1.secs());
    assert_eq!(obstacles(&room, ann), 5);
    room.edit(|world, _| world.despawn(border));
    room.run(1.secs());
    assert_eq!(obstacles(&room, ann), 3);
}

#[test]
#[should_panic(expected = "the look of an obstacle")]
fn a_placed_obstacle_has_a_look_of_the_scenery() {
    let _ = wall(WALL_X, 4.0).placed(&LOOKS[..1]);
}
