//! A kind, an event and a game with parameters.
use ambit::prelude::*;

#[derive(Kind)]
struct Walker<const MANA: u32> {
    path: Path,
    mana: Gauge<MANA>,
}

#[derive(Event)]
struct Damage<T> {
    target: Id<T>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
struct Stroll<T> {
    value: T,
}

fn main() {}
