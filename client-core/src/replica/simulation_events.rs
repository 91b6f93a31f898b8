//! What a simulation is told of the objects that it simulates, in the order in which the replica
//! hears of it.
//!
//! Bound: the reader takes all after each datagram.

use std::collections::VecDeque;

use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// Something happened to an object that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulationEvent {
    /// It is announced; its pose follows.
    ObjectEntered {
        /// The client's name for it.
        id: u32,
        /// Index of its kind.
        kind: u8,
        /// Whether it is the player's avatar.
        own: bool,
    },
    /// The host says where it was.
    Pose {
        /// Which.
        id: u32,
        /// When: the local lag before the room time of which this is the pose.
        stamp: GameTime,
        /// Where.
        pose: Pose,
    },
    /// It is gone.
    Leave {
        /// Which.
        id: u32,
    },
}

/// Kinds of object, by index.
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

/// What waits for the simulation.
#[derive(Debug, Default)]
pub(super) struct SimulationEvents {
    kinds: KindSet,
    waiting: VecDeque<SimulationEvent>,
}

impl SimulationEvents {
    /// From now on, these kinds are told of. Whether there are any.
    pub(super) fn set_kinds(&mut self, kinds: KindSet) -> bool {
        self.kinds = kinds;
        kinds != KindSet::default()
    }

    pub(super) fn push(&mut self, kind: u8, stir: SimulationEvent) {
        if self.kinds.contains(kind) {
            self.waiting.push_back(stir);
        }
    }

    pub(super) fn pop(&mut self) -> Option<SimulationEvent> {
        self.waiting.pop_front()
    }
}
