//! What a simulation is told of the objects that it simulates, in the order in which the replica
//! hears of it.
//!
//! Bound: the reader takes all after each datagram.

use std::collections::VecDeque;

use ambit_proto::pose::Pose;
use ambit_proto::time::GameTime;

/// Something happened to an object that is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stir {
    /// It is announced; its pose follows.
    Enter {
        /// The client's name for it.
        id: u32,
        /// Index of its kind.
        kind: u8,
        /// Whether it is the player's avatar.
        own: bool,
    },
    /// The host says where it was.
    Told {
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
pub struct Kinds(u64);

impl Kinds {
    fn contains(self, kind: u8) -> bool {
        self.0 >> kind & 1 == 1
    }
}

impl FromIterator<bool> for Kinds {
    /// Whether each kind is one of them, from index 0 on.
    fn from_iter<I: IntoIterator<Item = bool>>(kinds: I) -> Self {
        Kinds(
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
pub(super) struct Stirs {
    kinds: Kinds,
    waiting: VecDeque<Stir>,
}

impl Stirs {
    /// From now on, these kinds are told of. Whether there are any.
    pub(super) fn of(&mut self, kinds: Kinds) -> bool {
        self.kinds = kinds;
        kinds != Kinds::default()
    }

    pub(super) fn push(&mut self, kind: u8, stir: Stir) {
        if self.kinds.contains(kind) {
            self.waiting.push_back(stir);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Stir> {
        self.waiting.pop_front()
    }
}
