//! The physics of the game `cubes` as a WebAssembly module: the functions of [`PhysicsModule`], as
//! `client-core/web/ts/physics.ts` calls them. The module of another game is this file with another
//! [`GamePhysics`](ambit_proto::physics::GamePhysics).
//!
//! All arguments and results are numbers, so the module needs no JavaScript of its own. A panic
//! ends it; the client then goes on without it.

use std::cell::RefCell;

use ambit_cubes_physics::PHYSICS;
use ambit_proto::physics::Arena;
use ambit_web_physics::PhysicsModule;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static MODULE: RefCell<PhysicsModule> = const { RefCell::new(PhysicsModule::new(PHYSICS)) };
}

fn with<R>(call: impl FnOnce(&mut PhysicsModule) -> R) -> R {
    MODULE.with_borrow_mut(call)
}

/// Makes the description of the game; returns its length in words.
#[wasm_bindgen]
pub fn describe() -> u32 {
    with(PhysicsModule::describe)
}

/// Makes a world; returns its number.
#[wasm_bindgen]
pub fn create_world(width_m: f32, height_m: f32) -> u32 {
    with(|module| module.create(Arena { width_m, height_m }))
}

/// Removes a world.
#[wasm_bindgen]
pub fn remove_world(world: u32) {
    with(|module| module.remove(world));
}

/// The address to which to write this many words of orders.
#[wasm_bindgen]
pub fn orders(words: u32) -> u32 {
    with(|module| module.reserve(words).as_ptr().addr() as u32)
}

/// Executes `words` words of orders; returns the number of words of their results.
#[wasm_bindgen]
pub fn execute(world: u32, words: u32) -> u32 {
    with(|module| module.execute(world, words))
}

/// The address of the results of the last call.
#[wasm_bindgen]
pub fn results() -> u32 {
    with(|module| module.results().as_ptr().addr() as u32)
}
