//! A kind that is steered and has a path: what is known in advance is not steered.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(steered)]
struct Ship {
    path: Path,
}

fn main() {}
