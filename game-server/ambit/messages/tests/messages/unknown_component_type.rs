//! A component of a type that clients cannot have.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker {
    path: Path,
    health: f32,
}

fn main() {}
