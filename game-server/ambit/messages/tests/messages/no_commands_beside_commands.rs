//! A game that declares commands, and that it has none.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Command)]
enum Command {
    Rest,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.spawn(Walker {
            path: Path::at(world.centre()),
        })
    }
}

fn main() {}
