//! A test game of three maps in a ring, whose avatars wander by themselves and give each other
//! gold. The gold is in the profiles.

use std::time::Duration;

use ambit::prelude::*;

const MAPS: u32 = 3;
/// Gold of an account that comes for the first time.
pub(super) const INITIAL_GOLD: u64 = 1_000;

#[derive(Kind)]
pub(super) struct Trader {
    path: Path,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Gold {
    gold: u64,
}

impl Default for Gold {
    fn default() -> Self {
        Self { gold: INITIAL_GOLD }
    }
}

#[derive(Default, Serialize, Deserialize, Declare)]
#[declare(kinds(Trader), profile = Gold)]
pub(super) struct Bazaar {
    pub(super) trades: u64,
}

impl Game for Bazaar {
    const INFO: GameInfo = GameInfo::new("bazaar", "Trade.");
    type Avatar = Trader;
    no_commands!();
    type Refusal = NoRefusal;

    fn gates(&self, world: &World<Self>) -> Vec<Gate> {
        let at = Position::on_ground(10.0, 10.0);
        let gate = |x: f32, step: u32| Gate {
            low: Position::on_ground(x, 0.0),
            high: Position::on_ground(x + 2.0, 20.0),
            map: (world.map() + step) % MAPS,
            at,
        };
        vec![gate(0.0, 1), gate(18.0, MAPS - 1)]
    }

    fn join(&mut self, world: &mut World<Self>, newcomer: Newcomer<'_>) -> Id<Trader> {
        // What a newcomer gets is stored, too.
        world.edit_profile(newcomer).expect("a profile");
        world.spawn(Trader { path: Path::at(world.centre()) })
    }

    fn step(&mut self, world: &mut World<Self>, _: Duration) {
        let players: Vec<_> =
            world.players().map(|player| (player.id(), player.avatar())).collect();
        for &(player, avatar) in &players {
            if world.rng().u8(..) < 10 {
                let to = Position::on_ground(world.rng().f32() * 20.0, world.rng().f32() * 20.0);
                if let Some(mut trader) = world.edit(avatar) {
                    trader.path().walk_to(to, 5.0);
                }
            }
            let other = players[world.rng().usize(..players.len())].0;
            let gift = world.rng().u64(1..=5);
            if other != player && world.profile(player).is_some_and(|own| own.gold >= gift) {
                world.edit_profile(player).expect("here").gold -= gift;
                world.edit_profile(other).expect("here").gold += gift;
                self.trades += 1;
            }
        }
    }
}
