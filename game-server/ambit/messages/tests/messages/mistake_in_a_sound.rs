//! A sound with a field, which the game declares and uses: one error.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Event)]
struct Sneeze {
    by: Id<Walker>,
}

#[derive(Sound)]
struct Loud {
    at: Position,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), events(Sneeze), sounds(Loud))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        let by = world.spawn(Walker { path: Path::at(world.centre()) });
        world.emit(Sneeze { by }).heard::<Loud>(20.0);
        by
    }
}

fn main() {}
