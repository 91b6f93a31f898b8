//! An event that is about nothing is announced, and not emitted.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Event)]
struct Thunder {
    loudness: i64,
    at: Position,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), events(Thunder))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        let at = world.centre();
        world.announce(Thunder { loudness: 3, at });
        world.emit(Thunder { loudness: 3, at });
        world.spawn(Walker { path: Path::at(at) })
    }
}

fn main() {}
