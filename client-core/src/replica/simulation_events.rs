//! Events for the simulation about the objects that it simulates, in the order in which the replica
//! receives them.
//!
//! Bound: the reader takes all events after each datagram.

use std::collections::VecDeque;

use ambit_proto::ids::ClientObjectId;
use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// A change of a simulated object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationEvent {
    /// It was announced; its pose follows.
    Enter {
        /// The client's id of it.
        id: ClientObjectId,
        /// Index of its kind.
        kind: u8,
        /// Whether it is the player's avatar.
        own: bool,
    },
    /// A pose from the host.
    Pose {
        /// The client's id of it.
        id: ClientObjectId,
        /// The stamp: the local lag before the room time of the pose.
        stamp: GameTime,
        /// Where the host has it, on the grid of its kind.
        pose: Pose,
    },
    /// It jumps: it takes no way from its poses before the stamp to those from then on.
    Jump {
        /// The client's id of it.
        id: ClientObjectId,
        /// The stamp of the tick: the local lag before the room time.
        stamp: GameTime,
    },
    /// It was removed.
    Leave {
        /// The client's id of it.
        id: ClientObjectId,
    },
}

/// A set of object kinds, by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindSet(u64);

impl KindSet {
    fn contains(self, kind: u8) -> bool {
        self.0 >> kind & 1 == 1
    }
}

impl FromIterator<bool> for KindSet {
    /// Whether each kind is one of them, from index 0 on.
    fn from_iter<I: IntoIterator<Item = bool>>(kinds: I) -> Self {
        KindSet(
            kinds
                .into_iter()
                .take(64)
                .enumerate()
                .fold(0, |mask, (index, is)| mask | u64::from(is) << index),
        )
    }
}

/// Events that wait for the simulation.
#[derive(Debug, Default)]
pub(super) struct SimulationEvents {
    kinds: KindSet,
    waiting: VecDeque<SimulationEvent>,
}

impl SimulationEvents {
    /// Sets the kinds to report, and forgets what waits. Returns whether there are any.
    pub(super) fn set_kinds(&mut self, kinds: KindSet) -> bool {
        self.waiting.clear();
        self.kinds = kinds;
        kinds != KindSet::default()
    }

    pub(super) fn push(&mut self, kind: u8, event: SimulationEvent) {
        if self.kinds.contains(kind) {
            self.waiting.push_back(event);
        }
    }

    pub(super) fn pop(&mut self) -> Option<SimulationEvent> {
        self.waiting.pop_front()
    }
}
