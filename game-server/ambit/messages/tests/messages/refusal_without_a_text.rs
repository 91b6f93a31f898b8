//! A refusal that says nothing to the player.
use ambit::prelude::*;

#[derive(Refusal)]
enum Refused {
    #[text("you are too tired")]
    Tired,
    Dead,
}

fn main() {}
