//! Misspelt options of a declaration: an error for each.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Event)]
struct Fall {
    walker: Id<Walker>,
}

#[derive(Serialize, Deserialize)]
enum Timer {
    Stand,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kind(Walker), event(Fall), timers = Timer, saved)]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        world.after(2.secs(), Timer::Stand);
        let walker = world.spawn(Walker {
            path: Path::at(world.centre()),
        });
        world.emit(Fall { walker });
        walker
    }

    fn timer(&mut self, _: &mut World<Self>, Timer::Stand: Timer, _: GameTime) {}
}

fn main() {}
