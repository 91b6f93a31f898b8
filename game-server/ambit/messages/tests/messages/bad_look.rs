//! Looks that name what does not exist, or another type, and of what has no place.
use ambit::prelude::*;

#[derive(Kind)]
#[look(color = 0xff0000)]
struct Stone {
    path: Path,
}

#[derive(Kind)]
#[look(bar = health)]
struct Tree {
    path: Path,
}

#[derive(Kind)]
#[look(bar = name, label = name)]
struct Walker {
    path: Path,
    name: Text<24>,
}

#[derive(Kind)]
#[kind(room_wide)]
#[look(glyph = '=')]
struct Score {
    name: Text<24>,
}

fn main() {}
