//! A mistake in an event that a game declares and emits: one error.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
}

#[derive(Event)]
struct Clash {
    #[about]
    one: Id<Walker>,
    #[about]
    other: Id<Walker>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker), events(Clash))]
struct Stroll;

impl Game for Stroll {
    const INFO: GameInfo = GameInfo::new("stroll", "Take a walk.");
    type Avatar = Walker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer<'_>) -> Id<Walker> {
        let walker = world.spawn(Walker { path: Path::at(world.centre()) });
        world.emit(Clash { one: walker, other: walker });
        walker
    }
}

fn main() {}
