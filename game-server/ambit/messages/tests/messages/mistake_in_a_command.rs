//! A mistake in the commands of a game: one error.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Command)]
enum Command {
    WalkTo(Position),
    Rest,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;

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
    ) -> Result<(), NoRefusal> {
        let mut walker = world.avatar(player);
        match command {
            Command::WalkTo(to) => {
                walker.path().walk_to(to, 5.0);
            }
            Command::Rest => walker.path().stop(),
        }
        Ok(())
    }
}

fn main() {}
