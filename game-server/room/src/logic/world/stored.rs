//! What a game stores beyond its room; the answers come by [`Game::stored`].
//!
//! [`Game::stored`]: crate::logic::game::Game::stored

use std::time::Duration;

use super::World;
use crate::logic::player_values::PlayerValues;
use crate::logic::store::{
    ResultRow, StoreDesk, StoreKey, StoreNumber, StoreRefusal, StoreRequest,
};

impl World {
    /// Asks for the value with this key.
    pub fn load(&mut self, key: StoreKey) -> Result<StoreNumber, StoreRefusal> {
        self.store.ask(self.now, StoreRequest::Load(key))
    }

    /// Stores a value, and forgets the one before; an empty one stands for none. Values with the
    /// same key are stored in the order of these calls.
    pub fn store(&mut self, key: StoreKey, value: Vec<u8>) -> Result<StoreNumber, StoreRefusal> {
        self.store.ask(self.now, StoreRequest::Save(key, value))
    }

    /// Adds a row to a table of results, once, whatever dies.
    pub fn add_result(&mut self, row: ResultRow) -> Result<StoreNumber, StoreRefusal> {
        self.store.ask(self.now, StoreRequest::AddResult(row))
    }

    /// How long the oldest request has waited for its answer; zero if none waits.
    pub fn store_delay(&self) -> Duration {
        self.store.waits_since().map_or(Duration::ZERO, |since| self.now.since(since))
    }

    /// What the game keeps of each player beside the objects.
    pub fn player_values(&self) -> &dyn PlayerValues {
        &*self.player_values
    }

    /// What the game keeps of each player beside the objects.
    pub fn player_values_mut(&mut self) -> &mut dyn PlayerValues {
        &mut *self.player_values
    }

    /// The game keeps these; before the start. Called by the room, and by tests of games.
    pub fn set_player_values(&mut self, values: Box<dyn PlayerValues>) {
        self.player_values = values;
    }

    /// The open requests. Kept by the room.
    pub(crate) fn store_desk(&mut self) -> &mut StoreDesk {
        &mut self.store
    }
}
