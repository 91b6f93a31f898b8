//! Mistakes in axes: what only keys have, keys that are no pairs, and too many.
use ambit::prelude::*;

#[derive(Controls)]
enum Tapped {
    #[control(axis, tapped)]
    Throttle,
}

#[derive(Controls)]
enum HalfAPair {
    #[key("w")]
    #[control(axis)]
    Throttle,
}

#[derive(Controls)]
enum Keys {
    #[key("q", "e")]
    #[control(angle)]
    Aim,
}

#[derive(Controls)]
enum Many {
    #[control(axis)]
    A,
    #[control(axis)]
    B,
    Fire,
    #[control(angle)]
    C,
    #[control(angle)]
    D,
    #[control(angle)]
    E,
}

#[derive(Controls)]
enum Unknown {
    #[control(axle)]
    Throttle,
}

fn main() {}
