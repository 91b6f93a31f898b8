//! Fields of a command that cannot be sent.
use ambit::prelude::*;

#[derive(Command)]
enum Command {
    Turn { angle: f32 },
    Buy { items: Vec<u8> },
}

fn main() {}
