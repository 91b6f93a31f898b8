//! Names and keys that two items of one list have, and keys that no keyboard has.
use ambit::prelude::*;

#[derive(Controls)]
enum Names {
    Brake,
    #[control(name = "brake")]
    Stop,
}

#[derive(Controls)]
enum Keys {
    #[key("w", "arrowup")]
    Accelerate,
    #[key("s", "w")]
    Brake,
}

#[derive(Controls)]
enum NoKey {
    #[key("spacebar")]
    Fire,
}

#[derive(Command)]
enum Command {
    WalkTo { to: Position },
    #[command(name = "walk-to")]
    Run { to: Position },
}

#[derive(Refusal)]
enum Refused {
    #[text("you are too tired")]
    Tired,
    #[text("you are exhausted")]
    #[refusal(name = "tired")]
    Exhausted,
}

#[derive(Choice)]
enum Spell {
    Bolt,
    #[choice(name = "bolt")]
    Flash,
}

fn main() {}
