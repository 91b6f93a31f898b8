//! A choice that costs two things.
use ambit::prelude::*;

#[derive(Clone, Copy, Choice)]
enum Spell {
    #[choice(cost(mana = 10, gold = 1))]
    Bolt,
}

fn main() {}
