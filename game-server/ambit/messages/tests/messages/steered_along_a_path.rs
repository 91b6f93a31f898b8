//! What is steered or simulated moves by poses: a path is known in advance.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(steered)]
struct Ship {
    path: Path,
}

#[derive(Kind)]
#[kind(simulated)]
struct Ball {
    path: Path,
}

fn main() {}
