//! Mistakes in parameters.
use ambit::prelude::*;

#[derive(Choice)]
enum Aim {
    Conquer,
}

#[derive(Parameters)]
struct NoDefault {
    /// Points that win.
    #[parameter(range = 1..=9)]
    goal: u8,
}

#[derive(Parameters)]
struct NoRange {
    /// Points that win.
    #[parameter(default = 5)]
    goal: u8,
}

#[derive(Parameters)]
struct NoHelp {
    #[parameter(default = 5, range = 1..=9)]
    goal: u8,
}

#[derive(Parameters)]
struct OutOfRange {
    /// Points that win.
    #[parameter(default = 50, range = 1..=9)]
    goal: u8,
}

#[derive(Parameters)]
struct TooNarrow {
    /// Points that win.
    #[parameter(default = 5, range = 1..=300)]
    goal: u8,
}

#[derive(Parameters)]
struct OtherChoice {
    /// What is to be done.
    #[parameter(default = Win)]
    aim: Aim,
}

#[derive(Parameters)]
struct NotOfRooms {
    #[parameter(of_room)]
    goal: u64,
}

#[derive(Parameters)]
#[room(goal = 5)]
struct NoSuchDefault {}

fn main() {}
