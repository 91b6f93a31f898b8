//! Words that are none of those that there are, and a condition in another form.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
    #[component(role = loser)]
    name: Text<12>,
}

#[derive(Clone, Copy, Choice)]
enum Phase {
    #[choice(outcome = win)]
    Won,
}

#[derive(Clone, Copy, Choice)]
enum Spell {
    #[choice(made_of = water)]
    Wave,
}

#[derive(Command)]
enum Command {
    #[command(only_for = "alive")]
    Rest,
}

fn main() {}
