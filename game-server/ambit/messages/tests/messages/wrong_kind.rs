//! A component of another kind.
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

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Walker, Stone), events(Fall))]
struct Stroll;

fn drop_it(world: &mut World<Stroll>, walker: Id<Walker>) {
    world.emit(Fall { stone: walker });
    if let Some(mut walker) = world.edit(walker) {
        walker.health().set(50.0);
    }
}

fn main() {}
