//! A test game that ends its process some time after its first player has joined, and again
//! wherever it is restored.

use std::time::Duration;

use ambit::prelude::*;

/// How many ticks after the first join.
const FUSE_TICKS: u32 = 100;

#[derive(Kind)]
pub struct Bystander {
    path: Path,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Bystander))]
pub struct AbortingGame {
    /// Ticks since the first player has joined.
    burnt: Option<u32>,
}

impl Game for AbortingGame {
    const INFO: GameInfo = GameInfo::new("aborting", "Ends its process.");
    type Avatar = Bystander;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Bystander> {
        self.burnt.get_or_insert(0);
        let path = Path::at(world.centre());
        world.spawn(Bystander { path })
    }

    fn step(&mut self, _: &mut World<Self>, _: Duration) {
        if let Some(burnt) = &mut self.burnt {
            *burnt += 1;
            if *burnt >= FUSE_TICKS {
                std::process::abort();
            }
        }
    }
}
