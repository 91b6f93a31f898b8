//! A room as bytes: a snapshot, and the journal of the ticks since then.
//!
//! Both are written by the host that runs the room and read by the same build. In between, the
//! WorldServer keeps them for the room's next host ([`SavedRoom`]) and the recorder writes them to
//! a file ([`crate::recording`]); neither looks inside.

use ambit_proto::time::GameTime;

use crate::room::RoomInput;
use crate::saved::{self, BadState};

/// A room between two ticks ([`crate::room::Room::save`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomSnapshot {
    /// The time of its last tick.
    pub at: GameTime,
    /// The encoded state.
    pub state: Vec<u8>,
}

/// The inputs of one tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalEntry {
    /// The time of the tick.
    pub at: GameTime,
    /// The encoded inputs.
    pub inputs: Vec<u8>,
}

/// All that is known of a room: its newest snapshot and the ticks after it, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedRoom {
    pub snapshot: RoomSnapshot,
    /// The ticks since then.
    pub journal: Vec<JournalEntry>,
}

impl JournalEntry {
    /// Encodes the inputs of the tick at this time.
    pub fn new(at: GameTime, inputs: &[RoomInput]) -> Self {
        Self { at, inputs: saved::section(inputs) }
    }

    pub fn inputs(&self) -> Result<Vec<RoomInput>, BadState> {
        saved::only_section(&self.inputs)
    }
}

impl SavedRoom {
    /// The time of the last tick that is known.
    pub fn last_tick(&self) -> GameTime {
        self.journal.last().map_or(self.snapshot.at, |entry| entry.at)
    }
}
