//! A timer that the game does not declare.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Serialize, Deserialize)]
enum Timer {
    Stand,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.after(2.secs(), Timer::Stand);
        world.spawn(Walker {
            path: Path::at(world.centre()),
        })
    }
}

fn main() {}
