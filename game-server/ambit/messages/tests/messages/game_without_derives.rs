//! Commands and refusals that are plain enums.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

enum Command {
    Rest,
}

enum Refused {
    Tired,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = Refused;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.spawn(Walker {
            path: Path::at(world.centre()),
        })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Command,
    ) -> Result<(), Refused> {
        let _ = (world, player);
        match command {
            Command::Rest => Err(Refused::Tired),
        }
    }
}

fn main() {}
