//! A kind with `#[kind(steered)]`, and without a function that steers it.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(steered)]
struct Ship {
    pose: YawPose<256, 12>,
}

fn main() {}
