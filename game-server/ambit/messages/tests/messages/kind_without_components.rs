//! A kind without components.
use ambit::prelude::*;

#[derive(Kind)]
struct Ghost;

fn main() {}
