//! A game with sight by distance, heading and walls, and with sounds: who learns what of whom.
//!
//! Non-interference: runs that differ only in what one player does not see are the same for that
//! player, byte by byte and tick by tick.

use ambit::Typed;
use ambit::message::FieldValue;
use ambit::prelude::*;
use ambit::statics::Obstacle;
use ambit::test::{Line, TestClient, TestRoom};

const SIGHT: Cone = Cone::new(200.0, 90.0).margins(5.0, 10.0).blocked_by_walls(1.5);
/// How far a shot is heard.
const EARSHOT_M: f32 = 300.0;

#[derive(Kind)]
#[interest(inner = 21, outer = 22)]
struct Ship {
    pose: YawPose,
    shots: Number<0, 1000>,
}

#[derive(Kind)]
#[interest(inner = 21, outer = 22)]
struct Buoy {
    path: Path,
}

#[derive(Event)]
struct Shot {
    ship: Id<Ship>,
    from: Position,
}

/// Seen, but not heard.
#[derive(Event)]
struct Signal {
    ship: Id<Ship>,
}

#[derive(Sound)]
struct Bang;

#[derive(Command)]
enum Order {
    Go { to: Position },
    Face { degrees: Number<0, 359> },
    Drop,
    Signal,
    Shoot,
}

/// Ships at sea, with an island. The third player's ship goes round and round.
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship, Buoy), events(Shot, Signal), sounds(Bang))]
struct Sea;

impl Game for Sea {
    const INFO: GameInfo = GameInfo::new("sea", "Sail.");
    type Avatar = Ship;
    type Command = Order;
    type Refusal = NoRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        world.statics_mut().add(Obstacle::on_ground(500.0, 550.0, 40.0, 2.0, 5.0));
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Ship> {
        let (x, y) = match newcomer.name {
            "ann" => (500.0, 500.0),
            "dora" => (500.0, 300.0),
            _ => (100.0, 100.0),
        };
        let pose = YawPose::at(Position::on_ground(x, y)).facing(radians(90));
        world.spawn(Ship { pose, shots: 0.into() })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        order: Order,
    ) -> Result<(), NoRefusal> {
        let ship = player.avatar();
        let (at, yaw) = {
            let mut ship = world.avatar(player);
            (ship.position(), ship.pose().get().yaw())
        };
        match order {
            Order::Go { to } => world.avatar(player).pose().set(to, yaw, 0.0),
            Order::Face { degrees } => {
                world.avatar(player).pose().set(at, radians(degrees.get()), 0.0);
            }
            Order::Drop => drop(world.spawn(Buoy { path: Path::at(at) })),
            Order::Signal => drop(world.emit(Signal { ship })),
            Order::Shoot => {
                world.avatar(player).shots().add(1);
                world.emit(Shot { ship, from: at }).heard::<Bang>(EARSHOT_M);
            }
        }
        Ok(())
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let angle = world.now().millis() as f32 / 1_000.0;
        let carl = world.players().find(|player| player.name() == "carl").map(Player::avatar);
        if let Some(mut carl) = carl.and_then(|carl| world.edit(carl)) {
            let (sin, cos) = angle.sin_cos();
            let at = Position::on_ground(420.0 + 10.0 * cos, 540.0 + 10.0 * sin);
            carl.pose().set(at, angle, 10.0);
        }
    }

    fn sees(&self, world: &World<Self>, viewer: Id<Ship>, object: ObjectId, sight: Sight) -> bool {
        SIGHT.sees(world, viewer, object, sight)
    }

    fn sight_checks(&self) -> SightChecks {
        SightChecks::ON_DEMAND.every_ticks(4).on_turn(3.0)
    }
}

fn radians(degrees: i64) -> f32 {
    (degrees as f32).to_radians()
}

/// Where bob is not seen by ann, who is at (500, 500) and faces north.
const BEHIND: (f32, f32) = (500.0, 400.0);
const BEHIND_THE_WALL: (f32, f32) = (500.0, 600.0);
const TOO_FAR: (f32, f32) = (500.0, 730.0);
const IN_FRONT: (f32, f32) = (350.0, 580.0);

/// What a player does in a quarter of a second, by its number; the same at each run.
type Secret = fn(&mut TestRoom<Sea>, TestClient, u32);

/// A sea with five ships: ann watches, carl moves in front of her, dora watches bob from behind.
struct SeaScene {
    room: TestRoom<Sea>,
    ann: TestClient,
    bob: TestClient,
    dora: TestClient,
    eve: TestClient,
}

