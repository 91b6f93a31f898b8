//! A test game for typed commands: walkers greet each other, and may sit down on stones.

use ambit::prelude::*;

#[derive(Kind)]
#[look(label = name)]
pub struct Walker {
    path: Path,
    name: Text<24>,
    /// The manners of those who have greeted it, added up.
    greeted: Number<0, 1_000>,
    /// Of the player; empty without one.
    account: Text<32>,
}

#[derive(Kind)]
pub struct Stone {
    path: Path,
}

#[derive(Command)]
pub enum GreetingCommand {
    /// Sit down on a stone.
    Sit { on: Id<Stone> },
    /// Greet a walker.
    Greet { whom: Id<Walker>, how: Manner },
}

#[derive(Choice, Clone, Copy)]
pub enum Manner {
    Curtly = 1,
    Politely = 10,
}

#[derive(Refusal)]
pub enum GreetingRefusal {
    #[text("it is gone")]
    Gone,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Stone))]
pub struct GreetingGame;

impl Game for GreetingGame {
    const INFO: GameInfo = GameInfo::new("greeting", "Greet each other.");
    type Avatar = Walker;
    type Command = GreetingCommand;
    type Refusal = GreetingRefusal;

    fn start(&mut self, world: &mut World<Self>) {
        let path = Path::at(world.centre());
        world.spawn(Stone { path });
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer) -> Id<Walker> {
        let path = Path::at(Position::on_ground(1.0, 1.0));
        let name = newcomer.name.into();
        let greeted = 0.into();
        let account = newcomer.account.map_or_else(String::new, |account| account.to_string());
        world.spawn(Walker { path, name, greeted, account: account.into() })
    }

    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: GreetingCommand,
    ) -> Result<(), GreetingRefusal> {
        match command {
            GreetingCommand::Sit { on } => {
                let place = world.position(on).ok_or(GreetingRefusal::Gone)?;
                world.avatar(player).path().teleport(place);
            }
            GreetingCommand::Greet { whom, how } => {
                let mut walker = world.edit(whom).ok_or(GreetingRefusal::Gone)?;
                walker.greeted().add(how as i64);
            }
        }
        Ok(())
    }
}
