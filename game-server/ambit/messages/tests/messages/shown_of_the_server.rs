//! A component that no client gets, with what players are shown; and a kind of nothing else.
use ambit::prelude::*;

#[derive(Kind)]
struct Guard {
    path: Path,
    #[audience(server)]
    #[component(name = "wrath", label = "Grudge")]
    grudge: Number<0, 9>,
}

#[derive(Kind)]
#[look(bar = patience)]
struct Watchman {
    path: Path,
    #[audience(server)]
    patience: Gauge<9>,
}

#[derive(Kind)]
struct Lamp {
    path: Path,
    #[audience(server)]
    #[effect(ring, colour = 0xffffff, size = 1.0)]
    is_lit: Flag,
}

#[derive(Kind)]
#[kind(room_wide)]
struct Plot {
    #[audience(server)]
    step: Number<0, 9>,
}

fn main() {}
