//! Avatars whose ways a function of the kind tells: `#[reckoning(order = own)]`.

use std::f32::consts::TAU;

use ambit::prelude::*;
use ambit::schema::{ReckoningOrder, Schema};
use ambit::test::{Line, TestRoom};

const CENTRE: Position = Position::on_ground(60.0, 60.0);
const RADIUS_M: f32 = 8.0;
/// In radians a second.
const TURN: f32 = 1.5;

#[derive(Clone, Copy, Controls)]
enum Key {
    #[key("space")]
    Fly,
}

#[derive(Kind)]
#[kind(steered)]
#[reckoning(order = own, tolerance_m = 0.1)]
struct Moon {
    pose: YawPose<256, 12>,
}

impl Steer for Moon {
    type SteeredBy = Key;

    fn steer(moon: &mut Movement, held: Held<Key>, _: Terrain<'_>, dt: f32) {
        if held.is_down(Key::Fly) {
            *moon = on_the_orbit(*moon, dt);
        }
    }

    fn reckon(newest: Movement, _: Option<(Movement, f32)>, ahead: f32) -> Movement {
        on_the_orbit(newest, ahead)
    }
}

/// Where a moon is after some seconds.
fn on_the_orbit(moon: Movement, seconds: f32) -> Movement {
    let angle = (moon.at.y - CENTRE.y).atan2(moon.at.x - CENTRE.x) + TURN * seconds;
    let (sin, cos) = angle.sin_cos();
    let at = Position::on_ground(CENTRE.x + RADIUS_M * cos, CENTRE.y + RADIUS_M * sin);
    let speed = TURN * RADIUS_M;
    let velocity = [-speed * sin, speed * cos, 0.0];
    Movement { at, yaw: angle + TAU / 4.0, velocity }
}

/// How moons are drawn until the next pose comes.
#[derive(Clone, Copy, Default, PartialEq, Serialize, Deserialize, Choice)]
enum Order {
    /// round the centre
    #[default]
    Own,
    /// straight on
    First,
}

#[derive(Parameters)]
struct OrbitSettings {
    /// how moons are drawn until the next pose comes
    #[parameter(default = "own")]
    order: Order,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Moon), controls = Key, parameters = OrbitSettings)]
struct Orbits {
    order: Order,
}

impl Game for Orbits {
    const INFO: GameInfo = GameInfo::new("orbits", "Watch moons.");
    type Avatar = Moon;
    no_commands!();
    type Refusal = NoRefusal;

    fn configure(&mut self, OrbitSettings { order }: OrbitSettings) -> Result<(), BadParameter> {
        self.order = order;
        Ok(())
    }

    fn schema(&self, schema: &mut Schema) {
        if self.order == Order::First {
            let moons = schema.kinds[0].reckoning.as_mut().expect("it is declared");
            moons.order = ReckoningOrder::First;
        }
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Moon> {
        let start = Movement::at_rest(Position::on_ground(80.0, 60.0), 0.0);
        let moon = on_the_orbit(start, newcomer.id.0 as f32);
        world.spawn(Moon { pose: YawPose::at(moon.at).facing(moon.yaw) })
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let moons: Vec<_> = world.players().map(|player| (player.id(), player.avatar())).collect();
        for (player, moon) in moons {
            let at = world.position(moon);
            let held = world.held(player);
            let Some(at) = at else { continue };
            world.steer(moon, &mut Movement::at_rest(at, 0.0), held);
        }
    }
}

/// The bytes to a player who watches another one for 10 s, and how far off the orbit that one was
/// drawn.
fn watch(order: &str) -> (usize, f32) {
    let mut room = TestRoom::<Orbits>::with(&[("order", order), ("size", "120x120")]);
    let line = || Line::default().delay(30.millis()).loss(5.0);
    let [ann, bob] = ["ann", "bob"].map(|name| room.join(name, line()));
    room.hold(bob, [Key::Fly]);
    room.run(3.secs());
    let before = room.datagrams(ann).len();
    let mut most_m = 0.0_f32;
    for _ in 0..100 {
        room.run(100.millis());
        let other = room.sees(ann).into_iter().find(|moon| !moon.own).expect("it is in sight");
        most_m = most_m.max((other.position.ground_distance(CENTRE) - RADIUS_M).abs());
    }
    let sent = &room.datagrams(ann)[before..];
    (sent.iter().map(|(_, datagram)| datagram.len()).sum(), most_m)
}

#[test]
fn what_a_function_of_the_kind_tells_is_not_sent() {
    let [(own, own_m), (straight, _)] = ["own", "first"].map(watch);
    assert!(own_m < 0.25, "{own_m} m off the orbit");
    assert!(own * 3 < straight * 2, "{own} bytes, and {straight} straight on");
}
