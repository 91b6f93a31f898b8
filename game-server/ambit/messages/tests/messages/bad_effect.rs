//! Effects of an unknown form, at a field that does not exist, of what has no place, and two.
use ambit::prelude::*;

#[derive(Kind)]
#[effect(sparkle)]
struct Stone {
    path: Path,
}

#[derive(Kind)]
#[effect(arrival)]
#[effect(ring)]
struct Tree {
    path: Path,
}

#[derive(Event)]
#[effect(hit, at = target)]
struct Damage {
    at: Position,
}

#[derive(Event)]
#[effect(colour = 0xff0000)]
struct Healed {
    at: Position,
}

#[derive(Kind)]
#[kind(room_wide)]
#[effect(ring)]
struct Score {
    name: Text<24>,
}

fn main() {}