impl SeaScene {
    fn new() -> Self {
        let mut room = TestRoom::<Sea>::with(&[("size", "1000x1000")]);
        let line = Line::default().delay(20.millis()).jitter(10.millis()).loss(5.0);
        let ann = room.join("ann", line);
        let [bob, carl, dora, eve] =
            ["bob", "carl", "dora", "eve"].map(|name| room.join(name, Line::default()));
        room.run(2.secs());
        assert!(sees(&room, ann, carl) && !sees(&room, ann, bob) && !sees(&room, ann, dora));
        Self { room, ann, bob, dora, eve }
    }

    fn go(&mut self, who: TestClient, (x, y): (f32, f32)) {
        self.room.command(who, &format!("go {x} {y}"));
    }

    /// The events that the client received, in order: their names and fields.
    fn heard(&self, who: TestClient) -> Vec<String> {
        let events = self.room.events(who).iter().map(|event| {
            let fields = event.fields.iter().map(|field| match (&field.choice, &field.value) {
                (Some(choice), _) => format!("{} {choice}", field.name),
                (None, FieldValue::Number(number)) => format!("{} {number}", field.name),
                (None, other) => format!("{} {other:?}", field.name),
            });
            format!("{}: {}", event.name, fields.collect::<Vec<_>>().join(", "))
        });
        events.collect()
    }
}

/// Whether a client sees another one's ship.
fn sees(room: &TestRoom<Sea>, viewer: TestClient, other: TestClient) -> bool {
    let ship = room.world().player(room.player(other)).map(Player::avatar);
    let at = ship.and_then(|ship| room.world().position(ship)).expect("the ship is at sea");
    room.sees(viewer).iter().any(|seen| seen.position.distance(at) < 20.0)
}

/// What ann is sent in ten seconds in which bob does something at a place.
fn datagrams_to_ann(place: (f32, f32), secret: Secret) -> Vec<impl PartialEq + std::fmt::Debug> {
    let mut scene = SeaScene::new();
    scene.go(scene.bob, place);
    scene.room.run(1.secs());
    for quarter in 0..40 {
        secret(&mut scene.room, scene.bob, quarter);
        scene.room.run(250.millis());
    }
    assert_eq!(scene.heard(scene.ann), Vec::<String>::new());
    scene.room.datagrams(scene.ann).to_vec()
}

const SECRETS: [(&str, Secret); 6] = [
    ("lies still", |_, _, _| {}),
    ("sails", |room, bob, quarter| {
        let at = room.world().position(room.world().player(room.player(bob)).unwrap().avatar());
        let (x, y) = [(1.0, 2.0), (-2.0, 1.0), (3.0, -1.0), (-1.0, -1.0)][quarter as usize % 4];
        let at = at.expect("the ship is at sea");
        room.command(bob, &format!("go {} {}", at.x + x, at.y + y));
    }),
    ("turns", |room, bob, quarter| room.command(bob, &format!("face {}", quarter * 7))),
    ("drops buoys", |room, bob, _| room.command(bob, "drop")),
    ("signals", |room, bob, _| room.command(bob, "signal")),
    ("leaves", |room, bob, quarter| {
        if quarter == 5 {
            room.leave(bob);
        }
    }),
];

fn nothing_shows(place: (f32, f32)) {
    let quiet = datagrams_to_ann(place, SECRETS[0].1);
    assert!(quiet.len() > 200, "only {} datagrams", quiet.len());
    for (what, secret) in &SECRETS[1..] {
        let datagrams = datagrams_to_ann(place, *secret);
        let differs = datagrams.iter().zip(&quiet).position(|(one, other)| one != other);
        assert_eq!(differs, None, "bob {what} at {place:?}");
        assert_eq!(datagrams.len(), quiet.len(), "bob {what} at {place:?}");
    }
}

#[test]
fn nothing_behind_one_s_back_changes_a_byte() {
    nothing_shows(BEHIND);
}

#[test]
fn nothing_behind_a_wall_changes_a_byte() {
    nothing_shows(BEHIND_THE_WALL);
}

#[test]
fn nothing_beyond_the_range_changes_a_byte() {
    nothing_shows(TOO_FAR);
}

#[test]
fn what_is_in_front_is_seen() {
    let mut scene = SeaScene::new();
    scene.go(scene.bob, IN_FRONT);
    scene.room.run(1.secs());
    assert!(sees(&scene.room, scene.ann, scene.bob));
    scene.room.command(scene.bob, "shoot");
    scene.room.run(1.secs());
    // A player who sees the ship gets the event, and no sound.
    let [shot] = &scene.heard(scene.ann)[..] else { panic!("{:?}", scene.heard(scene.ann)) };
    assert!(shot.starts_with("shot: ship Object("), "{shot}");
    for place in [BEHIND, BEHIND_THE_WALL, TOO_FAR] {
        scene.go(scene.bob, place);
        scene.room.run(1.secs());
        assert!(!sees(&scene.room, scene.ann, scene.bob), "{place:?}");
    }
}

