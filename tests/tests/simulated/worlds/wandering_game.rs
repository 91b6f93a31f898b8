//! A test game of three maps in a ring whose avatars wander by themselves. Each player has
//! belongings that travel with it.

use std::collections::BTreeMap;
use std::time::Duration;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::{Codec, Component, ComponentSpec, ObjectKind, Schema};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;
use ambit_room::logic::game::{Game, GameInfo, Left};
use ambit_room::logic::gate::Gate;
use ambit_room::logic::registry::Registry;
use ambit_room::logic::world::World;
use ambit_room::saved::{self, BadState};

const MAPS: u32 = 3;
/// After this much room time all avatars stand still.
const WANDER_TIME: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Belongings {
    pub(super) gold: u64,
    /// Gates that it has passed.
    pub(super) gates_passed: u64,
}

/// Gold of a player who joins.
pub(super) fn initial_gold(player: PlayerId) -> u64 {
    player.0 * 1_000 + 7
}

#[derive(Default)]
struct WanderingGame(BTreeMap<PlayerId, (ObjectId, u64, u64)>);

pub(super) fn registry() -> Registry {
    let info = GameInfo::new("wandering", "Wander.");
    ambit_game_server::standard().with(info, |_| Ok(Box::new(WanderingGame::default())))
}

/// Belongings of a player in a room of the game, from the saved state.
pub(super) fn belongings_of(game: &dyn Game, player: PlayerId) -> Option<Belongings> {
    let wanderers: BTreeMap<PlayerId, (ObjectId, u64, u64)> = saved::all(&game.save()?).ok()?;
    wanderers.get(&player).map(|&(_, gold, gates)| Belongings { gold, gates_passed: gates })
}

impl Game for WanderingGame {
    fn schema(&self) -> Schema {
        let components = vec![ComponentSpec::public("path", Codec::Path)];
        let kinds =
            vec![ObjectKind { name: "wanderer".into(), components, ..ObjectKind::default() }];
        Schema { game: "wandering".into(), kinds, ..Schema::default() }
    }

    fn start(&mut self, _: &mut World) {}

    fn gates(&self, world: &World) -> Vec<Gate> {
        let at = Position::on_ground(10.0, 10.0);
        let gate = |x: f32, step: u32| Gate {
            low: Position::on_ground(x, 0.0),
            high: Position::on_ground(x + 2.0, 20.0),
            map: (world.map() + step) % MAPS,
            at,
        };
        vec![gate(0.0, 1), gate(18.0, MAPS - 1)]
    }

    fn join(&mut self, world: &mut World, player: PlayerId, _: &str) -> ObjectId {
        let wanderer = world.spawn(0, vec![Component::at_rest(world.now(), world.middle())]);
        self.0.insert(player, (wanderer, initial_gold(player), 0));
        wanderer
    }

    fn leave(&mut self, world: &mut World, player: PlayerId, _: Left) {
        if let Some((wanderer, ..)) = self.0.remove(&player) {
            world.despawn(wanderer);
        }
    }

    fn step(&mut self, world: &mut World, _: Duration) {
        if world.now() > GameTime::ZERO + WANDER_TIME {
            for &(wanderer, ..) in self
                .0
                .values()
                .filter(|(wanderer, ..)| world.is_moving(*wanderer))
                .collect::<Vec<_>>()
            {
                world.stop(wanderer, world.now());
            }
            return;
        }
        for &(wanderer, ..) in self.0.values() {
            if !world.is_moving(wanderer) {
                let (x, y) = (world.rng().f32() * 20.0, world.rng().f32() * 20.0);
                world.walk_to(wanderer, Position::on_ground(x, y), 5.0);
            }
        }
    }

    fn carry(&self, _: &World, player: PlayerId) -> Option<Vec<u8>> {
        self.0.get(&player).map(|&(_, gold, gates)| saved::of(&(gold, gates)))
    }

    fn arrive(
        &mut self,
        world: &mut World,
        player: PlayerId,
        name: &str,
        at: Position,
        carried: &[u8],
    ) -> ObjectId {
        let wanderer = self.join(world, player, name);
        world.put_at(wanderer, at);
        let (gold, gates): (u64, u64) = saved::all(carried).expect("written by `carry`");
        self.0.insert(player, (wanderer, gold, gates + 1));
        wanderer
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(saved::of(&self.0))
    }

    fn restore(&mut self, _: &mut World, saved: &[u8]) -> Result<(), BadState> {
        self.0 = saved::all(saved)?;
        Ok(())
    }
}
