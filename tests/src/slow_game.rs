//! A test game whose ticks take four times longer than they may.

use std::time::Duration;

use ambit::prelude::*;

/// How long each step holds its thread. It sleeps, so that slow rooms of tests need no processor.
const STEP: Duration = Duration::from_millis(200);

#[derive(Kind)]
pub struct Snail {
    path: Path,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Snail))]
pub struct SlowGame;

impl Game for SlowGame {
    const INFO: GameInfo = GameInfo::new("slow", "Takes longer for a tick than it may.");
    type Avatar = Snail;
    type Command = NoCommand;
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Snail> {
        let path = Path::at(world.centre());
        world.spawn(Snail { path })
    }

    fn step(&mut self, _: &mut World<Self>, _: Duration) {
        std::thread::sleep(STEP);
    }
}
