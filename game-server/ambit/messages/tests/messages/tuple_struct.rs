//! Components, fields and commands without names.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker(Path, Text<24>);

#[derive(Event)]
struct Damage(Id<Stone>, i64);

#[derive(Command)]
enum Command {
    WalkTo(Position),
}

#[derive(Kind)]
struct Stone {
    path: Path,
}

fn main() {}
