//! An event that is about nothing.
use ambit::prelude::*;

#[derive(Event)]
struct Thunder {
    loudness: i64,
    at: Position,
}

fn main() {}
