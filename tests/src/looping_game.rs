//! A test game that never returns from a tick, once a player has joined.

use std::time::Duration;

use ambit::prelude::*;

#[derive(Kind)]
pub struct Onlooker {
    path: Path,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Onlooker))]
pub struct LoopingGame {
    has_begun: bool,
}

impl Game for LoopingGame {
    const INFO: GameInfo = GameInfo::new("looping", "Never returns from a tick.");
    type Avatar = Onlooker;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Onlooker> {
        self.has_begun = true;
        let path = Path::at(world.centre());
        world.spawn(Onlooker { path })
    }

    fn step(&mut self, _: &mut World<Self>, _: Duration) {
        while self.has_begun {
            std::hint::black_box(&mut self.has_begun);
        }
    }
}
