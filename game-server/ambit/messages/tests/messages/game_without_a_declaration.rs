//! A game that declares nothing.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Kind)]
struct Stone {
    path: Path,
}

#[derive(Event)]
struct Fall {
    stone: Id<Stone>,
}

#[derive(Default)]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        let _ = &world;
        world.spawn(Walker {
            path: Path::at(world.centre()),
        })
    }
}

fn main() {}
