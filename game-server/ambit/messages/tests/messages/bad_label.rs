//! Labels that are empty, too long, of two lines, no text, and at a parameter of every room.
use ambit::prelude::*;

#[derive(Kind)]
#[kind(label = "")]
struct Stone {
    path: Path,
}

#[derive(Kind)]
struct Tree {
    path: Path,
    #[component(label = "What is left of the wood of this old tree")]
    wood: Number<0, 9>,
}

#[derive(Command)]
enum Command {
    #[command(label = "Sit\ndown")]
    Rest,
}

#[derive(Controls)]
enum Key {
    #[control(label = 7)]
    Fire,
}

#[derive(Parameters)]
struct NotItsOwn {
    #[parameter(of_room, label = "Size")]
    size: (f32, f32),
}

#[derive(Parameters)]
struct Unknown {
    /// Points that win.
    #[parameter(default = 5, range = 1..=9, caption = "Points")]
    goal: u8,
}

fn main() {}
