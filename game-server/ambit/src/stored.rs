//! What a game stores beyond its room: values by account or for the game as a whole, and results.
//!
//! Nothing waits within a tick: a game asks, and [`Game::stored`] has the answer at a later one. A
//! room that goes on at another host has had the same answers, and asks again what is open. Each
//! request is carried out once.
//!
//! Values are stored as JSON, by the names of their fields: a field that a later version adds with
//! `#[serde(default)]` is there when an older value is read, and one that it has no more is
//! skipped.

use ambit_proto::ids::PlayerId;
pub use ambit_room::logic::store::{
    MAX_OPEN_REQUESTS, MAX_STORE_NAME_BYTES, MAX_VALUE_BYTES, ResultRow, StoreKey, StoreNumber,
    StoreRefusal,
};
use serde::Serialize;
use std::time::Duration;

pub use crate::store_reply::{StoreReply, UnreadableValue};

use crate::game::Game;
use crate::world::World;

/// What lasts longer than the room.
impl<G: Game> World<G> {
    /// Asks for the value with this key. The answer comes to [`Game::stored`], some ticks later. It
    /// may be older than what this room stores meanwhile.
    pub fn load(&mut self, key: StoreKey) -> Result<StoreNumber, StoreRefusal> {
        self.room_mut().load(key)
    }

    /// Stores a value in place of the one with this key, in the order of these calls. Two rooms
    /// that store with the same key at the same time overwrite each other.
    ///
    /// # Panics
    /// If the value has no form in JSON, such as a map whose keys are structs: a bug of the game.
    pub fn store(
        &mut self,
        key: StoreKey,
        value: &impl Serialize,
    ) -> Result<StoreNumber, StoreRefusal> {
        let bytes = serde_json::to_vec(value)
            .unwrap_or_else(|error| panic!("{:?} cannot be stored as JSON: {error}", key.name));
        self.room_mut().store(key, bytes)
    }

    /// Deletes the value with this key.
    pub fn forget(&mut self, key: StoreKey) -> Result<StoreNumber, StoreRefusal> {
        self.room_mut().store(key, Vec::new())
    }

    /// Adds a row to a table of results, for a player of the room. More points are better.
    pub fn add_result(
        &mut self,
        board: &str,
        player: impl Into<PlayerId>,
        score: i64,
    ) -> Result<StoreNumber, StoreRefusal> {
        let id = player.into();
        let account = self.account(id);
        let player = self.player(id).map(|player| player.name().to_owned()).unwrap_or_default();
        let board = board.to_owned();
        self.room_mut().add_result(ResultRow { board, account, player, score })
    }

    /// How long the oldest request has waited for its answer: some ticks if all is well, and longer
    /// while the server's store does not work. Zero if none waits.
    pub fn store_delay(&self) -> Duration {
        self.room().store_delay()
    }
}
