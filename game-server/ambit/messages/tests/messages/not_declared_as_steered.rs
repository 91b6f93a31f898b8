//! A kind with a function that steers it, and without `#[kind(steered)]`: clients would not know.
use ambit::prelude::*;

#[derive(Kind)]
struct Ship {
    pose: YawPose<256, 12>,
}

#[derive(Controls)]
enum Key {
    #[key("w")]
    Accelerate,
}

impl Steer for Ship {
    type SteeredBy = Key;

    fn steer(ship: &mut Movement, held: Held<Key>, _: Terrain<'_>, dt: f32) {
        let _ = (ship, held, dt);
    }
}

fn main() {}
