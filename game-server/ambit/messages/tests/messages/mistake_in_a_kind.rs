//! A mistake in a kind that the whole game uses: one error.
use ambit::prelude::*;

#[derive(Kind)]
#[look(color = 0xff0000, bar = stamina)]
struct Walker {
    path: Path,
    stamina: Gauge<100>,
}

#[derive(Event)]
struct Fall {
    walker: Id<Walker>,
}

#[derive(Command)]
enum Command {
    Rest,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), events(Fall))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        let walker = world.spawn(Walker {
            path: Path::at(world.centre()),
            stamina: Gauge::full(),
        });
        if let Some(walker) = world.get(walker) {
            let _ = walker.stamina().value();
        }
        world.emit(Fall { walker });
        walker
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<'_, Self>,
        command: Command,
    ) -> Result<(), NoRefusal> {
        let Command::Rest = command;
        let mut walker = world.avatar(player);
        walker.path().stop();
        walker.stamina().set_rate(1.0);
        Ok(())
    }
}

fn main() {}
