//! A world in a physics module that the page has loaded: `ts/physics.ts` copies words between this
//! module's memory and that one's.

use ambit_proto::physics::{Arena, GamePhysics, SharedPhysics};
use ambit_web_physics::{ModuleFailed, PhysicsLink, RemotePhysics};
use wasm_bindgen::prelude::wasm_bindgen;

// The worker has it (`ts/worker.ts`): both import each other, by these names.
#[wasm_bindgen(raw_module = "./ambit-worker.js")]
extern "C" {
    /// Makes a world in the module of a game; its number is one of all modules.
    #[wasm_bindgen(js_name = createWorld)]
    fn create_world(game: &str, width_m: f32, height_m: f32) -> u32;

    #[wasm_bindgen(js_name = removeWorld)]
    fn remove_world(world: u32);

    /// Executes orders in a world. Returns how many words of results there are, or -1 if the module
    /// has failed. At most `room` of them are written. The addresses are in this module's memory.
    fn execute(world: u32, orders: *const u32, words: u32, results: *mut u32, room: u32) -> i32;
}

/// The physics of a game whose module the page has loaded.
pub(crate) fn create(game: &GamePhysics, arena: Arena) -> Box<dyn SharedPhysics> {
    let world = create_world(game.game, arena.width_m, arena.height_m);
    Box::new(RemotePhysics::new(PageWorld(world)))
}

/// A world, by its number.
#[derive(Debug)]
struct PageWorld(u32);

impl PhysicsLink for PageWorld {
    fn execute(&self, orders: &[u32], results: &mut [u32]) -> Result<usize, ModuleFailed> {
        let words = orders.len() as u32;
        let room = results.len() as u32;
        let written = execute(self.0, orders.as_ptr(), words, results.as_mut_ptr(), room);
        usize::try_from(written).map_err(|_| ModuleFailed)
    }
}

impl Drop for PageWorld {
    fn drop(&mut self) {
        remove_world(self.0);
    }
}