/// What ann hears, and is sent, when bob shoots at two places.
fn shots_from(places: [(f32, f32); 2]) -> (Vec<String>, Vec<impl PartialEq + std::fmt::Debug>) {
    let mut scene = SeaScene::new();
    for place in places {
        scene.go(scene.bob, place);
        scene.room.run(1.secs());
        scene.room.command(scene.bob, "shoot");
        scene.room.run(1.secs());
    }
    let own = scene.heard(scene.bob);
    assert!(own.len() == 2 && own.iter().all(|event| event.starts_with("shot: ")), "{own:?}");
    (scene.heard(scene.ann), scene.room.datagrams(scene.ann).to_vec())
}

#[test]
fn a_sound_tells_its_direction_and_loudness_and_nothing_else() {
    let (heard, datagrams) = shots_from([BEHIND, BEHIND_THE_WALL]);
    let expected = ["bang: direction south, loudness 3", "bang: direction north, loudness 3"];
    assert_eq!(heard, expected);
    // Other places in the same directions, as far away by the same step.
    let (also_heard, also_sent) = shots_from([(510.0, 360.0), (495.0, 640.0)]);
    assert_eq!(also_heard, expected);
    assert_eq!(also_sent, datagrams);
    // Beyond earshot.
    let (heard, datagrams) = shots_from([(500.0, 810.0), (500.0, 150.0)]);
    assert_eq!(heard, Vec::<String>::new());
    let (_, quiet) = shots_from([(100.0, 100.0), (900.0, 900.0)]);
    assert_eq!(datagrams, quiet);
}

#[test]
fn who_sees_the_shooter_gets_the_event_and_who_does_not_the_sound() {
    let mut scene = SeaScene::new();
    scene.go(scene.bob, BEHIND);
    scene.room.run(1.secs());
    assert!(sees(&scene.room, scene.dora, scene.bob));
    scene.room.command(scene.bob, "shoot");
    scene.room.run(1.secs());
    let seen = scene.heard(scene.dora);
    assert!(seen.len() == 1 && seen[0].starts_with("shot: "), "{seen:?}");
    assert_eq!(scene.heard(scene.ann), ["bang: direction south, loudness 3"]);
    assert_eq!(scene.heard(scene.eve), Vec::<String>::new());
}

#[test]
fn the_order_of_two_sounds_does_not_say_whose_they_are() {
    let run = |bob: (f32, f32), eve: (f32, f32)| {
        let mut scene = SeaScene::new();
        scene.go(scene.bob, bob);
        scene.go(scene.eve, eve);
        scene.room.run(1.secs());
        scene.room.command(scene.bob, "shoot");
        scene.room.command(scene.eve, "shoot");
        scene.room.run(1.secs());
        (scene.heard(scene.ann), scene.room.datagrams(scene.ann).to_vec())
    };
    let one = (430.0, 430.0);
    let other = (530.0, 480.0);
    let (heard, datagrams) = run(one, other);
    let expected =
        ["bang: direction south-west, loudness 3", "bang: direction east-south-east, loudness 4"];
    assert_eq!(heard, expected);
    assert!((heard, datagrams) == run(other, one));
    // The same direction and loudness: one sound.
    assert_eq!(run(one, (440.0, 440.0)).0, expected[..1]);
}

#[test]
fn what_is_at_the_edge_of_sight_does_not_come_and_go() {
    let mut scene = SeaScene::new();
    scene.go(scene.bob, (550.0, 500.0 + 4.0)); // 86 degrees to the right.
    scene.room.run(1.secs());
    let mut seen = Vec::new();
    for degrees in [90, 98, 90, 98, 106, 98, 106, 90] {
        scene.room.command(scene.ann, &format!("face {degrees}"));
        scene.room.run(1.secs());
        seen.push(sees(&scene.room, scene.ann, scene.bob));
    }
    assert_eq!(seen, [true, true, true, true, false, false, false, true]);
}

#[test]
fn a_declared_sound_is_an_event_of_its_name() {
    let schema = Typed::<Sea>::declared_schema();
    assert_eq!(schema.check(), Ok(()));
    let names: Vec<_> = schema.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["shot", "signal", "bang"]);
    let fields = schema.events[2].fields.iter().map(|field| field.name.as_str());
    assert_eq!(fields.collect::<Vec<_>>(), ["direction", "loudness"]);
}
