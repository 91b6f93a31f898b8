//! A game that is steered by its declared controls.

use ambit::Typed;
use ambit::prelude::*;
use ambit::schema::Direction;
use ambit::test::{Line, TestRoom};

#[derive(Kind)]
struct Ship {
    path: Path,
    shots: Number<0, 100>,
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
    #[control(tapped, name = "fire")]
    FireMissile,
    Brake,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship), controls = Key)]
struct Ships;

impl Game for Ships {
    const INFO: GameInfo = GameInfo::new("ships", "Fly.");
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Ship> {
        world.spawn(Ship { path: Path::at(world.centre()), shots: 0.into() })
    }

    fn input(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        if world.just_pressed(player, Key::FireMissile) && !world.pressed(player, Key::Brake) {
            world.avatar(player).shots().add(1);
        }
    }
}

#[test]
fn controls_are_in_the_schema_as_declared() {
    let controls = Typed::<Ships>::declared_schema().controls;
    let names: Vec<_> = controls.iter().map(|control| control.name.as_str()).collect();
    assert_eq!(names, ["up", "fire", "brake"]);
    assert_eq!(controls[0].keys, ["w", "arrowup"]);
    assert_eq!(controls[0].direction, Some(Direction::North));
    assert_eq!(controls[1].label, "Fire a missile.");
    let tapped: Vec<_> = controls.iter().map(|control| control.is_tapped).collect();
    assert_eq!(tapped, [false, true, false]);
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
    assert_eq!(format!("{:?}", room.sees(ann)[0].components["shots"]), "Number(2)");
}
