//! The smallest game: players walk about.
use ambit::prelude::*;
#[derive(Kind)]
struct Walker {
    path: Path,
}
#[derive(Command)]
enum Command {
    WalkTo { to: Position },
}
#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Stroll;
impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    type Command = Command;
    type Refusal = NoRefusal;
    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Walker> {
        let path = Path::at(world.centre());
        world.spawn(Walker { path })
    }
    fn command(
        &mut self,
        world: &mut World<Self>,
        player: Player<Self>,
        command: Command,
    ) -> Result<(), NoRefusal> {
        let Command::WalkTo { to } = command;
        world.avatar(player).path().walk_to(to, 5.0);
        Ok(())
    }
}
fn main() -> ExitCode {
    ambit::serve::<Stroll>()
}
