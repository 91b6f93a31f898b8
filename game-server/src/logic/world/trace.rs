//! The ground truth of a tick, for people and for checks from outside.
//!
//! Lines are written only when the room's configuration asks for them; they say all, hidden things
//! included, and never reach a client. A shell turns them into JSON. Cost: one line for each object
//! that moved.

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

/// One thing that really happened.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLine {
    /// When.
    pub at: GameTime,
    /// To which object.
    pub object: ObjectId,
    /// What.
    pub event: TraceEvent,
}

/// What really happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEvent {
    /// It is somewhere else than at the tick before.
    Moved {
        /// Where.
        position: Position,
        /// The cell's number, as people count.
        cell: u32,
    },
    /// It has come into being.
    Spawned {
        /// Index of its kind in the schema.
        kind: u8,
        /// Where.
        position: Position,
        /// The cell's number, as people count.
        cell: u32,
    },
    /// It is gone.
    Despawned,
    /// Others don't see it.
    Hidden,
    /// Others see it again.
    Revealed,
    /// It is the avatar of a player who has come.
    Joined {
        /// Who.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// Its player has left for good.
    OmittedPoses {
        /// Who.
        player: PlayerId,
    },
}

/// The lines of the tick so far, if anybody wants them.
#[derive(Debug, Default)]
pub(super) struct WorldTrace {
    enabled: bool,
    lines: Vec<TraceLine>,
    /// Objects that are somewhere else than at the tick before; an object may stand here more than
    /// once.
    moved: Vec<ObjectId>,
}

impl WorldTrace {
    pub(super) fn new(wanted: bool) -> Self {
        Self {
            enabled: wanted,
            ..Self::default()
        }
    }

    /// `what` is made only if somebody wants it.
    pub(super) fn record(
        &mut self,
        at: GameTime,
        object: ObjectId,
        what: impl FnOnce() -> TraceEvent,
    ) {
        if self.enabled {
            self.lines.push(TraceLine {
                at,
                object,
                event: what(),
            });
        }
    }

    pub(super) fn record_move(&mut self, object: ObjectId) {
        if self.enabled {
            self.moved.push(object);
        }
    }

    /// The objects that moved, each once, in the order of their ids. To be given back with
    /// `recycle`.
    pub(super) fn take_moved(&mut self) -> Vec<ObjectId> {
        let mut moved = std::mem::take(&mut self.moved);
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    pub(super) fn recycle(&mut self, mut moved: Vec<ObjectId>) {
        moved.clear();
        self.moved = moved;
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.moved.clear();
    }

    pub(super) fn drain(&mut self, out: &mut Vec<TraceLine>) {
        out.append(&mut self.lines);
    }
}
