//! A game that is steered by its declared controls.

use std::f32::consts::{FRAC_PI_2, PI};

use ambit::Typed;
use ambit::prelude::*;
use ambit::presentation::Direction;
use ambit::schema::AxisKind;
use ambit::test::{Line, TestClient, TestRoom};

#[derive(Kind)]
struct Ship {
    path: Path,
    shots: Number<0, 100>,
    /// How often its axes have changed.
    moves: Number<0, 100_000>,
}

#[derive(Clone, Copy, Controls)]
enum Key {
    /// Go north.
    #[key("w", "arrowup")]
    #[control(direction = north)]
    Up,
    /// Fire a missile.
    ///
    /// Only players with missiles can.
    #[key("space")]
    #[control(tapped, name = "fire", label = "Shoot")]
    FireMissile,
    Brake,
    /// How fast to fly.
    #[key("d", "f")]
    #[control(axis)]
    Throttle,
    /// Where to shoot.
    #[control(angle)]
    Aim,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship), controls = Key)]
struct Ships {
    /// Throttle and aim, as `input` has found them.
    axes: [f32; 2],
}

impl Game for Ships {
    const INFO: GameInfo = GameInfo::new("ships", "Fly.");
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Ship> {
        world.spawn(Ship { path: Path::at(world.centre()), shots: 0.into(), moves: 0.into() })
    }

    fn input(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        if world.just_pressed(player, Key::FireMissile) && !world.pressed(player, Key::Brake) {
            world.avatar(player).shots().add(1);
        }
        let axes = [Key::Throttle, Key::Aim].map(|axis| world.axis(player, axis));
        if axes != std::mem::replace(&mut self.axes, axes) {
            world.avatar(player).moves().add(1);
        }
    }
}

#[test]
fn controls_are_in_the_schema_as_declared() {
    let schema = Typed::<Ships>::declared_schema();
    let (controls, shown) = (schema.controls, schema.presentation.controls);
    let names: Vec<_> = controls.iter().map(|control| control.name.as_str()).collect();
    assert_eq!(names, ["up", "fire", "brake", "throttle", "aim"]);
    assert_eq!(shown[0].keys, ["w", "arrowup"]);
    assert_eq!(shown[0].direction, Some(Direction::North));
    assert_eq!(shown[1].help, "Fire a missile.");
    assert_eq!((shown[0].label.as_str(), shown[1].label.as_str()), ("", "Shoot"));
    let tapped: Vec<_> = controls.iter().map(|control| control.is_tapped).collect();
    assert_eq!(tapped, [false, true, false, false, false]);
    let axes: Vec<_> = controls.iter().map(|control| control.axis).collect();
    assert_eq!(axes, [None, None, None, Some(AxisKind::Linear), Some(AxisKind::Angle)]);
    assert_eq!(shown[3].keys, ["d", "f"]);
    assert_eq!((Key::FireMissile.index(), Key::FireMissile.name()), (1, "fire"));
}

#[test]
fn a_press_counts_once_and_by_its_name() {
    let mut room = TestRoom::<Ships>::new();
    let ann = room.join("ann", Line::default().delay(50.millis()).loss(20.0));
    room.run(1.secs());
    for held in [&[Key::FireMissile][..], &[], &[Key::FireMissile, Key::Up], &[Key::Up]] {
        room.hold(ann, held.iter().copied());
        room.run(1.secs());
    }
    room.hold(ann, [Key::Brake]);
    room.run(1.secs());
    room.hold(ann, [Key::Brake, Key::FireMissile]);
    room.run(1.secs());
    assert_eq!(shots_and_moves(&room, ann).0, 2);
}

#[test]
fn axes_end_at_the_right_value_when_half_the_datagrams_are_lost() {
    let mut room = TestRoom::<Ships>::new();
    let line = Line::default().delay(40.millis()).jitter(15.millis()).loss(50.0);
    let ann = room.join("ann", line);
    for step in 0..200_u8 {
        room.set_axis(ann, Key::Throttle, f32::from(step) / 199.0 * 2.0 - 1.0);
        room.set_axis(ann, Key::Aim, f32::from(step) / 20.0);
        room.run(7.millis());
    }
    room.set_axis(ann, Key::Throttle, -0.25);
    room.run(5.secs());
    assert_near(axes(&room, ann), [-0.25, 199.0 / 20.0 - 4.0 * PI]);
    assert_eq!(room.edit(|_, game| game.axes), axes(&room, ann), "`input` had the newest");
    let moves = shots_and_moves(&room, ann).1;
    assert!((5..=30).contains(&moves), "{moves} of 20 ticks a second for 1.4 s");
}

#[test]
fn an_axis_that_is_moved_before_a_tap_counts_with_it() {
    let mut room = TestRoom::<Ships>::new();
    let ann = room.join("ann", Line::default());
    room.set_axis(ann, Key::Throttle, 1.0);
    room.hold(ann, [Key::FireMissile]);
    room.set_axis(ann, Key::Throttle, 0.0);
    room.hold(ann, []);
    room.run(1.secs());
    assert_eq!(shots_and_moves(&room, ann).0, 1);
    assert_eq!(axes(&room, ann), [0.0, 0.0]);
}

#[test]
fn axes_survive_a_failover_and_a_lost_player_keeps_angles() {
    let mut room = TestRoom::<Ships>::new();
    let ann = room.join("ann", Line::default());
    room.set_axis(ann, Key::Throttle, 0.5);
    room.set_axis(ann, Key::Aim, FRAC_PI_2);
    room.run(1.secs());
    let before = axes(&room, ann);
    assert_near(before, [0.5, FRAC_PI_2]);
    room.move_to_another_host();
    room.run(3.secs());
    assert_eq!(axes(&room, ann), before, "the client has sent them again");
    room.set_axis(ann, Key::Aim, PI);
    room.run(1.secs());
    room.disconnect(ann);
    room.run(1.secs());
    assert_eq!(axes(&room, ann), [0.0, -PI]);
}

/// As the client sees them.
fn shots_and_moves(room: &TestRoom<Ships>, client: TestClient) -> (i64, i64) {
    let ship = room.avatar(client).expect("the client's ship");
    let ship = ship.get::<Ship>().expect("a ship");
    (ship.shots, ship.moves)
}

fn axes(room: &TestRoom<Ships>, client: TestClient) -> [f32; 2] {
    [Key::Throttle, Key::Aim].map(|axis| room.world().axis(room.player(client), axis))
}

/// Within a step of 8 bits.
fn assert_near(values: [f32; 2], expected: [f32; 2]) {
    for (value, expected) in values.into_iter().zip(expected) {
        assert!((value - expected).abs() < 0.013, "{values:?}, expected {expected}");
    }
}
