//! A kind that clients steer, and whose place is a path: it is known in advance, so nobody steers it.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(steered)]
struct Ship {
    path: Path,
}

fn main() {}
