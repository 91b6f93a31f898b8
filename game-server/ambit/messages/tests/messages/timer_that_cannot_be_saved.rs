//! Timers without `Serialize` and `Deserialize`.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

enum Timer {
    Stand,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), timer = Timer)]
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

    fn timer(&mut self, _: &mut World<Self>, Timer::Stand: Timer, _: GameTime) {}
}

fn main() {}
