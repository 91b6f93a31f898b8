//! The physics module's end: executes orders by the game's own physics.
//!
//! A module has several worlds: the room's, and a small one for prediction. Its owner copies the
//! orders to [`PhysicsModule::reserve`] and the results from [`PhysicsModule::results`]. An invalid
//! order is a mistake of the other end and panics; the module is of no use after that.

use ambit_proto::physics::{Arena, GamePhysics, SharedPhysics};

use crate::description;
use crate::orders::{PhysicsOrder, WordReader, body_words, pose_words};

/// The worlds of one game; see the module.
#[derive(Debug)]
pub struct PhysicsModule {
    game: GamePhysics,
    /// By number.
    worlds: Vec<Option<Box<dyn SharedPhysics>>>,
    orders: Vec<u32>,
    results: Vec<u32>,
}

impl PhysicsModule {
    /// No worlds yet.
    pub const fn new(game: GamePhysics) -> Self {
        Self { game, worlds: Vec::new(), orders: Vec::new(), results: Vec::new() }
    }

    /// Puts the description of the game into the results; returns their number.
    pub fn describe(&mut self) -> u32 {
        self.results.clear();
        description::write(&self.game, &mut self.results);
        self.results.len() as u32
    }

    /// Makes a world, and returns its number.
    pub fn create(&mut self, arena: Arena) -> u32 {
        let world = (self.game.create)(&self.game, arena);
        let free = self.worlds.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.worlds.push(None);
            self.worlds.len() - 1
        });
        self.worlds[number] = Some(world);
        number as u32
    }

    /// Removes a world; another one may get its number.
    pub fn remove(&mut self, world: u32) {
        self.worlds[world as usize] = None;
    }

    /// Room for this many words of orders.
    pub fn reserve(&mut self, words: u32) -> &mut [u32] {
        if self.orders.len() < words as usize {
            self.orders.resize(words as usize, 0);
        }
        &mut self.orders
    }

    /// Executes `words` words of orders; returns the number of words of their results.
    pub fn execute(&mut self, world: u32, words: u32) -> u32 {
        self.results.clear();
        let world = self.worlds[world as usize].as_mut();
        let world = world.expect("the world was created");
        let mut reader = WordReader::new(&self.orders[..words as usize]);
        while !reader.is_empty() {
            let order = reader.order().expect("the order is valid");
            execute(order, &self.game, &mut **world, &mut self.results);
        }
        self.results.len() as u32
    }

    /// The results of the last call.
    pub fn results(&self) -> &[u32] {
        &self.results
    }
}

fn execute(
    order: PhysicsOrder,
    game: &GamePhysics,
    world: &mut dyn SharedPhysics,
    results: &mut Vec<u32>,
) {
    match order {
        PhysicsOrder::Add { kind, pose } => results.extend(body_words(world.add(kind, &pose))),
        PhysicsOrder::Remove(body) => world.remove(body),
        PhysicsOrder::SetPose(body, pose) => world.set_pose(body, &pose),
        PhysicsOrder::SetKeys(body, keys) => world.set_keys(body, keys),
        PhysicsOrder::Step => {
            world.step();
            let changed = world.changed_bodies();
            results.push(changed.len() as u32);
            for &body in changed {
                results.extend(body_words(body));
                results.extend(pose_words(&world.pose(body)));
            }
        }
        PhysicsOrder::SetMap(map) => world.set_map(&map),
        PhysicsOrder::Extrapolate { kind, frames, pose } => {
            let kind = game.kind(kind).expect("the kind is simulated");
            let pose = world.extrapolate(kind, &pose, frames.into());
            results.extend(pose_words(&pose));
        }
    }
}
