//! Gates between the maps of one world.
//!
//! A world is several rooms of one game, one for each map ([`World::map`](super::world::World::map)
//! says which one this is). A game says where its gates are
//! ([`Game::gates`](super::game::Game::gates)), what an avatar carries
//! ([`Game::carry`](super::game::Game::carry)), and how it appears at the other end
//! ([`Game::arrive`](super::game::Game::arrive)); it learns nothing of hosts, tickets and full
//! rooms. Units: metres.

use ambit_proto::space::Position;

/// A way to another map: whose avatar gets into the area goes there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// The corner of the area with the lowest x and y. Nobody is faster than the area is deep in a
    /// tick.
    pub low: Position,
    /// The corner with the highest; it belongs to the area. Height does not count.
    pub high: Position,
    /// The map that it leads to, from 0.
    pub map: u32,
    /// Where on that map; best outside of the gate that leads back.
    pub at: Position,
}

impl Gate {
    /// Whether an avatar at that place is in it.
    pub fn contains(&self, place: Position) -> bool {
        (self.low.x..=self.high.x).contains(&place.x)
            && (self.low.y..=self.high.y).contains(&place.y)
    }
}
