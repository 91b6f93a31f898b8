//! The ground truth of a tick, for people and for checks from outside.
//!
//! Lines are written only if the room's configuration enables the trace. They contain everything,
//! hidden objects included, and never reach a client. A shell turns them into JSON. Cost: one line
//! for each object that moved.

use std::collections::BTreeMap;

use ambit_proto::ids::{ObjectId, PlayerId};
use ambit_proto::schema::Component;
use ambit_proto::space::Position;
use ambit_proto::time::GameTime;

use super::World;

/// One event of the ground truth.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceLine {
    /// When it happened.
    pub at: GameTime,
    /// The object it happened to.
    pub object: ObjectId,
    /// What happened.
    pub event: TraceEvent,
}

/// What really happened to an object.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEvent {
    /// Its position differs from the previous tick.
    Moved {
        /// The new position.
        position: Position,
        /// The number of the new cell, row by row from 1.
        cell: u32,
    },
    /// It was created.
    Spawned {
        /// Index of its kind in the schema.
        kind: u8,
        /// Where it was created, in metres, and the number of its cell, as in `Moved`; `None` if
        /// its kind is room-wide.
        place: Option<(Position, u32)>,
    },
    /// It is room-wide, and this is its state from now on.
    State {
        /// Index of its kind in the schema.
        kind: u8,
        /// The player whose row it is.
        owner: Option<PlayerId>,
        /// All components.
        components: Vec<Component>,
    },
    /// It was removed.
    Despawned,
    /// No other player can see it, wherever they are.
    Hidden,
    /// Some other player can see it again, or there is none.
    Revealed,
    /// It is the avatar of a player who has joined.
    Joined {
        /// The player's id.
        player: PlayerId,
        /// The player's name.
        name: String,
    },
    /// Its player has left for good.
    Left {
        /// The player's id.
        player: PlayerId,
    },
}

/// The lines of the current tick, if the trace is enabled.
#[derive(Debug, Default)]
pub(super) struct WorldTrace {
    enabled: bool,
    lines: Vec<TraceLine>,
    /// Objects whose position changed in this tick; an object may be listed more than once.
    moved: Vec<ObjectId>,
    /// Room-wide objects that changed in this tick, likewise.
    stated: Vec<ObjectId>,
    /// The objects about which the game has asked who sees them, and whether they are hidden.
    asked: BTreeMap<ObjectId, bool>,
}

impl World {
    /// Traces which of the objects that the game has asked about are hidden from all other players
    /// from now on, and which are not any more. `sees` answers for an avatar and an object.
    pub(crate) fn trace_hiding(&mut self, sees: impl Fn(&Self, ObjectId, ObjectId) -> bool) {
        let mut asked = std::mem::take(&mut self.trace.asked);
        asked.retain(|&object, _| self.contains(object));
        for (&object, was_hidden) in &mut asked {
            let avatars = self.players.values().map(|player| player.avatar);
            let mut others = avatars.filter(|&avatar| avatar != object).peekable();
            let is_hidden =
                others.peek().is_some() && !others.any(|avatar| sees(self, avatar, object));
            if std::mem::replace(was_hidden, is_hidden) != is_hidden {
                let event = || if is_hidden { TraceEvent::Hidden } else { TraceEvent::Revealed };
                self.trace.record(self.now, object, event);
            }
        }
        self.trace.asked = asked;
    }
}

impl WorldTrace {
    pub(super) fn new(wanted: bool) -> Self {
        Self { enabled: wanted, ..Self::default() }
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The game has asked who sees an object: from now on the trace says whether it is hidden.
    pub(super) fn note_asked(&mut self, object: ObjectId) {
        if self.enabled {
            self.asked.entry(object).or_default();
        }
    }

    /// `event` is called only if the trace is enabled.
    pub(super) fn record(
        &mut self,
        at: GameTime,
        object: ObjectId,
        event: impl FnOnce() -> TraceEvent,
    ) {
        if self.enabled {
            self.lines.push(TraceLine { at, object, event: event() });
        }
    }

    pub(super) fn record_move(&mut self, object: ObjectId) {
        if self.enabled {
            self.moved.push(object);
        }
    }

    pub(super) fn record_state(&mut self, object: ObjectId) {
        if self.enabled {
            self.stated.push(object);
        }
    }

    /// The objects that moved, each once, in the order of their ids. Return the buffer with
    /// `recycle`.
    pub(super) fn take_moved(&mut self) -> Vec<ObjectId> {
        each_once(std::mem::take(&mut self.moved))
    }

    pub(super) fn recycle(&mut self, mut moved: Vec<ObjectId>) {
        moved.clear();
        self.moved = moved;
    }

    /// The room-wide objects that changed, each once, in the order of their ids.
    pub(super) fn take_stated(&mut self) -> Vec<ObjectId> {
        each_once(std::mem::take(&mut self.stated))
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
        self.moved.clear();
        self.stated.clear();
        self.asked.clear();
    }

    pub(super) fn drain(&mut self, out: &mut Vec<TraceLine>) {
        out.append(&mut self.lines);
    }
}

fn each_once(mut objects: Vec<ObjectId>) -> Vec<ObjectId> {
    objects.sort_unstable();
    objects.dedup();
    objects
}
