//! Mistakes in controls: an unknown key, and one error for it although the game uses the enum.
use ambit::prelude::*;

#[derive(Kind)]
struct Ship {
    path: Path,
}

#[derive(Controls)]
enum Key {
    #[key("Left Arrow")]
    TurnLeft,
    #[key("space")]
    Fire,
}

#[derive(Controls)]
enum Way {
    #[control(direction = up)]
    Up,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Ship), controls = Key)]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Ship;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Ship> {
        world.spawn(Ship {
            path: Path::at(world.centre()),
        })
    }

    fn input(&mut self, world: &mut World<Self>, player: Player<'_, Self>) {
        let _ = world.pressed(player, Key::Fire);
    }
}

fn main() {}
