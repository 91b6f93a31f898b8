//! A test game that takes memory without end, once a player has joined.

use std::time::Duration;

use ambit::prelude::*;

/// Taken in each tick.
const HOARD_BYTES: usize = 16 << 20;

#[derive(Kind)]
pub struct Hoarder {
    path: Path,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Hoarder))]
pub struct HoardingGame {
    has_player: bool,
    #[serde(skip)]
    hoard: Vec<Vec<u8>>,
}

impl Game for HoardingGame {
    const INFO: GameInfo = GameInfo::new("hoarding", "Takes memory without end.");
    type Avatar = Hoarder;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Hoarder> {
        self.has_player = true;
        let path = Path::at(world.centre());
        world.spawn(Hoarder { path })
    }

    fn step(&mut self, _: &mut World<Self>, _: Duration) {
        if self.has_player {
            self.hoard.push(vec![1; HOARD_BYTES]);
        }
    }
}
