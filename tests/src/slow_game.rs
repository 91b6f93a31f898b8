//! A test game whose ticks take four times longer than they may. Its players receive a notice when
//! another room of the game ran a tick at the same time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ambit::prelude::*;

/// How long each step holds its thread. It sleeps, so that slow rooms of tests need no processor.
const STEP: Duration = Duration::from_millis(200);

/// The steps that run now, in all rooms of this process.
static RUNNING: AtomicU32 = AtomicU32::new(0);

#[derive(Kind)]
pub struct Snail {
    path: Path,
}

/// Another room's step ran during one of this room.
#[derive(Event)]
pub struct BesideAnother {
    snail: Id<Snail>,
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Snail), events(BesideAnother))]
pub struct SlowGame {
    snail: Option<Id<Snail>>,
}

impl Game for SlowGame {
    const INFO: GameInfo = GameInfo::new("slow", "Takes longer for a tick than it may.");
    type Avatar = Snail;
    no_commands!();
    type Refusal = NoRefusal;

    fn join(&mut self, world: &mut World<Self>, _: Newcomer) -> Id<Snail> {
        let path = Path::at(world.centre());
        let snail = world.spawn(Snail { path });
        self.snail = Some(snail);
        snail
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let before = RUNNING.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(STEP);
        let after = RUNNING.fetch_sub(1, Ordering::Relaxed) - 1;
        if let Some(snail) = self.snail.filter(|_| before + after > 0) {
            world.emit(BesideAnother { snail });
        }
    }
}
