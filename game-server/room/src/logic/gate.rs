//! Gates between the maps of one world.
//!
//! A world is several rooms of one game, one for each map ([`World::map`](super::world::World::map)
//! is the index). A game declares its gates ([`Game::gates`](super::game::Game::gates)), the state
//! that an avatar takes along ([`Game::carry`](super::game::Game::carry)), and how it appears on
//! the other map ([`Game::arrive`](super::game::Game::arrive)). It knows nothing of hosts, tickets
//! and full rooms. Units: metres.

use ambit_proto::presentation::GateArea;
use ambit_proto::space::Position;

/// An area that leads to another map: an avatar that enters it is transferred there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// The corner of the area with the lowest x and y. The area must be deeper than the distance
    /// that the fastest avatar moves in a tick.
    pub low: Position,
    /// The corner with the highest x and y, included. Height does not count.
    pub high: Position,
    /// The target map, from 0.
    pub map: u32,
    /// The position on that map; best outside of the gate that leads back.
    pub at: Position,
}

impl From<&Gate> for GateArea {
    fn from(gate: &Gate) -> Self {
        Self { low: [gate.low.x, gate.low.y], high: [gate.high.x, gate.high.y], map: gate.map }
    }
}

impl Gate {
    /// Whether a position is in the area.
    pub fn contains(&self, place: Position) -> bool {
        (self.low.x..=self.high.x).contains(&place.x)
            && (self.low.y..=self.high.y).contains(&place.y)
    }
}
