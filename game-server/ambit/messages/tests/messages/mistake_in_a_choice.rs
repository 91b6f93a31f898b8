//! A mistake in a choice that is a field of a command and of an event: one error.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Event)]
struct Spelled {
    by: Id<Walker>,
    spell: Spell,
}

#[derive(Choice)]
enum Spell {
    Bolt,
    Heal(i64),
}

#[derive(Command)]
enum Command {
    Cast { spell: Spell },
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), events(Spelled))]
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
        let Command::Cast { spell } = command;
        let _ = spell.name();
        let by = player.avatar();
        world.emit(Spelled { by, spell });
        Ok(())
    }
}

fn main() {}
